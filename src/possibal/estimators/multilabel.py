"""Classifier of several labels: for each a possibilistic Gaussian process over the same rows."""

from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from possibal.acquisition.pointwise import necessity
from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import Belief, leading_labels
from possibal.estimators import validation
from possibal.estimators.classifier import PossibilisticGPClassifier, unfitted
from possibal.gp.posterior import Posterior

TABLE = 2
"""Dimensions of what has rows and columns."""


class PossibilisticMultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """A row may have several labels, one or none: each is there or not, by a classifier of its own.

    Binary relevance: labels are independent given the row. So the chance of a set is the product of
    the chances of its parts, and its necessity the least of theirs: N(A and B) is the minimum of
    N(A) and N(B).

    Paper: Prop. 7 for each label.

    Args:
        classifier: of one label, not fitted and not changed; the usual one if left out.
        classes: names of the labels, in the order of the columns of Y; numbers from 0 if left out.

    Attributes:
        classes_: the names.
        estimators_: the classifier of each label, whose classes are False and True.
    """

    def __init__(
        self,
        classifier: PossibilisticGPClassifier | None = None,
        *,
        classes: ArrayLike | None = None,
    ) -> None:
        """Keep the choices; fit checks them."""
        self.classifier = classifier
        self.classes = classes

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may know: there are several labels."""
        tags = super().__sklearn_tags__()
        cast("Any", tags.classifier_tags).multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Condition on labelled rows.

        Args:
            X: (n, d); n may be 0.
            Y: (n, L), whether a row has each label: 0 or 1, or False or True.
        """
        present = _indicator(Y)
        count = present.shape[1]
        self.classes_ = np.arange(count) if self.classes is None else np.asarray(self.classes)
        if self.classes_.shape != (count,):
            raise ValueError(
                f"classes must name each column of Y, {count}; got {self.classes_.tolist()}. "
                "Name as many."
            )
        plain = unfitted(self.classifier or PossibilisticGPClassifier())
        plain.set_params(classes=[False, True])
        rows = validation.rows(plain, X, reset=True, least=0)
        validation.same_length(rows, present)
        self.estimators_ = [unfitted(plain).fit(X, has) for has in present.T]
        self.n_features_in_ = rows.shape[1]
        return self

    @property
    def posteriors(self) -> tuple[Posterior, ...]:
        """The posterior of each label."""
        check_is_fitted(self, "estimators_")
        return tuple(one.posterior_ for one in self.estimators_)

    def beliefs(self, X: ArrayLike) -> "LabelSetBelief":
        """What is believed of each label of rows."""
        check_is_fitted(self, "estimators_")
        rows = validation.rows(self.estimators_[0], X, reset=False)
        return LabelSetBelief.of(self.posteriors, rows)

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """The most credible probability that each row has each label, (m, L).

        Paper: App. B.3.
        """
        return self.beliefs(X).probability

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Whether each row has each label, (m, L): 1 where that is likelier than not."""
        return (self.predict_proba(X) > 0.5).astype(np.intp)  # noqa: PLR2004 - even chances

    def necessity(self, X: ArrayLike) -> Matrix:
        """Necessity that each label is there or not, as is likelier, (m, L), in [0, 1].

        Paper: Prop. 2.
        """
        return self.beliefs(X).necessity


class LabelSetBelief:
    """What is believed of each label of some rows, and of the set of them that is predicted.

    Attributes:
        labels: the belief about each label.
        probability: (m, L), that a row has it.
        necessity: (m, L), of what is likelier, that it has it or has it not; zero where the most
            credible setting leads to the other.
        has: (m, L), what is likelier.
    """

    def __init__(self, labels: tuple[Belief, ...], probability: Matrix) -> None:
        """Read the necessities."""
        self.labels, self.probability = labels, probability
        self.has = probability > 0.5  # noqa: PLR2004 - even chances
        leading = np.array([leading_labels(one) for one in labels]).T > 0
        certain = np.array([necessity(one) for one in labels]).T
        self.necessity: Matrix = np.where(leading == self.has, certain, 0.0)

    @classmethod
    def of(cls, posteriors: tuple[Posterior, ...], X: Matrix) -> "LabelSetBelief":
        """That of the posteriors of labels about rows."""
        labels = tuple(one.at(X) for one in posteriors)
        return cls.read(posteriors, labels)

    @classmethod
    def read(
        cls, posteriors: tuple[Posterior, ...], labels: tuple[Belief, ...]
    ) -> "LabelSetBelief":
        """The same, where the beliefs are known."""
        pairs = zip(posteriors, labels, strict=True)
        return cls(labels, np.array([one.probability_of(known)[:, 1] for one, known in pairs]).T)

    def part(self, rows: Places) -> "LabelSetBelief":
        """The same about some of the rows."""
        return LabelSetBelief(tuple(one.part(rows) for one in self.labels), self.probability[rows])

    @property
    def set_necessity(self) -> Vector:
        """Necessity of the whole set that is predicted, (m,): the least of its parts.

        Paper: Sec. 3.1, N(A and B) = min(N(A), N(B)).
        """
        return self.necessity.min(axis=1)

    @property
    def set_chance(self) -> Vector:
        """Probability of the whole set, (m,), labels taken to be independent given the row."""
        return np.where(self.has, self.probability, 1.0 - self.probability).prod(axis=1)


def _indicator(Y: ArrayLike) -> Array:
    """Which row has which label, or one sentence on what is wrong."""
    given = np.asarray(Y)
    if given.ndim != TABLE or not given.shape[1]:
        raise ValueError(
            f"Y must have a column for each label; got shape {given.shape}. "
            "Make it with sklearn.preprocessing.MultiLabelBinarizer."
        )
    if given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
        raise ValueError(
            "Y must hold 0 and 1, or False and True; got others. "
            "Make it with sklearn.preprocessing.MultiLabelBinarizer."
        )
    return given.astype(bool)
