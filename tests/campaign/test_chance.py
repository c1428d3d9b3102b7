import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.campaign.chance import CredibleChance, chance_sentence

COIN = "Close to a toss of a coin whatever is labelled."


@pytest.mark.parametrize(
    ("lower", "upper", "labels", "said"),
    [
        (0.3, 0.8, 2, "Between 30% and 80% likely to be ham: not known yet."),
        (0.3, 0.8, 3, "Between 30% and 80% likely to be ham: not known yet."),
        (0.01, 0.99, 2, "How likely it is to be ham is not known yet."),
        (0.45, 0.55, 2, COIN),
        (0.5, 0.68, 2, COIN),
        (0.45, 0.55, 3, "About 50% likely to be ham whatever is labelled."),
        (0.55, 0.69, 2, "About 62% likely to be ham whatever is labelled."),
        (0.85, 0.99, 2, ""),
        (0.65, 0.8, 4, ""),
    ],
)
def test_what_is_not_known_is_told_from_what_is_random(lower, upper, labels, said):
    assert chance_sentence("ham", CredibleChance(lower, upper, labels)) == said


@given(st.floats(0, 1), st.floats(0, 1), st.integers(2, 5))
def test_a_toss_of_a_coin_is_said_only_of_a_narrow_range_around_one_half(a, b, labels):
    low, high = min(a, b), max(a, b)
    said = chance_sentence("ham", CredibleChance(low, high, labels))
    assert said == "" or re.fullmatch(r"[A-Z][^.]*\.", said)
    if "coin" in said:
        assert labels == 2
        assert 0.3 <= low <= high <= 0.7
        assert high - low <= 0.2
    assert ("not known" in said) == (high - low > 0.2)
