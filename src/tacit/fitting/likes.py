"""What likes are to a method, said before anything is charged."""

from __future__ import annotations

from tacit.data.schema import LIKES, Schema
from tacit.errors import SettingError
from tacit.fitting.check import check_values
from tacit.fitting.order import Order
from tacit.methods import DEFAULT_POSITIVE, METHODS, OF_LIKES
from tacit.methods.base import Method

HIGH = 0.75
"""Of the scale: where a rating may well be a like, for an example."""


def check_schema(order: Order, schema: Schema) -> None:
    """Refuse data of which a method could learn nothing, or by whose values a promise would
    fail."""
    check_likes(order, schema)
    liked = schema.positive is not None
    check_values(
        order,
        positive=liked and (schema.source != LIKES or order.unit == "value"),
        absent=schema.absent,
    )


def check_likes(order: Order, schema: Schema) -> None:
    """Refuse a method of ratings where a table has none: every like is the same rating to
    it, so all that it is charged for is noise."""
    name = order.method.name
    if schema.source != LIKES or name not in METHODS or name in OF_LIKES:
        return
    raise SettingError(
        f"{name} learns from ratings, and these are likes: to it they are all the same",
        remedy=f"use --method {DEFAULT_POSITIVE}, or another of {', '.join(OF_LIKES)}",
    )


def of_high_ratings(method: Method, schema: Schema) -> str:
    """Warning where method and ratings do not fit: every row would count as a like, or only high
    ratings are given to a method that learns how high they are. Empty where they fit."""
    if schema.positive is None and method.name == DEFAULT_POSITIVE:
        threshold = round(schema.low + HIGH * (schema.high - schema.low))
        return (
            f"{method.name} learns what is liked, and counts every row as a like, however low "
            f"its rating: give the least rating that is one, such as --positive {threshold}"
        )
    if schema.positive is None or method.name not in METHODS:
        return ""
    if method.name in OF_LIKES:
        return ""
    return (
        f"{method.name} learns how high ratings of {schema.positive:g} and more are, and not "
        f"what is liked: for lists of likes use --method {DEFAULT_POSITIVE}"
    )
