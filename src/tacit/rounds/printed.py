"""What only papers as printed and non-private twins need of a round: claims, sequential
epochs, cohorts, and the schemes by which devices divide a printed noise.

Nothing here is certified. A claim is booked as unbounded, with what its paper says and why
no theorem of ours backs it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from tacit.errors import Failure, SettingError
from tacit.ledger.account.event import Unbounded
from tacit.rounds.people import Crowd, Participation, People
from tacit.rounds.round import Block, Part

Scheme = Literal["S2", "S3", "direct", "S2 thin", "S3 thin"]
"""How Hua et al. divide their noise among devices: `Turns.printed`. `thin`: pieces whose
standard deviation, and not their variance, is 1/k."""


class EpochKind(Enum):
    """The releases that an epoch over everybody's ratings makes by itself."""

    STEPWISE = "stepwise"
    POSTERIOR = "posterior sample"


STEPWISE = EpochKind.STEPWISE
POSTERIOR = EpochKind.POSTERIOR


@dataclass(frozen=True)
class Claim:
    """Noise as a paper prints it, with what the paper claims for it and why no theorem here
    backs the claim."""

    noise: Literal["laplace", "gaussian", "knorm", "response", "masked", "masked item", "none"]
    scale: float
    """In real units: the Laplace or K-norm scale, the Gaussian standard deviation, or the
    log-ratio of one bit; `masked`: the Laplace scale of numbers whose presence each device
    hides as well, that of all items or (`masked item`) of one."""
    epsilon: float
    delta: float
    reason: str

    @property
    def release_kind(self) -> str:
        """Empty: the kind of its part is printed."""
        return ""

    @property
    def sequential(self) -> bool:
        """No: what is summed is noised as printed."""
        return False

    @property
    def draws(self) -> int:
        """0: only epochs are handed draws of noise."""
        return 0

    @property
    def bare(self) -> bool:
        """Whether the paper adds no noise."""
        return self.noise == "none"

    @property
    def masked(self) -> bool:
        """Whether the noise also covers which items were rated."""
        return self.noise in ("masked", "masked item")

    def event(self, name: str, part: Part) -> Unbounded:
        """As the paper prints it, one draw a number."""
        return self.booked(name, part, part.numbers)

    def booked(self, name: str, part: Part, draws: int) -> Unbounded:
        """What the ledger keeps of the claim."""
        return Unbounded(
            name=name,
            claimed_epsilon=self.epsilon,
            claimed_delta=self.delta,
            reason=self.reason,
            noise=self.noise,
            scale=self.scale * part.bound.steps,
            draws=draws,
        )


@dataclass(frozen=True)
class Epoch:
    """A part that a sequential epoch makes from all ratings at once, handed `draws` draws of
    its claim's noise. A twin has no claim, and no draws."""

    kind: EpochKind = STEPWISE
    claim: Claim | None = None
    draws: int = 0

    @property
    def release_kind(self) -> str:
        return self.kind.value

    @property
    def sequential(self) -> bool:
        """Always true: each step of an epoch uses the state that the one before it left."""
        return True

    @property
    def bare(self) -> bool:
        return self.claim is not None and self.claim.bare

    @property
    def masked(self) -> bool:
        """Never: no device has a part in it."""
        return False

    def event(self, name: str, part: Part) -> Unbounded:
        """The claim on all draws; without one nothing was claimed, so nothing can be priced."""
        if self.claim is None:
            raise SettingError(f"{self.release_kind} releases exist in `paper` calibration only")
        return self.claim.booked(name, part, self.draws)


@runtime_checkable
class RatersCrowd(Crowd, Protocol):
    """A crowd that shows who rated what."""

    def raters(self, item: int) -> People:
        """Rows of the people who rated an item."""


@dataclass(frozen=True)
class Cohort(Participation):
    """The people who rated one item. Who they are becomes visible."""

    item: int
    printed: str = field(default="cohorts of one item", kw_only=True)

    def among(self, crowd: Crowd) -> People:
        """Rows of the people who rated the item."""
        if not isinstance(crowd, RatersCrowd):
            raise Failure("this engine shows nobody who rated an item")
        return crowd.raters(self.item)


def trimmed(block: Block, threshold: int, limit: int | None, seed: int) -> Block:
    """The people with more than `threshold` ratings; at most `limit` of them each, at random by
    a public seed, as papers choose them."""
    counts = np.diff(block.ptr)
    person = np.repeat(np.arange(len(counts)), counts)
    keep_cell = counts[person] > threshold
    if limit is not None:
        chance = np.random.default_rng(seed).random(len(person))
        order = np.lexsort((chance, person))
        rank = np.empty(len(person), np.int64)
        rank[order] = np.arange(len(person)) - np.repeat(block.ptr[:-1], counts)
        keep_cell &= rank < limit
    retained_counts = np.bincount(person[keep_cell], minlength=len(counts))
    ptr = np.concatenate([[0], np.cumsum(retained_counts)]).astype(np.int64)
    return Block(block.people, ptr, block.item[keep_cell], block.value[keep_cell])
