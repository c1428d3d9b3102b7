"""A campaign whose rows have several labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_multilabel_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.campaigns import each_strategy, few, seeds

import possibal
from possibal.campaign import AdviceState, Answer, LabelSetSnapshot
from possibal.campaign import pool as campaign_pool

CLASSES = ("health", "politics", "sport")


def problem(m=60, seed=0):
    X, Y = make_multilabel_classification(
        m, n_features=5, n_classes=3, n_labels=1, random_state=seed
    )
    truth = [tuple(c for c, has in zip(CLASSES, y, strict=True) if has) for y in Y]
    return StandardScaler().fit_transform(X), truth


def walked(snapshot, truth, steps):
    for _ in range(steps):
        (row,) = snapshot.ask()
        snapshot = snapshot.tell(row, truth[row])
    return snapshot


X, TRUTH = problem()
BEGUN = LabelSetSnapshot.start(X, classes=CLASSES)
TOLD = walked(BEGUN, TRUTH, 12)


@each_strategy
def test_every_strategy_asks_rows_that_are_left_each_once(strategy):
    snapshot = LabelSetSnapshot.start(X[:20], classes=CLASSES, strategy=strategy)
    snapshot = walked(snapshot, TRUTH, 5)
    batch = snapshot.ask(3)
    assert len({*batch, *snapshot.labels}) == 8
    assert snapshot.ranked(3)[:3] == batch
    assert sorted(snapshot.ranked(3)) == sorted(snapshot.left)


@given(seeds)
@few
def test_answers_in_any_order_of_classes_make_the_same_campaign(seed):
    rng = np.random.default_rng(seed)
    answers = [Answer(row, rng.permutation(TRUTH[row]).tolist()) for row in range(10)]
    one = BEGUN.replay(answers)
    other = BEGUN.replay(Answer(a.row, sorted(a.label)) for a in answers)
    assert one.labels == other.labels
    assert one.ask() == other.ask()


@given(st.permutations(CLASSES))
@few
def test_how_classes_are_named_does_not_change_the_question(named):
    new = dict(zip(CLASSES, named, strict=True))
    other = LabelSetSnapshot.start(X, classes=CLASSES)
    other = other.replay(Answer(a.row, [new[one] for one in a.label]) for a in TOLD.answers)
    assert other.ask() == TOLD.ask()


def test_with_one_label_doubt_asks_what_a_campaign_of_yes_and_no_asks():
    choices = {"strategy": "necessity", "seed": 3}
    sets = LabelSetSnapshot.start(X, classes=["sport", "unused"], **choices)
    plain = possibal.campaign.Snapshot.start(X, classes=["no", "sport"], **choices)
    for row in range(12):
        has = "sport" in TRUTH[row]
        sets = sets.tell(row, ["sport", "unused"] if has else [])
        plain = plain.tell(row, "sport" if has else "no")
    assert sets.ask() == plain.ask()  # two labels that always go together say what one says


def test_no_class_is_an_answer_and_a_text_is_none():
    snapshot = BEGUN.tell(0, [])
    assert snapshot.labels == {0: ()}
    with pytest.raises(TypeError, match="label must list the classes"):
        BEGUN.tell(0, "sport")
    with pytest.raises(ValueError, match=r"label must list classes of .* got 'sports'"):
        BEGUN.tell(0, ["sports"])


def test_classes_are_learnt_from_answers_where_none_are_named():
    snapshot = LabelSetSnapshot.start(X)
    assert snapshot.classes == ()
    with pytest.raises(ValueError, match="classes must be named, or answered"):
        _ = snapshot.classifier
    (row,) = snapshot.ask()
    snapshot = snapshot.tell(row, ["b", "a"]).add_class("c")
    assert snapshot.classes == ("a", "b", "c")
    assert snapshot.classifier.classes_.tolist() == ["a", "b", "c"]


def test_a_class_is_renamed_in_every_set_and_removed_only_when_unused():
    snapshot = BEGUN.tell(0, ["sport", "health"]).rename_class("health", "medicine")
    assert snapshot.labels[0] == ("medicine", "sport")
    assert snapshot.classes == ("medicine", "politics", "sport")
    with pytest.raises(ValueError, match="which 1 rows have"):
        snapshot.remove_class("sport")
    assert snapshot.remove_class("politics").classes == ("medicine", "sport")
    with pytest.raises(ValueError, match="must not hold"):
        snapshot.add_class("a|b")


def test_advice_waits_for_every_label():
    assert BEGUN.advice.state is AdviceState.GO_ON
    assert "two different sets" in BEGUN.tell(0, []).advice.reason
    belief = TOLD.set_belief_of(np.array([TOLD.pool.places[row] for row in TOLD.left]))
    assert TOLD.advice.least_necessity == belief.necessity.min()
    assert TOLD.advice.in_doubt == (belief.necessity.min(axis=1) < 0.2).sum()


def test_all_rows_answered_ends_it():
    snapshot = BEGUN.replay(Answer(row, TRUTH[row]) for row in range(len(X)))
    assert snapshot.advice.reason == "Every row has an answer."
    assert snapshot.ranked() == ()


def test_a_large_pool_is_asked_from_a_sample(monkeypatch):
    monkeypatch.setattr(campaign_pool, "LARGE_POOL", 30)
    large = LabelSetSnapshot.start(X, classes=CLASSES)
    assert large.pool.is_large
    large = large.replay(TOLD.answers)
    assert large.ask() == TOLD.ask()
    assert np.allclose(
        large.set_belief_of(np.arange(3)).probability, TOLD.set_belief_of(np.arange(3)).probability
    )
    local = LabelSetSnapshot.start(X, classes=CLASSES, strategy="necessity").replay(TOLD.answers)
    assert set(local.ask(2)) <= set(local.left)


def test_blocks_take_turns_until_one_explains_all_labels():
    rng = np.random.default_rng(0)
    wide = np.hstack([X, rng.normal(size=(len(X), 4))])
    model = possibal.PossibilisticGPClassifier(blocks=[5, 4])
    snapshot = walked(LabelSetSnapshot.start(wide, classes=CLASSES, classifier=model), TRUTH, 8)
    assert set(snapshot.ask(2)) <= set(snapshot.left)


@pytest.mark.parametrize(
    ("choices", "error", "sentence"),
    [
        ({"find": "sport"}, ValueError, "find must be left out where rows have several labels"),
        ({"classes": [1, 2]}, TypeError, "classes must be texts"),
        ({"classes": ["a|b", "c"]}, ValueError, "class must not hold"),
        ({"multi": 2}, TypeError, "multi must be True or False"),
    ],
)
def test_what_does_not_go_with_several_labels_is_refused(choices, error, sentence):
    with pytest.raises(error, match=sentence):
        possibal.Campaign.start(X, **{"multi": True, **choices})


def test_a_campaign_in_python_tells_sets_and_predicts_them():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    frame["label"] = ["none", "sport | health", *[None] * (len(X) - 2)]
    campaign = possibal.Campaign.start(frame, label="label", multi=True)
    assert campaign.labels == {0: (), 1: ("health", "sport")}
    for row in range(2, 20):
        campaign.tell(row, [one for one in TRUTH[row] if one != "politics"])
    assert campaign.classes == ("health", "sport")
    assert campaign.report()["balance"]["sport"] == sum("sport" in t for t in TRUTH[2:20]) + 1
    table = campaign.to_frame("pandas")
    assert table["label"].tolist()[:2] == ["none", "health|sport"]
    assert set(campaign.predict(frame)) <= {(), ("health",), ("sport",), ("health", "sport")}
    assert campaign.predict_proba(frame).shape == (len(X), 2)
    beliefs = campaign.beliefs([0, 3])
    assert len(beliefs) == 2
    assert beliefs.to_frame("pandas").columns.tolist()[1:3] == [
        "probability health",
        "probability sport",
    ]
    assert np.array_equal(beliefs.label_necessity, beliefs.necessity.min(axis=1))
    assert "Least is known of" in campaign._repr_html_()
    assert campaign.undo() == 19


def test_a_pipeline_predicts_sets_and_does_not_pose_as_one_classifier():
    pipeline = make_pipeline(StandardScaler(), possibal.PossibilisticGPClassifier())
    campaign = possibal.Campaign.start(X, classifier=pipeline, classes=CLASSES, multi=True)
    campaign.replay(Answer(row, TRUTH[row]) for row in range(12))
    assert len(campaign.predict(X)) == len(X)
    with pytest.raises(ValueError, match="classifier must be one of one label a row"):
        _ = campaign.classifier


def test_classes_of_the_classifier_and_lists_in_cells_are_read_as_sets():
    named = possibal.PossibilisticGPClassifier(classes=["a|b", "c"])
    with pytest.raises(ValueError, match="class must not hold"):
        possibal.Campaign.start(X, classifier=named, multi=True)
    rows = [{"x": float(x), "label": None} for x in X[:, 0]]
    rows[0]["label"], rows[1]["label"] = ["b", "a"], []
    campaign = possibal.Campaign.start(rows, label="label", multi=True)
    assert campaign.labels == {0: ("a", "b"), 1: ()}


@pytest.mark.parametrize("method", ["widget", "question", "map", "plot_map", "plot_curve"])
def test_what_shows_one_label_a_row_is_refused(method):
    campaign = possibal.Campaign.start(X, classes=CLASSES, multi=True)
    given = (0,) if method == "question" else ()
    with pytest.raises(ValueError, match="must be asked of a campaign of one label a row"):
        getattr(campaign, method)(*given)


def test_a_classifier_of_one_label_alone_is_refused():
    other = possibal.PossibilisticLogisticRegression()
    with pytest.raises(TypeError, match="classifier must be a PossibilisticGPClassifier where"):
        possibal.Campaign.start(X, classifier=other, classes=CLASSES, multi=True)


def test_a_frame_s_columns_are_known_to_each_label_s_classifier():
    frame = pd.DataFrame(X, columns=list("abcde"))
    snapshot = LabelSetSnapshot.start(frame, classes=CLASSES)
    snapshot = walked(snapshot, TRUTH, 4)
    names = [one.feature_names_in_.tolist() for one in snapshot.classifier.estimators_]
    assert names == [list("abcde")] * 3
    assert len(snapshot.predicted_sets(np.arange(3))) == 3


def test_a_cold_start_asks_other_rows_once_all_representatives_are_asked(monkeypatch):
    monkeypatch.setattr(campaign_pool, "COLD_START_SAMPLE", 5)
    snapshot = LabelSetSnapshot.start(X, classes=CLASSES)
    assert len(set(snapshot.ask(9))) == 9
