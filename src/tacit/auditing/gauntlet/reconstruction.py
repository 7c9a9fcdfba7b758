"""Reconstruction: the rest of somebody's row from what is known of it.

Whoever knows one rating of a person asks the model with it, and reads the other rating from
the answer: a model that has learned her row by heart completes it.
"""

from __future__ import annotations

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit

NAME = "reconstruction"


def attack(exhibit: Exhibit) -> Cell:
    """Guess the secret rating of each pair from the known one."""
    scores = exhibit.second_given_first(exhibit.model_after)
    return exhibit.guessed(NAME, scores, exhibit.stage.pairs)
