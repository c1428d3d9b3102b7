import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from possibal import PossibilisticGPClassifier, as_possibilistic
from possibal.campaign.encoding import ColumnChoice
from possibal.data.name_types import NameType
from possibal.labelling.pool_intake import PoolSpec, ingest_pool

X = np.random.default_rng(0).normal(size=(10, 2))
FRAME = pd.DataFrame(X, columns=["a", "b"])
MODEL = PossibilisticGPClassifier()
PIPELINE = as_possibilistic(make_pipeline(StandardScaler(), MODEL))


def test_rows_have_names_and_labels_of_one_type():
    frame = FRAME.set_index(pd.Index(range(100, 110))).assign(label=[0.0, 1.0, *[None] * 8])
    rows, session = ingest_pool(frame, PoolSpec(), MODEL)
    assert rows.source.label_type is NameType.WHOLE
    assert rows.ids[:2] == (100, 101)
    assert rows.source.labels[:3] == ("0", "1", None)
    assert (session.frame is frame, session.label) == (True, "label")
    assert session.encoding is None


def test_classes_that_are_named_tell_the_type_of_labels():
    rows, session = ingest_pool(X, PoolSpec(classes=(True, False)), MODEL)
    assert rows.source.label_type is NameType.TRUTH
    assert rows.source.classes == ("True", "False")
    assert session.frame is None
    with pytest.raises(ValueError, match="classes must be of one type; got 'a' and 1"):
        ingest_pool(X, PoolSpec(classes=("a", 1)), MODEL)


def test_a_pipeline_makes_the_numbers():
    rows, session = ingest_pool(FRAME, PoolSpec(), PIPELINE)
    np.testing.assert_allclose(rows.X, StandardScaler().fit_transform(X))
    assert rows.recipe.kind == "own"
    np.testing.assert_allclose(session.encoding.features(FRAME[:3]), rows.X[:3])


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        ([(row, 1) for row in range(10)], r"got \(0, 1\)\. Use frame\.reset_index\(drop=True\)"),
        ([f" {row}" for row in range(10)], "ids must have no blanks around them, .* got ' 0'"),
        (["a\0", *"bcdefghij"], r"ids must have no blanks around them, .* got 'a\\x00'"),
        (["a", *range(9)], "ids must be of one type; got 'a' and 0"),
        ([*range(9), 0], "ids must be unique"),
    ],
)
def test_names_that_cannot_be_kept_are_refused(ids, says):
    with pytest.raises(ValueError, match=says):
        ingest_pool(FRAME, PoolSpec(ids=ids), MODEL)


def test_a_file_names_its_own_rows_and_has_no_pipeline(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.assign(doc=list("abcdefghij")).to_csv(path, index=False)
    by_column = PoolSpec("doc", ColumnChoice(ids="doc"))
    assert ingest_pool(path, by_column, MODEL)[0].ids[:2] == ("a", "b")
    with pytest.raises(TypeError, match="pool must be a frame or an array where classifier is a"):
        ingest_pool(path, PoolSpec(), PIPELINE)
    with pytest.raises(TypeError, match="ids must be the name of a column of a file; got range"):
        ingest_pool(path, PoolSpec(range(10)), MODEL)
