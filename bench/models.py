"""What a step of active learning costs, as ratios against peers measured in the same run.

A step is a fit and the latent moments of every row of a pool, all of 20 columns. Every line is the
best of interleaved repeats, as in scores.py, and everything runs on one thread.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
import scores
from rich.console import Console
from rich.table import Table
from scores import REPEATS, interleaved, nano, timed
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Product
from threadpoolctl import threadpool_limits

from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.gp.likelihoods import LOGISTIC
from possibal.gp.posterior import TrainingData, condition
from possibal.gp.prediction import CHUNK
from possibal.gp.prior import prior

try:
    import gpytorch
    import torch
except ImportError:  # they are heavy, and nothing else here needs them
    gpytorch = torch = None

D = 20
STACK = 30  # settings fitted together
FEW = 2  # repeats of a peer that takes seconds
ADAM_STEPS, ADAM_RATE = 500, 0.05
AMPLITUDE, LENGTH_SCALE = 4.0, 4.0
SCIKIT_LEARN = "scikit-learn"

Moments: TypeAlias = tuple[np.ndarray, np.ndarray]


def task(n: int, m: int, labels: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows seen, their labels and a pool; a label is the largest of noisy linear scores."""
    rng = np.random.default_rng(scores.SEED)
    X, X_t = rng.normal(size=(n, D)), rng.normal(size=(m, D))
    heard = X @ rng.normal(size=(D, labels)) + rng.normal(size=(n, labels))
    return X, heard.argmax(axis=1), X_t


def kernel() -> Product:
    """The kernel of every line whose hyperparameters are fixed."""
    return ConstantKernel(AMPLITUDE) * RBF(LENGTH_SCALE)


# ---------------------------------------------------------------- the contenders


def ours(X: np.ndarray, y: np.ndarray, X_t: np.ndarray) -> Moments:
    """Two labels, the kernel as it is."""
    model = PossibilisticGPClassifier(kernel(), hyperparameters="fixed", link="logistic")
    return model.fit(X, y).latent_mean_and_variance(X_t)


def scikit_learn(X: np.ndarray, y: np.ndarray, X_t: np.ndarray) -> Moments:
    """The same by scikit-learn, which has the logistic link too."""
    model = GaussianProcessClassifier(kernel(), optimizer=None)
    return model.fit(X, y).latent_mean_and_variance(X_t)


def variational(X: np.ndarray, y: np.ndarray, X_t: np.ndarray) -> Moments:
    """Two labels by GPyTorch in its own single precision: Adam on a variational bound.

    The kernel is kept as it is, which spares the peer the gradients of its hyperparameters.
    """
    seen, pool = (torch.tensor(rows, dtype=torch.float32) for rows in (X, X_t))
    labels = torch.tensor(y, dtype=torch.float32)

    class Latent(gpytorch.models.ApproximateGP):
        """A latent with a free Gaussian on the rows seen."""

        def __init__(self) -> None:
            free = gpytorch.variational.CholeskyVariationalDistribution(len(seen))
            super().__init__(
                gpytorch.variational.VariationalStrategy(
                    self, seen, free, learn_inducing_locations=False
                )
            )
            self.mean = gpytorch.means.ZeroMean()
            self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
            self.covariance.outputscale = AMPLITUDE
            self.covariance.base_kernel.lengthscale = LENGTH_SCALE
            self.covariance.requires_grad_(requires_grad=False)

        def forward(self, rows: object) -> object:
            return gpytorch.distributions.MultivariateNormal(self.mean(rows), self.covariance(rows))

    model, likelihood = Latent(), gpytorch.likelihoods.BernoulliLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, len(seen))
    free = [parameter for parameter in model.parameters() if parameter.requires_grad]
    adam = torch.optim.Adam(free, lr=ADAM_RATE)
    model.train()
    for _ in range(ADAM_STEPS):
        adam.zero_grad()
        loss = -bound(model(seen), labels)
        loss.backward()
        adam.step()
    model.eval()
    with torch.no_grad():
        latent = model(pool)
        return latent.mean.numpy(), latent.variance.numpy()


def refitted(way: str, X: np.ndarray, y: np.ndarray, X_t: np.ndarray) -> object:
    """Any number of labels, hyperparameters from the data."""
    return PossibilisticGPClassifier(hyperparameters=way).fit(X, y).belief(X_t)


def one_against_rest(X: np.ndarray, y: np.ndarray, X_t: np.ndarray) -> np.ndarray:
    """The same by scikit-learn, which for many labels has probabilities alone."""
    model = GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.0))
    return model.fit(X, y).predict_proba(X_t)


def bare(K_t: np.ndarray, root: np.ndarray) -> None:
    """What no way round can spare a pool: an exponential and half a matrix product, in chunks."""
    n = K_t.shape[1]
    for start in range(0, len(K_t), CHUNK // n):
        np.exp(K_t[start : start + CHUNK // n]) @ root[:, : n // 2]


# ---------------------------------------------------------------- the comparisons


def binary(table: Table, n: int, m: int, goal: str) -> None:
    """A step of two labels against scikit-learn."""
    given = task(n, m)
    for mine, theirs in zip(ours(*given), scikit_learn(*given), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6, rtol=0)
    steps = 20 if m < 1000 else 1  # milliseconds are too few to time by themselves
    what = f"2 labels, fixed, n={n}, m={m}"
    compare(table, what, (ours, scikit_learn), given, goal=goal, steps=steps)


def stacked(table: Table, n: int, m: int) -> None:
    """Steps of two labels under many settings at once, as an envelope makes them."""
    X, y, X_t = task(n, m)
    thetas = kernel().theta + 0.2 * np.random.default_rng(scores.SEED).normal(size=(STACK, 2))
    seen = TrainingData(X, np.where(y == 1, 1.0, -1.0)[None], np.ones((1, n)), LOGISTIC)
    what = f"2 labels, {STACK} settings together, n={n}, m={m}, each"
    contenders = {
        "ours": timed(lambda: condition(prior([kernel()], thetas), seen).moments(X_t), STACK),
        "peer": timed(lambda: [scikit_learn(X, y, X_t) for _ in range(5)], 5),
    }
    line(table, what, interleaved(contenders, what), SCIKIT_LEARN, "at least 4x")


def against_variational(table: Table, n: int, m: int) -> None:
    """A step of two labels against GPyTorch, whose posterior is another approximation."""
    given = task(n, m)
    (mine, _), (theirs, _) = ours(*given), variational(*given)
    assert np.corrcoef(mine, theirs)[0, 1] > 0.99
    compare(
        table,
        f"2 labels, fixed, n={n}, m={m}",
        (ours, variational),
        given,
        goal="at least 100x",
        peer=f"GPyTorch variational, {ADAM_STEPS} Adam steps",
        repeats=FEW,
    )


def multiclass(table: Table, way: str) -> None:
    """A step of three labels whose hyperparameters are fitted anew."""
    given = task(50, 120, 3)
    contenders = partial(refitted, way), one_against_rest
    what, peer = f"3 labels, {way}, n=50, m=120", f"{SCIKIT_LEARN}, one-vs-rest"
    compare(table, what, contenders, given, goal="at least 10x", peer=peer)


def compare(  # noqa: PLR0913 - one line of the table
    table: Table,
    what: str,
    contenders: tuple[Callable[..., object], Callable[..., object]],
    given: tuple[np.ndarray, ...],
    *,
    goal: str,
    peer: str = SCIKIT_LEARN,
    steps: int = 1,
    repeats: int = REPEATS,
) -> None:
    """One line: ours, the peer, and how many times ours the peer takes."""

    def several(run: Callable[..., object]) -> None:
        for _ in range(steps):
            run(*given)

    mine, theirs = (timed(partial(several, run), steps) for run in contenders)
    line(table, what, interleaved({"ours": mine, "peer": theirs}, what, repeats), peer, goal)


def line(table: Table, what: str, seconds: dict[str, float], peer: str, goal: str) -> None:
    """One line of the table."""
    shown = f"{seconds['peer'] / seconds['ours']:,.1f}x"
    table.add_row(what, nano(seconds["ours"]), peer, nano(seconds["peer"]), shown, goal)


def overhead(console: Console, n: int, m: int) -> None:
    """A step of two labels against the bare numbers it cannot do without."""
    given = task(n, m)
    rng = np.random.default_rng(scores.SEED)
    matrices = -rng.random((m, n)), rng.normal(size=(n, n))
    seconds = interleaved(
        {"ours": timed(partial(ours, *given), 1), "bare": timed(partial(bare, *matrices), 1)},
        "bare",
    )
    console.print(
        f"n={n}, m={m}: ours / bare exponential and matrix product "
        f"{seconds['ours'] / seconds['bare']:.2f} "
        f"({nano(seconds['ours'])} / {nano(seconds['bare'])})"
    )


def main() -> None:
    """Run all comparisons and print one table."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # scikit-learn's search hits its bounds
    console = Console(width=150 if not sys.stdout.isatty() else None)
    table = Table("what", "ours, per step", "peer", "peer, per step", "peer / ours", "goal")
    with threadpool_limits(1):
        binary(table, 50, 120, "at least 4x")
        stacked(table, 50, 120)
        binary(table, 50, 10_000, "at least 4x")
        binary(table, 200, 10_000, "at least 4x")
        multiclass(table, "envelope")
        multiclass(table, "evidence")
        if torch is not None:
            torch.set_num_threads(1)
            against_variational(table, 50, 10_000)
            against_variational(table, 200, 10_000)
        console.print(table)
        overhead(console, 200, 10_000)
    if torch is None:
        console.print("GPyTorch is left out: pip install torch==2.13.0 gpytorch to compare.")


if __name__ == "__main__":
    main()
