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
from tacit.federation.agreed.scheme import Attempt, Bare, Told, with_noise
from tacit.federation.protocol.masks import mask
from tacit.federation.protocol.wire import (
    Layout,
    Section,
    Sum,
    integers,
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
    kept: bytes | None = None
    """What the scheme keeps of it, where the round was one of its own."""


@dataclass(frozen=True)
class Summed:
    """The aggregator's answer: who is in the sums, and the sums, still masked."""

    arrived: tuple[str, ...]
    layouts: tuple[Layout, ...]
    totals: list[Section]


def unmask(
    made: Assembled,
    attempt: Attempt,
    told: Told,
    found: bytes,
    key: Callable[[str], bytes],
    people: float,
) -> Opened:
    """The releases of a round. `key` gives a device's mask key, `people` how many the sums
    stand for."""
    sums = _read(made, attempt, found)
    masked = not all(layout.report for layout in sums.layouts)
    keys = {name: key(name) for name in sums.arrived} if masked else {}
    round_ = made.round(attempt.index)
    out = dict[str, Released]()
    spoilt = False
    for place, part in enumerate(round_.parts):
        layout, total = sums.layouts[place], sums.totals[place]
        if layout.report:
            event = made.events.get(f"{round_.name}/{part.name}")
            out[part.name] = heard(part, event, total.words)
            continue
        bare = _bare(attempt, told, layout, total, keys)
        if bare.kept is not None:
            return Opened(nothing(round_.parts), kept=bare.kept)
        # with this server's own noise before anything is made of it: what is public must
        # tell the aggregator, which knows its own, nothing that was not paid for
        noisy = with_noise(layout, Section(None, bare.words))
        exact = integers(noisy.words, layout.bits)
        spoilt = spoilt or bool((np.abs(exact) > made.span(round_, part)).any())
        out[part.name] = _released(
            made, round_, part, exact, len(sums.arrived), people
        )
    if spoilt:
        out = {name: _nothing(each) for name, each in out.items()}
    return Opened(out, spoilt)


def _read(made: Assembled, attempt: Attempt, found: bytes) -> Summed:
    """The aggregator's answer, if it is one to this attempt: over distinct devices, all of
    which joined, and not fewer than the least cohort."""
    header, payload = unpack(Sum, found)
    asked = (made.task.name, attempt.index, attempt.number)
    if (header.task, header.round, header.attempt) != asked:
        raise Failure("the aggregator answered for another round")
    names = tuple(
        bytes(payload[16 * k : 16 * k + 16]).hex() for k in range(header.cohort)
    )
    if (
        len(set(names)) != header.cohort
        or header.cohort < made.task.least
        or not set(names) <= set(attempt.joined)
    ):
        raise Failure("the aggregator's cohort is not one of this round")
    # each device gives one report, so there are as many as devices
    layouts = tuple(
        each.model_copy(update={"size": header.cohort}) if each.report else each
        for each in made.layouts(attempt.index)
    )
    totals = sections(layouts, header.rows, payload[16 * header.cohort :])
    return Summed(names, layouts, totals)


def _bare(
    attempt: Attempt,
    told: Told,
    layout: Layout,
    total: Section,
    keys: Mapping[str, bytes],
) -> Bare:
    """The sum modulo 2^bits without the masks of the devices that are in it, and without
    what the scheme had them add."""
    whole = np.zeros((layout.size, layout.width), f"<u{layout.word}")
    whole[slice(None) if total.rows is None else total.rows] = total.words
    for name, key in keys.items():
        own = attempt.joined[name] if layout.sparse else slice(None)
        count = len(attempt.joined[name]) if layout.sparse else layout.size
        whole[own] -= mask(key, layout.name, count, layout.width, layout.bits)
    return told.taken_off(layout, Section(total.rows, whole), set(keys))


def _released(
    made: Assembled,
    round_: Round,
    part: Part,
    exact: NDArray[np.int64],
    arrived: int,
    people: float,
) -> Released:
    """A sum as an estimate for all people. Where the method counts who came, it stays as it
    is: how many they are is in the state."""
    deviation = (
        made.noise_sd(f"{round_.name}/{part.name}", arrived) / part.bound.steps
    )
    found = Released(
        off_grid(part, exact),
        deviation,
        private=bool(made.events),
        reports=arrived,
    )
    if made.scheme.shows_items or made.method.local:
        return found
    return for_everyone(found, people, arrived)


def _nothing(found: Released) -> Released:
    return Released(
        np.zeros_like(found.value), found.sd, found.private, found.reports
    )
