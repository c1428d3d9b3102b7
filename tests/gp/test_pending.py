from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from possibal.gp import pending
from possibal.gp.likelihoods import IDENTITY, LOGISTIC, PROBIT, SOFTMAX
from possibal.gp.pending import PendingPosterior, expected_weight
from possibal.gp.posterior import TrainingData, condition
from possibal.gp.prior import prior

LINKS = {"probit": PROBIT, "logistic": LOGISTIC, "identity": IDENTITY, "softmax": SOFTMAX}
KERNEL = ConstantKernel(4.0) * RBF(0.8)

each_link = pytest.mark.parametrize("link", LINKS)
seeds = st.integers(0, 10_000)
few = settings(max_examples=15)


def rows(seed, m=7):
    return np.random.default_rng(seed).normal(size=(m, 2))


def posterior(link, seed=0, n=8, count=2):
    """Some settings, conditioned on random labels."""
    rng = np.random.default_rng(seed)
    if link == "softmax":
        y = np.eye(3)[:, rng.integers(3, size=n)]
    elif link == "identity":
        y = rng.normal(size=(1, n))
    else:
        y = rng.choice([-1.0, 1.0], size=(1, n))
    thetas = KERNEL.theta + 0.4 * np.arange(count)[:, None]
    weight = np.full((1, n), 2.5 if link == "identity" else 1.0)
    return condition(
        prior([KERNEL], thetas),
        TrainingData(rng.normal(size=(n, 2)), y, weight, LINKS[link]),
        -0.5 * np.arange(count),
    )


def after(found, picks):
    return (
        PendingPosterior(found)
        if not len(picks)
        else after(found, picks[:-1]).with_pending(picks[-1])
    )


# ---------------------------------------------------------------- rows that are tracked


@each_link
@few
@given(seed=seeds, before=st.integers(0, 2), picks=st.integers(0, 4))
def test_rows_that_are_tracked_have_the_same_moments(link, seed, before, picks):
    found, X, Z = posterior(link, seed), rows(seed + 1), rows(seed + 3, 4)
    x = rows(seed + 2, before + picks)
    plain, tracking = after(found, x), after(found, x[:before]).tracking(X, Z)
    for one in x[before:]:
        tracking = tracking.with_pending(one)
    for array in (X, Z):
        np.testing.assert_array_equal(tracking.at(array).mean, plain.at(array).mean)
        close(tracking.at(array).variance, plain.at(array).variance)
        close(tracking.covariance(array), plain.covariance(array))
        close(tracking.explained_share(array), plain.explained_share(array))
    close(tracking.cross(X, Z), plain.cross(X, Z))
    close(tracking.between(X, Z), plain.between(X, Z))
    close(tracking.variance_reduction(X, Z), plain.variance_reduction(X, Z))
    copy = X.copy()  # other rows, as far as anybody knows
    np.testing.assert_array_equal(tracking.at(copy).variance, plain.at(copy).variance)


def test_a_posterior_is_asked_about_tracked_rows_once(monkeypatch):
    found, X, asked = posterior("probit"), rows(1), []
    real = type(found).moments
    monkeypatch.setattr(
        type(found), "moments", lambda self, X: asked.append(len(X)) or real(self, X)
    )
    tracking = PendingPosterior(found).tracking(X)
    for x in rows(2, 3):
        tracking = tracking.with_pending(x)
        tracking.explained_share(X)
    assert asked.count(len(X)) == 1


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- exact for numbers


@few
@given(seed=seeds, picks=st.integers(1, 5))
def test_for_numbers_it_is_the_variance_after_an_update(seed, picks):
    found, X, x = posterior("identity", seed), rows(seed + 1), rows(seed + 2, picks)
    told = found.update(x, np.zeros((1, picks)))
    expected = told.moments(X)[1][:, 0]
    np.testing.assert_allclose(after(found, x).at(X).variance, expected, rtol=1e-9)
    np.testing.assert_allclose(after(found, x).cross(X, x), told.cross(X, x), atol=1e-9)


def test_for_numbers_that_stand_for_several_the_noise_is_that_of_one():
    found = posterior("identity")
    found = replace(found, data=replace(found.data, count=np.full(8, 5.0)))
    x = rows(2, m=1)
    told = found.update(x, np.zeros((1, 1)), np.full((1, 1), 2.5 / 5))
    foretold = PendingPosterior(found).with_pending(x[0]).at(rows(1)).variance
    np.testing.assert_allclose(foretold, told.moments(rows(1))[1][:, 0], rtol=1e-9)


@few
@given(seed=seeds)
def test_for_numbers_the_order_of_picks_does_not_matter(seed):
    found, X, x = posterior("identity", seed), rows(seed + 1), rows(seed + 2, 4)
    one, other = after(found, x).at(X), after(found, x[::-1]).at(X)
    np.testing.assert_allclose(one.variance, other.variance, rtol=1e-9)


# ---------------------------------------------------------------- properties


@each_link
def test_without_picks_it_is_the_posterior(link):
    found, X = posterior(link), rows(1)
    belief, same = found.at(X), PendingPosterior(found).at(X)
    np.testing.assert_array_equal(same.variance, belief.variance)
    np.testing.assert_array_equal(PendingPosterior(found).cross(X, X), found.cross(X, X))
    np.testing.assert_array_equal(PendingPosterior(found).explained_share(X), np.zeros(7))


@each_link
@few
@given(seed=seeds)
def test_means_and_credibilities_stay_and_no_variance_grows(link, seed):
    found, X, x = posterior(link, seed), rows(seed + 1), rows(seed + 2, 3)
    beliefs = [after(found, x[:k]).at(X) for k in range(4)]
    for fewer, more in pairwise(beliefs):
        np.testing.assert_array_equal(fewer.mean, more.mean)
        np.testing.assert_array_equal(fewer.credibility, more.credibility)
        assert np.all(more.variance <= fewer.variance * (1 + 1e-12))


@each_link
@few
@given(seed=seeds, noise=st.sampled_from([1.0, 1e-8, 1e-12, 1e-16, 1e-20]))
def test_a_row_picked_often_never_makes_a_variance_negative(link, seed, noise):
    found, X = posterior(link, seed), rows(seed + 1)
    weight = found.data.weight / (noise if link == "identity" else 1.0)
    found = condition(found.prior, replace(found.data, weight=weight), found.log_prior)
    ahead = after(found, np.concatenate([np.repeat(X[:1], 20, axis=0), X]))
    variance = ahead.at(X).variance  # a belief refuses what is not positive
    assert np.all(variance <= found.at(X).variance)


@pytest.mark.parametrize("seed", range(6))
def test_rounding_does_not_pile_up_where_nothing_is_left_to_tell(seed):
    found, x = posterior("identity", seed), rows(seed + 2, m=1)
    data = replace(found.data, weight=found.data.weight * 1e16)
    found = condition(found.prior, data, found.log_prior)
    once, often = (after(found, np.repeat(x, k, axis=0)) for k in (1, 30))
    np.testing.assert_allclose(often.cross(x, x), once.cross(x, x), atol=1e-10)


@each_link
@few
@given(seed=seeds)
def test_a_pick_lowers_its_own_variance_most(link, seed):
    found = posterior(link, seed, n=0)
    X = np.concatenate([rows(seed, m=1), rows(seed + 1)])
    fall = found.at(X).variance - PendingPosterior(found).with_pending(X[0]).at(X).variance
    assert np.all(fall[:, :1] > fall[:, 1:])


@each_link
def test_a_pick_divides_its_own_variance_by_what_its_weight_says(link):
    found, x = posterior(link), rows(2, m=1)
    W, (_, v) = expected_weight(found, x), found.moments(x)
    share = np.moveaxis(1 / (1 + W * v), 1, -1)
    before, now = found.at(x), PendingPosterior(found).with_pending(x[0]).at(x)
    np.testing.assert_allclose(now.variance / before.variance, share.reshape(now.variance.shape))


def test_a_latent_of_the_logistic_link_is_on_the_scale_of_the_probit():
    found, X, x = posterior("logistic"), rows(1), rows(2, m=2)
    scale, ahead = np.sqrt(np.pi / 8), after(found, x)
    latent = np.diagonal(ahead.cross(X, X), axis1=2, axis2=3)[:, 0]
    np.testing.assert_allclose(ahead.at(X).variance, scale**2 * latent, rtol=1e-9)


@each_link
def test_the_covariance_of_a_row_with_itself_is_its_variance(link):
    found, X, x = posterior(link), rows(1), rows(2, m=3)
    scale, ahead = LINKS[link].scale, after(found, x)
    itself = scale**2 * np.diagonal(ahead.cross(X, X), axis1=2, axis2=3)
    variance = ahead.at(X).variance
    np.testing.assert_allclose(np.moveaxis(itself, 1, 2).reshape(variance.shape), variance)


@each_link
def test_a_copy_of_a_pick_is_foretold_and_a_row_far_away_is_not(link):
    found, x = posterior(link), rows(2, m=1)
    X = np.concatenate([x, x + 0.01, x + 0.3, x + 50.0])
    copy, near, off, far = PendingPosterior(found).with_pending(x[0]).explained_share(X)
    assert copy == pytest.approx(1.0)
    assert copy > near > 0.9 > off > far == pytest.approx(0.0, abs=1e-12)
    assert after(found, [x[0], x[0]]).explained_share(x)[0] > 1.0


def test_where_a_label_would_tell_nothing_nothing_is_foretold():
    found = condition(prior([KERNEL], np.array([[-800.0, 0.0]])), posterior("probit").data)
    assert (
        PendingPosterior(found).with_pending(rows(2)[0]).explained_share(rows(1)).tolist()
        == [0.0] * 7
    )


# ---------------------------------------------------------------- weights


@few
@given(seed=seeds)
def test_expected_weights_are_those_of_the_links(seed):
    X = rows(seed + 1)
    g = {link: posterior(link, seed).moments(X)[0] for link in LINKS}
    p = norm.cdf(g["probit"])
    fisher = norm.pdf(g["probit"]) ** 2 / (p * (1 - p))
    q = expit(g["logistic"])
    pi = softmax(g["softmax"], axis=1)
    expected = {
        "probit": fisher,
        "logistic": q * (1 - q),
        "softmax": pi * (1 - pi),
        "identity": np.full(g["identity"].shape, 2.5),
    }
    for link, weight in expected.items():
        np.testing.assert_allclose(
            expected_weight(posterior(link, seed), X), weight, rtol=1e-8, err_msg=link
        )


def test_a_label_that_is_certain_tells_nothing():
    data = TrainingData(np.zeros((1, 1)), np.ones((1, 1)), np.full((1, 1), 1e6), PROBIT)
    found = condition(prior([ConstantKernel(1e6)], np.log([[1e6]])), data)
    x = np.zeros((1, 1))
    assert found.moments(x)[0][0, 0, 0] > 4
    before, now = found.at(x).variance, PendingPosterior(found).with_pending(x[0]).at(x).variance
    np.testing.assert_allclose(now, before, rtol=1e-3)


# ---------------------------------------------------------------- worth


@each_link
def test_the_variance_reduction_is_by_how_much_variances_fall_once_the_row_is_picked(link):
    found, X, reference = posterior(link), rows(1), rows(2, m=20)
    ahead = PendingPosterior(found).with_pending(rows(3)[0])

    def total(one):
        latent = np.diagonal(one.cross(reference, reference), axis1=2, axis2=3)
        return found.credibility @ latent.sum(axis=(1, 2)) / found.credibility.sum()

    for x, worth in zip(X, ahead.variance_reduction(X, reference), strict=True):
        assert worth == pytest.approx(total(ahead) - total(ahead.with_pending(x)), rel=1e-8)


def test_worth_does_not_depend_on_how_rows_are_cut(monkeypatch):
    found, X, reference = posterior("softmax"), rows(1, m=30), rows(2, m=20)
    whole = PendingPosterior(found).variance_reduction(X, reference)
    monkeypatch.setattr(pending, "_CHUNK", 1)
    np.testing.assert_allclose(
        PendingPosterior(found).variance_reduction(X, reference), whole, rtol=1e-12
    )


def test_the_variance_reduction_is_largest_amid_the_reference():
    found = posterior("probit", n=0)
    reference = np.array([[0.0, 0.1], [0.1, 0.0], [-0.1, 0.0], [0.0, -0.1], [3.0, 3.0]])
    X = np.array([[3.0, 3.0], [0.0, 0.0], [9.0, 9.0]])
    assert np.argsort(PendingPosterior(found).variance_reduction(X, reference)).tolist() == [
        2,
        0,
        1,
    ]
