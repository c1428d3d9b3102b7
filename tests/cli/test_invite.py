from pathlib import Path

import pytest
from support.begun import campaign, source

from possibal.cli import invite, main


@pytest.fixture(name="db")
def _db(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return campaign(source(Path()), "a.db")


def run(capsys, *arguments: str) -> str:
    """What a command prints, in one line."""
    assert main.main(arguments) == 0
    shown, told_of = capsys.readouterr()
    assert told_of == ""
    return " ".join(shown.split())


def test_the_command_is_one_of_the_command_line():
    assert main.COMMANDS["invite"][0] is invite.invite


def test_somebody_is_invited_listed_and_sent_away(db, capsys):
    said = run(capsys, "invite", db, "ann", "--address", "https://a.example", "--role", "owner")
    assert said.startswith("For ann: https://a.example/#join=")
    listed = run(capsys, "invite", db)
    assert "Invitations" in listed
    assert "ann" in listed
    assert "owner" in listed
    assert "open until" in listed
    assert run(capsys, "invite", db, "--withdraw", "1") == "Withdrew invitation 1."
    assert "ann" not in run(capsys, "invite", db)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ann"], "address must be given for a campaign that was never served; got none."),
        (["--withdraw", "7"], "invitation must be one that there is; got number 7."),
        (["ann", "--days", "0", "--address", "https://a"], "days must be more than 0"),
        (["ann", "--address", "https://a/b"], "address must be http or https and a name"),
        (["ann", "--role", "king"], "Invalid value for '--role'"),
    ],
)
def test_mistakes_are_told_in_a_sentence(db, capsys, arguments, sentence):
    assert main.main(["invite", db, *arguments]) == 2
    shown, told_of = capsys.readouterr()
    assert (shown, sentence in told_of, told_of.count("\n")) == ("", True, 1)
