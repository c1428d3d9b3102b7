"""Queries on a campaign for people to look at: progress, map, history, agreement and conflicts."""

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from possibal.arrays import Matrix
from possibal.campaign.stopping import Advice
from possibal.labelling import agreement
from possibal.labelling.evaluation import wilson_interval
from possibal.labelling.ranking import Ranking, overview_sample
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.storage.journal import NAMING, ON_ROWS, Event, Kind
from possibal.labelling.storage.store import Item

PREVIEW = 80
"""Characters that stand for a row in a list."""
NEAREST_IDS = 6
"""Rows that are offered where no row has the id that somebody looks for."""


@dataclass(frozen=True)
class CurvePoint:
    """The accuracy on the check rows after so many answers, with its 95 % interval."""

    answers: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class CampaignProgress:
    """How far a campaign is.

    Attributes:
        rows: in all.
        answered: that have a label.
        copies: how many of these were labelled as copies of others.
        left: that are still to be asked.
        unsure: that somebody passed on and nobody answered.
        bad: that were dropped.
        balance: how often each class was given.
        advice: whether to go on; None before the first ranking.
        curve: of learning, if there are check rows.
        checked: how many check rows have a label.
        check: how many there are.
        saving: what was saved, in words.
        people: how many rows each named the class of, copies aside.
        is_behind: whether the last answers are not learnt from yet.
        trouble: why the model could not be fitted, if it could not.
    """

    rows: int
    answered: int
    copies: int
    left: int
    unsure: int
    bad: int
    balance: dict[str, int]
    advice: Advice | None
    curve: tuple[CurvePoint, ...]
    checked: int
    check: int
    saving: str | None
    people: dict[str, int]
    is_behind: bool
    trouble: str | None


@dataclass(frozen=True)
class MapPoint:
    """A row on the map; x and y from 0 to 1."""

    row: int
    id: str
    x: float
    y: float
    necessity: float
    label: str | None


@dataclass(frozen=True)
class ClassEntry:
    """A class, what people are told of it, and how many rows have it in somebody's view."""

    name: str
    description: str
    colour: str
    rows: int


@dataclass(frozen=True)
class RowSearch:
    """The row that somebody looked for by its id, if there is one, and rows whose ids are like it.

    Attributes:
        row: its place; None where no row is called so.
        near: places and ids of others, the most similar first; none where it was found.
    """

    row: int | None
    near: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class HistoryFilter:
    """Which events a history is to show; what is left out does not matter.

    Attributes:
        who: the person.
        kind: of the event.
        label: that it names.
        text: in the row's id or what is shown of it.
        before: the number of the event after the first shown.
        limit: how many.
    """

    who: str | None = None
    kind: Kind | None = None
    label: str | None = None
    text: str | None = None
    before: int | None = None
    limit: int = 50


@dataclass(frozen=True)
class HistoryEntry:
    """An event about rows.

    Attributes:
        event: what somebody did.
        holds: whether it is not undone.
        counts: whether no later one took its place either.
        item: the first row.
        others: how many others there are.
        copies: how many of these are copies.
    """

    event: Event
    holds: bool
    counts: bool
    item: Item
    others: int = 0
    copies: int = 0


@dataclass(frozen=True)
class Agreement:
    """How far people agree: every two by Cohen's kappa, all by Krippendorff's alpha."""

    pairs: tuple[tuple[str, str, int, float | None], ...]
    alpha: float | None
    rows: int


@dataclass(frozen=True)
class Conflict:
    """A row of which people said different things, and how it was settled."""

    item: Item
    said: dict[str, str]
    settled: str | None


class Overview:
    """Read-only queries; they change nothing."""

    def __init__(self, read_model: ReadModel, scheduler: RankingScheduler | None = None) -> None:
        """Query a campaign; without a scheduler nothing is said of what its model makes of it."""
        self._read_model, self._scheduler = read_model, scheduler
        self._known_plane: Matrix | None = None

    @property
    def _ranking(self) -> Ranking | None:
        """The last ranking, if there is one."""
        return self._scheduler and self._scheduler.ranking

    def progress(self) -> CampaignProgress:
        """How far the campaign is."""
        campaign, scheduler, ranking = self._read_model, self._scheduler, self._ranking
        setup = campaign.setup
        with campaign.lock:
            labelled = campaign.state.labels
            verdicts = campaign.state.verdicts.values()
            counts = Counter(labelled.values())
            copies, of_rows = campaign.copies.copies, campaign.state.verdicts.items()
            said = Counter(who for row, v in of_rows if row not in copies for who in v.naming)
            passed = (v for v in verdicts if not v.naming and not v.settled and not v.is_bad)
            return CampaignProgress(
                setup.rows,
                len(labelled),
                sum(row in labelled for row in copies),
                setup.rows - len(self._done(setup.people)),
                sum(any(e.kind is Kind.UNSURE for e in v.opinions.values()) for v in passed),
                sum(verdict.is_bad for verdict in verdicts),
                {label: counts[label] for label in campaign.classes},
                ranking.advice if ranking else None,
                self._curve(labelled),
                sum(row in labelled for row in campaign.check_rows),
                len(campaign.check_rows),
                scheduler.saving.sentence if scheduler and scheduler.saving else None,
                {who: said[who] for who in campaign.state.people},
                scheduler is None or scheduler.is_behind,
                scheduler and scheduler.trouble,
            )

    def _curve(self, labelled: dict[int, str]) -> tuple[CurvePoint, ...]:
        """The learning curve, by all labels that the check rows have now."""
        check = self._read_model.check_rows
        predictions = self._scheduler.check_predictions if self._scheduler else {}
        known = [(place, labelled[row]) for place, row in enumerate(check) if row in labelled]
        points, name_of = list[CurvePoint](), self._read_model.state.name_of
        for answers, predicted in sorted(predictions.items() if known else ()):
            right = sum(name_of(predicted[place]) == label for place, label in known)
            points.append(
                CurvePoint(answers, right / len(known), *wilson_interval(right, len(known)))
            )
        return tuple(points)

    # ------------------------------------------------------------ map

    def map(self, who: str | None = None) -> list[MapPoint]:
        """Rows by their first two principal components: a sample, and all that have a label.

        Args:
            who: whose labels are shown; everybody's if nobody is named.
        """
        ranking = self._ranking
        with self._read_model.lock:
            given = self._read_model.state.labels
            labelled = {row: self._read_model.label(row, who) for row in given}
        rows = dict.fromkeys([*self._sample, *labelled])
        places = self._plane[list(rows)].tolist()
        necessity = [0.0] * len(rows) if ranking is None else ranking.necessities_of(rows)
        return [
            MapPoint(row, self._read_model.shown_id(row), x, y, one, labelled.get(row))
            for row, (x, y), one in zip(rows, places, necessity, strict=True)
        ]

    @property
    def _sample(self) -> list[int]:
        """The rows drawn for the map."""
        return overview_sample(len(self._read_model.X), self._read_model.setup.seed).tolist()

    @property
    def _plane(self) -> Matrix:
        """Places of the rows on the map, worked out again when rows have joined."""
        X = self._read_model.X
        if self._known_plane is None or len(self._known_plane) != len(X):
            self._known_plane = self._projected(X)
        return self._known_plane

    def _projected(self, X: Matrix) -> Matrix:
        """Scores on the first two principal components, each scaled to 0 to 1, (m, 2)."""
        centred = X - X.mean(axis=0)
        _, axes = np.linalg.eigh(centred.T @ centred)
        plane = np.zeros((len(centred), 2))
        first = axes[:, ::-1][:, :2]
        plane[:, : first.shape[1]] = centred @ first
        low, high = plane.min(axis=0), plane.max(axis=0)
        return (plane - low) / np.where(high > low, high - low, 1.0)

    def _done(self, people: int) -> set[int]:
        """Rows about which nobody will be asked: that want no answer, or are copies of others."""
        verdicts = self._read_model.state.verdicts.items()
        done = {row for row, verdict in verdicts if not verdict.wants(people)}
        return done | self._read_model.copies.copies

    # ------------------------------------------------------------ rows by name

    def find(self, name: str) -> RowSearch:
        """The row of an id as the page shows it, or the rows whose ids are most like it."""
        read_model = self._read_model
        ids = list(map(read_model.shown_id, range(read_model.setup.rows)))
        if name in read_model.ids:
            return RowSearch(read_model.ids.index(name))
        if ids.count(name) == 1:
            return RowSearch(ids.index(name))
        wanted = name.lower()
        near = heapq.nsmallest(NEAREST_IDS, enumerate(ids), key=lambda one: _unlike(wanted, one[1]))
        return RowSearch(None, tuple(near))

    # ------------------------------------------------------------ classes

    def classes(self) -> list[ClassEntry]:
        """The classes in their order."""
        with self._read_model.lock:
            state = self._read_model.state
            told = {name: state.class_detail(name) for name in self._read_model.classes}
            return [
                ClassEntry(name, one.description, one.colour, state.uses[name])
                for name, one in told.items()
            ]

    # ------------------------------------------------------------ history

    def history(self, wanted: HistoryFilter) -> tuple[list[HistoryEntry], bool]:
        """Events, the latest first, and whether there are more."""
        state = self._read_model.state
        with self._read_model.lock:
            events = sorted(state.events.values(), key=lambda event: -event.number)
            named = map(state.named, events)
            fitting = [event for event in named if _fits(event, wanted)]
        looked_at = fitting if wanted.text else fitting[: wanted.limit]
        most = None if wanted.text else 1  # of many rows the first alone is shown
        found = self._read_model.items(row for event in looked_at for row in event.rows[:most])
        items = {row: self._read_model.shown(item) for row, item in found.items()}
        if wanted.text:
            fitting = [event for event in fitting if _mentions(items, event, wanted.text)]
        shown = fitting[: wanted.limit]
        entries = [self._entry(event, items[event.rows[0]]) for event in shown]
        return entries, len(fitting) > len(shown)

    def _entry(self, event: Event, item: Item) -> HistoryEntry:
        """An event as the history shows it."""
        state, others = self._read_model.state, event.rows[1:]
        copies = sum(row in self._read_model.copies.copies for row in others)
        holds, counts = (judge(event) for judge in (state.holds, state.counts))
        return HistoryEntry(event, holds, counts, item, len(others), copies)

    # ------------------------------------------------------------ people

    def agreement(self) -> Agreement:
        """How far people agree on the rows that several of them answered."""
        said = list(self._said().values())
        both = agreement.pairs(said)
        pairs = tuple((*two, len(rows), agreement.cohen(rows)) for two, rows in both.items())
        rows = sum(len(one) > 1 for one in said)
        return Agreement(pairs, agreement.krippendorff(said), rows)

    def conflicts(self) -> list[Conflict]:
        """Rows of which people said different things, those not settled first."""
        said, state = self._said(), self._read_model.state
        rows = [row for row, one in said.items() if len(set(one.values())) > 1]
        items = self._read_model.items(rows)
        with self._read_model.lock:
            found = [(state.verdict(row).settled, row) for row in rows]
        shown = self._read_model.shown
        listed = [
            Conflict(shown(items[row]), said[row], by.label if by else None) for by, row in found
        ]
        return sorted(
            listed, key=lambda conflict: (conflict.settled is not None, conflict.item.row)
        )

    def _said(self) -> dict[int, dict[str, str]]:
        """Which class each person named, for each row that is not dropped.

        Copies of which the same was said as of the row asked in their stead are left out.
        """
        with self._read_model.lock:
            said = {
                row: {who: event.label or "" for who, event in verdict.naming.items()}
                for row, verdict in sorted(self._read_model.state.verdicts.items())
                if verdict.naming and not verdict.is_bad
            }
        copies = self._read_model.copies
        return {
            row: one
            for row, one in said.items()
            if row not in copies.copies or said.get(copies.leader(row)) != one
        }

    # ------------------------------------------------------------ fields

    def fields(self, owners: Sequence[int]) -> list[int]:
        """The places of the fields, those that go most closely with the labels first.

        Args:
            owners: the field that each column of numbers was made of; none if they were made of
                something else.
        """
        ranking, count = self._ranking, len(self._read_model.setup.fields)
        weight = np.zeros(count)
        if owners and ranking is not None and not ranking.is_cold:
            np.maximum.at(weight, list(owners), ranking.relevance)
        return np.argsort(-weight, kind="stable").tolist()


def _unlike(wanted: str, name: str) -> tuple[bool, bool, int, int]:
    """How little a name is like what was typed: it should contain it, or at least its letters.

    After that, the more they have in common at the start and the end, the more they are alike.
    """
    other = name.lower()
    letters = iter(other)
    has_letters = all(letter in letters for letter in wanted)  # in their order
    ends = _begins_alike(wanted, other) + _begins_alike(wanted[::-1], other[::-1])
    rest = -min(ends, len(wanted)), abs(len(other) - len(wanted))
    return wanted not in other, not has_letters, *rest


def _begins_alike(one: str, other: str) -> int:
    """How many characters two texts have in common from the start."""
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False)))


def preview(item: Item) -> str:
    """A few words that stand for a row."""
    words = " · ".join(cell for cell in item.cells if cell) or item.media or item.id
    flat = " ".join(words.split())
    return flat if len(flat) <= PREVIEW else f"{flat[: PREVIEW - 1]}…"


def _fits(event: Event, wanted: HistoryFilter) -> bool:
    """Whether an event is one of those wanted."""
    kinds = NAMING if wanted.kind is Kind.LABEL else {wanted.kind}
    return (
        event.kind in ON_ROWS
        and event.row is not None
        and (wanted.who is None or event.who == wanted.who)
        and (wanted.kind is None or event.kind in kinds)
        and (wanted.label is None or event.label == wanted.label)
        and (wanted.before is None or event.number < wanted.before)
    )


def _mentions(items: dict[int, Item], event: Event, text: str) -> bool:
    """Whether a text occurs in one of an event's rows."""
    cells = (cell for row in event.rows for cell in (items[row].id, *items[row].cells))
    return any(text.lower() in (cell or "").lower() for cell in cells)
