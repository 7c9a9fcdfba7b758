"""For the privacy officer: what was spent on whom, by which model, under which cap. Read only.

Everything comes from the book, replayed and checked, so a page that loads is a book that verifies.
It is for the owner: entries have times and purposes, which no statement has.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from tacit.errors import SettingError
from tacit.exports import csv_text
from tacit.ledger.book.book import Book
from tacit.ledger.book.chain import sealed_populations
from tacit.ledger.book.entry import Entry
from tacit.ledger.book.receipts import SHOWN_DELTA
from tacit.ledger.book.rules import BookState
from tacit.ledger.book.store import open_store
from tacit.serving.shelf import Served

SHORTEST = 16
"""Characters of a token."""
REALM = 'Basic realm="tacit officer", charset="UTF-8"'
SLOW = 0.5
"""Seconds that a wrong token has to wait."""
COLUMNS = [
    *("population", "number", "time", "entry", "unit", "method", "purpose", "epsilon", "delta"),
    *("spent", "cap", "artefact", "served_as", "version"),
]
FILE = "audit.json"
MOST = 5_000_000
"""Bytes of such a file that are read."""
NUMBERS = ("claimed", "proven", "measured", "delta")
WORDS = ("method", "unit", "calibration", "attack", "verdict", "note")
MOST_LETTERS = 300
MOST_ROWS = 500


@dataclass(frozen=True)
class Officer:
    """Where the book is, and the digest of the token that opens it."""

    ledger: str | None
    token: bytes

    @classmethod
    def from_file(cls, path: Path, ledger: str | None) -> Officer:
        """The token is the first line of a file."""
        try:
            lines = path.read_text().splitlines()
        except (OSError, UnicodeDecodeError):
            raise SettingError(
                f"the token cannot be read from {path}", remedy="give a text file of one line"
            ) from None
        token = lines[0].strip() if lines else ""
        if len(token) < SHORTEST:
            raise SettingError(
                f"the officer's token is shorter than {SHORTEST} characters",
                remedy="make one with `openssl rand -hex 32`",
            )
        return cls(ledger, hashlib.sha256(token.encode()).digest())

    def admits(self, header: str | None) -> bool:
        """Whether `Authorization` holds the token: as a bearer, or as a browser's password."""
        scheme, credentials = [*(header or "").split(" ", 1), ""][:2]
        secret = credentials.strip().encode()
        if scheme.lower() == "basic":
            try:
                secret = b64decode(secret, validate=True).partition(b":")[2]
            except ValueError:
                secret = b""
        elif scheme.lower() != "bearer":
            secret = b""
        return hmac.compare_digest(hashlib.sha256(secret).digest(), self.token)


def read_book(ledger: str | None, served: Mapping[str, Served]) -> list[dict[str, Any]]:
    """Every population: its totals, and its entries with what had been spent after each."""
    store = open_store(ledger)
    with store.read() as session:
        names = [] if session is None else sealed_populations(store, session)
    name_of_digest = {str(model.facts["digest"]): name for name, model in served.items()}
    return [_population(Book(store, name), name_of_digest) for name in names]


def _population(book: Book, name_of_digest: Mapping[str, str]) -> dict[str, Any]:
    state = BookState()
    rows = list[dict[str, Any]]()
    entries = book.entries()
    artefacts = {entry.of: entry.artefact for entry in entries if entry.kind == "commit"} | {
        entry.number: entry.artefact for entry in entries if entry.kind == "week"
    }
    for entry in entries:
        state.apply(entry)
        rows.append(_row(entry, state, artefacts.get(entry.number), name_of_digest))
    return {
        "population": book.population,
        "entries": rows,
        "spent": [asdict(total) for total in book.spent().units],
        "head": entries[-1].hash if entries else None,
    }


def _row(
    entry: Entry, state: BookState, artefact: str | None, name_of_digest: Mapping[str, str]
) -> dict[str, Any]:
    unit = entry.unit
    spent = state.spent(unit, SHOWN_DELTA) if unit is not None else None
    budget = entry.budget or entry.cap or (None, None)
    return {
        "number": entry.number,
        "time": entry.time,
        "entry": "evaluation" if entry.evaluation else entry.kind,
        "unit": unit,
        "method": entry.method,
        "purpose": entry.purpose,
        "epsilon": budget[0],
        "delta": budget[1],
        "spent": spent.epsilon if spent else None,
        "cap": spent.cap if spent else None,
        "artefact": artefact or entry.artefact,
        "served_as": name_of_digest.get(artefact or ""),
        "version": entry.version,
    }


def as_csv(populations: list[dict[str, Any]]) -> str:
    """One line for each entry; texts that a spreadsheet would run are disarmed."""
    return csv_text(
        COLUMNS,
        (
            {"population": population["population"], **row}
            for population in populations
            for row in population["entries"]
        ),
    )


def add_officer(app: FastAPI, officer: Officer, served: Callable[[], Mapping[str, Served]]) -> None:
    """The routes; all want the token."""
    from tacit.serving.officer_page import officer_page

    async def populations(request: Request) -> list[dict[str, Any]]:
        if not officer.admits(request.headers.get("authorization")):
            await asyncio.sleep(SLOW)
            raise HTTPException(401, "this is for the officer", {"www-authenticate": REALM})
        return await asyncio.to_thread(read_book, officer.ledger, served())

    private = {"cache-control": "no-store"}
    refused: dict[int | str, dict[str, Any]] = {401: {"description": "a token is needed"}}
    options: dict[str, Any] = {"responses": refused, "response_class": Response}

    @app.get("/officer", summary="for the officer: a page", **options)
    async def page(request: Request) -> Response:
        books = await populations(request)
        models = list(served().values())
        audits = await asyncio.to_thread(read_audits, models)
        return HTMLResponse(officer_page(books, models, audits), headers=private)

    @app.get("/officer.json", summary="for the officer: the book", **options)
    async def as_json(request: Request) -> Response:
        books = await populations(request)
        audits = await asyncio.to_thread(read_audits, served().values())
        return JSONResponse({"populations": books, "audits": audits}, headers=private)

    @app.get("/officer.csv", summary="for the officer: every entry as a table", **options)
    async def table(request: Request) -> Response:
        named = {**private, "content-disposition": 'attachment; filename="tacit-book.csv"'}
        return Response(as_csv(await populations(request)), headers=named, media_type="text/csv")


# Audits of served models: the files that `tacit audit --out MODEL/audit.json` wrote beside them.
#
# It is another program's file, so nothing is believed of its form but what is checked here.


def read_audits(served: Iterable[Served]) -> list[dict[str, Any]]:
    """The best attack on each claim, model by model; nothing where there was no audit."""
    return [
        {"model": model.name, **row}
        for model in served
        if model.folder is not None
        for row in _rows(model.folder / FILE)
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        if not path.is_file() or path.stat().st_size > MOST:
            return []
        facts = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return [_unreadable()]
    listed = None
    if isinstance(facts, Mapping):
        listed = facts.get("best") or facts.get("findings")
    if not isinstance(listed, list):
        return [_unreadable()]
    return [_audits_row(entry) for entry in listed[:MOST_ROWS] if isinstance(entry, dict)]


def _audits_row(facts: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: str(facts.get(name) or "")[:MOST_LETTERS] for name in WORDS}
    return texts | {name: _number(facts.get(name)) for name in NUMBERS}


def _number(value: Any) -> float | None:
    """None for what is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) else None


def _unreadable() -> dict[str, Any]:
    return _audits_row({"verdict": "the file cannot be read"})
