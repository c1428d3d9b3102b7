import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.model_selection import cross_val_score
from support.estimators import KERNEL, each_way, measured, regressor, rows

from possibal import GaussianPossibility, Interval, OuterMeasure
from possibal.estimators.regressor import PossibilisticGPRegressor


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("noise", [1.0, 0.01])
def test_a_regressor_agrees_with_scikit_learn(normalize, noise):
    X, y = measured()
    unit = y.std() if normalize else 1.0
    model = GaussianProcessRegressor(
        KERNEL, alpha=noise / unit**2, optimizer=None, normalize_y=normalize
    ).fit(X, y)
    ours = PossibilisticGPRegressor(
        KERNEL, hyperparameters="fixed", noise_variance=noise, normalize_y=normalize
    ).fit(X, y)
    mean, sd = model.predict(rows(1), return_std=True)
    mu, latent_sd = ours.predict(rows(1), return_std=True)
    np.testing.assert_allclose(mu, mean, rtol=1e-8)
    np.testing.assert_allclose(latent_sd, sd, rtol=1e-8)
    np.testing.assert_array_equal(ours.predict(rows(1)), mu)
    assert ours.noise_variance_ == pytest.approx(noise, rel=1e-12)
    assert ours.log_evidence_ == pytest.approx(model.log_marginal_likelihood_value_, rel=1e-8)


@each_way
@pytest.mark.parametrize("level", [0.05, 0.5, 0.95, 0.999])
def test_the_necessity_of_a_credible_interval_is_its_level(level, way):
    model = regressor(hyperparameters=way)
    belief = model.belief(rows(1))
    interval = model.credible_interval(rows(1), level)
    assert interval.shape == (20, 2)
    for row, (low, high) in enumerate(interval):
        members = zip(belief.mean[:, row], belief.variance[:, row], belief.credibility, strict=True)
        outside = max(
            c * (1.0 - GaussianPossibility(mu, s2).necessity(Interval(low, high)))
            for mu, s2, c in members
        )
        assert 1.0 - outside == pytest.approx(level, abs=1e-9)


@each_way
def test_credible_intervals_are_nested(way):
    model = regressor(hyperparameters=way)
    narrow, wide = (model.credible_interval(rows(1), level) for level in (0.5, 0.95))
    assert (wide[:, 0] < narrow[:, 0]).all()
    assert (wide[:, 1] > narrow[:, 1]).all()
    mean = model.predict(rows(1))
    assert ((narrow[:, 0] < mean) & (mean < narrow[:, 1])).all()


def test_the_usual_interval_reaches_two_and_a_half_standard_deviations():
    mean, sd = regressor().predict(rows(1), return_std=True)
    half = np.sqrt(-2 * np.log(0.05)) * sd
    expected = np.column_stack([mean - half, mean + half])
    np.testing.assert_allclose(regressor().credible_interval(rows(1)), expected, rtol=1e-12)


def test_a_random_error_makes_an_outer_measure():
    model = regressor()
    mean, sd = model.predict(rows(1), return_std=True)
    for row, said in enumerate(model.outcome(rows(1))):
        assert isinstance(said, OuterMeasure)
        assert isinstance(said.possibility, GaussianPossibility)
        assert said.possibility.mean[0] == pytest.approx(mean[row])
        assert said.possibility.covariance[0, 0] == pytest.approx(sd[row] ** 2)
        assert said.family.variance == model.noise_variance_


def test_a_systematic_error_makes_a_possibility_of_latent_and_noise():
    model = regressor(noise="systematic")
    mean, sd = model.predict(rows(1), return_std=True)
    for row, said in enumerate(model.outcome(rows(1))):
        assert isinstance(said, GaussianPossibility)
        assert said.mean[0] == pytest.approx(mean[row])
        assert said.covariance[0, 0] == pytest.approx(sd[row] ** 2 + model.noise_variance_)


@each_way
def test_both_readings_of_the_error_have_the_same_latent(way):
    one, other = (regressor(noise=noise, hyperparameters=way) for noise in ("random", "systematic"))
    np.testing.assert_array_equal(one.predict(rows(1)), other.predict(rows(1)))


@each_way
def test_units_of_the_outcome_do_not_matter(way):
    X, y = measured()
    one = PossibilisticGPRegressor(hyperparameters=way).fit(X, y)
    other = PossibilisticGPRegressor(hyperparameters=way).fit(X, 1e6 * y - 3e4)
    np.testing.assert_allclose(
        other.credible_interval(rows(1)),
        1e6 * one.credible_interval(rows(1)) - 3e4,
        rtol=1e-4,
    )
    assert other.noise_variance_ == pytest.approx(1e12 * one.noise_variance_, rel=1e-3)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("value", [0.0, 7.0, 0.1])
def test_an_outcome_that_never_varies_is_predicted(value, normalize):
    model = PossibilisticGPRegressor(normalize_y=normalize).fit(rows(0), np.full(20, value))
    np.testing.assert_allclose(model.predict(rows(0)), value, atol=0.5)
    assert model.unit_ > 1e-9  # and not what rounding leaves of the spread


@each_way
@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_outcomes_of_any_scale_are_predicted(scale, way):
    X, y = measured()
    model = PossibilisticGPRegressor(hyperparameters=way).fit(X, (y - 50) * scale)
    plain = PossibilisticGPRegressor(hyperparameters=way).fit(X, y - 50)
    found, expected = (one.credible_interval(rows(1)) for one in (model, plain))
    np.testing.assert_allclose(found / scale, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("normalize", [False, True])
def test_outcomes_whose_squares_are_no_numbers_are_refused(normalize):
    X, y = measured()
    with pytest.raises(ValueError, match=r"^y must .*; .*\.$"):
        PossibilisticGPRegressor(normalize_y=normalize).fit(X, (y - 50) * 1e300)


@pytest.mark.parametrize(("way", "noise"), [("fixed", 1e-12), ("evidence", 1e-10)])
def test_outcomes_with_hardly_any_noise_are_followed(way, noise):
    X = rows(0)
    model = PossibilisticGPRegressor(noise_variance=noise, hyperparameters=way).fit(X, X[:, 0])
    np.testing.assert_allclose(model.predict(X), X[:, 0], atol=0.01)


def test_noise_is_learned():
    X = np.linspace(0, 10, 150)[:, None]
    y = 5 * np.sin(X[:, 0]) + rows(0, 150)[:, 0]
    model = PossibilisticGPRegressor().fit(X, y)
    assert model.noise_variance_ == pytest.approx(1.0, rel=0.3)


def test_a_noise_variance_at_the_end_of_what_is_looked_at_says_so():
    X = np.linspace(0, 10, 40)[:, None]
    with pytest.warns(ConvergenceWarning, match=r"the least noise variance that .* exact\.$"):
        PossibilisticGPRegressor().fit(X, np.sin(X[:, 0]))
    PossibilisticGPRegressor(noise_variance=1e-8).fit(X, np.sin(X[:, 0]))
    PossibilisticGPRegressor().fit(X, np.full(len(X), 0.1))  # nothing to learn it from


@each_way
def test_a_noise_variance_that_is_given_stays(way):
    X, y = measured()
    model = PossibilisticGPRegressor(noise_variance=5.0, hyperparameters=way).fit(X, y)
    assert model.noise_variance_ == 5.0
    weight = model.posterior_.data.weight
    np.testing.assert_allclose(model.unit_**2 / weight, 5.0)
    assert not any("noise" in name for name in _names(model))


def _names(model):
    return [
        h.name
        for kernels, _ in model.kernels_
        for kernel in kernels
        for h in kernel.hyperparameters
    ]


def test_an_error_that_is_known_is_trusted_against_exact_outcomes():
    X = np.linspace(0, 6, 30)[:, None]
    model = PossibilisticGPRegressor(noise="systematic", noise_variance=0.1).fit(X, np.sin(X[:, 0]))
    assert model.noise_variance_ == 0.1


def test_more_data_are_taken_by_the_posterior_with_the_error_that_is_given():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([1.0, 1.0, 2.0, 2.0])
    choices = {"hyperparameters": "fixed", "normalize_y": False, "noise_variance": 0.3}
    model = PossibilisticGPRegressor(1.0 * RBF(1.0), **choices).fit(X, y)
    updated = model.posterior_.update(np.array([[2.0]]), np.array([[3.0]]))
    other = clone(model).fit(np.vstack([X, [[2.0]]]), [*y, 3.0])
    T = np.linspace(0, 3, 5)[:, None]
    np.testing.assert_allclose(updated.moments(T)[0][0, 0], other.predict(T), rtol=1e-10)


# ---------------------------------------------------------------- no rows at all


@each_way
def test_before_any_outcome_there_is_the_prior(way):
    model = PossibilisticGPRegressor(4.0 * RBF(0.5), noise_variance=1.0, hyperparameters=way)
    model.fit(np.empty((0, 2)), [])
    mean, sd = model.predict(rows(1), return_std=True)
    np.testing.assert_allclose(mean, 0.0)
    np.testing.assert_allclose(sd, 2.0)
    reach = 2 * np.sqrt(-2 * np.log(0.05))
    np.testing.assert_allclose(model.credible_interval(rows(1)), [[-reach, reach]] * len(rows(1)))
    assert (model.unit_, model.noise_variance_) == (1.0, 1.0)
    assert model.mean_function_.is_zero
    np.testing.assert_allclose(model.kernels_[0][0][0].theta, np.log([4.0, 0.5]))
    wide = model.credible_interval(rows(1), of="outcome")
    np.testing.assert_allclose(wide[:, 1] - wide[:, 0], wide[0, 1] - wide[0, 0])
    assert model.sample_y(rows(1), 3).shape == (len(rows(1)), 3)


def test_before_any_outcome_the_error_is_a_tenth_of_the_prior_variance_of_one():
    model = PossibilisticGPRegressor(RBF()).fit(np.empty((0, 1)), [])
    assert model.noise_variance_ == pytest.approx(0.1)


def test_no_rows_without_a_kernel_are_refused():
    with pytest.raises(ValueError, match="X must have at least 1 row; got none"):
        PossibilisticGPRegressor().fit(np.empty((0, 2)), [])


@each_way
@pytest.mark.parametrize("noise", [1e-149, 1e-20, 1e260, 1e308])
def test_an_error_beyond_what_rounding_allows_is_refused(noise, way):
    X, y = measured()
    with pytest.raises(ValueError, match=r"noise_variance must lie .* times the variance of y"):
        PossibilisticGPRegressor(noise_variance=noise, hyperparameters=way).fit(X, y)


@each_way
@pytest.mark.parametrize("share", [1e-14, 1e250])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_the_least_and_the_largest_error_are_fitted(share, way, normalize, unit):
    X, y = measured()
    seen = y - y.mean() if normalize else y
    noise = 1.01 ** np.sign(1 - share) * share * np.mean(seen**2) * unit**2
    model = PossibilisticGPRegressor(
        noise_variance=noise, hyperparameters=way, normalize_y=normalize
    ).fit(X, unit * y)
    assert np.isfinite(model.predict(X)).all()


def test_an_evidence_so_large_that_nothing_is_near_it_is_still_the_largest():
    X, y = measured()
    model = PossibilisticGPRegressor(noise_variance=1e-13)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        model.fit(X, y, sample_weight=np.full(len(y), 1e12))
    assert np.isfinite(model.predict(X)).all()


# ---------------------------------------------------------------- as scikit-learn has it


@pytest.mark.parametrize("normalize", [False, True])
def test_covariances_and_draws_agree_with_scikit_learn(normalize):
    X, y = measured()
    choices = {"hyperparameters": "fixed", "noise_variance": 0.1, "normalize_y": normalize}
    ours = PossibilisticGPRegressor(2.0 * RBF(1.5), **choices).fit(X, y)
    alpha = 0.1 / y.var() if normalize else 0.1
    peer = GaussianProcessRegressor(
        2.0 * RBF(1.5), alpha=alpha, optimizer=None, normalize_y=normalize
    ).fit(X, y)
    mean, covariance = ours.predict(rows(1), return_cov=True)
    theirs = peer.predict(rows(1), return_cov=True)
    np.testing.assert_allclose(mean, theirs[0], rtol=1e-8)
    np.testing.assert_allclose(covariance, theirs[1], rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(covariance, covariance.T)
    _, sd = ours.predict(rows(1), return_std=True)
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariance)), sd, rtol=1e-5)
    drawn, other = ours.sample_y(rows(1), 4000), peer.sample_y(rows(1), 4000)
    assert drawn.shape == other.shape
    sd = np.sqrt(np.diagonal(covariance))
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=5 * sd.max() / 4000**0.5)
    np.testing.assert_allclose(np.cov(drawn), covariance, atol=6 * sd.max() ** 2 / 4000**0.5)


def test_draws_are_the_same_for_the_same_state_and_of_all_settings():
    model = regressor(hyperparameters="envelope")
    np.testing.assert_array_equal(model.sample_y(rows(1), 5), model.sample_y(rows(1), 5))
    assert (model.sample_y(rows(1), 5) != model.sample_y(rows(1), 5, random_state=1)).any()
    assert model.sample_y(rows(1)).shape == (len(rows(1)), 1)
    with pytest.raises(ValueError, match="n_samples must"):
        model.sample_y(rows(1), 0)


def test_standard_deviations_and_covariances_are_not_had_together():
    with pytest.raises(ValueError, match="return_cov must be left out"):
        regressor().predict(rows(1), return_std=True, return_cov=True)


# ---------------------------------------------------------------- intervals of outcomes


@pytest.mark.parametrize("level", [0.2, 0.5, 0.95, 0.999])
def test_an_outcome_leaves_its_interval_with_the_credibility_that_is_left(level):
    model = regressor()
    mean, sd = model.predict(rows(1), return_std=True)
    noise = model.noise_variance_**0.5
    z = np.linspace(0, 8, 4001)
    for row, (low, high) in enumerate(model.credible_interval(rows(1), level, of="outcome")):
        theta = mean[row] + sd[row] * z
        outside = norm.sf(high, theta, noise) + norm.cdf(low, theta, noise)
        assert (np.exp(-0.5 * z * z) * outside).max() == pytest.approx(1 - level, rel=1e-3)


@pytest.mark.parametrize("level", [0.2, 0.95])
def test_a_systematic_error_widens_the_interval_of_the_latent(level):
    model = regressor(noise="systematic")
    for said, (low, high) in zip(
        model.outcome(rows(1)), model.credible_interval(rows(1), level, of="outcome"), strict=True
    ):
        assert said.necessity(Interval(low, high)) == pytest.approx(level)


@each_way
def test_an_interval_of_outcomes_holds_that_of_the_latent_under_a_systematic_error(way):
    model = regressor(noise="systematic", hyperparameters=way)
    latent, outcome = (model.credible_interval(rows(1), of=of) for of in ("latent", "outcome"))
    assert (outcome[:, 0] < latent[:, 0]).all()
    assert (outcome[:, 1] > latent[:, 1]).all()


def test_an_interval_of_outcomes_holds_that_of_every_setting():
    model = regressor(hyperparameters="envelope")
    belief, z = model.belief(rows(1)), np.linspace(-6, 6, 2001)[:, None]
    low, high = model.credible_interval(rows(1), 0.9, of="outcome").T
    for h, credibility in enumerate(belief.credibility):
        theta = belief.mean[h] + np.sqrt(belief.variance[h]) * z
        noise = np.sqrt(model.unit_**2 / model.posterior_.data.once[h])
        outside = norm.sf(high, theta, noise) + norm.cdf(low, theta, noise)
        assert credibility * (np.exp(-0.5 * z * z) * outside).max() <= 0.1 + 1e-9


def test_an_interval_is_of_the_latent_or_of_the_outcome():
    with pytest.raises(ValueError, match="of must be"):
        regressor().credible_interval(rows(1), of="y")


def test_what_is_random_is_told_from_what_is_not_known():
    random, fixed_error = regressor(), regressor(noise="systematic")
    _, sd = random.predict(rows(1), return_std=True)
    split, other = random.split(rows(1)), fixed_error.split(rows(1))
    assert len(split) == len(rows(1))
    np.testing.assert_array_equal(split.epistemic, sd)
    np.testing.assert_allclose(split.random**2, random.noise_variance_)
    np.testing.assert_array_equal(
        np.column_stack([split.lower, split.upper]), random.credible_interval(rows(1))
    )
    assert not other.random.any()
    np.testing.assert_allclose(other.epistemic**2, sd**2 + fixed_error.noise_variance_)


def test_weights_of_a_regression_count_rows():
    X, y = measured()
    k = np.arange(20) % 3
    one = PossibilisticGPRegressor(KERNEL, hyperparameters="fixed", noise_variance=0.2)
    other = clone(one).fit(np.repeat(X, k, axis=0), np.repeat(y, k))
    one.fit(X, y, sample_weight=k)
    np.testing.assert_allclose(one.predict(rows(1)), other.predict(rows(1)), rtol=1e-8)
    assert one.noise_variance_ == pytest.approx(0.2, rel=1e-12)


def test_the_leading_setting_of_an_envelope_predicts():
    model = regressor(hyperparameters="envelope")
    belief = model.belief(rows(1))
    assert len(belief.credibility) == len(model.kernels_) > 1
    np.testing.assert_array_equal(model.predict(rows(1)), belief.mean[0])


def test_any_kernel_of_scikit_learn_will_do():
    model = regressor(kernel=DotProduct() + RBF() + WhiteKernel(0.1))
    assert model.score(*measured()) > 0.8


def test_a_regressor_is_cross_validated():
    scores = cross_val_score(PossibilisticGPRegressor(), *measured(n=60), cv=3, error_score="raise")
    assert scores.mean() > 0.7


def test_the_centre_and_spread_of_outcomes_are_weighted():
    X, y, weight = np.arange(4.0)[:, None], np.array([0.0, 1.0, 5.0, 9.0]), [1, 1, 1, 7]
    model = PossibilisticGPRegressor(hyperparameters="fixed").fit(X, y, weight)
    repeated = np.repeat(y, weight)
    assert model.mean_function_.levels == pytest.approx((repeated.mean(),))
    assert model.unit_ == pytest.approx(repeated.std())


def test_the_amplitude_of_outcomes_that_are_not_normalised_is_their_size():
    X = np.arange(6.0)[:, None]
    choices = {"hyperparameters": "fixed", "normalize_y": False}
    model = PossibilisticGPRegressor(**choices).fit(X, 100.0 + X[:, 0])
    assert model.posterior_.prior.amplitude[0] == pytest.approx(np.mean((100 + X) ** 2))


def test_the_log_evidence_of_outcomes_given_twice_is_that_of_scikit_learn():
    X, y = measured()
    X, y = np.concatenate([X, X[:5]]), np.concatenate([y, y[:5]])
    choices = {"hyperparameters": "fixed", "normalize_y": False, "noise_variance": 0.1}
    ours = PossibilisticGPRegressor(1.0 * RBF(1.0), **choices).fit(X, y)
    peer = GaussianProcessRegressor(1.0 * RBF(1.0), alpha=0.1, optimizer=None).fit(X, y)
    assert ours.log_evidence_ == pytest.approx(peer.log_marginal_likelihood_value_, rel=1e-9)


# ---------------------------------------------------------------- the prior mean


@pytest.mark.parametrize("mean", [40.0, 0, lambda X: 2.0 * X[:, 0]], ids=["40", "0", "slope"])
@pytest.mark.parametrize("normalize_y", [True, False])
def test_far_from_every_row_the_mean_is_predicted(mean, normalize_y):
    X, y = measured()
    kernel = ConstantKernel(2.0) * RBF(0.8)
    model = PossibilisticGPRegressor(
        kernel, mean=mean, hyperparameters="fixed", normalize_y=normalize_y
    ).fit(X, y)
    far = np.array([[1e4, 0.0], [-1e4, 1.0]])
    expected = mean(far) if callable(mean) else np.full(2, float(mean))
    np.testing.assert_allclose(model.predict(far), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict(far, return_cov=True)[0], expected, atol=1e-9)
    draws = model.sample_y(far, 2000).mean(axis=1)
    np.testing.assert_allclose(draws, expected, atol=0.3 * np.std(y) * 5)


def test_a_slope_that_is_given_is_not_learnt_again():
    X, y = measured()
    slope = PossibilisticGPRegressor(mean=lambda rows: 7.0 * rows[:, 0]).fit(X, y + 7.0 * X[:, 0])
    plain = PossibilisticGPRegressor(mean=0).fit(X, y)
    T = rows(3)
    np.testing.assert_allclose(
        slope.predict(T) - 7.0 * T[:, 0], plain.predict(T), rtol=1e-2, atol=0.2
    )


@pytest.mark.parametrize("kernel", [None, ConstantKernel(2.0) * RBF(0.8)], ids=["default", "own"])
def test_a_mean_that_is_learned_has_a_level(kernel):
    X, y = measured()
    model = PossibilisticGPRegressor(kernel, mean="learned").fit(X, y)
    assert "0.548**2" in str(model.kernels_[0][0][0])  # the root of 0.3, as scikit-learn has it
    plain = PossibilisticGPRegressor(kernel).fit(X, y)
    assert "0.548**2" not in str(plain.kernels_[0][0][0])


@pytest.mark.parametrize("mean", ["learnt", [1.0, 2.0], np.inf, {}], ids=str)
def test_a_mean_that_is_none_is_refused(mean):
    with pytest.raises(ValueError, match=r"^mean must be a number, a function of rows, or 'lear"):
        PossibilisticGPRegressor(mean=mean).fit(*measured())


def test_before_any_row_the_mean_is_all_that_is_known():
    kernel = ConstantKernel(4.0) * RBF(0.8)
    model = PossibilisticGPRegressor(kernel, mean=lambda X: X[:, 0] + 1.0, noise_variance=0.1)
    model.fit(np.empty((0, 2)), np.empty(0))
    T = rows(1)
    np.testing.assert_allclose(model.predict(T), T[:, 0] + 1.0)
    band = model.credible_interval(T, 0.95)
    np.testing.assert_allclose(band.mean(axis=1), T[:, 0] + 1.0)
    np.testing.assert_allclose(np.ptp(band, axis=1), 2 * 2 * np.sqrt(-2 * np.log(0.05)))
