"""One run of a scheme, and the errors of its profiles on the way."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.papers.machine.experiment import Key, Results, Values
from tacit.papers.machine.sources import Sources

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.data.splits import Split

Floats = NDArray[np.float64]
HELD = 0.1
"""Of the ratings, which the paper does not hold back."""
EPSILONS = (0.05, 0.1, 0.15, 0.4, 0.8)
QUICK_EPSILONS = (0.15, 0.8)
ITERATIONS = (10, 40, 70, 100)
ROUNDS = 100
DYNAMIC = 10_000
QUICK_DYNAMIC = 200
COHORTS = {True: 1000, False: 100}
"""Of S3: for many people (Netflix) and for few (MovieLens)."""
MANY = 10_000
RUN_AWAY = 1e3
"""A person's profile beyond this has run away: its products are no predictions. Items may
grow longer, where few people hold them."""
GRID = tuple(float(x) for x in np.round(np.arange(0, 4.01, 0.1), 1))
"""Errors at which a distribution is told."""
MEAN = "mean, bounded"
THIN = "mean, bounded, pieces of sd 1/k"
SCALED = "equation 1, scaled"
SOLVED = "equation 1, solved"
READINGS: dict[str, dict[str, Any]] = {
    MEAN: {"step": "mean", "bounded": True},
    "mean": {"step": "mean", "bounded": False},
    SCALED: {"step": "scaled", "bounded": False},
    SOLVED: {"step": "solve", "bounded": False},
    THIN: {"step": "mean", "bounded": True, "pieces": "deviation"},
    "sum": {"step": "sum", "bounded": False},
    "sum, bounded": {"step": "sum", "bounded": True},
    "over all ratings": {"step": "objective", "bounded": False},
}
CHOSEN = (MEAN, SCALED, SOLVED)
"""Those that learn something; the others are run once."""
NONE = 0.0
"""Stands for the epsilon of a run without noise."""


def ratings_of(sources: Sources, data: str, films: int) -> Ratings:
    """A data set; of Netflix the film sample of this number (0: the films as they are, if
    they are no more than the paper's 100)."""
    ratings = sources.ratings(data)
    if not data.startswith("netflix"):
        return ratings
    full_prize = ratings.n_items > 100
    if not full_prize and films == 0:
        return ratings
    rng = np.random.default_rng(films)
    count = 100 if full_prize else ratings.n_items // 2
    sampled = np.zeros(ratings.n_items, bool)
    sampled[rng.choice(ratings.n_items, count, replace=False)] = True
    return ratings.take(sampled[ratings.item])


@lru_cache(maxsize=2)
def _split(token: int, data: str, films: int, seed: int) -> Split:
    from tacit.data.splits import per_rating

    return per_rating(ratings_of(_HELD[token], data, films), HELD, seed)


_HELD: dict[int, Sources] = {}


def split_of(sources: Sources, key: Key) -> Split:
    """The split of a cell; neighbouring cells share it."""
    _HELD[id(sources)] = sources
    return _split(id(sources), key["data"], key.get("films", 0), key.get("seed", 0))


def work(sources: Sources, key: Key) -> Values:
    """Errors of one run: at some iterations of S1 and S2, at the end of S3."""
    part = split_of(sources, key)
    with np.errstate(all="ignore"):
        if key["scheme"] == "S1" or key["reading"] == SOLVED:
            return trusted(part, key)
        return untrusted(part, key)


def trusted(part: Split, key: Key) -> Values:
    """S1, for each number of iterations anew."""
    from tacit.fitting.run import trial
    from tacit.methods import find

    measured: Values = {}
    settings = dict(READINGS[key["reading"]])
    settings.pop("pieces", None)  # S1 has no pieces
    settings |= {"model": key["model"]} if "model" in key else {}
    solves = settings["step"] == "solve"
    once = solves or "model" in key or key.get("short", False)
    for count in (ROUNDS,) if once else ITERATIONS:
        method = find("mf-objective")(
            calibration="paper",
            epsilon=key["epsilon"] or 1.0,
            seed=key["seed"],
            epochs=None if solves else count,
            **settings,
        )
        model = trial(method, part.train, noise_off=not key["epsilon"])
        trained = model.personal.trained  # type: ignore[attr-defined]
        measured |= errors(part, trained.people, trained.factors, count)
    return measured


def untrusted(part: Split, key: Key) -> Values:
    """S2 (and the baseline, which is S2 without noise), equation 13, or S3."""
    from tacit.fitting.run import trial
    from tacit.methods import find

    dynamic = key["scheme"] == "S3"
    rounds = key.get("rounds", DYNAMIC if dynamic else ROUNDS)
    settings = dict(READINGS[key["reading"]]) | {"rounds": rounds}
    if dynamic:
        settings |= {
            "scheme": "S3",
            "cohort": COHORTS[part.train.n_users > MANY],
            "join": key.get("join", 0.005),
            "leave": key.get("leave", 0.01),
        }
    settings |= {"third_party": False} if key["scheme"] == "equation 13" else {}
    method = find("mf-federated")(
        calibration="paper", epsilon=key["epsilon"] or 1.0, seed=key["seed"], **settings
    )
    reported_steps = (rounds // 10, rounds // 2, rounds) if dynamic else ITERATIONS
    measured: Values = {}

    def watch(name: str, state: Any, user_arrays: Mapping[str, Floats]) -> None:
        step = int(name.rsplit(" ", 1)[-1]) + 1 if name[:4] == "step" else 0
        if step in reported_steps:
            iteration = round(100 * step / rounds) if dynamic else step
            items = np.asarray(state.items, np.float64)
            measured.update(errors(part, user_arrays["profile"], items, iteration))

    trial(method, part.train, noise_off=not key["epsilon"], watch=watch)
    return measured


def errors(part: Split, profiles: Floats, items: Floats, iteration: int) -> Values:
    """Means of |error|, of products kept on the scale and raw, and their distribution;
    over the pairs of people who took part. Nothing of a run that ran away."""
    suffix = f"@{iteration}"
    fine = np.isfinite(items).all() and np.isfinite(profiles).all()
    # What overflowed is 0 in a model: nobody is left.
    if not fine or not profiles.any() or np.abs(profiles).max() > RUN_AWAY:
        return {f"diverged{suffix}": 1.0}
    row = np.cumsum(np.diff(part.fold_in.ptr) > 0) - 1
    measured: Values = {f"diverged{suffix}": 0.0}
    pairs = {
        "train": (part.train.user, part.train.item, part.train.value),
        "held": (row[part.test.user], part.test.item, part.test.value),
    }
    schema = part.train.schema
    for name, (user, item, value) in pairs.items():
        present = profiles[user].any(axis=1)
        dots = np.einsum("nd,nd->n", profiles[user[present]], items[item[present]])
        rating = (value[present] - schema.middle) / schema.unit_width + 3.0
        away = np.abs(dots - rating)
        measured[f"{name}_raw{suffix}"] = float(away.mean())
        clipped = np.abs(np.clip(dots, 1, 5) - rating)
        measured[f"{name}{suffix}"] = float(clipped.mean())
        if name == "train":
            measured[f"cdf{suffix}"] = [round(float((away <= level).mean()), 4) for level in GRID]
    return measured


def base_key(data: str, reading: str, seed: int, **extra: Any) -> Key:
    """The baseline: the original factorization, 100 iterations, without protection."""
    return {
        "data": data,
        "scheme": "plain",
        "reading": reading,
        "epsilon": NONE,
        "seed": seed,
        **extra,
    }


def increase(results: Results, metric: str = "train@100", **same: Any) -> float | None:
    """Mean increase over the baseline of the same reading and data; None where it ran away
    or was not run."""
    error = results.mean(metric, **same)
    base = results.mean(
        metric.split("@")[0] + "@100", data=same["data"], reading=same["reading"], scheme="plain"
    )
    if error is None or base is None:
        return None
    return error - base


def format_change(value: float | None) -> str:
    """`+0.123`, or that it ran away."""
    return "ran away" if value is None else f"{value:+.3f}"
