"""Names keep their type through text: what was written is read as what it was."""

import datetime as dt
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.data.name_types import NameType, name_type, written

ONE_TYPE = st.one_of(
    st.lists(st.text()),
    st.lists(st.integers()),
    st.lists(st.booleans()),
    st.lists(st.floats(allow_nan=False)),
    st.lists(st.dates()),
    st.lists(st.datetimes()),
)


@given(ONE_TYPE)
def test_names_of_one_type_come_back_as_they_were(names):
    kept = name_type("ids", names)
    again = [kept.read(written(name)) for name in names]
    assert again == names
    assert list(map(type, again)) == list(map(type, names))


def test_numpys_names_are_pythons():
    assert name_type("ids", np.array([3, 4])) is NameType.WHOLE
    assert written(np.int64(3)) == "3"
    assert name_type("classes", np.array([True])) is NameType.TRUTH


def test_no_names_are_text():
    assert name_type("classes", []) is NameType.TEXT


@pytest.mark.parametrize("text", ["spam", "007", " 7", "1_0", "7.0"])
def test_a_name_of_another_type_stays_text(text):
    assert NameType.WHOLE.read(text) == text


def test_names_of_two_types_are_refused():
    with pytest.raises(ValueError, match=re.escape("ids must be of one type; got 1 and 'a'.")):
        name_type("ids", [1, "a"])


def test_what_is_no_name_is_refused():
    with pytest.raises(ValueError, match="ids must be text, numbers or dates"):
        name_type("ids", [(1, 2)])
    with pytest.raises(ValueError, match="got datetime"):
        name_type("ids", [dt.timedelta(1)])
