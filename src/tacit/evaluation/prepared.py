"""One split, made ready to judge any model on: who is asked what, whose lists are made, how
popular each item was in what is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.data.splits import Split
from tacit.model.person.base import Cells
from tacit.repr import shapes

Floats = NDArray[np.float64]

LIKED = 0.75
"""Of the way up the scale, from where on a held-back rating counts as liked: 4 of 1 to 5.
Public and fixed, so that no data chooses it."""
FIFTHS = 5
RUN = 1 << 22
"""Cells that are counted at a time: 32 megabytes of working memory for each array."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A split and what all models are judged by on it."""

    split: Split
    people: NDArray[np.int32]
    """Who each row of the split's `test` is: the row in the whole data."""
    listed: NDArray[np.int64]
    """Rows of `test` whose lists are made."""
    own: Ratings
    """What the listed have rated, and their lists leave out; rows as `listed`."""
    relevant_ptr: NDArray[np.int64]
    relevant_item: NDArray[np.uint32]
    """What their lists should hold."""
    rated: bool
    """Whether ratings can be predicted: not where all that is known is likes."""
    days: bool = False

    __repr__ = shapes

    def cells(self, start: int = 0, stop: int | None = None) -> Cells:
        """The questions of these people, or of all, with their own ratings on the inner
        scale."""
        fold_in, test = self.split.fold_in, self.split.test
        stop = fold_in.n_users if stop is None else stop
        user_cells = slice(int(fold_in.ptr[start]), int(fold_in.ptr[stop]))
        ask = slice(int(test.ptr[start]), int(test.ptr[stop]))
        times: tuple[NDArray[np.int64], ...] = ()
        if self.days and fold_in.time is not None and test.time is not None:
            times = (fold_in.time[user_cells], test.time[ask])
        return Cells(
            fold_in.ptr[start : stop + 1] - user_cells.start,
            fold_in.item[user_cells],
            self._values(user_cells),
            test.ptr[start : stop + 1] - ask.start,
            test.item[ask],
            *times,
        )

    def shares(self, threads: int) -> list[tuple[int, int]]:
        """All people in runs that threads can take: about as many own ratings in each, and no
        more than `RUN`."""
        fold_in = self.split.fold_in
        pieces = max(threads, -(-len(fold_in) // RUN), 1)
        cuts = np.linspace(0, len(fold_in), pieces + 1)
        inside = np.searchsorted(fold_in.ptr, cuts[1:-1])
        edges = np.unique([0, *inside, fold_in.n_users])
        return list(pairwise(edges.tolist()))

    def _values(self, span: slice) -> Floats:
        """Values that people fold in, on the inner scale: the same for every model, and kept
        where they are few."""
        if len(self.split.fold_in) > RUN:
            return inner(self.split.fold_in, span)
        return self._all_values[span]

    @cached_property
    def _all_values(self) -> Floats:
        return inner(self.split.fold_in)

    @cached_property
    def user_normalized(self) -> Floats:
        """The values of `own` on the inner scale."""
        return inner(self.own)

    @cached_property
    def query_rows(self) -> NDArray[np.int64]:
        """Rows of `test` with a held-back rating."""
        return np.flatnonzero(np.diff(self.split.test.ptr) > 0)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Ratings of each item in what is trained on."""
        return item_counts(self.split.train)

    @cached_property
    def sums(self) -> Floats:
        """The sum of each item's values there, on the inner scale."""
        train, fold_in = self.split.train, self.split.fold_in
        if train.item is fold_in.item and len(fold_in) <= RUN:
            # The same cells, which are on that scale already.
            sums = np.bincount(train.item, self._all_values, train.n_items)
            return np.asarray(sums, np.float64)
        return item_sums(train)

    @cached_property
    def share(self) -> Floats:
        """The share of people who rated each item, never 0: unrated items are as rare as
        half a person."""
        people = max(self.split.train.n_users, 1)
        return np.maximum(self.counts, 0.5) / people

    @cached_property
    def fifth(self) -> NDArray[np.int64]:
        """Of each item: 0 for the fifth of all items with the fewest ratings, 4 for that
        with the most; ties by their place in the catalogue."""
        order = np.argsort(self.counts, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank * FIFTHS // max(len(order), 1)

    @cached_property
    def queried_fifth(self) -> NDArray[np.int64]:
        """The fifth of the item of each question."""
        return self.fifth[self.split.test.item]

    @cached_property
    def queried_by_fifth(self) -> Floats:
        """Questions about each fifth of the items."""
        counts = np.bincount(self.queried_fifth, minlength=FIFTHS)
        return counts.astype(np.float64)

    @cached_property
    def own_share(self) -> Floats:
        """The mean popularity of what each listed person rated; of all ratings for who has
        none."""
        counts = np.diff(self.own.ptr)
        usual = float(self.share @ self.counts) / max(int(self.counts.sum()), 1)
        person = np.repeat(np.arange(len(counts)), counts)
        total = np.bincount(person, self.share[self.own.item], len(counts))
        return np.where(counts > 0, total / np.maximum(counts, 1), max(usual, 1e-12))


def item_counts(ratings: Ratings) -> NDArray[np.int64]:
    """Ratings of each item; some at a time, because counting takes 8 bytes for each."""
    counts = np.zeros(ratings.n_items, np.int64)
    for part in runs(len(ratings)):
        counts += np.bincount(ratings.item[part], minlength=ratings.n_items)
    return counts


def item_sums(ratings: Ratings) -> Floats:
    """The sum of each item's values on the inner scale."""
    sums = np.zeros(ratings.n_items)
    for part in runs(len(ratings)):
        values = inner(ratings, part)
        sums += np.bincount(ratings.item[part], values, ratings.n_items)
    return sums


def runs(cells: int) -> list[slice]:
    """All cells, `RUN` at a time."""
    return [slice(start, start + RUN) for start in range(0, cells, RUN)]


def inner(ratings: Ratings, part: slice = slice(None)) -> Floats:
    """Values on the inner scale."""
    schema = ratings.schema
    values = ratings.value[part].astype(np.float64)
    values -= schema.middle  # in place: of a hundred million there is one copy
    values /= schema.unit_width
    return values


def prepare(
    split: Split,
    people: NDArray[np.int32],
    *,
    seed: int,
    listed: int,
    all_relevant: bool,
    days: bool = False,
) -> Prepared:
    """Choose whose lists are made: at most `listed` people with something to find, by the
    seed. `all_relevant`: every held-back item is to be found, not only what was liked."""
    test = split.test
    schema = test.schema
    likes = schema.positive is not None
    liked = np.ones(len(test), np.bool_)
    if not (likes or all_relevant):
        threshold = schema.low + LIKED * (schema.high - schema.low)
        liked = test.value >= threshold
    relevant = test.take(liked, drop_empty=False)
    able = np.flatnonzero(np.diff(relevant.ptr) > 0)
    if len(able) > listed:
        sample = np.random.default_rng(seed).choice(able, listed, replace=False)
        able = np.sort(sample)
    user_ratings = _rows(split.fold_in, able)
    listed_relevant = _rows(relevant, able)
    return Prepared(
        split,
        people,
        able,
        user_ratings,
        listed_relevant.ptr,
        listed_relevant.item,
        not likes,
        days,
    )


def _rows(ratings: Ratings, rows: NDArray[np.int64]) -> Ratings:
    """The people of these rows, in their order, empty ones too."""
    counts = np.diff(ratings.ptr)[rows]
    ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    cells = np.repeat(ratings.ptr[rows] - ptr[:-1], counts) + np.arange(ptr[-1])
    return Ratings(
        ratings.schema,
        [ratings.users[int(row)] for row in rows],
        ratings.items,
        ptr,
        ratings.item[cells],
        ratings.value[cells],
    )
