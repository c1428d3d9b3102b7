"""Our variational softmax beside GPyTorch's: do they agree, and what does a fit take?

The paper's experiments with three labels are GPyTorch's variational softmax, 500 steps of Adam at a
rate of 0.05 after every answer. `possibal reproduce --model variational` finds the same Gaussians
by a fixed point in NumPy. Both learn from the same labels here: under the same hyperparameters,
where they must agree, and with GPyTorch's own.
"""

import sys
import warnings
from argparse import ArgumentParser
from time import perf_counter
from typing import Any

import gpytorch
import numpy as np
import torch
from scipy.spatial.distance import cdist

from possibal.arrays import Array, Matrix
from possibal.experiments.datasets import load
from possibal.experiments.engine.variational_softmax import variational_conditioned
from possibal.experiments.spec import MULTICLASS, experiment
from possibal.experiments.splits import split
from possibal.gp.likelihoods import SOFTMAX

ADAM_STEPS, ADAM_RATE = 500, 0.05
DRAWS = 200
"""Of GPyTorch's bound where the two must agree; ten otherwise, as it has them."""
HEADS = (
    "set",
    "same label",
    "means apart",
    "sds apart",
    "GPyTorch's amplitudes",
    "its length-scales",
    "s a fit, GPyTorch",
    "ms a fit, ours",
)


class Latents(gpytorch.models.ApproximateGP):
    """One latent for each label."""

    def __init__(self, seen: torch.Tensor, labels: int) -> None:
        """Begin at GPyTorch's own values."""
        family, batch = gpytorch.variational, torch.Size([labels])
        free = family.CholeskyVariationalDistribution(len(seen), batch_shape=batch)
        inner = family.VariationalStrategy(self, seen, free, learn_inducing_locations=False)
        super().__init__(family.IndependentMultitaskVariationalStrategy(inner, labels))
        self.mean = gpytorch.means.ConstantMean(batch_shape=batch)
        self.covariance = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel(batch_shape=batch), batch_shape=batch
        )

    def forward(self, rows: torch.Tensor) -> object:
        """The prior of rows."""
        return gpytorch.distributions.MultivariateNormal(self.mean(rows), self.covariance(rows))


def theirs(
    X: Matrix, y: Array, X_t: Matrix, labels: int, fixed: tuple[float, float] | None
) -> tuple[Array, Array, Any]:
    """Latent means and standard deviations of GPyTorch, (m, C), and the model."""
    seen, codes = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.long)
    torch.manual_seed(0)
    model = Latents(seen, labels)
    if fixed is not None:
        model.covariance.outputscale, model.covariance.base_kernel.lengthscale = fixed
        for part in (model.mean, model.covariance):
            part.requires_grad_(requires_grad=False)
    link = gpytorch.likelihoods.SoftmaxLikelihood(num_classes=labels, mixing_weights=False)
    bound = gpytorch.mlls.VariationalELBO(link, model, len(seen))
    adam = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=ADAM_RATE)
    model.train()
    with gpytorch.settings.num_likelihood_samples(DRAWS if fixed else 10):
        for _ in range(ADAM_STEPS):
            adam.zero_grad()
            loss = -bound(model(seen), codes)
            loss.backward()
            adam.step()
    model.eval()
    with torch.no_grad():
        latent = model(torch.tensor(X_t, dtype=torch.float32))
    return latent.mean.numpy(), latent.variance.sqrt().numpy(), model


def ours(
    X: Matrix, y: Array, X_t: Matrix, labels: int, fixed: tuple[float, float]
) -> tuple[Array, Array]:
    """The same by the fixed point."""
    amplitude, length = fixed
    K, K_t = (
        amplitude * np.exp(-0.5 * cdist(X, Z, "sqeuclidean") / length**2)[None] for Z in (X, X_t)
    )
    one_hot = (np.arange(labels)[:, None] == y)[None].astype(float)
    fit = variational_conditioned(K, one_hot, SOFTMAX, np.array([amplitude]))
    mean, variance = fit.moments(K_t)
    return mean[0, 0].T, np.sqrt(variance[0, 0].T)


def line(name: str, labels: int, fixed: tuple[float, float]) -> str:
    """How far the two are apart on a set, and how long they take."""
    data, share = load(name), split(experiment(name), load(name), 0)
    known, C = share.pool[:labels], len(data.labels)
    rows = share.X[known], data.y[known], share.X[share.test], C
    started = perf_counter()
    mean, sd = ours(*rows, fixed)
    half = perf_counter()
    their_mean, their_sd, _ = theirs(*rows, fixed)
    kernel = theirs(*rows, None)[2].covariance
    seconds = (perf_counter() - half) / 2
    apart = their_mean - mean
    apart -= apart.mean(axis=1, keepdims=True)  # a common shift changes no label
    cells = (
        name,
        f"{np.mean(mean.argmax(axis=1) == their_mean.argmax(axis=1)):.3f}",
        f"{np.sqrt(np.mean(apart**2)):.2f} of {mean.std():.2f}",
        f"{np.sqrt(np.mean((their_sd - sd) ** 2)):.2f} of {sd.mean():.2f}",
        " ".join(f"{x:.1f}" for x in kernel.outputscale.tolist()),
        " ".join(f"{x:.1f}" for x in kernel.base_kernel.lengthscale.flatten().tolist()),
        f"{seconds:.1f}",
        f"{1e3 * (half - started):.1f}",
    )
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Print a line for each set."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(MULTICLASS))
    parser.add_argument("--labels", type=int, default=40)
    parser.add_argument("--amplitude", type=float, default=8.0)
    parser.add_argument("--length", type=float, default=2.0)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", module="gpytorch|linear_operator")
    sys.stdout.write(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}\n")
    for name in asked.sets.split(","):
        sys.stdout.write(line(name, asked.labels, (asked.amplitude, asked.length)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
