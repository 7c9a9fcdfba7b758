"""How Hua et al. (2015) deal their noise out: mixing numbers, cohort sizes, and in S3 the
pieces of a blinded eta.

S2: the recommender picks H_j ~ Exponential(1) and each of the k raters of j adds b sqrt(2
H_j) C, b = 2 Delta sqrt(d)/epsilon, C ~ N(0, 1/k): once for all rounds (eta), and freshly
in each (rho). S3: eta is made once, in a round, blinded by the aggregator's alpha, so that
the recommender holds tau = alpha + eta; in every round it divides tau into uniform additive
pieces among whoever is online, and the aggregator takes alpha off again.

Guarantee: none that can be certified. The recommender knows H, so to it the noise is
Gaussian with a variance it chose (docs/proofs/federated.md); devices only test that H looks
exponential, which lazy cheats fail and clever ones pass.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.federation.protocol.masks import mask
from tacit.federation.protocol.wire import Layout

Items = Mapping[str, NDArray[np.uint32]]


@dataclass(frozen=True)
class Tau:
    """The recommender's secret: rows of items that have an eta, and alpha + eta for each,
    modulo 2^bits."""

    rows: NDArray[np.uint32]
    words: NDArray[Any]


@dataclass(frozen=True)
class Deal:
    """What is dealt to the devices of one round; the same again from the same seed, so a
    restart deals nothing new."""

    layout: Layout
    seed: bytes
    joined: Items
    tau: Tau | None = None
    _pieces: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def counts(self) -> NDArray[np.int64]:
        """k of each item: how many of the joined devices rated it."""
        counts = np.zeros(self.layout.size, np.int64)
        for rows in self.joined.values():
            counts[rows] += 1
        return counts

    def pieces(self) -> Mapping[str, NDArray[Any]]:
        """For each device and each of its items a piece of tau; the last rater of an item
        gets what is left."""
        if self._pieces or self.tau is None:
            return self._pieces
        width, kind = self.layout.width, f"<u{self.layout.word}"
        left = np.zeros((self.layout.size, width), kind)
        known = np.zeros(self.layout.size, bool)
        left[self.tau.rows], known[self.tau.rows] = self.tau.words, True
        waiting = self.counts
        for device in sorted(self.joined):
            rows = self.joined[device]
            key = hmac.new(self.seed, device.encode(), hashlib.sha256).digest()
            piece = mask(key, "piece", len(rows), width, self.layout.bits).copy()
            waiting[rows] -= 1
            last = waiting[rows] == 0
            piece[last] = left[rows[last]]
            piece[~known[rows]] = 0
            left[rows] -= piece
            self._pieces[device] = piece
        return self._pieces

    def missing(self, arrived: set[str]) -> NDArray[Any]:
        """Pieces that were dealt to devices which did not arrive: the recommender puts them
        in itself."""
        total = np.zeros((self.layout.size, self.layout.width), f"<u{self.layout.word}")
        for device, piece in self.pieces().items():
            if device not in arrived:
                total[self.joined[device]] += piece
        return total
