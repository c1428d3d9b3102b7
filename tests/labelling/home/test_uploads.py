"""Files that browsers send: whole, or not at all, and never over what was there."""

import errno
import os
from pathlib import Path

import pytest

from possibal.errors import RefusedError
from possibal.labelling.home import uploads as module
from possibal.labelling.home.uploads import UploadFolder


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture
def uploads(folder):
    return UploadFolder(folder)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def sent(uploads: UploadFolder, name: str, content: bytes) -> module.KeptSource:
    """A file that was sent in pieces of four bytes."""
    key = uploads.begin(name)
    for at in range(0, max(1, len(content)), 4):
        uploads.add(key, name, at, content[at : at + 4])
    return uploads.finish(key)


def sent_folder(uploads: UploadFolder, name: str, files: dict[str, bytes]) -> module.KeptSource:
    key = uploads.begin(name, is_folder=True)
    for path, content in files.items():
        uploads.add(key, path, 0, content)
    return uploads.finish(key)


def test_pieces_become_a_file(uploads, folder):
    kept = sent(uploads, "a.csv", b"x,y\n1,2\n")
    assert (kept.path, kept.note, kept.is_new) == (folder / "a.csv", "", True)
    assert kept.path.read_bytes() == b"x,y\n1,2\n"
    assert names(folder) == ["a.csv"]


def test_nothing_is_shown_before_it_is_whole(uploads, folder):
    key = uploads.begin("a.csv")
    assert uploads.add(key, "a.csv", 0, b"x,y") == 3
    assert not (folder / "a.csv").exists()
    uploads.cancel(key)
    assert names(folder) == []
    uploads.cancel(key)  # once more does no harm


def test_a_piece_that_is_sent_again_does_no_harm(uploads):
    key = uploads.begin("a.csv")
    uploads.add(key, "a.csv", 0, b"abcd")
    uploads.add(key, "a.csv", 4, b"efgh")
    assert uploads.add(key, "a.csv", 4, b"efgh") == 8
    assert uploads.add(key, "a.csv", 0, b"abcd") == 8
    assert uploads.finish(key).path.read_bytes() == b"abcdefgh"


@pytest.mark.parametrize(("path", "at"), [("a.csv", 5), ("b.csv", 0)])
def test_a_piece_that_leaves_a_gap_or_is_of_another_file_is_refused(uploads, path, at):
    key = uploads.begin("a.csv")
    uploads.add(key, "a.csv", 0, b"abcd")
    with pytest.raises(RefusedError, match="Send what is missing"):
        uploads.add(key, path, at, b"x")


def test_another_file_of_that_name_is_never_written_over(uploads, folder):
    (folder / "a.csv.gz").write_bytes(b"mine")
    kept = sent(uploads, "a.csv.gz", b"yours")
    assert kept.path.name == "a-2.csv.gz"
    assert kept.note == "There is another a.csv.gz here, so this one is kept as a-2.csv.gz."
    assert (folder / "a.csv.gz").read_bytes() == b"mine"


def test_a_name_whose_campaign_is_there_is_taken(uploads, folder):
    (folder / "a.csv.possibal.db").touch()
    assert sent(uploads, "a.csv", b"yours").path.name == "a-2.csv"


def test_the_same_content_is_not_kept_twice(uploads, folder):
    sent(uploads, "a.csv", b"same")
    again = sent(uploads, "a.csv", b"same")
    assert (again.path.name, again.is_new) == ("a.csv", False)
    assert again.note == "a.csv was here already, with this content."
    assert sent(uploads, "a.csv", b"diff").path.name == "a-2.csv"  # of the same length
    assert names(folder) == ["a-2.csv", "a.csv"]


def test_a_name_that_leads_nowhere_is_taken_too(uploads, folder):
    (folder / "a.csv").symlink_to(folder / "gone")
    assert sent(uploads, "a.csv", b"mine").path.name == "a-2.csv"
    assert not (folder / "gone").exists()


def test_a_folder_of_pictures(uploads, folder):
    files = {"ants/1.png": b"1", "bees/2.JPG": b"2"}
    kept = sent_folder(uploads, "insects", files)
    assert kept.path == folder / "insects"
    assert (folder / "insects" / "ants" / "1.png").read_bytes() == b"1"
    assert not sent_folder(uploads, "insects", files).is_new
    other = sent_folder(uploads, "insects", {"ants/1.png": b"3", "bees/2.JPG": b"2"})
    assert other.path.name == "insects-2"
    assert names(folder) == ["insects", "insects-2"]


@pytest.mark.parametrize(
    "name", ["", " ", "../a.csv", "a/b.csv", "a\\b.csv", ".a.csv", "..", "a\n.csv", "a\x00.csv"]
)
def test_only_plain_names_are_taken(uploads, folder, name):
    with pytest.raises(RefusedError, match="plain name"):
        uploads.begin(name)
    assert names(folder) == []


@pytest.mark.parametrize("path", ["../1.png", "/1.png", "a/../../1.png", "a//1.png", ".a/1.png"])
def test_pictures_stay_in_their_folder(uploads, folder, path):
    key = uploads.begin("f", is_folder=True)
    with pytest.raises(RefusedError, match="plain name"):
        uploads.add(key, path, 0, b"1")
    uploads.close()
    assert names(folder) == []


def test_names_that_are_too_long_or_end_in_what_nothing_reads_are_refused(uploads):
    with pytest.raises(RefusedError, match="at most 180 bytes; got 204"):
        uploads.begin("ä" * 100 + ".csv")
    with pytest.raises(RefusedError, match=r"file must end in \.csv.*got 'a\.doc'"):
        uploads.begin("a.doc")
    assert uploads.begin("a.ZIP")
    key = uploads.begin("f", is_folder=True)
    with pytest.raises(RefusedError, match=r"pictures must end in .*got 'a\.csv'"):
        uploads.add(key, "a.csv", 0, b"1")


def test_what_holds_nothing_is_refused(uploads, folder):
    with pytest.raises(RefusedError, match="empty"):
        uploads.finish(uploads.begin("a.csv"))
    assert names(folder) == []


def test_what_another_process_left_is_taken_away(uploads, folder):
    uploads.add(uploads.begin("a.csv"), "a.csv", 0, b"x")
    assert len(names(folder)) == 1
    UploadFolder(folder)
    assert names(folder) == []


def test_whoever_falls_silent_is_given_up(uploads, folder, monkeypatch):
    key = uploads.begin("a.csv")
    monkeypatch.setattr(module, "SILENCE", -1.0)
    with pytest.raises(RefusedError, match="on its way"):
        uploads.add(key, "a.csv", 0, b"x")
    assert names(folder) == []


@pytest.mark.parametrize(
    ("code", "words"), [(errno.ENOSPC, "The disk is full"), (errno.EIO, "could not be kept")]
)
def test_a_disk_that_takes_no_more_leaves_nothing(uploads, folder, monkeypatch, code, words):
    key = uploads.begin("a.csv")
    uploads.add(key, "a.csv", 0, b"abcd")

    def fail(*_, **__):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", fail)
        with pytest.raises(RefusedError, match=words):
            uploads.add(key, "a.csv", 4, b"efgh")
    assert names(folder) == []
    key = uploads.begin("a.csv")
    uploads.add(key, "a.csv", 0, b"abcd")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(RefusedError, match=words):
            uploads.finish(key)
    assert names(folder) == []
