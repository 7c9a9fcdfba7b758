"""Alternating least squares from noisy statistics: DPALS (Chien et al. 2021) with adaptive
weights (Krichene et al. 2023), and the weighted non-negative factorization that Hua et al.
2015 name as future work.

    level, weights and effects of the items        released: the rounds of `bias`
    V := random rows, public
    in every round:
        each person    z := ridge solve of her ratings, less the effects, against V
        released       sums over people of w y z and of w (E[zz'] - I), item by item
        V := ridge solve of each item from its noisy sums, as wide as the noise allows
    how widely people differ, with and without V   released: the choice of `bias`

A person's z never leaves her side. Two files tell the rest: `factorization/base.py` the plan
and its shares of the budget, `factorization/rounds.py` the round and its solve. Likes
(`--positive`) take the implicit-feedback form of `factorization/likes.py`. Why each release
is bounded: docs/proofs/mf.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from tacit.methods.base import Form, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import (
    FactorMethod,
    FactorSettings,
    Forms,
    factor_plan,
    rule_width,
)
from tacit.methods.factorization.likes import likes_finish, likes_plan
from tacit.methods.factorization.publish import publish
from tacit.methods.factorization.rounds import Learning
from tacit.methods.factorization.state import FactorState, LikesState
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState
from tacit.rounds.state import State

ROUNDS = 2
LIKES_ROUNDS = 3
"""Of factors, for ratings and for likes: more would share the same budget."""


class ALSSettings(FactorSettings):
    """What `als` and `mf-nonnegative` can be told."""

    factors: int | None = Field(None, ge=1, le=200)
    """Factors of each item, at most 15 unless `none`; unset, 2 to 10 by people x budget."""
    epochs: int | None = Field(None, ge=1, le=1000)
    """Rounds; unset, 2 for ratings and 3 for likes."""


class LeastSquares(Form):
    """The sound form: in every round all items are solved from noisy statistics."""

    settings: ALSSettings
    story: ClassVar[str] = "Items are solved from noisy statistics."

    def learning(self, public: Public) -> Learning:
        """How each round learns: right- and left-hand sides of the items' regressions."""
        return Learning(rule_width(public, self.settings.factors), self.method.seed)

    def steps(self, public: Public) -> tuple[Learning, ...]:
        """The rounds of ratings: all alike."""
        return (self.learning(public),) * (self.settings.epochs or ROUNDS)

    def plan(self, public: Public) -> Plan:
        """First-order rounds, the steps, the choice; or the rounds of likes."""
        if public.schema.positive is not None:
            epochs = self.settings.epochs or LIKES_ROUNDS
            return likes_plan(public, self.learning(public), epochs)
        return factor_plan(public, self.steps(public), "factors", self.story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FactorState() if public.schema.positive is None else LikesState()

    def finish(self, public: Public, state: AnyState) -> Shared:
        """Item profiles for everybody's own ridge solve."""
        if public.schema.positive is not None:
            return likes_finish(self.method, public, state)
        return publish(self.method, public, state)


class NonnegativeLeastSquares(LeastSquares):
    """The same with the released side projected on what is not negative; the first round
    releases right-hand sides alone."""

    story = "Negative entries of factors become 0."

    def learning(self, public: Public) -> Learning:
        """As `als` learns, and then projected."""
        return replace(super().learning(public), nonnegative=True)

    def steps(self, public: Public) -> tuple[Learning, ...]:
        """A first round without left-hand sides, then rounds with them."""
        first, *rest = super().steps(public)
        return (replace(first, second=0.0), *rest)


class ALS(FactorMethod):
    """Rounds of: everybody solves her vector against the released items; the items are
    solved from noisy sums.

    Unlike the published code every number is bounded: ratings are clipped after centring,
    the centre and the counts are releases of their own, and a person's whole row of
    statistics is clipped to one norm. Likes (`--positive`) take the implicit-feedback form.
    """

    name = "als"
    source = "Chien et al. 2021 (DPALS); Krichene et al. 2023"
    engines: ClassVar[tuple[str, ...]] = ("threads", "spark", "federated")
    Settings: ClassVar[type[BaseSettings]] = ALSSettings
    forms: ClassVar[Forms] = {
        "sound": LeastSquares,
        "none": "tacit.methods.factorization.twin:FactorTwin",
    }


class NonnegativeMF(FactorMethod):
    """The same with the released side projected on what is not negative.

    An item is described by how much it has of each factor, never by less than none; what a
    person thinks of a factor may be good or bad, so her own side is free.
    """

    name = "mf-nonnegative"
    engines = ("threads", "spark")
    source = "future work in Hua et al. 2015"
    Settings: ClassVar[type[BaseSettings]] = ALSSettings
    forms: ClassVar[Forms] = {
        "sound": NonnegativeLeastSquares,
        "none": "tacit.methods.factorization.twin:NonnegativeTwin",
    }
