"""The picture of a demonstration: one run's posterior midway, and mean learning curves."""

from io import BytesIO
from pathlib import Path

import numpy as np

from possibal.acquisition.pointwise import necessity
from possibal.acquisition.strategy import MarginalPosterior
from possibal.arrays import Matrix
from possibal.experiments.compare import RANDOM, mean_interval, saving, target_accuracy
from possibal.experiments.demo import Demonstration
from possibal.experiments.reporting.figures import Drawing, Panel, check_drawing
from possibal.files import part_of

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
    check_drawing()
    try:
        part_of(path).touch()
        part_of(path).unlink()
    except OSError as error:
        raise ValueError(
            f"to must be in a folder that can be written; got {str(path)!r} "
            f"({error.strerror}). Choose another."
        ) from None


def _check_name(path: Path) -> None:
    """Refuse a name that is none, a folder's, or another kind of file's."""
    if path.is_dir():
        raise ValueError(f"to must be a file; got the folder {str(path)!r}. Add a name.")
    if path.name.lower() == ".png":
        raise ValueError(f"to must have a name before .png; got {str(path)!r}. Add one.")
    if path.suffix.lower() != ".png":
        raise ValueError(f"to must end in .png; got {str(path)!r}. Add the ending.")


def _check_folder(path: Path) -> None:
    """Refuse a folder that is not there."""
    files = [str(parent) for parent in path.parents if parent.is_file()]
    if files:
        raise ValueError(
            f"to must be in a folder; got {str(path)!r}, and {files[0]!r} is a file. "
            "Choose another place."
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"to must be in a folder that exists; got {str(path)!r}. "
            f"Make the folder {str(path.parent)!r} first."
        )


def picture(outcome: Demonstration) -> bytes:
    """The outcome as a PNG: the learning curves, beside run 1 midway if its data are flat."""
    from matplotlib import style
    from matplotlib.figure import Figure

    flat = outcome.job.data.X.shape[1] == 2  # noqa: PLR2004 - a plane
    with style.context(["default", STYLE]):
        figure: Drawing = Figure((16 if flat else 9, 7), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.2, h_pad=0.15, wspace=0.04)
        panels = figure.subplots(1, 2 if flat else 1, squeeze=False)[0]
        if flat:
            _draw_pool(panels[0], outcome)
        _draw_curves(panels[-1], outcome)
        content = BytesIO()
        figure.savefig(content, format="png")
    return content.getvalue()


def _draw_pool(axes: Panel, outcome: Demonstration) -> None:
    """Run 1 after some answers: what is known of the plane, and the next question."""
    data, X = outcome.job.data, outcome.split.X
    answers = min(ANSWERS_SHOWN, len(outcome.first.rows) - 1)
    rows, pool = outcome.labelled(answers), X[outcome.split.pool]
    _draw_necessity(axes, outcome.classifier(answers).posterior_, pool)
    axes.scatter(*pool.T, s=16, c=PALE, linewidths=0, label="no label yet")
    for code, marker in enumerate("os"):
        here = X[rows[data.y[rows] == code]]
        axes.scatter(*here.T, c=COLOURS[code], marker=marker, label=data.labels[code], **KNOWN)
    axes.scatter(*X[outcome.first.rows[answers]], label="next question", **NEXT)
    axes.set(title=f"After {answers} answers: what is known, what to ask next")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), **LEGEND)


def _draw_necessity(axes: Panel, posterior: MarginalPosterior, pool: Matrix) -> None:
    """The plane coloured by leading label, as deeply as that label is necessary."""
    from matplotlib.colors import LinearSegmentedColormap

    across, up = ((float(side.min()) - 0.3, float(side.max()) + 0.3) for side in pool.T)
    x, y = np.meshgrid(np.linspace(*across, 240), np.linspace(*up, 240))
    belief = posterior.at(np.column_stack([x.ravel(), y.ravel()]))
    mean, sure = belief.mean[belief.leading].reshape(x.shape), necessity(belief).reshape(x.shape)
    tint = LinearSegmentedColormap.from_list("sides", TINTS)
    image = axes.pcolormesh(x, y, np.sign(mean) * sure, cmap=tint, vmin=-1, vmax=1, zorder=0)
    axes.contour(x, y, mean, levels=[0], colors=INK, linewidths=2)
    axes.plot([], [], color=INK, lw=2, label="boundary")
    bar = axes.figure.colorbar(image, ax=axes, ticks=[-1, -0.5, 0, 0.5, 1], aspect=30, pad=0.02)
    bar.ax.set_yticklabels(["1", "0.5", "0", "0.5", "1"])
    bar.set_label("necessity of the leading label")
    bar.outline.set_visible(False)


def _draw_curves(axes: Panel, outcome: Demonstration) -> None:
    """Mean test accuracy against labels, with its 95% band, and the labels saved."""
    results, strategy = outcome.results, outcome.strategy
    labels = results.start + np.arange(results.experiment.sizes.queries + 1)
    pens = {strategy: (COLOURS[0], "-")} | {RANDOM: (INK, "--")}  # random is drawn once
    for name, (colour, line) in pens.items():
        accuracy = 100 * results.accuracy[name]
        ends = [mean_interval(column, results) for column in accuracy.T]
        low, high = np.array([one for one in ends if one is not None]).reshape(-1, 2).T
        axes.fill_between(labels[: len(low)], low, high, color=colour, alpha=0.15, lw=0)
        axes.plot(labels, accuracy.mean(axis=0), line, color=colour, lw=2.8, label=name)
    _draw_saving(axes, outcome)
    size = results.experiment.sizes
    axes.set(title=f"Accuracy on other rows ({results.experiment.dataset}, {size.runs} runs)")
    axes.set(xlabel="labels", ylabel="mean accuracy in %, with 95% interval")
    axes.grid(axis="y", color="#e5e5e5")
    axes.legend(loc="lower right", frameon=False, fontsize=15)


def _draw_saving(axes: Panel, outcome: Demonstration) -> None:
    """An arrow from the labels needed to those that random needs, if that is beyond chance."""
    one = saving(outcome.results, outcome.strategy)
    if not one.is_sure or one.needed is None:
        return
    ours, theirs = one.needed, one.needed + one.saved
    height = 100 * target_accuracy(outcome.results.accuracy[RANDOM])
    arrow = {"arrowstyle": "<->", "color": COLOURS[1], "lw": 2}
    axes.annotate("", xy=(ours, height), xytext=(theirs, height), arrowprops=arrow)
    below = {"textcoords": "offset points", "ha": "left", "va": "top", "fontsize": 13}
    text = f"{ours} labels instead of {theirs}"
    axes.annotate(text, (ours, height), (6, -5), color=COLOURS[1], **below)
