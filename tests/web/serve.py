"""A plain server of the page for its tests: files, data from memory, every request counted."""

from __future__ import annotations

import mimetypes
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

from tacit.serving.app import read_page, web_folder

WEB = Path(__file__).parents[2] / "web"
"""The sources."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("application/manifest+json", ".webmanifest")


@cache
def files() -> dict[str, bytes]:
    """The page as the server sends it."""
    return read_page(web_folder())


@cache
def source(name: str) -> bytes | None:
    """A module as it is written, for tests that call it: the page asks for none of these."""
    file = (WEB / name).resolve()
    return file.read_bytes() if file.is_file() and WEB in file.parents else None


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Place:
    """A running server: where it is, what it answers, what it was asked."""

    address: str
    data: dict[str, bytes]
    seen: list[Seen] = field(default_factory=list)
    federation: tuple[str, ...] = ()
    """Servers that the page may join."""
    status: int = 200
    """Of the answers to requests for data; anything else is a server in trouble."""

    def paths(self) -> list[str]:
        return [each.path for each in self.seen]

    def wait_for(self, path: str, times: int, seconds: float = 60.0) -> None:
        """Until it was asked for so often, and no more requests follow at once."""
        end = time.monotonic() + seconds
        while self.paths().count(path) < times:
            assert time.monotonic() < end, f"{path} was not asked for {times} times"
            time.sleep(0.02)
        count = -1
        while count != len(self.seen):
            count = len(self.seen)
            time.sleep(0.3)


class Handler(BaseHTTPRequestHandler):
    """Files of the page, and data by name: `statement` has one answer in json and one in text."""

    place: ClassVar[Place]
    prefix: ClassVar[str]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.place.seen.append(Seen(self.command, self.path, dict(self.headers), body))
        status, kind, sent = self.found()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(sent)))
        near = " ".join(("connect-src 'self'", *self.place.federation))
        policy = POLICY.replace("connect-src 'self'", near)
        self.send_header("content-security-policy", policy)
        self.send_header("cache-control", "no-cache")
        for name, value in self.place.data.items():
            if name.startswith("header ") and self.path.endswith("statement"):
                self.send_header(name.removeprefix("header "), value.decode())
        self.end_headers()
        self.wfile.write(sent)

    def found(self) -> tuple[int, str, bytes]:
        name = self.path.removeprefix(self.prefix).split("?")[0]
        plain = name == "statement" and "text/plain" in self.headers.get("accept", "")
        data = self.place.data.get("statement.txt" if plain else name)
        if data is not None:
            return (self.place.status, "text/plain" if plain else "application/json", data)
        name = name or "index.html"
        body = files().get(name)
        if body is None and name.endswith(".js"):
            body = source(name)
        if body is None:
            return 404, "text/plain", b"not here"
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return 200, kind, body

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@contextmanager
def serving(data: dict[str, bytes], prefix: str = "/", port: int = 0) -> Iterator[Place]:
    """The page with these data, at a free port of this machine, below `prefix`."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    place = Place(f"http://127.0.0.1:{server.server_port}{prefix}", data)
    server.RequestHandlerClass = type("Bound", (Handler,), {"place": place, "prefix": prefix})
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield place
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
