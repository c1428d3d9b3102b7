import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from possibal.embedding import computing
from possibal.embedding.cache import EmbeddingCache
from possibal.embedding.computing import (
    WINDOW,
    TextRows,
    fit_rows,
    project_rows,
    text_windows,
)
from possibal.embedding.embedder import EmbedderIdentity, ImageInput, Modality
from possibal.embedding.sentence_encoder import SentenceEncoder

SENTENCE = r"^encoder must [^\n]*; got [^\n]*\. [^\n]*\.$"
TEXTS = [f"{what} number {i}" for i in range(12) for what in ("a card", "the train", "some soup")]


def silent(_share):
    """Nothing is told."""


class Letters:
    """An embedder that counts letters, and remembers what it was given."""

    modality = Modality.TEXT
    image_input = None
    identity = EmbedderIdentity("letters", "1", "c" * 64)

    def __init__(self):
        self.given = []

    def embed(self, rows):
        self.given.append(list(rows))
        return np.array([[row.count(a) + 0.1 for a in "abcdefgh "] for row in rows])

    @property
    def seen(self):
        """All texts that it was given."""
        return [text for part in self.given for text in part]


class Colours:
    """An embedder of pictures by their first point."""

    modality = Modality.IMAGE
    image_input = ImageInput()
    identity = EmbedderIdentity("colours", "1", "d" * 64)

    def embed(self, rows):
        return np.array([row.getpixel((0, 0)) for row in rows], dtype=float) + 1


class Pictures:
    """Pictures of one point each; None for one that cannot be read."""

    def __init__(self, colours):
        self.colours = colours

    def __len__(self):
        return len(self.colours)

    def content(self, place):
        return str(self.colours[place]).encode()

    def load(self, places):
        return [self.picture(place) for place in places]

    def picture(self, place):
        """One of them."""
        if self.colours[place] is None:
            return ValueError(f"row {place} is broken")
        return Image.new("RGB", (1, 1), self.colours[place])


def fitted(texts, cache=None, embedder=None):
    """The coordinates of texts."""
    return fit_rows(embedder or Letters(), TextRows(texts), cache or EmbeddingCache(), silent)[1].X


# ---------------------------------------------------------------- rows and vectors
def test_rows_that_are_equal_are_embedded_once():
    letters = Letters()
    X = fitted(["abc", "cab", "abc", "abc", "cab"], embedder=letters)
    assert sorted(letters.seen) == ["abc", "cab"]
    assert (X[0] == X[2]).all()
    assert (X[1] == X[4]).all()


@given(st.lists(st.text("abcdefgh ", max_size=9), min_size=1, max_size=20), st.data())
def test_the_order_of_rows_does_not_matter_for_a_row(texts, data):
    projection, found = fit_rows(Letters(), TextRows(texts), EmbeddingCache(), silent)
    order = data.draw(st.permutations(range(len(texts))))
    turned = TextRows([texts[place] for place in order])
    again = project_rows(Letters(), turned, projection, EmbeddingCache(), silent)
    np.testing.assert_allclose(again.X, found.X[list(order)], atol=1e-12)


def test_empty_texts_are_at_the_centre_and_never_embedded():
    letters = Letters()
    X = fitted(["abc", "", "fff", "", "gab"], embedder=letters)
    assert "" not in letters.seen
    assert not X[[1, 3]].any()
    assert X[[0, 2, 4]].any(axis=1).all()
    np.testing.assert_allclose(X[[0, 2, 4]].mean(axis=0), 0, atol=1e-12)


def test_a_batch_of_empty_texts_alone_is_at_the_centre(monkeypatch):
    monkeypatch.setitem(computing.BATCH, Modality.TEXT, 4)
    texts = ["abc", "fff", "gab", "h", *[""] * 9, "cab"]
    X = fitted(texts)
    assert not X[4:13].any()
    projection, _ = fit_rows(Letters(), TextRows(texts), EmbeddingCache(), silent)
    new = project_rows(
        Letters(), TextRows([""] * 6 + ["abc"]), projection, EmbeddingCache(), silent
    )
    assert not new.X[:6].any()
    np.testing.assert_allclose(new.X[6], X[0], atol=1e-12)


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["abc"], ["abc", "abc", ""]])
def test_rows_that_do_not_differ_have_no_axis(texts):
    assert fitted(texts).shape == (len(texts), 0)


def test_a_projection_is_fitted_to_a_part_spread_over_a_large_pool(monkeypatch):
    monkeypatch.setattr(computing, "STUDIED", 10)
    monkeypatch.setitem(computing.BATCH, Modality.TEXT, 5)
    letters = Letters()
    projection, found = fit_rows(letters, TextRows(TEXTS), EmbeddingCache(), silent)
    studied = TEXTS[::4]
    assert letters.seen[: len(studied)] == studied
    own, _ = fit_rows(Letters(), TextRows(studied), EmbeddingCache(), silent)
    np.testing.assert_allclose(projection.centre, own.centre, atol=0.05)
    again = project_rows(Letters(), TextRows(TEXTS), projection, EmbeddingCache(), silent)
    np.testing.assert_allclose(again.X, found.X, atol=1e-12)


def test_progress_grows_to_one(monkeypatch):
    monkeypatch.setitem(computing.BATCH, Modality.TEXT, 5)
    shares = []
    projection, _ = fit_rows(Letters(), TextRows(TEXTS), EmbeddingCache(), shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    shares.clear()
    project_rows(Letters(), TextRows([*TEXTS, ""]), projection, EmbeddingCache(), shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_memory_holds_one_batch_of_vectors_beside_the_rows_that_are_studied(monkeypatch):
    class Wide(Letters):
        """One that remembers nothing."""

        def embed(self, rows):
            return np.tile(Letters().embed(rows), 20)

    monkeypatch.setattr(computing, "STUDIED", 100)
    monkeypatch.setitem(computing.BATCH, Modality.TEXT, 100)
    rows = TextRows([f"{i} abc"[i % 5 :] + "h" * (i % 7) + str(i) for i in range(20_000)])
    tracemalloc.start()
    X = fit_rows(Wide(), rows, EmbeddingCache(), silent)[1].X
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    whole = 20_000 * 180 * np.dtype(np.float16).itemsize
    assert peak - X.nbytes < whole / 2


@pytest.mark.parametrize("size", [None, 8])
def test_few_pictures_are_in_memory_where_they_are_wanted_as_they_are(size):
    class Watched(Pictures):
        """Pictures that remember how many were asked for at a time."""

        most = 0

        def load(self, places):
            self.most = max(self.most, len(places))
            return super().load(places)

    embedder, rows = Colours(), Watched([(i, 255 - i, 0) for i in range(100)])
    embedder.image_input = ImageInput(size)
    found = fit_rows(embedder, rows, EmbeddingCache(), silent)[1]
    assert found.X.any(axis=1).all()
    assert rows.most == (computing.LARGE_BATCH if size is None else computing.BATCH[Modality.IMAGE])


# ---------------------------------------------------------------- rows that cannot be read
def test_a_picture_that_cannot_be_read_is_told_and_the_others_go_on():
    rows = Pictures(["red", None, "blue", "lime", None])
    projection, found = fit_rows(Colours(), rows, EmbeddingCache(), silent)
    assert found.failures == {1: "row 1 is broken", 4: "row 4 is broken"}
    assert not found.X[[1, 4]].any()
    sound, _ = fit_rows(Colours(), Pictures(["red", "blue", "lime"]), EmbeddingCache(), silent)
    np.testing.assert_allclose(projection.centre, sound.centre)
    new = project_rows(Colours(), Pictures([None, "blue"]), projection, EmbeddingCache(), silent)
    assert new.failures == {0: "row 0 is broken"}
    np.testing.assert_allclose(new.X[1], found.X[2], atol=1e-12)


def test_a_batch_of_broken_pictures_alone_is_told(monkeypatch):
    monkeypatch.setitem(computing.BATCH, Modality.IMAGE, 2)
    rows = Pictures(["red", "blue", None, None, None, None, "lime"])
    found = fit_rows(Colours(), rows, EmbeddingCache(), silent)[1]
    assert list(found.failures) == [2, 3, 4, 5]
    assert found.X[[0, 1, 6]].any(axis=1).all()


def test_where_no_picture_can_be_read_there_is_no_axis():
    projection, found = fit_rows(Colours(), Pictures([None] * 3), EmbeddingCache(), silent)
    assert len(projection.components) == 0
    assert list(found.failures) == [0, 1, 2]


# ---------------------------------------------------------------- the cache
def test_a_second_start_embeds_nothing_and_gives_the_very_same_numbers(tmp_path):
    cold = fitted(TEXTS, EmbeddingCache(tmp_path / "c"))
    letters = Letters()
    warm = fitted(TEXTS, EmbeddingCache(tmp_path / "c"), letters)
    assert letters.given == []
    assert warm.tolist() == cold.tolist()
    assert fitted(TEXTS).tolist() == cold.tolist()  # half precision with and without a cache


def test_new_rows_alone_are_embedded(tmp_path):
    fitted(TEXTS[:20], EmbeddingCache(tmp_path / "c"))
    letters = Letters()
    fitted(TEXTS, EmbeddingCache(tmp_path / "c"), letters)
    assert letters.seen == TEXTS[20:]


def test_another_embedder_finds_nothing_of_the_first(tmp_path):
    fitted(TEXTS, EmbeddingCache(tmp_path / "c"))
    other = Letters()
    other.identity = EmbedderIdentity("letters", "1", "e" * 64)
    fitted(TEXTS, EmbeddingCache(tmp_path / "c"), other)
    assert other.seen == TEXTS


def test_a_cache_that_breaks_changes_no_number(tmp_path):
    (tmp_path / "c").write_bytes(b"no database")
    cache = EmbeddingCache(tmp_path / "c")
    assert fitted(TEXTS, cache).tolist() == fitted(TEXTS).tolist()
    assert cache.trouble


KILLED = """
import sys
import numpy as np
from pathlib import Path
from possibal.embedding import computing
from possibal.embedding.cache import EmbeddingCache
from possibal.embedding.computing import TextRows, fit_rows
from possibal.embedding.embedder import EmbedderIdentity, Modality

computing.BATCH[Modality.TEXT] = 5

class Slow:
    modality, image_input = Modality.TEXT, None
    identity = EmbedderIdentity("letters", "1", "c" * 64)
    count = 0

    def embed(self, rows):
        self.count += 1
        if self.count == 4:
            print("three are kept", flush=True)
            sys.stdin.read()
        return np.array([[row.count(a) + 0.1 for a in "abcdefgh "] for row in rows])

texts = [f"{what} number {i}" for i in range(12) for what in ("a card", "the train", "some soup")]
fit_rows(Slow(), TextRows(texts), EmbeddingCache(Path(sys.argv[1])), lambda share: None)
"""


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "c")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - ours
        assert process.stdout.readline() == b"three are kept\n"
        process.send_signal(signal.SIGKILL)
    letters, cache = Letters(), EmbeddingCache(tmp_path / "c")
    X = fitted(TEXTS, cache, letters)
    assert letters.seen == TEXTS[15:]
    assert cache.trouble == ""
    assert X.tolist() == fitted(TEXTS).tolist()


# ---------------------------------------------------------------- long texts
@given(st.text(st.sampled_from("ab \n"), max_size=200), st.integers(1, 20))
def test_windows_hold_all_of_a_text_and_none_is_too_long(text, size):
    parts = text_windows(text, size)
    assert parts
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(len(part) <= size for part in parts) or not text.strip()
    assert all(part.strip() for part in parts) or parts == [parts[0]]


def test_windows_are_cut_at_blanks():
    assert text_windows("one two three four", 10) == ["one two ", "three four"]
    assert text_windows("onetwothreefour", 10) == ["onetwothre", "efour"]
    assert text_windows("short") == ["short"]


def test_a_long_text_is_the_mean_of_its_windows_by_their_lengths():
    long = "a" * WINDOW + "b" * (WINDOW // 2)
    letters = Letters()
    projection, found = fit_rows(letters, TextRows([long, "c", "d"]), EmbeddingCache(), silent)
    assert letters.seen == ["a" * WINDOW, "b" * (WINDOW // 2), "c", "d"]
    first, second = computing.unit_rows(Letters().embed(letters.seen[:2]))
    mean = computing.unit_rows((2 * first + second)[None])
    np.testing.assert_allclose(found.X[:1], projection.apply(mean), atol=1e-3)


def test_long_texts_are_embedded_in_smaller_parts(monkeypatch):
    monkeypatch.setitem(computing.BATCH, Modality.TEXT, 8)
    letters = Letters()
    texts = [f"{i}" + "abc " * WINDOW for i in range(8)]  # four windows each, and a bit
    fitted(texts, embedder=letters)
    assert max(map(len, letters.given)) <= 10
    assert len(letters.given) == 4


# ---------------------------------------------------------------- embedders that fail
class Broken(Letters):
    """An embedder that returns what it was made with, or what that makes of rows."""

    def __init__(self, found):
        super().__init__()
        self.found = found

    def embed(self, rows):
        return self.found(rows) if callable(self.found) else self.found


def test_what_is_no_vector_for_each_row_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=SENTENCE) as e:
        fitted(["one", "two"], embedder=Broken(np.zeros((3, 4))))
    assert "'letters'" in str(e.value)


def test_vectors_of_different_lengths_are_refused(monkeypatch):
    monkeypatch.setitem(computing.BATCH, Modality.TEXT, 12)
    lengths = Broken(lambda rows: np.eye(len(rows), 3 + (TEXTS[12] in rows)) + 1)
    with pytest.raises(ValueError, match=r"^encoder must return 3 numbers .*; got 4 from"):
        fitted(TEXTS, embedder=lengths)
    projection, _ = fit_rows(Letters(), TextRows(TEXTS), EmbeddingCache(), silent)
    with pytest.raises(ValueError, match=r"^encoder must return 9 numbers .*; got 3 from"):
        project_rows(
            Broken(lambda rows: np.eye(len(rows), 3)),
            TextRows(TEXTS[:12]),
            projection,
            EmbeddingCache(),
            silent,
        )


def test_vectors_of_different_lengths_in_one_batch_are_refused(monkeypatch):
    monkeypatch.setitem(computing.BATCH, Modality.TEXT, 8)
    texts = [f"{i}" + "abc " * WINDOW for i in range(8)]  # embedded two at a time
    by_part = Broken(lambda rows: np.ones((len(rows), 3 + rows[0].startswith("2"))))
    with pytest.raises(ValueError, match=r"^encoder must return 3 numbers .*; got 4 from"):
        fitted(texts, embedder=by_part)


# ---------------------------------------------------------------- with the real one
def test_numbers_do_not_depend_on_the_process_that_works_them_out(tmp_path):
    code = (
        "import sys; from pathlib import Path; from possibal.embedding.cache import EmbeddingCache;"
        "from possibal.embedding.computing import TextRows, fit_rows;"
        "from possibal.embedding.sentence_encoder import SentenceEncoder;"
        f"fit_rows(SentenceEncoder(), TextRows({TEXTS!r}),"
        "EmbeddingCache(Path(sys.argv[1])), lambda share: None)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "c")], check=True)  # noqa: S603 - ours
    other = fitted(TEXTS, EmbeddingCache(tmp_path / "c"), SentenceEncoder())
    here = fitted(TEXTS, EmbeddingCache(tmp_path / "d"), SentenceEncoder())
    np.testing.assert_allclose(other, here, atol=1e-3)
    assert (
        fitted(TEXTS, EmbeddingCache(tmp_path / "d"), SentenceEncoder()).tolist() == here.tolist()
    )
