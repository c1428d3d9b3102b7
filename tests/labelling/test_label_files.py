import csv
import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.begun import campaign, said, source, told

from possibal.data import writers
from possibal.data.ingest import SourceSpec, ingest_frame
from possibal.labelling import label_files
from possibal.labelling.create import FILE, Options, create_campaign
from possibal.labelling.label_files import HEADS
from possibal.labelling.remarks import commented
from possibal.labelling.storage.journal import Event, Kind, places_detail, replay
from possibal.labelling.storage.store import Contents, Item, Setup, Store, clock

ENDINGS = list(writers.WRITERS)
HEAD = ",".join(HEADS)
AT = 1_700_000_000_000
MOMENT = "2023-11-14T22:13:20.000Z"


@pytest.fixture(name="path")
def _path(tmp_path):
    """A file of rows, some of them labelled."""
    return source(tmp_path, labels=True)


@pytest.fixture(name="db")
def _db(path, tmp_path):
    """A campaign of that file in which people said all that can be said."""
    db = campaign(path, tmp_path / "a.db")
    undone = said(9)
    told(
        db,
        said(0, "large"),
        said(5, "small", necessity=0.1 + 0.2, predicted_label="large"),
        said(5, "large", "bob"),
        said(5, "large", "cy", Kind.SETTLE),
        said(6, kind=Kind.UNSURE),
        said(6, kind=Kind.SKIP, who="bob"),
        said(7, kind=Kind.BAD, who="=bob"),
        said(8, "x"),
        said(8, "=2+5", kind=Kind.EDIT, necessity=1.0, predicted_label="'"),
        undone,
        Event("f" * 32, Kind.UNDO, "ann", AT, target=undone.key),
        said(10, "small", "ann", made=2**53),
        said(10, "large", "bob", made=5),
    )
    return db


def test_comments_stand_beside_the_first_opinion_of_a_person_and_come_back(db, path, tmp_path):
    assert "comment" not in out(db).decode().splitlines()[0]
    plain = out(db)
    told(
        db,
        remarked(0, "why,\nthen?"),
        remarked(5, "=cy", "cy"),
        remarked(6, "first"),
        remarked(6, "skipped", "bob"),
        remarked(11, "alone"),
        replace(remarked(12, "gone"), made=AT - 1),
        remarked(12, ""),
    )
    exported = out(db)
    lines = list(csv.DictReader(exported.decode().splitlines(keepends=True)))
    found = {
        (one["id"], one["who"], one["kind"]): one["comment"] for one in lines if one["comment"]
    }
    assert found == {
        (ids(db)[0], "ann", "label"): "why,\nthen?",
        (ids(db)[5], "cy", "settle"): "'=cy",
        (ids(db)[6], "ann", "unsure"): "first",
        (ids(db)[6], "bob", "comment"): "skipped",
        (ids(db)[11], "ann", "comment"): "alone",
    }
    assert len(lines) == len(plain.decode().splitlines()) + 1
    (tmp_path / "labels.csv").write_bytes(exported)
    other = campaign(path, tmp_path / "b.db")
    taken = brought(other, tmp_path / "labels.csv")
    assert sum(event.kind is Kind.COMMENT for event in taken) == 5
    assert out(other) == exported
    assert brought(other, tmp_path / "labels.csv") == []


def test_a_column_of_the_rows_that_is_called_comment_is_taken_for_no_comment(tmp_path):
    path = text(
        tmp_path, "name,n,comment", *(f"{n},{n},said {n}" for n in range(6)), name="rows.csv"
    )
    db = campaign(path, tmp_path / "a.db")
    labels = text(tmp_path, "id,label,comment", "0,x,said 0", "1,y,odd")
    kinds = sorted(event.kind for event in brought(db, labels))
    assert kinds == [Kind.COMMENT, Kind.IMPORT, Kind.IMPORT]
    heads = out(db, fields=True).decode().splitlines()[0]
    assert heads == f"{HEAD},comment,n,row comment"


def test_a_comment_that_is_too_long_is_refused_with_its_place(db, tmp_path):
    labels = text(tmp_path, "id,label,comment", f"{ids(db)[0]},small,{'a' * 2001}")
    with pytest.raises(ValueError, match=r"comment must be of at most .* It is at line 2 of"):
        brought(db, labels)


def remarked(row: int, words: str, who: str = "ann") -> Event:
    """That somebody commented on a row."""
    return replace(commented(row, words, who), made=AT + len(words))


def ids(db) -> dict[int, str]:
    """The id of each row of a campaign."""
    with Store.open(db, writes=False) as store:
        return {row: name for name, row in store.places().items()}


def out(db, ending=".csv", *, fields=False) -> bytes:
    """The file that a campaign is exported as."""
    with Store.open(db, writes=False) as store:
        return label_files.export_file(store, ending, fields=fields)[0]


def brought(db, path, encoding=None) -> list[Event]:
    """What a file brings to a campaign."""
    with Store.open(db) as store:
        events = label_files.read_labels(path, store, encoding)
        store.append(events)
        return events


def text(tmp_path, *lines, name="labels.csv"):
    """A file of these lines."""
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def state(db):
    """What holds."""
    with Store.open(db, writes=False) as store:
        return replay(store.events())


# ---------------------------------------------------------------- out
def test_a_line_says_who_said_what_of_which_row_and_when(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    told(db, said(3, "large", made=AT, necessity=0.25, predicted_label="small"))
    assert out(db).decode() == f"{HEAD}\nr3,large,label,ann,{MOMENT},0.25,small,large\n"


def test_every_opinion_that_holds_has_its_line_and_no_other(db):
    with Store.open(db, writes=False) as store:
        lines = label_files.exported_opinions(store)
    assert [(line.id, line.label, line.kind, line.who, line.final) for line in lines] == [
        ("r0", "small", "label", FILE, None),
        ("r0", "large", "label", "ann", None),
        ("r1", "large", "label", FILE, "large"),
        ("r2", "small", "label", FILE, "small"),
        ("r3", "large", "label", FILE, "large"),
        ("r5", "small", "label", "ann", "large"),
        ("r5", "large", "label", "bob", "large"),
        ("r5", "large", "settle", "cy", "large"),
        ("r6", None, "unsure", "ann", None),
        ("r7", None, "bad", "=bob", None),
        ("r8", "=2+5", "label", "ann", "=2+5"),
        ("r10", "large", "label", "bob", None),
        ("r10", "small", "label", "ann", None),
    ]
    assert lines[-2].when == "1970-01-01T00:00:00.005Z"
    assert "2026" <= (lines[-1].when or "")[:4] < "2200"  # whatever the clock claimed
    assert lines[0].when is None


def test_what_is_known_to_hold_is_exported_as_the_journal_itself(db):
    with Store.open(db, writes=False) as store:
        verdicts = replay(store.events()).verdicts
        known = label_files.export_file(store, ".csv", verdicts=verdicts)
        assert known == label_files.export_file(store, ".csv")
        row = next(iter(verdicts))
        assert label_files.export_file(store, ".csv", verdicts={row: verdicts[row]})[2] == 1


def test_what_an_unsure_person_was_about_to_say_is_no_label(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    told(db, replace(said(1, kind=Kind.UNSURE), label="small"))
    with Store.open(db, writes=False) as store:
        assert [line.label for line in label_files.exported_opinions(store)] == [None]


def test_no_answers_are_a_file_of_heads(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    assert out(db).decode() == f"{HEAD}\n"


def test_the_columns_of_the_rows_come_with_them(db):
    head, first, *_ = out(db, fields=True).decode().splitlines()
    assert head == f"{HEAD},width,height,colour"
    assert first.startswith("r0,small,label,file,,,,,")
    assert first.endswith(",blue")


def test_columns_of_the_rows_have_names_of_their_own(tmp_path):
    fields = ("label", "row label", "who", "x")
    with Store.create(
        str(tmp_path / "a.db"), Setup("a", "table", 1, fields), Contents([Item(0, "a")], {})
    ) as store:
        names = label_files.field_names(store)
    assert names == ("row label", "row row label", "row who", "x")


# ---------------------------------------------------------------- there and back
@pytest.mark.parametrize(("ending", "fields"), [*product(ENDINGS, [False, True])])
@pytest.mark.works_with("CSV, JSON lines, Parquet", "labels out and in again")
def test_a_fresh_campaign_with_the_labels_is_exported_the_same(db, path, tmp_path, ending, fields):
    first = out(db, ending, fields=fields)
    (tmp_path / f"out{ending}").write_bytes(first)
    fresh = campaign(path, tmp_path / "b.db")
    assert len(brought(fresh, tmp_path / f"out{ending}")) == 13 - 4
    assert out(fresh, ending, fields=fields) == first
    assert state(fresh).labelled() == state(db).labelled()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_campaign_learns_nothing_from_its_own_labels(db, tmp_path, ending):
    first = out(db, ending)
    (tmp_path / f"out{ending}").write_bytes(first)
    assert brought(db, tmp_path / f"out{ending}") == []
    assert out(db, ending) == first


@pytest.mark.parametrize("ending", ENDINGS)
def test_reading_twice_adds_nothing(db, path, tmp_path, ending):
    (tmp_path / f"out{ending}").write_bytes(out(db, ending))
    fresh = campaign(path, tmp_path / "b.db")
    brought(fresh, tmp_path / f"out{ending}")
    assert brought(fresh, tmp_path / f"out{ending}") == []


WORDS = st.text(st.characters(min_codepoint=32, blacklist_categories=["Cs", "Cc"]), max_size=8)


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(WORDS, WORDS, st.sampled_from(list(label_files.KINDS)), st.integers(0, 2**53)),
        min_size=1,
        max_size=8,
    )
)
def test_any_labels_of_any_people_come_back(tmp_path_factory, given_lines):
    folder = tmp_path_factory.mktemp("a")
    setup = Setup("a", "table", len(given_lines) + 1, classes=("x", "y"))
    items = [Item(row, f"row {row}") for row in range(len(given_lines) + 1)]
    events = [
        said(
            row,
            f".{label.strip()}",
            f"{who.strip()}.",
            label_files.KINDS[kind],
            made=made,
            key=f"{row}",
        )
        for row, (label, who, kind, made) in enumerate(given_lines)
    ]
    one, other = (Store.create(str(folder / n), setup, Contents(items, {})) for n in "ab")
    with one, other:
        one.append(events)
        for ending in ENDINGS:
            path = folder / f"out{ending}"
            path.write_bytes(label_files.export_file(one, ending)[0])
            other.append(label_files.read_labels(path, other))
            assert label_files.export_file(other, ending)[0] == path.read_bytes()


def test_an_undo_still_undoes_after_a_campaign_met_its_own_labels(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    event = said(3)
    told(db, event)
    path = tmp_path / "out.csv"
    path.write_bytes(out(db))
    brought(db, path)
    told(db, Event("0" * 32, Kind.UNDO, "ann", AT, target=event.key))
    assert out(db).decode() == f"{HEAD}\n"


# ---------------------------------------------------------------- in
def test_an_id_and_a_label_are_enough_and_hold_from_now_on(tmp_path):
    db = campaign(source(tmp_path, labels=True), tmp_path / "a.db")
    path = text(tmp_path, "label,id", "large,r0", " new , r9 ", ",r8")
    before = clock()
    events = brought(db, path)
    assert [(e.kind, e.who, e.row, e.label) for e in events] == [
        (Kind.IMPORT, FILE, 0, "large"),
        (Kind.IMPORT, FILE, 9, "new"),
    ]
    assert all(before <= event.made <= clock() for event in events)
    assert state(db).labelled()[0] == "large"
    assert brought(db, path) == []


def test_what_somebody_says_now_is_not_what_they_said_before(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    told(db, said(1, "small"), said(2, kind=Kind.UNSURE), said(3, "small", kind=Kind.SETTLE))
    path = text(
        tmp_path, "id,label,who,kind", "r1,small,ann,", "r2,small,ann,", "r3,small,bob,settle"
    )
    assert [event.row for event in brought(db, path)] == [2, 3]


@pytest.mark.parametrize(
    "when",
    [
        "2023-11-14T22:13:20Z",
        "2023-11-14 22:13:20",
        " 2023-11-14T23:13:20.0009+01:00 ",
        "20231114T221320Z",
        str(AT),
    ],
)
def test_moments_may_be_written_in_several_ways(tmp_path, when):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    (event,) = brought(db, text(tmp_path, "id,label,when", f"r1,small,{when}"))
    assert event.made == AT


def test_a_day_is_a_moment_and_no_count_of_milliseconds(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    (event,) = brought(db, text(tmp_path, "id,label,when", "r1,small,20231114"))
    assert label_files.timestamp(event.made) == "2023-11-14T00:00:00.000Z"


def test_moments_and_numbers_of_parquet_are_understood(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"id": ["r1"], "label": [3.0], "when": [AT]})
    frame.with_columns(pl.from_epoch("when", time_unit="ms")).write_parquet(path)
    (event,) = brought(db, path)
    assert (event.made, event.label) == (AT, "3")


def test_later_of_two_moments_holds(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    lines = ["id,label,who,when", f"r1,small,ann,{AT + 1}", f"r1,large,ann,{AT}"]
    assert len(brought(db, text(tmp_path, *lines))) == 2
    assert state(db).labelled() == {1: "small"}


def test_the_same_line_twice_is_one(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    assert len(brought(db, text(tmp_path, "id,label", "r1,small", "r1,small"))) == 1


def test_a_file_may_be_of_another_encoding(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    path = tmp_path / "a.csv"
    path.write_bytes("id,label\nr1,groß\n".encode("cp1252"))
    assert [event.label for event in brought(db, path, "cp1252")] == ["groß"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("r99,small,,,,", r"id must be that of a row of the campaign; got 'r99' at line 3"),
        (",small,,,,", r"id must be that of a row of the campaign; got '' at line 3"),
        (
            "r1,small,skip,,,",
            r"kind must be one of label, unsure, bad, settle, comment; got",
        ),
        ("r1,,label,,,", r"label must be of 1 to 200 characters; got 0 at line 3"),
        (f"r1,{'x' * 201},,,,", r"label must be of 1 to 200 characters; got 201 at line 3"),
        ("r1,small,bad,,,", r"label must be empty where kind is bad; got 'small' at line 3"),
        ("r1,small,,,soon,", r"when must be a moment since 1970 such as \S+; got 'soon' at line 3"),
        ("r1,small,,,0001-01-01T00:00:00+14:00,", r"when must be a moment since 1970 such as"),
        (f"r1,small,,,{2**53 + 1},", r"when must be a moment since 1970 such as"),
        ("r1,small,,,,1.5", r"necessity must be a number from 0 to 1; got '1.5' at line 3"),
        ("r1,small,,,,nan", r"necessity must be a number from 0 to 1; got 'nan' at line 3"),
        (
            "r0,large,,ann,,",
            r"file must say one thing of a row for each person, as it does at line 2; got another",
        ),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_taken_in(tmp_path, line, sentence):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    path = text(tmp_path, "id,label,kind,who,when,necessity", "r0,small,,ann,,", line)
    with pytest.raises(ValueError, match=f"^{sentence}.* of '.*labels.csv'\\. "):
        brought(db, path)
    assert out(db).decode() == f"{HEAD}\n"


def test_the_columns_that_are_needed_are_named(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    sentence = r"^file must have the columns 'id' and 'label'; got 'ID', 'y' in .*\. Rename"
    with pytest.raises(ValueError, match=sentence):
        brought(db, text(tmp_path, "ID,y", "r1,small"))


def test_a_column_of_too_many_labels_is_refused_unless_the_campaign_has_them(tmp_path):
    db = campaign(source(tmp_path, 60), tmp_path / "a.db")
    path = text(tmp_path, "id,label", *(f"r{row},{row}" for row in range(49)))
    with pytest.raises(ValueError, match=r"^label must be a column of at most 50 classes.*got 51"):
        brought(db, path)
    told(db, *(said(row, str(row), kind=Kind.IMPORT) for row in range(60)))
    assert len(brought(db, path)) == 49


def test_a_campaign_in_use_takes_no_file(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    path = text(tmp_path, "id,label", "r1,small")
    with (
        Store.open(db),
        pytest.raises(ValueError, match=r"^db must not be in use; got .*another possibal"),
    ):
        brought(db, path)


def test_ids_and_labels_keep_their_type_where_a_file_has_types(tmp_path):
    frame = pl.DataFrame({"size": [1.0, 2.0, 3.0], "label": [1, 0, None]})
    intake = ingest_frame(frame, SourceSpec(Path()))
    with create_campaign(str(tmp_path / "a.db"), intake, Options()) as store:
        (tmp_path / "a.parquet").write_bytes(label_files.export_file(store, ".parquet")[0])
        lines = label_files.export_file(store, ".jsonl")[0].splitlines()
        assert [line.id for line in label_files.exported_opinions(store)] == ["0", "1"]
    found = pl.read_parquet(tmp_path / "a.parquet")
    assert found["id"].to_list() == [0, 1]
    assert found["final"].to_list() == [1, 0]
    assert [json.loads(line)["id"] for line in lines] == [0, 1]
    assert found["size"].to_list() == ["1", "2"]  # as people saw it


# ---------------------------------------------------------------- classes that were changed
def test_labels_leave_under_the_names_that_classes_have_now(db, tmp_path):
    told(
        db,
        Event("r1", Kind.RENAME, "ann", AT, label="large", detail={"to": "big"}),
        Event("r2", Kind.RENAME, "ann", AT + 1, label="x", detail={"to": "small", "merge": "yes"}),
    )
    old = tmp_path / "old.csv"
    old.write_text("id,label,who,when\nr0,large,ann,2023-01-01\n", encoding="utf-8")
    with Store.open(db) as store:
        lines = label_files.exported_opinions(store)
        assert "large" not in {said for one in lines for said in (one.label, one.final)}
        assert "large" not in {one.predicted_label for one in lines}
        assert "big" in {one.predicted_label for one in lines}
        (news,) = label_files.read_labels(old, store)
        store.append([news])
        assert label_files.read_labels(old, store) == []
    again = tmp_path / "again.csv"
    again.write_bytes(out(db))
    with Store.open(db) as store:
        assert label_files.read_labels(again, store) == []


@pytest.mark.parametrize(
    ("lines", "got"),
    [
        (["r1,Small"], "'Small' beside 'small' at line 2"),
        (["r1,s mall"], "'s mall' beside 'small'"),
        (["r1,new", "r2,New"], "'New' beside 'new' at line 3"),
    ],
)
def test_labels_that_differ_by_case_and_blanks_alone_are_refused(db, tmp_path, lines, got):
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["id,label", *lines, ""]), encoding="utf-8")
    with (
        Store.open(db) as store,
        pytest.raises(ValueError, match=r"^label must differ from other classes by more") as error,
    ):
        label_files.read_labels(path, store)
    assert f"got {got}" in str(error.value)


def test_what_was_said_of_several_rows_has_a_line_for_each_and_comes_back(path, tmp_path):
    db = campaign(path, tmp_path / "a.db")
    word = said(5, "small", made=AT, necessity=0.5, predicted_label="large")
    told(db, replace(word, detail=places_detail([7, 6])))
    lines = out(db).decode().splitlines()
    assert [line for line in lines if ",ann," in line] == [
        f"r5,small,label,ann,{MOMENT},0.5,large,small",
        f"r6,small,label,ann,{MOMENT},,,small",
        f"r7,small,label,ann,{MOMENT},,,small",
    ]
    file = tmp_path / "out.csv"
    file.write_bytes(out(db))
    assert brought(db, file) == []
    other = campaign(path, tmp_path / "b.db")
    brought(other, file)
    assert out(other) == out(db)
    assert state(other).labels == state(db).labels


def test_labels_from_a_file_are_those_of_copies_too_unless_it_says_otherwise(tmp_path):
    names = [f"{n} words of a text" for n in range(3)]
    frame = pl.DataFrame({"id": list("abcdef"), "text": [*"uvw", *names]})
    wanted = SourceSpec(Path(), id="id", text=("text",), by=("words",), classes=("x", "y"))
    with create_campaign(str(tmp_path / "a.db"), ingest_frame(frame, wanted), Options()):
        pass
    brought(str(tmp_path / "a.db"), text(tmp_path, "id,label,who", "d,x,ann", "f,y,ann", "d,y,bob"))
    found = state(str(tmp_path / "a.db"))
    said = {row: {w: e.label for w, e in found.verdict(row).naming.items()} for row in (3, 4, 5)}
    assert said == {
        3: {"ann": "x", "bob": "y"},
        4: {"ann": "x", "bob": "y"},
        5: {"ann": "y", "bob": "y"},
    }
    file = tmp_path / "out.csv"
    file.write_bytes(out(str(tmp_path / "a.db")))
    assert brought(str(tmp_path / "a.db"), file) == []
