"""What a ranking predicts of rows, as people are told: by present names, with calibrated chances.

    known = RankingPredictions(ranking, read_model)    known.of(rows) -> [Prediction | None]
    known.recall -> RecallEstimate | None              known.sought_first(rows) -> [SoughtRow]

A ranking knows classes by the names that they had, and the model's own probabilities. Check rows
tell how far these can be trusted.
"""

import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from possibal.arrays import Vector
from possibal.campaign.calibration import Calibration, Outcomes, StatedChance, fit_calibration
from possibal.campaign.recall import ClassCalibration, RecallEstimate, fit_class_calibration
from possibal.labelling.ranking import (
    ExpectedMistakes,
    MemberPrediction,
    OtherLabel,
    Prediction,
    Ranking,
    overview_sample,
)
from possibal.labelling.read_model import ReadModel

MISTAKEN = 0.8
"""Chance of another label from which on a label is to be looked at again: of labels named so, half
were mistaken where one in twelve was (docs/calibration.md)."""


@dataclass(frozen=True)
class SoughtRow:
    """A row, and the chance that it is of the sought class; None where the model has none."""

    row: int
    chance: StatedChance | None = None


class RankingPredictions:
    """The predictions of one ranking; made anew after a change of answers or classes."""

    def __init__(self, ranking: Ranking, read_model: ReadModel) -> None:
        """See which classes there still are, and what the check rows tell."""
        self.ranking, self._read_model = ranking, read_model
        self._changes = read_model.changes
        with read_model.lock:
            names = {one: read_model.state.name_of(one) for one in ranking.classes}
            known = set(read_model.classes)
            checked = [
                (row, label)
                for row in read_model.check_rows
                if (label := read_model.label(row)) is not None
            ]
        members = read_model.setup.syntax.members
        self._names = {one: name for one, name in names.items() if known.issuperset(members(name))}
        self._checked = checked
        self.calibration = self._calibrated(checked)

    def renewed(self) -> "RankingPredictions":
        """The same by the present names of classes and labels of check rows."""
        is_new = self._read_model.changes != self._changes
        return RankingPredictions(self.ranking, self._read_model) if is_new else self

    def _calibrated(self, checked: Sequence[tuple[int, str]]) -> Calibration:
        """What check rows and their labels tell of the model's probabilities."""
        rows, labels = [row for row, _ in checked], [label for _, label in checked]
        found = zip(
            self.ranking.chances_of(rows),
            self.ranking.predicted_labels_of(rows),
            labels,
            strict=True,
        )
        told = [
            (chance, self._names.get(predicted or "") == label)
            for chance, predicted, label in found
            if chance is not None
        ]
        rows = Outcomes([chance for chance, _ in told], [right for _, right in told])
        return fit_calibration(rows, self.ranking.left_out, self.ranking.possible_labels)

    def of(self, rows: Iterable[int]) -> list[Prediction | None]:
        """What is predicted of each row; None where nothing is, or the class is gone by now."""
        asked = list(rows)
        given = self.ranking.chances_of(asked)
        plain = np.array([0.0 if one is None else one for one in given])
        value, (low, high) = self.calibration.chances(plain), self.calibration.range(plain)
        labels = [self._names.get(one or "") for one in self.ranking.predicted_labels_of(asked)]
        necessity = self.ranking.necessities_of(asked)
        numbers = zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
        return [
            Prediction(label, StatedChance(*three), sure)
            if label is not None and chance is not None
            else None
            for label, chance, three, sure in zip(labels, given, numbers, necessity, strict=True)
        ]

    def members_of(self, row: int) -> list[MemberPrediction]:
        """What is predicted of each class of a row that may have several, by present names."""
        with self._read_model.lock:
            known, name_of = set(self._read_model.classes), self._read_model.state.name_of
        named = (replace(one, label=name_of(one.label)) for one in self.ranking.members_of(row))
        return [one for one in named if one.label in known]

    def columns(self) -> tuple[list[str | None], Vector]:
        """The present name of the label predicted of each row looked at, and its chance."""
        ranking = self.ranking
        names = [*(self._names.get(one) for one in ranking.classes), None]  # last that of `UNKNOWN`
        labels = [names[place] for place in ranking.predicted.tolist()]
        return labels, self.calibration.chances(ranking.chance)

    def of_row(self, row: int) -> Prediction | None:
        """What is predicted of a row."""
        return self.of([row])[0]

    @functools.cached_property
    def contradicted(self) -> dict[int, OtherLabel]:
        """What all other labels say of a row that has another, where that is likely."""
        found, names = self.ranking.contradicted, self.ranking.classes
        said = dict[int, OtherLabel]()
        for row, one in found.items():
            label = self._names.get(names[one.predicted])
            chance = self.calibration.stated(one.chance)
            if label is not None and chance.value >= MISTAKEN:
                said[row] = OtherLabel(label, chance)
        return said

    # ------------------------------------------------------------ a sought class

    @functools.cached_property
    def class_calibration(self) -> ClassCalibration | None:
        """What to make of chances of the sought class; None where there is none, or no chance."""
        sought, ranking = self._read_model.sought, self.ranking
        if sought is None or not len(ranking.sought):
            return None
        given = ranking.sought_chances_of(row for row, _ in self._checked)
        told = zip(given, (label == sought for _, label in self._checked), strict=True)
        known = [(chance, is_so) for chance, is_so in told if chance is not None]
        checked = Outcomes([chance for chance, _ in known], [is_so for _, is_so in known])
        return fit_class_calibration(checked, ranking.sought_left_out)

    @functools.cached_property
    def recall(self) -> RecallEstimate | None:
        """How much of the sought class was found; None where nothing can be said.

        In a large pool, random rows stand for those that are not among the likeliest.
        """
        known, read_model, ranking = self.class_calibration, self._read_model, self.ranking
        if known is None:
            return None
        with read_model.lock:
            sought, labelled = read_model.sought, read_model.state.labelled()
            gone = {row for row, verdict in read_model.state.verdicts.items() if verdict.is_bad}
        closed = np.array(sorted({*labelled, *gone}), dtype=np.intp)
        is_open = ~np.isin(ranking.looked_at, closed)
        times = np.ones(len(ranking.looked_at))
        rows = read_model.setup.rows
        if len(times) < rows:
            sample = overview_sample(rows, read_model.setup.seed)
            is_first = np.isin(ranking.looked_at, ranking.order)
            drawn = np.isin(ranking.looked_at, sample) & ~is_first & is_open
            others = rows - len(closed) - np.count_nonzero(is_first & is_open)
            times = np.where(is_first, 1.0, others / max(np.count_nonzero(drawn), 1))
            is_open &= is_first | drawn
        unfound = known.unfound(ranking.sought[is_open], times[is_open])
        return RecallEstimate.of([label == sought for label in labelled.values()], unfound)

    def sought_chances(self, rows: Iterable[int]) -> list[StatedChance | None]:
        """The chance that each row is of the sought class; None where the model has none."""
        asked, known = list(rows), self.class_calibration
        given = self.ranking.sought_chances_of(asked) if known else [None] * len(asked)
        plain = np.array([0.0 if one is None else one for one in given])
        told = known.stated(plain) if known and len(plain) else []
        return [
            one if chance is not None else None
            for one, chance in itertools.zip_longest(told, given)
        ]

    def sought_first(self, rows: Iterable[int]) -> list[SoughtRow]:
        """Rows with their chances of being of the sought class, the likeliest first.

        Rows of which the model knows nothing come last, each in the order of the pool. Where no
        class is sought, all are.
        """
        asked = sorted(rows)
        found = list(map(SoughtRow, asked, self.sought_chances(asked)))
        return sorted(found, key=lambda one: -1.0 if one.chance is None else -one.chance.value - 2)

    # ------------------------------------------------------------ mistakes

    def mistakes(self, rows: Sequence[int], among: int) -> ExpectedMistakes | None:
        """How many of some rows the model would label wrongly; None where it predicts nothing.

        Args:
            rows: drawn from them at random, or all of them.
            among: how many there are.
        """
        chances = [one for one in self.ranking.chances_of(rows) if one is not None]
        if not chances:
            return None
        low, high = self.calibration.range(chances)
        each = (1.0 - float(np.mean(one)) for one in (self.calibration.chances(chances), high, low))
        return ExpectedMistakes(among, *(among * share for share in each))
