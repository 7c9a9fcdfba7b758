"""Who is who: a signing identity that devices pin, exchange keys that rotate under it, and
the secrets that follow.

Guarantee: a device and a server share X25519 secrets from which three kinds of keys are
derived apart from one another (HKDF with different labels): for authenticating messages,
for masks, for nothing else. A server's exchange key is believed only with a signature of
its pinned identity; so a key rotates without enrolling anew, and a message that verifies
comes from the device, or the server, that it names. A device proves its key by using it:
only its owner can make the MAC of an enrolment.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tacit.atomic_write import open_atomic
from tacit.errors import Failure, StorageError, reason
from tacit.noise import bits
from tacit.typed_file import read_json

TICKETS = "tacit/1 tickets"
"""What a server's key for join tickets is derived with, from its identity."""
KEY_BYTES = 32
"""Of every key."""
BLOCK_BYTES = 64
"""Of SHA-256."""
_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))
Key = Annotated[str, StringConstraints(pattern=rf"^[0-9a-f]{{{2 * KEY_BYTES}}}$")]
"""In a file."""
RESTORE = "this file holds the server's keys: restore it from a copy"
KEPT = 3
"""Exchange keys of a server that are still honoured; older ones are forgotten."""


def name_of(public: bytes) -> str:
    """A key's short name; of a device's first key, the device's id."""
    return hashlib.sha256(b"tacit/1 key" + public).hexdigest()[:32]


@dataclass(frozen=True)
class Secrets:
    """What one device and one server share."""

    mac: bytes
    mask: bytes


def secrets(private: bytes, public: bytes) -> Secrets:
    """What the owner of one key shares with the owner of the other.

    Raises a `ValueError` for a public key that would make the secret known to all, such as
    zeros.
    """
    shared_keys = _exchanged(private, public, b"mac", b"mask")
    return Secrets(shared_keys[0], shared_keys[1])


def _exchanged(private: bytes, public: bytes, *labels: bytes) -> list[bytes]:
    """A key for each label, from what the owners of two keys share."""
    shared = _loaded(private).exchange(X25519PublicKey.from_public_bytes(public))
    return [HKDF(hashes.SHA256(), 32, b"tacit/1", label).derive(shared) for label in labels]


@lru_cache(maxsize=8)
def _loaded(private: bytes) -> X25519PrivateKey:
    """A server's few keys stay loaded: loading one costs as much as an exchange."""
    return X25519PrivateKey.from_private_bytes(private)


def public_of(private: bytes) -> bytes:
    """The public half of an exchange key."""
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def new_exchange() -> tuple[bytes, bytes]:
    """(private, public), from fresh entropy."""
    private = bits.fresh().token(32)
    return private, public_of(private)


def derived(secret: bytes, label: str) -> bytes:
    """A key of its own for what the label names: a MAC of it under the secret."""
    return _hmac(secret, label.encode())


def tag(key: bytes, *parts: bytes) -> str:
    """A MAC over parts that cannot run into one another."""
    return _hmac(key, _joined(parts)).hex()


def _hmac(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-256 (RFC 2104). Written out for short keys, which all of ours are: there are
    four in every message, and the library's one call costs what two short messages do."""
    if len(key) > BLOCK_BYTES:
        return hmac.digest(key, message, "sha256")
    padded = key.ljust(BLOCK_BYTES, b"\0")
    inner = hashlib.sha256(padded.translate(_INNER) + message).digest()
    return hashlib.sha256(padded.translate(_OUTER) + inner).digest()


def head_tag(mac: bytes, method: str, path: str, length: int) -> str:
    """What a device says before its body: that it will send so many bytes there. Strangers
    cannot say it, so nothing of theirs is read."""
    fields = (b"head", method.encode(), path.encode(), str(length).encode())
    return tag(mac, *fields)


def rotation_proof(mac: bytes, device: str, stamp: int) -> str:
    """That the owner of a new key wants it: a MAC under the new key, beside the request's
    own under the old one."""
    return tag(mac, b"rotate", device.encode(), str(stamp).encode())


def same(left_key: str, right_key: str) -> bool:
    """Whether two tags are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(left_key.encode(), right_key.encode())


class KeyFile(BaseModel):
    """What is in the file of an identity."""

    model_config = ConfigDict(strict=True)

    sign: Key
    exchange: list[Key] = Field(min_length=1)
    held: dict[str, Key] | Key | None = None


class Identity:
    """A server's keys in one file (mode 0600): the signing identity and its exchange keys,
    newest first, and after them the one that an open round names (`hold`)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            self._write(
                {"sign": bits.fresh().token(32).hex(), "exchange": [bits.fresh().token(32).hex()]}
            )
        self._read()

    def refresh(self) -> None:
        """Take up keys that another process has put into the file since it was read. A file
        that is away for a moment changes nothing."""
        with suppress(OSError):
            if self.path.stat().st_mtime_ns != self._stamp:
                self._read()

    def _read(self) -> None:
        try:
            self._stamp = self.path.stat().st_mtime_ns
        except OSError as error:
            raise StorageError(
                f"{self.path} cannot be read: {reason(error)}", remedy=RESTORE
            ) from None
        keys = read_json(self.path, KeyFile, StorageError, RESTORE)
        self._sign = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(keys.sign))
        self.exchange = [bytes.fromhex(key) for key in keys.exchange]
        held = keys.held or {}
        if isinstance(held, str):  # of a version with one training
            held = {"": held}
        self._held = {holder: bytes.fromhex(key) for holder, key in held.items()}
        self.public = self._sign.public_key().public_bytes_raw()
        self._tickets = derived(self._sign.private_bytes_raw(), TICKETS)
        self.tickets = public_of(self._tickets)
        """The public half of its key for join tickets, which never rotates."""
        honoured = list(self.exchange)
        for held_key in self._held.values():
            if held_key not in honoured:
                honoured.append(held_key)
        publics = [public_of(key) for key in honoured]
        self.by_name = {
            name_of(public): private for public, private in zip(publics, honoured, strict=True)
        }
        self.current = name_of(publics[0])
        self._publics = publics

    def _write(self, content: dict[str, Any]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{self.path} cannot be written: {error.strerror}") from None
        with open_atomic(self.path, private=True, durable=True, remedy=None) as file:
            file.write(json.dumps(content).encode())

    def rotate(self) -> None:
        """A new exchange key; the last few stay valid, so that no device has to enrol again.
        The key that an open round names stays too, however often others are taken."""
        with self._locked():
            self._read()
            retained = [bits.fresh().token(32), *self.exchange][:KEPT]
            self._keep(retained, self._held)

    def hold(self, name: str | None, holder: str = "") -> None:
        """Keep this key until `holder` holds another one, or none: a round of that training is
        keyed to it, and its masks come off with no other.

        It is written only where something changes, which is once in a rotation.
        """
        private = None if name is None else self.by_name[name]
        if private == self._held.get(holder):
            return
        with self._locked():
            self._read()  # another process may have dropped it since
            held = {**self._held}
            held.pop(holder, None)
            if private is not None:
                held[holder] = private
            self._keep(self.exchange, held)

    def _keep(self, exchange: list[bytes], held: dict[str, bytes]) -> None:
        content: dict[str, Any] = {
            "sign": self._sign.private_bytes_raw().hex(),
            "exchange": [key.hex() for key in exchange],
        }
        if held:
            content["held"] = {holder: key.hex() for holder, key in held.items()}
        self._write(content)
        self._read()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time changes the file."""
        try:
            lock = self.path.with_suffix(".lock").open("ab")
        except OSError as error:
            raise StorageError(f"{self.path} cannot be written: {error.strerror}") from None
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def sign(self, *parts: bytes) -> str:
        """A signature over parts that cannot run into one another."""
        return self._sign.sign(_joined(parts)).hex()

    def ticket_key(self, tickets: bytes) -> bytes:
        """What this server and the other, whose `tickets` these are, make join tickets with."""
        return _exchanged(self._tickets, tickets, b"ticket")[0]

    def card(self, enrolment: str = "open") -> dict[str, Any]:
        """What the server shows the world: its keys, and how it enrols devices."""
        listed = [
            {"public": public.hex(), "signature": self.sign(b"exchange", public)}
            for public in self._publics
        ]
        return {
            "identity": self.public.hex(),
            "exchange": listed,
            "enrolment": enrolment,
            "signature": self.sign(b"enrolment", enrolment.encode()),
            "tickets": {
                "public": self.tickets.hex(),
                "signature": self.sign(b"tickets", self.tickets),
            },
        }


def verify(identity: bytes, signature: str, *parts: bytes) -> bool:
    """Whether `Identity.sign` of the owner of this identity made the signature."""
    try:
        Ed25519PublicKey.from_public_bytes(identity).verify(
            bytes.fromhex(signature), _joined(parts)
        )
    except (InvalidSignature, ValueError):
        return False
    return True


def believed(card: dict[str, Any], pin: str | None) -> list[bytes]:
    """The exchange keys of a card, newest first, if its identity is the pinned one.

    Every key on the card must be signed by that identity. Without a pin any identity will
    do, and the caller keeps the one that it saw.
    """
    try:
        identity = bytes.fromhex(card["identity"])
        if identity.hex() != card["identity"]:
            raise ValueError  # one spelling for each identity
        if pin is not None and not same(card["identity"], pin):
            raise Failure(
                "the server is not the one whose identity was pinned",
                remedy="ask its owner before going on",
            )
        keys = [bytes.fromhex(entry["public"]) for entry in card["exchange"]]
        fine = [
            verify(identity, entry["signature"], b"exchange", key)
            for entry, key in zip(card["exchange"], keys, strict=True)
        ]
    except (KeyError, TypeError, ValueError):
        raise Failure("the server's card of keys does not parse") from None
    if not keys or not all(fine):
        raise Failure("the server's exchange keys are not signed by its identity")
    return keys


def enrolment_of(card: dict[str, Any], pin: bytes) -> str:
    """How a server says that it enrols devices; empty if it did not sign that."""
    terms, signature = card.get("enrolment"), card.get("signature")
    if not isinstance(terms, str) or not isinstance(signature, str):
        return ""
    return terms if verify(pin, signature, b"enrolment", terms.encode()) else ""


def tickets_of(card: dict[str, Any], pin: bytes) -> bytes | None:
    """A server's key for join tickets; None if its identity did not sign it."""
    try:
        public = bytes.fromhex(card["tickets"]["public"])
        signature = card["tickets"]["signature"]
    except (KeyError, TypeError, ValueError):
        return None
    fine = isinstance(signature, str) and len(public) == KEY_BYTES
    return public if fine and verify(pin, signature, b"tickets", public) else None


@lru_cache(maxsize=200_000)
def shared_secrets(private: bytes, public: bytes) -> Secrets:
    """`secrets`, remembered: an exchange costs more than a message. A server remembers two
    hundred thousand devices, and computes the others anew."""
    return secrets(private, public)


def _joined(parts: tuple[bytes, ...]) -> bytes:
    """The parts, each after its length: no two lists of parts give the same bytes."""
    out = list[bytes]()
    for part in parts:
        out.append(len(part).to_bytes(8, "little"))
        out.append(part)
    return b"".join(out)


# Join tickets: the recommender's word that a device is in an attempt at a round.
#
# Guarantee: an upload counts only with the ticket of its own device for this very attempt. So
# the sum is over devices that joined, whose masks the recommender can take off, and a device
# that was not asked cannot put words into it.
#
# A ticket is a MAC under a key that the two servers share (`Identity.ticket_key`), and that no
# device has. The aggregator could make one too, as it could invent words; the recommender
# takes no sum over a device that did not join. A signature would promise no more, and costs
# both servers thirty times as much.


def ticket(key: bytes, task: str, round_: int, attempt: int, device: str) -> str:
    """A MAC of the recommender. The same again for the same device and attempt."""
    context = f"{task} {round_} {attempt} {device}"
    return tag(key, b"ticket", context.encode())


def is_ticket(claimed: str, key: bytes, task: str, round_: int, attempt: int, device: str) -> bool:
    """Whether the recommender that shares this key gave the ticket to this device."""
    return same(claimed, ticket(key, task, round_, attempt, device))
