"""Xian et al. 2017: SVD and SVD++ with private noise, as one method of two values.

*Where the noise goes*: on the gradients (Algorithm 1: DPSS, DPSS++), in the objective
(Algorithm 2: DPSAObj, DPSAObj++) or on the output (Algorithm 3: DPSAOut, DPSAOut++).
*What is implicit*: nothing (SVD), one number for each person (SVD++ as printed) or factors
learned for each item (SVD++ as Koren 2008 has it).

| noise     | unit `value`                                       | unit `user`              |
|-----------|----------------------------------------------------|--------------------------|
| gradient  | every rating is noised once: k noisy looks at the  | rounds of clipped        |
|           | same rating only imitate that, at a higher price   | gradients                |
| objective | people, then items, are solved with K-norm noise   | noisy statistics, as     |
|           | in the linear term of their objective              | in `als`                 |
| output    | the same with K-norm noise on every solution,      |                          |
|           | sized by the ridge's own bound                     |                          |
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.methods.base import Form, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import (
    RULE_FACTORS,
    FactorMethod,
    FactorSettings,
    Forms,
    factor_plan,
    rule_width,
)
from tacit.methods.factorization.implicit import Implicit
from tacit.methods.factorization.noisy import Trainer, factors_from_noisy
from tacit.methods.factorization.printed_options import ImplicitSettings, XianSettings
from tacit.methods.factorization.publish import publish
from tacit.methods.factorization.rounds import Learning
from tacit.methods.factorization.sides import BothSides, implicit_from_people
from tacit.methods.factorization.state import FactorState, ValueState
from tacit.methods.factorization.value import input_round, item_sums
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Kind
from tacit.rounds.state import NOT_YET, State
from tacit.units import Unit

Where = Literal["gradient", "objective", "output"]
FIRST_SHARE = 0.15
"""At `value`, for one noisy sum of each item."""
STEPS = {"gradient": 3, "objective": 2}
"""Rounds of factors at `user`."""
PLUS_STATISTICS = 7
"""The most factors by rule, where rows hold both statistics and implicit factors: of 6, 7
and 8 at epsilon 20 (docs/results/mf.md)."""
VALUE_FACTORS = 10
VALUE_EPOCHS = 20
"""Of the training on noisy ratings, unless said."""
SIDE_FACTORS = 5
"""Of noisy solves: as the paper has it."""
MOST_SIDE_FACTORS = 14
"""K-norm noise is exact on the grid up to 15 columns, one of which is a person's level."""


class SoundSVD(Form):
    """The sound forms: one for each cell of the module's table.

    At `user` the plan is that of all factorizations, with the steps that the two values ask
    for. At `value`, where numbers of single ratings and people may be released, it is one of
    two others, and factors are made by `finish`, from released numbers alone.
    """

    method: XianMethod
    settings: FactorSettings

    def plan(self, public: Public) -> Plan:
        """By unit, and by where the noise goes."""
        if public.unit == "user":
            return self.whole_people(public)
        if self.method.where == "gradient":
            return self.noisy_ratings(public)
        return self.noisy_sides(public)

    def whole_people(self, public: Public) -> Plan:
        """Gradients or statistics of whole people, between the rounds of `bias` and its
        choice."""
        rounds = self.settings.epochs or STEPS[self.method.where]
        opening, later = self.steps(public)
        steps = (opening, *(later,) * (rounds - 1))
        if self.method.where == "gradient":
            return factor_plan(public, steps, "gradient", "Clipped gradients.")
        story = "Noisy statistics follow released profiles."
        return factor_plan(public, steps, "factors", story)

    def steps(self, public: Public) -> tuple[Learning, Learning]:
        """How the first round learns, and how all later ones do.

        The first sends right-hand sides against random profiles. Later ones send, against
        released profiles, gradients or whole statistics, and what SVD++ asks for.
        """
        gradient = self.method.where == "gradient"
        plain = self.method.implicit_side == "nothing"
        rule = RULE_FACTORS if gradient or plain else PLUS_STATISTICS
        width = rule_width(public, self.settings.factors, rule)
        later = Learning(
            width,
            self.method.seed,
            gradient=gradient,
            implicit=self.method.implicit_side == "learned",
            scalar=self.method.implicit_side == "scalar",
        )
        if gradient:
            later = replace(later, second=0.0)
        return Learning(width, self.method.seed, second=0.0), later

    def noisy_ratings(self, public: Public) -> Plan:
        """Every rating is noised once, less the noisy effect of its item; `finish` trains on
        the noisy ratings as often as it likes."""
        rounds = (item_sums(public, FIRST_SHARE), input_round(public, 1 - FIRST_SHARE))
        story = "Every rating is noised once; the training sees only noisy ratings."
        return Plan("value", rounds, (story,))

    def noisy_sides(self, public: Public) -> Plan:
        """Noise in every solve of a person or an item, or on its solution.

        Who rated what is public, so implicit factors of SVD++ cost nothing: `finish` takes
        them from the released vectors. The printed scalar would add nothing to them.
        """
        if self.method.implicit_side == "scalar":
            raise SettingError(
                f"{self.method.name} at the unit value takes implicit factors from the released "
                "vectors, which is free",
                remedy="leave --set implicit=scalar out, or use --unit user or --calibration paper",
            )
        width = min(self.settings.factors or SIDE_FACTORS, MOST_SIDE_FACTORS)
        inside = self.method.where == "objective"
        kind = Kind.OBJECTIVE if inside else Kind.OUTPUT
        sides = BothSides(public, kind, width, self.method.seed)
        rounds = (item_sums(public, FIRST_SHARE), *sides.rounds(1 - FIRST_SHARE))
        noise_place = "in the objective" if inside else "on the solution"
        return Plan("value", rounds, (f"Both sides get K-norm noise {noise_place}.",))

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return ValueState() if public.unit == "value" else FactorState()

    def finish(self, public: Public, state: FactorState) -> Shared:
        """Item profiles, and what having rated says, for everybody's own ridge solve."""
        if isinstance(state, ValueState):
            state = self.with_factors(public, state)
        return publish(self.method, public, state, lift=self.lift(state))

    def with_factors(self, public: Public, state: ValueState) -> ValueState:
        """At `value`: factors from noisy ratings; or, where factors were released, implicit
        ones from people's released vectors."""
        if self.method.where == "gradient":
            trainers: dict[Implicit, Trainer] = {
                "nothing": "descent",
                "scalar": "scalar",
                "learned": "svdpp",
            }
            trainer = trainers[self.method.implicit_side]
            width = self.settings.factors or VALUE_FACTORS
            epochs = self.settings.epochs or VALUE_EPOCHS
            return factors_from_noisy(public, state, trainer, width, epochs, self.method.seed)
        if self.method.implicit_side == "learned":
            return replace(state, implicit=implicit_from_people(public, state))
        return state

    def lift(self, state: FactorState) -> NDArray[np.float64] | None:
        """The direction of the printed scalar: all factors alike, as they were trained."""
        if self.method.implicit_side != "scalar" or state.factors is NOT_YET:
            return None
        if isinstance(state, ValueState) and state.lift is not NOT_YET:
            return state.lift
        return np.ones(state.factors.shape[1])


PRINTED: dict[Where, str] = {
    "gradient": "tacit.papers.xian2017.printed.descent:NoisyErrors",
    "objective": "tacit.papers.xian2017.printed.least_squares:NoisyObjective",
    "output": "tacit.papers.xian2017.printed.least_squares:NoisyOutput",
}
"""The three algorithms of the paper."""


def _forms(where: Where, twin: str) -> Forms:
    return {
        "sound": SoundSVD,
        "paper": PRINTED[where],
        "none": f"tacit.methods.factorization.twin:{twin}",
    }


class XianMethod(FactorMethod):
    """A method of Xian et al. 2017, of two values.

    Where the noise goes is `where`. What is implicit is nothing for a class that keeps the
    settings of all factorizations (SVD), and for one that takes the `ImplicitSettings` of this
    module (SVD++) what they say.
    """

    units: ClassVar[tuple[Unit, ...]] = ("value", "user")
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    Settings: ClassVar[type[BaseSettings]] = XianSettings
    where: ClassVar[Where]

    @property
    def implicit_side(self) -> Implicit:
        """What is implicit: what having rated says, whatever the ratings are."""
        settings = self.settings
        if not isinstance(settings, ImplicitSettings):
            return "nothing"
        usual: Implicit = "scalar" if self.calibration == "paper" else "learned"
        return settings.implicit or usual


class GradientSVD(XianMethod):
    """SVD with noise on the gradients: at `value` every rating is noised once, at `user`
    clipped gradients of whole people are."""

    name = "svd-gradient"
    source = "Xian et al. 2017, Algorithm 1 (DPSS)"
    where = "gradient"
    forms: ClassVar[Forms] = _forms("gradient", "FactorTwin")


class GradientSVDPP(XianMethod):
    """SVD++ with noise on the gradients: as `svd-gradient`, with implicit factors that are
    learned beside the others, or in `paper` with the scalar that is printed."""

    name = "svdpp-gradient"
    source = "Xian et al. 2017, Algorithm 1 (DPSS++)"
    where = "gradient"
    forms: ClassVar[Forms] = _forms("gradient", "ImplicitTwin")
    Settings: ClassVar[type[BaseSettings]] = ImplicitSettings


class ObjectiveSVD(XianMethod):
    """SVD with noise in the objective: at `value` a random linear term in each solve of a
    person or an item, at `user` noisy statistics as in `als`."""

    name = "svd-objective"
    source = "Xian et al. 2017, Algorithm 2 (DPSAObj)"
    where = "objective"
    forms: ClassVar[Forms] = _forms("objective", "FactorTwin")


class ObjectiveSVDPP(XianMethod):
    """SVD++ with noise in the objective: as `svd-objective`, with implicit factors; at
    `value` who rated what is public, so they are free."""

    name = "svdpp-objective"
    source = "Xian et al. 2017, Algorithm 2 (DPSAObj++)"
    where = "objective"
    forms: ClassVar[Forms] = _forms("objective", "ImplicitTwin")
    Settings: ClassVar[type[BaseSettings]] = ImplicitSettings


class OutputSVD(XianMethod):
    """SVD with noise on the output: every solution is released with noise that covers what
    one rating can move it by, which its ridge bounds."""

    name = "svd-output"
    source = "Xian et al. 2017, Algorithm 3 (DPSAOut)"
    units = ("value",)
    where = "output"
    forms: ClassVar[Forms] = _forms("output", "FactorTwin")


class OutputSVDPP(XianMethod):
    """SVD++ with noise on the output: as `svd-output`, with implicit factors, which are free
    because who rated what is public at `value`."""

    name = "svdpp-output"
    source = "Xian et al. 2017, Algorithm 3 (DPSAOut++)"
    units = ("value",)
    where = "output"
    forms: ClassVar[Forms] = _forms("output", "ImplicitTwin")
    Settings: ClassVar[type[BaseSettings]] = ImplicitSettings
