from dataclasses import replace
from pathlib import Path

import pytest
from support.begun import campaign, clouds, said, source, told

from possibal.cli.classes_session import ClassRequest, changed, drawn
from possibal.labelling.storage.store import Store

NOTHING = ClassRequest(
    undo=False, add=(), rename=(), merge=(), describe=(), colour=(), remove=(), who="ann"
)


@pytest.fixture(name="db")
def _db(tmp_path: Path) -> str:
    """A campaign of thirty rows, twelve of them labelled by ann."""
    db = campaign(source(tmp_path), tmp_path / "a.db")
    clouds(db, 12)
    return db


def names(db: str, **wanted) -> list[str]:
    """The classes after some changes."""
    return [one.name for one in changed(db, replace(NOTHING, **wanted))[1]]


def test_nothing_is_written_to_list_them(db):
    assert NOTHING.is_empty
    with Store.open(db):
        assert names(db) == ["small", "large"]


def test_each_change_is_made_as_things_are_when_it_is_its_turn(db):
    wanted = {"add": ["c", "d"], "rename": ["c=e"], "merge": ["e=d"], "remove": ["d"]}
    assert names(db, **wanted) == ["small", "large"]
    assert names(db, undo=True) == ["small", "large", "d"]
    assert names(db, undo=True) == ["small", "large", "e", "d"]


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"rename": ["small"]}, "rename must be a class, the sign = and what it gets; got 'small'"),
        ({"rename": ["small=large"]}, "to must be a new name; got 'large', which is another"),
        ({"merge": ["small=tiny"]}, "into must be one of"),
        ({"add": ["small"]}, "class must be new; got 'small', which is there."),
        ({"add": ["Small"]}, "class must differ from others by more than case and blanks"),
        ({"remove": ["small"]}, "class must be unused to be removed; got 'small', which 6 rows"),
        ({"colour": ["small=blue"]}, "colour must be like #3366cc, or empty; got 'blue'"),
        ({"describe": ["tiny=x"]}, "class must be one of"),
        ({"undo": True}, "undo must have a change to take back; got none by 'ann'. Name another"),
        ({"undo": True, "who": "bob"}, "undo must have a change to take back; got none by 'bob'."),
    ],
)
def test_one_mistake_and_nothing_is_done(db, wanted, sentence):
    with pytest.raises(ValueError, match="must") as error:
        names(db, **({"add": ["new"]} | wanted))
    assert str(error.value).startswith(sentence)
    with Store.open(db, writes=False) as store:
        assert len(store.events()) == 12


def test_a_name_may_have_an_equals_sign_and_blanks_around_it_go(db):
    assert names(db, add=["a=b"]) == ["small", "large", "a=b"]
    assert names(db, rename=["a=b = c=d"]) == ["small", "large", "c=d"]
    assert names(db, rename=["c=d=e"]) == ["small", "large", "e"]


def test_what_is_said_of_a_class_can_be_taken_away(db):
    told_of = {"describe": ["small=Tiny = small."], "colour": ["small=#ABCDEF"]}
    first = changed(db, replace(NOTHING, **told_of))[1][0]
    assert (first.description, first.colour) == ("Tiny = small.", "#abcdef")
    first = changed(db, replace(NOTHING, describe=["small="], colour=["small="]))[1][0]
    assert (first.description, first.colour) == ("", "")


def test_check_rows_are_drawn_until_half_of_all_rows_are(db):
    size, answered = drawn(db, 10, "ann")
    assert size == 10
    assert 0 <= answered <= 10
    told(db, *(said(row) for row in range(30)))
    assert drawn(db, 5, "ann") == (15, 15)
    with pytest.raises(ValueError, match=r"^rows must be none, for there are enough"):
        drawn(db, 1, "ann")
