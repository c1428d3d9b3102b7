"""What possibilistic classifiers share: a posterior by Laplace's method, and what is read of it."""

import warnings
from abc import abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from possibal.acquisition import pointwise
from possibal.acquisition.label_possibility import possibility
from possibal.arguments import choice, whole
from possibal.arrays import Array, Matrix, Vector
from possibal.belief import Belief
from possibal.errors import FlatScoresWarning, ManyClassesWarning
from possibal.estimators import validation
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.gp_estimator import GPEstimator
from possibal.estimators.subset import subset_of_data
from possibal.estimators.uncertainty_split import LabelSplit, probability_range, split_labels
from possibal.gp.hyperparameters import (
    INFERENCES,
    HyperparameterInference,
    InferenceProblem,
)
from possibal.gp.likelihoods import LINKS, SOFTMAX, Link, Softmax
from possibal.gp.posterior import Posterior, TrainingData
from possibal.theory.credible_set import checked_level

MANY_CLASSES = 100
"""More than these, and whoever fits is told that it takes long."""
_BLOCK = 1000
"""Rows whose latents are drawn together."""
_SAMPLE = 1000
"""Rows scored to see whether scores tell them apart."""
_FEW = 10
"""Of so few rows it is no wonder if scores tell few apart."""


class LatentGaussianClassifier(CampaignModel, GPEstimator):
    """A classifier of ours: latent functions described by possibility, and labels by a link.

    Two labels have one latent function and a probit or logistic link; more have one latent each
    and a softmax. Laplace's method gives the posterior; it may start from a single label or none.
    A subclass says which functions there may be: :meth:`_problem`.

    Paper: Props. 7 and 8.
    """

    link: str
    most_labels: int
    posterior_: Posterior  # pyright: ignore[reportIncompatibleVariableOverride] - only fit sets it
    random_state: int | np.random.RandomState | None

    @abstractmethod
    def _problem(self, data: TrainingData) -> InferenceProblem:
        """Mean, kernels and data, as the inference of hyperparameters reads them."""

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
        rows = self._rows(X, reset=True, least=0 if self.classes is not None else 1)
        weight = validation.weights(sample_weight, rows)
        labels = validation.column(y)
        validation.same_length(rows, labels)
        self.classes_, codes = validation.labels(
            labels[weight > 0], self.classes, np.flatnonzero(weight > 0)
        )
        spread = np.zeros(len(rows))
        spread[weight > 0] = codes
        rows, codes, weight = validation.merged(rows, spread, weight)
        _warn_of_many(len(self.classes_), len(rows))
        seen = np.where(codes == 1, 1.0, -1.0)[None]
        if len(self.classes_) > 2:  # noqa: PLR2004 - two labels need one latent
            link = SOFTMAX
            seen = (np.arange(len(self.classes_))[:, None] == codes).astype(float)
        data = TrainingData(rows, seen, weight[None], link)
        posterior = self._conditioned(data, way, most)
        self.left_out_ = len(data) - len(posterior.data)
        self._keep(posterior)
        return self

    def _conditioned(
        self, data: TrainingData, way: HyperparameterInference, most: int
    ) -> Posterior:
        """The posterior given labelled rows, or so many of them."""
        return way(subset_of_data(self._problem(data), most))

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

    def credible_probability(self, X: ArrayLike, level: float = 0.95) -> Array:
        """Least and largest probability of each label over what is credible, (m, C, 2).

        The latents of a row whose possibility is at least one minus the level, under any credible
        setting, are pushed through the link: the range has the level as its necessity. Narrow
        around one half it tells of a label that is random, wide of one that is not known yet.

        Paper: Sec. 4.3, N(E) = 1 - P(E^c), of the latents of Props. 7 and 8.
        """
        posterior, rows = self._ready(X)
        return probability_range(posterior, rows, checked_level(level))

    def split(self, X: ArrayLike, level: float = 0.95) -> LabelSplit:
        """What is not known and what is random about the label of each row.

        Paper: Sec. 4.3 for what is not known; App. B.3 for what is random.
        """
        posterior, rows = self._ready(X)
        return split_labels(posterior, rows, self.classes_, checked_level(level))

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


def _warn_of_many(classes: int, rows: int) -> None:
    """Say that a fit takes long before it does: each class has a latent process of its own."""
    if classes > MANY_CLASSES and rows:
        warnings.warn(
            f"y has {classes} classes in {rows} rows, and a fit of so many may take minutes. "
            "Join classes, or label coarse ones first.",
            ManyClassesWarning,
            stacklevel=3,
        )
