import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from possibal.errors import UnsavedError
from possibal.labelling.storage import database, write_queue
from possibal.labelling.storage.write_queue import WriteQueue

pytest_plugins = ["support.postgres"]
CLOSED = r"^the writer must be open; got one that was closed\. Open the store\.$"


@pytest.fixture(name="sqlite")
def _sqlite(tmp_path):
    """An engine that writes to an empty file."""
    made = database.engine(database.address(str(tmp_path / "a.db")), writes=True)
    event.listen(made, "connect", lambda raw, _record: raw.execute("PRAGMA foreign_keys = ON"))
    yield filled(made)
    made.dispose()


@pytest.fixture(name="server")
def _server(postgresql):
    """An engine that writes to an empty database of a server."""
    made = database.engine(database.address(postgresql), writes=True)
    yield filled(made)
    made.dispose()


@pytest.fixture(name="engine", params=["sqlite", "server"])
def _engine(request):
    """Each engine in turn."""
    return request.getfixturevalue(request.param)


def filled(engine: Engine) -> Engine:
    """An engine with a table of words, and one whose words must be in it by the commit."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE words (word TEXT PRIMARY KEY)"))
        connection.execute(
            text(
                "CREATE TABLE uses (word TEXT REFERENCES words (word) "
                "DEFERRABLE INITIALLY DEFERRED)"
            )
        )
    return engine


def words(engine: Engine) -> list[str]:
    """What is in the table, as anybody else would read it."""
    with engine.connect() as connection:
        return sorted(connection.execute(text("SELECT word FROM words")).scalars())


def adding(word: str, table: str = "words"):
    """A job that adds a word and returns it."""

    def job(connection):
        connection.execute(text(f"INSERT INTO {table} VALUES (:word)"), {"word": word})  # noqa: S608 - ours
        return word

    return job


def together(writer, jobs):
    """How jobs went that were written in one batch, in this order."""
    running, go_on = Event(), Event()

    def gate(_connection):
        running.set()
        assert go_on.wait(60)

    with ThreadPoolExecutor(len(jobs) + 1) as threads:
        first = threads.submit(writer.run, gate)
        assert running.wait(60)
        futures = []
        for number, job in enumerate(jobs, 1):
            futures.append(threads.submit(writer.run, job))
            while writer._queue.qsize() < number:  # noqa: SLF001 - nothing else says that it waits
                time.sleep(0.001)
        go_on.set()
        first.result()
        return [future.exception() or future.result() for future in futures]


# ---------------------------------------------------------------- what is told
def test_a_job_returns_its_result_once_anybody_can_read_it(engine):
    work = WriteQueue(engine)
    for word in ("a", "b"):
        assert work.run(adding(word)) == word
        assert word in words(engine)
    work.close()


def test_a_result_is_told_only_after_the_commit(engine):
    told, seen = [], []
    event.listen(engine, "commit", lambda _connection: seen.append(list(told)))
    work = WriteQueue(engine)
    told.append(work.run(adding("a")))
    told.append(work.run(adding("b")))
    work.close()
    assert seen == [[], ["a"]]


def test_jobs_that_wait_share_a_commit(engine):
    commits = []
    work = WriteQueue(engine)
    event.listen(engine, "commit", commits.append)
    expected = [f"w{i:02d}" for i in range(20)]
    assert together(work, [adding(word) for word in expected]) == expected
    work.close()
    assert len(commits) == 2  # that of the job which made them wait, and theirs
    assert words(engine) == expected


def test_no_batch_grows_without_end(engine, monkeypatch):
    commits = []
    monkeypatch.setattr(write_queue, "MAX_GROUP", 4)
    work = WriteQueue(engine)
    event.listen(engine, "commit", commits.append)
    together(work, [adding(str(i)) for i in range(10)])
    work.close()
    assert len(commits) == 1 + 3


# ---------------------------------------------------------------- what fails
def test_a_job_that_fails_takes_nothing_back_from_the_others(engine):
    def breaks(connection):
        adding("half")(connection)
        raise KeyError("mine")

    work = WriteQueue(engine)
    first, own, twice, last = together(work, [adding("a"), breaks, adding("a"), adding("b")])
    work.close()
    assert (first, last) == ("a", "b")
    assert isinstance(own, KeyError)
    assert isinstance(twice, IntegrityError)
    assert words(engine) == ["a", "b"]


def test_where_the_commit_fails_all_fail_and_nothing_is_written(engine):
    work = WriteQueue(engine)
    outcomes = together(work, [adding("a"), adding("nowhere", "uses"), adding("b")])
    assert [type(outcome) for outcome in outcomes] == [IntegrityError] * 3
    assert words(engine) == []
    assert work.run(adding("c")) == "c"
    work.close()
    assert words(engine) == ["c"]


def test_whoever_waits_hears_of_a_job_that_wants_to_end_everything(engine):
    def ends(_connection):
        raise SystemExit

    work = WriteQueue(engine)
    outcomes = together(work, [adding("a"), ends])
    assert [type(outcome) for outcome in outcomes] == [SystemExit] * 2
    assert work.run(adding("b")) == "b"
    work.close()
    assert words(engine) == ["b"]


@pytest.mark.parametrize("swallows", [False, True])
def test_nobody_is_told_done_where_the_database_took_all_back(sqlite, swallows):
    def breaks(connection):
        try:
            connection.execute(text("INSERT OR ROLLBACK INTO words VALUES ('a')"))
        except IntegrityError:
            if not swallows:
                raise

    work = WriteQueue(sqlite)
    outcomes = together(work, [adding("a"), breaks, adding("b")])
    assert all(isinstance(outcome, DBAPIError) for outcome in outcomes)
    assert words(sqlite) == []
    assert work.run(adding("c")) == "c"
    work.close()
    assert words(sqlite) == ["c"]


@pytest.mark.parametrize("after", [[], ["b"]])
def test_nobody_is_told_done_where_the_connection_was_lost(server, after):
    def lost(connection):
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    work = WriteQueue(server)
    outcomes = together(work, [adding("a"), lost, *map(adding, after)])
    assert all(isinstance(outcome, Exception) for outcome in outcomes)
    assert words(server) == []
    assert work.run(adding("c")) == "c"
    work.close()
    assert words(server) == ["c"]


# ---------------------------------------------------------------- many at once
def test_where_too_many_wait_others_are_refused_at_once(engine, monkeypatch):
    monkeypatch.setattr(write_queue, "MAX_WAITING", 3)
    work, running, go_on = WriteQueue(engine), Event(), Event()

    def gate(_connection):
        running.set()
        assert go_on.wait(60)

    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(work.run, gate)
        assert running.wait(60)
        others = [threads.submit(work.run, adding(word)) for word in "ab"]
        while work._waiting < 3:  # noqa: SLF001 - nothing else says that they wait
            time.sleep(0.001)
        with pytest.raises(
            UnsavedError, match=r"^db must take what is written; got 3 others that wait for it\. "
        ):
            work.run(adding("c"))
        go_on.set()
        assert [first.result(), *(other.result() for other in others)] == [None, "a", "b"]
    assert work.run(adding("d")) == "d"
    work.close()
    assert words(engine) == ["a", "b", "d"]


def test_many_threads_write_all_of_theirs_and_get_their_own_result(engine):
    work = WriteQueue(engine)
    expected = [f"{i:04d}" for i in range(400)]
    with ThreadPoolExecutor(32) as threads:
        assert list(threads.map(lambda word: work.run(adding(word)), expected)) == expected
    work.close()
    assert words(engine) == expected


# ---------------------------------------------------------------- the end
def test_closing_writes_what_waits(engine):
    work, running, go_on = WriteQueue(engine), Event(), Event()

    def slow(connection):
        running.set()
        assert go_on.wait(60)
        return adding("slow")(connection)

    with ThreadPoolExecutor(9) as threads:
        first = threads.submit(work.run, slow)
        assert running.wait(60)
        waiting = [threads.submit(work.run, adding(str(i))) for i in range(8)]
        while work._queue.qsize() < 8:  # noqa: SLF001 - nothing else says that they wait
            time.sleep(0.001)
        closing = Thread(target=work.close)
        closing.start()
        go_on.set()
        closing.join(60)
        assert first.result() == "slow"
        assert [future.result() for future in waiting] == [str(i) for i in range(8)]
    assert words(engine) == [*map(str, range(8)), "slow"]


def test_nothing_runs_after_the_end(engine):
    work = WriteQueue(engine)
    work.close()
    work.close()
    with pytest.raises(RuntimeError, match=CLOSED):
        work.run(adding("a"))
    assert words(engine) == []


def test_whoever_comes_while_it_closes_is_refused_or_written_but_never_left_waiting(
    sqlite, monkeypatch
):
    work = WriteQueue(sqlite)

    class Waiting(write_queue.QueuedJob):
        """A job about to join the queue, just as somebody closes the writer."""

        def __init__(self, *given):
            closing.start()
            closing.join(0.3)
            super().__init__(*given)

    closing = Thread(target=work.close)
    monkeypatch.setattr(write_queue, "QueuedJob", Waiting)
    told = []
    coming = Thread(target=lambda: told.append(work.run(adding("a"))), daemon=True)
    coming.start()
    coming.join(20)
    assert told == ["a"]
    closing.join(20)
    assert words(sqlite) == ["a"]
