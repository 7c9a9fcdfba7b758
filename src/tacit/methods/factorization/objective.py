"""Hua, Xia & Zhong 2015, scenario S1: a trusted recommender publishes item profiles by
objective perturbation."""

from __future__ import annotations

from typing import ClassVar, Literal

from tacit.methods.base import Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import FactorMethod
from tacit.methods.factorization.base import Settings as FactorSettings
from tacit.methods.factorization.printed.descent import Printed
from tacit.methods.factorization.printed.least_squares import hua_plan
from tacit.methods.factorization.value import cells_of
from tacit.rounds.plan import Plan


class Settings(FactorSettings):
    noise: Literal["knorm", "laplace"] = "knorm"
    """In `paper`: K-norm noise (Theorem 1) or independent Laplace noise (Lemma 1)."""


class ObjectiveMF(FactorMethod):
    """`sound`: item profiles are released first (a right-hand side alone), everybody solves
    her vector against them, and one round of noisy statistics makes the final profiles
    (MECHANISMS 1.1)."""

    name = "mf-objective"
    source = "Hua, Xia & Zhong 2015, S1"
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    Settings: ClassVar[type[BaseSettings]] = Settings

    def sound_plan(self, public: Public) -> Plan:
        steps = self.learning(public, second=0.0), self.learning(public)
        return self.factor_plan(
            public,
            steps,
            "profiles",
            "One round of noisy statistics follows released profiles.",
        )

    def printed(self, public: Public) -> Printed:
        """lambda = mu = .001 of a mean over M ratings: a ridge of .001 M. At `value` M is
        public."""
        given = self.chosen
        return Printed(
            given.factors or 50,
            given.epochs or 10,
            self.seed,
            ridge=0.0,
            own_ridge=0.001 * cells_of(public),
        )

    def paper_plan(self, public: Public) -> Plan:
        return hua_plan(
            public, self.printed(public), laplace=self.chosen.noise == "laplace"
        )
