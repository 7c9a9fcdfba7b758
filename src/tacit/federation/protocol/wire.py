"""What goes over the wire: small JSON headers checked by pydantic, and vectors as raw
little-endian words.

A frame:

    TACIT1 | length of the header, 4 bytes | header, JSON | payload

A message names the protocol version, the task and the round, so that none can be taken for
another. One round of a training, message by message (`docs/protocol.md` has the whole
conversation):

    recommender  ─ Opening ───────►  aggregator    /v1/open
    device       ─ Join ──────────►  recommender   /v1/join
    recommender  ─ Announcement ──►  device        (the answer to it)
    device       ─ Upload ────────►  aggregator    /v1/upload
    recommender  ─ Closing ───────►  aggregator    /v1/close
    aggregator   ─ Sum ───────────►  recommender   (the answer to it)
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from tacit.errors import UsageError
from tacit.federation.protocol.packing import packed_size, unpacked, word_bytes

__all__ = [
    "HEADER_LIMIT",
    "MAGIC",
    "VERSION",
    "Announcement",
    "Closing",
    "Join",
    "PartLayout",
    "Message",
    "Opening",
    "Section",
    "Sum",
    "Upload",
    "VersionError",
    "WireError",
    "ascending",
    "digest",
    "integers",
    "layouts_print",
    "pack",
    "payload_size",
    "sections",
    "split",
    "unpack",
    "to_words",
]
VERSION = 1
"""Of the protocol; a server answers for this one and the one before it."""
MAGIC = b"TACIT1"
"""How every frame begins."""
HEADER_LIMIT = 1 << 20
"""Bytes of the longest header that is read."""
ROW_BYTES = 4
"""Of a row's number, where a part is sparse."""
M = TypeVar("M", bound=BaseModel)
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:/ -]{1,120}$")]
LEAST_SPREAD = 1 << 10
MOST_SPREAD = 1 << 62
"""Of `gaussian` and `laplace`, in 2^-20 steps: what their samplers can draw."""
MOST_SKELLAM = 1 << 53
"""Squared steps: a larger variance is drawn in so many pieces that a round would wait."""
Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,128}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]
Number = Annotated[int, Field(ge=0, lt=1 << 31)]
"""Of a round, an attempt, devices: what any store can hold."""
Place = Annotated[int, Field(ge=-1, lt=1 << 31)]
"""A number, or -1 for none yet."""
Stamp = Annotated[int, Field(ge=0, lt=1 << 63)]
"""Nanoseconds since 1970, for a store of 64 bits."""
Ticket = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]


class Section(NamedTuple):
    """One part of a payload."""

    rows: Any
    """Which rows follow, where the part is sparse; None for all of them."""
    words: Any


def pack(header: BaseModel | Mapping[str, Any], payload: bytes = b"") -> bytes:
    """A frame. Members are written in the order of their declaration and under their names
    on the wire, so that equal headers are equal bytes."""
    text = (
        header.model_dump_json().encode()
        if isinstance(header, BaseModel)
        else json.dumps(header).encode()
    )
    return MAGIC + struct.pack("<I", len(text)) + text + payload


def unpack(kind: type[M], frame: bytes) -> tuple[M, memoryview]:
    """The checked header and the payload of a frame.

    Refuses what is not a frame, a header that is longer than the frame or than a header may
    be, members that are missing, unknown or out of range, and another version of the
    protocol, which gets an answer of its own. The payload is not looked at.
    """
    text, payload = split(frame)
    try:
        # strictly: "2" and 2.0 are no counts, here or for another who reads it
        header = kind.model_validate_json(text, strict=True)
    except ValidationError as error:
        if any(
            fault["loc"] == ("version",)
            for fault in error.errors(include_input=False, include_url=False)
        ):
            raise VersionError(
                f"another version of the protocol: version {VERSION} is spoken here"
            ) from None
        raise WireError(
            f"a malformed {kind.__name__.lower()}: {error.error_count()} faults in its header"
        ) from None
    return header, payload


def split(frame: bytes) -> tuple[bytes, memoryview]:
    """The header of a frame, as it is, and its payload."""
    start = len(MAGIC) + 4
    if len(frame) < start or frame[: len(MAGIC)] != MAGIC:
        raise WireError("not a frame of this protocol")
    (length,) = struct.unpack_from("<I", frame, len(MAGIC))
    if length > min(HEADER_LIMIT, len(frame) - start):
        raise WireError("a truncated frame")
    return frame[start : start + length], memoryview(frame)[start + length :]


def layouts_print(parts: tuple[PartLayout, ...]) -> str:
    """What an upload must name. Who opens a round could else have words listed that were
    meant to be summed, or summed in longer words, whose carries tell more than the sum."""
    text = "\n".join(part.model_dump_json() for part in parts)
    return digest(text.encode())[:32]


def to_words(values: NDArray[np.int64], bits: int) -> NDArray[Any]:
    """Integers modulo 2^bits.

    Sums of words are sums of integers as long as those stay within half the range on either
    side of zero, which is what the length of a word is chosen for.
    """
    unsigned = np.ascontiguousarray(values, np.int64).view(np.uint64)
    return unsigned.astype(f"<u{word_bytes(bits)}")


def integers(residues: NDArray[Any], bits: int) -> NDArray[np.int64]:
    """What `words` were made of, if that was nearer to zero than half the range: the
    representatives nearest to zero."""
    unsigned = np.ascontiguousarray(residues).astype(np.uint64)
    high = np.int64(64 - bits)
    # to the top, so that what is above the word falls off, and back with its sign
    return (unsigned << high.astype(np.uint64)).view(np.int64) >> high


def digest(*parts: bytes | memoryview) -> str:
    """SHA-256 of the parts, one after another."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(part)
    return hasher.hexdigest()


def ascending(rows: NDArray[Any], size: int) -> bool:
    """Whether unsigned row numbers ascend, each once, and lie inside an array of `size` rows.

    Then adding rows at these numbers adds each row once, which numpy does not do for a
    number that is listed twice.
    """
    return not len(rows) or (
        int(rows[-1]) < size and (len(rows) < 2 or not (rows[1:] <= rows[:-1]).any())
    )


def payload_size(parts: tuple[PartLayout, ...], rows: tuple[int, ...]) -> int:
    """Bytes of a payload with these parts, of which sparse ones have so many rows."""
    return _size_of_sections(parts, _counts(parts, rows))


def _size_of_sections(parts: tuple[PartLayout, ...], counts: list[int]) -> int:
    return sum(
        packed_size(count * part.width, part.bits) + (count * ROW_BYTES if part.sparse else 0)
        for count, part in zip(counts, parts, strict=True)
    )


def sections(
    parts: tuple[PartLayout, ...], rows: tuple[int, ...], payload: memoryview, checked: bool = False
) -> list[Section]:
    """Each part of a payload, which holds them one after another:

        row numbers, 4 bytes each, where the part is sparse | words, row by row, packed

    `rows` says how many rows each sparse part has. Any other length is refused, and so are
    row numbers that do not ascend inside their part, unless that was `checked` before. Words
    of 32 and 64 bits are not copied.
    """
    counts = _counts(parts, rows)
    expected_size = _size_of_sections(parts, counts)
    if len(payload) != expected_size:
        raise WireError(f"a payload of {len(payload)} bytes where {expected_size} belong")
    out: list[Section] = []
    at = 0
    for part, count in zip(parts, counts, strict=True):
        index = None
        if part.sparse:
            index = np.frombuffer(payload[at : at + ROW_BYTES * count], "<u4")
            at += ROW_BYTES * count
            if not checked and not ascending(index, part.size):
                raise WireError("row numbers that do not ascend inside the part")
        end = at + packed_size(count * part.width, part.bits)
        section_words = unpacked(payload[at:end], count * part.width, part.bits)
        out.append(Section(index, section_words.reshape(count, part.width)))
        at = end
    return out


def _counts(parts: tuple[PartLayout, ...], rows: tuple[int, ...]) -> list[int]:
    """How many rows of each part are sent: as many as are named where it is sparse."""
    if len(rows) != sum(part.sparse for part in parts):
        raise WireError("a wrong number of sparse parts")
    named = iter(rows)
    counts = [next(named) if part.sparse else part.size for part in parts]
    if any(not 0 <= count <= part.size for count, part in zip(counts, parts, strict=True)):
        raise WireError("a part with a wrong number of rows")
    return counts


# The messages of the protocol, version 1: what each header says, checked by pydantic.


class WireError(UsageError):
    """A message that is no message of this protocol.

    The sender gets a short refusal with this status, never a traceback, and nothing of what
    it sent is repeated.
    """

    status = 400


class VersionError(WireError):
    """A message of another version of the protocol."""

    status = 426


class Message(BaseModel):
    """A header: what every message says of itself.

    Members that are not known are refused, and so is a number that is none: what is read is
    what was meant, or nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    version: Literal[1] = 1


class PartLayout(BaseModel):
    """One part of a round as it is summed: `size` rows of `width` words of `bits` bits.

    Every side derives it from the task. The recommender opens a round with its layouts, and
    an upload names the print of those that the device has derived (`layouts_print`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Name
    size: int = Field(ge=1, le=10**8)
    width: int = Field(ge=1, le=10**6)
    bits: int = Field(ge=8, le=64)
    """Of a word: sums are modulo 2^bits (`tacit.federation.protocol.packing`)."""
    sparse: bool = False
    """Only the rows of a device's own items are sent, with their numbers: `paper` alone: it
    shows who rated what."""
    report: bool = False
    """Not summed: one (label, answer) of each device, randomized by itself, so in the open
    and kept as it is."""
    law: Literal["", "gaussian", "laplace", "skellam"] = ""
    """Of the noise that each server adds to the sum by itself; empty where none does."""
    spread: int = Field(default=0, ge=0, lt=1 << 63)
    """Of that law, as a whole number: of `gaussian` the standard deviation and of `laplace`
    the scale, in 2^-20 steps; of `skellam` the variance in squared steps
    (`tacit.noise.portion`)."""
    printed: Literal["", "add", "subtract"] = ""
    """What a printed scheme has the aggregator do to this sum, with a secret vector of its
    own: empty in every sound plan."""

    @model_validator(mode="after")
    def _some_noise(self) -> PartLayout:
        if bool(self.law) != bool(self.spread) or (self.law and self.report):
            raise ValueError("a law has a spread, and a report has neither")
        skellam = self.law == "skellam"
        low, high = (1, MOST_SKELLAM) if skellam else (LEAST_SPREAD, MOST_SPREAD)
        if self.law and not low <= self.spread <= high:
            raise ValueError("no server draws a noise of this spread")
        return self

    @property
    def word_size(self) -> int:
        """Bytes of one word in memory."""
        return word_bytes(self.bits)


class Opening(Message):
    """The recommender opens an attempt at a round at the aggregator, which takes uploads for
    it from here on. Signed by the recommender's identity."""

    task: Hex
    round: Number
    attempt: Number
    parts: tuple[PartLayout, ...]
    least: int = Field(ge=1, lt=1 << 31)
    """A sum over fewer devices is never revealed."""
    tickets: Digest = ""
    """The recommender's key for join tickets (`tacit.federation.protocol.keys`)."""
    groups: int = Field(default=1, ge=1, le=1000)
    """Into how many sums those who arrive are cut, by chance; fewer if they are too few for
    so many least cohorts."""


class Join(Message):
    """A device asks for the next round, and waits for the answer, an `Announcement`.

    The payload lists rows of the catalogue where the scheme shows who rated what, and is
    empty otherwise. The MAC of the device is on all of it.
    """

    task: Hex
    stamp: Stamp
    """Nanoseconds since 1970 and larger than in any earlier request of this device: a copy
    is refused."""
    done: tuple[Place, Place] = (-1, -1)
    """The last (round, attempt) that this device has answered: it waits for another."""
    place: int = Field(default=0, ge=0, lt=1 << 53)
    """A number that the device drew for this task: plans that cut people into slices cut by it."""
    holds: Number = 0
    """How many rows this device has of the arrays that grow by a row in every round."""
    items: bool = False
    """Whether the payload lists rows, as 32-bit numbers in ascending order."""


class Announcement(Message):
    """The round that a device joins; the payload is public state, by name, as safetensors.

    A device takes none of it on trust: `least` and `enough` must be those of the task, the
    state must be one that the plan leads to, and the noise follows from the task alone.
    """

    task: Hex
    round: Number
    attempt: Number
    nonce: Hex
    """The mask of a device is keyed by its secret with the recommender and by this, fresh
    for every round."""
    key: Hex
    """Which of the recommender's exchange keys the secret is with."""
    joined: int
    least: int
    enough: int
    """Shares of the noise that suffice: where devices add any, each adds variance 1/enough of
    the whole."""
    seconds: float
    """Until the upload is late."""
    since: Number = 0
    """The payload has no rows before this one of the arrays that grow: the device holds
    them (`tacit.federation.protocol.arrays`)."""
    whole: Digest = ""
    """Digest of the payload with these rows, where there are any."""
    ticket: Ticket = ""
    """The recommender's word that this device is in this attempt: its upload repeats it
    (`tacit.federation.protocol.keys`)."""
    mixing: tuple[Hex, ...] = ()
    """Seeds that a printed scheme sends along (`tacit.papers.hua2015`); none in
    a sound plan."""


class Upload(Message):
    """A masked contribution, under the device's MAC.

    The payload is, part by part, the row numbers (where sparse) and the words: contribution,
    noise and mask, added modulo 2^bits.
    """

    task: Hex
    round: Number
    attempt: Number
    least: int = Field(ge=1, lt=1 << 31)
    """What the device was promised: the opening must say the same."""
    ticket: Ticket = ""
    """Of the announcement: nobody is counted who did not join."""
    rows: tuple[Number, ...] = ()
    """For each sparse part, how many rows follow."""
    layouts: str = Field(default="", pattern=r"^[0-9a-f]{0,32}$")
    """`layouts_print` of the parts as the device sees them: it agrees to these sums and
    reports and no others."""


class Sum(Message):
    """What the aggregator reveals, signed by its identity.

    The payload is, group by group, the ids of the devices that are in its sum (16 bytes
    each), then, part by part, rows (where sparse) and words.
    """

    task: Hex
    round: Number
    attempt: Number
    cohort: Number
    """Devices in all groups."""
    cohorts: tuple[Number, ...] = ()
    """Devices of each group, in the order of the payload."""
    rows: tuple[Number, ...] = ()


class Closing(Message):
    """The recommender asks for a sum, or gives an attempt up, under its signature.

    The answer is a `Sum`, or 409 if the attempt is never revealed: too few came, it was
    given up, or another attempt at the round was revealed before.
    """

    task: Hex
    round: Number
    attempt: Number
    expected: Number = 0
    """Devices that joined; when all have answered there is nothing to wait for."""
    wait: float = Field(default=0.0, ge=0, le=86_400)
    """Seconds until the round is over for those who have not."""
    give_up: bool = False
