"""The book in a PostgreSQL database: conformance, and what is particular to a server."""

from __future__ import annotations

import json
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from tacit.errors import BookError, SettingError, StorageError
from tacit.ledger.book import postgres as module
from tacit.ledger.book.book import Book, open_book
from tacit.ledger.book.entry import canonical, sha256
from tacit.ledger.book.listing import check_parts, grant, strays_elsewhere
from tacit.ledger.book.postgres import PostgresStore, gate_mac
from tacit.testing.book import ARTEFACT, BookTests, MakeBook, PeopleTests, charge, laplace


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
        holder.execute("LOCK TABLE tacit_ledger.head IN EXCLUSIVE MODE")
        with pytest.raises(StorageError, match="other processes"):
            charge(Book(PostgresStore(url, patience=0.05), "default"), laplace(1))


def test_a_reader_never_waits_for_a_writer(url: str) -> None:
    import psycopg

    charge(open_book(url), laplace(1))
    with psycopg.connect(url) as holder:
        holder.execute("LOCK TABLE tacit_ledger.head IN EXCLUSIVE MODE")
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
    usual = PostgresStore._scalar
    monkeypatch.setattr(
        PostgresStore,
        "_scalar",
        staticmethod(lambda c, query: "off" if query == "SHOW fsync" else usual(c, query)),
    )
    with pytest.raises(StorageError, match="fsync"):
        charge(open_book(url), laplace(1))


def test_a_user_without_rights_is_told_so(postgres, url: str) -> None:
    postgres.psql(url, "DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    with pytest.raises(StorageError, match="may not use"):
        charge(open_book(url.replace("tacit@", "guest@")), laplace(1))


@pytest.fixture
def clerk(postgres, url: str) -> str:
    """The address of a role as docs/operate.md makes it."""
    postgres.psql(
        url,
        "SET client_min_messages = warning",
        "DROP ROLE IF EXISTS clerk",
        "CREATE ROLE clerk LOGIN",
    )
    charge(open_book(url), laplace(1))
    grant(url, "clerk")
    return url.replace("tacit@", "clerk@")


def test_a_clerk_charges_and_verifies(url: str, clerk: str) -> None:
    receipt = charge(open_book(clerk), laplace(1))
    open_book(clerk).commit(receipt, ARTEFACT)
    open_book(clerk, "other").fingerprint(b"the ratings")
    charge(open_book(clerk, "other"), laplace(1))
    assert open_book(clerk).verify().entries == 3
    check_parts(open_book(clerk))
    assert "'other'" in (open_book(clerk).fingerprint(b"the ratings") or "")


WRITES = [
    "INSERT INTO tacit_ledger.entry VALUES ('default', 2, '{}', 'x')",
    "UPDATE tacit_ledger.entry SET text = ''",
    "DELETE FROM tacit_ledger.entry",
    "TRUNCATE tacit_ledger.entry",
    "INSERT INTO tacit_ledger.proof VALUES ('default', 2, 'x', 'x')",
    "INSERT INTO tacit_ledger.fingerprint VALUES ('x', 'default')",
    "UPDATE tacit_ledger.head SET mac = ''",
    "INSERT INTO tacit_ledger.head VALUES (1, '', '', 2) ON CONFLICT (one) DO UPDATE SET mac = ''",
    "INSERT INTO tacit_ledger.migration VALUES (99)",
    "SELECT * FROM tacit_ledger.gate",
    "INSERT INTO tacit_ledger.gate VALUES (1, '', '')",
    "BEGIN; LOCK TABLE tacit_ledger.head IN ROW EXCLUSIVE MODE",
    "BEGIN; LOCK TABLE tacit_ledger.migration IN EXCLUSIVE MODE",
    "SELECT tacit_ledger.is_owner()",
    "SELECT tacit_ledger.admit('x', 'x')",
    "CREATE FUNCTION tacit_ledger.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT $1'",
    "ALTER FUNCTION tacit_ledger.hold(text) SECURITY INVOKER",
]


@pytest.mark.parametrize("statement", WRITES)
def test_a_clerk_may_write_nothing(postgres, clerk: str, statement: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        postgres.psql(clerk, statement)
    assert "permission denied" in caught.value.stderr or "must be owner" in caught.value.stderr


NONSENSE = [
    "SELECT tacit_ledger.charge('{}', '')",
    "SELECT tacit_ledger.charge(NULL, NULL)",
    "SELECT tacit_ledger.charge('nonsense', repeat('0', 64))",
    """SELECT tacit_ledger.charge('{"marks": [["x", "default"]]}', 'x')""",
    "BEGIN; SELECT tacit_ledger.hold(''); SELECT pg_sleep(60)",
    "SELECT tacit_ledger.hold(NULL)",
]


@pytest.mark.parametrize("statement", NONSENSE)
def test_who_lacks_the_key_charges_nothing(postgres, url: str, clerk: str, statement: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        postgres.psql(clerk, statement)
    assert "not the key of this ledger" in caught.value.stderr
    charge(open_book(url), laplace(1))
    assert open_book(url).verify().entries == 2


def test_no_lock_that_a_clerk_can_take_stops_a_charge(url: str, clerk: str) -> None:
    import psycopg

    with psycopg.connect(clerk) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s)", (0x5441_4354_4C45_4447,))
        tables = ("entry", "head", "proof", "fingerprint", "migration")
        for table in tables:
            holder.execute(f"LOCK TABLE tacit_ledger.{table} IN ACCESS SHARE MODE".encode())
        for table in tables:
            holder.execute(f"SELECT * FROM tacit_ledger.{table}".encode())
        charge(Book(PostgresStore(url, patience=0.5), "default"), laplace(1))
    assert open_book(url).verify().entries == 2


def test_a_clerk_with_the_key_can_take_nothing_back(url: str, clerk: str, tacit_home: Path) -> None:
    """What the database itself checks: a head that forgets, an entry that does not follow, a
    stale charge, an entry that is the owner's."""
    import psycopg

    charge(open_book(url), laplace(1))
    with open_book(url).store.read() as session:
        assert session is not None
        old, _ = session.head()
        [*_, (_, text, digest)] = session.rows("default")
    [path] = tacit_home.glob("postgresql-*.key")
    key = path.read_bytes()[:32]
    entry = json.loads(text) | {"number": 3, "previous": digest}

    def ask(body: dict, state: str, after: str = old, head: dict | None = None) -> None:
        new = canonical(body)
        heads = {"default": [body["number"], sha256(new)]} if head is None else head
        request = json.dumps(
            {
                "after": after,
                "population": "default",
                "text": new,
                "hash": sha256(new),
                "head": canonical({"format": 2, "heads": heads, "totals": {}}),
                "mac": "x",
                "proofs": [],
                "marks": [],
            }
        )
        with psycopg.connect(clerk) as connection, pytest.raises(psycopg.Error) as caught:
            connection.execute(
                "SELECT tacit_ledger.charge(%s, %s)", (request, gate_mac(key, request))
            )
        assert caught.value.sqlstate == state

    ask(entry, "TA003", head={})
    ask(entry, "TA003", head={"default": [1, "0" * 64]})
    ask(entry, "TA003", head={"default": [3, "0" * 64]})
    ask(entry | {"number": 2}, "TA003")
    ask(entry | {"number": 99}, "TA003")
    ask(entry | {"previous": "0" * 64}, "TA003")
    ask(entry | {"population": "other"}, "TA003")
    ask(entry, "TA002", after=old + " ")
    ask(entry | {"kind": "cap"}, "TA004")
    ask(entry | {"kind": "people"}, "TA004")
    assert open_book(url).verify().entries == 2


def test_a_cap_is_the_owners(url: str, clerk: str) -> None:
    with pytest.raises(StorageError, match="is the owner's to say"):
        open_book(clerk).cap(99.0)
    open_book(url).cap(1.0)
    assert open_book(url).verify().entries == 2


def test_a_clerk_does_not_begin_a_ledger(postgres, url: str, clerk: str) -> None:
    """Before the owner's first charge the database knows no key."""
    postgres.psql(url, "DELETE FROM tacit_ledger.gate")
    with pytest.raises(StorageError, match="may not use"):
        charge(open_book(clerk), laplace(1))
    charge(open_book(url), laplace(1))
    charge(open_book(clerk), laplace(1))


def test_rights_are_refused_where_they_would_be_wrong(postgres, url: str) -> None:
    with pytest.raises(BookError, match="no book here"):
        grant(url, "guest")
    charge(open_book(url), laplace(1))
    with pytest.raises(SettingError, match="owns the tables"):
        grant(url, "tacit")
    with pytest.raises(SettingError, match="no such role"):
        grant(url, 'no "role"')
    with pytest.raises(SettingError, match="in PostgreSQL"):
        grant("ledger.sqlite", "guest")


JUNK = [
    "('default', 2, 'junk', 'junk')",
    "('default', 1, '{}', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')",
    "('default', 9223372036854775807, '', '')",
    "('default', -1, '', '')",
    "('never charged', 1, '', '')",
]


@pytest.mark.parametrize("row", JUNK)
def test_a_junk_row_is_shown_not_counted_and_stops_nothing(postgres, url: str, row: str) -> None:
    before = charge(open_book(url), laplace(1)).hash
    spent = open_book(url).spent()
    postgres.psql(url, *[f"INSERT INTO tacit_ledger.entry VALUES {row}"] * 2)
    assert open_book(url).spent() == spent
    charge(open_book(url), laplace(1))
    verified = open_book(url).verify()
    assert verified.entries == 2
    assert open_book(url).contains(before)
    assert len([*verified.strays, *strays_elsewhere(open_book(url))]) == 2


def first_format(postgres, url: str) -> None:
    """The tables as a version of before left them, with its grants."""
    postgres.psql(
        url,
        "SET client_min_messages = warning",
        "DROP TABLE tacit_ledger.proof, tacit_ledger.gate",
        "DROP FUNCTION tacit_ledger.hold, tacit_ledger.charge, tacit_ledger.admit, "
        "tacit_ledger.is_owner",
        "ALTER TABLE tacit_ledger.head DROP COLUMN format",
        "DROP INDEX tacit_ledger.entry_by_number",
        "ALTER TABLE tacit_ledger.entry ADD PRIMARY KEY (population, number)",
        "DELETE FROM tacit_ledger.migration WHERE number = 2",
        "DROP ROLE IF EXISTS clerk",
        "CREATE ROLE clerk LOGIN",
        "GRANT USAGE ON SCHEMA tacit_ledger TO clerk",
        "GRANT SELECT ON ALL TABLES IN SCHEMA tacit_ledger TO clerk",
        "GRANT INSERT ON tacit_ledger.entry, tacit_ledger.fingerprint TO clerk",
        "GRANT INSERT, UPDATE ON tacit_ledger.head TO clerk",
    )


def test_a_ledger_of_before_takes_its_rights_back(postgres, url: str) -> None:
    """A clerk who could insert may charge instead, once the owner has charged."""
    charge(open_book(url), laplace(1))
    charge(open_book(url, "other"), laplace(1))
    first_format(postgres, url)
    clerk = url.replace("tacit@", "clerk@")
    assert open_book(clerk).verify().entries == 1
    check_parts(open_book(clerk))
    with pytest.raises(StorageError, match="also after an upgrade"):
        charge(open_book(clerk), laplace(1))
    charge(open_book(url), laplace(1))
    charge(open_book(clerk), laplace(1))
    assert open_book(clerk).verify().entries == 3
    for statement in WRITES:
        with pytest.raises(subprocess.CalledProcessError):
            postgres.psql(clerk, statement)


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
