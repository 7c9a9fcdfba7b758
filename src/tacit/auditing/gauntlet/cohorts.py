"""Differencing of cohorts: a model of everybody beside a model of everybody but a few.

What differs between them is about the few. Asked with what is known of each, both models
answer, and the difference of the answers is hers.
"""

from __future__ import annotations

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit

NAME = "cohorts"


def attack(exhibit: Exhibit) -> Cell:
    """Guess each pair's coin by the difference of the two cohorts' answers."""
    full_answers = exhibit.second_given_first(exhibit.model_after)
    small_answers = exhibit.second_given_first(exhibit.model_before)
    return exhibit.guessed(NAME, full_answers - small_answers, exhibit.stage.pairs)
