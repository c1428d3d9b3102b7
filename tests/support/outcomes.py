"""Results as tests need them: of short demonstrations, and made up of given learning curves."""

from functools import cache

import numpy as np

from possibal.experiments import demo
from possibal.experiments.engine.runner import cores
from possibal.experiments.results import Results
from possibal.experiments.spec import ENVELOPE, HELD_OUT, Experiment, Sizes

STEPS, START = 30, 2
SMALL = demo.DemoRequest(questions=3, runs=2)


def played(request: demo.DemoRequest, jobs: int = 1) -> demo.Demonstration:
    job = demo.demo_job(request)
    with cores(jobs) as execute:
        runs = [run for some in demo.simulated(job, execute) for run in some]
    return demo.Demonstration(job, tuple(runs))


@cache  # ten runs are dear to play and cheap to keep
def usual() -> demo.Demonstration:
    """As many runs as an interval needs."""
    return played(demo.DemoRequest(questions=20, runs=10))


def made_up(**accuracy):
    """Results of strategies with these accuracies, a line for each run."""
    lines = {name: np.asarray(some, dtype=float) for name, some in accuracy.items()}
    runs, points = next(iter(lines.values())).shape
    experiment = Experiment("wine", HELD_OUT, ENVELOPE, Sizes(runs, points - 1, 89, 89))
    return Results(experiment, START, lines)


def learning(rng, runs, *, ahead=0, noise=0.0):
    """Curves that grow with the labels, as if so many more were known."""
    steps = np.arange(STEPS + 1) + ahead
    run = rng.normal(size=(runs, 1)) + rng.normal(size=(runs, STEPS + 1))
    return 1 - 0.5 * np.exp(-steps / 10) + noise * run
