"""How a user's rows become numbers: as they are, by a recipe fitted to a frame, or by a pipeline.

encode_pool(rows, roles, classifier) -> EncodedPool        encoding.features(new_rows)
"""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from possibal.arguments import check_listed
from possibal.campaign.question import RowDisplay
from possibal.data.copies import CopyGroups
from possibal.data.encoders import find_column
from possibal.data.features import FeatureRecipe
from possibal.data.frames import as_frame, from_frame
from possibal.data.ingest import frame_features, ingest_frame
from possibal.data.label_sets import LabelSyntax, joined
from possibal.data.row_ids import Ids
from possibal.data.schema import cell_type, text_cells
from possibal.data.source import SourceSpec
from possibal.errors import ScaleWarning
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.classifier import with_geometry
from possibal.estimators.pipeline import CampaignPipeline, for_campaign
from possibal.progress import patient_shares

_NOWHERE = Path()
WIDEST_RATIO = 100.0
"""Standard deviations of an array's columns that differ by more cause a warning."""


@dataclass(frozen=True)
class ColumnChoice:
    """What the user says about the columns of a frame; None where nothing is said.

    Attributes:
        ids: the column of unique names, if they are in one.
        label: the column of labels that are known already.
        text: the columns of texts.
        columns: those that are learnt from and no others, or the kind of some of them by name; see
            :class:`possibal.data.schema.ColumnKind`.
        by: what texts and pictures are compared by; see
            :class:`possibal.data.comparison.Comparison`.
        encoder: of texts or pictures, of the user's own.
        copies: whether rows that say the same are asked once and labelled together.
        multi: whether a row may have several of the classes.
    """

    ids: str | None = None
    label: str | None = None
    text: str | Sequence[str] | None = None
    columns: Sequence[str] | Mapping[str, str] | None = None
    by: str | Sequence[str] | None = None
    encoder: object = None
    copies: bool = True
    multi: bool = False

    def __post_init__(self) -> None:
        """Refuse a word in place of yes or no."""
        if type(self.copies) not in {bool, np.bool_}:
            raise TypeError(
                f"copies must be True or False; got {self.copies!r}. False asks about every row."
            )

    def spec(self, classes: tuple[str, ...] = (), source: Path = _NOWHERE) -> SourceSpec:
        """The same as a specification of rows, which may be in no file."""
        named, kinds = self.columns, dict[str, str]()
        if isinstance(named, Mapping):
            named, kinds = (), dict(named)
        elif named is not None and not isinstance(named, str):
            check_listed("columns", named)
            _check_some(named)
        spec = SourceSpec(source, self.label, self.ids, classes=classes, kinds=kinds)
        return replace(
            spec,
            text=_listed("text", self.text),
            use=_listed("columns", named),
            by=_listed("by", self.by),
            encoder=self.encoder,
            copies=self.copies,
            multi=self.multi,
        )

    @property
    def named(self) -> list[str]:
        """The columns that are no features, whatever else is."""
        return [name for name in (self.ids, self.label) if name is not None]


@dataclass(frozen=True, eq=False)
class RowEncoding:
    """How rows of the pool, and new ones, become the numbers that the classifier sees.

    Attributes:
        recipe: fitted to the pool, where it was a frame.
        pipeline: the user's own, its transformers fitted to the pool.
        dropped: columns that a pipeline is not shown: ids and labels.
        encoder: of texts or pictures, of the user's own.
        cache: the file that keeps embeddings; none are kept if left out.
        notes: what a person should know of how the rows of the pool were read.
        display: what people are shown of them, where that is known.
    """

    recipe: FeatureRecipe | None = None
    pipeline: CampaignPipeline | None = None
    dropped: tuple[str, ...] = ()
    encoder: object = None
    cache: Path | None = None
    notes: tuple[str, ...] = ()
    display: RowDisplay | None = None

    def features(self, rows: Any) -> Any:  # noqa: ANN401 - frames of any library, and arrays
        """Rows as the classifier takes them."""
        if self.pipeline is not None:
            return self.pipeline.transformed(without_columns(rows, self.dropped))
        if self.recipe is None:
            return rows
        if self.recipe.kind == "own":
            return self._own(rows)
        wanted = SourceSpec(_NOWHERE, encoder=self.encoder, cache=self.cache)
        with patient_shares() as progress:
            return frame_features(self.recipe, rows, wanted, progress)

    def _own(self, rows: Any) -> NDArray[Any]:  # noqa: ANN401 - as above
        """The user's own numbers, on the axes of the pool if there were many."""
        recipe = cast("FeatureRecipe", self.recipe)
        centre = recipe.numbers.get("centre")
        numbers = _own_numbers(rows, len(recipe.features if centre is None else centre))
        return recipe.apply(numbers).X

    def reaching(self, classifier: CampaignModel) -> CampaignModel | CampaignPipeline:
        """The classifier behind the user's own pipeline, if there is one."""
        return classifier if self.pipeline is None else self.pipeline.with_final(classifier)


@dataclass(frozen=True, eq=False)
class EncodedPool:
    """The rows of a pool as numbers, and what else they brought.

    Attributes:
        X: (m, d), an array or what a pipeline made of the rows.
        encoding: how they became so.
        classifier: not fitted.
        labels: that the rows have already; None where a row has none.
        label: the column that these are in.
        copies: which rows say the same; None where all are to be asked.
    """

    X: Any
    encoding: RowEncoding
    classifier: CampaignModel
    labels: Sequence[Hashable | None] = ()
    label: str | None = None
    copies: CopyGroups | None = None


def encode_pool(
    rows: Any,  # noqa: ANN401 - as above
    roles: ColumnChoice,
    classifier: object,
    ids: Ids = None,
) -> EncodedPool:
    """The rows of a pool as numbers.

    Args:
        rows: a frame of any library, which is encoded and standardised, or an array, which is not.
        roles: of the columns of a frame.
        classifier: of scikit-learn or ours, or a pipeline that ends in one, whose transformers
            encode the rows instead.
        ids: names of the rows.
    """
    model = for_campaign(classifier)
    is_frame = is_table(rows)
    if not is_frame:
        _check_no_roles(roles)
    check_encoded_once(roles, model, ("text", "columns", "by", "encoder"))
    if isinstance(model, CampaignPipeline):
        dropped = tuple(roles.named)
        pipeline, X = model.fitted_to_pool(without_columns(rows, dropped))
        labels = () if roles.label is None else known_labels(rows, roles.label, multi=roles.multi)
        encoding = RowEncoding(None, pipeline, dropped)
        return EncodedPool(X, encoding, model.final, labels, roles.label)
    if not is_frame:
        _check_scales(rows, model)
        return EncodedPool(rows, RowEncoding(), model)
    with patient_shares() as progress:
        intake = ingest_frame(rows, roles.spec(), ids, progress)
    found, place = intake.source, intake.source.roles.label
    name = None if place is None else found.table.names[place]
    read = LabelSyntax.SEVERAL.members if roles.multi else found.label_type.read
    labels = [None if text is None else read(text) for text in found.labels]
    weighed = with_geometry(model, intake.recipe.geometry)
    display = RowDisplay(found.fields, found.text, found.pictures)
    encoding = RowEncoding(
        intake.recipe, encoder=roles.encoder, notes=intake.notes, display=display
    )
    return EncodedPool(intake.X, encoding, weighed, labels, name, intake.copies)


def is_table(rows: Any) -> bool:  # noqa: ANN401 - anything
    """Whether rows have columns with names: a frame of any library, or a list of dicts."""
    if isinstance(rows, list | tuple):
        return bool(rows) and isinstance(rows[0], Mapping)
    if isinstance(rows, np.ndarray) and not isinstance(rows, np.ma.MaskedArray):
        return rows.dtype.names is not None
    if issparse(rows):
        return False
    if isinstance(rows, np.ma.MaskedArray):
        return True
    if as_frame(rows) is not None or not hasattr(rows, "__array__"):
        return True
    known = nw.from_native(rows, pass_through=True, allow_series=True)
    return isinstance(known, nw.LazyFrame | nw.Series)


def without_columns(rows: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - as above
    """A frame, or rows as dicts, without some columns, where it has them."""
    if not names or not is_table(rows):
        return rows
    if isinstance(rows, Mapping):
        return {name: cells for name, cells in rows.items() if name not in names}
    if isinstance(rows, list | tuple):
        return [without_columns(row, names) for row in rows]
    frame = nw.from_native(rows, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise TypeError(
            "X must be a frame or a list of dicts where a pipeline is not to see "
            f"{', '.join(map(repr, names))}; got {type(rows).__name__}. Convert it first."
        )
    return frame.drop(*names, strict=False).to_native()


def _listed(argument: str, names: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name, several or none as several."""
    if names is None or isinstance(names, str):
        return () if names is None else (names,)
    check_listed(argument, names)
    return tuple(names)


# ---------------------------------------------------------------- labels
def known_labels(
    rows: Any,  # noqa: ANN401 - as above
    column: str,
    *,
    multi: bool = False,
) -> list[Hashable | None]:
    """The labels of a frame's column in their type, or as sets; None where a row has none."""
    table = from_frame(rows)
    cells = table.columns[find_column("label", column, table.names)]
    if multi:
        cells = list(map(joined, cells))
    read = LabelSyntax.SEVERAL.members if multi else cell_type(cells).read
    return [None if text is None else read(text) for text in text_cells(cells)]


# ---------------------------------------------------------------- checks
def _check_some(columns: Sequence[str]) -> None:
    """Refuse a list of columns without any, which would leave nothing to learn from."""
    if not len(columns):
        raise ValueError(
            f"columns must name at least one column; got {columns!r}. Leave it out to take all."
        )


def _check_no_roles(roles: ColumnChoice) -> None:
    """Refuse roles of columns that have no names."""
    own = {"copies", "multi"}
    named = {name: value for name, value in vars(roles).items() if name not in own}
    given = {name: value for name, value in named.items() if value is not None}
    for name, value in given.items():
        raise ValueError(
            f"{name} must be left out for an array, whose columns have no names; got {value!r}. "
            "Pass a frame."
        )


def check_encoded_once(
    roles: ColumnChoice,
    model: CampaignModel | CampaignPipeline | None,
    names: Sequence[str] = ("by", "encoder"),
) -> None:
    """Refuse a choice of how rows become numbers where a pipeline of the user's own does it.

    Args:
        roles: what was chosen.
        model: the user's own.
        names: of the choices that say nothing else.
    """
    if not isinstance(model, CampaignPipeline):
        return
    for name in names:
        given = getattr(roles, name)
        if given is not None:
            raise ValueError(
                f"{name} must be left out where classifier is a pipeline, which makes the numbers; "
                f"got {given!r}. Leave one of them out."
            )


def _check_scales(X: object, model: CampaignModel) -> None:
    """Warn where an array's columns are on very different scales and the kernel is ours."""
    if getattr(model, "kernel", None) is not None or not _is_numbers(X) or len(X) < 2:  # noqa: PLR2004 - to compare
        return
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is refused later
        spread = X.std(axis=0)
    spread = spread[np.isfinite(spread) & (spread > 0)]
    if not len(spread) or spread.max() <= WIDEST_RATIO * spread.min():
        return
    warnings.warn(
        "The columns of X are on very different scales, with standard deviations from "
        f"{spread.min():.3g} to {spread.max():.3g}, so that some hardly count. Put a "
        "StandardScaler before the classifier in a Pipeline, or pass a data frame, which is "
        "standardised.",
        ScaleWarning,
        stacklevel=4,
    )


def _is_numbers(X: object) -> TypeGuard[NDArray[Any]]:
    """Whether rows are a plain table of real numbers."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiu"  # noqa: PLR2004


def _own_numbers(rows: Any, columns: int) -> NDArray[Any]:  # noqa: ANN401 - as above
    """The user's own numbers of rows, if that is what they are."""
    is_array = _is_numbers(rows) and rows.shape[1] == columns
    if not is_array:
        raise ValueError(
            f"rows must be numbers of the user's own, in {columns} columns as for the pool; got "
            f"{type(rows).__name__}. Open the campaign with pool= and the pipeline in classifier=."
        )
    return cast("NDArray[Any]", rows)
