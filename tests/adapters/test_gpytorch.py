import functools

import numpy as np
import pytest

from possibal import acquisition, rank
from possibal.acquisition import JointPosterior, View
from possibal.adapters import gpytorch as adapter
from possibal.gp import LatentPosterior

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")
torch.set_num_threads(1)  # the models are small
pytestmark = pytest.mark.filterwarnings("ignore::gpytorch.utils.warnings.GPInputWarning")


def rows(m=60, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 3))


class Exact(gpytorch.models.ExactGP):
    """A process on Dirichlet targets: a batch with one latent for each label."""

    def __init__(self, X, y, labels):
        likelihood = gpytorch.likelihoods.DirichletClassificationLikelihood(
            torch.tensor(y), learn_additional_noise=False, dtype=torch.double
        )
        super().__init__(torch.tensor(X), likelihood.transformed_targets, likelihood)
        shape = torch.Size((labels,))
        self.mean_module = gpytorch.means.ConstantMean(batch_shape=shape)
        kernel = gpytorch.kernels.RBFKernel(ard_num_dims=3, batch_shape=shape)
        kernel.lengthscale = torch.tensor([1.0, 2.0, 4.0])
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel, batch_shape=shape)

    def forward(self, X):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))


class Variational(gpytorch.models.ApproximateGP):
    """A variational classifier: one latent, or one for each label as a multitask distribution."""

    def __init__(self, X, labels=1):
        shape = torch.Size((labels,) if labels > 1 else ())
        inducing = torch.tensor(X[:12]).expand(*shape, 12, 3).clone()
        points = gpytorch.variational.CholeskyVariationalDistribution(12, batch_shape=shape)
        strategy = gpytorch.variational.VariationalStrategy(self, inducing, points)
        if labels > 1:
            strategy = gpytorch.variational.IndependentMultitaskVariationalStrategy(
                strategy, num_tasks=labels
            )
        super().__init__(strategy)
        self.mean_module = gpytorch.means.ConstantMean(batch_shape=shape)
        self.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel(batch_shape=shape), batch_shape=shape
        )

    def forward(self, X):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))


def fitted(model, likelihood, X, y, steps=25):
    """The model after some steps of its optimiser."""
    torch.manual_seed(0)
    model, likelihood, X = model.double(), likelihood.double(), torch.tensor(X)
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(X))
    optimiser = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.2)
    for _ in range(steps):
        optimiser.zero_grad()
        (-bound(model(X), torch.tensor(y))).backward()
        optimiser.step()
    return model


@functools.cache
def binary():
    X = rows()
    model = Variational(X)
    likelihood = gpytorch.likelihoods.BernoulliLikelihood()
    return fitted(model, likelihood, X, (X[:, 0] > 0).astype(float)), X


@functools.cache
def three(kind):
    X = rows()
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    if kind == "exact":
        return Exact(X, y, 3).double().eval(), X, y
    likelihood = gpytorch.likelihoods.SoftmaxLikelihood(num_classes=3, mixing_weights=False)
    return fitted(Variational(X, 3), likelihood, X, y), X, y


@pytest.mark.works_with("GPyTorch", "a variational classifier drives every strategy", "gpytorch")
def test_a_variational_classifier_drives_every_strategy_through_rank():
    model, X = binary()
    posterior = adapter.latent_posterior(model, X)
    pool = rows(150, 1)
    assert isinstance(posterior, JointPosterior)
    belief, direct = posterior.at(pool), model(torch.tensor(pool))
    np.testing.assert_allclose(belief.mean[0], direct.mean.detach(), rtol=1e-12)
    np.testing.assert_allclose(belief.variance[0], direct.variance.detach(), rtol=1e-12)
    for name in acquisition.STRATEGIES:
        found = rank(posterior, pool, name, top=4)
        assert len(set(found.ids)) == 4
        assert np.isfinite(found.utilities).all()


def test_what_it_learnt_is_that_labels_change_where_they_do():
    model, X = binary()
    pool = np.zeros((41, 3))
    pool[:, 0] = np.linspace(-2, 2, 41)
    doubtful = rank(adapter.latent_posterior(model, X), pool, "necessity", top=5)
    assert np.abs(doubtful.X[:, 0]).max() < 0.5


@pytest.mark.parametrize("kind", ["exact", "variational"])
@pytest.mark.works_with("GPyTorch", "models of three labels: Dirichlet and multitask", "gpytorch")
def test_a_model_of_three_labels_is_a_softmax_of_three_latents(kind):
    model, X, y = three(kind)
    posterior = adapter.latent_posterior(model, None if kind == "exact" else X)
    pool = rows(30, 1)
    given = model(torch.tensor(pool))
    mean, variance = given.mean.detach().numpy(), given.variance.detach().numpy()
    if kind == "exact":  # a batch of labels
        mean, variance = mean.T, variance.T
        np.testing.assert_array_equal(posterior.training_rows, X)
    belief = posterior.at(pool)
    np.testing.assert_allclose(belief.mean[0], mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(belief.variance[0], variance, rtol=1e-9)
    assert (posterior.at(X).mean[0].argmax(axis=1) == y).mean() > 0.8
    for name in ("herding", "look_ahead"):
        found = getattr(acquisition, name)(View(posterior, pool))
        assert np.isfinite(found).all()
        assert np.ptp(found) > 0


@pytest.mark.parametrize("kind", ["exact", "variational"])
def test_covariances_are_those_of_the_model(kind):
    model, X, _ = three(kind)
    posterior = adapter.latent_posterior(model, X)
    a, b = rows(4, 1), rows(3, 2)
    full = model(torch.tensor(np.concatenate([a, b]))).covariance_matrix.detach().numpy()
    between = posterior.between(a, b)[0]
    assert between.shape == (4, 3, 3, 3)
    for i in range(4):
        for j in range(3):
            for label in range(3):
                there = (
                    (label, i, 4 + j) if kind == "exact" else (3 * i + label, 3 * (4 + j) + label)
                )
                assert between[i, j, label, label] == pytest.approx(full[there], abs=1e-10)


def test_rows_are_compared_in_units_of_length_scales():
    _, X, y = three("exact")
    model = Exact(X, y, 3).double()
    posterior = adapter.latent_posterior(model, X)
    np.testing.assert_allclose(posterior.coordinates(X), X / [1.0, 2.0, 4.0])
    given = adapter.latent_posterior(model, X, geometry=lambda X: X[:, :1])
    np.testing.assert_array_equal(given.coordinates(X), X[:, :1])
    kernels = gpytorch.kernels
    model.covar_module = kernels.RBFKernel() + kernels.MaternKernel()  # which one is to count?
    several = adapter.latent_posterior(model, X)
    np.testing.assert_array_equal(several.coordinates(X), X)
    isotropic = adapter.latent_posterior(binary()[0], X)
    np.testing.assert_array_equal(isotropic.coordinates(X), X)


def test_it_reads_the_precision_of_the_model():
    X = rows()
    model = Variational(X).float().eval()
    single = adapter.latent_posterior(model, X)
    direct = model(torch.tensor(X, dtype=torch.float))
    np.testing.assert_array_equal(single.at(X).variance[0], direct.variance.detach())
    assert np.isfinite(acquisition.look_ahead(View(single, X))).all()


def test_its_moments_carry_no_gradients():
    model, X = binary()
    given = adapter.latent_posterior(model, X).latents(X)
    assert isinstance(given.covariance_matrix, np.ndarray)
    with pytest.raises(AttributeError, match="entropy"):
        given.entropy  # noqa: B018 - it is looked up


def test_a_model_that_keeps_no_rows_is_told_to_bring_them():
    with pytest.raises(ValueError, match="training_rows must be given for a Variational"):
        adapter.latent_posterior(binary()[0])


def test_probabilities_of_labels_are_no_latents():
    model, X = binary()
    likelihood = gpytorch.likelihoods.BernoulliLikelihood()

    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, X):
            return likelihood(self.model(X))

    with pytest.raises(TypeError, match="mean must be of Gaussian latents; got a Bernoulli"):
        adapter.latent_posterior(Whole(), X).at(X)


def test_it_is_a_posterior_like_any_of_ones_own():
    model, X = binary()
    assert isinstance(adapter.latent_posterior(model, X), LatentPosterior)
