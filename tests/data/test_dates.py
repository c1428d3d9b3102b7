"""Dates are read in any usual order and told apart by time, year, week and day."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.data.dates import DAY, PARTS, WEEK, DateOrder, date_order, parts_that_vary, seconds

MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0)
)
FORMATS = {
    DateOrder.YEAR_FIRST: ("%Y-%m-%d", "%Y/%m/%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"),
    DateOrder.DAY_FIRST: ("%d.%m.%Y", "%d-%m-%Y %H:%M"),
    DateOrder.MONTH_FIRST: ("%m/%d/%Y", "%m/%d/%Y %H:%M:%S"),
}
CASES = [(order, one) for order, formats in FORMATS.items() for one in formats]


@pytest.mark.parametrize(("order", "written"), CASES)
@given(moments=st.lists(MOMENTS, min_size=1))
def test_dates_are_read_as_they_were_written(order, written, moments):
    words = [moment.strftime(written) for moment in [*moments, dt.datetime(2000, 12, 31)]]
    assert date_order(words) is order
    expected = [dt.datetime.strptime(word, written) for word in words]
    found = seconds(words, order)
    assert found.tolist() == [(one - dt.datetime(1970, 1, 1)).total_seconds() for one in expected]


@pytest.mark.parametrize(
    ("words", "order"),
    [
        (["1/2/2024"], DateOrder.MONTH_FIRST),
        (["1.2.2024"], DateOrder.DAY_FIRST),
        (["1/2/2024", "13/2/2024"], DateOrder.DAY_FIRST),
        (["13/13/2024"], None),
        (["13/2/2024", "2/13/2024"], None),
        (["2024-01-01", "soon"], None),
        (["12:30"], DateOrder.YEAR_FIRST),
        ([], DateOrder.YEAR_FIRST),
    ],
)
def test_a_number_beyond_twelve_tells_days_from_months(words, order):
    assert date_order(words) is order


@pytest.mark.parametrize("cell", [None, "2024-02-30", "soon", 5, "25:00", float("nan")])
def test_what_is_no_date_is_missing(cell):
    assert np.isnan(seconds([cell], DateOrder.YEAR_FIRST)).all()


def test_cells_of_pythons_types_are_read():
    cells = [dt.date(1970, 1, 2), dt.datetime(1970, 1, 1, 1, tzinfo=dt.UTC), dt.time(0, 1)]
    assert seconds(cells, DateOrder.YEAR_FIRST).tolist() == [DAY, 3600.0, 60.0]
    assert seconds(["1970-01-02 whenever"], DateOrder.YEAR_FIRST).tolist() == [DAY]


@given(MOMENTS)
def test_a_week_later_is_the_same_weekday_and_the_circle_is_a_circle(moment):
    at = seconds([moment, moment + dt.timedelta(weeks=1)], DateOrder.YEAR_FIRST)
    for part in ("week", "day"):
        one, other = PARTS[part](at)
        np.testing.assert_allclose(one, other, atol=1e-9)
        assert np.hypot(*one) == pytest.approx(1.0)
    monday = dt.datetime(2024, 1, 1)
    place = (moment - monday).days % 7
    angle = np.arctan2(*PARTS["week"](at)[0][::-1]) / (2 * np.pi) * 7
    assert round(angle - place) % 7 == 0


def test_parts_that_say_nothing_more_are_left_out():
    week = np.arange(7) * DAY
    assert parts_that_vary(week) == ("time",)
    assert parts_that_vary(np.arange(15) * DAY) == ("time", "week")
    assert parts_that_vary(np.arange(4) * 2 * WEEK) == ("time",)
    assert parts_that_vary(np.array([5.0])) == ()
