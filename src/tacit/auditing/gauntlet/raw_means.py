"""Raw means: an item that one person rates tells her rating by its own mean.

PNBM predicts with exact item means, SVD and SVD++ of Xian et al. with exact biases: no finite
epsilon covers those. Black box: what the model tells somebody of whom it knows nothing.
"""

from __future__ import annotations

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit

NAME = "raw means"


def attack(exhibit: Exhibit) -> Cell:
    """Guess each single canary's coin by the level of her item."""
    scores = exhibit.predictions(exhibit.model_after, {})
    return exhibit.guessed(NAME, scores[exhibit.stage.single], exhibit.stage.singles)
