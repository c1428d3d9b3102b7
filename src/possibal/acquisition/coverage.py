"""Pool-wide strategies: what the label of a row would do for all the others.

    herding(view)        look_ahead(view)        mocu(view)        bemps(view)        epig(view)

A score judges each row by itself. These also read how rows hang together, and rows that stand for
all that have no label: where there are more of those than `REFERENCE`, some are drawn.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from possibal.acquisition import lookahead
from possibal.acquisition.lookahead import LatentMoments
from possibal.acquisition.strategy import View
from possibal.arrays import Array, Matrix, Vector
from possibal.numerics.distances import coverage_width, near_duplicate_width, similarity
from possibal.numerics.linalg import one_thread

REFERENCE = 200
"""Rows that stand for all without a label where one answer is looked ahead."""
COVERED = 500
"""Rows that stand for all without a label where they are to be covered."""
CROWDING = 0.5
"""A row with k others alike counts k to minus this: between all rows alike, and all regions."""
TURN = 10
"""With so many answers a row's own doubt counts once, with twice as many twice."""
_TINY = 1e-300


# ---------------------------------------------------------------- coverage
@dataclass(frozen=True, eq=False)
class Coverage:
    """How candidates stand for the pool, as far as no answer changes it.

    Attributes:
        reference: (r, d), the rows that are to be covered.
        rarity: (r,), how much each counts, by how few are like it.
        width: how far likeness reaches.
        alike: (m, r), how much each candidate is like them.
    """

    reference: Matrix
    rarity: Vector
    width: float
    alike: Matrix

    @classmethod
    def of(cls, view: View) -> "Coverage":
        """That of the rows of a view.

        Paper: none.
        """
        reference = _drawn(view, COVERED)
        among, crowd = cdist(reference, reference), near_duplicate_width(reference)
        width = coverage_width(among, crowd)
        likeness = similarity(cdist(view.candidates, reference), width)
        return cls(reference, _rarity(among, crowd), width, likeness)

    def added(self, seen: Matrix, doubt: Vector) -> Vector:
        """What each candidate adds to the coverage by rows with labels, (m,).

        Paper: none.
        """
        covered = similarity(cdist(self.reference, seen), self.width).max(axis=1, initial=0.0)
        more = self.alike - covered
        with one_thread():
            return np.maximum(more, 0.0, out=more) @ (doubt * self.rarity)


def herding(view: View) -> Vector:
    """Asks for rows that stand for many others in doubt, later for those most in doubt themselves.

    Each row without a label counts by its doubt, the square of Brier's expected score, and by how
    few are like it. It is covered as far as a row with a label is like it, where likeness reaches
    the nearest rows even in many columns; what a candidate adds to that is what it stands for. Its
    own doubt is the margin of its probabilities times the possibility 1 - N of a rival. After n
    answers the utility is the logarithm of what it stands for, and n / 10 times that of its own
    doubt. Before the tenth, when little is known of doubt, that of the rows it stands for counts
    to the power n / 10. Labels on their way cover as labels do, so that a batch is greedy.

    Paper: none; coverage by a kernel weighted by doubt. App. E.4, Margin; Props. 2 to 4, N.
    """
    source, coverage = view.joint_posterior, view.once(Coverage.of)
    told = source.n_labels / TURN
    doubt = _sharp(LatentMoments.of(source, coverage.reference)) ** min(told, 1.0)
    gain = coverage.added(source.training_rows, doubt)
    here = LatentMoments.of(source, view.candidates)
    closest = np.sort(here.probability, axis=1)[:, -2:]
    own = (1.0 - (closest[:, 1] - closest[:, 0])) * lookahead.doubted(here)
    # Rounded, so that rows alike tie: how a product rounds depends on where a row stands.
    return np.round(np.log(gain + _TINY) + told * np.log(own + _TINY), 10)


REWEIGHED_BY_PENDING = (herding,)
"""Strategies that judge all candidates of a batch after every pick, those picked already too.

What a candidate is worth to them does not depend on the others, and a thousand cost little.
"""


# ---------------------------------------------------------------- one answer ahead
def look_ahead(view: View) -> Vector:
    """Asks for the label that is expected to leave least doubt about all rows.

    The loss of a row is the square of Brier's expected score, so that rows in much doubt count
    most; rows of a crowd count less each. The settings of the hyperparameters are told apart by
    the answer.

    Paper: none; one step of Laplace's method for each label, where U's supremum is attained.
    """
    reference = _drawn(view, REFERENCE)
    weight = _rarity(cdist(reference, reference), near_duplicate_width(reference))
    return lookahead.expected_loss_reduction(
        view.joint_posterior, view.candidates, reference, _sharp, weight / weight.sum()
    )


def mocu(view: View) -> Vector:
    """Asks for the label that is expected to leave the smallest expected error (MOCU).

    Paper: none; expected error reduction, every row counting alike.
    """
    return lookahead.expected_loss_reduction(
        view.joint_posterior, view.candidates, _drawn(view, REFERENCE), lookahead.expected_error
    )


def bemps(view: View) -> Vector:
    """Asks for the label that is expected to leave the best Brier score (BEMPS, CoreMSE).

    Paper: none; expected reduction of Brier's score, every row counting alike.
    """
    return lookahead.expected_loss_reduction(
        view.joint_posterior, view.candidates, _drawn(view, REFERENCE), lookahead.expected_brier
    )


def epig(view: View) -> Vector:
    """Asks for the label that tells most about the labels of others, in nats (EPIG).

    Paper: none; the mutual information of two labels, averaged over the pool.
    """
    reference = _drawn(view, REFERENCE)
    return lookahead.expected_information_gain(
        view.joint_posterior, view.candidates, reference
    ) / len(reference)


# ---------------------------------------------------------------- what stands for the pool
def _drawn(view: View, most: int) -> Matrix:
    """Rows that stand for all without a label: those of the view, or some of them drawn."""
    rows = view.reference
    if len(rows) <= most:
        return rows
    rng = np.random.default_rng(0) if view.rng is None else view.rng
    return rows[rng.choice(len(rows), most, replace=False)]


def _sharp(latents: LatentMoments) -> Array:
    """The square of Brier's expected score."""
    return lookahead.expected_brier(latents) ** 2


def _rarity(among: Matrix, crowd: float) -> Vector:
    """How much each row counts, by its distances from all: less where many are like it."""
    return similarity(among, crowd).sum(axis=1) ** -CROWDING
