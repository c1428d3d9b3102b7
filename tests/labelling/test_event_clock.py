from hypothesis import given
from hypothesis import strategies as st

from possibal.labelling import event_clock
from possibal.labelling.event_clock import LATE, EventClock
from possibal.labelling.storage.journal import Event, Kind

NOW = 1_800_000_000_000


def event(made, who="ann"):
    return Event(f"{made:032x}", Kind.LABEL, who, made, 0, "yes")


@given(
    skew=st.integers(-(10**12), 10**12),
    waited=st.integers(0, 10**9),
    device=st.sampled_from(["a", None]),
)
def test_how_long_an_action_waited_counts_and_not_what_its_clock_says(skew, waited, device):
    made = NOW + skew - waited
    found = EventClock().stamped(event(made), made + waited, device, NOW)
    assert found.made == NOW - waited


def test_what_is_sent_at_once_is_made_when_it_arrives():
    clock = EventClock()
    assert clock.stamped(event(2**53), None, None, NOW).made == NOW
    assert clock.stamped(event(5), None, None, NOW + 10).made == NOW + 10


def test_nothing_is_made_later_than_it_arrives_or_before_all_time():
    clock = EventClock()
    assert clock.stamped(event(9), 4, "a", NOW).made == NOW  # sent before it was made
    assert clock.stamped(event(0), 2**53, "b", NOW).made == 0


@given(
    made=st.lists(st.integers(0, 10**6), min_size=2, max_size=12, unique=True),
    late=st.lists(st.integers(0, LATE), min_size=12, max_size=12),
    skew=st.integers(0, 10**10),
)
def test_actions_of_one_device_keep_their_order_however_long_they_take_to_arrive(made, late, skew):
    clock, sent, found = EventClock(), 10**6, []
    for one, delay in zip(sorted(made), late, strict=False):
        arrived = NOW + sent + delay
        found.append(clock.stamped(event(one + skew), sent + skew, "a", arrived).made)
        sent += delay
    assert found == sorted(set(found))


@given(made=st.permutations(range(8)), skew=st.integers(-(10**10), 10**10))
def test_actions_of_one_device_may_arrive_in_any_order(made, skew):
    clock = EventClock()
    found = {
        one: clock.stamped(event(one + skew), 50 + at + skew, "a", NOW + 50 + at).made
        for at, one in enumerate(made)
    }
    assert sorted(found, key=found.__getitem__) == list(range(8))


def test_devices_do_not_push_each_other():
    clock = EventClock()
    first = clock.stamped(event(50), 50, "laptop", NOW)
    waited = clock.stamped(event(60), 5060, "phone", NOW + 1)
    assert waited.made < first.made


def test_a_clock_that_is_set_back_is_believed_anew():
    clock = EventClock()
    clock.stamped(event(10**7), None, "a", NOW)
    assert clock.stamped(event(1), None, "a", NOW + 5).made == NOW + 5
    slow = clock.stamped(event(100), None, "a", NOW + 5 + LATE)  # on the way for long
    assert slow.made == NOW + 5 + 99


def test_devices_that_were_not_heard_of_for_long_are_forgotten(monkeypatch):
    monkeypatch.setattr(event_clock, "MOST_DEVICES", 2)
    clock = EventClock()
    for device in "abc":
        clock.stamped(event(100), None, device, NOW)
    assert clock.stamped(event(100), None, "a", NOW + 40).made == NOW + 40  # nothing is known of it
    assert clock.stamped(event(100), None, "c", NOW + 40).made == NOW  # it was 40 ms on the way
