"""What the printed forms of factorizations have in common: claimed, not certified.

Each runs as one round of a sequential epoch that is handed unit Laplace (or normal) draws
and scales them as its paper prints. Only item arrays are published, and a person's own side
is folded in from her own ratings: her trained vector is personal. Where a paper publishes it
all the same, it is kept on the people's side (`TRAINED`) and used by the owner's evaluation
alone (`printed/trained.py`). What is wrong with each claim is said in its `reason`;
docs/proofs/mf.md says more.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.errors import Failure
from tacit.kernels.pools import one_blas_thread
from tacit.methods.base import Form, Public
from tacit.methods.factorization.base import FactorSettings
from tacit.methods.factorization.publish import shared_model
from tacit.methods.factorization.state import TableState
from tacit.model.person.base import Cells, Own, PersonalModel, Reason
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import STEPWISE, Claim, Epoch, EpochKind
from tacit.rounds.round import Block, Part, Personal, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
TRAINED = "trained"
"""Where people's biases and vectors are kept, on their side."""
NOISE = 0.7
"""Variance of a rating around the model: sets the scale of the published loadings, not the
predictions."""
LEAST_SHRINK = 1e-6
"""Stands for a person's bias without any shrinking."""
MOST_ENTRY = 1e3
"""What has diverged is cut at +-this."""


class PrintedFactors(Form):
    """One paper: its constants, how many draws it asks for, its training, and why nothing
    here backs its claim (`reason`).

    This class runs the training as one round, books the claim, and publishes the items'
    arrays for a fold-in with the paper's ridges.
    """

    settings: FactorSettings
    reason: ClassVar[str]
    constants_used: ClassVar[tuple[str, ...]] = ("factors", "epochs", "rate", "ridge")
    """The constants that a statement names."""
    keeps_people: ClassVar[bool] = False
    """Whether the paper publishes people's vectors: `train` then writes each person's bias
    and factors, side by side, to `block.personal[TRAINED]`."""
    noise: ClassVar[Literal["laplace", "gaussian"]] = "laplace"
    kind: ClassVar[EpochKind] = STEPWISE

    def constants(self, public: Public) -> PaperConstants:
        """Those of Xian et al., unless a paper has its own or something else was said."""
        return PaperConstants(seed=self.method.seed).overridden(self.settings)

    @abstractmethod
    def draws(self, public: Public) -> int:
        """How many unit draws the training is handed."""

    @abstractmethod
    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Mean, item bias and factors, side by side (`table`), from all ratings and unit
        draws, which the paper's scales multiply."""

    def plan(self, public: Public) -> Plan:
        """One round, which is the whole training."""
        items = public.items
        printed = self.constants(public)

        def contribute(block: Block, state: TableState) -> Mapping[str, Rows]:
            with one_blas_thread():
                item_table = self.train(public, block, block.draws["items"])
            return {"items": Rows(np.array([0, items]), np.arange(items), item_table)}

        def absorb(state: TableState, released: Mapping[str, Released]) -> TableState:
            return replace(state, items=released["items"].value)

        claim = Claim(self.noise, 1.0, epsilon_of(public), 0.0, self.reason)
        part = Part(
            "items",
            items,
            CellClip(1.0),
            width=printed.columns,
            printed=Epoch(self.kind, claim, max(self.draws(public), 1)),
        )
        personal = (Personal(TRAINED, 1 + printed.factors),) if self.keeps_people else ()
        round_ = Round("printed", (part,), contribute, absorb, personal=personal)
        story = f"As printed, for comparison: claimed, not certified. {self.reason}"
        return Plan(public.unit, (round_,), (story,))

    def used(self, public: Public) -> dict[str, Any]:
        """The constants of the paper, as they are used."""
        printed = self.constants(public)
        constants = {name: getattr(printed, name) for name in self.constants_used}
        return self.settings.model_dump() | constants

    def first_state(self, public: Public) -> State:
        """Nothing is trained yet."""
        return TableState()

    def finish(self, public: Public, state: TableState) -> Shared:
        """Item arrays for a fold-in with the paper's ridges."""
        printed = self.constants(public)
        table = np.nan_to_num(state.items, posinf=0.0, neginf=0.0)
        factors_end = 2 + printed.factors
        # argmin |r - V p|^2 + ridge |p|^2 as a Gaussian says it: z = p / scale ~ N(0, I).
        scale = np.sqrt(NOISE / printed.own_ridge)
        level = np.full((len(table), 1), np.sqrt(NOISE / max(printed.own_shrink, LEAST_SHRINK)))
        factors = np.clip(table[:, 2:factors_end], -MOST_ENTRY, MOST_ENTRY)
        arrays = {
            "baseline": table[:, 0] + table[:, 1],
            "variance": np.zeros(len(table)),
            "loadings": np.hstack([level, scale * factors]),
        }
        numbers = {"noise": NOISE, "per_rating": printed.ridge / printed.own_ridge}
        if printed.lift:
            lift = np.full(printed.factors, 1 / scale)
            arrays["lift"] = np.concatenate([[0.0], lift])
            numbers["lift_shrink"] = printed.implicit_shrink
        if printed.learned:
            implicit = np.clip(table[:, factors_end:], -MOST_ENTRY, MOST_ENTRY)
            arrays["implicit"] = np.hstack([0 * level, implicit / scale])
        return shared_model(self.method, public, "factors", arrays, numbers)

    def trained(
        self, public: Public, state: TableState, personal: Mapping[str, Floats]
    ) -> PersonalModel | None:
        """The paper's own predictions, from both sides as they were trained."""
        printed = self.constants(public)
        if TRAINED not in personal or printed.people == "folded":
            return None
        if printed.learned:  # not printed: there is no step for it in the paper
            return None
        user_rows = personal[TRAINED]
        lift = np.zeros(len(user_rows))
        if printed.lift and public.pattern is not None:
            counts = np.diff(public.pattern.ptr)
            lift = lifts(counts, printed.implicit_shrink)
        return TrainedPeople(
            state.items[:, 0] + state.items[:, 1],
            user_rows[:, 0],
            user_rows[:, 1:] + lift[:, None],
            state.items[:, 2 : 2 + printed.factors],
        )


class Sizes(NamedTuple):
    """How much data there is: public at the unit `value`."""

    cells: int
    people: int


def sizes_of(public: Public) -> Sizes:
    """Of the public pattern; 1 each where a plan is only being priced."""
    if public.pattern is None:
        return Sizes(1, 1)
    return Sizes(len(public.pattern.item), len(public.pattern.ptr) - 1)


def epsilon_of(public: Public) -> float:
    """The epsilon that the paper is asked to claim."""
    assert public.budget is not None
    return public.budget.epsilon


def random_sides(
    people: int, items: int, printed: PaperConstants
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """`first_sides` in single precision."""
    user_factors, factors = first_sides(people, items, printed)
    return user_factors.astype(np.float32), factors.astype(np.float32)


def first_sides(people: int, items: int, printed: PaperConstants) -> tuple[Floats, Floats]:
    """First vectors of people and items, from the public seed."""
    rng = np.random.default_rng(printed.seed)
    draw = rng.standard_normal if printed.first == "normal" else rng.random
    user_factors = draw((people, printed.factors)) * printed.start
    return user_factors, draw((items, printed.factors)) * printed.start


def lifts(counts: NDArray[np.int64], shrink: float) -> Floats:
    """The implicit term of equations 2 and 4: n^-1/2 n/(n + lambda_3), one number a person,
    added to each of her factors."""
    lift: Floats = np.sqrt(counts) / np.maximum(counts + shrink, 1e-300)
    return lift


def table(mean: float, bias: Floats, factors: NDArray[np.floating]) -> Floats:
    """What is published of the items, side by side: mean of all ratings, bias, factors and,
    if they are learned, implicit factors."""
    means = np.full((len(bias), 1), mean)
    return np.hstack([means, bias[:, None], factors.astype(np.float64)])


def knorm_rows(draws: Floats, rows: int, width: int) -> Floats:
    """`rows` vectors with density ~ exp(-|b|), from 2 x width unit Laplace draws each.

    The radius is Gamma(width): the sum of `width` magnitudes, each exponential. The
    direction is that of a normal vector, whose entries are the other draws taken through
    their distribution function.
    """
    from scipy.special import ndtri

    shaped = draws[: 2 * rows * width].reshape(rows, 2, width)
    radius = np.abs(shaped[:, 0]).sum(axis=1)
    tail = np.clip(0.5 * np.exp(-np.abs(shaped[:, 1])), 1e-300, 0.5 - 1e-9)
    normal = -np.sign(shaped[:, 1] + 1e-300) * ndtri(tail)
    length = np.sqrt((normal**2).sum(axis=1))
    result: Floats = normal * (radius / np.maximum(length, 1e-12))[:, None]
    return result


# The constants of printed factorizations, with the values that the papers print, and the
# readings that they leave open.


@dataclass(frozen=True)
class PaperConstants:
    """Constants of a paper: those of Xian et al. (5.2) unless it has its own.

    The inner scale has width 4, as their 1 to 5 has, so they carry over.
    """

    factors: int = 5
    """d."""
    epochs: int = 20
    """k."""
    seed: int = 0
    rate: float = 0.001
    """gamma."""
    ridge: float = 0.125
    """lambda."""
    own_ridge: float = 1.0
    """Ridge of a person's fold-in beside `ridge` for each of her ratings."""
    lift: bool = False
    """Whether SVD++'s scalar implicit term, as printed, is added to every factor of a person."""
    learned: bool = False
    """Whether implicit factors are learned for each item instead (Koren 2008), from the
    same noisy errors."""
    stop: float = 0.0
    start: float = 0.1
    first: Literal["normal", "uniform"] = "normal"
    people: Literal["trained", "folded"] = "trained"
    error_limit: float = 2.0
    """e_max."""
    update: Literal["together", "in turn"] = "together"
    lifted: bool = False
    item_shrink: float = 10.0
    """lambda_1."""
    own_shrink: float = 25.0
    """lambda_2."""
    implicit_shrink: float = 10.0
    """lambda_3."""
    slack: float = 2.0
    """C."""
    over: Literal["ratings", "people"] = "ratings"
    solve: Literal["objective", "equation 19"] = "objective"
    own_most: float = 0.4
    """p_max."""
    item_most: float = 0.5
    """q_max."""
    enforce: bool = False
    item_noise: Literal["lambda", "lambda_1"] = "lambda"
    global_share: float = 0.02
    item_share: float = 0.14
    own_share: float = 0.14
    """Of epsilon, to the three averages (Berlioz et al., as far as it is known)."""
    averages_shrink: float = 5.0
    averages_most: float = 2.0
    residual: float = 1.0

    @property
    def columns(self) -> int:
        """Of what is published for each item: mean, bias, factors and implicit factors."""
        return 2 + self.factors * (2 if self.learned else 1)

    @property
    def averages_share(self) -> float:
        """Of epsilon, for all averages; the rest is for the factors."""
        return sum((self.global_share, self.item_share, self.own_share))

    def overridden(self, settings: Any) -> PaperConstants:
        """These, but for what a method was told."""
        overrides = {field.name: getattr(settings, field.name, None) for field in fields(self)}
        return replace(self, **{k: v for k, v in overrides.items() if v is not None})


# Predictions from both sides of a factorization as it was trained: what papers that publish
# people's vectors report.
#
# For the owner's evaluation alone. Nothing of it is part of a shared model.


class TrainedPeople(PersonalModel):
    """Row u of the people who were trained on: baseline_i + own_u + p_u'q_i.

    It answers for whole blocks of the people it was trained on, by their rows; one person's
    ratings alone do not say who she is.
    """

    def __init__(
        self, baseline: Floats, user_bias: Floats, people: Floats, factors: Floats
    ) -> None:
        super().__init__({}, {})
        self.baseline = baseline
        self.own = user_bias
        self.people = people
        self.factors = factors

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """Nobody is known by her ratings."""
        raise Failure("trained people are known by their rows, not by ratings")

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """The same."""
        raise Failure("trained people are known by their rows, not by ratings")

    def predict_cells(self, cells: Cells) -> Floats:
        """Row by row; whoever has no ratings was not trained on and gets the baseline."""
        row = self.rows(cells.ptr)
        ask = np.repeat(row, np.diff(cells.ask_ptr))
        item = cells.ask_item
        out: Floats = self.baseline[item].copy()
        trained = ask >= 0
        person = ask[trained]
        out[trained] += self.own[person] + np.einsum(
            "nd,nd->n", self.people[person], self.factors[item[trained]]
        )
        return out

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """All items for everybody."""
        row = self.rows(ptr)
        scores = np.tile(self.baseline, (len(row), 1))
        trained = row >= 0
        person = row[trained]
        scores[trained] += self.own[person, None] + self.people[person] @ self.factors.T
        return scores

    def rows(self, ptr: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which trained person each row is: those who have ratings, in order; -1 else."""
        has_ratings = np.diff(ptr) > 0
        return np.where(has_ratings, np.cumsum(has_ratings) - 1, -1)
