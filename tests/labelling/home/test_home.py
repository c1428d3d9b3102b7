"""Home from an upload to a campaign that is open, one task at a time."""

import time
from pathlib import Path
from threading import Event
from zipfile import ZipFile

import pytest
from support.served import PATIENCE, pictures, service_of, table

from possibal.data.source import SourceSpec
from possibal.errors import RefusedError
from possibal.labelling.create import Options
from possibal.labelling.home import home as module
from possibal.labelling.home.drafts import Draft
from possibal.labelling.home.home import STORE, CampaignSettings, Home, HomeTask, home_store
from possibal.labelling.home.hosting import HostedCampaign


@pytest.fixture(name="home")
def _home(tmp_path):
    with home_store(tmp_path) as store, Home(tmp_path, store, lambda _store, _file: None) as home:
        yield home


def ended(home: Home, task: HomeTask):
    """What came of a task."""
    until = time.monotonic() + PATIENCE
    while not home.task(task.key).is_done:
        assert time.monotonic() < until
        time.sleep(0.02)
    return task.result or task.trouble


def uploaded(home: Home, name: str, content: bytes) -> str:
    key = home.uploads.begin(name)
    home.uploads.add(key, name, 0, content)
    return key


def read(home: Home, name: str, content: bytes):
    """What is made of a file that was sent."""
    return ended(home, home.read(uploaded(home, name, content)))


def names(home: Home) -> list[str]:
    """The files in its folder, but for its own."""
    return sorted(path.name for path in home.folder.iterdir() if STORE not in path.name)


@pytest.fixture(scope="module", name="content")
def _content(tmp_path_factory):
    return table(tmp_path_factory.mktemp("a") / "a.csv").read_bytes()


def test_a_file_becomes_a_campaign_as_a_person_says(home, content):
    kept = read(home, "a.csv", content)
    assert ([one.name for one in kept.draft.columns], kept.campaign) == (["x0", "x1", "x2"], "")
    changed = home.change(kept.key, {"x2": "left out"})
    assert home.draft(kept.key) is changed
    settings = CampaignSettings(("yes", "no"), Options(people=2, check=5))
    opened = ended(home, home.start(kept.key, settings))
    assert isinstance(opened, HostedCampaign)
    setup = opened.service.setup
    assert (setup.classes, setup.people, setup.blind, setup.check) == (("yes", "no"), 2, True, 5)
    assert [kind for _, kind, _ in setup.columns] == ["number", "number", "left out"]
    (line,) = home.campaigns()
    assert (line.file, line.rows, line.labelled) == ("a.csv.possibal.db", 40, 0)
    with pytest.raises(RefusedError, match="Choose the file again"):
        home.draft(kept.key)
    again = read(home, "a.csv", content)
    assert (again.campaign, again.made) == ("a.csv.possibal.db", ())
    home.discard(again.key)
    assert (home.folder / "a.csv").exists()
    assert ended(home, home.open(line.file)) is opened


def test_what_cannot_be_read_leaves_nothing(home):
    assert "file must" in read(home, "a.csv", b"x,y\n1\n")
    assert "sound zip file" in read(home, "a.zip", b"no zip")
    assert names(home) == []


def test_what_nobody_wants_is_taken_away_with_what_was_unpacked(home, tmp_path_factory):
    folder = pictures(tmp_path_factory.mktemp("z") / "shades")
    packed = folder.with_suffix(".zip")
    with ZipFile(packed, "w") as pack:
        for path in folder.iterdir():
            pack.write(path, path.name)
    kept = read(home, "shades.zip", packed.read_bytes())
    assert len(names(home)) == 2
    home.discard(kept.key)
    home.discard(kept.key)
    assert names(home) == []


def test_what_a_page_that_was_closed_had_sent_is_gone_when_another_looks(home, monkeypatch):
    uploaded(home, "a.csv", b"x")
    assert len(names(home)) == 1
    monkeypatch.setattr("possibal.labelling.home.uploads.SILENCE", -1.0)
    assert home.campaigns() == []
    assert names(home) == []


def test_what_another_page_uses_stays(home, content):
    first, second = (read(home, "a.csv", content) for _ in range(2))
    assert ([path.name for path in first.made], second.made) == (["a.csv"], ())
    home.discard(first.key)
    assert names(home) == ["a.csv"]
    third = read(home, "b.csv", content)
    (home.folder / "b.csv.possibal.db").touch()  # begun by another page meanwhile
    home.discard(third.key)
    assert "b.csv" in names(home)


def test_settings_that_cannot_be_leave_the_draft(home, content):
    kept = read(home, "a.csv", content)
    settings = CampaignSettings(("yes", "no"), Options(check=30))
    assert "check must be at most 20" in ended(home, home.start(kept.key, settings))
    assert home.draft(kept.key) is kept
    assert names(home) == ["a.csv"]
    with pytest.raises(ValueError, match="columns must be"):
        home.change(kept.key, {"none": "text"})


def test_the_oldest_drafts_make_room_but_their_files_stay(home, monkeypatch):
    monkeypatch.setattr(module, "MOST_DRAFTS", 2)
    kept = [read(home, f"{name}.csv", f"x\n{n}\n2\n3".encode()) for n, name in enumerate("abc")]
    with pytest.raises(RefusedError):
        home.draft(kept[0].key)
    assert [home.draft(one.key) for one in kept[1:]] == kept[1:]
    assert names(home) == ["a.csv", "b.csv", "c.csv"]


def test_there_is_one_task_at_a_time_which_stops_when_home_is_closed(home, content, monkeypatch):
    begun = Event()

    def slow(_source: Path, tell):
        while True:
            begun.set()
            tell("reading", 0.5)
            time.sleep(0.01)

    monkeypatch.setattr(Draft, "read", slow)
    task = home.read(uploaded(home, "a.csv", content))
    assert begun.wait(PATIENCE)
    with pytest.raises(RefusedError, match="Something else is being done"):
        home.open("a.db")
    with pytest.raises(RefusedError, match="task must be the last one"):
        home.task("0" * 16)
    uploaded(home, "b.csv", content)
    home.close()
    assert (task.trouble, task.result, names(home)) == ("Stopped.", None, [])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_is_told_and_not_hidden(home, content, monkeypatch):
    def broken(_source: Path, _tell):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(Draft, "read", broken)
    task = home.read(uploaded(home, "a.csv", content))
    assert ended(home, task) == "This went wrong: division by zero."
    home.close()  # so that the thread has ended
    assert names(home) == []


def test_what_was_open_is_opened_again_for_pages_that_ask(tmp_path):
    wanted = SourceSpec(table(tmp_path / "a.csv"), classes=("yes", "no"))
    for name in ("a.db", "b.db"):
        with service_of(wanted, tmp_path / name):
            pass
    with home_store(tmp_path) as store:
        with Home(tmp_path, store, lambda _store, _file: None) as home:
            home.wake("a.db")
            ended(home, home.open("a.db"))
        with Home(tmp_path, store, lambda _store, _file: None) as again:
            again.wake("b.db")
            again.wake("a.db")
            again.wake("a.db")  # while it is at that
            until = time.monotonic() + PATIENCE
            while again.host.find("a.db") is None:
                assert time.monotonic() < until
                time.sleep(0.02)
            assert [one.file for one in again.host.campaigns] == ["a.db"]


def test_who_may_come_in_is_kept_with_the_folder_by_one_home_at_a_time(tmp_path):
    with home_store(tmp_path) as store:
        assert (tmp_path / STORE).exists()
        digest = store.setup().digest
        with pytest.raises(ValueError, match="another possibal has open"):
            home_store(tmp_path)
    with home_store(tmp_path) as again:
        assert again.setup().digest == digest
