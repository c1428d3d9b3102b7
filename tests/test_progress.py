from contextlib import nullcontext

import pytest

from possibal.progress import announce, bar, no_stages, patient_shares, shares


@pytest.fixture
def watched(monkeypatch):
    """A person at a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")


def test_nobody_watching_sees_no_bar(capsys):
    with bar(2) as show:
        show("half", 1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("watched")
def test_a_person_sees_what_is_done_and_how_much(capsys):
    with bar(8) as show:
        show("wine", 2)
        show("iris", 4)
    shown, told = capsys.readouterr()
    assert not shown
    assert "wine" in told  # however soon other words follow
    assert "iris" in told
    assert "75%" in told


def test_the_bar_is_told_what_came_since(monkeypatch):
    told = []
    made = nullcontext(lambda words, done: told.append((words, done)))
    monkeypatch.setattr("possibal.progress.bar", lambda _total: made)
    with shares() as tell:
        for share in (0.25, 0.25, 0.125, 1.0):
            tell("reading A.csv", share)
    assert told == [("Reading A.csv", done) for done in (0.25, 0.0, 0.0, 0.75)]


@pytest.mark.usefixtures("watched")
def test_short_work_has_no_bar(capsys):
    with patient_shares() as tell:
        tell("reading", 0.5)
        tell("reading", 1.0)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("watched")
def test_long_work_has_a_bar_that_begins_where_the_work_is(capsys, monkeypatch):
    monkeypatch.setattr("possibal.progress.PATIENCE", 0.0)
    with patient_shares() as tell:
        tell("reading", 0.25)
        tell("making features", 0.75)
    told = capsys.readouterr().err
    assert "Reading" in told
    assert "Making features" in told
    assert "75%" in told


def test_long_work_that_nobody_watches_is_quiet(capsys, monkeypatch):
    monkeypatch.setattr("possibal.progress.PATIENCE", 0.0)
    with patient_shares() as tell:
        tell("reading", 0.5)
    no_stages("reading", 0.5)
    assert capsys.readouterr() == ("", "")


def test_what_begins_is_told_to_whoever_watches(capsys, monkeypatch):
    announce("Starting.")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    announce("Starting.")
    assert capsys.readouterr() == ("", "Starting.\n")
