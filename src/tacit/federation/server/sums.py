"""Contributions are added up: those of a round as one sum, or as a few of groups that chance
made. The masks are still on.

Sums are modulo 2^bits. Little is in memory at a time, however many devices there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import SystemRandom
from typing import Any

import numpy as np

from tacit.federation.agreed.scheme import scheme_of_layouts
from tacit.federation.protocol.packing import packed
from tacit.federation.protocol.wire import (
    Opening,
    PartLayout,
    Section,
    Sum,
    Upload,
    pack,
    sections,
    split,
)
from tacit.federation.server.store import Transaction

AT_ONCE = 64 << 20
"""Bytes of uploads in memory while a round is summed."""
MOST_ROWS = 1000
"""Uploads that are read at a time, however short they are."""
AT_A_TIME = 16 << 20
"""Bytes of rows that are added up as one."""


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
