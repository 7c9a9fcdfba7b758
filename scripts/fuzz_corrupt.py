"""How files are damaged: with their structure in mind, and without."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import random
import socket
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Random = random.Random
NASTY = [
    "",
    " ",
    "nan",
    "-inf",
    "1e999",
    "-1",
    "0",
    "99",
    "01",
    "1.0",
    "9" * 30,
    "9" * 5000,
    "1" * 3000 + "x",
    "\x1b[2J\x1b]0;x\x07",
    "\x9b31m",
    "\u202egnp",
    "a\rb",
    '"',
    '""',
    '"a\nb"',
    "a,b",
    "::",
    "\x00",
    "\x1f",
    "e\u0301",
    "\ufeff",
    "NULL",
    "2005-13-45",
    "0001-01-01T00:00:00+23:59",
    "x" * 20_000,
    "=1+1",
    "🎬",
]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    10**40,
    1e308,
    -1e-320,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    "\x1b[2J\u2028",
    "y" * 30_000,
    [],
    {},
    [[]],
    [None],
    {"a": {}},
    "gaussian",
    "ease",
    "mean",
    "certified",
    "user",
]
BOMB = 400 << 20


def damage(data: bytes, rng: Random) -> bytes:
    """Bytes here and there."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        at = rng.randrange(len(found) + 1)
        if rng.random() < 0.3:  # ends and beginnings matter most
            at = min(
                len(found),
                rng.choice(
                    [
                        rng.randrange(64),
                        max(0, len(found) - rng.randrange(1, 400)),
                    ]
                ),
            )
        act = rng.randrange(6)
        if act == 0 and at < len(found):
            found[at] = rng.randrange(256)
        elif act == 1 and at < len(found):
            found[at] = rng.choice([0, 10, 34, 44, 127, 128, 255])
        elif act == 2:
            del found[at : at + rng.choice([1, 2, 8, 100])]
        elif act == 3:
            found[at:at] = rng.randbytes(rng.choice([1, 2, 8, 100]))
        elif act == 4:
            found[at:at] = found[at : at + rng.choice([4, 50, 500])]
        else:
            del found[at:]
    return bytes(found)


def damage_table(data: bytes, rng: Random) -> bytes:
    """Cells, columns, lines, delimiters and encodings."""
    text = data.decode("utf-8", "replace")
    mark = next((m for m in ("::", "\t", ";", "|", ",") if m in text), ",")
    lines = text.split("\n")
    for _ in range(rng.choice([1, 1, 2, 5])):
        row = rng.randrange(len(lines))
        cells = lines[row].split(mark)
        act = rng.randrange(8)
        if act <= 2:
            cells[rng.randrange(len(cells))] = rng.choice(NASTY)
        elif act == 3:
            cells.insert(rng.randrange(len(cells) + 1), rng.choice(NASTY))
        elif act == 4 and len(cells) > 1:
            del cells[rng.randrange(len(cells))]
        elif act == 5:
            cells[0] = f"{rng.choice(NASTY)}{cells[0]}"
        elif act == 6:
            rng.shuffle(cells)
        lines[row] = mark.join(cells)
        if act == 7:
            lines.insert(
                row, rng.choice(["", '"', lines[row] * 50, mark * 200])
            )
    text = "\n".join(lines)
    act = rng.randrange(14)
    if act == 0:
        text = text.replace(
            mark, rng.choice([" ", "\t", ",", "::", "^", "\x00"])
        )
    elif act == 1:
        text = text.replace("\n", rng.choice(["\r", "\r\n", "\n\n", "\u2028"]))
    elif act == 2:
        return text.encode("utf-16", "replace")
    elif act == 3:
        return text.encode("latin-1", "replace")
    elif act == 4:
        text = "\ufeff" + text
    elif act == 5:
        text = text.replace("\n", f"{mark}x\n")
    return text.encode("utf-8", "surrogatepass")


def pack(data: bytes, name: str, rng: Random) -> tuple[bytes, str]:
    """An archive of the file, perhaps a damaged or a hostile one."""
    act = rng.randrange(8)
    if act == 0:
        packed, name = gzip.compress(data), f"{name}.gz"
    elif act == 1:
        packed, name = gzip.compress(gzip.compress(data)), f"{name}.gz"
    elif act == 2:
        packed, name = zipped(data, name, rng), f"{name}.zip"
    elif act in (3, 4):
        packed, name = tarred(data, name, rng), f"{name}.tar"
        if act == 4:
            packed, name = gzip.compress(packed), f"{name}.gz"
    elif act == 5:
        packed = zipped(gzip.compress(data), f"{name}.gz", rng)
        name = f"{name}.zip"
    elif act == 6:
        inner = tarred(data, name, rng)
        for _ in range(rng.choice([1, 3])):
            inner = tarred(inner, "inner.tar", rng)
        packed, name = inner, f"{name}.tar"
    else:
        packed, name = (
            gzip.compress(data) + b"\0" * 100 + gzip.compress(data),
            f"{name}.gz",
        )
    if rng.random() < 0.6:
        packed = damage(packed, rng)
    return packed, name


def zipped(data: bytes, name: str, rng: Random) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", rng.choice([0, 8, 12, 14])) as archive:
        for _ in range(rng.choice([1, 1, 2])):
            archive.writestr(f"f{rng.randrange(9)}/{name}", data)
    found = bytearray(held.getvalue())
    if rng.random() < 0.2:  # a password, or a way to pack that nobody knows
        at = found.find(b"PK\x01\x02")
        found[at + rng.choice([8, 10])] = rng.choice([1, 99])
    return bytes(found)


def tarred(data: bytes, name: str, rng: Random) -> bytes:
    held = io.BytesIO()
    form = rng.choice(
        [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT]
    )
    with tarfile.open(fileobj=held, mode="w", format=form) as archive:
        for kind in rng.sample(
            [
                tarfile.REGTYPE,
                tarfile.FIFOTYPE,
                tarfile.SYMTYPE,
                tarfile.CHRTYPE,
            ],
            2,
        ):
            info = tarfile.TarInfo(f"d/{name}")
            info.type = kind
            info.linkname = "/dev/zero"
            info.size = len(data) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(data))
        info = tarfile.TarInfo(f"d/{name}")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


def bomb(kind: int, head: bytes) -> tuple[bytes, str]:
    """A small file that unpacks to hundreds of megabytes."""
    line = b"1,1,3\n" if kind % 2 else b"\0" * 6
    blank = line * (1 << 16)
    held = io.BytesIO()
    if kind < 4:
        with gzip.GzipFile(fileobj=held, mode="wb", compresslevel=1) as packed:
            packed.write(head)
            for _ in range(BOMB // len(blank)):
                packed.write(blank)
        return held.getvalue(), "bomb.csv.gz"
    with (
        zipfile.ZipFile(held, "w", 8) as archive,
        archive.open("bomb.csv", "w") as packed,
    ):
        packed.write(head)
        for _ in range(BOMB // len(blank)):
            packed.write(blank)
    return held.getvalue(), "bomb.zip"


def mutate_json(value: Any, rng: Random) -> Any:
    """One node, replaced, removed, repeated or wrapped."""
    spots: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        keys = node if isinstance(node, dict) else range(len(node))
        for key in list(keys):
            spots.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    if not isinstance(value, dict | list) or not value:
        return rng.choice(VALUES)
    walk(value)
    node, key = rng.choice(
        spots if rng.random() < 0.5 else spots[: 1 + len(spots) // 4]
    )
    act = rng.randrange(7)
    if act <= 2:
        node[key] = rng.choice(VALUES)
    elif act == 3:
        del node[key]
    elif act == 4:
        node[key] = [node[key]] * rng.choice([1, 2, 300])
    elif act == 5 and isinstance(node, dict):
        node[rng.choice(["__proto__", "\x1b", "", str(key) + " "])] = node[key]
    elif isinstance(node[key], int | float) and not isinstance(node[key], bool):
        node[key] = node[key] * rng.choice([-1, 0, 1e9, 10**20, 0.5])
    elif isinstance(node, list):
        node.append(node[key])
    return value


def raw_json(value: Any, rng: Random) -> bytes:
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    act = rng.randrange(30)
    if act == 0:
        text = "[" * rng.choice([50, 100_000]) + text
    elif act == 1:
        text = text.replace("{", '{"method":"x",', 1)
    elif act == 2:
        text = text + " " + text
    elif act == 3:
        text = "[" + "[]," * 400_000 + "1]"
    data = text.encode("utf-8", "surrogatepass")
    return damage(data, rng) if act == 4 else data


# ---- model folders


def tensors(arrays: dict[str, Any], rng: Random) -> bytes:
    """A safetensors file of our own, whose header may lie."""
    names = {"float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64"}
    names |= {"uint32": "U32", "uint8": "U8", "float16": "F16", "bool": "BOOL"}
    header: dict[str, Any] = {}
    at, body = 0, b""
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": names.get(str(array.dtype), "F32"),
            "shape": list(array.shape),
            "data_offsets": [at, at + len(data)],
        }
        at += len(data)
        body += data
    act = rng.randrange(4)
    if act == 0:
        header = mutate_json(header, rng)
    text = json.dumps(header).encode("utf-8", "surrogatepass")
    length = len(text)
    if act == 1 and rng.random() < 0.5:
        length = rng.choice([0, 2**63, length + 1, length - 1, 2**31])
    found = struct.pack("<Q", length) + text + body
    return damage(found, rng) if act == 2 and rng.random() < 0.5 else found


def mutate_arrays(arrays: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Values, shapes and types of some array."""
    found = dict(arrays)
    name = rng.choice(list(found))
    array = np.array(found[name])
    act = rng.randrange(9)
    if act == 0 and array.size:
        array.flat[rng.randrange(array.size)] = rng.choice(
            [np.nan, np.inf, -1, 1e38, 0, -1e38]
            if array.dtype.kind == "f"
            else [-1, 2**30, 0, 10**6]
        )
    elif act == 1:
        array = array * (
            rng.choice([0, -1, 1e30, 1e-30])
            if array.dtype.kind == "f"
            else rng.choice([0, -1, 1000])
        )
        array = array.astype(found[name].dtype)
    elif act == 2:
        array = array[: rng.randrange(len(array) + 1)]
    elif act == 3:
        array = array.reshape(-1) if rng.random() < 0.5 else array[None]
    elif act == 4:
        kind = rng.choice(
            [
                np.float64,
                np.float32,
                np.int32,
                np.int64,
                np.uint8,
                np.float16,
                np.bool_,
            ]
        )
        array = array.astype(kind)
    elif act == 5:
        array = np.concatenate([array, array])
    elif act == 6:
        array = np.zeros(
            [rng.choice([0, 1, 3, 1000, size]) for size in array.shape],
            array.dtype,
        )
    elif act == 7:
        array = array.T
    found[name] = array
    if act == 8:
        if rng.random() < 0.5:
            del found[name]
        else:
            found[
                rng.choice(
                    ["kept", "implicit", "lift", "head", "\x1b", "extra"]
                )
            ] = array
    return found


def damage_model(folder: Path, rng: Random) -> None:
    """Something in a model folder, with its digests repaired in half of the cases."""
    act = rng.randrange(12)
    repair = rng.random() < 0.5
    if act <= 1:
        name = rng.choice(
            ["model.json", "items.json", "statement.json", "arrays.safetensors"]
        )
        (folder / name).write_bytes(damage((folder / name).read_bytes(), rng))
    elif act == 2:
        replace_file(folder, rng)
        return
    elif act <= 6:
        name = rng.choice(
            [
                "model.json",
                "model.json",
                "items.json",
                "items.json",
                "statement.json",
            ]
        )
        value = json.loads((folder / name).read_bytes())
        for _ in range(rng.choice([1, 1, 1, 3])):
            value = mutate_json(value, rng)
        (folder / name).write_bytes(raw_json(value, rng))
    else:
        from safetensors.numpy import load

        held = load((folder / "arrays.safetensors").read_bytes())
        for _ in range(rng.choice([0, 1, 1, 2])):
            held = mutate_arrays(held, rng) if held else held
        (folder / "arrays.safetensors").write_bytes(tensors(held, rng))
    if repair:
        repair_digests(folder)


def replace_file(folder: Path, rng: Random) -> None:
    """What is no file, or not the file that it should be."""
    path = folder / rng.choice(
        ["model.json", "items.json", "statement.json", "arrays.safetensors"]
    )
    kept = path.read_bytes()
    path.unlink()
    acts: list[Callable[[], object]] = [
        lambda: None,
        lambda: os.mkfifo(path),
        lambda: path.mkdir(),
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.symlink_to("/dev/full"),
        lambda: path.symlink_to("/dev/tty"),
        lambda: path.symlink_to(path),
        lambda: path.symlink_to("../../../../etc/hostname"),
        lambda: path.symlink_to("/proc/self/mem"),
        lambda: path.write_bytes(b""),
        lambda: _sparse(path, kept, rng.choice([1 << 28, 1 << 36])),
        lambda: _socket(path),
    ]
    rng.choice(acts)()


def _sparse(path: Path, head: bytes, size: int) -> None:
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def repair_digests(folder: Path) -> None:
    """As somebody would who makes a folder to hurt: all digests fit."""
    from safetensors.numpy import load

    from tacit.data.catalogue import catalogue_from
    from tacit.data.schema import Schema
    from tacit.model.shared import Shared

    try:
        facts = json.loads((folder / "model.json").read_bytes())
        names = ("arrays.safetensors", "items.json", "statement.json")
        for name in names:
            facts["files"][name] = hashlib.sha256(
                (folder / name).read_bytes()
            ).hexdigest()
        # What cannot be digested has no digest.
        with contextlib.suppress(Exception):
            facts["digest"] = Shared(
                facts["method"],
                facts["personal"],
                load((folder / "arrays.safetensors").read_bytes()),
                facts["numbers"],
                Schema(**facts["schema"]),
                catalogue_from(
                    json.loads((folder / "items.json").read_bytes())
                ),
                facts["settings"],
            ).digest()
        (folder / "model.json").write_bytes(
            json.dumps(facts).encode("utf-8", "surrogatepass")
        )
    except Exception:  # noqa: BLE001  nor can what is no JSON be repaired
        return
