"""Audit somebody else's recommender from what it shows: lists before and after a training with
canary people, whose coins its owner has tossed.

Nothing is known of the recommender and nothing is assumed but its claim: that anybody's
being in its training data changes no chance by more than (epsilon, delta). The score of a
canary is how much further up her own items stand after than before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.guesses import Guessed, guess, is_possible
from tacit.auditing.verdict import AttackFinding, Target, make_finding
from tacit.errors import DataError
from tacit.units import Unit

if TYPE_CHECKING:
    import polars as pl

LISTS = "lists before and after"
SHARES = (0.05, 0.2, 0.5)
"""Of the canaries, how many are guessed; each share is one test, and all are corrected for."""
MOST_EPSILON = 40.0
HALVINGS = 30


@dataclass(frozen=True)
class ClaimedCurve:
    """Of one pair (epsilon, delta): the weakest mechanism that keeps it."""

    pure: float
    delta: float

    def most(self, wrong: float) -> float:
        """min(delta + e^epsilon wrong, 1 - e^-epsilon (1 - delta - wrong), 1)."""
        steep = self.delta + exp(self.pure) * wrong
        flat = 1 - exp(-self.pure) * (1 - self.delta - wrong)
        return min(steep, flat, 1.0)

    def least(self, right: float) -> float:
        """The inverse."""
        steep = exp(-self.pure) * (right - self.delta)
        flat = 1 - self.delta - exp(self.pure) * (1 - right)
        return max(steep, flat, 0.0)

    def epsilon(self, delta: float) -> float:
        """What is claimed, at the delta of the claim."""
        return self.pure


def audit_lists(
    before: str | Path,
    after: str | Path,
    canaries: str | Path,
    *,
    epsilon: float,
    delta: float = 1e-6,
    unit: Unit = "user",
    mistake: float = 0.05,
    name: str = "theirs",
) -> AttackFinding:
    """What two sets of lists prove about a claim.

    `before` and `after` are csv or parquet files with the columns `item` and `score` (the
    higher the better) or `rank` (1 is first), a row for each place of each list; `canaries`
    has `canary`, `item` and `coin` (1 where she was in the second training), a row for each
    of her items, and optionally `sign` (-1 for an item that she rated low).
    """
    canary_table = _table(canaries, ("canary", "item", "coin"))
    rises = _standing(after)
    for item, height in _standing(before).items():
        rises[item] = rises.get(item, 0.0) - height
    scores, coins = _scores(canary_table, rises)
    target = Target(name, unit, "sound", epsilon, delta, mistake)
    # The middle is where half of all canaries are, which is no secret.
    centred = scores - np.median(scores)
    best, proven = None, 0.0
    for share in SHARES:
        got = guess(centred, coins, max(1, round(share * len(coins))))
        refuted_epsilon = least_claim(got, delta, mistake / len(SHARES))
        if best is None or refuted_epsilon > proven:
            best, proven = got, refuted_epsilon
    assert best is not None
    return make_finding(
        target,
        LISTS,
        proven,
        note=f"{best.right} of {best.made} guesses about {best.people} canaries are right",
        witness="the canaries that were given",
    )


def least_claim(got: Guessed, delta: float, mistake: float) -> float:
    """The epsilon below which every claim at this delta is refuted."""
    low, high = 0.0, MOST_EPSILON
    if is_possible(got, ClaimedCurve(0.0, delta), mistake):
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_consistent = is_possible(got, ClaimedCurve(middle, delta), mistake)
        low, high = (low, middle) if is_consistent else (middle, high)
    return low


def _standing(path: str | Path) -> dict[str, float]:
    """How high each item stands in all lists together."""
    table = _table(path, ("item",))
    columns = table.columns
    if "score" in columns:
        height = table["score"].to_numpy().astype(np.float64)
    elif "rank" in columns:
        height = 1 / table["rank"].to_numpy().astype(np.float64)
    else:
        raise DataError(
            f"{path} has neither a column score nor a column rank",
            remedy="give each row the score of its item, or its place in the list",
        )
    if not np.isfinite(height).all():
        raise DataError(f"{path} has a score or rank that is no number")
    standing: dict[str, float] = {}
    for item, value in zip(table["item"].to_list(), height, strict=True):
        standing[str(item)] = standing.get(str(item), 0.0) + float(value)
    return standing


def _scores(
    canary_table: pl.DataFrame, rises: Mapping[str, float]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """How far up the items of each canary moved, and her coin."""
    names = [str(name) for name in canary_table["canary"].to_list()]
    order = {name: index for index, name in enumerate(dict.fromkeys(names))}
    canary = np.array([order[name] for name in names])
    up = np.array([rises.get(str(item), 0.0) for item in canary_table["item"].to_list()])
    if "sign" in canary_table.columns:
        up = up * canary_table["sign"].to_numpy().astype(np.float64)
    coin = canary_table["coin"].to_numpy().astype(np.int64)
    if not np.isin(coin, (0, 1)).all():
        raise DataError("a coin of a canary is neither 0 nor 1")
    mean = np.bincount(canary, coin) / np.bincount(canary)
    if not np.isin(mean, (0.0, 1.0)).all():
        raise DataError("a canary has two different coins")
    if len(order) < 2:
        raise DataError("an audit needs more than one canary")
    summed = np.asarray(np.bincount(canary, up), np.float64)
    return summed, np.asarray(mean == 1, np.bool_)


def _table(path: str | Path, required: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    file_path = Path(path)
    if not file_path.is_file():
        raise DataError(
            f"{file_path} is not a file",
            remedy="name it as it is called; docs/audit.md describes the files",
        )
    reader = pl.read_parquet if file_path.suffix == ".parquet" else pl.read_csv
    table = reader(file_path)
    missing = [name for name in required if name not in table.columns]
    if missing:
        raise DataError(
            f"{file_path} has no column {', '.join(missing)}",
            remedy="docs/audit.md describes the three files",
        )
    return table
