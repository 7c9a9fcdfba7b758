"""A model folder as it lies on a disk: which files, how large, and what they say, before
anything of it is used.

Models are meant to be downloaded from strangers. So nothing is read that is not a regular file
of bounded size inside the folder, JSON is read strictly (no duplicate names, no NaN, bounded
depth and number of parts), and arrays are views of the bytes at offsets that were checked. The
digests tell damage, not malice: whoever makes a folder makes its digests. What the parts must
be is checked by `tacit.model.shared`.

Guarantee: whatever a folder holds, reading it ends in its content or in a ModelError, soon,
and in memory of a small multiple of the size that is allowed.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ModelError, SettingError
from tacit.validation import flag
from tacit.validation import path as asked_path

FILES = ("arrays.safetensors", "items.json", "statement.json")
"""What `model.json` lists the digests of."""
MEGABYTES = 128
"""Of all files together, unless `TACIT_MODEL_MB` says otherwise: a million items with thirty
numbers each. A person's side needs several times as much memory."""
MOST_FACTS = 1 << 20
"""Bytes of `model.json`, and of the header of the arrays."""
MOST_STATEMENT = 1 << 23
BYTES_A_PART = 32
"""The allowed size, divided by this, is the number of parts that JSON may have: a part costs up
to 80 bytes in memory."""
DEEPEST = 8
"""Lists and objects within each other."""
DIMENSIONS = 3
TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "U8": np.dtype("|u1"),
}
"""Of arrays, by the names of safetensors."""

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Content:
    """What a folder holds, with its digests checked."""

    facts: dict[str, Any]
    arrays: Arrays
    items: Any
    statement: str


LONG = 250
"""Letters of a path that any system can have."""


def check_asked(path: object, overwrite: object) -> None:
    """Refuse what is no place for a model, or no truth value."""
    if overwrite is not True and overwrite is not False:
        flag("overwrite", overwrite)
    name = str(path)
    if not isinstance(path, str | Path) or "\0" in name or len(name) > LONG:
        asked_path("path", path)


def allowed() -> int:
    """Size limit of a model folder in bytes."""
    text = os.environ.get("TACIT_MODEL_MB", str(MEGABYTES))
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1 << 24):
        raise SettingError(
            "TACIT_MODEL_MB is not a number of megabytes",
            remedy="set it to a whole number, or leave it out",
        )
    return int(text) << 20


def read_folder(folder: Path, newest: int) -> Content:
    """All files of a model of at most this format."""
    limit = allowed()
    facts = strict_json(regular(folder, "model.json", MOST_FACTS), folder, "model.json", limit)
    version = facts.get("tacit_model") if isinstance(facts, dict) else None
    if type(version) is not int or version < 1:
        raise damaged(folder, "model.json does not say what it is")
    if version > newest:
        raise ModelError(f"{folder} was made by a newer version of Tacit", remedy="upgrade Tacit")
    digests = facts.get("files")
    if not isinstance(digests, dict) or set(digests) != set(FILES):
        raise damaged(folder, "model.json does not list its files")
    sizes = {
        "arrays.safetensors": limit,
        "items.json": limit // 4,
        "statement.json": MOST_STATEMENT,
    }
    data = dict[str, bytearray]()
    for name in FILES:
        remaining = limit - sum(map(len, data.values()))
        data[name] = regular(folder, name, min(remaining, sizes[name]))
        if hashlib.sha256(data[name]).hexdigest() != digests[name]:
            raise damaged(folder, f"{name} was changed after it was written")
    try:
        statement = data["statement.json"].decode()
    except UnicodeDecodeError:
        raise damaged(folder, "statement.json is not text") from None
    items = strict_json(data["items.json"], folder, "items.json", limit)
    arrays = arrays_of(data["arrays.safetensors"], folder)
    return Content(facts, arrays, items, statement)


def regular(folder: Path, name: str, limit: int) -> bytearray:
    """The bytes of one file. A link is followed if it stays in the folder; a pipe or a device
    is not opened for longer than it takes to see what it is."""
    home = os.path.realpath(folder)
    real = os.path.realpath(folder / name)
    if os.path.dirname(real) != home and not real.startswith(home + os.sep):
        raise damaged(folder, f"{name} is a link that leads out of the folder")
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    for flag_name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_NOCTTY"):
        flags |= getattr(os, flag_name, 0)
    try:
        with open(os.open(real, flags), "rb", buffering=0) as file:
            file_status = os.fstat(file.fileno())
            if not stat.S_ISREG(file_status.st_mode):
                raise damaged(folder, f"{name} is not a regular file")
            if file_status.st_size > limit:
                raise too_large(folder, name, limit)
            data = bytearray(file_status.st_size)
            at, view = 0, memoryview(data)
            while at < len(data) and (got := file.readinto(view[at:])):
                at += got
    except FileNotFoundError:
        raise damaged(folder, f"{name} is missing") from None
    except OSError as error:
        raise ModelError(
            f"{folder} cannot be read: {name}: {error.strerror}", remedy="check its permissions"
        ) from None
    if at != len(data):
        raise damaged(folder, f"{name} was cut short")
    return data


def strict_json(data: bytearray, folder: Path, name: str, limit: int | None = None) -> Any:
    """The value of a JSON text whose names are unique and whose numbers are numbers."""
    parts = sum(data.count(mark) for mark in (b",", b"[", b"{"))
    if parts > (limit or MOST_FACTS) // BYTES_A_PART:
        raise too_large(folder, name, limit or MOST_FACTS)
    try:
        return json.loads(data.decode(), parse_constant=_none, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        raise damaged(folder, f"{name} is not proper JSON") from None


def _none(name: str) -> None:
    raise ValueError(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a name is repeated")
    return entries


def arrays_of(data: bytearray, folder: Path) -> Arrays:
    """The arrays of a safetensors file, as views of its bytes: every byte belongs to one."""
    name = "arrays.safetensors"
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < 8 or start > len(data) or start > MOST_FACTS:
        raise damaged(folder, f"{name} is cut short, or its header is")
    header = strict_json(data[8:start], folder, name)
    if not isinstance(header, dict):
        raise damaged(folder, f"the header of {name} is no list of arrays")
    header.pop("__metadata__", None)
    end = start
    arrays: Arrays = {}
    try:
        for array_name in sorted(header, key=lambda key: _offsets(header[key])):
            begin, stop = _offsets(header[array_name])
            kind, shape = TYPES[header[array_name]["dtype"]], header[array_name]["shape"]
            if start + begin != end or not _is_shape(shape):
                raise ValueError
            count = 1
            for size in shape:
                count *= size
            if stop - begin != count * kind.itemsize:
                raise ValueError
            end = start + stop
            array = np.empty(0, kind)
            if count:
                array = np.frombuffer(data, kind, count, start + begin)
            arrays[array_name] = aligned(array).reshape(shape)
        if end != len(data):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise damaged(folder, f"the header of {name} does not fit its arrays") from None
    return arrays


def _offsets(entry: Any) -> tuple[int, int]:
    start, stop = entry["data_offsets"]
    if type(start) is not int or type(stop) is not int:
        raise TypeError
    if not 0 <= start <= stop:
        raise ValueError
    return start, stop


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list)
        and len(shape) <= DIMENSIONS
        and all(type(size) is int and 0 <= size < 1 << 40 for size in shape)
    )


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """Compiled loops need it; a file of ours has it."""
    return array if array.flags.aligned else array.copy()


def plain_value(value: Any, depth: int = DEEPEST) -> bool:
    """Whether this is JSON of bounded depth, with finite numbers and texts that can be
    written."""
    if isinstance(value, Mapping):
        return depth > 0 and all(
            is_text(name) and plain_value(element, depth - 1) for name, element in value.items()
        )
    if isinstance(value, list):
        return depth > 0 and all(plain_value(element, depth - 1) for element in value)
    if isinstance(value, str):
        return is_text(value, MOST_FACTS)
    return value is None or isinstance(value, bool) or is_number(value)


def is_text(value: Any, max_length: int = 200) -> bool:
    """Whether this is a text of bounded length that can be written as UTF-8."""
    if not isinstance(value, str) or len(value) > max_length:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair
        return False
    return True


def is_number(value: Any, low: float = -3.5e38, high: float = 3.5e38) -> bool:
    """Whether this is a finite number in these bounds."""
    return type(value) in (int, float) and low <= value <= high


def damaged(folder: Path, detail: str) -> ModelError:
    """The error for a folder whose content is not a model."""
    return ModelError(
        f"the model in {folder} is damaged: {detail}",
        remedy="somebody may have changed it: ask its owner, then restore it from a copy, or "
        "fit again",
    )


def too_large(folder: Path, name: str, limit: int) -> ModelError:
    """The error for a file that would take too much memory."""
    return ModelError(
        f"the model in {folder} is too large: {name} has more than its part of "
        f"{max(limit >> 20, 1):,} megabytes",
        remedy="if you trust where it comes from, set TACIT_MODEL_MB to the megabytes "
        "that a model may have",
    )
