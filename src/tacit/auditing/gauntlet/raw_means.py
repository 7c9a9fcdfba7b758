"""Raw means: an item that one person rates tells her rating by its own mean.

MECHANISMS calls this infinite for PNBM (exact item means) and for SVD and SVD++ (exact
biases). Black box: what the model tells somebody of whom it knows nothing.
"""

from __future__ import annotations

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit

NAME = "raw means"


def attack(shown: Exhibit) -> Cell:
    """Guess each single canary's coin by the level of her item."""
    told = shown.told(shown.after, {})
    return shown.guessed(NAME, told[shown.stage.single], shown.stage.singles)
