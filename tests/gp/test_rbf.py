import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern
from support.kernel_cases import dense_columns, each_radial, rows, seeds, settings_of

from possibal.gp.kernels import KernelPrior
from possibal.gp.prior import prior
from possibal.gp.rbf import (
    NO_LEVEL,
    BlockRBF,
    Level,
    RBFPrior,
    RowPairs,
    SphericalRBF,
    default_kernel,
    is_spherical,
    with_level,
)

LEVEL = ConstantKernel(0.3, "fixed")
each_level = pytest.mark.parametrize(
    "level", [NO_LEVEL, Level(0.3), Level(0.03, is_spherical=True)], ids=str
)


@each_radial
def test_the_fast_way_and_the_general_way_agree(kernel):
    X, X_t, thetas = rows(0), rows(1), settings_of([kernel], 0)
    fast, general = prior([kernel], thetas), KernelPrior((kernel,), thetas)
    assert fast.name == general.name == f"kernel {kernel}"
    assert len(fast) == len(general) == 4
    np.testing.assert_allclose(fast.gram(X), general.gram(X), rtol=1e-12)
    for one, other in zip(
        dense_columns(fast, X_t, X, 1), dense_columns(general, X_t, X, 1), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_settings_that_differ_in_amplitude_alone_share_their_columns():
    kernel = ConstantKernel(1.0) * RBF(1.0)
    thetas = np.log([[1.0, 0.5], [3.0, 2.0], [4.0, 0.5], [2.0, 2.0]])
    X, X_t = rows(0), rows(1)
    found = dense_columns(prior([kernel], thetas), X_t, X, 1)[0]
    exact = [[kernel.clone_with_theta(theta)(X_t, X)] for theta in thetas]
    np.testing.assert_allclose(found, exact, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # priors are read under np.errstate
@settings(max_examples=60)
@given(
    seed=seeds,
    scale=st.floats(-300, 300),
    length=st.floats(-300, 300),
    others=st.floats(-300, 300),
    shape=st.tuples(st.booleans(), st.sampled_from([0.0, 0.3])),
)
def test_any_scale_gives_covariances_between_what_is_common_and_the_prior(
    seed, scale, length, others, shape
):
    ard, common = shape
    lengths = np.full(3, 10.0**length) * ([1.0, 10.0, 0.1] if ard else np.ones(3))
    lengths = np.clip(lengths, 1e-300, 1e300)
    kernel = 2.0 * RBF(np.ones(3)) if not common else 2.0 * (RBF(np.ones(3)) + LEVEL)
    logs = np.log(np.stack([lengths, lengths[::-1]]))
    process = RBFPrior.of(kernel, np.column_stack([np.log([2.0, 2.0]), logs]))
    X, X_t = 10.0**scale * rows(seed, n=4), 10.0**others * rows(seed + 1, n=4)
    K = process.gram(X)
    covariances, _ = dense_columns(process, np.vstack([X, X_t]), X, 1)
    for found in (K, covariances):
        assert np.all(
            (found >= 2.0 * common) & (found <= process.cross_covariance(X).largest * (1 + 1e-12))
        )
    most = 2.0 * (1.0 + common)
    np.testing.assert_allclose(np.diagonal(K, axis1=2, axis2=3), most, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(covariances, axis1=2, axis2=3), most, rtol=1e-9)
    G = np.ones((2, 1, 4, 4))
    assert np.isfinite(process.slopes(X, G)).all()


@pytest.mark.parametrize("exponent", [-290, -150, -20, 0, 20, 150, 290])
def test_only_the_ratio_of_distance_and_length_scale_counts(exponent):
    X, X_t, scale = rows(0), rows(1), 10.0**exponent
    K = RBF(0.7)(X_t, X)
    process = prior([RBF(1.0)], np.log([[0.7 * scale]]))
    found = dense_columns(process, scale * X_t, scale * X, 1)[0][0, 0]
    np.testing.assert_allclose(found, K, rtol=1e-9)
    np.testing.assert_allclose(process.gram(scale * X)[0, 0], RBF(0.7)(X), rtol=1e-9)


@settings(max_examples=60)
@given(seed=seeds, log_length=st.floats(-1.5, 3), shift=st.sampled_from([0.0, 1e3, 1e6]))
def test_distances_by_a_matrix_product_are_exact_enough(seed, log_length, shift):
    X, X_t = shift + rows(seed, n=20), shift + rows(seed + 1, n=30)
    X_t[:5] = X[:5]  # where distances cancel
    length = 10.0**log_length
    process = prior([RBF(length)], np.log([[length]]))
    found = dense_columns(process, X_t, X, 1)[0][0, 0]
    exact = np.exp(-0.5 * cdist(X_t / length, X / length, "sqeuclidean"))
    np.testing.assert_allclose(found, exact, atol=1e-10)


@pytest.mark.parametrize("length", [1e-3, 1e-6])
def test_rows_far_apart_in_length_scales_keep_their_near_neighbours(length):
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    X_t = X + length
    found = dense_columns(prior([RBF(length)], np.log([[length]])), X_t, X, 1)[0][0, 0]
    np.testing.assert_allclose(found, np.exp(-1.0) * np.eye(2), rtol=1e-9, atol=1e-12)


def test_equal_rows_are_as_close_as_can_be():
    X = np.ones((3, 2))
    process = prior([ConstantKernel(2.0) * RBF(1.0)], np.log([[2.0, 0.3]]))
    np.testing.assert_array_equal(process.gram(X), np.full((1, 1, 3, 3), 2.0))


@pytest.mark.parametrize(
    ("level", "shape"),
    [
        (NO_LEVEL, RBF(0.5)),
        (Level(0.3), RBF(0.5) + ConstantKernel(0.3, "fixed")),
        (Level(is_spherical=True), SphericalRBF(0.5)),
        (Level(0.3, is_spherical=True), SphericalRBF(0.5) + ConstantKernel(0.3, "fixed")),
    ],
    ids=str,
)
def test_usual_settings_are_those_of_a_constant_times_an_rbf(level, shape):
    thetas = np.log([[2.0, 0.5], [12.0, 3.0], [1.0, 0.5]])
    kernel = ConstantKernel(2.0) * shape
    found, expected = RBFPrior.usual(thetas, level), RBFPrior.of(kernel, thetas)
    X, X_t = rows(0), rows(1)
    np.testing.assert_array_equal(found.gram(X), expected.gram(X))
    for one, other in zip(
        dense_columns(found, X_t, X, 1), dense_columns(expected, X_t, X, 1), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    T = np.ones((3, 1, 6, 6))
    np.testing.assert_array_equal(found.slopes(X, T), expected.slopes(X, T))
    assert found.name == f"kernel {kernel}"
    assert len(found) == 3
    written = np.array([setting.theta for (setting,) in found.settings()])
    np.testing.assert_allclose(written, thetas, rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------- given distances
@each_level
def test_covariances_at_squared_distances_are_those_of_the_kernel(level):
    X, Z = np.random.default_rng(0).normal(size=(2, 2, 5, 3))  # two problems of five rows
    if level.is_spherical:
        X, Z = (one / np.linalg.norm(one, axis=2, keepdims=True) for one in (X, Z))
    thetas = np.log([[2.0, 0.5], [1.0, 3.0], [4.0, 1.0], [0.3, 0.7]])  # two settings each
    squares = np.array([cdist(x, z, "sqeuclidean") for x, z in zip(X, Z, strict=True)])
    found = RBFPrior.usual(thetas, level).covariances(RowPairs(squares))
    assert found.shape == (4, 5, 5)
    for member, (theta, K) in enumerate(zip(thetas, found, strict=True)):
        amplitude, length = np.exp(theta)
        shape = SphericalRBF(length) if level.is_spherical else RBF(length)
        kernel = ConstantKernel(amplitude) * (shape + ConstantKernel(level.share))
        np.testing.assert_allclose(
            K, kernel(X[member // 2], Z[member // 2]), rtol=1e-12, atol=1e-14
        )


@each_level
def test_slopes_at_squared_distances_are_those_of_the_rows(level):
    rng = np.random.default_rng(1)
    X, thetas = rng.normal(size=(2, 6, 3)), np.log([[2.0, 0.5], [1.0, 3.0]])
    sensitivity = rng.normal(size=(2, 3, 6, 6))
    sensitivity += np.swapaxes(sensitivity, 2, 3)
    if level.is_spherical:
        X /= np.linalg.norm(X, axis=2, keepdims=True)
    squares = np.array([cdist(x, x, "sqeuclidean") for x in X])
    found = RBFPrior.usual(thetas, level).slopes_at(RowPairs(squares), sensitivity)
    for s in range(2):
        one = RBFPrior.usual(thetas[s : s + 1], level)
        expected = one.slopes(X[s], sensitivity[s : s + 1])
        np.testing.assert_allclose(found[s], expected[0], rtol=1e-9)


# ---------------------------------------------------------------- directions
@given(seed=seeds, length=st.floats(-2, 2))
def test_on_the_sphere_only_directions_count_and_right_angles_have_nothing_in_common(seed, length):
    X, kernel = rows(seed, d=4), SphericalRBF(10.0**length)
    scales = np.exp(np.random.default_rng(seed).normal(size=(6, 1)))
    np.testing.assert_allclose(kernel(scales * X), kernel(X), atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), atol=1e-12)
    at_right_angles = kernel(np.diag([1.0, 2.0, -3.0, 0.0]))
    np.testing.assert_allclose(at_right_angles, np.diag(kernel.diag(np.zeros((4, 4)))), atol=1e-12)


@given(seed=seeds, length=st.floats(-1, 1))
def test_on_the_sphere_it_is_a_power_series_of_cosines_and_so_a_kernel(seed, length):
    X, length = rows(seed, n=12, d=3), 10.0**length
    X[0] = 0.0  # a direction of its own
    K = SphericalRBF(length)(X)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    units = X[1:] / np.linalg.norm(X[1:], axis=1, keepdims=True)
    series = np.exp(-(length**-2.0)) * np.expm1(units @ units.T / length**2)
    np.testing.assert_allclose(K[1:, 1:], series, atol=1e-12)


def test_long_length_scales_on_the_sphere_are_a_linear_kernel():
    X = rows(0, d=4)
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(1e4 * SphericalRBF(100.0)(X), units @ units.T, atol=2e-4)


@given(seed=seeds)
def test_the_derivative_by_the_length_scale_of_the_sphere_is_that_of_small_steps(seed):
    X, kernel = rows(seed), SphericalRBF(0.9)
    _, slopes = kernel(X, eval_gradient=True)
    up, down = (kernel.clone_with_theta(kernel.theta + step)(X) for step in (1e-5, -1e-5))
    np.testing.assert_allclose(slopes[:, :, 0], (up - down) / 2e-5, atol=1e-8)


@settings(max_examples=30)
@given(seed=seeds, length=st.floats(-1, 1.5))
def test_errors_of_single_precision_are_bounded_on_the_sphere_too(seed, length):
    X, X_t = rows(seed, n=8, d=5), rows(seed + 1, n=30, d=5)
    process = RBFPrior.usual(np.log([[3.0, 10.0**length]]), Level(0.03, is_spherical=True))
    exact, quick = process.cross_covariance(X), process.cross_covariance(X).single()
    (truth,), (found,) = (
        list(one.columns(X_t.astype(one.scaled[0].seen.dtype))) for one in (exact, quick)
    )
    off = np.abs(found.scale * found.matrix - truth.scale * truth.matrix).max(axis=1)
    assert found.error is not None
    assert np.all(off <= found.error * found.variance)


@each_level
def test_the_slopes_of_a_level_are_those_of_small_steps(level):
    lengths = np.array([0.3, 1.0, 4.0])
    up, down = (level.at(lengths * np.exp(step)) for step in (1e-5, -1e-5))
    np.testing.assert_allclose(level.slopes(lengths), (up - down) / 2e-5, atol=1e-8)


def test_a_kernel_of_directions_is_known():
    assert is_spherical(ConstantKernel(2.0) * (SphericalRBF(0.8) + LEVEL))
    assert not is_spherical(ConstantKernel(2.0) * (RBF(0.8) + LEVEL))
    assert not is_spherical(Matern(0.8))


# ---------------------------------------------------------------- blocks
def test_a_blocks_weight_scales_its_distances():
    X = rows(3)
    kernel = BlockRBF(2.0, weights=(3.0, 0.5), blocks=(2, 1))
    by_hand = cdist(X * [3.0, 3.0, 0.5], X * [3.0, 3.0, 0.5], "sqeuclidean")
    np.testing.assert_allclose(kernel(X), np.exp(-0.5 * by_hand / 4.0), rtol=1e-12)
    np.testing.assert_allclose(kernel(X[:2], X), kernel(X)[:2], rtol=1e-12)


@given(seed=seeds)
def test_the_derivatives_by_weights_are_those_of_small_steps(seed):
    X, kernel = rows(seed), BlockRBF(1.3, weights=(1.5, 0.4), blocks=(1, 2))
    _, slopes = kernel(X, eval_gradient=True)
    for place, step in enumerate(1e-5 * np.eye(3)):
        up, down = (kernel.clone_with_theta(kernel.theta + sign * step)(X) for sign in (1, -1))
        np.testing.assert_allclose(slopes[:, :, place], (up - down) / 2e-5, atol=1e-8)


def test_equal_weights_are_a_plain_rbf():
    X = rows(0)
    plain, blocks = (default_kernel(2.0, 0.8, Level(0.3), blocks=one) for one in ((), (2, 1)))
    np.testing.assert_allclose(blocks(X), plain(X), rtol=1e-14)
    assert "weights=[1, 1]" in repr(blocks)


def test_the_weights_of_blocks_are_told_for_each_setting():
    kernel = default_kernel(2.0, 0.8, Level(0.3), blocks=(2, 1))
    thetas = np.log([[2.0, 0.8, 1.0, 1.0], [2.0, 0.5, 1.4, 0.1], [1.0, 3.0, 0.2, 0.8]])
    found = RBFPrior.of(kernel, thetas).block_weights((2, 1))
    np.testing.assert_allclose(found, [[1.0, 1.0], [1.0, 0.1 / 1.4], [0.25, 1.0]])
    plain = RBFPrior.of(default_kernel(2.0, 0.8, Level(0.3)), thetas[:, :2])
    np.testing.assert_array_equal(plain.block_weights((2, 1)), np.ones((3, 2)))


@pytest.mark.parametrize(
    "kernel",
    [
        ConstantKernel(2.0) * RBF(0.8),
        RBF([0.5, 1.5]) * ConstantKernel(2.0),
        RBF(0.8),
        ConstantKernel(2.0) * Matern(0.8),
        ConstantKernel(2.0) * SphericalRBF(0.8),
        ConstantKernel(2.0) * (RBF(0.8) + ConstantKernel(0.1, "fixed")),
        DotProduct(0.0, "fixed"),
    ],
    ids=str,
)
def test_a_level_is_a_share_of_the_variance_at_the_origin(kernel):
    X = rows(0, d=2)
    found = with_level(kernel, 0.3, 2)
    variance = float(kernel.diag(np.zeros((1, 2)))[0]) or 1.0
    np.testing.assert_allclose(found(X), kernel(X) + 0.3 * variance)
    np.testing.assert_allclose(np.sort(found.theta), np.sort(kernel.theta))
