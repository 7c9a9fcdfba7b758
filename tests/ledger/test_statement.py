"""What a statement says, when it certifies, and how a book confirms it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import ModelError, SettingError
from tacit.ledger.account.event import (
    EvaluationEvent,
    Event,
    Gaussian,
    Laplace,
    Response,
    Unbounded,
)
from tacit.ledger.book.book import Book, open_book
from tacit.ledger.statement.ledger_check import check_against
from tacit.ledger.statement.statement import Statement, build_statement
from tacit.ledger.statement.words import ENGINES, mechanism
from tacit.testing.book import gaussian, laplace
from tacit.units import Unit

BUDGET = (1.0, 1e-6)


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return open_book(tmp_path / "ledger.sqlite", "readers")


def certify(book: Book, **changes: Any) -> Statement:
    events: list[Event] = [gaussian(1.0)]
    receipt = book.reserve(events, unit="user", budget=BUDGET, purpose="film night", method="bias")
    given: dict[str, Any] = {
        "method": "bias",
        "unit": "user",
        "engine": "threads",
        "events": events,
        "budget": BUDGET,
        "receipt": receipt,
        "per_person": ["a row of norm 1"],
        "settings": ["by rule"],
        "public": ["the scale"],
        "purpose": "film night",
    }
    return build_statement(**{**given, **changes})


def test_a_certified_statement_tells_everything(book: Book) -> None:
    statement = certify(book).with_check("the book")
    text = " ".join(str(statement).split())
    assert text.startswith("Privacy statement: CERTIFIED 1. The published")
    for words in (
        "(1, 1e-06)-differentially private",
        "`user`",
        "is added or removed",
        "all other people see",
        "epsilon 1.221 at delta 1e-08",
        "trusted curator",
        "discrete Gaussian noise",
        "a row of norm 1",
        "by rule",
        "the scale",
        "how long the computation took",
        "memory",
        "took part",
        "is shown",
        "film night",
        "`readers`",
        "entry 1",
        book.head,
        "Made with tacit",
    ):
        assert words in text


def test_a_statement_that_nobody_checked_is_what_it_says_of_itself(book: Book) -> None:
    """Break 9: the words of a folder are its maker's."""
    statement = certify(book)
    assert statement.standing == "not checked"
    text = " ".join(str(statement).split())
    assert text.startswith("Privacy statement: SAYS OF ITSELF")
    assert "It says that the published model is (1, 1e-06)-" in text
    checked = statement.with_check("the book")
    assert checked.standing == "certified"
    assert checked.model_copy(update={"epsilon": 0.1}).standing == "not checked"
    assert checked.to_facts()["says_of_itself"] == "certified"


def test_paragraphs_are_numbered_and_fit_a_terminal(book: Book) -> None:
    lines = str(certify(book)).splitlines()
    assert [line[:3] for line in lines if line[2:4] == ". "][:3] == [" 1.", " 2.", " 3."]
    assert max(map(len, lines)) <= 96


def test_json_goes_round(book: Book) -> None:
    statement = certify(book)
    assert Statement.from_json(statement.to_json()) == statement


@pytest.mark.parametrize("text", ["", "{}", '{"format": 2}', "[1]"])
def test_a_damaged_statement_is_a_model_error(text: str) -> None:
    with pytest.raises(ModelError):
        Statement.from_json(text)


def test_no_path_date_or_time_is_inside(book: Book, tmp_path: Path) -> None:
    text = certify(book).to_json()
    assert str(tmp_path) not in text
    assert book.entries()[0].time[:10] not in text


def test_the_profile_holds_the_promise(book: Book) -> None:
    epsilon = {at: epsilon for epsilon, at in certify(book).profile}[1e-6]
    assert 0.999999 < epsilon <= 1.0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("unit", ["user", "rating", "value"])
def test_every_engine_and_unit_has_its_words(engine: str, unit: Unit) -> None:
    statement = build_statement(
        method="bias", unit=unit, engine=engine, events=[], calibration="none"
    )
    assert statement.neighbours
    assert statement.trust


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(SettingError, match="engine"):
        build_statement(method="bias", unit="user", engine="magic", events=[], calibration="none")


def test_a_simulated_federation_does_not_promise_what_the_local_model_does() -> None:
    told = {
        local: build_statement(
            method="x", unit="user", engine="simulate", events=[], calibration="none", local=local
        )
        for local in (True, False)
    }
    assert "any two records" in told[True].neighbours
    assert "replaced by nothing" in told[False].neighbours


def test_a_claim_is_told_as_a_claim(book: Book) -> None:
    claim = Unbounded(name="epoch", claimed_epsilon=0.1, reason="item means are raw")
    receipt = book.reserve([claim], unit="rating", budget=None, purpose="", method="pnbm-sgd")
    statement = build_statement(
        method="pnbm-sgd",
        unit="rating",
        engine="threads",
        events=[claim],
        calibration="paper",
        receipt=receipt,
    )
    assert statement.certified == "claimed"
    assert (statement.claimed_epsilon, statement.epsilon) == (0.1, None)
    assert "CLAIMED, NOT CERTIFIED" in str(statement)
    assert "item means are raw" in str(statement)


@pytest.mark.parametrize(
    "changes",
    [
        {"calibration": "none"},
        {"real_noise": False},
        {"receipt": None},
        {
            "receipt": None,
            "calibration": "paper",
            "events": [Unbounded(name="x", claimed_epsilon=1, reason="y")],
        },
        {"events": [EvaluationEvent(name="evaluate")]},
    ],
)
def test_what_is_not_private_says_so(book: Book, changes: dict[str, Any]) -> None:
    statement = certify(book, **changes)
    assert statement.certified == "not private"
    assert statement.epsilon is None
    assert "NOT PRIVATE" in str(statement)


def test_events_above_the_stated_budget_cannot_be_certified(book: Book) -> None:
    with pytest.raises(SettingError, match="more than the budget"):
        certify(book, budget=(0.9, 1e-6))


def test_the_book_confirms_its_statement(book: Book) -> None:
    good, text = check_against(certify(book), book)
    assert good
    assert "entry 1" in text


def test_a_book_restored_from_an_old_copy_is_exposed(book: Book, tmp_path: Path) -> None:
    certify(book)
    old = tmp_path / "old"
    shutil.copy(tmp_path / "ledger.sqlite", old)
    later = certify(book)
    shutil.copy(old, tmp_path / "ledger.sqlite")
    assert book.verify().entries == 1  # by itself the old copy is a good book
    assert not book.contains(later.book_head or "")
    good, text = check_against(later, book)
    assert not good
    assert "restored from an old copy" in text


def test_a_book_charged_again_after_a_restore_is_exposed(book: Book, tmp_path: Path) -> None:
    certify(book)
    shutil.copy(tmp_path / "ledger.sqlite", tmp_path / "old")
    later = certify(book)
    shutil.copy(tmp_path / "old", tmp_path / "ledger.sqlite")
    book.reserve([laplace(0.1)], unit="user", budget=None, purpose="", method="bias")
    good, text = check_against(later, book)
    assert not good
    assert "not the one that the statement names" in text


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 0.5},
        {"events": ()},
        {"unit": "rating"},
        {"method": "bayes"},
        {"population": "others"},
        {"book_head": None},
    ],
)
def test_a_statement_that_was_changed_is_not_confirmed(book: Book, changes: dict[str, Any]) -> None:
    assert not check_against(certify(book).model_copy(update=changes), book)[0]


def test_what_nothing_bounds_is_not_confirmed_as_certified(book: Book) -> None:
    claim = Unbounded(name="a/x", claimed_epsilon=1.0, reason="a test")
    receipt = book.reserve([claim], unit="user", budget=(1.0, 1e-6), purpose="", method="bias")
    made = build_statement(
        method="bias",
        unit="user",
        engine="threads",
        events=[claim],
        calibration="paper",
        budget=(1.0, 1e-6),
        receipt=receipt,
    )
    forged = made.model_copy(update={"certified": "certified", "epsilon": 1.0, "delta": 1e-6})
    assert [check_against(each, book)[0] for each in (made, forged)] == [True, False]


def test_mechanisms_are_told_in_a_clause() -> None:
    event: Event = Gaussian(name="a", sensitivity=2, sigma=20, draws=1000, times=3)
    noise = "discrete Gaussian noise of standard deviation 20 on 1,000 numbers (L2 sensitivity 2)"
    assert mechanism(event) == f"a: {noise}, 3 times"
    event = Laplace(name="a", sensitivity=2, scale=20, draws=1, sampled=0.1)
    noise = "discrete Laplace noise of scale 20 on 1 number (L1 sensitivity 2)"
    assert (
        mechanism(event) == f"a: {noise}, each person taking part with chance 0.1 by a secret coin"
    )
    event = Response(name="a", epsilon=0.5, reports=2, beside="b")
    noise = "randomized response, 2 one-bit reports a person at epsilon 0.5 each"
    assert mechanism(event) == f"a: {noise}; over other people than b"


def test_a_statement_that_is_not_certified_survives_its_file():
    made = build_statement(method="m", unit="user", engine="threads", events=(), calibration="none")
    assert Statement.from_json(made.to_json()) == made
