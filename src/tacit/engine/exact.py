"""The exact sums of a round, for a calendar: the curator keeps them, and adds noise to what
they are mixed to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.engine.threads import Threads, factors_of
from tacit.rounds.round import Round
from tacit.rounds.state import State


class ExactSums(Threads):
    """Threads that stop before the noise. What they give is private, and its owner's alone."""

    def sums(self, round_: Round, state: State) -> dict[str, NDArray[np.int64]]:
        """By part: integers of the part's shape; of a Gram part one column, the upper
        triangle row by row."""
        self._check_round(round_)
        self._make_room(round_)
        factors = factors_of(round_)
        added = self._sum(round_, state, factors)
        return {
            part.name: factors[part.name].packed()
            if part.name in factors
            else added[part.name].whole
            for part in round_.parts
        }
