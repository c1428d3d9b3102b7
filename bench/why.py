"""Which settings reproduce the paper's Table 1: the search behind docs/reproduction.md.

The paper fixes the hyperparameters of its binary experiments in advance and does not print them,
nor how columns were scaled. This runs its protocol on a grid of both and says how far the medians
are from the published ones, and by how much U leads BALD.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial

import joblib
import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import pdist
from scipy.special import ndtr

from possibal.acquisition import STRATEGIES
from possibal.arrays import Matrix, Vector
from possibal.experiments import deal
from possibal.experiments.datasets import load
from possibal.experiments.published import TABLE_1
from possibal.experiments.spec import BINARY_STRATEGIES, experiment
from possibal.experiments.trails import Task, follow
from possibal.view import Strategy, View

SETS = ("sonar", "wine", "breast", "ionosphere", "fri", "vehicle")
AMPLITUDES = (0.1, 1.0, 10.0, 100.0, 1000.0)
SHARES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0)
"""Length-scales, as shares of the median distance between rows."""


def standard(X: Matrix, by: Matrix) -> Matrix:
    """Mean 0 and variance 1."""
    spread = by.std(axis=0)
    return (X - by.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def unit(X: Matrix, by: Matrix) -> Matrix:
    """From 0 to 1."""
    low, high = by.min(axis=0), by.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0)


def as_it_is(X: Matrix, _by: Matrix) -> Matrix:
    """The units of the source."""
    return np.array(X)


SCALINGS: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "standard": standard,
    "unit": unit,
    "raw": as_it_is,
}


def by_brent(view: View) -> Vector:
    """U as the paper computes it: SciPy's Brent with its default bracket, on probabilities."""
    belief = view.belief
    mean, sd = belief.mean[0], np.sqrt(belief.variance[0])
    total = np.full(len(mean), -1.0)
    for i, (m, s) in enumerate(zip(mean, sd, strict=True)):
        for sign in (-1.0, 1.0):
            best = minimize_scalar(partial(_against, m, s, sign), method="brent")
            total[i] -= best.fun
    return total


def _against(mean: float, sd: float, sign: float, theta: float) -> float:
    return -float(ndtr(sign * theta) * np.exp(-0.5 * ((theta - mean) / sd) ** 2))


def medians(
    name: str, scaling: str, theta: tuple[float, float], runs: int, *, brent: bool
) -> dict[str, float]:
    """Median accuracy after the last answer, by strategy."""
    deal.scaled = SCALINGS[scaling]
    chosen: dict[str, Strategy] = {one: STRATEGIES[one] for one in BINARY_STRATEGIES}
    if brent:
        chosen = {"by_brent": by_brent}
    task = Task(experiment(name).with_runs(runs), load(name), chosen, theta)
    trails = follow(task, [(one, run) for run in range(runs) for one in chosen])
    return {
        one: float(np.median([t.accuracy[-1] for t in trails if t.strategy == one]))
        for one in chosen
    }


def cell(name: str, scaling: str, amplitude: float, share: float, settings: object) -> list[object]:
    """A line of the table."""
    data = load(name)
    X = SCALINGS[scaling](data.X, data.X)
    length = share * float(np.median(pdist(X)))
    theta = (float(np.log(amplitude)), float(np.log(length)))
    got = medians(name, scaling, theta, settings.runs, brent=settings.brent)
    paper = [TABLE_1[name]["uncertainty" if s == "by_brent" else s].median for s in got]
    off = float(np.sqrt(np.mean((np.array(list(got.values())) - paper) ** 2)))
    return [name, scaling, amplitude, share, round(off, 4), *(round(v, 4) for v in got.values())]


def main() -> None:
    """Print the grid as CSV."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=joblib.cpu_count())
    parser.add_argument("--scalings", default=",".join(SCALINGS))
    parser.add_argument("--amplitudes", default=",".join(map(str, AMPLITUDES)))
    parser.add_argument("--shares", default=",".join(map(str, SHARES)))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--brent", action="store_true", help="only U, by Brent as in the paper")
    settings = parser.parse_args()
    grid = [
        (name, scaling, float(amplitude), float(share), settings)
        for name in settings.sets.split(",")
        for scaling in settings.scalings.split(",")
        for amplitude in settings.amplitudes.split(",")
        for share in settings.shares.split(",")
    ]
    parallel = joblib.Parallel(n_jobs=settings.jobs, return_as="generator")
    lines = parallel(joblib.delayed(cell)(*one) for one in grid)
    names = ["by_brent"] if settings.brent else list(BINARY_STRATEGIES)
    sys.stdout.write(",".join(["set", "scaling", "amplitude", "share", "off", *names]) + "\n")
    console = Console(stderr=True)
    for line in track(
        lines, "settings", len(grid), console=console, disable=not console.is_terminal
    ):
        sys.stdout.write(",".join(map(str, line)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
