"""What the aggregator's store knows: attempts at rounds, masked contributions, and the one
sum of a round that is ever revealed.

Guarantee: of all attempts at a round at most one is revealed, once and for all, and each sum
of it (one, or one for each of several groups) is over at least as many devices as every device
in it was promised; an attempt that was given up is
never revealed. A contribution counts once, however often it is sent. Each method is one
transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tacit.federation.agreed.scheme import printed_tables
from tacit.federation.protocol.wire import Opening, digest, unpack
from tacit.federation.server.store import Refusal, ServerStore, Transaction
from tacit.federation.server.sums import groups_of, summed
from tacit.federation.server.tables import statements

MIGRATIONS = (
    (*statements("devices"), *statements("aggregator")),
    *printed_tables(),
    statements("rotations"),
    statements("enrolment"),
)
"""The steps that make the store's tables."""


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
