"""Likelihoods p(y | g) of a latent g, with derivatives of their logarithms.

A link with one latent a row is probit, logistic (labels -1 and 1) or identity (a number seen with
Gaussian error); the softmax has C latents a row. Every row has a weight: how many times it counts,
or, for the identity, one over the variance of its error.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import erfcx, expit, log_expit, log_ndtr, log_softmax, ndtr, softmax

from possibal.arrays import Array

SQRT_2_OVER_PI = float(np.sqrt(2.0 / np.pi))
_FAR = -50.0
"""Below this margin five terms of the series of the Mills ratio are exact to rounding."""


@dataclass(frozen=True, eq=False)
class LikelihoodDerivatives:
    """Derivatives of log p by the latent of each row; weight W is minus the second."""

    gradient: Array
    weight: Array
    third: Array


class Link(Protocol):
    """Likelihood with one latent a row.

    Paper: Props. 6 and 7, p(y | g).
    """

    scale: float
    """What the latent is multiplied by to stand on the probit's scale, which the scores read."""

    def probability(self, g: Array, /) -> Array:
        """Probability of the label 1 given the latent.

        Paper: Prop. 7, p(Y = 1 | X) = sigma(g(X)).
        """
        ...

    def log_probability(self, y: Array, g: Array, weight: Array, /) -> Array:
        """Log probability or density of what was seen, row by row.

        Paper: App. C.1, log p(y | g).
        """
        ...

    def slopes(self, y: Array, g: Array, weight: Array, /) -> LikelihoodDerivatives:
        """Derivatives of the log probability, row by row.

        Paper: App. C.1, the gradient and W of log p(y | g).
        """
        ...


class Probit:
    """The standard normal distribution function of the margin t = y g.

    Paper: Sec. 4.2, p(1; theta) = Phi(theta).
    """

    scale = 1.0

    def probability(self, g: Array, /) -> Array:
        """Probability of the label 1, Phi(g).

        Paper: Sec. 4.2, p(1; theta) = Phi(theta).
        """
        return ndtr(g)

    def log_probability(self, y: Array, g: Array, weight: Array, /) -> Array:
        """Log probability of the label seen, log Phi(t).

        Paper: App. C.1, log p(y | g).
        """
        return weight * log_ndtr(y * g)

    def slopes(self, y: Array, g: Array, weight: Array, /) -> LikelihoodDerivatives:
        """Derivatives of log Phi(t), all from r = phi / Phi.

        Paper: App. C.1; GPML Eq. 3.16. W = r (r + t), where r + t cancels far to the left: there
        all are had from the series of r in 1 / t^2.
        """
        t = y * g
        r = SQRT_2_OVER_PI / erfcx(-np.sqrt(0.5) * t)
        pull = t + r
        third = r * (pull * pull + r * pull - 1.0)
        far = t < _FAR
        if far.any():
            v = -1.0 / t[far]
            u = v * v
            pull[far] = v * (1.0 - u * (2.0 - u * (10.0 - u * (74.0 - 706.0 * u))))
            r[far] = pull[far] - t[far]
            third[far] = 2.0 * v * u * (1.0 - u * (12.0 - u * (150.0 - 2072.0 * u)))
        return LikelihoodDerivatives(weight * y * r, weight * r * pull, weight * y * third)


class Logistic:
    """The logistic function of the margin t = y g.

    Paper: Prop. 7 with the logistic sigmoid.
    """

    scale = float(np.sqrt(np.pi / 8.0))

    def probability(self, g: Array, /) -> Array:
        """Probability of the label 1, 1 / (1 + exp(-g)).

        Paper: Prop. 7, p(Y = 1 | X) = sigma(g(X)).
        """
        return expit(g)

    def log_probability(self, y: Array, g: Array, weight: Array, /) -> Array:
        """Log probability of the label seen, -log(1 + exp(-t)).

        Paper: App. C.1, log p(y | g).
        """
        return weight * log_expit(y * g)

    def slopes(self, y: Array, g: Array, weight: Array, /) -> LikelihoodDerivatives:
        """Derivatives of the log probability, from p and q = 1 - p.

        Paper: App. C.1; GPML Eq. 3.15.
        """
        p, q = expit(y * g), expit(-y * g)
        w = weight * p * q
        return LikelihoodDerivatives(weight * y * q, w, w * y * (p - q))


class Identity:
    """The latent itself, seen with Gaussian error of variance 1 / weight.

    Paper: Prop. 6, y = g(X) + epsilon.
    """

    scale = 1.0

    def probability(self, g: Array, /) -> Array:
        """Probability that a copy of the latent with standard error is positive; scores read it so.

        Paper: none; it makes the identity a link like the others.
        """
        return ndtr(g)

    def log_probability(self, y: Array, g: Array, weight: Array, /) -> Array:
        """Log density of the number seen.

        Paper: Prop. 6, log N(y; g, sigma^2 I).
        """
        off = y - g
        return 0.5 * (np.log(weight / (2.0 * np.pi)) - weight * off * off)

    def slopes(self, y: Array, g: Array, weight: Array, /) -> LikelihoodDerivatives:
        """Derivatives of a quadratic: the third is zero.

        Paper: Prop. 6.
        """
        return LikelihoodDerivatives(weight * (y - g), weight + 0.0 * g, 0.0 * g)


class Softmax:
    """One latent for each label; y is one-hot, and the class axis stands before the rows.

    Paper: Prop. 8 and App. C.2.
    """

    scale = 1.0

    def probability(self, g: Array, /) -> Array:
        """Probability of each label, pi, over the class axis (..., C, n).

        Paper: App. C.2, pi.
        """
        return softmax(g, axis=-2)

    def log_probability(self, y: Array, g: Array, weight: Array, /) -> Array:
        """Log probability of the label seen, row by row: (..., 1, n).

        Paper: App. C.2, log p(y | g).
        """
        return weight * (y * log_softmax(g, axis=-2)).sum(axis=-2, keepdims=True)


PROBIT, LOGISTIC, IDENTITY, SOFTMAX = Probit(), Logistic(), Identity(), Softmax()
LINKS: dict[str, Link] = {"probit": PROBIT, "logistic": LOGISTIC}
"""What a user may name: for two labels."""


def expected_weight(link: Link | Softmax, g: Array, once: Array) -> Array:
    """The curvature W that a label is expected to have where the latents are g, (S, P, m).

    Averaged over the labels by their probability, which for a probit is its Fisher information and
    for a logistic link p (1 - p); p_c (1 - p_c) for each class of a softmax; one over the variance
    of the error for numbers.

    Paper: App. C.1 and C.2, W.

    Args:
        link: how latents make labels random.
        g: (S, P, m).
        once: the weight of a label that counts once, to be broadcast.
    """
    p = link.probability(g)
    if isinstance(link, Softmax):
        return once * p * (1.0 - p)
    one, other = (link.slopes(np.array(y), g, once).weight for y in (1.0, -1.0))
    return p * one + (1.0 - p) * other
