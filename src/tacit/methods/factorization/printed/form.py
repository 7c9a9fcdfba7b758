"""What the printed forms of factorizations have in common: claimed, not certified.

Each runs as one round of a sequential epoch that is handed unit Laplace (or normal) draws
and scales them as its paper prints. Only item arrays are published; a person's own side is
folded in from her own ratings (her trained vector would be personal). What is wrong with
each claim is said in its `reason`; docs/proofs/mf.md says more.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.methods.base import Form, Public
from tacit.methods.factorization.base import Settings
from tacit.methods.factorization.implicit import LIFT_SHRINK
from tacit.methods.factorization.publish import shared_model
from tacit.methods.factorization.state import TableState
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import STEPWISE, Claim, Epoch, EpochKind
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
OWN_SHRINK = 25.0
"""lambda_2 of Xian et al.: so many ratings halve what a person's own mean says."""
STOP = 1e-4
"""Iterations end when the training error changes by less."""
NOISE = 0.7
"""Variance of a rating around the model: sets the scale of the published loadings, not the
predictions."""
MOST_ENTRY = 1e3
"""What has diverged is cut at +-this."""
START = 0.1
"""Standard deviation of the first, random factors."""


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


class PrintedForm(Form):
    """One paper: its constants, how many draws it asks for, its training, and why nothing
    here backs its claim."""

    settings: Settings
    reason: ClassVar[str]
    noise: ClassVar[Literal["laplace", "gaussian"]] = "laplace"
    kind: ClassVar[EpochKind] = STEPWISE

    def constants(self, public: Public) -> Printed:
        """Those of Xian et al., unless a paper has its own."""
        factors = self.settings.factors or 5
        return Printed(factors, self.settings.epochs or 20, self.method.seed)

    @abstractmethod
    def draws(self, public: Public) -> int:
        """How many unit draws the training is handed."""

    @abstractmethod
    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Mean, item bias and factors, side by side, from all ratings."""

    def plan(self, public: Public) -> Plan:
        """One round, which is the whole training."""
        items = public.items

        def contribute(block: Block, state: TableState) -> Mapping[str, Rows]:
            from threadpoolctl import threadpool_limits

            with threadpool_limits(1):
                made = self.train(public, block, block.draws["items"])
            return {"items": Rows(np.array([0, items]), np.arange(items), made)}

        def absorb(
            state: TableState, released: Mapping[str, Released]
        ) -> TableState:
            return state.after(items=released["items"].value)

        claim = Claim(self.noise, 1.0, epsilon_of(public), 0.0, self.reason)
        part = Part(
            "items",
            items,
            CellClip(1.0),
            width=self.constants(public).columns,
            printed=Epoch(self.kind, claim, max(self.draws(public), 1)),
        )
        round_ = Round("printed", (part,), contribute, absorb)
        story = (
            f"As printed, for comparison: claimed, not certified. {self.reason}"
        )
        return Plan(public.unit, (round_,), (story,))

    def first_state(self, public: Public) -> State:
        """Nothing is trained yet."""
        return TableState()

    def finish(self, public: Public, state: TableState) -> Shared:
        """Item arrays for a fold-in with the paper's ridges."""
        printed = self.constants(public)
        table = np.nan_to_num(state.items, posinf=0.0, neginf=0.0)
        last = 2 + printed.factors
        # argmin |r - V p|^2 + ridge |p|^2 as a Gaussian says it: z = p / scale ~ N(0, I).
        scale = np.sqrt(NOISE / printed.own_ridge)
        level = np.full((len(table), 1), np.sqrt(NOISE / OWN_SHRINK))
        factors = np.clip(table[:, 2:last], -MOST_ENTRY, MOST_ENTRY)
        arrays = {
            "baseline": table[:, 0] + table[:, 1],
            "variance": np.zeros(len(table)),
            "loadings": np.hstack([level, scale * factors]),
        }
        numbers = {
            "noise": NOISE,
            "per_rating": printed.ridge / printed.own_ridge,
        }
        if printed.lift:
            lift = np.full(printed.factors, 1 / scale)
            arrays["lift"] = np.concatenate([[0.0], lift])
            numbers["lift_shrink"] = LIFT_SHRINK
        if printed.learned:
            implicit = np.clip(table[:, last:], -MOST_ENTRY, MOST_ENTRY)
            arrays["implicit"] = np.hstack([0 * level, implicit / scale])
        return shared_model(self.method, public, "factors", arrays, numbers)


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
    people: int, items: int, printed: Printed
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """First vectors of people and items, from the public seed."""
    rng = np.random.default_rng(printed.seed)
    own = rng.standard_normal((people, printed.factors)) * START
    factors = rng.standard_normal((items, printed.factors)) * START
    return own.astype(np.float32), factors.astype(np.float32)


def table(mean: float, bias: Floats, factors: NDArray[np.floating]) -> Floats:
    """What is published of the items, side by side."""
    means = np.full((len(bias), 1), mean)
    return np.hstack([means, bias[:, None], factors.astype(np.float64)])


def knorm_rows(draws: Floats, rows: int, width: int) -> Floats:
    """`rows` vectors with density ~ exp(-|b|), from 2 x width unit Laplace draws each.

    The radius is Gamma(width): the sum of `width` magnitudes, each exponential. The
    direction is that of a normal vector, whose entries are the other draws taken through
    their distribution function.
    """
    from scipy.special import ndtri

    given = draws[: 2 * rows * width].reshape(rows, 2, width)
    radius = np.abs(given[:, 0]).sum(axis=1)
    tail = np.clip(0.5 * np.exp(-np.abs(given[:, 1])), 1e-300, 0.5 - 1e-9)
    normal = -np.sign(given[:, 1] + 1e-300) * ndtri(tail)
    length = np.sqrt((normal**2).sum(axis=1))
    result: Floats = normal * (radius / np.maximum(length, 1e-12))[:, None]
    return result
