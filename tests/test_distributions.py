"""Gaussians of other libraries, read by what they say of themselves.

The classes here have the names and shapes of those of torch, GPyTorch and BoTorch, on NumPy arrays;
tests/adapters has the libraries themselves.
"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from possibal import Belief, acquisition
from possibal.distributions import check_gaussian, joint, marginal, moments


@dataclass
class MultivariateNormal:
    """A joint Gaussian of rows; a batch of them where the mean has two axes."""

    mean: np.ndarray
    covariance_matrix: np.ndarray

    @property
    def variance(self):
        return np.diagonal(self.covariance_matrix, axis1=-2, axis2=-1).reshape(self.mean.shape)

    @property
    def batch_shape(self):
        return self.mean.shape[:-1]

    @property
    def event_shape(self):
        return self.mean.shape[-1:]

    def sample(self):
        raise NotImplementedError


class MultitaskMultivariateNormal(MultivariateNormal):
    """A joint Gaussian of rows and labels."""

    batch_shape = ()
    _interleaved = True

    @property
    def variance(self):
        variance = np.diagonal(self.covariance_matrix)
        m, C = self.mean.shape
        return variance.reshape(m, C) if self._interleaved else variance.reshape(C, m).T

    @property
    def event_shape(self):
        return self.mean.shape


class LabelByLabel(MultitaskMultivariateNormal):
    _interleaved = False


class Bernoulli:
    mean, variance = np.full(3, 0.3), np.full(3, 0.21)

    def log_prob(self):
        raise NotImplementedError


class LogNormal(Bernoulli):
    pass


class Independent:
    """Rows of independent normals."""

    def __init__(self, base):
        self.base_dist, self.mean, self.variance = base, np.zeros((3, 2)), np.ones((3, 2))
        self.batch_shape, self.event_shape = (3,), (2,)

    def sample(self):
        raise NotImplementedError


def spread(m, seed=0):
    """A covariance of m numbers."""
    root = np.random.default_rng(seed).normal(size=(m, m + 2))
    return root @ root.T


def one(m=4):
    return MultivariateNormal(np.linspace(-2, 1, m), spread(m))


def test_a_gaussian_is_a_belief_wherever_one_is_taken():
    given = one()
    expected = acquisition.uncertainty(given.mean, given.variance)
    np.testing.assert_array_equal(acquisition.uncertainty(given), expected)
    np.testing.assert_array_equal(Belief.of(given).mean[0], given.mean)
    np.testing.assert_array_equal(
        acquisition.uncertainty_outcome(given, noise_variance=1.0),
        acquisition.uncertainty_outcome(given.mean, given.variance, noise_variance=1.0),
    )
    assert len(acquisition.random(given, rng=np.random.default_rng(0))) == 4


def test_so_is_a_posterior_that_holds_one_and_a_record_of_two_arrays():
    given = one()
    posterior = SimpleNamespace(distribution=given, mean=given.mean[:, None], variance=None)
    record = SimpleNamespace(mean=given.mean, variance=given.variance)
    for other in (posterior, record):
        np.testing.assert_array_equal(acquisition.doubt(other), acquisition.doubt(given))


def test_columns_of_a_multitask_gaussian_are_labels():
    mean = np.arange(8.0).reshape(4, 2) % 3
    given = MultitaskMultivariateNormal(mean, spread(8))
    np.testing.assert_array_equal(acquisition.doubt(given), acquisition.doubt(mean, given.variance))
    assert Belief.of(Independent(one())).labels == 2


@pytest.mark.parametrize("other", [Bernoulli(), LogNormal(), Independent(Bernoulli())])
def test_what_is_not_gaussian_is_refused(other):
    with pytest.raises(TypeError, match=r"^mean must be of Gaussian latents; got a \w+\. Pass"):
        acquisition.doubt(other)
    with pytest.raises(TypeError, match="mean must be of Gaussian latents"):
        marginal(other, 3)


def test_batches_may_be_anything_and_are_refused():
    batch = MultivariateNormal(np.zeros((3, 5)), np.tile(np.eye(5), (3, 1, 1)))
    with pytest.raises(ValueError, match=r"got a MultivariateNormal with batches \(3,\) of \(5,\)"):
        acquisition.doubt(batch)
    with pytest.raises(ValueError, match=r"mean must have at least 2 columns"):
        acquisition.doubt(SimpleNamespace(mean=np.zeros((3, 1)), variance=np.ones((3, 1))))


def test_methods_are_to_be_called_first():
    given = SimpleNamespace(mean=lambda: 0.0, variance=lambda: 1.0)
    with pytest.raises(TypeError, match="mean and variance must be arrays; got methods of a"):
        acquisition.doubt(given)
    for other in (norm(0, 1), np.zeros(3), [0.0]):
        with pytest.raises(TypeError, match="variance must be given beside mean"):
            acquisition.doubt(other)
    assert moments(SimpleNamespace(mean=[1.0])) is None


# ---------------------------------------------------------------- of so many rows
def full(m=4, P=3):
    """Means and covariances of all rows and labels, the labels of a row side by side."""
    return np.arange(float(m * P)).reshape(m, P), spread(m * P)


def forms(m=4, P=3):
    """The same latents in every form that keeps what labels have in common."""
    mean, covariance = full(m, P)
    blocks = covariance.reshape(m, P, m, P)
    turned = blocks.transpose(1, 0, 3, 2).reshape(m * P, m * P)
    return [
        (mean, blocks),
        (mean, covariance),
        MultitaskMultivariateNormal(mean, covariance),
        LabelByLabel(mean, turned),
    ]


@pytest.mark.parametrize("form", range(4))
def test_latents_are_the_same_in_every_form(form):
    mean, covariance = full()
    given = forms()[form]
    found, between = joint(given, 4)
    np.testing.assert_array_equal(found, mean.T)
    np.testing.assert_array_equal(between, covariance.reshape(4, 3, 4, 3).transpose(1, 0, 3, 2))
    centre, variance = marginal(given, 4)
    np.testing.assert_array_equal(centre, mean.T)
    np.testing.assert_array_equal(variance, np.diagonal(covariance).reshape(4, 3).T)


def test_labels_may_be_independent_and_there_may_be_one_latent():
    mean, each = np.arange(8.0).reshape(4, 2), np.stack([spread(4, 1), spread(4, 2)])
    for given in ((mean, each), MultivariateNormal(mean.T, each)):
        found, covariance = joint(given, 4)
        np.testing.assert_array_equal(found, mean.T)
        np.testing.assert_array_equal(covariance, each)
        np.testing.assert_array_equal(marginal(given, 4)[1], np.diagonal(each, axis1=1, axis2=2))
    given = one()
    for same in (given, (given.mean, given.covariance_matrix)):
        found, covariance = joint(same, 4)
        assert found.shape == (1, 4)
        np.testing.assert_array_equal(covariance, given.covariance_matrix[None])


def test_variances_that_rounding_made_negative_are_next_to_nothing_and_others_are_refused():
    covariance = np.diag([1.0, -1e-9, 2.0])
    assert marginal((np.zeros(3), covariance), 3)[1].tolist() == [[1.0, 2e-13, 2.0]]
    with pytest.raises(ValueError, match=r"variance must be zero or more; got -0\.1"):
        marginal((np.zeros(3), np.diag([1.0, -0.1, 2.0])), 3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((np.zeros(3), np.eye(3)), r"latents must give means of shape \(4,\) or \(4, C\) for 4"),
        ((np.zeros((3, 4)), np.eye(3)), r"got \(3, 4\)"),
        (MultivariateNormal(np.zeros((2, 2, 4)), np.eye(4)), r"got \(2, 2, 4\)"),
        ((np.zeros(4), np.eye(3)), r"covariance must have shape \(4, 4\) for 4 rows; got \(3, 3\)"),
        ((np.zeros((4, 2)), np.eye(4)), r"must have shape \(2, 4, 4\) or \(4, 2, 4, 2\) for 4 row"),
    ],
)
def test_shapes_that_do_not_fit_the_rows_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        joint(given, 4)


def test_covariances_are_asked_for_where_there_are_none():
    with pytest.raises(TypeError, match="latents must give covariances between rows"):
        joint(SimpleNamespace(mean=np.zeros(4), variance=np.ones(4)), 4)
    check_gaussian(one())
