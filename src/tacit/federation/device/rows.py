"""What a device adds to a part: its rows, clipped, on the grid and times its own weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.bound.check import check_rows
from tacit.bound.personal import lessened
from tacit.engine.gram import Factors
from tacit.ledger.account.event import Event
from tacit.ledger.account.personal import WHOLE, lesser
from tacit.rounds.round import Part


def device_integers(part: Part, size: int, rows: Rows, weight: int) -> NDArray[np.int64]:
    """The contribution to a part of `size` rows."""
    from tacit.kernels.rows import add_rows

    weights = None if weight == WHOLE else np.array([weight], np.int64)
    if part.form == "gram":
        # its own products alone, each once: the bound is on the row, before it is
        # multiplied
        factors = Factors(part)
        factors.add(0, rows, 1, weights)
        return factors.packed()
    check_rows(rows, name=part.name, people=1, size=size)
    clipped = part.bound.apply(rows)
    if weights is not None:
        clipped = lessened(clipped, rows.ptr, weights)
    total = np.zeros((size, part.width), np.int64)
    add_rows(rows.index, clipped, total)
    return total


def charged_event(event: Event, weight: int) -> Event:
    """What its ledger is charged for an event."""
    return event if weight == WHOLE else lesser(event, weight)
