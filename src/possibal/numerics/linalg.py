"""Batched Cholesky factors with jitter, and square roots of covariances and precisions."""

import functools
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from math import isfinite
from threading import Lock

import numpy as np
from scipy.linalg import null_space
from scipy.linalg.blas import dtrmm, strmm
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri
from threadpoolctl import ThreadpoolController

from possibal.arrays import Array, Matrix, Vector
from possibal.numerics.batched import Batched

_NEGATIVE = 1e-10
"""An eigenvalue below minus this share of the largest is more than rounding."""
_ROUNDING = 1e-15
"""An eigenvalue below this share of the largest is rounding; so it is after scaling to ones."""
_NOISE = 1e-12
"""A singular value of a scaled root below this is rounding."""
_JITTER = tuple(10.0**k for k in range(-10, -1))
"""What is tried in turn on the diagonal of a matrix that has no Cholesky factor."""


def cholesky(matrix: Matrix, name: str) -> Matrix:
    """Lower triangular L with L L' = matrix, for a symmetric positive definite matrix.

    Paper: Sec. 3.2, "with Sigma positive definite".
    """
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(matrix)[0])
        raise ValueError(
            f"{name} must be positive definite; got smallest eigenvalue {smallest:.3g}. "
            "Drop the coordinates that the others determine."
        ) from None


def inverse_root(covariance: Matrix, name: str) -> Matrix:
    """A square root R of the precision: R R' is the inverse of the covariance.

    Paper: Sec. 3.2, the precision Gamma = Sigma^-1.
    """
    inverse, _ = dtrtri(cholesky(covariance, name), lower=1)  # starts no threads for small matrices
    return np.asarray(inverse, dtype=np.float64).T


def semidefinite_root(matrix: Matrix, name: str) -> Matrix:
    """A matrix R with R R' = matrix and one column per positive eigenvalue.

    Paper: Sec. 3.2 (ii), "it allows for Gamma to be positive semi-definite".
    """
    scale = np.sqrt(np.diagonal(matrix).clip(0.0))
    scale[scale == 0] = 1.0
    eigenvalues, eigenvectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    if eigenvalues[0] < -_NEGATIVE * eigenvalues[-1]:
        smallest = float(np.linalg.eigvalsh(matrix)[0])
        raise ValueError(
            f"{name} must be positive semi-definite; got smallest eigenvalue {smallest:.3g}. "
            "Check its signs: a precision is minus a Hessian."
        )
    solid = eigenvalues > _ROUNDING * eigenvalues[-1]
    return scale[:, None] * eigenvectors[:, solid] * np.sqrt(eigenvalues[solid])


def image_root(root: Matrix, F: Matrix) -> Matrix:
    """A square root of the precision of F theta, given one of the precision of theta.

    The exponent is |R' h|^2. Among the h with F h = y it is least where the part of R' h that
    the null space of F can reach is taken away; what is left is the exponent in y.

    Paper: Sec. 3.1, change of variable by supremum; App. A, P11 - P12 P22^-1 P21.

    Args:
        root: R, (n, r).
        F: (k, n), of full row rank.
    """
    scale = _row_scale(root)
    unit = _row_scale(F / scale)
    G = F / scale / unit[:, None]
    rays = (root / scale[:, None]).T
    seen, forgotten = rays @ np.linalg.pinv(G), rays @ null_space(G)
    u, s, _ = np.linalg.svd(forgotten, full_matrices=False)
    reach = u[:, s > _NOISE]
    _, s, vt = np.linalg.svd(seen - reach @ (reach.T @ seen), full_matrices=False)
    solid = s > _NOISE
    image = vt[solid].T * s[solid]
    image[np.abs(image) < _NOISE] = 0.0  # so that uncoupled coordinates stay so
    return image / unit[:, None]


def least_squares_rest(root: Matrix, pull: Vector) -> Vector:
    """Least-squares solution h of least |R' h + pull|.

    Paper: Sec. 3.2, mu_1|2 - mu_1 in terms of the precision.
    """
    scale = _row_scale(root)
    return np.linalg.lstsq((root / scale[:, None]).T, -pull, rcond=None)[0] / scale


def _row_scale(matrix: Matrix) -> Vector:
    """Length of each row, or one where it is zero; dividing by it makes thresholds unit-free."""
    scale = np.linalg.norm(matrix, axis=1)
    return np.where(scale == 0, 1.0, scale)


# ---------------------------------------------------------------- stacks of kernel matrices


@dataclass(frozen=True, eq=False)
class Factor(Batched):
    """Lower Cholesky factors of a stack of matrices.

    Attributes:
        chol: (S, n, n), zero above the diagonal.
        jitter: (S,), what was added to the diagonal of each, as a share of its mean; mostly zero.
    """

    chol: Array
    jitter: Vector

    @property
    def _matrices(self) -> Iterator[tuple[int, Matrix]]:
        """Each factor with its place, but none of size zero: LAPACK does not take those."""
        return enumerate(self.chol) if self.chol.size else iter(())

    def solve(self, b: Matrix) -> Matrix:
        """The solution x of A x = b for each matrix A of the stack, (S, n).

        Paper: none; GPML Alg. 3.1, line 7.
        """
        x = np.empty_like(b)
        for s, chol in self._matrices:
            x[s] = dpotrs(chol.T, b[s], lower=0)[0]
        return x

    def inverse(self) -> Array:
        """The inverse of each matrix of the stack.

        Paper: none; GPML Alg. 3.3, line 5.
        """
        inverses, n = np.empty_like(self.chol), self.chol.shape[-1]
        for s, chol in self._matrices:
            half = dpotri(chol.T, lower=0)[0].T  # the other half keeps its zeros
            half.reshape(-1)[:: n + 1] *= 0.5
            np.add(half, half.T, out=inverses[s])  # while it is in the cache
        return inverses

    def inverse_factor(self) -> Array:
        """The inverse of each lower factor, lower triangular itself.

        Paper: none; GPML Alg. 3.2, line 5.
        """
        inverses = np.empty_like(self.chol)
        for s, chol in self._matrices:
            inverses[s] = dtrtri(chol.T, lower=0)[0].T
        return inverses

    @property
    def half_log_determinant(self) -> Vector:
        """Half the log determinant of each matrix of the stack.

        Paper: none; GPML Alg. 3.1, line 10.
        """
        return np.log(np.diagonal(self.chol, axis1=1, axis2=2)).sum(axis=1)


def factor(stack: Array, name: str) -> Factor:
    """Cholesky factors of a stack; a matrix that fails gets jitter, and only that one.

    The jitter starts at 1e-10 of the mean diagonal and grows by tens: the one policy of the house.

    Paper: none; GPML Alg. 3.1, line 5.

    Args:
        stack: (S, n, n), symmetric.
        name: what the matrices come from, for the error.
    """
    chol, jitter = np.empty_like(stack), np.zeros(len(stack))
    for s, matrix in enumerate(stack if stack.size else ()):
        # Row-major and symmetric: the transpose is what LAPACK reads, without a copy.
        upper, failed = dpotrf(matrix.T, lower=0, clean=1)
        if failed or not isfinite(upper[-1, -1]):
            upper, jitter[s] = _with_jitter(matrix, name)
        chol[s] = upper.T
    return Factor(chol, jitter)


def _with_jitter(matrix: Matrix, name: str) -> tuple[Matrix, float]:
    """The upper factor of a matrix with the least jitter that allows one, and that jitter."""
    for share in _JITTER:
        upper, failed = dpotrf(_raised(matrix, share).T, lower=0, clean=1)
        if not failed and isfinite(upper[-1, -1]):
            return upper, share
    raise ValueError(
        f"{name} must give positive semi-definite matrices; got one that stays indefinite "
        f"with a jitter of {_JITTER[-1]:.0e}. Make the kernel's amplitude smaller or its "
        "noise larger."
    )


def _raised(matrix: Matrix, share: float) -> Matrix:
    """The matrix with a share of its mean diagonal added to the diagonal."""
    diagonal = np.diagonal(matrix)
    return matrix + np.diag(np.full(len(matrix), share * float(diagonal.mean())))


def drawing_root(covariance: Matrix) -> Matrix:
    """A matrix R with R R' = covariance, as far as rounding leaves the covariance one.

    Eigenvalues that rounding has made negative count as zero.

    Paper: none; for draws.
    """
    lower, failed = dpotrf(covariance, lower=1, clean=1)
    if not failed:
        return lower
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    return eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def product(K: Array, v: Array) -> Array:
    """The product K v for every process, where one kernel matrix may serve all of them.

    Paper: none; GPML Alg. 3.3, line 10.

    Args:
        K: symmetric, (S, P, n, n) or (S, 1, n, n).
        v: (S, P, n).
    """
    return v @ K[:, 0] if K.shape[1] == 1 else each_times(K, v)


def square_norms(matrix: Matrix, root: Matrix) -> Vector:
    """Squared length of each line of matrix @ root, for an upper triangular root.

    Paper: none; GPML Alg. 3.2, line 6, v'v.
    """
    if not matrix.size:
        return np.zeros(len(matrix))
    times = strmm if matrix.dtype == np.float32 else dtrmm
    v = times(1.0, root.T, matrix.T, lower=1).T
    return np.einsum("ij,ij->i", v, v)


def each_times(stack: Array, v: Array) -> Array:
    """The product of each symmetric matrix with its own vector, (S, P, n).

    Paper: none; GPML Alg. 3.3, line 10.
    """
    return (v[:, :, None, :] @ stack)[:, :, 0]


@functools.cache
def _threads() -> ThreadpoolController:
    """The thread pools of linear algebra, found once: it takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")


class _OneThread:
    """Limits the thread pools while anybody is inside, and restores them after the last."""

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        self.limits: AbstractContextManager[object] = nullcontext()

    def __enter__(self) -> None:
        with self.lock:
            if not self.inside:
                pools = _threads()
                single = all(pool.num_threads == 1 for pool in pools.lib_controllers)
                self.limits = nullcontext() if single else pools.limit(limits=1)
                self.limits.__enter__()
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                self.limits.__exit__(None, None, None)


_ONE_THREAD = _OneThread()


@contextmanager
def one_thread() -> Generator[None, None, None]:
    """A context in which BLAS keeps to one thread and overflow raises no warning.

    Small matrices lose by more threads: with two on a busy machine a fit can take a hundred times
    as long. Rows or runs are worked on in parallel instead. Covariances of rows far apart underflow
    as they should, and what is no number in the end is refused by name.

    Paper: none; measured.
    """
    with _ONE_THREAD, np.errstate(all="ignore"):
        yield
