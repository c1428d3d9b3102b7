"""Ctrl-C, which only the process that a person started should hear."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from threading import current_thread, main_thread


@contextmanager
def interrupts_ignored() -> Generator[None]:
    """Processes started here never hear Ctrl-C: this one does, and stops them without a word."""
    if current_thread() is not main_thread():  # no other may say what happens on Ctrl-C
        yield
        return
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
