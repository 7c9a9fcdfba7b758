"""The fits of Shin et al., section 5: one fold, one method, one epsilon and one k each,
shared by figures 3 to 9."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data import splits
from tacit.papers.machine.experiment import Key, Values, Wanted
from tacit.papers.machine.sources import Sources

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.data.splits import Split
    from tacit.model.model import Model

FOLDS = 10
PRINTED = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""The paper's epsilons: from .05 to 1.6."""
FURTHER = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Beyond them."""
ITERATIONS = (1, 3, 5, 10, 20, 50)
"""k of figure 9."""
K = 10
RANKS = {"libimseti": 20}
"""d; 15 elsewhere (section 5.1)."""
ERRORS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
"""Where the distribution of errors is told (figures 5 and 6)."""
LISTED = 10
"""Places of a list (figures 7 and 8)."""
ASKED = 300
"""People whose lists are compared."""
BUSY = 140
"""LibimSeTi: profiles with more ratings than this are kept (footnote 1)."""
OURS = "GD-DR"
PLAIN = "non-private GD"
HUA = "Hua"
HUA_ROUNDS = (10, 100)
"""As many as here, and as Hua et al. print."""


def private(data: str, seed: int, epsilon: float, **extra: Any) -> Key:
    """A cell of private GD-DR."""
    base = {"data": data, "seed": seed, "model": OURS, "epsilon": epsilon}
    return {**base, "k": K, **extra}


def plain(data: str, seed: int, k: int = K) -> Key:
    """A cell of non-private GD."""
    return {"data": data, "seed": seed, "model": PLAIN, "k": k}


def epsilon_keys(request: Wanted) -> Iterable[Key]:
    """Figures 3 to 8: against epsilon, with k = 10."""
    for data in request.data:
        for seed in request.splits:
            yield plain(data, seed)
            epsilons = (0.1, 0.4, 1.6) if request.quick else (*PRINTED, *FURTHER)
            for epsilon in epsilons:
                yield private(data, seed, epsilon)
                if request.quick or epsilon in PRINTED:
                    yield from hua(data, seed, epsilon, request.quick)


def hua(data: str, seed: int, epsilon: float, quick: bool) -> Iterable[Key]:
    """Hua et al. beside it (S2)."""
    base = {"data": data, "seed": seed, "model": HUA, "epsilon": epsilon}
    for k in HUA_ROUNDS[:1] if quick else HUA_ROUNDS:
        if k == K or data == "ml-100k":
            yield {**base, "k": k}


def iteration_keys(request: Wanted) -> Iterable[Key]:
    """Figure 9: against k at epsilon .1, with and without the correction."""
    for data in request.data:
        for seed in request.splits:
            for k in (1, 10) if request.quick else ITERATIONS:
                yield plain(data, seed, k)
                yield {**private(data, seed, 0.1), "k": k}
                yield {**private(data, seed, 0.1, correction="one"), "k": k}


RATES: dict[str, dict[str, Any]] = {
    "1/t, people .1/t": {},
    ".1/t, people .1/t": {"rate": 0.1},
    ".01/t, people .1/t": {"rate": 0.01},
    "1/t for both": {"own_rate": 1.0},
    "1/t for both, n for M": {"own_rate": 1.0, "own_mean": "people"},
    "100/t for both, n for M": {"rate": 100.0, "own_rate": 100.0, "own_mean": "people"},
}
"""Readings of gamma_t, of which O(1/t) is printed; the first is used elsewhere."""


def rate_keys(request: Wanted) -> Iterable[Key]:
    """The readings of the learning rate."""
    for data in request.data[:1]:
        for seed in request.splits:
            for name in RATES:
                for epsilon in (0.1, 1.6):
                    yield private(data, seed, epsilon, rates=name)
                yield {**plain(data, seed), "rates": name}


def work(sources: Sources, key: Key) -> Values:
    """RMSE, distribution of errors, and lists against those of non-private GD."""
    ratings = active_profiles(sources.ratings(key["data"]), key["data"])
    part = next(islice(splits.k_fold(ratings, FOLDS), key["seed"], None))
    model = fitted(part, key)
    predicted = cells_of(model, part)
    error = np.abs(predicted - part.test.value)
    values: Values = {
        "rmse": float(np.sqrt((error**2).mean())),
        "cdf": [float((error <= at).mean()) for at in ERRORS],
    }
    if key["model"] != PLAIN and key["k"] == K and "rates" not in key:
        exact = fitted(part, plain(key["data"], key["seed"]))
        values["fscore"] = fscore(model, exact, part)
    return values


def active_profiles(ratings: Ratings, data: str) -> Ratings:
    """LibimSeTi: the profiles with more than 140 ratings; everything of other sets."""
    if data != "libimseti":
        return ratings
    from dataclasses import replace

    counts = np.bincount(ratings.item, minlength=ratings.n_items)
    busy = np.flatnonzero(counts > BUSY)
    cell = np.isin(ratings.item, busy)
    person = np.repeat(np.arange(ratings.n_users), np.diff(ratings.ptr))[cell]
    count = np.bincount(person, minlength=ratings.n_users)
    return replace(
        ratings,
        items=[ratings.items[int(i)] for i in busy],
        ptr=np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
        item=np.searchsorted(busy, ratings.item[cell]).astype(np.uint32),
        value=ratings.value[cell],
    )


def fitted(part: Split, key: Key) -> Model:
    """The model of one cell."""
    from tacit.fitting.run import trial
    from tacit.methods import find

    people = part.train.n_users
    rank = RANKS.get(key["data"], 15)
    settings = dict(RATES[key["rates"]]) if "rates" in key else {}
    if "correction" in key:
        settings["correction"] = key["correction"]
    common = {"seed": key["seed"], "rounds": key["k"]}
    if key["model"] == PLAIN:
        method = find("one-bit")(
            calibration="none", form="descent", rank=rank, **common, **settings
        )
    elif key["model"] == HUA:
        method = find("mf-federated")(
            calibration="paper", engine="simulate", epsilon=key["epsilon"], factors=rank, **common
        )
    else:
        method = find("one-bit-projected")(
            calibration="paper", epsilon=key["epsilon"], rank=rank, **common, **settings
        )
    return trial(method, part.train, users=people)


def cells_of(model: Model, part: Split) -> NDArray[np.float64]:
    """What the model predicts for the held-back ratings, on their scale."""
    from tacit.model.person.base import Cells

    train = part.train
    schema = train.schema
    value = (train.value - schema.middle) / schema.unit_width
    cells = Cells(train.ptr, train.item, value.astype(np.float64), part.test.ptr, part.test.item)
    inner = model.personal.predict_cells(cells)
    raw = schema.middle + schema.unit_width * inner
    return np.clip(raw, schema.low, schema.high)


def fscore(model: Model, exact: Model, part: Split) -> float:
    """Of the best 10 unrated items against those of `exact`: both lists have 10, so
    precision, recall and their harmonic mean are one number."""
    train = part.train
    schema = train.schema
    people = np.random.default_rng(0).permutation(train.n_users)[:ASKED]
    shared = 0
    for u in people:
        cells = slice(train.ptr[u], train.ptr[u + 1])
        item = train.item[cells]
        value = (train.value[cells] - schema.middle) / schema.unit_width
        ends = np.array([0, len(item)])
        best = []
        for candidate in (model, exact):
            score = candidate.personal.score_block(ends, item, value.astype(np.float64))[0]
            score[item] = -np.inf
            best.append(np.argsort(-score, kind="stable")[:LISTED])
        shared += len(np.intersect1d(best[0], best[1]))
    return shared / (LISTED * len(people))
