import os
import re
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest

from possibal.cli import experiments_session
from possibal.cli.experiments_session import CompareRequest, ReproduceRequest, RunOptions, Timing
from possibal.errors import MissingPackageError, MistakeError
from possibal.experiments.datasets import DATASETS, load
from possibal.experiments.engine.runner import RunProgress
from possibal.experiments.spec import BINARY_STRATEGIES, ENVELOPE, PAPER, experiment
from possibal.files import alone, part_of

PNG, SVG = b"\x89PNG\r\n\x1a\n", b"<?xml"
REPRODUCED = {
    *("table1.md", "table1.csv", "table2.md", "table2.csv", "table3.md", "table3.csv"),
    *("cost.md", "cost.csv", "curves.png", "curves.svg"),
    *("critical_difference.png", "critical_difference.svg", "report.html"),
}
COMPARED = {"comparison.md", "comparison.csv", "curves.png", "curves.svg", "report.html"}
COLOURS, ANSWERS = ("red", "blue", ""), ("no", "yes")
SURVEY = "age,colour,site,answer\n" + "".join(
    f"{'' if i % 9 == 4 else 20 + i},{COLOURS[i % 3]},north,{ANSWERS[i > 20]}\n" for i in range(40)
)
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@pytest.fixture(scope="module", autouse=True)
def _without_commits():
    """Rows name no commit, which may change while tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_DIR", os.devnull)
        yield


def files(place: Path) -> dict[str, bytes]:
    """The files of a folder, those of the folders in it left out."""
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


def reproduced(out: Path, settings: ReproduceRequest, dask: str | None = None) -> str:
    """What a reproduction prints."""
    with redirect_stdout(StringIO()) as shown:
        experiments_session.reproduce(settings, RunOptions(out, 1, dask))
    return shown.getvalue()


def comparison(data: str, **other) -> CompareRequest:
    """A small comparison."""
    usual = {"label": None, "strategies": ("necessity",), "runs": 2, "questions": 3}
    return CompareRequest(
        data,
        **{**usual, "hyperparameters": ENVELOPE, "seed": 0, **other},
    )


def compared(out: Path, asked: CompareRequest) -> str:
    """What a comparison prints, without the breaks of lines."""
    with redirect_stdout(StringIO()) as shown:
        experiments_session.compare(asked, RunOptions(out, 1))
    return shown.getvalue()


# ---------------------------------------------------------------- everything
FEW = ReproduceRequest("all", ("wine",), runs=2)


@pytest.fixture(scope="module", name="full")
def _full(tmp_path_factory):
    """The folder of a reproduction, and what it printed."""
    out = tmp_path_factory.mktemp("full") / "out"
    return out, reproduced(out, FEW)


def test_everything_is_written_and_said_to_be(full):
    out, shown = full
    written = files(out)
    assert set(written) == REPRODUCED
    assert f"Written to {out}: {', '.join(sorted(REPRODUCED))}" in shown
    assert set(files(out / "rows")) == {".lock", "wine-paper-paper.csv"}
    for name, content in written.items():
        assert content.startswith({"png": PNG, "svg": SVG}.get(name[-3:], b""))


def test_tables_are_printed_with_their_notes_and_the_timing(full):
    shown = full[1]
    for part in ("Table 1. Accuracy", "What scores cost", "Time: a step is a fit", "wine"):
        assert part in shown
    assert "The best median of a set is marked" in shown
    assert re.search(r"│ wine │ +540 │ +\d+\.\d │ +\d+\.\d\d │", shown)


def test_tables_have_the_papers_figures_beside_ours(full):
    text = (full[0] / "table1.csv").read_text().splitlines()
    head, lines = text[0].split(","), [line.split(",") for line in text[1:]]
    column = head.index("paper median")
    assert [line[1] for line in lines] == list(BINARY_STRATEGIES)
    assert [line[column] for line in lines] == [
        "0.969",
        "0.988",
        "0.981",
        "0.975",
        "0.988",
        "0.988",
    ]
    assert all(0.5 < float(line[head.index("median")]) <= 1 for line in lines)
    assert "1.12" in (full[0] / "cost.md").read_text()
    assert "| sonar |" in (full[0] / "table3.md").read_text()


class Requests(HTMLParser):
    """What a page would have a browser fetch or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found = list[str]()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag in {"script", "link", "iframe", "object", "embed", "base"}:
            self.found.append(tag)
        for name, value in attrs:
            if name in {"src", "srcset", "href", "xlink:href", "action"} and value[:1] != "#":
                self.found.append(value)
            if name.startswith("on"):
                self.found.append(name)


def test_the_report_opens_without_a_network(full):
    page = (full[0] / "report.html").read_text()
    assert Requests(page).found == []
    assert not re.search(r"@import|url\((?!#)", page)
    for part in ("Accuracy after the last answer", "wine 2", "<svg", "Time per step"):
        assert part in page


def test_the_same_again_finds_all_rows_and_writes_the_same_tables(full):
    out, _ = full
    before, rows = files(out), files(out / "rows")
    for what in ("table1", "table2", "curves"):
        assert "Time: a step" not in reproduced(out, replace(FEW, what=what))
    assert files(out) == before
    assert files(out / "rows") == rows


def test_a_cluster_writes_the_rows_of_one_process(full, tmp_path):
    out, _ = full
    shown = reproduced(tmp_path, ReproduceRequest("table1", ("wine",), runs=2), "local")
    assert files(tmp_path / "rows") == files(out / "rows")
    assert set(files(tmp_path)) == {"table1.md", "table1.csv"}
    assert "necessity" in shown


@pytest.mark.parametrize("what", ["table3", "cost"])
def test_what_needs_no_run_runs_nothing(what, tmp_path):
    shown = reproduced(tmp_path, ReproduceRequest(what))
    assert set(files(tmp_path)) == {f"{what}.md", f"{what}.csv"}
    assert len(list(tmp_path.iterdir())) == 2
    assert "Time: a step" not in shown


@pytest.mark.parametrize(
    ("what", "written"),
    [
        ("table1", {"table1.md", "table1.csv"}),
        (
            "table2",
            {"table2.md", "table2.csv", *(f"critical_difference.{k}" for k in ("png", "svg"))},
        ),
        ("curves", {"curves.png", "curves.svg"}),
    ],
)
def test_one_table_or_figure_is_written_alone(what, written, full, tmp_path):
    (tmp_path / "rows").mkdir()
    for name, content in files(full[0] / "rows").items():
        (tmp_path / "rows" / name).write_bytes(content)
    reproduced(tmp_path, ReproduceRequest(what, ("wine",), runs=2))
    assert set(files(tmp_path)) == written


# ---------------------------------------------------------------- any data
def test_a_file_with_words_gaps_and_a_constant_is_compared(tmp_path):
    data = tmp_path / "survey.csv"
    data.write_text(SURVEY)
    out = tmp_path / "out"
    shown = compared(out, comparison(str(data), label="answer", runs=10))
    assert set(files(out)) == COMPARED
    assert set(files(out / "rows")) == {".lock", "survey-held-out-envelope.csv"}
    for part in ("column age", "median", "column site", "Strategies on survey", "random"):
        assert part in shown
    assert re.search(r"^(necessity|No strategy) saved .*labels against random", shown, re.MULTILINE)
    assert "| necessity |" in (out / "comparison.md").read_text()
    assert "10 runs of 3 questions, pools of 20 rows, 20 other rows" in shown


def test_two_runs_are_too_few_for_a_verdict(tmp_path):
    shown = compared(tmp_path, comparison("wine", hyperparameters=PAPER))
    assert "let there be at least 10 runs; 2 are too few." in shown
    assert "saved " not in shown.split("Time: a step")[1].replace("were saved, let", "")


def test_as_many_questions_are_asked_as_there_is_room_for(tmp_path):
    data = tmp_path / "survey.csv"
    data.write_text(SURVEY)
    asked = comparison(str(data), questions=None, strategies=("random",))
    assert "2 runs of 18 questions, pools of 20 rows" in compared(tmp_path / "out", asked)


def test_of_very_many_rows_some_are_drawn_and_said_to_be(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments_session.comparison, "MOST_ROWS", 30)
    data = tmp_path / "survey.csv"
    data.write_text(SURVEY)
    shown = compared(tmp_path / "out", comparison(str(data), strategies=("random",)))
    assert shown.index("column site") < shown.index("\n30 of 40 rows were drawn: ")
    assert "pools of 15 rows, 15 other rows" in shown


def test_a_set_is_compared_by_its_name_and_a_seed(tmp_path):
    asked = comparison("wine", hyperparameters=PAPER, seed=3)
    shown = compared(tmp_path, asked)
    assert "Strategies on wine" in shown
    assert b'"seed": 3' in files(tmp_path / "rows")["wine-held-out-paper.csv"]
    again = compared(tmp_path, asked)
    assert "Time: a step" in shown
    assert "Time: a step" not in again


def test_referees_learn_from_the_same_labels_and_are_taken_up(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    asked = comparison("wine", hyperparameters=PAPER, referees=("svm", "logistic"))
    shown = compared(tmp_path, asked)
    for part in ("by svm, %", "ahead of random by logistic", "By svm: a support vector machine"):
        assert part in shown
    rows = files(tmp_path / "rows")
    stem = "wine-held-out-paper"
    assert set(rows) == {".lock", *(f"{stem}{end}.csv" for end in ("", "-by-svm", "-by-logistic"))}
    tables = files(tmp_path)
    compared(tmp_path, asked)
    assert files(tmp_path / "rows") == rows
    assert files(tmp_path) == tables


def test_own_strategies_are_compared_too(tmp_path, monkeypatch):
    (tmp_path / "lab_own.py").write_text("def last(view):\n    return view.candidates[:, 0]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = ("lab_own:last", "margin")
    shown = compared(tmp_path / "out", comparison("wine", strategies=names, hyperparameters=PAPER))
    for name in ("random", *names):
        assert f"│ {name} " in shown
    rows = files(tmp_path / "out" / "rows")
    results_files = {"wine-held-out-paper.csv", "wine-held-out-paper-lab_own-last.csv"}
    assert set(rows) == {".lock", *results_files}
    assert b"lab_own" not in rows["wine-held-out-paper.csv"]


@pytest.mark.parametrize(
    ("content", "given", "words"),
    [
        (SURVEY, {"label": "answr"}, "label must be a column of the data; got 'answr'."),
        (SURVEY, {"label": "site"}, "site"),
        (SURVEY, {"runs": 1}, "runs must be at least 2; got 1."),
        (SURVEY, {"questions": 0}, "questions must be at least 1; got 0."),
        (SURVEY, {"questions": 19}, "questions must be at most 18, for 40 rows give pools of 20; "),
        (SURVEY, {"seed": -1}, "seed must be at least 0; got -1."),
        (SURVEY, {"hyperparameters": "mine"}, "hyperparameters must be one of 'paper', "),
        (SURVEY, {"strategies": ("luck",)}, "strategy must be one of "),
        (SURVEY, {"referees": ("smv",)}, "referee must be one of 'svm', 'forest', 'logistic'; "),
        (SURVEY[:99], {}, "source must have at least 10 rows with a label"),
        (
            "a,y\n" + "".join(f"{i},{i // 2}\n" for i in range(12)),
            {},
            "data must have at least 14 r",
        ),
        ("\x00\x01", {}, "file must hold text, no binary data; got "),
    ],
)
def test_data_that_cannot_be_compared_are_refused_before_anything_is_written(
    content, given, words, tmp_path
):
    data, out = tmp_path / "survey.csv", tmp_path / "out"
    data.write_text(content)
    with pytest.raises(MistakeError, match=rf"^[^\n]*{re.escape(words)}[^\n]*$"):
        compared(out, comparison(str(data), **given))
    assert not out.exists()


def test_a_set_that_is_named_has_its_labels(tmp_path):
    words = "label must be left out for wine, whose labels are known; got 'class'. Leave it out."
    with pytest.raises(MistakeError, match=f"^{re.escape(words)}$"):
        compared(tmp_path / "out", comparison("wine", label="class"))
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(MistakeError, match=r"^file must exist; got"):
        compared(tmp_path / "out", comparison(str(tmp_path / "no.csv")))
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------- places
def test_no_worker_means_no_folder(tmp_path):
    with pytest.raises(MistakeError, match=r"^jobs must be at least 1; got 0\."):
        experiments_session.reproduce(FEW, RunOptions(tmp_path / "out", 0))
    assert not (tmp_path / "out").exists()


def test_missing_matplotlib_is_told_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[plot\]'"):
        experiments_session.reproduce(FEW, RunOptions(tmp_path, 1))
    assert files(tmp_path) == {}


def test_a_table_needs_no_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    asked = ReproduceRequest("table1", ("wine",), runs=2)
    experiments_session.reproduce(asked, RunOptions(tmp_path, 1))
    assert set(files(tmp_path)) == {"table1.csv", "table1.md"}


@pytest.mark.skipif(os.name != "posix", reason="needs locks of POSIX")
def test_rows_at_which_another_process_works_are_refused_and_left_alone(full, tmp_path):
    rows = tmp_path / "rows"
    rows.mkdir()
    settings = ReproduceRequest("table1", ("wine",), runs=2)
    with (
        alone(rows, "out"),
        pytest.raises(MistakeError, match=r"^to must not be in use; got '.*rows', where another"),
    ):
        reproduced(tmp_path, settings)
    assert files(tmp_path) == {}
    assert set(files(rows)) == {".lock"}
    for name, content in files(full[0] / "rows").items():
        (rows / name).write_bytes(content)
    reproduced(tmp_path, settings)
    assert set(files(tmp_path)) == {"table1.md", "table1.csv"}


@FULL
@pytest.mark.parametrize(
    ("work", "asked", "written"),
    [
        (experiments_session.reproduce, ReproduceRequest("table3"), {"table3.md", "table3.csv"}),
        (experiments_session.compare, comparison("wine", hyperparameters=PAPER), COMPARED),
    ],
)
def test_files_are_there_even_if_nothing_can_be_printed(work, asked, written, tmp_path):
    with (
        pytest.raises(OSError, match="No space left on device"),
        Path("/dev/full").open("w") as nowhere,
        redirect_stdout(nowhere),
    ):
        work(asked, RunOptions(tmp_path, 1))
    assert set(files(tmp_path)) == written


@FULL
def test_a_disk_that_fills_up_while_tables_are_written_names_the_table(tmp_path):
    part_of(tmp_path / "table3.md").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as e:
        reproduced(tmp_path, ReproduceRequest("table3"))
    assert e.value.filename == str(tmp_path / "table3.md")
    assert files(tmp_path) == {}


def test_a_person_at_a_terminal_sees_how_far_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    asked = comparison("wine", hyperparameters=PAPER, referees=("svm",))
    experiments_session.compare(asked, RunOptions(tmp_path, 1))
    told = capsys.readouterr().err
    for part in ("hyperparameters in advance", "wine", "wine, by referees", "100%"):
        assert part in told


# ---------------------------------------------------------------- values
def test_the_timing_is_work_by_steps_and_rows_that_were_there_do_not_count():
    timing, one = Timing(), experiment("wine")
    for runs, seconds in ((100, 0.0), (4, 1.0), (6, 2.0)):
        timing.tell(RunProgress(one, runs, seconds))
    assert timing.steps == {"wine": 10 * 45}
    assert timing.seconds == {"wine": 3.0}
    assert timing.milliseconds == pytest.approx({"wine": 3000 / 450})


def test_every_set_is_listed_with_its_size_and_labels(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    with redirect_stdout(StringIO()) as shown:
        experiments_session.datasets()
    for name in DATASETS:
        data = load(name)
        assert re.search(
            rf"│ {name} +│ +{len(data.y)} │ +{data.X.shape[1]} │ {', '.join(data.labels)} ",
            shown.getvalue(),
        )
    assert "openml:ID" in shown.getvalue()


def test_another_classifier_learns_in_place_of_the_usual_one(tmp_path, monkeypatch):
    (tmp_path / "survey.csv").write_text(SURVEY)
    (tmp_path / "ourmodels.py").write_text(
        "from sklearn.linear_model import LogisticRegression\nmodel = LogisticRegression()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    asked = comparison("survey.csv", label="answer", strategies=(), classifier="ourmodels:model")
    with redirect_stdout(StringIO()) as shown:
        experiments_session.compare(asked, RunOptions(tmp_path / "out", 1, None))
    said = " ".join(shown.getvalue().split())
    assert "ourmodels:model learns in place of the usual classifier." in said
    assert "least_confidence" in said
    assert "necessity" not in said
    refused = replace(asked, strategies=("necessity",))
    with pytest.raises(MistakeError, match="got necessity"):
        experiments_session.compare(refused, RunOptions(tmp_path / "out", 1, None))
