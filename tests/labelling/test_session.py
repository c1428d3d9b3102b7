import numpy as np
import pandas as pd
import polars as pl
import pytest

import possibal
from possibal.campaign.campaign import Answer, Campaign
from possibal.errors import AlreadyAnsweredError, RefusedError
from possibal.labelling.session import open_campaign

X = np.random.default_rng(0).normal(size=(40, 2))
SIDE = {f"d{i}": "right" if x[0] > 0 else "left" for i, x in enumerate(X)}
FRAME = pd.DataFrame({"doc_id": list(SIDE), "a": X[:, 0], "b": X[:, 1]})


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "answers.db")


def answered(campaign, times: int) -> list[str]:
    """Answer truly; the rows that were asked about."""
    asked = list[str]()
    for _ in range(times):
        (row,) = campaign.ask()
        campaign.tell(row, SIDE[row])
        asked.append(row)
    return asked


def test_it_is_a_public_name():
    assert possibal.open_campaign is open_campaign


@pytest.mark.parametrize("pool", [FRAME, pl.DataFrame(FRAME.to_dict("list"))])
def test_a_campaign_asks_about_rows_by_their_ids_and_keeps_the_answers(pool, db):
    with open_campaign(db, pool, id="doc_id") as campaign:
        asked = answered(campaign, 8)
        assert campaign.labels == {row: SIDE[row] for row in asked}
        assert len(set(asked)) == 8
    with open_campaign(db) as again:
        assert again.labels == {row: SIDE[row] for row in asked}
        assert again.ask()[0] not in asked


def test_questions_are_those_of_a_campaign_in_memory(db):
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    memory = Campaign.start(scaled, ids=list(SIDE), classes=["left", "right"])
    with open_campaign(db, FRAME, id="doc_id", classes=["left", "right"]) as campaign:
        for row in answered(campaign, 10):
            assert memory.ask() == (row,)
            memory = memory.replay([Answer(row, SIDE[row])])
        assert campaign.classifier.predict(scaled).tolist() == list(
            memory.classifier.predict(scaled)
        )


def test_an_array_numbers_its_rows_and_a_file_names_its_own(db, tmp_path):
    with open_campaign(db, X) as campaign:
        assert campaign.ask(3) == campaign.ask(3)
        assert all(1 <= int(row) <= 40 for row in campaign.ask(3))
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with open_campaign(str(tmp_path / "b.db"), tmp_path / "rows.csv", id="doc_id") as campaign:
        assert set(campaign.ask(2)) <= set(SIDE)


def test_undo_goes_back_as_far_as_there_are_answers(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        asked = answered(campaign, 3)
        assert [campaign.undo() for _ in range(3)] == asked[::-1]
        assert campaign.labels == {}
        campaign.tell(asked[0], "left")
        assert campaign.undo() == asked[0]


def test_nothing_to_undo_is_none(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        assert campaign.undo() is None


def test_rows_are_put_off_passed_on_dropped_and_changed(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        skipped, passed, dropped, told = campaign.ask(4)
        campaign.skip(skipped)
        campaign.unsure(passed)
        campaign.bad(dropped)
        campaign.tell(told, "left")
        campaign.edit(told, "right")
        assert campaign.labels == {told: "right"}
        assert not {skipped, passed, dropped, told} & set(campaign.ask(10))
        report = campaign.report()
        assert (report["answered"], report["unsure"], report["bad"]) == (1, 1, 1)
        assert report["left"] == 38


def test_a_second_label_of_a_row_is_refused(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        (row,) = answered(campaign, 1)
        with pytest.raises(AlreadyAnsweredError, match="Undo it, or change it with edit"):
            campaign.tell(row, "left")


def test_a_row_that_is_none_is_refused(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        with pytest.raises(RefusedError, match="row must be an id of the pool; got 'x'"):
            campaign.tell("x", "left")
        assert campaign.labels == {}


def test_the_report_has_a_curve_where_rows_are_checked(db):
    with open_campaign(db, FRAME, id="doc_id", check=8) as campaign:
        answered(campaign, 20)
        report = campaign.report()
    assert report["checked"] == 4
    assert report["curve"]
    assert report["curve"][-1]["answers"] == 16
    assert report["advice"]["state"] in {"go on", "may stop", "stop"}


def test_one_may_stop_when_the_advice_says_so(db):
    with open_campaign(db, FRAME, id="doc_id") as campaign:
        assert not campaign.should_stop()
        answered(campaign, 40)
        assert campaign.should_stop()
        assert campaign.advice.reason == "Every row has an answer."
        assert campaign.ask() == []


def test_a_campaign_needs_rows_to_begin(db):
    with pytest.raises(ValueError, match="pool must be given to begin a campaign; got None"):
        open_campaign(db)


def test_labels_of_other_types_become_text(db):
    with open_campaign(db, X) as campaign:
        first, second = campaign.ask(2)
        campaign.tell(first, np.int64(3))
        campaign.tell(int(second), True)  # noqa: FBT003 - a label
        assert campaign.labels == {first: "3", second: "True"}
