import json
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from possibal.data import features
from possibal.data.encoders import Encoder, Table
from possibal.data.features import (
    FeatureRecipe,
    ImageFiles,
    check_helpful,
    given_features,
    image_features,
    table_features,
    text_features,
)
from possibal.embedding import computing, efficientnet
from possibal.embedding.cache import EmbeddingCache
from possibal.embedding.embedder import EmbedderIdentity, Modality
from possibal.embedding.embedders import Embedders
from possibal.embedding.sentence_encoder import SentenceEncoder
from possibal.numerics.geometry import RowGeometry

CELLS = st.one_of(
    st.lists(st.none() | st.floats() | st.integers(-9, 9), min_size=6, max_size=6),
    st.lists(st.none() | st.sampled_from(["red", "blue", "1"]), min_size=6, max_size=6),
    st.lists(st.none() | st.booleans(), min_size=6, max_size=6),
)
SPICES = [
    "the soup was far too salty for us",
    "salty soup and cold bread again",
    "the room was quiet and the bed soft",
    "a soft bed in a quiet room",
    "bread and soup, soup and bread",
    "we slept well in the soft bed",
]


def again(recipe):
    """The recipe after a journey through JSON and a file of arrays."""
    file = BytesIO()
    np.savez(file, **recipe.arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return FeatureRecipe.restored(json.loads(json.dumps(recipe.document())), dict(arrays))


def table(**cells):
    """A table of named columns."""
    return Table(tuple(cells), tuple(cells.values()))


def distance(X, one, other):
    """How far two rows are apart."""
    return np.linalg.norm(X[one] - X[other])


# ---------------------------------------------------------------- tables
def test_numbers_count_in_standard_deviations():
    made = table_features(table(age=[20, 30, 70, 41], price=[0.001, 0.002, 0.004, 0.0015]))
    np.testing.assert_allclose(made.X.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(made.X.std(axis=0), 1)
    assert made.recipe.features == ("age", "price")
    assert made.recipe.owners == (0, 1)
    assert made.notes == ()


def test_two_categories_are_as_far_apart_as_two_rows_in_a_number():
    rng = np.random.default_rng(0)
    made = table_features(table(number=rng.normal(size=400).tolist(), word=["red", "blue"] * 200))
    squares = (made.X[:, :1] - made.X[:, :1].T) ** 2
    assert distance(made.X[:, 1:], 0, 1) ** 2 == pytest.approx(squares.mean(), rel=0.01)


@pytest.mark.parametrize("share", [2, 50])
def test_a_rare_truth_weighs_as_much_as_a_category(share):
    made = table_features(table(smokes=[i % share == 0 for i in range(100)]))
    assert distance(made.X, 0, 1) == pytest.approx(2**0.5)
    assert made.X.mean() == pytest.approx(0)


def test_gaps_constants_and_words_are_said():
    made = table_features(
        table(site=["x"] * 4, age=[1, None, 2, 3], colour=["r", "b", "r", None], when=["12:30"] * 4)
    )
    assert made.recipe.features == ("age", "colour = b", "colour = missing", "colour = r")
    assert made.recipe.owners == (1, 2, 2, 2)
    assert made.notes == (
        "column site was constant and was left out.",
        "1 of 4 cells of column age was missing and was set to the column's median.",
        "column colour has 3 different words, missing cells counted as one, and became 3 columns.",
        "column when was constant and was left out.",
    )


def test_names_of_features_are_different_even_if_columns_conspire():
    made = table_features(Table(("a", "a = x"), (["x", "y", "x", "y"], [1, 2, 3, 4])))
    assert len(set(made.recipe.features)) == 3


@pytest.mark.parametrize("columns", [{"site": [1, 1]}, {"name": ["x", "y", "z"]}, {}])
def test_a_table_without_a_column_that_helps_is_refused(columns):
    with pytest.raises(ValueError, match=r"^file must have a column that helps .*; got none, for"):
        check_helpful(table_features(table(**columns)))


@given(CELLS, CELLS, CELLS)
def test_a_table_taken_again_gives_the_same_numbers(one, two, three):
    pool = table(one=one, two=two, three=three, sure=[1, 2, 3, 4, 5, 7])
    made = table_features(pool)
    assert np.isfinite(made.X).all()
    assert made.X.shape == (6, len(made.recipe.features))
    assert len(made.recipe.owners) == len(made.recipe.features)
    shuffled = Table(pool.names[::-1], pool.columns[::-1])
    for recipe in (made.recipe, again(made.recipe)):
        assert recipe.apply(shuffled).X.tolist() == made.X.tolist()


@given(CELLS)
def test_new_rows_are_finite_whatever_their_cells(cells):
    made = table_features(
        table(a=[1e-300, 2e-300, 4e-300], b=["x", "y", "x"], c=[True, False, True])
    )
    X = made.recipe.apply(table(a=cells, b=cells, c=cells)).X
    assert X.shape == (6, 4)
    assert np.isfinite(X).all()


@given(st.floats(-1e149, 1e149), st.floats(-1e149, 1e149))
def test_numbers_of_any_size_are_brought_to_one_scale(one, other):
    made = table_features(table(a=[one, other, one], b=[1, 2, 3]))
    assert np.isfinite(made.X).all()
    assert np.abs(made.X).max() < 2


def test_a_missing_column_in_new_rows_is_named():
    made = table_features(table(age=[1, 2], site=["x", "x"]))
    assert made.recipe.apply(table(age=[2])).X.tolist() == [made.X[1].tolist()]
    with pytest.raises(ValueError, match=r"^rows must have the column 'age', .*; got 'Ages'"):
        made.recipe.apply(table(Ages=[2]))


def test_progress_ends_at_one():
    made, shares = table_features(table(age=[1, 2], site=["x", "x"])), []
    made.recipe.apply(table(age=[1, 2]), shares.append)
    assert shares == [0.5, 1]


# ---------------------------------------------------------------- texts
def test_texts_about_one_thing_are_nearer_than_others():
    X = text_features(SPICES, ["review"]).X
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    assert distance(X, 2, 3) < distance(X, 2, 1)
    assert distance(X, 1, 4) < distance(X, 1, 3)


def test_texts_taken_again_give_the_same_numbers_in_any_company():
    made = text_features(SPICES, ["review"])
    restored = again(made.recipe)
    assert restored.columns == ("review",)
    assert restored.apply(SPICES).X.tolist() == made.X.tolist()
    assert restored.apply(SPICES[3:4]).X.tolist() == made.X[3:4].tolist()


@given(
    st.lists(st.none() | st.text(max_size=20), min_size=2, max_size=8),
    st.lists(st.none() | st.text(max_size=20), max_size=8),
)
@settings(deadline=None)
def test_whatever_the_texts_they_are_finite_or_refused_in_one_sentence(texts, new):
    if len({(text or "").strip() for text in texts}) == 1:
        with pytest.raises(ValueError, match=r"^text must be a column whose texts differ; got 't'"):
            text_features(texts, ["t"])
        return
    made = text_features(texts, ["t"])
    X = again(made.recipe).apply([*texts, *new]).X
    assert X[: len(texts)].tolist() == made.X.tolist()
    assert np.isfinite(X).all()
    assert (np.linalg.norm(X, axis=1) < 1 + 1e-9).all()


def test_dimensions_are_few_and_fewer_in_a_small_pool():
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(300)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(150)]
    assert text_features(texts, ["t"]).X.shape == (150, 50)
    assert text_features(texts[:7], ["t"]).X.shape[1] <= 7


def test_repeated_texts_add_no_dimension():
    assert text_features(["salty soup", "soft bed", "soft bed"] * 9, ["t"]).X.shape == (27, 2)


def test_words_of_a_single_row_count_in_a_small_pool_only():
    texts = [f"{SPICES[i % 6]} once{i}" for i in range(120)]
    assert "once7" in text_features(texts[:12], ["t"]).recipe.terms
    assert "once7" not in text_features(texts, ["t"]).recipe.terms
    assert "soft bed" in text_features(texts, ["t"]).recipe.terms


def test_texts_that_share_no_word_are_compared_by_letters():
    made = text_features(
        [f"sample{i}x" for i in range(9)] + [f"blank{i}y" for i in range(9)], ["t"]
    )
    assert made.recipe.letters == "char_wb"
    assert made.notes == (
        "the texts of column t share few words and were compared by their letters.",
    )
    assert distance(made.X, 0, 1) < distance(made.X, 0, 9)
    assert again(made.recipe).apply(["blank77y"]).X.shape == (1, made.X.shape[1])


def test_languages_without_blanks_are_compared_by_letters():
    made = text_features(
        ["我喜欢这部电影", "我不喜欢这部电影", "今天天气很好", "今天天气不好"], "t"
    )
    assert distance(made.X, 0, 1) < distance(made.X, 0, 2)
    assert distance(made.X, 2, 3) < distance(made.X, 1, 3)


def test_texts_without_a_letter_still_work():
    assert np.isfinite(text_features(["!!", "?!"], ["t"]).X).all()


def test_rows_without_a_text_are_zeros_and_said():
    made = text_features([*SPICES, None, "  "], ["review"])
    assert not made.X[-2:].any()
    assert made.notes == ("2 rows have no text in column review.",)
    assert text_features([*SPICES, None], ["review"]).notes == (
        "1 row has no text in column review.",
    )


def test_a_new_text_of_unknown_words_is_zeros():
    assert not text_features(SPICES, ["review"]).recipe.apply(["zzz qqq"]).X.any()


@pytest.mark.parametrize("texts", [["same"] * 5, [None, "", " "]])
def test_texts_that_are_all_the_same_are_refused(texts):
    with pytest.raises(ValueError, match=r"^text must be .* differ; got 'review' with the same"):
        text_features(texts, ["review"])


def test_terms_are_learnt_from_a_part_of_a_large_pool(monkeypatch):
    monkeypatch.setattr(features, "STUDIED", 3)
    monkeypatch.setattr(features, "BLOCK", 4)
    shares = []
    made = text_features(SPICES, ["review"], shares.append)
    assert "slept" not in made.recipe.terms  # it is in the last row, and every second one counts
    assert "salty" in made.recipe.terms
    assert len(made.X) == 6
    assert shares == [4 / 6, 1]


def test_only_the_beginning_of_a_very_long_text_counts():
    long = "soup " * features.LONGEST
    made = text_features([long + "bed", "soup", "bed soup"], ["t"])
    np.testing.assert_allclose(made.X[0], again(made.recipe).apply([long]).X[0])


# ---------------------------------------------------------------- pictures
@pytest.fixture
def pictures(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(8):
        points = np.zeros((24, 24, 3), dtype=np.uint8)
        points[:, :, i % 2] = 200
        points += rng.integers(0, 40, points.shape, dtype=np.uint8)
        Image.fromarray(points).save(tmp_path / f"{i}.png")
    return ImageFiles(tmp_path, tuple(f"{i}.png" for i in range(8)))


def test_pictures_that_look_alike_are_near(pictures):
    shares = []
    made = image_features(pictures, "photo", shares.append)
    assert made.X.shape == (8, 7)
    assert made.recipe.features[:2] == ("picture 1", "picture 2")
    assert made.recipe.columns == ("photo",)
    assert distance(made.X, 0, 2) < distance(made.X, 0, 1)
    assert shares[-1] == 1


def test_pictures_taken_again_give_the_same_numbers(pictures):
    made = image_features(pictures)
    restored = again(made.recipe)
    assert restored.apply(pictures).X.tolist() == made.X.tolist()
    few = ImageFiles(pictures.folder, pictures.names[3:5])
    np.testing.assert_allclose(restored.apply(few).X, made.X[3:5], atol=1e-12)


def test_few_dimensions_keep_the_distances_of_pictures(pictures):
    found, _ = features.images.describe(pictures.folder, pictures.names, features.no_progress)
    X = image_features(pictures).X
    np.testing.assert_allclose(distance(X, 0, 5), distance(found, 0, 5), rtol=1e-9)


def test_the_same_picture_everywhere_is_refused(pictures):
    same = ImageFiles(pictures.folder, ("1.png",) * 4)
    with pytest.raises(ValueError, match=r"^file must have pictures that differ; got 4 that"):
        image_features(same)


# ---------------------------------------------------------------- own numbers
def saved(folder, array, name="own.npy"):
    """The path of a new file of numbers."""
    path = folder / name
    np.save(path, array, allow_pickle=True)
    return path


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.bool_])
def test_own_numbers_are_taken_as_they_are(tmp_path, dtype):
    array = np.array([[1, 0], [0, 3], [1, 1]]).astype(dtype)
    made = given_features(saved(tmp_path, array), 3)
    assert made.X.dtype == float
    assert made.X.tolist() == array.tolist()
    assert made.recipe.features == ("feature 1", "feature 2")
    assert made.notes == ("the 2 features of own.npy were taken as they are.",)
    assert again(made.recipe).apply(array).X.tolist() == array.tolist()


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2)),
        np.zeros((4, 2)),
        np.zeros(3),
        np.zeros(()),
        np.zeros((3, 2, 1)),
        np.zeros((3, 0)),
        np.zeros((3, 2), dtype=complex),
        np.full((3, 2), np.nan),
        np.full((3, 2), -np.inf),
        np.full((3, 2), 1e200),
        np.full((3, 2), np.longdouble("1e4000")),
        np.array([["a"], ["b"], ["c"]]),
        np.array([[1], [None], ["c"]], dtype=object),
        np.zeros((3, 1), dtype=[("a", float)]),
        np.zeros((3, 1), dtype="datetime64[s]"),
    ],
)
def test_other_arrays_are_refused_in_one_sentence(tmp_path, array):
    with pytest.raises(ValueError, match=r"^features must [^\n]*; got [^\n]*\.$"):
        given_features(saved(tmp_path, array), 3)


@pytest.mark.parametrize("header", [b"{'descr': '<f8', (", b"{'descr': 1}", b"((((", b"[1]"])
def test_a_broken_header_is_refused_in_one_sentence(tmp_path, header):
    line = header.ljust(117) + b"\n"
    path = tmp_path / "own.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + bytes(48))
    with pytest.raises(ValueError, match=r"^features must be a \.npy file [^\n]*; got [^\n]*\.$"):
        given_features(path, 3)


@given(st.binary(max_size=60), st.booleans())
def test_files_that_are_no_arrays_are_refused_in_one_sentence(tmp_path_factory, content, header):
    path = tmp_path_factory.mktemp("own") / "own.npy"
    path.write_bytes((b"\x93NUMPY\x01\x00" if header else b"") + content)
    with pytest.raises(ValueError, match=r"^features must be a \.npy file [^\n]*; got [^\n]*\.$"):
        given_features(path, 3)


def test_a_file_that_claims_to_be_huge_is_refused_at_once(tmp_path):
    path = saved(tmp_path, np.zeros((3, 2)))
    huge = b"(3, 999999999999), }"
    path.write_bytes(path.read_bytes().replace(b"(3, 2), }".ljust(len(huge)), huge))
    with pytest.raises(ValueError, match=r"^features must be a \.npy file"):
        given_features(path, 3)


def test_a_file_that_is_missing_or_a_folder_or_holds_several_arrays_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^features must be a file that exists; got"):
        given_features(tmp_path / "none.npy", 3)
    with pytest.raises(ValueError, match=r"^features must be a \.npy file"):
        given_features(tmp_path, 3)
    np.savez(tmp_path / "two.npz", a=np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"^features must be a matrix .*; got none\. Save one"):
        given_features(tmp_path / "two.npz", 3)


def test_new_rows_must_have_as_many_numbers_as_the_pool(tmp_path):
    recipe = given_features(saved(tmp_path, np.zeros((3, 2))), 3).recipe
    with pytest.raises(ValueError, match=r"^features must have 2 columns, as the pool; got 3\."):
        recipe.apply(np.zeros((1, 3)))


# ---------------------------------------------------------------- what is written
def test_a_kind_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"^kind must be one of 'table', 'text'.*; got 'sound'"):
        FeatureRecipe("sound", ()).apply([])


# ---------------------------------------------------------------- embeddings
class Letters:
    """An embedder of texts by their letters."""

    modality, image_input = Modality.TEXT, None
    identity = EmbedderIdentity("letters", "", "c" * 64)

    def embed(self, rows):
        return np.array([[0.5, *(row.count(a) for a in "aeioustbd")] for row in rows])


def letters(texts):
    """The same as a function of one's own."""
    return Letters().embed(texts)


OWN = Embedders({Modality.TEXT: letters})


def embedded(texts):
    """Features of texts by an encoder of one's own."""
    return text_features(texts, ["review"], embedder=OWN.of(Modality.TEXT))


def test_texts_about_one_thing_are_nearer_by_meaning_than_others():
    X = text_features(SPICES, ["review"], embedder=SentenceEncoder()).X
    assert X.shape == (6, 5)
    assert distance(X, 2, 3) < distance(X, 2, 1)
    assert distance(X, 1, 4) < distance(X, 1, 3)


def test_embedded_texts_taken_again_give_the_same_numbers():
    made = embedded(SPICES)
    restored = again(made.recipe)
    assert restored.embedder == made.recipe.embedder
    assert restored.document() == made.recipe.document()
    assert made.recipe.features[0] == "review 1"
    found = restored.apply(SPICES, embedders=OWN)
    assert found.failures == {}
    np.testing.assert_allclose(found.X, made.X, atol=1e-12)
    np.testing.assert_allclose(
        restored.apply(SPICES[3:4], embedders=OWN).X, made.X[3:4], atol=1e-12
    )


def test_a_recipe_names_its_embedder_by_name_version_and_hash():
    recipe = text_features(SPICES, ["review"], embedder=SentenceEncoder()).recipe
    named = recipe.document()["embedder"]
    assert named == SentenceEncoder().identity.document()
    assert named["name"].startswith("universal-sentence-encoder")
    assert named["version"]
    assert len(named["digest"]) == 64
    assert text_features(SPICES, ["review"]).recipe.document()["embedder"] is None


def test_a_recipe_refuses_another_embedder():
    recipe = embedded(SPICES).recipe
    with pytest.raises(
        ValueError, match=r"^encoder must be the one .* with, letters \(.*; got uni"
    ):
        recipe.apply(SPICES)


def test_embedded_rows_without_a_text_are_at_the_centre_and_said():
    made = embedded([*SPICES, None, "  "])
    assert not made.X[-2:].any()
    assert made.notes == ("2 rows have no text in column review.",)
    assert not made.recipe.apply([None, ""], embedders=OWN).X.any()


def test_only_the_beginning_of_a_text_of_a_megabyte_is_embedded():
    seen = []

    def counting(texts):
        seen.extend(map(len, texts))
        return letters(texts)

    long = "the long story goes on " * 45_000
    embedders = Embedders({Modality.TEXT: counting})
    embedder = embedders.of(Modality.TEXT)
    seen.clear()
    made = text_features([long, long + "and ends", *SPICES], ["t"], embedder=embedder)
    assert made.notes == (
        "2 texts are longer than 20000 characters, of which the first are learnt from.",
    )
    assert max(seen) <= computing.WINDOW
    assert sum(seen) <= features.LONGEST + sum(map(len, SPICES))  # both begin alike
    assert made.X[0].tolist() == made.X[1].tolist()


def test_the_terms_of_words_are_not_kept_with_embeddings():
    recipe = embedded(SPICES).recipe
    assert recipe.terms == ()
    assert set(recipe.arrays()) == {"centre", "components"}


def test_pictures_are_embedded_by_what_they_show(pictures):
    embedder = efficientnet.load_efficientnet()
    made = image_features(pictures, "photo", embedder=embedder)
    assert made.recipe.embedder == embedder.identity
    assert made.recipe.columns == ("photo",)
    assert made.X.shape == (8, 7)
    few = ImageFiles(pictures.folder, pictures.names[3:5])
    np.testing.assert_allclose(again(made.recipe).apply(few).X, made.X[3:5], atol=1e-3)


def test_pictures_of_the_same_content_are_embedded_once_and_a_changed_one_anew(pictures, tmp_path):
    seen, cache = [], EmbeddingCache(tmp_path / "c")

    def colours(rows):
        seen.append(len(rows))
        return [np.asarray(row).mean(axis=(0, 1)) for row in rows]

    embedder = Embedders({Modality.IMAGE: colours}).of(Modality.IMAGE)
    (pictures.folder / "copy.png").write_bytes((pictures.folder / "0.png").read_bytes())
    files = ImageFiles(pictures.folder, (*pictures.names, "copy.png"))
    seen.clear()
    made = image_features(files, embedder=embedder, cache=cache)
    assert seen == [4, 4]
    np.testing.assert_allclose(made.X[0], made.X[8], atol=1e-12)
    Image.new("RGB", (9, 9), "orange").save(pictures.folder / "copy.png")
    seen.clear()
    image_features(files, embedder=embedder, cache=cache)
    assert seen == [1]


def test_own_numbers_of_many_columns_are_projected_as_embeddings(tmp_path):
    array = np.random.default_rng(0).normal(size=(60, 100)) + 5.0
    made = given_features(saved(tmp_path, array), 60)
    assert made.X.shape == (60, 50)
    assert made.notes[0].startswith("the 100 features of own.npy were scaled to length one, centr")
    np.testing.assert_allclose(again(made.recipe).apply(array).X, made.X, atol=1e-12)
    np.testing.assert_allclose(again(made.recipe).apply(3 * array).X, made.X, atol=1e-12)
    with pytest.raises(ValueError, match=r"^features must have 100 columns, as the pool; got 50\."):
        made.recipe.apply(np.zeros((1, 50)))
    assert given_features(saved(tmp_path, array), 60, as_they_are=True).X.shape == (60, 100)


def test_own_numbers_that_all_point_the_same_way_are_refused(tmp_path):
    array = np.outer(np.arange(1, 7), np.ones(120))
    with pytest.raises(
        ValueError, match=r"^features must differ from row to row; got 6 that point"
    ):
        given_features(saved(tmp_path, array), 6)


# ---------------------------------------------------------------- how rows are compared
def reviews(count=60):
    """Texts of many words."""
    rng, words = np.random.default_rng(0), [f"{a}{b}en" for a in "bdfgklmnpr" for b in "aeiou"]
    return [" ".join(rng.choice(words, 8)) for _ in range(count)]


def many_columns(folder):
    array = np.random.default_rng(0).normal(size=(60, 120)) + 3.0
    return given_features(saved(folder, array), 60), array


def test_texts_and_embeddings_on_many_axes_are_compared_by_direction(tmp_path):
    own, array = many_columns(tmp_path)
    made = {
        "words": (text_features(reviews(), ["review"]), reviews()),
        "meaning": (text_features(reviews(), ["review"], embedder=SentenceEncoder()), reviews()),
        "own": (own, array),
    }
    for one, rows in made.values():
        assert one.recipe.geometry == RowGeometry((), "cosine")
        np.testing.assert_allclose(np.linalg.norm(one.X, axis=1), 1.0, rtol=1e-12)
        recipe = again(one.recipe)
        assert recipe.geometry == one.recipe.geometry
        np.testing.assert_allclose(recipe.apply(rows).X, one.X, atol=1e-9)


def test_directions_get_diffusion_coordinates_that_new_rows_get_alike(tmp_path):
    own, array = many_columns(tmp_path)
    recipe, X = own.recipe.with_diffusion(own.X)
    assert recipe.width == X.shape[1] == len(recipe.features) + recipe.diffusion.width
    assert recipe.geometry == RowGeometry((), "cosine", recipe.diffusion.width)
    np.testing.assert_array_equal(X[:, : own.X.shape[1]], own.X)
    for one in (recipe, again(recipe)):
        one.check_sound()
        np.testing.assert_allclose(one.apply(array).X, X, atol=1e-9)
        np.testing.assert_allclose(one.apply(array[3:5]).X, X[3:5], atol=1e-9)
        assert one.geometry == recipe.geometry


def test_other_rows_and_plain_models_get_none(tmp_path):
    own, _ = many_columns(tmp_path)
    table_made = table_features(table(a=["1", "2", "3"] * 30))
    few = replace(own, X=own.X[:40])
    plain = replace(own.recipe, kernel="rbf")
    for recipe, X in (
        (table_made.recipe, table_made.X),
        (few.recipe, few.X),
        (plain, own.X),
    ):
        same, rows = recipe.with_diffusion(X)
        assert same is recipe
        assert rows is X
        assert recipe.geometry.diffusion == 0
    assert plain.geometry.kernel == again(plain).geometry.kernel == "rbf"


@pytest.mark.parametrize("name", ["landmarks", "bandwidth", "coordinates"])
def test_diffusion_coordinates_that_lack_an_array_are_refused(name, tmp_path):
    own, _ = many_columns(tmp_path)
    recipe, _ = own.recipe.with_diffusion(own.X)
    for spoilt in ({}, {name: np.ones(3)}):
        numbers = {key: array for key, array in recipe.numbers.items() if key != name} | spoilt
        with pytest.raises(ValueError, match=r"its array '\w+' is missing or does not fit"):
            replace(recipe, numbers=numbers).check_sound()


def test_few_axes_tables_and_colours_are_compared_by_distance(pictures, tmp_path):
    array = np.random.default_rng(0).normal(size=(60, 5))
    made = [
        text_features(["the cat", "the dog", "a cow"], ["text"], embedder=SentenceEncoder()),
        text_features(["the cat", "the dog", "a cow"], ["text"]),
        image_features(pictures),
        given_features(saved(tmp_path, array), 60),
        table_features(table(a=["1", "2", "3"])),
    ]
    assert {one.recipe.metric for one in made} == {"euclidean"}


def test_recipes_of_earlier_campaigns_compare_as_they_did():
    made = text_features(reviews(), ["review"])
    document = made.recipe.document()
    del document["metric"]
    known = FeatureRecipe.restored(document, made.recipe.arrays())
    assert known.geometry == RowGeometry()
    np.testing.assert_array_equal(known.apply(reviews()).X, made.X)


def test_an_empty_text_among_directions_stays_zero():
    made = text_features([*reviews(), ""], ["review"], embedder=SentenceEncoder())
    assert made.recipe.metric == "cosine"
    np.testing.assert_array_equal(made.X[-1], 0.0)
    assert np.all(np.linalg.norm(made.X[:-1], axis=1) > 0.99)


# ---------------------------------------------------------------- soundness
RECIPES = {
    "table": FeatureRecipe(
        "table",
        ("a",),
        encoders=(Encoder("a", "numbers", ("a",)),),
        numbers={"centre": np.zeros(1), "scale": np.ones(1)},
    ),
    "words": FeatureRecipe(
        "text", ("a",), terms=("b", "c"), numbers={"idf": np.ones(2), "components": np.ones((1, 2))}
    ),
    "projected": FeatureRecipe(
        "own", ("a",), numbers={"centre": np.ones(3), "components": np.ones((1, 3))}
    ),
    "picture": FeatureRecipe(
        "image", ("a",), numbers={"centre": np.ones(3), "components": np.ones((1, 3))}
    ),
}
RECIPES["mixed"] = FeatureRecipe(
    "mixed",
    ("a", "b"),
    numbers={"scale": np.ones(2)},
    parts=(RECIPES["table"], RECIPES["words"]),
)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_without_one_of_its_arrays_is_not_sound(recipe):
    recipe.check_sound()
    for lost in recipe.numbers:
        if recipe.kind == "own" and lost == "components":
            continue  # the numbers are then taken as they are
        rest = {name: array for name, array in recipe.numbers.items() if name != lost}
        for numbers in (rest, rest | {lost: np.full_like(recipe.numbers[lost], np.nan)}):
            with pytest.raises(ValueError, match=r"^its array '.*' is missing or does not fit"):
                replace(recipe, numbers=numbers).check_sound()


def test_a_recipe_of_another_kind_or_without_columns_is_not_sound():
    FeatureRecipe("own", ("a",)).check_sound()
    with pytest.raises(ValueError, match=r"^kind must be one of"):
        FeatureRecipe("odd", ("a",)).check_sound()
    with pytest.raises(ValueError, match=r"^metric must be one of"):
        FeatureRecipe("own", ("a",), metric="odd").check_sound()
    with pytest.raises(ValueError, match=r"^its table has no columns"):
        replace(RECIPES["table"], encoders=()).check_sound()
    known = RECIPES["table"]
    with pytest.raises(ValueError, match=r"^its encoders make other columns than it has"):
        replace(known, encoders=2 * known.encoders).check_sound()
    part = replace(RECIPES["table"], numbers={})
    with pytest.raises(ValueError, match=r"^its array 'centre' is missing"):
        replace(RECIPES["mixed"], parts=(part, part)).check_sound()
