"""HTTP/1.1 connections with a limit of how many there are, and a deadline for each request.

uvicorn.Config(app, http=BoundedConnection)

uvicorn waits for a request without end: its one time-out is for the pause between two of them. Here
a request must have arrived within some seconds of its first byte, or of the connection. Where there
are too many connections, the one that has waited longest for a request makes room.
"""

import asyncio
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:  # Windows
    resource = None

ARRIVAL = 15.0
"""Seconds in which a request must arrive, head and body; the largest has 64 kB."""
MOST = 500
"""Connections at once, where the system allows for twice as many open files."""
LEAST = 8
"""Connections at once, however few files may be open."""
ARRIVING = frozenset([h11.IDLE, h11.SEND_BODY])
"""States of whoever is to send a request, or more of it."""
FULL = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\nconnection: close\r\n\r\n"


def most_connections() -> int:
    """How many connections there may be: half of the open files are for the database and others."""
    if resource is None:
        return MOST
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if files < 0 else max(LEAST, min(MOST, files // 2))


class BoundedConnection(H11Protocol):
    """A connection of uvicorn, bounded in number and in how long a request takes to arrive."""

    since = 0.0
    """When it began to wait for its last request."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as uvicorn has it
        """Take a connection, if need be in the place of one that has asked for nothing."""
        super().connection_made(transport)
        self._await_request()
        if len(self.connections) > most_connections():
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Read on, and see whether the request is there."""
        if self._deadline is None and self.conn.their_state in ARRIVING:
            self._await_request()
        super().data_received(data)
        if self.conn.their_state not in ARRIVING:
            self._arrived()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._arrived()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request as long as uvicorn does, unless it has begun to arrive."""
        self._arrived()
        super().on_response_complete()

    @property
    def was_answered(self) -> bool:
        """Whether it brought a request that is being answered, or was."""
        return self.cycle is not None  # pyright: ignore[reportUnnecessaryComparison] - none at first

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered."""
        return not self.was_answered or self.cycle.response_complete

    def give_way(self) -> None:
        """End at once."""
        self._arrived()
        self.transport.abort()
        self.connections.discard(self)

    def _make_room(self) -> None:
        """End the connection that is idle, has had no answer yet, and has waited for longest.

        Those of people who had one go after those who never asked. If all are at work, this ends.
        """
        self.logger.warning("There are too many connections: those that ask nothing are closed.")
        others = cast("set[BoundedConnection]", self.connections)
        idle = [one for one in others if one is not self and one.is_idle]
        if idle:
            min(idle, key=lambda one: (one.was_answered, one.since)).give_way()
            return
        self.transport.write(FULL)
        self._arrived()
        self.transport.close()

    def _await_request(self) -> None:
        """Begin to wait for a request."""
        self.since = self.loop.time()
        self._deadline = self.loop.call_later(ARRIVAL, self.give_way)

    def _arrived(self) -> None:
        """Wait no longer."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
