"""A server's own book of enrolment: one-time tickets, the limits of those who hand them out,
and who is banned.

Guarantee: a ticket enrols one device, once; the store keeps its digest alone, so whoever
reads the store cannot enrol. Two servers have two books: who may invent devices at one of them
may invent none at the other. Each function is part of one transaction and may run twice.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import NamedTuple

from tacit.errors import SettingError
from tacit.federation.server.store import Refusal, Transaction
from tacit.noise import bits

TICKET_BYTES = 16
"""Of a ticket: nobody guesses one."""
DAY = 86_400
MOST_AT_ONCE = 100_000
"""Tickets that are made in one transaction."""


class Label(NamedTuple):
    """The tickets of one label: those whom one operator, shop or release hands out."""

    name: str
    made: int
    used: int
    expired: int
    """Of those that were not used."""
    most: int | None
    """Devices that may enrol with them; None where nobody said."""


def new_tickets(count: int) -> list[str]:
    """So many tickets that nobody has seen."""
    if not 1 <= count <= MOST_AT_ONCE:
        raise SettingError(
            f"{count:,} tickets were asked for; 1 to {MOST_AT_ONCE:,} are made at a time"
        )
    source = bits.fresh()
    return [source.token(TICKET_BYTES).hex() for _ in range(count)]


def keep_tickets(session: Transaction, tickets: Sequence[str], label: str, days: float) -> None:
    """Write tickets into the book; they are good for so many days."""
    now = int(time.time())
    for ticket in tickets:
        session.run(
            "INSERT INTO ticket VALUES (?, ?, ?, ?, NULL, NULL) ON CONFLICT DO NOTHING",
            _digest(ticket),
            label,
            now,
            now + int(days * DAY),
        )


def limit_label(session: Transaction, label: str, limit: int) -> None:
    """At most so many devices enrol with the tickets of a label, however many there are."""
    session.run(
        "INSERT INTO ticket_limit VALUES (?, ?) ON CONFLICT (label) "
        "DO UPDATE SET most = excluded.most",
        label,
        limit,
    )


def revoke(session: Transaction, label: str) -> int:
    """Take back the tickets of a label that nobody has used."""
    return session.changed("DELETE FROM ticket WHERE label = ? AND device IS NULL", label)


def use_ticket(session: Transaction, ticket: str, device: str) -> None:
    """Enrol a device with a ticket, or refuse it. The same device may use it again: its
    first answer may have been lost."""
    rows = session.run(
        "SELECT label, expires, device FROM ticket WHERE digest = ?", _digest(ticket)
    )
    if not rows:
        raise Refusal(403, "a ticket of this server is needed")
    label, expires = rows[0][0], int(rows[0][1])
    user = rows[0][2]
    if user == device:
        return
    if user is not None:
        raise Refusal(403, "the ticket was used")
    now = int(time.time())
    if now > expires:
        raise Refusal(403, "the ticket has expired")
    limit_rows = session.run("SELECT most FROM ticket_limit WHERE label = ?", label)
    if limit_rows and _used(session, label) >= int(limit_rows[0][0]):
        raise Refusal(403, "no more devices are taken with tickets of this kind")
    session.run(
        "UPDATE ticket SET device = ?, used = ? WHERE digest = ?", device, now, _digest(ticket)
    )


def _used(session: Transaction, label: str) -> int:
    rows = session.run("SELECT COUNT(*) FROM ticket WHERE label = ? AND device IS NOT NULL", label)
    return int(rows[0][0])


def labels(session: Transaction) -> list[Label]:
    """What the book says, label by label: counts, and no device."""
    rows = session.run(
        "SELECT label, COUNT(*), COUNT(device), "
        "SUM(CASE WHEN device IS NULL AND expires < ? THEN 1 ELSE 0 END) "
        "FROM ticket GROUP BY label ORDER BY label",
        int(time.time()),
    )
    limits = dict(session.run("SELECT label, most FROM ticket_limit"))
    return [
        Label(row[0], int(row[1]), int(row[2]), int(row[3]), limits.get(row[0])) for row in rows
    ]


def ban(session: Transaction, devices: Sequence[str]) -> None:
    """Serve these devices no more."""
    for device in devices:
        session.run(
            "INSERT INTO banned VALUES (?, ?) ON CONFLICT DO NOTHING", device, int(time.time())
        )


def unban(session: Transaction, devices: Sequence[str]) -> None:
    """Serve these devices again."""
    for device in devices:
        session.run("DELETE FROM banned WHERE device = ?", device)


def of_label(session: Transaction, label: str) -> list[str]:
    """The devices that enrolled with the tickets of a label."""
    rows = session.run("SELECT device FROM ticket WHERE label = ? AND device IS NOT NULL", label)
    return [row[0] for row in rows]


def banned(session: Transaction) -> set[str]:
    """All who are served no more."""
    return {row[0] for row in session.run("SELECT device FROM banned")}


def _digest(ticket: str) -> str:
    return hashlib.sha256(b"tacit ticket" + ticket.encode()).hexdigest()
