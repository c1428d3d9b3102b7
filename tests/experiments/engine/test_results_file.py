import json
import re
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import possibal
from possibal.experiments.datasets import load
from possibal.experiments.engine.results_file import (
    COLUMNS,
    Provenance,
    ResultsFile,
    commit,
    header,
    opened,
    peek,
)
from possibal.experiments.recipes import PUBLISHED
from possibal.experiments.results import Run
from possibal.experiments.spec import ENVELOPE, HELD_OUT, PAPER, VARIATIONAL, Experiment, Sizes

DATA = load("wine")
QUERIES = 2
EXPERIMENT = Experiment("wine", PAPER, PAPER, Sizes(2, QUERIES, 10, 5), 7)
PROVENANCE = Provenance(EXPERIMENT, DATA)
THETA = (0.1 + 0.2, -1 / 3)
RUNS = [
    Run("random", 0, np.array([17, 3]), np.array([0.1 + 0.2, 1 / 3, 1.0])),
    Run("mine:f,\"'é\u2028", 0, np.array([0, 177]), np.array([5e-324, 0.0, 0.7])),
    Run("random", 1, np.array([5, 4]), np.array([0.5, 0.625, np.nextafter(1, 0)])),
]
here = pytest.mark.skipif(
    not (Path(possibal.__file__).parents[2] / ".git").exists(), reason="needs the repository"
)


@pytest.fixture(name="installed", autouse=True)
def _installed(tmp_path, monkeypatch):
    """Possibal as a user has it: without its repository, which others may change meanwhile."""
    monkeypatch.setattr(possibal, "__file__", str(tmp_path / "lib" / "possibal" / "__init__.py"))


def written(path: Path, runs=RUNS) -> bytes:
    """The content of a results file that nobody interrupted."""
    opened(path, PROVENANCE, THETA).append(runs)
    return path.read_bytes()


def assert_same(found: ResultsFile, runs) -> None:
    """The results file has these runs to the last bit."""
    assert list(found.runs) == [(run.strategy, run.run) for run in runs]
    for run in runs:
        kept = found.runs[run.strategy, run.run]
        assert (kept.strategy, kept.run) == (run.strategy, run.run)
        assert kept.rows.tolist() == run.rows.tolist()
        assert kept.accuracy.tobytes() == run.accuracy.tobytes()


def refusal(path: Path, provenance: Provenance = PROVENANCE) -> str:
    """The sentence that opening a results file gets; the file stays as it is."""
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"^to must [^\n]*; got [^\n]*\.$") as e:
        opened(path, provenance, None)
    assert path.read_bytes() == before
    assert str(path) in str(e.value)
    return str(e.value)


# ---------------------------------------------------------------- what is kept
def test_runs_come_back_to_the_last_bit(tmp_path):
    path = tmp_path / "a.csv"
    begun = opened(path, PROVENANCE, THETA)
    assert begun.runs == {}
    begun.append(RUNS[:1])
    begun.append(RUNS[1:])
    assert_same(begun, RUNS)
    again = opened(path, PROVENANCE, None)
    assert_same(again, RUNS)
    assert again.theta == begun.theta == THETA


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1)
shares = st.lists(st.floats(0, 1), min_size=QUERIES + 1, max_size=QUERIES + 1)
places = st.lists(st.integers(0, 2**31), min_size=QUERIES, max_size=QUERIES)
some_runs = st.lists(
    st.builds(Run, words, st.integers(0, 10**6), places.map(np.array), shares.map(np.array)),
    unique_by=lambda run: (run.strategy, run.run),
    max_size=4,
)


@given(runs=some_runs)
@settings(max_examples=25)
def test_any_runs_come_back_to_the_last_bit(tmp_path_factory, runs):
    path = tmp_path_factory.mktemp("results_file") / "a.csv"
    written(path, runs)
    assert_same(opened(path, PROVENANCE, None), runs)


def test_a_line_tells_one_answer_and_the_first_of_a_run_none(tmp_path):
    path = tmp_path / "a.csv"
    lines = written(path).decode().split("\n")
    assert lines[1] == ",".join(COLUMNS)
    assert lines[2] == "wine,paper,paper,random,0,0,0.30000000000000004,"
    assert lines[4] == "wine,paper,paper,random,0,2,1.0,3"
    assert len(lines) == 2 + 3 * (QUERIES + 1) + 1


def test_chosen_runs_come_by_strategy_and_run(tmp_path):
    results_file = opened(tmp_path / "a.csv", PROVENANCE, THETA)
    results_file.append(RUNS)
    assert results_file.chosen(["random"], 2) == [RUNS[0], RUNS[2]]
    assert results_file.chosen([RUNS[1].strategy, "random"], 1) == [RUNS[1], RUNS[0]]


def test_more_runs_are_appended_and_nothing_before_them_changes(tmp_path):
    path = tmp_path / "a.csv"
    before = written(path)
    more = Provenance(EXPERIMENT.with_runs(50), DATA)
    results_file = opened(path, more, None)
    assert path.read_bytes() == before
    results_file.append([replace(RUNS[0], run=49)])
    assert path.read_bytes().startswith(before)
    assert len(opened(path, PROVENANCE, None).runs) == 4


# ---------------------------------------------------------------- the header
def test_the_header_says_what_made_the_rows(tmp_path):
    path = tmp_path / "a.csv"
    first = written(path).split(b"\n")[0]
    found = json.loads(first.removeprefix(b"# "))
    assert found == peek(path)
    assert found == json.loads(json.dumps(header(PROVENANCE, THETA)))
    sizes = {"queries": QUERIES, "pool": 10, "test": 5}
    known = {"dataset": "wine", "protocol": PAPER, "hyperparameters": PAPER, "seed": 7, **sizes}
    assert known.items() <= found.items()
    assert "runs" not in found
    assert found["possibal"] == possibal.__version__
    assert found["numpy"] == np.__version__
    assert {"commit", "python", "scipy", "scikit-learn"} <= set(found)
    assert found["log_amplitude_and_length_scale"] == list(THETA)


def test_a_header_without_hyperparameters_says_so(tmp_path):
    path = tmp_path / "a.csv"
    opened(path, PROVENANCE, None).append(RUNS[:1])
    assert opened(path, PROVENANCE, THETA).theta is None


@pytest.mark.parametrize("third", [b"", b"wine,paper,paper,random,0,0,0.3"])
def test_a_results_file_without_a_row_is_begun_anew_whatever_made_it(third, tmp_path):
    path, other = (
        tmp_path / "a.csv",
        Provenance(replace(EXPERIMENT, seed=8), DATA, "def f(view): ..."),
    )
    opened(path, other, None)
    path.write_bytes(path.read_bytes() + third)
    assert peek(path) is None
    begun = opened(path, PROVENANCE, THETA)
    assert (begun.theta, begun.runs) == (THETA, {})
    begun.append(RUNS)
    assert path.read_bytes() == written(tmp_path / "b.csv")


def test_one_row_is_enough_for_another_provenance_to_be_refused(tmp_path):
    path = tmp_path / "a.csv"
    lines = written(path, RUNS[:1]).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    assert "with seed 7, now 8. " in refusal(path, changed(seed=8))


def test_there_is_no_header_where_there_is_no_file(tmp_path):
    assert peek(tmp_path / "a.csv") is None


@here
def test_the_commit_is_that_of_the_source(monkeypatch):
    monkeypatch.undo()
    found = commit()
    assert found is not None
    assert re.fullmatch(r"\S{12,}?(-dirty-[0-9a-f]{16})?", found)
    assert not found.endswith("-dirty")


def git(place: Path, *words: str) -> None:
    """A command of git in a repository, with nobody's settings."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(place), *who, *words], check=True, capture_output=True)  # noqa: S603, S607 - our own words


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_changes_since_the_commit_are_told_apart(tmp_path):
    source = tmp_path / "lib" / "possibal" / "__init__.py"
    source.parent.mkdir(parents=True)
    source.write_text("first")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    found = {"first": commit()}
    for text in ("second", "third"):
        source.write_text(text)
        found[text] = commit()
    assert len(set(found.values())) == 3
    for text in ("second", "third"):
        assert re.fullmatch(rf"{found['first']}-dirty-[0-9a-f]{{16}}", found[text] or "")
        source.write_text(text)
        assert commit() == found[text]
        assert header(PROVENANCE, None)["commit"] == found[text]
    source.write_text("first")
    assert commit() == found["first"]


@here
def test_without_git_there_is_no_commit(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() is None


def test_a_folder_that_git_does_not_know_has_no_commit(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "lib" / "possibal").mkdir(parents=True)
    assert commit() is None


def test_the_repository_of_a_user_is_not_taken_for_ours(monkeypatch):
    root = Path(__file__).parents[3]
    inside = root / ".venv" / "lib" / "python3" / "site-packages" / "possibal" / "__init__.py"
    monkeypatch.setattr(possibal, "__file__", str(inside))
    assert commit() is None


# ---------------------------------------------------------------- killed
def test_a_results_file_cut_at_any_byte_is_taken_up_and_ends_the_same(tmp_path):
    path = tmp_path / "a.csv"
    runs = RUNS[:2]
    whole = written(path, runs)
    ends = [len(written(tmp_path / f"{n}.csv", runs[:n])) for n in range(len(runs) + 1)]
    first = whole.index(b"\n") - 2  # within the header one place is like another
    for cut in (*range(0, first, 20), *range(first, len(whole) + 1)):
        path.write_bytes(whole[:cut])
        begun = opened(path, PROVENANCE, None if peek(path) else THETA)
        complete = sum(end <= cut for end in ends[1:])
        assert_same(begun, runs[:complete])
        assert path.read_bytes() == whole[: ends[complete]]
        begun.append(runs[complete:])
        assert path.read_bytes() == whole


@pytest.fixture(name="resource")
def _resource():
    return pytest.importorskip("resource")


@contextmanager
def disk_of(resource, size: int):
    """No file can grow beyond so many bytes, as on a disk that is full."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@pytest.mark.parametrize("many", [1, 200])  # less than a buffer, and more
@pytest.mark.parametrize("room", [0, 10, 70])
def test_a_write_that_fails_leaves_the_file_as_it_was(many, room, tmp_path, resource):
    path = tmp_path / "a.csv"
    before = written(path, RUNS[:2])
    results_file = opened(path, PROVENANCE, None)
    rest = [replace(RUNS[2], run=run) for run in range(1, 1 + many)]
    with disk_of(resource, len(before) + room), pytest.raises(OSError, match="too large") as e:
        results_file.append(rest)
    assert e.value.filename == str(path)
    assert path.read_bytes() == before
    assert_same(results_file, RUNS[:2])
    results_file.append(RUNS[2:])
    assert path.read_bytes() == written(tmp_path / "b.csv")


def test_a_results_file_that_cannot_be_begun_leaves_no_file(tmp_path, resource):
    path = tmp_path / "a.csv"
    with disk_of(resource, 20), pytest.raises(OSError, match="too large") as e:
        opened(path, PROVENANCE, THETA)
    assert e.value.filename == str(path)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- of another provenance
def changed(**what):
    return Provenance(replace(EXPERIMENT, **what), DATA)


@pytest.mark.parametrize(
    ("provenance", "name"),
    [
        (changed(seed=8), "seed 7, now 8"),
        (changed(protocol=HELD_OUT), "protocol paper, now held-out"),
        (changed(hyperparameters=ENVELOPE), "hyperparameters paper, now envelope"),
        (changed(recipe=PUBLISHED), "recipe {'name': 'ours', "),
        (changed(model=VARIATIONAL), "model laplace, now variational"),
        (changed(sizes=Sizes(2, 3, 10, 5)), "queries 2, now 3"),
        (changed(sizes=Sizes(2, 2, 11, 5)), "pool 10, now 11"),
        (changed(sizes=Sizes(2, 2, 10, 6)), "test 5, now 6"),
        (Provenance(EXPERIMENT, replace(DATA, X=DATA.X + 1e-9)), "data "),
        (Provenance(EXPERIMENT, replace(DATA, y=1 - DATA.y)), "data "),
        (Provenance(EXPERIMENT, DATA, "def f(view): ..."), "strategy None, now "),
    ],
)
def test_rows_of_another_provenance_are_refused_by_name(provenance, name, tmp_path):
    path = tmp_path / "a.csv"
    written(path)
    assert f"with {name}" in refusal(path, provenance)
    assert refusal(path, provenance).endswith(". Move that file away, or choose another folder.")


@pytest.mark.parametrize("name", ["commit", "possibal", "python", "numpy", "scipy", "scikit-learn"])
def test_rows_of_another_version_are_refused_by_name(name, tmp_path):
    path = tmp_path / "a.csv"
    first, _, rest = written(path).decode().partition("\n")
    made = {**json.loads(first.removeprefix("# ")), name: "other"}
    path.write_text(f"# {json.dumps(made)}\n{rest}")
    assert f"with {name} other, now {header(PROVENANCE, None)[name]}. " in refusal(path)


@pytest.mark.parametrize(("more", "less"), [("colour", None), (None, "seed")])
def test_a_header_with_more_or_less_in_it_is_refused_by_name(more, less, tmp_path):
    path = tmp_path / "a.csv"
    first, _, rest = written(path).decode().partition("\n")
    made = json.loads(first.removeprefix("# "))
    made.update({more: "red"} if more else {})
    made.pop(less, None)
    path.write_text(f"# {json.dumps(made)}\n{rest}")
    assert f"with {more or less} {'red, now None' if more else 'None, now 7'}." in refusal(path)


def test_of_several_differences_the_first_is_told(tmp_path):
    path = tmp_path / "a.csv"
    written(path)
    assert "with protocol paper, now held-out." in refusal(path, changed(protocol=HELD_OUT, seed=1))


# ---------------------------------------------------------------- changed by hand
@pytest.mark.parametrize(
    "edit",
    [
        lambda _: b"",
        lambda _: b"\n",
        lambda line: line.replace(b"random", b"bald"),
        lambda line: line.replace(b"wine", b"iris"),
        lambda line: line.replace(b",1,", b",2,"),
        lambda line: line.replace(b"17", b"17.0"),
        lambda line: line.replace(b".", b"\xff"),
        lambda line: line.replace(b".", b"\r"),
        lambda line: line.replace(b".", b"e"),
        lambda line: line.replace(b"0.3", b"00.3"),
        lambda line: line[:-1] + b" \n",
        lambda line: line[:-1] + b",\n",
        lambda line: line[:-1] + b"x\n",
        lambda line: line[:10] + b"\n",
        lambda line: line + line,
        lambda line: b'"' + line,
        lambda line: line[:-1] + b'"\n',
    ],
)
def test_a_line_changed_in_the_middle_is_refused_and_nothing_is_lost(edit, tmp_path):
    path = tmp_path / "a.csv"
    lines = written(path).splitlines(keepends=True)
    middle = 3  # the first answer of the first run, which is 17 at accuracy a third
    spoilt = edit(lines[middle])
    if spoilt == lines[middle]:
        pytest.fail("the edit changes nothing")
    path.write_bytes(b"".join([*lines[:middle], spoilt, *lines[middle + 1 :]]))
    assert "which was changed near line 3. Move that file away." in refusal(path)


def test_a_run_that_occurs_twice_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    written(path, [*RUNS, replace(RUNS[0], rows=RUNS[2].rows)])
    assert "which was changed near line 12. Move that file away." in refusal(path)


def test_the_place_of_a_later_change_is_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(written(path).replace(b"random,1,2", b"random,1,3"))
    assert "near line 9." in refusal(path)


@pytest.mark.parametrize(
    ("line", "content"),
    [
        (1, b"not a results file\n"),
        (1, b"# [1, 2]\n"),
        (1, b"# \xff\xfe\n"),
        (1, b"# {}\n"),
        (2, b"dataset,strategy\n"),
    ],
)
def test_first_lines_that_are_no_results_files_are_refused(line, content, tmp_path):
    path = tmp_path / "a.csv"
    lines = written(path).splitlines(keepends=True)
    lines[line - 1] = content
    path.write_bytes(b"".join(lines))
    assert f"near line {line}." in refusal(path)


def test_what_a_kill_left_unfinished_is_cut_even_if_it_is_no_text(tmp_path):
    path = tmp_path / "a.csv"
    whole = written(path)
    path.write_bytes(whole + b"wine,paper\xff\n\xff")
    assert_same(opened(path, PROVENANCE, None), RUNS)
    assert path.read_bytes() == whole


def test_a_short_file_of_somebody_else_is_left_alone(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("my own notes\n", encoding="utf-8")
    with pytest.raises(ValueError, match="changed near line 1"):
        opened(path, PROVENANCE, THETA)
    assert path.read_text(encoding="utf-8") == "my own notes\n"
