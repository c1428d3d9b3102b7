from types import SimpleNamespace

import numpy as np
import pytest

from possibal import Belief, acquisition
from possibal.acquisition.label_possibility import possibility
from possibal.belief import ProbabilityBelief


def test_plain_moments_are_one_hypothesis():
    belief = Belief.of([1, 2], [3, 4])
    np.testing.assert_array_equal(belief.mean, [[1.0, 2.0]])
    assert belief.credibility.tolist() == [1.0]
    assert len(belief) == 2
    assert belief.is_binary
    assert belief.labels == 2


def test_columns_are_labels():
    belief = Belief.of(np.zeros((5, 3)), np.ones((5, 3)))
    assert (len(belief), belief.labels, belief.is_binary) == (5, 3, False)


def test_a_belief_or_its_carrier_is_taken_as_it_is():
    belief = Belief.of([0.0], [1.0])
    assert Belief.of(belief) is belief
    assert Belief.of(SimpleNamespace(belief=belief)) is belief


def test_arrays_inside_cannot_be_changed():
    mean = np.zeros(3)
    belief = Belief.of(mean, np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        belief.mean[0] = 1
    mean[0] = np.nan  # the caller's own array stays writable, and is no longer ours
    assert belief.mean[0, 0] == 0


def test_weights_sum_to_one_and_the_first_of_the_most_credible_leads():
    belief = Belief(np.zeros((3, 2)), np.ones((3, 2)), np.array([0.5, 1.0, 1.0]))
    np.testing.assert_allclose(belief.weight, [0.2, 0.4, 0.4])
    assert belief.leading == 1


def test_a_part_has_the_rows_asked_for():
    belief = Belief.of(np.arange(5.0), np.ones(5)).part(slice(1, 3))
    np.testing.assert_array_equal(belief.mean, [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("mean", "variance", "credibility", "message"),
    [
        (np.zeros((2, 3)), np.ones((2, 3)), [1.0, 2.0], "credibility must lie in"),
        (np.zeros((2, 3)), np.ones((2, 3)), [0.5, 0.6], "credibility must lie in"),
        (np.zeros((2, 3)), np.ones((2, 3)), [1.0, -0.1], "credibility must lie in"),
        (np.zeros((0, 3)), np.ones((0, 3)), [], "credibility must lie in"),
        (np.zeros((2, 3)), np.ones((2, 3)), [1.0], "mean and variance must have shape"),
        (np.zeros((1, 3)), np.ones((1, 4)), [1.0], "mean and variance must have shape"),
        (np.zeros(3), np.ones(3), [1.0], "Belief.of"),
        (np.zeros((1, 3)), np.full((1, 3), -1.0), [1.0], "variance must be zero or more; got -1"),
        (
            np.zeros((1, 3)),
            np.full((1, 3), np.nan),
            [1.0],
            "variance must be zero or more; got nan",
        ),
        (np.full((1, 3), np.nan), np.ones((1, 3)), [1.0], "mean must be finite"),
        (np.zeros((1, 3, 1)), np.ones((1, 3, 1)), [1.0], "at least 2 columns"),
    ],
)
def test_what_is_no_belief_is_refused(mean, variance, credibility, message):
    with pytest.raises(ValueError, match=message):
        Belief(mean, variance, credibility)


def test_a_credibility_within_rounding_of_one_becomes_one():
    assert Belief([[0.0]], [[1.0]], [1 + 9e-10]).credibility.tolist() == [1.0]


def test_a_fault_is_found_in_its_hypothesis_and_row():
    mean = np.zeros((2, 3))
    mean[1, 1] = np.nan
    with pytest.raises(ValueError, match="mean must be finite; got NaN at row 1"):
        Belief(mean, np.ones((2, 3)), [1.0, 1.0])
    variance = np.ones((2, 3))
    variance[1, 2] = -1
    with pytest.raises(ValueError, match=r"got -1 at row 2\..* This is in hypothesis 1\."):
        Belief(np.zeros((2, 3)), variance, [1.0, 1.0])


@pytest.mark.parametrize("variance", [0.0, np.inf])
def test_a_known_point_and_ignorance_are_beliefs(variance):
    for belief in (Belief.of([0.0, 1.0], [1.0, variance]), Belief.borrowed([0.0], [variance])):
        assert belief.is_limit
        assert belief.part(slice(0, 0)).is_limit is False
    assert not Belief.of([0.0, 1.0], [1.0, variance]).part(slice(0, 1)).is_limit
    assert Belief([[0.0]], [[variance]], [1.0]).is_limit
    assert not Belief.of([0.0], [1.0]).is_limit


def test_hypotheses_that_are_ruled_out_can_be_left_out():
    belief = Belief([[0.0], [1.0]], [[1.0], [np.inf]], [1.0, 0.0]).credible()
    assert (belief.mean.tolist(), belief.credibility.tolist()) == ([[0.0]], [1.0])
    assert not belief.is_limit


def test_moments_come_in_pairs():
    with pytest.raises(TypeError, match="variance must be given"):
        Belief.of([0.0])
    with pytest.raises(TypeError, match="variance must be left out"):
        Belief.of(Belief.of([0.0], [1.0]), [1.0])


def test_probabilities_alone_are_read_by_scores_of_probabilities_and_by_no_others():
    p = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    belief = ProbabilityBelief.of_probabilities(p, "a forest")
    assert len(belief) == 2
    np.testing.assert_allclose(acquisition.margin(belief), [0.8, 0.0], atol=1e-12)
    np.testing.assert_allclose(acquisition.least_confidence(belief), [0.5, 0.0], atol=1e-12)
    expected = [-(p[0] * np.log(p[0])).sum(), 0.0]
    np.testing.assert_allclose(acquisition.entropy(belief), expected, atol=1e-12)
    part = belief.part(slice(1, 2))
    assert isinstance(part, ProbabilityBelief)
    assert part.model == "a forest"
    for score in (acquisition.doubt, acquisition.necessity, acquisition.bald):
        with pytest.raises(TypeError, match=r"^strategy must read probabilities .* is a forest"):
            score(belief)
    with pytest.raises(TypeError, match=r"^belief must tell what is not known; got .*forest"):
        possibility(belief)
