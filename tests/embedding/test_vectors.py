import numpy as np
import pytest

from possibal.embedding import vectors
from possibal.embedding.vectors import checked_vectors

SENTENCE = r"^encoder must [^\n]*; got [^\n]*'tiny'\. [^\n]*\.$"


class Tensor:
    """A tensor of another library, which becomes an array only once its gradient is given up."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use detach()")


@pytest.mark.parametrize(
    "wrong",
    [
        np.ones(3),
        np.ones((2, 3)),
        np.ones((3, 0)),
        np.ones((3, 2, 2)),
        np.zeros((3, vectors.MOST_COLUMNS + 1), np.uint8),
        np.array([["a"]] * 3),
        np.array(1.0),
        np.full((3, 2), np.nan),
        np.full((3, 2), np.inf, np.float16),
        np.full((3, 2), 1e300),
        np.ones((3, 2), complex),
        np.array([["1"]] * 3),
        [[1.0], [1.0, 2.0], [3.0]],
        None,
        Tensor(),
    ],
    ids=lambda one: f"{type(one).__name__} {getattr(one, 'shape', '')}",
)
def test_what_is_no_finite_vector_for_each_row_is_refused(wrong):
    with pytest.raises(ValueError, match=SENTENCE):
        checked_vectors(wrong, 3, "tiny")


def test_what_is_refused_is_named():
    with pytest.raises(ValueError, match=r"got Tensor \(Can't call numpy\(\) on Tensor that requ"):
        checked_vectors(Tensor(), 3, "tiny")


@pytest.mark.parametrize(
    "found", [np.ones((1, 2), kind) for kind in ("?", "i8", "f2", "f4", "f8")] + [[[1, 1]]]
)
def test_numbers_of_any_kind_are_taken(found):
    checked = checked_vectors(found, 1, "tiny")
    assert checked.dtype == np.float32
    assert checked.tolist() == [[1, 1]]
