"""A clock that a test may put forward and back: Python reads this file before all else.

The seconds by which it is wrong stand in the file that POSSIBAL_SKEW names. libfaketime would do
the same for any program, but lets ``time.sleep`` fail where it leaves the monotonic clock alone.
"""

import os
import time
from pathlib import Path

SKEW = Path(os.environ["POSSIBAL_SKEW"])
_time_ns = time.time_ns


def _skewed_ns() -> int:
    """Nanoseconds since 1970 by the wrong clock."""
    return _time_ns() + int(SKEW.read_text() or 0) * 10**9


time.time_ns = _skewed_ns
time.time = lambda: _skewed_ns() / 1e9
