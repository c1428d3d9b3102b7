import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from support.services import rows, truth

from possibal.labelling import evaluation
from possibal.labelling.evaluation import (
    FEWEST,
    SHARE,
    SIZES,
    MeasuredSaving,
    saving,
    wilson_interval,
)


@st.composite
def counts(draw):
    """How many of how many were right."""
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


# ---------------------------------------------------------------- the interval
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


# ---------------------------------------------------------------- the saving
def test_the_fewest_random_answers_that_do_as_well_are_found():
    reached = ((5, 0.6), (10, 0.9), (15, 0.85), (20, 0.95))
    assert MeasuredSaving(12, 0.9, reached).equal == 10
    assert MeasuredSaving(12, 0.91, reached).equal == 20
    assert MeasuredSaving(12, 0.96, reached).equal is None


@pytest.mark.parametrize(
    ("answers", "accuracy", "sentence"),
    [
        (8, 0.8, "These 8 answers reach 80%; about 10 random ones would be needed."),
        (9, 0.95, "These 9 answers reach 95%; 15 random ones only 90%."),
        (15, 0.95, "These 15 answers reach 95%; 15 random ones only 90%."),
        (10, 0.8, "These 10 answers reach 80%; 10 random ones do as well. No saving can be seen."),
        (
            40,
            0.95,
            "These 40 answers reach 95%, and 15 random ones 90%. More check rows would tell more.",
        ),
    ],
)
def test_what_was_saved_is_said_in_words(answers, accuracy, sentence):
    assert MeasuredSaving(answers, accuracy, ((5, 0.5), (10, 0.8), (15, 0.9))).sentence == sentence


def test_random_rows_are_tried_at_every_size_that_leaves_some_to_test_on():
    X = rows(60)
    found = saving(X, truth(X), 57, 12)
    assert found is not None
    assert (found.answers, found.accuracy) == (12, 0.95)
    assert [size for size, _ in found.reached] == [size for size in SIZES if size <= SHARE * 60]
    assert all(0.0 <= mean <= 1.0 for _, mean in found.reached)
    assert found.reached[-1][1] > found.reached[0][1]
    assert found.reached[-1][1] > 0.85


def test_the_same_rows_tell_the_same():
    X = rows(24)
    one, other = (saving(X, truth(X), 20, 9) for _ in range(2))
    assert one == other
    assert saving(X, truth(X), 21, 9).reached == one.reached


def test_random_labels_are_no_better_than_chance():
    X = rows(60, seed=1)
    labels = np.random.default_rng(1).permutation(truth(X)).tolist()
    assert all(mean < 0.7 for _, mean in saving(X, labels, 30, 9).reached)


def test_three_classes_can_be_checked(monkeypatch):
    monkeypatch.setattr(evaluation, "DRAWS", 3)
    X = rows(30)
    labels = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])].tolist()
    assert saving(X, labels, 25, 9).reached[-1][1] > 0.5


@pytest.mark.parametrize(
    "labels", [["a", "b"] * (FEWEST // 2 - 1) + ["a"], ["a"] * 40], ids=["few", "one class"]
)
def test_nothing_is_said_where_the_rows_are_too_few_or_all_of_one_class(labels):
    assert saving(rows(len(labels)), labels, 10, 5) is None
