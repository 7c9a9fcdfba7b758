"""EASE on a noisy Gram: which items go together, from likes alone. The best list that one
release can buy.

Popularity first (a share of the budget, or all of it where people x noise is too little for
any pair to stand out); then the Gram of likes over the most popular items, each person's
products divided by the length of that person's row; then, free: what its spectrum says in spite
of the noise, and a ridge of every item on all others (Steck 2019) in low rank. What popularity
says already is taken off and given back: at `user` off each row, before it is multiplied; at
`rating` off the released Gram.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Bound, CellClip, EntryGram, FactorGram, RowClip, Rows
from tacit.methods.base import Form, Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import TINY, cell_rows, person_rows, person_weights, strength
from tacit.methods.item_item.plan import (
    FINE,
    Arrays,
    EaseState,
    head_of,
    matrix_rows,
    people_by_noise,
    published,
)
from tacit.methods.refine.neighbour import Array, LowRankEase, ease
from tacit.methods.refine.spectrum import shrink_whole_spectrum
from tacit.methods.refine.weights import denoise_weights
from tacit.model.shared import Shared
from tacit.repr import shapes
from tacit.rounds.options import Calibration
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import NOT_YET, State

GRAM_SHARE = 0.92
"""Of the budget, where there is a Gram. The constants of this file were chosen with ML-1M in
sight: docs/results/covariance.md."""
POPULARITY_SHARE, FAINT_SHARE = 0.06, 0.05
"""Unit `user`: of the budget, for popularity; and how much more where noise is strong, since
lists of people with few likes are popularity above all."""
FAINT = 0.3
"""The strength (mu) up to which noise is strong."""
LEAST_TOLD = 16.0
"""Below so much that pairs would tell (`told_by_pairs`), popularity is measured once more in
the place of the Gram: at 13 to 26 sets of many likes gain much, at 15 to 26 people of six and
twelve likes neither gain nor lose, below 11 they lose (docs/results/covariance.md)."""
CHANCE_LIKES = 60.0
"""Likes of a person at which as much of her row is taste as is chance, by that rule."""
LEAST_TOLD_RATING = 12.0
"""The same at the unit `rating`, where one like moves the Gram less the more likes a person has:
docs/results/covariance.md."""
ALONG_SHARE = 0.01
"""Of what the Gram takes, for how much of people's likes lies along popularity."""
LEAST = {"user": 400.0, "rating": 60.0}
"""People x mu below which popularity takes all."""
LEAST_COVERED = 100
"""Items that the Gram covers, if there are so many."""
EVEN = 6
"""Likes of a person up to which each of them counts fully."""
Floats = NDArray[np.float64]
WORK = 6e9
"""Products of two cells that a Gram may take, which is some seconds: p is over so few of the
most liked items that everybody's rows stay as short as that."""
ROW_OFFSET = 0.1
"""In the length of a person's row: keeps the weight of people with few likes finite. Chosen
on splits of ML-1M that are not reported (seen: .1 and .5)."""
WEIGHT_OFFSET = 0.5
"""In the length of a person's row: keeps the weight of people with few likes finite."""
MARGIN = 0.3
"""How far above the noise edge the largest eigenvalue must lie, in widths of the edge, if
the Gram says anything: lists forgive noise more than ratings do."""
CHANCE = 0.7
"""Beside the privacy noise: which likes fall together by chance. Rows of length 1 over M items
that have nothing to do with each other move an entry of their Gram by sqrt(people)/M; so much of
it counts as noise (seen: 0, .7, 1, 1.4; without it lists on 400 items fell from epsilon 5 to
20; at the unit `rating` 0, .2, .35, .7)."""
BUSY = 1.5
"""Those who like an item like so many times more than the average person."""
OWN_RIDGE, MEAN_RIDGE = 0.5, 0.6
"""The ridge of an item, in units of its own diagonal entry and of the mean entry."""
CENTRED_OWN, CENTRED_MEAN = 0.35, 0.2
"""The same for a Gram without what popularity says; found on splits that are not reported."""
TEMPERED = 0.15
"""There, scores are divided by this power of popularity: a ridge leaves too much of it."""
LEAST_WEIGHT = 1e-3


class EaseSettings(BaseSettings):
    """What `ease` can be told."""

    even: int = Field(EVEN, ge=1)
    """People with up to this many likes count fully in the popularity; a busier person's
    weight is spread."""
    items: int | None = Field(None, ge=2)
    """How many of the most liked items the Gram covers; by rule from people and noise unless given.
    """
    rank: int = Field(120, ge=1, le=1000)
    """At most this many factors."""


class NoisyGram(Form):
    """The sound form: popularity and the Gram, released."""

    settings: EaseSettings

    def plan(self, public: Public) -> Plan:
        """Popularity, then the Gram; popularity alone where no pair would stand out."""
        settings = self.settings
        reach = people_by_noise(public)
        size = settings.items or gram_size(public.unit, public.items, reach)
        size = min(size, public.items)
        if reach < LEAST[public.unit] or size < 2:
            notice = (
                "People x noise is too little for pairs of items to stand out: popularity "
                "takes all the budget."
            )
            return Plan(public.unit, (popularity_round(public, settings, 1.0),), (notice,))
        popular = popularity_share(public)
        popularity = popularity_round(public, settings, popular)
        remaining = 1 - popular
        if public.unit == "user":
            rounds = (popularity, *whole_people(public, settings, size, remaining))
        else:
            rounds = (popularity, *single_likes(public, settings, size, remaining))
        story = (
            f"Popularity takes {100 * popular:.0f} % of the budget, the Gram the rest.",
            f"The Gram covers the {size:,} most liked items: by rule from people x noise.",
            "Where released likes say that pairs drown, popularity is measured again instead.",
        )
        return Plan(public.unit, rounds, story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return EaseState()

    def finish(self, public: Public, state: EaseState) -> Shared:
        """Popularity, and both sides of the weights between items."""
        arrays: Arrays = {"weight": np.asarray(state.weight, np.float32)}
        # Where noise left nothing of the Gram, popularity alone is published.
        if state.between is not NOT_YET and state.between.left.shape[1]:
            arrays |= {
                "left": np.asarray(state.between.left, np.float32),
                "right": np.asarray(state.between.right, np.float32),
                "head": np.asarray(state.head, np.int32),
            }
        return published(self.method, public, "ease", arrays, {})


class EASE(Method):
    """Top-n lists from likes (`--positive`); on rated data every rating counts as a like."""

    name = "ease"
    source = "ours: ridge on the noisy Gram, after Steck 2019"
    engines = ("threads", "spark")
    Settings: ClassVar[type[BaseSettings]] = EaseSettings
    forms: ClassVar[Mapping[Calibration, type[Form] | str]] = {
        "sound": NoisyGram,
        "none": "tacit.methods.item_item.twin:EaseTwin",
    }


def popularity_round(
    public: Public, settings: EaseSettings, share: float, name: str = "popularity"
) -> Round:
    """How much each item is liked: at `user` rows of norm 1, at `rating` plain counts. What was
    released of it before counts by its noise."""
    whole_person = public.unit == "user"
    unit_weight = settings.even**-0.5 if whole_person else 1.0

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        weights = np.ones(len(block.item))
        if whole_person:
            weights = person_weights(block, settings.even)
        return {"weights": cell_rows(block, weights)}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        noisy = released["weights"]
        raw, sd = noisy.value[:, 0], max(noisy.sd, TINY)
        if state.counted is not NOT_YET:
            part = sd**2 / (sd**2 + state.counted_sd**2)
            raw = part * state.counted + (1 - part) * raw
            sd *= float(np.sqrt(1 - part))
        denoised = denoise_weights(
            raw,
            sd,
            low=0.5 * unit_weight,
            high=state.people * unit_weight,
            mean=max(float(raw.mean()), unit_weight),
            doubt=1.0,
        )
        return replace(state, weight=denoised.mean, counted=raw, counted_sd=sd)

    bound: Bound = RowClip(1.0) if whole_person else CellClip(1.0)
    part = Part("weights", public.items, bound, share=share)
    return Round(name, (part,), contribute, absorb)


def popularity_share(public: Public) -> float:
    """Of the budget, where there is a Gram."""
    if public.unit != "user":
        return 1 - GRAM_SHARE
    faint = min(1.0, FAINT / strength(public.budget)) ** 2
    return POPULARITY_SHARE + FAINT_SHARE * faint


def gram_round(public: Public, settings: EaseSettings, size: int, share: float) -> Round:
    """Which of the most liked items are liked by the same people: everybody's pairs."""

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        index = matrix_rows(state.weight, size)[block.item]
        return {"gram": Rows(block.ptr, index, np.ones((len(index), 1)))}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        head = head_of(state.weight, size)
        item_diagonal = diagonal(state.weight[head], state.people, False)
        noisy = released["gram"]
        chance = by_chance(float(state.weight.sum()), size)
        sd = float(np.hypot(noisy.sd, chance))
        item_factors = beside_popularity(noisy.value, sd, state.weight[head], settings.rank)
        ridge = OWN_RIDGE * item_diagonal + MEAN_RIDGE * item_diagonal.mean()
        return replace(state, between=ease(item_factors, ridge), head=head)

    bound = EntryGram(size, CellClip(1.0, FINE), WEIGHT_OFFSET)
    part = Part("gram", size, bound, share=share, form="gram")
    return Round("gram", (part,), contribute, absorb)


def single_likes(
    public: Public, settings: EaseSettings, size: int, share: float
) -> tuple[Round, ...]:
    """The Gram at the unit `rating`, or popularity once more where the likes of a person are too
    few for pairs to stand out."""
    reach = people_by_noise(public)

    def drowns(state: EaseState) -> bool:
        likes = float(state.weight.sum()) / state.people
        return single_pairs_tell(likes, reach, size) < LEAST_TOLD_RATING

    repeat = popularity_round(public, settings, share, "popularity again")
    return (
        gram_round(public, settings, size, share),
        replace(repeat, instead="gram", chosen=drowns),
    )


def whole_people(
    public: Public, settings: EaseSettings, size: int, share: float
) -> tuple[Round, ...]:
    """The same for whole people, without what popularity says already (see the
    rows of likes below); or popularity once more, where the likes of a person
    are too few for that."""
    reach = people_by_noise(public)
    gram_share = share * (1 - ALONG_SHARE)

    def drowns(state: EaseState) -> bool:
        return told_by_pairs(state, reach, size) < LEAST_TOLD

    repeat = popularity_round(public, settings, gram_share, "popularity again")
    return (
        centred_gram_round(settings, size, gram_share),
        replace(repeat, instead="gram", chosen=drowns),
        along_round(size, share * ALONG_SHARE),
    )


def told_by_pairs(state: EaseState, reach: float, size: int) -> float:
    """How far pairs stand out of the noise's spectrum, by what was released."""
    mean_weight = float(state.weight.sum()) / state.people
    # A person of n likes has n weights of 1/sqrt(n).
    return pairs_tell(mean_weight**2, reach, size)


def pairs_tell(likes: float, reach: float, size: int) -> float:
    """The same from the likes of a person: people x mu, times the share of a row that is taste
    and not chance, which grows with its likes."""
    return reach * likes / (likes + CHANCE_LIKES) / float(np.sqrt(size))


def single_pairs_tell(likes: float, reach: float, size: int) -> float:
    """The same at the unit `rating`: one of n likes moves the Gram by about 1/sqrt(n)."""
    return pairs_tell(likes, reach, size) * float(np.sqrt(max(likes, 0.0)))


def foreseen_pairs(unit: str, people: float, items: int, likes: float, mu: float) -> float:
    """What the rules above will say of a public shape, before anything is released: 0 where
    popularity takes all, else how much pairs tell in times of what they have to."""
    reach = people * mu
    size = gram_size(unit, items, reach)
    if reach < LEAST[unit] or size < 2:
        return 0.0
    if unit == "user":
        return pairs_tell(likes, reach, size) / LEAST_TOLD
    return single_pairs_tell(likes, reach, size) / LEAST_TOLD_RATING


def common_of(state: EaseState, size: int) -> Common:
    """What most people have in common, from released popularity."""
    head = head_of(state.weight, size)
    return common_part(state.weight[head], state.people)


def centred_gram_round(settings: EaseSettings, size: int, share: float) -> Round:
    """Which of the most liked items are liked by the same people, beyond popularity."""

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        index = matrix_rows(state.weight, size)[block.item]
        centred = centred_likes(block, index, common_of(state, size))
        return {"gram": centred.rest}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        noisy = released["gram"]
        chance = by_chance(state.people, size)
        sd = float(np.hypot(noisy.sd, chance))
        item_factors = cleaned(noisy.value, sd, settings.rank - 1)
        return replace(state, loadings=item_factors)

    part = Part("gram", size, FactorGram(), share=share, form="gram", centred=True)
    return Round("gram", (part,), contribute, absorb)


def along_round(size: int, share: float) -> Round:
    """How much of everybody's likes lies along popularity; then the weights between items."""

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        index = matrix_rows(state.weight, size)[block.item]
        centred = centred_likes(block, index, common_of(state, size))
        return {"along": person_rows(centred.along[:, None])}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        if state.loadings is NOT_YET:  # popularity was measured once more
            return state
        if not state.loadings.shape[1]:  # the Gram says nothing beside it
            return state
        head = head_of(state.weight, size)
        along = max(float(released["along"].value[0, 0]), 0.0)
        item_diagonal = diagonal(state.weight[head], state.people, True)
        # A person's squared row has length 1, and what was taken off it.
        item_diagonal *= (state.people + along) / item_diagonal.sum()
        popular = np.sqrt(along) * common_of(state, size).all_rows()
        item_factors = np.column_stack([popular, state.loadings])
        between = tempered(item_factors, item_diagonal, state.weight[head])
        return replace(state, between=between, head=head)

    part = Part("along", 1, RowClip(1.0), share=share)
    return Round("along", (part,), contribute, absorb)


def gram_size(unit: str, items: int, reach: float) -> int:
    """How many items the Gram covers: as many as the noise allows."""
    whole_person = unit == "user"
    part = items // (4 if whole_person else 2)
    limit = max(2, min(items, max(LEAST_COVERED, part)))
    if reach == inf:
        return limit
    size = 1.5 * reach ** (2 / 3) if whole_person else 0.45 * reach
    return int(np.clip(size, min(LEAST_COVERED, limit), limit))


# What one person adds to a Gram of likes: what popularity does not say of them already.
#
# A row of likes x is mostly popularity, which is released before. Along the unit vector p of the
# popularity of the most liked items it has the length c = x.p, and the rest y = x - c p is what
# is multiplied: p is known, so the noise covers only what is not. What was taken off is given
# back as c^2 p p', from one released number: everybody's c^2 in the same units as her products.


@dataclass(frozen=True, eq=False)
class Common:
    """The unit vector p, over some of the rows of a matrix."""

    rows: NDArray[np.int64]
    """Ascending."""
    along: Floats
    """p of each of these."""
    size: int
    """Rows of the matrix."""

    def all_rows(self) -> Floats:
        """p over all rows of the matrix."""
        out = np.zeros(self.size)
        out[self.rows] = self.along
        return out


def common_part(weight: Floats, people: float) -> Common:
    """p from the popularity of the rows of a matrix, over as many of them as `WORK` allows."""
    size = len(weight)
    row_count = int(np.clip(np.sqrt(WORK / max(people, 1.0)), 1, size))
    rows = np.sort(np.argsort(-weight, kind="stable")[:row_count])
    length = np.sqrt((weight[rows] ** 2).sum())
    along = weight[rows] / length if length > 0 else np.zeros(row_count)
    return Common(rows, np.asarray(along, np.float64), size)


@dataclass(frozen=True, eq=False)
class CentredLikes:
    """A block's contributions."""

    rest: Rows
    """Everybody's y over its length."""
    along: Floats
    """Everybody's c^2 over the same length squared."""

    __repr__ = shapes


def centred_likes(block: Block, index: NDArray[np.uint32], common: Common) -> CentredLikes:
    """Each person alone; `index` is the row of each of the block's cells, the matrix's size for
    cells outside it."""
    people = len(block.people)
    person = np.repeat(np.arange(people), np.diff(block.ptr))
    inside = index < common.size
    person, liked = person[inside], index[inside].astype(np.int64)
    slot = np.full(common.size, -1, np.int64)
    slot[common.rows] = np.arange(len(common.rows))
    column = slot[liked]
    shared = column >= 0
    # |x - c p|^2 = |x|^2 - c^2, as p has length 1 and c = x.p.
    # Of no cells at all numpy counts in integers, which have no -0.
    length = np.bincount(person[shared], common.along[column[shared]], minlength=people).astype(
        np.float64
    )
    count = np.bincount(person, minlength=people)
    scale = 1.0 / np.sqrt(np.maximum(count - length**2, 0.0) + ROW_OFFSET)
    dense = -length[:, None] * common.along
    dense[person[shared], column[shared]] += 1.0
    dense *= scale[:, None]
    rows = _merged(dense, common.rows, person[~shared], liked[~shared], scale)
    return CentredLikes(rows, (length * scale) ** 2)


def _merged(
    dense: Floats,
    columns: NDArray[np.int64],
    person: NDArray[np.int64],
    other_likes: NDArray[np.int64],
    scale: Floats,
) -> Rows:
    """The dense part of each row, and behind it the person's other likes."""
    people, width = dense.shape
    other_counts = np.bincount(person, minlength=people)
    ptr = np.concatenate([[0], np.cumsum(width + other_counts)]).astype(np.int64)
    index = np.empty(ptr[-1], np.int64)
    value = np.empty(ptr[-1])
    at = ptr[:-1, None] + np.arange(width)
    index[at] = columns
    value[at] = dense
    # Cells come in the order of the people: the k-th of a person goes k behind her dense part.
    offsets = np.concatenate([[0], np.cumsum(other_counts)])[:-1]
    behind = ptr[person] + width + np.arange(len(person)) - offsets[person]
    index[behind] = other_likes
    value[behind] = scale[person]
    return Rows(ptr, index, value[:, None])


# From a noisy Gram of likes to weights between items: what its spectrum still says beside
# popularity, and a ridge of every item on all others in low rank. Post-processing only.


def cleaned(matrix: Array, sd: float, rank: int) -> Floats:
    """Loadings of what a noisy Gram still says."""
    spectrum = shrink_whole_spectrum(matrix, sd, rank, margin=MARGIN)
    return np.asarray(spectrum.loadings, np.float64)


def by_chance(lengths: float, size: int) -> float:
    """How far likes that fall together by chance move an entry of a Gram of so many rows, from
    the sum over people of their squared row's length, squared: 1 each at the unit `user`; n of n
    likes at `rating`."""
    return CHANCE * float(np.sqrt(max(lengths, 0.0))) / size


def beside_popularity(matrix: Array, sd: float, weight: Floats, rank: int) -> Floats:
    """Loadings of a noisy Gram of whole rows: popularity, which is released before and known
    better than the Gram's own leading direction, and what the rest of the Gram still says; none
    where it says nothing."""
    common = weight / max(float(np.sqrt((weight**2).sum())), TINY)
    # The diagonal was never released: the slope of all other entries on those of p p'.
    inside = float(common @ matrix @ common)
    inside -= float((matrix.diagonal() * common**2).sum())
    along = max(inside / max(1 - float((common**4).sum()), TINY), 0.0)
    popular_part = (along * np.outer(common, common)).astype(matrix.dtype)
    remaining = cleaned(matrix - popular_part, sd, rank - 1)
    if not remaining.shape[1]:
        return remaining
    return np.column_stack([np.sqrt(along) * common, remaining])


def tempered(item_factors: Floats, item_diagonal: Floats, weight: Floats) -> LowRankEase:
    """Weights between items from a Gram without what popularity says."""
    between = ease(item_factors, CENTRED_OWN * item_diagonal + CENTRED_MEAN * item_diagonal.mean())
    weight = np.maximum(weight, LEAST_WEIGHT)
    less = (weight / weight.mean()) ** -TEMPERED
    return LowRankEase(between.left, np.asarray(between.right * less[:, None], np.float32))


def diagonal(weight: Floats, people: float, whole_person: bool) -> Floats:
    """What the diagonal would be, from popularity alone."""
    weight = np.maximum(weight, LEAST_WEIGHT)
    likes = float(weight.sum()) / people
    likes = max(likes**2 if whole_person else likes, 1.0)
    return np.asarray(weight / np.sqrt(BUSY * likes + WEIGHT_OFFSET))
