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
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Box, ListedItems, Rows
from tacit.errors import TacitError
from tacit.methods.base import Method, Public, Settings
from tacit.model.model import Model
from tacit.model.person.base import Own, PersonalModel
from tacit.model.person.rank import Ordered, order_scores, top
from tacit.model.shared import Shared
from tacit.repr import shapes
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
ENDS = 2.0
"""Of the inner scale: predictions are kept inside, as they are shown."""


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
    def score_settings(self) -> ScoreSettings:
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
        score_settings = settings.score_settings
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
                f"Ratings that are predicted: {promise.apart.describe()}. People are known by "
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


# Scores of one person: errors, list and hits of a published model.
#
# All of it follows from the model, which is public, and her own ratings, those that the fit saw
# (which she folds in) and those kept apart (which are predicted). Nobody else enters, so
# whatever is made of it is a sum over people of bounded numbers (docs/proofs/release.md).


@dataclass(frozen=True)
class ScoreSettings:
    """What is asked about a model: public constants."""

    places: int
    """Of a list."""
    most: int
    """Ratings of a person that are predicted."""
    worst: float
    """The mean squared error, on the inner scale, beyond which a person's errors are cut."""
    liked: float
    """The rating, on the inner scale, from which a kept-apart item is relevant."""
    lists: bool = True
    """Whether lists are made at all."""


@dataclass(frozen=True)
class ScoredPerson:
    """One person's own ratings, over the rows of the model's catalogue."""

    seen: NDArray[np.int64]
    values: NDArray[np.float64]
    apart: NDArray[np.int64]
    truth: NDArray[np.float64]

    __repr__ = shapes


@dataclass(frozen=True)
class Score:
    """What one person adds; every number from 0 to 1."""

    errors: tuple[float, float]
    """Ratings predicted, of `most`; their squared errors, of `most` times `worst`."""
    hits: tuple[float, float]
    """Whether anything is relevant; the share of it that the list has."""
    listed: NDArray[np.int64]
    """Rows of her list, ascending."""

    __repr__ = shapes


def person_of(item: NDArray[np.uint32], value: NDArray[np.float64]) -> ScoredPerson:
    """From the doubled rows of `tacit.data.held_out`: even ones were seen, odd ones kept apart."""
    rows = item.astype(np.int64)
    held = rows % 2 == 1
    return ScoredPerson(rows[~held] // 2, value[~held], rows[held] // 2, value[held])


def score(model: PersonalModel, person: ScoredPerson, settings: ScoreSettings) -> Score:
    """See the module. A model that has no sensible answer for her predicts the middle of the
    scale: no error may depend on anybody's ratings."""
    answer = _answer(model, person)
    return Score(_errors(answer, person, settings), *_hits(answer, person, settings))


def _answer(model: PersonalModel, person: ScoredPerson) -> Ordered | None:
    try:
        return order_scores(model, Own(person.seen, person.values), None)
    except TacitError:
        return None


def _errors(
    answer: Ordered | None, person: ScoredPerson, settings: ScoreSettings
) -> tuple[float, float]:
    rows = sample_rows(person.apart, settings.most)
    predicted = np.zeros(len(rows))
    if answer is not None:
        predicted = np.clip(answer.mean[person.apart[rows]], -ENDS, ENDS)
    squared = float(np.square(predicted - person.truth[rows]).sum())
    return len(rows) / settings.most, squared / (settings.most * settings.worst)


def _hits(
    answer: Ordered | None, person: ScoredPerson, settings: ScoreSettings
) -> tuple[tuple[float, float], NDArray[np.int64]]:
    relevant = person.apart[person.truth >= settings.liked]
    listed = np.zeros(0, np.int64)
    if answer is not None and settings.lists:
        allowed = np.ones(len(answer.scores), bool)
        allowed[person.seen] = False
        listed = np.sort(top(answer.scores, settings.places, allowed))
    if not len(relevant):
        return (0.0, 0.0), listed
    hits = int(np.isin(relevant, listed).sum())
    return (1.0, hits / min(settings.places, len(relevant))), listed


def sample_rows(rows: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Places of at most `limit` of a person's rows, as good as at random, though from these
    rows alone: ordered by a hash that all of them have set."""
    if len(rows) <= limit:
        return np.arange(len(rows))
    words = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    key = np.bitwise_xor.reduce(words)
    with np.errstate(over="ignore"):
        mixed = (words ^ key) * np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    return np.sort(np.argsort(mixed, kind="stable")[:limit])
