"""Noisy gradients of item factors from whole people drawn by a secret coin: the baselines
of Wang & Tang.

DPSGD-MF takes steps; DPPS-MF (Liu, Wang & Smola 2015) takes Langevin steps and publishes
the mean of the chain.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from tacit.methods.base import Form, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import (
    FactorMethod,
    FactorSettings,
    Forms,
    factor_plan,
    rule_width,
)
from tacit.methods.factorization.publish import publish
from tacit.methods.factorization.rounds import Learning
from tacit.methods.factorization.state import FactorState
from tacit.model.shared import Shared
from tacit.rounds.people import EVERYONE, Coin, Participation
from tacit.rounds.plan import Plan
from tacit.rounds.state import State

CHANCE = 0.8
"""Of taking part in a round. Fewer people a round would pay only with many more rounds."""
STEPS = 3
LANGEVIN_STEPS = 5
"""Rounds of gradients, unless said."""


class GradientSettings(FactorSettings):
    """What `mf-sgd` can be told. The learning rate and the ridge are for `paper` alone; what
    is left unset there is a value of section 5.1 of Wang & Tang, which its statement tells."""

    rate: float | None = Field(None, gt=0)
    """`paper`: eta; unset 6e-4 (section 5.1: 6e-4, 8e-4)."""
    ridge: float | None = Field(None, gt=0)
    """`paper`: lambda; unset .02 (section 5.1: .02, .2)."""

    @model_serializer(mode="wrap")
    def _omit_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what was not said: a sound model has none of it."""
        plain = FactorSettings.model_fields
        return {
            name: value
            for name, value in handler(self).items()
            if value is not None or name in plain
        }


class LangevinSettings(GradientSettings):
    """What `mf-langevin` can be told. All but factors and epochs are for `paper` alone; what
    is left unset there is a value of section 5.1 of Wang & Tang, which its statement tells."""

    rate: float | None = Field(None, gt=0)
    """`paper`: eta_1; unset 8e-6 (section 5.1: 2e-9, 2e-8, 8e-7, 8e-6)."""
    ridge: float | None = Field(None, ge=0)
    """`paper`: lambda; unset .05 (section 5.1: .02, .05, .1, .2)."""
    temperature: float | None = Field(None, gt=0)
    """`paper`: rho; unset 6e-4 (section 5.1: 1e-4, 6e-4, 4e-3, 3e-2)."""
    falling: float | None = Field(None, ge=0, le=1)
    """`paper`: xi, by which steps fall; unset .3."""
    most: int | None = Field(None, ge=1)
    """`paper`: tau, random ratings of a person that are kept; unset 200."""
    times: Literal["ratings", "one"] | None = None
    """`paper`: what multiplies the drift; unset the number of ratings, as in the authors'
    published program."""
    biases: Literal["raw", "none"] | None = None
    """`paper`: whether biases are taken out first, which is not printed; unset, as they are."""
    people: Literal["trained", "folded"] | None = None
    """`paper`, in `evaluate` and `reproduce`: predict from both sides of the chain (unset),
    or from its items and everybody's exact ratings."""


def taking_part(public: Public) -> Participation:
    """Who gives a gradient: people drawn by a coin, or all where the plan may toss none,
    which buys about as much."""
    return Coin(CHANCE) if public.coins else EVERYONE


class GradientSteps(Form):
    """The sound form: each round everyone who takes part adds her gradient; empirical Bayes
    sizes the step, so noise makes it small."""

    settings: FactorSettings

    def plan(self, public: Public) -> Plan:
        """The rounds of `bias`, the steps, the choice."""
        width = rule_width(public, self.settings.factors)
        step = Learning(width, self.method.seed, second=0.0, gradient=True)
        steps = (step,) * (self.settings.epochs or STEPS)
        story = (
            "Whole people take part in a gradient round by a secret coin; who did is "
            "never released."
            if public.coins
            else "Everybody takes part in every gradient round."
        )
        return factor_plan(public, steps, "gradient", story, taking_part(public))

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FactorState()

    def finish(self, public: Public, state: FactorState) -> Shared:
        """Item profiles for everybody's own ridge solve."""
        return publish(self.method, public, state)


class LangevinSteps(GradientSteps):
    """The sound form (DP-SGLD): clipped gradients of whole people; the noise of the release
    is the noise of the chain.

    All iterates are released and paid for. The published factors are the mean of the chain
    after its first step, shrunk by its known noise; nothing is assumed about convergence.
    """

    def plan(self, public: Public) -> Plan:
        """The rounds of `bias`, the chain, the choice."""
        width = rule_width(public, self.settings.factors)
        step = Learning(width, self.method.seed, second=0.0, gradient=True, chain=True)
        steps = (step,) * (self.settings.epochs or LANGEVIN_STEPS)
        story = (
            "The noise of each release is the noise of a Langevin step; the mean of "
            "the chain is published."
        )
        return factor_plan(public, steps, "step", story, taking_part(public))


class GradientMF(FactorMethod):
    """Stochastic gradient descent: steps of item factors from clipped gradients of whole
    people, drawn by a secret coin, which makes each step cheaper."""

    name = "mf-sgd"
    engines = ("threads", "spark")
    source = "DPSGD-MF in Wang & Tang; Berlioz et al. 2015"
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    Settings: ClassVar[type[BaseSettings]] = GradientSettings
    forms: ClassVar[Forms] = {
        "sound": GradientSteps,
        "paper": "tacit.papers.xian2017.printed.descent:WangTangDescent",
        "none": "tacit.methods.factorization.twin:FactorTwin",
    }


class LangevinMF(FactorMethod):
    """Stochastic gradient Langevin dynamics: the noise that protects people is the noise
    that samples from a posterior. What is published is the mean of the chain."""

    name = "mf-langevin"
    engines = ("threads", "spark")
    source = "DPPS-MF in Wang & Tang; Liu, Wang & Smola 2015"
    calibrations = ("sound", "paper", "none")
    paper_unit = "user"
    Settings: ClassVar[type[BaseSettings]] = LangevinSettings
    forms: ClassVar[Forms] = {
        "sound": LangevinSteps,
        "paper": "tacit.papers.wang_tang.printed.langevin:LangevinSample",
        "none": "tacit.methods.factorization.twin:FactorTwin",
    }
