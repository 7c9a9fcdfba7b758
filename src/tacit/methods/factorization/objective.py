"""Hua, Xia & Zhong 2015, scenario S1: a trusted recommender publishes item profiles by
objective perturbation."""

from __future__ import annotations

from typing import ClassVar, Literal

from tacit.methods.base import Form, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import FactorMethod, Forms, factor_plan, rule_width
from tacit.methods.factorization.printed_options import HuaSettings
from tacit.methods.factorization.publish import publish
from tacit.methods.factorization.rounds import Learning
from tacit.methods.factorization.state import FactorState
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.state import State


class ObjectiveSettings(HuaSettings):
    """What `mf-objective` can be told."""

    law: Literal["knorm", "laplace"] = "knorm"
    """In `paper`: K-norm noise (Theorem 1) or independent Laplace noise (Lemma 1)."""


class ReleasedProfiles(Form):
    """The sound form: item profiles are released first (a right-hand side alone), everybody
    solves her vector against them, and one round of noisy statistics makes the final
    profiles.

    The printed proof holds people's vectors fixed, though they come from the same ratings.
    Here they depend on released profiles and on her own ratings only, and a person's whole
    row of statistics is clipped (docs/proofs/mf.md).
    """

    settings: ObjectiveSettings

    def plan(self, public: Public) -> Plan:
        """The rounds of `bias`, two of profiles, the choice."""
        width = rule_width(public, self.settings.factors)
        steps = (Learning(width, self.method.seed, second=0.0), Learning(width, self.method.seed))
        story = "One round of noisy statistics follows released profiles."
        return factor_plan(public, steps, "profiles", story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FactorState()

    def finish(self, public: Public, state: FactorState) -> Shared:
        """Item profiles for everybody's own ridge solve."""
        return publish(self.method, public, state)


class ObjectiveMF(FactorMethod):
    """Item profiles with noise in the objective that they minimise: as statistics of whole
    people in `sound`, in a linear term of each item as printed."""

    name = "mf-objective"
    engines = ("threads", "spark")
    source = "Hua, Xia & Zhong 2015, S1"
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    Settings: ClassVar[type[BaseSettings]] = ObjectiveSettings
    forms: ClassVar[Forms] = {
        "sound": ReleasedProfiles,
        "paper": "tacit.papers.hua2015.printed.objective:PerturbedObjective",
        "none": "tacit.methods.factorization.twin:FactorTwin",
    }
