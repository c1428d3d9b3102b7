from dataclasses import replace

import ablation
import numpy as np
import pytest
from ablation import (
    ANSWERS,
    BY_REFEREE,
    CONTRASTS,
    IN_COLUMNS,
    JUDGED_BY_PLAIN,
    OURS,
    PLAIN,
    PLAIN_ASKED,
    PLAIN_RANDOM,
    by_contrast,
    by_set,
    herding_in_columns,
    planned,
    replay,
)

from possibal.acquisition.coverage import herding
from possibal.experiments.compare import FEWEST, RANDOM, comparison_job
from possibal.experiments.datasets import load
from possibal.experiments.engine.runner import begin, run
from possibal.experiments.results import Results
from possibal.experiments.spec import ENVELOPE, ENVELOPE_RBF, HELD_OUT, Experiment, Sizes

LEVELS = {
    OURS: 0.5,
    PLAIN: 0.4,
    RANDOM: 0.3,
    PLAIN_RANDOM: 0.28,
    IN_COLUMNS: 0.47,
    PLAIN_ASKED: 0.44,
    JUDGED_BY_PLAIN: 0.45,
    BY_REFEREE.format(OURS): 0.35,
    BY_REFEREE.format(PLAIN): 0.34,
    BY_REFEREE.format(IN_COLUMNS): 0.33,
}
WORTH = [10, 4, 5, 2, 6, 1, 3, 2]
"""Points, of each contrast."""


def execute(function, calls):
    """The calls, one after the other."""
    return (function(*call) for call in calls)


def made_up(name, queries=50):
    """Results of all contenders, whose runs differ and whose differences do not."""
    rng, answers = np.random.default_rng(0), np.arange(queries + 1) / 200
    runs = 0.1 * rng.random((FEWEST, 1))
    experiment = Experiment(name, HELD_OUT, ENVELOPE, Sizes(FEWEST, queries, 120, 80), seed=3)
    return Results(experiment, 2, {k: v + answers + runs for k, v in LEVELS.items()})


# ---------------------------------------------------------------- runs
@pytest.fixture(scope="module", name="started")
def _started(tmp_path_factory):
    """Iris as it is asked about by both models and in plain columns, with a few questions."""
    rows = tmp_path_factory.mktemp("rows")
    (job,) = comparison_job(load("iris"), [OURS], Sizes(2, 6, 60, 50), ENVELOPE, 1)
    started = begin([job, *planned(job)], rows, execute)
    run(started, execute, lambda _: None)
    return started


def test_what_is_run_besides_has_the_same_splits_and_another_model_or_geometry(started):
    ours, plain, variant = (one.job.experiment for one in started)
    assert plain == replace(ours, hyperparameters=ENVELOPE_RBF)
    assert variant == ours
    assert [list(one.job.strategies) for one in started] == [
        [RANDOM, OURS],
        [RANDOM, OURS],
        [IN_COLUMNS],
    ]
    assert len({one.results_file.path for one in started}) == 3


@pytest.mark.parametrize("place", [0, 1])
def test_questions_judged_again_by_the_same_model_have_the_same_accuracy(started, place):
    one = started[place]
    again = replay(one, OURS, f"again {place}", one.job.experiment.hyperparameters)
    (results,) = run([again], execute, lambda _: None)
    np.testing.assert_array_equal(results.accuracy[f"again {place}"], one.results.accuracy[OURS])


def test_another_model_judges_the_same_questions_otherwise(started):
    for again in ablation.replayed(*started[:2]):
        run([again], execute, lambda _: None)
        (name,) = again.job.strategies
        for number in range(2):
            theirs = again.asked[OURS, number]
            mine = again.results_file.runs[name, number]
            np.testing.assert_array_equal(mine.rows, theirs.rows)
            assert (mine.accuracy != theirs.accuracy).any()


def test_results_of_both_models_are_told_apart(started):
    results = [one.results for one in started]
    names = {RANDOM, OURS, PLAIN, PLAIN_RANDOM, IN_COLUMNS}
    found = ablation.joined(results, results[:1])
    assert set(found.accuracy) == names | {BY_REFEREE.format(n) for n in (RANDOM, OURS)}
    np.testing.assert_array_equal(found.accuracy[PLAIN], results[1].accuracy[OURS])
    np.testing.assert_array_equal(found.accuracy[OURS], results[0].accuracy[OURS])


def test_plain_columns_matter_only_where_the_kernel_has_more(tmp_path):
    seen = {}

    def both(view):
        n = len(view.candidates)
        seen[n] = np.abs(herding(view) - herding_in_columns(view)).max()
        return herding(view)

    for hyperparameters in (ENVELOPE, ENVELOPE_RBF):
        job = comparison_job(load("iris"), [], Sizes(1, 6, 60, 50), hyperparameters, 1)[0]
        task = begin([replace(job, strategies={"both": both}, source="")], tmp_path, execute)
        run(task, execute, lambda _: None)
        assert (max(seen.values()) > 1e-6) == (hyperparameters == ENVELOPE)
        seen.clear()


# ---------------------------------------------------------------- tables
def test_each_part_is_worth_the_difference_of_two_contenders():
    results = [made_up("wine"), made_up("iris")]
    table = by_contrast({"all": results, "one": results[:1]}, "Title", "Note.")
    assert [row[0].text for row in table.rows[::2]] == [one.told for one in CONTRASTS]
    assert [row[1].text for row in table.rows[:2]] == ["all (2)", "one (1)"]
    for row, worth in zip(table.rows, np.repeat(WORTH, 2), strict=True):
        assert len(row) == 3 + len(ANSWERS)
        for cell in row[2:]:
            assert cell.numbers == pytest.approx((worth,) * 3)
    assert table.rows[0][2].text == "+10.00 [+10.00, +10.00]"


def test_set_by_set_it_is_that_of_each_set():
    table = by_set([made_up("wine"), made_up("iris")], "Title", "Note.")
    assert [row[0].text for row in table.rows] == ["wine", "iris"]
    assert [cell.numbers[0] for cell in table.rows[1][1:]] == pytest.approx(WORTH)


def test_short_runs_leave_cells_empty():
    (row, *_) = by_contrast({"all": [made_up("wine", 20)]}, "Title", "Note.").rows
    assert [cell.text != "" for cell in row[2:]] == [True, True, True, False]
