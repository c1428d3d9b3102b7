import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from possibal.numerics.batched import Batched


@dataclass(frozen=True, eq=False)
class Inner(Batched):
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Outer(Batched):
    name: str
    table: np.ndarray
    inner: Inner


def stack(*numbers):
    values = np.array(numbers, dtype=float)
    return Outer("same", values[:, None] * np.ones(3), Inner(values))


def test_a_part_has_the_members_asked_for_throughout():
    part = stack(1, 2, 3).part(np.array([2, 0]))
    assert part.name == "same"
    assert part.table[:, 0].tolist() == part.inner.values.tolist() == [3, 1]


def test_stacks_are_joined_member_after_member():
    joined = Outer.joined([stack(1, 2), stack(3)])
    assert joined.name == "same"
    assert joined.table[:, 2].tolist() == joined.inner.values.tolist() == [1, 2, 3]


def test_one_stack_joined_is_itself():
    one = stack(1, 2)
    assert Outer.joined([one]) is one


def test_parts_joined_again_are_the_whole():
    whole = stack(4, 5, 6, 7)
    halves = [whole.part(np.array([0, 1])), whole.part(np.array([2, 3]))]
    assert np.array_equal(Outer.joined(halves).table, whole.table)


def test_only_a_dataclass_can_be_a_batch():
    class Loose(Batched):
        pass

    with pytest.raises(TypeError, match="a batch must be a dataclass; got Loose"):
        Loose().part(np.array([0]))


def test_a_pickle_holds_the_fields_and_nothing_that_was_worked_out():
    whole = stack(1, 2)
    size = len(pickle.dumps(whole))
    vars(whole)["twice"] = 2 * whole.table  # as a cached property is kept
    assert len(pickle.dumps(whole)) == size
    again = pickle.loads(pickle.dumps(whole))  # noqa: S301 - our own
    assert again.name == "same"
    np.testing.assert_array_equal(again.inner.values, whole.inner.values)
