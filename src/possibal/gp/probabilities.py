"""Stand-in for a posterior where a model gives probabilities alone: any classifier of others.

    ProbabilityPosterior(geometry, predict).at(X) -> ProbabilityBelief        pending(posterior)

The model says how likely labels are; which rows are alike, and how much of a row is explained by
one that is pending, a Gaussian process says that has seen where labels are, and not which.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

from scipy.special import softmax

from possibal.arrays import Array, Matrix
from possibal.belief import Belief, ProbabilityBelief
from possibal.gp.latent_posterior import LatentPosterior
from possibal.gp.pending import PendingPosterior
from possibal.gp.posterior import Posterior, TrainingData


@dataclass(frozen=True, eq=False)
class ProbabilityPosterior:
    """What is known of rows by the probabilities of a model, and by a geometry for coverage.

    Paper: none; a model without a posterior says nothing of what it does not know.

    Attributes:
        geometry: a posterior given that the labelled rows have a label, whichever it is.
        predict: rows (m, d) -> probabilities (m, C).
        model: what the model is called, for errors.
    """

    geometry: Posterior
    predict: Callable[[Matrix], Matrix]
    model: str

    @property
    def data(self) -> TrainingData:
        """The labelled rows; their labels are placeholders.

        Paper: none.
        """
        return self.geometry.data

    def at(self, X: Matrix) -> ProbabilityBelief:
        """The probabilities of rows, as a belief that scores of probabilities read.

        Paper: none.
        """
        return ProbabilityBelief.of_probabilities(self.predict(X), self.model)

    def probability(self, X: Matrix) -> Matrix:
        """The probability of each label, (m, C).

        Paper: none.
        """
        return self.predict(X)

    def probability_of(self, belief: Belief) -> Matrix:
        """The probabilities of a belief of this model.

        Paper: none.
        """
        return softmax(belief.mean[0], axis=1)


@dataclass(frozen=True, eq=False)
class PendingProbabilities(PendingPosterior):
    """The same after rows were picked: probabilities stay, and what is explained grows.

    Paper: none.

    Attributes:
        beliefs: what says how likely labels are.
    """

    beliefs: ProbabilityPosterior | None = None

    def at(self, X: Matrix) -> Belief:
        """The probabilities of rows, which no pending label moves.

        Paper: none.
        """
        assert self.beliefs is not None  # noqa: S101 - tells the type checker
        return self.beliefs.at(X)

    def covariance(self, X: Matrix) -> Array:
        """Refused: the model has no latents.

        Paper: none.
        """
        del X
        raise self._no_latents()

    def between(self, X: Matrix, Z: Matrix) -> Array:
        """Refused: the model has no latents.

        Paper: none.
        """
        del X, Z
        raise self._no_latents()

    def _no_latents(self) -> TypeError:
        """The sentence on what a model without latents cannot be asked."""
        name = "a model" if self.beliefs is None else self.beliefs.model
        return TypeError(
            f"strategy must not read covariances of latents, which {name} does not have; got one "
            "that does. Use herding, margin, entropy, least_confidence or random."
        )


AnyPosterior = Posterior | ProbabilityPosterior
"""What a campaign may ask by."""
RankedPosterior = AnyPosterior | LatentPosterior
"""What rows may be ranked by: also a posterior of a model of one's own."""


def pending(posterior: RankedPosterior) -> PendingPosterior:
    """A posterior before any row is picked.

    Paper: none.
    """
    if isinstance(posterior, ProbabilityPosterior):
        return PendingProbabilities(posterior.geometry, beliefs=posterior)
    return PendingPosterior(posterior)


@overload
def geometry_of(posterior: AnyPosterior) -> Posterior: ...
@overload
def geometry_of(posterior: RankedPosterior) -> Posterior | LatentPosterior: ...
def geometry_of(posterior: RankedPosterior) -> Posterior | LatentPosterior:
    """What says which rows are alike.

    Paper: none.
    """
    return posterior.geometry if isinstance(posterior, ProbabilityPosterior) else posterior
