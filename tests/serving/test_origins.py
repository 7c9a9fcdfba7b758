"""Pages of listed origins may speak to a server of a federation, and no others."""

from __future__ import annotations

import asyncio
from typing import Any

from tacit.serving.http.plain import Call, PlainRoutes, Reply

PAGE = "https://films.example"


async def told(call: Call) -> Reply:
    return Reply(b"yes", tacit_mac="00")


def ask(method: str, origin: str | None, **headers: str) -> dict[str, Any]:
    app = PlainRoutes({("POST", "/v1/join"): told})
    app.origins = frozenset({PAGE})
    given = [(b"origin", origin.encode())] if origin else []
    given += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {
        "type": "http",
        "method": method,
        "path": "/v1/join",
        "raw_path": b"/v1/join",
        "query_string": b"",
        "headers": given,
        "server": ("127.0.0.1", 1),
        "app": app,
    }
    sent = list[Any]()

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    asyncio.run(app(scope, receive, send))
    return {
        "status": sent[0]["status"],
        **{name.decode(): value.decode() for name, value in sent[0]["headers"]},
    }


def test_a_listed_page_may_ask_and_read() -> None:
    first = ask(
        "OPTIONS",
        PAGE,
        access_control_request_method="POST",
        access_control_request_headers="tacit-mac",
    )
    assert first["status"] == 204
    assert first["access-control-allow-origin"] == PAGE
    assert "tacit-mac" in first["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in first
    answer = ask("POST", PAGE)
    assert answer["status"] == 200
    assert answer["access-control-allow-origin"] == PAGE
    assert "tacit-mac" in answer["access-control-expose-headers"]
    assert answer["vary"] == "origin"


def test_other_pages_and_devices_hear_nothing_of_it() -> None:
    for origin in ("https://other.example", PAGE + ".evil", "null", None):
        answer = ask("POST", origin)
        assert answer["status"] == 200  # a MAC decides, not an origin
        assert not [name for name in answer if name.startswith("access-")]
        first = ask("OPTIONS", origin, access_control_request_method="POST")
        assert first["status"] in (404, 405)
        assert not [name for name in first if name.startswith("access-")]
