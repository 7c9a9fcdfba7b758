"""New items in a published model, from public features alone: free, because nothing but the
model itself is read.

What the model says about its own items is regressed on their features (a ridge whose
strength is set by generalised cross-validation), and the regression answers for the new
ones. What it leaves unexplained becomes their variance, so that their error bars are wider
than those of any typical item.

Guarantee: post-processing of a published model and a public catalogue; no rating is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.features import design
from tacit.errors import DataError, SettingError
from tacit.model.person.base import answering, sensible
from tacit.model.shared import Shared

Floats = NDArray[np.float64]
STRENGTHS = np.geomspace(1e-3, 1e3, 25)
"""Ridge penalties tried, for columns of unit variance and items of mean weight 1."""
BY_ITEM = ("baseline", "loadings", "variance", "weight")
"""Arrays with one row an item, which an extension appends to."""
EXTENDED = "extended"
"""The setting that lists the extensions of a model: what `tacit.model.verify` needs to cut
the earlier models out of it."""
LEAST_FREE = 1e-3
"""Share of the items that a ridge leaves free, at least: cross-validation divides by it."""


def add_items(shared: Shared, new: Catalogue) -> Shared:
    """The model with the items of `new` that it does not know yet, after its own."""
    if shared.personal != "gaussian":
        raise SettingError(
            f"a model of {shared.method} cannot be extended from features",
            remedy="use a model of bayes or bias",
        )
    fresh = [row for row, name in enumerate(new.ids) if name not in shared.catalogue.index]
    if not fresh:
        raise DataError(
            "every item of the file is in the model already", remedy="give a file with new ids"
        )
    merged = merge(shared.catalogue, new, fresh)
    features = design(len(merged), merged.years, merged.tagged, merged.numeric).matrix
    if "weight" not in shared.arrays:
        raise SettingError(
            f"this model of {shared.method} keeps no weights of its items, which new ones "
            "are judged by",
            remedy="use a model of bayes or bias",
        )
    with answering():
        arrays = _extended(shared, features, len(fresh))
    sensible(*arrays.values())
    step = {
        "from": shared.digest(),
        "items": len(shared.catalogue),
        "titled": shared.catalogue.titles is not None,
    }
    steps = [*shared.settings.get(EXTENDED, ()), step]
    settings = {**shared.settings, EXTENDED: steps}
    return replace(shared, arrays=arrays, catalogue=merged, settings=settings)


def _extended(shared: Shared, features: Floats, count: int) -> dict[str, NDArray[Any]]:
    known_count = len(features) - count
    weight = np.maximum(np.asarray(shared.arrays["weight"], np.float64), 1e-9)
    targets = np.column_stack([shared.arrays["baseline"], shared.arrays["loadings"]]).astype(
        np.float64
    )
    guess, residual_variances = regress(
        features[:known_count], targets, weight, features[known_count:]
    )
    # The level's loading is one for all; every other loading's leftover acts on a taste of
    # unit variance.
    posterior_variance = float(
        residual_variances[0]
        + residual_variances[2:].sum()
        + np.average(shared.arrays["variance"], weights=weight)
    )
    posterior_variance = max(posterior_variance, float(np.quantile(shared.arrays["variance"], 0.9)))
    added = {
        "baseline": guess[:, 0],
        "loadings": guess[:, 1:],
        "variance": np.full(count, posterior_variance),
        "weight": np.full(count, np.quantile(weight, 0.05)),
    }
    return {
        name: np.concatenate([array, added[name].astype(array.dtype)]) if name in added else array
        for name, array in shared.arrays.items()
    }


def regress(
    features: Floats, targets: Floats, weight: Floats, query_features: Floats
) -> tuple[Floats, Floats]:
    """Weighted ridge of every column of `targets`; the guesses for `query_features` and the
    variance left over by column."""
    weight = weight / weight.mean()
    centre = np.average(features, axis=0, weights=weight)
    middle = np.average(targets, axis=0, weights=weight)
    root = np.sqrt(weight)[:, None]
    decomposition = np.linalg.svd(root * (features - centre), full_matrices=False)
    values = decomposition.S
    aim = root * (targets - middle)
    turned = decomposition.U.T @ aim
    guess = np.empty((len(query_features), targets.shape[1]))
    residual_variances = np.empty(targets.shape[1])
    for column in range(targets.shape[1]):
        scores = []
        for strength in STRENGTHS * len(features):
            shrinkage = values**2 / (values**2 + strength)
            residuals = aim[:, column] - decomposition.U @ (shrinkage * turned[:, column])
            free = max(1 - shrinkage.sum() / len(features), LEAST_FREE)
            scores.append((float((residuals**2).mean()) / free**2, float(strength)))
        score, strength = min(scores)
        slope = decomposition.Vh.T @ (values / (values**2 + strength) * turned[:, column])
        guess[:, column] = middle[column] + (query_features - centre) @ slope
        residual_variances[column] = score
    return guess, residual_variances


def merge(old: Catalogue, new: Catalogue, rows: Sequence[int]) -> Catalogue:
    """The items of `old`, then these rows of `new`; features by name, unknown where one of
    them does not have them."""
    index = np.asarray(rows, np.int64)
    count = len(old) + len(index)
    titles = None
    if old.titles is not None or new.titles is not None:
        titles = [*(old.titles or old.ids), *((new.titles or new.ids)[row] for row in rows)]
    years = None
    if old.years is not None:
        added = np.zeros(len(index), np.int32) if new.years is None else new.years[index]
        years = np.concatenate([old.years, added]).astype(np.int32)
    tagged = _columns(old.tags, old.tagged, new.tags, new.tagged, index, count, 0)
    numeric = _columns(old.numbers, old.numeric, new.numbers, new.numeric, index, count, np.nan)
    return Catalogue(
        [*old.ids, *(new.ids[row] for row in rows)],
        titles,
        years,
        old.tags,
        tagged,
        old.numbers,
        numeric,
    )


def _columns(
    names: Sequence[str],
    old: NDArray[Any] | None,
    new_names: Sequence[str],
    new: NDArray[Any] | None,
    rows: NDArray[np.int64],
    count: int,
    unknown: float,
) -> NDArray[Any] | None:
    """The model's columns for the old and the new items; a column that is new is 0 for old
    items."""
    if old is None:
        return None
    out = np.full((count, len(names)), unknown, old.dtype)
    out[: len(old)] = old
    for column, name in enumerate(names):
        if new is not None and name in new_names:
            out[len(old) :, column] = new[rows, list(new_names).index(name)]
    return out
