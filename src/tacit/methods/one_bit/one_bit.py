"""Local differential privacy with one bit a round (Shin, Kim, Shin & Xiao 2018): three ways
to answer for oneself."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tacit.methods.base import BaseSettings, Method, Public
from tacit.methods.one_bit.carrier import Carrier
from tacit.methods.one_bit.printed import descent_plan, descent_shared
from tacit.methods.one_bit.rounds import effects_plan, effects_shared
from tacit.methods.refine.reports import best_report
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.state import State


class OneBitSettings(BaseSettings):
    form: Literal["effects", "descent"] | None = None
    """What the devices' answers are about: `effects` (the default but in `paper`) or the
    printed `descent`."""
    rank: int = Field(15, ge=1, le=200)
    """Factors of the descent."""
    rounds: int = Field(10, ge=1, le=1000)
    """Rounds k of the descent. `paper` runs one more, as printed."""
    each: int | None = Field(None, ge=1)
    """In how many rounds of the descent each person takes part: all in `paper`, else one
    with the whole budget."""
    correction: Literal["one", "k", "k2"] = "k2"
    """The correction factor f_k of the descent: 1, k or k squared, as printed."""
    rate: float = Field(1.0, gt=0)
    """Learning rate of the items at step 1; it falls like 1/t."""
    own_rate: float = Field(0.1, gt=0)
    """Learning rate of a person's own factors at step 1."""
    ridge: float = Field(1e-8, ge=0)
    """Both regularizations, as printed."""


class OneBitMF(Method):
    """One bit a person (`effects`), or Algorithm 1 (`descent`): the drawn coordinate of the
    gradient, as one bit."""

    name = "one-bit"
    source = "Shin, Kim, Shin & Xiao 2018, Algorithm 1"
    units = ("user",)
    calibrations = ("sound", "paper", "none")
    engines = ("simulate", "local", "federated")
    paper_unit = "user"
    local = True
    Settings: ClassVar[type[BaseSettings]] = OneBitSettings
    way: ClassVar[Literal["naive", "coordinate", "projected"]] = "coordinate"

    def plan(self, public: Public) -> Plan:
        settings = self.settings
        assert isinstance(settings, OneBitSettings)
        if self._descends(settings):
            return descent_plan(public, settings, self.way, self.seed)
        return effects_plan(public, self._carrier(public))

    def finish(self, public: Public, state: State) -> Shared:
        settings = self.settings
        assert isinstance(settings, OneBitSettings)
        if self._descends(settings):
            return descent_shared(self.name, public, state, settings, self.seed)
        return effects_shared(self.name, public, state, settings.model_dump())

    def _descends(self, settings: OneBitSettings) -> bool:
        return (
            settings.form or ("descent" if self.calibration == "paper" else "effects")
        ) == "descent"

    def _carrier(self, public: Public) -> Carrier:
        if public.budget is None or self.way == "naive":
            return Carrier(
                None,
                self.seed,
                pure=public.budget is not None and public.budget.delta == 0,
            )
        return Carrier(best_report(public.budget.epsilon, self._bits()), self.seed)

    def _bits(self) -> int:
        return 1


class ProjectedSettings(OneBitSettings):
    bits: int = Field(7, ge=1, le=7)
    """The most bits of an answer: which of 2^bits directions is nearest. Fewer are used
    where they do as well."""
    projection: int = Field(2700, ge=1)
    """Rows q of the projection of the descent (at most the number of items)."""
    entries: Literal["gaussian", "sign"] = "gaussian"
    """Entries of that projection."""
    recover: Literal["gradient", "ratings"] = "gradient"
    """What is recovered from the projection: the gradient, by the pseudo-inverse (Algorithm
    2), or each person's own ratings, by descent on the projected factors and an l1 problem
    on the device (equations 9 and 10)."""


class ProjectedOneBitMF(OneBitMF):
    """The nearest of a few random projections, told by a randomized choice (`effects`), or
    Algorithm 2 (`descent`)."""

    name = "one-bit-projected"
    source = "Shin, Kim, Shin & Xiao 2018, Algorithm 2"
    Settings: ClassVar[type[BaseSettings]] = ProjectedSettings
    way = "projected"

    def _bits(self) -> int:
        settings = self.settings
        assert isinstance(settings, ProjectedSettings)
        return settings.bits


class NaiveLocalMF(OneBitMF):
    """Every number of a person's vector with noise of its own (section 4.1 of the paper):
    what one bit is to beat."""

    name = "one-bit-naive"
    source = "Shin, Kim, Shin & Xiao 2018, section 4.1"
    way = "naive"
