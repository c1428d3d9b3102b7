"""Possibilistic Gaussian-process regressor with the interface of scikit-learn."""

from numbers import Real
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from possibal.arguments import choice
from possibal.arrays import Matrix, Vector
from possibal.belief import Belief
from possibal.estimators import validation
from possibal.estimators.gp_estimator import GPEstimator
from possibal.gp.hyperparameters import INFERENCES, DefaultKernel, problem
from possibal.gp.kernels import Kernel
from possibal.gp.likelihoods import IDENTITY
from possibal.gp.posterior import TrainingData
from possibal.theory.families import GaussianNoise
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.outer_measure import OuterMeasure


class PossibilisticGPRegressor(RegressorMixin, GPEstimator):
    """Gaussian-process regression where the error is random, or systematic.

    Both have the same posterior of the latent function; they differ in what is said of y.

    Paper: Prop. 6.

    Args:
        kernel: a scikit-learn kernel; None means a constant times an RBF whose length-scale
            follows the distances between the rows seen.
        noise: "random" (each y is drawn anew) or "systematic" (the error is unknown but fixed).
        noise_variance: variance of the error in units of y; None means a tenth of that of y.
            Where hyperparameters are not fixed, it is where the search starts.
        hyperparameters: "evidence", "envelope" or "fixed", as for the classifier.
        normalize_y: whether the prior is that of y less its mean, in units of its spread.

    Attributes:
        posterior_: see :mod:`possibal.gp`; in units of y as normalised.
        noise_variance_: of the most credible setting, in units of y.
        log_evidence_: log marginal likelihood of the most credible setting, of y as normalised.
        kernels_: the credible settings, the most credible first, each with its credibility.
        jitter_: the largest share of a diagonal that had to be added to a matrix; mostly zero.
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        noise: Literal["random", "systematic"] = "random",
        noise_variance: float | None = None,
        hyperparameters: str = "evidence",
        normalize_y: bool = True,
    ) -> None:
        """Keep the choices; fit checks them."""
        self.kernel = kernel
        self.noise = noise
        self.noise_variance = noise_variance
        self.hyperparameters = hyperparameters
        self.normalize_y = normalize_y

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Condition on rows whose outcome was seen.

        Args:
            X: (n, d).
            y: (n,), numbers.
            sample_weight: (n,), how many times each row counts: a weight of two is a row given
                twice, so weights are not to be scaled to a sum of one.
        """
        way = choice("hyperparameters", self.hyperparameters, INFERENCES)
        choice("noise", self.noise, _READINGS)
        rows = validation.rows(self, X, reset=True)
        weight = validation.weights(sample_weight, rows)
        outcomes = validation.numbers(y)
        validation.same_length(rows, outcomes)
        rows, outcomes, weight = validation.merged(rows, outcomes, weight)
        self.centre_, self.unit_ = 0.0, 1.0
        if self.normalize_y:
            self.centre_ = float(np.average(outcomes, weights=weight))
            spread = float(np.sqrt(np.average((outcomes - self.centre_) ** 2, weights=weight)))
            rounding = max(1e-12 * float(np.abs(outcomes).max()), 1e-150)
            self.unit_ = spread if spread > rounding else 1.0
        seen = (outcomes - self.centre_) / self.unit_
        data = TrainingData(rows, seen[None], weight[None], IDENTITY)
        amplitude = float(np.average(seen * seen, weights=weight)) or 1.0
        noise = self._starting_noise(amplitude)
        kernels = validation.kernels(self.kernel, 1, rows.shape[1])
        self._keep(way(problem(kernels, data, noise=noise, own=DefaultKernel(amplitude))))
        precision = self.posterior_.data.weight[0, 0] / weight[0]
        self.noise_variance_ = float(self.unit_**2 / precision)
        return self

    def predict(self, X: ArrayLike, *, return_std: bool = False) -> Vector | tuple[Vector, Vector]:
        """The most credible value of the latent function, and its standard deviation if wanted.

        Paper: Prop. 6, mu_t and the diagonal of Sigma_t.
        """
        belief = self.belief(X)
        mean, variance = belief.mean[belief.leading], belief.variance[belief.leading]
        return (mean, np.sqrt(variance)) if return_std else mean

    def belief(self, X: ArrayLike) -> Belief:
        """The latent moments of each row under every credible setting, in units of y.

        Paper: Prop. 6.
        """
        posterior, rows = self._ready(X)
        mean, variance = posterior.moments(rows)
        return Belief(
            self.centre_ + self.unit_ * mean[:, 0],
            self.unit_ * self.unit_ * variance[:, 0],
            posterior.credibility,
        )

    def credible_interval(self, X: ArrayLike, level: float = 0.95) -> Matrix:
        """The smallest interval whose necessity is the level, for the latent of each row, (m, 2).

        What lies outside has a possibility of at most one minus the level. For one Gaussian that
        is the mean plus or minus sqrt(-2 log(1 - level)) standard deviations: 2.45 for 0.95.

        Paper: Sec. 4.3, N(E) = 1 - P(E^c).
        """
        if not isinstance(level, Real) or not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1; got {level}. Use 0.95 for one.")
        belief = self.belief(X)
        with np.errstate(divide="ignore"):
            allowed = 2.0 * (np.log(belief.credibility) - np.log1p(-level))
        in_play = np.flatnonzero(allowed >= 0)
        half = np.sqrt(allowed[in_play, None] * belief.variance[in_play])
        mean = belief.mean[in_play]
        return np.column_stack([(mean - half).min(axis=0), (mean + half).max(axis=0)])

    def outcome(self, X: ArrayLike) -> list[OuterMeasure] | list[GaussianPossibility]:
        """What is said of y at each row, under the most credible setting.

        A random error gives an outer measure: a normal probability whose mean is possibilistic. A
        systematic error gives a possibility function: nothing is random.

        Paper: Prop. 6 (i) and (ii); Eq. (1).
        """
        mean, latent_sd = self.predict(X, return_std=True)
        moments = zip(mean.tolist(), (latent_sd**2).tolist(), strict=True)
        if self.noise == "systematic":
            return [GaussianPossibility(mu, s2 + self.noise_variance_) for mu, s2 in moments]
        error = GaussianNoise(self.noise_variance_)
        return [OuterMeasure(GaussianPossibility(mu, s2), error) for mu, s2 in moments]

    def _starting_noise(self, amplitude: float) -> float:
        """The noise variance most credible before any outcome, in units of y as normalised."""
        if self.noise_variance is None:
            return 0.1 * amplitude
        cure = "Use a small one such as 1e-6 for almost exact outcomes."
        variance = validation.positive_number(self.noise_variance, "noise_variance", cure)
        return variance / self.unit_**2


_READINGS = {"random": "y is drawn anew", "systematic": "the error is unknown but fixed"}
