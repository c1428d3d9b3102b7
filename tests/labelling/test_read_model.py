from dataclasses import replace

import numpy as np
import pytest
from support.services import (
    answer,
    campaign,
    created,
    event,
    new_service,
    rows,
    serving,
    truth,
    walk,
)

from possibal.campaign.answer import Answer
from possibal.campaign.stopping import CERTAIN
from possibal.labelling import read_model
from possibal.labelling.ranking import RankingTask
from possibal.labelling.read_model import EVERY, MANY_PEOPLE, ReadModel, last_part
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.journal import ON_CAMPAIGN, Event, Kind
from possibal.labelling.storage.store import Contents, Item, Store

pytest_plugins = ["support.postgres"]


@pytest.fixture(name="store")
def _store(tmp_path):
    with created(tmp_path, rows()) as made:
        yield made


def known(at: LabellingService) -> set[int]:
    """The rows that the last ranking learnt from."""
    return {answer.row for answer in at.read_model.task().answers}


# ---------------------------------------------------------------- events
def test_classes_are_those_named_and_those_added(store):
    with serving(store) as at:
        assert at.read_model.classes == ("no", "yes")
        at.read_model.apply(store.append([event("ann", None, "maybe", Kind.CLASS)]))
        assert at.read_model.classes == ("no", "yes", "maybe")
        assert at.read_model.task().classes == at.read_model.classes


def test_a_file_has_no_others_to_catch_up_with(store):
    with serving(store) as at:
        store.append([event("ann", 3, "no")])
        at.read_model.catch_up()
        assert at.read_model.state.labels == {}


def test_what_another_process_wrote_is_caught_up_with(postgresql):
    with (
        Store.create(postgresql, *campaign(rows())) as ours,
        Store.open(postgresql) as theirs,
        serving(ours) as at,
    ):
        theirs.append([event("bob", 3, "no"), event("bob", 4, "yes")])
        for _ in range(2):
            at.read_model.catch_up()
            assert at.read_model.state.labels == {3: "no", 4: "yes"}
        at.read_model.apply(ours.append([event("ann", 5, "no")]))
        theirs.append([event("bob", 6, "yes")])
        at.read_model.catch_up()
        assert at.read_model.state.labels == {3: "no", 4: "yes", 5: "no", 6: "yes"}
        assert len(at.read_model.state.events) == 4


# ---------------------------------------------------------------- the task
def test_rows_that_cannot_be_learnt_from_are_put_aside(tmp_path):
    with created(tmp_path, rows(), check=4) as store, serving(store) as at:
        check = at.read_model.check_rows
        free = [row for row in range(30) if row not in check]
        bad, split, settled, plain = free[:4]
        at.read_model.apply(
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
        task = at.read_model.task()
        assert {answer.row: answer.label for answer in task.answers} == {
            settled: "no",
            plain: "yes",
        }
        assert task.aside == {bad, split, *check}
        assert task.check == (Answer(check[0], "no"),)


def slow_task(made: ReadModel) -> RankingTask:
    """The task made from the whole state."""
    state, check = made.state, frozenset(made.check_rows)
    never = made.copies.copies | made.copies.whole_groups(check)
    verdicts = state.verdicts.items()
    shut = {row for row, one in verdicts if one.is_bad or one.is_gone or one.in_conflict}
    return RankingTask(
        state.answers(never),
        state.classes(made.setup.classes),
        never | (shut - state.labels.keys()),
        tuple(answer for answer in state.answers() if answer.row in check),
        1 + min(max(len(state.people), 1), MANY_PEOPLE),
        made.setup.rows,
    )


@pytest.mark.parametrize("rebuilt", [0.0, 0.05, 100.0])
def test_the_task_kept_up_to_date_is_that_of_the_whole_state(tmp_path, monkeypatch, rebuilt):
    monkeypatch.setattr(read_model, "REBUILT", rebuilt)
    rng, leaders = np.random.default_rng(5), [*range(36), 0, 0, 7, 9]
    kinds = [Kind.LABEL] * 6 + [Kind.EDIT, Kind.SKIP, Kind.BAD, Kind.SETTLE, Kind.GONE, Kind.UNDO]
    kinds += [Kind.CLASS, Kind.RENAME, Kind.CHECK]
    with created(tmp_path, rows(40), copies=leaders, check=4) as store, serving(store) as at:
        made = []
        for n in range(250):
            kind, label = Kind(rng.choice(kinds)), str(rng.choice(["no", "yes", "maybe"]))
            who, row = str(rng.choice(["ann", "bob", "cy"])), int(rng.integers(40))
            one = Event(f"{n:032x}", kind, who, int(rng.integers(300)), row, label)
            if kind is Kind.UNDO:
                target = made[rng.integers(len(made))] if made else one
                one = replace(one, row=None, label=None, who=target.who, target=target.key)
            elif kind in ON_CAMPAIGN:
                detail = {"to": f"no{n}", "rows": f"[{row}]"}
                one = replace(one, row=None, detail=detail)
            made.append(one)
            at.read_model.apply([one, *made[-3:]])
            assert n % 3 == 0 or at.read_model.task() == slow_task(at.read_model)


def test_a_task_after_an_answer_is_made_from_that_answer_alone(store, monkeypatch):
    with serving(store) as at:
        at.read_model.apply(store.append([event("ann", row, "no") for row in range(25)]))
        before = at.read_model.task()
        assert at.read_model.task() is before
        made, hashed = [], []
        monkeypatch.setattr(
            read_model, "Answer", lambda *given: made.append(given) or Answer(*given)
        )
        at.read_model.apply(store.append([event("ann", 27, "yes")]))
        after = at.read_model.task()
        assert made == [(27, "yes")]
        assert all(one is other for one, other in zip(before.answers, after.answers, strict=False))
        assert after.aside is before.aside
        whole = Answer.__hash__
        monkeypatch.setattr(Answer, "__hash__", lambda self: hashed.append(self) or whole(self))
        assert hash(after) == hash(slow_task(at.read_model))
        assert after == slow_task(at.read_model)
        assert hashed == [Answer(27, "yes")] * 2


def test_more_people_want_more_rows_that_differ_up_to_a_crowd(store):
    with serving(store) as at:
        wanted = [at.read_model.task().first]
        for n in range(MANY_PEOPLE + 3):
            at.read_model.apply(store.append([event(f"p{n}", n, "no")]))
            wanted.append(at.read_model.task().first)
        assert wanted[0] == wanted[1] > 1
        assert all(one > n for n, one in enumerate(wanted[: MANY_PEOPLE + 1]))
        assert len(set(wanted[MANY_PEOPLE:])) == 1


def test_check_rows_are_never_learnt_from_whoever_answers_them(tmp_path):
    with new_service(tmp_path, rows(), check=8) as at:
        walk(at, "ann", 20)
        check = set(at.read_model.check_rows)
        assert len(check) == 8
        assert check & set(at.read_model.state.labels)
        assert not known(at) & check
        assert not set(at.scheduler.rank().order.tolist()) & check
        assert at.scheduler.ranking.answers == len(set(at.read_model.state.labels) - check)


def test_check_rows_are_the_same_whenever_the_campaign_is_opened(tmp_path):
    found = []
    for seed in (1, 1, 2):
        folder = tmp_path / str(len(found))
        folder.mkdir()
        with created(folder, rows(), check=10, seed=seed) as store, serving(store) as at:
            found.append(at.read_model.check_rows)
    assert found[0] == found[1] != found[2]
    assert len(set(found[0])) == 10
    assert list(found[0]) == sorted(found[0])


def test_rows_that_came_later_change_no_check_row_of_the_start(tmp_path):
    found = []
    for name, given in (("a", {}), ("b", {"begun": 20})):
        folder = tmp_path / name
        folder.mkdir()
        X = rows(20 if name == "a" else 30)
        with created(folder, X, check=6, **given) as store, serving(store) as at:
            found.append(at.read_model.check_rows)
    assert found[0] == found[1]


def test_every_row_is_as_likely_to_be_drawn_labelled_or_not(tmp_path):
    seen = np.zeros(20)
    for seed in range(60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with created(folder, rows(20), seed=seed) as store, serving(store) as at:
            at.read_model.apply(store.append([event("ann", row, "no") for row in range(10)]))
            drawn = at.read_model.draw_check_rows(5)
            assert drawn == at.read_model.draw_check_rows(5)
            seen[list(drawn)] += 1
    assert seen.sum() == 300
    assert abs(seen[:10].sum() - 150) < 40
    assert seen.min() > 3


# ---------------------------------------------------------------- names of rows
def test_rows_are_called_by_their_ids(store):
    with serving(store) as at:
        assert at.read_model.ids[:2] == ("id-0", "id-1")
        assert at.read_model.shown_id(3) == "id-3"
        item = at.read_model.items([3])[3]
        assert at.read_model.shown(item) == item


def test_a_folder_that_tells_the_label_shows_once_the_row_has_it(tmp_path):
    setup, contents = campaign(rows(4), hidden_folders=True)
    items = [Item(row, f"ants/{row}.jpg", (), f"ants/{row}.jpg") for row in range(4)]
    begun = Store.create(str(tmp_path / "a.db"), setup, replace(contents, items=items))
    with begun as store, serving(store) as at:
        assert at.read_model.shown_id(2) == "2.jpg"
        shown = at.read_model.shown(items[2])
        assert (shown.id, shown.media) == ("2.jpg", "2.jpg")
        answer(at, "ann", 2, "no")
        assert at.read_model.shown_id(2) == "ants/2.jpg"
        assert at.read_model.shown(items[2]) == items[2]
    assert last_part("ants/") == "ants/"


def test_one_question_of_some_is_about_a_check_row_until_all_are_answered(tmp_path):
    with new_service(tmp_path, rows(20), check=3) as at:
        check = at.read_model.check_rows
        asked = [row in check for row in walk(at, "ann", 20)]
    begun = [(place + 1) % EVERY == 0 for place in range(3 * EVERY)]
    assert asked[: 3 * EVERY] == begun
    assert not any(asked[3 * EVERY :])


# ---------------------------------------------------------------- likeness
def test_the_nearest_labelled_rows_are_found_with_their_distance(tmp_path):
    X = np.array([[0.0], [1.0], [3.0], [7.0], [1.0]])
    with created(tmp_path, X) as store, serving(store) as at:
        assert at.read_model.nearest(0, 3) == []
        labels = {0: "no", 1: "no", 2: "yes", 3: "yes", 4: "yes"}
        at.read_model.apply(
            store.append([event("ann", row, label) for row, label in labels.items()])
        )
        found = at.read_model.nearest(0, 3)
        assert [(row, label) for row, label, _ in found] == [(1, "no"), (4, "yes"), (2, "yes")]
        assert [distance for *_, distance in found] == [1.0, 1.0, 3.0]


def test_the_nearest_labelled_rows_follow_what_people_say_and_take_back(tmp_path):
    X = np.arange(40.0)[:, None]
    with created(tmp_path, X) as store, serving(store) as at:
        for row in range(1, 30):
            answer(at, "ann", row, "no")
        assert [row for row, *_ in at.read_model.nearest(0, 3)] == [1, 2, 3]
        for row in (1, 3):
            at.answer(event("ann", row, None, Kind.SKIP))
        assert [row for row, *_ in at.read_model.nearest(0, 3)] == [2, 4, 5]
        assert at.read_model.nearest_rows(0, [0, 1], 3) == [2, 3, 4]


def test_rows_in_doubt_that_are_like_a_row_are_counted(tmp_path):
    # Three heaps of ten: one is labelled no, one yes, and nothing is known of the last.
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 10, axis=0) + rows(30)[:, :2] / 10
    with new_service(tmp_path, X) as at:
        assert (
            at.read_model.uncertain_neighbours(25, at.scheduler.ranking) == 0
        )  # too little is known
        for row in (0, 1, 2, 10, 11, 12):
            answer(at, "ann", row, "no" if row < 10 else "yes")
        ranking = at.scheduler.rank()
        unsure = set(ranking.looked_at[ranking.necessity < CERTAIN].tolist())
        assert unsure >= set(range(20, 30))
        assert at.read_model.uncertain_neighbours(25, ranking) == 9
        answer(at, "ann", 21, "no")
        assert at.read_model.uncertain_neighbours(25, ranking) <= 8


def test_rows_that_are_all_alike_are_no_distance_apart(tmp_path):
    with new_service(tmp_path, np.ones((4, 2))) as at:
        answer(at, "ann", 0, "no")
        assert at.read_model.nearest(1, 3) == [(0, "no", 0.0)]


# ---------------------------------------------------------------- rows
def test_memory_for_rows_is_bounded(store, monkeypatch):
    monkeypatch.setattr("possibal.labelling.read_model.CACHED_ITEMS", 3)
    with serving(store) as at:
        for row in range(12):
            assert at.read_model.items([row, 0])[row].row == row
        assert len(vars(at.read_model)["_items"]) <= 5


def test_labels_that_a_file_came_with_do_not_bring_check_rows_forward(tmp_path):
    setup, contents = campaign(rows(60), check=10)
    given = [
        Event(f"{row:032x}", Kind.IMPORT, "file", 1, row, truth(rows(60))[row]) for row in range(30)
    ]
    begun = Store.create(str(tmp_path / "a.db"), setup, replace(contents, events=given))
    with begun as store, serving(store) as at:
        assert not at.read_model.is_check_due


def test_labels_that_rows_join_with_make_no_check_row_due(tmp_path):
    with new_service(tmp_path, rows(), check=4) as at:
        store, X = at.store, rows(42)
        items = [Item(row, f"id-{row}", ("", "")) for row in range(30, 42)]
        labels = [event("file", item.row, "no", Kind.IMPORT) for item in items]
        later = replace(store.setup(), rows=42, begun=30)
        store.extend(later, Contents(items, {"X": X}, labels), [])
        at.read_model.reload_rows()
        assert len(at.read_model.state.labels) == 12
        assert not at.read_model.is_check_due


def test_the_nearest_rows_are_found_block_by_block(store, monkeypatch):
    with serving(store) as at:
        distances = np.linalg.norm(at.read_model.X - at.read_model.X[4], axis=1)
        nearest = [
            row for row in np.argsort(distances, kind="stable").tolist() if row not in {4, 9}
        ]
        for block in (7, 20_000):
            monkeypatch.setattr(read_model, "BLOCK", block)
            assert at.read_model.nearest_rows(4, [4, 9], 12) == nearest[:12]
