"""Which settings reproduce the paper's Table 1: the search behind docs/reproduction.md.

The paper fixes the hyperparameters of its binary experiments in advance and does not print them,
nor how columns were scaled. This runs its protocol on a grid of both and says how far the medians
are from the published ones. The searches of docs/reproduction.md were

    why.py --scalings standard
    why.py --scalings unit,raw --amplitudes 1,10,100 --shares 0.1,0.2,0.35,0.7,1.4,3
    why.py --initial
    why.py --scalings standard --sets sonar --runs 20 --amplitudes 1,10,100 --shares 0.35,0.7,1.4
        --strategies brent
    why.py --scalings standard --sets sonar,ionosphere,fri,vehicle --amplitudes 10,100 --shares 0.7
        --strategies random,bald,bald5,bald20,bald100,uncertainty
    why.py --margin --runs 12
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial

import joblib
import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import pdist
from scipy.special import entr, ndtr

from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Matrix, Vector
from possibal.experiments import splits
from possibal.experiments.datasets import load
from possibal.experiments.engine.simulation import SimulationTask, simulate
from possibal.experiments.reporting.paper_results import TABLE_1
from possibal.experiments.spec import BINARY_STRATEGIES, MULTICLASS, experiment

SETS = ("sonar", "wine", "breast", "ionosphere", "fri", "vehicle")
AMPLITUDES = (0.1, 1.0, 10.0, 100.0, 1000.0)
SHARES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0)
"""Length-scales, as shares of the median distance between rows."""


def standard(X: Matrix, by: Matrix) -> Matrix:
    """Mean 0 and variance 1."""
    deviation = by.std(axis=0)
    return (X - by.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


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


def sampled(samples: int, view: View) -> Vector:
    """BALD by a few draws of each latent, as many programs estimate it."""
    belief = view.belief
    mean, sd = belief.mean[0], np.sqrt(belief.variance[0])
    p = ndtr(mean + sd * view.rng.standard_normal((samples, len(mean))))
    return _entropy(p.mean(axis=0)) - _entropy(p).mean(axis=0)


def _entropy(p: Vector) -> Vector:
    return entr(p) + entr(1.0 - p)


OTHERS: dict[str, tuple[Strategy, str]] = {
    "brent": (by_brent, "uncertainty"),
    "bald5": (partial(sampled, 5), "bald"),
    "bald20": (partial(sampled, 20), "bald"),
    "bald100": (partial(sampled, 100), "bald"),
}
"""Other ways to compute the paper's scores, and the ones they stand for."""


def medians(
    name: str, scaling: str, theta: tuple[float, float], settings: Namespace
) -> dict[str, float]:
    """Median accuracy after the last answer, by strategy."""
    splits.scaled = SCALINGS[scaling]
    names = settings.strategies.split(",")
    chosen = {one: OTHERS[one][0] if one in OTHERS else STRATEGIES[one] for one in names}
    task = SimulationTask(experiment(name).with_runs(settings.runs), load(name), chosen, theta)
    runs = simulate(task, [(one, run) for run in range(settings.runs) for one in chosen])
    return {
        one: float(np.median([run.accuracy[-1] for run in runs if run.strategy == one]))
        for one in chosen
    }


def largest_margin(view: View) -> Vector:
    """The margin with its sign turned: asks where the two leading labels are farthest apart."""
    return -STRATEGIES["margin"](view)


def margins(runs: int) -> None:
    """Print what the margin gives on the sets with three labels, and what it gives upside down."""
    chosen: dict[str, Strategy] = {one: STRATEGIES[one] for one in ("random", "margin")}
    chosen["largest"] = largest_margin
    sys.stdout.write(",".join(["set", *chosen]) + "\n")
    for name in MULTICLASS:
        runs = simulate(
            SimulationTask(experiment(name), load(name), chosen),
            [(one, run) for run in range(runs) for one in chosen],
        )
        last = {one: [run.accuracy[-1] for run in runs if run.strategy == one] for one in chosen}
        cells = [name, *(f"{np.median(some):.3f}" for some in last.values())]
        sys.stdout.write(",".join(cells) + "\n")


def cell(
    name: str, scaling: str, amplitude: float, share: float, settings: Namespace
) -> list[object]:
    """A line of the table."""
    data = load(name)
    X = SCALINGS[scaling](data.X, data.X)
    median = float(np.median(pdist(X)))
    share = share or float(np.log(2.0)) / median  # zero stands for GPyTorch's initial value
    length = share * median
    theta = (float(np.log(amplitude)), float(np.log(length)))
    got = medians(name, scaling, theta, settings)
    paper = [TABLE_1[name][OTHERS[s][1] if s in OTHERS else s].median for s in got]
    off = float(np.sqrt(np.mean((np.array(list(got.values())) - paper) ** 2)))
    return [
        name,
        scaling,
        amplitude,
        round(share, 3),
        round(off, 4),
        *(round(v, 4) for v in got.values()),
    ]


def main() -> None:
    """Print the grid as CSV."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=joblib.cpu_count())
    parser.add_argument("--scalings", default=",".join(SCALINGS))
    parser.add_argument("--amplitudes", default=",".join(map(str, AMPLITUDES)))
    parser.add_argument("--shares", default=",".join(map(str, SHARES)))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument(
        "--strategies", default=",".join(BINARY_STRATEGIES), help=f"or {set(OTHERS)}"
    )
    parser.add_argument("--initial", action="store_true", help="GPyTorch's initial values only")
    parser.add_argument("--margin", action="store_true", help="only the margin, three labels")
    settings = parser.parse_args()
    if settings.margin:
        margins(settings.runs)
        return
    if settings.initial:
        settings.amplitudes, settings.shares = str(np.log(2.0)), "0"
    grid = [
        (name, scaling, float(amplitude), float(share), settings)
        for name in settings.sets.split(",")
        for scaling in settings.scalings.split(",")
        for amplitude in settings.amplitudes.split(",")
        for share in settings.shares.split(",")
    ]
    parallel = joblib.Parallel(n_jobs=settings.jobs, return_as="generator")
    lines = parallel(joblib.delayed(cell)(*one) for one in grid)
    names = settings.strategies.split(",")
    sys.stdout.write(",".join(["set", "scaling", "amplitude", "share", "off", *names]) + "\n")
    console = Console(stderr=True)
    for line in track(
        lines, "settings", len(grid), console=console, disable=not console.is_terminal
    ):
        sys.stdout.write(",".join(map(str, line)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
