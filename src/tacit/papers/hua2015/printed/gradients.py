"""Hua, Xia & Zhong 2015, schemes S2 and S3 as printed: devices send gradients of the items
that they rated, with pieces of noise (or, for the plain factorization, without)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Rows
from tacit.bound.fixed import FixedPoint
from tacit.errors import SettingError
from tacit.methods.base import Form, Public
from tacit.methods.factorization.federated import FederatedSettings
from tacit.methods.factorization.state import ProfileState
from tacit.model.person.base import PersonalModel
from tacit.model.shared import Shared
from tacit.papers.hua2015.printed.steps import (
    FACTORS,
    NOISE,
    OFFSET,
    ROUNDS,
    SPAN,
    StepWeights,
    items_step,
    published,
    trained_people,
    weights_of,
)
from tacit.rounds.people import Turns
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Claim, Scheme
from tacit.rounds.round import Block, Part, Personal, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
Numbers = tuple[float, float, float, float]
GRID = 2**10
"""Steps per unit of a gradient: the sum over 10^5 raters and its noise stay inside 32 bits."""
LIMIT = 2.0**15
"""The most that a number of a gradient may be on its grid."""
FINE_GRID = 2**26
FINE_LIMIT = 2.0**30
"""The same in one process, where a block of people is summed before it is put on the grid:
64 bits hold it, and what the grid takes away is far below single precision."""
PROFILE = "profile"
"""A person's own profile, on her side."""
DYNAMIC_ROUNDS = 10_000
"""Of S3, where few are online at a time."""
DYNAMIC_COHORT = 100
TWIN_RIDGE = 4.0
"""Of the twin's fold-in, which no paper prints: u = argmin |r - V u|^2 + ridge |u - start|^2."""
REASON = (
    "the recommender knows the mixing numbers, so to it the noise is Gaussian; the claim "
    "is for one round of many; "
    "profiles are not bounded; which items a person rated is visible"
)
COHORT_REASON = "the size of an item's cohort is visible, as printed"


class VisibleGradients(Form):
    """Rounds of: every device that is there sends a gradient for each item it rated, and
    moves its own profile.

    In `paper` the sums get pieces of noise as the scheme deals them (the engine's business);
    in `none` they get none. Over a wire numbers are those that travel: profiles in single
    precision, gradients on a grid of 32 bits. In one process `paper` computes in double
    precision.
    """

    settings: FederatedSettings

    @property
    def width(self) -> int:
        """Factors of each item."""
        return self.settings.factors or FACTORS

    @property
    def dynamic(self) -> bool:
        """Whether devices come and go."""
        return self.settings.scheme == "S3"

    def travels(self, public: Public) -> bool:
        """Whether numbers are those of a wire: the twin is compared with one bit for bit."""
        return public.budget is None or self.method.engine == "federated"

    def first_state(self, public: Public) -> State:
        """Random item profiles of length 1, from the public seed."""
        from tacit.kernels.user_step import first_profile

        rows = np.empty((public.items, self.width))
        for item in range(public.items):
            first_profile(self.method.seed + 1, item, rows[item])
        kind = np.float32 if self.travels(public) else np.float64
        return ProfileState(items=rows.astype(kind))

    def plan(self, public: Public) -> Plan:
        """All steps; in S3 a round without ratings first, in which the noise is dealt."""
        weights = self.weights(public)
        parts = self.parts(public)
        count = self.settings.rounds or (DYNAMIC_ROUNDS if self.dynamic else ROUNDS)
        rounds = [self.step(parts, weights, self.turn(k, count), public) for k in range(count)]
        if self.dynamic and public.budget is not None:
            rounds.insert(0, self.initialise(parts[0], self.turn(0, count)))
        story = f"Scheme {self.settings.scheme} as printed, {count} rounds."
        return Plan(public.unit, tuple(rounds), (story,))

    def turn(self, index: int, count: int) -> Turns:
        """Who takes part in a round."""
        settings = self.settings
        cohort = settings.cohort or (DYNAMIC_COHORT if self.dynamic else None)
        join = settings.join if self.dynamic else 0.0
        leave = settings.leave if self.dynamic else 0.0
        scheme: Scheme = settings.scheme if settings.third_party else "direct"
        if settings.pieces == "deviation":
            scheme = "S3 thin" if self.dynamic else "S2 thin"
        online = settings.online if self.dynamic else None
        return Turns(index, count + 1, cohort, join, leave, online, printed=scheme)

    def parts(self, public: Public) -> tuple[Part, Part]:
        """Gradients, and how many devices sent one: each for every item."""
        noisy = silent = None
        if public.budget is not None:
            epsilon = public.budget.epsilon
            scale = 2 * SPAN * sqrt(self.width) / epsilon
            noisy = Claim("laplace", scale, epsilon, 0.0, REASON)
            silent = Claim("none", 0.0, epsilon, 0.0, COHORT_REASON)
        bound = FixedPoint(LIMIT, GRID)
        count_bound = FixedPoint(1.0, 1)
        if not self.travels(public):
            bound = FixedPoint(FINE_LIMIT, FINE_GRID)
            count_bound = FixedPoint(FINE_LIMIT, 1)
        return (
            Part("gradient", public.items, bound, self.width, 0.5, printed=noisy),
            Part("raters", public.items, count_bound, 1, 0.5, printed=silent),
        )

    def step(
        self, parts: tuple[Part, Part], weights: StepWeights, turns: Turns, public: Public
    ) -> Round:
        """One step: each device's half moves its own profile and sends gradients, the
        recommender's half moves the items."""
        settings = self.settings
        weight_numbers = weights.numbers
        bounded = self.bounds(public)
        contribute = (
            self.each_sends(weight_numbers, bounded)
            if self.travels(public)
            else self.block_sends(weight_numbers, bounded)
        )

        def absorb(state: ProfileState, released: Mapping[str, Released]) -> ProfileState:
            # The recommender's half of a step: items move against the sum of gradients.
            raters = np.round(released["raters"].value)
            weigh = weights
            if settings.step == "scaled":  # equation 1 for those who are here
                rating_count = raters.sum()
                weigh = weights._replace(over=settings.ridge * rating_count, pull=rating_count)
            updated = items_step(
                state.items.astype(np.float64),
                released["gradient"].value,
                raters,
                weigh,
                settings.rate,
                settings.ridge,
            )
            return replace(state, items=updated.astype(state.items.dtype))

        profile = Personal(PROFILE, self.width)
        name = f"step {turns.index}"
        return Round(name, parts, contribute, absorb, turns, (profile,))

    def bounds(self, public: Public) -> bool:
        """Whether people's profiles are kept within length 1."""
        bounded = self.settings.bounded
        return public.budget is not None if bounded is None else bounded

    def each_sends(self, weights: Numbers, bounded: bool) -> Any:
        """What devices send: a row for each rating, of which the wire shows the item."""
        settings = self.settings

        def contribute(block: Block, state: ProfileState) -> Mapping[str, Rows]:
            from tacit.kernels.user_step import take_step

            out = np.empty((len(block.item), self.width))
            take_step(
                block.people,
                block.ptr,
                block.item,
                block.value + OFFSET,
                np.asarray(state.items, np.float32),
                block.personal[PROFILE],
                self.method.seed,
                settings.rate,
                settings.ridge,
                weights,
                bounded,
                out,
            )
            ones = np.ones((len(block.item), 1))
            return {
                "gradient": Rows(block.ptr, block.item, out),
                "raters": Rows(block.ptr, block.item, ones),
            }

        return contribute

    def block_sends(self, weights: Numbers, bounded: bool) -> Any:
        """The same rows, added up for a block of devices: an item's row is listed under the
        first of them."""
        settings = self.settings

        def contribute(block: Block, state: ProfileState) -> Mapping[str, Rows]:
            from tacit.papers.factors.kernels import summed_step

            total = np.zeros(state.items.shape)
            raters = np.zeros((len(total), 1))
            summed_step(
                people=block.people,
                ptr=block.ptr,
                item=block.item,
                rating=block.value + OFFSET,
                items=np.asarray(state.items, np.float64),
                user_factors=block.personal[PROFILE],
                seed=self.method.seed,
                rate=settings.rate,
                ridge=settings.ridge,
                weights=weights,
                bounded=bounded,
                moves=True,
                total=total,
                raters=raters,
            )
            ptr = np.full(len(block.people) + 1, len(total))
            ptr[0] = 0
            index = np.arange(len(total), dtype=np.uint32)
            return {"gradient": Rows(ptr, index, total), "raters": Rows(ptr, index, raters)}

        return contribute

    def initialise(self, part: Part, turns: Turns) -> Round:
        """A round in which nobody's ratings enter, so that everybody holds pieces of noise
        before the first gradient is sent."""

        def contribute(block: Block, state: ProfileState) -> Mapping[str, Rows]:
            empty = np.zeros(len(block.people) + 1, np.int64)
            nobody = np.zeros(0, np.uint32)
            nothing = np.zeros((0, self.width))
            return {"gradient": Rows(empty, nobody, nothing)}

        def absorb(state: ProfileState, released: Mapping[str, Released]) -> ProfileState:
            return state

        return Round("initialise", (part,), contribute, absorb, turns)

    def weights(self, public: Public) -> StepWeights:
        """What the gain multiplies: see the setting `step`."""
        settings = self.settings
        servers = settings.scheme == "S3" or self.method.engine == "federated"
        if not settings.third_party and servers:
            raise SettingError(
                "equation 13 is of S2 and has no servers here", remedy="use --engine simulate"
            )
        wire = self.method.engine == "federated"
        if settings.pieces == "deviation" and (wire or not settings.third_party):
            raise SettingError(
                "pieces of standard deviation 1/k are of S2 and S3 in one process",
                remedy="use --engine simulate, and leave third_party alone",
            )
        everything = 0.0
        if settings.step in ("objective", "scaled"):
            if public.pattern is None:
                raise SettingError(
                    f"step={settings.step} weighs the ridge with the number of ratings, which is "
                    "not public here",
                    remedy="use --calibration paper and --engine simulate",
                )
            everything = float(max(1, len(public.pattern.item)))
        return weights_of(settings.step, settings.ridge, everything)

    def finish(self, public: Public, state: ProfileState) -> Shared:
        """Item profiles, and lambda for everybody's own ridge regression (section 3.3)."""
        items = np.asarray(state.items, np.float64)
        if public.calibration == "none":
            return self.twin(public, items)
        weights = self.weights(public)
        return published(self.method, public, items, weights, self.settings.ridge)

    def trained(
        self, public: Public, state: ProfileState, personal: Mapping[str, Floats]
    ) -> PersonalModel | None:
        """With the profiles that the steps left with people."""
        printed = public.calibration == "paper" and PROFILE in personal
        if not printed or self.settings.people == "solved":
            return None
        return trained_people(personal[PROFILE], np.asarray(state.items, np.float64))

    def used(self, public: Public) -> dict[str, Any]:
        """With what is printed for whatever was left unset."""
        turns = self.turn(0, 1)
        usual = DYNAMIC_ROUNDS if self.dynamic else ROUNDS
        printed_values = {
            "factors": self.width,
            "rounds": self.settings.rounds or usual,
            "cohort": turns.cohort,
            "bounded": self.bounds(public),
        }
        return self.settings.model_dump() | printed_values

    def twin(self, public: Public, items: Floats) -> Shared:
        """The plain factorization beside the sound form: its fold-in has a stronger ridge,
        toward the profile that comes nearest to mid-scale everywhere."""
        wide = np.nan_to_num(items, posinf=0.0, neginf=0.0)  # it may diverge
        start = np.linalg.lstsq(wide, np.full(public.items, OFFSET), rcond=1e-3)[0]
        arrays = {
            "baseline": (wide @ start - OFFSET).astype(np.float32),
            "variance": np.zeros(public.items, np.float32),
            "loadings": (wide * sqrt(NOISE / TWIN_RIDGE)).astype(np.float32),
        }
        return Shared(
            self.method.name,
            "gaussian",
            arrays,
            {"noise": NOISE},
            public.schema,
            public.catalogue,
            self.method.settings.model_dump(),
        )
