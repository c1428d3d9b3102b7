"""Requests that come twice, late, out of order or not at all, and what holds after them."""

import asyncio
import tempfile
from functools import partial
from pathlib import Path

import httpx
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from support.served import KNOWN, secured

from possibal.data.ingest import SourceSpec, ingest_frame
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.event_clock import EventClock
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService

ROWS, CLASSES, PEOPLE = 6, ("a", "b", "c"), ("Ann", "Bob")
X = np.random.default_rng(0).normal(size=(ROWS, 2))
KINDS = ("label", "skip", "unsure", "bad", "edit", "settle")


class Place:
    """A server in this process, without a gate, on a database of its own."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        intake = ingest_frame(X, SourceSpec(Path(), classes=CLASSES))
        self.store = create_campaign(
            str(Path(self.folder.name) / "a.db"), intake, Options(people=2)
        )
        ranker = InProcessRanker(self.store.array("X"), "necessity", 0)
        self.read_model = ReadModel(self.store)
        scheduler = RankingScheduler(self.read_model, ranker, background=False)
        service = LabellingService(self.read_model, scheduler)
        self.clock = EventClock()
        self.service = service
        carrier, known = httpx.ASGITransport(secured(service)), dict([KNOWN[1]])
        self.client = httpx.AsyncClient(
            transport=carrier, base_url="http://localhost", headers=known
        )
        self.loop = asyncio.Runner()

    def send(self, request: tuple[str, dict], sent: int) -> int:
        """Send a request at a time that its device and the server agree on."""
        verb, given = request
        given = {**given, "sent": sent, "device": given["who"].encode().hex().rjust(32, "0")}
        self.service.stamped = partial(self._stamped, now=sent)
        return self.loop.run(self.client.post(f"/api/{verb}", json=given)).status_code

    def _stamped(self, event, sent, device, now):
        """What the service does, by the time of the test."""
        return self.clock.stamped(event, sent, device, now)

    def holds(self):
        """All that people can tell of the state."""
        state = self.read_model.state
        return (
            state.labels,
            state.labelled(),
            state.verdicts,
            state.classes(CLASSES),
            {who: state.last(who) and state.last(who).key for who in PEOPLE},
            [[state.may_ask(row, who, 2) for who in PEOPLE] for row in range(ROWS)],
        )

    def close(self) -> None:
        self.loop.run(self.client.aclose())
        self.loop.close()
        self.store.close()
        self.folder.cleanup()


class Requests(RuleBasedStateMachine):
    """Requests are made in order, and delivered to one server so, to another anyhow."""

    def __init__(self) -> None:
        super().__init__()
        self.clean, self.rough = Place(), Place()
        self.seconds = 0
        self.made = list[tuple[str, dict]]()
        self.waiting = list[tuple[str, dict]]()

    def _make(self, verb: str, given: dict) -> None:
        number = len(self.made)
        request = verb, {"key": f"{number:032x}", "made": self.now, **given}
        self.made.append(request)
        self.waiting.append(request)
        assert self.clean.send(request, self.now) == 200

    @property
    def now(self) -> int:
        """The time, which goes on with every request."""
        self.seconds += 1
        return 1000 + self.seconds

    @rule(
        who=st.sampled_from(PEOPLE),
        row=st.integers(0, ROWS - 1),
        kind=st.sampled_from(KINDS),
        label=st.sampled_from(CLASSES),
        others=st.sets(st.integers(0, ROWS - 1), max_size=2),
    )
    def answer(self, who, row, kind, label, others):
        others = sorted(others - {row})
        said = {"who": who, "row": row, "others": others, "kind": kind, "label": label}
        self._make("answer", {**said, "next": False})

    @rule(data=st.data())
    def undo(self, data):
        own = [one for one in self.made if one[0] == "answer"]
        if own:
            _, target = data.draw(st.sampled_from(own))
            self._make("undo", {"who": target["who"], "target": target["key"]})

    @rule(data=st.data(), times=st.integers(1, 3), heard=st.booleans())
    def deliver(self, data, times, heard):
        """Some request arrives, perhaps several times; perhaps its sender never hears of it."""
        if self.waiting:
            request = data.draw(st.sampled_from(self.waiting))
            for _ in range(times):
                assert self.rough.send(request, self.now) == 200
            if heard:
                self.waiting.remove(request)

    @invariant()
    def both_can_be_asked(self):
        assert self.rough.read_model.state is not None

    def teardown(self):
        for request in reversed(self.waiting):
            assert self.rough.send(request, self.now) == 200
        rough, clean = self.rough.holds(), self.clean.holds()
        self.rough.close()
        self.clean.close()
        assert _plain(rough) == _plain(clean)


def _plain(holds):
    """The same without when and in which order things arrived."""
    labels, labelled, verdicts, *others = holds
    told = {
        row: (
            {who: (event.key, event.kind) for who, event in verdict.opinions.items()},
            verdict.settled and verdict.settled.key,
        )
        for row, verdict in verdicts.items()
    }
    return labels, list(labelled.items()), told, others


TestRequests = Requests.TestCase
TestRequests.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
