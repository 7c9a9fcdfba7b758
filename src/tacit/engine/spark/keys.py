"""Secret words of people on a cluster: a keyed hash of a person, and of it and a round.

A task may be run again, or twice at once. A word that were drawn there would be another one
each time, and some sums would have a person in and others out. So the driver draws a *key*
from the system's entropy, once for the run and once for each round, and a task computes
words from it.

Guarantee: given the key, the words of a round are a function of a person's id alone. They
cannot be told from independent uniform words as long as AES and blake2b cannot be told from
random functions (a person's 128-bit digest is hit by another one with chance below
people^2 / 2^129), which is what the bits of `tacit.noise.bits` rest on too. So a coin of a
round is as secret and as independent as one that is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from tacit.noise import bits

WIDE = 16
"""Bytes of a person's digest: one block of AES."""
MARK = 16
"""Bytes that stand for a set of people."""

Digests = NDArray[np.uint8]
"""One row of `WIDE` bytes for each person."""


def fresh_key() -> bytes:
    """A key that nobody has seen; drawn on the driver alone."""
    return bits.fresh().token(32)


def digests(ids: Iterable[str], key: bytes) -> Digests:
    """What stands for each person in this run, and in no other."""
    start = blake2b(key=key, digest_size=WIDE)
    out = bytearray()
    for name in ids:
        hasher = start.copy()
        hasher.update(name.encode())
        out += hasher.digest()
    return np.frombuffer(bytes(out), np.uint8).reshape(-1, WIDE)


def secret_words(key: bytes, people: Digests) -> NDArray[np.uint64]:
    """A secret word for each of these people."""
    cipher = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    hashed = cipher.update(np.ascontiguousarray(people).tobytes())
    return np.frombuffer(hashed, np.uint64).reshape(-1, 2)[:, 0].copy()


def cell_words(
    key: bytes, people: Digests, owner: NDArray[np.int64], item: NDArray[np.unsignedinteger]
) -> NDArray[np.uint64]:
    """A secret word for each rating: of its person (a row of `people`) and its item."""
    cells = np.ascontiguousarray(people).view(np.uint64).reshape(-1, 2)[owner]
    cells[:, 0] ^= item.astype(np.uint64)
    return secret_words(key, cells.view(np.uint8).reshape(-1, WIDE))


def mark_of(ids: Iterable[str]) -> int:
    """What stands for a set of people, whatever their order: a sum of hashes, of which no
    single one leaves an executor. The book keeps only a keyed digest of it."""
    total = 0
    for name in ids:
        hashed = blake2b(name.encode(), digest_size=MARK).digest()
        total += int.from_bytes(hashed, "little")
    return total % (1 << 8 * MARK)
