"""A labelling server under hard conditions; the long runs are in ``make reliability``."""

import pytest
from system import reliability

pytest_plugins = ["support.postgres"]

KILLS = 4
"""On each database; the long run has 200."""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def db(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "answers.db")
    return request.getfixturevalue("postgresql")


@pytest.mark.long
def test_no_acknowledged_answer_is_lost_or_doubled_however_often_the_server_is_killed(db, tmp_path):
    figures = reliability.kills(KILLS, tmp_path, db)
    assert figures["acknowledged"] > KILLS


def test_many_people_at_once_never_get_the_same_row(db, tmp_path):
    figures = reliability.crowd(tmp_path, db, reliability.Size(people=32, rows=200))
    assert figures["rows"] == 200


@pytest.mark.long
def test_many_people_at_three_servers_never_get_the_same_row(postgresql, tmp_path):
    size = reliability.Size(people=24, rows=120, servers=3)
    assert reliability.crowd(tmp_path, postgresql, size)["servers"] == 3


@pytest.mark.long
def test_figures_of_campaigns_killed_side_by_side_are_summed_up():
    found = reliability.parallel_kills(2, 2, is_postgres=False)
    assert found["kills"] == 2
    assert found["acknowledged"] >= 2
    assert found["seconds to serve again, largest"] > 0


@pytest.mark.long
def test_a_server_at_work_stays_as_it_is_and_loses_nothing(tmp_path):
    lines = list[str]()
    db = str(tmp_path / "answers.db")
    figures = reliability.soak(tmp_path, db, minutes=0.1, pace=0.2, tell=lines.append)
    assert figures["answers"] > 0
    assert [line.partition(":")[0] for line in lines] == ["minute 1", "minute 2"]


def test_memory_or_handles_that_grow_are_found():
    def minute(megabytes: float, handles: int) -> reliability.Minute:
        return reliability.Minute(reliability.Usage(1.0, megabytes, handles, 9), None, [0.1], [0.1])

    assert reliability.flat([minute(200, 20)] * 9)["threads at most"] == 9
    grown = 201 + reliability.GROWTH
    with pytest.raises(AssertionError, match=r"memory grew from 200\.0 to"):
        reliability.flat([minute(200, 20)] * 3 + [minute(grown, 20)] * 6)
    with pytest.raises(AssertionError, match="handles grew from 20 to 40"):
        reliability.flat([minute(200, 20)] * 6 + [minute(200, 40)] * 3)


@pytest.mark.long
def test_the_page_asks_who_waits_for_the_model_what_a_campaign_in_python_asks(tmp_path):
    page, python = reliability.questions(tmp_path, rows=1000, answers=20)
    assert page == python
