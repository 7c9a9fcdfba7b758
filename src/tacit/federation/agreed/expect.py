"""What public state must look like: every side rebuilds its form with its own copy of the plan.

Guarantee: whether a device refuses a state depends on public things alone. Without this a
recommender could send one that fails only for people who rated some item (an array cut
short, a number that is none), and learn from who falls silent what no budget was paid for.
Names, kinds and the length along the items must be those that the plan gives, and every
number must be finite. (In `paper` a device gets the rows of its own items, and nothing is
certified.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure, SettingError
from tacit.federation.protocol.task import Assembled
from tacit.federation.protocol.wire import unpack_state
from tacit.rounds.loop import passed_over
from tacit.rounds.round import Part, Released, Round
from tacit.rounds.state import State

FORMS = 4
"""Kept at a time: rounds follow one another, and a form is as large as a state."""


def first_state(made: Assembled) -> State:
    """What is public before any round."""
    return made.method.first_state(made.public).after(people=float(made.task.people))


def state_of(made: Assembled, payload: bytes | memoryview) -> State:
    """The typed state in an announcement or a store."""
    return type(first_state(made)).unpacked(unpack_state(payload))


def nothing(parts: tuple[Part, ...]) -> dict[str, Released]:
    """What a round releases that nobody answered: no reports, or sums of nothing."""
    return {
        p.name: Released(np.zeros((0, 2) if p.choices else (p.size, p.width)), 0.0)
        for p in parts
    }


def check_state(made: Assembled, index: int, payload: memoryview) -> None:
    """Refuse an announced state that the plan could not have led to before round `index`."""
    if made.layouts(index)[0].sparse:
        return
    state = unpack_state(payload)
    if not all(np.isfinite(array).all() for array in state.values()):
        raise SettingError("a round was announced with numbers that are none")
    expected: dict[str, NDArray[Any]] = {}
    try:
        expected = form_before(made, index, state_of(made, payload)).packed()
    except (Failure, KeyError, ValueError, IndexError, TypeError, AttributeError):
        pass
    items = len(made.public.catalogue)
    if state.keys() != expected.keys() or not all(
        _alike(state[n], a, items) for n, a in expected.items()
    ):
        raise SettingError(
            "a round was announced with a state that the task's plan does not lead to"
        )


def form_before(made: Assembled, index: int, state: State) -> State:
    """A state of the right form: the plan run on nothing at all, along the rounds that
    `state` says were run."""
    run = dict[str, Round]()
    for round_ in made.plan.rounds[:index]:
        if not passed_over(made.plan, round_, state, run):
            run[round_.name] = round_
    names, ran = tuple(run), list(run.values())
    done = max(
        (known for known in made.forms if names[: len(known)] == known),
        key=len,
        default=(),
    )
    form = made.forms[done] if done else first_state(made)
    with np.errstate(all="ignore"):  # nothing divided by nothing
        for round_ in ran[len(done) :]:
            form = round_.absorb(form, nothing(round_.parts))
    made.forms[names] = form
    while len(made.forms) > FORMS:
        del made.forms[next(iter(made.forms))]
    return form


def _alike(found: NDArray[Any], form: NDArray[Any], items: int) -> bool:
    """The same kind, and as long along the items; other axes (factors) may follow from what
    was released."""
    if (found.dtype.kind, found.ndim) != (form.dtype.kind, form.ndim):
        return False
    return all(
        one == items
        for one, other in zip(found.shape, form.shape, strict=True)
        if other == items
    )
