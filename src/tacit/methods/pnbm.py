"""Learned neighbourhoods (Wang & Tang): similarities of items, trained on what they predict.

`sound` (unit `user`): private item means, a private covariance to start from, noisy gradients of people's own losses
over the most rated items, and a private choice that returns to the item means where nothing stands out of the noise.
`none` is descent without noise over all items; `paper` is Algorithm 1 or 2 as printed.
"""

from __future__ import annotations

from abc import abstractmethod
from math import sqrt
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.bias import Bias, level_share, strength
from tacit.methods.first_order import FirstOrder, public_design
from tacit.methods.pnbm_paper import MOST_RATINGS, Printed
from tacit.methods.pnbm_rounds import Pairs, top_items
from tacit.methods.pnbm_twin import FLOOR, SHRINK, twin_round
from tacit.model.neighbours import compress
from tacit.model.shared import Shared
from tacit.refine.neighbour import strongest
from tacit.round import Plan, Round, State

MOST_ITEMS = 500
"""Pairs of more items than this cost a busy person's device too much."""
LEAST_ITEMS = 20
PAYS = 4000.0
"""People x mu below which no neighbours are paid for: the noise would leave less than the item means lose."""
FIRST, FIRST_RICH = 0.6, 0.4
"""Of the budget, for item means and people's own models, where there are neighbours; below and above `RICH`."""
JUDGE, GRADIENTS = 0.06, 0.4
"""Of the rest: for the private choice; and of what then remains for all gradients together."""
RICH = 15_000.0
"""People x mu from which gradients cost no accuracy beside the covariance, which is the gradient at zero. This, `PAYS`
and the shares were set on one split of ML-1M (docs/results/pnbm.md)."""


class Settings(BaseSettings):
    neighbours: int = Field(500, ge=1, le=5000)
    """N_k: similarities kept for each item."""
    start: Literal["cosine", "pearson"] = "cosine"
    """First similarities of `none` and `paper`; `sound` starts from its own released covariance."""
    rounds: int | None = Field(None, ge=0, le=500)
    """K: gradient rounds (`sound`, `paper`) or passes (`none`); unset, a rule of each calibration chooses."""
    items: int | None = Field(None, ge=0, le=2000)
    """How many of the most rated items get neighbours in `sound`; unset, a rule from people and budget chooses."""
    sampled: float = Field(1.0, gt=0, le=1)
    """Chance of each person to take part in a gradient round (`sound`)."""
    batch: float = Field(1.0, gt=0, le=1)
    """gamma: share of the ratings in each step of `paper`."""


class SGDSettings(Settings):
    rate: float | None = Field(None, gt=0)
    """eta; unset, .5 in `sound`, in `paper` .4 below epsilon 5 and .1 from there on (section 5.1)."""
    decay: float = Field(0.05, ge=0)
    """lambda of `paper`."""
    rescale: float = Field(10.0, gt=0)
    """beta of `paper`."""
    floor: float | None = Field(None, gt=0)
    """C of `paper`; unset, 15 below epsilon 5 and 10 from there on (figure 2)."""


class LangevinSettings(Settings):
    rate: float | None = Field(None, gt=0)
    """eta_1; unset, .3 in `sound` and 8e-6 in `paper`."""
    decay: float = Field(0.02, ge=0)
    """lambda: pull back to the start (`sound`) or to zero (`paper`)."""
    temperature: float = Field(0.09, gt=0)
    """Of `paper`; in `sound` it follows from the noise that the budget demands."""
    falling: float = Field(0.3, ge=0, le=1)
    """xi: steps fall as t^-xi."""


class Neighborhood(Method):
    """What both methods share."""

    source = "Wang and Tang, Differentially Private Neighborhood-based Recommender Systems"
    units = ("user",)
    calibrations = ("sound", "paper", "none")
    engines = ("threads",)
    posterior: ClassVar[bool]
    steps: ClassVar[tuple[int, int]]
    """Gradient rounds of `sound` where neighbours pay, and where people x mu is above `RICH`."""

    @property
    def chosen(self) -> Settings:
        settings = self.settings
        assert isinstance(settings, Settings)
        return settings

    def plan(self, public: Public) -> Plan:
        settings = self.chosen
        if public.calibration == "none":
            twin = twin_round(
                public, neighbours=settings.neighbours, pearson=settings.start == "pearson",
                epochs=3 if settings.rounds is None else max(1, settings.rounds), average=self.posterior,
                threads=self.threads,
            )  # fmt: skip
            return Plan(public.unit, (twin,), ("Not private: raw means, raw similarities, no noise.",))
        return self.paper_plan(public) if public.calibration == "paper" else self.sound_plan(public)

    def paper_plan(self, public: Public) -> Plan:
        settings = self.chosen
        assert public.budget is not None
        epsilon = public.budget.epsilon
        printed = Printed(
            public, neighbours=settings.neighbours, pearson=settings.start == "pearson", batch=settings.batch,
            rescale=settings.rescale if isinstance(settings, SGDSettings) else 1.0, seed=self.seed,
            threads=self.threads, posterior=self.posterior, epsilon=epsilon,
            rounds=settings.rounds or self.paper_rounds(epsilon),
        )  # fmt: skip
        steps = (self.paper_step(printed, turn) for turn in range(1, printed.rounds + 1))
        return Plan(public.unit, (printed.start(), *steps), self.paper_story(epsilon))

    @abstractmethod
    def paper_rounds(self, epsilon: float) -> int:
        """K, unless it is set."""

    @abstractmethod
    def paper_step(self, printed: Printed, turn: int) -> Round:
        """Step `turn` of the printed algorithm."""

    def paper_story(self, epsilon: float) -> tuple[str, ...]:
        return ()

    @abstractmethod
    def pairs(self, public: Public) -> Pairs:
        """The rounds over pairs of items of the `sound` plan."""

    def size(self, public: Public) -> int:
        """How many items get neighbours: by rule from people and budget, before any data."""
        if self.chosen.items is not None:
            return min(self.chosen.items, public.items)
        budget, users = public.budget, public.schema.users or 1000
        if budget is not None and budget.delta == 0:  # an L1 bound over all pairs is far smaller
            wanted = 0.0003 * users * budget.epsilon
        else:
            signal = users * strength(budget)
            wanted = 0.05 * signal if signal >= PAYS else 0.0
        size = int(min(wanted, MOST_ITEMS, public.items / 2))
        return size if size >= LEAST_ITEMS else 0

    def sound_plan(self, public: Public) -> Plan:
        settings, mu = self.chosen, strength(public.budget)
        pairs = self.pairs(public)
        signal = (public.schema.users or 1000) * mu
        level = level_share(public.schema.users, mu)
        first_share, rest = 1.0 - level, 0.0
        rounds: tuple[Round, ...] = ()
        if pairs.size:
            steps = self.steps[signal >= RICH] if settings.rounds is None else settings.rounds
            first_share *= FIRST_RICH if signal >= RICH else FIRST
            rest = 1.0 - level - first_share
            judge = JUDGE * rest
            each = (rest - judge) * (GRADIENTS / steps if steps else 0.0)
            start = rest - judge - each * steps
            if steps and pairs.sampled < 1:  # a share of mu^2 buys 1/sampled^2 as much where few take part
                whole = 1.0 + steps * each * (pairs.sampled**-2 - 1.0)
                each, start, judge = each * pairs.sampled**-2 / whole, start / whole, judge / whole
                level, first_share = level / whole, first_share / whole
            rounds = (
                pairs.covariance(start),
                *(pairs.gradient(turn, each) for turn in range(1, steps + 1)),
                pairs.judge(judge, trained=steps > 0),
            )
        sweeps = 2 if pairs.size else 3
        sums = 0.65 * first_share / sweeps
        first = pairs.first
        begin = (
            first.people(level),
            first.weights(0.3 * first_share),
            *(first.effects(f"effects {i}", sums, 1 / (mu * sqrt(sums))) for i in range(1, sweeps + 1)),
            Bias().choice(first, 0.05 * first_share),
        )
        story = (
            f"Item means take {100 * (level + first_share):.0f} % of the budget.",
            f"Neighbours are learned for {pairs.size} items, those of largest released weight: by rule from people x "
            "budget." if pairs.size else "So few people at this budget: item means alone, no neighbours.",
        )  # fmt: skip
        return Plan(public.unit, (*begin, *rounds), story)

    def finish(self, public: Public, state: State) -> Shared:
        if public.calibration == "sound":
            return self._publish(public, *self._sound_arrays(public, state), 1.0)
        twin, items, noise = public.calibration == "none", public.items, float(state["noise"][0, 0])
        arrays = {
            "baseline": state["baseline"][:, 0],
            "variance": np.zeros(items),
            # A level shrunk by SHRINK ratings; the paper's predictor knows no levels.
            "loadings": np.full((items, 1), sqrt(noise / SHRINK) if twin else 0.0),
            "doubt": state["doubt"][:, 0] if twin else np.zeros(items),
            **compress(state["neighbour"].astype(np.int64), state["similarity"]),
        }
        return self._publish(public, arrays, noise, noise, FLOOR if twin else self.paper_floor(public))

    def paper_floor(self, public: Public) -> float:
        return 1e-9

    def _sound_arrays(self, public: Public, state: State) -> tuple[dict[str, NDArray[np.float64]], float, float]:
        pairs, items = self.pairs(public), public.items
        model = pairs.model(state)
        arrays = {
            "baseline": model.baseline,
            "variance": model.variance,
            "loadings": model.loadings,
            "doubt": np.zeros(items),
            **compress(np.full((items, 1), -1), np.zeros((items, 1))),
        }
        if not pairs.size:
            return arrays, model.noise, model.noise
        top = top_items(state, pairs.size)
        near = strongest(state["chosen"], self.chosen.neighbours)
        index = np.full((items, near.item.shape[1]), -1, np.int64)
        value = np.zeros(index.shape)
        index[top] = np.where(near.item >= 0, top[near.item], -1)
        value[top] = near.value
        if self.posterior:
            iterates = state["iterates"]
            arrays["doubt"][top] = iterates[(len(iterates) + 1) // 2 :].var(axis=0).mean(axis=1)
        return {**arrays, **compress(index, value)}, model.noise, float(state["around"][0])

    def _publish(
        self, public: Public, arrays: dict[str, NDArray[np.float64]], noise: float, around: float, floor: float
    ) -> Shared:
        small = {k: np.asarray(v, np.float32) if v.dtype == np.float64 else v for k, v in arrays.items()}
        numbers = {"noise": noise, "around": around, "floor": floor}
        return Shared(
            self.name, "neighbourhood", small, numbers, public.schema, public.catalogue, self.chosen.model_dump()
        )


class NeighborhoodSGD(Neighborhood):
    """Similarities by noisy gradient descent."""

    name = "pnbm-sgd"
    paper_unit = "rating"
    posterior, steps = False, (0, 1)
    Settings: ClassVar[type[BaseSettings]] = SGDSettings

    def pairs(self, public: Public) -> Pairs:
        settings = self.settings
        assert isinstance(settings, SGDSettings)
        pure = public.budget is not None and public.budget.delta == 0
        first = FirstOrder(public, public_design(public), pure)
        return Pairs(public, first, self.size(public), settings.rate or 0.5, sampled=1.0 if pure else settings.sampled)

    def paper_rounds(self, epsilon: float) -> int:
        return int(np.clip(np.ceil(2 * epsilon), 1, 20))  # fewer where less may be spent (section 5.1)

    def paper_step(self, printed: Printed, turn: int) -> Round:
        settings = self.settings
        assert isinstance(settings, SGDSettings)
        rate = settings.rate or (0.4 if printed.epsilon < 5 else 0.1)
        return printed.descent(turn, rate=rate, decay=settings.decay, floor=_floor(settings, printed.epsilon))

    def paper_floor(self, public: Public) -> float:
        settings = self.settings
        assert isinstance(settings, SGDSettings) and public.budget is not None  # noqa: PT018
        return _floor(settings, public.budget.epsilon)


class NeighborhoodLangevin(Neighborhood):
    """Similarities by Langevin sampling: the noise of privacy is the noise of the sampler; iterates are averaged."""

    name = "pnbm-langevin"
    paper_unit = "user"
    posterior, steps = True, (4, 6)
    Settings: ClassVar[type[BaseSettings]] = LangevinSettings

    def pairs(self, public: Public) -> Pairs:
        settings = self.settings
        assert isinstance(settings, LangevinSettings)
        pure = public.budget is not None and public.budget.delta == 0
        first = FirstOrder(public, public_design(public), pure)
        return Pairs(
            public, first, self.size(public), settings.rate or 0.3, settings.falling, settings.decay,
            1.0 if pure else settings.sampled, clean=False,
        )  # fmt: skip

    def paper_rounds(self, epsilon: float) -> int:
        return 20

    def paper_step(self, printed: Printed, turn: int) -> Round:
        settings = self.settings
        assert isinstance(settings, LangevinSettings)
        return printed.sample(
            turn, rate=settings.rate or 8e-6, xi=settings.falling, decay=settings.decay,
            temperature=settings.temperature,
        )  # fmt: skip

    def paper_story(self, epsilon: float) -> tuple[str, ...]:
        each = epsilon / MOST_RATINGS
        return (f"The paper quotes this epsilon as {each:g} x {MOST_RATINGS}: a mean over a person's ratings.",)


def _floor(settings: SGDSettings, epsilon: float) -> float:
    return settings.floor or (15.0 if epsilon < 5 else 10.0)
