"""System calls of a writer that fail; all of them do in ``make faults``."""

import pytest
from support.traced import MODES, NEEDS_STRACE
from system.failing_disk import ERRORS, all_tried, faults, sampled

pytestmark = NEEDS_STRACE
FAULTS, PAIRS = 12, 2
"""Of each way to write."""


@pytest.mark.long
@pytest.mark.parametrize("name", MODES)
def test_a_call_that_fails_is_told_in_a_sentence_and_nothing_is_lost_or_there_by_halves(
    name, tmp_path
):
    first, folder = tmp_path / "first", tmp_path / "others"
    first.mkdir()
    folder.mkdir()
    every = faults(first, PAIRS, MODES[name])
    assert {fault.call for fault in every} >= ERRORS.keys() - {"ftruncate"}
    some = sampled(every, FAULTS, seed=2)
    found = all_tried(some, folder, PAIRS, MODES[name])
    assert found["failed"] >= found["runs"] == len(some)
    assert found["refused"] > 0, found
