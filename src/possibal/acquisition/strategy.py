"""The interface of acquisition strategies: a view of the candidates in, utilities out."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from possibal.arrays import Array, Matrix, Vector
from possibal.belief import Belief

NOTHING: Matrix = np.empty((0, 0))
"""Where a view is given no reference."""
Kept = TypeVar("Kept")


class MarginalPosterior(Protocol):
    """A posterior that gives marginal moments of rows: all that a local score reads."""

    def at(self, X: Matrix, /) -> Belief:
        """The belief about each row."""
        ...


@runtime_checkable
class JointPosterior(MarginalPosterior, Protocol):
    """A posterior that gives covariances between rows: what joint strategies read.

    :class:`possibal.gp.LatentPosterior` has all of it from one function of a model of your own.
    Herding of two labels reads neither ``covariance`` nor ``between``.
    """

    @property
    def scale(self) -> float:
        """The factor from its latents to those of a belief."""
        ...

    @property
    def tempering(self) -> float:
        """Tempering exponent with which an answer counts for a setting."""
        ...

    @property
    def training_rows(self) -> Matrix:
        """The rows that have labels, and the pending ones."""
        ...

    @property
    def n_labels(self) -> int:
        """How many of them have labels, pending ones left out."""
        ...

    def coordinates(self, X: Matrix, /) -> Matrix:
        """Rows in the geometry of its prior, in which they are near if they are alike.

        The rows themselves will do where that is not known.
        """
        ...

    def covariance(self, X: Matrix, /) -> Array:
        """Covariances between the latents of each row, (H, m, P, P)."""
        ...

    def between(self, X: Matrix, Z: Matrix, /) -> Array:
        """Covariances between all latents of rows and all of others, (H, m, k, P, P)."""
        ...


@dataclass(frozen=True, eq=False)
class View:
    """The context of a strategy. A local score reads only ``belief``.

    Attributes:
        posterior: given the labels so far, and given pending rows within a batch.
        candidates: (m, d), the rows that are scored.
        rng: for strategies that draw.
        reference: (r, d), rows that stand for the pool; the candidates if left out.
        known: the belief about the candidates, where it was computed before.
        kept: results that depend on the rows alone, shared by the views of a batch.
    """

    posterior: MarginalPosterior
    candidates: Matrix
    rng: np.random.Generator | None = None
    reference: Matrix = field(default_factory=lambda: NOTHING)
    known: Belief | None = None
    kept: dict[Callable[["View"], Any], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Let the candidates stand for the pool where nothing else does."""
        if self.reference is NOTHING:
            object.__setattr__(self, "reference", self.candidates)

    @property
    def belief(self) -> Belief:
        """The posterior's belief about the candidates, computed when first read."""
        return self._belief

    @functools.cached_property
    def _belief(self) -> Belief:
        return self.posterior.at(self.candidates) if self.known is None else self.known

    def after(self, posterior: MarginalPosterior) -> "View":
        """The same rows under a posterior that has one more pending row."""
        return replace(self, posterior=posterior, known=None)

    def once(self, make: Callable[["View"], Kept]) -> Kept:
        """A result that depends on the rows alone, computed once for a batch."""
        if make not in self.kept:
            self.kept[make] = make(self)
        return self.kept[make]

    @property
    def joint_posterior(self) -> JointPosterior:
        """The posterior, if it gives the covariances that a joint strategy needs."""
        if isinstance(self.posterior, JointPosterior):
            return self.posterior
        raise TypeError(
            "posterior must have joint covariances of rows; "
            f"got {type(self.posterior).__name__}. Use that of a PossibilisticGPClassifier, or a "
            "possibal.gp.LatentPosterior."
        )


class Strategy(Protocol):
    """A utility for each candidate of a view; the largest is asked, the lowest row of several."""

    __doc__: str | None

    def __call__(self, view: View, /) -> Vector:
        """The utilities, one per candidate."""
        ...
