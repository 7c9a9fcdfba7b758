"""How Hua et al. (2015) deal their noise out: mixing numbers, cohort sizes, and in S3 the
pieces of a blinded eta.

S2: the recommender picks H_j ~ Exponential(1) and each of the k raters of j adds b sqrt(2
H_j) C, b = 2 Delta sqrt(d)/epsilon, C ~ N(0, 1/k): once for all rounds (eta), and freshly
in each (rho). S3: eta is made once, for every item whoever rated it, in a round without
ratings, by a few online devices that are picked for each item, and
blinded by the aggregator's alpha, so that the recommender holds tau = alpha + eta;
in every round it divides tau into uniform additive
pieces among whoever is online, and the aggregator takes alpha off again.

Guarantee: none that can be certified. The recommender knows H, so to it the noise is
Gaussian with a variance it chose (docs/proofs/federated.md); devices only test that H looks
exponential, which lazy cheats fail and clever ones pass.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.federation.agreed.scheme import (
    Arrays,
    Attempt,
    Bare,
    Briefing,
    Holding,
    Received,
    Scheme,
    ServerNotes,
)
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.keys import derived
from tacit.federation.protocol.packing import mask
from tacit.federation.protocol.wire import PartLayout, Section, ascending, digest, to_words
from tacit.ledger.account.event import Unbounded
from tacit.noise import bits
from tacit.noise.printed import looks_exponential, mixing, mixture
from tacit.rounds.plan import Plan
from tacit.rounds.round import Part, Round
from tacit.rounds.state import State

Items = Mapping[str, NDArray[np.uint32]]
COUNTS = "k"
"""Name of the array of cohort sizes, one for each of a device's items."""
PIECE = "piece"
"""Name of the array of pieces of tau."""
MAKES = "makes"
"""Name of the array of rows whose eta a device helps to make."""
MAKERS = 5
"""Online devices that make the eta of one item, by chance: k of section 4.3, which is not
printed. With all who are online each would send a vector for every item of the catalogue."""


@dataclass(frozen=True)
class Tau:
    """The recommender's secret: rows of items that have an eta, and alpha + eta for each,
    modulo 2^bits."""

    rows: NDArray[np.uint32]
    words: NDArray[Any]

    def packed(self) -> bytes:
        """As the recommender keeps it."""
        return pack_state({"rows": self.rows, "words": self.words})

    @classmethod
    def unpacked(cls, stored: bytes) -> Self:
        """What was packed."""
        arrays = unpack_state(stored)
        return cls(arrays["rows"], arrays["words"])


@dataclass(frozen=True)
class Deal:
    """What is dealt to the devices of one round; the same again from the same seed, so a
    restart deals nothing new."""

    layout: PartLayout
    seed: bytes
    joined: Items
    tau: Tau | None = None
    _pieces: dict[str, NDArray[Any]] = field(default_factory=dict)
    _makes: dict[str, NDArray[np.uint32]] = field(default_factory=dict)

    @property
    def counts(self) -> NDArray[np.int64]:
        """k of each item: how many of the joined devices rated it."""
        every = [np.zeros(0, np.uint32), *self.joined.values()]
        return np.bincount(np.concatenate(every), minlength=self.layout.size)

    def pieces(self) -> Mapping[str, NDArray[Any]]:
        """For each device and each of its items a piece of tau; the last rater of an item
        gets what is left."""
        if self._pieces or self.tau is None:
            return self._pieces
        names = sorted(self.joined)
        listed = [self.joined[name] for name in names]
        rows = np.concatenate(listed).astype(np.int64)
        width, bits = self.layout.width, self.layout.bits
        dealt = mask(self.seed, "pieces", len(rows), width, bits).copy()
        has_eta = np.zeros(self.layout.size, bool)
        has_eta[self.tau.rows] = True
        if not (has := has_eta[rows]).all():
            dealt[~has] = 0
        tau_words = self._nothing()
        tau_words[self.tau.rows] = self.tau.words
        order = np.argsort(rows, kind="stable")
        starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
        last_raters = order[np.append(starts[1:], len(rows))[: len(starts)] - 1]
        dealt_sums = np.add.reduceat(dealt[order], starts, dtype=dealt.dtype)
        dealt[last_raters] += tau_words[rows[last_raters]] - dealt_sums
        ends = np.cumsum([len(items) for items in listed])[:-1]
        self._pieces.update(zip(names, np.split(dealt, ends), strict=True))
        return self._pieces

    def makes(self) -> Mapping[str, NDArray[np.uint32]]:
        """For each device the rows whose eta it helps to make, as many for each as for any
        other: item j is made by those at places jk to jk + k - 1 of a shuffled ring."""
        if not self._makes:
            ring = sorted(self.joined, key=lambda name: derived(self.seed, name))
            width = makers(len(ring))
            start = np.arange(self.layout.size)[:, None] * width
            ring_positions = (start + np.arange(width)) % len(ring)
            for k, device in enumerate(ring):
                rows = np.flatnonzero((ring_positions == k).any(axis=1))
                self._makes[device] = rows.astype(np.uint32)
        return self._makes

    def missing(self, arrived: Collection[str]) -> NDArray[Any]:
        """Pieces that were dealt to devices which did not arrive: the recommender puts them
        in itself."""
        total = self._nothing()
        for device, piece in self.pieces().items():
            if device not in arrived:
                total[self.joined[device]] += piece
        return total

    def _nothing(self) -> NDArray[Any]:
        return np.zeros((self.layout.size, self.layout.width), f"<u{self.layout.word_size}")


def makers(joined: int) -> int:
    """How many of those who joined make the eta of one item."""
    return min(MAKERS, joined)


@dataclass(frozen=True)
class _PersonalBriefing(Briefing):
    """Each device gets the rows of its own items, their cohort sizes, and in S3 its pieces.

    So each payload is another one, and each device's mask is keyed by its own.
    """

    deal: Deal
    seeds: tuple[str, ...]
    by_item: Arrays
    """State with one row an item, of which a device gets its own."""
    rest: Arrays
    counts: NDArray[np.int64]
    _digests: dict[str, str] = field(default_factory=dict)

    def payload(self, device: str) -> bytes:
        rows = self.deal.joined[device]
        arrays = {name: array[rows] for name, array in self.by_item.items()}
        arrays |= self.rest
        arrays[COUNTS] = self.counts[rows].astype(np.int32)
        if self.deal.tau is not None:
            arrays[PIECE] = self.deal.pieces()[device]
        if self.deal.layout.printed == "add":
            arrays[MAKES] = self.deal.makes()[device]
        packed = pack_state(arrays)
        self._digests[device] = digest(packed)
        return packed

    def digest(self, device: str) -> str:
        if device not in self._digests:
            self.payload(device)
        return self._digests[device]

    def rows(self, layout: PartLayout, device: str) -> NDArray[np.uint32] | None:
        if layout.printed == "add":
            return self.deal.makes()[device]
        return self.deal.joined[device]

    def taken_off(self, layout: PartLayout, sum_: Section, arrived: Collection[str]) -> Bare:
        rows, total = sum_
        if layout.name != self.deal.layout.name:
            return Bare(total)
        if layout.printed == "add":
            return Bare(total, Tau(rows, total[rows]).packed())
        if self.deal.tau is not None:
            total[rows] += self.deal.missing(arrived)[rows]
        return Bare(total)


class Hua(Scheme):
    """S2 and S3 as printed; without noise, the same steps and plain sums of them."""

    shows_items = True
    tables = ("CREATE TABLE blind (task TEXT PRIMARY KEY, seed BLOB NOT NULL, items BLOB)",)

    @cached_property
    def _bits(self) -> bits.Bits:
        """One stream for all draws of a process: making one for each answer takes as long
        as a fifth of its noise."""
        return bits.fresh()

    @classmethod
    def check(cls, plan: Plan) -> None:
        """Its own plan, and no other, is what it runs."""

    def layout(self, round_: Round, part: Part) -> PartLayout:
        """The rows of a device's own items, in 32-bit words; of those that it was dealt when
        S3's eta is made. Of S3's gradients the aggregator adds its alpha then, and takes it
        off in every other round."""
        blind: Literal["", "add", "subtract"] = ""
        dynamic = round_.takes_part.printed == "S3"
        if dynamic and self.made.events and part.name == "gradient":
            blind = "add" if round_.name == "initialise" else "subtract"
        return PartLayout(
            name=part.name, size=part.size, width=part.width, bits=32, sparse=True, printed=blind
        )

    def brief(
        self, attempt: Attempt, state: State, stored: bytes | None, secret: bytes
    ) -> Briefing:
        """To each device its own rows and cohort sizes; to all of them the seeds of H, for
        the fresh rho, and for eta where eta is made (S3) or added again (S2)."""
        first_layout = self.made.layouts(attempt.index)[0]
        task = self.made.task.name
        context = f"{task} {attempt.index} {attempt.number} {attempt.nonce}"
        seed = derived(secret, f"deal {context}")
        has_tau = stored is not None and first_layout.printed == "subtract"
        deal = Deal(
            first_layout, seed, attempt.joined, Tau.unpacked(stored) if has_tau and stored else None
        )
        rho, eta = (derived(seed, "rho").hex(), derived(secret, f"eta {task}").hex())
        seeds: tuple[str, ...] = ()
        if self.made.events:
            static = self.made.round(attempt.index).takes_part.printed == "S2"
            seeds = (rho, eta) if static or first_layout.printed == "add" else (rho,)
        arrays = state.packed()
        by_item = {
            name: array
            for name, array in arrays.items()
            if array.ndim and len(array) == first_layout.size and first_layout.size > 1
        }
        shared = {name: array for name, array in arrays.items() if name not in by_item}
        return _PersonalBriefing(deal, seeds, by_item, shared, deal.counts)

    def received(self, payload: bytes | memoryview) -> Received:
        """The state of the device's own items, with cohort sizes and pieces beside it."""
        arrays = unpack_state(payload)
        named = (COUNTS, PIECE, MAKES)
        beside = {n: arrays.pop(n) for n in named if n in arrays}
        return Received(arrays, beside)

    def rows(self, layout: PartLayout, holding: Holding) -> NDArray[np.uint32]:
        """Those of its own items; of the items that it was dealt, where eta is made."""
        if layout.printed != "add":
            return holding.items
        dealt = np.asarray(holding.beside.get(MAKES, ()))
        fine = dealt.ndim == 1 and dealt.dtype == np.uint32
        if not fine or not ascending(dealt, layout.size):
            raise SettingError("the recommender dealt items that there are not")
        return dealt

    def added(self, path: str, layout: PartLayout, holding: Holding, rows: int) -> NDArray[Any]:
        """Mixed noise as printed, and the pieces of tau that it was dealt."""
        added = to_words(self._noise(path, layout, holding, rows), layout.bits)
        if layout.printed == "subtract" and PIECE in holding.beside:
            added += holding.beside[PIECE]
        return added

    def _noise(
        self, path: str, layout: PartLayout, holding: Holding, rows: int
    ) -> NDArray[np.int64]:
        """Equation 12: for each seed b sqrt(2 H) C with C ~ N(0, 1/k). The first seed is of
        rho, drawn freshly; the second of eta, for which a device draws the same C in every
        round, from a secret of its own."""
        total = np.zeros((rows, layout.width))
        event = self.made.events.get(path)
        if not isinstance(event, Unbounded) or event.noise == "none":
            return total.astype(np.int64)
        items = self.rows(layout, holding).astype(np.int64)
        raters = holding.beside[COUNTS]
        if layout.printed == "add":
            raters = np.full(rows, makers(holding.told.joined))
        people = np.maximum(raters, 1).astype(np.float64)
        noise_secret = digest(holding.secret, holding.told.task.encode()).encode()[:32]
        for position, seed in enumerate(holding.told.mixing):
            mixed = mixing(bytes.fromhex(seed), items, layout.width)
            if not looks_exponential(mixed):
                raise SettingError("the recommender's mixing numbers are not Exponential(1)")
            if position == 0 and layout.printed == "add":
                continue  # the round that makes eta adds eta alone
            fixed = None if position == 0 else (noise_secret, items)
            total += mixture(event.scale, mixed, people, self._bits, fixed)
        return np.trunc(total).astype(np.int64)

    @classmethod
    def summed(cls, notes: ServerNotes, task: str, layout: PartLayout, sum_: Section) -> Section:
        """With alpha, a secret vector for each item: added when eta is made, and taken off
        in every round.

        Alpha follows from a seed that is drawn when eta is made, and kept.
        """
        rows, section_words = sum_
        if not layout.printed:
            return sum_
        stored = notes.run("SELECT seed, items FROM blind WHERE task = ?", task)
        if stored:
            seed = bytes(stored[0][0])
        elif layout.printed == "subtract":
            return sum_
        else:
            seed = bits.fresh().token(32)
            stored = [(seed, rows.astype("<u4").tobytes())]
            notes.run("INSERT INTO blind VALUES (?, ?, ?)", task, *stored[0])
        alpha = mask(seed, "alpha", layout.size, layout.width, layout.bits)
        # an item whose makers all dropped out has no eta, and so no alpha
        eta_rows = np.frombuffer(bytes(stored[0][1]), "<u4")
        alpha = np.where(np.isin(rows, eta_rows)[:, None], alpha[rows], 0)
        total = section_words + alpha if layout.printed == "add" else section_words - alpha
        return Section(rows, total.astype(section_words.dtype))
