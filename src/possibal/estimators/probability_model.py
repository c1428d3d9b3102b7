"""Any scikit-learn classifier with probabilities, as campaigns and comparisons use it.

    ProbabilityModel(RandomForestClassifier()).fit(X, y).posterior_.at(X) -> ProbabilityBelief

Such a model says how likely labels are. It does not say what it does not know: there is no
necessity, no possibility and no credible range, and none is made up.
"""

from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from possibal.acquisition.registry import OF_LATENTS, STRATEGIES, strategy_name
from possibal.acquisition.scoring import is_local, no_latents
from possibal.acquisition.strategy import Strategy
from possibal.arrays import Matrix
from possibal.belief import ProbabilityBelief
from possibal.errors import summary
from possibal.estimators import validation
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.gp.probabilities import ProbabilityPosterior
from possibal.numerics.geometry import RowGeometry

_PLACEHOLDERS = (0, 1)
"""Classes of the geometry, which only knows where labels are."""


class ProbabilityModel(CampaignModel):
    """A classifier of others between labels and questions.

    Until two classes are seen it is not fitted, and all classes are as likely. Which rows are alike
    is told by the usual kernel, without labels: coverage strategies and cold starts read that.

    Args:
        estimator: a scikit-learn classifier with predict_proba; it is copied.
        classes: all labels there may be; None means those in y.
        geometry: a classifier of ours whose kernel says which rows are alike; None means the usual.

    Attributes:
        classes_: the labels, in order.
        estimator_: the fitted copy; None until two classes are seen.
        posterior_: what strategies read.
        left_out_: how many rows the geometry left out; mostly zero.
    """

    def __init__(
        self,
        estimator: Any = None,  # noqa: ANN401 - scikit-learn ships no types
        *,
        classes: ArrayLike | None = None,
        geometry: PossibilisticGPClassifier | None = None,
    ) -> None:
        """Keep the choices; fit checks them."""
        self.estimator = estimator
        self.classes = classes
        self.geometry = geometry

    @property
    def name(self) -> str:
        """What the classifier of the user's is called."""
        return type(self.estimator).__name__

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from labelled rows.

        Args:
            X: (n, d); n may be 0 where classes are named.
            y: (n,), labels.
        """
        check_probabilities(self.estimator)
        rows = validation.rows(self, X, reset=True, least=0 if self.classes is not None else 1)
        labels = validation.column(y)
        validation.same_length(rows, labels)
        self.classes_, codes = validation.labels(labels, self.classes)
        is_known = len(np.unique(codes)) > 1
        return self.around(self._learnt(rows, self.classes_[codes]) if is_known else None, rows)

    def around(self, fitted: Any, rows: Matrix) -> Self:  # noqa: ANN401 - scikit-learn's
        """Keep a classifier that was fitted to some rows; None while there are too few classes."""
        self.estimator_ = fitted
        if fitted is not None:
            known = {label: code for code, label in enumerate(self.classes_.tolist())}
            self._places = [known[label] for label in fitted.classes_.tolist()]
        usual = PossibilisticGPClassifier() if self.geometry is None else self.geometry
        where = cast("PossibilisticGPClassifier", clone(usual))
        where.set_params(classes=_PLACEHOLDERS, hyperparameters="fixed")
        where.fit(rows, [_PLACEHOLDERS[0]] * len(rows))
        self.left_out_ = where.left_out_
        self.posterior_ = ProbabilityPosterior(where.posterior_, self._probabilities, self.name)
        return self

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """The probability of each label, (m, C), as the classifier gives it; zero if not seen."""
        check_is_fitted(self, "posterior_")
        return self._probabilities(validation.rows(self, X, reset=False))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label of largest probability; the first in order where several are."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def belief(self, X: ArrayLike) -> ProbabilityBelief:
        """The probabilities of rows, as scores of probabilities read them."""
        check_is_fitted(self, "posterior_")
        rows = validation.rows(self, X, reset=False)
        return ProbabilityBelief.of_probabilities(self._probabilities(rows), self.name)

    def for_geometry(self, geometry: RowGeometry) -> Self:
        """A clone whose coverage compares rows as they want."""
        usual = PossibilisticGPClassifier() if self.geometry is None else self.geometry
        found = cast("Self", clone(self))
        # One block: blocks take turns to ask by what labels say of each, which this does not know.
        one = RowGeometry((), geometry.metric, geometry.diffusion, geometry.kernel)
        return found.set_params(geometry=usual.for_geometry(one))

    def for_pool(self, X: Matrix) -> Self:
        """A clone whose coverage takes its scale from a pool."""
        usual = PossibilisticGPClassifier() if self.geometry is None else self.geometry
        found = cast("Self", clone(self))
        return found.set_params(geometry=usual.for_pool(X))

    def _learnt(self, X: Matrix, y: NDArray[Any]) -> Any:  # noqa: ANN401 - scikit-learn's
        """A copy of the classifier fitted to labels of two classes at least."""
        try:
            learner: Any = clone(self.estimator)
            return learner.fit(self._shown(X), y)
        except Exception as error:
            raise self._failed("learn from", error, len(y)) from error

    def _shown(self, X: Matrix) -> Matrix:
        """Rows as the classifier sees them: without diffusion coordinates, which are for ours."""
        hidden = 0 if self.geometry is None else self.geometry.diffusion or 0
        return X[:, : X.shape[1] - hidden]

    def _probabilities(self, X: Matrix) -> Matrix:
        """Probabilities of rows that are in order."""
        found = np.zeros((len(X), len(self.classes_)))
        if self.estimator_ is None:
            return np.full_like(found, 1.0 / found.shape[1])
        if not len(X):
            return found
        try:
            found[:, self._places] = self.estimator_.predict_proba(self._shown(X))
        except Exception as error:
            raise self._failed("predict after", error, len(self.posterior_.data)) from error
        if not np.isfinite(found).all() or found.min() < 0:
            raise ValueError(
                f"classifier must give probabilities; got {self.name} with "
                f"{found[~(found >= 0)][0]}. Use another."
            )
        return found

    def _failed(self, what: str, error: Exception, labels: int) -> ValueError:
        """The sentence on a classifier that some labels are too few for."""
        return ValueError(
            f"classifier must {what} few labels of two classes; got {summary(error)!r} of "
            f"{self.name} with {labels}. Choose settings that need fewer rows, or another one."
        )


def fitted_model(model: Any) -> CampaignModel:  # noqa: ANN401 - anything
    """A fitted model as it is, or a fitted classifier of others as one of probabilities.

    Which rows such a one has learnt from is not known.
    """
    is_others = not isinstance(model, CampaignModel) and hasattr(model, "predict_proba")
    if not is_others:
        return model  # what is no classifier at all is refused where its posterior is asked for
    check_is_fitted(model)
    width = getattr(model, "n_features_in_", None)
    if width is None:
        raise TypeError(
            "model must tell how many columns it takes, as n_features_in_; got "
            f"{type(model).__name__}, which does not. Fit it to an array."
        )
    found = ProbabilityModel(model, classes=model.classes_)
    vars(found)["n_features_in_"], found.classes_ = width, np.asarray(model.classes_)
    return found.around(model, np.empty((0, width)))


def check_choices(model: CampaignModel, strategy: Strategy, find: object = None) -> None:
    """Refuse what a model of probabilities alone cannot do.

    Args:
        model: whatever it is.
        strategy: that it is to be asked by.
        find: the class that is sought in a campaign, if there is one.
    """
    if not isinstance(model, ProbabilityModel):
        return
    if find is not None:
        raise ValueError(
            f"find must be left out where the classifier is {model.name}: how much was found is "
            f"told by predictions that leave each label out, which it does not have; got {find!r}. "
            "Use a PossibilisticGPClassifier."
        )
    if is_local(strategy) and not strategy.of_probabilities:
        raise no_latents(strategy_name(strategy), model.name)
    if strategy in OF_LATENTS:
        raise no_latents(strategy_name(strategy), model.name)
    is_blind = hasattr(model, "posterior_") and not len(model.posterior_.data)
    if is_blind and not is_local(strategy) and strategy is not STRATEGIES["random"]:
        raise ValueError(
            f"strategy must not read labelled rows, which a fitted {model.name} does not tell; "
            f"got {strategy_name(strategy)}. Use margin, entropy or least_confidence, or a "
            "Campaign."
        )


def check_probabilities(model: object) -> None:
    """Refuse what is no classifier with probabilities."""
    name = type(model).__name__
    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
        got = f"the class {model.__name__}" if isinstance(model, type) else name
        raise TypeError(
            f"classifier must be a scikit-learn classifier; got {got}. "
            "Leave it out for the usual one."
        )
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"classifier must have predict_proba; got {name}, which has none. "
            "Wrap it in CalibratedClassifierCV, or use LogisticRegression."
        )
