import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.begun import campaign, clouds, source

import possibal
from possibal.cli import classes, main
from possibal.labelling.storage.store import Store

HERE = {**os.environ, "PYTHONPATH": str(Path(possibal.__file__).parents[1])}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(name="db")
def _db():
    """A campaign of thirty rows, twelve of them labelled."""
    db = campaign(source(Path()), "a.db")
    clouds(db, 12)
    return db


def run(capsys, *arguments: str) -> str:
    """What a command prints, in one line."""
    assert main.main(arguments) == 0
    shown, told_of = capsys.readouterr()
    assert told_of == ""
    return " ".join(shown.split())


def test_the_commands_are_those_of_the_command_line():
    assert main.COMMANDS["classes"][0] is classes.classes
    assert main.COMMANDS["check"][0] is classes.check


def test_classes_are_listed_with_their_rows(db, capsys):
    shown = run(capsys, "classes", db)
    assert "Classes" in shown
    assert "│ small │ 6 │ │ │ │ large │ 6 │ │ │" in shown


def test_classes_are_changed_and_what_was_done_is_said(db, capsys):
    shown = run(
        capsys,
        *("classes", db, "--add", "odd", "--rename", "small=tiny", "--merge", "large=odd"),
        *("--describe", "tiny=Fits in a hand.", "--colour", "tiny=#3366CC"),
    )
    assert shown.startswith(
        "Class “odd” added. Class “small” renamed to “tiny”. Class “large” merged with “odd”. "
        "Class “tiny” described. Class “tiny” described."
    )
    assert "│ tiny │ 6 │ #3366cc │ Fits in a hand. │" in shown
    assert "│ odd │ 6 │" in shown


def test_a_class_that_no_row_has_is_removed_and_brought_back(db, capsys):
    run(capsys, "classes", db, "--add", "odd")
    assert "odd │" not in run(capsys, "classes", db, "--remove", "odd")
    shown = run(capsys, "classes", db, "--undo")
    assert shown.startswith("Undone: class “odd” removed.")
    assert "│ odd │ 0 │" in shown


def test_check_rows_are_drawn(db, capsys):
    shown = run(capsys, "check", db, "--rows", "15")
    assert shown.startswith("There are 15 check rows now, of which ")
    assert "15 more check rows" in run(capsys, "classes", db, "--undo")


def test_a_mistake_is_one_line_and_nothing_is_written(db, capsys):
    for line in (
        ["classes", db, "--add", "odd", "--remove", "small"],
        ["check", db, "--rows", "16"],
        ["check", "none.db"],
    ):
        assert main.main(line) == 2
        assert capsys.readouterr().err.count("\n") == 1
    with Store.open(db, writes=False) as store:
        assert len(store.events()) == 12


def test_a_file_that_a_page_holds_is_listed_but_not_changed(db, capsys):
    with Store.open(db):
        assert "small" in run(capsys, "classes", db)
        assert main.main(["classes", db, "--add", "odd"]) == 2
        assert "db must not be in use" in capsys.readouterr().err


def test_classes_are_listed_without_what_is_slow_to_import(db):
    line = (
        "import sys; from possibal.cli.main import main; main(['classes', sys.argv[1]]); "
        "slow = {'scipy', 'sklearn'} & set(sys.modules); sys.exit(str(slow) if slow else 0)"
    )
    given = [sys.executable, "-c", line, db]
    done = subprocess.run(given, env=HERE, capture_output=True, text=True)  # noqa: S603, PLW1510 - our own code
    assert (done.returncode, done.stderr) == (0, "")
