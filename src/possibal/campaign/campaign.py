"""The labelling campaign as a value: ask which row to label, tell its label, replay answers.

    campaign = Campaign.start(X, classes=["no", "yes"])
    (row,) = campaign.ask()
    campaign = campaign.tell(row, "yes")

A campaign is its pool, its settings and its answers, and nothing else: the classifier and the next
question follow from them. So answers read from a journal make the very campaign they were given to.
"""

import functools
import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from possibal.acquisition.pointwise import STRATEGIES, doubt
from possibal.acquisition.scoring import Score, is_local
from possibal.acquisition.strategy import Strategy, View
from possibal.arguments import DEFAULT_STRATEGY, as_python, choice, whole
from possibal.arrays import Matrix, Places, Vector
from possibal.belief import Belief
from possibal.campaign.answer import Answer, check_label, check_row
from possibal.campaign.batch import candidate_utilities, next_in_batch, representativeness, tracking
from possibal.campaign.stopping import Advice, AdviceState, advise, lookback
from possibal.estimators import validation
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.gp.pending import PendingPosterior
from possibal.gp.posterior import Posterior
from possibal.pool.cache import BUDGET
from possibal.pool.pruning import PrunedScorer
from possibal.pool.ranking import Pool, checked_pool, unfitted
from possibal.pool.sampling import HashedSampler, QuestionSample, half_size, sample_size
from possibal.pool.top_k import TopK

ADVICE_SAMPLE = 10_000
"""Rows of a large pool that are asked whether to go on."""
BATCH_CANDIDATES = 1000
"""Rows of a large pool among which several questions are picked."""
PLACEHOLDER_CLASSES = (0, 1)
"""What classes are called while fewer than two are known."""


@dataclass(frozen=True)
class Campaign:
    """Rows, settings and answers; see :meth:`start`.

    Attributes:
        pool: the rows.
        strategy: what is asked first.
        model: the classifier before any answer.
        seed: of what is drawn.
        answers: in the order they were told.
        aside: rows that are never asked about.
    """

    pool: Pool
    strategy: Strategy
    model: PossibilisticGPClassifier
    seed: int = 0
    answers: tuple[Answer, ...] = ()
    aside: frozenset[Hashable] = frozenset()

    @classmethod
    def start(  # noqa: PLR0913 - all but X are named
        cls,
        X: ArrayLike,
        *,
        ids: Iterable[Hashable] | None = None,
        classes: ArrayLike | None = None,
        strategy: str | Strategy = DEFAULT_STRATEGY,
        classifier: PossibilisticGPClassifier | None = None,
        seed: int = 0,
        memory: float = BUDGET,
    ) -> "Campaign":
        """A campaign without answers.

        Args:
            X: (m, d), an array or data frame whose columns are of one scale.
            ids: what the rows are called, each once; 0 to m - 1 if left out.
            classes: all labels there may be, in place of those of the classifier; None means that
                they are learnt from the answers.
            strategy: a name in :data:`~possibal.acquisition.STRATEGIES`, or one of your own.
            classifier: not fitted, and not changed; as it comes if left out. Length-scales follow
                the usual distance of two rows of the pool.
            seed: the same seed asks the same questions.
            memory: bytes that may be kept of a large pool from one question to the next.
        """
        chosen = strategy if callable(strategy) else choice("strategy", strategy, STRATEGIES)
        model = unfitted(PossibilisticGPClassifier() if classifier is None else classifier)
        if classes is not None:
            model.set_params(classes=classes)
        _named(model)
        start = whole("seed", seed, 0)
        rows = checked_pool(X, ids, start, memory)
        if model.usual_distance is None:  # so that no answer changes it
            model.set_params(usual_distance=rows.usual_distance)
        return cls(rows, chosen, model, start)

    # ------------------------------------------------------------ verbs

    def ask(self, n: int = 1) -> tuple[Hashable, ...]:
        """The rows to label next, the best first.

        Each row after the first is the best once those before it will have been answered, among
        rows that they tell little about: at most half-way from the row they tell least about to
        one whose own label would tell no more. A copy of a row is asked with it only where
        nothing else is left. Of several best rows it is the least told, then the first in the
        pool. At random, any rows will do. In a large pool, the rows after the first are picked
        among the thousand, or thrice as many as asked for, that are worth most by themselves.

        A strategy that looks at rows together is shown up to a thousand rows, or thrice as many
        as asked for: all that are left, or of 5000 that are drawn, or of so many, half by lot and
        half for being most in doubt.
        """
        left = self._places_left
        if not len(left):
            raise ValueError("ask must find rows left; got answers for all of them. Stop here.")
        if whole("n", n, 1) > len(left):
            raise ValueError(
                f"n must be at most {len(left)}, the rows left; got {n}. Ask for fewer."
            )
        rng = self._rng()
        weighed = self._weighed(n, left, rng, several=n > 1)
        return tuple(self.pool.ids[place] for place in self._picked(n, left, weighed, rng))

    def ranked(self, n: int = 1) -> tuple[Hashable, ...]:
        """All rows left, the best first: n as :meth:`ask` gives them, then each on its own merit.

        For people who take rows faster than answers can be learnt from. Of a large pool, only
        the rows that were judged.
        """
        left = self._places_left
        if not len(left):
            return ()
        n, rng = min(whole("n", n, 1), len(left)), self._rng()
        judged, _, worth = weighed = self._weighed(n, left, rng, several=True)
        first = self._picked(n, left, weighed, rng)
        others = judged[np.argsort(-worth, kind="stable")]
        rest = [] if self.pool.is_large else self._rng().permutation(np.setdiff1d(left, judged))
        places = dict.fromkeys([*first, *others, *rest])
        return tuple(self.pool.ids[place] for place in places)

    def tell(self, row: Hashable, label: Hashable) -> "Campaign":
        """The campaign with one more answer; this one stays as it is."""
        return self.replay([Answer(row, label)])

    def replay(self, answers: Iterable[Answer]) -> "Campaign":
        """The campaign with more answers, told one after the other."""
        told, labels = list(self.answers), dict(self._answered)
        for answer in answers:
            row, label = as_python(answer.row), as_python(answer.label)
            check_row(row, self.pool.places, labels)
            check_label(label, self._known, told[0].label if told else None)
            told.append(Answer(row, label))
            labels[row] = label
        return replace(self, answers=tuple(told))

    def without(self, rows: Iterable[Hashable]) -> "Campaign":
        """The campaign that never asks about these rows; their answers are welcome all the same."""
        aside = frozenset(as_python(row) for row in rows)
        for row in aside:
            check_row(row, self.pool.places, {})
        return replace(self, aside=self.aside | aside)

    # ------------------------------------------------------------ what follows

    def __len__(self) -> int:
        """How many answers there are."""
        return len(self.answers)

    @property
    def left(self) -> tuple[Hashable, ...]:
        """The rows without an answer that may be asked about, in the order of the pool."""
        return tuple(self.pool.ids[place] for place in self._places_left)

    @functools.cached_property
    def classifier(self) -> PossibilisticGPClassifier:
        """The classifier, fitted to the answers when first asked for."""
        if self.model.classes is None and self._is_cold:
            raise ValueError(
                "classes must be named, or two of them answered, before there is a classifier; "
                f"got {len(self._labels)}. Use Campaign.start(X, classes=[...])."
            )
        return self._fitted(self.model, [answer.label for answer in self.answers])

    @functools.cached_property
    def belief(self) -> Belief:
        """What is believed of every row of the pool; of made-up classes before two are known."""
        return self._posterior.at(self.pool.X)

    def belief_of(self, places: Places) -> Belief:
        """What is believed of some rows, by their places; of a large pool only they are read."""
        is_large, X = self.pool.is_large, self.pool.X
        return self._posterior.at(X[places]) if is_large else self.belief.part(places)

    @functools.cached_property
    def advice(self) -> Advice:
        """Whether to go on asking."""
        left, before = self._places_left, None
        if self.pool.is_large:
            left = self._rng().permutation(left)[:ADVICE_SAMPLE]
        earlier = replace(self, answers=self.answers[: -lookback(len(self))])
        if earlier._labels == self._labels and not self._is_cold:  # noqa: SLF001 - our own
            before = earlier._posterior.at(self.pool.X[left])  # noqa: SLF001 - our own
        advice = advise(self.belief_of(left), before, len(self), is_sample=self.pool.is_large)
        if self._is_cold and len(left):
            reason = "The answers so far name fewer than two classes."
            return replace(advice, state=AdviceState.GO_ON, reason=reason)
        if self.pool.is_large and advice.state is AdviceState.DONE and len(left):
            now = self.belief_of(np.append(left, self._sifted(doubt, 1)[0]))
            return advise(now, None, len(self), is_sample=True)
        return advice

    # ------------------------------------------------------------ inside

    @functools.cached_property
    def _answered(self) -> dict[Hashable, Hashable]:
        """The label of each row that has one."""
        return {answer.row: answer.label for answer in self.answers}

    @functools.cached_property
    def _known(self) -> list[Hashable] | None:
        """The labels there may be; None while they are learnt from the answers."""
        return _named(self.model)

    @functools.cached_property
    def _labels(self) -> set[Hashable]:
        """The labels answered so far."""
        return {answer.label for answer in self.answers}

    @property
    def _is_cold(self) -> bool:
        """Whether no score can tell rows apart, for fewer than two labels were answered."""
        return len(self._labels) < 2  # noqa: PLR2004 - a choice needs two

    @property
    def _is_random(self) -> bool:
        """Whether rows are asked at random, whatever is known of them."""
        return self.strategy is STRATEGIES["random"]

    @property
    def _rule(self) -> Strategy:
        """What rows are asked by: the strategy, or how many others each speaks for."""
        return representativeness if self._is_cold and not self._is_random else self.strategy

    @functools.cached_property
    def _places(self) -> Places:
        """Where the answered rows stand, in the order of the answers."""
        return np.array([self.pool.places[a.row] for a in self.answers], dtype=np.intp)

    @property
    def _places_taken(self) -> Places:
        """Where the rows that may not be asked about stand, in order."""
        aside = [self.pool.places[row] for row in self.aside]
        return np.array(sorted({*self._places.tolist(), *aside}), dtype=np.intp)

    @property
    def _places_left(self) -> Places:
        """Where the rows that may be asked about stand, in order."""
        is_left = np.ones(len(self.pool.X), dtype=bool)
        is_left[self._places_taken] = False
        return np.flatnonzero(is_left)

    def _rng(self) -> np.random.Generator:
        """What a question draws from: the same whenever it is asked."""
        return np.random.default_rng([self.seed, len(self.answers)])

    @functools.cached_property
    def _posterior(self) -> Posterior:
        """What the answers taught; of made-up classes while their names are not known."""
        if self.model.classes is None and self._is_cold:
            model = unfitted(self.model)
            model.set_params(classes=PLACEHOLDER_CLASSES)
            return self._fitted(model, [PLACEHOLDER_CLASSES[0]] * len(self)).posterior_
        return self.classifier.posterior_

    def _fitted(
        self, model: PossibilisticGPClassifier, labels: list[Hashable]
    ) -> PossibilisticGPClassifier:
        """A classifier that has seen labels of the answered rows."""
        fitted = unfitted(model).fit(self.pool.X[self._places], cast("ArrayLike", labels))
        if self.pool.columns is not None:
            vars(fitted)["feature_names_in_"] = self.pool.columns
        return fitted

    def _weighed(
        self, n: int, left: Places, rng: np.random.Generator, *, several: bool
    ) -> tuple[Places, View, Vector]:
        """The rows that are judged and their merits; of a large pool the best one, or several."""
        if self.is_large:
            places, worth = self._shortlist(
                min(max(BATCH_CANDIDATES, 3 * n), len(left)) if several else 1
            )
            return places, self._view(places, rng), worth
        places = self._judged(left, n)
        view = self._view(places, rng)
        if is_local(self._rule):
            view = replace(view, known=self.belief.part(places))
        return places, view, candidate_utilities(view, np.ones(len(places), dtype=bool), self._rule)

    def _picked(
        self, n: int, left: Places, weighed: tuple[Places, View, Vector], rng: np.random.Generator
    ) -> list[int]:
        """Where the n best rows stand, each chosen as if those before it had been answered."""
        judged, view, worth = weighed
        asked = [int(judged[worth.argmax()])]
        left = left if self._is_cold else judged
        foreseen = tracking(PendingPosterior(self._posterior), view, self._rule)
        while len(asked) < n:
            foreseen = foreseen.with_pending(self.pool.X[asked[-1]])
            if not (free := ~np.isin(judged, asked)).any():  # no deputy of the pool is left
                judged = np.setdiff1d(left, asked)
                view, free = self._view(judged, rng), np.ones(len(judged), dtype=bool)
                foreseen = tracking(foreseen, view, self._rule)
            asked.append(int(judged[next_in_batch(foreseen, view, free, self._rule)]))
        return asked

    @property
    def is_large(self) -> bool:
        """Whether the pool is so large that most of its rows are to be passed over."""
        return self.pool.is_large and is_local(self.strategy) and not self._is_cold

    def _shortlist(self, top: int) -> tuple[Places, Vector]:
        """The rows that are worth most to a local strategy, and what they are worth."""
        if top not in self._shortlists:
            self._shortlists[top] = self._sifted(cast("Score", self.strategy), top)
        return self._shortlists[top]

    def _sifted(self, score: Score, top: int) -> tuple[Places, Vector]:
        """The rows that may be asked about of which a score makes most, in order, and its worth."""
        judge, cores = PrunedScorer.of(self._posterior, score), os.cpu_count() or 1
        sieve = TopK(top, judge.slack)
        self.pool.cache.scan(self._posterior, judge, sieve, self._places_taken, cores)
        (best,) = sieve.best(judge.worth)
        order = np.argsort(best.places)
        return best.places[order], best.utilities[order]

    @functools.cached_property
    def _shortlists(self) -> dict[int, tuple[Places, Vector]]:
        """Those made so far, by their lengths."""
        return {}

    def _judged(self, left: Places, n: int) -> Places:
        """The rows that are judged, n of which are wanted, in order.

        All, or the pool's deputies while no score can tell rows apart, or those of many that a
        strategy looks at together.
        """
        if self._is_random:
            return left
        if self._is_cold:
            deputies = left[np.isin(left, self.pool.representatives)]
            return deputies if len(deputies) else left
        if is_local(self.strategy) or len(left) <= 2 * half_size(n):
            return left
        drawn = self._drawn(n)
        belief = self._posterior.at(self.pool.X[drawn.places])
        return drawn.places[drawn.shown(belief, n)]

    def _drawn(self, n: int) -> QuestionSample:
        """The rows that are drawn of those left where n are wanted."""
        if (count := sample_size(n)) not in self._draws:
            self._draws[count] = HashedSampler(self.seed, len(self)).drawn(self._places_left, count)
        return self._draws[count]

    @functools.cached_property
    def _draws(self) -> dict[int, QuestionSample]:
        """Those made so far, by their sizes."""
        return {}

    def _view(self, places: Places, rng: np.random.Generator) -> View:
        """Rows before any is picked, and those that stand for all left where they are read."""
        X, posterior = self.pool.X[places], PendingPosterior(self._posterior)
        if self._is_random:
            return View(posterior, X, rng)
        if self._is_cold:
            return View(posterior, X, rng, self.pool.reference)
        return View(posterior, X, rng, X if is_local(self.strategy) else self._reference)

    @functools.cached_property
    def _reference(self) -> Matrix:
        """Rows that stand for those left."""
        drawn = self._drawn(1)
        return self.pool.X[drawn.places[drawn.reference]]


def _named(model: PossibilisticGPClassifier) -> list[Hashable] | None:
    """The labels that classes= names; None if it does not."""
    if model.classes is None:
        return None
    known, _ = validation.labels(np.empty(0), model.classes)
    return known.tolist()
