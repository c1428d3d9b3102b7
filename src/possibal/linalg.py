"""Square roots of covariances and precisions, and the one way to forget directions."""

import numpy as np
from scipy.linalg import null_space
from scipy.linalg.lapack import dtrtri

from possibal.arrays import Matrix, Vector

_NEGATIVE = 1e-10
"""An eigenvalue below minus this share of the largest is more than rounding."""
_ROUNDING = 1e-15
"""An eigenvalue below this share of the largest is rounding; so it is after scaling to ones."""
_NOISE = 1e-12
"""A singular value of a scaled root below this is rounding."""


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


def settle(root: Matrix, pull: Vector) -> Vector:
    """The h of least |R' h + pull|: where a quadratic form comes to rest when it is pulled.

    Paper: Sec. 3.2, mu_1|2 - mu_1 in terms of the precision.
    """
    scale = _row_scale(root)
    return np.linalg.lstsq((root / scale[:, None]).T, -pull, rcond=None)[0] / scale


def _row_scale(matrix: Matrix) -> Vector:
    """Length of each row, or one where it is zero; dividing by it makes thresholds unit-free."""
    scale = np.linalg.norm(matrix, axis=1)
    return np.where(scale == 0, 1.0, scale)
