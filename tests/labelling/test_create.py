from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from possibal.data.copies import CopyGroups
from possibal.data.features import ImageFiles
from possibal.data.ingest import IngestedRows, SourceSpec, ingest_file
from possibal.labelling.create import (
    FILE,
    Options,
    copy_groups,
    create_campaign,
    feature_recipe,
    imported_event,
    shared_events,
)
from possibal.labelling.storage.journal import Event, Kind, replay
from possibal.labelling.storage.store import Item, Store

TABLE = "id,size,colour,label\n" + "".join(
    f"r{n},{n},{'red' if n % 2 else 'blue'},{'x' if n % 3 == 0 else ''}\n" for n in range(12)
)
TEXTS = "id,text\n" + "".join(f"t{n},many words about number {n} and {n % 4}\n" for n in range(12))


def quiet(_words, _share):
    """Nobody is told."""


def table(folder: Path, content: str = TABLE, **wanted) -> IngestedRows:
    """What a small file holds."""
    path = folder / "things.csv"
    path.write_text(content)
    return ingest_file(SourceSpec(path, **wanted), quiet)


def test_a_campaign_keeps_all_that_the_file_held_and_was_wanted(tmp_path):
    intake = table(tmp_path, classes=("x", "y"))
    db = str(tmp_path / "a.db")
    create_campaign(db, intake, Options("uncertainty", 7, 2, 3)).close()
    with Store.open(db) as store:
        setup = store.setup()
        assert (setup.name, setup.kind, setup.rows) == ("things", "table", 12)
        assert (setup.fields, setup.text, setup.folder) == (intake.source.fields, None, None)
        assert (setup.classes, setup.strategy, setup.seed) == (("x", "y"), "uncertainty", 7)
        assert (setup.people, setup.check) == (2, 3)
        assert (setup.digest, setup.notes) == (intake.source.digest, intake.notes)
        assert list(store.items().values()) == [
            Item(row, str(name), cells)
            for row, (name, cells) in enumerate(zip(intake.ids, intake.source.cells, strict=True))
        ]
        np.testing.assert_array_equal(store.array("X"), intake.X)


def test_labels_of_the_file_are_answers_from_the_start(tmp_path):
    intake = table(tmp_path)
    with create_campaign(str(tmp_path / "a.db"), intake, Options()) as store:
        events = store.events()
    assert {(event.kind, event.who) for event in events} == {(Kind.IMPORT, FILE)}
    assert all(len(event.key) == 32 for event in events)
    assert replay(events).labels == {0: "x", 3: "x", 6: "x", 9: "x"}


def test_pictures_are_found_again(tmp_path):
    intake = table(tmp_path)
    names = tuple(f"p{n}.png" for n in range(12))
    source = replace(intake.source, pictures=ImageFiles(Path("/pictures"), names))
    shown = replace(intake, source=source)
    with create_campaign(str(tmp_path / "a.db"), shown, Options()) as store:
        assert [item.media for item in store.items().values()] == list(names)
        assert store.setup().folder == "/pictures"


@pytest.mark.parametrize("content", [TABLE, TEXTS], ids=["table", "text"])
def test_the_recipe_is_restored_with_its_arrays(tmp_path, content):
    intake = table(tmp_path, content)
    with create_campaign(str(tmp_path / "a.db"), intake, Options()) as store:
        found = feature_recipe(store)
    assert found.document() == intake.recipe.document()
    assert found.arrays().keys() == intake.recipe.arrays().keys()
    for name, array in intake.recipe.arrays().items():
        np.testing.assert_array_equal(found.arrays()[name], array)


def test_the_fields_that_columns_were_made_of_are_those_shown(tmp_path):
    intake = table(tmp_path)
    with create_campaign(str(tmp_path / "a.db"), intake, Options()) as store:
        owners = feature_recipe(store).owners
    assert [intake.source.fields[place] for place in owners] == [
        name.partition("=")[0].split(" ")[0] for name in intake.recipe.features
    ]
    assert len(owners) == intake.X.shape[1]


def test_at_most_half_of_the_rows_are_check_rows(tmp_path):
    intake = table(tmp_path)
    with pytest.raises(
        ValueError, match=r"^check must be at most 6, half of the rows; got 7\. Check fewer\.$"
    ):
        create_campaign(str(tmp_path / "a.db"), intake, Options(check=7))
    assert not (tmp_path / "a.db").exists()
    create_campaign(str(tmp_path / "a.db"), intake, Options(check=6)).close()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"strategy": "necessit"}, r"^strategy must be one of .*; got 'necessit'\. Did you mean"),
        ({"seed": -1}, r"^seed must be at least 0; got -1\."),
        ({"people": 0}, r"^people must be at least 1; got 0\."),
        ({"check": -1}, r"^check must be at least 0; got -1\."),
    ],
)
def test_bad_options_are_refused_before_any_file_is_read(options, error):
    with pytest.raises(ValueError, match=error):
        Options(**options)


def test_the_key_of_an_event_from_a_file_follows_from_what_it_says():
    event = Event("", Kind.IMPORT, "ann", 5, 3, "x", necessity=0.25)
    made = imported_event("r3", event)
    assert made == imported_event("r3", event)
    assert (made.kind, made.who, made.made, made.row, made.label) == (
        Kind.IMPORT,
        "ann",
        5,
        3,
        "x",
    )
    assert made.necessity == 0.25
    others = [
        imported_event("r4", event),
        imported_event("r3", Event("", Kind.IMPORT, "bob", 5, 3, "x")),
        imported_event("r3", Event("", Kind.IMPORT, "ann", 6, 3, "x")),
        imported_event("r3", Event("", Kind.IMPORT, "ann", 5, 3, "y")),
        imported_event("r3", Event("", Kind.SKIP, "ann", 5, 3)),
    ]
    assert len({made.key, *(other.key for other in others)}) == 6


@pytest.mark.parametrize("name", ["seed", "people", "check"])
def test_an_option_that_is_no_whole_number_is_refused(name):
    for value in (1.5, "1"):
        with pytest.raises(TypeError, match=f"^{name} must be a whole number; got"):
            Options(**{name: value})


# ---------------------------------------------------------------- copies
MESSAGES = (
    "id,text,label\n"
    "a,Pay 5 euros now,\nb,see you at noon,ham\nc,pay 7 EUROS now,spam\nd,what a lovely day,\n"
    "e,SEE YOU at noon,\nf,What a lovely day,\ng,one more word,x\nh,One more word,y\n"
)


def test_copies_are_kept_and_share_the_labels_of_the_file(tmp_path):
    intake = table(tmp_path, MESSAGES, by=("words",))
    with create_campaign(str(tmp_path / "a.db"), intake, Options()) as store:
        assert copy_groups(store).leaders.tolist() == [0, 1, 0, 3, 1, 3, 6, 7]
        state, setup = replay(store.events()), store.setup()
        assert feature_recipe(store).kind == "text"
    assert state.labels == {0: "spam", 1: "ham", 2: "spam", 4: "ham", 6: "x", 7: "y"}
    (given,) = state.verdict(0).opinions.values()
    (source,) = state.verdict(2).opinions.values()
    assert (given.who, given.kind, given.detail) == (FILE, Kind.IMPORT, {"copy": source.key})
    assert setup.notes[-2:] == (
        "3 rows say the same as another (case and digits aside) and are labelled with it.",
        "2 rows say the same as one another and have different labels: they stay apart.",
    )


def test_check_rows_are_drawn_from_the_rows_that_are_asked(tmp_path):
    intake = table(tmp_path, MESSAGES, by=("words",))
    with pytest.raises(ValueError, match="check must be at most 2, half of the rows that are"):
        create_campaign(str(tmp_path / "a.db"), intake, Options(check=3))
    for seed in range(5):
        options = Options(seed=seed, check=2)
        with create_campaign(str(tmp_path / f"{seed}.db"), intake, options) as store:
            check = store.array("check").tolist()
        assert len(check) == 2
        assert not set(check) & {2, 4, 5}


def test_where_copies_are_apart_nothing_is_kept_of_them(tmp_path):
    intake = table(tmp_path, MESSAGES, by=("words",), copies=False)
    with create_campaign(str(tmp_path / "a.db"), intake, Options()) as store:
        assert "copies" not in store.array_names()
        assert copy_groups(store).copies == frozenset()
        assert replay(store.events()).labels.keys() == {1, 2, 6, 7}
    with create_campaign(str(tmp_path / "b.db"), table(tmp_path), Options()) as store:
        assert "copies" not in store.array_names()


def test_what_was_said_of_a_row_is_shared_in_the_names_of_those_who_said_it():
    said = [
        Event("1", Kind.LABEL, "ann", 1, 0, "x"),
        Event("2", Kind.BAD, "bob", 2, 0),
        Event("3", Kind.SETTLE, "cy", 3, 0, "y"),
        Event("4", Kind.SKIP, "dee", 4, 0),
    ]
    groups, items = CopyGroups(np.array([0, 0])), [Item(0, "a"), Item(1, "b")]
    shared = shared_events(replay(said), groups, items, ())
    assert [(e.kind, e.who, e.made, e.row, e.label) for e in shared] == [
        (Kind.IMPORT, "ann", 1, 1, "x"),
        (Kind.BAD, "bob", 2, 1, None),
        (Kind.SETTLE, "cy", 3, 1, "y"),
    ]
    state = replay([*said, *shared])
    assert shared_events(state, groups, items, ()) == []


def test_a_label_that_was_shared_is_shared_again_as_what_it_was_at_first():
    said = Event("1", Kind.LABEL, "ann", 1, 0, "x")
    items = [Item(row, str(row)) for row in range(3)]
    (second,) = shared_events(replay([said]), CopyGroups(np.array([0, 0, 2])), items, ())
    later = CopyGroups(np.array([1, 1, 1]))
    (third,) = shared_events(replay([said, second]), later, items, ())
    assert (third.row, third.detail) == (2, {"copy": "1"})


class Looked(set[int]):
    """Rows that count how often somebody looks for one."""

    times = 0

    def __contains__(self, row: object) -> bool:
        self.times += 1
        return super().__contains__(row)


def test_sharing_labels_takes_time_in_proportion_to_the_rows_of_a_group():
    rows = range(500)
    groups, sources = CopyGroups(np.zeros(500, dtype=np.intp)), Looked(rows)
    said = replay([Event("1", Kind.IMPORT, FILE, 1, 499, "x")])
    shared = shared_events(said, groups, [Item(row, str(row)) for row in rows], sources)
    assert [event.row for event in shared] == list(range(499))
    assert sources.times <= 500


def test_a_class_to_find_is_one_of_those_that_are_named(tmp_path):
    intake = table(tmp_path, classes=("x", "y"))
    with pytest.raises(ValueError, match=r"find must be one of the classes, x, y; got 'z'\. Name"):
        create_campaign(str(tmp_path / "a.db"), intake, Options(find="z"))
    assert not (tmp_path / "a.db").exists()
    with create_campaign(str(tmp_path / "a.db"), intake, Options(find="y")) as store:
        assert store.setup().find == "y"
    learnt = replace(intake, source=replace(intake.source, classes=()))
    with create_campaign(str(tmp_path / "b.db"), learnt, Options(find="z")) as store:
        assert store.setup().find == "z"
