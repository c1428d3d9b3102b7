"""The acquisition functions for BoTorch, against those in NumPy and against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from possibal import acquisition
from possibal.gp import LatentPosterior, PendingPosterior

torch = pytest.importorskip("torch")
botorch = pytest.importorskip("botorch")

from botorch.models import ModelListGP, SingleTaskGP  # noqa: E402 - only if it is there
from botorch.models.model import Model  # noqa: E402 - the same
from botorch.optim import optimize_acqf, optimize_acqf_discrete  # noqa: E402 - the same
from botorch.posteriors import GPyTorchPosterior  # noqa: E402 - the same
from gpytorch.distributions import MultitaskMultivariateNormal  # noqa: E402 - the same
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402 - the same

from possibal.adapters import botorch as adapter  # noqa: E402 - the same

torch.set_num_threads(1)  # the models are small
pytestmark = pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.BotorchWarning")

BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)


def double(*values, grad=False):
    return torch.tensor(values, dtype=torch.double, requires_grad=grad)


def data(n=14, seed=0):
    X = torch.tensor(np.random.default_rng(seed).uniform(size=(n, 2)))
    return X, torch.sign(X[:, :1] - 0.5)


def fixed(X, y):
    """A regression on the labels -1 and 1, its hyperparameters as they are."""
    model = SingleTaskGP(X, y, train_Yvar=torch.full_like(y, 0.1), outcome_transform=None)
    return model.eval()


def model():
    return fixed(*data())


def several(labels=3):
    X, _ = data()
    return ModelListGP(*(fixed(X, torch.cos(3 * X[:, :1] + c)) for c in range(labels))).eval()


def latents(model, link="probit"):
    """The same model in NumPy."""
    return LatentPosterior(lambda X: model.posterior(torch.tensor(X)), data()[0].numpy(), link=link)


class RowByRow(Model):
    """A model whose posterior has the labels of a row side by side."""

    num_outputs, batch_shape = 3, torch.Size()

    def __init__(self, model):
        super().__init__()
        self.model = model

    def posterior(self, X):
        given = self.model.posterior(X).distribution
        n, P = given.event_shape
        blocks = given.covariance_matrix.unflatten(-1, (P, n)).unflatten(-3, (P, n))
        turned = blocks.transpose(-1, -2).transpose(-3, -4).flatten(-4, -3).flatten(-2, -1)
        return GPyTorchPosterior(MultitaskMultivariateNormal(given.mean, turned, interleaved=True))


# ---------------------------------------------------------------- formulas
@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.floats(-30, 30), st.floats(-8, 6)),
        min_size=1,
        max_size=20,
    )
)
def test_uncertainty_is_that_of_numpy(moments):
    mean, variance = np.array(moments).T
    variance = 10**variance
    found = adapter.log_uncertainty(double(*mean), double(*variance)).exp().numpy()
    expected = acquisition.uncertainty(mean, variance)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_doubt_is_that_of_numpy(seed, latents):
    rng = np.random.default_rng(seed)
    shape = (7,) if latents == 1 else (7, latents)
    mean, variance = 5 * rng.normal(size=shape), 10 ** rng.uniform(-4, 4, shape)
    as_columns = (torch.tensor(one).reshape(7, -1) for one in (mean, variance))
    found = adapter.log_doubt(*as_columns).exp().numpy()
    np.testing.assert_allclose(found, acquisition.doubt(mean, variance), rtol=1e-10, atol=1e-300)


MEANS = (0.3, -2.0, 5.0, -9.0, 0.01, 3.0, -0.5, 20.0)
VARIANCES = (1.0, 0.5, 4.0, 2.0, 1e-3, 1e-3, 100.0, 1.0)


def test_first_and_second_derivatives_are_those_of_finite_differences():
    moments = double(*MEANS, grad=True), double(*VARIANCES, grad=True)
    assert gradcheck(adapter.log_uncertainty, moments)
    assert gradgradcheck(adapter.log_uncertainty, moments)
    pairs = tuple(one.detach().reshape(-1, 2).requires_grad_() for one in moments)
    assert gradcheck(adapter.log_doubt, pairs)


@pytest.mark.parametrize("mean", [0.0, 1e-9, 38.0, -40.0, 1e3, -1e5])
@pytest.mark.parametrize("variance", [1e-8, 1e-3, 1.0, 1e4])
def test_logarithms_and_gradients_are_numbers_far_out(mean, variance):
    mu, sigma2 = double(mean, grad=True), double(variance, grad=True)
    value = adapter.log_uncertainty(mu, sigma2)
    value.sum().backward()
    assert torch.isfinite(value).all()
    assert torch.isfinite(mu.grad).all()
    assert sigma2.grad >= 0  # A4: losing information never lowers it
    if abs(mean) >= 38:  # U is N(0; mu, sigma2 + 1) up to a factor
        assert value.item() == pytest.approx(-0.5 * mean**2 / (1 + variance), rel=0.05, abs=0.1)
        assert mean * mu.grad.item() < 0


def test_moments_that_are_no_numbers_stay_none():
    found = adapter.log_uncertainty(double(np.nan, 0.5), double(1.0, 1.0))
    assert torch.isnan(found).tolist() == [True, False]


# ---------------------------------------------------------------- acquisition functions
@pytest.mark.parametrize("name", ["Doubt", "Uncertainty"])
@pytest.mark.parametrize("link", ["probit", "logistic"])
@pytest.mark.works_with(
    "BoTorch",
    "acquisition functions of doubt and of U, with first and second derivatives",
    "botorch",
)
def test_an_acquisition_function_is_its_score(name, link):
    known, (X, _) = model(), data(9, 1)
    belief = LatentPosterior(
        lambda X: known.posterior(torch.tensor(X)), np.empty((0, 2)), link=link
    ).at(X.numpy())
    expected = getattr(acquisition, name.lower())(belief)
    found = getattr(adapter, name)(known, link=link)(X[:, None])
    np.testing.assert_allclose(found.detach(), expected, rtol=1e-9, atol=1e-12)
    logged = getattr(adapter, f"Log{name}")(known, link=link)
    assert vars(type(logged))["_log"]  # BoTorch reads it
    np.testing.assert_allclose(logged(X[:, None]).exp().detach(), found.detach(), rtol=1e-12)


def test_doubt_of_several_labels_is_that_of_the_nearest_rival():
    known, (X, _) = several(), data(9, 1)
    found = adapter.Doubt(known)(X[:, None]).detach()
    np.testing.assert_allclose(found, acquisition.doubt(known.posterior(X)), rtol=1e-9)
    with pytest.raises(ValueError, match="model must have one output, for two labels; got 3"):
        adapter.Uncertainty(known)(X[:, None])


@pytest.mark.parametrize("make", [model, several])
@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_pending_points_lower_variances_as_in_numpy(make, link):
    known, (X, _), picked = make(), data(9, 1), data(3, 2)[0]
    pending = PendingPosterior(latents(known, link))
    for x in picked.numpy():
        pending = pending.with_pending(x)
    expected = acquisition.doubt(pending.at(X.numpy()))
    found = adapter.Doubt(known, picked, link=link)(X[:, None]).detach()
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    assert (found < adapter.Doubt(known)(X[:, None])).all()


def test_a_multitask_model_is_read_in_its_own_order():
    X, _ = data()
    Y = torch.cat([torch.cos(3 * X[:, :1] + c) for c in range(3)], dim=1)
    known = fixed(X, Y)
    at, picked = data(5, 1)[0], data(2, 2)[0]
    joined = ModelListGP(*(fixed(X, Y[:, c : c + 1]) for c in range(3)))
    for pending in (None, picked):
        expected = adapter.Doubt(joined, pending)(at[:, None]).detach()
        for one in (known, RowByRow(known)):
            found = adapter.Doubt(one, pending)(at[:, None]).detach()
            np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["Doubt", "LogDoubt", "Uncertainty", "LogUncertainty"])
def test_gradients_reach_the_candidates_past_pending_points(name):
    score = getattr(adapter, name)(model(), data(2, 3)[0])
    X = data(3, 4)[0][:, None].requires_grad_()
    assert gradcheck(score, (X,), eps=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", ["LogDoubt", "LogUncertainty"])
@pytest.mark.works_with("BoTorch", "`optimize_acqf`, also in batches", "botorch")
def test_candidates_are_optimised_and_a_batch_is_greedy(name):
    score = getattr(adapter, name)(model())
    torch.manual_seed(0)
    best, value = optimize_acqf(score, BOUNDS, q=1, num_restarts=3, raw_samples=32)
    others = torch.rand(500, 1, 2, dtype=torch.double)
    assert value >= score(others).max() - 1e-6
    assert score(best).item() == pytest.approx(value.item())
    several_of_them, _ = optimize_acqf(
        score, BOUNDS, q=3, num_restarts=2, raw_samples=32, sequential=True
    )
    assert torch.pdist(several_of_them).max() > 0.1
    assert score.X_pending is None


@pytest.mark.works_with("BoTorch", "`optimize_acqf_discrete`", "botorch")
def test_candidates_of_a_list_are_those_that_numpy_picks():
    known, (X, _) = model(), data(40, 5)
    chosen, values = optimize_acqf_discrete(adapter.Uncertainty(known), q=1, choices=X)
    expected = acquisition.uncertainty(known.posterior(X))
    np.testing.assert_array_equal(chosen[0], X[expected.argmax()])
    assert values.item() == pytest.approx(expected.max())
    several_of_them, _ = optimize_acqf_discrete(adapter.Uncertainty(known), q=3, choices=X)
    assert len(torch.unique(several_of_them, dim=0)) == 3


def test_batches_of_batches_keep_their_shape_and_more_than_one_at_a_time_is_refused():
    score = adapter.Uncertainty(model())
    assert score(torch.rand(4, 5, 1, 2, dtype=torch.double)).shape == (4, 5)
    with pytest.raises(AssertionError, match="q=1"):
        score(torch.rand(4, 2, 2, dtype=torch.double))


def test_single_precision_stays_what_it_is():
    X, y = data()
    known = fixed(X.float(), y.float())
    found = adapter.LogUncertainty(known)(X.float()[:, None])
    assert found.dtype is torch.float
    expected = np.log(acquisition.uncertainty(known.posterior(X.float())))
    np.testing.assert_allclose(found.detach(), expected, rtol=1e-5)


def test_what_is_no_gaussian_of_latents_is_refused():
    with pytest.raises(ValueError, match="link must be one of"):
        adapter.Doubt(model(), link="cauchit")

    class Ensemble(SingleTaskGP):
        def posterior(self, X):
            return super().posterior(X.unsqueeze(-3).expand(*X.shape[:-2], 4, *X.shape[-2:]))

    X, y = data()
    with pytest.raises(ValueError, match="model must have one posterior for a candidate"):
        adapter.Doubt(Ensemble(X, y))(X[:, None])
    with pytest.raises(NotImplementedError):
        adapter.LatentAcquisition(model())(X[:, None])
