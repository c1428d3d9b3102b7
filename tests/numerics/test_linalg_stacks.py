from threading import Barrier, Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from possibal.numerics.linalg import each_times, factor, one_thread, product


@st.composite
def stacks(draw):
    """Symmetric positive definite matrices, (S, n, n), each on a scale of its own."""
    members, n = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    root = rng.normal(size=(members, n, n + 2))
    scale = 10.0 ** rng.uniform(-6, 6, size=(members, 1, 1))
    return scale * (root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(n))


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@given(stacks())
def test_factors_are_lower_triangular_and_give_the_matrices_back(stack):
    found = factor(stack, "kernel")
    assert np.array_equal(found.chol, np.tril(found.chol))
    np.testing.assert_allclose(found.chol @ np.swapaxes(found.chol, 1, 2), stack, rtol=1e-9)
    assert not found.jitter.any()


@given(stacks())
def test_factors_are_those_of_numpy(stack):
    scale = np.sqrt(stack.max())
    np.testing.assert_allclose(
        factor(stack, "kernel").chol, np.linalg.cholesky(stack), rtol=1e-9, atol=1e-12 * scale
    )


@given(stacks())
def test_solve_agrees_with_numpy(stack):
    b = np.random.default_rng(0).normal(size=stack.shape[:2])
    exact = np.linalg.solve(stack, b[..., None])[..., 0]
    for x, right in zip(factor(stack, "kernel").solve(b), exact, strict=True):
        np.testing.assert_allclose(x, right, rtol=1e-9, atol=1e-10 * np.abs(right).max())


@given(stacks())
def test_inverse_agrees_with_numpy_and_is_symmetric(stack):
    inverse = factor(stack, "kernel").inverse()
    assert np.array_equal(inverse, np.swapaxes(inverse, 1, 2))
    for one, right in zip(inverse, np.linalg.inv(stack), strict=True):
        np.testing.assert_allclose(one, right, rtol=1e-9, atol=1e-10 * np.abs(right).max())


@given(stacks())
def test_inverse_factor_is_the_inverse_of_the_factor(stack):
    found = factor(stack, "kernel")
    inverse = found.inverse_factor()
    assert np.array_equal(inverse, np.tril(inverse))
    identity = np.broadcast_to(np.eye(stack.shape[1]), stack.shape)
    np.testing.assert_allclose(inverse @ found.chol, identity, atol=1e-10)


@given(stacks())
def test_half_log_determinant_agrees_with_numpy(stack):
    half = factor(stack, "kernel").half_log_determinant
    np.testing.assert_allclose(half, 0.5 * np.linalg.slogdet(stack)[1], rtol=1e-10, atol=1e-10)


@settings(max_examples=25)
@given(stacks())
def test_a_stack_is_its_members_one_by_one(stack):
    together = factor(stack, "kernel").chol
    assert np.array_equal(together, [factor(one[None], "kernel").chol[0] for one in stack])


@given(stacks())
def test_a_part_has_the_factors_asked_for(stack):
    whole, some = factor(stack, "kernel"), np.array([len(stack) - 1, 0])
    part = whole.part(some)
    assert np.array_equal(part.chol, whole.chol[some])
    assert np.array_equal(part.jitter, whole.jitter[some])


@given(stacks(), st.integers(1, 3))
def test_a_shared_matrix_multiplies_the_vector_of_every_process(stack, processes):
    v = np.random.default_rng(0).normal(size=(len(stack), processes, stack.shape[1]))
    exact = np.einsum("sij,spj->spi", stack, v)
    close = {"rtol": 1e-10, "atol": 1e-12 * np.abs(stack).max()}
    np.testing.assert_allclose(product(stack[:, None], v), exact, **close)
    each = np.repeat(stack[:, None], processes, axis=1)
    np.testing.assert_allclose(product(each, v), exact, **close)
    np.testing.assert_allclose(each_times(each, v), exact, **close)


def test_an_argument_is_left_as_it_was():
    stack = np.array([[[4.0, 2.0], [2.0, 3.0]]])
    found = factor(stack, "kernel")
    found.solve(np.ones((1, 2)))
    found.inverse()
    found.inverse_factor()
    assert np.array_equal(stack, [[[4.0, 2.0], [2.0, 3.0]]])
    np.testing.assert_allclose(found.chol @ np.swapaxes(found.chol, 1, 2), stack)


def test_only_the_singular_member_gets_jitter():
    solid = np.array([[2.0, 1.0], [1.0, 2.0]])
    singular = np.array([[0.0, 0.0], [0.0, 3.0]])
    found = factor(np.array([solid, singular, 5 * solid]), "kernel")
    assert found.jitter.tolist() == [0.0, 1e-10, 0.0]
    assert np.array_equal(found.chol[0], factor(solid[None], "kernel").chol[0])
    assert np.array_equal(found.chol[2], factor(5 * solid[None], "kernel").chol[0])
    raised = singular + 1e-10 * 1.5 * np.eye(2)
    np.testing.assert_allclose(found.chol[1] @ found.chol[1].T, raised, rtol=1e-12)


@given(share=st.floats(1e-9, 5e-3))
def test_jitter_is_the_smallest_power_of_ten_that_helps(share):
    bent = np.diag([1.0, 1.0, -share])  # its mean diagonal is close to two thirds
    jitter = factor(bent[None], "kernel").jitter[0]
    mean = np.trace(bent) / 3
    assert jitter * mean > share >= 0.099 * jitter * mean


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_jitter_is_a_share_of_the_matrix_itself(scale):
    found = factor(scale * np.diag([1.0, 0.0])[None], "kernel")
    assert found.jitter[0] == 1e-10


def test_an_indefinite_matrix_is_refused_with_the_name_of_what_gave_it():
    bad = np.array([[[1.0, 2.0], [2.0, 1.0]]])
    sentence = (
        r"kernel RBF\(1\) must give positive semi-definite matrices; got one that stays indefinite "
        r"with a jitter of 1e-02\. Make the kernel's amplitude smaller or its noise larger\."
    )
    with pytest.raises(ValueError, match=sentence):
        factor(bad, "kernel RBF(1)")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_is_refused(bad):
    with pytest.raises(ValueError, match="must give positive semi-definite matrices"):
        factor(np.array([[[1.0, 0.0], [0.0, bad]]]), "kernel")


def test_matrices_without_rows_have_factors_too():
    found = factor(np.empty((2, 0, 0)), "kernel")
    assert found.chol.shape == found.inverse().shape == found.inverse_factor().shape == (2, 0, 0)
    assert found.solve(np.empty((2, 0))).shape == (2, 0)
    assert found.half_log_determinant.tolist() == [0.0, 0.0]


def test_one_thread_holds_inside_and_the_old_number_comes_back():
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = blas_threads()
        with one_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_the_old_number_comes_back_after_an_error():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert blas_threads() == before


def test_threads_that_overlap_leave_the_number_of_threads_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        before = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
        meeting = Barrier(4)

        def work():
            for _ in range(20):
                with one_thread():
                    meeting.wait()

        threads = [Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert after == before
