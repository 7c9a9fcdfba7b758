"""From a model that was extended by public features back to the one that was paid for.

An extended model keeps, for every extension, the digest of the model before it and how many
items that one had. Its arrays hold the earlier ones as their first rows, so the earlier model
is cut out of it, known again by its digest, and extended anew: if that gives the model at
hand, nothing but public features was added to what was paid for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.data.catalogue import Catalogue
from tacit.errors import DataError, ModelError, SettingError
from tacit.model.extend import BY_ITEM, EXTENDED, add_items
from tacit.model.shared import Shared

CLOSE = 1e-3
"""Relative: a regression that is computed on another machine differs in its last digits,
more where features are nearly dependent."""


def is_extended(shared: Shared) -> bool:
    """Whether items were added from public features."""
    return bool(shared.settings.get(EXTENDED))


def paid_for(shared: Shared) -> Shared:
    """The model that was paid for: this one, or the one it was extended from, if every
    extension is what `add_items` gives; else an error."""
    while is_extended(shared):
        previous = _previous(shared)
        _check(previous, shared)
        shared = previous
    return shared


def _previous(shared: Shared) -> Shared:
    """The model that the last extension started from."""
    *earlier_steps, last_step = _steps(shared.settings[EXTENDED])
    count, titled = last_step["items"], last_step["titled"]
    if not 0 < count < len(shared.catalogue):
        raise _wrong("it names more items than the model has")
    settings = {k: v for k, v in shared.settings.items() if k != EXTENDED}
    if earlier_steps:
        settings[EXTENDED] = earlier_steps
    previous = replace(
        shared,
        arrays={
            name: array[:count] if name in BY_ITEM else array
            for name, array in shared.arrays.items()
        },
        catalogue=_rows(shared.catalogue, slice(count), titled=titled),
        settings=settings,
    )
    if previous.digest() != last_step["from"]:
        raise _wrong("its first items are not those of the model that it names")
    return previous


def _check(previous: Shared, extended: Shared) -> None:
    """Whether one model is the other, extended by public features."""
    added = _rows(extended.catalogue, slice(len(previous.catalogue), None))
    try:
        anew = add_items(previous, added)
    except (DataError, SettingError, LookupError, TypeError, ValueError) as error:
        raise _wrong(f"it cannot be made again ({type(error).__name__})") from None
    same = set(anew.arrays) == set(extended.arrays) and all(
        array.shape == extended.arrays[name].shape
        and np.allclose(
            array.astype(np.float64),
            extended.arrays[name].astype(np.float64),
            rtol=CLOSE,
            atol=CLOSE * max(1e-9, float(np.abs(array).max(initial=0.0))),
        )
        for name, array in anew.arrays.items()
    )
    if not same:
        raise _wrong("its new items are not what their public features give")


def _rows(catalogue: Catalogue, rows: slice, *, titled: bool = True) -> Catalogue:
    def cut(array: Any) -> Any:
        return None if array is None else array[rows]

    return Catalogue(
        list(catalogue.ids)[rows],
        list(catalogue.titles)[rows] if catalogue.titles and titled else None,
        cut(catalogue.years),
        catalogue.tags,
        cut(catalogue.tagged),
        catalogue.numbers,
        cut(catalogue.numeric),
    )


def _steps(steps: Any) -> list[Mapping[str, Any]]:
    """The extensions that a folder names, if they are in the form that we write."""
    if not isinstance(steps, list) or not all(map(_is_step, steps)):
        raise _wrong("what it says of its extensions cannot be read")
    return steps


def _is_step(step: Any) -> bool:
    return (
        isinstance(step, dict)
        and set(step) == {"from", "items", "titled"}
        and isinstance(step["from"], str)
        and isinstance(step["titled"], bool)
        and type(step["items"]) is int
    )


def _wrong(why: str) -> ModelError:
    return ModelError(
        f"the model is not an extension by public features: {why}",
        remedy="make it again with `tacit add-items` from the model that was paid for",
    )
