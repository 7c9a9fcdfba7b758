"""Bytes that are answered as they are: compressed once, known by their digest, in whole or in part.

An `Asset` holds everything a conditional GET needs, so that an answer is a look-up and no framework
is asked. Nothing here knows what the bytes mean.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module

from starlette.types import Scope

Headers = list[tuple[bytes, bytes]]

REVALIDATE = "no-cache"
"""May be kept, and is asked for again each time; the answer is then 304 and empty."""
FOREVER = "public, max-age=31536000, immutable"
"""For addresses that hold the digest of what they name."""
SMALL = 600
"""Bytes below which compression is not worth a header."""
GZIP_LEVEL = 9


@dataclass(frozen=True)
class Answered:
    """One answer."""

    status: int
    headers: Headers
    body: bytes = b""


@dataclass(frozen=True)
class _Form:
    """One coding of an asset."""

    body: bytes
    etag: bytes
    full: Headers
    unchanged: Answered


@dataclass(frozen=True, eq=False)
class Asset:
    """Bytes with a type; `kind` is the content type and `label` what metrics call it."""

    label: str
    kind: str
    body: bytes
    cache: str = REVALIDATE
    bodies: Mapping[str, bytes] | None = None
    """By coding, `identity` first; made here unless they are known."""
    more: tuple[tuple[bytes, bytes], ...] = ()
    """Headers of its own."""
    digest: str = field(init=False)
    forms: Mapping[str, _Form] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.body).hexdigest())
        bodies = self.bodies or {"identity": self.body, **_smaller(self.body)}
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "forms", {c: self._form(c, body) for c, body in bodies.items()})

    def _form(self, coding: str, body: bytes) -> _Form:
        suffix = "" if coding == "identity" else f"-{coding}"
        etag = f'"{self.digest[:32]}{suffix}"'.encode()
        shared_headers: Headers = [
            (b"etag", etag),
            (b"cache-control", self.cache.encode()),
            (b"vary", b"accept-encoding, accept"),
            *self.more,
        ]
        full: Headers = [
            *shared_headers,
            (b"content-type", self.kind.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"accept-ranges", b"bytes"),
        ]
        if coding != "identity":
            full.append((b"content-encoding", coding.encode()))
        return _Form(body, etag, full, Answered(304, shared_headers))

    def forever(self) -> Asset:
        """The same under an address that never changes its meaning."""
        return replace(self, cache=FOREVER)

    def reply(self, scope: Scope) -> Answered:
        """To a GET or HEAD."""
        request_headers = _header_map(scope["headers"])
        coding = (
            b"" if b"range" in request_headers else request_headers.get(b"accept-encoding", b"")
        )
        form = self.forms[_coding(coding, tuple(self.forms))]
        etags = request_headers.get(b"if-none-match")
        if etags is not None and self._client_has(etags):
            return form.unchanged
        is_range = b"range" in request_headers and scope["method"] == "GET"
        if is_range and request_headers.get(b"if-range", form.etag) == form.etag:
            return _part(form, request_headers[b"range"], self.kind)
        return Answered(200, form.full, b"" if scope["method"] == "HEAD" else form.body)

    def _client_has(self, listed: bytes) -> bool:
        """Whether the client has it, in whatever coding."""
        if listed.strip() == b"*":
            return True
        tags = {tag.strip().removeprefix(b"W/") for tag in listed.split(b",")}
        return any(form.etag in tags for form in self.forms.values())


@dataclass(frozen=True, eq=False)
class Variants:
    """One thing in several types, chosen by `Accept`; the first is for who does not care."""

    assets: tuple[Asset, ...]

    @property
    def label(self) -> str:
        """What metrics call it."""
        return self.assets[0].label

    def reply(self, scope: Scope) -> Answered:
        """To a GET or HEAD."""
        accept = b", ".join(value for name, value in scope["headers"] if name == b"accept")
        kinds = tuple(asset.kind for asset in self.assets)
        return self.assets[_accepted(accept, kinds)].reply(scope)


def plain(status: int, text: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> Answered:
    """A short answer in words."""
    body = (text + "\n").encode()
    fixed_headers: Headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    return Answered(status, [*fixed_headers, *headers], body)


def _smaller(body: bytes) -> dict[str, bytes]:
    """The codings that pay, best first."""
    codings = dict[str, bytes]()
    if len(body) < SMALL:
        return codings
    with suppress(ImportError):  # an extra of the system, not of Tacit
        codings["br"] = import_module("brotli").compress(body)
    codings["gzip"] = gzip.compress(body, GZIP_LEVEL, mtime=0)
    return {coding: small for coding, small in codings.items() if len(small) < 0.95 * len(body)}


_ASKED = frozenset({b"if-none-match", b"accept-encoding", b"range", b"if-range"})


def _header_map(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    return {name: value for name, value in headers if name in _ASKED}


@lru_cache(256)
def _coding(accept: bytes, offered: tuple[str, ...]) -> str:
    """The best coding that a client takes. `offered` begins with `identity`, then best first."""
    weights = _weights(accept)
    for coding in offered[1:]:
        if weights.get(coding, weights.get("*", 0.0)) > 0:
            return coding
    return "identity"


@lru_cache(256)
def _accepted(accept: bytes, kinds: tuple[str, ...]) -> int:
    """Which of the types a client likes best; the first where it likes none or all."""
    preferences = _weights(accept)
    if not preferences:
        return 0

    def liked(kind: str) -> float:
        bare = kind.split(";", 1)[0]
        group = bare.split("/", 1)[0] + "/*"
        return preferences.get(bare, preferences.get(group, preferences.get("*/*", 0.0)))

    weights = [liked(kind) for kind in kinds]
    return weights.index(max(weights))


def _weights(listed: bytes) -> dict[str, float]:
    """`gzip, br;q=0.5` -> {gzip: 1, br: 0.5}; what does not parse counts as 0."""
    weights = dict[str, float]()
    for part in listed.decode("latin-1").lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                match = re.fullmatch(r"[01](\.\d{0,3})?", parameter[2:])
                weight = float(match[0]) if match else 0.0
        if name:
            weights[name] = weight
    return weights


def _part(form: _Form, range_header: bytes, kind: str) -> Answered:
    """One range; several at once, or one that does not parse, are answered in whole."""
    length = len(form.body)
    match = re.fullmatch(rb"bytes=(\d{0,15})-(\d{0,15})", range_header.strip())
    if match is None or (not match[1] and not match[2]):
        return Answered(200, form.full, form.body)
    if match[1]:
        first = int(match[1])
        last = min(int(match[2]) if match[2] else length - 1, length - 1)
    else:
        first = max(length - int(match[2]), 0)
        last = length - 1
    if first >= length or first > last:
        return plain(416, "no such range", [(b"content-range", f"bytes */{length}".encode())])
    body = form.body[first : last + 1]
    headers: Headers = [
        *form.unchanged.headers,
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"content-range", f"bytes {first}-{last}/{length}".encode()),
        (b"accept-ranges", b"bytes"),
    ]
    return Answered(206, headers, body)
