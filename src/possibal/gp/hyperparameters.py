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
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.gp.feature_maps import NO_FEATURES, FeatureMap
from possibal.gp.kernels import Kernel
from possibal.gp.label_regression import label_regression_evidence
from possibal.gp.means import ZERO, MeanFunction
from possibal.gp.posterior import TEMPERING, Posterior, TrainingData, condition
from possibal.gp.prior import Prior, prior
from possibal.gp.rbf import BLOCK_WEIGHT, NO_LEVEL, Level, default_kernel, is_spherical
from possibal.numerics.distances import RIGHT_ANGLE, usual_distance
from possibal.numerics.linalg import one_thread

AMPLITUDE = 12.0
"""Prior variance of a latent: most rows have a clear label."""
COMMON = Level(0.3)
"""What all rows have in common to a classifier, as a share of that: one class may be all around."""
COMMON_DIRECTIONS = Level(0.03, is_spherical=True)
"""The same where rows are compared by direction; see docs/embeddings.md."""
LENGTH_SHARE = 0.7
"""The length-scale most credible before any label, as a share of the usual distance of rows."""
AMPLITUDE_SD, LENGTH_SD, NOISE_SD = 1.0, 0.5, 2.0
"""How far the logarithms of hyperparameters stray; that of a block's weight may be anything."""
REACH = 6.0
"""How many of these are looked at to either side of the centre."""
NOISE_REACH = REACH * NOISE_SD
"""How far the logarithm of a noise variance is followed."""
MUTED = 0.1
"""Weight of a block that does not count, where others do."""
STAR_RADIUS = 1.25
"""How many standard deviations the settings of an envelope lie off the centre."""
LENGTH_TAIL = STAR_RADIUS
"""Beyond so many standard deviations the possibility of a length-scale falls exponentially, and not
like a Gaussian (Huber's function): the usual distance is a rule of thumb."""
NEAR, FAR = np.array([0.4, 0.7, 1.25]), np.array([0.05, 0.08, 0.125, 0.2, 2.0])
"""Ladder of length-scales, as shares of the usual distance: within the star, and beyond it."""
FEWEST_SCREENED, MOST_SCREENED = 10, 400
"""Labels that the ladder is climbed with: fewer say too little of a length-scale."""
LEAST_CREDIBLE = 1e-3
"""Settings less credible than this are left out of an envelope: they raise no doubt above it."""
NEARLY, APART = 3.0, 2.5
"""A search also starts where evidence is less by so many nats, so many standard deviations off."""
MOST_NUMBERS = 5_000_000
"""Entries of the kernel matrices of settings that are fitted together."""
_CLOSE: Any = {"ftol": 1e-7, "gtol": 1e-3}
"""Evidence to a ten-thousandth of a nat: further digits move no prediction."""
_AT_BOUND = 1e-3
"""A logarithm this close to its bound is at it."""
_NONE = np.empty((0, 2))


@dataclass(frozen=True)
class DefaultKernel:
    """The default kernel, a constant times an RBF, without its length-scale.

    Paper: App. E, the RBF kernel of the experiments, which has nothing in common.

    Attributes:
        amplitude: prior variance, without what all rows have in common.
        level: what they have in common.
        blocks: how many columns each block has that is to have a weight of its own.
        features: what is added to the RBF.
    """

    amplitude: float = AMPLITUDE
    level: Level = NO_LEVEL
    blocks: tuple[int, ...] = ()
    features: FeatureMap = NO_FEATURES

    def kernel(self, length: float) -> Kernel:
        """The kernel of a length-scale; either hyperparameter may stray by a factor of 1000.

        Paper: App. E, where nothing is in common.
        """
        ends = [(1e-3 * value, 1e3 * value) for value in (self.amplitude, length)]
        return default_kernel(
            self.amplitude, length, self.level, *ends, blocks=self.blocks, features=self.features
        )


_OWN = DefaultKernel()


@dataclass(frozen=True, eq=False)
class InferenceProblem:
    """An inference problem: kernels, data and a hyperprior.

    Attributes:
        kernels: one that all classes share, or one per class.
        data: what was seen; its weights are those of the rows alone.
        given: (p,), logarithms of the hyperparameters as the kernels have them.
        usual: the usual distance of two rows; None means that of the training rows.
        noisy: whether the last hyperparameter is the variance of a Gaussian error.
        mean: prior mean of the latents.
    """

    kernels: tuple[Kernel, ...]
    data: TrainingData
    given: Vector
    usual: float | None
    noisy: bool = False
    mean: MeanFunction = ZERO

    @functools.cached_property
    def distance(self) -> float:
        """The usual distance of two rows, computed when first read.

        Paper: none.
        """
        return usual_distance(self.data.X) if self.usual is None else self.usual

    @functools.cached_property
    def hyperprior(self) -> "Hyperprior":
        """Possibility function of the hyperparameters before any label.

        Length-scales are centred at a share of the usual distance of two rows, which grows with the
        square root of the number of columns; several keep the ratios that are given. All else is
        centred at what is given.

        Paper: none; a Gaussian possibility function of Sec. 3.2.
        """
        names = [name for kernel in self.kernels for name in _free(kernel)]
        bounded = [kernel.bounds for kernel in self.kernels if len(kernel.theta)]
        low, high = np.concatenate(bounded or [_NONE]).T
        centre, sd = self.given.copy(), np.full(len(self.given), AMPLITUDE_SD)
        if self.noisy:
            names, sd[-1] = [*names, "noise"], NOISE_SD
            low, high = np.append(low, -np.inf), np.append(high, np.inf)
        scaled = np.array([name.endswith("length_scale") for name in names], dtype=bool)
        if scaled.any():  # the ratios of several are the user's
            centre[scaled] += np.log(LENGTH_SHARE * self.distance) - centre[scaled].mean()
            sd[scaled] = LENGTH_SD
        weights = np.array([name.endswith(BLOCK_WEIGHT) for name in names], dtype=bool)
        sd[weights] = np.inf
        centre = np.clip(centre, low, high)
        low, high = np.maximum(low, centre - REACH * sd), np.minimum(high, centre + REACH * sd)
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
        noise = np.exp(thetas[:, -1:]) if self.noisy else 1.0
        count = self.data.weight[0] if self.noisy else None
        data = replace(self.data, weight=self.data.weight / noise, own=self.noisy, count=count)
        return condition(self.prior(thetas), data, log_prior, start=start)

    def prior(self, thetas: Matrix) -> Prior:
        """The prior of a batch of settings.

        Paper: Sec. 5.2.
        """
        return prior(self.kernels, thetas[:, :-1] if self.noisy else thetas, self.mean)


@dataclass(frozen=True, eq=False)
class Hyperprior:
    """Hyperprior: possibility functions of the logarithms of hyperparameters.

    They are Gaussian, with longer tails for length-scales (:data:`LENGTH_TAIL`). Several of one
    name are believed alike: their mean strays as one does, and each strays from their mean.

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
        return self.log_at(z).ravel()

    def log_at(self, z: Array) -> Array:
        """Log possibility of settings z standard deviations off the centre, (..., p) -> (...).

        Paper: Sec. 3.2.
        """
        mean, off = self._mean_and_rest(z)
        return (self._log_each(mean) / self._sizes + self._log_each(off)).sum(axis=-1)

    def slopes_at(self, z: Array) -> Array:
        """Derivatives of :meth:`log_at` by z, (..., p).

        Paper: Sec. 3.2.
        """
        mean, off = self._mean_and_rest(z)
        of_rest = self._slope_each(off)
        together = self._slope_each(mean) / self._sizes
        return together + of_rest - of_rest @ self._together

    @functools.cached_property
    def _together(self) -> Matrix:
        """What takes the mean over hyperparameters of one name, (p, p)."""
        alike = np.array([[own == name for own in self.names] for name in self.names], dtype=float)
        alike = alike.reshape(len(self.names), len(self.names))
        return alike / np.maximum(alike.sum(axis=0), 1.0)

    @functools.cached_property
    def _sizes(self) -> Vector:
        """How many have the name of each, (p,)."""
        return np.array([float(self.names.count(name)) for name in self.names])

    @functools.cached_property
    def is_length(self) -> NDArray[np.bool_]:
        """Which hyperparameters are length-scales, (p,)."""
        return np.array([name.endswith("length_scale") for name in self.names], dtype=bool)

    def _mean_and_rest(self, z: Array) -> tuple[Array, Array]:
        """The mean of those of one name, and what each has beside it."""
        if len(set(self.names)) == len(self.names):
            return z, np.zeros_like(z)
        mean = z @ self._together
        return mean, z - mean

    def _log_each(self, z: Array) -> Array:
        """Log possibility of each hyperparameter by itself."""
        near = np.where(self.is_length, np.clip(z, -LENGTH_TAIL, LENGTH_TAIL), z)
        return near * (0.5 * near - z)

    def _slope_each(self, z: Array) -> Array:
        """Derivative of that by z."""
        return -np.where(self.is_length, np.clip(z, -LENGTH_TAIL, LENGTH_TAIL), z)

    def ladder(self, shares: Vector) -> Matrix:
        """The centre with all length-scales moved together, (problems * len(shares), p).

        None leaves the bounds. Without a length-scale all are the centre.

        Paper: none.

        Args:
            shares: of the usual distance.
        """
        rungs = np.log(np.asarray(shares) / LENGTH_SHARE)[:, None] * self.is_length
        shape = self.problems, 1, len(self.names)
        moved = self.centre.reshape(shape) + rungs
        low, high = self.bounds.lb.reshape(shape), self.bounds.ub.reshape(shape)
        return np.clip(moved, low, high).reshape(self.problems * len(rungs), len(self.names))

    def is_beyond(self, thetas: Matrix) -> NDArray[np.bool_]:
        """Whether each setting is further off the centre than the star reaches, (S,).

        Paper: none.
        """
        shape = self.problems, len(thetas) // self.problems, len(self.names)
        off = np.abs(thetas.reshape(shape) - self.centre.reshape(self.problems, 1, -1))
        return (off > 1.01 * STAR_RADIUS * self.sd).any(axis=-1).ravel()

    def settings(self, centre: Array | None = None) -> Matrix:
        """Star design over the hyperprior: the centre, and each name moved to either side.

        Length-scales of several columns or classes have one name. Every alternative has a star of
        its own, of those names that stray by a known width. None leaves the bounds.

        Paper: none.

        Args:
            centre: of the star, shaped like that of the hyperprior, which is meant if left out.
        """
        p, sd = len(self.names), np.where(np.isfinite(self.sd), self.sd, 0.0)
        each = dict.fromkeys(name for name, width in zip(self.names, sd, strict=True) if width)
        moves = np.array([[own == name for own in self.names] for name in each], dtype=float)
        z = STAR_RADIUS * moves.reshape(len(each), p)
        star = np.concatenate([np.zeros((1, p)), z, -z]) * sd
        moved = (self.alternatives[:, None] + star).reshape(len(self.alternatives) * len(star), p)
        shape = self.problems, 1, p
        low, high = self.bounds.lb.reshape(shape), self.bounds.ub.reshape(shape)
        middle = (self.centre if centre is None else centre).reshape(shape)
        inside = np.clip(middle + moved, low, high)
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

    L-BFGS-B starts from the best of the envelope, of a ladder of length-scales and of what is
    given; and because the evidence may have several peaks, from others that are nearly as good and
    far from there.

    Paper: none; GPML Sec. 5.5, with priors: without them few labels lead to extremes.
    """
    if not len(problem.given):
        return fixed(problem)
    belief, height, near = problem.hyperprior, -np.inf, np.empty(0)
    given = np.clip(problem.given, belief.bounds.lb, belief.bounds.ub)
    settings = np.vstack([belief.settings(), belief.ladder(np.append(NEAR, FAR)), given])
    heights = np.empty(0)
    for _, posterior in _in_chunks(problem, settings):
        heights = np.append(heights, posterior.heights())
        if heights.max() > height:
            near, height = posterior.mode.a[[posterior.heights().argmax()]], heights.max()
    return _highest(problem, _peaks(belief, settings, heights), near)


def _peaks(belief: Hyperprior, settings: Matrix, heights: Vector) -> Matrix:
    """The highest setting, and those nearly as high that are far from higher ones."""
    starts = list[Vector]()
    for place in np.argsort(-heights, kind="stable"):
        is_far = [
            float((np.abs(settings[place] - other) / belief.sd).max()) > APART for other in starts
        ]
        if heights[place] >= heights.max() - NEARLY and all(is_far):
            starts.append(settings[place])
    return np.array(starts)


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
        of_prior = belief.slopes_at((theta - belief.centre) / belief.sd) / belief.sd
        return -height, -of_prior - slopes[0]

    found = [
        minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=belief.bounds, options=_CLOSE)
        for start in starts
    ]
    lowest = int(np.argmin([float(result.fun) for result in found]))
    return problem.at(np.asarray(found[lowest].x)[None])


def envelope(problem: InferenceProblem) -> Posterior:
    """The posterior under every credible setting: an envelope in place of an average.

    It is laid around the centre of the hyperprior; and where a length-scale far from there explains
    the labels better, around that one too.

    Paper: none; Sec. 3.3 with the hyperparameters as the unknown: what is not known is maximised
    over, not averaged.
    """
    kept = _of_credible(problem, problem.hyperprior.settings())
    far = promising(problem)
    if len(far):
        heights = np.concatenate(
            [posterior.heights(TEMPERING) for _, posterior in _in_chunks(problem, far)]
        )
        star = problem.hyperprior.settings(far[heights.argmax()])
        around = _of_credible(problem, star[problem.hyperprior.is_beyond(star)])
        if around.heights(TEMPERING).max() > kept.heights(TEMPERING).max():
            kept = _credible(Posterior.joined([kept, around]))
    return kept


def promising(problem: InferenceProblem) -> Matrix:
    """Settings beyond the star that seem to explain the labels better than those within.

    What is given is looked at beside the ladder of length-scales. Labels are read as numbers, which
    is cheap and close; a random sample of many is enough.

    Paper: none; see :mod:`possibal.gp.label_regression`.
    """
    belief, n, near = problem.hyperprior, len(problem.data), len(NEAR)
    given = np.clip(problem.given, belief.bounds.lb, belief.bounds.ub)
    settings = belief.ladder(np.append(NEAR, FAR))
    if belief.is_beyond(given[None])[0]:
        settings = np.vstack([settings, given])
    if n < FEWEST_SCREENED or (settings == settings[0]).all():
        return settings[:0]
    data = problem.data
    if n > MOST_SCREENED:
        some = np.sort(np.random.default_rng(0).permutation(n)[:MOST_SCREENED])
        data = problem.part(some).data
    with one_thread():
        K = problem.prior(settings).gram(data.X)
        heights = label_regression_evidence(K, data.y[None], data.weight)
    score = TEMPERING * heights + belief.log(settings)
    return settings[near:][score[near:] > score[:near].max()]


def _of_credible(problem: InferenceProblem, settings: Matrix) -> Posterior:
    """The posterior under those of some settings that are credible."""
    chunks = _in_chunks(problem, settings)
    _, kept = next(chunks)
    for _, posterior in chunks:
        kept = _credible(Posterior.joined([kept, posterior]))
    return _credible(kept)


def _in_chunks(problem: InferenceProblem, settings: Matrix) -> Iterator[tuple[Matrix, Posterior]]:
    """Settings and their posteriors, as many at once as memory allows."""
    n = len(problem.data)
    together = max(1, MOST_NUMBERS // max(problem.data.y.shape[0] * n * n, 1))
    for start in range(0, len(settings), together):
        some = settings[start : start + together]
        yield some, problem.at(some)


def _credible(posterior: Posterior) -> Posterior:
    """The settings that are still credible."""
    return posterior.part(np.flatnonzero(posterior.credibility >= LEAST_CREDIBLE))


def bounds_reached(posterior: Posterior) -> list[str]:
    """What the most credible setting has at a bound of its kernels, beyond which was not looked.

    Paper: none.
    """
    reached = list[str]()
    for kernel in posterior.leading.prior.settings()[0]:
        ends = kernel.bounds if len(kernel.theta) else _NONE
        for name, value, (low, high) in zip(_free(kernel), kernel.theta, ends, strict=True):
            if low < high and min(value - low, high - value) < _AT_BOUND:
                side, end = ("lower", low) if value - low < high - value else ("upper", high)
                reached.append(f"{name} at its {side} bound, {np.exp(end):.3g}")
    return reached


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
    usual = distance
    if own.level.is_spherical if kernels is None else is_spherical(kernels[0]):
        usual = RIGHT_ANGLE
    if kernels is None:
        usual = usual_distance(data.X) if usual is None else usual
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
    bounds = Bounds(centre - REACH * sd, centre + REACH * sd)
    return Hyperprior(names, centre, sd, bounds, np.zeros((1, 2)))


def _free(kernel: Kernel) -> list[str]:
    """The name of each free hyperparameter, in the order of theta."""
    return [h.name for h in kernel.hyperparameters for _ in range(h.n_elements) if not h.fixed]
