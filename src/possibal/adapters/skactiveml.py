"""scikit-activeml: our strategies and our classifier in its active-learning loops.

    clf = PossibilisticClassifier(classes=[0, 1])
    (row,) = PossibilisticSampling("herding", random_state=0).query(X, y, clf)

In a loop over one pool they ask the rows that a :class:`possibal.Campaign` asks.
"""

from collections.abc import Callable
from numbers import Integral
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from possibal.acquisition.registry import find_strategy
from possibal.arguments import DEFAULT_STRATEGY
from possibal.arrays import Array, Mask, Matrix, Places, Vector
from possibal.belief import Belief
from possibal.campaign.pool_batch import batch
from possibal.errors import MissingPackageError
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.latent_gaussian import LatentGaussianClassifier
from possibal.estimators.pipeline import (
    PossibilisticPipeline,
    final_classifier,
    fitted_to_pool,
    is_possibilistic,
)

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy, SkactivemlClassifier
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.utils import (
        MISSING_LABEL,
        check_equal_missing_label,
        check_type,
        is_labeled,
    )
except ImportError:
    raise MissingPackageError(
        "possibal.adapters.skactiveml needs scikit-activeml, which is not installed: "
        "run pip install 'possibal[skactiveml]'."
    ) from None

Model = LatentGaussianClassifier | PossibilisticPipeline
_Checked = tuple[Matrix, NDArray[Any], NDArray[Any] | None, int, bool]
"""Rows, labels, candidates, how many are wanted, and whether utilities are, as checked."""
_Candidates = tuple[Matrix, Places | None]
"""Candidates as rows, and their places in the pool if they are of it."""


class PossibilisticClassifier(SkactivemlClassifier):
    """A :class:`~possibal.PossibilisticGPClassifier` that takes rows without a label.

    It fills in the classes, so that it can be fitted to labels of one class, or to none. Like a
    campaign it compares rows by the usual distance of all rows it is given, labelled or not; and
    the transformers of a pipeline are fitted to all of them, without labels.

    Args:
        estimator: a :class:`~possibal.PossibilisticGPClassifier`, or a scikit-learn pipeline that
            ends in one; it is copied. One with default settings if left out.
        classes: all labels there may be; None means those in y, of which there must be two.
        missing_label: what stands for a missing label.
        cost_matrix: (C, C), what it costs to predict a label (column) for another (row).
        random_state: breaks ties of predictions, and for :meth:`sample_proba`.

    Attributes:
        classes_: the labels, in order.
        estimator_: what was fitted.
    """

    def __init__(
        self,
        estimator: object = None,
        *,
        classes: ArrayLike | None = None,
        missing_label: Any = MISSING_LABEL,  # noqa: ANN401 - of the type of the labels
        cost_matrix: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        """Keep the choices; fit checks them."""
        super().__init__(
            classes=classes,
            missing_label=missing_label,
            cost_matrix=cost_matrix,
            random_state=random_state,
        )
        self.estimator = estimator

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Condition on the rows that have a label.

        Args:
            X: (n, d), labelled or not.
            y: (n,), labels, some of which may be missing.
            sample_weight: (n,), how many times each row counts.
        """
        model = PossibilisticGPClassifier() if self.estimator is None else self.estimator
        _check_estimator(model)
        empty = {"ensure_min_samples": 0, "ensure_min_features": 0}
        rows, codes, weight = self._validate_data(X, y, sample_weight, check_X_dict=empty)
        if not len(rows):
            raise ValueError("X must have rows, labelled or not; got none. Pass the pool.")
        fitted, seen = fitted_to_pool(model, rows)
        final = final_classifier(fitted)
        known = cast("NDArray[Any]", self.classes_)
        final.set_params(classes=_classes(known, final.classes))
        has_label = is_labeled(codes, missing_label=-1)
        labels = known[codes[has_label].astype(int)]
        final.fit(seen[has_label], labels, None if weight is None else weight[has_label])
        self.estimator_ = fitted
        return self

    def predict_proba(self, X: ArrayLike) -> Matrix:  # pyright: ignore[reportIncompatibleMethodOverride] - it has no options
        """The most credible probability of each label, (m, C), averaged over credible settings."""
        return self._fitted.predict_proba(X)

    def belief(self, X: ArrayLike) -> Belief:
        """The latent moments of each row; see :meth:`PossibilisticGPClassifier.belief`."""
        return self._fitted.belief(X)

    def necessity(self, X: ArrayLike) -> Vector:
        """Necessity that the leading label is truly the likeliest, in [0, 1]."""
        return self._fitted.necessity(X)

    def possibility(self, X: ArrayLike) -> Matrix:
        """Possibility that each label is the likeliest, (m, C); the leading label has one."""
        return self._fitted.possibility(X)

    def sample_proba(
        self,
        X: ArrayLike,
        n_samples: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> Array:
        """Probabilities of the labels under latents drawn from the posterior, (n_samples, m, C)."""
        state = self.random_state if random_state is None else random_state
        return self._fitted.sample_proba(X, n_samples, state)

    @property
    def _fitted(self) -> Model:
        """The model, once there is one."""
        check_is_fitted(self, "estimator_")
        return self.estimator_


class PossibilisticSampling(SingleAnnotatorPoolQueryStrategy):
    """A pool query strategy by any of our strategies, diverse in batches.

    Where rows of the pool are the candidates, it asks what :meth:`possibal.Campaign.ask` asks of
    the same seed. Until two classes are known it asks rows that represent others, whatever the
    strategy.

    Args:
        strategy: a name in :data:`~possibal.acquisition.STRATEGIES`, or a function of your own:
            of a :class:`~possibal.acquisition.strategy.View`, or of latent mean and variance.
        missing_label: what stands for a missing label.
        random_state: an int is the seed of a campaign that asks alike.
    """

    def __init__(
        self,
        strategy: str | Callable[..., Any] = DEFAULT_STRATEGY,
        missing_label: Any = MISSING_LABEL,  # noqa: ANN401 - of the type of the labels
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        """Keep the choices; a query checks them."""
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.strategy = strategy

    def query(  # noqa: PLR0913, PLR0917 - scikit-activeml's signature
        self,
        X: ArrayLike,
        y: ArrayLike,
        clf: SkactivemlClassifier,
        fit_clf: bool = True,  # noqa: FBT001, FBT002 - as above
        sample_weight: ArrayLike | None = None,
        candidates: ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,  # noqa: FBT001, FBT002 - as above
    ) -> Places | tuple[Places, Matrix]:
        """The rows to label next, the best first.

        Args:
            X: (n, d), the pool: rows with a label and without.
            y: (n,), labels, some of which are missing.
            clf: a :class:`PossibilisticClassifier`, or scikit-activeml's SklearnClassifier of a
                :class:`~possibal.PossibilisticGPClassifier`.
            fit_clf: whether a copy is fitted to X and y first; else it is taken as it was fitted.
            sample_weight: (n,), for that fit.
            candidates: places of the rows that may be asked about, or such rows themselves; None
                means those without a label.
            batch_size: how many rows are wanted.
            return_utilities: whether utilities are returned, too.

        Returns:
            Places of the rows, (batch_size,), and the utilities by which each was picked,
            (batch_size, n): among the candidates, where these are rows. NaN are rows that are no
            candidates or were picked before. Minus infinity are rows that did not compete: the
            picks before explain much of them, or a large pool is scored by a sample.
        """
        strategy = find_strategy(self.strategy)
        checked = self._validate_data(X, y, candidates, batch_size, return_utilities, reset=True)
        every, labels, given, n, _ = cast("_Checked", checked)
        rows, places = cast("_Candidates", self._transform_candidates(given, every, labels))
        check_type(fit_clf, "fit_clf", bool)
        _check_clf(clf)
        check_equal_missing_label(clf.missing_label, self.missing_label_)
        pool, aside = _pool(rows, places, every, is_labeled(labels, self.missing_label_))
        weight = sample_weight
        model = _refitted(clf, every, labels, weight) if fit_clf else _model(clf, weight)
        asked, width = np.empty(0, dtype=np.intp), len(rows if places is None else every)
        utilities = np.empty((0, width))
        if n:
            found = batch(model, pool, n, strategy, aside=aside, seed=self._seed())
            asked, utilities = found.places, found.pool_utilities[:, :width]
        return (asked, utilities) if return_utilities else asked

    def _seed(self) -> int:
        """The seed of what is drawn: the one given, or drawn from the state given."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(self.random_state_.randint(2**31))


def _pool(
    rows: Matrix, places: Places | None, every: Matrix, has_label: Mask
) -> tuple[Matrix, Places]:
    """The pool that candidates are of, and the places in it of rows that are none.

    Candidates that are given as rows make a pool of their own, beside the rows with labels.
    """
    if places is not None:
        return every, np.setdiff1d(np.arange(len(every)), places)
    pool = np.concatenate([rows, every[has_label]])
    return pool, np.arange(len(rows), len(pool))


def _classes(known: NDArray[Any], named: ArrayLike | None) -> list[Any]:
    """The labels that scikit-activeml knows, of which there must be two, as a model takes them."""
    classes: list[Any] = known.tolist()
    if named is not None and set(classes) != set(np.asarray(named).tolist()):
        raise ValueError(
            f"classes must be named to PossibilisticClassifier; got {named!r} in its estimator and "
            f"{classes} here. Write PossibilisticClassifier(classes=[...])."
        )
    if len(classes) < 2:  # noqa: PLR2004 - a choice needs two
        raise ValueError(
            f"classes must be named where y has fewer than two labels; got {classes}. "
            "Write PossibilisticClassifier(classes=[...])."
        )
    return classes


def _check_estimator(estimator: object) -> None:
    """Refuse to wrap what is no classifier of ours."""
    if not is_possibilistic(estimator):
        raise TypeError(
            "estimator must be a PossibilisticGPClassifier, or a pipeline that ends in one; "
            f"got {type(estimator).__name__}. Leave it out for the usual one."
        )


def _check_clf(clf: object) -> None:
    """Refuse a classifier that has no posterior to score rows by."""
    if isinstance(clf, PossibilisticClassifier):
        return
    if not isinstance(clf, SklearnClassifier) or not is_possibilistic(clf.estimator):
        raise TypeError(
            "clf must be a PossibilisticClassifier, or a SklearnClassifier of a "
            f"PossibilisticGPClassifier; got {type(clf).__name__}. "
            "Write PossibilisticClassifier(classes=[...])."
        )


def _refitted(
    clf: SkactivemlClassifier, X: Matrix, y: NDArray[Any], sample_weight: ArrayLike | None
) -> Any:  # noqa: ANN401 - a classifier or a pipeline
    """The model of a copy that is fitted to the pool."""
    copy = cast("Any", clone(clf))
    if sample_weight is None:
        return _model(copy.fit(X, y))
    return _model(copy.fit(X, y, sample_weight))


def _model(clf: Any, sample_weight: ArrayLike | None = None) -> Any:  # noqa: ANN401 - of two types that share no base; a classifier or a pipeline
    """The model of a classifier as it was fitted."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight must be left out where fit_clf is False; got one. "
            "Weigh rows when you fit clf."
        )
    check_is_fitted(clf, None if isinstance(clf, SklearnClassifier) else "estimator_")
    if isinstance(clf, SklearnClassifier) and not clf.is_fitted_:
        raise ValueError(
            "clf must be fitted to rows of two labels; got a SklearnClassifier that could not be. "
            "Write PossibilisticClassifier(classes=[...]), which needs none."
        )
    return clf.estimator_
