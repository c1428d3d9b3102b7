import inspect

from possibal import errors
from possibal.errors import summary


def test_every_error_stands_in_the_tree_of_the_module():
    for name, error in inspect.getmembers(errors, inspect.isclass):
        assert issubclass(error, errors.PossibalError | Warning)
        assert name in errors.__doc__


def test_a_summary_is_the_first_sentence_of_who_found_out():
    assert summary(ValueError("one thing. and another\nthing")) == "one thing"
    assert summary(ValueError("x" * 500)) == "x" * 120
    assert summary(ValueError()) == "ValueError"
    assert summary(OSError(2, "no such file", "a.csv")) == "no such file"
