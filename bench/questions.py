"""Which questions save most labels: variants tried side by side, before one is chosen.

    python bench/questions.py sharp-crowd,herding,necessity --sets sonar,wine --runs 0-5

The paper's sets held out, with pools and tests of the paper's sizes; one label per class, then 50
questions. Printed is the mean accuracy over the answers of each set, and the mean difference to
random in points: by our own model, and by a support vector machine that learns from the same
labels. Settings are chosen on runs below 1000; later ones are kept for the report.
"""

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass

import joblib
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.spatial.distance import cdist
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from possibal import PossibilisticGPClassifier, acquisition, ahead
from possibal.ahead import Latents
from possibal.experiments.datasets import load
from possibal.experiments.deal import deal
from possibal.experiments.spec import ENVELOPE, HELD_OUT, TABLE_3, Experiment
from possibal.gp import Posterior
from possibal.hyperparameters import median_distance

QUESTIONS = 50


@dataclass(frozen=True)
class Moment:
    """What a strategy may look at: the pool, what is known of it, and the rows left."""

    posterior: Posterior
    X: np.ndarray
    known: np.ndarray
    left: np.ndarray
    usual: float
    rng: np.random.Generator

    def similar(self, share: float) -> np.ndarray:
        """How similar rows of the pool are, by a width that is a share of the usual distance."""
        squares = cdist(self.X, self.X, "sqeuclidean")
        return np.exp(-0.5 * squares / (share * self.usual) ** 2)


Strategy = Callable[[Moment], np.ndarray]


# ---------------------------------------------------------------- variants
def local(name: str) -> Strategy:
    """A score of each row by itself."""
    return lambda now: acquisition.STRATEGIES[name](now.posterior.at(now.X[now.left]))


def looking(loss: ahead.Loss, crowding: float = 0.0, width: float = 0.2) -> Strategy:
    """One answer ahead; rows with many like them count less each, by a power of how many."""

    def strategy(now: Moment) -> np.ndarray:
        alike = now.similar(width).sum(axis=1)[now.left] ** -crowding
        found = [
            sum(one.chance * (loss(one.latents) @ alike) for one in some)
            for some in ahead.answers(now.posterior, now.X[now.left], now.X[now.left])
        ]
        return -np.concatenate(found)

    return strategy


def herding(width: float, crowding: float = 0.0) -> Strategy:
    """Coverage of the pool that counts rows by the expected error."""

    def strategy(now: Moment) -> np.ndarray:
        K = now.similar(width)
        weight = ahead.error(Latents.of(now.posterior, now.X)) * K.sum(axis=1) ** -crowding
        return weight @ np.maximum(K[:, now.left] - K[:, now.known].max(axis=1)[:, None], 0.0)

    return strategy


def sharp(latents: Latents) -> np.ndarray:
    """The square of Brier's expected score: rows in much doubt count most."""
    return ahead.squared(latents) ** 2


VARIANTS: dict[str, Strategy] = {
    "random": lambda now: now.rng.random(len(now.left)),
    "necessity": local("necessity"),
    "margin": local("margin"),
    "error": looking(ahead.error),
    "squared": looking(ahead.squared),
    "surprise": looking(ahead.surprise),
    "doubted": looking(ahead.doubted),
    "sharp": looking(sharp),
    "error-crowd": looking(ahead.error, 0.5),
    "squared-crowd": looking(ahead.squared, 0.5),
    "sharp-crowd": looking(sharp, 0.5),
    "herding": herding(0.2),
    "herding-crowd": herding(0.2, 0.5),
}


# ---------------------------------------------------------------- runs
def followed(name: str, run: int, variant: str) -> tuple[float, float]:
    """Mean accuracy over the answers: our own, and that of the referee."""
    data = load(name, run)
    share = deal(Experiment(name, HELD_OUT, ENVELOPE, TABLE_3[name]), data, run)
    X, y, there, truth = (
        share.X[share.pool],
        data.y[share.pool],
        share.X[share.test],
        data.y[share.test],
    )
    known = np.searchsorted(share.pool, share.start).tolist()
    usual, own, referee = median_distance(X), [], []
    with threadpool_limits(1):
        for question in range(QUESTIONS + 1):
            model = PossibilisticGPClassifier(usual_distance=usual, classes=np.unique(y))
            model.fit(X[known], y[known])
            if question:
                own.append(np.mean(model.predict(there) == truth))
                judge = SVC(C=10.0).fit(X[known], y[known])
                referee.append(np.mean(judge.predict(there) == truth))
            left, rng = (
                np.setdiff1d(np.arange(len(X)), known),
                np.random.default_rng([run, question]),
            )
            now = Moment(model.posterior_, X, np.array(known), left, usual, rng)
            known.append(int(left[VARIANTS[variant](now).argmax()]))
    return float(np.mean(own)), float(np.mean(referee))


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
    accuracy = 100 * np.array(found).reshape(shape)
    table = Table(title=f"Mean accuracy over {QUESTIONS} answers, runs {settings.runs}")
    for head in ("variant", "own", "referee", *sets):
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
