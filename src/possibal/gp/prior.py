"""Prior Gaussian processes: protocols, and the prior of given kernels, for a batch of settings."""

from collections.abc import Iterator, Sequence
from typing import Protocol, Self

from possibal.arrays import Array, Matrix, Places
from possibal.gp.kernels import Kernel, KernelColumn, KernelPrior
from possibal.gp.linear import LinearPrior
from possibal.gp.means import ZERO, MeanFunction
from possibal.gp.rbf import RBFPrior


class CrossCovariance(Protocol):
    """Prior covariances of other rows with the training rows, for a batch of settings.

    Paper: Prop. 6, K_t.
    """

    def columns(self, X_t: Matrix, /) -> Iterator[KernelColumn]:
        """Covariances of other rows with the training rows, member by member.

        Paper: Prop. 6, K_t and the diagonal of K_tt.
        """
        ...

    @property
    def largest(self) -> float:
        """What the prior variance of no row exceeds."""
        ...

    def single(self) -> Self:
        """The same in single precision, where the kernel has it."""
        ...


class Prior(Protocol):
    """A batch of prior Gaussian processes: settings of a kernel, and a mean function.

    Paper: Sec. 5.2, a PGP with mean m(.) and a kernel; Prop. 8, K_l for each label.
    """

    @property
    def mean(self) -> MeanFunction:
        """The mean function of every setting.

        Paper: Sec. 5.2, m(.).
        """
        ...

    @property
    def name(self) -> str:
        """What to call the kernel in an error."""
        ...

    def __len__(self) -> int:
        """The number of settings."""
        ...

    def gram(self, X: Matrix, /) -> Array:
        """Gram matrices of the training rows, (S, P, n, n); P = 1 where all classes share them.

        Paper: Prop. 6, K.
        """
        ...

    def slopes(self, X: Matrix, sensitivity: Array, /) -> Matrix:
        """Derivatives by theta of a function of the covariances, given those by the entries.

        Paper: none; GPML Eq. 5.21.
        """
        ...

    def cross_covariance(self, X: Matrix, /) -> "CrossCovariance":
        """The cross-covariances with training rows, ready for any other rows.

        Paper: Prop. 6, K_t.
        """
        ...

    def coordinates(self, X: Matrix, /) -> Matrix:
        """Rows in the geometry of the kernels, where they have one; else as they are.

        Paper: none.
        """
        ...

    def part(self, members: Places, /) -> Self:
        """Some of the settings."""
        ...

    def settings(self) -> list[list[Kernel]]:
        """The kernels of every setting, one or one per class."""
        ...


def prior(kernels: Sequence[Kernel], thetas: Matrix, mean: MeanFunction = ZERO) -> Prior:
    """The prior of a mean and kernels: one that all classes share, or one for each class.

    Paper: Sec. 5.2 and Prop. 8.

    Args:
        kernels: one, or one per class.
        thetas: (S, p), the logarithms of all free hyperparameters, class after class.
        mean: of every setting.
    """
    if len(kernels) == 1:
        radial = RBFPrior.of(kernels[0], thetas, mean)
        if radial is not None:
            return radial
        linear = LinearPrior.of(kernels[0], thetas, mean)
        if linear is not None:
            return linear
    return KernelPrior(tuple(kernels), thetas, mean)
