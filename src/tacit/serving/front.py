"""The first to see a request: answers what is ready, guards what is not, and adds the headers.

Nearly every request is for a file or for a model that has not changed. These are a look-up here;
the framework behind sees the rest.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tacit.serving.http.answer import Answered, Headers, plain
from tacit.serving.http.bodies import BodyLimits, Refused, whole_body
from tacit.serving.http.plain import in_pieces
from tacit.serving.http.watch import Metrics, log
from tacit.serving.shelf import Shelf

SILENT = frozenset({"recommend"})
"""Answers of which nothing is logged."""
LONGEST_PATH = 200
"""Characters of a path that a log line holds."""
READ = ("GET", "HEAD")


class Front:
    """See the module. `root` is the prefix that a proxy leaves in the path, if any."""

    def __init__(
        self,
        app: ASGIApp,
        shelf: Shelf,
        headers: Headers,
        metrics: Metrics,
        *,
        root: str = "",
        limits: BodyLimits | None = None,
        logs: bool = True,
    ) -> None:
        self.app, self.shelf = app, shelf
        self.headers, self.metrics = headers, metrics
        self.root, self.logs = root.rstrip("/"), logs
        self.limits = limits or BodyLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = in_pieces(send)
        started = time.perf_counter()
        path: str = scope["path"]
        if self.root and not path.startswith(f"{self.root}/"):
            is_root = path == self.root
            step = [(b"location", f"{self.root.rsplit('/', 1)[-1]}/".encode())]
            reply = plain(308, "here", step) if is_root else plain(404, "there is nothing here")
            await self._answer("other", reply, scope, send, started)
            return
        if self.root:
            path = path[len(self.root) :]
            scope = {**scope, "path": path, "raw_path": path.encode()}
        ready = self.shelf.table.get(path)
        if ready is None:
            await self._pass_on(scope, receive, send, started)
        elif scope["method"] in READ:
            await self._answer(ready.label, ready.reply(scope), scope, send, started)
        else:
            reply = plain(405, "this can only be read", [(b"allow", b"GET, HEAD")])
            await self._answer(ready.label, reply, scope, send, started)

    async def _answer(
        self, label: str, reply: Answered, scope: Scope, send: Send, started: float
    ) -> None:
        headers = [*reply.headers, *self.headers]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})
        self._note(label, scope, reply.status, len(reply.body), started)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, started: float) -> None:
        """To the framework, with a body that is whole and not too long."""
        label = _label(scope["path"])
        observed = {"status": 500, "size": 0}

        async def observe(message: Message) -> None:
            if message["type"] == "http.response.start":
                observed["status"] = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), *self.headers]}
            else:
                observed["size"] += len(message.get("body", b""))
            await send(message)

        try:
            if scope["method"] not in READ:
                receive = await whole_body(scope["headers"], receive, self.limits)
        except Refused as refused:
            reply = plain(refused.status, refused.words, [(b"connection", b"close")])
            await self._answer(label, reply, scope, send, started)
            return
        await self.app(scope, receive, observe)
        self._note(label, scope, observed["status"], observed["size"], started)

    def _note(self, label: str, scope: Scope, status: int, size: int, started: float) -> None:
        self.metrics.add("requests", 1, f'what="{label}",status="{status}"')
        self.metrics.add("bytes_out", size)
        if self.logs and label not in SILENT:
            elapsed = round(1000 * (time.perf_counter() - started), 2)
            facts: Mapping[str, object] = {
                "method": scope["method"],
                "path": scope["path"][:LONGEST_PATH],
                "status": status,
                "bytes": size,
                "ms": elapsed,
            }
            log("request", **facts)


def _label(path: str) -> str:
    """Few words, so that metrics stay few."""
    segment = path.rsplit("/", 1)[-1]
    if segment == "recommend":
        return "recommend"
    if path == "/officer" or path.startswith("/officer."):
        return "officer"
    return "other"
