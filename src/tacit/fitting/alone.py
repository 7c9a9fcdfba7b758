"""Before a fit is charged: a few invented people go through its plan, and each must add the
same in a block as by herself.

They are made of public facts alone (the catalogue, the scale; at the unit `value` who rated
what) and a fixed seed, so a refusal says something about the method and nothing about anybody.
The rounds of a plan need the state that earlier rounds leave: it comes from what the invented
people release, with invented noise of the size that was paid for. Where that would cost much,
or cannot be absorbed, the rest is left to the engine, which looks at real people in every
round (`tacit.rounds.alone.Witness`).
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.data.ratings import Ratings
from tacit.engine.blocks import Piece
from tacit.engine.simulate import Simulate
from tacit.engine.threads import Threads
from tacit.errors import SettingError
from tacit.ledger.account.event import Event, Skellam
from tacit.methods import origin
from tacit.methods.base import Method, Public
from tacit.noise.release import NoNoise
from tacit.rounds.alone import (
    STOPPED,
    OnesShare,
    is_checked,
    only,
    told_alone,
    told_by,
)
from tacit.rounds.loop import passed_over
from tacit.rounds.people import Everyone
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Kind, Released, Round

PEOPLE = 5
"""Invented: few, as each is computed once more, and enough for a mean of several."""
SAME = (0, 2, 4)
"""Those of them who stay as they are when the others change."""
CELLS = 8
"""Ratings of one of them, at most."""
LARGEST = 300_000
"""Numbers of a release that is made for them and absorbed: a matrix over 770 items. Chosen so
that all of this takes a tenth of a second and less."""
OWN_LARGEST = 100
"""The same for Tacit's own methods, whose every round is followed by the tests of a release
(`tacit.testing.alone`): refining a catalogue twice would be 3 % of a fit of `bayes`."""
SEED = 13
FACTOR = {"gaussian": 1.0, "laplace": 2.0**0.5, "knorm": 2.0}
"""Standard deviation of a law of spread 1, about; noise of other laws is left out."""
REMEDY = (
    "nothing was charged. A row may depend on one person and the public state only: "
    "docs/adding-a-method.md says how to test it"
)


class _Step(NamedTuple):
    """A round and the state that it was given."""

    round: Round
    state: AnyState


_PASSED: set[Hashable] = set()
"""What was checked in this process: the same code on the same public facts says the same."""


def facts(method: Method, public: Public) -> Hashable:
    """All that the verdict depends on."""
    pattern = 0 if public.pattern is None else len(public.pattern.item)
    start = None if public.start is None else public.start.digest()
    given = repr(sorted(method.get_params().items()))
    shape = (public.items, public.catalogue.has_features, pattern)
    return (type(method), given, public.unit, public.schema, shape, start)


def check_once(
    method: Method,
    plan: Plan,
    public: Public,
    state: AnyState,
    events: Mapping[str, Event],
) -> None:
    """`check_alone`, once in a process for the same method on the same public facts."""
    known = facts(method, public)
    if known not in _PASSED:
        largest = LARGEST if origin(type(method)) else OWN_LARGEST
        check_alone(plan, public, state, events, largest)
        _PASSED.add(known)


def check_alone(
    plan: Plan,
    public: Public,
    state: AnyState,
    events: Mapping[str, Event],
    largest: int = LARGEST,
) -> None:
    """Refuse a plan whose rounds mix people. `state` is public before the first round; a
    release of more than `largest` numbers is not absorbed, and ends the walk."""
    rng = np.random.default_rng(SEED)
    people = invented(public, rng)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        steps = tuple(_walked(plan, people, state, events, rng, largest))
        among = _together(steps, people)
        others = _together(steps, _changed(people, public, rng))
        alone = _singly(steps, people)
        for step, first, second, third in zip(
            steps, among, others, alone, strict=True
        ):
            same = all(
                again is not None and told.same(again)
                for told, again in zip(first, third, strict=True)
            ) and all(
                told.same(again)
                for place, (told, again) in enumerate(
                    zip(first, second, strict=True)
                )
                if place in SAME
            )
            if not same:
                raise SettingError(
                    STOPPED.format(step.round.name), remedy=REMEDY
                )


def _walked(
    plan: Plan,
    people: Ratings,
    state: AnyState,
    events: Mapping[str, Event],
    rng: np.random.Generator,
    largest: int,
) -> Iterator[_Step]:
    """The rounds with the states that the invented people lead to."""
    done: list[str] = []
    answers, sums = Simulate(people, 1), Threads(people, 1)
    answers.watched = sums.watched = False
    for round_ in plan.rounds:
        if not is_checked(round_):
            return
        yield _Step(round_, state)
        if sum(part.numbers for part in round_.parts) > largest:
            return
        try:
            if passed_over(plan, round_, state, done):
                continue
            reports = any(part.kind is Kind.REPORT for part in round_.parts)
            everyone = replace(round_, takes_part=Everyone())
            engine = answers if reports else sums
            exact = engine.run(everyone, state, NoNoise())
            noised = {
                name: _noised(part, events.get(f"{round_.name}/{name}"), rng)
                for name, part in exact.items()
            }
            state = round_.absorb(state, noised)
            done.append(round_.name)
        except Exception:  # noqa: BLE001
            return  # so few may be too few to absorb: the engine looks at real people


def _noised(
    exact: Released, event: Event | None, rng: np.random.Generator
) -> Released:
    """With noise about as large as that of the event, from a seed: nobody is behind it."""
    spread = 0.0
    if isinstance(event, Skellam):
        spread = event.variance**0.5
    elif event is not None:
        spread = event.law.spread * FACTOR.get(event.law.name, 0.0)
    if event is None or not spread:
        return exact
    sd = spread / event.steps
    noise = sd * rng.standard_normal(exact.value.shape)
    value = (exact.value + noise).astype(exact.value.dtype)
    return replace(exact, value=value, sd=sd)


def _together(
    steps: Sequence[_Step], people: Ratings
) -> Iterator[Sequence[OnesShare]]:
    """What each of them adds to each round, all in one block."""
    engine = Threads(people, 1)
    for round_, state in steps:
        engine._make_room(round_)
        block = engine._block(slice(0, people.n_users))
        given = round_.contribute(block, state)
        engine._keep(block, round_)
        yield [
            told_by(round_, block, given, place)
            for place in range(people.n_users)
        ]


def _singly(
    steps: Sequence[_Step], people: Ratings
) -> Iterator[Sequence[OnesShare | None]]:
    """The same, each of them alone."""
    engine = Threads(people, 1)
    pieces: list[Piece] = [
        slice(place, place + 1) for place in range(people.n_users)
    ]
    for round_, state in steps:
        engine._make_room(round_)
        told = []
        for piece in pieces:
            one = only(engine._block(piece), 0)
            told.append(told_alone(round_, one, state))
            engine._keep(one, round_)
        yield told


def invented(public: Public, rng: np.random.Generator) -> Ratings:
    """People over the public catalogue and scale; at the unit `value` they have rated what
    the first people have, which is public there."""
    if public.pattern is not None:
        ptr = public.pattern.ptr[: PEOPLE + 1]
        item = public.pattern.item[: ptr[-1]]
    else:
        schema = public.schema
        most = min(CELLS, public.items, schema.max_ratings or CELLS)
        counts = rng.integers(1, most + 1, PEOPLE)
        ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        item = np.concatenate(
            [_items(public.items, int(count), rng) for count in counts]
        )
    made = Ratings(
        public.schema,
        [str(place) for place in range(len(ptr) - 1)],
        public.catalogue.ids,
        ptr,
        item,
        np.zeros(len(item), np.float32),
    )
    return replace(made, value=_values(made, rng))


def _items(count: int, wanted: int, rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.permutation(count)[:wanted]).astype(np.uint32)


def _values(people: Ratings, rng: np.random.Generator) -> np.ndarray:
    low, high = people.schema.low, people.schema.high
    return rng.uniform(low, high, len(people.item)).astype(np.float32)


def _changed(
    people: Ratings, public: Public, rng: np.random.Generator
) -> Ratings:
    """The same people, but for those between: they have rated otherwise, and other items
    where that is not public."""
    value, item = _values(people, rng), people.item.copy()
    for place in range(people.n_users):
        cells = slice(people.ptr[place], people.ptr[place + 1])
        if place in SAME:
            value[cells] = people.value[cells]
        elif public.pattern is None:
            count = int(cells.stop - cells.start)
            item[cells] = _items(public.items, count, rng)
    return replace(people, value=value, item=item)
