"""Which questions save most labels: ours beside the strongest peers', on many sets.

    PYTHONPATH=tools python bench/label_efficiency.py --data FOLDER --runs 20

Fourteen public tables that no setting of ours was chosen on, the texts and pictures of a folder as
features.py reads them, and the eleven sets of Table 3 with its pools and tests. All held out and
with the envelope, so that nothing is learned from a label that was not asked for: one label per
class, then 50 questions. All meet the same rows. Accuracy is given in three ways: peers by the
models they are used with; peers by possibal's model and features, which are lent to them; and all
by a referee, a support vector machine that learns from the same labels. Then what the model and
the geometry of its questions are worth (ablation.py). Settings of ours were chosen under seed 0:
the seed of the report is another.

Sets are run one by one, and the report is written anew after each, of those that are complete.
Rows are kept in the folder, and the same command goes on where it was stopped.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import ablation
import efficiency
import numpy as np
import public_sets
from efficiency import LENT, OWN, REFEREE
from features import read_sets
from peers import MODELS, PEERS
from threadpoolctl import threadpool_limits

from possibal.acquisition.registry import STRATEGIES
from possibal.arguments import DEFAULT_STRATEGY, choice
from possibal.experiments import referees
from possibal.experiments.compare import RANDOM, comparison_job
from possibal.experiments.datasets import Dataset, load
from possibal.experiments.engine.runner import (
    Execute,
    ExperimentJob,
    RunProgress,
    StartedJob,
    begin,
    cores,
    run,
)
from possibal.experiments.reporting.figures import as_bytes, check_drawing, curves
from possibal.experiments.reporting.paper_tables import TextTable
from possibal.experiments.reproduce import merged
from possibal.experiments.results import Results
from possibal.experiments.spec import ENVELOPE, REFEREES, TABLE_3, Sizes
from possibal.files import alone, folder, write
from possibal.progress import bar

QUESTIONS, MOST_POOL, MOST_TEST = 50, 400, 500
"""Of each run; and the rows of a pool and of a test, but for the paper's sets."""
SVM = "svm"
PREFIX = "peers:"
DRAWN = 3
"""Peers that are drawn, the best ones."""
OF_OURS = (RANDOM, DEFAULT_STRATEGY, "necessity", "margin")
STRONGEST = (
    *("max_herding_plain", "max_herding", "margin_logistic", "margin_gp", "typi_clust", "falcun"),
    *("badge", "core_set", "prob_cover"),
)
"""What is run if nothing is asked for: of peers those that were best on some set.

Looking ahead takes minutes for a run with ten labels: it must be asked for.
"""
PUBLIC, MEANING, PAPERS = "public tables", "texts and pictures", "the paper's tables"
"""Groups of sets; settings were chosen with sets of the latter two, under another seed."""


# ---------------------------------------------------------------- sets
@dataclass(frozen=True, eq=False)
class BenchmarkSet:
    """A set with the group that it belongs to.

    Attributes:
        group: one of the groups above.
        data: its rows.
        sizes: of its runs.
    """

    group: str
    data: Dataset
    sizes: Sizes


def sizes(data: Dataset, runs: int) -> Sizes:
    """Two thirds of the rows are the pool, up to four hundred; some of the others are the test."""
    pool = min(MOST_POOL, 2 * len(data.y) // 3)
    return Sizes(runs, QUESTIONS, pool, min(MOST_TEST, len(data.y) - pool))


def benchmark_sets(settings: Namespace) -> list[BenchmarkSet]:
    """The sets that were asked for, by their groups."""
    found = list[BenchmarkSet]()
    public = [name for name in public_sets.CITATIONS if name in settings.sets]
    if public:
        with public_sets.wheel(settings.out) as archive:
            tables = [public_sets.read(archive, name, settings.seed) for name in public]
        found += [BenchmarkSet(PUBLIC, one, sizes(one, settings.runs)) for one in tables]
    for one in embedded(settings):
        found.append(BenchmarkSet(MEANING, one, sizes(one, settings.runs)))
    for name in (name for name in TABLE_3 if name in settings.sets):
        size = replace(TABLE_3[name], runs=settings.runs, queries=QUESTIONS)
        found.append(BenchmarkSet(PAPERS, load(name, settings.seed), size))
    return found


def embedded(settings: Namespace) -> list[Dataset]:
    """Texts and pictures by their embeddings, which are made here so that workers find them."""
    if settings.data is None or not set(settings.sets) & set(in_folder(settings.data)):
        return []
    sets = [one.embedded for one in read_sets(settings.data, settings.out)]
    named = [replace(one, name=one.name.removesuffix("-embedded")) for one in sets]
    chosen = [one for one in named if one.name in settings.sets]
    for one in chosen:
        assert one.fitted_to is not None
        one.fitted_to(np.arange(len(one.y)))
    return chosen


def in_folder(data: Path) -> list[str]:
    """The names of the texts and pictures of a folder."""
    return [path.stem for kind in ("texts/*.csv", "pictures/*.zip") for path in data.glob(kind)]


# ---------------------------------------------------------------- runs
@dataclass(frozen=True, eq=False)
class Measured:
    """Results on a set: by possibal's model, by the referee, and peers' by their own models.

    Attributes:
        group: of the set.
        possibal, referee: all strategies.
        own: peers by their own models; ours and random by possibal's.
        parts: the contenders of the ablation.
    """

    group: str
    possibal: Results
    referee: Results
    own: Results
    parts: Results


@dataclass(frozen=True, eq=False)
class StartedSet:
    """A set with the results files of all that is run on it.

    Attributes:
        group: of the set.
        asking: the experiments: that of ours, each peer's, and those of the ablation, two of them.
        judged: the same by the referee.
        own: each peer's by the model that it is used with.
        replayed: labels judged again, for the ablation.
    """

    group: str
    asking: Sequence[StartedJob]
    judged: Sequence[StartedJob]
    own: Sequence[StartedJob]
    replayed: Sequence[StartedJob]

    @classmethod
    def of(cls, group: str, asking: Sequence[StartedJob]) -> "StartedSet":
        """A set, given its experiments, those of the ablation last."""
        ours, *peers = asking[: -len(ablation.planned(asking[0].job))]
        plain = asking[1 + len(peers)]
        judged = referees.referee_jobs(SVM, referees.MODELS[SVM](), asking)
        own = [mine for peer in peers for mine in by_own_model(peer)]
        return cls(group, asking, judged, own, ablation.replayed(ours, plain))

    @property
    def run_count(self) -> int:
        """How many runs there are in all, those that are judged again among them."""
        every = (*self.asking, *self.judged, *self.own, *self.replayed)
        return sum(one.job.run_count for one in every)

    def measured(self, execute: Execute, watch: Callable[[RunProgress], None]) -> Measured:
        """The results; what is judged again was asked before."""
        asked = run(self.asking, execute, watch)
        again = run((*self.judged, *self.own, *self.replayed), execute, watch)
        judged, own = again[: len(asked)], again[len(asked) : len(asked) + len(self.own)]
        usual = 1 + len(self.own)
        (possibal,), (referee,) = _named(asked[:usual]), _named(judged[:usual])
        theirs = _named(own)
        parts = (asked[0], *asked[usual:], *again[len(asked) + len(own) :])
        by_referee = (judged[0], *judged[usual:])
        return Measured(
            self.group,
            possibal,
            referee,
            efficiency.joined([possibal], theirs)[0] if theirs else possibal,
            ablation.joined(parts, by_referee),
        )


def planned(one: BenchmarkSet, settings: Namespace) -> list[ExperimentJob]:
    """The experiments on a set: of ours, of each peer, and for the ablation."""
    names = (*settings.strategies, *(f"{PREFIX}{peer}" for peer in settings.peers))
    jobs = comparison_job(one.data, names, one.sizes, ENVELOPE, settings.seed)
    return [*jobs, *ablation.planned(jobs[0])]


def by_own_model(one: StartedJob) -> list[referees.RefereeJob]:
    """The experiment of a peer, as the model that it is used with will judge it."""
    (name,) = one.job.strategies
    return referees.referee_jobs("own", MODELS[name.removeprefix(PREFIX)](), [one])


def _named(results: Sequence[Results]) -> list[Results]:
    """One result for each set, peers by their names alone."""
    return [
        replace(one, accuracy={k.removeprefix(PREFIX): v for k, v in one.accuracy.items()})
        for one in merged(results)
    ]


def measure(settings: Namespace) -> None:
    """Run what is missing, and write the report after every set."""
    rows = folder(settings.out / "rows", "out")
    with ExitStack() as stack:
        execute = stack.enter_context(cores(settings.jobs))
        stack.enter_context(alone(rows, "out"))
        stack.enter_context(threadpool_limits(1))  # small matrices lose by more threads
        sets = [
            StartedSet.of(one.group, begin(planned(one, settings), rows, execute))
            for one in benchmark_sets(settings)
        ]
        show = stack.enter_context(bar(sum(one.run_count for one in sets)))

        def watch(progress: RunProgress) -> None:
            show(progress.experiment.dataset, progress.runs)

        found = list[Measured]()
        for one in sets:
            found.append(one.measured(execute, watch))
            for name, content in contents(found, settings).items():
                write(settings.out / name, content)


# ---------------------------------------------------------------- report
def contents(found: Sequence[Measured], settings: Namespace) -> dict[str, bytes]:
    """What is written: a report, its tables as CSV, and curves."""
    judged = {
        OWN: [one.own for one in found],
        LENT: [one.possibal for one in found],
        REFEREE: [one.referee for one in found],
    }
    peers, size = [RANDOM, *settings.peers], _size(found, settings)
    tables = dict[str, TextTable]()
    for by, results in judged.items():
        tables |= tabled(by, results, settings, size)
    grouped = {by: groups(found, results) for by, results in judged.items()}
    tables["groups"] = efficiency.by_group(grouped, settings.default, peers, size)
    parts = [one.parts for one in found]
    title = "What the model and the geometry of its questions are worth"
    tables["ablation"] = ablation.by_contrast(groups(found, parts), title, size)
    tables["ablation-sets"] = ablation.by_set(parts, f"{title}, over the run of every set", size)
    verdict = efficiency.verdict(judged, settings.default, peers)
    report = [table.markdown() for table in tables.values()]
    report += ["**Verdict**", "", *(f"- {sentence}" for sentence in verdict), ""]
    own = judged[OWN]
    best = sorted(settings.peers, key=lambda peer: -efficiency.over(own, peer))[:DRAWN]
    drawn = curves(efficiency.chosen(own, list(dict.fromkeys([RANDOM, settings.default, *best]))))
    return {
        "report.md": "\n".join(report).encode(),
        **{f"{name}.csv": table.csv().encode() for name, table in tables.items()},
        **{f"curves.{kind}": as_bytes(drawn, kind) for kind in ("png", "svg")},
    }


def groups(found: Sequence[Measured], results: Sequence[Results]) -> dict[str, list[Results]]:
    """Results by groups of sets, as far as a group has any."""
    every = {
        "all": (PUBLIC, MEANING, PAPERS),
        "tables": (PUBLIC, PAPERS),
        **{group: (group,) for group in (PUBLIC, PAPERS, MEANING)},
    }
    pairs = list(zip(found, results, strict=True))
    some = {name: [r for one, r in pairs if one.group in kinds] for name, kinds in every.items()}
    return {name: chosen for name, chosen in some.items() if chosen}


def _size(found: Sequence[Measured], settings: Namespace) -> str:
    """How much was run."""
    return (
        f"{settings.runs} runs of {QUESTIONS} questions on {len(found)} sets, seed {settings.seed}."
    )


FILES = {
    OWN: ("own", "Peers by the models they are used with."),
    LENT: ("lent", "Peers by possibal's model, which learns from the labels that they asked for."),
    REFEREE: ("referee", f"One model for all, {REFEREES[SVM]}."),
}
"""What the tables of each way to judge are called, and what is said under them."""


def tabled(by: str, results: list[Results], settings: Namespace, size: str) -> dict[str, TextTable]:
    """The tables of one way to judge: over all sets, and set by set."""
    name, told = FILES[by]
    note, title, peers = f"{size} {told}", f"Accuracy, {by}", [RANDOM, *settings.peers]
    return {
        f"strategies-{name}": efficiency.by_strategy(results, settings.default, title, note),
        f"sets-{name}": efficiency.by_set(results, peers, f"{title}, set by set", note),
    }


def asked() -> Namespace:
    """What the user asks for."""

    def names(text: str) -> list[str]:
        return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))

    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of texts/*.csv and pictures/*.zip")
    parser.add_argument("--sets", type=names, help="all if left out")
    parser.add_argument("--strategies", type=names, default=list(OF_OURS), help="of ours")
    parser.add_argument("--peers", type=names, default=list(STRONGEST))
    parser.add_argument("--default", default=DEFAULT_STRATEGY, help="the one of ours to be judged")
    parser.add_argument("--runs", type=int, default=20, help="of each set")
    parser.add_argument("--seed", type=int, default=2030)
    parser.add_argument("--jobs", type=int, help="processes; one per core if left out")
    parser.add_argument("--out", type=Path, default=Path("label-efficiency"))
    settings = parser.parse_args()
    settings.out = folder(settings.out, "out").resolve()
    try:
        checked(settings)
    except ValueError as error:
        parser.error(str(error))
    always = [RANDOM, settings.default, ablation.OURS]
    settings.strategies = list(dict.fromkeys([*always, *settings.strategies]))
    return settings


def checked(settings: Namespace) -> None:
    """Refuse names that are not known; all sets where none were named."""
    if settings.data is not None and not in_folder(settings.data):
        raise ValueError(
            "data must be a folder with texts/*.csv and pictures/*.zip; got "
            f"{str(settings.data)!r}. Run make label-efficiency DATA=folder."
        )
    beside = [] if settings.data is None else in_folder(settings.data)
    sets = [*public_sets.CITATIONS, *beside, *TABLE_3]
    if len(set(sets)) < len(sets):
        raise ValueError(f"data must have names of its own; got {beside}. Rename a file.")
    settings.sets = settings.sets or sets
    known = {"sets": sets, "strategies": STRATEGIES, "peers": PEERS}
    for argument, names in known.items():
        for name in getattr(settings, argument):
            choice(argument, name, dict.fromkeys(names))
    choice("default", settings.default, STRATEGIES)


def main() -> None:
    """Run what is missing, write the report and print it."""
    check_drawing()
    settings = asked()
    measure(settings)
    print((settings.out / "report.md").read_text(encoding="utf-8"))
    print(f"Written to {settings.out}")


if __name__ == "__main__":
    main()
