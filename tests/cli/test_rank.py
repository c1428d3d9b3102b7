"""The command that ranks a pool: what it prints and writes, its mistakes and its help."""

import csv
import inspect
import io
import re
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from support.served import run

from possibal.cli import main, rank
from possibal.data import readers, writers
from possibal.pool.rank_files import RankRequest, rank_files

X = np.random.default_rng(1).normal(size=(40, 2))
POOL = pl.DataFrame({"name": [f"r{row}" for row in range(40)], "x": X[:, 0], "y": 9 * X[:, 1]})
KNOWN = POOL[::4].with_columns(label=pl.Series(np.where(X[::4, 0] > 0, "yes", "no")))
HEADS = ["id", "row", "utility", "label", "probability", "necessity"]
GIVEN = ["rank", "pool.parquet", "--labels", "labels.csv", "--id", "name", "--top", "5"]


@pytest.fixture(autouse=True)
def _in_a_folder_with_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A bar is only for terminals, and other tests may have left such settings.
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    POOL.write_parquet("pool.parquet")
    KNOWN.write_csv("labels.csv")


def expected(**changes):
    given = {"pool": "pool.parquet", "labels": Path("labels.csv"), "id": "name", "top": 5}
    return rank_files(RankRequest(**given | changes), lambda *_: None, jobs=1)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def present() -> set[str]:
    return {path.name for path in Path().iterdir()}


@pytest.mark.parametrize(
    ("pool", "out", "what"),
    [
        ("pool.parquet", "labels.csv", "the file of labels"),
        ("pool.parquet", "pool.parquet", "a file of the pool"),
        ("*.parquet", "pool.parquet", "a file of the pool"),
        ("many", "many/pool.parquet", "a file of the pool"),
    ],
)
def test_what_is_read_is_never_written_over(capsys, pool, out, what):
    Path("many").mkdir()
    POOL.write_parquet("many/pool.parquet")
    before = Path(out).read_bytes()
    assert main.main(["rank", pool, *GIVEN[2:], "--to", out]) == 2
    assert f"to must not be {what}; got {out!r}" in capsys.readouterr().err
    assert Path(out).read_bytes() == before


# ---------------------------------------------------------------- what comes out
def test_rows_are_printed_and_the_summary_is_told_beside_them(capsys):
    assert main.main(GIVEN) == 0
    out, err = capsys.readouterr()
    found = expected()
    listed = rows(out)
    assert list(listed[0]) == HEADS
    assert [row["id"] for row in listed] == list(found.shortlist.ids)
    assert [row["row"] for row in listed] == [str(place) for place in found.shortlist.places]
    assert [float(row["utility"]) for row in listed] == found.shortlist.utilities.tolist()
    assert [row["label"] for row in listed] == found.label
    assert [float(row["probability"]) for row in listed] == found.probability.tolist()
    assert [float(row["necessity"]) for row in listed] == found.necessity.tolist()
    assert re.fullmatch(
        r"Ranked 40 rows in \d+\.\d s; \d+\.\d% of them could be passed over without working out "
        r"their variance\.\n",
        err,
    )
    assert present() == {"pool.parquet", "labels.csv"}


@pytest.mark.parametrize("ending", list(writers.WRITERS))
def test_rows_are_written_to_a_file(capsys, ending):
    out = Path(f"out{ending}")
    assert main.main([*GIVEN, "--to", str(out)]) == 0
    shown, told = capsys.readouterr()
    assert shown == ""
    assert told.startswith("Ranked 40 rows in ")
    sheet = readers.read_sheet(out)
    found = expected()
    assert list(sheet.names) == HEADS
    assert [cells[0] for _, cells in sheet.rows] == list(found.shortlist.ids)
    assert [float(cells[2] or "") for _, cells in sheet.rows] == found.shortlist.utilities.tolist()
    assert present() == {"pool.parquet", "labels.csv", out.name}


def test_what_is_printed_is_what_is_written(capsys):
    main.main(GIVEN)
    shown = capsys.readouterr().out
    main.main([*GIVEN, "--to", "out.csv"])
    assert Path("out.csv").read_text() == shown


def test_a_hundred_rows_are_listed_if_nothing_is_said(capsys):
    pl.concat([POOL.drop("name")] * 3).write_parquet("pool.parquet")
    KNOWN.drop("name").write_csv("labels.csv")
    assert main.main(GIVEN[:4]) == 0
    listed = rows(capsys.readouterr().out)
    assert len(listed) == 100
    assert all(row["id"] == row["row"] for row in listed)


def test_options_reach_the_ranking(capsys):
    KNOWN.rename({"label": "kind"}).with_columns(remark=pl.lit("word")).write_csv("labels.csv")
    more = ["--label", "kind", "--columns", " y, x ,", "--strategy", "entropy", "--jobs", "1"]
    assert main.main([*GIVEN, *more]) == 0
    found = expected(label="kind", columns=("y", "x"), strategy="entropy")
    utilities = [float(row["utility"]) for row in rows(capsys.readouterr().out)]
    assert utilities == found.shortlist.utilities.tolist()
    assert utilities != expected(label="kind", columns=("y", "x")).shortlist.utilities.tolist()


def test_a_name_is_no_formula(capsys):
    POOL.with_columns(name="=" + pl.col("name")).write_parquet("pool.parquet")
    assert main.main(GIVEN) == 0
    assert all(row["id"].startswith("'=r") for row in rows(capsys.readouterr().out))


def test_progress_is_told_to_whoever_watches(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    assert main.main(GIVEN) == 0
    out, err = capsys.readouterr()
    assert "Ranking, 40 rows read" in err
    assert "100%" in err
    assert len(rows(out)) == 5


def test_the_bar_grows_by_what_came_since(monkeypatch):
    told = []
    bar = nullcontext(lambda words, share: told.append((words, share)))
    monkeypatch.setattr("possibal.progress.bar", lambda _total: bar)
    Path("parts").mkdir()
    POOL[:10].write_parquet("parts/a.parquet")
    POOL[10:].write_parquet("parts/b.parquet")
    assert main.main(["rank", "parts", *GIVEN[2:]]) == 0
    assert told == [("Ranking, 10 rows read", 0.25), ("Ranking, 40 rows read", 0.75)]


# ---------------------------------------------------------------- mistakes
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--top 0", "top must be at least 1; got 0."),
        ("--top 31", "top must be at most 30, the rows without a label; got 31. Ask for fewer."),
        ("--top 99", "top must be at most 40, the rows there are; got 99. Ask for fewer."),
        ("--top many", "'--top'"),
        ("--strategy necessit", "got 'necessit'. Did you mean 'necessity'?"),
        ("--strategy rabdom", "strategy must be one of 'herding', "),
        ("--to out.txt", "to must end in .csv, .parquet, .jsonl; got 'out.txt'."),
        ("--to none/out.csv", "to must be in a folder that exists; got 'none/out.csv'."),
        ("--label nothing", "label must be a column of the data; got 'nothing'"),
        ("--label y", "columns must hold finite numbers; got 'yes' at row 0, column 'label'"),
        ("--id nothing", "id must be a column of the data; got 'nothing'"),
        ("--columns x,nothing", "columns must be a column of the data; got 'nothing'"),
        ("--labels none.csv", "file must exist; got 'none.csv'."),
        ("--labels .", "file must be no folder; got '.'"),
        ("--jobs 0", "jobs must be at least 1; got 0."),
        ("--foo", "No such option"),
        ("another.parquet", "unexpected extra argument"),
    ],
)
@pytest.mark.parametrize("out", [(), ("--to", "out.csv")])
def test_a_mistake_is_told_in_one_line_and_nothing_is_written(capsys, line, words, out):
    assert main.main([*GIVEN, *out, *line.split()]) == 2
    shown, told = capsys.readouterr()
    assert (shown, told.count("\n")) == ("", 1)
    assert told.startswith("possibal: ")
    assert words in told
    assert present() == {"pool.parquet", "labels.csv"}


def test_an_address_that_is_none_is_told_by_the_name_of_its_option(capsys):
    line = ["rank", "pool.csv", "--labels", "labels.csv", "--dask", "nowhere"]
    assert main.main(line) == 2
    told = capsys.readouterr().err
    assert told.startswith("possibal: dask must be the address of a scheduler with workers; got 'n")


def test_labels_are_needed(capsys):
    assert main.main(["rank", "pool.parquet"]) == 2
    assert "Missing option '--labels'" in capsys.readouterr().err


def test_a_file_is_whole_or_as_it_was(capsys):
    Path("out.csv").write_text("as it was")
    pl.concat([POOL, POOL[:1].with_columns(y=float("nan"))]).write_parquet("pool.parquet")
    assert main.main([*GIVEN, "--to", "out.csv"]) == 2
    assert "got nan at row 40, column 'y' in 'pool.parquet'" in capsys.readouterr().err
    assert Path("out.csv").read_text() == "as it was"
    POOL.write_parquet("pool.parquet")
    assert main.main([*GIVEN, "--to", "out.csv"]) == 0
    assert len(rows(Path("out.csv").read_text())) == 5
    assert present() == {"pool.parquet", "labels.csv", "out.csv"}


def test_a_file_that_cannot_be_put_in_place_is_not_there(capsys):
    Path("out.csv").mkdir()
    assert main.main([*GIVEN, "--to", "out.csv"]) == 2
    shown, told = capsys.readouterr()
    assert (shown, told) == (
        "",
        "possibal: to must be a file; got the folder 'out.csv'. Name a file.\n",
    )
    assert present() == {"pool.parquet", "labels.csv", "out.csv"}


# ---------------------------------------------------------------- mistakes in files
def refusal(capsys, pool: str) -> str:
    """The one line that a mistake in a pool or its labels gets."""
    assert main.main(["rank", pool, *GIVEN[2:]]) == 2
    shown, told = capsys.readouterr()
    assert (shown, told.count("\n")) == ("", 1)
    return told


def spoilt(frame: pl.DataFrame, row: int, cell: str, decimal: str = ".") -> pl.DataFrame:
    """The frame with its column y as text, and another cell in a row of it."""
    cells = [str(one).replace(".", decimal) for one in frame["y"]]
    return frame.with_columns(y=pl.Series([*cells[:row], cell, *cells[row + 1 :]]))


@pytest.mark.parametrize(("cell", "got"), [("much", "'much'"), ("inf", "inf"), ("", "None")])
def test_a_cell_that_is_no_number_is_named(capsys, cell, got):
    spoilt(POOL, 33, cell).write_csv("pool.csv")
    assert f"got {got} at row 33, column 'y' in 'pool.csv'" in refusal(capsys, "pool.csv")
    spoilt(KNOWN, 7, cell).write_csv("labels.csv")
    assert refusal(capsys, "pool.parquet") == (
        f"possibal: columns must hold finite numbers; got {got} at row 7, column 'y' in "
        "'labels.csv'. Mend it, or leave the column out with --columns.\n"
    )


def test_a_word_among_numbers_with_commas_is_named(capsys):
    spoilt(POOL, 33, "much", ",").write_csv("pool.csv", separator=";")
    assert "got 'much' at row 33, column 'y' in 'pool.csv'" in refusal(capsys, "pool.csv")


def test_codes_are_no_numbers(capsys):
    POOL.with_columns(y=pl.Series([f"{row:03}" for row in range(40)])).write_csv("pool.csv")
    assert "got '000' at row 0, column 'y' in 'pool.csv'" in refusal(capsys, "pool.csv")


def test_text_in_a_parquet_file_is_named(capsys):
    Path("two").mkdir()
    POOL[:25].write_parquet("two/a.parquet")
    words = pl.Series([None, "much", *["more"] * 13])
    POOL[25:].with_columns(y=words).write_parquet("two/b.parquet")
    told = refusal(capsys, "two")
    assert "X must hold numbers; got 'much' at row 1, column 'y' in 'two/b.parquet'. " in told


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf")])
def test_a_missing_number_in_the_second_file_is_named(capsys, bad):
    Path("two").mkdir()
    POOL[:25].write_parquet("two/a.parquet")
    cells = pl.Series([*POOL["y"][25:35], bad, *POOL["y"][36:]], dtype=pl.Float64)
    POOL[25:].with_columns(y=cells).write_parquet("two/b.parquet")
    assert refusal(capsys, "two") == (
        f"possibal: X must hold finite numbers; got {'nan' if bad is None else bad} at row 10, "
        "column 'y' in 'two/b.parquet'. Fill or drop it.\n"
    )


def test_a_missing_number_is_named_where_the_scale_was_not_taken_from(capsys):
    Path("many").mkdir()
    for number in range(20):
        frame = POOL[2 * number : 2 * number + 2]
        bad = frame.with_columns(y=pl.Series([0.0, float("nan")]))
        (bad if number == 7 else frame).write_parquet(f"many/{number:02}.parquet")
    assert "got nan at row 1, column 'y' in 'many/07.parquet'" in refusal(capsys, "many")


@pytest.mark.parametrize("pool", ["none.parquet", "none", "none*.parquet", "none.csv", "none.npy"])
def test_a_pool_that_is_not_there_is_a_mistake(capsys, pool):
    assert f"got {pool!r}" in refusal(capsys, pool)


# ---------------------------------------------------------------- help
def test_the_help_teaches(capsys):
    assert main.main(["rank", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for name in inspect.signature(rank.rank).parameters:
        assert ("POOL" if name == "pool" else f"--{name}") in said
    assert main.COMMANDS["rank"][1] in said
    assert "Rank a pool of any size" in said


def test_the_example_of_the_help_works(capsys):
    assert main.main(main.COMMANDS["rank"][1].split()[1:]) == 0
    assert len(rows(capsys.readouterr().out)) == 20


def test_the_help_and_mistakes_of_the_command_line_load_nothing_heavy(tmp_path):
    for line in (["rank", "--help"], ["rank", "--foo"]):
        code = (
            "import sys\nfrom possibal.cli.main import main\n"
            f"main({line!r})\n"
            "heavy = {'scipy', 'sklearn', 'polars', 'pandas', 'dask', 'distributed'}\n"
            "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
        )
        done = run(folder=tmp_path, code=code)
        assert done.returncode == 0, done.stderr


def test_the_plain_model_may_be_asked_for(capsys):
    assert main.main([*GIVEN, "--strategy", "necessity", "--kernel", "rbf"]) == 0
    found = [float(row["utility"]) for row in rows(capsys.readouterr().out)]
    there = expected(strategy="necessity", kernel="rbf").shortlist.utilities
    assert found == pytest.approx(there.tolist())
    assert main.main([*GIVEN, "--kernel", "matern"]) == 2
    assert "kernel must be one of 'rbf'; got 'matern'" in capsys.readouterr().err


def test_a_strategy_of_ones_own_ranks_every_row(monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    Path("rank_own.py").write_text(
        "def closest(mean, variance):\n    return -abs(mean) / variance**0.5\n"
    )
    assert main.main([*GIVEN, "--strategy", "rank_own:closest"]) == 0
    own = [row["id"] for row in rows(capsys.readouterr().out)]
    assert main.main([*GIVEN, "--strategy", "rank_own:farthest"]) == 2
    assert "strategy must name a function of its module" in capsys.readouterr().err
    found = expected(strategy=lambda mean, variance: -abs(mean) / variance**0.5)
    assert own == list(found.shortlist.ids)
