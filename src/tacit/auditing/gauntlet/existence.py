"""Existence: did the row of an item move at all?

Items that nobody rates show what an untouched row looks like; a row that differs was touched.
Noise on every row, touched or not, is what hides it. White box: all published numbers.
"""

from __future__ import annotations

import numpy as np

from tacit.auditing.gauntlet.exhibit import TINY, Cell, Exhibit, item_numbers

NAME = "existence"


def attack(exhibit: Exhibit) -> Cell:
    """Guess that those canaries are there whose item's row is least like an untouched one."""
    if exhibit.pattern_is_public:
        return exhibit.skip(NAME, "at `value` who rated what is public")
    numbers = item_numbers(exhibit.model_after)
    untouched = numbers[exhibit.stage.unrated]
    middle = np.median(untouched, axis=0)
    spread = np.median(np.abs(untouched - middle), axis=0) + TINY
    deviations = np.abs(numbers[exhibit.stage.single] - middle) / spread
    return exhibit.guessed(NAME, deviations.max(axis=1), exhibit.stage.singles, box="white")
