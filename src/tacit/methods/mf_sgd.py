"""Noisy gradients of item factors: DPSGD-MF, the baseline of Wang & Tang, from whole people drawn by a secret coin."""

from __future__ import annotations

from tacit.methods.base import Public
from tacit.methods.mf_base import FactorMethod, Settings, factor_plan, rule_width
from tacit.methods.mf_paper import Printed, paper_finish, preprocessed_descent
from tacit.methods.mf_rounds import Learning
from tacit.model.shared import Shared
from tacit.round import Coin, Plan, State

CHANCE = 0.8
"""Of taking part in a round. Fewer people a round would pay only with many more rounds."""


class GradientMF(FactorMethod):
    """Each round everyone who takes part adds her gradient; empirical Bayes sizes the step, so noise makes it small."""

    name = "mf-sgd"
    source = "DPSGD-MF in Wang & Tang; Berlioz et al. 2015"
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    twin = "svd"

    def sound_plan(self, public: Public) -> Plan:
        given = self.settings
        assert isinstance(given, Settings)
        how = Learning(rule_width(public, given.factors, self.most_factors), self.seed, second=0.0, gradient=True)
        story = "Whole people take part in a gradient round by a secret coin; who did is never released."
        return factor_plan(public, (how,) * (given.epochs or 3), "gradient", story, takes_part=Coin(CHANCE))

    def _printed(self) -> Printed:
        """Wang & Tang's settings for this baseline, where they name one value or the middle of a range."""
        given = self.settings
        assert isinstance(given, Settings)
        return Printed(given.factors or 15, given.epochs or 30, self.seed, rate=6e-4, ridge=0.02)

    def paper_plan(self, public: Public) -> Plan:
        return preprocessed_descent(public, self._printed())

    def paper_finish(self, public: Public, state: State) -> Shared:
        return paper_finish(self, public, self._printed(), state)
