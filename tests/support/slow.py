"""Which test files take longest."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
SLOW = [
    TESTS / name
    for name in (
        "system",
        "pool/test_dask_backend.py",
        "pool/test_cache.py",
        "labelling/storage/test_store.py",
        "labelling/storage/test_doctor.py",
        "labelling/test_ranker_process.py",
        "labelling/test_service.py",
        "experiments/engine/test_runner.py",
        "experiments/test_reproduce.py",
        "experiments/test_demo.py",
        "cli/test_experiments_session.py",
    )
]
"""Files and folders that take ten seconds or more."""


def is_slow(path):
    """Whether a test file is one of those that take longest."""
    return any(path.is_relative_to(slow) for slow in SLOW)
