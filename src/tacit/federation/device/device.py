"""The device: checks what it is asked, pays, computes its contribution, adds its noise and
its mask. Never its ratings.

Guarantee: what leaves a device is its contribution, clipped and on the grid, plus its
portion of noise, plus a mask, modulo 2^bits; or, in the local model, a randomized report.
It derives plan, events and portions from the task with its own code, refuses a cohort or an
honest fraction that its owner does not accept and a plan whose noise is too small for its
cap, and pays its own ledger before any noise is drawn. Of two rounds of which one stands
instead of the other it answers one, and only the one that the released state calls for.
Asked again for the same round and state, it sends the very words it sent before (of all
attempts at a round one sum is ever revealed); if it has lost them it pays again. Where a
printed scheme shows its people's items, the rows of its rated items are visible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.errors import BudgetError, Failure, SettingError
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.agreed.expect import Announced, announced
from tacit.federation.agreed.report import own_report
from tacit.federation.agreed.scheme import Holding
from tacit.federation.device.contribution import contributed
from tacit.federation.device.own import own_integers, paid
from tacit.federation.device.policy import Policy
from tacit.federation.device.realised import own_event
from tacit.federation.protocol.grown import Held
from tacit.federation.protocol.masks import mask, round_key
from tacit.federation.protocol.packing import packed
from tacit.federation.protocol.wire import Announcement, PartLayout, Upload, digest, pack, words
from tacit.hidden import shapes
from tacit.ledger.account.event import Event, Unbounded
from tacit.rounds.loop import passed_over
from tacit.rounds.people import Slice, Turns
from tacit.rounds.round import Block, Part, Round
from tacit.rounds.state import State

PLACE_DIGITS = 13
"""Hexadecimal digits of a device's place: below 2^53, so that JSON holds it exactly."""


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

    __repr__ = shapes


@dataclass
class _Read:
    """A payload that is looked at several times on its way to an answer."""

    payload: memoryview
    digest: str
    round: int = -1
    found: Announced | None = None
    terms: str = ""
    asked: str = ""
    """Digest of it under these terms."""

    __repr__ = shapes


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
        self.held = Held(made.first_state.growing())
        """Rows of public arrays that it need not be sent again."""
        self.sent: Sent | None = None
        self._read: _Read | None = None
        self.turns = 0
        self.key_name = ""
        """Of the key that masks are made with: words under an older one are of no use to
        anyone."""
        self.moved: list[Event] = []
        """The events of its last fresh answer, with the norms of what it really added."""
        self.ran: set[str] = set()
        """Names of the rounds that it has answered."""
        drawn = digest(b"place", secret, made.task.name.encode())
        self.place = int(drawn[:PLACE_DIGITS], 16)
        """Drawn once for a task, never from ratings: in which slice of the people it is."""
        self.check_task()
        self.weight = policy.weight(made)
        """What all its numbers are multiplied by, for who asked for less; nobody is told."""

    def _keep(self, most: int) -> None:
        """At most `most` ratings, by a hash keyed with the device's secret: never by value
        or time."""
        from tacit.bound.limit import mix

        key = np.uint64(int.from_bytes(self._secret[:8], "little"))
        order = np.argsort(mix(self.items.astype(np.uint64) ^ key), kind="stable")
        chosen = np.sort(order[:most])
        self.items, self.values = self.items[chosen], self.values[chosen]
        self.times = self.times[chosen] if self.times is not None else None

    def check_task(self) -> None:
        """Refuse a task that is weaker than the owner accepts, before anything is computed."""
        self.policy.check(self.made)

    # ---------------------------------------------------------------- what it is asked

    def asked(self, told: Announcement, payload: memoryview) -> str:
        """A digest of all that the words for this announcement depend on."""
        read = self._look(payload)
        terms = f"{told.task} {told.round} {told.nonce} {told.key} {self.key_name}"
        if read.terms != terms:
            read.asked = digest(terms.encode(), read.digest.encode())
            read.terms = terms
        return read.asked

    def _look(self, payload: memoryview) -> _Read:
        """A payload with its digest, which is remembered until it is answered."""
        if self._read is None or self._read.payload is not payload:
            self._read = _Read(payload, digest(payload))
        return self._read

    def known(self, told: Announcement, payload: memoryview) -> bool:
        """Whether the very words for this announcement were made already."""
        return self.sent is not None and self.sent.asked == self.asked(told, payload)

    def events(self, told: Announcement, payload: memoryview) -> list[Event]:
        """What a fresh answer to this announcement costs: one turn of each part. Refuses
        what the plan does not ask for."""
        round_ = self._round(told)
        self._checked(told, payload)
        paths = [f"{round_.name}/{part.name}" for part in round_.parts]
        found = [self.made.events[path] for path in paths if path in self.made.events]
        once = {"times": 1, "beside": None, "instead": None}
        return [
            paid(e, self.weight).model_copy(update=once)
            for e in found
            if not isinstance(e, Unbounded)
        ]

    def _round(self, told: Announcement) -> Round:
        """The announced round, if it is one of this task on the terms of this task.

        Fewer shares than the task counts on may be announced (each device then adds its
        share of the task all the same), but never more, and never a smaller cohort.
        """
        task = self.made.task
        count = len(self.made.plan.rounds)
        if told.task != task.name or not 0 <= told.round < count:
            raise SettingError("a round of another task was announced")
        if self.sent is not None and told.round < self.sent.round:
            raise SettingError("a round was announced that is before one that was answered")
        # else nobody's noise but one's own counts
        shared = not self.made.method.local
        enough = floor(task.honest * told.least + 1e-9)
        if told.least != task.least or (shared and told.enough > enough):
            raise SettingError("the announced cohort or noise is not the one of the task")
        if told.joined < told.least:
            raise SettingError("a round was announced with fewer devices than its least cohort")
        return self.made.round(told.round)

    def _checked(self, told: Announcement, payload: memoryview) -> Announced:
        """What the announcement brought, if this device may answer it."""
        if not self.turns_left(told.round):
            raise BudgetError("this device has taken all the turns that the plan has priced")
        read = self._look(payload)
        if read.found is None or read.round != told.round:
            rows = len(self.items)
            read.found = announced(self.made, told.round, payload, rows)
            read.round = told.round
        found = read.found
        round_ = self.made.round(told.round)
        self._check_slice(round_)
        self._check_choice(told.round, found.state)
        return found

    def _check_slice(self, round_: Round) -> None:
        part = round_.takes_part
        if not isinstance(part, Slice):
            return
        if not part.index <= self.place % part.of < part.index + part.width:
            raise SettingError(
                "a round was announced to a device that is in another slice of the people"
            )

    def _check_choice(self, index: int, state: State) -> None:
        """Of rounds that stand for one another one is answered, the right one."""
        plan, round_ = self.made.plan, self.made.round(index)
        first = round_.instead or round_.name
        others = {each.name for each in plan.rounds if each.instead == first}
        if not others:
            return
        lost = self.sent is not None and self.sent.round == index  # asked anew
        run = self.ran - ({round_.name} if lost else set())
        try:
            passed = passed_over(plan, round_, state, run)
        except (ArithmeticError, ValueError):  # of a state that is absurd
            passed = True
        if (others | {first}) & run or passed:
            raise SettingError(
                f"the round {round_.name} was announced where another takes its place"
            )

    def turns_left(self, index: int) -> bool:
        """Whether it may take part in this round: of a series it takes as many turns as the
        plan has priced.

        A round that it has answered already counts once: of all attempts at it one is ever
        revealed. Rounds that are no turns, and printed ones, are not counted.
        """
        round_ = self.made.round(index)
        part = round_.takes_part
        if not isinstance(part, Turns) or self.made.scheme.shows_items:
            return True
        series = self.made.plan.rounds[index - part.index :]
        names = {
            each.name
            for k, each in enumerate(series)
            if isinstance(each.takes_part, Turns) and each.takes_part.index == k
        }
        return len(names & self.ran - {round_.name}) < part.most

    @property
    def retired(self) -> bool:
        """Whether no round that may still come is one for this device."""
        if self.made.scheme.shows_items:  # printed rounds have no turns to keep
            return False
        first = 0 if self.sent is None else self.sent.round
        last = len(self.made.plan.rounds)
        return not any(self.turns_left(index) for index in range(first, last))

    # ---------------------------------------------------------------- what it answers

    def answer(self, told: Announcement, payload: memoryview, mask_secret: bytes) -> bytes:
        """The upload for an announcement. The caller has paid for `events` unless it is
        `known`.

        Asked for the same round with another state, it starts from the personal state that
        it had before its first answer, as if that had never been given.
        """
        round_ = self._round(told)
        if self.sent is None or not self.known(told, payload):
            found = self._checked(told, payload)
            before: Mapping[str, NDArray[np.float64]] = self.personal
            if self.sent is not None and self.sent.round == told.round:
                before = self.sent.before  # asked anew: start from where it started
            self.personal = {name: array.copy() for name, array in before.items()}
            key = round_key(
                mask_secret, told.task, told.round, told.nonce, self._look(payload).digest
            )
            rows, sent = self._words(round_, told, found, key)
            asked = self.asked(told, payload)
            self.sent = Sent(told.round, asked, rows, sent, before)
            self._read = None
            self.turns += 1
            self.ran.add(round_.name)
        header = Upload(
            task=told.task,
            round=told.round,
            attempt=told.attempt,
            least=self.made.task.least,
            ticket=told.ticket,
            rows=self.sent.rows,
            layouts=self.made.agreed(told.round),
        )
        return pack(header, self.sent.payload)

    def _words(
        self, round_: Round, told: Announcement, found: Announced, key: bytes
    ) -> tuple[tuple[int, ...], bytes]:
        """Counts of the rows of sparse parts, and the payload: contribution, what the scheme
        adds, and the mask, part by part. Personal state moves on."""
        block = self._block(round_)
        given = contributed(round_, block, found.state)
        for kept in round_.personal:
            self.personal[kept.name] = block.personal[kept.name]
        asked = Holding(told, found.beside, self.items, self._secret)
        self.moved = []
        rows, out = list[int](), list[bytes]()
        layouts = self.made.layouts(told.round)
        for part, layout in zip(round_.parts, layouts, strict=True):
            path = f"{round_.name}/{part.name}"
            event = self.made.events.get(path)
            if layout.report:
                self._note(event)
                report = own_report(part, event, given[part.name], self.label)
                out.append(report.astype("<i8").tobytes())
                continue
            own = self.made.scheme.rows(layout, asked)
            whole = self._whole(part, layout, given[part.name], len(own))
            self._note(None if event is None else own_event(event, whole))
            masked = words(whole, layout.bits)
            masked += self.made.scheme.added(path, layout, asked, len(whole))
            masked += mask(key, layout.name, len(whole), layout.width, layout.bits)
            if layout.sparse:
                rows.append(len(own))
                out.append(own.astype("<u4").tobytes())
            out.append(packed(masked, layout.bits))
        return tuple(rows), b"".join(out)

    def _note(self, event: Event | None) -> None:
        """Remember what a part really cost, where a theorem says it."""
        if event is not None and not isinstance(event, Unbounded):
            self.moved.append(event)

    def _block(self, round_: Round) -> Block:
        """A block of one. Where a device gets only the rows of its own items, they are
        numbered from 0."""
        count = len(self.items)
        for kept in round_.personal:
            self.personal.setdefault(kept.name, np.zeros((1, kept.width)))
        shown = self.made.scheme.shows_items
        return Block(
            np.array([self.label], np.int64),
            np.array([0, count], np.int64),
            np.arange(count, dtype=np.uint32) if shown else self.items,
            self.values,
            self.times,
            0,
            self.personal,
        )

    def _whole(self, part: Part, layout: PartLayout, given: Rows, count: int) -> NDArray[np.int64]:
        """The contribution to a part, clipped, on the grid and times its weight."""
        size = count if layout.sparse else part.size
        return own_integers(part, size, given, self.weight)
