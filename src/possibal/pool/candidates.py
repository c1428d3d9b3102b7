"""Candidate selection: which of the available rows a strategy scores, wherever the pool is.

    choose_candidates(strategy, posterior, scan, sampler, wanted) -> Candidates

Campaigns and :func:`possibal.pool.rank` both choose here. A local score bounds itself, so that one
pruned scan finds the rows with the largest utilities. A joint strategy has a sample of the rows:
half of its candidates are random, half have the largest doubt, and some stand for the pool.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from possibal.acquisition.registry import utilities
from possibal.acquisition.scoring import Score, is_local
from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Places, Vector
from possibal.gp.pending import TrackedRows
from possibal.gp.posterior import Posterior
from possibal.gp.probabilities import RankedPosterior, geometry_of, pending
from possibal.pool.pruning import FullScorer, PrunedScorer, TopKQuery
from possibal.pool.sampling import HashedSampler, QuestionSample, sample_size
from possibal.pool.top_k import ScanCounts, ScoredRows, TopK


class Scan(Protocol):
    """One pass over the available rows of a pool, in memory, over files or on a cluster."""

    def run(self, query: TopKQuery) -> ScanCounts:
        """The rows that are wanted, and how many were ranked, computed and read."""
        ...


@dataclass(frozen=True, eq=False)
class Candidates:
    """The rows that are scored, in the pool's order.

    Attributes:
        places: where they stand in the pool.
        view: what a strategy sees of them, before any is picked.
        known: their utilities, where a pruned scan had to compute them.
        names: what the user calls them; None where they have no names.
        available: how many rows they were chosen from.
        judged: how many of those were computed in full, or sampled.
    """

    places: Places
    view: View
    known: Vector | None = None
    names: list[Hashable] | None = None
    available: int = 0
    judged: int = 0

    @property
    def views(self) -> tuple[View]:
        """The view of the one label that rows have."""
        return (self.view,)

    def utilities(self, strategy: Strategy) -> Vector:
        """One number for each candidate; the largest is asked first."""
        return utilities(self.view, strategy) if self.known is None else self.known


def choose_candidates(  # noqa: PLR0913 - the last is named
    strategy: Strategy,
    posterior: RankedPosterior,
    scan: Scan,
    sampler: HashedSampler,
    wanted: int,
    *,
    single: bool = True,
) -> Candidates:
    """The rows that a strategy scores where so many are wanted.

    Args:
        strategy: what is asked first; a local one needs no other candidates than those wanted.
        posterior: by which rows are scored.
        scan: reads the pool.
        sampler: draws rows for a joint strategy.
        wanted: how many rows are to be ranked.
        single: whether a local score is bounded in single precision first.
    """
    if is_local(strategy):
        return _best(strategy, posterior, scan, (sampler, wanted), single=single)
    counts = scan.run(TopKQuery(sampler, sample_size(wanted)))
    check_available(counts.rows, wanted)
    found = largest_keys(counts.top_k)
    sample, X = QuestionSample(found.places, counts.rows), np.asarray(found.X, dtype=float)
    sampled = TrackedRows(geometry_of(posterior), X)
    is_ours = geometry_of(posterior) is posterior
    belief = sampled.belief if is_ours else posterior.at(X)
    chosen, reference = sample.candidates(belief, wanted), sample.reference
    read = np.union1d(chosen, reference)
    tracked = sampled.apart(read)
    scored = covered = tracked.part(np.searchsorted(read, chosen))
    if not np.array_equal(chosen, reference):
        covered = tracked.part(np.searchsorted(read, reference))
    begun = pending(posterior).tracking_rows(scored, covered)
    view = View(begun, scored.X, sampler.rng(), covered.X)
    rows = found.part(chosen)
    return Candidates(rows.places, view, None, rows.names, counts.rows, len(found))


def _best(
    score: Score,
    posterior: RankedPosterior,
    scan: Scan,
    asked: tuple[HashedSampler, int],
    *,
    single: bool,
) -> Candidates:
    """The rows with the largest utilities by a local score, so many of them."""
    sampler, wanted = asked
    scorer = FullScorer(posterior, score)
    if isinstance(posterior, Posterior):
        scorer = PrunedScorer.of(posterior, score, single=single)
    counts = scan.run(TopKQuery(scorer, wanted))
    check_available(counts.rows, wanted)
    (found,) = counts.top_k.best(scorer.utilities)
    found = found.part(np.argsort(found.places))
    view = View(pending(posterior), found.X, sampler.rng())
    return Candidates(found.places, view, found.utilities, found.names, counts.rows, counts.judged)


def largest_keys(top_k: TopK) -> ScoredRows:
    """The rows that a sampler drew, the largest key first."""
    rows = ScoredRows.joined(top_k.candidates())
    return rows.part(np.argsort(-rows.utilities, kind="stable")[: top_k.top])


def check_available(available: int, wanted: int) -> None:
    """Refuse to rank more rows than there are."""
    if available < wanted:
        raise ValueError(
            f"top must be at most {available}, the rows there are; got {wanted}. Ask for fewer."
        )
