"""`tacit.evaluate`: compare methods on ratings that were held back. NOT PRIVATE: what it gives
is for the owner of the ratings only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import __version__
from tacit.data.inputs import as_catalogue, as_ratings
from tacit.data.ratings import aligned
from tacit.data.reading.columns import of_ratings
from tacit.errors import SettingError
from tacit.evaluation.arms import Arm, Grid
from tacit.evaluation.baselines import BASELINES
from tacit.evaluation.cells import Report
from tacit.evaluation.protocol import LISTED, HeldBack
from tacit.evaluation.result import Evaluation, conclude
from tacit.evaluation.sweep import SweptCells, run
from tacit.fitting.check import check_likes
from tacit.fitting.public_prior import METHODS as KNOWING
from tacit.fitting.public_prior import check_public
from tacit.fitting.publish import book_evaluation
from tacit.ledger.book.store import check_names
from tacit.methods import DEFAULT, DEFAULT_POSITIVE, names_of
from tacit.notices import notice
from tacit.rounds.bar import teller
from tacit.validation import by_name, check_named, check_swept, count, flag, number, text
from tacit.validation import path as asked_path

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.public import PublicPeople
    from tacit.data.ratings import Ratings
    from tacit.data.reading.columns import Columns
    from tacit.fitting.order import Order
    from tacit.units import Unit

__all__ = ["Evaluation", "evaluate"]


@by_name
def evaluate(
    ratings: Any,
    methods: str | Sequence[str] | None = None,
    epsilons: float | Sequence[float] = (1.0,),
    *,
    units: Unit | Sequence[Unit] | None = None,
    calibrations: str | Sequence[str] = ("sound",),
    sweep: Mapping[str, Sequence[Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
    split: str | None = None,
    seeds: int = 3,
    folds: int | None = None,
    hold: int = 600,
    fold_in: float = 0.8,
    until: str | None = None,
    days: bool | None = None,
    listed: int = LISTED,
    items: Any = None,
    public: PublicPeople | None = None,
    users: int | None = None,
    delta: float | None = None,
    engine: str | None = None,
    threads: int | None = None,
    twin: bool = True,
    reference: bool = True,
    baselines: bool = True,
    processes: int = 1,
    out: str | Path | None = None,
    population: str = "default",
    ledger: str | None = None,
    owner_only: bool = False,
    progress: Report | bool | None = None,
    epsilon: float | Sequence[float] | None = None,
    scale: tuple[float, float] | None = None,
    positive: float | bool | None = None,
    columns: Columns | None = None,
    layout: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    dates: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Evaluation:
    """Fit every combination of methods, units, calibrations, epsilons and swept settings on
    every split, and judge it on ratings that were held back. NOT PRIVATE.

    `ratings` is what `tacit.read` gives or what it takes, with `scale`, `positive`, `columns`,
    `layout` and how it is written as `fit` has them; `epsilon` is another name for `epsilons`.

    `split`: `time` or a date for one cut of time for everybody, `90/10` for a random share
    (which lets the future in), `probe`, or `people`. `days`: whether each prediction is asked for
    on the day of its rating, as `recommend` asks on the day it is called; unless told, where the
    split goes by time. `public` are people whose ratings are
    public, for the methods that make use of them (`bayes`). `out` is a folder that keeps a small
    file for each fit, so that an evaluation that was ended goes on where it was. `progress`
    is told (done, total, seconds left).
    """
    if epsilon is not None:
        epsilons = epsilon
    _check_kinds(split, seeds, hold, listed, settings, sweep)
    _check_how(folds, fold_in, until, processes, out, population)
    flag("twin", twin)
    if days is not None:
        flag("days", days)
    catalogue = as_catalogue(items, columns)
    ratings = as_ratings(
        ratings,
        items=None if catalogue is None else catalogue,
        scale=scale,
        positive=positive,
        columns=of_ratings(columns),
        layout=layout,
        header=header,
        delimiter=delimiter,
        dates=dates,
        decimal=decimal,
        encoding=encoding,
    )
    if catalogue is not None:
        # Ratings that were read without it have rows of their own.
        ratings = aligned(ratings, catalogue)
    if users is not None:
        ratings = replace(ratings, schema=ratings.schema.declare(users))
    likes = ratings.schema.positive is not None
    grid = Grid(
        names_of((DEFAULT_POSITIVE if likes else DEFAULT) if methods is None else methods),
        _budgets(epsilons),
        _several(units) if units is not None else (None,),
        _several(calibrations),
        dict(sweep or {}),
        dict(settings or {}),
        {
            "delta": delta,
            "engine": engine,
            "threads": threads,
            "population": population,
            "ledger": ledger,
        },
        twin,
    )
    protocol = HeldBack(
        split or ("people" if likes else "90/10"), seeds, folds, hold, fold_in, until, days, listed
    )
    request = EvaluationRequest(
        grid, protocol, reference=reference, baselines=baselines, public=public
    )
    request.check(ratings.schema.users, likes=likes)
    if public is not None:
        notice(public.agreement(catalogue))
    return request.run(
        ratings,
        catalogue,
        out=out,
        processes=processes,
        progress=teller(progress),
        owner_only=owner_only,
    )


class EvaluationRequest:
    """An evaluation that was asked for: checked before a rating is read, then run."""

    def __init__(
        self,
        grid: Grid,
        protocol: HeldBack,
        *,
        reference: bool = True,
        baselines: bool = True,
        public: PublicPeople | None = None,
    ) -> None:
        self.grid = grid
        self.public = public
        self.how = protocol
        self.reference = reference and grid.twin
        self.baselines = baselines
        self.arms: list[Arm] = []
        self.references: list[Arm] = []
        self.left_out: list[str] = []
        self.orders: list[Order] = []

    def check(self, people: int | None, *, likes: bool) -> list[Order]:
        """Refuse what cannot be; the orders of all fits."""
        self.how.check()
        self.arms, orders, self.left_out = self.grid.arms(people)
        self.orders = orders
        if self.public is not None:
            _check_public(orders, self.public)
        best = DEFAULT_POSITIVE if likes else DEFAULT
        if self.reference and not any(
            arm.method == best and arm.calibration == "none" for arm in self.arms
        ):
            reference_grid = replace(
                self.grid,
                methods=(best,),
                units=(None,),
                calibrations=("none",),
                sweep={},
                settings={},
                options=dict(self.grid.options) | {"engine": None, "devices": None},
            )
            self.references = reference_grid.arms(people)[0]
        return orders

    def run(
        self,
        ratings: Ratings,
        items: Catalogue | None,
        *,
        out: str | Path | None = None,
        processes: int = 1,
        progress: Report | None = None,
        owner_only: bool = False,
    ) -> Evaluation:
        """All cells, booked once."""
        if processes < 1:
            raise SettingError(
                f"processes is {processes}; it must be at least 1",
                remedy="leave --processes out for one",
            )
        if self.how.days and ratings.time is None:
            raise SettingError(
                "--days needs times, and these ratings have none", remedy="leave --days out"
            )
        if out is not None and Path(out).is_file():
            raise SettingError(f"{out} is a file", remedy="name a folder for --out")
        for order in self.orders:
            if order.budget is not None:
                check_likes(order, ratings.schema)
        options = self.grid.options
        book = partial(
            book_evaluation,
            options.get("ledger"),
            options.get("population") or "default",
            owner_only=owner_only,
        )
        swept = run(
            ratings,
            [_share_threads(arm, processes) for arm in (*self.arms, *self.references)],
            self.how,
            items=items,
            public=self.public,
            baselines=self._simple(likes=ratings.schema.positive is not None),
            folder=None if out is None else Path(out),
            processes=processes,
            progress=progress,
            ready=book,
        )
        references = swept.task.arms[len(self.arms) :]
        return conclude(swept, self._facts(swept), references, self.left_out)

    def _simple(self, *, likes: bool) -> tuple[str, ...]:
        """The baselines that say something: of likes, what is popular."""
        if not self.baselines:
            return ()
        return ("popularity",) if likes else tuple(BASELINES)

    def _facts(self, swept: SweptCells) -> dict[str, Any]:
        """What the numbers depend on."""
        protocol = self.how
        data = swept.task.ratings
        return {
            "version": __version__,
            "split": protocol.split if protocol.folds is None else f"{protocol.folds} folds",
            "seeds": protocol.seeds if protocol.folds is None else None,
            "until": protocol.until,
            "lets_the_future_in": protocol.lets_the_future_in and data.time is not None,
            "by_day": protocol.by_day and data.time is not None,
            "listed": protocol.listed,
            "users": data.schema.users,
            "scale": [data.schema.low, data.schema.high],
            "people": data.n_users,
            "items": data.n_items,
            "ratings": len(data),
            "public_people": None if self.public is None else self.public.description,
        }


def _check_public(orders: Sequence[Order], public: PublicPeople) -> None:
    """Refuse public people of whom no fit can make use."""
    able = [
        order for order in orders if order.method.name in KNOWING and order.calibration == "sound"
    ]
    if not able:
        raise SettingError(
            "none of these fits makes use of public people",
            remedy=f"compare {' or '.join(KNOWING)} too, or leave --public out",
        )
    for order in able:
        check_public(order, public)


def _share_threads(arm: Arm, processes: int) -> Arm:
    """Processes share the cores, unless threads were asked for."""
    if processes == 1 or arm.options.get("threads") is not None:
        return arm
    threads = max((cpu_count() or 1) // processes, 1)
    return replace(arm, options=dict(arm.options) | {"threads": threads})


def _check_kinds(
    split: object, seeds: object, hold: object, listed: object, settings: object, sweep: object
) -> None:
    """Arguments of another kind than their names say, which Python lets through."""
    if split is not None:
        text("split", split, 'give "90/10", "time", "people", or a date')
    for name, value in (("seeds", seeds), ("hold", hold), ("listed", listed)):
        count(name, value)
    check_named("settings", settings)
    check_swept(sweep)


def _check_how(
    folds: object,
    fold_in: object,
    until: object,
    processes: object,
    out: object,
    population: object,
) -> None:
    """The same for how it is run."""
    if folds is not None:
        count("folds", folds, least=2)
    number("fold_in", fold_in, "give a share, such as 0.8")
    if until is not None:
        text("until", until, "give a day, such as 2001-06-30")
    count("processes", processes)
    if out is not None:
        asked_path("out", out)
    check_names(None, population)


def _budgets(epsilons: Any) -> tuple[float, ...]:
    remedy = "give a number above 0, or a list such as [0.1, 1, 10]"
    if isinstance(epsilons, bool | str | None) or not (
        isinstance(epsilons, int | float | Iterable)
    ):
        raise SettingError(f"epsilons is {epsilons!r}, not numbers", remedy=remedy)
    budgets = tuple(number("epsilons", epsilon, remedy) for epsilon in _several(epsilons))
    if not budgets:
        raise SettingError("epsilons names no value", remedy=remedy)
    return budgets


def _several(values: Any) -> tuple[Any, ...]:
    if isinstance(values, str):
        return tuple(part.strip() for part in values.split(","))
    if isinstance(values, int | float):
        return (float(values),)
    if not isinstance(values, Iterable):
        raise SettingError(
            f"a {type(values).__name__} names nothing to compare",
            remedy='give one name or a list, such as ["user", "rating"]',
        )
    return tuple(values)
