"""The strongest peers as strategies: each gets a view, and says which row it would ask about.

    possibal compare sonar --strategy peers:max_herding --strategy peers:falcun    (in this folder)

A peer learns from the labels known so far and knows the rows of the pool, as possibal's own
strategies do; columns are scaled by the pool. Diffusion coordinates, which possibal's model has
beside the columns, are not for peers. `MODELS` has the model that each peer is used with.
What is said to be better or worse was measured in a few runs under seed 0.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Self
from warnings import catch_warnings, simplefilter

import numpy as np
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import (
    Badge,
    CoreSet,
    Falcun,
    MaxHerding,
    ProbCover,
    QueryByCommittee,
    TypiClust,
)
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from possibal.acquisition.strategy import Strategy, View
from possibal.numerics.distances import usual_distance


# ---------------------------------------------------------------- models
class GaussianProcess(GaussianProcessClassifier):
    """scikit-learn's, its length-scale sought from the usual distance of the rows it learns from.

    Started at its default of 1, most sets lie so far apart that the evidence is flat there.
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from rows and labels."""
        self.kernel = ConstantKernel() * RBF(usual_distance(X))
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # few labels: a bound is the best there is
            return super().fit(X, y)


def logistic() -> LogisticRegression:
    """Logistic regression: probabilities from the first label of each class on.

    A support vector machine needs several labels of each class to calibrate its own, and Falcun and
    Badge with a Gaussian process did worse on most sets.
    """
    return LogisticRegression(max_iter=1000)


def forest(seed: int = 0, trees: int = 100) -> RandomForestClassifier:
    """A random forest with its default number of trees."""
    return RandomForestClassifier(trees, random_state=seed)


def committee(seed: int = 0) -> VotingClassifier:
    """A linear model, a smooth one and one of steps, for they err in different places."""
    members = {"linear": logistic(), "smooth": GaussianProcess(), "steps": forest(seed, trees=25)}
    return VotingClassifier(list(members.items()), voting="soft")


def svm() -> SVC:
    """What learns best from few labels, for peers that need no model to ask."""
    return SVC(C=10.0)


# ---------------------------------------------------------------- what a peer is told
def _columns(view: View, rows: np.ndarray) -> np.ndarray:
    """Rows without the diffusion coordinates that only possibal's model reads."""
    posterior: Any = view.posterior  # only those of Gaussian processes have a prior
    return posterior.prior.feature_map.leading(rows)


def _candidates(view: View) -> np.ndarray:
    """The rows that may be asked about."""
    return _columns(view, view.candidates)


def _known(view: View) -> tuple[np.ndarray, np.ndarray, int]:
    """The rows whose labels are known, the numbers of those labels, and how many labels there are.

    Only the posteriors of Gaussian processes hold what they have learnt from.
    """
    data: Any = view.posterior.data  # pyright: ignore[reportAttributeAccessIssue]
    X = _columns(view, data.X)
    if len(data.y) == 1:
        return X, (data.y[0] > 0).astype(int), 2
    return X, data.y.argmax(axis=0), len(data.y)


def _seed(view: View) -> int:
    """A seed for what a peer draws, the same whenever the same is asked."""
    assert view.rng is not None
    return int(view.rng.integers(2**31 - 1))


def _asked(view: View, peer: Any, **models: Any) -> np.ndarray:  # noqa: ANN401 - no common types
    """One for the row that a strategy of scikit-activeml asks about, zero for the others."""
    X, y, _ = _known(view)
    pool = np.concatenate([X, _candidates(view)])
    labels = np.concatenate([y, np.full(len(view.candidates), np.nan)])
    (place,) = peer.query(pool, labels, **models)
    return (np.arange(len(view.candidates)) == place - len(X)).astype(float)


def _wrapped(view: View, model: Any) -> SklearnClassifier:  # noqa: ANN401 - any classifier
    """A model as scikit-activeml wants it: one that passes over rows without a label."""
    return SklearnClassifier(model, classes=range(_known(view)[2]), random_state=0)


def _margin(view: View, model: Any) -> np.ndarray:  # noqa: ANN401 - any classifier
    """How close the two likeliest labels are by a model of scikit-learn's."""
    X, y, _ = _known(view)
    p = np.sort(model.fit(X, y).predict_proba(_candidates(view)), axis=1)
    return p[:, -2] - p[:, -1]


# ---------------------------------------------------------------- peers
def margin_gp(view: View) -> np.ndarray:
    """Smallest margin, by a Gaussian process of largest evidence."""
    return _margin(view, GaussianProcess())


def margin_logistic(view: View) -> np.ndarray:
    """Smallest margin, by logistic regression."""
    return _margin(view, logistic())


def margin_forest(view: View) -> np.ndarray:
    """Smallest margin, by a random forest."""
    return _margin(view, forest(_seed(view)))


def max_herding(view: View) -> np.ndarray:
    """Coverage of the pool by a kernel (Bae, Noh and Sutherland, 2024), with its defaults.

    It brings rows to length one, which suits the output of neural networks and, as measured, most
    of the paper's real sets.
    """
    return _asked(view, MaxHerding(random_state=_seed(view)))


def max_herding_plain(view: View) -> np.ndarray:
    """The same of rows as they are, which is far better in the plane: there length is half of all.

    The default width of the kernel suits columns of variance one.
    """
    return _asked(view, MaxHerding(normalize_samples=False, random_state=_seed(view)))


def typi_clust(view: View) -> np.ndarray:
    """The most typical row of the largest cluster without a label (Hacohen and others, 2022)."""
    return _asked(view, TypiClust(random_state=_seed(view)))


def falcun(view: View) -> np.ndarray:
    """Uncertain rows that differ in their probabilities (Gilhuber and others, 2024)."""
    return _asked(view, Falcun(random_state=_seed(view)), clf=_wrapped(view, logistic()))


def prob_cover(view: View) -> np.ndarray:
    """The most rows within a radius of which nearly all balls are pure (Yehuda and others, 2022).

    With its own list of radii: shares of the median distance did worse on most sets. The clusters
    that purity is measured by are the same at every question.
    """
    clusters = {"n_init": 10, "random_state": 0}
    peer = ProbCover(_known(view)[2], cluster_algo_dict=clusters, random_state=_seed(view))
    with catch_warnings():
        simplefilter("ignore")  # no radius is pure: it takes the smallest
        return _asked(view, peer)


def core_set(view: View) -> np.ndarray:
    """The row farthest from all labels (Sener and Savarese, 2018)."""
    return _asked(view, CoreSet(random_state=_seed(view)))


def badge(view: View) -> np.ndarray:
    """The largest gradient that a label would cause (Ash and others, 2020).

    The gradients are those of a linear layer: logistic regression is nothing else.
    """
    return _asked(view, Badge(random_state=_seed(view)), clf=_wrapped(view, logistic()))


def query_by_committee(view: View) -> np.ndarray:
    """Where models that learnt from the same labels disagree (Seung, Opper and Sompolinsky, 1992).

    By Kullback and Leibler's divergence from their mean, with its defaults.
    """
    seed = _seed(view)
    members = [_wrapped(view, model) for _, model in committee(seed).estimators]
    return _asked(view, QueryByCommittee(random_state=seed), ensemble=members)


MODELS: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {
        "margin_gp": GaussianProcess,
        "margin_logistic": logistic,
        "margin_forest": forest,
        "max_herding": svm,
        "max_herding_plain": svm,
        "typi_clust": svm,
        "falcun": logistic,
        "prob_cover": svm,
        "core_set": svm,
        "badge": logistic,
        "query_by_committee": committee,
    }
)
"""Name to the model of scikit-learn that a peer is used with."""
PEERS: Mapping[str, Strategy] = MappingProxyType({name: globals()[name] for name in MODELS})
"""Name to strategy."""
