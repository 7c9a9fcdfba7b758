"""McSherry & Mironov as printed: claimed, not certified. Units `rating` and (section 4.5)
`user`; constants of a scale of 1 to 5.

Measured in turn, each with noise of its printed sensitivity over theta_i: sum and count of
all ratings; sums and counts of each item; the average of what item averages leave;
covariance and weights of user-centred, clamped ratings. Real numbers throughout, as
printed: tests/printed holds the same algorithm in plain numpy. What breaks the claim
(docs/proofs/covariance.md): ratings can be 8 apart once item averages are taken off, where
the constants for Laplace noise assume 4; every measurement is a pair, and the global
average is taken twice, but each is charged once; and shrinkage and ridge are fitted by
descent on the raw error of a probe set, which is charged nothing.

A person's level is removed first, with beta_p fictitious ratings (section 4.3), and
neighbours or factors see what it leaves. Without cleaning kNN uses the plain average
Cov/Wgt; the SVD uses its k dimensions. What the text leaves open is in `settings`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tacit.methods.base import Form, Public
from tacit.methods.item_item.covariance import CovarianceSettings
from tacit.methods.item_item.matrix import published
from tacit.methods.item_item.papers import DIMENSION, PAPER_ONLY
from tacit.methods.item_item.printed.averages import averaged, factor
from tacit.methods.item_item.printed.measure import MIDDLE, Measurements
from tacit.methods.item_item.state import PrintedState
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.state import State


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


class PrintedNeighbours(PrintedFactor):
    """The same measurements, for neighbourhoods that the released weights choose."""

    by_neighbours: ClassVar[bool] = True
