"""A ledger in a PostgreSQL database, for services: many machines may charge one book.

Guarantee: `write` holds one lock of the whole book from before its first look until its
commit, which the server has on disk (`synchronous_commit` is asked for, a server without
`fsync` is refused). So charges happen one after another; a client or a server that dies at
any moment leaves the state before or the state after. Where the answer to a commit is lost,
the caller gets an error and draws no noise: budget is wasted, never overspent. No
connection outlives a call.

The key is a file of each machine, never in the database: who can write the tables alone
cannot write a history that verifies. A dump put back from an older day verifies, as an
older file does; statements made since expose it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import BookError, SettingError, StorageError
from tacit.ledger.book.keyfile import read_key, remember_use, was_used
from tacit.ledger.book.store import Session, home

if TYPE_CHECKING:
    import psycopg

_LOCK = 0x5441_4354_4C45_4447  # "TACTLEDG"
_FIRST = """
CREATE TABLE tacit_ledger.entry (
    population TEXT NOT NULL, number BIGINT NOT NULL, text TEXT NOT NULL,
    hash TEXT NOT NULL, PRIMARY KEY (population, number));
CREATE TABLE tacit_ledger.head (
    one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, mac TEXT NOT NULL);
CREATE TABLE tacit_ledger.fingerprint (
    mac TEXT NOT NULL, population TEXT NOT NULL, PRIMARY KEY (mac, population));
CREATE FUNCTION tacit_ledger.stays() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'a ledger is append-only'; END $$;
CREATE TRIGGER entry_stays BEFORE UPDATE OR DELETE ON tacit_ledger.entry
    FOR EACH ROW EXECUTE FUNCTION tacit_ledger.stays();
CREATE TRIGGER entry_keeps BEFORE TRUNCATE ON tacit_ledger.entry
    FOR EACH STATEMENT EXECUTE FUNCTION tacit_ledger.stays();
"""
PARTS = ("entry", "head", "fingerprint", "entry_stays", "entry_keeps")
"""Tables and triggers that every book has."""
MIGRATIONS: tuple[str, ...] = (_FIRST,)
"""Format n of the tables is what the first n steps make. Steps only add: an older process
may still be writing."""


class PostgresStore:
    """See the module. The tables are in a schema of their own, `tacit_ledger`, so a store
    of messages may be beside."""

    def __init__(self, address: str, patience: float = 30.0) -> None:
        try:
            from psycopg.conninfo import conninfo_to_dict
        except ImportError:
            raise SettingError(
                "a ledger in PostgreSQL needs psycopg",
                remedy="install it: pip install 'tacit[service]'",
            ) from None
        import psycopg

        try:
            parts = conninfo_to_dict(address)
        except psycopg.ProgrammingError:  # its words may quote a password
            raise SettingError(
                "the address of the ledger cannot be read",
                remedy="postgresql://user@host:5432/database",
            ) from None

        def told(part: str, variable: str, usual: object) -> str:
            return str(parts.get(part) or os.environ.get(f"PG{variable}") or usual)

        host, port = (told("host", "HOST", "localhost"), told("port", "PORT", "5432"))
        name = told("dbname", "DATABASE", parts.get("user") or "postgres")
        self._address = address
        self.place = f"postgresql://{host}:{port}/{name}"
        self.patience = patience
        """Seconds to wait for other processes."""

    @property
    def key_path(self) -> Path:
        """`TACIT_LEDGER_KEY`, or a file in TACIT_HOME named after the address."""
        given = os.environ.get("TACIT_LEDGER_KEY")
        name = hashlib.sha256(self.place.encode()).hexdigest()[:16]
        return Path(given) if given else home() / f"postgresql-{name}.key"

    def key(self, create: bool = False) -> bytes | None:
        """The book's key, from its file on this side."""
        return read_key(self.key_path, create)

    def had_entries(self) -> bool:
        """Whether the key remembers an entry."""
        return was_used(self.key_path)

    @contextmanager
    def read(self) -> Iterator[Session | None]:
        """A session that sees one snapshot; None before the first entry."""
        with self._connected() as connection:
            # One snapshot: between two looks of a looser transaction another process may
            # have written.
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield (_PostgresSession(connection) if self._exists(connection) else None)
            connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session that nobody else writes beside; committed at its end."""
        with self._connected() as connection:
            with self._locked(
                connection
            ):  # tables come first, on their own: a key without them is then no accident
                if not self._exists(connection) or self._number(connection) < len(MIGRATIONS):
                    self._migrate(connection)
            with self._locked(connection):
                session = _PostgresSession(connection)
                yield session
            if session.sealed:
                remember_use(self.key_path)

    @contextmanager
    def _locked(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """One durable transaction while nobody else writes."""
        connection.execute(
            "BEGIN ISOLATION LEVEL READ COMMITTED"
        )  # each look sees all that came before the lock
        try:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute("SET LOCAL synchronous_commit = on")
            if self._one(connection, "SHOW fsync") != "on":
                raise StorageError(
                    "the PostgreSQL server runs with fsync off: what is charged could be lost",
                    place=self.place,
                    remedy="set fsync = on",
                )
            yield
        except BaseException:
            with suppress(self._error):
                connection.execute("ROLLBACK")
            raise
        try:
            connection.execute("COMMIT")
        except self._error as error:
            raise StorageError(
                f"the connection broke during a commit ({_state(error)}): the entry may "
                "be in the book or not",
                place=self.place,
                remedy="look with `tacit ledger show`; trying again can waste budget but "
                "not overspend it",
            ) from error

    def _exists(self, connection: psycopg.Connection[Any]) -> bool:
        found = self._one(connection, "SELECT to_regclass('tacit_ledger.migration') IS NOT NULL")
        if not found and self.key_path.exists():
            raise BookError(
                "the ledger is gone but its key is there: its tables were dropped, or "
                "this is another database",
                place=self.place,
                remedy="restore it from a backup; to begin anew on purpose, move "
                f"{self.key_path.name} away too",
            )
        if found and (number := self._number(connection)) > len(MIGRATIONS):
            raise BookError(
                f"the ledger was made by a newer version (format {number}, known is "
                f"{len(MIGRATIONS)})",
                place=self.place,
                remedy="upgrade tacit",
            )
        return bool(found)

    def _number(self, connection: psycopg.Connection[Any]) -> int:
        return int(
            self._one(connection, "SELECT coalesce(max(number), 0) FROM tacit_ledger.migration")
        )

    def _migrate(self, connection: psycopg.Connection[Any]) -> None:
        """Under the lock: make the tables, or bring them up to this version."""
        if self._one(connection, "SELECT to_regnamespace('tacit_ledger') IS NULL"):
            connection.execute("CREATE SCHEMA tacit_ledger")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS tacit_ledger.migration (number INTEGER PRIMARY KEY)"
        )
        done = self._number(connection)
        for number, step in enumerate(MIGRATIONS[done:], done + 1):
            connection.execute(step.encode())
            connection.execute("INSERT INTO tacit_ledger.migration VALUES (%s)", (number,))

    @property
    def _error(self) -> type[Exception]:
        import psycopg

        return psycopg.Error

    @staticmethod
    def _one(connection: psycopg.Connection[Any], query: str) -> Any:
        row = connection.execute(query.encode()).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection for one call; faults of the database in our own words, which quote
        nothing of its."""
        import psycopg

        try:
            with psycopg.connect(self._address, autocommit=True, connect_timeout=10) as connection:
                connection.execute(f"SET lock_timeout = {int(self.patience * 1000)}".encode())
                # A client that vanishes without a word must not hold the lock for ever.
                connection.execute("SET idle_in_transaction_session_timeout = 120000")
                yield connection
        except psycopg.errors.LockNotAvailable as error:
            raise StorageError(
                f"the ledger was held by other processes for {self.patience:g} s; nothing "
                "was written",
                place=self.place,
                remedy="try again",
            ) from error
        except psycopg.errors.InsufficientPrivilege as error:
            raise StorageError(
                "this database user may not use the ledger; nothing was written",
                place=self.place,
                remedy="grant CREATE on the database for the first charge; "
                "docs/operate.md lists the rights after it",
            ) from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StorageError(
                f"the ledger cannot be reached ({_state(error)}); nothing was written",
                place=self.place,
                remedy="check the address and the server, and try again",
            ) from error
        except psycopg.Error as error:
            raise BookError(
                f"the ledger is damaged or is no ledger ({_state(error)})",
                place=self.place,
                remedy="restore it and its key from a backup, or give another database",
            ) from error


def _state(error: Exception) -> str:
    state = getattr(error, "sqlstate", None)
    return f"{type(error).__name__}{f' {state}' if state else ''}"


class _PostgresSession:
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._do = connection.execute
        self.sealed = False

    def rows(self, population: str) -> Iterator[tuple[int, str, str]]:
        query = (
            "SELECT number, text, hash FROM tacit_ledger.entry WHERE population = %s "
            "ORDER BY number"
        )
        yield from self._do(query, (population,))

    def append(self, population: str, number: int, text: str, hash: str) -> None:
        self._do(
            "INSERT INTO tacit_ledger.entry VALUES (%s, %s, %s, %s)",
            (population, number, text, hash),
        )

    def head(self) -> tuple[str, str] | None:
        row: tuple[str, str] | None = self._do("SELECT text, mac FROM tacit_ledger.head").fetchone()
        return row

    def set_head(self, text: str, mac: str) -> None:
        self._do(
            "INSERT INTO tacit_ledger.head VALUES (1, %s, %s) "
            "ON CONFLICT (one) DO UPDATE SET text = excluded.text, mac = excluded.mac",
            (text, mac),
        )
        self.sealed = True

    def populations(self) -> list[str]:
        return [
            row[0]
            for row in self._do("SELECT DISTINCT population FROM tacit_ledger.entry ORDER BY 1")
        ]

    def lacks(self) -> list[str]:
        query = (
            "SELECT relname FROM pg_class WHERE relnamespace = 'tacit_ledger'::regnamespace "
            "UNION ALL SELECT tgname FROM pg_trigger "
            "WHERE tgrelid = 'tacit_ledger.entry'::regclass AND tgenabled <> 'D'"
        )
        found = {row[0] for row in self._do(query)}
        return [name for name in PARTS if name not in found]

    def marks(self) -> list[tuple[str, str]]:
        query = "SELECT mac, population FROM tacit_ledger.fingerprint ORDER BY 1, 2"
        return [(row[0], row[1]) for row in self._do(query)]

    def remember(self, mark: str, population: str) -> None:
        self._do(
            "INSERT INTO tacit_ledger.fingerprint VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (mark, population),
        )
