"""Existence: did the row of an item move at all?

Items that nobody rates show what an untouched row looks like; a row that differs was touched.
Noise on every row, touched or not, is what hides it. White box: all published numbers.
"""

from __future__ import annotations

import numpy as np

from tacit.auditing.gauntlet.exhibit import TINY, Cell, Exhibit, item_numbers

NAME = "existence"


def attack(shown: Exhibit) -> Cell:
    """Guess that those canaries are there whose item's row is least like an untouched one."""
    if shown.pattern_is_public:
        return shown.skip(NAME, "at `value` who rated what is public")
    numbers = item_numbers(shown.after)
    untouched = numbers[shown.stage.unrated]
    middle = np.median(untouched, axis=0)
    spread = np.median(np.abs(untouched - middle), axis=0) + TINY
    apart = np.abs(numbers[shown.stage.single] - middle) / spread
    return shown.guessed(NAME, apart.max(axis=1), shown.stage.singles, box="white")
