"""What a score costs, as ratios against peers measured in the same run.

Every line is the best of interleaved repeats: one repeat times each contender once, so that a busy
machine hits them all alike. Everything runs on one thread.
"""

import math
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.optimize import minimize, minimize_scalar
from scipy.special import ndtr

from possibal import acquisition
from possibal.acquisition import expectations

REPEATS = 7
SEED = 20
MANY = 10  # labels; beyond, scipy would take minutes


def interleaved(
    contenders: Mapping[str, Callable[[], float]], title: str, repeats: int = REPEATS
) -> dict[str, float]:
    """Least seconds per point of each contender; each returns what one call took per point."""
    seconds = {name: [] for name in contenders}
    for run in contenders.values():
        run()  # first calls load and allocate
    console = Console(stderr=True)
    for _ in track(range(repeats), title, console=console, disable=not console.is_terminal):
        for name, run in contenders.items():
            seconds[name].append(run())
    return {name: float(min(times)) for name, times in seconds.items()}


def timed(function: Callable[[], object], points: int) -> Callable[[], float]:
    """A contender: seconds per point of one call."""

    def run() -> float:
        start = time.perf_counter()
        function()
        return (time.perf_counter() - start) / points

    return run


def pool(m: int, labels: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Latent moments like those of a Gaussian process: means around 0, variances around 1."""
    rng = np.random.default_rng(SEED)
    shape = (m,) if labels is None else (m, labels)
    return 2 * rng.normal(size=shape), np.exp(rng.normal(size=shape))


# ---------------------------------------------------------------- the paper's way


def brent(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """U^L_bin as the paper computes it: Brent's method for each point and label."""

    def credibility(mu: float, sigma2: float, sign: float) -> float:
        def objective(theta: float) -> float:
            return -math.exp(-((theta - mu) ** 2) / (2 * sigma2)) * ndtr(sign * theta)

        return -minimize_scalar(objective, bracket=(mu, mu + 0.1 * sign)).fun

    pairs = zip(mean.tolist(), variance.tolist(), strict=True)
    return np.array([credibility(m, s, 1.0) + credibility(m, s, -1.0) - 1.0 for m, s in pairs])


def quasi_newton(mean: np.ndarray, variance: np.ndarray, *, tuned: bool) -> np.ndarray:
    """U^L_multi by scipy.optimize for each point and label.

    Tuned, it is given exact gradients and the faster of scipy's quasi-Newton methods; otherwise
    it is ``minimize(objective, start)`` with its defaults.
    """

    def credibility(mu: np.ndarray, sigma2: np.ndarray, label: int) -> float:
        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            e = np.exp(theta - theta.max())
            total = e.sum()
            off = (theta - mu) / sigma2
            gradient = e / total + off
            gradient[label] -= 1.0
            value = math.log(total) + theta.max() - theta[label] + 0.5 * float(off @ (theta - mu))
            return value, gradient

        if tuned:
            return math.exp(-minimize(objective, mu, jac=True, method="L-BFGS-B").fun)
        return math.exp(-minimize(lambda theta: objective(theta)[0], mu).fun)

    rows = zip(mean, variance, strict=True)
    return np.array([sum(credibility(m, s, c) for c in range(len(m))) - 1.0 for m, s in rows])


# ---------------------------------------------------------------- the comparisons


def binary(table: Table) -> None:
    """U of two labels against Brent's method."""
    mean, variance = pool(1_000_000)
    few = slice(0, 200)
    np.testing.assert_allclose(
        brent(mean[few], variance[few]),
        acquisition.uncertainty(mean[few], variance[few]),
        atol=1e-6,
    )
    seconds = interleaved(
        {
            "ours": timed(lambda: acquisition.uncertainty(mean, variance), len(mean)),
            "peer": timed(lambda: brent(mean[few], variance[few]), 200),
        },
        "U, two labels",
    )
    add(table, "U, two labels, 1e6 points", seconds, "scipy Brent", "at least 1000x faster")


def softmax(table: Table, labels: int, m: int) -> None:
    """U of many labels against a quasi-Newton method."""
    mean, variance = pool(m, labels)
    few = slice(0, max(4, 200 // labels))
    sample = mean[few], variance[few]
    np.testing.assert_allclose(
        quasi_newton(*sample, tuned=True), acquisition.uncertainty(*sample), atol=1e-4
    )
    contenders = {
        "ours": timed(lambda: acquisition.uncertainty(mean, variance), m),
        "scipy L-BFGS-B, exact gradients": timed(
            lambda: quasi_newton(*sample, tuned=True), few.stop
        ),
    }
    if labels <= MANY:
        contenders["scipy minimize, its defaults"] = timed(
            lambda: quasi_newton(*sample, tuned=False), few.stop
        )
    seconds = interleaved(contenders, f"U, {labels} labels")
    goal = "at least 1000x faster" if labels <= MANY else ""
    for peer in list(contenders)[1:]:
        pair = {"ours": seconds["ours"], "peer": seconds[peer]}
        add(table, f"U, {labels} labels, {m:.0e} points", pair, peer, goal)


def necessity(table: Table) -> None:
    """N against the standard score and BALD, all checked and called alike."""
    mean, variance = pool(1_000_000)
    names = ("doubt", "least_confidence", "bald_houlsby", "bald")
    scores = {name: getattr(acquisition, name) for name in names}
    seconds = interleaved(
        {
            **{n: timed(lambda f=f: f(mean, variance), len(mean)) for n, f in scores.items()},
            "bare": timed(lambda: ndtr(-np.abs(mean) / np.sqrt(1.0 + variance)), len(mean)),
        },
        "N and the baselines",
    )
    for peer, title, goal in (
        ("least_confidence", "standard score", "at most 1.0x the cost; paper 1.12x"),
        ("bare", "standard score, one bare line of NumPy", ""),
        ("bald_houlsby", "BALD, Houlsby's formula", "at most 0.5x the cost; paper 0.91x"),
        ("bald", "BALD, to full precision", "at most 0.5x the cost"),
    ):
        pair = {"ours": seconds["doubt"], "peer": seconds[peer]}
        add(table, "N, two labels, 1e6 points", pair, title, goal, cost=True)


def averages(table: Table, labels: int, m: int, goal: str) -> None:
    """Average probabilities of a softmax, as margins read them, against a hundred draws."""
    mean, variance = pool(m, labels)
    rng = np.random.default_rng(SEED)

    def draws() -> np.ndarray:
        theta = mean + np.sqrt(variance) * rng.normal(size=(100, m, labels))
        e = np.exp(theta - theta.max(axis=2, keepdims=True))
        return (e / e.sum(axis=2, keepdims=True)).mean(axis=0)

    np.testing.assert_allclose(
        expectations.softmax_probabilities(mean, variance), draws(), atol=0.3
    )
    contenders = {
        "ours": timed(lambda: expectations.softmax_probabilities(mean, variance), m),
        "peer": timed(draws, m),
        "bald": timed(lambda: acquisition.bald(mean, variance), m),
    }
    seconds = interleaved(contenders, f"averages, {labels} labels")
    what = f"average probabilities, {labels} labels, {m:.0e} points"
    add(table, what, seconds, "100 Monte Carlo draws", goal)
    pair = {"ours": seconds["bald"], "peer": seconds["peer"]}
    add(table, f"BALD, {labels} labels, {m:.0e} points", pair, "100 Monte Carlo draws", "")


def memory(console: Console) -> None:
    """Peak memory of U for a hundred labels: bounded by the chunks, not by the pool."""
    peaks = {}
    for m in (200, 1600):
        mean, variance = pool(m, 100)
        tracemalloc.start()
        acquisition.uncertainty(mean, variance)
        peaks[m] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    console.print(
        "U, 100 labels: peak memory above the input "
        + ", ".join(f"{peak:.1f} MB for {m} points" for m, peak in peaks.items())
    )


def add(  # noqa: PLR0913 - one line of the table
    table: Table, what: str, seconds: dict[str, float], peer: str, goal: str, *, cost: bool = False
) -> None:
    """One line: what, what it costs, what the peer costs, and the ratio."""
    ratio = seconds["ours"] / seconds["peer"] if cost else seconds["peer"] / seconds["ours"]
    shown = f"{ratio:.2f}x the cost" if cost else f"{ratio:,.{int(ratio < 10)}f}x faster"
    table.add_row(what, nano(seconds["ours"]), peer, nano(seconds["peer"]), shown, goal)


def nano(seconds: float) -> str:
    """Time per point, in the unit that reads best."""
    return f"{seconds * 1e9:,.0f} ns" if seconds < 1e-5 else f"{seconds * 1e6:,.0f} us"


def main() -> None:
    """Run all comparisons and print one table."""
    from threadpoolctl import threadpool_limits

    console = Console(width=150 if not sys.stdout.isatty() else None)
    table = Table("what", "ours, per point", "peer", "peer, per point", "ratio", "goal")
    with threadpool_limits(1):
        binary(table)
        necessity(table)
        softmax(table, 3, 100_000)
        softmax(table, 10, 20_000)
        softmax(table, 100, 200)
        averages(table, 3, 2000, "at most 3 us")
        averages(table, 10, 2000, "at most 12 us")
        console.print(table)
        memory(console)


if __name__ == "__main__":
    main()
