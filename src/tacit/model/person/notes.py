"""What a caller in Python is told beside an answer: which of the own ratings do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import format_count
from tacit.data.schema import LIKES, Schema
from tacit.model.person.base import Own
from tacit.model.person.names import find_item
from tacit.model.person.ratings import SLACK, UserRatings, likes
from tacit.model.person.results import UnknownItem
from tacit.notices import notice

if TYPE_CHECKING:
    from tacit.model.model import Model

TOLD = 5
"""Unknown or repeated items that are named one by one."""


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
