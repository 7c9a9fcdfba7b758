"""McSherry & Mironov as printed: claimed, not certified. Unit `rating`; constants of a
scale of 1 to 5.

Measured in turn, each with noise of its printed sensitivity over theta_i: sum and count of
all ratings; sums and counts of each item; the average of what item averages leave;
covariance and weights of user-centred, clamped ratings. What breaks the claim
(docs/proofs/covariance.md): ratings can be 8 apart once item averages are taken off, where
the constants for Laplace noise assume 4; every measurement is a pair, and the global
average is taken twice, but each is charged once; and shrinkage and ridge are fitted by
descent on the raw error of a probe set, which is charged nothing.

Read into the paper where it is silent: a divisor of a noisy count is at least one; a
person's level is solved together with the person's factors; the probe set is Netflix's (9
latest ratings, each with chance 1/3).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, CentredCells, CountedGram, Rows
from tacit.errors import SettingError
from tacit.methods.base import Form, Public
from tacit.methods.item_item.covariance import CovarianceSettings
from tacit.methods.item_item.matrix import Arrays, precise, published
from tacit.methods.item_item.printed.probe import (
    START,
    fit_parameters,
    printed_loadings,
    split_probe,
)
from tacit.methods.item_item.rows import CLAMP, FICTITIOUS, FINE
from tacit.methods.item_item.state import PrintedState
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Claim, Epoch
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

Law = Literal["laplace", "gaussian"]
SPLIT = {"global": 0.02, "items": 0.19, "covariance": 0.79}
"""Of theta, over the three measurements."""
ITEM_PRIOR = 15.0
"""beta_m: fictitious ratings in an item's average."""
ALPHA = 4.0
"""The paper's largest difference between a rating and its person's mean; 8 is possible."""
RATING_MAX = 5.0
NEIGHBOURS = 20
"""Own ratings that a neighbourhood uses."""
MIDDLE = 3.0
"""Of a scale of 1 to 5, in which the constants are."""
WIDE = 16.0
"""Where the grid of centred ratings ends; printed without an end."""
UNCHARGED = 1e-12
"""Stands for the epsilon of what the paper charges nothing for."""
TWICE = (
    "each measurement is a pair of releases and the global average is measured twice, "
    "but all are charged once"
)
SPAN = (
    "ratings less item averages span up to 8 and the noise is for 4; two matrices are "
    "charged as one"
)
PROBE = (
    "shrinkage and ridge are fitted on the raw error of held-back ratings, for which "
    "the paper charges nothing"
)
FITTED = (
    "Shrinkage and ridge are fitted by descent on the raw probe error, uncharged, as the "
    "paper does."
)
CONSTANTS = {
    "laplace": {"covariance": 2 * ALPHA * CLAMP + 3 * CLAMP**2, "weights": 3.0},
    "gaussian": {
        "covariance": (1 + 2 * sqrt(2)) * CLAMP**2,
        "weights": sqrt(2),
    },
}
"""The printed sensitivities of both matrices."""


class PrintedFactor(Form):
    """The printed plan, and the rank-k factor that its clients download."""

    settings: CovarianceSettings
    personal: ClassVar[str] = "gaussian"
    """The personal model that uses the arrays."""
    neighbours: ClassVar[int] = 0
    """Own ratings that a prediction uses; 0 for all."""

    def plan(self, public: Public) -> Plan:
        """Averages, both matrices, and the descent on the probe error."""
        return self._printed(public).plan()

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return PrintedState()

    def finish(self, public: Public, state: PrintedState) -> Shared:
        """What clients download: averages, the rank-k factor and, for neighbours, the
        weights that choose them."""
        arrays: dict[str, NDArray[np.float64]] = {
            "baseline": state.item + state.again - MIDDLE,
            "variance": np.zeros(public.items),
            "loadings": printed_loadings(state, state.parameters, self._cleans),
            "weight": np.maximum(state.count, 0.0),
        }
        if self.neighbours:
            arrays["similarity"] = state.weights
        small: Arrays = {
            n: np.asarray(a, np.float32) for n, a in arrays.items()
        }
        noise = float(state.parameters[2])
        numbers = {"noise": noise, "neighbours": float(NEIGHBOURS)}
        return published(self.method, public, self.personal, small, numbers)

    @property
    def _cleans(self) -> bool:
        return self.settings.cleaning != "none"

    def _printed(self, public: Public) -> PrintedCovariance:
        return PrintedCovariance(
            public,
            theta=self.settings.theta,
            noise=self.settings.noise,
            clean=self._cleans,
            seed=self.method.seed,
            neighbours=self.neighbours,
        )


class PrintedNeighbours(PrintedFactor):
    """The same measurements, for neighbourhoods that the released weights choose."""

    personal: ClassVar[str] = "weighted-neighbours"
    neighbours: ClassVar[int] = NEIGHBOURS


def claimed_epsilon(theta: float, noise: str, delta: float) -> float:
    """The paper's sum over its three measurements, delta shared evenly."""
    if noise == "laplace":
        return theta
    return theta * sqrt(2 * log(2 * len(SPLIT) / delta))


class PrintedCovariance:
    """The rounds of the printed algorithm."""

    def __init__(
        self,
        public: Public,
        *,
        theta: float | None,
        noise: Law,
        clean: bool,
        neighbours: int,
        seed: int,
    ) -> None:
        assert public.budget is not None
        self.public = public
        self.items = public.items
        self.clean = clean
        self.neighbours = neighbours
        self.seed = seed
        self.noise = noise
        self.delta = 0.0 if noise == "laplace" else public.budget.delta
        if noise == "gaussian" and self.delta == 0:
            raise SettingError(
                "Gaussian noise has no claim at delta 0",
                remedy="give a delta, or --set noise=laplace",
            )
        one = claimed_epsilon(1.0, noise, self.delta)
        self.theta = theta or public.budget.epsilon / one
        self.epsilon = claimed_epsilon(self.theta, noise, self.delta)
        if self.epsilon > public.budget.epsilon * (1 + 1e-9):
            raise SettingError(
                f"theta {self.theta:g} claims epsilon {self.epsilon:.3g}, above the "
                f"{public.budget.epsilon:g} given",
                remedy=f"give --epsilon {np.ceil(1000 * self.epsilon) / 1000:g}, or leave "
                "theta out",
            )

    def plan(self) -> Plan:
        """All rounds, in the paper's order."""
        story = (
            f"As printed: theta = {self.theta:.4g} with {self.noise} noise {self._curve}.",
            "Theta is split .02 (global average), .19 (item averages), .79 (covariance).",
            FITTED,
        )
        rounds = (
            self.totals(),
            self.averages(),
            self.again(),
            self.matrices(),
            self.fit(),
        )
        return Plan(self.public.unit, rounds, story)

    @property
    def _curve(self) -> str:
        """What is claimed at which delta."""
        if self.noise == "laplace":
            return f"claims epsilon {self.theta:.4g} at delta 0"
        points = (
            f"{claimed_epsilon(self.theta, 'gaussian', d):.3g} at {d:g}"
            for d in (1e-3, 1e-6, 1e-9, 1e-12)
        )
        return f"claims epsilon {', '.join(points)}"

    def totals(self) -> Round:
        """Sum and count of all ratings."""

        def contribute(block: Block, state: PrintedState) -> Mapping[str, Rows]:
            used = self._used(block)
            return _sums(used, np.zeros(len(used.item), np.uint32), used.value)

        def absorb(
            state: PrintedState, released: Mapping[str, Released]
        ) -> PrintedState:
            return state.after(average=float(_mean(released, 0.0, 0.0)[0]))

        parts = self._pair("global", 1, RATING_MAX, 4)
        return Round("global", parts, contribute, absorb)

    def averages(self) -> Round:
        """Sums and counts of each item, shrunk to the global average."""

        def contribute(block: Block, state: PrintedState) -> Mapping[str, Rows]:
            used = self._used(block)
            return _sums(used, used.item, used.value)

        def absorb(
            state: PrintedState, released: Mapping[str, Released]
        ) -> PrintedState:
            made = _mean(released, ITEM_PRIOR, state.average)
            return state.after(item=made, count=released["count"].value[:, 0])

        parts = self._pair("items", self.items, RATING_MAX, 2)
        return Round("items", parts, contribute, absorb)

    def again(self) -> Round:
        """The average of what item averages leave."""

        def contribute(block: Block, state: PrintedState) -> Mapping[str, Rows]:
            used = self._used(block)
            rest = used.value - state.item[used.item]
            return _sums(used, np.zeros(len(used.item), np.uint32), rest)

        def absorb(
            state: PrintedState, released: Mapping[str, Released]
        ) -> PrintedState:
            return state.after(again=float(_mean(released, 0.0, 0.0)[0]))

        return Round(
            "recentred", self._pair("global", 1, ALPHA, 4), contribute, absorb
        )

    def matrices(self) -> Round:
        """Covariance and weights of user-centred, clamped ratings."""

        def contribute(block: Block, state: PrintedState) -> Mapping[str, Rows]:
            used = self._used(block)
            rest = used.value - state.item[used.item] - state.again
            return {
                "covariance": Rows(used.ptr, used.item, rest[:, None]),
                "weights": Rows(used.ptr, used.item, np.ones((len(rest), 1))),
            }

        def absorb(
            state: PrintedState, released: Mapping[str, Released]
        ) -> PrintedState:
            return state.after(
                covariance=precise(released["covariance"].value),
                weights=precise(released["weights"].value),
            )

        cells = CentredCells(self.items, WIDE, FICTITIOUS, CLAMP, FINE)
        parts = (
            self._matrix("covariance", cells),
            self._matrix("weights", CellClip(1.0, FINE)),
        )
        return Round("covariance", parts, contribute, absorb)

    def fit(self) -> Round:
        """Shrinkage and ridge by descent on the probe error: raw, so it is booked with a
        reason and no noise."""

        def contribute(block: Block, state: PrintedState) -> Mapping[str, Rows]:
            kept, probe = split_probe(block, self.seed)
            found = fit_parameters(
                state, kept, probe, clean=self.clean, neighbours=self.neighbours
            )
            whole = np.array([0, len(found)])
            index = np.arange(len(found), dtype=np.uint32)
            return {"parameters": Rows(whole, index, found[:, None])}

        def absorb(
            state: PrintedState, released: Mapping[str, Released]
        ) -> PrintedState:
            return state.after(parameters=released["parameters"].value[:, 0])

        claim = Claim("none", 0.0, UNCHARGED, 0.0, PROBE)
        part = Part(
            "parameters", len(START), CellClip(1.0), printed=Epoch(claim=claim)
        )
        return Round("probe", (part,), contribute, absorb)

    def _used(self, block: Block) -> Block:
        """The ratings outside the probe set, on the scale of 1 to 5."""
        kept, _ = split_probe(block, self.seed)
        return Block(kept.people, kept.ptr, kept.item, kept.value + MIDDLE)

    def _pair(
        self, measurement: str, size: int, top: float, parts: int
    ) -> tuple[Part, Part]:
        """A sum and its count."""
        apart = size > 1
        total = self._claim(measurement, top, TWICE, parts)
        count = self._claim(measurement, 1.0, TWICE, parts)
        return (
            Part("sum", size, CellClip(top, apart=apart), printed=total),
            Part("count", size, CellClip(1.0, apart=apart), printed=count),
        )

    def _matrix(self, name: str, cells: CentredCells | CellClip) -> Part:
        power = 1.0 if self.noise == "laplace" else 0.5
        bound = CountedGram(self.items, cells, power=power)
        claim = self._claim("covariance", CONSTANTS[self.noise][name], SPAN, 2)
        return Part(name, self.items, bound, form="gram", printed=claim)

    def _claim(
        self, measurement: str, sensitivity: float, reason: str, parts: int
    ) -> Claim:
        theta = SPLIT[measurement] * self.theta
        epsilon = claimed_epsilon(theta, self.noise, self.delta) / parts
        delta = self.delta / len(SPLIT) / parts
        return Claim(self.noise, sensitivity / theta, epsilon, delta, reason)


def _sums(
    used: Block, index: NDArray[np.uint32], values: NDArray[np.float64]
) -> dict[str, Rows]:
    return {
        "sum": Rows(used.ptr, index, values[:, None]),
        "count": Rows(used.ptr, index, np.ones((len(values), 1))),
    }


def _mean(
    released: Mapping[str, Released], prior: float, middle: float
) -> NDArray[np.float64]:
    count = np.maximum(released["count"].value[:, 0] + prior, 1.0)
    return np.asarray((released["sum"].value[:, 0] + prior * middle) / count)
