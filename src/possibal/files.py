"""Atomic writes by rename, advisory file locks, and places checked before long work."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Atomic write by rename: an interrupted write leaves what was there before."""
    part = part_of(path)
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            part.unlink()


def part_of(path: Path) -> Path:
    """The temporary file, in the same folder, that is renamed into place."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def folder(path: Path, argument: str) -> Path:
    """The folder, made if it is not there, if files can be written in it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        trial = part_of(path / "trial")
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise ValueError(
            f"{argument} must be a folder that can be written; got {str(path)!r} "
            f"({error.strerror}). Choose another."
        ) from None
    return path


def is_there(path: Path) -> bool:
    """Whether there is something of that name; a name too long for the system is none."""
    try:
        return path.exists()
    except OSError:
        return False


def check_place(path: Path, argument: str) -> None:
    """Refuse a file that cannot be written for want of its folder, or that is a folder itself."""
    if not path.parent.is_dir():
        raise ValueError(
            f"{argument} must be in a folder that exists; got {str(path)!r}. Make the folder first."
        )
    if path.is_dir():
        raise ValueError(f"{argument} must be a file; got the folder {str(path)!r}. Name a file.")


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file: by name, by a link, or by a second name of it."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return False


def check_not_read(path: Path, argument: str, inputs: Mapping[str, Path | None]) -> None:
    """Refuse to write over what is read, which would be lost.

    Args:
        path: where to write.
        argument: its name.
        inputs: what is read, by what it is called; None for what was not given.
    """
    for what, one in inputs.items():
        if one is not None and is_same(path, one):
            raise ValueError(
                f"{argument} must not be {what}; got {str(path)!r}, which would be lost. "
                "Choose another."
            )


@contextmanager
def alone(path: Path, argument: str) -> Generator[None]:
    """Exclusive advisory lock on a folder, held by one process at a time."""
    refusal = (
        f"{argument} must not be in use; got {str(path)!r}, where another process is at "
        "work. Wait for it, or choose another folder."
    )
    with locked(path / ".lock", refusal):
        yield


@contextmanager
def locked(path: Path, refusal: str) -> Generator[None]:
    """Exclusive advisory file lock (flock), not waited for; any other process gets the refusal.

    The system releases it when a process ends, however it ends. Where there is no flock, nobody
    is kept out.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(refusal) from None
        yield
