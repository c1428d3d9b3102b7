"""Rows that are pruned could not have been among the best."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.linear_model import LogisticRegression
from support.estimators import labelled
from support.pools import LOCAL

from possibal import acquisition
from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.scoring import Monotonicity, one_per_latent, score
from possibal.belief import ProbabilityBelief
from possibal.gp import prediction
from possibal.gp.likelihoods import LOGISTIC, PROBIT, SOFTMAX
from possibal.gp.posterior import TrainingData, condition
from possibal.gp.prior import prior
from possibal.pool import pruning
from possibal.pool.pruning import FullScorer, MomentBound, PrunedScorer, TopKQuery
from possibal.pool.reader import Chunk, RowFormat
from possibal.pool.reader import row_source as rows_of
from possibal.pool.sampling import HashedSampler
from possibal.pool.top_k import SLACK, TopK

KERNELS = {
    "rbf": ConstantKernel(2.0) * RBF(0.8),
    "sharp": ConstantKernel(2.0) * RBF(1e-4),
    "matern": ConstantKernel(2.0) * Matern(0.8, nu=2.5),
}
NONE = np.empty(0, dtype=np.intp)


@functools.cache
def posterior(link="probit", kernel="rbf", count=1, n=20):
    """What labels that change sign along the first column teach, under so many settings."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2))
    sides = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)[None]
    links = {"probit": PROBIT, "logistic": LOGISTIC, "softmax": SOFTMAX}
    if link == "softmax":
        sides = (np.arange(3)[:, None] == rng.integers(0, 3, n)).astype(float)
    own = KERNELS[kernel].theta
    thetas = np.vstack([own, *(own + 0.4 * rng.normal(size=(count - 1, len(own))))])
    data = TrainingData(X, sides, np.ones((1, n)), links[link])
    return condition(prior([KERNELS[kernel]], thetas), data)


def rows(seed, m=60):
    """A pool with rows alike, rows that have a label, and rows far away."""
    rng = np.random.default_rng(seed)
    X = 2.0 * rng.normal(size=(m, 2))
    X[rng.random(m) < 0.2] = X[0]
    X[rng.random(m) < 0.1] = posterior().data.X[0]
    X[rng.random(m) < 0.05] *= 1e6
    return X


@pytest.fixture
def narrow(monkeypatch):
    """Few rows are looked at together, so that a small pool takes many steps."""
    monkeypatch.setattr(prediction, "FEWEST", 8)
    monkeypatch.setattr(prediction, "CHUNK", 1)


def best(scorer, X, top, aside=NONE):
    top_k = TopK(top)
    judged = scorer.offer(Chunk(0, X, None), top_k, aside)
    return top_k.best(scorer.utilities)[0], judged


# ---------------------------------------------------------------- no bound
@pytest.mark.parametrize("names", [None, [f"row {at}" for at in range(60)]])
def test_a_posterior_without_bounds_has_every_row_scored(names):
    X, aside, top_k = rows(6), np.array([2, 30]), TopK(5)
    scorer = FullScorer(posterior("softmax"), acquisition.uncertainty)
    assert scorer.offer(Chunk(0, X, names), top_k, aside) == 58
    (found,) = top_k.best(scorer.utilities)
    expected, _ = best(PrunedScorer.of(posterior("softmax"), acquisition.uncertainty), X, 5, aside)
    assert found.places.tolist() == expected.places.tolist()
    assert found.names == (names and [names[place] for place in found.places.tolist()])
    np.testing.assert_allclose(found.utilities, expected.utilities, rtol=1e-9)


# ---------------------------------------------------------------- one bound
@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize(("link", "count"), [("probit", 1), ("logistic", 3), ("softmax", 1)])
@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), share=st.floats(0, 1))
def test_a_bound_leaves_every_row_whose_utility_reaches_the_bar(name, link, count, seed, share):
    found, X = posterior(link, count=count), rows(seed)
    utilities = STRATEGIES[name](found.at(X))
    bar = float(np.quantile(utilities, share))
    bar -= SLACK * abs(bar)
    for bound in PrunedScorer.of(found, STRATEGIES[name]).bounds:
        left = bound.prune(X, bar)
        assert set(np.flatnonzero(utilities >= bar)) <= set(left.rows.tolist())
        assert len(left.belief) == len(left.rows) <= left.judged <= len(X)
        assert np.all(np.diff(left.rows) > 0)


@pytest.mark.parametrize("link", ["probit", "logistic", "softmax"])
@pytest.mark.parametrize("bar", [-np.inf, 1e-3, 0.5])
def test_a_look_in_double_precision_gives_the_moments_themselves(link, bar):
    found, X = posterior(link, count=2), rows(1)
    left = MomentBound.through(found.predictor, acquisition.doubt).prune(X, bar)
    belief = found.at(X).part(left.rows)
    assert len(left.rows)
    np.testing.assert_allclose(left.belief.mean, belief.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(left.belief.variance, belief.variance, rtol=1e-9)


def test_without_a_bar_or_an_order_every_row_is_left():
    X, outside = rows(2), posterior().predictor
    for one, bar in [(acquisition.doubt, -np.inf), (acquisition.bald, 0.6)]:
        left = MomentBound.through(outside, one).prune(X, bar)
        assert left.rows.tolist() == list(range(len(X)))
        assert left.judged == len(X)


def test_few_rows_whose_utility_may_reach_the_bar_are_computed_alone():
    bound, X = MomentBound.through(posterior().predictor, acquisition.doubt), rows(3, 200)
    X[100:] = posterior().data.X[0]
    prior_bounds = acquisition.doubt(bound.predictor.lazy_moments(X).mean[0, 0], np.full(200, 2.0))
    bar = float(np.quantile(prior_bounds, 0.9))
    assert bound.prune(X, bar).judged == (prior_bounds >= bar).sum() < 100
    assert bound.prune(X, float(prior_bounds.min()) / 2).judged == 200


def test_a_bar_above_all_leaves_nothing():
    left = MomentBound.through(posterior().predictor, acquisition.doubt).prune(rows(4), 1.5)
    assert left.rows.tolist() == []
    assert len(left.belief) == left.judged == 0


def test_uncertainty_of_one_latent_is_bounded_by_a_table_of_labels():
    def bound(found, one):
        return MomentBound.through(found.predictor, one)

    for found in (posterior(), posterior(count=3), posterior("logistic", count=2)):
        assert bound(found, acquisition.uncertainty).labels is not None
    assert bound(posterior(), acquisition.doubt).labels is None  # quick as it is
    assert bound(posterior("softmax"), acquisition.uncertainty).labels is None
    unbounded = bound(posterior(kernel="matern"), acquisition.uncertainty)
    assert unbounded.labels is None  # no largest variance
    assert unbounded.monotonicity is Monotonicity.BY_VARIANCE


def test_a_score_of_ones_own_is_bounded_as_it_claims():
    @score(size=one_per_latent, monotonicity=lambda *_: Monotonicity.BY_BOTH)
    def closeness(belief):
        return np.sqrt(belief.variance[0]) / (1.0 + np.abs(belief.mean[0]))

    X = rows(5, 100)
    scorer = PrunedScorer.of(posterior(), closeness)
    assert len(scorer.bounds) == 2
    found, _ = best(scorer, X, 7)
    expected = scorer.utilities(X)
    assert found.places.tolist() == np.lexsort((np.arange(100), -expected))[:7].tolist()


# ---------------------------------------------------------------- all bounds
@pytest.mark.parametrize(
    ("found", "name", "bounds"),
    [
        (posterior(), "necessity", 2),
        (posterior("logistic"), "uncertainty", 2),
        (posterior(count=3), "necessity", 2),
        (posterior(count=3), "uncertainty", 2),
        (posterior(), "latent_entropy", 1),
        (posterior(), "bald", 1),
        (posterior("softmax"), "necessity", 1),
        (posterior(kernel="matern"), "necessity", 1),
        (posterior(kernel="sharp"), "necessity", 1),
    ],
)
def test_single_precision_is_looked_at_first_where_it_may_tell_something(found, name, bounds):
    scorer = PrunedScorer.of(found, STRATEGIES[name])
    assert len(scorer.bounds) == bounds
    assert scorer.bounds[-1].predictor is found.predictor
    assert len(PrunedScorer.of(found, STRATEGIES[name], single=False).bounds) == 1


def test_the_utility_of_a_row_is_that_of_the_row_alone():
    scorer, X = PrunedScorer.of(posterior(), acquisition.uncertainty), rows(6)
    utilities = scorer.utilities(X)
    np.testing.assert_allclose(utilities, acquisition.uncertainty(posterior().at(X)), rtol=1e-9)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(scorer.utilities(X[order]), utilities[order])


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("name", ["necessity", "uncertainty", "bald", "latent_entropy"])
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("top", [1, 9, 30])
def test_a_scorer_finds_the_best_of_a_chunk(name, single, top):
    X, aside = rows(7), np.array([0, 5, 59])
    scorer = PrunedScorer.of(posterior(), STRATEGIES[name], single=single)
    found, judged = best(scorer, X, top, aside)
    utilities = scorer.utilities(X)
    utilities[aside] = -np.inf
    assert scorer.width == 8
    assert judged <= 57
    assert found.places.tolist() == np.lexsort((np.arange(60), -utilities))[:top].tolist()
    assert found.utilities.tolist() == utilities[found.places].tolist()


@pytest.mark.usefixtures("narrow")
def test_names_and_places_go_with_their_rows():
    X, top_k = rows(8), TopK(4)
    scorer = PrunedScorer.of(posterior(), acquisition.doubt)
    scorer.offer(Chunk(100, X, [f"row {at}" for at in range(60)]), top_k, np.array([101]))
    (found,) = top_k.best(scorer.utilities)
    assert [f"row {place - 100}" for place in found.places] == found.names
    np.testing.assert_array_equal(found.X, X[found.places - 100])
    assert 101 not in found.places


def test_a_chunk_of_which_all_is_set_aside_offers_nothing():
    top_k = TopK(1)
    scorer = PrunedScorer.of(posterior(), acquisition.doubt)
    assert scorer.offer(Chunk(10, rows(9, 5), None), top_k, np.arange(10, 15)) == 0
    assert top_k.candidates() == []


# ---------------------------------------------------------------- what is looked for
@pytest.mark.parametrize(
    "scorer", [PrunedScorer.of(posterior(), acquisition.doubt), HashedSampler(1, 20)]
)
def test_a_part_is_counted_without_the_rows_that_are_excluded(scorer):
    query, aside = TopKQuery(scorer, 2), np.array([-3, 2, 9, 10, 25, 99])
    parts, top_k = rows_of(rows(10, 30), RowFormat(2, None), chunk=10).parts(), query.new_top_k()
    counts = [query.scan(part, top_k, aside) for part in parts]
    assert [(ranked, read) for ranked, _, read in counts] == [(8, 10), (9, 10), (9, 10)]
    assert (sum(judged for _, judged, _ in counts) > 0) == isinstance(scorer, PrunedScorer)
    (found,) = top_k.candidates()
    assert not {*aside.tolist()} & {*found.places.tolist()}


def test_a_top_k_begins_with_what_is_known_of_the_last_row_wanted():
    query = TopKQuery(PrunedScorer.of(posterior(), acquisition.doubt), 3)
    assert (query.new_top_k().top, query.new_top_k().slack, query.new_top_k().bar) == (
        3,
        query.row_filter.slack,
        -np.inf,
    )
    query.bar = 0.25
    assert query.new_top_k().bar == 0.25


# ---------------------------------------------------------------- without bounds
def by_probabilities():
    model = LogisticRegression().fit(*labelled(3, 40))

    def at(X):
        return ProbabilityBelief.of_probabilities(model.predict_proba(X), "a model")

    return FullScorer(SimpleNamespace(at=at), acquisition.margin)


def test_the_best_available_rows_are_kept_part_by_part(monkeypatch):
    monkeypatch.setattr(pruning, "_TOGETHER", 7)
    X, found = rows(1, 50), by_probabilities()
    expected = found.utilities(X)
    excluded = np.array([100 + expected.argmax()])
    top_k = TopK(3, found.slack)
    names = [f"row {place}" for place in range(50)]
    assert found.offer(Chunk(100, X, names), top_k, excluded) == 49
    (best,) = top_k.best(found.utilities)
    order = np.argsort(-expected, kind="stable")[1:4]
    assert best.places.tolist() == (100 + order).tolist()
    assert best.names == [f"row {place}" for place in order]


def test_no_rows_have_no_utilities():
    assert by_probabilities().utilities(rows(0)[:0]).shape == (0,)
