"""Words on the wire: integers modulo 2^bits, in no more bits than they have.

A sum is kept in words of the machine (32 or 64 bits), of which the low `bits` count; the
others wrap and are left out. On the wire the words of a part stand one after another without
gaps, lowest bit first, and the last byte is filled with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 16
"""Words at a time, so that little memory is needed: a multiple of 8, so that a chunk ends
with a byte."""


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
