"""Batched values: frozen dataclasses whose arrays all begin with one axis, the members."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Self, cast

import numpy as np

from possibal.arrays import Places


class Batched:
    """A frozen dataclass of arrays and batched values; all else is common to all members."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone, for a pickle: what was worked out from them is worked out again."""
        return {field.name: getattr(self, field.name) for field in fields(cast("Any", self))}

    def part(self, members: Places, /) -> Self:
        """The same for some members."""
        return self.with_arrays(
            {name: _some(value, members) for name, value in self.stacked().items()}
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The members of several batches, which have all else in common, one after the other."""
        first = parts[0]
        if len(parts) == 1:
            return first
        return first.with_arrays(
            {name: _together([part.stacked()[name] for part in parts]) for name in first.stacked()}
        )

    def stacked(self) -> dict[str, Any]:
        """What has the axis of members."""
        if not is_dataclass(self):
            raise TypeError(f"a batch must be a dataclass; got {type(self).__name__}.")
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {n: v for n, v in values.items() if isinstance(v, np.ndarray | Batched)}

    def with_arrays(self, changes: dict[str, Any]) -> Self:
        """The same with other arrays."""
        return replace(cast("Any", self), **changes)


def _some(value: Any, members: Places) -> Any:  # noqa: ANN401 - an array or a batched value
    """Some members of an array or of a batched value."""
    return value.part(members) if isinstance(value, Batched) else value[members]


def _together(values: list[Any]) -> Any:  # noqa: ANN401 - an array or a batched value
    """Arrays or batched values, concatenated."""
    if isinstance(values[0], Batched):
        return type(values[0]).joined(values)
    return np.concatenate(values)
