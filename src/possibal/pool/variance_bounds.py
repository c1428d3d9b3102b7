"""Upper bounds on posterior variances, by low-rank updates (Woodbury) as Laplace weights change.

    change = anchor.moved(K, labels, W)        variance -= change.shares @ (change.lines @ k)^2

The variance of a row falls as labels come in, and a label that weighs less explains less. So the
variance under weights a little below those in force, the *anchored* ones, is not exceeded by the
true one. It changes only where a label is new, or its weight has fallen below its anchor or risen
far above it: by as many squares as there are such labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from possibal.arrays import Matrix, Vector
from possibal.numerics.linalg import factor

LOOSE, TIGHT = 0.6, 0.8
"""An anchor below the first share of its weight is loose; one that is moved comes to the second."""


@dataclass(frozen=True, eq=False)
class WeightChange:
    """Low-rank change of the variance of a row with covariances k, by labels of changed weight.

    Attributes:
        lines: (c, n).
        shares: (c,), of either sign: the variance falls by shares times the squares of lines k.
    """

    lines: Matrix
    shares: Vector


@dataclass
class WeightAnchor:
    """The weight of each label at which the bounds are anchored."""

    weights: dict[bytes, float] = field(default_factory=dict[bytes, float])

    def moved(
        self, K: Matrix, labels: Sequence[bytes], W: Vector, *, tighten: bool = True
    ) -> WeightChange:
        """Move anchors that are above their weight, and loose ones if they are to be tightened.

        By Woodbury's identity, with P the curvature of the old weights and G = I - P K, weights
        that change by D make it P + G (D^-1 + K G)^-1 G', where each matrix is cut to the labels
        that change.

        Paper: none; Prop. 7's [K + W^-1]^-1 for weights that differ in a few places.

        Args:
            K: (n, n), covariances of the labels.
            labels: their names; all that have an anchor are among them.
            W: (n,), their weights; zero for a label that is gone.
            tighten: whether labels that are new, or whose anchor is loose, are moved too;
                until then they explain less than they could.
        """
        was = np.array([self.weights.get(label, 0.0) for label in labels])
        due = (was > W) | (tighten & (was < LOOSE * W))
        now = np.where(due, TIGHT * W, was)
        self.weights = {label: float(w) for label, w in zip(labels, now, strict=True) if w > 0.0}
        changed = np.flatnonzero(now != was)
        D = (now - was)[changed]
        G = -information(K, was) @ K[:, changed]
        G[changed, np.arange(len(changed))] += 1.0
        inner = np.linalg.solve(np.eye(len(D)) + D[:, None] * (K[changed] @ G), np.diag(D))
        shares, Q = np.linalg.eigh(0.5 * (inner + inner.T))
        return WeightChange((G @ Q).T, shares)


def information(K: Matrix, W: Vector) -> Matrix:
    """P = (K + W^-1)^-1, where weights may be zero.

    Paper: Prop. 7.
    """
    root = np.sqrt(W)
    B = root[:, None] * K * root
    np.einsum("ii->i", B)[...] += 1.0
    return root[:, None] * factor(B[None], "kernel").inverse()[0] * root
