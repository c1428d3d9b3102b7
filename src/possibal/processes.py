"""Context managers over process state: SIGINT ignored, garbage collector paused."""

import gc
import signal
from collections.abc import Generator
from contextlib import contextmanager
from threading import current_thread, main_thread


@contextmanager
def interrupts_ignored() -> Generator[None]:
    """SIGINT ignored, as processes started here inherit it: Ctrl-C reaches their parent alone."""
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
    """Garbage collector off while millions of objects are made and none is dropped."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
