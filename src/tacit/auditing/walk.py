"""A plan walked round by round, with the public state that each round was given: what every
attack on contributions starts from.

Nothing stops a walk on the way: neither the check of invented people before a charge nor the
engine's own witness, so that an attack shows what a leak would do without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.fitting.price import planned
from tacit.fitting.run import _Run
from tacit.methods.base import Method
from tacit.noise.release import Charge, NoNoise
from tacit.rounds.loop import passed_over
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Released, Round


@dataclass(frozen=True)
class Walked:
    """One round, the state that it was given, and what it released; None where a rival was
    run in its place."""

    round: Round
    state: AnyState
    released: Mapping[str, Released] | None


@dataclass(frozen=True)
class Walk:
    """All rounds of one run, and the state after the last."""

    run: _Run
    steps: tuple[Walked, ...]
    last: AnyState

    @property
    def ratings(self) -> Ratings:
        """As the engine has them: over the rows of the catalogue."""
        used: Ratings = self.run.engine.ratings  # type: ignore[attr-defined]
        return used

    def plan(self) -> Plan:
        """The same plan, made anew: whatever the first has kept is not in it."""
        return planned(self.run.order, self.run.settled.public).plan


def walk(
    method: Method, ratings: Ratings, items: Catalogue, *, users: int, noise: bool = True
) -> Walk:
    """Run a plan for nobody's eyes but a test's."""
    run = _Run(method, ratings, items, users, None)
    run.engine.watched = False  # type: ignore[attr-defined]
    noised = noise and not run.noiseless
    charge = Charge(run.events) if noised else NoNoise()
    plan, state = run.settled.plan, run.first_state()
    steps = []
    finished: list[str] = []
    for round_ in plan.rounds:
        released = None
        if not passed_over(plan, round_, state, finished):
            released = run.engine.run(round_, state, charge)
            finished.append(round_.name)
        steps.append(Walked(round_, state, released))
        if released is not None:
            state = round_.absorb(state, released)
    return Walk(run, tuple(steps), state)
