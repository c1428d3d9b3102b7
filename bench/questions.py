"""Which questions save most labels: variants tried side by side, before one is chosen.

    python bench/questions.py herding,turn-4,density-0 --sets sonar,patients.csv --runs 0-3

Sets are the paper's, by name, or files whose last column is the label; held out, one label per
class, then 50 questions. Printed is the mean accuracy over the answers of each set, and the mean
difference to random in points: by our own model, and by a support vector machine that learns from
the same labels. Settings are chosen under seed 0; reports have another.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import cast
from unittest.mock import patch

import joblib
import numpy as np
from rich.console import Console
from rich.table import Table

from possibal import acquisition
from possibal.acquisition import coverage, lookahead
from possibal.acquisition.strategy import Strategy, View
from possibal.data.readers import read_table
from possibal.experiments import compare, user_data
from possibal.experiments.datasets import Dataset, load
from possibal.experiments.engine.simulation import SimulationTask, simulate
from possibal.experiments.referees import MODELS, referee_accuracies
from possibal.experiments.spec import ENVELOPE, HELD_OUT, TABLE_3, Experiment, Sizes
from possibal.numerics import distances

QUESTIONS = 50


# ---------------------------------------------------------------- variants
def changed(strategy: Strategy, setting: str, value: float) -> Strategy:
    """A strategy under another setting than that of coverage.py or distances.py."""
    module = coverage if hasattr(coverage, setting) else distances

    def variant(view: View) -> np.ndarray:
        with patch.object(module, setting, value):
            return strategy(view)

    return variant


VARIANTS: dict[str, Strategy] = {
    **acquisition.STRATEGIES,
    **{f"turn-{n}": changed(coverage.herding, "TURN", n) for n in (4, 8, 12.5, 25, 50, 10**9)},
    **{
        f"density-{c}": changed(coverage.herding, "DENSITY_POWER", c)
        for c in (0, 0.25, 0.35, 0.7, 1)
    },
    **{f"width-{w}": changed(coverage.herding, "WIDTH", w) for w in (0.1, 0.15, 0.25, 0.3, 0.4)},
    **{f"reach-{r}": changed(coverage.herding, "REACH", r) for r in (0, 0.5, 0.7)},
    **{
        f"ahead-density-{c}": changed(lookahead.look_ahead, "DENSITY_POWER", c)
        for c in (0, 0.25, 0.7, 1)
    },
}


# ---------------------------------------------------------------- runs
def dataset(name: str) -> tuple[Dataset, Sizes]:
    """A set and its sizes."""
    if name in TABLE_3:
        sizes = TABLE_3[name]
        return load(name, 0), Sizes(2, QUESTIONS, sizes.pool, sizes.test)
    data = user_data.read(name, read_table(Path(name)).table.names[-1], None).dataset
    return data, compare.sizes(data, 2)


def followed(name: str, run: int, variant: str) -> tuple[float, float]:
    """Mean accuracy over the answers: our own, and that of the referee."""
    data, sizes = dataset(name)
    experiment = Experiment(data.name, HELD_OUT, ENVELOPE, sizes)
    (found,) = simulate(
        SimulationTask(experiment, data, {variant: VARIANTS[variant]}), [(variant, run)]
    )
    referee = referee_accuracies(experiment, data, found, MODELS["svm"]())
    return float(found.accuracy[1:].mean()), float(referee[1:].mean())


def main() -> None:
    """Print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("variants", help=", ".join(VARIANTS))
    parser.add_argument("--sets", default=",".join(TABLE_3))
    parser.add_argument("--runs", default="0-5", help="first and one past the last")
    settings = parser.parse_args()
    names = list(dict.fromkeys(["random", *settings.variants.split(",")]))
    if unknown := [name for name in names if name not in VARIANTS]:
        parser.error(f"variants must be some of {', '.join(VARIANTS)}; got {unknown[0]!r}.")
    sets, (first, last) = settings.sets.split(","), map(int, settings.runs.split("-"))
    plan = [(one, run, name) for one in sets for run in range(first, last) for name in names]
    found = joblib.Parallel(n_jobs=-1)(joblib.delayed(followed)(*job) for job in plan)
    shape = (len(sets), last - first, len(names), 2)
    accuracy = 100 * np.array(cast("list[tuple[float, float]]", found)).reshape(shape)
    table = Table(title=f"Mean accuracy over {QUESTIONS} answers, runs {settings.runs}")
    for head in ("variant", "own", "referee", *(Path(one).stem for one in sets)):
        table.add_column(head)
    for at, name in enumerate(names):
        gap = (accuracy[:, :, at] - accuracy[:, :, 0]).mean(axis=0)
        half = 2 * gap.std(axis=0, ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else (0, 0)
        each = [f"{one:.1f}" for one in accuracy[:, :, at, 0].mean(axis=1)]
        ours = f"{gap[:, 0].mean():+.2f} ± {half[0]:.2f}"
        table.add_row(name, ours, f"{gap[:, 1].mean():+.2f}", *each)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
