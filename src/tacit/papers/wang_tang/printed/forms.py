"""Algorithms 1 and 2 of Wang & Tang as plans: claimed, not certified.

All pairs of items are learned; the N most similar of each item are kept afterwards. Where
the text leaves a choice, it is a setting; `reading=code` takes the steps of the program
that the authors published instead of those that are printed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil, inf, log2, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.methods.base import Form, Public
from tacit.methods.first_order.rounds import Floats
from tacit.methods.neighbourhood.neighbourhood import (
    AllPairsState,
    ChainSettings,
    Learned,
    Neighborhood,
    NeighbourhoodSettings,
    SGDSettings,
)
from tacit.methods.neighbourhood.twin import Data, as_rows, in_bands, item_means, raw_similarities
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared
from tacit.papers.wang_tang.printed import (
    MIDDLE,
    SPAN,
    error_limit,
    inclusion,
    langevin_step,
    loss_bound,
    most_similar,
    printed_sensitivity,
)
from tacit.rounds.plan import Plan
from tacit.rounds.printed import POSTERIOR, STEPWISE, Claim, Epoch, EpochKind, trimmed
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

NO_FLOOR = 1e-9
"""C of Algorithm 2, which has none: stands for a positive divisor."""
NOISE = 0.9
"""Variance of a rating that the statement of a prediction's error assumes: the paper has none."""
RATE = 0.4
"""eta of Algorithm 1: like C and K in the ranges of section 5.1, and those of the authors'
published program."""
FLOOR = 10.0
"""C."""
STEPS = 10
"""K."""
LANGEVIN_RATE, LANGEVIN_STEPS = 8e-6, 300
"""eta_1 of Algorithm 2: the largest of section 5.1. Its K is not printed; the authors'
program runs 300."""
HELD = 40
"""In the authors' program steps of Algorithm 2 begin to fall after so many."""
ALGORITHM_1 = "the noise covers one number of the gradient; one rating moves whole rows of it"
"""Why Algorithm 1 is not certified."""
ALGORITHM_2 = (
    "the temperature divides epsilon, and no theorem bounds how far the chain is from its limit"
)
"""Why Algorithm 2 is not certified."""
Contribute = Callable[[Block, AllPairsState], Mapping[str, Rows]]
Start = Literal["random", "cosine", "pearson"]
RANDOM = 0.1
"""First similarities are uniform within +-this, as in the authors' published program; the
paper says only that they are initialized."""
RAW = "item means are released raw"
"""Why the start is not certified."""
FINE = 16
"""Draws are integers on a grid: their scale has at least 2^this steps, or the finest grid."""
FINEST = 29
START_PARTS = ("baseline", "counts")
"""What the start releases raw, beside the similarities."""


class PrintedForm(Form):
    """What the two printed forms have in common."""

    method: Neighborhood
    settings: NeighbourhoodSettings

    @abstractmethod
    def algorithm(self, public: Public) -> Algorithm:
        """The constants of the algorithm."""

    @abstractmethod
    def step(self, algorithm: Algorithm, iteration: int) -> Round:
        """Step `iteration` of the algorithm."""

    @property
    def floor(self) -> float:
        """C, the least total similarity that predictions divide by."""
        return NO_FLOOR

    @property
    def published(self) -> bool:
        """Whether steps are those of the authors' program."""
        return self.settings.reading == "code"

    def story(self, epsilon: float) -> tuple[str, ...]:
        """What the paper says of its epsilon."""
        return ()

    def plan(self, public: Public) -> Plan:
        """The start, then the steps."""
        algorithm = self.algorithm(public)
        iterations = range(1, algorithm.rounds + 1)
        steps = (self.step(algorithm, iteration) for iteration in iterations)
        story = self.story(algorithm.epsilon)
        return Plan(public.unit, (algorithm.start(), *steps), story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return AllPairsState()

    def finish(self, public: Public, state: AllPairsState) -> Shared:
        """The most similar neighbours over item means alone: the paper's predictor knows no
        levels."""
        items = public.items
        learned = state.similarity
        if self.published:
            learned = (learned + learned.T) / 2
        arrays = {
            "baseline": state.baseline[:, 0],
            "variance": np.zeros(items),
            "loadings": np.zeros((items, 1)),
            "doubt": np.zeros(items),
            **compress(*most_similar(learned, self.settings.neighbours)),
        }
        return self.method.published(public, Learned(arrays, NOISE, NOISE, self.floor))

    def used(self, public: Public) -> dict[str, Any]:
        """Settings as they are used; those that the paper has no use for are left out."""
        algorithm = self.algorithm(public)
        settings = self.settings.model_dump(exclude={"items", "sampled"})
        return settings | {
            "neighbours": max(1, min(settings["neighbours"], public.items - 1)),
            "start": algorithm.start_from,
            "rounds": algorithm.rounds,
        }

    def _algorithm(
        self,
        public: Public,
        kind: EpochKind,
        rounds: int,
        *,
        rescale: float = 1.0,
        most: int | None = None,
    ) -> Algorithm:
        """With what both algorithms take from settings and public facts."""
        settings = self.settings
        return Algorithm(
            items=public.items,
            start_from=settings.start or "random",
            rescale=rescale,
            batch=1.0 if self.published else settings.batch,
            least=settings.least,
            most=most,
            published=self.published,
            kind=kind,
            epsilon=_epsilon(public),
            rounds=rounds if settings.rounds is None else settings.rounds,
            seed=self.method.seed,
            threads=self.method.threads,
        )


def _epsilon(public: Public) -> float:
    """What the paper's claim is about."""
    assert public.budget is not None
    return public.budget.epsilon


# Steps that Algorithms 1 and 2 of Wang & Tang share: who is trained on, the start, the gradient
# over all pairs, and a step with its draws.


@dataclass(frozen=True)
class Algorithm:
    """What both algorithms do alike: a start, then steps, each handed its draws."""

    items: int
    start_from: Start
    rescale: float
    """beta: first similarities are multiplied by it."""
    batch: float
    """gamma: share of the ratings in a step."""
    least: int
    """People with more ratings than this are trained on."""
    most: int | None
    """tau: so many ratings of a person are kept, at random."""
    published: bool
    """Whether steps are those of the authors' published program."""
    kind: EpochKind
    epsilon: float
    rounds: int
    seed: int
    threads: int | None

    @property
    def claimed(self) -> float:
        """Of each part. A sample of Algorithm 2 has all of epsilon, whichever step it is
        of; Algorithm 1 has one for everything, divided evenly because entries need a part
        each."""
        if self.kind is POSTERIOR:
            return self.epsilon
        return self.epsilon / (self.rounds + len(START_PARTS) + 1)

    def used(self, block: Block) -> Block:
        """The people and ratings that are trained on."""
        return trimmed(block, self.least, self.most, self.seed)

    def start(self) -> Round:
        """Raw item means, and the first similarities of all pairs, times beta."""

        def contribute(block: Block, state: AllPairsState) -> Mapping[str, Rows]:
            used = self.used(block)
            mean = item_means(used, self.items, levels=False, prior=0.0)
            counts = np.bincount(used.item, minlength=self.items)
            similarity = self.rescale * self._start_similarity(Data.of(used, mean))
            arrays = {"baseline": mean, "counts": counts, "similarity": similarity}
            return {name: as_rows(array) for name, array in arrays.items()}

        claim = Claim("none", 0.0, self.claimed, 0.0, RAW)
        widths = {**dict.fromkeys(START_PARTS, 1), "similarity": self.items}
        parts = tuple(
            Part(name, self.items, CellClip(1.0), width=width, printed=Epoch(claim=claim))
            for name, width in widths.items()
        )
        return Round("start", parts, contribute, keep)

    def _start_similarity(self, data: Data) -> Floats:
        """Of every pair; an item is no neighbour of its own."""
        if self.start_from == "random":
            rng = np.random.default_rng(self.seed)
            similarity = rng.uniform(-RANDOM, RANDOM, (self.items, self.items))
            if not self.published:
                np.fill_diagonal(similarity, 0.0)
            return similarity
        index, value = raw_similarities(
            data,
            max(self.items - 1, 1),
            pearson=self.start_from == "pearson",
            damp=0.0,
            levels=False,
            threads=self.threads,
        )
        similarity = np.zeros((self.items, self.items))
        row, column = np.nonzero(index >= 0)
        similarity[row, index[row, column]] = value[row, column]
        return similarity

    def gradient(
        self,
        block: Block,
        state: AllPairsState,
        iteration: int,
        *,
        floor: float,
        clamp: float = inf,
        reach: float = inf,
    ) -> Floats:
        """Of the loss over the ratings drawn for this step, by every similarity. `clamp`
        bounds errors; `reach` leaves out neighbours that differ by more."""
        from tacit.papers.wang_tang.printed.kernels import gradient_pairs

        data = Data.of(self.used(block), state.baseline[:, 0])
        in_batch = self._draw_batch(len(data.item), iteration)
        value = np.ascontiguousarray(state.similarity)
        out = np.empty_like(value)

        def work(first: int, last: int) -> None:
            gradient_pairs(
                data.ptr,
                data.item,
                data.dev,
                data.start,
                data.user,
                data.cell,
                in_batch,
                value,
                floor,
                clamp,
                reach,
                first,
                last,
                out,
            )

        in_bands(self.items, self.threads, work)
        return out

    def published_gradient(self, block: Block, state: AllPairsState, *, floor: float) -> Floats:
        """As the authors' published program computes it, over all ratings."""
        from tacit.papers.wang_tang.printed.kernels import published_pairs

        used = self.used(block)
        data = Data.of(used, state.baseline[:, 0])
        value = np.ascontiguousarray(state.similarity)
        rating = used.value + MIDDLE
        out = np.empty_like(value)

        def work(first: int, last: int) -> None:
            published_pairs(
                data.ptr,
                data.item,
                data.dev,
                data.start,
                data.user,
                data.cell,
                rating,
                value,
                floor,
                first,
                last,
                out,
            )

        in_bands(self.items, self.threads, work)
        return out

    def _draw_batch(self, cells: int, iteration: int) -> NDArray[np.bool_]:
        """The mini-batch of a step: each rating with chance gamma."""
        if self.batch >= 1:
            return np.ones(cells, np.bool_)
        rng = np.random.default_rng([self.seed, iteration])
        return rng.random(cells) < self.batch

    def step(self, iteration: int, claim: Claim, contribute: Contribute) -> Round:
        """A round of one step, with a draw for each pair."""
        grid = CellClip(1.0, grain(claim.scale))
        part = Part(
            "similarity",
            self.items,
            grid,
            width=self.items,
            printed=Epoch(self.kind, claim, self.items**2),
        )
        return Round(f"step {iteration}", (part,), contribute, keep)


def grain(scale: float) -> int:
    """Steps in one unit of a grid on which noise of this scale is fine."""
    if scale <= 0:
        return 1
    return 1 << int(np.clip(FINE - ceil(log2(scale)), 0, FINEST))


def keep(state: AllPairsState, released: Mapping[str, Released]) -> AllPairsState:
    """What was made takes the place of what was there; parts have the names of fields."""
    return state.after(**{name: part.value for name, part in released.items()})


class DescentForm(PrintedForm):
    """Algorithm 1: noisy gradient descent."""

    settings: SGDSettings

    @property
    def floor(self) -> float:
        """C, of figure 2."""
        return self.settings.floor or FLOOR

    @property
    def rate(self) -> float:
        """Eta."""
        return self.settings.rate or RATE

    def algorithm(self, public: Public) -> Algorithm:
        """K steps from similarities times beta."""
        return self._algorithm(public, STEPWISE, STEPS, rescale=self.settings.rescale)

    def used(self, public: Public) -> dict[str, Any]:
        """With eta and C."""
        return {**super().used(public), "rate": self.rate, "floor": self.floor}

    def step(self, algorithm: Algorithm, iteration: int) -> Round:
        """Step t: S <- S - eta (beta (G + Laplace(gamma K dF/epsilon)) + lambda S)."""
        sensitivity = printed_sensitivity(iteration, self.floor)
        scale = algorithm.batch * algorithm.rounds * sensitivity / algorithm.epsilon
        move = self._move
        if self.published:
            # Its Laplace numbers have that standard deviation instead of that scale.
            scale /= sqrt(2)
            move = self._published_move

        def contribute(block: Block, state: AllPairsState) -> Mapping[str, Rows]:
            noise = block.draws["similarity"].reshape(state.similarity.shape)
            updated = move(algorithm, block, state, iteration, noise)
            return {"similarity": as_rows(updated)}

        claim = Claim("laplace", scale, algorithm.claimed, 0.0, ALGORITHM_1)
        return algorithm.step(iteration, claim, contribute)

    def _move(
        self,
        algorithm: Algorithm,
        block: Block,
        state: AllPairsState,
        iteration: int,
        noise: Floats,
    ) -> Floats:
        """Lines 5 to 7."""
        settings = self.settings
        slope = algorithm.gradient(
            block,
            state,
            iteration,
            floor=self.floor,
            clamp=error_limit(iteration),
            reach=SPAN if settings.paranoid == "left-out" else inf,
        )
        updated = state.similarity - self.rate * (
            settings.rescale * (slope + noise) + settings.decay * state.similarity
        )
        np.fill_diagonal(updated, 0.0)
        return np.asarray(updated)

    def _published_move(
        self,
        algorithm: Algorithm,
        block: Block,
        state: AllPairsState,
        iteration: int,
        noise: Floats,
    ) -> Floats:
        """Of symmetric similarities, beta times the pull to zero as well."""
        value = (state.similarity + state.similarity.T) / 2
        slope = algorithm.published_gradient(
            block, replace(state, similarity=value), floor=self.floor
        )
        settings = self.settings
        pull = settings.decay * value
        return np.asarray(value - self.rate * settings.rescale * (slope + pull + noise))


class LangevinForm(PrintedForm):
    """Algorithm 2: stochastic gradient Langevin dynamics."""

    settings: ChainSettings

    @property
    def rate(self) -> float:
        """eta_1."""
        return self.settings.rate or LANGEVIN_RATE

    def algorithm(self, public: Public) -> Algorithm:
        """A fixed number of steps, over at most tau random ratings of a person."""
        return self._algorithm(public, POSTERIOR, LANGEVIN_STEPS, most=self.settings.most)

    def used(self, public: Public) -> dict[str, Any]:
        """With eta_1."""
        return {**super().used(public), "rate": self.rate}

    def story(self, epsilon: float) -> tuple[str, ...]:
        """The paper quotes a mean over a person's ratings."""
        limit = self.settings.most
        quoted = f"{epsilon / limit:g} x {limit}: a mean over a person's ratings."
        return (f"The paper quotes this epsilon as {quoted}",)

    def length(self, iteration: int) -> float:
        """eta_t = eta_1 t^-xi."""
        if self.published and iteration <= HELD:
            return self.rate
        since = iteration - 1 if self.published else iteration
        return float(self.rate * since**-self.settings.falling)

    def step(self, algorithm: Algorithm, iteration: int) -> Round:
        """Step t, with noise of variance temperature x eta_t."""
        step = self.length(iteration)
        share = algorithm.epsilon / (4 * loss_bound(self.settings.most))
        spread = sqrt(self.settings.temperature * step)
        move = self._published_move if self.published else self._move

        def contribute(block: Block, state: AllPairsState) -> Mapping[str, Rows]:
            noise = block.draws["similarity"].reshape(state.similarity.shape)
            updated = move(algorithm, block, state, iteration, share, noise)
            return {"similarity": as_rows(updated)}

        claim = Claim("gaussian", spread, algorithm.claimed, 0.0, ALGORITHM_2)
        return algorithm.step(iteration, claim, contribute)

    def _move(
        self,
        algorithm: Algorithm,
        block: Block,
        state: AllPairsState,
        iteration: int,
        share: float,
        noise: Floats,
    ) -> Floats:
        """Line 5, with H of equation 12."""
        settings = self.settings
        value = state.similarity
        slope = algorithm.gradient(block, state, iteration, floor=NO_FLOOR)
        part, total = inclusion(state.counts[:, 0], algorithm.batch)
        prior = np.outer(part, part)
        np.subtract(1.0, prior, out=prior)
        np.divide(value, prior, out=prior)
        times = total if settings.times == "ratings" else 1.0
        slope *= times / algorithm.batch
        prior *= times * settings.decay
        updated = langevin_step(
            value, slope, prior, share=share, step=self.length(iteration), noise=noise
        )
        np.fill_diagonal(updated, 0.0)
        return updated

    def _published_move(
        self,
        algorithm: Algorithm,
        block: Block,
        state: AllPairsState,
        iteration: int,
        share: float,
        noise: Floats,
    ) -> Floats:
        """Noise first, then symmetry, then a whole step along the drift, H = 1."""
        value = state.similarity + noise
        value = (value + value.T) / 2
        slope = algorithm.published_gradient(
            block, replace(state, similarity=value), floor=NO_FLOOR
        )
        drift = slope + self.settings.decay * value
        times = float(state.counts.sum())
        return np.asarray(value - self.length(iteration) * share * times * drift)
