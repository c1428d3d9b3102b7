import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata

from possibal.experiments.reporting.rank_tests import RankTest, names, ranks, run_ranks
from possibal.experiments.results import Results
from possibal.experiments.spec import HELD_OUT, experiment

SETS = ("sonar", "wine", "breast", "fri")
RANDOM = np.random.default_rng(0)


def flat(dataset, **levels):
    """Results whose curves are flat, one level per run."""
    accuracy = {name: np.array(level)[:, None] * np.ones(4) for name, level in levels.items()}
    return Results(experiment(dataset), 2, accuracy)


def drawn(runs):
    """Results of four sets, drawn without any order among the strategies."""
    return [
        flat(name, **{s: np.round(RANDOM.uniform(size=n), 1) for s in "abcde"})
        for name, n in zip(SETS, runs, strict=True)
    ]


# ---------------------------------------------------------------- averages
def test_the_highest_median_has_rank_one_and_the_best_comes_first():
    results = [flat("sonar", a=[0.1, 0.9, 0.2], b=[0.5, 0.5, 0.5], c=[0.1, 0.1, 0.1])]
    found = ranks(results, "final")
    assert found.strategies == ("b", "a", "c")
    assert found.average == (1, 2, 3)
    assert found.sets == ("sonar",)


@pytest.mark.parametrize(("ties", "average"), [("average", (1.5, 1.5, 3)), ("min", (1, 1, 3))])
def test_ties_share_their_ranks_or_all_get_the_best(ties, average):
    results = [flat("sonar", a=[0.7], b=[0.7], c=[0.2])]
    assert ranks(results, "final", ties).average == average
    assert run_ranks(results, "final", ties).average == average


def test_what_differs_by_rounding_alone_ties():
    results = [flat("sonar", a=[0.1 + 0.2], b=[0.3])]
    assert ranks(results, "area").average == (1.5, 1.5)


def test_the_final_step_and_the_area_may_disagree():
    late = np.array([[0.5, 0.5, 0.9]])
    early = np.array([[0.5, 0.8, 0.8]])
    results = [Results(experiment("sonar"), 2, {"late": late, "early": early})]
    assert ranks(results, "final").strategies == ("late", "early")
    assert ranks(results, "area").strategies == ("early", "late")


def test_ranks_within_runs_see_what_medians_hide():
    results = [flat("sonar", a=[0.1, 0.5, 0.7], b=[0.2, 0.5, 0.8])]
    assert ranks(results, "final").average == (1.5, 1.5)
    assert run_ranks(results, "final").average == pytest.approx((3.5 / 3, 5.5 / 3))
    assert run_ranks(results, "final").strategies == ("b", "a")


def test_sets_weigh_alike_whatever_their_runs():
    results = [flat("sonar", a=[0.9] * 9, b=[0.1] * 9), flat("wine", a=[0.1], b=[0.9])]
    assert run_ranks(results, "final").average == (1.5, 1.5)


def test_only_runs_that_all_strategies_have_are_compared():
    results = [flat("sonar", a=[0.9, 0.1, 0.1], b=[0.5])]
    assert run_ranks(results, "final").strategies == ("a", "b")


def test_only_strategies_of_all_sets_are_ranked():
    results = [flat("sonar", a=[0.1], mine=[0.9], b=[0.2]), flat("wine", b=[0.3], a=[0.1])]
    found = ranks(results, "final")
    assert found.strategies == ("b", "a")
    assert found.of("a") == 2
    assert found.of("mine") is None


@pytest.mark.parametrize("results", [[], [flat("sonar", a=[0.1]), flat("wine", b=[0.1])]])
def test_nothing_in_common_is_an_empty_ranking(results):
    assert ranks(results, "final") == RankTest((), (), None, None, names(results))
    assert run_ranks(results, "area") == RankTest((), (), None, None, names(results))


# ---------------------------------------------------------------- tests
def test_the_p_value_is_friedmans_over_the_medians():
    results = drawn((5, 5, 5, 5))
    medians = [[np.median(r.final[s]) for r in results] for s in "abcde"]
    assert ranks(results, "final").p_value == pytest.approx(friedmanchisquare(*medians).pvalue)


def test_the_p_value_within_runs_is_friedmans_over_all_runs():
    results = drawn((5, 9, 2, 4))
    runs = [np.concatenate([r.final[s] for r in results]) for s in "abcde"]
    assert run_ranks(results, "final").p_value == pytest.approx(friedmanchisquare(*runs).pvalue)


def test_ties_do_not_change_the_p_value():
    results = drawn((3, 3, 3, 3))
    assert ranks(results, "final", "min").p_value == ranks(results, "final").p_value


def test_the_critical_difference_is_that_of_the_tables():
    # Demsar 2006, Table 5: q = 2.728 for five strategies; N = 4 sets.
    expected = 2.728 * np.sqrt(5 * 6 / (6 * 4))
    found = ranks(drawn((2, 2, 2, 2)), "final").critical_difference
    assert found == pytest.approx(expected, abs=1e-3)


def test_more_runs_shorten_the_critical_difference_by_their_root():
    results = drawn((9, 9, 9, 9))
    whole = ranks(results, "final").critical_difference
    assert run_ranks(results, "final").critical_difference == pytest.approx(whole / 3)


def test_the_critical_difference_is_exceeded_as_rarely_as_it_says():
    # Unequal runs, no true difference: some pair of five lies farther apart in about 5 %.
    rng, runs, trials = np.random.default_rng(1), (3, 6, 12, 24), 1500
    difference = run_ranks(drawn(runs), "final").critical_difference
    means = np.zeros((trials, 5))
    for n in runs:
        means += rankdata(rng.uniform(size=(trials, n, 5)), axis=2).mean(axis=1) / len(runs)
    assert 0.03 < np.mean(np.ptp(means, axis=1) > difference) < 0.07


@pytest.mark.parametrize(
    "results",
    [
        [flat(name, a=[0.1], b=[0.2], c=[0.3]) for name in SETS[:2]],
        [flat(name, a=[0.1], b=[0.2]) for name in SETS],
    ],
)
def test_too_few_sets_or_strategies_are_ranked_without_a_test(results):
    found = ranks(results, "final")
    assert found.critical_difference is None
    assert found.p_value is None
    assert found.average[0] == 1


def test_strategies_that_always_tie_are_alike_for_certain():
    found = ranks([flat(name, a=[0.1], b=[0.1], c=[0.1]) for name in SETS], "final")
    assert found.p_value == 1
    assert found.average == (2, 2, 2)


# ---------------------------------------------------------------- names and bad arguments
def test_results_of_one_set_are_told_apart_by_their_protocol():
    results = [flat("sonar", a=[1.0]), flat("wine", a=[1.0])]
    held_out = Results(experiment("sonar", HELD_OUT), 2, results[0].accuracy)
    assert names(results) == ("sonar", "wine")
    assert names([*results, held_out]) == ("sonar-paper-paper", "wine", "sonar-held-out-paper")


def test_an_unknown_measure_or_way_with_ties_is_refused():
    results = [flat("sonar", a=[1.0])]
    with pytest.raises(ValueError, match=r"^measure must be one of 'final', 'area'; got 'auc'"):
        ranks(results, "auc")
    with pytest.raises(ValueError, match=r"^ties must be one of 'average', 'min'; got 'max'"):
        run_ranks(results, "final", "max")
