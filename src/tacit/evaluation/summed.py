"""The plan of a release of figures: one round in which every person adds how well the model
serves her.

It is a method like any other, so that everything that holds for a fit holds for it: the plan
is priced before a rating is read, everybody is computed alone and checked to be, the hunts for
a neighbour that moves a sum too far run on it unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from tacit.bound import Box, ListedItems, Rows
from tacit.evaluation.scored import Score, ScoreSettings, person_of, score
from tacit.methods.base import Method, Public, Settings
from tacit.model.model import Model
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State, later
from tacit.units import Unit

ROUND = "figures"
WORST = 2.0
"""A person whose mean squared error is twice the square of a quarter of the scale: on ML-100K
3 people in a hundred are beyond it, and RMSE is .005 lower for it (docs/release.md)."""
SHARES = {"errors": 0.4, "hits": 0.3, "lists": 0.3}
"""Of the budget, where all three are asked for."""


COUNTED = {"errors": (0.6, 1.0), "hits": (0.3, 1.0)}
"""Sides of the box of what is counted and of what is summed. A ratio t of a sum to a count is
least uncertain where the side of the count is the root of t: for errors t is about a third,
for hits about a tenth."""


class MeasuredSettings(Settings):
    """What is asked about a model."""

    model: str = ""
    """Digest of the model."""
    places: int = Field(default=20, ge=1, le=100)
    """Items of a list."""
    most: int = Field(default=10, ge=1, le=1000)
    """Ratings of a person that are predicted."""
    worst: float = Field(default=WORST, gt=0, le=16)
    """Mean squared error, on the inner scale, beyond which a person's errors are cut."""
    liked: float = Field(default=1.0, ge=-2, le=2)
    """Rating on the inner scale from which a kept-apart item is relevant."""
    parts: tuple[str, ...] = tuple(SHARES)
    """Which figures: `errors`, `hits`, `lists`."""

    @property
    def asked(self) -> ScoreSettings:
        """The constants of a person's score."""
        lists = self.parts != ("errors",)
        return ScoreSettings(self.places, self.most, self.worst, self.liked, lists)


@dataclass(frozen=True)
class FigureSums(State):
    """What was released: for each part the noisy sums, and the noise of each number."""

    errors: Any = later()
    hits: Any = later()
    lists: Any = later()
    noise: Any = later()
    """Standard deviations, by part in the order of the plan."""


class MeasuredMethod(Method):
    """Figures about one published model, over ratings in the doubled rows of
    `tacit.data.held_out`."""

    name: ClassVar[str] = "figures"
    source: ClassVar[str] = "sums over people of clipped errors, hits and lists"
    units: ClassVar[tuple[Unit, ...]] = ("user", "rating", "value")
    calibrations = ("sound",)
    needs_people: ClassVar[bool] = False
    Settings = MeasuredSettings

    def __init__(self, model: Model, **options: Any) -> None:
        self.about = model
        super().__init__(**{"model": model.shared.digest(), **options})

    def set_params(self, **params: Any) -> MeasuredMethod:
        """A method about the same model."""
        self.__init__(self.about, **(self.get_params() | params))  # type: ignore[misc]
        return self

    def plan(self, public: Public) -> Plan:
        """One round; its shares are those of the figures that are asked for."""
        settings = self.settings
        assert isinstance(settings, MeasuredSettings)
        items = len(self.about.shared.catalogue)
        longest = min(settings.places, items)
        every = {
            "errors": Part("errors", 1, Box(COUNTED["errors"]), width=2),
            "hits": Part("hits", 1, Box(COUNTED["hits"]), width=2),
            "lists": Part("lists", items, ListedItems(longest)),
        }
        total_share = sum(SHARES[name] for name in settings.parts)
        parts = tuple(
            _with_share(every[name], SHARES[name] / total_share) for name in settings.parts
        )
        score_settings = settings.asked
        personal = self.about.personal

        def contribute(block: Block, state: FigureSums) -> Mapping[str, Rows]:
            return _rows(
                [
                    score(personal, person_of(block.item[a:b], block.value[a:b]), score_settings)
                    for a, b in zip(block.ptr[:-1], block.ptr[1:], strict=True)
                ]
            )

        only = (Round(ROUND, parts, contribute, _absorb),)
        return Plan(public.unit, only, story=tuple(self._story()))

    def _story(self) -> Iterator[str]:
        """Which model the figures are about, and on which ratings they stand."""
        promise = self.about.statement
        if promise.book_number is not None:
            yield (
                f"The figures are about the model that entry {promise.book_number} of "
                f"{promise.population!r} paid for."
            )
        if promise.apart is not None:
            yield (
                f"Ratings that are predicted: {promise.apart.words()}. People are known by "
                "the same ids as in the fit."
            )

    def first_state(self, public: Public) -> FigureSums:
        """Nothing was released before."""
        return FigureSums()

    def finish(self, public: Public, state: Any) -> Shared:
        """The model is what it was: figures are made of the state."""
        return self.about.shared


def _with_share(part: Part, share: float) -> Part:
    from dataclasses import replace

    return replace(part, share=share)


def _rows(scores: list[Score]) -> dict[str, Rows]:
    """What these people add to each part."""
    sizes = [len(person_score.listed) for person_score in scores]
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    listed = [person_score.listed for person_score in scores]
    index = np.concatenate([np.zeros(0, np.int64), *listed])
    return {
        "errors": _pairs("errors", [person_score.errors for person_score in scores]),
        "hits": _pairs("hits", [person_score.hits for person_score in scores]),
        "lists": Rows(ptr, index, np.ones((len(index), 1))),
    }


def _pairs(part: str, pairs: list[tuple[float, float]]) -> Rows:
    """Counts and sums, each up to the side of its box."""
    return Rows.one_each(np.array(pairs).reshape(-1, 2) * COUNTED[part])


def _absorb(state: FigureSums, released: Mapping[str, Released]) -> FigureSums:
    values = {name: part.value for name, part in released.items()}
    noise = {name: part.sd for name, part in released.items()}
    return state.after(**values, noise=noise)
