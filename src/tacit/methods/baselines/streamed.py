"""`popularity` and `bias` on a calendar."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from tacit.methods.base import Public
from tacit.methods.baselines.bias import Bias
from tacit.methods.baselines.popularity import Counts, Popularity
from tacit.methods.first_order.choice import choice_round, first_model, published
from tacit.methods.first_order.rounds import StreamedFirst, StreamedOrder, baseline_shares, strength
from tacit.methods.streamed import COUNT_SHARE, COUNTED, ONCE, count_round, steadily
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState
from tacit.rounds.state import State


@dataclass(frozen=True)
class StreamedCounts(Counts):
    """Weights and mean of all people so far."""

    elapsed: float = 0.0
    before: float = 0.0


class StreamedPopularity(Popularity):
    """Running sums of weights and of people's means."""

    def plan(self, public: Public) -> Plan:
        """The count, then the one round of `popularity`."""
        plan = super().plan(public)
        plan = Plan(plan.unit, tuple(steadily(round_) for round_ in plan.rounds))
        return Plan(
            plan.unit,
            plan.after(count_round(public.people), COUNT_SHARE).rounds,
            (COUNTED, *plan.story),
        )

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return StreamedCounts()


class StreamedBias(Bias):
    """Running sums of levels, weights and residuals."""

    def plan(self, public: Public) -> Plan:
        """Count, level, weights and one release of effects; then how widely people differ."""
        first_order = StreamedOrder.of(public)
        mu = strength(public.budget)
        shares = baseline_shares(public.people, mu, 1)
        rounds = (
            steadily(first_order.people(shares.level)),
            steadily(first_order.weights(shares.weights)),
            first_order.running_item_biases(shares.sweep, 1 / (mu * sqrt(shares.sweep))),
            steadily(choice_round(first_order, shares.choice)),
        )
        plan = Plan(public.unit, rounds)
        level = f"{100 * shares.level:.0f} %"
        story = (
            COUNTED,
            f"The level of all ratings takes {level} of the rest: by rule from people x noise.",
            "Of what is left, weights take 22 %, sums 73 %, the choice of spreads 5 %.",
            ONCE,
        )
        return Plan(public.unit, plan.after(count_round(public.people), COUNT_SHARE).rounds, story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return StreamedFirst()

    def finish(self, public: Public, state: AnyState) -> Shared:
        """The personal Gaussian model of what was released."""
        first_order = StreamedOrder.of(public)
        model = first_model(first_order, state).model
        return published(self, first_order, state, model)
