"""The non-private twins of item-item methods: of the covariance's factor, of `ease` and of
the neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.first_order.rounds import Floats
from tacit.methods.item_item.covariance import NEIGHBOURS, CovarianceSettings, NeighbourForm
from tacit.methods.item_item.ease import (
    EVEN,
    TEMPERED,
    WEIGHT_OFFSET,
    beside_popularity,
    by_chance,
    cleaned,
)
from tacit.methods.item_item.ease import ROW_OFFSET as CENTRED_OFFSET
from tacit.methods.item_item.knn import GramForm
from tacit.methods.item_item.plan import RANK as USER_FACTORS
from tacit.methods.item_item.plan import (
    Arrays,
    MatrixState,
    full_budget,
    neighbour_lists,
    published,
)
from tacit.methods.noiseless.twin import GaussianTwin, ItemBiasTwin, OnePiece, OnePieceState
from tacit.methods.refine.neighbour import LowRankEase, Product, ease, strongest
from tacit.methods.refine.spectrum import shrink_spectrum
from tacit.model.person.ease import PRIOR_LIKES
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Block
from tacit.rounds.state import NOT_YET, State

FIRST = ("baseline", "variance", "loadings", "weight")
"""Arrays of effects and tastes."""
MEASURED = 0.5
"""Weight of the measured covariance in the mean of both; that of the factor is the rest (of
.3, .5 and .7 on split 100 of ML-100K: .8940; the factor alone .9021, the measured one alone
.8980; on ML-1M .5 and .6 are alike)."""
CAUTION = 1.5
"""A neighbourhood takes the covariance for certain: so many times the noise make up for it.
Flat from 1.3 to 2 on split 100 of ML-100K; on that of ML-1M .001 better than 1.9."""
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


class CovarianceTwin(GaussianTwin):
    """Effects and the rank-k factor of what is left, both by variational Bayes instead of by
    a covariance. NOT PRIVATE."""

    settings: CovarianceSettings

    def width(self, public: Public) -> int:
        """A person's level, and the rank at most."""
        return min(super().width(public), 1 + (self.settings.rank or USER_FACTORS))


class EaseTwin(OnePiece):
    """Weights between items, the mean of the ways that did best on likes held back inside
    the training. NOT PRIVATE."""

    def rank(self, public: Public) -> int:
        """Columns of either side of the weights."""
        return min(MOST_RANK, MOST_ITEMS)

    def sizes(self, public: Public) -> tuple[int, int]:
        """Likes, whether weights speak for the item, and both sides of the weights; how
        many columns there are."""
        return 2 + 2 * self.rank(public), 1

    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        items = public.items
        rank = self.rank(public)
        fit = fit_ease(block.ptr, block.item, items)
        table = np.zeros((items, 2 + 2 * rank))
        table[:, 0] = np.bincount(block.item, minlength=items)
        table[fit.head, 1] = 1.0
        used = fit.between.left.shape[1]
        table[fit.head, 2 : 2 + used] = fit.between.left
        table[fit.head, 2 + rank : 2 + rank + used] = fit.between.right
        return table, np.array([float(used)])

    def finish(self, public: Public, state: OnePieceState) -> Shared:
        """Popularity, and both sides of the weights between items."""
        table = state.items
        rank = self.rank(public)
        used = int(state.shared[0])
        head = np.flatnonzero(table[:, 1])
        arrays = {"weight": table[:, 0].astype(np.float32)}
        if used:
            left, right = table[head, 2:], table[head, 2 + rank :]
            arrays |= {
                "left": left[:, :used].astype(np.float32),
                "right": right[:, :used].astype(np.float32),
                "head": head.astype(np.int32),
            }
        return published(self.method, public, "ease", arrays, {})


@dataclass(frozen=True)
class FittedState(MatrixState):
    """What is measured, and effects and tastes that are fitted in one piece."""

    items: Floats = NOT_YET
    shared: Floats = NOT_YET


class KNNTwin(GramForm):
    """Neighbours from the raw Gram, over effects and tastes that are fitted as those of
    `bias`' twin. NOT PRIVATE."""

    def plan(self, public: Public) -> Plan:
        """The rounds without noise, then the fit; after a start the rounds alone."""
        measured = super().plan(public)
        if public.start is not None:
            return measured
        training = ItemBiasTwin(self.method).plan(public)
        rounds = (*measured.rounds, *training.rounds)
        return Plan(public.unit, full_budget(rounds), training.story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FittedState()

    def finish(self, public: Public, state: AnyState) -> Shared:
        """As measured, with what was fitted in the place of effects and level."""
        measured = super().finish(public, state)
        if state.items is NOT_YET:
            return measured
        fit_state = OnePieceState(items=state.items, shared=state.shared)
        fitted = ItemBiasTwin(self.method).finish(public, fit_state)
        fitted_arrays = {name: fitted.arrays[name] for name in FIRST}
        added_variance = measured.arrays["variance"] - np.float32(state.effects.variance)
        fitted_arrays["variance"] = fitted_arrays["variance"] + np.maximum(added_variance, 0)
        noise = fitted.numbers["noise"]
        return replace(
            measured,
            arrays={**measured.arrays, **fitted_arrays},
            numbers={**measured.numbers, "noise": noise, "around": noise},
        )


class FactorAndUserFactors(CovarianceTwin):
    """The factor of `CovarianceTwin`, and what `bias`' twin knows without one. NOT PRIVATE."""

    def sizes(self, public: Public) -> tuple[int, int]:
        """As of the factor; behind it loadings of level and known tastes."""
        columns, numbers = super().sizes(public)
        return columns + ItemBiasTwin(self.method).width(public), numbers

    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        """Both fits, beside each other."""
        table, numbers = super().train(block, public)
        bias_fit = ItemBiasTwin(self.method).fitted(block, public)
        return np.hstack([table, bias_fit.loadings]), numbers


class CovarianceNeighbourTwin(NeighbourForm):
    """Neighbours by the mean of two covariances, over the tastes that `bias`' twin knows: the
    one that is measured, as `sound` measures it, without noise; and that of the factor of
    `CovarianceTwin`. They err in different ways. NOT PRIVATE."""

    def plan(self, public: Public) -> Plan:
        """The rounds without noise, then the fit."""
        measured = super().plan(public)
        training = FactorAndUserFactors(self.method).plan(public)
        rounds = (*measured.rounds, *training.rounds)
        return Plan(public.unit, full_budget(rounds), training.story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FittedState()

    def finish(self, public: Public, state: AnyState) -> Shared:
        """Both factors beside each other: the products of their rows are the mean of both
        covariances."""
        fit = FactorAndUserFactors(self.method)
        fit_columns = 3 + fit.width(public)
        fit_state = OnePieceState(items=state.items[:, :fit_columns], shared=state.shared)
        model = fit.finish(public, fit_state)
        fitted = np.asarray(model.arrays["loadings"], np.float64)[:, 1:]
        factor = np.hstack([np.sqrt(MEASURED) * state.learned, np.sqrt(1 - MEASURED) * fitted])
        posterior_variance = MEASURED * state.effects.variance
        posterior_variance = posterior_variance + (1 - MEASURED) * model.arrays["variance"]
        variance = posterior_variance + np.sum(factor**2, axis=1)
        arrays: Arrays = {
            "baseline": model.arrays["baseline"],
            "variance": variance.astype(np.float32),
            "loadings": state.items[:, fit_columns:].astype(np.float32),
            "weight": model.arrays["weight"],
        }
        numbers = {
            "noise": CAUTION * model.numbers["noise"],
            "neighbours": float(self.settings.neighbours or NEIGHBOURS),
        }
        personal = "factor-neighbours"
        if self.settings.keep is None:
            arrays["factor"] = factor.astype(np.float32)
        else:
            personal = "kept-neighbours"
            near = strongest(Product(factor), self.settings.keep)
            rows = np.arange(public.items)
            arrays |= neighbour_lists(public.items, rows, near)
        return published(self.method, public, personal, arrays, numbers)


# Ridge of every item on all others, from likes without noise: the mean of those ways that do
# best on likes of some people that are held back inside the training, or as well but for chance.
#
# NOT PRIVATE. Only the items' side is published, as by the private `ease`.


# Item weights from likes without noise: the candidates that the twin of `ease` tries.
#
# NOT PRIVATE. Rows of likes as they are, divided by a power of their length; or what popularity
# does not say of them already, as the private `ease` multiplies them
# (`tacit.methods.item_item.ease`).
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
    row_weight = (length + WEIGHT_OFFSET) ** (-rows.power / 2)
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
