"""Matrix factorization without holding ratings, after Hua, Xia & Zhong 2015.

As printed (`papers/hua2015`), in every round each online person sends, for
each item she rated, the gradient of its profile plus pieces of noise; which items she rated
is visible. The sound form is here: her whole gradient over *all* items is one clipped row
with her share of Skellam noise; nothing shows which items she rated, and she counts her
turns (docs/proofs/federated.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import RowClip, Rows
from tacit.methods.base import Form, Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import Forms, first_rounds, rule_width, shares
from tacit.methods.factorization.publish import publish
from tacit.methods.factorization.rounds import Learning, learning_round
from tacit.methods.factorization.state import FactorState
from tacit.model.shared import Shared
from tacit.rounds.options import Calibration
from tacit.rounds.people import Turns
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Block, Released, Round
from tacit.rounds.state import State

GRID = 2**13
"""Steps per unit of a clipped gradient: 32 bits hold the sums of 10^5 devices."""
ROUNDS = 2
"""Of factors, unless said."""
WORD = 4
"""Bytes of a number that is sent."""


class FederatedSettings(BaseSettings):
    """What `mf-federated` can be told; most of it is for the printed schemes."""

    scheme: Literal["S2", "S3"] = "S2"
    """`paper`: the first has everybody in every round, the second whoever is online."""
    third_party: bool = True
    """`paper`, everybody in every round: false is equation 13, where every rater's own noise
    hides her from the recommender (`simulate`)."""
    factors: int | None = Field(None, ge=1, le=200)
    """Unset: 50 as printed, and by rule in `sound`."""
    rounds: int | None = Field(None, ge=1, le=100_000)
    """Unset: as printed, 100 of everybody or 10,000 of whoever is online; in `sound`, 2
    rounds of factors."""
    cohort: int | None = Field(None, ge=2)
    """At most this many devices in a round; unset, everybody, or as printed 100 of those who
    are online."""
    turns: int | None = Field(None, ge=1)
    """`sound`: at most so many rounds of factors for one device; unset, all of them."""
    rate: float = Field(2.0**-5, gt=0)
    """The gain."""
    step: Literal["mean", "sum", "objective", "scaled"] = "mean"
    """`paper`: what the gain multiplies, which is not printed: the mean gradient over an
    item's raters (and a person's items), the sum (equations 2-5 to the letter), the
    gradient of equation 1, which is the sum over the number M of all ratings, or that
    gradient over its curvature, raters + mu M, so that equation 1 is minimised in 100
    rounds."""
    bounded: bool | None = None
    """Keep people's profiles within length 1, as the proof of Theorem 1 has them; unset,
    where noise is added."""
    ridge: float = Field(0.001, ge=0)
    """lambda and mu."""
    join: float = Field(0.005, ge=0, le=1)
    """Whoever is online, in `simulate`: chance of coming online between rounds."""
    leave: float = Field(0.01, ge=0, le=1)
    """The same of going offline."""
    online: float | None = Field(None, gt=0, le=1)
    """Whoever is online, in `simulate`: share of the people who are there at the beginning,
    which the paper calls much smaller than the share of those who are not; unset, as many
    as one round takes (`cohort`)."""
    pieces: Literal["variance", "deviation"] = "variance"
    """`paper`, in `simulate`: what N(0, 1/k) of equation 12 has: the variance 1/k, with which
    k pieces add up to one noise, or the standard deviation, with which it shrinks."""
    people: Literal["trained", "solved"] = "trained"
    """`paper`, in `evaluate` and `reproduce`: predict from the profiles that the training
    left with people (section 5), or solve each anew against the published items with lambda
    (section 3.3), as every published model does."""
    project: int | None = Field(None, ge=8)
    """`sound`: project the items onto so many random directions, which shrinks what a device sends.
    """


class ClippedGradients(Form):
    """The sound form: everybody takes part in the rounds of `bias`, and at most `turns`
    times in a round of gradients."""

    settings: FederatedSettings

    def learning(self, public: Public) -> Learning:
        """Right-hand sides from random profiles, then gradients at the released ones.

        Left-hand sides would make what a device sends grow with the square of the factors.
        """
        width = rule_width(public, self.settings.factors)
        return Learning(width, self.method.seed, second=0.0, gradient=True)

    def plan(self, public: Public) -> Plan:
        """Level, weights and effects, then the rounds of factors."""
        settings = self.settings
        count = settings.rounds or ROUNDS
        turns = min(settings.turns or count, count)
        split = shares(public, count)
        learning = self.learning(public)
        # Everybody takes part in these once, and shows by it only that she is there.
        bias_rounds = [
            replace(r, takes_part=Turns(0, 1)) for r in first_rounds(public, split.first)
        ]
        learned = [
            self.gradient_round(public, learning, Turns(k, turns, settings.cohort), count)
            for k in range(len(split.factors))
        ]
        size = (settings.project or public.items) * learning.columns * WORD
        story = (
            f"{100 * split.first:.0f} % of the budget go to level, weights and effects of "
            f"items; a device takes {turns} "
            f"of {count} turns at factors and sends {size:,} bytes in each, whatever it rated."
        )
        return Plan(public.unit, (*bias_rounds, *learned), (story,))

    def gradient_round(self, public: Public, learning: Learning, turn: Turns, count: int) -> Round:
        """One turn. The first is charged for all turns that one device may take, so each
        has the whole share."""
        round_ = learning_round(
            public,
            learning,
            f"factors {turn.index + 1}",
            1 - shares(public, count).first,
            first=turn.index == 0,
            last=turn.index + 1 == count,
            takes_part=turn,
        )
        # Numbers travel in 32 bits, so the grid is coarser than a curator's.
        coarse = RowClip(learning.clip, "l2", GRID)
        parts = tuple(replace(part, bound=coarse) for part in round_.parts)
        round_ = replace(round_, parts=parts)
        if self.settings.project is None:
            return round_
        return projected(round_, self.settings.project, self.method.seed)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FactorState()

    def finish(self, public: Public, state: FactorState) -> Shared:
        """Item profiles for everybody's own ridge solve."""
        return publish(self.method, public, state)


STEPS = (
    "scheme",
    "third_party",
    "rounds",
    "cohort",
    "rate",
    "step",
    "bounded",
    "ridge",
    "join",
    "leave",
)
"""Settings of the printed steps: who names one asks for these steps, also without noise."""


class FederatedMF(Method):
    """See the module. In `none` factors are fitted in one piece; over devices, or where a
    setting of the printed steps is given, these steps run without noise: plain
    factorization, the paper's baseline."""

    name = "mf-federated"
    source = "Hua, Xia & Zhong 2015, S2 and S3"
    units = ("user",)
    paper_unit = "value"
    calibrations = ("sound", "paper", "none")
    engines = ("simulate", "federated")
    Settings: ClassVar[type[BaseSettings]] = FederatedSettings
    forms: ClassVar[Forms] = {
        "sound": ClippedGradients,
        "paper": "tacit.papers.hua2015.printed.gradients:VisibleGradients",
        "none": "tacit.methods.factorization.twin:FederatedTwin",
    }

    def form(self, calibration: Calibration) -> Form:
        """Devices give sums alone: over them `none` is the printed steps."""
        steps = self.engine == "federated" or any(x in self._given for x in STEPS)
        if calibration == "none" and steps:
            return super().form("paper")
        return super().form(calibration)


# Smaller uploads by the projection of Shin et al.: a device's matrix over all items, times public
# random signs.


def signs(rows: int, items: int, seed: int) -> NDArray[np.float64]:
    """Columns of length 1 with independent signs: Phi'Phi is the identity in expectation."""
    rng = np.random.default_rng([seed, rows, items])
    bits = rng.integers(0, 2, (rows, items), dtype=np.int8)
    return np.asarray((2.0 * bits - 1) / sqrt(rows), np.float64)


def projected(round_: Round, rows: int, seed: int) -> Round:
    """The same round on `rows` random directions instead of one row for each item.

    Guarantee: the projection comes before the clip and the grid, so the bound of the part
    holds as it stands, for the rows that are sent. The items are estimated by Phi' times
    the released rows: unbiased, with the other items' gradients as further noise, which is
    added to the standard deviation by their measured size.
    """
    (part,) = round_.parts
    if rows >= part.size:
        return round_
    matrix = signs(rows, part.size, seed)

    def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
        contribution = round_.contribute(block, state)[part.name]
        people = len(contribution.ptr) - 1
        out = np.zeros((people * rows, part.width))
        # Each person alone: a sum over her own cells in their order.
        for person in range(people):
            user_rows = out[person * rows : (person + 1) * rows]
            for cell in range(contribution.ptr[person], contribution.ptr[person + 1]):
                user_rows += matrix[:, contribution.index[cell], None] * contribution.values[cell]
        ptr = np.arange(people + 1, dtype=np.int64) * rows
        index = np.tile(np.arange(rows, dtype=np.uint32), people)
        return {part.name: Rows(ptr, index, out)}

    def absorb(state: AnyState, released: Mapping[str, Released]) -> AnyState:
        noisy = released[part.name]
        # What all items' gradients measure together, less the noise in the measure: the
        # other items' share of it falls on each item as further noise.
        square = float((noisy.value**2).sum(axis=0).mean())
        energy = max(square - rows * noisy.sd**2, 0.0)
        spread = sqrt(noisy.sd**2 + energy / rows)
        back = replace(noisy, value=matrix.T @ noisy.value, sd=spread)
        return round_.absorb(state, {part.name: back})

    return replace(round_, parts=(replace(part, size=rows),), contribute=contribute, absorb=absorb)
