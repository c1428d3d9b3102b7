from dataclasses import FrozenInstanceError, astuple, replace

import pytest

from possibal.acquisition.registry import STRATEGIES
from possibal.experiments.datasets import DATASETS, load
from possibal.experiments.recipes import BEFORE, PUBLISHED
from possibal.experiments.spec import (
    BINARY,
    HYPERPARAMETERS,
    MULTICLASS,
    PROTOCOLS,
    TABLE_3,
    VARIATIONAL,
    WHAT,
    Experiment,
    Sizes,
    experiment,
    strategies,
)
from possibal.experiments.splits import check

# Paper: App. E.1, Table 3, word by word: data set, runs, queries, size training, size testing.
PRINTED = """
Block in Center & 50 & 25 & 150 & 200
Block in Corner & 50 & 25 & 150 & 200
Sonar & 300 & 50 & 120 & 80
Wine & 200 & 45 & 120 & 160
Breast Cancer & 200 & 50 & 150 & 300
Ionosphere & 200 & 50 & 120 & 300
Fri & 200 & 50 & 120 & 220
Vehicle & 200 & 50 & 300 & 800
Thyroid & 50 & 40 & 115 & 100
Iris & 50 & 40 & 100 & 100
Seismic & 50 & 40 & 150 & 200
"""
OURS = {
    "Block in Center": "block-center",
    "Block in Corner": "block-corner",
    "Breast Cancer": "breast",
}
SMALL = Sizes(runs=2, queries=3, pool=10, test=5)

each_set = pytest.mark.parametrize("name", TABLE_3)


# ---------------------------------------------------------------- Table 3


def test_table_3_is_the_papers_number_by_number_and_in_its_order():
    lines = [line.split(" & ") for line in PRINTED.strip().splitlines()]
    printed = {OURS.get(line[0], line[0].lower()): tuple(map(int, line[1:])) for line in lines}
    assert {name: astuple(sizes) for name, sizes in TABLE_3.items()} == printed
    assert list(TABLE_3) == list(printed)


def test_pool_and_test_of_thyroid_are_all_its_rows():
    sizes = TABLE_3["thyroid"]
    assert sizes.pool + sizes.test == 115 + 100 == len(load("thyroid").X)


def test_there_are_eleven_sets_and_each_can_be_loaded():
    assert len(TABLE_3) == 11
    assert set(TABLE_3) == set(DATASETS)


@each_set
def test_sets_of_more_than_two_labels_are_those_called_multiclass(name):
    assert (len(load(name).labels) > 2) == (name in MULTICLASS)
    assert (name in BINARY) != (name in MULTICLASS)


@each_set
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_set_has_the_rows_that_table_3_asks_for(name, protocol):
    check(experiment(name, protocol), load(name))


@pytest.mark.parametrize("table", [TABLE_3, PROTOCOLS, HYPERPARAMETERS, WHAT, strategies("wine")])
def test_nobody_can_write_into_the_tables(table):
    with pytest.raises(TypeError, match="does not support item assignment"):
        table["mine"] = "x"


# ---------------------------------------------------------------- strategies


def test_two_labels_are_asked_about_in_the_six_ways_of_table_1():
    assert list(strategies("sonar").values()) == ["Rand.", "Stand.", "Max. Ent.", "BALD", "U", "N"]
    assert strategies("sonar")["least_confidence"] == "Stand."


def test_more_labels_are_asked_about_in_their_own_six_ways():
    names = list(strategies("iris").values())
    assert names == ["Rand.", "Least Conf.", "Margin", "Entropy", "U", "N"]


@each_set
def test_every_strategy_of_a_set_is_one_of_ours(name):
    assert set(strategies(name)) <= set(STRATEGIES)


def test_a_set_of_the_users_own_is_asked_about_as_two_labels():
    assert strategies("mine") is strategies("sonar")


# ---------------------------------------------------------------- experiments


@each_set
def test_an_experiment_of_the_paper_has_the_sizes_of_table_3(name):
    one = experiment(name)
    assert one == Experiment(name, "paper", "paper", TABLE_3[name], 0)
    assert one.name == f"{name}-paper-paper"


def test_what_an_experiment_is_called_tells_its_files_apart():
    names = {experiment("iris", p, h).name for p in PROTOCOLS for h in HYPERPARAMETERS}
    assert len(names) == len(PROTOCOLS) * len(HYPERPARAMETERS) == 8
    assert experiment("iris", "held-out", "envelope").name == "iris-held-out-envelope"


def test_recipe_and_model_have_files_of_their_own_but_not_when_a_model_is_tested():
    one = experiment("iris")
    assert replace(one, recipe=PUBLISHED).name == "iris-paper-paper-published"
    assert replace(one, model=VARIATIONAL).name == "iris-paper-paper-variational"
    assert replace(one, tested=BEFORE).name == one.name  # its rows are the same


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("model", "laplas", "model must be one of 'laplace', 'variational'; got 'laplas'."),
        ("tested", "before", "tested must be one of 'after-last-answer', 'before-last-answer'; "),
    ],
)
def test_an_unknown_model_or_time_is_refused(name, value, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        replace(experiment("iris"), **{name: value})


def test_another_number_of_runs_changes_nothing_else():
    before = experiment("iris", "held-out", "evidence", seed=4)
    after = before.with_runs(3)
    assert after.sizes == replace(TABLE_3["iris"], runs=3)
    assert after == replace(before, sizes=after.sizes)
    assert before.sizes.runs == 50


def test_an_experiment_does_not_change():
    with pytest.raises(FrozenInstanceError):
        experiment("iris").seed = 1


# ---------------------------------------------------------------- bad values


def one(protocol="paper", hyperparameters="paper", seed=0, **sizes):
    return Experiment("mine", protocol, hyperparameters, replace(SMALL, **sizes), seed)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (
            {"protocol": "held out"},
            "protocol must be one of 'paper', 'held-out'; got 'held out'. Did you mean 'held-out'?",
        ),
        (
            {"hyperparameters": "fixed"},
            "hyperparameters must be one of 'paper', 'evidence', 'envelope', 'envelope-rbf'; got",
        ),
        ({"runs": 0}, "runs must be at least 1; got 0. Use 1 or a larger number."),
        ({"queries": 0}, "queries must be at least 1; got 0. Use 1 or a larger number."),
        ({"test": -2}, "test must be at least 1; got -2. Use 1 or a larger number."),
        ({"pool": 2}, "pool must be at least 3; got 2. Use 3 or a larger number."),
        ({"seed": -1}, "seed must be at least 0; got -1. Use 0 or a larger number."),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_bad_value_is_refused_in_one_sentence(bad, sentence):
    assert one().sizes == SMALL
    with pytest.raises(ValueError, match="must be") as e:
        one(**bad)
    assert str(e.value).startswith(sentence)
    assert "\n" not in str(e.value)


def test_a_set_the_paper_does_not_have_is_refused_and_the_nearest_offered():
    with pytest.raises(
        ValueError, match=r"^dataset must be one of 'block-center', .*; got 'irs'"
    ) as e:
        experiment("irs")
    assert str(e.value).endswith("Did you mean 'iris'?")


def test_no_runs_are_refused_later_too():
    with pytest.raises(ValueError, match=r"^runs must be at least 1; got 0\."):
        experiment("iris").with_runs(0)
