"""The aggregator: keeps masked contributions, sums who arrived, reveals one sum per round
and never a small one.

Guarantee (with a recommender that does not collude): it holds masked words only, which look
uniform to it. Of all attempts at a round it reveals at most one sum, once and for all, over
at least as many devices as every device in it was promised; an attempt that was given up is
never revealed. A contribution counts once, however often it is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from fastapi import FastAPI

from tacit.federation.protocol.keys import Identity
from tacit.federation.protocol.masks import mask
from tacit.federation.protocol.wire import (
    Closing,
    Layout,
    Opening,
    Sum,
    Upload,
    digest,
    layouts_print,
    pack,
    sections,
    unpack,
)
from tacit.federation.server.gate import DEVICES, Gate, Limits
from tacit.federation.server.store import Refusal, Session, Store
from tacit.noise import bits
from tacit.serving.http.plain import Call, Reply
from tacit.serving.http.watch import log

MIGRATIONS = (
    (
        *DEVICES,
        (
            "CREATE TABLE round (task TEXT, round INTEGER, attempt INTEGER, opening BLOB NOT NULL, "
            "least INTEGER NOT NULL, status TEXT NOT NULL, sum BLOB, PRIMARY KEY (task, "
            "round, attempt))"
        ),
        (
            "CREATE TABLE upload (task TEXT, round INTEGER, attempt INTEGER, device TEXT, "
            "digest TEXT NOT NULL, "
            "least INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (task, round, "
            "attempt, device))"
        ),
    ),
    ("CREATE TABLE blind (task TEXT PRIMARY KEY, seed BLOB NOT NULL, items BLOB)",),
)
_KEEP = (
    "INSERT INTO upload (task, round, attempt, device, digest, least, body) SELECT ?, ?, "
    "?, ?, ?, ?, ? FROM round "
    "WHERE task = ? AND round = ? AND attempt = ? AND status = 'open' ON CONFLICT DO NOTHING"
)
"""One statement for the contribution that is new and in time; only the others are looked into."""
AT_ONCE = 64 << 20
"""Bytes of uploads in memory while a round is summed."""
POLL = 0.1
"""Seconds between looks at the store, for uploads that came through another process."""


@dataclass
class _Open:
    """What this process knows of an open round; the store is the truth."""

    opening: Opening
    agreed: str
    here: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    wanted: int = 1 << 60


def aggregator_app(
    location: str,
    identity: Identity,
    recommender: str,
    limits: Limits | None = None,
    token: str | None = None,
    least: int = 2,
) -> FastAPI:
    """The app. `recommender` is the pinned identity of the one server that may open rounds;
    `least` is this server's own minimum cohort, whatever a recommender asks for."""
    store = Store(location, MIGRATIONS, "aggregator")
    gate = Gate("aggregator", identity, store, limits or Limits(), token)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        log("aggregator ready")
        yield
        log("aggregator stops")
        store.close()

    app = gate.app(lifespan=lifespan)
    handler = _Aggregator(gate, store, bytes.fromhex(recommender), least)
    gate.route("/v1/open", handler.open)
    gate.route("/v1/upload", handler.upload)
    gate.route("/v1/close", handler.close)
    return app


class _Aggregator:
    def __init__(
        self, gate: Gate, store: Store, recommender: bytes, least: int
    ) -> None:
        self.gate = gate
        self.store = store
        self.recommender = recommender
        self.least = least
        self._rounds: dict[tuple[str, int, int], _Open] = {}

    async def open(self, request: Call) -> Reply:
        """A round begins. Opening twice is opening once; a revealed round opens no more."""
        body = await self.gate.body(request)
        self.gate.signed(request, body, self.recommender)
        opening, _ = unpack(Opening, body)
        if opening.least < self.least:
            raise Refusal(403, f"this aggregator sums at least {self.least} devices")

        def work(session: Session) -> None:
            key = (opening.task, opening.round)
            if session.run(
                "SELECT 1 FROM round WHERE task = ? AND round = ? AND status = 'revealed'",
                *key,
            ):
                raise Refusal(409, "a sum of this round was revealed already")
            session.run(
                "INSERT INTO round VALUES (?, ?, ?, ?, ?, 'open', NULL) ON CONFLICT DO NOTHING",
                *key,
                opening.attempt,
                body,
                opening.least,
            )
            session.run(
                "DELETE FROM upload WHERE task = ? AND round < ?", *key
            )  # summed, revealed, of no more use
            session.run(
                "UPDATE round SET sum = NULL WHERE task = ? AND round < ?", *key
            )

        await self.store.write(work)
        log("round opened", round=opening.round, attempt=opening.attempt)
        return self._answer(body, b"{}")

    async def upload(self, request: Call) -> Reply:
        """A masked contribution. The same again is fine; another one from the same device
        is not."""
        body = await self.gate.body(request)
        caller = await self.gate.caller(request, body)
        message, payload = unpack(Upload, body)
        key = (message.task, message.round, message.attempt)
        known = await self._known(key)
        sections(known.opening.parts, message.rows, payload)  # refuses a wrong length
        if message.layouts != known.agreed:
            raise Refusal(
                403, "the device agreed to other sums than the recommender has opened"
            )
        if message.least < self.least:
            raise Refusal(403, "the device was promised too small a cohort")
        print_ = digest(body)

        row = (*key, caller.device, print_, message.least, body)

        def work(session: Session) -> bool:
            if session.changed(_KEEP, *row, *key):
                return True
            rows = session.run(
                "SELECT status FROM round WHERE task = ? AND round = ? AND attempt = ?",
                *key,
            )
            if not rows:
                raise Refusal(404, "no such round")
            found = session.run(
                "SELECT digest FROM upload WHERE task = ? AND round = ? AND attempt = ? "
                "AND device = ?",
                *key,
                caller.device,
            )
            if found:
                if found[0][0] != print_:
                    raise Refusal(
                        409, "another contribution of this device was counted"
                    )
                return False
            raise Refusal(410, "the round is over")

        if await self.store.write(work):
            self.gate.metrics.add("uploads")
            known.here += 1
            if known.here >= known.wanted:
                known.news.set()
        return self.gate.reply(caller, b"{}")

    async def close(self, request: Call) -> Reply:
        """Wait for who is expected, then reveal the sum; or give the attempt up if too few came."""
        body = await self.gate.body(request)
        self.gate.signed(request, body, self.recommender)
        closing, _ = unpack(Closing, body)
        key = (closing.task, closing.round, closing.attempt)
        known = await self._known(key)
        if not closing.give_up:
            await self._wait(known, key, closing)
        revealed = await self.store.write(
            lambda session: self._reveal(session, key, closing.give_up)
        )
        self._rounds.pop(key, None)
        if revealed is None:
            log("attempt given up", round=closing.round, attempt=closing.attempt)
            return self._answer(body, b"{}", 409)
        self.gate.metrics.add("bytes_to_recommender", len(revealed))
        log(
            "sum revealed",
            round=closing.round,
            attempt=closing.attempt,
            bytes=len(revealed),
        )
        return self._answer(body, revealed)

    def _answer(self, request: bytes, payload: bytes, status: int = 200) -> Reply:
        signature = self.gate.identity.sign(b"answer", request, payload)
        return Reply(payload, status, tacit_signature=signature)

    async def _known(self, key: tuple[str, int, int]) -> _Open:
        if key not in self._rounds:
            sql = (
                "SELECT opening FROM round WHERE task = ? AND round = ? AND attempt = ?"
            )
            rows = await self.store.read(lambda s: s.run(sql, *key))
            if not rows:
                raise Refusal(404, "no such round")
            opening, _ = unpack(Opening, bytes(rows[0][0]))
            if len(self._rounds) > 64:
                self._rounds.clear()
            self._rounds.setdefault(key, _Open(opening, layouts_print(opening.parts)))
        return self._rounds[key]

    async def _wait(
        self, known: _Open, key: tuple[str, int, int], closing: Closing
    ) -> None:
        sql = "SELECT COUNT(*) FROM upload WHERE task = ? AND round = ? AND attempt = ?"
        status = "SELECT status FROM round WHERE task = ? AND round = ? AND attempt = ?"
        loop = asyncio.get_running_loop()
        until = loop.time() + closing.wait
        known.wanted = closing.expected
        while True:
            arrived, now = await self.store.read(
                lambda s: (s.run(sql, *key)[0][0], s.run(status, *key)[0][0])
            )
            left = until - loop.time()
            if arrived >= closing.expected or left <= 0 or now != "open":
                return
            known.news.clear()
            try:
                await asyncio.wait_for(known.news.wait(), min(left, POLL * 5))
            except TimeoutError:
                continue

    def _reveal(
        self, session: Session, key: tuple[str, int, int], give_up: bool
    ) -> bytes | None:
        """In one transaction: the sum that was revealed, or is revealed now, or None for ever."""
        rows = session.run(
            "SELECT status, sum, opening, least FROM round WHERE task = ? AND round = ? "
            "AND attempt = ?",
            *key,
        )
        status, found, opening, least = rows[0]
        if status == "revealed" and found is not None:
            return bytes(found)
        if status != "open":
            return None
        who = session.run(
            "SELECT device, least FROM upload WHERE task = ? AND round = ? AND attempt = "
            "? ORDER BY device",
            *key,
        )
        other = session.run(
            "SELECT 1 FROM round WHERE task = ? AND round = ? AND status = 'revealed'",
            *key[:2],
        )
        needed = max([int(least), self.least, *(int(row[1]) for row in who)])
        if give_up or other or len(who) < needed:
            session.run(
                "UPDATE round SET status = 'given up' WHERE task = ? AND round = ? AND attempt = ?",
                *key,
            )
            session.run(
                "DELETE FROM upload WHERE task = ? AND round = ? AND attempt = ?", *key
            )
            return None
        parts = unpack(Opening, bytes(opening))[0].parts
        total = _total(parts, _bodies(session, key))
        total = [
            self._blind(session, key[0], part, *pair)
            for part, pair in zip(parts, total, strict=True)
        ]
        header = Sum(
            task=key[0],
            round=key[1],
            attempt=key[2],
            cohort=len(who),
            rows=tuple(len(index) for index, _ in total if index is not None),
        )
        payload = b"".join(bytes.fromhex(row[0]) for row in who)
        payload += b"".join(
            (b"" if i is None else i.astype("<u4").tobytes()) + w.tobytes()
            for i, w in total
        )
        revealed = pack(header, payload)
        session.run(
            "UPDATE round SET status = 'revealed', sum = ? WHERE task = ? AND round = ? "
            "AND attempt = ?",
            revealed,
            *key,
        )
        return revealed

    def _blind(
        self, session: Session, task: str, part: Layout, index: Any, words: Any
    ) -> tuple[Any, Any]:
        """Hua et al.'s alpha: a secret vector for each item, added when eta is made and
        taken off in every round."""
        if not part.blind or index is None:
            return index, words
        rows = session.run("SELECT seed, items FROM blind WHERE task = ?", task)
        if not rows and part.blind == "subtract":
            return index, words
        if not rows:
            seed = bits.fresh().token(32)
            session.run(
                "INSERT INTO blind VALUES (?, ?, ?)",
                task,
                seed,
                index.astype("<u4").tobytes(),
            )
            items = index
        else:
            seed, items = bytes(rows[0][0]), np.frombuffer(bytes(rows[0][1]), "<u4")
        alpha = mask(seed, "alpha", part.size, part.width, part.bits)[index]
        alpha = np.where(np.isin(index, items)[:, None], alpha, 0)
        return index, (words + alpha if part.blind == "add" else words - alpha).astype(
            words.dtype
        )


def _bodies(session: Session, key: tuple[str, int, int]) -> Iterator[bytes]:
    """The uploads of a round in the order of their devices, about `AT_ONCE` bytes of them
    in memory at most."""
    sql = (
        "SELECT device, body FROM upload WHERE task = ? AND round = ? AND attempt = ? AND "
        "device > ? "
        "ORDER BY device LIMIT ?"
    )
    last, many = "", 1
    while rows := session.run(sql, *key, last, many):
        yield from (bytes(body) for _, body in rows)
        last, many = (
            rows[-1][0],
            max(1, min(1000, AT_ONCE // max(len(body) for _, body in rows))),
        )


def _total(parts: tuple[Layout, ...], bodies: Iterable[bytes]) -> list[tuple[Any, Any]]:
    """Sums modulo 2^bits; of sparse parts only the rows that someone sent. Reports are
    listed, not summed."""
    sums = [np.zeros((part.size, part.width), f"<u{part.word}") for part in parts]
    seen = [np.zeros(part.size if part.sparse else 0, bool) for part in parts]
    reports: list[list[Any]] = [[] for _ in parts]
    for body in bodies:
        message, payload = unpack(Upload, body)
        for place, (index, words) in enumerate(sections(parts, message.rows, payload)):
            if parts[place].report:
                reports[place].append(words)
            elif index is None:
                sums[place] += words
            else:
                sums[place][index] += words  # rows of one device are distinct
                seen[place][index] = True
    out: list[tuple[Any, Any]] = []
    for place, (part, total, rows) in enumerate(zip(parts, sums, seen, strict=True)):
        if part.report:
            out.append((None, np.concatenate(reports[place])))
            continue
        index = np.flatnonzero(rows).astype(np.uint32) if part.sparse else None
        out.append((index, total if index is None else total[index]))
    return out
