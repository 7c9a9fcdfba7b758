"""Masks: a keyed keystream that hides a contribution from the aggregator, and that the
recommender can take off.

Guarantee: the key of a device's mask is a MAC of the round under a secret of that device
and the recommender, so to the aggregator the masked words are uniform (AES-256 in counter
mode, a key used for one vector of one round only). The recommender sees sums only, from
which it takes the masks of exactly the devices that were summed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from tacit.federation.protocol.keys import derived
from tacit.federation.protocol.packing import word_bytes

_START = bytes(16)


def round_key(secret: bytes, task: str, round_: int, nonce: str, state_digest: str) -> bytes:
    """One key for one device, round and `state_digest` (digest of the state it was given).

    A re-run of the round with the same state has the same, so the same words can be sent
    again; another state never meets the same mask, for the difference of two vectors under
    one mask hides nothing.
    """
    return derived(secret, f"{task} {round_} {nonce} {state_digest}")


def stream(key: bytes, label: str) -> Any:
    """The keystream of one part; `keystream` reads on from where the last call ended."""
    part_key = derived(key, label)
    return Cipher(algorithms.AES256(part_key), modes.CTR(_START)).encryptor()


def keystream(source: Any, count: int, bits: int) -> NDArray[Any]:
    """The next `count` words, of which the low `bits` count, uniform."""
    word_size = word_bytes(bits)
    return np.frombuffer(source.update(bytes(count * word_size)), f"<u{word_size}")


def mask(key: bytes, label: str, rows: int, width: int, bits: int) -> NDArray[Any]:
    """The mask of a whole part: uniform words of its shape."""
    return keystream(stream(key, label), rows * width, bits).reshape(rows, width)
