"""The cells of McSherry & Mironov's figures: printed forms at a theta, or with their noise
off, on ratings split as the Netflix Prize split them."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.data import splits
from tacit.evaluation.sweep import measure
from tacit.papers.machine.experiment import Key, Values
from tacit.papers.machine.sources import Sources

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.data.splits import Split
    from tacit.model.model import Model

DELTA = 1e-6
CLAIM = sqrt(2 * log(6 / DELTA))
"""The paper's epsilon for a theta of 1: its sum over three measurements."""
ROOM = 1.001
"""Of the epsilon that is given beside a theta, for rounding."""
FIXED = "fixed"
"""The reading in which the cleaning's parameters are those of one theta, for all."""
CHOSEN_AT = {"ml-100k": 5.0, "netflix-100": 0.5, "netflix": 0.15}
"""That theta: about where cleaned methods meet the threshold on these data, as .15 is where
they meet Cinematch in the paper."""
USUALLY_AT = 1.5
"""On others."""
NETFLIX_BEGINS = 962_409_600
"""1 July 2000, from which the paper counts days."""
DAY = 86_400
METHODS = {"kNN": "covariance-knn", "SVD": "covariance-svd"}


def fitted(
    method: str, ratings: Ratings, *, theta: float | None, seed: int, **settings: Any
) -> Model:
    """As printed at this theta; without one with its noise off."""
    from tacit.fitting.run import trial
    from tacit.methods import find

    noise: dict[str, Any] = {"epsilon": 1.0}
    if theta is not None:
        noise = {"epsilon": ROOM * CLAIM * theta, "theta": theta}
    algorithm = find(METHODS[method])(
        calibration="paper", delta=DELTA, seed=seed, **noise, **settings
    )
    return trial(algorithm, ratings, noise_off=theta is None)


def error(model: Model, part: Split) -> float | None:
    """Root mean square error on what was held back, predictions cut to the scale."""
    return measure(model, part, lists=False)["rmse"]


def global_effects(model: Model, part: Split) -> float | None:
    """The error of item averages and a person's level alone, which every model has inside."""
    from dataclasses import replace

    from tacit.model.model import Model

    shared = model.shared
    arrays = {
        "baseline": shared.arrays["baseline"],
        "loadings": np.zeros((len(shared.catalogue), 1)),
    }
    numbers = {**shared.numbers, "neighbours": 0.0}
    plain = replace(shared, arrays=arrays, numbers=numbers)
    return error(Model(plain, model.statement, kept=False), part)


def held_back(ratings: Ratings, split_name: str, seed: int) -> Split:
    """The split of this name. Without times the probe is any 9 ratings of a person."""
    if split_name == "probe" and ratings.time is None:
        from dataclasses import replace

        anything = np.zeros(len(ratings), np.int64)
        ratings = replace(ratings, time=anything)
    return splits.make(ratings, split_name, seed=seed)


def at_theta(sources: Sources, key: Key) -> Values:
    """One fit and its error; with the error of global effects alone beside it."""
    part = held_back(sources.ratings(key["data"]), key["split"], key["seed"])
    method = key["method"]
    seed = key["seed"]
    theta = key["theta"]
    settings = {"cleaning": key["cleaning"]}
    if key["cleaning"] == FIXED:
        at = CHOSEN_AT.get(key["data"], USUALLY_AT)
        chosen_fit = fitted(method, part.train, theta=at, seed=seed)
        numbers = chosen_fit.shared.numbers
        settings = {name: numbers[name] for name in ("shrink_diagonal", "shrink_off")}
    model = fitted(method, part.train, theta=theta, seed=seed, **settings)
    return {
        "rmse": error(model, part),
        "global": global_effects(model, part),
        **{name: model.shared.numbers[name] for name in ("shrink_diagonal", "shrink_off", "ridge")},
    }


def at_date(sources: Sources, key: Key) -> Values:
    """kNN with its noise and with it off, on the ratings up to a date."""
    ratings = sources.ratings(key["data"])
    day, history = until(ratings, key["cut"])
    start_time = NETFLIX_BEGINS if "netflix" in key["data"] else _first_time(ratings)
    part = held_back(history, "probe", key["seed"])
    seed = key["seed"]
    noisy = fitted("kNN", part.train, theta=key["theta"], seed=seed)
    plain = fitted("kNN", part.train, theta=None, seed=seed)
    with_noise, without = error(noisy, part), error(plain, part)
    assert with_noise is not None
    assert without is not None
    return {
        "rmse": with_noise,
        "noise_off": without,
        "loss": 100 * (with_noise - without),
        "records": len(history),
        "day": int((day - start_time) // DAY),
    }


def until(ratings: Ratings, cut: float) -> tuple[int, Ratings]:
    """The last moment of a share of all days, and the ratings up to it."""
    assert ratings.time is not None
    first, last = int(ratings.time.min()), int(ratings.time.max())
    day = first + round(cut * (last - first))
    return day, ratings.take(ratings.time <= day)


def _first_time(ratings: Ratings) -> int:
    assert ratings.time is not None
    return int(np.min(ratings.time))
