"""What a fit says of all that was spent, and that it is charged once: from ratings on."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

import tacit
from tacit import Bias, Popularity, sample
from tacit.errors import BudgetError, ModelError, StorageError
from tacit.fitting.run import fit
from tacit.ledger.book.book import Book, sign
from tacit.ledger.statement.sign import check_signature, message, signed
from tacit.ledger.statement.statement import Statement
from tacit.ledger.statement.words import supported
from tacit.model.model import Model
from tacit.model.verify import verify_with_book, verify_with_key

PEOPLE = 60


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    return str(tmp_path / "book")


def people(seed: int = 0, name: str = "p"):
    ratings = sample(people=PEOPLE, ratings=1500, seed=seed)
    return replace(ratings, users=[f"{name}{i}" for i in range(PEOPLE)])


def make(ledger, *, start=None, seed=0, name="p", method=Bias, **options):
    options = {"epsilon": 1.0, **options}
    users = options.pop("users", PEOPLE)
    ratings = people(seed, name)
    return fit(method(ledger=ledger, **options), ratings, users=users, start=start)


def test_a_chain_states_what_all_of_it_costs(ledger):
    """Break 6: each link states itself, its population and its chain."""
    models = [make(ledger)]
    for seed in (1, 2, 3):
        models.append(make(ledger, start=models[-1], seed=seed))
    said = [model.statement for model in models]
    assert [s.epsilon for s in said] == [1.0] * 4
    assert said[0].chain_epsilon is None
    chain = [s.chain_epsilon for s in said[1:]]
    assert chain == pytest.approx([1.455, 1.814, 2.123], abs=2e-3)
    assert [s.total.epsilon for s in said[1:]] == pytest.approx(chain)
    assert [s.total.entries for s in said] == [1, 2, 3, 4]
    assert [link.number for link in said[3].starts] == [1, 3, 5]
    told = " ".join(str(said[3]).split())
    assert "in all of them epsilon 2.123 at delta 1e-06" in told
    assert "has spent epsilon 2.123 at delta 1e-06, over 4 releases" in told
    entries = tacit.open_book(ledger).entries()
    assert entries[6].starts == (("default", 1), ("default", 3), ("default", 5))
    assert {e.relation for e in entries if e.kind == "reserve"} == {"person"}


def test_a_link_of_another_unit_counts_by_group_privacy(ledger):
    first = make(ledger, unit="user")
    second = make(ledger, unit="rating", start=first, seed=1).statement
    # a cell of a person who leaves and returns: mu doubles, and 1 + 4 = 5 times mu^2
    assert second.chain_epsilon == pytest.approx(2.4, abs=0.01)
    assert second.starts[0].covered


def test_a_link_without_a_bound_here_is_said_to_be_uncovered(ledger):
    first = make(ledger)
    second = make(ledger, start=first, seed=1, delta=0.0).statement
    assert not second.starts[0].covered  # Gaussian noise has no bound at delta 0
    assert second.chain_epsilon == pytest.approx(1.0, rel=1e-6)
    assert second.total.delta == 1e-6
    assert "no bound covers" in str(second)


@pytest.mark.parametrize("capped", ["default", "other"])
def test_known_data_under_another_name_are_refused_beside_a_cap(ledger, capped):
    """Break 6: `--population other` does not step around a cap."""
    make(ledger)
    tacit.open_book(ledger, capped).cap(5.0, 1e-6, "user")
    with pytest.raises(BudgetError, match="other_people=True"):
        make(ledger, population="other")
    made = make(ledger, population="other", other_people=True)
    kinds = [e.kind for e in tacit.open_book(ledger, "other").entries()]
    assert kinds[-3:] == ["people", "reserve", "commit"]
    assert made.statement.certified == "certified"


def test_a_start_of_other_people_is_refused_beside_a_cap(ledger):
    """Break 6, through two links: the chain is looked at, not its last link."""
    first = make(ledger, population="old")
    second = make(ledger, population="new", name="q", start=first, seed=1)
    tacit.open_book(ledger, "old").cap(5.0, 1e-6, "user")
    more = {"name": "q", "start": second, "population": "new", "seed": 2}
    with pytest.raises(BudgetError, match="builds on a release of 'old'"):
        make(ledger, **more)
    third = make(ledger, **more, other_people=True)
    assert [each.population for each in third.statement.starts] == ["old", "new"]


def test_a_lost_connection_does_not_charge_twice(ledger, monkeypatch):
    """Break 12: the book has written, the answer is lost, the fit asks again."""
    lost = []
    reserve = Book.reserve

    def break_off(self, *args, **options):
        receipt = reserve(self, *args, **options)
        if not lost:
            lost.append(receipt)
            raise StorageError("the connection broke during a commit")
        return receipt

    monkeypatch.setattr(Book, "reserve", break_off)
    model = make(ledger)
    assert [e.kind for e in tacit.open_book(ledger).entries()] == ["reserve", "commit"]
    assert model.statement.book_number == lost[0].number == 1


def test_two_fits_are_two_charges(ledger):
    make(ledger)
    make(ledger)
    kinds = [e.kind for e in tacit.open_book(ledger).entries()]
    assert kinds == ["reserve", "commit"] * 2


def test_book_files_do_not_show_whether_people_changed(tmp_path):
    """Break 11: same people or others, the marks look alike to who lacks the key."""
    marks = {}
    for kind, second in (("same", "p"), ("others", "q")):
        ledger = str(tmp_path / kind)
        make(ledger, method=Popularity)
        make(ledger, method=Popularity, name=second)
        with sqlite3.connect(ledger) as connection:
            rows = connection.execute("SELECT mac FROM fingerprint").fetchall()
        connection.close()
        marks[kind] = [row[0] for row in rows]
    assert [len(rows) for rows in marks.values()] == [2, 2]
    texts = [text for rows in marks.values() for text in rows]
    parts = [part for text in texts for part in text.split(":")]
    assert len(set(texts)) == 4
    assert len(set(parts)) == 8


def test_the_statement_of_a_fit_is_signed_and_checked(ledger, tmp_path):
    model = make(ledger)
    book = tacit.open_book(ledger)
    assert model.statement.checked
    assert str(model.statement).startswith("Privacy statement: CERTIFIED")
    assert check_signature(model.statement, model.shared.digest()) == book.signer
    model.save(tmp_path / "model")
    again = tacit.load(tmp_path / "model")
    assert again.statement.standing == "not checked"
    assert "SAYS OF ITSELF" in str(again.statement)
    verdicts = [verify_with_book(again, book), verify_with_key(again, book.signer)]
    assert [v.holds for v in verdicts] == [True, True]
    assert [v.statement.standing for v in verdicts] == ["certified"] * 2
    assert "not checked against a book" in verdicts[1].words


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0.01},
        {"public": ("nothing",)},
        {"total": None},
        {"chain_epsilon": 0.5},
        {"neighbours": "one person more or less"},
    ],
)
def test_no_word_of_a_statement_can_be_changed(ledger, change):
    """Break 9: what the book does not hold is under its signature."""
    model = make(ledger)
    changed = model.statement.model_copy(update=change)
    with pytest.raises(ModelError, match="signature"):
        check_signature(changed, model.shared.digest())
    book = tacit.open_book(ledger)
    for ask in (
        verify_with_book(Model(model.shared, changed), book),
        verify_with_key(Model(model.shared, changed), book.signer),
    ):
        assert not ask.holds
        assert ask.statement.standing == "not checked"


def test_a_signature_by_another_key_is_not_the_owners(ledger):
    """Break 9: a forger has a key too."""
    model = make(ledger)
    secret = b"forger" * 6
    signer = sign(secret, b"").signer
    forged = signed(
        model.statement.model_copy(update={"epsilon": 0.01}),
        model.shared.digest(),
        lambda message: sign(secret, message),
        signer,
    )
    book = tacit.open_book(ledger)
    fake = Model(model.shared, Statement.from_json(forged.to_json()))
    assert check_signature(fake.statement, model.shared.digest()) == signer
    assert not verify_with_key(fake, book.signer).holds
    assert not verify_with_book(fake, book).holds


def test_a_later_field_does_not_undo_a_signature(ledger):
    """What is signed is what stands in the text: defaults that a version adds are not."""
    model = make(ledger)
    facts = json.loads(model.statement.to_json())
    assert facts["total"].pop("uncovered") == 0  # as a version without it wrote
    secret = b"k" * 32
    facts["signer"] = sign(secret, b"").signer
    text = message(Statement.model_validate(facts))
    assert b"uncovered" not in text
    facts["signature"] = sign(secret, text).signature
    again = Statement.from_json(json.dumps(facts))
    assert again.total.uncovered == 0
    assert check_signature(again, model.shared.digest()) == facts["signer"]


@pytest.mark.parametrize(("users", "delta"), [(50, 1e-6), (100_000, 1e-6), (10**7, 1e-8)])
def test_the_usual_delta_follows_the_declared_people(ledger, users, delta):
    """Break 7: the smaller of 1e-6 and a tenth of one in the people."""
    said = make(ledger, users=users, method=Popularity).statement
    assert said.delta == pytest.approx(delta)
    assert said.supported is None


def test_without_declared_people_the_released_count_is_asked(ledger):
    """Break 7: the statement says whether the released count supports delta."""
    good = make(ledger, users=None, method=Popularity, epsilon=20.0).statement
    assert good.delta == 1e-6
    assert "the released count supports it" in " ".join(str(good).split())
    poor = make(ledger, users=None, method=Popularity, epsilon=20.0, delta=1e-4).statement
    assert "supports it" in poor.supported  # sixty people bear a tenth of one in sixty


def test_a_count_that_is_too_large_does_not_support_delta():
    assert "does not support" in supported(1e-4, 5_000)
    assert "counted with noise" in supported(1e-4, 5_000)
    assert "supports it" in supported(1e-6, 5_000)
