import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pools import beliefs

from possibal import Belief, acquisition
from possibal.campaign.stopping import CERTAIN, Advice, AdviceState, advise, lookback

JARGON = re.compile("necess|posterior|epistemic|possib|belief|doubt", re.IGNORECASE)


def sure_of(necessities, signs=1):
    """A belief about two labels with these necessities: 1 - N = exp(-mean^2 / 2)."""
    mean = np.sqrt(-2 * np.log1p(-np.asarray(necessities, dtype=float)))
    return Belief.of(signs * mean, np.ones(len(mean)))


def test_stop_where_no_other_class_is_credible():
    now = sure_of([0.91, 0.95, 0.99])
    advice = advise(now, now, 3)
    assert advice.state is AdviceState.DONE
    assert advice.least_necessity == pytest.approx(0.91)
    assert (advice.in_doubt, advice.changed) == (0, 0.0)
    expected = "None of the 3 rows left is likely to belong to another class than predicted."
    assert advice.reason == expected
    assert advise(sure_of([0.89, 0.95, 0.99]), None, 3).state is AdviceState.GO_ON
    assert advise(sure_of([0.91]), None, 3).state is AdviceState.DONE


def test_stop_where_nothing_is_left():
    none = Belief.of(np.empty(0), np.empty(0))
    assert advise(none, none, 4) == Advice(
        AdviceState.DONE, "Every row has an answer.", 1.0, 0, 0.0
    )
    assert advise(none, None, 4).changed is None


def test_one_may_stop_where_answers_change_nothing_and_few_rows_are_in_doubt():
    now = sure_of([0.1, 0.1] + [0.6] * 98)
    advice = advise(now, now, 10)
    assert advice.state is AdviceState.SETTLED
    assert advice.reason == (
        "The last 5 answers changed almost nothing, and the labels so far say little about 2 of "
        "100 rows."
    )


def test_go_on_with_few_answers():
    now = sure_of([0.1] + [0.6] * 99)
    advice = advise(now, now, 9)
    assert advice.state is AdviceState.GO_ON
    assert advice.reason == "Fewer than 10 rows have an answer."


def test_go_on_while_predictions_change():
    now = sure_of([0.6] * 100)
    signs = np.ones(100)
    signs[7] = -1
    before = sure_of([0.6] * 100, signs)
    advice = advise(now, before, 50)
    assert advice.state is AdviceState.GO_ON
    assert advice.changed == pytest.approx(0.01)
    assert advice.reason == "The last 10 answers changed the prediction of 1 of 100 rows."


def test_go_on_while_many_rows_are_in_doubt():
    now = sure_of([0.1] * 3 + [0.6] * 97)
    advice = advise(now, now, 50)
    assert advice.state is AdviceState.GO_ON
    assert advice.reason == "The labels so far say little about 3 of 100 rows."


def test_go_on_where_there_is_nothing_to_compare_with():
    advice = advise(sure_of([0.6] * 100), None, 50)
    assert advice.state is AdviceState.GO_ON
    assert advice.changed is None
    assert advice.reason == "The last 10 answers named a class for the first time."


def test_predictions_of_several_classes_are_compared():
    means = np.tile([0.0, 1.0, 3.0], (4, 1))
    now, before = (Belief.of(m, np.ones((4, 3))) for m in (means, means[:, ::-1]))
    assert advise(now, before, 20).changed == 1.0
    assert advise(now, now, 20).changed == 0.0


@pytest.mark.parametrize(("answers", "last"), [(0, 5), (29, 5), (30, 6), (100, 20)])
def test_a_fifth_of_the_answers_is_looked_back_upon_and_at_least_five(answers, last):
    assert lookback(answers) == last


@given(beliefs(), st.integers(0, 100), st.booleans())
def test_the_reason_is_one_sentence_without_jargon(now, answers, comparable):
    advice = advise(now, now if comparable else None, answers)
    assert re.fullmatch(r"[A-Z0-9][^.]*\.", advice.reason)
    assert not JARGON.search(advice.reason)
    least = acquisition.necessity(now).min()
    assert (advice.state is AdviceState.DONE) == (least >= CERTAIN)


def test_states_are_words_for_people():
    assert [state.value for state in AdviceState] == ["go on", "may stop", "stop"]
