"""Ranking a pool in parts gives the rows that working out every row gives."""

import functools
import re
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from support.pools import LOCAL, WIDE, answered, begun, crowded

from possibal.acquisition.pointwise import doubt
from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.strategy import View
from possibal.campaign import pool as campaign_pool
from possibal.estimators.classifier import PossibilisticGPClassifier, count_labels
from possibal.gp import prediction
from possibal.gp.pending import PendingPosterior
from possibal.pool import sampling, scan
from possibal.pool.pruning import PrunedScorer
from possibal.pool.ranking import best, rank
from possibal.pool.reader import row_source
from possibal.pool.sampling import HashedSampler

KERNELS = {
    "rbf": ConstantKernel(2.0) * RBF(1.0),
    "envelope": None,
    "matern": ConstantKernel(2.0) * Matern(1.0, nu=2.5),
}
MODELS = [
    *(
        (kernel, link, 2, n)
        for kernel in KERNELS
        for link in ("probit", "logistic")
        for n in (2, 9)
    ),
    ("rbf", "probit", 2, 40),
    ("rbf", "logistic", 2, 40),
    ("envelope", "probit", 2, 40),
    *((kernel, "probit", 3, 12) for kernel in KERNELS),
]


@functools.cache
def fitted(kernel="rbf", link="probit", classes=2, n=30):
    """A model of labels that follow the first of three columns, and are sometimes wrong."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    X[:classes, 0] = np.linspace(-2, 2, classes)
    y = np.digitize(X[:, 0] + 0.2 * rng.normal(size=n), np.linspace(-1, 1, classes + 1)[1:-1])
    way = "envelope" if kernel == "envelope" else "fixed"
    model = PossibilisticGPClassifier(
        KERNELS[kernel], link=link, hyperparameters=way, classes=list(range(classes))
    )
    return model.fit(X, y)


def unlabelled(seed, m, spread=1.5):
    """A pool with rows alike, rows that have a label, rows far away, and at times a flat column."""
    rng = np.random.default_rng(seed)
    X = spread * rng.normal(size=(m, 3))
    X[rng.random(m) < 0.2] = X[0]
    X[rng.random(m) < 0.1] = fitted().posterior_.data.X[0]
    X[rng.random(m) < 0.05] *= 10.0 ** rng.integers(1, 30)
    if rng.random() < 0.3:
        X[:, rng.integers(3)] = 1.0
    return X


def pieces(X, size):
    return [X[start : start + size] for start in range(0, len(X), size)]


def reference(model, X, strategy, aside=()):
    """Places from the best to the worst, and their utilities, by scoring every row."""
    places = np.setdiff1d(np.arange(len(X)), np.array(aside, dtype=int))
    utilities = PrunedScorer.of(model.posterior_, STRATEGIES[strategy]).utilities(X[places])
    order = np.lexsort((places, -utilities))
    return places[order].tolist(), utilities[order].tolist()


def assert_best(found, expected, top):
    places, utilities = expected
    assert found.places.tolist() == list(found.ids) == places[:top]
    assert found.utilities.tolist() == utilities[:top]
    assert len(found) == top
    assert found.rows == len(places)
    assert 0 <= found.judged <= found.rows
    assert 0.0 <= found.pruned <= 1.0


@pytest.fixture
def narrow(monkeypatch):
    """Few rows are looked at together, so that a small pool takes many steps."""
    monkeypatch.setattr(prediction, "FEWEST", 16)
    monkeypatch.setattr(prediction, "CHUNK", 1)


@pytest.fixture
def small_parts(monkeypatch):
    """Arrays are read in parts of 50 rows."""
    monkeypatch.setattr(scan, "rows_of", functools.partial(row_source, chunk=50))


# ---------------------------------------------------------------- the same as working out all
drawn = given(
    which=st.sampled_from(MODELS),
    seed=st.integers(0, 10_000),
    m=st.sampled_from([1, 2, 30, 31, 100, 180]),
    numbers=st.tuples(st.integers(1, 20), st.integers(1, 130), st.floats(0, 0.5)),
)


def check_all_ways(strategy, which, seed, m, numbers):
    top, size, share = numbers
    model, X = fitted(*which), unlabelled(seed, m)
    aside = np.flatnonzero(np.random.default_rng(seed).random(m - 1) < share).tolist()
    expected, top = reference(model, X, strategy, aside), min(top, m - len(aside))
    for precision, jobs in [("mixed", 1), ("mixed", 3), ("double", 1), ("double", 3)]:
        options = {"aside": aside, "jobs": jobs, "precision": precision}
        assert_best(rank(model, pieces(X, size), strategy, top=top, **options), expected, top)


def few(count):
    return settings(max_examples=count, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("strategy", [name for name in LOCAL if name != "bald"])
@few(10)
@drawn
def test_the_best_rows_are_those_of_working_out_every_row(strategy, which, seed, m, numbers):
    check_all_ways(strategy, which, seed, m, numbers)


@pytest.mark.usefixtures("narrow")
@few(6)
@drawn
def test_so_are_those_of_a_slow_score(which, seed, m, numbers):
    check_all_ways("bald", which, seed, min(m, 25), numbers)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("strategy", ["necessity", "uncertainty", "entropy", "latent_entropy"])
@pytest.mark.parametrize("spread", [0.05, 1.0, 20.0])
def test_the_best_of_a_larger_pool_of_any_width(strategy, spread):
    model, X = fitted(), unlabelled(5, 300, spread)
    expected = reference(model, X, strategy)
    for top in (1, 20):
        assert_best(rank(model, pieces(X, 70), strategy, top=top, jobs=1), expected, top)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("strategy", ["necessity", "uncertainty", "margin"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_short_numbers_give_the_rows_of_the_same_numbers_written_long(strategy, kernel):
    X = unlabelled(6, 100).clip(-1e30, 1e30).astype(np.float32)
    short, long = (
        rank(fitted(kernel), pieces(x, 40), strategy, top=15, jobs=1)
        for x in (X, X.astype(np.float64))
    )
    assert short.places.tolist() == long.places.tolist()
    assert short.utilities.tolist() == long.utilities.tolist()


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("far", [1e15, 1e20, 1e36, 1e40, 1e160, 1e308])
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_row_however_far_is_found(far, jobs):
    X = 0.1 * np.random.default_rng(7).normal(size=(60, 3)) + fitted().posterior_.data.X[0]
    X[50] = [far, -far, far]
    assert best(fitted(), pieces(X, 20), "necessity", jobs=jobs) == 50
    assert best(fitted(), pieces(X, 20), "uncertainty", jobs=jobs) == 50


def test_of_rows_alike_the_first_are_named():
    X = np.tile([[0.3, 0.1, -0.2]], (300, 1))
    for strategy in ("necessity", "herding"):
        found = rank(fitted(), pieces(X, 37), strategy, top=5, aside=[1])
        assert found.places.tolist() == [0, 2, 3, 4, 5]


def test_a_score_may_be_given_itself():
    X = unlabelled(8, 40)
    by_name, by_score = rank(fitted(), X, "necessity"), rank(fitted(), X, doubt)
    assert by_name.places.tolist() == by_score.places.tolist()
    assert len(by_name) == 10


def test_places_that_the_pool_does_not_have_may_be_set_aside():
    X = unlabelled(9, 30)
    found = rank(fitted(), X, "necessity", top=30, aside={400, -3, 30})
    assert found.rows == 30
    assert_best(found, reference(fitted(), X, "necessity"), 30)


# ---------------------------------------------------------------- how much work it is
def test_most_rows_of_a_clear_pool_are_passed_over():
    rng = np.random.default_rng(10)

    def gaussians(m):
        y = rng.integers(0, 2, m)
        return rng.normal(size=(m, 2)) + np.where(y, 2.0, -2.0)[:, None], y

    model = PossibilisticGPClassifier(ConstantKernel(4.0) * RBF(2.0), hyperparameters="fixed")
    X, y = gaussians(60)
    model.fit(X, y)
    X, _ = gaussians(2000)
    found = rank(model, pieces(X, 100), "necessity", top=5, jobs=1)
    assert found.pruned > 0.8
    assert found.pruned == 1.0 - found.judged / 2000


def test_memory_does_not_grow_with_the_pool(tmp_path):
    rng = np.random.default_rng(11)
    X = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=(200_000, 20))
    for start in range(0, 200_000, 20_000):
        X[start : start + 20_000] = rng.normal(size=(20_000, 20))
    X.flush()
    model = PossibilisticGPClassifier(ConstantKernel(2.0) * RBF(4.0), hyperparameters="fixed")
    model.fit(X[:30], (X[:30, 0] > 0).astype(int))
    tracemalloc.start()
    found = rank(model, X, "necessity", top=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.rows == 200_000
    assert peak < 60e6


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("jobs", [None, 1, 3])
def test_progress_is_told_with_every_part(jobs):
    told = []
    rank(fitted(), unlabelled(12, 420), jobs=jobs, progress=lambda *now: told.append(now))
    assert told == [(min(50 * part, 420), 420) for part in range(1, 10)]


def test_progress_knows_no_size_where_only_the_end_tells():
    told = []
    X = unlabelled(13, 30)
    rank(fitted(), iter(pieces(X, 10)), aside=[3], progress=lambda *now: told.append(now))
    assert told == [(10, None), (20, None), (30, None)]


# ---------------------------------------------------------------- names of rows
def test_rows_of_a_file_are_named_by_its_column(tmp_path):
    X = unlabelled(14, 60).clip(-1e9, 1e9)
    columns = dict(zip("abc", X.T, strict=True))
    names = [f"row {at}" for at in range(60)]
    pl.DataFrame({"name": names, **columns}).write_parquet(tmp_path / "pool.parquet")
    model = PossibilisticGPClassifier(KERNELS["rbf"], hyperparameters="fixed")
    model.fit(pd.DataFrame(columns)[:20], np.arange(20) % 2)
    found = rank(model, tmp_path / "pool.parquet", top=7, id="name", aside=range(20))
    assert found.ids == tuple(names[place] for place in found.places)
    assert min(found.places) >= 20
    assert best(model, tmp_path / "pool.parquet", id="name", aside=range(20)) == found.ids[0]
    numbered = rank(model, pd.DataFrame(columns), top=7, aside=range(20))
    assert numbered.ids == tuple(found.places.tolist())
    assert all(type(place) is int for place in numbered.ids)


def test_a_ranking_can_be_cut():
    found = rank(fitted(), unlabelled(15, 50), "necessity", top=5)
    some = found.part(np.array([3, 1]))
    assert some.ids == (found.ids[3], found.ids[1])
    assert some.places.tolist() == found.places[[3, 1]].tolist()
    assert some.utilities.tolist() == found.utilities[[3, 1]].tolist()
    np.testing.assert_array_equal(some.X, found.X[[3, 1]])
    assert (some.rows, some.judged) == (found.rows, found.judged)


@pytest.mark.parametrize("strategy", [*LOCAL, "herding", "random"])
def test_the_best_row_is_the_first_of_the_ranking(strategy):
    X = unlabelled(15, 50)
    assert best(fitted(), X, strategy) == rank(fitted(), X, strategy, top=3).ids[0]


# ---------------------------------------------------------------- joint strategies
@pytest.fixture
def few_candidates(monkeypatch):
    """Sixty rows are candidates, of ninety that are sampled."""
    monkeypatch.setattr(sampling, "JOINT_CANDIDATES", 60)
    monkeypatch.setattr(sampling, "SAMPLE_SIZE", 90)
    monkeypatch.setattr(sampling, "COVERED", 60)


def asked(campaign, X=None, **options):
    """The first row of a ranking by what a campaign knows."""
    X = campaign.pool.X if X is None else X
    options = {"seed": campaign.seed, "aside": answered(campaign), **options}
    return rank(campaign.classifier, X, campaign.strategy, **options).places[0]


@pytest.mark.parametrize("strategy", [*WIDE, "random"])
@pytest.mark.parametrize("m", [50, 300])
@pytest.mark.parametrize("large", [10**6, 40], ids=["small", "large"])
@pytest.mark.usefixtures("few_candidates", "small_parts")
def test_the_first_row_is_the_one_that_a_campaign_asks_about(strategy, m, large, monkeypatch):
    monkeypatch.setattr(campaign_pool, "LARGE_POOL", large)
    for seed in (0, 5):
        campaign = begun(crowded(m, seed), strategy, seed)
        assert campaign.pool.is_large == (large == 40)
        assert campaign.ask() == (asked(campaign),)


@pytest.mark.parametrize("strategy", ["herding", "look_ahead", "random"])
@pytest.mark.parametrize("m", [2500, 7000])
def test_so_it_is_where_more_than_a_thousand_rows_are_left(strategy, m):
    campaign = begun(crowded(m, 3), strategy, 3)
    assert campaign.ask() == (asked(campaign),)


@pytest.mark.usefixtures("few_candidates")
def test_rows_put_aside_are_neither_asked_about_nor_drawn():
    campaign = begun(crowded(), "herding").without(range(50, 120))
    taken = [*answered(campaign), *range(50, 120)]
    assert campaign.ask() == (asked(campaign, aside=taken),)


@pytest.mark.parametrize(("top", "m"), [(8, 100), (15, 40)], ids=["some", "all"])
def test_so_is_the_first_of_many(top, m, monkeypatch):
    monkeypatch.setattr(sampling, "JOINT_CANDIDATES", 20)
    monkeypatch.setattr(sampling, "SAMPLE_SIZE", 50)
    campaign = begun(crowded(m), "herding")
    assert campaign.ask(top)[0] == asked(campaign, top=top)


def test_three_labels_are_looked_at_together_too():
    X = crowded(100)
    campaign = begun(X, "herding", classes=[0, 1, 2]).tell(3, 2).tell(4, 2)
    assert campaign.ask() == (asked(campaign),)


def test_labels_of_rows_alike_are_counted_one_by_one():
    X = np.repeat(crowded(8), 3, axis=0)
    model = PossibilisticGPClassifier(most_labels=5).fit(X, (X[:, 0] > 0).astype(int))
    assert len(model.posterior_.data) == 5
    assert count_labels(model) == 3 * 5 + model.left_out_
    assert count_labels(PossibilisticGPClassifier().fit(X, (X[:, 0] > 0).astype(int))) == 24


def forms(X, folder):
    """One pool in many forms."""
    np.save(folder / "pool.npy", X)
    frame = pl.DataFrame(dict(zip("abc", X.T, strict=True)))
    for number, piece in enumerate(pieces(frame, 120)):
        piece.write_parquet(folder / f"{number}.parquet")
    return {
        "array": X,
        "columns": np.asfortranarray(X),
        "map": np.load(folder / "pool.npy", mmap_mode="r"),
        "npy": folder / "pool.npy",
        "parquet": folder / "*.parquet",
        "generator": iter(pieces(X, 37)),
        "frame": frame,
    }


@pytest.mark.usefixtures("few_candidates", "small_parts")
@pytest.mark.parametrize("strategy", ["herding", "mocu", "random"])
@pytest.mark.parametrize("m", [50, 300])
def test_a_pool_in_any_form_gives_the_same_rows(strategy, m, tmp_path):
    campaign = begun(crowded(m), strategy, 2)
    options = {"aside": answered(campaign), "seed": 2, "top": 8}
    alone = rank(campaign.classifier, campaign.pool.X, strategy, jobs=1, **options)
    assert alone.places[0] == campaign.ask()[0]
    assert alone.rows == m - 14
    np.testing.assert_array_equal(alone.X, campaign.pool.X[alone.places])
    for form, X in forms(np.array(campaign.pool.X), tmp_path).items():
        found = rank(campaign.classifier, X, strategy, **options)
        assert found.places.tolist() == list(found.ids) == alone.places.tolist(), form
        assert found.utilities.tolist() == alone.utilities.tolist(), form
        assert found.rows == alone.rows


@pytest.mark.usefixtures("few_candidates")
def test_short_numbers_are_looked_at_together_as_if_written_long():
    X = crowded().astype(np.float32)
    campaign = begun(X, "look_ahead")
    assert campaign.ask() == (asked(campaign),) == (asked(campaign, X),)


@pytest.mark.usefixtures("few_candidates")
def test_rows_looked_at_together_keep_their_names(tmp_path):
    campaign = begun(crowded(), "herding")
    columns = dict(zip("abc", campaign.pool.X.T, strict=True))
    names = [f"row {at}" for at in range(300)]
    pl.DataFrame({"name": names, **columns}).write_parquet(tmp_path / "pool.parquet")
    for strategy in ("herding", "random"):
        found = rank(campaign.classifier, tmp_path / "pool.parquet", strategy, id="name")
        assert found.ids == tuple(names[place] for place in found.places)


def shown(model, X, aside, seed, top):
    """Rows that are looked at together and those that stand for the pool, the plain way."""
    places = np.setdiff1d(np.arange(len(X)), np.array(aside, dtype=int))
    keys = HashedSampler(seed, 30).keys(0, len(X))[places]
    half = max(sampling.JOINT_CANDIDATES, 3 * top) // 2
    by_lot = places[np.argsort(-keys)][: max(sampling.SAMPLE_SIZE, 2 * half)]
    stand = np.sort(by_lot[: sampling.JOINT_CANDIDATES])
    if len(places) <= 2 * half:
        return places, stand
    doubts = dict(zip(by_lot.tolist(), doubt(model.posterior_.at(X[by_lot])).tolist(), strict=True))
    worst = sorted(doubts, key=lambda place: (-doubts[place], place))
    return np.union1d(by_lot[:half], worst[:half]), stand


@pytest.mark.usefixtures("few_candidates")
@pytest.mark.parametrize("strategy", ["herding", "epig"])
@few(8)
@given(
    seed=st.integers(0, 1000),
    m=st.sampled_from([1, 2, 59, 60, 61, 100, 130]),
    numbers=st.tuples(st.integers(1, 30), st.integers(1, 90), st.floats(0, 0.5)),
    jobs=st.sampled_from([1, 3]),
)
def test_rows_are_ranked_as_their_definition_says(strategy, seed, m, numbers, jobs):
    top, size, share = numbers
    model, X = fitted(), crowded(max(m, 8), seed)[:m]
    aside = np.flatnonzero(np.random.default_rng(seed).random(m - 1) < share).tolist()
    top = min(top, m - len(aside))
    places, stand = shown(model, X, aside, seed, top)
    rng = np.random.default_rng([seed, 30])
    utilities = STRATEGIES[strategy](
        View(PendingPosterior(model.posterior_), X[places], rng, X[stand])
    )
    order = np.argsort(-utilities, kind="stable")[:top]
    found = rank(model, pieces(X, size), strategy, top=top, aside=aside, jobs=jobs, seed=seed)
    # Candidates and reference are predicted together or apart, which rounds differently.
    np.testing.assert_allclose(found.utilities, utilities[order], rtol=1e-9, atol=1e-12)
    own = dict(zip(places.tolist(), utilities.tolist(), strict=True))
    each = [own[place] for place in found.places.tolist()]
    np.testing.assert_allclose(each, found.utilities, rtol=1e-9, atol=1e-12)
    assert found.rows == m - len(aside)
    assert found.judged == min(found.rows, max(90, 3 * top // 2 * 2))  # those drawn


@pytest.mark.usefixtures("few_candidates")
def test_a_strategy_of_ones_own_sees_rows_together():
    seen = []

    def last(view):
        seen.append((len(view.candidates), len(view.reference), type(view.rng)))
        return np.arange(len(view.candidates))

    X = crowded(200)
    found = rank(fitted(), X, last, top=3, aside=[199])
    assert found.utilities.tolist() == sorted(found.utilities.tolist(), reverse=True)
    assert found.places.tolist() == sorted(found.places.tolist(), reverse=True)
    rank(fitted(), X[:50], last, top=3, aside=[1])
    (many, stand, kind), few_rows = seen
    assert (stand, kind) == (60, np.random.Generator)
    assert 30 < many <= 60
    assert few_rows == (49, 49, np.random.Generator)


def test_a_strategy_of_ones_own_may_say_yes_or_no():
    def outside(view):
        return view.candidates[:, 0] > 0

    X = crowded(40)
    found, campaign = rank(fitted(), X, outside, top=40), begun(X, outside)
    assert found.places.tolist() == np.argsort(X[:, 0] <= 0, kind="stable").tolist()
    assert campaign.ranked()[0] == campaign.ask()[0] == asked(campaign)


def test_what_it_sees_is_what_a_campaign_shows():
    seen = []

    def any_row(view):
        seen.append((type(view.posterior), view.candidates.dtype, view.reference.dtype))
        return np.zeros(len(view.candidates))

    X = crowded(40).astype(np.float32)
    campaign = begun(X, any_row)
    assert campaign.ask() == (asked(campaign, X),)
    assert seen == [(PendingPosterior, np.dtype(float), np.dtype(float))] * 2


@pytest.mark.usefixtures("few_candidates")
def test_at_random_every_row_of_the_pool_may_be_named():
    X = crowded(200)
    named = [best(fitted(), pieces(X, 70), "random", seed=seed, jobs=1) for seed in range(400)]
    assert len(set(named)) > 150  # of 200; 173 are expected
    assert abs(np.mean(named) - 99.5) < 12  # give or take three
    found = rank(fitted(), X, "random", top=200)
    assert sorted(found.places.tolist()) == list(range(200))
    assert found.judged == 0
    assert rank(fitted(), X, "random", aside=[-3, 500], top=200).ids == found.ids


# ---------------------------------------------------------------- refusals
def says(sentence, kind=ValueError):
    return pytest.raises(kind, match=re.escape(sentence))


X = unlabelled(16, 30)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"top": 0}, "top must be"),
        ({"top": 31}, "top must be at most 30, the rows there are; got 31. Ask for fewer."),
        ({"top": 29, "aside": [1, 1, 4]}, "top must be at most 28, the rows there are; got 29."),
        ({"precision": "half"}, "precision must be"),
        ({"jobs": 0}, "jobs must be"),
        ({"strategy": "luck"}, "strategy must be"),
        ({"strategy": "random", "top": 31}, "top must be at most 30, the rows there are; got 31."),
        ({"strategy": "herding", "top": 31}, "top must be at most 30, the rows there are; got 31."),
        ({"strategy": lambda _: [1.0]}, "must give one number per row, 30; got shape (1,)"),
        ({"seed": -1}, "seed must be at least 0; got -1"),
        ({"id": "name"}, "id must be left out where X is an array; got 'name'."),
    ],
)
def test_bad_options_get_one_sentence(options, sentence):
    with says(sentence):
        rank(fitted(), X, **options)


def test_only_a_fitted_classifier_ranks():
    with pytest.raises(TypeError, match=r"^model must be a Possibilistic.*; got ConstantKernel\."):
        rank(ConstantKernel(), X)
    with pytest.raises(NotFittedError):
        rank(PossibilisticGPClassifier(), X)


def test_other_columns_than_the_models_are_refused():
    with says("X must have as many columns as the model was fitted to, 3; got 2."):
        rank(fitted(), X[:, :2])


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_number_that_is_missing_is_named_with_its_row(jobs):
    X = unlabelled(17, 200)
    X[170, 1] = np.nan
    with says("X must hold finite numbers; got nan at row 170, column 1. Fill or drop it."):
        rank(fitted(), X, jobs=jobs)


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_part_that_fails_ends_the_ranking(jobs):
    given = []

    def source():
        for number in range(1000):
            given.append(number)
            yield np.full((4, 3), np.nan if number == 2 else 0.1 * number)

    with says("X must hold finite numbers; got nan at row 8, column 0. Fill or drop it."):
        rank(fitted(), source(), jobs=jobs)
    assert len(given) < 50


def test_a_source_that_fails_ends_the_ranking():
    def source():
        yield X
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        rank(fitted(), source())


def test_a_reader_of_progress_may_end_the_ranking():
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank(fitted(), pieces(X, 3), progress=stop)
