"""Xian et al. 2017, Algorithm 1 (DPSS, DPSS++): gradient perturbation for SVD and SVD++."""

from __future__ import annotations

from typing import ClassVar

from tacit.ledger.event import Unit
from tacit.methods.base import Public
from tacit.methods.mf_base import FactorMethod, Settings, factor_plan, publish, rule_width
from tacit.methods.mf_first import first_rounds
from tacit.methods.mf_noisy import Trainer, factors_from_noisy
from tacit.methods.mf_paper import Floats, Printed, descend, paper_finish, printed_plan, raw_biases
from tacit.methods.mf_rounds import Learning
from tacit.methods.mf_twin import TwinKind
from tacit.methods.mf_value import cells_of, input_round
from tacit.model.shared import Shared
from tacit.round import Block, Plan, State

FIRST_SHARE = 0.15


class GradientSVD(FactorMethod):
    """`value`: true input perturbation, which k noisy looks at the same rating only imitate at a higher price.
    `user`: rounds of clipped gradients of whole people."""

    name = "svd-gradient"
    source = "Xian et al. 2017, Algorithm 1 (DPSS)"
    units: ClassVar[tuple[Unit, ...]] = ("value", "user")
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    twin: ClassVar[TwinKind] = "svd"
    plus: ClassVar[bool] = False

    def sound_plan(self, public: Public) -> Plan:
        given = self.settings
        assert isinstance(given, Settings)
        if public.unit == "user":
            width = rule_width(public, given.factors, self.most_factors)
            how = Learning(width, self.seed, second=0.0, gradient=True, implicit=self.plus)
            return factor_plan(public, (how,) * (given.epochs or 3), "gradient", "Rounds of clipped gradients.")
        rounds = (*first_rounds(public, FIRST_SHARE), input_round(public, 1 - FIRST_SHARE))
        return Plan("value", rounds, ("Every rating is noised once; the training sees only noisy ratings.",))

    def sound_finish(self, public: Public, state: State) -> Shared:
        given = self.settings
        assert isinstance(given, Settings)
        if public.unit == "value":
            trainer: Trainer = "svdpp" if self.plus else "descent"
            state = factors_from_noisy(public, state, trainer, given.factors or 10, given.epochs or 20, self.seed)
        return publish(self, public, state)

    def _printed(self) -> Printed:
        given = self.settings
        assert isinstance(given, Settings)
        return Printed(given.factors or 5, given.epochs or 20, self.seed, lift=self.plus)

    def paper_plan(self, public: Public) -> Plan:
        assert public.budget is not None
        printed, items = self._printed(), public.items
        scale = printed.epochs * 4.0 / public.budget.epsilon

        def train(block: Block, tape: Floats) -> Floats:
            return descend(block, raw_biases(block, items, printed), printed, items, scale, tape)

        reason = (
            "Mean and biases are computed from raw ratings and needed to predict, so publishing them bounds nothing; "
            "given public biases the noise on errors would be right for the value of one rating."
        )
        return printed_plan(public, printed, train, printed.epochs * cells_of(public), reason)

    def paper_finish(self, public: Public, state: State) -> Shared:
        return paper_finish(self, public, self._printed(), state)


class GradientSVDPP(GradientSVD):
    """The same with implicit ratings: learned implicit factors, or in `paper` the scalar that is printed."""

    name = "svdpp-gradient"
    source = "Xian et al. 2017, Algorithm 1 (DPSS++)"
    twin: ClassVar[TwinKind] = "svdpp"
    plus = True
