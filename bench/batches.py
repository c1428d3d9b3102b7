"""What questions in batches cost: rows asked for together, beside a peer's and random ones.

    python bench/batches.py --runs 6

The paper's binary sets, held out, one label per class, then 50 answers in batches of 1, 5 and 25.
Nothing is learnt from a batch before all of it was answered. Printed is the mean accuracy of
possibal's classifier over the ends of batches, less that of random rows in the same batches.
"""

from argparse import ArgumentParser
from typing import cast

import joblib
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from skactiveml.pool import MaxHerding
from threadpoolctl import threadpool_limits

from possibal.arguments import DEFAULT_STRATEGY
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.experiments.datasets import load
from possibal.experiments.spec import BINARY, ENVELOPE, HELD_OUT, TABLE_3, Experiment
from possibal.experiments.splits import split

ANSWERS, SIZES, SEED = 50, (1, 5, 25), 2027
RANDOM, PEER = "random", "scikit-activeml's MaxHerding"
WHO = (RANDOM, PEER, "necessity", DEFAULT_STRATEGY)


def accuracy(name: str, run: int, who: str, size: int) -> float:
    """Mean accuracy over the ends of batches, in percent."""
    data = load(name, SEED)
    share = split(Experiment(name, HELD_OUT, ENVELOPE, TABLE_3[name], SEED), data, run)
    X, y, there = share.X[share.pool], data.y[share.pool], share.X[share.test]
    start = np.searchsorted(share.pool, share.start).tolist()
    strategy = DEFAULT_STRATEGY if who == PEER else who
    campaign = Snapshot.start(X, classes=[0, 1], strategy=strategy, seed=run)
    campaign = campaign.replay(Answer(row, int(y[row])) for row in start)
    right = list[float]()
    with threadpool_limits(1):
        for _ in range(ANSWERS // size):
            rows = theirs(X, campaign, size, run) if who == PEER else campaign.ask(size)
            campaign = campaign.replay(Answer(row, int(y[cast("int", row)])) for row in rows)
            right.append(campaign.classifier.score(there, data.y[share.test]))
    return 100 * float(np.mean(right))


def theirs(X: np.ndarray, campaign: Snapshot, size: int, run: int) -> list[int]:
    """The rows that scikit-activeml asks about, of columns as they are."""
    known = np.full(len(X), np.nan)
    for answer in campaign.answers:
        known[cast("int", answer.row)] = cast("int", answer.label)
    peer = MaxHerding(normalize_samples=False, random_state=1000 * run + len(campaign))
    return peer.query(X, known, batch_size=size).tolist()


def main() -> None:
    """Print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(BINARY))
    parser.add_argument("--runs", type=int, default=6)
    given = parser.parse_args()
    sets, runs = given.sets.split(","), range(given.runs)
    plan = [(one, run, who, size) for one in sets for run in runs for who in WHO for size in SIZES]
    work = joblib.Parallel(n_jobs=-1, return_as="generator")(
        joblib.delayed(accuracy)(*one) for one in plan
    )
    found = np.array(list(track(work, "campaigns", len(plan))))
    found = found.reshape(len(sets), len(runs), len(WHO), len(SIZES))
    table = Table(title=f"Ahead of random over {ANSWERS} answers, points")
    for head in ("who", *(f"batches of {size}" for size in SIZES)):
        table.add_column(head)
    for at, who in enumerate(WHO[1:], start=1):
        gap = (found[:, :, at] - found[:, :, 0]).mean(axis=0)
        half = 2 * gap.std(axis=0, ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else 0 * gap[0]
        table.add_row(
            who,
            *(f"{one:+.1f} ± {two:.1f}" for one, two in zip(gap.mean(axis=0), half, strict=True)),
        )
    Console().print(table)


if __name__ == "__main__":
    main()
