"""Ctrl-C, which only the process that a person started should hear."""

import signal
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def interrupts_ignored() -> Generator[None]:
    """Processes started here never hear Ctrl-C: this one does, and stops them without a word."""
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
