import sys
from functools import cache, partial, wraps
from pathlib import Path
from textwrap import dedent

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from possibal import acquisition
from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.scoring import PROBABILITY_STRATEGIES
from possibal.estimators.logistic import PossibilisticLogisticRegression
from possibal.experiments.strategies import (
    checked_model,
    resolve_model,
    resolve_strategy,
    strategy_source,
    usual_strategies,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that we are in, and nothing of which is left behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def refusal(name):
    with pytest.raises(ValueError, match=r"^strategy must ") as e:
        resolve_strategy(name)
    return str(e.value)


# ---------------------------------------------------------------- by name


@pytest.mark.parametrize("name", STRATEGIES)
def test_one_of_ours_is_found_by_its_name(name):
    assert resolve_strategy(name) is STRATEGIES[name]


def test_a_name_that_is_not_ours_is_refused_and_the_nearest_offered():
    sentence = refusal("necessit")
    assert sentence.startswith("strategy must be one of 'herding', 'look_ahead', 'necessity', ")
    assert sentence.endswith("; got 'necessit'. Did you mean 'necessity'?")


def test_a_function_is_found_in_a_module_of_the_folder_we_are_in(folder):
    (folder / "mine_here.py").write_text("def first(view):\n    return -view.candidates[:, 0]\n")
    found = resolve_strategy("mine_here:first")
    assert found.__name__ == "first"
    assert resolve_strategy("mine_here:first") is found
    assert sys.path.count(str(folder)) == 1


def test_a_function_is_found_in_a_package_that_is_installed():
    assert resolve_strategy("possibal.acquisition.pointwise:doubt") is acquisition.doubt


def test_anything_that_can_be_called_will_do(folder):
    (folder / "mine_object.py").write_text(
        "class Ask:\n    def __call__(self, view):\n        return view.rows\nask = Ask()\n"
    )
    assert callable(resolve_strategy("mine_object:ask"))


@pytest.mark.parametrize("name", ["mine_missing:f", "mine_missing.part:f"])
def test_a_module_that_is_nowhere_is_refused(folder, name):
    assert not list(folder.iterdir())
    assert refusal(name) == (
        f"strategy must name a module that can be imported; got {name!r} (ModuleNotFoundError: "
        "No module named 'mine_missing'). Check its spelling and its folder."
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", [":f", ".mine:f"])
def test_half_a_name_is_refused(name):
    assert refusal(name).startswith(
        f"strategy must name a module that can be imported; got {name!r}"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("def f(view)\n", "SyntaxError: expected ':' (mine_broken.py, line 1)"),
        ("import nothing_of_the_kind\n", "ModuleNotFoundError: No module named"),
    ],
    ids=["raises", "not Python", "imports what is not there"],
)
def test_a_module_that_fails_when_it_is_imported_is_refused(folder, text, told):
    (folder / "mine_broken.py").write_text(text)
    sentence = refusal("mine_broken:f")
    assert sentence.startswith(
        "strategy must name a module that can be imported; got 'mine_broken:f'"
    )
    assert told in sentence


@pytest.mark.parametrize("function", ["second", "NUMBER", ""])
def test_what_is_no_function_of_the_module_is_refused(folder, function):
    (folder / "mine_other.py").write_text("NUMBER = 3\ndef first(view):\n    return 0\n")
    assert refusal(f"mine_other:{function}") == (
        f"strategy must name a function of its module; got 'mine_other:{function}'. "
        f"Define {function or 'one'} in mine_other."
    )


# ---------------------------------------------------------------- its source


def decorated(function):
    @wraps(function)
    def inner(view):
        return function(view)

    return inner


class Asker:
    def __call__(self, view):
        return view.candidates[:, 0]


def plain(view):
    return view.candidates[:, 0]


@pytest.mark.parametrize(
    "function",
    [plain, decorated(plain), cache(plain), partial(plain), Asker(), Asker().__call__],
    ids=["plain", "decorated", "cached", "partial", "object", "method"],
)
def test_the_source_is_the_file_that_holds_the_strategy(function):
    assert strategy_source(function) == Path(__file__).read_text("utf-8")


def test_a_strategy_decorated_by_us_is_known_by_its_own_file(folder):
    (folder / "mine_score.py").write_text(
        dedent("""
        # naïve, and not ours
        from possibal.acquisition.scoring import one_per_latent, score

        @score(size=one_per_latent)
        def spread(belief):
            return belief.variance[0]
        """),
        encoding="utf-8",
    )
    found = resolve_strategy("mine_score:spread")
    assert strategy_source(found) == (folder / "mine_score.py").read_text("utf-8")
    assert "naïve" in strategy_source(found)


def test_a_file_in_another_encoding_has_a_source_too(folder):
    text = "# -*- coding: latin-1 -*-\n# na\xefve\ndef f(view):\n    return view.candidates[:, 0]\n"
    (folder / "mine_latin.py").write_bytes(text.encode("latin-1"))
    assert "def f(view)" in strategy_source(resolve_strategy("mine_latin:f"))


def test_a_function_without_a_file_is_known_by_what_it_is_called():
    assert strategy_source(len) == "<built-in function len>"
    space = {}
    exec("def f(view):\n    return 0", space)  # noqa: S102 - there is no other way to have none
    assert strategy_source(space["f"]) == repr(space["f"])


def test_a_function_of_mean_and_variance_is_found_and_its_source_too(folder):
    text = "def closest(mean, variance):\n    return -abs(mean) / variance\n"
    (folder / "mine_moments.py").write_text(text)
    found = resolve_strategy("mine_moments:closest")
    assert found([2.0], [4.0]).tolist() == [-0.5]
    assert strategy_source(found) == text


def test_a_classifier_is_found_by_its_name(folder):
    (folder / "mymodels.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        "model = LogisticRegression(C=2.0)\n"
        "number = 5\n\n\n"
        "def made():\n    return LogisticRegression(C=3.0)\n"
    )
    assert resolve_model("mymodels:model").C == 2.0
    assert resolve_model("mymodels:made").C == 3.0
    for name in ("mymodels:number", "mymodels:none", "mymodels:LogisticRegression"):
        with pytest.raises(ValueError, match="classifier must name a classifier of its module"):
            resolve_model(name)
    with pytest.raises(ValueError, match="classifier must be module:name; got 'model'"):
        resolve_model("model")


def test_what_is_compared_by_default_is_what_a_model_can_be_asked():
    assert usual_strategies(None) == ()
    assert usual_strategies(PossibilisticLogisticRegression()) == ()
    piped = make_pipeline(StandardScaler(), LogisticRegression())
    for model in (LogisticRegression(), piped):
        found = usual_strategies(model)
        assert found == PROBABILITY_STRATEGIES
        named = {name: STRATEGIES[name] for name in found}
        assert checked_model(model, named, "envelope") is model
