"""What each part of ours is worth: the model, and the geometry in which it asks.

    jobs of a set -> questions of the plain model, of the plain geometry, labels judged again
    results --by_contrast, by_set--> tables

The default model is an RBF with an additive kernel or diffusion coordinates beside it; the plain
one is the RBF alone. Herding asks in the geometry of its model. So two hypotheses are to be told
apart: that the model learns more from the same labels, and that its geometry asks for better ones.
Labels that one model asked for are also judged by the other, and all questions by a referee.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from inspect import getsource

import efficiency
import numpy as np
from efficiency import Sets

from possibal.acquisition.coverage import herding
from possibal.acquisition.strategy import View
from possibal.arrays import Matrix, Vector
from possibal.experiments.compare import RANDOM, in_words
from possibal.experiments.datasets import Dataset
from possibal.experiments.engine.results_file import opened
from possibal.experiments.engine.run_batch import PoolGeometry, RunBatch
from possibal.experiments.engine.runner import ExperimentJob, StartedJob, Work
from possibal.experiments.engine.simulation import METHODS, Names
from possibal.experiments.reporting.paper_tables import Cell, TableColumn, TextTable
from possibal.experiments.results import Results, Run
from possibal.experiments.spec import ENVELOPE, ENVELOPE_RBF, Experiment
from possibal.experiments.splits import Split, split
from possibal.gp.hyperparameters import COMMON, COMMON_DIRECTIONS
from possibal.gp.posterior import Posterior
from possibal.numerics.geometry import COSINE
from possibal.numerics.linalg import one_thread

OURS = "herding"
IN_COLUMNS = "herding, in plain columns"
PLAIN, PLAIN_RANDOM = "herding, plain model", "random, plain model"
PLAIN_ASKED = "questions of the plain model, judged by the model"
JUDGED_BY_PLAIN = "questions of the model, judged by the plain one"
BY_REFEREE = "{}, by the referee"
ANSWERS = (10, 20, 50)
"""After how many answers differences are shown, besides over the run."""


# ---------------------------------------------------------------- questions in plain columns
class InColumns(Posterior):
    """A posterior whose rows are near if their plain columns are."""

    def coordinates(self, X: Matrix) -> Matrix:
        """The columns that the RBF reads, as under the plain model."""
        return self.prior.feature_map.leading(X)


def herding_in_columns(view: View) -> Vector:
    """Herding by the beliefs of the model that asks, its coverage in plain columns."""
    known = view.posterior
    assert isinstance(known, Posterior)
    parts = {field.name: getattr(known, field.name) for field in fields(known)}
    return herding(replace(view, posterior=InColumns(**parts), kept={}))


# ---------------------------------------------------------------- labels judged by another model
@dataclass(frozen=True, eq=False)
class ReplayJob(StartedJob):
    """An experiment whose questions were asked by another, so that only the model differs.

    Attributes:
        asked: the runs of the other, by strategy and run; those to come are found there in the end.
        strategy: whose runs.
    """

    asked: Mapping[tuple[str, int], Run]
    strategy: str

    @property
    def work(self) -> Work:
        """What the workers do."""
        return partial(replays, self.job.experiment, self.job.data, self.asked, self.strategy)


def replay(one: StartedJob, strategy: str, name: str, hyperparameters: str) -> ReplayJob:
    """The questions of a strategy in an experiment, judged under other hyperparameters.

    Args:
        one: the experiment.
        strategy: one of its own.
        name: of what it will be called.
        hyperparameters: of the model that judges.
    """
    other = replace(one.job.experiment, hyperparameters=hyperparameters)
    told = f"{strategy} under {one.job.experiment.hyperparameters}"
    job = ExperimentJob(other, one.job.data, {name: one.job.strategies[strategy]}, told)
    path = one.results_file.path.with_name(job.file)
    own = opened(path, job.provenance, None)
    return ReplayJob(job, own, one.results_file.runs, strategy)


def replays(
    experiment: Experiment,
    data: Dataset,
    asked: Mapping[tuple[str, int], Run],
    strategy: str,
    names: Names,
) -> list[Run]:
    """Runs that ask what others asked, with the accuracy of the experiment's own model."""
    found = list[Run]()
    with one_thread():
        for name, number in names:
            share, rows = split(experiment, data, number), asked[strategy, number].rows
            found.append(Run(name, number, rows, _learnt(experiment, data, share, rows)))
    return found


def _learnt(experiment: Experiment, data: Dataset, share: Split, rows: Matrix) -> Vector:
    """Accuracy with the start alone, then after each of some answers."""
    method = METHODS[experiment.model, experiment.hyperparameters]
    geometry = PoolGeometry.of(share, data, None, plain=experiment.is_plain)
    level = COMMON_DIRECTIONS if data.metric == COSINE else COMMON
    runs = RunBatch.at_start([geometry], len(data.labels), len(rows), level=level)
    fit, accuracy = runs.fit(method), list[float]()
    for row in rows:
        accuracy.append(float(fit.accuracy()[0]))
        at = np.searchsorted(runs.left[0], np.searchsorted(share.pool, row))
        runs = runs.with_labels(np.array([at]))
        fit = runs.fit(method, fit)
    return np.array([*accuracy, float(fit.accuracy()[0])])


# ---------------------------------------------------------------- jobs of a set
def planned(job: ExperimentJob) -> list[ExperimentJob]:
    """The experiments that are run besides, given that of ours.

    Args:
        job: with herding and random under the envelope.
    """
    asking = {name: job.strategies[name] for name in (RANDOM, OURS)}
    plain = replace(job.experiment, hyperparameters=ENVELOPE_RBF)
    source = getsource(InColumns) + getsource(herding_in_columns)
    variant = ExperimentJob(job.experiment, job.data, {IN_COLUMNS: herding_in_columns}, source)
    return [ExperimentJob(plain, job.data, asking), variant]


def replayed(ours: StartedJob, plain: StartedJob) -> list[ReplayJob]:
    """The questions under either model, judged by the other."""
    return [
        replay(plain, OURS, PLAIN_ASKED, ENVELOPE),
        replay(ours, OURS, JUDGED_BY_PLAIN, ENVELOPE_RBF),
    ]


def joined(by_model: Sequence[Results], by_referee: Sequence[Results]) -> Results:
    """One result of a set, its contenders by the names above.

    Args:
        by_model: the experiments, each judged by its own model.
        by_referee: the same, judged by the referee.
    """
    plain = {OURS: PLAIN, RANDOM: PLAIN_RANDOM}
    accuracy = dict[str, Matrix]()
    for results, told in ((by_model, "{}"), (by_referee, BY_REFEREE)):
        for one in results:
            names = plain if one.experiment.hyperparameters == ENVELOPE_RBF else {}
            accuracy |= {told.format(names.get(k, k)): v for k, v in one.accuracy.items()}
    return replace(by_model[0], accuracy=accuracy)


# ---------------------------------------------------------------- tables
@dataclass(frozen=True)
class Contrast:
    """Two contenders that differ in one thing.

    Attributes:
        told: what they differ in.
        given, without: the contender that has it, and the one that has not.
    """

    told: str
    given: str
    without: str


CONTRASTS = (
    Contrast("model and geometry", OURS, PLAIN),
    Contrast("model, by questions of the plain one", PLAIN_ASKED, PLAIN),
    Contrast("model, by its own questions", OURS, JUDGED_BY_PLAIN),
    Contrast("model, by random questions", RANDOM, PLAIN_RANDOM),
    Contrast("questions, judged by the model", OURS, PLAIN_ASKED),
    Contrast("questions, judged by the referee", *(BY_REFEREE.format(n) for n in (OURS, PLAIN))),
    Contrast("geometry of questions", OURS, IN_COLUMNS),
    Contrast(
        "geometry of questions, by the referee",
        *(BY_REFEREE.format(name) for name in (OURS, IN_COLUMNS)),
    ),
)
"""What is told apart."""


def by_contrast(groups: Mapping[str, Sets], title: str, note: str) -> TextTable:
    """What each part is worth over groups of sets, in points with intervals.

    Args:
        groups: the sets of each, by its name.
        title: of the table.
        note: on what the results are.
    """
    columns = (
        TableColumn("what differs"),
        TableColumn("sets"),
        TableColumn("over the run [95 %]", _ends("over the run"), figures=True),
        *(TableColumn(f"after {at} [95 %]", _ends(f"after {at}"), figures=True) for at in ANSWERS),
    )
    rows = tuple(
        (
            Cell(one.told),
            Cell(f"{name} ({len(results)})"),
            *(_cell(results, one, at) for at in (None, *ANSWERS)),
        )
        for one in CONTRASTS
        for name, results in groups.items()
    )
    pairs = "; ".join(f"{one.told}: {one.given} less {one.without}" for one in CONTRASTS)
    told = f"{note} Points of accuracy, paired by runs; intervals are over runs. {pairs}."
    return TextTable(title, columns, rows, heads=2, note=told)


def by_set(results: Sets, title: str, note: str) -> TextTable:
    """What each part is worth on every set, over the run."""
    columns = (
        TableColumn("set"),
        *(TableColumn(one.told, _ends(one.told), figures=True) for one in CONTRASTS),
    )
    rows = tuple(
        (Cell(one.experiment.dataset), *(_cell([one], contrast, None) for contrast in CONTRASTS))
        for one in results
    )
    return TextTable(title, columns, rows, note=note)


def _ends(title: str) -> tuple[str, str, str]:
    """The heads of an estimate in a file."""
    return title, f"{title}, low", f"{title}, high"


def _cell(results: Sets, contrast: Contrast, at: int | None) -> Cell:
    """What one part is worth, over the run or after so many answers."""
    if at is not None and at > results[0].experiment.sizes.queries:
        return Cell()
    lead = efficiency.ahead(results, contrast.given, contrast.without, at)
    return Cell(f"{lead.value:+.2f}{in_words(lead.interval, 2)}", numbers=lead.numbers)
