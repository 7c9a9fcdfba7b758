"""Hua, Xia & Zhong 2015, scenario S1: a trusted recommender publishes item profiles by objective perturbation."""

from __future__ import annotations

from typing import Literal

from tacit.methods.base import Public
from tacit.methods.mf_base import FactorMethod, factor_plan, rule_width
from tacit.methods.mf_base import Settings as FactorSettings
from tacit.methods.mf_paper import Printed, paper_finish
from tacit.methods.mf_printed_als import hua_plan
from tacit.methods.mf_rounds import Learning
from tacit.methods.mf_value import cells_of
from tacit.model.shared import Shared
from tacit.round import Plan, State


class Settings(FactorSettings):
    noise: Literal["knorm", "laplace"] = "knorm"
    """In `paper`: K-norm noise (Theorem 1) or independent Laplace noise (Lemma 1)."""


class ObjectiveMF(FactorMethod):
    """`sound`: item profiles are released first (a right-hand side alone), everybody solves her vector against them,
    and one round of noisy statistics makes the final profiles (MECHANISMS 1.1)."""

    name = "mf-objective"
    source = "Hua, Xia & Zhong 2015, S1"
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    Settings = Settings
    twin = "als"

    def sound_plan(self, public: Public) -> Plan:
        given = self.settings
        assert isinstance(given, Settings)
        width = rule_width(public, given.factors, self.most_factors)
        steps = (Learning(width, self.seed, second=0.0), Learning(width, self.seed))
        return factor_plan(public, steps, "profiles", "One round of noisy statistics follows released profiles.")

    def _printed(self, public: Public) -> Printed:
        """lambda = mu = .001 of a mean over M ratings: a ridge of .001 M. At `value` M is public."""
        given = self.settings
        assert isinstance(given, Settings)
        return Printed(
            given.factors or 50, given.epochs or 10, self.seed, ridge=0.0, own_ridge=0.001 * cells_of(public)
        )

    def paper_plan(self, public: Public) -> Plan:
        given = self.settings
        assert isinstance(given, Settings)
        return hua_plan(public, self._printed(public), laplace=given.noise == "laplace")

    def paper_finish(self, public: Public, state: State) -> Shared:
        return paper_finish(self, public, self._printed(public), state)
