"""Session of `possibal label`: ingest a file, create or reopen its campaign, serve the page."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from possibal.cli.console import console, mistakes, shares
from possibal.data import digits
from possibal.data.source import SourceSpec, digest
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.ranker_process import RankerProcess
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.database import address, file_of, shown
from possibal.labelling.storage.store import Setup, Store
from possibal.labelling.web.server import Address, Server

if TYPE_CHECKING:  # scikit-learn takes a second to import, and going on needs none of it
    from possibal.data.ingest import IngestedRows

ENDING = ".possibal.db"
"""Of the file that keeps a campaign, beside the file that it is about."""


@dataclass(frozen=True)
class LabelRequest:
    """What to label, as a user asks for it.

    Attributes:
        wanted: the file and what its columns are; None for the built-in pictures.
        options: how to run a new campaign.
        db: where it is kept; beside the file if left out.
        address: of the page.
        browser: whether to open it.
    """

    wanted: SourceSpec | None
    options: Options
    db: str | None
    address: Address
    browser: bool


def label(asked: LabelRequest) -> None:
    """Serve the page of a campaign until somebody stops it."""
    with mistakes():
        server = Server(asked.address)  # before a campaign is begun that nobody could reach
    with closing(server):
        with mistakes():
            wanted = asked.wanted or _built_in()
            db = beside(wanted.source) if asked.db is None else asked.db
            store = _opened(db, wanted, asked.options)
        with store, serving(store) as at:
            say = console()
            say.print(f"Label at {server.url}", soft_wrap=True)
            say.print(f"Answers are kept in {shown(store.url)}. Stop with Ctrl-C.", soft_wrap=True)
            say.file.flush()
            server.run(at, browser=asked.browser)
            say.print(_ending(at, db), soft_wrap=True)


@contextmanager
def serving(store: Store) -> Generator[LabellingService]:
    """The service of a campaign, with a process of its own that ranks."""
    read_model = ReadModel(store)
    setup = read_model.setup
    with RankerProcess(read_model.X, setup.strategy, setup.seed, setup.blocks) as ranker:
        scheduler = RankingScheduler(read_model, ranker)
        try:
            yield LabellingService(read_model, scheduler)
        finally:
            scheduler.close()


def beside(source: Path) -> str:
    """Where the campaign of a file is kept if nobody says otherwise."""
    named = source.resolve() if source.name in {"", ".."} else source  # as the folder we are in
    return str(named.with_name(f"{named.name}{ENDING}"))


def _built_in() -> SourceSpec:
    """The built-in pictures, in the folder we are in."""
    return SourceSpec(digits.digits(Path()), classes=digits.CLASSES)


def _opened(db: str, wanted: SourceSpec, options: Options) -> Store:
    """The campaign of a file: gone on with, or begun."""
    if not Store.exists(db):
        _check_folder(db)
        intake = _ingested(wanted)
        for note in intake.notes:
            console().print(note, soft_wrap=True)
        return create_campaign(db, intake, options)
    store = Store.open(db)
    try:
        _check_same(store.setup(), wanted, db)
    except BaseException:
        store.close()
        raise
    said = f"Going on with {len(store.events())} actions so far."
    for sentence in (*_kept(store.setup(), options), said):
        console().print(sentence, soft_wrap=True)
    return store


def _kept(setup: Setup, options: Options) -> list[str]:
    """What was asked for, but stays as it was when the campaign began."""
    usual = Options()
    names = [field.name for field in fields(options)]
    asked = [name for name in names if getattr(options, name) != getattr(usual, name)]
    return [
        f"{name} stays {getattr(setup, name)}, as when the campaign began."
        for name in asked
        if getattr(options, name) != getattr(setup, name)
    ]


def _check_folder(db: str) -> None:
    """Refuse a file in a folder that is not there, before anything is read."""
    path = file_of(address(db))
    if path is not None and not path.absolute().parent.is_dir():
        raise ValueError(f"db must be in a folder that exists; got {db!r}. Make the folder first.")


def _check_same(setup: Setup, wanted: SourceSpec, db: str) -> None:
    """Refuse to go on with the campaign of another file."""
    if digest(wanted.source) != setup.digest:
        raise ValueError(
            f"file must be the one that the campaign in {db!r} was begun with; got "
            f"{str(wanted.source)!r}, which differs. Choose another place with --db."
        )


def _ingested(wanted: SourceSpec) -> "IngestedRows":
    """What the file holds, with a bar while it is read."""
    from possibal.data.ingest import ingest_file

    with shares() as tell:

        def progress(words: str, share: float) -> None:
            """Tell it as the beginning of a line."""
            tell(words.capitalize(), share)

        return ingest_file(wanted, progress)


def _ending(at: LabellingService, db: str) -> str:
    """What to do with the answers."""
    labelled = len(at.read_model.state.labelled())
    return (
        f"{labelled} of {at.setup.rows} rows have a label. Export them with "
        f"possibal export {db} --to labels.csv, or go on with the same command as before."
    )
