"""What people asked for: an epsilon of their own, below that of the rest. Private, as ratings
are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from tacit.data.ids import clean
from tacit.errors import DataError
from tacit.repr import shapes


@dataclass(frozen=True)
class Budgets:
    """By person, the epsilon that she asked for; who is not here asked for nothing. Ids are
    compared as those of ratings are; who is named twice gets the less of the two."""

    asked: Mapping[str, float]

    __repr__ = shapes

    def __post_init__(self) -> None:
        for epsilon in self.asked.values():
            if not (isfinite(epsilon) and epsilon >= 0):
                raise DataError(
                    "a budget is not a number of 0 or more",
                    remedy="give each person an epsilon; 0 leaves her out",
                )
        epsilons = dict[str, float]()
        for person, epsilon in self.asked.items():
            person_id = clean(person)
            epsilons[person_id] = min(epsilon, epsilons.get(person_id, epsilon))
        object.__setattr__(self, "asked", epsilons)
