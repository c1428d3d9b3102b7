"""Files put in place all at once, and folders checked before long work."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Put the content in place all at once: an interrupted write leaves what was there before."""
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
    """Where a file is written before it is moved into place."""
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


@contextmanager
def alone(path: Path, argument: str) -> Generator[None]:
    """The folder to ourselves, as long as no other process of ours holds it."""
    refusal = (
        f"{argument} must not be in use; got {str(path)!r}, where another process is at "
        "work. Wait for it, or choose another folder."
    )
    with locked(path / ".lock", refusal):
        yield


@contextmanager
def locked(path: Path, refusal: str) -> Generator[None]:
    """A file that only one process holds; any other gets the refusal.

    The system lets go of it when a process ends, however it ends. Where it knows no such locks,
    nobody is kept out.
    """
    try:
        fcntl = import_module("fcntl")
    except ImportError:
        yield
        return
    with path.open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(refusal) from None
        yield
