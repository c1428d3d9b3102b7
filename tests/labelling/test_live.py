import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from support.desks import (
    answer,
    bench,
    campaign,
    created,
    desk,
    event,
    rows,
    standing,
    truth,
    undo,
    until,
    walk,
)

from possibal.campaign.campaign import Answer, Campaign
from possibal.campaign.stopping import CERTAIN
from possibal.labelling import evaluation
from possibal.labelling import live as module
from possibal.labelling.live import EVERY, MANY_PEOPLE, LiveCampaign
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Store

pytest_plugins = ["support.postgres"]


class Moody(InProcessRanker):
    """A bench that can be told to wait, or to fail the next few times; it waits after that."""

    def __init__(self, store, failures=0):
        setup = store.setup()
        super().__init__(store.array("X"), setup.strategy, setup.seed)
        self.failures, self.asked, self.go = failures, 0, threading.Event()
        self.go.set()

    def rank(self, task):
        self.asked += 1
        assert self.go.wait(30)
        if self.failures:
            self.failures -= 1
            self.go.clear()
            raise ArithmeticError("numbers ran out")
        return super().rank(task)


@pytest.fixture(name="store")
def _store(tmp_path):
    with created(tmp_path, rows()) as made:
        yield made


def known(at: LiveCampaign) -> set[int]:
    """The rows that the last ranking learnt from."""
    return {answer.row for answer in at.task().answers}


# ---------------------------------------------------------------- events
def test_what_is_taken_in_holds_and_is_ranked(store):
    with standing(store) as at:
        assert at.is_behind
        at.await_ranking()
        assert not at.is_behind
        stored = store.append([event("ann", row, truth(at.X)[row]) for row in range(8)])
        at.apply(stored)
        assert at.is_behind
        at.apply(stored)
        at.await_ranking()
        alone = Campaign.start(at.X, classes=["no", "yes"])
        alone = alone.replay(Answer(row, truth(at.X)[row]) for row in range(8))
        assert at.ranking.answers == 8
        first = at.task().first
        assert tuple(at.ranking.order[:first]) == alone.ask(first)
        assert list(at.order) == at.ranking.order.tolist()


def test_what_is_known_already_is_not_ranked_again(store):
    with standing(store, Moody(store)) as at:
        stored = store.append([event("ann", 3, "no")])
        at.apply(stored)
        first = at.rank()
        at.apply(stored)
        at.await_ranking()
        assert at.ranking is first


def test_a_row_that_wants_no_more_answers_leaves_the_order_at_once(store):
    with standing(store) as at:
        at.rank()
        first, second, *_ = at.order
        said = [event("ann", first, kind=Kind.SKIP), event("ann", second, "no")]
        at.apply(store.append(said))
        assert first in at.order
        assert second not in at.order
        at.apply(store.append([undo("ann", said[1].key)]))
        at.await_ranking()
        assert second in at.order


def test_a_ranking_that_was_overtaken_does_not_come_back(store):
    slow = Moody(store)
    with standing(store, slow) as at:
        slow.go.clear()
        older = threading.Thread(target=at.rank)
        older.start()
        until(lambda: slow.asked == 1)
        held, slow.go = slow.go, threading.Event()
        slow.go.set()
        at.apply(store.append([event("ann", 3, "no")]))
        newer = at.rank()
        held.set()
        older.join()
        assert slow.asked == 2
        assert at.ranking is newer
        assert 3 not in at.order


def test_classes_are_those_named_and_those_added(store):
    with standing(store) as at:
        assert at.classes == ("no", "yes")
        at.apply(store.append([event("ann", None, "maybe", Kind.CLASS)]))
        assert at.classes == ("no", "yes", "maybe")
        assert at.task().classes == at.classes


def test_a_file_has_no_others_to_catch_up_with(store):
    with standing(store) as at:
        store.append([event("ann", 3, "no")])
        at.catch_up()
        assert at.state.labels == {}


def test_what_another_process_wrote_is_caught_up_with(postgresql):
    with (
        Store.create(postgresql, *campaign(rows())) as ours,
        Store.open(postgresql) as theirs,
        standing(ours) as at,
    ):
        theirs.append([event("bob", 3, "no"), event("bob", 4, "yes")])
        for _ in range(2):
            at.catch_up()
            assert at.state.labels == {3: "no", 4: "yes"}
        at.apply(ours.append([event("ann", 5, "no")]))
        theirs.append([event("bob", 6, "yes")])
        at.catch_up()
        assert at.state.labels == {3: "no", 4: "yes", 5: "no", 6: "yes"}
        assert len(at.state.events) == 4


# ---------------------------------------------------------------- the task
def test_rows_that_cannot_be_learnt_from_are_put_aside(tmp_path):
    with created(tmp_path, rows(), check=4) as store, standing(store) as at:
        check = at.check_rows
        free = [row for row in range(30) if row not in check]
        bad, split, settled, plain = free[:4]
        at.apply(
            store.append(
                [
                    event("ann", bad, kind=Kind.BAD),
                    event("ann", split, "no"),
                    event("bob", split, "yes"),
                    event("ann", settled, "no"),
                    event("bob", settled, "yes"),
                    event("ann", settled, "no", Kind.SETTLE),
                    event("ann", plain, "yes"),
                    event("ann", check[0], "no"),
                ]
            )
        )
        task = at.task()
        assert {answer.row: answer.label for answer in task.answers} == {
            settled: "no",
            plain: "yes",
        }
        assert task.aside == {bad, split, *check}
        assert task.check == (Answer(check[0], "no"),)


def test_more_people_want_more_rows_that_differ_up_to_a_crowd(store):
    with standing(store) as at:
        wanted = [at.task().first]
        for n in range(MANY_PEOPLE + 3):
            at.apply(store.append([event(f"p{n}", n, "no")]))
            wanted.append(at.task().first)
        assert wanted[0] == wanted[1] > 1
        assert all(one > n for n, one in enumerate(wanted[: MANY_PEOPLE + 1]))
        assert len(set(wanted[MANY_PEOPLE:])) == 1


def test_check_rows_are_never_learnt_from_whoever_answers_them(tmp_path):
    with desk(tmp_path, rows(), check=8) as at:
        walk(at, "ann", 20)
        standing_ = at.standing
        check = set(standing_.check_rows)
        assert len(check) == 8
        assert check & set(standing_.state.labels)
        assert not known(standing_) & check
        assert not set(standing_.rank().order.tolist()) & check
        assert standing_.ranking.answers == len(set(standing_.state.labels) - check)


def test_check_rows_are_the_same_whenever_the_campaign_is_opened(tmp_path):
    found = []
    for seed in (1, 1, 2):
        folder = tmp_path / str(len(found))
        folder.mkdir()
        with created(folder, rows(), check=10, seed=seed) as store, standing(store) as at:
            found.append(at.check_rows)
    assert found[0] == found[1] != found[2]
    assert len(set(found[0])) == 10
    assert list(found[0]) == sorted(found[0])


def test_one_question_of_some_is_about_a_check_row_until_all_are_answered(tmp_path):
    with desk(tmp_path, rows(20), check=3) as at:
        check = at.standing.check_rows
        asked = [row in check for row in walk(at, "ann", 20)]
    begun = [(place + 1) % EVERY == 0 for place in range(3 * EVERY)]
    assert asked[: 3 * EVERY] == begun
    assert not any(asked[3 * EVERY :])


# ---------------------------------------------------------------- in the background
def test_the_pool_is_ranked_again_after_answers(store):
    with standing(store, background=True) as at:
        at.await_ranking()
        assert at.ranking.answers == 0
        at.apply(store.append([event("ann", row, truth(at.X)[row]) for row in range(6)]))
        until(lambda: at.ranking.answers == 6)
        until(lambda: not at.is_behind)


def test_it_is_behind_for_as_long_as_the_ranking_takes(store):
    slow = Moody(store)
    with standing(store, slow, background=True) as at:
        at.await_ranking()
        slow.go.clear()
        at.apply(store.append([event("ann", 3, "no")]))
        until(lambda: slow.asked == 2)
        assert at.is_behind
        slow.go.set()
        until(lambda: not at.is_behind)
        assert at.ranking.answers == 1


def test_a_question_waits_for_the_first_ranking_but_not_for_ever(store, monkeypatch):
    monkeypatch.setattr(module, "FIRST", 0.1)
    slow = Moody(store)
    slow.go.clear()
    with standing(store, slow, background=True) as at:
        began = time.monotonic()
        at.await_ranking()
        assert time.monotonic() - began > 0.09
        assert at.ranking is None
        assert LabellingService(at).ask("ann") is not None
        slow.go.set()
        monkeypatch.setattr(module, "FIRST", 30.0)
        at.await_ranking()
        assert at.ranking is not None


def test_a_question_waits_a_moment_for_the_next_ranking_but_not_in_a_crowd(store, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    slow = Moody(store)
    with standing(store, slow, background=True) as at:
        at.await_ranking()
        slow.go.clear()
        at.apply(store.append([event("ann", 3, "no")]))
        began = time.monotonic()
        at.await_ranking()
        assert time.monotonic() - began > 0.19
        monkeypatch.setattr(module, "PATIENCE", 15.0)
        at.apply(store.append([event(f"p{n}", n, "no") for n in range(MANY_PEOPLE)]))
        began = time.monotonic()
        at.await_ranking()
        assert time.monotonic() - began < module.PATIENCE
        slow.go.set()


def test_a_failure_is_told_and_tried_again_while_people_go_on(store, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.01)
    monkeypatch.setattr(module, "FIRST", 15.0)
    moody = Moody(store, failures=1)
    with standing(store, moody, background=True) as at:
        began = time.monotonic()
        at.await_ranking()
        assert at.trouble == "The model could not be fitted (numbers ran out)."
        assert at.is_behind
        assert LabellingService(at).ask("ann") is not None
        assert time.monotonic() - began < module.FIRST
        moody.go.set()
        until(lambda: at.ranking is not None)
        until(lambda: at.trouble is None)


def test_close_ends_the_thread_also_while_it_gets_over_a_failure(store, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 60.0)
    for failures in (0, 1):
        at = LiveCampaign(store, Moody(store, failures))
        at.await_ranking()
        at.close()
        at._thread.join(10)  # noqa: SLF001 - whether it ended shows nowhere else
        assert not at._thread.is_alive()  # noqa: SLF001 - as above


# ---------------------------------------------------------------- check rows tell
def test_the_curve_is_the_same_after_a_restart(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation, "DRAWS", 2)
    with desk(tmp_path, rows(50, seed=4), check=20) as at:
        walk(at, "ann", 22)
        at.standing.rank()
        live = dict(at.standing.seen)
        assert len(live) > 5
    with Store.open(str(tmp_path / "a.db")) as store, standing(store, background=True) as at:
        until(lambda: len(at.seen) > 1)
        until(lambda: at.seen.keys() >= {max(live)})
        until(lambda: at._is_measured)  # noqa: SLF001 - nothing else shows that it is over
        again = dict(at.seen)
    assert max(again) == max(live)
    assert again.items() <= live.items()
    assert len(again) > 5


def test_what_was_saved_is_measured_once_enough_check_rows_are_answered(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation, "DRAWS", 2)
    X = rows(60)
    with created(tmp_path, X, check=24) as store, standing(store) as at:
        at.measure()
        assert at.saving is None
        free = [row for row in range(60) if row not in at.check_rows]
        for part in (at.check_rows[:5], at.check_rows[5:], free[:12]):
            at.apply(store.append([event("ann", row, truth(X)[row]) for row in part]))
            at.rank()
            at.measure()
            assert (at.saving is not None) == (part == free[:12])
        right = [one == other for one, other in zip(at.seen[12], _true(at), strict=True)]
        assert at.saving.accuracy == np.mean(right)
        assert at.saving.answers == 12
        seen, last = dict(at.seen), free[12]
        at.apply(store.append([event("ann", last, truth(X)[last])]))
        at.rank()
        at.measure()
        assert at.saving.answers == 13
        assert at.seen == {**seen, 13: at.seen[13]}


def _true(at):
    return [truth(at.X)[row] for row in at.check_rows]


# ---------------------------------------------------------------- likeness
def test_the_nearest_labelled_rows_are_found_with_their_distance(tmp_path):
    X = np.array([[0.0], [1.0], [3.0], [7.0], [1.0]])
    with created(tmp_path, X) as store, standing(store) as at:
        assert at.nearest(0, 3) == []
        labels = {0: "no", 1: "no", 2: "yes", 3: "yes", 4: "yes"}
        at.apply(store.append([event("ann", row, label) for row, label in labels.items()]))
        usual = at._usual  # noqa: SLF001 - the unit
        found = at.nearest(0, 3)
        assert [(row, label) for row, label, _ in found] == [(1, "no"), (4, "yes"), (2, "yes")]
        assert [distance * usual for *_, distance in found] == pytest.approx([1.0, 1.0, 3.0])
        assert usual in {1.0, 2.0, 3.0}


def test_rows_in_doubt_that_are_like_a_row_are_counted(tmp_path):
    # Three heaps of ten: one is labelled no, one yes, and nothing is known of the last.
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 10, axis=0) + rows(30)[:, :2] / 10
    with desk(tmp_path, X) as at:
        assert at.standing.uncertain_neighbours(25) == 0  # too little is known
        for row in (0, 1, 2, 10, 11, 12):
            answer(at, "ann", row, "no" if row < 10 else "yes")
        ranking = at.standing.rank()
        unsure = set(ranking.looked_at[ranking.necessity < CERTAIN].tolist())
        assert unsure >= set(range(20, 30))
        assert at.standing.uncertain_neighbours(25) == 9
        answer(at, "ann", 21, "no")
        assert at.standing.uncertain_neighbours(25) <= 8


def test_rows_that_are_all_alike_are_no_distance_apart(tmp_path):
    with desk(tmp_path, np.ones((4, 2))) as at:
        answer(at, "ann", 0, "no")
        assert at.standing.nearest(1, 3) == [(0, "no", 0.0)]


# ---------------------------------------------------------------- rows
def test_rows_at_the_head_of_a_ranking_are_read_before_anybody_asks(store, monkeypatch):
    with standing(store) as at:
        first = at.rank().order[:5].tolist()
        monkeypatch.setattr(store, "items", None)
        assert [item.row for item in at.items(first).values()] == first


def test_memory_for_rows_is_bounded(store, monkeypatch):
    monkeypatch.setattr("possibal.labelling.live.KEPT", 3)
    with standing(store) as at:
        for row in range(12):
            assert at.items([row, 0])[row].row == row
        assert len(vars(at)["_items"]) <= 5


def test_labels_that_a_file_came_with_do_not_bring_check_rows_forward(tmp_path):
    setup, contents = campaign(rows(60), check=10)
    given = [
        Event(f"{row:032x}", Kind.IMPORT, "file", 1, row, truth(rows(60))[row]) for row in range(30)
    ]
    begun = Store.create(str(tmp_path / "a.db"), setup, replace(contents, events=given))
    with begun as store, standing(store) as at:
        assert not at.is_check_turn


# ---------------------------------------------------------------- ranking ahead
def test_what_follows_from_a_likely_answer_is_there_when_it_comes(store):
    with standing(store, background=True) as at:
        until(lambda: not at.is_behind)
        at.apply(store.append([event("ann", row, truth(at.X)[row]) for row in range(6)]))
        until(lambda: not at.is_behind)
        row = int(at.ranking.order[0])
        at.expect(row)
        until(lambda: at._guess() is None)  # noqa: SLF001 - nobody else can know
        at.apply(store.append([event("ann", row, truth(at.X)[row])]))
        assert not at.is_behind
        assert at.ranking.answers == 7
        fresh = bench(store).rank(at.task())
        assert np.array_equal(at.ranking.order, fresh.order)
        assert np.array_equal(at.ranking.necessity, fresh.necessity)
        assert row not in at.order


def test_an_answer_that_nobody_guessed_is_ranked_as_ever(store):
    with standing(store, background=True) as at:
        until(lambda: not at.is_behind)
        at.expect(3)
        until(lambda: at._guess() is None)  # noqa: SLF001 - as above
        at.apply(store.append([event("ann", 4, "yes")]))
        until(lambda: not at.is_behind)
        assert at.ranking.answers == 1


def test_an_answer_that_comes_while_it_is_guessed_takes_the_guess(store):
    ranker = Moody(store)
    with standing(store, ranker) as at:
        at.rank()
        at.expect(5)
        ranker.go.clear()
        guessing = threading.Thread(target=at._rank_ahead)  # noqa: SLF001 - as above
        guessing.start()
        until(lambda: ranker.asked == 2)
        first = at.setup.classes[0]
        at.apply(store.append([event("ann", 5, first)]))
        assert at.is_behind
        ranker.go.set()
        guessing.join()
        assert not at.is_behind
        assert at.ranking.answers == 1


def test_a_guess_that_something_else_overtook_is_dropped(store):
    ranker = Moody(store)
    with standing(store, ranker) as at:
        at.rank()
        at.expect(5)
        ranker.go.clear()
        guessing = threading.Thread(target=at._rank_ahead)  # noqa: SLF001 - as above
        guessing.start()
        until(lambda: ranker.asked == 2)
        at.apply(store.append([event("ann", 6, "yes")]))
        ranker.go.set()
        guessing.join()
        assert at.is_behind


def test_nothing_is_guessed_of_rows_that_are_answered_or_in_a_crowd(store):
    with standing(store) as at:
        at.rank()
        at.expect(2)
        assert at._guess() is not None  # noqa: SLF001 - as above
        at.apply(store.append([event("ann", 2, "yes")]))
        at.rank()
        assert at._guess() is None  # noqa: SLF001 - as above
        at._rank_ahead()  # noqa: SLF001 - as above
        at.apply(store.append([event(f"p{i}", 10 + i, "yes") for i in range(MANY_PEOPLE)]))
        at.rank()
        at.expect(3)
        assert at._guess() is None  # noqa: SLF001 - as above
