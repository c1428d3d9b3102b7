import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from possibal import PossibilisticGPClassifier, rank
from possibal.pool.transformed import index_names, transformed_pool

X = np.random.default_rng(0).normal(size=(60, 2)) * [1, 1e3]
FRAME = pd.DataFrame(X, columns=["a", "b"])
SCALED = StandardScaler().fit_transform(X)
TEXTS = [f"{good} {thing}" for good in ("good", "bad") for thing in ("film", "play", "book")]


def fitted(*steps, rows=X, y=None):
    """A plain pipeline of scikit-learn, fitted to labelled rows."""
    return make_pipeline(*steps, PossibilisticGPClassifier()).fit(
        rows, X[:, 0] > 0 if y is None else y
    )


@pytest.mark.parametrize("strategy", ["necessity", "herding", "random"])
@pytest.mark.parametrize(
    "pool",
    [X, X.tolist(), FRAME, pl.from_pandas(FRAME), [X[:20], X[20:]], (x for x in (X[:9], X[9:]))],
    ids=["array", "lists", "pandas", "polars", "chunks", "iterator"],
)
@pytest.mark.filterwarnings("ignore:X (has|does not have) (valid )?feature names")
def test_rows_behind_a_pipeline_are_ranked_as_their_numbers(pool, strategy):
    pipe = fitted(StandardScaler())
    pool = iter([X[:9], X[9:]]) if not hasattr(pool, "__len__") else pool
    listed = rank(pipe, pool, strategy, top=5)
    alone = rank(pipe[-1], SCALED, strategy, top=5)
    assert listed.ids == alone.ids
    np.testing.assert_allclose(listed.utilities, alone.utilities)


def test_rows_have_the_names_of_a_column_or_of_an_index():
    named = FRAME.assign(doc=[f"d{row}" for row in range(60)])
    pipe = fitted(StandardScaler(), rows=FRAME)
    places = rank(pipe, FRAME, top=4).ids
    assert rank(pipe, named, id="doc", top=4).ids == tuple(f"d{place}" for place in places)
    by_index = FRAME.set_index(pd.Index(range(100, 160)))
    assert rank(pipe, by_index, top=4).ids == tuple(100 + place for place in places)
    model = PossibilisticGPClassifier().fit(pd.DataFrame(SCALED, columns=["a", "b"]), X[:, 0] > 0)
    scaled = pd.DataFrame(SCALED, columns=["a", "b"], index=by_index.index)
    for strategy in ("necessity", "random"):
        expected = rank(model, scaled.reset_index(drop=True), strategy, top=4).ids
        listed = rank(model, scaled, strategy, top=4)
        assert listed.ids == tuple(100 + place for place in expected)
        assert {type(name) for name in listed.ids} == {int}


def test_an_index_names_each_row_once():
    assert index_names(FRAME) is None
    with pytest.raises(ValueError, match=r"index that names each row once.*reset_index"):
        index_names(FRAME.set_index(pd.Index([1] * 60)))


def test_sparse_numbers_of_texts_and_words_are_made_dense():
    pipe = fitted(TfidfVectorizer(), rows=TEXTS, y=["yes"] * 3 + ["no"] * 3)
    assert len(rank(pipe, ["good day", "bad day", "day"], "necessity", top=2)) == 2
    chunks = rank(pipe, iter([TEXTS[:3], TEXTS[3:]]), "necessity", top=2)
    assert chunks.ids == rank(pipe, TEXTS, "necessity", top=2).ids
    words = fitted(OneHotEncoder(), rows=[["a"], ["b"]] * 3, y=[0, 1] * 3)
    assert len(rank(words, [["a"], ["b"]], "necessity", top=1)) == 1


def test_a_sparse_matrix_goes_through_transformers_that_take_it():
    pipe = fitted(StandardScaler(with_mean=False), rows=csr_array(X))
    assert rank(pipe, csr_array(X), "necessity", top=3).ids == rank(pipe, X, "necessity", top=3).ids


@pytest.mark.parametrize("pool", ["pool.npy", {"a": [1]}])
def test_files_are_to_be_read_first(pool):
    with pytest.raises(TypeError, match=r"X must be an array.* where model is a pipeline; got"):
        rank(fitted(StandardScaler()), pool)


def test_only_frames_have_a_column_of_names():
    with pytest.raises(ValueError, match="id must be left out where X has no names of columns"):
        transformed_pool(fitted(StandardScaler()), X, "doc")


def test_an_empty_list_is_no_pool():
    with pytest.raises(ValueError, match="X must have at least one row"):
        rank(fitted(StandardScaler()), [])


def test_a_pipeline_that_ends_in_another_model_is_refused():
    other = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"^strategy must not read labelled rows.*got herding"):
        rank(other, X)
    with pytest.raises(TypeError, match="ends in LinearSVC"):
        rank(make_pipeline(StandardScaler(), LinearSVC()).fit(X, X[:, 0] > 0), X)


def test_a_pipeline_of_another_library_ranks_by_its_probabilities():
    other = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X[:, 0] > 0)
    closest = np.argsort(np.abs(other.predict_proba(X)[:, 1] - 0.5), kind="stable")[:3]
    assert rank(other, X, "margin", top=3).places.tolist() == closest.tolist()
