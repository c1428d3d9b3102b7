"""How much of a rare class is found, and what it costs: the tables of docs/recall.md.

    PYTHONPATH=tools python bench/recall.py --data FOLDER --seeds 4

Sets with 1, 3 and 10 % of their rows of one class: public tables and texts of which a class was
thinned out, and drawn ones (clusters, of which a few are of the class; some of its rows lie
anywhere, and some others among them). One row of the class and another are known; then the
likeliest are asked about, a tenth as many at a time as have a label. Every rule meets the same
answers:

- possibal's "stop" and "may stop",
- the hypergeometric test of Callaghan and Mueller-Hansen (2020), at 95 % recall and a level of 5 %,
- the knee and the budget of Cormack and Grossman (2016), without a least number of rows,
- their target: rows are drawn at random until ten are of the class, and when those are found by
  ranking, too, that is enough; the drawn ones are paid for,
- fifty, or a hundred rows in a row that are not of the class.

Where a rule says nothing until four fifths of a pool were asked about, all of it is asked. Sets and
seeds are others than those by which the numbers of the estimate were chosen.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import joblib
import label_efficiency
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import hypergeom
from threadpoolctl import threadpool_limits

from possibal.arrays import Matrix, Places
from possibal.campaign.recall import TARGET, RecallEstimate
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.campaign.stopping import AdviceState
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.experiments.datasets import Dataset
from possibal.experiments.splits import random_stream, scaled
from possibal.files import folder
from possibal.numerics.diffusion import fit_diffusion
from possibal.numerics.geometry import COSINE, EUCLIDEAN

SETS = ("penbased", "segment", "vowel", "twonorm", "assistant", "banking", "drawn 1", "drawn 2")
SHARES = (0.01, 0.03, 0.1)
POOL = 1000
FOLLOWED = 0.8
"""Share of a pool that is asked about at most."""
STEP = 10
"""One more row is asked about at a time for each so many that have a label."""
LEVEL = 0.05
RATIO, MOST_RATIO = 6.0, 156.0
"""Slope ratios of a knee: where 150 rows are found, and where none is."""
TARGETS = 10
AT = (50, 100, 200, 400)
"""Answers after which it is seen whether the range held."""


@dataclass(frozen=True)
class RarePool:
    """Rows of which few are of a class.

    Attributes:
        X: (n, d).
        is_rare: (n,).
        metric: how they are compared.
        clusters: how many of the last columns are coordinates of clusters.
    """

    X: Matrix
    is_rare: NDArray[np.bool_]
    metric: str = EUCLIDEAN
    clusters: int = 0


@dataclass(frozen=True, eq=False)
class Trail:
    """A campaign that is answered truthfully.

    Attributes:
        name: of the set.
        pool: how many rows there are.
        rare: how many of them are of the class.
        labels: whether each row is of the class, in the order of asking.
        estimates: what was said after so many answers.
        drawn: places in that order of rows that were drawn at random, as long as is needed; beyond
            the last place where they were not asked about.
    """

    name: str
    pool: int
    rare: int
    labels: NDArray[np.bool_]
    estimates: Mapping[int, RecallEstimate]
    drawn: Places

    def recall(self, asked: int) -> float:
        """The share that was found after so many answers."""
        return int(self.labels[:asked].sum()) / self.rare if asked < self.pool else 1.0


# ---------------------------------------------------------------- pools
def thinned(data: Dataset, share: float, rng: np.random.Generator) -> RarePool:
    """Rows of a set of which so many are of one class, any of them."""
    rare = data.y == rng.choice(np.unique(data.y))
    yes, no = (rng.permutation(np.flatnonzero(one)) for one in (rare, ~rare))
    size = min(POOL, int(len(no) / (1 - share)))
    count = min(len(yes), round(share * size))
    rows = rng.permutation(np.concatenate([yes[:count], no[: size - count]]))
    if data.fitted_to is None:
        return RarePool(scaled(data.X[rows], data.X[rows]), rare[rows])
    X = data.fitted_to(rows)[rows]
    known = fit_diffusion(X) if data.metric == COSINE else None
    coordinates = np.empty((len(X), 0)) if known is None else known.apply(X)
    return RarePool(np.hstack([X, coordinates]), rare[rows], data.metric, coordinates.shape[1])


def drawn(share: float, rng: np.random.Generator) -> RarePool:
    """Clusters, one to three of which are of the class; up to a tenth of its rows lie anywhere."""
    centres, theirs = rng.normal(0, 1.6, (16, 8)), int(rng.integers(1, 4))
    is_rare = np.arange(POOL) < round(share * POOL)
    cluster = rng.integers(theirs, 16, POOL)
    inside = np.where(is_rare, rng.random(POOL) >= rng.choice([0.0, 0.05, 0.1]), 0)
    inside = np.where(is_rare, inside, rng.random(POOL) < 0.3 * share).astype(bool)
    cluster[inside] = rng.integers(0, theirs, int(inside.sum()))
    order = rng.permutation(POOL)
    X = centres[cluster] + rng.normal(size=(POOL, 8))
    return RarePool(scaled(X[order], X), is_rare[order])


# ---------------------------------------------------------------- runs
def followed(name: str, pool: RarePool, rng: np.random.Generator) -> Trail:
    """A campaign that begins with one row of the class and one other."""
    y, n = pool.is_rare, len(pool.X)
    asked = [int(rng.choice(np.flatnonzero(y))), int(rng.choice(np.flatnonzero(~y)))]
    model = PossibilisticGPClassifier(metric=pool.metric, diffusion=pool.clusters or None)
    campaign = Snapshot.start(pool.X, classes=[0, 1], find=1, classifier=model)
    campaign = campaign.replay(Answer(row, int(y[row])) for row in asked)
    estimates = dict[int, RecallEstimate]()
    with threadpool_limits(1):
        while len(asked) < FOLLOWED * n:
            if campaign.recall is not None:
                estimates[len(asked)] = campaign.recall
            rows = [cast("int", row) for row in campaign.ask(max(1, len(asked) // STEP))]
            campaign = campaign.replay(Answer(row, int(y[row])) for row in rows)
            asked += rows
    order = rng.permutation(n)
    enough = np.flatnonzero(np.cumsum(y[order]) >= TARGETS)
    order = order[: int(enough[0]) + 1 if len(enough) else n]
    place = {row: at for at, row in enumerate(asked)}
    places = np.array([place.get(row, n) for row in order.tolist()], dtype=np.intp)
    return Trail(name, n, int(y.sum()), y[asked], estimates, places)


# ---------------------------------------------------------------- rules
def by_state(*states: AdviceState) -> Callable[[Trail], int]:
    """The answers after which possibal's advice is one of these."""

    def rule(trail: Trail) -> int:
        told = (asked for asked, one in trail.estimates.items() if one.state in states)
        return next(told, trail.pool)

    return rule


def hypergeometric(trail: Trail) -> int:
    """The answers after which recall below the target is refuted by some last part of them."""
    found = np.concatenate([[0], np.cumsum(trail.labels)])
    for n in range(1, len(trail.labels) + 1):
        if trail.labels[n - 1]:
            continue
        starts = np.arange(n)
        missing = np.floor(found[n] / TARGET - found[:n] + 1).astype(int)
        left = trail.pool - starts
        p = hypergeom.cdf(found[n] - found[:n], left, np.minimum(missing, left), n - starts)
        if p.min() < LEVEL:
            return n
    return trail.pool


def slope_ratios(labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """After each answer, the largest ratio of the slopes of the gain curve before and after."""
    found, ratios = np.cumsum(labels), np.zeros(len(labels))
    for s in range(2, len(labels) + 1):
        i = np.arange(1, s)
        before, after = found[: s - 1] / i, (1 + found[s - 1] - found[: s - 1]) / (s - i)
        ratios[s - 1] = (before / after).max()
    return ratios


def knee(trail: Trail) -> int:
    """The answers after which the gain curve has a knee."""
    found = np.cumsum(trail.labels)
    bound = MOST_RATIO - np.minimum(found, MOST_RATIO - RATIO)
    return _first(slope_ratios(trail.labels) >= bound, trail)


def budget(trail: Trail) -> int:
    """The same, with as many answers as random rows would take to have ten of the class."""
    found, asked = np.cumsum(trail.labels), np.arange(1, len(trail.labels) + 1)
    is_enough = asked >= TARGETS * trail.pool / np.maximum(found, 1)
    is_late = asked >= 0.75 * trail.pool
    return _first((slope_ratios(trail.labels) >= RATIO) & is_enough | is_late, trail)


def target(trail: Trail) -> int:
    """The answers after which those that were drawn at random are found; these are not counted."""
    asked = trail.drawn[trail.drawn < len(trail.labels)]
    wanted = asked[trail.labels[asked]]
    is_whole = len(wanted) == TARGETS
    return int(wanted.max()) + 1 if is_whole else trail.pool


def in_a_row(count: int) -> Callable[[Trail], int]:
    """The answers after which so many in a row are not of the class."""

    def rule(trail: Trail) -> int:
        found = np.concatenate([[0], np.cumsum(trail.labels)])
        barren = found[count:] == found[:-count]
        return int(barren.argmax()) + count if barren.any() else trail.pool

    return rule


def _first(holds: NDArray[np.bool_], trail: Trail) -> int:
    """The answers after which something holds first."""
    return int(holds.argmax()) + 1 if holds.any() else trail.pool


RULES: Mapping[str, Callable[[Trail], int]] = {
    "possibal, stop": by_state(AdviceState.DONE),
    "possibal, may stop": by_state(AdviceState.DONE, AdviceState.SETTLED),
    "hypergeometric test": hypergeometric,
    "knee": knee,
    "budget": budget,
    "target": target,
    "50 in a row": in_a_row(50),
    "100 in a row": in_a_row(100),
}


def paid(name: str, trail: Trail) -> tuple[int, float]:
    """The rows that a rule has asked about, and the recall that it comes to."""
    asked = RULES[name](trail)
    if name != "target" or asked >= trail.pool:
        return asked, trail.recall(asked)
    return asked + int(np.count_nonzero(trail.drawn >= asked)), trail.recall(asked)


# ---------------------------------------------------------------- tables
def tables(trails: Sequence[Trail]) -> list[Table]:
    """Each rule over all runs, each set under possibal's, and how often ranges held."""
    rules = Table(title=f"{len(trails)} runs")
    heads = ("rule", "95 % found, % of runs", "recall, mean", "recall, worst", "asked, %")
    for head in (*heads, "saved over random, points"):
        rules.add_column(head, justify="right")
    for name in RULES:
        rules.add_row(name, *_cells(name, trails))
    sets = Table(title="possibal, stop; hypergeometric test")
    for head in ("set", *heads[1:], "saved", *heads[1:], "saved"):
        sets.add_column(head, justify="right")
    for name in dict.fromkeys(trail.name for trail in trails):
        some = [trail for trail in trails if trail.name == name]
        sets.add_row(name, *_cells("possibal, stop", some), *_cells("hypergeometric test", some))
    held = Table(title="Ranges of 95 % that held")
    for head in ("answers", "runs", "held, %", "width, points"):
        held.add_column(head, justify="right")
    for at in AT:
        held.add_row(str(at), *_coverage(trails, at))
    return [rules, sets, held]


def _cells(name: str, trails: Sequence[Trail]) -> list[str]:
    """What came of a rule."""
    each = [(trail, *paid(name, trail)) for trail in trails]
    recall = np.array([one for _, _, one in each])
    asked = np.array([count / trail.pool for trail, count, _ in each])
    reached = 100 * float(np.mean(recall >= TARGET))
    saved = 100 * float(np.mean(recall - asked))
    shares = (recall.mean(), recall.min(), asked.mean())
    return [f"{reached:.0f}", *(f"{100 * one:.0f}" for one in shares), f"{saved:.0f}"]


def _coverage(trails: Sequence[Trail], at: int) -> list[str]:
    """How often the range held after so many answers, or the first afterwards."""
    held, width = list[bool](), list[float]()
    for trail in trails:
        asked = next((one for one in trail.estimates if one >= at), None)
        if asked is not None:
            one = trail.estimates[asked]
            held.append(one.low - 1e-9 <= trail.recall(asked) <= one.high + 1e-9)
            width.append(100 * (one.high - one.low))
    if not held:
        return ["0", "", ""]
    return [str(len(held)), f"{100 * np.mean(held):.0f}", f"{np.mean(width):.0f}"]


def asked() -> Namespace:
    """What the user asks for."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of texts/*.csv")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=2041)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path, default=Path("recall"))
    given = parser.parse_args()
    given.out, given.sets = folder(given.out, "out").resolve(), given.sets.split(",")
    given.runs = given.seeds
    return given


def main() -> None:
    """Print the tables."""
    given = asked()
    real = {one.data.name: one.data for one in label_efficiency.benchmark_sets(given)}
    jobs = list[tuple[str, RarePool, np.random.Generator]]()
    for run in range(given.seeds):
        for share in SHARES:
            for name in given.sets:
                if name in real or name.startswith("drawn"):
                    rng = random_stream(given.seed, run, f"{name} {share}")
                    pool = thinned(real[name], share, rng) if name in real else drawn(share, rng)
                    jobs.append((name, pool, rng))
    work = joblib.Parallel(n_jobs=given.jobs, return_as="generator")(
        joblib.delayed(followed)(*job) for job in jobs
    )
    found = [cast("Trail", one) for one in track(work, "campaigns", len(jobs))]
    joblib.dump(found, given.out / "trails.joblib")
    out = Console(width=160)
    for table in tables(found):
        out.print(table)


if __name__ == "__main__":
    main()
