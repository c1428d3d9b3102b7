import os
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from PIL import Image
from support.models import external_graph, image_graph

from possibal.embedding import onnx_models
from possibal.embedding.embedder import EmbedderIdentity, ImageInput
from possibal.embedding.onnx_models import (
    OnnxImageEmbedder,
    graph_files,
    open_session,
    run,
)
from possibal.embedding.preprocessing import Preprocessing
from possibal.errors import MissingPackageError

IDENTITY = EmbedderIdentity("tiny", "", "0" * 64)


def model(nodes, shape, out_shape, weights=()):
    """The bytes of a model from "x" to "y"."""
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, out_shape)
    stored = [
        numpy_helper.from_array(np.asarray(a, np.float32), n) for n, a in dict(weights).items()
    ]
    graph = helper.make_graph(nodes, "tiny", [entry], [out], stored)
    opset = helper.make_opsetid("", 13)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString()


def identity_of(shape):
    """A session that gives back what it is given."""
    return open_session(model([helper.make_node("Identity", ["x"], ["y"])], shape, shape), "tiny")


def embedder(session, **options):
    """An embedder of pictures of 4 points along a side."""
    steps = Preprocessing(
        options.pop("image_input", ImageInput(4)),
        options.pop("mean", (0.0,) * 3),
        options.pop("scale", (1.0,) * 3),
    )
    return OnnxImageEmbedder(IDENTITY, steps, session, "y", **options)


def picture(colour=(10, 20, 40), side=4):
    return Image.new("RGB", (side, side), colour)


def test_channels_are_shifted_and_scaled_in_their_order():
    found = embedder(identity_of(["n", 3, 4, 4]), mean=(10, 10, 20), scale=(1, 5, 10)).embed(
        [picture()]
    )
    assert found.tolist() == [[0, 2, 2]]


def test_a_graph_may_want_channels_last():
    found = embedder(identity_of(["n", 4, 4, 3]), channels_first=False).embed([picture()] * 2)
    assert found.tolist() == [[10, 20, 40]] * 2


def test_activations_of_tokens_are_averaged():
    flat = helper.make_node("Reshape", ["x", "shape"], ["y"])
    shape = numpy_helper.from_array(np.array([-1, 3, 16]), "shape")
    constant = helper.make_node("Constant", [], ["shape"], value=shape)
    session = open_session(model([constant, flat], ["n", 3, 4, 4], ["n", 3, 16]), "tiny")
    found = embedder(session).embed([picture((3, 6, 9))])
    assert found.tolist() == [[6] * 16]


def test_no_pictures_have_no_vectors_of_the_same_length():
    assert embedder(identity_of(["n", 3, 4, 4])).embed([]).shape == (0, 3)
    anything = embedder(identity_of(["n", 3, "h", "w"]), image_input=ImageInput())
    assert anything.embed([]).shape == (0, 3)
    assert anything.embed([picture(side=7)]).tolist() == [[10, 20, 40]]


def test_many_pictures_go_in_batches_in_their_order():
    pictures = [picture((i, 0, 0)) for i in range(2 * onnx_models.BATCH + 3)]
    found = embedder(identity_of(["n", 3, 4, 4])).embed(pictures)
    assert found[:, 0].tolist() == list(range(len(pictures)))


# ---------------------------------------------------------------- files
def test_the_files_of_a_graph_are_those_that_it_names(tmp_path):
    (tmp_path / "model.onnx_data").touch()
    path = external_graph(tmp_path, "weights.bin")
    assert graph_files(path) == (path, tmp_path / "weights.bin")
    path.write_bytes(image_graph())
    assert graph_files(path) == (path,)


def test_constants_within_graphs_are_found(tmp_path):
    weight = numpy_helper.from_array(np.ones(3, np.float32), "w")
    out = helper.make_tensor_value_info("z", TensorProto.FLOAT, [3])
    constant = helper.make_node("Constant", [], ["z"], value=weight)
    inner = helper.make_graph([constant], "inner", [], [out])
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    entry = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    whole = helper.make_graph(
        [node], "m", [entry], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])]
    )
    made = helper.make_model(whole)
    stored = made.graph.node[0].attribute[0].g.node[0].attribute[0].t
    set_external_data(stored, "inner.bin")
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    (tmp_path / "inner.bin").write_bytes(stored.raw_data)
    assert graph_files(path) == (path, tmp_path / "inner.bin")


@pytest.mark.parametrize("location", ["../wght.bin", "sub/wgt.bin", "/etc/passwd", "missing.bin"])
def test_weights_that_lie_elsewhere_are_refused(tmp_path, location):
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    path = external_graph(folder, "weights.bin")
    path.write_bytes(path.read_bytes().replace(b"weights.bin", location.encode()))  # as long
    for other in (tmp_path / "wght.bin", folder / "sub/wgt.bin"):
        other.touch()
    with pytest.raises(ValueError, match=r"^model must be an ONNX model that can be read; got "):
        graph_files(path)


def test_a_graph_of_an_absurd_size_is_refused(tmp_path):
    with (tmp_path / "a.onnx").open("wb") as file:
        os.truncate(file.fileno(), onnx_models.MOST_GRAPH + 1)
    with pytest.raises(ValueError, match=r"2.1 GB without a file for its weights"):
        graph_files(tmp_path / "a.onnx")


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize("content", [b"", b"hello", b"\x08\x08", b"\0" * 1000])
def test_what_is_no_model_is_refused_without_a_word_of_onnxruntime(content, capfd):
    with pytest.raises(
        ValueError, match=r"^model must be an ONNX model [^\n]*; got 'a.onnx' \([^\n]*\.$"
    ):
        open_session(content, "a.onnx")
    with pytest.raises(ValueError, match=r"^[^\[\]]*$"):
        open_session(content, "a.onnx")
    assert capfd.readouterr() == ("", "")


def test_a_model_that_fails_on_its_rows_is_refused(capfd):
    session = identity_of([1, 3, 4, 4])
    with pytest.raises(
        ValueError, match=r"^model must run on the rows [^\n]*; got 'tiny'[^\n]*\.$"
    ):
        run(session, "y", {"x": np.zeros((1, 3, 5, 5), np.float32)}, "tiny")
    assert capfd.readouterr() == ("", "")


def test_numbers_that_are_none_are_refused():
    root = open_session(
        model([helper.make_node("Sqrt", ["x"], ["y"])], ["n", 3, 4, 4], ["n", 3, 4, 4]), "tiny"
    )
    with pytest.raises(ValueError, match=r"^encoder must return finite numbers; got [^\n]*'tiny'"):
        embedder(root, mean=(255.0,) * 3).embed([picture()])


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setattr(onnx_models, "find_spec", lambda _: None)
    for attempt in (lambda: open_session(b"", "a.onnx"), lambda: graph_files(Path("a.onnx"))):
        with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[models\]'\.$"):
            attempt()
