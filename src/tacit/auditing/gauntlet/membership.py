"""Membership inference on factors and similarities: two items that one person links.

Only a canary rates both items of her pair. If what is learned about one item moves with a
rating of the other, she is there (at `value`: the sign tells her rating). Differences cancel
what the items are by themselves, so that this is about factors and neighbours alone.
"""

from __future__ import annotations

import numpy as np

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit
from tacit.auditing.gauntlet.stage import CANARIES, HIGH, LOW

NAME = "membership"


def attack(exhibit: Exhibit) -> Cell:
    """Guess that those canaries are there whose two items speak for each other."""
    stage = exhibit.stage
    linked = np.empty(CANARIES)
    for j in range(CANARIES):
        first_item = int(stage.first[j])
        liked = exhibit.predictions(exhibit.model_after, {first_item: HIGH})[stage.second[j]]
        disliked = exhibit.predictions(exhibit.model_after, {first_item: LOW})[stage.second[j]]
        linked[j] = liked - disliked
    return exhibit.guessed(NAME, linked, stage.pairs)
