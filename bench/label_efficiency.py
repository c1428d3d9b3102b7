"""Which questions save most labels: ours beside the strongest peers', on the paper's sets.

    python bench/label_efficiency.py --runs 20

The eleven sets of Table 3 with its pools and tests, held out and with the envelope, so that nothing
is learned from a label that was not asked for: one label per class, then 50 questions. All meet the
same rows. Accuracy is given in three ways: peers by the models they are used with; peers by
possibal's model, which is lent to them; and all by a referee, a support vector machine that learns
from the same labels. Settings of ours were chosen under seed 0: the seed of the report is another.

Rows are kept in the folder, and the same command goes on where it was stopped.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import efficiency
from efficiency import LENT, OWN, REFEREE
from peers import MODELS, PEERS
from threadpoolctl import threadpool_limits

from possibal.acquisition.registry import STRATEGIES
from possibal.arguments import DEFAULT_STRATEGY, choice
from possibal.experiments import referees
from possibal.experiments.compare import RANDOM, comparison_job
from possibal.experiments.datasets import load
from possibal.experiments.engine.runner import (
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
from possibal.experiments.spec import ENVELOPE, REFEREES, TABLE_3
from possibal.files import alone, folder, write
from possibal.progress import bar

QUESTIONS = 50
SVM = "svm"
PREFIX = "peers:"
DRAWN = 3
"""Peers that are drawn, the best ones."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Results on each set: by possibal's model, by the referee, and peers' by their own models."""

    possibal: list[Results]
    referee: list[Results]
    peers: list[Results]


def planned(settings: Namespace) -> list[ExperimentJob]:
    """The experiments; each peer has a results file of its own."""
    names = (*settings.strategies, *(f"{PREFIX}{peer}" for peer in settings.peers))
    plan = list[ExperimentJob]()
    for name in settings.sets:
        size = replace(TABLE_3[name], runs=settings.runs, queries=QUESTIONS)
        data = load(name, settings.seed)
        plan += comparison_job(data, names, size, ENVELOPE, settings.seed)
    return plan


def measured(plan: Sequence[ExperimentJob], settings: Namespace) -> Measured:
    """The results, with a bar while they come."""
    peers = [one for one in plan if one.source is not None]
    total = 2 * sum(one.run_count for one in plan) + sum(one.run_count for one in peers)
    rows = folder(settings.out / "rows", "out")
    with ExitStack() as stack:
        execute = stack.enter_context(cores(settings.jobs))
        stack.enter_context(alone(rows, "out"))
        stack.enter_context(threadpool_limits(1))  # small matrices lose by more threads
        show = stack.enter_context(bar(total))

        def watch(progress: RunProgress) -> None:
            show(progress.experiment.dataset, progress.runs)

        started = begin(plan, rows, execute)
        judged = referees.referee_jobs(SVM, referees.MODELS[SVM](), started)
        own = [mine for one in started if one.job.source is not None for mine in by_own_model(one)]
        return Measured(*(_named(run(some, execute, watch)) for some in (started, judged, own)))


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


def contents(found: Measured, settings: Namespace) -> dict[str, bytes]:
    """What is written: a report, its tables as CSV, and curves."""
    judged = {
        OWN: efficiency.joined(found.possibal, found.peers) if found.peers else found.possibal,
        LENT: found.possibal,
        REFEREE: found.referee,
    }
    tables = dict[str, TextTable]()
    for by, results in judged.items():
        tables |= tabled(by, results, settings)
    verdict = efficiency.verdict(judged, settings.default, [RANDOM, *settings.peers])
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


FILES = {
    OWN: ("own", "Peers by the models they are used with."),
    LENT: ("lent", "Peers by possibal's model, which learns from the labels that they asked for."),
    REFEREE: ("referee", f"One model for all, {REFEREES[SVM]}."),
}
"""What the tables of each way to judge are called, and what is said under them."""


def tabled(by: str, results: list[Results], settings: Namespace) -> dict[str, TextTable]:
    """The tables of one way to judge: over all sets, and set by set."""
    size = (
        f"{settings.runs} runs of {QUESTIONS} questions on {len(settings.sets)} sets, "
        f"seed {settings.seed}."
    )
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
    parser.add_argument("--sets", type=names, default=list(TABLE_3))
    parser.add_argument("--strategies", type=names, default=list(STRATEGIES), help="of ours")
    parser.add_argument("--peers", type=names, default=list(PEERS))
    parser.add_argument("--default", default=DEFAULT_STRATEGY, help="the one of ours to be judged")
    parser.add_argument("--runs", type=int, default=20, help="of each set")
    parser.add_argument("--seed", type=int, default=2028)
    parser.add_argument("--jobs", type=int, help="processes; one per core if left out")
    parser.add_argument("--out", type=Path, default=Path("label-efficiency"))
    settings = parser.parse_args()
    try:
        for argument, known in (("sets", TABLE_3), ("strategies", STRATEGIES), ("peers", PEERS)):
            for name in getattr(settings, argument):
                choice(argument, name, known)
        choice("default", settings.default, STRATEGIES)
    except ValueError as error:
        parser.error(str(error))
    settings.strategies = list(dict.fromkeys([RANDOM, settings.default, *settings.strategies]))
    return settings


def main() -> None:
    """Run what is missing, write the report and print it."""
    check_drawing()
    settings = asked()
    files = contents(measured(planned(settings), settings), settings)
    for name, content in files.items():
        write(settings.out / name, content)
    print(files["report.md"].decode())
    print(f"Written to {settings.out}: {', '.join(sorted(files))}")


if __name__ == "__main__":
    main()
