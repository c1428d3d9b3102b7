import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, rosen, rosen_der

from possibal.numerics import batched_bfgs
from possibal.numerics.batched_bfgs import maximize

seeds = st.integers(0, 10_000)


class Hills:
    """Functions of p variables, and how often each member was looked at."""

    def __init__(self, one, members):
        self.one, self.looks = one, np.zeros(members, dtype=int)

    def __call__(self, z, members):
        self.looks[members] += 1
        found = [self.one(place, member) for place, member in zip(z, members, strict=True)]
        return np.array([h for h, _ in found]), np.array([slope for _, slope in found])


def quadratics(seed, members=4, p=3):
    """Concave quadratics with their tops, of curvatures from a third to three."""
    rng = np.random.default_rng(seed)
    tops = rng.normal(size=(members, p))
    turned = [np.linalg.qr(rng.normal(size=(p, p)))[0] for _ in range(members)]
    A = np.array([Q @ np.diag(3.0 ** rng.uniform(-1, 1, p)) @ Q.T for Q in turned])

    def one(z, member):
        slope = A[member] @ (tops[member] - z)
        return -0.5 * (tops[member] - z) @ slope - 5.0 * member, slope

    return Hills(one, members), tops, A


def valley(z, _member):
    return -rosen(z), -rosen_der(z)


def dome(z, member):
    """Smooth, and steeper on one side than on the other."""
    off = z - member
    return -np.sum(np.exp(off) - off), 1.0 - np.exp(off)


def ridge(z, member):
    """Far from any quadratic: the curvature vanishes with the distance."""
    off = z - 0.5 * member
    r = np.sqrt(1.0 + np.array([1.0, 9.0]) * off * off)
    return -np.sum(r), -np.array([1.0, 9.0]) * off / r


def height(one, z, member=0):
    return one(z, member)[0]


# ---------------------------------------------------------------- to the top


@settings(max_examples=30)
@given(seed=seeds, p=st.integers(1, 5))
def test_every_quadratic_is_climbed_to_its_top(seed, p):
    hills, tops, A = quadratics(seed, p=p)
    start = np.random.default_rng(seed + 1).normal(size=tops.shape)
    found = maximize(hills, start)
    # A slope below the level is as far from the top as the flattest curvature allows.
    assert np.abs(A @ (tops - found.z)[:, :, None]).max() <= 1e-3
    np.testing.assert_allclose(found.z, tops, atol=3e-3 * np.sqrt(p))


@pytest.mark.parametrize("one", [valley, dome, ridge], ids=["valley", "dome", "ridge"])
def test_other_functions_are_climbed_as_high_as_scipy_climbs(one):
    start = np.array([[-0.5, 0.8], [1.5, 1.2], [0.3, -0.7]])
    found = maximize(Hills(one, 3), start)
    for member, z in enumerate(start):
        best = minimize(lambda x, m=member: -height(one, x, m), z, method="BFGS")
        assert height(one, found.z[member], member) >= -best.fun - 1e-5
        assert np.abs(one(found.z[member], member)[1]).max() <= 1e-3


def test_a_far_start_is_reached_by_short_steps():
    visited = []

    def one(z, member):
        visited.append(z.copy())
        return dome(z, member)

    found = maximize(Hills(one, 1), np.array([[-9.0, 4.0]]))
    np.testing.assert_allclose(found.z, 0.0, atol=2e-3)
    assert np.linalg.norm(np.diff(visited, axis=0), axis=1).max() < 2.0


def test_the_number_of_steps_is_bounded(monkeypatch):
    monkeypatch.setattr(batched_bfgs, "_STEPS", 3)
    hills = Hills(lambda z, _: (z.sum(), np.ones(2)), 1)  # no top at all
    found = maximize(hills, np.zeros((1, 2)))
    np.testing.assert_allclose(found.z, 3 / np.sqrt(2), rtol=1e-12)
    assert hills.looks[0] == 1 + 3


# ---------------------------------------------------------------- in company


@settings(max_examples=15)
@given(seed=seeds)
def test_each_member_ends_at_the_same_bits_alone_and_in_company(seed):
    hills, tops, _ = quadratics(seed, members=5)
    rng = np.random.default_rng(seed + 1)
    start, order = rng.normal(size=tops.shape), rng.permutation(5)
    together = maximize(hills, start)
    mixed = maximize(lambda z, members: hills(z, order[members]), start[order])
    np.testing.assert_array_equal(mixed.z, together.z[order])
    np.testing.assert_array_equal(mixed.inverse, together.inverse[order])
    for member in range(5):
        some = np.array([member])
        alone = maximize(lambda z, members, some=some: hills(z, some[members]), start[some])
        np.testing.assert_array_equal(alone.z, together.z[some])
        np.testing.assert_array_equal(alone.inverse, together.inverse[some])


def test_a_member_that_is_at_the_top_is_not_looked_at_again():
    hills, tops, _ = quadratics(3, members=3)
    start = tops.copy()
    start[1] += 2.0
    found = maximize(hills, start)
    assert hills.looks[[0, 2]].tolist() == [1, 1]
    assert hills.looks[1] > 2
    np.testing.assert_array_equal(found.z[[0, 2]], tops[[0, 2]])
    np.testing.assert_allclose(found.z[1], tops[1], atol=5e-3)


def test_nobody_writes_into_the_start_or_the_inverse():
    hills, tops, _ = quadratics(3)
    start, inverse = np.zeros_like(tops), np.tile(np.eye(3), (4, 1, 1))
    maximize(hills, start, inverse)
    assert not start.any()
    np.testing.assert_array_equal(inverse, np.tile(np.eye(3), (4, 1, 1)))


# ---------------------------------------------------------------- no way up


def test_a_flat_function_is_left_where_it_is():
    hills = Hills(lambda z, _: (3.0, np.zeros_like(z)), 2)
    start = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = maximize(hills, start)
    np.testing.assert_array_equal(found.z, start)
    np.testing.assert_array_equal(found.inverse, np.tile(np.eye(2), (2, 1, 1)))
    assert hills.looks.tolist() == [1, 1]


def test_a_member_that_cannot_gain_stays_and_the_others_go_on():
    lies = Hills(lambda z, m: dome(z, m) if m else (-np.abs(z).sum(), np.ones(2)), 2)
    found = maximize(lies, np.zeros((2, 2)))
    np.testing.assert_array_equal(found.z[0], 0.0)
    np.testing.assert_array_equal(found.inverse[0], np.eye(2))
    np.testing.assert_allclose(found.z[1], 1.0, atol=2e-3)
    assert lies.looks[0] == 1 + 12  # one step, cut twelve times


def test_a_step_that_overshoots_is_halved_until_it_gains():
    steep = Hills(lambda z, _: (-50.0 * (z @ z), -100.0 * z), 1)
    found = maximize(steep, np.array([[0.3]]))
    np.testing.assert_allclose(found.z, 0.0, atol=1e-5)


def test_no_variables_are_no_trouble():
    hills = Hills(lambda _z, _m: (1.0, np.empty(0)), 2)
    assert maximize(hills, np.empty((2, 0))).z.shape == (2, 0)


# ---------------------------------------------------------------- the inverse


def test_the_inverse_comes_near_that_of_the_hessian():
    hills, tops, A = quadratics(1, p=2)
    found = maximize(hills, tops + np.random.default_rng(0).normal(size=tops.shape))
    error = np.abs(found.inverse @ A - np.eye(2)).max(axis=(1, 2))
    assert np.median(error) < 0.2


def test_the_exact_inverse_leads_to_the_top_of_a_quadratic_at_once():
    hills, tops, A = quadratics(5)
    found = maximize(hills, tops + 0.1, np.linalg.inv(A))
    np.testing.assert_allclose(found.z, tops, rtol=1e-9)
    assert hills.looks.tolist() == [2] * 4


def test_a_warm_inverse_saves_looks():
    cold, tops, _ = quadratics(7, members=20)
    summit = maximize(cold, np.zeros_like(tops))
    moved = Hills(lambda z, m: cold.one(z - 0.3, m), 20)
    maximize(moved, summit.z)
    warm = Hills(moved.one, 20)
    found = maximize(warm, summit.z, summit.inverse)
    np.testing.assert_allclose(found.z, tops + 0.3, atol=6e-3)
    assert warm.looks.sum() < 0.8 * moved.looks.sum()


def test_where_a_function_is_not_curved_the_inverse_is_kept(monkeypatch):
    monkeypatch.setattr(batched_bfgs, "_STEPS", 2)
    found = maximize(Hills(lambda z, _: (z.sum(), np.ones(2)), 1), np.zeros((1, 2)))
    np.testing.assert_array_equal(found.inverse, np.eye(2)[None])
