"""What the aggregator's store knows: attempts at rounds, masked contributions, and the one
sum of a round that is ever revealed.

Guarantee: of all attempts at a round at most one is revealed, once and for all, and each sum
of it (one, or one for each of several groups) is over at least as many devices as every device
in it was promised; an attempt that was given up is
never revealed. A contribution counts once, however often it is sent. Each method is one
transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import SystemRandom
from typing import Any, NamedTuple

import numpy as np

from tacit.federation.agreed.scheme import printed_tables, scheme_of_layouts
from tacit.federation.protocol.packing import packed
from tacit.federation.protocol.wire import (
    Opening,
    PartLayout,
    Section,
    Sum,
    Upload,
    digest,
    pack,
    sections,
    split,
    unpack,
)
from tacit.federation.server.store import Refusal, ServerStore, Transaction, statements

MIGRATIONS = (
    (*statements("devices"), *statements("aggregator")),
    *printed_tables(),
    statements("rotations"),
    statements("enrolment"),
)
"""The steps that make the store's tables."""
AT_ONCE = 64 << 20
"""Bytes of uploads in memory while a round is summed."""
MOST_ROWS = 1000
"""Uploads that are read at a time, however short they are."""
AT_A_TIME = 16 << 20
"""Bytes of rows that are added up as one."""


class Key(NamedTuple):
    """An attempt at a round of a task."""

    task: str
    round: int
    attempt: int


@dataclass(frozen=True)
class Count:
    """How an attempt stands."""

    arrived: int
    is_open: bool


class _Row(NamedTuple):
    status: str
    sum: bytes | None
    opening: bytes
    least: int


class Uploads:
    """See the module. `least` is this server's own minimum cohort."""

    def __init__(self, store: ServerStore, least: int) -> None:
        self.store = store
        self.least = least

    async def open(self, opening: Opening, body: bytes) -> None:
        """A round begins. Opening twice is opening once; a revealed round opens no more."""
        key = (opening.task, opening.round)

        def work(session: Transaction) -> None:
            if _is_revealed(session, *key):
                raise Refusal(409, "a sum of this round was revealed already")
            session.run(
                "INSERT INTO round VALUES (?, ?, ?, ?, ?, 'open', NULL) ON CONFLICT DO NOTHING",
                *key,
                opening.attempt,
                body,
                opening.least,
            )
            # of earlier rounds: summed, revealed, of no more use
            session.run("DELETE FROM upload WHERE task = ? AND round < ?", *key)
            session.run("UPDATE round SET sum = NULL WHERE task = ? AND round < ?", *key)

        await self.store.write(work, soon=True)

    async def opening(self, key: Key) -> Opening:
        """The opening of an attempt."""
        rows = await self.store.read(
            lambda s: s.run(
                "SELECT opening FROM round WHERE task = ? AND round = ? AND attempt = ?", *key
            )
        )
        if not rows:
            raise Refusal(404, "no such round")
        return unpack(Opening, bytes(rows[0][0]))[0]

    async def keep(self, key: Key, device: str, least: int, body: bytes) -> bool:
        """Keep a contribution, and say whether it is new. The same again is fine; another
        one from the same device is not."""
        print_ = digest(body)

        def work(session: Transaction) -> bool:
            # One statement for what is new and in time; only the others are looked into.
            fresh = session.changed(
                "INSERT INTO upload (task, round, attempt, device, digest, least, body) "
                "SELECT ?, ?, ?, ?, ?, ?, ? FROM round "
                "WHERE task = ? AND round = ? AND attempt = ? AND status = 'open' "
                "ON CONFLICT DO NOTHING",
                *key,
                device,
                print_,
                least,
                body,
                *key,
            )
            if not fresh:
                _check_known(session, key, device, print_)
            return bool(fresh)

        return await self.store.write(work)

    async def count(self, key: Key) -> Count:
        """How many devices have answered, and whether more may."""

        def work(session: Transaction) -> Count:
            arrived = session.run(
                "SELECT COUNT(*) FROM upload WHERE task = ? AND round = ? AND attempt = ?", *key
            )
            return Count(int(arrived[0][0]), _status(session, key) == "open")

        return await self.store.read(work, soon=True)

    async def reveal(self, key: Key, give_up: bool) -> bytes | None:
        """The sum that was revealed, or is revealed now, or None for ever."""
        return await self.store.write(lambda s: self._reveal(s, key, give_up), soon=True)

    def _reveal(self, session: Transaction, key: Key, give_up: bool) -> bytes | None:
        rows = session.run(
            "SELECT status, sum, opening, least FROM round "
            "WHERE task = ? AND round = ? AND attempt = ?",
            *key,
        )
        stored_round = _Row(*rows[0])
        if stored_round.status == "revealed" and stored_round.sum is not None:
            return bytes(stored_round.sum)
        if stored_round.status != "open":
            return None
        contributors = session.run(
            "SELECT device, least FROM upload "
            "WHERE task = ? AND round = ? AND attempt = ? ORDER BY device",
            *key,
        )
        needed = max([int(stored_round.least), self.least, *(int(row[1]) for row in contributors)])
        already_revealed = _is_revealed(session, key.task, key.round)
        if give_up or already_revealed or len(contributors) < needed:
            _give_up(session, key)
            return None
        opening = unpack(Opening, bytes(stored_round.opening))[0]
        groups = groups_of([row[0] for row in contributors], opening, needed)
        revealed = summed(session, key, opening.parts, groups)
        session.run(
            "UPDATE round SET status = 'revealed', sum = ? "
            "WHERE task = ? AND round = ? AND attempt = ?",
            revealed,
            *key,
        )
        return revealed


class SumsStanding(NamedTuple):
    """Where the rounds of a task stand at an aggregator, for its operator."""

    task: str
    round: int
    """The last one that was opened."""
    open: int
    revealed: int
    given_up: int
    uploads: int
    """That are kept now."""


def standing(session: Transaction) -> list[SumsStanding]:
    """All tasks of an aggregator's store: counts, and no device."""
    rows = session.run(
        "SELECT task, MAX(round), "
        "SUM(CASE WHEN status = 'open' THEN 1 ELSE 0 END), "
        "SUM(CASE WHEN status = 'revealed' THEN 1 ELSE 0 END), "
        "SUM(CASE WHEN status = 'given up' THEN 1 ELSE 0 END) "
        "FROM round GROUP BY task ORDER BY task"
    )
    upload_counts = dict(session.run("SELECT task, COUNT(*) FROM upload GROUP BY task"))
    return [
        SumsStanding(
            task=row[0],
            round=int(row[1]),
            open=int(row[2]),
            revealed=int(row[3]),
            given_up=int(row[4]),
            uploads=int(upload_counts.get(row[0], 0)),
        )
        for row in rows
    ]


def give_up_open(session: Transaction) -> int:
    """Give up every attempt that is open, and say how many there were: after the store came
    back from an older copy, which does not know what was revealed since."""
    rows = session.run("SELECT task, round, attempt FROM round WHERE status = 'open'")
    for row in rows:
        _give_up(session, Key(*row))
    return len(rows)


def _is_revealed(session: Transaction, task: str, round_: int) -> bool:
    """Whether a sum of this round was revealed, of whichever attempt."""
    return bool(
        session.run(
            "SELECT 1 FROM round WHERE task = ? AND round = ? AND status = 'revealed'", task, round_
        )
    )


def _status(session: Transaction, key: Key) -> str | None:
    rows = session.run(
        "SELECT status FROM round WHERE task = ? AND round = ? AND attempt = ?", *key
    )
    return rows[0][0] if rows else None


def _check_known(session: Transaction, key: Key, device: str, print_: str) -> None:
    """Refuse a contribution that was not kept, unless it is one that was kept before."""
    if _status(session, key) is None:
        raise Refusal(404, "no such round")
    digest_rows = session.run(
        "SELECT digest FROM upload WHERE task = ? AND round = ? AND attempt = ? AND device = ?",
        *key,
        device,
    )
    if not digest_rows:
        raise Refusal(410, "the round is over")
    if digest_rows[0][0] != print_:
        raise Refusal(409, "another contribution of this device was counted")


def _give_up(session: Transaction, key: Key) -> None:
    """The attempt is never revealed, and its uploads are of no more use."""
    session.run(
        "UPDATE round SET status = 'given up' WHERE task = ? AND round = ? AND attempt = ?", *key
    )
    session.run("DELETE FROM upload WHERE task = ? AND round = ? AND attempt = ?", *key)


# Contributions are added up: those of a round as one sum, or as a few of groups that chance
# made. The masks are still on.
#
# Sums are modulo 2^bits. Little is in memory at a time, however many devices there are.


def groups_of(devices: list[str], opening: Opening, needed: int) -> list[list[str]]:
    """Those who arrived, cut by chance into as many groups as were asked for and can be
    filled: nobody chooses whom she is summed with. What is not a plain sum is one group."""
    plain = not any(part.sparse or part.report or part.printed for part in opening.parts)
    count = min(opening.groups, len(devices) // needed) if plain else 1
    if count <= 1:
        return [devices]
    order = SystemRandom().sample(devices, len(devices))
    return [sorted(order[offset::count]) for offset in range(count)]


def summed(
    session: Transaction,
    key: tuple[str, int, int],
    parts: tuple[PartLayout, ...],
    groups: list[list[str]],
) -> bytes:
    """The sums over these groups of devices, as they are revealed: each is a release of its
    own, with a noise of its own."""
    scheme = scheme_of_layouts(parts)
    group_of = {device: k for k, group in enumerate(groups) for device in group}
    totals = [RoundTotal(parts) for _ in groups]
    for device, body in bodies_of(session, key):
        totals[group_of[device]].add(body)
    rows, payload = list[int](), list[bytes]()
    for group, total in zip(groups, totals, strict=True):
        payload += [bytes.fromhex(device) for device in group]
        for part, section in zip(parts, total.sections(), strict=True):
            revealed = scheme.summed(session, key[0], part, section)
            if revealed.rows is not None:
                rows.append(len(revealed.rows))
                payload.append(revealed.rows.astype("<u4").tobytes())
            payload.append(packed(revealed.words, part.bits))
    header = Sum(
        task=key[0],
        round=key[1],
        attempt=key[2],
        cohort=len(group_of),
        cohorts=tuple(len(group) for group in groups),
        rows=tuple(rows),
    )
    return pack(header, b"".join(payload))


def bodies_of(session: Transaction, key: tuple[str, int, int]) -> Iterator[tuple[str, bytes]]:
    """The uploads of a round in the order of their devices, each with its device, about
    `AT_ONCE` bytes of them in memory at most."""
    sql = (
        "SELECT device, body FROM upload WHERE task = ? AND round = ? AND attempt = ? "
        "AND device > ? ORDER BY device LIMIT ?"
    )
    last_device, limit = "", 1
    while rows := session.run(sql, *key, last_device, limit):
        yield from ((device, bytes(body)) for device, body in rows)
        last_device = rows[-1][0]
        longest = max(len(body) for _, body in rows)
        limit = max(1, min(MOST_ROWS, AT_ONCE // longest))


class RoundTotal:
    """Sums modulo 2^bits; of sparse parts only the rows that someone sent. Reports are
    listed, not summed."""

    def __init__(self, parts: tuple[PartLayout, ...]) -> None:
        self.parts = parts
        self._sums = [np.zeros((part.size, part.width), f"<u{part.word_size}") for part in parts]
        self._seen = [np.zeros(part.size if part.sparse else 0, bool) for part in parts]
        self._reports: list[list[Any]] = [[] for _ in parts]
        self._rows: list[list[Section]] = [[] for _ in parts]
        """Of sparse parts, not added yet: a thousand small additions cost more than one."""
        self._pending = 0

    def add(self, body: bytes) -> None:
        """One more upload, which was checked when it was kept."""
        header, payload = split(body)
        # read as when it was kept: one that fails here would keep the sum of all from
        # being revealed
        counts = Upload.model_validate_json(header).rows
        received = sections(self.parts, counts, payload, checked=True)
        for index, (rows, words) in enumerate(received):
            if self.parts[index].report:
                self._reports[index].append(words)
            elif rows is None:
                self._sums[index] += words
            else:
                self._rows[index].append(Section(rows, words))
                self._pending += words.nbytes
        if self._pending > AT_A_TIME:
            self._add_rows()

    def _add_rows(self) -> None:
        """Add the rows that wait, each where it belongs; sums wrap."""
        for index, waiting in enumerate(self._rows):
            if not waiting:
                continue
            total = self._sums[index]
            listed = np.concatenate([section.rows for section in waiting])
            order = np.argsort(listed, kind="stable")
            rows, starts = np.unique(listed[order], return_index=True)
            words = np.concatenate([section.words for section in waiting])[order]
            total[rows] += np.add.reduceat(words, starts, 0, total.dtype)
            self._seen[index][rows] = True
            waiting.clear()
        self._pending = 0

    def sections(self) -> list[Section]:
        """The sums, part by part."""
        self._add_rows()
        return [self._section(index) for index in range(len(self.parts))]

    def _section(self, index: int) -> Section:
        part = self.parts[index]
        if part.report:
            return Section(None, np.concatenate(self._reports[index]))
        if part.sparse:
            rows = np.flatnonzero(self._seen[index]).astype(np.uint32)
            return Section(rows, self._sums[index][rows])
        return Section(None, self._sums[index])
