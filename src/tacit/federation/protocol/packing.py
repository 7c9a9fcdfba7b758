"""Words on the wire: integers modulo 2^bits, in no more bits than they have.

A sum is kept in words of the machine (32 or 64 bits), of which the low `bits` count; the
others wrap and are left out. On the wire the words of a part stand one after another without
gaps, lowest bit first, and the last byte is filled with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from tacit.federation.protocol.keys import derived

CHUNK = 1 << 16
"""Words at a time, so that little memory is needed: a multiple of 8, so that a chunk ends
with a byte."""
_START = bytes(16)


def word_bytes(bits: int) -> int:
    """Of a word in memory."""
    return 4 if bits <= 32 else 8


def packed_size(count: int, bits: int) -> int:
    """Bytes of so many words on the wire."""
    return -(-count * bits // 8)


def packed(words: NDArray[Any], bits: int) -> bytes:
    """Words on their way: the low `bits` of each."""
    word_size = word_bytes(bits)
    flat = np.ascontiguousarray(words, f"<u{word_size}").ravel()
    if bits == 8 * word_size:
        return flat.tobytes()
    return b"".join(
        np.packbits(
            np.unpackbits(
                flat[chunk].view(np.uint8).reshape(-1, word_size),
                axis=1,
                count=bits,
                bitorder="little",
            ),
            bitorder="little",
        ).tobytes()
        for chunk in _chunks(len(flat))
    )


def unpacked(data: bytes | memoryview, count: int, bits: int) -> NDArray[Any]:
    """The words of `packed`."""
    word_size = word_bytes(bits)
    if bits == 8 * word_size:
        return np.frombuffer(data, f"<u{word_size}", count)
    words = np.zeros(count, f"<u{word_size}")
    source = np.frombuffer(data, np.uint8)
    for chunk in _chunks(count):
        chunk_words = min(CHUNK, count - chunk.start)
        start = chunk.start * bits // 8
        single = np.unpackbits(
            source[start : start + packed_size(chunk_words, bits)],
            count=chunk_words * bits,
            bitorder="little",
        )
        word_rows = np.packbits(single.reshape(chunk_words, bits), axis=1, bitorder="little")
        words[chunk].view(np.uint8).reshape(chunk_words, word_size)[:, : word_rows.shape[1]] = (
            word_rows
        )
    return words


def _chunks(count: int) -> Iterator[slice]:
    return (slice(at, at + CHUNK) for at in range(0, count, CHUNK))


# Masks: a keyed keystream that hides a contribution from the aggregator, and that the
# recommender can take off.
#
# Guarantee: the key of a device's mask is a MAC of the round under a secret of that device
# and the recommender, so to the aggregator the masked words are uniform (AES-256 in counter
# mode, a key used for one vector of one round only). The recommender sees sums only, from
# which it takes the masks of exactly the devices that were summed.


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
