"""The Python doors `tacit.plan` and `tacit.choose`: from plain arguments to typed answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from tacit.asked import by_name, count, flag, function, number
from tacit.data.catalogue import Catalogue
from tacit.data.given import as_catalogue, as_ratings
from tacit.data.schema import LIKES, Schema
from tacit.errors import SettingError
from tacit.evaluation.choose import EpsilonChoice, candidate, solve, unmet
from tacit.evaluation.forecast import ROW, Forecast
from tacit.evaluation.overlap import HIGH, LOW, MIDDLE, RUNS, Overlaps, overlaps, stand_ins
from tacit.evaluation.worth import Outlook, foretold, worth
from tacit.fitting.check import check
from tacit.fitting.likes import check_likes
from tacit.methods import DEFAULT, DEFAULT_POSITIVE, find, names_of

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.evaluation.overlap import Tell
    from tacit.methods.base import Method

MOST_ITEMS = 10_000_000
ANY_EPSILON = 1.0
"""A forecast is of a row; a method must be asked for at some epsilon."""


@by_name
def plan(
    method: str | None = None,
    *,
    epsilon: float,
    users: int,
    items: Any,
    each: float | None = None,
    scale: tuple[float, float] = (1.0, 5.0),
    positive: float | bool | None = None,
    spread: float | None = None,
    popular_share: float | None = None,
    row: tuple[float, ...] = ROW,
    **options: Any,
) -> Outlook:
    """What a budget buys, before it is spent: noise, cost, what an attacker gains.

    `items` is a count, a public catalogue, or what `tacit.read_items` takes; `each` the mean
    number of ratings a person, `spread` the RMSE of a person's own mean and `popular_share`, for
    lists, recall of the most liked items as a share of the twin's, where something public says
    them. `options` are those of a method, such as `unit` and `delta`. Reads no
    data and spends nothing.
    """
    _check_shape(each, spread)
    _check_row(row)
    count("users", users)
    made = find(_named(method, positive))(epsilon=epsilon, **options)
    schema, catalogue = schema_of(scale, users, positive), catalogue_of(items)
    check_likes(check(made, people=users), schema)
    return worth(
        made,
        schema,
        catalogue,
        each=each,
        spread=spread,
        popular_share=popular_share,
        epsilons=tuple(row),
    )


@by_name
def choose(
    method: str | None = None,
    *,
    users: int,
    items: Any,
    rmse: float | None = None,
    recall: float | None = None,
    by_range: bool = False,
    each: float | None = None,
    scale: tuple[float, float] = (1.0, 5.0),
    positive: float | bool | None = None,
    spread: float | None = None,
    popular_share: float | None = None,
    twin: float | None = None,
    public: Ratings | None = None,
    runs: int = RUNS,
    tell: Tell | None = None,
    **options: Any,
) -> EpsilonChoice:
    """The epsilon for an accuracy (`rmse` or `recall`), or the range that is worth
    considering (`by_range`): three candidates and what each means.

    `twin` is what the model reaches without privacy, where something public says it.
    `public` are ratings that are public, on which the range is looked for; without them it
    is looked for on invented people of the declared shape.
    """
    flag("by_range", by_range)
    count("users", users)
    count("runs", runs)
    function("tell", tell)
    if "epsilon" in options:
        raise SettingError(
            "choose looks for an epsilon and takes none",
            remedy="leave epsilon out, or ask plan(epsilon=...) what it buys",
        )
    if (rmse is not None) + (recall is not None) + by_range != 1:
        raise SettingError(
            "what to choose for is not clear", remedy="give one of rmse, recall and by_range=True"
        )
    target = recall if rmse is None else rmse
    if target is not None:
        number("the goal", target)
    _check_shape(each, spread, twin)
    if recall is not None and positive is None and method is None:
        positive = True
    name = _named(method, positive)
    cls = find(name)
    schema = schema_of(scale, users, positive)
    catalogue = catalogue_of(items)
    order = check(cls(epsilon=ANY_EPSILON, **options), people=users)
    told = foretold(order, schema, catalogue, each=each, spread=spread, popular_share=popular_share)
    if told is None:
        raise SettingError(
            f"there is no forecast for {name} as it is asked for",
            remedy="choose among bayes, bias, als, covariance-svd and ease, with their own "
            "settings and a delta above 0",
        )
    if by_range:

        def make(epsilon: float | None) -> Method:
            if epsilon is None:
                return cls(**(options | {"calibration": "none", "delta": None}))
            return cls(epsilon=epsilon, **options)

        found = _overlaps(make, told, public, runs, tell)
        return ranged(told, found, twin)
    assert target is not None
    _check_goal(told, target, rmse is not None)
    return solve(told, target, twin=twin)


def _overlaps(
    make: Any, told: Forecast, public: Ratings | None, runs: int, tell: Tell | None
) -> Overlaps:
    if public is not None:
        public = as_ratings(public)
        return overlaps(make, public, runs=runs, tell=tell)
    from tacit.evaluation.forecast import GUESSES
    from tacit.evaluation.invent import Shape

    likes = told.metric != "rmse"
    each = told.each or GUESSES[1]
    shape = Shape(
        told.people,
        told.items,
        # Somewhat over half of all ratings are likes.
        min(each * (1.8 if likes else 1.0), told.items / 2),
    )
    people, items = stand_ins(shape, likes=likes)
    return overlaps(make, people, items=items, people=told.people, runs=runs, tell=tell)


def ranged(told: Forecast, found: Overlaps, twin: float | None) -> EpsilonChoice:
    """Candidates at overlaps of 20, 50 and 80 %."""
    names = ("careful", "balanced", "accurate")
    levels = (LOW, MIDDLE, HIGH)
    places = [found.crossing(level) for level in levels]
    if places[0] is None:
        return unmet(told, "range", None, twin)
    last = found.epsilons[-1]
    made = []
    for name, level, place in zip(names, levels, places, strict=True):
        reached = level if place is not None else found.shared[-1]
        made.append(candidate(told, name, place or last, twin, overlap=reached))
    met = places[-1] is not None
    return EpsilonChoice("range", None, met, tuple(made), told, twin)


def schema_of(scale: tuple[float, float], users: int, positive: float | bool | None) -> Schema:
    """What is public of the ratings."""
    if positive is True:
        return Schema(0.0, 1.0, users=users, positive=1.0, source=LIKES)
    low, high = _pair(scale)
    least = None
    if positive is not None and positive is not False:
        least = number("positive", positive, "give the least rating")
        if not low <= least <= high:
            raise SettingError(
                f"positive is {least:g}, not on the scale from {low:g} to {high:g}",
                remedy="give the least rating that is a like",
            )
    return Schema(low, high, users=users, positive=least)


def _pair(scale: Any) -> tuple[float, float]:
    """The lowest and the highest rating."""
    remedy = "give two numbers, such as scale=(1, 5)"
    if isinstance(scale, str) or not isinstance(scale, Sequence):
        raise SettingError("the scale is not two numbers", remedy=remedy)
    if len(scale) != 2:
        raise SettingError("the scale is not two numbers", remedy=remedy)
    return number("scale", scale[0], remedy), number("scale", scale[1], remedy)


def catalogue_of(items: Any) -> Catalogue:
    """A catalogue, what `tacit.read_items` takes, or one that knows no more than how many
    items there are."""
    if items is None:
        raise SettingError(
            "how many items there are is not known", remedy="give a catalogue, or a count"
        )
    if not isinstance(items, int | float):
        found = as_catalogue(items)
        assert found is not None
        return found
    many = count("items", items, least=0)
    if not 1 <= many <= MOST_ITEMS:
        raise SettingError(
            f"items is {items}; it must be from 1 to ten million",
            remedy="give a catalogue, or a count",
        )
    return Catalogue([str(place) for place in range(many)])


def _named(method: str | None, positive: float | bool | None) -> str:
    usual = DEFAULT if positive is None else DEFAULT_POSITIVE
    if not method:
        return usual
    named = names_of(method)
    if len(named) != 1:
        raise SettingError(
            f"{len(named)} methods were named, and this is about one",
            remedy="ask for one after the other",
        )
    return named[0]


def _check_row(row: object) -> None:
    """Epsilons to forecast for."""
    remedy = "give epsilons, such as row=(0.5, 1, 2)"
    if not isinstance(row, Iterable) or isinstance(row, str):
        raise SettingError("row is not several epsilons", remedy=remedy)
    asked = [number("row", each, remedy) for each in row]
    if not asked or not all(0 < each < inf for each in asked):
        raise SettingError("row needs epsilons that are positive and finite", remedy=remedy)


def _check_shape(each: object, spread: object, twin: object = None) -> None:
    """What something public says of the ratings is above 0."""
    for name, value in (("each", each), ("spread", spread), ("twin", twin)):
        if value is not None and not 0 < number(name, value) < inf:
            raise SettingError(
                f"{name} is {value}; it must be above 0 and finite",
                remedy=f"leave {name} out where nothing public says it",
            )


def _check_goal(told: Forecast, target: float, is_error: bool) -> None:
    if (told.metric == "rmse") != is_error:
        raise SettingError(
            f"{told.method} is judged by {told.metric}",
            remedy="give rmse for methods of ratings and recall for ease",
        )
    most = told.high - told.low if is_error else 1.0
    if not 0 < target < most:
        raise SettingError(
            f"the goal {target:g} is not between 0 and {most:g}",
            remedy="give an accuracy that can be reached",
        )
