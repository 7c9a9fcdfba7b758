"""From the aggregator's sums to what a round releases: masks off, range checked, off the grid.

A device past its clip is invisible in a masked sum unless the total is out of any honest
range. Such a round is *spoilt*: what it released is taken as nothing at all (zeros, with
the noise's own deviation) and the training goes on. It is not run again: its sum was
revealed, so a second one would have to be paid for by everybody in it, and one cheat could
spend the budget of all. The statement says how many rounds were spoilt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.engine.gram import off_grid
from tacit.errors import Failure
from tacit.federation.agreed.report import heard
from tacit.federation.printed.hua import Tau
from tacit.federation.protocol.masks import mask
from tacit.federation.protocol.task import Assembled
from tacit.federation.protocol.wire import Layout, Sum, integers, sections, unpack
from tacit.rounds.round import Released
from tacit.rounds.shares import for_everyone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.federation.server.conductor import Active


@dataclass(frozen=True)
class Opened:
    """What a round came to."""

    released: Mapping[str, Released] | Tau
    spoilt: bool = False


def unmask(
    made: Assembled,
    active: Active,
    found: bytes,
    key: Callable[[str], bytes],
    people: float,
    private: bool,
) -> Opened:
    """The releases of a round. `key` gives a device's mask key, `people` how many the sums
    stand for."""
    header, payload = unpack(Sum, found)
    if (header.task, header.round, header.attempt) != (
        made.task.name,
        active.index,
        active.attempt,
    ):
        raise Failure("the aggregator answered for another round")
    names = [bytes(payload[16 * k : 16 * k + 16]).hex() for k in range(header.cohort)]
    if (
        len(set(names)) != header.cohort
        or header.cohort < made.task.least
        or not set(names) <= set(active.joined)
    ):
        raise Failure("the aggregator's cohort is not one of this round")
    # each device gives one report, so there are as many as devices
    told = tuple(
        p.model_copy(update={"size": header.cohort}) if p.report else p
        for p in active.layouts
    )
    totals = sections(told, header.rows, payload[16 * header.cohort :])
    keys = (
        {name: key(name) for name in names} if not all(p.report for p in told) else {}
    )
    round_ = made.round(active.index)
    out = dict[str, Released]()
    spoilt = False
    for part, layout, (rows, words) in zip(round_.parts, told, totals, strict=True):
        path = f"{round_.name}/{part.name}"
        if layout.report:
            out[part.name] = heard(part, made.events.get(path), words)
            continue
        whole = _bare(active, layout, rows, words, keys)
        if active.deal is not None and layout is told[0]:
            if layout.blind == "add":
                return Opened(Tau(np.asarray(rows, np.uint32), whole[rows]))
            if active.deal.tau is not None:
                whole[rows] += active.deal.missing(set(names))[rows]
        exact = integers(whole, layout.bits)
        if (np.abs(exact) > made.span(round_, part)).any():
            spoilt = True
        deviation = made.noise_sd(path, header.cohort) / part.bound.steps
        made_of = Released(
            off_grid(part, exact), deviation, private=private, reports=header.cohort
        )
        shown = (
            layout.sparse or made.method.local
        )  # as the method counts them: who came is in the state
        out[part.name] = (
            made_of if shown else for_everyone(made_of, people, header.cohort)
        )
    return Opened(
        {name: _nothing(each) for name, each in out.items()} if spoilt else out, spoilt
    )


def _bare(
    active: Active, layout: Layout, rows: Any, words: Any, keys: Mapping[str, bytes]
) -> NDArray[Any]:
    """The sum modulo 2^bits without the masks of the devices that are in it."""
    whole = np.zeros((layout.size, layout.width), f"<u{layout.word}")
    whole[slice(None) if rows is None else rows] = words
    for name, key in keys.items():
        own = active.joined[name] if layout.sparse else slice(None)
        count = len(active.joined[name]) if layout.sparse else layout.size
        whole[own] -= mask(key, layout.name, count, layout.width, layout.bits)
    return whole


def _nothing(found: Released) -> Released:
    return Released(np.zeros_like(found.value), found.sd, found.private, found.reports)
