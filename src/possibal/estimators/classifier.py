"""scikit-learn estimators over the Gaussian processes of gp.py."""

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from possibal.acquisition import pointwise
from possibal.acquisition.label_possibility import possibility
from possibal.arguments import choice, whole
from possibal.arrays import Array, Matrix, Vector
from possibal.belief import Belief
from possibal.errors import FlatScoresWarning
from possibal.estimators import validation
from possibal.estimators.subset import MAX_LABELS, subset_of_data
from possibal.gp.hyperparameters import COMMON, INFERENCES, DefaultKernel, problem
from possibal.gp.kernels import Kernel
from possibal.gp.likelihoods import IDENTITY, LINKS, SOFTMAX, Link, Softmax
from possibal.gp.posterior import Posterior, TrainingData
from possibal.theory.families import GaussianNoise
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.outer_measure import OuterMeasure

_BLOCK = 1000
"""Rows whose latents are drawn together."""
_SAMPLE = 1000
"""Rows looked at to see whether scores tell them apart."""
_FEW = 10
"""Of so few rows it is no wonder if scores tell few apart."""


class _GPEstimator(BaseEstimator):
    """What both estimators do with a posterior: keep it, and hand it out with checked rows."""

    posterior_: Posterior

    def _keep(self, posterior: Posterior) -> None:
        """Keep what a fit learned, the most credible setting first; warn where it is doubtful."""
        if len(posterior.prior) > 1:
            posterior = posterior.part(np.argsort(-posterior.credibility, kind="stable"))
        self.posterior_ = posterior
        self.log_evidence_ = float(posterior.log_evidence[0])
        self.jitter_ = float(posterior.mode.information.jitter.max())
        if not posterior.mode.settled.all():
            warnings.warn(
                f"The climb to the mode failed after {posterior.mode.steps.max()} steps; the best "
                f"place found is kept. Make the amplitude of {posterior.prior.name} smaller.",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def kernels_(self) -> list[tuple[list[Kernel], float]]:
        """The credible settings, the most credible first, each with its credibility."""
        check_is_fitted(self, "posterior_")
        credibility = self.posterior_.credibility.tolist()
        return list(zip(self.posterior_.prior.settings(), credibility, strict=True))

    def _ready(self, X: ArrayLike) -> tuple[Posterior, Matrix]:
        """The posterior, and rows it can be asked about."""
        check_is_fitted(self, "posterior_")
        return self.posterior_, validation.rows(self, X, reset=False)


class PossibilisticGPClassifier(ClassifierMixin, _GPEstimator):
    """A Gaussian-process classifier that knows what it does not know.

    Two labels have one latent function and a probit or logistic link; more have one latent each
    and a softmax. Laplace's method gives the posterior; it may start from a single label or none.

    Paper: Props. 7 and 8.

    Args:
        kernel: a scikit-learn kernel, or a sequence of one per class; None means a constant times
            the sum of an RBF, whose length-scale follows the usual distance, and a level that all
            rows have in common.
        link: "probit" or "logistic", for two labels.
        hyperparameters: "envelope" carries every credible setting, "evidence" the best one, and
            "fixed" those of the kernel.
        classes: all labels there may be; None means those in y.
        usual_distance: of two rows, which length-scales are believed near a share of; None means
            that of the rows seen. A campaign takes that of its pool.
        most_labels: so many are learnt from exactly; of more, half are drawn by lot and half are
            those that a fit to the others doubts most.
        random_state: for :meth:`sample_proba`.

    Attributes:
        classes_: the labels, in order.
        posterior_: what the scores and this estimator read; see :mod:`possibal.gp`.
        log_evidence_: log marginal likelihood of the most credible setting.
        kernels_: the credible settings, the most credible first, each with its credibility.
        jitter_: the largest share of a diagonal that had to be added to a matrix; mostly zero.
        left_out_: how many distinct labelled rows were beyond most_labels; mostly zero.
    """

    def __init__(  # noqa: PLR0913 - all but the kernel are named
        self,
        kernel: Kernel | Sequence[Kernel] | None = None,
        *,
        link: str = "probit",
        hyperparameters: str = "envelope",
        classes: ArrayLike | None = None,
        usual_distance: float | None = None,
        most_labels: int = MAX_LABELS,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        """Keep the choices; fit checks them."""
        self.kernel = kernel
        self.link = link
        self.hyperparameters = hyperparameters
        self.classes = classes
        self.usual_distance = usual_distance
        self.most_labels = most_labels
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Condition on labelled rows.

        Args:
            X: (n, d); n may be 0 where classes are named.
            y: (n,), labels.
            sample_weight: (n,), how many times each row counts.
        """
        way = choice("hyperparameters", self.hyperparameters, INFERENCES)
        link: Link | Softmax = choice("link", self.link, LINKS)
        most = whole("most_labels", self.most_labels, 2)
        distance = validation.distance(self.usual_distance)
        rows = validation.rows(self, X, reset=True, least=0 if self.classes is not None else 1)
        weight = validation.weights(sample_weight, rows)
        labels = validation.column(y)
        validation.same_length(rows, labels)
        self.classes_, codes = validation.labels(
            labels[weight > 0], self.classes, np.flatnonzero(weight > 0)
        )
        spread = np.zeros(len(rows))
        spread[weight > 0] = codes
        rows, codes, weight = validation.merged(rows, spread, weight)
        seen = np.where(codes == 1, 1.0, -1.0)[None]
        if len(self.classes_) > 2:  # noqa: PLR2004 - two labels need one latent
            link = SOFTMAX
            seen = (np.arange(len(self.classes_))[:, None] == codes).astype(float)
        data = TrainingData(rows, seen, weight[None], link)
        processes = len(self.classes_) if link is SOFTMAX else 1
        kernels = validation.kernels(self.kernel, processes, rows.shape[1])
        fit = subset_of_data(
            problem(kernels, data, distance=distance, own=DefaultKernel(common=COMMON)), most
        )
        self.left_out_ = len(data) - len(fit.data)
        self._keep(way(fit))
        return self

    def latent_mean_and_variance(self, X: ArrayLike) -> tuple[Array, Array]:
        """Latent moments under the most credible setting: (m,) for two labels, else (m, C).

        Paper: Props. 7 and 8, mu_t and the diagonal of Sigma_t.
        """
        posterior, rows = self._ready(X)
        mean, variance = posterior.leading.moments(rows)
        if isinstance(posterior.data.link, Softmax):
            return mean[0].T, variance[0].T
        return mean[0, 0], variance[0, 0]

    def belief(self, X: ArrayLike) -> Belief:
        """What the scores read: the latent moments of each row under every credible setting.

        A logistic latent is put on the probit's scale. Rows that no score can tell apart cause a
        :class:`~possibal.errors.FlatScoresWarning`.
        """
        return self._distinct_belief(X)

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """The most credible probability of each label, (m, C), averaged over credible settings.

        Paper: App. B.3, E*(pi(g_t)) is the softmax, or the sigmoid, of the mode.
        """
        posterior, rows = self._ready(X)
        return posterior.probability(rows)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label of largest probability; the first in order where several are.

        Where settings disagree, it may differ from the leading label of :meth:`necessity`, which
        is that of the most credible setting.
        """
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]

    def necessity(self, X: ArrayLike) -> Vector:
        """Necessity that the leading label is truly the likeliest, in [0, 1].

        Paper: Props. 2 and 3.
        """
        return pointwise.necessity(self._distinct_belief(X))

    def possibility(self, X: ArrayLike) -> Matrix:
        """Possibility that each label is the likeliest, (m, C); the leading label has one.

        Paper: Sec. 4.3.
        """
        return possibility(self._distinct_belief(X))

    def sample_proba(
        self,
        X: ArrayLike,
        n_samples: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> Array:
        """Probabilities of the labels under latents drawn from the posterior.

        Rows are drawn together in blocks of a thousand; rows of different blocks are independent.

        Returns:
            (n_samples, m, C).
        """
        posterior, rows = self._ready(X)
        if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(
                f"n_samples must be a whole number of at least 1; got {n_samples}. Try 100."
            )
        state = self.random_state if random_state is None else random_state
        rng = np.random.default_rng(check_random_state(state).randint(2**31))
        weight = posterior.credibility / posterior.credibility.sum()
        members = rng.choice(len(weight), size=n_samples, p=weight)
        blocks = [rows[i : i + _BLOCK] for i in range(0, len(rows), _BLOCK)]
        g = np.concatenate([posterior.draw(block, members, rng) for block in blocks], axis=2)
        p = posterior.data.link.probability(g)
        if not isinstance(posterior.data.link, Softmax):
            p = np.concatenate([1.0 - p, p], axis=1)
        return np.swapaxes(p, 1, 2)

    def _distinct_belief(self, X: ArrayLike) -> Belief:
        """The belief about rows, with a warning to who asked where few have their own score."""
        posterior, rows = self._ready(X)
        belief = posterior.at(rows)
        step = max(1, len(belief) // _SAMPLE)
        scores = pointwise.doubt(belief.part(slice(0, _SAMPLE * step, step)))
        distinct = len(np.unique(scores))
        if len(scores) > _FEW and distinct < 0.1 * len(scores):
            reason = "no label is known yet, so one row is as good to ask about as another."
            if len(posterior.data):
                reason = (
                    "to this kernel they look alike. Standardise the columns, choose another "
                    "length-scale, or check whether rows are repeated."
                )
            warnings.warn(
                f"Only {distinct} of {len(scores)} rows have a score of their own: {reason}",
                FlatScoresWarning,
                stacklevel=3,
            )
        return belief


class PossibilisticGPRegressor(RegressorMixin, _GPEstimator):
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
