"""The device's own ledger: durable, exact, and deaf to the server."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import BookError, SettingError
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.calibrate import response_epsilon
from tacit.ledger.account.event import Gaussian, Laplace, RandomizedChoice, Response, Unbounded
from tacit.ledger.book.devices import HEADER, PRICES, DeviceBooks


def bit(epsilon, name="r/bits"):
    return Response(name=name, epsilon=epsilon, reports=1)


def test_a_device_refuses_the_report_that_would_pass_its_cap():
    books = DeviceBooks(3, (1.0, 0.0))
    for _ in range(4):
        assert books.pay(bit(0.25)).tolist() == [0, 1, 2]
    assert books.pay(bit(0.25)).tolist() == []
    assert books.spent(1) == pytest.approx(1.0)


def test_the_round_too_many_of_the_paper_is_refused():
    rounds = 10
    books = DeviceBooks(5, (1.0, 0.0))
    answered = [len(books.pay(bit(1.0 / rounds))) for _ in range(rounds + 1)]
    assert answered == [5] * rounds + [0]


def test_with_a_delta_reports_compose_exactly():
    books, each = DeviceBooks(1, (1.0, 1e-6)), response_epsilon(50, 1.0, 1e-6)
    answered = sum(len(books.pay(bit(each))) for _ in range(60))
    assert answered == 50
    assert 50 * each > 1.7  # adding up would have stopped at 29


def test_each_device_counts_for_itself():
    books = DeviceBooks(4, (1.0, 0.0))
    assert books.pay(bit(0.6), np.array([1, 3])).tolist() == [1, 3]
    assert books.pay(bit(0.6)).tolist() == [0, 2]
    assert books.spent(3) == pytest.approx(0.6)


def test_different_prices_add_up():
    books = DeviceBooks(1, (4.0, 1e-6))
    choice = RandomizedChoice(name="r/a", epsilon=3.0, choices=8, favoured=1)
    noise = Gaussian(name="r/n", sensitivity=100.0, sigma=200.0, draws=5)
    assert len(books.pay(choice)) == 1
    assert len(books.pay(choice)) == 0
    assert len(books.pay(noise)) == 0
    assert len(books.pay(bit(0.5))) == 1


def test_what_a_book_cannot_count_is_not_answered():
    books = DeviceBooks(2, (100.0, 1e-6))
    assert len(books.pay(Unbounded(name="r/x", claimed_epsilon=1e-9, reason="a test"))) == 0


def test_a_coin_makes_no_answer_cheaper():
    """Who answers is seen: a server that calls its people sampled may not ask more of them."""
    books = DeviceBooks(1, (1.0, 1e-6))
    assert (
        len(books.pay(Laplace(name="r/x", sensitivity=200.0, scale=100.0, draws=1, sampled=1e-6)))
        == 0
    )


def test_a_book_holds_any_number_of_prices_and_lasts(tmp_path):
    books = DeviceBooks(2, (1e4, 1e-6), tmp_path / "book")
    prices = [0.001 * (i + 1) for i in range(2 * PRICES)]
    noises = [
        Gaussian(name=f"r/{i}", sensitivity=100.0, sigma=1000.0 + i, draws=5)
        for i in range(2 * PRICES)
    ]
    for price, noise in zip(prices, noises, strict=True):
        assert len(books.pay(bit(price))) == 2
        assert len(books.pay(noise)) == 2
    exact = epsilon([*(bit(price, str(price)) for price in prices), *noises], 1e-6)
    again = DeviceBooks(2, (1e4, 1e-6), tmp_path / "book")
    assert exact <= again.spent(1) <= 1.2 * exact  # beyond a few prices pure ones are added up


def test_prices_that_are_added_up_meet_the_cap():
    books = DeviceBooks(1, (1.0, 0.0))
    for i in range(4 * PRICES):
        books.pay(bit(0.03 + 1e-6 * i))
    assert 0.97 < books.spent(0) <= 1.0


def test_a_book_survives_its_process(tmp_path):
    first = DeviceBooks(2, (1.0, 0.0), tmp_path / "book")
    first.pay(bit(0.7), np.array([1]))
    again = DeviceBooks(
        2, (1.0, 0.0), tmp_path / "book"
    )  # without a close: the charge is in the file already
    assert again.spent(1) == pytest.approx(0.7)
    assert again.pay(bit(0.7)).tolist() == [0]
    assert (tmp_path / "book").stat().st_mode & 0o777 == 0o600


def test_a_cap_is_not_reset_by_asking_for_another(tmp_path):
    DeviceBooks(2, (1.0, 0.0), tmp_path / "book").close()
    with pytest.raises(BookError, match="another cap"):
        DeviceBooks(2, (9.0, 0.0), tmp_path / "book")


def test_a_book_of_another_fleet_is_refused(tmp_path):
    DeviceBooks(2, (1.0, 0.0), tmp_path / "book", fleet="ours").close()
    DeviceBooks(2, (1.0, 0.0), tmp_path / "book", fleet="ours").close()
    with pytest.raises(BookError, match="fleet"):
        DeviceBooks(2, (1.0, 0.0), tmp_path / "book", fleet="theirs")


def test_a_torn_record_counts_as_spent_out(tmp_path):
    books = DeviceBooks(2, (1.0, 0.0), tmp_path / "book")
    books.pay(bit(0.4))
    books.close()
    content = bytearray((tmp_path / "book").read_bytes())
    content[HEADER] = 0  # device 0 claims to have answered nothing
    (tmp_path / "book").write_bytes(content)
    assert DeviceBooks(2, (1.0, 0.0), tmp_path / "book").pay(bit(0.4)).tolist() == [1]


def test_a_file_that_is_no_book_is_said_so(tmp_path):
    (tmp_path / "book").write_bytes(b"hello")
    with pytest.raises(BookError, match="no device book"):
        DeviceBooks(1, (1.0, 0.0), tmp_path / "book")


def test_two_programs_with_one_book_do_not_spend_it_twice(tmp_path):
    one, two = (DeviceBooks(1, (1.0, 0.0), tmp_path / "book") for _ in range(2))
    assert len(one.pay(bit(0.6))) == 1
    assert len(two.pay(bit(0.6))) == 0
    assert len(two.pay(bit(0.3))) == 1
    assert one.spent(0) == pytest.approx(0.9)


@pytest.mark.parametrize("cap", [(0.0, 0.0), (float("inf"), 0.0), (1.0, 1.0)])
def test_a_cap_must_be_a_promise(cap):
    with pytest.raises(SettingError, match="cap"):
        DeviceBooks(1, cap)
