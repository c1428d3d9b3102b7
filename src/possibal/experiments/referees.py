"""Referees: other classifiers, trained on the labels that a strategy asked for (label reuse).

    StartedJob -> RefereeJob --run--> results, by the referee

Accuracy grows by better questions and by a better model. A referee learns from the same labels,
whoever asked for them, and so tells the one from the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from possibal.arrays import Vector
from possibal.experiments.datasets import Dataset
from possibal.experiments.engine.results_file import opened
from possibal.experiments.engine.runner import StartedJob, Work
from possibal.experiments.engine.simulation import Names
from possibal.experiments.results import Run
from possibal.experiments.spec import Experiment
from possibal.experiments.splits import split
from possibal.numerics.linalg import one_thread

Classifier: TypeAlias = Any
"""A classifier of scikit-learn, which ships no types."""

MODELS: Mapping[str, Callable[[], Classifier]] = MappingProxyType(
    {
        "svm": partial(SVC, C=10.0),
        "forest": partial(RandomForestClassifier, random_state=0),
        "logistic": partial(LogisticRegression, max_iter=1000),
    }
)
"""The referees of spec.py."""


def referee_accuracies(
    experiment: Experiment, data: Dataset, run: Run, model: Classifier
) -> Vector:
    """Accuracy of a model on a run's test rows: with the start alone, then after each answer.

    Args:
        experiment: that the run is of.
        data: the set.
        run: what asked for the labels, (queries,) of them.
        model: is left as it is; a copy of it learns anew after every answer.
    """
    share = split(experiment, data, run.run)
    known = np.concatenate([share.start, run.rows])
    X, y = share.X[known], data.y[known]
    there, truth = share.X[share.test], data.y[share.test]
    with one_thread():
        copies: list[Classifier] = [clone(model) for _ in range(len(run.rows) + 1)]
        learnt = (one.fit(X[:n], y[:n]) for n, one in enumerate(copies, len(share.start)))
        return np.array([np.mean(one.predict(there) == truth) for one in learnt])


@dataclass(frozen=True, eq=False)
class RefereeJob(StartedJob):
    """An experiment whose runs a referee measures again, with a results file of its own.

    Attributes:
        runs: of the experiment, by strategy and run; those to come are found there in the end.
        model: the referee.
    """

    runs: Mapping[tuple[str, int], Run]
    model: Classifier

    @property
    def work(self) -> Work:
        """What the workers do."""
        return partial(_measured_again, self.job.experiment, self.job.data, self.runs, self.model)


def referee_jobs(name: str, model: Classifier, started: Sequence[StartedJob]) -> list[RefereeJob]:
    """Experiments as a referee will measure them once they were run.

    Args:
        name: of the referee, for its results files, which lie beside those of the experiments.
        model: what learns.
        started: the experiments.
    """
    found = list[RefereeJob]()
    for one in started:
        path, made = one.results_file.path, one.job.provenance
        path = path.with_name(f"{path.stem}-by-{name}.csv")
        own = opened(path, replace(made, source=f"{made.source}{model!r}"), None)
        found.append(RefereeJob(one.job, own, one.results_file.runs, model))
    return found


def _measured_again(
    experiment: Experiment,
    data: Dataset,
    runs: Mapping[tuple[str, int], Run],
    model: Classifier,
    names: Names,
) -> list[Run]:
    """Runs with the accuracy of a referee in place of our model's."""
    some = (runs[name] for name in names)
    return [replace(one, accuracy=referee_accuracies(experiment, data, one, model)) for one in some]
