"""Ridge of every item on all others, from likes without noise: the mean of those ways that do
best on likes of some people that are held back inside the training, or as well but for chance.

NOT PRIVATE. Only the items' side is published, as by the private `ease`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.item_item.ease_ways import (
    RANK,
    TINY,
    WAYS,
    Gram,
    LikeRows,
    Way,
    gram_of,
    size_of,
    weights_of,
)
from tacit.methods.refine.neighbour import LowRankEase
from tacit.model.person.ease import PRIOR_LIKES

Floats = NDArray[np.float64]

MOST_ITEMS = 4000
"""The most liked items that speak for each other."""
LEAST_LIKES = 10
"""Of an item among these, beyond those that the settings are chosen on."""
TRIED_ITEMS, TRIED_PEOPLE = 1000, 1000
"""The same, and people held back at most, where the settings are chosen: of fewer items so many
times more people, for the same work. 500 people of one or two likes do not tell ways apart
(100 Netflix films: popularity was chosen, and private fits found more)."""
HIDDEN = 0.2
"""Of the likes of people held back, at least one and not all, as `per_person` splits them."""
FOLDS = 3
"""Everybody is held back once, where that many people are few."""
DRAWS, FEW_PEOPLE = 3, 1000
"""Everybody is held back so many times, of other likes each time, where people are fewer than
that: which likes of 300 people are hidden moves recall as much as ways differ."""
PLACES = 20
"""Recall is counted at this length."""
ALIKE = 1.0
"""Ways that are behind the best by no more than so many standard errors of that difference
are averaged with it: which one is best is chance among them, and their errors differ."""
BLENDED = 12
"""At most so many."""
MOST_RANK = 3 * RANK
"""Of their mean."""
SEED = 0
"""Who is held back: nothing else is drawn."""
POPULARITY = len(WAYS)
"""Stands for lists of what is liked most, which is tried beside the ways."""


@dataclass(frozen=True, eq=False)
class EaseFit:
    """Weights between the items `head`, in low rank: `MOST_RANK` at most."""

    head: NDArray[np.int64]
    between: LowRankEase


def fit_ease(ptr: NDArray[np.int64], item: NDArray[np.uint32], items: int) -> EaseFit:
    """From everybody's likes, one row a person."""
    from scipy.sparse import csr_array

    ones = np.ones(len(item))
    likes = csr_array((ones, item, ptr), shape=(len(ptr) - 1, items))
    count = np.bincount(item, minlength=items)
    order = np.argsort(-count, kind="stable")
    known = max(int((count >= LEAST_LIKES).sum()), TRIED_ITEMS)
    head = np.sort(order[: min(known, MOST_ITEMS)])
    ways = best_ways(likes[:, np.sort(order[:TRIED_ITEMS])])
    inside = likes[:, head]
    grams = dict[LikeRows, Gram]()
    made = list[LowRankEase]()
    for way in ways:
        if way.rows not in grams:
            grams[way.rows] = gram_of(inside, way.rows)
        made.append(weights_of(grams[way.rows], way))
    return EaseFit(head, blended(made, len(head)))


def blended(made: list[LowRankEase], items: int) -> LowRankEase:
    """The mean of weights that are made equally large, in `MOST_RANK` factors; nothing of
    none."""
    sizes = [max(size_of(one), TINY) for one in made]
    usual = float(np.mean(sizes)) if made else 0.0
    left, right = [np.zeros((items, 0))], [np.zeros((items, 0))]
    for one, size in zip(made, sizes, strict=True):
        left.append(one.left * (usual / size / len(made)))
        right.append(one.right)
    return narrowed(LowRankEase(np.hstack(left), np.hstack(right)))


def narrowed(made: LowRankEase) -> LowRankEase:
    """The nearest product of at most `MOST_RANK` factors."""
    if made.left.shape[1] <= MOST_RANK:
        return made
    left, first = np.linalg.qr(made.left)
    right, second = np.linalg.qr(made.right)
    turn, value, back = np.linalg.svd(first @ second.T)
    kept = min(MOST_RANK, len(value))
    return LowRankEase((left @ turn[:, :kept]) * value[:kept], right @ back[:kept].T)


def best_ways(likes: Any) -> list[Way]:
    """The ways that find most of the likes that were hidden of people held back, best first,
    with all that find as much but for chance; of those with popularity where no weights find as
    much as it does."""
    rng = np.random.default_rng(SEED)
    length = np.asarray(likes.sum(axis=1)).ravel()
    able = rng.permutation(np.flatnonzero(length >= 2))
    if len(able) < FOLDS:
        return [WAYS[0]]
    folds = np.array_split(able, FOLDS)
    most = TRIED_PEOPLE * TRIED_ITEMS // max(likes.shape[1], 1)
    if len(able) > FOLDS * most:
        folds = [able[:most]]
    draws = DRAWS if len(able) < FEW_PEOPLE else 1
    found = np.mean(
        [np.hstack([recalls(likes, held, rng) for held in folds]) for _ in range(draws)], axis=0
    )
    order = np.argsort(-found.mean(axis=1), kind="stable").tolist()
    able_ways = [each for each in order if each != POPULARITY]
    if order[0] == POPULARITY:
        able_ways = [each for each in able_ways if WAYS[each].liked]
    first = able_ways[0]
    behind = found[first] - found
    error = behind.std(axis=1) / np.sqrt(found.shape[1])
    alike = behind.mean(axis=1) <= ALIKE * error
    return [WAYS[each] for each in able_ways if alike[each]][:BLENDED]


def recalls(likes: Any, held: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Of each way, and of popularity: how much it finds of what is hidden of each of the people
    held back."""
    kept = np.ones(likes.shape[0], bool)
    kept[held] = False
    train = likes[kept]
    seen = likes[held].toarray() > 0
    hidden = _hidden(seen, rng)
    given = (seen & ~hidden).astype(np.float32)
    count = np.asarray(train.sum(axis=0), np.float64).ravel()
    # Who has told little gets more of what all like, in every list from `ease`.
    told = given + PRIOR_LIKES * count / max(float(count.sum()), TINY)
    told = told.astype(np.float32)
    grams = dict[LikeRows, Gram]()
    out = list[Floats]()
    for way in WAYS:
        if way.rows not in grams:
            grams[way.rows] = gram_of(train, way.rows)
        made = weights_of(grams[way.rows], way)
        out.append(_found((told @ made.left) @ made.right.T, given, hidden))
    popular = np.tile(count, (len(held), 1))
    return np.array([*out, _found(popular, given, hidden)])


def _hidden(seen: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Some of everybody's likes."""
    likes = seen.sum(axis=1)
    many = np.clip(np.rint(HIDDEN * likes), 1, np.maximum(likes - 1, 1))
    drawn = np.where(seen, rng.random(seen.shape), np.inf)
    rank = drawn.argsort(axis=1).argsort(axis=1)
    return np.asarray(seen & (rank < many[:, None]))


def _found(score: Floats, given: Floats, hidden: NDArray[np.bool_]) -> Floats:
    """What share of each person's hidden likes her list holds."""
    score[given > 0] = -np.inf
    most = np.maximum(np.minimum(hidden.sum(axis=1), PLACES), 1)
    best = np.argpartition(-score, min(PLACES, score.shape[1] - 1), axis=1)
    listed = np.take_along_axis(hidden, best[:, :PLACES], axis=1)
    return np.asarray(listed.sum(axis=1) / most)
