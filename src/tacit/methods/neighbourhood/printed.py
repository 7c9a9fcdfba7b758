"""Algorithms 1 and 2 of Wang & Tang as printed: claimed, not certified.

What breaks the claims (MECHANISMS 2.1, 2.2): item means and first similarities are raw; the
bound of Algorithm 1 covers one number of the gradient while one rating moves a whole row
and more; sampling ratings does not amplify; Algorithm 2's temperature divides its epsilon
and nothing bounds the distance of a finite chain from its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.methods.base import Public
from tacit.methods.neighbourhood.twin import (
    Data,
    as_rows,
    in_bands,
    item_means,
    keep,
    raw_parts,
    raw_similarities,
)
from tacit.rounds.printed import POSTERIOR, STEPWISE, Claim, Epoch
from tacit.rounds.round import Block, Part, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
Contribute = Callable[[Block, State], Mapping[str, Rows]]
SPAN = 4.0
"""phi = r_max - r_min on the inner scale."""
LEAST_RATINGS = 20
"""People with more ratings than this are trained on."""
MOST_RATINGS = 200
"""tau: Algorithm 2 keeps at most this many ratings of a person."""
BOUND = SPAN**2 * MOST_RATINGS
"""B, the largest loss of a person."""
RAW = "item means and first similarities are released raw"
ALGORITHM_1 = (
    "the noise covers one number of the gradient; one rating moves whole rows of it"
)
ALGORITHM_2 = (
    "the temperature divides epsilon, and no theorem bounds how far the chain "
    "is from its limit"
)


def error_limit(turn: int) -> float:
    """e_max of step t: .5 + (phi - 1)/(t + 1)."""
    return 0.5 + (SPAN - 1.0) / (turn + 1.0)


def printed_sensitivity(turn: int, floor: float) -> float:
    """dF = 2 e_max phi / C."""
    return 2.0 * error_limit(turn) * SPAN / floor


def langevin_step(
    value: Floats,
    gradient: Floats,
    prior: Floats,
    *,
    epsilon: float,
    step: float,
    noise: Floats | float,
) -> Floats:
    """Line 5 of Algorithm 2. At epsilon = 4B the factor is 1: plain stochastic gradient
    Langevin dynamics."""
    return np.asarray(
        value - epsilon / (4.0 * BOUND) * step / 2.0 * (gradient + prior) + noise
    )


def inclusion(counts: Floats, batch: float) -> tuple[Floats, float]:
    """(1 - |I_i|/L)^(l-1) |I_i|/L of eq. 12 for each item, l the batch; H_ij = 1 - the
    product of two of them."""
    total = max(float(counts.sum()), 1.0)
    share = counts / total
    return share * (1.0 - share) ** max(batch * total - 1.0, 0.0), total


def busy(block: Block, least: int, most: int | None, seed: int) -> Block:
    """The people with more than `least` ratings; at most `most` of them each, at random."""
    counts = np.diff(block.ptr)
    person = np.repeat(np.arange(len(counts)), counts)
    keep_cell = counts[person] > least
    if most is not None:
        order = np.lexsort((np.random.default_rng(seed).random(len(person)), person))
        rank = np.empty(len(person), np.int64)
        rank[order] = np.arange(len(person)) - np.repeat(block.ptr[:-1], counts)
        keep_cell &= rank < most
    ptr = np.concatenate(
        [[0], np.cumsum(np.bincount(person[keep_cell], minlength=len(counts)))]
    ).astype(np.int64)
    return Block(block.people, ptr, block.item[keep_cell], block.value[keep_cell])


class Printed:
    """The rounds of one algorithm: a raw start, then steps, each with its tape of draws."""

    def __init__(
        self,
        public: Public,
        *,
        neighbours: int,
        pearson: bool,
        rescale: float,
        batch: float,
        seed: int,
        threads: int | None,
        posterior: bool,
        epsilon: float,
        rounds: int,
    ) -> None:
        self.public, self.items = public, public.items
        self.neighbours = max(1, min(neighbours, public.items - 1))
        self.pearson = pearson
        self.rescale = rescale
        self.batch = batch
        self.seed = seed
        self.threads = threads
        self.posterior = posterior
        self.epsilon = epsilon
        self.rounds = rounds
        # The paper claims one epsilon for everything; entries need a part each, so it is
        # divided evenly.
        self.claimed = epsilon / (rounds + len(raw_parts(1, 1, None)))

    def _data(self, block: Block, state: State | None) -> tuple[Data, Floats]:
        used = busy(
            block, LEAST_RATINGS, MOST_RATINGS if self.posterior else None, self.seed
        )
        mean = (
            item_means(used, self.items, levels=False, prior=0.0)
            if state is None
            else state["baseline"][:, 0]
        )
        return Data.of(used, mean), mean

    def start(self) -> Round:
        """Raw item means, and raw similarities of the nearest items, times beta."""

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            data, mean = self._data(block, None)
            index, value = raw_similarities(
                data,
                self.neighbours,
                pearson=self.pearson,
                damp=0.0,
                levels=False,
                threads=self.threads,
            )
            counts = np.bincount(data.item, minlength=self.items)
            rows: dict[str, NDArray[Any]] = {
                "baseline": mean,
                "neighbour": index,
                "similarity": value * self.rescale,
                "doubt": counts,
            }
            rows["noise"] = np.full(self.items, 0.9)
            return {name: as_rows(array) for name, array in rows.items()}

        claim = Claim("none", 0.0, self.claimed, 0.0, RAW)
        return Round(
            "start", raw_parts(self.items, self.neighbours, claim), contribute, keep
        )

    def gradient(
        self,
        block: Block,
        state: State,
        turn: int,
        floor: float,
        clamp: float,
        reach: float,
    ) -> Floats:
        from tacit.methods.neighbourhood.kernels_printed import gradient_rows

        data, _ = self._data(block, state)
        rng = np.random.default_rng([self.seed, turn])
        drawn = (
            np.ones(len(data.item), np.bool_)
            if self.batch >= 1
            else rng.random(len(data.item)) < self.batch
        )
        index, value = (
            state["neighbour"].astype(np.int32),
            np.ascontiguousarray(state["similarity"]),
        )
        out = np.zeros_like(value)

        def work(first: int, last: int) -> None:
            gradient_rows(
                data.ptr,
                data.item,
                data.dev,
                data.total,
                data.start,
                data.user,
                data.cell,
                drawn,
                index,
                value,
                -1.0,
                floor,
                clamp,
                reach,
                first,
                last,
                out,
            )

        in_bands(self.items, self.threads, work)
        return out

    def _round(self, turn: int, claim: Claim, contribute: Contribute) -> Round:
        kind = POSTERIOR if self.posterior else STEPWISE
        draws = self.items * self.neighbours
        part = Part(
            "similarity",
            self.items,
            CellClip(512.0),
            width=self.neighbours,
            printed=Epoch(kind, claim, draws),
        )
        return Round(f"step {turn}", (part,), contribute, keep)

    def descent(self, turn: int, *, rate: float, decay: float, floor: float) -> Round:
        """Step t of Algorithm 1: S <- S - eta (beta (G + Laplace(gamma K dF/epsilon)) +
        lambda S)."""

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            slope = self.gradient(block, state, turn, floor, error_limit(turn), SPAN)
            slope += block.draws["similarity"].reshape(slope.shape)
            moved = state["similarity"] - rate * (
                self.rescale * slope + decay * state["similarity"]
            )
            return {
                "similarity": as_rows(np.where(state["neighbour"] >= 0, moved, 0.0))
            }

        scale = (
            self.batch * self.rounds * printed_sensitivity(turn, floor) / self.epsilon
        )
        return self._round(
            turn, Claim("laplace", scale, self.claimed, 0.0, ALGORITHM_1), contribute
        )

    def sample(
        self, turn: int, *, rate: float, xi: float, decay: float, temperature: float
    ) -> Round:
        """Step t of Algorithm 2, with eta_t = eta_1 t^-xi and noise of variance temperature
        x eta_t."""
        step = rate * turn**-xi

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            value = state["similarity"]
            slope = self.gradient(block, state, turn, 1e-9, np.inf, np.inf) / self.batch
            part, _ = inclusion(state["doubt"][:, 0], self.batch)
            chance = 1.0 - part[:, None] * part[state["neighbour"].astype(np.int64)]
            noise = block.draws["similarity"].reshape(value.shape)
            moved = langevin_step(
                value,
                slope,
                decay * value / chance,
                epsilon=self.epsilon,
                step=step,
                noise=noise,
            )
            return {
                "similarity": as_rows(np.where(state["neighbour"] >= 0, moved, 0.0))
            }

        claim = Claim(
            "gaussian", sqrt(temperature * step), self.claimed, 0.0, ALGORITHM_2
        )
        return self._round(turn, claim, contribute)
