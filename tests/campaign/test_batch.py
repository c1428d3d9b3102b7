import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from support.campaigns import FIXED, begun, few, rows, seeds

from possibal import acquisition
from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.strategy import View
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.gp.pending import PendingPosterior


@few
@given(seed=seeds, explained=st.integers(0, 4), strategy=st.sampled_from(list(STRATEGIES)))
def test_a_batch_begins_with_the_single_question(seed, explained, strategy):
    campaign = begun(rows(seed), range(explained), strategy=strategy)
    assert campaign.ask(3)[:1] == campaign.ask()
    assert campaign.ask(5)[:3] == campaign.ask(3)


def row_by_row(campaign, X, n):
    """A batch picked from nothing but the rows left, each time anew."""
    posterior, left, asked = campaign.classifier.posterior_, list(campaign.left), []
    pending, reference = PendingPosterior(posterior), X[left]
    while len(asked) < n:
        Z, fresh = X[left], np.ones(len(left), dtype=bool)
        if asked:
            explained = pending.explained_share(Z)
            fresh = explained <= max(explained.min(), 0.5 + 0.5 * explained.min())
        view = View(pending, Z[fresh], np.random.default_rng([0, len(campaign)]), reference)
        best = np.array(left)[fresh][campaign.strategy(view).argmax()]
        asked.append(int(best))
        left.remove(best)
        pending = pending.with_pending(X[best])
    return tuple(asked)


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "random"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_batch_is_picked_row_by_row(strategy, classes):
    X = rows(7, m=40)
    y = np.digitize(X[:, 0], [-0.5, 0.5] if classes > 2 else [0.0])
    campaign = Snapshot.start(X, strategy=strategy, classes=range(classes))
    campaign = campaign.replay(Answer(row, int(y[row])) for row in range(9))
    assert campaign.ask(6) == row_by_row(campaign, X, 6)


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "random"])
@pytest.mark.parametrize("explained", [[], [0], [0, 1, 2, 3]])
def test_a_batch_holds_no_two_copies_of_a_row(strategy, explained):
    X = rows(3, m=10)
    twice = np.concatenate([X, X, X])
    campaign = begun(twice, explained, strategy=strategy, classes=[0, 1])
    asked = np.array(campaign.ask(8))
    assert len(set(asked % 10)) == 8


def test_copies_are_asked_when_nothing_else_is_left():
    campaign = Snapshot.start(np.repeat(rows(m=2), 2, axis=0), classes=[0, 1])
    asked = campaign.ask(4)
    assert sorted(asked) == [0, 1, 2, 3]
    assert {row // 2 for row in asked[:2]} == {0, 1}


@pytest.mark.parametrize("strategy", ["necessity", "uncertainty"])
def test_a_batch_is_spread_out(strategy):
    X, labels = make_moons(200, noise=0.2, random_state=0)
    campaign = Snapshot.start(X, strategy=strategy)
    campaign = campaign.replay(Answer(row, int(labels[row])) for row in range(12))
    asked = list(campaign.ask(5))
    best = np.argsort(-STRATEGIES[strategy](campaign.classifier.posterior_.at(X[12:])))[:5] + 12

    def nearest(chosen):
        apart = np.linalg.norm(X[chosen][:, None] - X[chosen], axis=2)
        return apart[~np.eye(5, dtype=bool)].min()

    assert nearest(asked) > 2 * nearest(best)


def test_rows_that_doubt_cannot_tell_apart_are_taken_where_least_is_explained():
    heights = [0.0, 0.02, 0.0, -0.04, 3.0, 1.5]
    X = np.array([[-1.0, 0.0], [1.0, 0.0], *([0.0, h] for h in heights)])
    campaign = Snapshot.start(X, classifier=FIXED).tell(0, "left").tell(1, "right")
    doubt = acquisition.doubt(campaign.classifier.posterior_.at(X[2:]))
    np.testing.assert_array_equal(doubt, 1.0)  # the mean is zero, whatever the variance
    assert campaign.ask(6) == (2, 6, 7, 5, 3, 4)  # a copy last


def test_one_question_keeps_track_of_no_rows(monkeypatch):
    campaign = Snapshot.start(np.random.default_rng(0).normal(size=(30, 2)), classes=[0, 1])
    campaign = campaign.replay(Answer(row, row % 2) for row in range(4))
    several = campaign.ask(2)
    monkeypatch.delattr("possibal.gp.pending.PendingPosterior.tracking")
    assert campaign.ask() == several[:1]
    with pytest.raises(AttributeError):
        campaign.ask(2)
