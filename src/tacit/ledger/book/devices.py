"""The device's own ledger: what it has answered, kept by itself, and a cap that no server
can talk it past.

A book is one small file: a header (the cap, and the pure prices seen so far) and for each
device one record: how often it paid each pure price, and what it paid in the currencies
that add, with a check word. So a book holds any number of rounds at any number of prices. A
real device holds a book of one record; a simulated fleet shares one file.

Guarantee: `pay` makes the charge durable before it says who may answer, and names nobody
whose total, composed exactly over all that was ever paid, would pass the cap. A record
whose check word does not fit (a torn write, an edited file) counts as spent out. So
whatever the server asks, and however often, a device's total stays under its cap.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import ceil, isfinite
from pathlib import Path
from threading import Lock
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tacit.errors import BookError, SettingError, StorageError
from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.cost import Cost, cost
from tacit.ledger.account.event import Event
from tacit.units import UNITS, Unit

HEADER = 4096
PRICES = 15
"""Different pure prices that are counted each by itself; further ones are added up, which
never costs less."""
_TOTALS = slice(PRICES + 1, PRICES + 9)
"""Words of a record with four 64-bit sums, rounded up: mu^2, Gaussian draws, Renyi slope,
further pure epsilons."""
_WORDS = PRICES + 9
_MARK = np.uint32(0x7AC17B00)
_ROUNDING = 1 + 1e-12

Record = tuple[tuple[int, ...], tuple[float, ...]]
"""How often each pure price was paid, and the four sums."""


class DeviceBooks:
    """Accounts of `people` devices under one cap; without a `path`, in an unnamed file that ends
    with this object.

    `fleet` identifies the data set: accounts of another one are refused. `unit` is what the cap
    protects."""

    def __init__(
        self,
        people: int,
        cap: tuple[float, float],
        path: str | Path | None = None,
        *,
        fleet: str = "",
        unit: Unit = "user",
    ) -> None:
        epsilon, delta = float(cap[0]), float(cap[1])
        if not (epsilon > 0 and isfinite(epsilon) and 0 <= delta < 1):
            raise SettingError(
                f"a device's cap of epsilon {epsilon:g} at delta {delta:g} is out of range"
            )
        self.people = people
        self.cap = (epsilon, delta)
        self._prices = list[float]()
        self.fleet = fleet
        self.unit: Unit = unit
        self._path = None if path is None else Path(path)
        self._turn = Lock()
        self._room = lru_cache(maxsize=4096)(self._fits)
        try:
            with self._open() as file:
                self._map = np.memmap(file, np.uint8, "r+", 0, (HEADER + 4 * people * _WORDS,))
        except OSError as error:
            raise StorageError(f"a device's book cannot be opened: {error.strerror}") from None
        self._table = self._map[HEADER:].view(np.uint32).reshape(people, _WORDS)

    def pay(
        self, event: Event, people: NDArray[np.int64] | None = None, steps: int = 1
    ) -> NDArray[np.int64]:
        """Charge `event` to these devices (all of them by default); the ones that may
        answer, durably charged.

        `steps` is how many steps at the event's unit one at the book's unit can take, for
        group privacy (`tacit.ledger.account.cost.group`).
        """
        devices = np.arange(self.people) if people is None else np.asarray(people, np.int64)
        with self._locked():
            # Who answers is seen, so no coin makes an answer cheaper.
            price = cost(
                (event.model_copy(update={"beside": None, "instead": None, "sampled": 1.0}),),
                self.unit,
                steps,
            )
            if (
                price.unbounded or price.tuned
            ):  # the book cannot count it, and then a device does not answer
                return devices[:0]
            rows = np.array(self._table[devices])
            intact = rows[:, PRICES] == _check(rows)
            slot = self._slot(price.pure_epsilon)
            if slot is not None:
                intact &= rows[:, slot] < np.iinfo(np.uint32).max
                rows[:, slot] += np.uint32(1)
            increase = np.array(
                [price.mu2, price.draws, price.renyi, price.pure_epsilon if slot is None else 0.0]
            )
            totals = rows[:, _TOTALS].copy().view(np.float64)
            totals = np.where(increase > 0, np.nextafter(totals + increase, np.inf), totals)
            rows[:, _TOTALS] = totals.view(np.uint32)
            rows[:, PRICES] = _check(rows)
            kinds, kind = np.unique(rows, axis=0, return_inverse=True)
            fits = (
                np.array([self._room(_record(row)) for row in kinds], bool)[kind.ravel()] & intact
            )
            self._table[devices[fits]] = rows[fits]
            self._map.flush()  # durable before anyone answers
        charged: NDArray[np.int64] = devices[fits]
        return charged

    def spent(self, person: int) -> float:
        """Epsilon, at the cap's delta, of all that one device has answered; the whole cap
        where its record is torn."""
        with self._locked():
            row = np.array(self._table[person : person + 1])
        if row[0, PRICES] != _check(row)[0]:
            return self.cap[0]
        return epsilon_of(self._cost(_record(row[0])), self.cap[1])

    def close(self) -> None:
        """Flush to the file what is still in memory."""
        self._map.flush()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One payer at a time: threads by a lock, processes by one on the file, whose
        prices are then read again."""
        with self._turn:
            if self._path is None:
                yield
                return
            with open(self._path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                self._prices = _header_of(bytes(self._map[:HEADER]), self._path)[1]
                yield

    def _slot(self, price: float) -> int | None:
        """Where this pure price is counted; None for nothing pure, and where no place is left."""
        if not price:
            return None
        if price not in self._prices:
            if len(self._prices) == PRICES:
                return None
            self._prices = [*self._prices, price]
            self._room.cache_clear()
            self._map[:HEADER] = np.frombuffer(self._header(), np.uint8)
            self._map.flush()
        return self._prices.index(price)

    def _cost(self, record: Record) -> Cost:
        counts, (mu2, draws, renyi, pure_sum) = record
        pure = {price: count for price, count in zip(self._prices, counts, strict=False) if count}
        if pure_sum:  # one pure event of the sum is no better than its parts
            pure[pure_sum] = pure.get(pure_sum, 0) + 1
        return Cost(mu2, ceil(draws), pure, renyi=renyi)

    def _fits(self, record: Record) -> bool:
        return epsilon_of(self._cost(record), self.cap[1]) <= self.cap[0] * _ROUNDING

    def _open(self) -> IO[bytes]:
        if self._path is None:
            file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
            file.write(self._blank())
            file.flush()
            return file
        if not self._path.exists():  # whole, and its owner's alone, or not at all
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._path.parent)
            with os.fdopen(handle, "wb") as blank_file:
                blank_file.write(self._blank())
                blank_file.flush()
                os.fsync(blank_file.fileno())
            try:
                os.link(
                    name, self._path
                )  # unlike a rename, never over a book that another process just made
            except FileExistsError:
                pass
            finally:
                os.unlink(name)
        made_for, self._prices = _header_of(self._path.read_bytes()[:HEADER], self._path)
        if made_for != (
            2,
            self.people,
            self.cap,
            self.fleet,
            self.unit,
        ) or self._path.stat().st_size != len(self._blank()):
            raise BookError(
                "the device book was made for another cap or fleet, or another unit",
                place=str(self._path),
                remedy="a cap is never reset",
            )
        return open(self._path, "r+b")

    def _header(self) -> bytes:
        facts = {
            "tacit_device_book": 2,
            "people": self.people,
            "cap": self.cap,
            "fleet": self.fleet,
            "unit": self.unit,
            "prices": self._prices,
        }
        return json.dumps(facts).encode().ljust(HEADER)

    def _blank(self) -> bytes:
        table = np.zeros((self.people, _WORDS), np.uint32)
        table[:, PRICES] = _check(table)
        return self._header() + table.tobytes()


def known_book(path: Path) -> DeviceBooks:
    """The book of a file, under the cap and for the people that it was made for."""
    try:
        content = path.read_bytes()[:HEADER]
    except OSError as error:
        raise StorageError(f"a device's book cannot be opened: {error.strerror}") from None
    (_, people, cap, fleet, unit), _ = _header_of(content, path)
    if unit not in UNITS or len(cap) != 2:
        raise BookError("this is no device book, or a damaged one", place=str(path))
    book_unit = next(candidate for candidate in UNITS if candidate == unit)
    return DeviceBooks(people, (cap[0], cap[1]), path, fleet=fleet, unit=book_unit)


def _header_of(
    content: bytes, path: Path
) -> tuple[tuple[int, int, tuple[float, ...], str, str], list[float]]:
    """(format, people, cap, fleet, unit) and the prices."""
    try:
        facts = json.loads(content)
        made_for = (
            facts["tacit_device_book"],
            facts["people"],
            tuple(facts["cap"]),
            facts.get("fleet", ""),
            facts.get("unit", "user"),
        )
        return made_for, [float(price) for price in facts["prices"]]
    except (ValueError, KeyError, TypeError):
        raise BookError("this is no device book, or a damaged one", place=str(path)) from None


def _check(rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A word that a half-written or edited record is unlikely to carry."""
    factors = np.arange(3, 3 + 2 * _WORDS, 2, dtype=np.uint32) * np.uint32(0x9E3779B1)
    factors[PRICES] = 0  # the word itself
    total: NDArray[np.uint32] = (rows * factors).sum(axis=1, dtype=np.uint32) ^ _MARK
    return total


def _record(row: NDArray[np.uint32]) -> Record:
    return tuple(row[:PRICES].tolist()), tuple(row[_TOTALS].copy().view(np.float64).tolist())
