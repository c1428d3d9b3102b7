import numpy as np
import pytest
from scipy.spatial.distance import cdist

from possibal.gp import hyperparameters
from possibal.gp.batch import ProblemBatch, conditioned, envelope, evidence
from possibal.gp.feature_maps import NO_FEATURES, ColumnCosines
from possibal.gp.hyperparameters import (
    COMMON,
    COMMON_DIRECTIONS,
    LEAST_CREDIBLE,
    LENGTH_SHARE,
    DefaultKernel,
    problem,
)
from possibal.gp.likelihoods import PROBIT, SOFTMAX
from possibal.gp.posterior import TrainingData
from possibal.gp.rbf import NO_LEVEL, RowPairs
from possibal.numerics.distances import RIGHT_ANGLE, usual_distance

FIXED = np.log([6.0, 2.0])
each_number = pytest.mark.parametrize("labels", [2, 3])
each_inference = pytest.mark.parametrize(
    "infer", [envelope, evidence], ids=["envelope", "evidence"]
)


class Growing:
    """Problems whose rows are labelled one after the other."""

    def __init__(self, labels, rows=20, *, level=NO_LEVEL, seed=0, additive=False):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(3, rows, 2))
        score = self.X[..., 0] + 0.5 * rng.normal(size=(3, rows))
        self._labelled(score, labels, level)
        if additive:
            self.features = [
                ColumnCosines((0.1 * r, 0.0), LENGTH_SHARE * distance, 0.5)
                for r, distance in enumerate(self.distance)
            ]

    @classmethod
    def waves(cls, labels, level=NO_LEVEL):
        """Problems of which the second is a wave, far shorter than the usual distance."""
        found = cls(labels, rows=70, level=level)
        found.X = np.random.default_rng(5).uniform(-3, 3, (3, 70, 1))
        score = found.X[..., 0].copy()
        score[1] = np.sin(6.0 * score[1])
        found._labelled(score, labels, level)
        return found

    def _labelled(self, score, labels, level):
        """Give the rows labels by their scores."""
        codes = np.digitize(score, [0.0] if labels == 2 else [-0.5, 0.5])
        codes[:, :labels] = np.arange(labels)
        self.y = np.where(codes == 1, 1.0, -1.0)[:, None]
        self.link, self.level = PROBIT, level
        if labels > 2:
            self.y = (np.arange(labels)[:, None] == codes[:, None]).astype(float)
            self.link = SOFTMAX
        self.features = [NO_FEATURES] * len(self.X)
        self.distance = np.array([usual_distance(X) for X in self.X])
        if level.is_spherical:
            self.X /= np.linalg.norm(self.X, axis=2, keepdims=True)
            self.distance[:] = RIGHT_ANGLE

    def after(self, n, some=slice(None)):
        """The problems with n labels each."""
        pairs = self._pairs(n, slice(n), some)
        y, distance = self.y[some, :, :n], self.distance[some]
        return ProblemBatch(pairs, y, distance, self.link, self.level, features=self.features[0])

    def lines(self, n, some=slice(None)):
        """Pairs of the labelled rows with the others."""
        return self._pairs(n, slice(n, None), some)

    def _pairs(self, n, others, some):
        """Pairs of the first rows of each problem with others."""
        squares = [cdist(X[:n], X[others], "sqeuclidean") for X in self.X[some]]
        features = [f.features(X) for f, X in zip(self.features, self.X, strict=True)]
        inner = np.array([f[:n] @ f[others].T for f in features])[some]
        return RowPairs(np.array(squares), None if self.features[0] is NO_FEATURES else inner)

    def walked(self, infer, n, some=slice(None)):
        """What is learnt label by label."""
        fit = None
        for count in range(max(4, n - 12), n + 1):
            fit = infer(self.after(count, some), fit)
        return fit

    def alone(self, r, n):
        """One problem as an estimator has it."""
        data = TrainingData(self.X[r, :n], self.y[r, :, :n], np.ones((1, n)), self.link)
        own = DefaultKernel(level=self.level, features=self.features[r])
        return problem(None, data, distance=self.distance[r], own=own)


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)


# ---------------------------------------------------------------- given settings
@each_number
@pytest.mark.parametrize("n", [4, 12])
@pytest.mark.parametrize(
    ("level", "additive"),
    [(NO_LEVEL, False), (COMMON, False), (COMMON_DIRECTIONS, False), (COMMON, True)],
)
def test_the_posterior_of_each_problem_is_its_own(labels, n, level, additive):
    problems = Growing(labels, level=level, additive=additive)
    thetas = np.log([[6.0, 2.0], [2.0, 1.0], [20.0, 4.0]])
    log_prior = np.array([0.0, -0.5, -0.1])
    fit = problems.after(n).under(np.tile(thetas, (3, 1)), np.tile(log_prior, 3))
    mean, variance = fit.moments(problems.lines(n))
    probability = fit.probability(problems.lines(n))
    np.testing.assert_array_equal(fit.means(problems.lines(n)), mean)
    for r in range(3):
        expected = problems.alone(r, n).under(thetas, log_prior)
        X = problems.X[r, n:]
        assert_same((mean[r], variance[r]), expected.moments(X))
        np.testing.assert_allclose(fit.log_evidence[3 * r : 3 * r + 3], expected.log_evidence)
        np.testing.assert_allclose(fit.credibility[r], expected.credibility, rtol=1e-8)
        rows = (
            probability[r] if labels > 2 else np.concatenate([1 - probability[r], probability[r]])
        )
        np.testing.assert_allclose(rows.T, expected.probability(X), rtol=1e-8)


@each_number
def test_covariances_may_be_given_in_place_of_distances(labels):
    problems, n = Growing(labels), 8
    one = problems.after(n)
    fit = one.under(np.tile(FIXED, (3, 1)))
    given = conditioned(fit.K[:, 0], one.y, one.link, fit.variance)
    lines = problems.lines(n)
    for found, expected in zip(
        given.moments(RowPairs(fit.covariances(lines))), fit.moments(lines), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(given.credibility, 1.0)


@each_number
@pytest.mark.parametrize("additive", [False, True])
def test_slopes_of_the_evidence_agree_with_finite_differences(labels, additive):
    one, h = Growing(labels, level=COMMON, additive=additive).after(9), 1e-4

    def height(theta):
        return one.under(np.tile(theta, (3, 1))).log_evidence

    found = one.under(np.tile(FIXED, (3, 1))).evidence_slopes(one.pairs)
    expected = [(height(FIXED + e) - height(FIXED - e)) / (2 * h) for e in h * np.eye(2)]
    np.testing.assert_allclose(found, np.transpose(expected), rtol=1e-5, atol=1e-6)


def test_a_variance_does_not_fall_below_rounding():
    # Rows that all look alike and have both labels: what is left is lost in a huge amplitude.
    problems, amplitude = Growing(2), 1e15
    fit = problems.after(6).under(np.tile(np.log([amplitude, 1e12]), (3, 1)))
    np.testing.assert_allclose(fit.moments(problems.lines(6))[1], 1e-13 * amplitude, rtol=1e-9)


def test_newton_starts_where_it_ended_one_label_before():
    problems = Growing(2)
    before = problems.after(6).under(np.tile(FIXED, (3, 1)))
    start = before.start(7)
    np.testing.assert_array_equal(start[..., :6], before.mode.a)
    np.testing.assert_array_equal(start[..., 6:], 0.0)
    anew, went_on = (
        problems.after(7).under(np.tile(FIXED, (3, 1)), None, s) for s in (None, start)
    )
    np.testing.assert_allclose(anew.mode.g, went_on.mode.g, rtol=1e-7, atol=1e-8)
    assert went_on.mode.steps.sum() <= anew.mode.steps.sum()


# ---------------------------------------------------------------- envelope
@each_number
@pytest.mark.parametrize("n", [4, 5, 12])
def test_the_envelope_is_that_of_each_problem_by_itself(labels, n):
    problems = Growing(labels, level=COMMON)
    fit = problems.walked(envelope, n)
    mean, variance = fit.moments(problems.lines(n))
    for r in range(3):
        expected = hyperparameters.envelope(problems.alone(r, n))
        kept = np.flatnonzero(fit.credibility[r])
        assert len(expected.prior) == len(kept) >= 1
        np.testing.assert_allclose(fit.credibility[r, kept], expected.credibility, rtol=1e-8)
        assert_same((mean[r, kept], variance[r, kept]), expected.moments(problems.X[r, n:]))


@each_number
def test_an_envelope_far_from_the_rule_of_thumb_is_that_of_its_problem_alone(labels):
    problems, n = Growing.waves(labels, level=COMMON), 64
    fit = problems.walked(envelope, n)
    mean, variance = fit.moments(problems.lines(n))
    centre = problems.after(n).hyperprior.centre[:, 1]
    best = fit.prior.thetas[:, 1].reshape(3, -1)[np.arange(3), fit.credibility.argmax(axis=1)]
    np.testing.assert_array_equal(best < centre - 1.0, [False, True, False])
    for r in range(3):
        expected = hyperparameters.envelope(problems.alone(r, n))
        kept = np.flatnonzero(fit.credibility[r])
        assert len(expected.prior) == len(kept) >= 1
        np.testing.assert_allclose(fit.credibility[r, kept], expected.credibility, rtol=1e-6)
        found = mean[r, kept], variance[r, kept]
        for one, other in zip(found, expected.moments(problems.X[r, n:]), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_a_setting_that_is_no_longer_credible_counts_for_nothing():
    problems, thetas = Growing(3), np.log([[6.0, 2.0], [2.0, 1.0]])
    fit = problems.after(8).under(np.tile(thetas, (3, 1)), np.tile([0.0, -30.0], 3))
    without = problems.after(8).under(np.tile(thetas[0], (3, 1)))
    assert np.exp(-25) < LEAST_CREDIBLE
    np.testing.assert_array_equal(fit.credibility, np.tile([1.0, 0.0], (3, 1)))
    lines = problems.lines(8)
    np.testing.assert_allclose(fit.probability(lines), without.probability(lines), rtol=1e-12)


# ---------------------------------------------------------------- evidence
def heights(problems, fit, n):
    """Log evidence plus log hyperprior of the setting that each problem has come to."""
    return fit.log_evidence + problems.after(n).hyperprior.log(fit.prior.thetas)


@each_number
@pytest.mark.parametrize("n", [4, 7, 12, 16])
@pytest.mark.parametrize("seed", [0, 5])
def test_the_evidence_is_as_high_as_a_search_from_nothing_finds(labels, n, seed):
    # All but the first search start from the setting of one label before.
    problems = Growing(labels, seed=seed)
    found = heights(problems, problems.walked(evidence, n), n)
    for r in range(3):
        best = hyperparameters.evidence(problems.alone(r, n))
        assert found[r] >= (best.log_evidence + best.log_prior)[0] - 1e-5


@each_number
def test_a_search_that_goes_on_ends_where_a_new_one_does(labels):
    problems = Growing(labels)
    went_on, anew = problems.walked(evidence, 10), evidence(problems.after(10), None)
    np.testing.assert_allclose(
        heights(problems, went_on, 10), heights(problems, anew, 10), atol=1e-3
    )
    np.testing.assert_allclose(went_on.prior.thetas, anew.prior.thetas, atol=0.05)
    assert went_on.inverse.shape == (3, 2, 2)
    np.testing.assert_array_equal(went_on.credibility, 1.0)


# ---------------------------------------------------------------- in company
@each_number
@each_inference
def test_a_problem_is_fitted_to_the_same_bits_alone_and_in_company(labels, infer):
    problems = Growing(labels)
    together, alone = problems.walked(infer, 8), problems.walked(infer, 8, slice(1))
    np.testing.assert_array_equal(
        alone.prior.thetas, together.prior.part(np.arange(len(alone.prior))).thetas
    )
    for one, other in zip(
        alone.moments(problems.lines(8, slice(1))), together.moments(problems.lines(8)), strict=True
    ):
        np.testing.assert_array_equal(one[0], other[0])


def test_the_hyperprior_of_each_problem_follows_its_own_distance():
    one = Growing(2).after(5)
    for r, distance in enumerate(one.distance):
        alone = hyperparameters.default_hyperprior(float(distance))
        np.testing.assert_array_equal(one.hyperprior.centre[r], alone.centre)
        np.testing.assert_array_equal(
            one.hyperprior.settings()[5 * r : 5 * r + 5], alone.settings()
        )


@each_number
def test_the_evidence_leaps_to_a_peak_far_from_where_it_was(labels):
    problems, n = Growing.waves(labels), 64
    found = heights(problems, problems.walked(evidence, n), n)
    for r in range(3):
        best = hyperparameters.evidence(problems.alone(r, n))
        assert found[r] >= (best.log_evidence + best.log_prior)[0] - 1e-3
