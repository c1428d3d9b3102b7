import pytest

from possibal.arguments import at_least, check_listed, choice, is_hashable, nearest, suggest


def test_a_known_name_gives_its_entry():
    assert choice("fruit", "apple", {"apple": 1, "pear": 2}) == 1


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("aple", "Did you mean 'apple'?"),
        ("APPLE", "Did you mean 'apple'?"),
        ("zzz", "Choose one"),
        (3, "Choose one of these."),
    ],
)
def test_an_unknown_name_gets_one_sentence(name, remedy):
    with pytest.raises(ValueError, match="fruit must be one of 'apple', 'pear'") as error:
        choice("fruit", name, {"apple": 1, "pear": 2})
    assert f"; got {name!r}. {remedy}" in str(error.value)


def test_whole_numbers_have_a_least():
    assert at_least("runs", 2, 2) == 2
    with pytest.raises(ValueError, match=r"runs must be at least 2; got 1\. Use 2 or"):
        at_least("runs", 1, 2)


def test_a_list_cannot_be_looked_up():
    assert not is_hashable([1])
    assert is_hashable((1, "a"))


def test_a_suggestion_is_the_nearest_name_or_another_remedy():
    assert suggest("aple", ["pear", 3, "Apple"], "Add it.") == "Did you mean 'Apple'?"
    assert suggest(3, ["pear", 3], "Add it.") == "Add it."


def test_names_near_another_are_the_nearest_first_and_no_more_than_three():
    assert nearest("row", ["Rows", "row 1", "x", "rowe", "row number"]) == ["Rows", "rowe", "row 1"]


@pytest.mark.parametrize("given", ["yes", b"yes", 7, None])
def test_what_is_no_list_is_refused(given):
    check_listed("classes", ["yes"])
    with pytest.raises(TypeError, match=r"^classes must be a list; got .*\. Write classes=\["):
        check_listed("classes", given)
