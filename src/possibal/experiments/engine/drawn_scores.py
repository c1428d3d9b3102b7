"""Scores estimated from draws of latents, with the slips that the paper's figures point to.

They are part of the recipe ``published`` and no strategies of ours: nobody should ask by them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, erf, softmax

from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Array, Vector
from possibal.experiments.recipes import Recipe

Singles: TypeAlias = NDArray[np.float32]
"""Numbers in single precision, as PyTorch has them unless it is told otherwise."""
DrawnFunction: TypeAlias = Callable[[Singles], Singles]
"""Utilities from draws of the latents, (D, P, m); the first NaN counts as the largest."""


@dataclass(frozen=True)
class DrawnScore:
    """A strategy that draws the latents of each row and forgets to look for NaN.

    Attributes:
        function: what it makes of the draws.
        draws: how many.
    """

    function: DrawnFunction
    draws: int

    def place(self, mean: Array, variance: Array, rng: np.random.Generator) -> int:
        """The row asked about, of moments (P, m); rows of a pool lie in no order.

        NumPy's argmax gives the first NaN, if there is one, as PyTorch's does.
        """
        order = rng.permutation(mean.shape[1])
        latents = latent_draws(mean[:, order], variance[:, order], self.draws, rng)
        with np.errstate(divide="ignore", invalid="ignore"):
            merit = self.function(latents)
        return int(order[merit.argmax() % len(order)])

    def __call__(self, view: View, /) -> Vector:
        """One for the row asked about, and zero for all others."""
        belief, rng = view.belief, view.rng or np.random.default_rng(0)
        mean, variance = belief.mean[belief.leading], belief.variance[belief.leading]
        shape, merit = (len(mean), -1), np.zeros(len(mean))
        merit[self.place(mean.reshape(shape).T, variance.reshape(shape).T, rng)] = 1.0
        return merit


def latent_draws(mean: Array, variance: Array, draws: int, rng: np.random.Generator) -> Singles:
    """Draws of independent latents, (D, P, m), in single precision."""
    drawn = mean + np.sqrt(variance) * rng.standard_normal((draws, *mean.shape))
    return drawn.astype(np.float32)


def label_probabilities(latents: Singles) -> Singles:
    """The probabilities of each label in each draw, (D, m, C).

    GPyTorch's softmax likelihood gives them so: ten draws first, then rows, then labels.
    """
    return np.swapaxes(softmax(latents, axis=1), 1, 2)


def drawn_bald(latents: Singles) -> Singles:
    """BALD with two labels: entropy of the average less average of the entropies.

    Beyond 5.5 the probit is exactly 0 or 1 in single precision, and 0 log 0 is NaN.

    Paper: App. E.4, BALD.
    """
    z = latents[:, 0] / np.float32(np.sqrt(2.0))
    p = np.float32(0.5) * (np.float32(1.0) + erf(z))
    return _entropy_of_two(p.mean(axis=0)) - _entropy_of_two(p).mean(axis=0)


def _entropy_of_two(p: Singles) -> Singles:
    """Entropy of two labels, as it is written in a hurry."""
    return -(p * np.log(p) + (1 - p) * np.log(1 - p))


def drawn_least_confidence(latents: Singles) -> Singles:
    """One minus the largest average probability.

    Paper: App. E.4, Least Confidence.
    """
    return 1 - label_probabilities(latents).mean(axis=0).max(axis=1)


def drawn_entropy(latents: Singles) -> Singles:
    """Entropy of the average probabilities.

    Paper: App. E.4, Entropy of the predicted labels.
    """
    return entr(label_probabilities(latents).mean(axis=0)).sum(axis=1)


def misread_margin(latents: Singles) -> Singles:
    """The margin if it is forgotten that draws come first: rows are compared, and not labels.

    Sorted probabilities p[:, 0] - p[:, 1] are then of the first two rows, (D, C), and the place of
    the least of these numbers has nothing to do with the row that is asked about.

    Paper: App. E.4, Margin.
    """
    p = -np.sort(-label_probabilities(latents), axis=2)
    return (p[:, 1 % p.shape[1]] - p[:, 0]).ravel()


def drawn_scores(recipe: Recipe, labels: int) -> Mapping[str, Strategy]:
    """The strategies that a recipe has instead of ours, for so many labels."""
    if labels == 2:  # noqa: PLR2004 - two
        draws = recipe.bald_draws
        return {"bald": DrawnScore(drawn_bald, draws)} if draws else {}
    draws = recipe.label_draws
    functions = {
        "least_confidence": drawn_least_confidence,
        "margin": misread_margin,
        "entropy": drawn_entropy,
    }
    return {name: DrawnScore(one, draws) for name, one in functions.items()} if draws else {}
