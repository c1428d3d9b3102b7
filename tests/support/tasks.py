"""Tasks of experiments, as a run prepares them."""

from possibal.experiments.engine.simulation import Task, in_advance, is_binary
from possibal.experiments.spec import PAPER


def prepared(experiment, data, strategies) -> Task:
    """The task of an experiment, with hyperparameters fitted in advance where they are wanted."""
    leaks = experiment.hyperparameters == PAPER and is_binary(data)
    theta = in_advance(data, experiment.seed) if leaks else None
    return Task(experiment, data, strategies, theta)
