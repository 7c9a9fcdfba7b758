"""Epochs of gradient descent with biases, plain or with the implicit side of SVD++: what
twins run on ratings, and post-processing on noisy ones.

NOT PRIVATE by itself: whoever calls it on ratings publishes a twin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.methods.factorization.implicit import Implicit, scalar_lift

Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]
START = 0.1
"""Standard deviation of the first, random factors."""
RATE = 0.01
"""Of the first epoch, without noise: found on one split of ML-1M."""
DECAY = 0.95
"""What each epoch leaves of the rate."""


@dataclass(frozen=True)
class DescentModel:
    """What descent learns: arrays that every epoch moves in place."""

    own: Singles
    """People x factors."""
    factors: Singles
    """Items x factors."""
    own_bias: Singles
    bias: Singles
    implicit: Singles
    """Items x factors, moved only where they are learned."""

    @staticmethod
    def begin(user_factors: Singles, factors: Singles, implicit: Singles) -> DescentModel:
        """These factors, and no biases yet."""
        own_bias = np.zeros(len(user_factors), np.float32)
        bias = np.zeros(len(factors), np.float32)
        return DescentModel(user_factors, factors, own_bias, bias, implicit)


@dataclass(frozen=True)
class Pace:
    """How far descent goes."""

    epochs: int
    rate: float
    """Of the first epoch."""
    ridge: float
    bias_ridge: float


def random_factors(rng: np.random.Generator, rows: int, width: int, size: float = START) -> Singles:
    """Rows to start from."""
    return (rng.standard_normal((rows, width)) * size).astype(np.float32)


def descend(
    ptr: Ints,
    item: Codes,
    value: Singles,
    sides: DescentModel,
    pace: Pace,
    rng: np.random.Generator,
    implicit: Implicit,
) -> None:
    """Epochs over ratings in compressed rows, person by person, in a new random order every
    time and at a rate that falls. `implicit` is what having rated says."""
    from tacit.kernels.sgd import biased_epoch
    from tacit.kernels.svdpp import svdpp_epoch

    rate = pace.rate
    count = np.diff(ptr)[:, None]
    lift = np.zeros((len(sides.own), 1), np.float32)
    if implicit == "scalar":
        lift = scalar_lift(count).astype(np.float32)
    user_factors = sides.own
    user_factors += lift
    for _ in range(pace.epochs):
        order = rng.permutation(len(user_factors))
        if implicit == "learned":
            svdpp_epoch(
                ptr=ptr,
                item=item,
                value=value,
                people=order,
                own_bias=sides.own_bias,
                bias=sides.bias,
                user_factors=user_factors,
                factors=sides.factors,
                implicit=sides.implicit,
                rate=rate,
                ridge=pace.ridge,
                bias_ridge=pace.bias_ridge,
            )
        else:
            biased_epoch(
                ptr=ptr,
                item=item,
                value=value,
                people=order,
                own_bias=sides.own_bias,
                bias=sides.bias,
                user_factors=user_factors,
                factors=sides.factors,
                rate=rate,
                ridge=pace.ridge,
                bias_ridge=pace.bias_ridge,
            )
            # Every step of an epoch shrank a person's vector. What was taken of her lift is
            # given back, so that she shrinks toward it and not to 0.
            shrunk = max(0.0, 1 - rate * pace.ridge) ** count
            user_factors += (1 - shrunk).astype(np.float32) * lift
        rate *= DECAY
