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

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import floor, inf, nextafter, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, check_rows
from tacit.bound.personal import lessened
from tacit.engine.gram import Factors
from tacit.errors import BudgetError, Failure, SettingError
from tacit.federation.agreed.assembled import Assembled, device_report
from tacit.federation.agreed.expect import Announced, announced
from tacit.federation.agreed.scheme import Holding
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.arrays import Held
from tacit.federation.protocol.packing import mask, packed, round_key
from tacit.federation.protocol.wire import Announcement, PartLayout, Upload, digest, pack, to_words
from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.cost import Cost, cost
from tacit.ledger.account.event import Event, Gaussian, Laplace, Skellam, Unbounded
from tacit.ledger.account.personal import WHOLE, lesser
from tacit.repr import shapes
from tacit.rounds.loop import passed_over
from tacit.rounds.people import Slice, Turns
from tacit.rounds.round import Block, Part, Round
from tacit.rounds.state import State

PLACE_DIGITS = 13
"""Hexadecimal digits of a device's place: below 2^53, so that JSON holds it exactly."""
ABSURD = (ArithmeticError, ValueError, IndexError)
"""How a computation ends whose numbers make no sense."""
FILE = "realised.json"


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
class _ReadPayload:
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
        assembled: Assembled,
        label: int,
        items: NDArray[np.uint32],
        values: NDArray[np.float64],
        times: NDArray[np.int64] | None,
        policy: Policy,
        secret: bytes,
    ) -> None:
        if len(items) > 1 and (np.diff(items.astype(np.int64)) <= 0).any():
            raise Failure("a device's items must ascend")
        self.made = assembled
        self.label = label
        self.policy = policy
        self._secret = secret
        self.items = items
        self.values = values
        self.times = times
        limit = assembled.task.max_ratings
        if limit is not None and len(items) > limit:
            self._keep(limit)
        self.personal: dict[str, NDArray[np.float64]] = {}
        self.held = Held(assembled.first_state.growing())
        """Rows of public arrays that it need not be sent again."""
        self.sent: Sent | None = None
        self._read: _ReadPayload | None = None
        self.turns = 0
        self.key_name = ""
        """Of the key that masks are made with: words under an older one are of no use to
        anyone."""
        self.moved: list[Event] = []
        """The events of its last fresh answer, with the norms of what it really added."""
        self.ran: set[str] = set()
        """Names of the rounds that it has answered."""
        place_digest = digest(b"place", secret, assembled.task.name.encode())
        self.place = int(place_digest[:PLACE_DIGITS], 16)
        """Drawn once for a task, never from ratings: in which slice of the people it is."""
        self.check_task()
        self.weight = policy.weight(assembled)
        """What all its numbers are multiplied by, for who asked for less; nobody is told."""

    def _keep(self, limit: int) -> None:
        """At most `limit` ratings, by a hash keyed with the device's secret: never by value
        or time."""
        from tacit.bound.limit import mix

        key = np.uint64(int.from_bytes(self._secret[:8], "little"))
        order = np.argsort(mix(self.items.astype(np.uint64) ^ key), kind="stable")
        retained = np.sort(order[:limit])
        self.items, self.values = self.items[retained], self.values[retained]
        self.times = self.times[retained] if self.times is not None else None

    def check_task(self) -> None:
        """Refuse a task that is weaker than the owner accepts, before anything is computed."""
        self.policy.check(self.made)

    # ---------------------------------------------------------------- what it is asked

    def request_digest(self, announcement: Announcement, payload: memoryview) -> str:
        """A digest of all that the words for this announcement depend on."""
        announced = self._look(payload)
        terms = (
            f"{announcement.task} {announcement.round} {announcement.nonce} {announcement.key} "
            f"{self.key_name}"
        )
        if announced.terms != terms:
            announced.asked = digest(terms.encode(), announced.digest.encode())
            announced.terms = terms
        return announced.asked

    def _look(self, payload: memoryview) -> _ReadPayload:
        """A payload with its digest, which is remembered until it is answered."""
        if self._read is None or self._read.payload is not payload:
            self._read = _ReadPayload(payload, digest(payload))
        return self._read

    def has_answer(self, announcement: Announcement, payload: memoryview) -> bool:
        """Whether the very words for this announcement were made already."""
        return self.sent is not None and self.sent.asked == self.request_digest(
            announcement, payload
        )

    def events(self, announcement: Announcement, payload: memoryview) -> list[Event]:
        """What a fresh answer to this announcement costs: one turn of each part. Refuses
        what the plan does not ask for."""
        round_ = self._round(announcement)
        self._checked(announcement, payload)
        paths = [f"{round_.name}/{part.name}" for part in round_.parts]
        part_events = [self.made.events[path] for path in paths if path in self.made.events]
        once = {"times": 1, "beside": None, "instead": None}
        return [
            charged_event(e, self.weight).model_copy(update=once)
            for e in part_events
            if not isinstance(e, Unbounded)
        ]

    def _round(self, announcement: Announcement) -> Round:
        """The announced round, if it is one of this task on the terms of this task.

        Fewer shares than the task counts on may be announced (each device then adds its
        share of the task all the same), but never more, and never a smaller cohort.
        """
        task = self.made.task
        count = len(self.made.plan.rounds)
        if announcement.task != task.name or not 0 <= announcement.round < count:
            raise SettingError("a round of another task was announced")
        if self.sent is not None and announcement.round < self.sent.round:
            raise SettingError("a round was announced that is before one that was answered")
        # else nobody's noise but one's own counts
        shared = not self.made.method.local
        enough = floor(task.honest * announcement.least + 1e-9)
        if announcement.least != task.least or (shared and announcement.enough > enough):
            raise SettingError("the announced cohort or noise is not the one of the task")
        if announcement.joined < announcement.least:
            raise SettingError("a round was announced with fewer devices than its least cohort")
        return self.made.round(announcement.round)

    def _checked(self, announcement: Announcement, payload: memoryview) -> Announced:
        """What the announcement brought, if this device may answer it."""
        if not self.turns_left(announcement.round):
            raise BudgetError("this device has taken all the turns that the plan has priced")
        looked_at = self._look(payload)
        if looked_at.found is None or looked_at.round != announcement.round:
            rows = len(self.items)
            looked_at.found = announced(self.made, announcement.round, payload, rows)
            looked_at.round = announcement.round
        contents = looked_at.found
        round_ = self.made.round(announcement.round)
        self._check_slice(round_)
        self._check_choice(announcement.round, contents.state)
        return contents

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
        first_name = round_.instead or round_.name
        rivals = {candidate.name for candidate in plan.rounds if candidate.instead == first_name}
        if not rivals:
            return
        is_repeated = self.sent is not None and self.sent.round == index  # asked anew
        run = self.ran - ({round_.name} if is_repeated else set())
        try:
            passed = passed_over(plan, round_, state, run)
        except (ArithmeticError, ValueError):  # of a state that is absurd
            passed = True
        if (rivals | {first_name}) & run or passed:
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
            turn.name
            for k, turn in enumerate(series)
            if isinstance(turn.takes_part, Turns) and turn.takes_part.index == k
        }
        return len(names & self.ran - {round_.name}) < part.most

    @property
    def retired(self) -> bool:
        """Whether no round that may still come is one for this device."""
        if self.made.scheme.shows_items:  # printed rounds have no turns to keep
            return False
        start = 0 if self.sent is None else self.sent.round
        end = len(self.made.plan.rounds)
        return not any(self.turns_left(index) for index in range(start, end))

    # ---------------------------------------------------------------- what it answers

    def answer(self, announcement: Announcement, payload: memoryview, mask_secret: bytes) -> bytes:
        """The upload for an announcement. The caller has paid for `events` unless it is
        `known`.

        Asked for the same round with another state, it starts from the personal state that
        it had before its first answer, as if that had never been given.
        """
        round_ = self._round(announcement)
        if self.sent is None or not self.has_answer(announcement, payload):
            contents = self._checked(announcement, payload)
            personal_before: Mapping[str, NDArray[np.float64]] = self.personal
            if self.sent is not None and self.sent.round == announcement.round:
                personal_before = self.sent.before  # asked anew: start from where it started
            self.personal = {name: array.copy() for name, array in personal_before.items()}
            key = round_key(
                mask_secret,
                announcement.task,
                announcement.round,
                announcement.nonce,
                self._look(payload).digest,
            )
            rows, sent_payload = self._encode_contribution(round_, announcement, contents, key)
            request_digest = self.request_digest(announcement, payload)
            self.sent = Sent(
                announcement.round, request_digest, rows, sent_payload, personal_before
            )
            self._read = None
            self.turns += 1
            self.ran.add(round_.name)
        header = Upload(
            task=announcement.task,
            round=announcement.round,
            attempt=announcement.attempt,
            least=self.made.task.least,
            ticket=announcement.ticket,
            rows=self.sent.rows,
            layouts=self.made.agreed(announcement.round),
        )
        return pack(header, self.sent.payload)

    def _encode_contribution(
        self, round_: Round, announcement: Announcement, contents: Announced, key: bytes
    ) -> tuple[tuple[int, ...], bytes]:
        """Counts of the rows of sparse parts, and the payload: contribution, what the scheme
        adds, and the mask, part by part. Personal state moves on."""
        block = self._block(round_)
        contributions = contributed(round_, block, contents.state)
        for personal_array in round_.personal:
            self.personal[personal_array.name] = block.personal[personal_array.name]
        holding = Holding(announcement, contents.beside, self.items, self._secret)
        self.moved = []
        rows, out = list[int](), list[bytes]()
        layouts = self.made.layouts(announcement.round)
        for part, layout in zip(round_.parts, layouts, strict=True):
            path = f"{round_.name}/{part.name}"
            event = self.made.events.get(path)
            if layout.report:
                self._note(event)
                report = device_report(part, event, contributions[part.name], self.label)
                out.append(report.astype("<i8").tobytes())
                continue
            sent_rows = self.made.scheme.rows(layout, holding)
            contribution = self._weighted_integers(
                part, layout, contributions[part.name], len(sent_rows)
            )
            self._note(None if event is None else realised_event(event, contribution))
            masked = to_words(contribution, layout.bits)
            masked += self.made.scheme.added(path, layout, holding, len(contribution))
            masked += mask(key, layout.name, len(contribution), layout.width, layout.bits)
            if layout.sparse:
                rows.append(len(sent_rows))
                out.append(sent_rows.astype("<u4").tobytes())
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
        for personal_array in round_.personal:
            self.personal.setdefault(personal_array.name, np.zeros((1, personal_array.width)))
        shows_items = self.made.scheme.shows_items
        return Block(
            np.array([self.label], np.int64),
            np.array([0, count], np.int64),
            np.arange(count, dtype=np.uint32) if shows_items else self.items,
            self.values,
            self.times,
            0,
            self.personal,
        )

    def _weighted_integers(
        self, part: Part, layout: PartLayout, rows: Rows, count: int
    ) -> NDArray[np.int64]:
        """The contribution to a part, clipped, on the grid and times its weight."""
        size = count if layout.sparse else part.size
        return device_integers(part, size, rows, self.weight)


# Contribution of one device from its own ratings and the public state; empty where the state gives
# numbers that are not finite.
def contributed(round_: Round, block: Block, state: State) -> Mapping[str, Rows]:
    """What a round asks of one person; nothing at all where her numbers under this state end
    in an error.

    Guarantee: a recommender may make up a finite state (an effect of 1e20) that divides by
    nothing for those alone who rated some item. Who fell silent would tell that she did. So
    she adds nothing, with noise and mask like everybody, and her personal state stays as it
    was; bounds make the same of numbers that are none.
    """
    saved = {name: array.copy() for name, array in block.personal.items()}
    try:
        with np.errstate(all="ignore"):
            return round_.contribute(block, state)
    except ABSURD:
        for name, array in saved.items():
            block.personal[name][...] = array
        return {part.name: _nothing(part) for part in round_.parts}


def _nothing(part: Part) -> Rows:
    """No line at all; of a report one line that favours nothing, which is then randomized
    like any other (`tacit.noise.device`)."""
    if part.choices:
        return Rows.one_each(np.zeros((1, part.favoured)))
    return Rows(np.zeros(2, np.int64), np.zeros(0, np.uint32), np.zeros((0, part.width)))


# Integers that a device adds to a part: its rows, clipped, on the grid and times its own weight.
def device_integers(part: Part, size: int, rows: Rows, weight: int) -> NDArray[np.int64]:
    """The contribution to a part of `size` rows."""
    from tacit.kernels.rows import add_rows

    weights = None if weight == WHOLE else np.array([weight], np.int64)
    if part.form == "gram":
        # its own products alone, each once: the bound is on the row, before it is
        # multiplied
        factors = Factors(part)
        factors.add(0, rows, 1, weights)
        return factors.packed()
    check_rows(rows, name=part.name, people=1, size=size)
    clipped = part.bound.apply(rows)
    if weights is not None:
        clipped = lessened(clipped, rows.ptr, weights)
    total = np.zeros((size, part.width), np.int64)
    add_rows(rows.index, clipped, total)
    return total


def charged_event(event: Event, weight: int) -> Event:
    """What its ledger is charged for an event."""
    return event if weight == WHOLE else lesser(event, weight)


# What a device has really spent: the loss of its own answers, by their own norms.
#
# Its book is charged for the most that anybody could add, because what is charged must not
# depend on ratings. Afterwards the device alone knows how much it did add, and what that moved:
# with her contribution replaced by nothing every sum moves by exactly that vector, so the
# noise that was charged covers it at the price of its norm and no more (docs/proofs/federated.md,
# Realised). The number follows from her ratings. It is hers, is kept in her device's folder and
# is never sent, and no cap is measured by it.


def realised_event(event: Event, contribution: NDArray[np.int64]) -> Event | None:
    """The event with the norms of this very contribution, summed in exact integers; None for
    a contribution of nothing, which no noise has to cover. An event that no theorem covers
    stays as it is."""
    if isinstance(event, Unbounded):
        return event
    magnitudes = [abs(magnitude) for magnitude in contribution[contribution != 0].tolist()]
    if not magnitudes:
        return None
    l1 = _round_up(sum(magnitudes))
    l2 = nextafter(sqrt(_round_up(sum(magnitude * magnitude for magnitude in magnitudes))), inf)
    if isinstance(event, Gaussian):
        changed = {"sensitivity": min(l2, event.sensitivity)}
    elif isinstance(event, Skellam):
        sensitivity = min(l2, event.sensitivity)
        changed = {"sensitivity": sensitivity, "l1": min(l1, event.l1)}
    elif isinstance(event, Laplace):
        changed = {"sensitivity": min(l1, event.sensitivity)}
    else:
        return event
    return event.model_copy(update=changed)


def _round_up(number: int) -> float:
    """The least float that is not below."""
    nearest = float(number)
    return nearest if nearest >= number else nextafter(nearest, inf)


class Realised:
    """The running total in a device's folder."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE
        self.answers = 0
        self.total = Cost()
        if self.path.is_file():
            self._read(json.loads(self.path.read_text()))

    def _read(self, facts: dict[str, Any]) -> None:
        self.answers = int(facts["answers"])
        pure = {float(epsilon): int(often) for epsilon, often in facts["pure"]}
        self.total = Cost(
            mu2=float(facts["mu2"]),
            draws=int(facts["draws"]),
            renyi=float(facts["renyi"]),
            pure=pure,
        )

    def add(self, events: Iterable[Event]) -> bytes:
        """One more answer, of these events; the file as it should be written before the
        answer is sent."""
        plain = {"times": 1, "beside": None, "instead": None, "sampled": 1.0}
        realised_events = [event.model_copy(update=plain) for event in events]
        self.total = self.total + cost(realised_events)
        self.answers += 1
        facts = {
            "answers": self.answers,
            "mu2": self.total.mu2,
            "draws": self.total.draws,
            "renyi": self.total.renyi,
            "pure": list(self.total.pure.items()),
        }
        return json.dumps(facts).encode()

    def epsilon(self, delta: float) -> float:
        """Of all answers together, for the whole person."""
        return epsilon_of(self.total, delta) if self.answers else 0.0
