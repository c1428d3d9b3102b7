"""What is kept between questions leads to the rows of a full scan, at every question."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from possibal import PossibilisticGPClassifier
from possibal.acquisition.registry import STRATEGIES
from possibal.gp.feature_maps import ColumnCosines, DiffusionColumns
from possibal.gp.rbf import FeatureRBF, SphericalRBF
from possibal.pool import cache
from possibal.pool.cache import PoolCache
from possibal.pool.pruning import PrunedScorer
from possibal.pool.top_k import TopK

FIXED = ConstantKernel(9.0) * RBF(1.5)
COMMON = ConstantKernel(9.0) * (RBF(1.5) + ConstantKernel(0.3, "fixed"))
COLUMNS = FeatureRBF(1.5, feature_map=ColumnCosines((0.1, 0.0, -0.3), 1.5, 1.0))
ADDITIVE = ConstantKernel(9.0) * (COLUMNS + ConstantKernel(0.3, "fixed"))
CLUSTERS = FeatureRBF(1.0, feature_map=DiffusionColumns(1, 1.0), is_spherical=True)
DIFFUSION = ConstantKernel(9.0) * (CLUSTERS + ConstantKernel(0.03, "fixed"))
SPHERE = ConstantKernel(9.0) * (SphericalRBF(1.0) + ConstantKernel(0.03, "fixed"))
SCORES = ["necessity", "uncertainty", "least_confidence"]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Blocks of few rows, so that there are several."""
    monkeypatch.setattr(cache, "BLOCK", 64)
    monkeypatch.setattr(cache, "STRIP", 24)
    monkeypatch.setattr(cache, "MOST", 60)
    monkeypatch.setattr(cache, "SLAB", 3)
    monkeypatch.setattr(cache, "SEEDS", 4)


def pool(seed=0, rows=150):
    X = np.random.default_rng(seed).normal(size=(rows, 3))
    return X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, 0)


def classifier(X, y, rows, kernel=FIXED, hyperparameters="fixed"):
    model = PossibilisticGPClassifier(kernel, hyperparameters=hyperparameters, classes=[0, 1])
    return model.fit(X[rows], y[rows]).posterior_


def asked(kept, posterior, strategy, aside, top=1):
    """The best rows, and how many were worked out."""
    scorer, top_k = PrunedScorer.of(posterior, STRATEGIES[strategy]), TopK(top)
    judged = kept.scan(posterior, scorer, top_k, np.array(sorted(aside), dtype=np.intp), 2)
    (found,) = top_k.best(scorer.utilities)
    return found.places.tolist(), judged


def expected(X, posterior, strategy, aside, top=1):
    """The same, by working out every row by itself."""
    utilities = PrunedScorer.of(posterior, STRATEGIES[strategy]).utilities(X)
    order = np.lexsort((np.arange(len(X)), -utilities))
    return [int(row) for row in order if row not in aside][:top]


@settings(deadline=None, max_examples=10)
@given(
    st.integers(0, 2**32),
    st.sampled_from(SCORES),
    st.sampled_from([0.0, 1e4, 3e4, 1e9]),
    st.sampled_from([FIXED, COMMON, SPHERE, ADDITIVE, DIFFUSION]),
)
def test_every_question_is_that_of_a_full_scan(seed, strategy, budget, kernel):
    X, y = pool(seed)
    X[50:60] = X[40:50]  # copies
    if kernel is SPHERE:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    kept, rows = PoolCache(X, budget), [0, 1, 2, 3]
    for _ in range(5):
        posterior = classifier(X, y, rows, kernel)
        found, _ = asked(kept, posterior, strategy, rows, top=3)
        assert found == expected(X, posterior, strategy, rows, top=3)
        assert kept.nbytes <= budget
        rows.append(found[0])


@pytest.mark.parametrize("kernel", [FIXED, COMMON], ids=["apart", "common"])
@pytest.mark.parametrize("strategy", SCORES)
def test_labels_may_go_again_and_others_come(strategy, kernel):
    X, y = pool()
    kept = PoolCache(X)
    for rows in (
        [0, 1, 2],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4],
        [0, 2, 9],
        [0, 2, 9, 10],
        [5, 6],
        [5, 6, 7],
    ):
        posterior = classifier(X, y, rows, kernel)
        assert asked(kept, posterior, strategy, rows)[0] == expected(X, posterior, strategy, rows)


def test_rows_alike_with_different_labels_share_what_is_kept():
    X, y = pool()
    X[5], y[5] = X[0], 1 - y[0]
    kept = PoolCache(X)
    for rows in ([0, 1, 5], [0, 1, 5, 2], [0, 1, 5, 2, 3]):
        posterior = classifier(X, y, rows)
        found = asked(kept, posterior, "uncertainty", rows)[0]
        assert found == expected(X, posterior, "uncertainty", rows)


def test_a_running_campaign_works_out_few_rows():
    X, y = pool(rows=4000)
    kept, rows = PoolCache(X), list(range(20))
    for number in range(5):
        posterior = classifier(X, y, rows)
        found, judged = asked(kept, posterior, "necessity", rows)
        rows += found
        if number > 1:
            assert judged < 0.1 * len(X)


@pytest.mark.parametrize("is_unit", [True, False])
def test_directions_are_kept_where_rows_have_length_one(is_unit):
    X, y = pool()
    if is_unit:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    kept, rows = PoolCache(X), [0, 1, 2, 3]
    for _ in range(4):
        posterior = classifier(X, y, rows, SPHERE)
        (found,), _ = asked(kept, posterior, "necessity", rows)
        assert [found] == expected(X, posterior, "necessity", rows)
        rows.append(found)
    assert bool(kept.nbytes) is is_unit


def test_directions_are_those_of_the_columns_that_the_rbf_reads():
    X, y = pool()
    X[:, :2] /= np.linalg.norm(X[:, :2], axis=1, keepdims=True)
    X[:, 2:] = np.sign(X[:, 2:])
    kept, rows = PoolCache(X), [0, 1, 2, 3]
    for _ in range(4):
        posterior = classifier(X, y, rows, DIFFUSION)
        (found,), _ = asked(kept, posterior, "necessity", rows)
        assert [found] == expected(X, posterior, "necessity", rows)
        rows.append(found)
    assert kept.nbytes


def test_other_features_begin_anew():
    (X, y), rows = pool(), [0, 1, 2, 3]
    kept = PoolCache(X)
    for kernel in (FIXED, FIXED, ADDITIVE, ADDITIVE, FIXED):
        posterior = classifier(X, y, rows, kernel)
        (found,), _ = asked(kept, posterior, "necessity", rows)
        assert [found] == expected(X, posterior, "necessity", rows)
    assert not kept.nbytes  # of a kernel that was asked for once


def test_nothing_is_kept_of_a_length_scale_that_is_asked_for_once():
    X, y = pool()
    kept = PoolCache(X)
    for length in (1.0, 1.1, 1.2):
        posterior = classifier(X, y, [0, 1, 2], ConstantKernel(9.0) * RBF(length))
        assert asked(kept, posterior, "necessity", [])[0] == expected(X, posterior, "necessity", [])
        assert kept.nbytes == 0


@pytest.mark.parametrize("strategy", ["necessity", "uncertainty", "bald"])
def test_other_kernels_several_settings_and_other_scores_are_served_too(strategy):
    X, y = pool()
    for kernel, way in ((ConstantKernel(4.0) * Matern(1.0), "fixed"), (None, "envelope")):
        kept = PoolCache(X)
        for _ in range(3):
            posterior = classifier(X, y, [0, 1, 2, 3, 4], kernel, way)
            found = asked(kept, posterior, strategy, [7])[0]
            assert found == expected(X, posterior, strategy, [7])


def test_settings_of_one_length_scale_share_its_correlations():
    X, y = pool()
    kept, rows = PoolCache(X), [0, 1, 2, 3, 4]
    sizes = []
    for _ in range(4):
        posterior = classifier(X, y, rows, ConstantKernel(9.0) * RBF(1.5, "fixed"), "envelope")
        assert len(posterior.prior) > 1
        found = asked(kept, posterior, "necessity", rows)[0]
        assert found == expected(X, posterior, "necessity", rows)
        sizes.append(kept.nbytes)
        rows += found
    lines, variances, rows_of_three = 6, 1, 3
    assert sizes[1] <= 150 * 4 * (lines + 2 * (2 + variances) + rows_of_three)


def test_what_no_longer_fits_is_dropped_those_that_are_not_asked_for_first():
    X, y = pool()
    kept = PoolCache(X, 4e4)
    for length in (1.0, 1.0, 2.0, 2.0):
        for last in (6, 7):
            rows = list(range(last))
            posterior = classifier(X, y, rows, ConstantKernel(9.0) * RBF(length))
            found = asked(kept, posterior, "uncertainty", rows)[0]
            assert found == expected(X, posterior, "uncertainty", rows)
            assert kept.nbytes <= 4e4


def test_as_labels_come_in_fewer_rows_fit():
    X, y = pool()
    kept, rows, sizes = PoolCache(X, 1e4), [0, 1, 2, 3], []
    for _ in range(9):
        posterior = classifier(X, y, rows)
        found = asked(kept, posterior, "uncertainty", rows)[0]
        assert found == expected(X, posterior, "uncertainty", rows)
        sizes.append(kept.nbytes)
        rows += found
    assert 0 < max(sizes) <= 1e4
    assert min(sizes[2:]) < max(sizes)


def test_of_a_pool_that_reaches_too_far_nothing_is_kept():
    X, y = pool()
    X[100] = 1e200
    kept = PoolCache(X)
    for _ in range(3):
        posterior = classifier(X, y, [0, 1, 2])
        assert asked(kept, posterior, "necessity", [])[0] == expected(X, posterior, "necessity", [])
        assert kept.nbytes == 0


def test_a_question_that_fails_half_way_leaves_nothing_half_known():
    X, y = pool()
    kept, rows = PoolCache(X), [0, 1, 2]

    class Broken(TopK):
        def offer(self, _found):
            raise RuntimeError("no")

    for _ in range(2):
        asked(kept, classifier(X, y, rows), "uncertainty", rows)
    assert kept.nbytes
    posterior = classifier(X, y, [*rows, 3])
    scorer = PrunedScorer.of(posterior, STRATEGIES["uncertainty"])
    with pytest.raises(RuntimeError, match="no"):
        kept.scan(posterior, scorer, Broken(1), np.empty(0, dtype=np.intp), 1)
    assert kept.nbytes == 0
    for _ in range(3):
        found = asked(kept, posterior, "uncertainty", rows)[0]
        assert found == expected(X, posterior, "uncertainty", rows)


def test_a_copy_elsewhere_begins_anew():
    X, y = pool()
    kept = PoolCache(X)
    for _ in range(2):
        asked(kept, classifier(X, y, [0, 1, 2]), "necessity", [])
    again = pickle.loads(pickle.dumps(kept))  # noqa: S301 - our own
    assert kept.nbytes > again.nbytes == 0
    posterior = classifier(X, y, [0, 1, 2])
    assert asked(again, posterior, "necessity", [])[0] == expected(X, posterior, "necessity", [])
