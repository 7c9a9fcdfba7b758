"""Signatures of statements: over the canonical text, which names the artefact, by the key of
the book that was charged.

A valid signature says that the holder of that key made the statement for that artefact. It
says nothing about who holds the key: give `--key`, or the book.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tacit.errors import ModelError, SettingError
from tacit.ledger.statement.statement import Statement

DOMAIN = b"tacit statement 1\0"


class Signed(Protocol):
    """What a signer gives back, in hexadecimal."""

    @property
    def signer(self) -> str:
        """The public key."""

    @property
    def signature(self) -> str:
        """Over the message."""


def signed(
    statement: Statement,
    artefact: str,
    sign: Callable[[bytes], Signed],
    signer: str,
    *,
    checked: str | None = None,
) -> Statement:
    """The statement for one artefact (its SHA-256), with a signature. `checked`: against
    what its signer has checked it by making it."""
    # As a reader will have it: with the very fields that stand in its text.
    canonical = Statement.from_json(statement.to_json())
    named = canonical.model_copy(update={"artefact": artefact, "signer": signer})
    signing = sign(message(named))
    signed_statement = named.model_copy(update={"signature": signing.signature})
    return signed_statement if checked is None else signed_statement.with_check(checked)


def message(statement: Statement) -> bytes:
    """The bytes that are signed: every field that stands in the text, but the signature.
    Fields that a later version knows besides do not change them."""
    facts = statement.model_dump(
        mode="json", exclude={"signature"}, exclude_none=True, exclude_unset=True
    )
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return DOMAIN + text.encode()


def check_signature(statement: Statement, artefact: str) -> str | None:
    """The signer's public key if it signed this statement for this artefact; None if nobody
    signed; an error if the signature is wrong."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if statement.signature is None or statement.signer is None:
        return None
    wrong = ModelError(
        "the signature of the statement is wrong: the model or its statement was changed",
        remedy="fetch the model again, from somebody you trust",
    )
    if statement.artefact != artefact:
        raise wrong
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(statement.signer))
        key.verify(bytes.fromhex(statement.signature), message(statement))
    except (InvalidSignature, ValueError):
        raise wrong from None
    return statement.signer


def read_public_key(path: str | Path) -> str:
    """A public key as `tacit ledger key` writes it: 64 hexadecimal digits."""
    try:
        text = Path(path).read_text("ascii", errors="replace").strip()
    except OSError as error:
        raise SettingError(
            f"the key cannot be read ({error.strerror})",
            place=str(path),
            remedy="the owner gets it with `tacit ledger key`",
        ) from None
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise SettingError(
            "this is no public key of a ledger",
            place=str(path),
            remedy="the owner gets it with `tacit ledger key`",
        )
    return text
