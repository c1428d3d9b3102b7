from dataclasses import FrozenInstanceError

import pytest

import possibal
from possibal.campaign.answer import Answer


def test_an_answer_is_a_value():
    assert Answer(3, "a") == Answer(3, "a")
    assert len({Answer(3, "a"), Answer(3, "a"), Answer(3, "b")}) == 2
    with pytest.raises(FrozenInstanceError):
        Answer(3, "a").label = "b"


def test_it_is_a_public_name():
    assert possibal.Answer is Answer
