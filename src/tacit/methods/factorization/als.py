"""Least squares from noisy statistics: DPALS (Chien et al. 2021) with adaptive weights
(Krichene et al. 2023), and the weighted non-negative factorization that Hua et al. 2015
name as future work."""

from __future__ import annotations

from typing import Any, ClassVar

from tacit.methods.base import Public
from tacit.methods.factorization.base import FactorMethod
from tacit.methods.factorization.likes import likes_finish, likes_plan
from tacit.methods.factorization.twin import TwinKind
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.state import State


class ALS(FactorMethod):
    """Rounds of: everybody solves her vector against the released items; the items are
    solved from noisy sums.

    Unlike the published code every number is bounded: ratings are clipped after centring,
    the centre and the counts are releases of their own, and a person's whole row of
    statistics is clipped to one norm. Likes (`--positive`) take the implicit-feedback form.
    """

    name = "als"
    source = "Chien et al. 2021 (DPALS); Krichene et al. 2023"
    engines: ClassVar[tuple[str, ...]] = ("threads", "federated")
    how: ClassVar[dict[str, Any]] = {}
    opening: ClassVar[dict[str, Any]] = {}
    """What is different about the first round."""
    story: ClassVar[str] = "Items are solved from noisy statistics."

    def sound_plan(self, public: Public) -> Plan:
        how, epochs = self.learning(public, **self.how), self.chosen.epochs
        if public.schema.positive is not None:
            return likes_plan(public, how, epochs or 3)
        first = self.learning(public, **{**self.how, **self.opening})
        steps = (first, *(how,) * ((epochs or 2) - 1))
        return self.factor_plan(public, steps, "factors", self.story)

    def sound_finish(self, public: Public, state: State) -> Shared:
        if public.schema.positive is not None:
            return likes_finish(self, public, state)
        return super().sound_finish(public, state)


class NonnegativeMF(ALS):
    """The same with the released side projected on what is not negative.

    An item is described by how much it has of each factor, never by less than none; what a
    person thinks of a factor may be good or bad, so her own side is free.
    """

    name = "mf-nonnegative"
    source = "future work in Hua et al. 2015"
    engines: ClassVar[tuple[str, ...]] = ("threads",)
    twin: ClassVar[TwinKind] = "nonnegative"
    how: ClassVar[dict[str, Any]] = {"nonnegative": True}
    opening: ClassVar[dict[str, Any]] = {"second": 0.0}
    story = "Negative entries of factors become 0."
