"""Least squares from noisy statistics: DPALS (Chien et al. 2021) with adaptive weights (Krichene et al. 2023)."""

from __future__ import annotations

from tacit.methods.base import Public
from tacit.methods.mf_base import FactorMethod, Settings, factor_plan, rule_width
from tacit.methods.mf_likes import likes_finish, likes_plan
from tacit.methods.mf_rounds import Learning
from tacit.model.shared import Shared
from tacit.round import Plan, State


class ALS(FactorMethod):
    """Rounds of: everybody solves her vector against the released items; the items are solved from noisy sums.

    Unlike the published code every number is bounded: ratings are clipped after centring, the centre and the counts are
    releases of their own, and a person's whole row of statistics is clipped to one norm. Likes (`--positive`) take the
    implicit-feedback form.
    """

    name = "als"
    source = "Chien et al. 2021 (DPALS); Krichene et al. 2023"
    twin = "als"

    def sound_plan(self, public: Public) -> Plan:
        given = self.settings
        assert isinstance(given, Settings)
        if public.schema.positive is not None:
            return likes_plan(public, given.factors, given.epochs, self.seed)
        how = Learning(rule_width(public, given.factors, self.most_factors), self.seed)
        return factor_plan(public, (how,) * (given.epochs or 2), "factors", "Items are solved from noisy statistics.")

    def sound_finish(self, public: Public, state: State) -> Shared:
        if public.schema.positive is not None:
            return likes_finish(self, public, state)
        return super().sound_finish(public, state)
