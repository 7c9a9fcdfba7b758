"""A person's own ratings as she writes them, and as rows and inner values; and back to the
scale of the data."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue, bare_title, fold
from tacit.data.ids import clean
from tacit.data.ratings import format_count
from tacit.data.reading.columns import NAMES, plain
from tacit.data.schema import LIKES, Schema
from tacit.errors import DataError, format_location
from tacit.model.person.base import Own
from tacit.model.person.results import UnknownItem
from tacit.notices import notice
from tacit.repr import shapes

if TYPE_CHECKING:
    from tacit.model.model import Model

SLACK = 1e-9
"""What rounding may take from a rating that is just a like."""
MANY = 50_000
"""Names above which none is searched for that only looks alike: it would take seconds."""
ALIKE = 0.75
"""How alike a name must be to be suggested, from 0 to 1."""
SUGGESTED = 3
CONTAINING = 6
"""Names suggested that contain the text."""
LISTED = 5
"""Items named in an error."""
TOLD = 5
"""Unknown or repeated items that are named one by one."""


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


# Items by the names that people use: ids, and titles with or without their year.


def label(catalogue: Catalogue, row: int) -> str:
    """The title of an item, or its id where there are no titles."""
    names = catalogue.ids if catalogue.titles is None else catalogue.titles
    return names[row]


def find_row(catalogue: Catalogue, text: str) -> int | None:
    """The row of an item by id, or by title with or without its year; None if unknown."""
    name = clean(text)
    if name in catalogue.index:
        return catalogue.index[name]
    if text in catalogue.index:
        return catalogue.index[text]
    titles = catalogue.by_title
    rows = titles.get(fold(text)) or titles.get(fold(bare_title(text))) or []
    if not rows:
        return None
    if len(rows) > 1 and catalogue.titles is not None:
        exact = [row for row in rows if fold(catalogue.titles[row]) == fold(text)]
        if len(exact) != 1:
            choices = ", ".join(
                f"{catalogue.ids[r]} ({catalogue.titles[r]})" for r in rows[:LISTED]
            )
            raise DataError(
                f"{text!r} could be several items: {choices}",
                remedy="give the id or the full title",
            )
        rows = exact
    return rows[0]


def find_item(catalogue: Catalogue, text: str) -> int | UnknownItem:
    """The same; an unknown item comes with names that look alike, which takes longer."""
    row = find_row(catalogue, text)
    return UnknownItem(text, _near(catalogue, text)) if row is None else row


def _near(catalogue: Catalogue, text: str) -> tuple[str, ...]:
    """Names that look like the text, or contain it."""
    names = list(catalogue.by_title) or list(catalogue.ids)
    near: list[str] = []
    if len(names) <= MANY:
        near = difflib.get_close_matches(fold(text), names, n=SUGGESTED, cutoff=ALIKE)
    if not near and len(text.strip()) > 2:
        near = [name for name in names if fold(text) in name][:CONTAINING]
    if catalogue.titles:
        near = [label(catalogue, catalogue.by_title[name][0]) for name in near]
    # A title is known with and without its year.
    return tuple(dict.fromkeys(near))


def row_of(catalogue: Catalogue, text: str) -> int:
    """The same; an unknown item is refused, with names that look alike."""
    match = find_item(catalogue, text)
    if isinstance(match, UnknownItem):
        near = (
            f"did you mean {', '.join(match.near)}?"
            if match.near
            else "use an id or title of its catalogue"
        )
        raise DataError(f"{text!r} is not in this model", remedy=near)
    return match


def naming(catalogue: Catalogue, text: str) -> str:
    """How to name items, with the nearest name where there is one: for a remedy."""
    match = find_item(catalogue, text)
    if isinstance(match, UnknownItem) and match.near:
        return f"did you mean {match.near[0]!r}?"
    if catalogue.titles is None:
        return (
            f"use ids such as {catalogue.ids[0]!r}: it was fitted without --items and has no titles"
        )
    return "use the ids or titles of the model's catalogue (`tacit export` lists them)"


# What a caller in Python is told beside an answer: which of the own ratings do not count.


def tell_own(catalogue: Catalogue, schema: Schema, parsed: UserRatings) -> None:
    """Items that the model does not know or that are rated twice, and ratings that are no
    likes."""
    for name in parsed.unknown[:TOLD]:
        unknown = find_item(catalogue, name)
        near = unknown.near if isinstance(unknown, UnknownItem) else ()
        hint = f"; did you mean {near[0]!r}?" if near else ""
        notice(f"{name!r} is not in this model and does not count{hint}")
    unlisted = len(parsed.unknown) - TOLD
    if unlisted > 0:
        notice(f"and {unlisted:,} more items are not in this model")
    for line in [*repeats(parsed)[:TOLD], *likes_told(schema, parsed.own)]:
        notice(line)


def repeats(parsed: UserRatings) -> list[str]:
    """Which of two own ratings of one item counts."""
    messages = []
    for earlier, later in parsed.repeated:
        if later.line is not None:
            where = f"is in lines {earlier.line} and {later.line}"
        elif earlier.item != later.item:
            where = f"is the same item as {str(earlier.item)!r}"
        else:
            where = "is rated twice"
        messages.append(f"{str(later.item)!r} {where}: the later counts")
    return messages


def likes_told(schema: Schema, user_ratings: Own) -> list[str]:
    """What own ratings are to a model of likes: which are left out, and that how high the rest
    are is not used."""
    if schema.positive is None:
        return []
    liked = likes(schema, user_ratings)
    below = len(user_ratings.items) - len(liked.items)
    messages = []
    if below:
        messages.append(
            f"{below:,} of {format_count(len(user_ratings.items), 'rating')} are below "
            f"{schema.positive:g}: they are no likes and are left out"
        )
    best = (schema.high - schema.middle) / schema.unit_width
    if schema.source == LIKES and (liked.values > best + SLACK).any():
        messages.append(passed_over(f"all {format_count(len(liked.items), 'row')} count"))
    return messages


def passed_over(rows: str) -> str:
    """That a model of a table without ratings has no use for them."""
    return (
        f"{rows} as likes, the rating column is not used: this model was made of a table "
        "without ratings"
    )


def likes_of_table(schema: Schema, value: NDArray[np.float32]) -> list[str]:
    """The same notice about a whole table, for the owner alone."""
    if schema.positive is None or schema.source == LIKES:
        return []
    below = int((value < schema.positive - SLACK).sum())
    if not below:
        return []
    message = (
        f"{below:,} of {format_count(len(value), 'rating')} are below {schema.positive:g}: they "
        "are no likes and are left out; for the owner only"
    )
    return [message]


def tell_user_factors(model: Model, user_ratings: Own) -> None:
    """Notify where own ratings cannot change the list, and why."""
    if not len(model.likes(user_ratings).items) or model.knows_tastes(user_ratings):
        return
    order = "what everybody would be told" if model.rates else "popularity"
    notice(
        "these ratings change nothing: the model has learned no tastes (people were few, or "
        f"epsilon was small), or none of these items, so the order is {order}"
    )


def tell_unrated() -> None:
    """Notify that a model of likes predicts no ratings."""
    notice("a model of likes orders items and expects no ratings: `recommend` gives its order")
