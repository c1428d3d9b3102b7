import pytest
from support.begun import said, told
from support.exchanged import labelled, pool_of

from possibal.labelling.exchange.exchanged_rows import id_column
from possibal.labelling.storage.journal import Kind


def test_rows_without_a_label_come_first_the_least_sure_of_all_first(tmp_path):
    with pool_of(labelled(tmp_path)) as (pool, read_model):
        labels = [row.label is None for row in pool.rows]
        sure = [row.necessity for row in pool.rows if row.label is None]
        assert (len(pool.rows), labels, sure) == (30, [True] * 22 + [False] * 8, sorted(sure))
        assert id_column(read_model.setup) == "name"
        first = pool.rows[0]
        assert set(first.cells) == {"width", "height", "colour"}
        assert first.plain_text.splitlines()[2] == f"colour: {first.cells['colour']}"


def test_the_version_is_that_of_what_is_predicted(tmp_path):
    db = labelled(tmp_path)
    with pool_of(db) as (one, _), pool_of(db) as (again, _):
        assert one.version == again.version
        assert one.version.startswith("possibal-8-")
    told(db, said(8, "large"))
    with pool_of(db) as (other, _):
        assert other.version.startswith("possibal-9-")


def test_nothing_is_predicted_of_check_rows_and_they_are_asked_first(tmp_path):
    with pool_of(labelled(tmp_path, check=5)) as (pool, read_model):
        check = {read_model.ids[row] for row in read_model.check_rows}
        told = {row.item.id: row for row in pool.rows}
        assert all(told[name].predicted is None and told[name].necessity == 0 for name in check)
        waiting = sum(told[name].label is None for name in check)
        assert {row.item.id for row in pool.rows[:waiting]} <= check


def test_where_people_answer_blind_the_order_alone_is_told(tmp_path):
    with pool_of(labelled(tmp_path, blind=True)) as (pool, _):
        assert {row.predicted for row in pool.rows} == {None}
        assert all(row.necessity is not None for row in pool.rows)


def test_before_two_classes_have_labels_nothing_is_predicted(tmp_path):
    with pool_of(labelled(tmp_path, rows=1)) as (pool, _):
        assert pool.version == ""
        assert {(row.predicted, row.necessity) for row in pool.rows} == {(None, None)}


def test_each_person_s_opinion_is_there_and_dropped_rows_are_not(tmp_path):
    db = labelled(tmp_path)
    told(db, said(0, "large", "bob"), said(9, kind=Kind.BAD), said(10, kind=Kind.UNSURE))
    with pool_of(db) as (pool, _):
        assert (len(pool.rows), pool.dropped) == (29, 1)
        found = {row.item.id: row for row in pool.rows}
        assert [(one.who, one.label) for one in found["r0"].opinions] == [
            ("ann", "small"),
            ("bob", "large"),
        ]
        assert (found["r0"].label, found["r10"].opinions) == (None, ())


@pytest.mark.parametrize("classes", [("small", "large"), ()])
def test_classes_are_those_that_there_are(tmp_path, classes):
    with pool_of(labelled(tmp_path, classes=classes)) as (pool, _):
        assert sorted(pool.classes) == ["large", "small"]
