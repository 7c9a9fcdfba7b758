"""From the aggregator's sums to what a round releases: masks off, this server's own noise
on, range checked, off the grid.

A device past its clip is invisible in a masked sum unless the total is out of any honest
range. Such a round is *spoilt*: what it released is taken as nothing at all (zeros, with
the noise's own deviation) and the training goes on. It is not run again: its sum was
revealed, so a second one would have to be paid for by everybody in it, and one cheat could
spend the budget of all. The statement says how many rounds were spoilt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.engine.gram import off_grid
from tacit.errors import Failure
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.agreed.expect import nothing
from tacit.federation.agreed.report import heard
from tacit.federation.agreed.scheme import Attempt, Bare, Telling, with_noise
from tacit.federation.protocol.masks import mask
from tacit.federation.protocol.wire import (
    PartLayout,
    Section,
    Sum,
    integers,
    payload_size,
    sections,
    unpack,
)
from tacit.rounds.round import Part, Released, Round
from tacit.rounds.shares import for_everyone


@dataclass(frozen=True)
class Opened:
    """What a round came to."""

    released: Mapping[str, Released]
    spoilt: bool = False
    """Whether nothing of it was in range."""
    kept: bytes | None = None
    """What the scheme keeps of it, where the round was one of its own."""
    out: tuple[str, ...] = ()
    """The devices of groups that were out of range, where others were not."""


@dataclass(frozen=True)
class Group:
    """One sum of the aggregator's answer: who is in it, and its parts, still masked."""

    arrived: tuple[str, ...]
    totals: list[Section]


@dataclass(frozen=True)
class Summed:
    """The aggregator's answer."""

    groups: list[Group]
    layouts: tuple[PartLayout, ...]

    @property
    def arrived(self) -> tuple[str, ...]:
        """All who are in a sum."""
        return tuple(name for group in self.groups for name in group.arrived)


@dataclass(frozen=True)
class _Sums:
    """The integers of one group, part by part, and whether an honest one could give them."""

    arrived: int
    exact: dict[str, NDArray[np.int64]]
    fine: bool


def unmask(
    made: Assembled,
    attempt: Attempt,
    told: Telling,
    found: bytes,
    key: Callable[[str], bytes],
    people: float,
) -> Opened:
    """The releases of a round. `key` gives a device's mask key, `people` how many the sums
    stand for.

    Of several groups those that are out of range are left out: each is a release of its own,
    so this is made of what was released.
    """
    sums = _read(made, attempt, found)
    round_ = made.round(attempt.index)
    if all(layout.report for layout in sums.layouts):
        return Opened(_reported(made, round_, sums))
    exact = list[_Sums]()
    for group in sums.groups:
        keys = {name: key(name) for name in group.arrived}
        one = _exact(made, attempt, told, sums.layouts, group, keys)
        if isinstance(one, bytes):
            return Opened(nothing(round_.parts), kept=one)
        exact.append(one)
    good = [each for each in exact if each.fine]
    out = {part.name: _released(made, round_, part, good or exact, people) for part in round_.parts}
    if not good:
        return Opened({name: _nothing(each) for name, each in out.items()}, True)
    left = [
        name
        for group, each in zip(sums.groups, exact, strict=True)
        if not each.fine
        for name in group.arrived
    ]
    return Opened(out, out=tuple(left))


def _reported(made: Assembled, round_: Round, sums: Summed) -> dict[str, Released]:
    """The releases of a round of randomized reports, which have no mask."""
    (group,) = sums.groups
    return {
        part.name: heard(part, made.events.get(f"{round_.name}/{part.name}"), total.words)
        for part, total in zip(round_.parts, group.totals, strict=True)
    }


def _exact(
    made: Assembled,
    attempt: Attempt,
    told: Telling,
    layouts: tuple[PartLayout, ...],
    group: Group,
    keys: Mapping[str, bytes],
) -> _Sums | bytes:
    """The sums of a group with this server's own noise; or what the scheme keeps instead."""
    round_ = made.round(attempt.index)
    out = dict[str, NDArray[np.int64]]()
    fine = True
    for place, part in enumerate(round_.parts):
        layout = layouts[place]
        bare = _bare(told, layout, group.totals[place], keys)
        if bare.kept is not None:
            return bare.kept
        # with this server's own noise before anything is made of it: what is public must
        # tell the aggregator, which knows its own, nothing that was not paid for
        noisy = with_noise(layout, Section(None, bare.words))
        exact = integers(noisy.words, layout.bits)
        most = made.span(round_, part, _counted(made, group))
        fine = fine and not bool((np.abs(exact) > most).any())
        out[part.name] = exact
    return _Sums(len(group.arrived), out, fine)


def _counted(made: Assembled, group: Group) -> int | None:
    """How many devices the range of a sum is for: a full cohort, where there is one group."""
    return None if made.task.groups == 1 else len(group.arrived)


def _read(made: Assembled, attempt: Attempt, found: bytes) -> Summed:
    """The aggregator's answer, if it is one to this attempt: over distinct devices, all of
    which joined, and in no group fewer than the least cohort."""
    header, payload = unpack(Sum, found)
    asked = (made.task.name, attempt.index, attempt.number)
    if (header.task, header.round, header.attempt) != asked:
        raise Failure("the aggregator answered for another round")
    sizes = header.cohorts or (header.cohort,)
    if sum(sizes) > len(attempt.joined) or len(sizes) > made.task.groups:
        raise Failure("the aggregator's cohort is not one of this round")
    # each device gives one report, so there are as many as devices
    layouts = tuple(
        each.model_copy(update={"size": header.cohort}) if each.report else each
        for each in made.layouts(attempt.index)
    )
    groups = list[Group]()
    for size, part in zip(sizes, _cut(layouts, sizes, payload), strict=True):
        names = tuple(bytes(part[16 * k : 16 * k + 16]).hex() for k in range(size))
        totals = sections(layouts, header.rows, part[16 * size :])
        groups.append(Group(names, totals))
    listed = [name for group in groups for name in group.arrived]
    if (
        len(set(listed)) != header.cohort
        or sum(sizes) != header.cohort
        or min(sizes) < made.task.least
        or not set(listed) <= set(attempt.joined)
    ):
        raise Failure("the aggregator's cohort is not one of this round")
    return Summed(groups, layouts)


def _cut(
    layouts: tuple[PartLayout, ...], sizes: tuple[int, ...], payload: memoryview
) -> list[memoryview]:
    """The payload of each group."""
    if len(sizes) == 1:
        return [payload]
    words = payload_size(layouts, ())
    ends = np.cumsum([16 * size + words for size in sizes]).tolist()
    if ends[-1] != len(payload):
        raise Failure("the aggregator's answer has another length than it says")
    return [payload[end - 16 * size - words : end] for size, end in zip(sizes, ends, strict=True)]


def _bare(told: Telling, layout: PartLayout, total: Section, keys: Mapping[str, bytes]) -> Bare:
    """The sum modulo 2^bits without the masks of the devices that are in it, and without
    what the scheme had them add."""
    whole = np.zeros((layout.size, layout.width), f"<u{layout.word}")
    whole[slice(None) if total.rows is None else total.rows] = total.words
    for name, key in keys.items():
        rows = told.rows(layout, name)
        own = slice(None) if rows is None else rows
        count = layout.size if rows is None else len(rows)
        whole[own] -= mask(key, layout.name, count, layout.width, layout.bits)
    return told.taken_off(layout, Section(total.rows, whole), set(keys))


def _released(
    made: Assembled, round_: Round, part: Part, sums: list[_Sums], people: float
) -> Released:
    """The sum of these groups as an estimate for all people. Where the method counts who
    came, it stays as it is: how many they are is in the state."""
    arrived = sum(each.arrived for each in sums)
    exact = sum((each.exact[part.name] for each in sums[1:]), sums[0].exact[part.name])
    path = f"{round_.name}/{part.name}"
    deviation = made.noise_sd(path, arrived, len(sums)) / part.bound.steps
    found = Released(off_grid(part, exact), deviation, private=bool(made.events), reports=arrived)
    if made.scheme.shows_items or made.method.local:
        return found
    return for_everyone(found, people, arrived)


def _nothing(found: Released) -> Released:
    return Released(np.zeros_like(found.value), found.sd, found.private, found.reports)
