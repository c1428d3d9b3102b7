"""Texts that people write about a campaign: its guidelines, and comments on rows.

event = revised(text, who="ann")          event = commented(row, text, who="ann")

Both are events, so that they can be undone and several servers agree on them.
"""

from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from possibal.data.decoding import CONTROL, LINE_END, check_folder, decode, read_file
from possibal.errors import RefusedError
from possibal.labelling.storage.journal import TEXT, Event, Kind
from possibal.labelling.storage.store import clock

LONGEST = {Kind.COMMENT: 2_000, Kind.GUIDELINES: 20_000}
"""Characters of each kind of text."""
NAMES = {Kind.COMMENT: "comment", Kind.GUIDELINES: "guidelines"}


def text_detail(text: str) -> Mapping[str, str]:
    """The detail of an event with a text; line ends are alike, and none is left at its ends."""
    return {TEXT: "\n".join(line.rstrip() for line in LINE_END.split(text)).strip()}


def revised(text: str, who: str) -> Event:
    """Other guidelines; none if there is no text."""
    return Event(uuid4().hex, Kind.GUIDELINES, who, clock(), detail=text_detail(text))


def commented(row: int, text: str, who: str) -> Event:
    """Another comment of a person on a row; none if there is no text."""
    return Event(uuid4().hex, Kind.COMMENT, who, clock(), row, detail=text_detail(text))


def text_of(event: Event | None) -> str:
    """The text of an event; nothing if there is none."""
    return ((event and event.detail) or {}).get(TEXT, "")


def check_text(event: Event) -> None:
    """Refuse a text that is too long, or that nobody can read."""
    text, most, name = text_of(event), LONGEST[event.kind], NAMES[event.kind]
    if len(text) > most:
        raise RefusedError(
            f"{name} must be of at most {most:,} characters; got {len(text):,}. Shorten it."
        )
    if CONTROL.search(text):
        raise RefusedError(
            f"{name} must be without control characters; got {text[:30]!r}. Take them out."
        )


def read_guidelines(path: Path) -> str:
    """The guidelines that a file of text holds."""
    check_folder(path)
    if path.is_file() and not path.read_bytes().strip():
        raise ValueError(
            f"guidelines must have text; got none in {str(path)!r}. "
            "Write them, or take them away in the page."
        )
    event = revised(decode(read_file(path, None, lambda _: None)), "file")
    check_text(event)
    return text_of(event)
