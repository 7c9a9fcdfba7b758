"""Draws from a table of strips: the loop around the compiled one, over chunks of bits and
threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure, SettingError
from tacit.noise.bits import Bits, fresh
from tacit.noise.strips import Strips

_CHUNK_WORDS = 1 << 15
_THREAD_DRAWS = 1 << 16


def draw(
    strips: Strips, n: int, bits: Bits | None = None, threads: int = 1, margin: float | None = None
) -> NDArray[np.int64]:
    """`n` draws from a table. With several threads each has bits of its own, fresh from the system.

    `margin` may be raised (never lowered) in tests, to send more draws down the exact path.
    """
    from tacit.noise import kernels

    if n < 0 or threads < 1:
        raise SettingError(
            "a number of draws or threads is negative",
            remedy="ask for at least 0 draws and 1 thread",
        )
    out = np.empty(n, dtype=np.int64)
    margin = kernels.MARGIN if margin is None else max(margin, kernels.MARGIN)
    parts = min(threads, 1 + n // _THREAD_DRAWS)
    if parts == 1:
        _fill(strips, out, bits or fresh(), margin)
        return out
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(parts) as pool:
        for future in [
            pool.submit(_fill, strips, part, fresh(), margin) for part in np.array_split(out, parts)
        ]:
            future.result()
    return out


def _fill(strips: Strips, out: NDArray[np.int64], bits: Bits, margin: float) -> None:
    from tacit.noise import kernels

    event = np.zeros(4, dtype=np.int64)
    at, n = 0, out.size
    while at < n:
        words = bits.words(min(_CHUNK_WORDS, 3 * (n - at) + 16))
        word, stuck = 0, True
        while stuck:
            reached = kernels.strip_draws(
                words,
                out,
                at,
                word,
                strips.log_width,
                strips.threshold,
                strips.alias,
                strips.squeeze,
                strips.top,
                strips.slope,
                strips.curve,
                strips.strips,
                strips.strips + 1,
                margin,
                event,
            )
            at, word = reached[:2]
            stuck = reached[2]
            if stuck:
                negative = bool(event[2])
                magnitude = strips.settle(int(event[0]), int(event[1]), int(event[3]), bits)
                if magnitude is None or (magnitude == 0 and negative):
                    continue
                if magnitude >= 1 << 63:
                    raise Failure(
                        "a noise draw does not fit 64 bits (chance below exp(-8192)); "
                        "nothing was released"
                    )
                out[at] = -magnitude if negative else magnitude
                at += 1
