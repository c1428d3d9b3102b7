"""What a widget and its campaign say to each other: actions come in, and views go out as JSON.

exchange = LabellingExchange(campaign, publish)        exchange.receive(action)

An action names its row and its class, never a place among those shown, and has a key of its own:
one that comes twice counts once. An answer is kept before anything else is worked out. Whatever
cannot be done is told in one sentence, and the view goes on.
"""

import warnings
from base64 import b64encode
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from possibal.arrays import as_python
from possibal.campaign.question import QuestionField, RowQuestion
from possibal.data.thumbnails import BROKEN, make_thumbnail
from possibal.errors import AlreadyAnsweredError, PossibalError, summary

if TYPE_CHECKING:  # which shows the widget itself
    from possibal.campaign.interface import CampaignInterface

View: TypeAlias = dict[str, Any]
"""What is shown, as values of JSON."""
SIDE = 720
"""Points on the longer side of a picture."""
REMEMBERED = 1000
"""Actions of which it is known that they came already."""
TOLD = 20
"""Of these, how many the browser is told of."""
LONGEST_TEXT = 20_000
"""Characters of a text or a cell that are shown."""
OTHERS = ("skip", "unsure", "bad")
"""What may be said of a row beside its class, where a campaign knows it."""
SAYINGS = {"skip": "skipped for now", "unsure": "not sure", "bad": "row dropped"}
"""What is said when it is done, as the page says it."""

NOTHING: View = {
    "rows": 0,
    "labels": 0,
    "left": 0,
    "advice": {"state": "go on", "reason": ""},
    "classes": [],
    "others": [],
}
"""What is known of a campaign that cannot be read."""


@dataclass(frozen=True)
class _ActionOutcome:
    """What became of the last action: a sentence, and what went wrong, if anything did."""

    done: str = ""
    problem: str = ""


@dataclass
class _Names:
    """Values by the text that stands for them in the browser: 1 and "1" are two."""

    values: dict[str, Hashable] = field(default_factory=dict[str, Hashable])

    def key(self, value: Hashable) -> str:
        """The text that stands for a value from now on."""
        found = f"{type(value).__name__} {value}"
        self.values[found] = value
        return found

    def read(self, argument: str, key: object) -> Hashable:
        """The value that a text stands for."""
        if not isinstance(key, str) or key not in self.values:
            raise ValueError(f"{argument} must be one that was shown; got {key!r}. Look again.")
        return self.values[key]


class LabellingExchange:
    """One person's labelling in a notebook; actions may come from any thread, one at a time."""

    def __init__(
        self,
        campaign: "CampaignInterface",
        publish: Callable[[View], None],
        show: Callable[[Any], Any] | None = None,
    ) -> None:
        """Ask the first question.

        Args:
            campaign: to label.
            publish: told every view, as soon as there is a new one.
            show: what a person is to see of a row, by its id; None for what the campaign has.
        """
        self._campaign, self._publish, self._show = campaign, publish, show
        self._lock, self._rows, self._classes = RLock(), _Names(), _Names()
        self._taken = dict[str, None]()
        self._row: Hashable | None = None
        self._number = 0
        self._known = NOTHING
        self._acts: dict[str, Callable[[Mapping[str, Any]], _ActionOutcome]] = {
            "answer": self._answer,
            "undo": self._undo,
            "class": self._add_class,
            "choose": self._choose,
            "look": self._look,
            **dict.fromkeys(OTHERS, self._other),
        }
        self._tell(self._ask(_ActionOutcome()))

    # ------------------------------------------------------------ actions

    def receive(self, action: Mapping[str, Any]) -> None:
        """Do what a person wants, and show what comes of it."""
        with self._lock:
            key, act = action.get("key"), self._acts.get(str(action.get("act")))
            if act is None or (isinstance(key, str) and key in self._taken):
                self._tell(_ActionOutcome())
                return
            if isinstance(key, str):
                self._taken = dict.fromkeys([*self._taken, key][-REMEMBERED:])
            said = self._tried(lambda: act(action))
            self._tell(self._tried(lambda: self._go_on(said), said))

    def _go_on(self, said: _ActionOutcome) -> _ActionOutcome:
        """Find the next row, if the one that is shown wants nothing more; what was said stays."""
        if not self._is_open():
            self._tell(said, is_busy=True)
            return self._ask(said)
        return said

    def map(self) -> View:
        """The rows in the plane, and what the classes are called; or why there is no map."""
        with self._lock:
            found: View = {"classes": [str(one) for one in self._campaign.classes], "points": []}
            said = self._tried(lambda: (found.update(points=self._points()), _ActionOutcome())[1])
            return {**found, "problem": said.problem}

    def _points(self) -> list[View]:
        """The rows in the plane."""
        return [
            {
                "row": self._rows.key(one.row),
                "name": one.name,
                "x": round(one.x, 4),
                "y": round(one.y, 4),
                "label": _words(one.label),
                "predicted": _words(one.predicted),
                "chance": one.chance and round(one.chance, 3),
            }
            for one in self._campaign.map()
        ]

    def _answer(self, action: Mapping[str, Any]) -> _ActionOutcome:
        """Keep a label."""
        row = self._rows.read("row", action.get("row"))
        label = self._classes.read("label", action.get("label"))
        try:
            self._campaign.tell(row, label)
        except AlreadyAnsweredError:
            found = self._campaign.question(row)
            if found.said == label:
                return _ActionOutcome(f"Row {found.name} is {label} already.")
            return _ActionOutcome(
                problem=f"Row {found.name} is labelled {found.said} already: {label} was not kept. "
                "Undo takes the last answer back, campaign.edit changes any."
            )
        return _ActionOutcome(f"Saved: {label}.")

    def _other(self, action: Mapping[str, Any]) -> _ActionOutcome:
        """Say something else of a row than its class."""
        row, kind = self._rows.read("row", action.get("row")), str(action["act"])
        verb = getattr(self._campaign, kind, None)
        if verb is None:
            raise ValueError(f"act must be something that the campaign knows; got {kind!r}.")
        verb(row)
        self._row = None
        return _ActionOutcome(f"Saved: {SAYINGS[kind]}.")

    def _undo(self, action: Mapping[str, Any]) -> _ActionOutcome:
        """Take the last change back, and ask about its row again."""
        if action.get("number") != self._number:
            return _ActionOutcome(
                problem="Something changed before that: nothing was undone. Look again."
            )
        before = self._state()
        row = self._campaign.undo()
        if row is None and self._state() == before:
            return _ActionOutcome("Nothing to undo.")
        if row is not None:
            self._row = row
            return _ActionOutcome(f"Undone: row {self._campaign.question(row).name}.")
        return _ActionOutcome("Undone.")

    def _add_class(self, action: Mapping[str, Any]) -> _ActionOutcome:
        """Let there be one more class, of the type of the others."""
        name = str(action.get("name", "")).strip()
        if not name:
            raise ValueError("name must have a letter; got none. Write what the class is called.")
        self._campaign.add_class(_of_type(name, self._campaign.classes))
        return _ActionOutcome(f"Done: class “{name}” added.")

    def _choose(self, action: Mapping[str, Any]) -> _ActionOutcome:
        """Ask about a row of the map."""
        row = self._rows.read("row", action.get("row"))
        found = self._campaign.question(row)
        if found.said is None:
            self._row = row
            return _ActionOutcome()
        return _ActionOutcome(
            problem=f"Row {found.name} is labelled {found.said}: campaign.edit changes it."
        )

    def _look(self, action: Mapping[str, Any]) -> _ActionOutcome:  # noqa: ARG002 - an action like others
        """See what cells of the notebook, the page or others did since."""
        return _ActionOutcome()

    def _state(self) -> tuple[object, ...]:
        """What an undo may change."""
        return self._campaign.labels, self._campaign.classes, self._campaign.left

    def _is_open(self) -> bool:
        """Whether the row that is shown still wants a label of this person."""
        row, campaign = self._row, self._campaign
        if row is None or campaign.question(row).said is not None:
            return False
        return row not in campaign.labels or row in campaign.left

    def _ask(self, said: _ActionOutcome) -> _ActionOutcome:
        """Find the next row; what was said before is said still."""
        self._row = None
        self._row = next(iter(self._campaign.ask()), None)
        return said

    def _tried(
        self, work: Callable[[], _ActionOutcome], said: _ActionOutcome | None = None
    ) -> _ActionOutcome:
        """What came of something, or in one sentence why it could not be done."""
        try:
            return work()
        except (PossibalError, ValueError, TypeError) as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - a strategy or a classifier may be the user's own
            problem = f"{type(error).__name__}: {summary(error)}."
        return replace(said or _ActionOutcome(), problem=problem)

    # ------------------------------------------------------------ views

    def _tell(self, said: _ActionOutcome, *, is_busy: bool = False) -> None:
        """Publish what there is to see; while the next question is worked out, that it is."""
        self._number += not is_busy
        view: View = {
            "number": self._number,
            "taken": list(self._taken)[-TOLD:],
            "busy": is_busy,
            "said": said.done,
            "problem": said.problem,
        }
        if not is_busy:
            view |= {**self._known, "question": None}
            for seen in (self._facts, self._question):
                found = self._tried(lambda seen=seen: (view.update(seen()), _ActionOutcome())[1])
                view["problem"] = view["problem"] or found.problem
        self._publish(view)

    def _facts(self) -> View:
        """The classes, and how far the campaign is."""
        campaign, labels = self._campaign, self._campaign.labels
        counts = dict.fromkeys(campaign.classes, 0)
        for label in labels.values():
            counts[label] = counts.get(label, 0) + 1
        advice, left = campaign.advice, len(campaign.left)
        self._known = {
            "rows": len(campaign.rows),
            "labels": len(labels),
            "left": left,
            "advice": {"state": advice.state.value, "reason": advice.reason},
            "classes": [
                {"key": self._classes.key(one), "name": str(one), "rows": count}
                for one, count in counts.items()
            ],
            "others": [one for one in OTHERS if hasattr(campaign, one)],
        }
        return self._known

    def _question(self) -> View:
        """The row that is asked about, as the browser shows it, if there is one."""
        row = self._row
        if row is None:
            return {}
        found = self._campaign.question(row)
        shown = found if self._show is None else _shown(found, self._show(row))
        picture, trouble = shown.picture, None
        try:
            url = None if picture is None else _picture_url(picture)
        except (ValueError, OSError):
            url, trouble = None, BROKEN
        predicted = found.predicted
        asked: View = {
            "row": self._rows.key(row),
            "name": found.name,
            "fields": [
                {"name": one.name, "value": _cut(one.value), "important": one.is_important}
                for one in shown.fields
            ],
            "text": _cut(shown.text),
            "picture": url,
            "trouble": trouble,
            "why": found.why,
            "predicted": predicted and {"label": str(predicted.label), **vars(predicted.chance)},
            "copies": found.copies,
            "said": _words(found.said),
        }
        return {"question": asked}


def _shown(question: RowQuestion, given: Any) -> RowQuestion:  # noqa: ANN401 - what the user's function gives
    """A question with what the user wants to be seen of its row."""
    bare = replace(question, fields=(), text=None, picture=None)
    if isinstance(given, str):
        return replace(bare, text=given)
    if isinstance(given, Path) or hasattr(given, "convert"):
        return replace(bare, picture=given)
    if isinstance(given, Mapping):
        cells = {str(name): cell for name, cell in given.items()}
        pairs = ((name, None if cell is None else str(cell)) for name, cell in cells.items())
        return replace(bare, fields=tuple(QuestionField(*pair) for pair in pairs))
    raise TypeError(
        "show must return text, a dict, a pathlib.Path or a picture of Pillow; got "
        f"{type(given).__name__}. Return one of these."
    )


def _picture_url(picture: Any) -> str:  # noqa: ANN401 - a path, or a picture of Pillow
    """A picture as a data URL, small enough for a message."""
    if isinstance(picture, Path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what matters is refused
            made = make_thumbnail(picture, SIDE)
        return f"data:{made.media_type};base64,{b64encode(made.content).decode()}"
    small, out = picture.convert("RGB"), BytesIO()
    small.thumbnail((SIDE, SIDE))
    small.save(out, "PNG")
    return f"data:image/png;base64,{b64encode(out.getvalue()).decode()}"


def _of_type(name: str, classes: Sequence[Hashable]) -> Hashable:
    """A class that was typed, as a number where the others are numbers."""
    kind = type(as_python(classes[0])) if classes else str
    if kind not in {int, float}:
        return name
    try:
        return kind(name)
    except ValueError:
        raise ValueError(
            f"name must be a number, as the other classes are; got {name!r}. Write a number."
        ) from None


def _words(value: Hashable | None) -> str | None:
    """A label as people read it; None for none."""
    return None if value is None else str(value)


def _cut(text: str | None) -> str | None:
    """A text that is not too long for a message."""
    return text if text is None or len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
