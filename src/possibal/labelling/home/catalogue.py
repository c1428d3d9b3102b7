"""Catalogue of the campaigns in a folder: what each is, how far it is, and when it was used last.

CampaignCatalogue(folder).listed() -> [CampaignSummary(file="a.csv.possibal.db", labelled=3, ...)]
"""

from dataclasses import dataclass
from pathlib import Path

from possibal.data.source import ENDING
from possibal.labelling.storage.journal import replay
from possibal.labelling.storage.store import Store

DATABASE = ".db"
"""What the names of campaigns end in that are kept in files."""


@dataclass(frozen=True)
class CampaignSummary:
    """A campaign in one line.

    Attributes:
        file: its database.
        name: what it is called.
        kind: how a row is shown: as a table, a text or an image.
        rows: how many there are.
        labelled: how many have a label.
        used: when somebody did something last, in milliseconds; when it began, before that.
        trouble: why it cannot be opened; empty if it can.
    """

    file: str
    name: str
    kind: str = ""
    rows: int = 0
    labelled: int = 0
    used: int = 0
    trouble: str = ""


class CampaignCatalogue:
    """Lists the campaigns of a folder; one that did not change since is not read again."""

    def __init__(self, folder: Path) -> None:
        """List this folder."""
        self._folder = folder
        self._known = dict[str, tuple[object, CampaignSummary | None]]()

    def listed(self) -> list[CampaignSummary]:
        """The campaigns, the one used last first."""
        files = [path for path in self._folder.glob(f"*{DATABASE}") if _is_listed(path)]
        found = [one for one in map(self._summary, files) if one is not None]
        self._known = {path.name: self._known[path.name] for path in files}
        return sorted(found, key=lambda one: (-one.used, one.file))

    def _summary(self, path: Path) -> CampaignSummary | None:
        """A campaign; None if the file is none."""
        state = _state(path)
        known = self._known.get(path.name)
        if known is None or known[0] != state:
            known = self._known[path.name] = state, _read(path)
        return known[1]


def _is_listed(path: Path) -> bool:
    """Whether a path may be a campaign's."""
    return path.is_file() and not path.name.startswith(".")


def _state(path: Path) -> object:
    """What changes when a database does: its size and time, and those of its journal."""
    journal = path.with_name(f"{path.name}-wal")
    found = [one.stat() for one in (path, journal) if one.exists()]
    return [(one.st_size, one.st_mtime_ns) for one in found]


def _read(path: Path) -> CampaignSummary | None:
    """A campaign as it is now."""
    name = path.name.removesuffix(ENDING)
    try:
        if not Store.exists(str(path)):
            return None
        with Store.open(str(path), writes=False) as store:
            return _of_store(path, store)
    except (ValueError, OSError) as error:  # an UnavailableError is an OSError
        if name == path.name:  # whatever it is, it need not be ours
            return None
        used = int(path.stat().st_mtime * 1000)
        return CampaignSummary(path.name, name, used=used, trouble=str(error))


def _of_store(path: Path, store: Store) -> CampaignSummary:
    """A campaign by what it holds."""
    setup, events = store.setup(), store.events()
    return CampaignSummary(
        path.name,
        setup.name,
        setup.kind,
        setup.rows,
        len(replay(events, setup.syntax).labels),
        max((event.at for event in events), default=0) or int(path.stat().st_mtime * 1000),
    )
