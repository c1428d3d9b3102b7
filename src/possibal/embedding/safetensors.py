"""Safetensors files: a length, a JSON header, and raw arrays; read whole or by their header alone.

The format is 8 bytes with the header's length, the header ({name: {dtype, shape, data_offsets}}),
and the arrays end to end. https://huggingface.co/docs/safetensors
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from possibal.errors import summary

LENGTH = 8
"""Bytes of the header's length."""
MOST_HEADER = 100_000_000
"""Bytes of a header, as the format's own reader has it."""
TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "<i1",
    "U8": "<u1",
}
"""Types of elements that are read, as NumPy calls them; BF16 is the upper half of a float32."""


@dataclass(frozen=True)
class StoredTensor:
    """Where an array stands in a file.

    Attributes:
        kind: its type, a name of `TYPES`.
        shape: of the array.
        start: the byte that it begins with.
    """

    kind: str
    shape: tuple[int, ...]
    start: int

    def read(self, path: Path) -> NDArray[Any]:
        """The array; the half floats of bfloat16 as float32."""
        if self.kind not in TYPES:
            raise ValueError(
                f"model must have weights of the types {', '.join(TYPES)}; got {self.kind!r:.20} "
                f"in {str(path)!r}. Save it with one of these."
            )
        count = math.prod(self.shape)
        found = np.fromfile(path, TYPES[self.kind], count, offset=self.start).reshape(self.shape)
        if self.kind == "BF16":
            return (found.astype(np.uint32) << 16).view(np.float32)
        return found


def stored_tensors(path: Path) -> dict[str, StoredTensor]:
    """The arrays of a file by their names, checked but not read; one sentence if it is broken."""
    try:
        return _stored(path)
    except Exception as error:  # noqa: BLE001 - a broken header fails in as many ways as it has bytes
        raise ValueError(
            f"model must have its weights in a safetensors file; got {str(path)!r}, which is none "
            f"({summary(error)}). Save it anew."
        ) from None


def _stored(path: Path) -> dict[str, StoredTensor]:
    """The arrays of a file by their names."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH), "little")
        end = path.stat().st_size
        if not 0 < length <= min(MOST_HEADER, end - LENGTH):
            raise ValueError("its header has no length")
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return {name: _tensor(entry, LENGTH + length, end) for name, entry in header.items()}


def _tensor(entry: Mapping[str, Any], base: int, end: int) -> StoredTensor:
    """An entry of the header, if the array lies within the file and is as long as it says."""
    kind, shape = str(entry["dtype"]), cast("list[object]", entry["shape"])
    first, last = cast("list[int]", entry["data_offsets"])
    sizes = [n for n in shape if isinstance(n, int) and n >= 0]
    if len(sizes) != len(shape) or first < 0:
        raise ValueError("an array has no shape")
    if base + last > end:
        raise ValueError("it is cut short")
    if kind in TYPES and last - first != math.prod(sizes) * np.dtype(TYPES[kind]).itemsize:
        raise ValueError("an array is not as long as its shape")
    return StoredTensor(kind, tuple(sizes), base + first)
