import datetime as dt
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from support.passengers import labelled, passengers

import possibal
from possibal import (
    PossibilisticGPClassifier,
    PossibilisticLogisticRegression,
    PossibilisticPipeline,
)
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.embedding import sentence_encoder
from possibal.errors import AlreadyAnsweredError, RefusedError
from possibal.labelling.session import open_campaign
from possibal.labelling.storage.store import Store

X = np.random.default_rng(0).normal(size=(40, 2))
SIDE = {f"d{i}": "right" if x[0] > 0 else "left" for i, x in enumerate(X)}
FRAME = pd.DataFrame({"doc_id": list(SIDE), "a": X[:, 0], "b": X[:, 1]})


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "answers.db")


def answered(campaign, times: int) -> list[str]:
    """Answer truly; the rows that were asked about."""
    asked = list[str]()
    for _ in range(times):
        (row,) = campaign.ask()
        campaign.tell(row, SIDE[row])
        asked.append(row)
    return asked


def test_it_is_a_public_name():
    assert possibal.open_campaign is open_campaign


@pytest.mark.parametrize("pool", [FRAME, pl.DataFrame(FRAME.to_dict("list"))])
def test_a_campaign_asks_about_rows_by_their_ids_and_keeps_the_answers(pool, db):
    with open_campaign(db, pool, id="doc_id") as campaign:
        asked = answered(campaign, 8)
        assert campaign.labels == {row: SIDE[row] for row in asked}
        assert len(set(asked)) == 8
    with open_campaign(db) as again:
        assert again.labels == {row: SIDE[row] for row in asked}
        assert again.ask()[0] not in asked


def test_questions_are_those_of_a_campaign_in_memory(db):
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    memory = Snapshot.start(scaled, ids=list(SIDE), classes=["left", "right"])
    with open_campaign(db, FRAME, id="doc_id", classes=["left", "right"]) as campaign:
        for row in answered(campaign, 10):
            assert memory.ask() == (row,)
            memory = memory.replay([Answer(row, SIDE[row])])
        assert campaign.classifier.predict(scaled).tolist() == list(
            memory.classifier.predict(scaled)
        )


def test_an_array_numbers_its_rows_and_a_file_names_its_own(db, tmp_path):
    with open_campaign(db, X) as campaign:
        assert campaign.ask(3) == campaign.ask(3)
        assert all(0 <= row < 40 for row in campaign.ask(3))
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with open_campaign(str(tmp_path / "b.db"), tmp_path / "rows.csv", id="doc_id") as campaign:
        assert set(campaign.ask(2)) <= set(SIDE)


def test_undo_goes_back_as_far_as_there_are_answers(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        asked = answered(campaign, 3)
        assert [campaign.undo() for _ in range(3)] == asked[::-1]
        assert campaign.labels == {}
        campaign.tell(asked[0], "left")
        assert campaign.undo() == asked[0]


def test_nothing_to_undo_is_none(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        assert campaign.undo() is None


def test_rows_are_put_off_passed_on_dropped_and_changed(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        skipped, passed, dropped, told = campaign.ask(4)
        campaign.skip(skipped)
        campaign.unsure(passed)
        campaign.bad(dropped)
        campaign.tell(told, "left")
        campaign.edit(told, "right")
        assert campaign.labels == {told: "right"}
        assert not {skipped, passed, dropped, told} & set(campaign.ask(10))
        report = campaign.report()
        assert (report["answered"], report["unsure"], report["bad"]) == (1, 1, 1)
        assert report["left"] == 38


def test_a_second_label_of_a_row_is_refused(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        (row,) = answered(campaign, 1)
        with pytest.raises(AlreadyAnsweredError, match="Undo it, or change it with edit"):
            campaign.tell(row, "left")


def test_a_row_that_is_none_is_refused(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        with pytest.raises(RefusedError, match="row must be an id of the pool; got 'x'"):
            campaign.tell("x", "left")
        assert campaign.labels == {}


def test_the_report_has_a_curve_where_rows_are_checked(db):
    with open_campaign(db, FRAME, id="doc_id", check=8) as campaign:
        answered(campaign, 20)
        report = campaign.report()
    assert report["checked"] == 4
    assert report["curve"]
    assert report["curve"][-1]["answers"] == 16
    assert report["advice"]["state"] in {"go on", "may stop", "stop"}


def test_one_may_stop_when_the_advice_says_so(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        assert not campaign.should_stop
        answered(campaign, 40)
        assert campaign.should_stop
        assert campaign.advice.reason == "Every row has an answer."
        assert campaign.ask() == []


def test_a_campaign_needs_rows_to_begin(db):
    with pytest.raises(ValueError, match="pool must be given to begin a campaign; got None"):
        open_campaign(db)


def test_the_type_of_the_first_label_is_kept_where_no_classes_were_named(db):
    with open_campaign(db, X) as campaign:
        first, second = campaign.ask(2)
        campaign.tell(first, np.int64(3))
        campaign.tell(second, 4)
        assert campaign.labels == {first: 3, second: 4}
    with open_campaign(db) as again:
        assert again.labels == {first: 3, second: 4}
        assert again.rows == tuple(range(40))


# ---------------------------------------------------------------- types and names
@pytest.mark.parametrize("index", [int, str, lambda days: pd.Timestamp(days, unit="D")])
def test_rows_keep_their_names_in_the_database(db, index):
    frame, survived = passengers()
    frame.index, survived.index = frame.index.map(index), survived.index.map(index)
    with open_campaign(db, frame) as campaign:
        labelled(campaign, survived.map(bool))
        known = campaign.labels
    with open_campaign(Path(db), frame) as again:
        assert again.labels == known == {row: bool(survived.loc[row]) for row in known}
        assert again.rows == tuple(frame.index)
        assert again.ask()[0] in frame.index


def test_classes_of_dates_are_labels_too(db):
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 2)]
    with open_campaign(db, X, classes=days) as campaign:
        first, second = campaign.ask(2)
        campaign.tell(first, days[0]).tell(second, days[1])
        assert campaign.labels == {first: days[0], second: days[1]}
        assert set(campaign.predict(X)) <= set(days)
    with open_campaign(db) as again:
        assert again.classes == tuple(days)


def test_a_campaign_of_the_version_before_keeps_its_ids_and_labels_as_text(db):
    with open_campaign(db, FRAME[["a", "b"]]) as campaign:
        campaign._store.amend(id_type="text", label_type="text", classes=("0", "1"))  # noqa: SLF001 - as it was
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("UPDATE items SET id = 'was ' || id")
        connection.execute("UPDATE items SET id = row + 1")
        connection.commit()
    with open_campaign(db, FRAME[["a", "b"]]) as again:
        assert again.rows[:3] == ("1", "2", "3")
        again.tell(1, 1).tell("2", "0")
        assert again.labels == {"1": "1", "2": "0"}


def test_new_classes_are_added_to_a_campaign_that_goes_on(db):
    with open_campaign(db, X, classes=[0, 1]):
        pass
    with pytest.warns(UserWarning, match="^classes stay with 0 too; remove_class takes one away"):
        campaign = open_campaign(db, X, classes=[1, 2])
    with campaign:
        assert campaign.classes == (0, 1, 2)


def test_the_classes_of_a_classifier_are_those_of_the_campaign(db):
    given = PossibilisticGPClassifier(classes=[3, 4], link="logistic")
    with open_campaign(db, X, classifier=given) as campaign:
        assert campaign.classes == (3, 4)
        campaign.tell(0, 3).tell(1, 4)
        assert campaign.classifier.link == "logistic"
        assert campaign.advice.state.value == "go on"


# ---------------------------------------------------------------- pools
@pytest.mark.parametrize(
    ("pool", "got"),
    [
        (FRAME.iloc[:30], r"the rows .*; got changes: row 30 is missing\. row 31 is missing"),
        (FRAME.assign(a=0.5), "the rows .*; got changes: row 0 changed, a: '.*' is now '0.5'"),
        (FRAME.set_index(FRAME.index[::-1]), "the rows .*; got changes: row 0 changed, doc_id"),
        (FRAME.set_index(FRAME["doc_id"]), "the one .*; got no row of it in 'pool'"),
        (X, "the one .*; got the columns 'x1', 'x2' in 'pool'"),
    ],
)
def test_another_pool_is_refused(db, pool, got):
    with open_campaign(db, FRAME) as campaign:
        campaign.tell(0, "left")
    with pytest.raises(ValueError, match=f"^pool must (be|have) {got}.*another"):
        open_campaign(db, pool)
    with open_campaign(db, FRAME) as again:
        assert again.labels == {0: "left"}


def test_new_rows_join_and_labels_stay(db):
    with open_campaign(db, FRAME.iloc[:30], ids="doc_id", check=4) as campaign:
        campaign.tell("d0", "left").tell("d1", "right")
        assert campaign.report()["check"] == 4
    with open_campaign(db, FRAME, ids="doc_id") as campaign:
        assert campaign.rows == tuple(FRAME["doc_id"])
        assert campaign.labels == {"d0": "left", "d1": "right"}
        assert "d35" in campaign.left
        assert campaign.tell("d35", "left").labels["d35"] == "left"
        assert campaign.report()["check"] == 4
        assert len(campaign.to_frame()) == 40


def test_changed_and_missing_rows_are_taken_in_if_the_user_agrees(db):
    changed = FRAME.iloc[:30].assign(a=FRAME["a"].where(FRAME["doc_id"] != "d2", 9.0))
    with open_campaign(db, FRAME, ids="doc_id") as campaign:
        campaign.tell("d35", "left").tell("d2", "right")
    with open_campaign(db, changed, ids="doc_id", accept_changes=True) as campaign:
        assert campaign.labels == {"d35": "left", "d2": "right"}  # also of a row that is gone
        assert "d36" not in campaign.left
        assert set(campaign.ask(40)) == set(campaign.left)
        assert campaign.to_frame().set_index("id").loc["d2", "a"] in {9.0, "9"}
    with open_campaign(db, FRAME, ids="doc_id", accept_changes=True) as campaign:
        assert "d36" in campaign.left  # it is back


def test_labels_that_changed_in_the_pool_are_not_taken_without_a_word(db):
    with open_campaign(db, FRAME.assign(size=["left", "right"] * 20), label="size"):
        pass
    other = FRAME.assign(size=["left", "left", *["left", "right"] * 19])
    with (
        pytest.warns(UserWarning, match="1 row has another label in the source"),
        open_campaign(db, other) as campaign,
    ):
        assert campaign.labels[1] == "right"


def test_options_that_cannot_change_are_refused_and_check_rows_are_added(db):
    with open_campaign(db, FRAME, check=2):
        pass
    with pytest.raises(ValueError, match=r"^strategy must be 'herding', .*; got 'random'"):
        open_campaign(db, strategy="random")
    with open_campaign(db, check=5) as campaign:
        assert campaign.report()["check"] == 5
        assert len(campaign.add_check_rows(3)) == 3
        assert campaign.add_check_rows(up_to=4) == []


@pytest.mark.parametrize(
    ("name", "begun", "given"),
    [("strategy", "random", "herding"), ("seed", 3, 0), ("people", 2, 1)],
)
def test_what_is_usual_is_refused_too_where_a_campaign_began_otherwise(db, name, begun, given):
    with open_campaign(db, FRAME, **{name: begun}):
        pass
    with pytest.raises(ValueError, match=f"^{name} must be {begun!r}, as when .*; got {given!r}"):
        open_campaign(db, **{name: given})
    open_campaign(db).close()
    open_campaign(db, **{name: begun}).close()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"check": 2}, "^check stays 5: rows"),
        ({"text": "a"}, "^text stays as when the campaign began; a is not taken"),
        ({"label": "b"}, "^label stays as when the campaign began; b is not taken"),
        ({"ids": "a"}, "^id stays as when the campaign began; a is not taken"),
        ({"columns": {"a": "category"}}, "^columns stay as when the campaign began; so do a"),
        ({"columns": ["a"]}, "^columns stay as when the campaign began; so do b"),
        ({"classes": ["left"]}, "^classes stay with 'right' too"),
    ],
)
def test_what_stays_as_it_was_is_said(db, asked, said):
    begun = {"ids": "doc_id", "check": 5, "columns": ["a", "b"], "classes": ["left", "right"]}
    with open_campaign(db, FRAME, **begun):
        pass
    with pytest.warns(UserWarning, match=said):
        campaign = open_campaign(db, **asked)
    with campaign:
        assert campaign.classes == ("left", "right")
        assert campaign.report()["check"] == 5
    with open_campaign(db, FRAME, **begun):  # without a word
        pass


def test_that_copies_stay_together_is_said(db):
    texts = [f"a letter about {word} and much else besides" for word in ("tea", "sugar", "milk")]
    pool = [{"text": text} for text in (*texts, *texts)]
    with open_campaign(db, pool, text="text", by="words"):
        pass
    with pytest.warns(UserWarning, match="^copies stay together, as when the campaign began"):
        open_campaign(db, pool, copies=False).close()


def test_another_file_is_refused_and_a_longer_one_joins(db, tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.iloc[:30].to_csv(path, index=False)
    with open_campaign(db, path, ids="doc_id"):
        pass
    with open_campaign(db, str(path)) as campaign:
        assert campaign.rows[0] == "d0"
    FRAME.to_csv(path, index=False)
    with open_campaign(db, path) as campaign:
        assert len(campaign.rows) == 40
    FRAME.iloc[:20].to_csv(path, index=False)
    with pytest.raises(ValueError, match="pool must have the rows"):
        open_campaign(db, path)


def test_without_the_pool_a_frame_has_the_cells_that_are_shown(db):
    with open_campaign(db, FRAME, id="doc_id"):
        pass
    with open_campaign(db) as campaign:
        table = campaign.to_frame()
        assert table.columns.tolist()[:3] == ["a", "b", "id"]
        assert table["id"].tolist() == list(SIDE)
        assert campaign._repr_html_().count("<tr>") == 6


def test_the_columns_of_a_pool_keep_their_roles(db):
    with open_campaign(db, FRAME, ids="doc_id"):
        pass
    with open_campaign(db, FRAME) as campaign:
        assert campaign.rows == tuple(SIDE)
        assert campaign.to_frame()["doc_id"].tolist() == list(SIDE)


def test_classes_are_merged_and_described_and_rows_measure(db):
    with open_campaign(db, X, classes=["a", "b", "c"]) as campaign:
        campaign.tell(0, "a").tell(1, "c").merge_classes("c", "b")
        assert campaign.labels == {0: "a", 1: "b"}
        assert campaign.classes == ("a", "b")
        assert campaign.describe_class("a", "the first letter", "#3366cc") is campaign
        drawn = campaign.add_check_rows(5)
        assert len(drawn) == 5
        assert campaign.report()["check"] == 5
        assert not set(drawn) & set(campaign.ranked())


def test_guidelines_and_comments_are_kept(db):
    with open_campaign(db, X, classes=["a", "b"], who="ann") as campaign:
        assert campaign.guidelines == ""
        assert campaign.write_guidelines("Look twice.\n").guidelines == "Look twice."
        assert campaign.comment(3, "odd").comments(3) == {"ann": "odd"}
        assert campaign.labels == {}
    with open_campaign(db, X, who="bob") as campaign:
        assert campaign.guidelines == "Look twice."
        campaign.comment(3, "so it is").comment(3, "no")
        assert campaign.comments(3) == {"ann": "odd", "bob": "no"}
        assert campaign.comment(3, "").comments(3) == {"ann": "odd"}


# ---------------------------------------------------------------- pipelines
def piped() -> Pipeline:
    """A classifier behind scaled rows."""
    return make_pipeline(StandardScaler(), PossibilisticGPClassifier(link="logistic"))


def test_a_pipeline_makes_the_numbers_that_are_kept(db):
    pool = FRAME[["a", "b"]] * [1, 1e4]
    with open_campaign(db, pool, classes=["left", "right"], classifier=piped()) as campaign:
        for row in campaign.ask(8):
            campaign.tell(row, SIDE[f"d{row}"])
        found = campaign.predict(pool)
        model = campaign.classifier
        assert isinstance(model, PossibilisticPipeline)
        assert model.predict(pool).tolist() == found.tolist()
    with open_campaign(db) as alone:
        assert alone.ask()
        with pytest.raises(ValueError, match=r"rows must be numbers .* pipeline in classifier="):
            alone.predict(pool)
    with pytest.raises(ValueError, match="pool must be given again with a pipeline"):
        open_campaign(db, classifier=piped())
    with open_campaign(db, pool, classifier=piped()) as again:
        assert again.predict(pool).tolist() == found.tolist()


def test_ids_and_labels_are_not_shown_to_a_pipeline(db):
    pool = FRAME.assign(side=[*list(SIDE.values())[:6], *[None] * 34])
    options = {"ids": "doc_id", "label": "side", "classifier": piped()}
    with open_campaign(db, pool, **options) as campaign:
        assert campaign.labels == {row: SIDE[row] for row in list(SIDE)[:6]}
        assert campaign.predict(pool).shape == (40,)
        assert "side" not in campaign.to_frame().columns


@pytest.mark.parametrize("kind", [FRAME, pl.DataFrame(FRAME.to_dict("list")), "dicts"])
def test_rows_that_come_in_another_order_keep_their_labels(kind, db):
    backwards = kind[::-1] if not isinstance(kind, str) else FRAME[::-1].to_dict("records")
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        answered(campaign, 8)
        labels, by_id = campaign.labels, dict(zip(FRAME["doc_id"], FRAME["a"], strict=True))
    with open_campaign(db, backwards, id="doc_id") as again:
        table = again.to_frame()
        ids = list(table["id"])
        assert ids == list(table["doc_id"]) == list(SIDE)
        assert [labels.get(row) for row in ids] == again.to_frame("polars")["label"].to_list()
        assert list(table["a"]) == list(by_id.values())
        assert list(again.to_frame("polars")["a"]) == list(by_id.values())


def test_a_frame_that_lacks_rows_is_shown_as_it_was_kept(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        answered(campaign, 4)
    with open_campaign(db, FRAME[:30], id="doc_id", accept_changes=True) as again:
        assert list(again.to_frame()["id"]) == list(SIDE)


def test_pictures_are_predicted_by_the_path_of_their_folder(tmp_path, db):
    for number in range(8):
        shade = 40 + number if number % 2 else 200 + number
        Image.new("RGB", (16, 16), (shade, shade, number)).save(tmp_path / f"{number}.png")
    with open_campaign(db, tmp_path) as campaign:
        for row in campaign.ask(4):
            campaign.tell(row, "dark" if int(str(row)[0]) % 2 else "light")
        assert campaign.predict(tmp_path).tolist() == ["light", "dark"] * 4


# ---------------------------------------------------------------- texts by a model
TEXTS = [
    f"{start} {end}"
    for start in ("the soup was", "our dinner was", "the room was", "my bed was")
    for end in ("cold", "far too salty", "small and dark", "not clean at all")
]
NOTES = pd.DataFrame({"nr": range(100, 116), "note": TEXTS})


def letters(texts):
    """Texts by the letters that they have."""
    return np.array([[1.0, *(text.count(a) for a in "abdelmnorst")] for text in texts])


def endings(texts):
    """Texts by their last letters."""
    return np.array([[ord(text[-1]), ord(text[-2]), 50.0] for text in texts])


class Model:
    """A model as the common libraries have it."""

    def encode(self, texts):
        """Vectors of texts."""
        return letters(texts)


def labelled_notes(campaign, count=8):
    """Answer truly: food or rooms."""
    for _ in range(count):
        (row,) = campaign.ask()
        campaign.tell(row, "food" if (row - 100) < 8 else "room")


def test_texts_are_embedded_and_their_vectors_kept_beside_the_answers(db):
    with open_campaign(db, NOTES, id="nr", text="note") as campaign:
        labelled_notes(campaign)
        found = list(campaign.predict(pd.DataFrame({"note": ["a bowl of soup", "a bedroom"]})))
    assert found == ["food", "room"]
    assert Path(db).with_name("answers.possibal.embeddings").exists()
    with closing(sqlite3.connect(db)) as database:
        said = "".join(str(row) for row in database.iterdump())
    assert "universal-sentence-encoder-multilingual" in said


@pytest.mark.parametrize("encoder", [letters, Model(), {"text": letters}])
def test_an_encoder_of_ones_own_is_kept_with_a_campaign(db, encoder):
    with open_campaign(db, NOTES, id="nr", text="note", encoder=encoder) as campaign:
        labelled_notes(campaign)
        found = list(campaign.predict(NOTES))
    more = pd.concat([NOTES, pd.DataFrame({"nr": [200], "note": ["the toast was cold"]})])
    with open_campaign(db, more, id="nr", encoder=letters) as again:
        assert len(again.to_frame()) == 17
        assert list(again.predict(NOTES)) == found


def test_what_was_embedded_to_predict_is_found_again(db):
    seen = []

    def watched(texts):
        seen.extend(texts)
        return letters(texts)

    new = pd.DataFrame({"note": ["a bowl of soup", "a bedroom"]})
    with open_campaign(db, NOTES, id="nr", text="note", encoder=watched) as campaign:
        labelled_notes(campaign)
        first = list(campaign.predict(new))
        seen.clear()
        assert list(campaign.predict(new)) == first
        campaign.predict(NOTES)
    assert not {*seen} & {*new["note"], *NOTES["note"]}


def test_long_work_is_shown_to_whoever_watches(db, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("possibal.progress.PATIENCE", 0.0)
    with open_campaign(db, NOTES[:12], id="nr", text="note", encoder=letters):
        assert "rows a second" in capsys.readouterr().err
    with open_campaign(db, NOTES, id="nr", encoder=letters) as again:
        assert "Taking rows in" in capsys.readouterr().err
        assert len(again.rows) == 16


def test_how_texts_are_compared_is_refused_beside_a_pipeline(db, tmp_path):
    pipe = make_pipeline(StandardScaler(), PossibilisticGPClassifier())
    with pytest.raises(ValueError, match=r"^encoder must be left out where classifier is a pipel"):
        open_campaign(db, np.eye(6), classifier=pipe, encoder=letters)
    assert list(tmp_path.iterdir()) == []


def test_texts_that_a_pipeline_turns_into_numbers_are_embedded_by_nothing_else(db, monkeypatch):
    monkeypatch.delattr(sentence_encoder.SentenceEncoder, "embed")
    vectorise = FunctionTransformer(lambda frame: letters(frame["note"]))
    pipe = make_pipeline(vectorise, StandardScaler(), PossibilisticGPClassifier())
    again = NOTES.iloc[[0]].assign(nr=300, note=NOTES["note"][0].upper())
    with open_campaign(db, pd.concat([NOTES, again]), id="nr", text="note", classifier=pipe) as one:
        labelled_notes(one)
        assert len(one.rows) == 17
    with Store.open(db) as store:
        setup = store.setup()
        assert store.array("X").shape == (17, 12)
    assert not any("compared by" in note or "labelled with" in note for note in setup.notes)
    assert {kind for _, kind, _ in setup.columns} == {"id", "text"}
    assert not Path(db).with_name("answers.possibal.embeddings").exists()


def test_another_encoder_is_refused_when_a_campaign_goes_on(db):
    with open_campaign(db, NOTES, id="nr", text="note", encoder=letters) as campaign:
        labelled_notes(campaign)
    before = Path(db).read_bytes()
    for other in (endings, {"text": endings}):
        with pytest.raises(
            ValueError, match=r"^encoder must be the one .* with, letters \(.*; got endings \("
        ):
            open_campaign(db, NOTES, id="nr", encoder=other)
    with pytest.raises(ValueError, match=r"^encoder must be the one .*; got endings \("):
        open_campaign(db, encoder=endings)
    assert Path(db).read_bytes() == before
    with (
        open_campaign(db) as again,
        pytest.raises(ValueError, match=r"with, .*letters \(.*Pass it with encoder=\.$"),
    ):
        again.predict(NOTES)


def test_a_function_that_fails_begins_no_campaign(db, tmp_path):
    def fails_late(texts):
        return letters(texts) if len(texts) < 10 else letters(texts)[:-1]

    for wrong in (fails_late, lambda _: 1 / 0, lambda texts: letters(texts) * np.nan):
        with pytest.raises(ValueError, match=r"^encoder must [^\n]*; got [^\n]*\.$"):
            open_campaign(db, NOTES, id="nr", text="note", encoder=wrong)
    assert list(tmp_path.iterdir()) == []


def test_what_texts_are_compared_by_stays(db):
    with open_campaign(db, NOTES, id="nr", text="note", by="words") as campaign:
        labelled_notes(campaign)
    assert not Path(db).with_name("answers.possibal.embeddings").exists()
    with open_campaign(db, NOTES, id="nr", by="words"):
        pass
    with pytest.raises(
        ValueError, match=r"^by and encoder must be as when .*; got others, but texts"
    ):
        open_campaign(db, NOTES, id="nr", by="meaning")
    with pytest.raises(ValueError, match=r"^by must fit the rows, and be 'meaning' or 'words'"):
        open_campaign(db, NOTES, id="nr", by="objects")


def test_without_the_encoder_texts_are_compared_by_words(db, monkeypatch):
    monkeypatch.setattr(sentence_encoder, "is_installed", lambda: False)
    with open_campaign(db, NOTES, id="nr", text="note") as campaign:
        labelled_notes(campaign)
        assert "room" in list(campaign.predict(NOTES))


def test_texts_and_pictures_may_each_have_an_encoder(tmp_path, db, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in range(4):
        Image.new("RGB", (8, 8), (60 * place, 90, 200 - 40 * place)).save(f"{place}.png")
    frame = NOTES[:4].assign(photo=[f"{place}.png" for place in range(4)])

    def colours(pictures):
        return [np.asarray(one).mean(axis=(0, 1)) for one in pictures]

    columns = {"photo": "picture", "note": "text"}
    both = {"text": letters, "image": colours}
    with open_campaign(db, frame, id="nr", columns=columns, encoder=both) as campaign:
        assert len(campaign.ask(2)) == 2
    with pytest.raises(ValueError, match=r"^encoder must say what it reads where rows have texts"):
        open_campaign(str(tmp_path / "b.db"), frame, id="nr", columns=columns, encoder=letters)
    with pytest.raises(ValueError, match=r"^encoder must be for what the rows have, .*'sound'"):
        open_campaign(
            str(tmp_path / "b.db"), frame, id="nr", columns=columns, encoder={"sound": letters}
        )


# ---------------------------------------------------------------- copies
MESSAGES = pd.DataFrame(
    {
        "id": list("abcdefgh"),
        "text": [
            "Pay 5 euros now",
            "see you at noon",
            "pay 7 EUROS now",
            "a lovely day out",
            "what a game",
            "A lovely day out",
            "win a prize today",
            "nothing to see here",
        ],
    }
)
SAID = {"ids": "id", "text": "text", "by": "words", "classes": ["spam", "ham"]}


def test_rows_that_say_the_same_are_asked_once_and_labelled_together(db):
    with open_campaign(db, MESSAGES, **SAID) as campaign:
        assert campaign.left == tuple("abdegh")
        campaign.tell("a", "spam")
        assert campaign.labels == {"a": "spam", "c": "spam"}
        assert sorted(campaign.ask(9)) == list("bdegh")
        with pytest.raises(AlreadyAnsweredError):
            campaign.tell("c", "ham")
        campaign.edit("c", "ham")
        assert campaign.labels == {"a": "spam", "c": "ham"}
        assert campaign.report()["copies"] == 1
        assert (campaign.undo(), campaign.undo()) == ("c", "a")
        assert campaign.labels == {}


def test_rows_that_say_the_same_may_be_asked_apart(db):
    with open_campaign(db, MESSAGES, copies=False, **SAID) as campaign:
        assert campaign.left == tuple("abcdefgh")
        campaign.tell("a", "spam")
        assert campaign.labels == {"a": "spam"}
    with open_campaign(db) as campaign:
        assert len(campaign.left) == 7
    with pytest.raises(TypeError, match="copies must be True or False; got 'apart'"):
        open_campaign(f"{db}2", MESSAGES, copies="apart", **SAID)


def test_what_a_pipeline_makes_of_copies_must_be_the_same_too(db):
    def length(frame):
        return np.array([[len(text)] for text in frame["text"]], dtype=float)

    pipeline = make_pipeline(FunctionTransformer(length), PossibilisticGPClassifier())
    more = pd.concat([MESSAGES, pd.DataFrame({"id": ["i"], "text": ["pay 12 euros now"]})])
    given = {"ids": "id", "classes": ["spam", "ham"], "classifier": pipeline}
    with open_campaign(db, more.reset_index(drop=True), **given) as campaign:
        assert campaign.left == tuple("abdeghi")


def test_new_rows_that_say_the_same_join_with_the_label(db):
    new = {
        "id": list("ijkl"),
        "text": ["PAY 9 euros now", "new text here", "New TEXT here", "Win a prize today"],
    }
    more = pd.concat([MESSAGES, pd.DataFrame(new)])
    with open_campaign(db, MESSAGES, **SAID) as campaign:
        campaign.tell("a", "spam").bad("g")
    with open_campaign(db, more, **SAID) as campaign:
        assert campaign.labels == {"a": "spam", "c": "spam", "i": "spam"}
        assert campaign.left == tuple("bdehj")
        campaign.tell("j", "ham").edit("a", "ham")
        assert set(campaign.labels) == set("acijk")
        assert set(campaign.labels.values()) == {"ham"}
    with Store.open(db, writes=False) as store:
        notes = store.setup().notes
    assert [note for note in notes if "the same" in note] == [
        "5 rows say the same as another (case and digits aside) and are labelled with it."
    ]
    with open_campaign(db, more[more.id != "d"], accept_changes=True, **SAID) as campaign:
        assert campaign.left == tuple("befh")
    changed = more.assign(text=more.text.replace("A lovely day out", "quite another thing"))
    with open_campaign(db, changed, accept_changes=True, **SAID) as campaign:
        assert campaign.left == tuple("bdefh")


def test_true_is_no_row_where_rows_are_numbers(db):
    with open_campaign(db, X, classes=["a", "b"]) as campaign:
        with pytest.raises(ValueError, match=r"^row must be an id of the pool; got True\."):
            campaign.tell(np.True_, "a")
        assert campaign.tell(1, "a").labels == {1: "a"}


# ---------------------------------------------------------------- other models


def test_a_stored_campaign_learns_by_a_linear_model_and_by_none_that_hides_its_doubt(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    linear, db = PossibilisticLogisticRegression(), f"{tmp_path / 'a.possibal'}"
    with open_campaign(db, X, classes=["no", "yes"], classifier=linear) as campaign:
        for _ in range(6):
            (row,) = campaign.ask()
            campaign.tell(row, "yes" if X[row, 0] > 0 else "no")
        assert isinstance(campaign.classifier, PossibilisticLogisticRegression)
        assert campaign.beliefs().necessity.shape == (30,)
    with pytest.raises(TypeError, match=r"^classifier must say what it does not know .* got Log"):
        open_campaign(f"{tmp_path / 'b.possibal'}", X, classifier=LogisticRegression())
