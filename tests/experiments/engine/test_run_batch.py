from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.experiments.datasets import load
from possibal.experiments.engine.run_batch import Method, PoolGeometry, RunBatch
from possibal.experiments.spec import Experiment, Sizes
from possibal.experiments.splits import split
from possibal.gp.batch import envelope
from possibal.gp.feature_maps import NO_FEATURES, ColumnCosines, DiffusionColumns
from possibal.gp.hyperparameters import (
    COMMON,
    COMMON_DIRECTIONS,
    LEAST_CREDIBLE,
    DefaultKernel,
    problem,
)
from possibal.gp.likelihoods import PROBIT, SOFTMAX
from possibal.gp.posterior import TrainingData
from possibal.gp.rbf import NO_LEVEL, Level
from possibal.numerics.distances import RIGHT_ANGLE

SIZES = Sizes(runs=3, queries=4, pool=30, test=25)
FIXED = np.log([6.0, 2.0])
SETTINGS = np.log([[6.0, 2.0], [2.0, 1.0], [20.0, 4.0], [6.0, 0.2]])

each_set = pytest.mark.parametrize("name", ["wine", "iris"])  # two labels, and three
each_theta = pytest.mark.parametrize("theta", [None, FIXED], ids=["distances", "covariances"])


def geometries_of(name, theta=None, runs=3, metric="euclidean"):
    """The geometries of the first runs of a small experiment."""
    data = replace(load(name), metric=metric)
    splits = [split(Experiment(name, "paper", "paper", SIZES), data, run) for run in range(runs)]
    return data, [PoolGeometry.of(one, data, theta) for one in splits]


def runs_of(name, theta=None, labels=3, runs=3, metric="euclidean"):
    """Runs that were given a few labels."""
    data, geometries = geometries_of(name, theta, runs, metric)
    level = NO_LEVEL if theta is not None else Level(0.3, is_spherical=metric == "cosine")
    batch = RunBatch.at_start(geometries, len(data.labels), SIZES.queries, theta, level)
    rng = np.random.default_rng(0)
    for _ in range(labels):
        batch = batch.with_labels(rng.integers(batch.left.shape[1], size=len(batch)))
    return batch


def under(thetas, log_prior):
    """Inference under settings that are the same for all runs."""

    def infer(batch, _):
        R = len(batch)
        return batch.under(np.tile(thetas, (R, 1)), np.tile(log_prior, R))

    return Method(infer)


def fit_of(runs, thetas=SETTINGS, log_prior=None):
    """A fit under settings that were not equally credible."""
    return runs.fit(
        under(thetas, -0.3 * np.arange(len(thetas)) if log_prior is None else log_prior)
    )


def by_hand(fit, r):
    """The posterior of one run from its rows and labels alone."""
    runs = fit.runs
    geometry, known = runs.geometries[r], runs.known[r]
    X, codes = geometry.split.rows[geometry.split.pool[known]], geometry.pool[known]
    y, link = np.where(codes == 1, 1.0, -1.0)[None], PROBIT
    if runs.labels > 2:
        y, link = np.array([codes == label for label in range(runs.labels)], float), SOFTMAX
    data = TrainingData(X, y, np.ones((1, len(X))), link)
    thetas = runs.theta[None] if runs.theta is not None else SETTINGS
    log_prior = fit.posterior.log_prior.reshape(len(runs), -1)[r]
    own = DefaultKernel(level=runs.level, features=geometry.features)
    return problem(None, data, own=own).under(thetas, log_prior)


def rows_left(runs, r):
    rows = runs.geometries[r].split
    return rows.rows[rows.pool[runs.left[r]]]


# ---------------------------------------------------------------- what is known


@each_set
def test_a_batch_starts_with_one_row_of_each_label(name):
    data, geometries = geometries_of(name)
    runs = RunBatch.at_start(geometries, len(data.labels), SIZES.queries)
    assert (len(runs), runs.n) == (3, len(data.labels))
    for geometry, known, left in zip(geometries, runs.known, runs.left, strict=True):
        np.testing.assert_array_equal(geometry.split.pool[known], geometry.split.start)
        assert sorted([*known, *left]) == list(range(30))
        np.testing.assert_array_equal(left, np.sort(left))


@each_set
@each_theta
def test_a_labelled_row_moves_from_left_to_known(name, theta):
    before = runs_of(name, theta, labels=1)
    known, left = before.known.copy(), before.left.copy()
    after = before.with_labels(np.array([0, 3, left.shape[1] - 1]))
    assert after.n == before.n + 1
    np.testing.assert_array_equal(after.known[:, :-1], known)
    np.testing.assert_array_equal(after.known[:, -1], [left[0, 0], left[1, 3], left[2, -1]])
    for s, (was, now) in enumerate(zip(left, after.left, strict=True)):
        np.testing.assert_array_equal(now, was[was != after.known[s, -1]])


@each_set
def test_lines_are_squared_distances_or_covariances_of_the_rows_known(name):
    runs, fixed = runs_of(name), runs_of(name, FIXED)
    kernel = ConstantKernel(6.0) * RBF(2.0)
    for s in range(3):
        X = runs.X(s)
        np.testing.assert_allclose(
            runs.lines_to(runs.known).squares[s], cdist(X, X, "sqeuclidean"), atol=1e-12
        )
        found = fixed.lines_to(fixed.known).squares[s]
        np.testing.assert_allclose(found, kernel(X), rtol=1e-12)


def test_labels_are_read_as_the_link_reads_them():
    two, three = runs_of("wine"), runs_of("iris")
    assert (two.link, three.link) == (PROBIT, SOFTMAX)
    for runs in (two, three):
        codes = np.array([g.pool[k] for g, k in zip(runs.geometries, runs.known, strict=True)])
        read = runs.y[:, 0] > 0 if runs is two else runs.y.argmax(axis=1)
        np.testing.assert_array_equal(read, codes)
    assert set(np.unique(two.y)) == {-1.0, 1.0}
    np.testing.assert_array_equal(three.y.sum(axis=1), 1.0)


def test_directions_are_as_far_apart_as_right_angles():
    _, (geometry,) = geometries_of("iris", runs=1, metric="cosine")
    assert geometry.usual_distance == RIGHT_ANGLE
    assert geometry.lines.squares.max() <= 4.0 + 1e-12


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_a_run_has_what_the_default_kernel_adds_to_the_rbf(metric):
    data = replace(load("wine"), metric=metric)
    one = Experiment("wine", "held-out", "envelope", replace(SIZES, pool=80))
    geometry = PoolGeometry.of(split(one, data, 0), data, None, plain=False)
    share, known = geometry.split, geometry.split.X[geometry.split.pool]
    kind = DiffusionColumns if metric == "cosine" else ColumnCosines
    assert isinstance(geometry.features, kind)
    rows = geometry.features.features(share.rows)
    expected = rows[share.pool] @ rows[np.concatenate([share.pool, share.test])].T
    np.testing.assert_allclose(geometry.lines.inner[0], expected, atol=1e-12)
    if metric == "euclidean":
        np.testing.assert_allclose(geometry.features.centre, known.mean(axis=0))
    model = PossibilisticGPClassifier(
        metric=metric,
        diffusion=share.diffusion.shape[1] or None,
        usual_distance=geometry.usual_distance,
        centre=geometry.split.rows[share.pool].mean(axis=0),
    )
    level = COMMON if metric == "euclidean" else COMMON_DIRECTIONS
    runs = RunBatch.at_start([geometry], len(data.labels), SIZES.queries, None, level)
    fit = runs.with_labels(np.array([3])).fit(Method(envelope))
    known = fit.runs.known[0]
    model.fit(share.rows[share.pool[known]], data.y[share.pool[known]])
    (found,), X = [fit.posterior_of(0)], share.rows[share.test]
    order = np.argsort(-found.credibility, kind="stable")
    for one_of, other in zip(
        found.part(order).moments(X), model.posterior_.moments(X), strict=True
    ):
        np.testing.assert_allclose(one_of, other, rtol=1e-7, atol=1e-9)


def test_directions_without_a_graph_have_an_rbf_alone():
    data = replace(load("wine"), metric="cosine")
    one = Experiment("wine", "held-out", "envelope", SIZES)
    geometry = PoolGeometry.of(split(one, data, 0), data, None, plain=False)
    assert geometry.features is NO_FEATURES
    assert geometry.lines.inner is None


def test_a_geometry_knows_the_labels_of_its_rows():
    data, (geometry,) = geometries_of("iris", runs=1)
    np.testing.assert_array_equal(geometry.pool, data.y[geometry.split.pool])
    np.testing.assert_array_equal(geometry.test, data.y[geometry.split.test])
    assert geometry.lines.squares.shape == (1, 30, 55)


# ---------------------------------------------------------------- agreement with one posterior


@each_set
@pytest.mark.parametrize(
    ("theta", "metric"), [(None, "euclidean"), (FIXED, "euclidean"), (None, "cosine")]
)
def test_moments_of_the_rows_left_are_those_of_each_runs_own_posterior(name, theta, metric):
    fit = fit_of(runs_of(name, theta, metric=metric))
    mean, variance = fit.moments()
    for s in range(3):
        expected = by_hand(fit, s).moments(rows_left(fit.runs, s))
        np.testing.assert_allclose(mean[s], expected[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(variance[s], expected[1], rtol=1e-9, atol=1e-9)


@each_set
@each_theta
def test_credibilities_are_those_of_each_runs_own_posterior(name, theta):
    fit = fit_of(runs_of(name, theta))
    found = fit.posterior.credibility
    expected = np.array([by_hand(fit, s).credibility for s in range(3)])
    np.testing.assert_allclose(found, np.where(expected < LEAST_CREDIBLE, 0.0, expected), atol=1e-9)
    np.testing.assert_array_equal(found.max(axis=1), 1.0)


def test_a_setting_that_is_not_credible_counts_for_nothing():
    fit = fit_of(runs_of("iris"))
    log_prior = np.array([0.0, -0.3, -30.0, -0.9])
    doubtful = fit_of(fit.runs, SETTINGS, log_prior)
    assert (doubtful.posterior.credibility[:, 2] == 0).all()
    assert all(len(doubtful.posterior_of(s).prior) == 3 for s in range(3))
    mean, variance = doubtful.moments()
    assert doubtful.belief(0, mean[0], variance[0]).mean.shape == (3, 30 - fit.runs.n, 3)
    kept = fit_of(fit.runs, SETTINGS[[0, 1, 3]], log_prior[[0, 1, 3]])
    np.testing.assert_allclose(doubtful.accuracy(), kept.accuracy())


@each_set
@each_theta
def test_the_posterior_of_a_run_is_its_own(name, theta):
    fit = fit_of(runs_of(name, theta))
    for s in range(3):
        found, expected = fit.posterior_of(s), by_hand(fit, s)
        kept = np.flatnonzero(expected.credibility >= LEAST_CREDIBLE)
        expected = expected.part(kept)
        X = rows_left(fit.runs, s)
        np.testing.assert_array_equal(found.data.X, expected.data.X)
        np.testing.assert_array_equal(found.data.y, expected.data.y)
        np.testing.assert_allclose(found.K, expected.K, rtol=1e-9)
        np.testing.assert_allclose(found.credibility, expected.credibility, rtol=1e-9)
        for one, other in zip(found.moments(X), expected.moments(X), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@each_set
@each_theta
def test_the_belief_of_a_run_is_its_posteriors_the_most_credible_setting_first(name, theta):
    fit = fit_of(runs_of(name, theta))
    mean, variance = fit.moments()
    for s in range(3):
        found = fit.belief(s, mean[s], variance[s])
        posterior = fit.posterior_of(s)
        order = np.argsort(-posterior.credibility)
        expected = posterior.part(order).at(rows_left(fit.runs, s))
        assert found.leading == 0
        for part in ("mean", "variance", "credibility"):
            np.testing.assert_allclose(
                getattr(found, part), getattr(expected, part), rtol=1e-9, atol=1e-9
            )


@each_set
@each_theta
def test_accuracy_is_the_share_of_test_rows_that_the_posterior_guesses(name, theta):
    fit = fit_of(runs_of(name, theta))
    accuracy = fit.accuracy()
    assert accuracy.shape == (3,)
    for s in range(3):
        geometry = fit.runs.geometries[s]
        p = fit.posterior_of(s).probability(geometry.split.X[geometry.split.test])
        assert accuracy[s] == (p.argmax(axis=1) == geometry.test).mean()


def test_where_both_labels_are_as_probable_the_first_is_guessed():
    # Far from all rows known the mean is zero, and so is it here: no row is near another.
    fit = fit_of(runs_of("wine", np.log([6.0, 1e-3])))
    geometry = fit.runs.geometries[0]
    asked = np.isin(geometry.split.test, geometry.split.pool[fit.runs.known[0]])
    right = np.where(asked, True, geometry.test == 0)  # noqa: FBT003 - a value
    assert fit.accuracy()[0] == right.mean()


def test_a_variance_does_not_fall_below_rounding():
    # Rows that all look alike and have both labels: what is left is lost in a huge amplitude.
    amplitude = 1e15
    _, variance = fit_of(runs_of("wine", np.log([amplitude, 1e12]))).moments()
    np.testing.assert_allclose(variance, 1e-13 * amplitude, rtol=1e-9)


# ---------------------------------------------------------------- in company


@each_set
@each_theta
def test_a_run_learns_the_same_bits_alone_and_in_company(name, theta):
    runs = runs_of(name, theta)
    together = fit_of(runs)
    for s in range(3):
        some = [s]
        alone = fit_of(
            replace(
                runs,
                geometries=[runs.geometries[s]],
                known=runs.known[some],
                left=runs.left[some],
                lines=runs.lines.part(np.array(some)),
            )
        )
        for one, other in zip(alone.moments(), together.moments(), strict=True):
            np.testing.assert_array_equal(one[0], other[s])
        np.testing.assert_array_equal(
            alone.posterior.credibility[0], together.posterior.credibility[s]
        )
        assert alone.accuracy()[0] == together.accuracy()[s]
