"""Home: the campaigns of a folder, drafts of new ones, and the one task that may be under way.

with Home(folder, store, served) as home: home.read(key)        home.start(draft, settings)

What takes long is a task in a thread, which is told by its progress when it must stop.
"""

import json
import secrets
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, RLock, Thread
from typing import Self

from possibal.data.source import ENDING
from possibal.embedding.cache import cache_beside, withdrawn_if_refused
from possibal.errors import PossibalError, RefusedError, summary
from possibal.files import is_there
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.home.catalogue import CampaignCatalogue, CampaignSummary
from possibal.labelling.home.drafts import Draft
from possibal.labelling.home.hosting import MOST, CampaignHost, HostedCampaign
from possibal.labelling.home.uploads import KeptSource, UploadFolder
from possibal.labelling.storage.store import Contents, Setup, Store
from possibal.progress import StageProgress

STORE = ".possibal-home"
"""The file in a folder that keeps who may come in to its home."""
MOST_DRAFTS = 5
"""That are kept at once; the oldest make room."""
OPEN = "open"
"""Fact of a home: campaigns that are open, or were when it ended and were not opened since."""
LEAVING = 10.0
"""Seconds that a task has to stop when home is closed."""


class _StoppedError(BaseException):
    """Home is being closed while a task is at work; no error handling is to stop it."""


@dataclass(eq=False)
class HomeTask:
    """What takes long.

    Attributes:
        key: of the task.
        words: what is being done.
        share: of all that is to be done.
        result: what came of it; None before that, and if it failed.
        trouble: why it failed, in one sentence.
    """

    key: str
    words: str = "beginning"
    share: float = 0.0
    result: object = None
    trouble: str = ""

    @property
    def is_done(self) -> bool:
        """Whether it has ended, well or not."""
        return self.result is not None or bool(self.trouble)


@dataclass(frozen=True, eq=False)
class KeptDraft:
    """A draft, and what is to be taken away if nobody wants it.

    Attributes:
        key: of the draft.
        draft: the source as it is understood.
        note: what is to be said of its name.
        made: files and folders that came with the upload.
        campaign: the database of the campaign that the source has already; empty if it has none.
    """

    key: str
    draft: Draft
    note: str
    made: tuple[Path, ...]
    campaign: str = ""


@dataclass(frozen=True)
class CampaignSettings:
    """How a campaign is to begin, beside its columns."""

    classes: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)


def home_store(folder: Path) -> Store:
    """What keeps who may come in; held by one home of a folder at a time."""
    db = str(folder / STORE)
    if Store.exists(db):
        return Store.open(db)
    return Store.create(
        db, Setup("home", "home", 0, digest=secrets.token_hex(32)), Contents((), {})
    )


class Home:
    """Everything that the home page of a folder shows and does."""

    def __init__(self, folder: Path, store: Store, served: Callable[[Store, str], None]) -> None:
        """Look at a folder.

        Args:
            folder: where campaigns and files are.
            store: that of home.
            served: notes with a campaign where its page is.
        """
        self.folder = folder
        self.uploads = UploadFolder(folder)
        self.host = CampaignHost(folder, served)
        self._store, self._remembered = store, list[str](json.loads(store.fact(OPEN) or "[]"))
        self._catalogue, self._drafts = CampaignCatalogue(folder), dict[str, KeptDraft]()
        self._task: HomeTask | None = None
        self._thread: Thread | None = None
        self._is_closed, self._lock = Event(), RLock()

    def campaigns(self) -> list[CampaignSummary]:
        """Those of the folder, the one used last first."""
        self.uploads.give_up_silent()
        with self._lock:
            return self._catalogue.listed()

    # ------------------------------------------------------------ tasks

    def read(self, upload: str) -> HomeTask:
        """Understand what was uploaded: the task's result is a `KeptDraft`."""
        return self._begun(lambda tell: self._read(upload, tell))

    def start(self, key: str, settings: CampaignSettings) -> HomeTask:
        """Begin the campaign of a draft: the task's result is a `HostedCampaign`."""
        return self._begun(lambda tell: self._start(self.draft(key), settings, tell))

    def open(self, file: str) -> HomeTask:
        """Open a campaign: the task's result is a `HostedCampaign`."""
        return self._begun(lambda tell: self._opened(file, tell))

    def wake(self, file: str) -> None:
        """Open a campaign that was open when home ended last: pages of it are asking for it.

        Others stay closed, whoever asks. While something else is done, pages have to ask again.
        """
        with suppress(RefusedError):
            if file in self._remembered:
                self.open(file)

    def task(self, key: str) -> HomeTask:
        """A task that is under way, or was the last."""
        if self._task is None or self._task.key != key:
            raise RefusedError("task must be the last one; got another. Begin again.")
        return self._task

    def _begun(self, work: Callable[[StageProgress], object]) -> HomeTask:
        """A task in a thread of its own; one at a time."""
        with self._lock:
            if self._task is not None and not self._task.is_done:
                raise RefusedError("Something else is being done. Try again in a moment.")
            task = self._task = HomeTask(secrets.token_hex(8))
            self._thread = Thread(
                target=self._run, args=(task, work), name="possibal-home", daemon=True
            )
            self._thread.start()
        return task

    def _run(self, task: HomeTask, work: Callable[[StageProgress], object]) -> None:
        """Do the work of a task."""

        def tell(words: str, share: float) -> None:
            """Note how far it is; end it when home is being closed."""
            if self._is_closed.is_set():
                raise _StoppedError
            task.words, task.share = words, share

        try:
            task.result = work(tell)
        except _StoppedError:
            task.trouble = "Stopped."
        except (PossibalError, ValueError, OSError) as error:
            task.trouble = str(error) or summary(error)
        except BaseException as error:
            task.trouble = f"This went wrong: {summary(error)}."
            raise

    # ------------------------------------------------------------ drafts

    def draft(self, key: str) -> KeptDraft:
        """A draft that nobody has begun a campaign with."""
        if key not in self._drafts:
            raise RefusedError(
                "draft must be one that is kept; got another. Choose the file again."
            )
        return self._drafts[key]

    def change(self, key: str, changes: Mapping[str, str]) -> KeptDraft:
        """A draft with columns as a person says; it stays as it was if that cannot be."""
        kept = self.draft(key)
        found = replace(kept, draft=kept.draft.changed(changes))
        self._drafts[key] = found
        return found

    def discard(self, key: str) -> None:
        """Take a draft away, with the files that came for it, unless another page uses them."""
        kept = self._drafts.pop(key, None)
        if kept is None or is_there(_campaign_of(kept.draft.source)):
            return
        if not any(one.draft.source == kept.draft.source for one in self._drafts.values()):
            for path in kept.made:
                _remove(path)

    def _read(self, upload: str, tell: StageProgress) -> KeptDraft:
        """A draft of what was uploaded; what cannot be read leaves nothing."""
        tell("looking at it", 0.0)
        before = self._unpacked()
        source = self.uploads.finish(upload)
        try:
            draft = Draft.read(source.path, tell)
        except BaseException:
            for path in self._made(source, before):
                _remove(path)
            raise
        known = _campaign_of(source.path)
        campaign = known.name if is_there(known) else ""
        key, made = secrets.token_hex(16), self._made(source, before)
        with self._lock:
            for old in [*self._drafts][: 1 - MOST_DRAFTS]:
                del self._drafts[old]  # its file stays
            self._drafts[key] = KeptDraft(key, draft, source.note, made, campaign)
        return self._drafts[key]

    def _unpacked(self) -> set[Path]:
        """Folders of pictures that were unpacked."""
        return set(self.folder.glob("*.pictures"))

    def _made(self, source: KeptSource, before: set[Path]) -> tuple[Path, ...]:
        """What came with an upload."""
        return (source.path, *(self._unpacked() - before)) if source.is_new else ()

    def _start(
        self, kept: KeptDraft, settings: CampaignSettings, tell: StageProgress
    ) -> HostedCampaign:
        """The campaign of a draft, begun and opened."""
        from possibal.data.ingest import FirstRows, ingest_file

        source, options = kept.draft.source, settings.options
        db = _campaign_of(source)
        wanted = replace(kept.draft.wanted(settings.classes), cache=cache_beside(db))
        with withdrawn_if_refused(wanted.cache):
            intake = ingest_file(wanted, tell, FirstRows(options.seed, 2 * options.check))
            create_campaign(str(db), intake, options).close()
        self._drafts.pop(kept.key, None)
        tell("opening it", 1.0)
        return self._opened(db.name, tell)

    def _opened(self, file: str, tell: StageProgress) -> HostedCampaign:
        """A campaign that is open, which is remembered when home ends; one that fails is not."""
        others = [one for one in self._remembered if one != file]
        self._remembered = others
        found = self.host.opened(file, tell)
        running = [one.file for one in self.host.campaigns]
        self._remembered = [*(one for one in others if one not in running), *running][-MOST:]
        self._store.note_fact(OPEN, json.dumps(self._remembered))
        return found

    # ------------------------------------------------------------ the end

    def close(self) -> list[str]:
        """End what is under way and close all campaigns; how far each is."""
        self._is_closed.set()
        if self._thread is not None:
            self._thread.join(LEAVING)
        self.uploads.close()
        return self.host.close()

    def __enter__(self) -> Self:
        """Home itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it; once is enough."""
        self.close()


def _campaign_of(source: Path) -> Path:
    """Where the campaign of a source is, or would be."""
    return source.with_name(source.name + ENDING)


def _remove(path: Path) -> None:
    """Take a file or folder away."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
