"""Learned neighbourhoods (Wang & Tang): similarities of items, trained on what they predict.

`sound` (unit `user`): private item means, a private covariance to start from, noisy
gradients of people's own losses over the most rated items, and a private choice that
returns to the item means where nothing stands out of the noise. `none` is descent without
noise over all items; `paper` is Algorithm 1 or 2 as printed. What was learned may be used
by `knn-pearson` and `knn-cosine`: `tacit fit --method knn-cosine --start MODEL`.
"""

from __future__ import annotations

from abc import abstractmethod
from math import sqrt
from typing import Any, ClassVar, Literal, cast

import numpy as np
from pydantic import Field

from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import FirstOrder, public_design
from tacit.methods.first_order.started import VERSION
from tacit.methods.neighbourhood.plan import (
    RICH,
    items_with_neighbours,
    signal,
    sound_arrays,
    sound_plan,
)
from tacit.methods.neighbourhood.printed import MOST_RATINGS, Printed
from tacit.methods.neighbourhood.rounds import Pairs
from tacit.methods.neighbourhood.twin import FLOOR, SHRINK, twin_round
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Round
from tacit.rounds.state import State


class Settings(BaseSettings):
    neighbours: int = Field(500, ge=1, le=5000)
    """N_k: similarities kept for each item."""
    start: Literal["cosine", "pearson"] = "cosine"
    """First similarities of `none` and `paper`; `sound` starts from its own released covariance."""
    rounds: int | None = Field(None, ge=0, le=500)
    """K: gradient rounds (`sound`, `paper`) or passes (`none`); unset, a rule of each
    calibration chooses."""
    items: int | None = Field(None, ge=0, le=2000)
    """How many of the most rated items get neighbours in `sound`; unset, a rule from people
    and budget chooses."""
    sampled: float = Field(1.0, gt=0, le=1)
    """Chance of each person to take part in a gradient round (`sound`)."""
    batch: float = Field(1.0, gt=0, le=1)
    """gamma: share of the ratings in each step of `paper`."""


class SGDSettings(Settings):
    rate: float | None = Field(None, gt=0)
    """eta; unset, .5 in `sound`, in `paper` .4 below epsilon 5 and .1 from there on (section 5.1).
    """
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

    source = (
        "Wang and Tang, Differentially Private Neighborhood-based Recommender Systems"
    )
    units = ("user",)
    calibrations = ("sound", "paper", "none")
    engines = ("threads",)
    posterior: ClassVar[bool]
    """Whether iterates are samples, to be averaged, and their spread a doubt."""
    steps: ClassVar[tuple[int, int]]
    """Gradient rounds of `sound` where neighbours pay, and where people x mu is above `RICH`."""

    @property
    def chosen(self) -> Settings:
        return cast("Settings", self.settings)

    @abstractmethod
    def walk(self) -> dict[str, Any]:
        """How a step of `sound` goes: fields of `Pairs`."""

    @abstractmethod
    def paper_rounds(self, epsilon: float) -> int:
        """K, unless it is set."""

    @abstractmethod
    def paper_step(self, printed: Printed, turn: int) -> Round:
        """Step `turn` of the printed algorithm."""

    def paper_floor(self, epsilon: float) -> float:
        """C, the least total similarity that predictions of `paper` divide by."""
        return 1e-9

    def paper_story(self, epsilon: float) -> tuple[str, ...]:
        return ()

    def plan(self, public: Public) -> Plan:
        settings = self.chosen
        if public.calibration == "none":
            twin = twin_round(
                public,
                neighbours=settings.neighbours,
                pearson=settings.start == "pearson",
                epochs=3 if settings.rounds is None else max(1, settings.rounds),
                average=self.posterior,
                threads=self.threads,
            )
            return Plan(
                public.unit,
                (twin,),
                ("Not private: raw means, raw similarities, no noise.",),
            )
        if public.calibration == "paper":
            return self.paper_plan(public)
        steps = (
            self.steps[signal(public) >= RICH]
            if settings.rounds is None
            else settings.rounds
        )
        return sound_plan(public, self.pairs(public), steps)

    def paper_plan(self, public: Public) -> Plan:
        settings = self.chosen
        assert public.budget is not None
        epsilon = public.budget.epsilon
        printed = Printed(
            public,
            neighbours=settings.neighbours,
            pearson=settings.start == "pearson",
            batch=settings.batch,
            rescale=getattr(settings, "rescale", 1.0),
            seed=self.seed,
            threads=self.threads,
            posterior=self.posterior,
            epsilon=epsilon,
            rounds=settings.rounds or self.paper_rounds(epsilon),
        )
        steps = (
            self.paper_step(printed, turn) for turn in range(1, printed.rounds + 1)
        )
        return Plan(public.unit, (printed.start(), *steps), self.paper_story(epsilon))

    def pairs(self, public: Public) -> Pairs:
        """The rounds over pairs of items of the `sound` plan."""
        settings, pure = (
            self.chosen,
            public.budget is not None and public.budget.delta == 0,
        )
        size = (
            items_with_neighbours(public)
            if settings.items is None
            else min(settings.items, public.items)
        )
        first = FirstOrder(public, public_design(public), pure)
        return Pairs(
            public,
            first,
            size,
            sampled=1.0 if pure else settings.sampled,
            **self.walk(),
        )

    def finish(self, public: Public, state: State) -> Shared:
        if public.calibration == "sound":
            arrays, noise, around = sound_arrays(
                public,
                self.pairs(public),
                state,
                self.chosen.neighbours,
                posterior=self.posterior,
            )
            floor = 1.0
        else:
            twin = public.budget is None
            items = public.items
            noise = float(state["noise"][0, 0])
            arrays = {
                "baseline": state["baseline"][:, 0],
                "variance": np.zeros(items),
                # A level shrunk by SHRINK ratings; the paper's predictor knows no levels.
                "loadings": np.full((items, 1), sqrt(noise / SHRINK) if twin else 0.0),
                "doubt": state["doubt"][:, 0] if twin else np.zeros(items),
                **compress(state["neighbour"].astype(np.int64), state["similarity"]),
            }
            around, floor = (
                noise,
                FLOOR
                if public.budget is None
                else self.paper_floor(public.budget.epsilon),
            )
        small = {
            k: np.asarray(v, np.float32) if v.dtype == np.float64 else v
            for k, v in arrays.items()
        }
        numbers = {
            "noise": noise,
            "around": around,
            "floor": floor,
            "kept": float(VERSION),
        }
        settings = self.chosen.model_dump()
        return Shared(
            self.name,
            "neighbourhood",
            small,
            numbers,
            public.schema,
            public.catalogue,
            settings,
        )


class NeighborhoodSGD(Neighborhood):
    """Similarities by noisy gradient descent."""

    name = "pnbm-sgd"
    paper_unit = "rating"
    posterior, steps = False, (0, 1)
    Settings: ClassVar[type[BaseSettings]] = SGDSettings

    @property
    def chosen(self) -> SGDSettings:
        return cast("SGDSettings", self.settings)

    def walk(self) -> dict[str, Any]:
        return {"rate": self.chosen.rate or 0.5}

    def paper_rounds(self, epsilon: float) -> int:
        return int(
            np.clip(np.ceil(2 * epsilon), 1, 20)
        )  # fewer where less may be spent (section 5.1)

    def paper_step(self, printed: Printed, turn: int) -> Round:
        rate = self.chosen.rate or (0.4 if printed.epsilon < 5 else 0.1)
        return printed.descent(
            turn,
            rate=rate,
            decay=self.chosen.decay,
            floor=self.paper_floor(printed.epsilon),
        )

    def paper_floor(self, epsilon: float) -> float:
        return self.chosen.floor or (15.0 if epsilon < 5 else 10.0)


class NeighborhoodLangevin(Neighborhood):
    """Similarities by Langevin sampling: the noise of privacy is the noise of the sampler;
    iterates are averaged."""

    name = "pnbm-langevin"
    paper_unit = "user"
    posterior, steps = True, (4, 6)
    Settings: ClassVar[type[BaseSettings]] = LangevinSettings

    @property
    def chosen(self) -> LangevinSettings:
        return cast("LangevinSettings", self.settings)

    def walk(self) -> dict[str, Any]:
        settings = self.chosen
        return {
            "rate": settings.rate or 0.3,
            "xi": settings.falling,
            "prior": settings.decay,
            "clean": False,
        }

    def paper_rounds(self, epsilon: float) -> int:
        return 20

    def paper_step(self, printed: Printed, turn: int) -> Round:
        settings = self.chosen
        return printed.sample(
            turn,
            rate=settings.rate or 8e-6,
            xi=settings.falling,
            decay=settings.decay,
            temperature=settings.temperature,
        )

    def paper_story(self, epsilon: float) -> tuple[str, ...]:
        each = epsilon / MOST_RATINGS
        return (
            (
                f"The paper quotes this epsilon as {each:g} x {MOST_RATINGS}: a mean over a "
                "person's ratings."
            ),
        )
