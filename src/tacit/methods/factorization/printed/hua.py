"""Hua, Xia & Zhong 2015, schemes S2 and S3 as printed: devices send gradients of the items
that they rated, with pieces of noise (or, for the plain factorization, without)."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

import numpy as np

from tacit.bound import Rows
from tacit.bound.fixed import FixedPoint
from tacit.errors import SettingError
from tacit.methods.base import Form, Public
from tacit.methods.factorization.federated import FederatedSettings
from tacit.methods.factorization.state import ProfileState
from tacit.model.shared import Shared
from tacit.rounds.people import Turns
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Claim, Scheme
from tacit.rounds.round import Block, Part, Personal, Released, Round
from tacit.rounds.state import State

GRID = 2**10
"""Steps per unit of a gradient: the sum over 10^5 raters and its noise stay inside 32 bits."""
LIMIT = 2.0**15
"""The most that a number of a gradient may be on its grid."""
OFFSET = 3.0
"""The printed factorization is of ratings from 1 to 5; inside, mid-scale is 0."""
SPAN = 4.0
"""Of the inner scale, whatever the data's is."""
FACTORS = 50
ROUNDS = 100
DYNAMIC_ROUNDS = 10_000
"""Of S3, where few are online at a time."""
DYNAMIC_COHORT = 100
NOISE = 0.8
OWN_RIDGE = 4.0
"""Of the published fold-in: u = argmin |r - V u|^2 + ridge |u - start|^2."""
REASON = (
    "the recommender knows the mixing numbers, so to it the noise is Gaussian; the claim "
    "is for one round of many; "
    "profiles are not bounded; which items a person rated is visible"
)
COHORT_REASON = "the size of an item's cohort is visible, as printed"


class Weights(NamedTuple):
    """Of a step over n gradients: it is divided by `each` n + `over`, and its ridge weighs
    `kept` n + `pull`."""

    each: float
    over: float
    kept: float
    pull: float


class VisibleGradients(Form):
    """Rounds of: every device that is there sends a gradient for each item it rated, and
    moves its own profile."""

    settings: FederatedSettings

    @property
    def width(self) -> int:
        """Factors of each item."""
        return self.settings.factors or FACTORS

    @property
    def dynamic(self) -> bool:
        """Whether devices come and go."""
        return self.settings.scheme == "S3"

    def first_state(self, public: Public) -> State:
        """Random item profiles of length 1, from the public seed."""
        from tacit.methods.factorization.kernels_turns import first_profile

        rows = np.empty((public.items, self.width))
        for item in range(public.items):
            first_profile(self.method.seed + 1, item, rows[item])
        return ProfileState(items=rows.astype(np.float32))

    def plan(self, public: Public) -> Plan:
        """All steps; in S3 a round without ratings first, in which the noise is dealt."""
        weights = self.weights(public)
        parts = self.parts(public)
        count = self.settings.rounds or (
            DYNAMIC_ROUNDS if self.dynamic else ROUNDS
        )
        rounds = [
            self.step(
                parts, weights, self.turn(k, count), public.budget is not None
            )
            for k in range(count)
        ]
        if self.dynamic and public.budget is not None:
            rounds.insert(0, self.initialise(parts[0], self.turn(0, count)))
        story = f"Scheme {self.settings.scheme} as printed, {count} rounds."
        return Plan(public.unit, tuple(rounds), (story,))

    def turn(self, index: int, count: int) -> Turns:
        """Who takes part in a round."""
        given = self.settings
        cohort = given.cohort or (DYNAMIC_COHORT if self.dynamic else None)
        join = given.join if self.dynamic else 0.0
        leave = given.leave if self.dynamic else 0.0
        scheme: Scheme = given.scheme if given.third_party else "direct"
        return Turns(index, count + 1, cohort, join, leave, printed=scheme)

    def parts(self, public: Public) -> tuple[Part, Part]:
        """Gradients, and how many devices sent one: each for every item."""
        noisy = silent = None
        if public.budget is not None:
            epsilon = public.budget.epsilon
            scale = 2 * SPAN * sqrt(self.width) / epsilon
            noisy = Claim("laplace", scale, epsilon, 0.0, REASON)
            silent = Claim("none", 0.0, epsilon, 0.0, COHORT_REASON)
        bound = FixedPoint(LIMIT, GRID)
        one = FixedPoint(1.0, 1)
        return (
            Part(
                "gradient", public.items, bound, self.width, 0.5, printed=noisy
            ),
            Part("raters", public.items, one, 1, 0.5, printed=silent),
        )

    def step(
        self,
        parts: tuple[Part, Part],
        weights: Weights,
        turn: Turns,
        noisy: bool,
    ) -> Round:
        """One step of items and people."""
        given = self.settings
        bounded = noisy if given.bounded is None else given.bounded

        def contribute(block: Block, state: ProfileState) -> Mapping[str, Rows]:
            from tacit.methods.factorization.kernels_turns import take_step

            out = np.empty((len(block.item), self.width))
            take_step(
                block.people,
                block.ptr,
                block.item,
                block.value + OFFSET,
                np.asarray(state.items, np.float32),
                block.personal["profile"],
                self.method.seed,
                given.rate,
                given.ridge,
                (weights.each, weights.over, weights.kept, weights.pull),
                bounded,
                out,
            )
            ones = np.ones((len(block.item), 1))
            return {
                "gradient": Rows(block.ptr, block.item, out),
                "raters": Rows(block.ptr, block.item, ones),
            }

        def absorb(
            state: ProfileState, released: Mapping[str, Released]
        ) -> ProfileState:
            # The recommender's half of a step: items move against the sum of gradients.
            raters = np.round(released["raters"].value)
            items = state.items.astype(np.float64)
            weigh = weights
            if given.step == "scaled":  # equation 1 for those who are here
                here = raters.sum()
                weigh = weights._replace(over=given.ridge * here, pull=here)
            some = np.maximum(raters, 1)
            pull = 2 * given.ridge * (weigh.kept * some + weigh.pull) * items
            gradient = released["gradient"].value + pull
            change = gradient / (weigh.each * some + weigh.over)
            moved = np.where(raters > 0, items - given.rate * change, items)
            return state.after(items=moved.astype(np.float32))

        profile = Personal("profile", self.width)
        name = f"step {turn.index}"
        return Round(name, parts, contribute, absorb, turn, (profile,))

    def initialise(self, part: Part, turn: Turns) -> Round:
        """A round in which nobody's ratings enter, so that everybody holds pieces of noise."""

        def contribute(block: Block, state: ProfileState) -> Mapping[str, Rows]:
            nothing = np.zeros((len(block.item), self.width))
            return {"gradient": Rows(block.ptr, block.item, nothing)}

        def absorb(
            state: ProfileState, released: Mapping[str, Released]
        ) -> ProfileState:
            return state

        return Round("initialise", (part,), contribute, absorb, turn)

    def weights(self, public: Public) -> Weights:
        """What the gain multiplies: see the setting `step`."""
        given = self.settings
        servers = given.scheme == "S3" or self.method.engine == "federated"
        if not given.third_party and servers:
            raise SettingError(
                "equation 13 is of S2 and has no servers here",
                remedy="use --engine simulate",
            )
        if given.step == "mean":
            return Weights(1.0, 0.0, 1.0, 0.0)
        if given.step == "sum":
            return Weights(0.0, 1.0, 0.0, 1.0)
        if public.pattern is None:
            raise SettingError(
                f"step={given.step} weighs the ridge with the number of ratings, which is "
                "not public here",
                remedy="use --calibration paper and --engine simulate",
            )
        everything = float(max(1, len(public.pattern.item)))
        if given.step == "objective":
            return Weights(0.0, everything, 0.0, everything)
        return Weights(1.0, given.ridge * everything, 0.0, everything)

    def finish(self, public: Public, state: ProfileState) -> Shared:
        """The fold-in as the personal Gaussian model says it: loadings scaled, and the
        baseline what somebody without ratings would give, by the profile that comes nearest
        to mid-scale everywhere."""
        items = np.asarray(state.items, np.float32)
        items = np.nan_to_num(
            items, posinf=0.0, neginf=0.0
        )  # it may have diverged
        wide = items.astype(np.float64)
        start = np.linalg.lstsq(
            wide, np.full(public.items, OFFSET), rcond=1e-3
        )[0]
        arrays = {
            "baseline": (wide @ start - OFFSET).astype(np.float32),
            "variance": np.zeros(public.items, np.float32),
            "loadings": items * np.float32(sqrt(NOISE / OWN_RIDGE)),
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
