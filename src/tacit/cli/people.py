"""Whose ratings a fit uses: people who are public, who asked to be forgotten, who asked for
less."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import note, parse_scale

if TYPE_CHECKING:
    from tacit.data.budgets import Budgets
    from tacit.data.public import PublicPeople
    from tacit.data.ratings import Ratings
    from tacit.engine.spark.table import SparkRatings


SHOWN = 20
"""Ids that were not found and are named; they are the caller's own words."""
OWNER = "; for the owner only"
"""Ends a line that tells of private rows."""


def public_people(
    ratings: str, path: str | None, description: str | None, options: dict[str, Any]
) -> PublicPeople:
    """The people of a file who are public. It may be of another layout than the ratings, so
    that what is declared of those does not hold for it."""
    from tacit.data.inputs import as_catalogue
    from tacit.data.public import PublicPeople
    from tacit.data.read import read
    from tacit.errors import DataError, SettingError

    if path is None:
        raise SettingError(
            "--public-are describes people whom nobody gave",
            remedy="give their ratings by --public, or leave --public-are out",
        )
    if options["positive"] is not None:
        raise SettingError(
            "public people rate, and --positive leaves no ratings",
            remedy="leave --public or --positive out",
        )
    if _same_file(ratings, path):
        raise SettingError(
            "--public names the private ratings themselves: nothing of them would be protected",
            remedy="give the ratings of people who are public, or leave --public out",
        )
    items = as_catalogue(options["public_items"])
    try:
        public = read(path, parse_scale(options["scale"]))
    except DataError as error:
        raise DataError(
            error.message,
            place=error.place,
            remedy="correct the file of --public; where it is written otherwise than a table "
            "with a header, `tacit pack` it with what is to be said of it, and name the pack",
        ) from None
    if public.notes.columns:
        note(f"--public: {public.notes.columns[0]}")
    return PublicPeople(public, description or "", items)


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:  # one of them is not there: reading it will say so
        return False


def named(path: str) -> frozenset[str]:
    """The ids that a file lists."""
    from tacit.data.reading.personal import read_names
    from tacit.errors import DataError

    if not _exists(path):
        raise DataError(
            "there is no such file",
            place=path,
            remedy="put the ids into a file, one a line, and name that file",
        )
    names = frozenset(name for name in read_names(path) if name)
    if not names:
        raise DataError("it names nobody", place=path, remedy="list ids, one a line")
    return names


def _exists(path: str) -> bool:
    try:
        return Path(path).expanduser().exists()
    except (OSError, ValueError):  # no name of a file at all
        return False


def refuse_forgotten(gone: Collection[str], public: PublicPeople, path: str | None) -> None:
    """Refuse to use the public ratings of somebody who asked to be forgotten. Whether she is
    in the private table is not asked."""
    from tacit.data.ratings import format_count
    from tacit.errors import DataError

    overlap = len(set(gone).intersection(public.ratings.users))
    if overlap:
        raise DataError(
            f"it names {format_count(overlap, 'id')} that --public has too: those ratings would be "
            "used without noise",
            place=path,
            remedy="take these people out of the file of --public, or name public people "
            "otherwise if they are others",
        )


def tell_spelling(missing: Collection[str], data: Ratings, path: str) -> None:
    """Warn of an id that the table writes as another text for the same number: somebody asked,
    and is passed over.

    It is no error: whether a model appears would tell that somebody is in the table.
    """
    from tacit.data.ids import other_spelling

    spellings = other_spelling(missing, set(data.users))
    if spellings is not None:
        note(
            f"{path} writes an id as {spellings[0]!r} that the table writes as {spellings[1]!r}, "
            "and is "
            f"PASSED OVER there: write ids as the table has them{OWNER}"
        )


def leave_out(
    data: Ratings | SparkRatings, gone: Collection[str], path: str, *, listed: bool
) -> Ratings | SparkRatings:
    """The ratings without these people. Who was found is the owner's to know.

    Unless items are `listed`, those that only they had rated go with them: ids that come from
    ratings would tell of them. Whether anybody was found changes neither what is published nor
    the exit status.
    """
    from tacit.data.ids import clean
    from tacit.data.ratings import Ratings, format_count
    from tacit.errors import DataError, SettingError

    if not isinstance(data, Ratings):
        if not listed:
            raise SettingError(
                "on a cluster the ids of items would come from the rows of people left out, too",
                remedy="list the items: --items FILE",
            )
        note(f"{len(gone):,} people are named who are left out")
        return data.without(gone)
    missing = sorted(set(map(clean, gone)).difference(data.users))
    tell_spelling(missing, data, path)
    remaining, removed = data.without(gone)
    if not removed:
        _nobody_found(len(gone), path)
    elif not len(remaining):
        raise DataError("nobody is left", place=path, remedy="leave fewer people out")
    else:
        people = format_count(removed, "person").replace("persons", "people")
        note(f"left out {people} of {len(gone):,} named{OWNER}")
    if missing:
        suffix = f" and {len(missing) - SHOWN:,} more" if len(missing) > SHOWN else ""
        note(
            f"not in the table: {', '.join(map(repr, missing[:SHOWN]))}{suffix}; if somebody of "
            f"them should be, compare the spelling (case counts){OWNER}"
        )
    return remaining if listed else remaining.rated()


def _nobody_found(names: int, path: str) -> None:
    """Warn the owner, and let somebody at the terminal stop.

    It is no error: whether a model appears, and with which status, would tell who sees it that
    somebody of the list is in the table.
    """
    from tacit.data.ratings import format_count
    from tacit.errors import DataError

    note(
        f"NOBODY is left out: none of the {format_count(names, 'id')} in {path} is in the table; "
        f"write ids as the table has them, one a line{OWNER}"
    )
    interactive = sys.stdin.isatty() and sys.stderr.isatty()
    if interactive and not click.confirm("fit with everybody?", err=True):
        raise DataError(
            "stopped before anything was charged",
            place=path,
            remedy="write ids as the table has them, one a line; leave --without out if these "
            "people are gone already",
        )


def tell_found(budgets: Budgets, data: Ratings | SparkRatings, path: str) -> None:
    """How many of those who asked for less are in the table: an id that is spelt otherwise asks
    for nobody. The owner's to know."""
    from tacit.data.ratings import Ratings

    if not isinstance(data, Ratings):  # refused on a cluster
        return
    tell_spelling(set(budgets.asked) - set(data.users), data, path)
    matched = len(set(budgets.asked) & set(data.users))
    note(
        f"of {len(budgets.asked):,} people with budgets of their own {matched:,} are in the "
        f"table{OWNER}"
    )
