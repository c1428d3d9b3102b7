"""Cache of embeddings: vectors by a hash of what they are of, in a file beside a campaign.

cache = EmbeddingCache(Path("reviews.csv.possibal.embeddings"))
cache.find(keys) -> {key: vector}        cache.keep(keys, vectors)

What was worked out once is found again by a second start, by new rows and by predictions, and a run
that was interrupted goes on. It is a convenience: where the file cannot be used, nothing is kept.
"""

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from possibal.embedding.embedder import EmbedderIdentity
from possibal.errors import summary
from possibal.files import is_there

HalfVectors: TypeAlias = NDArray[np.float16]
ENDING = ".possibal.embeddings"
"""Of the file, beside the one that it is about."""
TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)"
BYTES = 16
"""Of a key."""
MANY = 500
"""Keys that one statement names."""
WORTH_KEEPING = 10_000_000
"""Bytes of vectors that took a while to work out."""
PATIENCE = 5.0
"""Seconds to wait while another process writes."""


def cache_beside(path: Path) -> Path:
    """The file that keeps embeddings beside a campaign's database, or beside a file of rows."""
    path = path.resolve() if path.name in {"", ".."} else path  # as the folder we are in
    name = path.name.removesuffix(".db").removesuffix(".possibal")
    return path.with_name(f"{name}{ENDING}")


def content_key(identity: EmbedderIdentity, content: bytes) -> bytes:
    """The key of what an embedder makes of some content."""
    return blake2b(identity.digest.encode() + content, digest_size=BYTES).digest()


@contextmanager
def withdrawn_if_refused(path: Path | None) -> Generator[None]:
    """Where rows are refused, a cache that was begun for them goes, unless it took long to fill.

    That of a run that was interrupted stays.
    """
    is_new = path is not None and not is_there(path)
    try:
        yield
    except (ValueError, TypeError):
        if path is not None and is_new:
            with suppress(OSError):  # it is not there, or somebody else's by now
                if path.stat().st_size < WORTH_KEEPING:
                    path.unlink()
        raise


class EmbeddingCache:
    """Vectors of half precision by their keys; without a file it keeps nothing.

    Attributes:
        path: of the file; None for none.
        trouble: why nothing is kept, in a few words; empty where all is well.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Nothing is opened before it is needed."""
        self.path, self.trouble = path, ""

    def find(self, keys: Sequence[bytes]) -> dict[bytes, HalfVectors]:
        """The vectors that are known, by their keys."""
        found = dict[bytes, HalfVectors]()
        if self.trouble or self.path is None or not is_there(self.path):
            return found
        with self._remembering(), self._opened() as database:
            for start in range(0, len(keys), MANY):
                part = keys[start : start + MANY]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - marks alone
                rows = database.execute(query, part)
                found |= {key: np.frombuffer(vector, np.float16) for key, vector in rows}
        return found

    def keep(self, keys: Sequence[bytes], vectors: HalfVectors) -> None:
        """Keep vectors, all of them or none."""
        if self.path is None or self.trouble or not keys:
            return
        with self._remembering(), self._opened() as database:
            rows = [(key, row.tobytes()) for key, row in zip(keys, vectors, strict=True)]
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        """The database, in one transaction."""
        database = sqlite3.connect(str(self.path), timeout=PATIENCE)
        try:
            with database:
                database.execute(TABLE)
                yield database
        finally:
            database.close()

    @contextmanager
    def _remembering(self) -> Generator[None]:
        """What fails inside is remembered, and costs only time."""
        try:
            yield
        except (sqlite3.Error, OSError, TypeError, ValueError) as error:
            self.trouble = summary(error)
