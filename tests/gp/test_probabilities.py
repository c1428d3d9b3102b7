import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from possibal.acquisition import STRATEGIES
from possibal.acquisition.coverage import herding
from possibal.acquisition.latents import LatentMoments, rival_possibility
from possibal.acquisition.strategy import View
from possibal.belief import ProbabilityBelief
from possibal.gp.kernels import KernelPrior
from possibal.gp.likelihoods import PROBIT
from possibal.gp.pending import PendingPosterior
from possibal.gp.posterior import TrainingData, condition
from possibal.gp.probabilities import ProbabilityPosterior, geometry_of, pending

X = np.random.default_rng(0).normal(size=(30, 2))


def chances(rows):
    p = 1.0 / (1.0 + np.exp(-3.0 * rows[:, 0]))
    return np.column_stack([1.0 - p, p])


def geometry():
    data = TrainingData(X[:5], np.full((1, 5), -1.0), np.ones((1, 5)), PROBIT)
    return condition(KernelPrior((RBF(),), np.zeros((1, 1))), data)


def model():
    return ProbabilityPosterior(geometry(), chances, "a forest")


def test_it_says_what_the_model_says():
    found = model()
    belief = found.at(X)
    assert isinstance(belief, ProbabilityBelief)
    np.testing.assert_allclose(found.probability_of(belief), chances(X), rtol=1e-12)
    np.testing.assert_array_equal(found.probability(X), chances(X))
    assert len(found.data) == 5


def test_pending_rows_explain_what_they_explain_without_a_model():
    ours, plain = pending(model()), pending(geometry())
    assert type(plain) is PendingPosterior
    for row in X[6:9]:
        ours, plain = ours.with_pending(row), plain.with_pending(row)
    np.testing.assert_array_equal(ours.explained_share(X), plain.explained_share(X))
    np.testing.assert_array_equal(ours.at(X).mean, model().at(X).mean)
    assert ours.n_labels == 5
    assert len(ours.training_rows) == 8


def test_it_has_no_covariances_of_latents():
    begun = pending(model())
    for ask in (lambda: begun.covariance(X), lambda: begun.between(X, X)):
        with pytest.raises(TypeError, match="which a forest does not have"):
            ask()
    with pytest.raises(TypeError, match="which a forest does not have"):
        STRATEGIES["look_ahead"](View(begun, X))


def test_coverage_takes_no_rival_for_ruled_out():
    begun = pending(model())
    assert (rival_possibility(LatentMoments.of(begun, X)) == 1.0).all()
    utilities = herding(View(begun, X))
    assert utilities.shape == (30,)
    assert np.isfinite(utilities).all()
    assert len(np.unique(utilities)) > 20


def test_the_geometry_is_told_from_the_model():
    found, plain = model(), geometry()
    assert geometry_of(found) is found.geometry
    assert geometry_of(plain) is plain
