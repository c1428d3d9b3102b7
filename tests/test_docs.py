"""What the documentation says is what the code has."""

import inspect
import re
import tomllib
from pathlib import Path

import possibal
from possibal import acquisition, errors
from possibal.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_readme_lists_the_registry_as_it_is():
    table = re.findall(r"^\| `(\w+)` \| (Asks .*) \|$", README, flags=re.MULTILINE)
    registry = acquisition.STRATEGIES.items()
    assert table == [(name, inspect.getdoc(s).splitlines()[0]) for name, s in registry]


def test_every_score_is_in_the_readme():
    scores = [
        name
        for name, member in inspect.getmembers(acquisition, inspect.isfunction)
        if member.__module__ == acquisition.__name__
        and not name.startswith("_")
        and name != "score"
    ]
    for name in scores:
        assert f"`{name}`" in README or f"`acquisition.{name}`" in README


def test_every_command_is_documented():
    text = README + (ROOT / "CHANGELOG.md").read_text()
    for name in COMMANDS:
        assert f"possibal {name}" in text


def test_versions_agree():
    assert PROJECT["project"]["version"] == possibal.__version__
    assert f"version: {possibal.__version__}" in (ROOT / "CITATION.cff").read_text()
    least = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f"Python {least} or newer" in README


def test_the_readme_gives_the_two_commands_and_the_makefile_has_them():
    makefile = (ROOT / "Makefile").read_text()
    for task in re.findall(r"\bmake (\w+)\b", README + (ROOT / "CONTRIBUTING.md").read_text()):
        assert re.search(rf"^{task}:", makefile, flags=re.MULTILINE), task


def test_every_capital_letter_is_in_the_notation():
    names = PROJECT["tool"]["ruff"]["lint"]["pep8-naming"]["ignore-names"]
    notation = (ROOT / "docs/notation.md").read_text()
    for name in names:
        assert re.search(rf"(?<![A-Za-z_]){name}(?![A-Za-z_])", notation), name


def test_pictures_and_links_of_the_readme_exist():
    for target in re.findall(r"\]\(([\w./-]+)\)", README):
        assert (ROOT / target).exists(), target


def test_public_names_are_what_they_promise():
    for name in possibal.__all__:
        assert getattr(possibal, name).__doc__
    assert issubclass(errors.MissingPackageError, ImportError)


def test_every_public_name_is_there_and_listed():
    assert set(possibal.__all__) <= set(dir(possibal))
    for name in possibal.__all__:
        assert getattr(possibal, name) is not None
