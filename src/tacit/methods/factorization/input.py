"""Berlioz et al. 2015: private averages, then a factorization of noisy residuals (PSGD and
PALS in Xian et al.)."""

from __future__ import annotations

from typing import ClassVar, Literal

from tacit.methods.base import Form, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import FactorMethod, FactorSettings, Forms
from tacit.methods.factorization.noisy import factors_from_noisy
from tacit.methods.factorization.printed_options import BerliozSettings
from tacit.methods.factorization.publish import publish
from tacit.methods.factorization.state import ValueState
from tacit.methods.factorization.value import input_round, item_sums, own_averages
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.state import State
from tacit.units import Unit

ITEM_SHARE = 0.14
OWN_SHARE = 0.14
"""Of the budget, for the averages of items and of people: as the printed form has it."""
RESIDUAL = 1.0
"""B: residuals from the private averages are clamped to +-B, so their noise is a quarter of
a plain rating's."""
FACTORS = 10
EPOCHS = {"descent": 20, "least squares": 8}
"""Of the training on noisy residuals, unless said."""


class NoisyResiduals(Form):
    """The sound form: averages of items and people are released; each residual from them is
    clamped and noised once (which the authors found best).

    Training on the noisy residuals is post-processing; a subclass says by which `trainer`.
    """

    settings: FactorSettings
    trainer: ClassVar[Literal["descent", "least squares"]]

    def plan(self, public: Public) -> Plan:
        """Averages, then residuals."""
        rounds = (
            item_sums(public, ITEM_SHARE),
            own_averages(public, OWN_SHARE),
            input_round(public, 1 - ITEM_SHARE - OWN_SHARE, RESIDUAL),
        )
        story = "Averages first; then every residual is clamped and noised once."
        return Plan("value", rounds, (story,))

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return ValueState()

    def finish(self, public: Public, state: ValueState) -> Shared:
        """Factors trained on the noisy residuals, for everybody's own ridge solve."""
        epochs = self.settings.epochs or EPOCHS[self.trainer]
        width = self.settings.factors or FACTORS
        state = factors_from_noisy(public, state, self.trainer, width, epochs, self.method.seed)
        return publish(self.method, public, state)


class NoisyDescent(NoisyResiduals):
    """Gradient descent on noisy residuals."""

    trainer = "descent"


class NoisyLeastSquares(NoisyResiduals):
    """Alternating least squares on noisy residuals."""

    trainer = "least squares"


class InputSGD(FactorMethod):
    """Input perturbation of residuals from private averages, then gradient descent on what
    is noisy."""

    name = "mf-input-sgd"
    source = "Berlioz et al. 2015 (PSGD in Xian et al.)"
    units: ClassVar[tuple[Unit, ...]] = ("value",)
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    Settings: ClassVar[type[BaseSettings]] = BerliozSettings
    forms: ClassVar[Forms] = {
        "sound": NoisyDescent,
        "paper": "tacit.papers.xian2017.printed.descent:PreprocessedDescent",
        "none": "tacit.methods.factorization.twin:FactorTwin",
    }


class InputALS(FactorMethod):
    """Input perturbation of residuals from private averages, then alternating least squares
    on what is noisy."""

    name = "mf-input-als"
    source = "Berlioz et al. 2015 (PALS in Xian et al.)"
    units: ClassVar[tuple[Unit, ...]] = ("value",)
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    Settings: ClassVar[type[BaseSettings]] = BerliozSettings
    forms: ClassVar[Forms] = {
        "sound": NoisyLeastSquares,
        "paper": "tacit.papers.xian2017.printed.least_squares:PreprocessedOutput",
        "none": "tacit.methods.factorization.twin:FactorTwin",
    }
