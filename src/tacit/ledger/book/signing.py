"""The signing key of a book: Ed25519, derived from the key beside it.

Whoever holds the book's key can sign, nobody else; the public half may be given to anyone,
and `tacit verify MODEL --key FILE` needs nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DOMAIN = b"tacit statement key 1"
"""Sets this use of the book's key apart from its seal."""


@dataclass(frozen=True)
class Signature:
    """Who signed, and the signature; both in hexadecimal."""

    signer: str
    signature: str


def sign(secret: bytes, message: bytes) -> Signature:
    """Sign with the key that follows from a book's secret."""
    key = _private(secret)
    return Signature(_public(key), key.sign(message).hex())


def public_key(secret: bytes) -> str:
    """The public half, in hexadecimal."""
    return _public(_private(secret))


def _private(secret: bytes) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    seed = HKDF(SHA256(), 32, salt=None, info=DOMAIN).derive(secret)
    return Ed25519PrivateKey.from_private_bytes(seed)


def _public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()
