"""What a PostgreSQL database does about charges by itself, in SQL: two functions that run as the
owner of the tables, so that whoever charges needs no right to write.

Guarantee: `charge` adds entries that follow the present head, the head that follows from them,
their proofs, and marks; nothing else, and it changes and removes nothing. It answers those who
hold the ledger's key alone: the `gate` is a second key, made of the first one in one direction,
and only the owner of the tables can read it. Caps, and the word that people are others, are
the owner's. Every name is qualified and the search path is fixed, so no object of a caller's
stands in for one of these.

`hold` takes the turn: a lock of the table `head`, which nobody else may take, until the
transaction ends. A caller without the key is refused before any lock.
"""

from __future__ import annotations

import hashlib
import hmac

READABLE = ("entry", "head", "proof", "fingerprint", "migration")
"""What whoever charges reads; the gate is the owner's."""
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
