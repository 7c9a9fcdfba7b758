"""What public state must look like: every side rebuilds its form with its own copy of the plan.

Guarantee: whether a device refuses a state depends on public things alone. Without this a
recommender could send one that fails only for people who rated some item (an array cut
short, a number that is none), and learn from who falls silent what no budget was paid for;
or one whose arrays do not fit one another, beyond whose ends compiled loops would read and
write. Names, kinds and lengths must be those that the plan gives, but for columns of taste,
of which all arrays have as many; and every number must be finite. Finite numbers may still be
absurd: a device answers them (`tacit.federation.device.device`). (Where a scheme shows its
people's items, a device gets the rows of its own, and nothing is certified.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
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


MOST_COLUMNS = 1000
"""Of taste: far more than any plan makes."""


def announced(
    assembled: Assembled, index: int, payload: bytes | memoryview, rows: int
) -> Announced:
    """The payload of an announcement of round `index`. Refuses a state that the plan could
    not have led to before that round. `rows`: how many items the device has rated, where it
    gets the rows of those alone."""
    received = assembled.scheme.received(payload)
    shows_items = assembled.scheme.shows_items
    if not all(np.isfinite(array).all() for array in received.state.values()):
        raise SettingError("a round was announced with numbers that are none")
    items = len(assembled.public.catalogue)
    try:
        state = assembled.state(received.state)
        free = state.free_axes()
        for made_up in forms_before(assembled, index, state):
            form = made_up.packed()
            if shows_items:
                form = {name: _form_of_rows(array, items, rows) for name, array in form.items()}
            if _alike(received.state, form, free):
                return Announced(state, received.beside)
    except (Failure, KeyError, ValueError, IndexError, TypeError, AttributeError, ArithmeticError):
        raise _strange() from None
    raise _strange()


def _strange() -> SettingError:
    return SettingError("a round was announced with a state that the task's plan does not lead to")


def form_before(assembled: Assembled, index: int, state: State) -> State:
    """A state of the right form: the plan run on nothing at all, along the rounds that
    `state` says were run."""
    run = dict[str, Round]()
    for round_ in assembled.plan.rounds[:index]:
        if not passed_over(assembled.plan, round_, state, run):
            run[round_.name] = round_
    return _form(assembled, run)


def forms_before(assembled: Assembled, index: int, state: State) -> Iterator[State]:
    """Of every way that the plan may have gone, the likeliest first: which of two rounds was
    run was told by an earlier state, and later ones need not tell it still."""
    yield form_before(assembled, index, state)
    for run in _possible_runs(assembled, index):
        yield _form(assembled, run)


def _possible_runs(assembled: Assembled, index: int) -> Iterator[dict[str, Round]]:
    """The rounds that may have been run before this one; one alone of those that stand for one
    another, and none of them where this is one."""
    plan = assembled.plan
    if not plan.rivals:
        return
    current = plan.rounds[index]
    sets = [
        {first_name, *(rival.name for rival in rivals)}
        for first_name, rivals in plan.rivals.items()
    ]
    choices = [
        sorted(names & {round_.name for round_ in plan.rounds[:index]})
        for names in sets
        if current.name not in names
    ]
    for selection in product(*(names for names in choices if names)):
        left_out = set().union(*sets) - set(selection)
        yield {round_.name: round_ for round_ in plan.rounds[:index] if round_.name not in left_out}


def _form(assembled: Assembled, run: Mapping[str, Round]) -> State:
    """What these rounds make of nothing.

    The few forms that were made last are kept, and a longer one is made from the longest of
    them that it begins with: a device that answers round after round absorbs each once.
    """
    names = tuple(run)
    prefix = max(
        (cached for cached in assembled.forms if names[: len(cached)] == cached),
        key=len,
        default=(),
    )
    form = assembled.forms[prefix] if prefix else assembled.first_state
    with np.errstate(all="ignore"):  # nothing divided by nothing
        for name in names[len(prefix) :]:
            form = run[name].absorb(form, nothing(run[name].parts))
    assembled.forms[names] = form
    while len(assembled.forms) > FORMS:
        del assembled.forms[next(iter(assembled.forms))]
    return form


def nothing(parts: tuple[Part, ...]) -> dict[str, Released]:
    """What a round releases that nobody answered: no reports, or sums of nothing."""
    return {
        p.name: Released(np.zeros((0, 2) if p.choices else (p.size, p.width)), 0.0) for p in parts
    }


def _form_of_rows(form: NDArray[Any], items: int, rows: int) -> NDArray[Any]:
    """The form of the rows of some items alone."""
    if form.ndim and form.shape[0] == items:
        return np.zeros((rows, *form.shape[1:]), form.dtype)
    return form


def _alike(received: Arrays, form: Arrays, free: Mapping[str, int]) -> bool:
    """The same names, kinds and shapes; free axes are of one length, whatever it is."""
    if received.keys() != form.keys():
        return False
    lengths = set[int]()
    for name, array in form.items():
        expected = np.atleast_1d(array)  # a single number travels as an array of one
        actual = received[name]
        if (actual.dtype.kind, actual.ndim) != (expected.dtype.kind, expected.ndim):
            return False
        shape = list(actual.shape)
        if name in free:
            lengths.add(shape[free[name]])
            shape[free[name]] = expected.shape[free[name]]
        if tuple(shape) != expected.shape:
            return False
    return len(lengths) <= 1 and all(0 < n <= MOST_COLUMNS for n in lengths)
