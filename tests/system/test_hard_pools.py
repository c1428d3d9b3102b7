"""Pools that break Gaussian processes elsewhere: whatever the rows, beliefs stay beliefs."""

import warnings
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from possibal import acquisition
from possibal.errors import FlatScoresWarning
from possibal.estimators.classifier import PossibilisticGPClassifier

FIXED = {"hyperparameters": "fixed"}


@dataclass
class Pool:
    """Rows with labels, rows to ask about, and the choices of a classifier."""

    X: np.ndarray
    y: np.ndarray
    asked: np.ndarray
    choices: dict = field(default_factory=dict)


def normal(n=30, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def by_first(X, classes=2):
    """Labels in equal shares that follow the first column."""
    return np.argsort(np.argsort(X[:, 0], kind="stable")) * classes // len(X)


def plain(n=30, d=2, classes=2, m=60, **choices):
    X = normal(n, d)
    return Pool(X, by_first(X, classes), normal(m, d, seed=1), choices)


def scaled(scale, classes=2, **choices):
    pool = plain(classes=classes)
    return Pool(scale * pool.X, pool.y, scale * pool.asked, choices)


def of_size(length, amplitude_sd, classes=2):
    kernel = ConstantKernel(amplitude_sd**2, "fixed") * RBF(length, "fixed")
    return plain(classes=classes, kernel=kernel, **FIXED)


def duplicated(classes=2, **choices):
    pool = plain(classes=classes)
    X, y = np.repeat(pool.X, 4, axis=0), np.repeat(pool.y, 4)
    return Pool(X, y, np.repeat(pool.asked[:20], 3, axis=0), choices)


def contradictory(classes=2, **choices):
    X = np.repeat(normal(10), 6, axis=0)
    return Pool(X, np.arange(60) % classes, normal(60, seed=1), choices)


def constant_column(value, classes=2):
    pool = plain(classes=classes)
    X, asked = (np.column_stack([z, np.full(len(z), value)]) for z in (pool.X, pool.asked))
    return Pool(X, pool.y, asked)


def all_equal(value, asked, **choices):
    return Pool(np.full((20, 2), value), np.arange(20) % 2, asked, choices)


def side_by_side(classes=2, **choices):
    units = np.array([1e-300, 1e300])
    pool = plain(classes=classes)
    return Pool(pool.X * units, pool.y, pool.asked * units, choices)


def nearly_singular(n, classes=2, **choices):
    """Rows within a billionth of each other."""
    X = 1.0 + 1e-9 * np.random.default_rng(0).uniform(size=(n, 2))
    asked = 1.0 + 1e-9 * np.random.default_rng(1).uniform(size=(60, 2))
    return Pool(X, by_first(X, classes), asked, choices)


def clusters(n, classes=2, **choices):
    """Three clumps, each with rows within a billionth of each other."""
    centre = np.arange(n)[:, None] % 3
    X = centre + 1e-9 * np.random.default_rng(0).uniform(size=(n, 2))
    return Pool(X, centre[:, 0] % classes, normal(60, seed=1), choices)


def rare(classes=2, **choices):
    X, y = normal(300), by_first(normal(300), classes - 1)
    y[7] = classes - 1
    return Pool(X, y, normal(60, seed=1), choices)


def separated(gap, **choices):
    """Two clumps that lie far apart."""
    X = normal(30) + gap * (np.arange(30)[:, None] % 2)
    return Pool(
        X, np.arange(30) % 2, normal(60, seed=1) + gap * (np.arange(60)[:, None] % 2), choices
    )


def few(n, classes=2, **choices):
    X = normal(n)
    named = np.arange(classes)
    return Pool(X, named[np.arange(n) % classes], normal(60, seed=1), {"classes": named, **choices})


def outlier(distance):
    pool = plain()
    pool.asked[0] = distance
    pool.X[0] = -distance
    return pool


WIDE = (1e-6, 1e6)
POOLS = {
    "duplicates": duplicated(),
    "duplicates-three-classes": duplicated(classes=3),
    "duplicates-evidence": duplicated(hyperparameters="evidence"),
    "contradictory": contradictory(),
    "contradictory-logistic": contradictory(link="logistic"),
    "contradictory-three-classes": contradictory(classes=3),
    "contradictory-evidence": contradictory(hyperparameters="evidence"),
    "constant-column-of-zeros": constant_column(0.0),
    "constant-column-of-1e9": constant_column(1e9),
    "constant-column-of-1e300-three-classes": constant_column(1e300, classes=3),
    "all-rows-equal": all_equal(3.0, np.full((20, 2), 3.0)),
    "all-rows-equal-but-those-asked": all_equal(3.0, normal(60)),
    "all-rows-equal-evidence": all_equal(0.0, normal(60), hyperparameters="evidence"),
    **{f"scale-{s:g}": scaled(s) for s in (1e-300, 1e-100, 1e100, 1e300)},
    **{
        f"scale-{s:g}-evidence-logistic": scaled(s, hyperparameters="evidence", link="logistic")
        for s in (1e-300, 1e300)
    },
    **{f"scale-{s:g}-three-classes": scaled(s, classes=3) for s in (1e-300, 1e300)},
    **{
        f"scale-{s:g}-kernel-of-length-one-{way}": scaled(s, kernel=RBF(1.0), hyperparameters=way)
        for s, way in product((1e-300, 1e300), ("evidence", "fixed"))
    },
    "scales-side-by-side": side_by_side(),
    "scales-side-by-side-three-classes": side_by_side(classes=3),
    "scales-side-by-side-ard": side_by_side(
        kernel=ConstantKernel(4.0) * RBF([1e-300, 1e300], "fixed"), **FIXED
    ),
    **{
        f"length-{length:g}-sd-{sd:g}": of_size(length, sd)
        for length, sd in product((1e-6, 1.0, 1e6), (1e-6, 1.0, 1e6))
    },
    **{
        f"length-{length:g}-sd-{sd:g}-three-classes": of_size(length, sd, classes=3)
        for length, sd in product((1e-6, 1e6), repeat=2)
    },
    **{f"{n}-sample": few(n) for n in (1, 2)},
    "1-sample-three-classes": few(1, classes=3),
    "2-samples-evidence-logistic": few(2, hyperparameters="evidence", link="logistic"),
    "nearly-singular": nearly_singular(1000, kernel=ConstantKernel(12.0) * RBF(1.0), **FIXED),
    "nearly-singular-own-scale": nearly_singular(1000),
    "nearly-singular-three-classes": nearly_singular(
        300, classes=3, kernel=ConstantKernel(12.0) * RBF(1.0), **FIXED
    ),
    "clusters": clusters(1000, **FIXED),
    "clusters-evidence": clusters(100, hyperparameters="evidence"),
    "clusters-three-classes": clusters(150, classes=3),
    "hundred-classes": plain(n=100, classes=100),
    "hundred-classes-fixed": plain(n=200, classes=100, **FIXED),
    "rare-class": rare(),
    "rare-class-logistic": rare(link="logistic"),
    "rare-class-of-three": rare(classes=3, **FIXED),
    "one-column": plain(d=1),
    "one-column-evidence-three-classes": plain(d=1, classes=3, hyperparameters="evidence"),
    "500-columns": plain(d=500),
    "500-columns-three-classes": plain(d=500, classes=3),
    "more-seen-than-asked": plain(n=300, m=11),
    "thousand-asked": plain(m=1000, link="logistic"),
    "far-apart": separated(1e12),
    "far-apart-evidence": separated(1e6, hyperparameters="evidence"),
    "outlier-of-1e300": outlier(1e300),
    "rough-kernel-of-any-size": plain(
        kernel=ConstantKernel(1e6, WIDE) * Matern(1e-6, WIDE, nu=0.5)
    ),
    "a-kernel-per-class": plain(
        classes=3,
        kernel=[RBF(1e-6, WIDE), RBF(1.0, WIDE), ConstantKernel(1e6, WIDE) * RBF(1e6, WIDE)],
    ),
}


def quietly(ask, *arguments):
    """What a call gives, and whether it said that scores are flat; nothing else may be said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ask(*arguments)
    categories = {warning.category for warning in caught}
    others = [w for w in caught if w.category not in (FlatScoresWarning, ConvergenceWarning)]
    assert not others, str(others[0])
    return found, FlatScoresWarning in categories


def assert_within_one(values):
    assert np.isfinite(values).all()
    assert values.min() >= 0.0
    assert values.max() <= 1.0


def test_there_are_sixty_hard_pools():
    assert len(POOLS) >= 60


@pytest.mark.parametrize("name", POOLS)
def test_a_hard_pool_is_believed_something_of(name):
    pool = POOLS[name]
    model = PossibilisticGPClassifier(**pool.choices)
    quietly(model.fit, pool.X, pool.y)
    belief, flat = quietly(model.belief, pool.asked)
    assert np.isfinite(belief.mean).all()
    assert np.isfinite(belief.variance).all()
    assert belief.variance.min() > 0.0
    for ask in (model.necessity, model.possibility, model.predict_proba):
        assert_within_one(quietly(ask, pool.asked)[0])
    uncertainty, _ = quietly(acquisition.uncertainty, belief)
    assert np.isfinite(uncertainty).all()
    assert uncertainty.min() >= 0.0
    assert 10 < len(pool.asked) <= 1000
    assert flat == (np.unique(acquisition.doubt(belief)).size < 0.1 * len(pool.asked))


@pytest.mark.parametrize("name", [name for name in POOLS if not name.startswith("hundred")])
def test_a_hard_pool_is_drawn_from(name):
    pool = POOLS[name]
    model = PossibilisticGPClassifier(**pool.choices)
    quietly(model.fit, pool.X, pool.y)
    draws, _ = quietly(model.sample_proba, pool.asked[:30], 2, 0)
    assert_within_one(draws)
    np.testing.assert_allclose(draws.sum(axis=2), 1.0, rtol=1e-9)
