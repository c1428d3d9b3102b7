"""Demonstrations: short ones, and one that is long enough for an interval."""

from functools import cache

from possibal.experiments import demo
from possibal.experiments.engine.runner import cores

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
