"""A labelling campaign in memory: ask which row to label, tell its label, undo, predict.

    campaign = Campaign.start(frame, classes=["no", "yes"])
    (row,) = campaign.ask()
    campaign.tell(row, "yes")

It holds a :class:`~possibal.campaign.snapshot.Snapshot` and replaces it whenever something changes.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from possibal.acquisition.registry import strategy_name
from possibal.acquisition.strategy import Strategy
from possibal.arguments import DEFAULT_STRATEGY, check_listed, is_hashable, whole
from possibal.arrays import Matrix, Places, as_python
from possibal.campaign.answer import Answer, check_answer, check_row
from possibal.campaign.encoding import ColumnChoice, RowEncoding, encode_pool, is_table
from possibal.campaign.frame_output import frame_cells
from possibal.campaign.interface import CampaignInterface
from possibal.campaign.label_set_snapshot import LabelSetSnapshot, check_multi
from possibal.campaign.learning_curve import CurvePoint
from possibal.campaign.pool_map import RowPoint, pool_map, pool_plane
from possibal.campaign.question import RowDisplay, RowQuestion, question_of
from possibal.campaign.snapshot import Snapshot
from possibal.campaign.stopping import Advice
from possibal.data.copies import CopyGroups
from possibal.data.row_ids import Ids, listed_ids, row_ids
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.pool.cache import BUDGET

MOST_UNDONE = 1000
"""Changes that can be undone, the last ones."""


class Campaign(CampaignInterface):
    """A campaign in memory; see :meth:`start`.

    Attributes:
        snapshot: the campaign as it is now, as an immutable value.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        encoding: RowEncoding | None = None,
        source: object = None,
        label: str | None = None,
        copies: CopyGroups | None = None,
    ) -> None:
        """Go on from a snapshot; :meth:`start` makes the first.

        Args:
            snapshot: to begin with.
            encoding: how rows became its numbers; as they are if left out.
            source: the frame that they were in.
            label: the column of labels in it.
            copies: which rows say the same, by their places; if left out, none do.
        """
        ids, groups = snapshot.pool.ids, copies or CopyGroups.apart(0)
        self._copies = {ids[row]: ids[groups.leader(row)] for row in sorted(groups.copies)}
        self._copies_of = {
            row: [ids[other] for other in groups.others(snapshot.pool.places[row])]
            for row in set(self._copies.values())
        }
        self.snapshot = snapshot
        self._made_by, self._given, self._label = encoding or RowEncoding(), source, label
        self._before = deque[tuple[Hashable | None, Snapshot]](maxlen=MOST_UNDONE)
        self._plane: Matrix | None = None
        self._lock = RLock()  # a widget answers beside the cells of its notebook

    @classmethod
    def start(  # noqa: PLR0913 - all but X are named
        cls,
        X: Any,  # noqa: ANN401 - frames of several libraries, and arrays
        *,
        ids: Ids = None,
        classes: ArrayLike | None = None,
        strategy: str | Strategy = DEFAULT_STRATEGY,
        classifier: object = None,
        seed: int = 0,
        memory: float = BUDGET,
        label: str | None = None,
        text: Any = None,  # noqa: ANN401 - a column, or several
        columns: Any = None,  # noqa: ANN401 - as a file's are chosen
        by: Any = None,  # noqa: ANN401 - a word, or several
        encoder: object = None,
        copies: bool = True,
        find: Hashable | None = None,
        multi: bool = False,
    ) -> Self:
        """A campaign without answers of anybody.

        Args:
            X: the rows. A data frame, or a list of dicts, may hold numbers, words, texts, dates
                and gaps: its columns are encoded and standardised. The numbers of an array are
                taken as they are, so its columns should be of one scale.
            ids: what the rows are called, each once, or the column of a frame that has it. If left
                out, the index of a pandas frame that is not a plain 0 to m - 1, else 0 to m - 1.
            classes: all labels there may be, in place of those of the classifier. If left out,
                those of the label column where it has two, else they are learnt from the answers.
            strategy: a name in :data:`~possibal.acquisition.STRATEGIES`, or one of your own.
            classifier: a :class:`~possibal.PossibilisticGPClassifier` or
                :class:`~possibal.PossibilisticLogisticRegression`; any scikit-learn classifier with
                predict_proba, which asks by its probabilities alone and has no necessity; or a
                pipeline that ends in one, whose transformers are fitted to all rows, without
                labels. It is copied. Length-scales follow the usual distance of two rows.
            seed: the same seed asks the same questions.
            memory: bytes of the cache that a large pool keeps from one question to the next.
            label: the column of labels that are known already.
            text: the column of texts, or several.
            columns: the columns of a frame that are learnt from and no others, or the kind of some
                by name: "number", "category", "text", "date", "picture", "id", "label" or
                "left out".
            by: what texts are compared by, "meaning" or "words", and pictures, "objects" or
                "colours"; if left out the first of these, where its model is installed and
                understands the rows.
            encoder: a model of your own for texts or pictures: a function from a list of texts, or
                of pictures of Pillow, to an array; an object with such a method called encode; or
                the path of a model. Where rows have both, {"text": ..., "image": ...}.
            copies: whether rows of a frame that say the same (texts but for case and digits,
                pictures but for how they were saved, all else equal) are asked once and labelled
                together.
            find: the class of which nearly all rows are to be found: once it is known, the rows
                that are likeliest of it are asked about first, and :attr:`advice` says how much
                of it was found.
            multi: whether a row may have several of the classes, one or none: labels are then
                lists of classes, and a cell of the label column joins them, as sport|health.
        """
        ids = listed_ids(ids)
        roles = ColumnChoice(
            ids if isinstance(ids, str) else None, label, text, columns, by, encoder, copies, multi
        )
        model = PossibilisticGPClassifier() if classifier is None else classifier
        pool = encode_pool(X, roles, model, ids)
        named = pool.classifier.classes if classes is None else classes
        check_multi(multi=multi, find=find, classes=named, classifier=pool.classifier)
        kind = LabelSetSnapshot if multi else Snapshot
        snapshot = kind.start(
            pool.X,
            ids=row_ids(X, ids, pool.X.shape[0] if hasattr(pool.X, "shape") else len(pool.X)),
            classes=_classes_of(pool.labels, multi=multi) if named is None else named,
            strategy=strategy,
            classifier=pool.classifier,
            seed=seed,
            memory=memory,
            find=find,
        )
        told = zip(snapshot.pool.ids, pool.labels, strict=False)
        campaign = cls(snapshot, pool.encoding, X if is_table(X) else None, pool.label, pool.copies)
        known = (Answer(row, one) for row, one in told if one is not None)
        campaign.snapshot = snapshot.replay(campaign._asked(known)).without(campaign._copies)
        return campaign

    # ------------------------------------------------------------ verbs

    def tell(self, row: Hashable, label: Hashable) -> Self:
        """Keep the label of a row that has none; the campaign itself, which is changed.

        Rows that say the same have one label, whichever of them is told or edited.
        """
        return self._change(row, lambda now: now.tell(self._leader(row), label))

    def edit(self, row: Hashable, label: Hashable) -> Self:
        """Keep another label of a row."""
        return self._change(row, lambda now: now.edit(self._leader(row), label))

    def skip(self, row: Hashable) -> Self:
        """Put a row off; it comes back when no other is left."""
        return self._change(row, lambda now: now.skip(self._leader(row)))

    def undo(self) -> Hashable | None:
        """Take the last change back; the row that it was about, None if it was about none."""
        with self._lock:
            if not self._before:
                return None
            row, self.snapshot = self._before.pop()
            return row

    def add_class(self, name: Hashable) -> Self:
        """Let there be one more label to choose from."""
        return self._change(None, lambda now: now.add_class(name))

    def rename_class(self, old: Hashable, new: Hashable) -> Self:
        """Give a class another name, also where rows have it as their label."""
        return self._change(None, lambda now: now.rename_class(old, new))

    def remove_class(self, name: Hashable) -> Self:
        """Remove a class that no row has as its label."""
        return self._change(None, lambda now: now.remove_class(name))

    def replay(self, answers: Iterable[Answer]) -> Self:
        """Keep many answers, one after the other; all of them or none, and undone together."""
        return self._change(None, lambda now: now.replay(self._asked(answers)))

    def without(self, rows: Iterable[Hashable]) -> Self:
        """Never ask about these rows; their answers are welcome all the same."""
        return self._change(None, lambda now: now.without(rows))

    # ------------------------------------------------------------ what follows

    def ask(self, n: int = 1) -> list[Any]:
        """The rows to label next, the best first; fewer where fewer are left.

        See :meth:`possibal.campaign.snapshot.Snapshot.ask` for how they are chosen.
        """
        count = min(whole("n", n, 1), len(self.snapshot.left))
        return list(self.snapshot.ask(count)) if count else []

    @property
    def advice(self) -> Advice:
        """Whether to go on asking, and why."""
        return self.snapshot.advice

    @property
    def labels(self) -> dict[Hashable, Hashable]:
        """The label of each row that has one, in the order in which they came by it."""
        labels = self.snapshot.labels
        return {
            one: label
            for row, label in labels.items()
            for one in (row, *self._copies_of.get(row, ()))
        }

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers in the order in which they were given, one for rows that say the same."""
        return self.snapshot.answers

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """The labels there may be: those named, else those answered and added."""
        return self.snapshot.classes

    @property
    def rows(self) -> tuple[Any, ...]:
        """The ids of all rows, in the order of the pool."""
        return self.snapshot.pool.ids

    @property
    def left(self) -> tuple[Any, ...]:
        """The ids of the rows that still want a label, in the order of the pool."""
        return self.snapshot.left

    def report(self) -> dict[str, Any]:
        """How far the campaign is, as plain values."""
        advice = self.advice
        return {
            "rows": len(self.rows),
            "answered": len(self),
            "left": len(self.left),
            "balance": self._counted(self.labels.values()),
            "advice": {"state": advice.state.value, "reason": advice.reason},
            "sought": self.snapshot.find,
            "recall": self.recall and self.recall.report(self.snapshot.find),
        }

    # ------------------------------------------------------------ for people to look at

    def question(self, row: Hashable) -> RowQuestion:
        """A row as people see it: what it is, why it is asked about, and what is predicted."""
        self._check_one_label("question")
        snapshot, name = self.snapshot, as_python(row)
        check_row(name, snapshot.pool.places, {})
        place = snapshot.pool.places[name]
        cells = self._cells(np.array([place], dtype=np.intp))
        display = self._made_by.display or RowDisplay(tuple(cells))
        shown = {column: values[0] for column, values in cells.items()}
        found = question_of(snapshot, place, shown, display)
        said, copies = self.labels.get(name), len(self._copies_of.get(name, ()))
        return replace(found, said=said, copies=copies)

    def map(self) -> list[RowPoint]:
        """Rows as points in the plane, alike ones side by side: a sample, and all with a label."""
        self._check_one_label("map")
        if self._plane is None:
            self._plane = pool_plane(self.snapshot)
        return pool_map(self.snapshot, self._plane, self.labels)

    # ------------------------------------------------------------ inside

    def _leader(self, row: Hashable) -> Hashable:
        """The row that is asked in the stead of a row."""
        name = as_python(row)
        return self._copies.get(name, row) if is_hashable(name) else row

    def _asked(self, answers: Iterable[Answer]) -> list[Answer]:
        """Answers about the rows that are asked; of copies that have the same label, the first."""
        found, told = list[Answer](), dict[Hashable, Hashable]()
        check_listed("answers", answers)
        for one in answers:
            check_answer(one)
            row = self._leader(one.row)
            has_copies = is_hashable(row) and row in self._copies_of
            if has_copies and row in told and told[row] == one.label:
                continue
            if has_copies:
                told[row] = one.label
            found.append(replace(one, row=row))
        return found

    def _change(self, row: Hashable | None, step: Callable[[Snapshot], Snapshot]) -> Self:
        """Go on from another snapshot, and remember this one without what was worked out for it."""
        with self._lock:
            then = step(self.snapshot)
            self._before.append((as_python(row), replace(self.snapshot)))
            self.snapshot = then
        return self

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, which stays in its process."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """As it was, with a lock of its own."""
        vars(self).update(state, _lock=RLock())

    @property
    def _moment(self) -> Snapshot:
        """The campaign as it is now."""
        return self.snapshot

    def _check_curve(self) -> Sequence[CurvePoint]:
        """None: a campaign in memory has no check rows."""
        return ()

    @property
    def _strategy_name(self) -> str:
        """What the strategy is called."""
        return strategy_name(self.snapshot.strategy)

    @property
    def _encoding(self) -> RowEncoding:
        """How rows become numbers."""
        return self._made_by

    @property
    def _known_advice(self) -> Advice | None:
        """The advice, if it was worked out already."""
        return vars(self.snapshot).get("advice")

    @property
    def _source(self) -> object:
        """The frame that the pool was given as, if it was one."""
        return self._given

    @property
    def _superseded(self) -> Sequence[str]:
        """The column of labels, which the campaign knows more of."""
        return [] if self._label is None else [self._label]

    def _cells(self, places: Places) -> Mapping[str, Sequence[object]]:
        """The columns of the frame that was given; none of an array."""
        found = {} if self._given is None else frame_cells(self._given, places)
        return {name: cells for name, cells in found.items() if name not in self._superseded}


def _classes_of(labels: Sequence[Hashable | None], *, multi: bool) -> ArrayLike | None:
    """The classes of a label column, if it has enough to choose from."""
    known = [label for label in labels if label is not None]
    sets = cast("list[tuple[Hashable, ...]]", known) if multi else [(label,) for label in known]
    found = {one for members in sets for one in members}
    return cast("ArrayLike", list(found)) if len(found) > 1 else None
