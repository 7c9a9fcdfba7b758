"""Private acts as frozen values. The noise of a release is drawn *from its event*, so what
is charged is what is drawn.

Sensitivities and scales are in steps of the integer grid and for the unit of the plan. An
event never changes meaning: a new meaning is a new `kind`. `sampled` is the chance with
which each whole person takes part by a secret coin (1 = everyone); `times` counts identical
adaptive repetitions. Prices are in `tacit.ledger.account.account`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    """Which part of which round: `items/sums`."""
    sampled: float = Field(default=1.0, gt=0, le=1)
    times: int = Field(default=1, ge=1)
    beside: str | None = None
    """Name of an event of the same reservation that costs at least as much over *other*
    people (a slice of one partition): nobody is in both, so this one adds nothing."""
    instead: str | None = None
    """Name of an event of the same reservation that costs at least as much and whose place
    this one may take: released numbers decide which of the two is drawn, and never both
    are, so this one adds nothing."""
    steps: int = Field(default=1, ge=1)
    """Grid steps per unit of what is released: only how words are set, never what it costs."""


class Gaussian(_Event):
    """Discrete Gaussian on `draws` integers, standard deviation `sigma` steps, L2
    sensitivity `sensitivity` steps."""

    kind: Literal["gaussian"] = "gaussian"
    sensitivity: float = Field(gt=0)
    sigma: float = Field(ge=16)
    draws: int = Field(ge=1)


class Skellam(_Event):
    """Noise in shares (the difference of two Poisson laws) on `draws` integers: the honest
    shares that arrive have at least `variance` squared steps together; L2 sensitivity
    `sensitivity`, L1 sensitivity `l1`, in steps."""

    kind: Literal["skellam"] = "skellam"
    sensitivity: float = Field(gt=0)
    l1: float = Field(gt=0)
    variance: float = Field(ge=1)
    draws: int = Field(ge=1)


class Laplace(_Event):
    """Discrete Laplace, pmf ~ exp(-|k|/scale), on `draws` integers of L1 sensitivity
    `sensitivity` steps: pure."""

    kind: Literal["laplace"] = "laplace"
    sensitivity: float = Field(gt=0)
    scale: float = Field(gt=0)
    draws: int = Field(ge=1)

    @property
    def epsilon(self) -> float:
        """The pure epsilon of one release."""
        return self.sensitivity / self.scale


class KNorm(_Event):
    """pmf ~ exp(-|k|_2 / scale) on Z^dimension for each of `rows` rows, of which one unit
    moves one: pure."""

    kind: Literal["knorm"] = "knorm"
    sensitivity: float = Field(gt=0)
    scale: float = Field(gt=0)
    dimension: int = Field(ge=1, le=15)
    rows: int = Field(ge=1)

    @property
    def epsilon(self) -> float:
        """The pure epsilon of one release."""
        return self.sensitivity / self.scale


class Response(_Event):
    """Randomized response: each of `reports` one-bit reports of a person has log-ratio
    `epsilon` (local, pure)."""

    kind: Literal["response"] = "response"
    epsilon: float = Field(gt=0)
    reports: int = Field(ge=1)


class RandomizedChoice(_Event):
    """One report among `choices` answers, `favoured` of which are likelier by a factor
    e^epsilon (local, pure)."""

    kind: Literal["choice"] = "choice"
    epsilon: float = Field(gt=0)
    choices: int = Field(ge=2, le=1 << 16)
    favoured: int = Field(ge=1)

    @model_validator(mode="after")
    def _some_of_all(self) -> RandomizedChoice:
        if self.favoured >= self.choices:
            raise ValueError("a Choice event favours fewer answers than there are")
        return self


class Selection(_Event):
    """Permute-and-flip over `candidates` integer scores of sensitivity `sensitivity`: pure
    `epsilon`."""

    kind: Literal["selection"] = "selection"
    sensitivity: float = Field(gt=0)
    epsilon: float = Field(gt=0)
    candidates: int = Field(ge=2)


class Reserve(_Event):
    """An envelope for rounds whose shape is chosen from an earlier release: they compose to
    at most this much.

    Exactly one of `mu` (Gaussian rounds: the root of the sum of squared
    sensitivity-to-sigma ratios, as accounted, so with sigma^2 - 4 for sigma^2) and
    `epsilon` (pure rounds) is given. An envelope is never amplified by sampling.
    """

    kind: Literal["reserve"] = "reserve"
    mu: float | None = Field(default=None, gt=0)
    epsilon: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_of_two(self) -> Reserve:
        if (self.mu is None) == (self.epsilon is None):
            raise ValueError("a Reserve event takes exactly one of mu and epsilon")
        return self


class TuningEvent(_Event):
    """The best of a secret number of independent trials, one of `candidates` drawn for each.

    Each trial is a whole private run with its score, and is bounded by exactly one of `rho`
    (zero-concentrated privacy: its Renyi divergence at every order a is at most a rho) and
    `epsilon` (pure). The number of trials has the truncated negative binomial law with shape
    `eta` = eta[0]/eta[1] above -1 and at most 1 (1: geometric, 0: logarithmic) and `gamma` =
    gamma[0]/gamma[1] (Papernot & Steinke 2022; docs/proofs/tune.md). Only the best trial is
    released. Never amplified by sampling.
    """

    kind: Literal["tuning"] = "tuning"
    rho: float | None = Field(default=None, gt=0)
    epsilon: float | None = Field(default=None, gt=0)
    eta: tuple[int, int] = (1, 1)
    gamma: tuple[int, int]
    candidates: int = Field(ge=1)

    @model_validator(mode="after")
    def _is_a_law(self) -> TuningEvent:
        if (self.rho is None) == (self.epsilon is None):
            raise ValueError("a Tuning event takes exactly one of rho and epsilon")
        (a, b), (c, d) = self.eta, self.gamma
        if not (b > 0 and -b < a <= b and 0 < c < d):
            raise ValueError("no law has these eta and gamma")
        return self

    @property
    def shape(self) -> float:
        """eta."""
        return self.eta[0] / self.eta[1]

    @property
    def stop(self) -> float:
        """gamma."""
        return self.gamma[0] / self.gamma[1]


class Unbounded(_Event):
    """Noise as a paper prints it: a claim that no theorem here backs."""

    kind: Literal["unbounded"] = "unbounded"
    claimed_epsilon: float = Field(gt=0)
    claimed_delta: float = Field(default=0.0, ge=0)
    reason: str
    noise: Literal["laplace", "gaussian", "knorm", "response", "masked", "masked item", "none"] = (
        "none"
    )
    scale: float = Field(default=0.0, ge=0)
    """Steps: what the paper prints, drawn exactly on the grid all the same."""
    draws: int = Field(default=0, ge=0)


class EvaluationEvent(_Event):
    """Raw held-back ratings were compared with predictions, for the owner's eyes: nothing
    is published."""

    kind: Literal["evaluation"] = "evaluation"


Event = Annotated[
    Gaussian
    | Skellam
    | Laplace
    | KNorm
    | Response
    | RandomizedChoice
    | Selection
    | Reserve
    | TuningEvent
    | Unbounded
    | EvaluationEvent,
    Field(discriminator="kind"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
EVENTS: TypeAdapter[tuple[Event, ...]] = TypeAdapter(tuple[Event, ...])
