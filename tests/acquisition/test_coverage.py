"""Joint strategies say what their formulas say, and behave as questions should."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from support.pools import LOCAL, CountingPosterior
from support.reference import length_power, shrunk_lengths

from possibal import PossibilisticGPClassifier
from possibal.acquisition import coverage, lookahead
from possibal.acquisition.coverage import LengthShrinkage
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
    return PossibilisticGPClassifier("rbf" if common else APART).fit(X, y).posterior_


def view(labels=2, m=12, source=None, **given):
    return View(posterior(labels) if source is None else source, rows(m, 5), **given)


# ---------------------------------------------------------------- slow references
def alike(x, z, width):
    """How alike two rows are, pair by pair."""
    return np.exp(-0.5 * (np.linalg.norm(x - z) / width) ** 2)


@each_kind
@pytest.mark.parametrize("m", [5, 24])  # the nearest far from each other, or near
@pytest.mark.parametrize(("n", "coming"), [(8, 0), (8, 3), (14, 0), (14, 3)])
def test_herding_is_the_coverage_that_a_row_adds_and_its_ambiguity(labels, m, n, coming):
    source, X, picked = PendingPosterior(posterior(labels, n)), rows(m, 5), rows(coming, 6)
    for x in picked:
        source = source.with_pending(x)
    found, seen = coverage.herding(View(source, X)), [*rows(n), *picked]
    nearest = [min(np.linalg.norm(x - z) for z in X if (x != z).any()) for x in X]
    reach = 0.9 * np.median(nearest)
    narrow = 0.2 * distances.usual_distance(X)
    width = max(narrow, reach)
    assert (reach > narrow) == (m == 5)
    latents = LatentMoments.of(source, X)
    p, rival = latents.probability, rival_possibility(latents)
    loss = (1 - (p**2).sum(axis=1)) ** (2 * min(n / 10, 1))
    for at, x in enumerate(X):
        stands = 0.0
        for other, z in enumerate(X):
            count = sum(alike(z, one, narrow) for one in X)
            covered = max(alike(z, one, width) for one in seen)
            stands += loss[other] / np.sqrt(count) * max(alike(x, z, width) - covered, 0)
        second, first = np.sort(p[at])[-2:]
        ambiguity = (1 - first + second) * rival[at]
        expected = np.log(stands * ambiguity ** (n / 10))
        assert found[at] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def spread_rows(m, columns=6, seed=5):
    """Rows of several columns that vary unequally, off the origin."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, columns)) * np.arange(1, columns + 1) + 3.0


@pytest.mark.parametrize("columns", [1, 2, 3, 6, 20])
def test_lengths_are_shrunk_by_the_effective_dimension(columns):
    X = spread_rows(30, columns)
    found = LengthShrinkage.of(X)
    power = length_power(X)
    assert found.power == pytest.approx(power, abs=1e-12)
    assert (power > 0) == (columns > 2)
    for row, shrunk in zip(X, found.apply(X), strict=True):
        apart = (row - X.mean(axis=0)) / found.unit
        np.testing.assert_allclose(shrunk, apart / np.linalg.norm(apart) ** power, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", None])
def test_in_many_columns_herding_covers_by_rows_of_shrunk_length(kernel):
    X, known = spread_rows(15), spread_rows(8, seed=6)
    source = PossibilisticGPClassifier(kernel).fit(known, known[:, 5] > 3.0).posterior_
    found, (there, had) = coverage.herding(View(source, X)), map(source.coordinates, (X, known))
    assert (there.shape == X.shape) == (kernel == "rbf")  # else in the geometry of the kernel
    power = length_power(there)
    shrunk, seen = (shrunk_lengths(rows, there, power) for rows in (there, had))
    nearest = [min(np.linalg.norm(x - z) for z in shrunk if (x != z).any()) for x in shrunk]
    narrow = 0.2 * distances.usual_distance(shrunk)
    width, latents = max(narrow, 0.9 * np.median(nearest)), LatentMoments.of(source, X)
    p, rival = latents.probability, rival_possibility(latents)
    loss = (1 - (p**2).sum(axis=1)) ** (2 * 0.8)
    for at, x in enumerate(shrunk):
        stands = 0.0
        for other, z in enumerate(shrunk):
            count = sum(alike(z, one, narrow) for one in shrunk)
            covered = max(alike(z, one, width) for one in seen)
            stands += loss[other] / np.sqrt(count) * max(alike(x, z, width) - covered, 0)
        ambiguity = (1 - np.ptp(np.sort(p[at])[-2:])) * rival[at]
        assert found[at] == pytest.approx(np.log(stands * ambiguity**0.8), rel=1e-9, abs=1e-9)


@given(
    seed=st.integers(0, 99),
    columns=st.integers(1, 12),
    scale=st.floats(1e-3, 1e3),
    shift=st.floats(-100, 100),
)
def test_shrinkage_does_not_depend_on_units_place_or_axes(seed, columns, scale, shift):
    X = spread_rows(10, columns, seed)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(columns, columns)))[0]
    moved = (X @ turn) * scale + shift
    one, two = LengthShrinkage.of(X), LengthShrinkage.of(moved)
    assert 0.0 <= one.power < 1.0
    assert two.power == pytest.approx(one.power, abs=1e-7)
    apart = [cdist(s.apply(Z), s.apply(Z)) for s, Z in ((one, X), (two, moved))]
    np.testing.assert_allclose(apart[0] / apart[0].max(), apart[1] / apart[1].max(), atol=1e-5)


@given(seed=st.integers(0, 99))
def test_a_longer_row_stays_longer_and_keeps_its_direction(seed):
    X = spread_rows(12, 8, seed)
    found = LengthShrinkage.of(X)
    apart, shrunk = (X - found.centre) / found.unit, found.apply(X)
    before, after = (np.linalg.norm(rows, axis=1) for rows in (apart, shrunk))
    np.testing.assert_array_equal(np.argsort(before), np.argsort(after))
    np.testing.assert_allclose(apart / before[:, None], shrunk / after[:, None], rtol=1e-9)
    assert after.max() / after.min() < before.max() / before.min()


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e200])
def test_shrinkage_has_no_numbers_beyond_all_numbers(size):
    X = spread_rows(9, 5) * size
    found = LengthShrinkage.of(X)
    assert np.isfinite(found.apply(X)).all()
    assert found.power == pytest.approx(length_power(spread_rows(9, 5)) if size else 0.0)
    np.testing.assert_array_equal(found.apply(found.centre[None]), 0.0)


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
