"""Ranking of a pool in files by a classifier that is fitted to labelled rows of another file.

    rank_files(RankRequest("pool/*.parquet", Path("labels.csv")), progress) -> RankedRows

Columns are standardised, and length-scales follow the usual distance, by a sample of rows from all
over the pool; the pool itself is scanned once.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path
from reprlib import repr as brief

import numpy as np

from possibal.acquisition.pointwise import necessity
from possibal.acquisition.registry import find_strategy
from possibal.acquisition.strategy import Strategy
from possibal.arguments import DEFAULT_STRATEGY, at_least, choice
from possibal.arrays import Matrix, Places, Vector
from possibal.belief import leading_labels
from possibal.data import readers, schema
from possibal.data.encoders import MANY_DIGITS, NUMBERS, Table, cell_text, find_column, is_number
from possibal.data.writers import SheetColumn
from possibal.estimators.classifier import PossibilisticGPClassifier, with_pool_scale
from possibal.numerics.geometry import RBF_ALONE
from possibal.pool import ranking as pools
from possibal.pool.ranking import Shortlist
from possibal.pool.reader import Block, Load, Part, RowFormat, RowSource, row_source

SAMPLE = 8
"""Parts of a pool that its scale is taken from, spread over all of it."""
LARGE = (".parquet", ".npy")
"""Files that are read in parts."""


@dataclass(frozen=True)
class RankRequest:
    """What is to be ranked.

    Attributes:
        pool: a file, a folder of Parquet files, or a pattern.
        labels: a file with labelled rows.
        label: its column of labels.
        id: the column that names rows, in both.
        columns: to learn from; empty for all of the labelled rows but those.
        strategy: by which rows are ranked.
        top: how many rows are wanted.
        kernel: of the classifier, :data:`~possibal.numerics.geometry.RBF_ALONE` or None.
    """

    pool: str
    labels: Path
    label: str = "label"
    id: str | None = None
    columns: tuple[str, ...] = ()
    strategy: str | Strategy = DEFAULT_STRATEGY
    top: int = 100
    kernel: str | None = None

    def __post_init__(self) -> None:
        """Check what can be known before any file is read."""
        find_strategy(self.strategy)
        at_least("top", self.top, 1)
        if self.kernel is not None:
            choice("kernel", self.kernel, {RBF_ALONE: True})


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Ranked rows, the best first.

    Attributes:
        shortlist: their places, names and utilities.
        left_out: how many labels were beyond the subset that is fitted.
        label: the likeliest label of each.
        probability: of that label.
        necessity: of that label.
        seconds: that ranking took.
    """

    shortlist: Shortlist
    left_out: int
    label: list[str]
    probability: Vector
    necessity: Vector
    seconds: float

    @property
    def summary(self) -> str:
        """One sentence on how it was found."""
        found = self.shortlist
        sentence = (
            f"Ranked {found.rows} rows in {self.seconds:.1f} s; {found.pruned:.1%} of them could "
            "be passed over without working out their variance."
        )
        if not self.left_out:
            return sentence
        return f"{sentence} {self.left_out} labels that seemed to tell least were left out."


def rank_files(
    wanted: RankRequest,
    progress: Callable[[int, int | None], None],
    *,
    jobs: int | None = None,
    client: str | None = None,
) -> RankedRows:
    """The rows of a pool with the largest utilities, by a fit to labelled rows.

    Args:
        wanted: what is to be ranked.
        progress: as for :func:`possibal.pool.rank`.
        jobs: threads.
        client: the address of a Dask scheduler, to rank on its workers.
    """
    known = _known(wanted)
    source, names = _source(wanted, known)
    some = _some(source)
    scale = ColumnScale.of(some)
    model = with_pool_scale(PossibilisticGPClassifier(wanted.kernel), scale.apply(some))
    model.fit(scale.apply(known.X), known.labels)
    scaled = RowSource(source.size, partial(_parts, source, scale))
    # Labelled rows may be in the pool under their names. Where those are known only as the pool is
    # read, so many more rows are asked for.
    aside = [at for at, name in enumerate(names or ()) if _is_known(name, known.ids)]
    most = wanted.top + (len(known.ids) if wanted.id and names is None else 0)
    began = time.perf_counter()
    shortlist = pools.rank(
        model,
        scaled,
        wanted.strategy,
        top=min(most, max(source.size or most, wanted.top)),
        aside=aside,
        jobs=jobs,
        progress=progress,
        client=client,
    )
    seconds = time.perf_counter() - began
    if names is not None:
        shortlist = replace(shortlist, ids=tuple(names[at] for at in shortlist.places))
    return _predicted(model, _open(shortlist, known, wanted.top), seconds)


def columns(found: RankedRows) -> list[SheetColumn]:
    """The rows as columns of a file."""
    listed = found.shortlist
    return [
        SheetColumn("id", schema.text_cells(listed.ids)),
        SheetColumn("row", [str(place) for place in listed.places]),
        SheetColumn("utility", listed.utilities.tolist(), is_number=True),
        SheetColumn("label", found.label),
        SheetColumn("probability", found.probability.tolist(), is_number=True),
        SheetColumn("necessity", found.necessity.tolist(), is_number=True),
    ]


# ---------------------------------------------------------------- labelled rows
@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Labelled rows: the names of columns, numbers, labels, and names of rows if they have any."""

    columns: tuple[str, ...]
    X: Matrix
    labels: list[str]
    ids: frozenset[str]


def _known(wanted: RankRequest) -> LabelledRows:
    """What the file of labels holds."""
    table = readers.read_table(wanted.labels).table
    label = find_column("label", wanted.label, table.names)
    name = None if wanted.id is None else find_column("id", wanted.id, table.names)
    others = tuple(one for at, one in enumerate(table.names) if at not in (label, name))
    found, _ = schema.row_labels(table, label, ())
    rows = [row for row, one in enumerate(found) if one is not None]
    labels = [one for one in found if one is not None]
    if len(set(labels)) < 2:  # noqa: PLR2004 - a choice needs two
        raise ValueError(
            f"labels must name at least two classes; got {len(set(labels))} in column "
            f"{wanted.label!r} of {str(wanted.labels)!r}. Label more rows."
        )
    # Rows without a label may lack numbers too.
    kept = Table(table.names, tuple([cells[row] for row in rows] for cells in table.columns))
    X = _numbers(kept, wanted.columns or others, wanted.labels, rows)
    ids = () if name is None else schema.text_cells(kept.columns[name])
    return LabelledRows(wanted.columns or others, X, labels, frozenset(one for one in ids if one))


def _numbers(table: Table, names: Sequence[str], path: Path, rows: Sequence[int]) -> Matrix:
    """Columns of a table as numbers, or one sentence on the first cell that is none.

    Args:
        table: some rows of a file.
        names: of the columns.
        path: the file.
        rows: where they stand in it.
    """
    if not names:
        raise ValueError(
            f"columns must name at least one column; got none in {str(path)!r} beside the label. "
            "Add columns of numbers."
        )
    X = np.empty((len(table.columns[0]), len(names)))
    for at, name in enumerate(names):
        cells = table.columns[find_column("columns", name, table.names)]
        bad = [row for row, cell in enumerate(cells) if not _is_finite(cell)]
        if bad:
            # A word makes words of all the numbers in its column: it is the one to name.
            row = next((row for row in bad if not _says_number(cells[row])), bad[0])
            raise ValueError(
                f"columns must hold finite numbers; got {brief(cells[row])} at row {rows[row]}, "
                f"column {name!r} in {str(path)!r}. Mend it, or leave the column out with "
                "--columns."
            )
        X[:, at] = cells
    return X


def _is_finite(cell: object) -> bool:
    """Whether a cell is a number that can be learnt from."""
    return isinstance(cell, NUMBERS) and isfinite(cell)


def _says_number(cell: object) -> bool:
    """Whether a cell is a number written as text, with a point or a comma."""
    return isinstance(cell, str) and is_number(cell.replace(",", "."))


# ---------------------------------------------------------------- the pool
def _source(wanted: RankRequest, known: LabelledRows) -> tuple[RowSource, tuple[str, ...] | None]:
    """The rows of the pool, and their names where the file was read at once."""
    path, width = Path(wanted.pool), len(known.columns)
    ending = readers.ending(path)
    if ending is None or ending in LARGE:
        is_array = path.suffix.lower() == ".npy"
        expected = RowFormat(width, None if is_array else known.columns, wanted.id)
        return row_source(wanted.pool, expected), None
    table = readers.read_table(path).table
    name = None if wanted.id is None else find_column("id", wanted.id, table.names)
    X = _numbers(table, known.columns, path, range(len(table.columns[0])))
    ids = None if name is None else tuple(map(str, schema.row_ids(table, name)))
    return row_source(X, RowFormat(width, None)), ids


def _some(source: RowSource) -> Matrix:
    """Rows from all over the pool."""
    parts = list(source.parts())
    some = np.unique(np.linspace(0, len(parts) - 1, SAMPLE).astype(int))
    return np.concatenate([parts[at].read().X for at in some])


@dataclass(frozen=True, eq=False)
class ColumnScale:
    """What brings the columns of a pool to a common scale.

    Attributes:
        kept: places of the columns that vary in the pool; of all, if none does.
        centre, spread: of each of them.
    """

    kept: Places
    centre: Vector
    spread: Vector

    @classmethod
    def of(cls, X: Matrix) -> "ColumnScale":
        """The scale of some rows."""
        # By its ends: rounding may give a column that is constant a tiny spread.
        kept = np.flatnonzero(X.min(axis=0) < X.max(axis=0))
        if not len(kept):
            return cls(np.arange(X.shape[1]), X[0].astype(float), np.ones(X.shape[1]))
        some = X[:, kept]
        return cls(kept, some.mean(axis=0, dtype=float), some.std(axis=0, dtype=float))

    def apply(self, X: Matrix) -> Matrix:
        """Rows on the common scale."""
        return (X[:, self.kept] - self.centre) / self.spread


def _parts(source: RowSource, scale: ColumnScale) -> Iterator[Part]:
    """The parts of the pool, brought to one scale as they are read."""
    for part in source.parts():
        yield replace(part, load=partial(_scaled, part.load, scale))


def _scaled(load: Load, scale: ColumnScale, part: Part) -> Block:
    """Numbers on the common scale."""
    X, names = load(part)
    return scale.apply(X), names


# ---------------------------------------------------------------- results
def _open(shortlist: Shortlist, known: LabelledRows, top: int) -> Shortlist:
    """The first rows that have no label."""
    names = schema.text_cells(shortlist.ids)
    free = [at for at, name in enumerate(names) if not _is_known(name, known.ids)]
    # As many more were asked for as there are labels, or else all rows: see `rank_files`.
    if len(free) < top and len(names) < shortlist.rows:
        often = Counter(name for name in names if name is not None).most_common(1)[0][0]
        raise ValueError(
            f"id must be a column that names each row once; got {often!r} for several rows of the "
            "pool. Name another column, or leave id out to number the rows."
        )
    if len(free) < top:
        raise ValueError(
            f"top must be at most {len(free)}, the rows without a label; got {top}. Ask for fewer."
        )
    return shortlist.part(np.array(free[:top]))


def _is_known(name: str | None, ids: frozenset[str]) -> bool:
    """Whether a name is that of a labelled row, whose file may have taken 007 for a number."""
    if name is None or name in ids:
        return name is not None
    return len(name) < MANY_DIGITS and is_number(name) and cell_text(float(name)) in ids


def _predicted(
    model: PossibilisticGPClassifier, shortlist: Shortlist, seconds: float
) -> RankedRows:
    """Predictions for the ranked rows."""
    belief = model.posterior_.at(shortlist.X)
    leading = leading_labels(belief)
    label = [str(model.classes_[at]) for at in leading]
    probability = model.predict_proba(shortlist.X)[np.arange(len(leading)), leading]
    return RankedRows(shortlist, model.left_out_, label, probability, necessity(belief), seconds)
