from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import trapezoid

from possibal.experiments.recipes import BEFORE
from possibal.experiments.results import Results, Run
from possibal.experiments.spec import Experiment, Sizes

EXPERIMENT = Experiment("mine", "paper", "paper", Sizes(runs=3, queries=2, pool=10, test=5))
LINES = {
    ("necessity", 0): [0.5, 0.6, 0.9],
    ("necessity", 1): [0.4, 0.8, 0.7],
    ("random", 0): [0.5, 0.5, 0.6],
    ("random", 1): [0.4, 0.2, 0.8],
}


def run_of(key):
    return Run(*key, np.array([3, 4]), np.array(LINES[key]))


def results(keys=tuple(LINES)):
    return Results.of(EXPERIMENT, 2, (run_of(key) for key in keys))


def test_lines_of_every_strategy_are_in_order_of_their_runs():
    mixed = [("random", 1), ("necessity", 1), ("random", 0), ("necessity", 0)]
    found = results(mixed)
    assert list(found.accuracy) == ["random", "necessity"]
    for (strategy, run), line in LINES.items():
        assert found.accuracy[strategy][run].tolist() == line


def test_results_keep_what_was_run_and_where_it_began():
    assert results().experiment is EXPERIMENT
    assert results().start == 2


def test_the_final_accuracy_is_that_after_the_last_answer():
    assert results().final["necessity"].tolist() == [0.9, 0.7]
    assert results().final["random"].tolist() == [0.6, 0.8]


def test_the_area_counts_the_first_and_the_last_accuracy_half():
    np.testing.assert_allclose(results().area["necessity"], [0.65, 0.675], rtol=1e-14)
    np.testing.assert_allclose(results().area["random"], [0.525, 0.4], rtol=1e-14)


@given(arrays(float, st.tuples(st.integers(1, 4), st.integers(2, 9)), elements=st.floats(0, 1)))
def test_the_area_is_that_under_the_curve_per_step(accuracy):
    area = Results(EXPERIMENT, 2, {"mine": accuracy}).area["mine"]
    expected = trapezoid(accuracy, axis=1) / (accuracy.shape[1] - 1)
    np.testing.assert_allclose(area, expected, atol=1e-14)


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
def test_the_area_of_a_constant_accuracy_is_that_accuracy(level):
    flat = Results(EXPERIMENT, 2, {"mine": np.full((2, 5), level)})
    np.testing.assert_allclose(flat.area["mine"], level, rtol=1e-14)


def test_no_runs_make_no_lines():
    assert results(()).accuracy == {}
    assert results(()).final == results(()).area == {}


def test_tested_before_the_last_answer_the_curves_end_one_answer_earlier():
    before = replace(EXPERIMENT, tested=BEFORE)
    found = Results.of(before, 2, (run_of(key) for key in LINES))
    assert found.final["necessity"].tolist() == [0.6, 0.8]
    np.testing.assert_allclose(found.area["random"], [0.5, 0.3], rtol=1e-14)
    assert found.start == 2
