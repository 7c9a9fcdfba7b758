"""The device: checks what it is asked, pays, computes its contribution, adds its noise and its mask. Never its ratings.

Guarantee: what leaves a device is its contribution, clipped and on the grid, plus its portion of noise, plus a mask,
modulo 2^bits. It derives plan, events and portions from the task with its own code, refuses a cohort or an honest
fraction that its owner does not accept, and pays its own ledger before any noise is drawn. Asked again for the same
round and state, it sends the very words it sent before (of all attempts at a round one sum is ever revealed); if it has
lost them it pays again. In `paper` calibration the rows of its rated items are visible, as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.engine.federated.masks import mask, round_key
from tacit.engine.federated.task import Assembled
from tacit.engine.federated.wire import Announcement, Layout, Upload, digest, pack, unpack_state, words
from tacit.errors import BudgetError, Failure, SettingError
from tacit.ledger.event import Event, Laplace, Skellam, Unbounded
from tacit.noise.portion import looks_exponential, mixing, mixture, portion
from tacit.round import Block, Part, Round


@dataclass(frozen=True)
class Policy:
    """What the owner of a device accepts; the device refuses anything weaker."""

    epsilon: float = 10.0
    delta: float = 1e-5
    """The cap of the device's own ledger."""
    least: int = 2
    """The smallest cohort to hide in."""
    honest: float = 0.95
    """The largest fraction of a cohort that it believes to be honest."""
    accept_unbounded: bool = False
    """Take part in a `paper` training, which no theorem covers."""


@dataclass(frozen=True)
class Sent:
    """What was sent for a round, in case it is asked for again."""

    round: int
    asked: str
    """Digest of what the words depend on."""
    rows: tuple[int, ...]
    payload: bytes
    before: Mapping[str, NDArray[np.float64]]
    """Personal state as it was before the round."""


class Device:
    """One person's side of a task. `label` numbers the person wherever the plan needs one (initial factors)."""

    def __init__(
        self, made: Assembled, label: int, items: NDArray[np.uint32], values: NDArray[np.float64],
        times: NDArray[np.int64] | None, policy: Policy, secret: bytes,
    ) -> None:  # fmt: skip
        if len(items) > 1 and (np.diff(items.astype(np.int64)) <= 0).any():
            raise Failure("a device's items must ascend")
        self.made, self.label, self.policy, self._secret = made, label, policy, secret
        self.items, self.values, self.times = items, values, times
        most = made.task.max_ratings
        if most is not None and len(items) > most:
            self._keep(most)
        self.personal: dict[str, NDArray[np.float64]] = {}
        self.sent: Sent | None = None
        self.turns = 0
        self.check_task()

    def _keep(self, most: int) -> None:
        """At most `most` ratings, by a hash keyed with the device's secret: never by value or time."""
        from tacit.bound.limit import mix

        key = np.uint64(int.from_bytes(self._secret[:8], "little"))
        chosen = np.sort(np.argsort(mix(self.items.astype(np.uint64) ^ key), kind="stable")[:most])
        self.items, self.values = self.items[chosen], self.values[chosen]
        self.times = self.times[chosen] if self.times is not None else None

    def check_task(self) -> None:
        """Refuse a task that is weaker than the owner accepts, before anything is computed."""
        task, policy = self.made.task, self.policy
        if task.least < policy.least:
            raise SettingError(f"the task hides a person among {task.least}; this device asks for {policy.least}")
        if task.honest > policy.honest and self.made.events:
            raise SettingError(
                f"the task takes {task.honest:g} of a cohort to be honest; this device {policy.honest:g}"
            )
        if any(isinstance(event, Unbounded) for event in self.made.events.values()) and not policy.accept_unbounded:
            raise BudgetError("nothing bounds what this task reveals", remedy="--accept-unbounded, if you mean it")
        if not self.made.events and not policy.accept_unbounded:
            raise BudgetError(
                "this task adds no noise at all: NOT PRIVATE", remedy="--accept-unbounded, if you mean it"
            )

    def asked(self, told: Announcement, payload: memoryview) -> str:
        return digest(f"{told.task} {told.round} {told.nonce} {told.key}".encode(), payload)

    def known(self, told: Announcement, payload: memoryview) -> bool:
        """Whether the very words for this announcement were made already."""
        return self.sent is not None and self.sent.asked == self.asked(told, payload)

    def events(self, told: Announcement) -> list[Event]:
        """What a fresh answer to this announcement costs: one turn of each part."""
        round_ = self._round(told)
        paths = [f"{round_.name}/{part.name}" for part in round_.parts]
        found = [self.made.events[path] for path in paths if path in self.made.events]
        return [e.model_copy(update={"times": 1, "beside": None}) for e in found if not isinstance(e, Unbounded)]

    def _round(self, told: Announcement) -> Round:
        """The announced round, if it is one of this task on the terms of this task."""
        task = self.made.task
        if told.task != task.name or not 0 <= told.round < len(self.made.plan.rounds):
            raise SettingError("a round of another task was announced")
        if told.least != task.least or told.enough > floor(task.honest * told.least + 1e-9):
            raise SettingError("the announced cohort or noise is not the one of the task")
        if told.joined < told.least:
            raise SettingError("a round was announced with fewer devices than its least cohort")
        return self.made.round(told.round)

    def answer(self, told: Announcement, payload: memoryview, mask_secret: bytes) -> bytes:
        """The upload for an announcement. The caller has paid for `events` unless it is `known`."""
        round_, asked = self._round(told), self.asked(told, payload)
        if self.sent is None or self.sent.asked != asked:
            before = self.personal
            if self.sent is not None and self.sent.round == told.round:  # asked anew: start from where it started
                before = dict(self.sent.before)
            state = unpack_state(payload)
            key = round_key(mask_secret, told.task, told.round, told.nonce)
            self.personal = {name: array.copy() for name, array in before.items()}
            rows, words_ = self._words(round_, told, state, key)
            self.sent = Sent(told.round, asked, rows, words_, before)
            self.turns += 1
        header = Upload(
            task=told.task, round=told.round, attempt=told.attempt, least=self.made.task.least, rows=self.sent.rows
        )
        return pack(header, self.sent.payload)

    def _words(
        self, round_: Round, told: Announcement, state: dict[str, Any], key: bytes
    ) -> tuple[tuple[int, ...], bytes]:
        layouts = self.made.layouts(told.round)
        sparse = layouts[0].sparse
        block = self._block(round_, sparse)
        given = round_.contribute(block, state)
        for kept in round_.personal:
            self.personal[kept.name] = block.personal[kept.name]
        rows, out = list[int](), list[bytes]()
        for part, layout in zip(round_.parts, layouts, strict=True):
            whole = self._whole(part, layout, given[part.name], len(self.items))
            whole += self._noise(round_, part, layout, told, state, whole.shape)
            masked = words(whole, layout.bits) + mask(key, layout.name, len(whole), layout.width, layout.bits)
            if layout is layouts[0] and "piece" in state:
                masked += state["piece"]
            if layout.sparse:
                rows.append(len(self.items))
                out.append(self.items.astype("<u4").tobytes())
            out.append(masked.astype(f"<u{layout.word}").tobytes())
        return tuple(rows), b"".join(out)

    def _block(self, round_: Round, sparse: bool) -> Block:
        """A block of one. Where a device gets only the rows of its own items, they are numbered from 0."""
        count = len(self.items)
        for kept in round_.personal:
            self.personal.setdefault(kept.name, np.zeros((1, kept.width)))
        item = np.arange(count, dtype=np.uint32) if sparse else self.items
        return Block(
            np.array([self.label], np.int64), np.array([0, count], np.int64), item, self.values, self.times, 0,
            self.personal,
        )  # fmt: skip

    def _whole(self, part: Part, layout: Layout, given: Rows, count: int) -> NDArray[np.int64]:
        from tacit.kernels.rows import add_rows

        size = count if layout.sparse else part.size
        if len(given.index) and int(given.index.max()) >= size:
            raise Failure(f"a contribution to {part.name} points outside its array")
        total = np.zeros((size, part.width), np.int64)
        add_rows(given.index, part.bound.apply(given), total)
        return total

    def _noise(
        self,
        round_: Round,
        part: Part,
        layout: Layout,
        told: Announcement,
        state: dict[str, Any],
        shape: tuple[int, ...],
    ) -> NDArray[np.int64]:
        event = self.made.events.get(f"{round_.name}/{part.name}")
        if isinstance(event, Skellam | Laplace):
            return portion(event, shape[0] * shape[1], self.made.task.enough).reshape(shape)
        if not isinstance(event, Unbounded) or event.noise == "none":
            return np.zeros(shape, np.int64)
        people, rows = np.maximum(state["k"], 1).astype(np.float64), self.items.astype(np.int64)
        total = np.zeros(shape)
        for place, seed in enumerate(told.mixing):
            mixed = mixing(bytes.fromhex(seed), rows, part.width)
            if not looks_exponential(mixed):
                raise SettingError("the recommender's mixing numbers are not Exponential(1)")
            fixed = None if place == 0 else (digest(self._secret, told.task.encode()).encode()[:32], rows)
            if place == 0 and layout.blind == "add":  # the round that makes eta adds eta alone
                continue
            total += mixture(event.scale, mixed, people, fixed=fixed)
        return np.trunc(total).astype(np.int64)


def compact(device: Device) -> Device:
    """The same device without what it sent, as after a loss of its memory."""
    device.sent = None if device.sent is None else replace(device.sent, asked="")
    return device
