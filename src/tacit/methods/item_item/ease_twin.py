"""Ridge of every item on all others, from likes without noise: the mean of those ways that do
best on likes of some people that are held back inside the training, or as well but for chance.

NOT PRIVATE. Only the items' side is published, as by the private `ease`.
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
RANK = 120
"""Of the Gram without its diagonal, as of the private one: the whole matrix in 400 factors
was never chosen."""
MOST_RANK = 3 * RANK
"""Of their mean."""
SEED = 0
"""Who is held back: nothing else is drawn."""

# Item weights from likes without noise: the candidates that the twin of `ease` tries.
#
# NOT PRIVATE. Rows of likes as they are, divided by a power of their length; or what popularity
# does not say of them already, as the private `ease` multiplies them
# (`tacit.methods.item_item.likes_rows`).


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
POPULARITY = len(WAYS)
"""Stands for lists of what is liked most, which is tried beside the ways."""
LEAST_LIKED = 0.5
"""Likes of an item that nobody likes, where scores are divided by them."""
LEAST_OWN = 1e-3
"""Of an item's ridge, in units of the mean item's."""
EXACT = 1500
"""Items up to which a spectrum is exact; of more it is found by turns, in 32 bits."""
TINY = 1e-12


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
    item_count = max(int((count >= LEAST_LIKES).sum()), TRIED_ITEMS)
    head = np.sort(order[: min(item_count, MOST_ITEMS)])
    ways = best_ways(likes[:, np.sort(order[:TRIED_ITEMS])])
    inside = likes[:, head]
    grams = dict[LikeRows, Gram]()
    weights = list[LowRankEase]()
    for way in ways:
        if way.rows not in grams:
            grams[way.rows] = gram_of(inside, way.rows)
        weights.append(weights_of(grams[way.rows], way))
    return EaseFit(head, blended(weights, len(head)))


def blended(weights: list[LowRankEase], items: int) -> LowRankEase:
    """The mean of weights that are made equally large, in `MOST_RANK` factors; nothing of
    none."""
    sizes = [max(size_of(part), TINY) for part in weights]
    usual = float(np.mean(sizes)) if weights else 0.0
    left, right = [np.zeros((items, 0))], [np.zeros((items, 0))]
    for part, size in zip(weights, sizes, strict=True):
        left.append(part.left * (usual / size / len(weights)))
        right.append(part.right)
    return narrowed(LowRankEase(np.hstack(left), np.hstack(right)))


def narrowed(between: LowRankEase) -> LowRankEase:
    """The nearest product of at most `MOST_RANK` factors."""
    if between.left.shape[1] <= MOST_RANK:
        return between
    left, left_triangle = np.linalg.qr(between.left)
    right, right_triangle = np.linalg.qr(between.right)
    rotation, value, back = np.linalg.svd(left_triangle @ right_triangle.T)
    rank = min(MOST_RANK, len(value))
    return LowRankEase((left @ rotation[:, :rank]) * value[:rank], right @ back[:rank].T)


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
    fold_limit = TRIED_PEOPLE * TRIED_ITEMS // max(likes.shape[1], 1)
    if len(able) > FOLDS * fold_limit:
        folds = [able[:fold_limit]]
    draws = DRAWS if len(able) < FEW_PEOPLE else 1
    recall = np.mean(
        [np.hstack([recalls(likes, held, rng) for held in folds]) for _ in range(draws)], axis=0
    )
    order = np.argsort(-recall.mean(axis=1), kind="stable").tolist()
    able_ways = [index for index in order if index != POPULARITY]
    if order[0] == POPULARITY:
        able_ways = [index for index in able_ways if WAYS[index].liked]
    best = able_ways[0]
    behind = recall[best] - recall
    error = behind.std(axis=1) / np.sqrt(recall.shape[1])
    alike = behind.mean(axis=1) <= ALIKE * error
    return [WAYS[index] for index in able_ways if alike[index]][:BLENDED]


def recalls(likes: Any, held: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Of each way, and of popularity: how much it finds of what is hidden of each of the people
    held back."""
    in_training = np.ones(likes.shape[0], bool)
    in_training[held] = False
    train = likes[in_training]
    liked = likes[held].toarray() > 0
    hidden = _hide_likes(liked, rng)
    visible = (liked & ~hidden).astype(np.float32)
    count = np.asarray(train.sum(axis=0), np.float64).ravel()
    # Who has told little gets more of what all like, in every list from `ease`.
    profiles = visible + PRIOR_LIKES * count / max(float(count.sum()), TINY)
    profiles = profiles.astype(np.float32)
    grams = dict[LikeRows, Gram]()
    out = list[Floats]()
    for way in WAYS:
        if way.rows not in grams:
            grams[way.rows] = gram_of(train, way.rows)
        between = weights_of(grams[way.rows], way)
        out.append(_recall((profiles @ between.left) @ between.right.T, visible, hidden))
    popular = np.tile(count, (len(held), 1))
    return np.array([*out, _recall(popular, visible, hidden)])


def _hide_likes(liked: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Some of everybody's likes."""
    likes = liked.sum(axis=1)
    hidden_count = np.clip(np.rint(HIDDEN * likes), 1, np.maximum(likes - 1, 1))
    scores = np.where(liked, rng.random(liked.shape), np.inf)
    rank = scores.argsort(axis=1).argsort(axis=1)
    return np.asarray(liked & (rank < hidden_count[:, None]))


def _recall(score: Floats, visible: Floats, hidden: NDArray[np.bool_]) -> Floats:
    """What share of each person's hidden likes her list holds."""
    score[visible > 0] = -np.inf
    findable = np.maximum(np.minimum(hidden.sum(axis=1), PLACES), 1)
    best = np.argpartition(-score, min(PLACES, score.shape[1] - 1), axis=1)
    listed = np.take_along_axis(hidden, best[:, :PLACES], axis=1)
    return np.asarray(listed.sum(axis=1) / findable)


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
