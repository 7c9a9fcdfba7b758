"""A twin that is fitted in one piece: one stepwise round without draws, on one block of all
people.

NOT PRIVATE. It publishes item arrays only: everybody's own side is folded in, as in the
private methods, so the two are compared on equal terms.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.kernels.pools import one_blas_thread
from tacit.methods.base import Form, Public
from tacit.methods.first_order.rounds import loadings, person_rows, public_design
from tacit.methods.noiseless.variational import (
    ITEM_BIAS_SPREAD,
    LEAST_NOISE,
    NOISE,
    PASSES,
    WIDTH,
    Fitted,
    Floats,
    Items,
    People,
    fit_gaussian,
    mean_of,
    start_posterior,
)
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Epoch
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import NOT_YET, State

ITEMS, SHARED = "items", "shared"
"""The two arrays of a training: one row an item, and one row for all."""
LEAST = 1e-12
"""Of what is divided by."""
BIAS_PASSES = 15
"""Over all ratings: nothing moves by .0002 afterwards on ML-100K."""
ENOUGH, MOST = 20.0, 10.0
"""Ratings a person for which so many passes are enough. Where people have fewer, most of what
is believed of a person is what was believed before, and so many times more passes are
needed; at most so many times (100 Netflix films, 2 ratings each: .9778 after 15 passes,
.9757 after 200)."""
PRIOR_PEOPLE = 20.0
"""Fictitious people who differ as widely as was believed before: so that few people do not
decide how widely all differ."""


@dataclass(frozen=True)
class OnePieceState(State):
    """What a training in one piece leaves."""

    items: Floats = NOT_YET
    shared: Floats = NOT_YET


class OnePiece(Form):
    """One training over all ratings as one round. A subclass trains, and publishes."""

    @property
    def threads(self) -> int:
        """As told, or all cores; what is made does not depend on it."""
        return self.method.threads or len(os.sched_getaffinity(0))

    @abstractmethod
    def sizes(self, public: Public) -> tuple[int, int]:
        """Columns of the items' array, and numbers for all items."""

    @abstractmethod
    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        """The items' array and the numbers, from everybody's ratings."""

    def plan(self, public: Public) -> Plan:
        """The whole training as one round, released as it is."""
        width, numbers = self.sizes(public)
        items = public.items

        def contribute(block: Block, state: OnePieceState) -> Mapping[str, Rows]:
            # One order of sums in the matrix products, whatever the machine's threads.
            with one_blas_thread():
                table, numbers = self.train(block, public)
            rows = Rows(np.array([0, items]), np.arange(items), table)
            return {ITEMS: rows, SHARED: person_rows(numbers[None, :])}

        def absorb(state: OnePieceState, released: Mapping[str, Released]) -> OnePieceState:
            return replace(state, items=released[ITEMS].value, shared=released[SHARED].value[0])

        bound = CellClip(1.0)
        parts = (
            Part(ITEMS, items, bound, width=width, share=0.5, printed=Epoch()),
            Part(SHARED, 1, bound, width=numbers, share=0.5, printed=Epoch()),
        )
        training = Round("training", parts, contribute, absorb)
        return Plan(public.unit, (training,), ("Not private: no noise.",))

    def first_state(self, public: Public) -> State:
        """Nothing is trained yet."""
        return OnePieceState()


def as_arrays(fitted: Fitted, block: Block, items: int) -> tuple[Floats, Floats]:
    """A fit as the two arrays of a training: baseline, variance, weight and loadings of the
    items; noise and what each rating adds."""
    count = np.bincount(block.item, minlength=items)
    columns = [fitted.baseline, fitted.variance, count, fitted.loadings]
    numbers = np.append(fitted.noise, fitted.per_rating)
    return np.column_stack(columns), numbers


class PersonalTwin(OnePiece):
    """A personal Gaussian model. A subclass fits it."""

    @abstractmethod
    def width(self, public: Public) -> int:
        """Columns of taste, a person's level among them."""

    @abstractmethod
    def fitted(self, block: Block, public: Public) -> Fitted:
        """From everybody's ratings."""

    def sizes(self, public: Public) -> tuple[int, int]:
        """Baseline, variance, weight and loadings; noise and what a rating adds."""
        width = self.width(public)
        return 3 + width, 1 + width

    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        """The fit, as the two arrays of a training."""
        return as_arrays(self.fitted(block, public), block, public.items)

    def finish(self, public: Public, state: OnePieceState) -> Shared:
        """The personal Gaussian model, and how far its loadings are off."""
        table = state.items
        arrays = {
            "baseline": table[:, 0],
            "variance": table[:, 1],
            "weight": table[:, 2],
            "loadings": table[:, 3:],
            "per_rating": state.shared[1 : table.shape[1] - 2],
        }
        return Shared(
            self.method.name,
            "gaussian",
            {name: array.astype(np.float32) for name, array in arrays.items()},
            {"noise": float(state.shared[0])},
            public.schema,
            public.catalogue,
            self.method.settings.model_dump(),
        )


class GaussianTwin(PersonalTwin):
    """Effects and loadings of all items, by variational Bayes."""

    def width(self, public: Public) -> int:
        """As many as are ever there; those that are not shrink to nothing."""
        return min(WIDTH, public.items)

    @property
    def passes(self) -> int:
        """Over all ratings."""
        return PASSES

    def fitted(self, block: Block, public: Public) -> Fitted:
        """`tacit.methods.noiseless.variational`, with the catalogue's features: from effects
        and tastes for what is known of items, to tastes that ratings tell of."""
        features = public_design(public)
        return fit_gaussian(
            block.ptr,
            block.item,
            block.value,
            public.items,
            None if features is None else features.matrix,
            width=self.width(public),
            seed=self.method.seed,
            threads=self.threads,
            passes=self.passes,
            earlier=given_user_factors(block, public, self.threads),
        )


class ItemBiasTwin(PersonalTwin):
    """Effects of all items; tastes for popularity, agreement and public features alone."""

    def width(self, public: Public) -> int:
        """Level, popularity, agreement and features."""
        features = public_design(public)
        return 3 + (0 if features is None else features.width)

    def fitted(self, block: Block, public: Public) -> Fitted:
        """Item biases, then how far people go with them, once they are known."""
        plain = given_user_factors(block, public, self.threads).baseline
        return given_user_factors(block, public, self.threads, plain - plain.mean())


def given_user_factors(
    block: Block, public: Public, threads: int, item_biases: Floats | None = None
) -> Fitted:
    """Effects of all items, and tastes for popularity, public features and, where they are
    given, effects."""
    features = public_design(public)
    popularity = np.log1p(np.bincount(block.item, minlength=public.items))
    popularity -= popularity.mean()
    popularity /= max(float(popularity.std()), LEAST)
    return fit_item_biases(
        block.ptr,
        block.item,
        block.value,
        loadings(popularity, features, item_biases=item_biases)[0],
        None if features is None else features.matrix,
        threads=threads,
    )


# Item biases, and user factors for public features, fitted to all ratings at once.
#
# The personal Gaussian model whose loadings are given: a level, popularity, agreement with
# effects that are known, public features. Effects are normal
# around a regression on the same; how widely people differ along the loadings, and the noise,
# are those that are most probable. With a level alone it is the ridge of user and item biases
# whose two ridges are estimated.
#
# NOT PRIVATE: no number of it is bounded or noised.


def fit_item_biases(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: Floats,
    item_factors: Floats,
    features: Floats | None,
    *,
    threads: int = 1,
) -> Fitted:
    """From ratings of one row a person (inner scale) and the items' loadings, of which only
    the turn in the space of tastes is changed."""
    items = len(item_factors)
    level = mean_of(value)
    residuals = np.ascontiguousarray(value - level, np.float64)
    count = np.bincount(item, minlength=items).astype(np.float64)
    posterior = start_posterior(item, residuals, count, features, item_factors)
    posterior.covariance[:] = 0.0
    posterior.covariance[:, 0, 0] = ITEM_BIAS_SPREAD / (1 + count)
    noise = NOISE
    if len(residuals):
        people = People(ptr, item, residuals, threads)
        for _ in range(round(BIAS_PASSES * patience(people))):
            noise = _pass(posterior, people, noise)
    return Fitted(
        level + posterior.mean[:, 0],
        posterior.covariance[:, 0, 0].copy(),
        np.ascontiguousarray(posterior.mean[:, 1:]),
        np.zeros(item_factors.shape[1]),
        noise,
    )


def patience(people: People) -> float:
    """How many times more passes where people have few ratings."""
    mean_count = len(people.value) / people.rater_count
    return min(max(ENOUGH / mean_count, 1.0), MOST)


def _pass(posterior: Items, people: People, noise: float) -> float:
    """People, then effects, then how widely either differ; returned is the noise."""
    reports = people.report(posterior, noise)
    count = reports.grams[:, 0, 0]
    prior = posterior.design @ posterior.slopes[:, 0]
    user_factors = np.sum(reports.grams[:, 0, 1:] * posterior.mean[:, 1:], axis=1)
    unknown = 1 / (count / noise + 1 / posterior.spread[0])
    residuals = reports.rights[:, 0] - user_factors - count * prior
    posterior.mean[:, 0] = prior + unknown * residuals / noise
    posterior.covariance[:, 0, 0] = unknown
    noise = max(reports.error(posterior) / len(people.value), LEAST_NOISE)
    raters = people.rater_count
    item_factors = posterior.mean[:, 1:].copy()
    # What people have in common belongs to the items: somebody without a rating has taste 0.
    common = reports.tastes.sum(axis=0) / raters
    posterior.mean[:, 0] += item_factors @ common
    moment = (reports.moment - np.outer(common, common)) * raters
    moment += PRIOR_PEOPLE * np.eye(len(moment))
    values, vectors = np.linalg.eigh(moment / (raters + PRIOR_PEOPLE))
    posterior.spread = posterior.regress().diagonal().copy()
    posterior.mean[:, 1:] = item_factors @ (vectors * np.sqrt(values)) @ vectors.T
    return noise
