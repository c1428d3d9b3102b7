"""The posterior of a model of one's own; our own, through its one function, is the same."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from possibal import Campaign, PossibilisticGPClassifier, acquisition, rank
from possibal.acquisition import JointPosterior, View
from possibal.acquisition.registry import STRATEGIES
from possibal.campaign.batch import greedy_batch
from possibal.gp import LatentPosterior, PendingPosterior, latent_posterior
from possibal.gp.likelihoods import PROBIT, expected_weight
from possibal.pool.candidates import choose_candidates
from possibal.pool.ranking import row_format
from possibal.pool.sampling import HashedSampler
from possibal.pool.scan import PoolScan


def rows(m, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 2))


@functools.cache
def classifier(labels=2, hyperparameters="envelope", link="probit"):
    X = rows(12)
    y = np.digitize(X[:, 0], [-0.4, 0.4] if labels > 2 else [0.0])
    return PossibilisticGPClassifier(hyperparameters=hyperparameters, link=link).fit(X, y)


def latents_of(posterior, *, is_independent=False):
    """What one setting of ours says of rows, as a user's function says it."""

    def latents(X):
        mean, blocks = posterior.moments(X)[0][0], posterior.between(X, X)[0]
        if len(mean) == 1:
            return mean[0], blocks[:, :, 0, 0]
        own = posterior.cross(X, X)[0]
        return mean.T, own if is_independent else blocks.transpose(0, 3, 1, 2)

    return latents


@functools.cache
def ours(labels=2, hyperparameters="envelope", link="probit"):
    """Our own posterior through the one function of each setting."""
    posterior = classifier(labels, hyperparameters, link).posterior_
    each = [latents_of(posterior.part(np.array([s]))) for s in range(len(posterior.prior))]
    return LatentPosterior(
        each if len(each) > 1 else each[0],
        posterior.training_rows,
        link=link,
        geometry=posterior.coordinates,
        credibility=posterior.credibility,
    )


each_labels = pytest.mark.parametrize("labels", [2, 3])


# ---------------------------------------------------------------- the contract
@each_labels
@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_what_strategies_read_is_what_our_posterior_gives(labels, link):
    own, posterior = ours(labels, link=link), classifier(labels, link=link).posterior_
    X, Z = rows(5, 1), rows(4, 2)
    assert isinstance(own, JointPosterior)
    assert own.sizes == posterior.sizes
    assert (own.scale, own.tempering, own.n_labels) == (posterior.scale, posterior.tempering, 12)
    for name in ("mean", "variance", "credibility"):
        expected = getattr(posterior.at(X), name)
        np.testing.assert_allclose(getattr(own.at(X), name), expected, rtol=1e-7, atol=1e-9)
    g = posterior.moments(X)[0]
    np.testing.assert_allclose(own.covariance(X), posterior.covariance(X), atol=1e-7)
    np.testing.assert_allclose(own.between(X, Z), posterior.between(X, Z), atol=1e-7)
    np.testing.assert_allclose(own.cross(X, Z), posterior.cross(X, Z), atol=1e-7)
    np.testing.assert_allclose(own.expected_weight(g), posterior.expected_weight(g))
    np.testing.assert_array_equal(own.coordinates(X), posterior.coordinates(X))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_our_posterior_through_it_asks_what_the_campaign_asks(strategy):
    X = np.concatenate([rows(12), rows(60, 3)])
    told = Campaign.start(X, classes=[0, 1], strategy=strategy)
    for row, label in enumerate((X[:12, 0] > 0).astype(int).tolist()):
        told.tell(row, label)
    posterior = told.classifier.posterior_
    each = [latents_of(posterior.part(np.array([s]))) for s in range(len(posterior.prior))]
    own = LatentPosterior(
        each,
        posterior.training_rows,
        geometry=posterior.coordinates,
        credibility=posterior.credibility,
    )
    assert rank(own, X, strategy, top=1, aside=range(12)).ids == tuple(told.ask())


@pytest.mark.parametrize(
    ("labels", "strategy"), [(2, "herding"), (2, "look_ahead"), (3, "herding")]
)
def test_so_it_does_in_batches(labels, strategy):
    X, batches = rows(40, 4), []
    for model in (classifier(labels, "evidence"), ours(labels, "evidence")):
        posterior = getattr(model, "posterior_", model)
        scan = PoolScan(X, row_format(model, None), np.empty(0, dtype=np.intp), 1)
        rule = STRATEGIES[strategy]
        found = choose_candidates(rule, posterior, scan, HashedSampler(0, 12), 5)
        utilities = found.utilities(rule)
        picks = greedy_batch(5, found, utilities, rule, pytest.fail)
        batches.append([pick.place for pick in picks])
    assert batches[0] == batches[1]
    assert len(set(batches[0])) == 5


@each_labels
def test_rankings_of_local_scores_are_those_of_the_classifier(labels):
    X = rows(2 * latent_posterior.ROWS + 7, 5)
    expected = rank(classifier(labels), X, "uncertainty", top=4, aside=[3])
    found = rank(ours(labels), X, "uncertainty", top=4, aside=[3])
    assert found.ids == expected.ids
    np.testing.assert_allclose(found.utilities, expected.utilities, rtol=1e-8)
    assert (found.rows, found.judged) == (len(X) - 1, len(X) - 1)  # none is pruned


# ---------------------------------------------------------------- forms
@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_pending_points_do_what_a_regression_on_them_would(seed, m):
    """With one label of weight W pending, the variance is that of one more number of error 1/W."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m + 1, m + 3))
    covariance, mean = root @ root.T, rng.normal(size=m + 1)
    X = np.arange(m + 1.0)[:, None]

    def latents(rows):
        at = rows[:, 0].astype(int)
        return mean[at], covariance[np.ix_(at, at)]

    own = LatentPosterior(latents, X[:1])
    W = expected_weight(PROBIT, mean[-1], np.ones(1))
    expected = covariance - np.outer(covariance[-1], covariance[-1]) / (
        covariance[-1, -1] + 1.0 / W
    )
    found = PendingPosterior(own).with_pending(X[-1])
    np.testing.assert_allclose(found.at(X).variance[0], np.diagonal(expected), rtol=1e-9)
    np.testing.assert_allclose(found.between(X, X)[0, :, :, 0, 0], expected, atol=1e-9)
    np.testing.assert_array_equal(found.at(X).mean[0], mean)


def test_latents_of_labels_may_be_independent():
    posterior = classifier(3, "evidence").posterior_
    own = LatentPosterior(latents_of(posterior, is_independent=True), posterior.training_rows)
    X, Z = rows(5, 1), rows(4, 2)
    blocks = own.between(X, Z)[0]
    for label, expected in enumerate(posterior.cross(X, Z)[0]):
        np.testing.assert_allclose(blocks[:, :, label, label], expected, atol=1e-9)
    assert not blocks[:, :, 0, 1].any()
    assert not own.covariance(X)[0][:, 0, 1].any()
    np.testing.assert_allclose(own.cross(X, Z), posterior.cross(X, Z), atol=1e-9)


def test_a_record_of_marginal_moments_does_for_local_scores_and_herding_of_two_labels():
    known, calls = classifier(2, "evidence").posterior_, []

    def latents(X):
        calls.append(len(X))
        mean, variance = known.moments(X)
        return SimpleNamespace(mean=mean[0, 0], variance=variance[0, 0])

    own, X = LatentPosterior(latents, known.training_rows), rows(30, 6)
    expected = acquisition.uncertainty(known.at(X))
    np.testing.assert_allclose(acquisition.uncertainty(View(own, X)), expected)
    assert np.isfinite(acquisition.herding(View(own, X))).all()
    with pytest.raises(TypeError, match="latents must give covariances between rows"):
        acquisition.look_ahead(View(own, X))
    np.testing.assert_array_equal(own.coordinates(X), X)


def test_without_labels_the_model_is_asked_about_a_row_of_zeros():
    def latents(X):
        return np.zeros(len(X)), np.exp(-0.5 * (X - X.T) ** 2)

    own = LatentPosterior(latents, np.empty((0, 1)))
    assert own.sizes == (1, 1)
    assert own.n_labels == 0
    assert own.at(np.empty((0, 1))).mean.shape == (1, 0)
    assert own.between(np.ones((2, 1)), np.empty((0, 1))).shape == (1, 2, 0, 1, 1)


# ---------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"training_rows": np.zeros(3)}, r"training_rows must have shape \(n, d\); got \(3,\)"),
        ({"link": "cauchit"}, "link must be one of"),
        ({"credibility": [0.5]}, "credibility must have 1 entries from 0 to 1, the largest 1"),
        ({"credibility": [1.0, 0.5]}, r"got \[1.0, 0.5\]"),
        ({"latents": ()}, "latents must be a function of rows, or several; got none"),
    ],
)
def test_what_makes_no_posterior_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        LatentPosterior(**{"latents": lambda X: X, "training_rows": rows(3), **given})


@pytest.mark.parametrize(("name", "value"), [("jobs", 2), ("client", "tcp://127.0.0.1:1")])
def test_a_ranking_calls_it_on_one_thread(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be left out for a model of your own; got"):
        rank(ours(2, "evidence"), rows(9), top=1, **{name: value})
    assert len(rank(ours(2, "evidence"), rows(9), top=1, jobs=1)) == 1


def test_hypotheses_are_about_the_same_labels():
    two, three = (latents_of(classifier(labels, "evidence").posterior_) for labels in (2, 3))
    with pytest.raises(ValueError, match=r"of as many labels under every hypothesis; got \[1, 3\]"):
        LatentPosterior([two, three], rows(3)).at(rows(2))


def test_a_geometry_keeps_the_rows():
    own = LatentPosterior(
        latents_of(classifier(2, "evidence").posterior_), rows(3), geometry=lambda X: X[:1]
    )
    with pytest.raises(
        ValueError, match=r"geometry must give shape \(5, any\) for 5 rows; got \(1"
    ):
        own.coordinates(rows(5))
