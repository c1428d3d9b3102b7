"""A pool ranked from files: the rows of a model fitted by hand, whatever holds the pool."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import distributed
import numpy as np
import polars as pl
import pytest

from possibal.acquisition.pointwise import necessity
from possibal.acquisition.registry import STRATEGIES
from possibal.arguments import DEFAULT_STRATEGY
from possibal.belief import leading_labels
from possibal.estimators.classifier import PossibilisticGPClassifier, with_pool_scale
from possibal.pool import rank_files
from possibal.pool import ranking as pools
from possibal.pool.rank_files import RankedRows, RankRequest

X = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 3.0, 0.2] + [0.0, 5.0, -1.0]
CLASSES = np.where(X[:, 0] > 0, "yes", "no")
IDS = [f"r{row:02}" for row in range(60)]
LABELLED = range(0, 60, 5)
POOL = pl.DataFrame({"name": IDS, "x": X[:, 0], "y": X[:, 1], "z": X[:, 2]})
KNOWN = POOL[list(LABELLED)].with_columns(label=pl.Series(CLASSES[list(LABELLED)]))
COLUMNS = ["x", "y", "z"]
FREE = {*IDS} - {*KNOWN["name"]}


@pytest.fixture(autouse=True)
def _in_a_folder_with_labels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    KNOWN.write_csv("labels.csv")
    POOL.write_parquet("pool.parquet")


WANTED = RankRequest("pool.parquet", Path("labels.csv"), id="name", strategy="necessity", top=10)


def silent(_done: int, _size: int | None) -> None:
    pass


def ranked(**changes) -> RankedRows:
    return rank_files.rank_files(replace(WANTED, **changes), silent, jobs=1)


def ids(**changes) -> list[str]:
    return list(ranked(**changes).shortlist.ids)


def refusal(**changes) -> str:
    with pytest.raises(ValueError, match=" must ") as caught:
        ranked(**changes)
    return str(caught.value)


def by_hand() -> tuple[PossibilisticGPClassifier, np.ndarray]:
    """A model of the labelled rows, and the pool on its scale."""
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    return taught(scaled, scaled), scaled


def taught(scaled, some) -> PossibilisticGPClassifier:
    """A model of the labelled rows whose length-scale follows some rows."""
    model = with_pool_scale(PossibilisticGPClassifier(), some)
    return model.fit(scaled[list(LABELLED)], CLASSES[list(LABELLED)])


# ---------------------------------------------------------------- what is found
def test_rows_are_those_of_a_model_fitted_by_hand():
    model, scaled = by_hand()
    there = pools.rank(model, scaled, "necessity", top=10, aside=LABELLED, jobs=1)
    found = ranked()
    assert found.shortlist.places.tolist() == there.places.tolist()
    assert found.shortlist.ids == tuple(IDS[at] for at in there.places)
    assert found.shortlist.utilities == pytest.approx(there.utilities)
    belief = model.posterior_.at(scaled[there.places])
    assert found.label == model.classes_[leading_labels(belief)].tolist()
    assert {*found.label} == {"yes", "no"}
    places = [("no", "yes").index(one) for one in found.label]
    probabilities = model.predict_proba(scaled[there.places])
    assert found.probability == pytest.approx(probabilities[np.arange(10), places])
    assert found.necessity == pytest.approx(necessity(belief))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_is_that_of_a_model_fitted_by_hand(strategy):
    POOL.write_csv("pool.csv")
    model, scaled = by_hand()
    there = pools.rank(model, scaled, strategy, top=5, aside=LABELLED, jobs=1)
    assert ids(pool="pool.csv", strategy=strategy, top=5) == [IDS[at] for at in there.places]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_labelled_rows_of_a_large_file_are_left_out_too(strategy):
    found = ids(strategy=strategy, top=len(FREE))
    assert (len(found), {*found}) == (len(FREE), FREE)
    assert RankRequest("pool.parquet", Path("labels.csv")).strategy == DEFAULT_STRATEGY


def test_labelled_rows_are_left_out_and_all_others_are_listed():
    found = ids(top=len(FREE))
    assert (len(found), {*found}) == (len(FREE), FREE)
    assert ids() == found[:10]


def test_labelled_rows_need_not_be_in_the_pool():
    POOL.filter(pl.col("name").is_in(FREE)).write_parquet("free.parquet")
    assert {*ids(pool="free.parquet", top=len(FREE))} == FREE


def test_without_names_rows_are_numbers_and_none_is_left_out():
    KNOWN.drop("name").write_csv("labels.csv")
    found = ranked(id=None, top=60).shortlist
    assert found.ids == tuple(found.places.tolist())
    assert {*found.ids} == {*range(60)}


def test_three_classes_are_told_apart():
    third = np.digitize(X[list(LABELLED), 0], [-0.4, 0.4])
    KNOWN.with_columns(label=pl.Series([f"c{one}" for one in third])).write_csv("labels.csv")
    found = ranked(top=len(FREE))
    assert {*found.label} == {"c0", "c1", "c2"}
    assert np.all(found.probability > 1 / 3)


def test_the_summary_says_how_many_rows_there_were():
    found = ranked()
    assert found.summary.startswith("Ranked 60 rows in ")
    assert f" s; {found.shortlist.pruned:.1%} of them could " in found.summary
    assert found.seconds > 0


# ---------------------------------------------------------------- pools
def parts(folder: Path) -> None:
    """The pool in three files, the columns of each in another order."""
    folder.mkdir()
    POOL[:25].write_parquet(folder / "a.parquet")
    POOL[25:26].select("z", "name", "x", "y").write_parquet(folder / "b.parquet")
    POOL[26:].select("y", "x", "z", "name").write_parquet(folder / "c.parquet")


@pytest.mark.parametrize("pool", ["parts", "parts/*.parquet", "parts/[abc].parquet"])
def test_a_folder_and_a_pattern_are_one_pool(pool):
    parts(Path("parts"))
    found, there = ranked(pool=pool), ranked()
    assert found.shortlist.ids == there.shortlist.ids
    assert found.shortlist.places.tolist() == there.shortlist.places.tolist()


def test_a_folder_may_be_called_as_a_file():
    parts(Path("parts.parquet"))
    assert ids(pool="parts.parquet") == ids()


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".tsv"])
def test_a_file_of_text_is_a_pool(ending):
    path, shuffled = Path(f"pool{ending}"), POOL.select("z", "name", "y", "x")
    if ending == ".jsonl":
        shuffled.write_ndjson(path)
    else:
        shuffled.write_csv(path, separator="\t" if ending == ".tsv" else ",")
    found, there = ranked(pool=str(path)), ranked()
    assert found.shortlist.ids == there.shortlist.ids
    assert found.shortlist.utilities == pytest.approx(there.shortlist.utilities)
    assert ids(pool=str(path), id=None, columns=tuple(COLUMNS), top=60) == [
        *ranked(id=None, columns=tuple(COLUMNS), top=60).shortlist.places
    ]


@pytest.mark.parametrize("pool", ["pool.npy", "p*.npy"])
def test_an_array_is_a_pool_in_the_order_of_columns(pool):
    np.save("pool.npy", X)
    KNOWN.drop("name").write_csv("labels.csv")
    found = ids(pool=pool, id=None, top=60)
    assert found == ids(id=None, top=60)
    np.save("pool.npy", X[:, [1, 0, 2]])
    assert ids(pool=pool, id=None, columns=("y", "x", "z"), top=60) == found


def test_single_precision_gives_the_same_rows():
    POOL.with_columns(pl.col(COLUMNS).cast(pl.Float32)).write_parquet("single.parquet")
    assert ids(pool="single.parquet") == ids()


def test_it_says_how_many_labels_were_too_many():
    found = ranked()
    assert "left out" not in found.summary
    assert replace(found, left_out=7).summary.endswith(
        "7 labels that seemed to tell least were left out."
    )


def test_columns_can_be_chosen():
    scaled = ((X - X.mean(axis=0)) / X.std(axis=0))[:, [2, 0]]
    model = taught(scaled, scaled)
    there = pools.rank(model, scaled, "necessity", top=10, aside=LABELLED, jobs=1)
    assert ids(columns=("z", "x")) == [IDS[at] for at in there.places] != ids()


def test_columns_that_are_not_chosen_may_hold_anything():
    there = ids()
    remarks = pl.Series(["some", None, "words"] * 4)
    KNOWN.with_columns(remark=remarks).write_csv("labels.csv")
    assert "'some' at row 0, column 'remark' in 'labels.csv'" in refusal()
    assert ids(columns=tuple(COLUMNS)) == there


def test_the_label_may_be_called_otherwise():
    there = ids()
    KNOWN.rename({"label": "kind"}).write_csv("labels.csv")
    assert ids(label="kind") == there


def test_rows_without_a_label_are_skipped_whatever_they_hold():
    there = ids()
    more = pl.DataFrame({"name": ["r01", "r02"], "x": [None, 0.0], "y": 1.0, "z": 1.0})
    pl.concat([more, KNOWN], how="diagonal").write_csv("labels.csv")
    assert ids() == there
    broken = KNOWN.with_columns(x=pl.when(pl.col("name") == "r10").then(None).otherwise("x"))
    pl.concat([more, broken], how="diagonal").write_csv("labels.csv")
    assert "got None at row 4, column 'x' in 'labels.csv'" in refusal()


def test_the_scale_of_a_column_does_not_matter():
    there = ranked()
    POOL.with_columns(pl.col("y") * 1000).write_parquet("pool.parquet")
    KNOWN.with_columns(pl.col("y") * 1000).write_csv("labels.csv")
    found = ranked()
    assert found.shortlist.ids == there.shortlist.ids
    assert found.shortlist.utilities == pytest.approx(there.shortlist.utilities)


def test_the_kernel_may_be_an_rbf_alone():
    _, scaled = by_hand()
    model = with_pool_scale(PossibilisticGPClassifier("rbf"), scaled)
    model.fit(scaled[list(LABELLED)], CLASSES[list(LABELLED)])
    there = pools.rank(model, scaled, "necessity", top=10, aside=LABELLED, jobs=1)
    found = ranked(kernel="rbf").shortlist
    assert found.places.tolist() == there.places.tolist()
    assert found.utilities == pytest.approx(there.utilities)
    assert found.utilities != pytest.approx(ranked().shortlist.utilities)
    assert refusal(kernel="matern").startswith("kernel must be one of 'rbf'; got 'matern'")


def test_a_pool_of_rows_that_are_all_alike_is_ranked_in_its_order():
    POOL.with_columns(x=1.0, y=1.0, z=1.0).write_parquet("pool.parquet")
    found = ids(strategy="necessity", top=3)
    assert found == [one for one in IDS if one in FREE][:3]


def test_a_column_that_is_constant_in_the_pool_tells_nothing():
    there = ids()
    # In floats, 0.1 is not quite the mean of sixty of them.
    POOL.with_columns(c=0.1).write_parquet("pool.parquet")
    KNOWN.with_columns(c=0.1).write_csv("labels.csv")
    assert ids() == there
    KNOWN.with_columns(c=0.1 + 1e-9).write_csv("labels.csv")
    assert ids() == there


def test_the_scale_is_that_of_parts_from_all_over_the_pool():
    Path("many").mkdir()
    for row in range(60):
        POOL[row : row + 1].write_parquet(f"many/{row:02}.parquet")
    parts = [0, 8, 16, 25, 33, 42, 50, 59]
    scaled = (X - X[parts].mean(axis=0)) / X[parts].std(axis=0)
    model = taught(scaled, scaled[parts])
    there = pools.rank(model, scaled, "necessity", top=10, aside=LABELLED, jobs=1)
    found = ranked(pool="many").shortlist
    assert found.places.tolist() == there.places.tolist()
    assert found.utilities == pytest.approx(there.utilities)


def test_labels_may_be_in_any_table_and_numbers_of_any_kind():
    there = ids(columns=("x", "b"), pool=kinds(POOL, float))
    KNOWN.with_columns(
        x=pl.Series([Decimal(str(round(x, 2))) for x in KNOWN["x"]]), b=pl.col("y") > 5
    ).write_parquet("labels.parquet")
    assert ids(columns=("x", "b"), pool=kinds(POOL, bool), labels=Path("labels.parquet")) == there


def kinds(frame: pl.DataFrame, kind: type) -> str:
    """The pool with a column of yes and no, and labels in which it is a number."""
    rounded = KNOWN.with_columns(pl.col("x").round(2), b=(pl.col("y") > 5).cast(pl.Float64))
    rounded.write_csv("labels.csv")
    frame.with_columns(b=(pl.col("y") > 5).cast(kind)).write_parquet(f"{kind.__name__}.parquet")
    return f"{kind.__name__}.parquet"


# ---------------------------------------------------------------- names
@pytest.mark.parametrize(
    ("called", "said"),
    [
        (list(range(60)), str),
        ([float(row) for row in range(60)], str),
        ([f"{row:03}" for row in range(60)], lambda row: f"{row:03}"),
        ([f"0{row}" for row in range(60)], lambda row: f"0{row}"),
        ([f"{row}{'5' * 17}" for row in range(10, 70)], lambda row: f"{row + 10}{'5' * 17}"),
        ([f"a{row} " for row in range(60)], lambda row: f"a{row}"),
        ([date.fromordinal(row) for row in range(1, 61)], lambda row: f"0001-{at(row)}"),
    ],
)
def test_names_of_any_kind_are_found_again(called, said):
    frame = POOL.with_columns(name=pl.Series(called))
    frame.write_parquet("pool.parquet")
    frame[list(LABELLED)].with_columns(label=KNOWN["label"]).write_csv("labels.csv")
    found = rank_files.columns(ranked(top=len(FREE)))[0]
    assert {*found.cells} == {said(row) for row in range(60) if row not in LABELLED}


def at(row: int) -> str:
    """A day of the first year, without the year."""
    return date.fromordinal(row + 1).strftime("%m-%d")


def test_rows_without_a_name_stay():
    lost = pl.when(pl.col("name").is_in(["r00", "r01"])).then(None).otherwise("name")
    POOL.with_columns(name=lost).write_parquet("pool.parquet")
    KNOWN.with_columns(name=lost).write_csv("labels.csv")
    found = ranked(top=49)
    assert {*found.shortlist.places} == {0, *range(60)} - {*LABELLED[1:]}
    assert rank_files.columns(found)[0].cells.count(None) == 2


def test_names_that_recur_are_refused_where_rows_run_out():
    labelled = pl.col("name").is_in(KNOWN["name"].to_list())
    frame = pl.concat([POOL, *[POOL.filter(labelled)] * 4])
    frame.write_parquet("pool.parquet")
    assert "id must be a column that names each row once; got 'r" in refusal(top=48)
    frame.write_csv("pool.csv")
    assert "id must be a column that names each row once; got 'r" in refusal(pool="pool.csv")


# ---------------------------------------------------------------- progress and threads
def test_progress_is_told_part_by_part():
    parts(Path("parts"))
    told = []
    rank_files.rank_files(replace(WANTED, pool="parts"), lambda *done: told.append(done), jobs=2)
    assert told == [(25, 60), (26, 60), (60, 60)]


def test_columns_of_a_file_say_what_was_found():
    found = ranked(top=3)
    listed = rank_files.columns(found)
    heads = " ".join(one.name for one in listed)
    assert heads == "id row utility label probability necessity"
    rows = [IDS.index(str(one)) for one in found.shortlist.ids]
    assert [list(one.cells) for one in listed] == [
        list(found.shortlist.ids),
        [str(row) for row in rows],
        found.shortlist.utilities.tolist(),
        found.label,
        found.probability.tolist(),
        found.necessity.tolist(),
    ]
    assert [one.is_number for one in listed] == [False, False, True, False, True, True]


def test_a_cluster_gives_the_same_rows():
    parts(Path("parts"))
    POOL.write_csv("pool.csv")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as there:
        for pool, rows in {"parts": 60, "pool.csv": len(FREE)}.items():
            wanted = replace(WANTED, pool=pool)
            found = rank_files.rank_files(wanted, silent, client=there.scheduler_address)
            assert list(found.shortlist.ids) == ids()
            assert found.shortlist.rows == rows


# ---------------------------------------------------------------- mistakes
def test_more_rows_than_there_are_cannot_be_listed():
    assert refusal(top=49) == (
        "top must be at most 48, the rows without a label; got 49. Ask for fewer."
    )
    assert refusal(top=61) == "top must be at most 60, the rows there are; got 61. Ask for fewer."


@pytest.mark.parametrize(("given", "count"), [("yes", 1), (None, 0)])
def test_fewer_than_two_classes_are_refused(given, count):
    KNOWN.with_columns(label=pl.lit(given, dtype=pl.String)).write_csv("labels.csv")
    assert refusal() == (
        f"labels must name at least two classes; got {count} in column 'label' of 'labels.csv'. "
        "Label more rows."
    )


def test_labels_without_columns_are_refused():
    KNOWN.select("name", "label").write_csv("labels.csv")
    assert refusal() == (
        "columns must name at least one column; got none in 'labels.csv' beside the label. "
        "Add columns of numbers."
    )


def test_a_column_that_is_not_there_is_named():
    POOL.drop("y").write_parquet("short.parquet")
    POOL.drop("y").write_csv("short.csv")
    assert "X must have one column 'y'; got none in 'short.parquet'" in refusal(
        pool="short.parquet"
    )
    assert "columns must be a column of the data; got 'y'" in refusal(pool="short.csv")
    assert "columns must be a column of the data; got 'w'" in refusal(columns=("x", "w"))
    assert "label must be a column of the data; got 'kind'" in refusal(label="kind")
    assert "id must be a column of the data; got 'who'" in refusal(id="who")
    POOL.drop("name").write_parquet("short.parquet")
    POOL.drop("name").write_csv("short.csv")
    assert "X must have one column 'name'; got none in" in refusal(pool="short.parquet")
    assert "id must be a column of the data; got 'name'" in refusal(pool="short.csv")


def test_an_array_has_no_names_and_as_many_columns_as_the_labels():
    np.save("pool.npy", X[:, :2])
    assert "id must be left out where X is an array" in refusal(pool="pool.npy")
    KNOWN.drop("name").write_csv("labels.csv")
    assert "fitted to, 3; got 2 in 'pool.npy'" in refusal(pool="pool.npy", id=None)


@pytest.mark.parametrize("pool", ["none.parquet", "none", "none/*.parquet", "none.npy"])
def test_a_pool_that_is_not_there_is_named(pool):
    assert f"got {pool!r}, where there is none. Check its name" in refusal(pool=pool)


def test_what_can_be_known_beforehand_is_checked_before_files_are_read():
    with pytest.raises(ValueError, match=r"^strategy must be one of .* Did you mean 'necessity'\?"):
        RankRequest("none", Path("none"), strategy="necessit")
    with pytest.raises(ValueError, match=r"^top must be at least 1; got 0\."):
        RankRequest("none", Path("none"), top=0)
