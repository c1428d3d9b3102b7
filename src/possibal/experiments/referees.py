"""Referees: other models that learn from the labels that trails asked for.

    begun --by--> Judged --run--> results, by the referee

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
from possibal.experiments.engine.results_file import Provenance, opened
from possibal.experiments.engine.runner import StartedJob, Work
from possibal.experiments.engine.simulation import Names
from possibal.experiments.results import Run
from possibal.experiments.spec import Experiment
from possibal.experiments.splits import split
from possibal.numerics.linalg import one_thread

Classifier: TypeAlias = Any
"""A classifier of scikit-learn's making, which ships no types."""

MODELS: Mapping[str, Callable[[], Classifier]] = MappingProxyType(
    {
        "svm": partial(SVC, C=10.0),
        "forest": partial(RandomForestClassifier, random_state=0),
        "logistic": partial(LogisticRegression, max_iter=1000),
    }
)
"""The referees of spec.py."""


def referee_accuracies(
    experiment: Experiment, data: Dataset, trail: Run, model: Classifier
) -> Vector:
    """Accuracy of a model on a trail's test rows: with the start alone, then after each answer.

    Args:
        experiment: that the trail is of.
        data: the set.
        trail: what asked for the labels, (queries,) of them.
        model: is left as it is; a copy of it learns anew after every answer.
    """
    share = split(experiment, data, trail.run)
    known = np.concatenate([share.start, trail.rows])
    X, y = share.X[known], data.y[known]
    there, truth = share.X[share.test], data.y[share.test]
    with one_thread():
        copies: list[Classifier] = [clone(model) for _ in range(len(trail.rows) + 1)]
        learnt = (one.fit(X[:n], y[:n]) for n, one in enumerate(copies, len(share.start)))
        return np.array([np.mean(one.predict(there) == truth) for one in learnt])


@dataclass(frozen=True, eq=False)
class RefereeJob(StartedJob):
    """An experiment whose trails are judged by a referee, with a ledger for what it says.

    Attributes:
        trails: of the experiment, by strategy and run; those to come are found there in the end.
        model: the referee.
    """

    trails: Mapping[tuple[str, int], Run]
    model: Classifier

    @property
    def work(self) -> Work:
        """What the workers do."""
        return partial(_again, self.wanted.experiment, self.wanted.data, self.trails, self.model)


def referee_jobs(name: str, model: Classifier, begun: Sequence[StartedJob]) -> list[RefereeJob]:
    """Experiments as a referee will judge them once they were run.

    Args:
        name: of the referee, for its ledgers, which lie beside those of the experiments.
        model: what learns.
        begun: the experiments.
    """
    found = list[RefereeJob]()
    for one in begun:
        path, making = one.ledger.path, one.wanted.making
        path = path.with_name(f"{path.stem}-by-{name}.csv")
        making = Provenance(making.experiment, making.data, f"{making.source}{model!r}")
        found.append(RefereeJob(one.wanted, opened(path, making, None), one.ledger.trails, model))
    return found


def _again(
    experiment: Experiment,
    data: Dataset,
    trails: Mapping[tuple[str, int], Run],
    model: Classifier,
    names: Names,
) -> list[Run]:
    """Trails with the accuracy of a referee in place of our model's."""
    some = (trails[name] for name in names)
    return [replace(one, accuracy=referee_accuracies(experiment, data, one, model)) for one in some]
