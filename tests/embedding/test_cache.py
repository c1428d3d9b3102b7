import multiprocessing
import os
import sqlite3

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from possibal.embedding import cache as caches
from possibal.embedding.cache import (
    EmbeddingCache,
    cache_beside,
    content_key,
    withdrawn_if_refused,
)
from possibal.embedding.embedder import EmbedderIdentity

ONE, OTHER = EmbedderIdentity("one", "1", "a" * 64), EmbedderIdentity("other", "1", "b" * 64)
HALVES = st.integers(-2000, 2000).map(lambda value: np.float16(value / 1000))


def keys(count, first=0):
    """Keys of some contents."""
    return [content_key(ONE, str(first + i).encode()) for i in range(count)]


def halves(count, seed=0):
    """Vectors of half precision."""
    return np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float16)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.csv.possibal.embeddings"


# ---------------------------------------------------------------- places and keys
@pytest.mark.parametrize(
    ("campaign", "name"),
    [
        ("a.csv.possibal.db", "a.csv.possibal.embeddings"),
        ("team.db", "team.possibal.embeddings"),
        ("new.csv", "new.csv.possibal.embeddings"),
        ("photos", "photos.possibal.embeddings"),
        ("photos.zip", "photos.zip.possibal.embeddings"),
    ],
)
def test_it_lies_beside_what_it_is_about(tmp_path, campaign, name):
    assert cache_beside(tmp_path / campaign) == tmp_path / name


def test_that_of_the_folder_we_are_in_lies_beside_it(tmp_path, monkeypatch):
    (tmp_path / "photos" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "photos")
    assert cache_beside(caches.Path()) == tmp_path.resolve() / "photos.possibal.embeddings"
    monkeypatch.chdir(tmp_path / "photos" / "sub")
    assert cache_beside(caches.Path("..")) == tmp_path.resolve() / "photos.possibal.embeddings"


@given(st.binary(), st.binary())
def test_keys_tell_contents_and_embedders_apart(one, other):
    assert (content_key(ONE, one) == content_key(ONE, other)) == (one == other)
    assert content_key(ONE, one) != content_key(OTHER, one)
    assert len(content_key(ONE, one)) == caches.BYTES


def test_a_model_that_moved_has_the_same_keys():
    moved = EmbedderIdentity("one", "2", "a" * 64, path="/elsewhere")
    assert content_key(moved, b"x") == content_key(ONE, b"x")


# ---------------------------------------------------------------- keeping
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(vectors=arrays(np.float16, st.tuples(st.integers(1, 9), st.just(4)), elements=HALVES))
def test_what_is_kept_is_found_to_the_last_bit(tmp_path_factory, vectors):
    path = tmp_path_factory.mktemp("cache") / "c"
    EmbeddingCache(path).keep(keys(len(vectors)), vectors)
    found = EmbeddingCache(path).find(keys(len(vectors) + 2))
    assert list(found) != keys(len(vectors) + 2)
    for key, vector in zip(keys(len(vectors)), vectors, strict=True):
        assert found[key].dtype == np.float16
        assert found[key].tobytes() == vector.tobytes()


def test_more_keys_than_a_statement_holds_are_found(path):
    many = 2 * caches.MANY + 3
    cache = EmbeddingCache(path)
    cache.keep(keys(many), halves(many))
    assert len(cache.find(keys(many + 5))) == many
    assert cache.trouble == ""


def test_what_is_kept_twice_is_kept_once(path):
    cache = EmbeddingCache(path)
    cache.keep(keys(3), halves(3))
    cache.keep(keys(3), halves(3, seed=1))
    assert (cache.find(keys(1))[keys(1)[0]] == halves(3, seed=1)[0]).all()
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM vectors").fetchone() == (3,)
    database.close()


def test_without_a_file_nothing_is_kept_and_nothing_is_wrong():
    cache = EmbeddingCache()
    cache.keep(keys(2), halves(2))
    assert cache.find(keys(2)) == {}
    assert cache.trouble == ""


def test_looking_for_vectors_begins_no_file(path):
    assert EmbeddingCache(path).find(keys(2)) == {}
    EmbeddingCache(path).keep([], halves(0))
    assert not path.exists()


# ---------------------------------------------------------------- trouble
def foreign(path):
    """Another program's database."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE vectors (name TEXT)")
    database.close()


def torn(path):
    """A cache of which the middle is lost."""
    EmbeddingCache(path).keep(keys(3000), halves(3000))
    content = path.read_bytes()
    half = len(content) // 2
    path.write_bytes(content[:half] + b"\xff" * 8192 + content[half + 8192 :])


TROUBLES = {
    "no database": lambda path: path.write_bytes(b"hello, I am a note"),
    "nothing but a header": lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 5000),
    "another database": foreign,
    "a folder": lambda path: path.mkdir(),
    "a torn cache": torn,
}


@pytest.mark.parametrize("case", TROUBLES)
def test_a_file_that_cannot_be_used_is_told_and_left_alone(path, case):
    TROUBLES[case](path)
    before = path.read_bytes() if path.is_file() else None
    cache = EmbeddingCache(path)
    cache.find(keys(3000))
    assert cache.trouble
    assert "\n" not in cache.trouble
    cache.keep(keys(2), halves(2))
    assert cache.find(keys(2)) == {}
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("vector", ["x'010203'", "NULL", "'word'"])
def test_a_vector_that_is_none_is_told(path, vector):
    EmbeddingCache(path).keep(keys(1), halves(1))
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE vectors SET vector = {vector}")  # noqa: S608 - ours
    database.close()
    cache = EmbeddingCache(path)
    assert cache.find(keys(1)) == {}
    assert cache.trouble


def test_a_folder_that_is_not_there_is_told(tmp_path):
    cache = EmbeddingCache(tmp_path / "none" / "c")
    assert cache.find(keys(2)) == {}
    cache.keep(keys(2), halves(2))
    assert "unable to open" in cache.trouble


def test_a_name_too_long_for_the_system_is_told(tmp_path):
    cache = EmbeddingCache(tmp_path / ("x" * 300))
    assert cache.find(keys(2)) == {}
    cache.keep(keys(2), halves(2))
    assert cache.trouble


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write all")
def test_a_file_that_may_only_be_read_is_read(path):
    EmbeddingCache(path).keep(keys(2), halves(2))
    path.chmod(0o444)
    cache = EmbeddingCache(path)
    assert len(cache.find(keys(3))) == 2
    assert cache.trouble == ""
    cache.keep(keys(1, first=5), halves(1))
    assert "readonly" in cache.trouble


def test_a_file_that_another_process_holds_is_given_up(path, monkeypatch):
    monkeypatch.setattr(caches, "PATIENCE", 0.05)
    EmbeddingCache(path).keep(keys(2), halves(2))
    holder = sqlite3.connect(path)
    holder.execute("BEGIN EXCLUSIVE")
    cache = EmbeddingCache(path)
    assert cache.find(keys(2)) == {}
    assert cache.trouble == "database is locked"
    holder.rollback()
    holder.close()
    assert len(EmbeddingCache(path).find(keys(2))) == 2


def test_a_full_disk_is_told_and_what_was_there_stays(path):
    cache = EmbeddingCache(path)
    cache.keep(keys(10), halves(10))
    full = 0
    with sqlite3.connect(path) as database:
        full = database.execute("PRAGMA page_count").fetchone()[0]
    database.close()
    opened = cache._opened  # noqa: SLF001 - a disk that is full cannot be had otherwise

    @caches.contextmanager
    def small():
        with opened() as database:
            database.execute(f"PRAGMA max_page_count = {full}")
            yield database

    cache._opened = small  # noqa: SLF001 - as above
    cache.keep(keys(5000, first=100), halves(5000))
    assert cache.trouble == "database or disk is full"
    again = EmbeddingCache(path)
    assert len(again.find(keys(10))) == 10
    assert again.find(keys(5000, first=100)) == {}  # all of them or none


# ---------------------------------------------------------------- several processes
def _write(path, first):
    """Keep vectors, some at a time; what a process of its own does."""
    cache = EmbeddingCache(path)
    for start in range(first, first + 200, 20):
        cache.keep(keys(20, start), halves(20, start))
    if cache.trouble:
        raise RuntimeError(cache.trouble)


def test_two_processes_share_a_cache(path):
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_write, args=(path, first)) for first in (0, 100)]
    for one in processes:
        one.start()
    for one in processes:
        one.join()
    assert [one.exitcode for one in processes] == [0, 0]
    found = EmbeddingCache(path).find(keys(300))
    assert len(found) == 300
    assert found[keys(1, 40)[0]].tobytes() == halves(20, 40)[0].tobytes()


# ---------------------------------------------------------------- refusals
def begin(path, error):
    """Keep something, and fail."""
    EmbeddingCache(path).keep(keys(1), halves(1))
    raise error


@pytest.mark.parametrize("refusal", [ValueError, TypeError])
def test_a_cache_that_was_begun_for_rows_that_are_refused_goes(path, refusal):
    with pytest.raises(refusal), withdrawn_if_refused(path):
        begin(path, refusal)
    assert not path.exists()


def test_a_cache_that_was_there_stays(path):
    EmbeddingCache(path).keep(keys(1), halves(1))
    with pytest.raises(ValueError, match="x"), withdrawn_if_refused(path):
        raise ValueError("x")
    assert path.exists()


def test_a_cache_of_work_that_was_interrupted_stays(path):
    with pytest.raises(KeyboardInterrupt), withdrawn_if_refused(path):
        begin(path, KeyboardInterrupt)
    assert path.exists()


def test_a_cache_that_somebody_else_took_away_hides_no_refusal(path, monkeypatch):
    def gone(_path):
        raise FileNotFoundError

    monkeypatch.setattr(caches.Path, "unlink", gone)
    with pytest.raises(ValueError, match="x"), withdrawn_if_refused(path):
        begin(path, ValueError("x"))


@pytest.mark.parametrize("named", [True, False])
def test_a_refusal_before_anything_was_kept_is_the_same(path, named):
    with pytest.raises(ValueError, match="x"), withdrawn_if_refused(path if named else None):
        raise ValueError("x")
    assert not path.exists()
