"""The door to a calendar: what is refused before a rating is read, and one release a run
(`tacit.fitting.releases`)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.data.aligned import aligned
from tacit.data.inputs import as_catalogue, as_ratings
from tacit.data.packed import Packed
from tacit.data.packed.packed import too_large
from tacit.errors import SettingError, StorageError
from tacit.fitting.charge import stays_charged
from tacit.fitting.check import check
from tacit.fitting.counted import need_ids
from tacit.fitting.diary import CALENDAR, Diary
from tacit.fitting.fixed import Periods
from tacit.fitting.order import Order
from tacit.fitting.releases import Refreshed, Releases, not_next
from tacit.methods.base import Method
from tacit.methods.streamed import on_a_calendar
from tacit.rounds.calendar import Calendar
from tacit.validation import by_name, count, function
from tacit.validation import path as asked_path

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.rounds.options import Progress


def check_calendar(method: Method, people: int | None) -> Order:
    """The order of a calendar, before a rating is read."""
    if people is None:
        raise SettingError(
            "how many people are expected in the whole calendar must be declared: plans are "
            "made before they come",
            remedy="give --users N; a wrong number costs accuracy, never privacy",
        )
    calendar_method = on_a_calendar(method)
    if calendar_method.calibration != "sound":
        raise SettingError("a calendar is sound or nothing", remedy="leave --calibration out")
    order = check(calendar_method, people=people)
    if order.unit != "user":
        raise SettingError(
            f"a calendar promises nothing for each {order.unit}: one rating more may move "
            "its person to another release",
            remedy="use --unit user",
        )
    if order.engine != "threads":
        raise SettingError(
            f"a calendar does not run on {order.engine}", remedy="leave --engine out"
        )
    if order.budget is None or order.budget.delta == 0:
        raise SettingError(
            "a calendar has Gaussian noise, which is not pure",
            remedy="give a positive --delta, or leave it out",
        )
    return order


@by_name
def refresh(
    method: Method,
    ratings: Any,
    *,
    out: str | Path,
    horizon: int,
    items: Any,
    users: int | None = None,
    times: int = 1,
    gap: int = 1,
    periods: Periods | tuple[str, int] | None = None,
    week: int | None = None,
    progress: Progress | None = None,
    order: Order | None = None,
) -> Refreshed:
    """The next release of the calendar in `out`, which is begun and paid for if there is none
    yet. `ratings` and `items` are what `tacit.read` and `tacit.read_items` give or take.

    `horizon` releases are made in all. Each person is counted at most `times` in them, `gap`
    releases apart. `periods` says which days belong to which release, as ("2026-01-05", 7):
    the first day, and days of each; without it each table is a period. `week` says which
    release is expected: one that was made is given again.
    """
    if items is None:
        raise SettingError(
            "a calendar needs a public catalogue: the items of later releases are not in "
            "the first table",
            remedy="give --items FILE",
        )
    _check_kinds(method, out, horizon, users, times, gap, week, progress)
    if periods is not None:
        periods = _periods(periods)
    items = as_catalogue(items)
    ratings = as_ratings(ratings, items=items)
    diary = Diary(out)
    _check_offered(ratings, diary, periods, week)
    schema = ratings.schema.declare(users)
    order = order or check_calendar(method, schema.users)
    ratings = replace(aligned(ratings, items), schema=schema)
    with diary.held():
        run = Releases(order, diary, Calendar(horizon, times, gap), periods, items, ratings)
        run.open(progress)
        with stays_charged(run.receipt, resumes=True, faults=StorageError):
            return run.release(week)


def _check_kinds(
    method: object,
    out: object,
    horizon: object,
    users: object,
    times: object,
    gap: object,
    week: object,
    progress: object,
) -> None:
    """Refuse arguments of the wrong type, which Python callers can pass."""
    if not isinstance(method, Method):
        raise SettingError(
            "a calendar is of an estimator, which comes first",
            remedy="for example tacit.refresh(tacit.Bias(epsilon=1), ratings, ...)",
        )
    asked_path("out", out)
    integers = {"horizon": horizon, "times": times, "gap": gap}
    integers |= {"users": users, "week": week}
    for name, value in integers.items():
        if value is not None:
            count(name, value)
    function("progress", progress)


def _periods(source: object) -> Periods:
    """The first day, and days of each."""
    if isinstance(source, Periods):
        return source
    if not isinstance(source, tuple | list) or len(source) != 2:
        raise SettingError(
            "periods are not a first day and days of each",
            remedy='for example periods=("2026-01-05", 7)',
        )
    return Periods.of(str(source[0]), count("days of a period", source[1]))


def _check_offered(
    ratings: Ratings, diary: Diary, periods: Periods | None, week: int | None
) -> None:
    """Refuse, before a calendar is paid for, what no release could be made of."""
    if isinstance(ratings, Packed):
        raise too_large()
    need_ids(ratings)
    if (diary.folder / CALENDAR).exists():
        return
    if week not in (None, 1):
        raise not_next(week, 0)
    if periods is not None:
        periods.check_over(1, datetime.now(UTC))
