import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder

from possibal import PossibilisticGPClassifier, PossibilisticPipeline, as_possibilistic
from possibal.estimators.pipeline import final_classifier, fitted_to_pool, is_possibilistic

X = np.random.default_rng(0).normal(size=(40, 2)) * [1, 1e3]
Y = np.where(X[:, 0] > 0, "yes", "no")
FRAME = pd.DataFrame({"a": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})


def pipeline() -> PossibilisticPipeline:
    """Scaled rows before a classifier."""
    return as_possibilistic(make_pipeline(StandardScaler(), PossibilisticGPClassifier()))


def test_what_the_classifier_says_reaches_through_the_transformers():
    pipe = pipeline().fit(X, Y)
    scaled = StandardScaler().fit_transform(X)
    alone = PossibilisticGPClassifier().fit(scaled, Y)
    for name in ("predict_proba", "necessity", "possibility", "credible_probability"):
        np.testing.assert_allclose(getattr(pipe, name)(X), getattr(alone, name)(scaled))
    assert pipe.predict(X).tolist() == alone.predict(scaled).tolist()
    np.testing.assert_allclose(pipe.belief(X).mean, alone.belief(scaled).mean)
    np.testing.assert_allclose(pipe.split(X).epistemic, alone.split(scaled).epistemic)
    one, other = pipe.latent_mean_and_variance(X), alone.latent_mean_and_variance(scaled)
    np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(
        pipe.sample_proba(X[:3], 5, random_state=1),
        alone.sample_proba(scaled[:3], 5, random_state=1),
    )
    assert pipe.posterior_ is pipe.final.posterior_
    assert pipe.classes_.tolist() == ["no", "yes"]


def test_it_is_a_pipeline_of_scikit_learn():
    assert cross_val_score(pipeline(), X, Y, cv=3).mean() > 0.8
    again = clone(pipeline())
    assert isinstance(again, PossibilisticPipeline)
    assert isinstance(pipeline()[:1], Pipeline)


def test_steps_that_do_nothing_are_passed_over():
    classifier = PossibilisticGPClassifier()
    pipe = PossibilisticPipeline(
        [("a", "passthrough"), ("b", None), ("scale", StandardScaler()), ("model", classifier)]
    )
    np.testing.assert_allclose(pipe.fit(X, Y).necessity(X), pipeline().fit(X, Y).necessity(X))


def test_a_copy_is_fitted_to_a_pool_without_labels():
    pipe = pipeline()
    fitted, made = pipe.fitted_to_pool(X)
    np.testing.assert_allclose(made, StandardScaler().fit_transform(X))
    np.testing.assert_allclose(fitted.transformed(X[:3]), made[:3])
    assert not hasattr(pipe.steps[0][1], "mean_")
    model = PossibilisticGPClassifier().fit(made, Y)
    whole = fitted.with_final(model)
    assert whole.final is model
    assert whole.predict(X).tolist() == model.predict(made).tolist()


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(FRAME.to_dict("list"))])
@pytest.mark.works_with(
    "scikit-learn",
    "`ColumnTransformer` before the classifier",
    "scikit-learn",
)
def test_columns_of_a_frame_are_transformed(frame):
    columns = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["colour"]))
    pipe = as_possibilistic(make_pipeline(columns, PossibilisticGPClassifier()))
    fitted, made = pipe.fitted_to_pool(frame)
    assert made.shape == (40, 3)
    assert pipe.fit(frame, Y).necessity(frame).shape == (40,)
    assert fitted.transformed(frame[:2]).shape == (2, 3)


@pytest.mark.works_with("scikit-learn", "`TfidfVectorizer` before the classifier", "scikit-learn")
def test_sparse_numbers_are_made_dense():
    texts = ["good film", "bad film", "good play", "bad play"] * 3
    pipe = as_possibilistic(make_pipeline(TfidfVectorizer(), PossibilisticGPClassifier()))
    pipe.fit(texts, ["yes", "no"] * 6)
    assert pipe.predict(["good", "bad"]).tolist() == ["yes", "no"]
    _, made = pipe.fitted_to_pool(texts)
    assert made.shape == (12, 4)


# ---------------------------------------------------------------- what is refused
def test_a_classifier_stays_what_it_is():
    classifier, pipe = PossibilisticGPClassifier(), pipeline()
    assert as_possibilistic(classifier) is classifier
    assert as_possibilistic(pipe) is pipe


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (LogisticRegression(), r"or a Pipeline that ends in one; got LogisticRegression\."),
        (None, r"got NoneType\."),
        (make_pipeline(StandardScaler(), LogisticRegression()), "ends in LogisticRegression"),
        (PossibilisticPipeline([("scale", StandardScaler())]), "ends in StandardScaler"),
        (PossibilisticPipeline([]), "ends in NoneType"),
    ],
)
def test_what_ends_in_another_model_is_refused(model, says):
    with pytest.raises(TypeError, match=says):
        as_possibilistic(model)


class NeedsLabels(FunctionTransformer):
    """A transformer that says late that it needs labels."""

    def fit_transform(self, X, y=None):
        """Refuse rows without labels."""
        if y is None:
            raise ValueError("This NeedsLabels estimator requires y to be passed.")
        return X


class TakesLabels(TransformerMixin, BaseEstimator):
    """A transformer that does not say that it needs labels."""

    def fit(self, X, y):  # noqa: ARG002 - as transformers do
        """Take rows with labels."""
        return self

    def transform(self, X):
        """Give rows as they are."""
        return X


@pytest.mark.parametrize(
    "step",
    [
        TakesLabels(),
        SelectKBest(k=1),
        TargetEncoder(),
        make_column_transformer((SelectKBest(k=1), [0])),
        NeedsLabels(),
    ],
)
def test_a_transformer_that_needs_labels_is_refused(step):
    pipe = as_possibilistic(make_pipeline(step, PossibilisticGPClassifier()))
    with pytest.raises(ValueError, match=r"transformers that need no labels.* Leave it out\."):
        pipe.fitted_to_pool(X)


def test_rows_that_a_step_does_not_take_are_refused_by_its_name():
    pipe = pipeline()
    with pytest.raises(ValueError, match=r"steps that take the rows; got .* 'standardscaler'\."):
        pipe.fitted_to_pool(FRAME)


def test_an_error_of_a_step_that_is_not_about_labels_is_its_own():
    def broken(_rows):
        raise TypeError("no such thing")

    pipe = as_possibilistic(make_pipeline(FunctionTransformer(broken), PossibilisticGPClassifier()))
    with pytest.raises(TypeError, match="no such thing"):
        pipe.fitted_to_pool(csr_array(X))


def test_models_of_ours_are_told_from_others():
    classifier = PossibilisticGPClassifier()
    assert is_possibilistic(classifier)
    assert is_possibilistic(make_pipeline(StandardScaler(), classifier))
    for other in (LogisticRegression(), make_pipeline(LogisticRegression()), None):
        assert not is_possibilistic(other)
    assert final_classifier(classifier) is final_classifier(
        pipeline().set_params(possibilisticgpclassifier=classifier)
    )


def test_a_copy_learns_from_rows_without_labels():
    copy, seen = fitted_to_pool(make_pipeline(StandardScaler(), PossibilisticGPClassifier()), X)
    np.testing.assert_allclose(seen, StandardScaler().fit_transform(X))
    alone, rows = fitted_to_pool(PossibilisticGPClassifier(), seen)
    assert rows is seen
    assert copy.final.usual_distance == alone.usual_distance > 0
    np.testing.assert_array_equal(copy.final.centre, alone.centre)
    texts = ["good film", "bad film", "good book"]
    reader = make_pipeline(TfidfVectorizer(), PossibilisticGPClassifier())
    assert fitted_to_pool(reader, texts)[1].shape == (3, 4)
