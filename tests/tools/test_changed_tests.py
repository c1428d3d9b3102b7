"""Which tests `make check` runs."""

from pathlib import Path

import changed_tests
import pytest
from support.slow import SLOW

FOUND = [
    ("src/possibal/gp/pending.py", {"gp/test_pending.py", "campaign/test_batch.py"}),
    ("src/possibal/labelling/web/static/page.js", {"labelling/web"}),
    ("docs/tutorials/texts.md", {"system/test_guides.py"}),
    ("tests/theory/test_finite.py", {"theory/test_finite.py"}),
    ("tests/support/reference_gp.py", {"gp/test_laplace.py"}),
]


@pytest.mark.parametrize(("file", "expected"), FOUND)
def test_a_change_needs_its_own_tests_and_those_of_its_importers(file, expected, monkeypatch):
    monkeypatch.chdir(changed_tests.ROOT)
    found = set(changed_tests.tests_of(Path(file)))
    assert {Path("tests") / name for name in expected} <= found
    assert all(path.exists() for path in found)


@pytest.mark.parametrize("file", ["src/possibal/gone.py", "tests/test_gone.py", "docs/scale.md"])
def test_what_is_gone_or_no_code_needs_no_tests_of_its_own(file, monkeypatch):
    monkeypatch.chdir(changed_tests.ROOT)
    assert not list(changed_tests.tests_of(Path(file)))


def test_a_module_that_all_import_needs_its_own_tests_alone(monkeypatch):
    monkeypatch.chdir(changed_tests.ROOT)
    assert list(changed_tests.tests_of(Path("src/possibal/arrays.py"))) == [
        Path("tests/test_arrays.py")
    ]


def test_without_a_change_there_is_a_quick_selection(monkeypatch, capsys):
    monkeypatch.setattr(changed_tests, "changed", list)
    monkeypatch.chdir(changed_tests.ROOT)
    changed_tests.main()
    printed = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert printed == [*changed_tests.ALWAYS, *changed_tests.QUICK]
    assert all(path.exists() for path in printed)


@pytest.mark.parametrize("path", SLOW, ids=lambda path: path.name)
def test_what_is_said_to_be_slow_exists(path):
    assert path.exists()
