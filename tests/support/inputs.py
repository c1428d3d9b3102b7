"""Kinds of input that users have, and what comes of each in Python, at a terminal and in the page.

The table of docs/inputs.md is made of these: PYTHONPATH=src:tests python -m support.inputs
"""

import gzip
import json
import re
import shutil
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

ROWS, PICTURES = 24, 12
CLASSES = ("small", "large")
"""In turn: the label of a row is that of its number."""
WIDTHS = [round(1.1 + 4 * (row % 2) + row * 7 % 10 / 20, 2) for row in range(ROWS)]
COLOURS = [("red", "blue", "green")[row % 3] for row in range(ROWS)]
THINGS: dict[str, list[Any]] = {"width": WIDTHS, "colour": COLOURS}
SENTENCES = [
    ("the cat sleeps on a warm sofa", "the rocket leaves its pad for the moon")[row % 2]
    + f" on day {row} of the story"
    for row in range(ROWS)
]
TITLES = [f"On {('cats', 'rockets')[row % 2]} and what they do, part {row}" for row in range(ROWS)]
OWN_NUMBERS = list(range(1000, 1000 + 10 * ROWS, 10))
OWN_NAMES = [f"doc-{row}" for row in range(ROWS)]
THING_KINDS = {"width": "number", "colour": "category"}


@dataclass(frozen=True)
class Reading:
    """What comes of an input: the names of its first rows, and how columns are understood."""

    ids: tuple[Hashable, ...]
    columns: Mapping[str, str]

    def __str__(self) -> str:
        rows = ", ".join(map(repr, self.ids))
        columns = ", ".join(f"`{name}` {kind}" for name, kind in self.columns.items())
        return f"rows `{rows}`, …; {columns or 'a picture each'}"


@dataclass(frozen=True)
class InputKind:
    """One kind of input.

    Attributes:
        name: what users call it.
        pool: makes it in a folder: a path, or what is in memory.
        call: what is passed in Python, as the documentation shows it.
        reading: what comes of it there.
        shown: the fields of the first row in the page.
        shape: "table", "text" or "image".
        text: that of the first row in the page.
        given: options in Python.
        save: writes what is in memory to a file.
        saving: the same, as the documentation shows it.
        arguments: of the command line.
        filed: what comes of it there, if it is something else.
        known: rows that have a label from the beginning.
    """

    name: str
    pool: Callable[[Path], Any]
    call: str
    reading: Reading
    shown: Mapping[str, str | None]
    shape: str = "table"
    text: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    save: Callable[[Any, Path], Path] | None = None
    saving: str = ""
    arguments: tuple[str, ...] = ()
    filed: Reading | None = None
    known: int = 0

    @property
    def in_file(self) -> Reading:
        """What comes of it on the command line."""
        return self.filed or self.reading

    @property
    def rows(self) -> int:
        """How many there are."""
        return PICTURES if self.shape == "image" else ROWS

    def path(self, folder: Path) -> Path:
        """The input as a file, or as a folder of pictures."""
        pool = self.pool(folder)
        return pool if self.save is None else self.save(pool, folder)

    def label(self, place: int, name: object) -> str:
        """The true label of a row."""
        number = int(Path(str(name)).stem) if self.shape == "image" and "." in str(name) else place
        return CLASSES[number % 2]

    def line(self) -> str:
        """The line of the documentation's table."""
        passed = self.call if self.save is not None else f'"{self.call}"'
        options = "".join(f", {name}={value!r}" for name, value in self.given.items())
        command = " ".join(["possibal label", self._file, *self.arguments])
        first = f"`{self.saving}`, then " if self.saving else ""
        same = "" if self.filed is None else f": {self.filed}"
        cells = ", ".join(f"{name} {value}" for name, value in self.shown.items())
        seen = {"image": "the picture", "text": f"“{self.text}”"}.get(self.shape, "")
        page = "; ".join(filter(None, [seen, cells]))
        known = f"; {self.known} labels are known" if self.known else ""
        return (
            f"| {self.name} | `{passed}{options}`: {self.reading}{known} "
            f"| {first}`{command}`{same} | row {self._shown_id}: {page} |"
        )

    @property
    def _file(self) -> str:
        """How the documentation calls the file."""
        return re.findall(r'"(rows[.]\w+)"', self.saving)[0] if self.saving else self.call

    @property
    def _shown_id(self) -> str:
        """The name of the first row as the page shows it before it is answered."""
        return str(self.reading.ids[0]).rsplit("/", maxsplit=1)[-1]


# ---------------------------------------------------------------- what they hold
def things(**more: Any) -> pd.DataFrame:
    """Things of two sizes."""
    return pd.DataFrame(THINGS | more)


def papers() -> pd.DataFrame:
    """Two columns of texts and one of numbers."""
    years = [2000 + row * 5 % 17 for row in range(ROWS)]
    return pd.DataFrame({"title": TITLES, "abstract": SENTENCES, "year": years})


def orders() -> pd.DataFrame:
    """Dates, words and numbers, with a gap in each."""
    days = pd.Series(pd.date_range("2024-01-01", periods=ROWS, freq="9D"))
    cities = [None if row == 3 else ("Rome", "Oslo", "Lima")[row % 3] for row in range(ROWS)]
    sizes = [None if row == 5 else WIDTHS[row] for row in range(ROWS)]
    return pd.DataFrame({"ordered": days.where(days.index != 4), "city": cities, "size": sizes})


def parts() -> pd.DataFrame:
    """Columns that say nothing, beside one that does."""
    return pd.DataFrame(
        {
            "part_no": range(1, ROWS + 1),
            "zip_code": [10_000 + row * 37 % 900 for row in range(ROWS)],
            "country": "IT",
            "width": WIDTHS,
            "remark": [f"X{row * 77:05}" for row in range(ROWS)],
        }
    )


def partly() -> pd.DataFrame:
    """Things, some with a label."""
    return things(label=[*CLASSES, *[None] * (ROWS - 2)])


def prices(folder: Path) -> Path:
    """Numbers as spreadsheets write them."""
    lines = (f'"{1000 + 100 * width:,.2f}",{width}%,€{100 * width:.0f}' for width in WIDTHS)
    return put(folder / "prices.csv", "price,share,paid", *lines)


def prices_with_commas(folder: Path) -> Path:
    """The same where semicolons separate cells."""
    lines = (f"{1000 + 100 * width:.2f};{width}%".replace(".", ",") for width in WIDTHS)
    return put(folder / "preise.csv", "price;share", *lines)


def photos(folder: Path, below: Callable[[int], str] = lambda _: "") -> Path:
    """Pictures, every second one dark."""
    for number in range(PICTURES):
        path = folder / "photos" / below(number) / f"{number:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        shade = 200 + number if number % 2 == 0 else 40 + number
        Image.new("RGB", (16, 16), (shade, shade, number)).save(path)
    return folder / "photos"


def in_classes(folder: Path) -> Path:
    """Pictures in a folder for each class, and some that are to be labelled."""
    return photos(folder, lambda number: "unsorted" if number > 5 else CLASSES[number % 2])


def photo_list(folder: Path) -> Path:
    """A file that names pictures, with numbers beside them."""
    photos(folder)
    lines = (f"photos/{number:02}.png,{1.5 * number}" for number in range(PICTURES))
    return put(folder / "list.csv", "photo,weight", *lines)


# ---------------------------------------------------------------- files
def put(path: Path, *lines: str) -> Path:
    """A file of lines."""
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def csv(frame: Callable[[], pd.DataFrame], name: str, **how: Any) -> Callable[[Path], Path]:
    """Writes a frame as text with separators."""
    return lambda folder: put(
        folder / name, frame().to_csv(None, **{"index": False, **how}).removesuffix("\n")
    )


def packed(folder: Path) -> Path:
    """A CSV file in gzip."""
    path = folder / "things.csv.gz"
    path.write_bytes(gzip.compress(things().to_csv(index=False).encode()))
    return path


def wrote(method: str, name: str = "rows.parquet", **how: Any) -> Callable[[Any, Path], Path]:
    """Saves a frame by a method of its own."""

    def save(frame: Any, folder: Path) -> Path:
        getattr(frame, method)(str(folder / name), **how)
        return folder / name

    return save


def saved(write: Callable[[Path], Any], path: Path) -> Path:
    """A file that was just written."""
    write(path)
    return path


def duck(_: Path) -> Any:
    """A query of DuckDB."""
    import duckdb

    frame = things()
    return duckdb.from_df(frame).project("width, colour")


def hugging(_: Path) -> Any:
    """A data set of Hugging Face."""
    from datasets import Dataset

    return Dataset.from_dict(THINGS)


def hugging_classes(_: Path) -> Any:
    """The same with labels, of which it keeps the numbers; -1 is none."""
    from datasets import ClassLabel, Dataset, Features, Value

    kinds = {"width": Value("float64"), "colour": Value("string")}
    features = Features(kinds | {"label": ClassLabel(names=[*CLASSES])})
    return Dataset.from_dict(THINGS | {"label": [0, 1, *[-1] * (ROWS - 2)]}, features=features)


def named_labels(frame: pd.DataFrame) -> "pd.Series[Any]":
    """Labels by their names, which files of data sets have no place for."""
    return frame["label"].map(dict(enumerate(CLASSES)))


def dask_frame(_: Path) -> Any:
    """A frame in two parts."""
    import dask.dataframe as dd

    return dd.from_pandas(things(), npartitions=2)


def records() -> list[dict[str, Any]]:
    """Things as dicts."""
    return things().to_dict("records")


# ---------------------------------------------------------------- the kinds
COUNTED = Reading((0, 1, 2), THING_KINDS)
NUMBERED = Reading((1000, 1010, 1020), THING_KINDS)
NAMED = Reading(("doc-0", "doc-1", "doc-2"), THING_KINDS)
THING = {"width": "1.1", "colour": "red"}
PAPER = {"title": "text", "abstract": "text", "year": "number"}
ORDER = {"ordered": "date", "city": "category", "size": "number"}
PART = {
    "part_no": "left out",
    "zip_code": "left out",
    "country": "left out",
    "width": "number",
    "remark": "left out",
}
PART_SHOWN = {"zip_code": "10000", "country": "IT", "width": "1.1", "remark": "X00000"}
PHOTOS = Reading(("00.png", "01.png", "02.png"), {})
INDEX = "__index_level_0__"

KINDS = [
    InputKind(
        "pandas frame with a plain index",
        lambda _: things(),
        "frame",
        COUNTED,
        THING,
        save=wrote("to_parquet"),
        saving='frame.to_parquet("rows.parquet")',
    ),
    InputKind(
        "pandas frame with its own index of numbers",
        lambda _: things().set_axis(OWN_NUMBERS),
        "frame",
        NUMBERED,
        THING,
        save=wrote("to_parquet"),
        saving='frame.to_parquet("rows.parquet")',
        filed=Reading(NUMBERED.ids, THING_KINDS | {INDEX: "id"}),
    ),
    InputKind(
        "pandas frame cut from a longer one, so that its index counts from elsewhere",
        lambda _: things().set_axis(range(100, 100 + ROWS)),
        "frame[100:124]",
        Reading((100, 101, 102), THING_KINDS),
        THING,
        save=wrote("to_parquet"),
        saving='frame[100:124].to_parquet("rows.parquet")',
        filed=Reading((100, 101, 102), THING_KINDS | {INDEX: "id"}),
    ),
    InputKind(
        "pandas frame with its own index of words",
        lambda _: things().set_axis(OWN_NAMES),
        "frame",
        NAMED,
        THING,
        save=wrote("to_csv", "rows.csv"),
        saving='frame.to_csv("rows.csv")',
        filed=Reading(NAMED.ids, {"unnamed 1": "id", **THING_KINDS}),
    ),
    InputKind(
        "pandas frame with a column that names rows",
        lambda _: things(doc=OWN_NAMES),
        "frame",
        Reading(NAMED.ids, THING_KINDS | {"doc": "id"}),
        THING,
        given={"ids": "doc"},
        save=wrote("to_parquet"),
        saving='frame.to_parquet("rows.parquet")',
        arguments=("--id", "doc"),
    ),
    InputKind(
        "polars frame",
        lambda _: pl.DataFrame(THINGS),
        "frame",
        COUNTED,
        THING,
        save=wrote("write_parquet"),
        saving='frame.write_parquet("rows.parquet")',
    ),
    InputKind(
        "polars lazy frame",
        lambda _: pl.LazyFrame(THINGS),
        "lazy",
        COUNTED,
        THING,
        save=wrote("sink_parquet"),
        saving='lazy.sink_parquet("rows.parquet")',
    ),
    InputKind(
        "pyarrow table",
        lambda _: pa.table(THINGS),
        "table",
        COUNTED,
        THING,
        save=lambda table, folder: saved(
            lambda path: pq.write_table(table, path), folder / "rows.parquet"
        ),
        saving='pq.write_table(table, "rows.parquet")',
    ),
    InputKind(
        "DuckDB query",
        duck,
        "duckdb.sql(query)",
        COUNTED,
        THING,
        save=wrote("write_parquet"),
        saving='duckdb.sql(query).write_parquet("rows.parquet")',
    ),
    InputKind(
        "Hugging Face data set",
        hugging,
        "dataset",
        COUNTED,
        THING,
        save=wrote("to_json", "rows.jsonl"),
        saving='dataset.to_json("rows.jsonl")',
    ),
    InputKind(
        "Hugging Face data set with classes, some rows without",
        hugging_classes,
        "dataset",
        Reading((0, 1, 2), THING_KINDS | {"label": "label"}),
        THING,
        save=lambda dataset, folder: saved(
            dataset.to_pandas().assign(label=named_labels).to_parquet, folder / "rows.parquet"
        ),
        saving='dataset.to_pandas().assign(label=names).to_parquet("rows.parquet")',
        known=2,
    ),
    InputKind(
        "Dask frame",
        dask_frame,
        "frame",
        COUNTED,
        THING,
        save=lambda frame, folder: saved(
            lambda path: frame.compute().to_parquet(path), folder / "rows.parquet"
        ),
        saving='frame.compute().to_parquet("rows.parquet")',
    ),
    InputKind(
        "narwhals frame",
        lambda _: nw.from_native(pl.DataFrame(THINGS)),
        "frame",
        COUNTED,
        THING,
        save=wrote("write_csv", "rows.csv"),
        saving='frame.write_csv("rows.csv")',
    ),
    InputKind(
        "list of dicts",
        lambda _: records(),
        "rows",
        COUNTED,
        THING,
        save=lambda rows, folder: put(folder / "rows.json", json.dumps(rows)),
        saving='json.dump(rows, open("rows.json", "w"))',
    ),
    InputKind(
        "dict of columns",
        lambda _: dict(THINGS),
        "columns",
        COUNTED,
        THING,
        save=lambda columns, folder: saved(pl.DataFrame(columns).write_csv, folder / "rows.csv"),
        saving='pl.DataFrame(columns).write_csv("rows.csv")',
    ),
    InputKind(
        "NumPy array",
        lambda _: np.array([WIDTHS, [row % 7 for row in range(ROWS)]]).T,
        "X",
        Reading((0, 1, 2), {"x1": "number", "x2": "number"}),
        {"x1": "1.1", "x2": "0"},
        save=lambda X, folder: saved(
            lambda path: np.savetxt(path, X, delimiter=",", header="x1,x2", comments=""),
            folder / "rows.csv",
        ),
        saving='np.savetxt("rows.csv", X, delimiter=",", header="x1,x2", comments="")',
    ),
    InputKind(
        "CSV with a column that names rows",
        csv(lambda: things(doc_id=OWN_NAMES), "things.csv"),
        "things.csv",
        Reading(NAMED.ids, THING_KINDS | {"doc_id": "id"}),
        THING,
    ),
    InputKind("CSV without one", csv(things, "things.csv"), "things.csv", COUNTED, THING),
    InputKind(
        "CSV of a spreadsheet: `1,234.50`, `12.5%`, `€300`",
        prices,
        "prices.csv",
        Reading((0, 1, 2), {"price": "number", "share": "number", "paid": "number"}),
        {"price": "1110", "share": "1.1", "paid": "110"},
    ),
    InputKind(
        "CSV with semicolons and decimal commas",
        prices_with_commas,
        "preise.csv",
        Reading((0, 1, 2), {"price": "number", "share": "number"}),
        {"price": "1110", "share": "1.1"},
    ),
    InputKind("TSV", csv(things, "things.tsv", sep="\t"), "things.tsv", COUNTED, THING),
    InputKind("CSV in gzip", packed, "things.csv.gz", COUNTED, THING),
    InputKind(
        "Parquet",
        lambda folder: saved(pl.DataFrame(THINGS).write_parquet, folder / "things.parquet"),
        "things.parquet",
        COUNTED,
        THING,
    ),
    InputKind(
        "JSON lines",
        lambda folder: saved(pl.DataFrame(THINGS).write_ndjson, folder / "things.jsonl"),
        "things.jsonl",
        COUNTED,
        THING,
    ),
    InputKind(
        "JSON list",
        lambda folder: put(folder / "things.json", json.dumps(records(), indent=1)),
        "things.json",
        COUNTED,
        THING,
    ),
    InputKind(
        "Excel",
        lambda folder: saved(
            lambda path: things().to_excel(path, index=False), folder / "things.xlsx"
        ),
        "things.xlsx",
        COUNTED,
        THING,
    ),
    InputKind(
        "one text a line",
        lambda folder: put(folder / "reviews.txt", *SENTENCES),
        "reviews.txt",
        Reading((0, 1, 2), {"text": "text"}),
        {},
        shape="text",
        text=SENTENCES[0],
    ),
    InputKind(
        "title, abstract and year",
        csv(papers, "papers.csv"),
        "papers.csv",
        Reading((0, 1, 2), PAPER),
        {"title": TITLES[0], "year": "2000"},
        shape="text",
        text=SENTENCES[0],
    ),
    InputKind(
        "the same as a frame, with both texts named",
        lambda _: papers(),
        "frame",
        Reading((0, 1, 2), PAPER),
        {"title": TITLES[0], "year": "2000"},
        shape="text",
        text=SENTENCES[0],
        given={"text": ["title", "abstract"]},
        save=wrote("to_parquet"),
        saving='frame.to_parquet("rows.parquet")',
        arguments=("--text", "title,abstract"),
    ),
    InputKind(
        "frame of dates, words and numbers with gaps",
        lambda _: orders(),
        "frame",
        Reading((0, 1, 2), ORDER),
        {"ordered": "2024-01-01", "city": "Rome", "size": "1.1"},
        save=wrote("to_parquet"),
        saving='frame.to_parquet("rows.parquet")',
    ),
    InputKind(
        "CSV of dates, words and numbers with gaps",
        csv(orders, "orders.csv"),
        "orders.csv",
        Reading((0, 1, 2), ORDER),
        {"ordered": "2024-01-01", "city": "Rome", "size": "1.1"},
    ),
    InputKind(
        "frame with a running number, codes, a constant and remarks",
        lambda _: parts(),
        "frame",
        Reading((0, 1, 2), PART),
        {"part_no": "1", **PART_SHOWN},
        save=wrote("to_csv", "rows.csv", index=False),
        saving='frame.to_csv("rows.csv", index=False)',
        filed=Reading((1, 2, 3), PART | {"part_no": "id"}),
    ),
    InputKind(
        "labels already there, in part",
        csv(partly, "things.csv"),
        "things.csv",
        Reading((0, 1, 2), THING_KINDS | {"label": "label"}),
        THING,
        known=2,
    ),
    InputKind(
        "frame with labels in part, in a column of any name",
        lambda _: partly().rename(columns={"label": "size"}),
        "frame",
        Reading((0, 1, 2), THING_KINDS | {"size": "label"}),
        THING,
        given={"label": "size"},
        save=wrote("to_parquet"),
        saving='frame.to_parquet("rows.parquet")',
        arguments=("--label", "size"),
        known=2,
    ),
    InputKind("folder of pictures", photos, "photos", PHOTOS, {}, shape="image"),
    InputKind(
        "zip of pictures",
        lambda folder: Path(
            shutil.make_archive(str(folder / "pack"), "zip", photos(folder / "loose"))
        ),
        "pack.zip",
        PHOTOS,
        {},
        shape="image",
    ),
    InputKind(
        "pictures in a folder for each class, some unsorted",
        in_classes,
        "photos",
        Reading(("large/01.png", "large/03.png", "large/05.png"), {}),
        {},
        shape="image",
        known=6,
    ),
    InputKind(
        "CSV that lists pictures, with numbers beside them",
        photo_list,
        "list.csv",
        Reading((0, 1, 2), {"photo": "picture", "weight": "number"}),
        {"weight": "0"},
        shape="image",
        given={"columns": {"photo": "picture"}},
        arguments=("--image", "photo"),
    ),
    InputKind(
        "frame that lists pictures of the folder you are in",
        lambda folder: pd.read_csv(photo_list(folder)),
        "frame",
        Reading((0, 1, 2), {"photo": "picture", "weight": "number"}),
        {"weight": "0"},
        shape="image",
        given={"columns": {"photo": "picture"}},
        save=wrote("to_parquet"),
        saving='frame.to_parquet("rows.parquet")',
        arguments=("--image", "photo"),
    ),
]

TOOLS = {
    "pandas frame with its own index of words": ("pandas", "pandas"),
    "polars frame": ("polars", "polars"),
    "polars lazy frame": ("polars", "polars"),
    "pyarrow table": ("pyarrow", "pyarrow"),
    "DuckDB query": ("DuckDB", "duckdb"),
    "Hugging Face data set": ("Hugging Face datasets", "datasets"),
    "Dask frame": ("Dask", "dask"),
    "narwhals frame": ("narwhals", "narwhals"),
    "list of dicts": ("Python", ""),
    "NumPy array": ("NumPy", "numpy"),
    "CSV with a column that names rows": ("CSV", ""),
    "TSV": ("TSV", ""),
    "CSV in gzip": ("gzip", ""),
    "Parquet": ("Parquet", "polars"),
    "JSON lines": ("JSON lines", ""),
    "JSON list": ("JSON", ""),
    "Excel": ("Excel", "python-calamine"),
    "one text a line": ("plain text", ""),
    "folder of pictures": ("pictures", "pillow"),
    "zip of pictures": ("zip", ""),
}
"""Tools and formats of the table of docs/works-with.md, with what reads them, by kind of input."""

HEADS = ("what you have", "in Python: `open_campaign(db, …)`", "at a terminal", "in the page")


def documented() -> str:
    """The table of the documentation."""
    rule = "|---" * len(HEADS) + "|"
    return "\n".join([f"| {' | '.join(HEADS)} |", rule, *(kind.line() for kind in KINDS)])


if __name__ == "__main__":
    print(documented())  # noqa: T201 - its job
