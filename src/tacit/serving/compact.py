"""The published arrays in a compact form for browsers: fewer bits, a stated error, one file.

    8 bytes     the letters TACITWEB
    4 bytes     the version, little endian
    4 bytes     the length of the header
    header      JSON: names, numbers, and of each array its type, shape, place and largest error
    arrays      each on a multiple of 8 bytes from the start of the file

Guarantee: packing is post-processing of a published model. It reads released arrays and public
facts only, and says of every array how far the packed numbers are from the published ones.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ModelError, SettingError
from tacit.model.shared import Shared

MAGIC = b"TACITWEB"
VERSION = 1
ALIGNED = 8
LARGEST_HEADER = 1 << 20
UNSENT = frozenset({"kept"})
"""What a model keeps for a later fit that starts from it: no person needs it."""
LARGE = 4_000_000
"""Entries of an array from which on bytes matter more than the last digits: `int8` if not told."""
FLOAT16_MOST = 60_000.0
"""Beyond it a float16 is close to infinity."""
LEVELS = 127
"""Steps of an int8 on each side of 0."""

Precision = Literal["auto", "float32", "float16", "int8"]
PRECISIONS: tuple[Precision, ...] = ("auto", "float32", "float16", "int8")
TYPES = {"f32": "<f4", "f16": "<f2", "i8": "<i1", "u16": "<u2", "u32": "<u4"}


@dataclass(frozen=True)
class PackedModel:
    """A model as one run of bytes."""

    data: bytes
    error: Mapping[str, float]
    """Largest distance of a packed number from the published one, by array."""


@dataclass(frozen=True)
class Unpacked:
    """What a reader gets back: the header, and the arrays with their errors."""

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class _Coded:
    kind: str
    data: NDArray[Any]
    error: float
    steps: NDArray[np.float32] | None = None
    """Of an int8: what one level means, by column."""


def pack(shared: Shared, name: str, precision: Precision = "auto") -> PackedModel:
    """The model as the page reads it. `name` is what the server calls it."""
    if precision not in PRECISIONS:
        raise SettingError(
            f"the precision {precision!r} is unknown", remedy=f"use one of {', '.join(PRECISIONS)}"
        )
    coded = {
        label: _encode(label, np.asarray(array), precision)
        for label, array in sorted(shared.arrays.items())
        if label not in UNSENT
    }
    facts: dict[str, Any] = {
        "name": name,
        "method": shared.method,
        "kind": shared.personal,
        "digest": shared.digest(),
        "items": len(shared.catalogue),
        "scale": {"low": shared.schema.low, "high": shared.schema.high},
        "positive": shared.schema.positive,
        "numbers": dict(shared.numbers),
    }
    return PackedModel(
        _assemble(facts, coded), {label: array.error for label, array in coded.items()}
    )


def _assemble(facts: dict[str, Any], coded: Mapping[str, _Coded]) -> bytes:
    """Places count from the end of the header, whose length depends on them."""
    listed = list[dict[str, Any]]()
    bodies = list[bytes]()
    at = 0
    for label, array in coded.items():
        body = np.ascontiguousarray(array.data, TYPES[array.kind]).tobytes()
        entry: dict[str, Any] = {
            "name": label,
            "type": array.kind,
            "shape": list(array.data.shape),
            "at": at,
            "error": array.error,
        }
        if array.steps is not None:
            entry["steps"] = [float(step) for step in array.steps]
        listed.append(entry)
        bodies.append(body + bytes(-len(body) % ALIGNED))
        at += len(bodies[-1])
    header = json.dumps(
        {**facts, "arrays": listed}, separators=(",", ":"), allow_nan=False
    ).encode()
    header += b" " * (-len(header) % ALIGNED)
    return MAGIC + struct.pack("<II", VERSION, len(header)) + header + b"".join(bodies)


def _encode(label: str, array: NDArray[Any], precision: Precision) -> _Coded:
    if array.dtype.kind in "iub":
        return _encode_integers(label, array)
    exact = array.astype(np.float32)
    if not np.isfinite(exact).all():
        raise ModelError(
            f"the array {label} holds numbers that are not finite", remedy="fit the model again"
        )
    largest = float(np.abs(exact).max(initial=0.0))
    if precision == "auto":
        precision = "int8" if exact.size > LARGE else "float16"
    if precision == "float32" or (exact.ndim < 2 and label != "similarity"):
        return _Coded("f32", exact, float(np.abs(exact - array).max(initial=0.0)))
    if precision == "int8" and exact.ndim == 2:
        return _levels(array, exact)
    if largest > FLOAT16_MOST:
        return _Coded("f32", exact, float(np.abs(exact - array).max(initial=0.0)))
    half = exact.astype(np.float16)
    return _Coded("f16", half, float(np.abs(half.astype(np.float64) - array).max(initial=0.0)))


def _levels(array: NDArray[Any], exact: NDArray[np.float32]) -> _Coded:
    """Each column on its own 255 levels."""
    steps = np.abs(exact).max(axis=0, initial=0.0).astype(np.float32) / np.float32(LEVELS)
    levels = np.rint(exact / np.where(steps > 0, steps, np.float32(1.0))).astype(np.int8)
    decoded = levels.astype(np.float32) * steps  # as readers do it
    error = float(np.abs(decoded.astype(np.float64) - array).max(initial=0.0))
    return _Coded("i8", levels, error, steps)


def _encode_integers(label: str, array: NDArray[Any]) -> _Coded:
    """Places and counts: exact."""
    low, high = int(array.min(initial=0)), int(array.max(initial=0))
    if low < 0 or high >= 2**32:
        raise ModelError(
            f"the array {label} holds places out of range", remedy="fit the model again"
        )
    return _Coded("u16" if high < 2**16 else "u32", array, 0.0)


def unpack(data: bytes) -> Unpacked:
    """The header and the arrays as a reader sees them: float32 and int64."""
    try:
        if data[:8] != MAGIC:
            raise ModelError("this is no packed model", remedy="fetch it again")
        version, length = struct.unpack("<II", data[8:16])
        if version != VERSION or length > LARGEST_HEADER:
            raise ModelError("the packed model is of another version", remedy="upgrade Tacit")
        header = json.loads(data[16 : 16 + length])
        arrays = {entry["name"]: _decode(data, 16 + length, entry) for entry in header["arrays"]}
    except (KeyError, TypeError, ValueError, struct.error) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError("the packed model does not parse", remedy="fetch it again") from None
    return Unpacked(header, arrays)


def _decode(data: bytes, start: int, entry: Mapping[str, Any]) -> NDArray[Any]:
    kind, shape = TYPES[entry["type"]], tuple(entry["shape"])
    count = int(np.prod(shape, dtype=np.int64))
    flat = np.frombuffer(data, kind, count, start + entry["at"]).reshape(shape)
    if entry["type"] in ("u16", "u32"):
        return flat.astype(np.int64)
    if entry["type"] == "i8":
        return flat.astype(np.float32) * np.array(entry["steps"], np.float32)
    return flat.astype(np.float32)
