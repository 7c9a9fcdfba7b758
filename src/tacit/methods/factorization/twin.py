"""The non-private twins: alternating least squares, biased gradient descent and SVD++, each
trained in one piece.

NOT PRIVATE. They run as one stepwise round without a tape, on one block of all people, and
publish item arrays only: everybody's own side is folded in, as in the private methods, so
the two are compared on equal terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.methods.base import Public
from tacit.methods.factorization.printed.descent import LIFT_SHRINK, scalar_lift
from tacit.model.shared import Shared
from tacit.rounds.printed import Epoch
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.methods.base import Method

Singles = NDArray[np.float32]
TwinKind = Literal["als", "nonnegative", "svd", "svdpp"]

RIDGE = 3.0
RIDGE_EACH = 0.05
BIAS_RIDGE = 3.0
"""Least squares: ridge of a row, more for each of its ratings, and of a bias. Found on one
split of ML-1M."""
RATE = 0.01
DECAY = 0.95
BIAS_DECAY = 0.01
DESCENT_RIDGE = {"svd": 0.05, "svdpp": 0.03}
NOISE = 0.7
"""Variance of a rating around the model: sets the scale of the published loadings, not the
predictions."""
LIKE_WEIGHT, LIKE_RIDGE = 8.0, 20.0
DEFAULTS = {
    "als": (30, 12),
    "nonnegative": (30, 12),
    "svd": (50, 26),
    "svdpp": (20, 26),
}
"""Factors and epochs."""


@dataclass(frozen=True)
class TwinSettings:
    kind: TwinKind
    factors: int | None
    epochs: int | None
    seed: int
    scalar: bool = False
    """SVD++ with the printed scalar instead of learned implicit factors."""

    @property
    def learns_implicit(self) -> bool:
        return self.kind == "svdpp" and not self.scalar

    @property
    def size(self) -> tuple[int, int]:
        factors, epochs = DEFAULTS[self.kind]
        return self.factors or factors, self.epochs or epochs


def twin_round(public: Public, settings: TwinSettings) -> Round:
    """The whole training as one round; released as it is."""
    items = public.items
    factors, _ = settings.size
    likes = public.schema.positive is not None
    width = factors if likes else 2 + factors * (2 if settings.learns_implicit else 1)

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(
            1
        ):  # one order of sums inside the matrix products, whatever the machine's threads
            if likes:
                made = _train_likes(block, items, settings)
            elif settings.kind in ("als", "nonnegative"):
                made = _train_least_squares(block, items, settings)
            else:
                made = _train_descent(block, items, settings)
        rows = Rows(np.array([0, items]), np.arange(items), made.astype(np.float64))
        count = np.bincount(block.item, minlength=items).astype(np.float64)
        return {"items": rows, "weight": Rows(rows.ptr, rows.index, count[:, None])}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        return {
            **state,
            "items": released["items"].value,
            "weight": released["weight"].value[:, 0],
        }

    parts = (
        Part("items", items, CellClip(1.0), width=width, share=0.5, printed=Epoch()),
        Part("weight", items, CellClip(1.0), share=0.5, printed=Epoch()),
    )
    return Round("training", parts, contribute, absorb)


def twin_finish(
    method: Method, public: Public, settings: TwinSettings, state: State
) -> Shared:
    """Loadings on the scale where a person's z has unit prior variance."""
    table = state["items"]
    factors, _ = settings.size
    numbers: dict[str, float] = {}
    if public.schema.positive is not None:
        arrays = {"factors": table, "weight": state["weight"]}
        numbers = {"weight": LIKE_WEIGHT, "ridge": LIKE_RIDGE}
        return _shared(method, public, "liked factors", arrays, numbers)
    own_ridge, each = RIDGE, RIDGE_EACH
    if settings.kind in DESCENT_RIDGE:
        own_ridge, each = 1.0, DESCENT_RIDGE[settings.kind]
    scale = np.sqrt(NOISE / own_ridge)
    level = np.full((len(table), 1), np.sqrt(NOISE / BIAS_RIDGE))
    arrays = {
        "baseline": table[:, 0] + table[:, 1],
        "variance": np.zeros(len(table)),
        "loadings": np.hstack([level, scale * table[:, 2 : 2 + factors]]),
    }
    numbers = {"noise": NOISE, "per_rating": each / own_ridge}
    if settings.learns_implicit:
        arrays["implicit"] = np.hstack(
            [np.zeros((len(table), 1)), table[:, 2 + factors :] / scale]
        )
    elif settings.scalar:
        arrays["lift"] = np.concatenate([[0.0], np.full(factors, 1 / scale)])
        numbers["lift_shrink"] = LIFT_SHRINK
    return _shared(method, public, "factors", arrays, numbers)


def _shared(
    method: Method,
    public: Public,
    personal: str,
    arrays: Mapping[str, NDArray[np.float64]],
    numbers: dict[str, float],
) -> Shared:
    return Shared(
        method.name,
        personal,
        {name: np.asarray(array, np.float32) for name, array in arrays.items()},
        numbers,
        public.schema,
        public.catalogue,
        method.settings.model_dump(),
    )


def _start(
    block: Block, items: int, seed: int
) -> tuple[float, Singles, np.random.Generator]:
    mean = float(block.value.mean()) if len(block.value) else 0.0
    return mean, (block.value - mean).astype(np.float32), np.random.default_rng(seed)


def _train_least_squares(
    block: Block, items: int, settings: TwinSettings
) -> NDArray[np.float32]:
    """Columns: mean, item bias, factors. The last column of either side is the other side's
    bias, against a 1."""
    from tacit.kernels.als import half_step
    from tacit.kernels.order import by_item

    d, epochs = settings.size
    mean, value, rng = _start(block, items, settings.seed)
    ptr, person, cell = by_item(block.ptr, block.item, items)
    people = len(block.ptr) - 1
    ridges = []
    for starts in (block.ptr, ptr):
        ridge = np.repeat(
            (RIDGE + RIDGE_EACH * np.diff(starts))[:, None], d + 1, 1
        ).astype(np.float32)
        ridge[:, d] = BIAS_RIDGE
        ridges.append(ridge)
    count = np.bincount(block.item, minlength=items)
    sides = np.zeros((people, d + 1), np.float32), np.zeros((items, d + 1), np.float32)
    own, other = sides
    other[:, :d] = rng.standard_normal((items, d)) * 0.1
    other[:, d] = np.bincount(block.item, value, items) / (count + BIAS_RIDGE)
    if settings.kind == "nonnegative":
        other[:, :d] = np.abs(other[:, :d])
    user = np.repeat(np.arange(people), np.diff(block.ptr))
    for _ in range(epochs):
        bias, other[:, d] = other[:, d].copy(), 1.0
        half_step(
            block.ptr,
            block.item,
            value - bias[block.item],
            other,
            ridges[0],
            0,
            people,
            own,
        )
        own_bias, own[:, d] = own[:, d].copy(), 1.0
        half_step(
            ptr, person, (value - own_bias[user])[cell], own, ridges[1], 0, items, other
        )
        if settings.kind == "nonnegative":
            np.maximum(other[:, :d], 0, out=other[:, :d])
    return np.hstack(
        [np.full((items, 1), mean, np.float32), other[:, d:], other[:, :d]]
    )


def _train_descent(
    block: Block, items: int, settings: TwinSettings
) -> NDArray[np.float32]:
    """Columns: mean, item bias, factors and, for SVD++, implicit factors."""
    from tacit.methods.factorization.kernels_sgd import biased_epoch
    from tacit.methods.factorization.kernels_svdpp import svdpp_epoch

    d, epochs = settings.size
    mean, value, rng = _start(block, items, settings.seed)
    people = len(block.ptr) - 1
    own_bias, bias = np.zeros(people, np.float32), np.zeros(items, np.float32)
    own = (rng.standard_normal((people, d)) * 0.1).astype(np.float32)
    factors = (rng.standard_normal((items, d)) * 0.1).astype(np.float32)
    implicit = (rng.standard_normal((items, d)) * 0.01).astype(np.float32)
    rate, ridge = RATE, DESCENT_RIDGE[settings.kind]
    count = np.diff(block.ptr)
    lift = (
        scalar_lift(count)[:, None].astype(np.float32)
        if settings.scalar
        else np.zeros((people, 1), np.float32)
    )
    own += lift
    for _ in range(epochs):
        order = rng.permutation(people)
        given = (block.ptr, block.item, value, order, own_bias, bias, own, factors)
        if settings.learns_implicit:
            svdpp_epoch(*given, implicit, rate, ridge, BIAS_DECAY)
        else:
            biased_epoch(*given, rate, ridge, BIAS_DECAY)
            own += (1 - (1 - rate * ridge) ** count[:, None]).astype(
                np.float32
            ) * lift  # shrink toward it, not to 0
        rate *= DECAY
    columns = [np.full((items, 1), mean, np.float32), bias[:, None], factors]
    return np.hstack([*columns, implicit] if settings.learns_implicit else columns)


def _train_likes(
    block: Block, items: int, settings: TwinSettings
) -> NDArray[np.float32]:
    """Weighted least squares over all cells (Hu, Koren and Volinsky 2008)."""
    from tacit.kernels.als import half_step_likes
    from tacit.kernels.order import by_item

    d, epochs = settings.size
    rng = np.random.default_rng(settings.seed)
    ptr, person, _ = by_item(block.ptr, block.item, items)
    people = len(block.ptr) - 1
    factors = (rng.standard_normal((items, d)) * 0.1).astype(np.float32)
    own = np.zeros((people, d), np.float32)
    for _ in range(epochs):
        half_step_likes(
            block.ptr,
            block.item,
            factors,
            factors.T @ factors,
            LIKE_WEIGHT,
            LIKE_RIDGE,
            0,
            people,
            own,
        )
        half_step_likes(
            ptr, person, own, own.T @ own, LIKE_WEIGHT, LIKE_RIDGE, 0, items, factors
        )
    return factors
