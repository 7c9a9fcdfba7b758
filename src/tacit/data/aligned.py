"""Ratings over the rows of a public catalogue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings


def aligned(ratings: Ratings, items: Catalogue) -> Ratings:
    """The ratings over the rows of a public catalogue; ratings of other items are dropped
    and counted. People who are left with none stay in `everyone` alone."""
    if list(items.ids) == list(ratings.items):
        return ratings
    rows = np.array([items.index.get(name, -1) for name in ratings.items], np.int64)
    row = rows[ratings.item]
    retained = ratings.filtered(row >= 0)
    new_rows = row[row >= 0]
    order = np.lexsort((new_rows, retained.user))
    dropped = retained.notes.dropped_items + int((row < 0).sum())
    return replace(
        retained,
        items=items.ids,
        item=new_rows[order].astype(np.uint32),
        value=retained.value[order],
        time=retained.time[order] if retained.time is not None else None,
        notes=replace(retained.notes, dropped_items=dropped),
    )
