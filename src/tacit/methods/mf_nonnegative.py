"""Weighted non-negative factorization, which Hua et al. 2015 name as future work."""

from __future__ import annotations

from tacit.methods.base import Public
from tacit.methods.mf_base import FactorMethod, Settings, factor_plan, rule_width
from tacit.methods.mf_rounds import Learning
from tacit.round import Plan


class NonnegativeMF(FactorMethod):
    """The sound least squares with the released side projected on what is not negative.

    An item is described by how much it has of each factor, never by less than none; what a person thinks of a factor
    may be good or bad, so her own side is free.
    """

    name = "mf-nonnegative"
    source = "future work in Hua et al. 2015"
    twin = "nonnegative"

    def sound_plan(self, public: Public) -> Plan:
        given = self.settings
        assert isinstance(given, Settings)
        how = Learning(rule_width(public, given.factors, self.most_factors), self.seed, nonnegative=True)
        return factor_plan(public, (how,) * (given.epochs or 2), "factors", "Negative entries of factors become 0.")
