"""A labelling campaign from its file to its page: read, begin or go on, serve."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from possibal.cli.console import console, mistakes, shares
from possibal.data import digits
from possibal.data.source import Wanted, digest
from possibal.labelling.create import Options, begin
from possibal.labelling.live import Standing
from possibal.labelling.ranker_process import Worker
from possibal.labelling.service import Desk
from possibal.labelling.storage.database import address, file_of, shown
from possibal.labelling.storage.store import Setup, Store
from possibal.labelling.web.server import Address, Server

if TYPE_CHECKING:  # scikit-learn takes a second to import, and going on needs none of it
    from possibal.data.ingest import Intake

ENDING = ".possibal.db"
"""Of the file that keeps a campaign, beside the file that it is about."""


@dataclass(frozen=True)
class Labelling:
    """What to label, as a user asks for it.

    Attributes:
        wanted: the file and what its columns are; None for the built-in pictures.
        options: how to run a new campaign.
        db: where it is kept; beside the file if left out.
        address: of the page.
        browser: whether to open it.
    """

    wanted: Wanted | None
    options: Options
    db: str | None
    address: Address
    browser: bool


def label(asked: Labelling) -> None:
    """Serve the page of a campaign until somebody stops it."""
    with mistakes():
        server = Server(asked.address)  # before a campaign is begun that nobody could reach
    with closing(server):
        with mistakes():
            wanted = asked.wanted or _built_in()
            db = beside(wanted.source) if asked.db is None else asked.db
            store = _opened(db, wanted, asked.options)
        with store, desk(store) as at:
            say = console()
            say.print(f"Label at {server.url}", soft_wrap=True)
            say.print(f"Answers are kept in {shown(store.url)}. Stop with Ctrl-C.", soft_wrap=True)
            say.file.flush()
            server.run(at, browser=asked.browser)
            say.print(_ending(at, db), soft_wrap=True)


@contextmanager
def desk(store: Store) -> Generator[Desk]:
    """A desk with a process of its own that ranks."""
    setup = store.setup()
    with Worker(store.array("X"), setup.strategy, setup.seed) as worker:
        standing = Standing(store, worker)
        try:
            yield Desk(standing)
        finally:
            standing.close()


def beside(source: Path) -> str:
    """Where the campaign of a file is kept if nobody says otherwise."""
    named = source.resolve() if source.name in {"", ".."} else source  # as the folder we are in
    return str(named.with_name(f"{named.name}{ENDING}"))


def _built_in() -> Wanted:
    """The built-in pictures, in the folder we are in."""
    return Wanted(digits.digits(Path()), classes=digits.CLASSES)


def _opened(db: str, wanted: Wanted, options: Options) -> Store:
    """The campaign of a file: gone on with, or begun."""
    if not Store.exists(db):
        _check_folder(db)
        intake = _taken_in(wanted)
        for note in intake.notes:
            console().print(note, soft_wrap=True)
        return begin(db, intake, options)
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


def _check_same(setup: Setup, wanted: Wanted, db: str) -> None:
    """Refuse to go on with the campaign of another file."""
    if digest(wanted.source) != setup.digest:
        raise ValueError(
            f"file must be the one that the campaign in {db!r} was begun with; got "
            f"{str(wanted.source)!r}, which differs. Choose another place with --db."
        )


def _taken_in(wanted: Wanted) -> "Intake":
    """What the file holds, with a bar while it is read."""
    from possibal.data.ingest import take_in

    with shares() as tell:

        def progress(words: str, share: float) -> None:
            """Tell it as the beginning of a line."""
            tell(words.capitalize(), share)

        return take_in(wanted, progress)


def _ending(at: Desk, db: str) -> str:
    """What to do with the answers."""
    labelled = len(at.standing.state.labelled())
    return (
        f"{labelled} of {at.setup.rows} rows have a label. Export them with "
        f"possibal export {db} --to labels.csv, or go on with the same command as before."
    )
