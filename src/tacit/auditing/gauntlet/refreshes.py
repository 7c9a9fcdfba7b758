"""Differencing of refreshes: what changed between two releases is what is new.

The same people are fitted twice, the second time with the canaries' secrets. The difference
of the two models cancels all that both have in common.
"""

from __future__ import annotations

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit

NAME = "refreshes"


def attack(shown: Exhibit) -> Cell:
    """Guess each single canary's coin by how far her item has moved up."""
    moved = shown.told(shown.after, {}) - shown.told(shown.before, {})
    return shown.guessed(NAME, moved[shown.stage.single], shown.stage.singles)
