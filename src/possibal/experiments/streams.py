"""Where draws come from: independent generators for every purpose of every run."""

from zlib import crc32

import numpy as np


def random_stream(seed: int, run: int, purpose: str) -> np.random.Generator:
    """An independent generator for one purpose of one run; strategies share it."""
    return np.random.default_rng([seed, run, crc32(purpose.encode())])
