"""Ranker in this process: replays a task's answers into a snapshot and scores the pool.

InProcessRanker(X, strategy, seed).rank(task) -> Ranking        .measure(task) -> RandomCurve
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from possibal.acquisition.pointwise import necessity
from possibal.arrays import Matrix, Places, Vector
from possibal.belief import leading_labels
from possibal.campaign.calibration import SELF_CHECKED, Outcomes
from possibal.campaign.chance import LEVEL, CredibleChance
from possibal.campaign.label_set_snapshot import LabelSetSnapshot, sets_of
from possibal.campaign.recall import MOST_LEFT_OUT
from possibal.campaign.snapshot import BATCH_CANDIDATES, Answer, Snapshot
from possibal.campaign.stopping import DOUBTFUL, Advice, AdviceState
from possibal.data.decoding import no_progress
from possibal.data.label_sets import LabelSyntax
from possibal.estimators.classifier import PossibilisticGPClassifier, unfitted, with_geometry
from possibal.estimators.latent_gaussian import LatentGaussianClassifier
from possibal.estimators.multilabel import LabelSetBelief
from possibal.gp.leave_one_out import (
    class_self_check,
    contradicted,
    left_out_probability,
    self_check,
)
from possibal.gp.posterior import Posterior
from possibal.labelling import evaluation
from possibal.labelling.evaluation import RandomCurve
from possibal.labelling.ranking import (
    UNKNOWN,
    Contradiction,
    Ranking,
    RankingTask,
    overview_sample,
)
from possibal.numerics.geometry import PLAIN, RowGeometry

CHANCES = 64
"""Rows at the head of a ranking of which it is said how likely their label is."""
BLOCK = 20_000
"""Rows that are looked at together."""
WORST = 200
"""Rows learnt from whose labels fit worst, and of which it is seen whether others contradict."""


class InProcessRanker:
    """Ranks one pool again and again; the checked pool and its cache are kept between tasks."""

    def __init__(
        self,
        X: Matrix,
        strategy: str,
        seed: int,
        geometry: RowGeometry = PLAIN,
        classifier: LatentGaussianClassifier | None = None,
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
        self._choices: dict[str, Any] = {"strategy": strategy, "seed": seed, "classifier": model}
        self._X, self._seed, self._begun = X, seed, dict[tuple[str, ...], Snapshot]()
        self._geometry = geometry
        self._checked = tuple[Answer, ...]()
        self._random: RandomCurve | None = None

    def rank(self, task: RankingTask) -> Ranking:
        """What the model makes of the pool after the answers."""
        return self._rank(task)

    def rank_all(
        self, task: RankingTask, progress: Callable[[float], None] = no_progress
    ) -> Ranking:
        """The same, with a look at every row of a pool however large."""
        return self._rank(task, progress)

    def _rank(self, task: RankingTask, progress: Callable[[float], None] | None = None) -> Ranking:
        """What the model makes of the pool; it looks at all of it where progress is told."""
        campaign = self.campaign(task)
        labels = {answer.label for answer in task.answers}
        is_cold = len(labels) < 2  # noqa: PLR2004 - a choice needs two
        order = np.array(campaign.ranked(max(task.first, 1)), dtype=np.intp)
        rows = np.arange(len(self._X))
        if campaign.pool.is_large:
            order, others = order[:BATCH_CANDIDATES], [answer.row for answer in task.answers]
            some = [*overview_sample(len(self._X), self._seed), *order, *task.aside, *others]
            rows = rows if progress else np.unique(np.array(some, dtype=np.intp))
        told = progress or no_progress
        found = _nothing(rows, labels) if is_cold else _predicted(campaign, rows, order, told)
        partial = _partial_advice(task, found.necessity) if task.most_labels else None
        return Ranking(
            answers=len(task.answers),
            order=order,
            looked_at=rows,
            relevance=_relevance(self._X[rows], found.predicted),
            usual_distance=campaign.pool.usual_distance,
            advice=partial or campaign.advice,
            is_cold=is_cold,
            **vars(found),
            **_sought(campaign, rows),
        )

    def predict(self, task: RankingTask, rows: Places) -> list[str] | None:
        """The labels predicted for rows after the answers; None while there are none."""
        if len({answer.label for answer in task.answers}) < 2:  # noqa: PLR2004 - as above
            return None
        campaign = self.campaign(task)
        if isinstance(campaign, LabelSetSnapshot):
            return _texts(campaign, campaign.set_belief_of(rows))
        model = campaign.classifier
        return [str(label) for label in model.classes_[leading_labels(model.belief(self._X[rows]))]]

    def measure(self, task: RankingTask) -> RandomCurve | None:
        """What asking at random would have reached, as far as the check rows tell."""
        if task.multi:  # it is not compared with chance
            return None
        if task.check != self._checked:  # nothing else changes it
            rows = np.array([answer.row for answer in task.check], dtype=np.intp)
            true = [str(answer.label) for answer in task.check]
            self._random = evaluation.random_curve(self._X[rows], true, self._geometry)
            self._checked = task.check
        return self._random

    def campaign(self, task: RankingTask) -> Snapshot:
        """The campaign with the task's answers."""
        names = task.classes if len(task.classes) > 1 else ()
        kind = LabelSetSnapshot if task.multi else Snapshot
        if names not in self._begun:
            begun = kind.start(self._X, classes=list(names) or None, **self._choices)
            self._begun = {names: begun}
        begun = self._begun[names]
        if task.most_labels:
            model = unfitted(begun.model).set_params(most_labels=task.most_labels)
            begun = replace(begun, model=model)
        answers = map(_of_set, task.answers) if task.multi else task.answers
        return replace(begun, find=task.find).without(task.aside).replay(answers)


@dataclass(frozen=True, eq=False)
class _Predicted:
    """The part of a ranking that says what is predicted; see :class:`Ranking`."""

    classes: tuple[str, ...]
    necessity: Vector
    chance: Vector
    predicted: NDArray[np.intp]
    chances: dict[int, CredibleChance]
    left_out: Outcomes
    contradicted: dict[int, Contradiction]
    members: tuple[str, ...] = ()
    member_chance: Matrix = field(default_factory=lambda: np.empty((0, 0)))
    member_necessity: Matrix = field(default_factory=lambda: np.empty((0, 0)))


def _nothing(rows: Places, labels: Iterable[Hashable]) -> _Predicted:
    """What is predicted where fewer than two labels are known."""
    none, classes = np.zeros(len(rows)), tuple(sorted(map(str, labels)))
    return _Predicted(classes, none, none, np.full(len(rows), UNKNOWN), {}, Outcomes(), {})


def _predicted(
    campaign: Snapshot, rows: Places, order: Places, progress: Callable[[float], None]
) -> _Predicted:
    """What a campaign predicts of rows, and what it leaves open about the first to ask about."""
    if isinstance(campaign, LabelSetSnapshot):
        return _predicted_sets(campaign, rows, progress)
    model, X = cast("LatentGaussianClassifier", campaign.classifier), campaign.pool.X
    posterior = model.posterior_
    certain, chance = np.empty(len(rows)), np.empty(len(rows))
    leading = np.empty(len(rows), dtype=np.intp)
    for at in range(0, len(rows), BLOCK):
        part = slice(at, at + BLOCK)
        belief = campaign.belief_of(rows[part])
        certain[part], leading[part] = necessity(belief), leading_labels(belief)
        each = leading[part, None]
        chance[part] = np.take_along_axis(posterior.probability_of(belief), each, axis=1)[:, 0]
        progress(min(1.0, (at + BLOCK) / len(rows)))
    return _Predicted(
        tuple(str(label) for label in model.classes_),
        certain,
        chance,
        leading,
        _chances(model, X, order[:CHANCES]),
        Outcomes(*self_check(posterior, SELF_CHECKED)),
        _contradicted(
            posterior,
            X,
            cast("dict[int, str]", campaign.labels),
            [str(one) for one in model.classes_],
        ),
    )


def _of_set(answer: Answer) -> Answer:
    """An answer whose label is the set that its text names."""
    return replace(answer, label=LabelSyntax.SEVERAL.members(str(answer.label)))


def _texts(campaign: LabelSetSnapshot, belief: LabelSetBelief) -> list[str]:
    """The sets that are predicted of rows, by their texts."""
    sets = sets_of(belief, campaign.classes)
    return [LabelSyntax.SEVERAL.text(map(str, one)) for one in sets]


def _predicted_sets(
    campaign: LabelSetSnapshot, rows: Places, progress: Callable[[float], None]
) -> _Predicted:
    """What a campaign predicts of rows that may have several classes: a set is one label."""
    parts, texts = list[LabelSetBelief](), list[str]()
    for at in range(0, len(rows), BLOCK):
        parts.append(campaign.set_belief_of(rows[at : at + BLOCK]))
        texts += _texts(campaign, parts[-1])
        progress(min(1.0, (at + BLOCK) / len(rows)))
    against = _contradicted_sets(campaign)
    classes = tuple(sorted({*texts, *(label for label, _ in against.values())}))
    code = {label: place for place, label in enumerate(classes)}
    return _Predicted(
        classes,
        np.concatenate([part.set_necessity for part in parts]),
        np.concatenate([part.set_chance for part in parts]),
        np.array([code[text] for text in texts], dtype=np.intp),
        {},
        _left_out_sets(campaign),
        {row: Contradiction(code[label], chance) for row, (label, chance) in against.items()},
        tuple(map(str, campaign.classes)),
        np.concatenate([part.probability for part in parts]),
        np.concatenate([part.necessity for part in parts]),
    )


def _contradicted_sets(campaign: LabelSetSnapshot) -> dict[int, tuple[str, float]]:
    """Answered rows with a class that all other labels contradict: the set without that fault.

    Of several faults of a row the likeliest counts. The sets by their texts.
    """
    said, X = cast("dict[int, tuple[str, ...]]", campaign.labels), campaign.pool.X
    worst = dict[int, tuple[str, float]]()
    for name, posterior in zip(campaign.classes, campaign.posteriors, strict=True):
        has = {row: str(name in label) for row, label in said.items()}
        for row, one in _contradicted(posterior, X, has, ("False", "True")).items():
            turned = set(said[row]) ^ {str(name)}
            if one.chance > worst.get(row, ("", 0.0))[1]:
                worst[row] = LabelSyntax.SEVERAL.text(turned), one.chance
    return worst


def _left_out_sets(campaign: LabelSetSnapshot) -> Outcomes:
    """What the model would have said of whole sets of rows that it learnt from, without theirs."""
    answers = campaign.answers
    at = np.unique(np.linspace(0, len(answers) - 1, min(len(answers), SELF_CHECKED)).round())
    some = [answers[int(place)] for place in at]
    lines = [(campaign.pool.X[campaign.pool.places[one.row]] + 0.0).tobytes() for one in some]
    chance, is_right = np.ones(len(some)), np.ones(len(some), dtype=bool)
    for name, posterior in zip(campaign.classes, campaign.posteriors, strict=True):
        has = [name in cast("tuple[str, ...]", one.label) for one in some]
        codes = (posterior.data.y[0] > 0).tolist()
        known = {
            (row.tobytes(), code): place
            for place, (row, code) in enumerate(zip(posterior.data.X, codes, strict=True))
        }
        places = [known.get(key, -1) for key in zip(lines, has, strict=True)]
        found = np.array(places, dtype=np.intp)
        rows, back = np.unique(found.clip(min=0), return_inverse=True)
        probability = left_out_probability(posterior, rows)[back]
        own = np.array(has, dtype=np.intp)
        chance *= probability.max(axis=1)
        is_right &= probability.argmax(axis=1) == own
        chance[found < 0] = np.nan  # the model has not learnt from it
    known = ~np.isnan(chance)
    return Outcomes(chance[known], is_right[known])


def _contradicted(
    posterior: Posterior, X: Matrix, answers: Mapping[int, str], classes: Sequence[str]
) -> dict[int, Contradiction]:
    """Answered rows that all other labels say are of another class.

    The model has rows in an order of its own, and those alike once: they are found by content.
    """
    found = contradicted(posterior, WORST)
    lines = [row.tobytes() for row in posterior.data.X[found.rows]]
    own = [classes[code] for code in found.own]
    said = map(Contradiction, found.predicted.tolist(), found.chance.tolist())
    known = dict(zip(zip(lines, own, strict=True), said, strict=True))
    wanted = set(own)
    rows = [(row, label) for row, label in answers.items() if label in wanted]
    each = ((row, known.get(((X[row] + 0.0).tobytes(), label))) for row, label in rows)
    return {row: one for row, one in each if one is not None}


def _sought(campaign: Snapshot, rows: Places) -> dict[str, Any]:
    """The part of a ranking about the sought class, if there is one that is known."""
    if campaign.sought is None:
        return {}
    model = cast("LatentGaussianClassifier", campaign.classifier)
    told = class_self_check(model.posterior_, campaign.sought, MOST_LEFT_OUT)
    blocks = [rows[at : at + BLOCK] for at in range(0, len(rows), BLOCK)]
    chances = np.concatenate([campaign.sought_chances(block) for block in blocks])
    return {"sought": chances, "sought_left_out": Outcomes(*told)}


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


def _chances(model: LatentGaussianClassifier, X: Matrix, rows: Places) -> dict[int, CredibleChance]:
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
