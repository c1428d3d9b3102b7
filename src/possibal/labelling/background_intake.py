"""Rows that join a campaign while people label: embedded in a process of its own, then taken in.

with BackgroundIntake(read_model, ranker, rows, wanted) as intake: intake.progress

Vectors go to the cache beside the campaign, so that what was worked out before a stop is not lost:
the next start goes on with it.
"""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

from threadpoolctl import threadpool_limits

from possibal.data.source import SourceSpec
from possibal.errors import summary
from possibal.labelling import growth
from possibal.labelling.create import feature_recipe
from possibal.labelling.growth import PoolChanges
from possibal.labelling.ranker_process import SPAWN, RankerProcess
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.store import INCOMPLETE

if TYPE_CHECKING:  # scikit-learn takes a second to import, and the server needs none of it
    from possibal.data.features import FeatureRecipe
    from possibal.data.ingest import SourceRows

GROWTH = 4
"""Rows join in steps: each time so many times as many as there are already."""
NICENESS = 15
"""Added to the priority of the process that embeds: people and rankings come first."""
PATIENCE = 0.5
"""Seconds between two looks at whether to stop."""


@dataclass(frozen=True)
class IntakeProgress:
    """How far the intake of rows is.

    Attributes:
        arrived: rows that people may be asked about.
        total: rows of the source.
        embedded: rows that have their vector, of which some have still to join.
        trouble: why it stopped before its end, if it did.
    """

    arrived: int
    total: int
    embedded: int
    trouble: str | None = None


class BackgroundIntake:
    """Takes the rows of a source into a campaign that is being served, in a thread."""

    def __init__(
        self, read_model: ReadModel, ranker: RankerProcess, rows: "SourceRows", wanted: SourceSpec
    ) -> None:
        """Begin.

        Args:
            read_model: of the campaign.
            ranker: what ranks its rows.
            rows: all of the source.
            wanted: the user's own encoder, and the cache of embeddings.
        """
        self._read_model, self._ranker, self._rows, self._wanted = read_model, ranker, rows, wanted
        self._share, self._step, self._trouble = 0.0, 0, cast("str | None", None)
        self._is_closed, self._is_done = Flag(), False
        self._notes = list[str]()
        self._thread = Thread(target=self._run, name="possibal-intake", daemon=True)
        self._thread.start()

    @property
    def progress(self) -> IntakeProgress | None:
        """How far it is; None once all rows have joined."""
        if self._is_done:
            return None
        arrived, total = self._read_model.setup.rows, len(self._rows.ids)
        embedded = min(arrived + round(self._share * self._step), total)
        return IntakeProgress(arrived, total, embedded, self._trouble)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of rows that were left out."""
        return tuple(self._notes)

    def close(self) -> None:
        """Stop; rows that have not joined do so after the next start."""
        self._is_closed.set()
        self._thread.join()

    # ------------------------------------------------------------ the thread

    def _run(self) -> None:
        """Take rows in, step by step; where it fails, people go on with what there is."""
        try:
            self._take_in_all()
        except Exception as error:  # noqa: BLE001 - as it says
            self._trouble = summary(error)

    def _take_in_all(self) -> None:
        """Take in all rows that the campaign has not."""
        store, rows = self._read_model.store, self._rows
        waiting = list(growth.compare(store, rows, self._wanted).new)
        if not waiting:  # what had still to join has left the source
            growth.grow(store, rows, PoolChanges(), self._wanted)
        while waiting and not self._is_closed.is_set():
            self._share, self._step = 0.0, min(GROWTH * self._read_model.setup.rows, len(waiting))
            step, waiting = waiting[: self._step], waiting[self._step :]
            if not self._embed(step):
                return
            source = replace(rows, digest=INCOMPLETE) if waiting else rows
            changes = PoolChanges(new=tuple(step))
            self._notes += growth.grow(store, source, changes, self._wanted)
            self._adopt()
        self._is_done = not waiting

    def _adopt(self) -> None:
        """Let rows that joined be asked about."""
        with self._read_model.lock:
            self._read_model.reload_rows()
            self._ranker.replace_rows(self._read_model.X)
            self._share, self._step = 0.0, 0

    def _embed(self, step: list[int]) -> bool:
        """Have the vectors of some rows in the cache; False if it was told to stop."""
        recipe = feature_recipe(self._read_model.store)
        with _embedding((recipe, self._rows.part(step), self._wanted)) as pipe:
            while not self._is_closed.is_set():
                if not pipe.poll(PATIENCE):
                    continue
                try:
                    share, error = pipe.recv()
                except EOFError:
                    raise RuntimeError("the process that reads them ended") from None
                if error is not None:
                    raise error
                if share is None:
                    return True
                self._share = share
        return False


# ---------------------------------------------------------------- the process
@contextmanager
def _embedding(
    given: tuple["FeatureRecipe", "SourceRows", SourceSpec],
) -> Generator[Connection]:
    """A process that embeds rows, and the pipe by which it tells how far it is."""
    pipe, there = cast("tuple[Connection, Connection]", SPAWN.Pipe())
    process = SPAWN.Process(target=_serve, args=(there, given), daemon=True)
    process.start()
    there.close()
    try:
        yield pipe
    finally:
        process.terminate()
        process.join()
        pipe.close()


def _serve(pipe: Connection, given: tuple[Any, Any, SourceSpec]) -> None:
    """Embed rows, which keeps their vectors; Ctrl-C is not for this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError):  # not every system knows of niceness
        os.nice(NICENESS)
    from possibal.data.ingest import source_features

    with suppress(BrokenPipeError), threadpool_limits(1):
        try:
            source_features(*given, lambda share: pipe.send((share, None)))
            pipe.send((None, None))
        except Exception as error:  # noqa: BLE001 - whoever asked must hear of it
            pipe.send((None, error))
