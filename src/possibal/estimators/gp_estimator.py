"""Posterior of a fitted estimator: what the classifier and the regressor share."""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from possibal.arrays import Matrix
from possibal.estimators import validation
from possibal.gp.hyperparameters import bounds_reached
from possibal.gp.kernels import Kernel
from possibal.gp.posterior import Posterior


class GPEstimator(BaseEstimator):
    """A scikit-learn estimator that keeps a Gaussian-process posterior and checks rows for it."""

    kernel: Kernel | Sequence[Kernel] | str | None
    hyperparameters: str
    posterior_: Posterior

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may know: sparse rows are made dense, if they are few enough."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _keep(self, posterior: Posterior) -> None:
        """Keep what a fit learned, the most credible setting first; warn where it is doubtful."""
        if len(posterior.prior) > 1:
            posterior = posterior.part(np.argsort(-posterior.credibility, kind="stable"))
        self.posterior_ = posterior
        self.log_evidence_ = float(posterior.log_evidence[0])
        self.jitter_ = float(posterior.mode.curvature.jitter.max())
        if not posterior.mode.settled.all():
            warnings.warn(
                f"Newton's method did not converge in {posterior.mode.steps.max()} steps; the best "
                f"place found is kept. Make the amplitude of {posterior.prior.name} smaller.",
                ConvergenceWarning,
                stacklevel=3,
            )
        is_searched = self.kernel is not None and self.hyperparameters != "fixed"
        reached = bounds_reached(posterior) if is_searched else []
        if reached:
            warnings.warn(
                f"The most credible setting has {' and '.join(reached)}; one beyond may be more "
                "credible. Widen the bounds of the kernel, or scale the columns of X.",
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
        return self.posterior_, self._rows(X, reset=False)

    def _rows(self, X: ArrayLike, *, reset: bool, least: int = 1) -> Matrix:
        """Rows as the model takes them; see :func:`possibal.estimators.validation.rows`."""
        return validation.rows(self, X, reset=reset, least=least)
