"""ONNX models run by onnxruntime on all cores, without a word and without a network."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
from joblib import cpu_count
from PIL import Image

from possibal.embedding.embedder import EmbedderIdentity, ImageInput, Modality, Vectors
from possibal.embedding.preprocessing import Preprocessing
from possibal.embedding.vectors import checked_vectors
from possibal.errors import MissingPackageError, summary

PREFIX = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")
SILENT = 4
"""Log severity of onnxruntime: fatal errors alone."""
BATCH = 4
"""Pictures that are handed to a graph at a time: more do not fit into the cache of a core."""
ANY_SIDE = 224
"""Pixels along a side where a model takes any."""
PIXELS = {"tensor(float)": "<f4", "tensor(float16)": "<f2", "tensor(uint8)": "u1"}
"""Types that a graph may want its pictures in, as onnxruntime and NumPy call them."""
TOKENS, FEATURE_MAP = 3, 4
"""Axes of activations at each token, and at each place of a picture."""
MOST_GRAPH = 2**31 - 1
"""Bytes of a graph: its format has no more."""


def open_session(model: bytes | str, source: str) -> Any:  # noqa: ANN401 - it is not always there
    """A session of onnxruntime over a graph, on all cores; one sentence if it is no graph.

    Args:
        model: the graph's bytes, or its path where the weights lie in files of their own.
        source: its name, to be said in the sentence.
    """
    _check_installed("onnxruntime")
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    onnxruntime.set_default_logger_severity(SILENT)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = SILENT
    options.intra_op_num_threads = cpu_count()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others work too
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - each of its codes is an exception of its own
        raise _refused(source, _reason(error)) from None


def _check_installed(package: str) -> None:
    """Refuse to go on without a package."""
    if find_spec(package) is None:
        raise MissingPackageError(
            f"Reading ONNX models needs {package}, which is not installed: "
            "run pip install 'possibal[models]'."
        )


def _refused(source: str, reason: str) -> ValueError:
    """The sentence on what is no model."""
    return ValueError(
        f"model must be an ONNX model that can be read; got {source!r} ({reason}). Export it anew."
    )


def _reason(error: Exception) -> str:
    """What onnxruntime says, without its name and number."""
    return PREFIX.sub("", summary(error))


# ---------------------------------------------------------------- files
def graph_files(graph: Path) -> tuple[Path, ...]:
    """The files of a graph: its own, and those beside it that its weights lie in."""
    _check_installed("onnx")
    import onnx

    source = str(graph)
    if (size := graph.stat().st_size) > MOST_GRAPH:
        raise _refused(source, f"{size / 1e9:.1f} GB without a file for its weights")
    try:
        model = onnx.load(source, load_external_data=False)
    except Exception as error:  # noqa: BLE001 - protobuf's errors are not public
        raise _refused(source, summary(error)) from None
    parts = [model.graph, *model.functions]
    names = {name for part in parts for tensor in _tensors(part) for name in _locations(tensor)}
    paths = [graph.parent / name for name in sorted(names)]
    for path in paths:
        if path.resolve().parent != graph.parent.resolve() or not path.is_file():
            raise _refused(source, f"its weights are to lie in {path.name!r}, which is not there")
    return (graph, *paths)


def _tensors(part: Any) -> Iterator[Any]:  # noqa: ANN401 - ONNX makes its types as it is loaded
    """The constants of a graph or function, and those of the graphs within it."""
    yield from getattr(part, "initializer", ())
    for attribute in (one for node in part.node for one in node.attribute):
        yield from (attribute.t, *attribute.tensors)
        for inner in (attribute.g, *attribute.graphs):
            yield from _tensors(inner)


def _locations(tensor: Any) -> Iterator[str]:  # noqa: ANN401 - the same
    """The file that a constant lies in, if that is another one."""
    return (entry.value for entry in tensor.external_data if entry.key == "location")


def open_graph(files: Sequence[Path]) -> Any:  # noqa: ANN401 - the same
    """A session over a graph and the files of its weights; what is read is what these are."""
    graph = files[0]
    return open_session(graph.read_bytes() if len(files) == 1 else str(graph), str(graph))


# ---------------------------------------------------------------- pictures
@dataclass(eq=False)
class OnnxImageEmbedder:
    """A picture model in ONNX, with the preprocessing that it was trained with.

    Attributes:
        identity: what tells it from others.
        steps: its preprocessing.
        session: of onnxruntime.
        output: the name of the output that is taken; more than two axes are averaged over the
            places in the picture.
        channels_first: whether the graph wants (n, 3, height, width).
        batch: pictures that are handed to the graph at a time.
    """

    identity: EmbedderIdentity
    steps: Preprocessing
    session: Any
    output: str
    channels_first: bool = True
    batch: int = BATCH
    modality: Modality = Modality.IMAGE
    image_input: ImageInput | None = field(init=False)

    def __post_init__(self) -> None:
        """How pictures are handed in is a part of the preprocessing."""
        self.image_input = self.steps.image_input

    def embed(self, rows: Sequence[str] | Sequence[Image.Image]) -> Vectors:
        """(n, d): the vector of each picture; all have the size that `image_input` says."""
        pictures = cast("Sequence[Image.Image]", rows)
        if not pictures:
            side = self.steps.image_input.size or ANY_SIDE
            return self._batch([Image.new("RGB", (side, side), "grey")])[:0]
        starts = range(0, len(pictures), self.batch)
        return np.concatenate([self._batch(pictures[at : at + self.batch]) for at in starts])

    def _batch(self, pictures: Sequence[Image.Image]) -> Vectors:
        """The vectors of some pictures."""
        pixels = self.steps.pixels(pictures)
        if self.channels_first:
            pixels = np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))
        entry = self.session.get_inputs()[0]
        feed = {entry.name: pixels.astype(PIXELS[entry.type], copy=False)}
        found = run(self.session, self.output, feed, self.identity.name)
        return checked_vectors(self._averaged(found), len(pictures), self.identity.name)

    def _averaged(self, found: Vectors) -> Vectors:
        """(n, d): activations, averaged over the places where there are many."""
        if found.ndim == FEATURE_MAP:
            return found.mean(axis=(2, 3) if self.channels_first else (1, 2))
        return found.mean(axis=1) if found.ndim == TOKENS else found


def run(session: Any, output: str, feed: Mapping[str, Any], source: str) -> Vectors:  # noqa: ANN401 - the same
    """An output of a session, or the sentence on why it gives none.

    Args:
        session: of onnxruntime.
        output: the name of what is wanted.
        feed: arrays by the names of the inputs.
        source: the model's name, to be said in the sentence.
    """
    try:
        return np.asarray(session.run([output], dict(feed))[0])
    except Exception as error:  # noqa: BLE001 - each of its codes is an exception of its own
        raise ValueError(
            f"model must run on the rows that it is given; got {source!r}, which fails "
            f"({_reason(error)}). Export it anew."
        ) from None
