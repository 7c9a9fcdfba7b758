"""The printed descent of Shin et al. (2018): k rounds of gradient steps on the item
factors, each from noisy answers.

`paper` is as printed: everybody answers in every one of k + 1 rounds (the loop runs while
iter <= k, from 0) at epsilon/k each, which is (k + 1)/k of the claim. `sound` runs k
rounds. There each person answers in `each` of them, in one by default: the rounds have
people of their own, and an answer has the whole budget. Where people answer more than once,
delta buys the exact composition of their bits. The twin takes exact gradients.

Not printed, and chosen here: the start (all products at mid-scale), the learning rates, and
that a person's own step averages over her own ratings. Where the text leaves a choice it is
a setting. `tests/papers/printed/shin.py` is a second implementation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.bound import RowClip, Rows
from tacit.bound.report import Replaced, Report
from tacit.errors import SettingError
from tacit.methods.base import Form, Public
from tacit.methods.first_order.rounds import is_pure
from tacit.methods.one_bit.one_bit import (
    NaiveSettings,
    OneBitMF,
    OneBitSettings,
    ProjectedSettings,
    Way,
)
from tacit.methods.one_bit.plan import DescentState
from tacit.model.shared import Shared, single
from tacit.rounds.people import Everyone, Participation, Slice
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Claim
from tacit.rounds.round import Block, Kind, Part, Personal, Released, Round
from tacit.rounds.state import State, is_filled

Floats = NDArray[np.float64]
Factors = NDArray[np.float32]
Hidden = Literal["masked", "masked item"]
"""How section 4.1 hides presence: of all items together, or of one."""
LARGEST = 1e3
"""Item factors are kept within this, and a step that is not finite is not taken: the naive
method diverges."""
SMALLEST = 0.1
"""Products begin at mid-scale, or at this share of the width of a scale around 0."""
SCATTER = 0.1
"""Of the item factors around their start, as a share of it."""
UNCLIPPED = RowClip(1e4, "l2", 1 << 16)
"""For exact gradients and for the naive method as printed: a grid, and a clip that no real
gradient meets."""
REASON = "k + 1 rounds of epsilon/k each, as printed, cost (k + 1)/k of the claim"
UNBOUNDED_REASON = (
    "the printed Laplace scale assumes gradients within the width of the "
    "scale, which nothing enforces"
)
STEADY = 1e-5
"""Added to the diagonal, as a share of it: a square projection is near singular."""


class OneBitDescentForm(Form):
    """`paper` as printed; by `--set form=descent` also `sound`, and without noise the twin."""

    method: OneBitMF
    settings: OneBitSettings

    def plan(self, public: Public) -> Plan:
        """One round a step."""
        return self._descent(public).plan()

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return DescentState()

    def finish(self, public: Public, state: DescentState) -> Shared:
        """The path of the item factors, along which a person repeats her own steps."""
        descent = self._descent(public)
        personal = "descent"
        arrays: dict[str, NDArray[Any]] = {"path": single(np.asarray(descent.path(state)[1:]))}
        if descent.project is not None and descent.project.transposed:
            personal = "sparse-descent"
            arrays["projection"] = descent.project.matrix
        numbers = {
            "start": float(descent.level),
            "rate": self.settings.own_rate,
            "ridge": self.settings.ridge,
            "middle": public.schema.middle,
            "unit_width": public.schema.unit_width,
        }
        if descent.over:
            numbers["over"] = descent.over
        return Shared(
            self.method.name,
            personal,
            arrays,
            numbers,
            public.schema,
            public.catalogue,
            self.used(public),
        )

    def used(self, public: Public) -> dict[str, Any]:
        """With the form that it is, and the q that is used."""
        settings = self.settings.model_dump() | {"form": "descent"}
        if isinstance(self.settings, ProjectedSettings):
            settings["projection"] = reduced_rows(public.items, self.settings)
            settings["share"] = settings["projection"] / public.items
            del settings["bits"]
        if public.calibration == "paper":
            del settings["each"]
        return settings

    def _descent(self, public: Public) -> PrintedDescent:
        return PrintedDescent(public, self.settings, self.method.way, self.method.seed)


class DescentTurn(NamedTuple):
    """One round of the descent."""

    number: int
    takes_part: Participation
    part: str
    """Name of what is released."""


class PrintedDescent:
    """The rounds, and what is public about them: the start, the projection, and which
    coordinate each person is asked about."""

    def __init__(self, public: Public, settings: OneBitSettings, way: Way, seed: int) -> None:
        self.public = public
        self.settings = settings
        self.way = way
        self.exact = public.budget is None
        self.rank = settings.rank
        self.over = public.people if settings.own_mean == "people" else 0.0
        """What divides a person's own gradient; 0: the number of her ratings."""
        schema = public.schema
        middle = max(abs(schema.middle), SMALLEST * (schema.high - schema.low))
        self.level = np.sqrt(middle / self.rank)
        """Of every number of every factor at the start, but for some scatter."""
        rng = np.random.default_rng(seed)
        scatter = rng.standard_normal((public.items, self.rank))
        self._begun: Factors = (self.level * (1 + SCATTER * scatter)).astype(np.float32)
        self.project: Projection | None = None
        if isinstance(settings, ProjectedSettings):
            self.project = Projection(public.items, settings, rng)
        self.keys = [np.uint64(rng.integers(1 << 63)) for _ in range(settings.rounds + 1)]
        """Public, one a round: which coordinate each person is asked about."""
        reduced = self.project is not None and not self.exact
        self.size = self.project.rows if self.project and reduced else public.items

    @cached_property
    def start_path(self) -> Factors:
        """The item factors before any step: a path of one."""
        if self.project is not None and self.project.transposed:
            return self.project.inside(self._begun)[None]
        return self._begun[None]

    def plan(self) -> Plan:
        """All rounds, in order."""
        personal = Personal("own", self.rank + 1)
        rounds = []
        for descent_turn in self.turns():
            key = self.keys[descent_turn.number]
            rounds.append(
                Round(
                    f"step {descent_turn.number + 1}",
                    (self._part(descent_turn.part),),
                    partial(self.contribute, key=key, name=descent_turn.part),
                    partial(self.absorb, iteration=descent_turn.number),
                    descent_turn.takes_part,
                    (personal,),
                )
            )
        return Plan(self.public.unit, tuple(rounds), self._story())

    def turns(self) -> list[DescentTurn]:
        """Who takes part in each round, and the name of its part."""
        rounds = self.settings.rounds
        if self.public.calibration == "paper" or self.exact:
            return [DescentTurn(i, Everyone(), "bits") for i in range(rounds + self._extra_rounds)]
        answers_per_user = self.settings.each or 1
        if rounds % answers_per_user:
            raise SettingError(f"each is {answers_per_user}: it must divide the {rounds} rounds")
        groups = rounds // answers_per_user
        return [
            DescentTurn(
                i,
                Slice(i % groups, groups) if groups > 1 else Everyone(),
                f"bits {i // groups + 1}",
            )
            for i in range(rounds)
        ]

    @property
    def _extra_rounds(self) -> int:
        """Rounds beyond k: one in `paper`, as its loops are printed."""
        if self.public.calibration != "paper":
            return 0
        if self.settings.each is not None:
            raise SettingError(
                "each is not for `paper`, where everybody answers in every round",
                remedy="leave it out, or use --calibration sound --set form=descent",
            )
        return int(self.settings.loop == "k+1")

    def contribute(
        self, block: Block, state: DescentState, *, key: np.uint64, name: str
    ) -> Mapping[str, Rows]:
        """A person's own steps so far, then her gradient for the items: all of it, or the
        one number that she is asked about."""
        from tacit.kernels.descent import advance
        from tacit.papers.shin2018.printed import kernels

        path = self.path(state)
        schema = self.public.schema
        rating = schema.middle + schema.unit_width * block.value
        user_factors = block.personal["own"]
        advance(
            block.ptr,
            block.item,
            rating,
            path[1:],
            np.full(self.rank, self.level),
            self.settings.own_rate,
            self.settings.ridge,
            self.over,
            user_factors,
        )
        if self.exact or self.way == "naive":
            rows = np.empty((len(block.item), self.rank))
            kernels.whole_gradient(block.ptr, block.item, rating, path[-1], user_factors, rows)
            return {name: Rows(block.ptr, block.item, rows)}
        coordinates = np.empty(len(block.people), np.int64)
        kernels.draw_coordinates(block.people, key, self.size * self.rank, coordinates)
        gradients = np.empty(len(block.people))
        if self.project is None:
            kernels.item_gradient(
                block.ptr, block.item, rating, path[-1], user_factors, coordinates, gradients
            )
        else:
            kernels.projected_gradient(
                block.ptr,
                block.item,
                rating,
                path[-1],
                user_factors,
                self.project.matrix,
                coordinates,
                gradients,
            )
        return {name: Rows(np.arange(len(gradients) + 1), coordinates, gradients[:, None])}

    def absorb(
        self, state: DescentState, released: Mapping[str, Released], *, iteration: int
    ) -> DescentState:
        """One step of the items along the mean gradient of those who answered."""
        path = self.path(state)
        (got,) = released.values()
        gradient = got.value.reshape(self.size, self.rank) / max(got.reports, 1)
        if not self.exact and self.way != "naive":
            gradient = gradient * (self.size * self.rank)
        # what is told is what is stepped along, so that everybody comes to the same factors
        gradients = gradient.astype(np.float32)[None]
        updated = self._step(path[-1], gradients[0], iteration)
        if is_filled(state.gradients):
            gradients = np.concatenate([state.gradients, gradients])
        return replace(state, gradients=gradients, path=np.concatenate([path, updated[None]]))

    def path(self, state: DescentState) -> Factors:
        """The item factors before the first step and after each, made anew by whoever was
        told the gradients alone."""
        if is_filled(state.path):
            return state.path
        path = self.start_path
        if is_filled(state.gradients):
            for iteration, gradient in enumerate(state.gradients):
                updated = self._step(path[-1], gradient, iteration)
                path = np.concatenate([path, updated[None]])
        return path

    def _step(self, factors: Factors, released_gradient: Factors, iteration: int) -> Factors:
        """V - (gamma_t / f_k)(gradient + 2 ridge V): a step that is not finite is not taken."""
        gradient = released_gradient.astype(np.float64)
        k = float(self.settings.rounds)
        correction = {"one": 1.0, "k": k, "k2": k**2}[self.settings.correction]
        correction = 1.0 if self.exact else correction
        full_gradient = gradient
        if self.project is not None:
            full_gradient = self.project.back(gradient, self.exact)
        with np.errstate(over="ignore", invalid="ignore"):
            updated = factors - self.settings.rate / (iteration + 1) / correction * (
                full_gradient + 2 * self.settings.ridge * factors
            )
        if not np.isfinite(updated).all():
            return factors
        return np.clip(updated, -LARGEST, LARGEST).astype(np.float32)

    def _part(self, name: str) -> Part:
        """What is released of a step: bits, or for the naive method and the twin all of it."""
        settings = self.settings
        budget = self.public.budget
        share = 1 / (settings.each or 1)
        if budget is None:
            every = 1 / settings.rounds
            return Part(name, self.size, UNCLIPPED, width=self.rank, share=every)
        printed = self.public.calibration == "paper"
        round_epsilon = budget.epsilon / settings.rounds
        if self.way != "naive":
            claim = (
                Claim("response", round_epsilon, round_epsilon, 0.0, REASON) if printed else None
            )
            numbers = self.size * self.rank
            return Part(name, numbers, Report(), kind=Kind.REPORT, share=share, printed=claim)
        if printed:
            width = self.public.schema.high - self.public.schema.low
            half = budget.epsilon / 2 / settings.rounds
            single = isinstance(settings, NaiveSettings) and settings.protects == "single"
            among = 1 if single else self.size
            scale = among * width * self.rank / half
            noise: Hidden = "masked item" if single else "masked"
            claim = Claim(noise, scale, round_epsilon, 0.0, UNBOUNDED_REASON)
            return Part(name, self.size, UNCLIPPED, width=self.rank, printed=claim)
        bound = Replaced(1.0, "l1" if is_pure(budget) else "l2")
        return Part(name, self.size, bound, width=self.rank, share=share)

    def _story(self) -> tuple[str, ...]:
        rounds = self.settings.rounds
        if self.exact:
            return ("Exact gradients, for comparison.",)
        if self.public.calibration == "paper":
            run = rounds + self._extra_rounds
            schedule = f"{run} rounds in which everybody answers at epsilon/{rounds}"
            return (f"As printed: {schedule}.",)
        answers_per_user = self.settings.each or 1
        return (f"{rounds} rounds; each person answers in {answers_per_user} of them.",)


# The public random projection of Shin et al. (2018), Algorithm 2.


class Projection:
    """A public q x m projection, kept once; its pseudo-inverse is applied by a solve and
    never formed.

    With `recover` = ratings the descent is on B (equation 9). In terms of V = Phi'B it is
    the same descent with Phi' in place of the pseudo-inverse, from a start in the row
    space.
    """

    def __init__(self, items: int, settings: ProjectedSettings, rng: np.random.Generator) -> None:
        self.rows = reduced_rows(items, settings)
        self.transposed = settings.recover == "ratings"
        shape = (self.rows, items)
        if settings.entries == "sign":
            signs = rng.integers(0, 2, shape, dtype=np.int8)
            entries = 2 * signs.astype(np.float32) - 1
        else:
            entries = rng.standard_normal(shape, dtype=np.float32)
        self.matrix = entries / np.float32(np.sqrt(self.rows))
        self._solve: Any = None

    def back(self, gradient: Floats, exact: bool = False) -> Floats:
        """From the projected gradient (or the `exact` exact one) to the step on the item
        factors."""
        if exact and not self.transposed:
            return gradient
        if exact:
            return self.matrix.T @ (self.matrix @ gradient)
        if self.transposed:
            return self.matrix.T @ gradient
        return self._inverse(gradient)

    def inside(self, factors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The part of the factors in the row space."""
        return self._inverse(self.matrix @ factors).astype(np.float32)

    def _inverse(self, reduced: NDArray[Any]) -> Floats:
        """Phi'(Phi Phi')^-1 `reduced`, by one Cholesky factorization that is kept for all
        rounds."""
        from scipy.linalg import cho_factor, cho_solve

        if self._solve is None:
            gram = self.matrix @ self.matrix.T
            gram[np.diag_indices_from(gram)] *= 1 + STEADY
            self._solve = cho_factor(gram, overwrite_a=True)
        solved = cho_solve(self._solve, reduced.astype(np.float32))
        result: Floats = (self.matrix.T @ solved).astype(np.float64)
        return result


def reduced_rows(items: int, settings: ProjectedSettings) -> int:
    """q: as it was said, or a share of the items; no more than there are."""
    rows = settings.projection or round(settings.share * items)
    return max(1, min(rows, items))
