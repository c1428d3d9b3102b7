import sys
from dataclasses import replace
from textwrap import dedent

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from support.tasks import prepared

from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.scoring import one_per_latent, score
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.errors import StrategyError
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.experiments.datasets import SOURCES, Dataset, load
from possibal.experiments.engine import simulation
from possibal.experiments.engine.drawn_scores import drawn_scores
from possibal.experiments.engine.fixed_prior import fixed_prior
from possibal.experiments.engine.simulation import (
    SimulationTask,
    campaign_seed,
    fit_in_advance,
    is_binary,
    labelled,
    simulate,
)
from possibal.experiments.recipes import PUBLISHED, FixedKernel
from possibal.experiments.spec import HYPERPARAMETERS, MODELS, Experiment, Sizes, strategies
from possibal.experiments.splits import random_stream, scaled, split
from possibal.experiments.strategies import resolve_strategy as found
from possibal.gp import batch
from possibal.gp.hyperparameters import evidence, problem
from possibal.gp.likelihoods import PROBIT, SOFTMAX
from possibal.gp.rbf import NO_LEVEL

SIZES = Sizes(runs=2, queries=4, pool=25, test=30)
THETA = (float(np.log(8.0)), float(np.log(3.0)))
RUNS = (0, 1)

each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
each_set = pytest.mark.parametrize("name", ["wine", "iris"])  # two labels, and three
WAYS = [("wine", "fixed"), ("wine", "envelope"), ("iris", "envelope"), ("iris", "fixed")]
each_way = pytest.mark.parametrize(("name", "way"), WAYS)
EVERY_WAY = [*WAYS, ("wine", "evidence"), ("iris", "evidence")]


def task_of(name, way, sizes=SIZES, strategies=STRATEGIES, protocol="held-out"):
    """A small task; the hyperparameters of a fixed one are given here."""
    hyperparameters = "paper" if way == "fixed" else way
    experiment = Experiment(name, protocol, hyperparameters, sizes, seed=3)
    return SimulationTask(experiment, load(name), strategies, THETA if way == "fixed" else None)


def trail(task, strategy, run=0):
    (one,) = simulate(task, [(strategy, run)])
    return one


def assert_same(one, other):
    assert (one.strategy, one.run) == (other.strategy, other.run)
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.accuracy, other.accuracy)


# ---------------------------------------------------------------- the reference


def classifier(way):
    if way == "fixed":
        amplitude, length = np.exp(THETA)
        kernel = ConstantKernel(amplitude) * RBF(length)
        return PossibilisticGPClassifier(kernel, hyperparameters="fixed")
    kernel = None if way == "envelope" else "rbf"
    return PossibilisticGPClassifier(kernel, hyperparameters=way)


def slowly(task, way, strategy, run):
    """Rows asked and accuracies of a campaign that is fitted anew for every question."""
    data, share = task.data, split(task.experiment, task.data, run)
    campaign = Snapshot.start(
        share.X[share.pool],
        ids=share.pool,
        classes=range(len(data.labels)),
        strategy=strategy,
        classifier=classifier(way),
        seed=campaign_seed(task.experiment.seed, run),
    ).replay(Answer(row, data.y[row]) for row in share.start.tolist())
    asked, X, y = [], share.X[share.test], data.y[share.test]
    accuracy = [campaign.classifier.score(X, y)]
    for _ in range(task.experiment.sizes.queries):
        (row,) = campaign.ask()
        campaign = campaign.tell(row, data.y[row])
        asked.append(row)
        accuracy.append(campaign.classifier.score(X, y))
    return asked, accuracy


@each_way
@each_strategy
def test_a_run_asks_what_a_campaign_asks(name, way, strategy):
    task = task_of(name, way)
    for one in simulate(task, [(strategy, run) for run in RUNS]):
        asked, accuracy = slowly(task, way, strategy, one.run)
        assert one.rows.tolist() == asked
        np.testing.assert_allclose(one.accuracy, accuracy, atol=1e-12)


@pytest.mark.parametrize("strategy", ["necessity", "entropy"])
def test_with_the_papers_protocol_a_trail_asks_what_a_campaign_asks(strategy):
    task = task_of("iris", "envelope", protocol="paper")
    asked, accuracy = slowly(task, "envelope", strategy, 1)
    one = trail(task, strategy, 1)
    assert one.rows.tolist() == asked
    np.testing.assert_allclose(one.accuracy, accuracy, atol=1e-12)


@each_set
def test_a_refitted_trail_starts_as_a_refitted_campaign_does(name):
    # Later the two searches for a setting end a little apart, so that close rows may swap.
    task = task_of(name, "evidence", Sizes(1, 2, 25, 30))
    asked, accuracy = slowly(task, "evidence", "necessity", 0)
    one = trail(task, "necessity")
    assert one.rows[0] == asked[0]
    np.testing.assert_allclose(one.accuracy[:2], accuracy[:2], atol=0.04)


# ---------------------------------------------------------------- in company


@pytest.mark.parametrize(("name", "way"), EVERY_WAY)
def test_a_run_is_the_same_alone_in_company_and_in_another_order(name, way):
    task = task_of(name, way, Sizes(2, 3, 25, 30))
    names = [(strategy, run) for run in RUNS for strategy in STRATEGIES]
    together = dict(zip(names, simulate(task, names), strict=True))
    mixed = [names[place] for place in np.random.default_rng(0).permutation(len(names))]
    for key, one in zip(mixed, simulate(task, mixed), strict=True):
        assert_same(one, together[key])
    for key in names[1::4]:
        assert_same(trail(task, *key), together[key])


def many_labels(labels):
    """Clouds, one for each label."""
    rng = np.random.default_rng(labels)
    y = np.arange(20 * labels) % labels
    X = 3 * rng.normal(size=(labels, 4))[y] + rng.normal(size=(len(y), 4))
    names = tuple(f"label {code}" for code in range(labels))
    return Dataset("clouds", X, y, names, ("a", "b", "c", "d"), SOURCES["fri"])


@pytest.mark.parametrize("labels", [2, 3, 12])
@pytest.mark.parametrize("way", ["fixed", "envelope", "evidence"])
@pytest.mark.parametrize("strategy", ["uncertainty", "entropy"])
def test_scores_are_the_same_to_the_last_bit_alone_and_in_company(
    labels, way, strategy, monkeypatch
):
    seen = []

    @score(size=one_per_latent)
    def watched(belief):
        seen.append(STRATEGIES[strategy](belief))
        return seen[-1]

    monkeypatch.setattr(simulation, "STRATEGIES", {**STRATEGIES, "watched": watched})
    hyperparameters = "paper" if way == "fixed" else way
    sizes = Sizes(3, 4, labels + 4, 20)  # to the last row, whose sums are taken another way
    experiment = Experiment("clouds", "held-out", hyperparameters, sizes, seed=3)
    theta = THETA if way == "fixed" else None
    task = SimulationTask(experiment, many_labels(labels), {"watched": watched}, theta)
    names = [("watched", run) for run in range(3)]
    together = simulate(task, names)
    joined, alone = np.concatenate(seen), list[list[np.ndarray]]()
    for name, one in zip(names, together, strict=True):
        seen.clear()
        assert_same(trail(task, *name), one)
        alone.append(list(seen))
    apart = np.concatenate([scores[step] for step in range(4) for scores in alone])
    assert len(apart) == 3 * (4 + 3 + 2 + 1)
    assert np.array_equal(joined, apart)


def test_runs_that_test_on_more_rows_than_others_go_together():
    # A block leaves 240 rows, of which a pool takes more in one run than in another.
    experiment = Experiment("block-center", "held-out", "envelope", Sizes(3, 2, 150, 400))
    task = prepared(experiment, load("block-center"), STRATEGIES)
    names = [("necessity", 0), ("necessity", 1), ("random", 0)]
    tests = {len(split(experiment, task.data, run).test) for run in (0, 1)}
    assert len(tests) == 2
    for key, one in zip(names, simulate(task, names), strict=True):
        assert_same(one, trail(task, *key))


@each_set
def test_no_trails_at_all_are_followed_at_once(name):
    assert simulate(task_of(name, "envelope"), []) == []


# ---------------------------------------------------------------- what is asked


@pytest.mark.parametrize(("name", "way"), EVERY_WAY)
def test_rows_are_of_the_pool_and_none_is_asked_twice(name, way):
    labels = len(load(name).labels)
    task = task_of(name, way, Sizes(1, 12 - labels, 12, 20))  # to the last row
    for one in simulate(task, [(strategy, 1) for strategy in STRATEGIES]):
        share = split(task.experiment, task.data, 1)
        assert len(one.rows) == 12 - labels
        assert sorted([*one.rows, *share.start]) == share.pool.tolist()
        assert one.accuracy.shape == (13 - labels,)
        assert ((one.accuracy >= 0) & (one.accuracy <= 1)).all()


def test_strategies_share_the_start_of_a_run():
    every = simulate(task_of("iris", "envelope"), [(strategy, 1) for strategy in STRATEGIES])
    assert len({one.accuracy[0] for one in every}) == 1
    assert len({one.rows.tobytes() for one in every}) > 3


def test_a_run_learns():
    every = simulate(task_of("iris", "envelope", Sizes(1, 20, 60, 60)), [("necessity", 0)])
    assert every[0].accuracy[-1] > 0.9 > every[0].accuracy[0]


def test_a_task_starts_with_one_label_of_each():
    assert task_of("wine", "fixed").start == 2
    assert task_of("iris", "fixed").start == 3


def test_seeds_of_campaigns_differ_by_run_and_by_seed():
    seeds = {campaign_seed(seed, run) for seed in range(3) for run in range(3)}
    assert len(seeds) == 9
    assert campaign_seed(1, 2) == campaign_seed(1, 2)


# ---------------------------------------------------------------- in advance


@each_set
def test_what_is_fitted_in_advance_is_the_maximum_of_the_evidence_on_all_labels(name):
    data = load(name)
    top = np.array(fit_in_advance(data, 0))
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    fit = problem(None, labelled(X, data.y, len(data.labels)))
    around = [[0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1], [1.0, 1.0], [-1.0, -1.0]]
    posterior = fit.at(np.vstack([top, top + np.array(around), fit.hyperprior.centre]))
    heights = posterior.log_evidence + posterior.log_prior
    assert heights.argmax() == 0
    belief = fit.hyperprior
    slope = belief.slopes_at((top - belief.centre) / belief.sd) / belief.sd
    slope += posterior.evidence_slopes()[0]
    np.testing.assert_allclose(slope, 0.0, atol=0.05)


def test_in_advance_at_most_a_thousand_rows_are_read(monkeypatch):
    assert simulation._MOST_ROWS == 1000  # noqa: SLF001 - the number the documentation names
    monkeypatch.setattr(simulation, "_MOST_ROWS", 40)
    data = load("wine")
    found_there = [fit_in_advance(data, seed) for seed in (0, 0, 1)]
    assert found_there[0] == found_there[1] != found_there[2]
    # The columns are those of the whole set.
    rows = np.sort(random_stream(1, 0, "in advance").permutation(len(data.y))[:40])
    fit = problem(None, labelled(scaled(data.X, data.X)[rows], data.y[rows], 2))
    (kernel,) = evidence(fit).prior.settings()[0]
    assert found_there[2] == tuple(kernel.theta)


@pytest.mark.parametrize(
    ("name", "hyperparameters", "fitted"),
    [
        ("wine", "paper", True),
        ("wine", "evidence", False),
        ("wine", "envelope", False),
        ("iris", "paper", False),
        ("iris", "envelope", False),
    ],
)
def test_only_the_papers_way_with_two_labels_reads_them_in_advance(name, hyperparameters, fitted):
    experiment = Experiment(name, "paper", hyperparameters, SIZES, seed=2)
    task = prepared(experiment, load(name), STRATEGIES)
    assert (task.theta is not None) == fitted
    assert task.experiment is experiment
    if fitted:
        assert task.theta == fit_in_advance(load(name), 2)


def test_without_a_fit_in_advance_the_papers_way_is_that_of_the_evidence(monkeypatch):
    monkeypatch.setattr(simulation, "COMMON", NO_LEVEL)  # the paper's kernel has nothing in common
    for run in RUNS:
        one = trail(task_of("iris", "evidence"), "margin", run)
        paper = SimulationTask(
            Experiment("iris", "held-out", "paper", SIZES, 3), load("iris"), STRATEGIES
        )
        assert_same(one, trail(paper, "margin", run))


def test_rows_compared_by_cosine_are_learnt_from_as_a_classifier_does():
    data = replace(load("iris"), metric="cosine")
    experiment = Experiment("iris", "held-out", "envelope", SIZES, 3)
    share = split(experiment, data, 0)
    (run,) = simulate(SimulationTask(experiment, data, STRATEGIES), [("margin", 0)])
    known = np.concatenate([share.start, run.rows])
    for n, accuracy in enumerate(run.accuracy, start=len(share.start)):
        model = PossibilisticGPClassifier(metric="cosine", classes=[0, 1, 2])
        model.fit(share.X[known[:n]], data.y[known[:n]])
        assert accuracy == pytest.approx(model.score(share.X[share.test], data.y[share.test]))


def test_labels_are_written_as_a_gaussian_process_reads_them():
    X = np.zeros((3, 1))
    two, three = labelled(X, np.array([0, 1, 1]), 2), labelled(X, np.array([2, 0, 1]), 3)
    assert two.y.tolist() == [[-1, 1, 1]]
    assert three.y.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert (two.link, three.link) == (PROBIT, SOFTMAX)
    assert two.weight.tolist() == three.weight.tolist() == [[1, 1, 1]]


def test_two_labels_are_binary_even_if_only_one_occurs():
    data = Dataset("mine", np.zeros((2, 1)), [0, 0], ("no", "yes"), ("x",), SOURCES["fri"])
    assert is_binary(data)
    assert not is_binary(load("iris"))


# ---------------------------------------------------------------- a strategy of one's own

MINE = """
import sys
import numpy as np
from possibal import acquisition
from possibal.acquisition.scoring import one_per_latent, score

def doubt(view):
    assert view.candidates.shape[1] == view.reference.shape[1]
    return acquisition.doubt(view)

def uncertainty(view):
    return acquisition.uncertainty(view.posterior.at(view.candidates))

def random(view):
    return view.rng.random(len(view.candidates))

@score(size=one_per_latent)
def spread(belief):
    return acquisition.latent_entropy(belief)

def raises(view):
    return helper(view)

def helper(view):
    steps = [1, 2]
    return steps[len(view.candidates)]

def deeper(view):
    return np.linalg.cholesky(-np.eye(len(view.candidates)))

def leaves(view):
    sys.exit("enough")

def missing(view):
    return np.where(np.arange(len(view.candidates)) == 4, np.nan, 1.0)

def short(view):
    return np.ones(3)

def words(view):
    return ["yes"] * len(view.candidates)

@score(size=one_per_latent)
def blank(belief):
    return np.nan * belief.mean[0].reshape(len(belief), -1)[:, 0]

class Asker:
    def __call__(self, view):
        return view.nothing

asker = Asker()
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of the user's own, in a folder that Python looks into."""
    (tmp_path / "mine.py").write_text(dedent(MINE))
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda name: found(f"mine:{name}")
    del sys.modules["mine"]


def line_of(text):
    """The number of the line of the module that holds a text."""
    lines = MINE.splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


OURS = {
    "doubt": "necessity",
    "uncertainty": "uncertainty",
    "random": "random",
    "spread": "latent_entropy",
}


@each_way
@pytest.mark.parametrize("name_of_mine", OURS)
def test_a_strategy_of_ones_own_that_calls_ours_asks_what_ours_asks(mine, name, way, name_of_mine):
    strategies = {**STRATEGIES, "mine": mine(name_of_mine)}
    task = task_of(name, way, strategies=strategies)
    names = [(which, run) for which in ("mine", OURS[name_of_mine]) for run in RUNS]
    every = simulate(task, names)
    for own, ours in zip(every[:2], every[2:], strict=True):
        assert own.strategy == "mine"
        assert own.rows.tolist() == ours.rows.tolist()
        np.testing.assert_array_equal(own.accuracy, ours.accuracy)


def test_a_strategy_of_ones_own_sees_the_rows_left_and_the_pool():
    task, seen = task_of("iris", "envelope"), []

    def watching(view):
        seen.append(view)
        return -np.arange(len(view.candidates))

    task = SimulationTask(task.experiment, task.data, {"mine": watching})
    one = trail(task, "mine")
    share = split(task.experiment, task.data, 0)
    left = np.setdiff1d(share.pool, share.start)
    assert one.rows.tolist() == left[:4].tolist()
    for step, view in enumerate(seen):
        np.testing.assert_array_equal(view.candidates, share.X[left[step:]])
        assert view.reference is view.candidates
        known = [*share.start, *one.rows[:step]]
        np.testing.assert_array_equal(view.posterior.data.X, share.X[known])


def test_of_rows_that_are_worth_the_same_the_lowest_is_asked():
    task = task_of("wine", "fixed")
    flat = SimulationTask(
        task.experiment, task.data, {"flat": lambda v: np.ones(len(v.candidates))}, THETA
    )
    rows = trail(flat, "flat").rows
    share = split(task.experiment, task.data, 0)
    assert rows.tolist() == np.setdiff1d(share.pool, share.start)[:4].tolist()


@each_set
@pytest.mark.parametrize(
    ("name_of_mine", "told", "text"),
    [
        ("raises", "IndexError: list index out of range", "steps[len"),
        ("deeper", "LinAlgError: Matrix is not positive definite", "cholesky"),
        ("leaves", "SystemExit: enough", "sys.exit"),
        ("missing", "must give numbers; got NaN at row 4", "def missing"),
        ("short", "got shape (3,) of float64", "def short"),
        ("words", "of <U3", "def words"),
        ("blank", "must give numbers; got NaN at row 0", "@score(size=one_per_latent)\ndef blank"),
    ],
)
def test_a_strategy_that_fails_is_named_with_its_line(mine, name, name_of_mine, told, text):
    task = task_of(name, "envelope", strategies={f"mine:{name_of_mine}": mine(name_of_mine)})
    with pytest.raises(StrategyError) as e:
        trail(task, f"mine:{name_of_mine}")
    number = MINE[: MINE.index(text)].count("\n") + 1
    sentence = str(e.value)
    assert sentence.startswith(
        f"strategy mine:{name_of_mine} must give one number for each candidate; got "
    )
    assert told in sentence
    assert f"(mine.py, line {number}). Mend it and run again." in sentence
    assert "\n" not in sentence
    assert isinstance(e.value, ValueError)


def test_an_object_that_fails_is_named_with_its_line_too(mine):
    task = task_of("wine", "fixed", strategies={"mine:asker": mine("asker")})
    with pytest.raises(StrategyError, match=r"^strategy mine:asker must .*AttributeError") as e:
        trail(task, "mine:asker")
    assert f"(mine.py, line {line_of('view.nothing')})" in str(e.value)


def test_every_choice_of_hyperparameters_has_its_inference():
    known = {name for model, name in simulation.METHODS if model == "laplace"}
    assert known == set(HYPERPARAMETERS)
    fitted = {name: simulation.METHODS["laplace", name].fitted for name in HYPERPARAMETERS}
    assert fitted["paper"] is fitted["evidence"] is batch.evidence
    assert fitted["envelope"] is batch.envelope
    assert {model for model, _ in simulation.METHODS} == set(MODELS)


# ---------------------------------------------------------------- recipes and models
def published_task(name, sizes=SIZES):
    data = load(name)
    experiment = Experiment(name, "paper", "paper", sizes, seed=3, recipe=PUBLISHED)
    usual = {one: STRATEGIES[one] for one in strategies(name)}
    chosen = usual | drawn_scores(PUBLISHED, len(data.labels))
    theta = fit_in_advance(data, 3, PUBLISHED.kernel(len(data.labels)))
    return SimulationTask(experiment, data, chosen, theta)


@each_set
def test_runs_of_a_recipe_are_the_same_alone_and_in_company(name):
    task = published_task(name)
    names = [(one, run) for run in RUNS for one in task.strategies]
    for one in simulate(task, names):
        assert_same(one, trail(task, one.strategy, one.run))
        assert len(set(one.rows.tolist())) == SIZES.queries


def test_the_hyperparameters_of_a_recipe_are_its_own():
    data = load("wine")
    prior = fixed_prior(PUBLISHED.binary, data)
    assert fit_in_advance(data, 0, PUBLISHED.binary) == prior.theta
    assert published_task("wine").mean == prior.mean
    assert published_task("iris").mean.is_zero
    assert task_of("wine", "fixed").mean.is_zero


def test_far_from_all_labels_the_mean_predicts_the_label_coded_one():
    narrow = replace(PUBLISHED, binary=FixedKernel(15.0, 1e-3, 0.3))
    task = published_task("wine")
    data = task.data
    experiment = replace(task.experiment, recipe=narrow)
    theta = fit_in_advance(data, 3, narrow.binary)
    one = trail(SimulationTask(experiment, data, task.strategies, theta), "random")
    test = split(experiment, data, 0).test
    assert one.accuracy[0] == pytest.approx(np.mean(data.y[test] == 1), abs=0.1)


def test_predictions_of_three_labels_are_by_draws():
    task = published_task("iris")
    exact = replace(task.experiment, recipe=replace(PUBLISHED, label_draws=0))
    other = SimulationTask(exact, task.data, task.strategies, task.theta)
    one, two = trail(task, "necessity"), trail(other, "necessity")
    np.testing.assert_array_equal(one.rows, two.rows)
    assert not np.array_equal(one.accuracy, two.accuracy)


@pytest.mark.parametrize("fixed", [True, False])
def test_the_variational_model_asks_and_learns(fixed):
    experiment = Experiment("iris", "paper", "paper", SIZES, seed=3, model="variational")
    chosen = {one: STRATEGIES[one] for one in strategies("iris")}
    task = SimulationTask(experiment, load("iris"), chosen, THETA if fixed else None)
    runs = simulate(task, [(one, 0) for one in chosen])
    for one in runs:
        assert len(set(one.rows.tolist())) == SIZES.queries
        assert np.all((one.accuracy >= 0) & (one.accuracy <= 1))
    assert_same(runs[0], trail(task, runs[0].strategy))


def test_the_variational_model_has_no_joint_covariances():
    experiment = Experiment("iris", "paper", "paper", SIZES, seed=3, model="variational")
    task = SimulationTask(experiment, load("iris"), {"herding": STRATEGIES["herding"]})
    with pytest.raises(TypeError, match=r"^model must be laplace for a strategy .*; got"):
        trail(task, "herding")
