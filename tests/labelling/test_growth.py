"""A pool grows: new rows join, changed and missing ones are told, and labels stay."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from possibal.data.ingest import (
    SourceSpec,
    ingest_file,
    ingest_frame,
    read_file_rows,
    read_frame_rows,
)
from possibal.data.name_types import NameType
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.growth import (
    PoolChanges,
    compare,
    counts_from_one,
    grow,
    pool_spec,
)
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.journal import Event, Kind, replay
from possibal.labelling.storage.store import Setup

FRAME = pd.DataFrame(
    {
        "nr": range(40, 52),
        "size": [1.5, 2.5, 4.0, 0.5] * 3,
        "town": ["Rome", "Oslo", None] * 4,
        "label": ["small", "large", None, None] * 3,
    }
)
ROLES = SourceSpec(Path(), label="label", id="nr")
WANTED = SourceSpec(Path())


def silent(_words, _share):
    """Nothing is told."""


@pytest.fixture(name="store")
def _store(tmp_path):
    """A campaign of ten rows, three of which have a check."""
    intake = ingest_frame(FRAME[:10], ROLES)
    with create_campaign(str(tmp_path / "a.db"), intake, Options(check=3)) as store:
        yield store


def rows(store, frame):
    """The rows of a frame, read as the campaign was begun."""
    return read_frame_rows(frame, pool_spec(store.setup(), SourceSpec(Path())))


def grown(store, frame):
    """What changed, now taken in."""
    found = rows(store, frame)
    changes = compare(store, found, WANTED)
    grow(store, found, changes, WANTED)
    return changes


def test_the_same_rows_are_no_changes(store):
    changes = compare(store, rows(store, FRAME[:10]), WANTED)
    assert changes == PoolChanges(changed={})
    assert changes.summary == "Rows since last time: the same."


def test_new_rows_join_at_the_end_with_their_labels(store):
    before = ReadModel(store).check_rows
    changes = grown(store, FRAME)
    assert (changes.new, changes.needs_consent) == ((10, 11), False)
    assert changes.summary == "Rows since last time: 2 new."
    assert [item.id for item in store.items().values()] == [str(nr) for nr in FRAME["nr"]]
    assert (store.setup().rows, store.setup().begun) == (12, 10)
    whole = ReadModel(store)
    assert whole.check_rows == before  # drawn from the rows there were
    assert whole.state.labels == replay(store.events()).labels
    assert {0: "small", 1: "large", 8: "small"}.items() <= whole.state.labels.items()
    pool = ingest_frame(FRAME[:10], ROLES)
    new = store.array("X")
    np.testing.assert_array_equal(new[:10], pool.X)
    np.testing.assert_allclose(new[10, 0], pool.X[2, 0])  # the same size
    assert compare(store, rows(store, FRAME), WANTED) == PoolChanges(changed={})


def test_labels_of_new_rows_come_along(store):
    more = pd.concat([FRAME[:10], pd.DataFrame({"nr": [99], "size": [1.0], "label": ["small"]})])
    grown(store, more)
    assert replay(store.events()).labels[10] == "small"


def test_changed_rows_are_told_with_the_first_cell_and_read_anew(store):
    other = FRAME[:10].assign(size=FRAME["size"].where(FRAME["nr"] != 42, 2.5))
    changes = grown(store, other)
    assert changes.changed == {2: 2}
    assert changes.sentences == ("row 42 changed, size: '4' is now '2.5'.",)
    assert store.items([2])[2].cells[0] == "2.5"
    np.testing.assert_allclose(store.array("X")[2, 0], store.array("X")[1, 0])


def test_of_many_changes_the_first_are_told(store):
    changes = compare(store, rows(store, FRAME[:10].assign(size=7.0)), WANTED)
    assert changes.sentences[-1] == "5 more changed."
    assert changes.summary == "Rows since last time: 10 changed."
    gone = compare(store, rows(store, FRAME[:2]), WANTED).sentences
    assert gone[0] == "row 42 is missing."
    assert gone[-1] == "3 more are missing."


def test_missing_rows_keep_their_labels_and_are_not_asked_about(store):
    changes = grown(store, FRAME[2:10])
    assert (changes.missing, changes.needs_consent) == ((0, 1), True)
    state = replay(store.events())
    assert state.labels[0] == "small"
    assert state.verdict(0).is_gone
    assert not state.verdict(0).wants(5)
    task = ReadModel(store).task()
    assert {answer.row for answer in (*task.answers, *task.check)} >= {0, 1}
    back = grown(store, FRAME[:10])
    assert (back.returned, back.missing) == ((0, 1), ())
    assert back.summary == "Rows since last time: 2 back."
    assert not replay(store.events()).verdict(0).is_gone


def test_rows_without_labels_that_are_gone_are_put_aside(store):
    grown(store, FRAME[:9].drop(index=6))
    task = ReadModel(store).task()
    assert 6 in task.aside
    assert 9 not in {answer.row for answer in task.answers} - {9}


@pytest.mark.parametrize(
    ("frame", "got"),
    [
        (FRAME.rename(columns={"town": "city"}), "the columns 'size', 'city'"),
        (FRAME.assign(nr=FRAME["nr"] + 1000), "no row of it"),
    ],
)
def test_a_pool_of_other_rows_is_refused(store, frame, got):
    with pytest.raises(ValueError, match=f"^pool must be the one .*; got {got} in 'pool'"):
        compare(store, rows(store, frame), WANTED)


def test_a_campaign_whose_places_counted_from_one_keeps_its_names(tmp_path):
    intake = ingest_frame(FRAME[["size", "town"]][:10], SourceSpec(Path()))
    named = replace(intake.source, ids=tuple(str(place + 1) for place in range(10)))
    old = replace(intake, source=named, columns=())
    with create_campaign(str(tmp_path / "a.db"), old, Options()) as store:
        changes = grown(store, FRAME[["size", "town"]])
        assert changes.new == (10, 11)
        assert [item.id for item in store.items().values()] == [str(n) for n in range(1, 13)]


def test_numbers_of_the_users_own_cannot_grow(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(10))
    FRAME[:10].to_csv(tmp_path / "a.csv", index=False)
    spec = SourceSpec(tmp_path / "a.csv", features=tmp_path / "x.npy")
    with create_campaign(str(tmp_path / "a.db"), ingest_file(spec, silent), Options()) as store:
        FRAME.to_csv(tmp_path / "a.csv", index=False)
        found = read_file_rows(pool_spec(store.setup(), spec), silent)
        with pytest.raises(
            ValueError, match=r"its numbers are your own; got 'Rows since .* 2 new'"
        ):
            grow(store, found, compare(store, found, spec), spec)
        assert store.setup().rows == 10


RNG = np.random.default_rng(0)


def photos(folder, *names):
    """New pictures in a folder."""
    folder.mkdir(exist_ok=True)
    for name in names:
        points = RNG.integers(0, 256, (12, 12, 3), dtype=np.uint8)
        Image.fromarray(points).save(folder / name)
    return folder


@pytest.mark.parametrize("by", ["objects", "colours"])
def test_pictures_join_and_changed_ones_are_found(tmp_path, by):
    folder = photos(tmp_path / "photos", "a.png", "b.png", "c.png")
    spec = SourceSpec(folder, by=by)
    with create_campaign(str(tmp_path / "a.db"), ingest_file(spec, silent), Options()) as store:
        photos(folder, "b.png", "d.png")
        found = read_file_rows(pool_spec(store.setup(), spec), silent)
        changes = compare(store, found, spec)
        assert changes.new == (3,)
        assert changes.sentences == ("row b.png changed, its picture.",)
        grow(store, found, changes, spec)
        assert [item.media for item in store.items().values()][-1] == "d.png"
        assert compare(store, found, spec) == PoolChanges(changed={})


def test_a_broken_picture_does_not_join_and_is_said(tmp_path):
    folder = photos(tmp_path / "photos", "a.png", "b.png", "c.png")
    spec = SourceSpec(folder)
    with create_campaign(str(tmp_path / "a.db"), ingest_file(spec, silent), Options()) as store:
        photos(folder, "e.png")
        (folder / "d.png").write_bytes(b"no picture")
        found = read_file_rows(pool_spec(store.setup(), spec), silent)
        (said,) = grow(store, found, compare(store, found, spec), spec)
        assert said.startswith("a row was left out: image must be a picture that can be read; got")
        assert [item.id for item in store.items().values()][3:] == ["e.png"]
        assert len(store.array("X")) == store.setup().rows == 4
        assert grow(store, found, compare(store, found, spec), spec) == (said,)  # still broken
        assert store.setup().rows == 4


def test_a_picture_of_the_campaign_that_broke_is_refused_by_name(tmp_path):
    folder = photos(tmp_path / "photos", "a.png", "b.png", "c.png")
    spec = SourceSpec(folder)
    with create_campaign(str(tmp_path / "a.db"), ingest_file(spec, silent), Options()) as store:
        (folder / "b.png").write_bytes(b"no picture")
        found = read_file_rows(pool_spec(store.setup(), spec), silent)
        with pytest.raises(ValueError, match=r"^image must be a picture .*; got 'b.png' \(it is"):
            compare(store, found, spec)


def test_a_picture_embedded_on_another_machine_is_the_same_picture(tmp_path):
    folder, calls = photos(tmp_path / "photos", "a.png", "b.png", "c.png"), []

    def pixels(pictures):
        """Points, of which the last digits are others every time."""
        calls.append(len(pictures))
        points = [np.asarray(one.resize((6, 6)), dtype=float).ravel() for one in pictures]
        return np.array(points) * (1 + 1e-5 * len(calls) * np.sin(np.arange(108)))

    spec = SourceSpec(folder, encoder=pixels)
    with create_campaign(str(tmp_path / "a.db"), ingest_file(spec, silent), Options()) as store:
        found = read_file_rows(pool_spec(store.setup(), spec), silent)
        assert compare(store, found, spec) == PoolChanges(changed={})
        photos(folder, "b.png")
        assert compare(store, found, spec).changed == {1: 1}


def test_new_texts_join_by_what_the_texts_of_the_start_mean(tmp_path):
    texts = ["the soup was far too salty", "a quiet room and a soft bed", "cold soup again today"]
    frame = pd.DataFrame({"nr": range(1, 5), "text": [*texts, "we slept well in the soft bed"]})
    spec = SourceSpec(Path(), id="nr", text="text", cache=tmp_path / "a.possibal.embeddings")
    with create_campaign(str(tmp_path / "a.db"), ingest_frame(frame[:3], spec), Options()) as store:
        found = read_frame_rows(frame, pool_spec(store.setup(), spec))
        assert grow(store, found, compare(store, found, spec), spec) == ()
        X = store.array("X")
        assert np.linalg.norm(X[3] - X[1]) < np.linalg.norm(X[3] - X[0])
        assert store.setup().recipe["embedder"]["name"].startswith("universal-sentence-encoder")


def test_how_a_source_is_read_is_what_the_campaign_began_with():
    kinds = [("a", "label", ""), ("b", "id", ""), ("c", "text", ""), ("d", "text", "")]
    setup = Setup("x", "text", 2, columns=(*kinds, ("e", "picture", "")))
    spec = pool_spec(setup, SourceSpec(Path("f.csv"), label="z", encoding="cp1252"))
    assert (spec.label, spec.id, spec.text, spec.image) == ("a", "b", ("c", "d"), "e")
    assert (spec.source, spec.encoding) == (Path("f.csv"), "cp1252")
    wanted = SourceSpec(Path("f.csv"), encoder=len, cache=Path("c"))
    assert pool_spec(setup, wanted).encoder is len
    assert pool_spec(setup, wanted).cache == Path("c")


def test_the_source_of_the_version_before_is_read_as_it_was_then():
    setup = Setup("x", "text", 2, fields=("nr", "words"), text="words")
    spec = pool_spec(setup, SourceSpec(Path("f.csv"), label="z", use=("nr",)))
    assert (spec.label, spec.text, spec.use) == ("z", ("words",), ())
    assert spec.kinds == {"nr": "left out"}
    assert pool_spec(replace(setup, text=None), SourceSpec(Path(), text=("nr",))).text == ("nr",)


def test_the_version_before_counted_rows_from_one():
    setup = Setup("x", "table", 2)
    assert counts_from_one(setup, {"1": 0, "2": 1})
    assert not counts_from_one(setup, {"0": 0, "1": 1})
    assert not counts_from_one(replace(setup, id_type=NameType.WHOLE), {"1": 0, "2": 1})


def test_a_column_that_named_no_row_names_none_when_there_are_enough_rows(tmp_path):
    frame = pd.DataFrame({"visit": range(1, 25), "size": [1.5, 2.5, 4.0] * 8})
    path = tmp_path / "a.csv"
    frame[:18].to_csv(path, index=False)
    wanted = SourceSpec(path)
    with create_campaign(str(tmp_path / "a.db"), ingest_file(wanted, silent), Options()) as store:
        frame.to_csv(path, index=False)
        found = read_file_rows(pool_spec(store.setup(), wanted), silent)
        assert found.ids == tuple(range(24))
        assert compare(store, found, wanted).summary == "Rows since last time: 6 new."


def test_an_event_that_a_row_is_gone_undoes():
    gone = Event("a" * 32, Kind.GONE, "file", 5, 3)
    state = replay([gone])
    assert state.verdict(3).is_gone
    state.apply(Event("b" * 32, Kind.UNDO, "file", 6, target=gone.key))
    assert not state.verdict(3).is_gone


def test_other_labels_in_the_source_are_told_and_not_taken(store):
    other = FRAME[:10].assign(label=["large", "large", "small", None, *FRAME["label"][4:10]])
    changes = grown(store, other)
    assert changes.relabelled == 2  # another one, and one that was not there
    assert changes.labels_not_taken.startswith("2 rows have another label in the source than in")
    assert replay(store.events()).labels[0] == "small"
    assert 2 not in replay(store.events()).labels
    assert compare(store, rows(store, FRAME[:10]), WANTED).labels_not_taken == ""


def test_a_grown_campaign_is_still_told_from_others_by_its_first_content(store):
    before = store.setup().digest
    grown(store, FRAME)
    assert store.setup().digest == before  # pages know the campaign by it
    assert store.setup().known_digest == rows(store, FRAME).digest != before
