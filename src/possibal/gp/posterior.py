"""Posterior Gaussian processes: conditioning on labels, evidence, covariances, draws.

    condition(prior, data) -> Posterior        posterior.at(X) -> Belief

The prior may be a batch of settings of the hyperparameters; each becomes a hypothesis of the
belief, as credible as its tempered evidence says.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import Belief
from possibal.gp.curvature import Observations, SoftmaxCurvature, curvature
from possibal.gp.laplace import Mode, find_mode, sensitivity
from possibal.gp.likelihoods import Identity, Link, Softmax, expected_weight
from possibal.gp.prediction import Predictor
from possibal.gp.prior import Prior
from possibal.gp.weight_space import in_weight_space
from possibal.numerics.batched import Batched
from possibal.numerics.linalg import drawing_root, one_thread

TEMPERING = 0.5
"""Tempering exponent of the marginal likelihood of a setting (power posterior)."""
_JOINT_ROWS = 500
"""Rows whose covariances between classes are computed together."""

AnyLink: TypeAlias = Link | Softmax


@dataclass(frozen=True, eq=False)
class TrainingData(Batched):
    """Training data: rows, labels and weights.

    Attributes:
        X: (n, d).
        y: (P, n): labels -1 and 1 or numbers, P = 1; one-hot under a softmax, P = C.
        weight: (1 or S, n), how many times each row counts; for numbers one over their variance.
        link: how latents make labels random.
        own: whether each setting has weights of its own, even if there is but one.
        count: (n,), how many numbers alike each row stands for; None means one.
    """

    X: Matrix
    y: Matrix
    weight: Matrix
    link: AnyLink
    own: bool = False
    count: Vector | None = None

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.X)

    def stacked(self) -> dict[str, Any]:
        """The weights, where each setting has its own."""
        return {"weight": self.weight} if self.own or len(self.weight) > 1 else {}

    @property
    def once(self) -> Matrix:
        """The weight of one more row that counts once, (1 or S, 1).

        Paper: none; for numbers one over the variance of the error of the last row.
        """
        once = np.ones((len(self.weight), 1))
        if isinstance(self.link, Identity) and len(self):
            once = once * self.weight[:, -1:] / (1.0 if self.count is None else self.count[-1])
        return once

    def observations(self, prior: Prior) -> Observations:
        """Labels, weights and prior means, as Newton's method reads them."""
        mean = None if prior.mean.is_zero else prior.mean.at(self.X)[None]
        return Observations(self.y[None], self.weight[:, None], prior.name, mean)

    def followed_by(self, other: "TrainingData") -> "TrainingData":
        """These rows and others."""
        return TrainingData(
            np.concatenate([self.X, other.X]),
            np.concatenate([self.y, other.y], axis=1),
            np.concatenate([self.weight, other.weight], axis=1),
            self.link,
            self.own,
            None if self.count is None else np.append(self.count, np.ones(len(other))),
        )


@dataclass(frozen=True, eq=False)
class Conditioned(Batched):
    """Latents of training rows conditioned on their labels, one Laplace approximation a member.

    Paper: Props. 6, 7 and 8.

    Attributes:
        log_prior: (S,), log possibility of each setting of the hyperparameters before any label.
        K: prior covariances of the training rows, (S, P, n, n).
        mode: where their latents are most credible.
    """

    log_prior: Vector
    K: Array
    mode: Mode

    @property
    def log_evidence(self) -> Vector:
        """Log marginal likelihood of each member, (S,).

        Paper: none; GPML Eq. 3.32 and 3.44.
        """
        return self.mode.log_evidence

    @property
    def log_possibilistic_evidence(self) -> Vector:
        """Log of the largest joint credibility of labels and latents, (S,).

        Paper: App. C.1, f(Y | X) = sup p(Y | X, g) f(g | X).
        """
        return self.mode.log_peak

    def heights(self, tempering: float = 1.0) -> Array:
        """Log possibility of each setting up to a constant: tempered evidence times prior, (S,).

        Paper: none; Sec. 3.3 with the hyperparameters as the unknown.
        """
        return tempering * self.log_evidence + self.log_prior

    def credibilities(self, problems: int) -> Matrix:
        """Posterior possibility of the settings of each problem, (problems, settings).

        Prior times tempered evidence, scaled so that the largest of each problem is one: labels
        that were asked for because they are doubtful are no fair sample, and few of them speak
        too loudly (docs/hyperparameters.md).

        Paper: none; Sec. 3.3 with the hyperparameters as the unknown.

        Args:
            problems: how many there are; the members of one stand next to each other.
        """
        score = self.heights(TEMPERING).reshape(problems, -1)
        return np.exp(score - score.max(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Posterior(Conditioned):
    """Posterior Gaussian processes, one for each setting of the hyperparameters.

    Paper: Props. 6, 7 and 8.

    Attributes:
        prior: S settings.
        data: what was seen.
    """

    prior: Prior
    data: TrainingData

    def __getstate__(self) -> dict[str, Any]:
        """What was learnt, for a pickle: matrices between training rows are worked out again."""
        mode = {f.name: getattr(self.mode, f.name) for f in fields(Mode) if f.name != "curvature"}
        return {"log_prior": self.log_prior, "prior": self.prior, "data": self.data, "mode": mode}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Work out covariances and factors as :func:`condition` did, to the same bits."""
        prior, data, mode = state["prior"], state["data"], state["mode"]
        with one_thread():
            K = prior.gram(data.X)
            there = curvature(data.link, data.observations(prior), mode["g"], K)
        # It is frozen, so that its attributes can be set through its dictionary alone.
        vars(self).update(state, K=K, mode=Mode(curvature=there, **mode))

    @property
    def log_evidence(self) -> Vector:
        """Log marginal likelihood of each setting, (S,).

        k numbers alike with errors of variance s2 are one with an error of variance s2 / k, up to
        a factor that depends on s2.

        Paper: none; GPML Eq. 3.32 and 3.44, exact for numbers.
        """
        if self.data.count is None:
            return self.mode.log_evidence
        k = self.data.count
        each = (k - 1.0) * np.log(2.0 * np.pi * k / self.data.weight) + np.log(k)
        return self.mode.log_evidence - 0.5 * each.sum(axis=1)

    @property
    def credibility(self) -> Vector:
        """Posterior possibility of each setting, (S,); see :meth:`credibilities`.

        Paper: none; Sec. 3.3 with the hyperparameters as the unknown.
        """
        return self.credibilities(1)[0]

    @property
    def leading(self) -> "Posterior":
        """The posterior under the most credible setting alone."""
        return self if len(self.prior) == 1 else self.part(np.array([self.credibility.argmax()]))

    def update(self, x: Matrix, y: Matrix, weight: Matrix | None = None) -> "Posterior":
        """The posterior with one more label, or a few; Newton's method starts from this one.

        Paper: Props. 6 to 8 for the longer data.

        Args:
            x: (k, d).
            y: (P, k), as in :class:`TrainingData`.
            weight: (1 or S, k); if left out one, or for numbers that of a row that counts once.
        """
        once = np.repeat(self.data.once, len(x), axis=1)
        more = TrainingData(x, y, once if weight is None else weight, self.data.link)
        data = self.data.followed_by(more)
        start = np.pad(self.mode.a, [(0, 0), (0, 0), (0, len(x))])
        return condition(self.prior, data, self.log_prior, start=start)

    @functools.cached_property
    def predictor(self) -> Predictor:
        """The predictor: all that other rows need of this posterior."""
        information, link = self.mode.curvature, self.data.link
        inner = None
        with one_thread():
            if isinstance(information, SoftmaxCurvature):
                inner = information.E - np.swapaxes(self._coupling, 2, 3) @ self._coupling
            facing, root = self.prior.cross_covariance(self.data.X), information.root()
        mean = self.prior.mean
        return Predictor(facing, self.mode.a, root, inner, link.scale, self.credibility, mean)

    @functools.cached_property
    def marginals(self) -> Predictor:
        """The cheapest predictor of the moments of rows, each by itself.

        It is :attr:`predictor`, or for linear functions of few columns the same by weights.
        """
        return in_weight_space(self.predictor)

    def moments(self, X: Matrix) -> tuple[Array, Array]:
        """Latent means and variances of rows, (S, P, m) each.

        Paper: Props. 6 to 8, mu_t and the diagonal of Sigma_t.
        """
        return self.marginals.moments(X)

    def at(self, X: Matrix) -> Belief:
        """The belief about rows: one hypothesis for each setting.

        A logistic latent is put on the probit's scale, which the scores read.

        Paper: Props. 6 to 8, N(g_t; mu_t, Sigma_t) at each row by itself.
        """
        return self.marginals.at(X)

    def probability(self, X: Matrix) -> Matrix:
        """The most credible probability of each label, (m, C), averaged over the settings.

        Paper: App. B.3, E*(pi(g_t)) is the softmax, or the sigmoid, of the mode.
        """
        return self.averaged_probability(self.moments(X)[0])

    def probability_of(self, belief: Belief) -> Matrix:
        """What :meth:`probability` is for the rows of a belief of this posterior.

        Paper: App. B.3 at each setting.
        """
        mean = belief.mean / self.scale
        mean = mean[:, None] if belief.is_binary else np.swapaxes(mean, 1, 2)
        return self.averaged_probability(mean)

    def averaged_probability(self, latents: Array) -> Matrix:
        """Probability of each label at latents (S, P, m), averaged over the settings, (m, C).

        Paper: App. B.3 at each setting; Sec. 3.3 with the hyperparameters as the unknown.
        """
        weight = self.credibility / self.credibility.sum()
        average = np.tensordot(weight, self.data.link.probability(latents), axes=1)
        if not isinstance(self.data.link, Softmax):
            average = np.stack([1.0 - average[0], average[0]])
        return average.T

    @property
    def sizes(self) -> tuple[int, int]:
        """How many settings and processes there are, S and P.

        Paper: Prop. 8, one process for each label.
        """
        S, P, _ = self.mode.a.shape
        return S, P

    def belief_from(self, mean: Array, variance: Array) -> Belief:
        """What :meth:`at` is for rows whose moments are known.

        Paper: Sec. 4.2.
        """
        return Belief(*self.predictor.read(mean, variance), self.predictor.credibility)

    def expected_weight(self, g: Array) -> Array:
        """The curvature W that one more label is expected to have at latents g (S, P, m).

        Paper: App. C.1 and C.2, W.
        """
        return expected_weight(self.data.link, g, self.data.once[:, None])

    @property
    def scale(self) -> float:
        """What turns latents into those of a probit, which a belief has.

        Paper: Sec. 4.2, the scale of the probit.
        """
        return self.data.link.scale

    @property
    def tempering(self) -> float:
        """Tempering exponent of the evidence; see :data:`TEMPERING`.

        Paper: none.
        """
        return TEMPERING

    @property
    def training_rows(self) -> Matrix:
        """The rows that have labels, (n, d).

        Paper: Props. 7 and 8, x_1 to x_t.
        """
        return self.data.X

    def coordinates(self, X: Matrix) -> Matrix:
        """Rows in the geometry of the prior, in which they are near if they are alike.

        Paper: none.
        """
        return self.prior.coordinates(X)

    @property
    def n_labels(self) -> int:
        """How many rows have labels.

        Paper: Props. 7 and 8, t.
        """
        return len(self.data)

    def covariance(self, X: Matrix, variance: Array | None = None) -> Array:
        """Covariances between the latents of each row, (S, m, P, P).

        Paper: Prop. 8, the blocks of Sigma_t; GPML Alg. 3.4, lines 8 to 12.

        Args:
            X: (m, d).
            variance: (S, P, m), their latent variances, where they were computed before.
        """
        if variance is None:
            _, variance = self.moments(X)
        S, P, m = variance.shape
        covariance = np.zeros((S, m, P, P))
        if isinstance(self.mode.curvature, SoftmaxCurvature):
            for start in range(0, m, _JOINT_ROWS):
                part = slice(start, start + _JOINT_ROWS)
                coupled = self._coupled(X[part])
                with one_thread():
                    blocks = coupled.transpose(0, 2, 1, 3) @ coupled.transpose(0, 2, 3, 1)
                covariance[:, part] = blocks
        for p in range(P):
            covariance[:, :, p, p] = variance[:, p]
        return covariance

    def between(self, X: Matrix, Z: Matrix) -> Array:
        """Covariances between all latents of rows and all of others, (S, m, k, P, P).

        The last axis is that of the latents of X.

        Paper: Prop. 8, all blocks of Sigma_t between two sets of rows.
        """
        cross = self.cross(X, Z)
        if not isinstance(self.mode.curvature, SoftmaxCurvature):
            return cross[:, 0, :, :, None, None]
        blocks = np.einsum("sqmn,spkn->smkpq", self._coupled(X), self._coupled(Z), optimize=True)
        for p in range(cross.shape[1]):
            blocks[..., p, p] = cross[:, p]
        return blocks

    def cross(self, X: Matrix, Z: Matrix) -> Array:
        """Covariances between the latents of rows and those of others, (S, P, m, k).

        Each process by itself: what a softmax puts between classes is left out.

        Paper: Props. 6 to 8, Sigma_t between two sets of rows; under a softmax its l-th block.

        Args:
            X: (m, d).
            Z: (k, d).
        """
        covariance = np.empty((*self.mode.a.shape[:2], len(X), len(Z)))
        with one_thread():
            for column in self.prior.cross_covariance(Z).columns(X):
                covariance[column.member, column.processes] = column.scale * column.matrix
        weights = np.empty((*covariance.shape[:2], len(self.data), len(Z)))
        for part, column in self.predictor.columns(Z):
            K_t = column.scale * column.matrix
            for p in range(weights.shape[1])[column.processes]:
                weights[column.member, p, :, part] = self._weights(column.member, p, K_t.T)
        for part, column in self.predictor.columns(X):
            place = column.member, column.processes
            covariance[*place, part] -= column.scale * (column.matrix @ weights[place])
        return covariance

    def draw(self, X: Matrix, members: Places, rng: np.random.Generator) -> Array:
        """Joint draws of the latents of rows from a Gaussian with the posterior's moments.

        Under a softmax the latents of a class are those of a regression with weights D, plus the
        coupling, which is the same draw for every class.

        Paper: none; the probabilistic reading of Props. 7 and 8.

        Args:
            X: (m, d); the work grows with m^3.
            members: which setting each draw is from.
            rng: where the draws come from.

        Returns:
            (number of draws, P, m).
        """
        mean, _ = self.moments(X)
        P, n = mean.shape[1], len(self.data)
        draws = np.empty((len(members), P, len(X)))
        shared, own = rng.standard_normal((len(members), n)), rng.standard_normal(draws.shape)
        with one_thread():
            prior = self.prior.gram(X)
            for column in self.predictor.cross_covariance.columns(X):
                s, K_t = column.member, column.scale * column.matrix
                chosen = members == s
                for p in range(P)[column.processes]:
                    left = prior[s, min(p, prior.shape[1] - 1)]
                    if isinstance(self.mode.curvature, SoftmaxCurvature):
                        left = left - K_t @ self.mode.curvature.E[s, p] @ K_t.T
                        coupled = shared[chosen] @ self._coupling[s, p] @ K_t.T
                    else:
                        half = K_t @ self.predictor.root[s]
                        left, coupled = left - half @ half.T, 0.0
                    root = drawing_root(left)
                    draws[chosen, p] = mean[s, p] + own[chosen, p] @ root.T + coupled
        return draws

    def evidence_slopes(self) -> Matrix:
        """Derivatives of the log evidence by the free hyperparameters, (S, p).

        Paper: none; GPML Alg. 5.1.
        """
        with one_thread():
            return self.prior.slopes(self.data.X, sensitivity(self.mode, self.K))

    def noise_slopes(self) -> Vector:
        """Derivatives of the log evidence by the logarithm of the noise variance, (S,).

        Paper: none; GPML Eq. 5.9, for numbers seen with Gaussian error.
        """
        a = self.mode.a[:, 0]
        diagonal = np.diagonal(self.mode.curvature.blocks()[:, 0], axis1=1, axis2=2)
        alone = 0.5 * ((a * a - diagonal) / self.data.weight).sum(axis=1)
        return alone if self.data.count is None else alone - 0.5 * (self.data.count - 1.0).sum()

    def _weights(self, s: int, p: int, K: Matrix) -> Matrix:
        """Weights (K + W^-1)^-1 K_t' of the training rows (GPML Eq. 3.24), from K_t' (n, k)."""
        if isinstance(self.mode.curvature, SoftmaxCurvature):
            Q = self._coupling[s, p]
            return self.mode.curvature.E[s, p] @ K - Q.T @ (Q @ K)
        return self.predictor.root[s] @ (self.predictor.root[s].T @ K)

    def _coupled(self, X: Matrix) -> Array:
        """K_t Q_c': how the labels couple rows across classes under a softmax, (S, C, m, n)."""
        (S, C, n), m = self.mode.a.shape, len(X)
        coupled = np.zeros((S, m, C, n))
        for part, column in self.predictor.columns(X):
            Q = self._coupling[column.member, column.processes]
            some = coupled[column.member, part, column.processes]
            flat = (column.scale * column.matrix) @ Q.reshape(len(Q) * n, n).T
            some[:] = flat.reshape(some.shape)
        return np.swapaxes(coupled, 1, 2)

    @functools.cached_property
    def _coupling(self) -> Array:
        """Coupling Q_c of the classes with P_cc = E_c - Q_c' Q_c, (S, C, n, n)."""
        information = self.mode.curvature
        assert isinstance(information, SoftmaxCurvature)  # noqa: S101 - tells the type checker
        return information.coupling()


def condition(
    prior: Prior, data: TrainingData, log_prior: Vector | None = None, *, start: Array | None = None
) -> Posterior:
    """The posterior of every setting of the prior, given the data.

    Paper: Props. 6, 7 and 8.

    Args:
        prior: S settings.
        data: what was seen; no row at all gives the prior back.
        log_prior: (S,), credibilities of the settings as logarithms; all alike if left out.
        start: (S, P, n), where Newton's method starts; see :func:`~possibal.gp.laplace.find_mode`.
    """
    with one_thread():
        K = prior.gram(data.X)
        mode = find_mode(data.link, K, data.observations(prior), start)
    known = np.zeros(len(prior)) if log_prior is None else log_prior
    return Posterior(known, K, mode, prior, data)
