import numpy as np
import pytest

from possibal.theory.interval import Interval


def test_an_interval_along_a_negative_number_turns_around():
    assert Interval(1, 4, along=-2).ends == (-2.0, -0.5)
    assert Interval(low=1, along=-1).ends == (-np.inf, -1.0)


@pytest.mark.parametrize("one", [1, 1.0, np.float32(1), np.int64(1), np.array(1.0)])
def test_an_end_may_be_any_real_number(one):
    assert Interval(one, 2 * one).ends == (1.0, 2.0)
    assert isinstance(Interval(one).low, float)


# ---------------------------------------------------------------- errors

SENTENCES = [
    (lambda: Interval(2, 1), "low must be at most high, 1; got 2. Swap them."),
    (lambda: Interval(float("nan"), 1), "low must be a number; got nan. Leave it out if"),
    (lambda: Interval(0, np.nan), "high must be a number; got nan. Leave it out if"),
    (
        lambda: Interval(np.inf, np.inf),
        "low and high must have a number between them; got inf for both. Leave out the end",
    ),
    (
        lambda: Interval(-np.inf, -np.inf),
        "low and high must have a number between them; got -inf for both. Leave out the end",
    ),
    (lambda: Interval(0, 1, along=[0, 0]), "along must not be zero; got zeros. Name a direction"),
    (lambda: Interval(0, 1, along=[1, 1]).ends, "along must be a number on the line; got 2 ent"),
]


@pytest.mark.parametrize(("act", "sentence"), SENTENCES)
def test_a_bad_argument_gets_one_clear_sentence(act, sentence):
    with pytest.raises(ValueError, match=r"must .*; got") as caught:
        act()
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("end", ["0", None, [0, 1], np.zeros(1), 1j])
@pytest.mark.parametrize("name", ["low", "high"])
def test_an_end_that_is_no_number_is_refused(name, end):
    with pytest.raises(TypeError) as caught:
        Interval(**{name: end})
    assert str(caught.value).startswith(f"{name} must be one number; got {end!r}. Write Interval(")
