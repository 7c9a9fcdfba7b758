"""Xian et al. 2017, Algorithm 2 (DPSAObj, DPSAObj++): objective perturbation for SVD and SVD++."""

from __future__ import annotations

from typing import ClassVar, Literal

from tacit.ledger.event import Unit
from tacit.methods.base import Public
from tacit.methods.mf_base import FactorMethod, Settings, factor_plan, publish, rule_width
from tacit.methods.mf_first import first_rounds
from tacit.methods.mf_paper import Printed, paper_finish
from tacit.methods.mf_printed_als import objective_plan, output_plan
from tacit.methods.mf_rounds import Learning
from tacit.methods.mf_twin import TwinKind
from tacit.methods.mf_value import implicit_from_people, side_rounds
from tacit.model.shared import Shared
from tacit.round import Plan, State

FIRST_SHARE = 0.15


class ObjectiveSVD(FactorMethod):
    """`value`: people, then items, are solved with K-norm noise in the linear term of their objective.
    `user`: noisy statistics, as in `als`."""

    name = "svd-objective"
    source = "Xian et al. 2017, Algorithm 2 (DPSAObj)"
    units: ClassVar[tuple[Unit, ...]] = ("value", "user")
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    twin: ClassVar[TwinKind] = "als"
    plus: ClassVar[bool] = False
    noise: ClassVar[Literal["objective", "output"]] = "objective"

    def sound_plan(self, public: Public) -> Plan:
        given = self.settings
        assert isinstance(given, Settings)
        if public.unit == "user":
            how = Learning(rule_width(public, given.factors, self.most_factors), self.seed, implicit=self.plus)
            return factor_plan(public, (how,) * (given.epochs or 2), "factors", "Rounds of noisy statistics.")
        width = min(given.factors or 5, 14)  # K-norm noise is exact on the grid up to 15 columns
        sides = side_rounds(public, self.noise, width, 1 - FIRST_SHARE, self.seed)
        where = "in the objective" if self.noise == "objective" else "on the solution"
        return Plan("value", (*first_rounds(public, FIRST_SHARE), *sides), (f"Both sides get K-norm noise {where}.",))

    def sound_finish(self, public: Public, state: State) -> Shared:
        if public.unit == "value" and self.plus:
            state = {**state, "implicit": implicit_from_people(public, state)}
        return publish(self, public, state)

    def _printed(self) -> Printed:
        given = self.settings
        assert isinstance(given, Settings)
        return Printed(given.factors or 5, given.epochs or 20, self.seed, lift=self.plus)

    def paper_plan(self, public: Public) -> Plan:
        make = objective_plan if self.noise == "objective" else output_plan
        return make(public, self._printed())

    def paper_finish(self, public: Public, state: State) -> Shared:
        return paper_finish(self, public, self._printed(), state)


class ObjectiveSVDPP(ObjectiveSVD):
    """The same with implicit ratings; at `value` they are public and free."""

    name = "svdpp-objective"
    source = "Xian et al. 2017, Algorithm 2 (DPSAObj++)"
    twin: ClassVar[TwinKind] = "svdpp"
    plus = True
