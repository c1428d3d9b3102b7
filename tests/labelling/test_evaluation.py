import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from support.services import rows, truth

from possibal.campaign.learning_curve import CurvePoint, wilson_interval
from possibal.labelling import evaluation
from possibal.labelling.evaluation import (
    FEWEST,
    SHARE,
    SIZES,
    MemberScores,
    RandomCurve,
    Share,
    confusion,
    random_curve,
    saving_sentence,
)


# ---------------------------------------------------------------- classes
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))))
def test_a_confusion_matrix_has_every_row_once(pairs):
    found = confusion(pairs, ("a", "b", "c"))
    assert found.accuracy.rows == len(pairs)
    assert found.accuracy.right == sum(one == other for one, other in pairs)
    for place, label in enumerate(found.classes):
        of_it, named = ([pair for pair in pairs if pair[at] == label] for at in (0, 1))
        right = of_it.count((label, label))
        assert found.recall(place) == Share(right, len(of_it))
        assert found.precision(place) == Share(right, len(named))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_recall_and_precision_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    true, said = rng.integers(0, 3, (2, 50))
    found = confusion(zip(true.tolist(), said.tolist(), strict=True), (0, 1, 2))
    np.testing.assert_array_equal(found.counts, confusion_matrix(true, said))
    precision, recall, _, _ = precision_recall_fscore_support(true, said)
    assert [found.recall(place).value for place in range(3)] == pytest.approx(recall)
    assert [found.precision(place).value for place in range(3)] == pytest.approx(precision)


def test_of_no_rows_no_share_is_known():
    assert (Share(0, 0).value, Share(0, 0).interval) == (None, (0.0, 1.0))
    assert Share(3, 4).interval == wilson_interval(3, 4)


# ---------------------------------------------------------------- the saving
RANDOM = RandomCurve(((5, 0.5), (10, 0.8), (15, 0.9)))


def points(*pairs) -> list[CurvePoint]:
    return [CurvePoint(answers, accuracy, 0.0, 1.0) for answers, accuracy in pairs]


def test_what_random_rows_reach_is_read_between_the_sizes_that_were_tried():
    assert RANDOM.most == 15
    assert [RANDOM.at(size) for size in (5, 7, 15)] == pytest.approx([0.5, 0.62, 0.9])
    assert [RANDOM.equal(one) for one in (0.4, 0.8, 0.81, 0.95)] == [5, 10, 15, None]


def better(labels: int, ours: int, theirs: int, more: str = "") -> str:
    """What is said where asking saved something."""
    rows = f"with {labels} rows drawn at random it would be on about {theirs}%"
    return f"With {labels} labels the model was right on {ours}% of the check rows; {rows}.{more}"


LEVEL = (
    "With 15 labels, rows drawn at random do about as well as those that were asked about, as far "
    "as 40 check rows can tell."
)


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        (points((4, 0.6), (8, 0.95)), better(8, 95, 68)),
        (points((8, 0.88)), better(8, 88, 68, " It takes about 15 of them to do as well.")),
        (points((10, 0.92), (20, 0.95), (40, 1.0)), LEVEL),
        (points((5, 0.98), (10, 1.0), (20, 1.0), (40, 0.98)), better(15, 100, 90)),
        (points((4, 0.9)), None),
        (points((20, 0.9)), None),
        ([], None),
    ],
)
def test_what_was_saved_is_said_at_equal_numbers_of_labels_or_not_at_all(own, sentence):
    assert saving_sentence(own, RANDOM, 40) == sentence


def test_random_rows_are_tried_at_every_size_that_leaves_some_to_test_on():
    X = rows(60)
    found = random_curve(X, truth(X))
    assert found is not None
    assert [size for size, _ in found.reached] == [size for size in SIZES if size <= SHARE * 60]
    assert all(0.0 <= mean <= 1.0 for _, mean in found.reached)
    assert found.reached[-1][1] > found.reached[0][1]
    assert found.reached[-1][1] > 0.85


def test_the_same_rows_tell_the_same():
    X = rows(24)
    assert random_curve(X, truth(X)) == random_curve(X, truth(X))


def test_random_labels_are_no_better_than_chance():
    X = rows(60, seed=1)
    labels = np.random.default_rng(1).permutation(truth(X)).tolist()
    assert all(mean < 0.7 for _, mean in random_curve(X, labels).reached)


def test_three_classes_can_be_checked(monkeypatch):
    monkeypatch.setattr(evaluation, "DRAWS", 3)
    X = rows(30)
    labels = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])].tolist()
    assert random_curve(X, labels).reached[-1][1] > 0.5


@pytest.mark.parametrize(
    "labels", [["a", "b"] * (FEWEST // 2 - 1) + ["a"], ["a"] * 40], ids=["few", "one class"]
)
def test_nothing_is_said_where_the_rows_are_too_few_or_all_of_one_class(labels):
    assert random_curve(rows(len(labels)), labels) is None


def test_a_class_is_told_by_recall_precision_and_their_mean():
    told = MemberScores("sport", both=3, missed=1, wrong=2, rows=9)
    assert (told.recall, told.precision) == (Share(3, 4), Share(3, 5))
    assert told.f1 == pytest.approx(2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5))
    assert MemberScores("sport", both=0, missed=0, wrong=0, rows=9).f1 is None
