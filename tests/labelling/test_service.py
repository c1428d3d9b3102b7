from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from support.services import (
    CLOCK,
    answer,
    campaign,
    created,
    event,
    new_service,
    reopened,
    row_of,
    rows,
    serving,
    truth,
    undo,
    walk,
)

from possibal.campaign.snapshot import Snapshot
from possibal.data.copies import CopyGroups
from possibal.errors import RefusedError, UnsavedError
from possibal.labelling import class_changes, remarks, service, storage
from possibal.labelling.explanation import FAR, NEAR, QuestionSource, Remainder
from possibal.labelling.service import LEASE
from possibal.labelling.storage import journal
from possibal.labelling.storage.journal import Kind
from possibal.labelling.storage.store import Store
from possibal.numerics.distances import usual_distance

pytest_plugins = ["support.postgres"]


@pytest.fixture(name="at")
def _at(tmp_path):
    """The service of a campaign of thirty rows."""
    with new_service(tmp_path, rows()) as made:
        yield made


@pytest.fixture(name="time")
def _time(monkeypatch):
    """A clock that a test can put forward, in seconds."""
    real, ahead = service.clock, [0]
    monkeypatch.setattr(service, "clock", lambda: real() + 1000 * ahead[0])

    def pass_(seconds):
        ahead[0] += seconds

    return pass_


@pytest.fixture(autouse=True)
def _one_clock(monkeypatch):
    """Changes of classes are made by the clock of all other events here."""
    monkeypatch.setattr(class_changes, "clock", lambda: next(CLOCK))


# ---------------------------------------------------------------- asking
def test_the_best_free_row_is_asked_about(at):
    walk(at, "ann", 6)
    question = at.ask("ann")
    labels = at.read_model.state.answers()
    alone = Snapshot.start(at.read_model.X, classes=["no", "yes"]).replay(labels)
    assert (row_of(question),) == alone.ask()
    assert row_of(at.ask("bob")) == alone.ask(2)[1]


def test_a_page_that_is_loaded_again_shows_the_same_row(at):
    first = at.ask("ann")
    at.ask("bob")
    answer(at, "bob", row_of(at.ask("bob")))
    assert row_of(at.ask("ann")) == row_of(first)


def test_no_two_people_are_at_one_row(at):
    asked = [row_of(at.ask(f"p{n}")) for n in range(30)]
    assert sorted(asked) == list(range(30))
    assert at.ask("late") is None
    answer(at, "p3", asked[3])
    assert at.ask("late") is None
    assert row_of(at.ask("p4")) == asked[4]


def test_several_rows_can_be_asked_for_at_once(tmp_path):
    with new_service(tmp_path, rows(8)) as at:
        first = row_of(at.ask("ann"))
        mine = at.rows("ann", 4)
        assert mine[0] == first
        assert len(set(mine)) == 4
        assert at.rows("ann", 3) == mine[:3]
        assert not set(mine) & set(at.rows("bob", 9))
        answer(at, "ann", mine[1])
        at.answer(event("ann", mine[2], kind=Kind.SKIP))
        assert at.rows("ann", 9) == [mine[0], mine[3], mine[2]]


def test_a_row_comes_back_once_its_lease_has_ended(tmp_path, time):
    with new_service(tmp_path, rows(2)) as at:
        first = {row_of(at.ask(who)) for who in ("ann", "bob")}
        assert at.ask("cy") is None
        time(LEASE - 1)
        assert at.renew("ann") == LEASE
        time(2)
        assert row_of(at.ask("cy")) in first
        assert at.ask("dee") is None
        assert row_of(at.ask("ann")) != row_of(at.ask("cy"))


def test_the_first_questions_stand_for_others_and_the_later_ones_come_from_the_model(at):
    first = at.ask("ann")
    assert first.source is QuestionSource.DIVERSE
    assert (first.prediction, first.near, first.mine) == (None, (), None)
    assert first.sentence.startswith("Too little is known for a guess, and this row stands")
    walk(at, "ann", 8)
    later = at.ask("ann")
    row, ranking = row_of(later), at.scheduler.ranking
    assert later.source is QuestionSource.MODEL
    assert later.prediction == at.scheduler.predictions.of_row(row)
    assert later.prediction.label == ranking.predicted_label(row)
    assert later.item == at.store.items([row])[row]
    near = at.read_model.nearest(row, 3)
    assert [(one.item.row, one.label) for one in later.near] == [(r, label) for r, label, _ in near]
    assert later.prediction.label in later.sentence


def test_before_the_first_ranking_a_row_can_be_shown_and_answered(at):
    question = at.question(3, "ann")
    assert at.scheduler.ranking is None
    assert question.source is QuestionSource.UNRANKED
    assert question.sentence.startswith("The model has not looked at the rows yet. ")
    stored = answer(at, "ann", 3).event
    assert (stored.predicted_label, stored.necessity) == (None, None)
    label = truth(at.read_model.X)[3]
    assert at.question(4, "ann").sentence.endswith(f"The most similar labelled row is {label}.")


def test_rows_are_similar_by_the_usual_distance_of_the_model(tmp_path):
    # A third of the rows are nearly one: they have many of the pairs and shrink the plain median.
    X = np.vstack([rows(12) / 100, rows(20, seed=1)])
    usual, away = usual_distance(X), np.sqrt(((X - X[20]) ** 2).sum(axis=1))
    with new_service(tmp_path, X) as at:
        answer(at, "ann", 20, "yes")
        assert at.scheduler.rank().usual_distance == usual
        said = {row: at.question(row, "ann").sentence for row in range(len(X)) if row != 20}
    for ending, least, most in (
        ("A similar row was labelled yes.", 0.0, NEAR * usual),
        ("The most similar labelled row is yes, but not very similar.", NEAR * usual, FAR * usual),
        ("Nothing like it has been labelled yet.", FAR * usual, np.inf),
    ):
        found = {row for row, sentence in said.items() if sentence.endswith(ending)}
        assert found == {row for row in said if least <= away[row] < most} != set()
    assert any(FAR * _plain_median(X) < away[row] < FAR * usual for row in said)  # it matters


def _plain_median(X):
    """The median distance of two rows, whether or not they are nearly one."""
    return np.median(pdist(X))


@pytest.mark.parametrize("row", [-1, 30])
def test_a_row_that_is_none_is_refused(at, row):
    said = event("ann", row, "no")
    for act in (
        lambda: at.choose("ann", row),
        lambda: at.question(row, "ann"),
        lambda: at.answer(said),
        lambda: at.check_row(row),
    ):
        with pytest.raises(RefusedError, match=rf"^row must be from 0 to 29; got {row}\. Ask for"):
            act()
    assert at.store.events() == []


# ---------------------------------------------------------------- answering
def test_an_answer_is_stored_with_what_the_model_predicted(at):
    walk(at, "ann", 8)
    row = row_of(at.ask("ann"))
    ranking = at.scheduler.ranking
    predicted, necessity = ranking.predicted_label(row), ranking.necessity_of(row)
    stored = answer(at, "ann", row)
    assert not stored.repeated
    assert (stored.event.predicted_label, stored.event.necessity) == (predicted, necessity)
    assert at.store.events()[-1] == stored.event
    assert stored.event.number == 9
    assert at.read_model.state.labels[row] == truth(at.read_model.X)[row]
    assert at.store.leases(service.clock()) == {}
    assert row_of(at.ask("ann")) != row


def test_an_answer_sent_twice_is_kept_once(at):
    said = event("ann", 3, "no")
    first = at.answer(said)
    with pytest.raises(RefusedError, match=r"^key must be new for each action; got "):
        at.answer(replace(said, label="yes"))
    again = at.answer(replace(said, made=99))
    assert again.event == first.event
    assert (first.repeated, again.repeated) == (False, True)
    assert at.append([said, said]) == [first.event] * 2
    assert at.store.events() == [first.event]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (event("ann", 3, "maybe"), r"^label must be one of \['no', 'yes'\]; got 'maybe'\. Choose"),
        (event("ann", 3, "maybe", Kind.EDIT), r"^label must be one of"),
        (event("ann", 3, "maybe", Kind.SETTLE), r"^label must be one of"),
        (event("ann", 3), r"^label must name a class; got None\. Choose one\.$"),
        (event("ann", 3, "", Kind.IMPORT), r"^label must name a class; got ''\."),
        (event("ann", None, "", Kind.CLASS), r"^label must name a class; got ''\."),
        (event("ann", None, "no"), r"^row must be from 0 to 29; got None\."),
        (event("ann", 99, kind=Kind.SKIP), r"^row must be from 0 to 29; got 99\."),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(at, said, error):
    with pytest.raises(RefusedError, match=error):
        at.answer(said)
    with pytest.raises(RefusedError, match=error):
        at.append([event("ann", 4, "no"), said])
    assert at.store.events() == []
    assert at.read_model.state.events == {}


def test_a_class_that_was_added_may_be_named(at):
    added = at.answer(event("ann", None, "maybe", Kind.CLASS)).event
    assert (added.predicted_label, added.necessity) == (None, None)
    assert at.read_model.classes == ("no", "yes", "maybe")
    answer(at, "bob", 3, "maybe")
    assert at.undo(undo("ann", added.key)) == added
    assert at.read_model.classes == ("no", "yes", "maybe")
    assert at.read_model.state.labels == {3: "maybe"}


def test_a_person_may_change_their_mind(at):
    answer(at, "ann", 3, "no")
    at.answer(event("ann", 3, "yes", Kind.EDIT))
    assert at.read_model.state.labels == {3: "yes"}
    assert at.question(3, "ann").mine.label == "yes"
    assert at.question(3, "ann").source is QuestionSource.AGAIN
    assert at.question(3, "bob").mine is None


# ---------------------------------------------------------------- not answering
def test_a_skipped_row_is_asked_about_again_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "REST", 5)
    with new_service(tmp_path, rows(12)) as at:
        skipped = row_of(at.ask("ann"))
        at.answer(event("ann", skipped, kind=Kind.SKIP))
        assert row_of(at.ask("bob")) == skipped
        at.answer(event("bob", skipped, kind=Kind.SKIP))
        assert skipped not in walk(at, "ann", 5)
        at.scheduler.rank()
        assert skipped in at._open("ann")  # noqa: SLF001 - without waiting for its turn
        assert skipped not in at._open("bob")  # noqa: SLF001 - who did not do enough since
        assert skipped in walk(at, "ann", 7)
        assert at.ask("ann") is None


def test_skipped_rows_come_back_at_once_where_nothing_else_is_left(tmp_path):
    with new_service(tmp_path, rows(3)) as at:
        skipped = []
        for _ in range(2):
            skipped.append(row_of(at.ask("ann")))
            at.answer(event("ann", skipped[-1], kind=Kind.SKIP))
        assert not set(walk(at, "ann", 1)) & set(skipped)
        again = at.ask("ann")
        assert row_of(again) in skipped
        assert again.source is QuestionSource.AGAIN
        assert again.mine.kind is Kind.SKIP
        assert row_of(at.ask("ann")) == row_of(again)
        assert walk(at, "ann", 1) == [row_of(again)]
        assert {row_of(again), *walk(at, "ann", 1)} == set(skipped)
        assert at.ask("ann") is None


def test_what_nobody_is_sure_of_is_asked_once_more_at_the_end(tmp_path):
    with new_service(tmp_path, rows(3)) as at:
        first = row_of(at.ask("ann"))
        at.answer(event("ann", first, kind=Kind.UNSURE))
        walk(at, "ann", 2)
        assert row_of(at.ask("bob")) == first
        at.answer(event("bob", first, kind=Kind.SKIP))
        assert at.ask("ann") is None
        assert at.remainder("ann") == Remainder(held=0, unsure=1, waiting=0, is_alone=False)
        assert row_of(at.ask("bob")) == first
        assert at.remainder("ann") == Remainder(held=1, unsure=0, waiting=0, is_alone=False)
        at.answer(event("bob", first, kind=Kind.UNSURE))
        question = at.ask("ann")
        assert (row_of(question), question.source) == (first, QuestionSource.AGAIN)
        at.answer(event("ann", first, kind=Kind.UNSURE))
        assert at.ask("ann") is None
        assert at.remainder("ann") == Remainder(held=0, unsure=1, waiting=0, is_alone=False)
        assert row_of(at.ask("bob")) == first
        answer(at, "bob", first)
        assert at.ask("bob") is None
        assert at.remainder("bob").is_complete


def test_rows_that_wait_for_another_person_are_counted_at_the_end(tmp_path):
    with new_service(tmp_path, rows(3), people=2) as at:
        walk(at, "ann", 3)
        assert at.ask("ann") is None
        assert at.remainder("ann") == Remainder(held=0, unsure=0, waiting=3, is_alone=True)


def test_a_comment_is_kept_of_its_row_alone_and_whoever_is_at_it_stays_there(tmp_path):
    with new_service(tmp_path, rows(5), copies=[0, 1, 2, 3, 0]) as at:
        row = row_of(at.choose("ann", 0))
        said = event("ann", row, kind=Kind.COMMENT, detail={"text": "odd"})
        assert not at.answer(said).repeated
        assert at.answer(said).repeated
        with pytest.raises(RefusedError, match="key must be new for each action"):
            at.answer(replace(said, row=1))
        with pytest.raises(RefusedError, match="row must be free"):
            at.choose("bob", row)
        assert dict(at.question(row, "bob").comments) == {"ann": "odd"}
        assert not at.question(4, "bob").comments
        assert row_of(at.ask("ann")) == row
        at.comment(row, "very odd", "ann")
        assert dict(at.question(row, "ann").comments) == {"ann": "very odd"}
        assert at.undo(undo("ann")).detail == {"text": "very odd"}
        assert dict(at.question(row, "ann").comments) == {"ann": "odd"}
    with reopened(tmp_path) as at:
        assert dict(at.question(row, "ann").comments) == {"ann": "odd"}


def test_who_answers_blind_sees_no_comment_of_others(tmp_path):
    with new_service(tmp_path, rows(3), blind=True) as at:
        at.comment(0, "mine", "ann")
        at.comment(0, "other", "bob")
        assert dict(at.question(0, "ann").comments) == {"ann": "mine"}


def test_guidelines_are_those_written_last_and_undone_as_any_action(at):
    at.revise_guidelines("Look.", "ann")
    at.revise_guidelines("Look twice.", "ann")
    assert remarks.text_of(at.read_model.state.guidelines) == "Look twice."
    at.undo(undo("ann"))
    assert remarks.text_of(at.read_model.state.guidelines) == "Look."
    with pytest.raises(RefusedError, match="guidelines must be of at most 20,000 characters"):
        at.revise_guidelines("a" * 20_001, "ann")


def test_a_row_that_one_person_is_unsure_of_goes_to_others_only(tmp_path):
    with new_service(tmp_path, rows(4)) as at:
        walk(at, "bob", 1)
        row = row_of(at.ask("ann"))
        at.answer(event("ann", row, kind=Kind.UNSURE))
        assert row not in walk(at, "ann", 2)
        assert at.ask("ann") is None
        assert row_of(at.ask("bob")) == row


def test_a_bad_row_is_dropped_for_all(tmp_path):
    with new_service(tmp_path, rows(3)) as at:
        row = row_of(at.ask("ann"))
        bad = at.answer(event("ann", row, kind=Kind.BAD)).event
        assert row not in walk(at, "bob", 2)
        assert at.ask("bob") is None
        assert at.ask("ann") is None
        at.undo(undo("ann", bad.key))
        assert row_of(at.ask("ann")) == row


# ---------------------------------------------------------------- undoing
def test_everything_can_be_undone_one_after_the_other(at):
    asked = walk(at, "ann", 6)
    walk(at, "bob", 2)
    at.answer(event("ann", asked[0], kind=Kind.BAD))
    undone = [at.undo(undo("ann")) for _ in range(7)]
    assert [one.row for one in undone] == [asked[0], *reversed(asked)]
    assert at.undo(undo("ann")) is None
    assert len(at.read_model.state.labels) == 2
    assert len(at.store.events()) == 9 + 7
    assert sorted(walk(at, "ann", 6)) == sorted(asked)


def test_whose_answer_was_undone_has_the_row_again(at):
    (row,) = walk(at, "ann", 1)
    before = row_of(at.ask("ann"))
    assert at.undo(undo("ann")).row == row
    others = [row_of(at.ask(f"p{n}")) for n in range(28)]
    assert not {row, before} & set(others)
    assert at.ask("late") is None
    answer(at, "ann", row)
    assert row_of(at.ask("ann")) == before


def test_an_undone_row_that_somebody_else_has_stays_theirs(tmp_path):
    with new_service(tmp_path, rows(), people=2) as at:
        answer(at, "ann", 5)
        at.choose("bob", 5)
        at.undo(undo("ann"))
        with pytest.raises(RefusedError, match="somebody has"):
            at.choose("ann", 5)
        assert row_of(at.ask("bob")) == 5


def test_only_ones_own_answers_can_be_undone(at):
    theirs = answer(at, "bob", 3).event
    gone = undo("bob", theirs.key)
    with pytest.raises(
        RefusedError, match=r"^target must be an answer of ann; got one of bob\. Undo your own\.$"
    ):
        at.undo(undo("ann", theirs.key))
    assert at.undo(undo("ann")) is None
    assert at.undo(gone) == theirs
    with pytest.raises(RefusedError, match=r"^target must be an answer of bob"):
        at.undo(undo("bob", gone.key))
    assert len(at.store.events()) == 2


def test_an_undo_sent_twice_undoes_once(at):
    walk(at, "ann", 3)
    taken_back = undo("ann")
    first = at.undo(taken_back)
    assert at.undo(taken_back) == first
    assert len(at.read_model.state.labels) == 2
    said = at.store.events()[0]
    assert at.undo(replace(taken_back, key=said.key)) is None


def test_what_arrives_after_its_undo_is_undone(at):
    late = event("ann", 3, "no")
    assert at.undo(undo("ann", late.key)) is None
    at.answer(late)
    assert at.read_model.state.labels == {}
    assert row_of(at.choose("ann", 3)) == 3


# ---------------------------------------------------------------- several people
def test_an_answer_that_comes_late_is_kept(tmp_path, time):
    with new_service(tmp_path, rows(1)) as at:
        assert row_of(at.ask("ann")) == 0
        time(LEASE + 1)
        assert row_of(at.ask("bob")) == 0
        answer(at, "bob", 0, "no")
        answer(at, "ann", 0, "no")
        assert at.read_model.state.verdict(0).naming.keys() == {"ann", "bob"}
        assert at.read_model.state.labels == {0: "no"}
        answer(at, "cy", 0, "yes")
        answer(at, "dee", 0, "yes")
        assert at.read_model.state.conflicts() == [0]
        assert at.ask("eve") is None
        at.answer(event("eve", 0, "yes", Kind.SETTLE))
        assert at.read_model.state.labels == {0: "yes"}
        assert at.read_model.state.conflicts() == []


def test_so_many_people_answer_each_row(tmp_path):
    with new_service(tmp_path, rows(6), people=3) as at:
        for who in ("ann", "bob", "cy"):
            assert sorted(walk(at, who, 6)) == list(range(6))
            assert at.ask(who) is None
        assert at.ask("dee") is None
        assert all(len(at.read_model.state.verdict(row).naming) == 3 for row in range(6))


def test_a_person_may_choose_a_row_that_nobody_has(at):
    before = row_of(at.ask("ann"))
    chosen = (before + 7) % 30
    question = at.choose("ann", chosen)
    assert row_of(question) == chosen
    assert question.source is QuestionSource.CHOSEN
    assert question.sentence.startswith("You picked it. Too little is known for a guess. ")
    assert row_of(at.ask("ann")) == chosen
    assert row_of(at.ask("bob")) == before
    assert row_of(at.ask("ann")) == chosen
    assert row_of(at.choose("ann", chosen)) == chosen
    held = at.store.leases(service.clock())
    assert {row: (one.who, one.spare) for row, one in held.items()} == {
        chosen: ("ann", False),
        before: ("bob", False),
    }


def test_a_row_that_somebody_is_at_cannot_be_chosen(at):
    row = row_of(at.ask("ann"))
    mine = row_of(at.ask("bob"))
    with pytest.raises(
        RefusedError,
        match=rf"^row must be free; got 'id-{row}', which somebody has\. Pick another\.$",
    ):
        at.choose("bob", row)
    assert row_of(at.ask("bob")) == mine


def test_leases_hold_when_the_service_is_opened_again(tmp_path):
    with new_service(tmp_path, rows()) as at:
        row = row_of(at.ask("ann"))
        spare = {row_of(one) for one in at.reserve("ann", 3)}
    with reopened(tmp_path) as at:
        others = [row_of(at.ask(f"p{n}")) for n in range(26)]
        assert not {row, *spare} & set(others)
        assert row_of(at.ask("ann")) == row
        assert {row_of(one) for one in at.reserve("ann", 3)} == spare


def test_rows_given_out_by_a_server_whose_clock_was_fast_are_free_once_it_is_right(tmp_path, time):
    time(86_400)
    with new_service(tmp_path, rows(2)) as at:
        at.ask("ann")
        assert len(at.reserve("ann", 5)) == 1
    time(-86_400)
    with reopened(tmp_path) as at:
        assert at.held_by_others("bob") == set()
        assert {row_of(at.ask("bob")), row_of(at.ask("cy"))} == {0, 1}


def test_a_lease_ends_in_time_though_the_desk_was_opened_again(tmp_path, time):
    with new_service(tmp_path, rows(1)) as at:
        at.ask("ann")
    time(LEASE - 1)
    with reopened(tmp_path) as at:
        assert at.ask("bob") is None
        time(2)
        assert row_of(at.ask("bob")) == 0


# ---------------------------------------------------------------- reserve
def test_a_reserve_is_of_rows_that_differ_from_the_one_in_hand(at):
    row = row_of(at.ask("ann"))
    spare = [row_of(one) for one in at.reserve("ann", 5)]
    assert len({row, *spare}) == 6
    assert row_of(at.ask("ann")) == row
    assert sorted(row_of(one) for one in at.reserve("ann", 5)) == sorted(spare)
    assert len(at.reserve("ann", 2)) == 2
    more = [row_of(one) for one in at.reserve("ann", 8)]
    assert set(more) > set(spare)
    assert len(set(more)) == 8


def test_what_is_answered_from_the_reserve_is_replaced(at):
    spare = [row_of(one) for one in at.reserve("ann", 3)]
    answer(at, "ann", spare[0])
    again = [row_of(one) for one in at.reserve("ann", 3)]
    assert set(again) > set(spare[1:])
    assert spare[0] not in again


def test_a_reserve_never_holds_a_row_twice(tmp_path):
    with new_service(tmp_path, rows(4), check=2) as at:
        at.ask("bob")
        spare = [row_of(one) for one in at.reserve("ann", 10)]
        assert len(spare) == len(set(spare)) == 3
        assert at.reserve("cy", 10) == []


def test_rows_in_reserve_go_to_others_only_when_nothing_else_is_left(tmp_path):
    with new_service(tmp_path, rows(8)) as at:
        spare = {row_of(one) for one in at.reserve("ann", 4)}
        assert not {row_of(at.ask(f"p{n}")) for n in range(4)} & spare
        taken = row_of(at.ask("late"))
        assert taken in spare
        assert taken not in {row_of(one) for one in at.reserve("ann", 4)}
        answer(at, "ann", taken)
        assert at.read_model.state.labels.keys() == {taken}


def test_what_one_put_off_oneself_comes_before_what_others_keep_in_reserve(tmp_path):
    with new_service(tmp_path, rows(3)) as at:
        at.reserve("bob", 2)
        skipped = row_of(at.ask("ann"))
        at.answer(event("ann", skipped, kind=Kind.SKIP))
        assert row_of(at.ask("ann")) == skipped


def test_a_reserve_lasts_as_long_as_it_is_renewed(tmp_path, time):
    with new_service(tmp_path, rows(4)) as at:
        spare = {row_of(one) for one in at.reserve("ann", 2)}
        for _ in range(3):
            time(LEASE - 1)
            at.renew("ann")
        assert not {row_of(at.ask(who)) for who in ("bob", "cy")} & spare
        time(LEASE + 1)
        assert len({row_of(at.ask(f"p{n}")) for n in range(4)}) == 4


# ---------------------------------------------------------------- check rows
def test_a_check_row_hides_what_the_model_thinks(tmp_path):
    with new_service(tmp_path, rows(), check=6) as at:
        walk(at, "ann", 4)
        question = at.ask("ann")
        row = row_of(question)
        assert row in at.read_model.check_rows
        answer(at, "ann", row)
        walk(at, "ann", 9)
        other = next(r for r in at.read_model.check_rows if r not in at.read_model.state.labels)
        assert at.scheduler.ranking.predicted_label(other) is not None
        for shown in (question, at.question(other, "ann"), at.choose("ann", other)):
            assert shown.source is QuestionSource.CHECK
            assert (shown.prediction, shown.near) == (None, ())
            assert shown.sentence.startswith("It was drawn at random")
        assert answer(at, "ann", other).event.predicted_label is not None


def test_check_rows_are_asked_about_where_nothing_else_is_left(tmp_path):
    with new_service(tmp_path, rows(8), check=4) as at:
        assert sorted(walk(at, "ann", 8)) == list(range(8))


# ---------------------------------------------------------------- again and again
def test_a_journal_makes_the_same_campaign_again(tmp_path):
    with new_service(tmp_path, rows(40), check=5, people=2) as at:
        asked = walk(at, "ann", 12)
        walk(at, "bob", 6)
        at.answer(event("ann", asked[2], "no", Kind.EDIT))
        at.answer(event("bob", asked[3], kind=Kind.BAD))
        at.answer(event("ann", None, "maybe", Kind.CLASS))
        at.undo(undo("bob"))
        at.answer(event("cy", asked[4], "maybe", Kind.SETTLE))
        at.answer(event("cy", 39, kind=Kind.UNSURE))
        at.scheduler.rank()
        state, ranking, task = at.read_model.state, at.scheduler.ranking, at.read_model.task()
        following = row_of(at.ask("ann"))
    with reopened(tmp_path) as again:
        found = again.read_model
        assert found.state.events == state.events
        assert found.state.verdicts == state.verdicts
        assert found.state.labelled() == state.labelled()
        assert list(found.state.labelled()) == list(state.labelled())
        assert found.classes == ("no", "yes", "maybe")
        assert found.task() == task
        assert again.scheduler.rank().order.tolist() == ranking.order.tolist()
        assert row_of(again.ask("ann")) == following


def test_a_crowd_answers_every_row_once(tmp_path):
    X = rows(200)
    with created(tmp_path, X, check=20) as store, serving(store, background=True) as at:
        said = truth(X)

        def work(number):
            mine = []
            while (question := at.ask(f"p{number}")) is not None:
                mine.append(row_of(question))
                at.answer(event(f"p{number}", mine[-1], said[mine[-1]]))
            return mine

        with ThreadPoolExecutor(16) as threads:
            done = [row for mine in threads.map(work, range(16)) for row in mine]
        assert sorted(done) == list(range(200))
        assert len(store.events()) == 200
        assert at.read_model.state.labels == dict(enumerate(said))


# ---------------------------------------------------------------- other processes
@contextmanager
def two_services(db):
    """Two services at one database, as two processes have them."""
    with (
        Store.create(db, *campaign(rows(12))) as one,
        Store.open(db) as other,
        serving(one) as here,
        serving(other) as there,
    ):
        yield here, there


def test_two_processes_never_give_out_one_row(postgresql):
    with two_services(postgresql) as (here, there):
        asked = [row_of(here.ask(f"p{n}")) for n in range(6)]
        asked += [row_of(there.ask(f"q{n}")) for n in range(6)]
        assert sorted(asked) == list(range(12))
        assert here.ask("late") is None
        for number, row in enumerate(asked[6:9]):
            answer(there, f"q{number}", row)
        assert here.ask("late") is None
        here.read_model.catch_up()
        assert here.read_model.state.labels.keys() == set(asked[6:9])


@pytest.fixture(name="put_clock_wrong")
def _put_clock_wrong(monkeypatch):
    """What puts the clock of this machine wrong by some seconds."""
    real = service.clock

    def put(seconds):
        for module in (service, storage.store):
            monkeypatch.setattr(module, "clock", lambda: real() + 1000 * seconds)

    return put


@pytest.mark.parametrize("wrong", [-86_400, -300, 300, 86_400])
def test_a_server_whose_clock_is_wrong_gives_no_row_that_others_have(
    postgresql, put_clock_wrong, wrong
):
    with two_services(postgresql) as (here, there):
        best = row_of(here.ask("ann"))
        put_clock_wrong(wrong)
        assert row_of(there.ask("bob")) != best
        assert there.held_by_others("bob") == {best}


def test_the_later_word_counts_though_a_server_has_a_wrong_clock(postgresql, put_clock_wrong):
    with two_services(postgresql) as (here, there):
        here.catch_up()
        here.answer(here.stamped(event("ann", 3, "yes"), None, None))
        put_clock_wrong(-86_400)
        there.catch_up()
        late = there.answer(there.stamped(event("ann", 3, "no", Kind.EDIT), None, None))
        assert late.counts
        assert there.read_model.state.labels[3] == "no"


def test_rows_that_others_took_are_known_at_once(postgresql):
    with two_services(postgresql) as (here, there):
        best = list(here.scheduler.rank().order)[:3]
        for number, row in enumerate(best):
            there.choose(f"q{number}", row)
        assert here.held_by_others("ann") == set()
        assert row_of(here.ask("ann")) not in best
        assert here.held_by_others("ann") == set(best)


def test_a_row_that_was_answered_elsewhere_before_its_lease_is_not_asked(postgresql, monkeypatch):
    with two_services(postgresql) as (here, there):
        best = here.scheduler.rank().order.tolist()[0]
        hold = here.store.hold

        def late(rows, *given):
            if rows[0] == best:
                there.answer(event("bob", best, "yes"))
            return hold(rows, *given)

        monkeypatch.setattr(here.store, "hold", late)
        assert row_of(here.ask("ann")) != best
        assert best not in here.store.leases(service.clock())


def test_rows_that_others_took_are_given_up_until_that_is_known(postgresql, monkeypatch):
    monkeypatch.setattr(service, "TRIED", 1)
    with two_services(postgresql) as (here, there):
        monkeypatch.setattr(here, "catch_up", lambda: None)  # others were faster
        here.scheduler.await_ranking()
        best = list(here.scheduler.order)[:3]
        for number, row in enumerate(best):
            there.choose(f"q{number}", row)
        assert here.ask("ann") is None
        assert row_of(here.ask("ann")) not in best


# ---------------------------------------------------------------- classes
def test_a_class_is_renamed_and_answers_under_the_old_name_count(at):
    walk(at, "ann", 6)
    before = dict(at.read_model.state.labels)
    at.rename_class("yes", "ja", "ann")
    assert at.read_model.classes == ("no", "ja")
    now = {row: "ja" if label == "yes" else label for row, label in before.items()}
    assert at.read_model.state.labels == now
    row = row_of(at.ask("ann"))
    assert at.answer(event("ann", row, "yes")).event.label == "yes"
    assert at.read_model.state.labels[row] == "ja"
    assert set(at.scheduler.rank().classes) == {"no", "ja"}
    assert {answer.label for answer in at.read_model.task().answers} == {"no", "ja"}
    at.undo(undo("ann"))
    assert at.undo(undo("ann")).kind is Kind.RENAME
    assert at.read_model.state.labels == before


def test_what_the_model_predicts_has_the_new_name_before_it_learns_again(at):
    walk(at, "ann", 8)
    question = at.ask("ann")
    at.rename_class(question.prediction.label, "other", "ann")
    again = at.question(row_of(question), "ann")
    assert again.prediction.label == "other"
    assert "other" in again.sentence
    at.undo(undo("ann"))
    at.scheduler.ranking = replace(at.scheduler.ranking, classes=("gone", "gone"))
    nothing = at.question(row_of(question), "ann")
    assert nothing.prediction is None


def test_classes_are_merged_added_removed_and_described_and_all_of_it_is_undone(at):
    answer(at, "ann", 1, "yes")
    at.add_class("maybe", "ann")
    at.describe_class("maybe", "ann", "When in doubt.", "#3366cc")
    at.merge_classes("yes", "maybe", "ann")
    assert at.read_model.classes == ("no", "maybe")
    assert at.read_model.state.labels == {1: "maybe"}
    at.remove_class("no", "ann")
    assert at.read_model.classes == ("maybe",)
    detail = at.read_model.state.class_detail("maybe")
    assert (detail.description, detail.colour) == ("When in doubt.", "#3366cc")
    kinds = []
    while (undone := at.undo(undo("ann"))) is not None:
        kinds.append(undone.kind)
    assert kinds == [Kind.REMOVE, Kind.RENAME, Kind.DESCRIBE, Kind.CLASS, Kind.LABEL]
    assert at.read_model.classes == ("no", "yes")
    assert at.read_model.state.class_detail("maybe").colour == ""


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda at: at.add_class("yes", "ann"), "class must be new"),
        (lambda at: at.add_class("YES", "ann"), "class must differ"),
        (lambda at: at.rename_class("yes", "no", "ann"), "to must be a new name"),
        (lambda at: at.merge_classes("yes", "ja", "ann"), "into must be one of"),
        (lambda at: at.remove_class("maybe", "ann"), "class must be one of"),
        (lambda at: at.describe_class("yes", "ann"), "description or colour must be given"),
        (lambda at: at.answer(event("ann", None, "", Kind.REMOVE)), "label must name a class"),
        (lambda at: at.answer(event("ann", None, None, Kind.CHECK)), "rows must be places from 0"),
        (
            lambda at: at.answer(event("ann", None, None, Kind.CHECK, detail={"rows": "[30]"})),
            "rows must be places from 0 to 29; got [30]. Draw some.",
        ),
        (lambda at: at.add_check_rows(0, "ann"), "rows must be from 1 to 15, as at most 15 of 30"),
        (lambda at: at.add_check_rows(16, "ann"), "rows must be from 1 to 15"),
    ],
)
def test_a_change_that_breaks_a_rule_is_refused_and_nothing_is_written(at, act, error):
    with pytest.raises(RefusedError) as refused:
        act(at)
    assert str(refused.value).startswith(error)
    assert at.store.events() == []


def test_a_name_that_was_given_up_is_free_again_once_that_is_undone(at):
    at.rename_class("yes", "ja", "ann")
    with pytest.raises(RefusedError, match=r"^class must not be a name that was given up"):
        at.add_class("yes", "bob")
    at.undo(undo("ann"))
    at.rename_class("no", "nein", "bob")
    assert at.read_model.classes == ("nein", "yes")


def test_a_class_that_an_answer_brings_is_not_an_action_to_undo(at):
    at.ensure_class("maybe", "ann")
    at.ensure_class("maybe", "ann")
    assert len(at.store.events()) == 1
    assert at.undo(undo("ann")) is None
    assert at.read_model.classes == ("no", "yes", "maybe")


def test_a_change_sent_twice_is_made_once(at):
    removal = event("ann", None, "yes", Kind.REMOVE)
    first, again = at.answer(removal), at.answer(removal)
    assert (first.repeated, again.repeated) == (False, True)
    assert at.append([removal]) == [first.event]
    drawn = event("ann", None, None, Kind.CHECK)
    draws = [at.draw_check_rows(drawn, 3) for _ in range(2)]
    assert draws[0].event == draws[1].event
    assert [one.repeated for one in draws] == [False, True]
    assert len(at.read_model.check_rows) == 3


def test_a_change_counts_even_if_the_clock_of_a_person_is_slow(at):
    at.answer(event("bob", None, "maybe", Kind.CLASS))
    at.answer(replace(event("ann", None, "maybe", Kind.REMOVE), made=0))
    assert at.read_model.classes == ("no", "yes")


def test_many_rename_at_once_and_one_name_is_left(at):
    def rename(number: int) -> bool:
        try:
            at.rename_class("yes", "ja" if number % 2 else "Ja", f"p{number}")
        except RefusedError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(rename, range(16)))
    assert any(done)
    assert at.read_model.classes[1] in {"ja", "Ja"}
    assert len(at.read_model.classes) == 2


# ---------------------------------------------------------------- check rows
def test_check_rows_can_be_drawn_at_any_time_and_are_asked_next(tmp_path):
    with new_service(tmp_path, rows(40)) as at:
        walk(at, "ann", 12)
        drawn = at.add_check_rows(10, "ann")
        assert at.read_model.check_rows == drawn
        assert len(set(drawn)) == 10
        labelled = set(at.read_model.state.labels)
        open_rows = [row for row in drawn if row not in labelled]
        assert {answer.row for answer in at.read_model.task().check} == labelled & set(drawn)
        asked = walk(at, "ann", len(open_rows) + 1)
        assert set(asked[:-1]) == set(open_rows)
        assert asked[-1] not in drawn
        assert not {answer.row for answer in at.read_model.task().answers} & set(drawn)
        assert at.question(open_rows[-1], "ann").source is QuestionSource.CHECK
        more = at.add_check_rows(10, "bob")
        assert not set(more) & set(drawn)
        with pytest.raises(
            RefusedError,
            match=r"^rows must be none, for there are enough, as at most 20 of 40 may be check "
            r"rows; got 1 more than 20\. Draw fewer\.$",
        ):
            at.add_check_rows(1, "ann")
        assert at.undo(undo("bob")).kind is Kind.CHECK
        assert at.read_model.check_rows == drawn


def test_check_rows_drawn_are_there_when_the_campaign_is_opened_again(tmp_path):
    with new_service(tmp_path, rows(40), check=4) as at:
        at.add_check_rows(6, "ann")
        found = at.read_model.check_rows
    with reopened(tmp_path) as at:
        assert at.read_model.check_rows == found
        assert len(found) == 10


# ---------------------------------------------------------------- several rows at once
def several(who, row, others, label="yes", **more):
    """What somebody said of several rows just now."""
    return event(who, row, label, detail=journal.places_detail(others), **more)


def test_an_answer_about_several_rows_is_kept_for_each_and_undone_for_all(at):
    walk(at, "ann", 3)
    before = dict(at.read_model.state.labels)
    free = [row for row in range(30) if row not in before]
    stored = at.answer(several("ann", free[4], free[:4]))
    assert at.read_model.state.labels == before | dict.fromkeys(free[:5], "yes")
    assert not set(free[:5]) & set(at.scheduler.order)
    assert not set(free[:5]) & set(at.rows("bob", 30))
    assert at.answer(stored.event).repeated
    undone = at.undo(undo("ann"))
    assert (undone.key, at.read_model.state.labels) == (stored.event.key, before)
    assert free[4] in at.rows("ann", 30)


def test_an_answer_about_several_rows_ends_the_leases_of_all(at):
    mine = at.rows("ann", 4)
    theirs = row_of(at.ask("bob"))
    at.answer(several("ann", mine[0], [mine[2], theirs]))
    assert at.store.leases(service.clock()).keys() == {mine[1], mine[3], theirs}
    assert at.rows("ann", 2) == [mine[1], mine[3]]


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        ([30], r"row must be from 0 to 29; got 30\."),
        ([-1], r"row must be from 0 to 29; got -1\."),
        ([2, 1], r"others must be other rows than 1, each once; got \[2, 1\]\."),
        ([2, 2], r"others must be other rows than 1, each once; got \[2, 2\]\."),
    ],
)
def test_others_that_are_no_other_rows_are_refused(at, others, sentence):
    with pytest.raises(RefusedError, match=sentence):
        at.answer(several("ann", 1, others))
    assert at.read_model.state.labels == {}


def test_check_rows_are_answered_by_themselves(tmp_path):
    with new_service(tmp_path, rows(), check=3) as at:
        check = at.read_model.check_rows
        learnt = [row for row in range(30) if row not in check][:2]
        at.answer(several("ann", check[0], check[1:]))
        at.answer(several("ann", learnt[0], learnt[1:]))
        for row, other in ((check[0], learnt[0]), (learnt[0], check[0])):
            with pytest.raises(RefusedError, match="others must be check rows where row is one"):
                at.answer(several("ann", row, [other]))


def test_a_service_that_is_opened_later_knows_what_was_said_of_several_rows(tmp_path):
    with new_service(tmp_path, rows()) as at:
        at.answer(several("ann", 1, [2, 3]))
        at.answer(event("ann", 2, "no", Kind.EDIT))
    with reopened(tmp_path) as at:
        assert at.read_model.state.labels == {1: "yes", 2: "no", 3: "yes"}


# ---------------------------------------------------------------- copies
PAIRS = [0, 1, 2, 0, 1, 5, 0, 7, 8, 9, 10, 11]
"""The rows 3 and 6 are copies of 0, and 4 is one of 1."""


@pytest.fixture(name="copied")
def _copied(tmp_path):
    """The service of a campaign of twelve rows, three of which are copies."""
    with new_service(tmp_path, rows(12), copies=PAIRS) as made:
        yield made


def test_copies_are_not_asked_and_not_learnt_from(copied):
    assert sorted(copied.rows("ann", 12)) == sorted(set(PAIRS))
    assert set(copied.scheduler.order) == set(PAIRS)
    copied.answer(event("ann", 0, "yes"))
    task = copied.read_model.task()
    assert [answer.row for answer in task.answers] == [0]
    assert task.aside >= {3, 4, 6}


@pytest.mark.parametrize("kind", [Kind.LABEL, Kind.EDIT, Kind.SKIP, Kind.UNSURE, Kind.BAD])
def test_what_is_said_of_a_row_is_said_of_its_copies_and_undone_for_all(copied, kind):
    assert copied.question(0, "ann").copies == 2
    stored = copied.answer(event("ann", 0, "yes" if kind in journal.NAMING else None, kind))
    assert stored.event.rows == (0, 3, 6)
    said = {row: copied.read_model.state.verdict(row).opinions for row in (0, 3, 6)}
    assert all(one == {"ann": stored.event} for one in said.values())
    assert row_of(copied.choose("bob", 0)) == 0
    copied.undo(undo("ann"))
    assert not any(copied.read_model.state.verdict(row).opinions for row in (0, 3, 6))


def test_a_copy_may_be_labelled_alone_by_hand_and_the_last_word_counts(copied):
    copied.answer(event("ann", 0, "yes"))
    assert copied.choose("ann", 3).copies == 0
    copied.answer(event("ann", 3, "no", Kind.EDIT))
    assert copied.read_model.state.labels == {0: "yes", 3: "no", 6: "yes"}
    copied.answer(event("ann", 0, "no", Kind.EDIT))
    assert set(copied.read_model.state.labels.values()) == {"no"}
    copied.undo(undo("ann"))
    assert copied.read_model.state.labels == {0: "yes", 3: "no", 6: "yes"}


def test_others_bring_their_copies_with_them(copied):
    stored = copied.answer(several("ann", 2, [1, 4, 0]))
    assert stored.event.rows == (2, 1, 4, 0, 3, 6)
    assert copied.answer(stored.event).repeated


def test_a_row_chosen_that_is_a_copy_stays_that_of_whoever_chose_it(copied):
    assert row_of(copied.choose("ann", 3)) == 3
    assert row_of(copied.ask("ann")) == 3


def test_copies_of_check_rows_are_neither_drawn_nor_learnt_from(tmp_path):
    with new_service(tmp_path, rows(12), copies=PAIRS, check=4) as at:
        model = at.read_model
        assert not set(model.check_rows) & {3, 4, 6}
        assert model.most_check_rows == 4
        with pytest.raises(RefusedError, match="as at most 4 of 9 may be check rows"):
            at.add_check_rows(1, "ann")
        for row in sorted(set(PAIRS)):
            answer(at, "ann", row)
        task = model.task()
        check, learnt = {a.row for a in task.check}, {a.row for a in task.answers}
        assert check == set(model.check_rows)
        assert not {PAIRS[row] for row in check} & {PAIRS[row] for row in learnt}
        assert not model.is_check_due


def test_drawn_check_rows_are_no_copies(copied):
    assert not set(copied.add_check_rows(4, "ann")) & {3, 4, 6}


def test_a_copy_of_a_check_row_is_answered_by_itself(tmp_path):
    with new_service(tmp_path, rows(12), copies=PAIRS, check=4) as at:
        check = next(row for row in at.read_model.check_rows)
        leads = [row for row in set(PAIRS) if row not in at.read_model.check_rows]
        with pytest.raises(RefusedError, match="others must be check rows where row is one"):
            at.answer(several("ann", leads[0], [check]))


def test_a_copy_that_joined_while_its_row_was_answered_gets_the_label_later(tmp_path):
    with new_service(tmp_path, rows(12)) as at:
        at.answer(event("ann", 0, "yes"))
        at.answer(event("bob", 1, kind=Kind.SKIP))
        at.read_model.copies = CopyGroups(np.array(PAIRS))
        at.ask("ann")
        assert at.read_model.state.labels == {0: "yes", 3: "yes", 6: "yes"}
        (given,) = at.read_model.state.verdict(3).opinions.values()
        (first,) = at.read_model.state.verdict(0).opinions.values()
        assert (given.who, given.kind, given.detail) == ("ann", Kind.IMPORT, {"copy": first.key})
        count = len(at.read_model.state.events)
        at.ask("ann")
        assert len(at.read_model.state.events) == count


def test_undo_takes_a_label_back_from_copies_that_joined_since(tmp_path):
    with new_service(tmp_path, rows(12)) as at:
        at.answer(event("ann", 1, "no"))
        done = at.answer(event("ann", 0, "yes")).event
        at.read_model.copies = CopyGroups(np.array(PAIRS))
        at.ask("ann")
        assert at.read_model.state.labels == {1: "no", 4: "no", 0: "yes", 3: "yes", 6: "yes"}
        assert at.undo(undo("ann")) == done
        assert at.read_model.state.labels == {1: "no", 4: "no"}
    with reopened(tmp_path) as at:
        assert at.read_model.state.labels == {1: "no", 4: "no"}


def test_a_copy_that_joins_while_an_answer_is_being_written_gets_it_too(tmp_path, monkeypatch):
    with new_service(tmp_path, rows(12)) as at:
        at.ask("ann")
        write = at.store.append

        def slowly(events):
            at.read_model.copies = CopyGroups(np.array(PAIRS))
            at.ask("bob")  # shares what is known so far
            return write(events)

        with monkeypatch.context() as patched:
            patched.setattr(at.store, "append", slowly)
            at.answer(event("ann", 0, "yes"))
        at.ask("bob")
        assert at.read_model.state.labels == {0: "yes", 3: "yes", 6: "yes"}


# ---------------------------------------------------------------- near copies
SAYINGS = [
    "please pay 5 euros by monday",
    "Please pay 7 euros by Monday.",
    "please pay 9 euros by monday",
    "pay 5 euros by monday",
    "the sun is shining over the hills",
    "",
]


@contextmanager
def of_texts(folder, texts, **chosen):
    """A service of texts that lie on a line."""
    setup, contents = campaign(
        np.arange(float(len(texts)))[:, None], fields=("words",), text="words", **chosen
    )
    items = [replace(item, cells=(text,)) for item, text in zip(contents.items, texts, strict=True)]
    contents = replace(contents, items=items)
    with Store.create(str(folder / "a.db"), setup, contents) as store, serving(store) as at:
        yield at


def near(at, row, who="ann") -> list[int]:
    """Places of the rows that are offered."""
    return [item.row for item in at.near_copies(row, who)]


def test_rows_that_are_nearly_the_same_are_offered_to_whom_they_may_be_asked(tmp_path):
    with of_texts(tmp_path, SAYINGS, copies=[0, 1, 0, 3, 4, 5]) as at:
        assert near(at, 0) == [1, 3]
        assert near(at, 2) == [1, 3, 0]
        assert near(at, 4) == near(at, 5) == []
        answer(at, "ann", 1, "yes")
        at.choose("bob", 3)
        assert near(at, 0) == []
        assert near(at, 0, "bob") == []
        answer(at, "bob", 3, "no")
        at.undo(undo("ann"))
        assert near(at, 0, "cy") == []
        assert near(at, 0, "bob") == []


def test_check_rows_are_never_offered_and_nothing_is_offered_for_them(tmp_path):
    with of_texts(tmp_path, SAYINGS, check=2, seed=2) as at:
        check = at.read_model.check_rows
        for row in range(len(SAYINGS)):
            found = near(at, row)
            assert not set(found) & set(check)
            assert not (row in check and found)


def test_in_a_large_pool_and_a_table_of_numbers_nothing_is_offered(tmp_path, monkeypatch, at):
    assert near(at, 0) == []
    (tmp_path / "b").mkdir()
    with of_texts(tmp_path / "b", SAYINGS) as other:
        assert near(other, 0) == [1, 2, 3]
        monkeypatch.setattr(service, "MOST_COMPARED", 5)
        assert near(other, 0) == []
        with pytest.raises(RefusedError, match="row must be from 0 to 5"):
            near(other, 6)


def test_a_row_that_is_about_to_be_leased_is_not_put_in_reserve(at, monkeypatch):
    hold, reserved = at.store.hold, []

    def slow(rows, lease, *given):
        if not lease.spare:
            monkeypatch.setattr(at.store, "hold", hold)
            reserved.extend(row_of(one) for one in at.reserve("ann", 3))
        return hold(rows, lease, *given)

    monkeypatch.setattr(at.store, "hold", slow)
    row = row_of(at.ask("ann"))
    assert row not in reserved
    assert row_of(at.ask("ann")) == row


def test_a_row_whose_lease_fails_may_be_asked_again(at, monkeypatch):
    hold, tried = at.store.hold, []

    def broken(rows, *_given):
        tried.extend(rows)
        monkeypatch.setattr(at.store, "hold", hold)
        raise UnsavedError("full")

    monkeypatch.setattr(at.store, "hold", broken)
    with pytest.raises(UnsavedError):
        at.ask("ann")
    assert row_of(at.ask("ann")) == tried[0]


# ---------------------------------------------------------------- rows close to one
def clumps() -> np.ndarray:
    """Forty rows in four clumps of ten: two are no, two are yes."""
    rng = np.random.default_rng(0)
    corners = np.array([[-5.0, 0.0], [-5.0, 8.0], [5.0, 0.0], [5.0, 8.0]])
    return np.repeat(corners, 10, axis=0) + rng.normal(scale=0.2, size=(40, 2))


@contextmanager
def in_clumps(folder, **chosen):
    """The service of a campaign of clumps, one row of each of which Cy labelled."""
    with new_service(folder, clumps(), **chosen) as at:
        for row in (0, 10, 20, 30):
            if row not in at.read_model.check_rows:
                answer(at, "cy", row)
        at.scheduler.rank()
        yield at


def together(who: str, rows, label: str = "yes"):
    """An answer about several rows."""
    return event(who, rows[0], label, detail=journal.places_detail(rows[1:]) if rows[1:] else None)


def test_rows_close_to_one_of_the_class_that_is_predicted_are_offered(tmp_path):
    with in_clumps(tmp_path) as at:
        found = at.neighbourhood(25, "ann")
        assert (found.row, found.is_open, found.label) == (25, True, "yes")
        assert set(found.rows) == set(range(21, 30)) - {25}
        X = at.read_model.X
        apart = np.linalg.norm(X[list(found.rows)] - X[25], axis=1)
        assert (np.diff(apart) >= 0).all()
        of_labelled = at.neighbourhood(20, "ann")
        assert (of_labelled.is_open, of_labelled.label) == (False, "yes")
        assert set(of_labelled.rows) == set(range(21, 30))
        with pytest.raises(RefusedError, match="row must be from 0 to 39"):
            at.neighbourhood(40, "ann")


def test_so_many_are_offered_at_most(tmp_path, monkeypatch):
    monkeypatch.setattr(service, "MOST_CLOSE", 3)
    with in_clumps(tmp_path) as at:
        found = at.neighbourhood(25, "ann").rows
        monkeypatch.setattr(service, "MOST_CLOSE", 40)
        assert found == at.neighbourhood(25, "ann").rows[:3]


def test_rows_that_are_predicted_to_be_of_another_class_are_not_close(tmp_path):
    with in_clumps(tmp_path) as at:
        assert at.neighbourhood(25, "ann").rows
        answer(at, "cy", 20, "no")
        answer(at, "cy", 25, "no")
        found = at.neighbourhood(25, "ann")  # as the last ranking has it: all others are yes
        assert (found.label, found.rows) == ("no", ())


def test_before_anything_is_predicted_nothing_is_close(tmp_path):
    with new_service(tmp_path, clumps()) as at:
        assert at.neighbourhood(3, "ann") == service.Neighbourhood(3, is_open=False)
        at.scheduler.rank()
        assert at.neighbourhood(3, "ann") == service.Neighbourhood(3, is_open=True)


def test_close_rows_are_those_that_the_person_may_be_asked_about(tmp_path):
    with in_clumps(tmp_path, people=2) as at:
        answer(at, "bob", 21)
        answer(at, "bob", 22)
        answer(at, "dan", 22, "no")  # they differ
        at.choose("bob", 23)
        at.answer(event("ann", 24, kind=Kind.SKIP))
        at.answer(event("ann", 26, kind=Kind.BAD))
        assert set(at.neighbourhood(25, "ann").rows) == {27, 28, 29}
        assert set(at.neighbourhood(25, "bob").rows) == {23, 24, 27, 28, 29}


def test_check_rows_and_copies_are_close_to_none(tmp_path):
    leaders = list(range(40))
    leaders[28] = leaders[29] = 21
    with in_clumps(tmp_path, copies=leaders, check=12) as at:
        check = set(at.read_model.copies.whole_groups(at.read_model.check_rows))
        assert check
        for row in range(40):
            found = at.neighbourhood(row, "ann")
            assert not {*found.rows} & {*check, 28, 29}
            assert not (row in check and (found.rows or found.is_open))
        assert not at.neighbourhood(28, "ann").is_open


def test_where_people_answer_blind_no_prediction_has_a_part_in_it(tmp_path):
    with in_clumps(tmp_path, blind=True) as at:
        assert at.neighbourhood(25, "ann").label is None
        answer(at, "cy", 25, "no")
        found = at.neighbourhood(25, "ann")
        assert (found.label, found.is_open) == (None, False)
        assert set(found.rows) == set(range(21, 30)) - {25}


def test_rows_labelled_together_are_one_action_that_is_undone_as_one(tmp_path):
    with in_clumps(tmp_path) as at:
        before = dict(at.read_model.state.labels)
        stored = at.answer_unlabelled(together("ann", [25, 26, 27]))
        assert (stored.event.rows, stored.repeated, stored.counts) == ((25, 26, 27), False, True)
        assert at.read_model.state.labels == before | dict.fromkeys([25, 26, 27], "yes")
        assert at.undo(undo("ann")) == stored.event
        assert at.read_model.state.labels == before


def test_rows_that_somebody_labelled_in_between_are_left_out(tmp_path):
    with in_clumps(tmp_path) as at:
        answer(at, "bob", 25, "no")
        at.choose("dan", 27)
        given = together("ann", [25, 26, 27, 28])
        stored = at.answer_unlabelled(given)
        assert stored.event.rows == (26, 28)
        labels = at.read_model.state.labels
        assert (labels[25], labels[26], labels[28], 27 in labels) == ("no", "yes", "yes", False)
        assert at.read_model.state.verdict(25).opinions.keys() == {"bob"}
        again = at.answer_unlabelled(given)
        assert (again.event, again.repeated) == (stored.event, True)
        with pytest.raises(RefusedError, match="key must be new for each action"):
            at.answer_unlabelled(replace(given, row=29, detail=None))
        assert row_of(at.ask("dan")) == 27


def test_rows_that_became_check_rows_in_between_are_left_out(tmp_path):
    with in_clumps(tmp_path) as at:
        at.add_check_rows(10, "eve")
        check = set(at.read_model.check_rows)
        stored = at.answer_unlabelled(together("ann", list(range(21, 30))))
        assert set(stored.event.rows) == set(range(21, 30)) - check


def test_where_all_rows_have_a_label_by_now_nothing_is_written(tmp_path):
    with in_clumps(tmp_path) as at:
        count = len(at.store.events())
        at.choose("bob", 21)
        for rows in ([20], [20, 21], [30, 10]):
            with pytest.raises(RefusedError, match="row must be without a label; got"):
                at.answer_unlabelled(together("ann", rows))
        with pytest.raises(RefusedError, match="row must be from 0 to 39; got 40"):
            at.answer_unlabelled(together("ann", [21, 40]))
        with pytest.raises(RefusedError, match="label must be one of"):
            at.answer_unlabelled(together("ann", [22, 23], "maybe"))
        assert len(at.store.events()) == count
        for row in (22, 23):
            assert at.choose("bob", row)  # nobody has them any more


def test_copies_go_with_their_rows_but_for_those_that_have_a_label(tmp_path):
    leaders = list(range(40))
    leaders[27] = leaders[28] = 25
    with in_clumps(tmp_path, copies=leaders) as at:
        at.answer(event("ann", 28, "no", Kind.EDIT))
        stored = at.answer_unlabelled(together("ann", [25, 26]))
        assert stored.event.rows == (25, 26, 27)
        assert at.read_model.state.labels[28] == "no"


def test_of_two_who_label_the_same_rows_at_two_servers_one_is_late(postgresql):
    with (
        Store.create(postgresql, *campaign(clumps())) as ours,
        Store.open(postgresql) as theirs,
        serving(ours) as at,
        serving(theirs) as other,
    ):
        rows = [25, 26, 27, 28]
        with ThreadPoolExecutor(2) as pool:
            asked = [(at, "ann"), (other, "bob")]
            sent = [pool.submit(one.answer_unlabelled, together(who, rows)) for one, who in asked]
            errors = [one.exception() for one in sent]
        taken = [one.result().event.rows for one in sent if not one.exception()]
        assert sorted(row for one in taken for row in one) == rows
        assert all(error is None or isinstance(error, RefusedError) for error in errors)
        assert other.answer_unlabelled(together("bob", [29])).event.rows == (29,)
        with pytest.raises(RefusedError, match="row must be without a label"):
            at.answer_unlabelled(together("ann", [29, 25]))


def test_rows_of_which_a_lease_fails_are_left_out(tmp_path, monkeypatch):
    with in_clumps(tmp_path) as at:
        hold = at.store.hold
        monkeypatch.setattr(at.store, "hold", lambda rows, *given: hold(rows[1:], *given))
        assert at.answer_unlabelled(together("ann", [25, 26, 27])).event.rows == (26, 27)
