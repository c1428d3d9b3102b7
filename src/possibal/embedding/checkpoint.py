"""Torch checkpoints read without torch, by an unpickler that admits tensors and nothing else.

The format is the one before torch 1.6: five pickles (a magic number, a version, the byte order, the
tensors by their names, the keys of their storages), and then the raw storages in that order. What a
pickle may call is settled here; a file that wants anything else is refused before it is called.
"""

import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from io import BytesIO
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from possibal.errors import summary

Tensor: TypeAlias = NDArray[np.float32] | NDArray[np.int64]
MAGIC = 0x1950A86A20F9469CFC6C
VERSION = 1001
MOST_DIMENSIONS = 8
LENGTH = 8
"""Bytes of the number of elements that stands before a storage."""


class StorageType(Enum):
    """Types of storages that are admitted, as NumPy calls them."""

    FLOAT = "<f4"
    LONG = "<i8"


@dataclass(frozen=True)
class TensorView:
    """A tensor that was named, before its storage is read.

    Attributes:
        key: of the storage.
        kind: its type.
        count: its elements.
        offset: the element that the tensor begins with.
        shape: of the tensor.
        strides: elements between neighbours along each axis.
    """

    key: str
    kind: StorageType
    count: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def read(self, storage: Tensor) -> Tensor:
        """The tensor, as an array of its own in C order."""
        size = storage.itemsize
        view = np.lib.stride_tricks.as_strided(
            storage[self.offset :], self.shape, [step * size for step in self.strides]
        )
        return cast("Tensor", np.ascontiguousarray(view).reshape(self.shape))


def read_checkpoint(content: bytes, source: str) -> dict[str, Tensor]:
    """The tensors of a checkpoint by their names; one sentence if it holds anything else.

    Args:
        content: of the file.
        source: its name, to be said in the sentence.
    """
    try:
        return _read(BytesIO(content))
    except Exception as error:  # noqa: BLE001 - a pickle fails in as many ways as it has bytes
        raise ValueError(
            f"weights must be a checkpoint of tensors alone; got {source!r} ({summary(error)}). "
            "Install them anew."
        ) from None


def _read(file: BytesIO) -> dict[str, Tensor]:
    """The tensors of an open file."""
    if (_loaded(file), _loaded(file)) != (MAGIC, VERSION):
        raise ValueError("it does not begin as one")
    order = _loaded(file)
    if not (isinstance(order, dict) and cast("dict[str, Any]", order).get("little_endian") is True):
        raise ValueError("its byte order is not little-endian")
    views, keys = _loaded(file), _loaded(file)
    if not (isinstance(views, dict) and isinstance(keys, list)):
        raise ValueError("it names no tensors")  # noqa: TRY004 - a file, not an argument
    return _tensors(file, cast("dict[Any, Any]", views), cast("list[Any]", keys))


def _tensors(file: BytesIO, views: Mapping[Any, Any], keys: list[Any]) -> dict[str, Tensor]:
    """The tensors, once all of them are tensors and the storages are read."""
    strangers = [n for n, view in views.items() if not _is_named(n, view)]
    if strangers:
        raise ValueError(f"{strangers[0]!r:.40} is no tensor")
    kinds = {view.key: (view.kind, view.count) for view in views.values()}
    if len(set(keys)) != len(keys) or set(keys) != set(kinds):
        raise ValueError("its storages are not those of its tensors")
    storages = {key: _storage(file, *kinds[key]) for key in keys}
    return {name: view.read(storages[view.key]) for name, view in views.items()}


def _is_named(name: object, view: object) -> bool:
    """Whether this is a tensor and its name."""
    return isinstance(name, str) and isinstance(view, TensorView)


def _storage(file: BytesIO, kind: StorageType, count: int) -> Tensor:
    """The elements of the next storage of the file."""
    stated = int.from_bytes(file.read(LENGTH), "little")
    dtype = np.dtype(kind.value)
    raw = file.read(count * dtype.itemsize)
    if stated != count or len(raw) != count * dtype.itemsize:
        raise ValueError("it is cut short")
    return cast("Tensor", np.frombuffer(raw, dtype))


# ---------------------------------------------------------------- what a pickle may call
class TensorUnpickler(pickle.Unpickler):
    """Unpickler that finds ordered dictionaries, tensors and their storages, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - pickle's own signature
        """What stands for a name, if it is admitted."""
        try:
            return ADMITTED[module, name]
        except KeyError:
            raise ValueError(f"it wants {module}.{name}"[:100]) from None

    def persistent_load(self, pid: Any) -> tuple[str, StorageType, int]:  # noqa: ANN401 - the same
        """Key, type and number of elements of a storage, which comes later in the file."""
        tag, kind, key, _place, count, view = pid
        if tag != "storage" or not isinstance(kind, StorageType) or view is not None:
            raise ValueError("a storage is of no known type")
        if not isinstance(key, str) or not _is_count(count):
            raise ValueError("a storage has no size")
        return key, kind, count


def _rebuilt(
    storage: tuple[str, StorageType, int], offset: int, shape: object, strides: object, *_: object
) -> TensorView:
    """The tensor that torch would rebuild, if it lies within its storage."""
    key, kind, count = storage
    if not (_is_count(offset) and _are_counts(shape) and _are_counts(strides)):
        raise ValueError("a tensor has no shape")
    sizes, steps = cast("tuple[int, ...]", shape), cast("tuple[int, ...]", strides)
    last = offset + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True))
    elements = int(np.prod(np.array(sizes, dtype=object), initial=1))
    if not 0 < elements <= count or last >= count:
        raise ValueError("a tensor does not lie within its storage")
    return TensorView(key, kind, count, offset, sizes, steps)


def _are_counts(values: object) -> bool:
    """Whether these are sizes or strides of an array."""
    if not isinstance(values, tuple):
        return False
    found = cast("tuple[object, ...]", values)
    return len(found) <= MOST_DIMENSIONS and all(map(_is_count, found))


def _is_count(value: object) -> bool:
    """Whether this is a whole number that is not negative."""
    return isinstance(value, int) and value >= 0


def _loaded(file: BytesIO) -> object:
    """The next pickle of the file."""
    return TensorUnpickler(file).load()


ADMITTED: dict[tuple[str, str], "type | StorageType | Callable[..., TensorView]"] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuilt,
    ("torch", "FloatStorage"): StorageType.FLOAT,
    ("torch", "LongStorage"): StorageType.LONG,
}
"""All that a pickle may name."""
