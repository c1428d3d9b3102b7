"""Utilities of several labels are put together, also in batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from possibal.acquisition.registry import STRATEGIES
from possibal.campaign.label_set_snapshot import LabelSetSnapshot
from possibal.campaign.label_views import combination, largest, sum_of_logs, total

numbers = hnp.arrays(float, (3, 7), elements=st.floats(-50, 50))


@pytest.mark.parametrize("put_together", [sum_of_logs, total, largest])
@given(each=numbers)
def test_the_order_of_labels_does_not_matter_and_more_is_never_less(put_together, each):
    assert np.allclose(put_together(each), put_together(each[::-1]))
    assert (put_together(each + 1.0) > put_together(each)).all()
    alone = put_together(each[:1])
    assert np.allclose(alone, each[0])


@given(numbers)
def test_logarithms_are_put_together_as_what_they_are_logarithms_of(each):
    assert np.allclose(sum_of_logs(each), np.log(np.exp(each).sum(axis=0)))


def test_losses_add_up_and_the_doubt_of_a_set_is_the_largest():
    assert combination(STRATEGIES["herding"]) is sum_of_logs
    assert combination(STRATEGIES["necessity"]) is largest
    assert combination(STRATEGIES["uncertainty"]) is total


def test_a_batch_does_not_ask_for_copies_of_its_rows():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(8, 2)), 3, axis=0)
    snapshot = LabelSetSnapshot.start(X, classes=["a", "b"])
    snapshot = snapshot.tell(0, ["a"]).tell(23, ["b"]).tell(10, [])
    for strategy in ("herding", "necessity"):
        chosen = STRATEGIES[strategy]
        batch = type(snapshot)(**{**vars_of(snapshot), "strategy": chosen}).ask(4)
        assert len({X[row].tobytes() for row in batch}) == 4


def vars_of(snapshot):
    return {name: getattr(snapshot, name) for name in snapshot.__dataclass_fields__}
