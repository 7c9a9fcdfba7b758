"""Xian et al. 2017: SVD and SVD++ with noise on the gradients (Algorithm 1: DPSS, DPSS++),
in the objective (Algorithm 2: DPSAObj, DPSAObj++) or on the output (Algorithm 3: DPSAOut,
DPSAOut++)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from tacit.errors import SettingError
from tacit.ledger.account.event import Unit
from tacit.methods.base import Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import FactorMethod, publish
from tacit.methods.factorization.base import Settings as FactorSettings
from tacit.methods.factorization.noisy import Trainer, factors_from_noisy
from tacit.methods.factorization.printed.descent import Printed, gradient_plan
from tacit.methods.factorization.printed.least_squares import (
    objective_plan,
    output_plan,
)
from tacit.methods.factorization.rounds import Learning
from tacit.methods.factorization.twin import TwinKind, TwinSettings
from tacit.methods.factorization.value import (
    implicit_from_people,
    input_round,
    item_sums,
    side_rounds,
)
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.state import State

FIRST_SHARE = 0.15
"""At `value`, for one noisy sum of each item."""


class GradientSVD(FactorMethod):
    """`value`: true input perturbation, which k noisy looks at the same rating only imitate
    at a higher price. `user`: rounds of clipped gradients of whole people."""

    name = "svd-gradient"
    source = "Xian et al. 2017, Algorithm 1 (DPSS)"
    units: ClassVar[tuple[Unit, ...]] = ("value", "user")
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    twin: ClassVar[TwinKind] = "svd"
    plus: ClassVar[bool] = False

    @property
    def scalar(self) -> bool:
        """Whether SVD++ takes the printed scalar; else it learns implicit factors."""
        given = getattr(self.chosen, "implicit", None)
        return (
            self.plus
            and (given or ("scalar" if self.calibration == "paper" else "learned"))
            == "scalar"
        )

    def twin_settings(self, public: Public) -> TwinSettings:
        return replace(super().twin_settings(public), scalar=self.scalar)

    def sound_plan(self, public: Public) -> Plan:
        if public.unit == "user":
            steps = self._steps(public, 0.0, self.chosen.epochs or 3)
            return self.factor_plan(public, steps, "gradient", "Clipped gradients.")
        rounds = (item_sums(public, FIRST_SHARE), input_round(public, 1 - FIRST_SHARE))
        return Plan(
            "value",
            rounds,
            ("Every rating is noised once; the training sees only noisy ratings.",),
        )

    def _steps(self, public: Public, second: float, count: int) -> tuple[Learning, ...]:
        """Right-hand sides from random profiles; then what `second` and SVD++ ask for, from
        released ones."""
        first = self.learning(public, second=0.0)
        learned = self.plus and not self.scalar
        later = self.learning(
            public,
            second=second,
            gradient=not second,
            implicit=learned,
            scalar=self.scalar,
        )
        return first, *(later,) * (count - 1)

    def sound_finish(self, public: Public, state: State) -> Shared:
        if public.unit == "value":
            factors, epochs = self.chosen.factors or 10, self.chosen.epochs or 20
            trainer: Trainer = (
                "scalar" if self.scalar else "svdpp" if self.plus else "descent"
            )
            state = factors_from_noisy(
                public, state, trainer, factors, epochs, self.seed
            )
        return publish(self, public, state, scalar=self.scalar)

    def printed(self, public: Public) -> Printed:
        learned = self.plus and not self.scalar
        given = self.chosen
        return Printed(
            given.factors or 5,
            given.epochs or 20,
            self.seed,
            lift=self.scalar,
            learned=learned,
        )

    def paper_plan(self, public: Public) -> Plan:
        return gradient_plan(public, self.printed(public))


class Settings(FactorSettings):
    implicit: Literal["learned", "scalar"] | None = None
    """What having rated says: factors learned for each item (Koren 2008), or one number as
    Xian et al. print it; unset, the number in `paper` and learned factors elsewhere."""


class GradientSVDPP(GradientSVD):
    """The same with implicit ratings: learned implicit factors, or in `paper` the scalar
    that is printed."""

    Settings: ClassVar[type[BaseSettings]] = Settings
    name = "svdpp-gradient"
    source = "Xian et al. 2017, Algorithm 1 (DPSS++)"
    twin: ClassVar[TwinKind] = "svdpp"
    plus = True


class ObjectiveSVD(GradientSVD):
    """`value`: people, then items, are solved with K-norm noise in the linear term of their
    objective. `user`: noisy statistics, as in `als`."""

    name = "svd-objective"
    source = "Xian et al. 2017, Algorithm 2 (DPSAObj)"
    twin: ClassVar[TwinKind] = "als"
    noise: ClassVar[Literal["objective", "output"]] = "objective"

    def sound_plan(self, public: Public) -> Plan:
        if public.unit == "user":
            steps = self._steps(public, 0.3, self.chosen.epochs or 2)
            return self.factor_plan(
                public, steps, "factors", "Noisy statistics follow released profiles."
            )
        if self.scalar:
            raise SettingError(
                f"{self.name} at the unit value takes implicit factors from the released "
                "vectors, which is free",
                remedy="leave --set implicit=scalar out, or use --unit user or --calibration paper",
            )
        width = min(
            self.chosen.factors or 5, 14
        )  # K-norm noise is exact on the grid up to 15 columns
        sides = side_rounds(public, self.noise, width, 1 - FIRST_SHARE, self.seed)
        where = "in the objective" if self.noise == "objective" else "on the solution"
        return Plan(
            "value",
            (item_sums(public, FIRST_SHARE), *sides),
            (f"Both sides get K-norm noise {where}.",),
        )

    def sound_finish(self, public: Public, state: State) -> Shared:
        if public.unit == "value" and self.plus:
            state = {**state, "implicit": implicit_from_people(public, state)}
        return publish(self, public, state, scalar=self.scalar)

    def paper_plan(self, public: Public) -> Plan:
        if self.plus and not self.scalar:
            raise SettingError(
                f"the printed solves of {self.name} have no step for learned implicit factors",
                remedy="leave --set implicit=learned out, or use svdpp-gradient",
            )
        make = objective_plan if self.noise == "objective" else output_plan
        return make(public, self.printed(public))


class ObjectiveSVDPP(ObjectiveSVD):
    """The same with implicit ratings; at `value` they are public and free."""

    Settings: ClassVar[type[BaseSettings]] = Settings
    name = "svdpp-objective"
    source = "Xian et al. 2017, Algorithm 2 (DPSAObj++)"
    twin: ClassVar[TwinKind] = "svdpp"
    rule_factors = 7  # rows of statistics and implicit factors both
    plus = True


class OutputSVD(ObjectiveSVD):
    """K-norm noise on every solution, sized by the ridge's own bound on rows whose length
    is enforced."""

    name = "svd-output"
    source = "Xian et al. 2017, Algorithm 3 (DPSAOut)"
    units: ClassVar[tuple[Unit, ...]] = ("value",)
    noise = "output"


class OutputSVDPP(OutputSVD):
    """The same with implicit ratings, which are public at `value` and free."""

    Settings: ClassVar[type[BaseSettings]] = Settings
    name = "svdpp-output"
    source = "Xian et al. 2017, Algorithm 3 (DPSAOut++)"
    twin: ClassVar[TwinKind] = "svdpp"
    plus = True
