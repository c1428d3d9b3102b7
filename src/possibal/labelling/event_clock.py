"""Times of events by the server's clock, whatever the clocks of devices say.

clock = EventClock()        clock.stamped(event, sent, device, now)

A device tells when an action was made and when it was sent, both by its own clock. When it arrives,
the server's clock is known, too: so how far the device's clock is off, but for the time on the way
(Cristian's algorithm). Actions of one device are all moved by the same offset, so that they keep
their order, even if they arrive in another one.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace

from possibal.labelling.storage.journal import Event

LATE = 60_000
"""Milliseconds on the way beyond which a clock must have been set back instead."""
MOST_DEVICES = 10_000
"""Devices that are remembered; those unheard of for longest are forgotten first."""


@dataclass(frozen=True)
class DeviceClock:
    """What is known of a device.

    Attributes:
        offset: what is added to its clock; the least ever seen, which was on the way shortest.
        claimed: when its latest action was made by its own clock.
        stamped: when that was by the server's.
    """

    offset: int
    claimed: int = -1
    stamped: int = -1

    def seen(self, offset: int) -> "DeviceClock":
        """The same after another estimate of the offset."""
        is_set_back = offset > self.offset + LATE
        return replace(self, offset=offset if is_set_back else min(offset, self.offset))


class EventClock:
    """Stamps events with when they were made, by the server's clock."""

    def __init__(self) -> None:
        """No device was heard of yet."""
        self._devices = OrderedDict[str, DeviceClock]()

    def stamped(self, event: Event, sent: int | None, device: str | None, now: int) -> Event:
        """The event as made at a time of the server's clock.

        Args:
            event: as its device made it.
            sent: when it was sent, in milliseconds by the same clock; None if at once.
            device: where it was made; of one that is not named the offset is taken anew each time.
            now: in milliseconds, by the server's clock.
        """
        offset = now - max(event.made, sent or 0)
        name = device or f"of {event.who}"
        known = self._devices.get(name, DeviceClock(offset))
        known = known.seen(offset) if device else replace(known, offset=offset)
        made = max(0, event.made + known.offset)
        if event.made > known.claimed:
            made = max(made, known.stamped + 1)
            known = replace(known, claimed=event.made, stamped=made)
        self._devices[name] = known
        self._devices.move_to_end(name)
        while len(self._devices) > MOST_DEVICES:
            self._devices.popitem(last=False)
        return replace(event, made=made)
