"""`tacit ledger verify` and `affected` look at every population, and at something."""

from __future__ import annotations

import json
import sqlite3

import pytest

from tacit.ledger.book.book import open_book

CHECKS = ("verify", "affected")


@pytest.fixture
def two(tacit_home):
    """A book of two populations, one entry each."""
    path = tacit_home / "ledger.sqlite"
    for name in ("default", "shop"):
        open_book(path, name).cap(3.0, 1e-6, "user")
    return path


def _tamper(path, *statements):
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER entry_stays")
        connection.execute("DROP TRIGGER entry_keeps")
        for each in statements:
            connection.execute(each)
    connection.close()


def test_every_population_is_verified_and_named(tacit, two):
    told = tacit("ledger", "verify")
    assert told.status == 0
    assert "'default', 1 entry" in told.out
    assert "'shop', 1 entry" in told.out
    facts = json.loads(tacit("ledger", "verify", "--json").out)
    names = [each["population"] for each in facts["populations"]]
    assert (facts["entries"], names) == (2, ["default", "shop"])
    one = tacit("ledger", "verify", "--population", "shop").out
    assert "shop" in one
    assert "default" not in one


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE entry SET text = replace(text, '3.0', '9.0') WHERE population = 'shop'",
        "DELETE FROM entry WHERE population = 'shop'",
    ],
)
def test_harm_to_any_population_is_found(tacit, two, check, harm):
    _tamper(two, harm)
    told = tacit("ledger", check)
    assert told.status == 2
    assert "population shop" in told.err
    assert "remedy:" in told.err


@pytest.mark.parametrize("check", CHECKS)
def test_a_place_without_a_book_is_not_whole(tacit, tacit_home, check):
    told = tacit("ledger", check, "--ledger", tacit_home / "nosuch.sqlite")
    assert told.status == 2
    assert "there is no book here" in told.err
    assert "remedy:" in told.err
    assert not (tacit_home / "nosuch.sqlite").exists()


@pytest.mark.parametrize("check", CHECKS)
def test_a_misspelt_population_is_not_whole(tacit, two, check):
    told = tacit("ledger", check, "--population", "Shop")
    assert told.status == 2
    assert "did you mean 'shop'?" in told.err


def test_an_emptied_book_is_refused_by_all(tacit, two, popularity, tmp_path):
    _tamper(two, "DELETE FROM entry", "DELETE FROM head")
    for each in (("ledger", "verify"), ("ledger", "show")):
        told = tacit(*each)
        assert told.status == 2
        assert "all of them were removed" in told.err
    out = tmp_path / "model"
    told = tacit(*popularity, "--epsilon", 1, "--users", 30, "--out", out)
    assert told.status == 2
    assert not out.exists()
    assert "NOT WELL" in tacit("doctor").out


def test_a_key_of_an_earlier_version_learns_that_it_was_used(two):
    """32 bytes and no more: so it was before keys remembered."""
    key = two.with_name(two.name + ".key")
    key.write_bytes(key.read_bytes()[:32])
    open_book(two).cap(4.0, 1e-6, "user")
    assert len(key.read_bytes()) == 33
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_key_that_lies_elsewhere_stays_there(two, tmp_path):
    """What it remembers is written into its own file, whoever may read that."""
    key = two.with_name(two.name + ".key")
    kept = tmp_path / "safe" / "key"
    kept.parent.mkdir()
    kept.write_bytes(key.read_bytes()[:32])
    kept.chmod(0o640)
    key.unlink()
    key.symlink_to(kept)
    open_book(two).cap(4.0, 1e-6, "user")
    assert key.is_symlink()
    assert len(kept.read_bytes()) == 33
    assert kept.stat().st_mode & 0o777 == 0o640


def test_no_entry_of_a_version_is_not_no_defect(tacit, two):
    told = tacit("ledger", "affected", "--version", "9.9").out
    assert told.strip() == "no entry was made by version 9.9"


@pytest.mark.parametrize("harm", ["DROP TABLE fingerprint", "DROP TRIGGER entry_stays"])
def test_lost_guards_and_marks_are_found(tacit, two, harm):
    with sqlite3.connect(two) as connection:
        connection.execute(harm)
    connection.close()
    told = tacit("ledger", "verify")
    assert told.status == 2
    assert f"{harm.split()[-1]} is missing" in told.err


def test_a_key_that_is_not_there_has_a_remedy(tacit, tacit_home):
    told = tacit("ledger", "key", "--ledger", tacit_home / "no.sqlite")
    assert told.status == 2
    assert "remedy:" in told.err


def test_a_missing_model_is_said_to_be_missing(tacit, tmp_path):
    told = tacit("statement", tmp_path / "nosuch")
    assert "there is no such folder" in told.err
    (tmp_path / "demo" / "model").mkdir(parents=True)
    (tmp_path / "demo" / "model" / "model.json").write_text("{}")
    told = tacit("statement", tmp_path / "demo")
    assert f"the model is in {tmp_path / 'demo' / 'model'}" in told.err


def test_a_file_that_is_no_model_is_told_so(tacit, tmp_path):
    (tmp_path / "ratings.csv").write_text("user,item,rating\n")
    told = tacit("verify", tmp_path / "ratings.csv")
    assert "neither a model's folder nor figures" in told.err


def test_a_damaged_book_is_told_in_one_line_by_the_doctor(tacit, two):
    _tamper(two, "DELETE FROM entry")
    told = tacit("doctor")
    assert "entry 1 is missing" in told.out
    assert "\\n" not in told.out


def test_rows_under_no_seal_are_shown_and_not_counted(tacit, two):
    connection = sqlite3.connect(two)
    for row in ("'default', 2, '', ''", "'never\x1b[31m', 7, '', ''"):
        connection.execute(f"INSERT INTO entry VALUES ({row})")
    connection.commit()
    connection.close()
    told = tacit("ledger", "verify")
    assert told.status == 0
    assert "not counted: 2 rows are under no seal" in told.out
    assert "population 'default', number 2" in told.out
    assert "\x1b" not in told.out
    facts = json.loads(tacit("ledger", "verify", "--json").out)
    assert facts["rows_not_counted"] == 2
    assert facts["not_counted"][0] == {"population": "default", "number": "2"}
    assert "2 entries" not in told.out
    assert tacit("ledger", "cap", "--epsilon", "4").status == 0
    assert "under no seal, not counted: 1" in tacit("doctor").out


def test_the_rights_of_a_role_are_printed(tacit):
    told = tacit("ledger", "grant", 'odd"role', "--print")
    assert told.status == 0
    assert 'FUNCTION tacit_ledger.hold(text), tacit_ledger.charge(text, text) TO "odd""role";' in (
        told.out
    )
    refused = tacit("ledger", "grant", "clerk")
    assert refused.status == 2
    assert "in PostgreSQL" in refused.err
