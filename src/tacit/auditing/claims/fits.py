"""Printed fits of invented people, as attacks on papers need them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.claims.claim import Force, PaperClaim, SeenByAttack
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.fitting.run import trial
from tacit.methods import find
from tacit.model.model import Model

Floats = NDArray[np.float64]
REPEATS = 3
"""Fits of each neighbour: what is the same in all has no noise."""


def table(values: Floats) -> Ratings:
    """People x items, NaN where there is no rating, as ratings from 1 to 5."""
    rated = ~np.isnan(values)
    return Ratings(
        Schema(1, 5),
        [f"invented {k:05}" for k in range(len(values))],
        [f"item {k:05}" for k in range(values.shape[1])],
        np.concatenate([[0], np.cumsum(rated.sum(axis=1))]).astype(np.int64),
        np.nonzero(rated)[1].astype(np.uint32),
        values[rated].astype(np.float32),
    )


def other(ratings: Ratings, cell: int, value: float) -> Ratings:
    """The neighbour with another value in one cell."""
    changed = ratings.value.copy()
    changed[cell] = value
    return replace(ratings, value=changed)


@dataclass
class Made:
    """What a printed fit left: its model, and for a paper that publishes them its people."""

    model: Model
    state: Any = None
    people: Mapping[str, Floats] = field(default_factory=dict)


def printed(
    claim: PaperClaim, ratings: Ratings, *, noise_off: bool = False, **settings: Any
) -> Made:
    """One fit as the paper prints it."""
    seen: dict[str, Any] = {}

    def watch(name: str, state: Any, kept: Mapping[str, Floats]) -> None:
        seen["state"] = state
        seen["kept"] = {k: np.array(v) for k, v in kept.items()}

    method = find(claim.method)(
        epsilon=claim.epsilon, calibration="paper", unit=claim.unit, **settings
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = trial(
            method,
            ratings,
            items=Catalogue(list(ratings.items)),
            users=ratings.n_users,
            noise_off=noise_off,
            watch=watch,
        )
    return Made(model, seen.get("state"), seen.get("kept", {}))


def rated_once() -> tuple[Ratings, int, int]:
    """A crowd of some tastes, and one item that a single person has rated: the ratings, the
    cell and the item."""
    rng = np.random.default_rng(7)
    values = np.clip(np.rint(rng.normal(3.5, 1.1, (40, 40))), 1, 5)
    values[rng.random(values.shape) < 0.3] = np.nan
    values[:, -1] = np.nan
    values[0, -1] = 5
    ratings = table(values)
    item = values.shape[1] - 1
    return ratings, int(ratings.ptr[1]) - 1, item


def tells_exactly(
    number: Callable[[Made], float], **settings: Any
) -> Callable[[PaperClaim, Force], SeenByAttack]:
    """An attack by one published number that has no noise: equal in all fits of one
    neighbour, another one in all fits of the other."""

    def attack(claim: PaperClaim, force: Force) -> SeenByAttack:
        here, cell, _ = rated_once()
        there = other(here, cell, 1.0)
        ones, others = (
            {number(printed(claim, each, **settings)) for _ in range(REPEATS)}
            for each in (here, there)
        )
        exact = len(ones) == len(others) == 1 and ones != others
        note = "the number differs from fit to fit: it has noise"
        if exact:
            note = f"{ones.pop():.4f} in every fit, or {others.pop():.4f}"
        return SeenByAttack(inf if exact else 0.0, note, "an item rated once, 5 or 1")

    return attack


def tells_existence(claim: PaperClaim, force: Force) -> SeenByAttack:
    """An attack by whether the row of an item moved from its public start at all: without a
    rating it does not, however much noise the others get."""
    here, cell, item = rated_once()
    without = here.take(np.arange(len(here)) != cell)

    def rows(ratings: Ratings) -> list[Floats]:
        made = (printed(claim, ratings) for _ in range(REPEATS))
        return [np.asarray(each.state.items)[item, 2:] for each in made]

    start, *again = rows(without)
    still = all((row == start).all() for row in again)
    moved = not any((row == start).all() for row in rows(here))
    exact = still and moved
    note = "the item's row moves in every fit with the rating and in none without it"
    return SeenByAttack(
        inf if exact else 0.0,
        note if exact else "rows move with and without it",
        "an item rated once, or by nobody",
    )


def level_of_last(made: Made) -> float:
    """What the model says of the item that one person rated, to somebody it knows nothing
    of."""
    return float(made.model.shared.arrays["baseline"][-1])
