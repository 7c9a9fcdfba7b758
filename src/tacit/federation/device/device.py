"""The device: checks what it is asked, pays, computes its contribution, adds its noise and
its mask. Never its ratings.

Guarantee: what leaves a device is its contribution, clipped and on the grid, plus its
portion of noise, plus a mask, modulo 2^bits; or, in the local model, a randomized report.
It derives plan, events and portions from the task with its own code, refuses a cohort or an
honest fraction that its owner does not accept and a plan whose noise is too small for its
cap, and pays its own ledger before any noise is drawn. Of two rounds of which one stands
instead of the other it answers one, and only the one that the released state calls for.
Asked again for the same round and state, it sends the very words it sent before (of all
attempts at a round one sum is ever revealed); if it has lost them it pays again. In `paper`
calibration the rows of its rated items are visible, as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.bound.check import check_rows
from tacit.engine.gram import Factors
from tacit.errors import BudgetError, Failure, SettingError
from tacit.federation.agreed.expect import check_state, state_of
from tacit.federation.agreed.report import own_report
from tacit.federation.protocol.masks import mask, round_key
from tacit.federation.protocol.task import Assembled
from tacit.federation.protocol.wire import (
    Announcement,
    Layout,
    Upload,
    digest,
    pack,
    unpack_state,
    words,
)
from tacit.ledger.account.event import Event, Gaussian, Laplace, Skellam, Unbounded
from tacit.noise.device import own_noise
from tacit.noise.portion import portion
from tacit.noise.printed import looks_exponential, mixing, mixture
from tacit.rounds.loop import passed_over
from tacit.rounds.people import Slice, Turns
from tacit.rounds.round import Block, Part, Round


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
    """One person's side of a task. `label` numbers the person wherever the plan needs one
    (initial factors)."""

    def __init__(
        self,
        made: Assembled,
        label: int,
        items: NDArray[np.uint32],
        values: NDArray[np.float64],
        times: NDArray[np.int64] | None,
        policy: Policy,
        secret: bytes,
    ) -> None:
        if len(items) > 1 and (np.diff(items.astype(np.int64)) <= 0).any():
            raise Failure("a device's items must ascend")
        self.made = made
        self.label = label
        self.policy = policy
        self._secret = secret
        self.items = items
        self.values = values
        self.times = times
        most = made.task.max_ratings
        if most is not None and len(items) > most:
            self._keep(most)
        self.personal: dict[str, NDArray[np.float64]] = {}
        self.sent: Sent | None = None
        self.turns = 0
        self.key_name = ""
        """Of the key that masks are made with: words under an older one are of no use to anyone."""
        self.ran: set[str] = set()
        """Names of the rounds that it has answered."""
        self.place = int(digest(b"place", secret, made.task.name.encode())[:13], 16)
        """Drawn once for a task, never from ratings: in which slice of the people it is."""
        self.check_task()

    def _keep(self, most: int) -> None:
        """At most `most` ratings, by a hash keyed with the device's secret: never by value
        or time."""
        from tacit.bound.limit import mix

        key = np.uint64(int.from_bytes(self._secret[:8], "little"))
        chosen = np.sort(
            np.argsort(mix(self.items.astype(np.uint64) ^ key), kind="stable")[:most]
        )
        self.items, self.values = self.items[chosen], self.values[chosen]
        self.times = self.times[chosen] if self.times is not None else None

    def check_task(self) -> None:
        """Refuse a task that is weaker than the owner accepts, before anything is computed."""
        task = self.made.task
        policy = self.policy
        alone = self.made.method.local
        if task.least < policy.least and not alone:
            raise SettingError(
                f"the task hides a person among {task.least}; this device asks for {policy.least}"
            )
        if task.honest > policy.honest and self.made.events and not alone:
            raise SettingError(
                f"the task takes {task.honest:g} of a cohort to be honest; this device "
                f"{policy.honest:g}"
            )
        if (
            any(isinstance(event, Unbounded) for event in self.made.events.values())
            and not policy.accept_unbounded
        ):
            raise BudgetError(
                "nothing bounds what this task reveals",
                remedy="--accept-unbounded, if you mean it",
            )
        if not self.made.events and not policy.accept_unbounded:
            raise BudgetError(
                "this task adds no noise at all: NOT PRIVATE",
                remedy="--accept-unbounded, if you mean it",
            )
        price = self.made.price(policy.delta)
        if price > policy.epsilon * (1 + 1e-9):
            raise BudgetError(
                "the noise of this task is too small: all of it would cost epsilon "
                f"{price:.3g} at delta "
                f"{policy.delta:g}; this device's cap is {policy.epsilon:g}",
                remedy="a larger --cap, if you mean it",
            )

    def asked(self, told: Announcement, payload: memoryview) -> str:
        return digest(
            f"{told.task} {told.round} {told.nonce} {told.key} {self.key_name}".encode(),
            payload,
        )

    def known(self, told: Announcement, payload: memoryview) -> bool:
        """Whether the very words for this announcement were made already."""
        return self.sent is not None and self.sent.asked == self.asked(told, payload)

    def _check_choice(self, round_: Round, payload: memoryview) -> None:
        """A slice must be this device's own; of rounds that stand for one another one is
        answered, the right one."""
        part = round_.takes_part
        if (
            isinstance(part, Slice)
            and not part.index <= self.place % part.of < part.index + part.width
        ):
            raise SettingError(
                "a round was announced to a device that is in another slice of the people"
            )
        rivals = {
            r.name
            for r in self.made.plan.rounds
            if r.instead and round_.name in (r.name, r.instead)
        }
        if not rivals:
            return
        lost = self.sent is not None and self.sent.round == self.made.plan.rounds.index(
            round_
        )  # asked anew
        run = self.ran - ({round_.name} if lost else set())
        rivals |= {round_.instead} if round_.instead else {round_.name}
        if rivals & run or passed_over(
            self.made.plan, round_, state_of(self.made, payload), run
        ):
            raise SettingError(
                f"the round {round_.name} was announced where another takes its place"
            )

    def turns_left(self, index: int) -> bool:
        """Whether it may take part in this round: of a series it takes as many turns as the
        plan has priced."""
        round_ = self.made.round(index)
        part = round_.takes_part
        if not isinstance(part, Turns) or self.made.layouts(index)[0].sparse:
            return True
        start = index - part.index
        series = self.made.plan.rounds[start:]
        names = {
            r.name
            for k, r in enumerate(series)
            if isinstance(r.takes_part, Turns) and r.takes_part.index == k
        }
        return len(names & self.ran - {round_.name}) < part.most

    @property
    def retired(self) -> bool:
        """Whether no round that may still come is one for this device."""
        first = 0 if self.sent is None else self.sent.round
        if self.made.layouts(first)[0].sparse:  # printed rounds have no turns to keep
            return False
        return not any(
            self.turns_left(index) for index in range(first, len(self.made.plan.rounds))
        )

    def _check_turns(self, told: Announcement) -> None:
        if not self.turns_left(told.round):
            raise BudgetError(
                "this device has taken all the turns that the plan has priced"
            )

    def events(self, told: Announcement, payload: memoryview) -> list[Event]:
        """What a fresh answer to this announcement costs: one turn of each part. Refuses
        what the plan does not."""
        round_ = self._round(told)
        self._check_turns(told)
        check_state(self.made, told.round, payload)
        self._check_choice(round_, payload)
        paths = [f"{round_.name}/{part.name}" for part in round_.parts]
        found = [self.made.events[path] for path in paths if path in self.made.events]
        return [
            e.model_copy(update={"times": 1, "beside": None, "instead": None})
            for e in found
            if not isinstance(e, Unbounded)
        ]

    def _round(self, told: Announcement) -> Round:
        """The announced round, if it is one of this task on the terms of this task."""
        task = self.made.task
        if told.task != task.name or not 0 <= told.round < len(self.made.plan.rounds):
            raise SettingError("a round of another task was announced")
        shared = (
            not self.made.method.local
        )  # in the local model nobody's noise but one's own counts
        if told.least != task.least or (
            shared and told.enough > floor(task.honest * told.least + 1e-9)
        ):
            raise SettingError(
                "the announced cohort or noise is not the one of the task"
            )
        if told.joined < told.least:
            raise SettingError(
                "a round was announced with fewer devices than its least cohort"
            )
        return self.made.round(told.round)

    def answer(
        self, told: Announcement, payload: memoryview, mask_secret: bytes
    ) -> bytes:
        """The upload for an announcement. The caller has paid for `events` unless it is `known`."""
        round_, asked = self._round(told), self.asked(told, payload)
        if self.sent is None or not self.known(told, payload):
            self._check_turns(told)
            check_state(self.made, told.round, payload)
            self._check_choice(round_, payload)
            before = self.personal
            if (
                self.sent is not None and self.sent.round == told.round
            ):  # asked anew: start from where it started
                before = dict(self.sent.before)
            arrays = unpack_state(payload)
            key = round_key(
                mask_secret, told.task, told.round, told.nonce, digest(payload)
            )
            self.personal = {name: array.copy() for name, array in before.items()}
            rows, words_ = self._words(round_, told, arrays, key)
            self.sent = Sent(told.round, asked, rows, words_, before)
            self.turns += 1
            self.ran.add(round_.name)
        header = Upload(
            task=told.task,
            round=told.round,
            attempt=told.attempt,
            least=self.made.task.least,
            rows=self.sent.rows,
            layouts=self.made.agreed(told.round),
        )
        return pack(header, self.sent.payload)

    def _words(
        self, round_: Round, told: Announcement, arrays: dict[str, Any], key: bytes
    ) -> tuple[tuple[int, ...], bytes]:
        layouts = self.made.layouts(told.round)
        sparse = layouts[0].sparse
        block = self._block(round_, sparse)
        own = {
            name: array for name, array in arrays.items() if name not in ("k", "piece")
        }
        kind = type(self.made.method.first_state(self.made.public))
        given = round_.contribute(block, kind.unpacked(own))
        for kept in round_.personal:
            self.personal[kept.name] = block.personal[kept.name]
        rows, out = list[int](), list[bytes]()
        for part, layout in zip(round_.parts, layouts, strict=True):
            if layout.report:
                event = self.made.events.get(f"{round_.name}/{part.name}")
                out.append(
                    own_report(part, event, given[part.name], self.label)
                    .astype("<i8")
                    .tobytes()
                )
                continue
            whole = self._whole(part, layout, given[part.name], len(self.items))
            whole += self._noise(round_, part, layout, told, arrays, whole.shape)
            masked = words(whole, layout.bits) + mask(
                key, layout.name, len(whole), layout.width, layout.bits
            )
            if layout is layouts[0] and "piece" in arrays:
                masked += arrays["piece"]
            if layout.sparse:
                rows.append(len(self.items))
                out.append(self.items.astype("<u4").tobytes())
            out.append(masked.astype(f"<u{layout.word}").tobytes())
        return tuple(rows), b"".join(out)

    def _block(self, round_: Round, sparse: bool) -> Block:
        """A block of one. Where a device gets only the rows of its own items, they are
        numbered from 0."""
        count = len(self.items)
        for kept in round_.personal:
            self.personal.setdefault(kept.name, np.zeros((1, kept.width)))
        item = np.arange(count, dtype=np.uint32) if sparse else self.items
        return Block(
            np.array([self.label], np.int64),
            np.array([0, count], np.int64),
            item,
            self.values,
            self.times,
            0,
            self.personal,
        )

    def _whole(
        self, part: Part, layout: Layout, given: Rows, count: int
    ) -> NDArray[np.int64]:
        from tacit.kernels.rows import add_rows

        if (
            part.form == "gram"
        ):  # its own products alone, each once: the bound is on the row, before it is multiplied
            factors = Factors(part)
            factors.add(0, given, 1)
            return factors.packed()
        size = count if layout.sparse else part.size
        check_rows(given, name=part.name, people=1, size=size)
        total = np.zeros((size, part.width), np.int64)
        add_rows(given.index, part.bound.apply(given), total)
        return total

    def _noise(
        self,
        round_: Round,
        part: Part,
        layout: Layout,
        told: Announcement,
        arrays: dict[str, Any],
        shape: tuple[int, ...],
    ) -> NDArray[np.int64]:
        event = self.made.events.get(f"{round_.name}/{part.name}")
        if self.made.method.local and isinstance(
            event, Gaussian | Laplace
        ):  # enough for itself alone
            return own_noise(event, 1, shape[0] * shape[1])[0].reshape(shape)
        if isinstance(event, Skellam | Laplace):
            return portion(event, shape[0] * shape[1], self.made.task.enough).reshape(
                shape
            )
        if not isinstance(event, Unbounded) or event.noise == "none":
            return np.zeros(shape, np.int64)
        people, rows = (
            np.maximum(arrays["k"], 1).astype(np.float64),
            self.items.astype(np.int64),
        )
        total = np.zeros(shape)
        for place, seed in enumerate(told.mixing):
            mixed = mixing(bytes.fromhex(seed), rows, part.width)
            if not looks_exponential(mixed):
                raise SettingError(
                    "the recommender's mixing numbers are not Exponential(1)"
                )
            fixed = (
                None
                if place == 0
                else (digest(self._secret, told.task.encode()).encode()[:32], rows)
            )
            if (
                place == 0 and layout.blind == "add"
            ):  # the round that makes eta adds eta alone
                continue
            total += mixture(event.scale, mixed, people, fixed=fixed)
        return np.trunc(total).astype(np.int64)


def compact(device: Device) -> Device:
    """The same device without what it sent, as after a loss of its memory."""
    device.sent = None if device.sent is None else replace(device.sent, asked="")
    return device
