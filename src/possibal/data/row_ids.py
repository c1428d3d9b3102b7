"""Names of rows: those that the user gives, those of a frame's index, else places from zero on."""

from collections.abc import Hashable, Iterable

from possibal.arguments import check_listed, is_hashable
from possibal.arrays import as_python
from possibal.data.encoders import find_column, is_missing
from possibal.data.frames import as_frame, frame_index, from_frame

Ids = Iterable[Hashable] | str | None
"""The names of rows as users give them: a list, the name of a column, or none."""
REMEDIES = {
    "ids": "Give each row a name of its own.",
    "index": "Use frame.reset_index(drop=True) to number the rows, or name a column with ids=.",
}
MISSING_TYPES = {"NAType", "NaTType"}


def row_ids(source: object, ids: Ids, count: int) -> tuple[Hashable, ...]:
    """What the rows of a source are called, each once.

    Args:
        source: a frame, or an array.
        ids: one name per row, or the column of a frame that has them. If left out, the index of a
            pandas frame that is not a plain 0 to m - 1 names its rows, and others are numbered.
        count: how many rows there are.
    """
    if isinstance(ids, str):
        return checked_ids(_column(source, ids), count)
    if ids is not None:
        return checked_ids(ids, count)
    index = frame_index(source)
    return tuple(range(count)) if index is None else checked_ids(index, count, "index")


def listed_ids(ids: Ids) -> tuple[Hashable, ...] | str | None:
    """Names of rows, to be read more than once; the name of their column, or none, as it is."""
    if ids is None or isinstance(ids, str):
        return ids
    check_listed("ids", ids)
    return tuple(ids)


def checked_ids(ids: Iterable[Hashable], count: int, argument: str = "ids") -> tuple[Hashable, ...]:
    """The names of so many rows as Python's values, or one sentence on what is wrong with them."""
    names, remedy = tuple(as_python(row) for row in ids), REMEDIES[argument]
    if len(names) != count:
        raise ValueError(
            f"{argument} must have one entry per row, {count}; got {len(names)}. "
            "Leave them out to number the rows."
        )
    first = dict[Hashable, int]()
    for place, row in enumerate(names):
        if not is_hashable(row) or is_missing(row) or type(row).__name__ in MISSING_TYPES:
            raise ValueError(
                f"{argument} must hold text or numbers; got {row!r} at row {place}. {remedy}"
            )
        if first.setdefault(row, place) != place:
            raise ValueError(
                f"{argument} must be unique; got {row!r} at rows {first[row]} and {place}. {remedy}"
            )
    return names


def _column(source: object, name: str) -> list[Hashable]:
    """The cells of a column of a frame."""
    frame = as_frame(source)
    if frame is None:
        table = from_frame(source)
        return list(table.columns[find_column("ids", name, table.names)])
    names = tuple(str(one) for one in frame.names)
    series = frame.frame[frame.frame.columns[find_column("ids", name, names)]]
    return series.to_list()
