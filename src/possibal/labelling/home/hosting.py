"""Hosted campaigns: those of a folder that are open in one server, a few at a time.

host = CampaignHost(folder)        host.opened("a.csv.possibal.db", progress) -> HostedCampaign

Each has its own store, service and ranking process. Where too many are open, the one that nobody
looked at for longest is closed; its pages keep what people answer until it is open again.
"""

import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from possibal.data.source import ENDING, SourceSpec, digest
from possibal.embedding.cache import cache_beside
from possibal.errors import RefusedError
from possibal.files import is_there
from possibal.labelling import growth
from possibal.labelling.access import AccessControl
from possibal.labelling.create import check_kept_strategy
from possibal.labelling.home.catalogue import DATABASE
from possibal.labelling.read_model import ReadModel
from possibal.labelling.service import LabellingService
from possibal.labelling.serving import serving
from possibal.labelling.storage.store import Store
from possibal.progress import StageProgress

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from possibal.data.ingest import SourceRows

MOST = 4
"""Campaigns that are open at once: each has a process of its own."""
IDLE = 60.0
"""Seconds without a request after which a campaign may make room: pages in sight ask more often."""


@dataclass(eq=False)
class HostedCampaign:
    """A campaign that is open.

    Attributes:
        file: its database.
        service: of it.
        access: who may come in.
        notes: what is to be said of its source since last time.
    """

    file: str
    service: LabellingService
    access: AccessControl
    notes: tuple[str, ...]
    _stack: ExitStack
    _asking: int = 0
    _heard: float = field(default_factory=time.monotonic)

    @contextmanager
    def request(self) -> Generator[None]:
        """While a request is answered, it is not closed."""
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            self._heard = time.monotonic()

    @property
    def idle(self) -> float:
        """Seconds since the last request; zero while there is one."""
        return 0.0 if self._asking else time.monotonic() - self._heard

    @property
    def ending(self) -> str:
        """How far it is, when it is closed."""
        setup, labels = self.service.setup, self.service.read_model.state.labels
        return (
            f"{setup.name}: {len(labels)} of {setup.rows} rows have a label, kept in {self.file}."
        )

    def close(self) -> None:
        """Write what waits, and end its process."""
        self._stack.close()


class CampaignHost:
    """Opens campaigns of a folder, and closes them again."""

    def __init__(self, folder: Path, served: Callable[[Store, str], None]) -> None:
        """Open none yet.

        Args:
            folder: of the campaigns.
            served: notes with a campaign where its page is.
        """
        self._folder, self._served = folder, served
        self._open, self._lock = dict[str, HostedCampaign](), RLock()

    def find(self, file: str) -> HostedCampaign | None:
        """A campaign, if it is open."""
        return self._open.get(file)

    @property
    def campaigns(self) -> list[HostedCampaign]:
        """All that are open."""
        return [*self._open.values()]

    def opened(self, file: str, progress: StageProgress) -> HostedCampaign:
        """A campaign, opened if it is not."""
        with self._lock:
            known = self._open.get(file)
            if known is not None:
                return known
            path = self._folder / file
            if Path(file).name != file or not is_there(path):
                raise RefusedError(
                    f"campaign must be one of the list; got {file[:80]!r}. Look again."
                )
            self._make_room()
            found = self._started(path, progress)
            self._open[file] = found
            return found

    def close(self) -> list[str]:
        """Close all; how far each is."""
        with self._lock:
            endings = [one.ending for one in self.campaigns]
            for file in [*self._open]:
                self._open.pop(file).close()
        return endings

    def _make_room(self) -> None:
        """Close the campaign that was idle for longest, where there are too many."""
        if len(self._open) < MOST:
            return
        oldest = max(self.campaigns, key=lambda one: one.idle)
        if oldest.idle < IDLE:
            raise RefusedError(
                f"At most {MOST} campaigns are open at once, and all are in use. "
                "Close the page of one, wait a minute, and try again."
            )
        self._open.pop(oldest.file).close()

    def _started(self, path: Path, progress: StageProgress) -> HostedCampaign:
        """A campaign with all that it needs, or nothing of it."""
        with ExitStack() as stack:
            store = stack.enter_context(Store.open(str(path)))
            check_kept_strategy(store.setup())
            source = path.with_name(path.name.removesuffix(ENDING))
            wanted = SourceSpec(source, cache=cache_beside(path))
            notes, waiting = _source_changes(store, wanted, progress)
            read_model = ReadModel(store)
            service = stack.enter_context(serving(read_model, waiting and (waiting, wanted)))
            self._served(store, path.name)
            return HostedCampaign(
                path.name, service, AccessControl(store), tuple(notes), stack.pop_all()
            )


def _source_changes(
    store: Store, wanted: SourceSpec, progress: StageProgress
) -> "tuple[list[str], SourceRows | None]":
    """What is to be said of a source that changed, and its rows if some have still to join.

    New rows join. Nothing else is taken in, since nobody was asked; rows and labels stay.
    """
    setup, name = store.setup(), wanted.source.name
    if name.endswith(DATABASE) or not is_there(wanted.source):  # begun with what is elsewhere
        away = "Rows that had still to join cannot: what they were in is not here."
        return ([] if setup.is_complete else [away]), None
    if digest(wanted.source) == setup.known_digest:
        return [], None
    from possibal.data.ingest import read_file_rows

    try:
        spec = growth.pool_spec(setup, wanted)
        rows = read_file_rows(spec, progress)
        changes = growth.compare(store, rows, spec)
        if changes.needs_consent:
            return [_unasked(name, changes.summary)], None
        if not setup.is_complete:
            return [], rows
        said = growth.grow(
            store, rows, changes, spec, lambda share: progress("taking rows in", share)
        )
    except ValueError as error:
        return [f"{name} is not as it was, and nothing of it was taken in: {error}"], None
    return [changes.summary, *said], None


def _unasked(name: str, summary: str) -> str:
    """The note on changes that need consent."""
    return (
        f"{name} is not as it was. {summary} Nothing of that was taken in; "
        f"possibal label {name} --accept-changes does, and keeps the labels."
    )
