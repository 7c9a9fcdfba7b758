"""Methods that leak, each in its own way, and one that does not: what the tests of *each
person alone* are tried on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, RowClip, Rows
from tacit.methods.base import Method
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Part, Personal, Round
from tacit.rounds.state import State, later

MANY = 60
"""A block of more people than any invented crowd has."""
SEEN: dict[str, float] = {}
"""What a careless method keeps between two calls."""


@dataclass(frozen=True)
class Sums(State):
    """What is public after each round."""

    first: NDArray[np.float64] = later()
    second: NDArray[np.float64] = later()


class Alone(Method):
    """Two rounds of everybody's ratings, each person by herself."""

    name = "alone"
    source = "a test"
    units = ("user", "rating", "value")
    kept: ClassVar[tuple[Personal, ...]] = ()

    def centre(self, block: Any, round_: int) -> Any:
        """What is taken off every rating: nothing that others have to do with."""
        return 0.0

    def plan(self, public):
        pure = public.budget is not None and public.budget.delta == 0
        bound = CellClip(2.0)
        if public.unit == "user":
            bound = RowClip(1.0, "l1" if pure else "l2")

        def made(name, place):
            def contribute(block, state):
                left = block.value - self.centre(block, place)
                return {"sum": Rows(block.ptr, block.item, left[:, None])}

            def absorb(state, released):
                return replace(state, **{name: released["sum"].value[:, 0]})

            parts = (Part("sum", public.items, bound, share=0.5),)
            return Round(name, parts, contribute, absorb, personal=self.kept)

        return Plan(public.unit, (made("first", 0), made("second", 1)))

    def first_state(self, public):
        return Sums()

    def finish(self, public, state):
        arrays = {"weight": (state.first + state.second).astype(np.float32)}
        facts = (public.schema, public.catalogue, {})
        return Shared(self.name, "mean", arrays, {"mean": 0.0}, *facts)


class BlockMean(Alone):
    """Break 2 of the attack: centred by the mean of the block."""

    name = "block-mean"

    def centre(self, block, round_):
        return block.value.mean() if len(block.value) else 0.0


class LateMean(BlockMean):
    """The same, in the second round only."""

    name = "late-mean"

    def centre(self, block, round_):
        return super().centre(block, round_) if round_ else 0.0


class ManyMean(BlockMean):
    """The same, in large blocks only: invented people are too few to show it."""

    name = "many-mean"

    def centre(self, block, round_):
        if len(block.people) <= MANY:
            return 0.0
        return super().centre(block, round_)


class Remembered(Alone):
    """Centred by the mean of the block before, through a variable of the module."""

    name = "remembered"

    def centre(self, block, round_):
        before = SEEN.get("mean", 0.0)
        SEEN["mean"] = float(block.value.mean()) if len(block.value) else 0.0
        return before


class ByRank(Alone):
    """Everybody but the first of a block is taken for half."""

    name = "by-rank"

    def centre(self, block, round_):
        return 0.5 * (np.arange(len(block.value)) >= block.ptr[1]) * block.value


class Whispered(Alone):
    """Everybody keeps a mean of all for herself, and uses it in the next round."""

    name = "whispered"
    kept = (Personal("mean", 1),)

    def centre(self, block, round_):
        own = block.personal["mean"]
        before = np.repeat(own[:, 0], np.diff(block.ptr))
        own[:] = block.value.mean() if len(block.value) else 0.0
        return before


class Reached(Alone):
    """Looks past its own rows of the personal state, at those of others."""

    name = "reached"
    kept = (Personal("mean", 1),)

    def centre(self, block, round_):
        own = block.personal["mean"]
        everybody = own if own.base is None else own.base
        before = everybody.mean()
        sums = np.add.reduceat(block.value, block.ptr[:-1])
        own[:, 0] = sums / np.maximum(np.diff(block.ptr), 1)
        return before


class Smuggled(Alone):
    """Every row is alone; but what everybody said goes into the model, without noise."""

    name = "smuggled"

    def centre(self, block, round_):
        SEEN["sum"] = float(block.value.sum())
        return 0.0

    def finish(self, public, state):
        made = super().finish(public, state)
        made.numbers["mean"] = SEEN["sum"]
        return made


CROWDED = (BlockMean, LateMean, Remembered, ByRank, Whispered, Reached)
"""Leaks that show in a few people."""
