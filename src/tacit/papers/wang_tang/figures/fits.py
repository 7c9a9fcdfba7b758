"""The fits of Wang & Tang's section 5: one fold, one model, one epsilon each, shared by
figures 3 to 6."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data import splits
from tacit.papers.machine.experiment import Key, Values, Wanted
from tacit.papers.machine.sources import Sources

if TYPE_CHECKING:
    from tacit.data.splits import Split
    from tacit.model.model import Model

FOLDS = 5
EPSILONS = (0.1, 0.5, 1.0, 5.0, 10.0, 20.0)
"""Of figure 3, whose axis is not in the text: it names 1 and 20."""
SHARES = (0.01, 0.1, 1.0)
"""Of figure 4: epsilon is so much for each of tau = 200 ratings. The text names .1."""
TAU = 200
STEPS = 100
"""Of a chain of Algorithm 2 here; K is not printed."""
LONG = 300
"""Those of the authors' published program, run once at the largest epsilon."""
NEAR = (10, 50, 100, 300, 500, 900, 1300)
"""Neighbours in figure 5."""
OWN_NEAR = 500
BASE_NEAR = {"ml-1m": 1300}
"""N of PCC and COS; 900 elsewhere (section 5.1)."""
BASES = {"COS": "knn-cosine", "PCC": "knn-pearson"}
READINGS = ("printed", "code")
BIASES = ("raw", "none")
ALL = 5000
AT_ONE = {"DPSGD-PNBM": 1.0, "DPPS-PNBM": 1.0 * TAU}
"""Figure 5 is at epsilon 1 (x 200 for a whole person)."""
LARGE = ("ml-1m",)
"""Data sets on which PNBM is fitted with one fold and two epsilons, for time."""


def base_keys(request: Wanted) -> Iterable[Key]:
    """PCC and COS."""
    for data in request.data:
        for seed in request.splits:
            for model in BASES:
                yield {"data": data, "seed": seed, "model": model}


def sgd_keys(request: Wanted) -> Iterable[Key]:
    """Figure 3: DPSGD, both models."""
    yield from base_keys(request)
    extremes = (1.0, 20.0)
    for data in request.data:
        abridged = request.quick or data in LARGE
        for seed in request.splits:
            base = {"data": data, "seed": seed}
            yield {**base, "model": "DPSGD-MF", "epsilon": None}
            for epsilon in extremes if request.quick else EPSILONS:
                yield {**base, "model": "DPSGD-MF", "epsilon": epsilon}
            if seed and abridged:
                continue
            for reading in READINGS:
                settings = {**base, "model": "DPSGD-PNBM", "reading": reading}
                for at in extremes if abridged else (*EPSILONS, None):
                    yield {**settings, "epsilon": at}


def chain_keys(request: Wanted) -> Iterable[Key]:
    """Figure 4: posterior samples of both models."""
    yield from base_keys(request)
    for data in request.data:
        abridged = request.quick or data in LARGE
        for seed in request.splits:
            base = {"data": data, "seed": seed}
            for biases in BIASES:
                settings = {**base, "model": "DPPS-MF", "biases": biases}
                for share in SHARES:
                    yield {**settings, "epsilon": share * TAU}
            if seed and abridged:
                continue
            for reading in READINGS:
                settings = {**base, "model": "DPPS-PNBM", "reading": reading}
                steps = 20 if abridged else STEPS
                for share in SHARES[-1:] if abridged else SHARES:
                    yield {**settings, "epsilon": share * TAU, "steps": steps}
                if not abridged and not seed:
                    yield {**settings, "epsilon": TAU, "steps": LONG}


def size_keys(request: Wanted) -> Iterable[Key]:
    """Figure 5: those at epsilon 1 (x 200 for a whole person)."""
    yield from base_keys(request)
    yield from filter(_in_figure_5, both_keys(request))


def both_keys(request: Wanted) -> Iterable[Key]:
    """Figure 6: PNBM by both algorithms."""
    for key in (*sgd_keys(request), *chain_keys(request)):
        if "PNBM" in key["model"]:
            yield key


def work(sources: Sources, key: Key) -> Values:
    """RMSE of one fit on one fold; of neighbours by their number as well."""
    ratings = sources.ratings(key["data"])
    folds = splits.k_fold(ratings, FOLDS)
    part = next(islice(folds, key["seed"], None))
    model = fitted(part, key)
    if "MF" in key["model"]:
        return {"rmse": error(model, part)}
    usual = OWN_NEAR
    if key["model"] in BASES:
        usual = BASE_NEAR.get(key["data"], 900)
    sizes = NEAR if _in_figure_5(key) else ()
    ranks = ranked(model, by_size=key["model"] in BASES)
    errors = {f"n{n}": error(nearest(model, ranks, n), part) for n in sizes}
    if key["model"] in BASES:
        signed_ranks = ranked(model, by_size=False)
        errors["largest"] = error(nearest(model, signed_ranks, usual), part)
    return {"rmse": error(nearest(model, ranks, usual), part), **errors}


def _in_figure_5(key: Key) -> bool:
    """Whether the number of neighbours is varied."""
    if key["model"] in BASES:
        return True
    return key["epsilon"] == AT_ONE[key["model"]] and key.get("steps") != LONG


def fitted(part: Split, key: Key) -> Model:
    """The model of one cell."""
    from tacit.fitting.run import trial
    from tacit.methods import find

    name = key["model"]
    if name in BASES:
        method = find(BASES[name])(calibration="none", neighbours=ALL)
        return trial(method, part.train)
    epsilon = key["epsilon"]
    common = {
        "calibration": "paper",
        "epsilon": 1.0 if epsilon is None else epsilon,
        "seed": key["seed"],
        "threads": 1,
    }
    method = find(METHODS[name])(**common, **_settings(key))
    return trial(method, part.train, noise_off=epsilon is None)


METHODS = {
    "DPSGD-PNBM": "pnbm-sgd",
    "DPPS-PNBM": "pnbm-langevin",
    "DPSGD-MF": "mf-sgd",
    "DPPS-MF": "mf-langevin",
}


def _settings(key: Key) -> dict[str, Any]:
    """The settings of a cell; all others are the method's own defaults."""
    if key["model"] == "DPSGD-PNBM":
        return {"reading": key["reading"], "neighbours": ALL}
    if key["model"] == "DPPS-PNBM":
        return {"reading": key["reading"], "neighbours": ALL, "rounds": key["steps"]}
    if key["model"] == "DPPS-MF":
        return {"biases": key["biases"]}
    return {}


def error(model: Model, part: Split) -> float:
    """RMSE on the held-back fold."""
    from tacit.evaluation.sweep import measure

    return float(measure(model, part, lists=False)["rmse"] or np.nan)


def ranked(model: Model, *, by_size: bool) -> NDArray[np.int64]:
    """The rank of each published neighbour among those of its item, largest first."""
    start = model.shared.arrays["start"]
    value = model.shared.arrays["similarity"]
    counts = np.diff(start)
    owner = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-np.abs(value) if by_size else -value, owner))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(start[:-1], counts)
    return rank


def nearest(model: Model, rank: NDArray[np.int64], near: int) -> Model:
    """The same model with the `near` most similar neighbours of each item."""
    from tacit.model.model import Model

    shared = model.shared
    counts = np.diff(shared.arrays["start"])
    owner = np.repeat(np.arange(len(counts)), counts)
    within = rank < near
    remaining_counts = np.bincount(owner[within], minlength=len(counts))
    arrays = {
        **shared.arrays,
        "start": np.concatenate([[0], np.cumsum(remaining_counts)]).astype(np.int64),
        "neighbour": shared.arrays["neighbour"][within],
        "similarity": shared.arrays["similarity"][within],
    }
    return Model(replace(shared, arrays=arrays), model.statement)
