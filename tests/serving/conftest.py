"""Small published models, and a way to ask an application without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from tacit.data.sample import sample, sample_catalogue
from tacit.fitting.run import fit
from tacit.methods import find

TOKEN = "a token of the officer, long enough"


@dataclass(frozen=True)
class Answer:
    """What a client gets."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    raw: tuple[tuple[str, str], ...]

    @property
    def facts(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def _ask(
    app: ASGIApp,
    path: str,
    *,
    method: str = "GET",
    body: bytes = b"",
    query: bytes = b"",
    **headers: str,
) -> Answer:
    """One request; header names with underscores."""
    sent = [(k.replace("_", "-").encode(), v.encode("latin-1")) for k, v in headers.items()]
    if body:
        sent += [(b"content-length", str(len(body)).encode())]
        sent += [(b"content-type", b"application/json")]
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "headers": sent,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    told: list[Message] = []
    pieces: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return pieces.pop() if pieces else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        told.append(message)

    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    start = next(each for each in told if each["type"] == "http.response.start")
    raw = tuple((k.decode(), v.decode("latin-1")) for k, v in start["headers"])
    whole = b"".join(each.get("body", b"") for each in told if each["type"].endswith("body"))
    return Answer(start["status"], dict(raw), whole, raw)


@pytest.fixture
def ask() -> Callable[..., Answer]:
    """`ask(app, path, method=, body=, query=, **headers)`."""
    return _ask


@pytest.fixture
def token() -> str:
    """The officer's."""
    return TOKEN


@pytest.fixture(scope="session")
def shelf_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models and the book that paid for them."""
    home = tmp_path_factory.mktemp("shelf")
    ledger, people = str(home / "ledger.sqlite"), sample(200)
    films = sample_catalogue()
    bias = find("bias")(epsilon=1.0, ledger=ledger, population="viewers", purpose="a first model")
    fit(bias, people, items=films, users=200).save(home / "stars")
    liked = people.take(people.value >= 4)
    liked = replace(liked, schema=replace(people.schema, positive=4.0))
    ease = find("ease")(epsilon=2.0, ledger=ledger, population="viewers", purpose="likes")
    fit(ease, liked, items=films, users=200).save(home / "likes")
    return home


@pytest.fixture(scope="session")
def folders(shelf_folder: Path) -> list[Path]:
    """The models of the shelf."""
    return [shelf_folder / "stars", shelf_folder / "likes"]


@pytest.fixture(scope="session")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of three files, and two that are not for visitors."""
    folder = tmp_path_factory.mktemp("page") / "web"
    (folder / "js").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Tacit</title>" + "<p>film</p>" * 200)
    (folder / "js" / "main.js").write_text("export const one = 1;\n" * 100)
    (folder / "README.md").write_text("not for visitors")
    (folder / ".hidden.js").write_text("1")
    return folder
