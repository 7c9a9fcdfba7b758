"""One person's device as a process: its key, its ledger and its memory in one folder, the
finished model at the end."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.reading.personal import read_personal
from tacit.errors import BudgetError, DataError, Failure
from tacit.federation.device.client import (
    Away,
    Link,
    Refused,
    Server,
    Wallet,
    enrol_patiently,
    fetch_task,
    take_part,
)
from tacit.federation.device.device import Device, Policy, Sent
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import name_of, new_exchange, verify
from tacit.federation.protocol.task import Assembled
from tacit.federation.protocol.wire import MAGIC, pack_state, unpack_state
from tacit.ledger.book.devices import DeviceBooks
from tacit.model.model import Model, load
from tacit.noise import bits


def run_device(
    url: str,
    ratings: str,
    home: Path,
    policy: Policy,
    *,
    token: str | None = None,
    pin: str | None = None,
    ca: str | None = None,
    rounds: int | None = None,
    aggregator_pin: str | None = None,
    rotate: bool = False,
) -> Model | None:
    """Take part until the training is over; the published model, if there is one by then."""
    try:
        return asyncio.run(
            _run(
                url,
                ratings,
                home,
                policy,
                token,
                (pin, aggregator_pin),
                ca,
                rounds,
                rotate,
            )
        )
    except (Away, Refused) as error:
        raise Failure(
            f"a server cannot be reached ({error})", remedy="check its address and --ca"
        ) from None


async def _run(
    url: str,
    ratings: str,
    home: Path,
    policy: Policy,
    token: str | None,
    pins: tuple[str | None, str | None],
    ca: str | None,
    rounds: int | None,
    rotate: bool,
) -> Model | None:
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    facts = _facts(home)
    async with Web(ca) as web:
        recommender = Server(url.rstrip("/"), pins[0] or facts.get("pin"))
        await recommender.learn(web)
        made, aggregator = await fetch_task(
            web, recommender, pins[1] or facts.get("aggregator")
        )
        await aggregator.learn(web)
        facts |= {"pin": recommender.pin, "aggregator": aggregator.pin}
        _keep(home, facts)
        device = MemorisedDevice(home, made, ratings, policy, facts)
        link = Link(
            web,
            recommender,
            aggregator,
            bytes.fromhex(facts["private"]),
            facts.get("name"),
        )
        if "name" not in facts:
            await enrol_patiently(link, token)
        if rotate or "next" in facts:
            link = await _rotated(home, facts, link)
        device.key_name = name_of(link.public)
        books = DeviceBooks(1, (policy.epsilon, policy.delta), home / "ledger")
        try:
            await take_part(link, device, 0, Wallet(books), rounds=rounds)
        except BudgetError:
            if not device.turns:
                raise
        finally:
            books.close()
        if rounds is not None:
            return None
        return await _model(web, recommender, home)


async def _rotated(home: Path, facts: dict[str, Any], link: Link) -> Link:
    """A new key at both servers; written down before it is sent, so that a crash in between
    loses nothing."""
    facts.setdefault("next", new_exchange()[0].hex())
    facts["name"] = link.name
    _keep(home, facts)
    link = await link.rotate(bytes.fromhex(facts["next"]))
    facts["private"] = facts.pop("next")
    _keep(home, facts)
    return link


class MemorisedDevice(Device):
    """A device that writes down, before anything is sent, what it is about to send and its
    personal state."""

    def __init__(
        self,
        home: Path,
        made: Assembled,
        ratings: str,
        policy: Policy,
        facts: dict[str, Any],
    ) -> None:
        items, values, times = own_ratings(made, ratings)
        super().__init__(
            made,
            int(facts["label"]) % (1 << 53),
            items,
            values,
            times,
            policy,
            bytes.fromhex(facts["secret"]),
        )
        self._path = home / f"memory-{made.task.name}.safetensors"
        if self._path.is_file():
            kept = unpack_state(self._path.read_bytes())
            note = json.loads(kept.pop("note").tobytes())
            self.personal = {n[2:]: a for n, a in kept.items() if n.startswith("p ")}
            before = {n[2:]: a for n, a in kept.items() if n.startswith("b ")}
            self.turns, self.ran = note["turns"], set(note.get("ran", ()))
            self.sent = Sent(
                note["round"],
                note["asked"],
                tuple(note["rows"]),
                kept["payload"].tobytes(),
                before,
            )

    def answer(self, told: Any, payload: memoryview, mask_secret: bytes) -> bytes:
        body = super().answer(told, payload, mask_secret)
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
        arrays = {f"p {n}": a for n, a in self.personal.items()} | {
            f"b {n}": a for n, a in sent.before.items()
        }
        arrays |= {
            "note": np.frombuffer(json.dumps(note).encode(), np.uint8),
            "payload": np.frombuffer(sent.payload, np.uint8),
        }
        _write(self._path, pack_state(arrays))
        return body


def own_ratings(made: Assembled, path: str) -> tuple[Any, Any, Any]:
    """A person's csv as rows of the task's catalogue and inner values; unknown items are
    left out."""
    catalogue, schema = made.public.catalogue, made.public.schema
    found: dict[int, float] = {}
    for text, rating, _, line in read_personal(path):
        row = catalogue.index.get(str(text))
        if row is None:
            rows = catalogue.by_title.get(str(text).casefold().strip(), [])
            row = rows[0] if len(rows) == 1 else None
        if row is None or rating is None:
            continue
        if not schema.low <= float(rating) <= schema.high:
            raise DataError(
                "a rating is outside the scale of the training",
                place=f"{path}, line {line}",
            )
        found[row] = (float(rating) - schema.middle) / schema.unit_width
    if not found:
        raise DataError(
            "none of the items is in the task's catalogue",
            place=path,
            remedy="use its ids or titles",
        )
    rows_ = np.array(sorted(found), np.uint32)
    return rows_, np.array([found[int(row)] for row in rows_]), None


def _facts(home: Path) -> dict[str, Any]:
    path = home / "device.json"
    if path.is_file():
        facts: dict[str, Any] = json.loads(path.read_text())
        return facts
    made = {
        "private": new_exchange()[0].hex(),
        "secret": bits.fresh().token(32).hex(),
        "label": bits.fresh().below(1 << 53),
    }
    _keep(home, made)
    return made


def _keep(home: Path, facts: dict[str, Any]) -> None:
    _write(home / "device.json", json.dumps(facts).encode())


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all, and its owner's alone."""
    staged = path.with_name(path.name + ".new")
    handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(staged, path)


async def _model(web: Web, recommender: Server, home: Path) -> Model:
    """The published model, fetched once it is there, with its signature and digests checked."""
    for _ in range(120):
        try:
            answer = await web.get(recommender.url, "/v1/model")
        except OSError:
            raise Away("no answer") from None
        frame, signature = answer.body, answer.headers.get("tacit-signature", "")
        if answer.status == 200:
            break
        await asyncio.sleep(0.5)
    else:
        raise Failure("the training is over but no model was published")
    if recommender.pin is None or not verify(
        bytes.fromhex(recommender.pin), signature, b"model", frame
    ):
        raise Failure("the model is not signed by the recommender's identity")
    start = len(MAGIC) + 4
    length = int.from_bytes(frame[len(MAGIC) : start], "little")
    sizes, at = json.loads(frame[start : start + length]), start + length
    folder = home / "model"
    folder.mkdir(exist_ok=True)
    for name in ("arrays.safetensors", "items.json", "statement.json", "model.json"):
        place = at + sum(
            size for other, size in list(sizes.items())[: list(sizes).index(name)]
        )
        _write(folder / name, frame[place : place + sizes[name]])
    return load(folder)
