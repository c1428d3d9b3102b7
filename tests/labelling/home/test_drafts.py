"""How sources are understood, and what a person may change of it."""

import pytest
from support.served import pictures

from possibal.labelling.home.drafts import Draft
from possibal.progress import no_stages

LINES = ["visit_id,age,city,note,label"] + [
    f"{n + 10},{20 + n * 7 % 50},{'Rome' if n % 3 else 'Oslo'},"
    f"the patient said that it was fine today number {n},{'' if n > 3 else 'ab'[n % 2]}"
    for n in range(30)
]


@pytest.fixture
def draft(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(LINES))
    return Draft.read(path, no_stages)


def kinds(draft: Draft) -> dict[str, str]:
    return {one.name: str(one.kind) for one in draft.columns}


FOUND = {
    "visit_id": "id",
    "age": "number",
    "city": "category",
    "note": "text",
    "label": "label",
}


def test_a_table_is_understood_by_itself(draft):
    assert kinds(draft) == FOUND
    assert draft.examples()[0] == ["10", "11", "12"]
    assert draft.examples()[4] == ["a", "b", "a"]
    assert draft.rows.classes == ("a", "b")
    assert (draft.wanted().kinds, draft.wanted(["a", "b", "c"]).classes) == ({}, ("a", "b", "c"))


@pytest.mark.parametrize("kind", ["category", "text", "left out", "number"])
def test_what_a_person_says_of_a_column_holds_and_others_stay(draft, kind):
    name = "city" if kind == "text" else "age"
    changed = draft.changed({name: kind})
    assert kinds(changed) == FOUND | {name: kind}
    assert changed.changed({}).columns == draft.columns


@pytest.mark.parametrize("kind", ["category", "left out"])
def test_a_column_called_label_need_not_be_the_label(draft, kind):
    changed = draft.changed({"label": kind})
    assert kinds(changed) == FOUND | {"label": kind}
    assert (changed.rows.classes, changed.rows.roles.label) == ((), None)


def test_another_column_takes_the_place_of_the_one_that_was_found(draft):
    changed = draft.changed({"city": "label", "age": "left out"})
    assert changed.rows.classes == ("Oslo", "Rome")
    assert kinds(changed) == FOUND | {"city": "label", "age": "left out", "label": "category"}


def test_rows_need_no_names(draft):
    changed = draft.changed({"visit_id": "number"})
    assert kinds(changed) == FOUND | {"visit_id": "number"}
    assert changed.rows.ids == tuple(range(30))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"age": "text"}, "text must be a column of words"),
        ({"age": "label", "city": "label"}, "label must be one column"),
        ({"city": "id"}, "id must be a column that names each row once"),
        ({"none": "text"}, "columns must be"),
        (dict.fromkeys(("age", "city", "note", "label"), "left out"), "helps to tell rows"),
    ],
)
def test_what_cannot_be_is_one_sentence(draft, changes, words):
    with pytest.raises(ValueError, match=words):
        draft.changed(changes)


def test_long_cells_are_cut_and_missing_ones_not_shown(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n,1\n" + "word " * 20 + ",2\nb,3\n")
    first, second = Draft.read(tmp_path / "a.csv", no_stages).examples()
    assert first == [("word " * 20)[:59] + "…", "b"]
    assert second == ["1", "2", "3"]


def test_a_folder_of_pictures_has_no_columns(tmp_path):
    draft = Draft.read(pictures(tmp_path / "shades"), no_stages)
    assert (draft.columns, draft.examples(), draft.rows.kind) == ((), [], "image")
    assert draft.changed({}).rows is draft.rows
