"""Selection of the rows to label: candidates, utilities and a greedy batch of one moment.

    Selection(pool, posterior, strategy, ...).asked(n) -> Pick, Pick, ...

A campaign selects by its answers, :func:`possibal.batch` by any fitted model.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.scoring import is_local
from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Places, Vector
from possibal.belief import Belief
from possibal.campaign.batch import Pick, greedy_batch, representativeness
from possibal.campaign.pool import InMemoryScan, Pool
from possibal.gp.probabilities import RankedPosterior, geometry_of, pending
from possibal.pool.candidates import Candidates, choose_candidates
from possibal.pool.sampling import HashedSampler

BATCH_CANDIDATES = 1000
"""Candidates for a batch of a local strategy in a large pool."""


def is_random(strategy: Strategy) -> bool:
    """Whether rows are asked at random, whatever is known of them."""
    return strategy is STRATEGIES["random"]


def rule_of(strategy: Strategy, *, is_cold: bool) -> Strategy:
    """What scores rows: at the cold start, how well each represents others."""
    return representativeness if is_cold and not is_random(strategy) else strategy


@dataclass(frozen=True, eq=False)
class Selection:
    """How the rows to label next are selected from a pool.

    Attributes:
        pool: the rows.
        posterior: given the labels so far.
        strategy: what scores rows once they can be told apart.
        barred: places of rows that may not be asked about now, in order.
        sampler: draws what is drawn.
        is_cold: whether no score can tell rows apart, for fewer than two labels are known.
        belief_of: the belief about some rows, by their places.
    """

    pool: Pool
    posterior: RankedPosterior
    strategy: Strategy
    barred: Places
    sampler: HashedSampler
    is_cold: bool
    belief_of: Callable[[Places], Belief]

    @property
    def available(self) -> Places:
        """Where the rows stand that may be asked about now, in order."""
        return self.pool.available(self.barred)

    @property
    def rule(self) -> Strategy:
        """What scores rows now."""
        return rule_of(self.strategy, is_cold=self.is_cold)

    def candidates(self, n: int, *, several: bool) -> Candidates:
        """The rows that are scored where n are wanted.

        Args:
            n: how many are wanted.
            several: whether more than the best are needed of a large pool, for a batch.
        """
        available = self.available
        if is_random(self.strategy) or (is_local(self.rule) and not self.pool.is_large):
            known = None if is_random(self.strategy) else self.belief_of(available)
            view = View(pending(self.posterior), self.pool.X[available], self.sampler.rng())
            return Candidates(available, replace(view, known=known))
        if self.is_cold:
            representatives = available[np.isin(available, self.pool.representatives)]
            return self._cold_candidates(representatives if len(representatives) else available)
        if is_local(self.strategy):
            n = min(max(BATCH_CANDIDATES, 3 * n), len(available)) if several else 1
        return self.scanned(n)

    def scanned(self, wanted: int) -> Candidates:
        """Candidates as :func:`possibal.pool.rank` chooses them."""
        scan = InMemoryScan(self.pool, geometry_of(self.posterior), self.barred)
        return choose_candidates(self.strategy, self.posterior, scan, self.sampler, wanted)

    def asked(self, n: int) -> Iterator[Pick]:
        """The n rows to label next, the best first."""
        candidates = self.candidates(n, several=n > 1)
        return self.batch(n, candidates, candidates.utilities(self.rule))

    def batch(self, n: int, candidates: Candidates, utilities: Vector) -> Iterator[Pick]:
        """The n rows of a greedy batch, the best first.

        Args:
            n: how many are wanted.
            candidates: as :meth:`candidates` gives them.
            utilities: theirs, by the rule.
        """

        def others(picked: list[int]) -> Candidates:
            """All other rows, where a cold start has asked about every representative."""
            return self._cold_candidates(np.setdiff1d(self.available, picked))

        return greedy_batch(n, candidates, utilities, self.rule, others)

    def _cold_candidates(self, places: Places) -> Candidates:
        """Candidates while no score can tell rows apart; the representatives are the reference."""
        begun = pending(self.posterior)
        view = View(begun, self.pool.X[places], self.sampler.rng(), self.pool.reference)
        return Candidates(places, view)
