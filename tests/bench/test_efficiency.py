import csv
from dataclasses import replace

import efficiency
import numpy as np
import pytest
from efficiency import (
    ANSWERS,
    LENT,
    OWN,
    REFEREE,
    Estimate,
    ahead,
    best,
    by_group,
    by_set,
    by_strategy,
    chosen,
    joined,
    needed,
    over,
    verdict,
)

from possibal.experiments.compare import FEWEST, RANDOM
from possibal.experiments.reporting.paper_tables import BEST
from possibal.experiments.results import Results
from possibal.experiments.spec import ENVELOPE, HELD_OUT, Experiment, Sizes

QUERIES = 50
NAMES = ("sonar", "wine", "iris")


def made_up(dataset, runs=FEWEST, queries=QUERIES, **lines):
    """Results of strategies on a set: of each one line for all runs, or a line for each."""
    shape = runs, queries + 1
    accuracy = {name: np.broadcast_to(some, shape).copy() for name, some in lines.items()}
    experiment = Experiment(dataset, HELD_OUT, ENVELOPE, Sizes(runs, queries, 120, 80), seed=7)
    return Results(experiment, 2, accuracy)


def learning(labels, height=0.0, queries=QUERIES):
    """A curve that grows by a hundredth with every answer, as if so many more were known."""
    return height + 0.3 + 0.01 * np.minimum(np.arange(queries + 1) + labels, queries)


def on_all(runs=FEWEST, noise=0.0, **lines):
    """Results on three sets of different heights, whose runs differ, strategies alike."""
    rng, results = np.random.default_rng(0), []
    for place, name in enumerate(NAMES):
        runs_differ = 0.05 * rng.normal(size=(runs, 1)) + 0.05 * place
        tossed = {k: noise * rng.normal(size=(runs, 1)) for k in lines}
        curves = {k: line + runs_differ + tossed[k] for k, line in lines.items()}
        results.append(made_up(name, runs, **curves))
    return results


# ---------------------------------------------------------------- measures
def test_accuracy_over_the_run_is_averaged_over_sets_not_over_runs():
    results = [made_up("wine", 2, flat=np.full(51, 0.5)), made_up("iris", 8, flat=np.full(51, 0.9))]
    assert over(results, "flat") == pytest.approx(70.0)
    assert over(results[:1], "flat") == pytest.approx(50.0)


def test_a_lead_is_paired_by_runs_so_that_what_they_share_does_not_widen_it():
    results = on_all(random=learning(0), ours=learning(0, height=0.02))
    lead = ahead(results, "ours", RANDOM)
    assert lead.value == pytest.approx(2.0)
    assert lead.interval == pytest.approx((2.0, 2.0))
    back = ahead(results, RANDOM, "ours")
    assert back.value == pytest.approx(-2.0)


def test_the_interval_of_a_lead_is_about_as_wide_as_chance_makes_it():
    results = on_all(runs=40, noise=0.02, random=learning(0), ours=learning(0))
    low, high = ahead(results, "ours", RANDOM).interval
    gaps = [100 * (one.area["ours"] - one.area[RANDOM]) for one in results]
    sd = np.sqrt(sum(gap.var() / len(gap) for gap in gaps)) / len(gaps)
    assert high - low == pytest.approx(2 * 1.96 * sd, rel=0.15)
    assert ahead(results, "ours", RANDOM) == ahead(results, "ours", RANDOM)


def test_sets_are_drawn_from_independently():
    one = on_all(runs=20, noise=0.02, random=learning(0), ours=learning(0))[0]
    # The same set three times: the mean of three independent draws varies less than one does.
    (low, high), (lower, higher) = (
        ahead(results, "ours", RANDOM).interval for results in ([one], [one] * 3)
    )
    assert (high - low) / (higher - lower) == pytest.approx(np.sqrt(3), rel=0.15)


@pytest.mark.parametrize("ahead_by", [0, 5, 20])
def test_labels_needed_are_those_until_randoms_last_accuracy_is_reached(ahead_by):
    slow, fast = learning(0), learning(ahead_by)
    count = needed(on_all(random=slow, ours=fast), "ours")
    assert count.value == QUERIES - ahead_by
    assert count.interval == (QUERIES - ahead_by, QUERIES - ahead_by)


def test_never_counts_as_one_label_more_and_a_fall_back_counts_where_it_is_to_stay():
    fast = learning(30)
    fast[40] = 0.0
    results = on_all(random=learning(0), never=learning(-10), fallen=fast)
    for to_stay, fallen in ((False, 20), (True, 41)):
        assert needed(results, "never", to_stay=to_stay).value == QUERIES + 1
        assert needed(results, "fallen", to_stay=to_stay).value == fallen


def test_few_runs_give_no_interval():
    results = on_all(FEWEST - 1, random=learning(0), ours=learning(5))
    assert ahead(results, "ours", RANDOM).interval is None
    assert needed(results, "ours").interval is None
    assert Estimate(1.0, None).low == -np.inf
    assert np.isnan(Estimate(1.0, None).numbers[1:]).all()
    assert Estimate(1.0, (0.5, 2.0)).numbers == (1.0, 0.5, 2.0)


# ---------------------------------------------------------------- results
def test_peers_are_told_by_their_own_models_and_ours_by_ours():
    ours = on_all(random=learning(0), one=learning(4), two=learning(4))
    theirs = on_all(one=learning(6))
    for mine, own, both in zip(ours, theirs, joined(ours, theirs), strict=True):
        assert list(both.accuracy) == [RANDOM, "one", "two"]
        assert both.accuracy["one"] is own.accuracy["one"]
        assert both.accuracy["two"] is mine.accuracy["two"]


def test_curves_are_of_some_strategies_and_their_mean_over_sets_comes_first():
    results = on_all(random=learning(0), ours=learning(4), other=learning(3))
    mean, *each = chosen([replace(results[0], start=3), *results[1:]], ["ours", RANDOM])
    assert [one.experiment.dataset for one in each] == list(NAMES)
    assert all(list(one.accuracy) == ["ours", RANDOM] for one in (mean, *each))
    assert mean.experiment.dataset == "mean of 3 sets"
    assert mean.start == 2
    expected = np.mean([one.accuracy["ours"] for one in results], axis=0)
    np.testing.assert_allclose(mean.accuracy["ours"], expected)


# ---------------------------------------------------------------- tables
@pytest.fixture(scope="module", name="results")
def _results():
    lines = {RANDOM: 0, "ours": 20, "peer": 10, "other": -5}
    return on_all(noise=0.002, **{name: learning(k) for name, k in lines.items()})


def test_strategies_are_in_order_and_their_figures_are_those_of_the_runs(results):
    table = by_strategy(results, "ours", "Title", "Note.")
    cells = {row[0].text: row[1:] for row in table.rows}
    assert list(cells) == ["ours", "peer", RANDOM, "other"]
    mean, lead, gap, *after, labels, stays = cells["peer"]
    assert mean.numbers == (over(results, "peer"),)
    assert lead.numbers == ahead(results, "peer", RANDOM).numbers
    assert gap.numbers == ahead(results, "ours", "peer").numbers
    assert gap.text.startswith("+")
    assert labels.numbers == needed(results, "peer").numbers
    assert stays.numbers == needed(results, "peer", to_stay=True).numbers
    for answers, cell in zip(ANSWERS, after, strict=True):
        expected = 100 * np.mean([one.accuracy["peer"][:, answers].mean() for one in results])
        assert cell.numbers == pytest.approx((expected,))
    assert cells[RANDOM][1].text == cells["ours"][2].text == ""
    assert table.title == "Title"
    assert table.note.startswith("Note. Labels needed: ")
    heads = next(csv.reader(table.csv().splitlines()))
    assert len(heads) == len(set(heads)) == 2 + 4 * 3 + len(ANSWERS)  # estimates have two ends


def test_short_runs_have_fewer_columns():
    short = [made_up("wine", 2, 20, random=learning(0, queries=20), ours=learning(5, queries=20))]
    table = by_strategy(short, "ours", "", "")
    assert [column.title for column in table.columns if "after" in column.title] == ["after 10, %"]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert not any("[" in cell.text for row in table.rows for cell in row)


def test_set_by_set_the_best_peer_is_marked_and_nobody_else(results):
    once = {**results[1].accuracy, "other": results[1].accuracy["ours"] + 0.1}
    results = [results[0], replace(results[1], accuracy=once), results[2]]
    table = by_set(results, ["peer", "other"], "Title", "Note.")
    assert [row[0].text for row in table.rows] == list(NAMES)
    names = [column.title for column in table.columns]
    assert names[0] == "set"
    by_name = dict(zip(names[1:], zip(*(row[1:] for row in table.rows), strict=True), strict=True))
    marked = {name: [cell.place == BEST for cell in cells] for name, cells in by_name.items()}
    assert marked["peer"] == [True, False, True]
    assert marked["other"] == [False, True, False]
    assert not any(marked["ours"] + marked[RANDOM])
    assert by_name["ours"][0].numbers == (over(results[:1], "ours"),)


def test_groups_have_their_own_best_peers(results):
    once = {**results[2].accuracy, "other": results[2].accuracy["ours"] + 0.1}
    alone = [replace(results[2], accuracy=once)]
    judged = {OWN: {"all": results, "one": alone}, REFEREE: {"all": results}}
    rows = by_group(judged, "ours", [RANDOM, "peer", "other"], "Note.").rows
    told = [[cell.text for cell in row[:3]] for row in rows]
    assert told == [
        [OWN, "all (3)", "peer"],
        [OWN, "one (1)", "other"],
        [REFEREE, "all (3)", "peer"],
    ]
    assert rows[0][3].numbers == ahead(results, "ours", "peer").numbers
    assert rows[0][4].numbers == ahead(results, "ours", RANDOM).numbers
    assert [row[5].text for row in rows] == ["3", "0", "3"]
    assert rows[0][7].numbers == needed(results, "ours").numbers


def test_a_lead_after_some_answers_is_that_of_the_curves_there():
    crossing = learning(0)
    crossing[20:] += 0.1
    results = on_all(random=learning(0), ours=crossing)
    leads = [ahead(results, "ours", RANDOM, at) for at in (10, 20, 50)]
    assert [lead.value for lead in leads] == pytest.approx([0.0, 10.0, 10.0])
    assert leads[1].interval == pytest.approx((10.0, 10.0))


# ---------------------------------------------------------------- goals
def judge(own, lent=None, referee=None):
    """Whether each goal is met, and the words."""
    judged = {OWN: own, LENT: lent or own, REFEREE: referee or own}
    sentences = verdict(judged, "ours", [RANDOM, "peer"])
    return [
        ": holds (" in sentence and ": missed (" not in sentence for sentence in sentences
    ], sentences


def test_all_goals_are_met_by_what_is_far_ahead():
    results = on_all(random=learning(0), ours=learning(40), peer=learning(20))
    met, sentences = judge(results)
    assert best(results, [RANDOM, "peer"]) == "peer"
    assert met == [True] * 10
    for words in ("against peer", "on 3 of 3)", "with 10.0 [10.0, 10.0]"):
        assert any(words in sentence for sentence in sentences)
    assert "at worst +" in sentences[6]


def test_a_lead_must_be_large_by_the_own_model_and_less_so_by_the_referee():
    results = on_all(random=learning(0), ours=learning(40, 0.022), peer=learning(40))
    assert judge(results)[0][:3] == [False, True, True]
    close = on_all(random=learning(0), ours=learning(40, 0.011), peer=learning(40))
    assert judge(close)[0][:3] == [False, True, False]


def test_each_way_to_judge_has_its_own_best_peer():
    far = on_all(random=learning(0), ours=learning(40), peer=learning(20))
    near = on_all(random=learning(0), ours=learning(40), peer=learning(40))
    assert judge(far, near, near)[0][:3] == [True, False, False]
    assert judge(near, far, near)[0][:3] == [False, True, False]


def test_a_lead_that_chance_may_have_made_is_none():
    few = on_all(FEWEST - 1, random=learning(0), ours=learning(40, 0.03), peer=learning(40))
    assert judge(few)[0][:3] == [False] * 3


def test_one_set_of_three_far_behind_its_best_peer_is_too_many():
    results = on_all(random=learning(0), ours=learning(40), peer=learning(20))
    results[1].accuracy["peer"][:] = 0.99
    met, sentences = judge(results)
    assert not met[3]
    assert "on 2 of 3; not on wine -" in sentences[3]


def test_nowhere_may_random_be_much_better():
    results = on_all(random=learning(0), ours=learning(40), peer=learning(20))
    below = on_all(random=learning(0), ours=learning(0, -0.006), peer=learning(20))
    met, sentences = judge(results, referee=[*results[:2], below[2]])
    assert met[6:8] == [True, False]
    assert "at worst -0.60, on iris" in sentences[7]


def test_labels_needed_must_be_few():
    assert efficiency.MOST_LABELS == 15
    for needs, met in ((15, True), (16, False)):
        results = on_all(random=learning(0), ours=learning(QUERIES - needs), peer=learning(0))
        assert judge(results)[0][8:] == [met, met]
    fallen = learning(QUERIES - 10)
    fallen[30] = 0.0
    results = on_all(random=learning(0), ours=fallen, peer=learning(0))
    assert judge(results)[0][8:] == [True, False]
