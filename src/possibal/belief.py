"""Posterior moments of latents under weighted hypotheses: the one thing that scores read."""

from dataclasses import dataclass
from typing import Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from possibal.arrays import Array, Places, Vector, floats, frozen, latent_moments, real, vector
from possibal.distributions import HasMoments, moments


@dataclass(frozen=True, eq=False)
class Belief:
    """Gaussian marginals of the latents of m rows under H hypotheses.

    Paper: Sec. 4.2, the posterior possibility N(theta_x; mu_x, sigma2_x) of each row. The
    hypotheses are ours: settings of the hyperparameters, each with its credibility.

    Attributes:
        mean: latent means, (H, m) for binary labels or regression, (H, m, C) for C labels.
        variance: latent variances, shaped like mean. Zero is the indicator of a point, where a
            latent is known; infinity is precision zero, complete absence of information. Every
            score has its limit there.
        credibility: (H,), possibility of each hypothesis; the largest is one.
        is_limit: whether some variance is zero or infinite.
    """

    mean: Array
    variance: Array
    credibility: Vector
    is_limit = False

    def __post_init__(self) -> None:
        """Check once; every reader trusts what it finds."""
        credibility = vector(self.credibility, "credibility")
        if not credibility.size or credibility.min() < 0 or abs(credibility.max() - 1) > 1e-9:  # noqa: PLR2004 - rounding
            raise ValueError(
                "credibility must lie in [0, 1] and reach 1; "
                f"got {np.array2string(credibility, threshold=6)}. Divide it by its maximum."
            )
        mean, variance = real(self.mean, "mean"), floats(self.variance, "variance")
        if mean.ndim not in (2, 3) or len(mean) != len(credibility) or mean.shape != variance.shape:
            raise ValueError(
                "mean and variance must have shape (H, m) or (H, m, C) with one entry of H per "
                f"credibility, {len(credibility)}; got {mean.shape} and {variance.shape}. "
                "For a single hypothesis use Belief.of(mean, variance)."
            )
        for h in range(len(mean)):
            try:
                latent_moments(mean[h], variance[h])
            except ValueError as error:
                where = f" This is in hypothesis {h}." if len(mean) > 1 else ""
                raise ValueError(f"{error}{where}") from None
        object.__setattr__(self, "mean", frozen(mean))
        object.__setattr__(self, "variance", frozen(variance))
        object.__setattr__(self, "credibility", frozen(credibility / credibility.max()))
        _marked(self)

    @classmethod
    def of(
        cls,
        mean: "ArrayLike | Belief | HasBelief | HasMoments",
        variance: ArrayLike | None = None,
    ) -> Self:
        """The belief of one Gaussian process, or the belief that the argument is or carries.

        Args:
            mean: (m,) or (m, C); or a Belief, something that carries one, or a Gaussian with an
                array `mean` and an array `variance`, such as a distribution of GPyTorch or a
                posterior of BoTorch.
            variance: of the same shape, where plain means are given.
        """
        source = mean.belief if isinstance(mean, HasBelief) else mean
        if isinstance(source, cls):
            if variance is not None:
                raise TypeError(
                    "variance must be left out when a Belief is given; got both. "
                    "The Belief has a variance of its own."
                )
            return source
        pair = (source, variance) if variance is not None else moments(source)
        if pair is None:
            raise TypeError(
                "variance must be given beside mean; got None. Pass (mean, variance) or a Belief."
            )
        mu, sigma2 = latent_moments(*pair)  # pyright: ignore[reportArgumentType]
        return _marked(cls.trusted(frozen(mu)[None], frozen(sigma2)[None], np.ones(1)))

    @classmethod
    def borrowed(cls, mean: ArrayLike, variance: ArrayLike) -> Self:
        """The belief of one Gaussian process that is read at once and not kept: no copy is made."""
        mu, sigma2 = latent_moments(mean, variance)
        return _marked(cls.trusted(mu[None], sigma2[None], np.ones(1)))

    @classmethod
    def trusted(cls, mean: Array, variance: Array, credibility: Vector) -> Self:
        """A belief whose parts are in order, all variances between zero and infinity.

        Nothing is checked or copied.
        """
        belief = object.__new__(cls)
        parts = {"mean": mean, "variance": variance, "credibility": credibility}
        for name, array in parts.items():
            object.__setattr__(belief, name, array)
        return belief

    def __len__(self) -> int:
        """The number of rows."""
        return self.mean.shape[1]

    def part(self, rows: slice | Places) -> Self:
        """The same belief about some of the rows; nothing is checked again."""
        some = self.trusted(self.mean[:, rows], self.variance[:, rows], self.credibility)
        return _marked(some) if self.is_limit else some

    def credible(self) -> Self:
        """The same belief without hypotheses that are ruled out."""
        few = self.credibility > 0
        some = self.trusted(self.mean[few], self.variance[few], self.credibility[few])
        return _marked(some) if self.is_limit else some

    @property
    def labels(self) -> int:
        """The number of labels."""
        return 2 if self.is_binary else self.mean.shape[2]

    @property
    def latents(self) -> int:
        """The number of latents a row has: one for two labels under a probit."""
        return 1 if self.is_binary else self.mean.shape[2]

    @property
    def is_binary(self) -> bool:
        """Whether each row has one latent, whose sign tells the label."""
        return self.mean.ndim == 2  # noqa: PLR2004 - (H, m)

    @property
    def weight(self) -> Vector:
        """Credibilities scaled to sum to one, for the readings that average."""
        return self.credibility / self.credibility.sum()

    @property
    def leading(self) -> int:
        """The most credible hypothesis; the first of several."""
        return int(self.credibility.argmax())


class ProbabilityBelief(Belief):
    """What a model says that gives probabilities alone: how likely labels are, and nothing else.

    The latents are logarithms of the probabilities, with variances of zero, so that scores of
    probabilities read what the model gave. How much of it the model does not know, it does not say:
    scores of what is not known refuse such a belief.

    Attributes:
        model: what the model is called.
    """

    model = "a model of probabilities"

    @classmethod
    def of_probabilities(cls, probability: ArrayLike, model: str) -> Self:
        """The belief of probabilities (m, C)."""
        p = real(probability, "probability")
        mean = np.log(np.maximum(p, np.finfo(float).tiny))
        belief = _marked(cls.trusted(frozen(mean)[None], frozen(np.zeros_like(mean))[None], _ONE))
        object.__setattr__(belief, "model", model)
        return belief

    def part(self, rows: slice | Places) -> Self:
        """The same about some of the rows."""
        some = super().part(rows)
        object.__setattr__(some, "model", self.model)
        return some


_ONE = np.ones(1)
AnyBelief = TypeVar("AnyBelief", bound=Belief)


def _marked(belief: AnyBelief) -> AnyBelief:
    """The belief, with a note whether some variance is zero or infinite."""
    sigma2 = belief.variance
    if sigma2.size and not (sigma2.min() > 0 and sigma2.max() < np.inf):
        object.__setattr__(belief, "is_limit", True)
    return belief


@runtime_checkable
class HasBelief(Protocol):
    """Anything that carries a belief, such as the view a strategy is given."""

    @property
    def belief(self) -> Belief:
        """The belief it carries."""
        ...


def leading_labels(belief: Belief) -> NDArray[np.intp]:
    """The label that the most credible setting holds likeliest, by its place."""
    mu = belief.mean[belief.leading]
    return (mu > 0).astype(np.intp) if belief.is_binary else mu.argmax(axis=1)
