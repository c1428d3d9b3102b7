"""Every row as a table: which rows a query finds, in which order, and what is shown of them."""

from dataclasses import replace

import numpy as np
import pytest
from support.services import answer, campaign, event, new_service, rows, serving, truth, walk

from possibal.campaign.calibration import StatedChance
from possibal.errors import RefusedError
from possibal.labelling.create import COPIES
from possibal.labelling.ranking import OtherLabel
from possibal.labelling.row_table import RowQuery, RowSort, RowState, RowTable
from possibal.labelling.storage.journal import Kind
from possibal.labelling.storage.store import Item, Store

X = rows(40)


@pytest.fixture(name="at")
def _at(tmp_path):
    """A campaign in which Ann answered ten rows."""
    with new_service(tmp_path, X, check=5) as service:
        walk(service, "ann", 10)
        service.scheduler.rank()
        yield service


def found(at, who=None, **wanted):
    return RowTable(at.read_model, at.scheduler).select(RowQuery(**wanted), who)


def places(at, who=None, **wanted):
    return [one.item.row for one in found(at, who, **{"count": 200} | wanted).rows]


def test_without_a_wish_all_rows_come_as_in_the_file_a_part_at_a_time(at):
    assert places(at) == list(range(40))
    part = found(at, first=10, count=7)
    assert [one.item.row for one in part.rows] == list(range(10, 17))
    assert (part.count, part.looked_at) == (40, None)
    assert found(at, first=40).rows == ()


def test_a_row_has_its_label_who_gave_it_and_what_is_predicted(at):
    labels, check = at.read_model.state.labels, set(at.read_model.check_rows)
    for one in found(at, count=40).rows:
        row = one.item.row
        assert one.label == labels.get(row)
        assert one.people == (("ann",) if row in labels else ())
        assert one.state is (RowState.LABELLED if row in labels else RowState.OPEN)
        assert one.is_check == (row in check)
        expected = None if row in check else at.scheduler.predictions.of_row(row)
        assert one.prediction == expected
        assert one.copy_of is None


def test_states_are_told_apart(at):
    free = [row for row in places(at, state=RowState.OPEN) if row not in at.read_model.check_rows]
    differ, unsure, bad, skipped = free[:4]
    answer(at, "ben", differ, "yes")
    answer(at, "cy", differ, "no")
    at.answer(event("ben", unsure, kind=Kind.UNSURE))
    at.answer(event("ben", bad, kind=Kind.BAD))
    at.answer(event("ben", skipped, kind=Kind.SKIP))
    assert places(at, state=RowState.DIFFER) == [differ]
    assert places(at, state=RowState.UNSURE) == [unsure]
    assert places(at, state=RowState.BAD) == [bad]
    still_open = places(at, state=RowState.OPEN)
    assert {differ, unsure, skipped} <= set(still_open)
    assert bad not in still_open
    labelled = places(at, state=RowState.LABELLED)
    assert set(labelled) == set(at.read_model.state.labels)
    assert sorted([*still_open, *labelled, bad]) == list(range(40))
    by_row = {one.item.row: one.state for one in found(at, count=40).rows}
    assert by_row[differ] is RowState.DIFFER
    assert by_row[skipped] is RowState.OPEN
    at.answer(event("dee", differ, "no", Kind.SETTLE))
    settled = next(one for one in found(at, count=40).rows if one.item.row == differ)
    assert (settled.label, settled.people[0]) == ("no", "dee")


def test_a_class_has_the_rows_that_have_it_and_those_that_are_taken_for_it(at):
    labels, ranking = at.read_model.state.labels, at.scheduler.ranking
    check = set(at.read_model.check_rows)
    expected = [
        row
        for row in range(40)
        if (labels.get(row) or (None if row in check else ranking.predicted_label(row))) == "yes"
    ]
    assert places(at, label="yes") == expected
    assert places(at, label="no such class") == []


def test_rows_come_by_their_chance_those_without_one_last(at):
    for sort, way in ((RowSort.LIKELY, -1), (RowSort.DOUBTFUL, 1)):
        shown = found(at, sort=sort, count=40).rows
        chances = [way * one.prediction.chance.value for one in shown if one.prediction]
        assert chances == sorted(chances)
        assert all(one.prediction is None for one in shown[len(chances) :])
        assert len(shown) == 40


def test_before_the_first_ranking_rows_are_shown_all_the_same(tmp_path):
    with new_service(tmp_path, X) as at:
        shown = found(at, sort=RowSort.LIKELY, count=40).rows
    assert [one.item.row for one in shown] == list(range(40))
    assert {one.prediction for one in shown} == {None}


def test_labels_that_all_others_contradict_are_found_until_they_are_changed(tmp_path):
    with new_service(tmp_path, X, check=5) as at:
        labels = truth(X)
        apart = np.argsort(-np.abs(X[:, 0]))  # far from the boundary, where no label is in doubt
        asked = [int(row) for row in apart if row not in at.read_model.check_rows][:25]
        wrong = asked[3]
        other = {"yes": "no", "no": "yes"}
        for row in asked:
            answer(at, "ann", row, other[labels[row]] if row == wrong else labels[row])
        at.scheduler.rank()
        (shown,) = found(at, state=RowState.AGAIN).rows
        assert (shown.item.row, shown.other.label) == (wrong, labels[wrong])
        assert shown.other.chance.value >= 0.8
        first = found(at, state=RowState.AGAIN, sort=RowSort.LIKELY).rows[0]
        assert first.item.row == wrong
        at.answer(event("ann", wrong, labels[wrong], Kind.EDIT))
        assert places(at, state=RowState.AGAIN) == []


def test_contradicted_rows_are_sorted_by_what_the_others_say(at, monkeypatch):
    labels = at.read_model.state.labels
    rows = [row for row in labels if row not in at.read_model.check_rows][:3]
    other = {"yes": "no", "no": "yes"}
    chances = dict(zip(rows, (0.85, 0.95, 0.9), strict=True))
    monkeypatch.setattr(
        at.scheduler.predictions,
        "contradicted",
        {
            row: OtherLabel(other[labels[row]], StatedChance(one, one, one))
            for row, one in chances.items()
        },
    )
    assert places(at, state=RowState.AGAIN, sort=RowSort.LIKELY) == [rows[1], rows[2], rows[0]]


def test_who_sees_only_themself_sees_neither_predictions_nor_what_others_said(at):
    mine, theirs = places(at, state=RowState.OPEN)[:2]
    answer(at, "ben", mine, "yes")
    answer(at, "cy", theirs, "no")
    at.answer(event("ben", theirs, kind=Kind.UNSURE))
    shown = {one.item.row: one for one in found(at, "ben", count=40, sort=RowSort.LIKELY).rows}
    assert list(shown) == list(range(40))
    assert {one.prediction for one in shown.values()} == {None}
    assert [row for row, one in shown.items() if one.label] == [mine]
    assert (shown[mine].people, shown[theirs].people) == (("ben",), ())
    assert shown[theirs].state is RowState.UNSURE
    assert places(at, "ben", state=RowState.LABELLED) == [mine]
    assert places(at, "ben", state=RowState.AGAIN) == []


def _texts(tmp_path, cells, **choices):
    """A store whose rows have these cells."""
    setup, contents = campaign(rows(len(cells)), **choices)
    items = [Item(row, f"id {row}", (cell, None), None) for row, cell in enumerate(cells)]
    return Store.create(str(tmp_path / "a.db"), setup, replace(contents, items=items))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("free", [0, 1]),
        ("FREE prize", [0]),
        ("id 2", [2]),
        ("ärger", [2]),
        ("ÄRGER", [2]),
        ('"quoted"', [3]),
        ("100%", [4]),
        ("null", []),
        (", ", [5]),
        ("a\\b", [6]),
        ("", list(range(7))),
    ],
)
def test_a_text_is_found_in_ids_and_cells_in_letters_of_either_case(tmp_path, text, expected):
    cells = (
        *("a Free PRIZE", "free", "großer Ärger", 'some "quoted"'),
        *("100% sure", "one, two", "a\\b"),
    )
    with _texts(tmp_path, cells) as store, serving(store) as at:
        assert places(at, text=text) == expected


def test_folders_that_give_a_label_away_are_not_searched(tmp_path):
    setup, contents = campaign(rows(2), hidden_folders=True)
    items = [Item(row, f"cat/{row}.png", (), f"cat/{row}.png") for row in range(2)]
    made = Store.create(str(tmp_path / "a.db"), setup, replace(contents, items=items))
    with made as store, serving(store) as at:
        assert places(at, text="cat") == []
        assert places(at, text="1.png") == [1]


def test_a_copy_is_named_as_one(tmp_path):
    setup, contents = campaign(X)
    leaders = np.arange(40)
    leaders[20:] = np.arange(20)
    contents = replace(contents, arrays={"X": X, COPIES: leaders})
    with Store.create(str(tmp_path / "a.db"), setup, contents) as store, serving(store) as at:
        assert [one.copy_of for one in found(at, count=40).rows] == [None] * 20 + list(range(20))


def test_rows_come_by_their_chance_of_the_sought_class(tmp_path):
    with new_service(tmp_path, X, check=5, find="yes") as at:
        walk(at, "ann", 10)
        at.scheduler.rank()
        order, check = places(at, sort=RowSort.SOUGHT), set(at.read_model.check_rows)
        chances = at.scheduler.predictions.ranking.sought_chances_of(order)
        told = [one for one, row in zip(chances, order, strict=True) if row not in check]
        assert told == sorted(told, reverse=True)
        assert set(order[-5:]) == check


def test_where_no_class_is_sought_rows_have_no_such_order(at):
    with pytest.raises(RefusedError, match=r"sort must be one of .* as no class is sought"):
        places(at, sort=RowSort.SOUGHT)
