"""How far the labels to come until one may stop are foretold: the figures of docs/labelling.md.

    python bench/plateau.py --runs 4

The paper's sets, held out, pools of the paper's sizes, one label per class; then questions of the
strategy that campaigns use, until the advice says that one may stop, or there were a hundred. After
every fifth answer from ten on the guess is compared with the labels that it took from there.
"""

from argparse import ArgumentParser

import numpy as np
from rich.progress import track
from stopping import SEED
from threadpoolctl import threadpool_limits

from possibal.arguments import DEFAULT_STRATEGY
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.campaign.stopping import Advice, AdviceState
from possibal.experiments.datasets import load
from possibal.experiments.spec import ENVELOPE, HELD_OUT, TABLE_3, Experiment
from possibal.experiments.splits import split
from possibal.labelling.pace import labels_to_come

QUESTIONS, EVERY = 100, 5


def advised(name: str, run: int) -> list[tuple[int, Advice]]:
    """The advice after each answer of a campaign that is answered truthfully."""
    data = load(name, run)
    share = split(Experiment(name, HELD_OUT, ENVELOPE, TABLE_3[name], SEED), data, run)
    X, y = share.X[share.pool], data.y[share.pool]
    start = np.searchsorted(share.pool, share.start).tolist()
    campaign = Snapshot.start(X, classes=np.unique(y), strategy=DEFAULT_STRATEGY, seed=run)
    campaign = campaign.replay(Answer(row, int(y[row])) for row in start)
    found = list[tuple[int, Advice]]()
    for asked in range(1, min(QUESTIONS, len(X) - len(start)) + 1):
        (row,) = campaign.ask()
        campaign = campaign.tell(row, int(y[int(str(row))]))
        found.append((len(start) + asked, campaign.advice))
        if campaign.advice.state is not AdviceState.GO_ON:
            break
    return found


def compared(run: list[tuple[int, Advice]]) -> list[tuple[int, int, int]]:
    """The labels that it took, the least and the most guessed, after every fifth answer."""
    end, found = run[-1][0], list[tuple[int, int, int]]()
    for labels, advice in run[:-1]:
        guess = labels_to_come(advice, labels) if labels % EVERY == 0 else None
        if guess is not None:
            found.append((end - labels, guess.low, guess.high))
    return found


def main() -> None:
    """Print in how many guesses the labels that it took were between the two."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    given = parser.parse_args()
    found = list[tuple[int, int, int]]()
    with threadpool_limits(1):
        for name in track(TABLE_3, "following"):
            for run in range(given.runs):
                found += compared(advised(name, run))
    took, low, high = np.array(found).T
    shares = {
        "between": (low <= took) & (took <= high),
        "too many": took < low,
        "too few": took > high,
    }
    said = ", ".join(f"{np.mean(share):.0%} {words}" for words, share in shares.items())
    print(f"{len(found)} guesses: {said}")


if __name__ == "__main__":
    main()
