"""t-SNE: a plane in which the clusters of a pool lie side by side, and a place in it for any row.

    plane = fit_tsne(X)             plane.apply(rows) -> (m, 2)

Two principal axes show two clusters apart from all others; the third lies on top of them. t-SNE
(van der Maaten & Hinton 2008) asks for neighbours to stay neighbours instead. It is exact, over few
landmarks, for which no tree is needed; other rows lie between their nearest landmarks. So a row has
its place by itself, and keeps it when others join. scikit-learn's takes three times as long, and
sums in an order that depends on the machine, which a descent blows up: servers of one campaign
would draw different maps.
"""

from dataclasses import dataclass

import numpy as np

from possibal.arrays import Matrix, Vector
from possibal.numerics.distances import distances_between
from possibal.numerics.principal_axes import principal_plane

LANDMARKS = 500
"""Rows that the plane is made of at most: half a second."""
PERPLEXITY = 30.0
"""Neighbours that each landmark has in effect."""
STEPS, EARLY = 300, 100
"""Steps of the descent, and those at first in which neighbours attract more strongly."""
_EXAGGERATION = 12.0
"""How much more strongly: clusters form before they spread."""
_MOMENTUM = 0.5, 0.8
"""In those first steps, and later."""
_BISECTIONS = 40
"""Of the bandwidth of a landmark, to the perplexity."""
_BEGIN = 1e-2
"""Standard deviation of the first axis of the principal plane that the descent starts in."""
_DIGITS = 8
"""Decimals of the places at the start."""
_NEAREST = 10
"""Landmarks that a row lies between."""
_CLOSE = 1e-2
"""Share of the mean square distance of these that is added, lest a row lie on top of a landmark."""
_CHUNK = 10_000
"""Rows whose distances to landmarks are held at once."""


@dataclass(frozen=True, eq=False)
class TsnePlane:
    """Places in the plane, by those of landmarks.

    Attributes:
        landmarks: (r, d), distinct rows of the pool.
        places: (r, 2), of each.
    """

    landmarks: Matrix
    places: Matrix

    def apply(self, X: Matrix) -> Matrix:
        """(m, 2): mean place of the nearest landmarks, by their inverse square distances.

        Paper: none; Shepard's interpolation (1968).
        """
        found = np.empty((len(X), 2))
        most = min(_NEAREST, len(self.landmarks))
        for start in range(0, len(X), _CHUNK):
            part = slice(start, start + _CHUNK)
            squares = distances_between(X[part], self.landmarks) ** 2
            near = np.argpartition(squares, most - 1, axis=1)[:, :most]
            distances = np.take_along_axis(squares, near, axis=1)
            there = _CLOSE * distances.mean(axis=1, keepdims=True) + np.finfo(float).tiny
            weight = 1.0 / (distances + there)
            weight /= weight.sum(axis=1, keepdims=True)
            found[part] = np.einsum("mk,mkj->mj", weight, self.places[near])
        return found


def fit_tsne(X: Matrix) -> TsnePlane:
    """The plane of a pool, by distinct rows that are drawn from it, whatever its order.

    Paper: none; van der Maaten & Hinton (2008), from the principal plane (Kobak & Berens 2019).
    """
    distinct = np.unique(X, axis=0)
    drawn = np.sort(np.random.default_rng(0).permutation(len(distinct))[:LANDMARKS])
    landmarks = distinct[drawn]
    start = principal_plane(landmarks, landmarks)
    if len(landmarks) <= _NEAREST:  # hardly any neighbours to keep
        return TsnePlane(landmarks, start)
    squares = np.add.reduce([_apart(column) ** 2 for column in landmarks.T])
    return TsnePlane(landmarks, _descent(_affinities(squares), start))


def _apart(values: Vector) -> Matrix:
    """Differences of each two values, (r, r): no sum of which the order is up to a library."""
    return values[:, None] - values


def _affinities(squares: Matrix) -> Matrix:
    """Joint probabilities of landmarks: Gaussian, each row's bandwidth by the perplexity.

    The entropy of a row falls with its inverse bandwidth, which is found by bisection.
    """
    rows = len(squares)
    target = np.log(min(PERPLEXITY, (rows - 1) / 3))
    np.fill_diagonal(squares, np.inf)
    nearest = squares.min(axis=1, keepdims=True)
    beyond = squares - nearest  # that of the row itself is infinite
    finite = np.where(np.isfinite(beyond), beyond, 0.0)
    low, high = np.zeros((rows, 1)), np.full((rows, 1), np.inf)
    sharpness = np.full((rows, 1), 1.0 / np.median(finite.sum(axis=1) / rows))
    weight, total = np.zeros_like(beyond), np.ones((rows, 1))
    for _ in range(_BISECTIONS):
        weight = np.exp(-beyond * sharpness)
        total = weight.sum(axis=1, keepdims=True)
        mean = (weight * finite).sum(axis=1, keepdims=True) / total
        is_wide = np.log(total) + sharpness * mean > target
        low, high = np.where(is_wide, sharpness, low), np.where(is_wide, high, sharpness)
        sharpness = np.where(np.isinf(high), 2.0 * low, 0.5 * (low + high))
    conditional = weight / total
    return (conditional + conditional.T) / (2.0 * rows)


def _descent(joint: Matrix, start: Matrix) -> Matrix:
    """Places of least divergence from the joint probabilities, by descent with momentum.

    What rounding leaves open grows on the way: the start is rounded, and nothing after it is left
    to a library that adds up in an order of its own.
    """
    scale = _BEGIN / max(start[:, 0].std(), np.finfo(float).tiny)
    places = np.round((start * scale).T, _DIGITS)
    speed, gain = np.zeros_like(places), np.ones_like(places)
    rate = max(places.shape[1] / _EXAGGERATION / 4.0, 50.0)
    for step in range(STEPS):
        is_early = step < EARLY
        across, up = map(_apart, places)
        near = 1.0 / (1.0 + across**2 + up**2)
        pull = (_EXAGGERATION if is_early else 1.0) * joint
        pull -= near / (near.sum() - places.shape[1])  # without that of each with itself
        pull *= near
        slope = 4.0 * np.stack([(pull * across).sum(axis=1), (pull * up).sum(axis=1)])
        against = np.sign(slope) != np.sign(speed)
        gain = np.maximum(np.where(against, gain + 0.2, 0.8 * gain), 0.01)
        speed = _MOMENTUM[0 if is_early else 1] * speed - rate * gain * slope
        places = places + speed
        places -= places.mean(axis=1, keepdims=True)
    return places.T
