"""Exclusive lock on a database file itself, whatever it is called and beside SQLite's own locks.

with locked_file(path, refusal): ...        is_locked(path)

An open file description lock (OFD) on one byte far beyond any that SQLite locks or writes. It goes
with the inode, so that links and other names lead to the same lock, and it ends with the process.
"""

import errno
import os
import struct
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

BYTE = 2**62
"""The byte that is locked; SQLite locks 512 bytes from 2**30 on, and no file is so long."""
IDLE = 32
"""Descriptors of files that are not locked any more, kept open at most."""
BUSY = frozenset([errno.EAGAIN, errno.EACCES])
"""What the system says where somebody else has the lock."""
IS_DARWIN = sys.platform == "darwin"
LAYOUT = "qqihh" if IS_DARWIN else "hhqqi4x"
"""Of C's struct flock."""
COMMANDS: tuple[int | None, int | None] = (
    getattr(fcntl, "F_OFD_SETLK", 90 if IS_DARWIN else None),
    getattr(fcntl, "F_OFD_GETLK", 92 if IS_DARWIN else None),
)
"""Set and look at an OFD lock; None where there are none. Python names them on Linux alone."""


class _Inode(NamedTuple):
    """A file, whatever its names; one to lock is open for writing, one to look at is not."""

    device: int
    number: int
    writes: bool


class _UnsupportedError(OSError):
    """A system, or a file system, that has no such locks."""


_guard = Lock()
_descriptors = dict[_Inode, int]()
"""Open files of this process. To close any descriptor of a file gives up all POSIX locks that the
process has on it, those of SQLite included: so there is one each, and it outlives its lock."""
_locked = set[_Inode]()
"""Files that this process has locked."""


@contextmanager
def locked_file(path: Path, refusal: str) -> Generator[None]:
    """Hold the lock of a file, made if it is not there; whoever comes second gets the refusal."""
    try:
        inode = _acquired(path, refusal)
    except _UnsupportedError:
        with _locked_beside(path, refusal):
            yield
        return
    try:
        yield
    finally:
        _release(inode)


def is_locked(path: Path) -> bool:
    """Whether this process or another holds the lock of a file; nothing is changed."""
    try:
        with _guard:
            inode = _opened(path, writes=False)
            if inode._replace(writes=True) in _locked:
                return True
            return _asked(COMMANDS[1], inode, _kind("F_WRLCK")) != _kind("F_UNLCK")
    except _UnsupportedError:
        return _is_locked_beside(path)


# ---------------------------------------------------------------- the file itself
def _acquired(path: Path, refusal: str) -> _Inode:
    """Lock a file; the inode that is locked is the one that the name leads to afterwards."""
    while True:
        with _guard:
            inode = _opened(path, writes=True)
            if inode in _locked:
                raise ValueError(refusal)
            try:
                _asked(COMMANDS[0], inode, _kind("F_WRLCK"))
            except OSError as error:
                if error.errno in BUSY:
                    raise ValueError(refusal) from None
                raise
            _locked.add(inode)
        with suppress(FileNotFoundError):
            if _inode_of(path.stat(), writes=True) == inode:
                return inode
        _release(inode)


def _release(inode: _Inode) -> None:
    """End a lock; its descriptor stays open."""
    with _guard:
        _asked(COMMANDS[0], inode, _kind("F_UNLCK"))
        _locked.discard(inode)


def _opened(path: Path, *, writes: bool) -> _Inode:
    """A file with its descriptor among those kept."""
    if None in COMMANDS:
        raise _UnsupportedError
    _forget()
    with suppress(FileNotFoundError):
        inode = _inode_of(path.stat(), writes=writes)
        if inode in _descriptors:
            return inode
    flags = os.O_RDWR | os.O_CREAT if writes else os.O_RDONLY
    descriptor = os.open(path, flags, 0o644)
    inode = _inode_of(os.fstat(descriptor), writes=writes)
    _descriptors.setdefault(inode, descriptor)
    return inode


def _forget() -> None:
    """Close the descriptors of files that are gone, and the oldest of too many."""
    idle = [inode for inode in _descriptors if inode not in _locked]
    gone = [inode for inode in idle if not os.fstat(_descriptors[inode]).st_nlink]
    for inode in dict.fromkeys([*gone, *idle[: max(0, len(idle) - IDLE)]]):
        os.close(_descriptors.pop(inode))


def _inode_of(found: os.stat_result, *, writes: bool) -> _Inode:
    """Which file this is."""
    return _Inode(found.st_dev, found.st_ino, writes)


def _kind(name: str) -> int:
    """A kind of lock, by its name in C."""
    return getattr(fcntl, name)


def _asked(command: int | None, inode: _Inode, kind: int) -> int:
    """The kind of lock that the system answers with to a command on our byte."""
    assert fcntl is not None  # noqa: S101 - there was a command
    assert command is not None  # noqa: S101 - as above
    given = (BYTE, 1, 0, kind, os.SEEK_SET) if IS_DARWIN else (kind, os.SEEK_SET, BYTE, 1, 0)
    try:
        said = fcntl.fcntl(_descriptors[inode], command, struct.pack(LAYOUT, *given))
    except OSError as error:
        if error.errno in BUSY:
            raise
        raise _UnsupportedError(error.errno, error.strerror) from None
    return struct.unpack(LAYOUT, said)[3 if IS_DARWIN else 0]


# ---------------------------------------------------------------- a file beside it
def lock_beside(path: Path) -> Path:
    """The lock file where the file itself cannot be locked: beside what links lead to."""
    real = path.resolve()
    return real.with_name(f".{real.name}.lock")


@contextmanager
def _locked_beside(path: Path, refusal: str) -> Generator[None]:
    """Hold a lock file (flock), which is gone afterwards; without flock nobody is kept out."""
    if fcntl is None:
        yield
        return
    lock = lock_beside(path)
    while True:
        with lock.open("wb") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(refusal) from None
            if not _is_in_place(lock, held.fileno()):
                continue  # whoever had it took it away just before
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)  # while it is ours, so that nobody else's is taken
            return


def _is_locked_beside(path: Path) -> bool:
    """Whether somebody holds a lock file."""
    lock = lock_beside(path)
    if fcntl is None or not lock.exists():
        return False
    with lock.open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _is_in_place(path: Path, descriptor: int) -> bool:
    """Whether a name still leads to an open file."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    return False
