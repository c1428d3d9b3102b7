import datetime as dt
import json
import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.data import encoders
from possibal.data.encoders import (
    Encoder,
    encode,
    encode_classes,
    find_column,
    fit_encoder,
    infer_type,
    mapped,
    unique_names,
)

WORDS = [f"w{i:02d}" for i in range(21)]


# ---------------------------------------------------------------- names
def test_names_that_are_blank_or_taken_are_numbered():
    assert unique_names(["a", " ", "a", "b ", "a"]) == ("a", "unnamed 2", "a (2)", "b", "a (3)")


@given(st.lists(st.sampled_from(["a", "a (2)", "", "b", "unnamed 1"])))
def test_names_are_always_different(names):
    found = unique_names(names)
    assert len(set(found)) == len(found) == len(names)
    assert "" not in found


# ---------------------------------------------------------------- text
def test_text_becomes_numbers_if_every_cell_that_is_there_is_one():
    assert infer_type([" 1", "-2.5e3", "", "NA"]) == [1.0, -2500.0, None, None]


def test_one_word_among_numbers_makes_all_of_them_words():
    assert infer_type(["1", "red", "?"]) == ["1", "red", None]


def test_the_word_none_is_not_a_missing_cell():
    assert infer_type(["None", "mild", "null"]) == ["None", "mild", None]


def test_a_code_with_an_underscore_is_a_word():
    assert infer_type(["1_2", "3"]) == ["1_2", "3"]


def test_a_comma_may_separate_decimals():
    assert infer_type(["1,5", "2.5"], ",") == [1.5, 2.5]
    assert infer_type(["1,5", "2.5"]) == ["1,5", "2.5"]


@pytest.mark.parametrize("words", [["007", "012", "345"], ["01234", "99999", ""]])
def test_digits_of_one_width_that_begin_with_zero_are_codes(words):
    assert infer_type(words) == [word or None for word in words]


@pytest.mark.parametrize("words", [["0", "1"], ["01", "12"], ["010", "9"], ["0.5", "1.5"]])
def test_other_digits_that_begin_with_zero_are_numbers(words):
    assert infer_type(words) == [float(word) for word in words]


def test_whole_numbers_too_long_for_a_float_are_codes():
    long = ["12345678901234567", "12345678901234568"]
    assert infer_type(long) == long
    assert infer_type(["0.12345678901234567", "2"]) == [0.12345678901234567, 2]


def test_infinite_numbers_of_both_signs_are_still_numbers():
    assert infer_type(["inf", "-inf", "1"]) == [np.inf, -np.inf, 1]


@given(st.lists(st.sampled_from(["1", " 2.5", "", "nan", "NA", "1e3"])))
def test_gaps_stay_in_their_places(words):
    gaps = [word.strip() in encoders.MISSING for word in words]
    assert [cell is None for cell in infer_type(words)] == gaps
    assert all(isinstance(cell, float) for cell in infer_type(words) if cell is not None)


def test_a_column_is_found_by_its_name():
    assert find_column("label", "kind", ("age", "kind")) == 1


def test_a_column_that_is_not_there_gets_the_nearest_or_the_last_offered():
    with pytest.raises(ValueError, match=r"^id must be .*; got 'Kinds'\. The nearest .* 'kind'\.$"):
        find_column("id", "Kinds", ("age", "kind"))
    with pytest.raises(ValueError, match=r"The last columns are 'b', 'c', 'd'\.$"):
        find_column("id", "zzz", tuple("abcd"))


@given(st.lists(st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "1"])))
def test_mapping_cells_is_a_call_for_each(cells):
    assert mapped(cells, repr) == [repr(cell) for cell in cells]


# ---------------------------------------------------------------- numbers
def test_numbers_stay():
    made = encode("age", [3, 1.5, np.float32(2), Decimal("4.25")])
    assert made.features == ("age",)
    assert made.X.tolist() == [[3], [1.5], [2], [4.25]]
    assert made.note == ""


@pytest.mark.parametrize("lost", [None, np.nan, np.inf, -np.inf, Decimal("NaN"), 1e200])
def test_missing_and_infinite_numbers_are_set_to_the_median(lost):
    made = encode("age", [1, 2, lost, 10])
    assert made.X.ravel().tolist() == [1, 2, 2, 10]
    assert made.note == (
        "1 of 4 cells of column age was missing and was set to the column's median."
    )


def test_several_missing_numbers_are_said_in_the_plural():
    note = encode("age", [1, 2, None, None]).note
    assert note.startswith("2 of 4 cells of column age were missing and were set")


@pytest.mark.parametrize(
    "cells", [[True, False, None], ["TRUE", "False", None], [np.True_, np.False_, None]]
)
def test_booleans_become_zero_and_one(cells):
    assert encode("smokes", cells).X.ravel().tolist() == [1, 0, 0.5]


@pytest.mark.parametrize("cells", [[2, 2, 2], [2, None, 2], ["a", "a", "a"], [True, True]])
def test_a_constant_column_is_left_out(cells):
    made = encode("site", cells)
    assert made.features == ()
    assert made.X.shape == (len(cells), 0)
    assert made.note == "column site was constant and was left out."


@pytest.mark.parametrize("cells", [[None, None], [np.inf, np.nan]])
def test_an_empty_column_is_left_out(cells):
    assert encode("site", cells).note == "column site was empty and was left out."


@pytest.mark.parametrize("name", ["id", "Index", "unnamed 1", "Unnamed: 0", "row_id"])
def test_a_column_that_numbers_the_rows_is_left_out(name):
    assert encode(name, [7, 8, 9]).note == f"column {name} numbers the rows and was left out."


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("time", [1, 2, 3]),
        ("number of rooms", [3, 3, 2]),
        ("id", [0.5, 1, 2]),
        ("paid", [100, 250, 7]),
        ("year", [*range(1990, 2020), 2019]),
    ],
)
def test_other_numbers_are_no_row_numbers(name, cells):
    assert encode(name, cells).features == (name,)


@pytest.mark.parametrize(
    "name", ["PassengerId", "passenger_id", "Order No", "CUSTOMER-NR", "rowID"]
)
def test_what_is_called_a_number_of_something_numbers_the_rows(name):
    assert encode(name, [700, 31, 9]).note == f"column {name} numbers the rows and was left out."


def test_whole_numbers_without_a_gap_number_the_rows_whatever_they_are_called():
    run = [float(i) for i in np.random.default_rng(0).permutation(20) + 1000]
    assert encode("case", run).note == "column case numbers the rows and was left out."
    assert encode("case", run[:19]).features == ("case",)
    assert encode("case", [*run[:19], None]).features == ("case",)


def test_whole_numbers_that_are_called_codes_are_categories_or_left_out():
    few = encode("store code", [3, 9, 3, None])
    assert few.features == ("store code = 3", "store code = 9", "store code = missing")
    many = encode("zip", [*range(0, 42, 2), 2])
    assert many.note == "column zip holds codes and was left out."
    assert encode("code", [1, 1, 1]).note == "column code was constant and was left out."


# ---------------------------------------------------------------- what users say
def test_a_user_may_say_what_a_column_is():
    assert fit_encoder("id", [1.0, 2.0, 4.0], "number").features == ("id",)
    assert fit_encoder("size", ["1", "x", "3"], "number").median == 2.0
    assert fit_encoder("size", [1.0, 2.0, 1.0], "category").words == ("1", "2")
    assert len(fit_encoder("nr", [float(i) for i in range(200)], "category").words) == 200
    assert fit_encoder("when", ["2024-01-01", "2024-01-03"], "date").parts == ("time",)


@pytest.mark.parametrize(
    ("cells", "kind", "why"),
    [
        (["a", "b"], "number", "got 'c' as a number, but it holds no numbers."),
        ([1.0, 1.0], "number", "got 'c' as a number, but it was constant."),
        (["a", "a"], "category", "got 'c' as a category, but it was constant."),
        ([str(i) for i in range(201)], "category", "has 201 different words, more than 200."),
        (["a", "2024-01-01"], "date", "got 'c' as a date, but it holds no dates."),
        ([None, None], "date", "got 'c' as a date, but it was empty."),
    ],
)
def test_a_column_that_is_not_what_a_user_says_is_refused(cells, kind, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        fit_encoder("c", cells, kind)


# ---------------------------------------------------------------- words
def test_few_words_become_a_column_each():
    made = encode("colour", ["red", "blue", "red", "green"])
    assert made.features == ("colour = blue", "colour = green", "colour = red")
    assert made.X.tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert made.note == "column colour has 3 different words and became 3 columns."


def test_a_missing_word_is_a_word_of_its_own():
    made = encode("colour", ["red", None, "red", None])
    assert made.features == ("colour = missing", "colour = red")
    assert made.X[:, 0].tolist() == [0, 1, 0, 1]
    assert "2 different words, missing cells counted as one, and became 2" in made.note


@pytest.mark.parametrize(("empty", "is_said"), [(2, False), (3, True)])
def test_words_that_most_rows_lack_may_be_labels(empty, is_said):
    note = encode("intent", ["ask", "thank", *[None] * empty]).note
    assert note.endswith("if these are labels, name it as the label.") == is_said


def test_numbers_among_words_are_words():
    assert encode("size", [1, "big", 1, "big"]).features == ("size = 1", "size = big")


def test_twenty_words_are_few_and_twenty_one_are_many():
    assert len(encode("town", WORDS[:20] * 2).features) == 20
    note = encode("town", WORDS * 2).note
    assert note == "column town has 21 different words, more than 20, and was left out."


def test_an_identifier_is_left_out_even_if_words_are_few():
    note = encode("name", [*WORDS[:12], None]).note
    assert note == "column name has another word in every row and was left out."


def test_a_single_word_among_missing_cells_is_no_identifier():
    assert encode("remark", ["bad", None, None]).features == ("remark = bad", "remark = missing")


# ---------------------------------------------------------------- dates
@pytest.mark.parametrize(
    ("cells", "parts"),
    [
        (["2024-02-28", "2024-02-29", None], "time"),
        (["2024/2/9 12:30", "2024/2/9 13:30"], "day"),
        (["12:30", "09:15:01.5"], "day"),
        ([dt.time(12, 30), dt.time(1)], "day"),
        ([dt.date(2024, 2, 29), dt.date(2022, 2, 28)], "time, year"),
        ([dt.datetime(2024, 2, d, d % 9, tzinfo=dt.UTC) for d in range(1, 29)], "time, week, day"),
    ],
)
def test_dates_become_the_parts_that_vary(cells, parts):
    gap = "; 1 of 3 was missing" if None in cells else ""
    assert encode("when", cells).note == f"column when holds dates and became {parts}{gap}."


def test_the_order_of_days_and_months_is_said():
    made = encode("when", ["29.02.2024", "01.03.2024"])
    assert made.note == "column when holds dates, day first, and became time."
    np.testing.assert_array_equal(np.diff(made.X, axis=0), [[1.0]])


def test_a_single_date_is_constant_and_none_is_empty():
    same = encode("when", ["2024-02-29", "2024-02-29"])
    assert same.note == "column when was constant and was left out."
    assert encode("when", [dt.date(2024, 1, 1), dt.date(2024, 1, 1)]).features == ()
    assert fit_encoder("when", ["99:99", "98:99"]).note == "column when was empty and was left out."


def test_a_missing_date_has_the_median_time_and_no_place_in_the_week():
    days = [dt.date(2024, 2, d) for d in range(1, 29)]
    encoder = fit_encoder("when", days)
    (gap,) = encoder.apply([None])
    assert encoder.features[1:] == ("when (week, cos)", "when (week, sin)")
    np.testing.assert_array_equal(gap, [encoder.median / 86_400, 0.0, 0.0])


def test_durations_are_numbers_of_days():
    made = encode("stay", [dt.timedelta(1), dt.timedelta(hours=12), None])
    np.testing.assert_array_equal(made.X[:, 0], [1.0, 0.5, 0.75])


def test_words_with_a_number_in_them_are_no_dates():
    assert len(encode("size", ["10-19", "20-29", "10-19"]).features) == 2


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, b"raw"])
def test_cells_of_other_kinds_are_left_out(cell):
    note = encode("stuff", [cell, None, cell]).note
    assert note == "column stuff holds neither numbers nor words and was left out."


@given(
    st.lists(
        st.none() | st.floats() | st.integers(-99, 99) | st.sampled_from(WORDS) | st.booleans()
    )
)
def test_whatever_the_cells_what_comes_out_is_finite_and_has_a_line_for_each(cells):
    made = encode("a", cells)
    assert made.X.shape == (len(cells), len(made.features))
    assert np.isfinite(made.X).all()


@pytest.mark.parametrize("cell", [10**400, -(10**400), Decimal("sNaN"), Decimal("1e999")])
def test_numbers_that_no_float_holds_are_missing(cell):
    assert encode("age", [1, 2, cell, 10]).X.ravel().tolist() == [1, 2, 2, 10]


# ---------------------------------------------------------------- new rows
CELLS = st.lists(
    st.none() | st.floats() | st.integers(-9, 9) | st.sampled_from(WORDS[:4]) | st.booleans()
)


@given(CELLS, CELLS)
def test_an_encoder_that_was_written_and_restored_does_the_same(cells, new):
    encoder = fit_encoder("a", cells)
    again = Encoder.restored(json.loads(json.dumps(encoder.document())))
    assert again == encoder
    assert again.apply(new).tolist() == encoder.apply(new).tolist()
    assert encoder.apply(new).shape == (len(new), len(encoder.features))
    assert np.isfinite(encoder.apply(new)).all()


@given(CELLS)
def test_the_rows_learnt_from_are_encoded_as_new_ones_are(cells):
    assert fit_encoder("a", cells).apply(cells).tolist() == encode("a", cells).X.tolist()


def test_new_numbers_stay_and_new_gaps_get_the_old_median():
    encoder = fit_encoder("age", [1, 2, 10])
    assert encoder.apply([7, None, np.nan]).ravel().tolist() == [7, 2, 2]
    assert encoder.note == ""


def test_new_words_where_numbers_are_meant_are_read_as_numbers_or_missing():
    assert fit_encoder("age", [1, 2, 10]).apply([" 7 ", "old", "1_2"]).ravel().tolist() == [7, 2, 2]


def test_a_word_never_seen_is_zero_everywhere():
    encoder = fit_encoder("colour", ["red", "blue", "red"])
    assert encoder.apply(["green", "blue", None]).tolist() == [[0, 0], [1, 0], [0, 0]]


def test_a_gap_among_new_words_is_a_word_if_it_was_one():
    encoder = fit_encoder("colour", ["red", None, "red"])
    assert encoder.apply([None, "red", "blue"]).tolist() == [[1, 0], [0, 1], [0, 0]]


def test_new_rows_that_are_all_numbers_still_find_their_words():
    encoder = fit_encoder("size", ["1", "2.50", "big", "big"])
    assert encoder.features == ("size = 1", "size = 2.50", "size = big")
    assert encoder.apply([1.0, 2.5, 3.0]).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize("cells", [[True, False], ["true", "FALSE"]])
def test_truths_are_read_in_either_way(cells):
    encoder = fit_encoder("smokes", cells)
    assert encoder.kind == "truths"
    assert encoder.apply([True, "false", None, "maybe"]).ravel().tolist() == [1, 0, 0.5, 0.5]


def test_whole_numbers_are_written_without_a_point():
    written = [
        encoders.cell_text(cell) for cell in (2.0, -0.0, 1.5, 10**20, True, "2.0", Decimal(3))
    ]
    assert written == ["2", "0", "1.5", str(10**20), "True", "2.0", "3"]


# ---------------------------------------------------------------- pandas


# ---------------------------------------------------------------- labels
def test_words_as_labels_are_sorted_by_spelling():
    labels, y = encode_classes("kind", ["pear", "apple", "pear"])
    assert labels == ("apple", "pear")
    assert y.tolist() == [1, 0, 1]


def test_numbers_as_labels_are_sorted_by_size():
    labels, y = encode_classes("kind", [10.0, 2, 1.5, -0.0, 10, 0])
    assert labels == ("0", "1.5", "2", "10")
    assert y.tolist() == [3, 2, 1, 0, 3, 0]


def test_booleans_as_labels_are_words():
    assert encode_classes("kind", [True, False, True])[0] == ("False", "True")


def test_a_label_of_a_single_row_is_kept():
    assert encode_classes("kind", ["a", "a", "b"])[0] == ("a", "b")


@pytest.mark.parametrize("cells", [["a"] * 12, [1.0] * 12])
def test_one_label_is_too_few(cells):
    with pytest.raises(
        ValueError, match=r"^label must .* at least 2 different labels; got 'kind' with 1\. Name an"
    ):
        encode_classes("kind", cells)


def test_many_different_numbers_look_like_something_to_predict():
    prices = list(range(21)) * 9
    with pytest.raises(ValueError, match=r"'price' with 21 different numbers, which looks like a"):
        encode_classes("price", prices)


def test_numbers_are_labels_if_each_is_had_by_ten_rows_or_if_they_are_few():
    assert len(encode_classes("digit", list(range(21)) * 10)[0]) == 21
    assert len(encode_classes("digit", [*range(20), 0])[0]) == 20


@pytest.mark.parametrize("cells", [WORDS, list(range(12))])
def test_labels_that_never_recur_are_refused(cells):
    with pytest.raises(ValueError, match=r"in which labels recur; got 'name' with other (wor|num)"):
        encode_classes("name", cells)


def test_an_encoder_whose_words_are_no_text_is_refused():
    document = fit_encoder("word", ["a", "b"] * 20).document()
    with pytest.raises(ValueError, match="a word that is no text"):
        Encoder.restored({**document, "words": ["a", None]})
