"""A campaign in a notebook: progress, balance of the classes, advice, and the next rows."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from possibal.campaign.stopping import Advice

LONGEST = 80
"""Characters of a cell that are shown."""
BOX = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;max-width:60em"
BAR = "background:#8884;border-radius:3px;height:6px;margin:4px 0"
FILLED = "background:#4c78a8;border-radius:3px;height:6px"
TABLE = "border-collapse:collapse;margin-top:6px;font-size:inherit"
CELL = "text-align:left;padding:2px 10px 2px 0;vertical-align:top;white-space:normal"


@dataclass(frozen=True)
class NextRow:
    """A row that comes next: its id, what is shown of it, and why it is asked about."""

    id: Hashable
    cells: Mapping[str, object]
    why: str


def campaign_html(  # noqa: PLR0913 - what there is to see
    head: str,
    rows: int,
    balance: Mapping[Hashable, int],
    advice: Advice,
    following: Sequence[NextRow],
    *,
    done: int | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The campaign as a fragment of HTML; whatever comes from the user is escaped.

    Args:
        head: what it is.
        rows: how many there are.
        balance: how many rows have each label.
        advice: whether to go on.
        following: the rows that come next.
        done: how many rows have a label, if that is not the sum of the balance.
        notes: how the rows were read.
    """
    done = sum(balance.values()) if done is None else done
    counts = ", ".join(f"{_shown(label)}: {count}" for label, count in balance.items())
    share = f"{100 * done / rows:.1f}"
    lines = [
        f"<b>{escape(head)}</b>, {done} of {rows} rows have a label. {counts}",
        f'<div style="{BAR}"><div style="{FILLED};width:{share}%"></div></div>',
        f"<b>{escape(advice.state.value.capitalize())}.</b> {escape(advice.reason)}",
        _table(following) if following else "",
        _notes(notes) if notes else "",
    ]
    return f'<div style="{BOX}">{"".join(lines)}</div>'


def _table(following: Sequence[NextRow]) -> str:
    """The rows that come next."""
    names = ("next", *following[0].cells, "why")
    heads = "".join(_cell(_shown(name), "th") for name in names)
    lines = (
        "".join(map(_cell, [*map(_shown, (row.id, *row.cells.values())), escape(row.why)]))
        for row in following
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table style="{TABLE}"><tr>{heads}</tr>{body}</table>'


def _notes(notes: Sequence[str]) -> str:
    """Sentences that are shown when somebody wants to read them."""
    lines = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<details><summary>How the rows were read</summary><ul>{lines}</ul></details>"


def _cell(shown: str, tag: str = "td") -> str:
    """One cell."""
    return f'<{tag} style="{CELL}">{shown}</{tag}>'


def _shown(value: object) -> str:
    """A value as people read it, escaped; long ones are cut."""
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")
