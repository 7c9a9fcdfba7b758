"""What every book must do about requests, people and signatures, wherever it is kept.

class TestMyStore(BookTests, PeopleTests):
    ...
"""

from __future__ import annotations

import pytest

from tacit.errors import BookError, BudgetError
from tacit.ledger.book.book import Book
from tacit.testing.book import MakeBook, charge, gaussian, laplace

DATA = b"the ratings"


class PeopleTests:
    """Needs the fixture `make_book` of `tacit.testing.book.BookTests`."""

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
