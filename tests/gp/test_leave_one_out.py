"""What training rows would have been predicted to be, without their own labels."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.gaussian_process.kernels import RBF

from possibal import PossibilisticGPClassifier, PossibilisticGPRegressor
from possibal.gp.leave_one_out import (
    class_self_check,
    contradicted,
    left_out_latents,
    left_out_probability,
    self_check,
)

X, Y = make_moons(30, noise=0.4, random_state=0)
THREE = np.where(X[:, 0] > 1, 2, Y)
KERNEL = 2.0 * RBF(0.7)


def model(link: str) -> PossibilisticGPClassifier:
    """A classifier whose hyperparameters stay when a row is left out."""
    return PossibilisticGPClassifier(KERNEL, link=link, hyperparameters="fixed")


def places(posterior) -> np.ndarray:
    """Where each training row of a posterior stands in X, whatever its order there."""
    apart = np.abs(posterior.data.X[:, None] - X).sum(axis=2)
    assert apart.min(axis=1).max() < 1e-9
    return apart.argmin(axis=1)


@pytest.mark.parametrize(
    ("link", "y"), [("probit", Y), ("logistic", Y), ("probit", THREE)], ids=["2", "logistic", "3"]
)
def test_a_row_is_predicted_nearly_as_by_a_model_that_never_saw_it(link, y):
    posterior = model(link).fit(X, y).posterior_
    found = left_out_probability(posterior, np.arange(30))
    for at, row in enumerate(places(posterior)):
        others = np.arange(30) != row
        expected = model(link).fit(X[others], y[others]).predict_proba(X[[row]])[0]
        np.testing.assert_allclose(found[at], expected, atol=0.04)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_for_numbers_it_is_exact():
    y = np.sin(X[:, 0]) + X[:, 1]

    def fitted(rows):
        regressor = PossibilisticGPRegressor(
            KERNEL, noise_variance=0.1, hyperparameters="fixed", normalize_y=False, mean=0.0
        )
        return regressor.fit(X[rows], y[rows])

    posterior = fitted(np.arange(30)).posterior_
    found = left_out_latents(posterior, np.arange(30))[0, 0]
    for at, row in enumerate(places(posterior)):
        others = np.flatnonzero(np.arange(30) != row)
        assert found[at] == pytest.approx(fitted(others).predict(X[[row]])[0], rel=1e-6)


@pytest.mark.parametrize("y", [Y, THREE], ids=["2", "3"])
def test_some_rows_are_predicted_as_among_all(y):
    posterior, some = model("probit").fit(X, y).posterior_, np.array([3, 17, 28])
    np.testing.assert_allclose(
        left_out_probability(posterior, some), left_out_probability(posterior, np.arange(30))[some]
    )


@pytest.mark.parametrize("y", [Y, THREE], ids=["2", "3"])
def test_a_check_of_itself_says_how_often_the_likeliest_label_was_right(y):
    posterior = model("probit").fit(X, y).posterior_
    probability = left_out_probability(posterior, np.arange(30))
    chances, is_right = self_check(posterior, 100)
    np.testing.assert_array_equal(chances, probability.max(axis=1))
    labels = np.unique(y)
    expected = labels[probability.argmax(axis=1)] == y[places(posterior)]
    np.testing.assert_array_equal(is_right, expected)
    assert 0.5 < is_right.mean() < 1.0


def test_of_many_rows_every_few_are_looked_at():
    posterior = model("probit").fit(X, Y).posterior_
    chances, _ = self_check(posterior, 7)
    whole, _ = self_check(posterior, 30)
    np.testing.assert_allclose(chances, whole[[0, 5, 10, 14, 19, 24, 29]])


@pytest.mark.parametrize("y", [Y, THREE], ids=["2", "3"])
def test_rows_are_contradicted_whose_label_is_not_what_all_others_say(y):
    posterior = model("probit").fit(X, y).posterior_
    probability, own = left_out_probability(posterior, np.arange(30)), y[places(posterior)]
    labels = np.unique(y)
    found = contradicted(posterior, 30)
    expected = np.flatnonzero(labels[probability.argmax(axis=1)] != own)
    np.testing.assert_array_equal(found.rows, expected)
    np.testing.assert_array_equal(labels[found.own], own[expected])
    np.testing.assert_array_equal(found.predicted, probability[expected].argmax(axis=1))
    np.testing.assert_allclose(found.chance, probability[expected].max(axis=1))
    assert 0 < len(found.rows) < 15


def test_of_many_rows_those_are_looked_at_whose_label_fits_worst():
    clear = model("probit").fit(X, Y).predict_proba(X)[np.arange(30), Y].argmax()
    wrong = Y.copy()
    wrong[clear] = 1 - wrong[clear]
    posterior = model("probit").fit(X, wrong).posterior_
    whole, some = contradicted(posterior, 30), contradicted(posterior, 2)
    assert set(some.rows) <= set(whole.rows)
    assert 0 < len(some.rows) <= 2 < len(whole.rows)
    assert clear in places(posterior)[some.rows]


@pytest.mark.parametrize("y", [Y, THREE], ids=["2", "3"])
def test_a_check_of_one_class_says_which_rows_are_of_it(y):
    posterior, labels = model("probit").fit(X, y).posterior_, np.unique(y)
    probability = left_out_probability(posterior, np.arange(30))
    for place, label in enumerate(labels):
        chances, is_of_it = class_self_check(posterior, place, 100)
        np.testing.assert_array_equal(chances, probability[:, place])
        np.testing.assert_array_equal(is_of_it, y[places(posterior)] == label)
