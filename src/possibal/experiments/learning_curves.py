"""Learning curves of strategies on a labelled frame, as a tidy frame.

simulate(frame, label="outcome", strategies=["herding", mine]) -> one row per strategy, run, labels
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from possibal.arguments import DEFAULT_STRATEGY, at_least, check_listed, choice
from possibal.campaign.frame_output import build_frame
from possibal.data.frames import as_frame, from_frame
from possibal.experiments.compare import RANDOM, few_enough, sizes
from possibal.experiments.engine.runner import ExperimentJob, begin, cores, run
from possibal.experiments.referees import MODELS, referee_jobs
from possibal.experiments.results import Results
from possibal.experiments.spec import ENVELOPE, HELD_OUT, RUNS, Experiment
from possibal.experiments.strategies import checked_model, named_strategies
from possibal.experiments.user_data import LoadedTable, given_source, loaded


def simulate(  # noqa: PLR0913 - all but the first are named
    data: Any,  # noqa: ANN401 - frames of any library
    *,
    label: str,
    strategies: Sequence[str | Callable[..., Any]] | Mapping[str, str | Callable[..., Any]] = (
        DEFAULT_STRATEGY,
    ),
    runs: int = RUNS,
    questions: int | None = None,
    hyperparameters: str = ENVELOPE,
    classifier: Any = None,  # noqa: ANN401 - of scikit-learn or ours
    referees: Sequence[str] = (),
    seed: int = 0,
    jobs: int | None = None,
    library: str | None = None,
) -> Any:  # noqa: ANN401 - as above
    """Learning curves of strategies on labelled rows, each run the same split for all of them.

    Every run draws a pool, one row of each class to start with, and other rows to test on. A
    strategy asks for labels one at a time, as a campaign does. Random is always among them. Rows
    without a label and columns that say nothing are left out, as by ``possibal compare``.

    Args:
        data: a data frame with the labels, a dict of columns, or a list of dicts.
        label: the column with the labels.
        strategies: names in :data:`~possibal.acquisition.STRATEGIES`, ``module:function``, or
            functions of a :class:`~possibal.acquisition.strategy.View` or of latent mean and
            variance; a dict gives them names.
        runs: to average over, two at least.
        questions: labels asked for in a run; 50 if there is room.
        hyperparameters: as in ``possibal compare``.
        classifier: what learns in place of the usual one: a classifier of ours, or one of
            scikit-learn, which is asked by its probabilities alone; it is fitted anew after every
            label, so that it takes longer.
        referees: other models that learn from the same labels: "svm", "forest" or "logistic".
        seed: the same seed gives the same curves.
        jobs: processes; one per core if left out.
        library: "pandas", "polars" or "pyarrow"; if left out, that of the data.

    Returns:
        A frame with a row for each strategy, run and number of labels: ``strategy``, ``run``,
        ``labels``, ``accuracy`` on the test rows, ``ahead`` of random in the same run, and
        ``accuracy_NAME`` by each referee.
    """
    check_listed("strategies", strategies)
    check_listed("referees", referees)
    chosen = named_strategies(strategies)
    models = {name: choice("referees", name, MODELS)() for name in referees}
    at_least("seed", seed, 0)
    if jobs is not None:
        at_least("jobs", jobs, 1)
    table = LoadedTable("data", from_frame(data), given_source("the user's frame"))
    dataset, _ = few_enough(loaded(table, label).dataset, seed)
    size = sizes(dataset, runs, questions)
    job = ExperimentJob(
        Experiment(dataset.name, HELD_OUT, hyperparameters, size, seed),
        dataset,
        chosen,
        model=checked_model(classifier, chosen, hyperparameters),
    )
    with TemporaryDirectory() as place, cores(jobs) as execute:
        started = begin([job], Path(place), execute)
        (curves,) = run(started, execute, lambda _: None)
        judged = {
            f"accuracy_{name}": run(referee_jobs(name, model, started), execute, lambda _: None)[0]
            for name, model in models.items()
        }
    return build_frame(_columns(curves, judged), library or _library(data))


def _columns(curves: Results, judged: Mapping[str, Results]) -> dict[str, list[Any]]:
    """Paired curves as columns, strategy by strategy and run by run."""
    names, (runs, steps) = list(curves.accuracy), curves.accuracy[RANDOM].shape
    random = curves.accuracy[RANDOM]
    labels = np.arange(curves.start, curves.start + steps)
    columns: dict[str, list[Any]] = {
        "strategy": [name for name in names for _ in range(runs * steps)],
        "run": np.tile(np.repeat(np.arange(1, runs + 1), steps), len(names)).tolist(),
        "labels": np.tile(labels, len(names) * runs).tolist(),
        "accuracy": _joined(curves.accuracy[name] for name in names),
        "ahead": _joined(curves.accuracy[name] - random for name in names),
    }
    for column, results in judged.items():
        columns[column] = _joined(results.accuracy[name] for name in names)
    return columns


def _joined(blocks: Any) -> list[float]:  # noqa: ANN401 - arrays, one after the other
    """Numbers of several tables, line by line."""
    return np.concatenate([one.ravel() for one in blocks]).tolist()


def _library(data: Any) -> str | None:  # noqa: ANN401 - frames of any library
    """The library that data come from, if it is one that can be written."""
    found = as_frame(data)
    name = None if found is None else found.frame.implementation.value
    return name if name in {"pandas", "polars", "pyarrow"} else None
