"""What ranking a million rows costs, as ratios against the bare matrix products and peers.

    python bench/scale.py [rows]

Everything runs on two threads, in one process, on pools of 20 columns with 200 labels, unless said
otherwise. The bare products are those that no way round can spare a full scan in double precision:
distances to the labels, and half a product with their triangular factor. Every time is the least of
a few, taken in turns. Memory is by how much the largest of a process of its own grows as it ranks.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Product
from threadpoolctl import threadpool_limits

from possibal import PossibilisticGPClassifier
from possibal.acquisition.registry import STRATEGIES
from possibal.arguments import DEFAULT_STRATEGY
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.pool.ranking import rank

try:
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling
except ImportError:  # a peer, which nothing else needs
    SklearnClassifier = UncertaintySampling = None

N, D, THREADS, SEED = 200, 20, 2, 20
CHUNK, BLOCK = 500, 64
AMPLITUDE = 12.0
REPEATS, QUESTIONS, BUDGET = 3, 6, 4e9
BATCHES = (1, 5, 50)
SCORES = ("necessity", "uncertainty")


# ---------------------------------------------------------------- pools
def gaussian(m: int) -> np.ndarray:
    """Columns that have nothing to do with each other."""
    return np.random.default_rng(SEED).normal(size=(m, D))


def clustered(m: int) -> np.ndarray:
    """Thirty heaps of different width."""
    rng = np.random.default_rng(SEED)
    heap = rng.integers(30, size=m)
    centres, widths = 3.0 * rng.normal(size=(30, D)), rng.uniform(0.2, 1.5, size=(30, 1))
    return _scaled(centres[heap] + widths[heap] * rng.normal(size=(m, D)))


def curved(m: int) -> np.ndarray:
    """Three numbers bent into twenty, with a little noise and a heavy tail."""
    rng = np.random.default_rng(SEED)
    inner = rng.standard_t(3, size=(m, 3))
    bent = np.sin(inner @ rng.normal(size=(3, D)) + rng.uniform(0, 6, size=D))
    return _scaled(bent + 0.1 * rng.normal(size=(m, D)))


def _scaled(X: np.ndarray) -> np.ndarray:
    """Columns of one scale."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


POOLS = {"gaussian": gaussian, "clustered": clustered, "curved": curved}


def labels(X: np.ndarray) -> np.ndarray:
    """The true labels: the sign of a bent function."""
    return np.where(X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 2] > 0, "yes", "no")


def kernel(X: np.ndarray) -> Product:
    """A kernel whose length-scale is most of the usual distance."""
    some = X[:500]
    usual = np.median(np.sqrt(((some[:, None] - some[None]) ** 2).sum(axis=2)))
    return ConstantKernel(AMPLITUDE) * RBF(0.7 * usual)


# ---------------------------------------------------------------- contenders
def bare(X: np.ndarray, n: int = N) -> None:
    """The matrix products of a full scan and nothing else."""
    rng = np.random.default_rng(SEED)
    right, root = rng.normal(size=(D + 2, n)), np.triu(rng.normal(size=(n, n)))

    def work(start: int) -> None:
        for at in range(start, min(start + 100 * CHUNK, len(X)), CHUNK):
            left = np.ones((len(X[at : at + CHUNK]), D + 2))
            left[:, :D] = X[at : at + CHUNK]
            K = left @ right
            for first in range(0, n, BLOCK):
                last = min(first + BLOCK, n)
                K[:, :last] @ root[:last, first:last]

    with threadpool_limits(1), ThreadPoolExecutor(THREADS) as workers:
        list(workers.map(work, range(0, len(X), 100 * CHUNK)))


def every_row(model: PossibilisticGPClassifier, X: np.ndarray, score: str) -> int:
    """The best row by working out every one in full, on both threads."""
    outlook, chosen, size = model.posterior_.predictor, STRATEGIES[score], 50_000

    def work(start: int) -> tuple[float, int]:
        utilities = chosen(outlook.at(X[start : start + size]))
        best = int(utilities.argmax())
        return float(utilities[best]), -(start + best)

    with threadpool_limits(1), ThreadPoolExecutor(THREADS) as workers:
        return -max(workers.map(work, range(0, len(X), size)))[1]


def scikit_learn(seen: np.ndarray, y: np.ndarray, X: np.ndarray, score: str) -> int:
    """scikit-learn's latent moments and the same score, in parts that fit the memory."""
    model = GaussianProcessClassifier(kernel(X), optimizer=None).fit(seen, y)
    best = -np.inf, 0
    for start in range(0, len(X), 50_000):
        utilities = STRATEGIES[score](*model.latent_mean_and_variance(X[start : start + 50_000]))
        at = int(utilities.argmax())
        best = max(best, (float(utilities[at]), start + at))
    return best[1]


def scikit_activeml(seen: np.ndarray, y: np.ndarray, X: np.ndarray) -> int:
    """scikit-activeml's query with scikit-learn's classifier, in parts that fit the memory."""
    codes = (y == "yes").astype(float)
    model = SklearnClassifier(GaussianProcessClassifier(kernel(X), optimizer=None), classes=[0, 1])
    query, best = UncertaintySampling(method="least_confident", random_state=0), (-np.inf, 0)
    for start in range(0, len(X), 50_000):
        _, utilities = query.query(
            seen, codes, model, candidates=X[start : start + 50_000], return_utilities=True
        )
        best = max(best, (float(utilities[0].max()), start + int(np.nanargmax(utilities[0]))))
    return best[1]


def seconds(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """The least of a few times."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def grown(file: Path, score: str, precision: str) -> str:
    """The memory that ranking takes on top of the pool, by a process of its own."""
    line = [sys.executable, __file__, "--memory", str(file), score, precision]
    done = subprocess.run(line, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    return f"{float(done.stdout):.0f} MB"


def rank_alone(file: str, score: str, precision: str) -> float:
    """Megabytes by which the largest memory of this process grows while it ranks."""
    X = np.load(file)
    model = PossibilisticGPClassifier(kernel(X), hyperparameters="fixed")
    model.fit(X[:N], labels(X[:N]))
    Path("/proc/self/clear_refs").write_text("5")  # the largest so far is forgotten
    before = largest()
    rank(model, X, score, top=1, jobs=THREADS, precision=precision)
    return largest() - before


def largest() -> float:
    """The largest memory of this process, in megabytes; Linux only."""
    (line,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(line) / 1024


# ---------------------------------------------------------------- lines
def full_scans(table: Table, m: int, file: Path) -> None:
    """One question over a whole pool, nothing known beforehand."""
    X = gaussian(m)
    np.save(file, X)
    y = labels(X[:N])
    model = PossibilisticGPClassifier(kernel(X), hyperparameters="fixed").fit(X[:N], y)
    products = seconds(lambda: bare(X))

    def add(what: str, took: float, pruned: str = "", memory: str = "") -> None:
        table.add_row(what, pruned, f"{took:.2f} s", f"{took / products:.2f}", memory)

    add("bare products, double", products)
    for score in SCORES:
        add(f"every row, {score}", seconds(lambda score=score: every_row(model, X, score), 2))
        for precision in ("mixed", "double"):
            run = partial(rank, model, X, score, top=1, jobs=THREADS, precision=precision)
            found = run()
            assert found.places[0] == every_row(model, X, score)
            memory = grown(file, score, precision)
            add(f"rank, {score}, {precision}", seconds(run), f"{found.pruned:.2%}", memory)
    add("scikit-learn, necessity", seconds(lambda: scikit_learn(X[:N], y, X, "necessity"), 1))
    if UncertaintySampling is not None:
        ours = partial(rank, model, X, "least_confidence", top=1, jobs=THREADS)
        add("rank, least_confidence, mixed", seconds(ours))
        add("scikit-activeml, the same", seconds(lambda: scikit_activeml(X[:N], y, X), 1))


def next_questions(table: Table, m: int) -> None:
    """The next question of a campaign that is under way."""
    for name, make in [*POOLS.items(), ("gaussian, default classifier", gaussian)]:
        X = make(m)
        y = labels(X)
        for score in SCORES:
            model = PossibilisticGPClassifier(kernel(X), hyperparameters="fixed")
            if "comes" in name:
                model = PossibilisticGPClassifier()
            start = Snapshot.start(
                X, classes=["no", "yes"], strategy=score, classifier=model, memory=BUDGET
            )
            campaign = start.replay(Answer(row, y[row]) for row in range(N - 3))
            for _ in range(3):  # fills the memory
                (row,) = campaign.ask()
                campaign = campaign.tell(row, y[row])
            times, scans = [], []
            for _ in range(QUESTIONS):
                fitted = campaign.classifier
                began = time.perf_counter()
                (row,) = campaign.ask()
                times.append(time.perf_counter() - began)
                taken = [answer.row for answer in campaign.answers]
                began = time.perf_counter()
                found = rank(fitted, X, score, top=1, aside=taken, jobs=THREADS)
                scans.append(time.perf_counter() - began)
                assert found.places[0] == row
                campaign = campaign.tell(row, y[row])
            full = seconds(lambda fitted=fitted, score=score, X=X: every_row(fitted, X, score), 1)
            took, scan = float(np.median(times)), float(np.median(scans))
            kept = start.pool.cache.nbytes / 1e6
            table.add_row(
                f"{name}, {score}",
                f"{1e3 * took:.0f} ms",
                f"{full / took:.1f}x",
                f"{scan / took:.1f}x",
                f"{found.pruned:.2%}",
                f"{kept:.0f} MB",
            )


def usual_questions(table: Table, rows: tuple[int, ...]) -> None:
    """The next question of those who choose no strategy, beside necessity's, the fit apart."""
    for m in rows:
        X = gaussian(m)
        y = labels(X)
        for n in (50, N):
            took = dict[str, float]()
            for strategy in (DEFAULT_STRATEGY, "necessity"):
                start = Snapshot.start(X, classes=["no", "yes"], strategy=strategy, memory=BUDGET)
                campaign, times = start.replay(Answer(row, y[row]) for row in range(n)), []
                for _ in range(3 + QUESTIONS):  # the first fill the memory
                    assert len(campaign.classifier.classes_) == len(set(y))  # fitted by now
                    began = time.perf_counter()
                    (row,) = campaign.ask()
                    times.append(time.perf_counter() - began)
                    campaign = campaign.tell(row, y[row])
                took[strategy] = float(np.median(times[3:]))
            usual, necessity = took.values()
            shown = (f"{1e3 * usual:.0f} ms", f"{1e3 * necessity:.0f} ms")
            table.add_row(f"{m} rows, {n} labels", *shown, f"{usual / necessity:.2f}x")


def usual_batches(table: Table, m: int) -> None:
    """Several rows at once for those who choose no strategy, the fit apart."""
    X = gaussian(m)
    y = labels(X)
    for n in (50, N):
        start = Snapshot.start(X, classes=["no", "yes"])
        took = dict[int, float]()
        for size in BATCHES:
            times = list[float]()
            for _ in range(QUESTIONS):
                campaign = start.replay(Answer(row, y[row]) for row in range(n))
                assert len(campaign.classifier.classes_) == len(set(y))  # fitted by now
                began = time.perf_counter()
                assert len(campaign.ask(size)) == size
                times.append(time.perf_counter() - began)
            took[size] = float(np.median(times))
        shown = [f"{1e3 * each:.0f} ms, {each / took[1]:.1f}x" for each in took.values()]
        table.add_row(f"{m} rows, {n} labels", *shown)


def main() -> None:
    """Print the tables."""
    if sys.argv[1:2] == ["--memory"]:
        sys.stdout.write(f"{rank_alone(*sys.argv[2:])}\n")
        return
    m, console = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000, Console()
    first = Table(title=f"One question over {m} rows, {N} labels, {THREADS} threads")
    for head in ("what", "passed over", "time", "times the bare products", "memory on top"):
        first.add_column(head, justify="left" if head == "what" else "right")
    with tempfile.TemporaryDirectory() as folder:
        full_scans(first, m, Path(folder) / "pool.npy")
    console.print(first)
    second = Table(title="The next question of a running campaign, the same row as a full scan")
    heads = ("pool", "time", "against every row", "against rank", "passed over by rank", "kept")
    for head in heads:
        second.add_column(head, justify="left" if head == "pool" else "right")
    next_questions(second, m)
    console.print(second)
    third = Table(
        title=f"The next question by {DEFAULT_STRATEGY} beyond the fit, the default classifier"
    )
    for head in ("pool", DEFAULT_STRATEGY, "necessity", "ratio"):
        third.add_column(head, justify="left" if head == "pool" else "right")
    usual_questions(third, (10_000, m))
    console.print(third)
    fourth = Table(
        title=f"A batch by {DEFAULT_STRATEGY} beyond the fit, and how many times one question"
    )
    for head in ("pool", *(f"{size} at once" for size in BATCHES)):
        fourth.add_column(head, justify="left" if head == "pool" else "right")
    usual_batches(fourth, 10_000)
    console.print(fourth)


if __name__ == "__main__":
    main()
