from dataclasses import replace

import numpy as np
import pytest
from support import outcomes
from support.outcomes import SMALL, outcome_of, play

from possibal.acquisition.registry import STRATEGIES
from possibal.experiments import demo


@pytest.fixture(scope="module", name="usual")
def _usual() -> demo.Outcome:
    return outcomes.usual()


# ---------------------------------------------------------------- what it shows
def test_necessity_beats_random_on_moons(usual):
    assert usual.chosen.mean() > usual.random.mean()
    assert demo.interval(usual.gap).low > 0
    assert "labels did what random needs" in demo.verdict(usual)


def test_necessity_asks_where_the_leading_label_is_least_necessary(usual):
    questions = [question for run in usual.runs for question in run.chosen.questions]
    assert all(question.necessity <= question.usual for question in questions)


# ---------------------------------------------------------------- protocol
@pytest.mark.parametrize("data", demo.DATA)
def test_pool_and_test_rows_never_meet(data):
    plan = demo.load(replace(SMALL, data=data))
    share = demo.deal(plan, 1)
    together = np.concatenate([share.pool, share.test])
    assert np.array_equal(np.sort(together), np.arange(len(plan.table.y)))
    assert set(share.start) <= set(share.pool.tolist())
    assert plan.table.y[list(share.start)].tolist() == [False, True]


def test_the_scale_sees_no_label_and_no_test_row():
    plan = demo.load(SMALL)
    share = demo.deal(plan, 0)
    assert share.X[share.pool].mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert share.X[share.pool].std(axis=0) == pytest.approx(1)
    flipped = demo.Plan(SMALL, replace(plan.table, y=~plan.table.y))
    assert np.array_equal(demo.deal(flipped, 0).X, share.X)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_asks_the_same_row_twice_or_outside_the_pool(strategy):
    plan = demo.load(demo.Settings(data="wine", strategy=strategy, questions=6, runs=2))
    share, trace = demo.deal(plan, 0), demo.play(plan, 0).chosen
    rows = trace.labelled(6)
    assert len(set(rows)) == len(rows) == 8
    assert set(rows) <= set(share.pool.tolist())


def test_every_row_of_the_pool_can_be_asked():
    plan = demo.load(demo.Settings(data="wine", strategy="random", questions=87, runs=2))
    trace = demo.play(plan, 0).chosen
    assert sorted(trace.labelled(87)) == demo.deal(plan, 0).pool.tolist()


def test_both_strategies_start_alike(usual):
    assert all(run.chosen.start == run.random.start for run in usual.runs)
    assert np.array_equal(usual.chosen[:, 0], usual.random[:, 0])


def test_random_compared_with_itself_differs_in_nothing():
    outcome = play(replace(SMALL, strategy="random"))
    assert np.array_equal(outcome.chosen, outcome.random)
    assert demo.verdict(outcome).startswith("No saving of labels was seen")


def test_the_number_of_jobs_changes_nothing():
    assert play(SMALL, jobs=1).runs == play(SMALL, jobs=2).runs


def test_without_a_number_of_jobs_there_is_one_per_core(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 1)
    assert tuple(demo.play_all(demo.load(SMALL))) == play(SMALL).runs


def test_another_seed_changes_the_questions():
    assert play(SMALL).runs != play(replace(SMALL, seed=1)).runs


def test_the_belief_is_the_classifiers_own():
    plan = demo.load(SMALL)
    share = demo.deal(plan, 0)
    model = demo.fit(plan, share, list(share.start))
    belief = model.posterior_.at(share.X[list(share.start)])
    assert (belief.mean[0] > 0).tolist() == [False, True]
    assert np.all(belief.mean == model.belief(share.X[list(share.start)]).mean)


# ---------------------------------------------------------------- outcome
def test_the_interval_is_students():
    found = demo.interval(np.array([[1.0], [2.0], [3.0]]))
    assert found.mean == pytest.approx(2)
    assert found.high - found.mean == pytest.approx(4.302653 / np.sqrt(3), rel=1e-6)
    assert found.low + found.high == pytest.approx(4)


def test_the_saving_counts_from_where_the_accuracy_stays():
    chosen = [[0.5, 0.9, 0.7, 0.85, 0.95, 0.9]] * 2
    random = [[0.5, 0.6, 0.65, 0.7, 0.8, 0.8]] * 2
    assert demo.saving(outcome_of(chosen, random)) == demo.Saving(5, 6, 0.8)


def test_no_saving_is_claimed_where_the_runs_disagree():
    chosen = [[0.5, 0.9, 0.9], [0.5, 0.6, 0.6]]
    random = [[0.5, 0.6, 0.7], [0.5, 0.7, 0.6]]
    outcome = outcome_of(chosen, random)
    assert demo.saving(outcome) is None
    assert "No saving" in demo.verdict(outcome)


def test_no_saving_is_claimed_where_random_catches_up():
    chosen = [[0.5, 0.8, 0.8, 0.7]] * 2
    random = [[0.5, 0.6, 0.6, 0.75]] * 2
    outcome = outcome_of(chosen, random)
    assert demo.interval(outcome.gap).low > 0
    assert demo.saving(outcome) is None


def test_no_saving_is_claimed_where_random_is_better():
    chosen, random = [[0.5, 0.6, 0.6]] * 2, [[0.5, 0.8, 0.8]] * 2
    assert "-20.0 points" in demo.verdict(outcome_of(chosen, random))


# ---------------------------------------------------------------- mistakes
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"data": "wien"}, r"data must be one of .*; got 'wien'\. Did you mean 'wine'\?"),
        ({"strategy": "zzz"}, r"strategy must be one of .*; got 'zzz'\. Choose one of these\."),
        ({"questions": 0}, "questions must be at least 1; got 0"),
        ({"runs": 1}, "runs must be at least 2; got 1"),
        ({"runs": 10_001}, "runs must be at most 10000; got 10001"),
        ({"seed": -1}, "seed must be at least 0; got -1"),
    ],
)
def test_settings_refuse_bad_values(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        demo.Settings(**change)


def test_more_questions_than_the_pool_has_are_refused():
    with pytest.raises(ValueError, match=r"questions must be at most 87, .* got 88"):
        demo.load(demo.Settings(data="wine", questions=88))


def test_no_jobs_are_refused():
    with pytest.raises(ValueError, match="jobs must be at least 1; got 0"):
        demo.play_all(demo.load(SMALL), jobs=0)
