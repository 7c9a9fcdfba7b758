"""What every book must do, wherever it is kept. A new store names itself in a fixture and
inherits the tests:

class TestMyStore(BookTests):
    @pytest.fixture
    def make_book(self, tmp_path):
        return lambda population="default": Book(MyStore(tmp_path), population)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import BookError, BudgetError, SettingError
from tacit.ledger.account.calibrate import gaussian_mu, gaussian_sigma
from tacit.ledger.account.event import (
    EvaluationEvent,
    Event,
    Gaussian,
    Laplace,
    Reserve,
    Skellam,
    Unbounded,
)
from tacit.ledger.book.book import Book, Receipt, open_book
from tacit.units import Unit

MakeBook = Callable[..., Book]
ARTEFACT = "ab" * 32
DATA = b"the ratings"


def gaussian(epsilon: float, delta: float = 1e-6, sensitivity: float = 100.0) -> Gaussian:
    """One release that costs (epsilon, delta)."""
    sigma = gaussian_sigma(sensitivity, gaussian_mu(epsilon, delta))
    return Gaussian(name="items/sums", sensitivity=sensitivity, sigma=sigma, draws=10)


def laplace(epsilon: float) -> Laplace:
    """An event of pure noise."""
    return Laplace(name="items/counts", sensitivity=100, scale=100 / epsilon, draws=10)


def claim() -> Unbounded:
    """An event that no accountant bounds."""
    return Unbounded(name="epoch", claimed_epsilon=0.1, reason="means are raw")


def charge(
    book: Book, *events: Event, unit: Unit = "user", limit: int | None = None, **options: Any
) -> Receipt:
    """Reserve these events as a fit would."""
    return book.reserve(
        events, unit=unit, budget=None, purpose="test", method="bias", limit=limit, **options
    )


class BookTests:
    """Conformance. `make_book(population)` gives books that share one store, empty at the
    start of each test."""

    @pytest.fixture
    def make_book(self, tmp_path: Path) -> MakeBook:
        return lambda population="default": open_book(tmp_path / "ledger.sqlite", population)

    def test_a_new_book_has_spent_nothing(self, make_book: MakeBook) -> None:
        assert make_book().spent()["user"].epsilon == 0
        assert make_book().entries() == []

    def test_a_reservation_is_there_for_the_next_reader(self, make_book: MakeBook) -> None:
        receipt = charge(make_book(), gaussian(1.0))
        [entry] = make_book().entries()
        assert (entry.number, entry.hash) == (receipt.number, receipt.hash)
        assert entry.events == (gaussian(1.0),)

    def test_gaussian_entries_compose_as_one_gaussian(self, make_book: MakeBook) -> None:
        book = make_book()
        charge(book, gaussian(0.5))
        charge(book, gaussian(0.5))
        assert 0.5 < book.spent()["user"].epsilon < 0.75  # mu grows by a root of 2

    def test_pure_entries_add_at_delta_zero(self, make_book: MakeBook) -> None:
        book = make_book()
        book.cap(1.0, 0.0, "user")
        for _ in range(10):
            charge(book, laplace(0.1))
        assert book.spent()["user"].epsilon == pytest.approx(1.0, rel=1e-12)
        with pytest.raises(BudgetError):
            charge(book, laplace(0.001))

    def test_a_cap_cannot_be_overspent(self, make_book: MakeBook) -> None:
        book = make_book()
        book.cap(1.0, 1e-6, "user")
        charge(book, gaussian(0.9))
        head = book.head
        with pytest.raises(BudgetError, match="overspent"):
            charge(book, gaussian(0.9))
        assert book.head == head

    def test_what_is_left_can_be_spent_and_no_more(self, make_book: MakeBook) -> None:
        book = make_book()
        book.cap(1.0, 1e-6, "user")
        charge(book, gaussian(0.7))
        remaining = book.spent()["user"].left
        assert remaining is not None
        with pytest.raises(BudgetError):
            charge(book, gaussian(remaining * 1.001))
        charge(book, gaussian(remaining * 0.999))

    def test_check_refuses_and_writes_nothing(self, make_book: MakeBook) -> None:
        book = make_book()
        book.cap(1.0, 1e-6, "user")
        book.check([gaussian(0.9)], unit="user", budget=(0.9, 1e-6))
        with pytest.raises(BudgetError):
            book.check([gaussian(1.1)], unit="user", budget=(1.1, 1e-6))
        assert len(book.entries()) == 1

    def test_raising_and_lowering_a_cap_are_entries(self, make_book: MakeBook) -> None:
        book = make_book()
        book.cap(0.5, 1e-6, "user", "first")
        book.cap(2.0, 1e-6, "user", "raised")
        charge(book, gaussian(1.5))
        book.cap(1.0, 1e-6, "user", "lowered")
        with pytest.raises(BudgetError):
            charge(book, laplace(0.001))
        assert [entry.kind for entry in book.entries()] == ["cap", "cap", "reserve", "cap"]
        assert book.verify().entries == 4

    def test_a_cap_without_delta_refuses_gaussian_noise(self, make_book: MakeBook) -> None:
        book = make_book()
        book.cap(1.0, 0.0, "user")
        with pytest.raises(BudgetError, match="unbounded at that delta"):
            charge(book, gaussian(0.1))

    def test_events_beyond_their_own_budget_are_refused(self, make_book: MakeBook) -> None:
        with pytest.raises(BudgetError, match="more than its"):
            make_book().reserve(
                [gaussian(1.0)], unit="user", budget=(0.5, 1e-6), purpose="", method="bias"
            )

    def test_populations_are_charged_apart(self, make_book: MakeBook) -> None:
        charge(make_book("one"), gaussian(1.0))
        assert make_book("two").spent()["user"].epsilon == 0

    def test_rating_events_count_by_group_privacy_under_a_user_cap(
        self, make_book: MakeBook
    ) -> None:
        book = make_book()
        book.cap(1.0, 0.0, "user")
        charge(book, laplace(0.01), unit="rating", limit=40)
        assert book.spent()["user"].epsilon == pytest.approx(0.4)
        with pytest.raises(BudgetError, match="overspent"):
            charge(book, laplace(0.01), unit="rating", limit=61)

    def test_gaussian_rating_events_count_with_a_larger_sensitivity(
        self, make_book: MakeBook
    ) -> None:
        book = make_book()
        book.cap(1.0, 1e-6, "user")
        charge(book, gaussian(0.05, sensitivity=1e4), unit="rating", limit=10)
        alike = make_book("alike")
        charge(alike, gaussian(0.05, sensitivity=1e4).model_copy(update={"sensitivity": 1e5}))
        assert book.spent()["user"].epsilon == pytest.approx(
            alike.spent()["user"].epsilon, rel=1e-9
        )

    def test_rating_events_without_a_limit_are_refused_under_a_user_cap(
        self, make_book: MakeBook
    ) -> None:
        book = make_book()
        book.cap(1.0, 1e-6, "user")
        with pytest.raises(BudgetError, match="limit the ratings per person"):
            charge(book, gaussian(0.01), unit="rating")

    def test_value_events_are_refused_under_a_user_cap(self, make_book: MakeBook) -> None:
        book = make_book()
        book.cap(1.0, 1e-6, "user")
        with pytest.raises(BudgetError, match="who rated what"):
            charge(book, gaussian(0.01), unit="value", limit=5)

    def test_a_cap_is_refused_over_entries_that_it_cannot_count(self, make_book: MakeBook) -> None:
        book = make_book()
        charge(book, gaussian(0.01), unit="value")
        with pytest.raises(BudgetError, match="no bound per user"):
            book.cap(1.0, 1e-6, "user")
        book.cap(1.0, 1e-6, "user", accept_unbounded=True)
        assert book.spent()["user"].unbounded == 1

    def test_a_claim_is_refused_under_a_cap_unless_accepted(self, make_book: MakeBook) -> None:
        book = make_book()
        book.cap(1.0, 1e-6, "user")
        with pytest.raises(BudgetError, match="no theorem"):
            charge(book, claim())
        charge(book, claim(), accept_unbounded=True)
        assert book.spent()["user"].unbounded == 1
        assert book.spent()["user"].epsilon == 0
        assert book.verify().entries == 2

    def test_an_evaluation_is_booked_once_and_costs_nothing(self, make_book: MakeBook) -> None:
        book = make_book()
        receipt = charge(book, EvaluationEvent(name="evaluate"))
        assert charge(book, EvaluationEvent(name="evaluate")) == receipt
        assert len(book.entries()) == 1
        assert book.spent()["user"].epsilon == 0

    def test_an_evaluation_of_another_unit_does_not_hinder_a_cap(self, make_book: MakeBook) -> None:
        book = make_book()
        charge(book, EvaluationEvent(name="evaluate"), unit="value")
        book.cap(1.0, 1e-6, "user")
        assert book.spent()["user"].unbounded == 0

    def test_an_evaluation_on_a_capped_book_is_for_the_owner_only(
        self, make_book: MakeBook
    ) -> None:
        book = make_book()
        book.cap(1.0, 1e-6, "user")
        with pytest.raises(BudgetError, match="owner"):
            charge(book, EvaluationEvent(name="evaluate"))
        charge(book, EvaluationEvent(name="evaluate"), owner_only=True)

    def test_a_commit_names_its_artefact(self, make_book: MakeBook) -> None:
        book = make_book()
        receipt = charge(book, gaussian(1.0))
        book.commit(receipt, ARTEFACT)
        entry = book.find(ARTEFACT)
        assert entry is not None
        assert entry.number == receipt.number

    def test_a_commit_may_be_repeated_but_not_changed(self, make_book: MakeBook) -> None:
        book = make_book()
        receipt = charge(book, gaussian(1.0))
        assert book.commit(receipt, ARTEFACT) == book.commit(receipt, ARTEFACT)
        with pytest.raises(BookError, match="already has its outcome"):
            book.commit(receipt, "cd" * 32)

    def test_a_receipt_of_another_book_is_refused(self, make_book: MakeBook) -> None:
        receipt = charge(make_book("one"), gaussian(1.0))
        charge(make_book("two"), gaussian(1.0))
        with pytest.raises(BookError, match="not the reservation"):
            make_book("two").commit(receipt, ARTEFACT)

    def test_an_envelope_may_be_filled_but_not_exceeded(self, make_book: MakeBook) -> None:
        book = make_book()
        mu = gaussian_mu(1.0, 1e-6)
        receipt = charge(book, Reserve(name="sweeps", mu=mu))
        fits = [gaussian(1.0)]
        with pytest.raises(BudgetError, match="envelope"):
            book.commit(receipt, ARTEFACT, [*fits, laplace(0.01)])
        with pytest.raises(BudgetError, match="envelope"):
            book.commit(receipt, ARTEFACT, [gaussian(1.01)])
        with pytest.raises(
            BudgetError, match="envelope"
        ):  # neither Gaussian nor pure, however little it costs
            book.commit(
                receipt, ARTEFACT, [Skellam(name="s", sensitivity=1, l1=1, variance=1e12, draws=1)]
            )
        book.commit(
            receipt, ARTEFACT, [g.model_copy(update={"sigma": g.sigma * (1 + 1e-9)}) for g in fits]
        )
        assert book.verify().entries == 2

    def test_details_without_an_envelope_are_refused(self, make_book: MakeBook) -> None:
        book = make_book()
        receipt = charge(book, gaussian(1.0))
        with pytest.raises(BudgetError, match="envelope"):
            book.commit(receipt, ARTEFACT, [gaussian(1.0), gaussian(0.1)])

    def test_known_data_under_another_name_are_noticed(self, make_book: MakeBook) -> None:
        assert make_book("one").fingerprint(b"the ratings") is None
        assert make_book("one").fingerprint(b"the ratings") is None
        assert "'one'" in (make_book("two").fingerprint(b"the ratings") or "")

    def test_every_head_stays_known(self, make_book: MakeBook) -> None:
        book = make_book()
        heads = [book.head]
        for _ in range(3):
            charge(book, laplace(0.1))
            heads.append(book.head)
        assert all(book.contains(head) for head in heads)
        assert not book.contains("0" * 64)

    def test_threads_share_a_book(self, make_book: MakeBook) -> None:
        book = make_book()
        book.cap(1.0, 0.0, "user")
        charged: list[bool] = []

        def spend() -> None:
            for _ in range(4):
                try:
                    charge(book, laplace(0.1))
                    charged.append(True)
                except BudgetError:
                    charged.append(False)

        threads = [threading.Thread(target=spend) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(charged) == 10
        assert len(charged) == 16
        assert book.verify().entries == 11

    @pytest.mark.parametrize(
        ("epsilon", "delta"), [(0.0, 1e-6), (-1.0, 0.0), (inf, 0.0), (nan, 0.0), (1.0, 1.0)]
    )
    def test_a_cap_must_be_a_budget(
        self, make_book: MakeBook, epsilon: float, delta: float
    ) -> None:
        with pytest.raises(SettingError):
            make_book().cap(epsilon, delta, "user")


# What every book must do about requests, people and signatures, wherever it is kept.
#
# class TestMyStore(BookTests, PeopleTests):
#     ...


class PeopleTests:
    """Needs the fixture `make_book` of `BookTests`."""

    def test_a_request_is_charged_once(self, make_book: MakeBook) -> None:
        """Break 12: asked again under its name, the book answers with the entry it has."""
        receipt = charge(make_book(), laplace(0.1), token="one")
        assert charge(make_book(), laplace(0.1), token="one") == receipt
        assert charge(make_book(), laplace(0.1), token="two") != receipt
        assert [e.kind for e in make_book().entries()] == ["reserve"] * 2

    def test_a_request_cannot_change(self, make_book: MakeBook) -> None:
        charge(make_book(), laplace(0.1), token="one")
        with pytest.raises(BookError, match="other events"):
            charge(make_book(), laplace(0.2), token="one")

    @pytest.mark.parametrize("capped", ["one", "two"])
    def test_another_name_does_not_step_around_a_cap(
        self, make_book: MakeBook, capped: str
    ) -> None:
        """Break 6: known data are refused beside a cap, whichever book has it."""
        make_book("one").fingerprint(DATA)
        charge(make_book("one"), laplace(0.1))
        make_book(capped).cap(1.0, 0.0, "user")
        with pytest.raises(BudgetError, match="'one', and a cap holds"):
            make_book("two").fingerprint(DATA)
        assert make_book("one").fingerprint(DATA) is None

    def test_other_people_are_an_entry_and_asked_about_once(self, make_book: MakeBook) -> None:
        make_book("one").fingerprint(DATA)
        make_book("one").cap(1.0, 0.0, "user")
        book = make_book("two")
        assert book.fingerprint(DATA, other_people=True) is None
        assert [(e.kind, e.others) for e in book.entries()] == [("people", ("one",))]
        assert book.fingerprint(DATA) is None
        assert make_book("one").fingerprint(DATA) is None
        assert book.fingerprint(DATA, other_people=True) is None
        assert book.verify().entries == 1

    def test_a_chain_of_other_people_does_not_step_around_a_cap(self, make_book: MakeBook) -> None:
        charge(make_book("one"), laplace(0.1))
        book = make_book("two")
        book.check_people(["one"])
        book.cap(1.0, 0.0, "user")
        with pytest.raises(BudgetError, match="builds on a release"):
            book.check_people(["one"])
        with pytest.raises(BudgetError, match="builds on a release"):
            book.fingerprint(DATA, beside=["one"])
        book.check_people(["one"], other_people=True)
        assert [e.kind for e in book.entries()] == ["cap"]
        book.fingerprint(DATA, beside=["one"], other_people=True)
        book.check_people(["one"])
        assert [e.kind for e in book.entries()] == ["cap", "people"]

    def test_marks_look_the_same_without_the_key(self, make_book: MakeBook) -> None:
        """Break 11: whether two fits had the same people does not show in the book."""
        for population, second in (("same", DATA), ("other", b"other ratings")):
            make_book(population).fingerprint(DATA + population.encode())
            make_book(population).fingerprint(second + population.encode())
        marks = _marks(make_book())
        assert [sum(name == p for _, name in marks) for p in ("same", "other")] == [2, 2]
        assert len({mark for mark, _ in marks}) == 4
        parts = {part for mark, _ in marks for part in mark.split(":")}
        assert len(parts) == 8
        assert len({len(mark) for mark, _ in marks}) == 1

    def test_the_running_total_is_that_of_its_entry(self, make_book: MakeBook) -> None:
        book = make_book()
        first_receipt = charge(book, gaussian(1.0))
        second = charge(book, gaussian(1.0))
        book.cap(5.0, 1e-5, "user")
        totals = [book.running(total, "user", 1e-6) for total in (first_receipt, second)]
        assert [total.entries for total in totals] == [1, 2]
        assert [total.epsilon for total in totals] == pytest.approx([1.0, 1.4547], abs=1e-4)
        assert [total.cap for total in totals] == [None, None]
        third = book.running(charge(book, laplace(0.5)), "user", 0.0)
        assert third.delta == 1e-6  # at 0 Gaussian noise has no bound
        assert third.cap == (5.0, 1e-5)
        assert third.under_cap is not None
        assert third.under_cap < third.epsilon

    def test_a_book_signs_with_one_key(self, make_book: MakeBook) -> None:
        with pytest.raises(BookError, match="no key"):
            make_book().sign(b"")
        charge(make_book("one"), laplace(0.1))
        signature = make_book("two").sign(b"message")
        assert signature.signer == make_book("one").signer == make_book().signer
        assert len(bytes.fromhex(signature.signature)) == 64


def _marks(book: Book) -> list[tuple[str, str]]:
    with book.store.read() as session:
        assert session is not None
        return session.marks()
