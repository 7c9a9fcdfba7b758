"""One run of a scheme, and the errors of its profiles on the way."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.reproduce.experiment import Key, Results, Values
from tacit.evaluation.reproduce.sources import Sources

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
    found = sources.ratings(data)
    if not data.startswith("netflix"):
        return found
    whole = found.n_items > 100
    if not whole and films == 0:
        return found
    rng = np.random.default_rng(films)
    count = 100 if whole else found.n_items // 2
    chosen = np.zeros(found.n_items, bool)
    chosen[rng.choice(found.n_items, count, replace=False)] = True
    return found.take(chosen[found.item])


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

    found: Values = {}
    told = dict(READINGS[key["reading"]])
    told.pop("pieces", None)  # S1 has no pieces
    told |= {"model": key["model"]} if "model" in key else {}
    solves = told["step"] == "solve"
    once = solves or "model" in key or key.get("short", False)
    for count in (ROUNDS,) if once else ITERATIONS:
        method = find("mf-objective")(
            calibration="paper",
            epsilon=key["epsilon"] or 1.0,
            seed=key["seed"],
            epochs=None if solves else count,
            **told,
        )
        model = trial(method, part.train, noise_off=not key["epsilon"])
        both = model.personal.trained  # type: ignore[attr-defined]
        found |= errors(part, both.people, both.factors, count)
    return found


def untrusted(part: Split, key: Key) -> Values:
    """S2 (and the baseline, which is S2 without noise), equation 13, or S3."""
    from tacit.fitting.run import trial
    from tacit.methods import find

    dynamic = key["scheme"] == "S3"
    rounds = key.get("rounds", DYNAMIC if dynamic else ROUNDS)
    told = dict(READINGS[key["reading"]]) | {"rounds": rounds}
    if dynamic:
        told |= {
            "scheme": "S3",
            "cohort": COHORTS[part.train.n_users > MANY],
            "join": key.get("join", 0.005),
            "leave": key.get("leave", 0.01),
        }
    told |= {"third_party": False} if key["scheme"] == "equation 13" else {}
    method = find("mf-federated")(
        calibration="paper", epsilon=key["epsilon"] or 1.0, seed=key["seed"], **told
    )
    shown = (rounds // 10, rounds // 2, rounds) if dynamic else ITERATIONS
    found: Values = {}

    def watch(name: str, state: Any, kept: Mapping[str, Floats]) -> None:
        step = int(name.rsplit(" ", 1)[-1]) + 1 if name[:4] == "step" else 0
        if step in shown:
            place = round(100 * step / rounds) if dynamic else step
            items = np.asarray(state.items, np.float64)
            found.update(errors(part, kept["profile"], items, place))

    trial(method, part.train, noise_off=not key["epsilon"], watch=watch)
    return found


def errors(part: Split, own: Floats, items: Floats, place: int) -> Values:
    """Means of |error|, of products kept on the scale and raw, and their distribution;
    over the pairs of people who took part. Nothing of a run that ran away."""
    last = f"@{place}"
    fine = np.isfinite(items).all() and np.isfinite(own).all()
    # What overflowed is 0 in a model: nobody is left.
    if not fine or not own.any() or np.abs(own).max() > RUN_AWAY:
        return {f"diverged{last}": 1.0}
    row = np.cumsum(np.diff(part.fold_in.ptr) > 0) - 1
    found: Values = {f"diverged{last}": 0.0}
    pairs = {
        "train": (part.train.user, part.train.item, part.train.value),
        "held": (row[part.test.user], part.test.item, part.test.value),
    }
    schema = part.train.schema
    for name, (user, item, value) in pairs.items():
        here = own[user].any(axis=1)
        dots = np.einsum("nd,nd->n", own[user[here]], items[item[here]])
        rating = (value[here] - schema.middle) / schema.unit_width + 3.0
        away = np.abs(dots - rating)
        found[f"{name}_raw{last}"] = float(away.mean())
        kept = np.abs(np.clip(dots, 1, 5) - rating)
        found[f"{name}{last}"] = float(kept.mean())
        if name == "train":
            found[f"cdf{last}"] = [round(float((away <= level).mean()), 4) for level in GRID]
    return found


def base_key(data: str, reading: str, seed: int, **more: Any) -> Key:
    """The baseline: the original factorization, 100 iterations, without protection."""
    return {
        "data": data,
        "scheme": "plain",
        "reading": reading,
        "epsilon": NONE,
        "seed": seed,
        **more,
    }


def increase(results: Results, metric: str = "train@100", **same: Any) -> float | None:
    """Mean increase over the baseline of the same reading and data; None where it ran away
    or was not run."""
    found = results.mean(metric, **same)
    base = results.mean(
        metric.split("@")[0] + "@100", data=same["data"], reading=same["reading"], scheme="plain"
    )
    if found is None or base is None:
        return None
    return found - base


def told(value: float | None) -> str:
    """`+0.123`, or that it ran away."""
    return "ran away" if value is None else f"{value:+.3f}"
