"""Session of `possibal label`: ingest a file, create or reopen its campaign, serve the page."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer
from rich.table import Table

from possibal.cli.console import COMMAND_LINE, console, grid, mistakes
from possibal.data import digits
from possibal.data.source import SourceSpec, digest
from possibal.embedding.cache import cache_beside, withdrawn_if_refused
from possibal.labelling import class_changes, growth, remarks
from possibal.labelling.access import TERMINAL_DAYS, AccessControl
from possibal.labelling.create import Options, check_kept_strategy, create_campaign
from possibal.labelling.read_model import ReadModel
from possibal.labelling.service import LabellingService
from possibal.labelling.serving import PORT, SERVED_AT, beside, serving
from possibal.labelling.storage.database import address, file_of, shown
from possibal.labelling.storage.invitations import Role
from possibal.labelling.storage.journal import Event, Kind, places_detail
from possibal.labelling.storage.store import Setup, Store
from possibal.labelling.web.server import (
    Address,
    Certificate,
    Server,
    invitation_address,
    platform_address,
)
from possibal.progress import shares

if TYPE_CHECKING:  # scikit-learn takes a second to import, and going on needs none of it
    from possibal.data.ingest import IngestedRows, SourceRows
    from possibal.data.schema import Column

_Opened: TypeAlias = "tuple[ReadModel, SourceRows | None]"
"""A campaign, and the rows of its source if some have still to join."""
PLATFORM = "Label Studio"
"""Under which name its connection is listed among the people."""
MANY_COLUMNS = 30
"""Columns that are listed one by one."""


@dataclass(frozen=True)
class LabelRequest:
    """What to label, as a user asks for it.

    Attributes:
        wanted: the file and what its columns are; None for the built-in pictures.
        options: how to run a new campaign.
        db: where it is kept; beside the file if left out.
        address: of the page.
        browser: whether to open it.
        accept_changes: whether rows that changed or are missing are taken in without a question.
        invited: names of people for whom to print an address.
        guidelines: how to label; those that there are stay if left out.
        label_studio: whether to print an address for Label Studio.
    """

    wanted: SourceSpec | None
    options: Options
    db: str | None
    address: Address
    browser: bool
    accept_changes: bool = False
    invited: tuple[str, ...] = ()
    guidelines: str | None = None
    label_studio: bool = False


def label(asked: LabelRequest) -> None:
    """Serve the page of a campaign until somebody stops it."""
    with mistakes():
        wanted = asked.wanted or _built_in(asked.options)
        db = beside(wanted.source) if asked.db is None else asked.db
        # Before a campaign is begun that nobody could reach
        server = Server(asked.address, last_port(db) if asked.address.port is None else None)
    with closing(server):
        with mistakes():
            place = file_of(address(db)) or Path(beside(wanted.source))
            wanted = replace(wanted, cache=cache_beside(place))
            with withdrawn_if_refused(wanted.cache):
                read_model, waiting = _opened(db, asked, wanted)
                _ = read_model.X  # where they cannot be read, nothing is served
        store = read_model.store
        with store, serving(read_model, waiting and (waiting, wanted)) as at:
            store.note_fact(SERVED_AT, server.shared_origin)
            store.note_fact(PORT, str(server.port))
            access, say = AccessControl(store), console()
            url = invitation_address(server.origin, access.invite(None, Role.OWNER, TERMINAL_DAYS))
            say.print(f"Label at {url}", soft_wrap=True)
            for sentence in _invited(server, access, asked):
                say.print(sentence, soft_wrap=True)
            say.print(f"Answers are kept in {shown(store.url)}. Stop with Ctrl-C.", soft_wrap=True)
            say.file.flush()
            server.run(at, access, url if asked.browser else None)
            for sentence in at.intake.notes if at.intake else ():
                say.print(sentence, soft_wrap=True)
            say.print(_ending(at, db), soft_wrap=True)


def _check_platform(asked: LabelRequest, *, multi: bool) -> None:
    """Refuse Label Studio where rows may have several labels, which it does not say."""
    if asked.label_studio and multi:
        raise ValueError(
            "label_studio must be left out where rows may have several labels; got it. Label in "
            "the page."
        )


def certificate(file: Path | None, key: Path | None) -> Certificate | None:
    """What the server encrypts with; none without files."""
    if file is None and key is None:
        return None
    if file is None or key is None:
        named, missing = ("tls_cert", "tls_key") if key is None else ("tls_key", "tls_cert")
        raise ValueError(f"{missing} must be given with {named}; got none. Name both files.")
    return Certificate(file, key)


def last_port(db: str) -> int | None:
    """The port at which a campaign was served last: what browsers keep is bound to it."""
    if not Store.exists(db):
        return None
    with Store.open(db, writes=False) as store:
        noted = store.fact(PORT) or ""
    return int(noted) if noted.isdecimal() else None


def _invited(server: Server, access: AccessControl, asked: LabelRequest) -> Iterator[str]:
    """What is printed for people on other machines, and for Label Studio."""
    names = asked.invited
    for name in names:
        code = access.invite(name)
        yield f"For {name}: {invitation_address(server.shared_origin, code, name)}"
    if server.reachable and not names:
        yield (
            f"Others reach it at {server.shared_origin} once they are invited: under People in the "
            "page, or with --invite NAME."
        )
    if asked.label_studio:
        session = access.admit_platform(PLATFORM)
        yield f"Label Studio connects to {platform_address(server.shared_origin, session)}"


def _built_in(options: Options) -> SourceSpec:
    """The built-in pictures, in the folder we are in."""
    if options.multi:
        raise ValueError(
            "multi must be left out for the built-in pictures, which show one digit each; got it. "
            "Name a file."
        )
    return SourceSpec(digits.digits(Path()), classes=digits.CLASSES)


def _opened(db: str, asked: LabelRequest, wanted: SourceSpec) -> _Opened:
    """The campaign of a file, gone on with or begun, and its rows if some have still to join."""
    read_model, waiting = (_resumed if Store.exists(db) else _begun)(db, asked, wanted)
    _guide(read_model, asked.guidelines)
    if waiting is not None:
        ready = f"{read_model.setup.rows:,} of {len(waiting.ids):,} rows are ready"
        console().print(f"{ready}; the others join while you label.", soft_wrap=True)
    return read_model, waiting


def _guide(read_model: ReadModel, text: str | None) -> None:
    """Let the campaign have these guidelines, if they are others."""
    state = read_model.state
    if text is not None and text != remarks.text_of(state.guidelines):
        event = class_changes.stamped(state, remarks.revised(text, COMMAND_LINE))
        read_model.apply(read_model.store.append([event]))
        console().print("The guidelines are now those of the file.", soft_wrap=True)


def _begun(db: str, asked: LabelRequest, wanted: SourceSpec) -> _Opened:
    """A new campaign of a file."""
    say = console()
    _check_platform(asked, multi=asked.options.multi)
    _check_folder(db)
    intake = _ingested(db, wanted, asked.options)
    store = create_campaign(db, intake, asked.options)
    if intake.columns:
        say.print(columns_table(intake.columns))
    for note in store.setup().other_notes:
        say.print(note, soft_wrap=True)
    if None not in intake.source.labels:
        say.print("Every row has a label already, so that nothing is left to ask.")
    return ReadModel(store), intake.whole


def _resumed(db: str, asked: LabelRequest, wanted: SourceSpec) -> _Opened:
    """A campaign of a file that was begun before; its journal, which may be long, is read once."""
    say, store = console(), Store.open(db)
    try:
        setup = store.setup()
        _check_platform(asked, multi=setup.multi)
        check_kept_strategy(setup)
        sentences = [*_kept(setup, asked.options), *growth.kept_roles(setup, wanted)]
        sentences += [*_kept_models(setup, wanted), *growth.kept_copies(store, wanted)]
        read_model = ReadModel(store)
        state = read_model.state
        new = class_changes.added_all(state, setup.classes, wanted.classes, COMMAND_LINE)
        waiting = _grow(store, wanted, accept=asked.accept_changes)
        if store.setup() != setup:
            read_model.reload_rows()
        sentences += _added(read_model, new, asked.options.check)
    except BaseException:
        store.close()
        raise
    sentences.append(f"Going on with {len(state.events)} actions so far.")
    for sentence in sentences:
        say.print(sentence, soft_wrap=True)
    return read_model, waiting


def columns_table(columns: Sequence["Column"]) -> Table:
    """How columns were understood, as a table to print; of very many the first."""
    rows = [[one.name, str(one.kind), one.note] for one in columns[:MANY_COLUMNS]]
    if len(columns) > MANY_COLUMNS:
        counts = Counter(str(one.kind) for one in columns[MANY_COLUMNS:])
        others = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        rows.append([f"{len(columns) - MANY_COLUMNS} more", others, ""])
    heads = [("column", False), ("read as", False), ("what was done", False)]
    return grid("How the columns were read (--use, --leave-out and --text change it)", heads, rows)


# ---------------------------------------------------------------- going on
def _kept(setup: Setup, options: Options) -> Iterator[str]:
    """What was asked for, but stays as it was when the campaign began."""
    usual = Options()
    if options.blind is not None and options.blind != setup.blind:
        how = "blind" if setup.blind else "in the open"
        yield f"People go on answering {how}, as when the campaign began."
    if options.find and options.find != setup.find:
        what = f"The rows of {setup.find} are" if setup.find else "No class is"
        yield f"{what} sought, as when the campaign began."
    if options.multi and not setup.multi:
        raise ValueError(
            "multi must be left out where a campaign was begun with one label a row; got it. "
            "Begin another campaign with --db, and import the labels."
        )
    for name in ("strategy", "seed", "people"):
        if getattr(options, name) not in {getattr(usual, name), getattr(setup, name)}:
            yield f"{name} stays {getattr(setup, name)}, as when the campaign began."


def _kept_models(setup: Setup, wanted: SourceSpec) -> tuple[str, ...]:
    """What rows stay compared by; another model than that of the start is refused."""
    if not wanted.by and wanted.encoder is None:
        return ()
    from possibal.data.comparison import kept_comparisons

    return kept_comparisons(setup.recipe, wanted)


def _grow(store: Store, wanted: SourceSpec, *, accept: bool) -> "SourceRows | None":
    """Take in what the file has that the campaign has not, if the user agrees to changes.

    Where rows of the start had still to join, they go on doing so: then the file's rows.
    """
    if digest(wanted.source) == store.setup().known_digest:
        return None
    from possibal.data.ingest import read_file_rows

    spec = growth.pool_spec(store.setup(), wanted)
    with shares() as tell:
        rows = read_file_rows(spec, tell)
        changes = growth.compare(store, rows, spec)
    say = console()
    for sentence in changes.sentences:
        say.print(sentence, soft_wrap=True)
    say.print(f"{changes.summary} {changes.labels_not_taken}".rstrip(), soft_wrap=True)
    if changes.needs_consent and not accept and not _agreed():
        raise ValueError(
            "file must have the rows that the campaign was begun with; got changes, as listed. "
            "Take them in with --accept-changes (labels stay), or choose another place with --db."
        )
    if not store.setup().is_complete and not changes.needs_consent:
        return rows
    with shares() as tell:
        known = store.setup().notes
        said = growth.grow(store, rows, changes, spec, lambda share: tell("taking rows in", share))
    new = (note for note in store.setup().notes if note not in known)
    for sentence in (*said, *new):
        say.print(sentence, soft_wrap=True)
    return None


def _agreed() -> bool:
    """Whether the user at the terminal takes changes in; nobody there takes none."""
    if not sys.stdin.isatty():
        return False
    return typer.confirm(
        "Take these changes in? Labels stay, and missing rows are not asked about."
    )


def _added(read_model: ReadModel, new: Sequence[Event], check: int) -> Iterator[str]:
    """Add classes and check rows that the campaign has not, all of them or none, and say so."""
    drawn = list[Event]()
    more = check - len(read_model.check_rows)
    if more > 0:
        detail = places_detail(read_model.draw_check_rows(more))
        drawn = [class_changes.change_event(Kind.CHECK, None, COMMAND_LINE, detail)]
    if new or drawn:
        read_model.apply(read_model.store.append([*new, *drawn]))
    if new:
        yield f"Added the classes {', '.join(str(event.label) for event in new)}."
    if drawn:
        yield f"Drew {more} more check rows at random; there are {check} now."


def _check_folder(db: str) -> None:
    """Refuse a file in a folder that is not there, before anything is read."""
    path = file_of(address(db))
    if path is not None and not path.absolute().parent.is_dir():
        raise ValueError(f"db must be in a folder that exists; got {db!r}. Make the folder first.")


def _ingested(db: str, wanted: SourceSpec, options: Options) -> "IngestedRows":
    """What the file holds, with a bar while it is read."""
    is_shared = file_of(address(db)) is None  # others would not hear of rows that join later
    with shares() as tell:
        tell(f"reading {wanted.source.name}", 0.0)  # what reads takes seconds to import
        from possibal.data.ingest import FirstRows, ingest_file

        first = None if is_shared else FirstRows(options.seed, 2 * options.check)
        return ingest_file(wanted, tell, first)


def _ending(at: LabellingService, db: str) -> str:
    """What to do with the answers."""
    labels = at.read_model.state.labels
    copies = sum(row in labels for row in at.read_model.copies.copies)
    of_them = f", {copies} of them as copies" if copies else ""
    return (
        f"{len(labels)} of {at.setup.rows} rows have a label{of_them}. Export them with "
        f"possibal export {db} --to labels.csv, or go on with the same command as before."
    )
