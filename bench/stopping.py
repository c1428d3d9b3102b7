"""How far necessity and the advice to stop can be trusted: the tables of docs/label-efficiency.md.

    python bench/stopping.py --runs 6 --questions 100

The paper's sets, held out, pools of the paper's sizes, one label per class; then questions of the
strategy that campaigns use, until the pool is used up or there were enough. After each answer it is
counted on the test rows how many labels are above a necessity, and how many of those are right; and
what accuracy was still to come when the advice first said that one may stop, or should.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import joblib
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

from possibal.acquisition.pointwise import necessity
from possibal.arguments import DEFAULT_STRATEGY
from possibal.belief import leading_labels
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.campaign.stopping import AdviceState
from possibal.experiments.datasets import load
from possibal.experiments.spec import ENVELOPE, HELD_OUT, TABLE_3, Experiment
from possibal.experiments.splits import split

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
SEED = 7


@dataclass(frozen=True)
class Followed:
    """One run.

    Attributes:
        name: of the set.
        accuracy: after each answer.
        advised: the answers after which the advice first said each, if it did.
        above: rows above each necessity and how many of them were right, (answers, levels, 2).
        rows: of the test.
    """

    name: str
    accuracy: np.ndarray
    advised: dict[AdviceState, int]
    above: np.ndarray
    rows: int


def followed(name: str, run: int, questions: int, strategy: str) -> Followed:
    """A campaign that is answered truthfully."""
    data = load(name, run)
    share = split(Experiment(name, HELD_OUT, ENVELOPE, TABLE_3[name], SEED), data, run)
    X, y = share.X[share.pool], data.y[share.pool]
    there, truth = share.X[share.test], data.y[share.test]
    start = np.searchsorted(share.pool, share.start).tolist()
    campaign = Snapshot.start(X, classes=np.unique(y), strategy=strategy, seed=run)
    campaign = campaign.replay(Answer(row, int(y[row])) for row in start)
    accuracy, advised, above = list[float](), dict[AdviceState, int](), list[np.ndarray]()
    with threadpool_limits(1):
        for asked in range(1, min(questions, len(X) - len(start)) + 1):
            (row,) = campaign.ask()
            campaign = campaign.tell(row, int(y[int(str(row))]))
            belief = campaign.classifier.belief(there)
            is_right = campaign.classifier.classes_[leading_labels(belief)] == truth
            sure = necessity(belief)[:, None] > LEVELS
            above.append(
                np.stack([sure.sum(axis=0), (sure & is_right[:, None]).sum(axis=0)], axis=1)
            )
            accuracy.append(float(is_right.mean()))
            advised.setdefault(campaign.advice.state, asked)
    return Followed(name, np.array(accuracy), advised, np.array(above), len(truth))


def sure_enough(runs: Sequence[Followed]) -> Table:
    """How often labels above a necessity are right, by set and after so many answers."""
    table = Table(title="Share of test rows above a necessity, and how many of them are right, %")
    for head in ("set", "answers", *(f"above {level}" for level in LEVELS)):
        table.add_column(head, justify="right")
    names = [*dict.fromkeys(run.name for run in runs), "all"]
    for name in names:
        some = [run for run in runs if name in {run.name, "all"}]
        for answers in (10, 25, 50) if name == "all" else (25,):
            came = [run for run in some if len(run.above) >= answers]
            if not came:
                continue
            rows, counts = sum(run.rows for run in came), [run.above[answers - 1] for run in came]
            each = [
                f"{100 * many / rows:.0f}: {100 * right / many:.1f}" if many else "none"
                for many, right in np.sum(counts, axis=0)
            ]
            table.add_row(name, str(answers), *each)
    return table


def left_over(runs: Sequence[Followed]) -> Table:
    """What accuracy was still to come when one might, or should, have stopped."""
    table = Table(title="When the advice came, and what more answers still brought, in points")
    for head in ("set", "advice", "runs that had it", "after answers", "still to come", "worst"):
        table.add_column(head, justify="right")
    for name in [*dict.fromkeys(run.name for run in runs), "all"]:
        some = [run for run in runs if name in {run.name, "all"}]
        for state in (AdviceState.SETTLED, AdviceState.DONE):
            had = [run for run in some if state in run.advised]
            if not had:
                continue
            later = [100 * (run.accuracy[-1] - run.accuracy[run.advised[state] - 1]) for run in had]
            when = np.mean([run.advised[state] for run in had])
            table.add_row(
                name,
                state.value,
                f"{len(had)} of {len(some)}",
                f"{when:.0f}",
                f"{np.mean(later):+.1f}",
                f"{max(later):+.1f}",
            )
    return table


def main() -> None:
    """Print both tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(TABLE_3))
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--questions", type=int, default=80)
    parser.add_argument("--strategy", default=DEFAULT_STRATEGY)
    given = parser.parse_args()
    plan = [(name, run) for name in given.sets.split(",") for run in range(given.runs)]
    work = joblib.Parallel(n_jobs=-1, return_as="generator")(
        joblib.delayed(followed)(*one, given.questions, given.strategy) for one in plan
    )
    runs = cast("list[Followed]", list(track(work, "campaigns", len(plan))))
    out = Console(width=140)
    out.print(sure_enough(runs))
    out.print(left_over(runs))


if __name__ == "__main__":
    main()
