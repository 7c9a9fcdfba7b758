"""The invented people on whom published models are attacked, some of them with a secret.

A crowd rates common items. Each *canary* has an item or two that hardly anybody else rates,
and a fair coin decides the one thing about her that the promise is about: whether she is
there (`user`), whether her rating is (`rating`), or which end of the scale it is at
(`value`). An attack sees what is published and guesses the coins.

All coins of one fit are guessed at once, so a table needs few fits: under a promise of
epsilon no guesser is right more often than a coin of chance 1/(1 + e^-epsilon) each time
(`tacit.auditing.gauntlet.game`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.units import Unit

CROWD = 160
"""People who have no secret."""
COMMON = 40
"""Items that they rate."""
EACH = 24
"""Ratings of one of them, and 22 of a canary's: some papers leave out who has 20 or less."""
HABITS = 22
CANARIES = 80
"""Coins in each of the two groups: if 56 of 56 guesses are right, epsilon is above 1.4 at a
chance of a mistake of 5e-5."""
UNRATED = 20
"""Items that nobody rates."""
LOW, HIGH = 1.0, 5.0
USER_FACTORS = 3


@dataclass(frozen=True)
class TwoWorlds:
    """Two data sets of one unit, and what was tossed."""

    unit: Unit
    after: Ratings
    """With the canaries as their coins say."""
    before: Ratings
    """The crowd and what of the canaries is no secret: an earlier release, or a smaller
    cohort. At `value` every secret rating is at the middle of the scale."""
    singles: NDArray[np.bool_]
    """Coins of the canaries with an item of their own."""
    pairs: NDArray[np.bool_]
    """Coins of the canaries who link two items that nobody else links."""
    seed: int = 0

    @property
    def items(self) -> Catalogue:
        """All items: public."""
        return Catalogue(list(self.after.items))

    @property
    def single(self) -> NDArray[np.int64]:
        """The row of each single's item."""
        return COMMON + np.arange(CANARIES)

    @property
    def first(self) -> NDArray[np.int64]:
        """The row of the item of each pair that is known to be rated."""
        return COMMON + CANARIES + 2 * np.arange(CANARIES)

    @property
    def second(self) -> NDArray[np.int64]:
        """The row of the item of each pair that is the secret."""
        return self.first + 1

    @property
    def unrated(self) -> NDArray[np.int64]:
        """Items that nobody rates: what an item looks like that nobody has touched."""
        return COMMON + 3 * CANARIES + np.arange(UNRATED)


Row = list[tuple[int, float]]
Coins = NDArray[np.bool_]


def stage(unit: Unit, seed: int = 0) -> TwoWorlds:
    """A stage for attacks at a unit."""
    rng = np.random.default_rng([seed, 19])
    coins = rng.random((2, CANARIES)) < 0.5
    return TwoWorlds(
        unit,
        _people(unit, seed, coins[0], coins[1]),
        _people(unit, seed, None, None),
        coins[0],
        coins[1],
        seed,
    )


def stage_of(worlds: TwoWorlds, single: bool) -> Ratings:
    """The same people, if the coins of all singles had come up the same."""
    singles = np.full(CANARIES, single)
    return _people(worlds.unit, worlds.seed, singles, worlds.pairs)


def _people(unit: Unit, seed: int, singles: Coins | None, pairs: Coins | None) -> Ratings:
    """The crowd, and the canaries as these coins say; None before they are tossed."""
    rng = np.random.default_rng([seed, 20])
    rows = _crowd(rng)
    for j in range(CANARIES):
        coin = None if singles is None else bool(singles[j])
        rows += _canary(unit, _habits(rng), COMMON + j, coin)
    for j in range(CANARIES):
        first_item = COMMON + CANARIES + 2 * j
        coin = None if pairs is None else bool(pairs[j])
        habits = [*_habits(rng), (first_item, HIGH)]
        rows += _canary(unit, habits, first_item + 1, coin)
    return _ratings(rows)


def _crowd(rng: np.random.Generator) -> list[Row]:
    """People of a few tastes who rate common items."""
    item_side = rng.normal(0, 1, (COMMON, USER_FACTORS))
    rows = []
    for _ in range(CROWD):
        taste = rng.normal(0, 0.7, USER_FACTORS)
        items = np.sort(rng.permutation(COMMON)[:EACH])
        liked = 3.3 + item_side[items] @ taste + rng.normal(0, 0.5, EACH)
        values = np.clip(np.rint(liked), LOW, HIGH)
        rows.append(list(zip(items.tolist(), values.tolist(), strict=True)))
    return rows


def _habits(rng: np.random.Generator) -> Row:
    """What a canary rates that is no secret: she does not stand out by it."""
    items = np.sort(rng.permutation(COMMON)[:HABITS]).tolist()
    return [(item, 3.0) for item in items]


def _canary(unit: Unit, habits: Row, secret_item: int, coin: bool | None) -> list[Row]:
    """Her row as the coin says; None before it is tossed."""
    if unit == "user":
        return [[*habits, (secret_item, HIGH)]] if coin else []
    if unit == "rating":
        return [[*habits, (secret_item, HIGH)] if coin else habits]
    middle = (LOW + HIGH) / 2
    value = middle if coin is None else HIGH if coin else LOW
    return [[*habits, (secret_item, value)]]


def _ratings(rows: list[Row]) -> Ratings:
    counts = [len(row) for row in rows]
    cells = [cell for row in rows for cell in sorted(row)]
    width = COMMON + 3 * CANARIES + UNRATED
    return Ratings(
        Schema(LOW, HIGH),
        [f"invented {k:04}" for k in range(len(rows))],
        [f"item {k:04}" for k in range(width)],
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array([item for item, _ in cells], np.uint32),
        np.array([value for _, value in cells], np.float32),
    )
