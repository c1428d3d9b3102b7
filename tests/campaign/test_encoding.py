from itertools import pairwise

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import RBF
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.passengers import passengers

from possibal.campaign.encoding import (
    ColumnChoice,
    RowEncoding,
    encode_pool,
    is_table,
    known_labels,
    without_columns,
)
from possibal.data.features import FeatureRecipe
from possibal.errors import ScaleWarning
from possibal.estimators.classifier import PossibilisticGPClassifier

MODEL = PossibilisticGPClassifier()
X = np.random.default_rng(0).normal(size=(20, 2))
NOTHING = ColumnChoice()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (X, False),
        (X.tolist(), False),
        ([], False),
        (csr_array(X), False),
        (pd.DataFrame(X), True),
        (pl.DataFrame({"a": [1]}), True),
        ([{"a": 1}], True),
        (object(), True),
        ({"a": [1]}, True),
        (np.array([(1, 2)], dtype=[("a", int), ("b", int)]), True),
        (np.ma.array(X), True),
        (pd.Series([1]), True),
        (dd.from_pandas(pd.DataFrame({"a": [1, 2]}), npartitions=1), True),
    ],
)
def test_a_table_has_columns_with_names(rows, expected):
    assert is_table(rows) is expected


def test_the_numbers_of_an_array_stay_as_they_are():
    pool = encode_pool(X, NOTHING, MODEL)
    assert pool.X is X
    assert pool.classifier is MODEL
    assert pool.encoding.features(X[:2]) is not None
    np.testing.assert_array_equal(pool.encoding.features(X[:2]), X[:2])
    assert pool.encoding.reaching(MODEL) is MODEL


def test_a_frame_is_encoded_and_standardised():
    frame, _ = passengers()
    pool = encode_pool(frame, NOTHING, MODEL)
    assert np.isfinite(pool.X).all()
    np.testing.assert_allclose(pool.encoding.features(frame.iloc[:3]), pool.X[:3])
    assert set(pool.labels) == {None}
    assert pool.label is None


@pytest.mark.parametrize("label", ["Survived", None])
def test_labels_that_a_frame_has_keep_their_type(label):
    frame, survived = passengers()
    frame[label or "Label"] = survived.astype(float).where(np.arange(60) < 5)
    pool = encode_pool(frame, ColumnChoice(label=label), MODEL)
    assert pool.label == (label or "Label")
    assert list(pool.labels[:6]) == [*survived.iloc[:5].tolist(), None]
    assert {type(one) for one in pool.labels[:5]} == {int}
    assert pool.X.shape[1] == 4


def test_a_pipeline_takes_the_rows_without_ids_and_labels():
    frame = pd.DataFrame({"doc": range(100, 120), "a": X[:, 0], "b": X[:, 1], "y": [0, 1] * 10})
    pipe = make_pipeline(StandardScaler(), PossibilisticGPClassifier())
    pool = encode_pool(frame, ColumnChoice(ids="doc", label="y"), pipe)
    assert np.shape(pool.X) == (20, 2)
    assert list(pool.labels) == [0, 1] * 10
    np.testing.assert_allclose(pool.encoding.features(frame.iloc[:4]), pool.X[:4])
    np.testing.assert_allclose(pool.encoding.features(frame[["a", "b"]].iloc[:4]), pool.X[:4])
    assert encode_pool(frame[["a", "b"]], NOTHING, pipe).labels == ()
    assert not hasattr(pipe.steps[0][1], "mean_")


class Array:
    """Rows of an unknown library."""


def test_columns_are_left_out_where_they_are_there():
    frame = pl.DataFrame({"a": [1], "b": [2]})
    assert without_columns(frame, ["b", "c"]).columns == ["a"]
    assert without_columns(frame, []) is frame
    assert without_columns(X, ["b"]) is X
    assert without_columns(frame.lazy(), ["b"]).collect().columns == ["a"]
    assert without_columns([{"a": 1, "b": 2}], ["b"]) == [{"a": 1}]
    assert without_columns({"a": [1], "b": [2]}, ["b"]) == {"a": [1]}
    with pytest.raises(TypeError, match=r"X must be a frame or a list of dicts .* 'b'; got Array"):
        without_columns(Array(), ["b"])


@pytest.mark.parametrize(
    ("columns", "use", "kinds"),
    [
        (None, (), {}),
        ("a", ("a",), {}),
        (["a", "b"], ("a", "b"), {}),
        ({"a": "category"}, (), {"a": "category"}),
    ],
)
def test_columns_are_chosen_by_name_or_by_kind(columns, use, kinds):
    spec = ColumnChoice("i", "y", ["t", "u"], columns).spec(("p", "q"))
    assert (spec.use, spec.kinds) == (use, kinds)
    assert (spec.id, spec.label, spec.text, spec.classes) == ("i", "y", ("t", "u"), ("p", "q"))


def test_columns_that_are_not_chosen_are_not_learnt_from():
    frame, _ = passengers()
    assert encode_pool(frame, ColumnChoice(columns=["Fare"]), MODEL).X.shape[1] == 1
    fewer = encode_pool(frame, ColumnChoice(columns={"Age": "left out"}), MODEL)
    assert fewer.X.shape[1] == 3


def test_texts_alone_are_compared_by_cosine_unless_a_classifier_says_otherwise():
    words = [f"{a}{b}en" for a in "bdfgklmnpr" for b in "aeiou"]
    frame = pd.DataFrame({"text": [f"{one} {other} and more" for one, other in pairwise(words)]})
    pool = encode_pool(frame, ColumnChoice(text="text"), MODEL)
    assert pool.classifier.metric == "cosine"
    own = PossibilisticGPClassifier(metric="euclidean")
    assert encode_pool(frame, ColumnChoice(text="text"), own).classifier.metric == "euclidean"
    own = PossibilisticGPClassifier(RBF(2.0))
    assert encode_pool(frame, ColumnChoice(text="text"), own).classifier.metric is None


def test_texts_and_numbers_are_blocks_that_are_weighed():
    words = np.random.default_rng(0).choice(["sun", "moon", "star", "sea", "sand"], (40, 8))
    frame = pd.DataFrame({"text": [" ".join(line) for line in words], "n": range(0, 400, 10)})
    frame["n"] = np.random.default_rng(1).normal(size=40)
    pool = encode_pool(frame, ColumnChoice(text="text"), MODEL)
    assert sum(pool.classifier.blocks) == pool.X.shape[1]
    assert len(pool.classifier.blocks) == 2
    own = PossibilisticGPClassifier(RBF())
    assert encode_pool(frame, ColumnChoice(text="text"), own).classifier.blocks is None


def test_a_label_column_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="label must be a column of the data; got 'z'"):
        known_labels(pd.DataFrame({"y": [1]}), "z")


@pytest.mark.parametrize("roles", [ColumnChoice(label="y"), ColumnChoice(text="t")])
def test_the_columns_of_an_array_have_no_roles(roles):
    with pytest.raises(ValueError, match="must be left out for an array, whose columns have no"):
        encode_pool(X, roles, MODEL)


def test_numbers_of_ones_own_are_taken_and_nothing_else():
    encoding = RowEncoding(FeatureRecipe("own", ("feature 1", "feature 2")))
    assert np.array_equal(encoding.features(X), X)
    for rows in (X[:, :1], pd.DataFrame(X), X.tolist()):
        with pytest.raises(ValueError, match=r"rows must be numbers .* 2 columns .* pipeline"):
            encoding.features(rows)


def test_many_numbers_of_ones_own_are_brought_on_the_axes_of_the_pool():
    axes = {"centre": np.zeros(2), "components": np.array([[0.0, 1.0]])}
    encoding = RowEncoding(FeatureRecipe("own", ("feature 1",), numbers=axes))
    lengths = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(encoding.features(X)[:, 0], X[:, 1] / lengths)
    with pytest.raises(ValueError, match=r"rows must be numbers .* 2 columns .* pipeline"):
        encoding.features(X[:, :1])


# ---------------------------------------------------------------- texts
NOTES = pd.DataFrame({"note": ["the soup was cold", "a tiny room", "salty dinner", "a hard bed"]})


def letters(texts):
    """Texts by the letters that they have."""
    return np.array([[1.0, *(text.count(a) for a in "abdelmnorst")] for text in texts])


def test_texts_are_embedded_and_new_ones_the_same_way():
    pool = encode_pool(NOTES, ColumnChoice(text="note"), MODEL)
    assert pool.encoding.recipe.embedder.name == "universal-sentence-encoder-multilingual"
    np.testing.assert_allclose(pool.encoding.features(NOTES[1:3]), pool.X[1:3], atol=1e-3)


@pytest.mark.parametrize("by", ["words", ["words"]])
def test_texts_are_compared_by_words_if_asked(by):
    pool = encode_pool(NOTES, ColumnChoice(text="note", by=by), MODEL)
    assert pool.encoding.recipe.embedder is None


def test_an_encoder_of_ones_own_embeds_the_pool_and_new_rows():
    pool = encode_pool(NOTES, ColumnChoice(text="note", encoder=letters), MODEL)
    assert pool.encoding.recipe.embedder.name == "letters"
    np.testing.assert_allclose(pool.encoding.features(NOTES[:2]), pool.X[:2], atol=1e-12)
    with pytest.raises(TypeError, match=r"^copies must be True or False; got \["):
        ColumnChoice(copies=[])
    with pytest.raises(TypeError, match=r"^by must be a list; got 3"):
        encode_pool(NOTES, ColumnChoice(text="note", by=3), MODEL)


@pytest.mark.parametrize(
    "given", [{"by": "words"}, {"encoder": letters}, {"text": "note"}, {"columns": ["note"]}]
)
def test_how_texts_are_compared_is_refused_beside_a_pipeline(given):
    pipe = make_pipeline(StandardScaler(), MODEL)
    name = next(iter(given))
    said = f"^{name} must be left out where classifier is a pipeline, .*; got .*\\. Leave one"
    with pytest.raises(ValueError, match=said):
        encode_pool(pd.DataFrame(X), ColumnChoice(**given), pipe)


def test_long_work_on_texts_is_shown_to_whoever_watches(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    pool = encode_pool(NOTES, ColumnChoice(text="note"), MODEL)
    assert capsys.readouterr() == ("", "")  # it took no time
    monkeypatch.setattr("possibal.progress.PATIENCE", 0.0)
    encode_pool(NOTES, ColumnChoice(text="note"), MODEL)
    assert "rows a second" in capsys.readouterr().err
    pool.encoding.features(NOTES)
    assert "rows a second" in capsys.readouterr().err


# ---------------------------------------------------------------- scales
@pytest.mark.parametrize("factor", [1e3, 1e-3])
def test_columns_on_very_different_scales_cause_a_warning_that_names_the_cure(factor):
    with pytest.warns(ScaleWarning, match=r"scales.*StandardScaler.*Pipeline.*data frame"):
        encode_pool(X * [1, factor], NOTHING, MODEL)


@pytest.mark.parametrize(
    ("rows", "model"),
    [
        (X * [1, 50], MODEL),
        (X * [1, 0], MODEL),
        (X * 0, MODEL),
        ((X * [1, 1e4])[:1], MODEL),
        ((X * [1, 1e4]).tolist(), MODEL),
        (X * [1, 1e4], PossibilisticGPClassifier(RBF([1.0, 1e4]))),
        (X * [1, 1e4], make_pipeline(StandardScaler(), MODEL)),
        (pd.DataFrame(X * [1, 1e4]), MODEL),
    ],
)
def test_no_warning_without_a_reason(rows, model, recwarn):
    encode_pool(rows, NOTHING, model)
    assert not [one for one in recwarn if one.category is ScaleWarning]


def test_columns_that_are_none_or_no_list_are_refused():
    assert ColumnChoice(columns="a").spec().use == ("a",)
    with pytest.raises(ValueError, match=r"^columns must name at least one column; got \[\]\."):
        ColumnChoice(columns=[]).spec()
    with pytest.raises(TypeError, match=r"^columns must be a list; got 3"):
        ColumnChoice(columns=3).spec()  # pyright: ignore[reportArgumentType]
