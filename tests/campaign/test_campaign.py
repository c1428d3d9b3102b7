import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from support.campaigns import rows, truth
from support.passengers import labelled, passengers

from possibal import Campaign, PossibilisticGPClassifier, PossibilisticPipeline
from possibal.campaign import campaign as module
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.errors import AlreadyAnsweredError

# ---------------------------------------------------------------- names of rows


@pytest.mark.parametrize("names", [int, str])
@pytest.mark.parametrize("shuffled", [False, True])
def test_every_label_is_that_of_the_passenger_who_was_asked_about(names, shuffled):
    frame, survived = passengers()
    frame.index, survived.index = frame.index.map(names), survived.index.map(names)
    frame = frame.sample(frac=1, random_state=1) if shuffled else frame
    campaign = labelled(Campaign.start(frame, classes=[0, 1]), survived, 10)
    assert campaign.labels == {row: survived.loc[row] for row in campaign.labels}
    assert {type(row) for row in campaign.labels} == {names}
    table = campaign.to_frame()
    assert table.index.equals(frame.index)
    known = table[table["label"].notna()]
    assert (known["label"] == survived.loc[known.index]).all()
    assert len(known) == 10
    assert np.mean(campaign.predict(frame) == survived.loc[frame.index]) > 0.9


def test_positions_name_the_rows_of_a_frame_with_a_plain_index():
    frame, survived = passengers()
    campaign = labelled(
        Campaign.start(frame.reset_index(drop=True)), survived.reset_index(drop=True)
    )
    assert campaign.rows == tuple(range(60))
    assert set(campaign.labels) < set(range(60))


def test_a_column_names_rows_and_is_not_learnt_from():
    frame, _ = passengers()
    plain = frame.reset_index()
    by_column, by_index = Campaign.start(plain, ids="PassengerId"), Campaign.start(frame)
    assert by_column.rows == by_index.rows
    np.testing.assert_array_equal(by_column.snapshot.pool.X, by_index.snapshot.pool.X)


# ---------------------------------------------------------------- verbs


def test_tell_changes_the_campaign_and_returns_it():
    campaign = Campaign.start(rows(), classes=["a", "b"])
    campaign.tell(3, "a")
    campaign = campaign.tell(4, "b")
    assert campaign.labels == {3: "a", 4: "b"}
    assert len(campaign) == 2
    assert campaign.answers == (Answer(3, "a"), Answer(4, "b"))
    with pytest.raises(AlreadyAnsweredError, match="Undo it, or change it with edit"):
        campaign.tell(3, "b")


def test_a_campaign_asks_what_its_snapshot_asks():
    X = rows(m=20)
    campaign, snapshot = Campaign.start(X, classes=[0, 1]), Snapshot.start(X, classes=[0, 1])
    for _ in range(6):
        (row,) = campaign.ask()
        assert snapshot.ask() == (row,)
        campaign.tell(row, truth(X)[row])
        snapshot = snapshot.tell(row, truth(X)[row])
        assert campaign.snapshot == Snapshot(
            campaign.snapshot.pool, snapshot.strategy, campaign.snapshot.model, 0, snapshot.answers
        )
    assert campaign.advice == snapshot.advice
    assert campaign.ranked(3) == list(snapshot.ranked(3))


def test_fewer_rows_are_asked_where_fewer_are_left():
    campaign = Campaign.start(rows(m=3), classes=["a", "b"]).tell(0, "a")
    assert sorted(campaign.ask(9)) == [1, 2]
    assert campaign.left == (1, 2)
    campaign.tell(1, "a").tell(2, "b")
    assert campaign.ask() == []
    with pytest.raises(ValueError, match="n must be at least 1"):
        campaign.ask(0)


def test_undo_takes_back_whatever_was_changed_last():
    campaign = Campaign.start(rows())
    campaign.tell(0, "a").tell(1, "b").edit(0, "b").skip(5)
    assert campaign.undo() == 5
    assert campaign.undo() == 0
    assert campaign.labels == {0: "a", 1: "b"}
    campaign.rename_class("a", "c").add_class("d").remove_class("d")
    assert campaign.classes == ("b", "c")
    assert [campaign.undo() for _ in range(3)] == [None] * 3
    assert campaign.classes == ("a", "b")
    campaign.replay([Answer(7, "a"), Answer(8, "a")]).without([9])
    assert campaign.undo() is None
    assert campaign.undo() is None
    assert [campaign.undo(), campaign.undo(), campaign.undo()] == [1, 0, None]
    assert campaign.labels == {}


def test_what_is_undone_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "MOST_UNDONE", 2)
    campaign = Campaign.start(rows()).tell(0, "a").tell(1, "b").tell(2, "a")
    assert [campaign.undo() for _ in range(3)] == [2, 1, None]
    assert campaign.labels == {0: "a"}


def test_what_was_worked_out_before_a_change_is_not_kept():
    campaign = Campaign.start(rows(), classes=[0, 1])
    campaign.ask()
    campaign.tell(0, 1)
    ((_, before),) = campaign._before  # noqa: SLF001 - what takes memory
    assert not {"belief", "classifier"} & set(vars(before))


def test_a_row_that_is_skipped_comes_back_when_no_other_is_left():
    campaign = Campaign.start(rows(m=4), classes=[0, 1])
    first = campaign.ask()[0]
    campaign.skip(first)
    assert first not in campaign.ask(3)
    assert campaign.ask(4)[-1] == first
    assert first in campaign.left
    assert campaign.ranked()[-1] == first
    for row in campaign.ask(3):
        campaign.tell(row, 0)
    assert campaign.ask() == [first]


def test_an_edit_gives_a_row_another_label_whether_it_had_one_or_not():
    campaign = Campaign.start(rows(), classes=["a", "b"]).tell(0, "a").tell(1, "b")
    assert campaign.edit(0, "b").labels == {1: "b", 0: "b"}
    assert campaign.edit(2, "a").labels == {1: "b", 0: "b", 2: "a"}
    with pytest.raises(ValueError, match=r"label must be one of .* add_class"):
        campaign.edit(2, "c")
    assert campaign.labels[2] == "a"


def test_a_snapshot_stays_as_it_is():
    campaign = Campaign.start(rows(), classes=[0, 1])
    before = campaign.snapshot
    campaign.tell(0, 1)
    assert len(before) == 0
    assert len(campaign.snapshot) == 1


def test_a_campaign_survives_a_pickle():
    campaign = Campaign.start(rows(), classes=[0, 1]).tell(0, 1)
    again = pickle.loads(pickle.dumps(campaign))  # noqa: S301 - our own
    assert again.labels == {0: 1}
    assert again.undo() == 0


# ---------------------------------------------------------------- frames


def test_a_frame_may_hold_words_gaps_and_labels():
    frame, survived = passengers()
    frame["Survived"] = survived.where(np.arange(60) < 10)
    campaign = Campaign.start(frame, label="Survived")
    assert campaign.labels == survived.iloc[:10].to_dict()
    assert campaign.classes == (0, 1)
    with pytest.raises(ValueError, match=r"label must be one of \[0, 1\]; got 2"):
        campaign.tell(campaign.left[0], 2)
    table = campaign.to_frame()
    assert table.columns.tolist() == [
        *["Sex", "Age", "Fare", "id", "label", "predicted", "probability", "necessity"]
    ]
    assert campaign.report()["balance"] == survived.iloc[:10].value_counts().sort_index().to_dict()


def test_one_label_in_a_column_leaves_the_classes_open():
    frame, _ = passengers()
    frame["label"] = ["old", *[None] * 59]
    campaign = Campaign.start(frame)
    assert campaign.classes == ("old",)
    campaign.tell(campaign.left[0], "new")
    assert campaign.classes == ("new", "old")


def test_an_array_has_no_columns_of_its_own():
    X = rows(m=30)
    campaign = Campaign.start(X).replay(Answer(row, truth(X)[row]) for row in range(8))
    table = campaign.to_frame()
    assert table.columns.tolist() == ["id", "label", "predicted", "probability", "necessity"]
    assert table["predicted"].tolist() == campaign.predict(X).tolist()
    np.testing.assert_allclose(table["probability"], campaign.predict_proba(X).max(axis=1))
    assert "x1" not in campaign._repr_html_()


def test_a_frame_of_polars_stays_one():
    frame, survived = passengers()
    campaign = Campaign.start(pl.from_pandas(frame.reset_index()), ids="PassengerId")
    labelled(campaign, survived)
    table = campaign.to_frame()
    assert isinstance(table, pl.DataFrame)
    assert table["id"].to_list() == table["PassengerId"].to_list()
    assert isinstance(campaign.to_frame("pandas"), pd.DataFrame)


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame.to_dict("records"),
        lambda frame: frame.to_dict("list"),
        lambda frame: pl.from_pandas(frame).lazy(),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    ],
    ids=["dicts", "columns", "lazy", "arrow"],
)
def test_rows_may_come_in_any_form(convert):
    frame, survived = passengers()
    rows_ = convert(frame.reset_index())
    campaign = labelled(Campaign.start(rows_, ids="PassengerId", classes=[0, 1]), survived)
    assert campaign.rows == tuple(frame.index)
    assert campaign.predict(rows_).shape == (60,)
    table = campaign.to_frame("polars")
    assert table["Sex"].to_list() == frame["Sex"].tolist()
    assert campaign.to_frame() is not None


# ---------------------------------------------------------------- pipelines


def piped(frame: pd.DataFrame) -> Campaign:
    """A campaign behind preprocessing of the user's own."""
    columns = make_column_transformer(
        (StandardScaler(), ["Fare"]),
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")),
    )
    pipe = make_pipeline(columns, "passthrough", PossibilisticGPClassifier(link="logistic"))
    return Campaign.start(frame, classes=[0, 1], classifier=pipe)


def test_a_pipeline_goes_where_a_classifier_goes():
    frame, survived = passengers()
    campaign = labelled(piped(frame), survived, 10)
    model = campaign.classifier
    assert isinstance(model, PossibilisticPipeline)
    assert model.final.link == "logistic"
    np.testing.assert_array_equal(model.predict(frame), campaign.predict(frame))
    np.testing.assert_allclose(model.predict_proba(frame), campaign.predict_proba(frame))
    np.testing.assert_allclose(model.necessity(frame), campaign.beliefs().necessity)
    assert model.score(frame, survived) > 0.9


def test_a_pipeline_makes_the_numbers_that_it_would_make_alone():
    X = rows(m=20) * [1, 1e4]
    pipe = make_pipeline(StandardScaler(), PossibilisticGPClassifier())
    campaign = Campaign.start(X, classes=[0, 1], classifier=pipe)
    alone = Campaign.start(StandardScaler().fit_transform(X), classes=[0, 1])
    assert campaign.ask(5) == alone.ask(5)
    framed = Campaign.start(
        X,
        classifier=make_pipeline(
            StandardScaler().set_output(transform="pandas"),
            PossibilisticGPClassifier(classes=[0, 1]),
        ),
    )
    assert framed.ask(5) == alone.ask(5)
    assert framed.tell(0, 1).predict(X).shape == (20,)
    assert framed.classes == (0, 1)


# ---------------------------------------------------------------- copies
SAME = pd.DataFrame(
    {
        "text": [
            "Pay 5 euros now",
            "see you at noon",
            "pay 7 EUROS now",
            "what a game",
            "See you at noon",
        ]
    }
)


def test_rows_that_say_the_same_are_asked_once_and_have_one_label():
    campaign = Campaign.start(SAME, text="text", by="words", classes=["ham", "spam"])
    assert campaign.left == (0, 1, 3)
    assert set(campaign.ask(5)) == {0, 1, 3}
    campaign.tell(2, "spam").tell(1, "ham")
    assert campaign.labels == {0: "spam", 2: "spam", 1: "ham", 4: "ham"}
    assert campaign.answers == (Answer(0, "spam"), Answer(1, "ham"))
    assert (len(campaign), len(campaign.snapshot)) == (4, 2)
    with pytest.raises(AlreadyAnsweredError):
        campaign.tell(4, "spam")
    campaign.edit(4, "spam")
    assert campaign.labels[1] == campaign.labels[4] == "spam"
    assert (campaign.undo(), campaign.undo(), campaign.undo()) == (4, 1, 2)
    assert campaign.labels == {}
    with pytest.raises(ValueError, match="row must be an id of the pool"):
        campaign.tell([], "spam")


def test_labels_of_copies_in_a_frame_are_told_once_and_those_that_differ_keep_rows_apart():
    known = SAME.assign(label=["spam", None, "spam", "ham", "ham"])
    campaign = Campaign.start(known, text="text", label="label", by="words")
    assert campaign.labels == {0: "spam", 2: "spam", 3: "ham", 1: "ham", 4: "ham"}
    assert len(campaign.snapshot) == 3
    apart = known.assign(label=["spam", None, "ham", None, None])
    campaign = Campaign.start(apart, text="text", label="label", by="words")
    assert campaign.labels == {0: "spam", 2: "ham"}
    assert campaign.left == (1, 3)
    again = Campaign.start(SAME, text="text", by="words", classes=["ham", "spam"])
    again.replay([Answer(0, "spam"), Answer(2, "spam")])
    assert again.answers == (Answer(0, "spam"),)


def test_rows_that_say_the_same_may_be_asked_apart():
    campaign = Campaign.start(SAME, text="text", by="words", classes=["a", "b"], copies=False)
    assert campaign.left == (0, 1, 2, 3, 4)
    with pytest.raises(TypeError, match="copies must be True or False; got 'no'"):
        Campaign.start(SAME, text="text", by="words", copies="no")


def test_a_row_that_is_answered_twice_is_refused_unless_copies_agree():
    campaign = Campaign.start(SAME, text="text", by="words", classes=["ham", "spam"])
    with pytest.raises(AlreadyAnsweredError):
        campaign.replay([Answer(3, "ham"), Answer(3, "ham")])  # which has no copies
    with pytest.raises(AlreadyAnsweredError):
        campaign.replay([Answer(2, "ham"), Answer(0, "spam")])
    with pytest.raises(ValueError, match="label must be one of"):
        campaign.replay([Answer(3, ["ham"])])
    campaign.replay([Answer(2, "ham"), Answer(0, "ham")])
    assert campaign.labels == {0: "ham", 2: "ham"}


# ---------------------------------------------------------------- what is no row, or no answer
def test_true_and_false_are_no_rows_where_rows_are_numbers():
    campaign = Campaign.start(rows(), classes=["a", "b"])
    for verb in (
        lambda: campaign.tell(np.True_, "a"),
        lambda: campaign.tell(np.False_, "a"),
        lambda: campaign.edit(np.True_, "a"),
        lambda: campaign.skip(np.True_),
        lambda: campaign.without([True]),
        lambda: campaign.beliefs([True]),
    ):
        with pytest.raises(ValueError, match=r"^row must be an id of the pool; got (True|False)\."):
            verb()
    assert not campaign.labels
    named = Campaign.start(rows()[:2], ids=[True, False], classes=["a", "b"])
    assert named.tell(np.True_, "a").labels == {True: "a"}


@pytest.mark.parametrize("given", [[(1, "a")], {1: "a"}, None, "ab"])
@pytest.mark.parametrize("start", [Campaign.start, Snapshot.start])
def test_answers_that_are_none_are_refused(start, given):
    campaign = start(rows(), classes=["a", "b"])
    with pytest.raises(TypeError, match=r"^answers must be (of class Answer|a list); got "):
        campaign.replay(given)
    assert not campaign.labels


def test_what_is_masked_is_missing_or_refused_but_never_taken():
    X = np.ma.array(rows())
    X[0, 0] = np.ma.masked
    loud = np.ma.array(X.data.copy(), mask=X.mask)
    loud.data[0, 0] = 1e6  # behind the mask
    pools = [Campaign.start(one).snapshot.pool.X for one in (X, loud)]
    np.testing.assert_array_equal(*pools)
    with pytest.raises(ValueError, match=r"^X must have no masked entries"):
        Snapshot.start(X)


@pytest.mark.parametrize("size", [1e-310, 1e307])
def test_rows_without_distances_between_them_are_refused_as_such(size):
    with pytest.raises(ValueError, match=r"^X must lie between .* in size; got .*Change its unit"):
        Campaign.start(rows() * size)


@pytest.mark.parametrize("size", [1e-250, 1e-160, 1e160, 1e250])
def test_rows_of_any_other_size_are_asked_about_as_those_of_one(size):
    asked = [
        Campaign.start(X, classes=["a", "b"]).tell(0, "a").tell(1, "b").ask(3)
        for X in (rows(), rows() * size)
    ]
    assert asked[0] == asked[1]


# ---------------------------------------------------------------- classifiers of others


@pytest.mark.parametrize("strategy", ["herding", "margin", "entropy", "random"])
def test_any_classifier_with_probabilities_learns_and_asks(strategy):
    X, y = rows(0, 60), truth(rows(0, 60))
    campaign = Campaign.start(X, classifier=LogisticRegression(), strategy=strategy)
    same = Campaign.start(X, classifier=LogisticRegression(), strategy=strategy)
    assert campaign.ask(2) == same.ask(2)
    for _ in range(8):
        for row in campaign.ask(2):
            campaign.tell(row, y[row])
    expected = LogisticRegression().fit(X[list(campaign.labels)], list(campaign.labels.values()))
    np.testing.assert_allclose(campaign.predict_proba(X), expected.predict_proba(X), atol=1e-3)
    assert isinstance(campaign.classifier.estimator_, LogisticRegression)


def test_where_no_necessity_exists_none_is_told():
    X, y = rows(0, 40), truth(rows(0, 40))
    campaign = Campaign.start(X, classifier=LogisticRegression(), classes=["no", "yes"])
    assert "necessity" not in campaign.to_frame("pandas")
    for row in campaign.ask(6):
        campaign.tell(row, ["no", "yes"][y[row]])
    told = campaign.to_frame("pandas")
    assert list(told) == ["id", "label", "predicted", "probability"]
    beliefs = campaign.beliefs()
    assert beliefs.necessity is beliefs.label_necessity is beliefs.mean is None
    assert list(beliefs.to_frame("pandas")) == ["id", "probability no", "probability yes"]
    advice = campaign.report()["advice"]
    assert advice["reason"].startswith("No advice: LogisticRegression does not say what it does")
    assert not campaign.should_stop
    assert campaign.advice.least_necessity is campaign.advice.in_doubt is None
    page = campaign._repr_html_()
    assert "Perhaps" in page
    assert "necessity" not in page


def test_the_first_questions_of_any_classifier_are_those_of_the_usual_one():
    X = rows(0, 50)
    usual = PossibilisticGPClassifier(hyperparameters="fixed")
    ours = Campaign.start(X, classifier=usual)
    theirs = Campaign.start(X, classifier=LogisticRegression())
    assert theirs.ask(3) == ours.ask(3)


def test_all_rows_answered_are_told_of_by_any_classifier():
    X, y = rows(0, 4), ["a", "b", "a", "b"]
    campaign = Campaign.start(X, classifier=LogisticRegression())
    for row, label in enumerate(y):
        campaign.tell(row, label)
    assert campaign.advice.reason == "Every row has an answer."
    assert campaign.should_stop


def test_any_classifier_asks_by_turns_of_no_block_and_behind_a_pipeline():
    frame, survived = passengers()
    piped = make_pipeline(
        make_column_transformer(
            (
                make_pipeline(SimpleImputer(), StandardScaler()),
                make_column_selector(dtype_include="number"),
            ),
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        ),
        LogisticRegression(),
    )
    for classifier in (LogisticRegression(), piped):
        campaign = labelled(Campaign.start(frame, classifier=classifier), survived, 8)
        assert campaign.predict(frame).shape == (len(frame),)


def test_a_large_pool_is_asked_about_by_any_classifier(monkeypatch):
    monkeypatch.setattr("possibal.campaign.pool.LARGE_POOL", 50)
    X, y = rows(0, 60), truth(rows(0, 60))
    for strategy in ("herding", "margin"):
        campaign = Campaign.start(X, classifier=LogisticRegression(), strategy=strategy)
        for _ in range(4):
            for row in campaign.ask(2):
                campaign.tell(row, y[row])
        assert len(campaign) == 8
        assert len(campaign.ranked(2)) > 2


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"strategy": "necessity"}, TypeError, r"got necessity\. Use herding, margin, entropy"),
        ({"strategy": "look_ahead"}, TypeError, r"got look_ahead\. Use herding"),
        (
            {"strategy": lambda mean, variance: mean + variance},
            TypeError,
            r"<lambda>\. Use herding",
        ),
        ({"find": "yes"}, ValueError, "find must be left out where the classifier is Logistic"),
    ],
)
def test_what_any_classifier_cannot_tell_is_refused_at_the_start(options, error, sentence):
    with pytest.raises(error, match=sentence):
        Campaign.start(rows(0, 9), classifier=LogisticRegression(), **options)
