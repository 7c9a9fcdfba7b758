"""What goes over the wire: small JSON headers checked by pydantic, and vectors as raw
little-endian words.

A frame:

    TACIT1 | length of the header, 4 bytes | header, JSON | payload

A message names the protocol version, the task and the round, so that none can be taken for
another. One round of a training, message by message (`docs/protocol.md` has the whole
conversation):

    recommender  ── Opening ──────────►  aggregator      /v1/open
    device       ── Join ─────────────►  recommender     /v1/join
    recommender  ── Announcement ─────►  device          (the answer to it)
    device       ── Upload ───────────►  aggregator      /v1/upload
    recommender  ── Closing ──────────►  aggregator      /v1/close
    aggregator   ── Sum ──────────────►  recommender     (the answer to it)
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
)

from tacit.errors import UsageError

VERSION = 1
"""Of the protocol; a server answers for this one and the one before it."""
MAGIC = b"TACIT1"
"""How every frame begins."""
HEADER_LIMIT = 1 << 20
"""Bytes of the longest header that is read."""
ROW_BYTES = 4
"""Of a row's number, where a part is sparse."""
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:/ -]{1,120}$")]
Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,128}$")]
M = TypeVar("M", bound=BaseModel)
_KINDS = {
    f"{'|' if n == 1 else '<'}{c}{n}": f"{c.upper()}{8 * n}"
    for c in "fiu"
    for n in (1, 2, 4, 8)
}
_KINDS["|b1"] = "BOOL"
"""What safetensors calls the types of numpy."""


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


class Layout(BaseModel):
    """One part of a round as it is summed: `size` rows of `width` words of `bits` bits.

    Every side derives it from the task. The recommender opens a round with its layouts, and
    an upload names the print of those that the device has derived (`layouts_print`).
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True
    )
    name: Name
    size: int = Field(ge=1, le=10**8)
    width: int = Field(ge=1, le=10**6)
    bits: Literal[32, 64]
    sparse: bool = False
    """Only the rows of a device's own items are sent, with their numbers: `paper` alone: it
    shows who rated what."""
    report: bool = False
    """Not summed: one (label, answer) of each device, randomized by itself, so in the open
    and kept as it is."""
    printed: Literal["", "add", "subtract"] = Field(default="", alias="blind")
    """What a printed scheme has the aggregator do to this sum, with a secret vector of its
    own: empty in every sound plan. (Its name on the wire is older than its name here.)"""

    @property
    def word(self) -> int:
        """Bytes of one word."""
        return self.bits // 8


class Opening(Message):
    """The recommender opens an attempt at a round at the aggregator, which takes uploads for
    it from here on. Signed by the recommender's identity."""

    task: Hex
    round: int = Field(ge=0)
    attempt: int = Field(ge=0)
    parts: tuple[Layout, ...]
    least: int = Field(ge=1)
    """A sum over fewer devices is never revealed."""


class Join(Message):
    """A device asks for the next round, and waits for the answer, an `Announcement`.

    The payload lists rows of the catalogue where the scheme shows who rated what, and is
    empty otherwise. The MAC of the device is on all of it.
    """

    task: Hex
    stamp: int
    """Nanoseconds since 1970 and larger than in any earlier request of this device: a copy
    is refused."""
    done: tuple[int, int] = (-1, -1)
    """The last (round, attempt) that this device has answered: it waits for another."""
    place: int = Field(default=0, ge=0, lt=1 << 53)
    """A number that the device drew for this task: plans that cut people into slices cut by it."""
    items: bool = False
    """Whether the payload lists rows, as 32-bit numbers in ascending order."""


class Announcement(Message):
    """The round that a device joins; the payload is public state, by name, as safetensors."""

    task: Hex
    round: int
    attempt: int
    nonce: Hex
    """The mask of a device is keyed by its secret with the recommender and by this, fresh
    for every round."""
    key: Hex
    """Which of the recommender's exchange keys the secret is with."""
    joined: int
    least: int
    enough: int
    """Shares of the noise that suffice: each device adds variance 1/enough of the whole."""
    seconds: float
    """Until the upload is late."""
    mixing: tuple[Hex, ...] = ()
    """Seeds that a printed scheme sends along (`tacit.federation.printed`); none in
    a sound plan."""


class Upload(Message):
    """A masked contribution, under the device's MAC.

    The payload is, part by part, the row numbers (where sparse) and the words: contribution,
    noise and mask, added modulo 2^bits.
    """

    task: Hex
    round: int = Field(ge=0)
    attempt: int = Field(ge=0)
    least: int = Field(ge=1)
    """What the device was promised: the aggregator keeps the largest that any device names."""
    rows: tuple[int, ...] = ()
    """For each sparse part, how many rows follow."""
    layouts: str = Field(default="", pattern=r"^[0-9a-f]{0,32}$")
    """`layouts_print` of the parts as the device sees them: it agrees to these sums and
    reports and no others."""


class Sum(Message):
    """What the aggregator reveals, signed by its identity.

    The payload is the ids of the devices that are in the sum (16 bytes each), then, part by
    part, rows (where sparse) and words.
    """

    task: Hex
    round: int
    attempt: int
    cohort: int
    rows: tuple[int, ...] = ()


class Closing(Message):
    """The recommender asks for a sum, or gives a round up."""

    task: Hex
    round: int
    attempt: int
    expected: int = 0
    """Devices that joined; when all have answered there is nothing to wait for."""
    wait: float = Field(default=0.0, ge=0, le=86_400)
    """Seconds until the round is over for those who have not."""
    give_up: bool = False


class Section(NamedTuple):
    """One part of a payload."""

    rows: Any
    """Which rows follow, where the part is sparse; None for all of them."""
    words: Any


def pack(header: BaseModel | Mapping[str, Any], payload: bytes = b"") -> bytes:
    """A frame."""
    text = (
        header.model_dump_json(by_alias=True).encode()
        if isinstance(header, BaseModel)
        else json.dumps(header).encode()
    )
    return MAGIC + struct.pack("<I", len(text)) + text + payload


def unpack(kind: type[M], frame: bytes) -> tuple[M, memoryview]:
    """The checked header and the payload of a frame."""
    start = len(MAGIC) + 4
    if len(frame) < start or frame[: len(MAGIC)] != MAGIC:
        raise WireError("not a frame of this protocol")
    (length,) = struct.unpack_from("<I", frame, len(MAGIC))
    if length > min(HEADER_LIMIT, len(frame) - start):
        raise WireError("a truncated frame")
    try:
        header = kind.model_validate_json(frame[start : start + length])
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
    return header, memoryview(frame)[start + length :]


def layouts_print(parts: tuple[Layout, ...]) -> str:
    """What an upload must name. Who opens a round could else have words listed that were
    meant to be summed, or summed in longer words, whose carries tell more than the sum."""
    told = "\n".join(part.model_dump_json(by_alias=True) for part in parts)
    return digest(told.encode())[:32]


def words(values: NDArray[np.int64], bits: int) -> NDArray[Any]:
    """Integers modulo 2^bits.

    Sums of words are sums of integers as long as those stay within half the range on either
    side of zero, which is what the length of a word is chosen for.
    """
    whole = np.ascontiguousarray(values, np.int64).view(np.uint64)
    return whole.astype("<u4") if bits == 32 else whole.astype("<u8")


def integers(found: NDArray[Any], bits: int) -> NDArray[np.int64]:
    """The representatives nearest to zero."""
    if bits == 32:
        return (
            np.ascontiguousarray(found, np.uint32)
            .view(np.int32)
            .astype(np.int64)
        )
    return np.ascontiguousarray(found, np.uint64).view(np.int64).copy()


def pack_state(state: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as safetensors, written here: it is done for every device and round."""
    facts = dict[str, Any]()
    data = list[bytes]()
    at = 0
    for name in sorted(state):  # packed twice it must be equal, byte for byte
        array = state[name]
        whole = np.ascontiguousarray(array)
        data.append(whole.tobytes())
        facts[name] = {
            "dtype": _KINDS[whole.dtype.str],
            "shape": whole.shape,
            "data_offsets": (at, at := at + whole.nbytes),
        }
    text = json.dumps(facts).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *data])


def unpack_state(data: bytes | memoryview) -> dict[str, NDArray[Any]]:
    """The arrays of `pack_state`, or of any other writer of safetensors."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(bytes(data)))
    except SafetensorError:
        raise WireError("public state that does not parse") from None


def digest(*parts: bytes | memoryview) -> str:
    """SHA-256 of the parts, one after another."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()


def ascending(rows: NDArray[Any], size: int) -> bool:
    """Whether unsigned row numbers ascend, each once, and lie inside an array of `size` rows."""
    return not len(rows) or (
        int(rows[-1]) < size
        and (len(rows) < 2 or not (rows[1:] <= rows[:-1]).any())
    )


def sections(
    parts: tuple[Layout, ...], rows: tuple[int, ...], payload: memoryview
) -> list[Section]:
    """Each part of a payload; refuses any other length."""
    counts = _counts(parts, rows)
    whole = sum(
        count * (part.width * part.word + (ROW_BYTES if part.sparse else 0))
        for count, part in zip(counts, parts, strict=True)
    )
    if len(payload) != whole:
        raise WireError(
            f"a payload of {len(payload)} bytes where {whole} belong"
        )
    out: list[Section] = []
    at = 0
    for part, count in zip(parts, counts, strict=True):
        index = None
        if part.sparse:
            index = np.frombuffer(payload[at : at + ROW_BYTES * count], "<u4")
            at += ROW_BYTES * count
            if not ascending(index, part.size):
                raise WireError(
                    "row numbers that do not ascend inside the part"
                )
        end = at + count * part.width * part.word
        found = np.frombuffer(payload[at:end], f"<u{part.word}")
        out.append(Section(index, found.reshape(count, part.width)))
        at = end
    return out


def _counts(parts: tuple[Layout, ...], rows: tuple[int, ...]) -> list[int]:
    """How many rows of each part are sent: as many as are named where it is sparse."""
    if len(rows) != sum(part.sparse for part in parts):
        raise WireError("a wrong number of sparse parts")
    named = iter(rows)
    counts = [next(named) if part.sparse else part.size for part in parts]
    if any(
        not 0 <= count <= part.size
        for count, part in zip(counts, parts, strict=True)
    ):
        raise WireError("a part with a wrong number of rows")
    return counts
