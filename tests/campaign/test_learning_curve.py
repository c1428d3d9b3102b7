import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from support.passengers import labelled, passengers

from possibal import Campaign
from possibal.campaign import learning_curve
from possibal.campaign.learning_curve import accuracy_curve, own_curve, wilson_interval


@st.composite
def counts(draw):
    """How many of how many were right."""
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


@given(counts())
def test_the_interval_is_wilsons(given):
    right, n = given
    known = binomtest(right, n).proportion_ci(confidence_level=0.95, method="wilson")
    assert wilson_interval(right, n) == pytest.approx((known.low, known.high), abs=1e-12)


@given(counts())
def test_the_interval_holds_the_share_and_lies_between_nought_and_one(given):
    right, n = given
    low, high = wilson_interval(right, n)
    assert 0.0 <= low <= right / n <= high <= 1.0
    assert low < high


@given(counts())
def test_the_interval_is_the_mirror_of_that_of_the_wrong_ones(given):
    right, n = given
    low, high = wilson_interval(right, n)
    assert wilson_interval(n - right, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


# ---------------------------------------------------------------- curves
def side_by_side(answers: int = 12) -> tuple[Campaign, np.ndarray]:
    """A campaign on a line of numbers, of which those above zero are of another class."""
    X = np.linspace(-3, 3, 60)[:, None]
    campaign = Campaign.start(X, classes=["low", "high"])
    for _ in range(answers):
        (row,) = campaign.ask()
        campaign.tell(row, "high" if X[row, 0] > 0 else "low")
    return campaign, X


def test_the_accuracy_is_that_of_a_campaign_with_the_first_answers():
    campaign, X = side_by_side()
    truth = np.where(X[:, 0] > 0, "high", "low")
    points = accuracy_curve(campaign.snapshot, X, truth)
    assert points[-1].answers == 12
    for point in points[:: len(points) - 1]:
        again = Campaign.start(X, classes=["low", "high"])
        again.replay(campaign.answers[: point.answers])
        right = int((again.classifier.predict(X) == truth).sum())
        assert point.accuracy == right / len(X)
        assert (point.low, point.high) == wilson_interval(right, len(X))


def test_a_curve_begins_once_two_classes_are_named():
    campaign, X = side_by_side(1)
    assert accuracy_curve(campaign.snapshot, X, ["low"] * 60) == []
    assert own_curve(campaign.snapshot) == []
    assert accuracy_curve(Campaign.start(X).snapshot, X, ["low"] * 60) == []


def test_labels_are_compared_in_their_own_type():
    frame, survived = passengers()
    campaign = labelled(Campaign.start(frame, classes=[0, 1]), survived)
    X = campaign.snapshot.pool.X
    (*_, last) = accuracy_curve(campaign.snapshot, X, survived.to_numpy())
    assert last.accuracy == np.mean(campaign.predict(frame) == survived.to_numpy())
    assert accuracy_curve(campaign.snapshot, X, survived.map(str))[-1].accuracy == 0.0


def test_the_own_chances_are_of_rows_without_a_label_and_lie_in_their_range():
    campaign, X = side_by_side(20)
    points = own_curve(campaign.snapshot)
    left = [row for row in range(60) if row not in campaign.labels]
    chances = campaign.classifier.predict_proba(X[left]).max(axis=1)
    known = campaign.snapshot.calibration
    assert points[-1].accuracy == pytest.approx(known.chances(chances).mean())
    assert all(point.low <= point.accuracy <= point.high for point in points)
    assert [point.answers for point in points] == sorted({point.answers for point in points})


def test_there_is_nothing_to_say_of_no_rows_left():
    X = np.arange(4.0)[:, None]
    campaign = Campaign.start(X, classes=["low", "high"])
    for row in range(4):
        campaign.tell(row, "high" if row > 1 else "low")
    assert own_curve(campaign.snapshot)[-1].answers == 3


def test_of_a_large_pool_random_rows_are_asked_about(monkeypatch):
    campaign, _ = side_by_side(6)
    monkeypatch.setattr(learning_curve, "LOOKED_AT", 10)
    first, again = own_curve(campaign.snapshot), own_curve(campaign.snapshot)
    assert first == again
    monkeypatch.setattr(learning_curve, "LOOKED_AT", 5000)
    assert own_curve(campaign.snapshot) != first
