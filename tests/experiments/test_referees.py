import os
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier
from support.tasks import prepared

from possibal.acquisition.registry import STRATEGIES
from possibal.experiments.datasets import load
from possibal.experiments.engine.runner import ExperimentJob, begin, cores, run
from possibal.experiments.engine.simulation import simulate
from possibal.experiments.referees import MODELS, referee_accuracies, referee_jobs
from possibal.experiments.spec import ENVELOPE, HELD_OUT, REFEREES, Experiment, Sizes
from possibal.experiments.splits import split

WINE, IRIS = load("wine"), load("iris")
SIZES = Sizes(runs=2, queries=4, pool=30, test=40)
OURS = {name: STRATEGIES[name] for name in ("random", "margin")}

each_set = pytest.mark.parametrize("data", [WINE, IRIS], ids=lambda data: data.name)


def experiment_on(data):
    return Experiment(data.name, HELD_OUT, ENVELOPE, SIZES, seed=3)


def run_on(data, run=1):
    """What random asked for."""
    (one,) = simulate(prepared(experiment_on(data), data, OURS), [("random", run)])
    return one


@pytest.fixture(scope="module", autouse=True)
def _without_commits():
    """Rows name no commit, which may change while tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_DIR", os.devnull)
        yield


# ---------------------------------------------------------------- one run
def test_every_referee_that_is_named_has_its_model():
    assert list(MODELS) == list(REFEREES)


@each_set
def test_a_referee_learns_from_the_start_and_the_rows_asked_about(data):
    one = run_on(data)
    rows = split(experiment_on(data), data, one.run)
    accuracy = referee_accuracies(experiment_on(data), data, one, KNeighborsClassifier(1))
    assert accuracy.shape == (SIZES.queries + 1,)
    for answers, found in enumerate(accuracy):
        known = [*rows.start, *one.rows[:answers]]
        gaps = rows.X[rows.test][:, None] - rows.X[known]
        nearest = np.array(known)[(gaps**2).sum(axis=2).argmin(axis=1)]
        assert found == np.mean(data.y[nearest] == data.y[rows.test])


@each_set
@pytest.mark.parametrize("name", MODELS)
def test_every_referee_measures_a_run_and_measures_it_the_same_again(name, data):
    one, model = run_on(data), MODELS[name]()
    first, again = (referee_accuracies(experiment_on(data), data, one, model) for _ in range(2))
    assert (first > 0).all()
    assert (first <= 1).all()
    np.testing.assert_array_equal(first, again)
    assert not hasattr(model, "classes_")  # a copy has learnt


# ---------------------------------------------------------------- experiments
@pytest.fixture(name="started")
def _started(tmp_path):
    """Two experiments, not run yet; one is a user's own, with a results file of its own."""
    one = experiment_on(WINE)
    own = ExperimentJob(one, WINE, {"mine:own": STRATEGIES["bald"]}, "source")
    with cores(1) as execute:
        yield begin([ExperimentJob(one, WINE, OURS), own], tmp_path, execute), execute


def test_the_runs_of_experiments_are_measured_again_one_by_one(started):
    experiments, execute = started
    referees, seen = referee_jobs("svm", MODELS["svm"](), experiments), []
    run(experiments, execute, lambda _: None)
    results = run(referees, execute, seen.append)
    assert [list(one.accuracy) for one in results] == [["random", "margin"], ["mine:own"]]
    for one, result in zip(experiments, results, strict=True):
        assert result.start == 2
        for (name, number), asked in one.results_file.runs.items():
            expected = referee_accuracies(result.experiment, WINE, asked, MODELS["svm"]())
            np.testing.assert_array_equal(result.accuracy[name][number], expected)
    assert sum(progress.runs for progress in seen) == 6


def test_judgements_are_kept_beside_the_rows_and_taken_up(started, tmp_path):
    experiments, execute = started
    run(experiments, execute, lambda _: None)
    first = run(referee_jobs("svm", MODELS["svm"](), experiments), execute, lambda _: None)
    files = sorted(path.name for path in tmp_path.iterdir())
    stem = "wine-held-out-envelope"
    both = (stem, f"{stem}-mine-own")
    assert files == sorted(f"{one}{end}.csv" for one in both for end in ("", "-by-svm"))
    again, seen = referee_jobs("svm", MODELS["svm"](), experiments), []
    assert [one.missing for one in again] == [[], []]
    for one, other in zip(first, run(again, execute, seen.append), strict=True):
        for name, lines in one.accuracy.items():
            np.testing.assert_array_equal(lines, other.accuracy[name])
    assert all(progress.seconds == 0 for progress in seen)


def test_judgements_of_another_model_or_strategy_are_not_taken_for_these(started):
    experiments, execute = started
    run(experiments, execute, lambda _: None)
    run(referee_jobs("judge", MODELS["svm"](), experiments), execute, lambda _: None)
    with pytest.raises(ValueError, match=r"^to must be new or hold rows of the same making; "):
        referee_jobs("judge", DummyClassifier(), experiments)
    changed = replace(experiments[1], job=replace(experiments[1].job, source="other"))
    with pytest.raises(ValueError, match=r"^to must be new or hold rows of the same making; "):
        referee_jobs("judge", MODELS["svm"](), [changed])
