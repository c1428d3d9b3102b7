"""A labelling server under hard conditions; the long runs are in ``make reliability``."""

import pytest
from system import reliability

pytest_plugins = ["support.postgres"]

KILLS = 4
"""On each database; the long run has 200."""


@pytest.fixture(params=["sqlite", "postgresql"])
def db(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "answers.db")
    return request.getfixturevalue("postgresql")


def test_no_acknowledged_answer_is_lost_or_doubled_however_often_the_server_is_killed(db, tmp_path):
    figures = reliability.kills(KILLS, tmp_path, db)
    assert figures["acknowledged"] > KILLS


def test_many_people_at_once_never_get_the_same_row(db, tmp_path):
    figures = reliability.crowd(tmp_path, db, people=32, rows=200)
    assert figures["rows"] == 200


def test_the_page_asks_who_waits_for_the_model_what_a_campaign_in_python_asks(tmp_path):
    page, python = reliability.questions(tmp_path, rows=1000, answers=20)
    assert page == python
