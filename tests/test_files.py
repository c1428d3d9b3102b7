import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import possibal
from possibal.files import (
    alone,
    check_not_read,
    check_place,
    folder,
    is_same,
    is_there,
    locked,
    part_of,
    write,
)

ELSEWHERE = os.environ.get("CI") != "true"
FULL = pytest.mark.skipif(ELSEWHERE and not Path("/dev/full").exists(), reason="needs /dev/full")
ROOT = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="nothing is read-only to this user"
)


LOCKS = pytest.mark.skipif(os.name != "posix", reason="needs locks of POSIX")
HERE = {**os.environ, "PYTHONPATH": str(Path(possibal.__file__).parents[1])}
IN_USE = (
    r"^out must not be in use; got '.*', where another process is at work\. "
    r"Wait for it, or choose another folder\.$"
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


# ---------------------------------------------------------------- one at a time
def assert_free(place: Path) -> None:
    """The folder can be had."""
    with alone(place, "out"):
        pass


@LOCKS
def test_a_folder_in_use_is_refused_until_it_is_let_go(tmp_path):
    with alone(tmp_path, "out"):
        for _ in range(2):
            with pytest.raises(ValueError, match=IN_USE):
                assert_free(tmp_path)
        assert names(tmp_path) == [".lock"]
    assert_free(tmp_path)


@LOCKS
def test_a_folder_is_let_go_if_the_work_in_it_fails(tmp_path):
    with pytest.raises(KeyError), alone(tmp_path, "out"):
        raise KeyError
    assert_free(tmp_path)


@LOCKS
def test_a_folder_beside_one_in_use_is_free(tmp_path):
    with alone(folder(tmp_path / "a", "out"), "out"):
        assert_free(folder(tmp_path / "b", "out"))


@LOCKS
def test_another_process_keeps_us_out_until_it_is_killed(tmp_path):
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom possibal.files import alone\n"
        "with alone(Path(sys.argv[1]), 'out'):\n    print('mine', flush=True)\n    time.sleep(99)"
    )
    line = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(line, env=HERE, stdout=subprocess.PIPE) as other:  # noqa: S603 - our own code
        try:
            assert other.stdout.readline() == b"mine\n"
            with pytest.raises(ValueError, match=IN_USE):
                assert_free(tmp_path)
        finally:
            other.kill()
    assert_free(tmp_path)


def test_where_the_system_knows_no_locks_nobody_is_kept_out(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with alone(tmp_path, "out"):
        assert_free(tmp_path)
    assert names(tmp_path) == []


# ---------------------------------------------------------------- one file, one process
def assert_locked(path: Path) -> None:
    """The file cannot be had."""
    with pytest.raises(ValueError, match=r"^not now$"), locked(path, "not now"):
        pass


@LOCKS
def test_a_locked_file_is_refused_in_the_words_that_were_given_until_it_is_let_go(tmp_path):
    path = tmp_path / "a.lock"
    with locked(path, "not now"):
        assert_locked(path)
        with locked(tmp_path / "b.lock", "not now"):
            assert_locked(path)
    with locked(path, "not now"):
        pass
    assert names(tmp_path) == ["a.lock", "b.lock"]


@LOCKS
def test_a_locked_file_is_let_go_if_the_work_fails(tmp_path):
    path = tmp_path / "a.lock"
    for _ in range(2):
        with pytest.raises(KeyError), locked(path, "not now"):
            raise KeyError


@LOCKS
def test_a_lock_where_no_file_can_be_made_fails_as_the_system_says(tmp_path):
    with pytest.raises(FileNotFoundError), locked(tmp_path / "no" / "a.lock", "not now"):
        pass
    assert names(tmp_path) == []


def test_where_the_system_knows_no_locks_a_file_is_not_even_made(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with locked(tmp_path / "a.lock", "not now"), locked(tmp_path / "a.lock", "not now"):
        pass
    assert names(tmp_path) == []


def test_a_file_without_its_folder_or_that_is_a_folder_is_refused(tmp_path):
    check_place(tmp_path / "a.csv", "to")
    with pytest.raises(ValueError, match=r"^to must be in a folder that exists; got .*a\.csv'\. "):
        check_place(tmp_path / "none" / "a.csv", "to")
    with pytest.raises(ValueError, match=r"^to must be a file; got the folder .*\. Name a file\."):
        check_place(tmp_path, "to")


def test_a_name_too_long_for_the_system_is_not_there(tmp_path):
    assert is_there(tmp_path)
    assert not is_there(tmp_path / "none")
    assert not is_there(tmp_path / ("a" * 300))


# ---------------------------------------------------------------- what is read
def test_a_file_is_the_same_by_any_of_its_names(tmp_path):
    path, link, name = (tmp_path / one for one in ("a", "link", "name"))
    path.touch()
    link.symlink_to(path)
    name.hardlink_to(path)
    assert all(is_same(path, one) for one in (path, link, name, tmp_path / ".." / path))
    (tmp_path / "b").touch()
    assert not is_same(path, tmp_path / "b")
    assert not is_same(path, tmp_path / "none")
    assert not is_same(tmp_path / "none", tmp_path / "none")


def test_what_is_read_is_not_written(tmp_path):
    path = tmp_path / "a"
    path.touch()
    check_not_read(path, "to", {"the input": None, "the other": tmp_path / "b"})
    with pytest.raises(ValueError, match=r"^to must not be the input; got '.*', which would be "):
        check_not_read(path, "to", {"the input": path})
