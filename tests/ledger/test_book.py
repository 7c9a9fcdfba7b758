"""The book in a SQLite file: conformance, and what is particular to a file."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from tacit.errors import BookError, SettingError, StorageError
from tacit.ledger.book import advisories
from tacit.ledger.book.book import Book, open_book
from tacit.ledger.book.sqlite import SQLiteStore
from tacit.ledger.book.store import home
from tacit.testing.book import BookTests, PeopleTests, charge, gaussian, laplace


class TestSQLiteBook(BookTests, PeopleTests):
    """All of the conformance class, in a file."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "ledger.sqlite"


def test_nothing_is_created_by_looking(path: Path) -> None:
    book = open_book(path)
    book.entries()
    book.check([laplace(1)], unit="user", budget=None)
    assert not path.parent.exists()


def test_book_and_key_are_the_owners_alone(path: Path) -> None:
    charge(open_book(path), laplace(1))
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert modes == {"ledger.sqlite": 0o600, "ledger.sqlite.key": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_default_place_is_in_tacit_home(tacit_home: Path) -> None:
    charge(open_book(), laplace(1))
    assert home() == tacit_home
    assert (tacit_home / "ledger.sqlite").exists()


def test_an_address_may_name_sqlite(path: Path) -> None:
    charge(open_book(f"sqlite://{path}"), laplace(1))
    assert len(open_book(path).entries()) == 1


def test_an_unknown_address_is_refused_without_repeating_it() -> None:
    with pytest.raises(SettingError, match="gopher://") as caught:
        open_book("gopher://me:secret@host/ledger")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["", " x", "a\nb", "x" * 201])
def test_a_population_needs_a_name(name: str) -> None:
    with pytest.raises(SettingError, match="population"):
        open_book(None, name)


def test_a_newer_book_says_so(path: Path) -> None:
    charge(open_book(path), laplace(1))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(BookError, match="made by a newer version"):
        open_book(path).entries()


def test_a_text_file_is_no_book(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("user,item,rating\n" * 100)
    with pytest.raises(BookError, match="no ledger"):
        open_book(path).entries()


def test_another_database_is_no_book(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entry (x)")
    connection.close()
    with pytest.raises(BookError, match="not a ledger"):
        charge(open_book(path), laplace(1))


def test_a_folder_that_is_a_file_cannot_hold_a_book(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        charge(open_book(tmp_path / "file" / "ledger.sqlite"), laplace(1))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_a_storage_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError):
            charge(open_book(tmp_path / "ledger.sqlite"), laplace(1))
    finally:
        tmp_path.chmod(0o700)


def test_a_locked_book_is_a_storage_error(path: Path) -> None:
    charge(open_book(path), laplace(1))
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(StorageError, match="other processes"):
            charge(Book(SQLiteStore(path, patience=0.05), "default"), laplace(1))
    finally:
        holder.close()


def test_rows_cannot_be_removed_by_accident(path: Path) -> None:
    charge(open_book(path), laplace(1))
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("DELETE FROM entry")
    connection.close()


def test_no_private_data_are_stored_by_a_fingerprint(path: Path) -> None:
    open_book(path).fingerprint(b"a very private line")
    assert b"private line" not in path.read_bytes()


def test_entries_of_this_build_are_not_affected_and_early_ones_are(path: Path) -> None:
    book = open_book(path)
    charge(book, gaussian(1), relation="person")
    assert book.affected() == []
    charge(book, gaussian(1))
    found = {text.partition(":")[0] for _, text in book.affected()}
    assert {"chain-of-starts", "delta-above-people", "marks-of-data"} <= found
    assert {entry.number for entry, _ in book.affected()} == {2}


def test_entries_of_a_defective_version_are_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = open_book(path)
    charge(book, gaussian(1))
    version = book.entries()[0].version
    known = advisories.Advisory(
        id="T-1", versions=(f"<={version}",), methods=("bias",), text="too little noise"
    )
    monkeypatch.setattr(advisories, "load", lambda: (known,))
    assert [(entry.number, text) for entry, text in book.affected()] == [
        (1, "T-1: too little noise")
    ]
    assert [entry.number for entry, _ in book.affected(version=version)] == [1]
    assert book.affected(version="9.9") == []


@pytest.mark.parametrize(
    ("versions", "method", "concerned"),
    [
        ((">=0.1,<0.3",), "bias", True),
        (("<0.2",), "bias", False),
        (("0.2",), "bias", True),
        (("0.2.1", ">=0.2"), "bias", True),
        ((">=0.1,<0.3",), "ease", False),
    ],
)
def test_an_advisory_names_versions_and_methods(
    versions: tuple[str, ...], method: str, concerned: bool
) -> None:
    advisory = advisories.Advisory(id="T", versions=versions, methods=("bias",), text="")
    assert advisory.concerns("0.2.0", method) is concerned


def test_an_advisory_may_except_methods() -> None:
    """Such as all of Tacit's own, where a defect is in what other packages may do."""
    advisory = advisories.Advisory(id="T", versions=("0.2.0",), methods=("*", "!bias"), text="")
    assert advisory.concerns("0.2.0", "outside-mean")
    assert not advisory.concerns("0.2.0", "bias")


def test_entries_hold_time_purpose_and_version(path: Path) -> None:
    charge(open_book(path), laplace(1))
    connection = sqlite3.connect(path)
    [(text,)] = connection.execute("SELECT text FROM entry").fetchall()
    connection.close()
    stored = json.loads(text)
    assert stored["purpose"] == "test"
    assert stored["time"].endswith("+00:00")
    assert stored["version"]
