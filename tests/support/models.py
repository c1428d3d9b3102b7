"""Small models of one's own, in the layouts that people have: real files, made in a moment."""

import json

import numpy as np
from onnx import TensorProto, helper, load_model_from_string, numpy_helper, save_model
from onnx.external_data_helper import convert_model_to_external_data
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

TEXTS = ["the cat sat on the mat", "", "dogs bark at night " * 9, "nothing in particular"]
KINDS = {
    np.dtype(np.float32): ("F32", TensorProto.FLOAT),
    np.dtype(np.float16): ("F16", TensorProto.FLOAT16),
    np.dtype(np.float64): ("F64", TensorProto.DOUBLE),
    np.dtype(np.int64): ("I64", TensorProto.INT64),
    np.dtype(np.int32): ("I32", TensorProto.INT32),
    np.dtype(np.int8): ("I8", TensorProto.INT8),
    np.dtype(np.uint8): ("U8", TensorProto.UINT8),
}


def words():
    """A tokenizer of a few words that marks begin and end, as BERT's does."""
    letters = "abcdefghijklmnopqrstuvwxyz:"
    special, known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"], sorted(set(" ".join(TEXTS).split()))
    every = dict.fromkeys([*special, *known, *letters, *(f"##{letter}" for letter in letters)])
    vocabulary = {name: number for number, name in enumerate(every)}
    found = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no password
    found.normalizer = normalizers.BertNormalizer(lowercase=True)
    found.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    marks = [(name, found.token_to_id(name)) for name in special[2:]]
    found.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=marks
    )
    return found


def write_json(path, value):
    """A file in JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def write_safetensors(path, arrays, **kinds):
    """A safetensors file; kinds rename the types of arrays."""
    header, body = {"__metadata__": {"format": "np"}}, b""
    for name, array in arrays.items():
        raw = array.tobytes()
        header[name] = {
            "dtype": kinds.get(name, KINDS[array.dtype][0]),
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + len(raw)],
        }
        body += raw
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return path


def graph(nodes, inputs, outputs, weights=()):
    """The bytes of an ONNX model.

    Args:
        nodes: tuples of operator, inputs, outputs and attributes.
        inputs: types and shapes by their names.
        outputs: the same.
        weights: arrays by their names.
    """
    made = [helper.make_node(kind, i, o, **rest) for kind, i, o, rest in nodes]
    entries, exits = (
        [helper.make_tensor_value_info(n, KINDS[np.dtype(t)][1], s) for n, (t, s) in side.items()]
        for side in (inputs, outputs)
    )
    stored = [numpy_helper.from_array(np.asarray(a), n) for n, a in dict(weights).items()]
    opset = helper.make_opsetid("", 13)
    whole = helper.make_graph(made, "small", entries, exits, stored)
    return helper.make_model(whole, opset_imports=[opset], ir_version=8).SerializeToString()


def text_graph(table, *, names=("input_ids", "attention_mask"), shape=("n", "t"), kind="int64"):
    """A model that looks tokens up in a table: (n, t) numbers to (n, t, d)."""
    nodes = [("Gather", ["table", names[0]], ["last_hidden_state"], {})]
    outputs = {"last_hidden_state": ("float32", [*shape, table.shape[1]])}
    inputs = {name: (kind, list(shape)) for name in names}
    return graph(nodes, inputs, outputs, {"table": table.astype(np.float32)})


def image_graph(shape=("n", 3, 8, 8), output="y", kind="float32", node="Identity"):
    """A model that gives back the picture that it is given."""
    sides = {"x": (kind, list(shape))}
    return graph([(node, ["x"], [output], {})], sides, {output: (kind, list(shape))})


def external_graph(folder, location, factor=1.0):
    """A model.onnx that multiplies pictures of 8 points by a factor, which lies in another file."""
    sides = {name: ("float32", ["n", 3, 8, 8]) for name in "xy"}
    weights = {"w": np.full((3, 8, 8), factor, np.float32)}
    content = graph([("Mul", ["x", "w"], ["y"], {})], {"x": sides["x"]}, {"y": sides["y"]}, weights)
    model = load_model_from_string(content)
    (folder / location).unlink(missing_ok=True)
    convert_model_to_external_data(model, location=location, size_threshold=0)
    save_model(model, folder / "model.onnx")
    return folder / "model.onnx"


def text_folder(folder, **options):
    """A sentence-transformers folder with ONNX, and its table of token vectors."""
    tokenizer = words()
    table = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 5))
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx/model.onnx").write_bytes(text_graph(table, **options))
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer, table.astype(np.float32)


def static_folder(folder, dtype=np.float32, **arrays):
    """A model2vec folder, and its table of token vectors."""
    tokenizer = words()
    table = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 5)).astype(dtype)
    write_safetensors(folder / "model.safetensors", {"embeddings": table, **arrays})
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "config.json", {"normalize": True, "model_type": "model2vec"})
    return tokenizer, table


PREPROCESSOR = {
    "do_resize": True,
    "size": {"height": 8, "width": 8},
    "do_rescale": True,
    "do_normalize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.25, 0.5, 1.0],
    "resample": 2,
}


def image_folder(folder, **options):
    """A folder with a picture model in ONNX and its preprocessor file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(image_graph(**options))
    write_json(folder / "preprocessor_config.json", PREPROCESSOR)
    return folder
