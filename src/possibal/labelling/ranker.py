"""Ranker in this process: replays a task's answers into a snapshot and scores the pool.

InProcessRanker(X, strategy, seed).rank(task) -> Ranking        .measure(task) -> MeasuredSaving
"""

import functools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from possibal.acquisition.pointwise import necessity
from possibal.arrays import Matrix, Places, Vector
from possibal.belief import leading_labels
from possibal.campaign.chance import LEVEL, CredibleChance
from possibal.campaign.snapshot import BATCH_CANDIDATES, Answer, Snapshot
from possibal.campaign.stopping import DOUBTFUL, Advice, AdviceState
from possibal.estimators.classifier import PossibilisticGPClassifier, unfitted, with_geometry
from possibal.labelling import evaluation
from possibal.labelling.evaluation import MeasuredSaving
from possibal.labelling.ranking import UNKNOWN, Ranking, RankingTask, overview_sample
from possibal.numerics.geometry import PLAIN, RowGeometry

CHANCES = 64
"""Rows at the head of a ranking of which it is said how likely their label is."""


class InProcessRanker:
    """Ranks one pool again and again; the checked pool and its cache are kept between tasks."""

    def __init__(
        self,
        X: Matrix,
        strategy: str,
        seed: int,
        geometry: RowGeometry = PLAIN,
        classifier: PossibilisticGPClassifier | None = None,
    ) -> None:
        """Check the rows once.

        Args:
            X: the rows as numbers.
            strategy: what is asked first.
            seed: of what is drawn.
            geometry: how rows are compared.
            classifier: of the user's own; not changed.
        """
        usual = PossibilisticGPClassifier() if classifier is None else classifier
        model = with_geometry(usual, geometry)
        self._start = functools.partial(
            Snapshot.start, strategy=strategy, seed=seed, classifier=model
        )
        self._X, self._seed, self._begun = X, seed, dict[tuple[str, ...], Snapshot]()
        self._geometry = geometry
        self._checked, self._saving = tuple[Answer, ...](), None

    def rank(self, task: RankingTask) -> Ranking:
        """What the model makes of the pool after the answers."""
        campaign = self.campaign(task)
        labels = {answer.label for answer in task.answers}
        is_cold = len(labels) < 2  # noqa: PLR2004 - a choice needs two
        order = np.array(campaign.ranked(max(task.first, 1)), dtype=np.intp)
        rows, classes = np.arange(len(self._X)), tuple(sorted(map(str, labels)))
        if campaign.pool.is_large:
            order, others = order[:BATCH_CANDIDATES], [answer.row for answer in task.answers]
            some = [*overview_sample(len(self._X), self._seed), *order, *task.aside, *others]
            rows = np.unique(np.array(some, dtype=np.intp))
        certain, predicted = np.zeros(len(rows)), np.full(len(rows), UNKNOWN)
        chances = dict[int, CredibleChance]()
        if not is_cold:
            classes = tuple(str(label) for label in campaign.classifier.classes_)
            belief = campaign.belief_of(rows)
            certain, predicted = necessity(belief), leading_labels(belief)
            chances = _chances(campaign.classifier, self._X, order[:CHANCES])
        relevance = _relevance(self._X[rows], predicted)
        count = len(task.answers)
        advice = _partial_advice(task, certain) if task.most_labels else campaign.advice
        usual = campaign.pool.usual_distance
        told = (relevance, usual, advice, is_cold, chances)
        return Ranking(count, classes, order, rows, certain, predicted, *told)

    def predict(self, task: RankingTask, rows: Places) -> list[str] | None:
        """The labels predicted for rows after the answers; None while there are none."""
        if len({answer.label for answer in task.answers}) < 2:  # noqa: PLR2004 - as above
            return None
        model = self.campaign(task).classifier
        return [str(label) for label in model.classes_[leading_labels(model.belief(self._X[rows]))]]

    def measure(self, task: RankingTask) -> MeasuredSaving | None:
        """What asking saved against asking at random, as far as the check rows tell."""
        rows = np.array([answer.row for answer in task.check], dtype=np.intp)
        predicted = self.predict(task, rows) if task.check else None
        if predicted is None:
            return None
        true = [str(answer.label) for answer in task.check]
        right = sum(one == other for one, other in zip(predicted, true, strict=True))
        if task.check != self._checked:  # what random rows reach changes with these alone
            self._checked = task.check
            self._saving = evaluation.saving(
                self._X[rows], true, right, len(task.answers), self._geometry
            )
        was = self._saving
        return was and replace(was, answers=len(task.answers), accuracy=right / len(true))

    def campaign(self, task: RankingTask) -> Snapshot:
        """The campaign with the task's answers."""
        names = task.classes if len(task.classes) > 1 else ()
        if names not in self._begun:
            self._begun = {names: self._start(self._X, classes=list(names) or None)}
        begun = self._begun[names]
        if task.most_labels:
            model = unfitted(begun.model).set_params(most_labels=task.most_labels)
            begun = replace(begun, model=model)
        return begun.without(task.aside).replay(task.answers)


def _partial_advice(task: RankingTask, certain: Vector) -> Advice:
    """To go on, for the model has not learnt from all labels.

    Args:
        task: that names how many it learns from.
        certain: (r,), the necessity of the likeliest label of each row that was looked at.
    """
    learnt = min(task.most_labels, len(task.answers))
    reason = f"The model has learnt from {learnt} of {len(task.answers)} labels so far."
    in_doubt = int(np.count_nonzero(certain < DOUBTFUL))
    return Advice(AdviceState.GO_ON, reason, float(certain.min(initial=1.0)), in_doubt, None)


def _chances(
    model: PossibilisticGPClassifier, X: Matrix, rows: Places
) -> dict[int, CredibleChance]:
    """How likely the leading label of each row is, as far as that is known."""
    if not len(rows):
        return {}
    split, labels = model.split(X[rows], LEVEL), len(model.classes_)
    ends = zip(split.lower.tolist(), split.upper.tolist(), strict=True)
    each = zip(rows.tolist(), ends, strict=True)
    return {row: CredibleChance(low, high, labels) for row, (low, high) in each}


def _relevance(X: Matrix, predicted: NDArray[np.intp]) -> Vector:
    """Largest absolute Pearson correlation of each column with the indicator of a class."""
    centred = X - X.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    found = np.zeros(X.shape[1])
    for place in np.unique(predicted):
        belongs = (predicted == place) - np.mean(predicted == place)
        scale = spread * np.sqrt((belongs**2).sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.fmax(found, np.abs(centred.T @ belongs) / scale)
    return np.nan_to_num(found)
