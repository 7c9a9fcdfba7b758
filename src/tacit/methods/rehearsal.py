"""A method tries itself on invented people, before anything is charged.

They go through its whole plan to the finished model. Whatever would stop a fit half-way (a
round that reads what no round released, rows that miss their array, a method with an error in
it) stops it here, while it is free. And in every round each of them must add the same among
the others, among others who rate otherwise, and by herself: a method that mixes people has no
bound, and is refused.

The people are made of public facts alone (the scale, the catalogue) and a fixed seed, so a
refusal says something about the method and nothing about anybody. What they release is exact:
noise protects nobody here. Who takes part is asked of a crowd, which an engine is; what an
engine cannot run it refuses by itself (`Engine.check`), and in every round it looks at real
people too (`tacit.engine.per_person.Witness`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import GramBound, Rows, bounded, check_rows
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.errors import Failure, SettingError
from tacit.methods.base import Method, Public
from tacit.model.shared import Shared
from tacit.rounds.loop import passed_over
from tacit.rounds.pattern import Pattern
from tacit.rounds.people import EVERYONE, Crowd
from tacit.rounds.round import AnyState, Block, Kind, Part, Released, Round

PEOPLE = 12
"""Invented: enough for every shape of a row, from one rating to all items."""
ITEMS = 60
"""Of the catalogue, at most: what a plan needs for more is checked from its sizes."""
SAME = slice(0, None, 2)
"""Those of them who stay as they are when the others change."""
SEED = 13
"""Of what the others change to."""
MIXED = (
    "the round {} does not compute each person alone: what somebody adds depends on who else "
    "is there, so no sum over people has a bound"
)
REMEDY = (
    "nothing was charged. A row may depend on one person and the public state only: "
    "docs/adding-a-method.md says how to test it"
)
CrowdOf = Callable[[Ratings], Crowd]
"""Makes a crowd of the invented people, as an engine knows them."""
Flags = NDArray[np.bool_]
WEIGHTS = 2.0**30
"""In which the weights of a Gram bound are given."""


def reduce_public(public: Public) -> Public:
    """The same public facts of fewer items, with all that is known about them; where who
    rated what is public, with what the invented people have rated."""
    catalogue = few_items(public.catalogue)
    pattern = None
    if public.pattern is not None:
        people = invented(public.schema, catalogue)
        pattern = Pattern(people.ptr, people.item)
    reduced = replace(public, catalogue=catalogue, pattern=pattern)
    if public.known is not None:
        reduced = replace(reduced, known=public.known.first_items(len(catalogue)))
    return reduced


def few_items(catalogue: Catalogue) -> Catalogue:
    """The first items of a catalogue, with all that is known about them."""
    if len(catalogue.ids) <= ITEMS:
        return catalogue
    titles, years = catalogue.titles, catalogue.years
    tagged, numeric = catalogue.tagged, catalogue.numeric
    return replace(
        catalogue,
        ids=catalogue.ids[:ITEMS],
        titles=None if titles is None else titles[:ITEMS],
        years=None if years is None else years[:ITEMS],
        tagged=None if tagged is None else tagged[:ITEMS],
        numeric=None if numeric is None else numeric[:ITEMS],
    )


def invented(schema: Schema, catalogue: Catalogue, seed: int = 0) -> Ratings:
    """People who exist nowhere: the first rated one item, the last rated all of them, or as
    many as the schema allows."""
    rng = np.random.default_rng(seed)
    items = len(catalogue.ids)
    largest_count = min(items, schema.max_ratings or items)
    counts = np.linspace(1, largest_count, PEOPLE).astype(np.int64)
    rows = [np.sort(rng.choice(items, count, replace=False)) for count in counts]
    return Ratings(
        schema,
        [f"invented {number}" for number in range(PEOPLE)],
        list(catalogue.ids),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate(rows).astype(np.uint32),
        _values(schema, int(counts.sum()), rng),
    )


def changed(people: Ratings, *, items: bool) -> Ratings:
    """The same people, but for those between: they have rated otherwise, and other `items`
    where that is not public."""
    rng = np.random.default_rng(SEED)
    value = _values(people.schema, len(people.value), rng)
    item = people.item.copy()
    stays = set(range(len(people.users))[SAME])
    for person in range(len(people.users)):
        cells = slice(people.ptr[person], people.ptr[person + 1])
        if person in stays:
            value[cells] = people.value[cells]
        elif items:
            count = int(cells.stop - cells.start)
            item_rows = rng.permutation(len(people.items))[:count]
            item[cells] = np.sort(item_rows)
    return replace(people, value=value, item=item)


def _values(schema: Schema, count: int, rng: np.random.Generator) -> NDArray[np.float32]:
    lowest = schema.low if schema.positive is None else schema.positive
    return rng.uniform(lowest, schema.high, count).astype(np.float32)


@dataclass(frozen=True)
class Added:
    """What some people add to a round, and what they keep after it."""

    rows: Mapping[str, Rows]
    kept: Mapping[str, NDArray[np.float64]]

    def of(self, people: slice) -> list[NDArray[np.generic]]:
        """All numbers of some of them."""
        arrays: list[NDArray[np.generic]] = []
        for rows in self.rows.values():
            counts = np.diff(rows.ptr)
            mine = np.zeros(len(counts), np.bool_)
            mine[people] = True
            lines = np.repeat(mine, counts)
            arrays += [counts[people], rows.index[lines], rows.values[lines]]
        return arrays + [array[people] for array in self.kept.values()]

    def same(self, other: Added, people: slice = slice(None)) -> bool:
        """Whether they add the very same; one NaN is like another, since a bound makes
        nothing of either."""
        pairs = zip(self.of(people), other.of(people), strict=True)
        return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


class Gathering:
    """The invented people in one company: all in a block, or each by herself. What they keep
    between rounds moves on within it."""

    def __init__(self, people: Ratings, pieces: Iterable[slice]) -> None:
        schema = people.schema
        value = people.value.astype(np.float64) - schema.middle
        self._people = people
        self._value = value / schema.unit_width
        self._pieces = tuple(pieces)
        self._kept: dict[str, NDArray[np.float64]] = {}

    def add(self, round_: Round, state: AnyState) -> Added:
        """What all of them add to a round."""
        count = len(self._people.users)
        for personal in round_.personal:
            self._kept.setdefault(personal.name, np.zeros((count, personal.width)))
        contributions = []
        for piece in self._pieces:
            block = self._block(piece)
            contributions.append(round_.contribute(block, state))
            for personal in round_.personal:
                self._kept[personal.name][piece] = block.personal[personal.name]
        rows = {
            part.name: _joined([contribution[part.name] for contribution in contributions])
            for part in round_.parts
        }
        personal_arrays = {e.name: self._kept[e.name].copy() for e in round_.personal}
        return Added(rows, personal_arrays)

    def _block(self, piece: slice) -> Block:
        """In copies, through which nobody else can be reached."""
        ptr = self._people.ptr[piece.start : piece.stop + 1]
        cells = slice(int(ptr[0]), int(ptr[-1]))
        return Block(
            np.arange(piece.start, piece.stop, dtype=np.int64),
            ptr - ptr[0],
            self._people.item[cells].copy(),
            self._value[cells].copy(),
            first_cell=cells.start,
            personal={n: array[piece].copy() for n, array in self._kept.items()},
        )


def _joined(rows: Sequence[Rows]) -> Rows:
    """The rows of several blocks as those of one, in copies that no later call can reach."""
    if len(rows) == 1:  # as they are, well listed or not
        (single,) = rows
        return Rows(single.ptr.copy(), single.index.copy(), single.values.copy())
    counts = np.concatenate([np.diff(block_rows.ptr) for block_rows in rows])
    return Rows(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([block_rows.index for block_rows in rows]),
        np.concatenate([block_rows.values for block_rows in rows]),
    )


class Gatherings:
    """The same people in three companies, through the rounds of one plan."""

    def __init__(self, people: Ratings, *, items: bool) -> None:
        count = len(people.users)
        everybody = [slice(0, count)]
        singles = [slice(person, person + 1) for person in range(count)]
        self._together = Gathering(people, everybody)
        self._others = Gathering(changed(people, items=items), everybody)
        self._singly = Gathering(people, singles)

    def add(self, round_: Round, state: AnyState) -> Added:
        """What all of them add together; refused where it depends on the company."""
        together = self._together.add(round_, state)
        among_others = self._others.add(round_, state)
        if not (
            together.same(among_others, SAME) and self._matches_singly(together, round_, state)
        ):
            raise SettingError(MIXED.format(round_.name), remedy=REMEDY)
        return together

    def _matches_singly(self, together: Added, round_: Round, state: AnyState) -> bool:
        try:
            return together.same(self._singly.add(round_, state))
        except Exception:  # noqa: BLE001
            return False  # nobody was computed alone who cannot be


def rehearsed(method: Method, public: Public, crowd_of: CrowdOf | None = None) -> Shared:
    """The model that invented people make of `few` public facts. Where not everybody takes
    part, or not with all ratings, `crowd_of` is asked who does; without it all do."""
    public = reduce_public(public)
    people = invented(public.schema, public.catalogue)
    plan = method.plan(public)
    state = method.first_state(public)
    state = replace(state, people=float(len(people.users)))
    everyone = all(round_.takes_part is EVERYONE for round_ in plan.rounds)
    crowd = None
    if crowd_of and not (everyone and public.schema.max_ratings is None):
        crowd = crowd_of(people)
    gatherings = Gatherings(people, items=public.pattern is None)
    finished_rounds: list[str] = []
    for round_ in plan.rounds:
        added = gatherings.add(round_, state)
        participants = np.ones(len(people.users), np.bool_)
        if plan.rivals and passed_over(plan, round_, state, finished_rounds):
            # Real releases may choose this one: it must not fail after the charge.
            round_.absorb(state, summed(round_, added.rows, participants))
            continue
        if crowd is not None and round_.takes_part is not EVERYONE:
            sampled = round_.takes_part.among(crowd)
            if sampled is not None:
                participants[:] = False
                participants[sampled] = True
        state = round_.absorb(state, summed(round_, added.rows, participants))
        finished_rounds.append(round_.name)
    return method.finish(public, state)


# Exact releases of a round over one block, for rehearsals.
#
# An engine does this for many blocks, in bands and threads and with noise; here are twelve people,
# and plain arrays say what is meant. Contributions are checked and bounded as an engine does it.


def summed(
    round_: Round, contributions: Mapping[str, Rows], participants: Flags
) -> dict[str, Released]:
    """The sums over those people of a block who take part."""
    return {
        part.name: Released(
            _summed(part, contributions[part.name], participants),
            0.0,
            private=False,
            reports=int(participants.sum()),
        )
        for part in round_.parts
    }


def _summed(part: Part, rows: Rows, participants: Flags) -> NDArray[Any]:
    if part.kind is Kind.REPORT:
        return _reports(part, rows, participants)
    if part.form == "gram":
        return _products(part, rows, participants)
    return _sums(part, rows, participants)


def _sums(part: Part, rows: Rows, participants: Flags) -> NDArray[np.float64]:
    integers = bounded(
        part.bound, rows, name=part.name, people=len(participants), size=part.size, width=part.width
    )
    lines = np.repeat(participants, np.diff(rows.ptr))
    sums = np.zeros((part.size, part.width), np.int64)
    np.add.at(sums, rows.index[lines], integers[lines])
    return np.asarray(sums / part.bound.steps)


def _products(part: Part, rows: Rows, participants: Flags) -> NDArray[np.float32]:
    """The symmetric sum of products; rows outside the matrix count in a bound, and are left
    out."""
    assert isinstance(part.bound, GramBound)
    people, size = len(participants), part.size
    check_rows(rows, name=part.name, people=people, size=size + 1)
    integers = part.bound.apply(rows)
    weights = part.bound.weights(rows, integers)
    person = np.repeat(np.arange(people), np.diff(rows.ptr))
    inside = rows.index < size
    named = list(zip(person[inside], rows.index[inside], strict=True))
    if len(set(named)) < len(named):
        raise Failure(f"a contribution to {part.name} names one row of the matrix twice")
    dense = np.zeros((people, size + 1))
    dense[person, rows.index] = integers[:, 0]
    dense = dense[participants, :size]
    weighted = dense
    if weights is not None:
        weighted = dense * (weights[participants] / WEIGHTS)[:, None]
    sums = weighted.T @ dense
    if not part.diagonal:
        np.fill_diagonal(sums, 0.0)
    return (sums / part.bound.steps).astype(np.float32)


def _reports(part: Part, rows: Rows, participants: Flags) -> NDArray[Any]:
    """Who said what, where devices choose among answers; else the sum of what they say."""
    check_rows(rows, name=part.name, people=len(participants), size=part.size)
    if (np.diff(rows.ptr) != 1).any():
        raise Failure(f"a device gives one report to {part.name}, no more and no fewer")
    answers = rows.values[participants, 0]
    if part.choices:
        answers = answers.astype(np.int64)
        return np.column_stack([np.flatnonzero(participants), answers]).astype(np.float64)
    bits = np.clip(np.nan_to_num(answers), -1, 1)
    totals = np.bincount(rows.index[participants], bits, part.size * part.width)
    return totals.reshape(part.size, part.width)
