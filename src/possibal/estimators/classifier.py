"""Possibilistic Gaussian-process classifier with the interface of scikit-learn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Self, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from possibal.arrays import Matrix
from possibal.estimators import validation
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.latent_gaussian import LatentGaussianClassifier
from possibal.estimators.subset import MAX_LABELS
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
    LENGTH_SHARE,
    DefaultKernel,
    InferenceProblem,
    problem,
)
from possibal.gp.kernels import Kernel, leading_columns
from possibal.gp.latent_posterior import LatentPosterior
from possibal.gp.means import ZERO, MeanCallable
from possibal.gp.posterior import TrainingData
from possibal.gp.probabilities import AnyPosterior
from possibal.gp.rbf import Level, with_level
from possibal.numerics.distances import RIGHT_ANGLE, usual_distance
from possibal.numerics.geometry import RowGeometry

AnyModel = TypeVar("AnyModel", bound=CampaignModel)


class PossibilisticGPClassifier(LatentGaussianClassifier):
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

    def _problem(self, data: TrainingData) -> InferenceProblem:
        """Mean, kernels and data, as the inference of hyperparameters reads them."""
        distance = validation.distance(self.usual_distance)
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

    def for_geometry(self, geometry: RowGeometry) -> Self:
        """A clone that compares rows as they want, unless it has a kernel or a way of its own."""
        found = cast("Self", clone(self))
        if found.kernel is None:
            found.set_params(kernel=geometry.kernel)
        if validation.is_default(found.kernel) and found.blocks is None and found.metric is None:
            found.set_params(blocks=geometry.blocks or None, metric=geometry.metric)
        if found.diffusion is None and geometry.diffusion:
            found.set_params(diffusion=geometry.diffusion)
        return found

    def for_pool(self, X: Matrix) -> Self:
        """A clone that takes the usual distance and centre of a pool, where it has no others."""
        found = cast("Self", clone(self))
        if found.usual_distance is None:
            columns = X.shape[1] - (found.diffusion or 0)
            found.set_params(usual_distance=usual_distance(X[:, :columns]))
        if found.centre is None:
            found.set_params(centre=X.mean(axis=0))
        return found


@overload
def fitted_posterior(model: CampaignModel) -> AnyPosterior: ...
@overload
def fitted_posterior(model: object) -> AnyPosterior | LatentPosterior: ...
def fitted_posterior(model: object) -> AnyPosterior | LatentPosterior:
    """The posterior of a fitted classifier, or what is one; else one sentence on what is not."""
    if isinstance(model, LatentPosterior):
        return model
    if not isinstance(model, CampaignModel):
        raise TypeError(
            "model must be a PossibilisticGPClassifier or a PossibilisticLogisticRegression; "
            f"got {type(model).__name__}. Fit one first; for a model of your own pass its "
            "possibal.gp.LatentPosterior."
        )
    check_is_fitted(model, "posterior_")
    return model.posterior_


def unfitted(model: AnyModel) -> AnyModel:
    """A clone of a classifier, without its fit."""
    if not isinstance(model, CampaignModel):  # pyright: ignore[reportUnnecessaryIsInstance] - not all callers check types
        raise TypeError(
            "classifier must be a PossibilisticGPClassifier or a PossibilisticLogisticRegression; "
            f"got {type(model).__name__}. Leave it out for the usual one."
        )
    return cast("AnyModel", clone(model))


def with_geometry(model: AnyModel, geometry: RowGeometry) -> AnyModel:
    """A clone that compares rows as they want, unless it has a kernel or a way of its own."""
    return unfitted(model).for_geometry(geometry)


def with_pool_scale(model: AnyModel, X: Matrix) -> AnyModel:
    """A clone that takes its scale from a pool, where it has none of its own.

    No answer changes it, so that a large pool can be cached.
    """
    return unfitted(model).for_pool(X)


def count_labels(model: CampaignModel | LatentPosterior) -> int:
    """How many labels a model was given; of rows alike, each counts."""
    if isinstance(model, LatentPosterior):
        return model.n_labels
    return round(float(model.posterior_.data.weight[0].sum())) + model.left_out_
