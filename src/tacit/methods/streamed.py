"""Methods on a calendar: which have a form for it, and what all of these share.

A method on a calendar is the same method with another plan: its rounds are run every week
over the people who are counted that week, and what a round absorbs are *running sums* over all
weeks so far (`tacit.rounds.calendar`). A person's rows are computed once, from what was public
in her week, so no stage may ask the same people twice about the same thing: sweeps are left
out, and the weeks themselves take their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

import numpy as np

from tacit.bound import PersonCount, Rows
from tacit.errors import SettingError
from tacit.rounds.round import AnyState, Block, Part, Released, Round, Stationary

if TYPE_CHECKING:
    from tacit.methods.base import Method

FORMS = {
    "popularity": "tacit.methods.baselines.streamed:StreamedPopularity",
    "bias": "tacit.methods.baselines.streamed:StreamedBias",
    "bayes": "tacit.methods.bayes.streamed:StreamedBayes",
    "ease": "tacit.methods.item_item.streamed:StreamedEase",
}
"""By name, the class whose plan is for a calendar."""
COUNT_SHARE = 0.01
"""Of the budget: how many people were counted so far."""
ONCE = (
    "A person's numbers are added up once, from what was public in her week: there are no "
    "sweeps, later weeks build on what earlier ones released."
)
COUNTED = "1 % of the budget says how many people were counted so far."
LEAST_PEOPLE = 0.05
"""Of what was expected by now: fewer are not believed, whatever the noise says."""


def on_a_calendar(method: Method) -> Method:
    """The same method and settings, planned for a calendar."""
    form_path = FORMS.get(method.name)
    if form_path is None:
        raise SettingError(
            f"{method.name} has no calendar: its rounds are no running sums",
            remedy=f"use {', '.join(FORMS)}, or `tacit fit --start`",
        )
    module, name = form_path.split(":")
    planned = getattr(import_module(module), name)(**method.get_params())
    return cast("Method", planned)


def count_round(expected: float, share: float = COUNT_SHARE) -> Round:
    """How many people were counted so far. `expected` is how many are declared for the whole
    calendar; the state knows which part of it is over (`elapsed`)."""

    def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
        return {"count": Rows.one_each(np.ones((len(block.people), 1)))}

    def absorb(state: AnyState, released: Mapping[str, Released]) -> AnyState:
        noisy = released["count"]
        guess = max(expected * state.elapsed, 1.0)
        # People come unevenly: the guess is off by as much as itself.
        gain = guess**2 / (guess**2 + noisy.sd**2)
        people = guess + gain * (float(noisy.value[0, 0]) - guess)
        people = max(people, LEAST_PEOPLE * guess, state.before, 1.0)
        return replace(state, people=people)

    part = Part("count", 1, PersonCount(), share=share)
    return Round("count", (part,), contribute, absorb)


def steadily(round_: Round) -> Round:
    """The same round, of whose sums is known that the people of one week are much like those
    of another."""
    alike = {part.name: Stationary() for part in round_.parts}
    return replace(round_, steady=lambda state: alike)
