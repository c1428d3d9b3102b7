"""Rows to confirm at once: who may confirm which, by what the model predicts."""

from dataclasses import replace

import numpy as np
import pytest
from support.services import answer, campaign, event, new_service, rows, serving, undo, walk

from possibal.errors import RefusedError
from possibal.labelling.confirmation import SOON, TOO_EARLY, ConfirmationPage, confirmation_page
from possibal.labelling.create import COPIES
from possibal.labelling.explanation import LIKELY
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.journal import Kind
from possibal.labelling.storage.store import Store

X = rows(60)


@pytest.fixture
def at(tmp_path):
    """A campaign in which Ann answered ten rows."""
    with new_service(tmp_path, X, people=2, check=5) as service:
        walk(service, "ann", 10)
        yield service


def seen(at: LabellingService, who: str = "ann", label: str | None = None) -> ConfirmationPage:
    return confirmation_page(at, who, label, 0, 60)


def all_rows(at: LabellingService, who: str = "ann") -> set[int]:
    """All rows that somebody may confirm."""
    return {one.row for label in ("no", "yes") for one in seen(at, who, label).rows}


def test_before_two_classes_are_known_nothing_is_shown(tmp_path):
    with new_service(tmp_path, X) as at:
        for expected in (TOO_EARLY, TOO_EARLY):
            with pytest.raises(RefusedError, match=expected):
                seen(at)
            answer(at, "ann", 0, "yes")


def test_while_the_model_is_behind_one_is_asked_to_wait(tmp_path, monkeypatch):
    with new_service(tmp_path, X) as at:
        monkeypatch.setattr(at.scheduler, "await_ranking", lambda: None)
        answer(at, "ann", 0, "yes")
        answer(at, "ann", 1, "no")
        with pytest.raises(RefusedError, match=SOON):
            seen(at)


def test_rows_without_a_label_come_by_class_the_likeliest_first(at):
    page = seen(at, label="yes")
    ranking = at.scheduler.ranking
    assert ranking is not None
    assert page.label == "yes"
    assert {ranking.predicted_label(one.row) for one in page.rows} == {"yes"}
    found = [one.chance.value for one in page.rows]
    assert found == sorted(found, reverse=True)
    predictions = at.scheduler.predictions
    assert [one.chance for one in page.rows] == [
        one.chance for one in predictions.of(one.row for one in page.rows)
    ]
    yes = next(one for one in page.classes if one.label == "yes")
    assert (yes.rows, yes.likely) == (len(found), sum(one >= LIKELY for one in found))
    assert not page.more


def test_all_rows_that_are_open_are_in_one_class_or_the_other(at):
    labelled, check = set(at.read_model.state.labels), set(at.read_model.check_rows)
    held = at.held_by_others("ben")
    assert all_rows(at, "ben") == set(range(60)) - labelled - check - held
    assert held == set()


def test_the_class_with_most_likely_rows_comes_first_if_none_is_named(at):
    page = seen(at)
    best = max(page.classes, key=lambda one: (one.likely, one.rows))
    assert page == seen(at, label=best.label)


def test_a_page_is_a_part_of_the_order(at):
    whole = seen(at, label="no").rows
    parts = [confirmation_page(at, "ann", "no", first, 4) for first in range(0, len(whole) + 4, 4)]
    assert tuple(one for part in parts for one in part.rows) == whole
    assert [part.more for part in parts] == [
        4 * place + 4 < len(whole) for place in range(len(parts))
    ]


def test_check_rows_are_never_shown(at):
    row = min(all_rows(at))
    at.draw_check_rows(event("ann", None, kind=Kind.CHECK), 20)
    check = set(at.read_model.check_rows)
    assert not all_rows(at) & check
    assert (row in all_rows(at)) == (row not in check)


def test_copies_go_with_the_row_that_stands_for_them(tmp_path):
    setup, contents = campaign(X, check=5)
    leaders = np.arange(60)
    leaders[30:] = np.arange(30)  # each row of the second half says the same as one of the first
    with (
        Store.create(
            str(tmp_path / "a.db"), setup, replace(contents, arrays={"X": X, COPIES: leaders})
        ) as store,
        serving(store) as at,
    ):
        walk(at, "ann", 8)
        shown = all_rows(at)
        assert shown
        assert max(shown) < 30
        first, *others = sorted(shown)[:3]
        at.answer(event("ann", first, "yes", detail={"rows": str(others)}))
        said = at.read_model.state.labels
        assert all(said[row] == said[row + 30] == "yes" for row in (first, *others))


def test_a_row_that_somebody_else_is_at_is_left_to_them(at):
    row = min(all_rows(at, "ben"))
    at.choose("ben", row)
    assert row in all_rows(at, "ben")
    assert row not in all_rows(at, "ann")
    kept = {question.item.row for question in at.reserve("ben", 5)}
    assert not kept & all_rows(at, "ann")


def test_rows_in_conflict_are_not_confirmed(at):
    row = min(all_rows(at, "eve"))
    answer(at, "ann", row, "yes")
    answer(at, "ben", row, "no")
    assert at.read_model.state.verdict(row).in_conflict
    assert row not in all_rows(at, "eve")


@pytest.mark.parametrize("kind", [Kind.SKIP, Kind.UNSURE, Kind.BAD])
def test_what_a_person_passed_on_is_not_shown_to_them(at, kind):
    row = min(all_rows(at))
    stored = at.answer(event("ann", row, kind=kind))
    assert row not in all_rows(at)
    assert (row in all_rows(at, "ben")) == (kind is not Kind.BAD)
    at.undo(undo("ann", stored.event.key))
    assert row in all_rows(at)


def test_many_are_confirmed_at_once_and_come_back_at_once(at):
    before = seen(at, label="yes")
    first, *others = [one.row for one in before.rows][:6]
    detail = {"rows": str(others)}
    stored = at.answer(event("ann", first, "yes", detail=detail)).event
    assert stored.predicted_label == "yes"
    assert not {first, *others} & all_rows(at)
    at.undo(undo("ann", stored.key))
    assert {first, *others} <= all_rows(at)


def test_classes_have_their_present_names(at):
    count = {one.label: one.rows for one in seen(at).classes}
    at.rename_class("yes", "ja", "ann")
    after = {one.label: one.rows for one in seen(at).classes}
    assert after == {"no": count["no"], "ja": count["yes"]}
    at.add_class("perhaps", "ann")
    assert seen(at, label="perhaps").rows == ()


def test_a_class_that_is_none_is_refused(at):
    with pytest.raises(RefusedError, match=r"^label must be one of \['no', 'yes'\]; got 'maybe'"):
        seen(at, label="maybe")


def test_rows_of_two_classes_that_were_merged_are_one_group(at):
    count = sum(one.rows for one in seen(at).classes)
    ranking = at.scheduler.ranking
    at.merge_classes("yes", "no", "ann")
    at.scheduler.ranking, at.scheduler._ranked = ranking, at.read_model.changes  # noqa: SLF001 - the model is behind
    page = seen(at)
    assert [(one.label, one.rows) for one in page.classes] == [("no", count)]


def test_rows_that_a_large_pool_did_not_look_at_are_left_out(tmp_path):
    setup, contents = campaign(X)
    with Store.create(str(tmp_path / "a.db"), setup, contents) as store, serving(store) as at:
        walk(at, "ann", 8)
        assert seen(at).looked_at is None
        ranking = at.scheduler.ranking
        assert ranking is not None
        part = np.arange(0, 60, 2)
        kept = {name: getattr(ranking, name)[part] for name in ("necessity", "chance", "predicted")}
        at.scheduler.ranking = type(ranking)(**{**vars(ranking), "looked_at": part, **kept})
        assert {row % 2 for row in all_rows(at)} == {0}
        assert seen(at).looked_at == 30
