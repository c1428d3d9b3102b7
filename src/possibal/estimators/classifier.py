"""Possibilistic Gaussian-process classifier with the interface of scikit-learn."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Self, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from possibal.acquisition import pointwise
from possibal.acquisition.label_possibility import possibility
from possibal.arguments import choice, whole
from possibal.arrays import Array, Matrix, Vector
from possibal.belief import Belief
from possibal.errors import FlatScoresWarning, ManyClassesWarning
from possibal.estimators import validation
from possibal.estimators.gp_estimator import GPEstimator
from possibal.estimators.subset import MAX_LABELS, subset_of_data
from possibal.estimators.uncertainty_split import LabelSplit, probability_range, split_labels
from possibal.gp.feature_maps import (
    NO_FEATURES,
    ColumnCosines,
    DiffusionColumns,
    FeatureMap,
    additive_weight,
    without_features,
)
from possibal.gp.hyperparameters import (
    COMMON,
    INFERENCES,
    LENGTH_SHARE,
    DefaultKernel,
    InferenceProblem,
    problem,
)
from possibal.gp.kernels import Kernel, leading_columns
from possibal.gp.latent_posterior import LatentPosterior
from possibal.gp.likelihoods import LINKS, SOFTMAX, Link, Softmax
from possibal.gp.means import ZERO, MeanCallable
from possibal.gp.posterior import Posterior, TrainingData
from possibal.gp.rbf import Level, with_level
from possibal.numerics.distances import RIGHT_ANGLE, usual_distance
from possibal.numerics.geometry import RowGeometry
from possibal.theory.credible_set import checked_level

MANY_CLASSES = 100
"""More than these, and whoever fits is told that it takes long."""
_BLOCK = 1000
"""Rows whose latents are drawn together."""
_SAMPLE = 1000
"""Rows scored to see whether scores tell them apart."""
_FEW = 10
"""Of so few rows it is no wonder if scores tell few apart."""


class PossibilisticGPClassifier(ClassifierMixin, GPEstimator):
    """A Gaussian-process classifier that knows what it does not know.

    Two labels have one latent function and a probit or logistic link; more have one latent each
    and a softmax. Laplace's method gives the posterior; it may start from a single label or none.

    Paper: Props. 7 and 8.

    Args:
        kernel: a scikit-learn kernel, or a sequence of one per class; None means a constant times
            the sum of an RBF, whose length-scale follows the usual distance, a level that all
            rows have in common, and a kernel that is additive over columns, or where rows bring
            diffusion coordinates one of these; "rbf" leaves this last part out.
        link: "probit" or "logistic", for two labels.
        hyperparameters: "envelope" carries every credible setting, "evidence" the best one, and
            "fixed" those of the kernel.
        classes: all labels there may be; None means those in y.
        usual_distance: of two rows, which length-scales are believed near a share of; None means
            that of the rows seen. A campaign takes that of its pool.
        centre: (d,), of the columns, from where the additive kernel reads them; None means the mean
            of the rows seen. A campaign takes that of its pool.
        blocks: how many columns each block of X has, such as texts, pictures and numbers side by
            side; which blocks count is then one more thing that labels settle. For the usual
            kernel; None means one block.
        metric: "euclidean", or "cosine" where only the direction of a row says what it is, as with
            embeddings of texts and pictures: rows are then brought to length one, rows at right
            angles have nothing in common, and the usual distance is theirs. For the usual kernel.
            None means "euclidean", or in a campaign what its rows ask for.
        diffusion: how many of the last columns of X are diffusion coordinates, which tell the
            clusters of a pool (:mod:`possibal.numerics.diffusion`). Campaigns of texts and pictures
            make them; None means that there are none. Other kernels than the default do not see
            these columns.
        mean: prior mean of the latents, which is what they are far from every label: a number
            (positive for the second class), one for each of more than two classes, or a function of
            rows (m, d) -> (m,) or (m, C); the default kernel is then an RBF alone. "learned" is a
            constant that is not known, with a possibility function of its own; so is None under the
            default kernel. With a kernel of your own None means zero.
        most_labels: so many are fitted exactly; of more, half are a random sample and half are
            those of largest doubt under a fit to the others.
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
        kernel: Kernel | Sequence[Kernel] | str | None = None,
        *,
        link: str = "probit",
        hyperparameters: str = "envelope",
        classes: ArrayLike | None = None,
        usual_distance: float | None = None,
        centre: ArrayLike | None = None,
        blocks: Sequence[int] | None = None,
        metric: str | None = None,
        diffusion: int | None = None,
        mean: float | Sequence[float] | MeanCallable | str | None = None,
        most_labels: int = MAX_LABELS,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        """Keep the choices; fit checks them."""
        self.kernel = kernel
        self.link = link
        self.hyperparameters = hyperparameters
        self.classes = classes
        self.usual_distance = usual_distance
        self.centre = centre
        self.blocks = blocks
        self.metric = metric
        self.diffusion = diffusion
        self.mean = mean
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
        _warn_of_many(len(self.classes_), len(rows))
        seen = np.where(codes == 1, 1.0, -1.0)[None]
        if len(self.classes_) > 2:  # noqa: PLR2004 - two labels need one latent
            link = SOFTMAX
            seen = (np.arange(len(self.classes_))[:, None] == codes).astype(float)
        data = TrainingData(rows, seen, weight[None], link)
        fit = subset_of_data(self._problem(data, distance), most)
        self.left_out_ = len(data) - len(fit.data)
        self._keep(way(fit))
        return self

    def _problem(self, data: TrainingData, distance: float | None) -> InferenceProblem:
        """Mean, kernels and data, as the inference of hyperparameters reads them."""
        processes, columns = len(data.y), data.X.shape[1]
        kernel = validation.own_kernel(self.kernel)
        diffusion = validation.diffusion(self.diffusion, self.blocks, columns)
        kernels = validation.kernels(kernel, processes, columns - diffusion)
        blocks = validation.blocks(self.blocks, kernel, columns)
        level = validation.metric_level(self.metric, kernel, blocks)
        mean = validation.prior_mean(self.mean, processes)
        features: FeatureMap = NO_FEATURES
        if kernels is not None and diffusion:
            kernels = tuple(leading_columns(one, columns - diffusion) for one in kernels)
        elif kernels is None and len(blocks) < 2:  # noqa: PLR2004 - several have weights instead
            if level.is_spherical:
                distance = RIGHT_ANGLE
            elif distance is None:
                distance = usual_distance(data.X[:, : columns - diffusion])
            is_alone = self.kernel is not None or mean is not None
            features = self._feature_map(data.X, LENGTH_SHARE * distance, level, diffusion)
            features = without_features(features) if is_alone else features
        if kernels is not None and validation.is_learned(self.mean):
            kernels = tuple(with_level(one, COMMON.share, columns) for one in kernels)
        if mean is not None:
            level = replace(level, share=0.0)
        own = DefaultKernel(level=level, blocks=blocks, features=features)
        return problem(kernels, data, distance=distance, own=own, mean=mean or ZERO)

    def _feature_map(self, X: Matrix, length: float, level: Level, diffusion: int) -> FeatureMap:
        """What is added to the RBF of the default kernel, whose length-scale is given."""
        centre = validation.centre(self.centre, X)
        if diffusion:
            return DiffusionColumns(diffusion, length)
        if level.is_spherical:  # a column of an embedding means nothing by itself
            return NO_FEATURES
        return ColumnCosines(centre, length, additive_weight(X.shape[1]))

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


@overload
def fitted_posterior(model: PossibilisticGPClassifier) -> Posterior: ...
@overload
def fitted_posterior(model: object) -> Posterior | LatentPosterior: ...
def fitted_posterior(model: object) -> Posterior | LatentPosterior:
    """The posterior of a fitted classifier, or what is one; else one sentence on what is not."""
    if isinstance(model, LatentPosterior):
        return model
    if not isinstance(model, PossibilisticGPClassifier):
        raise TypeError(
            f"model must be a PossibilisticGPClassifier; got {type(model).__name__}. Fit one "
            "first; for a model of your own pass its possibal.gp.LatentPosterior."
        )
    check_is_fitted(model, "posterior_")
    return model.posterior_


def unfitted(model: object) -> PossibilisticGPClassifier:
    """A clone of a classifier, without its fit."""
    if not isinstance(model, PossibilisticGPClassifier):
        raise TypeError(
            "classifier must be a PossibilisticGPClassifier; "
            f"got {type(model).__name__}. Leave it out for the usual one."
        )
    return cast("PossibilisticGPClassifier", clone(model))


def with_geometry(
    model: PossibilisticGPClassifier, geometry: RowGeometry
) -> PossibilisticGPClassifier:
    """A clone that compares rows as they want, unless it has a kernel or a way of its own."""
    found = unfitted(model)
    if found.kernel is None:
        found.set_params(kernel=geometry.kernel)
    if validation.is_default(found.kernel) and found.blocks is None and found.metric is None:
        found.set_params(blocks=geometry.blocks or None, metric=geometry.metric)
    if found.diffusion is None and geometry.diffusion:
        found.set_params(diffusion=geometry.diffusion)
    return found


def with_pool_scale(model: PossibilisticGPClassifier, X: Matrix) -> PossibilisticGPClassifier:
    """A clone that takes the usual distance and the centre of a pool, where it has no others.

    No answer changes them, so that a large pool can be cached.
    """
    found = unfitted(model)
    if found.usual_distance is None:
        found.set_params(usual_distance=usual_distance(X[:, : X.shape[1] - (found.diffusion or 0)]))
    if found.centre is None:
        found.set_params(centre=X.mean(axis=0))
    return found


def count_labels(model: PossibilisticGPClassifier | LatentPosterior) -> int:
    """How many labels a model was given; of rows alike, each counts."""
    if isinstance(model, LatentPosterior):
        return model.n_labels
    return round(float(model.posterior_.data.weight[0].sum())) + model.left_out_
