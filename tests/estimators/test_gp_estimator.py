"""What holds for the classifier and for the regressor."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
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
from possibal.gp import laplace
from possibal.gp.hyperparameters import LEAST_CREDIBLE


@pytest.mark.works_with("scikit-learn", "its own checks of estimators", "scikit-learn")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.works_with("pickle, joblib", "fitted models", "joblib")
def test_a_pickle_predicts_the_same(estimator):
    data = measured() if sklearn.base.is_regressor(estimator) else labelled()
    model = clone(estimator).fit(*data)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.predict(rows(1)), model.predict(rows(1)))
    np.testing.assert_array_equal(again.belief(rows(1)).mean, model.belief(rows(1)).mean)


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
def test_evidence_that_ends_at_a_bound_says_so(bounds, said):
    X, y = labelled()
    kernel = ConstantKernel(1.0) * RBF(np.sqrt(np.prod(bounds)), bounds)
    with pytest.warns(ConvergenceWarning, match=f"k2__length_scale at its {said}; it may be"):
        PossibilisticGPClassifier(kernel, hyperparameters="evidence").fit(X, y)
    for way in ("envelope", "fixed"):
        PossibilisticGPClassifier(kernel, hyperparameters=way).fit(X, y)


def test_a_hyperparameter_whose_bounds_are_one_number_is_at_no_bound():
    X, y = labelled()
    kernel = ConstantKernel(1.0, (1.0, 1.0)) * RBF(1.0)
    PossibilisticGPClassifier(kernel, hyperparameters="evidence").fit(X, y)
