"""A campaign over a pool that counts as large asks what it would ask of a small one."""

import pickle

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from possibal.campaign import pool, selection, snapshot
from possibal.campaign.answer import Answer
from possibal.campaign.snapshot import Snapshot
from possibal.campaign.stopping import AdviceState
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.ranking import UNKNOWN, RankingTask

KERNEL = PossibilisticGPClassifier(ConstantKernel(9.0) * RBF(1.5), hyperparameters="fixed")


def rows(count=300, seed=0):
    return np.random.default_rng(seed).normal(size=(count, 3))


def truth(X):
    return np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no").tolist()


def begun(X, count=8, strategy="necessity", **options):
    start = Snapshot.start(X, classes=["no", "yes"], strategy=strategy, **options)
    return start.replay(Answer(row, truth(X)[row]) for row in range(count))


@pytest.fixture
def large(monkeypatch):
    """Pools of fifty rows are large, and a shortlist has thirty."""
    monkeypatch.setattr(pool, "LARGE_POOL", 50)
    monkeypatch.setattr(selection, "BATCH_CANDIDATES", 30)
    monkeypatch.setattr(snapshot, "ADVICE_SAMPLE", 40)


@pytest.mark.parametrize("strategy", ["necessity", "uncertainty", "bald", "entropy"])
@pytest.mark.parametrize("model", [KERNEL, None], ids=["fixed", "envelope"])
def test_the_questions_are_those_of_a_small_pool(strategy, model, monkeypatch):
    X = rows()
    small = begun(X, strategy=strategy, classifier=model)
    asked = []
    for _ in range(5):
        (row,) = small.ask()
        asked.append(row)
        small = small.tell(row, truth(X)[row])
    monkeypatch.setattr(pool, "LARGE_POOL", 50)
    big = begun(X, strategy=strategy, classifier=model)
    assert big.pool.is_large
    for row in asked:
        assert big.ask() == (row,)
        big = big.tell(row, truth(X)[row])


def test_several_questions_are_picked_among_the_best(large):  # noqa: ARG001 - pools are
    campaign = begun(rows())
    best = campaign.ranked(1)
    assert len(best) == 30
    several = campaign.ask(4)
    assert len(set(several)) == 4
    assert several[0] == best[0] == campaign.ask()[0]
    assert set(several) <= set(best)
    assert len(campaign.ask(50)) == 50
    assert campaign.ranked(4)[:4] == several


def test_rows_set_aside_or_answered_are_not_asked(large):  # noqa: ARG001 - pools are
    campaign = begun(rows())
    best = campaign.ranked(1)
    later = campaign.without(best[:5])
    assert not {*best[:5], *range(8)} & set(later.ranked(1))
    assert later.ask() == (best[5],)


def test_what_is_believed_of_some_rows_needs_no_other(large, monkeypatch):  # noqa: ARG001 - pools are
    campaign = begun(rows())
    some = np.array([3, 200, 7])
    found = campaign.belief_of(some)
    assert "belief" not in vars(campaign)
    monkeypatch.setattr(pool, "LARGE_POOL", 1000)
    np.testing.assert_allclose(found.mean, begun(rows()).belief_of(some).mean)


def test_a_large_pool_starts_with_no_label_or_at_random_too(large):  # noqa: ARG001 - pools are
    cold = Snapshot.start(rows())
    assert len(set(cold.ask(3))) == 3
    assert cold.advice.state is AdviceState.GO_ON
    assert len(begun(rows(), strategy="random").ask(3)) == 3


@pytest.mark.parametrize("strategy", ["necessity", "herding"])
def test_advice_rests_on_rows_drawn_at_random_but_stop_on_all(large, strategy, monkeypatch):  # noqa: ARG001 - pools are
    campaign = begun(rows(), strategy=strategy)
    assert campaign.advice.state is AdviceState.GO_ON
    assert "40 rows drawn at random" in campaign.advice.reason
    X = np.concatenate([rows(200) * 0.05 - 3.0, rows(200, 1) * 0.05 + 3.0])
    labels = {row: "no" if row < 200 else "yes" for row in range(400)}
    sure = Snapshot.start(X, classes=["no", "yes"], classifier=KERNEL, strategy=strategy)
    sure = sure.replay(Answer(row, labels[row]) for row in [*range(20), *range(200, 220)])
    assert sure.advice.state is AdviceState.DONE
    assert sure.advice.reason.startswith("None of the rows left is likely")
    odd = np.concatenate([X, np.zeros((1, 3))])  # one row that nobody can tell
    monkeypatch.setattr(snapshot, "ADVICE_SAMPLE", 5)
    told = Snapshot.start(odd, classes=["no", "yes"], classifier=KERNEL, strategy=strategy)
    told = told.replay(sure.answers)
    assert told.advice.state is not AdviceState.DONE
    assert told.advice.least_necessity < 0.5


def test_a_large_pool_may_be_answered_to_the_end(large):  # noqa: ARG001 - pools are
    X = rows(60)
    campaign = begun(X, 60)
    assert campaign.ranked(3) == ()
    assert campaign.advice.reason == "Every row has an answer."


def test_a_campaign_that_remembers_can_be_pickled(large):  # noqa: ARG001 - pools are
    campaign = begun(rows(), classifier=KERNEL)
    for _ in range(3):
        (row,) = campaign.ask()
        campaign = campaign.tell(row, truth(rows())[row])
    again = pickle.loads(pickle.dumps(campaign))  # noqa: S301 - our own
    assert again.ask() == campaign.ask()


def test_of_a_large_pool_a_ranking_knows_what_people_may_see(large, monkeypatch):  # noqa: ARG001 - pools are
    monkeypatch.setattr("possibal.labelling.ranking.OVERVIEW_SAMPLE", 10)
    X = rows()
    answers = tuple(Answer(row, truth(X)[row]) for row in range(8))
    ranking = InProcessRanker(X, "necessity", 0).rank(
        RankingTask(answers, ("no", "yes"), frozenset([299]))
    )
    assert len(ranking.order) == 30
    assert {*range(8), 299, *ranking.order.tolist()} <= set(ranking.looked_at.tolist())
    assert len(ranking.looked_at) < 60
    assert (ranking.predicted != UNKNOWN).all()
    cold = InProcessRanker(X, "necessity", 0).rank(RankingTask((), ("no", "yes")))
    assert cold.is_cold
    assert len(cold.order)
