"""Feature extraction: recipes fitted to a pool, applied to new rows, and serialised as JSON.

Tables are one-hot encoded and standardised; texts and pictures are embedded by pretrained models
and projected on the pool's principal axes, or go through LSA and PCA of plain descriptors where
there is no model. Kernels compare rows by their distance, so what a column weighs is settled here.
A number counts in standard deviations of the pool. Two rows of different categories, or a true and
a false one, are the square root of 2 apart: as far as two rows are in a number, on the average.
Embeddings and LSA have length one, pictures' descriptors keep their distances. Rows that have
several of these have a block of columns for each, and in every block two rows are as far apart as
in another, on the average.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from PIL import Image
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.extmath import randomized_svd

from possibal.arguments import choice, nearest
from possibal.arrays import Array, Matrix, real
from possibal.data import images
from possibal.data.decoding import Progress, no_progress, part_progress
from possibal.data.encoders import LARGEST, Cells, Encoder, Table, fit_encoder, unique_names
from possibal.embedding.cache import EmbeddingCache
from possibal.embedding.computing import (
    LazyRows,
    ProjectedRows,
    TextRows,
    fit_rows,
    project_rows,
)
from possibal.embedding.embedder import Embedder, EmbedderIdentity, ImageInput, Modality
from possibal.embedding.embedders import Embedders
from possibal.embedding.projection import (
    DIMENSIONS,
    MANY_AXES,
    Projection,
    fit_directions,
    fit_projection,
    unit_rows,
)
from possibal.numerics.diffusion import DiffusionMap, fit_diffusion
from possibal.numerics.distances import usual_distance
from possibal.numerics.geometry import COSINE, EUCLIDEAN, RBF_ALONE, RowGeometry

TERMS = 20_000
"""Size of the vocabulary at most: the most frequent terms."""
STUDIED = 10_000
"""Texts that vocabulary and SVD are fitted to at most: rows spread evenly over the pool."""
SMALL = 100
"""In pools of fewer texts a term of a single row counts too."""
LONGEST = 20_000
"""Characters of a text that count."""
BLOCK = 5000
"""Texts that are vectorised, or a user's own numbers that are projected, at a time."""
NOTHING = 1e-6
"""Shorter than this, what is left of a text of length one is rounding."""
DIFFUSION = ("landmarks", "bandwidth", "coordinates")
"""Arrays of the diffusion map of a pool."""
MANY_FEATURES = 100
"""From so many columns on, a user's own numbers are taken for embeddings, and projected."""
NO_KINDS: Mapping[str, str] = {}
NO_EMBEDDERS, NO_CACHE = Embedders(), EmbeddingCache()
"""The embedders that are installed, and a cache that keeps nothing."""
TERM_KINDS: dict[str, dict[str, Any]] = {
    "word": {"ngram_range": (1, 2), "token_pattern": r"\b\w+\b", "dtype": np.float64},
    "char_wb": {"ngram_range": (1, 3), "dtype": np.float64},
}
"""Analyzers: 1-2-grams of words, else 1-3-grams of characters where words do not recur."""


# ---------------------------------------------------------------- values
@dataclass(frozen=True)
class ImageFiles:
    """Files of pictures, by their paths from a folder."""

    folder: Path
    names: tuple[str, ...]


Texts: TypeAlias = Sequence[str | None]
Rows: TypeAlias = "Table | Texts | ImageFiles | Matrix | tuple[Rows, ...]"
"""What a recipe takes: a table, texts, pictures or numbers, as its kind says; or one for a part."""


@dataclass(frozen=True, eq=False)
class FeatureRecipe:
    """A fitted, serialisable feature extractor.

    Attributes:
        kind: "table", "text", "image", "own", or "mixed" for several of them.
        features: names of the columns of X, without diffusion coordinates.
        owners: for each column of X the place of the table's column that it came from, -1 where it
            came of no single one; empty where that holds for all.
        columns: the columns that hold the texts, or the paths of pictures, if there are any.
        encoders: of the columns of a table, one for each.
        terms: the vocabulary of the TF-IDF, in the order of its columns.
        letters: its analyzer, a name of `TERM_KINDS`.
        numbers: fitted arrays: "centre" and "scale" of tables, "idf" and "components" of texts by
            words, "centre" and "components" of embeddings and pictures, "scale" of the parts of
            mixed rows, and those of `DIFFUSION` where rows have diffusion coordinates.
        parts: of mixed rows, each with its own recipe; its columns of X are a block.
        embedder: what turned texts or pictures into vectors; None where that needed no model.
        metric: how rows are compared: by cosine where their features have length one.
        kernel: see :class:`possibal.numerics.geometry.RowGeometry`.
    """

    kind: str
    features: tuple[str, ...]
    owners: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    encoders: tuple[Encoder, ...] = ()
    terms: tuple[str, ...] = ()
    letters: str = "word"
    numbers: Mapping[str, Array] = field(default_factory=dict[str, Array])
    parts: tuple["FeatureRecipe", ...] = ()
    embedder: EmbedderIdentity | None = None
    metric: str = EUCLIDEAN
    kernel: str | None = None

    @property
    def geometry(self) -> RowGeometry:
        """How rows are compared; each part is a block of columns."""
        blocks = tuple(len(part.features) for part in self.parts)
        return RowGeometry(blocks, self.metric, self.width - len(self.features), self.kernel)

    @property
    def width(self) -> int:
        """The number of columns of X: its features, and diffusion coordinates if there are any."""
        known = self.diffusion
        return len(self.features) + (0 if known is None else known.width)

    @property
    def diffusion(self) -> DiffusionMap | None:
        """What tells the clusters of the pool, where rows have diffusion coordinates."""
        if DIFFUSION[0] not in self.numbers:
            return None
        return DiffusionMap(*(self.numbers[name] for name in DIFFUSION))

    def with_diffusion(self, X: Matrix) -> "tuple[FeatureRecipe, Matrix]":
        """The recipe that adds diffusion coordinates, fitted to the features of a pool; and these.

        Rows that are not compared by direction, or are too few, have none.
        """
        is_wanted = self.metric == COSINE and self.kernel is None
        fitted = fit_diffusion(X) if is_wanted else None
        if fitted is None:
            return self, X
        arrays = (fitted.landmarks, fitted.bandwidth, fitted.coordinates)
        numbers = {**self.numbers, **dict(zip(DIFFUSION, arrays, strict=True))}
        return replace(self, numbers=numbers), np.hstack([X, fitted.apply(X)])

    def check_sound(self) -> None:
        """Refuse a recipe that lacks an array, or whose arrays do not fit one another."""
        choice("kind", self.kind, APPLY)
        choice("metric", self.metric, {EUCLIDEAN: True, COSINE: True})
        choice("kernel", self.kernel or RBF_ALONE, {RBF_ALONE: True})
        for name, sizes in {**self._sizes(), **self._diffusion_sizes()}.items():
            array = self.numbers.get(name, np.empty(0))
            if array.shape != sizes or not np.isfinite(array).all():
                raise ValueError(f"its array {name!r} is missing or does not fit")
        if self.kind == "table":
            self._check_encoders()
        for part in self.parts:
            part.check_sound()

    def _check_encoders(self) -> None:
        """Refuse encoders that make other columns than the recipe has."""
        if not self.encoders:
            raise ValueError("its table has no columns")
        useful = [one for one in self.encoders if one.features]
        made = [one.apply([None]).shape[1] for one in useful]
        if made != [len(one.features) for one in useful] or sum(made) != len(self.features):
            raise ValueError("its encoders make other columns than it has")

    def _sizes(self) -> dict[str, tuple[int, ...]]:
        """The shapes that the fitted arrays must have."""
        columns = len(self.features)
        if self.kind == "table":
            return {"centre": (columns,), "scale": (columns,)}
        if self.kind == "mixed":
            return {"scale": (len(self.parts),)}
        if self.kind == "text" and self.embedder is None:
            return {"idf": (len(self.terms),), "components": (columns, len(self.terms))}
        if self.kind == "own" and "components" not in self.numbers:
            return {}
        width = self.numbers.get("centre", np.empty(0)).size
        return {"centre": (width,), "components": (columns, width)}

    def _diffusion_sizes(self) -> dict[str, tuple[int, ...]]:
        """The shapes that the arrays of diffusion coordinates must have, if there are any."""
        if not any(name in self.numbers for name in DIFFUSION):
            return {}
        coordinates = self.numbers.get(DIFFUSION[-1], np.empty((0, 0)))
        landmarks = len(coordinates)
        width = coordinates.shape[1] if coordinates.ndim > 1 else 0
        shapes = (landmarks, len(self.features)), (landmarks,), (landmarks, width)
        return dict(zip(DIFFUSION, shapes, strict=True))

    @property
    def projection(self) -> Projection:
        """On the principal axes of the pool's embeddings or descriptors."""
        numbers, is_spherical = self.numbers, self.metric == COSINE
        return Projection(numbers["centre"], numbers["components"], is_spherical)

    def apply(
        self,
        rows: Rows,
        progress: Progress = no_progress,
        embedders: Embedders = NO_EMBEDDERS,
    ) -> ProjectedRows:
        """(rows, features): new rows as those of the pool, and which of them cannot be read.

        Args:
            rows: a Table, texts, ImageFiles or a matrix, as the kind says, and one for each part of
                mixed rows. A table may have more columns than are needed, in any order.
            progress: given the share done.
            embedders: of the user's own, and where vectors are kept.
        """
        found = choice("kind", self.kind, APPLY)(self, rows, progress, embedders)
        known = self.diffusion
        if known is None:
            return found
        return replace(found, X=np.hstack([found.X, known.apply(found.X)]))

    def document(self) -> dict[str, Any]:
        """All but the arrays, as JSON can hold it."""
        return {
            "kind": self.kind,
            "features": list(self.features),
            "owners": list(self.owners),
            "columns": list(self.columns),
            "encoders": [encoder.document() for encoder in self.encoders],
            "terms": list(self.terms),
            "letters": self.letters,
            "parts": [part.document() for part in self.parts],
            "embedder": self.embedder and self.embedder.document(),
            "metric": self.metric,
            "diffusion": self.width - len(self.features),
            "kernel": self.kernel,
        }

    def arrays(self) -> dict[str, Array]:
        """The arrays that belong to the document, those of a part under its number."""
        of_parts = {
            f"{place}.{name}": array
            for place, part in enumerate(self.parts)
            for name, array in part.arrays().items()
        }
        return {**self.numbers, **of_parts}

    @classmethod
    def restored(cls, document: Mapping[str, Any], arrays: Mapping[str, Array]) -> "FeatureRecipe":
        """The recipe that a document and its arrays were made of."""
        own = {name: np.asarray(a, dtype=float) for name, a in arrays.items() if "." not in name}
        column = document.get("column")  # there was one at most
        embedder = document.get("embedder")
        return cls(
            kind=document["kind"],
            features=tuple(document["features"]),
            owners=tuple(document["owners"]),
            columns=tuple(document.get("columns", [] if column is None else [column])),
            encoders=tuple(Encoder.restored(encoder) for encoder in document["encoders"]),
            terms=tuple(document["terms"]),
            letters=document["letters"],
            numbers=own,
            parts=tuple(
                cls.restored(part, _of_part(place, arrays))
                for place, part in enumerate(document.get("parts", []))
            ),
            embedder=None if embedder is None else EmbedderIdentity(**embedder),
            metric=document.get("metric", EUCLIDEAN),
            kernel=document.get("kernel", RBF_ALONE),  # that of earlier recipes
        )


def _of_part(place: int, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays of a part of mixed rows."""
    start = f"{place}."
    return {name.removeprefix(start): a for name, a in arrays.items() if name.startswith(start)}


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """A recipe, the feature matrix of the pool that it was fitted to, and notes for people.

    Attributes:
        recipe: how X was made.
        X: (rows, features).
        notes: plain sentences.
        encoders: of the table's columns, also of those that were left out.
        failures: why rows cannot be read, a sentence for each, by their places.
    """

    recipe: FeatureRecipe
    X: Matrix
    notes: tuple[str, ...]
    encoders: tuple[Encoder, ...] = ()
    failures: Mapping[int, str] = field(default_factory=dict[int, str])


# ---------------------------------------------------------------- tables
def table_features(table: Table, kinds: Mapping[str, str] = NO_KINDS) -> FeatureMatrix:
    """One-hot words, parts of dates, standardised numbers and scaled booleans that help.

    Args:
        table: columns to learn from.
        kinds: what users say of columns: "number", "category" or "date".
    """
    pairs = zip(table.names, table.columns, strict=True)
    encoders = tuple(fit_encoder(name, cells, kinds.get(name)) for name, cells in pairs)
    notes = tuple(encoder.note for encoder in encoders if encoder.note)
    features = unique_names(feature for encoder in encoders for feature in encoder.features)
    owners = tuple(place for place, one in enumerate(encoders) for _ in one.features)
    useful = [place for place, one in enumerate(encoders) if one.features]
    rows = len(table.columns[0]) if table.columns else 0
    parts = [encoders[place].apply(table.columns[place]) for place in useful]
    scales = [_scales(encoders[i], part) for i, part in zip(useful, parts, strict=True)]
    centre, scale = np.hstack([np.empty((2, 0)), *scales])
    numbers = {"centre": centre, "scale": scale}
    recipe = FeatureRecipe("table", features, owners, encoders=encoders, numbers=numbers)
    X = _scaled(recipe, [np.empty((rows, 0)), *parts])
    return FeatureMatrix(recipe, X, notes, encoders)


def check_helpful(made: FeatureMatrix) -> None:
    """Refuse a table of which no column helps."""
    if not made.recipe.features:
        raise ValueError(
            "file must have a column that helps to tell rows apart; got none, for "
            f"{' '.join(made.notes[:3]).removesuffix('.') or 'all belong to labels and names'}. "
            "Add columns of numbers, or name a column of texts."
        )


def _scales(encoder: Encoder, X: Matrix) -> Matrix:
    """(2, features): location and scale of each column."""
    if encoder.kind == "words":
        return np.array([[0.0] * X.shape[1], [1.0] * X.shape[1]])
    centre = X.mean(axis=0)
    if encoder.kind == "truths":
        return np.array([centre, [0.5**0.5]])
    if encoder.kind == "dates":
        circles = X.shape[1] - ("time" in encoder.parts)
        time = X[:, : X.shape[1] - circles]
        return np.hstack([_standard(time), np.array([[0.0], [1.0]]) + np.zeros((1, circles))])
    return _standard(X)


def _standard(X: Matrix) -> Matrix:
    """(2, features): mean and standard deviation of each column."""
    centre = X.mean(axis=0)
    largest = np.abs(X - centre).max(axis=0, initial=0.0)  # lest squares underflow
    scale = largest * ((X - centre) / np.where(largest > 0, largest, 1)).std(axis=0)
    return np.array([centre, np.where(scale > 0, scale, 1.0)])


def _apply_table(
    recipe: FeatureRecipe, rows: Rows, progress: Progress, _embedders: Embedders
) -> ProjectedRows:
    """The columns that the recipe knows, each encoded and scaled."""
    table, parts = cast("Table", rows), list[Matrix]()
    for place, encoder in enumerate(recipe.encoders):
        if encoder.features:
            parts.append(encoder.apply(pool_column(table, encoder.name)))
        progress((place + 1) / len(recipe.encoders))
    return ProjectedRows(_scaled(recipe, parts))


def pool_column(table: Table, name: str) -> Cells:
    """The cells of a column that new rows must have, as those of the pool had it."""
    if name not in table.names:
        near = nearest(name, table.names) or table.names[:3]
        shown = ", ".join(map(repr, near)) or "none"
        raise ValueError(
            f"rows must have the column {name!r}, as those of the pool; got {shown}. Add it."
        )
    return table.columns[table.names.index(name)]


def _scaled(recipe: FeatureRecipe, parts: Sequence[Matrix]) -> Matrix:
    """Encoded columns side by side, each on the scale that the pool gave it."""
    with np.errstate(over="ignore"):
        X = (np.hstack(parts) - recipe.numbers["centre"]) / recipe.numbers["scale"]
    return X.clip(-LARGEST, LARGEST)


# ---------------------------------------------------------------- texts
def text_features(
    texts: Texts,
    columns: Sequence[str],
    progress: Progress = no_progress,
    embedder: Embedder | None = None,
    cache: EmbeddingCache = NO_CACHE,
) -> FeatureMatrix:
    """Embeddings of texts on the pool's principal axes; without an embedder LSA.

    Args:
        texts: one per row; None where there is none.
        columns: what they are called, several where texts were joined.
        progress: given the share done.
        embedder: of texts.
        cache: where vectors are kept.
    """
    words = [_cut(text) for text in texts]
    if len(set(words)) < 2:  # noqa: PLR2004 - or no two rows differ
        raise ValueError(
            f"text must be a column whose texts differ; got {_joined_names(columns)!r} with the "
            "same in every row. Name another column."
        )
    notes = _said(texts, columns)
    if embedder is None:
        made = _lsa(words, columns, progress)
        return replace(made, notes=(*notes, *made.notes))
    made = _embedded("text", TextRows(words), columns, embedder, (cache, progress))
    return replace(made, notes=notes)


def _embedded(
    kind: str,
    rows: LazyRows,
    columns: Sequence[str],
    embedder: Embedder,
    work: tuple[EmbeddingCache, Progress],
) -> FeatureMatrix:
    """The embeddings of rows on the principal axes of the pool."""
    projection, found = fit_rows(embedder, rows, *work)
    named = "picture" if kind == "image" else _joined_names(columns)
    features = tuple(f"{named} {i + 1}" for i in range(len(projection.components)))
    numbers = {"centre": projection.centre, "components": projection.components}
    recipe = FeatureRecipe(
        kind,
        features,
        columns=tuple(columns),
        numbers=numbers,
        embedder=embedder.identity,
        metric=_metric(projection.is_spherical),
    )
    return FeatureMatrix(recipe, found.X, (), failures=found.failures)


def _metric(is_spherical: bool) -> str:  # noqa: FBT001 - which of two
    """How rows are compared whose features have length one, or another."""
    return COSINE if is_spherical else EUCLIDEAN


def _lsa(words: Sequence[str], columns: Sequence[str], progress: Progress) -> FeatureMatrix:
    """LSA: sublinear TF-IDF of 1-2-grams, truncated SVD, each text scaled to length one."""
    studied = words[:: -(-len(words) // STUDIED)]
    letters = "word" if _recur(studied) else "char_wb"
    least = 2 if letters == "word" and len(studied) >= SMALL else 1
    fitted = _vectorizer(letters, max_features=TERMS, min_df=least).fit(studied)
    terms, idf = tuple(map(str, fitted.get_feature_names_out())), fitted.idf_
    weighted = _restored(letters, terms, idf).transform(studied)  # columns sorted in each row
    size = min(DIMENSIONS, *weighted.shape)
    _, lengths, components = randomized_svd(weighted, size, random_state=0)
    kept = components[lengths > 1e-8 * lengths[0]]  # the others are rounding
    column = _joined_names(columns)
    features = tuple(f"{column} {i + 1}" for i in range(len(kept)))
    numbers = {"idf": idf, "components": kept}
    recipe = FeatureRecipe(
        "text",
        features,
        columns=tuple(columns),
        terms=terms,
        letters=letters,
        numbers=numbers,
        metric=_metric(len(kept) >= MANY_AXES),
    )
    few = f"the texts of {_column(columns)} share few words and were compared by their letters."
    notes = (few,) if letters != "word" else ()
    return FeatureMatrix(recipe, recipe.apply(words, progress).X, notes)


def _joined_names(columns: Sequence[str]) -> str:
    """What several columns are called together."""
    return " and ".join(columns)


def _column(columns: Sequence[str]) -> str:
    """Columns as part of a sentence."""
    return f"column{'s' if len(columns) > 1 else ''} {_joined_names(columns)}"


def _said(texts: Texts, columns: Sequence[str]) -> tuple[str, ...]:
    """The notes on texts that are empty, or too long."""
    empty = sum(not _cut(text) for text in texts)
    long = sum(len(text or "") > LONGEST for text in texts)
    lost = f"{empty} {'row has' if empty == 1 else 'rows have'} no text in {_column(columns)}."
    cut = (
        f"{long} {'text is' if long == 1 else 'texts are'} longer than {LONGEST} characters, of "
        "which the first are learnt from."
    )
    return ((lost,) if empty else ()) + ((cut,) if long else ())


def _cut(text: str | None) -> str:
    """The part of a text that counts."""
    return (text or "")[:LONGEST].strip()


def _recur(words: Sequence[str]) -> bool:
    """Whether half the texts share a word with another one."""
    try:
        weights = _vectorizer("word", ngram_range=(1, 1)).fit_transform(words)
    except ValueError:  # no words at all
        return False
    shared = np.bincount(weights.indices, minlength=weights.shape[1]) > 1
    return bool(np.count_nonzero(weights @ shared) >= len(words) / 2)


def _vectorizer(letters: str, **settings: Any) -> Any:  # noqa: ANN401 - scikit-learn has no types
    """Sublinear TF-IDF, each row of length one."""
    return TfidfVectorizer(analyzer=letters, sublinear_tf=True, **(TERM_KINDS[letters] | settings))


def _restored(letters: str, terms: Sequence[str], idf: Array) -> Any:  # noqa: ANN401 - the same
    """The vectorizer of a recipe."""
    vectorizer = _vectorizer(letters, vocabulary=list(terms))
    vectorizer.idf_ = idf
    return vectorizer


def _apply_text(
    recipe: FeatureRecipe, rows: Rows, progress: Progress, embedders: Embedders
) -> ProjectedRows:
    """Embeddings on the pool's axes, or unit vectors in the space of the SVD; else zeros."""
    words, numbers = [_cut(text) for text in cast("Texts", rows)], recipe.numbers
    if recipe.embedder is not None:
        embedder = embedders.known(recipe.embedder, Modality.TEXT)
        return project_rows(embedder, TextRows(words), recipe.projection, embedders.cache, progress)
    vectorizer = _restored(recipe.letters, recipe.terms, numbers["idf"])
    X = np.empty((len(words), len(recipe.features)))
    for start in range(0, len(words), BLOCK):
        part = slice(start, start + BLOCK)
        X[part] = vectorizer.transform(words[part]) @ numbers["components"].T
        progress(min(start + BLOCK, len(words)) / len(words))
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return ProjectedRows(X / np.where(lengths > NOTHING, lengths, 1.0))


# ---------------------------------------------------------------- pictures
@dataclass(frozen=True, eq=False)
class ImageRows:
    """Pictures to embed, read when their turn comes."""

    files: ImageFiles
    image_input: ImageInput

    def __len__(self) -> int:
        """How many there are."""
        return len(self.files.names)

    def content(self, place: int) -> bytes:
        """The bytes of the file's hash; of one that cannot be read its name."""
        path = self.files.folder / self.files.names[place]
        try:
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").digest()
        except OSError:
            return str(path).encode(errors="surrogateescape")

    def load(self, places: Sequence[int]) -> Sequence[Image.Image | ValueError]:
        """The pictures, or why one cannot be read."""
        names = [self.files.names[place] for place in places]
        return list(images.decoded(self.files.folder, names, self.image_input))


def image_features(
    pictures: ImageFiles,
    column: str | None = None,
    progress: Progress = no_progress,
    embedder: Embedder | None = None,
    cache: EmbeddingCache = NO_CACHE,
) -> FeatureMatrix:
    """Embeddings of pictures on the pool's principal axes; without an embedder their descriptors.

    Args:
        pictures: where they are.
        column: what the column of their paths is called, if they are of a table.
        progress: given the share done.
        embedder: of pictures.
        cache: where vectors are kept.
    """
    columns = () if column is None else (column,)
    if embedder is None:
        made = _described(pictures, columns, progress)
    else:
        rows = ImageRows(pictures, embedder.image_input or ImageInput())
        made = _embedded("image", rows, columns, embedder, (cache, progress))
    if not made.recipe.features:
        raise _same_pictures(made)
    return made


def _same_pictures(made: FeatureMatrix) -> ValueError:
    """The sentence on pictures that do not differ, or of which none can be read."""
    if made.failures:
        return ValueError(next(iter(made.failures.values())))
    return ValueError(
        f"file must have pictures that differ; got {len(made.X)} that look the same. Add others."
    )


def _described(pictures: ImageFiles, columns: tuple[str, ...], progress: Progress) -> FeatureMatrix:
    """PCA of the descriptors of pictures."""
    found, failures = images.describe(pictures.folder, pictures.names, progress)
    sound = [place for place in range(len(found)) if place not in failures]
    axes = fit_projection(found[sound]) if sound else Projection(found[0], found[:0])
    features = tuple(f"picture {i + 1}" for i in range(len(axes.components)))
    numbers = {"centre": axes.centre, "components": axes.components}
    recipe = FeatureRecipe("image", features, columns=columns, numbers=numbers)
    return FeatureMatrix(recipe, axes.apply(found), (), failures=failures)


def _apply_image(
    recipe: FeatureRecipe, rows: Rows, progress: Progress, embedders: Embedders
) -> ProjectedRows:
    """Embeddings or descriptors of pictures, projected on the principal axes of the pool."""
    pictures = cast("ImageFiles", rows)
    if recipe.embedder is None:
        found, failures = images.describe(pictures.folder, pictures.names, progress)
        return ProjectedRows(recipe.projection.apply(found), failures)
    embedder = embedders.known(recipe.embedder, Modality.IMAGE)
    contents = ImageRows(pictures, embedder.image_input or ImageInput())
    return project_rows(embedder, contents, recipe.projection, embedders.cache, progress)


# ---------------------------------------------------------------- a user's own numbers
def given_features(path: Path, rows: int, *, as_they_are: bool = False) -> FeatureMatrix:
    """A user's own numbers: few columns as they are, many as the embeddings that they must be.

    Args:
        path: a .npy file with one line per row.
        rows: how many there must be.
        as_they_are: whether many columns are taken as they are, too.
    """
    X = _matrix(_loaded(path))
    if len(X) != rows:
        raise ValueError(
            f"features must have one line per row of the file, {rows}; got {len(X)}. "
            "Make the array from the same file, in its order."
        )
    if X.shape[1] < MANY_FEATURES or as_they_are:
        recipe = FeatureRecipe("own", tuple(f"feature {i + 1}" for i in range(X.shape[1])))
        note = f"the {X.shape[1]} features of {path.name} were taken as they are."
        return FeatureMatrix(recipe, X, (note,))
    axes = fit_directions(unit_rows(X[:: -(-len(X) // STUDIED)]))
    if not len(axes.components):
        raise ValueError(
            f"features must differ from row to row; got {len(X)} that point the same way. "
            "Save others, or take them as they are with --by numbers."
        )
    named = tuple(f"feature {i + 1}" for i in range(len(axes.components)))
    numbers = {"centre": axes.centre, "components": axes.components}
    recipe = FeatureRecipe("own", named, numbers=numbers, metric=_metric(axes.is_spherical))
    note = (
        f"the {X.shape[1]} features of {path.name} were scaled to length one, centred, and reduced "
        f"to {len(named)}; --by numbers takes them as they are."
    )
    return FeatureMatrix(recipe, _apply_own(recipe, X, no_progress, NO_EMBEDDERS).X, (note,))


def _loaded(path: Path) -> object:
    """What a .npy file holds, if it is one; None if not."""
    try:
        # Mapped, so that a file that claims to be huge does not fill the memory.
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise ValueError(
            f"features must be a file that exists; got {str(path)!r}. Check its name and folder."
        ) from None
    except Exception:  # noqa: BLE001 - headers are parsed as Python, and fail in as many ways
        raise ValueError(
            "features must be a .npy file of numbers, as numpy.save writes it; "
            f"got {path.name!r}, which is none. Save the array again."
        ) from None


def _matrix(given: object) -> Matrix:
    """A copy of what should be a matrix of finite numbers."""
    shape = getattr(given, "shape", None)  # several arrays in one file have none
    if shape is None or len(shape) != 2 or not shape[1]:  # noqa: PLR2004 - lines and columns
        raise ValueError(
            "features must be a matrix with a line for each row and at least one column; "
            f"got {f'shape {shape}' if shape else 'none'}. Save one array of two dimensions."
        )
    with np.errstate(over="ignore"):  # what is infinite as a float is refused as such
        X = np.array(real(cast("Matrix", given), "features"))
    if X.size and max(X.max(), -X.min()) >= LARGEST:
        raise ValueError(
            f"features must be smaller than {LARGEST:g}; got {max(X.max(), -X.min()):.3g}. "
            "Rescale them."
        )
    return X


def _apply_own(
    recipe: FeatureRecipe, rows: Rows, progress: Progress, _embedders: Embedders
) -> ProjectedRows:
    """The numbers, if there are as many as the pool had for each row; many on its axes."""
    X, is_projected = _matrix(rows), "components" in recipe.numbers
    columns = len(recipe.numbers["centre"]) if is_projected else len(recipe.features)
    if X.shape[1] != columns:
        raise ValueError(
            f"features must have {columns} columns, as the pool; "
            f"got {X.shape[1]}. Make them in the same way."
        )
    if not is_projected:
        progress(1.0)
        return ProjectedRows(X)
    found = np.empty((len(X), len(recipe.features)))
    for start in range(0, len(X), BLOCK):
        part = slice(start, start + BLOCK)
        found[part] = recipe.projection.apply(unit_rows(X[part]))
        progress(min(start + BLOCK, len(X)) / len(X))
    return ProjectedRows(found)


# ---------------------------------------------------------------- several of them
def mixed_features(made: Sequence[FeatureMatrix]) -> FeatureMatrix:
    """Blocks of columns side by side, each scaled so that the usual distance of two rows is one.

    Args:
        made: features of the same rows; one alone stays as it is, and one without columns adds
            its notes.
    """
    parts = [part for part in made if part.recipe.features]
    notes = tuple(note for part in made for note in part.notes)
    encoders = tuple(encoder for part in made for encoder in part.encoders)
    failures = {place: said for part in made for place, said in part.failures.items()}
    if len(parts) == 1:
        return replace(parts[0], notes=notes, encoders=encoders)
    recipes = tuple(part.recipe for part in parts)
    scale = np.array([usual_distance(part.X) for part in parts])
    recipe = FeatureRecipe(
        "mixed",
        unique_names(name for one in recipes for name in one.features),
        tuple(owner for one in recipes for owner in one.owners or (-1,) * len(one.features)),
        numbers={"scale": scale},
        parts=recipes,
    )
    X = _side_by_side(recipe, [part.X for part in parts])
    return FeatureMatrix(recipe, X, notes, encoders, failures)


def _apply_mixed(
    recipe: FeatureRecipe, rows: Rows, progress: Progress, embedders: Embedders
) -> ProjectedRows:
    """Every part's columns, on the scale that the pool gave them."""
    of_parts, count = cast("tuple[Rows, ...]", rows), len(recipe.parts)
    found = list[ProjectedRows]()
    for place, (part, given) in enumerate(zip(recipe.parts, of_parts, strict=True)):
        report = part_progress(progress, place / count, (place + 1) / count)
        found.append(part.apply(given, report, embedders))
    failures = {place: said for one in found for place, said in one.failures.items()}
    return ProjectedRows(_side_by_side(recipe, [one.X for one in found]), failures)


def _side_by_side(recipe: FeatureRecipe, parts: Sequence[Matrix]) -> Matrix:
    """Blocks of columns, each on its scale."""
    scaled = [part / unit for part, unit in zip(parts, recipe.numbers["scale"], strict=True)]
    return np.hstack(scaled).clip(-LARGEST, LARGEST)


APPLY: dict[str, Callable[[FeatureRecipe, Rows, Progress, Embedders], ProjectedRows]] = {
    "table": _apply_table,
    "text": _apply_text,
    "image": _apply_image,
    "own": _apply_own,
    "mixed": _apply_mixed,
}
