"""Accuracy tables: methods x epsilons over shared splits, beside the non-private twin. NOT
PRIVATE: owner only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data import splits
from tacit.data.splits import Split
from tacit.evaluation.metrics import Ranking, mae, rmse
from tacit.model.person.base import Cells

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.ratings import Ratings
    from tacit.methods.base import Method
    from tacit.model.model import Model

PLACES = (10, 20)
"""Lists are judged at these lengths."""


@dataclass(frozen=True)
class Arm:
    """One line of the table: a method as it would be fitted."""

    make: Callable[[int], Method]
    """From the seed of initial factors to an unfitted method."""
    method: str
    unit: str
    calibration: str
    epsilon: float | None


def run(
    ratings: Ratings,
    arms: Iterable[Arm],
    *,
    split: str = "90/10",
    seeds: int = 3,
    folds: int | None = None,
    hold: int = 600,
    fold_in: float = 0.8,
    items: Catalogue | None = None,
    days: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
    ready: Callable[[], None] | None = None,
) -> list[dict[str, Any]]:
    """One cell an arm: the mean over splits of each metric with its standard deviation and
    the number of runs.

    `ready` is called when every arm was rehearsed on invented people and the first split is
    made, before anything is compared with a rating: what is booked is booked there.
    """
    from tacit.fitting.run import rehearse, trial

    lines = list(arms)
    for arm in lines:
        rehearse(arm.make(0), ratings, items=items)
    found: list[list[dict[str, float | None]]] = [[] for _ in lines]
    total = len(lines) * (folds or seeds)
    for number, part in enumerate(
        _splits(ratings, split, seeds, folds, hold, fold_in)
    ):
        if number == 0 and ready is not None:
            ready()
        for place, arm in enumerate(lines):
            if progress:
                progress(
                    number * len(lines) + place,
                    total,
                    f"{arm.method} {arm.epsilon or 'twin'}",
                )
            model = trial(arm.make(number), part.train, items=items)
            found[place].append(
                measure(model, part, lists=split == "people", days=days)
            )
    return [_cell(arm, runs) for arm, runs in zip(lines, found, strict=True)]


def measure(
    model: Model, part: Split, *, lists: bool, days: bool = False
) -> dict[str, float | None]:
    """Held-back ratings against predictions, or held-back likes against lists.

    With `days` each prediction is asked for at the time of its rating, and may use on which
    day that was.
    """
    schema = part.train.schema
    own = _inner(part.fold_in)
    if lists:
        ranking = Ranking(
            _lists(model, part, own), part.test.ptr, part.test.item
        )
        return ranking.table(*PLACES)
    times = (part.fold_in.time, part.test.time) if days else ()
    cells = Cells(
        part.fold_in.ptr,
        part.fold_in.item,
        own,
        part.test.ptr,
        part.test.item,
        *times,
    )
    inner = model.personal.predict_cells(cells)
    predicted = np.clip(
        schema.middle + schema.unit_width * inner, schema.low, schema.high
    )
    return {
        "rmse": rmse(predicted, part.test.value),
        "mae": mae(predicted, part.test.value),
    }


def _lists(
    model: Model, part: Split, own: NDArray[np.float64]
) -> NDArray[np.int32]:
    from tacit.kernels.topn import top_n_all

    given = part.fold_in

    def score(start: int, stop: int) -> NDArray[np.float64]:
        cells = slice(int(given.ptr[start]), int(given.ptr[stop]))
        return model.personal.score_block(
            given.ptr[start : stop + 1] - cells.start,
            given.item[cells],
            own[cells],
        )

    return top_n_all(score, given.n_users, max(PLACES), given.ptr, given.item)


def _inner(ratings: Ratings) -> NDArray[np.float64]:
    return (
        ratings.value.astype(np.float64) - ratings.schema.middle
    ) / ratings.schema.unit_width


def _splits(
    ratings: Ratings,
    how: str,
    seeds: int,
    folds: int | None,
    hold: int,
    fold_in: float,
) -> Iterator[Split]:
    if folds is not None:
        yield from splits.k_fold(ratings, folds)
        return
    for seed in range(seeds):
        yield splits.make(ratings, how, seed=seed, hold=hold, fold_in=fold_in)


def _cell(arm: Arm, runs: list[dict[str, float | None]]) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "method": arm.method,
        "unit": arm.unit,
        "calibration": arm.calibration,
        "epsilon": arm.epsilon,
        "runs": len(runs),
    }
    for name in runs[0]:
        values = [run[name] for run in runs]
        known = [value for value in values if value is not None]
        whole = len(known) == len(values)
        cell[name] = float(np.mean(known)) if whole else None
        cell[f"{name}_sd"] = (
            float(np.std(known, ddof=1)) if whole and len(known) > 1 else None
        )
    return cell
