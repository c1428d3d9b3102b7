import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.models import (
    TEXTS,
    graph,
    image_folder,
    image_graph,
    static_folder,
    text_folder,
    write_json,
)

from possibal.embedding import own_models
from possibal.embedding.embedder import Modality
from possibal.embedding.image_models import OnnxImageEmbedder
from possibal.embedding.own_models import load_own_model
from possibal.embedding.static_table import StaticTextEmbedder
from possibal.embedding.text_models import OnnxTextEmbedder
from possibal.errors import MissingPackageError

SENTENCE = r"^(model|encoder) must [^\n]*; got [^\n]*\. [^\n]*\.$"


def refused(path, modality=Modality.TEXT):
    """The sentence that refuses a model."""
    with pytest.raises(ValueError, match=SENTENCE) as e:
        load_own_model(path, modality)
    return str(e.value)


def test_each_layout_is_read_for_what_it_is(tmp_path):
    text_folder(tmp_path / "transformer")
    static_folder(tmp_path / "table")
    image_folder(tmp_path / "network")
    kinds = {
        "transformer": (Modality.TEXT, OnnxTextEmbedder),
        "transformer/onnx/model.onnx": (Modality.TEXT, OnnxTextEmbedder),
        "table": (Modality.TEXT, StaticTextEmbedder),
        "table/model.safetensors": (Modality.TEXT, StaticTextEmbedder),
        "network": (Modality.IMAGE, OnnxImageEmbedder),
        "network/model.onnx": (Modality.IMAGE, OnnxImageEmbedder),
    }
    for name, (modality, kind) in kinds.items():
        found = load_own_model(tmp_path / name, modality)
        assert isinstance(found, kind)
        assert found.modality is modality
        assert (found.image_input is None) == (modality is Modality.TEXT)
        assert found.identity.path == str(tmp_path / name)


def test_a_table_is_preferred_to_the_graph_that_was_made_of_it(tmp_path):
    text_folder(tmp_path / "m")
    static_folder(tmp_path / "m")
    assert isinstance(load_own_model(tmp_path / "m", Modality.TEXT), StaticTextEmbedder)


def test_a_folder_named_from_where_one_stands_is_remembered_whole(tmp_path, monkeypatch):
    static_folder(tmp_path / "m")
    monkeypatch.chdir(tmp_path / "m")
    found = load_own_model(own_models.Path(), Modality.TEXT)
    assert (found.identity.name, found.identity.path) == ("m", str(tmp_path / "m"))


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize("modality", Modality)
def test_what_is_not_there_or_empty_is_refused(tmp_path, modality):
    assert "that exists" in refused(tmp_path / "none", modality)
    assert "It is empty." in refused(tmp_path, modality)


@pytest.mark.parametrize("modality", Modality)
@pytest.mark.parametrize("content", [b"", b"hello", b"<html>404</html>", b"\x08\x08" * 99])
def test_an_onnx_file_that_is_none_is_refused(tmp_path, modality, content, capfd):
    (tmp_path / "model.onnx").write_bytes(content)
    assert "an ONNX model that can be read" in refused(tmp_path / "model.onnx", modality)
    assert capfd.readouterr() == ("", "")


def test_a_model_of_the_other_kind_is_refused(tmp_path):
    text_folder(tmp_path / "texts")
    image_folder(tmp_path / "pictures")
    assert "must read pictures" in refused(tmp_path / "texts", Modality.IMAGE)
    assert "must read texts" in refused(tmp_path / "pictures", Modality.TEXT)
    static_folder(tmp_path / "table")
    assert "be an ONNX file" in refused(tmp_path / "table", Modality.IMAGE)


def test_a_model_that_gives_what_is_no_number_is_refused_before_anything_else(tmp_path):
    image_folder(tmp_path, node="Sqrt")
    assert "finite numbers" in refused(tmp_path, Modality.IMAGE)


def test_a_model_that_gives_no_vectors_is_refused(tmp_path):
    image_folder(tmp_path)
    inputs = {"x": ("float32", ["n", 3, 8, 8])}
    nodes = [("ReduceMean", ["x"], ["y"], {"axes": [0, 1, 2, 3], "keepdims": 0})]
    (tmp_path / "model.onnx").write_bytes(graph(nodes, inputs, {"y": ("float32", [])}))
    assert "must return a vector" in refused(tmp_path, Modality.IMAGE)


def test_absurdly_many_columns_are_refused(tmp_path):
    image_folder(tmp_path)
    sides = {"x": ("float32", ["n", 3, 8, 8])}
    nodes = [
        ("Tile", ["x", "times"], ["many"], {}),
        ("Reshape", ["many", "flat"], ["y"], {}),
    ]
    weights = {"times": np.array([1, 1, 32, 32]), "flat": np.array([-1, 3 * 256 * 256])}
    content = graph(nodes, sides, {"y": ("float32", ["n", 3 * 256 * 256])}, weights)
    (tmp_path / "model.onnx").write_bytes(content)
    assert "for each of 2 rows; got shape (2, 196608) from" in refused(tmp_path, Modality.IMAGE)


def test_files_that_are_broken_are_named(tmp_path):
    for name in (
        "tokenizer.json",
        "tokenizer_config.json",
        "1_Pooling/config.json",
        "modules.json",
    ):
        folder = tmp_path / name.replace("/", "_")
        text_folder(folder)
        write_json(folder / name, {}).write_text('{"a')
        assert os.path.basename(name) in refused(folder)  # noqa: PTH119 - a part of a name


def test_a_folder_without_onnx_asks_for_what_could_read_it(tmp_path, monkeypatch):
    monkeypatch.setattr("possibal.embedding.torch_models.find_spec", lambda _: None)
    write_json(tmp_path / "modules.json", [])
    for modality in Modality:
        with pytest.raises(MissingPackageError, match="sentence-transformers"):
            load_own_model(tmp_path, modality)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)
@given(
    damage=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=9),
    cut=st.floats(0.5, 1),
)
def test_a_damaged_graph_is_read_or_refused_in_one_sentence(tmp_path, damage, cut):
    image_folder(tmp_path)
    content = bytearray(image_graph())
    for place, value in damage:
        content[int(place * len(content))] = value
    (tmp_path / "model.onnx").write_bytes(content[: int(cut * len(content))])
    try:
        said = str(load_own_model(tmp_path, Modality.IMAGE).identity.digest)
    except ValueError as error:
        said = str(error)
    assert re.fullmatch("[0-9a-f]{64}", said) or re.match(SENTENCE, said)


def test_nothing_of_it_needs_a_network(tmp_path):
    text_folder(tmp_path / "m")
    code = (
        "import socket, sys\n"
        "def cut(*_, **__): sys.exit('the network was asked')\n"
        "socket.socket.connect = socket.getaddrinfo = cut\n"
        "from pathlib import Path\n"
        "from possibal.embedding.embedder import Modality\n"
        "from possibal.embedding.own_models import load_own_model\n"
        f"found = load_own_model(Path({str(tmp_path / 'm')!r}), Modality.TEXT)\n"
        f"print(found.embed({TEXTS!r}).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert (done.stdout, done.stderr) == ("(4, 5)\n", "")


def test_a_model_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    static_folder(tmp_path)

    def denied(_files):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(own_models, "read_static_table", denied)
    assert "(Permission denied)" in refused(tmp_path)
