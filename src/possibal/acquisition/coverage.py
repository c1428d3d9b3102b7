"""Kernel coverage of the pool: rows that represent many others which are not predicted well yet.

herding(view)
"""

from dataclasses import dataclass

import numpy as np

from possibal.acquisition.latents import LatentMoments, rival_possibility, squared_brier
from possibal.acquisition.strategy import View
from possibal.arrays import Matrix, Vector
from possibal.numerics.distances import (
    coverage_width,
    distances_between,
    near_duplicate_width,
    similarity,
)
from possibal.numerics.linalg import one_thread

COVERED = 500
"""Rows that stand for the pool where it is to be covered."""
DENSITY_POWER = 0.5
"""A row of kernel density k counts k to minus this: between all rows alike, and all regions."""
TURN = 10
"""With so many labels a row's ambiguity counts once, with twice as many twice."""
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Coverage:
    """Kernel coverage of the reference rows by candidates, as far as no answer changes it.

    Attributes:
        reference: (r, d), the rows that are to be covered.
        shrinkage: of the lengths of rows in the geometry of the prior.
        shrunk: (r, c), the reference rows by it.
        weight: (r,), inverse-density weights.
        width: of the kernel.
        similarity: (m, r), the kernel between candidates and reference rows.
    """

    reference: Matrix
    shrinkage: "LengthShrinkage"
    shrunk: Matrix
    weight: Vector
    width: float
    similarity: Matrix

    @classmethod
    def of(cls, view: View) -> "Coverage":
        """Coverage of the reference rows of a view by its candidates.

        Paper: none.
        """
        reference, coordinates = reference_sample(view, COVERED), view.joint_posterior.coordinates
        there = coordinates(reference)
        shrinkage = LengthShrinkage.of(there)
        shrunk = shrinkage.apply(there)
        distances, duplicate = distances_between(shrunk, shrunk), near_duplicate_width(shrunk)
        width = coverage_width(distances, duplicate)
        same = reference is view.candidates
        here = shrunk if same else shrinkage.apply(coordinates(view.candidates))
        apart = distances if same else distances_between(here, shrunk)
        weight, kernel = density_weights(distances, duplicate), similarity(apart, width)
        return cls(reference, shrinkage, shrunk, weight, width, kernel)

    def gain(self, labelled: Matrix, loss: Vector) -> Vector:
        """What each candidate adds to the weighted coverage by labelled rows, (m,).

        Paper: none.

        Args:
            labelled: the labelled rows, in the geometry of the prior.
            loss: (r,), of each reference row.
        """
        apart = distances_between(self.shrunk, self.shrinkage.apply(labelled))
        covered = similarity(apart, self.width).max(axis=1, initial=0.0)
        more = self.similarity - covered
        with one_thread():
            return np.maximum(more, 0.0, out=more) @ (loss * self.weight)


def herding(view: View) -> Vector:
    """Asks for rows that stand for many others in doubt, later for those most in doubt themselves.

    Greedy kernel coverage, as MaxHerding and its generalised coverage (Bae, Noh & Sutherland 2024),
    which soften ProbCover (Yehuda et al. 2022) and resemble kernel herding (Chen, Welling & Smola
    2010). Ours differs in what is covered: each reference row counts by its expected loss, the
    square of its expected Brier score, times an inverse-density weight; the kernel's width reaches
    the nearest rows even in many columns; and in many dimensions rows are compared by their
    directions, for what is left of their lengths is noise.

    A candidate also has an ambiguity: one minus the margin of its probabilities, times the
    possibility of a rival. After n labels the utility is the logarithm of the coverage gained plus
    n / 10 times that of the ambiguity. Before the tenth, when little is known of losses, they count
    to the power n / 10. Pending rows cover as labelled ones do, so that a batch is greedy.

    Paper: none. App. E.4, Margin; Props. 2 to 4 for :func:`~.latents.rival_possibility`.
    """
    posterior, coverage = view.joint_posterior, view.once(Coverage.of)
    progress = posterior.n_labels / TURN
    there = here = LatentMoments.of(posterior, view.candidates)
    if coverage.reference is not view.candidates:
        there = LatentMoments.of(posterior, coverage.reference)
    loss, known = squared_brier(there) ** min(progress, 1.0), posterior.training_rows
    gain = coverage.gain(posterior.coordinates(known), loss)
    closest = np.sort(here.probability, axis=1)[:, -2:]
    ambiguity = (1.0 - (closest[:, 1] - closest[:, 0])) * rival_possibility(here)
    # Rounded, so that rows alike tie: how a product rounds depends on where a row stands.
    return np.round(np.log(gain + _TINY) + progress * np.log(ambiguity + _TINY), 10)


REWEIGHED_BY_PENDING = (herding,)
"""Strategies that score all candidates of a batch after every pick, those picked already too.

The utility of a candidate does not depend on the others to them, and a thousand cost little.
"""


# ---------------------------------------------------------------- length and direction
@dataclass(frozen=True, eq=False)
class LengthShrinkage:
    """Rows whose length, their distance from the centre, counts as far as it tells rare from usual.

    In few dimensions a row far from the centre is a rare one. In many all rows are nearly as far,
    and what is left of the length is noise, by which some rows seem near to all (hubs) and others
    odd (Radovanovic, Nanopoulos & Ivanovic 2010). So a length l becomes l^(1 - power).

    Attributes:
        centre: (d,), the mean of the reference rows.
        unit: the largest coordinate from there, so that no square is beyond all numbers.
        power: from 0, where rows stay as they are, towards 1, where directions alone are left.
    """

    centre: Vector
    unit: float
    power: float

    @classmethod
    def of(cls, reference: Matrix) -> "LengthShrinkage":
        """The shrinkage that reference rows ask for: 1 - 2 / D, or 0 if that is less.

        In a Gaussian cloud the squared length varies by 2 / D of its own square, where D is the
        effective dimension tr(S)^2 / tr(S^2) of the covariance S.

        Paper: none; the moments of a quadratic form.
        """
        centre = reference.mean(axis=0)
        apart = reference - centre
        unit = float(np.abs(apart).max(initial=0.0)) or 1.0
        with one_thread():
            scatter = (apart / unit).T @ (apart / unit)
        total = float(np.trace(scatter)) ** 2
        power = 1.0 - 2.0 * float((scatter * scatter).sum()) / total if total > 0 else 0.0
        return cls(centre, unit, max(power, 0.0))

    def apply(self, X: Matrix) -> Matrix:
        """Rows from the centre, their lengths shrunk; at the centre a row has no direction.

        Paper: none.
        """
        apart = (X - self.centre) / self.unit
        length = np.linalg.norm(apart, axis=1, keepdims=True)
        return apart * np.where(length > 0, length, 1.0) ** -self.power


# ---------------------------------------------------------------- what stands for the pool
def reference_sample(view: View, most: int) -> Matrix:
    """The reference rows of a view, or a random subsample of so many."""
    rows = view.reference
    if len(rows) <= most:
        return rows
    rng = np.random.default_rng(0) if view.rng is None else view.rng
    return rows[rng.choice(len(rows), most, replace=False)]


def density_weights(distances: Matrix, width: float) -> Vector:
    """Inverse-density weights of rows, by a kernel density estimate over their distances."""
    return similarity(distances, width).sum(axis=1) ** -DENSITY_POWER
