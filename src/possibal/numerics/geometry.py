"""How rows of numbers are compared: in which blocks of columns, and by which metric."""

from dataclasses import dataclass

EUCLIDEAN, COSINE = METRICS = ("euclidean", "cosine")
"""By distance, or by direction alone."""


@dataclass(frozen=True)
class RowGeometry:
    """How rows of numbers are compared.

    Attributes:
        blocks: how many columns each block has, which are weighed against one another; none where
            there is one.
        metric: a name of `METRICS`.
    """

    blocks: tuple[int, ...] = ()
    metric: str = EUCLIDEAN


PLAIN = RowGeometry()
"""One block of columns, compared by distance."""
