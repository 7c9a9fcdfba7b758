"""Training on noisy ratings: post-processing of an input release, so it may look at them as
often as it likes.

Item factors are trained with a ridge that grows with the known noise, on nine tenths of the
noisy ratings; the last tenth judges. Unless they predict it better than no factors, clearly
out of the noise, there are none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.pools import one_blas_thread
from tacit.methods.base import Public
from tacit.methods.factorization.rounds import Implicit, scalar_lift
from tacit.methods.factorization.state import ValueState
from tacit.methods.factorization.value import pattern_of, people_of
from tacit.model.person.gaussian import NOISE

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]
Mask = NDArray[np.bool_]
Trainer = Literal["descent", "least squares", "svdpp", "scalar"]
"""`svdpp` learns implicit factors; `scalar` is descent with the implicit term that Xian et
al. print."""
HELD = 0.1
"""Share of the noisy ratings that judges."""
STANDS_OUT = 2.0
"""Standard errors by which factors must win."""
RIDGE = 3.0
"""Of a row in least squares, without noise; as the twin's."""
RIDGE_EACH = 0.05
"""More of it for each rating of the row, and the ridge of descent; as the twin's."""
TRIED = (1.0, 0.4)
"""Multiples of the ridge that the noise asks for."""
SAYS: dict[Trainer, Implicit] = {"descent": "nothing", "svdpp": "learned", "scalar": "scalar"}
"""What is implicit to each way of descent."""
START = 0.1
"""Standard deviation of the first, random factors."""
RATE = 0.01
"""Of the first epoch, without noise: found on one split of ML-1M."""
DECAY = 0.95
"""What each epoch leaves of the rate."""


@dataclass(frozen=True)
class Trained:
    """What a training leaves: both sides, of which only the items' is published."""

    own: Floats
    """People's vectors: from noisy ratings, so public."""
    factors: Floats
    implicit: Floats | None = None
    """Of SVD++."""


@dataclass(frozen=True)
class Tried:
    """A training on nine tenths, and what the last tenth says about it."""

    noise: float
    made: Trained
    gain: float
    """In standard errors."""


@dataclass(frozen=True)
class NoisyTraining:
    """One way to train, on the noisy ratings of one release.

    `width` factors by `epochs` passes, from random ones that the `seed` draws.
    """

    public: Public
    state: ValueState
    trainer: Trainer
    width: int
    epochs: int
    seed: int

    def run(self, noise: float, retained: Mask) -> Trained:
        """Train on the `retained` ratings, at a ridge `noise` times that of plain ones.

        Noise that doubles a rating's variance deserves twice the ridge; how well that holds
        for factors is judged on the ratings that were not kept.
        """
        # The kept ratings as compressed rows: everybody stays, with fewer of her own.
        pattern = pattern_of(self.public)
        people = people_of(self.public)
        user = np.repeat(np.arange(people), np.diff(pattern.ptr))[retained]
        counts = np.bincount(user, minlength=people)
        ptr = np.concatenate([[0], np.cumsum(counts)])
        value = self.state.values.noisy[retained].astype(np.float32)
        item = pattern.item[retained]
        if self.trainer != "least squares":
            return self._descend(ptr, item, value, noise)
        with one_blas_thread():
            return self._alternate(ptr, item, value, noise)

    def _alternate(self, ptr: Ints, item: Codes, value: Singles, noise: float) -> Trained:
        """Ridge solves of all people, then of all items, again and again. Biases are not
        needed: effects and levels were subtracted before the noise."""
        from tacit.kernels.als import half_step
        from tacit.kernels.order import by_item

        items = self.public.items
        rng = np.random.default_rng(self.seed)
        user_factors = np.zeros((people_of(self.public), self.width), np.float32)
        factors = random_factors(rng, items, self.width)
        order = by_item(ptr, item, items)
        own_ridge = self._ridge(ptr, noise)
        ridge = self._ridge(order.ptr, noise)
        by_items = value[order.cell]
        for _ in range(self.epochs):
            half_step(
                ptr=ptr,
                index=item,
                value=value,
                factors=factors,
                ridge=own_ridge,
                start=0,
                stop=len(user_factors),
                out=user_factors,
            )
            half_step(
                ptr=order.ptr,
                index=order.person,
                value=by_items,
                factors=user_factors,
                ridge=ridge,
                start=0,
                stop=items,
                out=factors,
            )
        return Trained(user_factors.astype(np.float64), factors.astype(np.float64))

    def _ridge(self, ptr: Ints, noise: float) -> Singles:
        row_ridge = (RIDGE + RIDGE_EACH * np.diff(ptr)) * noise
        return np.repeat(row_ridge[:, None], self.width, 1).astype(np.float32)

    def _descend(self, ptr: Ints, item: Codes, value: Singles, noise: float) -> Trained:
        """Gradient descent, at a rate that falls with the root of the noise. Small biases
        take up what the noisy effects left."""
        people = people_of(self.public)
        items = self.public.items
        rng = np.random.default_rng(self.seed)
        factors = random_factors(rng, items, self.width)
        user_factors = random_factors(rng, people, self.width)
        sides = DescentModel.begin(user_factors, factors, np.zeros((items, self.width), np.float32))
        ridge = RIDGE_EACH * noise
        pace = Pace(self.epochs, RATE / np.sqrt(noise), ridge, ridge)
        implicit = SAYS[self.trainer]
        descend(ptr, item, value, sides, pace, rng, implicit)
        learned = sides.implicit.astype(np.float64) if implicit == "learned" else None
        return Trained(user_factors.astype(np.float64), factors.astype(np.float64), learned)


def factors_from_noisy(
    public: Public, state: ValueState, trainer: Trainer, width: int, epochs: int, seed: int
) -> ValueState:
    """The state with `factors` (and `implicit`, or `lift`) for people of unit prior variance;
    or without any, where they would not help.

    Two ridges are tried on nine tenths of the noisy ratings. The better one, if it predicts
    the last tenth clearly better than nothing does, trains once more on all of them.
    """
    # A noisy rating has the noise of its release beside its own: the ridge grows with both.
    training = NoisyTraining(public, state, trainer, width, epochs, seed)
    held = np.random.default_rng(seed).random(len(state.values.noisy)) < HELD
    plain = 1 + state.values.sd**2 / NOISE
    tried = []
    for noise in (multiple * plain for multiple in TRIED):
        candidate = training.run(noise, ~held)
        tried.append(Tried(noise, candidate, _gain(public, state, candidate, held)))
    best = max(tried, key=lambda trial: trial.gain)
    if not best.gain > STANDS_OUT:
        return state
    trained = best.made
    # A third training of SVD++ would cost more than a tenth of the ratings is worth.
    if trainer != "svdpp":
        trained = training.run(best.noise, np.ones(len(held), bool))
    # Scaled so that people's vectors have unit second moment, as their prior says.
    moment = (trained.own.T @ trained.own + 1e-9 * np.eye(width)) / max(len(trained.own), 1)
    root = np.linalg.cholesky(moment)
    state = replace(state, factors=trained.factors @ root)
    if trained.implicit is not None:
        state = replace(state, implicit=np.linalg.solve(root, trained.implicit.T).T)
    if trainer == "scalar":
        state = replace(state, lift=np.linalg.solve(root, np.ones(width)))
    return state


def _gain(public: Public, state: ValueState, trained: Trained, held: Mask) -> float:
    """By how many standard errors the factors predict the held noisy ratings better than
    nothing does."""
    pattern = pattern_of(public)
    user = np.repeat(np.arange(len(trained.own)), np.diff(pattern.ptr))
    user_factors = trained.own
    # SVD++: n^-1/2 times the sum of the implicit factors of what a person rated.
    if trained.implicit is not None:
        from scipy.sparse import csr_array

        ones = np.ones(len(pattern.item))
        shape = (len(user_factors), len(trained.implicit))
        rated = csr_array((ones, pattern.item, pattern.ptr), shape=shape)
        count = np.maximum(np.diff(pattern.ptr), 1)
        user_factors = user_factors + (rated @ trained.implicit) / np.sqrt(count)[:, None]
    predicted = np.einsum("nd,nd->n", user_factors[user[held]], trained.factors[pattern.item[held]])
    real = state.values.noisy[held]
    better = real**2 - (real - predicted) ** 2
    error = float(better.std()) / np.sqrt(max(len(better), 1))
    gain = float(better.mean()) / max(error, 1e-12) if len(better) else 0.0
    return gain if np.isfinite(gain) else 0.0


# Epochs of gradient descent with biases, plain or with the implicit side of SVD++: what
# twins run on ratings, and post-processing on noisy ones.
#
# NOT PRIVATE by itself: whoever calls it on ratings publishes a twin.


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
