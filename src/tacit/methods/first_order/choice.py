"""The personal Gaussian model that stands on first-order statistics: used by every method
whose people have one.

Three pieces, each of which a method may take by itself: the model of a state
(`first_model`), the round that chooses how widely people differ (`choice_round`), and the
published model (`published`). A method that learns more of its items than their effects
hands its own model to the last two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.bound import RowClip, Rows
from tacit.methods.base import Form, Method, Public
from tacit.methods.first_order.rounds import (
    BaselineShares,
    FirstOrder,
    FirstState,
    baseline_shares,
    even_count,
    loadings,
    person_rows,
    strength,
)
from tacit.methods.first_order.started import first_rounds, keep
from tacit.methods.refine.choose import (
    COVER_WEIGHT,
    LEFT_OUT,
    NOMINAL,
    REACH,
    ROW_CLIP,
    STEPS,
    Revealed,
    candidates,
    choose,
)
from tacit.model.person.gaussian import GaussianModel
from tacit.model.shared import Shared
from tacit.rounds.options import Calibration
from tacit.rounds.round import AnyState, Block, Part, Released, Round

T = TypeVar("T")
Groups = NDArray[np.int64]
"""Group of each column of item factors, 0 for the user bias: columns of a group are scaled
together."""
Forms: TypeAlias = Mapping[Calibration, type[Form] | str]
"""Who plans under each calibration: `Method.forms`."""


@dataclass(frozen=True)
class Grouped:
    """A personal model, and the group of each column of its item factors."""

    model: GaussianModel
    groups: Groups
    widest: float = STEPS[-1]
    """Largest scale that the choice may give to factors."""
    together: bool = False
    """Whether the scales of all groups are estimated jointly from all gains."""


ModelOf = Callable[[AnyState], Grouped]
"""The personal model of a state, as far as it is released."""


@dataclass(frozen=True)
class Baseline:
    """The rounds of `bias` before its choice, and how they divide the budget."""

    rounds: tuple[Round, ...]
    shares: BaselineShares


def baseline_rounds(
    first_order: FirstOrder, sweeps: int, *, user_factors: bool = False
) -> Baseline:
    """Global mean, popularity and `sweeps` releases of item sums, with the shares of `bias`.

    `user_factors`: whether a start brings item factors along. The remaining share, `shares.choice`,
    pays for the choice of scales."""
    mu = strength(first_order.public.budget)
    shares = baseline_shares(first_order.public.people, mu, sweeps)
    spread = 1 / (mu * sqrt(shares.sweep))
    rounds = (
        *first_rounds(first_order, shares.level, shares.weights, user_factors=user_factors),
        *(first_order.effects(f"effects {i}", shares.sweep, spread) for i in range(1, sweeps + 1)),
    )
    return Baseline(rounds, shares)


def first_groups(first_order: FirstOrder) -> Groups:
    """The groups of `first_model`, known before anything is released."""
    public_prior = first_order.public.known
    nothing = np.zeros(first_order.public.items)
    return loadings(
        nothing,
        first_order.features,
        item_biases=nothing,
        learned=None if public_prior is None else public_prior.tastes,
    )[1]


def first_model(first_order: FirstOrder, state: FirstState) -> Grouped:
    """The model of first-order rounds: global mean, popularity, popularity slopes and public
    features."""
    public_prior = first_order.public.known
    matrix, groups = loadings(
        state.weights.popularity,
        first_order.features,
        item_biases=state.effects.mean,
        level_variance=state.level.variance,
        learned=None if public_prior is None else public_prior.tastes,
    )
    return Grouped(GaussianModel(state.baseline, state.effects.variance, matrix), groups)


def once_for_each(compute: Callable[[AnyState], T]) -> Callable[[AnyState], T]:
    """The same answer for the same state, made once: all blocks of a round ask for it."""
    memo: tuple[AnyState, T] | None = None

    def lookup(state: AnyState) -> T:
        nonlocal memo
        entry = memo
        if entry is None or entry[0] is not state:
            memo = entry = (state, compute(state))
        return entry[1]

    return lookup


def choice_round(
    first_order: FirstOrder,
    share: float,
    groups: Groups | None = None,
    model_of: ModelOf | None = None,
    covered: bool = True,
) -> Round:
    """Choose scales and noise by a clipped left-out error: `tacit.methods.refine.choose`.

    `groups` and `model_of` are those of `first_model` unless given. The number of groups is public
    before anything is released; a model may have any number of columns in each. `covered`: whether
    intervals are made from it, so that covered errors are released in full."""
    columns = len(candidates(first_groups(first_order) if groups is None else groups))

    grouped_of = once_for_each(model_of or partial(first_model, first_order))

    def contribute(block: Block, state: FirstState) -> Mapping[str, Rows]:
        grouped = grouped_of(state)
        weight = np.ones(len(block.people))
        if first_order.whole_person:
            weight = 1 / np.sqrt(np.maximum(np.diff(block.ptr), even_count(state)))
        rows = left_out_rows(
            grouped.model,
            block.ptr,
            block.item,
            block.value,
            candidates(grouped.groups),
            state.effects.gain,
            weight,
        )
        if covered and first_order.whole_person and not first_order.pure:
            rows = with_room(rows)
        return {"gains": person_rows(rows)}

    def absorb(state: FirstState, released: Mapping[str, Released]) -> FirstState:
        grouped = grouped_of(state)
        noisy = released["gains"]
        choice = choose(
            noisy.value[0],
            noisy.sd,
            state.people,
            grouped.groups,
            grouped.model.noise,
            reveal(grouped, state),
        )
        return replace(state, choice=choice)

    bound = RowClip(ROW_CLIP, "l1" if first_order.pure else "l2")
    part = Part("gains", 1, bound, width=columns, share=share)
    return Round("choice", (part,), contribute, absorb)


def reveal(grouped: Grouped, state: FirstState) -> Revealed:
    """How precisely a typical person's ratings determine each group of factors."""
    model = grouped.model
    weight = state.weights.mean / state.weights.mean.sum()
    item_precision = state.level.count * weight * model.precision
    user_factors = {}
    for group in np.unique(grouped.groups[grouped.groups > 0]):
        rows = model.loadings[:, grouped.groups == group]
        values = np.linalg.eigvalsh((rows.T * item_precision) @ rows)
        user_factors[int(group)] = np.maximum(values, 0.0)
    information = (model.loadings.T * item_precision) @ model.loadings
    return Revealed(
        user_factors,
        1.0 / float(item_precision.sum()),
        grouped.widest,
        information if grouped.together else None,
    )


def widened(model: GaussianModel, state: FirstState) -> GaussianModel:
    """The same items with factors scaled as the choice found."""
    item_factors = np.ascontiguousarray(model.loadings * state.choice.scales)
    return replace(model, loadings=item_factors, noise=state.choice.noise)


def published(
    method: Method, first_order: FirstOrder, state: FirstState, model: GaussianModel
) -> Shared:
    """The shared model: `model` as wide as the choice made it, and what a later fit may
    start from."""
    public = first_order.public
    start_arrays, numbers = keep(first_order, state)
    model = widened(model, state)
    arrays = {
        "baseline": model.baseline.astype(np.float32),
        "variance": model.variance.astype(np.float32),
        "loadings": model.loadings.astype(np.float32),
        "weight": np.asarray(state.weights.mean, np.float32),
        **start_arrays,
    }
    return Shared(
        method.name,
        "gaussian",
        arrays,
        {"noise": model.noise, **numbers},
        public.schema,
        public.catalogue,
        method.settings.model_dump(),
    )


def left_out_rows(
    model: GaussianModel,
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: NDArray[np.floating],
    scales: NDArray[np.float64],
    pull: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """One row a person, *not yet clipped*: gain of each candidate over the first, and how far the
    share of her errors that the first covers is from nominal.

    `scales` are `tacit.methods.refine.choose.candidates`; a rating of person u moved the bias of
    item i by about pull_i x weight_u of itself (`ItemBiasEstimate.gain`, and the weight of u's
    residuals in the sums)."""
    from tacit.kernels.personal import left_out_block  # compiled on first use

    people = len(ptr) - 1
    loss = np.empty((people, len(scales)))
    covered = np.empty(people)
    residual = value - model.baseline[item]
    left_out_block(
        ptr,
        item,
        residual,
        model.loadings,
        model.precision,
        scales,
        pull,
        weight,
        LEFT_OUT,
        0,
        people,
        loss,
        REACH,
        covered,
    )
    beyond = np.where(np.diff(ptr) > 0, COVER_WEIGHT * (covered - NOMINAL), 0.0)
    return np.column_stack([loss[:, 1:] - loss[:, :1], beyond])


def with_room(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same rows, with gains so short that the last coordinate is not clipped.

    A person with large errors gains or loses much as well. Clipped as a whole, her row would count
    less for errors that are not covered than the rows of others count for those that are, the more
    so the fewer ratings people have."""
    gains, beyond = rows[:, :-1], rows[:, -1]
    room = np.sqrt(ROW_CLIP**2 - beyond**2)
    norm = np.maximum(np.sqrt((gains**2).sum(axis=1)), room)
    return np.column_stack([gains * (room / norm)[:, None], beyond])


# Which form of `bias` and `bayes` a fit without noise takes.


class FirstForms(Method):
    """A method whose twin is fitted in one piece.

    Other engines than threads give sums alone, and a start is built upon by sums: there
    `none` is `sound` without its noise.
    """

    def _form_of(self, public: Public) -> Form:
        sums = public.start is not None or self.engine not in (None, "threads")
        if public.calibration == "none" and sums:
            return self.form("sound")
        return super()._form_of(public)
