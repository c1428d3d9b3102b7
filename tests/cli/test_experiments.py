import os
import subprocess
import sys
from pathlib import Path

import pytest

import possibal
from possibal.cli import main
from possibal.experiments.datasets import DATASETS
from possibal.experiments.recipes import RECIPES, TESTED
from possibal.experiments.spec import (
    HYPERPARAMETERS,
    MODELS,
    PROTOCOLS,
    REFEREES,
    TABLE_3,
    WHAT,
)

SMALL = ("--datasets", "wine", "--runs", "1", "--jobs", "1")
HERE = {**os.environ, "PYTHONPATH": str(Path(possibal.__file__).parents[1])}
OWN = "def best(view):\n    return view.candidates[:, 0]\n"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def names(place: str = ".") -> list[str]:
    """What a folder holds."""
    return sorted(path.name for path in Path(place).iterdir())


def refusal(capsys, *arguments: str) -> str:
    """The one line that a mistake gets."""
    assert main.main(arguments) == 2
    shown, told = capsys.readouterr()
    assert not shown
    assert told.startswith("possibal: ")
    assert told.count("\n") == 1
    assert told.endswith((".\n", "?\n"))
    return told


# ---------------------------------------------------------------- commands
def test_all_eleven_sets_are_listed(capsys):
    assert main.main(["datasets"]) == 0
    shown, told = capsys.readouterr()
    assert not told
    assert len(DATASETS) == 11
    for name in DATASETS:
        assert f"│ {name} " in shown
    assert names() == []


def test_help_comes_without_the_laboratory_which_takes_seconds_to_import():
    commands = ["datasets", "reproduce", "compare"]
    code = (
        "import sys\nfrom possibal.cli.main import main\n"
        "for command in sys.argv[1:]:\n    main([command, '--help'])\n"
        "sys.exit('possibal.cli.experiments_session' in sys.modules)"
    )
    line = [sys.executable, "-c", code, *commands]
    done = subprocess.run(line, env=HERE, capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    assert (done.returncode, done.stderr) == (0, "")
    for command in commands:
        assert f"Example: possibal {command}" in done.stdout


def test_help_says_what_every_word_means(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    assert main.main(["reproduce", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    recipes = {name: one.about for name, one in RECIPES.items()}
    for known in (WHAT, PROTOCOLS, HYPERPARAMETERS, MODELS, TESTED, recipes):
        for word, meaning in known.items():
            assert f"{word}: {meaning}" in shown
    for name in TABLE_3:
        assert name in shown
    assert main.main(["compare", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for word, meaning in REFEREES.items():
        assert f"{word}: {meaning}" in shown


def test_a_referee_is_named_on_the_command_line(capsys):
    line = ["compare", "wine", "--strategy", "margin", "--runs", "2", "--questions", "2"]
    line += ["--hyperparameters", "paper", "--jobs", "1", "--referee", "svm", "--referee", "svm"]
    assert main.main(line) == 0
    assert capsys.readouterr().out.count("By svm: ") == 1


def test_a_table_is_reproduced_from_the_command_line(capsys):
    assert main.main(["reproduce", "table1", *SMALL, "--to", "a/b"]) == 0
    shown, told = capsys.readouterr()
    assert not told
    assert "Written to a/b: table1.csv, table1.md" in shown
    assert names("a/b") == ["rows", "table1.csv", "table1.md"]


def test_a_recipe_is_recorded_with_its_rows_and_another_has_rows_of_its_own(capsys):
    line = ["reproduce", "table1", *SMALL, "--to", "a"]
    assert main.main([*line, "--recipe", "published"]) == 0
    (rows,) = Path("a/rows").glob("*.csv")
    assert rows.name == "wine-paper-paper-published.csv"
    assert '"recipe": {"name": "published"' in rows.read_text().splitlines()[0]
    assert main.main(line) == 0
    assert len([*Path("a/rows").glob("*.csv")]) == 2
    capsys.readouterr()


def test_tested_before_the_last_answer_needs_no_new_rows(capsys):
    line = ["reproduce", "table1", *SMALL, "--to", "a"]
    assert main.main(line) == 0
    before = {name: Path("a/rows", name).read_bytes() for name in names("a/rows")}
    assert main.main([*line, "--tested", "before-last-answer"]) == 0
    assert {name: Path("a/rows", name).read_bytes() for name in names("a/rows")} == before
    assert "Time: a step" in capsys.readouterr().out


def test_the_variational_model_runs_from_the_command_line(capsys):
    line = ["reproduce", "table1", "--datasets", "iris", "--runs", "1", "--jobs", "1"]
    assert main.main([*line, "--model", "variational", "--to", "a"]) == 0
    assert "iris-paper-paper-variational.csv" in names("a/rows")
    capsys.readouterr()


def test_quick_runs_a_few_and_writes_where_nobody_said(capsys):
    assert (
        main.main(["reproduce", "curves", "--quick", "--datasets", " wine ,", "--jobs", "1"]) == 0
    )
    assert "│ wine │  1350 │" in capsys.readouterr().out  # 5 runs of 45 steps by 6 strategies
    assert names() == ["possibal-reproduction"]
    assert names("possibal-reproduction") == ["curves.png", "curves.svg", "rows"]


def test_an_own_strategy_stands_in_the_table_and_a_changed_one_is_refused(capsys):
    Path("studies_own.py").write_text(OWN)
    line = ["reproduce", "table1", *SMALL, "--to", "a", "--strategy", "studies_own:best"]
    line += ["--strategy", "margin"]
    assert main.main(line) == 0
    assert "studies_own" in capsys.readouterr().out
    table = Path("a/table1.csv").read_text()
    assert "\nwine,studies_own:best,1," in table
    assert "\nwine,margin,1," in table
    results_files = ["wine-paper-paper-margin.csv", "wine-paper-paper-studies_own-best.csv"]
    assert names("a/rows") == [".lock", *results_files, "wine-paper-paper.csv"]
    Path("studies_own.py").write_text(OWN.replace("0]", "1]"))
    before = {name: (Path("a/rows") / name).read_bytes() for name in names("a/rows")}
    told = refusal(capsys, *line)
    assert "to must be new or hold rows of the same making; got 'a/rows/wine-paper-paper-st" in told
    assert "with strategy " in told
    assert {name: (Path("a/rows") / name).read_bytes() for name in names("a/rows")} == before


def test_an_own_strategy_reaches_workers_in_a_real_shell():
    Path("studies_far.py").write_text(
        f"{OWN}def near(mean, variance):\n    return variance - abs(mean)\n"
    )
    line = [sys.executable, "-m", "possibal", "compare", "wine", "--strategy", "studies_far:best"]
    line += ["--strategy", "studies_far:near"]
    line += ["--runs", "2", "--questions", "2", "--hyperparameters", "paper", "--jobs", "2"]
    done = subprocess.run(line, env=HERE, capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    assert (done.returncode, done.stderr) == (0, "")
    assert "studies_far" in done.stdout
    assert names("possibal-comparison") == [
        *("comparison.csv", "comparison.md", "curves.png", "curves.svg", "report.html", "rows"),
    ]


@pytest.mark.skipif(os.name != "posix", reason="needs pipes of POSIX")
def test_files_are_there_even_if_nobody_reads_what_is_printed():
    line = [sys.executable, "-m", "possibal", "compare", "wine", "--strategy", "margin"]
    line += ["--runs", "2", "--questions", "2", "--hyperparameters", "paper", "--jobs", "1"]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = subprocess.run(line, env=HERE, stdout=pipe, stderr=subprocess.PIPE, check=False)  # noqa: S603 - our own code
    assert done.stderr == b""
    assert names("possibal-comparison") == [
        *("comparison.csv", "comparison.md", "curves.png", "curves.svg", "report.html", "rows"),
    ]


def test_a_strategy_that_leaves_is_told_in_one_line(capsys):
    Path("studies_exit.py").write_text("def out(view):\n    raise SystemExit(0)\n")
    line = ["compare", "wine", "--strategy", "studies_exit:out", "--questions", "1"]
    told = refusal(capsys, *line, "--runs", "2", "--hyperparameters", "paper", "--jobs", "1")
    assert "got SystemExit: 0 (studies_exit.py, line 2)" in told


def test_a_strategy_that_fails_is_told_in_one_line(capsys):
    Path("studies_bad.py").write_text("def worst(view):\n    return view.colour\n")
    line = ["compare", "wine", "--strategy", "studies_bad:worst", "--questions", "1"]
    told = refusal(capsys, *line, "--runs", "2", "--hyperparameters", "paper", "--jobs", "1")
    assert "strategy studies_bad:worst must give one number for each candidate" in told
    assert "(studies_bad.py, line 2)" in told


# ---------------------------------------------------------------- mistakes
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("reproduce table4", "what must be one of 'table1', 'table2', "),
        ("reproduce table1 --datasets wine,wien", "got 'wien'. Did you mean 'wine'?"),
        ("reproduce table1 --strategy necessit", "got 'necessit'. Did you mean 'necessity'?"),
        ("reproduce table1 --strategy no_such:f", "strategy must name a module that can be"),
        ("reproduce table1 --protocol heldout", "got 'heldout'. Did you mean 'held-out'?"),
        ("reproduce table1 --hyperparameters evidenc", "Did you mean 'evidence'?"),
        ("reproduce table1 --recipe theirs", "recipe must be one of 'ours', 'published'; got"),
        ("reproduce table1 --model exact", "model must be one of 'laplace', 'variational'; got"),
        ("reproduce table1 --tested never", "tested must be one of 'after-last-answer', "),
        ("reproduce table1 --runs 0", "runs must be at least 1; got 0."),
        ("reproduce table1 --runs few", "'--runs'"),
        ("reproduce table1 --seed -1", "seed must be at least 0; got -1."),
        ("reproduce table1 --jobs 0", "jobs must be at least 1; got 0."),
        ("reproduce table1 --jobs -3", "jobs must be at least 1; got -3."),
        ("reproduce table3 --jobs 0", "jobs must be at least 1; got 0."),
        ("reproduce table2 --datasets iris", "got 'iris'."),
        ("reproduce table1 --colour", "No such option"),
        ("compare", "Missing argument 'DATA'"),
        ("compare no.csv", "file must exist; got 'no.csv'"),
        ("compare wine.doc", "source must be openml:NUMBER or a file that ends in"),
        ("compare openml:x", "openml:"),
        ("compare wine --runs 1", "runs must be at least 2; got 1."),
        ("compare wine --questions 0", "questions must be at least 1; got 0."),
        ("compare wine --questions 88", "questions must be at most 87, for 178 rows give pools of"),
        ("compare wine --label class", "label must be left out for wine, whose labels are known;"),
        ("compare wine --seed -1", "seed must be at least 0; got -1."),
        ("compare wine --jobs 0", "jobs must be at least 1; got 0."),
        ("compare wine --strategy bold", "got 'bold'. Did you mean 'bald'?"),
        ("compare wine --referee forrest", "got 'forrest'. Did you mean 'forest'?"),
        ("compare wine --hyperparameters no", "hyperparameters must be one of "),
        ("datasets more", "unexpected extra argument"),
    ],
)
def test_a_mistake_is_told_in_one_line_and_nothing_is_written(line, words, capsys):
    assert words in refusal(capsys, *line.split())
    assert names() == []


@pytest.mark.parametrize("out", ["file", "file/below", "/proc/possibal"])
@pytest.mark.parametrize("command", [["reproduce", "table1", *SMALL], ["compare", "wine"]])
def test_a_place_that_cannot_be_written_is_refused(command, out, capsys):
    Path("file").write_bytes(b"mine")
    told = refusal(capsys, *command, "--to", out)
    assert f"to must be a folder that can be written; got {out!r} (" in told
    assert names() == ["file"]
    assert Path("file").read_bytes() == b"mine"


def test_a_cluster_that_is_no_address_is_refused(capsys):
    told = refusal(capsys, "reproduce", "table1", *SMALL, "--dask", "there", "--to", "a")
    assert "dask must be the address of a scheduler with workers; got 'there' (" in told
    assert names("a") == []
