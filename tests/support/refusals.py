"""How the command line refuses what it cannot do: in one sentence, and with nothing written."""

import hashlib
import re
from pathlib import Path

from possibal.cli import main

SENTENCE = re.compile(r"[A-Za-z_. ]+ must [^\n]*; got [^\n]*[.?]")
"""<argument> must <rule>; got <what>. <What to do>."""
HELP = re.compile(r"[^\n]+\. See possibal [a-z]+ --help\.")
"""Of a line that cannot be parsed."""


def listing(folder: Path) -> dict[str, str]:
    """Everything in a folder with a hash of its content; the lock of a campaign is no content."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
        if not (path.suffix == ".lock" and path.with_suffix("").exists())
    }


def refused(capsys, arguments: list[str], form: re.Pattern[str] = SENTENCE) -> str:
    """The one sentence with which a command ends, after which all is as before."""
    before = listing(Path())
    assert main.main(arguments) == 2
    out, err = capsys.readouterr()
    assert listing(Path()) == before
    assert "Label at" not in out
    assert err.startswith("possibal: ")
    assert err.endswith("\n")
    assert form.fullmatch(err[len("possibal: ") : -1]), err
    return err
