from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.outcomes import START, STEPS, learning, made_up

from possibal.acquisition.registry import STRATEGIES
from possibal.arguments import DEFAULT_STRATEGY
from possibal.experiments.compare import (
    FEWEST,
    GAINED,
    MOST_ROWS,
    RANDOM,
    LabelSaving,
    comparison_job,
    few_enough,
    reached,
    saving,
    sizes,
    verdict,
)
from possibal.experiments.datasets import SOURCES, Dataset, load
from possibal.experiments.reporting.comparison_table import comparison_table
from possibal.experiments.spec import (
    BINARY_STRATEGIES,
    ENVELOPE,
    EVIDENCE,
    HELD_OUT,
    MULTICLASS_STRATEGIES,
    Experiment,
    Sizes,
)

WINE, IRIS = load("wine"), load("iris")
THERE = 24
"""Where a curve of learning() has gained GAINED of all: exp(-2.4) < 1 - GAINED (1 - exp(-3))."""


def first(rows):
    """A set of the first rows of wine."""
    return replace(WINE, X=WINE.X[:rows], y=WINE.y[:rows])


# ---------------------------------------------------------------- how much is run
@pytest.mark.parametrize(
    ("rows", "questions", "expected"),
    [
        (178, 50, Sizes(20, 50, 89, 89)),
        (178, 87, Sizes(20, 87, 89, 89)),
        (178, None, Sizes(20, 50, 89, 89)),
        (61, None, Sizes(20, 28, 30, 31)),
        (6, 1, Sizes(20, 1, 3, 3)),
        (6, None, Sizes(20, 1, 3, 3)),
    ],
)
def test_half_of_the_rows_may_be_asked_about(rows, questions, expected):
    assert sizes(first(rows), questions=questions) == expected


def test_a_large_set_is_not_used_up():
    many = replace(WINE, X=np.tile(WINE.X, (10, 1)), y=np.tile(WINE.y, 10))
    assert sizes(many, 3, 7) == Sizes(3, 7, 300, 1000)


@pytest.mark.parametrize(("rows", "pool", "room"), [(178, 89, 87), (61, 30, 28), (6, 3, 1)])
def test_more_questions_than_there_is_room_for_are_refused(rows, pool, room):
    assert sizes(first(rows), questions=room).queries == room
    words = f"questions must be at most {room}, for {rows} rows give pools of {pool}; got "
    with pytest.raises(ValueError, match=rf"^{words}{room + 1}\. Ask fewer\.$"):
        sizes(first(rows), questions=room + 1)


def long(rows):
    """A set whose first label occurs once, and where a row tells its number and its label."""
    y = np.where(np.arange(rows) == 0, 0, 1 + np.arange(rows) % 2)
    X = np.arange(rows, dtype=float)[:, None]
    return Dataset("long", X, y, ("rare", "odd", "even"), ("number",), SOURCES["fri"])


def test_of_a_very_long_set_rows_are_drawn_by_the_seed_with_their_labels():
    data, labels = long(2 * MOST_ROWS), set()
    for seed in (0, 1, 2, 3, 0):
        drawn, (note,) = few_enough(data, seed)
        rows = drawn.X[:, 0].astype(int)
        assert len(rows) == len(drawn.y) == MOST_ROWS
        assert (np.diff(rows) > 0).all()
        assert note == "20000 of 40000 rows were drawn: more would change nothing."
        assert np.array_equal(np.array(drawn.labels)[drawn.y], np.array(data.labels)[data.y[rows]])
        assert len(drawn.labels) == len(np.unique(drawn.y))
        labels.add((seed, drawn.labels, rows.tobytes()))
    assert len(labels) == 4
    # A label that was not drawn is not asked for.
    assert {names for _, names, _ in labels} == {data.labels, data.labels[1:]}


def test_a_set_that_is_not_too_long_stays_as_it_is():
    data = long(MOST_ROWS)
    assert few_enough(data, 0) == (data, ())


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match=r"^data must have at least 6 rows for 2 labels; got 5\."):
        sizes(first(5))


@pytest.mark.parametrize(
    ("runs", "questions", "words"),
    [(1, 5, "runs must be at least 2; got 1"), (2, 0, "questions must be at least 1; got 0")],
)
def test_counts_that_compare_nothing_are_refused(runs, questions, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        sizes(WINE, runs, questions)


# ---------------------------------------------------------------- strategies
@pytest.mark.parametrize(
    ("data", "usual"), [(WINE, BINARY_STRATEGIES), (IRIS, MULTICLASS_STRATEGIES)]
)
def test_strategies_are_the_usual_one_and_the_papers_if_none_is_named(data, usual):
    (one,) = comparison_job(data, (), sizes(data))
    assert list(one.strategies) == ["random", DEFAULT_STRATEGY, *list(usual)[1:]]
    assert one.experiment == Experiment(data.name, HELD_OUT, ENVELOPE, sizes(data), 0)


def test_random_is_always_there_and_nothing_twice():
    size = sizes(WINE)
    (one,) = comparison_job(WINE, ("margin", "random", "margin"), size, EVIDENCE, 3)
    assert one.strategies == {name: STRATEGIES[name] for name in ("random", "margin")}
    assert (one.experiment.hyperparameters, one.experiment.seed) == (EVIDENCE, 3)


def test_own_strategies_get_results_files_of_their_own(tmp_path, monkeypatch):
    text = "def first(view): ...\ndef last(view): ...\n"
    (tmp_path / "mine_to_compare.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = ("mine_to_compare:first", "margin", "mine_to_compare:last")
    ours, *own = comparison_job(WINE, names, sizes(WINE))
    assert list(ours.strategies) == ["random", "margin"]
    assert ours.source is None
    assert [list(one.strategies) for one in own] == [[names[0]], [names[2]]]
    assert [one.source for one in own] == [text, text]
    assert len({one.file for one in (ours, *own)}) == 3


def test_an_unknown_strategy_is_refused():
    with pytest.raises(ValueError, match=r"^strategy must be one of .*Did you mean 'margin'\?$"):
        comparison_job(WINE, ("margn",), sizes(WINE))


# ---------------------------------------------------------------- labels saved
@given(ahead=st.integers(-STEPS // 2, STEPS), runs=st.integers(2, 12))
@settings(max_examples=10)
def test_a_curve_that_is_another_some_labels_ahead_saves_as_many(ahead, runs):
    rng = np.random.default_rng(runs)
    slow, fast = (learning(rng, runs, ahead=k) for k in (0, ahead))
    one = saving(made_up(random=slow, fast=fast), "fast")
    at = max(THERE - ahead, 0)
    if at > STEPS:  # it is not there in the end, and counts as needing one label more
        assert (one.needed, one.saved) == (None, THERE - STEPS - 1)
    else:
        assert (one.needed, one.saved) == (START + at, THERE - at)
    assert one.interval == (None if runs < FEWEST else (one.saved, one.saved))


def test_the_interval_contains_the_truth_about_as_often_as_it_says():
    ahead, trials, within = 8, 20, 0
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        slow, fast = (learning(rng, 12, ahead=k, noise=0.004) for k in (0, ahead))
        one = saving(made_up(random=slow, fast=fast), "fast")
        low, high = one.interval
        assert low <= one.saved <= high
        assert high > low
        assert one.is_sure == (low > 0)
        within += low <= ahead <= high
    assert within >= 0.8 * trials


def test_runs_are_drawn_in_pairs():
    # Runs differ by far more than strategies do, but each is as much ahead as the others.
    rng = np.random.default_rng(0)
    height = rng.normal(scale=10, size=(FEWEST, 1))
    slow, fast = (learning(rng, FEWEST, ahead=k) + height for k in (0, 5))
    one = saving(made_up(random=slow, fast=fast), "fast")
    assert one == LabelSaving(START + THERE - 5, 5, (5, 5))
    assert one.is_sure


@pytest.mark.parametrize(
    ("interval", "sure"), [(None, False), ((0.0, 3.0), False), ((-2.0, 1.0), False), ((1, 1), True)]
)
def test_labels_are_surely_saved_if_the_whole_interval_says_so(interval, sure):
    assert LabelSaving(5, 3, interval).is_sure == sure


@pytest.mark.parametrize("runs", [FEWEST - 1, FEWEST])
def test_an_interval_needs_some_runs(runs):
    rng = np.random.default_rng(2)
    slow, fast = (learning(rng, runs, ahead=k, noise=0.004) for k in (0, 8))
    results = made_up(random=slow, fast=fast)
    enough = runs == FEWEST
    assert (saving(results, "fast").interval is not None) == enough
    shown = comparison_table(results)
    (row,) = (row for row in shown.rows if row[0].text == "fast")
    assert ["[" in cell.text for cell in row] == [False, False, enough, False, False, enough]
    assert shown.note.endswith(
        "which share their rows." if enough else "share their rows; they need at least 10 runs."
    )
    told = "To tell whether labels were saved, let there be at least 10 runs; 9 are too few."
    assert (verdict(results) == told) == (not enough)


def test_the_last_bit_of_what_random_gains_is_not_waited_for():
    slow = np.tile([0.5, 0.6, 0.696, 0.7], (3, 1))
    short = np.tile([0.5, 0.68, 0.68, 0.689], (3, 1))
    results = made_up(random=slow, same=slow, near=slow - 0.002, short=short)
    assert GAINED == 0.95  # so that 0.69 is to be reached
    assert saving(results, "same") == saving(results, "near") == LabelSaving(START + 2, 0, None)
    assert saving(results, "short") == LabelSaving(None, -2, None)
    note = comparison_table(results).note
    assert "has gained 95% of what random gains in all, to stay there." in note


def test_random_gets_there_even_if_it_loses():
    slow = np.tile([0.7, 0.65, 0.6, 0.6], (3, 1))
    results = made_up(random=slow, same=slow, ahead=slow + 0.01, behind=slow - 0.01)
    assert saving(results, "same") == saving(results, "ahead") == LabelSaving(START, 0, None)
    assert saving(results, "behind") == LabelSaving(None, -4, None)
    cells = {row[0].text: row[4].text for row in comparison_table(results).rows}
    assert cells[RANDOM] == str(START)


def test_a_curve_that_falls_back_has_not_come_to_stay():
    slow = np.tile([0.5, 0.6, 0.7, 0.8], (3, 1))
    fast = np.tile([0.5, 0.9, 0.75, 0.85], (3, 1))
    one = saving(made_up(random=slow, fast=fast), "fast")
    assert (one.needed, one.saved) == (START + 3, 0)


def test_a_curve_that_is_there_from_the_start_needs_the_start_alone():
    slow = np.tile([0.5, 0.6, 0.7], (3, 1))
    one = saving(made_up(random=slow, fast=np.full((3, 3), 0.7)), "fast")
    assert (one.needed, one.saved) == (START, 2)


def test_many_curves_are_looked_at_at_once():
    curves = np.array([[0.1, 0.5, 0.4, 0.6], [0.6, 0.6, 0.6, 0.6], [0.1, 0.2, 0.3, 0.2]])
    np.testing.assert_array_equal(reached(curves, 0.5), [3, 0, 4])
    np.testing.assert_array_equal(reached(curves, np.array([0.4, 0.7, 0.2])), [1, 4, 1])


# ---------------------------------------------------------------- told
@pytest.fixture(scope="module", name="result")
def _result():
    rng = np.random.default_rng(1)
    curves = {RANDOM: 0, "fast": 8, "slow": -12, "faster": 12}
    return made_up(**{name: learning(rng, 10, ahead=k, noise=0.005) for name, k in curves.items()})


def test_the_verdict_names_what_saves_most(result):
    one = saving(result, "faster")
    low, high = one.interval
    assert 0 < low < high
    assert verdict(result) == (
        f"faster saved {one.saved} labels against random (95% interval {low:.0f} to {high:.0f}): "
        f"{one.needed} instead of {one.needed + one.saved}."
    )


@pytest.mark.parametrize("ahead", [0, -5])
def test_the_verdict_is_honest_where_chance_can_do_as_much(ahead):
    rng = np.random.default_rng(5)
    slow, other = (learning(rng, FEWEST, ahead=k, noise=0.01) for k in (0, ahead))
    assert verdict(made_up(random=slow, other=other)) == (
        "No strategy saved labels against random beyond what chance can do."
    )


def test_the_verdict_on_random_alone_is_that_nothing_was_saved():
    assert verdict(made_up(random=np.ones((FEWEST, 3)))).startswith("No strategy saved labels")
