"""Value and gradient of our acquisition functions for BoTorch, beside BoTorch's own analytic ones.

    python bench/botorch_scores.py        (needs the dependency group adapters)

All read the posterior of one Gaussian process, so that what differs is the work on its moments; the
last lines leave the model out. The median of repeated runs, all in turn, on one thread.
"""

import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
import torch
from botorch.acquisition.analytic import LogExpectedImprovement, LogProbabilityOfImprovement
from botorch.models import SingleTaskGP

from possibal.adapters.botorch import LogDoubt, LogUncertainty, log_doubt, log_uncertainty

ROWS, CANDIDATES, RUNS = 50, 1000, 30


def seconds(run: Callable[[], None]) -> float:
    """How long one run takes."""
    start = perf_counter()
    run()
    return perf_counter() - start


def gradient(of: Callable[..., torch.Tensor], *leaves: torch.Tensor) -> Callable[[], None]:
    """A run of the value of a function and its gradient by all its arguments."""

    def run() -> None:
        for leaf in leaves:
            leaf.grad = None
        of(*leaves).sum().backward()

    return run


def compare(title: str, runs: dict[str, Callable[[], None]]) -> None:
    """Print the medians, and as ratios to the first."""
    for run in runs.values():
        run()
    times = {name: list[float]() for name in runs}
    for _ in range(RUNS):
        for name, run in runs.items():
            times[name].append(seconds(run))
    medians = {name: float(np.median(found)) for name, found in times.items()}
    first = next(iter(medians.values()))
    print(f"\n{title}, ms for {CANDIDATES} candidates")
    for name, median in medians.items():
        print(f"  {name:32} {1e3 * median:8.2f}   x {median / first:.2f}")


def main() -> None:
    """Compare with the model and without."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    X = torch.rand(ROWS, 4, dtype=torch.double)
    y = torch.sign(X[:, :1] - 0.5)
    model = SingleTaskGP(X, y).eval()
    at = torch.rand(CANDIDATES, 1, 4, dtype=torch.double, requires_grad=True)
    functions = {
        "BoTorch LogProbabilityOfImprovement": LogProbabilityOfImprovement(model, best_f=0.0),
        "BoTorch LogExpectedImprovement": LogExpectedImprovement(model, best_f=0.0),
        "LogDoubt": LogDoubt(model),
        "LogUncertainty": LogUncertainty(model),
    }
    compare("With the model", {name: gradient(one, at) for name, one in functions.items()})
    mean = torch.randn(CANDIDATES, 1, dtype=torch.double, requires_grad=True)
    variance = torch.rand(CANDIDATES, 1, dtype=torch.double).add(0.01).requires_grad_()
    alone = {
        "log_ndtr(mean / sd)": lambda m, v: torch.special.log_ndtr(m / v.sqrt()),
        "log_doubt": log_doubt,
        "log_uncertainty": log_uncertainty,
    }
    compare("Moments alone", {name: gradient(one, mean, variance) for name, one in alone.items()})


if __name__ == "__main__":
    main()
