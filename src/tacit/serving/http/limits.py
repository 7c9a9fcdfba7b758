"""How much one sender may ask of a server: limits, and the buckets that keep count of them.

Limits are per sender where the sender is known, which is after its message has verified; a
stranger must not be able to use up the allowance of somebody else.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

MOST_SENDERS = 100_000
"""Senders that are counted at a time: strangers may not fill the memory."""


@dataclass(frozen=True)
class Limits:
    """Of what one sender may do."""

    body: int = 64 << 20
    """Bytes of one message."""
    body_seconds: float = 30.0
    """For a message to arrive whole."""
    rate: float = 50.0
    """Requests a second of one device, with bursts of twice as many."""
    enrol_rate: float = 2000.0
    """New devices a second, from all addresses together."""
    devices: int = 10_000_000
    """That are enrolled in all."""


class Buckets:
    """A bucket for each sender, which refills at a rate and holds twice as much.

    A sender that is seen for the first time has a full one. When there are too many senders
    all buckets are thrown away, which gives everybody a full one and costs no memory.
    """

    def __init__(self) -> None:
        self._levels: dict[str, tuple[float, float]] = {}

    def take(self, sender: str, rate: float) -> bool:
        """Whether the sender, who has `rate` requests a second, may make one now.

        Being refused costs nothing: the bucket goes on filling.
        """
        now = time.monotonic()
        level, last = self._levels.get(sender, (2 * rate, now))
        level = min(2 * rate, level + (now - last) * rate)
        if level < 1:
            return False
        if len(self._levels) > MOST_SENDERS:
            self._levels.clear()
        self._levels[sender] = (level - 1, now)
        return True
