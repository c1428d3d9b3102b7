"""Models of GPyTorch and BoTorch as posteriors that every strategy reads.

posterior = latent_posterior(model, labelled_rows)      rank(posterior, pool, "herding")
"""
# pyright: basic, reportMissingImports=false

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from possibal.arrays import Array, Matrix, real
from possibal.distributions import check_gaussian, unwrapped
from possibal.errors import MissingPackageError
from possibal.gp.latent_posterior import LatentPosterior


def latent_posterior(
    model: Any,  # noqa: ANN401 - of a package that need not be there
    training_rows: ArrayLike | None = None,
    *,
    link: str = "probit",
    geometry: Callable[[Matrix], ArrayLike] | None = None,
) -> LatentPosterior:
    """The posterior of a fitted model of GPyTorch or BoTorch, for strategies and `possibal.rank`.

    The model is put into evaluation mode, as BoTorch does, and is called without gradients, on its
    own device and in its own precision. It may be variational, exact on Dirichlet targets, or any
    other whose output is Gaussian latents: one for two labels, or one for each label, as a batch of
    distributions or as a multitask one.

    Args:
        model: fitted, without its likelihood: what it gives for rows is a Gaussian of latents.
        training_rows: (n, d), the rows that have labels; those of an exact model if left out.
        link: "probit", as in GPyTorch's BernoulliLikelihood, or "logistic", for two labels.
        geometry: of rows, coordinates in which they are near if the model takes them to be alike;
            if left out columns are divided by the length-scales of its only kernel that has some,
            else they are as they are.
    """
    torch = _torch()
    model.eval()
    place = next((p for p in model.parameters()), None)
    like = torch.empty(0, dtype=torch.double) if place is None else place.detach()

    def tensor(X: Matrix) -> Any:  # noqa: ANN401 - a tensor
        """Rows as the model takes them."""
        return torch.tensor(np.asarray(X), dtype=like.dtype, device=like.device)

    def latents(X: Matrix) -> "LatentsWithoutGradients":
        """The joint Gaussian of the latents of rows."""
        with torch.no_grad():
            found = model.posterior(tensor(X)) if hasattr(model, "posterior") else model(tensor(X))
        check_gaussian(found)
        return LatentsWithoutGradients(unwrapped(found))

    rows = _known_rows(model) if training_rows is None else real(training_rows, "training_rows")
    if geometry is None:
        geometry = _scaled_by_lengths(model, tensor, rows.shape[-1])
    return LatentPosterior(latents, rows, link=link, geometry=geometry)


@dataclass(frozen=True, eq=False)
class LatentsWithoutGradients:
    """A Gaussian of torch whose moments are worked out when read, and without gradients.

    Attributes:
        gaussian: a distribution.
    """

    gaussian: Any

    @property
    def mean(self) -> Array:
        """The latent means."""
        return self._read("mean")

    @property
    def variance(self) -> Array:
        """The latent variances."""
        return self._read("variance")

    @property
    def covariance_matrix(self) -> Array:
        """The covariances between all rows."""
        return self._read("covariance_matrix")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - shapes and order of the distribution
        """What the distribution says of its shapes."""
        if name not in {"batch_shape", "event_shape", "_interleaved"}:
            raise AttributeError(name)
        return getattr(self.gaussian, name)

    def _read(self, name: str) -> Array:
        """A tensor of the distribution as an array."""
        with _torch().no_grad():
            return real(getattr(self.gaussian, name), name)


def _torch() -> Any:  # noqa: ANN401 - a module
    """Torch, or one sentence on how to have it."""
    try:
        import torch
    except ImportError:
        raise MissingPackageError(
            "possibal.adapters.gpytorch needs torch, which is not installed: "
            "run pip install 'possibal[botorch]'."
        ) from None
    return torch


def _known_rows(model: Any) -> Matrix:  # noqa: ANN401 - of GPyTorch
    """The training rows of an exact model."""
    inputs = getattr(model, "train_inputs", None)
    if not inputs:
        raise ValueError(
            f"training_rows must be given for a {type(model).__name__}, which keeps none; got "
            "None. Pass the rows that have labels."
        )
    rows = real(inputs[0], "training_rows")
    return rows.reshape(-1, *rows.shape[-2:])[0]  # the same for every label of a batch


def _scaled_by_lengths(
    model: Any,  # noqa: ANN401 - of GPyTorch
    tensor: Callable[[Matrix], Any],
    columns: int,
) -> Callable[[Matrix], Array] | None:
    """Rows in units of the length-scales of the only kernel that has some; None if there is none.

    Of several labels the geometric mean counts.
    """
    kernels = [one for one in model.modules() if getattr(one, "has_lengthscale", False)]
    if len(kernels) != 1 or kernels[0].active_dims is not None:
        return None
    lengths = real(kernels[0].lengthscale, "lengthscale").reshape(
        -1, kernels[0].lengthscale.shape[-1]
    )
    if lengths.shape[1] != columns:
        return None
    length = np.exp(np.log(lengths).mean(axis=0))

    def scaled(X: Matrix) -> Array:
        """Rows in units of length-scales, as the model transforms them."""
        change = getattr(model, "transform_inputs", None)
        rows = X if change is None else change(tensor(X))
        return real(rows, "X") / length

    return scaled
