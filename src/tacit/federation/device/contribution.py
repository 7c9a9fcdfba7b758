"""What a round asks of one device, from its own ratings and public state; and nothing where a
state makes nonsense of its numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.bound.base import Rows
from tacit.rounds.round import Block, Part, Round
from tacit.rounds.state import State

ABSURD = (ArithmeticError, ValueError, IndexError)
"""How a computation ends whose numbers make no sense."""


def contributed(round_: Round, block: Block, state: State) -> Mapping[str, Rows]:
    """What a round asks of one person; nothing at all where her numbers under this state end
    in an error.

    Guarantee: a recommender may make up a finite state (an effect of 1e20) that divides by
    nothing for those alone who rated some item. Who fell silent would tell that she did. So
    she adds nothing, with noise and mask like everybody, and her personal state stays as it
    was; bounds make the same of numbers that are none.
    """
    saved = {name: array.copy() for name, array in block.personal.items()}
    try:
        with np.errstate(all="ignore"):
            return round_.contribute(block, state)
    except ABSURD:
        for name, array in saved.items():
            block.personal[name][...] = array
        return {part.name: _nothing(part) for part in round_.parts}


def _nothing(part: Part) -> Rows:
    """No line at all; of a report one line that favours nothing, which is then randomized
    like any other (`tacit.noise.device`)."""
    if part.choices:
        return Rows.one_each(np.zeros((1, part.favoured)))
    return Rows(np.zeros(2, np.int64), np.zeros(0, np.uint32), np.zeros((0, part.width)))
