"""Local differential privacy with one bit a round (Shin, Kim, Shin & Xiao 2018): three ways
to answer for oneself.

What the answers are about is one of two forms. `effects` (in `plan` and `rounds`): every
device answers once, with its whole budget. `descent` (in `printed`): gradient steps on the
item factors, as the paper prints them. How a vector becomes an answer is in `carrier`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Rows
from tacit.bound.report import Replaced, Report
from tacit.methods.base import BaseSettings, Form, Method, Public
from tacit.methods.first_order.rounds import is_pure, person_rows
from tacit.methods.refine import reports
from tacit.methods.refine.reports import best_report
from tacit.rounds.options import Calibration
from tacit.rounds.people import Participation, Slice
from tacit.rounds.round import AnyState, Block, Kind, Part, Released, Round

Way = Literal["naive", "coordinate", "projected"]
"""What is sent: the whole vector with noise, one coordinate, or one of a few directions."""
ITEM_BIASES = "tacit.methods.one_bit.plan:ItemBiasForm"
DESCENT = "tacit.papers.shin2018.printed.descent:OneBitDescentForm"
FORMED: Mapping[str, Calibration] = {"effects": "sound", "descent": "paper"}
"""The calibration whose own form it is; under another one it may be asked for."""
Vectors = Callable[[Block, AnyState], Rows]
"""One sparse vector a person, of norm 1; what is missing to 1 is put on the last coordinate."""
Absorb = Callable[[AnyState, NDArray[np.float64], float, int], AnyState]
"""From the estimated sum of the vectors, its standard deviation per coordinate, and the
number of people in it."""


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


# How a device's unit vector reaches the server in the local model: three carriers of one message.
#
# | carrier | sends | squared gain at epsilon 1 / 4 / 8 |
# |---|---|---|
# | one bit | the sign of one random direction, by randomized response | .14 / .59 / .64 |
# | few bits | which of 2^b random directions is nearest, by a randomized choice | .14 / 2.2 / 6.2 |
# | noise | all of the vector, with noise on every number (delta 1e-6) | .01 / .18 / .59 |
#
# n people tell the sum of their vectors with variance n / gain^2 on every coordinate, so each
# line is worth its squared gain in people. A plan says who carries what; this file turns a
# vector into a round and a round's release into a sum.


@dataclass(frozen=True)
class Carrier:
    """`report` None sends the whole vector with noise (`pure`: Laplace), or exactly where
    there is no noise."""

    report: reports.ReportShape | None
    key: int
    """Public: the seed of all directions."""
    pure: bool = False

    def round(
        self, name: str, size: int, takes_part: Participation, vectors: Vectors, absorb: Absorb
    ) -> Round:
        """A round that carries vectors of `size` coordinates and one more for what is
        missing to norm 1."""
        if self.report is None:
            return self._vector_round(name, size, takes_part, vectors, absorb)
        report = self.report
        key = _key(self.key, name)
        part = Part(
            "report",
            size + 1,
            Report(),
            kind=Kind.REPORT,
            choices=report.choices,
            favoured=report.favoured,
        )

        def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
            from tacit.kernels.directions import favour

            rows = vectors(block, state)
            index = np.asarray(rows.index, np.uint32)
            value = np.ascontiguousarray(rows.values[:, 0])
            answers = np.empty((len(block.people), report.favoured))
            favour(block.people, rows.ptr, index, value, key, report.pairs, answers)
            return {"report": person_rows(answers)}

        def take(state: AnyState, released: Mapping[str, Released]) -> AnyState:
            got = released["report"]
            total = directions(got.value, key, size + 1)[:size] / report.gain
            sd = float(np.sqrt(max(got.reports, 1))) / report.gain
            return absorb(state, total, sd, got.reports)

        return Round(name, (part,), contribute, take, takes_part)

    def _vector_round(
        self, name: str, size: int, takes_part: Participation, vectors: Vectors, absorb: Absorb
    ) -> Round:
        def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
            rows = vectors(block, state)
            if not self.pure:
                return {"report": rows}
            counts = np.diff(rows.ptr)
            # An L1 norm of at most 1.
            length = np.repeat(np.sqrt(np.maximum(counts, 1)), counts)
            return {"report": Rows(rows.ptr, rows.index, rows.values / length[:, None])}

        def take(state: AnyState, released: Mapping[str, Released]) -> AnyState:
            got = released["report"]
            return absorb(state, got.value[:size, 0], got.sd, got.reports)

        # Everybody in every round: without noise only.
        share = 1.0 if isinstance(takes_part, Slice) else 0.25
        bound = Replaced(1.0, "l1" if self.pure else "l2")
        part = Part("report", size + 1, bound, share=share)
        return Round(name, (part,), contribute, take, takes_part)


def directions(reports: NDArray[np.float64], key: np.uint64, size: int) -> NDArray[np.float64]:
    """The sum of the directions that were reported: (person, answer) lines."""
    from tacit.kernels.directions import tally

    total = np.zeros(size, np.int64)
    tally(reports[:, 0].astype(np.int64), reports[:, 1].astype(np.int64), key, total)
    return total.astype(np.float64)


def _key(seed: int, name: str) -> np.uint64:
    """A public key for each round of each plan."""
    rng = np.random.default_rng([seed, *name.encode()])
    return np.uint64(rng.integers(1 << 63))


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


def padded(
    ptr: NDArray[np.int64], index: NDArray[np.integer], values: NDArray[np.float64], size: int
) -> Rows:
    """Rows scaled to norm at most 1 with one more cell each, at coordinate `size`, that
    brings the norm to 1."""
    people = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    norm = np.sqrt(np.bincount(people, values**2, len(ptr) - 1))
    scaled = values / np.maximum(norm, 1.0)[people]
    complement = np.sqrt(np.maximum(0.0, 1.0 - np.minimum(norm, 1.0) ** 2))
    ends = ptr[1:]
    return Rows(
        ptr + np.arange(len(ptr)),
        np.insert(np.asarray(index, np.uint32), ends, np.uint32(size)),
        np.insert(scaled, ends, complement)[:, None],
    )
