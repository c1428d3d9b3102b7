"""Dates as parts: the time itself, and where it stands in the year, the week and the day.

order = date_order(words)        moment = seconds(cells, order)        PARTS["week"](moment)
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from possibal.arrays import Array, Matrix, Vector

DATE = re.compile(
    r"(?:(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4}))(?:[T ]+(.*))?"
)
CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?")
TIMES = (dt.date, dt.time)
DAY, WEEK, YEAR = 86_400.0, 604_800.0, 365.2425 * 86_400.0
"""Seconds of a day, a week and a mean year."""
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - a date without a zone
EPOCH_WEEKDAY = 3
"""1 January 1970 was a Thursday."""


MONTHS = 12


class DateOrder(StrEnum):
    """In which order days, months and years are written."""

    YEAR_FIRST = "year first"
    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"


MONTH_FIRST_BY = (DateOrder.MONTH_FIRST, DateOrder.DAY_FIRST)
"""Which order is taken where both would do and slashes separate."""


# ---------------------------------------------------------------- reading
def date_order(words: Iterable[str]) -> DateOrder | None:
    """How all these words are written as dates or times of the day; None if one is none.

    Where the year comes last, a number beyond twelve tells days from months; where none does,
    points and dashes mean the day first and slashes the month.
    """
    found = [DATE.fullmatch(word) or CLOCK.fullmatch(word) for word in words]
    if None in found:
        return None
    year_last = [match for match in found if match and match.re is DATE and match[4]]
    if not year_last:
        return DateOrder.YEAR_FIRST
    months = {
        DateOrder.DAY_FIRST: {int(match[6]) for match in year_last},
        DateOrder.MONTH_FIRST: {int(match[4]) for match in year_last},
    }
    sound = [order for order, ones in months.items() if min(ones) >= 1 and max(ones) <= MONTHS]
    usual = MONTH_FIRST_BY if any(match[5] == "/" for match in year_last) else sound
    return next(iter([order for order in usual if order in sound]), None)


def seconds(cells: Sequence[Any], order: DateOrder) -> Vector:
    """Seconds since 1970 of each cell, NaN where it is no date; a time of day is one of that day.

    Zones are left aside: what counts is what clock and calendar said there.
    """
    known = dict[Any, float]()
    for cell in set(cells):
        known[cell] = _seconds(cell, order)
    return np.array([known[cell] for cell in cells], dtype=float)


def _seconds(cell: object, order: DateOrder) -> float:
    """Seconds of one cell."""
    try:
        moment = _moment(cell, order)
    except (ValueError, OverflowError):
        return np.nan
    return np.nan if moment is None else (moment - EPOCH).total_seconds()


def _moment(cell: object, order: DateOrder) -> dt.datetime | None:
    """The moment that a cell is or says, without its zone."""
    if isinstance(cell, dt.datetime):
        return cell.replace(tzinfo=None)
    if isinstance(cell, dt.date):
        return dt.datetime.combine(cell, dt.time())
    if isinstance(cell, dt.time):
        return dt.datetime.combine(EPOCH, cell.replace(tzinfo=None))
    match = DATE.fullmatch(cell.strip()) if isinstance(cell, str) else None
    if match is None:
        return _at(EPOCH, cell) if isinstance(cell, str) else None
    if match[1] is not None:
        day = dt.datetime(int(match[1]), int(match[2]), int(match[3]))  # noqa: DTZ001 - as above
    else:
        first, second = int(match[4]), int(match[6])
        month = first if order is DateOrder.MONTH_FIRST else second
        day = dt.datetime(int(match[7]), month, first + second - month)  # noqa: DTZ001 - as above
    return _at(day, match[8]) if match[8] else day


def _at(day: dt.datetime, words: str) -> dt.datetime | None:
    """A day at a time that a clock shows; the day alone where the words are another thing."""
    clock = CLOCK.fullmatch(words.strip())
    if clock is None:
        return day if day is not EPOCH else None
    return day.replace(hour=int(clock[1]), minute=int(clock[2]), second=int(clock[3] or 0))


# ---------------------------------------------------------------- parts
def _circle(phase: Array) -> Matrix:
    """Points on the unit circle: December is near January."""
    return np.column_stack([np.cos(2 * np.pi * phase), np.sin(2 * np.pi * phase)])


PARTS: dict[str, Callable[[Vector], Matrix]] = {
    "time": lambda moment: (moment / DAY)[:, None],
    "year": lambda moment: _circle(moment / YEAR),
    "week": lambda moment: _circle((moment / DAY // 1 + EPOCH_WEEKDAY) / 7),
    "day": lambda moment: _circle(moment / DAY % 1),
}
"""What moments become: one column for the time in days, two for each circle."""


def parts_that_vary(moment: Vector) -> tuple[str, ...]:
    """The parts that tell these moments apart, and more than the time itself does.

    Args:
        moment: in seconds, none missing.
    """
    span, clock = np.ptp(moment), np.unique(moment % DAY)
    varies = {
        "time": span >= DAY,
        "year": span >= YEAR,
        "week": span >= 2 * WEEK and len(np.unique(moment // DAY % 7)) > 2,  # noqa: PLR2004 - two may alternate
        "day": len(clock) > 1,
    }
    return tuple(part for part, does in varies.items() if does)
