"""Arrays that grow by a row in every round: a device that has the earlier rows is sent the new
ones alone.

Shin et al.'s Algorithm 2 tells everybody one small gradient a round, and everybody takes the
step. A device that missed some rounds needs their gradients too. So it says how many rows it
holds, gets the rest, and puts the whole together: these very bytes are what its mask is
keyed by, so `Announcement.whole` names them, and a device that comes to others asks again.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.wire import digest

RECENT = 4
"""Answers that are kept: most devices of a round hold the same rows."""


@lru_cache(RECENT)
def without_held_rows(payload: bytes, names: frozenset[str], held: int) -> bytes | None:
    """The payload without the first `held` rows of these arrays; None where there are not
    as many, so that all of it must be sent."""
    arrays = unpack_state(payload)
    growing = [name for name in names if name in arrays]
    if not held or not growing:
        return None
    if any(len(arrays[name]) < held for name in growing):
        return None
    return pack_state(arrays | {name: arrays[name][held:] for name in growing})


class Held:
    """The rows that one device has, of all arrays that grow."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self._arrays: dict[str, NDArray[Any]] = {}

    @property
    def rows(self) -> int:
        """How many of each."""
        return min((len(array) for array in self._arrays.values()), default=0)

    def complete(self, payload: bytes | memoryview, since: int, name: str) -> memoryview | None:
        """The payload with the rows before `since` put in again, kept for the next time;
        None if these are not the bytes that are named, and then nothing is held."""
        if not self.names:
            return memoryview(payload)
        arrays = unpack_state(payload)
        if since:
            held_rows, self._arrays = self._arrays, {}
            if any(len(rows) != since for rows in held_rows.values()):
                return None
            try:
                for held, rows in held_rows.items():
                    arrays[held] = np.concatenate([rows, arrays[held]])
            except (KeyError, ValueError):  # rows of another width, or none
                return None
            payload = pack_state(arrays)
            if digest(payload) != name:
                return None
        self._arrays = {n: arrays[n] for n in self.names if n in arrays}
        return memoryview(payload)
