"""What all factorizations have in common: three calibrations, one way to publish, and a rule for sharing the budget."""

from __future__ import annotations

from abc import abstractmethod
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.errors import SettingError
from tacit.ledger.event import Unit
from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.mf_first import first_rounds
from tacit.methods.mf_rounds import EVERYONE, Learning, learning_round, profiles
from tacit.methods.mf_twin import TwinKind, TwinSettings, twin_finish, twin_round
from tacit.model.gaussian import NOISE
from tacit.model.shared import Shared
from tacit.round import Participation, Plan, State

Floats = NDArray[np.float64]
FACTORS_FROM = 2000.0
"""People times mu: below this the noise of one person drowns all factors, so none are paid for."""


class Settings(BaseSettings):
    factors: int | None = Field(None, ge=1, le=200)
    """Factors of each item; unset, a rule of each calibration chooses."""
    epochs: int | None = Field(None, ge=1, le=1000)
    """Passes or rounds; unset, a rule of each calibration chooses."""


class FactorMethod(Method):
    """A factorization: `sound` rounds, a non-private twin, and for methods of a paper its printed form."""

    Settings: ClassVar[type[BaseSettings]] = Settings
    engines: ClassVar[tuple[str, ...]] = ("threads",)
    units: ClassVar[tuple[Unit, ...]] = ("user",)
    twin: ClassVar[TwinKind] = "als"
    most_factors: ClassVar[int] = 15
    """In `sound` calibration: people's rows grow with the square."""

    def plan(self, public: Public) -> Plan:
        if public.calibration == "none":
            return Plan(public.unit, (twin_round(public, self.twin_settings(public)),), ("Not private: no noise.",))
        if public.calibration == "paper":
            return self.paper_plan(public)
        return self.sound_plan(public)

    def twin_settings(self, public: Public) -> TwinSettings:
        given = self.settings
        assert isinstance(given, Settings)
        return TwinSettings(self.twin, given.factors, given.epochs, self.seed)

    @abstractmethod
    def sound_plan(self, public: Public) -> Plan:
        """The rounds that make the promise true."""

    def paper_plan(self, public: Public) -> Plan:
        """The printed form, where there is one."""
        raise SettingError(f"{self.name} has no printed form", remedy="use --calibration sound")

    def finish(self, public: Public, state: State) -> Shared:
        if public.calibration == "none":
            return twin_finish(self, public, self.twin_settings(public), state)
        if public.calibration == "paper":
            return self.paper_finish(public, state)
        return self.sound_finish(public, state)

    def sound_finish(self, public: Public, state: State) -> Shared:
        return publish(self, public, state)

    def paper_finish(self, public: Public, state: State) -> Shared:
        raise SettingError(f"{self.name} has no printed form", remedy="use --calibration sound")


def signal(public: Public) -> float:
    """People times mu: how far what people agree on stands out of the noise of one person. Known before any data."""
    from tacit.ledger.calibrate import gaussian_mu

    assert public.budget is not None
    people = public.schema.users or 1000
    mu = gaussian_mu(public.budget.epsilon, public.budget.delta or 1e-9)
    return people * mu


def shares(public: Public, rounds: int) -> tuple[float, tuple[float, ...]]:
    """Of the budget: to the first-order rounds, and to each round of factors. A small signal gets no factors at all."""
    a = signal(public)
    if a < FACTORS_FROM:
        return 1.0, ()
    first = float(np.clip(0.75 - 0.2 * np.log10(a / FACTORS_FROM), 0.25, 0.75))
    return first, tuple((1 - first) / rounds for _ in range(rounds))


def factor_plan(
    public: Public, steps: tuple[Learning, ...], name: str, story: str, *, takes_part: Participation = EVERYONE
) -> Plan:
    """First-order rounds, then one round for each of `steps`, unless the signal is too small for any."""
    first, rest = shares(public, len(steps))
    last = len(rest) - 1
    rounds = [
        learning_round(public, how, f"{name} {k + 1}", share, first=k == 0, last=k == last, takes_part=takes_part)
        for k, (how, share) in enumerate(zip(steps, rest, strict=False))
    ]
    told = (
        f"{100 * first:.0f} % of the budget go to the level and to the items' weights and effects.",
        story if rest else "The budget is too small for this many people: no factors are learned.",
    )
    return Plan(public.unit, (*first_rounds(public, first), *rounds), told)


def publish(method: FactorMethod, public: Public, state: State, personal: str = "gaussian") -> Shared:
    """Released arrays for the personal Gaussian model: baseline, what is unknown of it, and item profiles."""
    more: dict[str, Floats] = {}
    matrix, fixed = profiles(state)
    if "implicit" in state:
        personal, more = "factors", {"implicit": np.hstack([np.zeros((public.items, fixed)), state["implicit"]])}
    unknown = state["variance"] + state.get("unknown", np.zeros(public.items))
    arrays = {
        "baseline": np.asarray(state["baseline"], np.float32), "variance": np.asarray(unknown, np.float32),
        "loadings": np.asarray(matrix, np.float32), **{k: np.asarray(v, np.float32) for k, v in more.items()},
    }  # fmt: skip
    return Shared(
        method.name, personal, arrays, {"noise": NOISE}, public.schema, public.catalogue, method.settings.model_dump()
    )


def rule_width(public: Public, given: int | None, most: int) -> int:
    """Factors by the size of the signal, unless given."""
    if given is not None:
        return min(given, most)
    return int(np.clip(round(sqrt(signal(public) / 300)), 2, min(10, most)))
