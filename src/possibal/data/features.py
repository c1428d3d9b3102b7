"""How rows become numbers: a recipe learnt from one pool, fit for new rows, and written as JSON.

Kernels compare rows by their distance, so what a column weighs is settled here. A number counts in
standard deviations of the pool. Two rows of different categories, or a true and a false one, are
the square root of 2 apart: as far as two rows are in a number, on the average. Texts lie on a
sphere, pictures as far apart as they look, and a user's own numbers where the user put them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from possibal.arguments import choice
from possibal.arrays import Array, Matrix, real
from possibal.data import images
from possibal.data.encoders import LARGEST, Encoder, Table, find_column, fit_encoder, unique_names

DIMENSIONS = 50
"""Texts and pictures have at most so many."""
TERMS = 20_000
"""Words and pairs of words that a recipe knows at most: the most frequent ones."""
STUDIED = 10_000
"""Texts that the terms are learnt from at most: rows spread evenly over the pool."""
SMALL = 100
"""In pools of fewer texts a word of a single row counts too."""
LONGEST = 20_000
"""Characters of a text that count."""
BLOCK = 5000
"""Texts that are counted at a time."""
NOTHING = 1e-6
"""Shorter than this, what is left of a text of length one is rounding."""
TERM_KINDS: dict[str, dict[str, Any]] = {
    "word": {"ngram_range": (1, 2), "token_pattern": r"\b\w+\b", "dtype": np.float64},
    "char_wb": {"ngram_range": (1, 3), "dtype": np.float64},
}
"""What terms are made of, and how many in a row: words, else letters where words do not recur."""

Progress: TypeAlias = Callable[[float], None]
"""Told the share that is done, from 0 to 1."""


# ---------------------------------------------------------------- values
@dataclass(frozen=True)
class ImageFiles:
    """Files of pictures, by their paths from a folder."""

    folder: Path
    names: tuple[str, ...]


Texts: TypeAlias = Sequence[str | None]
Rows: TypeAlias = Table | Texts | ImageFiles | Matrix
"""What a recipe takes: a table, texts, pictures or numbers, as its kind says."""


def silent(_share: float) -> None:
    """Nothing is told."""


@dataclass(frozen=True, eq=False)
class FeatureRecipe:
    """How rows become numbers.

    Attributes:
        kind: "table", "text", "image" or "own".
        features: names of the columns of X.
        owners: for each column of X the place of the table's column that it came from; empty
            unless the kind is "table".
        column: the column that holds the texts or the paths of pictures, if there is one.
        encoders: of the columns of a table, one for each.
        terms: what is counted in texts.
        letters: what the terms are made of, a name of `TERM_KINDS`.
        numbers: what else was learnt.
    """

    kind: str
    features: tuple[str, ...]
    owners: tuple[int, ...] = ()
    column: str | None = None
    encoders: tuple[Encoder, ...] = ()
    terms: tuple[str, ...] = ()
    letters: str = "word"
    numbers: Mapping[str, Array] = field(default_factory=dict[str, Array])

    def apply(self, rows: Rows, progress: Progress = silent) -> Matrix:
        """(rows, features): new rows as those of the pool.

        Args:
            rows: a Table, texts, Pictures or a matrix, as the kind says. A table may have more
                columns than are needed, in any order.
            progress: told the share that is done.
        """
        return choice("kind", self.kind, APPLY)(self, rows, progress)

    def document(self) -> dict[str, Any]:
        """All but the arrays, as JSON can hold it."""
        return {
            "kind": self.kind,
            "features": list(self.features),
            "owners": list(self.owners),
            "column": self.column,
            "encoders": [encoder.document() for encoder in self.encoders],
            "terms": list(self.terms),
            "letters": self.letters,
        }

    def arrays(self) -> dict[str, Array]:
        """The arrays that belong to the document."""
        return dict(self.numbers)

    @classmethod
    def restored(cls, document: Mapping[str, Any], arrays: Mapping[str, Array]) -> "FeatureRecipe":
        """The recipe that a document and its arrays were made of."""
        return cls(
            kind=document["kind"],
            features=tuple(document["features"]),
            owners=tuple(document["owners"]),
            column=document["column"],
            encoders=tuple(Encoder.restored(encoder) for encoder in document["encoders"]),
            terms=tuple(document["terms"]),
            letters=document["letters"],
            numbers={name: np.asarray(array, dtype=float) for name, array in arrays.items()},
        )


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """A recipe, the pool that it was learnt from as numbers, and what is to be said about it."""

    recipe: FeatureRecipe
    X: Matrix
    notes: tuple[str, ...]


# ---------------------------------------------------------------- tables
def table_features(table: Table) -> FeatureMatrix:
    """Every column that helps, as numbers: see the module on what each of them weighs."""
    pairs = zip(table.names, table.columns, strict=True)
    encoders = tuple(fit_encoder(name, cells) for name, cells in pairs)
    notes = tuple(encoder.note for encoder in encoders if encoder.note)
    features = unique_names(feature for encoder in encoders for feature in encoder.features)
    if not features:
        raise ValueError(
            "file must have a column that helps to tell rows apart; got none, for "
            f"{' '.join(notes[:3]).removesuffix('.') or 'all belong to labels and names'}. "
            "Add columns of numbers, or name a column of texts."
        )
    owners = tuple(place for place, one in enumerate(encoders) for _ in one.features)
    useful = [place for place, one in enumerate(encoders) if one.features]
    parts = [encoders[place].apply(table.columns[place]) for place in useful]
    scales = [_scales(encoders[i], part) for i, part in zip(useful, parts, strict=True)]
    centre, scale = np.hstack(scales)
    numbers = {"centre": centre, "scale": scale}
    recipe = FeatureRecipe("table", features, owners, encoders=encoders, numbers=numbers)
    return FeatureMatrix(recipe, _scaled(recipe, parts), notes)


def _scales(encoder: Encoder, X: Matrix) -> Matrix:
    """(2, features): what is taken off each column, and what it is then divided by."""
    if encoder.kind == "words":
        return np.array([[0.0] * X.shape[1], [1.0] * X.shape[1]])
    centre = X.mean(axis=0)
    if encoder.kind == "truths":
        return np.array([centre, [0.5**0.5]])
    spread = np.abs(X - centre).max(axis=0, initial=0.0)  # lest squares be too small for floats
    scale = spread * ((X - centre) / np.where(spread > 0, spread, 1)).std(axis=0)
    return np.array([centre, np.where(scale > 0, scale, 1.0)])


def _apply_table(recipe: FeatureRecipe, rows: Rows, progress: Progress) -> Matrix:
    """The columns that the recipe knows, each encoded and scaled."""
    table, parts = cast("Table", rows), list[Matrix]()
    for place, encoder in enumerate(recipe.encoders):
        if encoder.features:
            parts.append(
                encoder.apply(table.columns[find_column("rows", encoder.name, table.names)])
            )
        progress((place + 1) / len(recipe.encoders))
    return _scaled(recipe, parts)


def _scaled(recipe: FeatureRecipe, parts: Sequence[Matrix]) -> Matrix:
    """Encoded columns side by side, each on the scale that the pool gave it."""
    with np.errstate(over="ignore"):
        X = (np.hstack(parts) - recipe.numbers["centre"]) / recipe.numbers["scale"]
    return X.clip(-LARGEST, LARGEST)


# ---------------------------------------------------------------- texts
def text_features(texts: Texts, column: str, progress: Progress = silent) -> FeatureMatrix:
    """Texts by their words and pairs of words, weighted and put into few dimensions.

    Args:
        texts: one per row; None where there is none.
        column: what they are called.
        progress: told the share that is done.
    """
    words = [_cut(text) for text in texts]
    if len(set(words)) < 2:  # noqa: PLR2004 - or no two rows differ
        raise ValueError(
            f"text must be a column whose texts differ; got {column!r} with the same in every row. "
            "Name another column."
        )
    studied = words[:: -(-len(words) // STUDIED)]
    letters = "word" if _recur(studied) else "char_wb"
    terms = _terms(studied, letters)
    learnt = FeatureRecipe("text", (), column=column, terms=terms, letters=letters)
    counts = _counts(learnt, studied)
    held = np.bincount(counts.indices, minlength=len(terms))
    idf = np.log((1 + len(studied)) / (1 + held)) + 1
    size = min(DIMENSIONS, *counts.shape)
    _, lengths, components = randomized_svd(_weighted(counts, idf), size, random_state=0)
    kept = components[lengths > 1e-8 * lengths[0]]  # the others are rounding
    features = tuple(f"{column} {i + 1}" for i in range(len(kept)))
    numbers = {"idf": idf, "components": kept}
    recipe = FeatureRecipe("text", features, (), column, (), terms, letters, numbers)
    return FeatureMatrix(recipe, recipe.apply(words, progress), _said(words, column, letters))


def _said(words: Sequence[str], column: str, letters: str) -> tuple[str, ...]:
    """The notes on texts."""
    empty = sum(not word for word in words)
    held = "row has" if empty == 1 else "rows have"
    lost = f"{empty} {held} no text in column {column}."
    few = f"the texts of column {column} share few words and were compared by their letters."
    return ((lost,) if empty else ()) + ((few,) if letters != "word" else ())


def _cut(text: str | None) -> str:
    """The part of a text that counts."""
    return (text or "")[:LONGEST].strip()


def _recur(words: Sequence[str]) -> bool:
    """Whether half the texts share a word with another one."""
    try:
        counts = _counter("word", ngram_range=(1, 1)).fit_transform(words)
    except ValueError:  # no words at all
        return False
    shared = np.bincount(counts.indices, minlength=counts.shape[1]) > 1
    return bool(np.count_nonzero(counts @ shared) >= len(words) / 2)


def _terms(words: Sequence[str], letters: str) -> tuple[str, ...]:
    """What is counted: the most frequent terms, in a large pool of those that two rows have."""
    least = 2 if letters == "word" and len(words) >= SMALL else 1
    counter = _counter(letters, max_features=TERMS, min_df=least).fit(words)
    return tuple(str(term) for term in counter.get_feature_names_out())


def _counter(letters: str, **settings: Any) -> Any:  # noqa: ANN401 - its own options and type
    """What counts terms in texts."""
    return CountVectorizer(analyzer=letters, **(TERM_KINDS[letters] | settings))


def _counts(recipe: FeatureRecipe, words: Sequence[str]) -> csr_matrix:
    """(texts, terms): how often each text has each term."""
    return _counter(recipe.letters, vocabulary=list(recipe.terms)).transform(words)


def _weighted(counts: csr_matrix, idf: Array) -> csr_matrix:
    """Logarithms of counts, rare terms weighing more, each text of length one."""
    weighted = counts.copy()
    weighted.data = (1 + np.log(counts.data)) * idf[counts.indices]
    return cast("csr_matrix", normalize(weighted, copy=False))


def _apply_text(recipe: FeatureRecipe, rows: Rows, progress: Progress) -> Matrix:
    """Unit vectors; zeros for a text without a known term."""
    words, numbers = [_cut(text) for text in cast("Texts", rows)], recipe.numbers
    X = np.empty((len(words), len(recipe.features)))
    for start in range(0, len(words), BLOCK):
        part = slice(start, start + BLOCK)
        weighted = _weighted(_counts(recipe, words[part]), numbers["idf"])
        X[part] = weighted @ numbers["components"].T
        progress(min(start + BLOCK, len(words)) / len(words))
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > NOTHING, lengths, 1.0)


# ---------------------------------------------------------------- pictures
def image_features(
    pictures: ImageFiles, column: str | None = None, progress: Progress = silent
) -> FeatureMatrix:
    """Pictures as the images module describes them, put into few dimensions.

    Args:
        pictures: where they are.
        column: what the column of their paths is called, if they are of a table.
        progress: told the share that is done.
    """
    found = images.describe(pictures.folder, pictures.names, progress)
    centre = found.mean(axis=0)
    lengths, axes = np.linalg.eigh((found - centre).T @ (found - centre))
    kept = axes.T[::-1][:DIMENSIONS][lengths[::-1][:DIMENSIONS] > NOTHING]
    if not len(kept):
        raise ValueError(
            f"file must have pictures that differ; got {len(found)} that look the same. Add others."
        )
    # An axis may point either way: its largest entry is made positive.
    kept *= np.sign(np.take_along_axis(kept, np.abs(kept).argmax(axis=1)[:, None], axis=1))
    features = tuple(f"picture {i + 1}" for i in range(len(kept)))
    recipe = FeatureRecipe(
        "image", features, column=column, numbers={"centre": centre, "components": kept}
    )
    return FeatureMatrix(recipe, _projected(recipe, found), ())


def _apply_image(recipe: FeatureRecipe, rows: Rows, progress: Progress) -> Matrix:
    """The pictures along the axes in which those of the pool differ most."""
    pictures = cast("ImageFiles", rows)
    return _projected(recipe, images.describe(pictures.folder, pictures.names, progress))


def _projected(recipe: FeatureRecipe, found: Matrix) -> Matrix:
    """What is described, along the axes of the recipe."""
    return (found - recipe.numbers["centre"]) @ recipe.numbers["components"].T


# ---------------------------------------------------------------- a user's own numbers
def given_features(path: Path, rows: int) -> FeatureMatrix:
    """A user's own numbers, as they are: nothing is centred or scaled.

    Args:
        path: a .npy file with one line per row.
        rows: how many there must be.
    """
    X = _matrix(_loaded(path))
    if len(X) != rows:
        raise ValueError(
            f"features must have one line per row of the file, {rows}; got {len(X)}. "
            "Make the array from the same file, in its order."
        )
    recipe = FeatureRecipe("own", tuple(f"feature {i + 1}" for i in range(X.shape[1])))
    return FeatureMatrix(
        recipe, X, (f"the {X.shape[1]} features of {path.name} were taken as they are.",)
    )


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


def _apply_own(recipe: FeatureRecipe, rows: Rows, progress: Progress) -> Matrix:
    """The numbers, if there are as many as the pool had for each row."""
    X = _matrix(rows)
    if X.shape[1] != len(recipe.features):
        raise ValueError(
            f"features must have {len(recipe.features)} columns, as the pool; "
            f"got {X.shape[1]}. Make them in the same way."
        )
    progress(1.0)
    return X


APPLY: dict[str, Callable[[FeatureRecipe, Rows, Progress], Matrix]] = {
    "table": _apply_table,
    "text": _apply_text,
    "image": _apply_image,
    "own": _apply_own,
}
