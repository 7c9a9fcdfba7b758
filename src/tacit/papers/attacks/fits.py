"""Printed fits of invented people, as attacks on papers need them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.fitting.run import trial
from tacit.methods import find
from tacit.model.model import Model
from tacit.papers.attacks.claim import Force, PaperClaim, SeenByAttack

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


def neighbour_of(ratings: Ratings, cell: int, value: float) -> Ratings:
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
    captured: dict[str, Any] = {}

    def watch(name: str, state: Any, user_arrays: Mapping[str, Floats]) -> None:
        captured["state"] = state
        captured["kept"] = {k: np.array(v) for k, v in user_arrays.items()}

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
    return Made(model, captured.get("state"), captured.get("kept", {}))


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
        base, cell, _ = rated_once()
        neighbour = neighbour_of(base, cell, 1.0)
        base_numbers, neighbour_numbers = (
            {number(printed(claim, world, **settings)) for _ in range(REPEATS)}
            for world in (base, neighbour)
        )
        exact = (
            len(base_numbers) == len(neighbour_numbers) == 1 and base_numbers != neighbour_numbers
        )
        note = "the number differs from fit to fit: it has noise"
        if exact:
            note = f"{base_numbers.pop():.4f} in every fit, or {neighbour_numbers.pop():.4f}"
        return SeenByAttack(inf if exact else 0.0, note, "an item rated once, 5 or 1")

    return attack


def tells_existence(claim: PaperClaim, force: Force) -> SeenByAttack:
    """An attack by whether the row of an item moved from its public start at all: without a
    rating it does not, however much noise the others get."""
    base, cell, item = rated_once()
    without = base.take(np.arange(len(base)) != cell)

    def rows(ratings: Ratings) -> list[Floats]:
        fits = (printed(claim, ratings) for _ in range(REPEATS))
        return [np.asarray(fit.state.items)[item, 2:] for fit in fits]

    start, *repeats = rows(without)
    stays = all((row == start).all() for row in repeats)
    moves = not any((row == start).all() for row in rows(base))
    exact = stays and moves
    note = "the item's row moves in every fit with the rating and in none without it"
    return SeenByAttack(
        inf if exact else 0.0,
        note if exact else "rows move with and without it",
        "an item rated once, or by nobody",
    )


def level_of_last(fit: Made) -> float:
    """What the model says of the item that one person rated, to somebody it knows nothing
    of."""
    return float(fit.model.shared.arrays["baseline"][-1])
