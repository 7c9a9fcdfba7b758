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
TRIED_ITEMS, TRIED_PEOPLE = 1000, 500
"""The same, and people held back at most, where the settings are chosen."""
HIDDEN = 0.2
"""Of the likes of people held back."""
FOLDS = 5
"""Everybody is held back once, where that many people are few."""
PLACES = 20
"""Recall is counted at this length."""
RANK = 120
"""Of the Gram without its diagonal, as of the private one: the whole matrix in 400 factors
was never chosen."""
OFFSET = 0.5
"""In the length of a person's row."""
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


WAYS = tuple(
    Way(*each)
    for each in product((0.0, 0.5, 1.0), (0.0, 0.5), (0.6, 1.5, 4.0, 10.0))
)
"""Those that are tried."""


@dataclass(frozen=True, eq=False)
class EaseFit:
    """Weights between the items `head`, in low rank."""

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
    head = np.sort(order[:MOST_ITEMS])
    way = _best(likes[:, np.sort(order[:TRIED_ITEMS])])
    return EaseFit(head, _weights(_Gram.of(likes[:, head], way), way))


@dataclass(frozen=True, eq=False)
class _Gram:
    loadings: Floats
    own: Floats
    """What each item adds to its own ridge."""

    @staticmethod
    def of(likes: Any, way: Way) -> _Gram:
        length = np.asarray(likes.sum(axis=1)).ravel()
        each = (length + OFFSET) ** (-way.power / 2)
        rows = likes.multiply(each[:, None]).tocsr()
        matrix = np.asarray((rows.T @ rows).todense(), np.float64)
        own = matrix.diagonal().copy()
        found = shrink_spectrum(matrix, 0.0, RANK)
        return _Gram(np.asarray(found.loadings, np.float64), own)


def _weights(gram: _Gram, way: Way) -> LowRankEase:
    own = np.maximum(gram.own, 1e-3 * max(float(gram.own.mean()), 1e-9))
    return ease(gram.loadings, way.own * own + way.mean * own.mean())


def _best(likes: Any) -> Way:
    """The way that finds most of the likes that were hidden of people held back."""
    rng = np.random.default_rng(SEED)
    length = np.asarray(likes.sum(axis=1)).ravel()
    able = rng.permutation(np.flatnonzero(length >= 2))
    if len(able) < FOLDS:
        return WAYS[0]
    folds = np.array_split(able, FOLDS)
    if len(able) > FOLDS * TRIED_PEOPLE:
        folds = [able[:TRIED_PEOPLE]]
    found = np.sum([_recalls(likes, held, rng) for held in folds], axis=0)
    return WAYS[int(np.argmax(found))]


def _recalls(
    likes: Any, held: NDArray[np.int64], rng: np.random.Generator
) -> list[float]:
    """Of each way: how much it finds of what is hidden of people held back."""
    kept = np.ones(likes.shape[0], bool)
    kept[held] = False
    seen = likes[held].toarray() > 0
    hidden = seen & (rng.random(seen.shape) < HIDDEN)
    given = (seen & ~hidden).astype(np.float32)
    most = np.maximum(np.minimum(hidden.sum(axis=1), PLACES), 1)
    grams = dict[float, _Gram]()
    told = list[float]()
    for way in WAYS:
        if way.power not in grams:
            grams[way.power] = _Gram.of(likes[kept], way)
        made = _weights(grams[way.power], way)
        score = (given @ made.left) @ made.right.T
        score[given > 0] = -np.inf
        best = np.argpartition(-score, min(PLACES, score.shape[1] - 1), axis=1)
        listed = np.take_along_axis(hidden, best[:, :PLACES], axis=1)
        told.append(float((listed.sum(axis=1) / most).sum()))
    return told
