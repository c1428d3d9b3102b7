"""Session of a stored campaign in Python: the same journal as the page's.

campaign = possibal.open_campaign("answers.db", pool=frame, id="doc_id")
(row,) = campaign.ask()
campaign.tell(row, "spam")
"""

from collections.abc import Hashable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from possibal.arguments import DEFAULT_STRATEGY, as_python
from possibal.campaign.stopping import Advice, AdviceState
from possibal.data.ingest import SourceSpec, ingest_file, ingest_frame
from possibal.errors import AlreadyAnsweredError, RefusedError
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.overview import Overview
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Store, clock

PYTHON = "python"
"""Who answers from Python if nobody says otherwise."""


class StoredCampaign:
    """A campaign in a database. Close it, or use it in a ``with`` block.

    Rows are called by their ids, labels are text. Every answer is durable when its method returns.
    """

    def __init__(self, store: Store, who: str = PYTHON) -> None:
        """Answer as a person; see :func:`open_campaign`."""
        self._store, self._who, self._made = store, who, 0
        setup = store.setup()
        self._ranker = InProcessRanker(store.array("X"), setup.strategy, setup.seed)
        self._read_model = ReadModel(store)
        self._scheduler = RankingScheduler(self._read_model, self._ranker, background=False)
        self._service = LabellingService(self._read_model, self._scheduler)
        self._overview = Overview(self._read_model, self._scheduler)
        self._places = store.places()
        self._ids = {place: name for name, place in self._places.items()}

    # ------------------------------------------------------------ verbs

    def ask(self, n: int = 1) -> list[str]:
        """The rows to label next, the best first; fewer where fewer are left.

        They are kept for this person for a while. Rows that were asked before and are not
        answered yet come first.
        """
        return [self._ids[row] for row in self._service.rows(self._who, n)]

    def tell(self, row: Hashable, label: Hashable) -> None:
        """Keep the label of a row; a label that is new becomes a class."""
        place, said = self._place(row), str(as_python(label))
        mine = self._read_model.state.verdict(place).opinions.get(self._who)
        if mine is not None and mine.label is not None:
            raise AlreadyAnsweredError(
                f"row must not be answered yet; got {row!r}, whose label is {mine.label!r}. "
                "Undo it, or change it with edit."
            )
        self._name(said)
        self._do(Kind.LABEL, place, said)

    def edit(self, row: Hashable, label: Hashable) -> None:
        """Change the label of a row."""
        said = str(as_python(label))
        self._name(said)
        self._do(Kind.EDIT, self._place(row), said)

    def skip(self, row: Hashable) -> None:
        """Put a row off; it comes back later."""
        self._do(Kind.SKIP, self._place(row))

    def unsure(self, row: Hashable) -> None:
        """Leave a row to somebody else."""
        self._do(Kind.UNSURE, self._place(row))

    def bad(self, row: Hashable) -> None:
        """Drop a row for everybody."""
        self._do(Kind.BAD, self._place(row))

    def undo(self) -> str | None:
        """The row whose last action of this person was undone; None if there is none."""
        undone = self._service.undo(Event(uuid4().hex, Kind.UNDO, self._who, self._now()))
        return None if undone is None or undone.row is None else self._ids[undone.row]

    # ------------------------------------------------------------ what follows

    @property
    def advice(self) -> Advice:
        """Whether to go on asking, and why."""
        self._read_model.catch_up()
        ranking, is_behind = self._scheduler.ranking, self._scheduler.is_behind
        current = self._scheduler.rank() if is_behind or ranking is None else ranking
        return current.advice

    def should_stop(self) -> bool:
        """Whether one may stop or should; :attr:`advice` says why."""
        return self.advice.state is not AdviceState.GO_ON

    @property
    def labels(self) -> dict[str, str]:
        """The label of each row that has one, in the order in which they came by it."""
        self._read_model.catch_up()
        return {self._ids[row]: label for row, label in self._read_model.state.labelled().items()}

    @property
    def classifier(self) -> PossibilisticGPClassifier:
        """The classifier, fitted to the labels."""
        self._read_model.catch_up()
        return self._ranker.campaign(self._read_model.task()).classifier

    def report(self) -> dict[str, Any]:
        """How far the campaign is, as plain values."""
        advice = self.advice
        if self._read_model.setup.check:
            self._scheduler.measure()
        now = self._overview.progress()
        stopping = {"state": advice.state.value, "reason": advice.reason}
        return {**asdict(now), "left": now.left, "advice": stopping}

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

    # ------------------------------------------------------------ inside

    def _place(self, row: Hashable) -> int:
        """Where a row stands."""
        name = str(as_python(row))
        if name not in self._places:
            raise RefusedError(f"row must be an id of the pool; got {row!r}. Tell what was asked.")
        return self._places[name]

    def _name(self, label: str) -> None:
        """Make a label a class, if it is none yet."""
        self._service.ensure_class(label, self._who)

    def _do(self, kind: Kind, row: int | None, label: str | None = None) -> None:
        """Keep an action."""
        self._read_model.catch_up()
        self._service.answer(Event(uuid4().hex, kind, self._who, self._now(), row, label))

    def _now(self) -> int:
        """The time, later than any before."""
        self._made = max(self._made + 1, clock())
        return self._made


def open_campaign(  # noqa: PLR0913 - all but the first two are named
    url: str,
    pool: Any = None,  # noqa: ANN401 - frames of several libraries
    *,
    id: str | None = None,  # noqa: A002 - what users call it
    label: str | None = None,
    text: str | None = None,
    classes: Sequence[Hashable] = (),
    strategy: str = DEFAULT_STRATEGY,
    seed: int = 0,
    people: int = 1,
    check: int = 0,
    who: str = PYTHON,
) -> StoredCampaign:
    """A campaign in a database: gone on with, or begun with the rows of a pool.

    Args:
        url: a file, or the address of a PostgreSQL database; the page may serve the same one.
        pool: a pandas or polars frame, a two-dimensional array, or the path of a file; may be
            left out for a campaign that was begun before.
        id: the column of unique names.
        label: the column of labels that are known already.
        text: the column of texts.
        classes: all labels there may be; new ones may come.
        strategy: what is asked first.
        seed: the same seed asks the same questions.
        people: how many are to answer each row.
        check: rows, drawn at random, that only measure the model.
        who: the name under which answers are kept.
    """
    if Store.exists(url):
        return StoredCampaign(Store.open(url), who)
    if pool is None:
        raise ValueError(
            f"pool must be given to begin a campaign; got None, and {url!r} holds none. "
            "Pass the rows to label."
        )
    options = Options(strategy, seed, people, check)
    named = tuple(str(as_python(one)) for one in classes)
    texts = () if text is None else (text,)
    wanted = SourceSpec(Path(), label, id, texts, classes=named)
    if isinstance(pool, str | Path):
        intake = ingest_file(SourceSpec(Path(pool), label, id, texts, classes=named), _silent)
    else:
        intake = ingest_frame(pool, wanted)
    return StoredCampaign(create_campaign(url, intake, options), who)


def _silent(_words: str, _share: float) -> None:
    """Report no progress."""
