"""The range of epsilons worth considering, by the scheme of Xian et al. 2017 (section 5.3): the
lists of 30 that the private model and its twin give a random person should share between 20
and 80 %, on average over ten runs.

Below 20 % privacy ruins the lists; above 80 % noise hides little of them. It is a rule of
thumb: what an attacker gains follows from epsilon alone. It compares a private model with its
non-private twin, so it is made on public or on invented people; on private ratings its answer
is a fact about them, for the owner only, and is booked as an evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.invent import Shape, invent

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.ratings import Ratings
    from tacit.methods.base import Method
    from tacit.model.model import Model

PLACES = 30
RUNS = 10
PEOPLE = 60
"""Random people a run: one, as printed, makes an average of ten lists that nobody could
repeat."""
LOW = 0.2
"""Overlap of lists at the careful end of the range, in its middle and at its end (Xian et al.)."""
MIDDLE = 0.5
HIGH = 0.8
ROW = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
STAND_INS = 2500
"""Invented people at most: more are stood in for by as many with less noise."""
MOST_ITEMS = 2500
LIKED = 0.75
"""Of the way from the lowest rating to the highest: 4 on a scale of 1 to 5."""

Make = Callable[[float | None], "Method"]
"""From an epsilon to the method, from None to its twin."""
Tell = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Overlaps:
    """Mean overlap of lists at each epsilon of a row."""

    epsilons: tuple[float, ...]
    shared: tuple[float, ...]

    def crossing(self, level: float) -> float | None:
        """Where the overlap reaches a level; None where the row never does."""
        rising = np.maximum.accumulate(self.shared)
        if rising[-1] < level:
            return None
        index = int(np.argmax(rising >= level))
        if index == 0:
            return self.epsilons[0]
        below, above = rising[index - 1], rising[index]
        part = (level - below) / (above - below)
        logs = [log(self.epsilons[index - 1]), log(self.epsilons[index])]
        return float(f"{exp(logs[0] + part * (logs[1] - logs[0])):.2g}")


def overlaps(
    make: Make,
    ratings: Ratings,
    *,
    items: Catalogue | None = None,
    people: int | None = None,
    row: tuple[float, ...] = ROW,
    runs: int = RUNS,
    seed: int = 0,
    tell: Tell | None = None,
) -> Overlaps:
    """The private model at each epsilon against the twin. `people` is how many the ratings
    stand in for, where they are invented."""
    from tacit.fitting.run import trial

    rng = np.random.default_rng(seed)
    users = ratings.n_users
    twin = trial(make(None), ratings, items=items, users=users)
    scaled = [_stronger(make, e, people or users, users) for e in row]
    total: NDArray[np.float64] = np.zeros(len(row))
    for run in range(runs):
        count = min(PEOPLE, users)
        sample = np.sort(rng.choice(users, count, replace=False))
        sampled_ratings = _rows(ratings, sample)
        best = _lists(twin, sampled_ratings)
        for index, epsilon in enumerate(scaled):
            if tell:
                tell(run * len(row) + index, runs * len(row), f"{row[index]:g}")
            model = trial(make(epsilon), ratings, items=items, users=users)
            total[index] += _shared(best, _lists(model, sampled_ratings))
    return Overlaps(row, tuple(float(share) for share in total / runs))


def stand_ins(shape: Shape, *, likes: bool, seed: int = 0) -> tuple[Ratings, Catalogue]:
    """Invented people of the declared shape, no more than are needed."""
    small = replace(shape, people=min(shape.people, STAND_INS), items=min(shape.items, MOST_ITEMS))
    ratings, items = invent(small, seed=seed)
    if not likes:
        return ratings, items
    schema = ratings.schema
    threshold = schema.low + LIKED * (schema.high - schema.low)
    liked = ratings.take(ratings.value >= threshold)
    return replace(liked, schema=replace(schema, positive=threshold)), items


def _stronger(make: Make, epsilon: float, people: int, users: int) -> float:
    """The epsilon at which fewer people give as clear a sum: mu grows as people shrink."""
    from tacit.fitting.check import usual_delta
    from tacit.ledger.account.calibrate import gaussian_mu
    from tacit.ledger.account.gaussian import epsilon_at

    if people <= users:
        return epsilon
    delta = make(epsilon).delta
    delta = usual_delta(people) if delta is None else delta
    return min(epsilon_at(gaussian_mu(epsilon, delta) * people / users, delta), 1e4)


def _rows(ratings: Ratings, users: NDArray[np.int64]) -> Ratings:
    keep = np.zeros(ratings.n_users, dtype=np.bool_)
    keep[users] = True
    return ratings.take(keep[ratings.user])


def _lists(model: Model, ratings: Ratings) -> NDArray[np.int32]:
    """Lists of everybody asked, without what she has rated."""
    from tacit.kernels.topn import top_n_all

    schema = ratings.schema
    inner = (ratings.value.astype(np.float64) - schema.middle) / schema.unit_width

    def score(start: int, stop: int) -> NDArray[np.float64]:
        cells = slice(int(ratings.ptr[start]), int(ratings.ptr[stop]))
        return model.personal.score_block(
            ratings.ptr[start : stop + 1] - cells.start, ratings.item[cells], inner[cells]
        )

    return top_n_all(score, ratings.n_users, PLACES, ratings.ptr, ratings.item)


def _shared(left: NDArray[np.int32], right: NDArray[np.int32]) -> float:
    """Mean share of places in common; an empty place (-1) is shared with nobody."""
    matches = (left[:, :, None] == right[:, None, :]) & (left >= 0)[:, :, None]
    lengths = np.maximum((left >= 0).sum(axis=1), 1)
    return float((matches.any(axis=2).sum(axis=1) / lengths).mean())
