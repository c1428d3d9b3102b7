"""A user's own model: what lies in a file or folder, read locally as an embedder.

load_own_model(Path("all-MiniLM-L6-v2"), Modality.TEXT).embed(["a text"]) -> (1, 384)

Texts: a table of token vectors (model2vec) or an ONNX file, with tokenizer.json. Pictures: an ONNX
file, with preprocessor_config.json. Either: a folder that sentence-transformers or timm reads,
where these are installed. Nothing is ever downloaded.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from possibal.embedding import static_table, tokens
from possibal.embedding.computing import embedded
from possibal.embedding.embedder import Embedder, Modality
from possibal.embedding.image_models import read_image_graph
from possibal.embedding.model_files import ModelFiles
from possibal.embedding.onnx_models import ANY_SIDE
from possibal.embedding.static_table import read_static_table
from possibal.embedding.text_models import read_text_graph
from possibal.embedding.torch_models import read_torch_model
from possibal.errors import summary

TEXTS = ("a text", "and another one, which is longer")
COLOURS = ("grey", "teal")
"""What a model is tried on before anything else."""


def load_own_model(path: Path, modality: Modality) -> Embedder:
    """The embedder of a file or folder, tried on two rows; one sentence if it is none.

    Args:
        path: of an ONNX file, or of a folder in a layout that is known.
        modality: what it is to read.
    """
    try:
        files = ModelFiles.found(path)
        embedder = _text_model(files) if modality is Modality.TEXT else _image_model(files)
    except OSError as error:
        raise ValueError(
            f"model must be a file or folder that can be read; got {str(path)!r} "
            f"({summary(error)}). Check who may read it."
        ) from None
    embedded(embedder, _trial(embedder))
    return embedder


def reads_texts(path: Path) -> bool:
    """Whether a model that was named comes with a tokenizer."""
    files = ModelFiles.found(path)
    return any(files.beside(name) for name in (tokens.FILE, f"{static_table.FOLDER}/{tokens.FILE}"))


def _text_model(files: ModelFiles) -> Embedder:
    """The embedder of texts."""
    table = read_static_table(files)
    if table is not None:
        return table
    graph = files.graph()
    return (
        read_torch_model(files, Modality.TEXT) if graph is None else read_text_graph(files, graph)
    )


def _image_model(files: ModelFiles) -> Embedder:
    """The embedder of pictures."""
    graph = files.graph()
    if graph is None:
        return read_torch_model(files, Modality.IMAGE)
    return read_image_graph(files, graph)


def _trial(embedder: Embedder) -> Sequence[Any]:
    """Two small rows."""
    if embedder.modality is Modality.TEXT:
        return TEXTS
    side = (embedder.image_input and embedder.image_input.size) or ANY_SIDE
    return [Image.new("RGB", (side, side), colour) for colour in COLOURS]
