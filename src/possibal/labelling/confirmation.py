"""Rows to confirm many at once: those without a label, by predicted class, the likeliest first.

The predictions are those of the last ranking, so that a look at them costs no fit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from possibal.arrays import Places, Vector
from possibal.campaign.calibration import StatedChance
from possibal.errors import RefusedError
from possibal.labelling.explanation import LIKELY
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.ranking import UNKNOWN
from possibal.labelling.read_model import ReadModel
from possibal.labelling.service import LabellingService

TOO_EARLY = "Nothing can be predicted yet. Answer a few questions first."
SOON = "The model has not looked at the last answers yet. Wait a moment."


@dataclass(frozen=True)
class PredictedClass:
    """How many rows without a label are predicted to be of a class, and how many very likely are.

    Attributes:
        label: the class.
        rows: how many there are.
        likely: how many have a chance of at least `LIKELY`.
    """

    label: str
    rows: int
    likely: int


@dataclass(frozen=True)
class PredictedRow:
    """A row without a label, and the chance of the label that is predicted."""

    row: int
    chance: StatedChance


@dataclass(frozen=True)
class ConfirmationPage:
    """Some rows of one predicted class.

    Attributes:
        label: the class.
        classes: how many rows each class has.
        rows: the likeliest first.
        more: whether there are others after them.
        looked_at: how many rows the ranking looked at; None for all.
    """

    label: str
    classes: tuple[PredictedClass, ...]
    rows: tuple[PredictedRow, ...]
    more: bool
    looked_at: int | None


def confirmation_page(
    service: LabellingService, who: str, label: str | None, first: int, count: int
) -> ConfirmationPage:
    """Rows that a person may confirm, of one predicted class.

    Left out are rows that have a label, that people disagree on, that measure the model, that
    somebody else is at, that go with another row as its copies, and those that this person was
    unsure of or put off.

    Args:
        service: of the campaign.
        who: the person.
        label: the class; if left out, the one with the most rows that are very likely of it.
        first: how many of its rows are left out at the start.
        count: how many are wanted.
    """
    service.read_model.catch_up()
    service.scheduler.await_ranking()
    predictions = service.scheduler.whole_predictions
    if predictions is None or predictions.ranking.is_cold:
        raise RefusedError(SOON if _is_known(service.read_model) else TOO_EARLY)
    held = service.held_by_others(who)
    ranking = predictions.ranking
    found = _predicted(service.read_model, predictions, _barred(service.read_model, who, held))
    classes = tuple(
        PredictedClass(name, len(rows), int(np.count_nonzero(chance >= LIKELY)))
        for name, (rows, chance) in found.items()
    )
    chosen = _chosen(classes) if label is None else label
    if chosen is None:
        raise RefusedError(TOO_EARLY)
    if chosen not in found:
        raise RefusedError(f"label must be one of {list(found)}; got {label!r}. Choose another.")
    rows, chance = found[chosen]
    order = rows[np.lexsort((rows, -chance))[first : first + count]].tolist()
    told = zip(order, predictions.of(order), strict=True)
    shown = tuple(PredictedRow(row, one.chance) for row, one in told if one is not None)
    seen = len(ranking.looked_at)
    looked_at = seen if seen < len(service.read_model.X) else None
    return ConfirmationPage(chosen, classes, shown, first + len(shown) < len(rows), looked_at)


def _is_known(read_model: ReadModel) -> bool:
    """Whether there are labels of two classes to learn from."""
    with read_model.lock:
        return len({answer.label for answer in read_model.task().answers}) > 1


def _chosen(classes: Iterable[PredictedClass]) -> str | None:
    """The class with the most rows that are very likely of it, else with the most rows."""
    best = max(classes, key=lambda one: (one.likely, one.rows), default=None)
    return best and best.label


def _barred(read_model: ReadModel, who: str, held: Iterable[int]) -> set[int]:
    """Rows that a person may not confirm."""
    with read_model.lock:
        state, people = read_model.state, read_model.setup.people
        done = {
            row
            for row, verdict in state.verdicts.items()
            if row in state.labels or verdict.in_conflict or not state.may_ask(row, who, people)
        }
        check = read_model.copies.whole_groups(read_model.check_rows)
        return {*held, *check, *read_model.copies.copies, *done}


def _listed(read_model: ReadModel, predicted: Iterable[str]) -> Sequence[str]:
    """The labels to confirm: all classes, or where rows have several the sets predicted."""
    return sorted(set(predicted)) if read_model.setup.multi else read_model.classes


def _predicted(
    read_model: ReadModel, predictions: RankingPredictions, barred: set[int]
) -> dict[str, tuple[Places, Vector]]:
    """The places and chances of the rows of each class, by the classes' present names."""
    ranking = predictions.ranking
    chances = predictions.calibration.chances(ranking.chance)
    is_open = ranking.predicted != UNKNOWN
    is_open &= ~np.isin(ranking.looked_at, np.array(sorted(barred), dtype=np.intp))
    names = np.array([read_model.state.name_of(one) for one in ranking.classes], dtype=object)
    predicted = names[ranking.predicted]
    return {
        name: (ranking.looked_at[belongs], chances[belongs])
        for name in _listed(read_model, predicted[is_open].tolist())
        for belongs in [is_open & (predicted == name)]
    }
