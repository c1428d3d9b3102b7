"""Times of events by the server's clock, whatever the clocks of devices say.

clock = EventClock()        clock.stamped(event, sent, device, now)

A device tells when an action was made and when it was sent, both by its own clock: the difference
is how long the action waited, and that is right even where the clock is not. So an action was made
when it arrived, less the time it waited. Actions of one device keep their order.
"""

from collections import OrderedDict
from dataclasses import replace

from possibal.labelling.storage.journal import Event

MOST_DEVICES = 10_000
"""Devices whose last action is remembered; those unheard of for longest are forgotten first."""


class EventClock:
    """Stamps events with when they were made, by the server's clock."""

    def __init__(self) -> None:
        """No device was heard of yet."""
        self._last = OrderedDict[str, tuple[int, int]]()

    def stamped(self, event: Event, sent: int | None, device: str | None, now: int) -> Event:
        """The event as made at a time of the server's clock.

        Args:
            event: as its device made it.
            sent: when it was sent, in milliseconds by the same clock; None if at once.
            device: where it was made; None stands for the only device of the person.
            now: in milliseconds, by the server's clock.
        """
        waited = 0 if sent is None else max(0, sent - event.made)
        made, name = max(0, now - waited), device or f"of {event.who}"
        claimed, stamped = self._last.get(name, (-1, -1))
        if event.made > claimed:
            made = max(made, stamped + 1)
            self._last[name] = event.made, made
            self._last.move_to_end(name)
        while len(self._last) > MOST_DEVICES:
            self._last.popitem(last=False)
        return replace(event, made=made)
