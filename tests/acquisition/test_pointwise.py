import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.special import entr, ndtr, softmax
from support.pools import LOCAL, any_moments, beliefs, moments, random_moments

from possibal import Belief, acquisition
from possibal.acquisition import expectations, pointwise

POSSIBILISTIC = {"uncertainty": acquisition.uncertainty, "doubt": acquisition.doubt}
each_score = pytest.mark.parametrize("score", LOCAL.values(), ids=LOCAL)
each_possibilistic = pytest.mark.parametrize("score", POSSIBILISTIC.values(), ids=POSSIBILISTIC)
each_shape = pytest.mark.parametrize("shape", [(40,), (40, 2), (40, 3), (40, 7)], ids=str)


# ---------------------------------------------------------------- the contract of every score


@each_score
@settings(max_examples=40)
@given(pool=any_moments)
def test_a_score_is_finite_and_in_range(score, pool):
    mean, variance = pool
    values = score(mean, variance)
    labels = 2 if mean.ndim == 1 else mean.shape[1]
    assert values.shape == mean.shape[:1]
    assert np.isfinite(values).all()
    if score is not acquisition.latent_entropy:  # an entropy of a density may have any sign
        top = {acquisition.uncertainty: labels - 1, acquisition.entropy: np.log(labels)}
        assert np.all((values >= 0) & (values <= top.get(score, 1.0 * labels) + 1e-12))


@each_score
@pytest.mark.parametrize("shape", [(), (3,)], ids=["binary", "softmax"])
def test_a_score_is_finite_for_every_finite_input(score, shape):
    rng = np.random.default_rng(3)
    means = [0, 1, -1, 1e-300, 1e154, -1e154, 1e308, -1e308, 5, -5]
    variances = [5e-324, 1e-308, 1e-30, 1, 1e30, 1e150, 1e300, 1.7e308]
    values = score(rng.choice(means, (60, *shape)), rng.choice(variances, (60, *shape)))
    assert np.isfinite(values).all()


@each_score
@each_shape
def test_a_batch_is_a_loop_over_rows_in_any_order(score, shape):
    mean, variance = random_moments(0, shape)
    values = score(mean, variance)
    loop = [score(mean[i : i + 1], variance[i : i + 1])[0] for i in range(len(mean))]
    np.testing.assert_allclose(values, loop, rtol=1e-8)
    order = np.random.default_rng(1).permutation(len(mean))
    np.testing.assert_allclose(score(mean[order], variance[order]), values[order], rtol=1e-8)


@each_score
@each_shape
def test_the_names_of_labels_do_not_matter(score, shape):
    mean, variance = random_moments(1, shape)
    swapped = (-mean, variance) if len(shape) == 1 else (mean[:, ::-1], variance[:, ::-1])
    np.testing.assert_allclose(score(*swapped), score(mean, variance), rtol=1e-6)


@each_score
@each_shape
def test_single_precision_input_ranks_alike(score, shape):
    mean, variance = random_moments(2, shape)
    single = score(mean.astype(np.float32), variance.astype(np.float32))
    double = score(mean, variance)
    clear = np.subtract.outer(double, double) > 1e-5
    assert np.all(np.subtract.outer(single, single)[clear] > 0)
    mean, variance = mean.astype(np.float32), variance.astype(np.float32)
    np.testing.assert_array_equal(single, score(mean.astype(float), variance.astype(float)))


@each_score
@each_shape
def test_inputs_are_never_changed(score, shape):
    mean, variance = random_moments(3, shape)
    copies = mean.copy(), variance.copy()
    score(mean, variance)
    np.testing.assert_array_equal(mean, copies[0])
    np.testing.assert_array_equal(variance, copies[1])


@each_score
@each_shape
def test_a_belief_of_one_hypothesis_is_that_hypothesis(score, shape):
    mean, variance = random_moments(4, shape)
    doubled = Belief(np.stack([mean, mean]), np.stack([variance, variance]), [1.0, 1.0])
    np.testing.assert_allclose(score(doubled), score(mean, variance), rtol=1e-9, atol=1e-12)
    ruled_out = Belief(np.stack([mean, -mean]), np.stack([variance, variance]), [1.0, 0.0])
    np.testing.assert_allclose(score(ruled_out), score(mean, variance), rtol=1e-9, atol=1e-12)


@each_score
def test_an_empty_pool_has_no_scores(score):
    assert score(np.empty(0), np.empty(0)).shape == (0,)
    assert score(np.empty((0, 3)), np.empty((0, 3))).shape == (0,)


@each_score
@pytest.mark.parametrize(
    ("mean", "variance", "message"),
    [
        ([0, np.nan], [1, 1], r"mean must be finite; got NaN at row 1\. Drop or impute"),
        ([0, 1], [1, np.nan], "variance must be zero or more; got nan at row 1"),
        ([0, 1], [-2, 1], "variance must be zero or more; got -2 at row 0"),
        ([0, 1], [1], "variance must have the shape of mean"),
        ([0, 1], np.eye(2), "variance must have the shape of mean"),
        ([[0], [1]], [[1], [1]], "mean must have at least 2 columns, one per label; got 1"),
    ],
)
def test_bad_input_gets_one_sentence_with_the_cure(score, mean, variance, message):
    with pytest.raises(ValueError, match=message):
        score(mean, variance)


# ---------------------------------------------------------------- known points, and ignorance

EVERY = {**LOCAL, "volume": acquisition.uncertainty_parameter}
each_of_all = pytest.mark.parametrize("score", EVERY.values(), ids=EVERY)


def _limits(score, mean, variance, large=1e14):
    """A score where variances are zero and infinite, and where they are nearly so."""
    near = np.where(variance == 0, 1e-26, np.where(np.isinf(variance), large, variance))
    return score(mean, variance), score(mean, near)


@each_of_all
@settings(max_examples=30)
@given(
    mean=st.lists(st.floats(-5, 5).filter(lambda x: abs(x) > 1e-3), min_size=1, max_size=4),
    known=st.booleans(),
)
def test_scores_of_two_labels_reach_their_limits(score, mean, known):
    at, near = _limits(score, np.array(mean), np.full(len(mean), 0.0 if known else np.inf))
    if np.isinf(at).any():
        assert np.all(np.sign(at) * near > 15)
    else:
        np.testing.assert_allclose(at, near, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("score", LOCAL.values(), ids=LOCAL)
@settings(max_examples=40)
@given(
    mean=st.tuples(*[st.integers(-20, 20)] * 3).filter(lambda m: len(set(m)) == 3),
    variance=st.tuples(*[st.sampled_from([0.0, 0.3, 2.0, np.inf])] * 3),
)
def test_scores_of_many_labels_reach_their_limits(score, mean, variance):
    mean, variance = np.array([mean]) / 10, np.array([variance])
    at, near = _limits(score, mean, variance, 1e8)
    if score is acquisition.latent_entropy:
        wanted = -np.inf if (variance == 0).any() else np.inf
        assert np.isfinite(variance).all() & (variance > 0).all() or at[0] == wanted
        return
    np.testing.assert_allclose(at, near, atol=1e-3)  # it falls short by 1 / sd


@each_possibilistic
@pytest.mark.parametrize("labels", [None, 3, 7])
def test_a1_a_known_point_leaves_nothing_and_a2_ignorance_leaves_all(score, labels):
    shape = (3,) if labels is None else (3, labels)
    mean = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(score(mean, np.zeros(shape)), 0.0)
    top = (labels or 2) - 1.0 if score is acquisition.uncertainty else 1.0
    np.testing.assert_array_equal(score(mean, np.full(shape, np.inf)), top)
    np.testing.assert_array_equal(acquisition.bald(mean, np.zeros(shape)), 0.0)
    all_unknown = acquisition.bald(mean, np.full(shape, np.inf))
    np.testing.assert_allclose(all_unknown, np.log(labels or 2), rtol=1e-12)


def test_known_latents_that_tie_leave_doubt_and_no_uncertainty():
    for mean, variance in (([0.0], [0.0]), ([[1.0, 1.0, 0.0]], [[0.0, 0.0, 0.0]])):
        assert acquisition.doubt(mean, variance)[0] == 1.0
        assert acquisition.necessity(mean, variance)[0] == 0.0
        assert acquisition.uncertainty(mean, variance)[0] == 0.0


def test_an_unknown_label_leads_in_half_of_the_cases_and_the_others_share_the_rest():
    mean, variance = np.array([[0.5, -1.0, 0.2]]), np.array([[1.0, np.inf, 2.0]])
    p = expectations.softmax_probabilities(mean, variance)[0]
    others = expectations.softmax_probabilities(mean[:, [0, 2]], variance[:, [0, 2]])[0]
    np.testing.assert_allclose(p, [others[0] / 2, 0.5, others[1] / 2], rtol=1e-9)


def test_hypotheses_may_be_points_or_ignorant():
    belief = Belief(
        [[1.0, 2.0, 3.0], [0, 1, 2], [1, 1, 1]],
        [[0, np.inf, 1], [1, 2, 0], [np.inf, np.inf, np.inf]],
        [1, 0.5, 0],
    )
    unit = np.sqrt(2 * np.pi)
    np.testing.assert_allclose(acquisition.uncertainty_parameter(belief), [unit / 2, np.inf, unit])
    np.testing.assert_allclose(acquisition.doubt(belief), [0.5, 1, np.exp(-4.5)])
    outcome = acquisition.uncertainty_outcome(belief, noise_variance=1.0)
    near = Belief(belief.mean, np.clip(belief.variance, 1e-20, 1e20), belief.credibility)
    close = acquisition.uncertainty_outcome(near, noise_variance=1.0)
    np.testing.assert_allclose(outcome[[0, 2]], close[[0, 2]], rtol=1e-6)
    spread = acquisition.predictive_variance(belief, noise_variance=1.0)
    assert outcome[1] == spread[1] == np.inf
    assert np.isfinite(spread[[0, 2]]).all()
    assert acquisition.uncertainty_outcome([0.0], [0.0], noise_variance=2.0)[0] == 0.0
    for score in LOCAL.values():
        assert not np.isnan(score(belief)).any()


# ---------------------------------------------------------------- what the paper claims


@each_possibilistic
@given(pool=any_moments)
def test_a0_a_score_is_never_negative(score, pool):
    assert np.all(score(*pool) >= 0)


@each_possibilistic
@pytest.mark.parametrize("mean", [[1.3], [[0.2, 1.0, -1.0]]], ids=["binary", "softmax"])
def test_a1_full_knowledge_leaves_nothing(score, mean):
    assert score(mean, np.full_like(mean, 1e-12))[0] < 1e-9


@each_possibilistic
@pytest.mark.parametrize(
    ("mean", "top"), [([1.3], 1.0), ([[0.2, 1.0, -1.0]], 2.0)], ids=["binary", "softmax"]
)
def test_a2_ignorance_attains_the_maximum(score, mean, top):
    top = top if score is acquisition.uncertainty else 1.0
    assert score(mean, np.full_like(mean, 1e12))[0] == pytest.approx(top, rel=1e-9)


@each_possibilistic
@given(
    pool=st.one_of(moments(), moments(3)),
    factor=st.floats(1, 100),
    which=st.integers(0, 2),
)
def test_a4_weak_losing_information_never_lowers_the_score(score, pool, factor, which):
    mean, variance = pool
    vague = variance.copy()
    vague[..., which if mean.ndim == 2 else slice(None)] *= factor
    assert np.all(score(mean, vague) >= score(mean, variance) * (1 - 1e-9))


@given(mu=st.floats(0.1, 5), sigma2=st.floats(0.05, 50), factor=st.floats(1.01, 100))
def test_a4_strict_losing_information_raises_doubt_of_two_labels(mu, sigma2, factor):
    sharp, vague = acquisition.doubt([mu, mu], [sigma2, sigma2 * factor])
    assert vague > sharp


def test_a4_is_not_strict_for_doubt_where_the_mode_itself_is_undecided():
    # Prop. 4 assumes a unique leading label: at mu = 0 doubt is one whatever the variance.
    assert acquisition.doubt([0.0, 0.0], [1.0, 9.0]).tolist() == [1.0, 1.0]


def test_a4_is_not_strict_for_doubt_of_many_labels():
    # The third label neither leads nor is the closest rival: what is lost there does not show.
    mean = [[2.0, 1.0, -5.0]]
    assert acquisition.doubt(mean, [[1, 1, 1.0]]) == acquisition.doubt(mean, [[1, 1, 1.5]])


# ---------------------------------------------------------------- each formula


@given(pool=moments())
def test_doubt_of_two_labels_is_the_possibility_of_the_other_sign(pool):
    mean, variance = pool
    np.testing.assert_allclose(
        acquisition.doubt(mean, variance), np.exp(-(mean**2) / variance / 2), rtol=1e-9
    )


def test_necessity_and_doubt_keep_their_digits_apart():
    doubts = acquisition.doubt([9.0, 10.0], [1.0, 1.0])
    assert doubts[0] > doubts[1] > 0
    small = acquisition.necessity([1e-9], [1.0])[0]
    assert small == pytest.approx(0.5e-18, rel=1e-12)


@given(pool=any_moments)
def test_necessity_and_doubt_are_complements(pool):
    np.testing.assert_allclose(acquisition.necessity(*pool) + acquisition.doubt(*pool), 1)


def test_doubt_of_many_labels_is_that_of_the_closest_rival():
    mean, variance = np.array([[1.0, 3.0, 2.0]]), np.array([[9.0, 1.0, 0.5]])
    rivals = [np.exp(-0.5 * 2**2 / 10), np.exp(-0.5 * 1**2 / 1.5)]
    assert acquisition.doubt(mean, variance)[0] == pytest.approx(max(rivals))


@given(belief=beliefs())
def test_doubt_over_hypotheses_is_the_largest_credibility_of_a_rival(belief):
    doubt = acquisition.doubt(belief)
    for row in range(len(belief)):
        mu, sigma2 = belief.mean[:, row], belief.variance[:, row]
        if belief.is_binary:  # two latents, one fixed at zero
            mu = np.stack([mu, 0 * mu], axis=1)
            sigma2 = np.stack([sigma2, 0 * sigma2], axis=1)
        leader = mu[belief.leading].argmax()
        ahead = mu[:, [leader]] - mu
        width = sigma2[:, [leader]] + sigma2
        width[:, leader] = 1.0
        rival = np.where(ahead > 0, np.exp(-0.5 * ahead**2 / width), 1.0)
        rival[:, leader] = 0.0
        expected = (belief.credibility[:, None] * rival).max()
        assert doubt[row] == pytest.approx(expected, rel=1e-9)


@given(belief=beliefs())
def test_uncertainty_over_hypotheses_sums_the_largest_credibilities(belief):
    parts = []
    for mean, variance in zip(belief.mean, belief.variance, strict=True):
        with np.errstate(all="ignore"):
            excess = pointwise._excess(Belief.of(mean, variance))[0]  # noqa: SLF001 - its parts
        p = np.stack([ndtr(-mean), ndtr(mean)], 1) if mean.ndim == 1 else softmax(mean, axis=1)
        parts.append(p + excess)
    largest = (belief.credibility[:, None, None] * np.array(parts)).max(axis=0)
    np.testing.assert_allclose(
        acquisition.uncertainty(belief), largest.sum(axis=1) - 1, rtol=1e-9, atol=1e-14
    )


def test_uncertainty_of_two_sure_hypotheses_keeps_its_digits():
    belief = Belief([[7.0], [7.5]], [[1e-3], [1e-3]], [1.0, 1.0])
    assert acquisition.uncertainty(belief)[0] == pytest.approx(1.2808893e-12, rel=1e-6)


def test_bald_of_two_alike_hypotheses_keeps_its_digits():
    belief = Belief([[5.0], [5.0001]], [[1e-8], [1e-8]], [1.0, 1.0])
    assert acquisition.bald(belief)[0] == pytest.approx(4.8181e-14, rel=1e-4)


@given(belief=beliefs(), seed=st.integers(0, 99))
def test_one_more_hypothesis_never_lowers_doubt_or_uncertainty(belief, seed):
    rng = np.random.default_rng(seed)
    wider = Belief(
        np.concatenate([belief.mean, rng.normal(size=(1, *belief.mean.shape[1:]))]),
        np.concatenate([belief.variance, np.ones((1, *belief.mean.shape[1:]))]),
        np.append(belief.credibility, rng.uniform(0, 0.999)),
    )
    regression = [acquisition.uncertainty_parameter] if belief.is_binary else []
    for score in [*POSSIBILISTIC.values(), *regression]:
        assert np.all(score(wider) >= score(belief) * (1 - 1e-9) - 1e-12)


@pytest.mark.parametrize("score", [acquisition.uncertainty, acquisition.bald])
@given(mu=st.floats(-6, 6))
def test_uncertainty_and_bald_agree_where_little_is_unknown(score, mu):
    sigma2 = 1e-7
    density = np.exp(-0.5 * mu * mu) / np.sqrt(2 * np.pi)
    limit = sigma2 * density**2 / (2 * ndtr(mu) * ndtr(-mu))
    assert score([mu], [sigma2])[0] == pytest.approx(limit, rel=1e-4)


@given(ratio=st.floats(-3, 3))
def test_uncertainty_becomes_doubt_where_much_is_unknown(ratio):
    sigma2 = 1e10
    mean = [ratio * np.sqrt(sigma2)]
    assert acquisition.uncertainty(mean, [sigma2])[0] == pytest.approx(
        acquisition.doubt(mean, [sigma2])[0], rel=1e-3
    )


@given(pool=moments())
def test_two_label_baselines_read_the_average_probability(pool):
    mean, variance = pool
    z = np.abs(mean) / np.sqrt(1 + variance)
    q = ndtr(-z)
    np.testing.assert_allclose(acquisition.least_confidence(mean, variance), q, rtol=1e-9)
    np.testing.assert_allclose(acquisition.margin(mean, variance), 2 * q, rtol=1e-9)
    entropy = entr(q) - ndtr(z) * np.log1p(-q)
    np.testing.assert_allclose(acquisition.entropy(mean, variance), entropy, rtol=1e-9)


def test_many_label_baselines_read_the_average_probability():
    mean, variance = random_moments(6, (20, 4))
    p = expectations.softmax_averages(mean, variance).probability
    ordered = np.sort(p, axis=1)
    np.testing.assert_allclose(acquisition.least_confidence(mean, variance), 1 - ordered[:, -1])
    gap = ordered[:, -1] - ordered[:, -2]
    np.testing.assert_allclose(acquisition.margin(mean, variance), 1 - gap)
    np.testing.assert_allclose(acquisition.entropy(mean, variance), entr(p).sum(axis=1))


@pytest.mark.parametrize("ahead", [0, 1, 3, 6, 10, 15, 30])
def test_bald_of_many_labels_joins_its_forms(ahead):
    mean = np.array([[0.0, ahead, -0.2]])
    below, above = (acquisition.bald(mean, np.full((1, 3), v))[0] for v in (0.999e-3, 1.001e-3))
    assert below == pytest.approx(above, rel=0.01)


def test_bald_ranks_confident_rows_by_what_is_unknown():
    sure, surer = acquisition.bald([[10, 0, 0], [20, 0, 0]], [[9e-4] * 3, [1] * 3])
    assert sure > surer > 0


def test_bald_counts_what_the_label_tells_about_the_hypothesis():
    sure = np.array([[6.0], [-6.0]]), np.full((2, 1), 1e-6), np.ones(2)
    assert acquisition.bald(Belief(*sure))[0] == pytest.approx(np.log(2), rel=1e-6)


def test_houlsbys_approximation_is_within_two_thousandths_of_bald():
    mean, variance = random_moments(7, (2000,))
    error = acquisition.bald_houlsby(mean, variance) - acquisition.bald(mean, variance)
    assert np.abs(error).max() < 0.002
    with pytest.raises(ValueError, match=r"mean must have shape \(m,\) for bald_houlsby"):
        acquisition.bald_houlsby([[0, 1]], [[1, 1]])


def test_latent_entropy_is_that_of_a_gaussian():
    exact = 0.5 * np.log(2 * np.pi * np.e * 3)
    assert acquisition.latent_entropy([5.0], [3.0])[0] == pytest.approx(exact)
    assert acquisition.latent_entropy([[5.0, 1.0]], [[3.0, 3.0]])[0] == pytest.approx(2 * exact)


# ---------------------------------------------------------------- regression


@given(pool=moments(), log_noise=st.floats(-8, 8))
def test_regression_scores_of_one_gaussian(pool, log_noise):
    mean, variance = pool
    noise = 10**log_noise
    np.testing.assert_allclose(
        acquisition.uncertainty_parameter(mean, variance), np.sqrt(2 * np.pi * variance)
    )
    np.testing.assert_allclose(
        acquisition.uncertainty_outcome(mean, variance, noise_variance=noise),
        np.expm1(0.5 * np.log1p(variance / noise)),
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        acquisition.predictive_variance(mean, variance, noise_variance=noise), variance + noise
    )


def test_the_outcome_over_hypotheses_is_an_integral_of_the_largest():
    belief = Belief(np.array([[0.0], [2.0]]), np.array([[1.0], [0.5]]), np.array([1.0, 0.8]))
    y = np.linspace(-20, 20, 400_001)
    theta = np.linspace(-15, 15, 6001)
    prior = (
        belief.credibility[:, None] * np.exp(-((theta - belief.mean) ** 2) / 2 / belief.variance)
    ).max(0)
    coarse = y[::400]
    inner = [(prior * np.exp(-((v - theta) ** 2) / 2 / 0.3)).max() for v in coarse]
    expected = trapezoid(inner, coarse) / np.sqrt(2 * np.pi * 0.3) - 1
    found = acquisition.uncertainty_outcome(belief, noise_variance=0.3)[0]
    assert found == pytest.approx(expected, rel=1e-4)
    centre = belief.weight @ belief.mean
    spread = belief.weight @ (belief.variance + (belief.mean - centre) ** 2) + 0.3
    assert acquisition.predictive_variance(belief, noise_variance=0.3) == pytest.approx(spread)


def test_regression_scores_are_finite_for_every_finite_input():
    assert np.isfinite(acquisition.uncertainty_outcome([0.0], [1e200], noise_variance=1e-200))
    assert np.isfinite(acquisition.uncertainty_outcome([0.0], [1.7e308], noise_variance=5e-324))
    assert np.isfinite(acquisition.predictive_variance([0.0], [1.7e308], noise_variance=1.7e308))
    twice = Belief([[0.0], [0.0]], [[1.0], [1.0]], [1.0, 1.0])
    small = acquisition.uncertainty_outcome(twice, noise_variance=1e12)[0]
    assert small == pytest.approx(0.5e-12, rel=1e-6)


def test_regression_takes_one_latent_and_a_noise_for_all_or_each():
    mean, variance = [0.0, 1.0], [1.0, 2.0]
    each = acquisition.uncertainty_outcome(mean, variance, noise_variance=[1.0, 2.0])
    np.testing.assert_allclose(each, np.sqrt(2) - 1)
    with pytest.raises(ValueError, match="noise_variance must be one number or one per row, 2"):
        acquisition.predictive_variance(mean, variance, noise_variance=[1, 2, 3])
    with pytest.raises(ValueError, match="noise_variance must be positive; got 0"):
        acquisition.uncertainty_outcome(mean, variance, noise_variance=0)
    with pytest.raises(ValueError, match=r"mean must have shape \(m,\) for uncertainty_parameter"):
        acquisition.uncertainty_parameter([[0, 1]], [[1, 1]])
