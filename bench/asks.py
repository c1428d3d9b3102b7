"""What a question costs, fit and all, as ratios against peers measured in the same run.

50 labels, a pool of 500 rows, 10 columns. Ours is ``Campaign.ask`` with its default model: five
settings of the hyperparameters, predictions, and the strategy. The peers fit scikit-learn's
Gaussian process, one against the rest, with its hyperparameters sought from the same start, and
ask for the smallest margin: by scikit-learn alone, and through scikit-activeml. Every line is the
best of interleaved repeats, on one thread.
"""

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import peers
from rich.console import Console
from rich.table import Table
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import UncertaintySampling
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from possibal import Campaign

LABELLED, POOL, COLUMNS = 50, 500, 10
REPEATS = 9
SEED = 20
STRATEGIES = ("herding", "margin", "bald", "uncertainty", "necessity")


def task(labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Standardised rows in random order, and their labels; the first ones are told."""
    X, y = make_classification(
        LABELLED + POOL,
        COLUMNS,
        n_informative=8,
        n_redundant=0,
        n_classes=labels,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=SEED,
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def campaign(X: np.ndarray, y: np.ndarray, strategy: str) -> Campaign:
    """A campaign that knows the first labels and has not been asked yet."""
    started = Campaign.start(X, classes=np.unique(y).tolist(), strategy=strategy)
    for row in range(LABELLED):
        started.tell(row, int(y[row]))
    return started


def by_scikit_learn(X: np.ndarray, y: np.ndarray) -> int:
    """Smallest margin by scikit-learn's Gaussian process."""
    model = peers.GaussianProcess().fit(X[:LABELLED], y[:LABELLED])
    p = np.sort(model.predict_proba(X[LABELLED:]), axis=1)
    return int((p[:, -1] - p[:, -2]).argmin())


def by_scikit_activeml(X: np.ndarray, y: np.ndarray) -> int:
    """The same through scikit-activeml."""
    known = np.where(np.arange(len(y)) < LABELLED, y, np.nan)
    model = SklearnClassifier(peers.GaussianProcess(), classes=np.unique(y), random_state=0)
    asked = UncertaintySampling("margin_sampling", random_state=0)
    return int(asked.query(X, known, clf=model)[0])


def seconds(run: Callable[[], object]) -> float:
    """What one call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measured(labels: int) -> dict[str, float]:
    """Best seconds of each contender."""
    X, y = task(labels)
    found: dict[str, float] = {}
    for repeat in range(REPEATS):
        for name in STRATEGIES:
            ready = campaign(X, y, name)
            found[name] = min(found.get(name, np.inf), seconds(ready.ask))
        if repeat < 2:  # they take long, and vary little
            for name, peer in (("sklearn", by_scikit_learn), ("skactiveml", by_scikit_activeml)):
                took = seconds(lambda peer=peer: peer(X, y))
                found[name] = min(found.get(name, np.inf), took)
    return found


def main() -> None:
    """Print one table."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # scikit-learn's search hits its bounds
    console = Console(width=150 if not sys.stdout.isatty() else None)
    table = Table(
        "labels", *STRATEGIES, "scikit-learn, margin", "scikit-activeml, margin", "ratio, goal"
    )
    with threadpool_limits(1):
        for labels in (2, 3, 10):
            found = measured(labels)
            times = [f"{1e3 * took:.1f} ms" for took in found.values()]
            slower = max(found["herding"], found["margin"])
            shown = f"{found['sklearn'] / slower:.0f}x and {found['skactiveml'] / slower:.0f}x"
            goal = ", at most 40 ms" if labels == 10 else ""
            table.add_row(str(labels), *times, shown + goal)
    console.print(table)


if __name__ == "__main__":
    main()
