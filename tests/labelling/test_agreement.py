import warnings
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from possibal.labelling.agreement import cohen, krippendorff, pairs

CLASSES = ("a", "b", "c")
PEOPLE = ("ann", "bob", "cy", "dee")
EXAMPLE = (
    {"ann": "a", "bob": "a", "cy": "a"},
    {"ann": "b", "bob": "b"},
    {"ann": "a", "bob": "b", "cy": "b", "dee": "b"},
    {"cy": "c", "dee": "c"},
    {"ann": "c", "dee": "a"},
    {"bob": "a"},
)
"""Of which the last does not count: nobody else answered it."""

two_sided = st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), max_size=30)
said = st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from(CLASSES), max_size=4)
rows = st.lists(said, max_size=15)


def slow_alpha(units) -> Fraction | None:
    """Krippendorff's alpha by its coincidence matrix, in exact fractions."""
    coincidence = Counter()
    for unit in units:
        for one, first in unit.items():
            for other, second in unit.items():
                if one != other:
                    coincidence[first, second] += Fraction(1, len(unit) - 1)
    total = Counter()
    for (first, _), weight in coincidence.items():
        total[first] += weight
    n = sum(total.values())
    differ = [(c, k) for c in total for k in total if c != k]
    expected = sum(total[c] * total[k] for c, k in differ)
    if not expected:
        return None
    return 1 - (n - 1) * sum(coincidence[pair] for pair in differ) / expected


# ---------------------------------------------------------------- two people
@given(two_sided)
def test_kappa_is_that_of_scikit_learn(given):
    found = cohen(given)
    if not given or len({label for pair in given for label in pair}) == 1:
        assert found is None
        return
    ones, others = zip(*given, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found == pytest.approx(cohen_kappa_score(ones, others), abs=1e-12)


@given(two_sided)
def test_kappa_does_not_care_who_is_who_and_is_at_most_one(given):
    found = cohen(given)
    assert found == cohen([(other, one) for one, other in given])
    assert found is None or -1.0 <= found <= 1.0
    if found is not None:
        assert (found == 1.0) == all(one == other for one, other in given)


def test_kappa_of_a_table_by_hand():
    given = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    chance = Fraction(25, 50) * Fraction(30, 50) + Fraction(25, 50) * Fraction(20, 50)
    known = (Fraction(35, 50) - chance) / (1 - chance)
    assert known == Fraction(2, 5)
    assert cohen(given) == pytest.approx(0.4)


@pytest.mark.parametrize("given", [[], [("a", "a")] * 3], ids=["nothing", "one class"])
def test_kappa_is_undefined_where_chance_alone_agrees(given):
    assert cohen(given) is None


def test_two_people_who_never_agree_are_below_chance():
    assert cohen([("a", "b"), ("b", "a")]) == -1.0


# ---------------------------------------------------------------- any number
@given(rows)
def test_alpha_is_that_of_the_coincidence_matrix(given):
    known = slow_alpha(unit for unit in given if len(unit) > 1)
    found = krippendorff(given)
    assert found == (None if known is None else pytest.approx(float(known), abs=1e-12))


def test_alpha_of_an_example_by_hand():
    # 13 answers count: 5 a, 5 b, 3 c. Pairs that differ: 6 / 3 in the third row, 2 / 1 in the
    # fifth, so 4 in all; expected ones: 13^2 - 25 - 25 - 9 = 110.
    known = 1 - Fraction(12 * 4, 110)
    assert slow_alpha(EXAMPLE) == known == Fraction(31, 55)
    assert krippendorff(EXAMPLE) == pytest.approx(31 / 55)


@given(rows, st.permutations(PEOPLE))
def test_alpha_does_not_care_who_is_who(given, others):
    names = dict(zip(PEOPLE, others, strict=True))
    renamed = [{names[who]: label for who, label in unit.items()} for unit in given]
    assert krippendorff(renamed) == krippendorff(given)


@given(rows)
def test_alpha_is_at_most_one_and_one_where_all_agree(given):
    found = krippendorff(iter(given))
    assert found is None or found <= 1.0
    agreed = all(len(set(unit.values())) < 2 for unit in given)
    assert found is None or (found == 1.0) == agreed


@pytest.mark.parametrize(
    "given",
    [[], [{"ann": "a"}, {"bob": "b"}], [{"ann": "a", "bob": "a"}] * 3, [{}]],
    ids=["nothing", "nobody twice", "one class", "empty"],
)
def test_alpha_is_undefined_where_nothing_can_differ(given):
    assert krippendorff(given) is None


# ---------------------------------------------------------------- pairs
def test_each_two_people_are_compared_on_the_rows_that_both_answered():
    found = pairs(EXAMPLE)
    assert found[("ann", "bob")] == [("a", "a"), ("b", "b"), ("a", "b")]
    assert found[("cy", "dee")] == [("b", "b"), ("c", "c")]
    assert found[("ann", "dee")] == [("a", "b"), ("c", "a")]
    assert all(one < other for one, other in found)
    assert pairs([{"ann": "a"}]) == {}
