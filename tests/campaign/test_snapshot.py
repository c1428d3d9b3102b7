import datetime as dt
import functools
import pickle
import warnings
from dataclasses import FrozenInstanceError, dataclass, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from support.campaigns import FIXED, begun, each_strategy, few, rows, seeds, truth, walked
from support.pools import WIDE

from possibal import acquisition
from possibal.acquisition.registry import STRATEGIES, pick
from possibal.acquisition.strategy import View
from possibal.campaign import pool
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.campaign.stopping import AdviceState
from possibal.errors import AlreadyAnsweredError, PossibalError
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.gp.pending import PendingPosterior
from possibal.pool import sampling

# ---------------------------------------------------------------- ask and tell


@each_strategy
@pytest.mark.parametrize("classes", [2, 3])
def test_every_row_is_asked_once(strategy, classes):
    X = rows(1)
    campaign = walked(Snapshot.start(X, strategy=strategy), truth(X, classes), 12)
    assert sorted(answer.row for answer in campaign.answers) == list(range(12))
    assert campaign.left == ()
    assert len(campaign) == 12


@few
@given(seed=seeds, steps=st.integers(0, 6))
def test_no_answered_row_is_asked_again(seed, steps):
    X = rows(seed)
    campaign = walked(Snapshot.start(X, classes=[0, 1]), truth(X), steps)
    asked = campaign.ask(12 - steps)
    assert set(asked) == set(campaign.left)
    assert len(set(asked)) == len(asked)
    assert not set(asked) & {answer.row for answer in campaign.answers}


@few
@given(seed=seeds, steps=st.integers(0, 6))
def test_a_replay_is_the_fold_of_tell(seed, steps):
    X = rows(seed)
    start = Snapshot.start(X, classes=[0, 1])
    campaign = walked(start, truth(X), steps)
    again = start.replay(campaign.answers)
    assert again == campaign
    assert again.ask(3) == campaign.ask(3)
    halves = start.replay(campaign.answers[:2]).replay(iter(campaign.answers[2:]))
    assert halves == campaign


def test_tell_leaves_the_campaign_as_it_was():
    before = Snapshot.start(rows(), classes=[0, 1])
    after = before.tell(3, 1)
    assert (len(before), len(after)) == (0, 1)
    assert after.answers == (Answer(3, 1),)
    assert 3 in before.left
    assert 3 not in after.left
    assert before != after
    with pytest.raises(FrozenInstanceError):
        before.seed = 4


def test_the_pool_is_a_copy():
    X = rows()
    campaign = Snapshot.start(X)
    first = campaign.ask(5)
    X[:] = 0.0
    assert campaign.ask(5) == first
    with pytest.raises(ValueError, match="read-only"):
        campaign.pool.X[0] = 1.0


@each_strategy
def test_asking_changes_nothing(strategy):
    campaign = begun(rows(), [0, 1, 2], strategy=strategy)
    first = campaign.ask(4)
    assert campaign.ask(4) == first
    assert campaign.ask() == first[:1]
    assert len(campaign) == 3


@few
@given(seed=seeds, strategy=st.sampled_from(list(STRATEGIES)), told=st.integers(0, 4))
def test_the_same_seed_asks_the_same(seed, strategy, told):
    one, other = (
        begun(rows(seed), range(told), strategy=strategy, seed=seed).ask(3) for _ in range(2)
    )
    assert one == other


def test_another_seed_draws_another_row():
    asked = {begun(rows(), [0, 1, 2], strategy="random", seed=s).ask(3) for s in range(5)}
    assert len(asked) == 5


@pytest.mark.parametrize("told", [0, 1, 5])
def test_random_draws_from_the_seed_and_the_number_of_answers(told):
    campaign = begun(np.repeat(rows(m=10), 2, axis=0), range(told), strategy="random", seed=3)
    rng, left = np.random.default_rng([3, told]), list(campaign.left)
    drawn = [left.pop(rng.random(len(left)).argmax()) for _ in range(10)]
    assert campaign.ask(10) == tuple(drawn)


@few
@given(seed=seeds, told=st.integers(0, 5), strategy=st.sampled_from(["necessity", "uncertainty"]))
def test_the_order_of_the_pool_does_not_matter(seed, told, strategy):
    X, order = rows(seed), np.random.default_rng(seed).permutation(12)
    answers = [Answer(row, label) for row, label in enumerate(truth(X)[:told])]
    one = Snapshot.start(X, ids=range(12), strategy=strategy).replay(answers)
    other = Snapshot.start(X[order], ids=order, strategy=strategy).replay(answers)
    assert one.ask(4) == other.ask(4)


def test_a_campaign_survives_a_pickle():
    campaign = begun(rows(), [0, 1, 2])
    again = pickle.loads(pickle.dumps(campaign))  # noqa: S301 - our own
    assert again.ask(3) == campaign.ask(3)


# ---------------------------------------------------------------- cold starts


def two_blobs():
    """A dense blob, a smaller one, and a row far from both."""
    blobs = [0.1 * rows(1, m=20), 0.1 * rows(2, m=10) + 3.0]
    return np.concatenate([*blobs, [[-9.0, 9.0]]])


@pytest.mark.parametrize("classes", [None, ["a", "b"], ["a", "b", "c"]])
def test_the_first_questions_speak_for_most_rows(classes):
    campaign = Snapshot.start(two_blobs(), classes=classes)
    first, second = campaign.ask(2)
    assert first < 20 <= second < 30
    (then,) = campaign.tell(first, "a").ask()
    assert 20 <= then < 30


def test_a_first_batch_asks_the_representatives_of_a_pool_and_then_others(monkeypatch):
    monkeypatch.setattr(pool, "COLD_START_SAMPLE", 4)
    campaign = Snapshot.start(rows(m=12), classes=[0, 1])
    asked = campaign.ask(9)
    assert set(asked[:4]) == set(campaign.pool.representatives.tolist())
    assert len(set(asked)) == 9
    assert asked[:6] == campaign.ask(6)
    posterior, X = campaign.classifier.posterior_, campaign.pool.X
    pending = functools.reduce(
        PendingPosterior.with_pending, X[list(asked[:4])], PendingPosterior(posterior)
    )
    others = np.setdiff1d(np.arange(12), asked[:4])
    explained = pending.explained_share(X[others])
    fresh = others[explained <= max(explained.min(), 0.5 + 0.5 * explained.min())]
    assert asked[4] == fresh[pending.variance_reduction(X[fresh], campaign.pool.reference).argmax()]


@few
@given(seed=seeds, told=st.integers(0, 3))
def test_whether_classes_are_named_makes_no_difference_to_the_first_questions(seed, told):
    answers = [Answer(row, "no") for row in range(told)]
    named, learnt = (
        Snapshot.start(rows(seed), classes=classes).replay(answers)
        for classes in (["no", "yes"], None)
    )
    assert named.ask(4) == learnt.ask(4)


@pytest.mark.parametrize("told", [0, 1])
def test_a_cold_start_warns_of_nothing(told):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        begun(rows(m=50), range(told)).ask(3)


def test_random_is_random_from_the_start():
    first = {Snapshot.start(rows(), strategy="random", seed=seed).ask() for seed in range(8)}
    assert len(first) > 3


def test_the_strategy_rules_once_two_labels_are_known():
    X = rows()
    cold = begun(X, [], strategy="necessity")
    warm = cold.replay([Answer(0, "a"), Answer(1, "b")])
    view = View(warm.classifier.posterior_, X[2:])
    assert warm.ask() == (int(acquisition.doubt(view).argmax()) + 2,)


def test_a_large_pool_has_a_reference_that_its_order_does_not_change(monkeypatch):
    monkeypatch.setattr("possibal.campaign.pool.COLD_START_SAMPLE", 8)
    X, order = rows(), np.random.default_rng(1).permutation(12)
    one, other = (Snapshot.start(some).pool.reference for some in (X, X[order]))
    assert one.shape == (8, 2)
    np.testing.assert_array_equal(one, other)
    assert len(np.unique(one, axis=0)) == 8
    assert not np.array_equal(one, Snapshot.start(X, seed=1).pool.reference)
    assert Snapshot.start(X).ask() == (order[Snapshot.start(X[order]).ask()[0]],)
    monkeypatch.undo()
    np.testing.assert_array_equal(Snapshot.start(X).pool.reference, X)


# ---------------------------------------------------------------- strategies


def test_what_is_picked_is_what_a_campaign_asks():
    for name in ("necessity", "herding"):
        campaign = begun(rows(), [0, 1, 2, 3], strategy=name)
        view = View(campaign.classifier.posterior_, rows()[4:])
        assert campaign.ask() == (4 + pick(view, STRATEGIES[name]),)


def test_a_campaign_takes_a_strategy_of_ones_own():
    seen = []

    def last(view):
        seen.append((view.candidates.shape, view.reference.shape, type(view.rng)))
        return np.arange(len(view.candidates))

    campaign = begun(rows(), [0, 1, 2, 11], strategy=last)
    assert campaign.ask(2) == (10, 8)  # 10 tells too much about 9
    assert seen == [((8, 2), (8, 2), np.random.Generator), ((6, 2), (8, 2), np.random.Generator)]


def test_a_strategy_of_ones_own_may_be_any_callable():
    @dataclass  # equal to its like, and so without a hash
    class First:
        power: float

        def __call__(self, view):
            return -self.power * np.arange(len(view.candidates))

    assert begun(rows(), [0, 1, 2, 11], strategy=First(2.0)).ask(2)[0] == 3


@pytest.fixture
def few_candidates(monkeypatch):
    """Twenty rows are candidates, of forty that are sampled."""
    monkeypatch.setattr(sampling, "JOINT_CANDIDATES", 20)
    monkeypatch.setattr(sampling, "SAMPLE_SIZE", 40)
    monkeypatch.setattr(sampling, "COVERED", 20)


@pytest.fixture(params=[10**6, 50], ids=["small", "large"])
def any_size(request, monkeypatch):
    """Whether a pool of 90 rows counts as large."""
    monkeypatch.setattr(pool, "LARGE_POOL", request.param)


@pytest.mark.usefixtures("few_candidates", "any_size")
def test_of_many_rows_some_are_sampled_and_of_those_the_most_doubtful_are_candidates():
    seen = []

    def last(view):
        seen.append((view.candidates, view.reference))
        return np.arange(len(view.candidates))

    X = rows(m=90)
    campaign = begun(X, [0, 1, 2, 3], strategy=last)
    (row,) = campaign.ask()
    (candidates, reference), keys = seen[0], sampling.HashedSampler(0, 4).keys(0, 90)
    drawn = 4 + np.argsort(-keys[4:])[:40]
    doubt = acquisition.doubt(campaign.classifier.posterior_.at(X[drawn]))
    shown = np.union1d(drawn[:10], drawn[np.argsort(-doubt)[:10]])
    np.testing.assert_array_equal(candidates, X[shown])
    np.testing.assert_array_equal(reference, X[np.sort(drawn[:20])])
    assert row == shown[-1]
    assert "cache" not in vars(campaign.pool)  # nothing of the others is worked out


@pytest.mark.usefixtures("few_candidates", "any_size")
@pytest.mark.parametrize("strategy", WIDE)
def test_a_batch_of_many_rows_is_picked_among_the_candidates(strategy):
    campaign = begun(rows(m=90), range(6), strategy=strategy, seed=1)
    asked = campaign.ask(4)
    assert len(set(asked)) == 4
    assert set(asked) <= set(campaign.left)
    assert asked[:1] == campaign.ask()
    assert asked[:3] == campaign.ask(3)
    ranked = campaign.ranked(4)
    assert ranked[:4] == asked
    assert len(set(ranked)) == len(ranked)
    if campaign.pool.is_large:
        assert 10 <= len(ranked) <= 20
    else:
        assert sorted(ranked) == list(range(6, 90))


@pytest.mark.usefixtures("few_candidates")
def test_a_batch_of_more_rows_than_are_seen_sees_more():
    campaign = begun(rows(m=90), range(6), strategy="herding")
    asked = campaign.ask(25)
    assert len(set(asked)) == 25
    assert set(asked) <= set(campaign.left)


# ---------------------------------------------------------------- classifier


def test_the_classifier_is_that_of_the_answers():
    X, told = rows(), [5, 0, 7, 3]
    campaign = begun(X, told)
    labels = [truth(X)[row] for row in told]
    usual, centre = campaign.pool.usual_distance, X.mean(axis=0)
    alone = PossibilisticGPClassifier(usual_distance=usual, centre=centre).fit(X[told], labels)
    np.testing.assert_array_equal(campaign.classifier.predict_proba(X), alone.predict_proba(X))
    assert campaign.classifier is campaign.classifier


def test_a_distance_that_the_classifier_names_is_kept():
    given = PossibilisticGPClassifier(usual_distance=9.0)
    assert Snapshot.start(rows(), classifier=given).model.usual_distance == 9.0
    campaign = Snapshot.start(rows())
    assert campaign.model.usual_distance == campaign.pool.usual_distance
    assert PossibilisticGPClassifier().usual_distance is None


def test_the_given_classifier_is_copied():
    given = PossibilisticGPClassifier(link="logistic", classes=["a", "b"])
    campaign = Snapshot.start(rows(), classifier=given).tell(0, "a").tell(1, "b")
    assert campaign.classifier.link == "logistic"
    assert not hasattr(given, "posterior_")
    assert campaign.classifier.classes_.tolist() == ["a", "b"]
    more = Snapshot.start(rows(), classifier=given, classes=["a", "b", "c"]).tell(0, "c")
    assert more.classifier.classes_.tolist() == ["a", "b", "c"]
    assert given.classes == ["a", "b"]


def test_classes_are_learnt_from_the_answers():
    campaign = Snapshot.start(rows()).tell(0, "b").tell(1, "a")
    assert campaign.classifier.classes_.tolist() == ["a", "b"]
    assert campaign.tell(2, "c").classifier.classes_.tolist() == ["a", "b", "c"]
    assert campaign.tell(2, "c").ask(3)


@pytest.mark.parametrize("told", [0, 1])
def test_there_is_no_classifier_before_classes_are_known(told):
    campaign = begun(rows(), range(told))
    with pytest.raises(ValueError, match=f"classes must be named.*; got {told}"):
        _ = campaign.classifier
    assert Snapshot.start(rows(), classes=[0, 1]).classifier.predict(rows()).shape == (12,)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_the_names_of_their_columns(frame):
    X = frame({"width": rows()[:, 0], "height": rows()[:, 1]})
    campaign = begun(rows(), [0, 1, 2])
    framed = Snapshot.start(X).replay(campaign.answers)
    assert framed.ask(3) == campaign.ask(3)
    assert framed.classifier.predict(X).tolist() == campaign.classifier.predict(rows()).tolist()
    # Older versions of scikit-learn do not read the names of a polars frame.
    alone = PossibilisticGPClassifier(classes=[0, 1]).fit(X[:0], [])
    for model in (alone, framed.classifier):
        assert list(getattr(model, "feature_names_in_", [])) in ([], ["width", "height"])
    assert hasattr(framed.classifier, "feature_names_in_") == hasattr(alone, "feature_names_in_")
    assert frame is pl.DataFrame or hasattr(alone, "feature_names_in_")


def test_rows_may_have_any_names():
    names = ["p", ("q", 1), 2.5, dt.date(2020, 1, 1)]
    campaign = Snapshot.start(rows(m=4), ids=names).tell(("q", 1), "a").tell(names[3], "b")
    assert campaign.left == ("p", 2.5)
    assert set(campaign.ask(2)) == {"p", 2.5}
    numbered = Snapshot.start(rows(m=4), ids=np.arange(4) + 10)
    assert numbered.tell(np.int64(12), np.str_("a")).answers == (Answer(12, "a"),)
    assert {type(row) for row in numbered.ask(4)} == {int}


# ---------------------------------------------------------------- advice


def test_advice_goes_with_the_answers():
    X = np.concatenate([0.2 * rows(1, m=30) - 2, 0.2 * rows(2, m=30) + 2])
    labels = ["low"] * 30 + ["high"] * 30
    campaign = Snapshot.start(X)
    states = []
    for _ in range(60):
        states.append(campaign.advice.state)
        campaign = walked(campaign, labels, 1)
    states.append(campaign.advice.state)
    assert states[0] is AdviceState.GO_ON
    first = states.index(AdviceState.SETTLED)
    assert 10 <= first < 40
    assert set(states[:first]) == {AdviceState.GO_ON}
    assert states[-1] is AdviceState.DONE
    assert campaign.advice.reason == "Every row has an answer."


def test_nobody_may_stop_before_two_classes_were_seen():
    X = 0.01 * rows(m=40)
    campaign = Snapshot.start(X, classes=["a", "b"], classifier=FIXED)
    campaign = walked(campaign, ["a"] * 40, 39)
    assert acquisition.necessity(campaign.classifier.posterior_.at(X)).min() > 0.9
    assert campaign.advice.state is AdviceState.GO_ON
    assert campaign.advice.reason == "The answers so far name fewer than two classes."
    assert campaign.advice.changed is None
    assert walked(campaign, ["a"] * 40, 1).advice.state is AdviceState.DONE


def test_a_class_that_is_new_cannot_be_compared():
    X, labels = rows(m=40), truth(rows(m=40))
    campaign = walked(Snapshot.start(X, classes=[0, 1, 2]), labels, 15)
    assert campaign.advice.changed is not None
    assert campaign.tell(campaign.left[0], 2).advice.changed is None


def test_advice_compares_with_the_classifier_some_answers_ago():
    X, left = rows(m=200), rows(m=200)[30:]
    labels = np.random.default_rng(0).integers(2, size=30).tolist()
    campaign = Snapshot.start(X).replay(Answer(row, label) for row, label in enumerate(labels))

    def changed(told):
        models = (clone(campaign.model).fit(X[:n], labels[:n]) for n in (told, 30))
        before, now = (model.posterior_.leading.moments(left)[0] > 0 for model in models)
        return (before != now).mean()

    assert changed(24) != changed(25)
    assert campaign.advice.changed == changed(24)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"ids": [1, 2, 1, 3]}, "ids must be unique; got 1 at rows 0 and 2"),
        ({"ids": [1, 2]}, "ids must have one entry per row, 4; got 2"),
        ({"ids": [1, 2, [3], 4]}, r"ids must hold text or numbers; got \[3\] at row 2"),
        ({"ids": [1, 2, 3, np.nan]}, "got nan at row 3"),
        ({"ids": [1, 2, 3, None]}, "got None at row 3"),
        ({"strategy": "neces"}, "strategy must be one of .* Did you mean 'necessity'"),
        ({"strategy": 3}, "strategy must be one of .* got 3"),
        ({"classes": ["a"]}, "classes must name at least 2 labels"),
        ({"classes": "ab"}, "classes must be a list of labels"),
        ({"seed": -1}, "seed must be at least 0; got -1"),
    ],
)
def test_a_bad_start_is_refused_in_a_sentence(choices, says):
    with pytest.raises(ValueError, match=says):
        Snapshot.start(rows(m=4), **choices)


def test_things_of_the_wrong_kind_are_refused_in_a_sentence():
    with pytest.raises(TypeError, match=r"classifier must be a Possibilistic.*; got KN"):
        Snapshot.start(rows(), classifier=KNeighborsClassifier())
    with pytest.raises(TypeError, match=r"seed must be a whole number; got 1\.5"):
        Snapshot.start(rows(), seed=1.5)
    with pytest.raises(TypeError, match="n must be a whole number; got True"):
        Snapshot.start(rows()).ask(n=True)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (np.empty((0, 2)), "X must have at least one row; got none"),
        ([[1.0, np.nan]], "X must be finite; got NaN at row 0, column 1"),
        ([["a", "b"]], "X must hold numbers; got text"),
    ],
)
def test_rows_that_are_none_are_refused_in_a_sentence(X, says):
    with pytest.raises(ValueError, match=says):
        Snapshot.start(X)


def test_a_row_is_told_once():
    campaign = Snapshot.start(rows()).tell(3, "a")
    with pytest.raises(AlreadyAnsweredError, match="got 3, whose label is 'a'") as caught:
        campaign.tell(3, "b")
    assert isinstance(caught.value, PossibalError)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(AlreadyAnsweredError):
        campaign.replay([Answer(4, "a"), Answer(4, "a")])


@pytest.mark.parametrize("row", [12, -1, "x", [1], None])
def test_a_row_that_is_not_in_the_pool_is_refused(row):
    with pytest.raises(ValueError, match="row must be an id of the pool"):
        Snapshot.start(rows()).tell(row, "a")


@pytest.mark.parametrize("label", ["maybe", 0, None, ["no"], np.nan])
def test_a_label_that_is_not_a_class_is_refused(label):
    with pytest.raises(ValueError, match=r"label must be one of \['no', 'yes'\]; got"):
        Snapshot.start(rows(), classes=["yes", "no"]).tell(0, label)


@pytest.mark.parametrize("label", [None, np.nan, 0.5, np.inf, ["a"], ("a",)])
def test_a_label_that_names_no_class_is_refused(label):
    with pytest.raises(ValueError, match="label must be text or a whole number; got"):
        Snapshot.start(rows()).tell(0, label)


@pytest.mark.parametrize("label", [True, np.True_, 2, 2.0, "a", np.int64(3)])
def test_a_label_that_names_a_class_is_taken(label):
    assert Snapshot.start(rows()).tell(0, label).answers[0].label == label


def test_text_and_numbers_are_not_mixed():
    with pytest.raises(ValueError, match="label must be of one type with the first, 'a'; got 1"):
        Snapshot.start(rows()).tell(0, "a").tell(1, 1)


def test_more_rows_than_are_left_are_refused():
    campaign = begun(rows(m=3), [0])
    with pytest.raises(ValueError, match="n must be at most 2, the rows left; got 3"):
        campaign.ask(3)
    with pytest.raises(ValueError, match="n must be at least 1; got 0"):
        campaign.ask(0)
    with pytest.raises(ValueError, match="ask must find rows left; got answers for all"):
        begun(rows(m=3), [0, 1, 2]).ask()


# ---------------------------------------------------------------- rows put aside
def test_a_row_put_aside_is_never_asked_about():
    campaign = Snapshot.start(np.arange(8.0)[:, None], classes=[0, 1])
    first = campaign.ask()[0]
    other = campaign.without([first])
    assert first not in other.left
    assert first not in other.ask(7)
    assert campaign.ask() == (first,)


def test_a_row_put_aside_may_be_told_all_the_same():
    campaign = Snapshot.start(np.arange(8.0)[:, None], classes=[0, 1]).without([3])
    assert campaign.tell(3, 1).answers == (Answer(3, 1),)


def test_only_rows_of_the_pool_can_be_put_aside():
    with pytest.raises(ValueError, match="row must be an id of the pool; got 9"):
        Snapshot.start(np.arange(8.0)[:, None]).without([9])


@pytest.mark.parametrize("strategy", ["necessity", "herding", "random"])
@pytest.mark.parametrize("told", [0, 4])
def test_a_ranking_has_every_row_left_once_and_begins_as_ask(strategy, told):
    X = np.random.default_rng(0).normal(size=(20, 2))
    campaign = Snapshot.start(X, classes=["a", "b"], strategy=strategy, seed=3).without([7])
    campaign = campaign.replay(Answer(row, "ab"[row % 2]) for row in range(told))
    ranked = campaign.ranked(5)
    assert sorted(ranked) == sorted(campaign.left)
    assert ranked[:5] == campaign.ask(5)


def test_the_rows_after_the_first_are_ranked_by_their_own_merit():
    X = np.random.default_rng(0).normal(size=(20, 2))
    campaign = Snapshot.start(X, classes=["a", "b"], strategy="necessity")
    campaign = campaign.replay(Answer(row, "ab"[row % 2]) for row in range(4))
    others = list(campaign.ranked(3)[3:])
    doubt = acquisition.doubt(campaign.classifier.belief(X[others]))
    assert (np.diff(doubt) <= 0).all()


def test_nothing_left_is_an_empty_ranking():
    campaign = Snapshot.start(np.arange(2.0)[:, None]).tell(0, "a").tell(1, "b")
    assert campaign.ranked(3) == ()


# ---------------------------------------------------------------- classes
def test_a_class_that_is_named_is_added_renamed_and_removed():
    campaign = Snapshot.start(rows(), classes=["a", "b"]).tell(0, "a").tell(1, "b")
    more = campaign.add_class("c")
    assert more.classes == ("a", "b", "c")
    assert more.tell(2, "c").classifier.classes_.tolist() == ["a", "b", "c"]
    renamed = campaign.rename_class("a", "z")
    assert renamed.classes == ("b", "z")
    assert renamed.labels == {0: "z", 1: "b"}
    assert more.remove_class("c").classes == ("a", "b")
    assert campaign.classes == ("a", "b")


def test_classes_may_be_added_before_they_are_answered():
    campaign = Snapshot.start(rows()).add_class("b").add_class("a")
    assert campaign.classes == ("a", "b")
    assert campaign.classifier.classes_.tolist() == ["a", "b"]
    assert campaign.is_cold
    assert campaign.tell(0, "c").tell(1, "a").classifier.classes_.tolist() == ["a", "b", "c"]
    assert campaign.rename_class("b", "d").remove_class("a").classes == ("d",)
    numbers = Snapshot.start(rows()).add_class(np.int64(2)).tell(0, 1)
    assert numbers.classes == (1, 2)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c.add_class("A "), "differ from every class by more than case.*beside 'a'"),
        (lambda c: c.rename_class("b", "a"), "differ from every class by more than case"),
        (lambda c: c.rename_class("x", "y"), r"name must be one of \['a', 'b'\]; got 'x'"),
        (lambda c: c.remove_class([]), r"name must be one of \['a', 'b'\]; got \[\]"),
        (lambda c: c.remove_class("a"), "a class without answers; got 'a', which 1 rows have"),
    ],
)
@pytest.mark.parametrize("classes", [None, ["a", "b"]])
def test_classes_that_make_no_sense_are_refused(classes, change, says):
    campaign = Snapshot.start(rows(), classes=classes).tell(0, "a").tell(1, "b")
    with pytest.raises(ValueError, match=says):
        change(campaign)


def test_two_classes_that_were_named_stay():
    with pytest.raises(ValueError, match="classes must name at least 2 labels"):
        Snapshot.start(rows(), classes=["a", "b"]).remove_class("b")


def test_a_new_class_is_of_the_type_of_the_others():
    with pytest.raises(ValueError, match="label must be of one type with the first"):
        Snapshot.start(rows()).tell(0, "a").add_class(1)
    with pytest.raises(ValueError, match="label must be of one type with the first"):
        Snapshot.start(rows()).tell(0, "a").tell(1, "b").rename_class("b", 1)
    assert Snapshot.start(rows()).tell(0, "a").rename_class("a", 1).classes == (1,)


# ---------------------------------------------------------------- rows put off
def test_a_row_is_put_off_once_and_in_order():
    campaign = Snapshot.start(rows(m=5), classes=[0, 1]).skip(1).skip(3).skip(1)
    assert campaign.skipped == (3, 1)
    assert campaign.ask(5)[-2:] == (3, 1)
    assert campaign.ranked(2)[-2:] == (3, 1)
    assert campaign.left == (0, 1, 2, 3, 4)
    assert 3 not in campaign.tell(3, 1).ask(4)
    with pytest.raises(ValueError, match="row must be an id of the pool"):
        campaign.skip(9)
    with pytest.raises(AlreadyAnsweredError):
        campaign.tell(3, 1).skip(3)


# ---------------------------------------------------------------- blocks of columns
def in_blocks(answers, blocks=(2, 6), **options):
    """A campaign over two blocks, whose labels follow the first; so many answers in."""
    rng = np.random.default_rng(5)
    X = np.hstack([rng.normal(size=(120, 2)), rng.normal(size=(120, 6))])
    model = PossibilisticGPClassifier(blocks=blocks, **options)
    snapshot = Snapshot.start(X, classes=[0, 1], classifier=model)
    for _ in range(answers):
        (row,) = snapshot.ask()
        snapshot = snapshot.tell(row, int(X[row, 0] > 0))
    return snapshot, X


def asked_alone(snapshot, columns, **options):
    """What a campaign over these columns alone asks after the same answers."""
    model = PossibilisticGPClassifier("rbf", **options)
    alone = Snapshot.start(snapshot.pool.X[:, columns], classes=[0, 1], classifier=model)
    return alone.replay(snapshot.answers).ask(3)


def test_blocks_take_turns_at_first():
    first, second = slice(0, 2), slice(2, 8)
    for answers in range(6):
        snapshot, _ = in_blocks(answers)
        assert snapshot.ask(3) == asked_alone(snapshot, (first, second)[answers % 2])


def test_the_block_that_counts_asks_once_answers_tell():
    snapshot, _ = in_blocks(16)
    assert snapshot.ask(3) == asked_alone(snapshot, slice(0, 2))
    assert snapshot.ranked(3)[:3] == snapshot.ask(3)
    assert set(snapshot.ranked(3)) == set(snapshot.left)


def test_blocks_go_on_taking_turns_where_a_single_setting_is_kept():
    for answers, columns in {7: slice(2, 8), 8: slice(0, 2)}.items():
        snapshot, _ = in_blocks(answers, hyperparameters="fixed")
        assert snapshot.ask(3) == asked_alone(snapshot, columns, hyperparameters="fixed")


def test_one_block_is_a_plain_campaign_and_local_scores_read_all_blocks():
    snapshot, X = in_blocks(6, blocks=(8,))
    plain = Snapshot.start(X, classes=[0, 1]).replay(snapshot.answers)
    assert snapshot.ask(3) == plain.ask(3)
    local = replace(in_blocks(6)[0], strategy=STRATEGIES["margin"])
    (best,) = local.ask()
    places = np.array([local.pool.places[row] for row in local.left])
    scores = STRATEGIES["margin"](View(None, X[places], known=local.belief.part(places)))
    assert best == local.left[int(np.argmax(scores))]
