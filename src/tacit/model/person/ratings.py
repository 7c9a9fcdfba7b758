"""A person's own ratings as she writes them, and as rows and inner values; and back to the
scale of the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from tacit.data.catalogue import Catalogue
from tacit.data.reading.columns import NAMES, plain
from tacit.data.schema import Schema
from tacit.errors import DataError, format_location
from tacit.model.person.base import Own
from tacit.model.person.names import find_row, naming
from tacit.repr import shapes

SLACK = 1e-9
"""What rounding may take from a rating that is just a like."""


class OwnLine(NamedTuple):
    """One own rating, and where it was written."""

    item: str
    """Id or title."""
    rating: float | None
    """None: liked, without a rating."""
    time: int | None = None
    """Seconds since 1970."""
    line: int | None = None
    """Of a file, for errors."""

    def __repr__(self) -> str:
        return shapes(self)


OwnRatings = Mapping[str, float] | Iterable[tuple[str, float | None, int | None, int | None]]
"""Items and their ratings, or lines as in `OwnLine`. The last word on an item counts."""


class UserRatings(NamedTuple):
    """A person's ratings, as far as the model knows the items."""

    own: Own
    unknown: list[str]
    """Items that it does not know."""
    repeated: list[tuple[OwnLine, OwnLine]]
    """Two lines about one item, of which the later counts."""

    def __repr__(self) -> str:
        return shapes(self)


def given_ratings(
    catalogue: Catalogue,
    schema: Schema,
    ratings: OwnRatings,
    *,
    source: str | None = None,
    asked: int | None = None,
) -> UserRatings:
    """The ratings that are on the scale and about known items. `source` is the file, for
    errors; `asked` is when the question is asked, in seconds."""
    if isinstance(ratings, list) and schema.positive is not None:
        liked = [entry for entry in ratings if isinstance(entry, str)]
        if ratings and len(liked) == len(ratings):
            ratings = dict.fromkeys(liked, schema.high)
    lines = _lines(ratings)
    if schema.positive is None:
        _check_rated(lines, schema, source)
    unknown: list[str] = []
    repeated: list[tuple[OwnLine, OwnLine]] = []
    lines_by_row: dict[int, OwnLine] = {}
    for line in lines:
        value = schema.high if line.rating is None else float(line.rating)
        if not isfinite(value) or (
            schema.positive is None and not schema.low <= value <= schema.high
        ):
            scale = f"{schema.low:g} to {schema.high:g}"
            raise DataError(
                f"the rating of {line.item!r} is not on the scale {scale}",
                place=format_location(source, line.line) if source else None,
                remedy=f"rate from {scale}, as this model's data do",
            )
        row = find_row(catalogue, str(line.item))
        if row is None:
            unknown.append(str(line.item))
            continue
        earlier = lines_by_row.pop(row, None)
        if earlier is not None:
            repeated.append((earlier, line))
        lines_by_row[row] = line._replace(rating=value)
    if lines and not lines_by_row:
        raise DataError(
            "none of the items is known to this model",
            place=source,
            remedy=naming(catalogue, unknown[0]),
        )
    rows = np.fromiter(lines_by_row, np.int64, len(lines_by_row))
    values = np.array([line.rating for line in lines_by_row.values()], np.float64)
    times = [line.time for line in lines_by_row.values() if line.time is not None]
    stamped = np.array(times, np.int64) if times and len(times) == len(lines_by_row) else None
    inner = (values - schema.middle) / schema.unit_width
    return UserRatings(Own(rows, inner, stamped, asked), unknown, repeated)


def _check_rated(lines: list[OwnLine], schema: Schema, source: str | None) -> None:
    """Refuse, for a model of ratings, an item without one: that it was liked best is a guess."""
    for line in lines:
        if line.rating is None:
            raise DataError(
                f"{line.item!r} has no rating, and this model is one of ratings",
                place=format_location(source, line.line) if source else None,
                remedy=f"rate it from {schema.low:g} to {schema.high:g}, or leave it out",
            )


def _lines(ratings: Any) -> list[OwnLine]:
    """As lines; what is no line is refused, with what to give."""
    if hasattr(ratings, "columns") and hasattr(ratings, "__getitem__"):
        ratings = _of_frame(ratings)
    elif type(ratings).__name__ == "Series" and hasattr(ratings, "to_dict"):
        ratings = ratings.to_dict()
    if isinstance(ratings, Mapping):
        lines = [OwnLine(item, rating) for item, rating in ratings.items()]
    elif isinstance(ratings, str) or not isinstance(ratings, Iterable):
        raise _no_ratings(f"own ratings are no {type(ratings).__name__}")
    else:
        lines = []
        for number, line in enumerate(ratings, 1):
            if isinstance(line, str) or not isinstance(line, Sequence):
                raise _no_ratings(f"own rating {number} is not (item, rating)")
            if not 2 <= len(line) <= 4:
                raise _no_ratings(f"own rating {number} is not (item, rating)")
            lines.append(OwnLine(*line))
    for line in lines:
        rating: Any = line.rating
        if rating is not None and (isinstance(rating, bool) or not isinstance(rating, Real)):
            raise _no_ratings(f"the rating of {line.item!r} is no number")
        time: Any = line.time
        if time is not None and not isinstance(time, Integral):
            raise DataError(
                f"the time of {line.item!r} is no whole number",
                remedy="give seconds since 1970, or leave it out",
            )
    return lines


def _of_frame(frame: Any) -> list[tuple[Any, Any]]:
    """The rows of one person's table: a column of items and one of ratings."""
    names = [str(name) for name in frame.columns]
    column_names = [
        next((name for name in names if plain(name) in NAMES[role]), None)
        for role in ("item", "rating")
    ]
    person = next((name for name in names if plain(name) in NAMES["user"]), None)
    if person is not None and len(set(frame[person])) > 1:
        raise DataError(
            f"own ratings are those of one person, and `{person}` names several",
            remedy="give the rows of one of them",
        )
    if column_names[0] is None or column_names[1] is None:
        raise DataError(
            f"own ratings are a {type(frame).__name__} without the columns item and rating",
            remedy="rename its columns to item and rating, or give a mapping",
        )
    items, values = (list(frame[name]) for name in column_names)
    return list(zip(items, values, strict=True))


def _no_ratings(why: str) -> DataError:
    return DataError(why, remedy='give a mapping, such as {"Alien": 5, "Heat": 4}')


def likes(schema: Schema, user_ratings: Own) -> Own:
    """Of a model of likes, the ratings that are likes: what was rated lower speaks for
    nothing."""
    if schema.positive is None:
        return user_ratings
    threshold = (schema.positive - schema.middle) / schema.unit_width
    liked = user_ratings.values >= threshold - SLACK
    times = None if user_ratings.times is None else user_ratings.times[liked]
    return Own(user_ratings.items[liked], user_ratings.values[liked], times)


def on_scale(schema: Schema, inner: float) -> float:
    """An expected rating in the scale of the data, within its ends."""
    rating = schema.middle + schema.unit_width * inner
    return float(np.clip(rating, schema.low, schema.high))
