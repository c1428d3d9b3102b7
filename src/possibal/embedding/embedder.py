"""Embedder: a model that turns texts or pictures into vectors, and what tells it from another.

embedder.identity -> EmbedderIdentity        embedder.embed(["a text", ...]) -> (n, d)
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Vectors: TypeAlias = NDArray[np.floating[Any]]
"""(n, d): an embedding for each row."""


class Modality(StrEnum):
    """What an embedder reads."""

    TEXT = "text"
    IMAGE = "image"


@dataclass(frozen=True)
class EmbedderIdentity:
    """What tells an embedder from any other: with another one, vectors cannot be compared.

    Attributes:
        name: of the model, or of the file it was read from.
        version: of the package that has it; empty where it is a file.
        digest: SHA-256 of its weights, in hexadecimal.
        path: of the file or folder that a user named; empty where a package has the model. It
            helps to find the model again, and is no part of what it is.
        plugin: the name of the plug-in that has it, if one does, which helps likewise.
    """

    name: str
    version: str
    digest: str
    path: str = ""
    plugin: str = ""

    def is_same(self, other: "EmbedderIdentity") -> bool:
        """Whether two embedders give the same vectors: their weights are the same."""
        return self.digest == other.digest

    def document(self) -> dict[str, str]:
        """As JSON can hold it; a plug-in is named where there is one."""
        return {name: said for name, said in asdict(self).items() if said or name != "plugin"}


@dataclass(frozen=True)
class ImageInput:
    """How an embedder wants its pictures: upright RGB, and resized.

    Attributes:
        size: pixels along each side of the square; None for pictures as they are.
        crop: the share of the shorter side that a central square keeps; None squeezes the whole
            picture into the square.
        bicubic: whether it is resized by bicubic instead of bilinear interpolation.
    """

    size: int | None = None
    crop: float | None = None
    bicubic: bool = False


class Embedder(Protocol):
    """A model that turns rows of one modality into vectors."""

    @property
    def identity(self) -> EmbedderIdentity:
        """What tells it from others."""
        ...

    @property
    def modality(self) -> Modality:
        """What it reads."""
        ...

    @property
    def image_input(self) -> ImageInput | None:
        """How pictures are to be handed in; None where it reads texts."""
        ...

    def embed(self, rows: Sequence[str] | Sequence[Image.Image]) -> Vectors:
        """(n, d): a finite vector for each text, or each picture, in their order."""
        ...
