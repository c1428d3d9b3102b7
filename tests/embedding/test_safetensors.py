import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models import write_safetensors

from possibal.embedding.safetensors import stored_tensors

SENTENCE = r"^model must have its weights in a safetensors file; got [^\n]* \([^\n]*\)\. [^\n]*\.$"


def read(path):
    """All arrays of a file."""
    return {name: one.read(path) for name, one in stored_tensors(path).items()}


def header(path, **entries):
    """A file with a header and eight bytes."""
    text = json.dumps(entries).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"\0" * 8)
    return path


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_arrays_come_back_with_their_types(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {
        kind: (100 * rng.normal(size=(3, 2))).astype(kind)
        for kind in ("float64", "float32", "float16", "int64", "int32", "int8", "uint8")
    }
    found = read(write_safetensors(tmp_path / "a", {**arrays, "none": np.zeros((0, 3), "float32")}))
    assert found["none"].shape == (0, 3)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert (found[name] == array).all()


def test_half_floats_with_long_exponents_are_read(tmp_path):
    values = np.array([1.5, -2.0, 1e30], dtype=np.float32)
    upper = (values.view(np.uint32) >> 16).astype(np.uint16).view(np.float16)
    found = read(write_safetensors(tmp_path / "a", {"x": upper}, x="BF16"))["x"]
    np.testing.assert_allclose(found, values, rtol=0.01)


def test_types_that_are_not_read_do_not_keep_others_from_being_read(tmp_path):
    path = header(tmp_path / "a", x=entry(), other=entry("F8_E4M3", (8,)))
    assert stored_tensors(path)["x"].read(path).tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"types F64, [^\n]*; got 'F8_E4M3' in "):
        stored_tensors(path)["other"].read(path)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (entry(shape=(3,)), "not as long as its shape"),
        (entry(offsets=(0, 16), shape=(4,)), "cut short"),
        (entry(shape=(-2,)), "no shape"),
        (entry(shape=(2.0,)), "no shape"),
        (entry(offsets=(-8, 0)), "no shape"),
        ({"dtype": "F32"}, "shape"),
        (7, ""),
    ],
)
def test_an_entry_that_cannot_be_is_refused(tmp_path, wrong, said):
    with pytest.raises(ValueError, match=SENTENCE) as e:
        stored_tensors(header(tmp_path / "a", x=wrong))
    assert said in str(e.value)


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\xff" * 8, b"\2\0\0\0\0\0\0\0[]", b"\3\0\0\0\0\0\0\0{{{"]
)
def test_what_is_no_such_file_is_refused(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ValueError, match=SENTENCE):
        stored_tensors(tmp_path / "a")


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_a_damaged_file_is_read_or_refused(tmp_path_factory, place, value):
    path = tmp_path_factory.mktemp("damaged") / "a"
    content = bytearray(write_safetensors(path, {"x": np.ones(3)}).read_bytes())
    content[place % len(content)] = value
    path.write_bytes(content)
    try:
        said, found = "", read(path)
    except ValueError as error:
        said, found = str(error), {}
    assert not said or re.match(r"^model must [^\n]*; got [^\n]*\.$", said)
    assert all(array.nbytes <= len(content) for array in found.values())
