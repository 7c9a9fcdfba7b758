"""McSherry & Mironov as printed: claimed, not certified. Unit `rating`; constants of a
scale of 1 to 5.

Measured in turn, each with noise of its printed sensitivity over theta_i: sum and count of
all ratings; sums and counts of each item; the average of what item averages leave;
covariance and weights of user-centred, clamped ratings. What breaks the claim (MECHANISMS
6.3): ratings can be 8 apart once item averages are taken off, where the constants for
Laplace noise assume 4; every measurement is a pair, and the global average is taken twice,
but each is charged once; and shrinkage and ridge are fitted by descent on the raw error of
a probe set, which is charged nothing.

Read into the paper where it is silent: a divisor of a noisy count is at least one; a
person's level is solved together with the person's factors; the probe set is Netflix's (9
latest ratings, each with chance 1/3).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, CentredCells, CountedGram, Rows
from tacit.errors import SettingError
from tacit.methods.base import Public
from tacit.methods.item_item.matrix import CLAMP, FICTITIOUS, FINE, precise
from tacit.methods.item_item.printed.probe import (
    START,
    fit_parameters,
    printed_loadings,
    split_probe,
)
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Claim, Epoch
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

Law = Literal["laplace", "gaussian"]
SPLIT = {"global": 0.02, "items": 0.19, "covariance": 0.79}
ITEM_PRIOR = 15.0
"""beta_m: fictitious ratings in an item's average."""
ALPHA = 4.0
"""The paper's largest difference between a rating and its person's mean; 8 is possible."""
RATING_MAX = 5.0
NEIGHBOURS = 20.0
MIDDLE = 3.0
"""Of a scale of 1 to 5, in which the constants are."""
WIDE = 16.0
"""Where the grid of centred ratings ends; printed without an end."""
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
CONSTANTS = {
    "laplace": {"covariance": 2 * ALPHA * CLAMP + 3 * CLAMP**2, "weights": 3.0},
    "gaussian": {"covariance": (1 + 2 * sqrt(2)) * CLAMP**2, "weights": sqrt(2)},
}


def claimed_epsilon(theta: float, noise: str, delta: float) -> float:
    """The paper's sum over its three measurements, delta shared evenly."""
    return (
        theta if noise == "laplace" else theta * sqrt(2 * log(2 * len(SPLIT) / delta))
    )


class Printed:
    """The rounds of the printed algorithm, and the arrays that its clients download."""

    def __init__(
        self,
        public: Public,
        *,
        theta: float | None,
        noise: Law,
        clean: bool,
        neighbours: bool,
        seed: int,
    ) -> None:
        assert public.budget is not None
        self.public = public
        self.items = public.items
        self.clean = clean
        self.neighbours = neighbours
        self.seed = seed
        self.noise, self.delta = (
            noise,
            0.0 if noise == "laplace" else public.budget.delta,
        )
        if noise == "gaussian" and self.delta == 0:
            raise SettingError(
                "Gaussian noise has no claim at delta 0",
                remedy="give a delta, or --set noise=laplace",
            )
        self.theta = theta or public.budget.epsilon / claimed_epsilon(
            1.0, noise, self.delta
        )
        self.epsilon = claimed_epsilon(self.theta, noise, self.delta)
        if self.epsilon > public.budget.epsilon * (1 + 1e-9):
            raise SettingError(
                f"theta {self.theta:g} claims epsilon {self.epsilon:.3g}, above the "
                f"{public.budget.epsilon:g} given",
                remedy=f"give --epsilon {np.ceil(1000 * self.epsilon) / 1000:g}, or leave "
                "theta out",
            )

    def plan(self) -> Plan:
        if self.noise == "laplace":
            curve = f"claims epsilon {self.theta:.4g} at delta 0"
        else:
            points = (
                f"{claimed_epsilon(self.theta, 'gaussian', d):.3g} at {d:g}"
                for d in (1e-3, 1e-6, 1e-9, 1e-12)
            )
            curve = f"claims epsilon {', '.join(points)}"
        story = (
            f"As printed: theta = {self.theta:.4g} with {self.noise} noise {curve}.",
            "Theta is split .02 (global average), .19 (item averages), .79 (covariance).",
            (
                "Shrinkage and ridge are fitted by descent on the raw probe error, uncharged, "
                "as the paper does."
            ),
        )
        return Plan(
            self.public.unit,
            (self.totals(), self.averages(), self.again(), self.matrices(), self.fit()),
            story,
        )

    def _claim(
        self, measurement: str, sensitivity: float, reason: str, parts: int
    ) -> Claim:
        theta = SPLIT[measurement] * self.theta
        epsilon = claimed_epsilon(theta, self.noise, self.delta) / parts
        return Claim(
            self.noise,
            sensitivity / theta,
            epsilon,
            self.delta / len(SPLIT) / parts,
            reason,
        )

    def _used(self, block: Block) -> Block:
        """The ratings outside the probe set, on the scale of 1 to 5."""
        kept, _ = split_probe(block, self.seed)
        return Block(kept.people, kept.ptr, kept.item, kept.value + MIDDLE)

    def _pair(
        self, measurement: str, size: int, top: float, parts: int
    ) -> tuple[Part, Part]:
        apart = size > 1
        return (
            Part(
                "sum",
                size,
                CellClip(top, apart=apart),
                printed=self._claim(measurement, top, TWICE, parts),
            ),
            Part(
                "count",
                size,
                CellClip(1.0, apart=apart),
                printed=self._claim(measurement, 1.0, TWICE, parts),
            ),
        )

    def totals(self) -> Round:
        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            return _sums(
                used := self._used(block),
                np.zeros(len(used.item), np.uint32),
                used.value,
            )

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            return {**state, "average": np.array([_mean(released, 0.0, 0.0)[0]])}

        return Round(
            "global", self._pair("global", 1, RATING_MAX, 4), contribute, absorb
        )

    def averages(self) -> Round:
        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            return _sums(used := self._used(block), used.item, used.value)

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            made = _mean(released, ITEM_PRIOR, float(state["average"][0]))
            return {**state, "item": made, "count": released["count"].value[:, 0]}

        return Round(
            "items", self._pair("items", self.items, RATING_MAX, 2), contribute, absorb
        )

    def again(self) -> Round:
        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            used = self._used(block)
            return _sums(
                used,
                np.zeros(len(used.item), np.uint32),
                used.value - state["item"][used.item],
            )

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            return {**state, "again": np.array([_mean(released, 0.0, 0.0)[0]])}

        return Round("recentred", self._pair("global", 1, ALPHA, 4), contribute, absorb)

    def matrices(self) -> Round:
        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            used = self._used(block)
            rest = used.value - state["item"][used.item] - state["again"][0]
            return {
                "covariance": Rows(used.ptr, used.item, rest[:, None]),
                "weights": Rows(used.ptr, used.item, np.ones((len(rest), 1))),
            }

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            return {
                **state,
                **{name: precise(made.value) for name, made in released.items()},
            }

        power = 1.0 if self.noise == "laplace" else 0.5
        cells = CentredCells(self.items, WIDE, FICTITIOUS, CLAMP, FINE)
        bounds: dict[str, CentredCells | CellClip] = {
            "covariance": cells,
            "weights": CellClip(1.0, FINE),
        }
        parts = tuple(
            Part(
                name,
                self.items,
                CountedGram(self.items, bound, power=power),
                form="gram",
                printed=self._claim("covariance", CONSTANTS[self.noise][name], SPAN, 2),
            )
            for name, bound in bounds.items()
        )
        return Round("covariance", parts, contribute, absorb)

    def fit(self) -> Round:
        """Shrinkage and ridge by descent on the probe error: raw, so it is booked with a
        reason and no noise."""

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            kept, probe = split_probe(block, self.seed)
            found = fit_parameters(
                state,
                kept,
                probe,
                clean=self.clean,
                neighbours=NEIGHBOURS if self.neighbours else 0,
            )
            return {
                "parameters": Rows(
                    np.array([0, len(found)]),
                    np.arange(len(found), dtype=np.uint32),
                    found[:, None],
                )
            }

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            return {**state, "parameters": released["parameters"].value[:, 0]}

        claim = Claim("none", 0.0, 1e-12, 0.0, PROBE)
        part = Part("parameters", len(START), CellClip(1.0), printed=Epoch(claim=claim))
        return Round("probe", (part,), contribute, absorb)

    def arrays(
        self, state: State
    ) -> tuple[dict[str, NDArray[np.float64]], dict[str, float]]:
        """What clients download: averages, the rank-k factor and, for neighbours, the
        weights that choose them."""
        found = np.asarray(state["parameters"])
        made = {
            "baseline": state["item"] + state["again"][0] - MIDDLE,
            "variance": np.zeros(self.items),
            "loadings": printed_loadings(state, found, self.clean),
            "weight": np.maximum(state["count"], 0.0),
        }
        if self.neighbours:
            made["similarity"] = state["weights"]
        return made, {"noise": float(found[2]), "neighbours": NEIGHBOURS}


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
