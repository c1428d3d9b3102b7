"""Posterior of a linear function about whose weights nothing is known beforehand: precision zero.

    condition_flat(prior, data) -> FlatPosterior        posterior.at(X) -> Belief

A Gaussian possibility function of precision zero is one everywhere: complete ignorance, for which
probability has no prior. What labels say is then all there is. In directions that some labelled
row has, the posterior is Laplace's at the largest likelihood; of every other direction nothing is
known still, so that a row with a part in one has a latent of infinite variance, and necessity zero.
"""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.optimize import linprog

from possibal.arrays import Array, Matrix, Vector
from possibal.belief import Belief
from possibal.errors import ConvergenceError
from possibal.gp.laplace import Mode, find_mode
from possibal.gp.likelihoods import Softmax
from possibal.gp.linear import LinearPrior
from possibal.gp.posterior import Posterior, TrainingData
from possibal.gp.prediction import Predictor
from possibal.numerics.linalg import one_thread
from possibal.numerics.sparse_rows import inner_products, squared_lengths

_SEEN = 1e-10
"""A direction whose share of the largest scatter is below this was not seen."""
_UNSEEN = 1e-8
"""A row of whose squared length more than this share lies in no seen direction is not known."""
_STEP = 1e-6
"""Precision about the last point of each proximal step: far below the curvature of labels."""
_MOST_STEPS = 100
_GRADIENT = 1e-9
"""Where no direction of the log likelihood is steeper than this, relative to the labels."""
_APART = 1e-9
"""A linear function separates labels where it leads by more than this."""


@dataclass(frozen=True, eq=False)
class SeenDirections:
    """The directions that labelled rows span, with orthonormal coordinates.

    Paper: none; the eigenvectors of inner products of rows.

    Attributes:
        X: (n, d), the labelled rows.
        intercept: as in :class:`~possibal.gp.linear.LinearPrior`.
        change: (n, r), from inner products with labelled rows to coordinates.
        axes: (n, r), the coordinates of labelled rows.
    """

    X: Matrix
    intercept: float
    change: Matrix
    axes: Matrix

    @classmethod
    def of(cls, X: Matrix, intercept: float) -> "SeenDirections":
        """Those of labelled rows.

        Paper: none; the eigenvectors of their inner products.
        """
        if not len(X):
            return cls(X, intercept, np.empty((0, 0)), np.empty((0, 0)))
        with one_thread():
            values, vectors = eigh(inner_products(X, X) + intercept)
        seen = values > _SEEN * max(float(values[-1]), 0.0)
        axes = np.ascontiguousarray(vectors[:, seen])
        return cls(X, intercept, axes / values[seen], axes)

    def coordinates(self, X: Matrix) -> tuple[Matrix, Vector]:
        """Coordinates of rows (m, r), and the share of their squared lengths that is not in them.

        Paper: none; an orthogonal projection.
        """
        length2 = squared_lengths(X) + self.intercept
        if not len(self.X):
            return np.empty((len(X), 0)), np.where(length2 > 0, 1.0, 0.0)
        with one_thread():
            facing = inner_products(X, self.X) + self.intercept
            z = facing @ self.change
            inside = np.einsum("ij,ij->i", z, facing @ self.axes)
        rest = np.maximum(length2 - inside, 0.0)
        return z, np.divide(rest, length2, out=np.zeros_like(rest), where=length2 > 0)


@dataclass(frozen=True, eq=False)
class FlatPosterior(Posterior):
    """Posterior of a linear function under a prior of precision zero, for two labels.

    Paper: Sec. 3.2 (ii), Gamma positive semi-definite; App. C.1 for the likelihood.

    Attributes:
        seen: the directions that labelled rows span.
        weights: (r,), where the likelihood is largest, in coordinates of these.
        root: (r, r), with root root' the posterior covariance of the weights.
    """

    seen: SeenDirections
    weights: Vector
    root: Matrix

    def stacked(self) -> dict[str, object]:
        """What has the axis of members: there is but one setting.

        Paper: none.
        """
        return {}

    def part(self, members: object, /) -> "FlatPosterior":
        """The same: there is but one setting.

        Paper: none.
        """
        del members
        return self

    @property
    def log_evidence(self) -> Vector:
        """Log of the largest likelihood, (1,): the possibilistic evidence.

        Under a prior of precision zero there is no marginal likelihood.

        Paper: App. C.1, f(Y | X) = sup p(Y | X, g) f(g | X) with f(g | X) = 1.
        """
        return self.mode.log_peak

    @property
    def predictor(self) -> Predictor:  # pyright: ignore[reportIncompatibleVariableOverride] - it has none
        """Refused: the prior has no covariances.

        Paper: none.
        """
        raise _no_covariances()

    def moments(self, X: Matrix) -> tuple[Array, Array]:
        """Latent means and variances of rows, (1, 1, m); infinite in directions not seen.

        Paper: Sec. 3.2 (ii), the marginals of a Gaussian whose precision may be singular.
        """
        z, rest = self.seen.coordinates(X)
        half = z @ self.root
        variance = np.einsum("ij,ij->i", half, half)
        variance = np.where(rest > _UNSEEN, np.inf, np.maximum(variance, 1e-300))
        return (z @ self.weights)[None, None], variance[None, None]

    def at(self, X: Matrix) -> Belief:
        """The belief about rows; a logistic latent is put on the probit's scale.

        Paper: Sec. 4.2, at the moments of :meth:`moments`.
        """
        mean, variance = self.moments(X)
        scale = self.scale
        return Belief(scale * mean[:, 0], scale * scale * variance[:, 0], np.ones(1))

    def cross(self, X: Matrix, Z: Matrix) -> Array:
        """Refused: covariances of rows are infinite in directions not seen.

        Paper: none.
        """
        del X, Z
        raise _no_covariances()

    def draw(self, X: Matrix, members: object, rng: object) -> Array:
        """Refused: nothing can be drawn where nothing is known.

        Paper: none.
        """
        del X, members, rng
        raise _no_covariances()


def condition_flat(prior: LinearPrior, data: TrainingData) -> FlatPosterior:
    """The posterior given labels alone, or one sentence where they are separated.

    The largest likelihood is found by proximal steps: each is the mode under a weak prior about
    the last one, so that Newton's method is that of every other posterior.

    Paper: Sec. 3.2 (ii) and App. C.1; the proximal point method of Rockafellar (1976).

    Args:
        prior: of one setting; only its intercept and name are read.
        data: labels of two classes.
    """
    seen = SeenDirections.of(data.X, prior.intercept)
    if is_separable(seen.axes, data.y[0]):
        raise ValueError(
            "precision must be above zero while a linear function separates the labels, for then "
            f"no weights are the most credible; got 0 with {len(data)} rows that it separates. "
            "Leave precision out, or label more rows."
        )
    K = (seen.axes @ seen.axes.T / _STEP)[None, None]
    observations = data.observations(prior)
    weights, steep = np.zeros(seen.axes.shape[1]), _GRADIENT * float(data.weight.max(initial=1.0))
    for _ in range(_MOST_STEPS):
        around = replace(observations, mean=(seen.axes @ weights)[None, None])
        mode = find_mode(data.link, K, around)
        slope = seen.axes.T @ mode.a[0, 0]
        weights = weights + slope / _STEP
        if float(np.abs(slope).max(initial=0.0)) <= steep:
            root = _root(seen.axes, data, mode)
            return FlatPosterior(np.zeros(1), K, mode, prior, data, seen, weights, root)
    raise ConvergenceError(
        "precision must be above zero where labels are all but separated by a linear function; got "
        f"0, and the largest likelihood was not found in {_MOST_STEPS} steps. Leave precision out."
    )


def is_separable(axes: Matrix, y: Vector) -> bool:
    """Whether a linear function of the lines separates labels -1 and 1, ties allowed.

    Then the likelihood grows without end along it (Albert and Anderson 1984).

    Paper: none.

    Args:
        axes: (n, r), of full column rank.
        y: (n,).
    """
    if not axes.size:
        return False
    signed = axes * y[:, None]
    found = linprog(
        -signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=(-1.0, 1.0)
    )
    return float(cast("float", found.fun)) < -_APART


def _root(axes: Matrix, data: TrainingData, mode: Mode) -> Matrix:
    """The root of the posterior covariance of the weights, (axes' W axes)^-1."""
    if not axes.size:
        return np.empty(axes.shape[1:] * 2)
    link = data.link
    assert not isinstance(link, Softmax)  # noqa: S101 - tells the type checker
    weight = link.slopes(data.y[None], mode.g, data.weight[:, None]).weight[0, 0]
    lower = np.linalg.cholesky(axes.T @ (weight[:, None] * axes))
    return solve_triangular(lower, np.eye(len(lower)), lower=True).T


def _no_covariances() -> ValueError:
    """The sentence on what a posterior of precision zero does not have."""
    return ValueError(
        "precision must be above zero for draws, for covariances between rows, and to rank pools; "
        "got 0. Leave it out."
    )
