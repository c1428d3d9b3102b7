import numpy as np
import pytest
from PIL import Image
from support.models import external_graph, graph, image_folder, image_graph, text_folder, write_json

from possibal.embedding.embedder import ImageInput, Modality
from possibal.embedding.image_models import read_image_graph
from possibal.embedding.model_files import ModelFiles
from possibal.embedding.onnx_models import BATCH

SENTENCE = r"^model must [^\n]*; got [^\n]*\. [^\n]*\.$"
COLOUR = (255, 0, 51)
EXPECTED = [2, -1, -0.3]


def opened(folder):
    """The embedder of a folder."""
    files = ModelFiles.found(folder)
    return read_image_graph(files, files.graph())


def picture(side=8):
    return Image.new("RGB", (side, side), COLOUR)


@pytest.mark.parametrize(
    ("shape", "batch"),
    [
        (("n", 3, 8, 8), BATCH),
        (("n", 3, "h", "w"), BATCH),
        (("batch", "channels", "height", "width"), BATCH),
        (("n", 8, 8, 3), BATCH),
        (("n", "h", "w", 3), BATCH),
        ((1, 3, 8, 8), 1),
    ],
)
@pytest.mark.works_with("ONNX", "models of pictures: a graph with its preprocessor", "onnxruntime")
def test_colours_stand_where_the_graph_has_them(tmp_path, shape, batch):
    embedder = opened(image_folder(tmp_path, shape=shape))
    assert embedder.modality is Modality.IMAGE
    assert embedder.image_input == ImageInput(8)
    assert embedder.batch == batch
    found = embedder.embed([picture()] * 5)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [EXPECTED] * 5, atol=1e-5)


def test_half_floats_are_taken_and_given(tmp_path):
    found = opened(image_folder(tmp_path, kind="float16")).embed([picture()])
    np.testing.assert_allclose(found, [EXPECTED], atol=0.01)


def test_a_graph_of_bytes_scales_pictures_itself(tmp_path):
    (tmp_path / "net.onnx").write_bytes(image_graph(("n", 8, 8, 3), kind="uint8"))
    embedder = opened(tmp_path / "net.onnx")
    assert embedder.image_input == ImageInput(8)
    np.testing.assert_allclose(embedder.embed([picture()]), [COLOUR])
    write_json(tmp_path / "preprocessor_config.json", {"size": 8, "image_mean": 1, "image_std": 2})
    np.testing.assert_allclose(opened(tmp_path / "net.onnx").embed([picture()]), [COLOUR])


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        ({"logits": 2, "last_hidden_state": 3}, "last_hidden_state"),
        ({"last_hidden_state": 3, "pooler_output": 2}, "pooler_output"),
        ({"last_hidden_state": 3, "image_embeds": 2, "pooler_output": 2}, "image_embeds"),
        ({"map": 4, "flat": 2}, "flat"),
        ({"map": 4, "tokens": 3}, "map"),
        ({"logits": 2}, "logits"),
    ],
)
def test_what_says_most_about_a_picture_is_taken(tmp_path, names, taken):
    image_folder(tmp_path)
    shapes = {2: [-1, 192], 3: [-1, 3, 64], 4: [-1, 3, 8, 8]}
    nodes = [("Reshape", ["x", f"to_{axes}"], [name], {}) for name, axes in names.items()]
    outputs = {name: ("float32", ["n", *shapes[axes][1:]]) for name, axes in names.items()}
    weights = {f"to_{axes}": np.array(shapes[axes]) for axes in names.values()}
    content = graph(nodes, {"x": ("float32", ["n", 3, 8, 8])}, outputs, weights)
    (tmp_path / "model.onnx").write_bytes(content)
    embedder = opened(tmp_path)
    assert embedder.output == taken
    assert embedder.embed([picture()]).ndim == 2


def test_weights_in_a_file_beside_the_graph_are_read_and_hashed(tmp_path, monkeypatch):
    monkeypatch.chdir(image_folder(tmp_path))
    found = []
    for factor in (1.0, 2.0):
        (tmp_path / "model.onnx").unlink()
        external_graph(tmp_path, "weights.bin", factor)
        found.append(opened(tmp_path))
    np.testing.assert_allclose(found[1].embed([picture()])[0], 2 * np.array(EXPECTED), atol=1e-5)
    assert not found[0].identity.is_same(found[1].identity)
    (tmp_path / "weights.bin").rename(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match=r"are to lie in 'weights.bin', which is not there"):
        opened(tmp_path)


def test_an_identity_follows_from_weights_and_preprocessing(tmp_path):
    first = opened(image_folder(tmp_path / "a")).identity
    assert first.is_same(opened(image_folder(tmp_path / "b")).identity)
    path = tmp_path / "b/preprocessor_config.json"
    path.write_text(path.read_text().replace("0.25", "0.3"))
    assert not first.is_same(opened(tmp_path / "b").identity)


# ---------------------------------------------------------------- what is refused
def test_a_model_without_its_preprocessor_file_is_refused(tmp_path):
    image_folder(tmp_path)
    (tmp_path / "preprocessor_config.json").unlink()
    with pytest.raises(ValueError, match=SENTENCE) as e:
        opened(tmp_path)
    assert "come with a preprocessor_config.json" in str(e.value)


def test_a_size_that_the_graph_does_not_take_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^model must take pictures of the 8 x 8 points"):
        opened(image_folder(tmp_path, shape=("n", 3, 9, 9)))


@pytest.mark.parametrize("shape", [("n", 1, 8, 8), ("n", 8, 8, 1), ("n", 4, 8, 8)])
def test_a_model_of_other_channels_is_refused(tmp_path, shape):
    with pytest.raises(ValueError, match=r"^model must read colours; got "):
        opened(image_folder(tmp_path, shape=shape))


def test_a_fixed_number_of_pictures_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^model must take any number of pictures; got "):
        opened(image_folder(tmp_path, shape=(4, 3, 8, 8)))


@pytest.mark.parametrize("kind", ["float64", "int64"])
def test_inputs_of_another_type_are_refused(tmp_path, kind):
    with pytest.raises(ValueError, match=r"^model must read pictures, .* which has x tensor"):
        opened(image_folder(tmp_path, kind=kind))


def test_a_model_of_texts_is_refused(tmp_path):
    text_folder(tmp_path / "m")
    with pytest.raises(ValueError, match=SENTENCE) as e:
        opened(tmp_path / "m")
    assert "which has input_ids tensor(int64), attention_mask tensor(int64)" in str(e.value)
