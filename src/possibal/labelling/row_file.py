"""Every row as a file: its label, what the model predicts and with which chance, what needs a look.

rows_file(read_model, predictions, ".csv") -> (content, rows that need a look)
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from possibal.data import writers
from possibal.data.decoding import no_progress
from possibal.data.name_types import NameType
from possibal.data.writers import SheetColumn
from possibal.labelling.explanation import LIKELY
from possibal.labelling.label_files import class_columns, free_names
from possibal.labelling.predictions import RankingPredictions, SoughtRow
from possibal.labelling.read_model import ReadModel
from possibal.labelling.row_table import RowColumns, RowState, TableRow

ROW_HEADS = (
    *("id", "label", "by", "predicted", "chance", "chance_low", "chance_high", "necessity"),
    *("needs_look", "check"),
)
"""What is said of each row."""
SOUGHT_HEADS = ("sought_chance", "sought_low", "sought_high")
"""What is said besides where the rows of one class are sought."""
_Numbers: TypeAlias = tuple[float | None, ...]
NUMBERS = frozenset(["chance", "chance_low", "chance_high", "necessity", *SOUGHT_HEADS])
DIFFER, MISTAKEN, DOUBTFUL, UNKNOWN = (
    *("people differ", "perhaps mislabelled"),
    *("less than 95 % likely", "nothing predicted"),
)
"""Why a row needs a look; empty where it does not."""


def rows_file(
    read_model: ReadModel,
    predictions: RankingPredictions | None,
    ending: str,
    *,
    fields: bool = True,
    by_class: bool = False,
) -> tuple[bytes, int]:
    """All rows as a file of that ending, and how many of them need a look.

    Where the rows of one class are sought, those that were found come first, then those without a
    label, the likeliest of the class first, then the others; else they are in their order.

    Ids and labels have the type that they were given in, where the format has types.

    Args:
        read_model: of the campaign.
        predictions: what the model makes of the rows; None where it makes nothing of them yet.
        ending: one of `WRITERS`.
        fields: whether each line also has what people saw of its row.
        by_class: whether each class also has a column of 0 and 1, where rows have several.
    """
    items = read_model.store.items()
    with read_model.lock:
        known = RowColumns(read_model, predictions, with_check=True)
        places = sorted(row for row in items if row < len(read_model.X))
        heads, sought = _sought(read_model, predictions, places)
        places = list(sought)
        rows = known.rows(places, items)
    setup = read_model.setup
    said = [(*_line(row), *sought[row.item.row]) for row in rows]
    types = {"id": NameType(setup.id_type).read} | dict.fromkeys(
        ("label", "predicted"), NameType(setup.label_type).read
    )
    columns = [
        SheetColumn(head, _typed([line[place] for line in said], types.get(head)), head in NUMBERS)
        for place, head in enumerate(heads)
    ]
    if setup.multi:
        columns += _member_columns(read_model, predictions, rows, heads)
    if by_class:
        taken = [one.name for one in columns]
        columns += class_columns(read_model.store, [row.label for row in rows], taken)
    names = free_names(setup.fields, [one.name for one in columns]) if fields else ()
    columns += [
        SheetColumn(name, [items[row].cells[at] for row in places]) for at, name in enumerate(names)
    ]
    needing = sum(row_look(row) is not None for row in rows)
    return writers.write_sheet(columns, ending), needing


def _member_columns(
    read_model: ReadModel,
    predictions: RankingPredictions | None,
    rows: Sequence[TableRow],
    taken: Sequence[str],
) -> list[SheetColumn]:
    """The chance and the necessity of each class of rows that may have several."""
    told = [
        {one.label: one for one in predictions.members_of(row.item.row)}
        if predictions and row.prediction
        else {}
        for row in rows
    ]
    columns = list[SheetColumn]()
    for name in read_model.classes:
        each = [found.get(name) for found in told]
        heads = free_names((f"chance {name}", f"necessity {name}"), taken)
        cells = ([one and one.chance for one in each], [one and one.necessity for one in each])
        columns += [SheetColumn(*both, is_number=True) for both in zip(heads, cells, strict=True)]
    return columns


def _sought(
    read_model: ReadModel, predictions: RankingPredictions | None, places: Sequence[int]
) -> tuple[tuple[str, ...], dict[int, _Numbers]]:
    """What the columns are called, and rows in their order, with chances of the sought class."""
    wanted = read_model.sought
    if wanted is None:
        return ROW_HEADS, dict.fromkeys(places, ())
    state, nothing = read_model.state, cast("_Numbers", (None,) * len(SOUGHT_HEADS))
    found = [row for row in places if state.labels.get(row) == wanted]
    rest = [row for row in places if row not in state.labels and not state.verdict(row).is_bad]
    others = sorted(set(places).difference(found, rest))
    told = dict[int, _Numbers].fromkeys(found, nothing)
    for one in predictions.sought_first(rest) if predictions else map(SoughtRow, rest):
        at = one.chance
        told[one.row] = nothing if at is None else (at.value, at.low, at.high)
    return (*ROW_HEADS, *SOUGHT_HEADS), {**told, **dict.fromkeys(others, nothing)}


def whole_predictions(
    read_model: ReadModel, progress: Callable[[float], None] = no_progress
) -> RankingPredictions | None:
    """What a model that is fitted now predicts of every row; None where two classes are wanting."""
    from possibal.labelling.ranker import InProcessRanker  # it loads scikit-learn

    setup = read_model.setup
    ranker = InProcessRanker(read_model.X, setup.strategy, setup.seed, setup.geometry)
    ranking = ranker.rank_all(read_model.task(), progress)
    return None if ranking.is_cold else RankingPredictions(ranking, read_model)


def row_look(row: TableRow) -> str | None:
    """Why somebody should look at a row; None where nobody need."""
    if row.state is RowState.BAD:
        return None
    if row.label is not None:
        return MISTAKEN if row.other else None
    if row.state is RowState.DIFFER:
        return DIFFER
    if row.prediction is None:
        return UNKNOWN
    return DOUBTFUL if row.prediction.chance.value < LIKELY else None


def _line(row: TableRow) -> tuple[str | float | None, ...]:
    """What is said of a row, as `ROW_HEADS` has it."""
    found = row.prediction
    told = (None,) * 5
    if found is not None:
        chance = found.chance
        told = found.label, chance.value, chance.low, chance.high, found.necessity
    people = ", ".join(row.people) or None
    return row.item.id, row.label, people, *told, row_look(row), "yes" if row.is_check else None


def _typed(
    cells: Sequence[str | float | None], read: Callable[[str], object] | None
) -> list[object]:
    """Cells in the type of their names."""
    return [cell if read is None or not isinstance(cell, str) else read(cell) for cell in cells]
