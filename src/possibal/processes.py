"""What is not to come between: Ctrl-C where another process hears it, and the collector."""

import gc
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


@contextmanager
def collector_paused() -> Generator[None]:
    """While millions of things are made and none is dropped: looking for any takes long."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
