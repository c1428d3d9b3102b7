"""A campaign at one moment whose rows have several of the classes, one of them, or none.

    snapshot = LabelSetSnapshot.start(X, classes=["politics", "sport"])
    (row,) = snapshot.ask()
    snapshot = snapshot.tell(row, ["sport"])

Each class is a label that is there or not, with a posterior of its own; they share rows, settings
and answers. A question is asked for what its answer says of all labels together.
"""

import functools
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from possibal.acquisition.pointwise import doubt
from possibal.acquisition.scoring import is_local
from possibal.acquisition.strategy import Strategy, View
from possibal.arguments import check_listed
from possibal.arrays import Places, Vector
from possibal.campaign.answer import Answer
from possibal.campaign.batch import greedy_batch
from possibal.campaign.label_views import LabelViews, sharing
from possibal.campaign.pool import InMemoryScan
from possibal.campaign.selection import is_random, rule_of
from possibal.campaign.snapshot import (
    ADVICE_SAMPLE,
    CLEARLY,
    LEADS,
    TURNS,
    Snapshot,
)
from possibal.campaign.stopping import Advice, AdviceState, advise_by, lookback
from possibal.data.label_sets import check_members, check_texts, label_set
from possibal.estimators.classifier import PossibilisticGPClassifier, unfitted
from possibal.estimators.multilabel import LabelSetBelief, PossibilisticMultiLabelClassifier
from possibal.gp.pending import PendingPosterior, TrackedRows
from possibal.gp.posterior import Posterior
from possibal.pool.candidates import largest_keys
from possibal.pool.pruning import TopKQuery
from possibal.pool.sampling import QuestionSample, sample_size

PLACEHOLDER = "label"
"""The only label of the model while no class is known."""


@dataclass(frozen=True)
class LabelSetSnapshot(Snapshot):
    """Rows, settings and answers of a campaign in which a row may have several labels.

    The label of an answer is the tuple of its classes in their order; it may be empty.
    """

    # ------------------------------------------------------------ answers and classes

    def _checked_label(self, label: Hashable, first: Hashable | None) -> Hashable:  # noqa: ARG002 - sets are of texts
        """The classes of a row in their order, if all of them may be given."""
        members = label_set(label)
        if self._named is not None:
            check_members(members, self._named)
        return members

    def _classes_in(self, label: Hashable) -> tuple[Hashable, ...]:
        """The classes that a label names."""
        return cast("tuple[Hashable, ...]", label)

    def _renamed(self, answer: Answer, old: Hashable, new: Hashable) -> Answer:
        """An answer after a class was renamed."""
        members = (new if one == old else one for one in self._classes_in(answer.label))
        return Answer(answer.row, label_set(members))

    def _check_new(self, name: Hashable) -> None:
        """Refuse a class that there is already, or that could not be told from a set."""
        check_texts("name", [name])
        super()._check_new(name)

    # ------------------------------------------------------------ the model

    @functools.cached_property
    def classifier(self) -> Any:  # noqa: ANN401 - that of several labels
        """The classifier of several labels, fitted to the answers when first asked for."""
        if not self.classes:
            raise ValueError(
                "classes must be named, or answered, before there is a classifier; got none. "
                "Use Campaign.start(X, classes=[...], multi=True)."
            )
        return self._fitted_labels

    @functools.cached_property
    def _fitted_labels(self) -> PossibilisticMultiLabelClassifier:
        """A classifier for each label; of one that stands for all until a class is known."""
        known = list(self.classes) or [PLACEHOLDER]
        said = [self._classes_in(answer.label) for answer in self.answers]
        Y = np.array([[one in has for one in known] for has in said], dtype=bool)
        plain = cast("PossibilisticGPClassifier", unfitted(self.model)).set_params(classes=None)
        model = PossibilisticMultiLabelClassifier(plain, classes=cast("Any", known))
        fitted = model.fit(self.pool.X[self._places], Y.reshape(len(said), len(known)))
        if self.pool.columns is not None:
            for one in fitted.estimators_:
                vars(one)["feature_names_in_"] = self.pool.columns
        return fitted

    @property
    def posteriors(self) -> tuple[Posterior, ...]:
        """The posterior of each label."""
        return self._fitted_labels.posteriors

    @functools.cached_property
    def _set_belief(self) -> LabelSetBelief:
        """What is believed of every row of the pool."""
        return LabelSetBelief.of(self.posteriors, self.pool.X)

    def set_belief_of(self, places: Places) -> LabelSetBelief:
        """What is believed of some rows, by their places; of a large pool only they are read."""
        if self.pool.is_large:
            return LabelSetBelief.of(self.posteriors, self.pool.X[places])
        return self._set_belief.part(places)

    def predicted_sets(self, places: Places) -> list[tuple[Hashable, ...]]:
        """The classes that are predicted of some rows."""
        return sets_of(self.set_belief_of(places), self.classes)

    @functools.cached_property
    def advice(self) -> Advice:
        """Whether to go on asking, by what is known of whole sets."""
        is_sample, sample = self.pool.is_large, self._left
        if is_sample:
            sample = self._rng().permutation(sample)[:ADVICE_SAMPLE]
        now, moved = self.set_belief_of(sample), None
        earlier = replace(self, answers=self.answers[: -lookback(len(self))])
        if earlier.classes == self.classes and not earlier.is_cold:
            before = earlier.set_belief_of(sample).has
            moved = int(np.count_nonzero((now.has != before).any(axis=1)))
        advice = advise_by(now.set_necessity, moved, len(self), is_sample=is_sample)
        if self.is_cold and len(sample):
            reason = "The answers so far name fewer than two different sets of classes."
            return replace(advice, state=AdviceState.GO_ON, reason=reason)
        return advice

    # ------------------------------------------------------------ candidates and batch

    def _leading_block(self, blocks: tuple[int, ...]) -> int:
        """As for one label, by the possibility that a block alone counts for all labels."""
        if len(self) >= TURNS * len(blocks) and not self.is_cold:
            both = np.ones(len(blocks))
            for posterior in self.posteriors:
                weights = cast("Any", posterior.prior).block_weights(blocks)
                alone = (weights > LEADS).sum(axis=1, keepdims=True) == 1
                credible = posterior.credibility[:, None]
                both *= np.where(alone & (weights > LEADS), credible, 0.0).max(axis=0)
            second, best = np.sort(both)[-2:]
            if best > CLEARLY * second:
                return int(both.argmax())
        return len(self) % len(blocks)

    @property
    def _rule(self) -> Strategy:
        """What scores rows now."""
        return rule_of(self._leading_rule, is_cold=self.is_cold)

    def _asked(self, n: int) -> list[int]:
        """Where the rows to label next stand."""
        candidates = self._views(n)
        return self._batch_of(n, candidates, candidates.utilities(self._rule))

    def _ordered(self, n: int) -> list[int]:
        """Where the rows left stand, the best first."""
        candidates = self._views(n)
        utilities = candidates.utilities(self._rule)
        first = self._batch_of(n, candidates, utilities)
        others = candidates.places[np.argsort(-utilities, kind="stable")]
        rest = np.setdiff1d(self._available, candidates.places)
        rest = [] if self.pool.is_large else self._rng().permutation(rest)
        return [*first, *others, *rest]

    def _batch_of(self, n: int, candidates: LabelViews, utilities: Vector) -> list[int]:
        """Where the n rows of a greedy batch stand."""

        def others(picked: list[int]) -> LabelViews:
            """All other rows, where a cold start has asked about every representative."""
            return self._cold_views(np.setdiff1d(self._available, picked))

        picks = greedy_batch(n, candidates, utilities, self._rule, others)
        return [pick.place for pick in picks]

    def _views(self, n: int) -> LabelViews:
        """The rows that are scored where n are wanted, as each label sees them.

        Of a large pool a random sample, whatever the strategy: of it those that a joint one has.
        """
        available = self._available
        if is_random(self._leading_rule) or (is_local(self._rule) and not self.pool.is_large):
            X = self.pool.X[available]
            views = (View(PendingPosterior(one), X, self._rng()) for one in self.posteriors)
            return LabelViews(available, sharing(list(views)))
        if self.is_cold:
            representatives = available[np.isin(available, self.pool.representatives)]
            return self._cold_views(representatives if len(representatives) else available)
        return self._sampled_views(n)

    def _cold_views(self, places: Places) -> LabelViews:
        """Candidates while no score can tell rows apart; the representatives are the reference."""
        X, reference = self.pool.X[places], self.pool.reference
        views = (View(PendingPosterior(p), X, self._rng(), reference) for p in self.posteriors)
        return LabelViews(places, sharing(list(views)))

    def _sampled_views(self, n: int) -> LabelViews:
        """As :func:`possibal.pool.candidates.choose_candidates`, in doubt about any label."""
        scan = InMemoryScan(self.pool, self.posteriors[0], self._barred)
        counts = scan.run(TopKQuery(self._sampler, sample_size(n)))
        found = largest_keys(counts.top_k)
        sample, X = QuestionSample(found.places, counts.rows), np.asarray(found.X, dtype=float)
        sampled = [TrackedRows(one, X) for one in self.posteriors]

        def doubts() -> Vector:
            """The largest doubt about any label."""
            return np.max([doubt(rows.belief) for rows in sampled], axis=0)

        chosen, reference = sample.candidates_by(doubts, n), sample.reference
        read, scored = np.union1d(chosen, reference), X[chosen]
        covered = scored if np.array_equal(chosen, reference) else X[reference]
        views = list[View]()
        for rows in sampled:
            tracked = rows.apart(read)
            arrays = [(scored, chosen), (covered, reference)][: 1 + (covered is not scored)]
            kept = (
                TrackedRows(rows.posterior, some, tracked, np.searchsorted(read, at))
                for some, at in arrays
            )
            pending = PendingPosterior(rows.posterior).tracking_rows(*kept)
            views.append(View(pending, scored, self._sampler.rng(), covered))
        return LabelViews(found.places[chosen], sharing(views))

    @property
    def _leading_rule(self) -> Strategy:
        """What scores rows once they can be told apart."""
        return self.strategy


def check_multi(*, multi: object, find: object, classes: object, classifier: object = None) -> None:
    """Refuse what does not go with several labels a row, or what is no yes or no.

    Args:
        multi: whether a row may have several labels.
        find: the class that is sought.
        classes: that are named.
        classifier: behind any pipeline; None for the usual one.
    """
    if type(multi) not in {bool, np.bool_}:
        raise TypeError(f"multi must be True or False; got {multi!r}. True allows several labels.")
    if not multi:
        return
    if find:
        raise ValueError(
            f"find must be left out where rows have several labels; got {find!r}. Label with one "
            "label a row to find a class."
        )
    if not isinstance(classifier, PossibilisticGPClassifier | None):
        raise TypeError(
            "classifier must be a PossibilisticGPClassifier where rows have several labels; got "
            f"{getattr(classifier, 'name', type(classifier).__name__)}. Leave it out for the usual "
            "one."
        )
    if classes is not None:
        check_listed("classes", classes)
        check_texts("classes", cast("Iterable[object]", classes))


def sets_of(belief: LabelSetBelief, classes: tuple[Hashable, ...]) -> list[tuple[Hashable, ...]]:
    """The classes that are predicted of each row."""
    return [
        tuple(one for one, is_there in zip(classes, has, strict=True) if is_there)
        for has in belief.has.tolist()
    ]
