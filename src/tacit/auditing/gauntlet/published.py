"""Attacks of the gauntlet on what is published: means, factors, lists and their changes."""

from __future__ import annotations

import numpy as np

from tacit.auditing.gauntlet.exhibit import TINY, Cell, Exhibit, Floats, item_numbers
from tacit.auditing.gauntlet.stage import CANARIES, CROWD, HIGH, LOW
from tacit.fitting.trained import OwnersModel
from tacit.model.model import Model
from tacit.model.person.base import Cells

# Raw means: an item that one person rates tells her rating by its own mean.
#
# PNBM predicts with exact item means, SVD and SVD++ of Xian et al. with exact biases: no finite
# epsilon covers those. Black box: what the model tells somebody of whom it knows nothing.


def raw_means(exhibit: Exhibit) -> Cell:
    """Guess each single canary's coin by the level of her item."""
    scores = exhibit.predictions(exhibit.model_after, {})
    return exhibit.guessed("raw means", scores[exhibit.stage.single], exhibit.stage.singles)


# Existence: did the row of an item move at all?
#
# Items that nobody rates show what an untouched row looks like; a row that differs was touched.
# Noise on every row, touched or not, is what hides it. White box: all published numbers.


def existence(exhibit: Exhibit) -> Cell:
    """Guess that those canaries are there whose item's row is least like an untouched one."""
    if exhibit.pattern_is_public:
        return exhibit.skip("existence", "at `value` who rated what is public")
    numbers = item_numbers(exhibit.model_after)
    untouched = numbers[exhibit.stage.unrated]
    middle = np.median(untouched, axis=0)
    spread = np.median(np.abs(untouched - middle), axis=0) + TINY
    deviations = np.abs(numbers[exhibit.stage.single] - middle) / spread
    return exhibit.guessed("existence", deviations.max(axis=1), exhibit.stage.singles, box="white")


# Membership inference on factors and similarities: two items that one person links.
#
# Only a canary rates both items of her pair. If what is learned about one item moves with a
# rating of the other, she is there (at `value`: the sign tells her rating). Differences cancel
# what the items are by themselves, so that this is about factors and neighbours alone.


def membership(exhibit: Exhibit) -> Cell:
    """Guess that those canaries are there whose two items speak for each other."""
    stage = exhibit.stage
    linked = np.empty(CANARIES)
    for j in range(CANARIES):
        first_item = int(stage.first[j])
        liked = exhibit.predictions(exhibit.model_after, {first_item: HIGH})[stage.second[j]]
        disliked = exhibit.predictions(exhibit.model_after, {first_item: LOW})[stage.second[j]]
        linked[j] = liked - disliked
    return exhibit.guessed("membership", linked, stage.pairs)


# Narayanan & Shmatikov 2008: a published row is linked to a person by what is known of her,
# and the rest of the row is read.
#
# Nothing that Tacit publishes has a row a person. The papers that output P do: a canary's row
# is found by the items that she is known to have rated, and read at the item that she hides.


def linkage(exhibit: Exhibit) -> Cell:
    """Guess each single canary's rating by her own row."""
    model = exhibit.model_after
    if not isinstance(model, OwnersModel):
        return exhibit.skip("linkage", "nothing that is published has a row a person")
    data = exhibit.stage.after
    people = CROWD + np.arange(CANARIES)
    ask = np.zeros(data.n_users + 1, np.int64)
    ask[people + 1] = 1
    cells = Cells(
        data.ptr,
        data.item,
        np.zeros(len(data)),  # which ratings are there is all it may know
        np.cumsum(ask),
        exhibit.stage.single.astype(np.uint32),
    )
    predicted = model.personal.predict_cells(cells)
    return exhibit.guessed("linkage", predicted, exhibit.stage.singles)


# Reconstruction: the rest of somebody's row from what is known of it.
#
# Whoever knows one rating of a person asks the model with it, and reads the other rating from
# the answer: a model that has learned her row by heart completes it.


def reconstruction(exhibit: Exhibit) -> Cell:
    """Guess the secret rating of each pair from the known one."""
    scores = exhibit.second_given_first(exhibit.model_after)
    return exhibit.guessed("reconstruction", scores, exhibit.stage.pairs)


# Calandrino et al. 2011: inference from changes of public lists.
#
# The attacker knows one item of a person, watches the list that goes with it before and after,
# and takes an item that rises for one that she has rated. Only the order of lists is used.


def changed_lists(exhibit: Exhibit) -> Cell:
    """Guess that those canaries are there whose secret item rises in the list of the other."""
    risen = rank_seconds(exhibit, exhibit.model_before) - rank_seconds(exhibit, exhibit.model_after)
    return exhibit.guessed("lists that change", risen, exhibit.stage.pairs)


def rank_seconds(exhibit: Exhibit, model: Model) -> Floats:
    """The place of each pair's second item in the list of somebody who likes the first."""
    stage = exhibit.stage
    ranks = np.empty(CANARIES)
    for j in range(CANARIES):
        scores = exhibit.predictions(model, {int(stage.first[j]): HIGH})
        ranks[j] = (scores > scores[stage.second[j]]).sum()
    return ranks


# Differencing of cohorts: a model of everybody beside a model of everybody but a few.
#
# What differs between them is about the few. Asked with what is known of each, both models
# answer, and the difference of the answers is hers.


def cohorts(exhibit: Exhibit) -> Cell:
    """Guess each pair's coin by the difference of the two cohorts' answers."""
    full_answers = exhibit.second_given_first(exhibit.model_after)
    small_answers = exhibit.second_given_first(exhibit.model_before)
    return exhibit.guessed("cohorts", full_answers - small_answers, exhibit.stage.pairs)


# Differencing of refreshes: what changed between two releases is what is new.
#
# The same people are fitted twice, the second time with the canaries' secrets. The difference
# of the two models cancels all that both have in common.


def refreshes(exhibit: Exhibit) -> Cell:
    """Guess each single canary's coin by how far her item has moved up."""
    rises = exhibit.predictions(exhibit.model_after, {}) - exhibit.predictions(
        exhibit.model_before, {}
    )
    return exhibit.guessed("refreshes", rises[exhibit.stage.single], exhibit.stage.singles)
