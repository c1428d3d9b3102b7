"""Posterior conditioned on pending points: rows that are picked but not answered yet.

    pending = PendingPosterior(posterior).with_pending(x)        pending.at(X) -> Belief

Means and credibilities stay fixed: a label that is not there yet moves neither. Variances are
downdated by the expected Fisher information of each pending label at the current mean of its row,
one column of a triangular factor per point: the curvature of a link hardly depends on the label.
"""

import functools
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import Belief
from possibal.numerics.linalg import one_thread

_FLOOR = 1e-13
"""A variance below this share of the one before any pick is rounding."""
_ROUNDING = 1e-10
"""A pending label explains nothing where less than this share of a variance is left."""
_TINY = 1e-300
"""Where a row's own label would explain nothing."""
_CHUNK = 2_000_000
"""Covariances held at once where variance reductions are summed."""


class ConditionablePosterior(Protocol):
    """A posterior of S settings and P processes that pending points can condition.

    Paper: Props. 6 to 8; :class:`possibal.gp.Posterior`, or that of a model of one's own.
    """

    @property
    def sizes(self) -> tuple[int, int]:
        """S and P.

        Paper: none.
        """
        ...

    @property
    def credibility(self) -> Vector:
        """Of each setting, (S,).

        Paper: none.
        """
        ...

    @property
    def scale(self) -> float:
        """The factor from latents to those of a belief.

        Paper: Sec. 4.2.
        """
        ...

    @property
    def tempering(self) -> float:
        """Tempering exponent with which an answer counts for a setting.

        Paper: none.
        """
        ...

    @property
    def training_rows(self) -> Matrix:
        """The rows that have labels, (n, d).

        Paper: Props. 7 and 8, x_1 to x_t.
        """
        ...

    @property
    def n_labels(self) -> int:
        """How many rows have labels.

        Paper: Props. 7 and 8, t.
        """
        ...

    def coordinates(self, X: Matrix, /) -> Matrix:
        """Rows in the geometry of the prior.

        Paper: none.
        """
        ...

    def moments(self, X: Matrix, /) -> tuple[Array, Array]:
        """Latent means and variances, (S, P, m) each.

        Paper: Props. 6 to 8, mu_t and the diagonal of Sigma_t.
        """
        ...

    def belief_from(self, mean: Array, variance: Array, /) -> Belief:
        """The belief that such moments are.

        Paper: Sec. 4.2.
        """
        ...

    def covariance(self, X: Matrix, variance: Array | None = None, /) -> Array:
        """Covariances between the latents of each row, (S, m, P, P); variances may be known.

        Paper: Prop. 8, the blocks of Sigma_t.
        """
        ...

    def between(self, X: Matrix, Z: Matrix, /) -> Array:
        """Covariances between all latents of rows and all of others, (S, m, k, P, P).

        Paper: Prop. 8, Sigma_t between two sets of rows.
        """
        ...

    def cross(self, X: Matrix, Z: Matrix, /) -> Array:
        """The same of each process by itself, (S, P, m, k).

        Paper: Props. 6 to 8, Sigma_t between two sets of rows.
        """
        ...

    def expected_weight(self, g: Array, /) -> Array:
        """The curvature W that one label is expected to have at latents g (S, P, m).

        Paper: App. C.1 and C.2, W.
        """
        ...


@dataclass(frozen=True, eq=False)
class TrackedRows:
    """Rows whose moments are kept while points are added, computed when first read.

    Paper: none; it keeps what :class:`possibal.gp.Posterior` gives.

    Attributes:
        posterior: given the labels so far.
        X: (m, d).
        whole: rows that these are some of, whose moments serve them too.
        places: which of those they are.
    """

    posterior: ConditionablePosterior
    X: Matrix
    whole: "TrackedRows | None" = None
    places: Places | None = None

    def part(self, places: Places) -> "TrackedRows":
        """Some of the rows; nothing is computed again for them."""
        return TrackedRows(self.posterior, self.X[places], self, places)

    def apart(self, places: Places) -> "TrackedRows":
        """Some of the rows with the moments they have; covariances are computed for them alone."""
        some, (mean, variance) = TrackedRows(self.posterior, self.X[places]), self.moments
        vars(some)["moments"] = mean[..., places], variance[..., places]
        return some

    @functools.cached_property
    def belief(self) -> Belief:
        """As :meth:`possibal.gp.Posterior.at`."""
        return self.posterior.belief_from(*self.moments)

    @functools.cached_property
    def moments(self) -> tuple[Array, Array]:
        """As :meth:`possibal.gp.Posterior.moments`."""
        if self.whole is None:
            return self.posterior.moments(self.X)
        mean, variance = self.whole.moments
        return mean[..., self.places], variance[..., self.places]

    @functools.cached_property
    def covariance(self) -> Array:
        """As :meth:`possibal.gp.Posterior.covariance`."""
        if self.whole is None:
            return self.posterior.covariance(self.X, self.moments[1])
        return self.whole.covariance[:, self.places]


@dataclass(frozen=True, eq=False)
class PendingPosterior:
    """A posterior that is also conditioned on rows whose labels are pending.

    With pending rows x_1, x_2, ... and expected weights W_j, the variance of a row falls by the sum
    of squares of u_j(x) = (cov(x, x_j) - sum_{i<j} u_i(x) u_i(x_j)) / sqrt(v(x_j) + 1/W_j),
    where v(x_j) is the variance after the points before it. For regression that is exact. Under
    a softmax each class is taken by itself.

    Paper: none; the variances of Props. 6 to 8, one row after the other.

    Attributes:
        posterior: given the labels so far.
        picked: the pending rows, in the order they were picked.
        lines: for each of them (S, P, its number), so that u_j(x) is its product with the
            covariances of x with those up to j: the lines of a triangular matrix.
        tracked: rows that are read after every point, and their projections u_j.
    """

    posterior: ConditionablePosterior
    picked: tuple[Vector, ...] = ()
    lines: tuple[Array, ...] = ()
    tracked: tuple[tuple[TrackedRows, Array], ...] = ()

    def tracking(self, *arrays: Matrix) -> Self:
        """The same, with projections of these very arrays, which each new point extends.

        Paper: none.
        """
        return self.tracking_rows(*(self._rows(X) for X in arrays))

    def tracking_rows(self, *several: TrackedRows) -> Self:
        """The same for rows some of whose moments may be known.

        Paper: none.
        """
        return replace(self, tracked=tuple((rows, self._projection(rows.X)) for rows in several))

    def with_pending(self, x: Vector) -> Self:
        """The same with one more pending row.

        Paper: none; a label of weight W divides its own row's variance by 1 + W v.
        """
        row = x[None]
        (g, v), projection = self.posterior.moments(row), self._projection(row)
        W, left = self.posterior.expected_weight(g), _less(v, _squares(projection))
        # One over sqrt(v + 1/W), written so that a weight of zero explains nothing; where next to
        # nothing is left of a variance, what another label would explain is rounding.
        gain = np.sqrt(W / (1.0 + W * left)) * (left > _ROUNDING * v)
        line = np.concatenate([-gain * _through(projection[:, :, 0], self._triangle), gain], axis=2)

        def more(rows: TrackedRows, by: Array) -> tuple[TrackedRows, Array]:
            column = gain[..., None] * self._left(rows.X, row, by, projection)
            return rows, np.concatenate([by, column], axis=3)

        tracked = tuple(more(rows, by) for rows, by in self.tracked)
        picked, lines = (*self.picked, x), (*self.lines, line)
        return replace(self, picked=picked, lines=lines, tracked=tracked)

    def at(self, X: Matrix) -> Belief:
        """The belief about rows given the pending labels.

        Paper: none; as :meth:`possibal.gp.Posterior.at`, a logistic latent on the probit's scale.
        """
        belief = self._rows(X).belief
        if not self.picked:
            return belief
        scale = self.posterior.scale
        fall = scale * scale * _squares(self._projection(X))
        fall = np.swapaxes(fall, 1, 2) if belief.mean.ndim > 2 else fall[:, 0]  # noqa: PLR2004 - (H, m, C)
        return Belief(belief.mean, _less(belief.variance, fall), belief.credibility)

    def cross(self, X: Matrix, Z: Matrix) -> Array:
        """Covariances between rows and others given the pending labels, (S, P, m, k).

        Paper: none; as :meth:`possibal.gp.Posterior.cross`.
        """
        return self._left(X, Z, self._projection(X), self._projection(Z))

    @property
    def scale(self) -> float:
        """The factor from latents to those of a belief.

        Paper: Sec. 4.2, the scale of the probit.
        """
        return self.posterior.scale

    @property
    def tempering(self) -> float:
        """Tempering exponent with which an answer counts for a setting.

        Paper: none; as :attr:`possibal.gp.Posterior.tempering`.
        """
        return self.posterior.tempering

    @property
    def training_rows(self) -> Matrix:
        """The rows that have labels, and the pending ones, (n, d).

        Paper: Props. 7 and 8, x_1 to x_t.
        """
        return np.concatenate([self.posterior.training_rows, *(x[None] for x in self.picked)])

    def coordinates(self, X: Matrix) -> Matrix:
        """Rows in the geometry of the prior.

        Paper: none; as :meth:`possibal.gp.Posterior.coordinates`.
        """
        return self.posterior.coordinates(X)

    @property
    def n_labels(self) -> int:
        """How many rows have labels, pending ones left out.

        Paper: Props. 7 and 8, t.
        """
        return self.posterior.n_labels

    def covariance(self, X: Matrix) -> Array:
        """Covariances between the latents of each row given the pending labels, (S, m, P, P).

        Paper: none; as :meth:`possibal.gp.Posterior.covariance`.
        """
        known = self._rows(X).covariance
        return _lowered(known, _squares(self._projection(X))) if self.picked else known

    def between(self, X: Matrix, Z: Matrix) -> Array:
        """Covariances between all latents of rows and others, (S, m, k, P, P), as those.

        Paper: none; as :meth:`possibal.gp.Posterior.between`.
        """
        both = self._projection(X) @ np.swapaxes(self._projection(Z), 2, 3)
        return _lowered(self.posterior.between(X, Z), both)

    def explained_share(self, X: Matrix) -> Vector:
        """Variance of each row that pending labels explain, as a share of what its own label would.

        It is zero without any, and the first copy of a row makes it one.

        Paper: none; falls of variance, averaged over the settings.
        """
        g, v = self._rows(X).moments
        W = self.posterior.expected_weight(g)
        projection = self._average(_squares(self._projection(X)).sum(axis=1))
        own = self._average((W * v * v / (1.0 + W * v)).sum(axis=1))
        return projection / np.maximum(own, _TINY)

    def variance_reduction(self, X: Matrix, reference: Matrix) -> Vector:
        """Integrated variance reduction over the reference rows by the label of each row (ALC).

        The sum of cov(x, z)^2 / (v(x) + 1/W(x)) over reference rows z and classes, averaged over
        the settings. It needs no label, so that it serves the cold start.

        Paper: none; Cohn (1996), for Gaussian processes.
        """
        W, variance = expected_weight(self.posterior, X), self._variance(X)
        gain = W / (1.0 + W * variance)
        rows = max(1, _CHUNK // max(1, gain[..., 0].size * len(reference)))
        reduction = np.empty(len(X))
        for start in range(0, len(X), rows):
            part = slice(start, start + rows)
            fall = gain[..., part] * _squares(self.cross(X[part], reference))
            reduction[part] = self._average(fall.sum(axis=1))
        return reduction

    def _average(self, each: Matrix) -> Vector:
        """The average over the settings, (m,), weighted by credibility."""
        return self.posterior.credibility @ each / self.posterior.credibility.sum()

    def _variance(self, X: Matrix) -> Array:
        """Latent variances given the pending labels, (S, P, m)."""
        _, variance = self._rows(X).moments
        return _less(variance, _squares(self._projection(X)))

    def _left(self, X: Matrix, Z: Matrix, projection: Array, other: Array) -> Array:
        """Covariances between rows and others, less what pending labels explain of both."""
        with one_thread():
            return self.posterior.cross(X, Z) - projection @ np.swapaxes(other, 2, 3)

    def _rows(self, X: Matrix) -> TrackedRows:
        """Rows that are tracked, or others."""
        known = (rows for rows, _ in self.tracked if rows.X is X)
        return next(known, None) or TrackedRows(self.posterior, X)

    def _projection(self, X: Matrix) -> Array:
        """Projections u_j(x) of rows on the pending labels, (S, P, m, picks)."""
        for rows, projection in self.tracked:
            if rows.X is X:
                return projection
        if not self.picked:
            return np.zeros((*self.posterior.sizes, len(X), 0))
        with one_thread():
            covariance = self.posterior.cross(X, np.stack(self.picked))
            return covariance @ np.swapaxes(self._triangle, 2, 3)

    @functools.cached_property
    def _triangle(self) -> Array:
        """The lines below each other, (S, P, picks, picks), with zeros to the right."""
        triangle = np.zeros((*self.posterior.sizes, len(self.lines), len(self.lines)))
        for j, line in enumerate(self.lines):
            triangle[:, :, j, : j + 1] = line
        return triangle


def expected_weight(posterior: ConditionablePosterior, X: Matrix) -> Array:
    """The curvature W that a label of each row is expected to have at its current mean, (S, P, m).

    Paper: App. C.1 and C.2, W.
    """
    return posterior.expected_weight(posterior.moments(X)[0])


def _less(variance: Array, fall: Array) -> Array:
    """Variances less what is explained, above zero."""
    return np.maximum(variance - fall, _FLOOR * variance)


def _squares(projection: Array) -> Array:
    """Sums of squares over the last axis."""
    return np.einsum("...j,...j->...", projection, projection)


def _through(projection: Array, triangle: Array) -> Array:
    """The product of a line and a triangle, setting by setting and process by process."""
    return np.einsum("spj,spjk->spk", projection, triangle)


def _lowered(blocks: Array, fall: Array) -> Array:
    """Covariances between latents, (S, ..., P, P), less what is explained of each, (S, P, ...)."""
    blocks = blocks.copy()
    for p in range(fall.shape[1]):
        blocks[..., p, p] -= fall[:, p]
    return blocks
