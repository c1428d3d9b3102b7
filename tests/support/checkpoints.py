"""Checkpoints as torch wrote them before 1.6, made without torch."""

import pickle
from collections import OrderedDict
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

MAGIC = 0x1950A86A20F9469CFC6C


class Global(NamedTuple):
    """A name that the pickle wants found."""

    module: str
    name: str


class Call(NamedTuple):
    """A name that the pickle wants called."""

    function: Any
    arguments: tuple


class StorageReference(NamedTuple):
    """A storage that comes later in the file."""

    reference: tuple


class CheckpointPickler(pickle._Pickler):  # noqa: SLF001 - the one in Python has `save`
    """Pickler that writes names, calls and storages without the things themselves."""

    def save(self, obj, save_persistent_id=True):  # noqa: FBT002 - pickle's own signature
        if isinstance(obj, Global):
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        elif isinstance(obj, Call):
            self.save(obj.function)
            self.save(obj.arguments)
            self.write(pickle.REDUCE)
        elif isinstance(obj, StorageReference):
            self.save(obj.reference)
            self.write(pickle.BINPERSID)
        else:
            super().save(obj, save_persistent_id)


REBUILD = Global("torch._utils", "_rebuild_tensor_v2")
FLOAT, LONG = Global("torch", "FloatStorage"), Global("torch", "LongStorage")


def pickled(value):
    """The bytes of a pickle."""
    file = BytesIO()
    CheckpointPickler(file, protocol=2).dump(value)
    return file.getvalue()


def tensor(key, count, shape, strides, offset=0):
    """A tensor over a storage, whose key begins with l where it holds integers."""
    kind = LONG if key.startswith("l") else FLOAT
    storage = StorageReference(("storage", kind, key, "cpu", count, None))
    return Call(REBUILD, (storage, offset, shape, strides, False, Call(OrderedDict, ())))


def written(tensors, storages, *, magic=MAGIC, version=1001, little=True):
    """A checkpoint of tensors over storages, which are arrays by their keys."""
    head = b"".join(map(pickled, (magic, version, {"little_endian": little})))
    raw = b"".join(len(a).to_bytes(8, "little") + a.tobytes() for a in storages.values())
    return head + pickled(tensors) + pickled(list(storages)) + raw


def checkpoint(arrays):
    """A checkpoint of arrays by their names, with the strides that they have."""
    tensors, storages = OrderedDict(), OrderedDict()
    for place, (name, array) in enumerate(arrays.items()):
        steps = tuple(step // array.itemsize for step in array.strides)
        letter = "f" if array.dtype == np.float32 else "l"
        key, flat = f"{letter}{place}", np.ravel(array, order="K")
        tensors[name] = tensor(key, flat.size, array.shape, steps)
        storages[key] = flat
    return written(tensors, storages)
