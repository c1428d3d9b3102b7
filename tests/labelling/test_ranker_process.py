import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from support.services import rows, truth, until

import possibal
from possibal.campaign.answer import Answer
from possibal.labelling import ranker_process
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.ranker_process import NICENESS, RankerProcess
from possibal.labelling.ranking import RankingTask
from possibal.numerics.distances import usual_distance

ELSEWHERE = os.environ.get("CI") != "true"
POSIX = pytest.mark.skipif(ELSEWHERE and os.name != "posix", reason="needs signals of POSIX")
X = rows(60)
TASK = RankingTask(tuple(Answer(row, truth(X)[row]) for row in range(8)), ("no", "yes"))
OTHER = """
import sys
import numpy as np
from possibal.labelling.ranking import RankingTask
from possibal.labelling.ranker_process import RankerProcess
if __name__ == "__main__":
    worker = RankerProcess(np.random.default_rng(0).normal(size=(30, 2)), "necessity", 0)
    worker.rank(RankingTask())
    print(worker.pid, flush=True)
    sys.stdin.read()
"""
"""A process that has a worker, and waits."""


class Fatal:
    """Our task, which kills the first few processes that receive it."""

    def __init__(self, folder, times):
        self.given = folder, times

    def __reduce__(self):
        return received, self.given


def received(folder, times):
    """The task, if enough processes died of it."""
    deaths = len(list(folder.iterdir()))
    if deaths < times:
        (folder / str(deaths)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return TASK


@pytest.fixture(scope="module", name="shared")
def _shared():
    """A worker that all tests may use, if they leave it alive."""
    with RankerProcess(X, "necessity", 0) as made:
        yield made


def is_gone(pid: int) -> bool:
    """Whether there is no such process, or only its remains."""
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "Z"
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return not Path("/proc").exists()
    return True


# ---------------------------------------------------------------- work
def test_it_ranks_as_a_ranker_here(shared):
    here = InProcessRanker(X, "necessity", 0)
    known, found = here.rank(TASK), shared.rank(TASK)
    np.testing.assert_array_equal(found.order, known.order)
    np.testing.assert_allclose(found.necessity, known.necessity, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.predicted, known.predicted)
    assert found.usual_distance == known.usual_distance == usual_distance(X)
    np.testing.assert_allclose(found.relevance, known.relevance)
    assert (found.classes, found.answers, found.is_cold) == (("no", "yes"), 8, False)
    assert found.advice.reason == known.advice.reason


def test_it_predicts_and_measures_as_a_ranker_here(shared):
    here, places = InProcessRanker(X, "necessity", 0), np.array([50, 9])
    assert shared.predict(TASK, places) == here.predict(TASK, places)
    check = tuple(Answer(row, truth(X)[row]) for row in range(38, 60))
    task = RankingTask(TASK.answers, TASK.classes, frozenset(range(38, 60)), check)
    assert shared.measure(task) == here.measure(task)
    assert shared.measure(TASK) is None


def test_an_error_comes_back_and_the_worker_goes_on(shared):
    pid = shared.pid
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^label must be one of .* got 'maybe'"):
            shared.rank(RankingTask((Answer(0, "maybe"),), ("no", "yes")))
    assert shared.rank(TASK).answers == 8
    assert shared.pid == pid


def test_several_may_ask_at_once(shared):
    tasks = [RankingTask(TASK.answers[:count], TASK.classes) for count in range(1, 9)]
    with ThreadPoolExecutor(4) as threads:
        assert [one.answers for one in threads.map(shared.rank, tasks)] == list(range(1, 9))


# ---------------------------------------------------------------- life and death
@POSIX
def test_it_gives_way_to_the_process_that_people_wait_for(shared):
    shared.rank(RankingTask())
    kind = os.getpriority(os.PRIO_PROCESS, shared.pid) - os.getpriority(os.PRIO_PROCESS, 0)
    assert kind == NICENESS


@POSIX
def test_a_worker_killed_while_idle_is_started_again(shared):
    pid, order = shared.pid, shared.rank(TASK).order
    os.kill(pid, signal.SIGKILL)
    until(lambda: is_gone(pid))
    np.testing.assert_array_equal(shared.rank(TASK).order, order)
    assert shared.pid != pid


@POSIX
def test_a_worker_that_dies_at_work_does_its_work_all_the_same(shared, tmp_path):
    shared.rank(TASK)  # so that there is a process
    pid = shared.pid
    assert shared.rank(Fatal(tmp_path, 1)).answers == 8
    assert shared.pid != pid
    assert is_gone(pid)


@pytest.mark.long
@POSIX
def test_a_worker_that_dies_of_its_work_says_so_and_can_be_used_again(shared, tmp_path):
    with pytest.raises(
        RuntimeError, match=r"^worker must live; got a process that ended 2 times at the same work"
    ):
        shared.rank(Fatal(tmp_path, 2))
    assert shared.rank(TASK).answers == 8


def test_a_closed_worker_is_not_started_again():
    made = RankerProcess(X, "necessity", 0)
    made.rank(TASK)
    pid = made.pid
    made.close()
    made.close()
    assert is_gone(pid)
    with pytest.raises(RuntimeError, match=r"^worker must be open; got one that was closed\."):
        made.rank(TASK)
    assert made.pid is None


def test_a_worker_starts_its_process_with_the_first_thing_to_do():
    with RankerProcess(X, "necessity", 0) as made:
        assert made.pid is None
        made.rank(TASK)
        assert not is_gone(made.pid)


@POSIX
def test_a_worker_ends_when_whoever_started_it_is_killed():
    here = {**os.environ, "PYTHONPATH": str(Path(possibal.__file__).parents[1])}
    with subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-c", OTHER],
        env=here,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        try:
            pid = int(other.stdout.readline())
            assert not is_gone(pid)
        finally:
            other.kill()
    until(lambda: is_gone(pid), 10)


def test_work_is_done_until_nobody_is_at_the_other_end_even_without_niceness(monkeypatch):
    monkeypatch.delattr(os, "nice", raising=False)  # as on systems that do not know it
    before = signal.getsignal(signal.SIGINT)
    here, there = Pipe()
    told = []

    def ask():
        here.send((X, "necessity", 0))
        for verb, arguments in [("rank", (TASK,)), ("rank", (None,)), ("predict", (TASK, [1]))]:
            here.send((verb, arguments))
            told.append(here.recv())
        here.close()

    asking = Thread(target=ask)
    asking.start()
    try:
        ranker_process._serve(there)  # noqa: SLF001 - what runs in the process
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
        there.close()
        asking.join()
    assert [is_fine for is_fine, _ in told] == [True, False, True]
    assert told[0][1].answers == 8
    assert isinstance(told[1][1], AttributeError)
    assert len(told[2][1]) == 1


# ---------------------------------------------------------------- hanging
def stop(made: RankerProcess) -> int:
    """Pause the worker, as a debugger or a system short of memory does; its number."""
    os.kill(made.pid, signal.SIGSTOP)
    return made.pid


@POSIX
@pytest.mark.parametrize(
    "size", [1, pytest.param(40_000, marks=pytest.mark.long)]
)  # the second is more than a pipe takes by itself
def test_a_worker_that_hangs_is_noticed_and_replaced(monkeypatch, size):
    task = RankingTask(TASK.answers, TASK.classes, frozenset(range(60, 60 + size)))
    with RankerProcess(X, "necessity", 0) as made:
        order = made.rank(TASK).order
        pid = stop(made)
        with monkeypatch.context() as hasty:
            hasty.setattr(ranker_process, "LEAST", 0.1)
            hasty.setattr(ranker_process, "TIMES", 0.0)
            with pytest.raises(RuntimeError, match=r"^worker must be done within 0 s; got none"):
                made.rank(task)
        assert is_gone(pid)
        np.testing.assert_array_equal(made.rank(TASK).order, order)
        assert made.pid != pid


@POSIX
def test_a_worker_that_hangs_ends_when_it_is_closed():
    made = RankerProcess(X, "necessity", 0)
    made.rank(TASK)
    pid, said = stop(made), []

    def work():
        with pytest.raises(RuntimeError, match=r"^worker must be open; got one that was closed"):
            made.rank(TASK)
        said.append("ended")

    working = Thread(target=work)
    working.start()
    until(made._lock.locked)  # noqa: SLF001 - it is at work
    made.close()
    working.join(60)
    assert said == ["ended"]
    assert is_gone(pid)


def test_the_time_for_work_grows_with_what_it_took_and_each_time_it_was_too_short():
    made = RankerProcess(X, "necessity", 0)
    assert made._deadline("rank") == ranker_process.LEAST  # noqa: SLF001 - a long time to wait
    made._longest["rank"] = 1000.0  # noqa: SLF001 - as above
    assert made._deadline("rank") == 1000.0 * ranker_process.TIMES  # noqa: SLF001 - as above
    made._late["rank"] = 2  # noqa: SLF001 - as above
    assert made._deadline("rank") == 1000.0 * ranker_process.TIMES**3  # noqa: SLF001 - as above
    assert made._deadline("measure") == ranker_process.LEAST  # noqa: SLF001 - as above
