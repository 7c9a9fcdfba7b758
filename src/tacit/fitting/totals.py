"""What a round of a calendar absorbs: running sums, from all that was released of its parts
so far. Post-processing; nothing private is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.engine.gram import off_grid
from tacit.noise.continual import Weeks
from tacit.rounds.round import AnyState, Part, Released, Round, Stationary
from tacit.rounds.running import arrivals, running_sums

Whole = NDArray[np.int64]
COUNT = "count"
"""The round, and its part, that says how many people were counted: the first of every plan."""


class Totals:
    """Running sums of one week, in the units of the released parts."""

    def __init__(self, weeks: Weeks) -> None:
        self.weeks = weeks
        self._came: NDArray[np.float64] | None = None

    def released(
        self,
        round_: Round,
        part: Part,
        state: AnyState,
        noisy: Sequence[Whole],
        past: Sequence[Stationary],
    ) -> Released:
        """Running sums of one part from its releases; `past` is what `stationary_now` was in
        earlier weeks."""
        name, steps = f"{round_.name}/{part.name}", part.bound.steps
        current = stationary_now(round_, part, state)
        if part.name == COUNT:
            self._came = arrivals(self.weeks.calendar, [numbers / steps for numbers in noisy])
        if current is None or self._came is None:
            value, sd = self.weeks.estimate(name, noisy)
            return Released(off_grid(part, value), sd / steps, self.weeks.private)
        sums = running_sums(
            self.weeks.calendar,
            [numbers / steps for numbers in noisy],
            self.weeks.event(name).sigma / steps,
            self._came * (state.people / self._came.sum()),
            [*past, current],
        )
        if part.form == "gram":  # from packed numbers to matrices
            sums = replace(
                sums,
                value=off_grid(part, sums.value * steps),
                each=off_grid(part, _column(sums.each) * steps),
                scale=off_grid(part, _column(sums.scale) * steps),
            )
        return replace(sums, private=self.weeks.private)


def _column(numbers: NDArray[np.float64] | float | None) -> NDArray[np.float64]:
    return np.reshape(np.asarray(numbers, np.float64), (-1, 1))


def stationary_now(round_: Round, part: Part, state: AnyState) -> Stationary | None:
    """What is the same in every week of this part, as this week's people know it."""
    if round_.steady is None:
        return None
    return round_.steady(state).get(part.name)
