"""Read model of a campaign: the journal's state and the rows, kept in memory for every reader.

    read_model = ReadModel(store)        read_model.apply(events)        read_model.task()

Whoever reads several things as of one moment holds :attr:`ReadModel.lock`, the campaign's one lock.
"""

import functools
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import RLock
from zlib import crc32

import numpy as np

from possibal.arrays import Matrix, Places, Vector
from possibal.campaign.answer import Answer
from possibal.campaign.stopping import CERTAIN
from possibal.data.copies import CopyGroups, nearly_same_pictures, nearly_same_texts
from possibal.data.schema import ColumnKind
from possibal.errors import RefusedError
from possibal.labelling.create import CHECK, copy_groups, first_check_rows
from possibal.labelling.explanation import NEAR
from possibal.labelling.ranking import Ranking, RankingTask
from possibal.labelling.storage.journal import (
    Event,
    JournalState,
    Kind,
    Order,
    paused_collection,
)
from possibal.labelling.storage.store import Glance, Item, Store

MANY_PEOPLE = 5
"""With so many people nobody waits for a ranking: there are always other answers on their way."""
EVERY = 5
"""Of so many questions one is about a check row, until all are answered."""
BLOCK = 20_000
"""Rows whose distances are worked out at a time."""
CACHED_ITEMS = 20_000
"""Rows that the cache holds at most, before those asked for now."""

REBUILT = 0.05
"""Share of the answers that must have changed for all of them to be sorted anew."""


class AnswerSequence:
    """Answers in the order in which rows came by their label; a change costs a bisection."""

    def __init__(self, state: JournalState, includes: Callable[[int], bool]) -> None:
        """The answers of a state.

        Args:
            state: what holds, now and later.
            includes: whether a row belongs to them.
        """
        self._state, self._includes = state, includes
        self._rebuild()

    def _rebuild(self) -> None:
        """Sort all answers."""
        state, labels = self._state, self._state.labels
        with paused_collection():
            self._places: list[tuple[Order, int]] = sorted(
                (state.verdict(row).order, row) for row in filter(self._includes, labels)
            )
            self._answers = [Answer(row, labels[row]) for _, row in self._places]
        self._known = {place[1]: place for place in self._places}

    def update(self, rows: Collection[int]) -> None:
        """See anew which answers rows have that were judged."""
        if len(rows) > REBUILT * len(self._places):
            self._rebuild()
        else:
            for row in filter(self._includes, rows):
                self._update_row(row)

    def _update_row(self, row: int) -> None:
        """See anew whether a row has an answer, which, and since when."""
        if row in self._known:
            at = bisect_left(self._places, self._known.pop(row))
            del self._places[at], self._answers[at]
        if row in self._state.labels:
            place = self._known[row] = self._state.verdict(row).order, row
            at = bisect_left(self._places, place)
            self._places.insert(at, place)
            self._answers.insert(at, Answer(row, self._state.labels[row]))

    def all(self) -> tuple[Answer, ...]:
        """The answers; those that did not change are mostly the same objects as before."""
        return tuple(self._answers)


class AnswerSplit:
    """Answers that are learnt from, those that only measure, and the rows set aside."""

    def __init__(self, state: JournalState, copies: CopyGroups, check: Sequence[int]) -> None:
        """The answers of a state.

        Args:
            state: what holds, now and later.
            copies: rows that are asked in the stead of others.
            check: rows that measure.
        """
        self.copies, self.check = copies, check
        self._state, never = state, copies.copies | copies.whole_groups(check)
        self._never, self._closed = never, state.closed
        self.aside = never | state.closed
        self.learnt = AnswerSequence(state, lambda row: row not in never)
        self.measuring = AnswerSequence(state, frozenset(check).__contains__)

    def update(self, rows: Collection[int]) -> None:
        """See anew what rows have come to that were judged."""
        self.learnt.update(rows)
        self.measuring.update(rows)
        if self._closed is not self._state.closed:
            self._closed = self._state.closed
            self.aside = self._never | self._closed


class ReadModel:
    """In-memory projection of a campaign's journal, with its rows; events are applied once each."""

    def __init__(self, store: Store) -> None:
        """Replay the journal."""
        self.store, self.setup = store, store.setup()
        self.copies: CopyGroups = copy_groups(store)
        with paused_collection():
            self.state: JournalState = store.state()
        self.lock = RLock()
        """Held by whoever changes the state, or reads several things as of one moment."""
        self.changes = 0
        """How many events were applied since the journal was replayed."""
        self._listeners = list[Callable[[Sequence[Event]], None]]()
        self._items = dict[int, Item]()
        self._places: dict[str, int] | None = None
        self._check_rows: tuple[object, tuple[int, ...]] = (None, ())
        self._task: RankingTask | None = None
        self._split: AnswerSplit | None = None
        self._judged = set[int]()  # rows that the split does not know of yet
        self._given = self._count_given()
        self._note_rows()
        self._number = max((event.number for event in self.state.events.values()), default=0)

    # ------------------------------------------------------------ events

    def subscribe(self, listener: Callable[[Sequence[Event]], None]) -> None:
        """Have a listener called with the new events of every :meth:`apply`, under the lock."""
        self._listeners.append(listener)

    def catch_up(self) -> None:
        """Apply what other processes wrote, where there may be others."""
        self.glance()

    def glance(self) -> Glance | None:
        """What other processes did lately, their events applied; None where there are none."""
        seen = self.store.glance(self._number)
        if seen is not None and seen.events:
            self.apply(seen.events)
            with self.lock:  # what is written here takes its turn among them
                self._number = max(self._number, seen.events[-1].number)
        return seen

    def apply(self, events: Sequence[Event]) -> None:
        """Apply events to the state and tell the listeners; known ones change nothing."""
        with self.lock:
            for event in events:  # one that follows the last known leaves nothing out
                self._number += event.number == self._number + 1
            new = [event for event in events if event.key not in self.state.events]
            judged = self.state.apply(*new)
            self._judged.update(judged)
            self._note_labels(judged)
            self._task = None
            self.changes += len(new)
            for listener in self._listeners:
                listener(new)

    def reload_rows(self) -> None:
        """See rows that joined the campaign since, and what is known of them."""
        with self.lock:
            self.setup = self.store.setup()
            vars(self).pop("X", None)
            self.copies = copy_groups(self.store)
            self._note_rows()
            vars(self).pop("ids", None)
            self.changes += 1
            self.apply(self.store.events())
            self._given = self._count_given()

    def _note_rows(self) -> None:
        """Keep which rows have a label, and which are copies, as masks: questions look at all."""
        self._is_labelled, self._is_copy = (np.zeros(self.setup.rows, dtype=bool) for _ in range(2))
        self._is_copy[list(self.copies.copies)] = True
        self._note_labels(self.state.labels)

    def _note_labels(self, rows: Collection[int]) -> None:
        """See anew which of some rows have a label."""
        for row in rows:
            if row < len(self._is_labelled):  # others have yet to join here
                self._is_labelled[row] = row in self.state.labels

    def _count_given(self) -> int:
        """How many rows that are asked came with a label, so that nobody asked about them."""
        given = (event for event in self.state.events.values() if event.kind is Kind.IMPORT)
        return len({row for event in given for row in event.rows} - self.copies.copies)

    # ------------------------------------------------------------ what holds

    def wants(self, row: int) -> bool:
        """Whether a row wants answers, of whomever."""
        return self.state.verdict(row).wants(self.setup.people)

    def label(self, row: int, who: str | None = None) -> str | None:
        """The label of a row, or the one that a person gave it."""
        if who is None:
            return self.state.labels.get(row)
        said = self.state.verdict(row).naming.get(who)
        return said and said.label

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes there are."""
        with self.lock:
            return self.state.classes(self.setup.classes)

    @property
    def sought(self) -> str | None:
        """The class of which nearly all rows are to be found, by its present name, if it is one."""
        with self.lock:
            name = self.state.name_of(self.setup.find) if self.setup.find else None
            return name if name in self.classes else None

    @property
    def has_many_people(self) -> bool:
        """Whether so many people answer that none of them is waited for."""
        return len(self.state.people) >= MANY_PEOPLE

    def task(self) -> RankingTask:
        """What is to be ranked now; made once after a change, from what it changed."""
        with self.lock:
            if self._task is None:
                split = self._updated_split()
                self._task = RankingTask(
                    split.learnt.all(),
                    self.classes,
                    split.aside,
                    split.measuring.all(),
                    1 + min(max(len(self.state.people), 1), MANY_PEOPLE),
                    self.setup.rows,
                    find=self.sought,
                    multi=self.setup.multi,
                )
            return self._task

    def _updated_split(self) -> AnswerSplit:
        """Which answers are for what, by all events so far."""
        split, check = self._split, self.check_rows
        if split is None or split.copies is not self.copies or split.check is not check:
            split = self._split = AnswerSplit(self.state, self.copies, check)
        else:
            split.update(self._judged)
        self._judged.clear()
        return split

    # ------------------------------------------------------------ check rows

    @property
    def check_rows(self) -> tuple[int, ...]:
        """Hold-out set: rows drawn at random to measure the model, which never learns from them.

        Those drawn at the start, from the rows there were then, and those drawn since.
        """
        draws, rows = self._check_rows
        if draws is not self.state.draws:
            draws = self.state.draws
            rows = tuple(sorted({*self._first_check_rows, *self.drawn_rows}))
            self._check_rows = draws, rows
        return rows

    @functools.cached_property
    def _first_check_rows(self) -> tuple[int, ...]:
        """The check rows drawn at the start."""
        if CHECK in self.store.array_names():
            return tuple(self.store.array(CHECK).tolist())
        begun, setup = CopyGroups.apart(self.setup.begun or self.setup.rows), self.setup
        return tuple(first_check_rows(begun, setup.seed, setup.check).tolist())

    @property
    def most_check_rows(self) -> int:
        """How many check rows there may be: half of all rows that are asked."""
        return self.asked // 2

    @property
    def asked(self) -> int:
        """How many rows may be asked about: all but the copies of others."""
        return self.setup.rows - len(self.copies.copies)

    def draw_check_rows(self, count: int) -> tuple[int, ...]:
        """Places of so many more check rows, uniformly at random from all rows that are none yet.

        Copies of others are not drawn: they go with the row that is asked in their stead.
        Whether a row has a label does not matter: one that has moves from the rows that the model
        learns from to those that measure it, and counts as answered. So the sample stays random,
        and is not one of the rows that the model did not care to ask about.
        """
        with self.lock:
            drawn, draws = set(self.check_rows), len(self.state.draws)
        check = self.copies.whole_groups(drawn) | self.copies.copies
        more = self.most_check_rows - len(drawn)
        if not 1 <= count <= more:
            room = f"from 1 to {more}" if more > 0 else "none, for there are enough"
            raise RefusedError(
                f"rows must be {room}, as at most {self.most_check_rows} of {self.asked} may "
                f"be check rows; got {count} more than {len(drawn)}. Draw fewer."
            )
        rng = np.random.default_rng([self.setup.seed, crc32(b"check"), 1 + draws])
        order = rng.permutation(self.setup.rows).tolist()
        return tuple(sorted(islice((row for row in order if row not in check), count)))

    @property
    def is_check_due(self) -> bool:
        """Whether the next question is to be about a check row of the start."""
        with self.lock:
            labels = self.state.labels
            asked = len(labels.keys() - self.copies.copies)
            learnt = asked - sum(row in labels for row in self.check_rows) - self._given
            checked = sum(row in labels for row in self._first_check_rows)
            return checked < learnt // (EVERY - 1)

    @property
    def drawn_rows(self) -> tuple[int, ...]:
        """Check rows that somebody drew since the start, to be asked about before all others."""
        return tuple(row for one in self.state.draws for row in one)

    # ------------------------------------------------------------ rows

    @functools.cached_property
    def X(self) -> Matrix:
        """(m, d), rows as numbers; read once somebody wants them, for there may be very many."""
        return self.store.array("X")

    def items(self, rows: Iterable[int]) -> dict[int, Item]:
        """Rows as their source has them, through a bounded cache.

        While somebody's answer is being written, a SQLite file cannot be read: a question would
        wait for it.
        """
        wanted, known = list(rows), self._items
        missing = [row for row in wanted if row not in known]
        found = self.store.items(missing) if missing else {}
        if len(known) >= CACHED_ITEMS:
            self._items = {}
        self._items.update(found)
        return {row: found[row] if row in found else known[row] for row in wanted}

    @functools.cached_property
    def ids(self) -> tuple[str, ...]:
        """What the user calls each row, by its place."""
        places = self.store.places()
        return tuple(sorted(places, key=places.__getitem__))

    def place_of(self, name: str) -> int | None:
        """The place of the row that has an id; None if none has."""
        if self._places is None or len(self._places) != self.setup.rows:  # others may have joined
            self._places = self.store.places()
        return self._places.get(name)

    def shown_id(self, row: int) -> str:
        """What a row is called in the page; a folder that tells its label shows once it has one."""
        return self._shown(self.ids[row], row)

    def shown(self, item: Item) -> Item:
        """A row as it may be shown: see :meth:`shown_id`."""
        media = item.media and self._shown(item.media, item.row)
        return replace(item, id=self._shown(item.id, item.row), media=media)

    def _shown(self, path: str, row: int) -> str:
        """A path without its folders, where they give away a label that is still asked for."""
        is_hidden = self.setup.hidden_folders and row not in self.state.labels
        return last_part(path) if is_hidden else path

    def nearest(self, row: int, most: int) -> list[tuple[int, str, float]]:
        """The nearest labelled neighbours of a row: place, label, and Euclidean distance."""
        with self.lock:
            is_known = self._is_labelled & ~self._is_copy
            is_known[[row, *self.copies.others(row)]] = False
        rows, labels = np.flatnonzero(is_known), self.state.labels
        distances = self._distances(rows, row)
        near = _least(distances, most)
        said = ((int(rows[at]), labels.get(int(rows[at])), float(distances[at])) for at in near)
        return [(other, label, distance) for other, label, distance in said if label is not None]

    def nearest_rows(self, row: int, excluded: Collection[int], most: int) -> list[int]:
        """Places of the rows nearest to a row, those excluded left out."""
        rows = np.setdiff1d(np.arange(self.setup.rows), list(excluded), assume_unique=True)
        distances = self._distances(rows, row)
        return rows[_least(distances, most)].tolist()

    def nearly_same(self, row: int, rows: Sequence[int]) -> list[Item]:
        """Those of some rows whose text and picture are nearly the same as those of a row."""
        items = self.items([row, *rows])
        item, others = items[row], [items[other] for other in rows]
        is_near = np.full(len(others), fill_value=bool(self._texts or item.media))
        if self._texts:
            is_near &= nearly_same_texts(self._text(item), [self._text(one) for one in others])
        if item.media and self.setup.folder:
            names = [one.media or "" for one in others]
            is_near &= nearly_same_pictures(Path(self.setup.folder), item.media, names)
        return [one for one, is_so in zip(others, is_near, strict=True) if is_so]

    @property
    def _texts(self) -> list[int]:
        """Places of the fields that are texts."""
        texts = [name for name, kind, _ in self.setup.columns if kind == ColumnKind.TEXT]
        named = texts or [self.setup.text]
        return [place for place, name in enumerate(self.setup.fields) if name in named]

    def _text(self, item: Item) -> str:
        """The text of a row."""
        return " ".join(item.cells[place] or "" for place in self._texts)

    def uncertain_neighbours(self, row: int, ranking: Ranking | None) -> int:
        """How many other rows without a label are near a row, and the model is not sure of them.

        Of a large pool only those are counted that the ranking looked at.
        """
        if ranking is None or ranking.is_cold:
            return 0
        with self.lock:
            is_known = self._is_labelled | self._is_copy
            is_known[row] = True
        unsure = ranking.looked_at[ranking.necessity < CERTAIN]
        unsure = unsure[~is_known[unsure]]
        near = self._distances(unsure, row) / ranking.usual_distance < NEAR
        return int(np.count_nonzero(near))

    def close_rows(self, row: int, ranking: Ranking, label: str | None) -> list[int]:
        """Places of rows without a label that are near a row, the nearest first; no copies.

        Of a large pool only those are found that the ranking looked at.

        Args:
            row: the row.
            ranking: that knows the usual distance, and what is predicted.
            label: the class, by its present name, that is to be predicted of them; None if it
                does not matter.
        """
        with self.lock:
            is_known = self._is_labelled | self._is_copy
            is_known[row] = True
            names = np.array([self.state.name_of(one) for one in ranking.classes], dtype=object)
        is_open = ~is_known[ranking.looked_at]
        if label is not None:
            is_open &= np.isin(ranking.predicted, np.flatnonzero(names == label))
        rows = ranking.looked_at[is_open]
        distances = self._distances(rows, row) / ranking.usual_distance
        order = np.argsort(distances, kind="stable")[: np.count_nonzero(distances < NEAR)]
        return rows[order].tolist()

    def _distances(self, rows: Places, row: int) -> Vector:
        """Euclidean distances of rows from a row, block by block: a pool may be large."""
        found = np.empty(len(rows))
        for at in range(0, len(rows), BLOCK):
            part = slice(at, at + BLOCK)
            apart = np.take(self.X, rows[part], axis=0)
            apart -= self.X[row]
            found[part] = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        return found


def _least(values: Vector, most: int) -> Places:
    """Places of the least values, in their order; of equals the first."""
    if len(values) > most > 0:
        near = np.flatnonzero(values <= np.partition(values, most - 1)[most - 1])
        return near[np.argsort(values[near], kind="stable")[:most]]
    return np.argsort(values, kind="stable")[:most]


def last_part(path: str) -> str:
    """A path without its folders."""
    return path.rpartition("/")[2] or path
