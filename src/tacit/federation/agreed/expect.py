"""What public state must look like: every side rebuilds its form with its own copy of the plan.

Guarantee: whether a device refuses a state depends on public things alone. Without this a
recommender could send one that fails only for people who rated some item (an array cut
short, a number that is none), and learn from who falls silent what no budget was paid for.
Names, kinds and the length along the items must be those that the plan gives, and every
number must be finite. (Where a scheme shows its people's items, a device gets the rows of
its own, and nothing is certified.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure, SettingError
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.agreed.scheme import Arrays
from tacit.rounds.loop import passed_over
from tacit.rounds.round import Part, Released, Round
from tacit.rounds.state import State

FORMS = 4
"""Kept at a time: rounds follow one another, and a form is as large as a state."""


@dataclass(frozen=True)
class Announced:
    """What an announcement brought: public state, and what the scheme put beside it."""

    state: State
    beside: Arrays


def announced(
    made: Assembled, index: int, payload: bytes | memoryview
) -> Announced:
    """The payload of an announcement of round `index`. Refuses a state that the plan could
    not have led to before that round."""
    received = made.scheme.received(payload)
    if made.scheme.shows_items:
        return Announced(made.state(received.state), received.beside)
    if not all(np.isfinite(array).all() for array in received.state.values()):
        raise SettingError("a round was announced with numbers that are none")
    try:
        state = made.state(received.state)
        form = form_before(made, index, state).packed()
    except (
        Failure,
        KeyError,
        ValueError,
        IndexError,
        TypeError,
        AttributeError,
    ):
        raise _strange() from None
    if not _alike(received.state, form, len(made.public.catalogue)):
        raise _strange()
    if any(
        received.state[name].shape != form[name].shape
        for name in state.growing() & form.keys()
    ):
        raise _strange()
    return Announced(state, received.beside)


def _strange() -> SettingError:
    return SettingError(
        "a round was announced with a state that the task's plan does not lead to"
    )


def form_before(made: Assembled, index: int, state: State) -> State:
    """A state of the right form: the plan run on nothing at all, along the rounds that
    `state` says were run.

    The few forms that were made last are kept, and a longer one is made from the longest of
    them that it begins with: a device that answers round after round absorbs each once.
    """
    run = dict[str, Round]()
    for round_ in made.plan.rounds[:index]:
        if not passed_over(made.plan, round_, state, run):
            run[round_.name] = round_
    names = tuple(run)
    done = max(
        (known for known in made.forms if names[: len(known)] == known),
        key=len,
        default=(),
    )
    form = made.forms[done] if done else made.first_state
    with np.errstate(all="ignore"):  # nothing divided by nothing
        for name in names[len(done) :]:
            form = run[name].absorb(form, nothing(run[name].parts))
    made.forms[names] = form
    while len(made.forms) > FORMS:
        del made.forms[next(iter(made.forms))]
    return form


def nothing(parts: tuple[Part, ...]) -> dict[str, Released]:
    """What a round releases that nobody answered: no reports, or sums of nothing."""
    return {
        p.name: Released(
            np.zeros((0, 2) if p.choices else (p.size, p.width)), 0.0
        )
        for p in parts
    }


def _alike(found: Arrays, form: Arrays, items: int) -> bool:
    """The same names and kinds, and as long along the items."""
    return found.keys() == form.keys() and all(
        _alike_array(found[name], array, items) for name, array in form.items()
    )


def _alike_array(found: NDArray[Any], form: NDArray[Any], items: int) -> bool:
    """The same kind, and as long along the items; other axes (factors) may follow from what
    was released. A single number travels as an array of one."""
    form = np.atleast_1d(form)
    if (found.dtype.kind, found.ndim) != (form.dtype.kind, form.ndim):
        return False
    return all(
        one == items
        for one, other in zip(found.shape, form.shape, strict=True)
        if other == items
    )
