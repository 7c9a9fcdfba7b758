"""The noisy count of people, where their number is not declared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.bound import PersonCount, Rows
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

COUNT_SHARE = 0.01
"""Of the budget. A count within a per cent of many people needs no more."""


def count_people() -> Round:
    """Everybody adds one, and the state knows about how many there are."""

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        return {"count": Rows.one_each(np.ones((len(block.people), 1)))}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        return state.after(
            people=max(1.0, float(released["count"].value[0, 0]))
        )

    return Round(
        "people", (Part("count", 1, PersonCount()),), contribute, absorb
    )
