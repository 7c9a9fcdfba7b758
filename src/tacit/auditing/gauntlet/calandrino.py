"""Calandrino et al. 2011: inference from changes of public lists.

The attacker knows one item of a person, watches the list that goes with it before and after,
and takes an item that rises for one that she has rated. Only the order of lists is used.
"""

from __future__ import annotations

import numpy as np

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit, Floats
from tacit.auditing.gauntlet.stage import CANARIES, HIGH
from tacit.model.model import Model

NAME = "lists that change"


def attack(exhibit: Exhibit) -> Cell:
    """Guess that those canaries are there whose secret item rises in the list of the other."""
    risen = rank_seconds(exhibit, exhibit.model_before) - rank_seconds(exhibit, exhibit.model_after)
    return exhibit.guessed(NAME, risen, exhibit.stage.pairs)


def rank_seconds(exhibit: Exhibit, model: Model) -> Floats:
    """The place of each pair's second item in the list of somebody who likes the first."""
    stage = exhibit.stage
    ranks = np.empty(CANARIES)
    for j in range(CANARIES):
        scores = exhibit.predictions(model, {int(stage.first[j]): HIGH})
        ranks[j] = (scores > scores[stage.second[j]]).sum()
    return ranks
