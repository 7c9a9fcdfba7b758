"""One person's device as a process: its key, its ledger and its memory in one folder, the
finished model at the end.

The process may be killed at any point and started again. What it is about to send is written
down before it is sent, and what it spends is booked before noise is drawn, so it neither
shows two different answers to one round nor spends more than its book says. A folder has one
process at a time: two would answer one round under one mask.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tacit.atomic_write import open_atomic
from tacit.data.reading.personal import read_personal
from tacit.errors import BudgetError, DataError, Failure, StorageError
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.device.client import (
    Away,
    Conversation,
    KnownServer,
    Papers,
    TurnedDown,
    fetch_task,
    too_long,
)
from tacit.federation.device.device import Device, Realised, Sent
from tacit.federation.device.part import Wallet, enrol_patiently, take_part
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.http import Answer, TooLong, Web
from tacit.federation.protocol.keys import name_of, new_exchange, verify
from tacit.federation.protocol.wire import MAGIC, Announcement
from tacit.ledger.book.devices import DeviceBooks, known_book
from tacit.model.model import Model, load
from tacit.noise import bits
from tacit.notices import noted, notice
from tacit.repr import shapes
from tacit.units import Unit

MODEL_TRIES = 120
MODEL_PAUSE = 0.5
"""How often, and every how many seconds, a device asks for the model after the last round."""
FILES = ("arrays.safetensors", "items.json", "statement.json", "model.json")
"""Of a model; the last one makes it whole."""
NOTE = "note"
PAYLOAD = "payload"
"""Names in the file of what was sent; personal state is beside them, now and before."""
NOW = "p "
BEFORE = "b "


def forgot(was_here: bool, device: Device) -> bool:
    """Whether a device may have answered this task before and does not know what: its words
    are lost, or an old copy of its folder was put back.

    It takes a new key then, because under the old one a round that is run again has the
    same mask, and two different answers under one mask show their difference.
    """
    return was_here and device.sent is None


@dataclass(frozen=True)
class Person:
    """Somebody who takes part with her own ratings."""

    url: str
    """Of the recommender."""
    ratings: str
    """Her file of ratings."""
    home: Path
    """The folder of her device."""
    policy: Policy
    papers: Papers = field(default_factory=Papers)
    """What it shows when it enrols."""
    pin: str | None = None
    """The recommender's identity; without it the first one seen is kept."""
    aggregator_pin: str | None = None
    ca: str | None = None
    """Certificates to trust."""
    rounds: int | None = None
    """Leave after so many answers."""
    rotate: bool = False
    """Take a new key first."""
    insecure: bool = False
    """Speak without TLS to other machines too."""
    task: str | None = None
    """Name of the training, where the recommender has several."""

    __repr__ = shapes

    def run(self) -> Model | None:
        """Take part until the training is over; the published model, if there is one by
        then."""
        try:
            return asyncio.run(self._run())
        except (Away, TurnedDown) as error:
            raise Failure(
                f"a server cannot be reached ({error})", remedy="check its address and --ca"
            ) from None

    async def _run(self) -> Model | None:
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with only_one(self.home):
            return await self._run_alone()

    async def _run_alone(self) -> Model | None:
        facts = known_facts(self.home)
        was_here = "pin" in facts
        async with Web(self.ca, insecure=self.insecure) as web:
            recommender = KnownServer(self.url.rstrip("/"), self.pin or facts.get("pin"))
            await recommender.learn(web)
            pin = self.aggregator_pin or facts.get("aggregator")
            assembled, aggregator = await fetch_task(web, recommender, pin, self.task)
            await aggregator.learn(web)
            facts |= {"pin": recommender.pin, "aggregator": aggregator.pin}
            keep_facts(self.home, facts)
            device = MemorisedDevice(self.home, assembled, self.ratings, self.policy, facts)
            private = bytes.fromhex(facts["private"])
            link = Conversation(web, recommender, aggregator, private, facts.get("name"))
            fresh = self.rotate or forgot(was_here, device)
            link = await self._enrolled(link, facts, fresh=fresh)
            device.key_name = name_of(link.public)
            await self._take_part(link, device)
            if self.rounds is not None:
                return None
            max_bytes = assembled.most_published
            return await fetch_model(web, recommender, self.home, self.task, max_bytes)

    async def _enrolled(
        self, link: Conversation, facts: dict[str, Any], *, fresh: bool
    ) -> Conversation:
        """The link, known to both servers, under a `fresh` key if that is wanted.

        A rotation that was cut short has its key in the facts, and is finished first.
        """
        if "name" not in facts:
            await enrol_patiently(link, self.papers)
        if not fresh and "next" not in facts:
            return link
        # written down before it is sent, so that a crash in between loses nothing
        facts.setdefault("next", new_exchange()[0].hex())
        facts["name"] = link.name
        keep_facts(self.home, facts)
        link = await link.rotate(bytes.fromhex(facts["next"]))
        facts["private"] = facts.pop("next")
        keep_facts(self.home, facts)
        return link

    async def _take_part(self, link: Conversation, device: Device) -> None:
        cap = (self.policy.epsilon, self.policy.delta)
        unit = self.policy.unit
        books = DeviceBooks(1, cap, self.home / "ledger", unit=unit)
        wallet = Wallet(books, self.policy.steps(device.made))
        try:
            await take_part(link, device, 0, wallet, rounds=self.rounds)
        except BudgetError:
            if not device.turns:
                raise
        finally:
            books.close()


@dataclass(frozen=True)
class DeviceSpent:
    """What a device has spent, in all trainings that it took part in."""

    answers: int
    booked: float
    """Epsilon in its book: the most that answers like these can reveal."""
    realised: float
    """Epsilon of its own answers, by their own norms: for its owner's eyes alone."""
    cap: float
    delta: float
    unit: Unit

    __repr__ = shapes


def spent(home: Path) -> DeviceSpent:
    """What the device of a folder has spent."""
    books = known_book(home / "ledger")
    try:
        realised = Realised(home)
        return DeviceSpent(
            realised.answers, books.spent(0), realised.epsilon(books.cap[1]), *books.cap, books.unit
        )
    finally:
        books.close()


async def fetch_model(
    web: Web, recommender: KnownServer, home: Path, task: str | None, max_bytes: int
) -> Model:
    """The published model, of at most so many bytes, fetched once it is there, with its
    signature checked. Models of named tasks have folders of their own.

    `load` checks the digests of its files; the file that makes a folder a model is written
    last.
    """
    answer = await _published(web, recommender, task, max_bytes)
    frame, signature = answer.body, answer.headers.get("tacit-signature", "")
    if recommender.pin is None or not verify(
        bytes.fromhex(recommender.pin), signature, b"model", frame
    ):
        raise Failure("the model is not signed by the recommender's identity")
    files = _unpacked(frame)
    folder = home / ("model" if task is None else f"model-{task}")
    folder.mkdir(exist_ok=True)
    for name in FILES:
        write_atomically(folder / name, files[name])
    return load(folder)


def _unpacked(frame: bytes) -> dict[str, bytes]:
    """The files of a model, as the recommender sends them one after another."""
    start = len(MAGIC) + 4
    length = int.from_bytes(frame[len(MAGIC) : start], "little")
    at = start + length
    files = dict[str, bytes]()
    try:
        sizes = json.loads(frame[start:at])
        for name in FILES:
            if type(sizes[name]) is not int or sizes[name] < 0:
                raise ValueError
        for name, size in sizes.items():
            files[name] = frame[at : at + size]
            at += size
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise Failure("what the recommender sent is no model") from None
    return files


async def _published(
    web: Web, recommender: KnownServer, task: str | None, max_bytes: int
) -> Answer:
    """The recommender's answer that has the model. It may be away for a moment, now as ever."""
    path = "/v1/model" if task is None else f"/v1/model/{task}"
    for _ in range(MODEL_TRIES):
        try:
            answer = await web.get(recommender.url, path, max_bytes)
            if answer.status == 200:
                return answer
        except TooLong:
            raise too_long() from None
        except OSError:
            pass  # away for a moment
        await asyncio.sleep(MODEL_PAUSE)
    raise Failure(
        "the training is over but its model cannot be had",
        remedy="start this device again later: it has nothing more to send",
    )


# What a device remembers: its key, its secret and the servers' identities, and what it is
# about to send, each in a file of its own folder.


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
