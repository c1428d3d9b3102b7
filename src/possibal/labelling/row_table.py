"""Every row of a campaign as a table: searched, filtered and sorted, a part at a time.

    found = RowTable(read_model, scheduler).select(RowQuery(text="prize", state=RowState.OPEN))

Predictions are those of the last ranking, so that a look at them costs no fit.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from possibal.arrays import Places, Vector
from possibal.errors import RefusedError
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.ranking import OtherLabel, Prediction
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.storage.journal import Kind, RowVerdict
from possibal.labelling.storage.store import Item

UNNAMED = -1
"""The code of a row without a class."""


class RowState(StrEnum):
    """What a row has come to; those of one state can be asked for.

    Attributes:
        OPEN: it has no label, and is not dropped.
        LABELLED: it has one.
        AGAIN: it has one that all other labels contradict, so that it may be mistaken.
        DIFFER: people named different classes.
        UNSURE: somebody passed on it, and nobody named a class.
        BAD: it was dropped.
    """

    OPEN = "open"
    LABELLED = "labelled"
    AGAIN = "again"
    DIFFER = "differ"
    UNSURE = "unsure"
    BAD = "bad"


class RowSort(StrEnum):
    """An order of rows: that of the file, by the chance of the predicted or of the sought label."""

    FILE = "file"
    LIKELY = "likely"
    DOUBTFUL = "doubtful"
    SOUGHT = "sought"


@dataclass(frozen=True)
class RowQuery:
    """Which rows are wanted, and in which order.

    Attributes:
        text: occurs in the id or a cell, in letters of either case; of any row where it is empty.
        label: the class that a row has or, where it has none, that is predicted; None for all.
        state: what the row has come to; None for all.
        sort: the order. Rows of which nothing is predicted come last where it is by chance.
        first: how many are left out at the start.
        count: how many are wanted.
    """

    text: str = ""
    label: str | None = None
    state: RowState | None = None
    sort: RowSort = RowSort.FILE
    first: int = 0
    count: int = 50


@dataclass(frozen=True)
class TableRow:
    """A row with all that is known of it.

    Attributes:
        item: the row.
        label: that it has.
        people: who named its class, or settled it.
        state: what it has come to.
        prediction: what the model makes of it; None for check rows, and where it has not looked.
        other: the label that all other rows speak for, where that is another.
        is_check: whether it measures the model.
        copy_of: the row that is asked in its stead, if there is one.
    """

    item: Item
    label: str | None
    people: tuple[str, ...]
    state: RowState
    prediction: Prediction | None
    other: OtherLabel | None
    is_check: bool
    copy_of: int | None


@dataclass(frozen=True)
class RowsFound:
    """Some of the rows that were wanted.

    Attributes:
        rows: in their order.
        count: how many fit in all.
        looked_at: how many rows the model looked at, of a large pool; None for all.
        is_behind: whether it has yet to learn from the last answers, or to look at more rows.
    """

    rows: tuple[TableRow, ...]
    count: int
    looked_at: int | None
    is_behind: bool


class RowTable:
    """Looks at all rows of a campaign, as everybody or one person alone sees them."""

    def __init__(self, read_model: ReadModel, scheduler: RankingScheduler) -> None:
        """See what these know."""
        self._read_model, self._scheduler = read_model, scheduler

    def select(self, query: RowQuery, who: str | None = None) -> RowsFound:
        """The rows that a query asks for.

        Args:
            query: what is wanted.
            who: whose labels are shown, and no predictions; everybody's if nobody is named.
        """
        self._read_model.catch_up()
        predictions = None if who is not None else self._scheduler.whole_predictions
        with self._read_model.lock:
            view = RowColumns(self._read_model, predictions, who)
            rows = view.ordered(view.fitting(query), query.sort)
            if query.text:
                known = self._containing(query.text)
                rows = rows[np.isin(rows, known)]
            shown = rows[query.first : query.first + query.count].tolist()
            listed = view.rows(shown, self._read_model.items(shown))
            at_work = self._scheduler.is_behind or self._scheduler.is_look_due
            is_behind = who is None and at_work
        return RowsFound(listed, len(rows), view.looked_at, is_behind)

    def _containing(self, text: str) -> Places:
        """Places of the rows in whose id, as it is shown, or cells a text occurs."""
        wanted, shown = text.lower(), self._read_model.shown
        found = map(shown, self._read_model.store.items_like(text))
        is_in = (item.row for item in found if _contains(item, wanted))
        return np.fromiter(is_in, dtype=np.intp)


def _contains(item: Item, wanted: str) -> bool:
    """Whether a text in small letters occurs in a row."""
    return any(wanted in (cell or "").lower() for cell in (item.id, *item.cells))


class RowColumns:
    """The rows as of one moment, under the lock: labels and predictions side by side."""

    def __init__(
        self,
        read_model: ReadModel,
        predictions: RankingPredictions | None,
        who: str | None = None,
        *,
        with_check: bool = False,
    ) -> None:
        """Lay out what is known of each row by its place.

        Args:
            read_model: that tells of labels.
            predictions: of the model, if there are any.
            who: whose labels are shown; everybody's if nobody is named.
            with_check: whether what is predicted of check rows is told, to whoever answers no more.
        """
        self._read_model, self._predictions, self._who = read_model, predictions, who
        self._state = read_model.state
        self._check = read_model.copies.whole_groups(read_model.check_rows)
        self._hidden = frozenset[int]() if with_check else self._check
        self._count = len(read_model.X)
        self._code = {name: code for code, name in enumerate(read_model.classes)}
        self._labels = self._label_codes()
        self._predicted, self._chance = self._prediction_arrays()

    def _label_codes(self) -> NDArray[np.intp]:
        """The code of the label of each row."""
        codes = np.full(self._count, UNNAMED)
        label, state = self._read_model.label, self._state
        for row in state.labels if self._who is None else state.verdicts:
            if row < self._count:
                codes[row] = self._coded(label(row, self._who))
        return codes

    def _coded(self, label: str | None) -> int:
        """The code of a label; where rows have several classes, each set that there is has one."""
        if label is None:
            return UNNAMED
        if self._read_model.setup.multi:
            return self._code.setdefault(label, len(self._code))
        return self._code.get(label, UNNAMED)

    def _prediction_arrays(self) -> tuple[NDArray[np.intp], Vector]:
        """The code of the predicted label of each row, and its chance; NaN where there is none."""
        codes, chance = np.full(self._count, UNNAMED), np.full(self._count, np.nan)
        known = self._predictions
        if known is not None and not known.ranking.is_cold:
            labels, chances = known.columns()
            rows = known.ranking.looked_at
            codes[rows] = [self._coded(name) for name in labels]
            chance[rows] = np.where(codes[rows] == UNNAMED, np.nan, chances)
            hidden = list(self._hidden)  # lest the measure be swayed
            codes[hidden], chance[hidden] = UNNAMED, np.nan
        return codes, chance

    @property
    def looked_at(self) -> int | None:
        """How many rows the model looked at; None for all, or where nothing is shown of it."""
        seen = len(self._predictions.ranking.looked_at) if self._predictions else self._count
        return seen if seen < self._count else None

    # ------------------------------------------------------------ which, and in which order

    def fitting(self, query: RowQuery) -> Places:
        """Places of the rows of a class and a state, in their order."""
        fits = np.ones(self._count, dtype=bool)
        if query.label is not None:
            taken_for = np.where(self._labels == UNNAMED, self._predicted, self._labels)
            fits &= np.isin(taken_for, self._codes_with(query.label))
        if query.state is not None:
            fits &= self._is_in(query.state)
        return np.flatnonzero(fits)

    def _codes_with(self, label: str) -> list[int]:
        """The codes of labels that are a class or, where rows have several, that hold it."""
        members = self._read_model.setup.syntax.members
        return [
            code for name, code in self._code.items() if label == name or label in members(name)
        ]

    def _is_in(self, state: RowState) -> NDArray[np.bool_]:
        """Which rows are in a state."""
        is_labelled = self._labels != UNNAMED
        if state is RowState.LABELLED:
            return is_labelled
        wanted = {RowState.BAD} if state is RowState.OPEN else {state}
        found = self._others() if state is RowState.AGAIN else self._in_states(wanted)
        is_named = np.zeros(self._count, dtype=bool)
        is_named[[row for row in found if row < self._count]] = True
        return ~is_labelled & ~is_named if state is RowState.OPEN else is_named

    def _in_states(self, wanted: Iterable[RowState]) -> list[int]:
        """Rows of which somebody said something and that are in one of some states."""
        verdicts = self._state.verdicts.items()
        return [row for row, verdict in verdicts if self._state_of(verdict) in wanted]

    def ordered(self, rows: Places, sort: RowSort) -> Places:
        """Rows in an order; those of the same chance by their places."""
        if sort is RowSort.FILE:
            return rows
        if sort is RowSort.SOUGHT:
            return rows[np.lexsort((rows, -self._sought_chances(rows)))]
        others = self._others()
        chance = self._chance[rows]
        for place in np.flatnonzero(np.isin(rows, list(others))):
            chance[place] = others[int(rows[place])].chance.value
        return rows[np.lexsort((rows, -chance if sort is RowSort.LIKELY else chance))]

    def _sought_chances(self, rows: Places) -> Vector:
        """The chance by the model that each row is of the sought class; NaN where it has none."""
        if self._read_model.sought is None:
            raise RefusedError(
                f"sort must be one of {[str(one) for one in RowSort][:-1]}, as no class is sought; "
                f"got {str(RowSort.SOUGHT)!r}. Choose one of these."
            )
        known = self._predictions
        given = known.ranking.sought_chances_of(rows.tolist()) if known else [None] * len(rows)
        hidden = np.isin(rows, list(self._hidden))  # lest the measure be swayed
        return np.where(hidden, np.nan, np.array(given, dtype=float))

    # ------------------------------------------------------------ what is shown

    def rows(self, places: list[int], items: dict[int, Item]) -> tuple[TableRow, ...]:
        """Rows as they are shown."""
        known, others = self._predictions, self._others()
        told = [None] * len(places) if known is None else known.of(places)
        shown = list[TableRow]()
        for row, prediction in zip(places, told, strict=True):
            verdict, leader = self._state.verdict(row), self._read_model.copies.leader(row)
            shown.append(
                TableRow(
                    item=self._read_model.shown(items[row]),
                    label=self._read_model.label(row, self._who),
                    people=self._people(verdict),
                    state=self._state_of(verdict),
                    prediction=None if row in self._hidden else prediction,
                    other=others.get(row),
                    is_check=row in self._check,
                    copy_of=None if leader == row else leader,
                )
            )
        return tuple(shown)

    def _people(self, verdict: RowVerdict) -> tuple[str, ...]:
        """Who named the class of a row, or settled it, as far as that is to be seen."""
        if self._who is not None:
            return tuple(who for who in verdict.naming if who == self._who)
        settled = verdict.settled
        return tuple(dict.fromkeys([*([settled.who] if settled else []), *verdict.naming]))

    def _state_of(self, verdict: RowVerdict) -> RowState:
        """What a row has come to, as far as that is to be seen."""
        said = verdict.opinions.values()
        if self._who is not None:
            mine = verdict.opinions.get(self._who)
            said = [mine] if mine else []
            if mine and mine.label:
                return RowState.LABELLED
        elif verdict.label is not None or verdict.in_conflict:
            return RowState.DIFFER if verdict.label is None else RowState.LABELLED
        kinds = {event.kind for event in said}
        if Kind.BAD in kinds:
            return RowState.BAD
        return RowState.UNSURE if Kind.UNSURE in kinds else RowState.OPEN

    def _others(self) -> dict[int, OtherLabel]:
        """Rows whose label all others contradict; check rows are none, lest the measure be swayed.

        Whoever changed a label since sees it no more.
        """
        if self._predictions is None:
            return {}
        labels, found = self._state.labels, self._predictions.contradicted.items()
        return {
            row: one
            for row, one in found
            if row not in self._check and labels.get(row) not in {None, one.label}
        }
