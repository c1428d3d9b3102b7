"""Text models in ONNX: a transformer with its tokenizer and what comes after it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from PIL import Image

from possibal.embedding import tokens
from possibal.embedding.embedder import EmbedderIdentity, ImageInput, Modality, Vectors
from possibal.embedding.model_files import ModelFiles
from possibal.embedding.onnx_models import TOKENS, graph_files, open_graph, run
from possibal.embedding.sentence_modules import Mask, SentenceModules, read_modules
from possibal.embedding.tokens import TextTokenizer
from possibal.embedding.vectors import checked_vectors

BATCH = 8
"""Texts that are handed to a graph at a time, of like lengths: more do not fit into the cache."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = ("sentence_embedding", "text_embeds", "token_embeddings", "last_hidden_state")
"""Outputs that are taken, the first that there is; else the first of all."""


@dataclass(eq=False)
class OnnxTextEmbedder:
    """A transformer in ONNX with its tokenizer.

    Attributes:
        identity: what tells it from others.
        session: of onnxruntime.
        output: the name of the output that is taken.
        tokenizer: of the model.
        modules: what comes after it, where the graph does not do it itself.
        batch: texts that are handed to the graph at a time.
        length: tokens of every text where the graph is fixed to a number, else 0.
    """

    identity: EmbedderIdentity
    session: Any
    output: str
    tokenizer: TextTokenizer
    modules: SentenceModules
    batch: int = BATCH
    length: int = 0
    modality: Modality = Modality.TEXT
    image_input: ImageInput | None = None

    def embed(self, rows: Sequence[str] | Sequence[Image.Image]) -> Vectors:
        """(n, d): the vector of each text."""
        if not rows:
            return self.embed([""])[:0]
        found = self.tokenizer.encode(cast("Sequence[str]", rows))
        order = np.argsort([len(one) for one in found], kind="stable")
        parts = [order[at : at + self.batch] for at in range(0, len(order), self.batch)]
        vectors = np.concatenate([self._batch([found[i] for i in part]) for part in parts])
        return vectors[np.argsort(order)]

    def _batch(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """The vectors of some texts, whose tokens are given."""
        lengths = np.array([len(one) for one in texts])
        mask = np.arange(self.length or max(lengths.max(), 1)) < lengths[:, None]
        ids = self.tokenizer.padded(texts, mask.shape[1])
        known = dict(zip(INPUTS, (ids, mask, np.zeros_like(ids)), strict=True))
        feed = {
            entry.name: known[entry.name].astype(np.int32 if "int32" in entry.type else np.int64)
            for entry in self.session.get_inputs()
        }
        found = run(self.session, self.output, feed, self.identity.name)
        vectors = self._pooled(found, mask) if found.ndim == TOKENS else found
        return checked_vectors(vectors, len(texts), self.identity.name)

    def _pooled(self, found: Vectors, mask: Mask) -> Vectors:
        """The vectors of texts, of those of their tokens."""
        try:
            return self.modules.pool(found, mask)
        except ValueError:
            shapes = " and ".join(str(layer.weight.shape) for layer in self.modules.layers)
            raise ValueError(
                "model must give a vector for each token, of the size that its dense layers take; "
                f"got shape {found.shape} for {mask.shape} tokens, and layers of "
                f"{shapes or 'no shape'}, from {self.identity.name!r}. Export it anew."
            ) from None


def read_text_graph(files: ModelFiles, graph: Path) -> OnnxTextEmbedder:
    """The embedder of an ONNX file with its tokenizer, and what comes after it."""
    parts, modules = graph_files(graph), read_modules(files)
    identity = files.identity(*parts, *map(files.beside, tokens.FILES), *modules.paths)
    session = open_graph(parts)
    fixed, length = _input_shape(files, session)
    stated = tokens.stated_length(files)
    names = [found.name for found in session.get_outputs()]
    return OnnxTextEmbedder(
        identity=identity,
        session=session,
        output=next((name for name in OUTPUTS if name in names), names[0]),
        tokenizer=tokens.open_tokenizer(files, min(stated, length or stated)),
        modules=modules,
        batch=1 if fixed else BATCH,
        length=length,
    )


def _input_shape(files: ModelFiles, session: Any) -> tuple[int, int]:  # noqa: ANN401 - it is not always there
    """Texts and tokens that a graph is fixed to, 0 where it is not, if it reads texts at all."""
    entries = {entry.name: entry for entry in session.get_inputs()}
    if INPUTS[0] not in entries or any(name not in INPUTS for name in entries):
        raise files.refused(
            f"read texts, by the inputs {', '.join(INPUTS)}",
            f"which has {', '.join(entries) or 'none'}",
            "Take a model of texts, exported as sentence-transformers does.",
        )
    sizes = [size if isinstance(size, int) else 0 for size in entries[INPUTS[0]].shape]
    if len(sizes) != 2 or sizes[0] > 1:  # noqa: PLR2004 - texts and tokens
        raise files.refused(
            "take any number of texts", f"which takes {sizes}", "Export it with dynamic axes."
        )
    return sizes[0], sizes[1]
