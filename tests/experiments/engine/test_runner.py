import csv
import gc
import os
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import distributed
import numpy as np
import pytest
from support.tasks import prepared
from system.kills import kill

from possibal.acquisition.registry import STRATEGIES
from possibal.errors import MissingPackageError, StrategyError
from possibal.experiments.datasets import load
from possibal.experiments.engine import runner
from possibal.experiments.engine.results_file import header, peek
from possibal.experiments.engine.runner import (
    ExperimentJob,
    RunProgress,
    StartedJob,
    begin,
    cluster,
    cores,
    run,
)
from possibal.experiments.engine.simulation import simulate
from possibal.experiments.spec import EVIDENCE, HELD_OUT, PAPER, Experiment, Sizes
from possibal.pool import dask_backend

WINE, IRIS = load("wine"), load("iris")
FEW = replace(WINE, name="few", X=WINE.X[40:90], y=WINE.y[40:90])
FLOWERS = replace(IRIS, name="flowers", X=IRIS.X[::3], y=IRIS.y[::3])
TWO = Experiment("few", PAPER, PAPER, Sizes(4, 3, 20, 10))
THREE = Experiment("flowers", HELD_OUT, EVIDENCE, Sizes(2, 2, 15, 20))
OURS = {name: STRATEGIES[name] for name in ("random", "necessity")}
JOBS = [ExperimentJob(TWO, FEW, OURS), ExperimentJob(THREE, FLOWERS, OURS)]
ANY_PORT = "127.0.0.1:0"
NAMES = ["few-paper-paper.csv", "flowers-held-out-evidence.csv"]


def unwatched(_progress: RunProgress) -> None:
    """Nobody looks."""


def done(jobs, place: Path, execute):
    """Experiments from beginning to end."""
    return run(begin(jobs, place, execute), execute, unwatched)


def results_files(place: Path) -> dict[str, bytes]:
    """What a folder holds."""
    return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


@pytest.fixture(scope="module", autouse=True)
def _without_commits():
    """Rows name no commit, which may change while tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_DIR", os.devnull)
        yield


@pytest.fixture(autouse=True)
def _in_small_batches(monkeypatch):
    """Batches of three runs, so that small experiments have several."""
    monkeypatch.setattr(runner, "TOGETHER", 3)
    monkeypatch.setattr(runner, "APART", 3)
    monkeypatch.setattr(runner, "SUBMITTED_AHEAD", 1)


@pytest.fixture(name="unreached")
def _unreached():
    """Clients that reached nobody are collected here, not in the thread of the next one."""
    yield
    gc.collect()


@pytest.fixture(scope="module", name="alone")
def _alone(tmp_path_factory):
    """Results and results_files of one process that nobody interrupted."""
    place = tmp_path_factory.mktemp("alone")
    with cores(1) as execute:
        results = done(JOBS, place, execute)
    return results, results_files(place)


def assert_same(results, alone) -> None:
    """Both experiments have the same results to the last bit."""
    assert len(results) == len(alone)
    for one, other in zip(results, alone, strict=True):
        assert one.experiment == other.experiment
        assert list(one.accuracy) == list(other.accuracy)
        for name, lines in other.accuracy.items():
            assert np.array_equal(one.accuracy[name], lines)


# ---------------------------------------------------------------- results
@pytest.mark.parametrize("which", [0, 1])
def test_results_are_those_of_every_run_by_itself(which, alone):
    one, result = JOBS[which], alone[0][which]
    task = prepared(one.experiment, one.data, one.strategies)
    assert result.start == len(one.data.labels)
    assert list(result.accuracy) == list(OURS)
    for name, lines in result.accuracy.items():
        assert lines.shape == (one.experiment.sizes.runs, one.experiment.sizes.queries + 1)
        for number, line in enumerate(lines):
            (one_run,) = simulate(task, [(name, number)])
            assert np.array_equal(one_run.accuracy, line)


def test_runs_are_paired_for_all_strategies_start_alike(alone):
    for result in alone[0]:
        starts = [lines[:, 0] for lines in result.accuracy.values()]
        assert np.array_equal(starts[0], starts[1])
        assert len({tuple(line) for line in starts[0][:, None]}) > 1


def test_results_files_have_a_line_for_every_answer_run_by_run(alone):
    for one, (name, content) in zip(JOBS, alone[1].items(), strict=True):
        rows = list(csv.reader(content.decode().splitlines()[2:]))
        sizes = one.experiment.sizes
        runs = [(row[3], int(row[4])) for row in rows if row[5] == "0"]
        assert name == one.file
        assert runs == [(strategy, run) for run in range(sizes.runs) for strategy in OURS]
        assert len(rows) == len(runs) * (sizes.queries + 1)


# ---------------------------------------------------------------- who works
def test_three_workers_write_the_bytes_of_one(alone, tmp_path):
    with cores(3) as execute:
        assert_same(done(JOBS, tmp_path, execute), alone[0])
    assert results_files(tmp_path) == alone[1]


def test_as_many_workers_as_cores_give_back_in_order():
    with cores() as execute:
        assert list(execute(pow, [(2, n) for n in range(20)])) == [2**n for n in range(20)]
        assert list(execute(pow, [])) == []


def test_a_cluster_of_this_machine_writes_the_bytes_of_one(alone, tmp_path):
    with cluster("local", 2) as execute:
        assert_same(done(JOBS, tmp_path, execute), alone[0])
    assert results_files(tmp_path) == alone[1]


def test_a_cluster_elsewhere_writes_the_bytes_of_one(alone, tmp_path):
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=ANY_PORT
        ) as there,
        cluster(there.scheduler_address) as execute,
    ):
        assert_same(done(JOBS, tmp_path, execute), alone[0])
    assert results_files(tmp_path) == alone[1]


@pytest.mark.usefixtures("unreached")
def test_an_address_where_nobody_listens_is_refused_in_time():
    begun = perf_counter()
    with (
        pytest.raises(
            ValueError,
            match=r"^dask must be the address of a scheduler with workers; "
            r"got 'tcp://127\.0\.0\.1:9' \(.+\)\. Start them with: dask scheduler, dask worker\.$",
        ),
        cluster("tcp://127.0.0.1:9"),
    ):
        pass
    assert perf_counter() - begun < 20


@pytest.mark.usefixtures("unreached")
def test_an_address_without_a_port_is_refused_before_a_client_is_made(monkeypatch):
    monkeypatch.setattr(distributed, "Client", None)
    with (
        pytest.raises(ValueError, match=r"^dask must be .*; got 'nowhere' \(missing port number"),
        cluster("nowhere"),
    ):
        pass


@pytest.mark.usefixtures("unreached")
def test_a_scheduler_without_workers_is_refused_in_time(monkeypatch):
    monkeypatch.setattr(dask_backend, "PATIENCE", 1)
    begun = perf_counter()
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=ANY_PORT) as there,
        pytest.raises(ValueError, match=r"^dask must be .* with workers; .*0/1.*dask worker\.$"),
        cluster(there.scheduler_address),
    ):
        pass
    assert perf_counter() - begun < 10


def test_two_clusters_of_this_machine_work_side_by_side():
    with cluster("local", 1) as one, cluster("local", 1) as other:
        assert list(one(pow, [(2, 3)])) == list(other(pow, [(2, 3)])) == [8]


@pytest.mark.parametrize("address", ["here", "tcp://a:b", "pigeon://a:1", "tls://127.0.0.1:9"])
@pytest.mark.usefixtures("unreached")
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(ValueError, match=f"^dask must be .*; got '{address}' "), cluster(address):
        pass


def test_without_dask_there_is_no_cluster(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(MissingPackageError, match=r"pip install 'possibal\[dask\]'\.$"),
        cluster("local"),
    ):
        pass


# ---------------------------------------------------------------- taken up
def test_more_runs_are_added_to_those_there_are(alone, tmp_path):
    with cores(1) as execute:
        done(
            [replace(one, experiment=one.experiment.with_runs(1)) for one in JOBS],
            tmp_path,
            execute,
        )
        before = results_files(tmp_path)
        assert_same(done(JOBS, tmp_path, execute), alone[0])
    for name, content in results_files(tmp_path).items():
        assert content.startswith(before[name])
        assert content == alone[1][name]


def test_fewer_runs_than_there_are_leave_the_results_file_alone(alone, tmp_path):
    for name, content in alone[1].items():
        (tmp_path / name).write_bytes(content)
    with cores(1) as execute:
        few = replace(JOBS[0], experiment=TWO.with_runs(2))
        (result,) = done([few], tmp_path, execute)
    assert np.array_equal(result.accuracy["random"], alone[0][0].accuracy["random"][:2])
    assert results_files(tmp_path) == alone[1]


@pytest.mark.parametrize("last", [1, 2, 3])
def test_an_interrupted_run_goes_on_and_ends_with_the_same_bytes(last, alone, tmp_path):
    told = []

    def stop(progress: RunProgress) -> None:
        told.append(progress)
        if len(told) == len(JOBS) + last:
            raise KeyboardInterrupt

    with cores(1) as execute:
        begun = begin(JOBS, tmp_path, execute)
        with pytest.raises(KeyboardInterrupt):
            run(begun, execute, stop)
        missing = [len(one.missing) for one in begin(JOBS, tmp_path, execute)]
        assert missing == [8 - min(3 * last, 8), 4]
        assert_same(done(JOBS, tmp_path, execute), alone[0])
    assert results_files(tmp_path) == alone[1]


def test_a_watcher_is_told_of_what_was_there_and_of_every_batch(alone, tmp_path):
    (tmp_path / NAMES[1]).write_bytes(alone[1][NAMES[1]])
    told = []
    with cores(1) as execute:
        run(begin(JOBS, tmp_path, execute), execute, told.append)
    assert [(one.experiment.dataset, one.runs) for one in told] == [
        ("few", 0),
        ("flowers", 4),
        *[("few", 3), ("few", 3), ("few", 2)],
    ]
    assert [one.seconds > 0 for one in told] == [False, False, True, True, True]


def test_hyperparameters_of_a_results_file_are_taken_from_it(alone, tmp_path):
    content = alone[1][NAMES[0]]
    found = header(JOBS[0].provenance, None)
    (tmp_path / NAMES[0]).write_bytes(content)
    kept = (peek(tmp_path / NAMES[0]) or {})["log_amplitude_and_length_scale"]
    (tmp_path / NAMES[0]).write_bytes(content.replace(str(kept).encode(), b"[1.5, 0.25]"))
    with cores(1) as execute:
        first, second = begin(JOBS, tmp_path, execute)
    assert first.task.theta == (1.5, 0.25)
    assert second.task.theta is None
    assert found["log_amplitude_and_length_scale"] is None


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="needs process groups, and joblib's leavings")
def test_a_run_killed_at_random_ends_with_the_bytes_of_one_left_alone(tmp_path):
    work = ("table1", "--datasets", "wine", "--runs", "11", "--jobs", "2")
    told = list(kill(tmp_path, 1, work))
    assert sum(line.startswith("kill") for line in told) == 1
    assert told[-1].startswith("finished: the same ")


# ---------------------------------------------------------------- refused
@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        (Sizes(2, 3, 51, 10), "pool must be at most 50, the rows of few; got 51."),
        (Sizes(2, 3, 4, 10), "pool must have room for 2 labels to start with and 3 questions"),
        (Sizes(2, 3, 50, 10), "pool must leave rows of few to test on; got 50 of 50."),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_written(sizes, words, tmp_path):
    bad = ExperimentJob(replace(TWO, protocol=HELD_OUT, sizes=sizes), FEW, OURS)
    with pytest.raises(ValueError, match=f"^{words}"), cores(1) as execute:
        begin([*JOBS, bad], tmp_path, execute)
    assert results_files(tmp_path) == {}


def test_a_results_file_of_another_seed_is_refused(alone, tmp_path):
    (tmp_path / NAMES[0]).write_bytes(alone[1][NAMES[0]])
    other = replace(JOBS[0], experiment=replace(TWO, seed=1))
    with pytest.raises(ValueError, match="with seed 0, now 1"), cores(1) as execute:
        begin([other], tmp_path, execute)
    assert results_files(tmp_path) == {NAMES[0]: alone[1][NAMES[0]]}


def broken(view):
    """A strategy that fails once few rows are left."""
    if len(view.candidates) < 17:
        raise LookupError("too few")
    return np.arange(len(view.candidates))


def test_a_strategy_that_fails_is_named_and_what_was_done_before_is_kept(tmp_path):
    own = ExperimentJob(TWO, FEW, {"mine:broken": broken}, "its source")
    with cores(1) as execute:
        begun = begin([JOBS[0], own], tmp_path, execute)
        with pytest.raises(StrategyError, match=r"^strategy mine:broken must .*too few \(test_run"):
            run(begun, execute, unwatched)
        again = begin([JOBS[0], own], tmp_path, execute)
    assert [len(one.missing) for one in again] == [0, 4]


# ---------------------------------------------------------------- values
def test_an_own_strategy_has_a_results_file_of_its_own():
    own = ExperimentJob(TWO, FEW, {"my.module:best_of": broken}, "its source")
    assert own.file == "few-paper-paper-my-module-best_of.csv"
    assert header(own.provenance, None)["strategy"]
    assert JOBS[0].file == NAMES[0]


def test_batches_are_larger_where_hyperparameters_are_fixed(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "TOGETHER", 5)
    with cores(1) as execute:
        begun: list[StartedJob] = begin(JOBS, tmp_path, execute)
    assert [one.job.leaks for one in begun] == [True, False]
    assert [[len(names) for names in one.batches()] for one in begun] == [[5, 3], [3, 1]]
