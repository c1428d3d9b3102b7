"""Learning curves on a user's frame, as a tidy frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import possibal
from possibal.data.frames import from_frame
from possibal.experiments.compare import RANDOM, comparison_job, sizes
from possibal.experiments.engine.runner import begin, cores, run
from possibal.experiments.spec import PAPER
from possibal.experiments.user_data import LoadedTable, given_source, loaded

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 2))
FRAME = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "kind": np.where(X[:, 0] > 0, "right", "left")})
FEW = {"label": "kind", "runs": 2, "questions": 4, "hyperparameters": PAPER, "jobs": 1}
HEADS = ["strategy", "run", "labels", "accuracy", "ahead"]


def closest(mean, variance):
    return -abs(mean) / variance**0.5


def test_it_is_the_experiment_that_compare_runs(tmp_path):
    found = possibal.simulate(FRAME, strategies=["margin"], seed=5, **FEW)
    assert list(found.columns) == HEADS
    data = loaded(LoadedTable("data", from_frame(FRAME), given_source("x")), "kind").dataset
    jobs = comparison_job(data, ["margin"], sizes(data, 2, 4), PAPER, 5)
    with cores(1) as execute:
        (result,) = run(begin(jobs, tmp_path, execute), execute, lambda _: None)
    for name in (RANDOM, "margin"):
        ours = found[found["strategy"] == name]
        assert ours["run"].tolist() == [1] * 5 + [2] * 5
        assert ours["labels"].tolist() == [2, 3, 4, 5, 6] * 2
        np.testing.assert_array_equal(ours["accuracy"], result.accuracy[name].ravel())
        gap = result.accuracy[name] - result.accuracy[RANDOM]
        np.testing.assert_array_equal(ours["ahead"], gap.ravel())


def test_strategies_of_ones_own_stand_beside_ours():
    def middle(view):
        return -abs(view.candidates).sum(axis=1)

    given = [closest, middle, lambda mean, variance: variance - mean]
    found = possibal.simulate(FRAME, strategies=given, **FEW)
    assert found["strategy"].unique().tolist() == [RANDOM, "closest", "middle", "<lambda>"]
    named = possibal.simulate(FRAME, strategies={"near": closest, RANDOM: RANDOM}, **FEW)
    assert named["strategy"].unique().tolist() == [RANDOM, "near"]
    ours = found[found["strategy"] == "closest"]["accuracy"].tolist()
    assert named[named["strategy"] == "near"]["accuracy"].tolist() == ours


def test_referees_have_columns_and_the_frame_is_of_the_library_of_the_data():
    found = possibal.simulate(pl.from_pandas(FRAME), referees=["logistic"], **FEW)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == [*HEADS, "accuracy_logistic"]
    assert found["accuracy_logistic"].is_between(0, 1).all()
    columns = {name: FRAME[name].tolist() for name in FRAME}
    told = possibal.simulate(columns, library="pandas", **FEW)
    assert isinstance(told, pd.DataFrame)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"label": "sort"}, "^label must be"),
        ({"strategies": "margin"}, "^strategies must be a list; got 'margin'"),
        ({"strategies": ["margen"]}, "Did you mean 'margin'"),
        ({"strategies": [closest, lambda m, v: m - v, lambda m, v: m + v]}, "got '<lambda>' twice"),
        ({"strategies": {"random": closest}}, "got 'random' twice"),
        ({"referees": ["swm"]}, "^referees must be one of .* Did you mean 'svm'"),
        ({"runs": 1}, "^runs must be at least 2"),
        ({"jobs": 0}, "^jobs must be at least 1"),
        ({"seed": -1}, "^seed must be at least 0"),
        ({"questions": 60}, "^questions must be at most"),
        ({"hyperparameters": "no"}, "^hyperparameters must be one of"),
    ],
)
def test_bad_values_are_refused_in_a_sentence(given, words):
    with pytest.raises(
        ValueError if given.get("strategies") != "margin" else TypeError, match=words
    ):
        possibal.simulate(FRAME, **FEW | given)
