"""A sensitivity hunt: random starts, then hill climbing, for the neighbour that breaks a
bound, on rounded integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Bound, GramBound, Rows
from tacit.units import Unit

Person = tuple[NDArray[np.uint32], NDArray[np.float64]]
"""Items and values of one person."""


@dataclass(frozen=True)
class Worst:
    """The largest moves found, in steps."""

    l1: float
    l2: float


def hunt(
    contribution: Callable[[Person], NDArray[np.int64]],
    unit: Unit,
    *,
    items: int,
    span: float = 3.0,
    sizes: tuple[int, ...] = (0, 1, 2, 3, 5, 8, 20, 60),
    starts: int = 40,
    climbs: int = 120,
    seed: int = 0,
    swap: bool = False,
) -> Worst:
    """Maximise the move of one person's integer contribution between neighbours at `unit`.

    `swap`: at `rating` with a cap, the new cell takes the place of another one.

    Values start at the extremes as often as not, because that is where bounds break, and
    may exceed the scale: a bound must hold whatever comes.
    """
    rng = np.random.default_rng(seed)
    worst_l1 = worst_l2 = 0.0
    for start in range(starts):
        size = min(sizes[start % len(sizes)], items - 1)
        pick = rng.permutation(items)[: size + 1].astype(np.uint32)
        values = _draw(rng, size + 1, span)
        best = 0.0
        for _ in range(climbs):
            trial = values.copy()
            changed = rng.integers(0, size + 1, max(1, size // 4))
            trial[changed] = _draw(rng, len(changed), span)
            replacement = float(_draw(rng, 1, span)[0])
            if swap:
                move = _swapped(contribution, pick, trial)
            else:
                move = _move(contribution, unit, pick, trial, replacement)
            l2 = float(np.sqrt((move.astype(np.float64) ** 2).sum()))
            worst_l1 = max(worst_l1, float(np.abs(move).sum()))
            worst_l2 = max(worst_l2, l2)
            if l2 >= best:
                best, values = l2, trial
    return Worst(worst_l1, worst_l2)


def bound_contribution(bound: Bound, target: int) -> Callable[[Person], NDArray[np.int64]]:
    """One person's integers under a bound, laid out over the target's rows."""

    def contribute(person: Person) -> NDArray[np.int64]:
        items, values = person
        rows = Rows(np.array([0, len(items)], np.int64), items, values.reshape(-1, 1))
        out = np.zeros(target, np.int64)
        np.add.at(out, items, bound.apply(rows)[:, 0])
        return out

    return contribute


def gram_contribution(bound: GramBound, size: int) -> Callable[[Person], NDArray[np.int64]]:
    """One person's upper triangle, as the engine sums it; items beyond `size` are outside
    the matrix."""
    from tacit.kernels.gram import arrange, entry_band, factor_band

    def contribute(person: Person) -> NDArray[np.int64]:
        items, values = person
        order = np.argsort(items, kind="stable")
        index = np.minimum(items[order], size).astype(np.uint32)
        rows = Rows(np.array([0, len(items)], np.int64), index, values[order].reshape(-1, 1))
        q = bound.apply(rows)
        weights = bound.weights(rows, q)
        inside = index < size
        ptr = np.array([0, inside.sum()], np.int64)
        cells = arrange(ptr, index[inside], q[inside, 0].astype(np.int32), size)
        out = np.empty((size, size), np.int64)
        if weights is None:
            factor_band(cells, 0, size, out)
        else:
            entry_band(cells, weights, 0, size, out)
        above: NDArray[np.int64] = out[np.triu_indices(size, 0 if bound.diagonal else 1)]
        return above

    return contribute


def _draw(rng: np.random.Generator, size: int, span: float) -> NDArray[np.float64]:
    extreme = rng.choice([-span, span, 0.0, span / 2], size)
    return np.where(rng.random(size) < 0.6, extreme, rng.uniform(-span, span, size))


def _swapped(
    contribution: Callable[[Person], NDArray[np.int64]],
    pick: NDArray[np.uint32],
    values: NDArray[np.float64],
) -> NDArray[np.int64]:
    """The first cell gives way to the last one."""
    after = contribution((pick[1:], values[1:]))
    return after - contribution((pick[:-1], values[:-1]))


def _move(
    contribution: Callable[[Person], NDArray[np.int64]],
    unit: Unit,
    pick: NDArray[np.uint32],
    values: NDArray[np.float64],
    replacement: float,
) -> NDArray[np.int64]:
    contributed = contribution((pick, values))
    if unit == "user":
        return contributed
    if unit == "rating":
        return contributed - contribution((pick[:-1], values[:-1]))
    changed = values.copy()
    changed[-1] = replacement
    return contributed - contribution((pick, changed))
