"""Tasks of experiments, as a run prepares them."""

from possibal.experiments.engine.simulation import SimulationTask, fit_in_advance, is_binary
from possibal.experiments.spec import PAPER


def prepared(experiment, data, strategies) -> SimulationTask:
    """The task of an experiment, with hyperparameters fitted in advance where they are wanted."""
    leaks = experiment.hyperparameters == PAPER and is_binary(data)
    theta = fit_in_advance(data, experiment.seed) if leaks else None
    return SimulationTask(experiment, data, strategies, theta)
