"""A posterior after rows were picked but not answered: what will be known once they are.

    foreseen = Foreseen(posterior).with_pending(x)        foreseen.at(X) -> Belief

A label that is not there yet cannot move a mean, nor make a setting more credible: both stay. How
much it will tell is foreseeable, for the curvature of a link hardly depends on the label. So the
variances become those after a label of the curvature expected at the current mean of the row.
"""

import functools
from dataclasses import dataclass, replace

import numpy as np

from possibal.arrays import Array, Matrix, Vector
from possibal.belief import Belief
from possibal.gp.likelihoods import Softmax
from possibal.gp.posterior import Posterior, TrainingData
from possibal.numerics.linalg import one_thread

_FLOOR = 1e-13
"""A variance below this share of the one before any pick is rounding."""
_ROUNDING = 1e-10
"""A pick tells nothing where less than this share of a variance is left."""
_TINY = 1e-300
"""Where a row's own label would tell nothing."""
_CHUNK = 2_000_000
"""Covariances held at once where rows are weighed against others."""


@dataclass(frozen=True, eq=False)
class TrackedRows:
    """Rows, and what a posterior says of them, worked out when first read.

    Paper: none; it keeps what :class:`possibal.gp.Posterior` says.

    Attributes:
        posterior: what the labels so far have taught.
        X: (m, d).
    """

    posterior: Posterior
    X: Matrix

    @functools.cached_property
    def belief(self) -> Belief:
        """As :meth:`possibal.gp.Posterior.at`."""
        return self.posterior.at(self.X)

    @functools.cached_property
    def moments(self) -> tuple[Array, Array]:
        """As :meth:`possibal.gp.Posterior.moments`."""
        return self.posterior.moments(self.X)

    @functools.cached_property
    def covariance(self) -> Array:
        """As :meth:`possibal.gp.Posterior.covariance`."""
        return self.posterior.covariance(self.X)


@dataclass(frozen=True, eq=False)
class PendingPosterior:
    """A posterior, and rows whose labels are on their way.

    With picks x_1, x_2, ... and their expected weights W_j, the variance of a row falls by the
    sum of squares of u_j(x) = (cov(x, x_j) - sum_{i<j} u_i(x) u_i(x_j)) / sqrt(v(x_j) + 1/W_j),
    where v(x_j) is the variance after the picks before it. For numbers that is exact. Under a
    softmax each class is taken by itself.

    Paper: none; the variances of Props. 6 to 8, one row after the other.

    Attributes:
        posterior: what the labels so far have taught.
        picked: the rows, in the order they were picked.
        lines: for each pick (S, P, its number), so that u_j(x) is its product with the
            covariances of x with the picks up to j: the lines of a triangular matrix.
        watched: rows that are asked about after every pick, and what the picks tell about them.
    """

    posterior: Posterior
    picked: tuple[Vector, ...] = ()
    lines: tuple[Array, ...] = ()
    watched: tuple[tuple[TrackedRows, Array], ...] = ()

    def tracking(self, *arrays: Matrix) -> "PendingPosterior":
        """The same, to which each pick tells once what it tells about these very arrays.

        Paper: none.
        """
        watched = tuple((TrackedRows(self.posterior, X), self._told(X)) for X in arrays)
        return replace(self, watched=watched)

    def with_pending(self, x: Vector) -> "PendingPosterior":
        """The same with one more row whose label is on its way.

        Paper: none; a label of weight W divides its own row's variance by 1 + W v.
        """
        row = x[None]
        (g, v), told = self.posterior.moments(row), self._told(row)
        W, left = _weight(self.posterior.data, g), _less(v, _squares(told))
        # One over sqrt(v + 1/W), written so that a weight of zero tells nothing; where next to
        # nothing is left of a variance, what another label would tell is rounding.
        gain = np.sqrt(W / (1.0 + W * left)) * (left > _ROUNDING * v)
        line = np.concatenate([-gain * _through(told[:, :, 0], self._triangle), gain], axis=2)

        def more(rows: TrackedRows, by: Array) -> tuple[TrackedRows, Array]:
            column = gain[..., None] * self._left(rows.X, row, by, told)
            return rows, np.concatenate([by, column], axis=3)

        watched = tuple(more(rows, by) for rows, by in self.watched)
        return PendingPosterior(self.posterior, (*self.picked, x), (*self.lines, line), watched)

    def at(self, X: Matrix) -> Belief:
        """The belief about rows once the picks are answered.

        Paper: none; as :meth:`possibal.gp.Posterior.at`, a logistic latent on the probit's scale.
        """
        belief = self._rows(X).belief
        if not self.picked:
            return belief
        scale = self.posterior.data.link.scale
        fall = scale * scale * _squares(self._told(X))
        fall = np.swapaxes(fall, 1, 2) if belief.mean.ndim > 2 else fall[:, 0]  # noqa: PLR2004 - (H, m, C)
        return Belief(belief.mean, _less(belief.variance, fall), belief.credibility)

    def cross(self, X: Matrix, Z: Matrix) -> Array:
        """Covariances between rows and others once the picks are answered, (S, P, m, k).

        Paper: none; as :meth:`possibal.gp.Posterior.cross`.
        """
        return self._left(X, Z, self._told(X), self._told(Z))

    @property
    def scale(self) -> float:
        """What turns latents into those of a belief.

        Paper: Sec. 4.2, the scale of the probit.
        """
        return self.posterior.scale

    @property
    def tempering(self) -> float:
        """The power with which an answer counts for a setting.

        Paper: none; as :attr:`possibal.gp.Posterior.tempering`.
        """
        return self.posterior.tempering

    @property
    def training_rows(self) -> Matrix:
        """The rows that have labels or will have them, (n, d).

        Paper: Props. 7 and 8, x_1 to x_t.
        """
        return np.concatenate([self.posterior.training_rows, *(x[None] for x in self.picked)])

    @property
    def n_labels(self) -> int:
        """How many rows have labels; those on their way have taught nothing yet.

        Paper: Props. 7 and 8, t.
        """
        return self.posterior.n_labels

    def covariance(self, X: Matrix) -> Array:
        """Covariances between the latents of each row once the picks are answered, (S, m, P, P).

        Paper: none; as :meth:`possibal.gp.Posterior.covariance`.
        """
        return _lowered(self._rows(X).covariance, _squares(self._told(X)))

    def between(self, X: Matrix, Z: Matrix) -> Array:
        """Covariances between all latents of rows and others, (S, m, k, P, P), as those.

        Paper: none; as :meth:`possibal.gp.Posterior.between`.
        """
        both = self._told(X) @ np.swapaxes(self._told(Z), 2, 3)
        return _lowered(self.posterior.between(X, Z), both)

    def explained_share(self, X: Matrix) -> Vector:
        """What the picks tell about each row, as a share of what its own label would tell.

        Nothing is zero, and the first copy of a row makes it one.

        Paper: none; falls of variance, averaged over the settings.
        """
        g, v = self._rows(X).moments
        W = _weight(self.posterior.data, g)
        told = self._average(_squares(self._told(X)).sum(axis=1))
        own = self._average((W * v * v / (1.0 + W * v)).sum(axis=1))
        return told / np.maximum(own, _TINY)

    def variance_reduction(self, X: Matrix, reference: Matrix) -> Vector:
        """By how much the label of each row would lower the variances of reference rows.

        The sum of cov(x, z)^2 / (v(x) + 1/W(x)) over reference rows z and classes, averaged over
        the settings. It needs no label: it asks about the row that speaks for most others.

        Paper: none; Cohn's rule for Gaussian processes.
        """
        W, variance = expected_weight(self.posterior, X), self._variance(X)
        gain = W / (1.0 + W * variance)
        rows = max(1, _CHUNK // max(1, gain[..., 0].size * len(reference)))
        worth = np.empty(len(X))
        for start in range(0, len(X), rows):
            part = slice(start, start + rows)
            fall = gain[..., part] * _squares(self.cross(X[part], reference))
            worth[part] = self._average(fall.sum(axis=1))
        return worth

    def _average(self, each: Matrix) -> Vector:
        """The average over the settings, (m,), weighted by credibility."""
        return self.posterior.credibility @ each / self.posterior.credibility.sum()

    def _variance(self, X: Matrix) -> Array:
        """Latent variances once the picks are answered, (S, P, m)."""
        _, variance = self._rows(X).moments
        return _less(variance, _squares(self._told(X)))

    def _left(self, X: Matrix, Z: Matrix, told: Array, other: Array) -> Array:
        """Covariances between rows and others, less what the picks tell about both."""
        with one_thread():
            return self.posterior.cross(X, Z) - told @ np.swapaxes(other, 2, 3)

    def _rows(self, X: Matrix) -> TrackedRows:
        """Rows that are watched, or others."""
        known = (rows for rows, _ in self.watched if rows.X is X)
        return next(known, None) or TrackedRows(self.posterior, X)

    def _told(self, X: Matrix) -> Array:
        """What the picks tell about rows, u_j(x): (S, P, m, picks)."""
        for rows, told in self.watched:
            if rows.X is X:
                return told
        if not self.picked:
            return np.zeros((*self.posterior.mode.a.shape[:2], len(X), 0))
        with one_thread():
            covariance = self.posterior.cross(X, np.stack(self.picked))
            return covariance @ np.swapaxes(self._triangle, 2, 3)

    @functools.cached_property
    def _triangle(self) -> Array:
        """The lines below each other, (S, P, picks, picks), with zeros to the right."""
        triangle = np.zeros((*self.posterior.mode.a.shape[:2], len(self.lines), len(self.lines)))
        for j, line in enumerate(self.lines):
            triangle[:, :, j, : j + 1] = line
        return triangle


def expected_weight(posterior: Posterior, X: Matrix) -> Array:
    """The curvature W that a label of each row is expected to have, (S, P, m).

    At the current mean: averaged over the labels by their probability, which for a probit is its
    Fisher information and for a logistic link p (1 - p); p_c (1 - p_c) for each class of a
    softmax; one over the variance of the error for numbers.

    Paper: App. C.1 and C.2, W.
    """
    return _weight(posterior.data, posterior.moments(X)[0])


def _weight(data: TrainingData, g: Array) -> Array:
    """The curvature expected of labels where the latents are g, (S, P, m)."""
    link, once = data.link, data.once[:, None]
    p = link.probability(g)
    if isinstance(link, Softmax):
        return once * p * (1.0 - p)
    one, other = (link.slopes(np.array(y), g, once).weight for y in (1.0, -1.0))
    return p * one + (1.0 - p) * other


def _less(variance: Array, fall: Array) -> Array:
    """Variances less what is told, above zero."""
    return np.maximum(variance - fall, _FLOOR * variance)


def _squares(told: Array) -> Array:
    """Sums of squares over the last axis."""
    return np.einsum("...j,...j->...", told, told)


def _through(told: Array, triangle: Array) -> Array:
    """The product of a line and a triangle, setting by setting and process by process."""
    return np.einsum("spj,spjk->spk", told, triangle)


def _lowered(blocks: Array, fall: Array) -> Array:
    """Covariances between latents, (S, ..., P, P), less what is told of each, (S, P, ...)."""
    blocks = blocks.copy()
    for p in range(fall.shape[1]):
        blocks[..., p, p] -= fall[:, p]
    return blocks
