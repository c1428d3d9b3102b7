"""Learning curves: one run of one strategy, and all runs of an experiment in pairs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from possibal.arrays import Matrix, Places, Vector
from possibal.experiments.recipes import BEFORE
from possibal.experiments.spec import Experiment


@dataclass(frozen=True, eq=False)
class Run:
    """Questions and learning curve of one strategy in one run.

    Attributes:
        strategy: what chose the questions.
        run: number of the run.
        rows: (queries,), the rows asked about, in order.
        accuracy: (queries + 1,), on the test rows: with the start alone, then after each answer.
    """

    strategy: str
    run: int
    rows: Places
    accuracy: Vector


@dataclass(frozen=True, eq=False)
class Results:
    """Paired learning curves of an experiment: line r of every strategy is run r.

    Attributes:
        experiment: what was run.
        start: labels known before the first question.
        accuracy: for each strategy (runs, queries + 1).
    """

    experiment: Experiment
    start: int
    accuracy: Mapping[str, Matrix]

    @classmethod
    def of(cls, experiment: Experiment, start: int, runs: Iterable[Run]) -> "Results":
        """The learning curves of runs, those of a strategy in the order of their runs.

        Where the model that asked last is tested, the curves end one answer earlier.

        Paper: App. E.2, Algorithm 1, lines 6 and 14.
        """
        end = -1 if experiment.tested == BEFORE else None
        lines = dict[str, list[Run]]()
        for run in runs:
            lines.setdefault(run.strategy, []).append(run)
        accuracy = {
            strategy: np.array([run.accuracy[:end] for run in sorted(some, key=_number)])
            for strategy, some in lines.items()
        }
        return cls(experiment, start, accuracy)

    @property
    def final(self) -> dict[str, Vector]:
        """Accuracy after the last answer, or before it as the experiment says, one per run."""
        return {strategy: lines[:, -1] for strategy, lines in self.accuracy.items()}

    @property
    def area(self) -> dict[str, Vector]:
        """Area under the accuracy over the steps, scaled to one step, one per run.

        Paper: Sec. 6, AUC.
        """
        return {
            strategy: 0.5 * (lines[:, 1:] + lines[:, :-1]).mean(axis=1)
            for strategy, lines in self.accuracy.items()
        }


def _number(run: Run) -> int:
    return run.run
