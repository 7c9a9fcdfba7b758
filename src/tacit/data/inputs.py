"""Ratings and items as a caller has them: read already, or still to be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.read import read
from tacit.data.reading.columns import OF_ITEMS
from tacit.errors import SettingError
from tacit.notices import notice
from tacit.validation import behind

_read = behind(read)
FAR = 3
"""Times too many or too few people that are worth a word."""


def as_ratings(source: Any, *, items: Catalogue | None = None, **options: Any) -> Ratings:
    """Ratings as they are, or read from what `read` takes. What is said about the reading of
    ratings that were read already is refused."""
    if not isinstance(source, Ratings):
        ratings = _read(source, items=items, **options)
        tell_reading(ratings)
        return ratings
    unused = [name for name, value in options.items() if value is not None]
    if unused:
        raise SettingError(
            f"these ratings were read already: {', '.join(unused)} would be passed over",
            remedy=f"give {unused[0]} to tacit.read, or give fit the file or frame itself",
        )
    return source


def tell_reading(ratings: Ratings) -> None:
    """Tell a caller in Python what the command line notes: nothing is guessed in silence."""
    for rival in ratings.notes.columns[1:]:
        notice(rival)
    for line in (*ratings.notes.lines(), *people_told(ratings)):
        notice(f"{line}; for the owner only")


def people_told(ratings: object) -> list[str]:
    """What to tell an owner who declared far more people than there are, or far fewer."""
    if not isinstance(ratings, Ratings) or ratings.schema.users is None:
        return []
    declared, present = ratings.schema.users, ratings.n_users
    if present / FAR <= declared <= present * FAR:
        return []
    message = (
        f"--users says {declared:,} and {present:,} people are in the table: a number that is "
        "far off costs accuracy, never privacy"
    )
    return [message]


def read_already(source: object) -> Ratings:
    """Ratings, where a file or a frame is not taken."""
    if isinstance(source, Ratings):
        return source
    raise SettingError(
        f"this needs ratings that were read, not a {type(source).__name__}",
        remedy="read them first: tacit.read(source, scale=(1, 5))",
    )


def as_catalogue(items: Any, columns: Any = None) -> Catalogue | None:
    """A catalogue as it is, or read from what `read_items` takes; `columns` are those of the
    ratings, whose item column a catalogue may name alike, and its own (title, tags)."""
    named = columns if isinstance(columns, Mapping) else {}
    column_names = {
        role: named[role] for role in ("item", *OF_ITEMS) if isinstance(named.get(role), str)
    }
    if items is None or isinstance(items, Catalogue):
        for role in column_names.keys() - {"item"}:
            raise SettingError(
                f"columns: {role} is a column of a catalogue that is still to be read",
                remedy=f"give --items a file, or leave {role} out",
            )
        return items
    from tacit.data.reading.items import read_items

    return read_items(items, **column_names)
