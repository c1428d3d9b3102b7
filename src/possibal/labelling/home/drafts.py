"""Drafts: sources as they are understood, whose columns a person may change before all begins.

draft = Draft.read(source, progress)        draft.changed({"year": "category"}) -> Draft
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from possibal.data.schema import Column, ColumnKind
from possibal.data.source import SourceSpec
from possibal.progress import StageProgress

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from possibal.data.ingest import SourceRows

SINGLE = frozenset([ColumnKind.LABEL, ColumnKind.ID, ColumnKind.PICTURE])
"""Kinds that one column has at most."""
ROLES = SINGLE | {ColumnKind.TEXT}
"""Kinds that stay with the columns in which they were found, whatever is said of others."""
EXAMPLES, LONGEST_EXAMPLE = 3, 60
"""Cells of a column that are shown, and characters of each."""


@dataclass(frozen=True, eq=False)
class Draft:
    """A source that may become a campaign.

    Attributes:
        source: the file or folder.
        rows: as they are understood now.
        columns: how each column is.
        found: how each was at first.
        changes: what a person says of columns: a value of `ColumnKind` by name.
    """

    source: Path
    rows: "SourceRows"
    columns: tuple[Column, ...]
    found: Mapping[str, ColumnKind]
    changes: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def read(cls, source: Path, progress: StageProgress) -> Self:
        """A source as it is understood by itself, or one sentence on what is wrong with it."""
        from possibal.data.ingest import read_file_rows, understood_columns

        rows = read_file_rows(SourceSpec(source), progress)
        columns = understood_columns(rows)
        return cls(source, rows, columns, {one.name: one.kind for one in columns})

    def changed(self, changes: Mapping[str, str]) -> "Draft":
        """The same source with columns as a person says, or one sentence on what cannot be."""
        from possibal.data.ingest import understood_columns, with_roles

        draft = replace(self, changes={**changes})
        rows = with_roles(self.rows, draft.wanted())
        return replace(draft, rows=rows, columns=understood_columns(rows))

    def wanted(self, classes: Sequence[str] = ()) -> SourceSpec:
        """What a person says of the source, with what was found where nothing is said.

        Args:
            classes: the labels that may be given; those found if left out.
        """
        if not self.changes:
            return SourceSpec(self.source, classes=tuple(classes))
        said = set(self.changes.values())
        kept = {
            name: str(kind)
            for name, kind in self.found.items()
            if kind in ROLES and not (kind in SINGLE and kind in said)
        }
        kinds = {**kept, **self.changes}
        others = tuple(name for name in self.found if name not in kinds)
        return SourceSpec(self.source, classes=tuple(classes), kinds=kinds, no_roles=others)

    def examples(self) -> list[list[str]]:
        """The first cells of each column, of those that have any."""
        columns = self.rows.table.columns
        return [[*islice(filter(None, map(_example, cells)), EXAMPLES)] for cells in columns]


def _example(cell: object) -> str:
    """A cell in a few words; nothing if there is none."""
    from possibal.data.encoders import cell_text, is_missing

    text = "" if is_missing(cell) else " ".join(cell_text(cell).split())
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[: LONGEST_EXAMPLE - 1]}…"
