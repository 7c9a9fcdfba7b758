"""Berlioz et al. 2015: private averages, then a factorization of noisy residuals (PSGD and
PALS in Xian et al.)."""

from __future__ import annotations

from typing import ClassVar, Literal

from tacit.ledger.account.event import Unit
from tacit.methods.base import Public
from tacit.methods.factorization.base import FactorMethod, publish
from tacit.methods.factorization.noisy import factors_from_noisy
from tacit.methods.factorization.printed.descent import preprocessed_descent
from tacit.methods.factorization.printed.least_squares import preprocessed_output_plan
from tacit.methods.factorization.twin import TwinKind
from tacit.methods.factorization.value import input_round, item_sums, own_averages
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.state import State

ITEM_SHARE, OWN_SHARE = 0.14, 0.14
RESIDUAL = 1.0
"""B: residuals from the private averages are clamped to +-B, so their noise is a quarter of
a plain rating's."""


class InputSGD(FactorMethod):
    """Averages of items and people are released; each residual from them is clamped and
    noised once (which the authors found best); gradient descent on the noisy residuals is
    post-processing."""

    name = "mf-input-sgd"
    source = "Berlioz et al. 2015 (PSGD in Xian et al.)"
    units: ClassVar[tuple[Unit, ...]] = ("value",)
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    twin: ClassVar[TwinKind] = "svd"
    trainer: ClassVar[Literal["descent", "least squares"]] = "descent"

    def sound_plan(self, public: Public) -> Plan:
        values = input_round(public, 1 - ITEM_SHARE - OWN_SHARE, RESIDUAL)
        rounds = (
            item_sums(public, ITEM_SHARE),
            own_averages(public, OWN_SHARE),
            values,
        )
        return Plan(
            "value",
            rounds,
            ("Averages first; then every residual is clamped and noised once.",),
        )

    def sound_finish(self, public: Public, state: State) -> Shared:
        epochs = self.chosen.epochs or (20 if self.trainer == "descent" else 8)
        width = self.chosen.factors or 10
        return publish(
            self,
            public,
            factors_from_noisy(public, state, self.trainer, width, epochs, self.seed),
        )

    def paper_plan(self, public: Public) -> Plan:
        make = (
            preprocessed_descent
            if self.trainer == "descent"
            else preprocessed_output_plan
        )
        return make(public, self.printed(public))


class InputALS(InputSGD):
    """The same with alternating least squares."""

    name = "mf-input-als"
    source = "Berlioz et al. 2015 (PALS in Xian et al.)"
    twin: ClassVar[TwinKind] = "als"
    trainer = "least squares"
