from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from possibal.experiments.datasets import SOURCES, Dataset, load
from possibal.experiments.spec import PROTOCOLS, TABLE_3, Experiment, Sizes, experiment
from possibal.experiments.splits import check, random_stream, scaled, split
from possibal.numerics.diffusion import fit_diffusion

each_set = pytest.mark.parametrize("name", TABLE_3)
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
runs = st.integers(0, 10_000)


def own(codes, columns=2, block=()):
    """A set whose labels are given, and whose columns have scales of their own."""
    X = np.random.default_rng(len(codes)).normal(3.0, 2.0, (len(codes), columns))
    labels = tuple(f"label {code}" for code in range(max(codes) + 1))
    features = tuple(f"x{column}" for column in range(columns))
    return Dataset("mine", X, codes, labels, features, SOURCES["fri"], np.array(block, dtype=int))


def sized(queries=3, pool=10, test=5, protocol="paper", seed=0):
    return Experiment("mine", protocol, "paper", Sizes(2, queries, pool, test), seed)


def test_rows_compared_by_direction_have_the_clusters_of_the_pool_unless_the_model_is_plain():
    data = replace(own([0, 1] * 60, columns=12), metric="cosine")
    sizes = Sizes(1, 3, 80, 20)
    one = split(Experiment("mine", "held-out", "envelope", sizes), data, 0)
    fitted = fit_diffusion(one.X[one.pool])
    np.testing.assert_array_equal(one.diffusion, fitted.apply(one.X))
    np.testing.assert_array_equal(one.rows, np.hstack([one.X, one.diffusion]))
    for hyperparameters in ("envelope-rbf", "evidence", "paper"):
        plain = split(Experiment("mine", "held-out", hyperparameters, sizes), data, 0)
        np.testing.assert_array_equal(plain.rows, plain.X)
    table = split(Experiment("mine", "held-out", "envelope", sizes), own([0, 1] * 60), 0)
    np.testing.assert_array_equal(table.rows, table.X)
    small = replace(data, X=data.X[:40], y=data.y[:40])
    few = split(Experiment("mine", "held-out", "envelope", Sizes(1, 3, 30, 10)), small, 0)
    np.testing.assert_array_equal(few.rows, few.X)


# ---------------------------------------------------------------- what every share has


@each_set
@each_protocol
def test_a_share_of_every_set_is_what_table_3_says(name, protocol):
    data, one = load(name), experiment(name, protocol)
    share = split(one, data, 1)
    assert len(share.pool) == TABLE_3[name].pool
    others = len(data.y) - (len(share.pool) if protocol == "held-out" else 0)
    assert len(share.test) == min(TABLE_3[name].test, others)
    assert set(data.y[share.pool]) == set(data.y)


@settings(max_examples=60)
@given(
    run=runs,
    counts=st.lists(st.integers(1, 15), min_size=2, max_size=4),
    room=st.integers(1, 12),
    test=st.integers(1, 40),
    protocol=st.sampled_from(list(PROTOCOLS)),
)
def test_pool_start_and_test_keep_their_promises(run, counts, room, test, protocol):
    codes = np.append(np.repeat(np.arange(len(counts)), counts), [0, 0])
    data, rows, labels = own(codes), len(codes), len(counts)
    pool = min(labels + room, rows - 1)
    share = split(sized(1, pool, test, protocol), data, run)
    assert share.pool.tolist() == sorted(set(share.pool.tolist()))
    assert len(share.pool) == pool
    assert data.y[share.start].tolist() == list(range(labels))
    assert np.isin(share.start, share.pool).all()
    assert share.test.tolist() == sorted(set(share.test.tolist()))
    held_out = protocol == "held-out"
    assert len(share.test) == min(test, rows - pool if held_out else rows)
    assert not (held_out and np.isin(share.test, share.pool).any())
    assert share.X.shape == data.X.shape


def test_the_same_seed_and_run_give_the_same_share_again():
    one, data = experiment("sonar"), load("sonar")
    first, again = split(one, data, 7), split(one, data, 7)
    for name in ("X", "pool", "start", "test"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))


def test_other_runs_and_other_seeds_give_other_shares():
    one, data = experiment("sonar"), load("sonar")
    shares = [split(one, data, run) for run in range(4)]
    shares += [split(replace(one, seed=seed), data, 0) for seed in (1, 2)]
    for name in ("pool", "start", "test"):
        assert len({getattr(share, name).tobytes() for share in shares}) == 6


def test_the_start_is_drawn_by_run_and_by_seed():
    data = own(np.arange(60) % 2)  # every pool is the whole set
    starts = {tuple(split(sized(1, 60, seed=s), data, r).start) for s in range(3) for r in range(3)}
    assert len(starts) > 6


def test_hyperparameters_and_the_number_of_runs_change_no_share():
    data = load("iris")
    one = split(experiment("iris"), data, 3)
    other = split(experiment("iris", hyperparameters="envelope").with_runs(2), data, 3)
    for name in ("X", "pool", "start", "test"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@each_protocol
def test_the_pool_does_not_depend_on_the_protocol(protocol):
    data = load("iris")
    expected = split(experiment("iris"), data, 3)
    found = split(experiment("iris", protocol), data, 3)
    np.testing.assert_array_equal(found.pool, expected.pool)
    np.testing.assert_array_equal(found.start, expected.start)


def test_every_row_comes_into_some_pool_and_some_test():
    data, one = own(np.arange(12) % 2), sized(1, 5, 4)
    shares = [split(one, data, run) for run in range(60)]
    assert set(np.concatenate([share.pool for share in shares])) == set(range(12))
    assert set(np.concatenate([share.start for share in shares])) == set(range(12))
    assert set(np.concatenate([share.test for share in shares])) == set(range(12))


# ---------------------------------------------------------------- the two protocols


def test_the_paper_tests_on_rows_of_the_pool_too():
    # 160 of the 178 rows of wine are tested on, and 120 are in the pool.
    for run in range(5):
        share = split(experiment("wine"), load("wine"), run)
        assert len(np.intersect1d(share.test, share.pool)) >= 120 + 160 - 178


def test_the_paper_scales_columns_by_the_whole_set():
    data = load("wine")
    share = split(experiment("wine"), data, 0)
    np.testing.assert_allclose(share.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(share.X.std(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(share.X, split(experiment("wine"), data, 1).X)


@pytest.mark.parametrize("name", ["wine", "iris", "block-center"])
def test_held_out_no_test_row_is_in_the_pool(name):
    data = load(name)
    for run in range(5):
        share = split(experiment(name, "held-out"), data, run)
        assert not np.isin(share.test, share.pool).any()


def test_held_out_columns_are_scaled_by_the_pool():
    share = split(experiment("wine", "held-out"), load("wine"), 0)
    np.testing.assert_allclose(share.X[share.pool].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(share.X[share.pool].std(axis=0), 1.0, rtol=1e-12)


def test_held_out_the_pool_does_not_see_the_other_rows():
    data, one = load("wine"), experiment("wine", "held-out")
    share = split(one, data, 0)
    others = np.setdiff1d(np.arange(len(data.y)), share.pool)
    X = data.X.copy()
    X[others] = 1e3 * X[others] - 7.0
    again = split(one, replace(data, X=X), 0)
    np.testing.assert_array_equal(again.X[share.pool], share.X[share.pool])
    assert not np.array_equal(again.X[others], share.X[others])


def test_columns_that_are_made_of_rows_are_fitted_to_the_pool():
    data, seen = load("wine"), list[np.ndarray]()

    def made(pool):
        seen.append(pool)
        return data.X - data.X[pool].mean(axis=0)

    texts = replace(data, X=np.zeros((len(data.y), 1)), fitted_to=made)
    share, plain = (split(experiment("wine", "held-out"), one, 0) for one in (texts, data))
    np.testing.assert_array_equal(seen[0], share.pool)
    np.testing.assert_allclose(share.X[share.pool].mean(axis=0), 0.0, atol=1e-9)
    for one in ("pool", "start", "test"):
        np.testing.assert_array_equal(getattr(share, one), getattr(plain, one))


def test_under_the_papers_protocol_the_pool_does_see_them():
    data, one = load("wine"), experiment("wine")
    share = split(one, data, 0)
    others = np.setdiff1d(np.arange(len(data.y)), share.pool)
    X = data.X.copy()
    X[others] = 1e3 * X[others]
    assert not np.allclose(split(one, replace(data, X=X), 0).X[share.pool], share.X[share.pool])


@each_protocol
@pytest.mark.parametrize("name", ["block-center", "block-corner"])
def test_rows_of_a_block_are_asked_about_but_never_tested_on(name, protocol):
    data = load(name)
    for run in range(3):
        share = split(experiment(name, protocol), data, run)
        assert np.isin(share.pool, data.block).any()
        assert not np.isin(share.test, data.block).any()
        assert len(share.test) == 200


def test_held_out_all_other_rows_are_tested_on_where_they_are_fewer():
    share = split(experiment("vehicle", "held-out"), load("vehicle"), 0)
    assert len(share.test) == 846 - 300
    np.testing.assert_array_equal(np.union1d(share.pool, share.test), np.arange(846))


# ---------------------------------------------------------------- rare labels


@pytest.mark.parametrize("run", range(3))
def test_a_label_that_a_single_row_carries_gets_into_the_pool(run):
    codes = np.zeros(3000, dtype=int)
    codes[1234] = 1
    share = split(sized(3, 5), own(codes), run)
    assert 1234 in share.pool
    assert share.start[1] == 1234
    assert len(set(share.pool.tolist())) == 5


def test_a_pool_that_lacks_a_label_is_drawn_again():
    # A pool of 3 of 12 rows lacks the label of 2 rows more often than not.
    data = own(np.repeat([0, 1], [10, 2]))
    for run in range(20):
        share = split(sized(1, 3), data, run)
        assert set(data.y[share.pool]) == {0, 1}


# ---------------------------------------------------------------- scaling


def test_a_column_that_does_not_vary_becomes_zero():
    X = np.column_stack([np.arange(4.0), np.full(4, 7.0)])
    found = scaled(X, X[:3])
    np.testing.assert_allclose(found[:, 0], (np.arange(4) - 1) / np.sqrt(2 / 3), rtol=1e-14)
    np.testing.assert_array_equal(found[:, 1], 0.0)


# ---------------------------------------------------------------- refusals


def test_a_pool_of_more_rows_than_there_are_is_refused():
    check(sized(3, 12), own(np.arange(12) % 2))
    with pytest.raises(ValueError, match="pool must") as e:
        check(sized(3, 13), own(np.arange(12) % 2))
    assert str(e.value) == (
        "pool must be at most 12, the rows of mine; got 13. Ask for a smaller one."
    )


def test_a_pool_without_room_for_a_start_is_refused():
    check(sized(3, 5), own(np.arange(12) % 2))
    with pytest.raises(ValueError, match="pool must") as e:
        check(sized(3, 5), own(np.arange(12) % 3))
    assert str(e.value) == (
        "pool must have room for 3 labels to start with and 3 questions; got 5 rows. "
        "Ask fewer questions."
    )


def test_held_out_a_pool_of_all_rows_is_refused():
    check(sized(3, 11, protocol="held-out"), own(np.arange(12) % 2))
    with pytest.raises(ValueError, match="pool must") as e:
        check(sized(3, 12, protocol="held-out"), own(np.arange(12) % 2))
    assert str(e.value) == (
        "pool must leave rows of mine to test on; got 12 of 12. Ask for a smaller pool."
    )


def test_a_set_that_is_all_block_is_refused():
    with pytest.raises(ValueError, match=r"^pool must leave rows of mine to test on"):
        check(sized(3, 6), own(np.arange(12) % 2, block=range(12)))


# ---------------------------------------------------------------- random streams
def test_the_same_purpose_of_the_same_run_draws_the_same():
    assert random_stream(1, 2, "pool").random() == random_stream(1, 2, "pool").random()


def test_another_seed_run_or_purpose_draws_anew():
    keys = [(1, 2, "pool"), (2, 2, "pool"), (1, 3, "pool"), (1, 2, "ask")]
    assert len({random_stream(*key).random() for key in keys}) == 4
