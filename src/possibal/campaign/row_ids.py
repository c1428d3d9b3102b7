"""Names of rows: those that the user gives, those of a frame's index, else places from zero on."""

from collections.abc import Hashable, Iterable

from possibal.data.encoders import find_column
from possibal.data.frames import as_frame, frame_index, from_frame
from possibal.data.schema import check_ids

Ids = Iterable[Hashable] | str | None
"""The names of rows as users give them: a list, the name of a column, or none."""


def row_ids(source: object, ids: Ids, count: int) -> tuple[Hashable, ...]:
    """What the rows of a source are called, each once.

    Args:
        source: a frame, or an array.
        ids: one name per row, or the column of a frame that has them. If left out, the index of a
            pandas frame that is not a plain 0 to m - 1 names its rows, and others are numbered.
        count: how many rows there are.
    """
    if isinstance(ids, str):
        return check_ids(_column(source, ids), count)
    if ids is not None:
        return check_ids(ids, count)
    index = frame_index(source)
    return tuple(range(count)) if index is None else check_ids(index, count)


def _column(source: object, name: str) -> list[Hashable]:
    """The cells of a column of a frame."""
    frame = as_frame(source)
    if frame is None:
        table = from_frame(source)
        return list(table.columns[find_column("ids", name, table.names)])
    names = tuple(str(one) for one in frame.names)
    series = frame.frame[frame.frame.columns[find_column("ids", name, names)]]
    return series.to_list()
