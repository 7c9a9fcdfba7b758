"""Held-back ratings: which are trained on, which a person folds in, which are predicted.

Splits are for the owner's own evaluation. Their seed sets who and what is held back and
never any privacy noise. No split looks at a rating's value. Item ids and schema stay those
of the whole, so that the parts share an index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.errors import DataError, SettingError

PROBE_LATEST, PROBE_CHANCE = 9, 1 / 3


@dataclass(frozen=True)
class Split:
    """`train` teaches the shared model; then each row of `fold_in` is asked about the same
    row of `test`.

    `fold_in` and `test` have the same people in the same rows (a row may be empty); `train`
    has only people with at least one rating. Where the same people are trained and tested,
    `fold_in` holds the ratings of `train`.
    """

    train: Ratings
    fold_in: Ratings
    test: Ratings


def make(
    ratings: Ratings, how: str, *, seed: int = 0, hold: int = 600, fold_in: float = 0.8
) -> Split:
    """The split that `--split` names: `time` (or `date`), a date, `90/10`, `probe` or
    `people`."""
    if is_date(how):
        return by_date(ratings, parse_date(how))
    match how:
        case "time" | "date":
            return by_time(ratings)
        case "probe":
            return probe(ratings, seed)
        case "people":
            return per_person(ratings, hold, fold_in, seed)
        case _:
            return per_rating(ratings, parse_shares(how), seed)


def parse_shares(text: str) -> float:
    """`90/10` -> 0.1, the share that is tested."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*", text)
    train, test = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not (train > 0 and test > 0 and abs(train + test - 100) < 1e-9):
        raise SettingError(
            f"the split {text!r} is not TRAIN/TEST",
            remedy="give two shares above 0 that add up to 100, such as 90/10; or time, "
            "a date (2001-06-30), probe or people",
        )
    return test / 100


def is_date(text: str) -> bool:
    """Whether a split is named by a day."""
    return re.fullmatch(r"\s*\d{4}-\d{1,2}-\d{1,2}\s*", text) is not None


def parse_date(text: str) -> int:
    """The first second of a day, `2001-06-30`, in universal time."""
    try:
        day = datetime.strptime(f"{text.strip()} +0000", "%Y-%m-%d %z")
    except ValueError:
        raise SettingError(f"{text!r} is not a date", remedy="write it as 2001-06-30") from None
    return int(day.timestamp())


def per_rating(ratings: Ratings, test: float = 0.1, seed: int = 0) -> Split:
    """Each rating is held back with chance `test`."""
    _share("test", test)
    return _same_people(ratings, _rng(seed).random(len(ratings), dtype=np.float32) < test)


def by_time(ratings: Ratings, test: float = 0.1) -> Split:
    """The latest share `test` of all ratings is held back; equal times by their order in
    the data."""
    _share("test", test)
    time = _times(ratings)
    held = np.zeros(len(ratings), dtype=np.bool_)
    if count := round(test * len(ratings)):
        cut = np.partition(time, len(time) - count)[len(time) - count]
        held = time > cut
        held[np.flatnonzero(time == cut)[int(held.sum()) - count :]] = True
    return _same_people(ratings, held)


def by_date(ratings: Ratings, cutoff: int) -> Split:
    """Everything from this moment on (in seconds) is held back: one cut for all people."""
    held = _times(ratings) >= cutoff
    if not held.any() or held.all():
        raise SettingError(
            "all ratings are on one side of that date", remedy="choose a day within the data"
        )
    return _same_people(ratings, held)


def until(ratings: Ratings, end: int) -> Ratings:
    """Only what was rated before this moment (in seconds): how it was when there was less."""
    earlier = ratings.take(_times(ratings) < end)
    if not len(earlier):
        raise SettingError("no rating is older than that date", remedy="choose a later --until")
    return earlier


def probe(ratings: Ratings, seed: int = 0) -> Split:
    """Each person's 9 latest ratings are held back with chance 1/3 each, as the Netflix
    Prize did."""
    rng = _rng(seed)
    # Many layouts have dates only: ratings of one day are in random order.
    order = np.lexsort((rng.random(len(ratings)), _times(ratings), ratings.user))
    latest = np.empty(len(ratings), dtype=np.bool_)
    latest[order] = _from_end(ratings) < PROBE_LATEST
    return _same_people(ratings, latest & (rng.random(len(ratings)) < PROBE_CHANCE))


def k_fold(ratings: Ratings, folds: int = 5, seed: int = 0) -> Iterator[Split]:
    """`folds` splits; every rating is held back in exactly one of them."""
    if not 2 <= folds <= 100:
        raise SettingError(
            f"folds is {folds}; it must be from 2 to 100", remedy="5 is a common choice"
        )
    part = _rng(seed).permutation(len(ratings)) % folds
    return (_same_people(ratings, part == fold) for fold in range(folds))


def per_person(ratings: Ratings, hold: int = 600, fold_in: float = 0.8, seed: int = 0) -> Split:
    """Strong generalisation: `hold` people take no part in training.

    A share `fold_in` of each held person's ratings, at least one and not all, is given to
    the trained model; the rest is predicted. People with a single rating are never held.
    """
    _share("fold_in", fold_in)
    counts = np.diff(ratings.ptr)
    able = np.flatnonzero(counts >= 2)
    if not 1 <= hold <= min(len(able), ratings.n_users - 2):
        raise SettingError(
            f"{hold} people cannot be held back and leave anyone to train on",
            remedy="hold fewer people (--hold), each of whom needs at least two ratings",
        )
    rng = _rng(seed)
    held = np.zeros(ratings.n_users, dtype=np.bool_)
    held[rng.choice(able, hold, replace=False)] = True
    cells = np.repeat(held, counts)
    people = ratings.take(cells)

    fold_in_counts = np.clip(
        np.rint(fold_in * np.diff(people.ptr)).astype(np.int64), 1, np.diff(people.ptr) - 1
    )
    order = np.lexsort((rng.random(len(people)), people.user))
    tested = np.empty(len(people), dtype=np.bool_)
    tested[order] = _from_end(people) < np.repeat(
        np.diff(people.ptr) - fold_in_counts, np.diff(people.ptr)
    )
    return Split(
        train=ratings.take(~cells),
        fold_in=people.take(~tested, drop_empty=False),
        test=people.take(tested, drop_empty=False),
    )


def _same_people(ratings: Ratings, held: NDArray[np.bool_]) -> Split:
    fold_in = ratings.take(~held, drop_empty=False)
    has_fold_in = np.diff(fold_in.ptr) > 0
    train = fold_in
    if not has_fold_in.all():
        # The same cells, without the rows of people whose ratings are all held back.
        train = replace(
            fold_in,
            users=[ratings.users[int(k)] for k in np.flatnonzero(has_fold_in)],
            ptr=np.concatenate([[0], fold_in.ptr[1:][has_fold_in]]),
        )
    return Split(train, fold_in, ratings.take(held, drop_empty=False))


def _from_end(ratings: Ratings) -> NDArray[np.int64]:
    """For each cell in row order, how many cells of its row follow it."""
    return np.repeat(ratings.ptr[1:], np.diff(ratings.ptr)) - 1 - np.arange(len(ratings))


def _times(ratings: Ratings) -> NDArray[np.int64]:
    if ratings.time is None:
        raise DataError(
            "the ratings have no times, so none is the latest",
            remedy="split per rating (--split 90/10), or give a table with a timestamp column",
        )
    return ratings.time


def _share(name: str, value: float) -> None:
    if not 0 < value < 1:  # also refuses NaN
        raise SettingError(f"{name} is {value:g}; it must lie between 0 and 1")


def _rng(seed: int) -> np.random.Generator:
    if seed < 0:
        raise SettingError(f"the seed is {seed}; it must be 0 or more")
    return np.random.default_rng(seed)
