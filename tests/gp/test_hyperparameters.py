from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from support.kernel_cases import BLOCKS

from possibal.gp import hyperparameters
from possibal.gp.hyperparameters import (
    AMPLITUDE,
    AMPLITUDE_SD,
    FAR,
    INFERENCES,
    LEAST_CREDIBLE,
    LENGTH_SD,
    LENGTH_SHARE,
    LENGTH_TAIL,
    MUTED,
    NOISE_SD,
    STAR_RADIUS,
    DefaultKernel,
    block_hypotheses,
    default_hyperprior,
    envelope,
    evidence,
    fixed,
    problem,
    promising,
)
from possibal.gp.likelihoods import IDENTITY, LOGISTIC, PROBIT, SOFTMAX
from possibal.gp.posterior import TrainingData
from possibal.gp.rbf import Level, SphericalRBF
from possibal.numerics.distances import RIGHT_ANGLE, usual_distance

WIDE = (1e-8, 1e8)
KERNELS = {
    "none": None,
    "rbf": (ConstantKernel(2.0) * RBF(0.8),),
    "matern": (ConstantKernel(2.0) * Matern(0.8, nu=2.5),),
    "ard": (ConstantKernel(2.0) * RBF([0.5, 1.5]),),
    "one-fixed": (ConstantKernel(2.0, "fixed") * RBF(0.8),),
}

each_kernel = pytest.mark.parametrize("kernels", KERNELS.values(), ids=KERNELS)
each_link = pytest.mark.parametrize("link", ["probit", "logistic", "softmax", "identity"])
seeds = st.integers(0, 10_000)


def rows(seed, n=12, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


def seen(link, seed=0, n=12):
    """Rows with labels, or numbers, that follow their first column."""
    X, rng = rows(seed, n), np.random.default_rng(seed + 1)
    g = 2 * X[:, 0] + 0.3 * rng.normal(size=n)
    if link == "softmax":
        y = (np.digitize(g, [-1.0, 1.0]) == np.arange(3)[:, None]).astype(float)
        return TrainingData(X, y, np.ones((1, n)), SOFTMAX)
    if link == "identity":
        return TrainingData(X, g[None], np.ones((1, n)), IDENTITY)
    sign = {"probit": PROBIT, "logistic": LOGISTIC}[link]
    return TrainingData(X, np.sign(g)[None], np.ones((1, n)), sign)


def fit_of(link, kernels=None, **data):
    return problem(kernels, seen(link, **data), noise=0.1 if link == "identity" else None)


def nothing_seen(d=2):
    return TrainingData(np.empty((0, d)), np.empty((1, 0)), np.empty((1, 0)), PROBIT)


# ---------------------------------------------------------------- what is believed beforehand


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_our_own_kernel_has_the_amplitude_and_the_length_of_the_rows(share):
    data = seen("probit")
    made = problem(None, data, own=DefaultKernel(level=Level(share)))
    length = LENGTH_SHARE * usual_distance(data.X)
    np.testing.assert_allclose(made.given, np.log([AMPLITUDE, length]), rtol=1e-12)
    np.testing.assert_array_equal(made.hyperprior.centre, made.given)
    np.testing.assert_array_equal(made.hyperprior.sd, [AMPLITUDE_SD, LENGTH_SD])
    np.testing.assert_allclose(
        made.hyperprior.settings(), default_hyperprior(made.distance).settings()
    )
    (kernel,) = made.kernels
    np.testing.assert_allclose(kernel.diag(data.X), AMPLITUDE * (1.0 + share))
    assert not made.noisy


@pytest.mark.parametrize(
    "given",
    [
        {"kernels": None, "own": DefaultKernel(level=Level(0.03, is_spherical=True))},
        {"kernels": (ConstantKernel(12.0) * SphericalRBF(0.8),), "distance": 7.0},
    ],
    ids=["default", "own"],
)
def test_on_the_sphere_length_scales_follow_the_distance_of_right_angles(given):
    data = seen("probit")
    made = problem(data=replace(data, X=100.0 * data.X), **given)
    assert made.distance == RIGHT_ANGLE
    np.testing.assert_allclose(made.hyperprior.centre[1], np.log(LENGTH_SHARE * np.sqrt(2.0)))


@pytest.mark.parametrize(
    ("kernel", "lengths", "others"),
    [
        (RBF(0.8, WIDE), [0], []),
        (Matern(0.8, WIDE, nu=1.5), [0], []),
        (ConstantKernel(3.0, WIDE) * RBF(0.8, WIDE), [1], [0]),
        (RBF(0.8, WIDE) * ConstantKernel(3.0, WIDE), [0], [1]),
        (ConstantKernel(3.0, WIDE) * RBF([0.5, 1.5], WIDE), [1, 2], [0]),
        (ConstantKernel(3.0, "fixed") * RBF(0.8, WIDE), [0], []),
        (ConstantKernel(3.0, WIDE) * RBF(0.8, "fixed"), [], [0]),
        (RBF(0.8, WIDE) + WhiteKernel(0.1, WIDE), [0], [1]),
    ],
    ids=str,
)
def test_length_scales_are_believed_near_the_rows_and_all_else_near_the_kernel(
    kernel, lengths, others
):
    data = seen("probit")
    made = problem((kernel,), data)
    length = np.log(LENGTH_SHARE * usual_distance(data.X))
    np.testing.assert_array_equal(made.given, kernel.theta)
    centre = made.hyperprior.centre[lengths]
    if lengths:
        assert centre.mean() == pytest.approx(length)
    np.testing.assert_allclose(np.diff(centre), np.diff(kernel.theta[lengths]), atol=1e-12)
    np.testing.assert_array_equal(made.hyperprior.centre[others], kernel.theta[others])
    np.testing.assert_array_equal(made.hyperprior.sd[lengths], LENGTH_SD)
    np.testing.assert_array_equal(made.hyperprior.sd[others], AMPLITUDE_SD)


@pytest.mark.parametrize(("bounds", "end"), [((1e-3, 1e-2), 1e-2), ((1e3, 1e4), 1e3)])
def test_a_length_scale_is_believed_within_its_bounds(bounds, end):
    made = problem((RBF(5e-3 if end < 1 else 5e3, bounds),), seen("probit"))
    assert made.hyperprior.centre[0] == pytest.approx(np.log(end))


def test_the_noise_variance_is_the_last_hyperparameter():
    made = problem(None, seen("identity"), noise=0.3, own=DefaultKernel(2.0))
    np.testing.assert_allclose(made.hyperprior.centre[[0, 2]], np.log([2.0, 0.3]), rtol=1e-12)
    assert made.given[-1] == made.hyperprior.centre[-1]
    assert made.hyperprior.sd[-1] == NOISE_SD
    assert made.noisy


def test_every_class_has_the_hyperparameters_of_its_kernel():
    kernels = RBF(0.8, WIDE), ConstantKernel(3.0, WIDE) * RBF(0.8, WIDE), Matern(0.8, WIDE)
    made = problem(kernels, seen("softmax"))
    np.testing.assert_array_equal(made.given, np.concatenate([k.theta for k in kernels]))
    np.testing.assert_array_equal(
        made.hyperprior.sd, [LENGTH_SD, AMPLITUDE_SD, LENGTH_SD, LENGTH_SD]
    )


def test_the_prior_is_a_possibility_of_the_logarithms():
    made = fit_of("probit")
    thetas = np.array(
        [
            made.hyperprior.centre,
            made.hyperprior.centre + made.hyperprior.sd,
            made.hyperprior.centre - [0.0, 2 * LENGTH_SD],
        ]
    )
    expected = [0.0, -1.0, -LENGTH_TAIL * (2.0 - 0.5 * LENGTH_TAIL)]
    np.testing.assert_allclose(made.hyperprior.log(thetas), expected, atol=1e-12)
    np.testing.assert_array_equal(made.at(thetas).log_prior, made.hyperprior.log(thetas))


def test_hyperparameters_that_are_all_fixed_leave_nothing_to_believe():
    made = problem((RBF(0.8, "fixed"),), seen("probit"))
    assert made.hyperprior.centre.shape == (0,)
    np.testing.assert_array_equal(made.hyperprior.log(np.empty((1, 0))), [0.0])
    for way in INFERENCES.values():
        assert way(made).prior.settings() == [[RBF(0.8, "fixed")]]


@pytest.mark.parametrize("kernels", [None, (KERNELS["ard"][0],), tuple(3 * [RBF(0.8)])], ids=str)
@given(seed=seeds)
def test_slopes_of_the_hyperprior_are_its_derivatives(kernels, seed):
    belief = problem(kernels, seen("softmax")).hyperprior
    z = 3.0 * np.random.default_rng(seed).normal(size=len(belief.names))
    numeric = approx_fprime(z, lambda u: float(belief.log_at(u)), 1e-7)
    np.testing.assert_allclose(belief.slopes_at(z), numeric, atol=1e-5)


@given(z=st.floats(-8, 8))
def test_a_length_scale_far_off_is_more_possible_than_under_a_gaussian(z):
    belief = fit_of("probit").hyperprior
    amplitude, length = belief.log_at(z * np.eye(2))
    assert amplitude == pytest.approx(-0.5 * z * z)
    assert -0.5 * z * z <= length <= 0.0
    within = np.clip(z, -LENGTH_TAIL, LENGTH_TAIL)
    assert belief.log_at(np.array([0.0, within])) == pytest.approx(-0.5 * within**2)


@given(z=st.floats(-4, 4), count=st.integers(1, 5))
def test_length_scales_that_move_together_count_once(z, count):
    kernel = ConstantKernel(1.0, WIDE) * RBF(np.ones(count), WIDE)
    data = TrainingData(rows(0, d=count), np.ones((1, 12)), np.ones((1, 12)), PROBIT)
    belief = problem((kernel,), data).hyperprior
    together = np.append(0.0, np.full(count, z))
    one = fit_of("probit").hyperprior.log_at(np.array([0.0, z]))
    assert belief.log_at(together) == pytest.approx(one, abs=1e-12)


def test_the_ladder_moves_all_length_scales_and_nothing_else():
    kernels = ConstantKernel(2.0, WIDE) * RBF([0.5, 1.5], WIDE), RBF(0.8, WIDE), RBF(2.0, WIDE)
    belief = problem(kernels, seen("softmax")).hyperprior
    rungs = belief.ladder(LENGTH_SHARE * np.array([0.1, 1.0, 2.0]))
    moves = np.log([0.1, 1.0, 2.0])[:, None] * [0, 1, 1, 1, 1]
    np.testing.assert_allclose(rungs - belief.centre, moves, atol=1e-12)


def test_no_rung_leaves_the_bounds():
    belief = problem((RBF(1.0, (0.9, 1.1)),), seen("probit")).hyperprior
    assert (np.abs(belief.ladder(FAR)) <= np.log(1.1) + 1.0).all()
    assert (belief.ladder(FAR) >= belief.bounds.lb).all()
    assert (belief.ladder(FAR) <= belief.bounds.ub).all()


# ---------------------------------------------------------------- fixed


@each_kernel
@each_link
def test_fixed_takes_the_kernel_as_it_is_given(link, kernels):
    made = fit_of(link, kernels)
    posterior = fixed(made)
    np.testing.assert_array_equal(posterior.credibility, [1.0])
    own = list(made.kernels)
    found = posterior.prior.settings()[0]
    for one, other in zip(found, own, strict=True):
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-12, atol=1e-12)
    X = made.data.X
    np.testing.assert_allclose(posterior.K[0, 0], own[0](X), rtol=1e-12)
    noise = 0.1 if link == "identity" else 1.0
    np.testing.assert_allclose(posterior.data.weight, np.full((1, 12), 1 / noise), rtol=1e-12)


# ---------------------------------------------------------------- evidence


def height(made, theta):
    """What evidence maximises: its logarithm and that of the prior."""
    theta = np.asarray(theta)
    posterior = made.at(theta[None])
    return float(posterior.log_evidence[0] + made.hyperprior.log(theta[None])[0])


def theta_of(posterior, made):
    """The setting that was found, the noise variance last."""
    theta = np.concatenate([k.theta for k in posterior.prior.settings()[0]])
    if not made.noisy:
        return theta
    return np.append(theta, -np.log(posterior.data.weight[0, 0] / made.data.weight[0, 0]))


@each_kernel
@each_link
def test_evidence_finds_a_setting_that_no_small_step_improves(link, kernels):
    made = fit_of(link, kernels)
    posterior = evidence(made)
    theta = theta_of(posterior, made)
    assert height(made, theta) >= height(made, made.hyperprior.centre)
    inside = np.abs(theta - made.hyperprior.centre) < 6 * made.hyperprior.sd - 1e-6
    slope = approx_fprime(theta, lambda t: height(made, t), 1e-6)
    np.testing.assert_allclose(slope[inside], 0.0, atol=2e-3)
    assert len(posterior.credibility) == 1


@settings(max_examples=10)
@given(seed=seeds)
def test_evidence_is_at_least_that_of_every_setting_of_the_envelope(seed):
    made = fit_of("probit", seed=seed)
    best = evidence(made)
    others = made.at(made.hyperprior.settings())
    assert (
        height(made, theta_of(best, made)) >= (others.log_evidence + others.log_prior).max() - 1e-9
    )


def test_evidence_recovers_the_noise_variance():
    rng = np.random.default_rng(0)
    X = np.linspace(0, 10, 200)[:, None]
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=200)
    made = problem(
        None,
        TrainingData(X, y[None], np.ones((1, 200)), IDENTITY),
        own=DefaultKernel(0.5),
        noise=0.05,
    )
    noise = np.exp(theta_of(evidence(made), made)[-1])
    assert noise == pytest.approx(0.09, rel=0.25)


def test_with_no_label_evidence_keeps_the_centre():
    made = problem(None, nothing_seen())
    np.testing.assert_allclose(theta_of(evidence(made), made), made.hyperprior.centre, atol=1e-9)


@pytest.mark.parametrize("link", ["probit", "identity"])
def test_rows_that_count_k_times_are_k_rows_to_the_evidence(link):
    data, k = seen(link), np.tile([1, 2, 5], 4)
    often = TrainingData(data.X, data.y, k[None].astype(float), data.link)
    again = TrainingData(
        np.repeat(data.X, k, axis=0), np.repeat(data.y, k, axis=1), np.ones((1, k.sum())), data.link
    )
    kernels, noise = KERNELS["rbf"], 0.2 if link == "identity" else None
    one, other = problem(kernels, often, noise=noise), problem(kernels, again, noise=noise)
    thetas = one.hyperprior.centre + one.hyperprior.sd * np.random.default_rng(0).normal(
        size=(4, len(one.hyperprior.sd))
    )
    np.testing.assert_allclose(*(p.at(thetas).log_evidence for p in (one, other)), rtol=1e-6)
    np.testing.assert_allclose(*(p.at(thetas).credibility for p in (one, other)), rtol=1e-6)
    settled = [theta_of(evidence(p), p) for p in (one, other)]
    np.testing.assert_allclose(*settled, rtol=1e-3, atol=1e-3)


# ---------------------------------------------------------------- the envelope


@each_kernel
@each_link
def test_an_envelope_keeps_credible_settings_only(link, kernels):
    posterior = envelope(fit_of(link, kernels))
    assert posterior.credibility.max() == 1.0
    assert posterior.credibility.min() >= LEAST_CREDIBLE
    assert len(posterior.prior) == len(posterior.credibility)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_the_centre_and_each_hyperparameter_moved_by_itself_are_the_settings(count):
    kernel = {
        0: RBF(1.0, "fixed"),
        1: RBF(1.0, WIDE),
        2: ConstantKernel(1.0, WIDE) * RBF(1.0, WIDE),
        3: ConstantKernel(1.0, WIDE) * RBF([1.0, 1.0], WIDE),
        5: ConstantKernel(1.0, WIDE) * RBF(np.ones(4), WIDE),
    }[count]
    made = problem((kernel,), nothing_seen(d=4 if count == 5 else 2))
    settings_ = made.hyperprior.settings()
    names = len(set(made.hyperprior.names))  # length-scales of several columns have one name
    assert settings_.shape == (1 + 2 * names, count)
    assert len(np.unique(settings_, axis=0)) == len(settings_)
    np.testing.assert_array_equal(settings_[0], made.hyperprior.centre)
    z = (settings_ - made.hyperprior.centre) / made.hyperprior.sd
    np.testing.assert_allclose(np.abs(z[np.abs(z) > 1e-9]), STAR_RADIUS, rtol=1e-12)
    moved = [{made.hyperprior.names[i] for i in np.flatnonzero(np.abs(row) > 1e-9)} for row in z]
    assert all(len(names) <= 1 for names in moved)


def test_with_no_label_the_centre_is_the_most_credible_of_all_settings():
    made = problem(None, nothing_seen())
    posterior = envelope(made)
    assert len(posterior.prior) == 5
    best = posterior.prior.settings()[int(posterior.credibility.argmax())][0]
    np.testing.assert_allclose(best.theta, made.hyperprior.centre, rtol=1e-12)


def test_more_than_two_hyperparameters_and_noise_make_an_envelope():
    posterior = envelope(fit_of("identity", KERNELS["ard"]))
    assert 1 < len(posterior.prior) <= 9
    assert len(np.unique(posterior.data.weight[:, 0])) > 1
    mean, variance = posterior.moments(rows(5))
    assert np.isfinite(mean).all()
    assert (variance > 0).all()


def test_labels_make_settings_less_credible():
    few, many = (envelope(fit_of("identity", n=n)) for n in (3, 60))
    assert len(many.prior) < len(few.prior)


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e300])
def test_the_scale_of_the_rows_does_not_matter_to_an_envelope(scale):
    data = seen("probit")
    scaled = TrainingData(scale * data.X, data.y, data.weight, data.link)
    one, other = envelope(problem(None, data)), envelope(problem(None, scaled))
    np.testing.assert_allclose(one.credibility, other.credibility, rtol=1e-6)
    for a, b in zip(one.moments(data.X), other.moments(scaled.X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("noise", [None, 0.3])
def test_settings_that_take_turns_are_those_fitted_together(noise, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.sign(rng.normal(size=(1, 12)))
    data = TrainingData(X, y, np.ones((1, 12)), PROBIT if noise is None else IDENTITY)
    together = hyperparameters.envelope(hyperparameters.problem(None, data, noise=noise))
    monkeypatch.setattr(hyperparameters, "MOST_NUMBERS", 1)
    in_turn = hyperparameters.envelope(hyperparameters.problem(None, data, noise=noise))
    np.testing.assert_allclose(in_turn.credibility, together.credibility, rtol=1e-10)
    for found, expected in zip(in_turn.moments(X), together.moments(X), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_evidence_does_not_depend_on_turns(monkeypatch):
    made = problem(None, seen("probit"))
    together = theta_of(evidence(made), made)
    monkeypatch.setattr(hyperparameters, "MOST_NUMBERS", 1)
    np.testing.assert_allclose(theta_of(evidence(made), made), together, rtol=1e-4, atol=1e-4)


def test_no_setting_leaves_the_bounds_of_the_kernel():
    kernel = ConstantKernel(1.0, (0.9, 1.1)) * RBF(1.0, (0.9, 1.1))
    made = problem((kernel,), seen("probit"))
    for way in INFERENCES.values():
        for (setting,) in way(made).prior.settings():
            assert (setting.theta >= kernel.bounds[:, 0] - 1e-12).all()
            assert (setting.theta <= kernel.bounds[:, 1] + 1e-12).all()


def test_kernels_of_several_classes_are_moved_together():
    kernels = tuple(ConstantKernel(1.0) * RBF(1.0) for _ in range(3))
    made = problem(kernels, seen("softmax"))
    assert made.hyperprior.settings().shape == (5, 6)


# ---------------------------------------------------------------- far from the rule of thumb


def wave(link, frequency=6.0, n=60, seed=0):
    """What goes up and down many times within the range of the rows."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 1))
    g = np.sin(frequency * X[:, 0])
    if link == "softmax":
        y = (np.digitize(g, [-0.5, 0.5]) == np.arange(3)[:, None]).astype(float)
        return TrainingData(X, y, np.ones((1, n)), SOFTMAX)
    if link == "identity":
        return TrainingData(X, (g + 0.1 * rng.normal(size=n))[None], np.ones((1, n)), IDENTITY)
    return TrainingData(X, np.sign(g)[None], np.ones((1, n)), PROBIT)


def of_wave(link, kernels=None, **size):
    own = DefaultKernel(1.0) if link == "identity" else DefaultKernel(level=Level(0.3))
    noise = 0.1 if link == "identity" else None
    return problem(kernels, wave(link, **size), noise=noise, own=own)


each_wave = pytest.mark.parametrize("link", ["probit", "softmax", "identity"])


@each_wave
def test_an_envelope_follows_labels_far_from_the_rule_of_thumb(link):
    made = of_wave(link, n=80)
    posterior = envelope(made)
    best = posterior.prior.settings()[int(posterior.credibility.argmax())][0]
    length = best.theta[1] - made.hyperprior.centre[1]
    assert length < -2 * STAR_RADIUS * LENGTH_SD
    near = made.at(made.hyperprior.settings())
    far = posterior.log_evidence.max()
    assert far > near.log_evidence.max() + 10.0


def test_where_nothing_far_is_more_credible_the_envelope_is_the_star():
    for link in ("probit", "softmax"):
        for seed in range(5):
            made = fit_of(link, seed=seed, n=30)
            star = made.at(made.hyperprior.settings())
            found = envelope(made)
            kept = star.credibility >= LEAST_CREDIBLE
            np.testing.assert_array_equal(found.credibility, star.credibility[kept])


def test_what_seems_promising_and_is_not_is_left_out(monkeypatch):
    made = fit_of("probit", n=30)
    plain = envelope(made)
    asked = []

    def everything(problem):
        asked.append(problem)
        return problem.hyperprior.ladder(FAR)

    monkeypatch.setattr(hyperparameters, "promising", everything)
    found = envelope(made)
    assert asked == [made]
    np.testing.assert_array_equal(found.credibility, plain.credibility)


def test_the_ladder_is_climbed_with_some_of_many_labels(monkeypatch):
    made = of_wave("probit", n=80)
    every = promising(made)
    assert len(every)
    monkeypatch.setattr(hyperparameters, "MOST_SCREENED", 79)
    some = promising(made)
    assert len(some)
    assert not hyperparameters.promising(fit_of("probit")).size


def test_a_length_scale_that_is_given_is_looked_at_too():
    kernel = ConstantKernel(12.0) * RBF(0.25)
    given_far = promising(of_wave("probit", (kernel,), n=80))
    np.testing.assert_allclose(given_far[-1], kernel.theta)
    assert len(given_far) == 1 + len(promising(of_wave("probit", n=80)))


def test_each_class_keeps_the_length_scale_of_its_kernel():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (90, 1))
    codes = np.where(X[:, 0] < -0.5, 0, np.where(np.sin(8 * X[:, 0]) > 0, 1, 2))
    y = (codes == np.arange(3)[:, None]).astype(float)
    data = TrainingData(X, y, np.ones((1, 90)), SOFTMAX)
    kernels = tuple(ConstantKernel(10.0) * RBF(length) for length in (2.0, 0.3, 0.3))
    for way in (envelope, evidence):
        posterior = way(problem(kernels, data))
        best = posterior.prior.settings()[int(posterior.credibility.argmax())]
        broad, narrow, other = (float(np.exp(kernel.theta[1])) for kernel in best)
        assert broad > 3 * max(narrow, other)


@each_wave
@pytest.mark.parametrize("frequency", [6.0, 8.0])
def test_evidence_finds_the_peak_far_from_the_rule_of_thumb(link, frequency):
    made = of_wave(link, frequency=frequency)
    found = evidence(made)
    assert float(np.exp(found.prior.settings()[0][0].theta[1])) < 0.5


def many_problems():
    """Ten problems, two of each of five kinds."""
    for seed in range(2):
        rng = np.random.default_rng(100 + seed)
        X, n = rng.normal(size=(40, 2)), 40
        numbers = np.sin(4 * X[:, 0]) * np.cos(3 * X[:, 1]) + 0.2 * rng.normal(size=n)
        thirds = (np.floor(1.5 * X[:, 0]) % 3).astype(int)
        line = np.sign(X @ [1.0, -1.0] + 0.3 * rng.normal(size=n))
        yield of_wave("probit", seed=seed, n=40, frequency=5.0 + seed)
        yield of_wave("identity", seed=seed, n=40, frequency=5.0 + seed)
        yield problem(None, TrainingData(X, line[None], np.ones((1, n)), PROBIT))
        one_hot = (thirds == np.arange(3)[:, None]).astype(float)
        yield problem(None, TrainingData(X, one_hot, np.ones((1, n)), SOFTMAX))
        data = TrainingData(X, numbers[None], np.ones((1, n)), IDENTITY)
        yield problem(None, data, noise=0.1, own=DefaultKernel(0.3))


@pytest.mark.parametrize("made", list(many_problems()), ids=range(10))
def test_evidence_is_within_a_tenth_of_a_nat_of_the_best_of_a_grid(made):
    centre = made.hyperprior.centre
    axes = [centre[0] + np.linspace(-4, 4, 13), centre[1] + np.linspace(-3, 2.4, 28)]
    if made.noisy:
        axes.append(centre[2] + np.linspace(-8, 3, 12))
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(centre))
    best = max(
        (fit.log_evidence + fit.log_prior).max()
        for fit in (made.at(grid[start : start + 400]) for start in range(0, len(grid), 400))
    )
    found = evidence(made)
    assert (found.log_evidence + found.log_prior)[0] >= best - 0.1


# ---------------------------------------------------------------- the usual belief


@pytest.mark.parametrize("link", ["probit", "softmax"])
@pytest.mark.parametrize(("n", "scale"), [(2, 1.0), (12, 1.0), (30, 1e-3), (30, 1e4)])
def test_the_usual_belief_is_that_of_our_own_kernel(link, n, scale):
    data = replace(seen(link, n=n), X=scale * rows(4, n))
    found, expected = (
        default_hyperprior(usual_distance(data.X)),
        problem(None, data).hyperprior,
    )
    assert found.names == expected.names
    np.testing.assert_allclose(found.centre, expected.centre, rtol=1e-12)
    np.testing.assert_array_equal(found.sd, expected.sd)
    np.testing.assert_allclose(found.bounds.lb, expected.bounds.lb, rtol=1e-12)
    np.testing.assert_allclose(found.bounds.ub, expected.bounds.ub, rtol=1e-12)
    np.testing.assert_allclose(found.settings(), expected.settings(), rtol=1e-12)
    assert found.settings().shape == (5, 2)
    np.testing.assert_allclose(found.log(found.settings()), expected.log(expected.settings()))


def test_length_scales_follow_the_usual_distance_that_is_given():
    data = seen("probit")
    for kernels in (None, (ConstantKernel(2.0) * RBF(1.0),)):
        made = problem(kernels, data, distance=5.0)
        assert made.hyperprior.centre[1] == pytest.approx(np.log(LENGTH_SHARE * 5.0))
        assert made.hyperprior.centre[1] != problem(kernels, data).hyperprior.centre[1]
    assert default_hyperprior(5.0).centre[1] == pytest.approx(np.log(LENGTH_SHARE * 5.0))


@pytest.mark.parametrize("n", [0, 1])
def test_the_usual_belief_needs_no_rows(n):
    data = TrainingData(np.ones((n, 2)), np.ones((1, n)), np.ones((1, n)), PROBIT)
    expected = problem(None, data).hyperprior
    np.testing.assert_allclose(
        default_hyperprior(usual_distance(data.X)).centre, expected.centre, rtol=1e-12
    )


# ---------------------------------------------------------------- blocks
@pytest.mark.parametrize(("blocks", "count"), [(2, 3), (3, 7), (4, 9)])
def test_all_blocks_count_or_one_or_all_but_one(blocks, count):
    weights = np.exp(block_hypotheses(blocks))
    assert len(np.unique(weights, axis=0)) == len(weights) == count
    counting = np.where(weights > 2 * MUTED, weights, 0.0)
    np.testing.assert_allclose((counting**2).sum(axis=1), blocks)
    assert np.array_equal(weights[0], np.ones(blocks))


def blocks_problem(y, kernels=None):
    """Two blocks of two columns; the labels follow the first."""
    X = np.random.default_rng(0).normal(size=(len(y), 4))
    data = TrainingData(X, np.where(X[:, 0] > 0, 1.0, -1.0)[None] * y, np.ones((1, len(y))), PROBIT)
    return problem(kernels, data, own=DefaultKernel(blocks=(2, 2)))


def test_every_hypothesis_about_blocks_has_a_star():
    belief = blocks_problem(np.ones(5)).hyperprior
    found = belief.settings()
    assert len(found) == 3 * 5
    np.testing.assert_array_equal(belief.log(found[::5]), 0.0)  # none is less credible than another
    np.testing.assert_allclose(found[::5, 2:], block_hypotheses(2))


def test_labels_settle_which_block_counts():
    none, many = (envelope(blocks_problem(np.ones(n))) for n in (0, 60))
    assert len(none.credibility) == 15
    weights = np.exp(many.prior.thetas[many.credibility.argmax(), 2:])
    assert weights[0] > 1.0 > weights[1]


def test_evidence_moves_weights_within_their_bounds():
    weights = evidence(blocks_problem(np.ones(60))).prior.thetas[0, 2:]
    assert weights[0] > weights[1]
    assert (np.abs(weights) <= np.log(1e2)).all()


def test_the_blocks_of_every_class_count_alike():
    kernels = tuple(BLOCKS * ConstantKernel(2.0) for _ in range(2))
    belief = blocks_problem(np.ones(0), kernels).hyperprior
    at = [place for place, name in enumerate(belief.names) if name.endswith("weights")]
    moves = belief.alternatives[:, at]
    assert moves.shape == (3, 4)
    np.testing.assert_array_equal(moves[:, :2], moves[:, 2:])
