"""The command that ranks a pool; what it does is in pool/rank_files.py, which is slow to import."""

from contextlib import nullcontext
from glob import glob
from pathlib import Path
from typing import Annotated

import typer

from possibal.arguments import DEFAULT_STRATEGY
from possibal.cli.console import Kernel, mistakes
from possibal.files import check_not_read, check_place, is_same, write
from possibal.progress import shares


def rank(  # noqa: PLR0913 - one argument per option
    pool: Annotated[
        str,
        typer.Argument(
            metavar="POOL",
            help="Rows without labels: a Parquet file, a folder of them, a pattern such as "
            "'pool/*.parquet', a .npy file, or a CSV, TSV, Excel, JSON or ARFF file.",
        ),
    ],
    *,
    labels: Annotated[
        Path, typer.Option(metavar="FILE", help="Rows with labels, in the same columns.")
    ],
    label: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column of FILE that has the labels.")
    ] = "label",
    id: Annotated[  # noqa: A002 - what users call it
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column that names rows; labelled rows are then left out."
        ),
    ] = None,
    columns: Annotated[
        str,
        typer.Option(
            metavar="A,B,C", help="Columns to learn from; all others of FILE if left out."
        ),
    ] = "",
    strategy: Annotated[
        str,
        typer.Option(
            help="What ranks rows: a name of possibal strategies, or your own as module:function."
        ),
    ] = DEFAULT_STRATEGY,
    top: Annotated[int, typer.Option(help="How many rows to list.")] = 100,
    kernel: Kernel = None,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A Dask scheduler, to rank on its workers."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; one per core if left out.")] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Ends in .csv, .parquet or .jsonl; CSV is printed if left out."
        ),
    ] = None,
) -> None:
    """Rank a pool of any size: labelled rows in, the unlabelled rows to label next out.

    Needs no page and no database. Columns must hold numbers; they are brought to one scale.
    """
    from possibal.data import writers
    from possibal.experiments.strategies import resolve_strategy
    from possibal.pool import rank_files
    from possibal.pool.dask_backend import connect

    with mistakes():
        ending = ".csv" if to is None else writers.ending_of(to, "to")
        if to is not None:
            check_place(to, "to")
            _check_not_read(to, pool, labels)
        names = tuple(name.strip() for name in columns.split(",") if name.strip())
        chosen = resolve_strategy(strategy)
        request = rank_files.RankRequest(pool, labels, label, id, names, chosen, top, kernel)
        with connect(dask, "dask") if dask else nullcontext() as client, shares() as tell:

            def progress(done: int, size: int | None) -> None:
                """Tell how much of the pool was read."""
                tell(f"Ranking, {done} rows read", done / size if size else 0.0)

            found = rank_files.rank_files(request, progress, jobs=jobs, client=client)
        content = writers.write_sheet(rank_files.columns(found), ending)
    if to is None:
        typer.echo(content, nl=False)
    else:
        write(to, content)
    typer.echo(found.summary, err=True)


def _check_not_read(to: Path, pool: str, labels: Path) -> None:
    """Refuse to write over the labels, or over a file of the pool."""
    check_not_read(to, "to", {"the file of labels": labels})
    of_folder = [to] if is_same(to.parent, Path(pool)) else []
    matches = glob(pool, recursive=True)  # noqa: PTH207 - the pattern may be absolute
    for one in (*map(Path, matches), *of_folder):
        check_not_read(to, "to", {"a file of the pool": one})
