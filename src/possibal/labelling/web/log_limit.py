"""Rate limit of log records: of those that begin alike, one line a second.

with limited_logs("uvicorn.error", "asyncio"): ...
"""

import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

PAUSE = 1.0
"""Seconds between lines that begin alike."""
ALIKE = 60
"""Characters in which lines must differ to count as others."""
MOST = 200
"""Beginnings that are remembered."""


class LogLimit(logging.Filter):
    """Lets one record of each kind through a second, as one line, with how many were left out.

    The traceback of a failure is shown once a kind and second too: it is what a bug is found by.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Let the first of each kind through."""
        super().__init__()
        self._now, self._seen = now, dict[tuple[str, str], tuple[float, int]]()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is to be written."""
        said = record.getMessage().strip().splitlines() or [""]
        kind, now = (record.name, said[0][:ALIKE]), self._now()
        last, left_out = self._seen.get(kind, (now - PAUSE, 0))
        if now - last < PAUSE:
            self._seen[kind] = last, left_out + 1
            return False
        if len(self._seen) >= MOST:
            self._seen.clear()
        self._seen[kind] = now, 0
        record.msg = f"{said[0]} ({left_out} more like this)" if left_out else said[0]
        record.args = None
        if record.name == "asyncio" and record.exc_info and _is_system(record.exc_info[1]):
            record.exc_info = None
        return True


def _is_system(error: BaseException | None) -> bool:
    """Whether the system refused something, which is no bug."""
    return isinstance(error, OSError)


@contextmanager
def limited_logs(*names: str) -> Generator[None]:
    """Limit what loggers write."""
    limit, loggers = LogLimit(), [logging.getLogger(name) for name in names]
    for logger in loggers:
        logger.addFilter(limit)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(limit)
