"""Acquisition functions for BoTorch: doubt 1 - N and epistemic uncertainty U, with gradients.

    optimize_acqf(LogUncertainty(model), bounds, q=3, sequential=True, ...)

The model's posterior is of latents: one output whose sign tells two labels, or one output for each
label under a softmax. What :mod:`possibal.acquisition` says in NumPy is said here in torch, so that
candidates can be optimised and stay on the model's device.
"""
# pyright: basic, reportMissingImports=false

from typing import Any

import numpy as np

from possibal.acquisition.suprema import LOG_SQRT_2_OVER_PI, SQRT_2_OVER_PI, TINY, UNIT_RULE
from possibal.arguments import choice
from possibal.distributions import check_gaussian, unwrapped
from possibal.errors import MissingPackageError
from possibal.gp.likelihoods import LINKS

try:
    import torch
    from botorch.acquisition import AcquisitionFunction
    from botorch.models.model import Model
    from botorch.utils.transforms import t_batch_mode_transform
    from torch import Tensor
except ImportError:
    raise MissingPackageError(
        "possibal.adapters.botorch needs botorch, which is not installed: "
        "run pip install 'possibal[botorch]'."
    ) from None

STEPS = 6
"""Halley's steps towards a supremum at most; two or three are enough for ordinary moments."""
CLOSE = 1e-3
"""A step below this is the last: what it leaves is cubic, and counts squared."""
NEAR = 0.1
"""Where a supremum is so near, a logarithm is integrated: a difference would lose its digits."""
_FLOOR = 1e-13
"""A variance below this share of the one before any pending point is rounding."""


# ---------------------------------------------------------------- formulas
def log_doubt(mean: Tensor, variance: Tensor) -> Tensor:
    """Log possibility that the leading label is not the likeliest one, (b,).

    Paper: Props. 2 and 3, the logarithm of 1 - N_bin and of 1 - N_multi.

    Args:
        mean: (b, 1) for two labels, else (b, C).
        variance: shaped like mean.
    """
    if mean.shape[-1] == 1:
        return (-0.5 * mean * mean / variance).squeeze(-1)
    lead = mean.argmax(dim=-1, keepdim=True)
    gap = mean.gather(-1, lead) - mean
    log_rival = -0.5 * gap * gap / (variance.gather(-1, lead) + variance)
    return log_rival.scatter(-1, lead, -torch.inf).amax(dim=-1)


def log_uncertainty(mean: Tensor, variance: Tensor) -> Tensor:
    """Log of the epistemic uncertainty U about a label under a probit, of any shape.

    Each credibility exceeds its probability at the mean by what is gained on the way to its
    supremum. The way is searched without gradients; at the supremum no first derivative depends on
    it (envelope theorem), and by the implicit function theorem it has the derivative that second
    ones need.

    Paper: Sec. 4.2, U^L_bin.
    """
    mu = mean.abs()
    rival, leader = _log_excess(torch.stack([-mu, mu]), torch.stack([variance, variance]))
    return torch.logaddexp(rival, leader).clamp_max(0.0)


def _log_excess(t: Tensor, variance: Tensor) -> Tensor:
    """Log of sup over d of Phi(t + d) exp(-d^2 / 2 variance), less Phi(t).

    Paper: Sec. 4.2, sup N(theta; mu, sigma2) Phi(theta) - Phi(mu).
    """
    d = _distance(t, variance)
    cost = 0.5 * d * d / variance
    is_near = d * (t.abs() + d) < NEAR
    short = torch.where(is_near, d, 0.0)
    area = sum(w * torch.exp(-short * x * (t + 0.5 * short * x)) for x, w in UNIT_RULE)
    log_start = torch.special.log_ndtr(t)
    hazard = torch.exp(-0.5 * t * t - log_start) * (0.5 * SQRT_2_OVER_PI)
    near = torch.log1p(hazard * short * area)
    far = torch.special.log_ndtr(t + d) - log_start
    gain = torch.where(is_near, near, far) - cost
    is_lost = gain < TINY  # the leader's, far out, where that of the rival is all there is
    kept = torch.where(is_lost, 1.0, gain)
    return torch.where(is_lost, -torch.inf, log_start + kept + torch.log(-torch.expm1(-kept)))


def _distance(t: Tensor, variance: Tensor) -> Tensor:
    """How far above t the maximiser of Phi(theta) N(theta; t, variance) lies.

    d solves log d - log variance - log r(t + d) = 0 with r = phi / Phi, which is increasing and
    convex in log d, so that Halley's steps need no safeguard.

    Paper: Sec. 4.2, where the supremum of U is attained.
    """
    with torch.no_grad():
        log_variance, more = torch.log(variance), 1.0 + variance
        reach = torch.sqrt(2.0 * (log_variance + LOG_SQRT_2_OVER_PI).clamp_min(0.0))
        # A rival is guessed by Birnbaum's upper and Sampford's lower bound on r, a leader by a
        # Newton step, as in possibal.acquisition.suprema.
        mu, r, further = -t, _hazard(t), more + 1.0
        upper = (mu + torch.sqrt(mu * mu + 4.0 * more)) / more
        lower = (more + 0.5) * mu + torch.sqrt(0.25 * mu * mu + more * further)
        bounded = variance * (0.125 * upper + 0.75 * lower / (more * further))
        newton = variance * r / (1.0 + variance * r * (t + r))
        guess = torch.where(t > 0, newton, bounded)
        guess = torch.minimum(guess, (reach - t).clamp_min(1.0))
        log_d = torch.log(guess.clamp_min(TINY))
        for _ in range(STEPS):
            d = torch.exp(log_d)
            r = _hazard(t + d)
            pull = t + d + r
            step = (log_d - log_variance - torch.log(r)) / (1.0 + d * pull)
            bend = (pull + d * (1.0 - r * pull)) / (1.0 / d + pull)
            log_d = log_d - step / (1.0 - 0.5 * step * bend).clamp_min(0.5)
            if (step.abs() * (1.0 + d) < CLOSE).all():
                break
        d = torch.exp(log_d)
        pull = t + d + _hazard(t + d)
        slope = 1.0 + d * pull
    moved = (torch.log(variance) - log_variance) - pull * (t - t.detach())
    return d * (1.0 + moved / slope)


def _hazard(t: Tensor) -> Tensor:
    """The slope of log Phi, phi(t) / Phi(t)."""
    return (SQRT_2_OVER_PI / torch.special.erfcx(-np.sqrt(0.5) * t)).clamp_min(TINY)


def _expected_weight(g: Tensor, link: str) -> Tensor:
    """The curvature W that a label is expected to have at latents g, (..., n, P).

    Paper: App. C.1 and C.2, W.
    """
    if g.shape[-1] > 1:
        p = torch.softmax(g, dim=-1)
        return p * (1.0 - p)
    if link == "logistic":
        return torch.sigmoid(g) * torch.sigmoid(-g)
    return _hazard(g) * _hazard(-g)


# ---------------------------------------------------------------- acquisition functions
class LatentAcquisition(AcquisitionFunction):
    """An acquisition function of the marginal moments of latents, one candidate at a time (q = 1).

    Batches are greedy, as BoTorch makes them of an analytic function: `optimize_acqf` with
    ``sequential=True``, and `optimize_acqf_discrete`. Candidates picked before are pending: means
    stay, and variances fall by the expected Fisher information of a label there, as in
    :class:`possibal.gp.PendingPosterior`.

    Args:
        model: whose posterior is of latents.
        X_pending: (n, d), candidates that were picked and have no label yet.
        link: "probit" or "logistic", for two labels.
    """

    def __init__(
        self,
        model: Model,
        X_pending: Tensor | None = None,  # noqa: N803 - what BoTorch calls it
        *,
        link: str = "probit",
    ) -> None:
        """Keep model, pending points and link."""
        super().__init__(model)
        self.scale = choice("link", link, LINKS).scale
        self.link = link
        self.set_X_pending(X_pending)

    @t_batch_mode_transform(expected_q=1)  # pyright: ignore[reportArgumentType] - of a subclass
    def forward(self, X: Tensor) -> Tensor:
        """The utility of each candidate, (b,) for (b, 1, d)."""
        mean, variance = self.latents(X)
        return self.utility(mean, variance).to(X.dtype)

    def utility(self, mean: Tensor, variance: Tensor) -> Tensor:
        """The utility of latent moments (b, P), to be maximised."""
        raise NotImplementedError

    def latents(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Latent moments of candidates (b, 1, d) on the probit's scale, (b, P), given the pending.

        Paper: Props. 7 and 8, at each row by itself.
        """
        pending = self.X_pending
        if pending is not None:
            X = torch.cat([X, pending.to(X).expand(*X.shape[:-2], -1, -1)], dim=-2)
        posterior: Any = self.model.posterior(X)
        check_gaussian(posterior)
        mean = posterior.mean.double()
        if mean.shape[:-1] != X.shape[:-1]:
            raise ValueError(
                f"model must have one posterior for a candidate; got shape {tuple(mean.shape)} for "
                f"candidates of shape {tuple(X.shape)}. Pass one model of an ensemble."
            )
        if pending is None:
            variance = posterior.variance.double()
        else:
            covariance = _covariance_by_output(posterior, *mean.shape[-2:])
            variance = self._given_pending(mean, covariance)
        return self.scale_of(mean) * mean[..., 0, :], self.scale_of(mean) ** 2 * variance[..., 0, :]

    def scale_of(self, mean: Tensor) -> float:
        """What puts latents on the scale of a probit, which the scores read."""
        return self.scale if mean.shape[-1] == 1 else 1.0

    def _given_pending(self, mean: Tensor, covariance: Tensor) -> Tensor:
        """Variances of candidates given pending points, (b, 1, P).

        Paper: none; the variances of Props. 6 to 8 with the expected W of each pending label.

        Args:
            mean: (b, 1 + n, P).
            covariance: (b, P, 1 + n, 1 + n).
        """
        root = _expected_weight(mean[..., 1:, :], self.link).sqrt().transpose(-1, -2)
        inner = root[..., None] * covariance[..., 1:, 1:] * root[..., None, :]
        factor = torch.linalg.cholesky(inner + torch.eye(inner.shape[-1]).to(inner))
        shared = (root * covariance[..., 0, 1:])[..., None]
        explained = torch.linalg.solve_triangular(factor, shared, upper=False)
        variance = covariance[..., 0, 0]
        left = variance - (explained * explained).sum(dim=(-2, -1))
        return torch.maximum(left, _FLOOR * variance)[..., None, :]


class LogDoubt(LatentAcquisition):
    """Logarithm of the doubt 1 - N: the possibility that another label is the likeliest.

    Its gradient does not vanish where the doubt does.

    Paper: Props. 2 and 3.
    """

    _log = True

    def utility(self, mean: Tensor, variance: Tensor) -> Tensor:
        """Paper: Props. 2 and 3."""
        return log_doubt(mean, variance)


class Doubt(LogDoubt):
    """The doubt 1 - N: the possibility that another label is the likeliest; in [0, 1].

    Paper: Props. 2 and 3.
    """

    _log = False

    def utility(self, mean: Tensor, variance: Tensor) -> Tensor:
        """Paper: Props. 2 and 3."""
        return super().utility(mean, variance).exp()


class LogUncertainty(LatentAcquisition):
    """Logarithm of the epistemic uncertainty U about one of two labels.

    Its gradient does not vanish where U does.

    Paper: Sec. 4.2, U^L_bin.
    """

    _log = True

    def utility(self, mean: Tensor, variance: Tensor) -> Tensor:
        """Paper: Sec. 4.2, U^L_bin."""
        if mean.shape[-1] > 1:
            raise ValueError(
                f"model must have one output, for two labels; got {mean.shape[-1]}. "
                "Use Doubt, or possibal.acquisition.uncertainty for candidates of a list."
            )
        return log_uncertainty(mean, variance).squeeze(-1)


class Uncertainty(LogUncertainty):
    """The epistemic uncertainty U about one of two labels: how far credibilities exceed one.

    Paper: Sec. 4.2, U^L_bin.
    """

    _log = False

    def utility(self, mean: Tensor, variance: Tensor) -> Tensor:
        """Paper: Sec. 4.2, U^L_bin."""
        return super().utility(mean, variance).exp()


def _covariance_by_output(posterior: Any, n: int, outputs: int) -> Tensor:  # noqa: ANN401 - of BoTorch
    """Covariances between rows of each output, (b, P, n, n)."""
    distribution = unwrapped(posterior)
    covariance = distribution.covariance_matrix.double()
    if outputs == 1:
        return covariance.unsqueeze(-3)
    if getattr(distribution, "_interleaved", True):
        blocks = covariance.unflatten(-1, (n, outputs)).unflatten(-3, (n, outputs))
        return blocks.diagonal(dim1=-3, dim2=-1).movedim(-1, -3)
    blocks = covariance.unflatten(-1, (outputs, n)).unflatten(-3, (outputs, n))
    return blocks.diagonal(dim1=-4, dim2=-2).movedim(-1, -3)
