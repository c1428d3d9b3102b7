"""The picture of docs/possibilistic-gp.md: a process before and after data, and two kinds of error.

python tools/process_picture.py       draws it
"""
# ruff: noqa: INP001 - a script, not a package

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from possibal import GaussianNoise, PossibilisticGP, SystematicError
from possibal.arrays import Vector

PICTURE = Path(__file__).parents[1] / "docs/possibilistic-gp.png"
INK, BLUE, VERMILION, GREY = "#222222", "#0072b2", "#d55e00", "#8c8c8c"
X = np.linspace(0.0, 10.0, 201)
SEEN = np.array([0.8, 1.7, 2.9, 4.0, 5.6, 6.2])
AT, VARIANCE, SEED = 8.6, 0.09, 4
LEVELS = (0.95, 0.5)
STYLE = {
    "font.size": 13,
    "axes.titlesize": 14.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
}


def truth(x: Vector) -> Vector:
    """The function that is looked for."""
    return np.asarray(np.sin(1.1 * x) + 0.15 * x - 0.6, dtype=float)


def processes() -> tuple[PossibilisticGP, PossibilisticGP, Vector]:
    """The process before and after data, and the data."""
    errors = 0.3 * np.random.default_rng(SEED).normal(size=SEEN.size)
    before, y = PossibilisticGP(0.0, 1.0 * RBF(1.4)), truth(SEEN) + errors
    return before, before.given(SEEN, y, GaussianNoise(VARIANCE)), y


def draw(path: Path = PICTURE) -> None:
    """Draw all four panels."""
    import matplotlib.pyplot as plt

    before, after, y = processes()
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            2, 2, figsize=(13, 8.6), sharex=True, sharey=True, layout="constrained"
        )
        (prior, posterior), (random, fixed) = axes
        _curves(prior, before, "Before data: what the prior holds credible")
        _curves(posterior, after, "After six measurements")
        posterior.plot(SEEN, y, "o", color=INK, markersize=7, zorder=5)
        _measurements(random, after, GaussianNoise(VARIANCE), "A random error is drawn anew")
        _measurements(fixed, after, SystematicError(VARIANCE), "A systematic error stays")
        for panel in (random, fixed):
            panel.plot(SEEN, y, "o", color=INK, markersize=7, zorder=5)
            panel.set_xlabel("x")
        prior.set_ylim(-4.1, 4.4)
        figure.savefig(path, dpi=110, metadata={"Software": None})
        plt.close(figure)


def _curves(panel: Any, process: PossibilisticGP, title: str) -> None:  # noqa: ANN401 - matplotlib has no types
    """Bands at two levels, and curves that are credible as a whole."""
    for level, alpha in zip(LEVELS, (0.16, 0.22), strict=True):
        low, high = process.band(X, level).T
        panel.fill_between(X, low, high, color=BLUE, alpha=alpha, linewidth=0)
    for curve in process.credible_curves(X, 0.95, n=7, random_state=5):
        panel.plot(X, curve, color=VERMILION, linewidth=1.3, alpha=0.85)
    mean = process.band(X).mean(axis=1)
    panel.plot(X, mean, color=BLUE, linewidth=2.4)
    panel.set_title(title)
    _note(
        panel, 9.9, -3.3, "bands of necessity 0.5 and 0.95;\ncurves of possibility 0.05 as a whole"
    )


def _measurements(
    panel: Any,  # noqa: ANN401 - as above
    process: PossibilisticGP,
    error: GaussianNoise | SystematicError,
    title: str,
) -> None:
    """The band of the function, that of a measurement, and forty measurements at one place."""
    low, high = process.band(X).T
    panel.fill_between(X, low, high, color=BLUE, alpha=0.22, linewidth=0)
    for end in process.band(X, error=error).T:
        panel.plot(X, end, color=VERMILION, linewidth=2.0, linestyle=(0, (5, 2)))
    panel.plot(X, truth(X), color=GREY, linewidth=1.6)
    rng = np.random.default_rng(8)
    drawn = rng.normal(size=40) if isinstance(error, GaussianNoise) else np.full(40, 1.3)
    spread = AT + 0.1 * rng.uniform(-1, 1, 40)
    at = truth(np.array([AT])) + VARIANCE**0.5 * drawn
    panel.plot(spread, at, "o", color=VERMILION, markersize=4.5, alpha=0.55, zorder=4)
    panel.set_title(title)
    words = (
        "40 measurements scatter" if isinstance(error, GaussianNoise) else "40 measurements agree"
    )
    panel.annotate(
        f"{words}\naround the truth" if "scatter" in words else f"{words},\noff the truth",
        xy=(AT, float(at.max()) + 0.1),
        xytext=(AT, 3.6),
        ha="center",
        fontsize=11.5,
        arrowprops={"arrowstyle": "-", "color": GREY},
    )
    _note(
        panel, 0.1, -3.25, "blue: the function\ndashed: a measurement\ngrey: the truth", ha="left"
    )


def _note(panel: Any, x: float, y: float, text: str, ha: str = "right") -> None:  # noqa: ANN401 - as above
    panel.text(x, y, text, ha=ha, va="center", fontsize=11.5, color=INK)


if __name__ == "__main__":
    draw()
