import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr
from support.reference_possibility import tables

from possibal.theory import DiscreteFamily, FinitePossibility, GaussianPossibility, OuterMeasure
from possibal.theory.finite_measures import (
    doubt,
    mutual_information,
    outcome_entropy,
    probability_variance,
)

THETAS = (0.0, 0.2, 0.5, 0.7, 1.0)


def coin(theta):
    with np.errstate(divide="ignore"):
        return np.log([1 - theta, theta])


COIN = DiscreteFamily(("tails", "heads"), coin)
functions = tables(5, elements=st.sampled_from([0, 0.3, 0.8, 1.0])).filter(lambda v: v.max() == 1)


def known(values, thetas=THETAS):
    return OuterMeasure(FinitePossibility(np.array(values), (thetas,)), COIN)


@given(functions)
def test_doubt_is_one_minus_the_necessity_that_the_leading_label_is_the_likelier(values):
    f = FinitePossibility(values, (THETAS,))
    sides = {np.sign(theta - 0.5) for theta in f.mode}
    side = sides.pop()
    expected = 1.0
    if not sides and side:
        expected = f.possibility(lambda theta: side * (theta - 0.5) <= 0)
    assert doubt(known(values)) == pytest.approx(expected)


@given(functions)
def test_measures_of_probability_agree_with_sums_over_all_pairs(values):
    p, q = values / values.sum(), np.array([[1 - t, t] for t in THETAS])
    joint, mean = p[:, None] * q, p @ q
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.nansum(joint * np.log(joint / (p[:, None] * mean)))
        entropy = -np.nansum(mean * np.log(mean))
    assert mutual_information(known(values)) == pytest.approx(information, abs=1e-12)
    assert outcome_entropy(known(values)) == pytest.approx(entropy, abs=1e-12)
    spread = sum(p[i] * np.sum((q[i] - mean) ** 2) for i in range(5))
    assert probability_variance(known(values)) == pytest.approx(spread, abs=1e-12)


def test_a_gaussian_is_refused_with_the_cure():
    probit = DiscreteFamily((-1, 1), lambda theta: [log_ndtr(-theta), log_ndtr(theta)])
    with pytest.raises(TypeError, match="Use FinitePossibility and DiscreteFamily"):
        doubt(OuterMeasure(GaussianPossibility(0.0, 1.0), probit))
