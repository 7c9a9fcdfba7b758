"""How well a published model serves one person: her errors, her list, its hits.

All of it follows from the model, which is public, and her own ratings, those that the fit saw
(which she folds in) and those kept apart (which are predicted). Nobody else enters, so
whatever is made of it is a sum over people of bounded numbers (docs/proofs/release.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.model.person.base import Own, PersonalModel
from tacit.model.person.rank import Ordered, order_scores, top
from tacit.repr import shapes

ENDS = 2.0
"""Of the inner scale: predictions are kept inside, as they are shown."""


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
