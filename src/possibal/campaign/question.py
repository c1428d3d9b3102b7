"""A question as people see it: a row of the pool, why it is asked, and what is predicted of it.

question = campaign.question(row)        question.text, question.why, question.predicted
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from possibal.campaign.calibration import StatedChance
from possibal.campaign.reasons import predicted_chance, reason
from possibal.data import images
from possibal.data.features import ImageFiles

if TYPE_CHECKING:
    from possibal.campaign.snapshot import Snapshot


@dataclass(frozen=True)
class QuestionField:
    """A cell of a row as people read it, None where it is empty, and what it is called.

    Attributes:
        name: of its column.
        value: what is in it.
        is_important: whether its column goes closely with the labels so far.
    """

    name: str
    value: str | None
    is_important: bool = False


@dataclass(frozen=True)
class PredictedLabel:
    """The label that is predicted of a row, and the chance that it is right."""

    label: Hashable
    chance: StatedChance


@dataclass(frozen=True)
class RowQuestion:
    """A row to answer, as a person sees it.

    Attributes:
        row: its id.
        name: the id as people read it, without folders that would give a label away.
        fields: its cells in the order of the columns, without the text.
        text: its text, if it has one.
        picture: the file of its picture, if it has one.
        why: it is asked about, in words.
        predicted: what the model makes of it; None where that is not known, or not to be shown.
        copies: how many other rows say the same, and are answered with it.
        said: the label that was given to it before.
    """

    row: Hashable
    name: str
    fields: tuple[QuestionField, ...] = ()
    text: str | None = None
    picture: Path | None = None
    why: str = ""
    predicted: PredictedLabel | None = None
    copies: int = 0
    said: Hashable | None = None


@dataclass(frozen=True, eq=False)
class RowDisplay:
    """What people are shown of the rows of a frame.

    Attributes:
        fields: the columns, in their order: all but labels, names and paths.
        text: which of them is the text.
        pictures: the file of each row's picture.
    """

    fields: tuple[str, ...] = ()
    text: str | None = None
    pictures: ImageFiles | None = None

    def picture(self, place: int) -> Path | None:
        """The file of a row's picture; None where it has none, or it is gone."""
        if self.pictures is None:
            return None
        return picture_file(self.pictures.folder, self.pictures.names[place])


def picture_file(folder: Path, name: str) -> Path | None:
    """The file of a picture in a folder; None where it is not there any more."""
    try:
        return images.resolve_image(folder, name)
    except ValueError:
        return None


def question_fields(
    names: Sequence[str], cells: Sequence[object], important: Collection[str] = ()
) -> tuple[QuestionField, ...]:
    """The cells of a row as people read them.

    Args:
        names: of the columns.
        cells: of the row.
        important: those of the columns that go closely with the labels so far.
    """
    return tuple(
        QuestionField(name, _readable(cell), name in important)
        for name, cell in zip(names, cells, strict=True)
    )


def question_of(
    snapshot: "Snapshot", place: int, cells: Mapping[str, object], display: RowDisplay
) -> RowQuestion:
    """The row at a place as a question.

    Args:
        snapshot: the campaign as it is.
        place: of the row.
        cells: of the row, by their columns.
        display: which of them are shown, and how.
    """
    row = snapshot.pool.ids[place]
    names = [name for name in display.fields if name in cells and name != display.text]
    text = None if display.text is None else _readable(cells.get(display.text)) or ""
    return RowQuestion(
        row=row,
        name=str(row),
        fields=question_fields(names, [cells[name] for name in names]),
        text=text,
        picture=display.picture(place),
        why=reason(snapshot, place),
        predicted=_predicted(snapshot, place),
        said=snapshot.labels.get(row),
    )


def _predicted(snapshot: "Snapshot", place: int) -> PredictedLabel | None:
    """What is predicted of a row, with a calibrated chance; nothing before two classes are told."""
    return None if snapshot.is_cold else PredictedLabel(*predicted_chance(snapshot, place))


def _readable(cell: object) -> str | None:
    """A cell in words; None where nothing is in it."""
    if cell is None or cell != cell:  # noqa: PLR0124 - no number
        return None
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
