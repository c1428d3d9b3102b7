"""Pipelines that end in a possibilistic classifier: a user's own preprocessing before the model.

PossibilisticPipeline([("scale", StandardScaler()), ("model", PossibilisticGPClassifier())])
as_possibilistic(make_pipeline(StandardScaler(), PossibilisticGPClassifier()))
"""

from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from possibal.arrays import Array, Matrix, Vector
from possibal.belief import Belief
from possibal.errors import summary
from possibal.estimators import validation
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.classifier import PossibilisticGPClassifier, with_pool_scale
from possibal.estimators.latent_gaussian import LatentGaussianClassifier
from possibal.estimators.probability_model import ProbabilityModel, check_probabilities
from possibal.estimators.uncertainty_split import LabelSplit
from possibal.gp.posterior import Posterior


class CampaignPipeline(Pipeline):
    """A scikit-learn pipeline whose transformers are fitted to a pool, without labels."""

    @property
    def final(self) -> CampaignModel:
        """The classifier at the end."""
        return cast("CampaignModel", self.steps[-1][1])

    def transformed(self, X: Any) -> Any:  # noqa: ANN401 - whatever its transformers take and give
        """Rows as the classifier sees them, by transformers that were fitted."""
        for _, step in self._transformers():
            X = step.transform(X)
        return X

    def fitted_to_pool(self, X: Any) -> tuple[Self, Any]:  # noqa: ANN401 - as above
        """A copy with transformers fitted to rows without labels, and these rows transformed."""
        copy = cast("Self", clone(self))
        for name, step in copy._transformers():  # noqa: SLF001 - our own
            X = _fit_transform(name, step, X)
        return copy, X

    def with_final(self, classifier: CampaignModel) -> Self:
        """The same transformers, not copied, before another classifier."""
        return type(self)([*self.steps[:-1], (self.steps[-1][0], classifier)])

    def _transformers(self) -> list[tuple[str, Any]]:
        """The steps before the classifier that do something, each with its name."""
        steps = cast("list[tuple[str, Any]]", self.steps[:-1])
        return [(name, step) for name, step in steps if step not in (None, "passthrough")]


class PossibilisticPipeline(CampaignPipeline):
    """A scikit-learn pipeline whose last step is a classifier of ours.

    What that classifier says of rows, it says of rows before they are transformed.
    """

    @property
    def final(self) -> LatentGaussianClassifier:
        """The classifier at the end, or one sentence on what else is there."""
        return _final(self)

    @property
    def posterior_(self) -> Posterior:
        """The posterior of the classifier, about transformed rows."""
        return self.final.posterior_

    def belief(self, X: ArrayLike) -> Belief:
        """The latent moments of each row; see :meth:`.LatentGaussianClassifier.belief`."""
        return self.final.belief(self.transformed(X))

    def latent_mean_and_variance(self, X: ArrayLike) -> tuple[Array, Array]:
        """Latent moments under the most credible setting: (m,) for two labels, else (m, C)."""
        return self.final.latent_mean_and_variance(self.transformed(X))

    def necessity(self, X: ArrayLike) -> Vector:
        """Necessity that the leading label is truly the likeliest, in [0, 1]."""
        return self.final.necessity(self.transformed(X))

    def possibility(self, X: ArrayLike) -> Matrix:
        """Possibility that each label is the likeliest, (m, C); the leading label has one."""
        return self.final.possibility(self.transformed(X))

    def credible_probability(self, X: ArrayLike, level: float = 0.95) -> Array:
        """Least and largest probability of each label over what is credible, (m, C, 2)."""
        return self.final.credible_probability(self.transformed(X), level)

    def split(self, X: ArrayLike, level: float = 0.95) -> LabelSplit:
        """What is not known and what is random about the label of each row."""
        return self.final.split(self.transformed(X), level)

    def sample_proba(
        self,
        X: ArrayLike,
        n_samples: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> Array:
        """Probabilities of the labels under latents drawn from the posterior, (n_samples, m, C)."""
        return self.final.sample_proba(self.transformed(X), n_samples, random_state)


def as_possibilistic(model: object) -> LatentGaussianClassifier | PossibilisticPipeline:
    """A classifier of ours as it is, or a pipeline that ends in one with all that ours can say.

    The steps of a pipeline are not copied.
    """
    if isinstance(model, LatentGaussianClassifier):
        return model
    if not isinstance(model, Pipeline):
        raise TypeError(
            "classifier must be a PossibilisticGPClassifier, a PossibilisticLogisticRegression, "
            "or a Pipeline that ends in one; "
            f"got {type(model).__name__}. Leave it out for the usual one."
        )
    _final(model)
    if isinstance(model, PossibilisticPipeline):
        return model
    return PossibilisticPipeline(model.steps, memory=model.memory, verbose=model.verbose)


def final_classifier(
    model: LatentGaussianClassifier | PossibilisticPipeline,
) -> LatentGaussianClassifier:
    """The classifier that a model is, or that is at its end."""
    return model.final if isinstance(model, PossibilisticPipeline) else model


def fitted_to_pool(
    model: object,
    X: Any,  # noqa: ANN401 - whatever the model takes
) -> tuple[LatentGaussianClassifier | PossibilisticPipeline, Any]:
    """A copy with what rows tell without labels, and the rows as its classifier sees them.

    These are the transformers of a pipeline, the usual distance and the centre; no label is known.
    """
    found = as_possibilistic(model)
    if isinstance(found, PossibilisticPipeline):
        pipeline, given = found.fitted_to_pool(X)
        seen = validation.dense(given) if issparse(given) else given
        return pipeline.with_final(with_pool_scale(pipeline.final, _numbers(seen))), seen
    return with_pool_scale(found, _numbers(X)), X


def _numbers(X: Any) -> Matrix:  # noqa: ANN401 - an array or a frame
    """Rows as a classifier reads them."""
    return validation.rows(PossibilisticGPClassifier(), X, reset=True)


def is_possibilistic(model: object) -> bool:
    """Whether a model is a classifier of ours, or a pipeline that ends in one."""
    if isinstance(model, Pipeline):
        model = model.steps[-1][1] if model.steps else None
    return isinstance(model, LatentGaussianClassifier)


def for_campaign(model: object) -> CampaignModel | CampaignPipeline:
    """A model that a campaign can learn by: ours, or any classifier of scikit-learn.

    A pipeline may end in either; its steps are not copied.
    """
    last = model.steps[-1][1] if isinstance(model, Pipeline) and model.steps else model
    if isinstance(last, CampaignModel):
        is_ready = model is last or isinstance(model, CampaignPipeline)
        return cast("CampaignPipeline", model) if is_ready else as_possibilistic(model)
    check_probabilities(last)
    if not isinstance(model, Pipeline):
        return ProbabilityModel(model)
    steps = [*model.steps[:-1], (model.steps[-1][0], ProbabilityModel(last))]
    return CampaignPipeline(steps, memory=model.memory, verbose=model.verbose)


def _final(pipeline: Pipeline) -> LatentGaussianClassifier:
    """The classifier at the end of a pipeline."""
    last = pipeline.steps[-1][1] if pipeline.steps else None
    if not isinstance(last, LatentGaussianClassifier):
        raise TypeError(
            "classifier must end in a PossibilisticGPClassifier or a "
            "PossibilisticLogisticRegression; "
            f"got a pipeline that ends in {type(last).__name__}. Make it the last step."
        )
    return last


def _fit_transform(name: str, step: Any, X: Any) -> Any:  # noqa: ANN401 - any transformer and rows
    """Rows transformed by a step that is fitted to them without labels."""
    if get_tags(step).target_tags.required:
        raise _needs_labels(name, step)
    try:
        return step.fit_transform(X)
    except TypeError as error:
        if "'y'" in str(error):
            raise _needs_labels(name, step) from None
        raise
    except ValueError as error:
        if "requires y" in str(error):
            raise _needs_labels(name, step) from None
        raise ValueError(
            f"classifier must have steps that take the rows; got {summary(error)!r} from step "
            f"{name!r}. Correct the step or the rows."
        ) from error


def _needs_labels(name: str, step: object) -> ValueError:
    """The sentence on a transformer that cannot be fitted before rows are labelled."""
    return ValueError(
        "classifier must have transformers that need no labels, for they are fitted to the whole "
        f"pool; got {type(step).__name__} as step {name!r}. Leave it out."
    )
