"""Queries on a campaign for people to look at: progress, map, history, agreement and conflicts."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

import numpy as np

from possibal.arrays import Matrix, Places
from possibal.campaign.recall import RecallEstimate
from possibal.campaign.stopping import Advice
from possibal.labelling import agreement
from possibal.labelling.agreement import Said
from possibal.labelling.evaluation import (
    ConfusionMatrix,
    CurvePoint,
    LabelSetScores,
    RandomCurve,
    confusion,
    label_set_scores,
    saving_sentence,
    wilson_interval,
)
from possibal.labelling.pace import LATEST, LabelsToCome, labels_to_come, pace
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.ranking import ExpectedMistakes, Prediction, Ranking, overview_sample
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.journal import NAMING, ON_ROWS, Event, Kind
from possibal.labelling.storage.store import Item
from possibal.numerics.principal_axes import unit_plane

if TYPE_CHECKING:  # SciPy takes a second to import, which maps without clusters do not need
    from possibal.campaign.cluster_map import ClusterMap

PREVIEW = 80
"""Characters that stand for a row in a list."""
MOST_IMPORTANT, LEAST_RELEVANCE = 3, 0.2
"""Fields that are marked as going closely with the labels at most, and the least relevance of one;
it must also have half of the relevance of the first."""
NEAREST_IDS = 6
"""Rows that are offered where no row has the id that somebody looks for."""


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
        sought: the class of which nearly all rows are to be found; None for none.
        recall: how much of it was found; None where nothing can be said.
        mistakes: of the model, were it to label the rows without a label by itself; None where
            it predicts nothing.
        saving: what was saved, in words.
        people: how many rows each named the class of, copies aside.
        paces: seconds that an answer takes each of those of whom that is known.
        to_come: how many more labels it probably takes until one may stop, if that is known.
        conflicts: rows of which people said different things, and nobody settled it.
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
    sought: str | None
    recall: RecallEstimate | None
    mistakes: ExpectedMistakes | None
    saving: str | None
    people: dict[str, int]
    paces: dict[str, float]
    to_come: LabelsToCome | None
    conflicts: int
    is_behind: bool
    trouble: str | None


@dataclass(frozen=True)
class MapPoint:
    """A row on the map; x and y from 0 to 1.

    Attributes:
        row: its place in the pool.
        id: what the user calls it.
        x: from left to right.
        y: from below.
        chance: that the label that is predicted is right; None where none is.
        label: that it has, if somebody may see it.
        predicted: that label that is predicted; None where nothing is, or nobody is to be swayed.
    """

    row: int
    id: str
    x: float
    y: float
    chance: float | None
    label: str | None
    predicted: str | None = None


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
    """How far people agree: every two by Cohen's kappa, all by Krippendorff's alpha.

    Where rows may have several classes, the mean over those of which it is defined.
    """

    pairs: tuple[tuple[str, str, int, float | None], ...]
    alpha: float | None
    rows: int


@dataclass(frozen=True)
class Conflict:
    """A row of which people said different things, how it was settled, and what they remarked."""

    item: Item
    said: dict[str, str]
    settled: str | None
    comments: dict[str, str] = field(default_factory=dict[str, str])


class RankingSource(Protocol):
    """The last ranking and what follows from it: of a scheduler, or as it was kept."""

    @property
    def ranking(self) -> Ranking | None:
        """What the model makes of the pool; None before the first."""
        ...

    @property
    def predictions(self) -> RankingPredictions | None:
        """What it predicts, as people are told it."""
        ...

    @property
    def check_predictions(self) -> Mapping[int, Sequence[str]]:
        """Labels predicted for the check rows, in their order, after so many answers."""
        ...

    @property
    def random_curve(self) -> RandomCurve | None:
        """What asking at random would have reached, if that was measured."""
        ...

    @property
    def is_behind(self) -> bool:
        """Whether the last answers are not learnt from yet."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why the model could not be fitted, if it could not."""
        ...


class Overview:
    """Read-only queries; they change nothing."""

    def __init__(self, read_model: ReadModel, scheduler: RankingSource | None = None) -> None:
        """Query a campaign; without a scheduler nothing is said of what its model makes of it."""
        self._read_model, self._scheduler = read_model, scheduler
        self._known_plane: Matrix | None = None
        self._known_map: ClusterMap | None = None

    @property
    def _ranking(self) -> Ranking | None:
        """The last ranking, if there is one."""
        return self._scheduler.ranking if self._scheduler else None

    def progress(self) -> CampaignProgress:
        """How far the campaign is."""
        campaign, scheduler, ranking = self._read_model, self._scheduler, self._ranking
        setup, recall = campaign.setup, self.recall()
        with campaign.lock:
            labelled = campaign.state.labels
            verdicts = campaign.state.verdicts.values()
            members = setup.syntax.members
            counts = Counter(one for label in labelled.values() for one in members(label))
            copies, of_rows = campaign.copies.copies, campaign.state.verdicts.items()
            said = Counter(who for row, v in of_rows if row not in copies for who in v.naming)
            curve = self._curve(labelled)
            checked = sum(row in labelled for row in campaign.check_rows)
            passed = (v for v in verdicts if not v.naming and not v.settled and not v.is_bad)
            return CampaignProgress(
                setup.rows,
                len(labelled),
                sum(row in labelled for row in copies),
                setup.rows - len(self._done(setup.people)),
                sum(any(e.kind is Kind.UNSURE for e in v.opinions.values()) for v in passed),
                sum(verdict.is_bad for verdict in verdicts),
                {label: counts[label] for label in campaign.classes},
                recall.advice(campaign.sought) if recall else ranking and ranking.advice,
                curve,
                checked,
                len(campaign.check_rows),
                campaign.sought,
                recall,
                self._mistakes(labelled),
                self._saving(curve, checked),
                {who: said[who] for who in campaign.state.people},
                self._paces(),
                ranking and labels_to_come(ranking.advice, ranking.answers),
                self._open_conflicts(),
                scheduler is None or scheduler.is_behind,
                scheduler.trouble if scheduler else None,
            )

    def _paces(self) -> dict[str, float]:
        """The pace of each person who answered enough."""
        state = self._read_model.state
        each = ((who, pace(state.acts(who, 2 * LATEST))) for who in sorted(state.participants))
        return {who: seconds for who, seconds in each if seconds is not None}

    def _open_conflicts(self) -> int:
        """Rows on which people differ and that wait to be settled, those of copies once."""
        state, copies = self._read_model.state, self._read_model.copies

        def said(row: int) -> dict[str, str | None]:
            return {who: event.label for who, event in state.verdict(row).naming.items()}

        return sum(
            row not in copies.copies or said(row) != said(copies.leader(row))
            for row in state.conflicts()
        )

    def recall(self) -> RecallEstimate | None:
        """How much of the sought class was found, by the last ranking; None where none says it."""
        predictions = self._scheduler.predictions if self._scheduler else None
        return predictions.recall if predictions else None

    def _saving(self, curve: Sequence[CurvePoint], checked: int) -> str | None:
        """What asking saved, in words, if that was measured."""
        random = self._scheduler.random_curve if self._scheduler else None
        return saving_sentence(curve, random, checked) if random else None

    def confusion(self) -> ConfusionMatrix:
        """Which labels are taken for which: those of check rows beside what is predicted now."""
        predictions = self._scheduler.predictions if self._scheduler else None
        with self._read_model.lock:
            labels = self._read_model.state.labels
            checked = {row: labels[row] for row in self._read_model.check_rows if row in labels}
            classes = self._read_model.classes
        predicted = predictions.of(checked) if predictions else [None] * len(checked)
        told = zip(checked.values(), predicted, strict=True)
        pairs = [(true, one.label) for true, one in told if one]
        if self._read_model.setup.multi:
            classes = sorted({one for pair in pairs for one in pair})
        return confusion(pairs, classes)

    def label_sets(self) -> LabelSetScores | None:
        """How well each class of check rows is told; None where rows have one label."""
        setup, matrix = self._read_model.setup, self.confusion()
        if not setup.multi:
            return None
        members = setup.syntax.members
        pairs = [
            (members(true), members(said))
            for true, row in zip(matrix.classes, matrix.counts, strict=True)
            for said, count in zip(matrix.classes, row, strict=True)
            for _ in range(count)
        ]
        return label_set_scores(pairs, self._read_model.classes)

    def _mistakes(self, labelled: dict[int, str]) -> ExpectedMistakes | None:
        """How often the model would be wrong about rows without a label: what is left to gain."""
        predictions = self._scheduler.predictions if self._scheduler else None
        if predictions is None or predictions.ranking.is_cold:
            return None
        read_model = self._read_model
        gone = {row for row, verdict in read_model.state.verdicts.items() if verdict.is_bad}
        left = read_model.setup.rows - len(labelled.keys() | gone)
        looked_at = predictions.ranking.looked_at.tolist()
        sample = looked_at if len(looked_at) == read_model.setup.rows else self._sample
        rows = [row for row in sample if row not in labelled and row not in gone]
        return predictions.mistakes(rows, left) if rows else None

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
        """Rows where the model has them, alike ones side by side: a sample, and all with a label.

        Args:
            who: whose labels are shown, and no predictions; everybody's if nobody is named.
        """
        with self._read_model.lock:
            given = self._read_model.state.labels
            labelled = {row: self._read_model.label(row, who) for row in given}
        rows = dict.fromkeys([*self._sample, *labelled])
        places = self._places(np.array(list(rows), dtype=np.intp)).tolist()
        shown, predicted = self._read_model.shown_id, self._predicted(rows)
        points = list[MapPoint]()
        for row, (x, y), one in zip(rows, places, predicted, strict=True):
            chance, label = (one.chance.value, one.label) if one else (None, None)
            named = label if who is None else None
            points.append(MapPoint(row, shown(row), x, y, chance, labelled.get(row), named))
        return points

    def _predicted(self, rows: Iterable[int]) -> list[Prediction | None]:
        """What is predicted of rows; of check rows nothing."""
        read_model, known = self._read_model, list(rows)
        predictions = self._scheduler.predictions if self._scheduler else None
        if predictions is None:
            return [None] * len(known)
        check = read_model.copies.whole_groups(read_model.check_rows)
        found = zip(known, predictions.of(known), strict=True)
        return [None if row in check else one for row, one in found]

    @property
    def _sample(self) -> list[int]:
        """The rows drawn for the map."""
        return overview_sample(self._read_model.setup.rows, self._read_model.setup.seed).tolist()

    def _places(self, rows: Places) -> Matrix:
        """Where rows lie on the map: by cluster where the model tells clusters, else by plane."""
        setup, X = self._read_model.setup, self._read_model.X
        if not setup.geometry.diffusion:
            return self._plane[rows]
        if self._known_map is None:
            from possibal.campaign.cluster_map import fit_cluster_map

            first = X[: setup.begun or len(X)]
            self._known_map = fit_cluster_map(first, setup.geometry.diffusion)
        return self._known_map.places(X[rows])

    @property
    def _plane(self) -> Matrix:
        """Scores on the first two principal axes, each scaled to 0 to 1, (m, 2).

        They are worked out again when rows have joined.
        """
        X, known = self._read_model.X, self._known_plane
        if known is None or len(known) != len(X):
            known = self._known_plane = unit_plane(X)
        return known

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
            members = self._read_model.setup.syntax.members
            fitting = [event for event in named if _fits(event, wanted, members)]
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
        rows = sum(len(one) > 1 for one in said)
        each = self._said_by_class(said)
        both = [agreement.pairs(one) for one in each]
        pairs = tuple(
            (*two, len(rows), agreement.mean_known(agreement.cohen(one[two]) for one in both))
            for two, rows in agreement.pairs(said).items()
        )
        return Agreement(pairs, agreement.mean_known(map(agreement.krippendorff, each)), rows)

    def _said_by_class(self, said: Sequence[Said]) -> list[Sequence[Said]]:
        """What people said, once for each class that rows may have beside others; else once."""
        members = self._read_model.setup.syntax.members
        if not self._read_model.setup.multi:
            return [said]
        return [agreement.of_class(said, name, members) for name in self._read_model.classes]

    def conflicts(self) -> list[Conflict]:
        """Rows of which people said different things, those not settled first."""
        said, state = self._said(), self._read_model.state
        rows = [row for row, one in said.items() if len(set(one.values())) > 1]
        items = self._read_model.items(rows)
        with self._read_model.lock:
            verdicts = [(state.verdict(row), row) for row in rows]
        shown = self._read_model.shown
        listed = [
            Conflict(shown(items[row]), said[row], by.settled and by.settled.label, by.comments)
            for by, row in verdicts
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

    def important_fields(self, owners: Sequence[int]) -> frozenset[int]:
        """The places of the few fields that go most closely with the labels so far.

        Args:
            owners: the field that each column of numbers was made of; none if they were made of
                something else.
        """
        ranking, count = self._ranking, len(self._read_model.setup.fields)
        if not owners or count < 2 or ranking is None or ranking.is_cold:  # noqa: PLR2004 - of one
            return frozenset()
        weight = np.zeros(count)
        np.maximum.at(weight, list(owners), ranking.relevance)
        least = max(LEAST_RELEVANCE, float(weight.max()) / 2)
        first = np.argsort(-weight, kind="stable")[:MOST_IMPORTANT]
        return frozenset(first[weight[first] >= least].tolist())


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


def _fits(event: Event, wanted: HistoryFilter, members: Callable[[str], Sequence[str]]) -> bool:
    """Whether an event is one of those wanted."""
    label = event.label or ""
    kinds = NAMING if wanted.kind is Kind.LABEL else {wanted.kind}
    return (
        event.kind in ON_ROWS
        and event.row is not None
        and (wanted.who is None or event.who == wanted.who)
        and (wanted.kind is None or event.kind in kinds)
        and (wanted.label is None or wanted.label in (label, *members(label)))
        and (wanted.before is None or event.number < wanted.before)
    )


def _mentions(items: dict[int, Item], event: Event, text: str) -> bool:
    """Whether a text occurs in one of an event's rows."""
    cells = (cell for row in event.rows for cell in (items[row].id, *items[row].cells))
    return any(text.lower() in (cell or "").lower() for cell in cells)
