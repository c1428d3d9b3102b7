"""What sentence-transformers does after a transformer: pooling, and dense layers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from possibal.embedding.embedder import Vectors
from possibal.embedding.model_files import ModelFiles, read_json
from possibal.embedding.safetensors import stored_tensors

FILE, POOLING, WEIGHTS = "modules.json", "1_Pooling/config.json", "model.safetensors"
DENSE = "Dense"
KINDS = ("Transformer", "Pooling", DENSE, "Normalize", "Dropout")
"""Modules that are followed; lengths do not count, since every vector is brought to one later."""
MODE = "pooling_mode_"
"""What the names of poolings began with in older files, which say true or false for each."""
TANH, IDENTITY = "Tanh", "Identity"
Mask: TypeAlias = NDArray[np.bool_]
"""(n, t): which tokens are a text's own."""
Pooling: TypeAlias = Callable[[Vectors, Mask], Vectors]


# ---------------------------------------------------------------- pooling
def mean_pooling(tokens: Vectors, mask: Mask) -> Vectors:
    """The mean over a text's own tokens."""
    weights = mask[:, :, None] / np.maximum(mask.sum(axis=1), 1)[:, None, None]
    return (tokens * weights).sum(axis=1)


def first_pooling(tokens: Vectors, mask: Mask) -> Vectors:  # noqa: ARG001 - one form for all
    """The vector of the first token, which marks the begin."""
    return tokens[:, 0]


def last_pooling(tokens: Vectors, mask: Mask) -> Vectors:
    """The vector of a text's last token."""
    return tokens[np.arange(len(tokens)), np.maximum(mask.sum(axis=1) - 1, 0)]


def max_pooling(tokens: Vectors, mask: Mask) -> Vectors:
    """The largest value over a text's own tokens."""
    own = mask | ~mask.any(axis=1, keepdims=True)
    return np.where(own[:, :, None], tokens, -np.inf).max(axis=1)


POOLINGS: Mapping[str, Pooling] = {
    "cls": first_pooling,
    "lasttoken": last_pooling,
    "max": max_pooling,
    "mean": mean_pooling,
}
"""By the names that sentence-transformers has for them."""


# ---------------------------------------------------------------- layers
@dataclass(frozen=True, eq=False)
class DenseLayer:
    """A linear layer after the pooling.

    Attributes:
        weight: (out, in).
        bias: (out,), or zero.
        bounded: whether the hyperbolic tangent comes next.
    """

    weight: Vectors
    bias: Vectors
    bounded: bool

    def apply(self, vectors: Vectors) -> Vectors:
        """(n, out)."""
        found = vectors @ self.weight.T + self.bias
        return np.tanh(found) if self.bounded else found


@dataclass(frozen=True, eq=False)
class SentenceModules:
    """What comes after a transformer.

    Attributes:
        poolings: from tokens to a text, side by side.
        layers: after the pooling.
        paths: of the files that this was read from.
    """

    poolings: tuple[Pooling, ...]
    layers: tuple[DenseLayer, ...]
    paths: tuple[Path, ...]

    def pool(self, tokens: Vectors, mask: Mask) -> Vectors:
        """(n, d): the vectors of texts."""
        found = np.concatenate([pooling(tokens, mask) for pooling in self.poolings], axis=1)
        for layer in self.layers:
            found = layer.apply(found)
        return found


def read_modules(files: ModelFiles) -> SentenceModules:
    """What a model's files name; the mean over tokens where they name nothing."""
    own = [path for path in map(files.beside, (FILE, POOLING)) if path is not None]
    folders = _dense_folders(files)
    paths = [folder / name for folder in folders for name in ("config.json", WEIGHTS)]
    for path in paths:
        if not path.is_file():
            name = path.relative_to(files.folder)
            raise files.refused(
                f"have its dense layer in {name}", "which has none", "Save it anew."
            )
    layers = tuple(_dense(files, folder) for folder in folders)
    return SentenceModules(_poolings(files), layers, (*own, *paths))


def _poolings(files: ModelFiles) -> tuple[Pooling, ...]:
    """What makes one vector of those of the tokens."""
    document = files.document(POOLING)
    old = [name.removeprefix(MODE) for name, on in document.items() if name.startswith(MODE) and on]
    found = document.get("pooling_mode", [name.partition("_")[0] for name in old] or "mean")
    names = [found] if isinstance(found, str) else [str(name) for name in found]
    unknown = [name for name in names if name not in POOLINGS]
    if unknown:
        raise files.refused(
            f"be pooled by {', '.join(POOLINGS)}",
            f"which wants {unknown[0]!r}",
            "Export it with its pooling in the graph.",
        )
    return tuple(POOLINGS[name] for name in names)


def _dense_folders(files: ModelFiles) -> list[Path]:
    """The folders of the dense layers, if all modules are known."""
    path = files.beside(FILE)
    if path is None:
        return []
    try:
        modules = cast("list[dict[str, str]]", read_json(path))
        found = [(one["type"].rpartition(".")[2], path.parent / one["path"]) for one in modules]
    except (TypeError, KeyError, AttributeError):
        raise files.refused(
            f"list its modules in {FILE}", "which does not", "Save it anew."
        ) from None
    strangers = [kind for kind, _ in found if kind not in KINDS]
    if strangers:
        raise files.refused(
            f"have no modules but {', '.join(KINDS)}",
            f"which has {strangers[0]}",
            "Export it with all of them in the graph.",
        )
    return [folder for kind, folder in found if kind == DENSE]


def _dense(files: ModelFiles, folder: Path) -> DenseLayer:
    """A dense layer."""
    document = cast("dict[str, object]", read_json(folder / "config.json"))
    kind = str(document.get("activation_function")).rpartition(".")[2]
    if kind not in (TANH, IDENTITY):
        raise files.refused(
            f"have dense layers with {TANH} or {IDENTITY}",
            f"which has {kind}",
            "Export it with all of them in the graph.",
        )
    stored = stored_tensors(folder / WEIGHTS)
    if "linear.weight" not in stored:
        raise files.refused(
            "have its dense layer in linear.weight", "which has none", "Save it anew."
        )
    weight, bias = (
        stored[name].read(folder / WEIGHTS) if name in stored else np.zeros(1, dtype=np.float32)
        for name in ("linear.weight", "linear.bias")
    )
    return DenseLayer(weight, bias, bounded=kind == TANH)
