"""The picture of a demonstration: what one run knew midway, and how accuracy rose over all runs."""

from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from possibal.acquisition.pointwise import necessity
from possibal.acquisition.strategy import MarginalPosterior
from possibal.arrays import Matrix
from possibal.errors import MissingPackageError
from possibal.experiments.demo import Outcome, deal, fit, interval, saving
from possibal.files import part_of

Panel: TypeAlias = Any
"""matplotlib's Axes; its stubs leave most arguments untyped."""

ANSWERS_SHOWN = 14
"""How many answers the left panel has seen: enough for a boundary, few enough for doubt."""
INK, PALE = "#222222", "#8c8c8c"
COLOURS = ("#0072b2", "#d55e00")  # blue and vermilion: told apart by colour-blind readers too
TINTS = ("#3d94c9", "#b9d9ec", "#ffffff", "#fad3b5", "#ec8a45")
KNOWN = {"s": 120, "edgecolors": "white", "linewidths": 1.5, "zorder": 3}
NEXT = {"s": 560, "c": "#f0e442", "marker": "*", "edgecolors": INK, "linewidths": 1.6, "zorder": 4}
LEGEND = {"ncols": 5, "frameon": False, "handlelength": 1.1, "columnspacing": 1.1, "fontsize": 13}
STYLE = {
    "font.size": 14,
    "axes.titlesize": 16,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 14,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 100,
    "text.color": INK,
}


def check_picture(path: Path) -> None:
    """Refuse, before any long work, a picture that could not be drawn or written."""
    _check_name(path)
    _check_folder(path)
    try:
        import_module("matplotlib.figure")
    except ImportError:
        raise MissingPackageError(
            "The picture needs matplotlib, which is not installed: "
            "run pip install 'possibal[plot]'."
        ) from None
    try:
        part_of(path).touch()
        part_of(path).unlink()
    except OSError as error:
        raise ValueError(
            f"picture must be in a folder that can be written; got {str(path)!r} "
            f"({error.strerror}). Choose another."
        ) from None


def _check_name(path: Path) -> None:
    """Refuse a name that is none, a folder's, or another kind of file's."""
    if path.is_dir():
        raise ValueError(f"picture must be a file; got the folder {str(path)!r}. Add a name.")
    if path.name.lower() == ".png":
        raise ValueError(f"picture must have a name before .png; got {str(path)!r}. Add one.")
    if path.suffix.lower() != ".png":
        raise ValueError(f"picture must end in .png; got {str(path)!r}. Add the ending.")


def _check_folder(path: Path) -> None:
    """Refuse a folder that is not there."""
    files = [str(parent) for parent in path.parents if parent.is_file()]
    if files:
        raise ValueError(
            f"picture must be in a folder; got {str(path)!r}, and {files[0]!r} is a file. "
            "Choose another place."
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"picture must be in a folder that exists; got {str(path)!r}. "
            f"Make the folder {str(path.parent)!r} first."
        )


def picture(outcome: Outcome) -> bytes:
    """The outcome as a PNG: the learning curves, beside run 1 midway if its data are flat."""
    flat = outcome.plan.table.X.shape[1] == 2  # noqa: PLR2004 - a plane
    style, module = import_module("matplotlib.style"), import_module("matplotlib.figure")
    with style.context(["default", STYLE]):
        figure = module.Figure((16 if flat else 9, 7), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.2, h_pad=0.15, wspace=0.04)
        panels = figure.subplots(1, 2 if flat else 1, squeeze=False)[0]
        if flat:
            _draw_pool(panels[0], outcome)
        _draw_curves(panels[-1], outcome)
        content = BytesIO()
        figure.savefig(content, format="png")
    return content.getvalue()


def _draw_pool(axes: Panel, outcome: Outcome) -> None:
    """Run 1 after some answers: what is known of the plane, and the next question."""
    plan, chosen = outcome.plan, outcome.runs[0].chosen
    share, answers = deal(plan, 0), min(ANSWERS_SHOWN, plan.settings.questions - 1)
    rows, pool = chosen.labelled(answers), share.X[share.pool]
    _draw_necessity(axes, fit(plan, share, rows).posterior_, pool)
    axes.scatter(*pool.T, s=16, c=PALE, linewidths=0, label="no label yet")
    for side, marker in enumerate("os"):
        here = share.X[[row for row in rows if plan.table.y[row] == side]]
        label = plan.table.labels[side]
        axes.scatter(*here.T, c=COLOURS[side], marker=marker, label=label, **KNOWN)
    axes.scatter(*share.X[chosen.questions[answers].row], label="next question", **NEXT)
    axes.set(title=f"After {answers} answers: what is known, what to ask next")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), **LEGEND)


def _draw_necessity(axes: Panel, posterior: MarginalPosterior, pool: Matrix) -> None:
    """The plane coloured by leading label, as deeply as that label is necessary."""
    across, up = ((float(side.min()) - 0.3, float(side.max()) + 0.3) for side in pool.T)
    x, y = np.meshgrid(np.linspace(*across, 240), np.linspace(*up, 240))
    belief = posterior.at(np.column_stack([x.ravel(), y.ravel()]))
    mean, sure = belief.mean[belief.leading].reshape(x.shape), necessity(belief).reshape(x.shape)
    tint = import_module("matplotlib.colors").LinearSegmentedColormap.from_list("sides", TINTS)
    image = axes.pcolormesh(x, y, np.sign(mean) * sure, cmap=tint, vmin=-1, vmax=1, zorder=0)
    axes.contour(x, y, mean, levels=[0], colors=INK, linewidths=2)
    axes.plot([], [], color=INK, lw=2, label="boundary")
    bar = axes.figure.colorbar(image, ax=axes, ticks=[-1, -0.5, 0, 0.5, 1], aspect=30, pad=0.02)
    bar.ax.set_yticklabels(["1", "0.5", "0", "0.5", "1"])
    bar.set_label("necessity of the leading label")
    bar.outline.set_visible(False)


def _draw_curves(axes: Panel, outcome: Outcome) -> None:
    """Mean test accuracy against labels, with its 95% band, and the labels saved."""
    settings, saved = outcome.plan.settings, saving(outcome)
    curves = {settings.strategy: (outcome.chosen, COLOURS[0], "-")}
    curves["random"] = (outcome.random, INK, "--")
    for name, (accuracy, colour, line) in curves.items():
        curve = interval(100 * accuracy)
        axes.fill_between(outcome.labels, curve.low, curve.high, color=colour, alpha=0.15, lw=0)
        axes.plot(outcome.labels, curve.mean, line, color=colour, lw=2.8, label=name)
    if saved:
        height = 100 * saved.accuracy
        ends = {"xy": (saved.ours, height), "xytext": (saved.theirs, height)}
        axes.annotate("", **ends, arrowprops={"arrowstyle": "<->", "color": COLOURS[1], "lw": 2})
        text = f"{saved.ours} labels instead of {saved.theirs}"
        middle = ((saved.ours + saved.theirs) / 2, height)
        axes.annotate(
            text, middle, (0, 6), textcoords="offset points", ha="center", color=COLOURS[1]
        )
    axes.set(title=f"Accuracy on other rows ({settings.data}, {settings.runs} runs)")
    axes.set(xlabel="labels", ylabel="mean accuracy in %, with 95% interval")
    axes.grid(axis="y", color="#e5e5e5")
    axes.legend(loc="lower right", frameon=False, fontsize=15)
