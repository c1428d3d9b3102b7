from dataclasses import replace

from possibal.numerics.geometry import COSINE, EUCLIDEAN, METRICS, PLAIN, RowGeometry


def test_rows_are_one_block_compared_by_distance_unless_said_otherwise():
    assert METRICS == (EUCLIDEAN, COSINE)
    assert RowGeometry() == PLAIN == RowGeometry((), "euclidean")
    assert replace(PLAIN, metric=COSINE) != PLAIN
    assert (PLAIN.diffusion, PLAIN.kernel) == (0, None)
