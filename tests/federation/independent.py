"""A second implementation of the protocol, written from docs/protocol.md and spec/vectors.

Standard library and `cryptography` only; nothing of Tacit: a device's upload of one round of
`popularity`, and the aggregator's sum. Numbers are those of the page's sections.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ed25519, x25519
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

STEPS = 1 << 20


def joined(*parts: bytes) -> bytes:  # 2
    return b"".join(struct.pack("<Q", len(part)) + part for part in parts)


def tag(key: bytes, *parts: bytes) -> str:  # 2
    return hmac.digest(key, joined(*parts), "sha256").hex()


def verify(identity: str, signature: str, *parts: bytes) -> None:  # 2
    public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(identity))
    public.verify(bytes.fromhex(signature), joined(*parts))


def key_name(public: bytes) -> str:  # 3
    return hashlib.sha256(b"tacit/1 key" + public).hexdigest()[:32]


def exchanged(
    private: bytes, public: bytes, labels: tuple[bytes, ...] = (b"mac", b"mask")
) -> tuple[bytes, ...]:  # 3
    own = x25519.X25519PrivateKey.from_private_bytes(private)
    shared = own.exchange(x25519.X25519PublicKey.from_public_bytes(public))
    return tuple(HKDF(hashes.SHA256(), 32, b"tacit/1", label).derive(shared) for label in labels)


def frame(header: dict, payload: bytes = b"") -> bytes:  # 1
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"TACIT1" + struct.pack("<I", len(text)) + text + payload


def unframed(body: bytes) -> tuple[dict, bytes]:  # 1
    assert body[:6] == b"TACIT1"
    (length,) = struct.unpack("<I", body[6:10])
    return json.loads(body[10 : 10 + length]), body[10 + length :]


def layouts_print(layouts: list[dict]) -> str:  # 5
    lines = [json.dumps(each, separators=(",", ":")) for each in layouts]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def mask(
    secret: bytes, told: dict, digest: str, part: str, count: int, bits: int
) -> list[int]:  # 6
    label = f"{told['task']} {told['round']} {told['nonce']} {digest}"
    key = hmac.digest(secret, label.encode(), "sha256")
    own = hmac.digest(key, part.encode(), "sha256")
    stream = Cipher(algorithms.AES256(own), modes.CTR(bytes(16))).encryptor()
    size = 4 if bits <= 32 else 8
    drawn = stream.update(bytes(count * size))
    words = struct.unpack(f"<{count}{'I' if size == 4 else 'Q'}", drawn)
    return [word % 2**bits for word in words]


def packed(words: list[int], bits: int) -> bytes:  # 5
    whole = sum(word << (bits * k) for k, word in enumerate(words))
    return whole.to_bytes(-(-bits * len(words) // 8), "little")


def popularity(
    items: list[int], values: list[float], size: int, even: int = 30
) -> dict[str, list[int]]:  # 9
    weight = int(STEPS * (1 / math.sqrt(max(len(items), even))))
    weights = [0] * size
    for item in items:
        weights[item] = weight
    total = sum(int(STEPS * max(-2.0, min(2.0, value))) for value in values)
    mean = abs(total) // (len(values) + 5)
    return {"weights": weights, "mean": [mean if total >= 0 else -mean]}


def upload(
    told: dict, payload: bytes, secret: bytes, layouts: list[dict], given: dict[str, list[int]]
) -> bytes:  # 7
    digest = hashlib.sha256(payload).hexdigest()
    out = b""
    for each in layouts:
        bits = each["bits"]
        masks = mask(secret, told, digest, each["name"], each["size"] * each["width"], bits)
        words = [(a + b) % 2**bits for a, b in zip(given[each["name"]], masks, strict=True)]
        out += packed(words, bits)
    header = {"version": 1} | {
        name: told[name] for name in ("task", "round", "attempt", "least", "ticket")
    }
    return frame(header | {"rows": [], "layouts": layouts_print(layouts)}, out)


def summed(opening: bytes, uploads: dict[str, bytes]) -> bytes:  # 8
    told, _ = unframed(opening)
    totals = [[0] * (each["size"] * each["width"]) for each in told["parts"]]
    for device in sorted(uploads):
        _, payload = unframed(uploads[device])
        at = 0
        for each, total in zip(told["parts"], totals, strict=True):
            bits = each["bits"]
            end = at + -(-bits * len(total) // 8)
            whole = int.from_bytes(payload[at:end], "little")
            words = [(whole >> bits * k) % 2**bits for k in range(len(total))]
            at = end
            total[:] = [(a + b) % 2**bits for a, b in zip(total, words, strict=True)]
    payload = b"".join(bytes.fromhex(device) for device in sorted(uploads))
    for each, total in zip(told["parts"], totals, strict=True):
        payload += packed(total, each["bits"])
    header = {"version": 1} | {name: told[name] for name in ("task", "round", "attempt")}
    counts = {"cohort": len(uploads), "cohorts": [len(uploads)]}
    return frame(header | counts | {"rows": []}, payload)
