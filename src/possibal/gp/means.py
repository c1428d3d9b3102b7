"""Prior mean functions m(.) of Gaussian processes: what the latents are far from every label."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from possibal.arrays import Matrix, real

MeanCallable: TypeAlias = Callable[[Matrix], ArrayLike]
"""A mean function of a user's own: rows (m, d) -> (m,), or (m, C) for C processes."""


class MeanFunction(Protocol):
    """Prior mean of P processes.

    Paper: Sec. 5.2, m(.) of a PGP.
    """

    @property
    def is_zero(self) -> bool:
        """Whether the mean is zero everywhere, so that nothing need be added.

        Paper: none.
        """
        ...

    def at(self, X: Matrix, /) -> Matrix:
        """Means of rows, (P, m); P = 1 where all processes share them.

        Paper: Sec. 5.2.
        """
        ...


@dataclass(frozen=True)
class ConstantMean:
    """The same mean for all rows, one number for all processes or one for each.

    Paper: Sec. 5.2, m(.).
    """

    levels: tuple[float, ...] = (0.0,)

    @property
    def is_zero(self) -> bool:
        """Whether every level is zero.

        Paper: none.
        """
        return not any(self.levels)

    def at(self, X: Matrix, /) -> Matrix:
        """The levels, for every row.

        Paper: Sec. 5.2.
        """
        return np.repeat(np.array(self.levels)[:, None], len(X), axis=1)


ZERO = ConstantMean()
"""What a kernel alone has."""


@dataclass(frozen=True)
class CallableMean:
    """A mean function of the user's own.

    Paper: Sec. 5.2, m(.).

    Attributes:
        function: rows (m, d) -> (m,), or (m, processes).
        processes: how many latent processes there are.
    """

    function: MeanCallable
    processes: int = 1

    @property
    def is_zero(self) -> bool:
        """Never known to be.

        Paper: none.
        """
        return False

    def at(self, X: Matrix, /) -> Matrix:
        """The means of rows; what is not one finite number a row and process is refused.

        Paper: Sec. 5.2.
        """
        values = real(self.function(X), "mean")
        wanted = (len(X),) if self.processes == 1 else (len(X), self.processes)
        if values.shape != wanted:
            raise ValueError(
                f"mean must give an array of shape {wanted} for {len(X)} rows; "
                f"got one of shape {values.shape}. Return one number for each row"
                f"{'' if self.processes == 1 else ' and class'}."
            )
        return values.reshape(len(X), self.processes).T
