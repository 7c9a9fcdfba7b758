"""Differencing of refreshes: what changed between two releases is what is new.

The same people are fitted twice, the second time with the canaries' secrets. The difference
of the two models cancels all that both have in common.
"""

from __future__ import annotations

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit

NAME = "refreshes"


def attack(exhibit: Exhibit) -> Cell:
    """Guess each single canary's coin by how far her item has moved up."""
    rises = exhibit.predictions(exhibit.model_after, {}) - exhibit.predictions(
        exhibit.model_before, {}
    )
    return exhibit.guessed(NAME, rises[exhibit.stage.single], exhibit.stage.singles)
