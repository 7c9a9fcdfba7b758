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
from tacit.methods.first_order.item_factors import loadings
from tacit.methods.first_order.rounds import person_rows, public_design
from tacit.methods.noiseless.biases import fit_item_biases
from tacit.methods.noiseless.variational import PASSES, WIDTH, Fitted, fit_gaussian
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Epoch
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import NOT_YET, State

Floats = NDArray[np.float64]

ITEMS, SHARED = "items", "shared"
"""The two arrays of a training: one row an item, and one row for all."""
LEAST = 1e-12
"""Of what is divided by."""


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
            after=given_user_factors(block, public, self.threads),
        )


class ItemBiasTwin(PersonalTwin):
    """Effects of all items; tastes for popularity, agreement and public features alone."""

    def width(self, public: Public) -> int:
        """Level, popularity, agreement and features."""
        features = public_design(public)
        return 3 + (0 if features is None else features.width)

    def fitted(self, block: Block, public: Public) -> Fitted:
        """`tacit.methods.noiseless.biases`; how far people go with the effects, once those
        are known."""
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
