"""How many labels that all others contradict are mistaken, and how many mistakes are found so.

    PYTHONPATH=tools python bench/mislabelled.py

Public tables, of each so many rows with labels drawn at random, of which some are changed to
another class at random. The threshold was chosen on the first seven tables under seed 0; the
others are under another seed. Chances here are the model's own: a campaign's are calibrated.
"""

from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import public_sets
from threadpoolctl import threadpool_limits

from possibal.estimators.classifier import PossibilisticGPClassifier, with_pool_scale
from possibal.experiments.datasets import Dataset
from possibal.gp.leave_one_out import contradicted
from possibal.labelling.ranker import WORST

LABELS, SHARE, RUNS = (60, 200), 0.08, 8
"""Labels of a run, which share of them is changed, and runs of each set."""
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
CHOSEN = 7
"""Tables on which the threshold was chosen."""


def run(
    data: Dataset, labels: int, rng: np.random.Generator
) -> tuple[list[tuple[float, bool]], int]:
    """The chance against each contradicted label and whether it is mistaken; how many are."""
    X = (data.X - data.X.mean(axis=0)) / np.maximum(data.X.std(axis=0), 1e-9)
    classes, y = np.unique(data.y, return_inverse=True)
    rows = rng.permutation(len(y))[:labels]
    given, is_changed = y[rows].copy(), rng.random(labels) < SHARE
    given[is_changed] += rng.integers(1, len(classes), is_changed.sum())
    given %= len(classes)
    model = with_pool_scale(PossibilisticGPClassifier(classes=np.arange(len(classes))), X)
    posterior = model.fit(X[rows], given).posterior_
    mistaken = {(X[row] + 0.0).tobytes() for row in rows[is_changed]}
    found = contradicted(posterior, WORST)
    is_mistaken = [row.tobytes() in mistaken for row in posterior.data.X[found.rows]]
    return list(zip(found.chance.tolist(), is_mistaken, strict=True)), int(is_changed.sum())


def main() -> None:
    """Print one line for each number of labels and threshold."""
    parser = ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=2050)
    parser.add_argument("--out", type=Path, default=Path("mislabelled"))
    settings = parser.parse_args()
    with public_sets.wheel(settings.out) as archive:
        sets = [public_sets.read(archive, name, settings.seed) for name in public_sets.CITATIONS]
    for title, chosen in (("chosen on", sets[:CHOSEN]), ("others", sets[CHOSEN:])):
        print(f"{title}: {', '.join(one.name for one in chosen)}")
        for labels in LABELS:
            rng = np.random.default_rng([settings.seed, labels])
            with threadpool_limits(1):
                done = [run(one, labels, rng) for one in chosen for _ in range(RUNS)]
            mistakes = sum(count for _, count in done)
            for threshold in THRESHOLDS:
                told = [
                    is_so for found, _ in done for chance, is_so in found if chance >= threshold
                ]
                print(
                    f"{labels} labels, chance of another from {threshold:.0%}: "
                    f"{len(told) / len(done):.1f} a run, {np.mean(told):.0%} of them mistaken, "
                    f"{sum(told) / mistakes:.0%} of {mistakes} mistakes found"
                )


if __name__ == "__main__":
    main()
