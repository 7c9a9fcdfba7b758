"""The loop: which round is next, and what becomes of what it released.

A stepper without input or output. `tacit.fitting.run` asks an engine for each round and
waits (`Loop.run`); a federation's server opens each round to devices, and may stop and resume
between any two. Both step the same loop:

    loop = Loop(plan, state)
    round_ = loop.next()
    while round_ is not None:
        round_ = loop.step(round_, engine.run(round_, loop.state, charge))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from tacit.errors import Failure
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Released, Round

Ask = Callable[[Round, AnyState], Mapping[str, Released]]
"""Who runs a round at a public state, and gives back what it released."""
Watch = Callable[[Round, AnyState], None]
"""Called after each absorbed round with the round and the state that it left."""


class Loop:
    """One run of a plan from a first public state. `done` names the rounds that were run
    before, of which `state` is what came."""

    def __init__(self, plan: Plan, state: AnyState, done: Iterable[str] = ()) -> None:
        self.plan = plan
        self.state = state
        self.done = list(done)
        self.private = True
        """Whether all that was released so far had its noise, from secret bits."""
        self._index = _behind(plan, self.done)
        self._asked: Round | None = None

    def next(self) -> Round | None:
        """The round to run now; None at the end. Asking twice gives the same answer."""
        if self._asked is None:
            self._asked = self._next_paid_round()
        return self._asked

    def _next_paid_round(self) -> Round | None:
        while self._index < len(self.plan.rounds):
            round_ = self.plan.rounds[self._index]
            self._index += 1
            if not passed_over(self.plan, round_, self.state, self.done):
                return round_
        return None

    def absorb(self, round_: Round, released: Mapping[str, Released]) -> None:
        """The next public state, from what a round released."""
        if round_ is not self.next():
            raise Failure(f"the round {round_.name} was absorbed out of turn")
        self._asked = None
        self.done.append(round_.name)
        self.private &= all(part.private for part in released.values())
        try:
            self.state = round_.absorb(self.state, released)
        except np.linalg.LinAlgError:
            raise Failure(
                f"what the round {round_.name} released gives no answer: a system that is made of "
                "it has no solution",
                remedy="fit with another epsilon, or another method",
            ) from None

    def step(self, round_: Round, released: Mapping[str, Released]) -> Round | None:
        """Absorb what a round released; the round that follows."""
        self.absorb(round_, released)
        return self.next()

    def run(self, ask: Ask, watch: Watch | None = None) -> None:
        """Ask for every round that is left, one after the other."""
        while (round_ := self.next()) is not None:
            self.absorb(round_, ask(round_, self.state))
            if watch is not None:
                watch(round_, self.state)


def _behind(plan: Plan, finished: Collection[str]) -> int:
    """The place behind the last round that was run."""
    run = [index for index, round_ in enumerate(plan.rounds) if round_.name in finished]
    return max(run, default=-1) + 1


def passed_over(plan: Plan, round_: Round, state: AnyState, run: Collection[str]) -> bool:
    """Whether another round takes the place of this one; `run` names the rounds that were
    run so far.

    Guarantee: of a round and those that stand instead of it exactly one runs; the charge
    forbids a second.
    """
    if round_.instead:
        rivals = {round_.instead, *(r.name for r in plan.rivals[round_.instead])}
        return bool(rivals & set(run)) or not (round_.chosen and round_.chosen(state))
    return any(r.chosen(state) for r in plan.rivals.get(round_.name, ()) if r.chosen)
