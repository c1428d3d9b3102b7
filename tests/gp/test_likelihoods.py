import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit, ndtr
from support import reference_gp

from possibal.gp.likelihoods import IDENTITY, LINKS, LOGISTIC, PROBIT, SOFTMAX

# Far out, intermediate results overflow or vanish; the climb runs under np.errstate.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ONE_LATENT = {"probit": PROBIT, "logistic": LOGISTIC, "identity": IDENTITY}
FAR = np.concatenate([s * 10.0 ** np.arange(1.5, 8.1, 0.25) for s in (-1, 1)])

each_link = pytest.mark.parametrize("name", ONE_LATENT)
each_choice = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
latents = st.floats(-30, 30)
labels = st.sampled_from([-1.0, 1.0])
weights = st.floats(0.1, 10)


def slopes(link, y, g, weight=1.0):
    found = link.slopes(np.array([y]), np.array([g]), np.array([weight]))
    return [found.gradient[0], found.weight[0], found.third[0]]


@each_link
@settings(max_examples=50)
@given(y=labels, g=latents, weight=weights)
def test_log_probability_agrees_with_fifty_digits(name, y, g, weight):
    value = ONE_LATENT[name].log_probability(y, g, weight)
    exact = float(reference_gp.log_probability(name, y, g, weight))
    assert value == pytest.approx(exact, rel=1e-12, abs=1e-300)


@each_link
@settings(max_examples=50)
@given(y=labels, g=latents, weight=weights)
def test_slopes_are_the_derivatives_of_the_log_probability(name, y, g, weight):
    gradient, curvature, third = slopes(ONE_LATENT[name], y, g, weight)
    exact = reference_gp.slopes(name, y, g, weight)
    assert gradient == pytest.approx(exact[0], rel=1e-12, abs=1e-15)
    assert curvature == pytest.approx(exact[1], rel=1e-11, abs=1e-12)
    assert third == pytest.approx(exact[2], rel=1e-9, abs=1e-10)


@each_link
@given(y=labels, g=st.one_of(latents, st.sampled_from(FAR)), weight=weights)
def test_a_weight_multiplies_every_slope(name, y, g, weight):
    once, often = slopes(ONE_LATENT[name], y, g), slopes(ONE_LATENT[name], y, g, weight)
    np.testing.assert_allclose(often, weight * np.array(once), rtol=1e-14)


@each_link
@given(y=labels, g=st.one_of(latents, st.floats(-1e8, 1e8)))
def test_the_log_probability_is_concave(name, y, g):
    _, curvature, _ = slopes(ONE_LATENT[name], y, g)
    assert 0 <= curvature <= 1 + 1e-9


@each_choice
@given(g=st.one_of(latents, st.floats(-1e8, 1e8)))
def test_probabilities_of_the_two_labels_sum_to_one(link, g):
    assert link.probability(g) + link.probability(-g) == pytest.approx(1.0, rel=1e-15)


@each_choice
@given(y=labels, g=latents)
def test_the_log_probability_is_the_logarithm_of_the_probability(link, y, g):
    log_p = link.log_probability(y, g, 1.0)
    assert np.exp(log_p) == pytest.approx(link.probability(y * g), rel=1e-12)


@each_choice
@given(y=labels, g=latents, weight=weights)
def test_a_weight_multiplies_the_log_probability(link, y, g, weight):
    once = link.log_probability(y, g, 1.0)
    assert link.log_probability(y, g, weight) == pytest.approx(weight * once, rel=1e-14)


@each_choice
@given(g=latents)
def test_swapping_the_labels_turns_the_latent_around(link, g):
    one, other = slopes(link, 1.0, g), slopes(link, -1.0, -g)
    assert one == [-other[0], other[1], -other[2]]


@each_choice
def test_on_its_scale_a_link_is_close_to_the_probit(link):
    g = np.linspace(-30, 30, 10_001)
    assert np.abs(ndtr(link.scale * g) - link.probability(g)).max() < 0.02


def test_the_logistic_is_put_on_the_probits_scale_by_their_slopes_at_zero():
    step = 1e-6
    assert ndtr(LOGISTIC.scale * step) - 0.5 == pytest.approx(expit(step) - 0.5, rel=1e-9)


@pytest.mark.parametrize("y", [-1.0, 1.0])
@each_link
def test_far_out_everything_stays_finite(name, y):
    link, y = ONE_LATENT[name], np.full(len(FAR), y)
    there = link.slopes(y, FAR, np.ones(len(FAR)))
    seen = [there.gradient, there.weight, there.third, link.log_probability(y, FAR, np.ones(1))]
    assert np.isfinite(seen).all()


def test_far_on_the_wrong_side_the_probit_is_a_parabola():
    t = FAR[FAR < -50]
    there = PROBIT.slopes(np.ones(len(t)), t, np.ones(len(t)))
    u = 1 / t**2  # the asymptotic series of the Mills ratio
    np.testing.assert_allclose(there.gradient, -t * (1 + u * (1 - u * (2 - 10 * u))), rtol=1e-11)
    np.testing.assert_allclose(there.weight, 1 - u * (1 - u * (6 - 50 * u)), atol=1e-11)
    np.testing.assert_allclose(there.third, -2 / t**3 * (1 - u * (12 - 150 * u)), atol=1e-10)


def test_far_on_the_wrong_side_the_logistic_is_a_line():
    t = FAR[FAR < -50]
    there = LOGISTIC.slopes(np.ones(len(t)), t, np.ones(len(t)))
    np.testing.assert_allclose(there.gradient, 1.0, rtol=1e-15)
    np.testing.assert_allclose([there.weight, there.third], 0.0, atol=1e-20)
    np.testing.assert_allclose(LOGISTIC.log_probability(1.0, t, 1.0), t, rtol=1e-15)


@each_choice
def test_far_on_the_right_side_a_label_is_no_surprise(link):
    t = FAR[FAR > 50]
    there = link.slopes(np.ones(len(t)), t, np.ones(len(t)))
    np.testing.assert_allclose([there.gradient, there.weight, there.third], 0.0, atol=1e-20)
    np.testing.assert_allclose(link.log_probability(1.0, t, 1.0), 0.0, atol=1e-20)


def test_rows_near_and_far_do_not_disturb_each_other():
    g = np.array([0.3, -2e4, -3.0])
    together = PROBIT.slopes(np.ones(3), g, np.ones(3))
    alone = np.transpose([slopes(PROBIT, 1.0, t) for t in g])
    assert np.array_equal([together.gradient, together.weight, together.third], alone)


@given(g=st.floats(-1e3, 1e3), y=st.floats(-1e3, 1e3), weight=st.floats(1e-6, 1e6))
def test_the_identity_curves_alike_everywhere(g, y, weight):
    assert slopes(IDENTITY, y, g, weight) == [weight * (y - g), weight, 0.0]


def test_the_identity_is_read_by_the_scores_as_a_probit():
    g = np.linspace(-5, 5, 11)
    assert np.array_equal(IDENTITY.probability(g), PROBIT.probability(g))


@st.composite
def softmax_latents(draw):
    shape = (draw(st.integers(1, 2)), draw(st.integers(2, 5)), draw(st.integers(1, 4)))
    return draw(arrays(float, shape, elements=st.one_of(latents, st.floats(-1e8, 1e8))))


@given(softmax_latents())
def test_softmax_probabilities_sum_to_one_over_the_classes(g):
    np.testing.assert_allclose(SOFTMAX.probability(g).sum(axis=-2), 1.0, rtol=1e-14)


@given(softmax_latents(), st.data(), weights)
def test_softmax_log_probability_is_that_of_the_label_seen(g, data, weight):
    C, n = g.shape[-2:]
    seen = data.draw(arrays(int, n, elements=st.integers(0, C - 1)))
    log_p = SOFTMAX.log_probability(np.eye(C)[:, seen], g, weight)
    p = SOFTMAX.probability(g)[:, seen, np.arange(n)]
    assert np.isfinite(log_p).all()
    np.testing.assert_allclose(np.exp(log_p / weight).reshape(p.shape), p, rtol=1e-10, atol=1e-300)


def test_softmax_members_of_a_stack_keep_to_their_own_weights():
    y, g = np.eye(2)[None], np.zeros((3, 2, 2))
    weight = np.array([1.0, 2.0, 4.0]).reshape(3, 1, 1) * np.ones((1, 1, 2))
    log_p = SOFTMAX.log_probability(y, g, weight)
    np.testing.assert_allclose(log_p.reshape(3, 2), weight[:, 0] * np.log(0.5))


@given(g=latents)
def test_a_softmax_over_two_labels_is_the_logistic_of_their_difference(g):
    p = SOFTMAX.probability(np.array([[0.0], [g]]))[1, 0]
    assert p == pytest.approx(LOGISTIC.probability(g), rel=1e-13)


def test_the_log_probability_of_labels_is_a_sum_and_that_of_a_softmax_curves_within_a_row():
    rng = np.random.default_rng(0)
    g, y = rng.normal(size=4), np.array([1.0, -1.0, -1.0, 1.0])
    product = np.prod(PROBIT.probability(y * g))
    total = PROBIT.log_probability(y, g, np.ones(4)).sum()
    assert total == pytest.approx(np.log(product))

    latents, step = rng.normal(size=(3, 2)), 1e-4  # three labels, two rows
    seen = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    pi = SOFTMAX.probability(latents)

    def height(place, a, other, b):
        moved = latents.copy()
        moved[place] += a
        moved[other] += b
        return SOFTMAX.log_probability(seen, moved, np.ones(2)).sum()

    for label, row, other, line in np.ndindex(3, 2, 3, 2):
        pairs = [(a, b) for a in (step, -step) for b in (step, -step)]
        heights = [np.sign(a * b) * height((label, row), a, (other, line), b) for a, b in pairs]
        expected = (pi[label, row] * (label == other) - pi[label, row] * pi[other, row]) * (
            row == line
        )
        assert -sum(heights) / (4 * step**2) == pytest.approx(expected, abs=1e-6)
