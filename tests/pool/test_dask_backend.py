"""A cluster finds the rows that one machine finds, whatever becomes of its workers."""

import functools
import gc
import os
import pickle
import signal
import subprocess
import sys
import time
from logging import CRITICAL

import dask
import dask.array as da
import distributed
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from support.pools import answered, begun
from support.services import until

from possibal.acquisition.pointwise import doubt
from possibal.acquisition.scoring import one_per_latent, score
from possibal.errors import MissingPackageError
from possibal.estimators.classifier import PossibilisticGPClassifier, fitted_posterior
from possibal.pool import dask_backend, ranking, sampling
from possibal.pool.pruning import PrunedScorer, TopKQuery
from possibal.pool.ranking import row_format
from possibal.pool.reader import row_source
from possibal.pool.sampling import HashedSampler
from possibal.pool.top_k import TopK

ANY_PORT = "127.0.0.1:0"
LOCAL = functools.partial(
    distributed.LocalCluster, threads_per_worker=1, dashboard_address=ANY_PORT
)


@functools.cache
def model(*, named=False):
    X = np.random.default_rng(1).normal(size=(20, 3))
    known = pd.DataFrame(X, columns=list("abc")) if named else X
    kernel = ConstantKernel(2.0) * RBF(1.0)
    return PossibilisticGPClassifier(kernel, hyperparameters="fixed").fit(known, X[:, 0] > 0)


def unlabelled(m=600, seed=0):
    """A pool with rows alike."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    X[rng.random(m) < 0.2] = X[0]
    return X


def rank(known, X, strategy="necessity", **options):
    return ranking.rank(known, X, strategy, **options)


def assert_same(found, alone):
    assert found.places.tolist() == alone.places.tolist()
    assert found.ids == alone.ids
    assert found.utilities.tolist() == alone.utilities.tolist()
    assert found.rows == alone.rows


def task(scorer=None):
    """What workers are to do: the five rows in most doubt, or what another scorer wants."""
    found = PrunedScorer.of(fitted_posterior(model()), doubt) if scorer is None else scorer
    query = TopKQuery(found, 5)
    return dask_backend.WorkerTask(query, np.empty(0, dtype=np.intp), row_format(model(), None))


@pytest.fixture(scope="module")
def client():
    with (
        LOCAL(n_workers=2, processes=True, silence_logs=CRITICAL) as there,
        distributed.Client(there, set_as_default=False) as one,
    ):
        yield one


@pytest.fixture
def small_parts(monkeypatch):
    """What is sent along has 50 rows."""
    monkeypatch.setattr(dask_backend, "SENT", 50 * 3 * 8)


@pytest.fixture
def small_files(monkeypatch):
    """Parts of files have 50 rows."""
    monkeypatch.setattr(dask_backend, "CHUNK", 50)


def parquet(folder, X):
    """A folder of three files, rows named, columns in another order and one more."""
    for number, piece in enumerate(np.array_split(np.arange(len(X)), 3)):
        columns = dict(zip("abc", X[piece].T, strict=True))
        frame = pl.DataFrame({"c": columns["c"], "name": [f"r{at}" for at in piece], **columns})
        frame.with_columns(more=pl.lit("x")).write_parquet(folder / f"{number}.parquet")
    return folder


# ---------------------------------------------------------------- the same as one machine
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("strategy", "top", "seed"), [("necessity", 1, 0), ("uncertainty", 20, 1), ("margin", 100, 2)]
)
@pytest.mark.parametrize("aside", [(), range(0, 300, 3)], ids=["all", "some"])
@pytest.mark.works_with("Dask", "a pool ranked on a cluster, as on one machine", "distributed")
def test_an_array_is_ranked_as_on_one_machine(client, strategy, top, seed, aside):
    X = unlabelled(400, seed)
    options = {"top": top, "aside": aside}
    found = rank(model(), X, strategy, client=client, **options)
    assert_same(found, rank(model(), X, strategy, **options))
    assert 0 < found.judged <= found.rows == 400 - len(aside)


@pytest.mark.usefixtures("small_files")
def test_files_are_read_by_the_workers(client, tmp_path):
    X = unlabelled()
    np.save(tmp_path / "pool.npy", X)
    alone = rank(model(), X, top=7)
    assert_same(rank(model(), tmp_path / "pool.npy", top=7, client=client), alone)
    mapped = np.load(tmp_path / "pool.npy", mmap_mode="r")
    assert_same(rank(model(), mapped, top=7, client=client), alone)


@pytest.mark.usefixtures("small_files")
@pytest.mark.works_with("Dask", "a folder of Parquet files ranked by the workers", "distributed")
def test_a_folder_of_parquet_files_is_ranked_as_on_one_machine(client, tmp_path):
    folder = parquet(tmp_path, unlabelled())
    options = {"top": 9, "id": "name", "aside": [0, 5, 400]}
    alone = rank(model(named=True), folder, **options)
    address = client.scheduler.address
    assert_same(rank(model(named=True), folder, client=address, **options), alone)
    assert alone.ids == tuple(f"r{place}" for place in alone.places)


@pytest.mark.parametrize("aside", [(), (0, 3, 333)], ids=["all", "some"])
def test_a_dask_array_is_ranked_as_it_would_be_in_memory(client, aside):
    X, options = unlabelled(), {"top": 9, "aside": aside}
    alone, known = rank(model(), X, **options), da.from_array(X, chunks=(150, 2))
    unknown = da.concatenate([known[known[:, 0] > 99], known[known[:, 0] > -99]])
    told = []
    for lazy in (known, unknown):
        found = rank(
            model(), lazy, client=client, progress=lambda *one: told.append(one), **options
        )
        assert_same(found, alone)
    size = None if not aside else 600
    assert told[:4] == [(150, 600), (300, 600), (450, 600), (600, 600)]
    assert told[-1] == (600, size)


def test_blocks_without_a_client_are_worked_out_here_one_by_one():
    X = unlabelled()
    assert_same(rank(model(), da.from_array(X, chunks=(250, 2)), top=9), rank(model(), X, top=9))


def test_blocks_go_to_the_client_that_dask_uses(client):
    lazy, told = da.from_array(unlabelled(), chunks=(300, 3)), []
    with client.as_current():
        found = rank(model(), lazy, top=9, progress=lambda *one: told.append(one))
    assert_same(found, rank(model(), unlabelled(), top=9))
    assert told == [(300, 600), (600, 600)]  # here, their number would not be known


def test_a_dask_frame_is_ranked_as_one_of_pandas(client):
    pytest.importorskip("pyarrow")  # Dask's data frames need it
    frames = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(unlabelled(), columns=list("cab"))
    frame["name"], frame["more"] = [f"r{at}" for at in range(len(frame))], "x"
    lazy = frames.from_pandas(frame, npartitions=4)
    for options in ({"id": "name"}, {"id": "name", "aside": (1, 599)}, {}):
        alone = rank(model(named=True), frame, top=9, **options)
        for there in (client, None):
            assert_same(rank(model(named=True), lazy, top=9, client=there, **options), alone)
    with pytest.raises(ValueError, match=r"^X must have one column 'a'; got none\. Did you mean"):
        rank(model(named=True), lazy.rename(columns={"a": "aa"}), client=client)
    with pytest.raises(ValueError, match=r"^X must have as many columns as the model was fitted"):
        rank(model(), lazy, client=client)


class Frame:
    """As much of a Dask data frame as is asked for, over blocks of pandas."""

    def __init__(self, blocks):
        self.blocks, self.columns = blocks, blocks[0].columns

    def __dask_graph__(self):
        return {"a": 1}

    def __getitem__(self, names):
        return Frame([block[names] for block in self.blocks])

    def to_delayed(self):
        return [dask.delayed(block) for block in self.blocks]


def test_a_frame_of_blocks_is_read_by_name(client):
    frame = pd.DataFrame(unlabelled(), columns=list("cab")).assign(more="x")
    lazy = Frame([frame[:0], frame[:250], frame[250:]])
    alone = rank(model(named=True), frame, top=9)
    assert_same(rank(model(named=True), lazy, top=9, client=client), alone)
    lost = Frame([frame.drop(columns="a")])
    with pytest.raises(ValueError, match=r"^X must have one column 'a'; got none\. "):
        rank(model(named=True), lost, client=client)


# ---------------------------------------------------------------- rows looked at together
@pytest.fixture
def few_weighed(monkeypatch):
    """A hundred rows are looked at together, of two hundred that are drawn."""
    monkeypatch.setattr(sampling, "JOINT_CANDIDATES", 100)
    monkeypatch.setattr(sampling, "SAMPLE_SIZE", 200)
    monkeypatch.setattr(sampling, "COVERED", 100)


def asked(campaign, X, client, **options):
    """What a cluster makes of a pool, which is what one machine makes of it and a campaign asks."""
    options = {"aside": answered(campaign), "seed": campaign.seed, **options}
    found = rank(campaign.classifier, X, campaign.strategy, client=client, **options)
    options.pop("id", None)
    alone = rank(campaign.classifier, campaign.pool.X, campaign.strategy, **options)
    assert found.places.tolist() == alone.places.tolist()
    assert found.utilities.tolist() == alone.utilities.tolist()
    assert found.rows == alone.rows
    return (found.places[0],) == campaign.ask()


each_wide = pytest.mark.parametrize("strategy", ["herding", "random"])


@pytest.mark.usefixtures("small_parts", "small_files", "few_weighed")
@pytest.mark.parametrize(
    ("strategy", "m"), [("herding", 80), ("herding", 600), ("look_ahead", 600), ("random", 600)]
)
def test_the_row_that_a_campaign_asks_about_is_found(client, strategy, m, tmp_path):
    campaign = begun(unlabelled(m), strategy, 4)
    X = np.array(campaign.pool.X)
    np.save(tmp_path / "pool.npy", X)
    assert asked(campaign, X, client)
    assert asked(campaign, tmp_path / "pool.npy", client)
    assert asked(campaign, np.load(tmp_path / "pool.npy", mmap_mode="r"), client)
    assert asked(campaign, (X[start : start + 70] for start in range(0, m, 70)), client)


@each_wide
@pytest.mark.usefixtures("few_weighed")
def test_so_it_is_in_blocks_of_dask(client, strategy):
    campaign = begun(unlabelled(), strategy, 4)
    known = da.from_array(np.array(campaign.pool.X), chunks=(150, 2))
    unknown = da.concatenate([known[known[:, 0] > 99], known[known[:, 0] > -99]])
    for lazy in (known, unknown):
        for there in (client, None):
            assert asked(campaign, lazy, there)
    fresh = rank(campaign.classifier, unknown, strategy, client=client)  # nothing put aside
    assert_same(fresh, rank(campaign.classifier, campaign.pool.X, strategy))


@each_wide
@pytest.mark.usefixtures("small_files", "few_weighed")
def test_so_it_is_in_files_and_frames(client, strategy, tmp_path):
    frame = pd.DataFrame(unlabelled(), columns=list("abc"))
    campaign = begun(frame, strategy, 4)
    folder = parquet(tmp_path, unlabelled())
    assert asked(campaign, folder, client)
    assert asked(campaign, Frame([frame[:0], frame[:250], frame[250:]]), client)
    named = rank(campaign.classifier, folder, strategy, id="name", client=client)
    assert named.ids == tuple(f"r{place}" for place in named.places)


@each_wide
@pytest.mark.usefixtures("few_weighed")
def test_so_it_is_in_a_frame_of_dask(client, strategy):
    pytest.importorskip("pyarrow")  # Dask's data frames need it
    frames = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(unlabelled(), columns=list("abc"))
    campaign = begun(frame, strategy, 4)
    frame["name"] = [f"r{at}" for at in range(len(frame))]
    lazy = frames.from_pandas(frame, npartitions=4)
    for there in (client, None):
        assert asked(campaign, lazy, there, id="name")
    named = rank(campaign.classifier, lazy, strategy, client=client, id="name")
    assert named.ids == tuple(f"r{place}" for place in named.places)


# ---------------------------------------------------------------- what is sent
def test_tasks_on_files_are_small(tmp_path):
    np.save(tmp_path / "pool.npy", unlabelled())
    for path in (tmp_path / "pool.npy", parquet(tmp_path, unlabelled())):
        for part in row_source(
            path, row_format(model(), None) if path.suffix else NAMED, chunk=50
        ).parts():
            assert len(pickle.dumps((dask_backend.of_part, part))) < 2000


NAMED = row_format(model(named=True), "name")


@pytest.mark.usefixtures("small_parts")
def test_the_task_is_sent_once_and_few_rows_come_back(client, monkeypatch):
    sent, found = [], []
    submit, offer = client.submit, TopK.offer

    def counted(function, *given, **how):
        sent.append((function, len(pickle.dumps(given[1:] or given))))
        return submit(function, *given, **how)

    def seen(top_k, some):
        found.append(len(some))
        offer(top_k, some)

    monkeypatch.setattr(client, "submit", counted)
    monkeypatch.setattr(TopK, "offer", seen)
    X = np.random.default_rng(0).normal(size=(600, 3))
    rank(model(), X, "necessity", top=5, client=client)
    assert [function.__name__ for function, _ in sent] == ["copy", *["of_part"] * 12]
    assert max(size for _, size in sent[1:]) < 50 * 3 * 8 + 2000 < sent[0][1]
    assert max(found) <= 5


@pytest.mark.parametrize("scorer", [None, HashedSampler(0, 20)], ids=["doubt", "lot"])
def test_a_worker_keeps_its_bar_for_the_next_part(scorer):
    X, work = np.random.default_rng(0).normal(size=(5000, 3)), task(scorer)
    (part,) = row_source(X, work.expected).parts()
    first, again = dask_backend.of_part(work, part), dask_backend.of_part(work, part)
    assert work.aim.bar > -np.inf
    assert first.best[0].places.tolist() == again.best[0].places.tolist()
    assert again.done[1] < first.done[1] or scorer is not None


@pytest.mark.parametrize("scorer", [None, HashedSampler(0, 20)], ids=["doubt", "lot"])
def test_a_worker_is_told_the_bar_of_what_others_read(scorer):
    X = np.random.default_rng(0).normal(size=(5000, 3))
    (part,) = row_source(X, task().expected).parts()
    (alone,) = dask_backend.of_part(task(scorer), part).best
    bar = float(np.sort(alone.utilities)[-2])
    (above,) = dask_backend.of_part(task(scorer), part, bar).best
    assert len(above) < len(alone)
    assert above.utilities.min() >= bar
    assert set(alone.places[alone.utilities >= bar]) == set(above.places)
    late = task(scorer)
    late.aim.bar = bar
    assert dask_backend.of_part(late, part, 0.0).best[0].places.tolist() == above.places.tolist()


def test_places_of_a_block_are_counted_from_its_first_row():
    X = unlabelled()
    nothing = dask_backend.of_block(task(), X[:0], 7, "")
    assert (nothing.best, nothing.done) == ([], (0, 0, 0))
    here, moved = (dask_backend.of_block(task(), X, start, "") for start in (0, 100))
    assert (here.best[0].places + 100).tolist() == moved.best[0].places.tolist()
    assert here.done[::2] == moved.done[::2] == (600, 600)
    (drawn,) = dask_backend.of_block(task(HashedSampler(0, 20)), X, 100, "").best
    assert sorted(drawn.places.tolist()) == sorted(
        (100 + np.argsort(-HashedSampler(0, 20).keys(100, 600))[:5]).tolist()
    )


@pytest.mark.usefixtures("small_parts")
def test_parts_that_are_handed_out_late_know_the_bar(client, monkeypatch):
    bars, submit = [], client.submit

    def seen(function, *given, **how):
        bars.extend(given[2:])
        return submit(function, *given, **how)

    monkeypatch.setattr(client, "submit", seen)
    monkeypatch.setattr(dask_backend, "AHEAD", 1)
    X = np.random.default_rng(0).normal(size=(600, 3))
    assert_same(rank(model(), X, top=5, client=client), rank(model(), X, top=5))
    assert len(bars) == 12
    assert bars == sorted(bars)
    assert bars[0] == -np.inf < bars[-1]


# ---------------------------------------------------------------- workers that are lost
def pids(client):
    return list(client.run(os.getpid).values())


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("lost", [1, 2])
def test_what_lost_workers_had_is_done_by_others(client, lost):
    X, told = unlabelled(), []

    def progress(read, size):
        told.append((read, size))
        if len(told) == 2:
            for pid in pids(client)[:lost]:
                os.kill(pid, signal.SIGKILL)

    found = rank(model(), X, top=9, client=client, progress=progress)
    assert_same(found, rank(model(), X, top=9))
    assert told == [(read, 600) for read in range(50, 601, 50)]


@pytest.mark.usefixtures("small_parts")
def test_a_cluster_whose_workers_are_gone_for_good_is_given_up(monkeypatch):
    monkeypatch.setattr(dask_backend, "WAIT", 1.0)
    monkeypatch.setattr(dask_backend, "PULSE", 0.3)
    told, begun = [], []
    with (
        distributed.SpecCluster(
            workers={0: {"cls": distributed.Worker, "options": {"nthreads": 1}}},
            scheduler={"cls": distributed.Scheduler, "options": {"dashboard_address": ANY_PORT}},
            silence_logs=CRITICAL,
        ) as there,
        distributed.Client(there, set_as_default=False) as client,
    ):

        def progress(read, _):
            told.append(read)
            if len(told) == 2:
                begun.append(time.perf_counter())
                there.scale(0)
                there.sync(there._correct_state)  # noqa: SLF001 - until they are gone

        with pytest.raises(ValueError, match=GONE):
            rank(model(), unlabelled(), top=9, client=client, progress=progress)
        assert time.perf_counter() - begun[0] < 15
        assert not client.futures
        with pytest.raises(ValueError, match=GONE):  # nor does it begin with none
            rank(model(), da.from_array(unlabelled()), client=client)


GONE = r"^cluster must have workers; got none for 1 s\. Start some, or rank without --dask\.$"


@score(one_per_latent)
def deadly(_belief):
    """A score that takes its worker with it."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_rows_that_kill_every_worker_are_given_up(monkeypatch):
    monkeypatch.setattr(deadly, "__module__", "__main__")  # so that it is sent as it is
    # Which is seen first depends on how soon the workers come back: a part that nobody can hold,
    # or no workers. A cluster of its own, for some may not come back at all.
    with (
        LOCAL(n_workers=2, processes=True, silence_logs=CRITICAL) as there,
        distributed.Client(there, set_as_default=False) as client,
        pytest.raises(ValueError, match=r"^cluster must have workers( that can hold a part)?; got"),
    ):
        rank(model(), unlabelled(100), deadly, client=client)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("closed", ["client", "scheduler", "tasks"])
def test_a_cluster_that_is_closed_meanwhile_is_named(closed):
    got = "tasks that were cancelled" if closed == "tasks" else "no answer from its scheduler"
    words = f"^cluster must stay up until all is read; got {got}. Start it anew.$"
    with LOCAL(n_workers=1, processes=False, silence_logs=CRITICAL) as there:
        client = distributed.Client(there, set_as_default=False)
        ends = {"client": client.close, "scheduler": there.close}
        end = ends.get(
            closed,
            lambda: client.cancel([distributed.Future(key, client) for key in client.futures]),
        )
        with pytest.raises(ValueError, match=words):
            rank(model(), unlabelled(), client=client, progress=lambda *_: end())
        client.close()


# ---------------------------------------------------------------- refusals
@pytest.mark.usefixtures("small_parts")
def test_rows_that_are_no_numbers_are_refused_in_the_same_words(client):
    X = unlabelled()
    X[333, 1] = X[520, 0] = np.nan
    with pytest.raises(ValueError, match="row 333, column 1") as here:
        rank(model(), X, jobs=1)
    for bad in (X, da.from_array(X, chunks=(200, 3))):
        with pytest.raises(ValueError, match="row 333, column 1") as there:
            rank(model(), bad, client=client)
        assert str(there.value) == str(here.value)
    lazy = da.from_array(X, chunks=(200, 3))
    with pytest.raises(ValueError, match=r"got nan at row 133, column 1 in block 1\. Fill"):
        rank(model(), lazy[lazy[:, 2] > -99], client=client)


def test_a_part_of_a_file_is_named_with_it(client, tmp_path):
    X = unlabelled()
    X[450, 0] = np.inf
    folder = parquet(tmp_path, X)
    with pytest.raises(ValueError, match=r"got inf at row 50, column 'a' in '.*2\.parquet'\. Fill"):
        rank(model(named=True), folder, client=client)


@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_a_file_that_workers_do_not_see_is_named(tmp_path, kind):
    work, X = task(), unlabelled()
    if kind == "npy":
        np.save(tmp_path / "0.npy", X)
        source = row_source(tmp_path / "0.npy", work.expected)
    else:
        source = row_source(parquet(tmp_path, X) / "0.parquet", NAMED)
    (part,) = source.parts()
    (tmp_path / f"0.{kind}").unlink()
    with pytest.raises(ValueError, match=rf"^X must be where every worker .* no '.*0\.{kind}' on "):
        dask_backend.of_part(work, part)


def test_more_rows_than_there_are_cannot_be_wanted(client):
    with pytest.raises(ValueError, match=r"^top must be at most 30, the rows there are; got 31\."):
        rank(model(), unlabelled(30), top=31, client=client)
    assert len(rank(model(), unlabelled(30), top=30, client=client)) == 30


def test_a_pool_without_rows_is_refused(client):
    lazy = da.from_array(unlabelled(30))
    with pytest.raises(ValueError, match=r"^X must have at least one row; got none\. "):
        rank(model(), lazy[lazy[:, 0] > 99], client=client)


class Bag:
    """A Dask collection of anything."""

    def __dask_graph__(self):
        return {"a": 1}

    def to_delayed(self):
        raise AssertionError


@pytest.mark.parametrize(
    ("X", "kind", "words"),
    [
        (da.zeros((4, 2)), ValueError, "X must have as many columns as the model was fitted to, 3"),
        (da.zeros(4), ValueError, "X must have two dimensions, rows and columns; got 1"),
        (da.zeros((4, 3), dtype="U1"), ValueError, "X must hold numbers; got dtype <U1"),
        (dask.delayed(1), TypeError, "X must be an array or a data frame if it is Dask"),
        (Bag(), TypeError, "X must be an array or a data frame if it is Dask's; got Bag"),
    ],
)
def test_blocks_that_cannot_be_right_are_refused(client, X, kind, words):
    for there in (client, None):
        with pytest.raises(kind, match=f"^{words}"):
            rank(model(), X, client=there)


def test_what_is_no_client_is_refused():
    with pytest.raises(TypeError, match=r"^client must be a Dask client .*; got int\. Use "):
        rank(model(), unlabelled(), client=1)


def test_an_address_where_nobody_listens_is_refused(monkeypatch):
    monkeypatch.setattr(dask_backend, "PATIENCE", 1)
    with pytest.raises(ValueError, match=r"^client must be the address .*; got 'pigeon://a:1' \("):
        rank(model(), unlabelled(), client="pigeon://a:1")


def test_an_address_without_a_port_is_refused_before_a_client_is_made(monkeypatch):
    monkeypatch.setattr(distributed, "Client", None)
    with pytest.raises(
        ValueError, match=r"^client must be .*; got 'nowhere' \(missing port number"
    ):
        rank(model(), unlabelled(), client="nowhere")


def test_an_address_within_this_process_needs_no_port(monkeypatch):
    monkeypatch.setattr("possibal.pool.dask_backend.PATIENCE", 1)
    with pytest.raises(ValueError, match=r"^client must be .*; got 'inproc://192\.0\.2\.1/1/1'"):
        rank(model(), unlabelled(), client="inproc://192.0.2.1/1/1")


def test_without_dask_there_is_no_cluster(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    for client in ("tcp://127.0.0.1:9", object()):
        with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[dask\]'\.$"):
            rank(model(), unlabelled(), client=client)
    X = unlabelled()
    assert_same(rank(model(), da.from_array(X, chunks=(250, 3))), rank(model(), X))


class Labelled(np.ndarray):
    """An array that could be Dask's, and is not."""

    def __dask_graph__(self):
        return None


def test_what_only_looks_like_dask_is_read_here():
    assert_same(rank(model(), unlabelled().view(Labelled)), rank(model(), unlabelled()))


@pytest.mark.usefixtures("small_parts")
def test_an_error_takes_all_tasks_with_it(client):
    def progress(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank(model(), unlabelled(), client=client, progress=progress)

    def gone():
        gc.collect()  # the error's traceback may hold on to a task that was done already
        return all(future.status == "cancelled" for future in list(client.futures.values()))

    until(gone)


def test_a_pool_loads_dask_only_when_asked_to():
    late = "{'dask', 'possibal.pool.dask_backend'}"
    code = f"import sys, possibal.pool.ranking; print({late} & {{*sys.modules}})"
    line = [sys.executable, "-c", code]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == "set()\n"  # noqa: S603 - our own code
