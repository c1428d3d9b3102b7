"""Files of every kind that were damaged: a command does its work, or refuses in one sentence.

Hypothesis makes up the damage: bytes that are others, missing, repeated or put in between, at the
surface of a file or inside what it packs. ``HYPOTHESIS_PROFILE=nightly`` draws fresh and more.
"""

import gzip
import io
import json
import os
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from support.begun import campaign, clouds, source
from support.damage import CHANGES, SHARE, Change, changed
from support.refusals import SENTENCE, listing
from support.tables import bytes_of

from possibal.cli import main
from possibal.labelling.web.server import Server

EXAMPLES = 0.5
"""Of each kind of file, of those that the profile has; many with the one for long runs."""
PATIENCE = 120
"""Seconds after which a command is said to hang, however slow the machine is."""
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arff", ".xlsx", ".ods")
PICTURES = ("png", "jpeg", "gif", "bmp", "webp", "tiff")


ODD = (None, True, -1, 0, 2**40, 1e308, 0.5, "", "x", "\u202e", [], {}, [[1]], {"a": {"b": 1}})
"""Values that are not expected."""


# ---------------------------------------------------------------- damage
def in_zip(content: bytes, changes: Sequence[Change], place: float) -> bytes:
    """A zip file with changes in one of its files."""
    with ZipFile(io.BytesIO(content)) as pack:
        files = {name: pack.read(name) for name in pack.namelist()}
    name = list(files)[int(place * len(files))]
    files[name] = changed(files[name], changes)
    with ZipFile(buffer := io.BytesIO(), "w", ZIP_DEFLATED) as pack:
        for each, inside in files.items():
            pack.writestr(each, inside)
    return buffer.getvalue()


def in_gzip(content: bytes, changes: Sequence[Change], _place: float) -> bytes:
    """A compressed file with changes in what it holds."""
    return gzip.compress(changed(gzip.decompress(content), changes))


def in_json(content: bytes, changes: Sequence[Change], place: float) -> bytes:
    """A document of JSON with something else in one place."""
    document = json.loads(content)
    spots = list(_spots(document))
    whole, key = spots[int(place * len(spots))]
    whole[key] = ODD[int(changes[0].at * len(ODD))]
    return json.dumps(document).encode()


def _spots(value: Any) -> Generator[tuple[Any, Any]]:
    """All places in a document: what holds them, and where."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _spots(value[key])


def in_table(content: bytes, changes: Sequence[Change], place: float) -> bytes:
    """A SQLite file with changes in one of its cells, or something else there."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(content)
        with closing(sqlite3.connect(file.name)) as db, db:
            cells = [
                (table, column, row)
                for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                for _, column, *_ in db.execute(f"PRAGMA table_info({table})").fetchall()
                for (row,) in db.execute(f"SELECT rowid FROM {table} LIMIT 3").fetchall()  # noqa: S608 - ours
            ]
            table, column, row = cells[int(place * len(cells))]
            query = f"SELECT CAST({column} AS BLOB) FROM {table} WHERE rowid = ?"  # noqa: S608 - ours
            found = db.execute(query, (row,)).fetchone()[0]
            other = "" if found is None else changed(found, changes).decode(errors="replace")
            odd = (other, *(one for one in ODD if not isinstance(one, dict | list)))
            update = f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?"  # noqa: S608 - ours
            with suppress(sqlite3.IntegrityError):
                db.execute(update, (odd[int(changes[0].at * len(odd))], row))
        return Path(file.name).read_bytes()


Inside = Callable[[bytes, Sequence[Change], float], bytes]


# ---------------------------------------------------------------- kinds of files
@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        files: the names of those that are damaged, one at a time.
        commands: that read it.
        inside: damages what it packs.
    """

    files: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    inside: Inside | None = None


def _label(name: str, *options: str) -> tuple[str, ...]:
    return "label", name, "--no-browser", *options


def _table(ending: str) -> Kind:
    insides = {".xlsx": in_zip, ".ods": in_zip, ".csv.gz": in_gzip, ".json": in_json}
    return Kind((f"a{ending}",), (_label(f"a{ending}"),), insides.get(ending))


def _predict(model: str) -> tuple[str, ...]:
    return "predict", model, "things.csv", "--to", "out.csv"


KINDS = {
    **{ending: _table(ending) for ending in (*TABLES, ".csv.gz", ".txt")},
    "pictures": Kind(
        tuple(f"shots/{kind}.{kind}" for kind in PICTURES), (_label("shots", "--by", "colours"),)
    ),
    ".zip": Kind(("shots.zip",), (_label("shots.zip", "--by", "colours"),), in_zip),
    "features": Kind(("a.npy",), (_label("a.csv", "--features", "a.npy"),)),
    "model": Kind(("model/model.json",), (_predict("model"),), in_json),
    "arrays": Kind(("model/arrays.npz",), (_predict("model"),), in_zip),
    ".skops": Kind(("model.skops",), (_predict("model.skops"),), in_zip),
    "labels": Kind(("labels.csv",), (("import", "labels.csv", "a.db"),)),
    "campaign": Kind(
        ("a.db",),
        (
            ("status", "a.db"),
            ("export", "a.db", "--to", "new.csv"),
            ("model", "a.db", "--to", "new"),
            ("backup", "a.db", "--to", "new.db"),
            ("doctor", "a.db"),
            ("import", "labels.csv", "a.db"),
            ("classes", "a.db", "--add", "new"),
            _label("things.csv", "--db", "a.db"),
        ),
        in_table,
    ),
}


@pytest.fixture(scope="module", name="sound")
def _sound(tmp_path_factory) -> Path:
    """A folder with a file of each kind."""
    folder = tmp_path_factory.mktemp("sound")
    for ending in (*TABLES, ".csv.gz"):
        (folder / f"a{ending}").write_bytes(bytes_of(ending))
    (folder / "a.txt").write_text("".join(f"the soup number {i} was cold\n" for i in range(8)))
    (folder / "shots").mkdir()
    with ZipFile(folder / "shots.zip", "w") as pack:
        for shade, kind in enumerate(PICTURES):
            path = folder / f"shots/{kind}.{kind}"
            Image.effect_noise((12, 12), 10.0 + shade).save(path)
            pack.write(path, f"{path.stem}.{kind}")
    np.save(folder / "a.npy", np.random.default_rng(0).normal(size=(12, 2)))
    db = campaign(source(folder), folder / "a.db", check=4)
    clouds(db, 20)
    assert main.main(["model", db, "--to", str(folder / "model")]) == 0
    assert main.main(["model", db, "--to", str(folder / "model.skops")]) == 0
    assert main.main(["export", db, "--to", str(folder / "labels.csv")]) == 0
    return folder


# ---------------------------------------------------------------- what must hold
@contextmanager
def within(folder: Path) -> Generator[None]:
    """Be in a folder, and give up a command that hangs."""

    def hangs(*_: object) -> None:
        raise TimeoutError("the command hangs")

    before, usual = Path.cwd(), signal.signal(signal.SIGALRM, hangs)
    os.chdir(folder)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)
        os.chdir(before)


def said(arguments: Sequence[str]) -> tuple[int, str]:
    """The exit code of a command, and what it said where errors are."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as error:
        return main.main(list(arguments)), error.getvalue()


def check(arguments: Sequence[str]) -> None:
    """A command does its work, or refuses in one sentence and writes nothing."""
    before = listing(Path())
    code, sentence = said(arguments)
    assert code in ({0, 1, 2} if arguments[0] == "doctor" else {0, 2}), sentence
    if code:
        assert listing(Path()) == before
    if code == 2:
        assert SENTENCE.fullmatch(sentence.removeprefix("possibal: ").removesuffix("\n")), sentence


def copied(sound: Path, kind: Kind, command: Sequence[str]) -> None:
    """What a command reads, in the folder we are in."""
    for name in sorted({Path(one).parts[0] for one in (*kind.files, *command[1:])}):
        path = sound / name
        if path.is_dir():
            shutil.copytree(path, name)
        elif path.is_file():
            shutil.copyfile(path, name)


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_read_or_refused_in_one_sentence(name, sound, monkeypatch):
    monkeypatch.setattr(Server, "run", lambda *_, **__: None)
    kind = KINDS[name]
    insides = [None] if kind.inside is None else [None, kind.inside]

    @settings(
        max_examples=round(EXAMPLES * settings.default.max_examples),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        CHANGES,
        st.sampled_from(kind.files),
        st.sampled_from(kind.commands),
        st.sampled_from(insides),
        SHARE,
    )
    def holds(changes, file, command, inside, place):
        with tempfile.TemporaryDirectory() as made, within(Path(made)):
            copied(sound, kind, command)
            content = Path(file).read_bytes()
            bad = inside(content, changes, place) if inside else changed(content, changes)
            Path(file).write_bytes(bad)
            check(command)

    holds()
