"""Pay for a fit before it runs; settle with the book after it: totals, the chain of starts, the
signature.

Guarantee: a fit is charged once. Its request has a name that is made once, so that a
connection that is lost between the charge and its receipt is asked again without a second
charge; the statement is made of what the book then holds, and signed by it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from tacit.engine import find_engine
from tacit.errors import StorageError, TacitError, reason
from tacit.fitting.order import Order
from tacit.fitting.start import chain
from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.cost import Cost, total
from tacit.ledger.account.event import Event
from tacit.notices import warn
from tacit.units import Unit

if TYPE_CHECKING:
    from tacit.ledger.book.book import Book, Receipt
    from tacit.ledger.book.entry import Entry, Relation
    from tacit.ledger.statement.statement import Link, Statement, Total

T = TypeVar("T")
ONE_BOOK = "give the same --population to all their fits, or --other-people if they are others"
"""What to do about data that two populations have."""
CHARGED = "the book that was charged"
"""Against what a statement was checked that has just been made."""


@dataclass(frozen=True)
class Payment:
    """A charge in the ledger, and what the statement records of it."""

    receipt: Receipt
    total: Total | None = None
    """Of the population, this charge included."""
    starts: tuple[Link, ...] = ()
    chain_epsilon: float | None = None
    """Of this charge and of all that the fit builds on."""


def pay(
    order: Order,
    data: bytes,
    events: tuple[Event, ...],
    limit: int | None,
    purpose: str,
    token: str = "",
) -> Payment:
    """Charge the events of a fit to its book. `data` is the engine's fingerprint of whose
    ratings they are; `token` names a request that outlives this process."""
    assert order.budget is not None
    budget, book = order.budget, order.book
    earlier = chain(order)
    other_populations = {entry.population for entry in earlier}
    warning = twice(
        lambda: book.fingerprint(
            data, other_people=order.how.other_people, beside=other_populations
        )
    )
    if warning:
        warn(f"{warning}: {ONE_BOOK}")
    token = token or secrets.token_hex(16)
    receipt = twice(
        lambda: book.reserve(
            events,
            unit=order.unit,
            budget=(budget.epsilon, budget.delta),
            purpose=purpose,
            method=order.method.name,
            limit=limit,
            accept_unbounded=order.how.accept_unbounded,
            relation=relation(order),
            token=token,
            starts=[(entry.population, entry.number) for entry in earlier],
            apart=order.apart,
        )
    )
    with stays_charged(receipt):
        total_spent = running_total(book, receipt, order.unit, budget.delta)
        if not earlier:
            return Payment(receipt, total_spent)
        own_cost = _price(events, order.unit, order.unit, limit)
        links, composed = _links(earlier, own_cost, order.unit, budget.delta)
        return Payment(receipt, total_spent, links, composed)


GO_ON = "run the same again: it goes on there, without another charge"


@contextmanager
def stays_charged(
    receipt: Receipt, *, resumes: bool = False, faults: type[TacitError] = TacitError
) -> Iterator[None]:
    """What fails or is interrupted inside says that it was paid for. `resumes`: the same
    command goes on there, without another charge."""
    charge = f"entry {receipt.number} of {receipt.population!r} stays charged"
    remedy = f"correct that, then {GO_ON}" if resumes else None
    try:
        yield
    except KeyboardInterrupt:
        warn(f"{charge}; {GO_ON}" if resumes else charge)
        raise
    except faults as error:
        error.message = f"{error.message}; {charge}"
        error.remedy = remedy or error.remedy
        raise
    except OSError as error:
        raise StorageError(
            f"{reason(error)}; {charge}",
            place=None if error.filename is None else str(error.filename),
            remedy=remedy or "make room, or mend the disk, before another fit is charged",
        ) from error


def settle(
    book: Book,
    receipt: Receipt,
    statement: Statement,
    artefact: str,
    drawn_events: Iterable[Event] | None = None,
) -> Statement:
    """Record in the ledger which artefact a charge paid for, and the events drawn under an
    envelope.

    Returns the statement of that artefact, signed with the key of the charged ledger."""
    from tacit.ledger.statement.sign import signed

    filled = None if drawn_events is None else tuple(drawn_events)
    twice(lambda: book.commit(receipt, artefact, filled))
    return signed(statement, artefact, book.sign, book.signer, checked=CHARGED)


def settle_or_warn(
    book: Book,
    receipt: Receipt,
    statement: Statement,
    artefact: str,
    drawn_events: Iterable[Event] | None = None,
) -> Statement:
    """The same for what nothing can make again. A book that cannot be written any more is warned
    of, and leaves the statement unsigned: what was paid for is not lost with it."""
    try:
        return settle(book, receipt, statement, artefact, drawn_events)
    except (StorageError, OSError) as error:
        why = error.message if isinstance(error, StorageError) else reason(error)
        warn(
            f"{why}: entry {receipt.number} of {receipt.population!r} stays charged, and the "
            "release is not lost, but the book does not say what this entry made: `tacit "
            "verify` will not hold, and the statement is not signed"
        )
        return statement


def running_total(book: Book, receipt: Receipt, unit: Unit, delta: float) -> Total:
    """What the population has spent, up to and with this charge."""
    from tacit.ledger.statement.composed import total_of

    return total_of(book.running(receipt, unit, delta))


def relation(order: Order) -> Relation:
    """What neighbouring data sets differ in, where this fit runs."""
    engine = find_engine(order.engine).like or order.engine
    if engine == "local" or order.method.local:
        return "record"
    return "participant" if engine in ("federated", "simulate") else "person"


def twice(ask: Callable[[], T]) -> T:
    """Ask a book, and once again after a failure of the storage: the connection may have
    been lost after it had written. What is asked must bear to be asked again."""
    try:
        return ask()
    except StorageError:
        return ask()


def _links(
    earlier: Iterable[Entry], own_cost: Cost | None, unit: Unit, delta: float
) -> tuple[tuple[Link, ...], float | None]:
    """The chain of releases as the statement lists it, and its composed epsilon with the new
    release at the end; None where that is not finite."""
    from tacit.ledger.statement.statement import Link

    links = list[Link]()
    prices = list[Cost]()
    for entry in earlier:
        assert entry.unit is not None
        price = _price(entry.events, entry.unit, unit, entry.limit)
        covered = price is not None and isfinite(epsilon_of(price, delta))
        if price is not None and covered:
            prices.append(price)
        promise = entry.budget or (None, None)
        links.append(
            Link(
                population=entry.population,
                number=entry.number,
                method=entry.method,
                unit=entry.unit,
                epsilon=promise[0],
                delta=promise[1],
                covered=covered,
            )
        )
    if own_cost is None:
        return tuple(links), None
    composed = epsilon_of(total([*prices, own_cost]), delta)
    return tuple(links), composed if isfinite(composed) else None


def _price(events: Iterable[Event], of: Unit, at: Unit, limit: int | None) -> Cost | None:
    from tacit.ledger.book.rules import charge

    return charge(events, of, at, limit)
