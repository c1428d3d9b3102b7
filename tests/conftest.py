"""Settings that every test shares."""

import os
import signal

from hypothesis import HealthCheck, settings
from support.slow import is_slow

pytest_plugins = ["support.works_with"]

os.environ["MPLBACKEND"] = "Agg"  # subprocesses inherit it: no test needs a display
# Idle threads of OpenBLAS spin for some 2^26 cycles before they sleep. With more processes than
# cores that takes most of their time; 2^4 is the least it takes, and the threads stay as many.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in jobs that a shell put aside
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("default", derandomize=True, deadline=None, max_examples=50)
settings.register_profile(
    "nightly",
    deadline=None,
    max_examples=2000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest, so that no worker is left with one at the end."""
    items.sort(key=lambda item: not is_slow(item.path))
