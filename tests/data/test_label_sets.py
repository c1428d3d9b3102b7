"""Label sets: one text for each set, whatever order it was written in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.data.label_sets import (
    LabelSyntax,
    check_member_name,
    check_members,
    check_texts,
    joined,
    label_set,
)

SETS, ONE = LabelSyntax.SEVERAL, LabelSyntax.ONE
names = st.text("abc é1", min_size=1, max_size=4).map(str.strip).filter(bool)
some = st.lists(names, max_size=5)


@given(some)
def test_a_set_is_read_as_it_was_written(members):
    assert SETS.members(SETS.text(members)) == tuple(sorted(set(members)))


@given(some)
def test_the_same_classes_in_any_order_are_one_label(members):
    text = SETS.text(members)
    assert SETS.text(reversed(members)) == text == SETS.clean(" | ".join([*members, *members]))


@given(some, st.dictionaries(names, names))
def test_a_rename_changes_each_member_and_merged_ones_are_one(members, new):
    def name_of(name):
        return new.get(name, name)

    renamed = SETS.renamed(SETS.text(members), name_of)
    assert set(SETS.members(renamed)) == {name_of(one) for one in members}


def test_no_class_at_all_is_a_label_too():
    assert SETS.text([]) == "none"
    assert SETS.members("none") == ()
    assert SETS.clean("none") == "none"


def test_where_rows_have_one_label_its_text_is_its_class():
    assert ONE.members("a|b") == ("a|b",)
    assert ONE.clean(" a|b") == " a|b"
    assert ONE.renamed("none", {"none": "nothing"}.__getitem__) == "nothing"
    assert LabelSyntax.of(multi=False) is ONE
    assert LabelSyntax.of(multi=True) is SETS


@pytest.mark.parametrize("name", ["a|b", "none", "None"])
def test_a_class_that_looks_like_a_set_is_refused(name):
    with pytest.raises(ValueError, match=f"must not hold .* got {name!r}".replace("|", r"\|")):
        check_member_name(name)


def test_a_label_lists_its_classes():
    assert label_set({"sport", "health"}) == ("health", "sport")
    assert label_set([]) == ()
    with pytest.raises(TypeError, match="label must list the classes of a row; got 'sport'"):
        label_set("sport")
    with pytest.raises(TypeError, match="label must be texts"):
        label_set([1])
    with pytest.raises(TypeError, match="classes must be texts"):
        check_texts("classes", ["a", 2])


def test_a_class_that_there_is_not_is_refused_with_the_nearest():
    check_members(("health",), ("health", "sport"))
    with pytest.raises(ValueError, match="Did you mean 'sport'"):
        check_members(("sports",), ("health", "sport"))


def test_a_cell_that_lists_classes_is_their_set():
    assert joined(["sport", "health"]) == joined(np.array(["health", "sport"])) == "health|sport"
    assert joined(()) == "none"
    assert joined("sport") == "sport"
    assert joined(None) is None
    with pytest.raises(TypeError, match="label must be texts"):
        joined([1, 2])
