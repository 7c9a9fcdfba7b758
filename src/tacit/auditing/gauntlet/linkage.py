"""Narayanan & Shmatikov 2008: a published row is linked to a person by what is known of her,
and the rest of the row is read.

Nothing that Tacit publishes has a row a person. The papers that output P do: a canary's row
is found by the items that she is known to have rated, and read at the item that she hides.
"""

from __future__ import annotations

import numpy as np

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit
from tacit.auditing.gauntlet.stage import CANARIES, CROWD
from tacit.fitting.trained import OwnersModel
from tacit.model.person.base import Cells

NAME = "linkage"


def attack(exhibit: Exhibit) -> Cell:
    """Guess each single canary's rating by her own row."""
    model = exhibit.model_after
    if not isinstance(model, OwnersModel):
        return exhibit.skip(NAME, "nothing that is published has a row a person")
    data = exhibit.stage.after
    people = CROWD + np.arange(CANARIES)
    ask = np.zeros(data.n_users + 1, np.int64)
    ask[people + 1] = 1
    cells = Cells(
        data.ptr,
        data.item,
        np.zeros(len(data)),  # which ratings are there is all it may know
        np.cumsum(ask),
        exhibit.stage.single.astype(np.uint32),
    )
    predicted = model.personal.predict_cells(cells)
    return exhibit.guessed(NAME, predicted, exhibit.stage.singles)
