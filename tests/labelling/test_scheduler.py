import threading
import time
from functools import partial

import numpy as np
import pytest
from support.services import (
    created,
    event,
    in_process_ranker,
    new_service,
    rows,
    serving,
    truth,
    undo,
    until,
    walk,
)

from possibal.campaign.snapshot import Answer, Snapshot
from possibal.errors import UnsavedError
from possibal.labelling import evaluation, kept_ranking
from possibal.labelling import scheduler as module
from possibal.labelling.explanation import QuestionSource
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import MANY_PEOPLE, ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.storage.journal import Kind
from possibal.labelling.storage.store import Store


class Moody(InProcessRanker):
    """A ranker that can be told to wait, or to fail the next few times; it waits after that."""

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


# ---------------------------------------------------------------- events
def test_what_is_applied_holds_and_is_ranked(store):
    with serving(store) as at:
        assert at.scheduler.is_behind
        at.scheduler.await_ranking()
        assert not at.scheduler.is_behind
        stored = store.append([event("ann", row, truth(at.read_model.X)[row]) for row in range(8)])
        at.read_model.apply(stored)
        assert at.scheduler.is_behind
        at.read_model.apply(stored)
        at.scheduler.await_ranking()
        alone = Snapshot.start(at.read_model.X, classes=["no", "yes"])
        alone = alone.replay(Answer(row, truth(at.read_model.X)[row]) for row in range(8))
        assert at.scheduler.ranking.answers == 8
        first = at.read_model.task().first
        assert tuple(at.scheduler.ranking.order[:first]) == alone.ask(first)
        assert list(at.scheduler.order) == at.scheduler.ranking.order.tolist()


def test_what_is_known_already_is_not_ranked_again(store):
    with serving(store, Moody(store)) as at:
        stored = store.append([event("ann", 3, "no")])
        at.read_model.apply(stored)
        first = at.scheduler.rank()
        at.read_model.apply(stored)
        at.scheduler.await_ranking()
        assert at.scheduler.ranking is first


def test_a_row_that_wants_no_more_answers_leaves_the_order_at_once(store):
    with serving(store) as at:
        at.scheduler.rank()
        first, second, *_ = at.scheduler.order
        said = [event("ann", first, kind=Kind.SKIP), event("ann", second, "no")]
        at.read_model.apply(store.append(said))
        assert first in at.scheduler.order
        assert second not in at.scheduler.order
        at.read_model.apply(store.append([undo("ann", said[1].key)]))
        at.scheduler.await_ranking()
        assert second in at.scheduler.order


def test_a_ranking_that_was_overtaken_does_not_come_back(store):
    slow = Moody(store)
    with serving(store, slow) as at:
        slow.go.clear()
        older = threading.Thread(target=at.scheduler.rank)
        older.start()
        until(lambda: slow.asked == 1)
        held, slow.go = slow.go, threading.Event()
        slow.go.set()
        at.read_model.apply(store.append([event("ann", 3, "no")]))
        newer = at.scheduler.rank()
        held.set()
        older.join()
        assert slow.asked == 2
        assert at.scheduler.ranking is newer
        assert 3 not in at.scheduler.order


# ---------------------------------------------------------------- in the background
def test_the_pool_is_ranked_again_after_answers(store):
    with serving(store, background=True) as at:
        at.scheduler.await_ranking()
        assert at.scheduler.ranking.answers == 0
        at.read_model.apply(
            store.append([event("ann", row, truth(at.read_model.X)[row]) for row in range(6)])
        )
        until(lambda: at.scheduler.ranking.answers == 6)
        until(lambda: not at.scheduler.is_behind)


def test_it_is_behind_for_as_long_as_the_ranking_takes(store):
    slow = Moody(store)
    with serving(store, slow, background=True) as at:
        at.scheduler.await_ranking()
        slow.go.clear()
        at.read_model.apply(store.append([event("ann", 3, "no")]))
        until(lambda: slow.asked == 2)
        assert at.scheduler.is_behind
        slow.go.set()
        until(lambda: not at.scheduler.is_behind)
        assert at.scheduler.ranking.answers == 1


def test_a_question_waits_for_the_first_ranking_but_not_for_ever(store, monkeypatch):
    monkeypatch.setattr(module, "FIRST", 0.1)
    slow = Moody(store)
    slow.go.clear()
    with serving(store, slow, background=True) as at:
        began = time.monotonic()
        at.scheduler.await_ranking()
        assert time.monotonic() - began > 0.09
        assert at.scheduler.ranking is None
        assert at.ask("ann") is not None
        slow.go.set()
        until(lambda: at.scheduler.ranking is not None)


def test_all_questions_together_wait_for_the_first_ranking_once(store, monkeypatch):
    monkeypatch.setattr(module, "FIRST", 0.05)
    slow = Moody(store)
    slow.go.clear()
    with serving(store, slow, background=True) as at:
        at.scheduler.await_ranking()
        monkeypatch.setattr(module, "FIRST", 60.0)
        began = time.monotonic()
        at.scheduler.await_ranking()
        assert at.ask("ann").source is QuestionSource.UNRANKED
        assert time.monotonic() - began < module.FIRST
        assert at.scheduler.ranking is None
        slow.go.set()


def test_a_question_waits_a_moment_for_the_next_ranking_but_not_in_a_crowd(store, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    slow = Moody(store)
    with serving(store, slow, background=True) as at:
        at.scheduler.await_ranking()
        slow.go.clear()
        at.read_model.apply(store.append([event("ann", 3, "no")]))
        began = time.monotonic()
        at.scheduler.await_ranking()
        assert time.monotonic() - began > 0.19
        monkeypatch.setattr(module, "PATIENCE", 15.0)
        at.read_model.apply(store.append([event(f"p{n}", n, "no") for n in range(MANY_PEOPLE)]))
        began = time.monotonic()
        at.scheduler.await_ranking()
        assert time.monotonic() - began < module.PATIENCE
        slow.go.set()


def test_a_failure_is_told_and_tried_again_while_people_go_on(store, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.01)
    monkeypatch.setattr(module, "FIRST", 15.0)
    moody = Moody(store, failures=1)
    with serving(store, moody, background=True) as at:
        began = time.monotonic()
        at.scheduler.await_ranking()
        assert at.scheduler.trouble == "The model could not be fitted (numbers ran out)."
        assert at.scheduler.is_behind
        assert at.ask("ann") is not None
        assert time.monotonic() - began < module.FIRST
        moody.go.set()
        until(lambda: at.scheduler.ranking is not None)
        until(lambda: at.scheduler.trouble is None)


def test_close_ends_the_thread_also_while_it_gets_over_a_failure(store, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 60.0)
    for failures in (0, 1):
        at = RankingScheduler(ReadModel(store), Moody(store, failures))
        at.await_ranking()
        at.close()
        at._thread.join(10)  # noqa: SLF001 - whether it ended shows nowhere else
        assert not at._thread.is_alive()  # noqa: SLF001 - as above


# ---------------------------------------------------------------- restarts
def _labelled(store, count):
    """Keep labels of the first rows, and rank after them in a server that is closed then."""
    labels = truth(store.array("X"))
    store.append([event("ann", row, labels[row]) for row in range(count)])
    with serving(store, background=True) as at:
        until(lambda: not at.scheduler.is_behind)
        return at.scheduler.ranking


def _slow(store):
    """A ranker that waits."""
    slow = Moody(store)
    slow.go.clear()
    return slow


def test_after_a_restart_with_many_labels_questions_are_served_from_the_ranking_before(
    store, monkeypatch
):
    monkeypatch.setattr(module, "FIRST_LABELS", 5)
    monkeypatch.setattr(module, "FIRST", 60.0)
    before = _labelled(store, 8)
    answered, second, third, *_ = before.order.tolist()
    store.append([event("bob", answered, "no"), event("bob", third, kind=Kind.BAD)])
    slow = _slow(store)
    with serving(store, slow, background=True) as at:
        began = time.monotonic()
        question = at.ask("ann")
        assert time.monotonic() - began < module.FIRST
        assert question.item.row == second
        assert question.source is QuestionSource.MODEL
        assert not {answered, third} & set(at.scheduler.order)
        assert at.scheduler.is_behind
        slow.go.set()
        until(lambda: not at.scheduler.is_behind)
        assert at.scheduler.ranking.answers == 9
        assert slow.asked == 1  # what was kept knows of most labels


def test_after_a_restart_with_few_labels_a_question_waits_for_the_ranking_of_now(
    store, monkeypatch
):
    monkeypatch.setattr(module, "FIRST", 60.0)
    before = _labelled(store, 8)
    store.append([event("bob", int(before.order[0]), "no")])
    with serving(store, background=True) as at:
        question = at.ask("ann")
        fresh = in_process_ranker(store).rank(at.read_model.task())
        assert question.item.row == fresh.order[0]
        assert at.scheduler.ranking.answers == 9


def test_where_the_wait_is_over_the_ranking_before_is_better_than_none(store, monkeypatch):
    monkeypatch.setattr(module, "FIRST", 0.01)
    before = _labelled(store, 8)
    slow = _slow(store)
    with serving(store, slow, background=True) as at:
        assert at.ask("ann").item.row == before.order[0]
        slow.go.set()


def test_the_first_ranking_after_very_many_labels_learns_from_some_of_them(store, monkeypatch):
    monkeypatch.setattr(module, "FIRST_LABELS", 5)
    labels = truth(store.array("X"))
    store.append([event("ann", row, labels[row]) for row in range(12)])
    tasks, go = [], threading.Event()

    class Noting(InProcessRanker):
        def rank(self, task):
            tasks.append(task)
            assert task.most_labels or go.wait(30)
            return super().rank(task)

    setup = store.setup()
    ranker = Noting(store.array("X"), setup.strategy, setup.seed)
    with serving(store, ranker, background=True) as at:
        until(lambda: at.scheduler.ranking is not None)
        assert at.scheduler.is_behind
        assert not at.scheduler.check_predictions
        assert min(at.scheduler.order) >= 12
        said = at.scheduler.ranking.advice.reason
        assert said == "The model has learnt from 5 of 12 labels so far."
        go.set()
        until(lambda: not at.scheduler.is_behind)
        assert [task.most_labels for task in tasks] == [5, 0]
        at.scheduler.anticipate(20)
        assert at.scheduler._speculation() is None  # noqa: SLF001 - nobody else can know
    alone = Snapshot.start(store.array("X"), classes=["no", "yes"])
    alone = alone.replay(Answer(row, labels[row]) for row in range(12))
    first = tasks[1].first
    assert tuple(at.scheduler.ranking.order[:first]) == alone.ask(first)


def test_a_first_ranking_of_some_labels_that_fails_gives_way_to_that_of_all(store, monkeypatch):
    monkeypatch.setattr(module, "FIRST_LABELS", 5)
    monkeypatch.setattr(module, "PAUSE", 0.01)
    labels = truth(store.array("X"))
    store.append([event("ann", row, labels[row]) for row in range(12)])
    moody = Moody(store, failures=1)
    with serving(store, moody, background=True) as at:
        until(lambda: moody.failures == 0)
        until(lambda: moody.go.set() or not at.scheduler.is_behind)
        assert moody.asked == 2
        assert "has learnt from" not in at.scheduler.ranking.advice.reason


def test_one_that_comes_late_does_not_take_the_place_of_that_of_all(store, monkeypatch):
    monkeypatch.setattr(module, "FIRST_LABELS", 5)
    labels = truth(store.array("X"))
    store.append([event("ann", row, labels[row]) for row in range(12)])
    with serving(store) as at:
        whole = at.scheduler.rank()
        at.scheduler._rank_partially()  # noqa: SLF001 - two threads at once show nothing else
        assert at.scheduler.ranking is whole


def test_the_last_ranking_is_kept_from_time_to_time(store, monkeypatch):
    monkeypatch.setattr(module, "KEPT_EVERY", 0.0)
    kept = partial(kept_ranking.kept, store, *store.array("X").shape)
    with serving(store, background=True) as at:
        until(lambda: kept() is not None)
        assert kept().answers == 0
        monkeypatch.setattr(module, "KEPT_EVERY", 1e9)
        until(lambda: not at.scheduler.is_behind)
        at.read_model.apply(store.append([event("ann", 3, "no")]))
        until(lambda: not at.scheduler.is_behind)
        assert kept().answers == 0
    assert kept().answers == 1


def test_a_ranking_that_cannot_be_kept_disturbs_nobody(store, monkeypatch):
    def full(*_):
        raise UnsavedError("db must take what is written; got 'disk full'. Try again.")

    monkeypatch.setattr(store, "replace_arrays", full)
    with serving(store, background=True) as at:
        at.scheduler.await_ranking()
    assert at.scheduler.trouble is None


# ---------------------------------------------------------------- check rows tell
def test_the_curve_is_the_same_after_a_restart(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation, "DRAWS", 2)
    with new_service(tmp_path, rows(50, seed=4), check=20) as at:
        walk(at, "ann", 22)
        at.scheduler.rank()
        live = dict(at.scheduler.check_predictions)
        assert len(live) > 5
    with Store.open(str(tmp_path / "a.db")) as store, serving(store, background=True) as at:
        until(lambda: len(at.scheduler.check_predictions) > 1)
        until(lambda: at.scheduler.check_predictions.keys() >= {max(live)})
        until(lambda: at.scheduler._is_measured)  # noqa: SLF001 - nothing else shows that it is over
        again = dict(at.scheduler.check_predictions)
    assert max(again) == max(live)
    assert again.items() <= live.items()
    assert len(again) > 5


def test_the_curve_forgets_answers_that_are_undone(tmp_path):
    X = rows(50)
    with created(tmp_path, X, check=5) as store, serving(store) as at:
        free = [row for row in range(50) if row not in at.read_model.check_rows]
        said = [event("ann", row, truth(X)[row]) for row in free[:8]]
        for part in (said[:4], said[4:]):
            at.read_model.apply(store.append(part))
            at.scheduler.rank()
        assert list(at.scheduler.check_predictions) == [4, 8]
        at.read_model.apply(store.append([undo("ann", said[-1].key)]))
        at.scheduler.rank()
        assert list(at.scheduler.check_predictions) == [4, 7]


def test_what_was_saved_is_measured_once_enough_check_rows_are_answered(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation, "DRAWS", 2)
    X = rows(60)
    with created(tmp_path, X, check=24) as store, serving(store) as at:
        at.scheduler.measure()
        assert at.scheduler.random_curve is None
        free = [row for row in range(60) if row not in at.read_model.check_rows]
        for part in (at.read_model.check_rows[:5], at.read_model.check_rows[5:], free[:12]):
            at.read_model.apply(store.append([event("ann", row, truth(X)[row]) for row in part]))
            at.scheduler.rank()
            at.scheduler.measure()
            assert (at.scheduler.random_curve is None) == (part == at.read_model.check_rows[:5])
        known = at.scheduler.random_curve
        seen, last = dict(at.scheduler.check_predictions), free[12]
        at.read_model.apply(store.append([event("ann", last, truth(X)[last])]))
        at.scheduler.rank()
        at.scheduler.measure()
        assert at.scheduler.random_curve is known
        assert at.scheduler.check_predictions == {**seen, 13: at.scheduler.check_predictions[13]}


# ---------------------------------------------------------------- rows
def test_rows_at_the_head_of_a_ranking_are_read_before_anybody_asks(store, monkeypatch):
    with serving(store) as at:
        first = at.scheduler.rank().order[:5].tolist()
        monkeypatch.setattr(store, "items", None)
        assert [item.row for item in at.read_model.items(first).values()] == first


# ---------------------------------------------------------------- ranking ahead
def test_what_follows_from_a_likely_answer_is_there_when_it_comes(store):
    with serving(store, background=True) as at:
        until(lambda: not at.scheduler.is_behind)
        at.read_model.apply(
            store.append([event("ann", row, truth(at.read_model.X)[row]) for row in range(6)])
        )
        until(lambda: not at.scheduler.is_behind)
        row = int(at.scheduler.ranking.order[0])
        at.scheduler.anticipate(row)
        until(lambda: at.scheduler._speculation() is None)  # noqa: SLF001 - nobody else can know
        at.read_model.apply(store.append([event("ann", row, truth(at.read_model.X)[row])]))
        assert not at.scheduler.is_behind
        assert at.scheduler.ranking.answers == 7
        fresh = in_process_ranker(store).rank(at.read_model.task())
        assert np.array_equal(at.scheduler.ranking.order, fresh.order)
        assert np.array_equal(at.scheduler.ranking.necessity, fresh.necessity)
        assert row not in at.scheduler.order


def test_an_answer_that_nobody_guessed_is_ranked_as_ever(store):
    with serving(store, background=True) as at:
        until(lambda: not at.scheduler.is_behind)
        at.scheduler.anticipate(3)
        until(lambda: at.scheduler._speculation() is None)  # noqa: SLF001 - as above
        at.read_model.apply(store.append([event("ann", 4, "yes")]))
        until(lambda: not at.scheduler.is_behind)
        assert at.scheduler.ranking.answers == 1


def test_an_answer_that_comes_while_it_is_guessed_takes_the_guess(store):
    ranker = Moody(store)
    with serving(store, ranker) as at:
        at.scheduler.rank()
        at.scheduler.anticipate(5)
        ranker.go.clear()
        guessing = threading.Thread(target=at.scheduler._rank_speculatively)  # noqa: SLF001 - as above
        guessing.start()
        until(lambda: ranker.asked == 2)
        first = at.setup.classes[0]
        at.read_model.apply(store.append([event("ann", 5, first)]))
        assert at.scheduler.is_behind
        ranker.go.set()
        guessing.join()
        assert not at.scheduler.is_behind
        assert at.scheduler.ranking.answers == 1


def test_a_guess_that_something_else_overtook_is_dropped(store):
    ranker = Moody(store)
    with serving(store, ranker) as at:
        at.scheduler.rank()
        at.scheduler.anticipate(5)
        ranker.go.clear()
        guessing = threading.Thread(target=at.scheduler._rank_speculatively)  # noqa: SLF001 - as above
        guessing.start()
        until(lambda: ranker.asked == 2)
        at.read_model.apply(store.append([event("ann", 6, "yes")]))
        ranker.go.set()
        guessing.join()
        assert at.scheduler.is_behind


def test_nothing_is_guessed_of_rows_that_are_answered_or_in_a_crowd(store):
    with serving(store) as at:
        at.scheduler.rank()
        at.scheduler.anticipate(2)
        assert at.scheduler._speculation() is not None  # noqa: SLF001 - as above
        at.read_model.apply(store.append([event("ann", 2, "yes")]))
        at.scheduler.rank()
        assert at.scheduler._speculation() is None  # noqa: SLF001 - as above
        at.scheduler._rank_speculatively()  # noqa: SLF001 - as above
        at.read_model.apply(
            store.append([event(f"p{i}", 10 + i, "yes") for i in range(MANY_PEOPLE)])
        )
        at.scheduler.rank()
        at.scheduler.anticipate(3)
        assert at.scheduler._speculation() is None  # noqa: SLF001 - as above


# ---------------------------------------------------------------- a look at all rows
@pytest.fixture(name="large")
def _large(monkeypatch):
    """Thirty rows count as many, of which a ranking looks at a few."""
    monkeypatch.setattr("possibal.campaign.pool.LARGE_POOL", 20)
    monkeypatch.setattr("possibal.labelling.ranking.OVERVIEW_SAMPLE", 4)
    monkeypatch.setattr("possibal.labelling.ranker.BATCH_CANDIDATES", 4)


@pytest.mark.usefixtures("large")
def test_all_rows_of_a_large_pool_are_looked_at_once_nobody_has_answered_for_a_while(
    store, monkeypatch
):
    monkeypatch.setattr(module, "IDLE", 0.2)
    with serving(store, background=True) as at:
        for row in range(6):
            at.answer(event("ann", row, truth(at.read_model.X)[row]))
        until(lambda: not at.scheduler.is_behind)
        assert len(at.scheduler.ranking.looked_at) < 30
        until(lambda: None not in at.scheduler.whole_predictions.of(range(30)))
        until(lambda: not at.scheduler.is_look_due)
        whole = at.scheduler.whole_predictions
        assert None in at.scheduler.predictions.of(range(30))
        assert at.scheduler.whole_predictions is whole
        at.rename_class("yes", "other", "ann")
        assert {one.label for one in at.scheduler.whole_predictions.of(range(30))} == {
            "no",
            "other",
        }


@pytest.mark.usefixtures("large")
def test_while_people_answer_the_model_looks_at_some_rows(store, monkeypatch):
    monkeypatch.setattr(module, "IDLE", 3600.0)
    with serving(store, background=True) as at:
        for row in range(6):
            at.answer(event("ann", row, truth(at.read_model.X)[row]))
        until(lambda: not at.scheduler.is_behind)
        assert at.scheduler.is_look_due
        assert at.scheduler.whole_predictions is at.scheduler.predictions


def test_a_small_pool_has_been_looked_at(store):
    with serving(store) as at:
        walk(at, "ann", 6)
        at.scheduler.rank()
        assert not at.scheduler.is_look_due
        assert at.scheduler.whole_predictions is at.scheduler.predictions
