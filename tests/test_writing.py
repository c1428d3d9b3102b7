import os
import signal
from pathlib import Path

import pytest

from possibal.writing import folder, part_of, write

ELSEWHERE = os.environ.get("CI") != "true"
FULL = pytest.mark.skipif(ELSEWHERE and not Path("/dev/full").exists(), reason="needs /dev/full")
ROOT = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="nothing is read-only to this user"
)


def names(place: Path) -> list[str]:
    """What a folder holds."""
    return sorted(path.name for path in place.iterdir())


# ---------------------------------------------------------------- files
def test_a_file_has_the_new_content_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "a.txt"
    for content in (b"first\r\n\x00", b""):
        write(path, content)
        assert path.read_bytes() == content
        assert names(tmp_path) == ["a.txt"]


@FULL
def test_a_disk_that_fills_up_leaves_the_old_content(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    part_of(path).symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as e:
        write(path, b"new")
    assert e.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("name", ["no/a.txt", "file/a.txt", "n" * 255])
def test_the_error_names_the_file_that_was_asked_for(name, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r".") as e:
        write(tmp_path / name, b"new")
    assert e.value.filename == str(tmp_path / name)
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")
def test_ctrl_c_while_writing_leaves_the_old_content_alone(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    os.mkfifo(part_of(path))  # writing waits for a reader that never comes
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            write(path, b"new")
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


# ---------------------------------------------------------------- folders
def test_a_folder_is_made_with_those_above_it_and_stays_empty(tmp_path):
    place = tmp_path / "a" / "b"
    assert folder(place, "out") == place
    assert folder(place, "out") == place
    assert names(place) == []


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_is_a_file_is_refused(place, tmp_path):
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(
        ValueError, match=r"^out must be a folder that can be written; got '.*file.*' \(.+\)\. Cho"
    ):
        folder(tmp_path / place, "out")
    assert (tmp_path / "file").read_bytes() == b"mine"


@ROOT
def test_a_folder_that_is_read_only_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match=r"got '.*' \(Permission denied\)\. Choose another\.$"):
        folder(tmp_path, "out")
    tmp_path.chmod(0o700)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that nobody may fill")
def test_a_folder_where_no_file_can_be_made_is_refused_even_to_root():
    with pytest.raises(ValueError, match=r"^out must be a folder that can be written; got '/proc'"):
        folder(Path("/proc"), "out")
