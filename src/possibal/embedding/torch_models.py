"""Models that torch runs: folders of sentence-transformers and timm, where these are installed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
from PIL import Image

from possibal.embedding.embedder import Embedder, EmbedderIdentity, ImageInput, Modality, Vectors
from possibal.embedding.model_files import ModelFiles
from possibal.embedding.preprocessing import Preprocessing, read_preprocessing
from possibal.embedding.vectors import checked_vectors
from possibal.errors import MissingPackageError, summary

BATCH = 32
"""Rows that are handed to a network at a time."""
MODULES, CONFIG = "modules.json", "config.json"
ENDINGS = (".safetensors", ".bin", ".pth", ".json", ".txt", ".model")
"""Of files that make a difference to a model."""
MOST_NAMES = 5
"""Files that a refusal lists."""


@dataclass(eq=False)
class SentenceTransformerEmbedder:
    """A model of sentence-transformers, of texts or of pictures as they are.

    Attributes:
        identity: what tells it from others.
        model: of sentence-transformers.
        modality: what it reads.
        image_input: pictures of any size.
    """

    identity: EmbedderIdentity
    model: Any
    modality: Modality
    image_input: ImageInput | None

    def embed(self, rows: Sequence[str] | Sequence[Image.Image]) -> Vectors:
        """(n, d): the vector of each row."""
        found = self.model.encode(list(rows), batch_size=BATCH, show_progress_bar=False)
        return checked_vectors(found, len(rows), self.identity.name)


@dataclass(eq=False)
class TimmEmbedder:
    """A network of timm without its classes.

    Attributes:
        identity: what tells it from others.
        model: of timm.
        steps: its preprocessing.
        image_input: a part of that.
    """

    identity: EmbedderIdentity
    model: Any
    steps: Preprocessing
    image_input: ImageInput | None
    modality: Modality = Modality.IMAGE

    def embed(self, rows: Sequence[str] | Sequence[Image.Image]) -> Vectors:
        """(n, d): the vector of each picture."""
        import torch  # pyright: ignore[reportMissingImports]

        pictures, parts = cast("Sequence[Image.Image]", rows), list[Vectors]()
        for at in range(0, len(pictures), BATCH):
            pixels = self.steps.pixels(pictures[at : at + BATCH]).transpose(0, 3, 1, 2)
            with torch.inference_mode():
                found = self.model(torch.from_numpy(np.ascontiguousarray(pixels)))
            parts.append(checked_vectors(found.float().numpy(), len(pixels), self.identity.name))
        return np.concatenate(parts)


def read_torch_model(files: ModelFiles, modality: Modality) -> Embedder:
    """The embedder of a folder without an ONNX file; one sentence if nothing here can read it."""
    config = files.document(CONFIG) if files.path.is_dir() else {}
    if modality is Modality.IMAGE and "architecture" in config:
        return _loaded(files, "timm", _read_timm)
    if (files.path.is_dir() and files.beside(MODULES)) or (
        modality is Modality.TEXT and "architectures" in config
    ):
        return _loaded(files, "sentence-transformers", lambda f: _read_sentences(f, modality))
    names = sorted(path.name for path in files.folder.iterdir())
    listed = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
    got = f"a folder with {listed}" if files.path.is_dir() else "which is a file of another kind"
    raise files.refused(
        "be an ONNX file, or a folder with one and its tokenizer.json or preprocessor_config.json",
        got,
        "Export the model to ONNX.",
    )


def _loaded(files: ModelFiles, package: str, read: Callable[[ModelFiles], Embedder]) -> Embedder:
    """The embedder that a package makes of a folder."""
    if find_spec(package.replace("-", "_")) is None:
        raise MissingPackageError(
            f"Reading {str(files.path)!r}, which has no ONNX file, needs {package}, which is not "
            f"installed: run pip install {package}, or export the model to ONNX."
        )
    try:
        return read(files)
    except Exception as error:  # noqa: BLE001 - these fail in as many ways as files
        raise files.refused(
            f"be a folder that {package} reads",
            f"where it fails ({summary(error)})",
            "Save it anew.",
        ) from None


def _read_sentences(files: ModelFiles, modality: Modality) -> SentenceTransformerEmbedder:
    """A model of sentence-transformers, of local files alone."""
    from sentence_transformers import (  # pyright: ignore[reportMissingImports]
        SentenceTransformer,
    )

    model = SentenceTransformer(str(files.folder), device="cpu", local_files_only=True)
    image_input = ImageInput() if modality is Modality.IMAGE else None
    return SentenceTransformerEmbedder(_identity(files), model, modality, image_input)


def _read_timm(files: ModelFiles) -> TimmEmbedder:
    """A network of timm, of local files alone."""
    import timm  # pyright: ignore[reportMissingImports]

    steps = read_preprocessing(files)
    if steps is None:
        raise ValueError(f"{CONFIG} has no pretrained_cfg")
    model = timm.create_model(f"local-dir:{files.folder}", pretrained=True, num_classes=0)
    return TimmEmbedder(_identity(files), model.eval(), steps, steps.image_input)


def _identity(files: ModelFiles) -> EmbedderIdentity:
    """The identity of a folder: all its files that make a difference."""
    return files.identity(*sorted(p for p in files.folder.rglob("*") if p.suffix in ENDINGS))
