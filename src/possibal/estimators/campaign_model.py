"""What a campaign asks of a classifier, whether it says what it does not know or not."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from possibal.arrays import Matrix
from possibal.belief import Belief
from possibal.gp.probabilities import AnyPosterior
from possibal.numerics.geometry import RowGeometry


class CampaignModel(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that a campaign can learn by.

    Attributes:
        classes: all labels there may be; None means those in y.
        classes_: the labels, in order.
        posterior_: what strategies read of a fitted one.
        left_out_: how many distinct labelled rows were beyond what is fitted exactly.
        blocks: how many columns each block of X has, where they are weighed against one another.
    """

    classes: ArrayLike | None
    classes_: NDArray[Any]
    posterior_: AnyPosterior
    left_out_: int
    blocks: Sequence[int] | None = None

    @abstractmethod
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from labelled rows."""

    @abstractmethod
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label of largest probability."""

    @abstractmethod
    def predict_proba(self, X: ArrayLike) -> Matrix:
        """The probability of each label, (m, C)."""

    @abstractmethod
    def belief(self, X: ArrayLike) -> Belief:
        """What scores read."""

    @abstractmethod
    def for_geometry(self, geometry: RowGeometry) -> Self:
        """A clone that compares rows as they want, unless it has a way of its own."""

    @abstractmethod
    def for_pool(self, X: Matrix) -> Self:
        """A clone that takes its scale from a pool, where it has none of its own.

        No answer changes it, so that a large pool can be cached.
        """
