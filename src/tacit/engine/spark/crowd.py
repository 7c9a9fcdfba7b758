"""Some people as they are kept on the cluster: who they are to this run, their ratings, and
what is kept on their side between rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.gram import index_type
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.engine.spark.keys import Digests, cell_words
from tacit.engine.spark.scatter import in_quarters, of_quarters
from tacit.engine.spark.wire import pack_arrays, unpack_arrays
from tacit.repr import shapes

KEPT = "kept "
"""Before the name of personal state."""
HELD = ("held ptr", "held item", "held value")
"""Of ratings that are kept apart, where they are to be predicted."""


@dataclass(frozen=True, eq=False)
class Crowded:
    """A block of people: one row of the table that stays on the cluster."""

    who: Digests
    ptr: NDArray[np.int64]
    item: NDArray[Any]
    value: NDArray[np.float32]
    personal: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    held: tuple[NDArray[Any], ...] = ()
    """As `HELD` names them; empty unless a model is to be judged."""

    __repr__ = shapes

    @classmethod
    def read(cls, data: bytes | memoryview) -> Crowded:
        """Inverse of `write`."""
        arrays = unpack_arrays(data)
        personal = {
            name.removeprefix(KEPT): array
            for name, array in arrays.items()
            if name.startswith(KEPT)
        }
        value = arrays["value"]
        if value.dtype == np.uint8:
            value = of_quarters(value)
        return cls(
            arrays["who"],
            arrays["ptr"],
            arrays["item"],
            value,
            personal,
            tuple(arrays[name] for name in HELD if name in arrays),
        )

    def write(self, n_items: int) -> bytes:
        """As bytes; places of items are as short as the catalogue lets them be, and ratings
        that are whole quarters take one."""
        state_arrays = {KEPT + name: array for name, array in self.personal.items()}
        item = self.item.astype(index_type(n_items), copy=False)
        cell_arrays: dict[str, NDArray[Any]] = {"who": self.who, "ptr": self.ptr, "item": item}
        held = dict(zip(HELD, self.held, strict=False))
        short = in_quarters(self.value)
        value = self.value if short is None else short
        return pack_arrays(cell_arrays | {"value": value} | state_arrays | held)

    def ratings(self, schema: Schema) -> Ratings:
        """What the engine of one machine works on. Nobody has a name here."""
        item = self.item.astype(np.uint32, copy=False)
        return Ratings(schema, (), (), self.ptr, item, self.value)

    def limited(self, max_ratings: int, key: bytes) -> Crowded:
        """At most so many ratings of a person: those of smallest secret word, as
        `tacit.bound.limit` keeps them."""
        counts = np.diff(self.ptr)
        if not len(counts) or counts.max() <= max_ratings:
            return self
        owner = np.repeat(np.arange(len(counts)), counts)
        secret = cell_words(key, self.who, owner, self.item)
        order = np.lexsort((secret, owner))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(self.ptr[:-1], counts)
        keep = rank < max_ratings
        ptr = np.concatenate([[0], np.minimum(counts, max_ratings).cumsum()])
        return replace(self, ptr=ptr, item=self.item[keep], value=self.value[keep])
