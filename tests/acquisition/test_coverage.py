"""Joint strategies say what their formulas say, and behave as questions should."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from support.pools import LOCAL, CountingPosterior

from possibal import PossibilisticGPClassifier
from possibal.acquisition import coverage, lookahead
from possibal.acquisition.latents import (
    LatentMoments,
    rival_possibility,
)
from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.strategy import View
from possibal.gp.pending import PendingPosterior
from possibal.numerics import distances

WIDE = {name: s for name, s in STRATEGIES.items() if name not in {*LOCAL, "random"}}
each_strategy = pytest.mark.parametrize("strategy", WIDE.values(), ids=WIDE)
each_kind = pytest.mark.parametrize("labels", [2, 3])
APART = ConstantKernel(12.0) * RBF(1.0)  # rows have nothing in common


def rows(m, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 2))


@functools.cache
def posterior(labels=2, n=8, *, common=True):
    X = rows(n)
    y = np.digitize(X[:, 0], [-0.4, 0.4] if labels > 2 else [0.0])
    return PossibilisticGPClassifier(None if common else APART).fit(X, y).posterior_


def view(labels=2, m=12, source=None, **given):
    return View(posterior(labels) if source is None else source, rows(m, 5), **given)


# ---------------------------------------------------------------- slow references
def alike(x, z, X, reach=0.0):
    """How alike two rows are, pair by pair."""
    width = max(0.2 * distances.usual_distance(X), reach)
    return np.exp(-0.5 * (np.linalg.norm(x - z) / width) ** 2)


@each_kind
@pytest.mark.parametrize("m", [5, 12])  # the nearest far from each other, or near
@pytest.mark.parametrize(("n", "coming"), [(8, 0), (8, 3), (14, 0), (14, 3)])
def test_herding_is_the_coverage_that_a_row_adds_and_its_ambiguity(labels, m, n, coming):
    source, X, picked = PendingPosterior(posterior(labels, n)), rows(m, 5), rows(coming, 6)
    for x in picked:
        source = source.with_pending(x)
    found, seen = coverage.herding(View(source, X)), [*rows(n), *picked]
    nearest = [min(np.linalg.norm(x - z) for z in X if (x != z).any()) for x in X]
    reach = 0.6 * np.median(nearest)
    assert (reach > 0.2 * distances.usual_distance(X)) == (m == 5)
    latents = LatentMoments.of(source, X)
    p, rival = latents.probability, rival_possibility(latents)
    loss = (1 - (p**2).sum(axis=1)) ** (2 * min(n / 10, 1))
    for at, x in enumerate(X):
        stands = 0.0
        for other, z in enumerate(X):
            count = sum(alike(z, one, X) for one in X)
            covered = max(alike(z, one, X, reach) for one in seen)
            stands += loss[other] / np.sqrt(count) * max(alike(x, z, X, reach) - covered, 0)
        second, first = np.sort(p[at])[-2:]
        ambiguity = (1 - first + second) * rival[at]
        expected = np.log(stands * ambiguity ** (n / 10))
        assert found[at] == pytest.approx(expected, rel=1e-9, abs=1e-9)


# ---------------------------------------------------------------- what holds for all
@each_strategy
@given(seed=st.integers(0, 99))
def test_the_order_of_candidates_does_not_matter(strategy, seed):
    X, order = rows(9, seed), np.random.default_rng(seed).permutation(9)
    one = strategy(View(posterior(), X, reference=X))
    other = strategy(View(posterior(), X[order], reference=X))
    np.testing.assert_allclose(other, one[order], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("strategy", "labels", "common"),
    [
        *((name, 2, common) for name in WIDE for common in (False, True)),
        *((name, 3, False) for name in WIDE if name != "epig"),
        *((name, 3, True) for name in ("herding", "mocu")),
    ],
)
def test_a_row_whose_label_is_on_its_way_is_worth_less(strategy, labels, common):
    """No law for looking ahead under a softmax: surer latents may tell more about other labels.

    EPIG shows it, and with what rows have in common BEMPS and look_ahead do.
    """
    strategy, known = WIDE[strategy], posterior(labels, common=common)
    now = view(labels, source=known)
    first = strategy(now).argmax()
    after = PendingPosterior(known).with_pending(now.candidates[first])
    later = strategy(view(labels, source=after))
    assert later.argmax() != first
    assert later[first] < strategy(now)[first]


@each_strategy
def test_a_sample_stands_for_many_rows(strategy, monkeypatch):
    monkeypatch.setattr(lookahead, "REFERENCE", 30)
    monkeypatch.setattr(coverage, "COVERED", 30)
    many, X = rows(60, 7), rows(12, 5)
    draws = [
        strategy(View(posterior(), X, rng, reference=many))
        for rng in (np.random.default_rng(1), np.random.default_rng(1), np.random.default_rng(2))
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    same = [strategy(View(posterior(), X, reference=many)) for _ in range(2)]
    np.testing.assert_array_equal(*same)
    assert np.corrcoef(draws[0], strategy(View(posterior(), X, reference=many[:30])))[0, 1] > 0.3


@each_strategy
def test_rows_that_are_all_the_same_are_worth_the_same(strategy):
    X = np.repeat(rows(1, 3), 6, axis=0)
    assert np.ptp(strategy(View(posterior(), X))) == pytest.approx(0.0, abs=1e-9)


@each_strategy
def test_a_posterior_that_knows_no_covariances_is_refused(strategy):
    with pytest.raises(TypeError, match=r"^posterior must have joint covariances"):
        strategy(View(CountingPosterior(), rows(3)))


@each_kind
@pytest.mark.parametrize("strategy", coverage.REWEIGHED_BY_PENDING)
@given(seed=st.integers(0, 99))
def test_no_row_is_worth_more_for_the_others_of_its_batch(strategy, labels, seed):
    X, reference = rows(9, seed), rows(12, seed + 1)
    some = np.flatnonzero(np.random.default_rng(seed).random(9) < 0.5)
    all_of_them = strategy(View(posterior(labels), X, reference=reference))
    found = strategy(View(posterior(labels), X[some], reference=reference))
    np.testing.assert_allclose(found, all_of_them[some], rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- herding
def test_herding_covers_first_and_doubts_later():
    heap, edge = rows(40, 1) * 0.1 + [3.0, 3.0], np.array([[0.02, -0.5]])
    X = np.concatenate([heap, edge])  # a heap that nothing is known of, and a row between classes
    few = PossibilisticGPClassifier().fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1])
    assert coverage.herding(View(few.posterior_, X)).argmax() < 40
    known = np.concatenate([rows(60, 2) * 0.3 + [s, 0.0] for s in (-1.2, 1.2)])
    many = PossibilisticGPClassifier().fit(np.vstack([known, heap[:3]]), [0] * 60 + [1] * 63)
    assert coverage.herding(View(many.posterior_, X)).argmax() == 40


def test_a_crowd_counts_less_than_its_rows():
    crowd, few = np.zeros((50, 2)), np.array([[4.0, 0.0], [4.1, 0.0]])
    X = np.vstack([crowd, few])
    among, near = cdist(X, X), distances.near_duplicate_width(X)
    counts = coverage.density_weights(among, near)
    assert counts[:50].sum() == pytest.approx(np.sqrt(50), rel=1e-6)
