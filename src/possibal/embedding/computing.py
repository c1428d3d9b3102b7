"""Embedding of many rows: batches, a cache, long texts in windows, rows that cannot be read.

fit_rows(embedder, rows, cache, progress) -> ProjectedRows, and their Projection
project_rows(embedder, rows, projection, cache, progress) -> ProjectedRows

Memory is bounded: whole vectors are there for the rows that the projection is fitted to, and for
one batch of others.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol, TypeAlias

import numpy as np
from PIL import Image

from possibal.arrays import Matrix
from possibal.embedding.cache import EmbeddingCache, HalfVectors, content_key
from possibal.embedding.embedder import Embedder, EmbedderIdentity, Modality, Vectors
from possibal.embedding.projection import Projection, fit_directions, unit_rows
from possibal.embedding.vectors import checked_vectors

BATCH = {Modality.TEXT: 2048, Modality.IMAGE: 64}
"""Rows, or windows of long texts, that are embedded and then kept at a time."""
LARGE_BATCH = 4
"""Pictures where an embedder wants them as they are: one may have 120 MB."""
STUDIED = 10_000
"""Rows that a projection is fitted to at most, spread evenly over the pool."""
WINDOW = 1000
"""Characters of a text that an embedder reads at a time: about as much as models are made for."""
Report: TypeAlias = Callable[[float], None]
"""Callback that is given the share of the work done, from 0 to 1."""


# ---------------------------------------------------------------- rows
class LazyRows(Protocol):
    """Rows to embed, which are read when their turn comes."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def content(self, place: int) -> bytes | None:
        """What a row is told from others by; None where it is empty."""
        ...

    def load(self, places: Sequence[int]) -> Sequence[str | Image.Image | ValueError]:
        """Rows as an embedder takes them; an error in the place of one that cannot be read."""
        ...


@dataclass(frozen=True)
class TextRows:
    """Texts, of which empty ones have no vector."""

    texts: Sequence[str]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.texts)

    def content(self, place: int) -> bytes | None:
        """The text."""
        return self.texts[place].encode(errors="surrogatepass") or None

    def load(self, places: Sequence[int]) -> Sequence[str]:
        """The texts."""
        return [self.texts[place] for place in places]


@dataclass(frozen=True, eq=False)
class ProjectedRows:
    """Rows along the principal axes of a pool.

    Attributes:
        X: (n, k); zeros, where the pool has its centre, for rows that are empty or not read.
        failures: why rows cannot be read, a sentence for each, by their places.
    """

    X: Matrix
    failures: dict[int, str] = field(default_factory=dict[int, str])


@dataclass(frozen=True, eq=False)
class _Batch:
    """Some rows and their vectors, without those that have none."""

    places: list[int]
    vectors: HalfVectors
    failures: dict[int, str]


# ---------------------------------------------------------------- the face
def fit_rows(
    embedder: Embedder, rows: LazyRows, cache: EmbeddingCache, progress: Report
) -> tuple[Projection, ProjectedRows]:
    """The projection that rows of a pool give, and these rows by it.

    Args:
        embedder: of the rows' modality.
        rows: of the pool.
        cache: of vectors.
        progress: given the share done.
    """
    step = -(-len(rows) // STUDIED) or 1
    studied = range(0, len(rows), step)
    order = [*studied, *(place for place in range(len(rows)) if place % step)]
    batches = _batches(embedder, rows, order, cache, progress)
    first, seen = list[_Batch](), 0
    for batch in batches:
        first.append(batch)
        seen += _batch_size(embedder)
        if seen >= len(studied):
            break
    projection = _fitted(embedder, [batch.vectors for batch in first if batch.places])
    return projection, _projected(embedder, len(rows), projection, chain(first, batches))


def project_rows(
    embedder: Embedder,
    rows: LazyRows,
    projection: Projection,
    cache: EmbeddingCache,
    progress: Report,
) -> ProjectedRows:
    """New rows along the axes of a pool; see :func:`fit_rows`."""
    batches = _batches(embedder, rows, range(len(rows)), cache, progress)
    return _projected(embedder, len(rows), projection, batches)


def _projected(
    embedder: Embedder, rows: int, projection: Projection, batches: Iterable[_Batch]
) -> ProjectedRows:
    """The rows of all batches along the axes, one batch after the other."""
    X, failures = np.zeros((rows, len(projection.components))), dict[int, str]()
    for batch in batches:
        failures |= batch.failures
        if batch.places:
            _check_columns(embedder, batch.vectors, len(projection.centre))
            X[batch.places] = projection.apply(batch.vectors.astype(float))
    return ProjectedRows(X, failures)


def _fitted(embedder: Embedder, vectors: Sequence[HalfVectors]) -> Projection:
    """The projection of vectors; that of none has no axis."""
    if not vectors:
        return Projection(np.zeros(0), np.zeros((0, 0)))
    for part in vectors:
        _check_columns(embedder, part, vectors[0].shape[1])
    return fit_directions(np.vstack(vectors).astype(float))


# ---------------------------------------------------------------- batches
def _batches(
    embedder: Embedder,
    rows: LazyRows,
    order: Sequence[int],
    cache: EmbeddingCache,
    progress: Report,
) -> Iterator[_Batch]:
    """The vectors of rows, some at a time; equal ones are worked out once, known ones not at all.

    Args:
        embedder: of the rows' modality.
        rows: to embed.
        order: places of all of them, in the order wanted.
        cache: of vectors.
        progress: given the share done.
    """
    size, identity = _batch_size(embedder), embedder.identity
    for start in range(0, len(order), size):
        keys = {place: _key(identity, rows, place) for place in order[start : start + size]}
        first = {key: place for place, key in keys.items() if key is not None}
        known = cache.find(list(first))
        missing = [(key, place) for key, place in first.items() if key not in known]
        loaded = rows.load([place for _, place in missing])
        pairs = list(zip((key for key, _ in missing), loaded, strict=True))
        sound = [(key, row) for key, row in pairs if not isinstance(row, ValueError)]
        for part in _parts(embedder, sound):
            vectors = _halved(embedder, [row for _, row in part])
            cache.keep([key for key, _ in part], vectors)
            known |= dict(zip((key for key, _ in part), vectors, strict=True))
            progress((start + len(keys) * len(known) / len(first)) / len(order))
        for vector in known.values():
            _check_columns(embedder, vector, len(next(iter(known.values()))))
        yield _gathered(rows, keys, known)
        progress((start + len(keys)) / len(order))


def _batch_size(embedder: Embedder) -> int:
    """Rows whose vectors are worked out, or found, at a time."""
    wanted = embedder.image_input
    return LARGE_BATCH if wanted and wanted.size is None else BATCH[embedder.modality]


def _parts(embedder: Embedder, rows: Sequence[tuple[bytes, Any]]) -> Iterator[list[Any]]:
    """Rows in parts that are embedded, and then kept, at a time: fewer where texts are long."""
    part, room = list[Any](), _batch_size(embedder)
    for key, row in rows:
        part.append((key, row))
        room -= 1 + len(row) // WINDOW if isinstance(row, str) else 1
        if room <= 0:
            yield part
            part, room = [], _batch_size(embedder)
    if part:
        yield part


def _key(identity: EmbedderIdentity, rows: LazyRows, place: int) -> bytes | None:
    """What a row is called in the cache; None where it is empty."""
    content = rows.content(place)
    return None if content is None else content_key(identity, content)


def _gathered(
    rows: LazyRows, keys: dict[int, bytes | None], known: dict[bytes, HalfVectors]
) -> _Batch:
    """Vectors, and why rows have none, by their places."""
    found = {place: known[key] for place, key in keys.items() if key in known}
    wrong = [place for place, key in keys.items() if key is not None and key not in known]
    failures = {place: str(why) for place, why in zip(wrong, rows.load(wrong), strict=True)}
    vectors = np.array(list(found.values()), dtype=np.float16)
    return _Batch(list(found), vectors, failures)


# ---------------------------------------------------------------- vectors
def _halved(embedder: Embedder, rows: Sequence[Any]) -> HalfVectors:
    """Vectors of length one, of half precision: they take half the room, and tell the same."""
    is_text = embedder.modality is Modality.TEXT
    found = _windowed(embedder, rows) if is_text else embedded(embedder, rows).astype(float)
    return unit_rows(found).astype(np.float16)


def _windowed(embedder: Embedder, texts: Sequence[str]) -> Matrix:
    """The mean of the vectors of each text's windows, by their lengths."""
    windows = [text_windows(text) for text in texts]
    flat = [part for parts in windows for part in parts]
    found = unit_rows(embedded(embedder, flat).astype(float))
    if len(flat) == len(texts):
        return found
    weights = np.array([len(part) for part in flat], dtype=float)
    starts = np.cumsum([0, *(len(parts) for parts in windows[:-1])])
    return np.add.reduceat(found * weights[:, None], starts, axis=0)


def text_windows(text: str, size: int = WINDOW) -> list[str]:
    """A text in parts of at most a size, cut at blanks where there are any."""
    parts = list[str]()
    while len(text) > size:
        cut = text.rfind(" ", size // 2, size) + 1 or size
        parts.append(text[:cut])
        text = text[cut:]
    return [part for part in (*parts, text) if part.strip()] or [text]


def embedded(embedder: Embedder, rows: Sequence[Any]) -> Vectors:
    """What an embedder makes of rows, if it is a finite vector for each."""
    return checked_vectors(embedder.embed(rows), len(rows), embedder.identity.name)


def _check_columns(embedder: Embedder, vectors: HalfVectors, columns: int) -> None:
    """Refuse vectors of another length than those of other rows."""
    if vectors.shape[-1] != columns:
        raise ValueError(
            f"encoder must return {columns} numbers for each row, as for the others; "
            f"got {vectors.shape[-1]} from {embedder.identity.name!r}. Use the same for all rows."
        )
