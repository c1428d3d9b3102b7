"""Any labelled data as a data set: a file that :mod:`possibal.data` reads, or a set of OpenML."""

import re
import socket
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from possibal.arrays import Matrix
from possibal.campaign.frame_output import build_frame
from possibal.data import encoders, readers
from possibal.data.encoders import Table, is_missing, unique_names
from possibal.data.frames import from_frame
from possibal.errors import MissingPackageError, summary
from possibal.estimators import validation
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.experiments.datasets import Citation, Dataset
from possibal.experiments.strategies import resolve_pipeline

LEAST_ROWS = 10
"""Labelled rows there must be: fewer make no pool and no test."""
OPENML = "openml:"
OPENML_NUMBER = re.compile(r"0*[1-9][0-9]{0,8}")
PATIENCE = 10.0
"""Seconds to wait for OpenML to say something; the system's own limit is minutes."""
LABEL_NAMES = frozenset(["label", "class", "target", "y"])


# ---------------------------------------------------------------- values
@dataclass(frozen=True)
class UserData:
    """A data set, and what was done to make it one.

    Attributes:
        dataset: complete rows with their labels.
        notes: plain sentences, in the order in which things were done.
    """

    dataset: Dataset
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LoadedTable:
    """A table as its source has it.

    Attributes:
        name: what the data set will be called.
        table: its columns.
        source: where it comes from.
        target: the label column that the source itself names, if it does.
        notes: what was done to read it.
    """

    name: str
    table: Table
    source: Citation
    target: str | None = None
    notes: tuple[str, ...] = ()


# ---------------------------------------------------------------- the face
def read(
    source: str,
    label: str | None = None,
    encoding: str | None = None,
    pipeline: str | None = None,
) -> UserData:
    """The labelled data of a file or of OpenML, with notes on what was done to them.

    Args:
        source: openml:NUMBER, or the path of a file that ends as one of `readers.endings`.
        label: the column to predict; if left out, OpenML's default, else a column called label,
            class, target or y, else the last.
        encoding: of a file's text; if left out, what its byte order mark says, else UTF-8.
        pipeline: module:name of a scikit-learn pipeline whose transformers make numbers of the
            rows, in place of ours.
    """
    if source.lower().startswith(OPENML):
        return loaded(_from_openml(source, label), label, pipeline)
    return loaded(_from_file(source, encoding), label, pipeline)


def loaded(found: LoadedTable, label: str | None, pipeline: str | None = None) -> UserData:
    """The table as a data set; rows without a label and columns that say nothing are left out."""
    names, cells = found.table.names, found.table.columns
    if len(names) < 2:  # noqa: PLR2004 - the label and something to tell it from
        raise ValueError(
            f"source must have a column of labels and at least one more; got {len(names)} in all. "
            "Add columns, or separate them by commas."
        )
    name, why = _label(found, label)
    given = cells[names.index(name)]
    kept = [row for row, cell in enumerate(given) if not is_missing(cell)]
    if len(kept) < LEAST_ROWS:
        raise ValueError(
            f"source must have at least {LEAST_ROWS} rows with a label in column {name!r}; "
            f"got {len(kept)}. Add rows."
        )
    labels, y = encoders.encode_classes(name, [given[row] for row in kept])
    inputs = [i for i, other in enumerate(names) if other != name]
    labelled = cells if len(kept) == len(given) else [[one[row] for row in kept] for one in cells]
    table = Table(tuple(names[i] for i in inputs), tuple(labelled[i] for i in inputs))
    X, features, done = _inputs(table) if pipeline is None else _piped(table, pipeline)
    notes = (*found.notes, why, _unlabelled(len(given) - len(kept)), *done)
    dataset = Dataset(found.name, X, y, labels, features, found.source)
    return UserData(dataset, tuple(note for note in notes if note))


def _inputs(table: Table) -> tuple[Matrix, tuple[str, ...], list[str]]:
    """All columns as numbers, their names, and a note for each that did not stay as it was."""
    pairs = zip(table.names, table.columns, strict=True)
    encoded = [encoders.encode(name, cells) for name, cells in pairs]
    features = unique_names(feature for column in encoded for feature in column.features)
    notes = [column.note for column in encoded]
    if not features:
        raise ValueError(
            "source must have a column that helps to tell labels apart; got none, for "
            f"{' '.join(notes[:3]).removesuffix('.')}. Add columns of numbers."
        )
    return np.hstack([column.X for column in encoded]), features, notes


def _piped(table: Table, pipeline: str) -> tuple[Matrix, tuple[str, ...], list[str]]:
    """What a user's transformers make of all rows, without labels, and a note that says so."""
    model = resolve_pipeline(pipeline)
    frame = build_frame(dict(zip(table.names, table.columns, strict=True)))
    X = validation.rows(PossibilisticGPClassifier(), model.fitted_to_pool(frame)[1], reset=True)
    features = tuple(f"feature {place + 1}" for place in range(X.shape[1]))
    note = (
        f"the steps of {pipeline} made {len(features)} columns; the classifier that learns from "
        "them is that of the comparison."
    )
    return X, features, [note]


def _unlabelled(count: int) -> str:
    """The note on rows without a label; empty if there are none."""
    if count == 1:
        return "1 row without a label was left out."
    return f"{count} rows without a label were left out." if count else ""


def _label(found: LoadedTable, label: str | None) -> tuple[str, str]:
    """The name of the label column, and the note on how it was chosen; empty if it was given."""
    names = found.table.names
    if label is None and found.target is not None:
        return found.target, f"column {found.target}, the set's default, was taken as the label."
    if label is None:
        usual = [name for name in names if name.lower() in LABEL_NAMES]
        if len(usual) == 1:
            return usual[0], f"column {usual[0]} was taken as the label."
        return names[-1], f"column {names[-1]}, the last, was taken as the label."
    return names[encoders.find_column("label", label, names)], ""


# ---------------------------------------------------------------- files
def _from_file(source: str, encoding: str | None) -> LoadedTable:
    """The table of a file, read by the reader of its ending."""
    path = Path(source)
    ending = readers.ending(path)
    if ending is None:
        raise ValueError(
            f"source must be {OPENML}NUMBER or a file that ends in {', '.join(readers.endings())}; "
            f"got {source!r}. Save it as one of these."
        )
    done = readers.read_table(path, encoding)
    name = path.name[: -len(ending)] or path.name
    return LoadedTable(
        name, done.table, given_source(f"the user's file {path.name}"), notes=done.notes
    )


def given_source(citation: str, openml: int | None = None) -> Citation:
    """Where data come from of which no more is known."""
    return Citation(citation, "unknown", openml, None)


# ---------------------------------------------------------------- OpenML
def _from_openml(source: str, label: str | None) -> LoadedTable:
    """The set of that number at OpenML, or in scikit-learn's cache of it."""
    digits = source[len(OPENML) :]
    if not OPENML_NUMBER.fullmatch(digits):
        raise ValueError(
            f"source must be {OPENML} and a whole number above 0; got {source!r}. "
            "Look the number up at openml.org."
        )
    number = int(digits)
    bunch, notes = _fetched(number, label)
    table = from_frame(bunch.frame)
    targets = bunch.target_names
    if label is None and len(targets) != 1:
        offered = ", ".join(repr(name) for name in targets or table.names[-3:])
        raise ValueError(
            f"label must be given for {OPENML}{number}, which has {len(targets)} default labels; "
            f"got None. Name a column such as {offered}."
        )
    target = None if label is not None else str(targets[0]).strip()
    return LoadedTable(
        f"openml-{number}", table, given_source(f"OpenML {number}", number), target, notes
    )


def _fetched(number: int, label: str | None) -> tuple[Any, tuple[str, ...]]:
    """What scikit-learn fetches, with what OpenML says against it."""
    from sklearn.datasets import fetch_openml

    try:
        import pandas as _  # noqa: F401, ICN001 - whether it is there
    except ImportError:
        raise MissingPackageError(
            f"Reading {OPENML}{number} needs pandas, which is not installed: {readers.INSTALL}"
        ) from None
    # A default target must be complete; a label that is given may be missing here and there.
    target = "default-target" if label is None else None
    # The other parser fails, and empties the cache, where words are digits and pandas is 3.1.
    options: dict[str, Any] = {"as_frame": True, "parser": "liac-arff"}
    options |= {"n_retries": 1, "delay": 0.1}
    try:
        with warnings.catch_warnings(record=True) as said, _patience(PATIENCE):
            warnings.simplefilter("always")
            # Its first request is repeated thrice whatever n_retries says, unless this is raised.
            warnings.filterwarnings("error", message="A network error occurred")
            bunch = fetch_openml(data_id=number, target_column=target, **options)
    except Exception as error:  # noqa: BLE001 - its parser and its network have errors of their own
        cause = error.__context__ if isinstance(error, UserWarning) else error
        raise ValueError(
            f"source must be a set that can be fetched; got {OPENML}{number} ({summary(cause)}). "
            "Check the number and the connection, or give a file instead."
        ) from None
    texts = [" ".join(str(one.message).split()) for one in said if one.category is UserWarning]
    return bunch, tuple(f"scikit-learn warns: {text}" for text in texts)


@contextmanager
def _patience(seconds: float) -> Generator[None]:
    """A time after which a silent connection counts as broken."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
