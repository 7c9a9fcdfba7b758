"""People who asked for less than the rest: what is refused, and each one's weight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tacit.bound.gram import FactorGram
from tacit.errors import DataError, SettingError
from tacit.fitting.order import Order
from tacit.ledger.account.event import Event
from tacit.ledger.account.personal import WHOLE, lesser, weight_for
from tacit.rounds.round import Kind

if TYPE_CHECKING:
    from tacit.data.budgets import Budgets
    from tacit.data.ratings import Ratings
    from tacit.engine.spark.table import SparkRatings
    from tacit.rounds.plan import Plan

WORDS = (
    "a person who asked for less than this epsilon has all her numbers multiplied by a weight of "
    "her own, after they were bounded, and is promised the epsilon that she asked for at the same "
    "delta, in this release; who asked, and for what, is published nowhere and is covered by the "
    "promise as ratings are"
)
"""For the statement. The same whoever asked, and if nobody did."""


def check_budgets(order: Order) -> None:
    """Refuse, before a rating is read, to promise some people less where that is not
    proven."""
    method = order.method.name
    if order.calibration != "sound":
        raise SettingError(
            f"{order.calibration} promises nothing that a person could ask less of",
            remedy="use --calibration sound, or leave --budgets out",
        )
    if order.unit != "user":
        raise SettingError(
            f"personal budgets are about whole people, not about each {order.unit}: a weight "
            "rounds, and there a difference of two rounded rows would count",
            remedy="use --unit user, or leave --budgets out",
        )
    if order.method.local:
        raise SettingError(
            f"people of {method} answer by a coin, which no weight makes fairer",
            remedy="let those who want less stay out, or use a method whose rounds are sums",
        )
    if order.engine != "threads":
        raise SettingError(
            f"the engine {order.engine} does not weigh single people's rows",
            remedy="use --engine threads, or `tacit federate device --own-epsilon`",
        )


def check_named(ratings: Ratings | SparkRatings) -> None:
    """Refuse, before anything is charged, people whose ids are their places in a table: one
    person less would give her weight, and that of everybody behind her, to somebody else."""
    if ratings.notes.numbered:
        raise DataError(
            "people of this layout have no ids of their own, so nobody's budget can be found",
            remedy="give a table with ids of people, or leave --budgets out",
        )


def check_lessens(plans: Iterable[Plan], events: Iterable[Event]) -> None:
    """Refuse, before anything is charged, a plan in which somebody cannot be given less."""
    for plan in plans:
        for round_ in plan.rounds:
            for part in round_.parts:
                product = part.form == "gram"
                if part.kind is not Kind.SUM or (
                    product and not isinstance(part.bound, FactorGram)
                ):
                    raise SettingError(
                        f"the release {round_.name}/{part.name} is no plain sum over people: "
                        "nobody can be given less of it",
                        remedy="leave --budgets out, or use another method",
                    )
    for event in events:
        lesser(event, WHOLE)


def weights_of(budgets: Budgets, events: Iterable[Event], delta: float) -> Mapping[str, int]:
    """The weight of each person who asked for less than everybody bears."""
    events = tuple(events)
    by_epsilon = {
        epsilon: weight_for(events, epsilon, delta) for epsilon in set(budgets.asked.values())
    }
    return {
        person: by_epsilon[epsilon]
        for person, epsilon in budgets.asked.items()
        if by_epsilon[epsilon] < WHOLE
    }
