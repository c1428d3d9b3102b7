"""Data source of a campaign: its specification, and its content hash (SHA-256)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from possibal.arguments import choice
from possibal.data import archives, images
from possibal.data.decoding import Progress, no_progress
from possibal.numerics.geometry import RBF_ALONE


@dataclass(frozen=True)
class SourceSpec:
    """Specification of the rows to label: the source, and the roles of its columns.

    Attributes:
        source: a file that `readers` reads, or a folder of pictures.
        label: the column of labels; if left out, a column called label.
        id: the column of unique names; if left out, in a file one that numbers or names rows.
        text: the columns of texts; if left out, those of prose. One entry may name several columns,
            with commas between them.
        image: the column of paths of pictures, from the file's folder.
        classes: the labels that may be given; if left out, those found.
        features: a .npy file with one line of numbers per row.
        encoding: of the file's text.
        use: the columns that are learnt from, and no others; if left out, all that help. Commas as
            in text.
        leave_out: columns that are shown but not learnt from. Commas as in text.
        kinds: what a column is, where that is not to be inferred: by its name, a value of
            :class:`~possibal.data.schema.ColumnKind`.
        no_roles: columns that are known to hold neither names of rows nor labels, whatever they
            look like.
        by: what rows are compared by, values of :class:`~possibal.data.comparison.Comparison`; if
            left out, what a model makes of them, where one is installed. Commas as in text.
        encoder: a model of the user's own: see :func:`possibal.embedding.embedders.chosen`.
        cache: the file that keeps embeddings; none are kept if left out.
        copies: whether rows that say the same are asked once and labelled together.
        multi: whether a row may have several of the classes: a cell of the label column is then a
            set of them (:mod:`possibal.data.label_sets`).
        kernel: :data:`~possibal.numerics.geometry.RBF_ALONE` where neither single columns nor the
            clusters of the pool are to say which rows are alike.
    """

    source: Path
    label: str | None = None
    id: str | None = None
    text: tuple[str, ...] = ()
    image: str | None = None
    classes: tuple[str, ...] = ()
    features: Path | None = None
    encoding: str | None = None
    use: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict[str, str])
    no_roles: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    encoder: object = None
    cache: Path | None = None
    copies: bool = True
    multi: bool = False
    kernel: str | None = None

    def __post_init__(self) -> None:
        """Take a name for a list of one, and refuse a kernel that there is not."""
        if self.kernel is not None:
            choice("kernel", self.kernel, {RBF_ALONE: True})
        for option in ("text", "use", "leave_out", "by"):
            given: str | tuple[str, ...] | None = getattr(self, option)
            listed = (given,) if isinstance(given, str) else tuple(given or ())
            object.__setattr__(self, option, listed)


ZIP = ".zip"
ENDING = ".possibal.db"
"""Of the file that keeps a campaign, beside the source that it is about."""


def is_pictures(source: Path) -> bool:
    """Whether a source is a folder of pictures, or a zip file of one."""
    return is_folder(source) or source.name.lower().endswith(ZIP)


def picture_folder(source: Path, progress: Progress = no_progress) -> Path:
    """The folder of pictures that a source is; that of a zip file is unpacked beside it, once."""
    if is_folder(source):
        return source
    return archives.unpack_pictures(source, progress=progress).folder


def digest(source: Path) -> str:
    """Content hash: SHA-256 of a file, or of the names and sizes of a folder's pictures."""
    if is_pictures(source):
        folder = picture_folder(source)
        names = images.list_images(folder.resolve()).names
        sizes = [(name, (folder / name).stat().st_size) for name in names]
        return hashlib.sha256(repr(sizes).encode()).hexdigest()
    try:
        with source.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(
            f"file must be one that can be read; got {str(source)!r} ({error.strerror}). "
            "Check its name and folder."
        ) from None


def is_folder(path: Path) -> bool:
    """Whether there is a folder of that name; a name too long for the system is none."""
    try:
        return path.is_dir()
    except OSError:
        return False
