from dataclasses import replace

import numpy as np
import pytest
from support import outcomes
from support.outcomes import SMALL, played

from possibal.acquisition.pointwise import necessity
from possibal.acquisition.registry import STRATEGIES
from possibal.arguments import DEFAULT_STRATEGY
from possibal.experiments import demo
from possibal.experiments.compare import RANDOM, saving, verdict
from possibal.experiments.spec import DEMO_SETS
from possibal.experiments.splits import split


@pytest.fixture(scope="module", name="usual")
def _usual() -> demo.Demonstration:
    return outcomes.usual()


def same(one, other) -> bool:
    """Whether two demonstrations went alike to the last bit."""
    return all(
        np.array_equal(a.rows, b.rows) and np.array_equal(a.accuracy, b.accuracy)
        for a, b in zip(one.runs, other.runs, strict=True)
    )


# ---------------------------------------------------------------- what it shows
def test_the_default_strategy_saves_labels_on_moons(usual):
    assert saving(usual.results, usual.strategy).is_sure
    assert verdict(usual.results).startswith(f"{DEFAULT_STRATEGY} saved ")


def test_necessity_asks_where_the_leading_label_is_least_necessary():
    outcome = played(demo.DemoRequest(strategy="necessity", questions=8, runs=2))
    for answers, question in enumerate(outcome.questions(8)):
        left = np.setdiff1d(outcome.split.pool, outcome.labelled(answers))
        sure = necessity(outcome.classifier(answers).posterior_.at(outcome.split.X[left]))
        assert question.row == left[sure.argmin()]
        assert question.necessity == sure.min()
        assert question.necessity <= question.usual


def test_the_questions_are_those_of_the_run_and_the_classifier_is_its_model(usual):
    data, test = usual.job.data, usual.split.test
    for answers, question in enumerate(usual.questions(5), start=1):
        guess = usual.classifier(answers).predict(usual.split.X[test])
        assert question.accuracy == np.mean(guess == data.y[test])
        assert question.row == usual.first.rows[answers - 1]
        assert question.answer == data.labels[data.y[question.row]]
    assert len(usual.questions(99)) == 20


def test_the_leading_label_is_what_the_classifier_predicts(usual):
    for answers, question in enumerate(usual.questions(5)):
        (code,) = usual.classifier(answers).predict(usual.split.X[[question.row]])
        assert question.leading == usual.job.data.labels[code]


# ---------------------------------------------------------------- protocol
def test_the_sets_are_those_that_the_command_offers():
    assert tuple(demo.DATA) == DEMO_SETS


@pytest.mark.parametrize("name", demo.DATA)
def test_half_of_the_rows_are_the_pool_and_all_others_the_test(name):
    job = demo.demo_job(replace(SMALL, data=name))
    rows = split(job.experiment, job.data, 1)
    assert job.data.name == job.experiment.dataset == name
    assert len(job.data.labels) == 2
    assert len(rows.pool) == len(job.data.y) // 2
    together = np.concatenate([rows.pool, rows.test])
    assert np.array_equal(np.sort(together), np.arange(len(job.data.y)))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_can_be_shown_beside_random(strategy):
    outcome = played(demo.DemoRequest(data="wine", strategy=strategy, questions=4, runs=2))
    assert outcome.strategy == outcome.first.strategy == strategy
    assert {*outcome.results.accuracy} == {strategy, RANDOM}
    rows = outcome.labelled(4).tolist()
    assert len(set(rows)) == len(rows) == 6
    assert set(rows) <= set(outcome.split.pool.tolist())


def test_every_row_of_the_pool_can_be_asked():
    outcome = played(demo.DemoRequest(data="wine", strategy=RANDOM, questions=87, runs=2))
    assert sorted(outcome.labelled(87)) == outcome.split.pool.tolist()


def test_the_number_of_jobs_changes_nothing():
    assert same(played(SMALL, jobs=1), played(SMALL, jobs=2))


def test_another_seed_changes_the_questions():
    assert not same(played(SMALL), played(replace(SMALL, seed=1)))


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
def test_requests_refuse_bad_values(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        demo.DemoRequest(**change)


def test_more_questions_than_the_pool_has_are_refused():
    with pytest.raises(ValueError, match=r"questions must be at most 87, .* got 88"):
        demo.demo_job(demo.DemoRequest(data="wine", questions=88))
