"""What all factorizations have in common: three calibrations, one way to publish, and a
rule for sharing the budget.

A private factorization is `bias` and more: the rounds of `bias`, then rounds that learn
factors, then the choice of how widely people differ, where factors that do not help
people's left-out ratings are taken out again. Where the budget would not pay for factors
the plan is that of `bias`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Rows
from tacit.errors import SettingError
from tacit.ledger.account.event import Unit
from tacit.ledger.account.gaussian import epsilon_at
from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.baselines.bias import Bias, strength
from tacit.methods.factorization.printed.descent import (
    LIFT_SHRINK,
    Printed,
    paper_finish,
    scalar_lift,
)
from tacit.methods.factorization.rounds import (
    EVERYONE,
    Learning,
    baseline,
    learning_round,
    profiles,
)
from tacit.methods.factorization.twin import (
    TwinKind,
    TwinSettings,
    twin_finish,
    twin_round,
)
from tacit.methods.first_order.rounds import FirstOrder, public_design
from tacit.model.person.gaussian import NOISE, GaussianModel
from tacit.model.shared import Shared
from tacit.rounds.people import Participation
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Block, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
FACTORS_FROM = 3000.0
"""People times mu: below this the noise of one person drowns all factors, so none are paid for."""
MOST_SHARE, HALF_AT = 0.72, 4000.0
"""Of the budget for factors, at most and half of it at this signal: as `bayes` shares its
budget. Seen on other splits than those of docs/results/mf.md."""


class Settings(BaseSettings):
    factors: int | None = Field(None, ge=1, le=200)
    """Factors of each item; unset, a rule of each calibration chooses."""
    epochs: int | None = Field(None, ge=1, le=1000)
    """Passes or rounds; unset, a rule of each calibration chooses."""


class FactorMethod(Bias):
    """A factorization: `sound` rounds, a non-private twin, and for methods of a paper its
    printed form."""

    Settings: ClassVar[type[BaseSettings]] = Settings
    engines: ClassVar[tuple[str, ...]] = ("threads",)
    units: ClassVar[tuple[Unit, ...]] = ("user",)
    twin: ClassVar[TwinKind] = "als"
    most_factors: ClassVar[int] = 15
    """In `sound` calibration: people's rows grow with the square."""
    rule_factors: ClassVar[int] = 10
    """The most that the rule asks for."""

    @property
    def chosen(self) -> Any:
        """The settings, of the class that this method names."""
        return self.settings

    @property
    def by_sums(self) -> bool:
        """Devices give sums alone, so over them the twin is `sound` without its noise."""
        return self.engine == "federated"

    def plan(self, public: Public) -> Plan:
        if public.calibration == "none" and not self.by_sums:
            return Plan(
                public.unit,
                (twin_round(public, self.twin_settings(public)),),
                ("Not private: no noise.",),
            )
        return (
            self.paper_plan(public)
            if public.calibration == "paper"
            else self.sound_plan(public)
        )

    def finish(self, public: Public, state: State) -> Shared:
        if public.calibration == "none" and not self.by_sums:
            return twin_finish(self, public, self.twin_settings(public), state)
        if public.calibration == "paper":
            return paper_finish(self, public, self.printed(public), state)
        return self.sound_finish(public, state)

    def twin_settings(self, public: Public) -> TwinSettings:
        return TwinSettings(
            self.twin, self.chosen.factors, self.chosen.epochs, self.seed
        )

    @abstractmethod
    def sound_plan(self, public: Public) -> Plan:
        """The rounds that make the promise true."""

    def sound_finish(self, public: Public, state: State) -> Shared:
        return publish(self, public, state)

    def paper_plan(self, public: Public) -> Plan:
        """The printed form, where there is one."""
        raise SettingError(
            f"{self.name} has no printed form", remedy="use --calibration sound"
        )

    def printed(self, public: Public) -> Printed:
        """The constants of the printed form."""
        return Printed(self.chosen.factors or 5, self.chosen.epochs or 20, self.seed)

    def learning(self, public: Public, **how: Any) -> Learning:
        """How factors are learned, as many as the settings or the signal say."""
        width = rule_width(
            public, self.chosen.factors, self.most_factors, self.rule_factors
        )
        return Learning(width, self.seed, **how)

    def factor_plan(
        self,
        public: Public,
        steps: tuple[Learning, ...],
        name: str,
        story: str,
        takes_part: Participation = EVERYONE,
    ) -> Plan:
        """The rounds of `bias`, with one round for each of `steps` before its choice unless
        the signal is too small."""
        first, rest = shares(public, len(steps))
        rounds = [
            learning_round(
                public,
                how,
                f"{name} {k}",
                share,
                first=k == 1,
                last=k == len(rest),
                takes_part=takes_part,
            )
            for k, (how, share) in enumerate(zip(steps, rest, strict=False), 1)
        ]
        told = (
            (
                f"{100 * first:.0f} % of the budget go to the rounds of `bias`: level, "
                "weights, effects, choice."
            ),
            story
            if rest
            else "So few people or so little budget would not pay for factors: the plan "
            "is that of bias.",
        )
        before = first_rounds(public, first)
        left = first - sum(part.share for round_ in before for part in round_.parts)
        choice = self._choice(public, left, steps[-1] if rest else None)
        return Plan(public.unit, (*before, *rounds, choice), told)

    def _choice(self, public: Public, share: float, how: Learning | None) -> Round:
        """The choice of `bias`, with the factors as one more group; what implicit ratings
        say is taken as known."""
        made = self.choice(_first_order(public), share)
        if how is None or not (how.implicit or how.scalar):
            return made
        features = public_design(public)

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            from tacit.kernels.factors import implicit_values

            counts = np.diff(block.ptr)
            told = (
                np.repeat(scalar_lift(counts), counts)
                * state["factors"].sum(axis=1)[block.item]
            )
            if how.implicit:
                matrix, fixed = profiles(state, features)
                implicit_values(
                    block.ptr,
                    block.item,
                    matrix,
                    _widened(state["implicit"], fixed),
                    told,
                )
            return made.contribute(replace(block, value=block.value - told), state)

        return replace(made, contribute=contribute)

    def _loadings(
        self, first: FirstOrder, state: State | None
    ) -> tuple[Floats, NDArray[np.int64]]:
        fixed, groups = super()._loadings(first, state)
        if not shares(first.public, 1)[1]:
            return fixed, groups
        learned = (
            np.zeros((len(fixed), self.learning(first.public).width))
            if state is None
            else state["factors"]
        )
        own = np.full(learned.shape[1], groups.max() + 1)
        return np.ascontiguousarray(np.hstack([fixed, learned])), np.concatenate(
            [groups, own]
        )

    def _model(
        self, first: FirstOrder, state: State
    ) -> tuple[GaussianModel, NDArray[np.int64]]:
        made, groups = self._loadings(first, state)
        unknown = state["variance"] + state.get("unknown", np.zeros(len(made)))
        return GaussianModel(baseline(state), unknown, made), groups


def signal(public: Public) -> float:
    """People times mu: how far what people agree on stands out of the noise of one person.
    Known before any data."""
    return min((public.schema.users or 1000) * strength(public.budget), 1e9)


def shares(
    public: Public, rounds: int, start: float = FACTORS_FROM
) -> tuple[float, tuple[float, ...]]:
    """Of the budget: to the rounds of `bias`, and to each round of factors. A small signal
    gets no factors, and neither does a pure budget: a whole person's row of statistics has
    no short L1 norm."""
    a = signal(public)
    if a < start or _first_order(public).pure:
        return 1.0, ()
    learned = MOST_SHARE * a**2 / (a**2 + HALF_AT**2)
    return 1 - learned, (learned / rounds,) * rounds


def _first_order(public: Public) -> FirstOrder:
    return FirstOrder(
        public,
        public_design(public),
        public.budget is not None and public.budget.delta == 0,
    )


def first_rounds(public: Public, share: float, sweeps: int = 3) -> tuple[Round, ...]:
    """The rounds of `bias` before its choice, at the budget whose mu^2 is `share` of this one's."""
    budget = public.budget
    if budget is not None and share < 1:
        budget = Budget(
            epsilon_at(strength(budget) * sqrt(share), budget.delta), budget.delta
        )
    rounds = Bias(sweeps=sweeps).plan(replace(public, budget=budget)).rounds[:-1]
    return tuple(
        replace(r, parts=tuple(replace(p, share=share * p.share) for p in r.parts))
        for r in rounds
    )


def publish(
    method: Method, public: Public, state: State, *, scalar: bool = False
) -> Shared:
    """Released arrays for the personal Gaussian model: baseline, what is unknown of it, and
    item profiles."""
    matrix, fixed = profiles(state, public_design(public))
    scales = state["scales"] if "scales" in state else np.ones(matrix.shape[1])
    learned = scales[fixed:].max(initial=0.0)
    unknown = (
        state["variance"] + state.get("unknown", np.zeros(public.items)) * learned**2
    )
    noise = float(state["noise"][0]) if "noise" in state else NOISE
    arrays = {
        "baseline": baseline(state),
        "variance": unknown,
        "loadings": matrix * scales,
        "weight": state["weight"],
    }
    personal, numbers = "gaussian", {"noise": noise}
    back = 1 / np.where(scales > 0, scales, 1.0)
    if "implicit" in state and learned > 0:
        personal, arrays["implicit"] = (
            "factors",
            _widened(state["implicit"], fixed) * back,
        )
    elif scalar and learned > 0:
        personal, numbers["lift_shrink"] = "factors", LIFT_SHRINK
        arrays["lift"] = (
            np.concatenate(
                [np.zeros(fixed), state.get("lift", np.ones(len(scales) - fixed))]
            )
            * back
        )
    return Shared(
        method.name,
        personal,
        {name: np.asarray(array, np.float32) for name, array in arrays.items()},
        numbers,
        public.schema,
        public.catalogue,
        method.settings.model_dump(),
    )


def _widened(implicit: Floats, fixed: int) -> Floats:
    """Implicit factors say nothing about the columns that are settled before the factors."""
    return np.hstack([np.zeros((len(implicit), fixed)), implicit])


def rule_width(
    public: Public, given: int | None, most: int, rule: int = FactorMethod.rule_factors
) -> int:
    """Factors by the size of the signal, unless given."""
    if given is not None:
        return min(given, most)
    return int(np.clip(np.round(sqrt(signal(public) / 300)), 2, min(rule, most)))
