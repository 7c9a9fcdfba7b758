"""Posterior sampling of factors as Wang & Tang compare with it (DPPS-MF; Liu, Wang & Smola
2015): claimed, not certified.

Wang & Tang print its settings (section 5.1) and no update; it is read as their own
Algorithm 2, as `pnbm-langevin` is: the printed first step, whatever epsilon is, over at
most tau random ratings of a person, with the drift multiplied by the number of ratings as
in the authors' published program. The owner's evaluation predicts from both sides of the
chain, as that program does; what is published are item arrays alone, from which a person's
own side is the ridge solution of her own ratings. `tests/papers/printed/wang_tang_factors.py` is a
second implementation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.methods.base import Form, Public
from tacit.methods.factorization.publish import shared_model
from tacit.methods.factorization.sgd import LangevinSettings
from tacit.methods.factorization.state import TableState
from tacit.model.person.base import PersonalModel
from tacit.model.shared import Shared
from tacit.papers.factors.form import TRAINED, TrainedPeople
from tacit.rounds.plan import Plan
from tacit.rounds.printed import POSTERIOR, Claim, Epoch, trimmed
from tacit.rounds.round import Block, Part, Personal, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
SPAN = 4.0
"""r_max - r_min on the inner scale."""
FACTORS, STEPS = 10, 300
"""d of section 5.1, and the steps of the authors' published program; K is not printed."""
RATE = 8e-6
"""eta_1: like the next three one of the values in section 5.1."""
RIDGE = 0.05
"""lambda."""
TEMPERATURE = 6e-4
"""rho."""
FALLING = 0.3
"""xi."""
MOST = 200
"""tau."""
FIRST = 0.1
"""Standard deviation of the first, random factors: not printed."""
ITEM_SHRINK, OWN_SHRINK = 10.0, 25.0
"""Ratings at which biases are believed by half (Koren 2008); biases are not printed."""
NOISE = 0.7
"""Variance of a rating around the model: sets the scale of published loadings alone."""
LARGEST = 1e3
"""What has diverged is cut at +-this."""
REASON = (
    "The temperature makes the stationary law sharper than the claim by a factor of "
    "1/(4 rho), the loss is not clamped, the distance of a finite run from that law "
    "(delta) is not proved, and the biases are exact."
)
"""Why the claim is not certified."""


@dataclass(frozen=True)
class ChainConstants:
    """As they are used."""

    factors: int
    epochs: int
    rate: float
    ridge: float
    temperature: float
    falling: float
    most: int
    times: str
    biases: str
    people: str


class LangevinSample(Form):
    """The last state of a chain, as if it had reached its stationary law."""

    settings: LangevinSettings

    @property
    def constants(self) -> ChainConstants:
        """What was said, and the paper's where nothing was."""
        settings = self.settings
        return ChainConstants(
            settings.factors or FACTORS,
            settings.epochs or STEPS,
            settings.rate or RATE,
            RIDGE if settings.ridge is None else settings.ridge,
            settings.temperature or TEMPERATURE,
            FALLING if settings.falling is None else settings.falling,
            settings.most or MOST,
            settings.times or "ratings",
            settings.biases or "raw",
            settings.people or "trained",
        )

    def used(self, public: Public) -> dict[str, Any]:
        """All constants of the chain."""
        return vars(self.constants).copy()

    def plan(self, public: Public) -> Plan:
        """One round, which is the whole chain."""
        assert public.budget is not None
        items = public.items
        printed = self.constants

        def contribute(block: Block, state: TableState) -> Mapping[str, Rows]:
            item_table = self.train(public, block, block.draws["items"])
            return {"items": Rows(np.array([0, items]), np.arange(items), item_table)}

        def absorb(state: TableState, released: Mapping[str, Released]) -> TableState:
            return replace(state, items=released["items"].value)

        claim = Claim("gaussian", 1.0, public.budget.epsilon, 0.0, REASON)
        part = Part(
            "items",
            items,
            CellClip(1.0),
            width=2 + printed.factors,
            printed=Epoch(POSTERIOR, claim, self.draws(public)),
        )
        personal = (Personal(TRAINED, 1 + printed.factors),)
        round_ = Round("printed", (part,), contribute, absorb, personal=personal)
        story = f"As printed, for comparison: claimed, not certified. {REASON}"
        return Plan(public.unit, (round_,), (story,))

    def draws(self, public: Public) -> int:
        """For both sides in every step. The people are as declared, which may be too few:
        twice as many draws are asked for, and `train` repeats them if it must."""
        printed = self.constants
        people = public.schema.users or 1
        return printed.epochs * (2 * people + public.items) * printed.factors

    def first_state(self, public: Public) -> State:
        """Nothing is trained yet."""
        return TableState()

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """theta <- theta - (eps/4B)(eta_t/2) L (gradient + lambda theta) + N(0, rho eta_t),
        eta_t = eta_1 t^-xi. Mean, item bias and factors side by side."""
        assert public.budget is not None
        from tacit.kernels.sgd import full_gradient

        printed = self.constants
        seed = self.method.seed
        used = trimmed(block, 0, printed.most, seed)
        biases = biased(used, public.items, printed.biases == "raw")
        rng = np.random.default_rng(seed)
        width = printed.factors
        user_factors = rng.standard_normal((len(used.ptr) - 1, width)) * FIRST
        factors = rng.standard_normal((public.items, width)) * FIRST
        own_step = np.empty_like(user_factors)
        step = np.empty_like(factors)
        cells = len(used.value)
        share = public.budget.epsilon / (4 * SPAN**2 * printed.most)
        times = cells if printed.times == "ratings" else 1
        for t, epoch_draws in enumerate(np.array_split(draws, printed.epochs), 1):
            rate = printed.rate * t**-printed.falling
            full_gradient(
                ptr=used.ptr,
                item=used.item,
                base=biases.rest,
                user_factors=user_factors,
                factors=factors,
                limit=cells,
                own_step=own_step,
                step=step,
            )
            noise = epoch_draws * np.sqrt(printed.temperature * rate)
            for side, move in ((factors, step), (user_factors, own_step)):
                drift = times * (move - printed.ridge * side)
                side += share * rate / 2 * drift
                # People's own noise may repeat, where fewer were declared than came.
                side += np.resize(noise, side.size).reshape(side.shape)
                noise = noise[side.size :] if len(noise) > side.size else noise
                np.clip(side, -LARGEST, LARGEST, out=side)
        if TRAINED in block.personal:
            block.personal[TRAINED][:] = np.hstack([biases.own[:, None], user_factors])
        means = np.full((public.items, 1), biases.mean)
        return np.hstack([means, biases.item[:, None], factors])

    def trained(
        self, public: Public, state: TableState, personal: Mapping[str, Floats]
    ) -> PersonalModel | None:
        """Predictions from both sides of the chain's last state."""
        if TRAINED not in personal or self.constants.people == "folded":
            return None
        user_rows = personal[TRAINED]
        baseline = state.items[:, 0] + state.items[:, 1]
        return TrainedPeople(baseline, user_rows[:, 0], user_rows[:, 1:], state.items[:, 2:])

    def finish(self, public: Public, state: TableState) -> Shared:
        """Item arrays; a person solves for her level and vector with the ridges of the
        chain."""
        table = state.items
        # argmin |r - V p|^2 + ridge |p|^2 as a Gaussian says it: z = p / scale ~ N(0, I).
        scale = np.sqrt(NOISE / max(self.constants.ridge, 1e-9))
        level = np.full((len(table), 1), np.sqrt(NOISE / OWN_SHRINK))
        arrays = {
            "baseline": table[:, 0] + table[:, 1],
            "variance": np.zeros(len(table)),
            "loadings": np.hstack([level, scale * table[:, 2:]]),
        }
        return shared_model(self.method, public, "factors", arrays, {"noise": NOISE})


class ChainBiases(NamedTuple):
    """What was subtracted, and what is left of each rating."""

    mean: float
    item: Floats
    own: Floats
    rest: Floats


def biased(block: Block, items: int, raw: bool) -> ChainBiases:
    """Mean of all, then shrunk biases of items and of people; the mean alone unless `raw`."""
    mean = float(block.value.mean()) if len(block.value) else 0.0
    residuals = block.value - mean
    counts = np.diff(block.ptr)
    if not raw:
        return ChainBiases(mean, np.zeros(items), np.zeros(len(counts)), residuals)
    count = np.bincount(block.item, minlength=items)
    bias = np.bincount(block.item, residuals, items) / (ITEM_SHRINK + count)
    residuals = residuals - bias[block.item]
    person = np.repeat(np.arange(len(counts)), counts)
    user_bias = np.bincount(person, residuals, len(counts)) / (OWN_SHRINK + counts)
    return ChainBiases(mean, bias, user_bias, residuals - user_bias[person])
