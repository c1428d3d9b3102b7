"""Learning curves, and critical-difference diagrams of average ranks (Demsar 2006)."""

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from itertools import cycle
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from possibal.arguments import choice
from possibal.arrays import Matrix
from possibal.errors import MissingPackageError
from possibal.experiments.compare import RANDOM, mean_interval
from possibal.experiments.reporting.rank_tests import RankTest, names
from possibal.experiments.results import Results

Drawing: TypeAlias = Any
"""matplotlib's Figure; its stubs leave most arguments untyped."""
Panel: TypeAlias = Any
"""matplotlib's Axes."""


class Pen(NamedTuple):
    """How the line of a strategy is drawn: a colour and a pattern of dashes."""

    colour: str
    dashes: Any


INK, GRID = "#222222", "#e5e5e5"
DASHED, DOTTED, MIXED = (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.5, 1.2, 1.5))
PENS: Mapping[str, Pen] = MappingProxyType(
    {
        "random": Pen("#4d4d4d", DOTTED),
        "least_confidence": Pen("#e69f00", DASHED),
        "latent_entropy": Pen("#56b4e9", MIXED),
        "bald": Pen("#cc79a7", MIXED),
        "margin": Pen("#882255", DASHED),
        "entropy": Pen("#117733", MIXED),
        "uncertainty": Pen("#0072b2", "-"),
        "necessity": Pen("#d55e00", "-"),
    }
)
"""The known strategies; colour-blind readers tell them apart too, by dashes if not by colour."""
SPARE = ("#009e73", "#332288", "#999933", "#aa4499", "#000000")
"""Colours of strategies that are not known."""
STYLE = {
    "font.size": 13,
    "axes.titlesize": 15,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "figure.dpi": 100,
    "savefig.dpi": "figure",
    "text.color": INK,
    "text.parse_math": False,  # names come from users: a $ is a $
    "svg.fonttype": "none",  # letters stay letters, to search and to read aloud
    "svg.hashsalt": "possibal",
}
WIDTH = 14.0
"""Inches, of 100 dots each."""
LONGEST = 40
"""Letters of a name that are shown."""
METADATA: Mapping[str, dict[str, None]] = MappingProxyType({"png": {}, "svg": {"Date": None}})
"""The kinds of file, with what would make two of the same figure differ taken out."""


def curves(results: Sequence[Results]) -> Drawing:
    """Accuracy against labels, a panel per set: median over runs, and quartiles as a band.

    Paper: App. E.1, Figure 1.
    """
    if not results:
        raise ValueError("results must hold at least one set; got none. Run an experiment first.")
    pens = _pens(strategy for result in results for strategy in result.accuracy)
    across = _across(len(results))
    down = -(-len(results) // across)
    check_drawing()
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", STYLE]):
        figure: Drawing = Figure((WIDTH, 0.9 + 4.1 * down), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08, wspace=0.02, hspace=0.03)
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for panel, name, result in zip(panels, names(results), results, strict=False):
            _draw_set(panel, result, pens)
            panel.set_title(name)
        for panel in panels[len(results) :]:
            panel.remove()
        for panel in panels[: len(results) : across]:
            panel.set_ylabel("accuracy")
        _draw_legend(figure, pens)
    return figure


def mean_curves(result: Results) -> Drawing:
    """Mean accuracy against labels, and how far ahead of random, with 95 % intervals of the means.

    The intervals are those of paired runs; where runs are too few there are none.
    """
    pens = _pens(result.accuracy)
    check_drawing()
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", STYLE]):
        figure: Drawing = Figure((WIDTH, 6.2), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08, wspace=0.03)
        left, right = figure.subplots(1, 2)
        _draw_means(left, result, pens, {n: 100 * a for n, a in result.accuracy.items()})
        left.set(title="Accuracy on other rows", ylabel="mean accuracy in %")
        random = result.accuracy[RANDOM]
        gaps = {n: 100 * (a - random) for n, a in result.accuracy.items() if n != RANDOM}
        right.axhline(0.0, color=INK, lw=1)
        _draw_means(right, result, pens, gaps)
        right.set(title="Ahead of random", ylabel="points of accuracy")
        _draw_legend(figure, pens)
    return figure


def critical_difference(ranking: RankTest) -> Drawing:
    """Average ranks on a line; a bar joins strategies that the test cannot tell apart.

    Paper: none; after Demsar, Statistical comparisons of classifiers over multiple data sets,
    JMLR 2006.
    """
    if not ranking.strategies:
        raise ValueError(
            "ranking must hold at least one strategy; got none. "
            "Give results that have a strategy in common."
        )
    bars = _groups(ranking)
    depth = 0.25 * len(bars) + 0.5 * -(-len(ranking.strategies) // 2)
    check_drawing()
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", STYLE, {"axes.grid": False}]):
        figure: Drawing = Figure((0.7 * WIDTH, 1.8 + 0.75 * depth), layout="constrained")
        axes = figure.subplots()
        axes.set(xlim=(0.7, len(ranking.strategies) + 0.3), ylim=(-depth - 0.25, 1.4))
        _draw_rank_axis(axes, len(ranking.strategies))
        _draw_difference(axes, ranking)
        for level, (low, high) in enumerate(bars):
            ends, height = (low - 0.04, high + 0.04), -0.25 * (level + 1)
            axes.plot(ends, (height, height), color=INK, lw=5, solid_capstyle="butt")
        _draw_names(axes, ranking, top=-0.25 * len(bars) - 0.5)
    return figure


def as_bytes(figure: Drawing, kind: str) -> bytes:
    """The figure as the content of a PNG or SVG file; the same figure gives the same bytes."""
    from matplotlib import style

    metadata = choice("kind", kind, METADATA)
    content = BytesIO()
    with style.context(["default", STYLE]):
        figure.savefig(content, format=kind, metadata=metadata)
    return content.getvalue()


def can_draw() -> bool:
    """Whether matplotlib is installed, and whole."""
    try:
        import matplotlib.figure as _  # noqa: F401 - whether it is there
    except ImportError:
        return False
    return True


def check_drawing() -> None:
    """Refuse, before any long work, figures that could not be drawn."""
    if not can_draw():
        raise MissingPackageError(
            "Figures need matplotlib, which is not installed: run pip install 'possibal[plot]'."
        )


# ---------------------------------------------------------------- curves
def _pens(strategies: Iterable[str]) -> dict[str, Pen]:
    """A pen for each strategy: the known ones first and always with their own."""
    given = set(strategies)
    spare = zip(cycle(SPARE), cycle((DASHED, "-", MIXED, DOTTED)), strict=False)
    own = {name: Pen(*pen) for name, pen in zip(sorted(given - set(PENS)), spare, strict=False)}
    return {name: pen for name, pen in PENS.items() if name in given} | own


def _across(panels: int) -> int:
    """How many panels stand side by side: as few empty places as may be, six as in the paper."""
    if panels <= 4:  # noqa: PLR2004 - one line, or two by two
        return (1, 2, 3, 2)[panels - 1]
    return min((4, 3), key=lambda across: -panels % across)


def _draw_set(panel: Panel, result: Results, pens: Mapping[str, Pen]) -> None:
    """The curves of one set, those of the known strategies drawn last and so on top."""
    for strategy in sorted(result.accuracy, key=list(pens).index):
        lines, pen = result.accuracy[strategy], pens[strategy]
        labels = result.start + np.arange(lines.shape[1])
        low, median, high = np.quantile(lines, (0.25, 0.5, 0.75), axis=0)
        panel.fill_between(labels, low, high, color=pen.colour, alpha=0.13, lw=0)
        panel.plot(labels, median, color=pen.colour, linestyle=pen.dashes, lw=2.2)
    panel.set_xlabel("labels")
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.margins(x=0.01)


def _draw_means(
    panel: Panel, result: Results, pens: Mapping[str, Pen], values: Mapping[str, Matrix]
) -> None:
    """The mean over runs after every answer, in a band of its interval if there is one."""
    labels = result.start + np.arange(result.experiment.sizes.queries + 1)
    for strategy in sorted(values, key=list(pens).index):
        lines, pen = values[strategy], pens[strategy]
        ends = [mean_interval(column, result) for column in lines.T]
        known = [one for one in ends if one is not None]
        if known:
            low, high = np.array(known).T
            panel.fill_between(labels, low, high, color=pen.colour, alpha=0.13, lw=0)
        panel.plot(labels, lines.mean(axis=0), color=pen.colour, linestyle=pen.dashes, lw=2.2)
    panel.set_xlabel("labels")
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.margins(x=0.01)


def _draw_legend(figure: Drawing, pens: Mapping[str, Pen]) -> None:
    """One legend for all panels, below them, of as few lines as fit."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=pen.colour, linestyle=pen.dashes, lw=2.6) for pen in pens.values()
    ]
    labels = [_short(name) for name in pens]
    style = {"frameon": False, "handlelength": 2.6, "columnspacing": 1.5, "fontsize": 14}
    columns = _columns([len(label) for label in labels])
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, **style)


def _columns(letters: Sequence[int]) -> int:
    """The most columns of a legend that fit side by side, for names of so many letters."""
    most = range(len(letters), 0, -1)
    return next((columns for columns in most if _breadth(letters, columns) <= WIDTH), 1)


def _breadth(letters: Sequence[int], columns: int) -> float:
    """Inches that a legend takes, whose first columns hold what is left over."""
    widest = (int(column.max()) for column in np.array_split(np.array(letters), columns))
    return sum(1.0 + 0.106 * most for most in widest)  # handle and gap, letters


def _short(name: str) -> str:
    """The name, cut if it is very long."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


# ---------------------------------------------------------------- ranks
def _groups(ranking: RankTest) -> list[tuple[float, float]]:
    """The ends of each longest stretch of ranks that lie within the critical difference."""
    if ranking.critical_difference is None:
        return []
    average, groups = np.array(ranking.average), list[tuple[int, int]]()
    for first, low in enumerate(average):
        last = int(np.flatnonzero(average <= low + ranking.critical_difference)[-1])
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return [(float(average[first]), float(average[last])) for first, last in groups]


def _draw_rank_axis(axes: Panel, worst: int) -> None:
    """A line with the ranks above it."""
    axes.spines[:].set_visible(False)
    axes.set(xticks=[], yticks=[])
    axes.plot((1, worst), (0, 0), color=INK, lw=1.5)
    for rank in range(1, worst + 1):
        axes.plot((rank, rank), (0, 0.12), color=INK, lw=1.5)
        axes.text(rank, 0.2, f"{rank}", ha="center", va="bottom")
    axes.set_title("Average rank (1 is best)")


def _draw_difference(axes: Panel, ranking: RankTest) -> None:
    """The length of the critical difference, if there is one, above the line."""
    if ranking.critical_difference is None:
        axes.text(1, 0.8, "too few sets or strategies for a test", va="bottom")
        return
    ends = (1, 1 + ranking.critical_difference)
    axes.plot(ends, (0.8, 0.8), color=INK, lw=2, marker="|", ms=12, mew=2)
    text = f"critical difference {ranking.critical_difference:.2f}"
    axes.text(1, 0.97, text, va="bottom")


def _draw_names(axes: Panel, ranking: RankTest, top: float) -> None:
    """The strategies, the better half on the left, each with a line to its rank."""
    pens, half = _pens(ranking.strategies), -(-len(ranking.strategies) // 2)
    low, high = axes.get_xlim()
    for place, (name, rank) in enumerate(zip(ranking.strategies, ranking.average, strict=True)):
        left = place < half
        height = top - 0.5 * (place if left else len(ranking.strategies) - 1 - place)
        side, text = low, f"{_short(name)}  {rank:.2f} "
        if not left:
            side, text = high, f" {rank:.2f}  {_short(name)}"
        axes.plot((rank, rank, side), (0, height, height), color=pens[name].colour, lw=1.8)
        axes.plot(rank, 0, "o", color=pens[name].colour, ms=7, zorder=3)
        axes.text(side, height, text, ha="right" if left else "left", va="center")
