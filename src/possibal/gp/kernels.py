"""Prior covariances by any scikit-learn kernel, for a batch of settings of its hyperparameters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, cast

import numpy as np
from sklearn.gaussian_process.kernels import Exponentiation, Hyperparameter

from possibal.arrays import Array, Matrix, Vector
from possibal.gp.means import ZERO, MeanFunction
from possibal.numerics.batched import Batched


class Kernel(Protocol):
    """What we use of a scikit-learn kernel."""

    @property
    def theta(self) -> Vector:
        """Logarithms of the hyperparameters that are free."""
        ...

    @property
    def bounds(self) -> Matrix:
        """Bounds of theta."""
        ...

    @property
    def hyperparameters(self) -> Sequence[Hyperparameter]:
        """The hyperparameters, fixed or free."""
        ...

    def clone_with_theta(self, theta: Vector) -> Self:
        """The same kernel with other hyperparameters."""
        ...

    def __call__(
        self, X: Matrix, Y: Matrix | None = None, *, eval_gradient: bool = False
    ) -> Matrix:
        """The kernel matrix, or that and its derivatives by theta."""
        ...

    def diag(self, X: Matrix) -> Vector:
        """The diagonal of the kernel matrix."""
        ...


class LeadingColumns(Exponentiation):
    """A kernel of the first columns of a row, which does not see the others.

    Paper: none.

    Args:
        kernel: of these columns.
        columns: how many they are.
    """

    def __init__(self, kernel: Any, columns: int = 1) -> None:  # noqa: ANN401 - scikit-learn's
        """Keep the choices."""
        super().__init__(kernel, 1.0)
        self.columns = columns

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - as there
        """What it is made of.

        Paper: none.
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        del params["exponent"]
        return {**params, "columns": self.columns}

    def __call__(
        self,
        X: Any,  # noqa: ANN401 - as scikit-learn says
        Y: Any = None,  # noqa: ANN401 - the same
        eval_gradient: bool = False,  # noqa: FBT001, FBT002 - the same
    ) -> Any:  # noqa: ANN401 - a matrix, or that and its derivatives
        """The kernel matrix, or that and its derivatives by theta.

        Paper: none.
        """
        others = None if Y is None else Y[:, : self.columns]
        return self.kernel(X[:, : self.columns], others, eval_gradient=eval_gradient)

    def diag(self, X: Any) -> Vector:  # noqa: ANN401 - as scikit-learn says
        """The diagonal of the kernel matrix.

        Paper: none.
        """
        return self.kernel.diag(X[:, : self.columns])

    def __repr__(self) -> Any:  # noqa: ANN401 - scikit-learn's are literal strings to the checker
        """The kernel; all columns that mean something are the first."""
        return repr(self.kernel)


def leading_columns(kernel: Kernel, columns: int) -> Kernel:
    """A kernel of the first columns alone.

    Paper: none.
    """
    return cast("Kernel", LeadingColumns(kernel, columns))


@dataclass(frozen=True, eq=False)
class KernelColumn:
    """Cross-covariances of some rows with the training rows, for one member of the batch.

    Attributes:
        member: place in the batch.
        processes: which processes have these covariances.
        variance: (m,), prior variances of the rows.
        scale: the covariances are scale times matrix.
        matrix: (m, n); several columns may share it.
        error: (m,), the largest relative error in each line of it, where that is of account.
    """

    member: int
    processes: slice
    variance: Vector
    scale: float
    matrix: Matrix
    error: Vector | None = None


@dataclass(frozen=True, eq=False)
class KernelPrior(Batched):
    """Prior of any kernels, evaluated setting by setting.

    Paper: Sec. 5.2; Prop. 8, K_l.
    """

    kernels: tuple[Kernel, ...]
    thetas: Matrix
    mean: MeanFunction = ZERO

    @property
    def name(self) -> str:
        """The kernels as scikit-learn writes them."""
        return ", ".join(f"kernel {kernel}" for kernel in self.kernels)

    def __len__(self) -> int:
        """The number of settings."""
        return len(self.thetas)

    def settings(self) -> list[list[Kernel]]:
        """The kernels of every setting, one or one per class."""
        ends = np.cumsum([len(kernel.theta) for kernel in self.kernels])[:-1]
        return [
            [
                k.clone_with_theta(t)
                for k, t in zip(self.kernels, np.split(theta, ends), strict=True)
            ]
            for theta in self.thetas
        ]

    def gram(self, X: Matrix, /) -> Array:
        """Gram matrices of the training rows.

        Paper: Prop. 6, K.
        """
        if not len(X):
            return np.empty((len(self), len(self.kernels), 0, 0))
        return finite_covariances(
            self.name, np.array([[kernel(X) for kernel in member] for member in self.settings()])
        )

    def slopes(self, X: Matrix, sensitivity: Array, /) -> Matrix:
        """Derivatives by theta of a function of the covariances.

        Paper: none; GPML Eq. 5.21.
        """
        shared = len(self.kernels) == 1
        G = sensitivity.sum(axis=1, keepdims=True) if shared else sensitivity
        slopes = np.empty_like(self.thetas)
        for s, member in enumerate(self.settings()):
            by_class = [kernel(X, eval_gradient=True)[1] for kernel in member]
            pairs = zip(G[s], by_class, strict=True)
            slopes[s] = np.concatenate([np.einsum("ij,ijp->p", g, dK) for g, dK in pairs])
        return slopes

    def cross_covariance(self, X: Matrix, /) -> "KernelCrossCovariance":
        """The cross-covariances with training rows, ready for any other rows.

        Paper: Prop. 6, K_t.
        """
        return KernelCrossCovariance(self, self.settings(), X)

    def coordinates(self, X: Matrix, /) -> Matrix:
        """The rows as they are: what geometry any kernel has is not known.

        Paper: none.
        """
        return X


@dataclass(frozen=True, eq=False)
class KernelCrossCovariance:
    """Cross-covariances of any kernels with the training rows."""

    prior: KernelPrior
    settings: list[list[Kernel]]
    X: Matrix

    def columns(self, X_t: Matrix, /) -> Iterator[KernelColumn]:
        """Covariances of other rows with the training rows, member by member.

        Paper: Prop. 6, K_t and the diagonal of K_tt.
        """
        for s, member in enumerate(self.settings):
            for p, kernel in enumerate(member):
                processes = slice(None) if len(member) == 1 else slice(p, p + 1)
                matrix = np.empty((len(X_t), 0))
                if len(self.X):
                    matrix = finite_covariances(self.prior.name, kernel(X_t, self.X))
                yield KernelColumn(s, processes, kernel.diag(X_t), 1.0, matrix)

    def single(self) -> "KernelCrossCovariance":
        """The same: these kernels know one precision."""
        return self

    @property
    def largest(self) -> float:
        """The largest prior variance of a row, which these kernels do not tell."""
        return np.inf


def finite_covariances(name: str, K: Array) -> Array:
    """The same covariances, if they are numbers; else one sentence on the kernel of that name.

    Paper: none.
    """
    if not np.isfinite(K).all():
        raise ValueError(
            f"{name} must give finite covariances; got {K[~np.isfinite(K)][0]}. "
            "Bring the columns of X to a common scale, with StandardScaler for one."
        )
    return K
