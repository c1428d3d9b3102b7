import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import norm

from possibal.theory.families import Density, DiscreteFamily, Estimate, GaussianNoise
from possibal.theory.finite import FinitePossibility
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.interval import Interval
from possibal.theory.outer_measure import OuterMeasure

NOISE = GaussianNoise(0.5)
PROBIT = DiscreteFamily((-1, 1), lambda theta: [log_ndtr(-theta), log_ndtr(theta)])
LINE = GaussianPossibility(0.0, 1.0)
PLANE = GaussianPossibility([0.0, 0.0], np.eye(2))


def test_mass_far_in_the_tail_keeps_its_digits():
    tail = GaussianNoise(1.0).log_mass(Interval(40, 41), 0.0)
    assert tail == pytest.approx(float(norm.logsf(40)), rel=1e-12)
    assert GaussianNoise(1.0).log_mass(Interval(3, 3), 0.0) == -np.inf
    assert GaussianNoise(1.0).log_mass(Interval(low=-1, along=-1), 0.0) == pytest.approx(
        float(norm.logcdf(1))
    )


def test_a_density_on_a_stretch_has_no_mass_elsewhere():
    waiting = Density(lambda y, rate: np.log(rate) - rate * y, low=0.0)
    assert waiting.log_mass(Interval(-2, -1), 1.0) == -np.inf
    assert waiting.log_mass(Interval(-2, 1), 1.0) == pytest.approx(np.log(-np.expm1(-1)))
    nowhere = Density(lambda y, _: -np.inf if y < 1 else -y, low=0.0)
    assert nowhere.log_mass(Interval(0, 0.5), 1.0) == -np.inf


def test_an_estimate_without_an_error_is_exact():
    assert Estimate(0.3).error == 0.0


# ---------------------------------------------------------------- errors

SENTENCES = [
    (lambda: GaussianNoise(0.0), "variance must be positive; got 0 at the only entry. Without"),
    (
        lambda: GaussianNoise([1.0, 2.0]),
        "variance must be one number for all coordinates; got shape (2,). Rescale theta first.",
    ),
    (
        lambda: OuterMeasure(LINE, DiscreteFamily((0, 1), lambda _: 0.0)).outcome(0),
        "log_probability must give 2 logarithms of probabilities that sum to one; got shape (1,)",
    ),
    (
        lambda: OuterMeasure(FinitePossibility([[1.0]]), NOISE).uncertainty_outcome(),
        "possibility must be a vector; got shape (1, 2).",
    ),
    (
        lambda: OuterMeasure(LINE, PROBIT).outcome(3),
        "outcomes must be among [-1, 1]; got 3.",
    ),
    (
        lambda: OuterMeasure(LINE, DiscreteFamily((0, 1), lambda _: [-1.0, -1.0])).outcome(0),
        "log_probability must give 2 logarithms of probabilities that sum to one; got shape (2,) a",
    ),
    (
        lambda: OuterMeasure(LINE, DiscreteFamily((0, 1), lambda _: [0.0])).outcome(0),
        "log_probability must give 2 logarithms of probabilities that sum to one; got shape (1,)",
    ),
    (
        lambda: OuterMeasure(PLANE, NOISE).credibility(outcomes=Interval(0, 1)),
        "theta must be a number where outcomes are an Interval; got 2 entries. Use the marginal",
    ),
    (
        lambda: OuterMeasure(GaussianPossibility(0.0, precision=0.0), PROBIT).outcome(1),
        "possibility must fall off or have a bounded support to be searched; got precision 0 on",
    ),
]


@pytest.mark.parametrize(("act", "sentence"), SENTENCES)
def test_a_bad_argument_gets_one_clear_sentence(act, sentence):
    with pytest.raises(ValueError, match=r"must .*; got") as caught:
        act()
    assert str(caught.value).startswith(sentence)


KINDS = [
    (
        lambda: OuterMeasure(LINE, PROBIT).credibility(None, 1),
        "outcomes must be a collection of names; got 1. Write a list of some of [-1, 1].",
    ),
    (
        lambda: OuterMeasure(LINE, PROBIT).credibility(None, "no"),
        "outcomes must be a collection of names; got 'no'. Write a list of some of [-1, 1].",
    ),
    (
        lambda: OuterMeasure(LINE, PROBIT).credibility(None, Interval(0, 1)),
        "outcomes must be a collection of names; got an Interval. Write a list of some of",
    ),
    (
        lambda: OuterMeasure(LINE, NOISE).credibility(None, [1, 2]),
        "outcomes must be an Interval where they are numbers; got [1, 2]. Write Interval(low,",
    ),
    (
        lambda: OuterMeasure(LINE, Density(norm.logpdf)).credibility(None, 1),
        "outcomes must be an Interval where they are numbers; got 1. Write Interval(low, high).",
    ),
]


@pytest.mark.parametrize(("act", "sentence"), KINDS)
def test_outcomes_of_another_kind_get_one_clear_sentence(act, sentence):
    with pytest.raises(TypeError, match=r"must .*; got") as caught:
        act()
    assert str(caught.value).startswith(sentence)
