"""How the parties of a training share its noise: one seam, which the plain protocol and the
printed schemes implement.

A scheme answers four questions: what a device is *told* beside the terms of the round, what
it *adds* to its contribution, what the recommender *takes off* a sum when the masks are
gone, and what the servers *keep* for it. Servers and devices ask; they never look into the
answers. The aggregator knows no task: it knows a scheme by the layouts of a round alone.

Printed schemes are found by the name of the task's method, when a task asks for one, so
that nothing else here knows of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.wire import Announcement, PartLayout, Section, digest, to_words
from tacit.ledger.account.event import Gaussian, Laplace, Skellam
from tacit.noise.device import own_noise
from tacit.noise.portion import Spread, draw_server_noise, portion
from tacit.repr import shapes
from tacit.rounds.plan import Plan
from tacit.rounds.round import Kind, Part, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.federation.agreed.assembled import Assembled
    from tacit.federation.protocol.task import Task

HUA = "tacit.papers.hua2015.printed.sharing:Hua"
"""The one printed scheme so far, and the only one with a part for the aggregator."""
PRINTED = {"mf-federated": HUA}
"""Where the scheme of a method's printed form is found."""
FULL = 63
"""Bits of the largest sum, beside its sign."""
LEAST_BITS = 8
ROOM = 2
"""Bits beyond an honest sum: of garbage, which is anywhere, a fourth is in range by chance, in
each number of a sum."""
Arrays = Mapping[str, NDArray[Any]]
"""Packed state, by dotted name (`tacit.rounds.state`)."""


@dataclass(frozen=True)
class Attempt:
    """One attempt at a round: who takes part in it, and what keys it."""

    index: int
    """Of the round in the plan."""
    number: int
    nonce: str
    """The same for all attempts at a round, like `key`: a device sends the very words it
    sent before."""
    key: str
    """Name of the recommender's exchange key that masks are made with."""
    joined: Mapping[str, NDArray[np.uint32]]
    """The devices, with the rows of their items where the scheme shows them."""
    publics: Mapping[str, bytes]
    """Keys at the time of joining: a device may rotate its key in the middle of a round."""


@dataclass(frozen=True)
class Holding:
    """What a device holds when it answers: what it was told, and what is its own."""

    told: Announcement
    beside: Arrays
    """What the scheme sent beside the state (`Scheme.received`)."""
    items: NDArray[np.uint32]
    secret: bytes


@dataclass(frozen=True)
class Received:
    """The payload of an announcement: public state, and what the scheme put beside it."""

    state: Arrays
    beside: Arrays = field(default_factory=dict)

    __repr__ = shapes


@dataclass(frozen=True)
class Bare:
    """A sum without what the scheme had put into it. Where `kept` is given it is the
    recommender's own secret, and nothing is released."""

    words: NDArray[Any]
    kept: bytes | None = None

    __repr__ = shapes


class ServerNotes(Protocol):
    """A server's open transaction, as far as a scheme uses it."""

    def run(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that a statement gives."""


class Briefing(ABC):
    """What the devices of one attempt are told.

    Guarantee: it follows from the attempt, the state and what the scheme keeps, and is
    written down before anybody is told (`tacit.federation.server.rounds`), so that a
    recommender that starts again tells every device the very same. A device that was told
    something else would mask its words with another key.
    """

    alike: ClassVar[bool] = False
    """Whether every device is told the same, in every attempt at the round."""
    seeds: tuple[str, ...]
    """That every device gets in its announcement."""

    @abstractmethod
    def payload(self, device: str) -> bytes:
        """The state that this device gets."""

    @abstractmethod
    def digest(self, device: str) -> str:
        """Of that payload: the device's mask is keyed by it."""

    @abstractmethod
    def rows(self, layout: PartLayout, device: str) -> NDArray[np.uint32] | None:
        """Which rows of a part this device sends; None for all of them."""

    @abstractmethod
    def taken_off(self, layout: PartLayout, sum_: Section, arrived: Collection[str]) -> Bare:
        """A sum of the devices that arrived, without what they were given to add to it."""


class Scheme(ABC):
    """See the module. One is made for a task, with all that follows from the task.

    Who calls what: every party `layout`; the recommender `tell`, and `Told.taken_off` of
    what came; a device `received` and `added`; the aggregator `summed`, which is of the
    class alone, since it knows no task.
    """

    shows_items: ClassVar[bool] = False
    """Whether a device names its items, gets the rows of the state that belong to them and
    sends those rows alone: who rated what is visible."""
    tables: ClassVar[tuple[str, ...]] = ()
    """Statements that make the aggregator's tables for this scheme."""

    def __init__(self, assembled: Assembled) -> None:
        self.made = assembled

    @classmethod
    @abstractmethod
    def check(cls, plan: Plan) -> None:
        """Refuse a plan that the scheme has no form for."""

    @abstractmethod
    def layout(self, round_: Round, part: Part) -> PartLayout:
        """How a part of a round is sent and summed."""

    @abstractmethod
    def brief(
        self, attempt: Attempt, state: State, stored: bytes | None, secret: bytes
    ) -> Briefing:
        """What the devices of an attempt are told. `stored` is what the recommender keeps for
        the scheme, `secret` its own half of the attempt's key."""

    @abstractmethod
    def received(self, payload: bytes | memoryview) -> Received:
        """A payload on its arrival at a device."""

    def rows(self, layout: PartLayout, holding: Holding) -> NDArray[np.uint32]:
        """Which rows of a sparse part a device sends: those of its own items."""
        return holding.items

    @abstractmethod
    def added(self, path: str, layout: PartLayout, holding: Holding, rows: int) -> NDArray[Any]:
        """What a device adds to its contribution of `rows` rows to the part at `path`
        (`round/part`), modulo 2^bits: its share of the noise, and whatever it was given to
        add."""

    @classmethod
    @abstractmethod
    def summed(cls, notes: ServerNotes, task: str, layout: PartLayout, sum_: Section) -> Section:
        """A sum as the aggregator reveals it."""


def word_bits(span: float) -> int:
    """Bits of a word that holds sums up to `span` from zero, with room to see that one is
    beyond; no more than 32 where 32 hold it, and never more than 64."""
    if not span < 2.0**FULL:
        return FULL + 1
    exact = max(LEAST_BITS, int(span).bit_length() + 1)
    return min(32 if exact <= 32 else 64, exact + ROOM)


class PlainScheme(Scheme):
    """The protocol of Tacit: one payload for all, independent shares of the noise, sums as
    they are.

    Guarantee: `task.enough` shares add up to the noise of the event that the device has
    paid for (`tacit.noise.portion`), and so does what each server adds by itself
    (`tacit.noise.portion`), as far as the task asks for either; in the local model each device
    adds all of it.
    """

    @classmethod
    def check(cls, plan: Plan) -> None:
        """Refuse sums with noise as a paper prints it: a device here adds shares of a law
        that is closed under sums, and nothing else. (A printed report is fine: it is one
        device's own.)"""
        for round_ in plan.rounds:
            for part in round_.parts:
                if part.printed is not None and part.kind is not Kind.REPORT:
                    raise SettingError(
                        f"the printed noise of {round_.name} has no federated form",
                        remedy="use simulate",
                    )

    def layout(self, round_: Round, part: Part) -> PartLayout:
        """The whole array, in words that hold an honest sum with its noise; of item-item
        sums the upper triangle, each number once.

        A report is one person's to give: her label and her answer, not summed.
        """
        if part.kind is Kind.REPORT:
            return PartLayout(name=part.name, size=1, width=2, bits=64, report=True)
        gram = part.form == "gram"
        spread = self.made.server_noise(f"{round_.name}/{part.name}")
        return PartLayout(
            name=part.name,
            size=part.numbers if gram else part.size,
            width=1 if gram else part.width,
            bits=word_bits(self.made.span(round_, part)),
            law=spread.law,
            spread=spread.number,
        )

    def brief(
        self, attempt: Attempt, state: State, stored: bytes | None, secret: bytes
    ) -> Briefing:
        """The public state, the same for everybody."""
        return _CommonBriefing(pack_state(state.packed()))

    def received(self, payload: bytes | memoryview) -> Received:
        """The public state, and nothing beside it."""
        return Received(unpack_state(payload))

    def added(self, path: str, layout: PartLayout, holding: Holding, rows: int) -> NDArray[Any]:
        """Its share of the noise, whatever was announced: the share follows from the task
        that the device itself has assembled."""
        noise = self._noise(path, rows * layout.width)
        return to_words(noise, layout.bits).reshape(rows, layout.width)

    def _noise(self, path: str, count: int) -> NDArray[np.int64]:
        event = self.made.events.get(path)
        if event is None or not self.made.devices_add:
            return np.zeros(count, np.int64)
        if self.made.method.local and isinstance(event, Gaussian | Laplace):
            return own_noise(event, 1, count)[0]
        if isinstance(event, Skellam | Laplace):
            return portion(event, count, self.made.task.enough)
        raise SettingError(f"the noise of {event.name} cannot be shared among devices")

    @classmethod
    def summed(cls, notes: ServerNotes, task: str, layout: PartLayout, sum_: Section) -> Section:
        """The sum with this server's own noise, where the round asks for it."""
        return with_noise(layout, sum_)


def with_noise(layout: PartLayout, sum_: Section) -> Section:
    """A sum, masked or not, with a whole noise of the server that calls, modulo 2^bits.

    Guarantee: fresh and exact, of the law that the layout names, which every device in the
    sum has named too (`layouts_print`).
    """
    if not layout.law:
        return sum_
    spread = Spread(layout.law, layout.spread)
    noise = draw_server_noise(spread, sum_.words.size).reshape(sum_.words.shape)
    return Section(sum_.rows, sum_.words + to_words(noise, layout.bits))


@dataclass(frozen=True)
class _CommonBriefing(Briefing):
    """The same for every device."""

    alike = True
    state: bytes
    seeds: tuple[str, ...] = ()

    def payload(self, device: str) -> bytes:
        return self.state

    @cached_property
    def _digest(self) -> str:
        return digest(self.state)

    def digest(self, device: str) -> str:
        return self._digest

    def rows(self, layout: PartLayout, device: str) -> NDArray[np.uint32] | None:
        return None

    def taken_off(self, layout: PartLayout, sum_: Section, arrived: Collection[str]) -> Bare:
        return Bare(sum_.words)


def scheme_of(task: Task) -> type[Scheme]:
    """The scheme that a task asks for: a printed one where its method has one and its noise
    is not to be sound."""
    if task.calibration == "sound" or task.method not in PRINTED:
        return PlainScheme
    return _load_scheme(PRINTED[task.method])


def scheme_of_layouts(parts: tuple[PartLayout, ...]) -> type[Scheme]:
    """The scheme of a round, as the aggregator knows it."""
    return _load_scheme(HUA) if any(part.printed for part in parts) else PlainScheme


def printed_tables() -> tuple[tuple[str, ...], ...]:
    """What an aggregator keeps for each of the printed schemes."""
    return tuple(_load_scheme(address).tables for address in PRINTED.values())


def _load_scheme(address: str) -> type[Scheme]:
    module, name = address.split(":")
    scheme_class: type[Scheme] = vars(import_module(module))[name]
    return scheme_class
