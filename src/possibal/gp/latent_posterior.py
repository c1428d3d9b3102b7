"""The posterior of a model of one's own: joint Gaussian latents that another library works out.

    posterior = LatentPosterior(latents, labelled_rows)        posterior.at(X) -> Belief

All that strategies, batches and :func:`possibal.pool.rank` read follows from one function, which
says for any rows what their latents are, jointly.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from possibal.arguments import choice
from possibal.arrays import Array, Matrix, Vector, real, vector
from possibal.belief import Belief
from possibal.distributions import Latents, joint, marginal
from possibal.gp.likelihoods import LINKS, SOFTMAX, Link, Softmax, expected_weight
from possibal.gp.posterior import TEMPERING

ROWS = 500
"""Rows whose means and variances are asked for together."""
JOINT_ROWS = 200
"""Rows, beside those that they covary with, whose covariances are asked for together at least."""
_ALIKE: Vector = np.ones(1)
"""Where hypotheses are given no credibilities."""

LatentFunction: TypeAlias = Callable[[Matrix], Latents]
"""Of rows (m, d), the joint Gaussian of their latents."""


@dataclass(frozen=True, eq=False)
class LatentPosterior:
    """Posterior Gaussian latents as another model gives them, for every strategy.

    `latents` is called with rows (m, d) and gives what is known of their latents jointly. That is a
    pair of mean and covariance: (m,) and (m, m) for two labels; (m, C) and (C, m, m) for C labels
    whose latents are independent, or (m, C, m, C). Or it is a Gaussian with `mean`, `variance` and
    `covariance_matrix`, such as a distribution of GPyTorch (a batch is one latent for each label)
    or a posterior of BoTorch; covariances are then worked out only where a strategy reads them.

    Paper: none; Props. 7 and 8 say what such latents mean.

    Attributes:
        latents: such a function; or several, each a hypothesis.
        training_rows: (n, d), the rows that have labels.
        link: "probit" or "logistic", how one latent makes two labels random; more have a softmax.
        geometry: of rows, coordinates in which they are near if the model takes them to be alike;
            the rows themselves if left out.
        credibility: of each hypothesis, the largest is one; all alike if left out.
    """

    latents: LatentFunction | Sequence[LatentFunction]
    training_rows: Matrix
    _: KW_ONLY
    link: str = "probit"
    geometry: Callable[[Matrix], ArrayLike] | None = None
    credibility: Vector = field(default_factory=lambda: _ALIKE)

    def __post_init__(self) -> None:
        """Check once."""
        choice("link", self.link, LINKS)
        rows, S = real(self.training_rows, "training_rows"), len(self._functions)
        if not S:
            raise ValueError(
                "latents must be a function of rows, or several; got none. Pass what your model "
                "says of rows."
            )
        if rows.ndim != 2 or not rows.shape[1]:  # noqa: PLR2004 - a table
            raise ValueError(
                f"training_rows must have shape (n, d); got {rows.shape}. "
                "Pass the rows that the model was fitted to; np.empty((0, d)) if there are none."
            )
        given = vector(self.credibility, "credibility")
        credible = given if self.credibility is not _ALIKE else np.ones(S)
        if len(credible) != S or credible.min() < 0 or credible.max() != 1:
            raise ValueError(
                f"credibility must have {S} entries from 0 to 1, the largest 1; got "
                f"{credible.tolist()}. Divide it by its maximum."
            )
        object.__setattr__(self, "training_rows", rows)
        object.__setattr__(self, "credibility", credible)

    # ------------------------------------------------------------ what strategies read

    def at(self, X: Matrix) -> Belief:
        """The belief about rows; a logistic latent on the probit's scale, which the scores read.

        Paper: Props. 7 and 8, N(g_t; mu_t, Sigma_t) at each row by itself.
        """
        return self.belief_from(*self.moments(X))

    def covariance(self, X: Matrix, variance: Array | None = None) -> Array:
        """Covariances between the latents of each row, (S, m, P, P).

        Paper: Prop. 8, the blocks of Sigma_t.

        Args:
            X: (m, d).
            variance: (S, P, m), their latent variances, where they are known.
        """
        variance = self.moments(X)[1] if variance is None else variance
        S, P, m = variance.shape
        blocks = np.zeros((S, m, P, P))
        for start in range(0, m if P > 1 else 0, JOINT_ROWS):
            part = slice(start, start + JOINT_ROWS)
            for block, covariance in zip(blocks, self._joint(X[part]), strict=True):
                if covariance.ndim > 3:  # noqa: PLR2004 - labels depend on each other
                    block[part] = np.einsum("pmqm->mpq", covariance)
        places = np.arange(P)
        blocks[..., places, places] = np.swapaxes(variance, 1, 2)
        return blocks

    def between(self, X: Matrix, Z: Matrix) -> Array:
        """Covariances between all latents of rows and all of others, (S, m, k, P, P).

        The last axis is that of the latents of X.

        Paper: Prop. 8, all blocks of Sigma_t between two sets of rows.
        """
        S, P = self.sizes
        blocks, places = np.zeros((S, len(X), len(Z), P, P)), np.arange(P)
        for part, found in self._pairs(X, Z):
            for block, covariance in zip(blocks, found, strict=True):
                if covariance.ndim > 3:  # noqa: PLR2004 - labels depend on each other
                    block[part] = covariance.transpose(1, 3, 2, 0)
                else:
                    block[part, :, places, places] = covariance.transpose(1, 2, 0)
        return blocks

    @property
    def scale(self) -> float:
        """The factor from latents to those of a belief.

        Paper: Sec. 4.2, the scale of the probit.
        """
        return self._likelihood.scale

    @property
    def tempering(self) -> float:
        """Tempering exponent with which an answer counts for a hypothesis.

        Paper: none; as :attr:`possibal.gp.Posterior.tempering`.
        """
        return TEMPERING

    @property
    def n_labels(self) -> int:
        """How many rows have labels.

        Paper: Props. 7 and 8, t.
        """
        return len(self.training_rows)

    def coordinates(self, X: Matrix) -> Matrix:
        """Rows in the geometry of the model, or as they are.

        Paper: none.
        """
        if self.geometry is None:
            return X
        placed = real(self.geometry(X), "geometry")
        if placed.ndim != 2 or len(placed) != len(X):  # noqa: PLR2004 - a table
            raise ValueError(
                f"geometry must give shape ({len(X)}, any) for {len(X)} rows; got {placed.shape}. "
                "Give one line for each row that it is called with."
            )
        return placed

    # ------------------------------------------------------------ what batches read

    @property
    def sizes(self) -> tuple[int, int]:
        """How many hypotheses and latents of a row there are, S and P.

        Paper: Prop. 8, one process for each label.
        """
        return self._sizes

    @functools.cached_property
    def _sizes(self) -> tuple[int, int]:
        """The same, by the first of the rows that have labels."""
        row = np.zeros((1, self.training_rows.shape[1]))
        row[: len(self.training_rows)] = self.training_rows[:1]
        each = {len(marginal(f(row), 1)[0]) for f in self._functions}
        if len(each) > 1:
            raise ValueError(
                f"latents must be of as many labels under every hypothesis; got {sorted(each)}. "
                "Fit all models to the same labels."
            )
        return len(self._functions), each.pop()

    def moments(self, X: Matrix) -> tuple[Array, Array]:
        """Latent means and variances of rows, (S, P, m) each, some rows at a time.

        Paper: Props. 7 and 8, mu_t and the diagonal of Sigma_t.
        """
        mean = np.empty((*self.sizes, len(X)))
        variance = np.empty_like(mean)
        for start in range(0, len(X), ROWS):
            part = slice(start, start + ROWS)
            for s, function in enumerate(self._functions):
                some = marginal(function(X[part]), len(X[part]))
                mean[s, :, part], variance[s, :, part] = some
        return mean, variance

    def belief_from(self, mean: Array, variance: Array) -> Belief:
        """What :meth:`at` is for rows whose moments are known.

        Paper: Sec. 4.2.
        """
        if self.sizes[1] == 1:
            mean, variance = mean[:, 0], variance[:, 0]
        else:
            mean, variance = np.swapaxes(mean, 1, 2), np.swapaxes(variance, 1, 2)
        return Belief(self.scale * mean, self.scale * self.scale * variance, self.credibility)

    def cross(self, X: Matrix, Z: Matrix) -> Array:
        """Covariances of each process by itself, (S, P, m, k).

        Paper: Props. 6 to 8, Sigma_t between two sets of rows; under a softmax its l-th block.
        """
        cross = np.empty((*self.sizes, len(X), len(Z)))
        for part, found in self._pairs(X, Z):
            for of_one, covariance in zip(cross, found, strict=True):
                is_joint = covariance.ndim > 3  # noqa: PLR2004 - labels depend on each other
                own = np.einsum("pmpk->pmk", covariance) if is_joint else covariance
                of_one[:, part] = own
        return cross

    def expected_weight(self, g: Array) -> Array:
        """The curvature W that one more label is expected to have at latents g (S, P, m).

        Paper: App. C.1 and C.2, W.
        """
        return expected_weight(self._likelihood, g, np.ones((1, 1, 1)))

    # ------------------------------------------------------------ inside

    @property
    def _functions(self) -> tuple[LatentFunction, ...]:
        """One for each hypothesis."""
        return (self.latents,) if callable(self.latents) else tuple(self.latents)

    @property
    def _likelihood(self) -> Link | Softmax:
        """How latents make labels random."""
        return LINKS[self.link] if self.sizes[1] == 1 else SOFTMAX

    def _joint(self, X: Matrix) -> list[Array]:
        """Covariances of rows under each hypothesis, (P, m, m) or (P, m, P, m)."""
        return [joint(function(X), len(X))[1] for function in self._functions]

    def _pairs(self, X: Matrix, Z: Matrix) -> Iterator[tuple[slice, list[Array]]]:
        """Covariances of some rows at a time with others, (P, m, k) or (P, m, P, k)."""
        at_once = max(JOINT_ROWS, len(Z))
        for start in range(0, len(X) if len(Z) else 0, at_once):
            some = X[start : start + at_once]
            own, others = slice(None, len(some)), slice(len(some), None)
            found = self._joint(np.concatenate([some, Z]))
            yield slice(start, start + at_once), [one[:, own][..., others] for one in found]
