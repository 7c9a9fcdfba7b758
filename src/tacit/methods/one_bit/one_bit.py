"""Local differential privacy with one bit a round (Shin, Kim, Shin & Xiao 2018): three ways
to answer for oneself.

What the answers are about is one of two forms. `effects` (in `plan` and `rounds`): every
device answers once, with its whole budget. `descent` (in `printed`): gradient steps on the
item factors, as the paper prints them. How a vector becomes an answer is in `carrier`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, cast

from pydantic import Field

from tacit.methods.base import BaseSettings, Form, Method, Public
from tacit.methods.first_order.rule import is_pure
from tacit.methods.one_bit.carrier import Carrier
from tacit.methods.refine.reports import best_report
from tacit.rounds.options import Calibration

Way = Literal["naive", "coordinate", "projected"]
"""What is sent: the whole vector with noise, one coordinate, or one of a few directions."""
ITEM_BIASES = "tacit.methods.one_bit.plan:ItemBiasForm"
DESCENT = "tacit.papers.shin2018.printed.descent:OneBitDescentForm"
FORMED: Mapping[str, Calibration] = {"effects": "sound", "descent": "paper"}
"""The calibration whose own form it is; under another one it may be asked for."""


class OneBitSettings(BaseSettings):
    """What all three can be told."""

    form: Literal["effects", "descent"] | None = None
    """What the devices' answers are about: `effects` (the default but in `paper`) or the
    printed `descent`."""
    rank: int = Field(15, ge=1, le=200)
    """Factors of the descent."""
    rounds: int = Field(10, ge=1, le=1000)
    """Rounds k of the descent. `paper` runs one more, as printed."""
    loop: Literal["k+1", "k"] = "k+1"
    """Rounds of `paper`: its loops print `while iter <= k` from 0, which is k + 1; its text
    says k."""
    each: int | None = Field(None, ge=1)
    """In how many rounds of the descent each person takes part: one with the whole budget
    unless said. In `paper` all, so it may not be said there."""
    correction: Literal["one", "k", "k2"] = "k2"
    """The correction factor f_k of the descent: 1, k or k squared, as printed."""
    rate: float = Field(1.0, gt=0)
    """Learning rate gamma_1 of the items; gamma_t = gamma_1/t. The paper prints O(1/t)."""
    own_rate: float = Field(0.1, gt=0)
    """The same of a person's own factors. The paper has one rate for both."""
    own_mean: Literal["own", "people"] = "own"
    """What divides a person's own gradient (equation 4, where M is not known): the number of
    her ratings, or n, the number of people, by which the paper replaces M."""
    ridge: float = Field(1e-8, ge=0)
    """Both regularizations, as printed."""


class ProjectedSettings(OneBitSettings):
    """What the projected one can be told besides."""

    bits: int = Field(7, ge=1, le=7)
    """The most bits of an answer: which of 2^bits directions is nearest. Fewer are used
    where they do as well."""
    projection: int | None = Field(None, ge=1)
    """Rows q of the projection of the descent (at most the number of items); unset, a share
    of the items."""
    share: float = Field(0.1, gt=0, le=1)
    """q as a share of the items, where `projection` does not say it: the paper's q of 2,700
    is a tenth of its 26,744 items."""
    entries: Literal["gaussian", "sign"] = "gaussian"
    """Entries of that projection."""
    recover: Literal["gradient", "ratings"] = "gradient"
    """What is recovered from the projection: the gradient, by the pseudo-inverse (Algorithm
    2), or each person's own ratings, by descent on the projected factors and an l1 problem
    on the device (equations 9 and 10)."""


class NaiveSettings(OneBitSettings):
    """What the simple solution can be told besides."""

    protects: Literal["entire", "single"] = "entire"
    """`paper`: all items and ratings of a person (p and sigma divided among the m items), or
    one item alone."""


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
    forms: ClassVar[Mapping[Calibration, type[Form] | str]] = {
        "sound": ITEM_BIASES,
        "none": ITEM_BIASES,
        "paper": DESCENT,
    }
    Settings: ClassVar[type[BaseSettings]] = OneBitSettings
    way: ClassVar[Way] = "coordinate"

    def form(self, calibration: Calibration) -> Form:
        """The form that was asked for, or else the calibration's own."""
        chosen_form = cast("OneBitSettings", self.settings).form
        return super().form(calibration if chosen_form is None else FORMED[chosen_form])

    @property
    def most_bits(self) -> int:
        """The most bits of an answer."""
        return 1

    def carrier(self, public: Public) -> Carrier:
        """How a device's vector is told: by an answer, or whole where that is the point."""
        if public.budget is None or self.way == "naive":
            return Carrier(None, self.seed, pure=is_pure(public.budget))
        return Carrier(best_report(public.budget.epsilon, self.most_bits), self.seed)


class ProjectedOneBitMF(OneBitMF):
    """The nearest of a few random projections, told by a randomized choice (`effects`), or
    Algorithm 2 (`descent`)."""

    name = "one-bit-projected"
    source = "Shin, Kim, Shin & Xiao 2018, Algorithm 2"
    Settings: ClassVar[type[BaseSettings]] = ProjectedSettings
    way = "projected"

    @property
    def most_bits(self) -> int:
        """As many as were asked for."""
        return cast("ProjectedSettings", self.settings).bits


class NaiveLocalMF(OneBitMF):
    """Every number of a person's vector with noise of its own (section 4.1 of the paper):
    what one bit is to beat."""

    name = "one-bit-naive"
    source = "Shin, Kim, Shin & Xiao 2018, section 4.1"
    Settings: ClassVar[type[BaseSettings]] = NaiveSettings
    way = "naive"
