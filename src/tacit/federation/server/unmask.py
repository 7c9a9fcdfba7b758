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
from tacit.federation.agreed.assembled import Assembled, aggregate_reports
from tacit.federation.agreed.expect import nothing
from tacit.federation.agreed.scheme import Attempt, Bare, Briefing, with_noise
from tacit.federation.protocol.packing import mask
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
    assembled: Assembled,
    attempt: Attempt,
    briefing: Briefing,
    answer: bytes,
    key: Callable[[str], bytes],
    people: float,
) -> Opened:
    """The releases of a round. `key` gives a device's mask key, `people` how many the sums
    stand for.

    Of several groups those that are out of range are left out: each is a release of its own,
    so this is made of what was released.
    """
    sums = _read_answer(assembled, attempt, answer)
    round_ = assembled.round(attempt.index)
    if all(layout.report for layout in sums.layouts):
        return Opened(_reported(assembled, round_, sums))
    exact = list[_Sums]()
    for group in sums.groups:
        keys = {name: key(name) for name in group.arrived}
        group_sums = _exact(assembled, attempt, briefing, sums.layouts, group, keys)
        if isinstance(group_sums, bytes):
            return Opened(nothing(round_.parts), kept=group_sums)
        exact.append(group_sums)
    good = [entry for entry in exact if entry.fine]
    out = {
        part.name: _released(assembled, round_, part, good or exact, people)
        for part in round_.parts
    }
    if not good:
        return Opened({name: _nothing(entry) for name, entry in out.items()}, True)
    left_out = [
        name
        for group, entry in zip(sums.groups, exact, strict=True)
        if not entry.fine
        for name in group.arrived
    ]
    return Opened(out, out=tuple(left_out))


def _reported(assembled: Assembled, round_: Round, sums: Summed) -> dict[str, Released]:
    """The releases of a round of randomized reports, which have no mask."""
    (group,) = sums.groups
    return {
        part.name: aggregate_reports(
            part, assembled.events.get(f"{round_.name}/{part.name}"), total.words
        )
        for part, total in zip(round_.parts, group.totals, strict=True)
    }


def _exact(
    assembled: Assembled,
    attempt: Attempt,
    briefing: Briefing,
    layouts: tuple[PartLayout, ...],
    group: Group,
    keys: Mapping[str, bytes],
) -> _Sums | bytes:
    """The sums of a group with this server's own noise; or what the scheme keeps instead."""
    round_ = assembled.round(attempt.index)
    out = dict[str, NDArray[np.int64]]()
    fine = True
    for index, part in enumerate(round_.parts):
        layout = layouts[index]
        bare = _bare(briefing, layout, group.totals[index], keys)
        if bare.kept is not None:
            return bare.kept
        # with this server's own noise before anything is made of it: what is public must
        # tell the aggregator, which knows its own, nothing that was not paid for
        noisy = with_noise(layout, Section(None, bare.words))
        exact = integers(noisy.words, layout.bits)
        limit = assembled.span(round_, part, _devices_in_span(assembled, group))
        fine = fine and not bool((np.abs(exact) > limit).any())
        out[part.name] = exact
    return _Sums(len(group.arrived), out, fine)


def _devices_in_span(assembled: Assembled, group: Group) -> int | None:
    """How many devices the range of a sum is for: a full cohort, where there is one group."""
    return None if assembled.task.groups == 1 else len(group.arrived)


def _read_answer(assembled: Assembled, attempt: Attempt, answer: bytes) -> Summed:
    """The aggregator's answer, if it is one to this attempt: over distinct devices, all of
    which joined, and in no group fewer than the least cohort."""
    header, payload = unpack(Sum, answer)
    attempt_key = (assembled.task.name, attempt.index, attempt.number)
    if (header.task, header.round, header.attempt) != attempt_key:
        raise Failure("the aggregator answered for another round")
    sizes = header.cohorts or (header.cohort,)
    if sum(sizes) > len(attempt.joined) or len(sizes) > assembled.task.groups:
        raise Failure("the aggregator's cohort is not one of this round")
    # each device gives one report, so there are as many as devices
    layouts = tuple(
        layout.model_copy(update={"size": header.cohort}) if layout.report else layout
        for layout in assembled.layouts(attempt.index)
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
        or min(sizes) < assembled.task.least
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
    sum_bytes = payload_size(layouts, ())
    ends = np.cumsum([16 * size + sum_bytes for size in sizes]).tolist()
    if ends[-1] != len(payload):
        raise Failure("the aggregator's answer has another length than it says")
    return [
        payload[end - 16 * size - sum_bytes : end] for size, end in zip(sizes, ends, strict=True)
    ]


def _bare(
    briefing: Briefing, layout: PartLayout, total: Section, keys: Mapping[str, bytes]
) -> Bare:
    """The sum modulo 2^bits without the masks of the devices that are in it, and without
    what the scheme had them add."""
    unmasked = np.zeros((layout.size, layout.width), f"<u{layout.word_size}")
    unmasked[slice(None) if total.rows is None else total.rows] = total.words
    for name, key in keys.items():
        rows = briefing.rows(layout, name)
        device_rows = slice(None) if rows is None else rows
        count = layout.size if rows is None else len(rows)
        unmasked[device_rows] -= mask(key, layout.name, count, layout.width, layout.bits)
    return briefing.taken_off(layout, Section(total.rows, unmasked), set(keys))


def _released(
    assembled: Assembled, round_: Round, part: Part, sums: list[_Sums], people: float
) -> Released:
    """The sum of these groups as an estimate for all people. Where the method counts who
    came, it stays as it is: how many they are is in the state."""
    arrived = sum(group.arrived for group in sums)
    exact = sum((group.exact[part.name] for group in sums[1:]), sums[0].exact[part.name])
    path = f"{round_.name}/{part.name}"
    deviation = assembled.noise_sd(path, arrived, len(sums)) / part.bound.steps
    released = Released(
        off_grid(part, exact), deviation, private=bool(assembled.events), reports=arrived
    )
    if assembled.scheme.shows_items or assembled.method.local:
        return released
    return for_everyone(released, people, arrived)


def _nothing(released: Released) -> Released:
    return Released(np.zeros_like(released.value), released.sd, released.private, released.reports)
