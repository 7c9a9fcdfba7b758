"""The book in a PostgreSQL database: conformance, and what is particular to a server."""

from __future__ import annotations

import stat
import subprocess
import threading
from pathlib import Path

import pytest

from tacit.errors import BookError, SettingError, StorageError
from tacit.ledger.book import postgres as module
from tacit.ledger.book.book import Book, open_book
from tacit.ledger.book.postgres import PostgresStore
from tacit.testing.book import BookTests, MakeBook, charge, laplace
from tacit.testing.people import PeopleTests


@pytest.fixture(scope="module")
def database(postgres) -> str:
    return postgres.database()


@pytest.fixture
def url(postgres, database: str) -> str:
    """Empty for each test; a new database for each would take a second."""
    postgres.psql(
        database, "SET client_min_messages = warning", "DROP SCHEMA IF EXISTS tacit_ledger CASCADE"
    )
    return database


class TestPostgresBook(BookTests, PeopleTests):
    """All of the conformance class, on a real server."""

    @pytest.fixture
    def make_book(self, url: str) -> MakeBook:
        return lambda population="default": open_book(url, population)


def test_nothing_is_created_by_looking(postgres, url: str, tacit_home: Path) -> None:
    book = open_book(url)
    book.entries()
    book.check([laplace(1)], unit="user", budget=None)
    assert (
        postgres.psql(url, "SELECT count(*) FROM pg_namespace WHERE nspname = 'tacit_ledger'")
        == "0\n"
    )
    assert list(tacit_home.iterdir()) == []


def test_the_key_is_the_owners_alone_and_not_in_the_database(
    postgres, url: str, tacit_home: Path
) -> None:
    charge(open_book(url), laplace(1))
    [key] = tacit_home.iterdir()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    dump = subprocess.run(["pg_dump", url], check=True, capture_output=True).stdout
    assert b"tacit_ledger.entry" in dump
    assert key.read_bytes().hex().encode() not in dump


def test_the_key_may_be_kept_elsewhere(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_LEDGER_KEY", str(tmp_path / "secret"))
    charge(open_book(url), laplace(1))
    # 32 bytes, and one that remembers the first entry.
    assert (tmp_path / "secret").stat().st_size == 33


def test_another_machine_needs_the_key(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge(open_book(url), laplace(1))
    monkeypatch.setenv("TACIT_HOME", str(tmp_path))
    with pytest.raises(BookError, match="key of the book is missing"):
        charge(open_book(url), laplace(1))


def test_errors_never_show_a_password() -> None:
    store = PostgresStore("postgresql://me:secret@127.0.0.1:1/ledger")
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        Book(store, "default").entries()
    assert "secret" not in str(caught.value)
    assert store.place == "postgresql://127.0.0.1:1/ledger"


def test_an_address_that_is_none_is_refused_without_repeating_it() -> None:
    with pytest.raises(SettingError) as caught:
        open_book("postgresql://me:secret@[::1/ledger?what=1")
    assert "secret" not in str(caught.value)


def test_rows_cannot_be_changed_or_removed_by_accident(postgres, url: str) -> None:
    charge(open_book(url), laplace(1))
    for statement in ("DELETE FROM", "TRUNCATE", "UPDATE"):
        rest = " SET number = 2" if statement == "UPDATE" else ""
        with pytest.raises(subprocess.CalledProcessError) as caught:
            postgres.psql(url, f"{statement} tacit_ledger.entry{rest}")
        assert "append-only" in caught.value.stderr


def test_a_newer_book_says_so(postgres, url: str) -> None:
    charge(open_book(url), laplace(1))
    postgres.psql(url, "INSERT INTO tacit_ledger.migration VALUES (99)")
    with pytest.raises(BookError, match="made by a newer version"):
        open_book(url).entries()
    with pytest.raises(BookError, match="made by a newer version"):
        charge(open_book(url), laplace(1))


def test_tables_of_an_older_version_are_brought_up_to_date(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge(open_book(url), laplace(1))
    monkeypatch.setattr(
        module,
        "MIGRATIONS",
        (*module.MIGRATIONS, "ALTER TABLE tacit_ledger.fingerprint ADD COLUMN made TEXT"),
    )
    charge(open_book(url), laplace(1))
    assert open_book(url).verify().entries == 2


def test_a_step_that_fails_leaves_the_tables_as_they_were(
    postgres, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge(open_book(url), laplace(1))
    monkeypatch.setattr(
        module,
        "MIGRATIONS",
        (*module.MIGRATIONS, "CREATE TABLE tacit_ledger.half (x TEXT); nonsense"),
    )
    with pytest.raises(BookError):
        charge(open_book(url), laplace(1))
    assert postgres.psql(url, "SELECT to_regclass('tacit_ledger.half')") == "\n"


def test_another_databases_tables_are_no_book(postgres, url: str) -> None:
    postgres.psql(url, "CREATE SCHEMA tacit_ledger", "CREATE TABLE tacit_ledger.entry (x TEXT)")
    with pytest.raises(BookError, match="no ledger"):
        charge(open_book(url), laplace(1))


def test_a_locked_book_is_a_storage_error(url: str) -> None:
    import psycopg

    charge(open_book(url), laplace(1))
    with psycopg.connect(url) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s)", (module._LOCK,))
        with pytest.raises(StorageError, match="other processes"):
            charge(Book(PostgresStore(url, patience=0.05), "default"), laplace(1))


def test_a_reader_never_waits_for_a_writer(url: str) -> None:
    import psycopg

    charge(open_book(url), laplace(1))
    with psycopg.connect(url) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s)", (module._LOCK,))
        assert len(open_book(url).entries()) == 1


def test_readers_see_whole_entries_while_others_write(url: str) -> None:
    """Rows and seal are read in one snapshot, or a busy book would look damaged."""
    charge(open_book(url), laplace(0.001))
    ended = threading.Event()

    def write() -> None:
        for _ in range(30):
            charge(open_book(url), laplace(0.001))
        ended.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not ended.is_set():
        open_book(url).entries()
    thread.join()
    assert open_book(url).verify().entries == 31


def test_a_server_without_fsync_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = PostgresStore._one
    monkeypatch.setattr(
        PostgresStore,
        "_one",
        staticmethod(lambda c, query: "off" if query == "SHOW fsync" else usual(c, query)),
    )
    with pytest.raises(StorageError, match="fsync"):
        charge(open_book(url), laplace(1))


def test_a_user_without_rights_is_told_so(postgres, url: str) -> None:
    postgres.psql(url, "DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    with pytest.raises(StorageError, match="may not use"):
        charge(open_book(url.replace("tacit@", "guest@")), laplace(1))


def test_a_user_needs_few_rights_after_the_first_charge(postgres, url: str) -> None:
    """The rights that docs/operate.md lists: none to change or remove an entry."""
    charge(open_book(url), laplace(1))
    postgres.psql(
        url,
        "DROP ROLE IF EXISTS clerk",
        "CREATE ROLE clerk LOGIN",
        "GRANT USAGE ON SCHEMA tacit_ledger TO clerk",
        "GRANT SELECT ON ALL TABLES IN SCHEMA tacit_ledger TO clerk",
        "GRANT INSERT ON tacit_ledger.entry, tacit_ledger.fingerprint TO clerk",
        "GRANT INSERT, UPDATE ON tacit_ledger.head TO clerk",
    )
    charge(open_book(url.replace("tacit@", "clerk@")), laplace(1))
    assert open_book(url).verify().entries == 2


def test_a_store_without_psycopg_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "psycopg.conninfo", None)
    with pytest.raises(SettingError, match="psycopg"):
        open_book("postgresql://localhost/x")


def test_a_fit_is_charged_to_an_address(url: str) -> None:
    from tacit.data.sample import sample
    from tacit.methods import find

    find("popularity")(epsilon=1.0, ledger=url).fit(
        sample(people=50, ratings=500, seed=1), users=50
    )
    assert [entry.kind for entry in open_book(url).entries()] == ["reserve", "commit"]


def test_the_command_line_takes_an_address(url: str) -> None:
    from click.testing import CliRunner

    from tacit.cli.main import tacit

    run = CliRunner().invoke
    assert run(tacit, ["ledger", "cap", "--epsilon", "2", "--ledger", url]).exit_code == 0
    assert "1 entry" in run(tacit, ["ledger", "verify", "--ledger", url]).output
