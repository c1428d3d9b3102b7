"""Linear models: time to score beside scikit-learn's, and accuracy on texts as TF-IDF.

python bench/linear_models.py [--data folder of labelled texts] [--runs 4] [--first 10]
"""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from possibal import Campaign, PossibilisticGPClassifier, PossibilisticLogisticRegression
from possibal.estimators.probability_model import ProbabilityModel

ROWS, COLUMNS, LABELS = 1_000_000, 50, 500
REPEATS = 3
QUESTIONS, TOGETHER = 50, 5
POOL = 700


def best_of(function: Callable[[], object]) -> float:
    """Seconds of the fastest of some repeats."""
    seconds = []
    for _ in range(REPEATS):
        begun = perf_counter()
        function()
        seconds.append(perf_counter() - begun)
    return min(seconds)


def timing() -> None:
    """Scoring of a million rows, as a ratio to scikit-learn's decision function in the same run."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(LABELS, COLUMNS))
    y = (X @ rng.normal(size=COLUMNS) + rng.logistic(size=LABELS) > 0).astype(int)
    pool = rng.normal(size=(ROWS, COLUMNS))
    theirs = LogisticRegression().fit(X, y)
    base = best_of(lambda: theirs.decision_function(pool))
    print(f"scikit-learn's decision_function, {ROWS} x {COLUMNS}: {base:.3f} s")
    for way in ("fixed", "envelope"):
        ours = PossibilisticLogisticRegression(hyperparameters=way).fit(X, y)
        taken = best_of(lambda ours=ours: ours.posterior_.moments(pool))
        print(
            f"means and variances, {way}, {len(ours.kernels_)} precisions: {taken:.3f} s, "
            f"{taken / base:.1f} times"
        )


def by_direction(model: LogisticRegression) -> ProbabilityModel:
    """A model whose coverage compares rows by direction, as texts are."""
    return ProbabilityModel(model, geometry=PossibilisticGPClassifier(metric="cosine"))


def accuracy(texts: np.ndarray, labels: np.ndarray, way: str, seed: int) -> float:
    """Accuracy on rows outside the pool after the questions of one run."""
    order = np.random.default_rng(seed).permutation(len(texts))
    pool, test = np.sort(order[:POOL]), np.sort(order[POOL:])
    vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
    words = vectorizer.fit_transform(texts[pool])
    model, _, strategy = way.partition(" ")
    known = {"classes": np.unique(labels), "strategy": strategy, "seed": seed}
    if model == "embeddings":
        frame = pd.DataFrame({"text": texts})
        campaign = Campaign.start(frame.iloc[pool], ids=list(range(POOL)), text="text", **known)
        there: object = frame.iloc[test]
    else:
        made = {
            "ours": PossibilisticLogisticRegression(),
            "gp": PossibilisticGPClassifier(metric="cosine"),
            "sklearn": by_direction(LogisticRegression(max_iter=1000)),
            "sklearn-C10": by_direction(LogisticRegression(max_iter=1000, C=10.0)),
        }[model]
        campaign = Campaign.start(words, classifier=made, **known)
        there = vectorizer.transform(texts[test])
    while len(campaign) < QUESTIONS:
        for row in campaign.ask(TOGETHER):
            campaign.tell(row, labels[pool[row]])
    return float(np.mean(campaign.predict(there) == labels[test]))


def texts(folder: Path, runs: int, first: int, ways: list[str]) -> None:
    """Accuracy on each set of a folder, by model and strategy."""
    for file in sorted(folder.glob("*.csv")):
        table = pd.read_csv(file)
        said, labels = table["text"].to_numpy(), table.iloc[:, -1].to_numpy()
        for way in ways:
            each = [accuracy(said, labels, way, seed) for seed in range(first, first + runs)]
            shown = " ".join(f"{100 * one:.1f}" for one in each)
            print(f"{file.stem:12} {way:22} {100 * np.mean(each):5.1f}  ({shown})", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--first", type=int, default=10)
    parser.add_argument(
        "--ways",
        default="ours herding,ours random,sklearn herding,sklearn random,sklearn-C10 herding,"
        "embeddings herding",
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.data is None:
        timing()
    else:
        texts(asked.data, asked.runs, asked.first, asked.ways.split(","))
