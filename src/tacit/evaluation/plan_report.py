"""What a plan costs and buys, as facts: the releases, their noise, the attacker's gain, the
expected error."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from tacit.engine.federated import noises
from tacit.errors import SettingError
from tacit.evaluation.cost import LISTS, PublicShape, forecasts
from tacit.evaluation.forecast import GUESSES, ROW, Forecast, forecast
from tacit.evaluation.invent import Shape
from tacit.evaluation.resources import items_above, resources
from tacit.evaluation.tryout import try_out
from tacit.fitting.check import check
from tacit.fitting.planned import is_federated
from tacit.fitting.price import counts_people, facts, priced
from tacit.ledger.account import account
from tacit.ledger.account.attacker import attacker
from tacit.ledger.account.event import Event
from tacit.model.person.results import in_columns
from tacit.noise.law import law_of
from tacit.notices import localize
from tacit.validation import Suggesting

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from tacit.data.catalogue import Catalogue
    from tacit.data.schema import Schema
    from tacit.fitting.order import Order
    from tacit.methods.base import Method
    from tacit.model.model import Model
    from tacit.rounds.pattern import Pattern

CURATORS = ("threads", "spark")
"""Engines with the noise that the cost model was fitted to: one curator's."""


@dataclass(frozen=True, eq=False)
class Outlook(Suggesting):
    """What `tacit.plan` answers: everything as `facts`, and the forecast by itself."""

    facts: dict[str, Any]
    """What `tacit plan --json` prints."""
    forecast: Forecast | None
    """None where the cost model knows nothing of such a fit."""

    def frame(self) -> polars.DataFrame:
        """The forecast, one row an epsilon."""
        return self._known().frame()

    def plot(self) -> Figure:
        """What privacy will cost against epsilon."""
        return self._known().plot()

    def _known(self) -> Forecast:
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
    plan = pricing.known
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
