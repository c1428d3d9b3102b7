from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from possibal.experiments.datasets import load
from possibal.experiments.engine.batched_gp import (
    BatchedFit,
    PoolGeometry,
    RunBatch,
    condition,
    covariances,
    evidence_slopes,
)
from possibal.experiments.spec import Experiment, Sizes
from possibal.experiments.splits import split
from possibal.gp.hyperparameters import LEAST_CREDIBLE, DefaultKernel, problem
from possibal.gp.likelihoods import PROBIT, SOFTMAX
from possibal.gp.posterior import TrainingData

SIZES = Sizes(runs=3, queries=4, pool=30, test=25)
FIXED = np.log([6.0, 2.0])
SETTINGS = np.log([[6.0, 2.0], [2.0, 1.0], [20.0, 4.0], [6.0, 0.2]])

each_set = pytest.mark.parametrize("name", ["wine", "iris"])  # two labels, and three
each_theta = pytest.mark.parametrize("theta", [None, FIXED], ids=["distances", "covariances"])


def grounds_of(name, theta=None, runs=3):
    """The grounds of the first runs of a small experiment."""
    data = load(name)
    shares = [split(Experiment(name, "paper", "paper", SIZES), data, run) for run in range(runs)]
    return data, [PoolGeometry.of(share, data, theta) for share in shares]


def crowd_of(name, theta=None, told=3, runs=3):
    """A crowd that was told about a few rows."""
    data, grounds = grounds_of(name, theta, runs)
    common = 0.3 if theta is None else 0.0
    crowd = RunBatch.at_start(grounds, len(data.labels), SIZES.queries, theta, common)
    rng = np.random.default_rng(0)
    for _ in range(told):
        crowd = crowd.told(rng.integers(crowd.left.shape[1], size=len(crowd)))
    return crowd


def fit_of(crowd, thetas=SETTINGS):
    """A fit under settings that are the same for all trails, and were not equally credible."""
    thetas = thetas if crowd.theta is None else crowd.theta[None]
    theta = np.tile(thetas, (len(crowd), 1, 1))
    log_prior = np.tile(-0.3 * np.arange(len(thetas)), (len(crowd), 1))
    y = np.repeat(crowd.y, len(thetas), axis=0)
    mode = condition(crowd.link, crowd.covariances(crowd.lines, theta), y, None)
    return BatchedFit(crowd, theta, log_prior, mode)


def by_hand(fit, s):
    """The posterior of one trail from its rows and labels alone."""
    crowd = fit.crowd
    ground, known = crowd.grounds[s], crowd.known[s]
    X, codes = ground.share.X[ground.share.pool[known]], ground.pool[known]
    y, link = np.where(codes == 1, 1.0, -1.0)[None], PROBIT
    if crowd.labels > 2:
        y, link = np.array([codes == label for label in range(crowd.labels)], float), SOFTMAX
    data = TrainingData(X, y, np.ones((1, len(X))), link)
    return problem(None, data, own=DefaultKernel(common=crowd.common)).under(
        fit.theta[s], fit.log_prior[s]
    )


def rows_left(crowd, s):
    share = crowd.grounds[s].share
    return share.X[share.pool[crowd.left[s]]]


# ---------------------------------------------------------------- what is known


@each_set
def test_a_crowd_starts_with_one_row_of_each_label(name):
    data, grounds = grounds_of(name)
    crowd = RunBatch.at_start(grounds, len(data.labels), SIZES.queries)
    assert (len(crowd), crowd.n) == (3, len(data.labels))
    for ground, known, left in zip(grounds, crowd.known, crowd.left, strict=True):
        np.testing.assert_array_equal(ground.share.pool[known], ground.share.start)
        assert sorted([*known, *left]) == list(range(30))
        np.testing.assert_array_equal(left, np.sort(left))


@each_set
@each_theta
def test_a_row_told_moves_from_left_to_known(name, theta):
    before = crowd_of(name, theta, told=1)
    known, left = before.known.copy(), before.left.copy()
    after = before.told(np.array([0, 3, left.shape[1] - 1]))
    assert after.n == before.n + 1
    np.testing.assert_array_equal(after.known[:, :-1], known)
    np.testing.assert_array_equal(after.known[:, -1], [left[0, 0], left[1, 3], left[2, -1]])
    for s, (was, now) in enumerate(zip(left, after.left, strict=True)):
        np.testing.assert_array_equal(now, was[was != after.known[s, -1]])


@each_set
def test_lines_are_squared_distances_or_covariances_of_the_rows_known(name):
    crowd, fixed = crowd_of(name), crowd_of(name, FIXED)
    kernel = ConstantKernel(6.0) * RBF(2.0)
    for s in range(3):
        X = crowd.X(s)
        np.testing.assert_allclose(crowd.lines[s], cdist(X, X, "sqeuclidean"), atol=1e-12)
        np.testing.assert_allclose(fixed.lines[s], kernel(X), rtol=1e-12)


@pytest.mark.parametrize("common", [0.0, 0.3])
def test_covariances_are_those_of_a_constant_times_an_rbf(common):
    X, Z = np.random.default_rng(0).normal(size=(2, 5, 3))
    thetas = np.log([[[2.0, 0.5], [1.0, 3.0]]])
    found = covariances(cdist(X, Z, "sqeuclidean")[None], thetas, common)
    assert found.shape == (1, 2, 5, 5)
    for theta, K in zip(thetas[0], found[0], strict=True):
        amplitude, length = np.exp(theta)
        kernel = ConstantKernel(amplitude) * (RBF(length) + ConstantKernel(common))
        np.testing.assert_allclose(K, kernel(X, Z), rtol=1e-12)


def test_labels_are_read_as_the_link_reads_them():
    two, three = crowd_of("wine"), crowd_of("iris")
    assert (two.link, three.link) == (PROBIT, SOFTMAX)
    for crowd in (two, three):
        codes = np.array([g.pool[k] for g, k in zip(crowd.grounds, crowd.known, strict=True)])
        read = crowd.y[:, 0] > 0 if crowd is two else crowd.y.argmax(axis=1)
        np.testing.assert_array_equal(read, codes)
    assert set(np.unique(two.y)) == {-1.0, 1.0}
    np.testing.assert_array_equal(three.y.sum(axis=1), 1.0)


def test_a_ground_knows_the_labels_of_its_rows():
    data, (ground,) = grounds_of("iris", runs=1)
    np.testing.assert_array_equal(ground.pool, data.y[ground.share.pool])
    np.testing.assert_array_equal(ground.test, data.y[ground.share.test])
    assert ground.lines.shape == (30, 55)


# ---------------------------------------------------------------- agreement with one posterior


@each_set
@each_theta
def test_moments_of_the_rows_left_are_those_of_each_trails_own_posterior(name, theta):
    fit = fit_of(crowd_of(name, theta))
    mean, variance = fit.moments()
    for s in range(3):
        expected = by_hand(fit, s).moments(rows_left(fit.crowd, s))
        np.testing.assert_allclose(mean[s], expected[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(variance[s], expected[1], rtol=1e-9, atol=1e-9)


@each_set
@each_theta
def test_credibilities_are_those_of_each_trails_own_posterior(name, theta):
    fit = fit_of(crowd_of(name, theta))
    found = fit.credibility
    expected = np.array([by_hand(fit, s).credibility for s in range(3)])
    np.testing.assert_allclose(found, np.where(expected < LEAST_CREDIBLE, 0.0, expected), atol=1e-9)
    np.testing.assert_array_equal(found.max(axis=1), 1.0)


def test_a_setting_that_is_not_credible_counts_for_nothing():
    fit = fit_of(crowd_of("iris"))
    doubtful = replace(fit, log_prior=fit.log_prior + np.array([0.0, 0.0, -30.0, 0.0]))
    assert (doubtful.credibility[:, 2] == 0).all()
    assert all(len(doubtful.posterior(s).prior) == 3 for s in range(3))
    mean, variance = doubtful.moments()
    assert doubtful.belief(0, mean[0], variance[0]).mean.shape == (3, 30 - fit.crowd.n, 3)
    without = fit_of(fit.crowd, SETTINGS[[0, 1, 3]])
    kept = replace(without, log_prior=doubtful.log_prior[:, [0, 1, 3]])
    np.testing.assert_allclose(doubtful.accuracy(), kept.accuracy())


@each_set
@each_theta
def test_the_posterior_of_a_trail_is_its_own(name, theta):
    fit = fit_of(crowd_of(name, theta))
    for s in range(3):
        found, expected = fit.posterior(s), by_hand(fit, s)
        kept = np.flatnonzero(expected.credibility >= LEAST_CREDIBLE)
        expected = expected.part(kept)
        X = rows_left(fit.crowd, s)
        np.testing.assert_array_equal(found.data.X, expected.data.X)
        np.testing.assert_array_equal(found.data.y, expected.data.y)
        np.testing.assert_allclose(found.K, expected.K, rtol=1e-9)
        np.testing.assert_allclose(found.credibility, expected.credibility, rtol=1e-9)
        for one, other in zip(found.moments(X), expected.moments(X), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@each_set
@each_theta
def test_the_belief_of_a_trail_is_its_posteriors_the_most_credible_setting_first(name, theta):
    fit = fit_of(crowd_of(name, theta))
    mean, variance = fit.moments()
    for s in range(3):
        found = fit.belief(s, mean[s], variance[s])
        posterior = fit.posterior(s)
        order = np.argsort(-posterior.credibility)
        expected = posterior.part(order).at(rows_left(fit.crowd, s))
        assert found.leading == 0
        for part in ("mean", "variance", "credibility"):
            np.testing.assert_allclose(
                getattr(found, part), getattr(expected, part), rtol=1e-9, atol=1e-9
            )


@each_set
@each_theta
def test_accuracy_is_the_share_of_test_rows_that_the_posterior_guesses(name, theta):
    fit = fit_of(crowd_of(name, theta))
    accuracy = fit.accuracy()
    assert accuracy.shape == (3,)
    for s in range(3):
        ground = fit.crowd.grounds[s]
        p = fit.posterior(s).probability(ground.share.X[ground.share.test])
        assert accuracy[s] == (p.argmax(axis=1) == ground.test).mean()


def test_where_both_labels_are_as_probable_the_first_is_guessed():
    # Far from all rows known the mean is zero, and so is it here: no row is near another.
    fit = fit_of(crowd_of("wine", np.log([6.0, 1e-3])))
    ground = fit.crowd.grounds[0]
    asked = np.isin(ground.share.test, ground.share.pool[fit.crowd.known[0]])
    right = np.where(asked, True, ground.test == 0)  # noqa: FBT003 - a value
    assert fit.accuracy()[0] == right.mean()


def test_a_variance_does_not_fall_below_rounding():
    # Rows that all look alike and have both labels: what is left is lost in a huge amplitude.
    amplitude = 1e15
    _, variance = fit_of(crowd_of("wine", np.log([amplitude, 1e12]))).moments()
    np.testing.assert_allclose(variance, 1e-13 * amplitude, rtol=1e-9)


# ---------------------------------------------------------------- slopes


@each_set
def test_evidence_slopes_are_those_of_each_trails_own_posterior(name):
    crowd = crowd_of(name)
    for theta in SETTINGS[:3]:
        fit = fit_of(crowd, theta[None])
        found = evidence_slopes(fit.mode, crowd.lines, fit.theta[:, 0], crowd.common)
        for s in range(3):
            expected = by_hand(fit, s).evidence_slopes()[0]
            np.testing.assert_allclose(found[s], expected, rtol=1e-9, atol=1e-9)


@each_set
def test_evidence_slopes_agree_with_finite_differences(name):
    crowd, h = crowd_of(name), 1e-4

    def height(theta):
        return fit_of(crowd, theta[None]).mode.log_evidence

    theta = SETTINGS[0]
    mode, thetas = fit_of(crowd, theta[None]).mode, np.tile(theta, (3, 1))
    found = evidence_slopes(mode, crowd.lines, thetas, crowd.common)
    steps = h * np.eye(2)
    differences = [(height(theta + step) - height(theta - step)) / (2 * h) for step in steps]
    np.testing.assert_allclose(found, np.transpose(differences), rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------- in company


@each_set
@each_theta
def test_a_trail_learns_the_same_bits_alone_and_in_company(name, theta):
    crowd = crowd_of(name, theta)
    together = fit_of(crowd)
    for s in range(3):
        some = [s]
        alone = fit_of(
            replace(
                crowd,
                grounds=[crowd.grounds[s]],
                known=crowd.known[some],
                left=crowd.left[some],
                rows=crowd.rows[some],
            )
        )
        for one, other in zip(alone.moments(), together.moments(), strict=True):
            np.testing.assert_array_equal(one[0], other[s])
        np.testing.assert_array_equal(alone.credibility[0], together.credibility[s])
        assert alone.accuracy()[0] == together.accuracy()[s]
