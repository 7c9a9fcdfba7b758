"""The task: all that is public about one training.

A device trusts no announced noise. It builds the plan from the task with its own copy of
Tacit, derives the events and its own share from it, and compares
(`tacit.federation.agreed.assembled`).
"""

from __future__ import annotations

from functools import cached_property
from math import floor
from typing import Any, Literal

from pydantic import Field

from tacit.federation.protocol.wire import Message, digest
from tacit.rounds.options import NOISE_FROM, NoiseFrom
from tacit.units import Unit


class Task(Message):
    """Public and signed by the recommender.

    Two tasks that differ in anything are two tasks: a task is known by a digest of all its
    members, every message names it, and masks are keyed with it.
    """

    method: str
    settings: dict[str, Any] = Field(default_factory=dict)
    seed: int = 0
    unit: Unit = "user"
    calibration: Literal["sound", "paper", "none"] = "sound"
    epsilon: float | None = None
    delta: float = 1e-6
    low: float
    high: float
    people: int = Field(ge=1)
    """The declared number of people."""
    max_ratings: int | None = None
    items: dict[str, Any]
    """The public catalogue, as a model file holds it."""
    cohort: int = Field(ge=1)
    """At most this many devices in one round."""
    least: int = Field(ge=1)
    """A round with fewer is never revealed, by either server."""
    honest: float = Field(default=0.9, gt=0, le=1)
    """Of the least cohort, the fraction whose shares of the noise are taken to be honest
    and to arrive."""
    groups: int = Field(default=1, ge=1, le=1000)
    """Sums that a round is cut into, each over at least the least cohort, with noise of its
    own: one device out of range spoils one of them."""
    noise: NoiseFrom = NOISE_FROM
    """Who adds it: each server a whole one, every device a share, or both. It has no say
    where each device adds all the noise of its own answer, and in printed schemes."""
    seconds: float = Field(default=60.0, gt=0)
    """For a device to answer a round."""
    purpose: str = ""

    @cached_property
    def name(self) -> str:
        """The task is known by its content."""
        return digest(self.model_dump_json().encode())[:32]

    @property
    def enough(self) -> int:
        """Shares that suffice: what is left of the smallest cohort when the dishonest part
        of it adds nothing."""
        return max(1, floor(self.honest * self.least + 1e-9))
