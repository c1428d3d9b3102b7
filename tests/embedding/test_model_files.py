import os
import re

import pytest
from support.models import write_json

from possibal.embedding.model_files import MOST_BYTES, MOST_JSON, ModelFiles, read_json

SENTENCE = r"^model must [^\n]*; got [^\n]*\. [^\n]*\.$"


def filled(folder, *names):
    """A folder with files that hold their own names."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


@pytest.mark.parametrize("name", ["none", "x" * 5000, "sub/none"])
def test_a_path_that_does_not_exist_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=SENTENCE):
        ModelFiles.found(tmp_path / name)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match=SENTENCE):
        ModelFiles.found(tmp_path)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx"], "onnx/model.onnx"),
        (["model.onnx", "onnx/model_int8.onnx"], "model.onnx"),
        (["onnx/model_quantized.onnx"], "onnx/model_quantized.onnx"),
        (["net.onnx", "a.txt"], "net.onnx"),
        (["a.txt"], None),
    ],
)
def test_the_graph_is_the_usual_one_or_the_only_one(tmp_path, names, expected):
    found = ModelFiles.found(filled(tmp_path, *names)).graph()
    assert found == (expected and tmp_path / expected)


def test_several_graphs_are_listed_and_one_of_them_can_be_named(tmp_path):
    filled(tmp_path, "onnx/a.onnx", "onnx/b.onnx", "config.json")
    with pytest.raises(ValueError, match=SENTENCE) as e:
        ModelFiles.found(tmp_path).graph()
    assert "onnx/a.onnx, onnx/b.onnx" in str(e.value)
    files = ModelFiles.found(tmp_path / "onnx/b.onnx")
    assert files.graph() == tmp_path / "onnx/b.onnx"
    assert files.folder == tmp_path
    assert files.beside("config.json") == tmp_path / "config.json"
    assert files.beside("none.json") is None


def test_files_beside_a_named_file_are_found_and_other_files_are_no_graphs(tmp_path):
    filled(tmp_path, "onnx/a.onnx", "onnx/tokenizer.json", "weights.bin")
    assert ModelFiles.found(tmp_path / "onnx/a.onnx").beside("tokenizer.json")
    assert ModelFiles.found(tmp_path / "weights.bin").graph() is None


def test_what_is_no_json_is_refused(tmp_path):
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with (tmp_path / "large.json").open("wb") as file:
        os.truncate(file.fileno(), MOST_JSON + 1)
    for name in ("a.json", "deep.json", "binary.json", "large.json", "none.json"):
        with pytest.raises(ValueError, match=SENTENCE):
            read_json(tmp_path / name)


def test_a_document_is_an_object_or_nothing(tmp_path):
    write_json(tmp_path / "a.json", {"b": 1})
    write_json(tmp_path / "list.json", [1])
    files = ModelFiles.found(tmp_path)
    assert files.document("a.json") == {"b": 1}
    assert files.document("none.json") == {}
    with pytest.raises(ValueError, match=SENTENCE):
        files.document("list.json")


def test_an_identity_follows_from_what_the_files_hold(tmp_path):
    one, other = (filled(tmp_path / name, "a.onnx", "b.json") for name in ("one", "other"))
    first, second = (
        ModelFiles.found(at).identity(at / "a.onnx", None, at / "b.json") for at in (one, other)
    )
    assert re.fullmatch("[0-9a-f]{64}", first.digest)
    assert first.is_same(second)
    assert (first.name, first.path, first.version) == ("one", str(one), "")
    (other / "b.json").write_text("another")
    assert not first.is_same(
        ModelFiles.found(other).identity(other / "a.onnx", None, other / "b.json")
    )
    assert not first.is_same(ModelFiles.found(one).identity(one / "a.onnx", one / "b.json", None))


def test_absurd_sizes_are_refused(tmp_path):
    with (tmp_path / "a.onnx").open("wb") as file:
        os.truncate(file.fileno(), MOST_BYTES + 1)
    with pytest.raises(ValueError, match=r"at most 8 GB"):
        ModelFiles.found(tmp_path).identity(tmp_path / "a.onnx")
