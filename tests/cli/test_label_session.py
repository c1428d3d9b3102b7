"""A campaign from its file to its page: begun, gone on with, refused, and stopped."""

import json
import os
import re
import signal
import socket
import time
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from textwrap import indent

import httpx
import pytest
from support.served import PATIENCE, Server, pictures, run, table, visited

from possibal.cli import label_session, main
from possibal.labelling import serving
from possibal.labelling.remarks import text_of
from possibal.labelling.storage.journal import replay
from possibal.labelling.storage.store import Store
from possibal.labelling.web.server import Server as PageServer

KEPT = ["a.csv", "a.csv.possibal.db"]
"""What a campaign about a file leaves beside it, but for its lock."""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir() if path.suffix not in {".lock", ".log"})


def status(base: str) -> int:
    return httpx.get(base).status_code


def guidelines(_base: str) -> str:
    """What the campaign beside the file says on how to label."""
    with Store.open("a.csv.possibal.db", writes=False) as store:
        return text_of(replay(store.events()).guidelines)


def refused(capsys, *arguments: str) -> str:
    """The one sentence with which a command line is refused."""
    assert main.main(["label", *arguments, "--no-browser"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("possibal: ")
    return err


# ---------------------------------------------------------------- begun and gone on with
def test_a_campaign_is_begun_and_then_gone_on_with(capsys):
    table(Path("a.csv"))
    assert visited(status, "a.csv", "--classes", "yes,no") == (0, 200)
    first = capsys.readouterr().out
    assert "Label at http://127.0.0.1:" in first
    assert "Answers are kept in a.csv.possibal.db. Stop with Ctrl-C." in first
    assert "0 of 40 rows have a label. Export them with possibal export a.csv.possibal.db" in first
    assert files() == KEPT
    assert visited(status, "a.csv") == (0, 200)
    assert "Going on with 0 actions so far." in capsys.readouterr().out


def test_people_are_invited_and_told_where_the_page_is(capsys):
    table(Path("a.csv"))
    assert visited(status, "a.csv", "--invite", "ann", "--address", "https://a.example")[0] == 0
    said = capsys.readouterr().out
    assert "Label at https://a.example/#join=" in said
    assert re.search(r"For ann: https://a\.example/#join=[\w-]{32}&for=ann\n", said)
    assert visited(status, "a.csv", "--allow-host", "b.example")[0] == 0
    again = capsys.readouterr().out
    assert "Others reach it at http://b.example:" in again
    with Store.open("a.csv.possibal.db", writes=False) as store:
        assert store.fact(serving.SERVED_AT).startswith("http://b.example:")
    assert label_session.last_port("a.csv.possibal.db") > 0
    assert label_session.last_port("none.db") is None


def test_an_address_for_label_studio_is_printed_where_it_is_wanted(capsys):
    table(Path("a.csv"))
    assert visited(status, "a.csv", "--label-studio")[0] == 0
    said = capsys.readouterr().out
    place = r"http://label-studio:[0-9a-f]{64}@127\.0\.0\.1:\d+/label-studio\n"
    assert re.search(f"Label Studio connects to {place}", said)
    assert visited(status, "a.csv")[0] == 0
    assert "Label Studio" not in capsys.readouterr().out


def test_a_campaign_stays_blind_or_open(capsys):
    table(Path("a.csv"))
    visited(status, "a.csv", "--people", "2")
    capsys.readouterr()
    visited(status, "a.csv", "--blind")
    assert "answering" not in capsys.readouterr().out
    visited(status, "a.csv", "--open")
    said = "People go on answering blind, as when the campaign began."
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--invite", " a"], "who must be a name of 1 to 60 characters"),
        (["--tls-cert", "a"], "tls_key must be given with tls_cert; got none."),
        (["--tls-key", "a"], "tls_cert must be given with tls_key; got none."),
        (["--tls-cert", "a.csv", "--tls-key", "b"], "tls_cert and tls_key must be a certificate"),
        (["--address", "a.example"], "address must be http or https and a name"),
    ],
)
def test_what_nobody_could_be_let_in_by_is_refused_first(capsys, arguments, sentence):
    table(Path("a.csv"))
    assert sentence in refused(capsys, "a.csv", *arguments)
    assert files() == ["a.csv"]


def test_what_was_done_to_read_the_file_is_told(capsys):
    table(Path("a.csv"))
    lines = Path("a.csv").read_text().splitlines()
    with Path("a.csv").open("w") as file:
        file.writelines(
            f"{line},{end}\n" for line, end in zip(lines, ["c", *"7" * 40], strict=True)
        )
    visited(status, "a.csv")
    said = capsys.readouterr().out
    for words in ("How the columns were read", "x0", "number", "left out", "was constant"):
        assert words in said
    with Store.open("a.csv.possibal.db", writes=False) as store:
        assert ("c", "left out", "was constant") in store.setup().columns


def test_without_a_file_there_are_pictures_of_digits(capsys):
    assert visited(status) == (0, 200)
    assert files() == [
        "possibal-digits",
        "possibal-digits.possibal.db",
        "possibal-digits.possibal.embeddings",
    ]
    with Store.open("possibal-digits.possibal.db", writes=False) as store:
        assert (store.setup().kind, store.setup().classes) == ("image", ("3", "8"))
    assert "of 357 rows have a label" in capsys.readouterr().out


def test_a_campaign_may_be_kept_elsewhere(capsys):
    table(Path("a.csv"))
    Path("kept").mkdir()
    assert visited(status, "a.csv", "--db", "kept/mine.db") == (0, 200)
    assert "possibal export kept/mine.db" in capsys.readouterr().out
    assert files() == ["a.csv", "kept"]


def looked_at(monkeypatch, look):
    """What there is to see of each campaign when its page is served."""
    plain, found = PageServer.run, []

    def run_noting(server, service, *others):
        found.append(look(service.read_model))
        plain(server, service, *others)

    monkeypatch.setattr(PageServer, "run", run_noting)
    return found


def test_going_on_reads_the_journal_once_and_knows_what_was_added(capsys, monkeypatch):
    table(Path("a.csv"))
    visited(status, "a.csv", "--classes", "yes,no")
    plain, read = Store.events, []
    monkeypatch.setattr(Store, "events", lambda *given: read.append(given) or plain(*given))
    seen = looked_at(monkeypatch, lambda model: (model.classes, len(model.check_rows)))
    visited(status, "a.csv", "--classes", "maybe", "--check", "4")
    assert len(read) == 1
    assert seen == [(("yes", "no", "maybe"), 4)]
    assert "Going on with 2 actions so far." in capsys.readouterr().out


def test_rows_that_joined_before_the_page_was_there_are_served(monkeypatch):
    table(Path("a.csv"), rows=20)
    visited(status, "a.csv")
    table(Path("a.csv"), rows=30)
    seen = looked_at(monkeypatch, lambda model: (model.X.shape, model.setup.rows))
    visited(status, "a.csv")
    assert seen == [((30, 3), 30)]


def test_a_person_at_a_terminal_sees_a_bar(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    pictures(Path("shades"))
    assert visited(status, "shades")[0] == 0
    assert "Done" in capsys.readouterr().err


# ---------------------------------------------------------------- refused
def test_another_file_with_the_same_campaign_is_refused(capsys):
    table(Path("a.csv"))
    visited(status, "a.csv")
    capsys.readouterr()
    table(Path("a.csv"), seed=1)
    assert main.main(["label", "a.csv", "--no-browser"]) == 2
    said = capsys.readouterr()
    assert "35 more changed.\nRows since last time: 40 changed." in said.out
    assert said.err.startswith("possibal: file must have the rows that the campaign was begun with")
    assert visited(status, "a.csv", "--db", "new.db")[0] == 0
    capsys.readouterr()
    Path("a.csv").write_text("other,columns\n1,2\n3,4\n")
    assert "pool must be the one that the campaign was begun with" in refused(capsys, "a.csv")


def test_a_longer_file_goes_on_with_its_campaign(capsys):
    table(Path("a.csv"))
    visited(status, "a.csv")
    Path("a.csv").write_text(Path("a.csv").read_text() + "0.5,0.25,0.125\n")
    capsys.readouterr()
    assert visited(status, "a.csv")[0] == 0
    assert "Rows since last time: 1 new." in capsys.readouterr().out
    with Store.open("a.csv.possibal.db", writes=False) as store:
        assert store.setup().rows == len(store.items()) == len(store.array("X")) == 41


def test_changes_are_taken_in_if_the_user_says_so(capsys, monkeypatch):
    table(Path("a.csv"))
    visited(status, "a.csv")
    lines = Path("a.csv").read_text().splitlines()
    Path("a.csv").write_text("\n".join([lines[0], "9,9,9", *lines[2:-1]]) + "\n")
    assert visited(status, "a.csv", "--accept-changes")[0] == 0
    said = capsys.readouterr().out
    assert "row 0 changed, x0: " in said
    assert "row 39 is missing." in said
    Path("a.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda _question: True)
    assert visited(status, "a.csv")[0] == 0
    assert "Rows since last time: 1 changed, 1 back." in capsys.readouterr().out


def test_going_on_adds_classes_and_check_rows_and_says_what_stays(capsys):
    table(Path("a.csv"))
    visited(status, "a.csv", "--classes", "yes,no")
    capsys.readouterr()
    more = ("--classes", "yes,maybe", "--check", "6", "--strategy", "random", "--text", "x0")
    visited(status, "a.csv", *more)
    said = capsys.readouterr().out
    assert "Added the classes maybe." in said
    assert "Drew 6 more check rows at random; there are 6 now." in said
    assert "strategy stays herding, as when the campaign began." in said
    assert "text stays as when the campaign began; x0 is not taken." in said
    assert "class must differ from others by more than case and blanks; got 'YES'" in (
        refused(capsys, "a.csv", "--classes", "YES,no")
    )


def test_guidelines_of_a_file_are_taken_in_and_stay_until_there_are_others(capsys):
    table(Path("a.csv"))
    Path("how.md").write_text("Look twice.", encoding="utf-8")
    said = "The guidelines are now those of the file."
    told = [
        visited(guidelines, "a.csv", "--classes", "yes,no", "--guidelines", "how.md"),
        visited(guidelines, "a.csv"),
        visited(guidelines, "a.csv", "--guidelines", "how.md"),
    ]
    assert told == [(0, "Look twice.")] * 3
    assert capsys.readouterr().out.count(said) == 1
    assert "Look three times." not in refused(capsys, "a.csv", "--guidelines", "none.md")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "file must "),
        (b"a,b\n", "file must "),
        (b"a,b\n1,2\n", "file must have at least 2 rows; got 1"),
        (b"a,b\n1\n2,3,4\n", "file must "),
        (b"\xff\xfe\x00\x01" * 9, "file must "),
        (b"a,b\n\xe4,1\n\xf6,2\n", "encoding"),
        (b"\x1f\x8b\x08broken", "file must "),
        (b'a,b\n"1,2\n3,4\n', "file must "),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_and_nothing_is_left(capsys, content, words):
    Path("a.csv").write_bytes(content)
    assert words in refused(capsys, "a.csv")
    assert [path.name for path in Path().iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing.csv"],
        ["a.xyz"],
        [""],
        ["empty"],
        ["a.csv", "--check", "21"],
        ["a.csv", "--db", "missing/a.db"],
        ["a.csv", "--db", ""],
        ["a.csv", "--db", "empty"],
        ["a.csv", "--db", "a.csv"],
        ["a.csv", "--db", "mysql://me@there/x"],
        ["a.csv", "--db", "sqlite:///missing/a.db"],
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_left(capsys, arguments):
    table(Path("a.csv"))
    Path("a.xyz").write_text("a,b\n1,2\n3,4\n")
    Path("empty").mkdir()
    assert " must " in refused(capsys, *arguments)
    assert sorted(path.name for path in Path().rglob("*")) == ["a.csv", "a.xyz", "empty"]


def test_a_name_that_is_too_long_for_the_system_is_refused(capsys):
    assert "(File name too long). " in refused(capsys, "a" * 300 + ".csv")


def test_a_folder_that_is_missing_is_told_before_the_file_is_read(capsys):
    assert refused(capsys, "nothing.csv", "--db", "missing/a.db").startswith(
        "possibal: db must be in a folder that exists; got 'missing/a.db'. Make the folder first."
    )


def test_a_port_in_use_is_refused_before_anything_is_begun(capsys):
    table(Path("a.csv"))
    with socket.create_server(("127.0.0.1", 0)) as line:
        port = line.getsockname()[1]
        assert main.main(["label", "a.csv", "--port", str(port), "--no-browser"]) == 2
    out, err = capsys.readouterr()
    assert "Label at" not in out
    assert err.startswith(f"possibal: port must be free on 127.0.0.1; got {port} (")
    assert [path.name for path in Path().iterdir()] == ["a.csv"]


def test_a_campaign_of_a_later_version_is_refused(capsys):
    table(Path("a.csv"))
    visited(status, "a.csv")
    capsys.readouterr()
    with closing(connect("a.csv.possibal.db")) as other, other:
        other.execute("UPDATE facts SET value = '99' WHERE name = 'schema'")
    assert "got version 99. Update possibal" in refused(capsys, "a.csv")


# ---------------------------------------------------------------- in processes of their own
@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opening")
    table(folder / "a.csv")
    with Server("a.csv", "--classes", "yes,no", folder=folder) as made:
        made.folder = folder
        yield made


def wait_for_end_of(group: int) -> bool:
    """Whether all processes of a server end soon."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_second_server_for_the_same_campaign_is_refused(server):
    done = run("label", "a.csv", "--no-browser", folder=server.folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("possibal: db must not be in use; got 'a.csv.possibal.db'")
    assert httpx.get(server.base).status_code == 200


def test_ctrl_c_ends_everything_and_says_what_to_do_next(server):
    ann = server.person("ann")
    ann.say(ann.ask()["item"]["row"], "yes")
    said = server.stop()
    assert server.process.returncode == 0
    assert "1 of 40 rows have a label. Export them with possibal export" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert wait_for_end_of(server.process.pid)


def test_after_a_sudden_end_nothing_is_lost_and_nothing_is_left_running(server):
    for count, how in enumerate([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], start=1):
        with Server("a.csv", folder=server.folder) as again:
            assert f"Going on with {count} actions so far." in again.log.read_text()
            ben = again.person("ben")
            assert len(ben.get("history")["entries"]) == count
            ben.say(ben.ask()["item"]["row"], "no", next=False)
            again.process.send_signal(how)
            again.process.wait(PATIENCE)
            assert wait_for_end_of(again.process.pid)


def test_going_on_with_a_campaign_and_its_questions_load_no_scipy(tmp_path):
    path = table(tmp_path / "a.csv")
    begun = (
        "from pathlib import Path\nfrom possibal.data.ingest import SourceSpec, ingest_file\n"
        "from possibal.labelling.create import Options, create_campaign\n"
        f"rows = ingest_file(SourceSpec(Path({str(path)!r})), lambda *_: None)\n"
        "create_campaign('a.db', rows, Options()).close()\n"
    )
    asked = (
        "import sys\nfrom possibal.labelling.serving import serving\n"
        "from possibal.labelling.overview import Overview\n"
        "from possibal.labelling.read_model import ReadModel\n"
        "from possibal.labelling.storage.store import Store\n"
        "with Store.open('a.db') as store, serving(ReadModel(store)) as at:\n"
        "    while at.scheduler.ranking is None:\n"
        "        at.scheduler.await_ranking()\n"
        "    assert at.ask('Ann').sentence\n"
        "    assert at.scheduler.ranking.usual_distance > 0\n"
        "    assert Overview(at.read_model, at.scheduler).map()\n"
        "    sys.exit(', '.join({'scipy', 'sklearn'} & set(sys.modules)) or 0)\n"
    )
    for code in (begun, f"if __name__ == '__main__':\n{indent(asked, '    ')}"):
        done = run(folder=tmp_path, code=code)
        assert done.returncode == 0, done.stderr


def test_the_root_of_all_folders_has_no_name_to_keep_answers_by(capsys):
    assert "file must be a file, or a folder that has a name; got '/'." in refused(capsys, "/")


# ---------------------------------------------------------------- a class to find
def test_a_class_to_find_has_another_beside_it_and_stays_sought(capsys):
    table(Path("a.csv"))
    assert visited(status, "a.csv", "--find", "spam") == (0, 200)
    with Store.open("a.csv.possibal.db", writes=False) as store:
        assert (store.setup().find, store.setup().classes) == ("spam", ("spam", "not spam"))
    capsys.readouterr()
    assert main.main(["status", "a.csv.possibal.db", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sought"], found["recall"]) == ("spam", None)
    assert main.main(["status", "a.csv.possibal.db"]) == 0
    assert "recall" not in capsys.readouterr().out
    assert visited(status, "a.csv", "--find", "ham", "--classes", "spam") == (0, 200)
    said = "The rows of spam are sought, as when the campaign began."
    assert said in " ".join(capsys.readouterr().out.split())
    table(Path("b.csv"))
    said = refused(capsys, "b.csv", "--classes", "ham,spam", "--find", "spma")
    assert "find must be one of the classes, ham, spam; got 'spma'. Did you mean 'spam'?" in said
    assert not Path("b.csv.possibal.db").exists()
    assert visited(status, "b.csv", "--classes", "ham,spam") == (0, 200)
    assert visited(status, "b.csv", "--find", "spam") == (0, 200)
    assert "No class is sought, as when the campaign began." in capsys.readouterr().out
