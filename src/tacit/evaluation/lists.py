"""Lists for many people, and how lists look: how much of the catalogue they show, how rare
what they show is, and how alike two models' lists are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.baselines import Simple
from tacit.evaluation.prepared import Prepared
from tacit.kernels.topn import same_for_all, top_n_all
from tacit.model.person.base import PersonalModel

Floats = NDArray[np.float64]
Lists = NDArray[np.int32]


def lists_of(personal: PersonalModel, on: Prepared, longest: int) -> Lists:
    """The list of every listed person, without what she has rated; places that no item is
    left for are -1."""
    user_ratings = on.own
    if isinstance(personal, Simple) and personal.score is not None:
        return same_for_all(personal.score, longest, user_ratings.ptr, user_ratings.item)
    values = on.user_normalized

    def score(start: int, stop: int) -> Floats:
        cells = slice(int(user_ratings.ptr[start]), int(user_ratings.ptr[stop]))
        return personal.score_block(
            user_ratings.ptr[start : stop + 1] - cells.start,
            user_ratings.item[cells],
            values[cells],
        )

    return top_n_all(score, len(on.listed), longest, user_ratings.ptr, user_ratings.item)


def looks(
    lists: Lists, on: Prepared, lengths: Sequence[int]
) -> tuple[dict[str, NDArray[Any]], dict[str, float | None]]:
    """Person by person: novelty, in bits (the mean of -log2 of the share of people who rated
    an item), and popularity lift (how much more popular a list is than what the person
    rated; 0 is alike, 1 is twice). Over all: coverage, the share of the catalogue in any
    list."""
    bits = -np.log2(on.share)
    taste = on.own_share
    per_person: dict[str, NDArray[Any]] = {}
    overall: dict[str, float | None] = {}
    for length in lengths:
        listed = lists[:, :length]
        filled = listed >= 0
        item_rows = np.maximum(listed, 0)
        number = np.maximum(filled.sum(axis=1), 1)
        novelty = np.where(filled, bits[item_rows], 0).sum(axis=1) / number
        share = np.where(filled, on.share[item_rows], 0).sum(axis=1) / number
        per_person[f"novelty@{length}"] = novelty.astype(np.float32)
        per_person[f"popularity_lift@{length}"] = (share / taste - 1).astype(np.float32)
        distinct = len(np.unique(listed[filled]))
        overall[f"coverage@{length}"] = distinct / max(on.own.n_items, 1)
    return per_person, overall


def overlap(first_lists: NDArray[Any], second_lists: NDArray[Any]) -> NDArray[np.int64]:
    """How many items two lists of each person have in common."""
    people, width = first_lists.shape
    merged = np.concatenate([first_lists, second_lists], axis=1).astype(np.int64)
    merged.sort(axis=1)
    same = (merged[:, 1:] == merged[:, :-1]) & (merged[:, 1:] >= 0)
    return same.sum(axis=1) if people and width else np.zeros(people, np.int64)


def alike(
    first_lists: NDArray[Any], second_lists: NDArray[Any], length: int
) -> tuple[Floats, Floats]:
    """At a length: the share of the other's list that is in one, and the F-score of one as
    an answer to the other. They differ where a list is not full."""
    mine, theirs = first_lists[:, :length], second_lists[:, :length]
    common = overlap(mine, theirs).astype(np.float64)
    long_mine = (mine >= 0).sum(axis=1)
    long_theirs = (theirs >= 0).sum(axis=1)
    share = common / np.maximum(long_theirs, 1)
    score = 2 * common / np.maximum(long_mine + long_theirs, 1)
    return share, score
