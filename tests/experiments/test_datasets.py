import gzip
import hashlib
from collections import Counter

import numpy as np
import pytest

from possibal.experiments import datasets
from possibal.experiments.datasets import (
    DATASETS,
    PUBLISHED_LABELS,
    SOURCES,
    Dataset,
    coded_one,
    load,
)

# Rows, columns and rows per label, as UCI and OpenML give them.
FACTS = {
    "sonar": (208, 60, {"Rock": 97, "Mine": 111}),
    "wine": (178, 13, {"rest": 107, "class 2": 71}),
    "breast": (699, 9, {"benign": 458, "malignant": 241}),
    "ionosphere": (351, 34, {"bad": 126, "good": 225}),
    "vehicle": (846, 18, {"rest": 628, "bus": 218}),
    "thyroid": (215, 5, {"normal": 150, "hyper": 35, "hypo": 30}),
    "iris": (150, 4, {"setosa": 50, "versicolor": 50, "virginica": 50}),
    "seismic": (210, 7, {"Kama": 70, "Rosa": 70, "Canadian": 70}),
}
CARRIED = [name for name, source in SOURCES.items() if source.sha256]
DRAWN = ["fri", "block-center", "block-corner"]
BLOCKS = DRAWN[1:]

each_set = pytest.mark.parametrize("name", DATASETS)
each_block = pytest.mark.parametrize("name", BLOCKS)


def field(data: Dataset):
    """The rows that are not in the block."""
    return np.setdiff1d(np.arange(len(data.y)), data.block)


# ---------------------------------------------------------------- every set
def test_the_paper_has_eleven_sets_and_each_has_a_source():
    assert len(DATASETS) == 11
    assert list(DATASETS) == list(SOURCES)
    assert set(FACTS) | set(DRAWN) == set(DATASETS)


@each_set
def test_a_set_is_complete_and_agrees_with_itself(name):
    data = load(name)
    assert data.name == name
    assert data.source is SOURCES[name]
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert data.X.shape == (len(data.y), len(data.features))
    assert len(set(data.features)) == len(data.features)
    assert np.unique(data.y).tolist() == list(range(len(data.labels)))


@each_set
def test_nobody_can_write_into_a_set(name):
    data = load(name)
    for array in (data.X, data.y, data.block):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@each_set
def test_a_source_tells_whom_to_cite_and_on_what_terms(name):
    source = load(name).source
    assert source.citation
    assert source.licence
    assert (source.openml is None) == (name in BLOCKS)


@pytest.mark.parametrize("name", FACTS)
def test_shape_and_labels_are_those_of_the_source(name):
    rows, columns, counts = FACTS[name]
    data = load(name)
    assert data.X.shape == (rows, columns)
    assert Counter(data.labels[code] for code in data.y) == counts
    assert data.block.size == 0


def test_an_array_given_to_a_set_stays_the_callers_own():
    X, y = np.ones((2, 1)), np.array([0, 1])
    data = Dataset("mine", X, y, ("no", "yes"), ("x",), SOURCES["sonar"])
    X[0], y[0] = 5, 1
    assert data.X[0] == 1
    assert data.y[0] == 0


# ---------------------------------------------------------------- tables
def test_first_rows_are_as_published():
    assert load("sonar").X[0, :3].tolist() == [0.02, 0.0371, 0.0428]
    assert load("breast").X[0].tolist() == [5, 1, 1, 1, 2, 1, 3, 1, 1]
    assert load("ionosphere").X[0, :4].tolist() == [1, 0, 0.99539, -0.05889]
    assert load("vehicle").X[0, :4].tolist() == [95, 48, 83, 178]
    assert load("thyroid").X[0].tolist() == [107, 10.1, 2.2, 0.9, 2.7]
    assert load("seismic").X[0, :3].tolist() == [15.26, 14.84, 0.871]


@pytest.mark.parametrize("name", CARRIED)
def test_a_carried_table_has_its_hash_and_no_date(name):
    packed = (datasets.TABLES / f"{name}.csv.gz").read_bytes()
    assert hashlib.sha256(packed).hexdigest() == SOURCES[name].sha256
    assert packed[4:8] == bytes(4)  # RFC 1952: the time of the file


def test_missing_cells_of_breast_are_the_median_of_their_column():
    lines = gzip.decompress((datasets.TABLES / "breast.csv.gz").read_bytes()).decode().splitlines()
    names, *rows = [line.split(",") for line in lines]
    missing = [(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if not cell]
    column = names.index("bare_nuclei")
    known = [float(row[column]) for row in rows if row[column]]
    assert len(missing) == 16
    assert {j for _, j in missing} == {column}
    assert {load("breast").X[place] for place in missing} == {np.median(known)} == {1.0}


def test_a_changed_table_is_refused(tmp_path, monkeypatch):
    packed = bytearray((datasets.TABLES / "thyroid.csv.gz").read_bytes())
    packed[100] ^= 1
    (tmp_path / "thyroid.csv.gz").write_bytes(packed)
    monkeypatch.setattr(datasets, "TABLES", tmp_path)
    with pytest.raises(ValueError, match=r"^the table thyroid\.csv\.gz must have sha256 7e1e") as e:
        load("thyroid")
    assert str(e.value).endswith("Install possibal again: the file has changed.")


# ---------------------------------------------------------------- draws
@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_gives_the_same_rows_again_and_another_seed_others(name):
    first, again, other = load(name, 3), load(name, 3), load(name, 4)
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert np.array_equal(first.block, again.block)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("name", FACTS)
def test_a_seed_does_not_change_what_was_measured(name):
    assert np.array_equal(load(name).X, load(name, 4).X)


def test_fri_is_standardised_and_cut_at_its_mean():
    data = load("fri")
    assert data.X.shape == (250, 5)
    assert data.X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert data.X.std(axis=0, ddof=1) == pytest.approx(1)
    assert data.labels == ("N", "P")
    assert 0.4 < data.y.mean() < 0.6
    # The fourth input enters with the steepest slope: rows high in it are seldom below the mean.
    assert data.y[data.X[:, 3] > 1].mean() < 0.25
    assert data.y[data.X[:, 3] < -1].mean() > 0.75


@each_block
def test_a_tenth_of_the_rows_make_up_the_field(name):
    data = load(name)
    outside = field(data)
    assert data.X.shape == (2400, 2)
    assert len(set(data.block.tolist())) == 2160
    assert np.abs(data.X[outside]).max() <= 1
    assert np.ptp(data.X[outside], axis=0).min() > 1.9
    assert np.array_equal(data.y[outside], data.X[outside, 0] > 0)


@each_block
@pytest.mark.parametrize("seed", range(20))
def test_a_pool_leaves_enough_of_the_field_to_test_on(name, seed):
    data = load(name, seed)
    pool = np.random.default_rng(seed).choice(len(data.y), 150, replace=False)
    assert set(data.y[pool].tolist()) == {0, 1}
    assert np.setdiff1d(field(data), pool).size >= 200


def test_labels_of_the_block_in_the_center_are_tossed():
    data = load("block-center")
    X, y = data.X[data.block], data.y[data.block]
    assert np.abs(X).max() <= 0.2
    assert np.ptp(X, axis=0).min() > 0.39
    for half in (X[:, 0] > 0, X[:, 0] <= 0, X[:, 1] > 0, X[:, 1] <= 0):
        assert abs(y[half].mean() - 0.5) < 4 * 0.5 / np.sqrt(half.sum())


def test_the_block_in_the_corner_is_far_from_the_line_and_of_one_label():
    data = load("block-corner")
    X = data.X[data.block]
    assert X.min() >= 0.6
    assert X.max() <= 1
    assert {data.labels[code] for code in data.y[data.block]} == {"right"}


# ---------------------------------------------------------------- bad arguments
@pytest.mark.parametrize(
    ("name", "remedy"), [("sonr", "Did you mean 'sonar'?"), ("mnist", "Choose one of these.")]
)
def test_an_unknown_name_is_refused_and_the_nearest_offered(name, remedy):
    with pytest.raises(
        ValueError, match=f"^name must be one of 'sonar', 'wine', .*; got '{name}'"
    ) as e:
        load(name)
    assert str(e.value).endswith(remedy)


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match=r"^seed must be at least 0; got -1\. Use 0 or"):
        load("fri", -1)


# ---------------------------------------------------------------- codes
@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("sonar", "Rock"),
        ("wine", "class 2"),
        ("breast", "malignant"),
        ("ionosphere", "good"),
        ("fri", "P"),
        ("vehicle", "bus"),
        ("block-center", "right"),
    ],
)
def test_an_encoder_by_the_alphabet_codes_this_label_as_one(name, label):
    data = load(name)
    assert data.labels[coded_one(data)] == label


def test_published_labels_are_of_sets_with_two():
    assert {len(load(name).labels) for name in PUBLISHED_LABELS} == {2}
