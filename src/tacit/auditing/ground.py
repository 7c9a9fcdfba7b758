"""Where an audit takes place: the people among whom canaries are planted, and how many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.auditing.canaries import CanaryShape
from tacit.auditing.verdict import Target
from tacit.data.ratings import Ratings
from tacit.data.sample import sample
from tacit.methods import find
from tacit.methods.base import Method

QUICK_PEOPLE, PEOPLE = 300, 2000
"""Invented people around the canaries."""
QUICK = CanaryShape(600, 12)
WHOLE = CanaryShape(4000, 16)
"""Canaries and fresh items of each: a typical person of the sample has 50 ratings, of which a
quarter fills her row."""


@dataclass(frozen=True)
class Ground:
    """People who are no canaries, and what is planted among them."""

    people: Ratings
    canaries: CanaryShape
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the method, where a model that exists is audited."""

    def method(self, target: Target) -> Method:
        """The method of a target, ready to be fitted."""
        given: dict[str, Any] = dict(self.settings)
        if target.calibration != "none":
            given |= {"epsilon": target.epsilon, "delta": target.delta}
        return find(target.method)(
            unit=target.unit,
            calibration=target.calibration,
            threads=1,
            **given,
        )


def invented_ground(quick: bool, canaries: CanaryShape | None = None) -> Ground:
    """Invented people of the embedded sample."""
    people = sample(QUICK_PEOPLE if quick else PEOPLE)
    return Ground(people, canaries or (QUICK if quick else WHOLE))
