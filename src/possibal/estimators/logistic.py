"""Possibilistic logistic regression with the interface of scikit-learn; rows may be sparse."""

from collections.abc import Sequence
from typing import Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

from possibal.arrays import Matrix, Vector
from possibal.estimators import validation
from possibal.estimators.latent_gaussian import LatentGaussianClassifier
from possibal.estimators.subset import MAX_LABELS
from possibal.gp.flat import FlatPosterior, condition_flat
from possibal.gp.hyperparameters import (
    AMPLITUDE,
    HyperparameterInference,
    InferenceProblem,
    problem,
)
from possibal.gp.kernels import Kernel, leading_columns
from possibal.gp.linear import LinearPrior
from possibal.gp.means import ZERO, MeanCallable
from possibal.gp.posterior import Posterior, TrainingData
from possibal.numerics.geometry import RowGeometry
from possibal.numerics.sparse_rows import squared_lengths

INTERCEPT = 0.03
"""Prior variance of the intercept, as a share of that of a latent of a row of usual length. Of
texts as TF-IDF most pairs have next to no word in common, and a larger one outweighs the words
(docs/models.md)."""
_BOUND = 1e3
"""The factor by which an envelope may leave the precision, to either side."""


class PossibilisticLogisticRegression(LatentGaussianClassifier):
    """Logistic regression that knows what it does not know.

    The weights of the columns have a Gaussian possibility function before any label; Laplace's
    method gives the one after, and with it the same as a
    :class:`~possibal.PossibilisticGPClassifier` says of rows. Sparse rows, such as TF-IDF, stay
    sparse. Columns should be of one scale, for all weights have the same precision.

    Paper: Sec. 3.2 for the prior; Props. 7 and 8 with inner products for a kernel.

    Args:
        precision: of each weight, one over its prior variance. None means that the latent of a
            row of usual length has the prior variance of the usual kernel. Zero means complete
            ignorance of weights: for two labels that no linear function separates; whatever lies
            in a direction that no labelled row has is then not known at all.
        link: "logistic" or "probit", for two labels.
        hyperparameters: "envelope" carries every credible precision, "evidence" the best one, and
            "fixed" the one given. A precision of zero is kept.
        classes: all labels there may be; None means those in y.
        usual_length: of rows, the root of their mean square; None means that of the rows seen. A
            campaign takes that of its pool.
        fit_intercept: whether there is an intercept; its prior variance is a share, 0.03, of that
            of a latent, since labels that are asked for are rarely as frequent as in the pool.
        mean: prior mean of the latents: a number, one for each of more than two classes, or a
            function of rows (m, d) -> (m,) or (m, C), such as the last layer of a network whose
            features the rows are. Labels then tell where it is wrong. None means zero.
        diffusion: how many of the last columns are diffusion coordinates, which campaigns of texts
            and pictures make; a linear function does not see them.
        most_labels: so many are fitted exactly; of more, half are a random sample and half are
            those of largest doubt under a fit to the others.
        random_state: for :meth:`sample_proba`.

    Attributes:
        classes_: the labels, in order.
        coef_: weights under the most credible precision, (1, d) for two labels, else (C, d).
        intercept_: (1,) or (C,).
        precision_: the most credible one.
        posterior_: what the scores and this estimator read; see :mod:`possibal.gp`.
        log_evidence_: log marginal likelihood at this precision; with precision zero, which has
            none, log of the largest likelihood.
        kernels_: the credible settings, the most credible first, each with its credibility.
        left_out_: how many distinct labelled rows were beyond most_labels; mostly zero.
    """

    kernel = None

    def __init__(  # noqa: PLR0913 - all but the precision are named
        self,
        precision: float | None = None,
        *,
        link: str = "logistic",
        hyperparameters: str = "envelope",
        classes: ArrayLike | None = None,
        usual_length: float | None = None,
        fit_intercept: bool = True,
        mean: float | Sequence[float] | MeanCallable | None = None,
        diffusion: int | None = None,
        most_labels: int = MAX_LABELS,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        """Keep the choices; fit checks them."""
        self.precision = precision
        self.link = link
        self.hyperparameters = hyperparameters
        self.classes = classes
        self.usual_length = usual_length
        self.fit_intercept = fit_intercept
        self.mean = mean
        self.diffusion = diffusion
        self.most_labels = most_labels
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Condition on labelled rows.

        Args:
            X: (n, d), dense or sparse; n may be 0 where classes are named.
            y: (n,), labels.
            sample_weight: (n,), how many times each row counts.
        """
        super().fit(X, y, sample_weight)
        leading = self.posterior_.leading
        rows, shares = leading.data.X, _shares(leading)
        self.coef_ = np.zeros((len(shares), rows.shape[1]))
        seen = rows.shape[1] - (self.diffusion or 0)
        self.coef_[:, :seen] = (rows.T @ shares.T).T[:, :seen]
        amplitude = _amplitude(leading)
        self.precision_ = 0.0 if self._precision == 0 else 1.0 / amplitude
        nowhere = np.zeros((1, rows.shape[1]))
        alone = float(leading.prior.settings()[0][0].diag(nowhere)[0])  # of the intercept alone
        self.intercept_ = alone / amplitude * shares.sum(axis=1)
        return self

    @property
    def _precision(self) -> float | None:
        """The precision as a number, if it may be one."""
        if self.precision is None or _is_zero(self.precision):
            return None if self.precision is None else 0.0
        cure = "Use zero for complete ignorance, or leave it out."
        return validation.positive_number(self.precision, "precision", cure)

    def _rows(self, X: ArrayLike, *, reset: bool, least: int = 1) -> Matrix:
        """Rows as finite floats, sparse ones as they are."""
        if issparse(X) and not self.diffusion:
            return validation.sparse_rows(self, X, reset=reset, least=least)
        return super()._rows(X, reset=reset, least=least)

    def _problem(self, data: TrainingData) -> InferenceProblem:
        """Mean, kernel and data, as the inference of hyperparameters reads them."""
        processes = len(data.y)
        if validation.is_learned(self.mean):
            raise ValueError(
                "mean must be a number or a function of rows; got 'learned'. "
                "Leave it out: the intercept is learned."
            )
        mean = validation.prior_mean(self.mean, processes)
        kernel = self._kernel(self._length2(data))
        diffusion = validation.diffusion(self.diffusion, None, data.X.shape[1])
        if diffusion:
            kernel = leading_columns(kernel, data.X.shape[1] - diffusion)
        return problem((kernel,), data, distance=1.0, mean=mean or ZERO)

    def _kernel(self, length2: float) -> Kernel:
        """A constant, the prior variance of weights, times inner products with an intercept."""
        precision = self._precision
        amplitude = AMPLITUDE / length2 if precision is None else 1.0 / (precision or 1.0)
        bounds = (amplitude / _BOUND, amplitude * _BOUND)
        intercept = np.sqrt(INTERCEPT * length2) if self.fit_intercept else 0.0
        return cast(
            "Kernel", ConstantKernel(amplitude, bounds) * DotProduct(float(intercept), "fixed")
        )

    def _length2(self, data: TrainingData) -> float:
        """The usual squared length of a row."""
        if self.usual_length is not None:
            cure = "Leave it out for that of the rows seen."
            return validation.positive_number(self.usual_length, "usual_length", cure) ** 2
        return _mean_square(data.X, data.weight[0])

    def _conditioned(
        self, data: TrainingData, way: HyperparameterInference, most: int
    ) -> Posterior:
        """The posterior given labelled rows, or so many of them."""
        if self._precision != 0:
            return super()._conditioned(data, way, most)
        self._check_flat(data, most)
        kernel = self._kernel(self._length2(data))
        prior = LinearPrior.of(kernel, kernel.theta[None])
        assert prior is not None  # noqa: S101 - tells the type checker
        return condition_flat(prior, data)

    def _check_flat(self, data: TrainingData, most: int) -> None:
        """Refuse what has no meaning where nothing is known of weights."""
        if len(data.y) > 1:
            raise ValueError(
                "precision must be above zero for more than two classes, for no label tells what "
                f"the latents of a row have in common; got 0 and {len(data.y)} classes. "
                "Leave it out."
            )
        if self.mean is not None or self.diffusion is not None:
            raise ValueError(
                "precision must be above zero where mean or diffusion is given; got 0. "
                "Leave one of them out."
            )
        if len(data) > most:
            raise ValueError(
                f"precision must be above zero for more than most_labels={most} labelled rows; "
                f"got 0 and {len(data)}. Leave it out, or raise most_labels."
            )

    def for_geometry(self, geometry: RowGeometry) -> Self:
        """A clone that leaves diffusion coordinates out."""
        found = cast("Self", clone(self))
        if found.diffusion is None and geometry.diffusion:
            found.set_params(diffusion=geometry.diffusion)
        return found

    def for_pool(self, X: Matrix) -> Self:
        """A clone that takes the usual length of a pool's rows, where it has no other."""
        if self._precision == 0:
            raise ValueError(
                "precision must be above zero in a campaign, for its first labels are always "
                "separated by a linear function; got 0. Leave it out."
            )
        found = cast("Self", clone(self))
        if found.usual_length is None:
            columns = X.shape[1] - (found.diffusion or 0)
            found.set_params(usual_length=float(np.sqrt(_mean_square(X[:, :columns]))))
        return found


def _shares(posterior: Posterior) -> Matrix:
    """How much of each labelled row weights are made of, (P, n)."""
    if isinstance(posterior, FlatPosterior):
        return (posterior.seen.change @ posterior.weights)[None]
    return _amplitude(posterior) * posterior.mode.a[0]


def _amplitude(posterior: Posterior) -> float:
    """The prior variance of each weight."""
    return float(np.exp(posterior.prior.settings()[0][0].theta[0]))


def _mean_square(X: Matrix, weight: Vector | None = None) -> float:
    """The mean of the squared lengths of rows; one where all are zero or none is there."""
    each = squared_lengths(X)
    found = float(np.average(each, weights=weight)) if len(each) else 1.0
    return found if found > 0 else 1.0


def _is_zero(value: object) -> bool:
    """Whether a number is zero."""
    is_number = isinstance(value, float | int | np.integer | np.floating)
    return is_number and not isinstance(value, bool) and value == 0
