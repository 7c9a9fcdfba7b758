"""Headers that every answer carries: what the page may do, which is little."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tacit.errors import SettingError
from tacit.serving.http.answer import Headers

_ORIGIN = re.compile(r"https?://(\[[0-9a-f:]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:\d{1,5})?")
_LOOPBACK = re.compile(r"http://(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?")
_OFF = (
    "accelerometer autoplay browsing-topics camera display-capture geolocation gyroscope hid "
    "magnetometer microphone midi payment publickey-credentials-get serial usb"
).split()
TLS_SECONDS = 31_536_000


def check_origin(text: str) -> str:
    """`https://host[:port]`, or http on this machine: no path, no wildcard."""
    origin = text.strip().lower().rstrip("/")
    if not _ORIGIN.fullmatch(origin):
        raise SettingError(
            f"{text!r} is not an origin", remedy="give https://HOST or https://HOST:PORT"
        )
    if origin.startswith("http://") and not _LOOPBACK.fullmatch(origin):
        raise SettingError(
            f"{text!r} is not secure", remedy="use https, or http on this machine only"
        )
    return origin


def policy(federation: Iterable[str] = ()) -> str:
    """The content policy: this origin only, and the federations that the operator named."""
    rules = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "font-src": "'self'",
        "manifest-src": "'self'",
        "worker-src": "'self'",
        "connect-src": " ".join(["'self'", *federation]),
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "tacit",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def security(federation: Iterable[str] = (), *, tls: bool = False) -> Headers:
    """For every answer, whatever it is."""
    headers = {
        "content-security-policy": policy(federation),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "permissions-policy": ", ".join(f"{name}=()" for name in _OFF),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "origin-agent-cluster": "?1",
    }
    if tls:
        headers["strict-transport-security"] = f"max-age={TLS_SECONDS}"
    return [(name.encode(), value.encode()) for name, value in headers.items()]
