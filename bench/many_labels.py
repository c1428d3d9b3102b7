"""What is lost where labels are too many to learn from exactly: the table of docs/scale.md.

    python bench/many_labels.py [labels learnt from] [labels there are]

The model that leaves labels out itself, the same number of labels drawn by lot, and a support
vector machine that learns from all; all on 5000 other rows.
"""

import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification, make_moons
from sklearn.svm import SVC

from possibal import PossibilisticGPClassifier

TEST, SEED = 5000, 10


def friedman(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A bent function of five columns of ten, with noise."""
    rng = np.random.default_rng(SEED)
    X = rng.random((n, 10))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, f + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=n) > 14.4


SETS = {
    "two moons": lambda n: make_moons(n, noise=0.25, random_state=SEED),
    "Friedman": friedman,
    "a class of 5 %": lambda n: make_classification(
        n,
        10,
        n_informative=6,
        n_redundant=0,
        n_clusters_per_class=4,
        weights=[0.95],
        random_state=SEED,
    ),
    "twelve heaps": lambda n: make_classification(
        n, 20, n_informative=8, n_clusters_per_class=6, flip_y=0.02, random_state=SEED
    ),
}


def main() -> None:
    """Print a table."""
    most, n = (int(word) for word in [*sys.argv[1:], "5000", "20000"][:2])
    table = Table(title=f"Right of {TEST} rows, after {most} of {n} labels")
    for head in ("set", "left out by the model", "drawn by lot", "SVC, all labels", "fit"):
        table.add_column(head, justify="left" if head == "set" else "right")
    for name, make in SETS.items():
        X, y = make(n + TEST)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        lot = np.random.default_rng(SEED).permutation(n)[:most]
        began = time.perf_counter()
        ours = PossibilisticGPClassifier(most_labels=most).fit(X[:n], y[:n])
        took = time.perf_counter() - began
        models = [
            ours,
            PossibilisticGPClassifier().fit(X[lot], y[lot]),
            SVC(C=10).fit(X[:n], y[:n]),
        ]
        right = [100 * np.mean(model.predict(X[n:]) == y[n:]) for model in models]
        table.add_row(name, *(f"{one:.2f} %" for one in right), f"{took:.0f} s")
    Console().print(table)


if __name__ == "__main__":
    main()
