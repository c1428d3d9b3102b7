"""What holds for the classifier and for the regressor."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.estimators import (
    ESTIMATORS,
    KERNEL,
    POLARS,
    classifier,
    each_count,
    each_way,
    labelled,
    measured,
    rows,
)

from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.regressor import PossibilisticGPRegressor
from possibal.gp import laplace
from possibal.gp.hyperparameters import LEAST_CREDIBLE

exact = pytest.mark.filterwarnings("ignore:The most credible setting has the least noise variance")
"""Outcomes that have no error, which the regressor tells of."""


@exact
@pytest.mark.works_with("scikit-learn", "its own checks of estimators", "scikit-learn")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


@exact
@pytest.mark.parametrize("estimator", [*ESTIMATORS, PossibilisticGPClassifier(Matern())], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.works_with("pickle, joblib", "fitted models", "joblib")
def test_a_pickle_predicts_the_same_and_holds_what_was_learnt_alone(estimator, classes):
    is_number = sklearn.base.is_regressor(estimator)
    X, y = measured() if is_number else labelled(classes)
    model = clone(estimator).fit(X, y, sample_weight=1 + np.arange(len(X)) % 2)
    before = pickle.dumps(model)
    said, belief = model.predict(rows(1)), model.belief(rows(1))
    joint = model.posterior_.between(rows(1), rows(2))
    after = pickle.dumps(model)
    assert len(after) == len(before)
    again = pickle.loads(after)  # noqa: S301 - our own
    np.testing.assert_array_equal(again.predict(rows(1)), said)
    np.testing.assert_array_equal(again.belief(rows(1)).mean, belief.mean)
    np.testing.assert_array_equal(again.belief(rows(1)).variance, belief.variance)
    np.testing.assert_array_equal(again.posterior_.between(rows(1), rows(2)), joint)
    if is_number:
        ends = (one.credible_interval(rows(1), of="outcome") for one in (again, model))
        np.testing.assert_array_equal(*ends)
    np.testing.assert_array_equal(again.posterior_.K, model.posterior_.K)
    np.testing.assert_array_equal(again.posterior_.log_evidence, model.posterior_.log_evidence)


def test_a_pickle_does_not_grow_with_the_square_of_the_rows():
    few, many = (len(pickle.dumps(classifier(3, n))) for n in (100, 200))
    assert many < 2.5 * few


def test_a_clone_has_the_same_choices_and_no_fit():
    model = classifier(kernel=KERNEL, link="logistic", classes=[0, 1], random_state=3)
    copy = clone(model)
    assert copy.get_params() == {**model.get_params(), "kernel": copy.kernel}
    assert copy.kernel == model.kernel
    assert not hasattr(copy, "posterior_")


def test_a_fit_does_not_change_its_kernel_or_its_input():
    X, y = labelled()
    kernel, before = clone(KERNEL), X.copy()
    PossibilisticGPClassifier(kernel, hyperparameters="evidence").fit(X, y)
    assert kernel == KERNEL
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("frame", [pytest.param(pd.DataFrame, id="pandas"), POLARS])
@pytest.mark.parametrize("estimator", ESTIMATORS[:2], ids=["classifier", "regressor"])
def test_a_frame_is_read_and_its_columns_are_remembered(estimator, frame):
    X, y = labelled()
    table = frame({"height": X[:, 0], "width": X[:, 1]})
    model = clone(estimator).fit(table, y)
    assert model.feature_names_in_.tolist() == ["height", "width"]
    np.testing.assert_array_equal(model.predict(table), clone(estimator).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame({"width": X[:, 1], "height": X[:, 0]}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_mode_that_is_not_found_raises_a_warning(classes, monkeypatch):
    monkeypatch.setattr(laplace, "MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps") as caught:
        PossibilisticGPClassifier().fit(*labelled(classes))
    assert caught[0].filename == __file__


@each_way
@each_count
def test_a_fit_tells_its_settings_with_the_most_credible_first(classes, way):
    model = classifier(classes, hyperparameters=way)
    credibility = [c for _, c in model.kernels_]
    assert credibility[0] == 1.0
    assert credibility == sorted(credibility, reverse=True)
    assert credibility[-1] >= LEAST_CREDIBLE
    assert model.log_evidence_ == model.posterior_.log_evidence[0]
    assert 0.0 <= model.jitter_ < 1e-6
    (kernel,), _ = model.kernels_[0]
    again = classifier(classes, kernel=kernel, hyperparameters="fixed")
    assert again.log_evidence_ == pytest.approx(model.log_evidence_, rel=1e-6)
    np.testing.assert_allclose(
        again.latent_mean_and_variance(rows(1)),
        model.latent_mean_and_variance(rows(1)),
        rtol=1e-4,
        atol=1e-4,
    )


@pytest.mark.parametrize(
    ("bounds", "said"),
    [((1e-3, 1e-2), "upper bound, 0.01"), ((1e2, 1e3), "lower bound, 100")],
    ids=["upper", "lower"],
)
def test_a_hyperparameter_that_ends_at_a_bound_says_so(bounds, said):
    kernel = ConstantKernel(1.0) * RBF(np.sqrt(np.prod(bounds)), bounds)
    for estimator, data in (
        (PossibilisticGPClassifier, labelled()),
        (PossibilisticGPRegressor, measured()),
    ):
        for way in ("envelope", "evidence"):
            with pytest.warns(ConvergenceWarning, match=f"k2__length_scale at its {said}; one bey"):
                estimator(kernel, hyperparameters=way).fit(*data)
        estimator(kernel, hyperparameters="fixed").fit(*data)


def test_a_hyperparameter_whose_bounds_are_one_number_is_at_no_bound():
    X, y = labelled()
    kernel = ConstantKernel(1.0, (1.0, 1.0)) * RBF(1.0)
    PossibilisticGPClassifier(kernel, hyperparameters="evidence").fit(X, y)
