import numpy as np
import pytest
from support.models import TEXTS, graph, image_graph, text_folder, write_json, write_safetensors

from possibal.embedding.embedder import Modality
from possibal.embedding.model_files import ModelFiles
from possibal.embedding.text_models import BATCH, read_text_graph

SENTENCE = r"^model must [^\n]*; got [^\n]*\. [^\n]*\.$"


def opened(folder):
    """The embedder of a folder."""
    files = ModelFiles.found(folder)
    return read_text_graph(files, files.graph())


def expected(tokenizer, table, texts=TEXTS, pool=lambda own: own.mean(axis=0)):
    """The vectors of texts, one at a time."""
    return [pool(table[tokenizer.encode(text).ids]) for text in texts]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kind": "int32"},
        {"names": ("input_ids",)},
        {"names": ("input_ids", "attention_mask", "token_type_ids")},
        {"shape": (1, "t")},
        {"shape": (1, 64)},
        {"shape": ("n", 64)},
    ],
)
@pytest.mark.works_with("ONNX", "models of texts: a graph with `tokenizer.json`", "onnxruntime")
def test_texts_have_the_mean_of_what_the_graph_gives_for_their_tokens(tmp_path, options):
    known = text_folder(tmp_path / "m", **options)
    embedder = opened(tmp_path / "m")
    assert embedder.modality is Modality.TEXT
    assert embedder.image_input is None
    found = embedder.embed(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected(*known), atol=1e-6)


def test_a_graph_with_a_fixed_number_of_tokens_cuts_texts_there(tmp_path):
    tokenizer, table = text_folder(tmp_path / "m", shape=("n", 6))
    tokenizer.enable_truncation(6)
    found = opened(tmp_path / "m").embed(TEXTS)
    np.testing.assert_allclose(found, expected(tokenizer, table), atol=1e-6)


def test_order_and_number_of_texts_do_not_matter(tmp_path):
    text_folder(tmp_path / "m")
    embedder = opened(tmp_path / "m")
    texts = [" ".join(["cat"] * (i % 7)) for i in range(2 * BATCH + 5)]
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert embedder.embed([]).shape == (0, 5)


def test_the_pooling_and_the_layers_of_the_folder_are_followed(tmp_path):
    tokenizer, table = text_folder(tmp_path / "m")
    weight = np.random.default_rng(1).normal(size=(2, 5)).astype(np.float32)
    write_json(tmp_path / "m/1_Pooling/config.json", {"pooling_mode_max_tokens": True})
    write_json(tmp_path / "m/modules.json", [{"type": "x.Dense", "path": "2_Dense"}])
    write_json(tmp_path / "m/2_Dense/config.json", {"activation_function": "x.Tanh"})
    write_safetensors(tmp_path / "m/2_Dense/model.safetensors", {"linear.weight": weight})
    largest = expected(tokenizer, table, pool=lambda own: own.max(axis=0))
    found = opened(tmp_path / "m").embed(TEXTS)
    np.testing.assert_allclose(found, np.tanh(largest @ weight.T), atol=1e-6)


def test_an_output_that_is_pooled_already_is_taken_as_it_is(tmp_path):
    _, table = text_folder(tmp_path / "m")
    nodes = [
        ("Gather", ["table", "input_ids"], ["token_embeddings"], {}),
        ("ReduceMax", ["token_embeddings"], ["sentence_embedding"], {"axes": [1], "keepdims": 0}),
    ]
    outputs = {
        "token_embeddings": ("float32", ["n", "t", 5]),
        "sentence_embedding": ("float32", ["n", 5]),
    }
    content = graph(nodes, {"input_ids": ("int64", ["n", "t"])}, outputs, {"table": table})
    (tmp_path / "m/onnx/model.onnx").write_bytes(content)
    embedder = opened(tmp_path / "m")
    assert embedder.output == "sentence_embedding"
    ids = embedder.tokenizer.encode(["cat"])[0]
    np.testing.assert_allclose(embedder.embed(["cat"])[0], table[ids].max(axis=0), atol=1e-6)


def test_an_identity_follows_from_weights_tokenizer_and_pooling(tmp_path):
    text_folder(tmp_path / "m")
    first = opened(tmp_path / "m").identity
    assert (first.name, first.path) == ("m", str(tmp_path / "m"))
    assert opened(tmp_path / "m").identity == first
    write_json(tmp_path / "m/1_Pooling/config.json", {"pooling_mode": "cls"})
    assert not first.is_same(opened(tmp_path / "m").identity)
    (tmp_path / "m").rename(tmp_path / "renamed")
    (tmp_path / "renamed/1_Pooling/config.json").unlink()
    assert first.is_same(opened(tmp_path / "renamed").identity)


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize("names", [("ids",), ("input_ids", "position_ids"), ("attention_mask",)])
def test_other_inputs_are_refused(tmp_path, names):
    text_folder(tmp_path / "m", names=names)
    with pytest.raises(ValueError, match=SENTENCE) as e:
        opened(tmp_path / "m")
    assert f"which has {', '.join(names)}" in str(e.value)


def test_a_model_of_pictures_is_refused(tmp_path):
    text_folder(tmp_path / "m")
    (tmp_path / "m/onnx/model.onnx").write_bytes(image_graph())
    with pytest.raises(ValueError, match=r"^model must read texts, .* which has x\."):
        opened(tmp_path / "m")


@pytest.mark.parametrize("shape", [(2, "t"), ("n",)])
def test_a_graph_for_another_number_of_texts_is_refused(tmp_path, shape):
    text_folder(tmp_path / "m", shape=shape)
    with pytest.raises(ValueError, match=r"^model must take any number of texts; got "):
        opened(tmp_path / "m")


def test_numbers_that_are_none_are_refused(tmp_path):
    _, table = text_folder(tmp_path / "m")
    nodes = [("Gather", ["table", "input_ids"], ["y"], {})]
    inputs, outputs = {"input_ids": ("int64", ["n", "t"])}, {"y": ("float32", ["n", "t", 5])}
    content = graph(nodes, inputs, outputs, {"table": table * np.float32(np.nan)})
    (tmp_path / "m/onnx/model.onnx").write_bytes(content)
    with pytest.raises(ValueError, match=r"^encoder must return finite numbers"):
        opened(tmp_path / "m").embed(["cat"])


def test_a_dense_layer_for_vectors_of_another_size_is_refused(tmp_path):
    text_folder(tmp_path / "m")
    write_json(tmp_path / "m/modules.json", [{"type": "a.Dense", "path": "2_Dense"}])
    write_json(tmp_path / "m/2_Dense/config.json", {"activation_function": "torch.nn.Identity"})
    weights = {"linear.weight": np.ones((3, 4), np.float32)}  # of five numbers, not of four
    write_safetensors(tmp_path / "m/2_Dense/model.safetensors", weights)
    with pytest.raises(ValueError, match=SENTENCE) as e:
        opened(tmp_path / "m").embed(["cat"])
    assert "layers of (3, 4)" in str(e.value)


def test_a_graph_that_gives_vectors_for_other_tokens_is_refused(tmp_path):
    _, table = text_folder(tmp_path / "m")
    nodes = [
        ("Gather", ["table", "input_ids"], ["all"], {}),
        ("Concat", ["all", "all"], ["y"], {"axis": 1}),
    ]
    inputs, outputs = {"input_ids": ("int64", ["n", "t"])}, {"y": ("float32", ["n", "s", 5])}
    content = graph(nodes, inputs, outputs, {"table": table})
    (tmp_path / "m/onnx/model.onnx").write_bytes(content)
    with pytest.raises(ValueError, match=SENTENCE):
        opened(tmp_path / "m").embed(["cat"])
