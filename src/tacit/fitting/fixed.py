"""What is fixed when a calendar begins: public facts that every later release is held to."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.fitting.order import Order
from tacit.ledger.statement.statement import Schedule
from tacit.rounds.calendar import Calendar

FORMAT = 1
SPOKEN = {
    "items": "the catalogue",
    "method": "the method",
    "settings": "a setting of the method",
    "epsilon": "epsilon",
    "delta": "delta",
    "horizon": "the horizon",
    "times": "how often a person is counted",
    "gap": "how far apart a person is counted",
    "begins": "the first day",
    "days": "the length of a period",
    "users": "the declared number of people",
    "population": "the population",
    "columns": "which columns are read",
}
"""How an error names what was changed."""


@dataclass(frozen=True)
class Periods:
    """First day and length in days of each release's period."""

    begins: date
    days: int

    def __post_init__(self) -> None:
        if self.days < 1:
            raise SettingError("a period has at least one day", remedy="give --days a count")

    @staticmethod
    def of(begin_date: str, days: int) -> Periods:
        """From a date as people write it."""
        try:
            first_day = date.fromisoformat(begin_date)
        except ValueError:
            raise SettingError(
                f"{begin_date!r} is not a day", remedy="give a date such as 2026-01-05"
            ) from None
        return Periods(first_day, days)

    def end(self, week: int) -> int:
        """The last second of a period, since 1970."""
        day = self.begins + timedelta(days=self.days * week)
        start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return int(start.timestamp()) - 1

    def ends(self, week: int) -> dict[int, int]:
        """Of every period up to this one."""
        return {period: self.end(period) for period in range(1, week + 1)}

    def check_over(self, week: int, now: datetime) -> None:
        """Refuse a period that is not over: its ratings are not all there."""
        if now.timestamp() <= self.end(week):
            day = self.begins + timedelta(days=self.days * week)
            raise SettingError(
                f"release {week} is of a period that is not over before {day.isoformat()}",
                remedy="wait until then",
            )


def fixed_facts(
    order: Order,
    calendar: Calendar,
    periods: Periods | None,
    schema: Schema,
    items: Catalogue,
    ratings: Ratings,
) -> dict[str, Any]:
    """All that may not change before the calendar is over."""
    assert order.budget is not None
    text = json.dumps(catalogue_facts(items), sort_keys=True)
    return {
        "calendar": FORMAT,
        "method": order.method.name,
        "settings": dict(order.settings),
        "unit": order.unit,
        "epsilon": order.budget.epsilon,
        "delta": order.budget.delta,
        "horizon": calendar.horizon,
        "times": calendar.most,
        "gap": calendar.gap,
        "begins": None if periods is None else periods.begins.isoformat(),
        "days": None if periods is None else periods.days,
        "users": schema.users,
        "max_ratings": schema.max_ratings,
        "scale": [schema.low, schema.high],
        "positive": schema.positive,
        "items": hashlib.sha256(text.encode()).hexdigest(),
        "population": order.how.population,
        "columns": list(ratings.notes.columns),
        "timed": ratings.time is not None,
    }


def check_same(stored: Mapping[str, Any], current: Mapping[str, Any]) -> None:
    """Refuse what differs from what the calendar began with."""
    for name, value in current.items():
        if name != "calendar" and stored.get(name) != value:
            label = SPOKEN.get(name, f"the {name.replace('_', ' ')}")
            raise SettingError(
                f"{label} is not the one that this calendar began with: one budget was paid "
                "for one plan",
                remedy="give what was given then, or begin another calendar (--out), which "
                "is charged by itself",
            )


def fresh_token() -> str:
    """Names the one request that pays for a calendar."""
    return secrets.token_hex(16)


def schedule_of(calendar: Calendar, periods: Periods | None, week: int) -> Schedule:
    """The calendar as the statement records it."""
    return Schedule(
        horizon=calendar.horizon,
        week=week,
        times=calendar.most,
        gap=calendar.gap,
        begins=None if periods is None else periods.begins.isoformat(),
        days=None if periods is None else periods.days,
    )
