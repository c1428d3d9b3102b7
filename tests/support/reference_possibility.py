"""Slow plain versions of the possibility calculus, and strategies that draw its values."""

from functools import cache

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from possibal.theory.gaussian import GaussianPossibility

unit = st.integers(-20, 20).map(lambda k: k / 10)


@cache  # a strategy is dear to build and cheap to keep
def tables(*shape, elements=None):
    """Arrays of a fixed shape, by default of tenths from -2 to 2."""
    scale, each = (0.1, st.integers(-20, 20)) if elements is None else (1.0, elements)
    return st.tuples(*[each] * int(np.prod(shape))).map(
        lambda numbers: scale * np.array(numbers, dtype=float).reshape(shape)
    )


def share(part):
    """Settings for a slower test: a part of the examples the profile asks for."""
    return settings(max_examples=max(1, int(settings().max_examples * part)))


@st.composite
def gaussians(draw, size=None):
    """A Gaussian on the whole space, given by its covariance."""
    n = draw(st.integers(1, 4)) if size is None else size
    mean = draw(tables(n))
    factor = draw(tables(n, n))
    return GaussianPossibility(mean, factor @ factor.T + 0.1 * np.eye(n))


@st.composite
def singular_gaussians(draw, size=3):
    """A Gaussian whose precision has a rank below its size, zero included."""
    rank = draw(st.integers(0, size - 1))
    factor = draw(tables(size, rank, elements=st.integers(-3, 3)))
    mean = draw(tables(size))
    return GaussianPossibility(mean, precision=factor @ factor.T)


def log_on_fibre(f, F, y):
    """Largest log f over F theta = y, by least squares in the free directions."""
    F = np.atleast_2d(F)
    start = np.linalg.lstsq(F, np.atleast_1d(y) - F @ f.mean, rcond=None)[0]
    _, s, vt = np.linalg.svd(F)
    free = vt[np.count_nonzero(s > 1e-12) :].T
    eigenvalues, vectors = np.linalg.eigh(f.precision)
    half = np.sqrt(eigenvalues.clip(0))[:, None] * vectors.T
    pull = half @ free
    pull[np.abs(pull) < 1e-12] = 0.0  # rounding would pass for a direction that counts
    z = np.linalg.lstsq(pull, -half @ start, rcond=1e-9)[0]
    return -0.5 * float(np.sum((half @ (start + free @ z)) ** 2))


def log_sup(log_f):
    """Largest value of a unimodal function of one number."""
    return -minimize_scalar(lambda t: -log_f(t), bracket=(-1.0, 1.0), tol=1e-13).fun


def skewed(theta):
    """A smooth coupled log possibility of three numbers that is not Gaussian; its mode is 0."""
    a, b, c = theta
    quadratic = a * a + b * b + c * c + 0.6 * a * b - 0.5 * b * c + 0.3 * a * c
    return -quadratic - (np.exp(0.3 * a) - 1 - 0.3 * a) - 0.05 * (a + b - c) ** 4
