"""Static table of token vectors (model2vec, potion): a text is the mean of its tokens' vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from possibal.embedding import tokens
from possibal.embedding.embedder import EmbedderIdentity, ImageInput, Modality, Vectors
from possibal.embedding.model_files import ModelFiles
from possibal.embedding.safetensors import stored_tensors
from possibal.embedding.tokens import TextTokenizer
from possibal.embedding.vectors import checked_vectors

FILE = "model.safetensors"
ENDING = ".safetensors"
FOLDER = "0_StaticEmbedding"
"""Where sentence-transformers keeps a table."""
TABLES = ("embeddings", "embedding.weight")
"""What model2vec, which leaves unknown words out, and sentence-transformers call it."""
OTHERS = ("mapping", "weights")
"""Which vector a token has, and what it weighs, where that is not all the same."""
AXES = 2


@dataclass(eq=False)
class StaticTextEmbedder:
    """A table of token vectors, whose mean over a text's tokens is the text's vector.

    Attributes:
        identity: what tells it from others.
        tokenizer: of the model.
        table: (vectors, d).
        places: (vocabulary,): the vector of each token.
        weights: (vocabulary,): what each token weighs.
        unknown: the token of unknown words, which do not count; None where all do.
    """

    identity: EmbedderIdentity
    tokenizer: TextTokenizer
    table: Vectors
    places: NDArray[np.intp]
    weights: Vectors
    unknown: int | None = None
    modality: Modality = Modality.TEXT
    image_input: ImageInput | None = None

    def embed(self, rows: Sequence[str] | Sequence[Image.Image]) -> Vectors:
        """(n, d): the vector of each text; zeros where no token is known."""
        texts = cast("Sequence[str]", rows)
        found = np.zeros((len(texts), self.table.shape[1]), dtype=np.float32)
        for line, numbers in zip(found, self.tokenizer.encode(texts, special=False), strict=True):
            own = np.array([number for number in numbers if number != self.unknown], dtype=np.intp)
            if len(own):
                line[:] = self.weights[own] @ self.table[self.places[own]] / len(own)
        return found


def read_static_table(files: ModelFiles) -> StaticTextEmbedder | None:
    """The embedder of a folder with a table and a tokenizer; None where there is no table."""
    path = _path(files)
    stored = {} if path is None else stored_tensors(path)
    name = next((name for name in TABLES if name in stored), None)
    if path is None or name is None:
        return None
    here = ModelFiles(files.path, path.parent)
    identity = files.identity(path, *map(here.beside, tokens.FILES))
    tokenizer = tokens.open_tokenizer(here, tokens.MOST_LENGTH)
    arrays = {key: stored[key].read(path) for key in (name, *OTHERS) if key in stored}
    table, unknown = arrays[name], tokens.unknown(tokenizer) if name == TABLES[0] else None
    size = 1 + max(tokenizer.tokenizer.get_vocab().values(), default=0)
    places = arrays.get("mapping", np.arange(size))
    weights = arrays.get("weights", np.ones(size))
    if not (_fits(table, places, size) and weights.ndim == 1 and len(weights) >= size):
        raise files.refused(
            f"have a vector for each of the {size} tokens of its tokenizer",
            f"whose table has the shape {table.shape}",
            "Save table and tokenizer together.",
        )
    return StaticTextEmbedder(
        identity=identity,
        tokenizer=tokenizer,
        table=checked_vectors(table, len(table), str(path)),
        places=places.astype(np.intp),
        weights=checked_vectors(weights[:, None], len(weights), str(path))[:, 0],
        unknown=unknown,
    )


def _path(files: ModelFiles) -> Path | None:
    """The file that may hold a table."""
    if files.path.is_file():
        return files.path if files.path.suffix == ENDING else None
    usual = (files.folder / FILE, files.folder / FOLDER / FILE)
    return next((path for path in usual if path.is_file()), None)


def _fits(table: NDArray[Any], places: NDArray[Any], size: int) -> bool:
    """Whether each token has a vector in the table."""
    if table.ndim != AXES or not table.size or places.ndim != 1 or len(places) < size:
        return False
    return bool(places.min() >= 0 and places.max() < len(table))
