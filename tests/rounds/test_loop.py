"""The loop: what becomes of what a round released."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import Failure
from tacit.rounds.loop import Loop
from tacit.rounds.plan import Plan
from tacit.rounds.round import Round
from tacit.rounds.state import State


def test_released_numbers_without_an_answer_end_a_fit_in_words() -> None:
    def absorb(state: State, _: object) -> State:
        np.linalg.cholesky(-np.eye(2))
        return state

    round_ = Round("tastes", (), lambda block, state: {}, absorb)
    loop = Loop(Plan("user", (round_,)), State())
    with pytest.raises(Failure, match="the round tastes released gives no answer"):
        loop.step(round_, {})
