import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.data import schema
from possibal.data.encoders import Table
from possibal.data.name_types import NameType
from possibal.data.schema import (
    cell_type,
    check_classes,
    clean,
    infer_roles,
    row_ids,
    row_labels,
    text_cells,
)
from possibal.data.source import SourceSpec

PROSE = ["the soup was far too salty", "a quiet room and soft beds", "we will surely come again"]


def table(**cells):
    """A table of named columns."""
    return Table(tuple(cells), tuple(cells.values()))


def roles(given, **wanted):
    """The roles of a table's columns."""
    return infer_roles(given, SourceSpec(Path(), **wanted))


# ---------------------------------------------------------------- text
def test_cells_as_text_have_no_blanks_around_them():
    cells = [" a ", "", "  ", None, 2.0, -0.0, 1.5, True, float("nan")]
    assert text_cells(cells) == ("a", None, None, None, "2", "0", "1.5", "True", None)


def test_halves_of_characters_and_null_characters_are_replaced():
    assert clean("a\ud800b") == "a\ufffdb"
    assert clean("\ud83d\ude00") == "\U0001f600"  # two halves that belong together
    assert clean("a\0b") == "a\ufffdb"


@given(st.text())
def test_sound_text_stays_and_all_text_can_be_written(text):
    cleaned = clean(text)
    cleaned.encode()
    assert "\0" not in cleaned
    assert cleaned == text or "\0" in text


# ---------------------------------------------------------------- roles
def test_columns_without_usual_names_are_learnt_from():
    found = roles(table(age=[1, 2], kind=["x", "y"]))
    assert (found.label, found.id, found.texts, found.image) == (None, None, (), None)
    assert (found.table, found.kinds, found.notes) == ((0, 1), {}, ())


def test_what_is_wanted_is_given():
    given = table(kind=["x", None], name=["a", "b"], words=["p", "q"], id=[1, 1], photo=["a", "b"])
    found = roles(given, label="kind", id="name", text="words", image="photo")
    assert (found.label, found.id, found.texts, found.image) == (0, 1, (2,), 4)
    assert (found.table, found.notes) == ((3,), ())


def test_a_column_called_label_is_taken_and_said():
    found = roles(table(a=[1, 2], Label=["x", None]))
    assert found.label == 1
    assert found.notes == ("column Label was taken as the label.",)


@pytest.mark.parametrize("name", ["class", "target", "y", "labels"])
def test_no_other_name_makes_a_label(name):
    assert roles(table(a=[1, 2], **{name: ["x", None]})).label is None


def test_a_column_called_label_with_too_many_labels_is_not_taken():
    found = roles(table(label=[f"x{i}" for i in range(51)]))
    assert found.label is None
    assert found.notes == ("column label has 51 different labels and was not taken as the label.",)


def test_two_columns_called_label_are_not_chosen_between():
    assert roles(table(label=["x", "y"], LABEL=["x", "y"])).label is None


def test_a_column_called_id_that_names_each_row_is_taken_and_said():
    found = roles(table(ID=[7.0, 8.0], a=[1, 2]))
    assert found.id == 0
    assert found.notes == ("column ID was taken as the name of each row.",)


@pytest.mark.parametrize("cells", [[7, 7], [7, None], ["a", " a"], ["a", ""]])
def test_a_column_called_id_that_does_not_is_left_where_it_is(cells):
    found = roles(table(id=cells, a=[1, 2]))
    assert found.id is None
    assert found.notes == ("column id does not name each row once; rows are numbered.",)


@pytest.mark.parametrize(
    "columns",
    [
        {"PassengerId": [7, 30, 2]},
        {"order no": [7.0, 30.0, 2.0]},
        {"case": list(range(100, 130))},
        {"doc_id": ["d1", "d2", "d3"]},
    ],
)
def test_a_column_that_numbers_or_names_rows_is_the_id_of_a_file(columns):
    (name,) = columns
    given = table(size=[1.5] * len(columns[name]), **columns)
    assert roles(given).notes == (f"column {name} was taken as the name of each row.",)
    assert infer_roles(given, SourceSpec(Path()), has_index=True).id is None


def test_numbers_come_before_words_and_the_first_of_several_is_the_id():
    given = table(key=["x", "y"], nr=[5, 3], no=[1, 9])
    assert roles(given).id == 1
    assert roles(given, leave_out="nr").id == 2


def test_the_index_that_pandas_writes_without_a_name_is_the_id():
    names = [f"doc-{row}" for row in range(24)]
    assert roles(Table(("unnamed 1", "a"), (names, [1.5] * 24))).id == 0
    told = Table(
        ("unnamed 1", "a"), ([f"the story of the {name} of ours" for name in names], names)
    )
    assert roles(told).id is None


def test_a_column_is_no_id_if_a_user_says_what_it_is_or_it_is_known_to_be_none():
    numbered = table(visit_no=list(range(24)), a=[1.5] * 24)
    assert roles(numbered).id == 0
    assert roles(numbered, kinds={"visit_no": "number"}).id is None
    assert roles(numbered, no_roles=("visit_no", "another")).id is None


def test_columns_of_prose_are_taken_as_the_text():
    found = roles(table(age=[1, 2, 3], review=PROSE, town=["a", "b", "c"], title=PROSE[::-1]))
    assert (found.texts, found.table) == ((1, 3), (0, 2))
    assert found.notes == (
        "columns review and title were taken as the text; --text COLUMN,COLUMN chooses others.",
    )
    assert roles(table(review=PROSE, town=["a", "b", "a"])).notes == (
        "column review was taken as the text; --text COLUMN,COLUMN chooses others.",
    )


@pytest.mark.parametrize(
    "cells",
    [
        [*PROSE[:1] * 3],
        ["four words are few"] * 2 + ["so are these four"],
        [PROSE[0], "no", "yes"],
        [PROSE[0], PROSE[1], 7],
        [None, None, PROSE[0]],
        [None, None, None],
    ],
)
def test_other_columns_are_no_prose(cells):
    assert roles(table(words=cells)).texts == ()


def test_prose_with_gaps_is_still_prose():
    assert roles(table(review=[*PROSE, None])).texts == (0,)
    many = [f"{PROSE[0]} {i}" for i in range(11)]
    assert roles(table(review=[*many, *[None] * 50])).texts == (0,)


def test_a_column_that_is_called_a_text_may_have_short_ones():
    short = ["too salty", "a soft bed", "come again"]
    assert roles(table(**{"Review Title": short, "town": short})).texts == (0,)
    assert roles(table(title=["salty", "soft", "again"])).texts == ()
    assert roles(table(title=["too salty"] * 3)).texts == ()


def test_prose_that_has_another_role_is_no_text():
    assert roles(table(title=PROSE, review=PROSE), label="title").texts == (1,)
    assert roles(table(title=PROSE, review=PROSE), leave_out="title").texts == (1,)
    assert roles(table(title=PROSE, review=PROSE), kinds={"title": "category"}).texts == (1,)
    assert roles(table(title=PROSE, review=PROSE), text="title").texts == (0,)


def test_several_columns_may_be_named_with_commas():
    given = table(**{"a": PROSE, "b": PROSE, "a,b": PROSE, "c": [1, 2, 3]})
    assert roles(given, text="a, b").texts == (0, 1)
    assert roles(given, text="a,b").texts == (2,)  # there is a column of that name
    assert roles(given, text=("b", "a")).texts == (1, 0)


def test_only_what_is_to_be_used_is_learnt_from():
    given = table(a=[1, 5, 2], title=PROSE, b=[4, 4, 2], review=PROSE)
    found = roles(given, use="a,title")
    assert (found.texts, found.table) == ((1,), (0,))
    found = roles(given, use=("b",), text="review")
    assert (found.texts, found.table) == ((3,), (2,))
    assert roles(given, leave_out="a").table == (2,)


def test_a_column_that_is_to_be_used_is_used_although_it_would_be_left_out():
    given = table(nr=[7, 30, 2], ticket=["a1", "b2", "c3"], size=[1.0, 2.0, 2.0])
    assert roles(given, use="nr,ticket,size").kinds == {"nr": "number", "ticket": "category"}


def test_kinds_settle_roles_too():
    given = table(a=["x", "y"], b=[7, 8], c=PROSE[:2], d=["p", "q"], e=[1.0, 2.0])
    kinds = {"a": "label", "b": "id", "c": "text", "d": "picture", "e": "category"}
    found = roles(given, kinds=kinds)
    assert (found.label, found.id, found.texts, found.image) == (0, 1, (2,), 3)
    assert found.kinds == {"e": "category"}
    assert roles(given, kinds={"e": "left out", "b": "left out"}).table == (0, 3)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"kinds": {"a": "colour"}}, "columns must be one of 'number', 'category'"),
        ({"kinds": {"q": "text"}}, "columns must be a column of the data; got 'q'"),
        ({"kinds": {"a": "id", "b": "id"}}, "id must be one column; got 'a' and 'b'"),
        ({"kinds": {"a": "label"}, "label": "b"}, "label must be one column; got 'a' and 'b'"),
        ({"use": "a", "leave_out": "a"}, "leave_out must be another column than use; got 'a'"),
        ({"text": "a", "leave_out": "a"}, "leave_out must be another column than text; got 'a'"),
        ({"use": "a,q"}, "use must be a column of the data; got 'q'"),
        ({"leave_out": "q"}, "leave_out must be a column of the data; got 'q'"),
    ],
)
def test_wishes_that_contradict_each_other_are_refused(wanted, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        roles(table(a=["x", "y"], b=["x", "y"]), **wanted)


@pytest.mark.parametrize("role", ["label", "id", "text", "image"])
def test_a_column_that_is_not_there_is_refused_with_the_nearest(role):
    with pytest.raises(ValueError, match=rf"^{role} must be a column .*; got 'kinds'.* 'kind'\.$"):
        roles(table(kind=["x", "y"]), **{role: "kinds"})


def test_one_column_has_one_role():
    given = table(a=["x", "y"], b=["x", "y"])
    with pytest.raises(ValueError, match=r"^text must be another column than label; got 'a' for"):
        roles(given, label="a", text="a")
    assert roles(given, image="a", id="a").id == 0


@pytest.mark.parametrize("cells", [[1, 2], [None, None], [True, False]])
def test_a_text_column_must_hold_words(cells):
    with pytest.raises(ValueError, match=r"^text must be a column of words; got 'a', which has no"):
        roles(table(a=cells), text="a")


# ---------------------------------------------------------------- names of rows
def test_rows_without_names_are_called_by_their_places():
    assert row_ids(table(a=[5, 6, 7]), None) == (0, 1, 2)


def test_names_of_rows_come_from_their_column_and_keep_their_type():
    assert row_ids(table(a=[5.0, 6.5, "x"]), 0) == ("5", "6.5", "x")
    assert row_ids(table(a=[5.0, 6.0]), 0) == (5, 6)
    assert row_ids(table(a=[5.0, 6.5]), 0) == (5.0, 6.5)
    assert row_ids(table(a=["5", "6"]), 0) == ("5", "6")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([], NameType.TEXT),
        ([None], NameType.TEXT),
        ([1.0, None], NameType.WHOLE),
        ([1.5, 1], NameType.REAL),
        ([True, None], NameType.TRUTH),
        ([True, 1], NameType.TEXT),
        (["1"], NameType.TEXT),
    ],
)
def test_names_in_a_column_have_one_type(cells, kind):
    assert cell_type(cells) is kind


def test_two_rows_of_one_name_are_both_named():
    with pytest.raises(
        ValueError, match=r"^id must .* once; got '7' in rows 1 and 3 of column 'a'"
    ):
        row_ids(table(a=[7, 8, "7"]), 0)


def test_a_row_without_a_name_is_named():
    with pytest.raises(ValueError, match=r"^id must .* gaps; got none in row 2 of column 'a'"):
        row_ids(table(a=[7, None]), 0)


@given(st.lists(st.none() | st.text(max_size=2) | st.integers(0, 9) | st.floats(0, 2), min_size=1))
def test_names_are_unique_or_refused_in_one_sentence(cells):
    given = table(a=cells)
    found = text_cells(cells)
    if None in found or len(set(found)) < len(found):
        with pytest.raises(ValueError, match=r"^id must [^\n]*; got [^\n]*\.$"):
            row_ids(given, 0)
    else:
        assert tuple(map(str, row_ids(given, 0))) == found or cell_type(cells) is NameType.REAL


# ---------------------------------------------------------------- labels
def test_without_a_label_column_no_row_has_a_label():
    assert row_labels(table(a=[1, 2]), None, ("x", "y")) == ((None, None), ("x", "y"))


def test_rows_without_a_label_are_not_labelled_yet():
    assert row_labels(table(a=["x", None, ""]), 0, ()) == (("x", None, None), ("x",))


def test_numbers_are_ordered_by_size_and_words_by_spelling():
    assert row_labels(table(a=[10.0, 2.0, None, 1.5, -1]), 0, ())[1] == ("-1", "1.5", "2", "10")
    assert row_labels(table(a=["10", "2", None]), 0, ())[1] == ("10", "2")
    assert row_labels(table(a=[True, False]), 0, ())[1] == ("False", "True")


def test_labels_that_are_named_keep_their_order_and_must_be_all():
    given = table(a=[2.0, None, 1.0])
    assert row_labels(given, 0, ("2", "1", "3")) == (("2", None, "1"), ("2", "1", "3"))
    with pytest.raises(ValueError, match=r"^classes must have every .*; got '1' in row 3\. Add it"):
        row_labels(given, 0, ("2", "3"))


def test_fifty_labels_are_allowed_and_one_more_is_refused():
    assert len(row_labels(table(a=list(range(50))), 0, ())[1]) == 50
    with pytest.raises(ValueError, match=r"^label must .* at most 50 .*; got 'a' with 51\. Name"):
        row_labels(table(a=list(range(51))), 0, ())


def test_a_label_that_is_too_long_is_refused_with_its_row():
    assert row_labels(table(a=["x" * 200]), 0, ())[1] == ("x" * 200,)
    with pytest.raises(ValueError, match=r"at most 200 characters; got 201 in row 2 of column 'a'"):
        row_labels(table(a=["x", "x" * 201]), 0, ())


@pytest.mark.parametrize("classes", [(), ("a", "b"), tuple(f"{i}" for i in range(50))])
def test_classes_may_be_left_out_or_from_two_to_fifty(classes):
    check_classes(classes)


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        (("a",), "from 2 to 50 labels; got 1"),
        (tuple(f"{i}" for i in range(51)), "from 2 to 50 labels; got 51"),
        (("a", "b", "a"), "different; got 'a' twice"),
        (("a", ""), "1 to 200 characters, with no blanks around them; got ''"),
        (("a", " b"), "no blanks around them; got ' b'"),
        (("a", "b\0"), "got 'b.x00'"),
        (("a", "x" * 201), "of 1 to 200 characters"),
    ],
)
def test_other_classes_are_refused(classes, said):
    with pytest.raises(ValueError, match=rf"^classes must be .*{said}.*\.$"):
        check_classes(classes)


def test_classes_that_differ_only_by_case_or_blanks_are_refused():
    with pytest.raises(ValueError, match=r"^classes must differ .*; got 'not spam' and 'NotSpam'"):
        check_classes(("not spam", "spam", "NotSpam"))


@pytest.mark.parametrize("name", ["", " a", "a\nb", "a\x1b", "x" * 201])
def test_a_class_that_people_could_not_read_is_refused(name):
    assert schema.is_class_name("not sure")
    assert not schema.is_class_name(name)
    with pytest.raises(ValueError, match=r"^classes must be of 1 to 200 characters"):
        schema.check_classes(["b", name])


def test_columns_without_a_name_are_refused():
    table = Table(("a", "b"), ([1], [2]))
    assert schema.listed("use", ("a, b,",), table) == (0, 1)
    with pytest.raises(ValueError, match=r"^use must be a column of the data; got ''"):
        schema.listed("use", ("",), table)
