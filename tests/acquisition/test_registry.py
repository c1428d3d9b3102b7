import numpy as np
import pytest
from support.pools import LOCAL, CountingPosterior

from possibal import acquisition
from possibal.acquisition.registry import STRATEGIES, find_strategy, pick, utilities
from possibal.acquisition.strategy import View


def test_the_lowest_of_several_best_rows_is_picked():
    view = View(CountingPosterior(), np.zeros((4, 1)))
    assert pick(view, lambda _: np.array([0.0, 2.0, 1.0, 2.0])) == 1
    assert pick(view, lambda _: np.array([False, False, True, True])) == 2
    assert pick(view, lambda _: [-np.inf, -3, -np.inf, -3]) == 1


@pytest.mark.parametrize("kind", [bool, np.uint8, int, np.float32])
def test_utilities_can_be_turned_round_whatever_numbers_a_strategy_gives(kind):
    view = View(CountingPosterior(), np.zeros((3, 1)))
    given = utilities(view, lambda _: np.array([0, 1, 1], dtype=kind))
    assert (-given).tolist() == [0.0, -1.0, -1.0]


class Odd:
    """A strategy without a name."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, _):
        return self.answer


def test_utilities_that_are_none_are_refused_with_the_name_of_the_strategy():
    def broken(view):
        return np.where(np.arange(len(view.candidates)) == 2, np.nan, 1.0)

    view = View(CountingPosterior(), np.zeros((4, 1)))
    with pytest.raises(ValueError, match="strategy broken must give numbers; got NaN at row 2"):
        pick(view, broken)
    with pytest.raises(ValueError, match=r"strategy Odd must give one .* 4; got shape \(3,\)"):
        pick(view, Odd(np.ones(3)))
    with pytest.raises(ValueError, match=r"got shape .* of <U1"):
        pick(view, Odd(["a"] * 4))


@pytest.mark.parametrize("name", [*LOCAL, "random"])
def test_a_strategy_reads_a_view(name):
    view = View(CountingPosterior(), np.array([[3.0], [0.1], [-2.0]]), np.random.default_rng(0))
    utilities = STRATEGIES[name](view)
    assert utilities.shape == (3,)
    if name not in ("random", "latent_entropy"):
        assert utilities.argmax() == 1


def test_the_random_strategy_draws_from_the_generator_it_is_given():
    draws = [acquisition.random([0, 0], [1, 1], rng=np.random.default_rng(7)) for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    with pytest.raises(TypeError, match="rng must be a numpy Generator; got NoneType"):
        acquisition.random([0, 0], [1, 1])


def test_every_strategy_says_in_a_sentence_what_it_asks():
    for strategy in STRATEGIES.values():
        first = strategy.__doc__.splitlines()[0]
        assert first.startswith("Asks ")
        assert first.endswith(".")


def test_a_strategy_is_found_by_its_name_or_made_of_a_function():
    assert find_strategy("herding") is STRATEGIES["herding"]
    assert find_strategy(STRATEGIES["herding"]) is STRATEGIES["herding"]
    assert find_strategy(lambda mean, variance: mean + variance)([1.0], [2.0]).tolist() == [3.0]
    with pytest.raises(ValueError, match=r"^strategy must be one of .* Did you mean 'herding'\?$"):
        find_strategy("hurding")
