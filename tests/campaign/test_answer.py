from dataclasses import FrozenInstanceError

import pytest

import possibal
from possibal.campaign.answer import Answer, check_answer, check_no_truth


def test_an_answer_is_a_value():
    assert Answer(3, "a") == Answer(3, "a")
    assert len({Answer(3, "a"), Answer(3, "a"), Answer(3, "b")}) == 2
    with pytest.raises(FrozenInstanceError):
        Answer(3, "a").label = "b"


def test_it_is_a_public_name():
    assert possibal.Answer is Answer


@pytest.mark.parametrize("given", [(1, "a"), "a", None, 1])
def test_what_is_no_answer_is_refused(given):
    check_answer(Answer(1, "a"))
    with pytest.raises(TypeError, match=r"^answers must be of class Answer; got .*Write possibal"):
        check_answer(given)


def test_true_is_no_number_of_a_row():
    check_no_truth(1, [0, 1])
    yes = bool(1)
    check_no_truth(yes, [False, True])
    with pytest.raises(ValueError, match=r"^row must be an id of the pool; got True\."):
        check_no_truth(yes, [0, 1])
