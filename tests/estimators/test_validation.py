import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.gaussian_process.kernels import RBF

from possibal.estimators import validation
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.regressor import PossibilisticGPRegressor

X = np.arange(8.0).reshape(4, 2)
LABELS = ["no", "yes", "no", "yes"]
NUMBERS = [0.0, 1.0, 3.0, 2.0]
ESTIMATORS = {
    "classifier": (PossibilisticGPClassifier(), LABELS),
    "regressor": (PossibilisticGPRegressor(), NUMBERS),
}

each_estimator = pytest.mark.parametrize(
    ("estimator", "y"), ESTIMATORS.values(), ids=ESTIMATORS.keys()
)


def assert_one_sentence(caught, argument, *words):
    """The message reads ``<argument> must <rule>; got <what>. <What to do>.`` on one line."""
    message = str(caught.value)
    assert message.startswith(f"{argument} must ")
    assert ";" in message
    assert message.endswith((".", "?"))
    assert "\n" not in message
    assert "np." not in message  # values as the user wrote them
    for word in words:
        assert word in message


def classify(rows=X, y=LABELS, sample_weight=None, **choices):
    return PossibilisticGPClassifier(**choices).fit(rows, y, sample_weight)


def regress(rows=X, y=NUMBERS, sample_weight=None, **choices):
    return PossibilisticGPRegressor(**choices).fit(rows, y, sample_weight)


def with_entry(value):
    rows = X.astype(object if isinstance(value, str) else float)
    rows[1, 1] = value
    return rows


# ---------------------------------------------------------------- rows


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")])
@each_estimator
def test_a_row_that_is_not_finite_is_named(estimator, y, value, word):
    with pytest.raises(ValueError, match="X must") as caught:
        estimator.fit(with_entry(value), y)
    assert_one_sentence(caught, "X", f"got {word} at row 1, column 1", "impute")


@each_estimator
def test_rows_asked_about_are_checked_too(estimator, y):
    with pytest.raises(ValueError, match="X must") as caught:
        estimator.fit(X, y).predict(with_entry(np.nan))
    assert_one_sentence(caught, "X", "row 1, column 1")


@pytest.mark.parametrize(
    "rows",
    [
        with_entry("red"),
        [["red", 1.0]] * 4,
        np.array([["red", "blue"]] * 4),
        pd.DataFrame({"colour": ["red", "blue"] * 2, "size": 1.0}),
        pd.DataFrame({"colour": pd.Categorical(["red", "blue"] * 2), "size": 1.0}),
        pl.DataFrame({"colour": ["red", "blue"] * 2, "size": [1.0] * 4}),
    ],
    ids=["objects", "lists", "strings", "pandas", "categories", "polars"],
)
@each_estimator
def test_text_in_rows_is_refused(estimator, y, rows):
    with pytest.raises(ValueError, match="X must") as caught:
        estimator.fit(rows, y)
    assert_one_sentence(caught, "X", "numbers", "'red'", "OneHotEncoder")


@pytest.mark.parametrize(
    "rows",
    [
        X.astype("datetime64[D]"),
        X.astype("timedelta64[D]"),
        pd.DataFrame({"day": pd.date_range("2020", periods=4), "size": 1.0}),
        pd.DataFrame({"day": pd.date_range("2020", periods=4, tz="UTC"), "size": 1.0}),
        pd.DataFrame({"day": pd.period_range("2020", periods=4, freq="D"), "size": 1.0}),
        pl.DataFrame({"day": [dt.date(2020, 1, d) for d in range(1, 5)], "size": [1.0] * 4}),
        [[dt.date(2020, 1, 1), 1.0]] * 4,
        [[np.datetime64("2020-01-01")]] * 4,
    ],
    ids=["numpy", "timedelta", "pandas", "zoned", "period", "polars", "objects", "list"],
)
@each_estimator
def test_dates_in_rows_are_refused(estimator, y, rows):
    with pytest.raises(ValueError, match="X must") as caught:
        estimator.fit(rows, y)
    assert_one_sentence(caught, "X", "numbers", "dates", "days since")


def test_a_column_of_numbers_may_be_called_date():
    assert classify(pd.DataFrame({"date": [1.0, 2.0, 3.0, 4.0]})).n_features_in_ == 1


@each_estimator
def test_sparse_rows_are_made_dense_where_they_are_few(estimator, y, monkeypatch):
    dense = estimator.fit(X, y).predict(X)
    np.testing.assert_array_equal(estimator.fit(csr_array(X), y).predict(csr_array(X)), dense)
    monkeypatch.setattr(validation, "MOST_DENSE", X.size - 1)
    with pytest.raises(ValueError, match="X must") as caught:
        estimator.fit(csr_array(X), y)
    assert_one_sentence(caught, "X", "dense", "TruncatedSVD")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.empty((0, 2)), "at least 1 row; got none"),
        (np.empty((4, 0)), "0 feature(s) (shape=(4, 0)) while a minimum of 1 is required"),
        (X[:, 0], "shape (4,). Reshape your data"),
        (X[None], "shape (1, 4, 2)"),
        (3.0, "got float"),
        (None, "got NoneType"),
        ({1.0, 2.0}, "got set"),
        ([[1.0, 2.0], [1.0]], "rows of different lengths"),
        ([np.ones((2, 2)), np.ones((2, 3))], "rows of different lengths"),
        (X + 1j, "Complex data not supported"),
        ([[1j, 2.0]] * 4, "Complex data not supported"),
        ([[10**400, 1]] * 4, "a number that no float holds"),
        (pd.DataFrame(X, columns=["a", "a"]), "name each column once"),
    ],
)
@each_estimator
def test_rows_of_the_wrong_shape_or_kind_get_one_sentence(estimator, y, rows, words):
    with pytest.raises(ValueError, match="X must") as caught:
        estimator.fit(rows, y)
    assert_one_sentence(caught, "X", words)
    with pytest.raises(ValueError, match="X must") as caught:
        estimator.fit(X, y).predict(rows)
    assert_one_sentence(caught, "X", words)


@pytest.mark.parametrize("size", [1.7e308, 1e306, -1e306, 1e-306, 5e-324])
@each_estimator
def test_rows_without_distances_between_them_are_refused(estimator, y, size):
    with pytest.raises(ValueError, match="X must") as caught:
        estimator.fit(X / X.max() * size, y)
    assert_one_sentence(caught, "X", f"{abs(size):.6g}", "Change its unit")


@pytest.mark.parametrize("size", [1e-305, 1e305])
@pytest.mark.parametrize("way", ["envelope", "evidence"])
@each_estimator
def test_rows_of_the_largest_and_smallest_size_are_fitted_without_a_warning(
    estimator, y, size, way
):
    rows = X / X.max() * size
    model = type(estimator)(hyperparameters=way).fit(rows, y)
    plain = type(estimator)(hyperparameters=way).fit(X, y)
    belief, expected = model.belief(rows), plain.belief(X)
    np.testing.assert_allclose(belief.mean[0], expected.mean[0], rtol=1e-3, atol=1e-6)


@each_estimator
def test_rows_that_are_only_predicted_may_have_any_size(estimator, y):
    model = estimator.fit(X, y)
    assert len(model.predict(np.array([[1e308, 5e-324]]))) == 1


def masked(values, *, of=0):
    """The same values, one of them behind a mask."""
    hidden = np.ma.array(values)
    hidden[of] = np.ma.masked
    return hidden


@each_estimator
def test_entries_behind_a_mask_are_refused(estimator, y):
    hidden = masked(X)
    cases = {
        "X": [(hidden, y), ([X[0], hidden[0]], y[:2])],
        "y": [(X, masked(y)), (X, [*y[:3], np.ma.masked])],
    }
    for argument, given in cases.items():
        for rows, said in given:
            with pytest.raises(ValueError, match=f"{argument} must") as caught:
                estimator.fit(rows, said)
            assert_one_sentence(caught, argument, "masked")
    with pytest.raises(ValueError, match="sample_weight must have no masked entries"):
        estimator.fit(X, y, sample_weight=masked(np.ones(4)))
    with pytest.raises(ValueError, match="X must have no masked entries"):
        estimator.fit(X, y).predict(hidden)


@each_estimator
def test_a_mask_that_hides_nothing_is_fine(estimator, y):
    model = estimator.fit(np.ma.array(X), np.ma.array(y))
    np.testing.assert_array_equal(model.predict(np.ma.array(X)), model.predict(X))


@each_estimator
def test_rows_of_another_width_get_the_message_of_scikit_learn(estimator, y):
    with pytest.raises(ValueError, match=r"X has 1 features, but Possibilistic.* is expecting 2"):
        estimator.fit(X, y).predict(X[:, :1])


@each_estimator
def test_other_column_names_get_the_message_of_scikit_learn(estimator, y):
    frame = pd.DataFrame(X, columns=["a", "b"])
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.fit(frame, y).predict(frame.rename(columns={"a": "z"}))


@each_estimator
def test_an_estimator_that_is_not_fitted_says_so(estimator, y):
    del y
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        type(estimator)().predict(X)


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize(
    "y",
    [["a", 1, "b", 2], np.array(["a", 1, "b", 2], object), [True, "a", False, "b"]],
    ids=["list", "objects", "booleans"],
)
def test_labels_of_mixed_types_are_refused(y):
    with pytest.raises(ValueError, match="y must") as caught:
        classify(y=y)
    assert_one_sentence(caught, "y", "one type", "number and text", "astype(str)")


@pytest.mark.parametrize(
    "y",
    [
        [None] * 4,
        ["a", None, "b", "a"],
        [1, None, 0, 1],
        [1.0, np.nan, 0.0, 1.0],
        ["a", np.nan, "b", "a"],
        np.array(["a", np.nan, "b", "a"], object),
        pd.Series(["a", None, "b", "a"]),
        pd.Series(["a", None, "b", "a"], dtype="string"),
        pd.Series(["a", None, "b", "a"], dtype="category"),
        pd.Series([1, None, 0, 1], dtype="Int64"),
        pl.Series(["a", None, "b", "a"]),
    ],
    ids=[
        "all",
        "text",
        "numbers",
        "nan",
        "nan-in-list",
        "nan-in-objects",
        "pandas",
        "pandas-string",
        "pandas-category",
        "pandas-integer",
        "polars",
    ],
)
def test_missing_labels_are_refused_and_not_to_be_made_text(y):
    with pytest.raises(ValueError, match="y must") as caught:
        classify(y=y)
    assert_one_sentence(caught, "y", "Leave rows without a label out")


@pytest.mark.parametrize("y", [[1.0, np.inf, 0.0, 1.0], [1.0, -np.inf, 0.0, 1.0]])
def test_infinite_labels_are_refused(y):
    with pytest.raises(ValueError, match="y must") as caught:
        classify(y=y)
    assert_one_sentence(caught, "y", "inf at row 1")


def test_numbers_that_are_no_labels_get_the_message_of_scikit_learn():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        classify(y=[0.5, 1.5, 2.5, 0.1])


@pytest.mark.parametrize("y", [X, 3], ids=["table", "number"])
@pytest.mark.parametrize("fit", [classify, regress])
def test_labels_of_the_wrong_shape_get_the_message_of_scikit_learn(fit, y):
    with pytest.raises(ValueError, match="y should be a 1d array"):
        fit(y=y)


@pytest.mark.parametrize(("fit", "y"), [(classify, LABELS), (regress, NUMBERS)])
def test_labels_in_a_column_get_the_warning_of_scikit_learn(fit, y):
    with pytest.warns(DataConversionWarning, match="column-vector"):
        fit(y=np.array(y)[:, None])


@pytest.mark.parametrize("fit", [classify, regress])
def test_labels_that_were_forgotten_are_asked_for(fit):
    with pytest.raises(ValueError, match="y must") as caught:
        fit(y=None)
    assert_one_sentence(caught, "y", "requires y to be passed, but the target y is None")


@pytest.mark.parametrize("fit", [classify, regress])
def test_every_row_needs_a_label(fit):
    with pytest.raises(ValueError, match="y must") as caught:
        fit(y=[0, 1, 0])
    assert_one_sentence(caught, "y", "one entry per row of X, 4; got 3")


def test_one_label_alone_needs_the_others_to_be_named():
    with pytest.raises(ValueError, match="y must") as caught:
        classify(y=["no"] * 4)
    assert_one_sentence(caught, "y", "at least 2 classes; got 1 class", "classes=")


@pytest.mark.parametrize(
    ("classes", "y", "got"),
    [
        (["no", "maybe"], LABELS, "'yes' at row 1"),
        ([1, 2], [1, 2, 0, 1], "0 at row 2"),
        ([0, 1], LABELS, "'no' at row 0"),
        (["no", "yes"], [0, 1, 0, 1], "0 at row 0"),
    ],
)
def test_a_label_that_is_not_among_the_classes_is_named(classes, y, got):
    with pytest.raises(ValueError, match="y must") as caught:
        classify(y=y, classes=classes)
    assert_one_sentence(caught, "y", "named in classes", got)


@pytest.mark.parametrize("classes", [[], ["no"], ["no", "no"]], ids=["none", "one", "twice"])
def test_classes_of_fewer_than_two_labels_are_refused(classes):
    with pytest.raises(ValueError, match="classes must") as caught:
        classify(classes=classes)
    assert_one_sentence(caught, "classes", "at least 2 labels")


@pytest.mark.parametrize(
    "classes",
    ["no", 2, [["no", "yes"], ["a", "b"]], {"no", "yes"}, ["no", 1], ["no", None], [0.0, np.nan]],
    ids=["text", "number", "table", "set", "mixed", "missing", "nan"],
)
def test_classes_that_are_no_list_of_labels_are_refused(classes):
    with pytest.raises((TypeError, ValueError)) as caught:
        classify(classes=classes)
    assert_one_sentence(caught, "classes")


@pytest.mark.parametrize(
    ("y", "word"),
    [
        (LABELS, "'no'"),
        ([0.0, np.nan, 1.0, 2.0], "NaN at row 1"),
        ([0.0, None, 1.0, 2.0], "NaN at row 1"),
        ([0.0, np.inf, 1.0, 2.0], "inf at row 1"),
        (np.array(["2020"] * 4, "datetime64[Y]"), "datetime"),
    ],
    ids=["text", "nan", "none", "inf", "dates"],
)
def test_outcomes_that_are_no_numbers_are_refused(y, word):
    with pytest.raises(ValueError, match="y must") as caught:
        regress(y=y)
    assert_one_sentence(caught, "y", word)


def test_outcomes_written_as_text_are_read():
    np.testing.assert_array_equal(validation.numbers(["1", "2.5", "-3e2"]), [1.0, 2.5, -300.0])


def test_no_label_at_all_names_no_class():
    with pytest.raises(ValueError, match="y must") as caught:
        validation.labels(np.array([]), None)
    assert_one_sentence(caught, "y", "got 0 class")


@pytest.mark.parametrize(
    ("y", "word"),
    [
        (np.column_stack([NUMBERS, NUMBERS]), "shape (4, 2)"),
        (3.0, "float"),
        ("abc", "str"),
        ([[1.0], [2.0, 3.0]] * 2, "different lengths"),
    ],
)
@pytest.mark.parametrize("fit", [classify, regress])
def test_labels_of_the_wrong_shape_get_one_sentence(fit, y, word):
    with pytest.raises(ValueError, match="y must") as caught:
        fit(y=y)
    assert_one_sentence(caught, "y", word)


def test_outcomes_are_real_numbers_that_a_float_holds():
    with pytest.raises(ValueError, match="y must") as caught:
        regress(y=[10**400, 1, 2, 3])
    assert_one_sentence(caught, "y", "no float holds")
    with pytest.raises(ValueError, match="y must") as caught:
        regress(y=[1j, 1, 2, 3])
    assert_one_sentence(caught, "y", "complex")


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize(
    ("weight", "word"),
    [
        ([1e308] * 4, "1e+308"),
        ([1, 1, 1, 1e13], "1e+13"),
        ([1, 1, 1, 5e-324], "4.94066e-324"),
        ([10**400, 1, 1, 1], "no float holds"),
        (np.ones(4) + 2j, "(1+2j)"),
    ],
)
@each_estimator
def test_weights_beyond_what_counting_means_are_refused(estimator, y, weight, word):
    with pytest.raises(ValueError, match="sample_weight must") as caught:
        estimator.fit(X, y, sample_weight=weight)
    assert_one_sentence(caught, "sample_weight", word)


@each_estimator
def test_weights_at_both_ends_are_fitted(estimator, y):
    model = estimator.fit(X, y, sample_weight=[1e12, 1e-290, 1, 1])
    assert np.isfinite(model.log_evidence_)


@pytest.mark.parametrize("value", [10**400, -(10**400), 1j, True, "1", 0.0, np.inf])
def test_the_usual_distance_is_a_positive_number(value):
    with pytest.raises(ValueError, match="usual_distance must") as caught:
        classify(usual_distance=value)
    assert_one_sentence(caught, "usual_distance", "positive number")


@pytest.mark.parametrize(
    ("weight", "word"),
    [
        ([1, -2.5, 1, 1], "-2.5 at row 1"),
        (-1.0, "-1 at row 0"),
        ([1, np.nan, 1, 1], "NaN"),
        ([1, np.inf, 1, 1], "inf"),
        ([1, 1], "4"),
        (np.ones((4, 2)), "4"),
        (["much"] * 4, "much"),
        ([0, 0, 0, 0], "zero"),
    ],
    ids=["negative", "negative-for-all", "nan", "inf", "short", "table", "text", "zeros"],
)
@each_estimator
def test_weights_that_make_no_sense_are_refused(estimator, y, weight, word):
    with pytest.raises(ValueError, match=r".") as caught:
        estimator.fit(X, y, sample_weight=weight)
    assert_one_sentence(caught, "sample_weight", word)


@each_estimator
def test_one_number_weighs_all_rows(estimator, y):
    one = estimator.fit(X, y, sample_weight=2.0).predict(X)
    np.testing.assert_array_equal(one, estimator.fit(X, y, sample_weight=[2.0] * 4).predict(X))


# ---------------------------------------------------------------- choices


@pytest.mark.parametrize("fit", [classify, regress])
def test_an_unknown_way_with_hyperparameters_is_refused(fit):
    with pytest.raises(ValueError, match="hyperparameters must") as caught:
        fit(hyperparameters="fixxed")
    assert_one_sentence(caught, "hyperparameters", "'envelope'", "got 'fixxed'", "mean 'fixed'?")


@pytest.mark.parametrize("link", ["cauchit", 3, None])
def test_an_unknown_link_is_refused(link):
    with pytest.raises(ValueError, match="link must") as caught:
        classify(link=link)
    assert_one_sentence(caught, "link", "'probit', 'logistic'", f"got {link!r}", "Choose one")


def test_an_unknown_noise_is_refused():
    with pytest.raises(ValueError, match="noise must") as caught:
        regress(noise="systemic")
    assert_one_sentence(caught, "noise", "'random'", "mean 'systematic'?")


def test_a_name_that_is_no_kernel_of_ours_is_refused():
    with pytest.raises(ValueError, match="kernel must") as caught:
        classify(kernel="matern")
    assert_one_sentence(caught, "kernel", "'rbf'", "got 'matern'")
    with pytest.raises(TypeError, match="kernel must"):
        regress(kernel="rbf")


@pytest.mark.parametrize("kernel", [RBF, 1.0, [RBF(), "rbf"]], ids=str)
@pytest.mark.parametrize("fit", [classify, regress])
def test_what_is_no_kernel_is_refused(fit, kernel):
    with pytest.raises(TypeError, match="kernel must") as caught:
        fit(kernel=kernel)
    assert_one_sentence(caught, "kernel", "scikit-learn kernel", "sklearn.gaussian_process.kernels")


@pytest.mark.parametrize(
    ("fit", "y", "kernels"),
    [
        (classify, LABELS, 0),
        (classify, LABELS, 2),
        (classify, [0, 1, 2, 0], 2),
        (regress, NUMBERS, 2),
    ],
)
def test_a_wrong_number_of_kernels_is_refused(fit, y, kernels):
    with pytest.raises(ValueError, match="kernel must") as caught:
        fit(y=y, kernel=[RBF()] * kernels)
    assert_one_sentence(caught, "kernel", f"got {kernels}", "single kernel")


@pytest.mark.parametrize("fit", [classify, regress])
def test_a_kernel_for_other_columns_is_refused(fit):
    with pytest.raises(ValueError, match=r".") as caught:
        fit(kernel=RBF([1.0, 2.0, 3.0]))
    assert_one_sentence(caught, "kernel", "3", "2")


@pytest.mark.parametrize("variance", [0, 0.0, -1.0, np.nan, np.inf, "small"], ids=str)
def test_a_noise_variance_that_is_none_is_refused(variance):
    with pytest.raises((TypeError, ValueError)) as caught:
        regress(noise_variance=variance)
    assert_one_sentence(caught, "noise_variance", "positive", str(variance))


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5, 95, np.nan, "high"], ids=str)
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises((TypeError, ValueError)) as caught:
        regress().credible_interval(X, level)
    assert_one_sentence(caught, "level", "between 0 and 1", str(level))


@pytest.mark.parametrize("count", [0, -3, 1.5, "many"], ids=str)
def test_a_number_of_samples_that_is_none_is_refused(count):
    with pytest.raises((TypeError, ValueError)) as caught:
        classify().sample_proba(X, count)
    assert_one_sentence(caught, "n_samples", str(count))
