import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from possibal.theory.finite import FinitePossibility
from possibal.theory.gaussian import GaussianPossibility

COUPLED = GaussianPossibility([0.5, -1.0], [[2.0, 0.8], [0.8, 1.0]])
WEATHER = FinitePossibility(
    np.array([[1.0, 0.3, 0.0], [0.6, 0.9, 0.1]]), (("calm", "storm"), ("dry", "rain", "snow"))
)

finite_values = arrays(
    float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.sampled_from([0, 0.2, 0.7])
).map(lambda v: np.where(np.arange(v.size).reshape(v.shape) == v.argmax(), 1.0, v))
finites = finite_values.map(FinitePossibility)


@given(finites)
def test_a_finite_function_is_one_at_every_mode(f):
    assert {f(point) for point in f.mode} == {1.0}
    assert f.possibility(lambda _: True) == 1.0
    assert f.necessity(lambda _: True) == 1.0
    assert f.possibility([]) == 0.0
    assert f.necessity([]) == 0.0


@given(finites)
def test_marginals_conditionals_and_products_of_finite_functions_still_reach_one(f):
    row = f.mode[0][0]
    for g in (f.marginal(0), f.marginal([1, 0]), f.condition({0: row}), f.map(str)):
        assert g.values.max() == 1.0
    assert f.marginal(0).independent(f.marginal(1)).values.max() == 1.0


@given(finites)
def test_a_finite_joint_is_the_conditional_times_the_marginal(f):
    row = f.mode[0][0]
    np.testing.assert_allclose(
        f.values[row], f.condition({0: row}).values * f.marginal(0)(row), atol=1e-15
    )


@given(finites, finites)
def test_a_finite_product_has_its_factors_as_marginals(f, g):
    joint = f.independent(g)
    np.testing.assert_allclose(joint.marginal([0, 1]).values, f.values)
    np.testing.assert_allclose(joint.marginal([3, 2]).values, g.values.T)


@given(finites, st.integers(0, 3))
def test_finite_necessity_is_one_minus_the_possibility_of_the_rest(f, row):
    holds = f.mask(lambda p: p[0] == row)
    assert f.necessity(lambda p: p[0] == row) == 1 - f.possibility(lambda p: p[0] != row)
    assert holds.shape == f.values.shape


@given(st.floats(1 - 1e-9, 1 + 1e-9), st.floats(0, 1))
def test_values_within_rounding_of_one_are_scaled_to_reach_it(largest, other):
    f = FinitePossibility([largest, min(other, largest)])
    assert f.possibility([0]) == 1.0
    assert f.possibility([1]) <= 1.0
    assert f.necessity([1]) == 0.0
    assert f.necessity([0]) >= 0.0


def test_points_are_named_on_each_axis():
    assert WEATHER.mode == (("calm", "dry"),)
    assert WEATHER(("storm", "rain")) == 0.9
    assert WEATHER.marginal(0).mode == ("calm",)
    assert WEATHER.marginal(1)("snow") == 0.1
    assert WEATHER.possibility([("storm", "snow"), ("calm", "rain")]) == 0.3
    assert WEATHER.necessity(lambda p: p[1] != "snow") == 0.9
    np.testing.assert_allclose(WEATHER.condition({0: "storm"}).values, [2 / 3, 1.0, 1 / 9])
    assert WEATHER.volume() == pytest.approx(2.9)
    assert WEATHER.volume(cell=0.5) == pytest.approx(1.45)


def test_the_mode_may_be_a_set():
    assert FinitePossibility([0.2, 1.0, 1.0]).mode == (1, 2)


def test_a_map_takes_the_supremum_and_gives_zero_to_what_it_never_reaches():
    f = FinitePossibility([0.2, 1.0, 0.7], ((-1, 0, 1),)).map(abs)
    assert set(f.points) == {0, 1}
    assert f(1) == 0.7
    assert f(2) == 0.0


def test_from_log_scales_to_one_and_knows_the_impossible():
    f = FinitePossibility.from_log([-1000.0, -1001.0, -np.inf], (("a", "b", "c"),))
    np.testing.assert_allclose(f.values, [1.0, np.exp(-1), 0.0])


def test_a_grid_sees_the_volume_of_a_gaussian():
    axis = np.linspace(-10, 10, 201)
    f = FinitePossibility.on_grid([axis, axis], COUPLED.log)
    assert f.mode == ((0.5, -1.0),)
    assert f.volume(cell=0.1**2) == pytest.approx(COUPLED.volume(), rel=1e-6)


def test_finite_values_are_copied_and_read_only():
    values = np.array([1.0, 0.5])
    f = FinitePossibility(values)
    values[1] = 0.9
    assert f(1) == 0.5
    with pytest.raises(ValueError, match="read-only"):
        f.values[1] = 0.2


@given(finites)
def test_the_mode_of_any_finite_map_is_the_image_of_the_mode(f):
    def fold(point):
        return (point[0] * 3 + point[1]) % 4

    assert set(f.map(fold).mode) == {fold(point) for point in f.mode}


def test_a1_needs_a_measure_without_atoms():
    known = FinitePossibility([0, 1, 0])
    assert known.volume() == 1.0
    assert known.volume(cell=0.5) - 0.5 == 0.0


@given(finite_values)
def test_a4_strict_raising_one_point_raises_a_finite_volume(values):
    low = np.flatnonzero(values < 1)
    if low.size:
        raised = values.copy()
        raised.flat[low[0]] += 0.1
        assert FinitePossibility(raised).volume() > FinitePossibility(values).volume()


# ---------------------------------------------------------------- errors

SENTENCES = [
    (
        lambda: FinitePossibility([0.5, 0.2]),
        "values must lie in [0, 1] and reach 1; got [0.5 0.2]. Divide them by their maximum.",
    ),
    (lambda: FinitePossibility([1.0, -0.2]), "values must lie in [0, 1] and reach 1; got"),
    (lambda: FinitePossibility([]), "values must lie in [0, 1] and reach 1; got []."),
    (
        lambda: FinitePossibility([1.0, 0.2], (("a", "a"),)),
        "names must give distinct points for each axis of values, (2,); got (1,).",
    ),
    (
        lambda: FinitePossibility.from_log([-np.inf, -np.inf]),
        "log_values must have a finite maximum; got -inf. Some point must be possible.",
    ),
    (
        lambda: FinitePossibility.from_log([0.0, np.nan]),
        "log_values must have a finite maximum; got nan.",
    ),
    (
        lambda: WEATHER.condition({0: "fog"}),
        "given must name points of the set; got 'fog' for axis 0.",
    ),
    (
        lambda: FinitePossibility([[1.0, 0.0], [0.5, 0.0]]).condition({1: 1}),
        "given must be possible; got {1: 1} of possibility 0. What is impossible is not known.",
    ),
    (lambda: WEATHER.condition({0: "calm", 1: "dry"}), "given must leave at least one axis; got"),
    (lambda: WEATHER.volume(cell=0), "cell must be positive; got 0 at the only entry. Pass"),
    (lambda: WEATHER.volume([1, 2]), "cell must be one number; got shape (2,). Pass the product"),
    (
        lambda: FinitePossibility.on_grid([], COUPLED.log),
        "axes must hold at least one axis; got none. Write [axis].",
    ),
    (
        lambda: FinitePossibility.on_grid([[1, 2]], lambda _: 0.0),
        "log_f must give one number per point of the grid, shape (2,); got shape (). Let it take",
    ),
    (
        lambda: FinitePossibility.on_grid([[1, 2], [3, 4, 5]], lambda points: points),
        "log_f must give one number per point of the grid, shape (2, 3); got shape (2, 3, 2). Let",
    ),
]


@pytest.mark.parametrize(("act", "sentence"), SENTENCES)
def test_a_bad_argument_gets_one_clear_sentence(act, sentence):
    with pytest.raises(ValueError, match=r"must .*; got") as caught:
        act()
    assert str(caught.value).startswith(sentence)


def test_a_text_is_not_a_subset():
    with pytest.raises(TypeError, match=r"subset must be .*; got the text 'dry'. Write \['dry'\]"):
        WEATHER.marginal(1).possibility("dry")


KINDS = [
    (
        lambda: FinitePossibility([1.0, 0.5]).possibility(1),
        "subset must be points or a function of a point; got 1. Write [1].",
    ),
    (
        lambda: WEATHER.possibility([["calm", "dry"]]),
        "subset must hold points that can be hashed; got [['calm', 'dry']]. Write a point of",
    ),
    (
        lambda: WEATHER.map(list),
        "T must give points that can be hashed; got ['calm', 'dry'] at ('calm', 'dry'). Return",
    ),
    (lambda: WEATHER.condition([1]), "given must map axes to points; got list. Write {0: point}"),
]


@pytest.mark.parametrize(("act", "sentence"), KINDS)
def test_an_argument_of_another_kind_gets_one_clear_sentence(act, sentence):
    with pytest.raises(TypeError, match=r"must .*; got") as caught:
        act()
    assert str(caught.value).startswith(sentence)
