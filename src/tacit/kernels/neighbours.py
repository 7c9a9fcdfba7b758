"""What the neighbours of an item say about a person's rating of it; for many people at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def predict_cells(
    ptr: Any,
    item: Any,
    rest: Any,
    ask_ptr: Any,
    ask_item: Any,
    start: Any,
    neighbour: Any,
    similarity: Any,
    floor: float,
    out: Any,
) -> None:
    """What each person's neighbours add to each asked item, from what her own ratings leave
    over; each person alone."""
    mine = np.zeros(start.size - 1)
    rated = np.zeros(start.size - 1, np.bool_)
    for person in range(ptr.size - 1):
        for k in range(ptr[person], ptr[person + 1]):
            mine[item[k]] = rest[k]
            rated[item[k]] = True
        for ask in range(ask_ptr[person], ask_ptr[person + 1]):
            weighted, size = 0.0, 0.0
            for at in range(start[ask_item[ask]], start[ask_item[ask] + 1]):
                if rated[neighbour[at]]:
                    weighted += similarity[at] * mine[neighbour[at]]
                    size += abs(similarity[at])
            out[ask] = weighted / max(size, floor)
        for k in range(ptr[person], ptr[person + 1]):
            rated[item[k]] = False
