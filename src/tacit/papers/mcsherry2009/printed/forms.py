"""McSherry & Mironov as printed: claimed, not certified. Units `rating` and (section 4.5)
`user`; constants of a scale of 1 to 5.

Measured in turn, each with noise of its printed sensitivity over theta_i: sum and count of
all ratings; sums and counts of each item; the average of what item averages leave;
covariance and weights of user-centred, clamped ratings. Real numbers throughout, as
printed: tests/papers/printed holds the same algorithm in plain numpy. What breaks the claim
(docs/proofs/covariance.md): ratings can be 8 apart once item averages are taken off, where
the constants for Laplace noise assume 4; every measurement is a pair, and the global
average is taken twice, but each is charged once; and shrinkage and ridge are fitted by
descent on the raw error of a probe set, which is charged nothing.

A person's level is removed first, with beta_p fictitious ratings (section 4.3), and
neighbours or factors see what it leaves. Without cleaning kNN uses the plain average
Cov/Wgt; the SVD uses its k dimensions. What the text leaves open is in `settings`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from tacit.bound import CellClip, Rows
from tacit.errors import SettingError
from tacit.methods.base import Form, Public
from tacit.methods.item_item.covariance import (
    DIMENSION,
    PAPER_ONLY,
    CovarianceSettings,
    McSherrySettings,
)
from tacit.methods.item_item.plan import PrintedState, published
from tacit.model.shared import Shared
from tacit.papers.mcsherry2009.printed.averages import LEAST_COUNT, averaged, factor
from tacit.papers.mcsherry2009.printed.probe import PARAMETERS, Probe, split_probe
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Claim, Epoch
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
Measure = Callable[[Block, PrintedState], Mapping[str, Floats]]
MIDDLE = 3.0
"""Of a scale of 1 to 5, in which the constants are."""
RATING_MAX = 5.0
ALPHA = 4.0
"""The paper's largest difference between a rating and its person's mean; 8 is possible."""
PLACES = {"global": 0, "items": 1, "covariance": 2}
"""Of the three measurements among the shares of theta."""
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
PAIR = "two matrices are charged as one"
PROBE = (
    "shrinkage and ridge are fitted on the raw error of held-back ratings, for which "
    "the paper charges nothing"
)
FITTED = (
    "Shrinkage and ridge are fitted by descent on the raw probe error, uncharged, as the "
    "paper does."
)


class PrintedFactor(Form):
    """The printed plan, and the rank-k factor that its clients download."""

    settings: CovarianceSettings
    by_neighbours: ClassVar[bool] = False

    def plan(self, public: Public) -> Plan:
        """Averages, both matrices, and the descent on the probe error."""
        return self._measurements(public).plan()

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return PrintedState()

    def used(self, public: Public) -> dict[str, Any]:
        """The printed settings and theta; what only other calibrations use is left out."""
        settings = self.settings.model_dump()
        measurements = self._measurements(public)
        used_settings = {name: settings[name] for name in sorted(PAPER_ONLY)}
        used_settings["cleaning"] = "paper" if self.cleans else "none"
        used_settings["rank"] = self.rank
        used_settings["theta"] = measurements.theta
        if self.by_neighbours:
            used_settings["neighbours"] = self.neighbours
        if public.unit == "rating":
            del used_settings["person_total"]
        return used_settings

    def finish(self, public: Public, state: PrintedState) -> Shared:
        """What clients download: averages, the rank-k factor or the plain matrix and, for
        neighbours, the weights that choose them."""
        settings = self.settings
        arrays: dict[str, Any] = {
            "baseline": state.item - MIDDLE,
            "weight": np.maximum(state.count, 0.0),
        }
        shrinkage = state.parameters[:2]
        if self.cleans or not self.by_neighbours:
            arrays["loadings"] = factor(
                state, shrinkage, self.cleans, self.rank, settings.least_weight
            )
        else:
            nothing = np.zeros(2)
            arrays["covariance"] = averaged(state, nothing, settings.least_weight)
        if self.by_neighbours:
            arrays["similarity"] = state.weights
        numbers = {
            "level_prior": settings.person_prior,
            "level_mean": state.again,
            "clamp": settings.clamp if settings.residuals == "clamped" else 0.0,
            "ridge": float(state.parameters[2]),
            "neighbours": float(self.neighbours if self.by_neighbours else 0),
            "shrink_diagonal": float(shrinkage[0]),
            "shrink_off": float(shrinkage[1]),
        }
        return published(self.method, public, "centred", arrays, numbers)

    @property
    def cleans(self) -> bool:
        """Whether the matrix is cleaned as section 4.6 says."""
        return self.settings.cleaning != "none"

    @property
    def rank(self) -> int:
        """k of the low-rank form."""
        return self.settings.rank or DIMENSION

    @property
    def neighbours(self) -> int:
        """Own ratings that a prediction uses."""
        setting: int | None = getattr(self.settings, "neighbours", None)
        return setting or DIMENSION

    def _measurements(self, public: Public) -> Measurements:
        return Measurements(
            public,
            self.settings,
            seed=self.method.seed,
            clean=self.cleans,
            rank=self.rank,
            neighbours=self.neighbours if self.by_neighbours else 0,
        )


# The measurements of McSherry & Mironov (sections 4.2 to 4.5), one round each, in real
# numbers as printed.


def claimed_epsilon(theta: float, noise: str, delta: float) -> float:
    """The paper's sum over its three measurements, delta shared evenly."""
    if noise == "laplace":
        return theta
    return theta * sqrt(2 * log(2 * len(PLACES) / delta))


class Measurements:
    """The rounds of the printed algorithm."""

    def __init__(
        self,
        public: Public,
        settings: McSherrySettings,
        *,
        seed: int,
        clean: bool,
        rank: int,
        neighbours: int,
    ) -> None:
        assert public.budget is not None
        self.public = public
        self.items = public.items
        self.settings = settings
        self.seed = seed
        self.probe = Probe(settings, clean, rank, neighbours)
        self.noise = settings.law
        self.delta = 0.0 if self.noise == "laplace" else public.budget.delta
        if self.noise == "gaussian" and self.delta == 0:
            raise SettingError(
                "Gaussian noise has no claim at delta 0",
                remedy="give a delta, or --set law=laplace",
            )
        unit_epsilon = claimed_epsilon(1.0, self.noise, self.delta)
        self.theta = settings.theta or public.budget.epsilon / unit_epsilon
        self.epsilon = claimed_epsilon(self.theta, self.noise, self.delta)
        if self.epsilon > public.budget.epsilon * (1 + 1e-9):
            raise SettingError(
                f"theta {self.theta:g} claims epsilon {self.epsilon:.3g}, above the "
                f"{public.budget.epsilon:g} given",
                remedy=f"give --epsilon {np.ceil(1000 * self.epsilon) / 1000:g}, or leave "
                "theta out",
            )

    @property
    def shares(self) -> Floats:
        """Of theta, adding up to 1."""
        shares = np.array(self.settings.shares)
        if not (shares > 0).all():
            raise SettingError("shares of theta must be above 0")
        return np.asarray(shares / shares.sum())

    def plan(self) -> Plan:
        """All rounds, in the paper's order."""
        split = ", ".join(f"{share:.3g}" for share in self.shares)
        story = [
            f"As printed: theta = {self.theta:.4g} with {self.noise} noise {self._curve}.",
            f"Theta is split {split} (global average, item averages, covariance).",
        ]
        rounds = [self.totals(), self.averages(), self.recentre(), self.matrices()]
        if self.probe.needed:
            story.append(FITTED)
        rounds.append(self.fit())
        return Plan(self.public.unit, tuple(rounds), tuple(story))

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
        """Sum and count of all ratings: G."""

        def measure(used: Block, state: PrintedState) -> dict[str, Floats]:
            return self._total(used, used.value)

        def absorb(state: PrintedState, released: Mapping[str, Released]) -> PrintedState:
            return replace(state, average=float(_mean(released, 0.0, 0.0)[0]))

        return self._round("global", self._pair("global", 1), measure, absorb)

    def averages(self) -> Round:
        """Sums and counts of each item: MAvg, with beta_m ratings at G."""

        def measure(used: Block, state: PrintedState) -> dict[str, Floats]:
            cell_weight = 1 / self._lengths(used)
            total = np.bincount(used.item, used.value * cell_weight, self.items)
            count = np.bincount(used.item, cell_weight, self.items)
            return {"sum": np.asarray(total, float), "count": np.asarray(count, float)}

        def absorb(state: PrintedState, released: Mapping[str, Released]) -> PrintedState:
            prior = self.settings.item_prior
            mean = _mean(released, prior, state.average)
            return replace(state, item=mean, count=released["count"].value[:, 0])

        parts = self._pair("items", self.items)
        return self._round("items", parts, measure, absorb)

    def recentre(self) -> Round:
        """The global average of what item averages leave (4.1, 4.3)."""

        def measure(used: Block, state: PrintedState) -> dict[str, Floats]:
            return self._total(used, used.value - state.item[used.item])

        def absorb(state: PrintedState, released: Mapping[str, Released]) -> PrintedState:
            return replace(state, again=float(_mean(released, 0.0, 0.0)[0]))

        parts = self._pair("global", 1, ALPHA)
        return self._round("recentred", parts, measure, absorb)

    def matrices(self) -> Round:
        """Covariance and weights of user-centred, clamped ratings (4.3 to 4.5)."""
        settings = self.settings

        def measure(used: Block, state: PrintedState) -> dict[str, Floats]:
            residuals = used.value - state.item[used.item]
            counts = np.diff(used.ptr)
            person = np.repeat(np.arange(len(counts)), counts)
            sums = np.bincount(person, residuals, len(counts))
            prior = settings.person_prior
            level = sums + prior * state.again
            level /= np.maximum(counts + prior, 1e-12)
            row = np.clip(residuals - level[person], -settings.clamp, settings.clamp)
            user_weight = 1 / self._norm(counts)
            if self.public.unit == "user":  # every vector is divided: 4.5
                user_weight = user_weight * user_weight
            weight = np.repeat(user_weight, counts)
            return {
                "covariance": self._products(used, row, weight),
                "weights": self._products(used, np.ones(len(row)), weight),
            }

        def absorb(state: PrintedState, released: Mapping[str, Released]) -> PrintedState:
            return replace(
                state, covariance=released["covariance"].value, weights=released["weights"].value
            )

        top = settings.clamp
        constants = {
            ("rating", "laplace"): (2 * ALPHA * top + 3 * top**2, 3.0),
            ("rating", "gaussian"): ((1 + 2 * sqrt(2)) * top**2, sqrt(2)),
            ("user", "laplace"): (top**2, 1.0),
            ("user", "gaussian"): (top**2, 1.0),
        }[str(self.public.unit), self.noise]
        parts = tuple(
            self._matrix(name, constant)
            for name, constant in zip(("covariance", "weights"), constants, strict=True)
        )
        return self._round("covariance", parts, measure, absorb)

    def fit(self) -> Round:
        """Shrinkage and ridge by descent on the probe error: raw, so it is booked with a
        reason and no noise. Given ones are taken as they are."""

        def contribute(block: Block, state: PrintedState) -> Mapping[str, Rows]:
            training, probe = split_probe(block, self.seed)
            if not self.probe.needed:
                return {"parameters": _rows(self.probe.start_parameters)}
            return {"parameters": _rows(self.probe.fitted(state, training, probe))}

        def absorb(state: PrintedState, released: Mapping[str, Released]) -> PrintedState:
            return replace(state, parameters=released["parameters"].value[:, 0])

        claim = Claim("none", 0.0, UNCHARGED, 0.0, PROBE)
        part = Part("parameters", PARAMETERS, CellClip(1.0), printed=Epoch(claim=claim))
        return Round("probe", (part,), contribute, absorb)

    def _total(self, used: Block, values: Floats) -> dict[str, Floats]:
        """Sum and count over everything; at unit `user` each person's divided (4.5)."""
        cell_weight = np.ones(len(values))
        if self.public.unit == "user":
            counts = np.diff(used.ptr)
            length = self._norm(counts)
            if self.settings.person_total == "mean":
                length = np.maximum(counts, 1.0)
            cell_weight = np.repeat(1 / length, counts)
        total = np.array([float((values * cell_weight).sum())])
        return {"sum": total, "count": np.array([float(cell_weight.sum())])}

    def _lengths(self, used: Block) -> Floats:
        """||e_u|| for each rating of a person at unit `user`; 1 at `rating`."""
        if self.public.unit == "rating":
            return np.ones(len(used.value))
        counts = np.diff(used.ptr)
        return np.repeat(self._norm(counts), counts)

    def _norm(self, counts: NDArray[np.int64]) -> Floats:
        """||e_u|| of people with so many ratings, in the norm of the noise."""
        real = np.maximum(counts, 1).astype(np.float64)
        return real if self.noise == "laplace" else np.sqrt(real)

    def _products(self, used: Block, row: Floats, weight: Floats) -> Floats:
        """The sum over people of weight times the outer product of their rows."""
        shape = (len(used.people), self.items)
        pattern = (used.item.astype(np.int64), used.ptr)
        left = csr_matrix((row * weight, *pattern), shape=shape)
        right = csr_matrix((row, *pattern), shape=shape)
        return np.asarray((left.T.tocsr() @ right).toarray())

    def _round(
        self,
        name: str,
        parts: tuple[Part, ...],
        measure: Measure,
        absorb: Callable[[PrintedState, Mapping[str, Released]], PrintedState],
    ) -> Round:
        """A measurement of everybody's ratings, with the draws that were paid for."""

        def contribute(block: Block, state: PrintedState) -> Mapping[str, Rows]:
            used = self._used(block)
            measured = measure(used, state)
            return {
                part: _rows(array + self._draws(block.draws[part], array.shape))
                for part, array in measured.items()
            }

        return Round(name, parts, contribute, absorb)

    def _draws(self, draws: Floats, shape: tuple[int, ...]) -> Floats:
        """As they are for a vector; for a matrix symmetric."""
        if len(shape) == 1:
            return draws
        if self.settings.matrix_noise == "entries":
            matrix = draws.reshape(shape)
            return np.asarray((matrix + matrix.T) / 2)
        out = np.zeros(shape)
        out[np.triu_indices(shape[0])] = draws
        return np.asarray(out + np.triu(out, 1).T)

    def _used(self, block: Block) -> Block:
        """The ratings that are measured, on the scale of 1 to 5: those outside the probe
        set, where there is one."""
        if self.probe.needed:
            block, _ = split_probe(block, self.seed)
        return Block(block.people, block.ptr, block.item, block.value + MIDDLE)

    def _pair(self, measurement: str, size: int, top: float = RATING_MAX) -> tuple[Part, Part]:
        """A sum and its count."""
        parts = 4 if measurement == "global" else 2
        total = self._claim(measurement, top, TWICE, parts)
        count = self._claim(measurement, 1.0, TWICE, parts)
        return (
            Part("sum", size, CellClip(top), printed=Epoch(claim=total, draws=size)),
            Part("count", size, CellClip(1.0), printed=Epoch(claim=count, draws=size)),
        )

    def _matrix(self, name: str, sensitivity: float) -> Part:
        size = self.items
        draws = size * (size + 1) // 2
        if self.settings.matrix_noise == "entries":
            draws = size * size
        why = SPAN if self.public.unit == "rating" else PAIR
        claim = self._claim("covariance", sensitivity, why, 2)
        epoch = Epoch(claim=claim, draws=draws)
        return Part(name, size, CellClip(1.0), width=size, printed=epoch)

    def _claim(self, measurement: str, sensitivity: float, reason: str, parts: int) -> Claim:
        theta = float(self.shares[PLACES[measurement]]) * self.theta
        epsilon = claimed_epsilon(theta, self.noise, self.delta) / parts
        delta = self.delta / len(PLACES) / parts
        return Claim(self.noise, sensitivity / theta, epsilon, delta, reason)


def _rows(values: Floats) -> Rows:
    """An array that is made at once: one row an item, or one number."""
    columns = values if values.ndim == 2 else values[:, None]
    index = np.arange(len(columns), dtype=np.uint32)
    return Rows(np.array([0, len(columns)]), index, columns)


def _mean(released: Mapping[str, Released], prior: float, middle: float) -> Floats:
    count = np.maximum(released["count"].value[:, 0] + prior, LEAST_COUNT)
    return np.asarray((released["sum"].value[:, 0] + prior * middle) / count)


class PrintedNeighbours(PrintedFactor):
    """The same measurements, for neighbourhoods that the released weights choose."""

    by_neighbours: ClassVar[bool] = True
