"""One device's portion of the noise of a sum that many devices make together.

Guarantee: `enough` portions of a Skellam or Laplace event, drawn independently, add up to
exactly the noise that the event is charged for; more portions only add independent noise
(`tacit.noise.shares`). A portion is rounded up, never down. Portions as Hua et al. print
them (`mixture`) are claims: who knows the mixing numbers sees Gaussian noise.
"""

from __future__ import annotations

from math import ceil, nextafter, sqrt

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.account.event import Event, Laplace, Skellam
from tacit.noise.bits import Bits, fresh
from tacit.noise.shares import MAX_VARIANCE, polya_shares, skellam_shares


def portion(
    event: Event, size: int, enough: int, bits: Bits | None = None
) -> NDArray[np.int64]:
    """`size` integers, of which the sum over `enough` devices has the noise of the event."""
    return together(event, size, 1, enough, bits)


def together(
    event: Event, size: int, devices: int, enough: int, bits: Bits | None = None
) -> NDArray[np.int64]:
    """The sum of the portions of several devices, drawn at once: the laws are closed under sums."""
    if devices < 1:
        return np.zeros(size, np.int64)
    if isinstance(event, Skellam):
        variance = nextafter(event.variance / enough, float("inf")) * devices
        times = max(
            1, ceil(variance / MAX_VARIANCE)
        )  # a draw of one law is a sum of draws of smaller ones
        shares = np.stack(
            [skellam_shares(size, variance / times, bits) for _ in range(times)]
        )
        return np.asarray(shares.sum(axis=0), np.int64)
    if isinstance(event, Laplace):
        part = nextafter(1 / enough, 1.0) if enough > 1 else 1.0
        whole, rest = divmod(devices * part, 1.0)
        total = np.zeros(size, np.int64)
        for _ in range(int(whole)):
            total += polya_shares(size, 1.0, event.scale, bits)
        return (
            total + polya_shares(size, max(rest, 2.0**-40), event.scale, bits)
            if rest
            else total
        )
    raise Failure(f"the noise of {event.name} cannot be shared among devices")


def mixing(seed: bytes, rows: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    """H of Hua et al.: Exponential(1) numbers that a recommender picks for each item, sent
    as a seed."""
    return -np.log1p(-_uniform(seed, rows, width))


def mixture(
    scale: float,
    mixed: NDArray[np.float64],
    people: NDArray[np.float64],
    bits: Bits | None = None,
    fixed: tuple[bytes, NDArray[np.int64]] | None = None,
) -> NDArray[np.float64]:
    """Equation 12: scale sqrt(2 H) C with C ~ N(0, 1/people) for each row, real-valued as printed.

    `fixed` (a device's secret and the rows) gives the same draws in every round, as the
    paper's eta needs.
    """
    from tacit.noise.printed import mix_cells

    width = mixed.shape[1]
    if fixed is not None:
        uniform = _uniform(fixed[0], fixed[1], 2 * width)
    else:
        uniform = (
            ((bits or fresh()).words(2 * mixed.size) >> np.uint64(11))
            .astype(np.float64)
            .reshape(-1, 2 * width)
        )
        uniform /= 2.0**53
    spread = np.empty(mixed.shape)
    mix_cells(uniform, mixed, people, scale, spread)
    return spread


def whole_pieces(
    scale: float, people: NDArray[np.int64], width: int, bits: Bits | None = None
) -> NDArray[np.float64]:
    """For each row the sum of `people` vectors, each with density ~ exp(-|b|/scale),
    real-valued as equation 13 prints.

    One of them is scale sqrt(2 W) Z with W ~ Gamma((width+1)/2) and Z ~ N(0, I), so the W
    of a sum add up.
    """
    from scipy.special import gammaincinv

    source = bits or fresh()
    uniform = (source.words(len(people)) >> np.uint64(11)).astype(np.float64) / 2.0**53
    mixed = gammaincinv(np.maximum(people, 1) * (width + 1) / 2, uniform) * (people > 0)
    return mixture(
        scale, np.repeat(mixed[:, None], width, 1), np.ones(len(people)), source
    )


def looks_exponential(values: NDArray[np.float64]) -> bool:
    """Whether mixing numbers could come from Exponential(1): Kolmogorov's statistic, false
    once in 1e6 honest tests."""
    count = values.size
    if count < 8:
        return bool((values >= 0).all())
    ordered = -np.expm1(-np.sort(values.ravel()))
    steps = np.arange(1, count + 1) / count
    distance = max(
        float((steps - ordered).max()), float((ordered - steps + 1 / count).max())
    )
    return distance * sqrt(count) < 2.7


def _uniform(seed: bytes, rows: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """53-bit fractions in [0, 1), `count` for each row: AES-256 of (row, block number)
    under a 32-byte seed."""
    blocks = -(-count // 2)
    counters = np.empty((len(rows), blocks, 2), "<u8")
    counters[:, :, 0], counters[:, :, 1] = rows[:, None], np.arange(blocks)
    cipher = Cipher(
        algorithms.AES256(seed), modes.ECB()
    ).encryptor()  # distinct counters: a keystream
    words = np.frombuffer(cipher.update(counters.tobytes()), "<u8").reshape(
        len(rows), 2 * blocks
    )
    return (words[:, :count] >> np.uint64(11)) / 2.0**53
