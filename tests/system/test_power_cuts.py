"""Power cuts of a campaign in a file; the long run is in ``make faults``."""

import tempfile
from pathlib import Path

import pytest
from support.traced import MODES, NEEDS_STRACE
from system.power_cuts import (
    CONTROLS,
    LOST,
    MEMORY,
    SOUND,
    Disk,
    File,
    Step,
    cuts,
    recorded,
    without,
)

pytestmark = NEEDS_STRACE
STATES, PAIRS = 250, 4
"""Of each way to write; the long run has 5000."""


@pytest.fixture
def folder():
    """Where states are made."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as made:
        yield Path(made)


@pytest.fixture(scope="module", params=MODES)
def recording(request, tmp_path_factory):
    """What a writer did, by the way SQLite writes."""
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, recorded(folder, PAIRS, MODES[request.param])


@pytest.mark.long
def test_no_power_cut_loses_an_acknowledged_answer_or_damages_the_file(recording, folder):
    name, steps = recording
    found = cuts(steps, STATES, 1, MODES[name], folder)
    assert found[SOUND] == STATES, found


def test_without_what_makes_a_commit_durable_something_is_lost(recording, folder):
    name, steps = recording
    found = cuts(without(steps, CONTROLS[name]), STATES // 2, 1, MODES[name], folder)
    assert found[LOST] > 0, found


# ---------------------------------------------------------------- the disk itself
class Always:
    """Draws that always have one outcome; what is lost is not spoilt."""

    def __init__(self, share):
        self.share = share

    def choice(self, _shares):
        return self.share

    def random(self):
        return 0.5


MADE = Step("make", "a")
FOLDER = Step("sync")


@pytest.mark.parametrize(
    ("steps", "lost", "kept"),
    [
        ([MADE], {}, {"a": b""}),
        ([MADE, FOLDER], {"a": b""}, {"a": b""}),
        ([MADE, FOLDER, Step("write", "a", 0, b"x")], {"a": b""}, {"a": b"x"}),
        ([MADE, FOLDER, Step("write", "a", 1, b"x"), Step("sync", "a")], *[{"a": b"\0x"}] * 2),
        ([MADE, Step("write", "a", 0, b"x"), Step("sync", "a")], {}, {"a": b"x"}),
        ([MADE, FOLDER, Step("unlink", "a")], {"a": b""}, {}),
        ([MADE, FOLDER, Step("unlink", "a"), FOLDER], {}, {}),
        (
            [MADE, FOLDER, Step("unlink", "a"), MADE, Step("write", "a", 0, b"y")],
            *[{"a": b""}, {"a": b"y"}],
        ),
        (
            [MADE, FOLDER, Step("write", "a", 0, b"xyz"), Step("sync", "a"), Step("cut", "a", 1)],
            {"a": b"xyz"},
            {"a": b"x"},
        ),
    ],
)
def test_only_what_was_synchronised_is_sure_to_be_there(steps, lost, kept):
    disk = Disk()
    for step in steps:
        disk.do(step)
    assert disk.drawn(Always(0.0)) == lost
    assert disk.drawn(Always(1.0)) == kept


def test_a_write_is_torn_between_sectors_and_nowhere_else():
    class Second(Always):
        """Every other change is kept."""

        def random(self):
            self.share = 1.0 - self.share
            return 0.5 + self.share / 2

    file = File(b"o" * 1600).after(Step("write", "a", 500, b"n" * 1000))
    torn = file.drawn(0.9, Second(0.0))
    assert torn == b"o" * 512 + b"n" * 512 + b"o" * 576
