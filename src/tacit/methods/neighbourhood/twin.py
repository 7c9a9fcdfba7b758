"""Learned neighbourhoods without noise: raw item means, raw similarities, and gradient
descent row by row.

`none` uses all of it; `paper` its raw means, and raw similarities where it is told to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.errors import SettingError
from tacit.methods.base import Form, Public
from tacit.methods.first_order.rounds import Floats
from tacit.methods.neighbourhood.neighbourhood import (
    Learned,
    Neighborhood,
    NeighbourhoodSettings,
    RowState,
)
from tacit.methods.noiseless.twin import ItemBiasTwin
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Claim, Epoch
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

BAND = 64
"""Item rows that a thread takes at a time."""
SHRINK = 5.0
"""Fictitious ratings in a person's own level."""
MEAN_PRIOR = 5.0
"""Fictitious ratings in an item's mean."""
MEAN_SWEEPS = 5
"""Turns of item means and levels; more change nothing that is seen."""
DAMP = 30.0
"""Common raters at which a similarity is believed by half."""
FLOOR = 0.2
"""The least total similarity that predictions divide by."""
RATE, RATE_FALLS = 0.1, 0.1
"""Step of the first epoch, and how fast later ones fall."""
DECAY = 0.001
"""Pull to the start. These five were tuned on the held-back ratings of one fold each of
ML-100K and ML-1M (docs/results/pnbm.md)."""
EPOCHS = 3
"""Passes where the settings name none."""
RAW_LIMIT = 8.0
"""Twice the inner scale: beyond every number that is kept raw."""


class TwinForm(Form):
    """Descent without noise, over all items and in one epoch over all people."""

    method: Neighborhood
    settings: NeighbourhoodSettings

    def plan(self, public: Public) -> Plan:
        """One round makes everything."""
        story = ("Not private: raw means, raw similarities, no noise.",)
        return Plan(public.unit, (self.learn(public),), story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return RowState()

    def finish(self, public: Public, state: RowState) -> Shared:
        """The trained neighbours over effects and tastes of the twin of `bias`."""
        noise = float(state.noise[0, 0])
        arrays = {
            "baseline": state.effects[:, 0] + state.baseline[:, 0],
            "variance": state.effects[:, 1],
            "loadings": state.effects[:, 3:],
            "doubt": state.doubt[:, 0],
            **compress(state.neighbour.astype(np.int64), state.similarity),
        }
        return self.method.published(public, Learned(arrays, noise, noise, FLOOR))

    def learn(self, public: Public) -> Round:
        """Item means, similarities, descent. Samples are averaged over the later half."""
        items = public.items
        threads = self.method.threads
        neighbours = max(1, min(self.settings.neighbours, items - 1))
        if self.settings.start == "random":
            raise SettingError(
                "the twin starts from similarities of the ratings",
                remedy="say start=cosine or start=pearson, or --calibration paper",
            )
        pearson = self.settings.start == "pearson"
        bias_twin = ItemBiasTwin(self.method)
        rounds = self.settings.rounds
        epochs = EPOCHS if rounds is None else max(1, rounds)

        def contribute(block: Block, state: RowState) -> Mapping[str, Rows]:
            baseline = item_means(block, items, levels=True, prior=MEAN_PRIOR)
            data = Data.of(block, baseline)
            index, value = raw_similarities(
                data, neighbours, pearson=pearson, damp=DAMP, levels=True, threads=threads
            )
            iterates = train(data, index, square(value), epochs, threads)
            first_sample = len(iterates) // 2 if self.method.walk.samples else -1
            samples = np.array(iterates[first_sample:])
            mean = samples.mean(axis=0)
            item_biases, numbers = bias_twin.train(block, public)
            arrays = {
                "baseline": mean[:, -1],
                "effects": item_biases,
                "neighbour": index,
                "similarity": mean[:, :-1],
                "doubt": samples[:, :, :-1].var(axis=0).mean(axis=1),
                "noise": np.full(items, numbers[0]),
            }
            return {name: as_rows(array) for name, array in arrays.items()}

        width, _ = bias_twin.sizes(public)
        parts = raw_parts(items, neighbours, None, item_biases=width)
        return Round("learn", parts, contribute, keep)


@dataclass(frozen=True, eq=False)
class Data:
    """One block of all people in both orders, with residuals from the items' baseline."""

    ptr: NDArray[np.int64]
    item: NDArray[np.uint32]
    dev: Floats
    total: Floats
    start: NDArray[np.int64]
    user: NDArray[np.uint32]
    cell: NDArray[np.uint32]

    @staticmethod
    def of(block: Block, baseline: Floats) -> Data:
        """From people in rows; the items' order is made here."""
        from tacit.kernels.order import by_item

        dev = block.value - baseline[block.item]
        total = np.add.reduceat(np.append(dev, 0.0), block.ptr[:-1]) * (np.diff(block.ptr) > 0)
        return Data(
            block.ptr, block.item, dev, total, *by_item(block.ptr, block.item, len(baseline))
        )


def in_bands(items: int, threads: int | None, work: Callable[[int, int], None]) -> None:
    """Share item rows out over threads; rows are independent, so nothing depends on how
    many there are."""
    with ThreadPoolExecutor(threads or len(os.sched_getaffinity(0))) as pool:
        list(pool.map(lambda first: work(first, min(first + BAND, items)), range(0, items, BAND)))


def item_means(block: Block, items: int, *, levels: bool, prior: float) -> Floats:
    """Raw means of the items, shrunk to the mean of all by `prior` ratings; less people's
    levels if asked."""
    person = np.repeat(np.arange(len(block.people)), np.diff(block.ptr))
    mean = float(block.value.mean()) if len(block.value) else 0.0
    counts = np.bincount(block.item, minlength=items) + prior
    item_bias = np.zeros(items)
    level = np.zeros(len(block.people))
    for _ in range(MEAN_SWEEPS if levels else 1):
        residuals = block.value - mean - level[person]
        item_bias = np.bincount(block.item, residuals, items) / np.maximum(counts, 1.0)
        if levels:
            residuals = block.value - mean - item_bias[block.item]
            level = np.bincount(person, residuals, len(level)) / (np.diff(block.ptr) + SHRINK)
    return mean + item_bias


def raw_similarities(
    data: Data, neighbours: int, *, pearson: bool, damp: float, levels: bool, threads: int | None
) -> tuple[NDArray[np.int32], Floats]:
    """At most `neighbours` items of largest raw similarity for each item, padded with -1."""
    from tacit.kernels.item_rows import similar_rows

    items = len(data.start) - 1
    index = np.full((items, neighbours), -1, np.int32)
    value = np.zeros((items, neighbours))
    residuals = data.dev
    if levels:
        counts = np.diff(data.ptr)
        residuals = residuals - np.repeat(data.total / (counts + SHRINK), counts)

    def work(first: int, last: int) -> None:
        similar_rows(
            data.ptr,
            data.item,
            residuals,
            data.start,
            data.user,
            data.cell,
            not pearson,
            damp,
            first,
            last,
            index,
            value,
        )

    in_bands(items, threads, work)
    return index, value


def train(
    data: Data, index: NDArray[np.int32], start: Floats, epochs: int, threads: int | None
) -> list[Floats]:
    """The iterates of descent from `start`, one an epoch, each with the items' offsets in a
    last column."""
    from tacit.kernels.item_rows import train_rows

    value = start.copy()
    offset = np.zeros(len(start))
    iterates = list[Floats]()
    for epoch in range(epochs):
        rate = RATE / (1.0 + RATE_FALLS * epoch)

        def work(first: int, last: int, rate: float = rate) -> None:
            train_rows(
                data.ptr,
                data.item,
                data.dev,
                data.total,
                data.start,
                data.user,
                data.cell,
                index,
                value,
                start,
                offset,
                SHRINK,
                FLOOR,
                rate,
                DECAY,
                first,
                last,
            )

        in_bands(len(start), threads, work)
        iterates.append(np.column_stack([value, offset]))
    return iterates


def square(value: Floats) -> Floats:
    """s |s|, with a largest size of 1: a few strong neighbours instead of many weak ones."""
    out = value * np.abs(value)
    return np.asarray(out / max(float(np.abs(out).max(initial=0.0)), 1e-12))


def raw_parts(
    items: int, neighbours: int, claim: Claim | None, *, item_biases: int = 0
) -> tuple[Part, ...]:
    """Unbounded arrays, for `none` and `paper`: baseline and noise, neighbours,
    similarities, their variance; for `none` also effects and tastes."""
    sizes = {
        "baseline": 1,
        "neighbour": neighbours,
        "similarity": neighbours,
        "doubt": 1,
        "noise": 1,
    }
    if item_biases:
        sizes["effects"] = item_biases
    return tuple(
        Part(
            name,
            items,
            CellClip(RAW_LIMIT),
            width=width,
            share=1 / len(sizes),
            printed=Epoch(claim=claim),
        )
        for name, width in sizes.items()
    )


def as_rows(array: NDArray[np.number]) -> Rows:
    """A whole array as what one epoch made."""
    lines = np.asarray(array, np.float64).reshape(len(array), -1)
    return Rows(np.array([0, len(lines)], np.int64), np.arange(len(lines), dtype=np.uint32), lines)


def keep(state: RowState, released: Mapping[str, Released]) -> RowState:
    """What was made takes the place of what was there; parts have the names of fields."""
    return state.after(**{name: part.value for name, part in released.items()})
