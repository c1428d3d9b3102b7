"""Progress bar on standard error, with the time left; nobody sees one where no person watches.

with shares() as tell: tell("reading", 0.5)        with patient_shares() as tell: ...
announce("Starting.")
"""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import TypeAlias

StageProgress: TypeAlias = Callable[[str, float], None]
"""Callback that is given the stage, in words, and the share of all the work done, from 0 to 1."""
PATIENCE = 1.0
"""Seconds that work may take before a bar is worth its flicker."""


def no_stages(words: str, share: float) -> None:
    """A callback that does nothing."""


def announce(sentence: str) -> None:
    """Tell a person who is watching what begins now, before any of it is imported."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{sentence}\n")
        sys.stderr.flush()


@contextmanager
def bar(total: float) -> Generator[Callable[[str, float], None]]:
    """A bar with the time left, if a person is watching; it is told what was done, and how much."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    shown = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=shown, transient=True, disable=not shown.is_terminal
    ) as progress:
        task = progress.add_task("", total=total)

        def show(words: str, done: float) -> None:
            """Let the bar grow; new words are seen at once, however soon others follow."""
            is_new = words != progress.tasks[0].description
            progress.update(task, description=words, advance=done, refresh=is_new)

        yield show


@contextmanager
def shares() -> Generator[StageProgress]:
    """A bar that is told what is done, and the share of all that is done."""
    with bar(1.0) as show:
        last = 0.0

        def tell(words: str, share: float) -> None:
            """Let the bar grow by what came since; what is said begins its line."""
            nonlocal last
            show(words[:1].upper() + words[1:], max(0.0, share - last))
            last = max(last, share)

        yield tell


@contextmanager
def patient_shares() -> Generator[StageProgress]:
    """The same for work of which nobody knows how long it takes: no bar while that is short."""
    begun, tell = time.monotonic(), None
    with ExitStack() as stack:

        def tell_later(words: str, share: float) -> None:
            """Tell it once the work has taken a while."""
            nonlocal tell
            if tell is None and time.monotonic() - begun >= PATIENCE:
                tell = stack.enter_context(shares())
            if tell is not None:
                tell(words, share)

        yield tell_later
