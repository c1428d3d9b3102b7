"""Settings that every test shares."""

import os
import signal

from hypothesis import HealthCheck, settings

os.environ["MPLBACKEND"] = "Agg"  # subprocesses inherit it: no test needs a display

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
