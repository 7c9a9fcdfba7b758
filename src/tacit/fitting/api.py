"""`Method.fit`: from what a caller has (a path, a frame, a matrix, ratings) to what a fit
takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.data.ids import other_spelling
from tacit.data.inputs import as_catalogue, as_ratings
from tacit.data.ratings import Ratings
from tacit.data.reading.columns import of_ratings
from tacit.errors import SettingError
from tacit.fitting.check import of_high_ratings
from tacit.fitting.location import placed
from tacit.fitting.run import fit
from tacit.notices import notice
from tacit.validation import count, number

if TYPE_CHECKING:
    from tacit.data.budgets import Budgets
    from tacit.data.public import PublicPeople
    from tacit.methods.base import Method
    from tacit.model.model import Model

SWAPPED = 10
"""Times as many items as people: more likely one taken for the other."""


def fit_inputs(
    method: Method,
    ratings: Any,
    y: object,
    *,
    items: Any,
    users: int | None,
    start: Model | str | Path | None,
    keep_apart: float | None,
    public: Any = None,
    budgets: Mapping[str, float] | str | Path | None = None,
    **reading: Any,
) -> Model:
    """Read what is not read yet, then fit. `reading` holds the arguments of `tacit.read`."""
    if y is not None:
        raise SettingError(
            "a recommender takes no y: ratings are a column of the table",
            remedy="call fit(ratings) with columns user, item and rating",
        )
    if keep_apart is not None:
        number("keep_apart", keep_apart, "give a share, such as 0.1")
    if users is not None:
        count("users", users)
    personal_budgets = None if budgets is None else _budgets(budgets)
    catalogue = as_catalogue(items, reading.get("columns"))
    reading = reading | {"columns": of_ratings(reading.get("columns"))}
    options = {name: value for name, value in reading.items() if value is not None}
    data = placed(ratings, method.engine, threads=method.threads, items=catalogue, **options)
    if personal_budgets is not None:
        _tell_budgets(personal_budgets, data, method.epsilon)
    message = of_high_ratings(method, data.schema)
    if message:
        notice(message)
    elif method.better_list and data.schema.positive is None:
        notice(method.better_list)
    prior = None if public is None else _public(public, options.get("scale"))
    if prior is not None:
        notice(prior.agreement(catalogue))
    if catalogue is None and not isinstance(ratings, Ratings):
        _tell_items(data)
    return fit(
        method,
        data,
        items=catalogue,
        users=users,
        start=_start(start),
        keep_apart=keep_apart,
        public=prior,
        budgets=personal_budgets,
    )


def _tell_items(data: Any) -> None:
    """Notices for the owner: item ids that nobody declared public, and columns that look
    exchanged."""
    notice("without --items the set of item ids comes from the ratings and is assumed public")
    if isinstance(data, Ratings) and data.n_items > SWAPPED * data.n_users:
        notice(
            f"there are {data.n_items:,} items and far fewer people: are their columns "
            "exchanged? (for the owner only)"
        )


def _budgets(source: Mapping[str, float] | str | Path) -> Budgets:
    """What people asked for, by id, or read from a file."""
    from tacit.data.budgets import Budgets
    from tacit.data.reading.budgets import read_budgets

    if isinstance(source, str | Path):
        return read_budgets(source)
    if not isinstance(source, Mapping):
        raise SettingError(
            f"budgets are of type {type(source).__name__}, not by person",
            remedy='give a mapping such as {"ann": 0.5}, or a file',
        )
    for epsilon in source.values():
        number("budgets", epsilon, "give each person's epsilon as a number")
    return Budgets({str(person): float(epsilon) for person, epsilon in source.items()})


def _tell_budgets(budgets: Budgets, data: Any, epsilon: object) -> None:
    """Notify the owner of budgets without effect: ids that are not in the table (a misspelt one
    protects nobody), and budgets above the fit's epsilon."""
    count = len(budgets.asked)
    if isinstance(data, Ratings):
        users = set(data.users)
        missing = set(budgets.asked) - users
        n_missing = len(missing)
        spellings = other_spelling(missing, users) if missing else None
        if spellings is not None:
            # No error: whether a fit succeeds would tell that somebody is there.
            notice(
                f"budgets write an id as {spellings[0]!r} that the ratings write as "
                f"{spellings[1]!r}: "
                "write ids as the ratings have them (for the owner only)"
            )
        if n_missing:
            notice(
                f"budgets: {n_missing:,} of {count:,} people are not in the ratings; an id that is "
                "spelt otherwise asks for nobody (for the owner only)"
            )
    if isinstance(epsilon, int | float):
        above = sum(budget > epsilon for budget in budgets.asked.values())
        if above:
            notice(
                f"budgets: {above:,} of {count:,} people ask for more and are above epsilon "
                f"{epsilon:g}, which is all that this fit reveals: they get that"
            )


def _public(source: Any, scale: tuple[float, float] | None) -> PublicPeople:
    """Public people as they are, as their ratings, or read from what `read` takes."""
    from tacit.data.public import PublicPeople

    if isinstance(source, PublicPeople):
        return source
    if isinstance(source, Ratings):
        return PublicPeople(source)
    return PublicPeople(as_ratings(source, scale=scale))


def _start(start: Model | str | Path | None) -> Model | None:
    """A model as it is, or the one in a folder."""
    from tacit.model.model import Model, load

    if start is None or isinstance(start, Model):
        return start
    return load(start)
