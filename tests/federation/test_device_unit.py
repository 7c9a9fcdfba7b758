"""A device knows whom its cap protects: what protects single ratings is refused, or counted
for a person with as many of them as the task uses."""

from __future__ import annotations

import asyncio

import pytest

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.errors import BookError, BudgetError
from tacit.federation.agreed.assembled import Assembled, assemble
from tacit.federation.device.part import Wallet
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.task import Task
from tacit.ledger.account.event import Laplace
from tacit.ledger.book.devices import DeviceBooks

DELTA = 1e-5


def made(**changes) -> Assembled:
    facts = {
        "method": "popularity",
        "unit": "rating",
        "epsilon": 9.9,
        "low": 1,
        "high": 5,
        "people": 20,
        "cohort": 20,
        "least": 10,
        "items": catalogue_facts(Catalogue(("a", "b", "c"))),
    } | changes
    return assemble(Task(**facts))


def test_single_ratings_under_a_cap_for_people_are_refused() -> None:
    """Seen: epsilon 9.9 at `rating` passed under a cap of 10."""
    with pytest.raises(BudgetError, match="per user"):
        Policy(epsilon=10, delta=DELTA).check(made())
    Policy(epsilon=10, delta=DELTA, unit="rating").check(made())
    Policy(epsilon=10, delta=DELTA).check(made(unit="user"))


def test_a_limit_of_ratings_is_counted_as_that_many_steps() -> None:
    limited = made(max_ratings=3, epsilon=1.0)
    policy = Policy(epsilon=2.0, delta=DELTA)
    alone = limited.price(DELTA)
    together = limited.price(DELTA, "user", policy.steps(limited))
    assert policy.steps(limited) == 3
    assert together > 2.5 * alone
    with pytest.raises(BudgetError, match="too small"):
        policy.check(limited)
    Policy(epsilon=together, delta=DELTA).check(limited)


def test_the_book_is_charged_for_every_step() -> None:
    event = Laplace(name="x", sensitivity=1, scale=2, draws=1)

    async def paid(steps: int) -> float:
        books = DeviceBooks(1, (2.0, 0.0))
        assert await Wallet(books, steps).pay(0, [event])
        return books.spent(0)

    assert asyncio.run(paid(1)) == pytest.approx(0.5)
    assert asyncio.run(paid(3)) == pytest.approx(1.5)


def test_a_book_keeps_its_unit(tmp_path) -> None:
    DeviceBooks(1, (1.0, 0.0), tmp_path / "book").close()
    DeviceBooks(1, (1.0, 0.0), tmp_path / "book", unit="user").close()
    with pytest.raises(BookError, match="unit"):
        DeviceBooks(1, (1.0, 0.0), tmp_path / "book", unit="rating")
