"""Bias: the items' effects and a personal Gaussian model over what is public about the items.

Item side: level, weights and effects of the items, released and shrunk by empirical Bayes
(MECHANISMS 8.7, stages 1-3). Person's side: a ridge solve over level, popularity and public
features (stage 4), whose prior widths are chosen privately among a few candidates by the
errors that people would make on their own left-out ratings.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import RowClip, Rows
from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import (
    FirstOrder,
    even_count,
    public_design,
)
from tacit.methods.first_order.started import first_rounds, keep
from tacit.methods.first_order.started import story as started
from tacit.methods.first_order.state import FirstState
from tacit.methods.refine.choose import ROW_CLIP, candidates, choose
from tacit.model.person.gaussian import GaussianModel, left_out_rows, loadings
from tacit.model.shared import Shared
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

LEVEL_NEED = 50.0
"""People x mu at which the level deserves the whole budget; its share falls with the square."""


class Settings(BaseSettings):
    sweeps: int = Field(3, ge=1, le=10)
    """How many times the items' sums are released, each time of smaller residuals."""


class Bias(Method):
    """Item effects and personal levels: the baseline that recommends well when little may
    be spent."""

    name = "bias"
    source = "baseline"
    engines: ClassVar[tuple[str, ...]] = ("threads", "federated")
    Settings: ClassVar[type[BaseSettings]] = Settings

    def plan(self, public: Public) -> Plan:
        settings = self.settings
        assert isinstance(settings, Settings)
        mu = strength(public.budget)
        first = FirstOrder(public, public_design(public), _is_pure(public.budget))
        level = level_share(public.schema.users, mu)
        rest = 1 - level
        each = 0.73 * rest / settings.sweeps
        spread = 1 / (mu * sqrt(each))
        rounds = (
            *first_rounds(first, level, 0.22 * rest, tastes=False),
            *(
                first.effects(f"effects {i}", each, spread)
                for i in range(1, settings.sweeps + 1)
            ),
            self.choice(first, 0.05 * rest),
        )
        story = (
            (
                f"The level of all ratings takes {100 * level:.0f} % of the budget: by rule "
                "from people x noise."
            ),
            f"Of the rest, item weights take 22 %, {settings.sweeps} sweeps of item sums 73 %.",
            "The last 5 % choose how widely people differ.",
        )
        return Plan(public.unit, rounds, story + started(public))

    def choice(self, first: FirstOrder, share: float) -> Round:
        """How widely people differ, by a clipped left-out error: `tacit.methods.refine.choose`."""
        columns = len(candidates(self._loadings(first, None)[1]))

        def contribute(block: Block, state: FirstState) -> Mapping[str, Rows]:
            model, groups = self._model(first, state)
            weight = np.ones(len(block.people))
            if first.whole_person:
                weight = 1 / np.sqrt(np.maximum(np.diff(block.ptr), even_count(state)))
            rows = left_out_rows(
                model,
                block.ptr,
                block.item,
                block.value,
                candidates(groups),
                state.effects.gain,
                weight,
            )
            return {"gains": Rows.one_each(rows)}

        def absorb(state: FirstState, released: Mapping[str, Released]) -> FirstState:
            model, groups = self._model(first, state)
            noisy = released["gains"]
            found = choose(noisy.value[0], noisy.sd, state.people, groups, model.noise)
            return state.after(choice=found)

        bound = RowClip(ROW_CLIP, "l1" if first.pure else "l2")
        return Round(
            "choice",
            (Part("gains", 1, bound, width=columns, share=share),),
            contribute,
            absorb,
        )

    def _loadings(
        self, first: FirstOrder, state: FirstState | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        if state is None:  # the shape alone, before anything is released
            return loadings(np.zeros(first.public.items), first.features)
        popularity = state.weights.popularity
        return loadings(popularity, first.features, level_variance=state.level.variance)

    def _model(
        self, first: FirstOrder, state: FirstState
    ) -> tuple[GaussianModel, NDArray[np.int64]]:
        made, groups = self._loadings(first, state)
        return GaussianModel(state.baseline, state.effects.variance, made), groups

    def first_state(self, public: Public) -> State:
        return FirstState()

    def finish(self, public: Public, state: FirstState) -> Shared:
        first = FirstOrder(public, public_design(public), _is_pure(public.budget))
        model, _ = self._model(first, state)
        kept, numbers = keep(first, state)
        model = model.chosen(state.choice)
        arrays = {
            "baseline": model.baseline.astype(np.float32),
            "variance": model.variance.astype(np.float32),
            "loadings": model.loadings.astype(np.float32),
            "weight": np.asarray(state.weights.mean, np.float32),
            **kept,
        }
        return Shared(
            self.name,
            "gaussian",
            arrays,
            {"noise": model.noise, **numbers},
            public.schema,
            public.catalogue,
            self.settings.model_dump(),
        )


def strength(budget: Budget | None) -> float:
    """mu of the Gaussian rounds that this budget pays for; for pure ones the epsilon that
    acts about alike."""
    from tacit.ledger.account.calibrate import gaussian_mu

    if budget is None:
        return inf
    return (
        gaussian_mu(budget.epsilon, budget.delta)
        if budget.delta > 0
        else budget.epsilon / 2
    )


def level_share(users: int | None, mu: float) -> float:
    """What the level needs to be known to a few hundredths; where people are not declared,
    a middling share."""
    if users is None:
        return 0.06
    return float(np.clip((LEVEL_NEED / (users * mu)) ** 2, 0.03, 0.9))


def _is_pure(budget: Budget | None) -> bool:
    return budget is not None and budget.delta == 0
