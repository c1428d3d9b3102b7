"""Ways to deal with hyperparameters, for crowds: what hyperparameters.py does for one fit."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.experiments.engine.batched_bfgs import maximize
from possibal.experiments.engine.batched_gp import BatchedFit, RunBatch, condition, evidence_slopes
from possibal.experiments.spec import ENVELOPE, EVIDENCE, PAPER
from possibal.gp.hyperparameters import Hyperprior, default_length_scale_of

Way: TypeAlias = Callable[[RunBatch, BatchedFit | None], BatchedFit]
"""What a crowd has learnt, given what it had learnt one label before."""


def fixed(crowd: RunBatch, last: BatchedFit | None) -> BatchedFit:
    """The one setting that was fitted in advance.

    Paper: App. E.3, "fixed for the duration of the experiments".
    """
    mode = condition(crowd.link, crowd.lines, crowd.y, last and _near(crowd, last))
    S = len(crowd)
    theta = np.broadcast_to(np.asarray(crowd.theta), (S, 1, 2))
    return BatchedFit(crowd, theta, np.zeros((S, 1)), mode)


def envelope(crowd: RunBatch, last: BatchedFit | None) -> BatchedFit:
    """Every credible setting.

    Paper: none; see :func:`possibal.gp.hyperparameters.envelope`.
    """
    beliefs = [default_length_scale_of(ground.usual_distance) for ground in crowd.grounds]
    return _under(crowd, beliefs, last and _near(crowd, last))


def evidence(crowd: RunBatch, last: BatchedFit | None) -> BatchedFit:
    """The setting of largest evidence times prior, sought from that of one label before.

    The first is sought from the best setting of the envelope.

    Paper: App. E.3 for many labels; see :func:`possibal.gp.hyperparameters.evidence`.
    """
    beliefs = [default_length_scale_of(ground.usual_distance) for ground in crowd.grounds]
    centre, sd = np.array([belief.centre for belief in beliefs]), beliefs[0].sd
    if last is None:
        star = _under(crowd, beliefs, None)
        heights = star.mode.log_evidence.reshape(star.log_prior.shape) + star.log_prior
        best = heights.argmax(axis=1)[:, None]
        theta = np.take_along_axis(star.theta, best[:, :, None], axis=1)[:, 0]
        near, inverse = star.mode.a[best[:, 0] + np.arange(len(best)) * star.theta.shape[1]], None
    else:
        theta, near, inverse = last.theta[:, 0], _near(crowd, last), last.inverse
    climb = _Climb(crowd, centre, sd, near)
    summit = maximize(climb.heights, (theta - centre) / sd, inverse)
    theta = (centre + sd * summit.z)[:, None]
    mode = condition(crowd.link, crowd.covariances(crowd.lines, theta), crowd.y, climb.near)
    return BatchedFit(crowd, theta, np.zeros((len(crowd), 1)), mode, summit.inverse)


WAYS: Mapping[str, Way] = MappingProxyType(
    {PAPER: evidence, EVIDENCE: evidence, ENVELOPE: envelope}
)


class _Climb:
    """Evidence times prior of a crowd, as a function of hyperparameters in units of the prior."""

    def __init__(self, crowd: RunBatch, centre: Matrix, sd: Vector, near: Array) -> None:
        self.crowd, self.lines, self.y = crowd, crowd.lines, crowd.y
        self.centre, self.sd, self.near = centre, sd, near.copy()

    def heights(self, z: Matrix, members: Places) -> tuple[Vector, Matrix]:
        """Log evidence plus log prior, and its slopes; each climb starts where the last ended."""
        theta, lines = self.centre[members] + self.sd * z, self.lines[members]
        K = self.crowd.covariances(lines, theta[:, None])
        mode = condition(self.crowd.link, K, self.y[members], self.near[members])
        self.near[members] = mode.a
        height = mode.log_evidence - 0.5 * (z * z).sum(axis=1)
        return height, self.sd * evidence_slopes(mode, lines, theta, self.crowd.common) - z


def _under(crowd: RunBatch, beliefs: list[Hyperprior], near: Array | None) -> BatchedFit:
    """What is learnt under the settings of an envelope."""
    theta = np.array([belief.settings() for belief in beliefs])
    log_prior = np.array([b.log(t) for b, t in zip(beliefs, theta, strict=True)])
    y = np.repeat(crowd.y, theta.shape[1], axis=0)
    mode = condition(crowd.link, crowd.covariances(crowd.lines, theta), y, near)
    return BatchedFit(crowd, theta, log_prior, mode)


def _near(crowd: RunBatch, last: BatchedFit) -> Array:
    """Where climbs to the modes start: where they ended one label before."""
    return np.pad(last.mode.a, [(0, 0), (0, 0), (0, crowd.n - last.crowd.n)])
