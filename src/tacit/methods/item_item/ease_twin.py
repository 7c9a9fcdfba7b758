"""Ridge of every item on all others, from likes without noise: rank, weights of people and
ridge are those that do best on likes of some people that are held back inside the training.

NOT PRIVATE. Only the items' side is published, as by the private `ease`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.neighbour import LowRankEase, ease
from tacit.methods.refine.spectrum import shrink_spectrum

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
PLACES = 20
"""Recall is counted at this length."""
RANK = 120
"""Of the Gram without its diagonal, as of the private one: the whole matrix in 400 factors
was never chosen."""
OFFSET = 0.5
"""In the length of a person's row."""
LEAST_LIKED = 0.5
"""Likes of an item that nobody likes, where scores are divided by them."""
BLENDED = 3
"""So many of the best are averaged: which one is best is partly chance, and their errors
differ (recall at 20 on splits 100 to 102 of ML-100K: .406 of one, .412 of 3, .410 of 5)."""
TINY = 1e-12
SEED = 0
"""Who is held back: nothing else is drawn."""


@dataclass(frozen=True)
class Way:
    """One way to make weights of a Gram."""

    power: float
    """A person's row is divided by its length to this power."""
    own: float
    """Ridge of an item in units of its own likes, and"""
    mean: float
    """in units of the mean item's."""
    rank: int = RANK
    less: float = 0.0
    """Scores are divided by this power of popularity, as those of the private `ease` are."""
    liked: float = 0.0
    """Every like speaks for what is liked most, too: so much, in times of an average weight."""


WAYS = (
    *(
        Way(*each)
        for each in product((0.0, 0.5, 1.0), (0.0, 0.5), (0.6, 1.5, 4.0, 10.0))
    ),
    *(
        Way(power, 0.5, mean, rank)
        for power, mean, rank in product(
            (0.0, 0.5, 1.0), (0.6, 4.0), (2, 8, 30)
        )
    ),
    *(
        Way(power, 0.5, mean, RANK, 0.15)
        for power, mean in product((0.0, 0.5, 1.0), (0.6, 1.5, 4.0))
    ),
    *(
        Way(power, 0.5, mean, RANK, 0.0, liked)
        for power, mean, liked in product((0.5, 1.0), (4.0, 30.0), (0.3, 1.0))
    ),
)
"""Those that are tried; low ranks where likes are few, and most of a spectrum is chance; with
popularity where they are so few that most items were never liked together."""
POPULARITY = len(WAYS)
"""Stands for lists of what is liked most, which is tried beside them."""


@dataclass(frozen=True, eq=False)
class EaseFit:
    """Weights between the items `head`, in low rank: `BLENDED` times `RANK` at most."""

    head: NDArray[np.int64]
    between: LowRankEase


def fit_ease(
    ptr: NDArray[np.int64], item: NDArray[np.uint32], items: int
) -> EaseFit:
    """From everybody's likes, one row a person."""
    from scipy.sparse import csr_array

    ones = np.ones(len(item))
    likes = csr_array((ones, item, ptr), shape=(len(ptr) - 1, items))
    count = np.bincount(item, minlength=items)
    order = np.argsort(-count, kind="stable")
    known = max(int((count >= LEAST_LIKES).sum()), TRIED_ITEMS)
    head = np.sort(order[: min(known, MOST_ITEMS)])
    ways = _best(likes[:, np.sort(order[:TRIED_ITEMS])])
    inside = likes[:, head]
    grams = {way.power: _Gram.of(inside, way) for way in ways}
    made = [_weights(grams[way.power], way) for way in ways]
    return EaseFit(head, _blended(made, len(head)))


def _blended(made: list[LowRankEase], items: int) -> LowRankEase:
    """The mean of weights that are made equally large; nothing of none."""
    sizes = [max(_size(one), TINY) for one in made]
    usual = float(np.mean(sizes)) if made else 0.0
    left, right = [np.zeros((items, 0))], [np.zeros((items, 0))]
    for one, size in zip(made, sizes, strict=True):
        left.append(one.left * (usual / size / len(made)))
        right.append(one.right)
    return LowRankEase(np.hstack(left), np.hstack(right))


def _size(made: LowRankEase) -> float:
    """The root of the sum of squares of all weights."""
    products = (made.left.T @ made.left) * (made.right.T @ made.right)
    return float(np.sqrt(products.sum()))


@dataclass(frozen=True, eq=False)
class _Gram:
    loadings: Floats
    own: Floats
    """What each item adds to its own ridge."""
    likes: Floats
    """Of each item."""

    @staticmethod
    def of(likes: Any, way: Way) -> _Gram:
        length = np.asarray(likes.sum(axis=1)).ravel()
        each = (length + OFFSET) ** (-way.power / 2)
        rows = likes.multiply(each[:, None]).tocsr()
        matrix = np.asarray((rows.T @ rows).todense(), np.float32)
        own = matrix.diagonal().astype(np.float64)
        found = shrink_spectrum(matrix, 0.0, RANK)
        count = np.asarray(likes.sum(axis=0), np.float64).ravel()
        return _Gram(np.asarray(found.loadings, np.float64), own, count)


def _weights(gram: _Gram, way: Way) -> LowRankEase:
    own = np.maximum(gram.own, 1e-3 * max(float(gram.own.mean()), 1e-9))
    rank = way.rank - 1 if way.liked else way.rank
    loadings = np.ascontiguousarray(gram.loadings[:, :rank])
    made = ease(loadings, way.own * own + way.mean * own.mean())
    if way.liked:
        return _with_popularity(made, gram.likes, way.liked)
    if not way.less:
        return made
    likes = np.maximum(gram.likes, LEAST_LIKED)
    less = (likes / likes.mean()) ** -way.less
    return LowRankEase(made.left, made.right * less.astype(np.float32)[:, None])


def _with_popularity(
    made: LowRankEase, likes: Floats, times: float
) -> LowRankEase:
    """One more factor, the same for every like."""
    usual = _size(made) / len(likes)
    share = likes / max(float(np.sqrt((likes**2).mean())), TINY)
    one = np.ones((len(likes), 1), np.float32)
    popular = (times * usual * share).astype(np.float32)[:, None]
    return LowRankEase(
        np.hstack([made.left, one]), np.hstack([made.right, popular])
    )


def _best(likes: Any) -> list[Way]:
    """The ways that find most of the likes that were hidden of people held back, best first;
    of those with popularity where no weights find as much as it does."""
    rng = np.random.default_rng(SEED)
    length = np.asarray(likes.sum(axis=1)).ravel()
    able = rng.permutation(np.flatnonzero(length >= 2))
    if len(able) < FOLDS:
        return [WAYS[0]]
    folds = np.array_split(able, FOLDS)
    most = TRIED_PEOPLE * TRIED_ITEMS // max(likes.shape[1], 1)
    if len(able) > FOLDS * most:
        folds = [able[:most]]
    found = np.sum([_recalls(likes, held, rng) for held in folds], axis=0)
    order = np.argsort(-found, kind="stable").tolist()
    best = [WAYS[each] for each in order if each != POPULARITY]
    if order[0] == POPULARITY:
        best = [way for way in best if way.liked]
    return best[:BLENDED]


def _recalls(
    likes: Any, held: NDArray[np.int64], rng: np.random.Generator
) -> list[float]:
    """Of each way, and of popularity: how much it finds of what is hidden of people held
    back."""
    kept = np.ones(likes.shape[0], bool)
    kept[held] = False
    seen = likes[held].toarray() > 0
    hidden = _hidden(seen, rng)
    given = (seen & ~hidden).astype(np.float32)
    grams = dict[float, _Gram]()
    told = list[float]()
    for way in WAYS:
        if way.power not in grams:
            grams[way.power] = _Gram.of(likes[kept], way)
        made = _weights(grams[way.power], way)
        told.append(_found((given @ made.left) @ made.right.T, given, hidden))
    count = np.asarray(likes[kept].sum(axis=0), np.float64).ravel()
    popular = np.tile(count, (len(held), 1))
    return [*told, _found(popular, given, hidden)]


def _hidden(
    seen: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Some of everybody's likes."""
    likes = seen.sum(axis=1)
    many = np.clip(np.rint(HIDDEN * likes), 1, np.maximum(likes - 1, 1))
    drawn = np.where(seen, rng.random(seen.shape), np.inf)
    rank = drawn.argsort(axis=1).argsort(axis=1)
    return np.asarray(seen & (rank < many[:, None]))


def _found(score: Floats, given: Floats, hidden: NDArray[np.bool_]) -> float:
    """The sum over people of what share of the hidden their lists hold."""
    score[given > 0] = -np.inf
    most = np.maximum(np.minimum(hidden.sum(axis=1), PLACES), 1)
    best = np.argpartition(-score, min(PLACES, score.shape[1] - 1), axis=1)
    listed = np.take_along_axis(hidden, best[:, :PLACES], axis=1)
    return float((listed.sum(axis=1) / most).sum())
