"""Ways to make weights between items of likes without noise: those that the twin of `ease` tries.

NOT PRIVATE. Rows of likes as they are, divided by a power of their length; or what popularity
does not say of them already, as the private `ease` multiplies them
(`tacit.methods.item_item.likes_rows`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.item_item.ease import EVEN
from tacit.methods.item_item.item_weights import (
    OFFSET,
    TEMPERED,
    beside_popularity,
    by_chance,
    cleaned,
)
from tacit.methods.item_item.likes_rows import OFFSET as CENTRED_OFFSET
from tacit.methods.refine.neighbour import LowRankEase, ease
from tacit.methods.refine.spectrum import shrink_spectrum

Floats = NDArray[np.float64]

RANK = 120
"""Of the Gram without its diagonal, as of the private one: the whole matrix in 400 factors
was never chosen."""
LEAST_LIKED = 0.5
"""Likes of an item that nobody likes, where scores are divided by them."""
LEAST_OWN = 1e-3
"""Of an item's ridge, in units of the mean item's."""
EXACT = 1500
"""Items up to which a spectrum is exact; of more it is found by turns, in 32 bits."""
TINY = 1e-12


@dataclass(frozen=True)
class LikeRows:
    """How a person's likes are multiplied."""

    power: float = 1.0
    """A row is divided by its length to this power."""
    centred: bool = False
    """Without what popularity says of it."""
    chance: bool = False
    """What falls together by chance counts as noise, beside popularity."""


@dataclass(frozen=True)
class Way:
    """One way to make weights of a Gram."""

    rows: LikeRows
    own: float
    """Ridge of an item in units of its own likes, and"""
    mean: float
    """in units of the mean item's."""
    rank: int = RANK
    less: float = 0.0
    """Scores are divided by this power of popularity, as those of the private `ease` are."""
    liked: float = 0.0
    """Every like speaks for what is liked most, too: so much, in times of an average weight."""


WHOLE = tuple(LikeRows(power) for power in (0.0, 0.5, 1.0))
CENTRED = (LikeRows(1.0, True), LikeRows(1.0, True, True))
SINGLE = (LikeRows(0.5, False, True), LikeRows(1.0, False, True))
WAYS = (
    *(Way(*arguments) for arguments in product(WHOLE, (0.0, 0.5), (0.6, 1.5, 4.0, 10.0))),
    *(Way(rows, 0.5, mean, rank) for rows, mean, rank in product(WHOLE, (0.6, 4.0), (2, 8, 30))),
    *(Way(rows, 0.5, mean, RANK, TEMPERED) for rows, mean in product(WHOLE, (1.5, 4.0))),
    *(
        Way(rows, 0.5, mean, RANK, 0.0, liked)
        for rows, mean, liked in product(WHOLE[1:], (4.0, 30.0), (0.3, 1.0))
    ),
    *(
        Way(rows, ridge, mean, RANK, less)
        for rows, (ridge, mean), less in product(
            CENTRED, ((0.35, 0.2), (0.5, 1.5), (0.5, 4.0)), (0.0, TEMPERED)
        )
    ),
    *(Way(rows, 0.5, mean) for rows, mean in product(SINGLE, (0.6, 4.0))),
)
"""Those that are tried; low ranks where likes are few, and most of a spectrum is chance; with
popularity where they are so few that most items were never liked together; the last are the
private `ease` at either unit without its noise, and with more ridge."""


@dataclass(frozen=True, eq=False)
class Gram:
    """What all ways of the same rows have in common."""

    loadings: Floats
    own: Floats
    """What each item adds to its own ridge."""
    likes: Floats
    """Of each item."""


def gram_of(likes: Any, rows: LikeRows) -> Gram:
    """From a sparse matrix of likes, one row a person."""
    count = np.asarray(likes.sum(axis=0), np.float64).ravel()
    item_factors, item_diagonal = _centred(likes, rows) if rows.centred else _uncentred(likes, rows)
    item_diagonal = np.maximum(item_diagonal, LEAST_OWN * max(float(item_diagonal.mean()), TINY))
    return Gram(item_factors, item_diagonal, count)


def _uncentred(likes: Any, rows: LikeRows) -> tuple[Floats, Floats]:
    length = np.asarray(likes.sum(axis=1)).ravel()
    row_weight = (length + OFFSET) ** (-rows.power / 2)
    scaled = likes.multiply(row_weight[:, None]).tocsr()
    matrix = np.asarray((scaled.T @ scaled).todense())
    item_diagonal = matrix.diagonal().copy()
    if rows.chance:
        count = np.asarray(likes.sum(axis=0), np.float64).ravel()
        # A row of n likes has the squared length n^(1 - power).
        squared = float((length ** (2 - 2 * rows.power)).sum())
        sd = by_chance(squared, len(item_diagonal))
        return beside_popularity(_precise(matrix), sd, count, RANK), item_diagonal
    spectrum = shrink_spectrum(_precise(matrix), 0.0, RANK)
    return np.asarray(spectrum.loadings, np.float64), item_diagonal


def _centred(likes: Any, rows: LikeRows) -> tuple[Floats, Floats]:
    """y y' = x x' - c (x p' + p x') + c^2 p p' for y = x - c p, over the length of y; and c^2 p p'
    given back."""
    length = np.asarray(likes.sum(axis=1)).ravel()
    even = np.sqrt(np.maximum(length, EVEN))
    popular = likes.T @ (1.0 / even)
    popular = popular / max(float(np.sqrt((popular**2).sum())), TINY)
    along = likes @ popular
    row_weight = 1.0 / (np.maximum(length - along**2, 0.0) + CENTRED_OFFSET)
    matrix = np.asarray((likes.multiply(row_weight[:, None]).T @ likes).todense())
    item_diagonal = matrix.diagonal().copy()
    cross = np.outer(likes.T @ (row_weight * along), popular)
    common = float((row_weight * along**2).sum())
    matrix += common * np.outer(popular, popular) - cross - cross.T
    sd = by_chance(len(length), len(popular)) if rows.chance else 0.0
    remaining = cleaned(_precise(matrix), sd, RANK - 1)
    item_factors = [np.sqrt(common) * popular, remaining]
    return np.column_stack(item_factors).astype(np.float64), item_diagonal


def _precise(matrix: Floats) -> NDArray[Any]:
    return matrix if len(matrix) <= EXACT else matrix.astype(np.float32)


def weights_of(gram: Gram, way: Way) -> LowRankEase:
    """The weights of one way."""
    rank = way.rank - 1 if way.liked else way.rank
    item_factors = np.ascontiguousarray(gram.loadings[:, :rank])
    between = ease(item_factors, way.own * gram.own + way.mean * gram.own.mean())
    if way.liked:
        return _with_popularity(between, gram.likes, way.liked)
    if not way.less:
        return between
    likes = np.maximum(gram.likes, LEAST_LIKED)
    less = (likes / likes.mean()) ** -way.less
    return LowRankEase(between.left, between.right * less.astype(np.float32)[:, None])


def _with_popularity(between: LowRankEase, likes: Floats, times: float) -> LowRankEase:
    """One more factor, the same for every like."""
    usual = size_of(between) / len(likes)
    share = likes / max(float(np.sqrt((likes**2).mean())), TINY)
    ones = np.ones((len(likes), 1), np.float32)
    popular = (times * usual * share).astype(np.float32)[:, None]
    return LowRankEase(np.hstack([between.left, ones]), np.hstack([between.right, popular]))


def size_of(between: LowRankEase) -> float:
    """The root of the sum of squares of all weights."""
    products = (between.left.T @ between.left) * (between.right.T @ between.right)
    return float(np.sqrt(max(float(products.sum()), 0.0)))
