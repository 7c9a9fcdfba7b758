"""What a plan costs and buys, as facts: the releases, their noise, the attacker's gain, the
expected error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.engine.blocks import most_people
from tacit.engine.federated import noises
from tacit.errors import SettingError
from tacit.evaluation.cost import LISTS, PublicShape, forecasts, seconds
from tacit.evaluation.forecast import GUESSES, ROW, Forecast, forecast
from tacit.evaluation.invent import Nature, Shape, invent, popularity
from tacit.evaluation.metrics import rmse
from tacit.fitting.check import check
from tacit.fitting.price import counts_people, facts, is_federated, priced
from tacit.ledger.account import account
from tacit.ledger.account.event import Event
from tacit.ledger.account.odds import attacker
from tacit.methods.item_item.plan import RANK
from tacit.model.person.results import in_columns
from tacit.noise.law import law_of
from tacit.notices import localize
from tacit.validation import Suggesting

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from tacit.data.catalogue import Catalogue
    from tacit.data.ratings import Ratings
    from tacit.data.schema import Schema
    from tacit.fitting.order import Order
    from tacit.methods.base import Method
    from tacit.model.model import Model
    from tacit.rounds.pattern import Pattern
    from tacit.rounds.plan import Plan
    from tacit.rounds.round import Part

CURATORS = ("threads", "spark")
"""Engines with the noise that the cost model was fitted to: one curator's."""
WORD = 8
"""Bytes of a released number: a 64-bit integer."""
PROGRAM = 190_000_000
"""Bytes of Python with its compiled kernels, before any rating."""
RATING = 60
"""Bytes a rating takes at the peak of a fit: both orders, and its share of a block; rounds that
add several numbers a rating take a word for each."""
ENTRY = 28
"""Bytes an entry of a matrix of items by items takes at the peak: the integer sums, and what
cleaning them copies. These three were measured on 3,000 to 20,000 invented people, where the
estimate was within a quarter of the peak."""
LINE = WORD
"""Bytes of each number of a line that a person adds to a round: it is bounded as it is added. One
block of people at a time has them."""
STAND_INS = 3000
MOST_ITEMS = 3000
RATINGS_EACH = 50
"""Assumed mean number of ratings of a person."""


@dataclass(frozen=True, eq=False)
class Outlook(Suggesting):
    """What `tacit.plan` answers: everything as `facts`, and the forecast by itself."""

    facts: dict[str, Any]
    """What `tacit plan --json` prints."""
    forecast: Forecast | None
    """None where the cost model knows nothing of such a fit."""

    def frame(self) -> polars.DataFrame:
        """The forecast, one row an epsilon."""
        return self._require_forecast().frame()

    def plot(self) -> Figure:
        """What privacy will cost against epsilon."""
        return self._require_forecast().plot()

    def _require_forecast(self) -> Forecast:
        if self.forecast is None:
            raise SettingError(
                f"there is no forecast for {self.facts['method']} at the unit "
                f"{self.facts['unit']} as it is asked for",
                remedy="forecasts exist for bayes, bias, als, covariance-svd and ease with "
                "their own settings, a delta above 0, and a declared number of people",
            )
        return self.forecast

    def __repr__(self) -> str:
        facts = self.facts
        return f"Outlook({facts['method']}, unit {facts['unit']}; .facts has all of it)"

    def __str__(self) -> str:
        """What it promises, the forecast, and what will be released."""
        gain = self.facts["attacker"]
        lines = [repr(self), *([gain["words"]] if gain else ())]
        if self.forecast is not None:
            lines += ["", str(self.forecast)]
        if self.facts["better_list"]:
            lines += ["", localize(self.facts["better_list"])]
        rows = [
            (
                release["release"],
                f"{release['noise_sd']:.4g}",
                "" if release["items_above"] is None else str(release["items_above"]),
            )
            for release in self.facts["releases"]
        ]
        heads = ("release", "noise sd", "items above it")
        return "\n".join((*lines, "", in_columns(heads, rows)))

    def _repr_html_(self) -> str:
        from tacit.page import paragraph, table

        gain = self.facts["attacker"]
        html = paragraph(gain["words"]) if gain else ""
        if self.forecast is not None:
            html += self.forecast._repr_html_()
        if self.facts["better_list"]:
            html += paragraph(localize(self.facts["better_list"]))
        rows = [
            (release["release"], f"{release['noise_sd']:.4g}", release["items_above"])
            for release in self.facts["releases"]
        ]
        return html + table(("release", "noise sd", "items above it"), rows)


def plan_report(
    method: Method,
    schema: Schema,
    catalogue: Catalogue,
    *,
    start: Model | None = None,
    pattern: Pattern | None = None,
    try_it: bool = True,
    per_user: float | None = None,
    spread: float | None = None,
    popular_share: float | None = None,
    epsilons: tuple[float, ...] = ROW,
) -> Outlook:
    """Facts for `tacit plan`: what a fit with these options will draw. Reads no ratings;
    `pattern` is who rated what, at the unit `value`, where it is public.

    `per_user` is the mean number of ratings a person, `spread` the RMSE of a person's own mean and
    `popular_share`, for lists, recall of the most liked items as a share of the twin's, where
    something public says them; they make the forecast surer.
    """
    if per_user is not None and per_user > len(catalogue):
        raise SettingError(
            f"each person rates {per_user:g} of {len(catalogue):,} items",
            remedy="give --each at most the number of items",
        )
    order = check(method, people=schema.users, start=start)
    people = None if pattern is None else len(pattern.ptr) - 1
    pricing = priced(order, facts(order, schema, catalogue, pattern), people)
    plan = pricing.known_plan
    events = {event.name: event for event in pricing.charged}
    total_share = sum(
        part.share for round_ in plan.rounds for part in round_.parts if not round_.instead
    )
    if pricing.counting is not None:  # the rest is not settled yet
        total_share = 1.0
    shape = Shape(schema.users or 0, len(catalogue), per_user or GUESSES[len(GUESSES) // 2])
    # what is published has the noise of all who add any
    federated = order.calibration == "sound" and is_federated(plan, order)
    noise_factor = sqrt(noises(order.noise)) if federated else 1.0
    releases = []
    for round_ in plan.rounds:
        for part in round_.parts:
            event = events.get(f"{round_.name}/{part.name}")
            noise = noise_factor * noise_sd(event) / part.bound.steps if event else 0.0
            prominent = None
            if schema.users is not None:
                prominent = items_above(part, noise, order.unit, shape)
            releases.append(
                {
                    "release": f"{round_.name}/{part.name}",
                    "share": part.share / total_share,
                    "instead": round_.instead or None,
                    "numbers": part.size * part.width,
                    "noise_sd": noise,
                    "items_above": prominent,
                    "bound": part.bound.words(),
                }
            )
    forecast = None
    expected = None
    if try_it and order.budget is not None:
        forecast = foretold(
            order,
            schema,
            catalogue,
            per_user=per_user,
            spread=spread,
            popular_share=popular_share,
            epsilons=epsilons,
        )
        expected = _expected(forecast, order, schema, catalogue)
    report = {
        "method": method.name,
        "unit": order.unit,
        "items": len(catalogue),
        "epsilon": order.budget.epsilon if order.budget else None,
        "delta": order.budget.delta if order.budget else None,
        "profile": account.profile(events.values(), unit=order.unit),
        "better_list": method.better_list,
        "story": list(plan.story),
        "unknown": _unknown(order, schema, pattern),
        "releases": releases,
        "events": [event.model_dump(mode="json") for event in events.values()],
        "attacker": attacker(events.values(), order.unit, order.budget.delta)
        if order.budget
        else None,
        "expected": expected,
        "forecast": None if forecast is None else forecast.facts(),
        "outlay": resources(method, plan, schema.users, shape.items, shape.each).facts(),
    }
    return Outlook(report, forecast)


def foretold(
    order: Order,
    schema: Schema,
    catalogue: Catalogue,
    *,
    per_user: float | None = None,
    spread: float | None = None,
    popular_share: float | None = None,
    epsilons: tuple[float, ...] = ROW,
) -> Forecast | None:
    """The forecast of this order by the cost model, or None where it was not fitted to such
    fits or nobody says how many people there are."""
    _refuse_other_metric(order.method.name, spread, popular_share)
    budget = order.budget
    if budget is None or budget.delta == 0 or schema.users is None:
        return None
    if order.calibration != "sound" or order.start is not None:
        return None
    settings = order.method.settings
    if settings != type(settings)() or order.engine not in CURATORS:
        return None
    shape = PublicShape(
        order.method.name,
        order.unit,
        schema.users,
        len(catalogue),
        per_user or GUESSES[0],
        catalogue.has_features and order.method.name == "bayes",
        popular_share,
    )
    if not forecasts(shape):
        return None
    if schema.max_ratings is not None and per_user is not None:
        per_user = min(per_user, schema.max_ratings)
    return forecast(
        shape,
        delta=budget.delta,
        epsilons=(*epsilons, budget.epsilon),
        per_user=per_user,
        scale=(schema.low, schema.high),
        spread=spread,
    )


def _refuse_other_metric(name: str, spread: float | None, popular_share: float | None) -> None:
    """What is said of ratings tells nothing of lists, nor the other way round."""
    if spread is not None and name in LISTS:
        raise SettingError(
            f"a spread is said of ratings, and {name} makes lists from likes",
            remedy="leave the spread out; a popular share makes lists surer",
        )
    if popular_share is not None and name not in LISTS:
        raise SettingError(
            f"a popular share is said of lists, and {name} is judged by RMSE",
            remedy="leave the popular share out; a spread makes RMSE surer",
        )


def _expected(
    forecast: Forecast | None, order: Order, schema: Schema, catalogue: Catalogue
) -> dict[str, Any] | None:
    """RMSE on a scale of width 4 with and without privacy: the middle of the forecast, or one
    run on invented people where there is none."""
    assert order.budget is not None
    if forecast is not None:
        if forecast.metric != "rmse":
            return None
        at = forecast.at(order.budget.epsilon)
        width = schema.unit_width
        return {
            "private": at.error.middle / width,
            "twin": (at.error.middle - at.cost.middle) / width,
            "own_mean": None if forecast.spread is None else forecast.spread / width,
        }
    tryout = try_out(
        order.method, schema.users or 1000, len(catalogue), max_ratings=schema.max_ratings
    )
    if tryout.private is None:
        return None
    return {"private": tryout.private, "twin": tryout.twin, "own_mean": tryout.own_mean}


def _unknown(order: Order, schema: Schema, pattern: Pattern | None) -> list[str]:
    """What a fit will know that this plan does not."""
    unknown = []
    if counts_people(order, schema.users):
        unknown.append(
            "the number of people: it is counted first, and the count chooses among plans "
            "of equal cost; give --users to see one of them"
        )
    if order.method.local and schema.users is None:
        unknown.append("how many devices will answer, which a server sees")
    if order.unit == "value" and pattern is None:
        unknown.append(
            "who rated what, which is public at the unit value: give --ratings for the "
            "figures of that file"
        )
    return unknown


def noise_sd(event: Event) -> float:
    """Standard deviation in steps."""
    if event.kind == "skellam":
        return sqrt(event.variance)
    law = law_of(event)
    if law.name == "gaussian":
        return law.spread
    if law.name == "laplace":
        return law.spread * sqrt(2)
    if event.kind == "knorm":
        return event.scale * sqrt(event.dimension + 1)
    return 0.0


# Cost of a plan: rounds, rank, bytes, time, memory, and how many items rise above the noise of each
# release. Estimates from public sizes; reads no data.


@dataclass(frozen=True)
class Resources:
    """Of one fit on one machine."""

    rounds: int
    rank: int
    """Tastes that the model can tell apart; 0 where it knows levels and item effects only."""
    numbers: int
    released_bytes: int
    memory_bytes: int | None
    seconds: float | None
    """On one core of an ordinary machine; None where no run like it was timed."""

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return vars(self).copy()


def resources(
    method: Method, plan: Plan, people: int | None, items: int, per_user: float
) -> Resources:
    """Rounds that stand in for others are not counted: one of the two is made."""
    rounds = [round_ for round_ in plan.rounds if not round_.instead]
    parts = [part for round_ in rounds for part in round_.parts]
    numbers = sum(part.numbers for part in parts)
    grams = [part.size for part in parts if part.form == "gram"]
    memory = took = None
    if people is not None:
        entries = max((size * size for size in grams), default=0)
        rows = [part for part in parts if part.form == "rows"]
        lines = max((part.width for part in rows if part.size == 1), default=0)
        wide = max((part.width for part in rows if part.size > 1), default=1)
        rating_bytes = max(RATING, WORD * wide)
        memory = PROGRAM + round(rating_bytes * people * per_user) + ENTRY * entries
        memory += LINE * lines * min(people, most_people(max(lines, 1)))
        took = seconds(method.name, plan.unit, people * per_user, items)
    return Resources(
        rounds=len(rounds),
        rank=rank(method, plan),
        numbers=numbers,
        released_bytes=WORD * numbers,
        memory_bytes=memory,
        seconds=took,
    )


def rank(method: Method, plan: Plan) -> int:
    """How many tastes the plan pays for."""
    rank_limit = getattr(method.settings, "rank", None)
    if method.name.startswith("covariance"):
        rank_limit = rank_limit or RANK
    factors = 0
    for round_, part in plan.parts:
        if part.form == "gram":
            factors = max(factors, min(part.size, rank_limit or part.size))
        elif round_.name.startswith("factors"):
            # A symmetric matrix of factors and a vector: d(d+3)/2 numbers an item.
            factors = max(factors, round((sqrt(9 + 8 * part.width) - 3) / 2))
        elif round_.name.startswith("sweep"):
            return part.width - 1
    return factors


def items_above(part: Part, noise: float, unit: str, shape: Shape) -> int | None:
    """How many items would stand out of the noise of this release if popularity fell as it
    does for films; None where the release is not one number an item.

    A person's row of `each` numbers has a length of at most 1, so one number is about
    1/sqrt(each); at the other units each number has its own bound. Sums that are not counts
    of raters hold what differs between items, about .45 points.
    """
    if part.form != "rows" or part.size != shape.items:
        return None
    contribution = 1 / sqrt(shape.each) if unit == "user" else 1.0
    if part.name != "weights":
        contribution *= Nature().effect
    return int((raters(shape) * contribution > noise).sum())


def raters(shape: Shape) -> NDArray[np.float64]:
    """Expected number of raters of each item, the most popular first."""
    chance = popularity(shape.items, Nature())
    expected = shape.people * shape.each * chance
    return np.minimum(expected, shape.people)


# Forecast by simulation: the plan runs on one invented population of the declared shape, for
# methods and calibrations that the cost model was not fitted to. Reads no data, spends nothing.
#
# Accuracy depends on the noise relative to the number of people. So a large population is
# stood in for by a smaller one with proportionally less noise: mu' = mu * people / stand-ins.


@dataclass(frozen=True)
class TryOut:
    """Expected RMSE on a scale of width 4, on invented people."""

    private: float | None
    twin: float | None
    own_mean: float


def try_out(
    method: Method, people: int, items: int, *, max_ratings: int | None = None, seed: int = 0
) -> TryOut:
    """Run the method and its non-private twin on invented people of this shape, with the
    cap on ratings that a fit would have."""
    from tacit.data.splits import per_rating
    from tacit.evaluation.sweep import measure
    from tacit.fitting.check import usual_delta
    from tacit.fitting.run import trial
    from tacit.ledger.account.calibrate import gaussian_mu
    from tacit.ledger.account.gaussian import epsilon_at

    stand_ins = min(people, STAND_INS)
    split = per_rating(_invented(stand_ins, min(items, MOST_ITEMS), seed), 0.1, seed)
    options = method.get_params()
    delta = usual_delta(people) if method.delta is None else method.delta
    options["delta"] = delta
    if method.epsilon is not None and people > stand_ins:
        factor = people / stand_ins
        if delta > 0:
            stronger = gaussian_mu(method.epsilon, delta) * factor
            options["epsilon"] = min(epsilon_at(stronger, delta), 1e4)
        else:
            options["epsilon"] = method.epsilon * factor
    twin = type(method)(**(options | {"calibration": "none", "epsilon": None}))
    user_mean_error = _own_mean(split.fold_in, split.test)
    schema = split.train.schema.declare(max_ratings=max_ratings)
    train = replace(split.train, schema=schema)

    def error(variant: Method) -> float | None:
        model = trial(variant, train, users=stand_ins)
        if model.personal.ranks_by == "score":  # likes say nothing about ratings
            return None
        return measure(model, split, lists=False)["rmse"]

    return TryOut(error(type(method)(**options)), error(twin), user_mean_error)


def _invented(people: int, items: int, seed: int) -> Ratings:
    return invent(Shape(people, items, RATINGS_EACH), seed=seed)[0]


def _own_mean(fold_in: Ratings, test: Ratings) -> float:
    """What each person could predict with no server at all: her own mean, shrunk to the
    middle of everybody's."""
    counts = np.diff(fold_in.ptr)
    sums = np.bincount(fold_in.user, fold_in.value, fold_in.n_users)
    centre = fold_in.value.mean()
    mean = (sums + 5 * centre) / (counts + 5)
    error = rmse(np.repeat(mean, np.diff(test.ptr)), test.value)
    assert error is not None
    return error
