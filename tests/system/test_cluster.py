"""Several servers with faults, and the checker that judges them; ``make cluster`` runs long."""

from dataclasses import replace

import pytest
from support import postgres
from support.histories import Attempt, Outcome, violations
from system import cluster

from possibal.labelling.service import LEASE
from possibal.labelling.storage.journal import Event, Kind

SECONDS = 12.0
"""Of faults; the long run has minutes."""


@pytest.mark.long
@pytest.mark.skipif(postgres.ELSEWHERE and postgres.programs() is None, reason="needs PostgreSQL")
def test_nothing_is_lost_or_given_twice_whatever_goes_wrong_with_two_servers(tmp_path):
    found = cluster.run(tmp_path, SECONDS, servers=2, people=2, seed=1)
    assert found.wrong == []
    assert found.faults.keys() == cluster.FAULTS.keys()
    assert any(one.is_grant for one in found.history)
    assert found.journal


# ---------------------------------------------------------------- the checker
def asked(who: str, began: float, row: int | None = 7, outcome=Outcome.DONE, verb: str = "ask"):
    return Attempt(who, verb, began, began + 0.1, outcome, row)


def said(who: str, began: float, key: str, verb: str = "label", **more):
    given = {"row": 7, "key": key, "label": "yes", **more}
    return Attempt(who, verb, began, began + 0.1, given.pop("outcome", Outcome.DONE), **given)


def stored(*attempts: Attempt) -> list[Event]:
    """The journal of those who were served in this order."""
    return [
        Event(a.key or "", Kind(a.verb), a.who, n, a.row, a.label, a.target, number=n)
        for n, a in enumerate(attempts, 1)
    ]


HISTORY = [asked("ann", 0.0), said("ann", 1.0, "a")]


def test_a_history_in_which_all_is_well_has_no_violations():
    then = [asked("bob", 2.0), said("bob", 3.0, "b"), said("ann", 4.0, "c", "edit", label="no")]
    history = [*HISTORY, *then, asked("cy", 5.0, 8)]
    assert violations(history, stored(history[1], *then[1:]), people=2) == []


@pytest.mark.parametrize("verb", ["ask", "choose"])
def test_a_row_that_two_people_have_at_once_is_found(verb):
    history = [*HISTORY, asked("bob", 0.5, verb=verb)]
    (found,) = violations(history, stored(HISTORY[1]), people=2)
    assert found == "ann and bob had row 7 at once, from 0.600"


@pytest.mark.parametrize(
    "between",
    [
        said("ann", 0.2, "a", "skip", label=None),  # she spoke of it
        asked("ann", 0.2, 9, verb="choose"),  # she went to another row
    ],
)
def test_a_row_that_was_given_back_may_be_given_again(between):
    history = [asked("ann", 0.0), between, asked("bob", 0.5)]
    assert violations(history, stored(*(one for one in history if one.key)), people=2) == []


def test_a_row_may_be_given_again_once_its_lease_is_over():
    history = [asked("ann", 0.0), asked("bob", LEASE - 1.0)]
    assert len(violations(history, [], people=1)) == 1
    history[1] = asked("bob", LEASE + 1.0)
    assert violations(history, [], people=1) == []


def test_a_lease_may_run_since_a_request_of_which_nothing_was_heard():
    vague = asked("ann", -LEASE, None, Outcome.UNKNOWN)
    assert violations([vague, asked("ann", 0.0), asked("bob", 0.5)], [], people=1) == []


def test_a_row_that_is_asked_after_enough_people_named_it_is_found():
    history = [*HISTORY, asked("bob", 2.0)]
    assert violations(history, stored(HISTORY[1]), people=2) == []
    (found,) = violations(history, stored(HISTORY[1]), people=1)
    assert found == "bob was given row 7 at 2.100 after ann had named its class"


def test_a_row_may_be_asked_again_after_what_was_said_of_it_was_taken_back():
    undone = said("ann", 1.5, "u", "undo", row=None, label=None, target="a")
    history = [*HISTORY, undone, asked("bob", 2.0)]
    assert violations(history, stored(HISTORY[1], undone), people=1) == []


def test_an_answer_that_was_acknowledged_and_is_lost_is_found():
    (found,) = violations(HISTORY, [], people=1)
    assert found == "label of ann about row 7 (a) was acknowledged, and is there 0 times"


def test_an_answer_that_is_there_twice_is_found():
    twice = stored(HISTORY[1], HISTORY[1])
    assert violations(HISTORY, twice, people=1) == [
        "label of ann about row 7 (a) was acknowledged, and is there 2 times"
    ]


@pytest.mark.parametrize("outcome", [Outcome.AWAY, Outcome.UNKNOWN])
@pytest.mark.parametrize("is_there", [True, False])
def test_an_answer_of_which_nothing_was_heard_may_be_there_or_not(outcome, is_there):
    history = [said("ann", 1.0, "a", outcome=outcome)]
    assert violations(history, stored(*history) if is_there else [], people=1) == []


def test_an_answer_that_was_acknowledged_at_last_must_be_there_once():
    history = [said("ann", 1.0, "a", outcome=Outcome.UNKNOWN), said("ann", 2.0, "a")]
    assert violations(history, stored(history[0]), people=1) == []
    assert len(violations(history, [], people=1)) == 1


def test_what_was_refused_or_what_nobody_made_must_not_be_there():
    refused = said("ann", 1.0, "a", outcome=Outcome.REFUSED)
    assert "was refused, and is there" in violations([refused], stored(refused), people=1)[0]
    (found,) = violations([], stored(said("eve", 1.0, "e")), people=1)
    assert found == "label of eve is there, and nobody made it"


def test_an_answer_that_is_there_with_another_label_is_found():
    (found,) = violations(HISTORY, [replace(stored(HISTORY[1])[0], label="no")], people=1)
    assert "in the place of" in found


def test_a_later_word_that_does_not_count_is_found():
    first, second = HISTORY[1], said("ann", 2.0, "b", "edit", label="no")
    history = [*HISTORY, second]
    assert violations(history, stored(first, second), people=1) == []
    (found,) = violations(history, stored(second, first), people=1)
    assert found == "edit of ann about row 7 was overruled"


def test_of_settlements_at_the_same_time_either_may_count():
    one, two = (said(who, 1.0, who, "settle") for who in ("ann", "bob"))
    assert violations([one, two], stored(two, one), people=1) == []
    late = replace(two, began=2.0, ended=2.1)
    assert violations([one, late], stored(late, one), people=1) == [
        "settle of bob about row 7 was overruled"
    ]


def test_a_request_that_is_not_answered_in_time_is_found():
    late = replace(asked("ann", 0.0, None, Outcome.LATE), ended=60.0, server=1)
    assert violations([late], [], people=1) == ["ask of ann at server 1 was not answered in 60.0 s"]
