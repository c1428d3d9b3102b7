"""Running services: a campaign with a process that ranks its rows, and where it is kept and served.

with serving(read_model) as service: ...        beside(Path("a.csv")) -> "a.csv.possibal.db"
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from possibal.data.source import ENDING, SourceSpec
from possibal.labelling.background_intake import BackgroundIntake
from possibal.labelling.ranker_process import RankerProcess
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService

if TYPE_CHECKING:  # scikit-learn takes a second to import, and going on needs none of it
    from possibal.data.ingest import SourceRows

SERVED_AT, PORT = "served at", "port"
"""Facts of a campaign: the address at which people opened its page last, and the port here."""


@contextmanager
def serving(
    read_model: ReadModel, waiting: tuple["SourceRows", SourceSpec] | None = None
) -> Generator[LabellingService]:
    """The service of a campaign, with a process of its own that ranks.

    Args:
        read_model: of the campaign.
        waiting: a source of which rows have still to join, and how it is read.
    """
    setup = read_model.setup
    with RankerProcess(read_model.X, setup.strategy, setup.seed, setup.geometry) as ranker:
        scheduler = RankingScheduler(read_model, ranker)
        service = LabellingService(read_model, scheduler)
        if waiting is not None:
            service.intake = BackgroundIntake(read_model, ranker, *waiting)
        try:
            yield service
        finally:
            if service.intake is not None:
                service.intake.close()
            scheduler.close()


def beside(source: Path) -> str:
    """Where the campaign of a file is kept if nobody says otherwise."""
    named = source.resolve() if source.name in {"", ".."} else source  # as the folder we are in
    if not named.name:
        raise ValueError(
            f"file must be a file, or a folder that has a name; got {str(source)!r}. "
            "Name what is to be labelled."
        )
    return str(named.with_name(f"{named.name}{ENDING}"))
