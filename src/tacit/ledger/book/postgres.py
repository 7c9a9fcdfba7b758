"""A ledger in a PostgreSQL database, for services: many machines may charge one book.

Guarantee: `write` holds one lock of the whole book from before its first look until its
commit, which the server has on disk (`synchronous_commit` is asked for, a server without
`fsync` is refused). So charges happen one after another; a client or a server that dies at
any moment leaves the state before or the state after. Where the answer to a commit is lost,
the caller gets an error and draws no noise: budget is wasted, never overspent. No
connection outlives a call. Entries, heads and marks are written by functions of the database
alone (see `rights`).

The key is a file of each machine, never in the database: who can write the tables alone
cannot write a history that verifies. A dump put back from an older day verifies, as an
older file does; statements made since expose it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import BookError, SettingError, StorageError
from tacit.ledger.book.keyfile import read_key, remember_use, was_used
from tacit.ledger.book.store import Proof, Session, home

if TYPE_CHECKING:
    import psycopg

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
_FIRST_PARTS = ("entry", "head", "fingerprint", "entry_stays", "entry_keeps")
PARTS = (*_FIRST_PARTS, "proof", "gate", "proof_stays", "proof_keeps", "hold", "charge")
"""Tables, triggers and functions that every book has."""
TABLES = """
ALTER TABLE tacit_ledger.entry DROP CONSTRAINT entry_pkey;
CREATE INDEX entry_by_number ON tacit_ledger.entry (population, number);
ALTER TABLE tacit_ledger.head ADD COLUMN format INTEGER NOT NULL DEFAULT 1;
ALTER TABLE tacit_ledger.head ALTER COLUMN format DROP DEFAULT;
CREATE TABLE tacit_ledger.proof (
    population TEXT NOT NULL, number BIGINT NOT NULL, hash TEXT NOT NULL, mac TEXT NOT NULL);
CREATE INDEX proof_by_number ON tacit_ledger.proof (population, number);
CREATE TRIGGER proof_stays BEFORE UPDATE OR DELETE ON tacit_ledger.proof
    FOR EACH ROW EXECUTE FUNCTION tacit_ledger.stays();
CREATE TRIGGER proof_keeps BEFORE TRUNCATE ON tacit_ledger.proof
    FOR EACH STATEMENT EXECUTE FUNCTION tacit_ledger.stays();
CREATE TABLE tacit_ledger.gate (
    one INTEGER PRIMARY KEY CHECK (one = 1), inside BYTEA NOT NULL, outside BYTEA NOT NULL);
"""
FUNCTIONS = """
CREATE FUNCTION tacit_ledger.is_owner() RETURNS BOOLEAN
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
    $$ SELECT pg_catalog.pg_has_role(session_user, current_user, 'MEMBER') $$;

CREATE FUNCTION tacit_ledger.admit(message TEXT, mac TEXT) RETURNS BOOLEAN
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gate tacit_ledger.gate;
BEGIN
    SELECT * INTO gate FROM tacit_ledger.gate;
    IF NOT FOUND THEN
        IF NOT tacit_ledger.is_owner() THEN
            RAISE EXCEPTION 'the owner charges first' USING ERRCODE = 'insufficient_privilege';
        END IF;
        RETURN FALSE;
    END IF;
    IF (mac = encode(sha256(gate.outside || sha256(
            gate.inside || convert_to(message, 'UTF8'))), 'hex')) IS NOT TRUE THEN
        RAISE EXCEPTION 'not the key of this ledger' USING ERRCODE = 'TA001';
    END IF;
    RETURN TRUE;
END $$;

CREATE FUNCTION tacit_ledger.hold(mac TEXT) RETURNS BOOLEAN
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gated BOOLEAN := tacit_ledger.admit('hold ' || pg_backend_pid(), mac);
BEGIN
    LOCK TABLE tacit_ledger.head IN EXCLUSIVE MODE;
    RETURN gated;
END $$;

CREATE FUNCTION tacit_ledger.charge(request TEXT, mac TEXT) RETURNS VOID
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted JSON; body JSON; last JSONB; heads JSONB; present TEXT;
BEGIN
    PERFORM tacit_ledger.admit(request, mac);
    LOCK TABLE tacit_ledger.head IN EXCLUSIVE MODE;
    wanted := request::json;
    INSERT INTO tacit_ledger.fingerprint
        SELECT m->>0, m->>1 FROM json_array_elements(wanted->'marks') AS m
        ON CONFLICT DO NOTHING;
    IF wanted->>'text' IS NULL THEN
        RETURN;
    END IF;
    SELECT text INTO present FROM tacit_ledger.head;
    IF present IS DISTINCT FROM wanted->>'after' THEN
        RAISE EXCEPTION 'the head is another one' USING ERRCODE = 'TA002';
    END IF;
    body := (wanted->>'text')::json;
    heads := coalesce(present::jsonb->'heads', '{}');
    last := coalesce(heads->(wanted->>'population'), '[0, null]');
    heads := heads || jsonb_build_object(wanted->>'population',
        jsonb_build_array((last->>0)::bigint + 1, wanted->>'hash'));
    IF (encode(sha256(convert_to(wanted->>'text', 'UTF8')), 'hex') = wanted->>'hash'
        AND body->>'population' = wanted->>'population'
        AND (body->>'number')::bigint = (last->>0)::bigint + 1
        AND body->>'previous' = coalesce(last->>1, body->>'previous')
        AND (wanted->>'head')::jsonb->'heads' = heads) IS NOT TRUE THEN
        RAISE EXCEPTION 'no entry that follows the head' USING ERRCODE = 'TA003';
    END IF;
    IF body->>'kind' IN ('cap', 'people') AND NOT tacit_ledger.is_owner() THEN
        RAISE EXCEPTION 'the owner alone' USING ERRCODE = 'TA004';
    END IF;
    INSERT INTO tacit_ledger.entry VALUES (
        wanted->>'population', (body->>'number')::bigint, wanted->>'text', wanted->>'hash');
    INSERT INTO tacit_ledger.proof
        SELECT p->>0, (p->>1)::bigint, p->>2, p->>3 FROM json_array_elements(wanted->'proofs') AS p;
    INSERT INTO tacit_ledger.head VALUES (1, wanted->>'head', wanted->>'mac', 2)
        ON CONFLICT (one) DO UPDATE
        SET text = excluded.text, mac = excluded.mac, format = excluded.format;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tacit_ledger FROM PUBLIC;
"""
FEWER_RIGHTS = """
DO $$
DECLARE
    clerk TEXT; charges BOOLEAN;
BEGIN
    FOR clerk, charges IN SELECT
            CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
            bool_or(a.grantee <> 0 AND a.privilege_type = 'INSERT')
        FROM pg_catalog.pg_class AS c, pg_catalog.aclexplode(c.relacl) AS a
        WHERE c.relnamespace = 'tacit_ledger'::regnamespace AND a.grantee <> c.relowner
        GROUP BY 1
    LOOP
        EXECUTE 'REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER '
            'ON ALL TABLES IN SCHEMA tacit_ledger FROM ' || clerk;
        EXECUTE 'REVOKE ALL ON tacit_ledger.gate FROM ' || clerk;
        EXECUTE 'GRANT SELECT ON tacit_ledger.proof TO ' || clerk;
        IF charges THEN
            EXECUTE 'GRANT EXECUTE ON FUNCTION tacit_ledger.hold(text), '
                'tacit_ledger.charge(text, text) TO ' || clerk;
        END IF;
    END LOOP;
END $$;
"""
"""For those who charged a ledger of before, when that took rights to write."""
MIGRATIONS: tuple[str, ...] = (_FIRST, TABLES + FUNCTIONS + FEWER_RIGHTS)
"""Format n of the tables is what the first n steps make. What a process of an older version
has under way fails after a step, and it begins no more."""
READABLE = ("entry", "head", "proof", "fingerprint", "migration")
"""What whoever charges reads; the gate is the owner's."""


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

        def setting(part: str, variable: str, usual: object) -> str:
            return str(parts.get(part) or os.environ.get(f"PG{variable}") or usual)

        host, port = (setting("host", "HOST", "localhost"), setting("port", "PORT", "5432"))
        name = setting("dbname", "DATABASE", parts.get("user") or "postgres")
        self._address = address
        self.place = f"postgresql://{host}:{port}/{name}"
        self.patience = patience
        """Seconds to wait for other processes."""

    @property
    def key_path(self) -> Path:
        """`TACIT_LEDGER_KEY`, or a file in TACIT_HOME named after the address."""
        configured = os.environ.get("TACIT_LEDGER_KEY")
        name = hashlib.sha256(self.place.encode()).hexdigest()[:16]
        return Path(configured) if configured else home() / f"postgresql-{name}.key"

    def key(self, create: bool = False) -> bytes | None:
        """The book's key, from its file on this side."""
        return read_key(self.key_path, create)

    def had_entries(self) -> bool:
        """Whether the key file is marked as used: the ledger had entries once."""
        return was_used(self.key_path)

    @contextmanager
    def read(self) -> Iterator[Session | None]:
        """A session that sees one snapshot; None before the first entry."""
        with self._connected() as connection:
            # One snapshot: between two looks of a looser transaction another process may
            # have written.
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            exists = self._exists(connection)
            yield (PostgresSession(connection, self) if exists else None)
            connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[PostgresSession]:
        """A session that nobody else writes beside; committed at its end."""
        with self._connected() as connection:
            # Tables come first, on their own: a key without them is then no accident.
            if not self._exists(connection) or self._number(connection) < len(MIGRATIONS):
                self._migrate(connection)
            with self._durable(connection):
                session = PostgresSession(connection, self)
                session.hold()
                yield session
            if session.sealed:
                remember_use(self.key_path)

    @contextmanager
    def _durable(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """One transaction that is on the disk when it ends."""
        connection.execute(
            "BEGIN ISOLATION LEVEL READ COMMITTED"
        )  # each look sees all that came before the lock
        try:
            connection.execute("SET LOCAL synchronous_commit = on")
            if self._scalar(connection, "SHOW fsync") != "on":
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
        exists = self._scalar(
            connection, "SELECT to_regclass('tacit_ledger.migration') IS NOT NULL"
        )
        if not exists and self.key_path.exists():
            raise BookError(
                "the ledger is gone but its key is there: its tables were dropped, or "
                "this is another database",
                place=self.place,
                remedy="restore it from a backup; to begin anew on purpose, move "
                f"{self.key_path.name} away too",
            )
        if exists and (number := self._number(connection)) > len(MIGRATIONS):
            raise BookError(
                f"the ledger was made by a newer version (format {number}, known is "
                f"{len(MIGRATIONS)})",
                place=self.place,
                remedy="upgrade tacit",
            )
        return bool(exists)

    def _number(self, connection: psycopg.Connection[Any]) -> int:
        return int(
            self._scalar(connection, "SELECT coalesce(max(number), 0) FROM tacit_ledger.migration")
        )

    def _migrate(self, connection: psycopg.Connection[Any]) -> None:
        """Make the tables, or bring them up to this version."""
        import psycopg

        faster = (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateSchema)
        try:
            self._create_tables(connection)
        except faster:  # somebody made them meanwhile
            self._create_tables(connection)

    def _create_tables(self, connection: psycopg.Connection[Any]) -> None:
        with self._durable(connection):
            if self._scalar(connection, "SELECT to_regnamespace('tacit_ledger') IS NULL"):
                connection.execute("CREATE SCHEMA tacit_ledger")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS tacit_ledger.migration (number INTEGER PRIMARY KEY)"
            )
            connection.execute("LOCK TABLE tacit_ledger.migration IN EXCLUSIVE MODE")
            applied = self._number(connection)
            for number, step in enumerate(MIGRATIONS[applied:], applied + 1):
                connection.execute(step.encode())
                connection.execute("INSERT INTO tacit_ledger.migration VALUES (%s)", (number,))

    @property
    def _error(self) -> type[Exception]:
        import psycopg

        return psycopg.Error

    @staticmethod
    def _scalar(connection: psycopg.Connection[Any], query: str) -> Any:
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
                remedy="the owner of its tables makes the first charge, also after an upgrade, "
                "with CREATE on the database; then `tacit ledger grant ROLE` lets others charge",
            ) from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StorageError(
                f"the ledger cannot be reached ({_state(error)}); nothing was written",
                place=self.place,
                remedy="check the address and the server, and try again",
            ) from error
        except psycopg.Error as error:
            if error.sqlstate in _REFUSED:
                raise self._refusal(str(error.sqlstate)) from error
            raise BookError(
                f"the ledger is damaged or is no ledger ({_state(error)})",
                place=self.place,
                remedy="restore it and its key from a backup, or give another database",
            ) from error

    def _refusal(self, state: str) -> BookError | StorageError:
        """The error for an SQLSTATE that the ledger's own database functions raise."""
        if state == "TA001":
            has_key = self.key_path.exists()
            return BookError(
                "the book is damaged, or its key belongs to another book"
                if has_key
                else "the key of the book is missing",
                place=self.place,
                remedy="restore it from a backup",
            )
        return StorageError(
            f"{_REFUSED[state]}; nothing was written", place=self.place, remedy=_REMEDIES[state]
        )


_REFUSED = {
    "TA001": "not the key of this ledger",
    "TA002": "another process charged this ledger meanwhile",
    "TA003": "the database takes no entry that does not follow the head",
    "TA004": "this database user may charge, but a cap, and that people are others, is the "
    "owner's to say",
}
_REMEDIES = {
    "TA002": "try again",
    "TA003": "verify the ledger, and try again",
    "TA004": "do it as the role that owns the tables",
}


def _state(error: Exception) -> str:
    state = getattr(error, "sqlstate", None)
    return f"{type(error).__name__}{f' {state}' if state else ''}"


class PostgresSession:
    """Reads and charges within one database transaction."""

    def __init__(self, connection: psycopg.Connection[Any], store: PostgresStore) -> None:
        self._do = connection.execute
        self._process = connection.info.backend_pid
        self._store = store
        self._after: str | None = None
        self._gated = True
        self.sealed = False

    def hold(self) -> None:
        """Take the turn, until the transaction ends."""
        mac = self._mac(f"hold {self._process}")
        row = self._do("SELECT tacit_ledger.hold(%s)", (mac,)).fetchone()
        self._gated = bool(row and row[0])

    def grant(self, role: str) -> None:
        """Let a role charge and read, and nothing else."""
        import psycopg

        query = (
            "SELECT pg_has_role(%s::name, nspowner, 'MEMBER') FROM pg_namespace "
            "WHERE nspname = 'tacit_ledger'"
        )
        try:
            row = self._do(query, (role,)).fetchone()
        except psycopg.errors.UndefinedObject:
            raise SettingError(
                "the database has no such role", remedy="create it first: CREATE ROLE"
            ) from None
        if row and row[0]:
            raise SettingError(
                "this role owns the tables, so it may do anything to them",
                remedy="name another role, which those log in as who charge",
            )
        self._arm()
        for statement in rights(role):
            self._do(statement.encode())

    def _charge(self, request: dict[str, Any]) -> None:
        text = json.dumps(request)
        self._do("SELECT tacit_ledger.charge(%s, %s)", (text, self._mac(text)))

    def _mac(self, message: str) -> str | None:
        key = self._store.key()
        return None if key is None else gate_mac(key, message)

    def _arm(self) -> None:
        """Give the database what shows it the ledger's key; the owner's first charge does."""
        key = self._store.key()
        if not self._gated and key is not None:
            # Somebody may have been faster while this one waited for its turn.
            query = "INSERT INTO tacit_ledger.gate VALUES (1, %s, %s) ON CONFLICT DO NOTHING"
            self._do(query, gate_pads(key))
            self._gated = True

    def rows(self, population: str) -> Iterator[tuple[Any, Any, Any]]:
        query = (
            "SELECT number, text, hash FROM tacit_ledger.entry WHERE population = %s "
            "ORDER BY number"
        )
        yield from self._do(query, (population,))

    def proofs(self, population: str) -> list[tuple[Any, Any, Any]]:
        if self._is_format_1():
            return []
        query = (
            "SELECT number, hash, mac FROM tacit_ledger.proof WHERE population = %s ORDER BY number"
        )
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
        self._charge(
            {
                "after": self._after,
                "population": population,
                "text": text,
                "hash": hash,
                "head": head[0],
                "mac": head[1],
                "proofs": proofs,
                "marks": [],
            }
        )
        self._arm()
        self.sealed = True

    def head(self) -> tuple[Any, Any] | None:
        row: tuple[Any, Any] | None = self._do("SELECT text, mac FROM tacit_ledger.head").fetchone()
        self._after = row[0] if row else None
        return row

    def populations(self) -> list[Any]:
        return [
            row[0]
            for row in self._do("SELECT DISTINCT population FROM tacit_ledger.entry ORDER BY 1")
        ]

    def lacks(self) -> list[str]:
        query = (
            "SELECT relname FROM pg_class WHERE relnamespace = 'tacit_ledger'::regnamespace "
            "UNION ALL SELECT tgname FROM pg_trigger "
            "WHERE tgrelid IN (SELECT oid FROM pg_class WHERE relname IN ('entry', 'proof') "
            "AND relnamespace = 'tacit_ledger'::regnamespace) AND tgenabled <> 'D' "
            "UNION ALL SELECT proname FROM pg_proc "
            "WHERE pronamespace = 'tacit_ledger'::regnamespace"
        )
        present = {row[0] for row in self._do(query)}
        parts = _FIRST_PARTS if self._is_format_1() else PARTS
        return [name for name in parts if name not in present]

    def _is_format_1(self) -> bool:
        """Whether the tables are of format 1, which the next charge brings up to date."""
        query = "SELECT coalesce(max(number), 0) < 2 FROM tacit_ledger.migration"
        row = self._do(query).fetchone()
        return bool(row and row[0])

    def marks(self) -> list[tuple[Any, Any]]:
        query = "SELECT mac, population FROM tacit_ledger.fingerprint ORDER BY 1, 2"
        return [(row[0], row[1]) for row in self._do(query)]

    def remember(self, mark: str, population: str) -> None:
        self._charge({"marks": [(mark, population)]})


# What a PostgreSQL database does about charges by itself, in SQL: two functions that run as the
# owner of the tables, so that whoever charges needs no right to write.
#
# Guarantee: `charge` adds entries that follow the present head, the head that follows from them,
# their proofs, and marks; nothing else, and it changes and removes nothing. It answers those who
# hold the ledger's key alone: the `gate` is a second key, made of the first one in one direction,
# and only the owner of the tables can read it. Caps, and the word that people are others, are
# the owner's. Every name is qualified and the search path is fixed, so no object of a caller's
# stands in for one of these.
#
# `hold` takes the turn: a lock of the table `head`, which nobody else may take, until the
# transaction ends. A caller without the key is refused before any lock.


def rights(role: str) -> tuple[str, ...]:
    """The statements that let a role charge and read, and nothing else."""
    name = '"' + role.replace('"', '""') + '"'
    tables = ", ".join(f"tacit_ledger.{table}" for table in READABLE)
    functions = "tacit_ledger.hold(text), tacit_ledger.charge(text, text)"
    return (
        f"REVOKE ALL ON ALL TABLES IN SCHEMA tacit_ledger FROM {name}",
        f"GRANT USAGE ON SCHEMA tacit_ledger TO {name}",
        f"GRANT SELECT ON {tables} TO {name}",
        f"GRANT EXECUTE ON FUNCTION {functions} TO {name}",
    )


def gate_mac(key: bytes, message: str) -> str:
    """What shows the database that a caller holds the ledger's key."""
    return hmac.new(_gate(key), message.encode(), hashlib.sha256).hexdigest()


def gate_pads(key: bytes) -> tuple[bytes, bytes]:
    """The gate as the database keeps it: the inner and the outer block of HMAC-SHA-256."""
    block = _gate(key).ljust(64, b"\0")
    return bytes(b ^ 0x36 for b in block), bytes(b ^ 0x5C for b in block)


def _gate(key: bytes) -> bytes:
    return hmac.new(key, b"tacit gate\0", hashlib.sha256).digest()
