"""Both sides of a factorization released at the unit `value`: people's vectors against public
random profiles, then items' vectors against the released people.

Noise goes into the objective's linear term (right-hand sides are released) or on the
solution. Left-hand sides are functions of public numbers, so only right-hand sides need
noise.

Guarantee: a changed value moves one row of each release (`tacit.bound.vectors`). Each side's
coefficients come from releases before it, which is composition; both sides are noised, none
is exact (docs/proofs/mf.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Rows
from tacit.bound.vectors import CellVectors, ridge_gain
from tacit.methods.base import Public
from tacit.methods.factorization.state import ValueState
from tacit.methods.factorization.value import MOST, pattern_of, people_of
from tacit.methods.first_order.rounds import TINY
from tacit.methods.refine.factors import ItemFactors, item_factors
from tacit.model.person.gaussian import NOISE
from tacit.rounds.round import Block, Kind, Part, Released, Round

Floats = NDArray[np.float64]
LEVEL_COLUMN = np.sqrt(0.5)
"""Constant column of an item's profile, for a person's level; the rest of the profile has
the same length."""
PRINTED_RIDGE = 0.125
"""lambda of Xian et al., for each rating of a row."""
IMPLICIT_SHRINK = 50.0
"""So many ratings halve what an item's raters say about those who rate it."""


@dataclass(frozen=True)
class BothSides:
    """The two rounds of one plan: people, then items.

    Both release, for every row, a right-hand side or a solution of its regression on rows of
    the other side, which are public: random ones of the items in the first round, the
    released ones of the people in the second.
    """

    public: Public
    kind: Kind
    """`OBJECTIVE` or `OUTPUT`: where the noise goes."""
    width: int
    """Factors of each item."""
    seed: int
    """Of the random profiles."""

    @property
    def output(self) -> bool:
        """Whether solutions are released, instead of right-hand sides."""
        return self.kind is Kind.OUTPUT

    @cached_property
    def profile(self) -> Floats:
        """Public rows of length 1: a constant, and a random direction."""
        items = self.public.items
        rng = np.random.default_rng(self.seed)
        random = rng.standard_normal((items, self.width))
        random *= LEVEL_COLUMN / np.sqrt((random**2).sum(axis=1))[:, None]
        return np.hstack([np.full((items, 1), LEVEL_COLUMN), random])

    def rounds(self, share: float) -> tuple[Round, Round]:
        """People, then items, each for half of this share."""
        return self.people(share * 0.5), self.items(share * 0.5)

    def people(self, share: float) -> Round:
        """People's levels and vectors, against the random profiles.

        The first column is a person's level; the others are her vector, as far as her
        ratings of random directions tell it.
        """

        def contribute(block: Block, state: ValueState) -> Mapping[str, Rows]:
            residuals = np.clip(block.value - state.baseline[block.item], -MOST, MOST)
            counts = np.diff(block.ptr)
            owner = np.repeat(np.arange(len(block.people)), counts)
            rows = self.profile[block.item]
            # A solution is a sum over ratings as well, of rows that the ridge has turned.
            if self.output:
                left = grams(block.ptr, block.item, self.profile)
                rows = gains(left, counts, rows, owner)
            index = block.people[owner]
            return {"vectors": Rows(block.ptr, index, rows * residuals[:, None])}

        def absorb(state: ValueState, released: Mapping[str, Released]) -> ValueState:
            pattern = pattern_of(self.public)
            count = np.diff(pattern.ptr)
            left = grams(pattern.ptr, pattern.item, self.profile)
            value = released["vectors"].value[: len(count)]
            sd = max(released["vectors"].sd, TINY)
            estimate = posterior(left, count, value, sd, output=self.output)
            # The longest vector gets length 1, which the next round's bound asks for. All are
            # released, so their lengths are public.
            vectors = estimate.mean[:, 1:]
            length = np.sqrt((vectors**2).sum(axis=1))
            vectors = vectors / max(float(length.max(initial=0.0)), TINY)
            return replace(
                state,
                own=estimate.mean[:, 0] * LEVEL_COLUMN,
                vectors=vectors,
                left=self.left_of_items(vectors),
            )

        part = Part(
            "vectors",
            people_of(self.public),
            CellVectors(MOST),
            width=self.width + 1,
            share=share,
            kind=self.kind,
        )
        return Round("people", (part,), contribute, absorb)

    def left_of_items(self, vectors: Floats) -> Floats:
        """Left-hand sides of the items: public, since vectors and pattern are."""
        from tacit.kernels.order import by_item

        pattern = pattern_of(self.public)
        cells = by_item(pattern.ptr, pattern.item, self.public.items)
        return grams(cells.ptr, cells.person, np.ascontiguousarray(vectors))

    def items(self, share: float) -> Round:
        """Items' vectors, against the released people: these become the factors."""
        count = self.public.counts

        def contribute(block: Block, state: ValueState) -> Mapping[str, Rows]:
            counts = np.diff(block.ptr)
            user_bias = np.repeat(state.own[block.people], counts)
            residuals = block.value - state.baseline[block.item] - user_bias
            rows = np.repeat(state.vectors[block.people], counts, axis=0)
            if self.output:
                rows = gains(state.left, count, rows, block.item)
            values = rows * np.clip(residuals, -MOST, MOST)[:, None]
            return {"factors": Rows(block.ptr, block.item, values)}

        def absorb(state: ValueState, released: Mapping[str, Released]) -> ValueState:
            value = released["factors"].value
            sd = max(released["factors"].sd, TINY)
            estimate = posterior(state.left, count, value, sd, output=self.output)
            # People's vectors are given unit second moment, and factors the inverse, so that
            # a fold-in with a prior of N(0, I) suits them.
            moment = state.left.sum(axis=0) / max(float(count.sum()), 1.0)
            root = np.linalg.cholesky(moment + 1e-12 * np.eye(self.width))
            # What is unknown of v'p, for a person of typical length.
            scale = np.trace(moment) / self.width
            return replace(
                state, factors=estimate.mean @ root, unknown=estimate.unknown * scale, root=root
            )

        part = Part(
            "factors",
            self.public.items,
            CellVectors(MOST),
            width=self.width,
            share=share,
            kind=self.kind,
        )
        return Round("items", (part,), contribute, absorb)


def grams(ptr: NDArray[np.int64], index: NDArray[np.uint32], rows: Floats) -> Floats:
    """Sum of xx' over each row's cells: `ptr` and `index` are its cells in compressed rows,
    x is the row of the other side that a cell names."""
    from tacit.kernels.als import gram_rows

    out = np.zeros((len(ptr) - 1, rows.shape[1], rows.shape[1]))
    gram_rows(ptr, index, rows, out)
    return out


def ridges(count: NDArray[np.int64]) -> Floats:
    """The printed ridge, which grows with the ratings of a row."""
    return PRINTED_RIDGE * np.maximum(count, 1).astype(np.float64)


def gains(
    left: Floats, count: NDArray[np.int64], rows: Floats, owner: NDArray[np.integer]
) -> Floats:
    """(G + ridge)^-1 x for each cell's x, over the most that its norm can be: at most 1.

    `left` are the rows' G, `count` their numbers of cells, `owner` says whose cell it is. The
    most is `tacit.bound.vectors.ridge_gain`.
    """
    ridge = ridges(count)
    unit = np.eye(left.shape[1])
    inverse = np.linalg.inv(left + ridge[:, None, None] * unit)
    inverse = inverse / ridge_gain(ridge)[:, None, None]
    gained: Floats = np.einsum("nab,nb->na", inverse[owner], rows)
    return gained


def posterior(
    left: Floats, count: NDArray[np.int64], value: Floats, sd: float, *, output: bool
) -> ItemFactors:
    """Vectors from noisy right-hand sides, or (`output`) from noisy solutions, by empirical
    Bayes with the known noise, whose standard deviation is `sd`."""
    unit = np.eye(left.shape[1])
    if not output:
        return item_factors(value, left, NOISE * left + sd**2 * unit)
    # A noisy solution is (G + c)^-1 G v + (G + c)^-1 X'e + gain x noise: again a regression
    # of known left-hand side and known noise.
    ridge = ridges(count)
    gain = ridge_gain(ridge)[:, None, None]
    system = left + ridge[:, None, None] * unit
    shrink = np.linalg.solve(system, left)  # symmetric: both commute
    noise = NOISE * shrink @ np.linalg.inv(system) + (gain * sd) ** 2 * unit
    even = (shrink + np.swapaxes(shrink, 1, 2)) / 2
    return item_factors(value * gain[:, :, 0], even, noise)


def implicit_from_people(public: Public, state: ValueState) -> Floats:
    """SVD++ is free at this unit: the mean released vector of an item's raters, over the
    root of a typical count.

    Vectors are whitened first, so that they fit the factors, and the mean is shrunk to 0
    where an item has few raters.
    """
    from tacit.kernels.order import by_item

    pattern = pattern_of(public)
    cells = by_item(pattern.ptr, pattern.item, public.items)
    whitened = state.vectors @ np.linalg.inv(state.root).T
    steps = np.cumsum(whitened[cells.person], axis=0)
    total = np.concatenate([np.zeros((1, whitened.shape[1])), steps])
    sums = total[cells.ptr[1:]] - total[cells.ptr[:-1]]
    typical = max(state.level.count, 1.0)
    mean: Floats = sums / (public.counts + IMPLICIT_SHRINK)[:, None] / np.sqrt(typical)
    return mean
