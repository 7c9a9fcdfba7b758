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
    kept = ratings.filtered(row >= 0)
    moved = row[row >= 0]
    order = np.lexsort((moved, kept.user))
    dropped = kept.notes.dropped_items + int((row < 0).sum())
    return replace(
        kept,
        items=items.ids,
        item=moved[order].astype(np.uint32),
        value=kept.value[order],
        time=kept.time[order] if kept.time is not None else None,
        notes=replace(kept.notes, dropped_items=dropped),
    )
