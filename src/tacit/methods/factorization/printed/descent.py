"""Printed forms of Xian et al. 2017, Berlioz et al. 2015, Hua et al. 2015, Liu et al. 2015:
claimed, not certified.

Each runs as one stepwise round that is handed a tape of unit Laplace (or normal) draws and
scales them as its paper prints. Only item arrays are published; a person's own side is
folded in from her own ratings (her trained vector would be personal). What is wrong with
each claim is said in its `reason`; docs/proofs/mf.md says more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.methods.base import Public
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import STEPWISE, Claim, Epoch, EpochKind
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.methods.base import Method

Floats = NDArray[np.float64]
Train = Callable[[Block, Floats], Floats]

ITEM_SHRINK = 10.0
OWN_SHRINK = 25.0
LIFT_SHRINK = 10.0
"""lambda_1, lambda_2 and lambda_3 of Xian et al."""
ERROR_LIMIT = 2.0
STOP = 1e-4
"""Iterations end when the training error changes by less."""
NOISE = 0.7


@dataclass(frozen=True)
class Printed:
    """Constants of a paper. The inner scale has width 4, as their 1 to 5 has, so they carry
    over."""

    factors: int = 5
    epochs: int = 20
    seed: int = 0
    rate: float = 0.001
    ridge: float = 0.125
    own_ridge: float = 1.0
    """Ridge of a person's fold-in beside `ridge` for each of her ratings."""
    lift: bool = False
    """Whether SVD++'s scalar implicit term, as printed, is added to every factor of a person."""
    learned: bool = False
    """Whether implicit factors are learned for each item instead (Koren 2008), from the
    same noisy errors."""

    @property
    def columns(self) -> int:
        """Of what is published for each item: mean, bias, factors and implicit factors."""
        return 2 + self.factors * (2 if self.learned else 1)


def printed_plan(
    public: Public,
    printed: Printed,
    train: Train,
    tape: int,
    reason: str,
    noise: Literal["laplace", "gaussian"] = "laplace",
    kind: EpochKind = STEPWISE,
    epsilon: float | None = None,
) -> Plan:
    """One round: `train` makes (mean, item bias, factors) from all ratings and a tape of
    `tape` unit draws."""
    assert public.budget is not None
    items = public.items

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            made = train(block, block.draws["items"])
        return {"items": Rows(np.array([0, items]), np.arange(items), made)}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        return {**state, "items": released["items"].value}

    claim = Claim(noise, 1.0, epsilon or public.budget.epsilon, 0.0, reason)
    part = Part(
        "items",
        items,
        CellClip(1.0),
        width=printed.columns,
        printed=Epoch(kind, claim, max(tape, 1)),
    )
    story = (f"As printed, for comparison: claimed, not certified. {reason}",)
    return Plan(public.unit, (Round("printed", (part,), contribute, absorb),), story)


def paper_finish(
    method: Method, public: Public, printed: Printed, state: State
) -> Shared:
    """Item arrays for a fold-in with the paper's ridges."""
    table = np.nan_to_num(state["items"], posinf=0.0, neginf=0.0)
    scale = np.sqrt(NOISE / printed.own_ridge)
    level = np.full((len(table), 1), np.sqrt(NOISE / OWN_SHRINK))
    arrays = {
        "baseline": table[:, 0] + table[:, 1],
        "variance": np.zeros(len(table)),
        "loadings": np.hstack(
            [level, scale * np.clip(table[:, 2 : 2 + printed.factors], -1e3, 1e3)]
        ),
    }
    numbers = {"noise": NOISE, "per_rating": printed.ridge / printed.own_ridge}
    if printed.lift:
        arrays["lift"] = np.concatenate([[0.0], np.full(printed.factors, 1 / scale)])
        numbers["lift_shrink"] = LIFT_SHRINK
    if printed.learned:
        arrays["implicit"] = np.hstack(
            [0 * level, np.clip(table[:, 2 + printed.factors :], -1e3, 1e3) / scale]
        )
    return Shared(
        method.name,
        "factors",
        {name: np.asarray(array, np.float32) for name, array in arrays.items()},
        numbers,
        public.schema,
        public.catalogue,
        method.settings.model_dump(),
    )


@dataclass(frozen=True)
class Biases:
    """Raw biases as Xian et al. compute them (formula 4), and what is left of each rating."""

    mean: float
    item: Floats
    rest: Floats
    lift: Floats
    """n^-1/2 n/(n + lambda_3) for each person; 0 without the implicit term."""


def raw_biases(block: Block, items: int, printed: Printed) -> Biases:
    mean = float(block.value.mean()) if len(block.value) else 0.0
    count = np.bincount(block.item, minlength=items)
    bias = np.bincount(block.item, block.value - mean, items) / (ITEM_SHRINK + count)
    rest = block.value - mean - bias[block.item]
    counts = np.diff(block.ptr)
    own = person_sums(block.ptr, rest) / (OWN_SHRINK + counts)
    lift = scalar_lift(counts) if printed.lift else np.zeros(len(counts))
    return Biases(mean, bias, rest - np.repeat(own, counts), lift)


def scalar_lift(counts: NDArray[np.int64]) -> Floats:
    """SVD++'s implicit term as Xian et al. print it: one number a person, added to each of
    her factors."""
    lift: Floats = np.sqrt(counts) / (LIFT_SHRINK + counts)
    return lift


def person_sums(ptr: NDArray[np.int64], values: Floats) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(values)])
    sums: Floats = total[ptr[1:]] - total[ptr[:-1]]
    return sums


def start(
    people: int, items: int, printed: Printed
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    rng = np.random.default_rng(printed.seed)
    return (
        (rng.standard_normal((people, printed.factors)) * 0.1).astype(np.float32),
        (rng.standard_normal((items, printed.factors)) * 0.1).astype(np.float32),
    )


def table(mean: float, bias: Floats, factors: NDArray[np.floating]) -> Floats:
    return np.hstack(
        [np.full((len(bias), 1), mean), bias[:, None], factors.astype(np.float64)]
    )


def descend(
    block: Block,
    biases: Biases,
    printed: Printed,
    items: int,
    scale: float,
    tape: Floats,
) -> Floats:
    """Algorithm 1: noise of `scale` on every error of every epoch, clamped, then the two steps."""
    from tacit.methods.factorization.kernels_sgd import noisy_epoch
    from tacit.methods.factorization.kernels_svdpp import noisy_plus_epoch

    own, factors = start(len(block.ptr) - 1, items, printed)
    implicit = np.zeros_like(factors)
    base, lift = biases.rest.astype(np.float32), biases.lift.astype(np.float32)
    cells, before = len(base), np.inf
    for epoch in range(printed.epochs):
        noise = scale * tape[epoch * cells : (epoch + 1) * cells]
        how = printed.rate, printed.ridge, ERROR_LIMIT, noise
        if printed.learned:
            total = noisy_plus_epoch(
                block.ptr, block.item, base, own, factors, implicit, *how
            )
        else:
            total = noisy_epoch(block.ptr, block.item, base, lift, own, factors, *how)
        error = float(np.sqrt(total / max(cells, 1)))
        if abs(before - error) < STOP:
            break
        before = error
    return table(
        biases.mean,
        biases.item,
        np.hstack([factors, implicit]) if printed.learned else factors,
    )


def gradient_plan(public: Public, printed: Printed) -> Plan:
    """DPSS: noise of scale 4k/epsilon on every error of every epoch, from raw biases."""
    assert public.budget is not None
    items, scale = public.items, printed.epochs * 4.0 / public.budget.epsilon

    def train(block: Block, tape: Floats) -> Floats:
        return descend(
            block, raw_biases(block, items, printed), printed, items, scale, tape
        )

    reason = (
        "Mean and biases are computed from raw ratings and needed to predict, so "
        "publishing them bounds nothing; "
        "given public biases the noise on errors would be right for the value of one rating."
    )
    return printed_plan(
        public, printed, train, printed.epochs * _sizes(public)[0], reason
    )


def knorm_rows(tape: Floats, rows: int, width: int) -> Floats:
    """`rows` vectors with density ~ exp(-|b|), from 2 x width unit Laplace draws each.

    The radius is Gamma(width): the sum of `width` magnitudes, each exponential. The
    direction is that of a normal vector, whose entries are the other draws taken through
    their distribution function.
    """
    from scipy.special import ndtri

    draws = tape[: 2 * rows * width].reshape(rows, 2, width)
    radius = np.abs(draws[:, 0]).sum(axis=1)
    tail = np.clip(0.5 * np.exp(-np.abs(draws[:, 1])), 1e-300, 0.5 - 1e-9)
    normal = -np.sign(draws[:, 1] + 1e-300) * ndtri(tail)
    length = np.sqrt((normal**2).sum(axis=1))
    result: Floats = normal * (radius / np.maximum(length, 1e-12))[:, None]
    return result


def preprocess(
    block: Block,
    items: int,
    scales: tuple[float, float, float],
    tape: Floats,
    limit: float = 1.0,
    shrink: float = 5.0,
) -> Biases:
    """Berlioz et al.: noisy global, item and person averages; ratings less both, clamped to
    +-limit. Inner scale."""
    cells, people = len(block.value), len(block.ptr) - 1
    count, counts = np.bincount(block.item, minlength=items), np.diff(block.ptr)
    mean = (block.value.sum() + scales[0] * tape[0]) / max(cells, 1)
    sums = np.bincount(block.item, block.value, items) + scales[1] * tape[1 : 1 + items]
    level = np.clip((sums + shrink * mean) / (count + shrink), -2, 2)
    own = (
        person_sums(block.ptr, block.value - level[block.item])
        + scales[2] * tape[1 + items : 1 + items + people]
    )
    offset = np.clip(own / (counts + shrink), -2, 2)
    rest = np.clip(
        block.value - level[block.item] - np.repeat(offset, counts), -limit, limit
    )
    return Biases(0.0, level, rest, np.zeros(people))


PREPROCESS = 0.02, 0.14, 0.14
"""Of epsilon, to the three averages (Berlioz et al., as far as it is known); the rest to
the factors."""


def preprocessed_descent(public: Public, printed: Printed) -> Plan:
    """PSGD: private averages, then gradient steps on clamped residuals with noise on every
    error."""
    assert public.budget is not None
    epsilon, items = public.budget.epsilon, public.items
    cells, people = _sizes(public)
    head = 1 + items + people
    first = tuple(4.0 / (epsilon * share) for share in PREPROCESS)
    scale = printed.epochs * 2.0 / (epsilon * (1 - sum(PREPROCESS)))

    def train(block: Block, tape: Floats) -> Floats:
        biases = preprocess(block, items, first, tape)  # type: ignore[arg-type]
        return descend(block, biases, printed, items, scale, tape[head:])

    reason = (
        "The noise is sized for the value of one rating with all counts public, and the "
        "clamp to +-2 comes after the "
        "noise; the sums behind the averages use floating point in the paper. Nothing "
        "protects who rated what."
    )
    return printed_plan(public, printed, train, head + printed.epochs * cells, reason)


def _sizes(public: Public) -> tuple[int, int]:
    """Cells and people, public at the unit `value`; 1 each where a plan is only being priced."""
    if public.pattern is None:
        return 1, 1
    return len(public.pattern.item), len(public.pattern.ptr) - 1
