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
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from tacit.federation.protocol.messages import (
    Announcement,
    Closing,
    Join,
    Message,
    Opening,
    PartLayout,
    Sum,
    Upload,
    VersionError,
    WireError,
)
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
