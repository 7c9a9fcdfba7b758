"""`tacit refresh`: the next release of a calendar that was paid for once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import (
    book_options,
    check_data,
    data_options,
    json_option,
    ledger_options,
    note,
    promise_options,
    read_data,
    run_options,
)
from tacit.cli.show import after_writing, say

if TYPE_CHECKING:
    from tacit.fitting.fixed import Periods


@click.command(cls=Command)
@click.argument("ratings")
@click.option(
    "--method",
    metavar="NAME",
    help="bayes unless said, ease with --positive. One of popularity, bias, bayes, ease.",
)
@promise_options
@click.option(
    "--out",
    required=True,
    metavar="FOLDER",
    help="Folder of the calendar; it is begun, and paid for, if there is none yet.",
)
@click.option(
    "--horizon",
    type=int,
    required=True,
    metavar="T",
    help="Releases of the whole calendar, all on one budget.",
)
@click.option(
    "--times",
    type=int,
    default=1,
    show_default=True,
    metavar="P",
    help="How often one person is counted in all of them.",
)
@click.option(
    "--gap",
    type=int,
    default=1,
    show_default=True,
    metavar="G",
    help="Releases from one such time to the next, at least.",
)
@click.option(
    "--begins",
    metavar="DATE",
    help="First day of the first period; without it each table is a period.",
)
@click.option("--days", type=int, metavar="N", help="Days of each period, with --begins.")
@click.option(
    "--release",
    "week",
    type=int,
    metavar="N",
    help="Which release is expected; one that was made is given again.",
)
@book_options
@data_options
@run_options
@ledger_options
@json_option
def refresh(
    ratings: str,
    out: str,
    horizon: int,
    times: int,
    gap: int,
    begins: str | None,
    days: int | None,
    week: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """The next release of a calendar, from RATINGS (all so far, or those of one period).

    The ledger is charged once, by the first release, for all of them. A run that was killed
    is resumed by the next one.
    """
    from tacit.cli.fit import build_method
    from tacit.cli.show import print_json, progress
    from tacit.fitting.refresh import check_calendar
    from tacit.fitting.refresh import refresh as run
    from tacit.ledger.statement.story import brief

    # Bad use fails before a rating is read.
    refuse_no_effect()
    method = build_method(options)
    order = check_calendar(method, options["users"])
    periods = periods_of(begins, days)
    check_data(order, ratings, options)
    if options["positive"] is None and method.better_list:
        note(method.better_list)
    data, items = read_data(ratings, options)
    with progress(f"refresh {method.name}") as bar:
        release = run(
            method,
            data,
            out=out,
            horizon=horizon,
            items=items,
            times=times,
            gap=gap,
            periods=periods,
            week=week,
            progress=bar,
            order=order,
        )
    with after_writing(f"release {release.week} is written to {release.place}"):
        if as_json:
            print_json(
                {
                    "model": str(release.place),
                    "release": release.week,
                    "horizon": horizon,
                    "noise": release.growth,
                    "digest": release.model.shared.digest(),
                    "statement": release.model.statement.to_facts(),
                }
            )
            return
        summary = (
            f"\nrelease {release.week} of {horizon} written to {release.place}; its noise is at "
            f"most {release.growth:.2f} times that of one release at the whole budget"
        )
        say("\n".join([*brief(release.model.statement), summary]))


def periods_of(begin_date: str | None, days: int | None) -> Periods | None:
    """The calendar's days, if it goes by days."""
    from tacit.errors import SettingError
    from tacit.fitting.fixed import Periods

    if begin_date is None and days is None:
        return None
    if begin_date is None or days is None:
        raise SettingError(
            "a calendar of days has a first day and a length",
            remedy="give both --begins DATE and --days N, or neither",
        )
    return Periods.of(begin_date, days)
