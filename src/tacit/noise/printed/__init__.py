"""Noise as papers print it, and nothing that is certified: draws for a sequential epoch, the
simple solution of Shin et al., and the mixing schemes of Hua et al.
"""

from __future__ import annotations

from math import exp, expm1, sqrt

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.account.event import Response, Unbounded
from tacit.noise.bits import Bits, fresh
from tacit.noise.device import respond
from tacit.noise.release import Charge, draw_noise

FEWEST = 8
"""Mixing numbers of which a device tests the law; of fewer only the sign."""
KOLMOGOROV = 2.7
"""Of his statistic: passed by an honest sample once in 1e6 times (2 exp(-2 x^2) = 9e-7)."""


def handed(name: str, charge: Charge, draws: int) -> NDArray[np.float64]:
    """Real-valued draws for a sequential epoch, as a paper prints them; booked as
    unbounded. In steps."""
    event = charge.draw(name)
    if event is None:
        return np.zeros(draws)
    if not isinstance(event, Unbounded):
        raise Failure(f"the event of {name} certifies draws for an epoch, which nothing can")
    return draw_noise(event, (draws,)).steps.astype(np.float64)


def masked(
    event: Unbounded,
    ptr: NDArray[np.int64],
    index: NDArray[np.int64],
    integers: NDArray[np.int64],
    size: int,
) -> NDArray[np.float64]:
    """The simple solution of Shin et al. (4.1), summed over some devices: every number
    noised, and every item's presence answered by randomized response, half of the claimed
    epsilon each; on a grid of integers. The claim is about all items, or about one of them.
    """
    width = integers.shape[1]
    among = size if event.noise == "masked" else 1
    answer_epsilon = event.claimed_epsilon / 2 / among
    keep = expm1(answer_epsilon) / (exp(answer_epsilon) + 1)  # 1 - p
    plain = event.model_copy(update={"noise": "laplace"})
    total = np.zeros((size, width))
    for person in range(len(ptr) - 1):
        cells = slice(ptr[person], ptr[person + 1])
        numbers, present = np.zeros((size, width)), np.full(size, -1.0)
        numbers[index[cells]] = integers[cells]
        present[index[cells]] = 1.0
        noise = draw_noise(plain, (size, width)).steps
        answer = respond(Response(name=event.name, epsilon=answer_epsilon, reports=1), present)
        weight = ((answer + 1) / 2 - (1 - keep) / 2) / keep
        total += weight[:, None] * (numbers + noise)
    return total


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
    from tacit.noise.printed.kernels import mix_cells, mix_pairs

    spread = np.empty(mixed.shape)
    if fixed is None:
        rows, width = mixed.shape
        words = (bits or fresh()).words(rows * (width + width % 2))
        mix_pairs(words, mixed, people, scale, spread)
    else:
        uniform = _uniform(fixed[0], fixed[1], 2 * mixed.shape[1])
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
    return mixture(scale, np.repeat(mixed[:, None], width, 1), np.ones(len(people)), source)


def looks_exponential(values: NDArray[np.float64]) -> bool:
    """Whether mixing numbers could come from Exponential(1): Kolmogorov's statistic, false
    once in 1e6 honest tests."""
    count = values.size
    if count < FEWEST:
        return bool((values >= 0).all())
    from tacit.noise.printed.kernels import distance_from_exponential

    distance = distance_from_exponential(np.sort(values, axis=None))
    return bool(distance * sqrt(count) < KOLMOGOROV)


def _uniform(seed: bytes, rows: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """53-bit fractions in [0, 1), `count` for each row: AES-256 of (row, block number)
    under a 32-byte seed."""
    blocks = -(-count // 2)
    counters = np.empty((len(rows), blocks, 2), "<u8")
    counters[:, :, 0], counters[:, :, 1] = rows[:, None], np.arange(blocks)
    cipher = Cipher(
        algorithms.AES256(seed), modes.ECB()
    ).encryptor()  # distinct counters: a keystream
    words = np.frombuffer(cipher.update(counters.tobytes()), "<u8").reshape(len(rows), 2 * blocks)
    return (words[:, :count] >> np.uint64(11)) / 2.0**53
