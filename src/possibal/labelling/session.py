"""Session of a stored campaign in Python: the same journal as the page's.

campaign = possibal.open_campaign("answers.db", pool=frame, ids="doc_id")
(row,) = campaign.ask()
campaign.tell(row, "spam")
"""

import os
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, Self, cast
from uuid import uuid4

import numpy as np

from possibal.arguments import check_listed, is_hashable, whole
from possibal.arrays import Places, as_python
from possibal.campaign.answer import Answer, check_label, check_no_truth
from possibal.campaign.encoding import ColumnChoice, RowEncoding, check_encoded_once
from possibal.campaign.frame_output import frame_cells
from possibal.campaign.interface import CampaignInterface
from possibal.campaign.label_set_snapshot import check_multi
from possibal.campaign.learning_curve import CurvePoint
from possibal.campaign.pool import Pool
from possibal.campaign.pool_map import RowPoint
from possibal.campaign.question import PredictedLabel, RowQuestion, picture_file, question_fields
from possibal.campaign.recall import RecallEstimate
from possibal.campaign.snapshot import Snapshot
from possibal.campaign.stopping import Advice
from possibal.data.comparison import kept_comparisons
from possibal.data.frames import as_frame
from possibal.data.label_sets import check_members, check_texts, label_set
from possibal.data.name_types import NameType, name_type, written
from possibal.data.row_ids import Ids, listed_ids
from possibal.embedding.cache import cache_beside, withdrawn_if_refused
from possibal.errors import AlreadyAnsweredError, RefusedError
from possibal.estimators.classifier import unfitted
from possibal.estimators.latent_gaussian import LatentGaussianClassifier
from possibal.estimators.pipeline import (
    CampaignPipeline,
    PossibilisticPipeline,
    as_possibilistic,
    for_campaign,
)
from possibal.estimators.probability_model import ProbabilityModel
from possibal.labelling import label_files
from possibal.labelling.class_changes import added_all
from possibal.labelling.create import Options, create_campaign, feature_recipe
from possibal.labelling.exchange import formats
from possibal.labelling.growth import kept_copies, kept_roles
from possibal.labelling.overview import Overview
from possibal.labelling.pool_intake import PoolSpec, SessionPool, ingest_pool, resumed_pool
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import ReadModel
from possibal.labelling.remarks import text_of
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.database import address, file_of
from possibal.labelling.storage.journal import Event, Kind, check_who
from possibal.labelling.storage.store import Setup, Store
from possibal.progress import patient_shares

PYTHON = "python"
"""Who answers from Python if nobody says otherwise."""
ENOUGH_CLASSES = 2
"""Where so many are named, there are no others until somebody adds one."""


class StoredCampaign(CampaignInterface):
    """A campaign in a database. Close it, or use it in a ``with`` block.

    Every answer is durable when its method returns.
    """

    def __init__(
        self,
        store: Store,
        who: str = PYTHON,
        classifier: LatentGaussianClassifier | None = None,
        pool: SessionPool | None = None,
    ) -> None:
        """Answer as a person; see :func:`open_campaign`.

        Args:
            store: of the campaign.
            who: the person.
            classifier: not fitted; the usual one if left out.
            pool: what is known of it beside what is stored, if it was given in this session.
        """
        self._store, self._who, self._made = store, who, 0
        self._lock = RLock()  # a widget answers beside the cells of its notebook
        setup = store.setup()
        own = None if classifier is None else unfitted(classifier).set_params(classes=None)
        X = store.array("X")
        self._ranker = InProcessRanker(X, setup.strategy, setup.seed, setup.geometry, own)
        self._read_model = ReadModel(store)
        self._scheduler = RankingScheduler(self._read_model, self._ranker, background=False)
        self._service = LabellingService(self._read_model, self._scheduler)
        self._overview = Overview(self._read_model, self._scheduler)
        self._label_type, id_type = NameType(setup.label_type), NameType(setup.id_type)
        self._texts = store.places()
        self._places = {id_type.read(text): place for text, place in self._texts.items()}
        self._ids = tuple(sorted(self._places, key=self._places.__getitem__))
        self._session = pool or SessionPool()
        self._recipe = RowEncoding(
            feature_recipe(store),
            encoder=self._session.encoder,
            cache=_cache_of(file_of(store.url)),
            notes=setup.notes,
        )
        self._latest: tuple[int, Snapshot] | None = None
        self._named: tuple[Pool, Pool] | None = None

    # ------------------------------------------------------------ verbs

    def tell(self, row: Hashable, label: Hashable) -> Self:
        """Keep the label of a row that has none, and of its copies; the campaign, which is changed.

        Where no classes were named, a label that is new becomes one.
        """
        place = self._open_place(row)
        return self._do(Kind.LABEL, place, self._class_of(label))

    def edit(self, row: Hashable, label: Hashable) -> Self:
        """Keep another label of a row."""
        place = self._place(row)
        return self._do(Kind.EDIT, place, self._class_of(label))

    def skip(self, row: Hashable) -> Self:
        """Put a row off; it comes back later."""
        return self._do(Kind.SKIP, self._open_place(row))

    def unsure(self, row: Hashable) -> Self:
        """Leave a row to somebody else."""
        return self._do(Kind.UNSURE, self._place(row))

    def bad(self, row: Hashable) -> Self:
        """Drop a row for everybody."""
        return self._do(Kind.BAD, self._place(row))

    def undo(self) -> Hashable | None:
        """Take this person's last change back; the row that it was about, None if there is none."""
        with self._lock:
            undone = self._service.undo(Event(uuid4().hex, Kind.UNDO, self._who, self._now()))
        return None if undone is None or undone.row is None else self.rows[undone.row]

    def add_class(self, name: Hashable) -> Self:
        """Let there be one more label to choose from."""
        self._service.add_class(self._new_class(name), self._who)
        return self

    def rename_class(self, old: Hashable, new: Hashable) -> Self:
        """Give a class another name, also where rows have it as their label."""
        self._service.rename_class(self._written(old), self._new_class(new), self._who)
        return self

    def remove_class(self, name: Hashable) -> Self:
        """Remove a class that no row has as its label."""
        self._service.remove_class(self._written(name), self._who)
        return self

    def describe_class(
        self, name: Hashable, description: str | None = None, colour: str | None = None
    ) -> Self:
        """Say what the page shows of a class; None leaves it as it is, empty text takes it away.

        Args:
            name: of the class.
            description: a sentence that is shown while people label.
            colour: such as #3366cc.
        """
        self._service.describe_class(self._written(name), self._who, description, colour)
        return self

    @property
    def guidelines(self) -> str:
        """How to label, as the page shows it beside every question; empty if nobody wrote that."""
        return text_of(self._read_model.state.guidelines)

    def write_guidelines(self, text: str) -> Self:
        """Say how to label; empty text takes it away."""
        self._service.revise_guidelines(text, self._who)
        return self

    def comment(self, row: Hashable, text: str) -> Self:
        """Remark something on a row, in the place of what you remarked before; empty text is none.

        Args:
            row: its id.
            text: of at most 2000 characters.
        """
        self._service.comment(self._place(row), text, self._who)
        return self

    def comments(self, row: Hashable) -> dict[str, str]:
        """What each person remarked on a row."""
        return self._read_model.state.verdict(self._place(row)).comments

    def merge_classes(self, name: Hashable, into: Hashable) -> Self:
        """Let a class count as another that there is."""
        self._service.merge_classes(self._written(name), self._written(into), self._who)
        return self

    def add_check_rows(self, count: int = 0, *, up_to: int = 0) -> list[Hashable]:
        """Draw more rows at random that only measure the model; their ids.

        Args:
            count: how many more.
            up_to: or how many there are to be, if there are fewer.
        """
        more = max(
            whole("count", count, 0), whole("up_to", up_to, 0) - len(self._read_model.check_rows)
        )
        places = self._service.add_check_rows(more, self._who) if more > 0 else ()
        return [self._ids[place] for place in places]

    # ------------------------------------------------------------ files

    def export(
        self,
        to: str | os.PathLike[str],
        format: str | None = None,  # noqa: A002 - what the command line calls it
        *,
        force: bool = False,
    ) -> Self:
        """Write all labels to a file, or all rows for another labelling platform.

        Args:
            to: a file that ends in .csv, .parquet or .jsonl, with who said what of which row. For
                label-studio it ends in .json, for prodigy and doccano in .jsonl, and for
                huggingface it is a folder.
            format: "label-studio", "prodigy", "doccano" or "huggingface"; if left out, labels.
            force: whether to write over what this method did not write; never over the rows.
        """
        self._read_model.catch_up()
        path = Path(to)
        if format is None:
            label_files.write_labels(self._store, path, force=force)
            return self
        formats.check_exchange(format, path, self._store, force=force)
        with patient_shares() as tell:
            ranking = self._ranker.rank_all(self._read_model.task(), partial(tell, "predicting"))
        known = None if ranking.is_cold else RankingPredictions(ranking, self._read_model)
        formats.export_exchange(self._read_model, known, format, path)
        return self

    def import_labels(self, file: str | os.PathLike[str], encoding: str | None = None) -> int:
        """Bring in what a file of labels, or of another labelling platform, says: all or nothing.

        Args:
            file: with the columns id and label, as :meth:`export` writes it; or what Label Studio
                (JSON), Prodigy or doccano (JSONL) exported.
            encoding: of its text; UTF-8 if left out.

        Returns:
            How many answers were not known yet.
        """
        self._read_model.catch_up()
        events = formats.read_labels(Path(file), self._store, encoding)
        self._service.append(events)
        return len(events)

    # ------------------------------------------------------------ what follows

    def ask(self, n: int = 1) -> list[Any]:
        """The rows to label next, the best first; fewer where fewer are left.

        They are kept for this person for a while. Rows that were asked before and are not
        answered yet come first.
        """
        with self._lock:
            rows = self._service.rows(self._who, whole("n", n, 1))
        return [self.rows[row] for row in rows]

    @property
    def advice(self) -> Advice:
        """Whether to go on asking, and why."""
        with self._lock:
            self._read_model.catch_up()
            known = self._known_advice or self._scheduler.rank().advice
            sought, recall = self._sought, self.recall
        return recall.advice(sought) if recall else known

    @property
    def recall(self) -> RecallEstimate | None:
        """How much of the sought class was found; None where none is, or too little is known."""
        self._read_model.catch_up()
        if self._read_model.sought is not None and self._scheduler.is_behind:
            self._scheduler.rank()
        return self._overview.recall()

    @property
    def labels(self) -> dict[Hashable, Hashable]:
        """The label of each row that has one, in the order in which they came by it."""
        self._read_model.catch_up()
        labelled = self._read_model.state.labelled().items()
        return {self.rows[row]: self._read_label(label) for row, label in labelled}

    def _read_label(self, text: str) -> Hashable:
        """A label in the type of users; where rows have several, the tuple of their classes."""
        setup = self._read_model.setup
        return setup.syntax.members(text) if setup.multi else self._label_type.read(text)

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """The labels there may be."""
        return tuple(map(self._label_type.read, self._read_model.classes))

    @property
    def rows(self) -> tuple[Any, ...]:
        """The ids of all rows, in the order of the pool."""
        return self._ids

    @property
    def left(self) -> tuple[Any, ...]:
        """The ids of the rows that still want a label, in the order of the pool."""
        self._read_model.catch_up()
        people = self._read_model.setup.people
        verdicts = self._read_model.state.verdicts.items()
        done = {row for row, verdict in verdicts if not verdict.wants(people)}
        done |= self._read_model.copies.copies
        return tuple(name for place, name in enumerate(self.rows) if place not in done)

    def report(self) -> dict[str, Any]:
        """How far the campaign is, as plain values."""
        advice = self.advice
        if self._read_model.check_rows:
            self._scheduler.measure()
        now = self._overview.progress()
        stopping = {"state": advice.state.value, "reason": advice.reason}
        balance = {self._label_type.read(one): count for one, count in now.balance.items()}
        found = now.recall and now.recall.report(self._sought)
        known = {"balance": balance, "advice": stopping, "sought": self._sought, "recall": found}
        return {**asdict(now), "left": now.left, **known}

    def close(self) -> None:
        """Close the database."""
        self._scheduler.close()
        self._store.close()

    def __enter__(self) -> Self:
        """The campaign itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    # ------------------------------------------------------------ for people to look at

    def question(self, row: Hashable) -> RowQuestion:
        """A row as the page shows it: what it is, why it is asked about, and what is predicted."""
        self._check_one_label("question")
        self._read_model.catch_up()
        found = self._service.question(self._place(row), self._who)
        setup, item = self._read_model.setup, self._service.shown(found)
        cells = dict(zip(setup.fields, item.cells, strict=True))
        text = None if setup.text is None else cells.pop(setup.text, None) or ""
        owners = tuple(setup.recipe.get("owners", ()))
        important = {setup.fields[at] for at in self._overview.important_fields(owners)}
        media, mine = found.item.media, found.mine and found.mine.label
        return RowQuestion(
            row=self._ids[item.row],
            name=item.id,
            fields=question_fields(list(cells), list(cells.values()), important),
            text=text,
            picture=picture_file(Path(setup.folder), media) if setup.folder and media else None,
            why=found.sentence,
            predicted=found.prediction
            and PredictedLabel(self._typed(found.prediction.label), found.prediction.chance),
            copies=found.copies,
            said=None if mine is None else self._typed(self._read_model.state.name_of(mine)),
        )

    def map(self) -> list[RowPoint]:
        """Rows as points in the plane, alike ones side by side: a sample, and all with a label.

        Where people answer blind, labels are this person's and nothing is predicted.
        """
        self._check_one_label("map")
        self._read_model.catch_up()
        with self._lock:
            if self._scheduler.is_behind:
                self._scheduler.rank()
        points = self._overview.map(self._who if self._read_model.setup.blind else None)
        return [
            RowPoint(
                self._ids[one.row],
                one.id,
                one.x,
                one.y,
                None if one.label is None else self._typed(one.label),
                None if one.predicted is None else self._typed(one.predicted),
                None if one.predicted is None else one.chance,
            )
            for one in points
        ]

    def _typed(self, label: str) -> Hashable:
        """A label in the type of users."""
        return self._label_type.read(label)

    def _check_curve(self) -> Sequence[CurvePoint]:
        """How often the model was right on check rows, after each number of answers; none yet."""
        self._read_model.catch_up()
        if not self._read_model.check_rows:
            return ()
        with self._lock:
            if self._scheduler.is_behind:
                self._scheduler.rank()
            self._scheduler.measure()
        return self._overview.progress().curve

    # ------------------------------------------------------------ as of now, in the types of users

    @property
    def _moment(self) -> Snapshot:
        """The campaign as it is now, with ids and labels in their type."""
        self._read_model.catch_up()
        changes = self._read_model.changes
        if self._latest is None or self._latest[0] != changes:
            self._latest = changes, self._snapshot()
        return self._latest[1]

    def _snapshot(self) -> Snapshot:
        """What the ranker fits, in the types of users."""
        snapshot, read = self._ranker.campaign(self._read_model.task()), self._label_type.read
        model, named = unfitted(snapshot.model), snapshot.model.classes
        if named is not None:
            model.set_params(classes=[read(str(text)) for text in snapshot.classes])
        if self._read_model.setup.multi:  # sets are of texts
            answers = (Answer(self._name(a.row), a.label) for a in snapshot.answers)
        else:
            answers = (Answer(self._name(a.row), read(str(a.label))) for a in snapshot.answers)
        return replace(
            snapshot,
            pool=self._pool(snapshot.pool),
            model=model,
            answers=tuple(answers),
            aside=frozenset(map(self._name, snapshot.aside)),
            find=self._sought,
        )

    @property
    def _sought(self) -> Hashable | None:
        """The class of which nearly all rows are to be found, in the type of users."""
        sought = self._read_model.sought
        return None if sought is None else self._label_type.read(sought)

    def _pool(self, pool: Pool) -> Pool:
        """The ranker's pool with the rows' own ids."""
        if self._named is None or self._named[0] is not pool:
            self._named = pool, replace(pool, ids=self.rows)
        return self._named[1]

    def _name(self, place: Hashable) -> Hashable:
        """The id of the row at a place."""
        return self._ids[cast("int", place)]

    @property
    def _strategy_name(self) -> str:
        """What the strategy is called."""
        return self._read_model.setup.strategy

    @property
    def _encoding(self) -> RowEncoding:
        """How rows become numbers."""
        return self._session.encoding or self._recipe

    @property
    def _known_advice(self) -> Advice | None:
        """The advice, if it was worked out already."""
        ranking = None if self._scheduler.is_behind else self._scheduler.ranking
        return ranking and ranking.advice

    @property
    def _source(self) -> object:
        """The frame of this session's pool, in the campaign's order; None if it lacks a row."""
        frame, order = self._session.frame, self._order
        if order is None or order.tolist() == list(range(len(self._session.ids))):
            return None if order is None else frame
        eager = as_frame(frame)
        return frame if eager is None else eager.frame[order.tolist()].to_native()

    @property
    def _order(self) -> Places | None:
        """Where each row of the campaign stands in the frame of this session, if all do."""
        at = {written(name): place for place, name in enumerate(self._session.ids)}
        found = [at.get(written(name), -1) for name in self.rows]
        is_whole = self._session.frame is not None and -1 not in found
        return np.array(found, dtype=np.intp) if is_whole else None

    @property
    def _superseded(self) -> Sequence[str]:
        """The column of labels, which the campaign knows more of."""
        return [] if self._session.label is None else [self._session.label]

    def _cells(self, places: Places) -> Mapping[str, Sequence[object]]:
        """The columns of the frame of this session, else what people see of rows."""
        order = self._order
        if order is not None:
            own = frame_cells(self._session.frame, order[places])
            return {name: cells for name, cells in own.items() if name not in self._superseded}
        items = self._store.items(places.tolist())
        cells = zip(*(items[place].cells for place in places.tolist()), strict=True)
        return dict(zip(self._read_model.setup.fields, cells, strict=False))

    # ------------------------------------------------------------ inside

    def _place(self, row: Hashable) -> int:
        """Where a row stands, by its id or by that as text."""
        name = as_python(row)
        place = self._places.get(name) if is_hashable(name) else None
        if place is not None:
            check_no_truth(name, self._places)
        place = self._texts.get(written(name)) if place is None else place
        if place is None:
            raise RefusedError(f"row must be an id of the pool; got {row!r}. Tell what was asked.")
        return place

    def _open_place(self, row: Hashable) -> int:
        """Where a row stands that this person gave no label."""
        place = self._place(row)
        mine = self._read_model.state.verdict(place).opinions.get(self._who)
        if mine is not None and mine.label is not None:
            raise AlreadyAnsweredError(
                f"row must not be answered yet; got {row!r}, whose label is "
                f"{self._read_label(mine.label)!r}. Undo it, or change it with edit."
            )
        return place

    def _written(self, name: Hashable) -> str:
        """A class as it is kept: by its value, or by that as text."""
        value = as_python(name)
        known = dict(zip(self.classes, self._read_model.classes, strict=True))
        return known.get(value, written(value)) if is_hashable(value) else written(value)

    def _new_class(self, name: Hashable) -> str:
        """A class as it is to be kept, if it can be."""
        name_type("name", [name])
        if self._read_model.setup.multi:
            check_texts("name", [name])
        return self._written(name)

    def _class_of(self, label: Hashable) -> str:
        """The class that a label names; a new one is added where classes are learnt."""
        self._read_model.catch_up()
        if self._read_model.setup.multi:
            return self._set_of(label)
        text, known = self._written(label), self._read_model.classes
        if text in known:
            return text
        value, classes = as_python(label), list(self.classes)
        is_named = len(self._read_model.setup.classes) >= ENOUGH_CLASSES
        check_label(value, classes if is_named else None, next(iter(classes), None))
        if not known and name_type("label", [value]) is not self._label_type:
            self._label_type = name_type("label", [value])
            self._store.amend(label_type=self._label_type)
        self._service.ensure_class(text, self._who)
        return text

    def _set_of(self, label: Hashable) -> str:
        """The set of classes that a label lists; new ones are added where classes are learnt."""
        members, known = label_set(label), self._read_model.classes
        if len(self._read_model.setup.classes) >= ENOUGH_CLASSES:
            check_members(members, known)
        for name in members:
            self._service.ensure_class(name, self._who)
        return self._read_model.setup.syntax.text(members)

    def _do(self, kind: Kind, row: int | None, label: str | None = None) -> Self:
        """Keep an action."""
        with self._lock:
            self._read_model.catch_up()
            self._service.answer(Event(uuid4().hex, kind, self._who, self._now(), row, label))
        return self

    def _now(self) -> int:
        """The time, later than any before."""
        self._made = max(self._made + 1, self._store.clock())
        return self._made


def open_campaign(  # noqa: PLR0913 - all but the first two are named
    url: str | os.PathLike[str],
    pool: Any = None,  # noqa: ANN401 - frames of several libraries
    *,
    ids: Ids = None,
    id: str | None = None,  # noqa: A002 - what users call it
    label: str | None = None,
    text: Any = None,  # noqa: ANN401 - a column, or several
    columns: Any = None,  # noqa: ANN401 - as a file's are chosen
    classes: Sequence[Hashable] = (),
    strategy: str | None = None,
    classifier: object = None,
    seed: int | None = None,
    people: int | None = None,
    check: int = 0,
    who: str = PYTHON,
    accept_changes: bool = False,
    by: Any = None,  # noqa: ANN401 - a word, or several
    encoder: object = None,
    copies: bool = True,
    find: Hashable | None = None,
    multi: bool | None = None,
) -> StoredCampaign:
    """A campaign in a database: gone on with, or begun with the rows of a pool.

    Args:
        url: a file, or the address of a PostgreSQL database; the page may serve the same one.
        pool: a data frame of any library, a list of dicts, a two-dimensional array, or the path of
            a file. May be left out for a campaign that was begun before; otherwise new rows join
            it, and a pool of other rows is refused.
        ids: what the rows are called, each once, or the column that has it. If left out, the index
            of a pandas frame that is not a plain 0 to m - 1, else 0 to m - 1.
        id: the same, by the word that the command line has for such a column.
        label: the column of labels that are known already.
        text: the column of texts, or several.
        columns: those that are learnt from and no others, or the kind of some by name: "number",
            "category", "text", "date", "picture" (paths from the file's folder, or of a frame
            from the folder you are in), "id", "label" or "left out".
        classes: all labels there may be, of one type; where none are named and the label column
            has no two, they are learnt from the answers. Of a campaign that was begun before,
            those that are new are added, and others stay with a warning.
        strategy: what is asked first; if left out "herding". This, the seed and people cannot
            change: others than those of a campaign that was begun before are refused.
        classifier: a :class:`~possibal.PossibilisticGPClassifier` or
            :class:`~possibal.PossibilisticLogisticRegression`, or a scikit-learn pipeline that
            ends in one. It ranks and predicts in this session; the database keeps the numbers
            that the pipeline makes of the rows, not the pipeline: pass it again, and the pool, to
            predict new rows.
        seed: the same seed asks the same questions; 0 if left out.
        people: how many are to answer each row; 1 if left out. Where there are several, the page
            shows nobody what others and the model say of a row.
        check: rows, drawn at random, that only measure the model; more may be drawn later.
        who: the name under which answers are kept.
        accept_changes: whether rows of the pool that changed, or are missing, since the campaign
            was begun are taken in; labels stay.
        by: what texts are compared by, "meaning" or "words", and pictures, "objects" or "colours";
            if left out the first of these, where its model is installed and understands the rows.
        encoder: a model of your own for texts or pictures: a function from a list of texts, or of
            pictures of Pillow, to an array; an object with such a method called encode; or the path
            of a model. Where rows have both, {"text": ..., "image": ...}.
            Pass it again to go on, if new rows are to be embedded.
        copies: whether rows that say the same (texts but for case and digits, pictures but for how
            they were saved, all else equal) are asked once and labelled together. It
            stays as it was when the campaign began.
        find: the class of which nearly all rows are to be found: the rows that are likeliest of it
            are asked about first, and :attr:`StoredCampaign.advice` says how much of it was found.
            Another than that of a campaign that was begun before is refused.
        multi: whether a row may have several of the classes, one or none: labels are then lists of
            classes, and a cell of the label column joins them, as sport|health. False if left out;
            a campaign stays as it was begun.
    """
    db, names = os.fspath(url), listed_ids(id if ids is None else ids)
    check_who(who)
    check_listed("classes", classes)
    model = None if classifier is None else _stored_model(classifier)
    check_multi(
        multi=False if multi is None else multi,
        find=find,
        classes=classes,
        classifier=_final(model),
    )
    roles = ColumnChoice(
        *(names if isinstance(names, str) else None, label, text, columns),
        *(by, encoder, copies, bool(multi)),
    )
    check_encoded_once(roles, model)
    cache, named = _cache_of(file_of(address(db))), tuple(classes) or _classes_of(model)
    chosen = _chosen(
        strategy=strategy, seed=seed, people=people, check=check, find=_text(find), multi=multi
    )
    given, options = PoolSpec(names, roles, named, accept_changes, cache), Options(**chosen)
    if Store.exists(db):
        with ExitStack() as stack:
            store = stack.enter_context(Store.open(db))
            _check_options(store.setup(), chosen, _final(model))
            campaign = _resumed(store, pool, given, model, who)
            campaign.add_check_rows(up_to=check)
            _tell_kept(campaign, store, given, check)
            stack.pop_all()
        return campaign
    if pool is None:
        raise ValueError(
            f"pool must be given to begin a campaign; got None, and {db!r} holds none. "
            "Pass the rows to label."
        )
    with withdrawn_if_refused(cache):
        with patient_shares() as progress:
            rows, session = ingest_pool(pool, given, model, progress)
        store = create_campaign(db, rows, options)
    return StoredCampaign(store, who, _final(model), session)


def _text(find: Hashable | None) -> str | None:
    """The class to find as it is kept; None where none was named."""
    return None if find is None else written(as_python(find))


def _cache_of(place: Path | None) -> Path | None:
    """The file that keeps embeddings, beside that of a campaign; None where it has no file."""
    return None if place is None else cache_beside(place)


def _check_options(
    setup: Setup, chosen: Mapping[str, object], classifier: LatentGaussianClassifier | None
) -> None:
    """Refuse what cannot change once a campaign was begun, or does not go with it."""
    check_multi(multi=setup.multi, find=None, classes=None, classifier=classifier)
    for name in ("strategy", "seed", "people", "find", "multi"):
        kept = getattr(setup, name)
        given = chosen.get(name, kept)
        if given != kept:
            raise ValueError(
                f"{name} must be {kept!r}, as when the campaign began; got {given!r}. "
                "Leave it out, or begin another campaign."
            )


def _chosen(**options: object) -> dict[str, Any]:
    """Those of some options that were not left out."""
    return {name: value for name, value in options.items() if value is not None}


def _tell_kept(campaign: StoredCampaign, store: Store, given: PoolSpec, check: int) -> None:
    """Warn of all that was asked for, but stays as it is."""
    for sentence in _kept(campaign, store, given, check):
        warnings.warn(sentence, stacklevel=3)


def _kept(campaign: StoredCampaign, store: Store, given: PoolSpec, check: int) -> Iterator[str]:
    """What was asked for, but stays as it is, a sentence for each."""
    spec, drawn = given.spec(), len(ReadModel(store).check_rows) if check else 0
    yield from kept_roles(store.setup(), spec)
    yield from kept_copies(store, spec)
    others = [name for name in campaign.classes if name not in given.classes]
    if given.classes and others:
        yield f"classes stay with {', '.join(map(repr, others))} too; remove_class takes one away."
    if check < drawn:
        yield f"check stays {drawn}: rows that were drawn go on measuring the model."


def _resumed(
    store: Store,
    pool: Any,  # noqa: ANN401 - as above
    given: PoolSpec,
    model: LatentGaussianClassifier | PossibilisticPipeline | None,
    who: str,
) -> StoredCampaign:
    """A campaign that was begun before, if this is its pool."""
    if pool is None and isinstance(model, PossibilisticPipeline):
        raise ValueError(
            "pool must be given again with a pipeline, whose transformers are fitted to it; "
            "got None. Pass the rows that the campaign was begun with."
        )
    state, names = store.state(), [written(name) for name in given.classes]
    added_all(state, store.setup().classes, names, who)  # before rows join, in case one cannot be
    for sentence in kept_comparisons(store.setup().recipe, given.spec()):
        raise ValueError(
            f"by and encoder must be as when the campaign began; got others, but {sentence} "
            "Leave them out, or begin another campaign."
        )
    if pool is None and not store.setup().is_complete:
        warnings.warn(
            f"The campaign has {store.setup().rows} rows so far; others have still to join. Pass "
            "the pool, or open its page.",
            stacklevel=3,
        )
    with patient_shares() as progress:
        session = None if pool is None else resumed_pool(store, pool, given, model, progress)
    session = replace(session or SessionPool(), encoder=given.roles.encoder)
    campaign = StoredCampaign(store, who, _final(model), session)
    for name in given.classes:
        if name not in campaign.classes:
            campaign.add_class(name)
    return campaign


def _stored_model(classifier: object) -> LatentGaussianClassifier | PossibilisticPipeline:
    """The classifier of a stored campaign, which shows people how sure it is."""
    found = for_campaign(classifier)
    final = found.final if isinstance(found, CampaignPipeline) else found
    if isinstance(final, ProbabilityModel):
        raise TypeError(
            "classifier must say what it does not know in a stored campaign, which tells people "
            f"how sure it is; got {final.name}. Use a PossibilisticLogisticRegression, or "
            "Campaign.start, which takes any classifier."
        )
    return as_possibilistic(classifier)


def _final(
    model: LatentGaussianClassifier | PossibilisticPipeline | None,
) -> LatentGaussianClassifier | None:
    """The classifier itself."""
    return model.final if isinstance(model, PossibilisticPipeline) else model


def _classes_of(
    model: LatentGaussianClassifier | PossibilisticPipeline | None,
) -> tuple[Hashable, ...]:
    """The classes that a classifier names."""
    final = _final(model)
    named = None if final is None else final.classes
    return () if named is None else tuple(cast("Iterable[Hashable]", named))
