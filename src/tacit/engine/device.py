"""The device's own ledger: what it has answered, kept by itself, and a cap that no server can talk it past.

A book is one small file: a header (the cap, and the prices seen so far) and for each device one record of how often it
paid each price, with a check word. A real device holds a book of one record; a simulated fleet shares one file.

Guarantee: `pay` makes the charge durable before it says who may answer, and names nobody whose total, composed exactly
over all that was ever paid, would pass the cap. A record whose check word does not fit (a torn write, an edited file)
counts as spent out. So whatever the server asks, and however often, a device's total stays under its cap.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tacit.errors import BookError, SettingError, StorageError
from tacit.ledger.account import epsilon_of
from tacit.ledger.cost import Cost, cost
from tacit.ledger.event import Event

HEADER = 4096
PRICES = 15
"""Different prices that a book can hold; a further one is refused."""
_MARK = np.uint32(0x7AC17B00)
_ROUNDING = 1 + 1e-12

Price = tuple[float, int, float, float]
"""(mu^2, Gaussian draws, pure epsilon, Renyi slope of noise in shares) of one answer."""


class DeviceBooks:
    """The books of `people` devices under one cap; without a `path`, in an unnamed file that ends with this object."""

    def __init__(self, people: int, cap: tuple[float, float], path: str | Path | None = None) -> None:
        epsilon, delta = float(cap[0]), float(cap[1])
        if not (epsilon > 0 and isfinite(epsilon) and 0 <= delta < 1):
            raise SettingError(f"a device's cap of epsilon {epsilon:g} at delta {delta:g} is out of range")
        self.people, self.cap, self._prices = people, (epsilon, delta), list[Price]()
        self._path = None if path is None else Path(path)
        self._turn = Lock()
        self._room = lru_cache(maxsize=4096)(self._fits)
        try:
            with self._open() as file:
                self._map = np.memmap(file, np.uint8, "r+", 0, (HEADER + 4 * people * (PRICES + 1),))
        except OSError as error:
            raise StorageError(f"a device's book cannot be opened: {error.strerror}") from None
        self._table = self._map[HEADER:].view(np.uint32).reshape(people, PRICES + 1)

    def pay(self, event: Event, people: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Charge `event` to these devices (all of them by default); the ones that may answer, durably charged."""
        asked = np.arange(self.people) if people is None else np.asarray(people, np.int64)
        with self._alone():
            slot = self._slot(event)
            if slot is None:
                return asked[:0]
            rows = np.array(self._table[asked])
            whole = rows[:, PRICES] == _check(rows)
            whole &= rows[:, slot] < np.iinfo(np.uint32).max
            rows[:, slot] += np.uint32(1)
            kinds, kind = np.unique(rows[:, :PRICES], axis=0, return_inverse=True)
            fits = np.array([self._room(tuple(row)) for row in kinds.tolist()], bool)[kind.ravel()] & whole
            rows[:, PRICES] = _check(rows)
            self._table[asked[fits]] = rows[fits]
            self._map.flush()  # durable before anyone answers
        paid: NDArray[np.int64] = asked[fits]
        return paid

    def spent(self, person: int) -> float:
        """Epsilon, at the cap's delta, of all that one device has answered; the whole cap where its record is torn."""
        with self._alone():
            row = np.array(self._table[person : person + 1])
        if row[0, PRICES] != _check(row)[0]:
            return self.cap[0]
        return epsilon_of(self._cost(tuple(row[0, :PRICES].tolist())), self.cap[1])

    def close(self) -> None:
        self._map.flush()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One payer at a time: threads by a lock, processes by one on the file, whose prices are then read again."""
        with self._turn:
            if self._path is None:
                yield
                return
            with open(self._path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                self._prices = _header_of(bytes(self._map[:HEADER]), self._path)[1]
                yield

    def _slot(self, event: Event) -> int | None:
        """Where this event's price stands; None if the book cannot count it, and then a device does not answer."""
        paid = cost((event.model_copy(update={"beside": None}),))
        if paid.unbounded or paid.sampled:
            return None
        price = (paid.mu2, paid.draws, paid.pure_epsilon, paid.renyi)
        if price not in self._prices:
            if len(self._prices) == PRICES:
                return None
            self._prices = [*self._prices, price]
            self._room.cache_clear()
            self._map[:HEADER] = np.frombuffer(self._header(), np.uint8)
            self._map.flush()
        return self._prices.index(price)

    def _cost(self, counts: tuple[int, ...]) -> Cost:
        paid = [(price, count) for price, count in zip(self._prices, counts, strict=False) if count]
        pure: dict[float, int] = {}
        for (_, _, each, _), count in paid:
            if each:
                pure[each] = pure.get(each, 0) + count
        return Cost(
            sum(p[0] * c for p, c in paid), sum(p[1] * c for p, c in paid), pure, renyi=sum(p[3] * c for p, c in paid)
        )

    def _fits(self, counts: tuple[int, ...]) -> bool:
        return epsilon_of(self._cost(counts), self.cap[1]) <= self.cap[0] * _ROUNDING

    def _open(self) -> IO[bytes]:
        if self._path is None:
            file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
            file.write(self._blank())
            file.flush()
            return file
        if not self._path.exists():  # whole, and its owner's alone, or not at all
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._path.parent)
            with os.fdopen(handle, "wb") as made:
                made.write(self._blank())
                made.flush()
                os.fsync(made.fileno())
            try:
                os.link(name, self._path)  # unlike a rename, never over a book that another process just made
            except FileExistsError:
                pass
            finally:
                os.unlink(name)
        made_for, self._prices = _header_of(self._path.read_bytes()[:HEADER], self._path)
        if made_for != (1, self.people, self.cap) or self._path.stat().st_size != len(self._blank()):
            raise BookError(
                "the device book was made for another cap or fleet",
                place=str(self._path),
                remedy="a cap is never reset",
            )
        return open(self._path, "r+b")

    def _header(self) -> bytes:
        facts = {"tacit_device_book": 1, "people": self.people, "cap": self.cap, "prices": self._prices}
        return json.dumps(facts).encode().ljust(HEADER)

    def _blank(self) -> bytes:
        table = np.zeros((self.people, PRICES + 1), np.uint32)
        table[:, PRICES] = _check(table)
        return self._header() + table.tobytes()


def _header_of(content: bytes, path: Path) -> tuple[tuple[int, int, tuple[float, ...]], list[Price]]:
    """(format, people, cap) and the prices."""
    try:
        facts = json.loads(content)
        made_for = (facts["tacit_device_book"], facts["people"], tuple(facts["cap"]))
        return made_for, [(float(a), int(b), float(c), float(d)) for a, b, c, d in facts["prices"]]
    except (ValueError, KeyError, TypeError):
        raise BookError("this is no device book, or a damaged one", place=str(path)) from None


def _check(rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A word that a half-written or edited record is unlikely to carry."""
    factors = np.arange(3, 3 + 2 * PRICES, 2, dtype=np.uint32) * np.uint32(0x9E3779B1)
    total: NDArray[np.uint32] = (rows[:, :PRICES] * factors).sum(axis=1, dtype=np.uint32) ^ _MARK
    return total
