"""Random bits: an AES-256 counter keystream, keyed by the operating system, a fresh key for
every generator.

Guarantee: every privacy draw reads words of a `Bits`. Its key and start come from
`os.urandom` when it is made, again in the child after a fork, and again after
`_REKEY_BYTES`; nothing can set or read them. Two generators, two threads and two processes
therefore never share a stream. The samplers are exact *given ideal bits*; that these bits
cannot be told from ideal ones is the usual assumption on AES (a counter stream of 2^32
blocks adds at most 2^-65, by the birthdays).

Tests replace the one source of entropy through `tacit.testing`; while they do, `injected()`
is true, and a generator made then says so for ever (`Bits.injected`), so that a release can
be marked NOT PRIVATE.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import overload
from weakref import WeakSet

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from tacit.errors import SettingError

_CHUNK_WORDS = 1 << 15
_ZEROS = bytes(8 * _CHUNK_WORDS)
_SLACK = 2  # words: older `cryptography` wants room for a block more than it writes
_REKEY_BYTES = 1 << 36
_SMALL_WORDS = 64

_source: Callable[[int], bytes] = os.urandom
_forks = 0


def _after_fork() -> None:
    """In the child: make every stream take a new key, and free locks that a thread of the
    parent was holding."""
    global _forks
    _forks += 1
    for bits in list(_living):
        bits._lock = threading.Lock()


def injected() -> bool:
    """Whether tests have replaced the system's entropy: whatever is drawn now is NOT PRIVATE."""
    return _source is not os.urandom


@contextmanager
def _inject(source: Callable[[int], bytes]) -> Iterator[None]:
    """Draw all entropy from `source(nbytes)` meanwhile. For `tacit.testing` only, which
    re-exports it."""
    global _source
    previous, _source = _source, source
    try:
        yield
    finally:
        _source = previous


class Bits:
    """One stream of random words. Safe to share between threads, but faster with one for
    each: see `fresh`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._home: tuple[int, int] | None = None
        self.injected = False
        self._key()
        _living.add(self)

    def _key(self) -> None:
        """Take a new key and counter from the system and forget what was buffered."""
        self.injected = self.injected or injected()
        seed = _source(48)
        if len(seed) != 48:
            raise SettingError(
                "the source of entropy returned too few bytes",
                remedy="return exactly as many as asked",
            )
        self._cipher = Cipher(algorithms.AES256(seed[:32]), modes.CTR(seed[32:])).encryptor()
        self._home, self._left = (os.getpid(), _forks), _REKEY_BYTES
        self._small: list[int] = []

    def _fill(self, n: int) -> NDArray[np.uint64]:
        out = np.empty(n + _SLACK, dtype=np.uint64)
        for start in range(0, n, _CHUNK_WORDS):
            count = min(_CHUNK_WORDS, n - start)
            if self._left < 8 * count:
                self._key()
            self._left -= 8 * count
            data = _ZEROS if count == _CHUNK_WORDS else bytes(8 * count)
            self._cipher.update_into(data, out[start : start + count + _SLACK].view(np.uint8).data)
        return out[:n]

    def _check_home(self) -> None:
        # The process id alone could be reused, the counter alone could be missed by a raw
        # clone: look at both.
        if self._home != (os.getpid(), _forks):
            self._key()

    def words(self, n: int) -> NDArray[np.uint64]:
        """`n` independent uniform 64-bit words."""
        with self._lock:
            self._check_home()
            return self._fill(n)

    def word(self) -> int:
        """One uniform 64-bit word as a Python integer."""
        with self._lock:
            self._check_home()
            if not self._small:
                self._small = self._fill(_SMALL_WORDS).tolist()
            return self._small.pop()

    def bits(self, count: int) -> int:
        """A uniform integer of `count` bits."""
        value = 0
        for _ in range(-(-count // 64)):
            value = value << 64 | self.word()
        return value >> (-count % 64)

    @overload
    def below(self, n: int) -> int: ...
    @overload
    def below(self, n: int, size: int) -> NDArray[np.int64]: ...
    def below(self, n: int, size: int | None = None) -> int | NDArray[np.int64]:
        """Exactly uniform integers in 0..n-1, one or an array of `size`: just enough bits,
        drawn again if too big."""
        if n < 1 or (size is not None and n > 1 << 63):
            raise SettingError(
                f"cannot draw a number below {n}", remedy="ask for 1 to 2^63 possible values"
            )
        width = (n - 1).bit_length()
        if size is None:
            while (candidate := self.bits(width)) >= n:
                pass
            return candidate
        out = np.zeros(size, dtype=np.int64)
        if width == 0:
            return out
        filled = 0
        while filled < size:
            accepted = (self.words(2 * (size - filled) + 16) >> np.uint64(64 - width)).astype(
                np.int64
            )
            accepted = accepted[accepted < n][: size - filled]
            out[filled : filled + accepted.size] = accepted
            filled += accepted.size
        return out

    def token(self, nbytes: int) -> bytes:
        """`nbytes` uniform bytes, for keys and nonces."""
        return self.words(-(-nbytes // 8)).tobytes()[:nbytes]

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("random bits cannot be copied or sent elsewhere: call fresh() there")


_living: WeakSet[Bits] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def fresh() -> Bits:
    """The one getter: a new generator with fresh entropy. Call it once for every release
    and thread."""
    return Bits()
