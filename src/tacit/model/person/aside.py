"""What a caller in Python is told beside an answer: which of the own ratings do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.model.person.names import find_item
from tacit.model.person.own import Given, likes
from tacit.model.person.told import UnknownItem
from tacit.spoken import notice

if TYPE_CHECKING:
    from tacit.model.model import Model
    from tacit.model.person.base import Own

TOLD = 5
"""Unknown items that are named one by one."""


def tell_own(catalogue: Catalogue, schema: Schema, found: Given) -> None:
    """Items that the model does not know, and ratings that are no likes."""
    for name in found.unknown[:TOLD]:
        unknown = find_item(catalogue, name)
        near = unknown.near if isinstance(unknown, UnknownItem) else ()
        hint = f"; did you mean {near[0]!r}?" if near else ""
        notice(f"{name!r} is not in this model and does not count{hint}")
    more = len(found.unknown) - TOLD
    if more > 0:
        notice(f"and {more:,} more items are not in this model")
    lost = len(found.own.items) - len(likes(schema, found.own).items)
    if schema.positive is not None and lost:
        notice(
            f"{lost:,} of these ratings are no likes ({schema.positive:g} or more) and speak "
            "for nothing"
        )


def tell_tastes(model: Model, own: Own) -> None:
    """Say where own ratings change nothing, and why."""
    if not len(model.likes(own).items) or model.knows_tastes(own):
        return
    order = "what everybody would be told" if model.rates else "popularity"
    notice(
        "these ratings change nothing: the model has learned no tastes (people were few, or "
        f"epsilon was small), or none of these items, so the order is {order}"
    )


def tell_unrated() -> None:
    """Why there is no number."""
    notice(
        "a model of likes orders items and expects no ratings: `recommend` gives its order"
    )
