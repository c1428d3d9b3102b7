import re
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checkpoints import (
    FLOAT,
    Call,
    Global,
    StorageReference,
    checkpoint,
    pickled,
    tensor,
    written,
)

from possibal.embedding.checkpoint import read_checkpoint

SENTENCE = r"^weights must be a checkpoint of tensors alone; got 'a.pth' \([^\n]*\)\. [^\n]*\.$"
ONE = {"0": np.arange(6, dtype=np.float32)}


def refused(content):
    """The sentence that refuses a checkpoint."""
    with pytest.raises(ValueError, match=SENTENCE) as e:
        read_checkpoint(content, "a.pth")
    return str(e.value)


def of(value, storages=ONE):
    """A checkpoint with one thing in it."""
    return written(OrderedDict(a=value), storages)


@given(
    shape=st.lists(st.integers(1, 4), max_size=4),
    seed=st.integers(0, 99),
    dtype=st.sampled_from([np.float32, np.int64]),
)
def test_tensors_come_back_whatever_the_order_of_their_axes(shape, seed, dtype):
    rng = np.random.default_rng(seed)
    plain = rng.normal(0, 100, shape).astype(dtype)
    mixed = plain.transpose(rng.permutation(len(shape)))
    found = read_checkpoint(checkpoint({"a.weight": plain, "b": mixed}), "a.pth")
    assert list(found) == ["a.weight", "b"]
    for array, expected in zip(found.values(), (plain, mixed), strict=True):
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert array.shape == expected.shape
        assert (array == expected).all()


def test_tensors_may_share_a_storage_and_begin_within_it():
    tensors = OrderedDict(
        all=tensor("0", 6, (2, 3), (3, 1)),
        end=tensor("0", 6, (2,), (1,), offset=4),
        scalar=tensor("0", 6, (), (), offset=5),
        even=tensor("0", 6, (3,), (2,)),
    )
    found = read_checkpoint(written(tensors, ONE), "a.pth")
    assert {name: array.tolist() for name, array in found.items()} == {
        "all": [[0, 1, 2], [3, 4, 5]],
        "end": [4, 5],
        "scalar": 5,
        "even": [0, 2, 4],
    }


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("builtins", "eval"),
        ("builtins", "getattr"),
        ("posix", "system"),
        ("torch", "load"),
        ("torch", "HalfStorage"),
        ("torch._utils", "_rebuild_tensor"),
        ("collections", "defaultdict"),
        ("numpy", "array"),
    ],
)
def test_a_pickle_that_wants_anything_else_is_refused_before_it_is_called(module, name, tmp_path):
    mark = tmp_path / "called"
    for value in (Call(Global(module, name), (f"touch {mark}",)), Global(module, name)):
        assert f"(it wants {module}.{name})" in refused(of(value))
    assert not mark.exists()


@pytest.mark.parametrize(
    "value",
    [
        1,
        "text",
        [tensor("0", 6, (6,), (1,))],
        FLOAT,
        StorageReference(("storage", FLOAT, "0", "cpu", 6, None)),
        OrderedDict(a=1),
    ],
)
def test_what_is_no_tensor_is_refused(value):
    assert "'a' is no tensor" in refused(of(value))


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((7,), (1,), 0),
        ((6,), (1,), 1),
        ((2, 3), (4, 1), 0),
        ((7, 1), (0, 1), 0),
        ((10**6,) * 8, (0,) * 8, 0),
        ((0,), (1,), 0),
        ((1,), (1,), 10**30),
    ],
)
def test_a_tensor_outside_of_its_storage_is_refused(shape, strides, offset):
    assert "within its storage" in refused(of(tensor("0", 6, shape, strides, offset)))


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((-1,), (1,), 0),
        ((2,), (-1,), 2),
        ((2,), (1,), -1),
        ((2.0,), (1,), 0),
        ([2], (1,), 0),
        ((1,) * 9, (1,) * 9, 0),
    ],
)
def test_a_tensor_without_a_shape_is_refused(shape, strides, offset):
    assert "no shape" in refused(of(tensor("0", 6, shape, strides, offset)))


def test_axes_and_strides_must_be_as_many():
    refused(of(tensor("0", 6, (2, 3), (1,))))


@pytest.mark.parametrize(
    "reference",
    [
        ("module", FLOAT, "0", "cpu", 6, None),
        ("storage", "float", "0", "cpu", 6, None),
        ("storage", FLOAT, 0, "cpu", 6, None),
        ("storage", FLOAT, "0", "cpu", -6, None),
        ("storage", FLOAT, "0", "cpu", 6, ("1", 0, 3)),
        ("storage", FLOAT),
    ],
)
def test_a_storage_of_another_kind_is_refused(reference):
    refused(of(StorageReference(reference)))


def test_storages_must_be_those_of_the_tensors():
    whole = tensor("0", 6, (6,), (1,))
    for storages in ({}, {"1": ONE["0"]}, {**ONE, "1": ONE["0"]}):
        assert "storages are not those" in refused(of(whole, storages))


@pytest.mark.parametrize("options", [{"magic": 1}, {"version": 1002}, {"little": False}])
def test_another_format_is_refused(options):
    refused(written(OrderedDict(), {}, **options))


@pytest.mark.parametrize("content", [b"", b"PK\3\4" + b"\0" * 40, b"hello", pickled(1)])
def test_what_is_no_checkpoint_is_refused(content):
    refused(content)


def test_things_without_names_are_refused():
    assert "names no tensors" in refused(written([1, 2], {}))


def test_a_checkpoint_that_is_cut_short_anywhere_is_refused():
    content = checkpoint({"a": np.ones((2, 3), np.float32), "b": np.arange(3)})
    for end in range(len(content)):
        refused(content[:end])


@given(
    damage=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=8)
)
def test_a_damaged_checkpoint_is_read_or_refused_in_one_sentence(damage):
    content = bytearray(checkpoint({"a": np.ones((2, 3), np.float32), "b": np.arange(3)}))
    for place, value in damage:
        content[place % len(content)] = value
    try:
        said, found = "", read_checkpoint(bytes(content), "a.pth")
    except ValueError as error:
        said, found = str(error), {}
    assert not said or re.match(SENTENCE, said)
    assert sum(array.nbytes for array in found.values()) <= len(content) * 8
