"""The Python doors `tacit.plan` and `tacit.choose`: from plain arguments to typed answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from tacit.data.catalogue import Catalogue
from tacit.data.inputs import as_catalogue, as_ratings
from tacit.data.schema import LIKES, Schema
from tacit.errors import SettingError
from tacit.evaluation.choose import EpsilonChoice, candidate, solve, unmet
from tacit.evaluation.forecast import ROW, Forecast
from tacit.evaluation.overlap import HIGH, LOW, MIDDLE, RUNS, Overlaps, overlaps, stand_ins
from tacit.evaluation.plan_report import Outlook, foretold, plan_report
from tacit.fitting.check import check, check_likes
from tacit.methods import DEFAULT, DEFAULT_POSITIVE, find, names_of
from tacit.validation import by_name, count, flag, function, number

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
    instance = find(_named(method, positive))(epsilon=epsilon, **options)
    schema, catalogue = schema_of(scale, users, positive), catalogue_of(items)
    check_likes(check(instance, people=users), schema)
    return plan_report(
        instance,
        schema,
        catalogue,
        per_user=each,
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
    forecast = foretold(
        order, schema, catalogue, per_user=each, spread=spread, popular_share=popular_share
    )
    if forecast is None:
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

        curve = _overlaps(make, forecast, public, runs, tell)
        return ranged(forecast, curve, twin)
    assert target is not None
    _check_goal(forecast, target, rmse is not None)
    return solve(forecast, target, twin=twin)


def _overlaps(
    make: Any, forecast: Forecast, public: Ratings | None, runs: int, tell: Tell | None
) -> Overlaps:
    if public is not None:
        public = as_ratings(public)
        return overlaps(make, public, runs=runs, tell=tell)
    from tacit.evaluation.forecast import GUESSES
    from tacit.evaluation.invent import Shape

    likes = forecast.metric != "rmse"
    per_user = forecast.each or GUESSES[1]
    shape = Shape(
        forecast.people,
        forecast.items,
        # Somewhat over half of all ratings are likes.
        min(per_user * (1.8 if likes else 1.0), forecast.items / 2),
    )
    people, items = stand_ins(shape, likes=likes)
    return overlaps(make, people, items=items, people=forecast.people, runs=runs, tell=tell)


def ranged(forecast: Forecast, curve: Overlaps, twin: float | None) -> EpsilonChoice:
    """Candidates at overlaps of 20, 50 and 80 %."""
    names = ("careful", "balanced", "accurate")
    levels = (LOW, MIDDLE, HIGH)
    crossings = [curve.crossing(level) for level in levels]
    if crossings[0] is None:
        return unmet(forecast, "range", None, twin)
    largest = curve.epsilons[-1]
    candidates = []
    for name, level, crossing in zip(names, levels, crossings, strict=True):
        reached = level if crossing is not None else curve.shared[-1]
        candidates.append(candidate(forecast, name, crossing or largest, twin, overlap=reached))
    met = crossings[-1] is not None
    return EpsilonChoice("range", None, met, tuple(candidates), forecast, twin)


def schema_of(scale: tuple[float, float], users: int, positive: float | bool | None) -> Schema:
    """What is public of the ratings."""
    if positive is True:
        return Schema(0.0, 1.0, users=users, positive=1.0, source=LIKES)
    low, high = _pair(scale)
    threshold = None
    if positive is not None and positive is not False:
        threshold = number("positive", positive, "give the least rating")
        if not low <= threshold <= high:
            raise SettingError(
                f"positive is {threshold:g}, not on the scale from {low:g} to {high:g}",
                remedy="give the least rating that is a like",
            )
    return Schema(low, high, users=users, positive=threshold)


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
        catalogue = as_catalogue(items)
        assert catalogue is not None
        return catalogue
    item_count = count("items", items, least=0)
    if not 1 <= item_count <= MOST_ITEMS:
        raise SettingError(
            f"items is {items}; it must be from 1 to ten million",
            remedy="give a catalogue, or a count",
        )
    return Catalogue([str(row) for row in range(item_count)])


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
    epsilons = [number("row", epsilon, remedy) for epsilon in row]
    if not epsilons or not all(0 < epsilon < inf for epsilon in epsilons):
        raise SettingError("row needs epsilons that are positive and finite", remedy=remedy)


def _check_shape(per_user: object, spread: object, twin: object = None) -> None:
    """What something public says of the ratings is above 0."""
    for name, value in (("each", per_user), ("spread", spread), ("twin", twin)):
        if value is not None and not 0 < number(name, value) < inf:
            raise SettingError(
                f"{name} is {value}; it must be above 0 and finite",
                remedy=f"leave {name} out where nothing public says it",
            )


def _check_goal(forecast: Forecast, target: float, is_error: bool) -> None:
    if (forecast.metric == "rmse") != is_error:
        raise SettingError(
            f"{forecast.method} is judged by {forecast.metric}",
            remedy="give rmse for methods of ratings and recall for ease",
        )
    limit = forecast.high - forecast.low if is_error else 1.0
    if not 0 < target < limit:
        raise SettingError(
            f"the goal {target:g} is not between 0 and {limit:g}",
            remedy="give an accuracy that can be reached",
        )
