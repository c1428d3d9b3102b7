"""The command line of labelling: its options reach the campaign, and its help is quick."""

import inspect
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import httpx
import numpy as np
import pytest
from support.browser import ELSEWHERE
from support.served import HERE, pictures, run, table, visited

from possibal.arguments import DEFAULT_STRATEGY
from possibal.cli import label, main
from possibal.labelling.storage.store import Setup, Store


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def begun(*arguments: str) -> Setup:
    """What a campaign was begun with."""
    code, seen = visited(lambda base: httpx.get(base).status_code, *arguments)
    assert (code, seen) == (0, 200)
    (db,) = Path().glob("*.possibal.db")
    with Store.open(str(db), writes=False) as store:
        return store.setup()


def test_the_usual_settings_need_no_option():
    setup = begun(str(table(Path("a.csv"))))
    assert (setup.strategy, setup.seed, setup.people, setup.check) == (DEFAULT_STRATEGY, 0, 1, 0)
    assert (setup.name, setup.kind, setup.rows, setup.classes) == ("a", "table", 40, ())


def test_options_reach_the_campaign():
    table(Path("a.csv"))
    numbers = ("--seed", "7", "--people", "3", "--check", "10")
    setup = begun("a.csv", *numbers, "--strategy", "random", "--classes", " yes, no ,,may be ")
    assert (setup.strategy, setup.seed, setup.people, setup.check) == ("random", 7, 3, 10)
    assert setup.classes == ("yes", "no", "may be")


@pytest.mark.skipif(ELSEWHERE and find_spec("pty") is None, reason="needs terminals as of POSIX")
def test_a_terminal_hears_what_is_done_before_anything_slow_is_imported():
    import pty

    ours, theirs = pty.openpty()
    stop = (  # at the first slow import: what was said by then is all that there is
        "import sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name in {'scipy', 'sqlalchemy', 'fastapi'}: sys.exit(7)\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from possibal.cli.main import main\n"
        "main(['label', 'a.csv'])\n"
    )
    with os.fdopen(ours, "rb", buffering=0) as seen:
        line = [sys.executable, "-c", stop]
        done = subprocess.run(line, env=HERE, stderr=theirs, check=False)  # noqa: S603 - our own code
        os.write(theirs, b"The end.\n")
        said = seen.readline()
        os.close(theirs)
    assert (done.returncode, said) == (7, b"Starting to label a.csv.\r\n")


def test_columns_can_be_named():
    rows = [f"r{n},{n}.5,{n * n % 7},{'ab'[n % 2]}" for n in range(8)]
    Path("a.csv").write_text("\n".join(["who,x,y,kind", *rows]))
    setup = begun("a.csv", "--id", "who", "--label", "kind")
    assert (setup.fields, setup.classes) == (("x", "y"), ("a", "b"))


def test_a_text_its_encoding_and_own_numbers_can_be_named():
    words = ["schön und gut, sagte er, und ging dann", "übel war ihm, und er ging nicht mit"]
    rows = [f'"{words[n % 2]} {n}",{n}' for n in range(8)]
    Path("a.csv").write_bytes("\n".join(["said,n", *rows]).encode("cp1252"))
    np.save("own.npy", np.random.default_rng(0).normal(size=(8, 2)))
    setup = begun("a.csv", "--text", "said", "--encoding", "cp1252", "--features", "own.npy")
    assert (setup.kind, setup.text, setup.recipe["kind"]) == ("text", "said", "own")


def test_pictures_can_be_named_in_a_column():
    pictures(Path("shades"))
    rows = [f"shades/{n:02}.png,{n}" for n in range(8)]
    Path("a.csv").write_text("\n".join(["file,n", *rows]))
    assert begun("a.csv", "--image", "file").kind == "image"


def test_other_names_of_this_machine_can_be_allowed(capsys):
    table(Path("a.csv"))

    def visit(base: str) -> list[int]:
        hosts = ("one.example", "two.example", "three.example")
        return [httpx.get(base, headers={"Host": host}).status_code for host in hosts]

    names = ("--allow-host", "one.example", "--allow-host", "two.example")
    assert visited(visit, "a.csv", *names) == (0, [200, 200, 403])
    assert "Label at http://one.example:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--strategy necessit", "got 'necessit'. Did you mean 'necessity'?"),
        ("--strategy nonsense", "strategy must be one of"),
        ("--seed -1", "seed must be at least 0; got -1."),
        ("--people 0", "people must be at least 1; got 0."),
        ("--check -1", "check must be at least 0; got -1."),
        ("--check 21", "check must be at most 20, half of the rows; got 21. Check fewer."),
        ("--check many", "'--check'"),
        ("--port many", "'--port'"),
        ("--label nothing", "label must be"),
        ("--id nothing", "id must be"),
        ("--text nothing", "text must be"),
        ("--image nothing", "image must be"),
        ("--features nothing.npy", "features must be"),
        ("--encoding nonsense", "encoding must be"),
        ("--classes yes,yes", "classes must"),
        ("--classes yes", "classes must"),
        ("--foo", "No such option"),
        ("another.csv", "unexpected extra argument"),
    ],
)
def test_a_mistake_is_told_in_one_line_and_nothing_is_left(capsys, line, words):
    table(Path("a.csv"))
    assert main.main(["label", "a.csv", "--no-browser", *line.split()]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err
    assert [path.name for path in Path().iterdir()] == ["a.csv"]


def test_the_help_teaches(capsys):
    assert main.main(["label", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for name in inspect.signature(label.label).parameters:
        assert name == "file" or f"--{name.replace('_', '-')}" in said
    assert main.COMMANDS["label"][1] in said
    assert "Label a file in the browser" in said


def test_the_help_and_mistakes_of_the_command_line_load_nothing_heavy(tmp_path):
    for line in (["label", "--help"], ["label", "--foo"]):
        code = (
            "import sys\nfrom possibal.cli.main import main\n"
            f"main({line!r})\n"
            "heavy = {'scipy', 'sklearn', 'fastapi', 'uvicorn', 'sqlalchemy', 'PIL', 'pandas'}\n"
            "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
        )
        done = run(folder=tmp_path, code=code)
        assert done.returncode == 0, done.stderr
