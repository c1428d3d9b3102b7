"""How far stated chances can be trusted: the tables and the picture of docs/calibration.md.

    PYTHONPATH=tools python bench/calibration.py --data FOLDER --runs 6

Ten sets that had no part in the choice of anything about chances, held out, one label per class;
then questions of the strategy that campaigns use. After 20, 50 and 100 answers the chance of each
predicted label of the test rows is stated as the page states it, without check rows, and by ten and
thirty of the test rows, drawn at random, on the others. Beside it the model's own probability, and
the necessity of the same labels, which is not a chance and was once shown as one.

The expected calibration error is the mean difference of the stated chance and the share that is
right, over ten bins of equal width, weighted by the rows in them: of all rows of all sets together,
and of each set by itself, where part of it is noise of few rows.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import joblib
import label_efficiency
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

from possibal.acquisition.pointwise import necessity
from possibal.arguments import DEFAULT_STRATEGY
from possibal.arrays import Places, Vector
from possibal.belief import leading_labels
from possibal.campaign.calibration import Calibration, Outcomes, fit_calibration
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.experiments.datasets import Dataset
from possibal.experiments.reporting.figures import GRID, STYLE, as_bytes, check_drawing
from possibal.experiments.spec import ENVELOPE, HELD_OUT, Experiment, Sizes
from possibal.experiments.splits import random_stream, split
from possibal.files import folder, write
from possibal.gp.leave_one_out import self_check
from possibal.labelling.ranker import LEFT_OUT

SETS = (
    *("phoneme", "twonorm", "vowel", "breast", "block-center", "block-corner"),
    *("assistant", "banking", "catsdogs", "waste"),
)
AT = (20, 50, 100)
CHECKS = (0, 10, 30)
BINS = 10
MODEL, NECESSITY = "the model's own", "necessity"
MOST_POOL, MOST_TEST = 600, 1000


@dataclass(frozen=True)
class Stated:
    """Chances of one run after so many answers, stated in one way.

    Attributes:
        name: of the set.
        answers: how many.
        way: how they were stated.
        chance: of the test rows that were not check rows.
        is_right: whether their predicted label is.
        is_covered: whether the range of their mean holds the share that is right, but for the
            noise of so many rows.
    """

    name: str
    answers: int
    way: str
    chance: Vector
    is_right: NDArray[np.bool_]
    is_covered: bool


def way(checks: int) -> str:
    """How chances by so many check rows are called."""
    return f"{checks} check rows" if checks else "no check rows"


def stated(data: Dataset, run: int, seed: int) -> list[Stated]:
    """A campaign that is answered truthfully, looked at now and then."""
    pool = min(MOST_POOL, 2 * len(data.y) // 3)
    sizes = Sizes(1, max(AT), pool, min(MOST_TEST, len(data.y) - pool))
    share = split(Experiment(data.name, HELD_OUT, ENVELOPE, sizes, seed), data, run)
    X = share.rows
    y, start = data.y[share.pool], np.searchsorted(share.pool, share.start).tolist()
    classifier = PossibilisticGPClassifier(
        metric=data.metric, diffusion=share.diffusion.shape[1] or None
    )
    campaign = Snapshot.start(
        X[share.pool],
        classes=np.unique(y),
        strategy=DEFAULT_STRATEGY,
        seed=run,
        classifier=classifier,
    ).replay(Answer(row, int(y[row])) for row in start)
    found = list[Stated]()
    with threadpool_limits(1):
        for asked in range(1, max(AT) + 1):
            (row,) = campaign.ask()
            campaign = campaign.tell(row, int(y[int(str(row))]))
            if asked in AT:
                rng = random_stream(seed, run, f"check rows after {asked}")
                order = rng.permutation(len(share.test))
                found += _looked_at(campaign, X[share.test], data.y[share.test], order, data.name)
    return found


def _looked_at(
    campaign: Snapshot, X: NDArray[np.float64], truth: Places, order: Places, name: str
) -> list[Stated]:
    """What is stated of test rows, in each way.

    Args:
        campaign: after some answers.
        X: the test rows.
        truth: their labels.
        order: in which they are drawn as check rows.
        name: of the set.
    """
    model, answers = campaign.classifier, len(campaign.answers) - len(campaign.classifier.classes_)
    posterior = model.posterior_
    belief = model.belief(X)
    leading = leading_labels(belief)
    chance = np.take_along_axis(posterior.probability_of(belief), leading[:, None], axis=1)[:, 0]
    is_right, labels = model.classes_[leading] == truth, len(model.classes_)
    left_out = Outcomes(*self_check(posterior, LEFT_OUT))
    say = partial(Stated, name, answers)
    found = [
        say(MODEL, chance, is_right, is_covered=False),
        say(NECESSITY, necessity(belief), is_right, is_covered=False),
    ]
    for checks in CHECKS:
        check, rest = order[:checks], order[checks:]
        known = fit_calibration(Outcomes(chance[check], is_right[check]), left_out, labels)
        told = known.chances(chance[rest])
        covered = _is_covered(known, chance[rest], is_right[rest])
        found.append(say(way(checks), told, is_right[rest], is_covered=covered))
    return found


def _is_covered(known: Calibration, chance: Vector, is_right: NDArray[np.bool_]) -> bool:
    """Whether the mean range holds the share that is right, but for two standard errors."""
    low, high = known.range(chance)
    share = float(is_right.mean())
    noise = 2 * float(np.sqrt(share * (1 - share) / len(is_right)))
    return bool(low.mean() - noise <= share <= high.mean() + noise)


def calibration_error(some: Sequence[Stated]) -> float:
    """Expected calibration error in points, in bins of equal width (Naeini and others 2015)."""
    chance, is_right = pooled(some)
    bins = np.minimum((BINS * chance).astype(int), BINS - 1)
    each = [bins == one for one in range(BINS)]
    gaps = [
        abs(chance[one].mean() - is_right[one].mean()) * one.mean() for one in each if one.any()
    ]
    return 100 * float(sum(gaps))


def pooled(some: Sequence[Stated]) -> tuple[Vector, NDArray[np.bool_]]:
    """All chances of some runs, and whether they were right."""
    return np.concatenate([one.chance for one in some]), np.concatenate(
        [one.is_right for one in some]
    )


def tables(found: Sequence[Stated]) -> list[Table]:
    """The error over all sets, how often ranges held, and the error of each set."""
    ways = [*map(way, CHECKS), MODEL, NECESSITY]
    whole = Table(title="Expected calibration error over all sets, points; ranges that held")
    for head in ("chances by", *(f"{at} answers" for at in AT)):
        whole.add_column(head, justify="right")
    for one in ways:
        cells = list[str]()
        for at in AT:
            some = [told for told in found if (told.way, told.answers) == (one, at)]
            held = f", {np.mean([told.is_covered for told in some]):.0%}"
            has_range = one not in {MODEL, NECESSITY}
            cells.append(f"{calibration_error(some):.1f}{held if has_range else ''}")
        whole.add_row(one, *cells)
    by_set = Table(title="By set: right, %; error in points without and with 30 check rows, own, N")
    for head in ("set", *(f"{at} answers" for at in AT)):
        by_set.add_column(head, justify="right")
    for name in dict.fromkeys(told.name for told in found):
        by_set.add_row(name, *(_of_set(found, name, at) for at in AT))
    return [whole, by_set]


def _of_set(found: Sequence[Stated], name: str, at: int) -> str:
    """What came of one set after so many answers."""
    some = [told for told in found if (told.name, told.answers) == (name, at)]
    own = [told for told in some if told.way == MODEL]
    errors = [
        calibration_error([told for told in some if told.way == one])
        for one in (way(0), way(30), MODEL, NECESSITY)
    ]
    right = 100 * float(pooled(own)[1].mean())
    return f"{right:.0f}: " + ", ".join(f"{error:.0f}" for error in errors)


def diagram(found: Sequence[Stated]) -> bytes:
    """Reliability diagram: the share that is right beside what was stated."""
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", STYLE]):
        figure = Figure(figsize=(12.6, 4.6), layout="constrained")
        for place, at in enumerate(AT):
            axes = figure.add_subplot(1, len(AT), place + 1)
            axes.plot([0, 100], [0, 100], color=GRID, linewidth=2)
            for one, colour, mark in (
                (way(0), "#0072b2", "o"),
                (way(30), "#009e73", "s"),
                (NECESSITY, "#d55e00", "^"),
            ):
                some = [told for told in found if (told.way, told.answers) == (one, at)]
                x, share = _bins(some)
                axes.plot(x, share, color=colour, marker=mark, label=one)
            axes.set(title=f"{at} answers", xlim=(0, 102), ylim=(0, 102), aspect="equal")
            axes.set_xlabel("stated, %")
            if not place:
                axes.set_ylabel("right, %")
                axes.legend(loc="lower right", frameon=False)
        return as_bytes(figure, "png")


def _bins(some: Sequence[Stated]) -> tuple[list[float], list[float]]:
    """Mean chance and share that is right of each bin that has at least a hundred rows."""
    chance, is_right = pooled(some)
    bins = np.minimum((BINS * chance).astype(int), BINS - 1)
    each = [bins == one for one in range(BINS) if np.count_nonzero(bins == one) >= 100]
    return (
        [100 * float(chance[one].mean()) for one in each],
        [100 * float(is_right[one].mean()) for one in each],
    )


def asked() -> Namespace:
    """What the user asks for."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of texts/*.csv and pictures/*.zip")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=2040)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path, default=Path("calibration"))
    given = parser.parse_args()
    given.out, given.sets = folder(given.out, "out").resolve(), given.sets.split(",")
    return given


def main() -> None:
    """Print the tables and draw the picture."""
    check_drawing()
    given = asked()
    sets = [one.data for one in label_efficiency.benchmark_sets(given)]
    work = joblib.Parallel(n_jobs=given.jobs, return_as="generator")(
        joblib.delayed(stated)(data, run, given.seed) for data in sets for run in range(given.runs)
    )
    total = len(sets) * given.runs
    found = [one for some in track(work, "campaigns", total) for one in cast("list[Stated]", some)]
    out = Console(width=140)
    for table in tables(found):
        out.print(table)
    write(given.out / "calibration.png", diagram(found))
    out.print(f"Drawn in {given.out / 'calibration.png'}")


if __name__ == "__main__":
    main()
