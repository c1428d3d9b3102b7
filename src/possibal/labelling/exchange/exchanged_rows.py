"""Rows of a campaign as other platforms are handed them: what is shown, what people and model say.

pool = exchanged_pool(read_model, predictions)        pool.rows[0].necessity
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from possibal.data.schema import ColumnKind
from possibal.labelling.label_files import ExportedOpinion, exported_opinions
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.ranking import Prediction, Ranking
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.journal import RowVerdict
from possibal.labelling.storage.store import Item, Setup

UNTOLD = 0.0
"""The necessity that platforms are told of a check row: asked first, as it was drawn at random."""


# ---------------------------------------------------------------- values
@dataclass(frozen=True)
class ExchangedRow:
    """A row as another platform is handed it.

    Attributes:
        item: the row.
        cells: what is shown beside the text, by the name of the field; no empty ones.
        text: the text, if it has one.
        opinions: of people who named a class, and of who settled it.
        label: of the row, if it has one.
        predicted: what the model predicts; None where it does not, or nobody is to see it.
        necessity: of the predicted label, by which platforms order rows; None where there is none.
        is_check: whether it measures the model.
    """

    item: Item
    cells: Mapping[str, str]
    text: str | None
    opinions: tuple[ExportedOpinion, ...]
    label: str | None
    predicted: Prediction | None
    necessity: float | None
    is_check: bool

    @property
    def plain_text(self) -> str:
        """All that is shown of the row as one text."""
        lines = [f"{name}: {cell}" for name, cell in self.cells.items()]
        return "\n".join([self.text, *lines] if self.text else lines) or self.item.id


@dataclass(frozen=True)
class ExchangedPool:
    """The rows of a campaign, in the order in which they are to be asked.

    Attributes:
        setup: of the campaign.
        classes: all there are.
        descriptions: what people are told of them.
        rows: those without a label first, the least necessity first of all; none that was dropped.
        version: of what is predicted; another once that is another. Empty where nothing is.
        dropped: how many rows were left out, as somebody dropped them.
    """

    setup: Setup
    classes: tuple[str, ...]
    descriptions: Mapping[str, str]
    rows: tuple[ExchangedRow, ...]
    version: str
    dropped: int


# ---------------------------------------------------------------- making them
def exchanged_pool(read_model: ReadModel, predictions: RankingPredictions | None) -> ExchangedPool:
    """The rows of a campaign, with what a ranking predicts of them.

    Of check rows nothing is predicted, lest the measure be swayed, and where people answer blind
    only the necessity is told.
    """
    with read_model.lock:
        classes, state = read_model.classes, read_model.state
        told = {name: state.class_detail(name).description for name in classes}
        verdicts = dict(state.verdicts)
    opinions = defaultdict[str, list[ExportedOpinion]](list)
    for line in exported_opinions(read_model.store, fields=False, verdicts=verdicts):
        if line.label is not None:
            opinions[line.id].append(line)
    items = read_model.store.items()
    places = [row for row in sorted(items) if not _is_dropped(verdicts.get(row))]
    told_of = row_predictions(read_model, predictions, places)
    rows = [
        _row(read_model, items[row], tuple(opinions[items[row].id]), told_of[row]) for row in places
    ]
    rows.sort(key=_asked_first)
    version = "" if predictions is None else model_version(predictions.ranking)
    dropped = len(items) - len(places)
    return ExchangedPool(read_model.setup, classes, told, tuple(rows), version, dropped)


def row_predictions(
    read_model: ReadModel, predictions: RankingPredictions | None, places: list[int]
) -> dict[int, tuple[Prediction | None, float | None]]:
    """What is predicted of rows as it may be shown, and the necessity by which they are ordered.

    Args:
        read_model: of the campaign.
        predictions: of a ranking, if there is one.
        places: of the rows.
    """
    with read_model.lock:
        check = read_model.copies.whole_groups(read_model.check_rows)
    is_cold = predictions is None or predictions.ranking.is_cold
    found = [None] * len(places) if predictions is None or is_cold else predictions.of(places)
    told = dict[int, tuple[Prediction | None, float | None]]()
    for row, one in zip(places, found, strict=True):
        if row in check:
            told[row] = None, None if is_cold else UNTOLD
        else:
            told[row] = None if read_model.setup.blind else one, one and one.necessity
    return told


def model_version(ranking: Ranking) -> str:
    """What a ranking is called elsewhere: the labels it learnt from, and a hash of what it says."""
    said = sha256("\0".join(ranking.classes).encode())
    for array in (ranking.looked_at, ranking.predicted, ranking.necessity):
        said.update(array.tobytes())
    return f"possibal-{ranking.answers}-{said.hexdigest()[:6]}"


def id_column(setup: Setup) -> str | None:
    """The column of the source that names its rows, if one does."""
    return next((name for name, kind, _ in setup.columns if kind == ColumnKind.ID), None)


def _is_dropped(verdict: RowVerdict | None) -> bool:
    """Whether nobody is to be asked about a row, as somebody dropped it or its source did."""
    return verdict is not None and (verdict.is_bad or (verdict.is_gone and verdict.label is None))


def _row(
    read_model: ReadModel,
    item: Item,
    opinions: tuple[ExportedOpinion, ...],
    told: tuple[Prediction | None, float | None],
) -> ExchangedRow:
    """A row as it is handed over."""
    setup = read_model.setup
    cells = dict(zip(setup.fields, item.cells, strict=False))
    text = cells.pop(setup.text, None) if setup.text else None
    return ExchangedRow(
        item,
        {name: cell for name, cell in cells.items() if cell},
        text,
        opinions,
        read_model.label(item.row),
        *told,
        is_check=item.row in read_model.check_rows,
    )


def _asked_first(row: ExchangedRow) -> tuple[bool, float, int]:
    """What sorts rows by how soon they are to be asked."""
    known = 1.0 if row.necessity is None else row.necessity
    return row.label is not None, known, row.item.row
