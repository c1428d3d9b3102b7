import logging

from possibal.labelling.web.log_limit import MOST, PAUSE, LogLimit, limited_logs


class Clock:
    """A clock that stands until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def record(message: str, *given: object, name: str = "a", error: Exception | None = None):
    """Something to write to a log."""
    told = (type(error), error, None) if error else None
    return logging.LogRecord(name, logging.WARNING, "", 0, message, given, told)


def test_of_records_that_begin_alike_one_is_written_a_second_with_how_many_were_left_out():
    clock = Clock()
    limit = LogLimit(clock)
    assert [limit.filter(record("%s is away", "db")) for _ in range(1000)].count(True) == 1
    clock.now += 0.99 * PAUSE
    assert not limit.filter(record("%s is away", "db"))
    clock.now += 0.02 * PAUSE
    again = record("%s is away", "db")
    assert limit.filter(again)
    assert again.getMessage() == "db is away (1000 more like this)"
    clock.now += 2 * PAUSE
    last = record("%s is away", "db")
    assert limit.filter(last)
    assert last.getMessage() == "db is away"


def test_other_records_and_other_loggers_are_not_kept_back():
    limit = LogLimit(Clock())
    given = [record("a"), record("b"), record("a", name="b"), record(""), record("a")]
    assert list(map(limit.filter, given)) == [True, True, True, True, False]


def test_a_record_is_one_line_and_a_bug_keeps_its_traceback():
    limit = LogLimit(Clock())
    bug = record("Exception\nin many\nlines", error=ValueError("a bug"))
    full = record("socket.accept()\nsocket: 7", name="asyncio", error=OSError("no handles"))
    other = record("a bug\n", name="asyncio", error=ValueError("a bug"))
    assert all(map(limit.filter, [bug, full, other]))
    assert [one.getMessage() for one in (bug, full, other)] == [
        "Exception",
        "socket.accept()",
        "a bug",
    ]
    assert [bool(one.exc_info) for one in (bug, full, other)] == [True, False, True]


def test_few_beginnings_are_remembered():
    limit = LogLimit(Clock())
    assert all(limit.filter(record(f"{number} times")) for number in range(3 * MOST))
    assert len(limit._seen) <= MOST  # noqa: SLF001 - what it remembers


def test_loggers_are_limited_for_a_while(caplog):
    logger = logging.getLogger("possibal.some")
    with limited_logs("possibal.some"):
        for _ in range(50):
            logger.warning("it is away")
    logger.warning("it is away")
    assert caplog.messages == ["it is away"] * 2
