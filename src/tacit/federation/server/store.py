"""Durable state with group commits: many requests, one transaction every few milliseconds,
an answer only after it.

Guarantee: `write` returns after its change is on disk (SQLite in WAL mode with full
synchronisation, or a PostgreSQL commit). Transactions of one store happen one after
another, from however many processes: each holds SQLite's write lock, or a lock of the whole
PostgreSQL store. Works are functions of the database alone that may run again, so a lost
connection repeats the whole batch; each is written so that running twice changes nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import queue
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from tacit.errors import SettingError, StorageError

T = TypeVar("T")
Asked = tuple[Callable[["Session"], Any], Any, Any]
"""A work, the event loop that waits for it (None for a thread) and where its result goes."""
BATCH_SECONDS = 0.004
HANDOVER = 15.0
"""Seconds to wait for a process that is about to stop."""
PATIENCE = 60.0
"""Seconds for which a database that went away is awaited."""


class Refusal(Exception):
    """A request that the rules turn down; nothing was changed by it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Session:
    """One transaction, in SQL that both databases understand; `?` marks a value."""

    def __init__(self, connection: Any, postgres: bool) -> None:
        self._connection, self._postgres = connection, postgres

    def run(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        if self._postgres:
            found = self._connection.execute(text.replace("?", "%s"), values)
            return [tuple(row) for row in found.fetchall()] if found.description else []
        return list(self._connection.execute(text, values).fetchall())

    def changed(self, text: str, *values: Any) -> int:
        """Rows that a statement changed."""
        if self._postgres:
            text = text.replace("?", "%s")
        return int(self._connection.execute(text, values).rowcount)


class _Taken(StorageError):
    """Another process has the store."""


def _hold(path: Path) -> Any:
    """A file that one process at a time can hold; the system lets go of it when that
    process ends, however it ends."""
    import fcntl

    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise _Taken("another process of this server has its store") from None
    return file


class Store:
    """See the module. One thread owns the connection; it starts with the first request and
    ends with `close`.

    `alone`: no second process may have the store; one that starts waits a moment for the
    one that stops.
    """

    def __init__(
        self,
        location: str | Path,
        migrations: Sequence[Sequence[str]],
        name: str,
        alone: bool = False,
    ) -> None:
        scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]+)://", str(location))
        self._postgres = bool(
            scheme and scheme[1].lower() in ("postgres", "postgresql")
        )
        if scheme and not self._postgres and scheme[1].lower() != "sqlite":
            raise SettingError(
                f"no store can be kept at a {scheme[1]}:// address",
                remedy="use a file, or postgresql://",
            )
        self._location = (
            str(location)[len(scheme[0]) :]
            if scheme and not self._postgres
            else str(location)
        )
        self._migrations, self._name = migrations, name
        lock = int.from_bytes(
            hashlib.sha256(f"tacit store {name}".encode()).digest()[:7], "big"
        )
        self._begin = (
            f"BEGIN; SELECT pg_advisory_xact_lock({lock})"
            if self._postgres
            else "BEGIN IMMEDIATE"
        )
        self._queue: queue.SimpleQueue[list[Asked] | None] = queue.SimpleQueue()
        self._gathered: dict[Any, list[Asked]] = {}
        self.commits, self.works = 0, 0
        self._alone = lock + 1 if alone else None
        self._held: Any = None
        self._connection = self._first(time.monotonic() + HANDOVER)
        self._migrate()
        self._thread = threading.Thread(
            target=self._serve, name=f"store-{name}", daemon=True
        )
        self._thread.start()

    async def write(self, work: Callable[[Session], T]) -> T:
        """Run `work` in the next transaction; its result, once durable."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        gathered = self._gathered.get(loop)
        if (
            gathered is None
        ):  # handed over as one: waking the thread for every work would cost more than the work
            gathered = self._gathered[loop] = []
            loop.call_later(BATCH_SECONDS, self._hand_over, loop)
        gathered.append((work, loop, future))
        return await future

    def _hand_over(self, loop: Any) -> None:
        self._queue.put(self._gathered.pop(loop))

    read = write
    """Reads ask the same thread, so they see every write before them."""

    def now(self, work: Callable[[Session], T]) -> T:
        """The same without an event loop, for set-up and tests."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._queue.put([(work, None, done)])
        result = done.get()
        if isinstance(result, BaseException):
            raise result
        return result  # type: ignore[no-any-return]

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        if self._held is not None:
            self._held.close()

    def _first(self, until: float) -> Any:
        while True:
            try:
                return self._connect()
            except _Taken as taken:
                if time.monotonic() > until:
                    raise StorageError(taken.message, remedy="stop it first") from None
                time.sleep(0.1)

    def _connect(self) -> Any:
        if self._postgres:
            import psycopg

            try:
                made = psycopg.connect(
                    self._location, autocommit=True, connect_timeout=10
                )
                made.execute(
                    "SET synchronous_commit = on"
                )  # whatever the server's default is
                ask = f"SELECT pg_try_advisory_lock({self._alone})"
                if self._alone and made.execute(ask).fetchone() != (True,):
                    made.close()
                    raise _Taken("another process of this server has its store")
                return made
            except psycopg.OperationalError:
                raise StorageError(
                    "the PostgreSQL store cannot be reached",
                    remedy="check its address and state",
                ) from None
        try:
            path = Path(self._location)
            path.parent.mkdir(parents=True, exist_ok=True)
            if self._alone:
                self._held = _hold(path.with_name(path.name + ".lock"))
            connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=30
            )
            path.chmod(0o600)
            for pragma in (
                "journal_mode=WAL",
                "synchronous=FULL",
                "busy_timeout=30000",
                "wal_autocheckpoint=4000",
            ):
                connection.execute(f"PRAGMA {pragma}")
            return connection
        except (OSError, sqlite3.Error) as error:
            raise StorageError(
                f"the store {self._location} cannot be opened ({error})"
            ) from None

    def _migrate(self) -> None:
        """Bring the tables up to this version, by numbered steps in one transaction;
        processes take turns."""
        session = Session(self._connection, self._postgres)
        self._connection.execute(self._begin)
        try:
            session.run(
                "CREATE TABLE IF NOT EXISTS migration (name TEXT, number INTEGER, PRIMARY "
                "KEY (name, number))"
            )
            done = {
                row[0]
                for row in session.run(
                    "SELECT number FROM migration WHERE name = ?", self._name
                )
            }
            if done and max(done) >= len(self._migrations):
                raise StorageError(
                    "the store was made by a newer version of Tacit",
                    remedy="upgrade Tacit",
                )
            if not done and session.run("SELECT 1 FROM migration"):
                raise StorageError(
                    "this is the store of another server",
                    remedy="give each server a database of its own",
                )
            for number, statements in enumerate(self._migrations):
                for text in statements if number not in done else ():
                    if self._postgres:
                        text = text.replace("BLOB", "BYTEA").replace(
                            "INTEGER", "BIGINT"
                        )
                    session.run(text)
                session.run(
                    "INSERT INTO migration VALUES (?, ?) ON CONFLICT DO NOTHING",
                    self._name,
                    number,
                )
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _serve(self) -> None:
        ending = False
        while not ending:
            batch = self._queue.get()
            if batch is None:
                break
            while not self._queue.empty():  # what came while the last batch was written
                more = self._queue.get()
                if more is None:
                    ending = True
                    break
                batch += more
            self._answer(batch, self._commit([work for work, _, _ in batch]))
        self._connection.close()

    def _commit(self, works: list[Callable[[Session], Any]]) -> list[Any]:
        """The results of a batch, or the error that each of its works gets."""
        lost = self._lost()
        until = time.monotonic() + PATIENCE
        while True:
            try:
                results = self._once(works)
            except lost:
                if time.monotonic() > until:
                    return [StorageError("the store is away")] * len(works)
                time.sleep(0.2)
                self._again()
                continue
            self.commits += 1
            self.works += len(works)
            return results

    def _once(self, works: list[Callable[[Session], Any]]) -> list[Any]:
        session, results = Session(self._connection, self._postgres), list[Any]()
        self._connection.execute(self._begin)
        for work in works:
            try:
                results.append(work(session))
            except Refusal as refusal:
                results.append(refusal)
            except self._lost():
                raise
            except Exception as error:  # noqa: BLE001 - a fault of one request must not take the others down
                self._connection.execute("ROLLBACK")
                if len(works) == 1:
                    return [error]
                return [self._once([each])[0] for each in works]
        self._connection.execute("COMMIT")
        return results

    def _lost(self) -> tuple[type[BaseException], ...]:
        if not self._postgres:
            return (sqlite3.OperationalError,)
        import psycopg

        return (psycopg.OperationalError, psycopg.InterfaceError)

    def _again(self) -> None:
        """After a fault of the connection: a new one if need be."""
        if not self._postgres:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            return
        with suppress(StorageError):
            self._connection.close()
            self._connection = self._connect()

    @staticmethod
    def _answer(batch: list[Asked], results: list[Any]) -> None:
        by_loop: dict[Any, list[tuple[Any, Any]]] = {}
        for (_, loop, place), result in zip(batch, results, strict=True):
            if loop is None:
                place.put(result)
            else:
                by_loop.setdefault(loop, []).append((place, result))
        for loop, pairs in by_loop.items():
            try:
                loop.call_soon_threadsafe(_settle, pairs)
            except (
                RuntimeError
            ):  # the loop ended meanwhile; what was written stays written
                continue


def _settle(pairs: list[tuple[Any, Any]]) -> None:
    for future, result in pairs:
        if future.done():
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
