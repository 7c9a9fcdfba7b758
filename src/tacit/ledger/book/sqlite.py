"""A ledger in one SQLite file.

Guarantee: `write` gives one exclusive transaction. It is on the disk, or it never was; a
process killed at any moment leaves the state before or the state after. No connection
outlives a call, so forks and many processes are safe.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from tacit.errors import BookError, StorageError
from tacit.ledger.book.keyfile import publish, read_key, remember_use, was_used
from tacit.ledger.book.store import FORMAT, Proof, Session

_APPLICATION = 0x54414354  # "TACT" in the file's header


def _entries(name: str) -> str:
    """No key: whoever may write the file must not be able to take the next number."""
    return f"""CREATE TABLE {name} (
    population TEXT NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX {name}_by_number ON {name} (population, number);"""


def _guards(name: str) -> str:
    """No accident changes or removes a row."""
    stop = "BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    return f"""CREATE TRIGGER {name}_stays BEFORE DELETE ON {name} {stop};
CREATE TRIGGER {name}_keeps BEFORE UPDATE ON {name} {stop};"""


_PROOFS = f"""CREATE TABLE proof (
    population TEXT NOT NULL, number INTEGER NOT NULL, hash TEXT NOT NULL, mac TEXT NOT NULL);
CREATE INDEX proof_by_number ON proof (population, number);
{_guards("proof")}"""
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {FORMAT};
{_entries("entry")}
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, mac TEXT NOT NULL,
    format INTEGER NOT NULL);
CREATE TABLE fingerprint (
    mac TEXT NOT NULL, population TEXT NOT NULL, PRIMARY KEY (mac, population)) WITHOUT ROWID;
{_PROOFS}
{_guards("entry")}
"""
_MIGRATION = f"""
{_entries("entries")}
INSERT INTO entries SELECT population, number, text, hash FROM entry;
DROP TABLE entry;
ALTER TABLE entries RENAME TO entry;
ALTER TABLE head ADD COLUMN format INTEGER NOT NULL DEFAULT {FORMAT};
{_PROOFS}
{_guards("entry")}
PRAGMA user_version = {FORMAT};
"""
"""From format 1, in which a row under no seal stood in the way of the next entry, to 2."""
_FIRST_PARTS = ("entry", "head", "fingerprint", "entry_stays", "entry_keeps")
PARTS = (*_FIRST_PARTS, "proof", "proof_stays", "proof_keeps")
"""Tables and triggers that every book has."""


class SQLiteStore:
    """A database file (mode 0600) with its key beside it.

    The file appears under its name complete, and the key after it. So a key without its
    book, or an empty book, was not left by a crash: something removed what was there.
    """

    def __init__(self, path: Path, patience: float = 30.0) -> None:
        self.path = path
        self.place = str(path)
        self.patience = patience
        """Seconds to wait for other processes."""

    @property
    def key_path(self) -> Path:
        """The key file stands beside the ledger file."""
        return self.path.with_name(self.path.name + ".key")

    def key(self, create: bool = False) -> bytes | None:
        return read_key(self.key_path, create)

    def had_entries(self) -> bool:
        """Whether the key file is marked as used: the ledger had entries once."""
        return was_used(self.key_path)

    @contextmanager
    def read(self) -> Iterator[Session | None]:
        """A session that sees one snapshot; None before the first entry."""
        if not self._exists():
            yield None
            return
        with self._errors(), closing(self._connect()) as connection:
            connection.execute("BEGIN")
            self._check_size(connection)
            yield _SQLiteSession(connection, self.place)
            connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session that nobody else writes beside; committed at its end."""
        with self._errors():
            if not self._exists():
                self._create()
            with closing(self._connect()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    self._check_size(connection)
                    if _format(connection) < FORMAT:
                        _migrate(connection)
                    session = _SQLiteSession(connection, self.place)
                    yield session
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        with suppress(sqlite3.Error):
                            connection.execute("ROLLBACK")
                    raise
            if session.sealed:
                remember_use(self.key_path)

    def _exists(self) -> bool:
        with self._errors():
            key = self.key_path.exists()  # before the book: the book is always there first
            book = self.path.exists()
        if key and not book:
            raise BookError(
                "the ledger is gone but its key is there: it was moved or deleted",
                place=self.place,
                remedy="restore it from a backup; to begin anew on purpose, move "
                f"{self.key_path.name} away too",
            )
        return book

    def _create(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(sqlite3.connect(":memory:")) as blank:
            blank.executescript(_SCHEMA)
            publish(self.path, blank.serialize())

    def _connect(self) -> sqlite3.Connection:
        if self.path.stat().st_size == 0:
            raise self._broken("the ledger is empty: it was truncated")
        connection = sqlite3.connect(self.path, timeout=self.patience, isolation_level=None)
        connection.text_factory = lambda raw: raw.decode(
            "utf-8", "replace"
        )  # damaged text then fails its hash
        try:
            connection.execute(
                "PRAGMA synchronous = EXTRA"
            )  # FULL, and the folder after the journal is removed
            connection.execute("PRAGMA trusted_schema = OFF")
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = _format(connection)
            if application != _APPLICATION:
                raise BookError(
                    "this is a database, but not a ledger of Tacit",
                    place=self.place,
                    remedy="give another file",
                )
            if version > FORMAT:
                raise BookError(
                    f"the ledger was made by a newer version (format {version}, known is {FORMAT})",
                    place=self.place,
                    remedy="upgrade tacit",
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_size(self, connection: sqlite3.Connection) -> None:
        """SQLite reads a last page that is cut short as zeros; we do not. Asked inside a
        transaction: no one writes."""
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        if self.path.stat().st_size < pages * size:
            raise self._broken("the ledger is damaged: its file was truncated")

    def _broken(self, message: str) -> BookError:
        return BookError(
            message,
            place=self.place,
            remedy="restore it and its key from a backup, or give another file",
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Speak of the disk and of damage in our own words."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StorageError(
                    f"the ledger was held by other processes for {self.patience:g} s; "
                    "nothing was written",
                    place=self.place,
                    remedy="try again",
                ) from error
            if code in (
                sqlite3.SQLITE_CORRUPT,
                sqlite3.SQLITE_NOTADB,
                sqlite3.SQLITE_ERROR,
                sqlite3.SQLITE_SCHEMA,
            ):
                raise self._broken(f"the ledger is damaged or is no ledger ({error})") from error
            raise StorageError(
                f"the ledger cannot be written ({error}); nothing was written",
                place=self.place,
                remedy="free some space or choose another folder with --ledger or TACIT_HOME",
            ) from error
        except UnicodeDecodeError as error:
            # SQLite quotes the damage, and Python cannot read the quotation
            raise self._broken("the ledger is damaged") from error
        except OSError as error:
            raise StorageError(
                "the ledger cannot be reached "
                f"({error.strerror or type(error).__name__}); nothing was written",
                place=self.place,
                remedy="choose another folder with --ledger or TACIT_HOME, on a local "
                "disk with free space",
            ) from error


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection) -> None:
    """In the transaction under way: statement by statement, as a script would end it."""
    statement = ""
    for line in _MIGRATION.strip().splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


class _SQLiteSession:
    def __init__(self, connection: sqlite3.Connection, location: str) -> None:
        self._do = connection.execute
        self._place = location
        self._old = _format(connection) < FORMAT
        self.sealed = False

    def rows(self, population: str) -> Iterator[tuple[Any, Any, Any]]:
        query = "SELECT number, text, hash FROM entry WHERE population = ? ORDER BY number"
        last_number = 0
        try:
            for number, text, hash in self._do(query, (population,)):
                last_number = number
                yield number, text, hash
        except sqlite3.DatabaseError as error:
            if (getattr(error, "sqlite_errorcode", 0) & 0xFF) != sqlite3.SQLITE_CORRUPT:
                raise
            raise BookError(
                f"the book is damaged: entry {last_number + 1} cannot be read",
                place=self._place,
                remedy="restore the book and its key from a backup, and compare it with "
                "the statements made since",
            ) from error

    def proofs(self, population: str) -> list[tuple[Any, Any, Any]]:
        if self._old:
            return []
        query = "SELECT number, hash, mac FROM proof WHERE population = ? ORDER BY number"
        return self._do(query, (population,)).fetchall()

    def append(
        self,
        population: str,
        number: int,
        text: str,
        hash: str,
        head: tuple[str, str],
        proofs: Sequence[Proof],
    ) -> None:
        self._do("INSERT INTO entry VALUES (?, ?, ?, ?)", (population, number, text, hash))
        for proof in proofs:
            self._do("INSERT INTO proof VALUES (?, ?, ?, ?)", proof)
        self._do("INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?)", (*head, FORMAT))
        self.sealed = True

    def head(self) -> tuple[Any, Any] | None:
        row: tuple[Any, Any] | None = self._do("SELECT text, mac FROM head").fetchone()
        return row

    def populations(self) -> list[Any]:
        return [
            row[0] for row in self._do("SELECT DISTINCT population FROM entry ORDER BY population")
        ]

    def lacks(self) -> list[str]:
        present = {row[0] for row in self._do("SELECT name FROM sqlite_master")}
        parts = _FIRST_PARTS if self._old else PARTS
        return [name for name in parts if name not in present]

    def marks(self) -> list[tuple[Any, Any]]:
        marks: list[tuple[Any, Any]] = self._do(
            "SELECT mac, population FROM fingerprint ORDER BY 1, 2"
        ).fetchall()
        return marks

    def remember(self, mark: str, population: str) -> None:
        self._do("INSERT OR IGNORE INTO fingerprint VALUES (?, ?)", (mark, population))
