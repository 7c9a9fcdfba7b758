"""What a device remembers: its key, its secret and the servers' identities, and what it is
about to send, each in a file of its own folder."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tacit.atomic_write import open_atomic
from tacit.data.reading.personal import read_personal
from tacit.errors import DataError, Failure, StorageError
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.device.device import Device, Sent
from tacit.federation.device.policy import Policy
from tacit.federation.device.realised import Realised
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.keys import new_exchange
from tacit.federation.protocol.wire import Announcement
from tacit.noise import bits
from tacit.notices import noted, notice

NOTE = "note"
PAYLOAD = "payload"
"""Names in the file of what was sent; personal state is beside them, now and before."""
NOW = "p "
BEFORE = "b "


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Refuse a second process of one device.

    It would pay for the same rounds, and answer them anew under the same masks: with other
    ratings, the difference of the two answers would lie open to the aggregator.
    """
    path = home / "device.lock"
    try:
        file = path.open("ab")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(
                f"another process is the device of {home}",
                remedy="let it end, or give this one a --home of its own",
            ) from None
        yield


def known_facts(home: Path) -> dict[str, Any]:
    """The device's key, secret, label and pins; new ones for a new device."""
    path = home / "device.json"
    if path.is_file():
        facts: dict[str, Any] = json.loads(path.read_text())
        return facts
    new_facts = {
        "private": new_exchange()[0].hex(),
        "secret": bits.fresh().token(32).hex(),
        "label": bits.fresh().below(1 << 53),
    }
    keep_facts(home, new_facts)
    return new_facts


def keep_facts(home: Path, facts: dict[str, Any]) -> None:
    """Write the device's facts down."""
    write_atomically(home / "device.json", json.dumps(facts).encode())


def write_atomically(path: Path, data: bytes) -> None:
    """Whole or not at all, and its owner's alone. What cannot be written is not sent
    either: a disk that is full ends a device in plain words."""
    remedy = "make room, and start the device again: it goes on where it was"
    with open_atomic(path, private=True, durable=True, remedy=remedy) as file:
        file.write(data)


class MemorisedDevice(Device):
    """A device that writes down, before anything is sent, what it is about to send and its
    personal state.

    A process that is killed after that and started again sends the very same words. One that
    is killed before it has paid for words that nobody saw.
    """

    def __init__(
        self, home: Path, assembled: Assembled, ratings: str, policy: Policy, facts: dict[str, Any]
    ) -> None:
        values = own_ratings(assembled, ratings)
        super().__init__(
            assembled,
            int(facts["label"]) % (1 << 53),
            np.array(sorted(values), np.uint32),
            np.array([values[row] for row in sorted(values)]),
            None,
            policy,
            bytes.fromhex(facts["secret"]),
        )
        self.realised = Realised(home)
        self._path = home / f"memory-{assembled.task.name}.safetensors"
        if self._path.is_file():
            self._recall(unpack_state(self._path.read_bytes()))

    def _recall(self, stored: dict[str, Any]) -> None:
        note = json.loads(stored[NOTE].tobytes())
        self.personal = _named(stored, NOW)
        self.turns, self.ran = note["turns"], set(note.get("ran", ()))
        self.sent = Sent(
            note["round"],
            note["asked"],
            tuple(note["rows"]),
            stored[PAYLOAD].tobytes(),
            _named(stored, BEFORE),
        )

    def answer(self, announcement: Announcement, payload: memoryview, mask_secret: bytes) -> bytes:
        """The upload, after it and what it really cost were written down."""
        fresh = not self.has_answer(announcement, payload)
        body = super().answer(announcement, payload, mask_secret)
        if fresh and self.moved:
            write_atomically(self.realised.path, self.realised.add(self.moved))
        sent = self.sent
        if sent is None:
            raise Failure("a device lost what it was about to send")
        note = {
            "round": sent.round,
            "asked": sent.asked,
            "rows": sent.rows,
            "turns": self.turns,
            "ran": sorted(self.ran),
        }
        arrays: dict[str, Any] = {f"{NOW}{n}": a for n, a in self.personal.items()}
        arrays |= {f"{BEFORE}{n}": a for n, a in sent.before.items()}
        arrays[NOTE] = np.frombuffer(json.dumps(note).encode(), np.uint8)
        arrays[PAYLOAD] = np.frombuffer(sent.payload, np.uint8)
        write_atomically(self._path, pack_state(arrays))
        return body


def _named(stored: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The arrays whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in stored.items()
        if name.startswith(prefix)
    }


def own_ratings(assembled: Assembled, path: str) -> dict[int, float]:
    """A person's csv as rows of the task's catalogue and inner values; unknown items are
    left out."""
    catalogue, schema = assembled.public.catalogue, assembled.public.schema
    user_ratings: dict[int, float] = {}
    for text, rating, _, line in read_personal(path):
        row = catalogue.index.get(str(text))
        if row is None:
            rows = catalogue.by_title.get(str(text).casefold().strip(), [])
            row = rows[0] if len(rows) == 1 else None
        if row is None or rating is None:
            continue
        if not schema.low <= float(rating) <= schema.high:
            raise DataError(
                "a rating is outside the scale of the training", place=f"{path}, line {line}"
            )
        user_ratings[row] = (float(rating) - schema.middle) / schema.unit_width
    if not user_ratings:
        # Who stays away for that would show the servers what she rated.
        for tell in (notice, noted):
            tell(
                "none of your items is in the catalogue of this training: your device takes "
                "part and contributes nothing (name items by the catalogue's ids or titles)"
            )
    return user_ratings
