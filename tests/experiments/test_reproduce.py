import re
from dataclasses import replace

import numpy as np
import pytest

from possibal.acquisition.registry import STRATEGIES
from possibal.experiments import reproduce
from possibal.experiments.engine.drawn_scores import DrawnScore
from possibal.experiments.recipes import AFTER, BEFORE, PUBLISHED
from possibal.experiments.reporting.timing import SCORES, Cost
from possibal.experiments.reproduce import (
    SETS,
    ReproduceRequest,
    Reproduction,
    merged,
    reproduction_jobs,
)
from possibal.experiments.results import Results
from possibal.experiments.spec import (
    BINARY,
    BINARY_STRATEGIES,
    EVIDENCE,
    HELD_OUT,
    TABLE_3,
    WHAT,
    experiment,
    strategies,
)

COSTS = Cost(dict.fromkeys(SCORES, 2.0), dict.fromkeys(SCORES, 3.0))
PNG, SVG = b"\x89PNG\r\n\x1a\n", b"<?xml"


def drawn(dataset, runs=3):
    """Results of four questions, with accuracies of no meaning."""
    rng = np.random.default_rng(len(dataset))
    one = experiment(dataset).with_runs(runs)
    lines = {name: rng.uniform(0.5, 1, size=(runs, 5)) for name in strategies(dataset)}
    return Results(one, 2, lines)


RESULTS = [drawn("wine"), drawn("fri"), drawn("iris")]


def found(what, results=RESULTS, timing=None):
    """What there is to write of some results."""
    costs = COSTS if what in {"cost", "all"} else None
    return Reproduction(ReproduceRequest(what), results, timing or {}, costs)


# ---------------------------------------------------------------- settings
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"what": "table4"}, "what must be one of 'table1', "),
        ({"datasets": ("wine", "wien")}, r"datasets must be one of .*Did you mean 'wine'\?$"),
        ({"what": "table2", "datasets": ("iris",)}, "datasets must be one of .*; got 'iris'"),
        ({"protocol": "held out"}, r"protocol must be one of .*Did you mean 'held-out'\?$"),
        ({"hyperparameters": "none"}, "hyperparameters must be one of 'paper', "),
        ({"runs": 0}, r"runs must be at least 1; got 0\."),
        ({"seed": -1}, r"seed must be at least 0; got -1\."),
    ],
)
def test_what_cannot_be_run_is_refused(given, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        ReproduceRequest(**given)


@pytest.mark.parametrize("what", WHAT)
def test_sets_are_those_of_the_table_or_figure(what):
    expected = {"table2": set(BINARY), "table3": set(), "cost": set()}.get(what, set(TABLE_3))
    sets = ReproduceRequest(what).sets
    assert set(sets) == expected
    assert len(sets) == len(expected)


def test_all_sets_are_run_if_none_is_named_and_each_once():
    assert sorted(SETS) == sorted(TABLE_3)
    assert ReproduceRequest("table1", ("iris", "wine", "iris")).sets == ("wine", "iris")
    assert ReproduceRequest("cost", ("wine",)).sets == ()


# ---------------------------------------------------------------- experiments
def test_experiments_are_of_the_papers_sizes_and_strategies():
    one, two = reproduction_jobs(ReproduceRequest("table1", ("wine", "iris"), seed=2))
    assert one.experiment == experiment("wine", seed=2)
    assert two.experiment == experiment("iris", seed=2)
    for each in (one, two):
        names = strategies(each.experiment.dataset)
        assert each.strategies == {name: STRATEGIES[name] for name in names}
        assert each.data.name == each.experiment.dataset
        assert each.source is None


def test_protocol_hyperparameters_and_runs_are_as_asked_for():
    (one,) = reproduction_jobs(
        ReproduceRequest("table1", ("wine",), HELD_OUT, EVIDENCE, 7, quick=True)
    )
    assert one.experiment == experiment("wine", HELD_OUT, EVIDENCE).with_runs(7)


def test_quick_takes_a_few_runs():
    runs = [
        one.experiment.sizes.runs for one in reproduction_jobs(ReproduceRequest("all", quick=True))
    ]
    assert sorted(set(runs)) == [2, 5]
    assert runs.count(2) == 3


def test_the_seed_draws_the_sets_that_are_drawn():
    first, other = (
        reproduction_jobs(ReproduceRequest("table1", ("fri",), seed=s))[0].data.X for s in (0, 1)
    )
    assert not np.array_equal(first, other)


def test_other_strategies_get_results_files_of_their_own_and_the_papers_are_not_run_twice():
    usual, own = reproduction_jobs(
        ReproduceRequest("table1", ("wine",), own=("margin", "bald", "margin"))
    )
    assert list(usual.strategies) == list(BINARY_STRATEGIES)
    assert own.strategies == {"margin": STRATEGIES["margin"]}
    assert own.source is not None
    assert own.experiment == usual.experiment
    assert own.file == "wine-paper-paper-margin.csv"


def test_an_unknown_strategy_is_refused():
    with pytest.raises(ValueError, match=r"^strategy must be one of .*; got 'margn'"):
        reproduction_jobs(ReproduceRequest("table1", ("wine",), own=("margn",)))


def test_results_of_one_experiment_are_put_together():
    wine, iris = RESULTS[0], RESULTS[2]
    own = Results(wine.experiment, 2, {"mine:f": np.ones((3, 5))})
    together = merged([wine, own, iris])
    assert [one.experiment for one in together] == [wine.experiment, iris.experiment]
    assert list(together[0].accuracy) == [*wine.accuracy, "mine:f"]
    assert together[1].accuracy == iris.accuracy


# ---------------------------------------------------------------- what is written
PARTS = {
    "table1": {"table1.md", "table1.csv"},
    "table2": {"table2.md", "table2.csv", "critical_difference.png", "critical_difference.svg"},
    "table3": {"table3.md", "table3.csv"},
    "curves": {"curves.png", "curves.svg"},
    "cost": {"cost.md", "cost.csv"},
}


@pytest.fixture(scope="module", name="everything")
def _everything():
    return found("all").files()


@pytest.mark.parametrize("what", ["table1", "table2", "table3", "curves", "cost"])
def test_files_are_those_of_what_was_asked_for_and_the_same_as_among_all(what, everything):
    results = RESULTS[:2] if what == "table2" else RESULTS
    files = found(what, results).files()
    assert files == {name: everything[name] for name in PARTS[what]}


def test_all_files_hold_what_their_names_say(everything):
    assert set(everything) == set().union(*PARTS.values(), {"report.html"})
    for name, content in everything.items():
        start = {"png": PNG, "svg": SVG, "html": b"<!"}.get(name.rpartition(".")[2], b"")
        assert content.startswith(start)
        assert len(content) > 100


def test_without_results_there_are_the_tables_that_need_none():
    assert set(found("all", []).files()) >= PARTS["table3"] | PARTS["cost"]
    for what in ("all", "table2", "curves"):
        files = found(what, []).files()
        assert "report.html" not in files
        assert not [name for name in files if name.endswith(("png", "svg"))]
        assert found(what, []).summary == []


def test_the_papers_figures_stand_beside_ours():
    shown = found("table1").tables["table1"].csv()
    assert re.search(
        r"^wine,bald,3,[\d.]+,[\d.]+,[\d.]+,0\.975,0\.963,0\.981,", shown, re.MULTILINE
    )


def test_ranks_are_of_the_sets_with_two_labels_if_there_are_any():
    assert found("table2").ranking.sets == ("wine", "fri")
    assert found("table2", RESULTS[2:]).ranking.sets == ("iris",)


def test_sets_of_more_labels_alone_have_no_table_of_ranks():
    assert set(found("all", RESULTS[2:]).tables) == {"table1", "table3", "cost"}


def test_only_a_full_report_is_summed_up():
    assert found("all").summary
    assert found("table1").summary == []


def test_the_report_says_what_was_run():
    about = found("all", timing={"wine": 1.234}).about()
    assert about["Protocol"].startswith("paper: test rows are drawn")
    assert about["Hyperparameters"].startswith("paper: two labels: ")
    assert about["Runs"] == "wine 3, fri 3, iris 3"
    assert about["Time per step"] == "wine 1.23 ms"
    assert about["Seed"] == "0"
    assert f"numpy {np.__version__}" in about["Made with"]


def test_the_report_asks_for_nothing_from_outside(everything):
    page = everything["report.html"].decode()
    assert "all rows were there already" in page
    assert not re.search(r"<script|(src|href)=\"(?!#)|@import", page)


def test_only_what_is_asked_is_worked_out_and_only_once(monkeypatch):
    made = list[str]()
    for name in ("table1", "table2", "table3"):
        usual = getattr(reproduce, name)
        monkeypatch.setattr(
            reproduce, name, lambda *given, n=name, f=usual: made.append(n) or f(*given)
        )
    one = found("table1")
    assert [*one.tables] == [*one.tables] == ["table1"]
    assert made == ["table1"]


# ---------------------------------------------------------------- recipes and models
def test_the_published_recipe_asks_by_its_own_scores_and_tests_before_the_last_answer():
    wine, iris = reproduction_jobs(ReproduceRequest("table1", ("wine", "iris"), recipe="published"))
    assert wine.experiment.recipe is iris.experiment.recipe is PUBLISHED
    assert wine.experiment.tested == BEFORE
    assert wine.file == "wine-paper-paper-published.csv"
    drawn = {
        n for job in (wine, iris) for n, s in job.strategies.items() if isinstance(s, DrawnScore)
    }
    assert drawn == {"bald", "least_confidence", "margin", "entropy"}
    assert wine.strategies["necessity"] is STRATEGIES["necessity"]


def test_when_a_model_is_tested_can_be_told_for_any_recipe():
    (one,) = reproduction_jobs(ReproduceRequest("table1", ("wine",), tested=BEFORE))
    assert one.experiment == replace(experiment("wine"), tested=BEFORE)
    (one,) = reproduction_jobs(
        ReproduceRequest("table1", ("wine",), recipe="published", tested=AFTER)
    )
    assert one.experiment.tested == AFTER


def test_the_variational_model_is_for_the_sets_with_three_labels():
    asked = ReproduceRequest("table1", model="variational")
    assert asked.sets == ("thyroid", "iris", "seismic")
    assert {job.experiment.model for job in reproduction_jobs(asked)} == {"variational"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"recipe": "publisher"}, r"recipe must be one of .*Did you mean 'published'\?$"),
        ({"model": "laplac"}, r"model must be one of .*Did you mean 'laplace'\?$"),
        ({"tested": "later"}, "tested must be one of 'after-last-answer', "),
        (
            {"recipe": "published", "hyperparameters": "envelope"},
            "hyperparameters must be left out with recipe published, which fixes them; got",
        ),
        (
            {"model": "variational", "datasets": ("wine",)},
            "datasets must be one of 'thyroid', 'iris', 'seismic'; got 'wine'",
        ),
        (
            {"model": "variational", "what": "table2"},
            "what must be another with model variational, .*; got 'table2'",
        ),
        (
            {"model": "variational", "hyperparameters": "envelope"},
            "hyperparameters must be another with model variational, .*; got 'envelope'",
        ),
        (
            {"model": "variational", "own": ("herding",)},
            "strategy must be another with model variational, .*; got 'herding'",
        ),
    ],
)
def test_settings_that_exclude_each_other_are_refused(given, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        ReproduceRequest(**given)


def test_the_report_says_which_recipe_and_model_were_run():
    about = found("all").about()
    assert about["Recipe"].startswith("ours: hyperparameters of largest evidence")
    assert about["Model"].startswith("laplace: ")
    assert about["Tested"].startswith("after-last-answer: ")
