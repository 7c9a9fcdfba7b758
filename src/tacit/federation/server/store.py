"""Durable state with group commits: many requests, one transaction every few milliseconds,
an answer only after it.

Guarantee: `write` returns after its change is on disk (SQLite in WAL mode with full
synchronisation, or a PostgreSQL commit). Transactions of one store happen one after
another, from however many processes (`tacit.federation.server.database`). Works are
functions of the database alone that may run again, so a lost connection repeats the whole
batch; each is written so that running twice changes nothing.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tacit.errors import StorageError
from tacit.federation.server.database import Taken, Transaction, database_at

__all__ = ["Refusal", "Transaction", "ServerStore"]
T = TypeVar("T")
Work = Callable[[Transaction], Any]
"""What is done in a transaction."""
BATCH_SECONDS = 0.012
"""For which works are gathered before they are handed over: 1,000 uploads of a round are then
some forty commits, and a device waits for others besides."""
BATCH_WORKS = 48
"""That are handed over at once: fewer than the senders who wait for one another in a crowd."""
HANDOVER = 15.0
"""Seconds to wait for a process that is about to stop."""
PATIENCE = 60.0
"""Seconds for which a database that went away is awaited."""
PAUSE = 0.2
"""Seconds between two looks for a database that went away."""


class Refusal(Exception):
    """A request that the rules turn down; nothing was changed by it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class _Request(NamedTuple):
    """A work, and where its result goes."""

    work: Work
    loop: asyncio.AbstractEventLoop | None
    """The event loop that waits for it; None for a thread."""
    place: Any


class ServerStore:
    """See the module. One thread owns the connection; it starts with the first request and
    ends with `close`.

    `migrations` are the numbered steps that make the tables of the server called `name`.
    `alone`: no second process may have the store; one that starts waits a moment for the
    one that stops.
    """

    def __init__(
        self,
        location: str | Path,
        migrations: Sequence[Sequence[str]],
        name: str,
        exclusive: bool = False,
    ) -> None:
        self._database = database_at(location, name, exclusive)
        self._migrations, self._name = migrations, name
        self._queue: queue.SimpleQueue[list[_Request] | None] = queue.SimpleQueue()
        self._gathered: dict[asyncio.AbstractEventLoop, list[_Request]] = {}
        self.commits, self.works = 0, 0
        """Transactions, and works in them: how well works are gathered."""
        self._connect(time.monotonic() + HANDOVER)
        try:
            self._migrate()
        except BaseException:
            self._database.close()
            raise
        self._thread = threading.Thread(target=self._serve, name=f"store-{name}", daemon=True)
        self._thread.start()

    async def write(self, work: Callable[[Transaction], T], soon: bool = False) -> T:
        """Run `work` in the next transaction; its result, once durable. `soon`: without
        waiting for others, where a whole round waits for it.

        A `Refusal` that it raises is raised here, and the other works of the transaction go
        on. Any other error undoes the transaction, and each of its works is run again by
        itself, so that only the one at fault fails. `StorageError` if the database is away
        for longer than `PATIENCE`: then nobody knows whether the work was done.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        gathered = self._gathered.get(loop)
        if gathered is None:
            # handed over as one: waking the thread for every work would cost more than the
            # work
            gathered = self._gathered[loop] = []
            loop.call_later(BATCH_SECONDS, self._hand_over, loop, gathered)
        gathered.append(_Request(work, loop, future))
        if soon or len(gathered) == BATCH_WORKS:
            # after all that is asked at this moment
            loop.call_soon(self._hand_over, loop, gathered)
        return await future

    def _hand_over(self, loop: asyncio.AbstractEventLoop, gathered: list[_Request]) -> None:
        """Give these works to the thread, unless they were handed over before."""
        if self._gathered.get(loop) is gathered:
            self._queue.put(self._gathered.pop(loop))

    read = write
    """Reads ask the same thread, so they see every write before them."""

    def write_blocking(self, work: Callable[[Transaction], T]) -> T:
        """The same without an event loop, for set-up and tests."""
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._queue.put([_Request(work, None, answers)])
        result = answers.get()
        if isinstance(result, BaseException):
            raise result
        return result  # type: ignore[no-any-return]

    def close(self) -> None:
        """Finish what was asked, and let go of the store."""
        self._queue.put(None)
        self._thread.join()

    # ---------------------------------------------------------------- at the start

    def _connect(self, until: float) -> None:
        """The first connection; a process that is about to stop may still have the store."""
        while True:
            try:
                self._database.connect()
            except Taken as error:
                if time.monotonic() > until:
                    raise StorageError(error.message, remedy="stop it first") from None
                time.sleep(0.1)
            else:
                return

    def _migrate(self) -> None:
        """Bring the tables up to this version, by numbered steps in one transaction;
        processes take turns."""
        self._database.execute(self._database.begin)
        try:
            self._take_steps(Transaction(self._database))
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def _take_steps(self, session: Transaction) -> None:
        """The steps that this store has not taken. A store that has taken steps which this
        version does not know, or that belongs to another server, is refused: the two servers
        must not collude, so they do not share a database either."""
        session.run(
            "CREATE TABLE IF NOT EXISTS migration "
            "(name TEXT, number INTEGER, PRIMARY KEY (name, number))"
        )
        rows = session.run("SELECT number FROM migration WHERE name = ?", self._name)
        applied_steps = {row[0] for row in rows}
        if applied_steps and max(applied_steps) >= len(self._migrations):
            raise StorageError(
                "the store was made by a newer version of Tacit", remedy="upgrade Tacit"
            )
        if not applied_steps and session.run("SELECT 1 FROM migration"):
            raise StorageError(
                "this is the store of another server",
                remedy="give each server a database of its own",
            )
        for number, step in enumerate(self._migrations):
            for text in step if number not in applied_steps else ():
                session.run(self._database.create(text))
            session.run(
                "INSERT INTO migration VALUES (?, ?) ON CONFLICT DO NOTHING", self._name, number
            )

    # ---------------------------------------------------------------- in the thread

    def _serve(self) -> None:
        """Batch after batch, until the store is closed; what was asked before is still
        done."""
        ending = False
        while not ending:
            batch = self._queue.get()
            if batch is None:
                break
            while not self._queue.empty():  # what came while the last batch was written
                later = self._queue.get()
                if later is None:
                    ending = True
                    break
                batch += later
            _answer(batch, self._commit([request.work for request in batch]))
        self._database.close()

    def _commit(self, works: list[Work]) -> list[Any]:
        """The results of a batch, or the error that each of its works gets."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                results = self._once(works)
            except self._database.lost:
                if time.monotonic() > until:
                    return [StorageError("the store is away")] * len(works)
                time.sleep(PAUSE)
                self._database.recover()
                continue
            self.commits += 1
            self.works += len(works)
            return results

    def _once(self, works: list[Work]) -> list[Any]:
        """All works in one transaction; each in its own if one of them fails."""
        session, results = Transaction(self._database), list[Any]()
        self._database.execute(self._database.begin)
        for work in works:
            try:
                results.append(work(session))
            except Refusal as refusal:
                results.append(refusal)
            except self._database.lost:
                raise
            except Exception as error:  # noqa: BLE001 - one fault must not take the others down
                self._database.execute("ROLLBACK")
                if len(works) == 1:
                    return [error]
                return [self._once([single])[0] for single in works]
        self._database.execute("COMMIT")
        return results


def _answer(batch: list[_Request], results: list[Any]) -> None:
    """Give every work its result: to a thread at once, to an event loop all of its results
    together."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Any, Any]]] = {}
    for request, result in zip(batch, results, strict=True):
        if request.loop is None:
            request.place.put(result)
        else:
            by_loop.setdefault(request.loop, []).append((request.place, result))
    for loop, pairs in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, pairs)
        except RuntimeError:  # it ended meanwhile; what was written stays written
            continue


def _settle(pairs: list[tuple[Any, Any]]) -> None:
    for future, result in pairs:
        if future.done():
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)


# The tables of both servers, from the files of `sql/`. A file that was released is never
# changed: what is new is a step of its own.


def statements(name: str) -> tuple[str, ...]:
    """The statements of `sql/NAME.sql`, without its comments."""
    text = (files(__package__) / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    code = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    texts = (" ".join(statement.split()) for statement in "\n".join(code).split(";"))
    return tuple(statement for statement in texts if statement)
