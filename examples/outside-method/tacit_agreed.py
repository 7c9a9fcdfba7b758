"""`agreed`: recommends what many people rate above the middle of the scale. One round."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, RowClip, Rows
from tacit.methods.base import Method
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Part, Round
from tacit.rounds.state import State, later


@dataclass(frozen=True)
class Votes(State):
    """What is public after the round."""

    approval: NDArray[np.float64] = later()


class Agreed(Method):
    """The noisy sum over people of signs: +1 for a rating above the middle, -1 below."""

    name = "agreed"
    source = "an example of a method from outside"

    def plan(self, public):
        """One part: a number an item. A person's row of signs has an L2 norm of at most 1."""
        pure = public.budget is not None and public.budget.delta == 0
        bound = CellClip(1.0)
        if public.unit == "user":
            bound = RowClip(1.0, "l1" if pure else "l2")

        def contribute(block, state):
            signs = np.sign(block.value)
            counts = np.diff(block.ptr)
            if public.unit == "user":
                signs = signs / np.sqrt(np.repeat(counts, counts))
            return {"votes": Rows(block.ptr, block.item, signs[:, None])}

        def absorb(state, released):
            return replace(state, approval=released["votes"].value[:, 0])

        votes = Part("votes", public.items, bound)
        return Plan(public.unit, (Round("signs", (votes,), contribute, absorb),))

    def first_state(self, public):
        """Nothing is known yet."""
        return Votes()

    def finish(self, public, state):
        """Approval orders the list; a person's own mean predicts her ratings."""
        arrays = {"weight": state.approval.astype(np.float32)}
        facts = (public.schema, public.catalogue, {})
        return Shared(self.name, "mean", arrays, {"mean": 0.0}, *facts)
