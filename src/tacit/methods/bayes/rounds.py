"""Second-order rounds of `bayes`: how tastes vary between people, and how each item answers
to them.

Both work on the personal model of `tacit.model.person.gaussian`; see
`tacit.methods.refine.tastes` for what is made of the releases. State: `loadings` and
`doubt` (what is unknown of them), and while sweeps go on `sweep_*`, their pooled evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Bound, CentredCells, RowClip, Rows
from tacit.bound.gram import EntryGram, FactorGram
from tacit.methods.first_order.rounds import (
    KEPT,
    RESIDUAL_LIMIT,
    TINY,
    FirstOrder,
    kept_weights,
)
from tacit.methods.refine import likings
from tacit.methods.refine.spectrum_items import Profile, profile
from tacit.methods.refine.tastes import (
    Axes,
    TasteEvidence,
    retaste,
    taste_changes,
    typical_axes,
)
from tacit.model.person.gaussian import GaussianModel, loadings
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

MOMENT_CLIP = 8.0
"""Frobenius norm of one person's E[tt'] - I: nine in ten people stay below it on ML-1M."""
LEVEL_WEIGHT = 1.5
"""Weight of the item's effect beside its answers to tastes in one sweep: effects vary more."""
LIKING_CLIP = 1.0
LIKING_SHRINK = 20
LIKING_OFFSET = 10.0
"""For the covariance: ratings less one's own mean (shrunk by so many) are clipped; weights
1/(|y|^2 + offset)."""
LIKING_VARIANCE = 0.45
"""Of such a clipped rating: a public rule."""
LIKING_SIGNAL = 0.05
"""Variance of a common factor that must stand out of the noise for the covariance to be
worth its share."""
SHOWN = 0.25
"""Axes that a typical person's ratings show less than this take no part in a sweep."""


@dataclass(frozen=True)
class SecondOrder:
    """The rounds for one plan, after those of `first`."""

    first: FirstOrder

    def model(self, state: State) -> GaussianModel:
        """The personal model as far as it is known."""
        baseline = float(state["level"][0]) + state["effect"]
        if "loadings" in state:
            return GaussianModel(
                baseline, state["variance"] + state["doubt"], state["loadings"]
            )
        popularity = kept_weights(state).popularity
        made, _ = loadings(
            popularity, self.first.features, level_variance=float(state["level"][1])
        )
        return GaussianModel(baseline, state["variance"], made)

    def axes(self, state: State, kept: int) -> Axes:
        model = self.model(state)
        return typical_axes(
            model.loadings,
            model.precision,
            state["weight"],
            float(state["level"][2]),
            kept,
        )

    def moments(self, share: float, kept: int) -> Round:
        """The sum of people's E[tt'] - I, each clipped to a Frobenius norm of `MOMENT_CLIP`.

        Guarantee: a row is one person's packed matrix, clipped as a whole (`RowClip`),
        whatever the model made of it.
        """

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            from tacit.methods.bayes.kernels import taste_moments

            model = self.model(state)
            out = np.empty((len(block.people), kept * (kept + 1) // 2))
            rest = block.value - model.baseline[block.item]
            taste_moments(
                block.ptr,
                block.item,
                rest,
                model.loadings,
                model.precision,
                self.axes(state, kept).vectors,
                out,
            )
            return {"moments": Rows.one_each(out / MOMENT_CLIP)}

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            noisy, model = released["moments"], self.model(state)
            packed, sd = MOMENT_CLIP * noisy.value[0], MOMENT_CLIP * noisy.sd
            better = retaste(
                model.loadings,
                self.axes(state, kept),
                packed,
                sd,
                float(state["people"][0]),
            )
            doubt = model.variance - state["variance"]
            return {**state, "loadings": np.ascontiguousarray(better), "doubt": doubt}

        width = kept * (kept + 1) // 2
        return Round(
            "tastes",
            (Part("moments", 1, RowClip(1.0), width=width, share=share),),
            contribute,
            absorb,
        )

    def covariance(self, share: float, rows: int) -> Round:
        """Which of the `rows` items of largest weight are liked together: sums of products,
        never the diagonal.

        Guarantee: `FactorGram` (unit `user`) or `EntryGram` (unit `rating`), whose
        sensitivities are proven in docs/proofs/covariance.md. Which items are rows follows
        from released weights.
        """
        items = self.first.public.items
        bound: Bound = FactorGram()
        if not self.first.whole_person:
            centred = CentredCells(
                items, clip=2.0, shrink=LIKING_SHRINK, limit=LIKING_CLIP, steps=2**12
            )
            bound = EntryGram(rows, centred, LIKING_OFFSET)

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            place = np.full(items, rows, np.int64)
            place[self._head(state, rows)] = np.arange(rows)
            index = place[block.item]
            rest = block.value - float(state["level"][0]) - state["effect"][block.item]
            if self.first.whole_person:
                rest = self._lengths(block, np.clip(rest, -2.0, 2.0), index < rows)
            return {"likings": Rows(block.ptr, index, rest[:, None])}

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            noisy = released["likings"]
            model = self.model(state)
            head = self._head(state, rows)
            known = self._profile(state, head)
            matrix = np.asarray(noisy.value, np.float32)
            found = likings.likings(
                matrix, max(noisy.sd, TINY), known, model.loadings[head, 1:]
            )
            fresh = np.zeros((items, found.fresh.shape[1]))
            fresh[head] = found.fresh
            doubt = model.variance - state["variance"] + found.typical
            doubt[head] += found.unknown - found.typical
            parts = [model.loadings[:, :1], model.loadings[:, 1:] @ found.turn, fresh]
            return {
                **state,
                "loadings": np.ascontiguousarray(np.concatenate(parts, axis=1)),
                "doubt": doubt,
            }

        return Round(
            "covariance",
            (Part("likings", rows, bound, share=share, form="gram"),),
            contribute,
            absorb,
        )

    def no_likings(self, state: State, share_sd: float, rows: int) -> bool:
        """Whether released weights say that the covariance would drown: then its share buys
        item sums.

        `share_sd` is the noise sd that its share means at a sensitivity of 1.
        """
        head = self._head(state, rows)
        known = self._profile(state, head)
        sd = max(share_sd * (0.7 if self.first.whole_person else 1.7), TINY)
        white = 1 / np.sqrt(sd**2 + known.sampling * known.weight**2)
        signal = LIKING_SIGNAL * likings.KEPT * float((known.weight**2 * white).sum())
        return signal < 2 * sqrt(rows)

    def _profile(self, state: State, head: NDArray[np.int64]) -> Profile:
        return profile(
            state["weight"][head],
            float(state["people"][0]),
            self.first.public.unit,
            variance=LIKING_VARIANCE,
            offset=LIKING_OFFSET,
            cap=float(state["level"][2]),
        )

    def _head(self, state: State, rows: int) -> NDArray[np.int64]:
        return np.sort(np.argsort(-state["weight"], kind="stable")[:rows])

    def _lengths(
        self, block: Block, rest: NDArray[np.float64], inside: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """y/sqrt(|y|^2 + offset) over the items inside, y centred by one's own mean over
        all items; 0 outside."""
        from tacit.kernels.rows import shrunk_means

        own, length = np.empty(len(block.people)), np.empty(len(block.people))
        counts = np.diff(block.ptr)
        shrunk_means(block.ptr, rest, LIKING_SHRINK, 2.0, own)
        rest = np.where(
            inside,
            np.clip(rest - np.repeat(own, counts), -LIKING_CLIP, LIKING_CLIP),
            0.0,
        )
        shrunk_means(
            block.ptr,
            rest * rest * np.repeat(np.maximum(counts, 1), counts),
            0.0,
            np.inf,
            length,
        )
        result: NDArray[np.float64] = rest / np.sqrt(
            np.repeat(length, counts) + LIKING_OFFSET
        )
        return result

    def sweep(self, name: str, share: float, kept: int, spread: float) -> Round:
        """Left-out errors times (1, tastes), summed by item; then better effects and better
        loadings.

        `spread` is the noise sd that this share means at a row norm of 1. Guarantee: all
        the cells of a person, all their columns together, are clipped to one norm
        (`RowClip`).
        """

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            from tacit.methods.bayes.kernels import left_out_tastes

            model, axes = self.model(state), self._axes(state, kept)
            error, values = (
                np.empty(len(block.item)),
                np.empty((len(block.item), 1 + kept)),
            )
            rest = block.value - model.baseline[block.item]
            taste = np.empty((len(block.item), kept))
            left_out_tastes(
                block.ptr,
                block.item,
                rest,
                model.loadings,
                model.precision,
                axes.vectors,
                error,
                taste,
            )
            multiplier, clip = self.first.effort(state, spread)
            shown, norm = _shown(axes)
            weight = (
                self.first.cell_weights(block, state)
                * multiplier[block.item]
                / (clip * norm)
            )
            weight *= np.clip(error, -RESIDUAL_LIMIT, RESIDUAL_LIMIT)
            values[:, 0] = LEVEL_WEIGHT * weight
            np.multiply(
                taste,
                weight[:, None] * (shown / np.sqrt(axes.reliability)),
                out=values[:, 1:],
            )
            return {"sums": Rows(block.ptr, block.item, values)}

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            multiplier, clip = self.first.effort(state, spread)
            _, norm = _shown(self._axes(state, kept))
            sd = max(clip * norm * released["sums"].sd, TINY)
            sums = clip * norm * released["sums"].value
            state = self.first.learn(
                state, sums[:, 0] / LEVEL_WEIGHT, sd / LEVEL_WEIGHT, KEPT * multiplier
            )
            return self._absorb_tastes(state, sums[:, 1:], sd, KEPT * multiplier, kept)

        part = Part(
            "sums", self.first.public.items, RowClip(1.0), width=1 + kept, share=share
        )
        return Round(name, (part,), contribute, absorb)

    def _axes(self, state: State, kept: int) -> Axes:
        """The same axes in every sweep, so that their evidence adds up."""
        if "sweep_axes" in state:
            return Axes(state["sweep_axes"], state["sweep_reliability"])
        return self.axes(state, kept)

    def _absorb_tastes(
        self,
        state: State,
        sums: NDArray[np.float64],
        sd: float,
        multiplier: NDArray[np.float64],
        kept: int,
    ) -> State:
        weights = kept_weights(state)
        axes = self._axes(state, kept)
        model = self.model(state)
        items = self.first.public.items
        before, change = TasteEvidence.none(items, kept), np.zeros((items, kept))
        base, doubt = model.loadings, model.variance - state["variance"]
        if "sweep_axes" in state:
            before = TasteEvidence(state["sweep_total"], state["sweep_precision"])
            base = state["sweep_base"]
            doubt = state["sweep_doubt"]
            change = state["sweep_change"]
        scale = np.maximum(
            multiplier[:, None] * np.sqrt(axes.reliability) * _shown(axes)[0], 1e-9
        )
        evidence = before.add(sums, sd, scale, weights, change)
        change, unknown = taste_changes(
            evidence, weights, self.first.sampling(state) / axes.reliability
        )
        return {
            **state,
            "sweep_axes": axes.vectors,
            "sweep_reliability": axes.reliability,
            "sweep_base": base,
            "sweep_doubt": doubt,
            "sweep_total": evidence.total,
            "sweep_precision": evidence.precision,
            "sweep_change": change,
            "loadings": np.ascontiguousarray(base + change @ axes.vectors.T),
            "doubt": doubt + unknown,
        }


def _shown(axes: Axes) -> tuple[NDArray[np.float64], float]:
    """1 for the axes that take part in a sweep, else 0; and the norm of a typical (level,
    tastes). Where no taste but one's level shows, none takes part, and the whole sweep
    serves the items' effects."""
    shown = (
        (axes.reliability > SHOWN) & (np.abs(axes.vectors).sum(axis=0) > 0)
    ).astype(np.float64)
    if shown.sum() < 2:
        return np.zeros_like(shown), LEVEL_WEIGHT
    return shown, sqrt(LEVEL_WEIGHT**2 + float(shown.sum()))
