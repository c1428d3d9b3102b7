"""The pictures of docs/ideas: possibility, necessity, the process, and how a question is chosen.

python tools/idea_pictures.py       draws them
"""
# ruff: noqa: INP001 - a script, not a package

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from process_picture import BLUE, GREY, INK, STYLE, VERMILION
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF

from possibal import Campaign, PossibilisticGPClassifier, acquisition
from possibal.arrays import Matrix, Vector

FOLDER = Path(__file__).parents[1] / "docs/ideas"
GREEN = "#009e73"
THETA = np.linspace(0.0, 1.0, 401)
LINE = np.linspace(-5.0, 5.0, 401)
FLIPS = [(5, 10), (500, 1000)]
"""Heads out of throws."""
QUESTIONS = 12


def unknown_and_random(axes: Any) -> None:  # noqa: ANN401 - matplotlib has no types
    """Two coins: one thrown ten times, one a thousand times."""
    for panel, (heads, throws) in zip(axes, FLIPS, strict=True):
        panel.fill_between(THETA, coin(heads, throws), color=BLUE, alpha=0.22, linewidth=0)
        panel.plot(THETA, coin(heads, throws), color=BLUE, linewidth=2.4)
        panel.axvline(0.5, color=VERMILION, linewidth=1.6, linestyle=(0, (5, 2)))
        panel.set_title(f"{heads} heads in {throws} throws")
        panel.set_xlabel("share of heads in the long run")
    axes[0].set_ylabel("how possible that share is")


def coin(heads: int, throws: int) -> Vector:
    """The likelihood of each share of heads, relative to the best."""
    share = np.clip(THETA, 1e-12, 1 - 1e-12)
    most = heads / throws
    log = heads * np.log(share / most) + (throws - heads) * np.log((1 - share) / (1 - most))
    return np.asarray(np.exp(log), dtype=float)


def possibility(axes: Any) -> None:  # noqa: ANN401 - as above
    """A possibility function, and what it says of a statement."""
    curve = np.exp(-(((LINE - 1.2) / 1.4) ** 2) / 2)
    left, right = axes
    for panel in axes:
        panel.plot(LINE, curve, color=BLUE, linewidth=2.4)
        panel.set_xlabel("the unknown number")
        panel.set_ylim(0, 1.08)
    left.annotate("1 here", (1.2, 1.0), (2.4, 0.96), arrowprops={"arrowstyle": "-", "color": GREY})
    left.annotate(
        "hardly possible", (-2.2, 0.05), (-4.6, 0.3), arrowprops={"arrowstyle": "-", "color": GREY}
    )
    left.set_title("The most credible value has 1")
    left.set_ylabel("possibility")
    below = LINE <= 0
    right.fill_between(LINE[below], curve[below], color=VERMILION, alpha=0.35, linewidth=0)
    right.fill_between(LINE[~below], curve[~below], color=BLUE, alpha=0.2, linewidth=0)
    most = float(curve[below].max())
    right.plot([-5, 0], [most, most], color=VERMILION, linewidth=1.4, linestyle=(0, (5, 2)))
    first = f"best value below zero: {most:.2f}"
    words = f"{first}\nso “above zero” has\nnecessity 1 - {most:.2f} = {1 - most:.2f}"
    right.text(-4.9, 1.04, words, fontsize=12, va="top")
    right.set_title("A statement is as possible as its best case")


def necessity(axes: Any) -> None:  # noqa: ANN401 - as above
    """The same chance with little and with much known."""
    for panel, deviation, title in zip(
        axes, (2.0, 0.25), ("Little is known here", "Much is known here"), strict=True
    ):
        mean = 0.5 * np.sqrt(1 + deviation**2)  # the same predictive probability in both
        curve = np.exp(-(((LINE - mean) / deviation) ** 2) / 2)
        wrong = LINE < 0
        panel.plot(LINE, curve, color=BLUE, linewidth=2.4)
        panel.fill_between(LINE[wrong], curve[wrong], color=VERMILION, alpha=0.35, linewidth=0)
        panel.axvline(0.0, color=INK, linewidth=1.0)
        value = acquisition.necessity([mean], [deviation**2])[0]
        chance = norm.cdf(mean / np.sqrt(1 + deviation**2))
        panel.set_title(title)
        panel.text(-4.9, 0.95, f'chance of "yes": {chance:.2f}\nnecessity: {value:.2f}', va="top")
        panel.set_xlabel('the latent number: below zero "no", above "yes"')
        panel.set_ylim(0, 1.08)
    axes[0].set_ylabel("possibility")


def process(axes: Any) -> None:  # noqa: ANN401 - as above
    """Labels on a line, what is credible of the latent, and what follows for each label."""
    X, y = (
        np.array([[-3.4], [-2.6], [-2.1], [0.8], [1.5]]),
        np.array(["no", "no", "no", "yes", "yes"]),
    )
    kernel = 4.0 * RBF(1.1)
    model = PossibilisticGPClassifier(kernel=kernel, hyperparameters="fixed", mean=0.0).fit(X, y)
    belief = model.belief(LINE[:, None])
    mean, deviation = belief.mean[0], np.sqrt(belief.variance[0])
    latent, labels = axes
    for width, alpha in ((2.45, 0.16), (1.18, 0.22)):
        latent.fill_between(
            LINE, mean - width * deviation, mean + width * deviation, color=BLUE, alpha=alpha, lw=0
        )
    latent.plot(LINE, mean, color=BLUE, linewidth=2.4)
    latent.set_ylim(-5.6, 5.6)
    latent.axhline(0.0, color=INK, linewidth=1.0)
    latent.set_title("What is credible of the latent function")
    latent.set_ylabel('latent: above zero "yes"')
    values = model.necessity(LINE[:, None])
    labels.plot(
        LINE, values, color=VERMILION, linewidth=2.4, label="necessity of the leading label"
    )
    chance = model.predict_proba(LINE[:, None]).max(axis=1)
    labels.plot(LINE, chance, color=GREY, linewidth=1.8, linestyle=(0, (5, 2)), label="its chance")
    labels.set_title("What follows for the labels")
    labels.set_ylim(0, 1.25)
    labels.legend(frameon=False, loc="upper center", ncols=2, fontsize=11.5)
    for panel in axes:
        for place, label in zip(X[:, 0], y, strict=True):
            height = panel.get_ylim()[0]
            mark = "o" if label == "yes" else "s"
            color = GREEN if label == "yes" else VERMILION
            panel.plot([place], [height], mark, color=color, markersize=9, clip_on=False, zorder=5)
        panel.set_xlabel('rows, as points on a line; squares were labelled "no", circles "yes"')


def questions(axes: Any) -> None:  # noqa: ANN401 - as above
    """Where each of three strategies asked, on the same pool."""
    X, y = pool()
    for panel, strategy in zip(axes, ("herding", "necessity", "random"), strict=True):
        campaign = Campaign.start(X, classes=["left", "right"], strategy=strategy, seed=1)
        order = list[int]()
        for _ in range(QUESTIONS):
            (row,) = campaign.ask()
            campaign.tell(row, str(y[int(str(row))]))
            order.append(int(str(row)))
        _areas(panel, campaign, X)
        for side, color in (("left", VERMILION), ("right", GREEN)):
            panel.plot(*X[y == side].T, ".", color=color, markersize=4, alpha=0.6)
        for number, row in enumerate(order, start=1):
            panel.plot(*X[row], "o", color="white", markeredgecolor=INK, markersize=17)
            panel.text(*X[row], str(number), ha="center", va="center", fontsize=9.5)
        right = float((campaign.predict(X) == y).mean())
        panel.set_title(f"{strategy}: {100 * right:.0f} % right")
        panel.set_xticks([])
        panel.set_yticks([])


def pool() -> tuple[Matrix, Any]:
    """Two curved clusters, one of them with a dense core."""
    draw = np.random.default_rng(3)
    turn = draw.uniform(0, np.pi, 150)
    upper = np.column_stack([np.cos(turn), np.sin(turn)])
    lower = np.column_stack([1 - np.cos(turn), 0.35 - np.sin(turn)])
    X = np.vstack([upper, lower]) + 0.16 * draw.normal(size=(300, 2))
    return X, np.repeat(["left", "right"], 150)


def _areas(panel: Any, campaign: Campaign, X: Matrix) -> None:  # noqa: ANN401 - as above
    """The predicted side all over, fainter where the necessity is low."""
    spans = [np.linspace(X[:, c].min() - 0.2, X[:, c].max() + 0.2, 90) for c in range(2)]
    grid = np.stack(np.meshgrid(*spans), axis=-1).reshape(-1, 2)
    signed = campaign.classifier.necessity(grid) * np.where(
        campaign.predict(grid) == "right", 1, -1
    )
    panel.contourf(
        *spans,
        signed.reshape(90, 90),
        levels=[-1, -0.5, -0.2, -0.05, 0.05, 0.2, 0.5, 1],
        colors=["#f0b58f", "#f5ceb5", "#fae7da", "#ffffff", "#d9efe8", "#b3dfd1", "#8ccfba"],
    )


PICTURES: dict[str, tuple[Callable[[Any], None], int, tuple[float, float]]] = {
    "unknown-and-random": (unknown_and_random, 2, (11, 3.6)),
    "possibility": (possibility, 2, (13, 4.0)),
    "necessity": (necessity, 2, (13, 4.0)),
    "process": (process, 2, (13, 4.4)),
    "questions": (questions, 3, (14.5, 4.6)),
}
"""Each picture by its page: who draws it, how many panels it has, and its size in inches."""


def draw(folder: Path = FOLDER) -> None:
    """Draw all of them."""
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        for name, (drawn, panels, size) in PICTURES.items():
            figure, axes = plt.subplots(1, panels, figsize=size, layout="constrained")
            drawn(axes)
            figure.savefig(folder / f"{name}.png", dpi=90, metadata={"Software": None})
            plt.close(figure)


if __name__ == "__main__":
    draw()
