from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern
from support.reference_possibility import share

from possibal import (
    GaussianNoise,
    GaussianPossibility,
    Interval,
    OuterMeasure,
    PossibilisticGP,
    PossibilisticGPClassifier,
    PossibilisticGPRegressor,
    SystematicError,
)

KERNEL = ConstantKernel(2.0) * RBF(0.8)
KERNELS = [KERNEL, 1.5 * Matern(0.7, nu=1.5), DotProduct() + RBF(1.0)]
MEANS = [0.0, -1.5, lambda X: np.sin(X[:, 0])]
X_T = np.linspace(-2, 3, 7)[:, None]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)
each_mean = pytest.mark.parametrize("mean", MEANS, ids=["zero", "level", "function"])
seeds = st.integers(0, 10**6)


def mean_at(mean, X):
    return mean(X) if callable(mean) else np.full(len(X), float(mean))


def seen(seed, n=5):
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, size=(n, 1)), rng.normal(size=n)


def dense(mean, kernel, X, y, noise):
    """Prop. 6 with a mean, in dense matrices."""
    K_t, P = kernel(X_T, X), np.linalg.inv(kernel(X) + np.diag(noise))
    mu = mean_at(mean, X_T) + K_t @ P @ (y - mean_at(mean, X))
    return mu, kernel(X_T) - K_t @ P @ K_t.T


# ---------------------------------------------------------------- before data


@each_kernel
@each_mean
def test_before_data_it_is_the_joint_gaussian_of_mean_and_kernel(mean, kernel):
    f = PossibilisticGP(mean, kernel).at(X_T)
    np.testing.assert_allclose(f.mean, mean_at(mean, X_T))
    np.testing.assert_allclose(f.covariance, kernel(X_T), rtol=1e-6, atol=1e-9)


@each_mean
def test_no_rows_of_data_change_nothing(mean):
    process = PossibilisticGP(mean, KERNEL)
    for empty in ([], np.empty((0, 1))):
        for error in (GaussianNoise(0.1), SystematicError(0.1), "probit", "logistic"):
            same = process.given(empty, [], error)
            assert type(same) is type(process)
            np.testing.assert_array_equal(same.at(X_T).mean, process.at(X_T).mean)
            np.testing.assert_array_equal(same.at(X_T).covariance, process.at(X_T).covariance)
    X, y = seen(0)
    once = process.given(X, y, GaussianNoise(0.1))
    again = once.given(X[:0], [], GaussianNoise(0.1))
    np.testing.assert_array_equal(once.band(X_T), again.band(X_T))


def test_the_consistency_criterion_holds_for_a_process():
    process = PossibilisticGP(0.3, KERNEL).given(*seen(0), GaussianNoise(0.2))
    whole, part = process.at(X_T).marginal([1, 4]), process.at(X_T[[1, 4]])
    np.testing.assert_allclose(whole.mean, part.mean, rtol=1e-10)
    np.testing.assert_allclose(whole.covariance, part.covariance, rtol=1e-6)


# ---------------------------------------------------------------- numbers


@share(0.3)
@given(seeds)
@each_kernel
@each_mean
def test_after_numbers_it_agrees_with_dense_formulas(mean, kernel, seed):
    X, y = seen(seed)
    f = PossibilisticGP(mean, kernel).given(X, y, GaussianNoise(0.3)).at(X_T)
    mu, sigma = dense(mean, kernel, X, y, np.full(5, 0.3))
    np.testing.assert_allclose(f.mean, mu, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(f.covariance, sigma, atol=1e-6)


@share(0.3)
@given(seeds)
def test_after_numbers_it_is_what_conditioning_the_joint_gaussian_gives(seed):
    X, y = seen(seed, n=3)
    joint = GaussianPossibility(
        np.full(5, 0.7), KERNEL(np.vstack([X, X_T[[0, 6]]])) + np.diag([0.3, 0.3, 0.3, 0, 0])
    )
    slow = joint.condition(dict(enumerate(y)))
    fast = PossibilisticGP(0.7, KERNEL).given(X, y, SystematicError(0.3)).at(X_T[[0, 6]])
    np.testing.assert_allclose(fast.mean, slow.mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(fast.covariance, slow.covariance, rtol=1e-5)


@share(0.3)
@given(seeds, st.integers(0, 5))
def test_conditioning_twice_is_conditioning_once(seed, cut):
    X, y = seen(seed)
    process = PossibilisticGP(0.4, KERNEL)
    once = process.given(X, y, GaussianNoise(0.2))
    twice = process.given(X[:cut], y[:cut], GaussianNoise(0.2)).given(
        X[cut:], y[cut:], GaussianNoise(0.2)
    )
    np.testing.assert_allclose(once.band(X_T), twice.band(X_T), rtol=1e-8, atol=1e-8)
    labels = np.where(y > 0, 1, -1)
    once = process.given(X, labels, "probit")
    twice = process.given(X[cut:], labels[cut:], "probit").given(X[:cut], labels[:cut], "probit")
    np.testing.assert_allclose(once.band(X_T), twice.band(X_T), rtol=1e-6, atol=1e-6)


def test_every_step_has_an_error_of_its_own():
    X, y = seen(0)
    process = PossibilisticGP(0.0, KERNEL)
    process = process.given(X[:2], y[:2], GaussianNoise(0.1))
    process = process.given(X[2:], y[2:], SystematicError(2.0))
    mu, sigma = dense(0.0, KERNEL, X, y, np.array([0.1, 0.1, 2.0, 2.0, 2.0]))
    np.testing.assert_allclose(process.at(X_T).mean, mu, rtol=1e-8)
    np.testing.assert_allclose(process.at(X_T).covariance, sigma, atol=1e-7)


def test_rows_that_are_alike_are_seen_and_asked_about():
    X, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 1.2, 0.0, 0.1])
    process = PossibilisticGP(0.0, KERNEL).given(X, y, GaussianNoise(0.1))
    mu, sigma = dense(0.0, KERNEL, X[:, None], y, np.full(4, 0.1))
    np.testing.assert_allclose(process.at(X_T).mean, mu, rtol=1e-8)
    twins = process.at([0.5, 0.5, 2.0])
    assert twins.covariance[0, 1] == pytest.approx(twins.covariance[0, 0], rel=1e-8)
    low, high, other = twins.mean + np.array([0.1, 0.1, 0.0])
    assert process.possibility([0.5, 0.5, 2.0], twins.mean) == pytest.approx(1.0)
    assert process.possibility([0.5, 0.5, 2.0], [low, high - 0.2, other]) < 1e-9
    alike = process.possibility([0.5, 0.5, 2.0], [low, high, other])
    alone = process.possibility([0.5, 2.0], [high, other])
    assert float(alike) == pytest.approx(float(alone), rel=1e-3)
    np.testing.assert_allclose(process.at(X_T).covariance, sigma, atol=1e-7)


def test_the_regressor_has_the_same_process():
    X, y = seen(3)
    model = PossibilisticGPRegressor(
        KERNEL, noise_variance=0.3, hyperparameters="fixed", normalize_y=False
    ).fit(X, y)
    process = PossibilisticGP(0.0, KERNEL).given(X, y, GaussianNoise(0.3))
    np.testing.assert_allclose(process.band(X_T), model.credible_interval(X_T), rtol=1e-8)


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_after_labels_it_is_the_process_of_the_classifier(link):
    X, y = seen(1, n=12)
    labels = np.where(y > 0, 1, -1)
    model = PossibilisticGPClassifier(KERNEL, link=link, hyperparameters="fixed").fit(X, labels)
    process = PossibilisticGP(0.0, KERNEL).given(X, labels, link)
    mean, variance = model.latent_mean_and_variance(X_T)
    f = process.at(X_T)
    np.testing.assert_allclose(f.mean, mean, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.diagonal(f.covariance), variance, rtol=1e-6)
    if link == "probit":
        ends = model.credible_probability(X_T)[:, 1]
        np.testing.assert_allclose(ndtr(process.band(X_T)), ends, rtol=1e-6)


def test_after_several_labels_there_is_a_process_for_each_as_the_classifier_has_it():
    X, y = seen(1, n=15)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    model = PossibilisticGPClassifier(KERNEL, hyperparameters="fixed").fit(X, labels)
    each = PossibilisticGP(0.0, KERNEL).given_labels(X, labels.tolist(), ["a", "b", "c"])
    mean, variance = model.latent_mean_and_variance(X_T)
    whole = model.posterior_.cross(X_T, X_T)[0]
    for place, label in enumerate("abc"):
        f = each[label].at(X_T)
        np.testing.assert_allclose(f.mean, mean[:, place], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(f.covariance, whole[place], atol=1e-6)
        half = np.sqrt(-2 * np.log(0.05) * variance[:, place])
        ends = np.column_stack([mean[:, place] - half, mean[:, place] + half])
        np.testing.assert_allclose(each[label].band(X_T), ends, rtol=1e-6, atol=1e-8)
        assert each[label].credible_curves(X_T, n=2).shape == (2, 7)


def test_no_more_rows_leave_the_process_of_a_label_as_it_is():
    X, labels = [0.0, 1.0, 2.0], ["a", "b", "c"]
    last = PossibilisticGP(0.0, KERNEL).given_labels(X, labels, labels)["c"]
    np.testing.assert_array_equal(last.given([], [], "probit").band(X_T), last.band(X_T))


def test_before_any_of_several_labels_each_has_the_prior():
    process = PossibilisticGP(-0.5, KERNEL)
    for one in process.given_labels([], [], ["a", "b", "c"]).values():
        np.testing.assert_array_equal(one.band(X_T), process.band(X_T))


# ---------------------------------------------------------------- bands and curves


@each_mean
@pytest.mark.parametrize("level", [0.3, 0.95])
def test_a_band_has_its_level_as_necessity_row_by_row(mean, level):
    before = PossibilisticGP(mean, KERNEL)
    for process in (before, before.given(*seen(2), GaussianNoise(0.1))):
        f = process.at(X_T)
        for row, (low, high) in enumerate(process.band(X_T, level)):
            assert f.marginal(row).necessity(Interval(low, high)) == pytest.approx(level, rel=1e-5)


@pytest.mark.parametrize("level", [0.3, 0.95])
@pytest.mark.parametrize("rows", [1, 2, 40])
def test_credible_curves_lie_on_the_surface_of_the_credible_set(level, rows):
    X = np.linspace(-2, 2, rows)
    before = PossibilisticGP(0.5, KERNEL)
    for process in (before, before.given(*seen(2), GaussianNoise(0.1))):
        curves = process.credible_curves(X, level, n=20, random_state=0)
        assert curves.shape == (20, rows)
        np.testing.assert_allclose(process.possibility(X, curves), 1 - level, rtol=1e-3)
        low, high = process.band(X, level).T
        assert (curves >= low - 1e-6).all()
        assert (curves <= high + 1e-6).all()


def test_curves_are_the_same_for_the_same_state():
    process, X = PossibilisticGP(0.0, KERNEL), np.linspace(0, 1, 9)
    one, same, other = (process.credible_curves(X, random_state=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    rng = np.random.default_rng(1)
    np.testing.assert_array_equal(process.credible_curves(X, random_state=rng), one)


def test_a_curve_becomes_less_possible_as_more_of_it_is_looked_at():
    process = PossibilisticGP(0.0, KERNEL).given(*seen(0), GaussianNoise(0.1))
    curve = np.cos(3 * X_T[:, 0])
    heights = [float(process.possibility(X_T[:k], curve[:k])) for k in range(1, 8)]
    assert (np.diff(heights) <= 1e-12).all()


# ---------------------------------------------------------------- what is said of measurements


def test_random_and_systematic_errors_leave_one_process_and_say_two_things():
    X, y = seen(4)
    random, fixed = (
        PossibilisticGP(0.0, KERNEL).given(X, y, error)
        for error in (GaussianNoise(0.3), SystematicError(0.3))
    )
    np.testing.assert_array_equal(random.band(X_T), fixed.band(X_T))
    said, other = random.outcome(X_T, GaussianNoise(0.3)), fixed.outcome(X_T, SystematicError(0.3))
    assert isinstance(said, OuterMeasure)
    assert isinstance(other, GaussianPossibility)
    np.testing.assert_array_equal(said.possibility.mean, other.mean)
    wider = said.possibility.covariance + 0.3 * np.eye(7)
    np.testing.assert_allclose(other.covariance, wider)


@pytest.mark.parametrize("error", [GaussianNoise(0.3), SystematicError(0.3)], ids=str)
def test_a_band_of_measurements_is_that_of_the_regressor(error):
    X, y = seen(3)
    noise = "random" if isinstance(error, GaussianNoise) else "systematic"
    model = PossibilisticGPRegressor(
        KERNEL, noise=noise, noise_variance=0.3, hyperparameters="fixed", normalize_y=False
    ).fit(X, y)
    band = PossibilisticGP(0.0, KERNEL).given(X, y, error).band(X_T, 0.9, error=error)
    expected = model.credible_interval(X_T, 0.9, of="outcome")
    np.testing.assert_allclose(band, expected, rtol=1e-6)


# ---------------------------------------------------------------- a value


def test_a_process_never_changes():
    kernel = RBF(1.0)
    process = PossibilisticGP(0.0, kernel)
    before = process.band(X_T)
    kernel.theta = np.log([9.0])
    process.given(*seen(0), GaussianNoise(0.1))
    np.testing.assert_array_equal(process.band(X_T), before)
    with pytest.raises(FrozenInstanceError):
        process.mean = 1.0
    assert repr(process) == "PossibilisticGP(mean=0.0, kernel=RBF(length_scale=1))"


PROCESS = PossibilisticGP(0.0, KERNEL)
SEEN = PROCESS.given([0.0], [1.0], GaussianNoise(0.1))
LABELLED = PROCESS.given_labels([0.0], ["a"], ["a", "b"])["b"]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: PossibilisticGP([0.0, 1.0], KERNEL), ValueError, "mean must be a number or a fu"),
        (lambda: PossibilisticGP(0.0, "rbf"), TypeError, "kernel must be a scikit-learn kernel"),
        (lambda: PossibilisticGP(lambda X: X, KERNEL).band(X_T), ValueError, "mean must give an "),
        (lambda: PROCESS.given([0.0], [1.0, 2.0], GaussianNoise(1)), ValueError, "y must have one"),
        (lambda: PROCESS.given([0.0], [2.0], "probit"), ValueError, "y must hold labels -1 and 1"),
        (lambda: PROCESS.given([0.0], [1.0], "probt"), ValueError, "error must be"),
        (lambda: PROCESS.given([0.0], [1.0], 0.1), TypeError, "error must be a GaussianNoise"),
        (lambda: SEEN.given([0.0], [1.0], "probit"), ValueError, "error must be of one kind"),
        (lambda: SEEN.given(np.ones((1, 2)), [1.0], GaussianNoise(1)), ValueError, "X must have 1"),
        (lambda: PROCESS.given_labels([0.0], ["c"], ["a", "b"]), ValueError, "got y with 'c'"),
        (lambda: PROCESS.given_labels([0.0], ["a"], ["a"]), ValueError, "at least 2; got 1"),
        (lambda: PROCESS.given_labels([0.0], [], ["a", "b"]), ValueError, "y must have one entry"),
        (lambda: SEEN.given_labels([0.0], ["a"], ["a", "b"]), ValueError, "before data; got one"),
        (lambda: LABELLED.given([0.0], [1.0], GaussianNoise(1)), ValueError, "error must be of on"),
        (lambda: PROCESS.band(np.ones((1, 1, 1))), ValueError, r"X must have shape \(m, d\)"),
        (lambda: PROCESS.band(X_T, level=95), ValueError, "level must lie between 0 and 1"),
        (lambda: PROCESS.possibility(X_T, np.ones(3)), ValueError, "g must have 7 entries"),
        (lambda: PROCESS.credible_curves(X_T, n=0), ValueError, "n must be"),
        (lambda: SystematicError(0.0), ValueError, "variance must be positive"),
        (lambda: SystematicError([1.0, 2.0]), ValueError, "variance must be one number"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(call, error, says):
    with pytest.raises(error, match=says):
        call()
