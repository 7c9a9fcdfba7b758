"""Training on noisy ratings: post-processing of an input release, so it may look at them as
often as it likes.

Item factors are trained with a ridge that grows with the known noise, on nine tenths of the
noisy ratings; the last tenth judges. Unless they predict it better than no factors, clearly
out of the noise, there are none.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.factorization.printed.descent import scalar_lift
from tacit.methods.factorization.state import ValueState
from tacit.methods.factorization.value import people_of
from tacit.model.person.gaussian import NOISE

Floats = NDArray[np.float64]
Trainer = Literal["descent", "least squares", "svdpp", "scalar"]
"""`svdpp` learns implicit factors; `scalar` is descent with the implicit term that Xian et
al. print."""
HELD = 0.1
STANDS_OUT = 2.0
"""Standard errors by which factors must win."""
RIDGE, RIDGE_EACH = 3.0, 0.05
TRIED = (1.0, 0.4)
"""Multiples of the ridge that the noise asks for."""


def factors_from_noisy(
    public: Public,
    state: ValueState,
    trainer: Trainer,
    width: int,
    epochs: int,
    seed: int,
) -> ValueState:
    """The state with `factors` (and `implicit`) for people of unit prior variance, or
    without any."""
    assert public.pattern is not None
    rng = np.random.default_rng(seed)
    held = rng.random(len(state.values.noisy)) < HELD
    extra = state.values.sd**2
    tried = []
    for multiple in TRIED:
        noise = multiple * (1 + extra / NOISE)
        made = _train(public, state, trainer, width, epochs, seed, noise, ~held)
        tried.append((_gain(state, made, public, held), noise, made))
    gain, noise, made = max(tried, key=lambda one: one[0])
    if not gain > STANDS_OUT:
        return state
    if (
        trainer != "svdpp"
    ):  # a third training of these would cost more than a tenth of the ratings is worth
        made = _train(
            public, state, trainer, width, epochs, seed, noise, np.ones(len(held), bool)
        )
    own, factors, implicit = made
    moment = (own.T @ own + 1e-9 * np.eye(width)) / max(len(own), 1)
    root = np.linalg.cholesky(moment)
    state = state.after(factors=factors @ root)
    if implicit is not None:
        state = state.after(implicit=np.linalg.solve(root, implicit.T).T)
    if trainer == "scalar":
        state = state.after(lift=np.linalg.solve(root, np.ones(width)))
    return state


def _train(
    public: Public,
    state: ValueState,
    trainer: Trainer,
    width: int,
    epochs: int,
    seed: int,
    noise: float,
    kept: NDArray[np.bool_],
) -> tuple[Floats, Floats, Floats | None]:
    """People's vectors, item factors, and implicit factors for SVD++."""
    from threadpoolctl import threadpool_limits

    assert public.pattern is not None
    items = public.items
    people = people_of(public)
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(people), np.diff(public.pattern.ptr))[kept]
    item = public.pattern.item[kept]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=people))])
    value = state.values.noisy[kept].astype(np.float32)
    own = np.zeros((people, width), np.float32)
    factors = (rng.standard_normal((items, width)) * 0.1).astype(np.float32)
    if trainer == "least squares":
        with threadpool_limits(1):
            _least_squares(ptr, item, value, own, factors, noise, epochs)
        return own.astype(np.float64), factors.astype(np.float64), None
    from tacit.methods.factorization.kernels_sgd import biased_epoch
    from tacit.methods.factorization.kernels_svdpp import svdpp_epoch

    own = (rng.standard_normal((people, width)) * 0.1).astype(np.float32)
    level, bias = np.zeros(people, np.float32), np.zeros(items, np.float32)
    implicit = np.zeros((items, width), np.float32)
    rate, ridge = 0.01 / np.sqrt(noise), RIDGE_EACH * noise
    count = np.diff(ptr)[:, None]
    lift = (
        scalar_lift(count).astype(np.float32)
        if trainer == "scalar"
        else np.zeros((people, 1), np.float32)
    )
    own += lift
    for _ in range(epochs):
        given = (ptr, item, value, rng.permutation(people), level, bias, own, factors)
        if trainer == "svdpp":
            svdpp_epoch(*given, implicit, rate, ridge, ridge)
        else:
            biased_epoch(*given, rate, ridge, ridge)
            shrunk = max(0.0, 1 - rate * ridge) ** count
            own += (1 - shrunk).astype(np.float32) * lift  # shrink toward it, not to 0
        rate *= 0.95
    return (
        own.astype(np.float64),
        factors.astype(np.float64),
        implicit.astype(np.float64) if trainer == "svdpp" else None,
    )


def _least_squares(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: NDArray[np.float32],
    own: NDArray[np.float32],
    factors: NDArray[np.float32],
    noise: float,
    epochs: int,
) -> None:
    from tacit.kernels.als import half_step
    from tacit.kernels.order import by_item

    starts, person, cell = by_item(ptr, item, len(factors))
    ridges = [
        np.repeat(
            ((RIDGE + RIDGE_EACH * np.diff(each)) * noise)[:, None], factors.shape[1], 1
        ).astype(np.float32)
        for each in (ptr, starts)
    ]
    for _ in range(epochs):
        half_step(ptr, item, value, factors, ridges[0], 0, len(own), own)
        half_step(starts, person, value[cell], own, ridges[1], 0, len(factors), factors)


def _gain(
    state: ValueState,
    made: tuple[Floats, Floats, Floats | None],
    public: Public,
    held: NDArray[np.bool_],
) -> float:
    """By how many standard errors the factors predict the held noisy ratings better than
    nothing does."""
    assert public.pattern is not None
    own, factors, implicit = made
    user = np.repeat(np.arange(len(own)), np.diff(public.pattern.ptr))
    if implicit is not None:
        from scipy.sparse import csr_array

        ptr, item = public.pattern.ptr, public.pattern.item
        rated = csr_array(
            (np.ones(len(item)), item, ptr), shape=(len(own), len(implicit))
        )
        own = own + (rated @ implicit) / np.sqrt(np.maximum(np.diff(ptr), 1))[:, None]
    told = np.einsum("nd,nd->n", own[user[held]], factors[public.pattern.item[held]])
    real = state.values.noisy[held]
    better = real**2 - (real - told) ** 2
    error = float(better.std()) / np.sqrt(max(len(better), 1))
    gain = float(better.mean()) / max(error, 1e-12) if len(better) else 0.0
    return gain if np.isfinite(gain) else 0.0
