"""Matrix factorization without holding ratings (Hua, Xia & Zhong 2015, schemes S2 and S3),
and its sound form.

`paper`: in every round each online person sends, for each item she rated, the gradient of
its profile plus pieces of noise; which items she rated is visible. `sound`: her whole
gradient over *all* items is one clipped row with her share of Skellam noise; nothing shows
which items she rated, and she counts her turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.bound import RowClip, Rows
from tacit.bound.fixed import FixedPoint
from tacit.errors import SettingError
from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.projected import projected
from tacit.model.shared import Shared
from tacit.rounds.people import Turns
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Claim
from tacit.rounds.round import Block, Part, Personal, Released, Round
from tacit.rounds.state import State

GRID = 2**10
"""Steps per unit of a printed gradient: the sum over 10^5 raters and its noise stay inside 32 bits.
"""
SOUND_GRID = 2**13
"""Steps per unit of a clipped gradient: 32 bits hold the sums of 10^5 devices."""
OFFSET = 3.0
"""The printed factorization is of ratings from 1 to 5; inside, mid-scale is 0."""
REASON = (
    "the recommender knows the mixing numbers, so to it the noise is Gaussian; the claim "
    "is for one round of many; "
    "profiles are not bounded; which items a person rated is visible"
)


class FederatedSettings(BaseSettings):
    scheme: Literal["S2", "S3"] = "S2"
    """`paper`: S2 has everybody in every round, S3 whoever is online."""
    third_party: bool = True
    """`paper`, S2: false is equation 13, where every rater's own noise hides her from the
    recommender (`simulate`)."""
    factors: int | None = Field(None, ge=1, le=200)
    """Unset: 50 as printed, and by rule in `sound`."""
    rounds: int | None = Field(None, ge=1, le=100_000)
    """Unset: 100 (S2) or 10,000 (S3) as printed; in `sound`, 2 rounds of factors."""
    cohort: int | None = Field(None, ge=2)
    """At most this many devices in a round; unset, everybody (S2, sound) or 100 (S3)."""
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
    """S3 in `simulate`: chance of coming online between rounds."""
    leave: float = Field(0.01, ge=0, le=1)
    project: int | None = Field(None, ge=8)
    """`sound`: project the items onto so many random directions, which shrinks what a device sends.
    """


class FederatedMF(Method):
    """See the module. In `none` the printed steps run without noise: plain factorization,
    the paper's baseline."""

    name = "mf-federated"
    source = "Hua, Xia & Zhong 2015, S2 and S3"
    units = ("user",)
    paper_unit = "value"
    calibrations = ("sound", "paper", "none")
    engines = ("simulate", "federated")
    Settings: ClassVar[type[BaseSettings]] = FederatedSettings

    @property
    def shows_items(self) -> bool:
        """Whether a device sends the rows of its own items alone, as printed."""
        return self.calibration != "sound"

    @property
    def chosen(self) -> FederatedSettings:
        given = self.settings
        assert isinstance(given, FederatedSettings)
        return given

    def first_state(self, public: Public) -> State:
        """Random item profiles of length 1, from the public seed."""
        if not self.shows_items:
            return {}
        from tacit.methods.factorization.kernels_turns import first_profile

        rows = np.empty((public.items, self.chosen.factors or 50))
        for item in range(public.items):
            first_profile(self.seed + 1, item, rows[item])
        return {"items": rows.astype(np.float32)}

    def plan(self, public: Public) -> Plan:
        return self._printed(public) if self.shows_items else self._sound(public)

    def _printed(self, public: Public) -> Plan:
        given, budget = self.chosen, public.budget
        width = given.factors or 50
        dynamic = given.scheme == "S3"
        count = given.rounds or (10_000 if dynamic else 100)
        weights = self._weights(public)
        bounded = budget is not None if given.bounded is None else given.bounded
        scheme: Literal["S2", "S3", "direct"] = (
            given.scheme if given.third_party else "direct"
        )
        bound = FixedPoint(2.0**15, GRID)
        noisy = silent = None
        if budget is not None:
            span = 4.0  # on the inner scale, whatever the data's is
            scale = 2 * span * sqrt(width) / budget.epsilon
            noisy = Claim("laplace", scale, budget.epsilon, 0.0, REASON)
            silent = Claim(
                "none",
                0.0,
                budget.epsilon,
                0.0,
                "the size of an item's cohort is visible, as printed",
            )

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            from tacit.methods.factorization.kernels_turns import take_step

            out = np.empty((len(block.item), width))
            take_step(
                block.people,
                block.ptr,
                block.item,
                block.value + OFFSET,
                np.asarray(state["items"], np.float32),
                block.personal["profile"],
                self.seed,
                given.rate,
                given.ridge,
                weights,
                bounded,
                out,
            )
            return {
                "gradient": Rows(block.ptr, block.item, out),
                "raters": Rows(block.ptr, block.item, np.ones((len(block.item), 1))),
            }

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            raters = np.round(released["raters"].value)
            items = state["items"].astype(np.float64)
            each, over, kept, pull = weights
            if given.step == "scaled":  # equation 1 for those who are here
                over, pull = given.ridge * raters.sum(), raters.sum()
            some = np.maximum(raters, 1)
            step = (
                released["gradient"].value
                + 2 * given.ridge * (kept * some + pull) * items
            ) / (each * some + over)
            return {
                **state,
                "items": np.where(raters > 0, items - given.rate * step, items).astype(
                    np.float32
                ),
            }

        def nothing(block: Block, state: State) -> Mapping[str, Rows]:
            return {
                "gradient": Rows(
                    block.ptr, block.item, np.zeros((len(block.item), width))
                )
            }

        parts = (
            Part("gradient", public.items, bound, width, 0.5, printed=noisy),
            Part("raters", public.items, FixedPoint(1.0, 1), 1, 0.5, printed=silent),
        )
        cohort = given.cohort or (100 if dynamic else None)
        join, leave = (given.join, given.leave) if dynamic else (0.0, 0.0)
        rounds = [
            Round(
                f"step {k}",
                parts,
                contribute,
                absorb,
                Turns(k, count + 1, cohort, join, leave, printed=scheme),
                (Personal("profile", width),),
            )
            for k in range(count)
        ]
        if dynamic and budget is not None:
            start = Turns(0, count + 1, cohort, join, leave, printed="S3")
            rounds.insert(
                0,
                Round(
                    "initialise",
                    parts[:1],
                    nothing,
                    lambda state, released: state,
                    start,
                ),
            )
        return Plan(
            public.unit,
            tuple(rounds),
            (f"Scheme {given.scheme} as printed, {count} rounds.",),
        )

    def _weights(self, public: Public) -> tuple[float, float, float, float]:
        """Of a step over n gradients: it is divided by `each` n + `over`, and its ridge
        weighs `kept` n + `pull`."""
        given = self.chosen
        if not given.third_party and (
            given.scheme == "S3" or self.engine == "federated"
        ):
            raise SettingError(
                "equation 13 is of S2 and has no servers here",
                remedy="use --engine simulate",
            )
        if given.step in ("mean", "sum"):
            return (
                (1.0, 0.0, 1.0, 0.0) if given.step == "mean" else (0.0, 1.0, 0.0, 1.0)
            )
        if public.pattern is None:
            raise SettingError(
                f"step={given.step} weighs the ridge with the number of ratings, which is "
                "not public here",
                remedy="use --calibration paper and --engine simulate",
            )
        everything = float(max(1, len(public.pattern.item)))
        if given.step == "objective":
            return 0.0, everything, 0.0, everything
        return 1.0, given.ridge * everything, 0.0, everything

    def _sound(self, public: Public) -> Plan:
        from tacit.methods.factorization.base import first_rounds, rule_width, shares
        from tacit.methods.factorization.rounds import Learning, learning_round

        given = self.chosen
        count = given.rounds or 2
        turns = min(given.turns or count, count)
        first, rest = shares(public, count)
        how = Learning(
            rule_width(public, given.factors, 15), self.seed, second=0.0, gradient=True
        )
        rounds = [
            replace(r, takes_part=Turns(0, 1)) for r in first_rounds(public, first)
        ]
        for k in range(count if rest else 0):
            learned = learning_round(
                public,
                how,
                f"factors {k + 1}",
                1 - first,
                first=k == 0,
                last=k + 1 == count,
                takes_part=Turns(k, turns, given.cohort),
            )
            coarse = tuple(
                replace(p, bound=RowClip(p.bound.limit, "l2", SOUND_GRID))
                for p in learned.parts
            )
            learned = replace(learned, parts=coarse)
            rounds.append(
                projected(learned, given.project, self.seed)
                if given.project
                else learned
            )
        size = (given.project or public.items) * how.columns * 4
        story = (
            (
                f"{100 * first:.0f} % of the budget go to level, weights and effects of "
                f"items; a device takes {turns} "
                f"of {count} turns at factors and sends {size:,} bytes in each, whatever it rated."
            ),
        )
        return Plan(public.unit, tuple(rounds), story)

    def finish(self, public: Public, state: State) -> Shared:
        if not self.shows_items:
            from tacit.methods.factorization.base import publish

            return publish(self, public, state)
        # u = argmin |r - V u|^2 + ridge |u - start|^2 as the personal Gaussian model says
        # it: loadings scaled, and the baseline what somebody without ratings would give:
        # the profile that comes nearest to mid-scale everywhere.
        noise, ridge = 0.8, 4.0
        items = np.nan_to_num(
            np.asarray(state["items"], np.float32), posinf=0.0, neginf=0.0
        )  # it may have diverged
        wide = items.astype(np.float64)
        start = np.linalg.lstsq(wide, np.full(public.items, OFFSET), rcond=1e-3)[0]
        arrays = {
            "baseline": (wide @ start - OFFSET).astype(np.float32),
            "variance": np.zeros(public.items, np.float32),
            "loadings": (items * np.float32(sqrt(noise / ridge))),
        }
        return Shared(
            self.name,
            "gaussian",
            arrays,
            {"noise": noise},
            public.schema,
            public.catalogue,
            self.settings.model_dump(),
        )
