"""Figures for notebooks: bands of a process, learning curves, and maps of a pool.

possibal.plotting.band(process, X)        campaign.plot_curve()        campaign.plot_map()

Each draws on matplotlib's axes and returns them; a file is ``axes.figure.savefig("a.png")``.
"""

from collections.abc import Hashable, Sequence
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias

import numpy as np

from possibal.arrays import Matrix, Vector, real
from possibal.errors import MissingPackageError

Panel: TypeAlias = Any
"""matplotlib's Axes; its stubs leave most arguments untyped."""
INK, PALE, GRID = "#222222", "#8c8c8c", "#e5e5e5"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#332288", "#882255")
"""Of classes: Okabe and Ito's, which colour-blind readers tell apart, and two more."""
MARKERS = ("o", "s", "^", "D", "v", "P", "h")
"""Of classes: one fewer than colours, so that 56 classes differ in one or the other."""
SMALL, LARGE = 14.0, 70.0
"""Points of a row without a label, and with one."""
MOST_NAMED = 12
"""Classes that a legend names at most."""
DEPTH = 0.18
"""How much ink the widest band has; the second has twice as much."""
SIZE = (7.0, 4.6)
"""Inches of a new figure."""
STYLE: dict[Any, Any] = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
}


class _DrawnShare(Protocol):
    """A share after some answers, with its range."""

    @property
    def answers(self) -> int: ...
    @property
    def accuracy(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


class _DrawnRow(Protocol):
    """A row in the plane."""

    @property
    def x(self) -> float: ...
    @property
    def y(self) -> float: ...
    @property
    def label(self) -> Hashable | None: ...
    @property
    def predicted(self) -> Hashable | None: ...


def band(
    process: object,
    X: Any,  # noqa: ANN401 - one column, as an array or a list
    *,
    levels: Sequence[float] = (0.95, 0.5),
    ax: Panel = None,
) -> Panel:
    """Draw what is credible at each row: a band for each level, and a line through the middle.

    Args:
        process: a :class:`~possibal.PossibilisticGP`; a fitted
            :class:`~possibal.PossibilisticGPRegressor`; or a fitted
            :class:`~possibal.PossibilisticGPClassifier`, of which the probability of the second
            class is drawn, or that of each where there are more than two.
        X: (m,) or (m, 1), one column of numbers.
        levels: necessities of the bands, each between 0 and 1.
        ax: axes to draw on; those of a new figure if left out.
    """
    x = _column(X)
    order = np.argsort(x, kind="stable")
    x = x[order]
    panel = _panel(ax)
    drawn = {level: _bands(process, x[:, None], level) for level in sorted(levels, reverse=True)}
    middle = _middle(process, x[:, None])
    for place, (name, line) in enumerate(middle.items()):
        colour = COLOURS[place % len(COLOURS)]
        for depth, (level, bands) in enumerate(drawn.items(), start=1):
            low, high = bands[name].T
            look = {"color": colour, "alpha": min(0.9, depth * DEPTH), "lw": 0}
            said = f"necessity {level:g}" if len(middle) == 1 else "_"
            panel.fill_between(x, low, high, label=said, **look)
        panel.plot(x, line, color=colour, lw=2.0, label=name)
    panel.legend(frameon=False)
    return panel


def learning_curve(points: Sequence[_DrawnShare], told: str, *, ax: Panel = None) -> Panel:
    """Draw shares after numbers of answers, with their ranges.

    Args:
        points: in the order of their answers.
        told: what the shares are, for the axis.
        ax: axes to draw on; those of a new figure if left out.
    """
    panel = _panel(ax)
    answers = [point.answers for point in points]
    shares, low, high = (
        [100 * getattr(point, name) for point in points] for name in ("accuracy", "low", "high")
    )
    panel.fill_between(answers, low, high, color=COLOURS[0], alpha=DEPTH, lw=0)
    panel.plot(answers, shares, "o-", color=COLOURS[0], lw=2.0, ms=4)
    panel.set(xlabel="answers", ylabel=f"{told}, in %", ylim=(0, 101))
    panel.grid(axis="y", color=GRID)
    if not points:
        words = "The curve begins once two classes have a label."
        panel.text(0.5, 0.5, words, ha="center", va="center", transform=panel.transAxes)
    return panel


def row_map(points: Sequence[_DrawnRow], classes: Sequence[Hashable], *, ax: Panel = None) -> Panel:
    """Draw rows in the plane: colours and shapes are classes; what has a label is large.

    Args:
        points: the rows.
        classes: all there are, in the order of colours.
        ax: axes to draw on; those of a new figure if left out.
    """
    panel = _panel(ax)
    unknown = [one for one in points if one.label is None and one.predicted is None]
    _dots(panel, unknown, {"s": SMALL / 2, "c": PALE, "label": "no guess" if unknown else "_"})
    for place, name in enumerate(classes):
        look = {"c": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        guessed = [one for one in points if one.label is None and one.predicted == name]
        told = [one for one in points if one.label is not None and one.label == name]
        _dots(panel, guessed, {"s": SMALL, "alpha": 0.7, **look})
        named = _named(name) if place < MOST_NAMED else "_"
        _dots(panel, told, {"s": LARGE, "edgecolors": INK, "label": named, "zorder": 3, **look})
    panel.set(xticks=[], yticks=[], xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
    panel.spines[:].set_visible(False)
    panel.set_xlabel("large, with an outline: labelled; small: what the model takes a row for")
    if len(classes) > MOST_NAMED:
        panel.set_title(f"{MOST_NAMED} of {len(classes)} classes are named", fontsize="medium")
    if classes or unknown:
        panel.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return panel


def _dots(panel: Panel, points: Sequence[_DrawnRow], look: dict[str, Any]) -> None:
    """Draw some rows; none are drawn too, so that the legend has their class."""
    panel.scatter([one.x for one in points], [one.y for one in points], **{"lw": 0.8, **look})


def _named(name: Hashable) -> str:
    """A user's name in a legend: a $ begins no formula, and a _ hides nothing."""
    text = str(name).replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{text}" if text.startswith("_") else text


# ---------------------------------------------------------------- bands
def _bands(process: Any, X: Matrix, level: float) -> dict[str, Matrix]:  # noqa: ANN401 - by what it can do
    """The band of each line, (m, 2), by its name."""
    if hasattr(process, "credible_probability"):
        ranges = process.credible_probability(X, level)
        return {name: ranges[:, place] for name, place in _shown_classes(process).items()}
    if hasattr(process, "credible_interval"):
        return {"most credible": process.credible_interval(X, level)}
    if hasattr(process, "band"):
        return {"most credible": process.band(X, level)}
    raise TypeError(
        "process must be a PossibilisticGP, or a fitted classifier or regressor of possibal; got "
        f"{type(process).__name__}. Pass one of these."
    )


def _middle(process: Any, X: Matrix) -> dict[str, Vector]:  # noqa: ANN401 - as above
    """The line through the middle of each band, by its name."""
    if hasattr(process, "predict_proba"):
        chances = process.predict_proba(X)
        return {name: chances[:, place] for name, place in _shown_classes(process).items()}
    if hasattr(process, "predict"):
        return {"most credible": process.predict(X)}
    return {"most credible": process.band(X).mean(axis=1)}


def _shown_classes(classifier: Any) -> dict[str, int]:  # noqa: ANN401 - as above
    """The classes whose probability is drawn, by their names: of two the second says it all."""
    names = [f"probability of {_named(name)}" for name in classifier.classes_]
    shown = list(enumerate(names))
    return {name: place for place, name in (shown[1:] if len(shown) == 2 else shown)}  # noqa: PLR2004 - as it says


def _column(X: Any) -> Vector:  # noqa: ANN401 - as above
    """One column of numbers."""
    found = real(X, "X")
    if found.ndim == 2 and found.shape[1] == 1:  # noqa: PLR2004 - a table
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(
            f"X must have one column; got shape {found.shape}. A band can be drawn along one alone."
        )
    return found


# ---------------------------------------------------------------- axes
def _panel(ax: Panel) -> Panel:
    """The axes to draw on: those that are given, or of a new figure, which a notebook shows."""
    if ax is not None:
        return ax
    if find_spec("matplotlib") is None:
        raise MissingPackageError(
            "Figures need matplotlib, which is not installed: run pip install 'possibal[plot]'."
        )
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        _, panel = plt.subplots(figsize=SIZE, layout="constrained")
    return panel
