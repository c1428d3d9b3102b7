import numpy as np
import pytest

from possibal import arrays


def test_numbers_become_read_only_floats_and_the_original_stays():
    given = np.array([1, 2, 3], dtype=np.int16)
    array = arrays.real(given, "x")
    assert array.dtype == np.float64
    assert not array.flags.writeable
    assert given.flags.writeable


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[1], [2, 3]], "x must be a rectangular array of numbers; got lines"),
        (["a"], "x must hold real numbers; got dtype <U1"),
        ([1j], "x must hold real numbers; got dtype complex128"),
        ([None], "x must hold real numbers; got dtype object"),
        ([0, np.nan], r"x must be finite; got NaN at row 1\. Drop"),
        ([[0, 1], [np.inf, 0]], "x must be finite; got inf at row 1, column 0"),
        (np.inf, "x must be finite; got inf at the only entry"),
        (np.ma.masked_less([1.0, -1.0], 0), "x must have no masked entries; got a masked array"),
        ([1.0, np.ma.masked], "x must have no masked entries; got a masked array"),
    ],
)
def test_what_is_not_a_finite_number_is_named(value, message):
    with pytest.raises(ValueError, match=message):
        arrays.real(value, "x")


def test_positive_means_above_zero():
    np.testing.assert_array_equal(arrays.positive([1, 2], "x", "Cure."), [1, 2])
    with pytest.raises(ValueError, match=r"x must be positive; got 0 at row 1\. Cure\."):
        arrays.positive([1, 0], "x", "Cure.")


def test_a_number_counts_as_a_vector_of_one():
    assert arrays.vector(3, "x").shape == (1,)
    with pytest.raises(ValueError, match=r"x must be a vector; got shape \(1, 2\)"):
        arrays.vector([[1, 2]], "x")


def test_a_symmetric_matrix_has_the_size_asked_for():
    assert arrays.square(2, "x", 1).shape == (1, 1)
    with pytest.raises(ValueError, match=r"x must have shape \(2, 2\); got \(1, 2\)"):
        arrays.square([[1, 2]], "x", 2)
    with pytest.raises(ValueError, match="x must be symmetric"):
        arrays.square([[1, 2], [3, 4]], "x", 2)


@pytest.mark.parametrize(
    ("mean", "variance", "message"),
    [
        ([0, 0], [1, -1], r"variance must be zero or more; got -1 at row 1\. Zero is a known"),
        ([0, 0], [np.nan, 1], "variance must be zero or more; got nan at row 0"),
        ([0, 0], [1], r"variance must have the shape of mean, \(2,\); got \(1,\)"),
        (0.0, 1.0, r"mean must have shape \(m,\) or \(m, C\); got \(\)"),
        (np.zeros((2, 2, 2)), np.ones((2, 2, 2)), "For several hypotheses pass a Belief"),
        (np.zeros((2, 1)), np.ones((2, 1)), "mean must have at least 2 columns"),
    ],
)
def test_latent_moments_are_checked_together(mean, variance, message):
    with pytest.raises(ValueError, match=message):
        arrays.latent_moments(mean, variance)


def test_an_empty_pool_is_a_pool():
    mean, variance = arrays.latent_moments(np.empty(0), np.empty(0))
    assert mean.shape == variance.shape == (0,)


def test_a_frozen_copy_changes_with_nobody():
    given = np.array([1.0, 2.0])
    copy = arrays.frozen(given)
    given[0] = 7.0
    assert copy[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 2.0


def test_places_are_listed_in_the_order_asked_for():
    assert arrays.places(1, "x", 2) == [1]
    assert arrays.places((2, 0), "x", 3) == [2, 0]
    assert arrays.places(np.int64(1), "x", 2) == [1]


@pytest.mark.parametrize("index", [2, -1, [0, 0], []])
def test_places_must_be_distinct_and_exist(index):
    with pytest.raises(ValueError, match="x must hold distinct indices from 0 to 1, at least one"):
        arrays.places(index, "x", 2)


def test_a_value_of_numpys_becomes_one_of_pythons():
    assert type(arrays.as_python(np.int64(3))) is int
    assert arrays.as_python("a") == "a"


# ---------------------------------------------------------------- tensors
class Tensor:
    """What a tensor of torch does: it gives NumPy its numbers once it is detached, on the CPU."""

    def __init__(self, values, *, is_floating=True):
        self.values, self.is_floating, self.steps = np.asarray(values), is_floating, []

    def is_floating_point(self):
        return self.is_floating

    def __getattr__(self, name):
        if name not in {"detach", "cpu", "double"}:
            raise AttributeError(name)
        self.steps.append(name)
        return lambda: self

    def __array__(self, dtype=None, copy=None):
        assert self.steps[-2:] == ["detach", "cpu"] or self.steps[-1] == "double"
        return np.array(self.values, dtype=dtype, copy=copy)


def test_a_tensor_is_detached_and_widened_first():
    numbers, counts = Tensor([0.5, 2.0]), Tensor([1, 2], is_floating=False)
    assert arrays.floats(numbers, "mean").tolist() == [0.5, 2.0]
    assert numbers.steps[-1] == "double"
    assert arrays.floats(counts, "mean").tolist() == [1.0, 2.0]
    assert counts.steps[-1] == "cpu"
