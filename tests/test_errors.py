import inspect

from possibal import errors


def test_every_error_stands_in_the_tree_of_the_module():
    for name, error in inspect.getmembers(errors, inspect.isclass):
        assert issubclass(error, errors.PossibalError | Warning)
        assert name in errors.__doc__
