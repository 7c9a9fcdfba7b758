"""Join tickets: the recommender's word that a device is in an attempt at a round.

Guarantee: an upload counts only with the ticket of its own device for this very attempt. So
the sum is over devices that joined, whose masks the recommender can take off, and a device
that was not asked cannot put words into it.
"""

from __future__ import annotations

from tacit.federation.protocol.keys import Identity, verify


def ticket(
    identity: Identity, task: str, round_: int, attempt: int, device: str
) -> str:
    """A signature of the recommender. The same again for the same device and attempt."""
    return identity.sign(*_parts(task, round_, attempt, device))


def is_ticket(
    given: str, pin: bytes, task: str, round_: int, attempt: int, device: str
) -> bool:
    """Whether the recommender with this identity gave the ticket to this device."""
    return verify(pin, given, *_parts(task, round_, attempt, device))


def _parts(
    task: str, round_: int, attempt: int, device: str
) -> tuple[bytes, ...]:
    where = f"{task} {round_} {attempt} {device}"
    return b"ticket", where.encode()
