"""Possibilistic Gaussian-process regressor with the interface of scikit-learn."""

import warnings
from dataclasses import replace
from typing import Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from possibal.arguments import choice, whole
from possibal.arrays import Array, Matrix, Vector
from possibal.belief import Belief
from possibal.estimators import validation
from possibal.estimators.gp_estimator import GPEstimator
from possibal.estimators.uncertainty_split import OutcomeSplit
from possibal.gp.hyperparameters import (
    COMMON,
    INFERENCES,
    NOISE_REACH,
    DefaultKernel,
    InferenceProblem,
    fixed,
    problem,
)
from possibal.gp.kernels import Kernel
from possibal.gp.likelihoods import IDENTITY
from possibal.gp.means import ConstantMean, MeanCallable
from possibal.gp.posterior import TrainingData
from possibal.gp.rbf import NO_LEVEL, with_level
from possibal.theory.credible_set import checked_level, outcome_half_width, squared_radius
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
        noise_variance: variance of the error in units of y, which stays as given; None means that
            it is found with the other hyperparameters, from a tenth of the variance of y.
        hyperparameters: "evidence", "envelope" or "fixed", as for the classifier.
        normalize_y: whether the prior is that of y less its mean, in units of its spread.
        mean: prior mean of y, which is what is predicted far from every row: a number, or a
            function of rows (m, d) -> (m,). "learned" is a constant that is not known, with a
            possibility function of its own around the average of y. None means the average, or
            zero where y is not normalised.

    Attributes:
        posterior_: see :mod:`possibal.gp`; in units of y as normalised.
        noise_variance_: of the most credible setting, in units of y.
        log_evidence_: log marginal likelihood of the most credible setting, of y as normalised.
        kernels_: the credible settings, the most credible first, each with its credibility.
        jitter_: the largest share of a diagonal that had to be added to a matrix; mostly zero.
    """

    def __init__(  # noqa: PLR0913 - all but the kernel are named
        self,
        kernel: Kernel | None = None,
        *,
        noise: Literal["random", "systematic"] = "random",
        noise_variance: float | None = None,
        hyperparameters: str = "evidence",
        normalize_y: bool = True,
        mean: float | MeanCallable | str | None = None,
    ) -> None:
        """Keep the choices; fit checks them."""
        self.kernel = kernel
        self.noise = noise
        self.noise_variance = noise_variance
        self.hyperparameters = hyperparameters
        self.normalize_y = normalize_y
        self.mean = mean

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Condition on rows whose outcome was seen.

        Args:
            X: (n, d); n may be 0 where a kernel is given, which then stays as it is.
            y: (n,), numbers.
            sample_weight: (n,), how many times each row counts: a weight of two is a row given
                twice, so weights are not to be scaled to a sum of one.
        """
        way = choice("hyperparameters", self.hyperparameters, INFERENCES)
        choice("noise", self.noise, _READINGS)
        rows = validation.rows(self, X, reset=True, least=1 if self.kernel is None else 0)
        weight = validation.weights(sample_weight, rows)
        outcomes = validation.numbers(y)
        validation.same_length(rows, outcomes)
        rows, outcomes, weight = validation.merged(rows, outcomes, weight)
        average, self.unit_ = self._average_and_unit(outcomes, weight)
        self.mean_function_ = validation.prior_mean(self.mean, 1) or ConstantMean((average,))
        seen = (outcomes - self.mean_function_.at(rows)[0]) / self.unit_
        amplitude = float(np.average(seen * seen, weights=weight)) if len(seen) else 1.0
        given, noise = self._noise(amplitude or 1.0)
        data = TrainingData(rows, seen[None], weight[None] / (noise if given else 1.0), IDENTITY)
        fit = self._problem(data, amplitude or 1.0, None if given else noise)
        posterior = way(fit) if len(seen) else fixed(fit)
        if given:
            posterior = replace(posterior, data=replace(posterior.data, count=weight))
        self._keep(posterior)
        found = 1.0 / self.posterior_.data.once[0, 0] if len(seen) else noise
        self.noise_variance_ = float(self.noise_variance or self.unit_**2 * found)
        if not given and _varies(outcomes):
            self._warn_of_end(found / noise)
        return self

    @overload
    def predict(
        self, X: ArrayLike, *, return_std: Literal[False] = ..., return_cov: Literal[False] = ...
    ) -> Vector: ...
    @overload
    def predict(
        self, X: ArrayLike, *, return_std: Literal[True], return_cov: Literal[False] = ...
    ) -> tuple[Vector, Vector]: ...
    @overload
    def predict(
        self, X: ArrayLike, *, return_std: Literal[False] = ..., return_cov: Literal[True]
    ) -> tuple[Vector, Matrix]: ...
    @overload
    def predict(
        self, X: ArrayLike, *, return_std: bool = ..., return_cov: bool = ...
    ) -> Vector | tuple[Vector, Vector | Matrix]: ...
    def predict(
        self, X: ArrayLike, *, return_std: bool = False, return_cov: bool = False
    ) -> Vector | tuple[Vector, Vector | Matrix]:
        """The most credible value of the latent function, and its spread if wanted.

        Paper: Prop. 6, mu_t and Sigma_t.

        Args:
            X: (m, d).
            return_std: whether the standard deviations, (m,), are wanted too.
            return_cov: whether the covariances, (m, m), are wanted too; not both.
        """
        if return_std and return_cov:
            raise ValueError(
                "return_cov must be left out where return_std is asked for; got both. "
                "The standard deviations are the roots of the diagonal."
            )
        if return_cov:
            posterior, rows = self._ready(X)
            leading = posterior.leading
            half = 0.5 * self.unit_**2 * leading.cross(rows, rows)[0, 0]
            return self._in_units(rows, leading.moments(rows)[0][0, 0]), half + half.T
        belief = self.belief(X)
        mean, variance = belief.mean[belief.leading], belief.variance[belief.leading]
        return (mean, np.sqrt(variance)) if return_std else mean

    def sample_y(
        self,
        X: ArrayLike,
        n_samples: int = 1,
        random_state: int | np.random.RandomState | None = 0,
    ) -> Matrix:
        """Draws of the latent function at rows, from a Gaussian with the posterior's moments.

        As with scikit-learn, the error is not drawn. Each draw is of one setting, as often as that
        is credible.

        Paper: none; the probabilistic reading of Prop. 6.

        Returns:
            (m, n_samples).
        """
        posterior, rows = self._ready(X)
        count = whole("n_samples", n_samples, 1)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        weight = posterior.credibility / posterior.credibility.sum()
        draws = posterior.draw(rows, rng.choice(len(weight), size=count, p=weight), rng)
        return self._in_units(rows, draws[:, 0]).T

    def belief(self, X: ArrayLike) -> Belief:
        """The latent moments of each row under every credible setting, in units of y.

        Paper: Prop. 6.
        """
        posterior, rows = self._ready(X)
        mean, variance = posterior.moments(rows)
        return Belief(
            self._in_units(rows, mean[:, 0]),
            self.unit_ * self.unit_ * variance[:, 0],
            posterior.credibility,
        )

    def credible_interval(
        self,
        X: ArrayLike,
        level: float = 0.95,
        *,
        of: Literal["latent", "outcome"] = "latent",
    ) -> Matrix:
        """The smallest interval whose necessity is the level, for each row, (m, 2).

        What lies outside has a credibility of at most one minus the level. For the latent of one
        Gaussian that is the mean plus or minus sqrt(-2 log(1 - level)) standard deviations: 2.45
        for 0.95. For an outcome under a systematic error it is that of latent and error together;
        under a random error the credibility of what lies outside is the supremum over the latent
        of its possibility times a probability, so that it may be narrower than the latent's: to go
        beyond a remote latent is improbable, too. Of several settings it holds each one's.

        Paper: Sec. 4.3, N(E) = 1 - P(E^c); Eq. (1) for an outcome under a random error.
        """
        choice("of", of, _OF)
        belief, level = self.belief(X), checked_level(level)
        radius2 = squared_radius(level, belief.credibility)
        kept = np.flatnonzero(radius2 >= 0)
        mean, variance, noise = belief.mean[kept], belief.variance[kept], self._noises()[kept, None]
        if of == "outcome" and self.noise == "systematic":
            variance = variance + noise
        if of == "latent" or self.noise == "systematic":
            half = np.sqrt(radius2[kept, None] * variance)
        else:
            tail = np.exp(-0.5 * radius2[kept, None])
            half = outcome_half_width(np.sqrt(variance), np.sqrt(noise), tail)
        return np.column_stack([(mean - half).min(axis=0), (mean + half).max(axis=0)])

    def split(self, X: ArrayLike, level: float = 0.95) -> OutcomeSplit:
        """What is not known and what is random about the outcome of each row, in units of y.

        Under a systematic error nothing is random: the error is one more thing that is not known.

        Paper: Prop. 6 (i) and (ii).
        """
        is_random = self.noise == "random"
        ends = self.credible_interval(X, level, of="latent" if is_random else "outcome")
        _, latent_sd = self.predict(X, return_std=True)
        noise_sd = np.full(len(latent_sd), self.noise_variance_**0.5)
        if is_random:
            return OutcomeSplit(ends[:, 0], ends[:, 1], latent_sd, noise_sd, level)
        unknown = np.hypot(latent_sd, noise_sd)
        return OutcomeSplit(ends[:, 0], ends[:, 1], unknown, np.zeros(len(unknown)), level)

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

    def _problem(
        self, data: TrainingData, amplitude: float, noise: float | None
    ) -> InferenceProblem:
        """Kernel and data, as the inference of hyperparameters reads them."""
        columns, is_learned = data.X.shape[1], validation.is_learned(self.mean)
        kernels = validation.kernels(self.kernel, 1, columns)
        if kernels is not None and is_learned:
            kernels = (with_level(kernels[0], COMMON.share, columns),)
        own = DefaultKernel(amplitude, COMMON if is_learned else NO_LEVEL)
        return problem(kernels, data, noise=noise, own=own)

    def _warn_of_end(self, share: float) -> None:
        """Say so where the noise variance is the least or the largest that was looked at.

        Args:
            share: of where the search started.
        """
        if self.hyperparameters == "evidence" and abs(np.log(share)) > NOISE_REACH - 1e-3:
            side = "least" if share < 1.0 else "largest"
            warnings.warn(
                f"The most credible setting has the {side} noise variance that is looked at, "
                f"{self.noise_variance_:.3g}; one beyond may be more credible. Pass "
                "noise_variance, a small one where outcomes are exact.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _in_units(self, rows: Matrix, latent: Array) -> Array:
        """Latents of rows, (..., m), in units of y."""
        return self.mean_function_.at(rows)[0] + self.unit_ * latent

    def _average_and_unit(self, y: Vector, weight: Vector) -> tuple[float, float]:
        """The average of outcomes and their spread; zero and one before any was seen."""
        if not self.normalize_y or not len(y):
            return 0.0, 1.0
        average = float(np.average(y, weights=weight))
        spread = float(np.sqrt(np.average((y - average) ** 2, weights=weight)))
        return average, spread if spread > _rounding(y) else 1.0

    def _noise(self, amplitude: float) -> tuple[bool, float]:
        """Whether the noise variance is given, and it or where a search for it starts.

        In units of y as normalised.
        """
        if self.noise_variance is None:
            return False, 0.1 * amplitude
        cure = "Use a small one such as 1e-6 for almost exact outcomes."
        variance = validation.positive_number(self.noise_variance, "noise_variance", cure)
        share = variance / self.unit_**2 / amplitude
        if not _LEAST_NOISE <= share <= _MOST_NOISE:
            raise ValueError(
                f"noise_variance must lie between {_LEAST_NOISE:.0e} and {_MOST_NOISE:.0e} times "
                f"the variance of y; got {variance:.6g}, which is {share:.3g} times. Use one that "
                "is in units of y squared, or leave it out."
            )
        return True, variance / self.unit_**2

    def _noises(self) -> Vector:
        """The noise variance of every setting, in units of y, (S,)."""
        posterior = self.posterior_
        if not len(posterior.data):
            return np.full(len(posterior.prior), self.noise_variance_)
        noise = self.unit_**2 / posterior.data.once[:, 0]
        return np.broadcast_to(noise, (len(posterior.prior),))


def _varies(y: Vector) -> bool:
    """Whether outcomes differ by more than rounding, so that an error may be learnt from them."""
    return bool(len(y)) and float(np.ptp(y)) > _rounding(y)


def _rounding(y: Vector) -> float:
    """A difference of outcomes that is rounding."""
    return max(1e-12 * float(np.abs(y).max()), 1e-150)


_LEAST_NOISE, _MOST_NOISE = 1e-14, 1e250
"""As shares of the variance of y: beyond, rounding is larger than the error, or than all else."""
_READINGS = {"random": "y is drawn anew", "systematic": "the error is unknown but fixed"}
_OF = {"latent": "the function", "outcome": "what is measured"}
