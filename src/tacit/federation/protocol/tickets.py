"""Join tickets: the recommender's word that a device is in an attempt at a round.

Guarantee: an upload counts only with the ticket of its own device for this very attempt. So
the sum is over devices that joined, whose masks the recommender can take off, and a device
that was not asked cannot put words into it.

A ticket is a MAC under a key that the two servers share (`Identity.ticket_key`), and that no
device has. The aggregator could make one too, as it could invent words; the recommender
takes no sum over a device that did not join. A signature would promise no more, and costs
both servers thirty times as much.
"""

from __future__ import annotations

from tacit.federation.protocol.keys import same, tag


def ticket(key: bytes, task: str, round_: int, attempt: int, device: str) -> str:
    """A MAC of the recommender. The same again for the same device and attempt."""
    context = f"{task} {round_} {attempt} {device}"
    return tag(key, b"ticket", context.encode())


def is_ticket(claimed: str, key: bytes, task: str, round_: int, attempt: int, device: str) -> bool:
    """Whether the recommender that shares this key gave the ticket to this device."""
    return same(claimed, ticket(key, task, round_, attempt, device))
