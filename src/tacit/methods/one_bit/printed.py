"""The printed descent of Shin et al. (2018): k rounds of gradient steps on the item
factors, each from noisy answers.

`paper` is as printed: everybody answers in every one of k + 1 rounds (the loop runs while
iter <= k, from 0) at epsilon/k each, which is (k + 1)/k of the claim. `sound` runs k
rounds. There each person answers in `each` of them, in one by default: the rounds have
people of their own, and an answer has the whole budget. Where people answer more than once,
delta buys the exact composition of their bits.

Not printed, and chosen here: the start (all products at mid-scale), the learning rates, and
that a person's own step averages over her own ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound import RowClip, Rows
from tacit.bound.report import Replaced, Report
from tacit.errors import SettingError
from tacit.methods.base import Public
from tacit.model.shared import Shared
from tacit.rounds.people import Everyone, Participation, Slice
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Claim
from tacit.rounds.round import Block, Kind, Part, Personal, Released, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.methods.one_bit.one_bit import OneBitSettings

Way = Literal["naive", "coordinate", "projected"]
Floats = NDArray[np.float64]
LARGEST = 1e3
"""Item factors are kept within this, and a step that is not finite is not taken: the naive
method diverges."""
UNCLIPPED = RowClip(1e4, "l2", 1 << 16)
"""For exact gradients and for the naive method as printed: a grid, and a clip that no real
gradient meets."""
REASON = "k + 1 rounds of epsilon/k each, as printed, cost (k + 1)/k of the claim"
UNBOUNDED_REASON = (
    "the printed Laplace scale assumes gradients within the width of the "
    "scale, which nothing enforces"
)


def descent_plan(public: Public, settings: OneBitSettings, way: Way, seed: int) -> Plan:
    """The rounds of the descent."""
    items = public.items
    rank = settings.rank
    exact = public.budget is None
    rng = np.random.default_rng(seed)
    level = np.sqrt(
        max(abs(public.schema.middle), 0.1 * (public.schema.high - public.schema.low))
        / rank
    )
    start = np.full(rank, level)
    first = (level * (1 + 0.1 * rng.standard_normal((1, items, rank)))).astype(
        np.float32
    )
    kept = Personal("own", rank + 1)
    project = _Projection(items, settings, rng) if way == "projected" else None
    size = items if project is None or exact else project.rows
    step = _step(settings, exact, project)
    if project is not None and project.transposed:
        first = project.inside(first[0])[None]

    def contribute_at(
        key: np.uint64, name: str
    ) -> Callable[[Block, State], Mapping[str, Rows]]:
        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            from tacit.methods.one_bit import kernels_printed as kernel

            path = state.get("_path", first)
            rating = public.schema.middle + public.schema.unit_width * block.value
            own = block.personal["own"]
            kernel.advance(
                block.ptr,
                block.item,
                rating,
                path[1:],
                start,
                settings.own_rate,
                settings.ridge,
                own,
            )
            if exact or way == "naive":
                rows = np.empty((len(block.item), rank))
                kernel.whole_gradient(
                    block.ptr, block.item, rating, path[-1], own, rows
                )
                return {name: Rows(block.ptr, block.item, rows)}
            asked, found = (
                np.empty(len(block.people), np.int64),
                np.empty(len(block.people)),
            )
            kernel.drawn(block.people, key, size * rank, asked)
            if project is None:
                kernel.item_gradient(
                    block.ptr, block.item, rating, path[-1], own, asked, found
                )
            else:
                kernel.projected_gradient(
                    block.ptr,
                    block.item,
                    rating,
                    path[-1],
                    own,
                    project.matrix,
                    asked,
                    found,
                )
            return {name: Rows(np.arange(len(found) + 1), asked, found[:, None])}

        return contribute

    def absorb_at(turn: int) -> Callable[[State, Mapping[str, Released]], State]:
        def absorb(state: State, released: Mapping[str, Released]) -> State:
            path = state.get("_path", first)
            (got,) = released.values()
            people = max(got.reports, 1)
            gradient = got.value.reshape(size, rank) / people
            if not exact and way != "naive":
                gradient = gradient * (size * rank)
            moved = step(path[-1], gradient, turn)
            return {
                **state,
                "gradient": gradient.astype(np.float32),
                "_path": np.concatenate([path, moved[None]]),
            }

        return absorb

    rounds = []
    for turn, (takes_part, name) in enumerate(_who(public, settings)):
        key = np.uint64(rng.integers(1 << 63))
        part = _part(public, settings, way, name, size)
        rounds.append(
            Round(
                f"step {turn + 1}",
                (part,),
                contribute_at(key, name),
                absorb_at(turn),
                takes_part,
                (kept,),
            )
        )
    return Plan(public.unit, tuple(rounds), _story(public, settings, way))


def descent_shared(
    name: str, public: Public, state: State, settings: OneBitSettings, seed: int
) -> Shared:
    level = np.sqrt(
        max(abs(public.schema.middle), 0.1 * (public.schema.high - public.schema.low))
        / settings.rank
    )
    numbers = {
        "start": float(level),
        "rate": settings.own_rate,
        "ridge": settings.ridge,
        "middle": public.schema.middle,
        "unit_width": public.schema.unit_width,
    }
    personal, arrays = "descent", {"path": np.asarray(state["_path"][1:], np.float32)}
    if getattr(settings, "recover", "") == "ratings":
        rng = np.random.default_rng(seed)
        rng.standard_normal(
            (1, public.items, settings.rank)
        )  # the first factors stand before it in the stream
        personal, arrays["projection"] = (
            "sparse-descent",
            _Projection(public.items, settings, rng).matrix,
        )
    return Shared(
        name,
        personal,
        arrays,
        numbers,
        public.schema,
        public.catalogue,
        settings.model_dump(),
    )


def _step(
    settings: OneBitSettings, exact: bool, project: _Projection | None
) -> Callable[[Any, Floats, int], Any]:
    """V - (gamma_t / f_k)(gradient + 2 ridge V): a step that is not finite is not taken."""
    factor = {"one": 1.0, "k": float(settings.rounds), "k2": float(settings.rounds**2)}[
        settings.correction
    ]
    factor = 1.0 if exact else factor

    def step(
        factors: NDArray[np.float32], gradient: Floats, turn: int
    ) -> NDArray[np.float32]:
        whole = gradient if project is None else project.back(gradient, exact)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = factors - settings.rate / (turn + 1) / factor * (
                whole + 2 * settings.ridge * factors
            )
        if not np.isfinite(moved).all():
            return factors
        return np.clip(moved, -LARGEST, LARGEST).astype(np.float32)

    return step


def _who(public: Public, settings: OneBitSettings) -> list[tuple[Participation, str]]:
    """Who takes part in each round, and the name of its part."""
    if public.calibration == "paper" or public.budget is None:
        rounds = settings.rounds + (1 if public.calibration == "paper" else 0)
        return [(Everyone(), "bits")] * rounds
    each = settings.each or 1
    if settings.rounds % each:
        raise SettingError(
            f"each is {each}: it must divide the {settings.rounds} rounds"
        )
    groups = settings.rounds // each
    return [
        (
            Slice(turn % groups, groups) if groups > 1 else Everyone(),
            f"bits {turn // groups + 1}",
        )
        for turn in range(settings.rounds)
    ]


def _part(
    public: Public, settings: OneBitSettings, way: Way, name: str, size: int
) -> Part:
    rank, share = settings.rank, 1 / (settings.each or 1)
    budget = public.budget
    if budget is None:
        return Part(name, size, UNCLIPPED, width=rank, share=1 / settings.rounds)
    printed = public.calibration == "paper"
    width = public.schema.high - public.schema.low
    if way == "naive":
        if printed:
            scale = size * width * rank / (budget.epsilon / 2 / settings.rounds)
            naive = Claim(
                "masked", scale, budget.epsilon / settings.rounds, 0.0, UNBOUNDED_REASON
            )
            return Part(name, size, UNCLIPPED, width=rank, printed=naive)
        return Part(
            name,
            size,
            Replaced(1.0, "l1" if budget.delta == 0 else "l2"),
            width=rank,
            share=share,
        )
    each = budget.epsilon / settings.rounds
    claim = Claim("response", each, each, 0.0, REASON) if printed else None
    return Part(
        name, size * rank, Report(), kind=Kind.REPORT, share=share, printed=claim
    )


class _Projection:
    """A public q x m projection, kept once; its pseudo-inverse is applied by a solve and
    never formed.

    With `recover` = ratings the descent is on B (equation 9). In terms of V = Phi'B it is
    the same descent with Phi' in place of the pseudo-inverse, from a start in the row
    space.
    """

    def __init__(self, items: int, settings: Any, rng: np.random.Generator) -> None:
        self.rows, self.transposed = (
            min(settings.projection, items),
            settings.recover == "ratings",
        )
        shape = (self.rows, items)
        if settings.entries == "sign":
            signs = rng.integers(0, 2, shape, dtype=np.int8)
            self.matrix = (2 * signs.astype(np.float32) - 1) / np.float32(
                np.sqrt(self.rows)
            )
        else:
            self.matrix = rng.standard_normal(shape, dtype=np.float32) / np.float32(
                np.sqrt(self.rows)
            )
        self._solve: Any = None

    def back(self, gradient: Floats, whole: bool = False) -> Floats:
        """From the projected gradient (or the `whole` exact one) to the step on the item
        factors."""
        if whole:
            return (
                self.matrix.T @ (self.matrix @ gradient)
                if self.transposed
                else gradient
            )
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
            gram[np.diag_indices_from(gram)] *= (
                1 + 1e-5
            )  # a square projection is near singular
            self._solve = cho_factor(gram, overwrite_a=True)
        solved = cho_solve(self._solve, reduced.astype(np.float32))
        result: Floats = (self.matrix.T @ solved).astype(np.float64)
        return result


def _story(public: Public, settings: OneBitSettings, way: Way) -> tuple[str, ...]:
    if public.budget is None:
        return ("Exact gradients, for comparison.",)
    if public.calibration == "paper":
        return (
            (
                f"As printed: {settings.rounds + 1} rounds in which everybody answers at "
                f"epsilon/{settings.rounds}."
            ),
        )
    each = settings.each or 1
    return (f"{settings.rounds} rounds; each person answers in {each} of them.",)
