"""Which campaign a command is about where nobody names one."""

from pathlib import Path

import pytest
from support.begun import campaign, clouds, source

from possibal.cli import main
from possibal.cli.campaign_here import LISTED, is_campaign_name
from possibal.labelling.storage.store import Store


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(name="db")
def _db():
    """A campaign with twelve answers, alone in its folder."""
    db = campaign(source(Path()), "a.db")
    clouds(db, 12)
    return db


def refusal(capsys, *arguments: str) -> str:
    """The one line that a mistake gets."""
    assert main.main(arguments) == 2
    shown, told = capsys.readouterr()
    assert (shown, told.count("\n")) == ("", 1)
    return told


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize(
    "line",
    [
        ["status"],
        ["export"],
        ["classes"],
        ["check", "--rows", "3"],
        ["model"],
        ["backup", "--to", "b"],
    ],
    ids=lambda line: line[0],
)
def test_the_only_campaign_of_a_folder_is_found_and_named(line, capsys):
    Path("folder.db").mkdir()
    Path(".hidden.db").touch()
    assert main.main(line) == 0
    shown, told = capsys.readouterr()
    assert told == "The campaign is a.db, the only .db file here.\n"
    assert shown


def test_labels_are_brought_into_the_only_campaign(db, capsys):
    Path("more.csv").write_text("id,label\nr20,small\n")
    assert main.main(["import", "more.csv"]) == 0
    assert "Added 1 answers from more.csv" in capsys.readouterr().out
    with Store.open(db, writes=False) as store:
        assert len(store.events()) == 13


def test_people_are_invited_to_the_only_campaign_or_to_the_one_named(db, capsys):
    line = ["ann", "bob", "--address", "https://a.example"]
    for given in ([], [db]):
        assert main.main(["invite", *given, *line]) == 0
        said = capsys.readouterr().out
        assert "For ann: " in said
        assert "For bob: " in said
        assert "For a.db" not in said


def test_several_campaigns_are_listed_in_one_sentence(db, capsys):
    for place in range(LISTED):
        Path(f"b{place}.db").touch()
    said = refusal(capsys, "status")
    assert said.startswith("possibal: db must be given where several .db files are; got none, and ")
    assert f"{db}, b0.db, b1.db" in said
    assert said.endswith("b8.db and 1 more. Name one of them.\n")


def test_no_campaign_is_one_sentence(capsys):
    assert refusal(capsys, "export").startswith(
        "possibal: db must be given; got none, and no .db file is here. Name one, such as "
    )


@pytest.mark.usefixtures("db")
def test_an_empty_name_is_no_leave_to_choose(capsys):
    assert "db must" in refusal(capsys, "status", "")


@pytest.mark.parametrize(
    ("word", "is_campaign"),
    [("ann", False), ("none.db", True), ("postgresql://a@b/c", True), ("a.db", True), ("", False)],
)
def test_words_that_name_campaigns_are_told_from_people(word, is_campaign):
    assert is_campaign_name(word) == is_campaign
