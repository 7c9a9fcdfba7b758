"""Where an audit takes place: the people among whom canaries are planted, and how many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tacit.auditing.canaries import CanaryShape
from tacit.auditing.verdict import Target
from tacit.data.ratings import Ratings
from tacit.data.sample import sample
from tacit.evaluation.invent import Shape, invent
from tacit.methods import find
from tacit.methods.base import Method

if TYPE_CHECKING:
    from tacit.model.model import Model

QUICK_PEOPLE, PEOPLE = 300, 2000
"""Invented people around the canaries."""
QUICK = CanaryShape(600, 12)
WHOLE = CanaryShape(4000, 16)
"""Canaries and fresh items of each: a typical person of the sample has 50 ratings, of which a
quarter fills her row."""

MOST_PEOPLE, MOST_ITEMS = 6000, 4000
"""Of a model's shape, so much is invented at most."""
EACH = 40.0
"""Ratings of an invented person, on average."""


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
