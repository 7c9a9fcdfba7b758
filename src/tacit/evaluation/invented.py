"""Three invented people, so that a reader sees lists and not only numbers. Nobody's own ratings
are shown: the three are made from the catalogue and from what most people rated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.prepared import item_counts
from tacit.model.person.base import Own, PersonalModel
from tacit.model.person.rank import order_scores, top

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.ratings import Ratings

KNOWN = 300
"""Of the most rated items: what an invented person may have rated, so that readers know it."""
LIKES, DISLIKES = 6, 2
SHOWN = 8
"""Length of the lists that are shown."""


@dataclass(frozen=True)
class InventedPerson:
    """One invented person."""

    name: str
    """What she is like, in words."""
    items: tuple[int, ...]
    values: tuple[float, ...]
    """On the inner scale, -2 to 2."""

    @property
    def user_ratings(self) -> Own:
        """Her ratings."""
        return Own(np.array(self.items, np.int64), np.array(self.values))


def invent(ratings: Ratings, items: Catalogue | None) -> list[InventedPerson]:
    """Three people: of three genres if the catalogue has any, else of three degrees of
    fame."""
    counts = item_counts(ratings)
    famous = np.argsort(-counts, kind="stable")
    famous = famous[counts[famous] > 0][:KNOWN]
    people: list[InventedPerson] = []
    if items is not None and items.tagged is not None and len(items.tags) > 2:
        # The ratings have the catalogue's own index where one was given.
        people = _by_genre(famous, items)
    if len(people) < 3:
        people = _by_fame(famous)
    if ratings.schema.positive is not None:
        return [_without_dislikes(person) for person in people]
    return people


def _without_dislikes(person: InventedPerson) -> InventedPerson:
    """Where people tell what they like and nothing else, all that is told is a like."""
    liked = [
        (item, value) for item, value in zip(person.items, person.values, strict=True) if value > 0
    ]
    return InventedPerson(
        person.name, tuple(item for item, _ in liked), tuple(value for _, value in liked)
    )


def _by_genre(famous: NDArray[np.int64], items: Catalogue) -> list[InventedPerson]:
    assert items.tagged is not None
    tagged = items.tagged[famous].astype(np.bool_)
    out: list[InventedPerson] = []
    used: set[int] = set()
    # Genres that some but not most famous items have tell people apart best.
    share = tagged.mean(axis=0)
    order = np.argsort(np.abs(share - 0.2), kind="stable")
    for genre in order.tolist():
        if len(out) == 3:
            break
        inside = [i for i in famous[tagged[:, genre]].tolist() if i not in used]
        outside = [i for i in famous[~tagged[:, genre]].tolist() if i not in used]
        if len(inside) < LIKES or len(outside) < DISLIKES:
            continue
        likes = tuple(inside[:LIKES])
        dislikes = tuple(outside[:DISLIKES])
        used |= set(likes) | set(dislikes)
        out.append(_person(f"likes {items.tags[genre]}", likes, dislikes))
    return out


def _by_fame(famous: NDArray[np.int64]) -> list[InventedPerson]:
    rows = famous.tolist()
    out = []
    third = max(len(rows) // 3, 1)
    names = ("likes what everybody knows", "likes the less known", "likes what few know")
    for index, name in enumerate(names):
        likes = tuple(rows[index * third : index * third + LIKES])
        other_rows = [row for row in rows if row not in likes]
        dislikes = tuple(other_rows[index::3][:DISLIKES])
        out.append(_person(name, likes, dislikes))
    return out


def _person(name: str, likes: tuple[int, ...], dislikes: tuple[int, ...]) -> InventedPerson:
    return InventedPerson(
        name,
        (*likes, *dislikes),
        (*(2.0 - index % 2 for index in range(len(likes))),) + (-1.0,) * len(dislikes),
    )


def example_lists(personal: PersonalModel, people: list[InventedPerson]) -> list[list[Any]]:
    """The list of each, as rows of the catalogue."""
    lists = []
    for person in people:
        user_ratings = person.user_ratings
        ordered = order_scores(personal, user_ratings, None)
        allowed = np.ones(len(ordered.scores), np.bool_)
        allowed[user_ratings.items] = False
        lists.append(top(ordered.scores, SHOWN, allowed).tolist())
    return lists
