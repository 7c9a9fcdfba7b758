"""`evaluate --engine spark`: methods compared on a cluster. NOT PRIVATE: for the owner only.

What is held back follows from ids and a seed (`tacit.data.held_out`), so executors find it
without a word between them, and every method is judged on the same ratings. What the driver
learns are sums of errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from tacit import __version__
from tacit.data import splits
from tacit.data.held_out import MOST_HELD_OUT, HeldOut
from tacit.errors import SettingError
from tacit.evaluation.arms import Arm
from tacit.evaluation.protocol import HeldBack
from tacit.evaluation.result import NOTE
from tacit.fitting.run import rehearse, trial

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.engine.spark.table import SparkRatings

FIGURES = ("rmse", "mae")
Reports = Callable[[int, int, float], None]


@dataclass(frozen=True)
class ClusterEvaluation:
    """Its table, and what the numbers depend on."""

    cells: list[dict[str, Any]]
    facts: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """For another program."""
        return {"note": NOTE, **self.facts, "cells": self.cells}


def check(protocol: HeldBack, *, likes: bool) -> float:
    """Refuse what is judged on one machine only; the share that is held back."""
    one_machine = "leave --engine spark out, or "
    shares = protocol.split not in ("time", "date", "probe", "people")
    if not shares or splits.is_date(protocol.split) or protocol.folds is not None:
        raise SettingError(
            "on a cluster a random share is held back", remedy=one_machine + "use --split 90/10"
        )
    if likes:
        raise SettingError(
            "on a cluster ratings are predicted, and likes are none",
            remedy=one_machine + "leave --positive out",
        )
    share = splits.parse_shares(protocol.split)
    if share > MOST_HELD_OUT:
        raise SettingError(
            f"--split {protocol.split} holds back more than half", remedy="use --split 90/10"
        )
    return share


def compare(
    ratings: SparkRatings,
    arms: list[Arm],
    protocol: HeldBack,
    *,
    items: Catalogue | None,
    ready: Callable[[], None],
    progress: Reports | None = None,
) -> ClusterEvaluation:
    """Fit and judge every arm on every split. `ready` is called before anything is compared
    with a rating: what is booked is booked there."""
    from tacit.engine.spark.scores import judged

    share = check(protocol, likes=ratings.schema.positive is not None)
    for arm in arms:
        rehearse(arm.make(0), ratings, items=items)
    ready()
    names = list(items.ids if items is not None else ratings.items)
    runs: dict[int, list[dict[str, float]]] = {}
    finished = 0
    for seed in range(protocol.seeds):
        part = ratings.seen_by(rule(share, seed), judged=True)
        for index, arm in enumerate(arms):
            model = trial(arm.make(seed), part, items=items)
            figures = judged(part, model.personal, names)
            runs.setdefault(index, []).append(figures)
            finished += 1
            if progress is not None:
                progress(finished, protocol.seeds * len(arms), 0.0)
    cells = [line(arm, runs[index]) for index, arm in enumerate(arms)]
    facts = {
        "version": __version__,
        "split": protocol.split,
        "seeds": protocol.seeds,
        "engine": "spark",
        "scale": [ratings.schema.low, ratings.schema.high],
        "users": ratings.schema.users,
    }
    return ClusterEvaluation(cells, facts)


def rule(share: float, seed: int) -> HeldOut:
    """Which ratings a seed holds back."""
    name = f"tacit evaluate {seed}".encode()
    return HeldOut(share=share, salt=blake2b(name, digest_size=16).hexdigest())


def line(arm: Arm, runs: list[dict[str, float]]) -> dict[str, Any]:
    """One line of the table: means over the splits, and how they spread."""
    row: dict[str, Any] = {
        "method": arm.method,
        "unit": arm.unit,
        "calibration": arm.calibration,
        "epsilon": arm.epsilon,
        "delta": arm.delta,
        **arm.swept_settings,
        "runs": len(runs),
    }
    for name in FIGURES:
        values = [run[name] for run in runs]
        row[name] = fmean(values)
        row[f"{name}_sd"] = stdev(values) if len(values) > 1 else None
    return row
