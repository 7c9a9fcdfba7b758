"""Popularity: how much each item is rated, and everybody's mean. The baseline that every
list must beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Bound, CellClip, OwnMeans, RowClip, Rows
from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import cell_rows, is_pure, person_weights
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import NOT_YET, State

MEAN_SHRINK = 5
"""Fictitious ratings in a person's own mean."""
WEIGHTS_SHARE, MEAN_SHARE = 0.9, 0.1
"""Of the budget: the weights are thousands of numbers, the mean is one."""
LIMIT = 2.0
"""Half the inner scale: bounds a mean."""


class PopularitySettings(BaseSettings):
    """What `popularity` can be told."""

    even: int = Field(30, ge=1)
    """People with up to this many ratings count fully; the weight of a busier person is
    spread over hers."""


@dataclass(frozen=True)
class Counts(State):
    """What is released: once, in one round."""

    weights: NDArray[np.float64] = NOT_YET
    mean: float = NOT_YET


class Popularity(Method):
    """Item weights and the mean rating, released once.

    At the unit `user` each person's row of weights has an L2 norm of at most 1; at `rating`
    each cell counts as 1.
    """

    name = "popularity"
    source = "baseline"
    engines = ("threads", "spark", "federated")
    Settings: ClassVar[type[BaseSettings]] = PopularitySettings

    def plan(self, public: Public) -> Plan:
        """One round of two parts."""
        even = cast("PopularitySettings", self.settings).even
        whole_person = public.unit == "user"
        pure = is_pure(public.budget)
        bound: Bound = CellClip(1.0)
        if whole_person:
            bound = RowClip(1.0, "l1" if pure else "l2")

        def contribute(block: Block, state: Counts) -> Mapping[str, Rows]:
            weights = np.ones(len(block.item))
            if whole_person:
                weights = person_weights(block, even, pure)
            return {
                "weights": cell_rows(block, weights),
                "mean": Rows(block.ptr, block.item * 0, block.value[:, None]),
            }

        def absorb(state: Counts, released: Mapping[str, Released]) -> Counts:
            total = released["mean"].value[0, 0] / state.people
            return replace(
                state,
                weights=released["weights"].value[:, 0],
                mean=float(np.clip(total, -LIMIT, LIMIT)),
            )

        parts = (
            Part("weights", public.items, bound, share=WEIGHTS_SHARE),
            Part("mean", 1, OwnMeans(LIMIT, MEAN_SHRINK), share=MEAN_SHARE),
        )
        story = (
            (
                "Nine tenths of the budget go to the weights of the items and one tenth to "
                "the mean of all people."
            ),
        )
        return Plan(public.unit, (Round("items", parts, contribute, absorb),), story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return Counts()

    def finish(self, public: Public, state: Counts) -> Shared:
        """The weights, and a mean that is everybody's."""
        arrays = {"weight": np.asarray(state.weights, np.float32)}
        return Shared(
            self.name,
            "mean",
            arrays,
            {"mean": state.mean},
            public.schema,
            public.catalogue,
            self.settings.model_dump(),
        )
