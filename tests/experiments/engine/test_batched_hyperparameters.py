import numpy as np
import pytest

from possibal.experiments.datasets import load
from possibal.experiments.engine.batched_gp import PoolGeometry, RunBatch
from possibal.experiments.engine.batched_hyperparameters import WAYS, envelope, evidence, fixed
from possibal.experiments.spec import HYPERPARAMETERS, Experiment, Sizes
from possibal.experiments.splits import split
from possibal.gp import hyperparameters
from possibal.gp.hyperparameters import LEAST_CREDIBLE, problem

SIZES = Sizes(runs=3, queries=12, pool=40, test=20)
FIXED = np.log([6.0, 2.0])

each_set = pytest.mark.parametrize("name", ["wine", "iris"])  # two labels, and three


def started(name, theta=None, runs=3, seed=0):
    """A crowd that knows one row of each label."""
    data = load(name)
    experiment = Experiment(name, "held-out", "paper", SIZES, seed)
    shares = [split(experiment, data, run) for run in range(runs)]
    grounds = [PoolGeometry.of(share, data, theta) for share in shares]
    return RunBatch.at_start(grounds, len(data.labels), SIZES.queries, theta)


def walked(way, crowd, steps):
    """What a crowd has learnt by a way after some answers to questions drawn at random."""
    rng, fit = np.random.default_rng(1), way(crowd, None)
    for _ in range(steps):
        crowd = crowd.told(rng.integers(crowd.left.shape[1], size=len(crowd)))
        fit = way(crowd, fit)
    return fit


def problem_of(fit, s):
    """The fit of one trail as hyperparameters.py has it."""
    usual = fit.crowd.grounds[s].usual_distance
    return problem(None, fit.posterior(s).data, distance=usual)


def rows_left(fit, s):
    share = fit.crowd.grounds[s].share
    return share.X[share.pool[fit.crowd.left[s]]]


def heights(fit):
    """Log evidence plus log prior of the setting each trail has come to."""
    beliefs = [
        hyperparameters.default_length_scale_of(ground.usual_distance)
        for ground in fit.crowd.grounds
    ]
    prior = [b.log(theta)[0] for b, theta in zip(beliefs, fit.theta, strict=True)]
    return fit.mode.log_evidence + np.array(prior)


def highest(fit, s):
    """The same for the setting that hyperparameters.py finds."""
    posterior = hyperparameters.evidence(problem_of(fit, s))
    return (posterior.log_evidence + posterior.log_prior)[0]


def assert_same_moments(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)


def test_every_choice_of_hyperparameters_has_its_way():
    assert set(WAYS) == set(HYPERPARAMETERS)
    assert WAYS["paper"] is WAYS["evidence"] is evidence
    assert WAYS["envelope"] is envelope


# ---------------------------------------------------------------- fixed


@each_set
@pytest.mark.parametrize("steps", [0, 1, 6])
def test_fixed_is_the_posterior_under_the_setting_given(name, steps):
    fit = walked(fixed, started(name, FIXED), steps)
    mean, variance = fit.moments()
    np.testing.assert_array_equal(fit.credibility, 1.0)
    for s in range(3):
        expected = problem_of(fit, s).under(FIXED[None])
        np.testing.assert_allclose(fit.mode.log_evidence[s], expected.log_evidence[0], rtol=1e-8)
        assert_same_moments((mean[s], variance[s]), expected.moments(rows_left(fit, s)))


# ---------------------------------------------------------------- envelope


@each_set
@pytest.mark.parametrize("steps", [0, 1, 6])
def test_the_envelope_is_that_of_each_trail_by_itself(name, steps):
    fit = walked(envelope, started(name), steps)
    mean, variance = fit.moments()
    for s in range(3):
        expected = hyperparameters.envelope(problem_of(fit, s))
        kept = np.flatnonzero(fit.credibility[s])
        credible = fit.credibility[s, kept]
        assert len(expected.prior) == len(kept) >= 1
        np.testing.assert_allclose(credible, expected.credibility, rtol=1e-8)
        moments = mean[s, kept], variance[s, kept]
        assert_same_moments(moments, expected.moments(rows_left(fit, s)))


def test_the_envelope_leaves_out_what_is_not_credible():
    fit = walked(envelope, started("iris"), 12)
    positive = fit.credibility[fit.credibility > 0]
    assert positive.min() >= LEAST_CREDIBLE
    assert fit.credibility.shape == (3, 5)


# ---------------------------------------------------------------- evidence


@each_set
@pytest.mark.parametrize("steps", [0, 3, 8, 12])
def test_the_evidence_is_as_high_as_a_search_from_nothing_finds(name, steps):
    # All but the first search start from the setting of one label before.
    fit = walked(evidence, started(name), steps)
    found = heights(fit)
    for s in range(3):
        assert found[s] >= highest(fit, s) - 1e-5


@pytest.mark.parametrize("name", ["sonar", "thyroid", "fri"])
def test_the_evidence_is_as_high_on_other_sets(name):
    fit = walked(evidence, started(name, runs=2, seed=5), 6)
    found = heights(fit)
    for s in range(2):
        assert found[s] >= highest(fit, s) - 1e-5


@each_set
def test_a_search_that_goes_on_ends_where_a_new_one_does(name):
    went_on = walked(evidence, started(name), 6)
    anew = evidence(went_on.crowd, None)
    np.testing.assert_allclose(heights(went_on), heights(anew), atol=1e-3)
    np.testing.assert_allclose(went_on.theta, anew.theta, atol=0.05)


@each_set
def test_the_setting_of_largest_evidence_is_the_only_one(name):
    fit = walked(evidence, started(name), 2)
    assert fit.theta.shape == (3, 1, 2)
    assert fit.inverse.shape == (3, 2, 2)
    np.testing.assert_array_equal(fit.credibility, 1.0)
    mean, variance = fit.moments()
    for s in range(3):
        expected = problem_of(fit, s).under(fit.theta[s])
        assert_same_moments((mean[s], variance[s]), expected.moments(rows_left(fit, s)))


# ---------------------------------------------------------------- in company


@each_set
@pytest.mark.parametrize("way", [fixed, envelope, evidence], ids=lambda way: way.__name__)
def test_a_trail_is_fitted_to_the_same_bits_alone_and_in_company(name, way):
    theta = FIXED if way is fixed else None
    places = np.random.default_rng(2).integers(20, size=(3, 3))

    def told(crowd, runs):
        fit = way(crowd, None)
        for step in range(3):
            crowd = crowd.told(places[runs, step])
            fit = way(crowd, fit)
        return fit

    together = told(started(name, theta), [0, 1, 2])
    alone = told(started(name, theta, runs=1), [0])
    np.testing.assert_array_equal(alone.theta[0], together.theta[0])
    for one, other in zip(alone.moments(), together.moments(), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
