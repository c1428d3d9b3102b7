from hypothesis import given
from hypothesis import strategies as st

from possibal.labelling import event_clock
from possibal.labelling.event_clock import EventClock
from possibal.labelling.storage.journal import Event, Kind

NOW = 1_800_000_000_000


def event(made, who="ann"):
    return Event(f"{made:032x}", Kind.LABEL, who, made, 0, "yes")


@given(skew=st.integers(-(10**12), 10**12), waited=st.integers(0, 10**9))
def test_how_long_an_action_waited_counts_and_not_what_its_clock_says(skew, waited):
    made = NOW + skew - waited
    found = EventClock().stamped(event(made), made + waited, "a", NOW)
    assert found.made == NOW - waited


def test_what_is_sent_at_once_is_made_when_it_arrives():
    clock = EventClock()
    assert clock.stamped(event(2**53), None, None, NOW).made == NOW
    assert clock.stamped(event(5), None, None, NOW + 10).made == NOW + 10


def test_nothing_is_made_later_than_it_arrives_or_before_all_time():
    clock = EventClock()
    assert clock.stamped(event(9), 4, "a", NOW).made == NOW  # sent before it was made
    assert clock.stamped(event(0), 2**53, "b", NOW).made == 0


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 2000)), min_size=2, max_size=20))
def test_actions_of_one_device_keep_their_order_however_long_they_take_to_arrive(steps):
    clock, made, arrived, found = EventClock(), 0, NOW, []
    for apart, late in steps:
        made += apart
        arrived += late
        found.append(clock.stamped(event(made), made + 1000, "a", arrived).made)
    assert found == sorted(set(found))


def test_devices_do_not_push_each_other():
    clock = EventClock()
    first = clock.stamped(event(50), 50, "laptop", NOW)
    waited = clock.stamped(event(60), 5060, "phone", NOW + 1)
    assert waited.made < first.made


def test_devices_that_were_not_heard_of_for_long_are_forgotten(monkeypatch):
    monkeypatch.setattr(event_clock, "MOST_DEVICES", 2)
    clock = EventClock()
    for device in "abc":
        clock.stamped(event(100), None, device, NOW)
    assert clock.stamped(event(200), 300, "a", NOW).made == NOW - 100  # nothing is known of it
    assert clock.stamped(event(200), 300, "c", NOW).made == NOW + 1
