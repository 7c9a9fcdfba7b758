"""Who is connected: every connection is counted from `accept` on, before any TLS.

A server often waits for a peer: for a hello, a header, a body, the next request, or until the
peer has read an answer. Each such connection holds a file and some memory. So one address has a
share of them: beyond it the one that has kept the server waiting for longest is ended. The share
is small where a byte has come, for TLS and HTTP then hold memory. When all places are taken, the
address that holds most of them gives one up, one that has said nothing first. Whoever comes from
another address is served, and whoever asks at once is served from the same one.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, ip_address

MOST_CONNECTIONS = 16_384
"""Open at a time, where the system lets a process have that many files."""
OWN_FILES = 128
"""That a server needs for itself, where it may open that many: its stores, logs, listening
sockets, and connections that are accepted only to be ended."""
SHARE = 8
"""One address has at most one in so many places for connections that are waited for."""
SILENT = 2
"""The same for those of which no byte has come. They cost a socket, and must not be ended before
an honest peer that is slow could have spoken."""
ALL = ""
"""In place of an address: all of them."""
PREFIX = 64
"""Bits of an IPv6 address that name a network: one customer has all addresses in it."""


def make_room() -> None:
    """Ask for as many files as all connections need; most systems give few unasked."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    required_files = MOST_CONNECTIONS + OWN_FILES
    if hard != resource.RLIM_INFINITY:
        required_files = min(required_files, hard)
    if soft != resource.RLIM_INFINITY and soft < required_files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (required_files, hard))


def most_connections() -> int:
    """Open at a time, so that another one can always be accepted."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(1, min(MOST_CONNECTIONS, files - min(OWN_FILES, files // 2)))


def origin_of(address: str) -> str:
    """The address as budgets know it."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(IPv6Address(int(ip) >> (128 - PREFIX) << (128 - PREFIX)))
    return str(ip)


def _nothing() -> None:
    """Already ended."""


class Seat:
    """The place of one connection. `end` closes it, whatever it has come to by now."""

    def __init__(self, crowd: ConnectionCrowd, origin: str) -> None:
        self.origin = origin
        self.silent = True
        """Whether no byte has come."""
        self.end: Callable[[], None] = _nothing
        self._crowd = crowd
        self._deadline: asyncio.TimerHandle | None = None

    def expect(self, seconds: float) -> None:
        """End the connection after so many seconds, unless `relax` comes first. A deadline that
        runs is never put off."""
        if self._deadline is None:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(seconds, self.hang_up)

    def relax(self) -> None:
        """What was expected is there."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def speak(self) -> None:
        """The first byte has come."""
        self._crowd.work(self)
        self.silent = False
        self._crowd.wait(self)

    def wait(self) -> None:
        """From here on the server waits for the peer."""
        self._crowd.wait(self)

    def work(self) -> None:
        """From here on the peer waits for the server."""
        self._crowd.work(self)

    def leave(self) -> None:
        """The connection has ended."""
        self.relax()
        self.end = _nothing
        self._crowd.leave(self)

    def hang_up(self) -> None:
        """End the connection, without a word."""
        end = self.end
        self.leave()
        end()


class ConnectionCrowd:
    """See the module. Connections of `proxies` have no budget of their own: they are many
    people's."""

    def __init__(self, most: int, proxies: Iterable[str] = ()) -> None:
        self.most = most
        self.share, self.silent = max(1, most // SHARE), max(1, most // SILENT)
        self._proxies = frozenset(map(origin_of, proxies))
        self._there: dict[str, dict[Seat, None]] = {}
        """By address, in the order in which they came."""
        self._silent: dict[str, dict[Seat, None]] = {}
        self._waiting: dict[str, dict[Seat, None]] = {}
        """Those that the server waits for, the longest first; under `ALL` of every address."""
        self.count = 0

    def enter(self, address: str) -> Seat | None:
        """A place for a new connection, or None if there is none."""
        origin = origin_of(address)
        silent = self._silent.get(origin, {})
        if len(silent) >= self.silent and origin not in self._proxies:
            next(iter(silent)).hang_up()
        if self.count >= self.most and not self.make_place(origin):
            return None
        seat = Seat(self, origin)
        self._there.setdefault(origin, {})[seat] = None
        self.count += 1
        self.wait(seat)
        return seat

    def make_place(self, origin: str = "") -> bool:
        """End a connection in favour of one from `origin`; false if nobody is to go."""
        # Who waits for an answer goes last, and only for others than itself.
        direct_origins = [origin for origin in self._there if origin not in self._proxies] or [
            *self._there
        ]
        largest = max(direct_origins, key=lambda origin: len(self._there[origin]), default="")
        if self._end_waiting(largest) or self._end_waiting(ALL):
            return True
        waiting_seats = self._there.get(largest, {})
        if largest == origin or len(waiting_seats) <= self.share:
            return False
        next(iter(waiting_seats)).hang_up()
        return True

    def _end_waiting(self, origin: str) -> bool:
        """End one that the server waits for, if there is any."""
        for places in (self._silent, self._waiting):
            if seats := places.get(origin):
                next(iter(seats)).hang_up()
                return True
        return False

    def wait(self, seat: Seat) -> None:
        """The server waits for this peer; beyond the share of its address another one goes."""
        if seat not in self._there.get(seat.origin, ()):
            return
        places = self._silent if seat.silent else self._waiting
        for origin in (seat.origin, ALL):
            places.setdefault(origin, {}).setdefault(seat)
        waiting = self._waiting.get(seat.origin, {})
        if len(waiting) > self.share and seat.origin not in self._proxies:
            next(iter(waiting)).hang_up()

    def work(self, seat: Seat) -> None:
        """This peer waits for the server."""
        places = self._silent if seat.silent else self._waiting
        for origin in (seat.origin, ALL):
            _remove(places, origin, seat)

    def leave(self, seat: Seat) -> None:
        """This connection has ended."""
        self.work(seat)
        self.count -= _remove(self._there, seat.origin, seat)


def _remove(places: dict[str, dict[Seat, None]], origin: str, seat: Seat) -> bool:
    """Whether it was among them."""
    seats = places.get(origin)
    if seats is None or seat not in seats:
        return False
    del seats[seat]
    if not seats:
        del places[origin]
    return True
