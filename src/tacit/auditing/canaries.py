"""Canary people: invented, each with one of two records by a fair coin.

At `user` a canary is there or not; at `rating` one of her cells is there or not; at `value`
one of her ratings is high or low. They are designed so that a coin moves numbers that no
other coin moves, as far as a bound lets it:

- *fresh items*, which nobody else has rated, for sums by item;
- *signatures* over items that many have rated, for matrices over those, which fresh items
  never enter: the items of canary (a, b) are (g, a g + b mod q) for g = 0, 1, ..., with q
  prime, so that two canaries have at most one item in common, and no pair. They are the most
  rated items of a matrix, or the least rated ones where something that is known of the most
  rated is taken off everybody's row: there every coin moves every number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.verdict import Target
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.sample import sample
from tacit.evaluation.invent import Shape, invent
from tacit.methods import find
from tacit.methods.base import Method
from tacit.units import Unit

if TYPE_CHECKING:
    from tacit.model.model import Model

INSIDE = 0.95
"""Of the rows of a matrix, those that signatures use: the rest may be others than the most
rated items, by noise."""
MOST_SIGNED = 20
"""Items of a signature at most: H equal items reach sqrt(1 - 1/H) H/(H + 1/2) of a matrix
without its diagonal."""
QUICK_PEOPLE, PEOPLE = 300, 2000
"""Invented people around the canaries."""


@dataclass(frozen=True)
class CanaryShape:
    """How many canaries, with how many fresh items each, and signatures of how many items
    over how many rows."""

    people: int
    fresh: int
    signed: int = 0
    last: int = 0
    """Of the most rated items, where signatures end; 0: they begin with the very first."""

    @property
    def prime(self) -> int:
        """The least prime whose square is enough for all canaries."""
        candidate = max(isqrt(max(self.people - 1, 0)) + 1, self.signed, 2)
        while any(candidate % d == 0 for d in range(2, isqrt(candidate) + 1)):
            candidate += 1
        return candidate

    def over(self, rows: int, *, centred: bool = False) -> CanaryShape:
        """With the longest signatures that so many rows allow; at least two items make a
        pair. `centred`: of the last rows."""
        inside = int(INSIDE * rows)
        longest = inside // replace(self, signed=2).prime
        signed = min(MOST_SIGNED, longest)
        last_row = inside if centred else 0
        return replace(self, signed=signed if signed >= 2 else 0, last=last_row)


QUICK = CanaryShape(600, 12)
WHOLE = CanaryShape(4000, 16)
"""Canaries and fresh items of each: a typical person of the sample has 50 ratings, of which a
quarter fills her row."""
MOST_PEOPLE, MOST_ITEMS = 6000, 4000
"""Of a model's shape, so much is invented at most."""
EACH = 40.0
"""Ratings of an invented person, on average."""


@dataclass(frozen=True)
class Canaries:
    """Other people first, then the canaries, in either record."""

    one: Ratings
    """Everybody, canaries with the record of a coin that came up."""
    other: Ratings
    """Everybody, canaries with the other record; at `user` it is empty."""
    first: int
    """The place of the first canary."""
    fresh: NDArray[np.int64]
    """The fresh items of each canary, a row each."""

    @property
    def people(self) -> int:
        """How many canaries there are."""
        return self.one.n_users - self.first

    @property
    def items(self) -> Catalogue:
        """What is public: ids alone."""
        return Catalogue(list(self.one.items))

    def with_coins(self, coins: NDArray[np.bool_]) -> Ratings:
        """The data set of these coins. Who has no rating is not there."""
        user_one = self.one.user.astype(np.int64) - self.first
        user_other = self.other.user.astype(np.int64) - self.first
        up = np.append(coins, True)  # the last stands for all other people
        keep_one = up[np.where(user_one < 0, -1, user_one)]
        up = np.append(~coins, False)
        keep_other = up[np.where(user_other < 0, -1, user_other)]
        parts = (self.one, keep_one), (self.other, keep_other)
        user = np.concatenate([data.user[keep] for data, keep in parts])
        item = np.concatenate([data.item[keep] for data, keep in parts])
        value = np.concatenate([data.value[keep] for data, keep in parts])
        return _ratings(self.one, self.one.users, user, item, value)

    def only_others(self) -> Ratings:
        """Those who are no canaries."""
        end = int(self.one.ptr[self.first])
        return replace(
            self.one,
            users=self.one.users[: self.first],
            ptr=self.one.ptr[: self.first + 1],
            item=self.one.item[:end],
            value=self.one.value[:end],
            time=None,
        )


def plant(people: Ratings, unit: Unit, shape: CanaryShape) -> Canaries:
    """Canaries among these people, over their items and fresh ones."""
    count, fresh = shape.people, shape.fresh
    base = people.n_items
    fresh_items = base + np.arange(count * fresh).reshape(count, fresh)
    cells = np.concatenate([signatures(people, shape), fresh_items], axis=1)
    low, high = people.schema.low, people.schema.high
    # High and low by turns: a person's own mean takes nothing away.
    alternating = np.where(np.arange(cells.shape[1]) % 2 == 0, high, low)
    values = np.tile(alternating, (count, 1))
    changed_column = 0 if shape.signed else cells.shape[1] - 1
    values[:, changed_column] = high
    rows = np.repeat(np.arange(count), cells.shape[1])
    present = np.ones(cells.shape, np.bool_)
    changed = values.copy()
    if unit == "user":
        present[:] = False
    elif unit == "rating":
        present[:, changed_column] = False
    else:
        changed[:, changed_column] = low
    names = [f"canary {k}" for k in range(count)]
    users = [*people.users, *names]
    items = [*people.items, *(f"fresh {k}" for k in range(count * fresh))]
    wide = replace(people, items=items, time=None)

    def with_cells(mask: NDArray[np.bool_], value: NDArray[np.float64]) -> Ratings:
        flat = mask.ravel()
        return _ratings(
            wide,
            users,
            np.concatenate([people.user, people.n_users + rows[flat]]),
            np.concatenate([people.item, cells.ravel()[flat]]),
            np.concatenate([people.value, value.ravel()[flat]]),
            keep_empty=True,
        )

    everything = np.ones(cells.shape, np.bool_)
    return Canaries(
        with_cells(everything, values), with_cells(present, changed), people.n_users, fresh_items
    )


def signatures(people: Ratings, shape: CanaryShape) -> NDArray[np.int64]:
    """The items of each canary's signature, among the most rated ones."""
    rated = np.bincount(people.item, minlength=people.n_items)
    order = np.argsort(-rated, kind="stable")
    prime = shape.prime
    canary = np.arange(shape.people)
    group = np.arange(shape.signed)
    line = (canary[:, None] // prime * group + canary[:, None] % prime) % prime
    start = max(shape.last - shape.signed * prime, 0)
    return np.asarray(order[start + group * prime + line], np.int64)


def _ratings(
    like: Ratings,
    users: Sequence[str],
    user: NDArray[np.integer],
    item: NDArray[np.integer],
    value: NDArray[np.floating],
    *,
    keep_empty: bool = False,
) -> Ratings:
    """Cells in any order as ratings."""
    order = np.lexsort((item, user))
    counts = np.bincount(user, minlength=len(users))
    names = list(users)
    if not keep_empty:
        names = [name for name, n in zip(users, counts, strict=True) if n]
        counts = counts[counts > 0]
    return replace(
        like,
        users=names,
        ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        item=item[order].astype(np.uint32),
        value=value[order].astype(np.float32),
        time=None,
    )


# Where an audit takes place: the people among whom canaries are planted, and how many.


@dataclass(frozen=True)
class Ground:
    """People who are no canaries, and what is planted among them."""

    people: Ratings
    canaries: CanaryShape
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the method, where a model that exists is audited."""

    def method(self, target: Target) -> Method:
        """The method of a target, ready to be fitted."""
        settings: dict[str, Any] = dict(self.settings)
        if target.calibration != "none":
            settings |= {"epsilon": target.epsilon, "delta": target.delta}
        return find(target.method)(
            unit=target.unit, calibration=target.calibration, threads=1, **settings
        )


def owners_ground(ratings: Ratings, canaries: CanaryShape | None) -> Ground:
    """The owner's own people, with canaries among them. NOT PRIVATE."""
    return Ground(replace(ratings, time=None), canaries or WHOLE)


def like_model(model: Model, quick: bool, canaries: CanaryShape | None = None) -> Ground:
    """Invented people of a model's shape: as many as were declared and as many items, up to
    what an audit can carry, and the settings of its fit."""
    shared = model.shared
    schema = shared.schema
    people_limit = QUICK_PEOPLE if quick else MOST_PEOPLE
    shape = Shape(
        people=min(schema.users or PEOPLE, people_limit),
        items=min(len(shared.catalogue), MOST_ITEMS),
        each=EACH,
        low=schema.low,
        high=schema.high,
        step=(schema.high - schema.low) / 4,
    )
    people, _ = invent(shape)
    method = find(shared.method)
    setting_names = method.Settings.model_fields
    settings = {k: v for k, v in shared.settings.items() if k in setting_names}
    return Ground(people, canaries or (QUICK if quick else WHOLE), settings)


def invented_ground(quick: bool, canaries: CanaryShape | None = None) -> Ground:
    """Invented people of the embedded sample."""
    people = sample(QUICK_PEOPLE if quick else PEOPLE)
    return Ground(people, canaries or (QUICK if quick else WHOLE))
