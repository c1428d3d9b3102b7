"""A campaign at one moment, as a value: pool, settings and answers.

    snapshot = Snapshot.start(X, classes=["no", "yes"])
    (row,) = snapshot.ask()
    snapshot = snapshot.tell(row, "yes")

The classifier and the next question follow from these and from nothing else. So answers read from
a journal make the very campaign they were given to.
"""

import functools
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from possibal.acquisition.pointwise import class_chance, doubt
from possibal.acquisition.registry import find_strategy
from possibal.acquisition.scoring import is_local
from possibal.acquisition.strategy import Strategy
from possibal.arguments import DEFAULT_STRATEGY, check_listed, is_hashable, suggest, whole
from possibal.arrays import Places, Vector, as_python
from possibal.belief import Belief
from possibal.campaign.answer import Answer, check_answer, check_label, check_row
from possibal.campaign.calibration import (
    SELF_CHECKED,
    Calibration,
    Outcomes,
    fit_calibration,
)
from possibal.campaign.pool import Pool, checked_pool
from possibal.campaign.recall import MOST_LEFT_OUT, RecallEstimate, fit_class_calibration
from possibal.campaign.selection import BATCH_CANDIDATES, Selection
from possibal.campaign.stopping import (
    Advice,
    AdviceState,
    advise,
    advise_without_necessity,
    lookback,
)
from possibal.data.row_ids import Ids
from possibal.estimators import validation
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.classifier import (
    PossibilisticGPClassifier,
    unfitted,
    with_pool_scale,
)
from possibal.estimators.probability_model import ProbabilityModel, check_choices
from possibal.gp.leave_one_out import class_self_check, self_check
from possibal.gp.posterior import Posterior
from possibal.gp.probabilities import AnyPosterior, geometry_of
from possibal.numerics.geometry import RBF_ALONE
from possibal.pool.cache import BUDGET
from possibal.pool.candidates import Candidates
from possibal.pool.sampling import HashedSampler

if TYPE_CHECKING:
    from possibal.gp.rbf import RBFPrior

ADVICE_SAMPLE = 10_000
"""Rows of a large pool that advice rests on."""
TURNS = 3
"""Questions that each block of columns asks before answers tell which of them counts."""
LEADS = 0.5
"""A block that weighs more than this share of another counts beside it."""
CLEARLY = 2.0
"""How many times as credible as any other a block must be to ask alone."""
PLACEHOLDER_CLASSES = (0, 1)
"""Classes of the model while fewer than two are known."""


@dataclass(frozen=True)
class Snapshot:
    """Rows, settings and answers of a campaign at one moment; see :meth:`start`.

    Every method returns a value and leaves this one as it is.

    Attributes:
        pool: the rows.
        strategy: what is asked first.
        model: the classifier before any answer.
        seed: of what is drawn.
        answers: in the order they were given.
        aside: rows that are never asked about.
        skipped: rows that are asked about when no other is left.
        added: classes beside those answered, where none were named at the start.
        find: the class whose rows are sought, if there is one: once it is known, the rows that are
            likeliest of it are asked about first, whatever the strategy.
    """

    pool: Pool
    strategy: Strategy
    model: CampaignModel
    seed: int = 0
    answers: tuple[Answer, ...] = ()
    aside: frozenset[Hashable] = frozenset()
    skipped: tuple[Hashable, ...] = ()
    added: tuple[Hashable, ...] = ()
    find: Hashable | None = None

    @classmethod
    def start(  # noqa: PLR0913 - all but X are named
        cls,
        X: ArrayLike,
        *,
        ids: Ids = None,
        classes: ArrayLike | None = None,
        strategy: str | Strategy = DEFAULT_STRATEGY,
        classifier: CampaignModel | None = None,
        seed: int = 0,
        memory: float = BUDGET,
        find: Hashable | None = None,
    ) -> "Snapshot":
        """A campaign without answers.

        Args:
            X: (m, d), an array or a frame of numbers whose columns are of one scale.
            ids: what the rows are called, each once, or the column of a frame that has it; if
                left out, the index of a pandas frame, else 0 to m - 1.
            classes: all labels there may be, in place of those of the classifier; None means that
                they are learnt from the answers.
            strategy: a name in :data:`~possibal.acquisition.STRATEGIES`, or a function of
                your own: of a :class:`~possibal.acquisition.strategy.View`, or of latent mean and
                variance.
            classifier: not fitted, and not changed; one with default settings if left out.
                Length-scales follow the usual distance of two rows of the pool.
            seed: the same seed asks the same questions.
            memory: bytes of the cache that a large pool keeps from one question to the next.
            find: the class of which nearly all rows are to be found.
        """
        chosen = find_strategy(strategy)
        model = unfitted(PossibilisticGPClassifier() if classifier is None else classifier)
        if classes is not None:
            model.set_params(classes=classes)
        sought = _sought(find, _named(model))
        check_choices(model, chosen, sought)
        start = whole("seed", seed, 0)
        rows = checked_pool(X, ids, start, memory)
        model = with_pool_scale(model, rows.X)
        return cls(rows, chosen, model, start, find=sought)

    # ------------------------------------------------------------ verbs

    def ask(self, n: int = 1) -> tuple[Hashable, ...]:
        """The rows to label next, the best first.

        Each row after the first has the largest utility once those before it will have been
        answered, among rows that they explain little of: at most half-way from the least explained
        row to one whose own label would explain no more. A copy of a row is asked with it only
        where nothing else is available. Of several best rows it is the least explained, then the
        first in the pool. At random, any rows will do.

        All available rows are candidates, with three exceptions. Until two classes are known, they
        are a random subsample. In a large pool, a local strategy has the thousand rows of largest
        utility for a batch, or thrice as many as asked for. A joint strategy has at most so many
        in any pool: of 5000 rows that are sampled, half at random and half by the largest doubt.

        Where columns come in blocks, a joint strategy asks by one block at a time: in all of them
        together every row is far from every other, and none stands for others. Blocks take turns
        until one explains the answers by itself far better than others do.
        """
        left = len(self._left)
        if not left:
            raise ValueError("ask must find rows left; got answers for all of them. Stop here.")
        if whole("n", n, 1) > left:
            raise ValueError(f"n must be at most {left}, the rows left; got {n}. Ask for fewer.")
        now = min(n, len(self._available))
        return self._ids([*self._asking._asked(now), *self._put_off[: n - now]])  # noqa: SLF001 - our own

    def _asked(self, n: int) -> list[int]:
        """Where the rows to label next stand."""
        selection = self.selection
        candidates = selection.candidates(n, several=n > 1)
        return self._batch(n, candidates, candidates.utilities(selection.rule))

    def ranked(self, n: int = 1) -> tuple[Hashable, ...]:
        """All rows left, the best first: n as :meth:`ask` gives them, then by their utilities.

        For people who take rows faster than answers can be learnt from. Of a large pool, only
        the candidates.
        """
        available = self._available
        if not len(available):
            return ()
        ordered = self._asking._ordered(min(whole("n", n, 1), len(available)))  # noqa: SLF001 - our own
        return self._ids(dict.fromkeys([*ordered, *self._put_off]))

    def _ordered(self, n: int) -> list[int]:
        """Where the rows left stand, the best first."""
        selection = self.selection
        candidates = selection.candidates(n, several=True)
        utilities = candidates.utilities(selection.rule)
        first = self._batch(n, candidates, utilities)
        others = candidates.places[np.argsort(-utilities, kind="stable")]
        rest = np.setdiff1d(self._available, candidates.places)
        rest = [] if self.pool.is_large else self._rng().permutation(rest)
        return [*first, *others, *rest]

    def tell(self, row: Hashable, label: Hashable) -> "Snapshot":
        """The campaign with one more answer."""
        return self.replay([Answer(row, label)])

    def edit(self, row: Hashable, label: Hashable) -> "Snapshot":
        """The campaign with another answer about a row, now its last."""
        given = as_python(row)
        others = tuple(answer for answer in self.answers if answer.row != given)
        return replace(self, answers=others).tell(row, label)

    def skip(self, row: Hashable) -> "Snapshot":
        """The campaign that asks about a row when no other is left."""
        name = as_python(row)
        check_row(name, self.pool.places, self.labels)
        others = tuple(other for other in self.skipped if other != name)
        return replace(self, skipped=(*others, name))

    def replay(self, answers: Iterable[Answer]) -> "Snapshot":
        """The campaign with more answers, one after the other."""
        answered, labels = list(self.answers), dict(self.labels)
        check_listed("answers", answers)
        for answer in answers:
            check_answer(answer)
            row, label = as_python(answer.row), as_python(answer.label)
            check_row(row, self.pool.places, labels)
            label = self._checked_label(label, answered[0].label if answered else None)
            answered.append(Answer(row, label))
            labels[row] = label
        return replace(self, answers=tuple(answered))

    def _checked_label(self, label: Hashable, first: Hashable | None) -> Hashable:
        """A label as it is kept, if it may be given."""
        check_label(label, self._named, first)
        return label if self._named is None else self._named[self._named.index(label)]

    def without(self, rows: Iterable[Hashable]) -> "Snapshot":
        """The campaign that never asks about these rows; their answers are welcome all the same."""
        excluded = frozenset(as_python(row) for row in rows)
        for row in excluded:
            check_row(row, self.pool.places, {})
        return replace(self, aside=self.aside | excluded)

    # ------------------------------------------------------------ classes

    def add_class(self, name: Hashable) -> "Snapshot":
        """The campaign with one more label that there may be."""
        name = as_python(name)
        self._check_new(name)
        if self._named is None:
            check_label(name, None, next(iter(self.classes), None))
            return replace(self, added=(*self.added, name))
        return self._with_classes([*self._named, name])

    def rename_class(self, old: Hashable, new: Hashable) -> "Snapshot":
        """The campaign in which a class has another name, in its answers too."""
        old, new = as_python(old), as_python(new)
        self._check_class(old)
        self._check_new(new)
        answers = tuple(self._renamed(answer, old, new) for answer in self.answers)
        find = new if self.find == old else self.find
        if self._named is None:
            check_label(new, None, next((one for one in self.classes if one != old), None))
            added = tuple(new if one == old else one for one in self.added)
            return replace(self, answers=answers, added=added, find=find)
        named = self._with_classes([new if one == old else one for one in self._named])
        return replace(named, answers=answers, find=find)

    def remove_class(self, name: Hashable) -> "Snapshot":
        """The campaign without a class that no answer names."""
        name = as_python(name)
        self._check_class(name)
        if name == self.find:
            raise ValueError(
                f"name must be a class that is not sought; got {name!r}. Rename it instead."
            )
        used = sum(name in self._classes_in(answer.label) for answer in self.answers)
        if used:
            raise ValueError(
                f"name must be a class without answers; got {name!r}, which {used} rows have. "
                "Change their labels first."
            )
        if self._named is None:
            return replace(self, added=tuple(one for one in self.added if one != name))
        return self._with_classes([one for one in self._named if one != name])

    def _classes_in(self, label: Hashable) -> tuple[Hashable, ...]:
        """The classes that a label names: itself."""
        return (label,)

    def _renamed(self, answer: Answer, old: Hashable, new: Hashable) -> Answer:
        """An answer after a class was renamed."""
        return Answer(answer.row, new) if answer.label == old else answer

    def _with_classes(self, classes: list[Hashable]) -> "Snapshot":
        """The campaign whose labels are these."""
        model = unfitted(self.model).set_params(classes=classes)
        _named(model)
        return replace(self, model=model)

    def _check_class(self, name: Hashable) -> None:
        """Refuse a class that there is not."""
        if not is_hashable(name) or name not in self.classes:
            remedy = suggest(name, self.classes, "Name one of these.")
            raise ValueError(f"name must be one of {list(self.classes)}; got {name!r}. {remedy}")

    def _check_new(self, name: Hashable) -> None:
        """Refuse a class that there is already, or that only case and blanks tell from one."""
        known = next((one for one in self.classes if _spelt(one) == _spelt(name)), None)
        if known is not None:
            raise ValueError(
                f"name must differ from every class by more than case and blanks; got {name!r} "
                f"beside {known!r}. Choose another."
            )
        if not is_hashable(name) or (isinstance(name, str) and name.strip() != (name or None)):
            raise ValueError(
                "name must be a number, or text with no blanks around it; "
                f"got {name!r}. Choose another."
            )

    # ------------------------------------------------------------ what follows

    def __len__(self) -> int:
        """How many answers there are."""
        return len(self.answers)

    @property
    def left(self) -> tuple[Hashable, ...]:
        """The rows without an answer that may be asked about, in the order of the pool."""
        return self._ids(self._left)

    @functools.cached_property
    def labels(self) -> dict[Hashable, Hashable]:
        """The label of each row that has one."""
        return {answer.row: answer.label for answer in self.answers}

    @functools.cached_property
    def classes(self) -> tuple[Hashable, ...]:
        """The labels there may be: those named, else those answered and added, in order."""
        if self._named is not None:
            return tuple(self._named)
        answered = {name for label in self._labels for name in self._classes_in(label)}
        return tuple(sorted({*answered, *self.added}))  # pyright: ignore[reportArgumentType] - of one type

    @property
    def is_cold(self) -> bool:
        """Whether no score can tell rows apart, for fewer than two labels were answered."""
        return len(self._labels) < 2  # noqa: PLR2004 - a choice needs two

    @functools.cached_property
    def classifier(self) -> CampaignModel:
        """The classifier, fitted to the answers when first asked for."""
        if self._has_placeholders:
            raise ValueError(
                "classes must be named, or two of them answered, before there is a classifier; "
                f"got {len(self._labels)}. Use Campaign.start(X, classes=[...])."
            )
        model = unfitted(self.model)
        if self.added:
            model.set_params(classes=list(self.classes))
        return self._fitted(model, [answer.label for answer in self.answers])

    @functools.cached_property
    def belief(self) -> Belief:
        """The belief about every row of the pool; of placeholder classes before two are known."""
        return self._fitted_posterior.at(self.pool.X)

    def belief_of(self, places: Places) -> Belief:
        """The belief about some rows, by their places; of a large pool only they are read."""
        if self.pool.is_large:
            return self._fitted_posterior.at(self.pool.X[places])
        return self.belief.part(places)

    @property
    def selection(self) -> Selection:
        """How the rows to ask about are selected."""
        return Selection(
            self.pool,
            self._fitted_posterior,
            self._leading_rule,
            self._barred,
            self._sampler,
            self.is_cold,
            self.belief_of,
        )

    @property
    def knows_only_probabilities(self) -> bool:
        """Whether the model says how likely labels are, and not what it does not know."""
        return isinstance(self.model, ProbabilityModel)

    @property
    def model_name(self) -> str:
        """What the classifier is called."""
        model = self.model
        return model.name if isinstance(model, ProbabilityModel) else type(model).__name__

    @functools.cached_property
    def advice(self) -> Advice:
        """Whether to go on asking."""
        if self.recall is not None:
            return self.recall.advice(self.find)
        if self.knows_only_probabilities:
            return advise_without_necessity(len(self._left), self.model_name)
        is_sample, sample, before = self.pool.is_large, self._left, None
        if is_sample:
            sample = self._rng().permutation(sample)[:ADVICE_SAMPLE]
        earlier = replace(self, answers=self.answers[: -lookback(len(self))])
        if earlier._labels == self._labels and not self.is_cold:  # noqa: SLF001 - our own
            before = earlier._fitted_posterior.at(self.pool.X[sample])  # noqa: SLF001 - our own
        advice = advise(self.belief_of(sample), before, len(self), is_sample=is_sample)
        if self.is_cold and len(sample):
            reason = "The answers so far name fewer than two classes."
            return replace(advice, state=AdviceState.GO_ON, reason=reason)
        if is_sample and advice.state is AdviceState.DONE and len(sample):
            most_doubtful = replace(self.selection, strategy=doubt).scanned(1).places
            now = self.belief_of(np.append(sample, most_doubtful))
            return advise(now, None, len(self), is_sample=True)
        return advice

    @functools.cached_property
    def calibration(self) -> Calibration:
        """What to make of the model's chances, by rows that it learnt from, each left out."""
        posterior, told = self._fitted_posterior, Outcomes()
        if isinstance(posterior, Posterior):  # any other model cannot leave one of its rows out
            told = Outcomes(*self_check(posterior, SELF_CHECKED))
        return fit_calibration(Outcomes(), told, len(self.classes))

    # ------------------------------------------------------------ a sought class

    @property
    def sought(self) -> int | None:
        """The place of the sought class among the classifier's; None while it is not known."""
        if self.find is None or self.is_cold:
            return None
        known = self.classifier.classes_.tolist()
        return known.index(self.find) if self.find in known else None

    def sought_chances(self, places: Places) -> Vector:
        """The model's chances that rows are of the sought class, by their places."""
        posterior = self._fitted_posterior
        return posterior.probability_of(self.belief_of(places))[:, cast("int", self.sought)]

    @functools.cached_property
    def recall(self) -> RecallEstimate | None:
        """How much of the sought class was found; None while too little is known.

        In a large pool a sample stands for the rows that are not among the likeliest.
        """
        if self.sought is None:
            return None
        rows, times = self._left, 1.0
        if self.pool.is_large:
            likely = self.selection.scanned(BATCH_CANDIDATES)
            others = np.setdiff1d(self._left, likely.places)
            drawn = self._rng().permutation(others)[:ADVICE_SAMPLE]
            rows = np.concatenate([likely.places, drawn])
            stands_for = len(others) / max(len(drawn), 1)
            times = np.repeat([1.0, stands_for], [len(likely.places), len(drawn)])
        posterior = geometry_of(self._fitted_posterior)  # no other model is asked to find a class
        told = class_self_check(posterior, self.sought, MOST_LEFT_OUT)
        known = fit_class_calibration(Outcomes(), Outcomes(*told))
        is_found = [answer.label == self.find for answer in self.answers]
        return RecallEstimate.of(is_found, known.unfound(self.sought_chances(rows), times))

    # ------------------------------------------------------------ inside

    @functools.cached_property
    def _named(self) -> list[Hashable] | None:
        """The labels that were named; None where they are learnt from the answers."""
        return _named(self.model)

    @functools.cached_property
    def _labels(self) -> set[Hashable]:
        """The labels answered so far."""
        return {answer.label for answer in self.answers}

    @property
    def _has_placeholders(self) -> bool:
        """Whether fewer than two classes are known, so that the model has placeholders."""
        return len(self.classes) < 2  # noqa: PLR2004 - a choice needs two

    @property
    def _leading_rule(self) -> Strategy:
        """What scores rows once they can be told apart: chance of the sought class, or strategy."""
        return self.strategy if self.sought is None else class_chance(self.sought)

    @functools.cached_property
    def _places(self) -> Places:
        """Where the answered rows stand, in the order of the answers."""
        return np.array([self.pool.places[a.row] for a in self.answers], dtype=np.intp)

    @functools.cached_property
    def _excluded(self) -> Places:
        """Where the rows stand that may not be asked about, in order."""
        aside = [self.pool.places[row] for row in self.aside]
        return np.array(sorted({*self._places.tolist(), *aside}), dtype=np.intp)

    @functools.cached_property
    def _left(self) -> Places:
        """Where the rows stand that may be asked about, now or later, in order."""
        return self.pool.available(self._excluded)

    @functools.cached_property
    def _put_off(self) -> list[int]:
        """Where the rows stand that wait for the others, in the order in which they were skipped.

        None where there are no others.
        """
        places = np.array([self.pool.places[row] for row in self.skipped], dtype=np.intp)
        waiting = places[~np.isin(places, self._excluded)].tolist()
        return waiting if len(waiting) < len(self._left) else []

    @functools.cached_property
    def _barred(self) -> Places:
        """Where the rows stand that may not be asked about now, in order."""
        return np.union1d(self._excluded, np.array(self._put_off, dtype=np.intp))

    @functools.cached_property
    def _available(self) -> Places:
        """Where the rows stand that may be asked about now, in order."""
        return self.pool.available(self._barred)

    def _ids(self, places: Iterable[int]) -> tuple[Hashable, ...]:
        """What the user calls rows, by their places."""
        return tuple(self.pool.ids[place] for place in places)

    @property
    def _sampler(self) -> HashedSampler:
        """Draws the sample of a question."""
        return HashedSampler(self.seed, len(self))

    def _rng(self) -> np.random.Generator:
        """What a question draws from: the same whenever it is asked."""
        return self._sampler.rng()

    # ------------------------------------------------------------ blocks of columns

    @functools.cached_property
    def _asking(self) -> "Snapshot":
        """The campaign that asks: itself, or where columns come in blocks that of one of them."""
        blocks = self.model.blocks
        if blocks is None or len(blocks) == 1 or is_local(self._leading_rule):
            return self
        ends = np.cumsum([0, *blocks]).tolist()
        place = self._leading_block(tuple(blocks))
        pool = self.pool.block(ends[place], ends[place + 1])
        model = unfitted(self.model)
        model.set_params(
            kernel=RBF_ALONE, blocks=None, usual_distance=pool.usual_distance, centre=None
        )
        return replace(self, pool=pool, model=model)

    def _leading_block(self, blocks: tuple[int, ...]) -> int:
        """The block that is by far the most credible to be the only one that counts; else by turns.

        Args:
            blocks: how many columns each has.
        """
        if len(self) >= TURNS * len(blocks) and not self.is_cold:
            posterior = geometry_of(self._fitted_posterior)
            weights = cast("RBFPrior", posterior.prior).block_weights(blocks)
            alone = (weights > LEADS).sum(axis=1, keepdims=True) == 1
            lone = np.where(alone & (weights > LEADS), posterior.credibility[:, None], 0.0)
            second, best = np.sort(lone.max(axis=0))[-2:]
            if best > CLEARLY * second:
                return int(lone.max(axis=0).argmax())
        return len(self) % len(blocks)

    # ------------------------------------------------------------ fit, candidates, batch

    @functools.cached_property
    def _fitted_posterior(self) -> AnyPosterior:
        """The posterior given the answers; of placeholder classes until two are known."""
        if self._has_placeholders:
            model = unfitted(self.model)
            model.set_params(classes=PLACEHOLDER_CLASSES)
            return self._fitted(model, [PLACEHOLDER_CLASSES[0]] * len(self)).posterior_
        return self.classifier.posterior_

    def _fitted(self, model: CampaignModel, labels: list[Hashable]) -> CampaignModel:
        """A classifier fitted to labels of the answered rows."""
        fitted = unfitted(model).fit(self.pool.X[self._places], cast("ArrayLike", labels))
        if self.pool.columns is not None:
            vars(fitted)["feature_names_in_"] = self.pool.columns
        return fitted

    def _batch(self, n: int, candidates: Candidates, utilities: Vector) -> list[int]:
        """Where the n rows of a greedy batch stand; where a class is sought, of its likeliest."""
        if self.sought is not None:
            return candidates.places[np.argsort(-utilities, kind="stable")[:n]].tolist()
        return [pick.place for pick in self.selection.batch(n, candidates, utilities)]


def _named(model: CampaignModel) -> list[Hashable] | None:
    """The labels that classes= names; None if it does not."""
    if model.classes is None:
        return None
    known, _ = validation.labels(np.empty(0), model.classes)
    return known.tolist()


def _sought(find: Hashable | None, named: list[Hashable] | None) -> Hashable | None:
    """The sought class, if it may be one of those that are named."""
    name = as_python(find)
    if name is None or (named is None and is_hashable(name)):
        return name
    if not is_hashable(name) or name not in (named or ()):
        raise ValueError(
            f"find must be one of the classes, {named}; got {name!r}. Name the class to find."
        )
    return name


def _spelt(name: Hashable) -> Hashable:
    """A name without what people overlook: case, and blanks around and between words."""
    return " ".join(name.casefold().split()) if isinstance(name, str) else name
