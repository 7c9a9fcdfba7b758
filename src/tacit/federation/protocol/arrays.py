"""Named arrays on the wire: safetensors, sorted by name, so that packing twice is equal."""

from __future__ import annotations

import json
import struct
from collections.abc import Collection, Mapping
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.federation.protocol.wire import WireError, digest

_KINDS = {
    f"{'|' if n == 1 else '<'}{c}{n}": f"{c.upper()}{8 * n}" for c in "fiu" for n in (1, 2, 4, 8)
}
_KINDS["|b1"] = "BOOL"
"""What safetensors calls the types of numpy."""
LENGTH_BYTES = 8
"""Of the length that a payload begins with."""
MOST_REMEMBERED = 4096
"""Bytes of a beginning that is worth remembering."""
Form = tuple[str, np.dtype[Any], tuple[int, ...], int]
"""Name, type, shape and place of an array."""
FEW = 64
"""Arrays of a state; a store's own list of a thousand payloads comes once and is long."""
RECENT = 4
"""Answers that are kept: most devices of a round hold the same rows."""


def pack_state(state: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as safetensors, written here: it is done for every device and round.

    Guarantee: equal arrays under equal names are equal bytes, whatever their order was, for
    masks are keyed by a digest of them. A single number becomes an array of one.
    """
    # packed twice it must be equal, byte for byte
    arrays = [(name, np.ascontiguousarray(state[name])) for name in sorted(state)]
    forms = tuple((name, array.dtype.str, array.shape) for name, array in arrays)
    make = _beginning if len(forms) <= FEW else _beginning.__wrapped__
    return b"".join([make(forms), *(array.tobytes() for _, array in arrays)])


@lru_cache(maxsize=256)
def _beginning(forms: tuple[tuple[str, str, tuple[int, ...]], ...]) -> bytes:
    """What stands before the data of arrays with these names, types and shapes. Devices of a
    round get arrays of a few forms, so it is remembered."""
    facts = dict[str, Any]()
    at = 0
    for name, kind, shape in forms:
        size = np.dtype(kind).itemsize * prod(shape)
        facts[name] = {"dtype": _KINDS[kind], "shape": shape, "data_offsets": (at, at := at + size)}
    text = json.dumps(facts).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def unpack_state(data: bytes | memoryview) -> dict[str, NDArray[Any]]:
    """The arrays of `pack_state`, or of any other writer of safetensors.

    Only whether it parses is checked here; what belongs into a state is for whoever asked
    for it to say (`tacit.federation.agreed.expect`).
    """
    view = memoryview(data)
    start = LENGTH_BYTES + int.from_bytes(view[:LENGTH_BYTES], "little")
    if start > MOST_REMEMBERED:
        return _loaded(bytes(view))
    forms = _array_forms(bytes(view[:start]), len(view) - start)
    out = dict[str, NDArray[Any]]()
    for name, kind, shape, at in forms:
        end = start + at + kind.itemsize * prod(shape)
        # a copy of its own, so that it is aligned and may be written to
        copied = bytearray(view[start + at : end])
        out[name] = np.frombuffer(copied, kind).reshape(shape)
    return out


@lru_cache(maxsize=256)
def _array_forms(beginning: bytes, size: int) -> list[Form]:
    """Where the arrays of a payload are that begins so and has so many bytes of data: what
    the library makes of it, asked once for each form."""
    arrays = _loaded(beginning + bytes(max(0, size)))
    facts = json.loads(beginning[LENGTH_BYTES:])
    return [
        (name, array.dtype, array.shape, facts[name]["data_offsets"][0])
        for name, array in arrays.items()
    ]


def _loaded(data: bytes) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(data))
    # a kind of number that numpy has not ends in one of the others
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError):
        raise WireError("public state that does not parse") from None


# Arrays that grow by a row in every round: a device that has the earlier rows is sent the new
# ones alone.
#
# Shin et al.'s Algorithm 2 tells everybody one small gradient a round, and everybody takes the
# step. A device that missed some rounds needs their gradients too. So it says how many rows it
# holds, gets the rest, and puts the whole together: these very bytes are what its mask is
# keyed by, so `Announcement.whole` names them, and a device that comes to others asks again.


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
