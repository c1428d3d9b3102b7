"""Stacks of Gaussian processes with labels, for the tests of Laplace's method."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from support import reference_gp

from possibal.gp.curvature import Observations
from possibal.gp.laplace import find_mode
from possibal.gp.likelihoods import IDENTITY, LOGISTIC, PROBIT, SOFTMAX

LINKS = {"probit": PROBIT, "logistic": LOGISTIC, "identity": IDENTITY, "softmax": SOFTMAX}
# Link, number of processes, whether all share one kernel.
CASES = [("probit", 1, True), ("logistic", 1, True), ("identity", 1, True)]
CASES += [("softmax", C, shared) for C in (2, 3, 5) for shared in (True, False)]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
seeds = st.integers(0, 10_000)
few = settings(max_examples=12)


@dataclass
class Problem:
    """A stack of Gaussian processes with labels, (S, P, n) throughout."""

    link: str
    K: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    mean: np.ndarray | None = None

    @classmethod
    def random(cls, case, seed, members=1, n=None) -> "Problem":
        link, classes, shared = case
        rng = np.random.default_rng(seed)
        n = rng.integers(1, 9) if n is None else n
        K = reference_gp.random_kernels(rng, (members, 1 if shared else classes), n)
        y = [reference_gp.random_labels(rng, link, classes, n) for _ in range(members)]
        return cls(link, K, np.array(y), rng.uniform(0.3, 4.0, (members, 1, n)))

    def with_mean(self, seed) -> "Problem":
        """The same with a prior mean of each latent."""
        return replace(self, mean=2.0 * np.random.default_rng(seed).normal(size=self.y.shape))

    def climb(self, start=None):
        with np.errstate(over="ignore", under="ignore"):
            seen = Observations(self.y, self.weight, mean=self.mean)
            return find_mode(LINKS[self.link], self.K, seen, start)

    def dense(self, member=0):
        m = 0.0 if self.mean is None else self.mean[member]
        return reference_gp.Dense.of(
            self.link, self.K[member], self.y[member], self.weight[member, 0], m
        )

    def scaled(self, factor) -> "Problem":
        return replace(self, K=factor * self.K)

    def member(self, s) -> "Problem":
        some = slice(s, s + 1)
        mean = None if self.mean is None else self.mean[some]
        return Problem(self.link, self.K[some], self.y[some], self.weight[some], mean)
