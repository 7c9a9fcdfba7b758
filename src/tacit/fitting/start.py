"""Which earlier model a fit may start from, and over which items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.engine.base import Engine
from tacit.errors import SettingError
from tacit.fitting.order import Order

if TYPE_CHECKING:
    from tacit.data.held_out import HeldOut
    from tacit.data.ratings import Ratings
    from tacit.engine.spark.table import SparkRatings
    from tacit.ledger.book.entry import Entry
    from tacit.methods.base import Method
    from tacit.model.model import Model
    from tacit.model.shared import Shared

STARTED = "the released model that it started from"
EARLIER = "by an earlier release that it builds on: "
"""Begin lines of what a statement says is assumed public."""


def check_certified(start: Model) -> None:
    """Refuse a model whose numbers nobody paid for."""
    promise = start.statement
    if promise.certified != "certified":
        raise SettingError(
            f"the model to start from is not certified ({promise.reason}): to build on it "
            "would release what it holds",
            remedy="start from a model that a sound fit made and the ledger was charged for",
        )


def check_start(order: Order, start: Model) -> None:
    """Refuse to build on a model whose numbers nobody paid for, or that the ledger in use
    does not know.

    Guarantee: what a certified fit starts from is the very artefact of a certified entry of
    this ledger, so it is public, and its cost stands in a total. A non-private fit may
    start from anything.
    """
    from tacit.ledger.account.cost import group
    from tacit.model.verify import verify_with_book

    if order.calibration == "none":
        return
    check_certified(start)
    promise = start.statement
    unit = order.unit
    if group(promise.unit, unit) is None:
        raise SettingError(
            f"the model to start from promises its people something for each {promise.unit}, "
            f"this fit promises theirs something for each {unit}: the new model would not "
            "keep that",
            remedy=f"start from a model of the unit {unit}, or fit with --unit {promise.unit}",
        )
    book = order.book_of(promise.population or "default")
    verdict = verify_with_book(start, book)
    if not verdict.holds or verdict.extended:
        why = "it was extended by `tacit add-items`" if verdict.holds else verdict.words
        raise SettingError(
            f"the ledger does not know the model to start from: {why}",
            remedy="give the ledger that paid for it (--ledger) and the model as `tacit "
            "fit` wrote it; "
            "new items come with --items",
        )
    populations = {entry.population for entry in chain(order)}
    order.book.check_people(populations, other_people=order.how.other_people)


def chain(order: Order) -> tuple[Entry, ...]:
    """The reservations of all that a fit builds on: those that the start's own chain names,
    then the start's."""
    if order.start is None:
        return ()
    population = order.start.statement.population or "default"
    entry = order.book_of(population).find(order.start.shared.digest())
    if entry is None:
        return ()
    named = dict.fromkeys([*(entry.starts or ()), (population, entry.number)])
    entries = {name: order.book_of(name).entries() for name in {name for name, _ in named}}
    return tuple(entries[name][number - 1] for name, number in named)


def rule_of(share: float, start: Model | None) -> HeldOut:
    """Which ratings a fit is not shown: by a fresh salt, or by the rule of the model that it
    starts from, which must not have seen them either."""
    from tacit.data.held_out import keep_apart

    if start is None:
        return keep_apart(share)
    earlier = start.statement.apart
    if earlier is None or earlier.share != share:
        earlier_share = "no ratings" if earlier is None else f"{earlier.share:.4g} of them"
        raise SettingError(
            f"the model to start from has kept apart {earlier_share}, so it has seen ratings that "
            "this fit would keep apart",
            remedy="leave --keep-apart out, or start from a model that kept the same share apart",
        )
    return keep_apart(share, earlier.salt)


def describe_start(start: Model) -> str:
    """For the statement of a fit: what it started from, and what that one had promised."""
    promise = start.statement
    text = f"{STARTED} (digest {start.shared.digest()[:16]}"
    if promise.epsilon is None:
        return f"{text})"
    trusted = ""
    if promise.honest:
        trusted = ", as far as those are honest whom its own statement names"
    return (
        f"{text}), which had its own promise of epsilon {promise.epsilon:g} for the unit "
        f"{promise.unit}{trusted}: "
        "who is in both has both costs"
    )


def with_earlier(assumptions: tuple[str, ...], start: Model | None) -> tuple[str, ...]:
    """What a fit assumes public, and what every release that it builds on assumed besides:
    that is in its numbers and in its catalogue too."""
    if start is None:
        return assumptions
    inherited = [
        line if line.startswith(EARLIER) else f"{EARLIER}{line}"
        for line in start.statement.public
        if line not in assumptions and not line.startswith(STARTED)
    ]
    return (*assumptions, *dict.fromkeys(inherited))


def check_kind(method: Method, start: Shared) -> None:
    """Whether the method can use what such a model keeps."""
    from tacit.methods.first_order.started import STARTS, VERSION

    able = STARTS.get(method.name, ())
    if start.method not in able:
        remedy = (
            f"start from a model of {' or '.join(able)}"
            if able
            else f"use --method {' or '.join(STARTS)}"
        )
        raise SettingError(
            f"{method.name} cannot start from a model of {start.method}",
            remedy=f"{remedy}; or fit without --start",
        )
    if start.numbers.get("kept") != VERSION:
        raise SettingError(
            "the model to start from was made by another version of Tacit, which kept "
            "nothing to start from",
            remedy="fit it again, or fit without --start",
        )


def both_catalogues(
    method: Method,
    schema: Schema,
    start: Shared,
    items: Catalogue | None,
    ratings: Ratings | SparkRatings | None,
) -> Catalogue:
    """The items of both: those of a given catalogue first, else those of the earlier model
    with its features, which stand alone where no ratings are read."""
    from tacit.model.extend import merge

    check_kind(method, start)
    earlier = start.schema
    if (earlier.low, earlier.high, earlier.positive) != (schema.low, schema.high, schema.positive):
        raise SettingError(
            f"the model to start from has the scale {earlier.low:g},{earlier.high:g}, "
            f"the ratings have {schema.low:g},{schema.high:g}",
            remedy="start from a model of the same scale, or give --scale if the ratings "
            "are on that scale",
        )
    first, second = start.catalogue, items or start.catalogue
    if items is not None:
        first, second = items, start.catalogue
    elif ratings is not None:
        second = Catalogue(ratings.items)
    return merge(
        first, second, [row for row, name in enumerate(second.ids) if name not in first.index]
    )


# Over which items a fit is: a public catalogue, that of the model it starts from, or the ids
# that stand in the ratings.


def align(
    order: Order,
    schema: Schema,
    ratings: Ratings | SparkRatings,
    items: Catalogue | None,
    engine: Engine,
) -> Catalogue:
    """The catalogue of the fit; the engine's ratings are put over its rows."""
    catalogue = items or Catalogue(ratings.items)
    if order.start is not None:
        start = order.start.shared
        catalogue = both_catalogues(order.method, schema, start, items, ratings)
    engine.align(catalogue)
    return catalogue
