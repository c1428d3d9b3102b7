"""The commands that run experiments: datasets, reproduce, compare.

What they do is in experiments_session.py, which takes seconds to import, so that help does not.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from possibal.cli.console import mistakes
from possibal.experiments.recipes import OURS, RECIPES, TESTED
from possibal.experiments.spec import (
    ENVELOPE,
    HYPERPARAMETERS,
    LAPLACE,
    MODELS,
    PAPER,
    PROTOCOLS,
    QUESTIONS,
    REFEREES,
    RUNS,
    TABLE_3,
    WHAT,
)


def _described(names: Mapping[str, str]) -> str:
    """Names and what they mean, for help."""
    return "; ".join(f"{name}: {text}" for name, text in names.items()) + "."


Hyperparameters = Annotated[str, typer.Option(help=_described(HYPERPARAMETERS))]
Own = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A name of possibal strategies, or your own as module:function (see above); "
        "repeatable.",
    ),
]
Seed = Annotated[int, typer.Option(help="Same seed, same results.")]
Jobs = Annotated[int | None, typer.Option(help="Processes; one per core if left out.")]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Work on a Dask cluster: its scheduler's address, or local."
    ),
]
Folder = Annotated[
    Path, typer.Option(metavar="DIR", help="Where to write; a stopped run goes on from there.")
]


# ---------------------------------------------------------------- commands
def datasets() -> None:
    """List the data sets that can be named, and where they come from."""
    from possibal.cli import experiments_session

    experiments_session.datasets()


def reproduce(  # noqa: PLR0913 - one argument per option
    what: Annotated[str, typer.Argument(help=_described(WHAT))] = "all",
    *,
    runs: Annotated[
        int | None, typer.Option(help="Runs of each set; those of Table 3 if left out.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few runs of each set.")] = False,
    datasets: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Some of {','.join(TABLE_3)}.")
    ] = "",
    protocol: Annotated[str, typer.Option(help=_described(PROTOCOLS))] = PAPER,
    hyperparameters: Hyperparameters = PAPER,
    recipe: Annotated[
        str,
        typer.Option(
            help="What the paper leaves open. "
            + _described({name: one.about for name, one in RECIPES.items()})
        ),
    ] = OURS.name,
    model: Annotated[str, typer.Option(help=_described(MODELS))] = LAPLACE,
    tested: Annotated[
        str | None, typer.Option(help=f"{_described(TESTED)} As the recipe has it if left out.")
    ] = None,
    strategy: Own = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    dask: Dask = None,
    to: Folder = Path("possibal-reproduction"),
) -> None:
    """Run the paper's experiments again, and put its figures beside ours."""
    from possibal.cli import experiments_session

    with mistakes():
        names = tuple(name.strip() for name in datasets.split(",") if name.strip())
        own = tuple(strategy or ())
        settings = experiments_session.ReproduceRequest(
            what,
            names,
            protocol,
            hyperparameters,
            runs,
            quick,
            own,
            seed,
            recipe,
            model,
            tested,
        )
    experiments_session.reproduce(settings, experiments_session.RunOptions(to, jobs, dask))


def compare(  # noqa: PLR0913 - one argument per option
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A CSV, TSV, Excel, Parquet, JSON or ARFF file, openml:ID, or a name from "
            "possibal datasets.",
        ),
    ],
    *,
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column with the labels.")
    ] = None,
    strategy: Own = None,
    questions: Annotated[
        int | None,
        typer.Option(help=f"Labels to ask for in a run; {QUESTIONS} if there is room."),
    ] = None,
    runs: Annotated[int, typer.Option(help="Runs to average over.")] = RUNS,
    hyperparameters: Hyperparameters = ENVELOPE,
    encoding: Annotated[
        str | None, typer.Option(help="Of the file, if it is not UTF-8; for example cp1252.")
    ] = None,
    referee: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Judge the labels asked for by another model too, so that better questions are "
            f"told apart from a better model. {_described(REFEREES)}",
        ),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="A scikit-learn pipeline of yours that ends in a classifier of possibal; its "
            "other steps make numbers of the rows.",
        ),
    ] = None,
    classifier: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="A classifier of yours that learns in place of the usual one: of possibal, or any "
            "of scikit-learn with predict_proba.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    dask: Dask = None,
    to: Folder = Path("possibal-comparison"),
) -> None:
    """Ask for labels of your own data by several strategies, and see which saves most."""
    from possibal.cli import experiments_session

    own, referees = tuple(strategy or ()), tuple(dict.fromkeys(referee or ()))
    asked = experiments_session.CompareRequest(
        data,
        label,
        own,
        runs,
        questions,
        hyperparameters,
        seed,
        encoding,
        referees,
        pipeline,
        classifier,
    )
    experiments_session.compare(asked, experiments_session.RunOptions(to, jobs, dask))
