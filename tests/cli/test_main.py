import os
import re
import runpy
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import possibal
from possibal.cli import main
from possibal.experiments import demo

PNG = b"\x89PNG\r\n\x1a\n"
SMALL = ("--questions", "3", "--runs", "2", "--jobs", "1")
SOURCE = Path(possibal.__file__).parents[1]
PROJECT = Path(__file__).parents[2] / "pyproject.toml"
HERE = {**os.environ, "PYTHONPATH": str(SOURCE)}
ELSEWHERE = os.environ.get("CI") != "true"
"""Whether a missing part of the system may skip a test; where all is checked, it fails."""
POSIX = pytest.mark.skipif(
    ELSEWHERE and os.name != "posix", reason="needs signals and pipes of POSIX"
)
FULL = pytest.mark.skipif(ELSEWHERE and not Path("/dev/full").exists(), reason="needs /dev/full")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def files() -> list[str]:
    """What the command left in its folder."""
    return [path.name for path in Path().iterdir()]


def command(*arguments: str, code: str = "") -> list[str]:
    """The command line of a user, who may have run some lines of code first."""
    start = f"{code}\nimport sys\nfrom possibal.cli.main import main\nsys.exit(main())"
    return [sys.executable, *(("-c", start) if code else ("-m", "possibal")), *arguments]


def shell(*arguments: str, code: str = "") -> "subprocess.CompletedProcess[str]":
    """What such a command line prints."""
    line = command(*arguments, code=code)
    return subprocess.run(line, env=HERE, capture_output=True, text=True, check=False)  # noqa: S603 - our own code


# ---------------------------------------------------------------- commands
def test_the_version_is_the_packages():
    declared = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    done = shell("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"possibal {declared}\n", "")


def test_the_module_runs_the_command_line(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["possibal", "--version"])
    with pytest.raises(SystemExit) as ending:
        runpy.run_module("possibal", run_name="__main__")
    assert ending.value.code == 0
    assert capsys.readouterr().out == f"possibal {possibal.__version__}\n"


def test_no_arguments_open_home(monkeypatch):
    served = []
    monkeypatch.setattr(
        "possibal.cli.home_session.serve", lambda *given, **how: served.append((given, how))
    )
    assert main.main([]) == main.main(["home"]) == 0
    assert served[0] == served[1]
    assert served[0][0][0] == Path()


@pytest.mark.parametrize("start", [[], ["status"], ["compare"]])
def test_help_has_a_short_name(start, capsys):
    assert main.main([*start, "--help"]) == 0
    shown = capsys.readouterr()
    assert main.main([*start, "-h"]) == 0
    assert capsys.readouterr() == shown


@pytest.mark.parametrize(
    ("line", "offered"),
    [("possibal st", {"status", "strategies"}), ("possibal rank --t", {"--to", "--top"})],
)
def test_a_shell_is_told_how_a_line_may_go_on(line, offered):
    asked = {"_POSSIBAL_COMPLETE": "complete_bash", "COMP_WORDS": line}
    asked["COMP_CWORD"] = str(line.count(" "))
    done = subprocess.run(command(), env=HERE | asked, capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    assert set(done.stdout.split()) == offered
    assert done.stderr == ""


def test_what_is_written_is_named_by_one_word_in_every_command(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    writing = {"export", "model", "predict", "backup", "rank", "reproduce", "compare", "demo"}
    for name in main.COMMANDS:
        main.main([name, "--help"])
        shown = capsys.readouterr().out
        assert ("--to " in shown) == (name in writing), name
        assert not re.search(r"--(out|output|picture|figure)\b", shown), name


@pytest.mark.parametrize("option", ["--out", "--picture", "--to"])
def test_earlier_names_of_options_are_taken_still(option, capsys):
    assert main.main(["demo", *SMALL, option, "a.png"]) == 0
    assert "The picture is in a.png" in capsys.readouterr().out
    assert files() == ["a.png"]


def test_help_imports_nothing_that_is_slow():
    line = (
        "import sys\n"
        "from possibal.cli.main import main\n"
        "main(['--help'])\n"
        "slow = {*'numpy scipy sklearn pandas sqlalchemy fastapi matplotlib joblib'.split()}\n"
        "sys.exit(str(slow & set(sys.modules)) if slow & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", line], env=HERE, capture_output=True, text=True)  # noqa: S603, PLW1510 - our own code
    assert (done.returncode, done.stderr) == (0, "")


def test_the_help_lists_every_command(capsys):
    main.main(["--help"])
    shown = capsys.readouterr().out
    for name in main.COMMANDS:
        assert f" {name} " in shown


@pytest.mark.parametrize("start", [[], *([one] for one in main.COMMANDS)])
def test_every_help_has_an_example(start, capsys):
    assert main.main([*start, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Example: possibal {' '.join(start)}".strip() in shown


def test_two_jobs_in_a_real_shell_print_what_one_job_prints_here(capsys):
    assert main.main(["demo", *SMALL]) == 0
    done = shell("demo", *SMALL[:-1], "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == capsys.readouterr().out


# ---------------------------------------------------------------- mistakes
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dmo", "No such command 'dmo'"),
        ("--colour", "No such option"),
        ("demo --foo", "No such option"),
        ("demo extra", "unexpected extra argument"),
        ("demo --questions", "'--questions' requires an argument. See possibal demo --help."),
        ("demo --data", "'--data' requires an argument. See possibal demo --help."),
        ("demo --foo", "See possibal demo --help."),
        ("dmo --foo", "See possibal --help."),
        ("demo --questions many", "'--questions'"),
        ("demo --questions 0", "questions must be at least 1; got 0."),
        ("demo --questions 299", "questions must be at most 298"),
        ("demo --runs 1", "runs must be at least 2; got 1."),
        ("demo --runs 10001", "runs must be at most 10000; got 10001. Ask for fewer."),
        ("demo --seed -1", "seed must be at least 0; got -1."),
        ("demo --jobs 0", "jobs must be at least 1; got 0."),
        ("demo --data wien", "got 'wien'. Did you mean 'wine'?"),
        ("demo --strategy necessit", "got 'necessit'. Did you mean 'necessity'?"),
        ("demo --to a.txt", "to must end in .png; got 'a.txt'."),
        ("demo --to .png", "to must have a name before .png; got '.png'. Add one."),
        ("demo --to no/.PNG", "to must have a name before .png; got 'no/.PNG'."),
        ("demo --to .", "to must be a file; got the folder '.'. Add a name."),
        ("demo --to=", "to must name a file; got ''. Write, say, --to demo.png."),
        ("demo --to no/a.png", "Make the folder 'no' first."),
    ],
)
def test_a_mistake_is_told_in_one_line(line, words, capsys):
    assert main.main(line.split()) == 2
    shown, told = capsys.readouterr()
    assert not shown
    assert told.startswith("possibal: ")
    assert words in told
    assert told.count("\n") == 1
    assert told.endswith((".\n", "?\n"))
    assert not files()


def test_a_mistake_goes_through_a_real_shell_alike():
    done = shell("demo", "--questions", "x\ny")
    assert done.returncode == 2
    assert done.stderr.startswith("possibal: ")
    assert done.stderr.count("\n") == 1


BARE = "import sys\nsys.modules['matplotlib'] = None"
"""A Python that has no matplotlib."""


def test_a_picture_that_is_asked_for_needs_matplotlib():
    done = shell("demo", "--to", "a.png", code=BARE)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'possibal[plot]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not files()


def test_the_demo_needs_no_matplotlib_and_says_that_it_drew_nothing():
    done = shell("demo", *SMALL, code=BARE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "difference in points" in done.stdout
    assert done.stdout.endswith(
        "No picture was drawn, for matplotlib is not installed: run pip "
        "install 'possibal[plot]' for one.\n"
    )
    assert not files()


# ---------------------------------------------------------------- interruptions
def test_an_interrupt_in_a_command_exits_quietly(capsys, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "demo_job", interrupt)
    assert main.main(["demo"]) == 130
    assert not capsys.readouterr().err.strip()


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt, 130), (BrokenPipeError, 1)])
def test_an_end_from_outside_is_quiet_wherever_it_comes(stop, code, capsys, monkeypatch):
    def end(_arguments: list[str]) -> int:
        raise stop

    monkeypatch.setattr(main, "_run", end)
    assert main.main(["strategies"]) == code
    assert capsys.readouterr() == ("", "")


TELLING = """
from possibal.cli import demo
usual = demo._watch
def watch(*given):
    print("watching", flush=True)
    return usual(*given)
demo._watch = watch
"""


@POSIX
def test_ctrl_c_stops_the_workers_without_a_word():
    line = command("demo", "--runs", "5000", "--jobs", "2", code=TELLING)
    with subprocess.Popen(  # noqa: S603 - our own code
        line,
        env=HERE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "watching\n"
        time.sleep(0.5)  # the workers are importing, when they would have most to say
        os.killpg(running.pid, signal.SIGINT)
        shown, _ = running.communicate(timeout=30)
    assert (running.returncode, shown) == (130, "")
    assert not files()


@POSIX
@pytest.mark.parametrize("lines", [0, 1])
def test_a_reader_that_goes_away_is_no_error(lines):
    line = f"'{sys.executable}' -m possibal strategies | head -n {lines}"
    done = subprocess.run(  # noqa: S602 - a pipe is what is tested
        line, shell=True, env=HERE, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


@POSIX
def test_what_a_lost_reader_has_not_read_is_dropped(capsys, monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)

    def leave_text_behind(_arguments: list[str]) -> int:
        sys.stdout.write("too late")
        return 0

    monkeypatch.setattr(main, "_run", leave_text_behind)
    with os.fdopen(writer, "w") as pipe, monkeypatch.context() as during:
        during.setattr(sys, "stdout", pipe)
        assert main.main(["strategies"]) == 1
    assert not capsys.readouterr().err


@FULL
def test_output_that_cannot_be_written_is_told():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(  # noqa: S603 - our own code
            command("strategies"),
            env=HERE,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "possibal: No space left on device: standard output.\n"
