"""The two databases that a store can be kept in, and the little in which they differ.

SQL is written for SQLite, with `?` for a value; PostgreSQL gets it in its own words. Either
way a transaction begins with a lock of the whole store, so that transactions happen one
after another, from however many processes.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tacit.errors import SettingError, StorageError

PRAGMAS = (
    "page_size=16384",  # of a new file: rows of a round are long
    "journal_mode=WAL",
    "synchronous=FULL",  # a commit is on disk before it is answered
    "busy_timeout=30000",
    "wal_autocheckpoint=1000",
)
"""How SQLite is used."""
BUSY_SECONDS = 30
"""That SQLite waits for another process's transaction."""
CONNECT_SECONDS = 10
"""That PostgreSQL may take to answer."""


class Taken(StorageError):
    """Another process has the store."""

    def __init__(self) -> None:
        super().__init__("another process of this server has its store")


class Transaction:
    """One transaction.

    A work gets one and must not keep it: the transaction ends when all works of a batch have
    run, and a batch may run again with another session.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def run(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that a statement gives; none where it gives none."""
        cursor = self._database.execute(text, values)
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    def execute_many(self, text: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """One statement for each of these rows, of which none gives any."""
        if rows:
            self._database.execute_many(text, rows)

    def changed(self, text: str, *values: Any) -> int:
        """How many rows a statement changed."""
        return int(self._database.execute(text, values).rowcount)


class Database(ABC):
    """A connection that can be made again. `name` is that of the server, `alone` whether no
    second process of it may be connected."""

    lost: tuple[type[BaseException], ...]
    """What is raised when the connection, or the lock, is lost: worth another try."""
    begin: str
    """Begins a transaction that no other one of this store overlaps."""

    def __init__(self, name: str, exclusive: bool) -> None:
        self._alone = exclusive
        self._connection: Any = None
        name_digest = hashlib.sha256(f"tacit store {name}".encode()).digest()
        self._lock = int.from_bytes(name_digest[:7], "big")

    @abstractmethod
    def connect(self) -> None:
        """Connect, for the first time or anew. Raises `Taken` if another process has what
        this one must have alone."""

    @abstractmethod
    def execute(self, text: str, values: tuple[Any, ...] = ()) -> Any:
        """A cursor of what a statement gives; `?` marks the place of each value."""

    @abstractmethod
    def execute_many(self, text: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """A statement for each of these rows, sent as one."""

    @abstractmethod
    def create(self, text: str) -> str:
        """A statement that makes a table, in this database's types."""

    @abstractmethod
    def recover(self) -> None:
        """After `lost`: whatever makes the next try a fair one."""

    def close(self) -> None:
        """End the connection, and let go of what was held alone."""
        self._connection.close()


class Sqlite(Database):
    """A file, and its log beside it, that are their owner's alone."""

    lost = (sqlite3.OperationalError,)
    begin = "BEGIN IMMEDIATE"

    def __init__(self, path: Path, name: str, exclusive: bool) -> None:
        super().__init__(name, exclusive)
        self._path = path
        self._held: Any = None

    def connect(self) -> None:
        """Open the file, which is made if there is none, and readable for its owner alone.

        The lock is on a file beside it, because SQLite's own locks come and go with
        transactions.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._alone:
                self._held = _hold(self._path.with_name(self._path.name + ".lock"))
            self._connection = sqlite3.connect(
                self._path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS
            )
            self._path.chmod(0o600)
            for pragma in PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma}")
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"the store {self._path} cannot be opened ({error})") from None

    def execute(self, text: str, values: tuple[Any, ...] = ()) -> Any:
        """The statement as it is."""
        return self._connection.execute(text, values)

    def execute_many(self, text: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """The statement as it is."""
        self._connection.executemany(text, rows)

    def create(self, text: str) -> str:
        """The statement as it is."""
        return text

    def recover(self) -> None:
        """The file is still there; only the transaction is gone."""
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file, and let another process have it."""
        super().close()
        if self._held is not None:
            self._held.close()


class Postgres(Database):
    """A PostgreSQL database; its locks end with the connection that holds them.

    The driver is imported here alone, so that a federation on files does not need it.
    """

    def __init__(self, url: str, name: str, exclusive: bool) -> None:
        import psycopg

        super().__init__(name, exclusive)
        self._url = url
        self.lost = (psycopg.OperationalError, psycopg.InterfaceError)
        self.begin = f"BEGIN; SELECT pg_advisory_xact_lock({self._lock})"

    def connect(self) -> None:
        """Connect, and wait for every commit to be durable whatever the server's default.

        A process that must be alone takes a second lock, which it holds for as long as the
        connection lasts.
        """
        import psycopg

        try:
            connection = psycopg.connect(
                self._url, autocommit=True, connect_timeout=CONNECT_SECONDS
            )
            connection.execute("SET synchronous_commit = on")
            ask = f"SELECT pg_try_advisory_lock({self._lock + 1})"
            if self._alone and connection.execute(ask).fetchone() != (True,):
                connection.close()
                raise Taken
        except psycopg.OperationalError:
            raise StorageError(
                "the PostgreSQL store cannot be reached", remedy="check its address and state"
            ) from None
        self._connection = connection

    def execute(self, text: str, values: tuple[Any, ...] = ()) -> Any:
        """The statement with the marks of this driver."""
        return self._connection.execute(text.replace("?", "%s"), values)

    def execute_many(self, text: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """The statement with the marks of this driver."""
        with self._connection.cursor() as cursor:
            cursor.executemany(text.replace("?", "%s"), rows)

    def create(self, text: str) -> str:
        """The statement with 64-bit integers, and bytes by their name here."""
        return text.replace("BLOB", "BYTEA").replace("INTEGER", "BIGINT")

    def recover(self) -> None:
        """A new connection, if the server is there."""
        with suppress(StorageError):
            self._connection.close()
            self.connect()


def database_at(location: str | Path, name: str, exclusive: bool) -> Database:
    """The database at a path, a `sqlite://` or a `postgresql://` address. It is not
    connected yet. Any other address is refused: it is no path either."""
    text = str(location)
    scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]+)://", text)
    if scheme is None:
        return Sqlite(Path(text), name, exclusive)
    kind = scheme[1].lower()
    if kind in ("postgres", "postgresql"):
        return Postgres(text, name, exclusive)
    if kind != "sqlite":
        raise SettingError(
            f"no store can be kept at a {scheme[1]}:// address",
            remedy="use a file, or postgresql://",
        )
    return Sqlite(Path(text[len(scheme[0]) :]), name, exclusive)


def _hold(path: Path) -> Any:
    """A file that one process at a time can hold; the system lets go of it when that
    process ends, however it ends."""
    import fcntl

    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise Taken from None
    return file
