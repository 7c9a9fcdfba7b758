"""Makes `spec/vectors/federation.json`: the protocol of a federation, to the byte.

    python spec/federation.py

Everything in it follows from fixed keys and numbers, so making it again gives the same file.
`docs/protocol.md` says what the members are; `tests/federation/test_vectors.py` checks them by
code that shares nothing with Tacit.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tacit.federation.protocol.arrays import pack_state
from tacit.federation.protocol.keys import (
    Identity,
    head_tag,
    name_of,
    public_of,
    rotation_proof,
    secrets,
    tag,
    ticket,
)
from tacit.federation.protocol.packing import mask, packed, round_key
from tacit.federation.protocol.wire import (
    Announcement,
    Opening,
    PartLayout,
    Sum,
    Upload,
    digest,
    integers,
    layouts_print,
    pack,
    sections,
    to_words,
    unpack,
)
from tacit.federation.server.aggregator import MIGRATIONS
from tacit.federation.server.store import ServerStore
from tacit.federation.server.uploads import Key, Uploads

FILE = Path(__file__).parent / "vectors" / "federation.json"
TASK = "0123456789abcdef" * 2
LEAST = 2
ID_BYTES = 16
NONCE = "fedcba9876543210" * 2
RECOMMENDER = bytes(range(32))
DEVICES = tuple(bytes([40 + n]) * 32 for n in range(3))
SIGN = bytes(range(64, 96))
AGGREGATOR = bytes(range(128, 160))
"""The aggregator's key for join tickets."""
LAYOUTS = (
    PartLayout(name="weights", size=4, width=1, bits=32),
    PartLayout(name="mean", size=1, width=2, bits=64),
    PartLayout(name="short", size=3, width=1, bits=27),
    PartLayout(name="long", size=1, width=2, bits=43),
)
GIVEN: tuple[dict[str, list[int]], ...] = (
    {
        "weights": [3, 0, -7, 1_048_576],
        "mean": [-1, 2**40],
        "short": [1, -1, 2**24],
        "long": [5, -5],
    },
    {"weights": [0, 0, 0, 0], "mean": [0, 0], "short": [0, 0, 0], "long": [0, 0]},
    {
        "weights": [-(2**20), 5, 5, 5],
        "mean": [12, -(2**41)],
        "short": [7, 7, 7],
        "long": [-(2**40), 1],
    },
)
"""Integers of three devices, part by part."""


def made() -> dict[str, Any]:
    """The whole file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "identity.json"
        facts = {"sign": SIGN.hex(), "exchange": [RECOMMENDER.hex()]}
        path.write_text(json.dumps(facts))
        identity = Identity(path)
        return {
            "keys": _keys(),
            "macs": _macs(identity),
            "frames": _frames(),
            "masks": _masks(),
            "round": _round(identity),
        }


def _keys() -> list[dict[str, str]]:
    public = public_of(RECOMMENDER)
    return [
        {
            "private": each.hex(),
            "public": public_of(each).hex(),
            "name": name_of(public_of(each)),
            "with": public.hex(),
            "mac": secrets(each, public).mac.hex(),
            "mask": secrets(each, public).mask.hex(),
        }
        for each in DEVICES
    ]


def _macs(identity: Identity) -> dict[str, Any]:
    key = bytes(range(32))
    device = name_of(public_of(DEVICES[0]))
    return {
        "key": key.hex(),
        "parts": ["", "ab", "6162"],
        "tag": tag(key, b"", b"\xab", b"ab"),
        "head": head_tag(key, "POST", "/v1/join", 130),
        "request": tag(key, b"request", b"POST", b"/v1/join", b"body"),
        "response": tag(key, b"response", b"00" * 32, b"answer"),
        "rotation": rotation_proof(key, device, 1_700_000_000_000_000_000),
        "device": device,
        "identity": identity.public.hex(),
        "sign": SIGN.hex(),
        "signed": identity.sign(b"task", b"document"),
        "tickets": identity.tickets.hex(),
        "tickets_with": public_of(AGGREGATOR).hex(),
        "ticket_key": _ticket_key(identity).hex(),
        "ticket": ticket(_ticket_key(identity), TASK, 3, 1, device),
    }


def _ticket_key(identity: Identity) -> bytes:
    return identity.ticket_key(public_of(AGGREGATOR))


def _frames() -> dict[str, Any]:
    upload = Upload(task=TASK, round=3, attempt=1, least=2)
    return {
        "upload": pack(upload, b"\x01\x02").hex(),
        "state": pack_state(
            {"people": np.asarray(3.0), "level": np.array([[1.5, -2.0]], np.float32)}
        ).hex(),
        "layouts": [each.model_dump() for each in LAYOUTS],
        "print": layouts_print(LAYOUTS),
    }


def _masks() -> list[dict[str, Any]]:
    secret = bytes(range(100, 132))
    told = digest(b"state")
    key = round_key(secret, TASK, 3, NONCE, told)
    return [
        {
            "secret": secret.hex(),
            "task": TASK,
            "round": 3,
            "nonce": NONCE,
            "told": told,
            "part": "weights",
            "bits": bits,
            "words": [int(word) % 2**bits for word in mask(key, "weights", 3, 1, bits).ravel()],
        }
        for bits in (27, 32, 43, 64)
    ]


def _round(identity: Identity) -> dict[str, Any]:
    """Three devices, from their integers to the sum that the recommender is left with."""
    state = pack_state({"people": np.asarray(3.0)})
    opening = Opening(
        task=TASK, round=0, attempt=0, parts=LAYOUTS, least=LEAST, tickets=identity.tickets.hex()
    )
    uploads, told, totals = {}, {}, _zeros()
    for private, given in zip(DEVICES, GIVEN, strict=True):
        device = name_of(public_of(private))
        signed = ticket(_ticket_key(identity), TASK, 0, 0, device)
        told[device] = pack(_announcement(signed), state)
        uploads[device] = _upload(private, given, digest(state), signed)
        for layout in LAYOUTS:
            body = np.array(given[layout.name], np.int64)
            totals[layout.name] += body
    sum_ = _summed(opening, uploads)
    return {
        "opening": pack(opening).hex(),
        "announced": {name: each.hex() for name, each in told.items()},
        "given": [
            {"private": private.hex(), "integers": given}
            for private, given in zip(DEVICES, GIVEN, strict=True)
        ],
        "uploads": {name: each.hex() for name, each in uploads.items()},
        "sum": sum_.hex(),
        "integers": {name: each.tolist() for name, each in totals.items()},
    }


def _announcement(signed: str) -> Announcement:
    return Announcement(
        task=TASK,
        round=0,
        attempt=0,
        nonce=NONCE,
        key=name_of(public_of(RECOMMENDER)),
        joined=3,
        least=2,
        enough=1,
        seconds=60.0,
        ticket=signed,
    )


def _zeros() -> dict[str, Any]:
    return {layout.name: np.zeros(layout.size * layout.width, np.int64) for layout in LAYOUTS}


def _upload(private: bytes, given: dict[str, list[int]], told: str, signed: str) -> bytes:
    secret = secrets(private, public_of(RECOMMENDER)).mask
    key = round_key(secret, TASK, 0, NONCE, told)
    payload = b""
    for layout in LAYOUTS:
        whole = np.array(given[layout.name], np.int64)
        masked = to_words(whole.reshape(layout.size, layout.width), layout.bits) + mask(
            key, layout.name, layout.size, layout.width, layout.bits
        )
        payload += packed(masked, layout.bits)
    header = Upload(
        task=TASK, round=0, attempt=0, least=2, ticket=signed, layouts=layouts_print(LAYOUTS)
    )
    return pack(header, payload)


def _summed(opening: Opening, uploads: dict[str, bytes]) -> bytes:
    """As an aggregator reveals it, from its store."""

    async def run(place: Path) -> bytes:
        store = ServerStore(place, MIGRATIONS, "aggregator")
        kept = Uploads(store, LEAST)
        key = Key(TASK, 0, 0)
        await kept.open(opening, pack(opening))
        for device, body in uploads.items():
            await kept.keep(key, device, LEAST, body)
        found = await kept.reveal(key, give_up=False)
        store.close()
        assert found is not None
        return found

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(run(Path(folder) / "store"))


def unmasked(found: dict[str, Any]) -> dict[str, list[int]]:
    """The integers of a round's sum, as the recommender takes the masks off."""
    header, payload = unpack(Sum, bytes.fromhex(found["sum"]))
    state = pack_state({"people": np.asarray(3.0)})
    words_at = payload[ID_BYTES * header.cohort :]
    out = {}
    for layout, section in zip(LAYOUTS, sections(LAYOUTS, header.rows, words_at), strict=True):
        left = section.words.copy()
        for private in DEVICES:
            secret = secrets(private, public_of(RECOMMENDER)).mask
            key = round_key(secret, TASK, 0, NONCE, digest(state))
            left -= mask(key, layout.name, layout.size, layout.width, layout.bits)
        out[layout.name] = integers(left, layout.bits).ravel().tolist()
    return out


def main() -> None:
    """Write the file."""
    FILE.write_text(json.dumps(made(), indent=1) + "\n")


if __name__ == "__main__":
    main()
