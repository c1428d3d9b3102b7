"""What `possibal status` says of a campaign whose ranking was kept."""

import pytest
from support.services import created, event, in_process_ranker, rows, truth

from possibal.cli.status_session import lines, sentences, status
from possibal.labelling.explanation import UNRANKED
from possibal.labelling.kept_ranking import keep
from possibal.labelling.overview import Overview
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.storage.store import Store

X = rows(60)


@pytest.fixture(name="store")
def _store(tmp_path):
    with created(tmp_path, X, check=10) as made:
        yield made


def test_it_says_what_the_page_says(store):
    store.append([event("ann", row, truth(X)[row]) for row in range(40)])
    read_model = ReadModel(store)
    scheduler = RankingScheduler(read_model, in_process_ranker(store), background=False)
    keep(store, scheduler.rank(), len(X))
    page = Overview(read_model, scheduler).progress()
    found = status(store.url.database)
    assert page.advice is not None
    assert found["advice"]["state"] == page.advice.state.value
    assert found["advice"]["reason"] == page.advice.reason
    assert found["advice"]["learnt"] == found["advice"]["now"] > 0
    told = [*sentences(found)]
    assert told[0].startswith(f"{found['name']}: 40 labels so far, {page.left} rows left; 60 rows")
    assert page.advice.reason in told[1]
    assert "Left to itself, the model would get" in told[1]
    assert "That was after" not in told[1]
    assert told[2] == f"Check rows: {page.checked} of 10 have a label."
    right = Overview(read_model, scheduler).confusion().accuracy
    assert told[3].startswith(
        f"The model is right about {100 * right.right / right.rows:.0f} % of "
    )


def test_it_says_how_old_the_advice_is(store):
    store.append([event("ann", row, truth(X)[row]) for row in range(20)])
    read_model = ReadModel(store)
    keep(store, in_process_ranker(store).rank(read_model.task()), len(X))
    before = status(store.url.database)["advice"]["now"]
    store.append([event("ann", row, truth(X)[row]) for row in range(20, 40)])
    found = status(store.url.database)
    now = found["advice"]["now"]
    assert now > before == found["advice"]["learnt"]
    assert f"That was after {before} labels; now it has {now}." in [*sentences(found)][1]


def test_nothing_is_said_of_a_model_that_there_is_not(store):
    found = status(store.url.database)
    assert [*sentences(found)][1:] == [
        f"Go on. {UNRANKED}",
        "Check rows: 0 of 10 have a label.",
    ]
    assert [name for name, _ in lines(found)] == [
        "labels by class",
        "rows named by each",
        "people per row",
        "kind of rows",
        "strategy",
        "kept in",
        "schema",
    ]


def test_the_rows_as_numbers_are_not_read(store, monkeypatch):
    asked, array = list[str](), Store.array

    def noted(one: Store, name: str) -> object:
        asked.append(name)
        return array(one, name)

    monkeypatch.setattr(Store, "array", noted)
    status(store.url.database)
    assert "X" not in asked


def test_it_says_how_much_of_a_sought_class_was_found(tmp_path):
    with created(tmp_path, X, find="yes") as store:
        store.append([event("ann", row, truth(X)[row]) for row in range(40)])
        read_model = ReadModel(store)
        scheduler = RankingScheduler(read_model, in_process_ranker(store), background=False)
        keep(store, scheduler.rank(), len(X))
        recall = Overview(read_model, scheduler).progress().recall
        found = status(store.url.database)
    assert recall is not None
    assert found["recall"] == recall.report("yes")
    assert found["advice"]["gain"] is None
    assert recall.sentence("yes") in [*sentences(found)][1]
