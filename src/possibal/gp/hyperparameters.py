"""Inference of hyperparameters: fixed, maximum of the evidence (type II MAP), or an envelope.

Hyperparameters are unknown too. Before any label each has a log-normal possibility function, the
hyperprior, whose centre follows the rows; labels multiply it by their evidence. The *envelope*
keeps every setting that stays credible, as one hypothesis of the belief.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.gp.kernels import Kernel
from possibal.gp.means import ZERO, MeanFunction
from possibal.gp.posterior import Posterior, TrainingData, condition
from possibal.gp.prior import prior
from possibal.gp.rbf import BLOCK_WEIGHT, default_kernel
from possibal.numerics.distances import usual_distance

AMPLITUDE = 12.0
"""Prior variance of a latent: most rows have a clear label."""
COMMON = 0.3
"""What all rows have in common to a classifier, as a share of that: one class may be all around."""
LENGTH_SHARE = 0.7
"""The length-scale most credible before any label, as a share of the usual distance of rows."""
AMPLITUDE_SD, LENGTH_SD, NOISE_SD = 1.0, 0.5, 2.0
"""How far the logarithms of hyperparameters stray; that of a block's weight may be anything."""
MUTED = 0.1
"""Weight of a block that does not count, where others do."""
STAR_RADIUS = 1.25
"""How many standard deviations the settings of an envelope lie off the centre."""
LEAST_CREDIBLE = 1e-3
"""Settings less credible than this are left out of an envelope: they raise no doubt above it."""
MOST_NUMBERS = 5_000_000
"""Entries of the kernel matrices of settings that are fitted together."""
_CLOSE: Any = {"ftol": 1e-7, "gtol": 1e-3}
"""Evidence to a ten-thousandth of a nat: further digits move no prediction."""
_NONE = np.empty((0, 2))


@dataclass(frozen=True)
class DefaultKernel:
    """The default kernel, a constant times an RBF, without its length-scale.

    Paper: App. E, the RBF kernel of the experiments, which has nothing in common.

    Attributes:
        amplitude: prior variance, without what all rows have in common.
        common: what they have in common, as a share of the amplitude.
        blocks: how many columns each block has that is to have a weight of its own.
    """

    amplitude: float = AMPLITUDE
    common: float = 0.0
    blocks: tuple[int, ...] = ()

    def kernel(self, length: float) -> Kernel:
        """The kernel of a length-scale; either hyperparameter may stray by a factor of 1000.

        Paper: App. E, where nothing is in common.
        """
        ends = [(1e-3 * value, 1e3 * value) for value in (self.amplitude, length)]
        return default_kernel(self.amplitude, length, self.common, *ends, blocks=self.blocks)


_OWN = DefaultKernel()


@dataclass(frozen=True, eq=False)
class InferenceProblem:
    """An inference problem: kernels, data and a hyperprior.

    Attributes:
        kernels: one that all classes share, or one per class.
        data: what was seen; its weights are those of the rows alone.
        given: (p,), logarithms of the hyperparameters as the kernels have them.
        distance: the usual one of two rows.
        noisy: whether the last hyperparameter is the variance of a Gaussian error.
        mean: prior mean of the latents.
    """

    kernels: tuple[Kernel, ...]
    data: TrainingData
    given: Vector
    distance: float
    noisy: bool = False
    mean: MeanFunction = ZERO

    @functools.cached_property
    def hyperprior(self) -> "Hyperprior":
        """Possibility function of the hyperparameters before any label.

        Length-scales are centred at a share of the usual distance of two rows, which grows with the
        square root of the number of columns; all else at what is given.

        Paper: none; a Gaussian possibility function of Sec. 3.2.
        """
        length = np.log(LENGTH_SHARE * self.distance)
        names = [name for kernel in self.kernels for name in _free(kernel)]
        bounded = [kernel.bounds for kernel in self.kernels if len(kernel.theta)]
        low, high = np.concatenate(bounded or [_NONE]).T
        centre, sd = self.given.copy(), np.full(len(self.given), AMPLITUDE_SD)
        if self.noisy:
            names, sd[-1] = [*names, "noise"], NOISE_SD
            low, high = np.append(low, -np.inf), np.append(high, np.inf)
        scaled = np.array([name.endswith("length_scale") for name in names], dtype=bool)
        centre[scaled], sd[scaled] = length, LENGTH_SD
        weights = np.array([name.endswith(BLOCK_WEIGHT) for name in names], dtype=bool)
        sd[weights] = np.inf
        centre = np.clip(centre, low, high)
        low, high = np.maximum(low, centre - 6 * sd), np.minimum(high, centre + 6 * sd)
        counting = np.zeros((1, len(names)))
        if weights.any():  # all classes have the blocks of the first
            blocks = sum(name.endswith(BLOCK_WEIGHT) for name in _free(self.kernels[0]))
            told = np.tile(block_hypotheses(blocks), weights.sum() // blocks)
            counting = np.zeros((len(told), len(names)))
            counting[:, weights] = told - centre[weights]
        return Hyperprior(tuple(names), centre, sd, Bounds(low, high), counting)

    def part(self, rows: Places) -> "InferenceProblem":
        """The same fit to some of the rows."""
        data = self.data
        some = replace(data, X=data.X[rows], y=data.y[:, rows], weight=data.weight[:, rows])
        return replace(self, data=some)

    def at(self, thetas: Matrix, start: Array | None = None) -> Posterior:
        """The posterior of a batch of settings, with Newton's method started where `start` says.

        Paper: Props. 6 to 8.
        """
        return self.under(thetas, self.hyperprior.log(thetas), start)

    def under(
        self, thetas: Matrix, log_prior: Vector | None = None, start: Array | None = None
    ) -> Posterior:
        """The posterior of settings that are as credible as log_prior says, or all alike.

        Paper: Props. 6 to 8.
        """
        of_kernels = thetas[:, :-1] if self.noisy else thetas
        noise = np.exp(thetas[:, -1:]) if self.noisy else 1.0
        count = self.data.weight[0] if self.noisy else None
        data = replace(self.data, weight=self.data.weight / noise, own=self.noisy, count=count)
        return condition(prior(self.kernels, of_kernels, self.mean), data, log_prior, start=start)


@dataclass(frozen=True, eq=False)
class Hyperprior:
    """Hyperprior: Gaussian possibility functions of the logarithms of hyperparameters.

    Attributes:
        names: of the hyperparameters; those of one name are moved together.
        centre: (p,), the most credible ones; (R, p) for R problems, whose settings stand next to
            each other.
        sd: (p,), how far they stray; infinite where nothing is known.
        bounds: what the kernels allow, within six of those.
        alternatives: (A, p), moves off the centre that are each as credible as it; see
            :func:`block_hypotheses`.
    """

    names: tuple[str, ...]
    centre: Vector
    sd: Vector
    bounds: Bounds
    alternatives: Matrix

    @property
    def problems(self) -> int:
        """How many problems it is about."""
        return len(self.centre) if self.centre.ndim > 1 else 1

    def log(self, thetas: Matrix) -> Vector:
        """Log possibility of settings; zero at the centre.

        Paper: Sec. 3.2.
        """
        shape = self.problems, len(thetas) // self.problems, len(self.names)
        z = (thetas.reshape(shape) - self.centre.reshape(self.problems, 1, -1)) / self.sd
        return -0.5 * (z * z).sum(axis=-1).ravel()

    def settings(self) -> Matrix:
        """Star design over the hyperprior: the centre, and each name moved to either side.

        Length-scales of several columns or classes have one name. Every alternative has a star of
        its own, of those names that stray by a known width. None leaves the bounds.

        Paper: none.
        """
        p, sd = len(self.names), np.where(np.isfinite(self.sd), self.sd, 0.0)
        each = dict.fromkeys(name for name, width in zip(self.names, sd, strict=True) if width)
        moves = np.array([[own == name for own in self.names] for name in each], dtype=float)
        z = STAR_RADIUS * moves.reshape(len(each), p)
        star = np.concatenate([np.zeros((1, p)), z, -z]) * sd
        moved = (self.alternatives[:, None] + star).reshape(len(self.alternatives) * len(star), p)
        shape = self.problems, 1, p
        low, high = self.bounds.lb.reshape(shape), self.bounds.ub.reshape(shape)
        inside = np.clip(self.centre.reshape(shape) + moved, low, high)
        rows = list(map(tuple, inside[0]))
        once = [place for place, row in enumerate(rows) if rows.index(row) == place]
        return inside[:, once].reshape(self.problems * len(once), p)


def block_hypotheses(blocks: int) -> Matrix:
    """Logarithms of the weights of blocks, (H, blocks): which of them count is not known.

    All count alike, only one does, or all but one do; those that do not are muted. The squares of
    the others have the same sum, so that the usual distance of two rows stays.

    Paper: none; Sec. 3.3 with what counts as the unknown.
    """
    one, both = np.eye(blocks, dtype=bool), 2
    counts = np.concatenate([np.ones_like(one[:1]), one, ~one if blocks > both else one[:0]])
    share = np.sqrt(blocks / counts.sum(axis=1, keepdims=True))
    return np.log(np.where(counts, share, MUTED))


HyperparameterInference = Callable[[InferenceProblem], Posterior]
"""An inference of hyperparameters."""


def fixed(problem: InferenceProblem) -> Posterior:
    """The posterior under the hyperparameters as they are given.

    Paper: App. E.3, hyperparameters fixed for the duration of an experiment.
    """
    return problem.under(problem.given[None])


def evidence(problem: InferenceProblem) -> Posterior:
    """The posterior under the setting of largest evidence times hyperprior (type II MAP).

    L-BFGS-B starts from the centre and from the best setting of the envelope.

    Paper: none; GPML Sec. 5.5, with priors: without them few labels lead to extremes.
    """
    if not len(problem.given):
        return fixed(problem)
    height = -np.inf
    best, near = problem.hyperprior.centre, np.empty(0)
    for thetas, posterior in _in_chunks(problem):
        heights = posterior.log_evidence + posterior.log_prior
        if heights.max() > height:
            top = int(heights.argmax())
            best, near, height = thetas[top], posterior.mode.a[[top]], heights[top]
    return _highest(problem, np.unique(np.vstack([problem.hyperprior.centre, best]), axis=0), near)


def _highest(problem: InferenceProblem, starts: Matrix, near: Array) -> Posterior:
    """The best posterior that L-BFGS-B finds from some settings.

    Newton's method always starts from one point, so that the objective is a function.
    """
    belief = problem.hyperprior

    def downhill(theta: Vector) -> tuple[float, Vector]:
        posterior = problem.at(theta[None], near)
        slopes = posterior.evidence_slopes()
        if problem.noisy:
            slopes = np.column_stack([slopes, posterior.noise_slopes()])
        height = float(posterior.log_evidence[0] + posterior.log_prior[0])
        return -height, (theta - belief.centre) / belief.sd**2 - slopes[0]

    found = [
        minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=belief.bounds, options=_CLOSE)
        for start in starts
    ]
    lowest = int(np.argmin([float(result.fun) for result in found]))
    return problem.at(np.asarray(found[lowest].x)[None])


def envelope(problem: InferenceProblem) -> Posterior:
    """The posterior under every credible setting: an envelope in place of an average.

    Paper: none; Sec. 3.3 with the hyperparameters as the unknown: what is not known is maximised
    over, not averaged.
    """
    chunks = _in_chunks(problem)
    _, kept = next(chunks)
    for _, posterior in chunks:
        kept = _credible(Posterior.joined([kept, posterior]))
    return _credible(kept)


def _in_chunks(problem: InferenceProblem) -> Iterator[tuple[Matrix, Posterior]]:
    """Settings and their posteriors, as many at once as memory allows."""
    settings, n = problem.hyperprior.settings(), len(problem.data)
    together = max(1, MOST_NUMBERS // max(problem.data.y.shape[0] * n * n, 1))
    for start in range(0, len(settings), together):
        some = settings[start : start + together]
        yield some, problem.at(some)


def _credible(posterior: Posterior) -> Posterior:
    """The settings that are still credible."""
    return posterior.part(np.flatnonzero(posterior.credibility >= LEAST_CREDIBLE))


INFERENCES: dict[str, HyperparameterInference] = {
    "envelope": envelope,
    "evidence": evidence,
    "fixed": fixed,
}


def problem(  # noqa: PLR0913 - all but kernels and data are named
    kernels: tuple[Kernel, ...] | None,
    data: TrainingData,
    *,
    distance: float | None = None,
    own: DefaultKernel = _OWN,
    noise: float | None = None,
    mean: MeanFunction = ZERO,
) -> InferenceProblem:
    """The inference problem of kernels and data.

    Args:
        kernels: None means the default, a constant times an RBF.
        data: what was seen.
        distance: the usual one of two rows; None means that of the training rows.
        own: the default kernel.
        noise: variance of a Gaussian error; None where there is none.
        mean: prior mean of the latents.
    """
    usual = usual_distance(data.X) if distance is None else distance
    if kernels is None:
        kernels = (own.kernel(LENGTH_SHARE * usual),)
    given = np.concatenate([kernel.theta for kernel in kernels])
    if noise is not None:
        given = np.append(given, np.log(noise))
    return InferenceProblem(kernels, data, given, usual, noise is not None, mean)


def default_hyperprior(distance: float | Vector) -> Hyperprior:
    """The hyperprior of the default kernel, a constant times an RBF.

    Paper: none; it is what :attr:`InferenceProblem.hyperprior` finds for that kernel.

    Args:
        distance: the usual one of two rows; (R,) for R problems.
    """
    length = np.log(LENGTH_SHARE * np.asarray(distance, dtype=float))
    centre = np.stack([np.full_like(length, np.log(AMPLITUDE)), length], axis=-1)
    sd = np.array([AMPLITUDE_SD, LENGTH_SD])
    names = ("k1__constant_value", "k2__length_scale")
    bounds = Bounds(centre - 6 * sd, centre + 6 * sd)
    return Hyperprior(names, centre, sd, bounds, np.zeros((1, 2)))


def _free(kernel: Kernel) -> list[str]:
    """The name of each free hyperparameter, in the order of theta."""
    return [h.name for h in kernel.hyperparameters for _ in range(h.n_elements) if not h.fixed]
