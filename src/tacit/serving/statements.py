"""A statement as a server gives it: in words, as a page without script, and as its stored bytes."""

from __future__ import annotations

import html
import re

from tacit.ledger.statement.sign import DOMAIN, message
from tacit.ledger.statement.statement import Statement
from tacit.ledger.statement.story import _TITLE, _paragraphs
from tacit.serving.http.answer import Asset, Variants

TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
JSON = "application/json"
SIGNED = "application/vnd.tacit.signed+json"
"""The very bytes that were signed (after `tacit statement 1` and a zero byte): JSON too."""


def statement_assets(name: str, stored: str, style: str) -> dict[str, Asset | Variants]:
    """By suffix; without one `Accept` chooses. `style` is the address of the style sheet."""
    promise = Statement.from_json(stored)
    plain_text = Asset("statement", TEXT, (str(promise) + "\n").encode())
    page = Asset("statement", HTML, statement_page(name, promise, style).encode())
    exact = Asset("statement", JSON, stored.encode())
    forms = (plain_text, page, exact, *_signed(promise))
    return {".txt": plain_text, ".html": page, ".json": exact, "": Variants(forms)}


def _signed(promise: Statement) -> tuple[Asset, ...]:
    """The statement for who checks its signature, with signature and key as headers; nothing if
    nobody signed it."""
    if promise.signature is None or promise.signer is None:
        return ()
    signature_headers = (
        (b"tacit-signature", promise.signature.encode()),
        (b"tacit-key", promise.signer.encode()),
    )
    body = message(promise).removeprefix(DOMAIN)
    return (Asset("statement", SIGNED, body, more=signature_headers),)


def statement_page(name: str, promise: Statement, style: str) -> str:
    """The promise as a page."""
    paragraphs = list[str]()
    for lead, *items in _paragraphs(promise):
        listed = "".join(f"<li>{coded(item)}</li>" for item in items)
        paragraphs.append(f"<li><p>{coded(lead)}</p>{f'<ul>{listed}</ul>' if listed else ''}</li>")
    title = f"Privacy statement: {_TITLE[promise.certified].lower()}"
    body = f"<h1>{html.escape(title)}</h1><p>Model <code>{html.escape(name)}</code></p>"
    return page(f"{title} ({name})", f"{body}<ol>{''.join(paragraphs)}</ol>", style)


def page(title: str, body: str, style: str) -> str:
    """A bare page: no script, no inline style."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{html.escape(title)}</title><link rel="stylesheet" href="{html.escape(style)}">'
        f"</head><body><main>{body}</main></body></html>\n"
    )


def coded(text: str) -> str:
    """Escaped, with `backticks` as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
