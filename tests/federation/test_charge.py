"""The recommender charges a training once, wherever it dies, and signs what it publishes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.federation.agreed.assembled import assemble
from tacit.federation.protocol.task import Task
from tacit.federation.server.publish import Charged, publish, reserve
from tacit.federation.server.recommender import MIGRATIONS
from tacit.federation.server.rounds import Rounds
from tacit.federation.server.store import ServerStore
from tacit.ledger.book.book import open_book
from tacit.model.model import load
from tacit.model.verify import verify_with_book, verify_with_key

TASK = Task(
    method="popularity",
    epsilon=5.0,
    low=1,
    high=5,
    people=20,
    cohort=20,
    least=10,
    items=catalogue_facts(Catalogue(["a", "b", "c"])),
)


class Died(Exception):
    """The process ended here."""


@pytest.fixture
def book(tmp_path: Path) -> Charged:
    return Charged(str(tmp_path / "ledger"), "readers")


@pytest.fixture
def open_rounds(tmp_path: Path):
    stores = []

    def make(name: str = "store") -> Rounds:
        stores.append(ServerStore(tmp_path / name, MIGRATIONS, "recommender"))
        return Rounds(assemble(TASK), stores[-1])

    yield make
    for store in stores:
        store.close()


def charges(book: Charged) -> list[str]:
    return [e.kind for e in open_book(book.location, book.population).entries()]


def test_dying_between_the_charge_and_its_receipt_charges_once(open_rounds, book, monkeypatch):
    """Break 12: the name of the request is in the store before the book is asked."""
    rounds = open_rounds()
    keep = rounds.keep_receipt

    def die(text: str) -> None:
        if "hash" in text:
            raise Died
        keep(text)

    monkeypatch.setattr(rounds, "keep_receipt", die)
    with pytest.raises(Died):
        reserve(rounds, book)
    assert charges(book) == ["reserve"]
    rounds.store.close()
    again = open_rounds()
    receipt = reserve(again, book)
    assert receipt is not None
    assert receipt.number == 1
    assert reserve(again, book) == receipt
    assert charges(book) == ["reserve"]


def test_the_same_task_trained_again_is_charged_again(open_rounds, book):
    """Two trainings release twice: a name that followed from the task alone would hide it."""
    first = reserve(open_rounds("one"), book)
    second = reserve(open_rounds("two"), book)
    assert first != second
    assert charges(book) == ["reserve"] * 2


def test_a_published_model_is_signed_with_its_total(open_rounds, book, tmp_path):
    rounds = open_rounds()
    receipt = reserve(rounds, book)
    start = asyncio.run(rounds.standing()).state
    state = start.after(weights=np.array([3.0, 1.0, 2.0]), mean=0.0)
    publish(rounds.made, state, receipt, tmp_path / "model", book)
    opened = open_book(book.location, book.population)
    assert opened.entries()[0].relation == "participant"
    model = load(tmp_path / "model")
    assert verify_with_book(model, opened).holds
    assert verify_with_key(model, opened.signer).holds
    total = model.statement.total
    assert total is not None
    assert total.entries == 1
    assert total.epsilon == pytest.approx(5.0, rel=1e-3)
