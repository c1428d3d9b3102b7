import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.data.encoders import fit_encoder, infer_column, infer_type
from possibal.data.numerals import read_numeral, read_numerals

GROUPS = {
    ".": [",", " ", "\u00a0", "\u2009", "\u202f", "'", "\u2019"],
    ",": [".", " ", "\u202f", "'"],
}
UNITS = [
    "{}",
    "{}%",
    "{} %",
    "€{}",
    "{} €",
    "$ {}",
    "£{}",
    "¥{}",
    "{} EUR",
    "USD {}",
    "US${}",
    "CHF {}",
]
READ = "the numbers of column a were read"
NEGATIVE = "as negative where they stand in parentheses"
SIGNS = ["-{}", "\u2212{}", "({})"]


def written(number, decimal, group, unit, sign):
    """A number of cents by one convention."""
    whole, cents = divmod(abs(number), 100)
    digits = f"{whole:,}".replace(",", group) + decimal + f"{cents:02}"
    if number >= 0:
        return unit.format(digits)
    return sign.format(unit.format(digits)) if sign == "({})" else unit.format(sign.format(digits))


@st.composite
def columns(draw):
    """Cents, how they are written, and what separates decimals."""
    decimal = draw(st.sampled_from(".,"))
    group, unit = draw(st.sampled_from(GROUPS[decimal])), draw(st.sampled_from(UNITS))
    sign = draw(st.sampled_from(SIGNS))
    cents = draw(st.lists(st.integers(-(10**12), 10**12), min_size=1))
    return cents, [written(one, decimal, group, unit, sign) for one in cents], decimal


@given(columns())
def test_a_number_by_any_convention_is_read_back(column):
    cents, words, decimal = column
    assert infer_type(words, decimal) == pytest.approx([one / 100 for one in cents])


@given(columns())
def test_where_it_can_be_told_the_file_need_not_say_what_separates_decimals(column):
    cents, words, decimal = column
    if all(abs(one) >= 100_000 for one in cents):
        other = "," if decimal == "." else "."
        assert infer_type(words, other) == pytest.approx([one / 100 for one in cents])


@given(
    st.lists(st.text("0123456789.,' -+()€%$EURx", min_size=1), min_size=1), st.sampled_from(".,")
)
def test_whatever_the_words_they_are_all_numbers_or_all_words(words, decimal):
    cells = infer_type(words, decimal)
    assert {type(cell) for cell in cells if cell is not None} in ({str}, {float}, set())


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["1,234.50", "12"], [1234.5, 12]),
        (["1,234", "999", "1,234,567"], [1234, 999, 1234567]),
        (["12.5%", "0%", "-3 %"], [12.5, 0, -3]),
        (["€300", "€ 1,200"], [300, 1200]),
        (["$1,200.00", "-$5", "$-7.5"], [1200, -5, -7.5]),
        (["($1,200.00)", "$(5)", "$3"], [-1200, -5, 3]),
        (["(1,200.00)", "5"], [-1200, 5]),
        (["(5)", "7"], [-5, 7]),
        (["300 EUR", "EUR 20", "1EUR"], [300, 20, 1]),
        (["USD 300", "USD .50"], [300, 0.5]),
        (["£3", "£0.10"], [3, 0.1]),
        (["¥1,000", "¥20"], [1000, 20]),
        (["R$ 5", "R$ 6.10"], [5, 6.1]),
        (["300 kr", "20 kr"], [300, 20]),
        (["\u22125", "7"], [-5, 7]),
        (["\u22121.5e\u22123", "2"], [-0.0015, 2]),
        (["1 234", "12 345", "1234"], [1234, 12345, 1234]),
        (["1\u202f234,50", "2,00"], [1234.5, 2]),
        (["1'234.50", "7"], [1234.5, 7]),
        (["1.234,50", "1.234"], [1234.5, 1234]),
        (["12,50 €", "3,99 €"], [12.5, 3.99]),
        (["12,5 %", "3,125 %"], [12.5, 3.125]),
        (["1.234.567", "12.345"], [1234567, 12345]),
    ],
)
def test_numbers_of_spreadsheets_are_numbers(words, numbers):
    assert infer_type(words) == numbers
    assert infer_type([*words, "NA", " "]) == [*numbers, None, None]


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["1.234,50", "12"], [1234.5, 12]),
        (["€1.234", "€12"], [1234, 12]),
        (["1,234.50", "1,5"], None),
        (["1,234.50", "2,000"], [1234.5, 2000]),
        (["€1.50", "€2.75"], [1.5, 2.75]),
        (["12,5%", "3%"], [12.5, 3]),
        (["\u22121,5", "2"], [-1.5, 2]),
        (["1 234,5", "2"], [1234.5, 2]),
    ],
)
def test_where_a_comma_separates_decimals_a_point_may_separate_thousands(words, numbers):
    assert infer_type(words, ",") == (numbers or words)


@pytest.mark.parametrize(
    "words",
    [
        ["€300", "$200"],
        ["€300", "200"],
        ["12.5%", "0.3"],
        ["12,5", "3,75"],
        ["1,234", "12,34"],
        ["1,234", "0,500"],
        ["1,234", "12345"],
        ["1,23,456", "1"],
        ["1.234,50", "1,234.50"],
        ["1,234 567", "1"],
        ["$5M", "$6M"],
        ["5%-10%", "10%-20%"],
        ["€300 $", "€1 $"],
        ["--5$", "$3"],
        ["-$-5", "$3"],
        ["(-5)", "7"],
        ["(5", "7"],
        ["5)", "7"],
        ["((5))", "7"],
        ["(1)", "(2)", "(3)"],
        ["007 EUR", "012 EUR"],
        ["ABC 300", "ABC 200"],
        ["TOP 10", "TOP 20"],
        ["- 5", "- 6"],
        ["%5", "%6"],
        ["€", "€5"],
        ["1.2.3", "1.2.4"],
        ["01.02.2024", "12.10.2024"],
        ["192.168.100.101", "192.168.100.102"],
        ["612 345 678", "698 765 432"],
        ["+49 171 234 567", "+49 30 123 456"],
        ["0171 234 567", "0171 765 432"],
        ["555-123-4567", "555-123-4568"],
        ["(555) 123-4567", "(555) 123-4568"],
        ["12 345 678 901 234 567", "1"],
        ["1_000", "2"],
        ["red", "€5"],
    ],
    ids=", ".join,
)
def test_other_words_codes_and_phone_numbers_stay_words(words):
    assert infer_type(words) == words
    assert infer_column(words).numerals is None


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (
            ["€1,200", "€5"],
            f"{READ} without currency signs and thousands separators.",
        ),
        (["€5", "€6"], f"{READ} without currency signs."),
        (["5%", "6%"], f"{READ} without % signs."),
        (["1,200", "5"], f"{READ} without thousands separators."),
        (
            ["(1,200)", "5"],
            f"{READ} without thousands separators, and {NEGATIVE}.",
        ),
        (
            ["(5)", "6"],
            f"{READ} {NEGATIVE}.",
        ),
    ],
)
def test_what_was_left_out_of_numbers_is_said(words, note):
    assert infer_column(words).numerals.note("a") == note


def test_plain_numbers_and_minus_signs_need_no_word():
    assert infer_column(["1", "2.5"]).numerals is None
    assert infer_column(["\u22121", "2.5"]).numerals is None
    assert read_numerals(["\u22121", "2.5"]).note("a") == ""


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("€300", 300),
        ("12.5%", 12.5),
        ("12,5 %", 12.5),
        ("1.234,50", 1234.5),
        ("1,234.50", 1234.5),
        ("\u22125", -5),
        ("1,234", None),
        ("€1.234", None),
        ("old", None),
        ("", None),
    ],
)
def test_a_word_by_itself_is_a_number_where_there_is_one_way_to_read_it(word, number):
    assert read_numeral(word) == number
    expected = 2 if number is None else number
    assert fit_encoder("age", [1, 2, 10]).apply([word]).tolist() == [[expected]]
