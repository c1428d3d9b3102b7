"""modAL: its ActiveLearner and its query strategies, for programs that were written to it.

    from possibal.adapters.modal import ActiveLearner, uncertainty_sampling

    learner = ActiveLearner(estimator, uncertainty_sampling, X_training=X, y_training=y)
    places, rows = learner.query(X_pool, n_instances=3)
    learner.teach(rows, labels)

No line of modAL is needed: it does not run with the scikit-learn of today. Strategies of its shape,
functions of a learner and a pool, go on working; a name such as "herding" is a strategy of ours.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import entropy
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_consistent_length

from possibal.acquisition.registry import find_strategy
from possibal.adapters.row_kinds import Rows, count_rows, joined_rows, rows_at
from possibal.arguments import whole
from possibal.arrays import Matrix, Places, Vector
from possibal.campaign.pool_batch import batch
from possibal.campaign.snapshot import PLACEHOLDER_CLASSES
from possibal.estimators.pipeline import (
    as_possibilistic,
    final_classifier,
    fitted_to_pool,
    is_possibilistic,
)

Learner = Any
"""An :class:`ActiveLearner`, or an estimator of any library."""
QueryStrategy = Callable[..., Any]
"""Of a learner and a pool; gives places of rows, or these and a number for each."""


class ActiveLearner:
    """An estimator with what it was taught, which can ask for more.

    Args:
        estimator: any of scikit-learn; it is fitted in place.
        query_strategy: a function of a learner and a pool, such as :func:`uncertainty_sampling`, or
            a name in :data:`~possibal.acquisition.STRATEGIES`, for a classifier of ours.
        X_training: rows with a label, if there are some; the estimator is then fitted to them.
        y_training: their labels.
        bootstrap_init: whether that fit is to rows drawn from them with replacement.
        random_state: the seed of what is drawn; if left out, no two learners draw alike.

    Attributes:
        estimator: as it was given, fitted to what was taught.
        query_strategy: as a function.
        X_training: the rows taught so far; None while there are none.
        y_training: their labels.
        rng: what is drawn from.
    """

    def __init__(  # noqa: PLR0913 - modAL's signature
        self,
        estimator: Learner,
        query_strategy: QueryStrategy | str | None = None,
        X_training: Rows = None,
        y_training: ArrayLike | None = None,
        bootstrap_init: bool = False,  # noqa: FBT001, FBT002 - modAL's signature
        *,
        random_state: int | None = None,
    ) -> None:
        """Fit the estimator, if there is something to fit it to."""
        seed = 0 if random_state is None else whole("random_state", random_state, 0)
        self.estimator = estimator
        self.query_strategy = _strategy(query_strategy, estimator, seed)
        self.X_training: Any = None
        self.y_training: NDArray[Any] | None = None
        self.rng = np.random.default_rng(random_state)
        if (X_training is None) != (y_training is None):
            missing = "X_training" if X_training is None else "y_training"
            raise ValueError(
                f"{missing} must be given beside the other of X_training and y_training; "
                "got None. Pass both or none."
            )
        if X_training is not None:
            self.fit(X_training, y_training, bootstrap=bootstrap_init)

    def query(
        self,
        X_pool: Rows,
        *args: Any,  # noqa: ANN401 - handed on
        return_metrics: bool = False,
        **options: Any,  # noqa: ANN401 - handed on
    ) -> tuple[Any, ...]:
        """Which rows of a pool to label next, the best first: their places, and the rows.

        Args:
            X_pool: rows without a label.
            args: for the strategy, such as the number of rows.
            return_metrics: whether the strategy's number for each row is returned, too.
            options: for the strategy, such as ``n_instances=3``.
        """
        answer = self.query_strategy(self, X_pool, *args, **options)
        places, metrics = answer if _is_pair(answer) else (answer, None)
        found = (places, rows_at(X_pool, places))
        return (*found, metrics) if return_metrics else found

    def fit(
        self,
        X: Rows,
        y: ArrayLike | None,
        bootstrap: bool = False,  # noqa: FBT001, FBT002 - modAL's signature
        **options: Any,  # noqa: ANN401 - handed on
    ) -> Self:
        """Forget what was taught, and learn from these rows.

        Args:
            X: rows.
            y: their labels.
            bootstrap: whether to fit to rows drawn from them with replacement.
            options: for the estimator's fit.
        """
        labels = np.asarray(y)
        self._fit(X, labels, options, bootstrap=bootstrap)
        self.X_training, self.y_training = X, labels
        return self

    def teach(
        self,
        X: Rows,
        y: ArrayLike,
        bootstrap: bool = False,  # noqa: FBT001, FBT002 - modAL's signature
        only_new: bool = False,  # noqa: FBT001, FBT002 - the same
        **options: Any,  # noqa: ANN401 - handed on
    ) -> None:
        """Add rows to those taught so far, and fit the estimator to all of them.

        Args:
            X: new rows.
            y: their labels.
            bootstrap: whether to fit to rows drawn with replacement.
            only_new: whether to fit to the new rows alone, which are then not kept.
            options: for the estimator's fit.
        """
        if only_new:
            self._fit(X, np.asarray(y), options, bootstrap=bootstrap)
        elif self.y_training is None:
            self.fit(X, y, bootstrap, **options)
        else:
            labels = _joined_labels(self.y_training, np.asarray(y))
            self.fit(joined_rows(self.X_training, X), labels, bootstrap, **options)

    def predict(self, X: Any, **options: Any) -> Any:  # noqa: ANN401 - as the estimator's
        """The estimator's predictions."""
        return self.estimator.predict(X, **options)

    def predict_proba(self, X: Any, **options: Any) -> Any:  # noqa: ANN401 - as the estimator's
        """The estimator's probability of each label."""
        return self.estimator.predict_proba(X, **options)

    def score(self, X: Any, y: Any, **options: Any) -> Any:  # noqa: ANN401 - as the estimator's
        """The estimator's score."""
        return self.estimator.score(X, y, **options)

    def _fit(self, X: Any, y: NDArray[Any], options: dict[str, Any], *, bootstrap: bool) -> None:  # noqa: ANN401 - as above
        """Fit the estimator to rows, or to rows drawn from them."""
        check_consistent_length(X, y)
        if bootstrap and options:
            raise ValueError(
                f"bootstrap must be left out where fit has options; got {', '.join(options)}. "
                "They would belong to other rows than those drawn."
            )
        if bootstrap:
            drawn = self.rng.integers(len(y), size=len(y))
            X, y = rows_at(X, drawn), y[drawn]
        self.estimator.fit(X, y, **options)


# ---------------------------------------------------------------- query strategies


def classifier_uncertainty(
    classifier: Learner,
    X: Rows,
    **options: Any,  # noqa: ANN401 - handed on
) -> Vector:
    """One minus the largest probability of a label."""
    return 1.0 - _probabilities(classifier, X, options).max(axis=1)


def classifier_margin(
    classifier: Learner,
    X: Rows,
    **options: Any,  # noqa: ANN401 - handed on
) -> Vector:
    """The largest probability of a label less the second largest; zero if there is one label."""
    chances = np.sort(_probabilities(classifier, X, options), axis=1)
    if chances.shape[1] == 1:
        return np.zeros(len(chances))
    return chances[:, -1] - chances[:, -2]


def classifier_entropy(
    classifier: Learner,
    X: Rows,
    **options: Any,  # noqa: ANN401 - handed on
) -> Vector:
    """The entropy of the label, in nats."""
    return np.asarray(entropy(_probabilities(classifier, X, options), axis=1), dtype=float)


def uncertainty_sampling(
    classifier: Learner,
    X: Rows,
    n_instances: int = 1,
    random_tie_break: bool = False,  # noqa: FBT001, FBT002 - modAL's signature
    **options: Any,  # noqa: ANN401 - handed on
) -> tuple[Places, Vector]:
    """The rows whose likeliest label is least probable, and how improbable it is."""
    values = _known(classifier_uncertainty, classifier, X, options)
    return _largest(values, values, n_instances, _generator(classifier, random_tie_break))


def margin_sampling(
    classifier: Learner,
    X: Rows,
    n_instances: int = 1,
    random_tie_break: bool = False,  # noqa: FBT001, FBT002 - modAL's signature
    **options: Any,  # noqa: ANN401 - handed on
) -> tuple[Places, Vector]:
    """The rows whose two likeliest labels are nearest in probability, and how near these are."""
    values = _known(classifier_margin, classifier, X, options)
    return _largest(-values, values, n_instances, _generator(classifier, random_tie_break))


def entropy_sampling(
    classifier: Learner,
    X: Rows,
    n_instances: int = 1,
    random_tie_break: bool = False,  # noqa: FBT001, FBT002 - modAL's signature
    **options: Any,  # noqa: ANN401 - handed on
) -> tuple[Places, Vector]:
    """The rows whose label has the largest entropy, and this entropy."""
    values = _known(classifier_entropy, classifier, X, options)
    return _largest(values, values, n_instances, _generator(classifier, random_tie_break))


def possibilistic_sampling(strategy: str | Callable[..., Any], seed: int = 0) -> QueryStrategy:
    """A query strategy of modAL's shape by a strategy of ours, diverse where several are asked.

    It takes learners whose estimator is a classifier of ours, or a pipeline that ends in one. Until
    two labels are known, or where the estimator is not fitted, it asks rows that represent others.

    Args:
        strategy: a name in :data:`~possibal.acquisition.STRATEGIES`, or a function of your own:
            of a :class:`~possibal.acquisition.strategy.View`, or of latent mean and variance.
        seed: of what is drawn.
    """
    chosen = find_strategy(strategy)

    def query(
        classifier: Learner,
        X: Rows,
        n_instances: int = 1,
    ) -> tuple[Places, Vector]:
        """The rows to label next, and their utilities when each was picked."""
        model = classifier if is_possibilistic(classifier) else _estimator(classifier)
        if not is_possibilistic(model):
            raise TypeError(
                "classifier must be a PossibilisticGPClassifier, or learn with one; "
                f"got {type(model).__name__}. Use uncertainty_sampling with it."
            )
        found = batch(_at_least_prior(model, X), X, n_instances, chosen, seed=seed)
        return found.places, found.utilities

    return query


def _strategy(given: QueryStrategy | str | None, estimator: object, seed: int) -> QueryStrategy:
    """A query strategy as a function, or one sentence on why there is none."""
    if given is None:
        return uncertainty_sampling
    if callable(given):
        return given
    sampling = possibilistic_sampling(given, seed)
    if not is_possibilistic(estimator):
        raise TypeError(
            "query_strategy must be a function where estimator is no PossibilisticGPClassifier; "
            f"got {given!r} for {type(estimator).__name__}. Use uncertainty_sampling for one."
        )
    return sampling


def _at_least_prior(model: Any, X: Any) -> Any:  # noqa: ANN401 - a classifier or a pipeline; its rows
    """A model as it was fitted, or where it was not a copy that knows the pool and no label."""
    final = final_classifier(as_possibilistic(model))
    if hasattr(final, "posterior_"):
        return model
    prior, seen = fitted_to_pool(model, X)
    final = final_classifier(prior)
    if final.classes is None:
        final.set_params(classes=PLACEHOLDER_CLASSES)
    final.fit(rows_at(np.asarray(seen) if isinstance(seen, list) else seen, []), [])
    return prior


def _estimator(classifier: Any) -> Any:  # noqa: ANN401 - a learner, or an estimator
    """What a learner learns with, ours or modAL's own."""
    return getattr(classifier, "estimator", classifier)


def _probabilities(classifier: Any, X: Any, options: dict[str, Any]) -> Matrix:  # noqa: ANN401 - as above
    """The probability of each label, (m, C)."""
    source = classifier.estimator if isinstance(classifier, ActiveLearner) else classifier
    if not hasattr(source, "predict_proba"):
        raise TypeError(
            f"estimator must have predict_proba; got {type(source).__name__}. "
            "Calibrate it with CalibratedClassifierCV, or use a strategy of your own."
        )
    return np.asarray(source.predict_proba(X, **options), dtype=float)


def _known(
    measure: Callable[..., Vector],
    classifier: Learner,
    X: Rows,
    options: dict[str, Any],
) -> Vector:
    """A number for each row; NaN while nothing was learnt, where all rows are alike."""
    try:
        return measure(classifier, X, **options)
    except NotFittedError:
        return np.full(count_rows(X), np.nan)


def _generator(classifier: object, is_random: bool) -> np.random.Generator | None:  # noqa: FBT001 - as users say it
    """What breaks ties: a learner's own generator; None if the first row does."""
    if not is_random:
        return None
    return getattr(classifier, "rng", None) or np.random.default_rng()


def _largest(
    utilities: Vector, values: Vector, n: int, rng: np.random.Generator | None
) -> tuple[Places, Vector]:
    """The places of the n largest utilities, the largest first, and their values."""
    m = len(utilities)
    if whole("n_instances", n, 1) > m:
        raise ValueError(
            f"n_instances must be at most {m}, the rows of the pool; got {n}. Ask for fewer."
        )
    ties = np.arange(m) if rng is None else rng.permutation(m)
    places = np.lexsort((ties, -utilities))[:n]
    return places, values[places]


def _is_pair(answer: object) -> bool:
    """Whether a strategy gave places and numbers, rather than places alone."""
    return isinstance(answer, tuple) and len(answer) == 2  # noqa: PLR2004 - two


def _joined_labels(known: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """Labels, and more labels of the same type."""
    is_text = [labels.dtype.kind in "US" for labels in (known, new)]
    if any(is_text) and not all(is_text) and not any(y.dtype == object for y in (known, new)):
        raise TypeError(
            f"y must hold labels of the type known so far, {known.dtype}; got {new.dtype}. "
            "Convert them."
        )
    return np.concatenate([known, new])
