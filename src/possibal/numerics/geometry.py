"""How rows of numbers are compared: in which blocks of columns, and by which metric."""

from dataclasses import dataclass

EUCLIDEAN, COSINE = METRICS = ("euclidean", "cosine")
"""By distance, or by direction alone."""
RBF_ALONE = "rbf"
"""The default kernel without its additive part or diffusion coordinates."""


@dataclass(frozen=True)
class RowGeometry:
    """How rows of numbers are compared.

    Attributes:
        blocks: how many columns each block has, which are weighed against one another; none where
            there is one.
        metric: a name of `METRICS`.
        diffusion: how many of the last columns are diffusion coordinates.
        kernel: `RBF_ALONE` where nothing else than an RBF is to say which rows are alike.
    """

    blocks: tuple[int, ...] = ()
    metric: str = EUCLIDEAN
    diffusion: int = 0
    kernel: str | None = None


PLAIN = RowGeometry()
"""One block of columns, compared by distance."""
