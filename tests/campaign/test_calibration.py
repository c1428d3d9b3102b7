import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import softmax

from possibal.campaign.calibration import (
    LEFT_OUT,
    SPREAD,
    Calibration,
    Outcomes,
    fit_calibration,
)

CHANCES = st.floats(0.0, 1.0)
CHECKS = st.lists(st.tuples(CHANCES, st.booleans()), max_size=40)
LABELS = st.integers(2, 12)


def outcomes(checks) -> Outcomes:
    return Outcomes([one for one, _ in checks], [right for _, right in checks])


def said(checks, labels, left_out=()) -> Calibration:
    return fit_calibration(outcomes(checks), outcomes(left_out), labels)


def reference(checks, labels, left_out=()) -> float:
    """The posterior mean of log b by quadrature, from the definition."""

    def density(log_b):
        value = np.exp(-0.5 * (log_b / SPREAD) ** 2)
        weighed = [*((one, 1.0) for one in checks), *((one, LEFT_OUT) for one in left_out)]
        for (chance, is_right), weight in weighed:
            odds = (chance / ((1 - chance) / (labels - 1))) ** np.exp(log_b)
            right = odds / (odds + labels - 1)
            value *= (right if is_right else 1 - right) ** weight
        return value

    whole, _ = quad(density, -2.8, 2.8)
    mean, _ = quad(lambda log_b: log_b * density(log_b), -2.8, 2.8)
    return np.exp(mean / whole)


@pytest.mark.parametrize("labels", [2, 5])
def test_the_sharpness_is_its_posterior_mean(labels):
    checks = [(0.9, True), (0.8, False), (0.95, True), (0.7, True), (0.99, False), (0.6, True)]
    assert said(checks, labels).sharpness == pytest.approx(reference(checks, labels), rel=1e-3)
    left_out = [(0.9, False), (0.8, False), (0.7, True)]
    both = said(checks, labels, left_out)
    assert both.sharpness == pytest.approx(reference(checks, labels, left_out), rel=1e-3)
    assert both.sharpness < said(checks, labels).sharpness
    assert both.rows == 6


def test_without_check_rows_a_chance_is_the_models_own():
    known = said([], 2)
    assert known.sharpness == pytest.approx(1.0)
    assert (known.low, known.high) == pytest.approx(
        (Calibration().low, Calibration().high), rel=0.02
    )
    one = known.stated(0.9)
    assert one.value == pytest.approx(0.9)
    assert one.low < 0.75
    assert one.high > 0.95
    assert known.rows == 0


def test_two_labels_are_tempered_as_a_softmax_is():
    known = Calibration(0.4, 0.4, 0.4)
    p = np.array([0.83, 0.17])
    assert known.stated(0.83).value == pytest.approx(softmax(0.4 * np.log(p))[0])


@given(CHECKS, LABELS, CHANCES)
def test_a_stated_chance_lies_in_its_range_and_is_no_worse_than_a_guess(checks, labels, chance):
    one = said(checks, labels).stated(chance)
    assert 1 / labels - 1e-9 <= one.low <= one.value + 1e-9
    assert one.value <= one.high + 1e-9
    assert one.high <= 1.0


@given(CHECKS, LABELS)
def test_a_larger_probability_is_never_a_smaller_chance(checks, labels):
    found = said(checks, labels).chances(np.linspace(0, 1, 50))
    assert np.all(np.diff(found) >= -1e-12)


@given(CHECKS, st.floats(0.5, 1.0))
def test_a_check_row_that_is_right_never_lowers_a_chance(checks, chance):
    more = [*checks, (chance, True)]
    assert said(more, 2).sharpness >= said(checks, 2).sharpness - 1e-9


@pytest.mark.parametrize("true", [0.4, 1.0, 2.0])
def test_many_check_rows_tell_the_sharpness(true):
    rng = np.random.default_rng(3)
    chances = rng.uniform(0.5, 0.999, 4000)
    is_right = rng.random(4000) < Calibration(true, true, true).chances(chances)
    known = fit_calibration(Outcomes(chances, is_right), Outcomes(), 2)
    assert known.low <= true <= known.high
    assert known.high < 1.25 * known.low
    assert known.rows == 4000
