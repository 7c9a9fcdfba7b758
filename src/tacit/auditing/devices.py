"""The game of one device that trusts nobody: what leaves it, for two records of its owner that
differ as much as they can, run after run.

The records are all-lowest and all-highest ratings of the same items. What is drawn is drawn
by the very function that a device calls, from the event that it pays for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.games import Won, gaussian_ratio, play
from tacit.auditing.walk import Walk, Walked
from tacit.bound.base import Rows
from tacit.bound.check import bounded
from tacit.data.ratings import Ratings
from tacit.engine.blocks import block_of
from tacit.ledger.account.event import Event, Gaussian, RandomizedChoice
from tacit.noise.device import choose, own_noise
from tacit.rounds.round import Kind, Part

Floats = NDArray[np.float64]
RATED = 30
"""Items of either record."""
ANSWERS, VECTORS = 20_000, 600
"""Runs on either record: of one answer, and of a whole vector of numbers."""


@dataclass(frozen=True)
class LocalGame:
    """What one report of a device proves."""

    won: Won
    release: str
    witness: str


def play_devices(
    walked: Walk, *, delta: float, mistake: float, quick: bool
) -> LocalGame | None:
    """The game of the first report of this plan that these records move; None where
    devices give none."""
    events = {event.name: event for event in walked.run.events}
    for step in walked.steps:
        for part in step.round.parts:
            name = f"{step.round.name}/{part.name}"
            event = events.get(name)
            local = walked.run.method.local
            if event is None or not local or step.released is None:
                continue
            sides = _extremes(walked.ratings)
            rows = [_given(step, part, side) for side in sides]
            won = _won(part, event, rows, delta, mistake, quick)
            if won is not None:
                words = (
                    f"{RATED} items at {sides[0].value[0]:g}, and the same at "
                    f"{sides[1].value[0]:g}"
                )
                return LocalGame(won, name, words)
    return None


def _extremes(like: Ratings) -> tuple[Ratings, Ratings]:
    count = min(RATED, like.n_items)
    one = replace(
        like,
        users=["device"],
        ptr=np.array([0, count], np.int64),
        item=np.arange(count, dtype=np.uint32),
        value=np.full(count, like.schema.low, np.float32),
        time=None,
    )
    high = np.full(count, like.schema.high, np.float32)
    return one, replace(one, value=high)


def _given(step: Walked, part: Part, side: Ratings) -> Rows:
    block = block_of(side, slice(0, 1))
    kept = {
        each.name: np.zeros((1, each.width)) for each in step.round.personal
    }
    block = replace(block, personal=kept)
    return step.round.contribute(block, step.state)[part.name]


def _won(
    part: Part,
    event: Event,
    rows: list[Rows],
    delta: float,
    mistake: float,
    quick: bool,
) -> Won | None:
    if isinstance(event, RandomizedChoice):
        runs = ANSWERS // 4 if quick else ANSWERS
        said = [_answers(event, each, runs) for each in rows]
        liked = [set(each.values[0].astype(int).tolist()) for each in rows]
        if liked[0] == liked[1]:
            return None
        scores = [_likelihood(event, answers, liked) for answers in said]
    elif isinstance(event, Gaussian) and part.kind is Kind.SUM:
        runs = VECTORS // 4 if quick else VECTORS
        scores = _vectors(part, event, rows, runs)
        if not scores:
            return None
    else:
        return None
    return play(scores[0], scores[1], delta=delta, mistake=mistake)


def _answers(
    event: RandomizedChoice, rows: Rows, runs: int
) -> NDArray[np.int64]:
    return choose(event, np.repeat(rows.values[:1], runs, axis=0))


def _likelihood(
    event: RandomizedChoice, said: NDArray[np.int64], liked: list[set[int]]
) -> Floats:
    """The exact ratio: an answer that one record favours is likelier by e^epsilon."""
    first = np.isin(said, list(liked[0])).astype(np.float64)
    second = np.isin(said, list(liked[1])).astype(np.float64)
    return np.asarray(event.epsilon * (first - second), np.float64)


def _vectors(
    part: Part, event: Gaussian, rows: list[Rows], runs: int
) -> list[Floats]:
    """The exact ratio of a whole noised vector, over the numbers that the records move;
    nothing where they move none."""
    whole = []
    for each in rows:
        made = bounded(
            part.bound,
            each,
            name=part.name,
            people=1,
            size=part.size,
            width=part.width,
        )
        dense = np.zeros((part.size, part.width))
        np.add.at(dense, each.index.astype(np.int64), made)
        whole.append(dense.ravel())
    moved = whole[0] != whole[1]
    if not moved.any():
        return []
    sides = whole[0][moved], whole[1][moved]
    spread = own_noise(event, 1, 1).sd
    scores = []
    for side in sides:
        noise = [
            own_noise(event, 1, int(moved.sum())).steps.ravel()
            for _ in range(runs)
        ]
        seen = side + np.stack(noise)
        scores.append(gaussian_ratio(seen, sides[0], sides[1], spread))
    return scores
