"""Measures of uncertainty on finite sets, to set beside U: of possibility, and of probability.

Measures of probability read the possibility function as if it were a probability: scaled to sum to
one. They are what the axioms A0-A4 are searched for in docs/axioms.md.
"""

import numpy as np
from scipy.special import entr

from possibal.arrays import Matrix, Vector
from possibal.theory.families import DiscreteFamily
from possibal.theory.finite import FinitePossibility
from possibal.theory.outer_measure import OuterMeasure

_TIE = 1e-9
"""Probabilities closer than this are alike."""


def doubt(measure: OuterMeasure) -> float:
    """Possibility that another outcome is at least as likely as the leading one; one for a tie.

    Paper: Sec. 4.3, 1 - N.
    """
    f, p = _tables(measure)
    leaders = _likeliest(p[f == 1.0]).any(axis=0)
    if leaders.sum() > 1:
        return 1.0
    rivals = (p >= p[:, leaders] - _TIE)[:, ~leaders].any(axis=1)
    return float(f[rivals].max(initial=0.0))


def mutual_information(measure: OuterMeasure) -> float:
    """Mutual information of outcome and parameter, in nats: BALD.

    Paper: App. E.4, BALD, with f scaled to a probability.
    """
    weight, p = _weighted(measure)
    return float(entr(weight @ p).sum() - weight @ entr(p).sum(axis=1))


def outcome_entropy(measure: OuterMeasure) -> float:
    """Shannon entropy of the outcome, in nats.

    Paper: App. E.4, Entropy of the predicted labels, with f scaled to a probability.
    """
    weight, p = _weighted(measure)
    return float(entr(weight @ p).sum())


def probability_variance(measure: OuterMeasure) -> float:
    """Variance of the probabilities of the outcomes, summed over these.

    Paper: none; the usual spread of a posterior, with f scaled to a probability.
    """
    weight, p = _weighted(measure)
    return float((weight @ (p - weight @ p) ** 2).sum())


def _likeliest(p: Matrix) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which outcomes are as likely as any, at each theta."""
    return p >= p.max(axis=1, keepdims=True) - _TIE


def _tables(measure: OuterMeasure) -> tuple[Vector, Matrix]:
    """Possibilities of the thetas that are possible at all, and the probabilities they give."""
    f, family = measure.possibility, measure.family
    if not isinstance(f, FinitePossibility) or not isinstance(family, DiscreteFamily):
        raise TypeError(
            "measure must have finitely many thetas and outcomes; got "
            f"{type(f).__name__} and {type(family).__name__}. "
            "Use FinitePossibility and DiscreteFamily."
        )
    values = f.values.ravel()
    points = [f.points[i] for i in np.flatnonzero(values)]
    p = np.exp([np.asarray(family.log_probability(theta), dtype=float) for theta in points])
    return values[values > 0], p


def _weighted(measure: OuterMeasure) -> tuple[Vector, Matrix]:
    """The possibility function scaled to a probability, and the probabilities of outcomes."""
    f, p = _tables(measure)
    return f / f.sum(), p
