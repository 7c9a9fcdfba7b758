"""What an attack of the gauntlet is shown: a method at a calibration, what it publishes of a
stage, and the events that it draws its noise from. Each is made once, for all attacks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.gauntlet.game import guess
from tacit.auditing.gauntlet.stage import CANARIES, HIGH, TwoWorlds, stage
from tacit.auditing.verdict import AttackFinding, Target, make_finding
from tacit.data.ratings import Ratings
from tacit.fitting.run import _Run, trial
from tacit.ledger.account.event import Event
from tacit.methods import find
from tacit.methods.base import Method
from tacit.model.model import Model
from tacit.model.person.base import Own, answering
from tacit.units import Unit

Floats = NDArray[np.float64]
PEOPLE = 300
"""Declared: near the number on the stage, whatever the coins say."""
TINY = 1e-9


class Skipped(NamedTuple):
    """A cell that an attack says nothing about."""

    attack: str
    target: Target
    why: str


Cell = AttackFinding | Skipped


@dataclass(frozen=True)
class Exhibit:
    """One row of the table: a method at a calibration."""

    target: Target

    @property
    def kind(self) -> type[Method]:
        """The class of the method."""
        return find(self.target.method)

    @property
    def method(self) -> Method:
        """As it is fitted."""
        target = self.target
        if target.calibration == "none":
            return self.kind(calibration="none", unit=target.unit)
        return self.kind(
            epsilon=target.epsilon,
            delta=target.delta,
            unit=target.unit,
            calibration=target.calibration,
        )

    @cached_property
    def stage(self) -> TwoWorlds:
        """The people: where who takes part is no secret, what they rate is."""
        unit: Unit = self.target.unit
        if unit == "user" and self.kind.local:
            unit = "rating"
        return stage(unit)

    @property
    def pattern_is_public(self) -> bool:
        """Whether the promise leaves open who rated what."""
        return self.target.unit == "value"

    def fitted(self, ratings: Ratings) -> Model:
        """What is published of these people, for nobody's eyes but an attack's."""
        users = None if self.kind.local else PEOPLE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return trial(self.method, ratings, items=self.stage.items, users=users)

    @cached_property
    def model_after(self) -> Model:
        """Fitted with the canaries as their coins say."""
        return self.fitted(self.stage.after)

    @cached_property
    def model_before(self) -> Model:
        """Fitted without what the coins decide."""
        return self.fitted(self.stage.before)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """From which the noise of its releases is drawn; none for a twin."""
        users = None if self.kind.local else PEOPLE
        run = _Run(self.method, self.stage.after, self.stage.items, users, None)
        return run.events

    def predictions(self, model: Model, user_ratings: dict[int, float]) -> Floats:
        """What the model tells of every item somebody with these ratings, on its scale."""
        schema = self.stage.after.schema
        items = np.array(sorted(user_ratings), np.int64)
        values = np.array([user_ratings[item] for item in sorted(user_ratings)], np.float64)
        inner = (values - schema.middle) / schema.unit_width
        with answering():
            return np.asarray(model.personal.scores(Own(items, inner)))

    def second_given_first(self, model: Model) -> Floats:
        """Of every pair, what the model tells of the second item to somebody who gave the
        first the highest rating."""
        stage = self.stage
        return np.array(
            [
                self.predictions(model, {int(stage.first[j]): HIGH})[stage.second[j]]
                for j in range(CANARIES)
            ]
        )

    def guessed(
        self, attack: str, scores: Floats, coins: NDArray[np.bool_], **extra: Any
    ) -> AttackFinding:
        """What guessing the coins by these scores shows."""
        won = guess(scores, coins, delta=self.target.delta, mistake=self.target.mistake)
        return make_finding(self.target, attack, won.epsilon, note=won.summary, **extra)

    def skip(self, attack: str, why: str) -> Skipped:
        """Say why an attack does not apply."""
        return Skipped(attack, self.target, why)


def item_numbers(model: Model) -> Floats:
    """All published numbers of each item, one line an item."""
    count = len(model.shared.catalogue)
    columns = []
    for name in sorted(model.shared.arrays):
        array = np.asarray(model.shared.arrays[name])
        if name == "path":  # one layer a round: the last is in use
            array = array[-1]
        if name == "start":  # where each item's neighbours begin
            array = np.diff(array)
        if array.ndim and array.shape[0] == count:
            columns.append(array.reshape(count, -1).astype(np.float64))
    return np.concatenate(columns, axis=1)
