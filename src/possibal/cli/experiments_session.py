"""What the commands of experiments.py do: run experiments with a bar, print tables, write files."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from possibal.arguments import at_least, choice
from possibal.cli.console import console, grid, mistakes
from possibal.experiments import compare as comparison
from possibal.experiments import referees, user_data
from possibal.experiments import reproduce as reproduction
from possibal.experiments.datasets import DATASETS, Dataset, load
from possibal.experiments.engine.runner import (
    ExperimentJob,
    RunProgress,
    begin,
    cluster,
    cores,
    run,
)
from possibal.experiments.engine.simulation import is_binary
from possibal.experiments.reporting.comparison_report import StrategyComparison, comparison_report
from possibal.experiments.reporting.comparison_table import comparison_table
from possibal.experiments.reporting.figures import as_bytes, check_drawing, mean_curves
from possibal.experiments.reporting.paper_tables import TextTable
from possibal.experiments.reporting.timing import measured as measure_cost
from possibal.experiments.reproduce import ReproduceRequest, Reproduction
from possibal.experiments.results import Results
from possibal.experiments.spec import VARIATIONAL, Sizes
from possibal.experiments.strategies import checked_model, resolve_model, usual_strategies
from possibal.files import alone, folder, write
from possibal.progress import bar


@dataclass(frozen=True)
class RunOptions:
    """Where to work.

    Attributes:
        to: the folder to write to.
        jobs: processes; None means one per core.
        dask: address of a scheduler, or local; None means the cores of this machine.
    """

    to: Path
    jobs: int | None = None
    dask: str | None = None


def datasets() -> None:
    """Print the data sets that can be named."""
    heads = [("name", False), ("rows", True), ("columns", True), ("labels", False)]
    heads += [("OpenML", True), ("source", False)]
    rows = list[list[str]]()
    for name in DATASETS:
        data = load(name)
        size = [str(len(data.y)), str(data.X.shape[1])]
        number = str(data.source.openml or "")
        rows.append([name, *size, ", ".join(data.labels), number, data.source.citation])
    out = console()
    out.print(grid("Data sets of the paper", heads, rows))
    out.print(
        "Any other labelled set: openml:ID, or a CSV, Excel, Parquet or ARFF file; "
        "see possibal compare --help.",
        soft_wrap=True,
    )


def reproduce(settings: ReproduceRequest, workplace: RunOptions) -> None:
    """Run the paper's experiments, print what was asked for and write it."""
    with mistakes():
        jobs = reproduction.reproduction_jobs(settings)
        if settings.figures:
            check_drawing()
        place = _place(workplace)
    done = _run(jobs, workplace)
    costs = measure_cost() if settings.what in {"cost", "all"} else None
    results = reproduction.merged(done.results)
    findings = Reproduction(settings, results, done.timing.milliseconds, costs)
    files_written = _write(place, findings.files())
    for table in findings.tables.values():
        _print(table)
    _print_timing(done.timing)
    for sentence in (*findings.summary, files_written):
        console().print(sentence, soft_wrap=True)


@dataclass(frozen=True)
class CompareRequest:
    """What to compare, as a user names it.

    Attributes:
        data: a file, openml:ID, or a name.
        label: the column with the labels.
        strategies: by name or as module:function; none means the usual one and the paper's.
        runs: to average over.
        questions: of a run; None means 50, or as many as there is room for.
        hyperparameters: one of those of spec.py.
        seed: where every draw comes from.
        encoding: of the file, if it is not UTF-8.
        referees: models that learn from the same labels, by name.
        pipeline: module:name of a pipeline whose transformers make numbers of the rows.
        classifier: module:name of what learns in place of the usual classifier.
    """

    data: str
    label: str | None
    strategies: tuple[str, ...]
    runs: int
    questions: int | None
    hyperparameters: str
    seed: int
    encoding: str | None = None
    referees: tuple[str, ...] = ()
    pipeline: str | None = None
    classifier: str | None = None


def compare(asked: CompareRequest, workplace: RunOptions) -> None:
    """Run strategies on any labelled data, print them side by side and write that."""
    with mistakes():
        at_least("seed", asked.seed, 0)
        for name in asked.referees:
            choice("referee", name, referees.MODELS)
        data, notes = _read(asked)
        if asked.classifier is not None:
            notes = (*notes, f"{asked.classifier} learns in place of the usual classifier.")
        size = comparison.sizes(data, asked.runs, asked.questions)
        jobs = _comparison_jobs(asked, data, size)
        check_drawing()
        place = _place(workplace)
    for note in notes:
        console().print(note, soft_wrap=True)
    done = _run(jobs, workplace, asked.referees)
    (result,) = reproduction.merged(done.results)
    judged = {name: reproduction.merged(some)[0] for name, some in done.judged.items()}
    shown, drawn = comparison_table(result, judged), mean_curves(result)
    tables = {"comparison.md": shown.markdown().encode(), "comparison.csv": shown.csv().encode()}
    pictures = {f"curves.{kind}": as_bytes(drawn, kind) for kind in ("png", "svg")}
    page = comparison_report(
        StrategyComparison(data, result, shown, notes, asked.referees), pictures["curves.svg"]
    )
    files_written = _write(place, {**tables, **pictures, "report.html": page.encode()})
    _print(shown)
    _print_timing(done.timing)
    for sentence in (comparison.verdict(result), files_written):
        console().print(sentence, soft_wrap=True)


def _comparison_jobs(asked: CompareRequest, data: Dataset, size: Sizes) -> list[ExperimentJob]:
    """What is to be run, by the usual classifier or by the user's."""
    model = None if asked.classifier is None else resolve_model(asked.classifier)
    chosen = asked.strategies or usual_strategies(model)
    jobs = comparison.comparison_job(data, chosen, size, asked.hyperparameters, asked.seed)
    for job in jobs:
        checked_model(model, job.strategies, asked.hyperparameters)
    return [replace(job, model=model) for job in jobs]


def _read(asked: CompareRequest) -> tuple[Dataset, tuple[str, ...]]:
    """The set to compare on, and what was done to it."""
    if asked.data not in DATASETS:
        loaded = user_data.read(asked.data, asked.label, asked.encoding, asked.pipeline)
        data, notes = comparison.few_enough(loaded.dataset, asked.seed)
        return data, (*loaded.notes, *notes)
    for name in ("label", "pipeline"):
        if getattr(asked, name) is not None:
            raise ValueError(
                f"{name} must be left out for {asked.data}, whose labels are known; "
                f"got {getattr(asked, name)!r}. Leave it out."
            )
    return load(asked.data, asked.seed), ()


# ---------------------------------------------------------------- at work
@dataclass
class Timing:
    """How fast experiments went: seconds of work and steps, by set."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    steps: dict[str, int] = field(default_factory=dict[str, int])

    def tell(self, progress: RunProgress) -> None:
        """Count what was done just now."""
        name = progress.experiment.dataset
        if progress.seconds:
            done = progress.runs * progress.experiment.sizes.queries
            self.seconds[name] = self.seconds.get(name, 0.0) + progress.seconds
            self.steps[name] = self.steps.get(name, 0) + done

    @property
    def milliseconds(self) -> dict[str, float]:
        """What a step took, by set: a fit, a test and a question."""
        return {name: 1e3 * s / self.steps[name] for name, s in self.seconds.items()}


def _place(workplace: RunOptions) -> Path:
    """The folder to write to, made only if there is someone to work."""
    if workplace.jobs is not None:
        at_least("jobs", workplace.jobs, 1)
    return folder(workplace.to, "to")


@dataclass(frozen=True, eq=False)
class ExperimentResults:
    """What experiments have yielded.

    Attributes:
        results: by our own model.
        timing: how fast they went.
        judged: results of the same runs by referees, by name.
    """

    results: list[Results]
    timing: Timing
    judged: Mapping[str, list[Results]]


def _run(
    jobs: Sequence[ExperimentJob], workplace: RunOptions, names: Sequence[str] = ()
) -> ExperimentResults:
    """The results of experiments, with a bar while they run and referees measure them again."""
    timing = Timing()
    if not jobs:
        return ExperimentResults([], timing, {})
    effort = {job.experiment.name: _effort(job) for job in jobs}
    with ExitStack() as stack:
        with mistakes():
            workers, dask = workplace.jobs, workplace.dask
            execute = stack.enter_context(cluster(dask, workers) if dask else cores(workers))
            rows = folder(workplace.to / "rows", "to")
            stack.enter_context(alone(rows, "to"))
            show = stack.enter_context(bar(_total(jobs, len(names))))
            show("hyperparameters in advance", 0.0)
            started = begin(jobs, rows, execute)
            again = {
                name: referees.referee_jobs(name, referees.MODELS[name](), started)
                for name in names
            }

        def watch(progress: RunProgress) -> None:
            timing.tell(progress)
            name = progress.experiment.name
            show(progress.experiment.dataset, effort[name] * progress.runs)

        def watch_referees(progress: RunProgress) -> None:
            queries = progress.experiment.sizes.queries
            show(f"{progress.experiment.dataset}, by referees", queries * progress.runs)

        results = run(started, execute, watch)
        judged = {name: run(some, execute, watch_referees) for name, some in again.items()}
        return ExperimentResults(results, timing, judged)


def _total(jobs: Sequence[ExperimentJob], times: int) -> float:
    """What all runs take, and to have each measured by referees so many times."""
    return sum(
        job.run_count * (_effort(job) + times * job.experiment.sizes.queries) for job in jobs
    )


def _effort(job: ExperimentJob) -> float:
    """What a run takes, roughly, against others."""
    each = 1.0 if job.leaks else 6.0 if is_binary(job.data) else 30.0
    return (
        job.experiment.sizes.queries * (5.0 if job.experiment.model == VARIATIONAL else 1.0) * each
    )


def _print(table: TextTable) -> None:
    """Show a table on standard output."""
    heads = [(column.title, column.figures) for column in table.columns]
    rows = [[cell.text for cell in row] for row in table.rows]
    out = console()
    out.print(grid(table.title, heads, rows))
    if table.note:
        out.print(table.note, soft_wrap=True)
    out.print()


def _print_timing(timing: Timing) -> None:
    """Show how long steps took, if any were taken."""
    if timing.seconds:
        heads = [("set", False), ("steps", True), ("seconds of work", True), ("a step, ms", True)]
        rows = [
            [name, str(timing.steps[name]), f"{timing.seconds[name]:.1f}", f"{each:.2f}"]
            for name, each in timing.milliseconds.items()
        ]
        console().print(grid("Time: a step is a fit, a test and a question", heads, rows), "")


def _write(place: Path, contents: Mapping[str, bytes]) -> str:
    """Put files into the folder, each all at once; a sentence that says so."""
    for name, content in contents.items():
        write(place / name, content)
    return f"Written to {place}: {', '.join(sorted(contents))}"
